//! Trend charts as data: the series of a group's children over time, the largest by themselves and the rest as one. Levels of detail serve
//! thousands of times. No drawing.
//!
//! Shallow sizes are known at all times, and may be charted at fewer ([`Thinning`]). Deep and retained sizes are found for some times
//! ([`GroupSizes`]), for all groups at once, so that going down costs nothing more.
//!
//! The series of a chart always add up to the group they are the children of, at every time: the rest is in [`TrendChart::rest`]. If an
//! object is counted in several children (groups of a classifier with several values) they add up to more, and [`TrendChart::overlaps`] is
//! set.

mod between;
mod detail;
mod sizes;
mod table;
#[cfg(test)]
mod tests;
mod thinning;

pub use between::{CountsBetween, class_of};
pub use detail::MinMaxLevels;
pub use sizes::{GroupSizes, USUAL_SIZES};
pub use table::{ShownTrends, trends_table};
pub use thinning::{Thinning, spread};

use crate::timeline::{Metric, NodeId, TimeWindow, Timeline};

/// The rank of series, the largest first; ties by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TrendOrder {
    /// The value at the first time.
    Start,
    /// The value at the last time.
    End,
    /// The mean over all times.
    Average,
    /// Last minus first.
    #[default]
    Growth,
    /// Last minus first, relative to the first. Series that start at 0 come before all others, by their last value.
    RelativeGrowth,
}

impl TrendOrder {
    /// All of them, by the names that people type.
    pub const ALL: [(&'static str, TrendOrder); 5] = [
        ("growth", TrendOrder::Growth),
        ("relative-growth", TrendOrder::RelativeGrowth),
        ("start", TrendOrder::Start),
        ("end", TrendOrder::End),
        ("average", TrendOrder::Average),
    ];

    /// The order of a name.
    pub fn of(name: &str) -> Option<TrendOrder> {
        TrendOrder::ALL.iter().find(|(known, _)| *known == name).map(|(_, order)| *order)
    }
}

/// The rules of a chart. As in the source, five series are shown and the rest as one, by absolute growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrendRules {
    /// The metric.
    pub metric: Metric,
    /// The order of series, which decides those shown.
    pub order: TrendOrder,
    /// How many are shown by themselves.
    pub top: usize,
}

impl Default for TrendRules {
    fn default() -> Self {
        TrendRules { metric: Metric::Bytes, order: TrendOrder::Growth, top: 5 }
    }
}

/// A group over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrendSeries {
    /// The group; it may be opened as the next chart below.
    pub node: NodeId,
    /// One value for each time of the window.
    pub values: Vec<u64>,
}

/// The children of a group over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrendChart {
    /// The group.
    pub parent: NodeId,
    /// Its own values.
    pub whole: Vec<u64>,
    /// The series that are shown by themselves, in their order.
    pub series: Vec<TrendSeries>,
    /// All others together, with the group's own amount; zeros without any.
    pub rest: Vec<u64>,
    /// How many children are in the rest.
    pub others: usize,
    /// Whether the shown series add up to more than the group at some time.
    pub overlaps: bool,
}

/// The chart of a group's children over a window. Costs the children times the times; ten thousand children at a thousand
/// times are ten million look-ups.
pub fn chart(timeline: &Timeline, parent: NodeId, window: TimeWindow, rules: TrendRules) -> TrendChart {
    let times: Vec<usize> = window.times().collect();
    let value = |time: usize, node: NodeId| timeline.value(time, node, rules.metric);
    chart_at(timeline, parent, &times, window, (rules.order, rules.top), value)
}

/// The chart of a group's children at some times, ascending, of values that are known there. Series are ranked by the times within a window
/// (by all if none is in it). A rank by the first and last time uses the first and last charted one. Costs as [`chart`], and as many calls
/// of `value`.
pub fn chart_at(
    timeline: &Timeline,
    parent: NodeId,
    times: &[usize],
    ranked_by: TimeWindow,
    (order, top): (TrendOrder, usize),
    value: impl Fn(usize, NodeId) -> u64,
) -> TrendChart {
    let values = |node: NodeId| times.iter().map(|&time| value(time, node)).collect::<Vec<u64>>();
    let whole = values(parent);
    let from = times.partition_point(|&time| time < ranked_by.from);
    let to = times.partition_point(|&time| time <= ranked_by.to);
    let within = if from < to { &times[from..to] } else { times };
    let mut ranked: Vec<(Rank, NodeId)> = timeline
        .children(parent)
        .iter()
        .map(|&node| (Rank::of(within, order, |t| value(t, node) as f64), node))
        .collect();
    // Children are sorted by name, and so are those of the same rank.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let others = ranked.len().saturating_sub(top);
    ranked.truncate(top);
    let series: Vec<TrendSeries> =
        ranked.into_iter().map(|(_, node)| TrendSeries { node, values: values(node) }).collect();
    let shown = |t: usize| series.iter().map(|one| u128::from(one.values[t])).sum::<u128>();
    let overlaps = (0..whole.len()).any(|t| shown(t) > u128::from(whole[t]));
    let rest = (0..whole.len())
        .map(|t| u64::try_from(u128::from(whole[t]).saturating_sub(shown(t))).unwrap_or(u64::MAX))
        .collect();
    TrendChart { parent, whole, series, rest, others, overlaps }
}

/// The rank of a series: the more important number first, then the other.
#[derive(Clone, Copy)]
struct Rank(f64, f64);

impl Rank {
    fn of(times: &[usize], order: TrendOrder, at: impl Fn(usize) -> f64) -> Rank {
        let end = |time: Option<&usize>| time.map_or(0.0, |&time| at(time));
        let (first, last) = (end(times.first()), end(times.last()));
        match order {
            TrendOrder::Start => Rank(first, last),
            TrendOrder::End => Rank(last, first),
            TrendOrder::Average => {
                Rank(times.iter().map(|&time| at(time)).sum::<f64>() / times.len().max(1) as f64, last)
            }
            TrendOrder::Growth => Rank(last - first, last),
            TrendOrder::RelativeGrowth if first > 0.0 => Rank((last - first) / first, last),
            TrendOrder::RelativeGrowth if last > 0.0 => Rank(f64::INFINITY, last),
            TrendOrder::RelativeGrowth => Rank(0.0, last),
        }
    }

    fn total_cmp(&self, other: &Rank) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.total_cmp(&other.1))
    }
}
