//! The series of trend charts, made by jobs while the ones before stay on screen.

use super::TrendCharts;
use super::sizes::SizesWish;
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::frame::Awake;
use crate::viewer::job::Job;
use crate::viewer::loading::Loading;
use crate::viewer::notices::Notices;
use crate::viewer::panels::PanelState;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;
use memory_city_analysis::analyses::TimeWindow;
use memory_city_analysis::timeline::{ClosureMetric, Metric, MetricInfo, NodeId, Timeline};
use memory_city_analysis::trends::{self, GroupSizes, MinMaxLevels, Thinning, TrendOrder, spread};
use std::sync::Arc;

/// Settings of one chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartRules {
    /// The id of a metric; that of the other views where none is chosen.
    pub metric: Option<String>,
    pub order: TrendOrder,
    /// How many series are shown by themselves.
    pub top: usize,
    /// Whether the rest is shown.
    pub rest: bool,
    /// Stacked areas or lines; `None`: as it suits the metric.
    pub stacked: Option<bool>,
}

impl Default for ChartRules {
    fn default() -> Self {
        ChartRules { metric: None, order: TrendOrder::Growth, top: 5, rest: true, stacked: None }
    }
}

/// Measure of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartMeasure {
    /// The document knows it at every time.
    Known(Metric),
    /// It is found for charts, at some times.
    Found(ClosureMetric),
}

impl ChartMeasure {
    /// Its name and unit.
    pub fn info(self, timeline: &Timeline) -> MetricInfo {
        match self {
            ChartMeasure::Known(metric) => timeline.metric_info(metric),
            ChartMeasure::Found(metric) => metric.info(),
        }
    }

    /// Whether groups share what it counts, so that it does not add up.
    pub fn is_shared(self, timeline: &Timeline) -> bool {
        match self {
            ChartMeasure::Found(_) => true,
            ChartMeasure::Known(Metric::Column(_)) => {
                ClosureMetric::CLOSURES.iter().any(|of| of.info().id == self.info(timeline).id)
            }
            ChartMeasure::Known(_) => false,
        }
    }
}

/// Input of the series.
#[derive(Clone, Debug, PartialEq)]
struct SeriesOf {
    document: Tick,
    measure: ChartMeasure,
    span: (usize, usize),
    rules: ChartRules,
    times: Arc<[usize]>,
}

impl SeriesOf {
    /// Whether they answer the same question, maybe of less than there is by now.
    fn is_like(&self, other: &SeriesOf) -> bool {
        (self.measure, &self.rules) == (other.measure, &other.rules)
    }
}

/// A group over time, ready to be drawn.
pub struct DrawnSeries {
    /// `None` for the rest.
    pub node: Option<NodeId>,
    /// Its key: its node may change as trees grow.
    key: String,
    pub name: String,
    /// By charted time.
    pub values: Vec<u64>,
    pub levels: MinMaxLevels,
    /// With all that is below it in the stack.
    pub top: MinMaxLevels,
}

/// A chart, ready to be drawn. Series are in the order of their rank, the rest last.
pub struct DrawnChart {
    pub measure: ChartMeasure,
    pub info: MetricInfo,
    pub stacked: bool,
    /// The points in time that it has values of, ascending.
    pub times: Arc<[usize]>,
    /// Whether these are fewer than there are.
    pub is_thinned: bool,
    pub series: Vec<DrawnSeries>,
    /// How many groups are not shown by themselves.
    pub others: usize,
    /// Whether series add up to more than the group.
    pub overlaps: bool,
    /// The name of the last charted time: equal names mean equal times until then.
    last: String,
    /// When the document came that its nodes are of.
    document: Tick,
}

impl DrawnChart {
    /// The places of the charted times on both sides of a time, and how far it is from the first to the second. `None` where there
    /// are none.
    pub fn around(&self, time: f64) -> Option<(usize, usize, f64)> {
        let end = self.times.len().checked_sub(1)?;
        let after = self.times.partition_point(|&t| (t as f64) < time).min(end);
        let before = if self.times[after] as f64 <= time { after } else { after.saturating_sub(1) };
        let (a, b) = (self.times[before] as f64, self.times[after] as f64);
        let share = if b > a { ((time - a) / (b - a)).clamp(0.0, 1.0) } else { 0.0 };
        Some((before, after, share))
    }

