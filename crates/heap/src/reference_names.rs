//! Names of references: the field, property, map key or index by which one object refers to another. A column for sources that name each
//! reference; sources that name fields of types have [`ReferenceFields`](crate::ReferenceFields), or values to be read on demand.

use super::state::HeapState;
use super::types::ObjectId;
use crate::referents::strength_at;
use ahash::AHashMap;
use std::fmt;
use std::sync::Arc;

/// The name of a reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceName {
    /// A field or a property: `sessions`.
    Field(Arc<str>),
    /// The key of a map, one among many that are alike: `["eu"]`.
    Key(Arc<str>),
    /// An element by number: `[3]`.
    Index(u32),
}

impl ReferenceName {
    /// The key of a map.
    pub fn key(key: &str) -> ReferenceName {
        ReferenceName::Key(key.into())
    }
}

impl From<&str> for ReferenceName {
    fn from(field: &str) -> Self {
        ReferenceName::Field(field.into())
    }
}

impl From<u32> for ReferenceName {
    fn from(index: u32) -> Self {
        ReferenceName::Index(index)
    }
}

/// The form for people: `sessions`, `["eu"]`, `[3]`.
impl fmt::Display for ReferenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReferenceName::Field(field) => f.write_str(field),
            ReferenceName::Key(key) => write!(f, "[{key:?}]"),
            ReferenceName::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// Names and their numbers; each name is there once.
#[derive(Debug, Default)]
pub struct ReferenceNameTable {
    names: Vec<ReferenceName>,
    /// Names come from files: hashed with a random seed.
    numbers: AHashMap<ReferenceName, u32>,
}

/// Numbers from here on are indexes.
const INDEXES: u32 = 1 << 31;

impl ReferenceNameTable {
    /// The number of a reference without a name.
    pub const NONE: u32 = u32::MAX;

    /// The number of a name. Small indexes need no entry. Two billion names have numbers, further ones have [`ReferenceNameTable::NONE`].
    pub fn number(&mut self, name: ReferenceName) -> u32 {
        match name {
            ReferenceName::Index(index) if index < ReferenceNameTable::NONE - INDEXES => INDEXES + index,
            name if self.names.len() >= INDEXES as usize => {
                self.numbers.get(&name).copied().unwrap_or(ReferenceNameTable::NONE)
            }
            name => {
                let next = self.names.len() as u32;
                *self.numbers.entry(name).or_insert_with_key(|name| {
                    self.names.push(name.clone());
                    next
                })
            }
        }
    }
}

/// The names of all references of a heap state, or of some. 4 bytes a reference, and each different name once.
#[derive(Debug, Default)]
pub struct ReferenceNames {
    /// By reference, in the order of [`Csr`](crate::Csr): a number of the table.
    pub(crate) of: Vec<u32>,
    names: Vec<ReferenceName>,
}

impl ReferenceNames {
    /// Names by reference, as numbers of a table or [`ReferenceNameTable::NONE`], in the order of the references.
    pub fn new(of: Vec<u32>, table: ReferenceNameTable) -> ReferenceNames {
        ReferenceNames { of, names: table.names }
    }

    /// Whether no reference has a name, without a look at each.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The name of a reference by its number among all.
    pub(crate) fn at(&self, number: usize) -> Option<ReferenceName> {
        match *self.of.get(number)? {
            ReferenceNameTable::NONE => None,
            index @ INDEXES.. => Some(ReferenceName::Index(index - INDEXES)),
            name => self.names.get(name as usize).cloned(),
        }
    }

    /// Bytes of memory, but for the texts.
    pub(crate) fn memory(&self) -> usize {
        4 * self.of.capacity() + 24 * self.names.capacity()
    }
}

impl HeapState {
    /// Whether the source names references one by one.
    #[inline]
    pub fn has_reference_names(&self) -> bool {
        !self.columns().names.is_empty()
    }

    /// The name of a reference of an object, by its place among [`HeapState::references`].
    pub fn reference_name(&self, o: ObjectId, place: usize) -> Option<ReferenceName> {
        if place >= self.references(o).len() {
            return None;
        }
        self.columns().names.at(self.columns().outgoing.start(o) + place)
    }

    /// The name of the reference from the first object of each pair to the second, in the order of the pairs: of several the first plain
    /// one, or the first. A pass over the references of each first object that comes, for all neighbouring pairs that have it.
    pub fn names_between(&self, pairs: &[(ObjectId, ObjectId)]) -> Vec<Option<ReferenceName>> {
        let mut names = vec![None; pairs.len()];
        if !self.has_reference_names() {
            return names;
        }
        let mut start = 0;
        for of_one in pairs.chunk_by(|a, b| a.0 == b.0) {
            let from = of_one[0].0;
            let weaker = self.referents().of(from);
            let mut wanted: Vec<(ObjectId, usize)> =
                of_one.iter().zip(start..).map(|((_, to), at)| (*to, at)).collect();
            wanted.sort_unstable();
            // By place in `wanted`: the place of the reference, the best so far.
            let mut found: Vec<Option<(bool, usize)>> = vec![None; wanted.len()];
            for (place, &to) in self.references(from).iter().enumerate() {
                let at = wanted.partition_point(|w| w.0 < to);
                if wanted.get(at).is_some_and(|w| w.0 == to) {
                    let this = (strength_at(weaker, to, place as u32).is_some(), place);
                    found[at] = Some(found[at].map_or(this, |best| best.min(this)));
                }
            }
            let mut last = None;
            for (at, (to, pair)) in wanted.into_iter().enumerate() {
                // A pair that is there twice stands behind the first of its kind.
                let best = found[at].or_else(|| last.filter(|(of, _)| *of == to).and_then(|(_, best)| best));
                last = Some((to, best));
                names[pair] = best.and_then(|(_, place)| self.reference_name(from, place));
            }
            start += of_one.len();
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_there_once_and_comes_back() {
        let mut table = ReferenceNameTable::default();
        let mut names: Vec<ReferenceName> =
            ["cache", "eu", "cache"].into_iter().flat_map(|text| [text.into(), ReferenceName::key(text)]).collect();
        names.extend([0, 1, INDEXES - 2, INDEXES - 1, u32::MAX].map(ReferenceName::from));
        let of = names.iter().map(|name| table.number(name.clone())).chain([ReferenceNameTable::NONE]).collect();
        let column = ReferenceNames::new(of, table);
        assert_eq!(column.names.len(), 6, "four texts, and two indexes that are too large for a number");
        for (at, name) in names.iter().enumerate() {
            assert_eq!(column.at(at).as_ref(), Some(name));
        }
        assert_eq!((column.at(names.len()), column.at(names.len() + 1)), (None, None));
        let texts: Vec<String> = names[..2].iter().chain(&names[7..8]).map(ReferenceName::to_string).collect();
        assert_eq!(texts, ["cache", "[\"cache\"]", "[1]"]);
    }
}
