//! The need of a dump for memory, within the budget of all dumps.

pub use memory_city_heap::memory::{memory_budget, set_memory_budget, set_memory_limit};
pub(crate) use memory_city_heap::memory::{memory_limit, memory_text};

/// The use of a state while it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryNeed {
    /// Objects, sizes and references: enough to group by most classifiers.
    Graph,
    /// References both ways, the dominator tree and owners by name.
    Owners,
}
