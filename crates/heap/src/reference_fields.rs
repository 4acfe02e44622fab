//! Which fields hold objects of which types: what is left of the names of fields where nobody can look them up object by object.

use crate::{HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// By the types of two objects, the fields by which one of the first refers to one of the second. What it says of a pair of types is
/// all of that pair: with a single field, each such reference is in it.
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

    /// For people, the field by which one object refers to another: `first or last` where it is one of several, of which the first
    /// are named. `None` where nothing is known.
    pub(crate) fn text(&self, heap: &HeapState, from: ObjectId, to: ObjectId) -> Option<String> {
        match self.between(heap.type_of(from), heap.type_of(to)) {
            [] => None,
            fields @ ([_] | [_, _] | [_, _, _]) => Some(fields.join(" or ")),
            [first, second, rest @ ..] => Some(format!("{first}, {second} or {} others", rest.len())),
        }
    }
}
