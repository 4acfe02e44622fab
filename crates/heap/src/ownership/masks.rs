//! Sets of up to 63 groups as bits ([`MaskSets`]), and as numbers of a byte ([`NarrowSets`]).

use super::sets::SetAlgebra;
use crate::{Amount, HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::{BitAnd, BitOr};

/// A word whose bits are groups. The word of all bits means that nothing is known, so the last is no group.
pub(super) trait Mask:
    Copy + Eq + BitAnd<Output = Self> + BitOr<Output = Self> + Into<u64> + Send + Sync
{
    const EMPTY: Self;
    const ALL: Self;
    /// The most groups.
    const MOST: usize = Self::ALL_BITS - 1;
    const ALL_BITS: usize = 8 * size_of::<Self>();
    /// The mask of a group.
    fn of(group: u32) -> Self;
}

impl Mask for u32 {
    const EMPTY: u32 = 0;
    const ALL: u32 = u32::MAX;
    #[inline]
    fn of(group: u32) -> u32 {
        1 << group
    }
}

impl Mask for u64 {
    const EMPTY: u64 = 0;
    const ALL: u64 = u64::MAX;
    #[inline]
    fn of(group: u32) -> u64 {
        1 << group
    }
}

/// A bit for each group.
pub(super) struct MaskSets<M> {
    /// By list of groups.
    lists: Vec<M>,
    groups: usize,
}

impl<M: Mask> MaskSets<M> {
    /// `lists`: which groups, by place below `groups`, each list has.
    pub fn new(lists: &[Box<[u32]>], groups: usize) -> MaskSets<M> {
        debug_assert!(groups <= M::MOST);
        let mask = |list: &[u32]| list.iter().fold(M::EMPTY, |mask, &group| mask | M::of(group));
        MaskSets { lists: lists.iter().map(|list| mask(list)).collect(), groups }
    }
}

impl<M: Mask> SetAlgebra for MaskSets<M> {
    type Set = M;
    const EMPTY: M = M::EMPTY;
    const ALL: M = M::ALL;

    #[inline]
    fn meet(&mut self, a: M, b: M) -> Option<M> {
        Some(a & b)
    }

    #[inline]
    fn join(&mut self, a: M, b: M) -> Option<M> {
        Some(a | b)
    }

    #[inline]
    fn of_list(&self, list: u32) -> M {
        self.lists[list as usize]
    }

    fn sums(&mut self, heap: &HeapState, sets: &[M], lists: &[u32]) -> Option<Vec<Amount>> {
        let of_lists = &self.lists;
        let count = |(at, (sets, lists)): (usize, (&[M], &[u32]))| {
            let mut counts = MaskCounts::new(self.groups);
            for ((o, &set), &list) in ((at * CHUNK) as u32..).map(ObjectId).zip(sets).zip(lists) {
                let all = set | of_lists[list as usize];
                if set != M::ALL && all != M::EMPTY {
                    counts.add(all.into(), Amount { objects: 1, bytes: heap.size_of(o) });
                }
            }
            counts.sums()
        };
        Some(in_chunks(sets, lists, count, self.groups))
    }
}

/// Objects that one thread counts at a time.
const CHUNK: usize = 1 << 18;

fn in_chunks<S: Sync>(
    sets: &[S],
    lists: &[u32],
    count: impl Fn((usize, (&[S], &[u32]))) -> Vec<Amount> + Send + Sync,
    groups: usize,
) -> Vec<Amount> {
    let chunks = sets.par_chunks(CHUNK).zip(lists.par_chunks(CHUNK)).enumerate();
    let add = |mut sums: Vec<Amount>, more: Vec<Amount>| {
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        sums
    };
    chunks.map(count).reduce(|| vec![Amount::default(); groups], add)
}

/// Amounts by mask, added up by group in the end: many objects have few masks.
struct MaskCounts {
    /// By some bits of a hash of the mask: the last such mask, and the amount counted with it.
    recent: Vec<(u64, Amount)>,
    sums: Vec<Amount>,
}

const RECENT_BITS: u32 = 10;

impl MaskCounts {
    fn new(groups: usize) -> MaskCounts {
        MaskCounts { recent: vec![(0, Amount::default()); 1 << RECENT_BITS], sums: vec![Amount::default(); groups] }
    }

    #[inline]
    fn add(&mut self, mask: u64, amount: Amount) {
        let at = mask.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS);
        let (known, sum) = &mut self.recent[at as usize];
        if *known == mask {
            *sum += amount;
        } else {
            let before = (std::mem::replace(known, mask), std::mem::replace(sum, amount));
            self.settle(before);
        }
    }

    fn settle(&mut self, (mut mask, amount): (u64, Amount)) {
        while mask != 0 {
            self.sums[mask.trailing_zeros() as usize] += amount;
            mask &= mask - 1;
        }
    }

    fn sums(mut self) -> Vec<Amount> {
        for known in std::mem::take(&mut self.recent) {
            self.settle(known);
        }
        self.sums
    }
}

