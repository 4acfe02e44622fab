//! Sunburst and icicle: a memory tree as parts within parts, at any time, in an order that never changes.
//!
//! A [`NestedPlan`] is built once for a timeline. It has the children of each node that get a part of their own, and their order. These are
//! the first in that order until they cover nine tenths of the amount below the node, and nine at most. Both are the same at all times, so
//! that two pictures can be compared. A [`NestedPicture`] is the view below one node at one time; [`NestedPicture::between`] mixes two of
//! them. [`NestedShape`] maps it to a plane.
//!
//! Nothing is lost: the parts of a node are those children, *Other* for the rest of them, and the amount of the node itself; together they
//! are the node. If objects are in several children (types that several others refer to), the amount of the node is divided in proportion.
//!
//! Weninger et al., *Memory Leak Analysis using Time-Travel-based and Timeline-based Tree Evolution Visualizations*, STAG 2020,
//! sections 3.4 to 5.4. Left open there and chosen here: the nine tenths are of the sum over all times, *Other* stands last, a
//! single small child is not called *Other*.

mod picture;
mod shape;
mod table;
#[cfg(test)]
mod tests;

pub use picture::{NestedCell, NestedPart, NestedPicture, heap_scale};
pub use shape::{NestedShape, NestedTarget, Outline};
pub use table::nested_table;

use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use std::cmp::Reverse;

/// The order in which children stand, and in which they are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiblingOrder {
    /// The largest at the first time first.
    Start,
    /// The largest at the last time first.
    End,
    /// The largest growth from the first to the last time first; the best order for leaks.
    #[default]
    Growth,
}

impl SiblingOrder {
    /// All of them, with a name and an explanation for people.
    pub const ALL: [(SiblingOrder, &'static str, &'static str); 3] = [
        (SiblingOrder::Growth, "Growth", "What grew most from the first to the last point in time comes first"),
        (SiblingOrder::End, "End", "What is largest at the last point in time comes first"),
        (SiblingOrder::Start, "Start", "What was largest at the first point in time comes first"),
    ];
}

/// The configuration of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NestedConfig {
    /// The metric of the extents.
    pub metric: Metric,
    /// See [`SiblingOrder`].
    pub order: SiblingOrder,
    /// Children have parts of their own until they cover this share of the amount below their node, 0 to 1.
    pub share: f64,
    /// The most children with parts of their own.
    pub most: usize,
}

impl Default for NestedConfig {
    fn default() -> Self {
        NestedConfig { metric: Metric::Bytes, order: SiblingOrder::Growth, share: 0.9, most: 9 }
    }
}

/// The children with parts of their own, and their order, for all times.
#[derive(Clone, Debug)]
pub struct NestedPlan {
    config: NestedConfig,
    /// Children with parts of their own, of all nodes one after the other.
    kept: Vec<NodeId>,
    /// By node, and one more: where its kept children begin.
    first: Vec<u32>,
    /// By node: how many children are in its *Other*.
    other: Vec<u32>,
    /// Largest value of the root over time.
    peak: u64,
}

impl NestedPlan {
    /// The plan of a timeline. One pass over all values; 8 bytes a node, and 4 for each that is kept.
    pub fn new(timeline: &Timeline, config: NestedConfig) -> NestedPlan {
        let n = timeline.len();
        let share = if config.share.is_finite() { config.share.clamp(0.0, 1.0) } else { 1.0 };
        let config = NestedConfig { share, most: config.most.max(1), ..config };
        let mut plan = NestedPlan {
            config,
            kept: Vec::new(),
            first: Vec::with_capacity(n + 1),
            other: Vec::with_capacity(n),
            peak: timeline.peak(NodeId::ROOT, config.metric),
        };
        let mut ranked: Vec<(Reverse<i128>, Reverse<u64>, NodeId, u128)> = Vec::new();
        for node in timeline.nodes() {
            plan.first.push(plan.kept.len() as u32);
            ranked.clear();
            ranked.extend(parts_of(timeline, node).map(|child| plan.rank(timeline, child)));
            // What is never there has no part, and is nothing that is left out.
            ranked.retain(|&(.., sum)| sum > 0);
            ranked.sort_unstable_by_key(|&(key, then, child, _)| (key, then, child));
            let all: u128 = ranked.iter().map(|&(.., sum)| sum).sum();
            let wanted = (all as f64 * config.share) as u128;
            let (mut covered, mut kept) = (0u128, 0);
            for &(.., sum) in ranked.iter().take(config.most) {
                if kept > 0 && covered >= wanted {
                    break;
                }
                covered += sum;
                kept += 1;
            }
            if ranked.len() == kept + 1 {
                kept += 1;
            }
            plan.kept.extend(ranked[..kept].iter().map(|&(_, _, child, _)| child));
            plan.other.push((ranked.len() - kept) as u32);
        }
        plan.first.push(plan.kept.len() as u32);
        plan
    }

    /// The sort key of a child, and its values over all times added up.
    fn rank(&self, timeline: &Timeline, child: NodeId) -> (Reverse<i128>, Reverse<u64>, NodeId, u128) {
        let last = timeline.times().saturating_sub(1);
        let mut sum = 0u128;
        for t in 0..timeline.times() {
            sum += u128::from(timeline.value(t, child, self.config.metric));
        }
        let (end, start) = match timeline.times() {
            0 => (0, 0),
            _ => timeline.value_and_first(last, child, self.config.metric),
        };
        let key = match self.config.order {
            SiblingOrder::Start => i128::from(start),
            SiblingOrder::End => i128::from(end),
            SiblingOrder::Growth => i128::from(end) - i128::from(start),
        };
        (Reverse(key), Reverse(end), child, sum)
    }

    /// The configuration, with numbers clamped to their ranges.
    pub fn config(&self) -> &NestedConfig {
        &self.config
    }

    /// The children that have parts of their own, in their order.
    pub fn kept(&self, node: NodeId) -> &[NodeId] {
        let i = node.index();
        &self.kept[self.first[i] as usize..self.first[i + 1] as usize]
    }

    /// How many children are in *Other*; 0 where there is none.
    pub fn in_other(&self, node: NodeId) -> usize {
        self.other[node.index()] as usize
    }

    /// Whether it can be gone into: something lies in it.
    pub fn has_parts(&self, node: NodeId) -> bool {
        !self.kept(node).is_empty()
    }
}

/// The children whose amounts are parts of a node's.
fn parts_of(timeline: &Timeline, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    timeline.children(node).iter().copied().filter(|&child| !timeline.restarts(child))
}
