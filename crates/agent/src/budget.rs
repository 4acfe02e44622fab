//! The sampling interval: adjusted so that samples cost no more than the budget.
//!
//! A fixed interval promises no cost: a program that allocates ten times as much pays ten times. So the time that is spent is
//! measured, and the interval follows it. Pure arithmetic: no clock and no VM here.

use crate::jvmti::DEFAULT_INTERVAL;
use crate::options::SamplingMode;

/// Bytes between samples, at least and at most.
pub(crate) const NEAREST: u32 = 16 << 10;
pub(crate) const FARTHEST: u32 = 64 << 20;

/// The most one sample counts in the sum, nanoseconds: a thread that lost its core in the callback cost the program nothing.
pub(crate) const DEAREST: u64 = 500_000;

/// Decides the interval.
pub(crate) struct Budget {
    mode: SamplingMode,
    interval: f64,
    /// Share of a core spent lately, smoothed.
    spent: f64,
}

impl Budget {
    pub(crate) fn new(mode: SamplingMode) -> Budget {
        let interval = match mode {
            SamplingMode::Budget(_) => f64::from(DEFAULT_INTERVAL),
            SamplingMode::Every(bytes) => f64::from(bytes),
            SamplingMode::All => 0.0,
        };
        Budget { mode, interval, spent: 0.0 }
    }

    /// The interval in force, bytes; 0 for every allocation.
    pub(crate) fn interval(&self) -> u32 {
        self.interval as u32
    }

    /// After `elapsed` nanoseconds in which sampling took `spent`: the interval from now on.
    pub(crate) fn adjust(&mut self, spent: u64, elapsed: u64) -> u32 {
        if let (SamplingMode::Budget(ppm), true) = (self.mode, elapsed > 0) {
            let now = spent as f64 / elapsed as f64;
            self.spent = 0.5 * self.spent + 0.5 * now;
            // What is spent falls as the interval grows. The root keeps a burst from swinging it to and fro; too much is
            // answered at once, too little slowly.
            let factor = (self.spent / (f64::from(ppm) / 1e6)).sqrt().clamp(0.8, 4.0);
            self.interval = (self.interval * factor).clamp(f64::from(NEAREST), f64::from(FARTHEST));
        }
        self.interval()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A program that allocates `rate` bytes a second, with samples of `cost` nanoseconds: the share of a core after a while.
    fn settled(rate: f64, cost: f64, ppm: u32) -> f64 {
        let mut budget = Budget::new(SamplingMode::Budget(ppm));
        let mut last = 0.0;
        for _ in 0..400 {
            let spent = rate * 0.05 / f64::from(budget.interval()) * cost;
            last = spent / 50e6;
            budget.adjust(spent as u64, 50_000_000);
        }
        last
    }

    proptest! {
        #[test]
        fn what_is_spent_settles_at_the_budget(rate in 1e6..4e9f64, cost in 2_000.0..60_000.0f64) {
            let share = settled(rate, cost, 20_000);
            // Where even the smallest interval costs less, less is spent.
            let most = rate / f64::from(NEAREST) * cost / 1e9;
            prop_assert!(share <= 0.022, "{share}");
            prop_assert!(share >= most.min(0.02) * 0.9, "{share} of {most}");
        }
    }

    #[test]
    fn what_is_set_stays() {
        let mut budget = Budget::new(SamplingMode::All);
        assert_eq!((budget.interval(), budget.adjust(1 << 40, 1)), (0, 0));
        assert_eq!(Budget::new(SamplingMode::Every(4096)).adjust(1 << 40, 1), 4096);
    }
}