/// Masks as numbers of one byte: a large heap has more objects than a processor's cache has bytes, and few of them differ in
/// their sets. Gives up when there are more sets than numbers.
pub(super) struct NarrowSets<M> {
    wide: MaskSets<M>,
    /// By number.
    masks: Vec<M>,
    numbers: FxHashMap<u64, u8>,
    /// By two numbers: the number of their intersection, or of their union; or [`UNKNOWN`].
    meets: Vec<u8>,
    joins: Vec<u8>,
    /// By list of groups.
    lists: Vec<u8>,
    most: usize,
}

const UNKNOWN: u8 = u8::MAX;

impl<M: Mask> NarrowSets<M> {
    /// The most sets: one number means that nothing is known.
    pub const MOST: usize = UNKNOWN as usize;

    /// Narrow sets, at most `most` of them. Returns the wide ones unchanged if the lists alone are more.
    pub fn new(wide: MaskSets<M>, most: usize) -> Result<NarrowSets<M>, MaskSets<M>> {
        let table = || vec![UNKNOWN; 1 << 16];
        let mut sets = NarrowSets {
            masks: Vec::new(),
            numbers: FxHashMap::default(),
            meets: table(),
            joins: table(),
            lists: Vec::with_capacity(wide.lists.len()),
            wide,
            most: most.min(Self::MOST),
        };
        let Some(Self::EMPTY) = sets.number(M::EMPTY) else { return Err(sets.wide) };
        for list in 0..sets.wide.lists.len() {
            match sets.number(sets.wide.lists[list]) {
                Some(number) => sets.lists.push(number),
                None => return Err(sets.wide),
            }
        }
        Ok(sets)
    }

    /// The sets that the numbers stand for, for the part done so far, and the state to go on with.
    pub fn widen(self, sets: &[u8]) -> (MaskSets<M>, Vec<M>) {
        let mut masks = [M::ALL; 256];
        masks[..self.masks.len()].copy_from_slice(&self.masks);
        (self.wide, sets.iter().map(|&set| masks[usize::from(set)]).collect())
    }

    fn number(&mut self, mask: M) -> Option<u8> {
        if let Some(&known) = self.numbers.get(&mask.into()) {
            return Some(known);
        }
        if self.masks.len() >= self.most {
            return None;
        }
        let number = self.masks.len() as u8;
        self.masks.push(mask);
        self.numbers.insert(mask.into(), number);
        Some(number)
    }

    #[inline]
    fn pair(a: u8, b: u8) -> usize {
        usize::from(a) << 8 | usize::from(b)
    }

    #[cold]
    fn new_meet(&mut self, a: u8, b: u8) -> Option<u8> {
        let both = match a {
            Self::ALL => b,
            _ => self.number(self.masks[usize::from(a)] & self.masks[usize::from(b)])?,
        };
        self.meets[Self::pair(a, b)] = both;
        Some(both)
    }

    #[cold]
    fn new_join(&mut self, a: u8, b: u8) -> Option<u8> {
        let either = self.number(self.masks[usize::from(a)] | self.masks[usize::from(b)])?;
        self.joins[Self::pair(a, b)] = either;
        Some(either)
    }
}

impl<M: Mask> SetAlgebra for NarrowSets<M> {
    type Set = u8;
    const EMPTY: u8 = 0;
    const ALL: u8 = UNKNOWN;

    /// `b` is known.
    #[inline]
    fn meet(&mut self, a: u8, b: u8) -> Option<u8> {
        if a == b || a == Self::EMPTY {
            return Some(a);
        }
        match self.meets[Self::pair(a, b)] {
            UNKNOWN => self.new_meet(a, b),
            known => Some(known),
        }
    }

    #[inline]
    fn join(&mut self, a: u8, b: u8) -> Option<u8> {
        match self.joins[Self::pair(a, b)] {
            UNKNOWN => self.new_join(a, b),
            known => Some(known),
        }
    }

    #[inline]
    fn of_list(&self, list: u32) -> u8 {
        self.lists[list as usize]
    }

    fn sums(&mut self, heap: &HeapState, sets: &[u8], lists: &[u32]) -> Option<Vec<Amount>> {
        let (of_lists, masks) = (&self.lists, &self.masks);
        let count = |(at, (sets, lists)): (usize, (&[u8], &[u32]))| {
            // By pair of set and list.
            let mut counts = vec![Amount::default(); 256 * masks.len()];
            for ((o, &set), &list) in ((at * CHUNK) as u32..).map(ObjectId).zip(sets).zip(lists) {
                let own = of_lists[list as usize];
                counts[Self::pair(own, set)] += Amount { objects: 1, bytes: heap.size_of(o) };
            }
            let mut sums = vec![Amount::default(); self.wide.groups];
            for (own, counts) in masks.iter().zip(counts.chunks(256)) {
                for (set, &amount) in masks.iter().zip(counts).filter(|(_, amount)| amount.objects > 0) {
                    let mut all: u64 = (*own | *set).into();
                    while all != 0 {
                        sums[all.trailing_zeros() as usize] += amount;
                        all &= all - 1;
                    }
                }
            }
            sums
        };
        Some(in_chunks(sets, lists, count, self.wide.groups))
    }
}
