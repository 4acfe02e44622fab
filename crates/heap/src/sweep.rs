//! A set of waiting numbers, taken in ascending order whatever order they came in.
//!
//! Objects are numbered by address, and related objects mostly lie together. A search that sweeps over the heap again and again, from its
//! start to its end, reads neighbouring references together, where the processor has read ahead. A search that follows references as they
//! come waits for memory at each of them.

/// A set of numbers below a bound that are taken in ascending order, again and again from the start. A number added behind the current
/// place comes in the same round, one added before it in the next.
///
/// A bit a number, and one for each 64 bits: where few wait they are found without going over all bits.
pub(crate) struct Sweep {
    words: Vec<u64>,
    /// By level: a bit for each nonzero word of the level below (the first: of `words`). The last has one word.
    index: Vec<Vec<u64>>,
    /// The word that was taken last.
    at: usize,
}

/// Numbers that wait beside each other, ascending.
pub(crate) struct Word {
    first: u32,
    bits: u64,
}

/// Words to try before the index.
const NEAR: usize = 4;

impl Sweep {
    /// None of the numbers below `bound`.
    pub fn new(bound: usize) -> Sweep {
        let words = vec![0; bound.div_ceil(64)];
        let mut index = Vec::new();
        let mut size = words.len();
        while size > 1 {
            size = size.div_ceil(64);
            index.push(vec![0; size]);
        }
        Sweep { words, index, at: 0 }
    }

    /// Adds a number, which must be below the bound.
    #[inline]
    pub fn add(&mut self, number: u32) {
        let at = number as usize / 64;
        let word = &mut self.words[at];
        let was_empty = *word == 0;
        *word |= 1 << (number % 64);
        if was_empty {
            self.note(at);
        }
    }

    #[inline]
    fn note(&mut self, word: usize) {
        let mut at = word;
        for level in &mut self.index {
            let word = &mut level[at / 64];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            if !was_empty {
                return;
            }
            at /= 64;
        }
    }

    /// Takes the next numbers; `None` when none waits.
    #[inline]
    pub fn take(&mut self) -> Option<Word> {
        let at = match self.next(self.at) {
            Some(at) => at,
            None => self.next(0)?,
        };
        self.at = at;
        let bits = std::mem::take(&mut self.words[at]);
        let mut below = at;
        for level in &mut self.index {
            let word = &mut level[below / 64];
            *word &= !(1 << (below % 64));
            if *word != 0 {
                break;
            }
            below /= 64;
        }
        Some(Word { first: at as u32 * 64, bits })
    }

    /// The first word from `from` on that is not zero.
    #[inline]
    fn next(&self, from: usize) -> Option<usize> {
        let near = self.words.get(from..self.words.len().min(from + NEAR))?;
        match near.iter().position(|&word| word != 0) {
            Some(at) => Some(from + at),
            None => self.next_by_index(from + near.len()),
        }
    }

    fn next_by_index(&self, from: usize) -> Option<usize> {
        let mut at = from;
        let mut level = 0;
        loop {
            // A bit of this level is a word of the one below.
            let word = self.index.get(level)?.get(at / 64)? & u64::MAX << (at % 64);
            if word != 0 {
                at = at / 64 * 64 + word.trailing_zeros() as usize;
                break;
            }
            at = at / 64 + 1;
            level += 1;
        }
        for below in self.index[..level].iter().rev() {
            at = at * 64 + below[at].trailing_zeros() as usize;
        }
        Some(at)
    }
}

impl Word {
    /// The first and the last number, if there are so many that it pays to prefetch all their references.
    #[inline]
    pub fn run(&self) -> Option<(u32, u32)> {
        const MANY: u32 = 4;
        let last = u64::BITS - 1 - self.bits.leading_zeros().min(u64::BITS - 1);
        (self.bits.count_ones() >= MANY).then_some((self.first + self.bits.trailing_zeros(), self.first + last))
    }
}

/// References of a run that are asked for ahead: more may be gone again when their turn comes.
pub(crate) const AHEAD: usize = 256;

impl Iterator for Word {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.bits == 0 {
            return None;
        }
        let number = self.first + self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Rounds over a sorted set that say the same: what waits from the word of the last on, else from the start.
        #[test]
        fn numbers_come_in_rounds_and_none_is_lost(
            bound in prop_oneof![1usize..200, 4000usize..5000, 300_000usize..300_100],
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0u8..3), 0..200),
        ) {
            let mut sweep = Sweep::new(bound);
            let mut plain: BTreeSet<u32> = BTreeSet::new();
            let mut from = 0u32;
            let mut check = |sweep: &mut Sweep, plain: &mut BTreeSet<u32>| {
                let first = plain.range(from..).next().or_else(|| plain.iter().next()).copied();
                let expected: Vec<u32> = first.map_or(Vec::new(), |first| {
                    from = first / 64 * 64;
                    plain.range(from..from + 64).copied().collect()
                });
                expected.iter().for_each(|number| { plain.remove(number); });
                let taken: Vec<u32> = sweep.take().into_iter().flatten().collect();
                prop_assert_eq!(&taken, &expected);
                Ok(!taken.is_empty())
            };
            for (number, take) in steps {
                let number = number.index(bound) as u32;
                sweep.add(number);
                plain.insert(number);
                if take == 0 {
                    check(&mut sweep, &mut plain)?;
                }
            }
            while check(&mut sweep, &mut plain)? {}
            prop_assert!(plain.is_empty());
        }
    }

    #[test]
    fn nothing_waits_in_an_empty_one() {
        assert!(Sweep::new(0).take().is_none());
        assert!(Sweep::new(64).take().is_none());
        assert!(Sweep::new(10_000).take().is_none());
    }
}
