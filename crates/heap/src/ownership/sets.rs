//! Sets of groups as small values, with fast comparison, intersection and union.
//!
//! [`InternedSets`] serves any number of groups: a set is the number of a list that is kept once. A heap has many objects and few distinct
//! sets, so the intersection of two sets is computed once for each pair of them. For up to 63 groups there are sets of bits (`masks`).

use crate::{Amount, HeapState, ObjectId};
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

/// Groups by their place among those that are asked for.
pub(super) trait SetAlgebra {
    /// A set.
    type Set: Copy + PartialEq;
    /// No group.
    const EMPTY: Self::Set;
    /// Every group: the initial value where sets only get smaller.
    const ALL: Self::Set;

    /// The intersection; `None` if there is no room for it.
    fn meet(&mut self, a: Self::Set, b: Self::Set) -> Option<Self::Set>;
    /// The union; `None` if there is no room for it. Neither is [`SetAlgebra::ALL`].
    fn join(&mut self, a: Self::Set, b: Self::Set) -> Option<Self::Set>;
    /// The groups of a list of groups.
    fn of_list(&self, list: u32) -> Self::Set;
    /// By group: the amount of objects whose set, or whose list of groups, contains it. `sets` is by object, [`SetAlgebra::ALL`] if
    /// unknown: then the object does not count. `None` if a union has no room.
    fn sums(&mut self, heap: &HeapState, sets: &[Self::Set], lists: &[u32]) -> Option<Vec<Amount>>;
}

/// Any number of groups.
pub(super) struct InternedSets {
    groups: usize,
    /// Set s is `entries[starts[s]..starts[s + 1]]`, ascending.
    starts: Vec<u32>,
    entries: Vec<u32>,
    table: HashTable<u32>,
    hasher: ahash::RandomState,
    meets: Memo,
    joins: Memo,
    lists: Vec<u32>,
    limits: SetLimits,
    scratch: Vec<u32>,
}

/// How much room distinct sets may take.
#[derive(Clone, Copy)]
pub(super) struct SetLimits {
    /// Entries of all sets together, 4 bytes each.
    pub entries: usize,
    /// Pairs with a known intersection, and as many with a known union: 20 bytes each.
    pub pairs: usize,
}

impl Default for SetLimits {
    /// 128 MB and 160 MB.
    fn default() -> Self {
        SetLimits { entries: 1 << 25, pairs: 1 << 22 }
    }
}

impl InternedSets {
    /// `lists`: which groups, by place below `groups`, ascending, each list has. `None` when they alone are too many.
    pub fn new(lists: &[Box<[u32]>], groups: usize, limits: SetLimits) -> Option<InternedSets> {
        let mut sets = InternedSets {
            groups,
            starts: vec![0],
            entries: Vec::new(),
            table: HashTable::new(),
            hasher: ahash::RandomState::new(),
            meets: Memo::default(),
            joins: Memo::default(),
            lists: Vec::with_capacity(lists.len()),
            limits,
            scratch: Vec::new(),
        };
        let empty = sets.intern(&[])?;
        debug_assert_eq!(empty, Self::EMPTY);
        for list in lists {
            let set = sets.intern(list)?;
            sets.lists.push(set);
        }
        Some(sets)
    }

    fn set(&self, set: u32) -> &[u32] {
        &self.entries[self.starts[set as usize] as usize..self.starts[set as usize + 1] as usize]
    }

    fn intern(&mut self, set: &[u32]) -> Option<u32> {
        let InternedSets { starts, entries, table, hasher, .. } = self;
        let of = |s: u32| &entries[starts[s as usize] as usize..starts[s as usize + 1] as usize];
        let hash = hasher.hash_one(set);
        if let Some(&known) = table.find(hash, |&s| of(s) == set) {
            return Some(known);
        }
        if entries.len() + set.len() > self.limits.entries {
            return None;
        }
        let number = starts.len() as u32 - 1;
        entries.extend_from_slice(set);
        starts.push(entries.len() as u32);
        let of = |s: u32| &entries[starts[s as usize] as usize..starts[s as usize + 1] as usize];
        table.insert_unique(hash, number, |&s| hasher.hash_one(of(s)));
        Some(number)
    }

