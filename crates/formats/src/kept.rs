//! Heap states that were asked for lately.

use memory_city_heap::HeapState;
use std::collections::VecDeque;
use std::sync::Arc;

/// States are kept up to this many bytes in all, and at least two.
const BUDGET: usize = 2 << 30;

/// Recently used states by index, oldest first.
#[derive(Default)]
pub(crate) struct KeptStates(VecDeque<(usize, Arc<HeapState>)>);

impl KeptStates {
    /// A state, if it is still there.
    pub(crate) fn get(&mut self, index: usize) -> Option<Arc<HeapState>> {
        let at = self.0.iter().position(|(i, _)| *i == index)?;
        let entry = self.0.remove(at)?;
        self.0.push_back(entry.clone());
        Some(entry.1)
    }

    /// Keeps a state, and lets go of the oldest where there are too many.
    pub(crate) fn keep(&mut self, index: usize, state: Arc<HeapState>) {
        self.0.push_back((index, state));
        while self.0.len() > 2 && self.0.iter().map(|(_, s)| s.memory()).sum::<usize>() > BUDGET {
            self.0.pop_front();
        }
    }
}