    /// The places of the first and the last charted time within a span; of the nearest before it where there is none.
    pub fn ends(&self, (from, to): (usize, usize)) -> Option<(usize, usize)> {
        let end = self.times.len().checked_sub(1)?;
        let first = self.times.partition_point(|&t| t < from).min(end);
        let last = self.times.partition_point(|&t| t <= to).saturating_sub(1);
        Some((first.min(last), last))
    }

    /// Follows a timeline that has grown: groups are found again by key. Returns whether it is still the same chart.
    fn follow(&mut self, timeline: &Timeline) -> bool {
        let points = timeline.points();
        let same = self.times.last().and_then(|&last| points.get(last)).is_some_and(|point| point.label == self.last);
        self.is_thinned |= self.times.len() < points.len();
        same && self.series.iter_mut().filter(|series| series.node.is_some()).all(|series| {
            series.node = timeline.find(&series.key);
            series.node.is_some()
        })
    }
}

/// One chart: subject, settings and series.
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

    /// The finished chart, if there is one.
    pub fn drawn(&self) -> Option<&DrawnChart> {
        self.drawn.as_ref().map(|(_, drawn)| drawn)
    }

    /// The same, if its nodes are of the document that came then: a hidden chart follows when it is seen again.
    pub fn drawn_of(&self, document: Tick) -> Option<&DrawnChart> {
        self.drawn().filter(|drawn| drawn.document == document)
    }

    /// Its measure: the one chosen for it, else that of the other views.
    pub fn measure(&self, timeline: &Timeline, settings: &Settings, finds: bool) -> ChartMeasure {
        let Some(id) = self.rules.metric.as_deref() else { return ChartMeasure::Known(settings.metric_in(timeline)) };
        let found = || ClosureMetric::of(id).ok().filter(|metric| finds && ClosureMetric::CLOSURES.contains(metric));
        match timeline.metric(id) {
            Some(metric) => ChartMeasure::Known(metric),
            None => found().map_or_else(|| ChartMeasure::Known(settings.metric_in(timeline)), ChartMeasure::Found),
        }
    }
}

/// The points in time that charts have, kept until the document or the rule changes.
#[derive(Default)]
pub struct ChartedTimes {
    of: Option<Thinning>,
    times: Arc<[usize]>,
}

impl ChartedTimes {
    /// They.
    pub fn times(&self) -> &Arc<[usize]> {
        &self.times
    }

    fn follow(&mut self, timeline: &Timeline, thinning: Thinning) {
        if self.of.replace(thinning) != Some(thinning) {
            self.times = thinning.times(timeline.points(), TimeWindow::whole(timeline)).into();
        }
    }
}

/// The times at which sizes are found: evenly spread over those that are charted, with both ends of the chosen window.
fn times_of_sizes(charted: &[usize], window: Option<(usize, usize)>, most: usize) -> Vec<usize> {
    let mut times = spread(charted, most);
    if let Some((from, to)) = window {
        times.extend([from, to]);
        times.sort_unstable();
        times.dedup();
    }
    times
}

