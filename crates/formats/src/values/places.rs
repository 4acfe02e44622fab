//! Reference places: the field, element or link by which one object refers to another.

use super::{FieldValue, HeapValues, ObjectRecord};
use memory_city_heap::ObjectId;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Where in an object a reference stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferencePlace {
    /// In a field of an instance.
    Field {
        /// The class that declares it.
        class: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
    /// In a static field, of a class object.
    Static {
        /// The class.
        class: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
    /// In an array.
    Element(u32),
    /// A link of a class object that is no field in the source: its superclass, its loader.
    Link(&'static str),
    /// In a field that the dump leaves out, see [`memory_city_heap::HeapState::inferred_field`].
    Hidden(&'static str),
    /// An instance and its class: the VM keeps the class alive as long as there are instances.
    OwnClass,
}

impl ReferencePlace {
    /// The name of the field alone, or the element in brackets.
    pub fn short(&self) -> String {
        match self {
            ReferencePlace::Field { name, .. } | ReferencePlace::Static { name, .. } => name.to_string(),
            other => other.to_string(),
        }
    }
}

/// The form for people: `PersonRegistry.persons` (class without package), `[17]`, `<class loader>`.
impl fmt::Display for ReferencePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReferencePlace::Field { class, name } | ReferencePlace::Static { class, name } => {
                write!(f, "{}.{name}", class.rsplit('.').next().unwrap_or(class))
            }
            ReferencePlace::Element(index) => write!(f, "[{index}]"),
            ReferencePlace::Link(link) => write!(f, "<{link}>"),
            ReferencePlace::Hidden(field) => write!(f, "Class.{field}"),
            ReferencePlace::OwnClass => f.write_str("<class>"),
        }
    }
}

impl HeapValues {
    /// The field or element by which the first object of each pair refers to the second, in the order of the pairs: the first of several,
    /// `None` without one. Costs one scan for all pairs, see [`HeapValues::scan`].
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn reference_places(
        &self,
        pairs: &[(ObjectId, ObjectId)],
        progress: &Progress,
    ) -> Result<Vec<Option<ReferencePlace>>> {
        let heap = self.heap();
        // Places in `pairs`, by source and target: those of a source stand together, and of them those of a target.
        let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
        order.sort_unstable_by_key(|&at| pairs[at as usize]);
        let pair = |at: &u32| pairs[*at as usize];
        let places: Mutex<Vec<Option<ReferencePlace>>> = Mutex::new(vec![None; pairs.len()]);
        self.scan_few(
            pairs.iter().map(|(from, _)| *from),
            &|from, record| {
                let start = order.partition_point(|at| pair(at).0 < from);
                let end = start + order[start..].partition_point(|at| pair(at).0 == from);
                let targets = &order[start..end];
                let mut missing = targets.chunk_by(|a, b| pair(a) == pair(b)).count();
                let mut found: Vec<(usize, ReferencePlace)> = Vec::new();
                let mut met = vec![false; targets.len()];
                let mut meet = |value: FieldValue, place: &dyn Fn() -> ReferencePlace| {
                    if let FieldValue::Object(to) = value {
                        let at = targets.partition_point(|at| pair(at).1 < to);
                        if targets.get(at).is_some_and(|t| pair(t).1 == to) && !std::mem::replace(&mut met[at], true) {
                            found.push((at, place()));
                            missing -= 1;
                        }
                    }
                    missing > 0
                };
                match record {
                    ObjectRecord::Instance(fields) => {
                        let field = |f: &super::InstanceField<'_>| ReferencePlace::Field {
                            class: self.class_name(f.class),
                            name: Arc::clone(f.name),
                        };
                        let _ = fields.iter().all(|f| meet(f.value, &|| field(&f)));
                    }
                    ObjectRecord::ObjectArray(elements) => {
                        let mut all = elements.iter().enumerate();
                        let _ = all.all(|(i, value)| meet(value, &|| ReferencePlace::Element(i as u32)));
                    }
                    ObjectRecord::Class(class) => {
                        let name = class.of.map_or_else(|| "?".into(), |t| self.class_name(t));
                        let field = |f: &Arc<str>| {
                            let class = Arc::clone(&name);
                            ReferencePlace::Static { class, name: Arc::clone(f) }
                        };
                        let _ = class.statics.iter().all(|(f, value)| meet(*value, &|| field(f)))
                            && class.links.iter().all(|(l, value)| meet(*value, &|| ReferencePlace::Link(l)));
                    }
                    ObjectRecord::PrimitiveArray(_) => {}
                }
                let mut places = places.lock().unwrap_or_else(|e| e.into_inner());
                for (at, place) in found {
                    let same = targets[at..].iter().take_while(|t| pair(t) == pair(&targets[at]));
                    for &at in same {
                        places[at as usize].get_or_insert_with(|| place.clone());
                    }
                }
            },
            progress,
        )?;
        let mut places = places.into_inner().unwrap_or_else(|e| e.into_inner());
        for (place, &(from, to)) in places.iter_mut().zip(pairs) {
            if place.is_none() && (from.0 as usize) < heap.object_count() {
                let own = heap.mirror_of(heap.type_of(from)) == Some(to);
                let hidden = heap.inferred_field(from, to).map(ReferencePlace::Hidden);
                *place = hidden.or_else(|| own.then_some(ReferencePlace::OwnClass));
            }
        }
        Ok(places)
    }
}
