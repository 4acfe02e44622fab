//! The plots of a city and the buildings on them.
//!
//! The data that each step in time reads for each of a million plots lies in columns of its own ([`Occupants`]). Otherwise a step would
//! wait for outlines that it does not need.

use super::rect::Rect;
use super::states::real;
use super::values::Plots;
use memory_city_analysis::timeline::{Amount, Metric, NodeId, Timeline};
use memory_city_heap::numbers::NumberColumn;
use rayon::prelude::*;
use std::ops::Range;

/// The kind of building on a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotKind {
    /// A leaf of the tree (or an inner node whose children never had a value).
    Building(NodeId),
    /// The children of one node that are too small for plots of their own; flat.
    More {
        /// The node whose children they are.
        parent: NodeId,
        /// The number of children, without those below them.
        count: u32,
    },
}

/// A place reserved for good. [`super::CityPlan::kind`] returns the kind of building on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plot {
    /// The reserved rectangle.
    pub cell: Rect,
    /// Levels below the root.
    pub level: u32,
}

impl Plot {
    /// Height of the district slab it stands on.
    #[inline]
    pub fn ground(&self) -> f64 {
        super::plan::top_of(self.level.saturating_sub(1))
    }
}

/// The buildings on the plots, by plot. Six bytes each, more if the largest value needs them.
#[derive(Clone, Debug, Default)]
pub(super) struct Occupants {
    /// The group of a building; [`MORE`] for a More plot.
    nodes: Vec<NodeId>,
    /// The largest value over time when the ground was divided.
    max_values: NumberColumn,
}

const MORE: NodeId = NodeId(u32::MAX);

impl Occupants {
    /// Allocates room for exactly so many plots.
    pub fn reserve(&mut self, plots: usize) {
        self.nodes.reserve_exact(plots);
        self.max_values.reserve_exact(plots);
    }

    /// The next plot has a building, or is a More plot, with this largest value.
    pub fn push(&mut self, building: Option<NodeId>, max_value: u64) {
        self.nodes.push(building.unwrap_or(MORE));
        self.max_values.push(max_value);
    }

    /// The group of the building; `None` for a More plot.
    #[inline]
    pub fn building(&self, plot: usize) -> Option<NodeId> {
        Some(self.nodes[plot]).filter(|&node| node != MORE)
    }

    /// See [`super::CityPlan::max_value`].
    #[inline]
    pub fn max_value(&self, plot: usize) -> u64 {
        self.max_values.get(plot)
    }

    /// The groups of many plots, in their order; the root of the tree where it is a More plot. Returns whether there is one.
    pub fn nodes_of(&self, plots: Plots<'_>, into: &mut Vec<NodeId>) -> bool {
        plots.of(&self.nodes, into, |node| node);
        let has_more = into.contains(&MORE);
        if has_more {
            into.iter_mut().filter(|node| **node == MORE).for_each(|node| *node = NodeId::ROOT);
        }
        has_more
    }

    /// The largest values of many plots likewise, as exact as a [`super::PlotState`] needs them, and none below 1.
    pub fn max_values_of(&self, plots: Plots<'_>, into: &mut Vec<f32>) {
        match &self.max_values {
            NumberColumn::Two(column) => plots.of(column, into, |value| f32::from(value.max(1))),
            NumberColumn::Four(column) => plots.of(column, into, |value| value.max(1) as f32),
            NumberColumn::Eight(column) => plots.of(column, into, |value| real(value.max(1))),
        }
    }

    /// The same buildings under other numbers.
    pub fn renumber(&mut self, new: impl Fn(NodeId) -> NodeId) {
        self.nodes.iter_mut().filter(|node| **node != MORE).for_each(|node| *node = new(*node));
    }
}

/// The groups behind a More plot at one point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoreSummary {
    /// Pruned children.
    pub children: usize,
    /// Leaves among and below them.
    pub leaves: usize,
    /// Their objects and bytes.
    pub amount: Amount,
    /// Their share of the whole heap in the city's metric, 0 to 1.
    pub share: f64,
}

/// The pruned nodes of a More plot and their sums.
#[derive(Clone, Debug)]
pub(super) struct MorePlot {
    pub plot: usize,
    pub parent: NodeId,
    pub nodes: Range<usize>,
    /// Objects and bytes per point in time.
    pub totals: Vec<Amount>,
    /// Sums of the city's metric per point in time.
    pub values: Vec<u64>,
}

impl MorePlot {
    /// The plot of `pruned`, children of `parent`, which stand at `nodes` of all pruned nodes.
    pub fn new(
        timeline: &Timeline,
        (plot, parent): (usize, NodeId),
        nodes: Range<usize>,
        pruned: &[NodeId],
        metric: Metric,
    ) -> MorePlot {
        let totals = totals(timeline, pruned);
        let values = match metric {
            Metric::Objects => totals.iter().map(|a| a.objects).collect(),
            Metric::Bytes => totals.iter().map(|a| a.bytes).collect(),
            Metric::Column(_) => sums(timeline, pruned, metric),
        };
        MorePlot { plot, parent, nodes, totals, values }
    }
}

/// Sums of a metric over nodes, per point in time.
pub(super) fn sums(timeline: &Timeline, nodes: &[NodeId], metric: Metric) -> Vec<u64> {
    let of = |t| nodes.par_iter().with_min_len(4096).map(move |&n| timeline.value(t, n, metric));
    (0..timeline.times()).map(|t| of(t).reduce(|| 0, u64::saturating_add)).collect()
}

/// Sums of nodes per point in time.
fn totals(timeline: &Timeline, nodes: &[NodeId]) -> Vec<Amount> {
    let add = |a: Amount, b: Amount| Amount {
        objects: a.objects.saturating_add(b.objects),
        bytes: a.bytes.saturating_add(b.bytes),
    };
    (0..timeline.times())
        .map(|t| nodes.par_iter().with_min_len(4096).map(|&n| timeline.amount(t, n)).reduce(Amount::default, add))
        .collect()
}
