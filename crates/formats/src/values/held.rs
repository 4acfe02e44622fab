//! Which fields hold objects of which types: what a recording keeps of the names of fields.

use super::{FieldValue, HeapValues, ObjectRecord};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{ReferenceFields, TypeId};
use rustc_hash::FxHashSet;
use std::sync::Mutex;

impl HeapValues {
    /// The fields by which instances of each type refer to objects of each other type, of all instances. Costs one scan, see
    /// [`HeapValues::scan`]; memory by pairs of types.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn reference_fields(&self, progress: &Progress) -> Result<ReferenceFields> {
        let heap = self.heap();
        // Type, place among its fields, type of what is there. Each thread has a set of its own: nobody waits for another at each field.
        let sets: Vec<Mutex<FxHashSet<(u32, u32, u32)>>> =
            (0..=rayon::current_num_threads()).map(|_| Mutex::default()).collect();
        self.scan(
            None,
            &|_, record| {
                let ObjectRecord::Instance(fields) = record else { return };
                let own = rayon::current_thread_index().map_or(0, |index| index + 1) % sets.len();
                let mut set = sets[own].lock().unwrap_or_else(|e| e.into_inner());
                for (at, field) in fields.iter().enumerate() {
                    if let FieldValue::Object(to) = field.value {
                        set.insert((fields.of().0, at as u32, heap.type_of(to).0));
                    }
                }
            },
            progress,
        )?;
        let mut all = ReferenceFields::default();
        let mut met: Vec<(u32, u32, u32)> =
            sets.into_iter().flat_map(|set| set.into_inner().unwrap_or_else(|e| e.into_inner())).collect();
        met.sort_unstable();
        met.dedup();
        for of_type in met.chunk_by(|a, b| a.0 == b.0) {
            let from = TypeId(of_type[0].0);
            let names: Vec<_> = self.layouts().fields(heap, from).map(|field| field.name).collect();
            for &(_, at, to) in of_type {
                if let Some(name) = names.get(at as usize) {
                    all.add(from, TypeId(to), name);
                }
            }
        }
        Ok(all)
    }
}
