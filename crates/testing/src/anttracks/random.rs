//! The random numbers that every decision of the simulation comes from.

/// SplitMix64.
#[derive(Clone)]
pub(super) struct Rng(pub(super) u64);

impl Rng {
    /// Something arbitrary, without a step to the next number.
    pub(super) fn peek(&self) -> u64 {
        self.0
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        ((self.next() >> 32) * limit) >> 32
    }

    pub(super) fn chance(&mut self, in_thousand: u64) -> bool {
        self.below(1000) < in_thousand
    }

    pub(super) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A number below `limit`, small ones far more often than large ones: a hundred of two thousand sites allocate four
    /// fifths of all objects, as in programs that work on something for a while.
    pub(super) fn ranked(&mut self, limit: u64) -> u64 {
        let powers = u64::from(64 - limit.max(1).leading_zeros());
        let first = 1 << self.below(powers).min(self.below(powers));
        (first + self.below(first) - 1).min(limit.max(1) - 1)
    }
}
