//! The fields by which objects of one type refer to objects of another. A source keeps these names when fields cannot be looked up object
//! by object.

use super::state::HeapState;
use super::types::{ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For a pair of types, the fields by which an object of the first refers to one of the second. The list is complete for the pair: if it
/// has a single field, each such reference is in that field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceFields {
    /// In no order of meaning: ascending, each once.
    of: FxHashMap<(TypeId, TypeId), Vec<Arc<str>>>,
}

/// Two types, and the fields by which objects of the first refer to objects of the second.
pub type FieldsBetween<'f> = ((TypeId, TypeId), &'f [Arc<str>]);

impl ReferenceFields {
    /// Adds a field; one that is there already stays there once.
    pub fn add(&mut self, from: TypeId, to: TypeId, field: &Arc<str>) {
        let fields = self.of.entry((from, to)).or_default();
        if let Err(at) = fields.binary_search(field) {
            fields.insert(at, Arc::clone(field));
        }
    }

    /// The fields by which objects of one type refer to objects of another; none where nothing is known.
    pub fn between(&self, from: TypeId, to: TypeId) -> &[Arc<str>] {
        self.of.get(&(from, to)).map_or(&[], Vec::as_slice)
    }

    /// All of them, by types.
    pub fn all(&self) -> Vec<FieldsBetween<'_>> {
        let mut all: Vec<_> = self.of.iter().map(|(&types, fields)| (types, fields.as_slice())).collect();
        all.sort_unstable_by_key(|(types, _)| *types);
        all
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The field by which one object refers to another, for people: `first or last` if it is one of several, with the first of them named.
    /// `None` if unknown.
    pub(crate) fn text(&self, heap: &HeapState, from: ObjectId, to: ObjectId) -> Option<String> {
        match self.between(heap.type_of(from), heap.type_of(to)) {
            [] => None,
            fields @ ([_] | [_, _] | [_, _, _]) => Some(fields.join(" or ")),
            [first, second, rest @ ..] => Some(format!("{first}, {second} or {} others", rest.len())),
        }
    }
}
