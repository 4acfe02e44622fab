//! Overview and details of a run: charts of memory, overhead, pauses and rates over one time axis, with suspicious windows marked.
//!
//! The *overview* answers where to look. It has two charts, memory after collections and GC overhead, and beside them only the numbers of
//! the window. The *details* have two points for each collection, its start and its end, so that each is a spike. They show memory by space
//! if that is known, pauses by kind, allocation and survival rates, with causes and threads beside them.
//!
//! A [`RunPicture`] is plain data: the places of charts, their lines and bars, and texts. Lines have no more than four points for each unit
//! along x (M4, Jugel et al. 2014), whatever the number of collections, and lose no spike. The viewer chooses the colours.
//!
//! | module | does |
//! |---|---|
//! | `axis` | mapping of times and values to places, round numbers for ticks |
//! | `charts` | the lines and bars of each chart |
//! | `marks` | suspicious windows as ranges, with a text each |

mod axis;
mod charts;
mod marks;
#[cfg(test)]
mod tests;

pub use axis::{AxisTick, TimeAxis, ValueAxis, ValueUnit};
pub use marks::{WindowKind, WindowMark, window_marks};

use crate::city::Rect;
use memory_city_analysis::run::{RunFacts, RunStatistic};
use memory_city_analysis::tabular::{bytes_text, gc_name_text};
use memory_city_analysis::windows::WindowRules;

/// Which charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunView {
    /// Memory after collections, and GC overhead.
    #[default]
    Overview,
    /// Memory at starts and ends by space, pauses, allocation and survival.
    Details,
}

/// The look of a line or bar. The viewer chooses the colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChartTint {
    /// Memory as a whole.
    Memory,
    /// New objects.
    Eden,
    /// Objects that survived a few collections.
    Survivor,
    /// Objects that survived more.
    Old,
    /// In no space that is known.
    Unknown,
    /// The share of time spent in collections; collections of a part of the heap, or of unknown kind.
    Collecting,
    /// Collections of the whole heap.
    Full,
    /// Allocation.
    Allocated,
    /// Survival.
    Survived,
    /// The share of new objects that survives.
    SurvivedNew,
}

/// A line, or an area above another.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartLine {
    /// Its name, for the legend.
    pub name: String,
    /// The look.
    pub tint: ChartTint,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// For an area: its lower line, with as many points at other places; the bottom of the chart if the area is the lowest.
    pub base: Option<Vec<(f64, f64)>>,
}

/// A bar: a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartBar {
    /// Where it is; never thinner than one unit.
    pub rect: Rect,
    /// The look.
    pub tint: ChartTint,
}

/// The quantity that a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChartKind {
    /// Bytes in use.
    Memory,
    /// Share of time spent in collections.
    Overhead,
    /// How long collections take.
    Pauses,
    /// Bytes allocated per second.
    Allocation,
    /// Survival of collections.
    Survival,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartPicture {
    /// The quantity that it shows.
    pub kind: ChartKind,
    /// The title above it.
    pub title: String,
    /// The tooltip of the title.
    pub explanation: String,
    /// Where lines and bars are; ticks are written left of it and below.
    pub plot: Rect,
    /// Its values.
    pub axis: ValueAxis,
    /// Round values, with their heights.
    pub ticks: Vec<AxisTick>,
    /// Areas and lines, in the order in which they are drawn.
    pub lines: Vec<ChartLine>,
    /// Bars.
    pub bars: Vec<ChartBar>,
    /// Why there is nothing to see.
    pub empty: Option<String>,
}

/// The configuration of charts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunConfig {
    /// Which charts.
    pub view: RunView,
    /// Where they are, the numbers beside them included. `y` grows downwards.
    pub room: Rect,
    /// The part of the run that is seen, nanoseconds; all of it where there is none.
    pub zoom: Option<(u64, u64)>,
    /// The window that is chosen, nanoseconds.
    pub chosen: Option<(u64, u64)>,
    /// Thresholds of suspicious windows.
    pub rules: WindowRules,
}