/// Follows document, metric, span, and the settings of each chart; and, without a window, the selection.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn follow(
    mut trends: ResMut<TrendCharts>,
    document: Res<Document>,
    (settings, panels, clock): (Res<Settings>, Res<PanelState>, Res<Clock>),
    (selection, loading): (Res<Selection>, Option<Res<Loading>>),
    mut notices: ResMut<Notices>,
    mut awake: ResMut<Awake>,
) {
    let trends = &mut *trends;
    let Some(open) = document.get() else { return };
    let timeline = &open.timeline;
    if !std::mem::take(&mut trends.seen) || timeline.times() == 0 {
        return;
    }
    if panels.still {
        trends.charts.truncate(1);
        trends.charts[0].rules.metric = settings.trends.metric.as_deref().map(str::to_owned);
        if let Some(node) = selection.node() {
            trends.follow_path(timeline, node);
        }
    }
    let finds = open.source.heaps().is_some();
    trends.charted.follow(timeline, settings.trends.thinning);
    let charted = Arc::clone(trends.charted.times());
    let measures: Vec<ChartMeasure> =
        trends.charts.iter().map(|chart| chart.measure(timeline, &settings, finds)).collect();
    let asks =
        |deep: bool| measures.iter().any(|of| matches!(of, ChartMeasure::Found(metric) if metric.is_deep() == deep));
    let (retained, deep) = (asks(false), asks(true));
    let wanted = match retained || deep {
        true => {
            let most = settings.trends.sizes_at.min(GroupSizes::most_times(timeline.len()));
            times_of_sizes(&charted, clock.chosen(), most)
        }
        false => Vec::new(),
    };
    let wish = SizesWish {
        source: &open.source,
        wanted: &wanted,
        waits: trends.drag.is_some() || loading.is_some_and(|loading| loading.is_opening()),
        still: panels.still,
    };
    awake.wait_if(trends.sizes.follow(&wish, retained, deep));
    for (chart, measure) in trends.charts.iter_mut().zip(measures) {
        let found = match measure {
            ChartMeasure::Found(metric) => Some(trends.sizes.of(metric, deep).sizes()),
            ChartMeasure::Known(_) => None,
        };
        let times = match found {
            Some(sizes) => sizes.times().into(),
            None => Arc::clone(&charted),
        };
        let span = within(clock.range(), timeline.times());
        let of = SeriesOf { document: document.last_changed(), measure, span, rules: chart.rules.clone(), times };
        chart.follow(of, timeline, found, panels.still, &mut notices);
        awake.wait_if(chart.job.is_some());
    }
}

impl Chart {
    fn follow(
        &mut self,
        of: SeriesOf,
        timeline: &Arc<Timeline>,
        sizes: Option<&GroupSizes>,
        still: bool,
        notices: &mut Notices,
    ) {
        // What is of a little less ends before the next begins: otherwise nothing would ever be seen of what grows fast.
        if self.job.as_ref().is_some_and(|(aim, _)| !aim.is_like(&of)) {
            self.job = None;
        }
        if let Some(outcome) = self.job.as_ref().and_then(|(_, job)| job.poll())
            && let Some((of, _)) = self.job.take()
        {
            match outcome {
                Ok(drawn) => self.drawn = Some((of, drawn)),
                Err(panic) => notices.tell(panic),
            }
        }
        // What is shown stays until there is more; of other groups or times it would say nothing.
        if let Some((_, drawn)) = self.drawn.as_mut().filter(|(_, drawn)| drawn.document != of.document) {
            drawn.document = of.document;
            if !drawn.follow(timeline) {
                self.drawn = None;
            }
        }
        let is_empty = of.times.is_empty();
        if is_empty {
            self.drawn = None;
        }
        if is_empty || self.job.is_some() || self.drawn.as_ref().is_some_and(|(had, _)| *had == of) {
            return;
        }
        let (parent, timeline, sizes) = (self.parent(timeline), Arc::clone(timeline), sizes.cloned());
        if still {
            let drawn = make(&timeline, parent, &of, sizes.as_ref());
            self.drawn = Some((of, drawn));
        } else {
            let aim = of.clone();
            self.job = Some((aim, Job::behind_frames(move |_| make(&timeline, parent, &of, sizes.as_ref()))));
        }
    }
}

/// The clock may know of other points in time for a frame.
fn within((first, last): (usize, usize), times: usize) -> (usize, usize) {
    let end = times.saturating_sub(1);
    (first.min(end), if last == 0 { end } else { last.min(end) })
}

