//! Names of objects.

use crate::ownership::keeping::ClassObjects;
use memory_city_heap::{HeapState, ObjectId};

/// Where an object is, such as `0x7f00a8`; of an input without addresses the number that its recorder gave it, `#4711`.
/// Names it in this state of the heap.
pub(crate) fn address_text(heap: &HeapState, o: ObjectId) -> String {
    match (heap.address(o), heap.stable_id(o)) {
        (Some(address), _) => format!("0x{address:x}"),
        (None, Some(id)) => format!("#{id}"),
        (None, None) => format!("object {}", o.0),
    }
}

/// The name of the type of an object.
pub(crate) fn type_name(heap: &HeapState, o: ObjectId) -> &str {
    heap.types().get(heap.type_of(o).0 as usize).map_or("?", |t| &t.name)
}

/// The type of an object for people; of a class object the class: `class com.acme.Cache`.
pub(crate) fn class_or_type(heap: &HeapState, class_objects: &ClassObjects, o: ObjectId) -> String {
    match class_objects.type_of(o) {
        Some(t) => format!("class {}", heap.types()[t.0 as usize].name),
        None => type_name(heap, o).to_owned(),
    }
}
