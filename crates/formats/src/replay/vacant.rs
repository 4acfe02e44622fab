//! Free numbers, as bits. The smallest is taken first. Objects created one after the other get neighbouring numbers, and often die
//! together. So the next number depends only on the set of free ones.

/// Free numbers, and a word of bits before which there are none.
#[derive(Default)]
pub(crate) struct Vacant {
    pub(super) bits: Vec<u64>,
    word: usize,
}

impl Vacant {
    /// Takes the next free number.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
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
    pub(crate) fn add(&mut self, number: u32) {
        self.word = self.word.min((number >> 6) as usize);
        *word(&mut self.bits, number) |= 1 << (number & 63);
    }

    /// Whether a number is free.
    #[inline]
    pub(crate) fn is_free(&self, number: u32) -> bool {
        self.bits.get((number >> 6) as usize).is_some_and(|bits| bits >> (number & 63) & 1 == 1)
    }

    /// Numbers may have become free by their bits.
    pub(crate) fn rewind(&mut self) {
        self.word = 0;
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        8 * self.bits.capacity()
    }
}

/// The word of a number; there is one afterwards.
#[inline]
pub(crate) fn word(bits: &mut Vec<u64>, number: u32) -> &mut u64 {
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
        vacant.add(205);
        vacant.add(5);
        assert_eq!([vacant.next(), vacant.next(), vacant.next()], [Some(5), Some(205), None]);
    }
}
