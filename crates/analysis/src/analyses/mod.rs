//! What grows most, and what keeps it alive. Reads timelines and histories; knows no picture.

pub mod report;
mod text;

pub use text::{bytes_text, count_text, gc_text, time_text, uptime_text};

use crate::timeline::{Metric, NodeId, Timeline};

/// The `n` leaves that grow most from the first to the last time, strongest first; only such that grow. Ties by key.
pub fn top_growing(timeline: &Timeline, metric: Metric, n: usize) -> Vec<NodeId> {
    let mut growing: Vec<(i64, NodeId)> = timeline
        .nodes()
        .filter(|&node| timeline.is_leaf(node))
        .map(|node| (timeline.growth(node, metric), node))
        .filter(|(growth, _)| *growth > 0)
        .collect();
    let strongest_first = |a: &(i64, NodeId), b: &(i64, NodeId)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if n > 0 && growing.len() > n {
        growing.select_nth_unstable_by(n - 1, strongest_first);
    }
    growing.truncate(n);
    growing.sort_unstable_by(strongest_first);
    growing.into_iter().map(|(_, node)| node).collect()
}
