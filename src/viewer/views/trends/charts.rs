//! The series of charts, made by jobs while the ones before stay on screen.

use super::TrendCharts;
use crate::viewer::app::Awake;
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::job::Job;
use crate::viewer::notices::Notices;
use crate::viewer::panels::PanelState;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use memory_city_analysis::analyses::TimeWindow;
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_analysis::trends::{self, MinMaxLevels, TrendOrder, TrendRules};
use std::sync::Arc;

/// What a person has set for one chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartRules {
    /// The id of a metric; that of the other views where none is chosen.
    pub metric: Option<String>,
    pub order: TrendOrder,
    /// How many series are shown by themselves.
    pub top: usize,
    /// Whether the rest is shown.
    pub rest: bool,
    /// Stacked areas or lines; what fits the metric where nothing is chosen.
    pub stacked: Option<bool>,
}

impl Default for ChartRules {
    fn default() -> Self {
        ChartRules { metric: None, order: TrendOrder::Growth, top: 5, rest: true, stacked: None }
    }
}

/// What series are of.
#[derive(Clone, Debug, PartialEq)]
struct SeriesOf {
    revision: u64,
    metric: Metric,
    span: (usize, usize),
    rules: ChartRules,
}

/// A group over time, ready to be drawn.
pub struct DrawnSeries {
    /// `None` for the rest.
    pub node: Option<NodeId>,
    pub name: String,
    pub values: Vec<u64>,
    pub levels: MinMaxLevels,
    /// With all that is below it in the stack.
    pub top: MinMaxLevels,
}

/// A chart, ready to be drawn. Series are in the order of their rank, the rest last.
pub struct DrawnChart {
    pub metric: Metric,
    pub stacked: bool,
    pub series: Vec<DrawnSeries>,
    /// How many groups are in the rest.
    pub others: usize,
    /// Whether series add up to more than the group.
    pub overlaps: bool,
}

/// One chart: what it is of, how, and what there is of it.
#[derive(Default)]
pub struct Chart {
    /// The key of the group; of the whole heap where it is empty.
    pub of: String,
    pub rules: ChartRules,
    drawn: Option<(SeriesOf, DrawnChart)>,
    job: Option<(SeriesOf, Job<DrawnChart>)>,
}

impl Chart {
    /// The chart of a group's children.
    pub fn new(of: String, rules: ChartRules) -> Chart {
        Chart { of, rules, ..Chart::default() }
    }

    /// The group.
    pub fn parent(&self, timeline: &Timeline) -> NodeId {
        timeline.find(&self.of).unwrap_or(NodeId::ROOT)
    }

    /// What there is, once there is something.
    pub fn drawn(&self) -> Option<&DrawnChart> {
        self.drawn.as_ref().map(|(_, drawn)| drawn)
    }
}

/// Follows document, metric, span, and what is set for each chart; and, without a window, the selection.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn follow(
    mut trends: ResMut<TrendCharts>,
    document: Res<Document>,
    (settings, panels, clock): (Res<Settings>, Res<PanelState>, Res<Clock>),
    selection: Res<Selection>,
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let trends = trends.bypass_change_detection();
    let Some(timeline) = document.timeline() else { return };
    if !std::mem::take(&mut trends.seen) || timeline.times() == 0 {
        return;
    }
    if panels.still {
        trends.charts.truncate(1);
        if let Some(node) = selection.node() {
            trends.follow_path(timeline, node);
        }
    }
    for chart in &mut trends.charts {
        let own = chart.rules.metric.as_deref().and_then(|id| timeline.metric(id));
        let of = SeriesOf {
            revision: document.revision(),
            metric: own.unwrap_or_else(|| settings.metric_in(timeline)),
            span: within(clock.range(), timeline.times()),
            rules: chart.rules.clone(),
        };
        if chart.job.as_ref().is_some_and(|(aim, _)| *aim != of) {
            chart.job = None;
        }
        if let Some(outcome) = chart.job.as_ref().and_then(|(_, job)| job.poll())
            && let Some((of, _)) = chart.job.take()
        {
            match outcome {
                Ok(drawn) => chart.drawn = Some((of, drawn)),
                Err(panic) => notices.tell(panic),
            }
        }
        // Numbers of other trees would name other groups.
        if chart.drawn.as_ref().is_some_and(|(had, _)| had.revision != of.revision) {
            chart.drawn = None;
        }
        if chart.job.is_none() && chart.drawn.as_ref().is_none_or(|(had, _)| *had != of) {
            let (parent, timeline) = (chart.parent(timeline), Arc::clone(timeline));
            if panels.still {
                let drawn = make(&timeline, parent, &of);
                chart.drawn = Some((of, drawn));
            } else {
                let aim = of.clone();
                chart.job = Some((aim, Job::start(move |_| make(&timeline, parent, &of))));
            }
        }
        awake.keep_if(chart.job.is_some());
    }
}

/// The clock may know of other points in time for a frame.
fn within((first, last): (usize, usize), times: usize) -> (usize, usize) {
    let end = times.saturating_sub(1);
    (first.min(end), if last == 0 { end } else { last.min(end) })
}

fn make(timeline: &Timeline, parent: NodeId, of: &SeriesOf) -> DrawnChart {
    let rules = TrendRules { metric: of.metric, order: of.rules.order, top: of.rules.top };
    // Ranked by the span, drawn over the whole run.
    let window = TimeWindow { from: of.span.0, to: of.span.1 };
    let ranked = trends::chart(timeline, parent, window, rules);
    let values = |node: NodeId| (0..timeline.times()).map(|t| timeline.value(t, node, of.metric)).collect::<Vec<u64>>();
    let nodes: Vec<NodeId> = ranked.series.iter().map(|series| series.node).collect();
    let mut series: Vec<(Option<NodeId>, String, Vec<u64>)> =
        nodes.iter().zip(timeline.names_apart(&nodes)).map(|(&node, name)| (Some(node), name, values(node))).collect();
    let mut overlaps = false;
    if of.rules.rest {
        let rest: Vec<u64> = values(parent)
            .into_iter()
            .enumerate()
            .map(|(t, whole)| {
                let shown: u64 = series.iter().fold(0, |sum, (.., values)| sum.saturating_add(values[t]));
                overlaps |= shown > whole;
                whole.saturating_sub(shown)
            })
            .collect();
        if rest.iter().any(|&value| value > 0) {
            series.push((None, "Other".to_owned(), rest));
        }
    }
    let mut below = vec![0u64; timeline.times()];
    let series = series.into_iter().map(|(node, name, values)| {
        below.iter_mut().zip(&values).for_each(|(sum, &value)| *sum = sum.saturating_add(value));
        let (levels, top) = (MinMaxLevels::new(&values), MinMaxLevels::new(&below));
        DrawnSeries { node, name, values, levels, top }
    });
    let series = series.collect();
    // Sizes of groups that may share objects do not add up.
    let adds_up = matches!(of.metric, Metric::Objects | Metric::Bytes);
    let stacked = of.rules.stacked.unwrap_or(adds_up && !overlaps);
    DrawnChart { metric: of.metric, stacked, series, others: ranked.others, overlaps }
}
