//! How much memory dumps may take while they are read: a budget for the whole process, and what a dump needs of it.

use memory_city_heap::input::memory_limit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What was chosen; 0 while nothing was.
static CHOSEN: AtomicU64 = AtomicU64::new(0);

/// What is done with a state while it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryNeed {
    /// Objects, sizes and references: enough to group by most classifiers.
    Graph,
    /// References both ways, the dominator tree and owners by name.
    Owners,
}

/// Bytes that dumps may take while they are read: what was chosen, or three quarters of what is free of the machine's memory
/// (or of what a container may use) by now.
pub fn memory_budget() -> u64 {
    match CHOSEN.load(Relaxed) {
        0 => memory_limit(),
        chosen => chosen,
    }
}

/// Chooses the budget of this process. A single dump is read whatever it takes; several are read at once only within it.
pub fn set_memory_budget(bytes: u64) {
    CHOSEN.store(bytes.max(1), Relaxed);
}

/// For people: `350 MB`, `4.7 GB`, `112 GB`.
pub(crate) fn memory_text(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        1_000_000_000..10_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}
