//! Accounting of memory that clients make the server keep. It is counted in one place before it is kept.
//!
//! There is one number under one lock, so that several clients cannot exceed the limit together. It knows bytes, not their purpose: sources
//! count their trees with all copies ([`GrowingTrees::bytes`]), connections their messages and the memory of the work on these.
//!
//! The limit excludes only memory that is the same for every client: its thread, its buffers, and messages up to [`SMALL`], so that a full
//! source can still be cleared.
//!
//! [`GrowingTrees::bytes`]: memory_city_analysis::timeline::json::GrowingTrees::bytes

use memory_city_analysis::timeline::json::Grant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a message, or of an event, that are not counted.
pub(super) const SMALL: usize = 64 << 10;

/// The used part of the limit.
pub(super) struct Ledger {
    limit: u64,
    taken: Mutex<u64>,
}

impl Ledger {
    /// Nothing is taken yet.
    pub fn new(limit: u64) -> Arc<Ledger> {
        Arc::new(Ledger { limit, taken: Mutex::new(0) })
    }

    /// Bytes that are taken.
    #[cfg(test)]
    pub fn taken(&self) -> u64 {
        *lock(&self.taken)
    }

    fn take(&self, bytes: u64) -> bool {
        let mut taken = lock(&self.taken);
        match taken.checked_add(bytes).filter(|&sum| sum <= self.limit) {
            Some(sum) => {
                *taken = sum;
                true
            }
            None => false,
        }
    }
}

/// A part of the limit; given back when it is dropped.
pub(super) struct HeldMemory {
    ledger: Arc<Ledger>,
    bytes: u64,
    /// Whether more was asked for than there was.
    pub refused: bool,
}

impl HeldMemory {
    /// Nothing yet.
    pub fn none(ledger: &Arc<Ledger>) -> HeldMemory {
        HeldMemory { ledger: Arc::clone(ledger), bytes: 0, refused: false }
    }

    /// How many bytes it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns all above so many bytes.
    pub fn shrink_to(&mut self, bytes: u64) {
        let more = self.bytes.saturating_sub(bytes);
        *lock(&self.ledger.taken) -= more;
        self.bytes -= more;
    }

    /// Takes over a part of `other`. Bytes beyond its count are counted all the same, even above the limit, since they exist already.
    pub fn take_over(&mut self, other: &mut HeldMemory, bytes: u64) {
        debug_assert!(bytes <= other.bytes, "{bytes} bytes are kept, {} were counted before", other.bytes);
        let had = bytes.min(other.bytes);
        other.bytes -= had;
        *lock(&self.ledger.taken) += bytes - had;
        self.bytes += bytes;
    }
}

impl Grant for HeldMemory {
    fn more(&mut self, bytes: u64) -> bool {
        let granted = self.ledger.take(bytes);
        self.bytes += if granted { bytes } else { 0 };
        self.refused |= !granted;
        granted
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_together_do_not_exceed_the_limit() {
        let ledger = Ledger::new(10_000);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for round in 0..500u64 {
                        let mut held = HeldMemory::none(&ledger);
                        for part in 0..20 {
                            held.more(part * (round % 17) + 1);
                            assert!(ledger.taken() <= 10_000);
                        }
                        let mut kept = HeldMemory::none(&ledger);
                        let half = held.bytes() / 2;
                        kept.take_over(&mut held, half);
                        kept.shrink_to(half / 2);
                        assert_eq!(kept.bytes(), half / 2);
                    }
                });
            }
        });
        assert_eq!(ledger.taken(), 0);
    }
}
