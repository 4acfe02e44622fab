//! Conversion of a walk's roots, and of its inferred references, to those of heap states.

use super::names::StreamTables;
use super::types::Types;
use memory_city_heap::printable::{MOST_CELL, shortened};
use memory_city_heap::{ObjectId, Root, RootKind};
use memory_city_wire::WalkRootRow;

/// A root; its detail is put together where the recorder gave its parts, and has at most [`MOST_CELL`] characters.
pub(super) fn root_of(tables: &StreamTables, types: &Types, row: &WalkRootRow, object: ObjectId) -> Root {
    use RootKind as K;
    let kind = K::of_number(row.kind).unwrap_or(K::Other);
    let class = row.class.and_then(|class| types.number.get(&class)).map(|t| types.types[*t as usize].name.as_str());
    let method = row.method.and_then(|method| tables.methods.get(&method));
    let place = method.map(|method| tables.place_text(method, None, row.line, false));
    let thread = row.thread.map(|thread| tables.thread(thread));
    let detail = match (row.detail, kind, class, row.field, thread, place) {
        (Some(detail), ..) => tables.string(detail).to_string(),
        (_, _, Some(class), Some(field), ..) => format!("{class}.{}", tables.string(field)),
        (.., Some(thread), Some(place)) => format!("thread \"{thread}\", {place}"),
        (_, K::Thread, .., Some(thread), None) => format!("thread \"{thread}\""),
        (_, K::Jni, .., Some(thread), None) => format!("JNI local of thread \"{thread}\""),
        (.., Some(thread), None) => format!("stack of thread \"{thread}\""),
        (.., None, Some(place)) => place,
        _ => String::new(),
    };
    Root { object, kind, detail: shortened(&detail, MOST_CELL).into_owned() }
}

/// The fields of class objects that readers of dumps infer, by the words they use.
const HIDDEN_FIELDS: [&str; 12] = [
    "annotationData",
    "annotationType",
    "array class",
    "cachedConstructor",
    "classValueMap",
    "classes",
    "enumConstantDirectory",
    "enumConstants",
    "genericInfo",
    "name",
    "packageName",
    "reflectionData",
];

pub(super) fn hidden_field(name: &str) -> &'static str {
    HIDDEN_FIELDS.into_iter().find(|field| *field == name).unwrap_or("(a hidden field)")
}
