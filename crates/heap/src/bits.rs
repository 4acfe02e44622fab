//! A set of objects, one bit each.

use crate::prefetch::prefetch;

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

    /// The numbers whose bits are set, the lowest first in each word.
    pub(crate) fn from_words(words: Vec<u64>) -> Self {
        BitSet { words }
    }

    /// Whether `i` is in it.
    #[inline]
    pub fn contains(&self, i: u32) -> bool {
        self.words.get(i as usize / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }

    /// Adds `i`, which must be below the bound; returns whether it was new.
    #[inline]
    pub fn insert(&mut self, i: u32) -> bool {
        let word = &mut self.words[i as usize / 64];
        let bit = 1u64 << (i % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Prefetches the word of `i`.
    #[inline]
    pub(crate) fn prefetch(&self, i: u32) {
        prefetch(&self.words, i as usize / 64);
    }

    /// Takes `i` out; returns whether it was in it.
    #[inline]
    pub fn remove(&mut self, i: u32) -> bool {
        let Some(word) = self.words.get_mut(i as usize / 64) else { return false };
        let bit = 1u64 << (i % 64);
        let was = *word & bit != 0;
        *word &= !bit;
        was
    }

    /// The numbers below `bound` that are not in it, ascending.
    pub(crate) fn missing(&self, bound: usize) -> impl Iterator<Item = u32> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(at, &word)| {
                std::iter::successors((word != u64::MAX).then_some(!word), |w| Some(w & (w - 1)).filter(|w| *w != 0))
                    .map(move |w| at as u32 * 64 + w.trailing_zeros())
            })
            .take_while(move |&i| (i as usize) < bound)
    }

    /// The numbers in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| Some(w & (w - 1)).filter(|w| *w != 0))
                .map(move |w| at as u32 * 64 + w.trailing_zeros())
        })
    }

    /// Removes the members of another set of the same bound.
    pub fn subtract(&mut self, other: &BitSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine &= !theirs);
    }

    /// Adds the members of another set of the same bound.
    pub fn unite(&mut self, other: &BitSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// Its bits, the lowest first in each word.
    #[inline]
    pub fn as_words(&self) -> &[u64] {
        &self.words
    }

    /// How many are in it.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }
}
