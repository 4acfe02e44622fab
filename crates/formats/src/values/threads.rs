//! Threads and their stacks.

use super::HeapValues;
use memory_city_heap::ObjectId;
use std::sync::Arc;

/// A thread as the source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadStack {
    /// The thread object.
    pub object: ObjectId,
    /// Methods, innermost first: `com.acme.Main.run() line 12`.
    pub frames: Arc<[Arc<str>]>,
    /// The variables of its stack: number of the frame, if the source has it, and object; one entry a variable.
    pub locals: Vec<(Option<u32>, ObjectId)>,
}

impl HeapValues {
    /// The threads that are roots, by object. Kept from the dump: costs no scan.
    pub fn threads(&self) -> Vec<ThreadStack> {
        self.source.threads(&self.heap)
    }
}
