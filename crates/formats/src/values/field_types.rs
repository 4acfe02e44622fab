//! The types that each field holds: all that a recording keeps of the names of fields.

use super::{FieldPlace, FieldValue, HeapValues, ObjectRecord, ValueKind};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{ReferenceFields, TypeId};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The types found by one thread. Each thread has its own, so that fields cost no lock.
struct Met {
    /// A field of a type, and the type of the object in it.
    all: FxHashSet<(u32, TypeId)>,
    /// By field: the last type, which mostly comes again.
    last: Vec<Option<TypeId>>,
}

impl HeapValues {
    /// The fields by which instances of each type refer to objects of each other type, of all instances. Costs one scan, see
    /// [`HeapValues::scan`]; memory by fields of types on each thread, and by pairs of types.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn reference_fields(&self, progress: &Progress) -> Result<ReferenceFields> {
        let heap = self.heap();
        // The fields of all types, those of its superclasses with each.
        let mut fields: Vec<(TypeId, FieldPlace, &Arc<str>)> = Vec::new();
        let mut of_type: Vec<Range<usize>> = Vec::with_capacity(heap.types().len());
        for of in (0..heap.types().len() as u32).map(TypeId) {
            let start = fields.len();
            let own = self.layouts().fields(heap, of).filter(|field| field.place.kind == ValueKind::Reference);
            fields.extend(own.map(|field| (of, field.place, field.name)));
            of_type.push(start..fields.len());
        }
        let met = || Mutex::new(Met { all: FxHashSet::default(), last: vec![None; fields.len()] });
        let threads: Vec<Mutex<Met>> = (0..=rayon::current_num_threads()).map(|_| met()).collect();
        self.scan(
            None,
            &|_, record| {
                let ObjectRecord::Instance(instance) = record else { return };
                let own = rayon::current_thread_index().map_or(0, |index| index + 1) % threads.len();
                let mut met = threads[own].lock().unwrap_or_else(|e| e.into_inner());
                for at in of_type[instance.of().0 as usize].clone() {
                    let Some(FieldValue::Object(held)) = instance.at(fields[at].1) else { continue };
                    let held = Some(heap.type_of(held));
                    if std::mem::replace(&mut met.last[at], held) != held {
                        met.all.extend(held.map(|held| (at as u32, held)));
                    }
                }
            },
            progress,
        )?;
        let mut all = ReferenceFields::default();
        for met in threads {
            for (at, held) in met.into_inner().unwrap_or_else(|e| e.into_inner()).all {
                let (of, _, name) = fields[at as usize];
                all.add(of, held, name);
            }
        }
        Ok(all)
    }
}
