//! Limits of a replay, and the error for a trace that exceeds them.

use super::{arena, numbers};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::memory::memory_limit;

/// How much a replay can hold. Beyond, it ends with an error.
#[derive(Clone, Copy, Debug)]
pub struct ReplayLimits {
    /// Objects alive at a time, about: numbers have 31 bits.
    pub objects: u32,
    /// References of all objects at a time, about: their places have 32 bits.
    pub references: u32,
    /// Leaves of the map, each for 4 KB of a heap whose objects are aligned to 8 bytes.
    pub leaves: u32,
    /// Leaves beyond these cost 12 bytes more for each reference to them while a full collection is read. No limit, but
    /// tests set it low.
    pub near_leaves: Option<u32>,
}

/// About how many bytes a leaf takes, with few objects in it.
const LEAF_BYTES: u64 = 160;
/// A heap of 32 GB is always read.
const FEWEST_LEAVES: u64 = 1 << 23;

impl Default for ReplayLimits {
    /// The limits of the representation and of memory: a heap that is spread thinly over the address range takes more than its trace.
    fn default() -> Self {
        let leaves = (memory_limit() / LEAF_BYTES).clamp(FEWEST_LEAVES, u64::from(u32::MAX - 1));
        ReplayLimits {
            objects: numbers::MOST_NUMBERS,
            references: arena::MOST_WORDS,
            leaves: leaves as u32,
            near_leaves: None,
        }
    }
}

/// A limit that was reached. Later events are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    Objects,
    References,
    Leaves,
}

impl ReplayLimits {
    /// The error for a limit that was reached.
    pub(super) fn check(&self, full: Option<Full>) -> Result<()> {
        let (what, remedy) = match full {
            None => return Ok(()),
            Some(Full::Objects) => (
                format!(
                    "The heap holds more than {} objects at a time, which is more than can be numbered",
                    self.objects
                ),
                "Record a run with a smaller heap",
            ),
            Some(Full::References) => (
                format!("The trace reports more than {} references at a time", self.references),
                "Record a run with a smaller heap, or record it without references",
            ),
            Some(Full::Leaves) => (
                format!("The heap is spread over more than {} pages of its address range", self.leaves),
                "Open it on a machine with more memory; if the program's heap is small, the trace is damaged: record it again",
            ),
        };
        Err(Error::Unusable { what, remedy: remedy.into() })
    }
}
