//! Amounts of inner groups beside their subgroups: a view that draws only leaves does not show them.
//!
//! Trees of other programs may have such amounts. Of our groupings, those by owner would: of a registry's persons, the names are a group of
//! their own, and the persons are in the group around it. These get a group beside the names (`group/placement`).

use super::key::NodeId;
use super::metric::Metric;
use super::nodes::Timeline;

impl Timeline {
    /// By time: the part of the heap that is in no leaf, objects or bytes; 0 if leaves share objects, and together have more than the heap.
    /// Linear in the changes over all times.
    pub fn beside_leaves(&self, metric: Metric) -> Vec<u64> {
        // What every leaf has more or less of than before, by the time at which it has; in two's complement.
        let mut more = vec![0u64; self.times()];
        let below_root = |leaf: NodeId| self.whole(leaf) == NodeId::ROOT;
        for leaf in self.nodes().filter(|&node| self.is_leaf(node) && below_root(node)) {
            let mut before = 0u64;
            for t in self.amounts.times_of(leaf) {
                let now = self.value(t, leaf, metric);
                more[t] = more[t].wrapping_add(now.wrapping_sub(before));
                before = now;
            }
        }
        let mut leaves = 0u64;
        let besides = more.into_iter().enumerate().map(|(t, more)| {
            leaves = leaves.wrapping_add(more);
            self.value(t, NodeId::ROOT, metric).saturating_sub(leaves)
        });
        besides.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MemoryTree;
    use crate::timeline::{Amount, TimePoint};
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        /// Against the sum over all leaves at each time.
        #[test]
        fn what_is_beside_leaves_is_the_heap_without_them(
            times in prop::collection::vec(prop::collection::vec((0usize..5, 0usize..5, 0u64..9), 0..12), 1..6),
        ) {
            let role: Arc<str> = "Owner".into();
            let trees: Vec<MemoryTree> = times.iter().map(|objects| {
                let mut tree = MemoryTree::new();
                for &(outer, inner, bytes) in objects {
                    let mut at = tree.child(0, &role, &Arc::from(format!("{outer}")));
                    // Some are what owns the others.
                    if inner > 0 {
                        at = tree.child(at, &role, &Arc::from(format!("{inner}")));
                    }
                    tree.add_up(&[at as u32], Amount { objects: 1, bytes });
                }
                tree
            }).collect();
            let timeline = Timeline::from_trees(vec![TimePoint::default(); times.len()], &trees);
            for metric in [Metric::Objects, Metric::Bytes] {
                let naive = |t: usize| {
                    let leaves = timeline.nodes().filter(|&n| timeline.is_leaf(n));
                    timeline.value(t, NodeId::ROOT, metric) - leaves.map(|n| timeline.value(t, n, metric)).sum::<u64>()
                };
                prop_assert_eq!(timeline.beside_leaves(metric), (0..times.len()).map(naive).collect::<Vec<_>>());
            }
        }
    }
}
