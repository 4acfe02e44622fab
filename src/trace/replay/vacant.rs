//! Numbers that are free, as bits. They are taken in ascending order: what is made one after the other has numbers side by
//! side, and dies side by side.

/// Free numbers, and how far they have been taken.
#[derive(Default)]
pub struct Vacant {
    bits: Vec<u64>,
    word: usize,
    /// What was free at the last [`Vacant::rewind`], and how many numbers there were.
    before: Vec<u64>,
    count_before: usize,
    /// Numbers taken since then that do not pass.
    kept: Vec<u64>,
}

impl Vacant {
    /// Takes the next free number.
    #[inline]
    pub fn next(&mut self) -> Option<u32> {
        while let Some(bits) = self.bits.get_mut(self.word) {
            if *bits != 0 {
                let bit = bits.trailing_zeros();
                *bits &= *bits - 1;
                return Some((self.word as u32) << 6 | bit);
            }
            self.word += 1;
        }
        None
    }

    /// A number is free from now on.
    pub fn add(&mut self, number: u32) {
        let (at, bit) = ((number >> 6) as usize, 1 << (number & 63));
        *word(&mut self.bits, number) |= bit;
        // Whoever takes it next passes or not by itself.
        if let Some(before) = self.before.get_mut(at) {
            *before |= bit;
        }
        if let Some(kept) = self.kept.get_mut(at) {
            *kept &= !bit;
        }
    }

    /// Whether a number is free.
    #[inline]
    pub fn is_free(&self, number: u32) -> bool {
        self.bits.get((number >> 6) as usize).is_some_and(|bits| bits >> (number & 63) & 1 == 1)
    }

    /// A number taken since the last [`Vacant::rewind`] does not pass.
    #[inline]
    pub fn keep(&mut self, number: u32) {
        *word(&mut self.kept, number) |= 1 << (number & 63);
    }

    /// Frees what was taken since the last [`Vacant::rewind`] and not kept; there are `count` numbers now.
    pub fn free_passing(&mut self, count: usize) {
        let kept = |at: usize| self.kept.get(at).copied().unwrap_or(0);
        for (at, (free, before)) in self.bits.iter_mut().zip(&self.before).enumerate() {
            *free |= before & !kept(at);
        }
        // Those that were new.
        self.bits.resize(count.div_ceil(64), 0);
        let mut number = self.count_before;
        while number < count {
            let (at, bit) = (number / 64, number % 64);
            let end = 64.min(bit + count - number);
            let new = (u64::MAX >> (64 - (end - bit))) << bit;
            self.bits[at] |= new & !self.kept.get(at).copied().unwrap_or(0);
            number += end - bit;
        }
    }

    /// Begins again with the first free number; there are `count` numbers.
    pub fn rewind(&mut self, count: usize) {
        self.word = 0;
        self.before.clone_from(&self.bits);
        self.count_before = count;
        self.kept.fill(0);
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        8 * (self.bits.capacity() + self.before.capacity() + self.kept.capacity())
    }
}

#[inline]
fn word(bits: &mut Vec<u64>, number: u32) -> &mut u64 {
    let word = (number >> 6) as usize;
    if word >= bits.len() {
        bits.resize(word + 1, 0);
    }
    &mut bits[word]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn free_numbers_are_taken_in_order() {
        let mut vacant = Vacant::default();
        assert_eq!(vacant.next(), None);
        [200, 3, 64, 63].into_iter().for_each(|n| vacant.add(n));
        vacant.rewind(201);
        assert_eq!(std::iter::from_fn(|| vacant.next()).collect::<Vec<_>>(), [3, 63, 64, 200]);
        vacant.add(5);
        vacant.rewind(201);
        assert_eq!(vacant.next(), Some(5));
    }

    proptest! {
        #[test]
        fn what_was_taken_and_not_kept_passes(
            rounds in prop::collection::vec((0usize..200, prop::collection::vec(any::<prop::sample::Index>(), 0..40)), 1..8),
        ) {
            let (mut vacant, mut count, mut live) = (Vacant::default(), 0u32, BTreeSet::new());
            for (taken, kept) in rounds {
                vacant.rewind(count as usize);
                let mut new = Vec::new();
                for _ in 0..taken {
                    let number = vacant.next().unwrap_or_else(|| {
                        count += 1;
                        count - 1
                    });
                    prop_assert!(!live.contains(&number));
                    new.push(number);
                }
                for index in kept.iter().filter(|_| !new.is_empty()) {
                    let number = new[index.index(new.len())];
                    vacant.keep(number);
                    live.insert(number);
                }
                vacant.free_passing(count as usize);
                prop_assert!((0..count).all(|n| vacant.is_free(n) != live.contains(&n)));
            }
        }
    }
}
