//! A set of objects as bits.

/// A set of numbers below a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// An empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        BitSet { words: vec![0; bound.div_ceil(64)] }
    }

    /// All numbers below `bound`.
    pub fn full(bound: usize) -> Self {
        let mut words = vec![u64::MAX; bound.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (words.last_mut(), bound % 64) {
            *last = (1 << rest) - 1;
        }
        BitSet { words }
    }

    /// Whether `i` is in it.
    pub fn contains(&self, i: u32) -> bool {
        self.words.get(i as usize / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }

    /// Adds `i`, which must be below the bound; returns whether it was new.
    pub fn insert(&mut self, i: u32) -> bool {
        let word = &mut self.words[i as usize / 64];
        let bit = 1u64 << (i % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// How many are in it.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }
}
