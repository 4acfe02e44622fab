//! Structures that are known again at another time: each by its identity where the input has one, elsewhere by its place.
//!
//! A place is an owner by name ([`OwnerTree`]), the field by which that holds the structure, and its type. Dumps of one program have the same
//! places, and no other identity. If a place has several structures, they are followed together.

use super::fill::StructureFill;
use crate::ownership::{OwnerHistory, OwnerTree};
use crate::timeline::History;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{FoundStructures, HeldBy, StructureRole};
use memory_city_heap::{Amount, HeapState, ObjectId, TypeKind};
use rustc_hash::FxHashMap;

/// Structures are the same at two times if their keys are.
pub(crate) type FollowedKey = u64;

/// A key of structures that have no identity: of none at another time.
const UNKNOWN: FollowedKey = 1 << 63;

/// Owners with more references are tables of a kind: which of them holds a structure says nothing.
const MOST_FIELDS: usize = 256;

/// Structures above one that are asked whether they have its key.
const LEVELS: usize = 8;

/// Gives structures their keys, one time after the other.
pub(crate) enum HeadFollowing {
    /// By identity.
    Identity {
        /// How many structures have none.
        unknown: u64,
    },
    /// By place.
    Place(KnownPlaces),
}

/// The places of all times so far.
#[derive(Default)]
pub(crate) struct KnownPlaces {
    history: OwnerHistory,
    /// Names of types and fields, by number.
    names: FxHashMap<String, u32>,
    /// By owner, type and field.
    keys: FxHashMap<(u32, u32, u32), FollowedKey>,
}

impl KnownPlaces {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.insert(name.to_owned(), number);
        number
    }
}

impl HeadFollowing {
    /// For two times of a history.
    pub fn between(history: &History, from: usize, to: usize) -> HeadFollowing {
        match history.knows_identity(from, to) {
            true => HeadFollowing::Identity { unknown: 0 },
            false => HeadFollowing::Place(KnownPlaces::default()),
        }
    }

    /// The keys of the heads found at a time, in their order.
    ///
    /// # Errors
    /// When a state or names cannot be read again, or the work was cancelled.
    pub fn keys(
        &mut self,
        (history, time): (&History, usize),
        (heap, dominators): (&HeapState, &Dominators),
        found: &FoundStructures,
        progress: &Progress,
    ) -> Result<Vec<FollowedKey>> {
        match self {
            HeadFollowing::Identity { unknown } => {
                Ok(found.heads().iter().map(|&head| identity(heap, head, unknown)).collect())
            }
            HeadFollowing::Place(places) => {
                let tree = OwnerTree::new(heap, dominators, progress)?;
                let place_of = places.history.add(tree.places());
                let held: Vec<(usize, ObjectId)> = (0..found.heads().len())
                    .filter_map(|at| Some((at, holder(heap, dominators, found, found.heads()[at])?)))
                    .collect();
                let pairs: Vec<_> = held.iter().map(|&(at, holder)| (holder, found.heads()[at])).collect();
                let mut fields: Vec<u32> = vec![places.number(""); found.heads().len()];
                for (&(at, _), field) in held.iter().zip(history.fields(time, &pairs, progress)?) {
                    fields[at] = places.number(&field.unwrap_or_default());
                }
                let types: Vec<u32> = heap.types().iter().map(|of| places.number(&of.name)).collect();
                let key = |(&head, field): (&ObjectId, u32)| {
                    let next = places.keys.len() as FollowedKey;
                    let place = (place_of[tree.of(head) as usize], types[heap.type_of(head).0 as usize], field);
                    *places.keys.entry(place).or_insert(next)
                };
                Ok(found.heads().iter().zip(fields).map(key).collect())
            }
        }
    }
}

/// The identity of an object as a key.
fn identity(heap: &HeapState, o: ObjectId, unknown: &mut u64) -> FollowedKey {
    heap.followed_number(o).unwrap_or_else(|| {
        *unknown += 1;
        UNKNOWN | *unknown
    })
}

/// The object whose field says more of a head than its place does: the owner that refers to it, where it is in no structure.
fn holder(heap: &HeapState, dominators: &Dominators, found: &FoundStructures, head: ObjectId) -> Option<ObjectId> {
    let owner = dominators.owner(head)?;
    let is_plain = heap.types()[heap.type_of(owner).0 as usize].kind == TypeKind::Instance
        && found.role_of(owner) != StructureRole::Part
        && found.role_of(owner) != StructureRole::Head;
    let references = heap.references(owner);
    (is_plain && references.len() <= MOST_FIELDS && references.contains(&head)).then_some(owner)
}