/// A line of numbers beside the charts.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPicture {
    /// The axis of all charts.
    pub time: TimeAxis,
    /// Round times.
    pub ticks: Vec<AxisTick>,
    /// Charts from top to bottom.
    pub charts: Vec<ChartPicture>,
    /// Suspicious windows, those beyond their thresholds first.
    pub marks: Vec<WindowMark>,
    /// The chosen window, from left to right.
    pub chosen: Option<(f64, f64)>,
    /// Where the numbers of the chosen window (or of the run) are written.
    pub beside: Rect,
    /// The heading of these numbers.
    pub heading: String,
    /// The numbers.
    pub statistics: Vec<RunStatistic>,
    /// Threads by allocation, in the details: name and text, and the share of all, 0 to 1.
    pub threads: Vec<(String, String, f64)>,
    /// The number of more threads.
    pub threads_left_out: usize,
    /// Limits of the numbers that a person must know.
    pub notes: Vec<String>,
}

/// How wide the numbers beside the charts are; below this width of the room they are below the charts.
const BESIDE: f64 = 260.0;
const LEAST_WIDE: f64 = 720.0;
/// How tall they are there.
const BELOW: f64 = 150.0;
/// Room for the texts of ticks left of a chart.
const LEFT: f64 = 76.0;
/// Room for its title above it, and for times below the last.
const ABOVE: f64 = 30.0;
const TIMES: f64 = 26.0;
/// Most threads with a name.
const THREADS: usize = 8;

impl RunPicture {
    /// The charts of a run. Costs a pass over its collections.
    pub fn new(facts: &RunFacts, config: &RunConfig) -> RunPicture {
        let room = config.room;
        let is_wide = room.w >= LEAST_WIDE;
        let (beside, charts_room) = match is_wide {
            true => (
                Rect::new(room.x + room.w - BESIDE, room.y, BESIDE, room.h),
                Rect::new(room.x, room.y, (room.w - BESIDE - 16.0).max(1.0), room.h),
            ),
            false => (
                Rect::new(room.x, room.y + (room.h - BELOW).max(0.0), room.w, BELOW.min(room.h)),
                Rect::new(room.x, room.y, room.w, (room.h - BELOW).max(1.0)),
            ),
        };
        let (began, ended) = (facts.measures.began, facts.ended.max(facts.measures.began + 1));
        let (from, to) = config.zoom.map_or((began, ended), |(from, to)| (from.min(to), to.max(from + 1)));
        let plot_width = (charts_room.w - LEFT - 8.0).max(1.0);
        let time = TimeAxis { from, to, x: charts_room.x + LEFT, w: plot_width, is_epoch: facts.measures.is_epoch };
        let shares: &[(ChartKind, f64)] = match config.view {
            RunView::Overview => &[(ChartKind::Memory, 3.0), (ChartKind::Overhead, 2.0)],
            RunView::Details => &[
                (ChartKind::Memory, 3.0),
                (ChartKind::Pauses, 2.0),
                (ChartKind::Allocation, 1.5),
                (ChartKind::Survival, 1.5),
            ],
        };
        let all: f64 = shares.iter().map(|of| of.1).sum();
        let left = (charts_room.h - TIMES - ABOVE * shares.len() as f64).max(1.0);
        let mut y = charts_room.y;
        let mut charts = Vec::with_capacity(shares.len());
        for &(kind, share) in shares {
            y += ABOVE;
            let plot = Rect::new(time.x, y, time.w, left * share / all);
            charts.push(charts::chart(facts, config.view, kind, &time, plot));
            y += plot.h;
        }
        let (heading, span) = match config.chosen {
            Some((from, to)) => ("Chosen window".to_owned(), (from.min(to), to.max(from))),
            None => ("Whole run".to_owned(), (began, ended)),
        };
        let (threads, threads_left_out) = match config.view {
            RunView::Overview => (Vec::new(), 0),
            RunView::Details => threads(facts),
        };
        RunPicture {
            ticks: time.ticks(),
            chosen: config.chosen.map(|(from, to)| (time.place(from.min(to)), time.place(to.max(from)))),
            marks: window_marks(facts, &config.rules, &time),
            statistics: facts.statistics(span.0, span.1),
            notes: facts.measures.notes.clone(),
            time,
            charts,
            beside,
            heading,
            threads,
            threads_left_out,
        }
    }

    /// The chart at a place.
    pub fn chart_at(&self, x: f64, y: f64) -> Option<usize> {
        let at = |chart: &ChartPicture| {
            let r = chart.plot;
            x >= r.x && x <= r.x + r.w && y >= r.y && y <= r.y + r.h
        };
        self.charts.iter().position(at)
    }

