//! The numbers of objects: with its birth, a number is the identity of an object.
//!
//! Most objects pass: they are born in a young space and dead at the next GC. Their numbers are taken back together, all
//! that were taken since the last GC and not kept, so that neither birth nor death marks them one by one.

use super::arena::grow;
use super::map;
use super::vacant::{Vacant, word};
use memory_city_heap::Identity;

/// Numbers there can be: they have 31 bits, and the last is none.
pub(crate) const MOST_NUMBERS: u32 = (1 << 31) - 1;

/// Numbers, free or of live objects.
pub(crate) struct Numbers {
    /// There are never more.
    most: usize,
    /// By number: the GC interval its last object was born in.
    births: Vec<u32>,
    vacant: Vacant,
    /// The free numbers at the end of the last GC, and the count of all numbers.
    before: Vec<u64>,
    count_before: usize,
    /// Numbers taken since then that do not pass.
    kept: Vec<u64>,
}

impl Numbers {
    /// None yet, and never more than `most`.
    pub(crate) fn new(most: u32) -> Numbers {
        let (births, before, kept) = Default::default();
        Numbers {
            most: most.min(MOST_NUMBERS) as usize,
            births,
            vacant: Vacant::default(),
            before,
            count_before: 0,
            kept,
        }
    }

    /// The numbers of a heap that was saved: `birth` of each live one, [`map::NONE`] where there is none.
    pub(crate) fn restored(most: u32, births: Vec<u32>) -> Numbers {
        let mut numbers = Numbers { births, ..Numbers::new(most) };
        let free = numbers.births.iter().enumerate().filter(|(_, birth)| **birth == map::NONE);
        free.for_each(|(number, _)| numbers.vacant.add(number as u32));
        numbers.rewind();
        numbers
    }

    /// Takes a number for an object born in an interval, the next one that was free at the end of the last GC. `None`
    /// when there are too many.
    #[inline]
    pub(crate) fn take(&mut self, birth: u32) -> Option<u32> {
        if let Some(number) = self.vacant.next() {
            self.births[number as usize] = birth;
            return Some(number);
        }
        if self.births.len() >= self.most {
            return None;
        }
        grow(&mut self.births);
        self.births.push(birth);
        Some(self.births.len() as u32 - 1)
    }

    /// A number is free from now on.
    pub(crate) fn release(&mut self, number: u32) {
        let (at, bit) = ((number >> 6) as usize, 1 << (number & 63));
        self.vacant.add(number);
        // Whoever takes it next passes or not by itself, also where no number was free when the last GC had ended.
        *word(&mut self.before, number) |= bit;
        if let Some(kept) = self.kept.get_mut(at) {
            *kept &= !bit;
        }
    }

    /// The number of numbers, free or not.
    pub(crate) fn len(&self) -> usize {
        self.births.len()
    }

    /// When the last object of a number was born.
    #[inline]
    pub(crate) fn birth(&self, number: u32) -> u32 {
        self.births[number as usize]
    }

    /// Whether a number is that of a live object.
    #[inline]
    pub(crate) fn is_live(&self, number: u32) -> bool {
        (number as usize) < self.births.len() && !self.vacant.is_free(number)
    }

    /// Whether the object of an identity is alive.
    pub(crate) fn has(&self, identity: Identity) -> bool {
        self.is_live(identity.number) && self.birth(identity.number) == identity.birth
    }

    /// A number taken since the last GC does not pass.
    #[inline]
    pub(crate) fn keep(&mut self, number: u32) {
        *word(&mut self.kept, number) |= 1 << (number & 63);
    }

    /// Frees the numbers that were taken since the last GC and not kept.
    pub(crate) fn free_passing(&mut self) {
        let (bits, kept, count) = (&mut self.vacant.bits, &self.kept, self.births.len());
        let kept = |at: usize| kept.get(at).copied().unwrap_or(0);
        for (at, (free, before)) in bits.iter_mut().zip(&self.before).enumerate() {
            *free |= before & !kept(at);
        }
        // Those that were new.
        bits.resize(count.div_ceil(64), 0);
        let mut number = self.count_before;
        while number < count {
            let (at, bit) = (number / 64, number % 64);
            let end = 64.min(bit + count - number);
            let new = (u64::MAX >> (64 - (end - bit))) << bit;
            bits[at] |= new & !kept(at);
            number += end - bit;
        }
    }

    /// A GC has ended: begins again with the first free number.
    pub(crate) fn rewind(&mut self) {
        self.vacant.rewind();
        self.before.clone_from(&self.vacant.bits);
        self.count_before = self.births.len();
        self.kept.fill(0);
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        4 * self.births.capacity() + self.vacant.memory() + 8 * (self.before.capacity() + self.kept.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn indices(most: usize) -> impl Strategy<Value = Vec<prop::sample::Index>> {
        prop::collection::vec(any::<prop::sample::Index>(), 0..most)
    }

    proptest! {
        #[test]
        fn what_was_taken_and_not_kept_passes(
            rounds in prop::collection::vec((0usize..200, indices(5), indices(40), any::<bool>()), 1..8),
        ) {
            let (mut numbers, mut live) = (Numbers::new(MOST_NUMBERS), BTreeSet::new());
            for (taken, released, kept, together) in rounds {
                numbers.rewind();
                // What was there dies while the program runs: those born next have its numbers.
                for index in released.iter().filter(|_| taken > 0) {
                    let number = live.iter().nth(index.index(live.len().max(1))).copied();
                    number.filter(|n| live.remove(n)).into_iter().for_each(|n| numbers.release(n));
                }
                let new: Vec<u32> = (0..taken).map(|_| numbers.take(0).expect("a number")).collect();
                prop_assert!(new.iter().all(|n| !live.contains(n)));
                for index in kept.iter().filter(|_| !new.is_empty()) {
                    let number = new[index.index(new.len())];
                    numbers.keep(number);
                    live.insert(number);
                }
                // Some GCs collect no young space: whoever is found dead is so one by one, and the others stay.
                match together {
                    true => numbers.free_passing(),
                    false => live.extend(new),
                }
                prop_assert!((0..numbers.len() as u32).all(|n| numbers.is_live(n) == live.contains(&n)));
            }
        }
    }
}
