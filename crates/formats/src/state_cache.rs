//! Cache of recently loaded heap states.

use memory_city_heap::HeapState;
use std::collections::VecDeque;
use std::sync::Arc;

/// States are kept up to this many bytes in all, or half of the memory for dumps if that is less; two of them up to that half.
const MOST: u64 = 2 << 30;

/// Recently used states by index, oldest first.
#[derive(Default)]
pub(crate) struct StateCache(VecDeque<(usize, Arc<HeapState>)>);

impl StateCache {
    /// A state, if it is still there.
    pub(crate) fn get(&mut self, index: usize) -> Option<Arc<HeapState>> {
        let at = self.0.iter().position(|(i, _)| *i == index)?;
        let entry = self.0.remove(at)?;
        self.0.push_back(entry.clone());
        Some(entry.1)
    }

    /// Lets go of the oldest, as many as it takes for `bytes` more to fit into the budget.
    pub(crate) fn make_room(&mut self, bytes: u64, budget: u64) {
        while !self.0.is_empty() && self.memory().saturating_add(bytes) > budget {
            self.0.pop_front();
        }
    }

    /// Keeps a state, and lets go of the oldest where there are too many. The last one stays; so do two, which are compared, as
    /// long as half of the budget holds them.
    pub(crate) fn keep(&mut self, index: usize, state: Arc<HeapState>, budget: u64) {
        self.0.retain(|(i, _)| *i != index);
        self.0.push_back((index, state));
        let most = |states: usize| if states > 2 { MOST.min(budget / 2) } else { budget / 2 };
        while self.0.len() > 1 && self.memory() > most(self.0.len()) {
            self.0.pop_front();
        }
    }

    /// Bytes that they take.
    fn memory(&self) -> u64 {
        self.0.iter().map(|(_, state)| state.memory() as u64).sum()
    }
}
