//! Leaves of a timeline, ranked by a number.

use crate::timeline::{Metric, NodeId, TimeWindow, Timeline};

/// The `n` leaves that grow most from the first to the last time, strongest first; only such that grow. Ties by key.
pub fn top_growing(timeline: &Timeline, metric: Metric, n: usize) -> Vec<NodeId> {
    strongest(growing(timeline, TimeWindow::whole(timeline), metric), n)
}

/// The `n` leaves that shrink most from the first to the last time, those first that lose most; only such that shrink. Ties by key.
pub fn top_shrinking(timeline: &Timeline, metric: Metric, n: usize) -> Vec<NodeId> {
    strongest(leaves_with(timeline, |node| timeline.growth(node, metric).saturating_neg()), n)
}

/// The leaves that grow over a range of times, and by how much.
pub(super) fn growing(timeline: &Timeline, window: TimeWindow, metric: Metric) -> Vec<(i64, NodeId)> {
    leaves_with(timeline, |node| window.growth(timeline, node, metric))
}

/// The leaves of which a number is more than 0, with it.
pub(super) fn leaves_with(timeline: &Timeline, number: impl Fn(NodeId) -> i64) -> Vec<(i64, NodeId)> {
    let leaves = timeline.nodes().filter(|&node| timeline.is_leaf(node));
    leaves.map(|node| (number(node), node)).filter(|(number, _)| *number > 0).collect()
}

/// The first `n`, strongest first.
pub(super) fn strongest(mut growing: Vec<(i64, NodeId)>, n: usize) -> Vec<NodeId> {
    let strongest_first = |a: &(i64, NodeId), b: &(i64, NodeId)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if n > 0 && growing.len() > n {
        growing.select_nth_unstable_by(n - 1, strongest_first);
    }
    growing.truncate(n);
    growing.sort_unstable_by(strongest_first);
    growing.into_iter().map(|(_, node)| node).collect()
}
