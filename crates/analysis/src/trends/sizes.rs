//! Deep and retained sizes of groups at some of the times. Each time costs a pass over the heap, so charts show fewer times than for
//! shallow sizes, and say how many.

use crate::timeline::{ClosureMetric, ClosureRequest, NodeId, TimeAmounts};
use memory_city_heap::ownership::GroupAmounts;
use std::collections::BTreeMap;

/// Default number of charted times.
pub const USUAL_SIZES: usize = 12;

/// Bytes that sizes of all groups at all charted times may take.
const MOST_BYTES: usize = 256 << 20;

/// The closures of all groups of a timeline at some of its times. Takes 32 bytes for each group and time.
#[derive(Clone, Debug, Default)]
pub struct GroupSizes {
    found: BTreeMap<usize, TimeAmounts>,
    /// True if they include deep amounts.
    deep: bool,
}

impl GroupSizes {
    /// None yet, to be found with a request.
    pub fn new(request: ClosureRequest) -> GroupSizes {
        GroupSizes { found: BTreeMap::new(), deep: request.deep }
    }

    /// Most times with sizes for a timeline of so many nodes: at least two, and no more than 256 MB.
    pub fn most_times(nodes: usize) -> usize {
        (MOST_BYTES / (nodes.max(1) * size_of::<GroupAmounts>())).max(2)
    }

    /// The order in which times are best computed: both ends first, which ranks groups by growth, then onwards.
    pub fn order(times: &[usize]) -> Vec<usize> {
        let mut order = times.to_vec();
        if order.len() > 2 {
            order[1..].rotate_right(1);
        }
        order
    }

    /// Adds the closures of a time.
    pub fn add(&mut self, time: usize, found: TimeAmounts) {
        self.found.insert(time, found);
    }

    /// Forgets all times but these.
    pub fn keep(&mut self, times: &[usize]) {
        self.found.retain(|time, _| times.binary_search(time).is_ok());
    }

    /// The times at which sizes are known, ascending.
    pub fn times(&self) -> Vec<usize> {
        self.found.keys().copied().collect()
    }

    /// Whether they are known at a time.
    pub fn has(&self, time: usize) -> bool {
        self.found.contains_key(&time)
    }

    /// True if it has the amounts of a metric.
    pub fn answers(&self, metric: ClosureMetric) -> bool {
        self.deep || !metric.is_deep()
    }

    /// The size of a group at a time; 0 if unknown.
    pub fn value(&self, time: usize, node: NodeId, metric: ClosureMetric) -> u64 {
        self.found.get(&time).and_then(|all| all.get(node.index())).map_or(0, |found| metric.value(found))
    }
}