fn make(timeline: &Timeline, parent: NodeId, of: &SeriesOf, sizes: Option<&GroupSizes>) -> DrawnChart {
    // Ranked by the span, drawn over the whole run.
    let window = TimeWindow { from: of.span.0, to: of.span.1 };
    let rules = (of.rules.order, of.rules.top);
    let ranked = match (of.measure, sizes) {
        (ChartMeasure::Found(metric), Some(sizes)) => {
            let value = |time: usize, node: NodeId| sizes.value(time, node, metric);
            trends::chart_at(timeline, parent, &of.times, window, rules, value)
        }
        (ChartMeasure::Found(_), None) => trends::chart_at(timeline, parent, &[], window, rules, |_, _| 0),
        (ChartMeasure::Known(metric), _) => {
            let value = |time: usize, node: NodeId| timeline.value(time, node, metric);
            trends::chart_at(timeline, parent, &of.times, window, rules, value)
        }
    };
    let is_shared = of.measure.is_shared(timeline);
    let nodes: Vec<NodeId> = ranked.series.iter().map(|series| series.node).collect();
    let names = timeline.names_apart(&nodes);
    let mut series: Vec<(Option<NodeId>, String, Vec<u64>)> =
        ranked.series.into_iter().zip(names).map(|(one, name)| (Some(one.node), name, one.values)).collect();
    if of.rules.rest && !is_shared && ranked.rest.iter().any(|&value| value > 0) {
        series.push((None, "Other".to_owned(), ranked.rest));
    }
    let mut below = vec![0u64; of.times.len()];
    let series = series.into_iter().map(|(node, name, values)| {
        below.iter_mut().zip(&values).for_each(|(sum, &value)| *sum = sum.saturating_add(value));
        let (levels, top) = (MinMaxLevels::new(&values), MinMaxLevels::new(&below));
        let key = node.map_or_else(String::new, |node| timeline.key(node));
        DrawnSeries { node, key, name, values, levels, top }
    });
    let series = series.collect();
    // Sizes of groups that may share objects do not add up.
    let adds_up = matches!(of.measure, ChartMeasure::Known(Metric::Objects | Metric::Bytes));
    DrawnChart {
        measure: of.measure,
        info: of.measure.info(timeline),
        stacked: !is_shared && of.rules.stacked.unwrap_or(adds_up && !ranked.overlaps),
        times: Arc::clone(&of.times),
        is_thinned: of.times.len() < timeline.times(),
        series,
        others: ranked.others,
        overlaps: ranked.overlaps && !is_shared,
        document: of.document,
        last: of.times.last().map_or_else(String::new, |&last| timeline.points()[last].label.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::MemoryTree;
    use memory_city_analysis::timeline::{Amount, TimePoint};

    /// So many points in time of two groups. The second appears at the third point.
    fn timeline(times: usize) -> Timeline {
        let tree = |time: usize| {
            let mut tree = MemoryTree::new();
            for name in ["Order", "Basket"].into_iter().take(if time < 2 { 1 } else { 2 }) {
                let of = tree.child(0, &"Type".into(), &name.into());
                tree.add_up(&[of as u32], Amount { objects: 1 + time as u64, bytes: 8 });
            }
            tree
        };
        let point =
            |time: usize| TimePoint { label: format!("GC {time}"), millis: 10 * time as u64, ..TimePoint::default() };
        let trees: Vec<MemoryTree> = (0..times).map(tree).collect();
        Timeline::from_trees((0..times).map(point).collect(), &trees)
    }

    fn drawn(timeline: &Timeline, times: &[usize]) -> DrawnChart {
        let (measure, rules) = (ChartMeasure::Known(Metric::Objects), ChartRules::default());
        let of =
            SeriesOf { document: Tick::new(1), measure, span: (0, timeline.times() - 1), rules, times: times.into() };
        make(timeline, NodeId::ROOT, &of, None)
    }

    #[test]
    fn what_was_drawn_of_less_is_shown_until_there_is_more() {
        let (less, more) = (timeline(2), timeline(5));
        let mut chart = drawn(&less, &[0, 1]);
        let before = chart.series[0].node;
        assert!(chart.follow(&more) && chart.is_thinned);
        assert_eq!(chart.series[0].node, more.find("Heap#Order"));
        assert_ne!(chart.series[0].node, before, "a group has come before it");
        // Of other groups, or of other points in time, it says nothing.
        let mut of_more = drawn(&more, &[0, 4]);
        assert!(!of_more.follow(&less));
        assert_eq!(drawn(&more, &[0, 4]).series.len(), 2);
    }

    /// Hints look at charts behind other tabs, while the document is grouped anew.
    #[test]
    fn a_hidden_chart_has_no_nodes_of_another_document() {
        let (measure, rules) = (ChartMeasure::Known(Metric::Objects), ChartRules::default());
        let of = SeriesOf { document: Tick::new(1), measure, span: (0, 1), rules, times: [0, 1].into() };
        let drawn = drawn(&timeline(2), &[0, 1]);
        let chart = Chart { drawn: Some((of, drawn)), ..Chart::default() };
        assert_eq!([1, 2].map(|document| chart.drawn_of(Tick::new(document)).is_some()), [true, false]);
    }

    #[test]
    fn counts_between_points_are_rings_beside_what_they_are_of() {
        use super::super::{counted, plot::Axis};
        use memory_city_analysis::trends::CountsBetween;
        use memory_city_formats::counts::{ClassCounts, CountCourse, CountMoment};
        let timeline = timeline(3);
        let moments = [5, 15, 18].map(|millis| CountMoment { millis, ..CountMoment::default() }).to_vec();
        let course = |class: &str, objects: u64| CountCourse {
            class: class.into(),
            changes: vec![(1, Amount { objects, bytes: 16 * objects })],
        };
        let classes = vec![course("Basket", 4), course("Else", 7)];
        let counts = ClassCounts { moments, classes, ..ClassCounts::default() };
        let between = CountsBetween::new(Arc::new(counts), timeline.points()).expect("counts");
        let mut chart = drawn(&timeline, &[0, 1, 2]);
        let rings = |chart: &DrawnChart, seen, between| {
            let axis = Axis { seen, now: 0, span: None, suspects: &[], between };
            counted::courses(chart, &timeline, &axis, &|_| false, 100).into_iter().map(|of| of.at).collect::<Vec<_>>()
        };
        // A stack of the whole heap has all classes above it, a line those of its class; Order was never counted.
        assert!(chart.stacked);
        assert_eq!(rings(&chart, (0.0, 2.0), Some(&between)), [[(0.5, 0), (1.5, 11), (1.8, 11)]]);
        chart.stacked = false;
        assert_eq!(rings(&chart, (0.0, 2.0), Some(&between)), [[(0.5, 0), (1.5, 4), (1.8, 4)]]);
        assert_eq!(rings(&chart, (1.0, 1.6), Some(&between)), [[(1.5, 4)]]);
        assert!(rings(&chart, (0.0, 2.0), None).is_empty());
        // Without the rest a stack is not the whole heap.
        (chart.stacked, chart.others) = (true, 3);
        assert!(rings(&chart, (0.0, 2.0), Some(&between)).is_empty());
        // Histograms know nothing of other metrics.
        chart.measure = ChartMeasure::Known(Metric::Column(0));
        assert!(rings(&chart, (0.0, 2.0), Some(&between)).is_empty());
    }

    #[test]
    fn places_between_charted_times_are_found() {
        let chart = drawn(&timeline(9), &[0, 4, 8]);
        assert_eq!(chart.around(4.0), Some((1, 1, 0.0)));
        assert_eq!(chart.around(5.0), Some((1, 2, 0.25)));
        assert_eq!((chart.around(-1.0), chart.around(99.0)), (Some((0, 0, 0.0)), Some((2, 2, 0.0))));
        assert_eq!(
            (chart.ends((0, 8)), chart.ends((1, 7)), chart.ends((5, 6))),
            (Some((0, 2)), Some((1, 1)), Some((1, 1)))
        );
        assert_eq!(drawn(&timeline(9), &[]).around(1.0), None);
        assert_eq!(times_of_sizes(&[0, 2, 4, 6, 8], Some((3, 6)), 3), [0, 3, 4, 6, 8]);
        assert_eq!(times_of_sizes(&[0, 2, 4], None, 9), [0, 2, 4]);
    }
}