    #[cold]
    fn new_meet(&mut self, a: u32, b: u32) -> Option<u32> {
        let mut common = std::mem::take(&mut self.scratch);
        common.clear();
        let (mut a, mut b) = (self.set(a), self.set(b));
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            if x == y {
                common.push(*x);
            }
            let (next_a, next_b) = (if x <= y { rest_a } else { a }, if y <= x { rest_b } else { b });
            (a, b) = (next_a, next_b);
        }
        let found = self.intern(&common);
        self.scratch = common;
        found
    }

    #[cold]
    fn new_join(&mut self, a: u32, b: u32) -> Option<u32> {
        let mut either = std::mem::take(&mut self.scratch);
        either.clear();
        let (mut a, mut b) = (self.set(a), self.set(b));
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            either.push(*x.min(y));
            let (next_a, next_b) = (if x <= y { rest_a } else { a }, if y <= x { rest_b } else { b });
            (a, b) = (next_a, next_b);
        }
        either.extend_from_slice(a);
        either.extend_from_slice(b);
        let found = self.intern(&either);
        self.scratch = either;
        found
    }
}

impl SetAlgebra for InternedSets {
    type Set = u32;
    const EMPTY: u32 = 0;
    const ALL: u32 = u32::MAX;

    #[inline]
    fn meet(&mut self, a: u32, b: u32) -> Option<u32> {
        match (a, b) {
            _ if a == b => return Some(a),
            (Self::EMPTY, _) | (_, Self::EMPTY) => return Some(Self::EMPTY),
            (Self::ALL, other) | (other, Self::ALL) => return Some(other),
            _ => (),
        }
        let pair = pair(a, b);
        if let Some(known) = self.meets.get(pair) {
            return Some(known);
        }
        let found = self.new_meet(a, b)?;
        self.meets.add(pair, found, self.limits.pairs)
    }

    #[inline]
    fn join(&mut self, a: u32, b: u32) -> Option<u32> {
        match (a, b) {
            _ if a == b => return Some(a),
            (Self::EMPTY, other) | (other, Self::EMPTY) => return Some(other),
            _ => (),
        }
        let pair = pair(a, b);
        if let Some(known) = self.joins.get(pair) {
            return Some(known);
        }
        let found = self.new_join(a, b)?;
        self.joins.add(pair, found, self.limits.pairs)
    }

    #[inline]
    fn of_list(&self, list: u32) -> u32 {
        self.lists[list as usize]
    }

    fn sums(&mut self, heap: &HeapState, sets: &[u32], lists: &[u32]) -> Option<Vec<Amount>> {
        let mut counted = vec![Amount::default(); self.starts.len() - 1];
        for ((o, &set), &list) in (0..).map(ObjectId).zip(sets).zip(lists) {
            if set == Self::ALL {
                continue;
            }
            let set = self.join(set, self.of_list(list))?;
            if set != Self::EMPTY {
                if counted.len() <= set as usize {
                    counted.resize(self.starts.len() - 1, Amount::default());
                }
                counted[set as usize] += Amount { objects: 1, bytes: heap.size_of(o) };
            }
        }
        let mut sums = vec![Amount::default(); self.groups];
        for (set, amount) in (0..).zip(counted) {
            if amount.objects > 0 {
                self.set(set).iter().for_each(|&group| sums[group as usize] += amount);
            }
        }
        Some(sums)
    }
}

#[inline]
fn pair(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// A cache of results for pairs of sets: recent pairs in a table that fits the processor's cache, all others in a map.
struct Memo {
    recent: Vec<(u64, u32)>,
    all: FxHashMap<u64, u32>,
}

const RECENT: usize = 1 << 12;

impl Default for Memo {
    fn default() -> Self {
        // No pair is of the sets 0 and 0: what they have is known without asking.
        Memo { recent: vec![(0, 0); RECENT], all: FxHashMap::default() }
    }
}

impl Memo {
    #[inline]
    fn place(pair: u64) -> usize {
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
    }

    #[inline]
    fn get(&mut self, pair: u64) -> Option<u32> {
        let recent = &mut self.recent[Self::place(pair) % RECENT];
        if recent.0 == pair {
            return Some(recent.1);
        }
        let found = *self.all.get(&pair)?;
        *recent = (pair, found);
        Some(found)
    }

    #[cold]
    fn add(&mut self, pair: u64, set: u32, most: usize) -> Option<u32> {
        if self.all.len() >= most {
            return None;
        }
        self.recent[Self::place(pair) % RECENT] = (pair, set);
        self.all.insert(pair, set);
        Some(set)
    }
}
