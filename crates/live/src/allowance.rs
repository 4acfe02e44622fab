//! A limit on messages: so many per second, refilled over time.

use std::time::Instant;

/// Messages that may come now.
pub(super) struct Allowance {
    most: u32,
    left: f64,
    since: Instant,
}

impl Allowance {
    /// An allowance of so many messages per second.
    pub fn new(most: u32) -> Allowance {
        Allowance { most, left: f64::from(most), since: Instant::now() }
    }

    /// Messages per second.
    pub fn per_second(&self) -> u32 {
        self.most
    }

    /// Counts a message; `false` when it is one too many.
    pub fn take(&mut self) -> bool {
        let (most, now) = (f64::from(self.most), Instant::now());
        self.left = (self.left + most * now.duration_since(self.since).as_secs_f64()).min(most) - 1.0;
        self.since = now;
        self.left >= 0.0
    }
}
