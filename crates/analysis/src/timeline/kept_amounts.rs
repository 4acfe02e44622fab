//! Closures of groups that were found lately.

use super::closure_metric::ClosureRequest;
use super::key::NodeId;
use super::nodes::Timeline;
use memory_city_heap::ownership::GroupAmounts;
use std::collections::VecDeque;
use std::sync::Arc;

/// The closures of all nodes at a time, by node.
pub type TimeAmounts = Arc<Vec<GroupAmounts>>;

/// Amounts that were found lately.
#[derive(Clone, Default)]
pub(super) struct KeptAmounts {
    all: VecDeque<((usize, ClosureRequest), TimeAmounts)>,
}

/// Bytes of amounts that are kept, at most; those of the last time always.
const KEPT: usize = 64 << 20;

impl KeptAmounts {
    pub fn get(&self, time: usize, request: ClosureRequest) -> Option<TimeAmounts> {
        let found = self
            .all
            .iter()
            .find(|((t, kept), _)| *t == time && kept.rules == request.rules && (kept.deep || !request.deep));
        found.map(|(_, amounts)| Arc::clone(amounts))
    }

    pub fn add(&mut self, time: usize, request: ClosureRequest, amounts: TimeAmounts) {
        self.all.push_back(((time, request), amounts));
        let bytes = |amounts: &TimeAmounts| amounts.len() * size_of::<GroupAmounts>();
        let mut total: usize = self.all.iter().map(|(_, amounts)| bytes(amounts)).sum();
        while total > KEPT && self.all.len() > 1 {
            total -= self.all.pop_front().map_or(0, |(_, amounts)| bytes(&amounts));
        }
    }

    /// The same for trees that have gone on: their nodes have the same keys, and `time_of` says where a time is now, if it is.
    pub(super) fn moved(
        &self,
        (before, now): (&Timeline, &Timeline),
        time_of: &dyn Fn(usize) -> Option<usize>,
    ) -> KeptAmounts {
        if self.all.is_empty() {
            return KeptAmounts::default();
        }
        let node_of: Vec<Option<NodeId>> = now.nodes().map(|node| before.find(&now.key(node))).collect();
        let move_one = |((time, request), amounts): &((usize, ClosureRequest), TimeAmounts)| {
            let of =
                |node: &Option<NodeId>| node.and_then(|node| amounts.get(node.index()).copied()).unwrap_or_default();
            Some(((time_of(*time)?, *request), Arc::new(node_of.iter().map(of).collect())))
        };
        KeptAmounts { all: self.all.iter().filter_map(move_one).collect() }
    }
}