    /// The suspicious window at a place: the shortest there.
    pub fn mark_at(&self, x: f64, y: f64) -> Option<usize> {
        self.chart_at(x, y)?;
        let here =
            self.marks.iter().enumerate().filter(|(_, mark)| mark.is_suspicious && x >= mark.x.0 && x <= mark.x.1);
        here.min_by_key(|(_, mark)| mark.to - mark.from).map(|(i, _)| i)
    }

    /// The edge of the chosen window within `reach` of x: its begin (`false`) or its end (`true`).
    pub fn edge_at(&self, x: f64, reach: f64) -> Option<bool> {
        let (from, to) = self.chosen?;
        let (a, b) = ((x - from).abs(), (x - to).abs());
        (a.min(b) <= reach).then_some(b < a)
    }

    /// The lines of the tooltip at a place: about the collection or level that is nearest in time.
    pub fn told_at(&self, facts: &RunFacts, x: f64, y: f64) -> Option<Vec<String>> {
        let chart = &self.charts[self.chart_at(x, y)?];
        let time = self.time.time(x);
        let mut lines = Vec::new();
        if chart.kind == ChartKind::Memory && self.charts.len() == 2 || facts.measures.gcs.is_empty() {
            let level = nearest(&facts.measures.levels, time, |level| level.time)?;
            let level = facts.measures.levels[level];
            lines.push(self.time.text(level.time));
            lines.push(format!("{} ({})", bytes_text(level.bytes), facts.measures.levels_are));
            return Some(lines);
        }
        let gc = nearest(&facts.measures.gcs, time, |gc| gc.end)?;
        let of = &facts.collections[gc];
        lines.push(format!("{}: {}", self.time.text(of.end), gc_name_text(of.kind, of.one_pause, of.number)));
        if !of.cause.is_empty() {
            lines.push(of.cause.clone());
        }
        let pause = of.end.saturating_sub(of.start) as f64 / 1e6;
        lines.push(format!("{pause:.1} ms, {:.1} % of the time since the one before", 100.0 * facts.overhead(gc)));
        if let (Some(before), Some(after)) = (of.before, of.after) {
            lines.push(format!("{} before, {} after", bytes_text(before), bytes_text(after)));
        }
        if let Some(spaces) = facts.spaces.as_ref().filter(|_| chart.kind == ChartKind::Memory) {
            let [before, after] = spaces[gc];
            for (name, before, after) in [
                ("Eden", before.eden, after.eden),
                ("Survivor", before.survivor, after.survivor),
                ("Old", before.old, after.old),
            ] {
                lines.push(format!("{name}: {} before, {} after", bytes_text(before), bytes_text(after)));
            }
        }
        if let Some(allocated) = facts.allocated(gc) {
            let rate = 1e9 * allocated / facts.allocating(gc) as f64;
            lines.push(format!("{} allocated before, {}/s", bytes_text(allocated as u64), bytes_text(rate as u64)));
        }
        if let Some(survived) = facts.survived(gc) {
            lines.push(format!("{:.1} % of what was in use survived", 100.0 * survived));
        }
        if let Some(survived) = facts.survived_new(gc) {
            let about = if facts.lives_are_exact { "" } else { "about " };
            lines.push(format!("{about}{:.1} % of what was new survived", 100.0 * survived));
        }
        Some(lines)
    }
}

/// The element whose time is nearest; times ascend.
fn nearest<T>(all: &[T], time: u64, of: impl Fn(&T) -> u64) -> Option<usize> {
    let at = all.partition_point(|element| of(element) < time);
    [at.checked_sub(1), Some(at)]
        .into_iter()
        .flatten()
        .filter(|&i| i < all.len())
        .min_by_key(|&i| of(&all[i]).abs_diff(time))
}

fn threads(facts: &RunFacts) -> (Vec<(String, String, f64)>, usize) {
    let all: f64 = facts.threads.iter().map(|of| of.born.bytes).sum();
    let about = if facts.lives_are_exact { "" } else { "about " };
    let line = |of: &memory_city_analysis::run::ThreadShare| {
        let share = if all > 0.0 { of.born.bytes / all } else { 0.0 };
        let text = format!("{about}{}, {:.1} %", bytes_text(of.born.bytes as u64), 100.0 * share);
        (of.thread.clone(), text, share)
    };
    let named: Vec<_> = facts.threads.iter().take(THREADS).map(line).collect();
    let left_out = facts.threads.len() - named.len();
    (named, left_out)
}