/// The structures of one key at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FollowedSums {
    /// How many there are. One inside another of the same key counts with that.
    pub structures: u64,
    /// What they alone keep alive.
    pub retained: Amount,
    /// Heads, parts and leaves; bytes without the leaves.
    pub own: Amount,
    /// Their elements, where all of them say how many.
    pub elements: Option<u64>,
    /// False where the own amount is a lower bound.
    pub is_whole: bool,
}

/// The structures of a time, by key.
pub(crate) struct FollowedHeads {
    pub sums: FxHashMap<FollowedKey, FollowedSums>,
    /// By the key of an outer and of an inner structure that is next below it: what the inner ones keep.
    pub inside: FxHashMap<(FollowedKey, FollowedKey), Amount>,
    /// Ascending.
    heads: Vec<(FollowedKey, ObjectId)>,
    /// What all roots keep.
    pub total: Amount,
}

impl FollowedHeads {
    /// Adds up the structures of a time: a pass over the owners, 4 bytes an object. A structure that is all the contents of another one, as
    /// the map in a set, counts with that.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        dominators: &Dominators,
        found: &FoundStructures,
        fills: &[StructureFill],
        keys: &[FollowedKey],
        objects: usize,
        progress: &Progress,
    ) -> Result<FollowedHeads> {
        let mut all = FollowedHeads {
            sums: FxHashMap::default(),
            inside: FxHashMap::default(),
            heads: Vec::new(),
            total: dominators.total(),
        };
        // By object: the innermost counted head that owns it, itself among them, and 1.
        let mut nearest = vec![0u32; objects];
        for (number, head) in (1..).zip(found.heads()) {
            nearest[head.0 as usize] = number;
        }
        let mut above_of = vec![0u32; found.heads().len()];
        for (n, (o, owner)) in dominators.top_down_with_owners().enumerate() {
            if n.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            let above = owner.map_or(0, |owner| nearest[owner.0 as usize]);
            let Some(at) = nearest[o.0 as usize].checked_sub(1).map(|at| at as usize) else {
                nearest[o.0 as usize] = above;
                continue;
            };
            let (key, extent) = (keys[at], found.extents()[at]);
            let own = Amount { objects: 1 + u64::from(extent.parts) + u64::from(extent.leaves), bytes: extent.bytes };
            let outer = above.checked_sub(1).map(|outer| outer as usize);
            let is_all = |outer: usize| {
                let of = found.extents()[outer];
                (of.parts, of.leaves) == (0, 1) && found.holders_of(o) == HeldBy::One(outer as u32)
            };
            let up = |at: &usize| above_of[*at].checked_sub(1).map(|at| at as usize);
            let is_nested = || std::iter::successors(outer, up).take(LEVELS).any(|outer| keys[outer] == key);
            if let Some(outer) = outer.filter(|&outer| is_all(outer) || is_nested()) {
                nearest[o.0 as usize] = above;
                if let Some(sums) = all.sums.get_mut(&keys[outer]) {
                    sums.own += own;
                    sums.is_whole &= extent.is_whole;
                }
                continue;
            }
            above_of[at] = above;
            all.heads.push((key, o));
            let retained = dominators.retained(o);
            let none = FollowedSums {
                structures: 0,
                retained: Amount::default(),
                own: Amount::default(),
                elements: Some(0),
                is_whole: true,
            };
            let sums = all.sums.entry(key).or_insert(none);
            sums.structures += 1;
            sums.retained += retained;
            sums.own += own;
            sums.elements = sums.elements.zip(fills[at].elements).map(|(a, b)| a.saturating_add(b));
            sums.is_whole &= extent.is_whole;
            if let Some(outer) = outer {
                *all.inside.entry((keys[outer], key)).or_default() += retained;
            }
        }
        all.heads.sort_unstable();
        Ok(all)
    }

    /// The heads of a key, ascending.
    pub fn heads_of(&self, key: FollowedKey) -> impl ExactSizeIterator<Item = ObjectId> + '_ {
        let from = self.heads.partition_point(|(other, _)| *other < key);
        let to = self.heads.partition_point(|(other, _)| *other <= key);
        self.heads[from..to].iter().map(|(_, head)| *head)
    }

    /// The key of a counted head.
    pub fn keys(&self) -> FxHashMap<ObjectId, FollowedKey> {
        self.heads.iter().map(|&(key, head)| (head, key)).collect()
    }
}
