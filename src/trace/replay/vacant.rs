//! Numbers that are free, as bits. They are taken in ascending order: what is made one after the other has numbers side by
//! side, and dies side by side.

/// Free numbers, and how far they have been taken.
#[derive(Default)]
pub struct Vacant {
    bits: Vec<u64>,
    word: usize,
    /// Numbers that will be free at the end, unless somebody keeps them.
    passing: Vec<u64>,
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
    #[inline]
    pub fn add(&mut self, number: u32) {
        self.keep(number);
        *word(&mut self.bits, number) |= 1 << (number & 63);
    }

    /// Whether a number is free.
    #[inline]
    pub fn is_free(&self, number: u32) -> bool {
        self.bits.get((number >> 6) as usize).is_some_and(|bits| bits >> (number & 63) & 1 == 1)
    }

    /// A number will be free, see [`Vacant::free_passing`].
    #[inline]
    pub fn pass(&mut self, number: u32) {
        *word(&mut self.passing, number) |= 1 << (number & 63);
    }

    /// No, it will not.
    #[inline]
    pub fn keep(&mut self, number: u32) {
        if let Some(bits) = self.passing.get_mut((number >> 6) as usize) {
            *bits &= !(1 << (number & 63));
        }
    }

    /// Frees the numbers that were said to pass and not kept.
    pub fn free_passing(&mut self) {
        let length = self.bits.len().max(self.passing.len());
        self.bits.resize(length, 0);
        self.bits.iter_mut().zip(&mut self.passing).for_each(|(free, passing)| *free |= std::mem::take(passing));
    }

    /// Frees none of them.
    pub fn keep_all(&mut self) {
        self.passing.fill(0);
    }

    /// Begins again with the first free number.
    pub fn rewind(&mut self) {
        self.word = 0;
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        8 * (self.bits.capacity() + self.passing.capacity())
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

    #[test]
    fn free_numbers_are_taken_in_order() {
        let mut vacant = Vacant::default();
        assert_eq!(vacant.next(), None);
        [200, 3, 64, 63].into_iter().for_each(|n| vacant.add(n));
        vacant.rewind();
        assert_eq!(std::iter::from_fn(|| vacant.next()).collect::<Vec<_>>(), [3, 63, 64, 200]);
        vacant.add(5);
        vacant.rewind();
        assert_eq!(vacant.next(), Some(5));
    }

    #[test]
    fn passing_numbers_are_freed_together() {
        let mut vacant = Vacant::default();
        (0..130).for_each(|n| vacant.pass(n));
        [1, 64, 129].into_iter().for_each(|n| vacant.keep(n));
        assert!(!vacant.is_free(0));
        vacant.free_passing();
        assert_eq!((0..200).filter(|&n| vacant.is_free(n)).count(), 127);
        assert!(vacant.is_free(0) && !vacant.is_free(64));
        vacant.pass(64);
        vacant.keep_all();
        vacant.free_passing();
        assert!(!vacant.is_free(64));
    }
}
