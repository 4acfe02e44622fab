//! Windows of time that are suspicious: where memory grows to the end, where collecting takes long, where much is thrown away.
//! The rules are those of [`crate::windows`]; every threshold is a parameter.

use super::{Analysis, Arguments, Description, Findings, Parameter, TimeWindow, looked};
use crate::tabular::{
    Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text, time_text, uptime_text,
};
use crate::timeline::{History, Metric, NodeId, Source, Unit};
use crate::windows::{GcSpan, GcWindow, LeakWindow, MemoryLevel, SuspiciousWindows, WindowRules};
use memory_city_formats::{GcHistory, GcKind, LifeStep};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Windows)
}

struct Windows;

/// Fewer heap states say nothing about how memory grows.
const ENOUGH: usize = 3;

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

impl Analysis for Windows {
    fn describe(&self) -> Description {
        let number = Parameter::number;
        let rules = WindowRules::default();
        Description {
            id: "windows",
            title: "Suspicious windows",
            explanation: "Windows of time that are worth a look: the longest one in which memory grows to the end (a leak), \
                that in which most of the time goes into collecting, and that in which most is thrown away per second. Of each \
                kind the strongest, with a word whether it is beyond its threshold.",
            needs: &[],
            parameters: vec![
                number(
                    "states",
                    "Heap states",
                    "Where traces hold references and GC roots: after how many collections of the whole heap at most it is computed what the \
                     roots reach. With fewer than three, bytes after collections are taken instead",
                    60,
                    0,
                    u64::MAX,
                ),
                number(
                    "kept",
                    "Kept",
                    "A leak window ends where memory falls below so many percent of its largest",
                    rules.kept_percent,
                    0,
                    100,
                ),
                number(
                    "cover",
                    "Least cover",
                    "A leak window covers so many percent of all collections at least",
                    rules.least_cover_percent,
                    0,
                    100,
                ),
                number(
                    "growth",
                    "Least growth",
                    "A leak window grows by so many bytes at least",
                    rules.least_growth,
                    0,
                    u64::MAX,
                ),
                number(
                    "growth_percent",
                    "Least growth, percent",
                    "And by so many percent of what it began with",
                    rules.least_growth_percent,
                    0,
                    1_000_000,
                ),
                number(
                    "narrow_least",
                    "Narrow, least",
                    "Its steepest part has so many percent of its points at least, and two",
                    rules.narrow_least_percent,
                    0,
                    100,
                ),
                number(
                    "narrow_most",
                    "Narrow, most",
                    "Its steepest part has so many percent of its points at most",
                    rules.narrow_most_percent,
                    0,
                    100,
                ),
                number(
                    "regression",
                    "Regression",
                    "The line that is compared begins with so many percent of all points",
                    rules.regression_percent,
                    0,
                    100,
                ),
                number(
                    "least_gcs",
                    "Least collections",
                    "Windows of overhead and churn have so many collections at least",
                    rules.least_gcs as u64,
                    1,
                    1_000_000,
                ),
                number("most_gcs", "Most collections", "And so many at most", rules.most_gcs as u64, 1, 1_000_000_000),
                number(
                    "overhead",
                    "Overhead",
                    "Collecting is too much from so many percent of the time on",
                    rules.overhead_percent,
                    0,
                    100,
                ),
                number(
                    "churn",
                    "Churn",
                    "Churn is high from so many percent of the average of the run on",
                    rules.churn_percent,
                    0,
                    1_000_000,
                ),
            ],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let rules = rules_of(arguments);
        let run = RunMeasures::of(document, window, arguments.count("states"), progress)?;
        let found = SuspiciousWindows::find(run.began, &run.gcs, &run.levels, &rules);
        Ok(findings(document, window, &run, &found, &rules))
    }
}

fn rules_of(arguments: &Arguments) -> WindowRules {
    let number = |id| arguments.number(id);
    WindowRules {
        kept_percent: number("kept"),
        least_cover_percent: number("cover"),
        least_growth: number("growth"),
        least_growth_percent: number("growth_percent"),
        narrow_least_percent: number("narrow_least"),
        narrow_most_percent: number("narrow_most"),
        regression_percent: number("regression"),
        least_gcs: arguments.count("least_gcs"),
        most_gcs: arguments.count("most_gcs").max(arguments.count("least_gcs")),
        overhead_percent: number("overhead"),
        churn_percent: number("churn"),
    }
}

/// What windows are found in: the collections and memory of a run, and where the numbers come from.
#[derive(Clone, Debug)]
pub struct RunMeasures {
    /// When it begins, nanoseconds: since the program started where collections are known, else since 1970.
    pub began: u64,
    /// Its collections.
    pub gcs: Vec<GcSpan>,
    /// Memory over time.
    pub levels: Vec<MemoryLevel>,
    /// What the levels are, for people: `bytes that GC roots reach`.
    pub levels_are: String,
    /// Whether what collections freed is an estimate from samples; `None` where it is not known.
    pub freed_is_estimated: Option<bool>,
    /// Whether times are those of a clock, not of the program.
    pub is_epoch: bool,
    /// What a person must know.
    pub notes: Vec<String>,
}

impl RunMeasures {
    /// Measures a source between two points in time. Of traces with references and GC roots what the roots reach is computed at
    /// `states` points at most, each of which is replayed; everything else is one pass over what is known of the run.
    ///
    /// # Errors
    /// When a heap state cannot be loaded again, or the work was cancelled.
    pub fn of(document: &Source, window: TimeWindow, states: usize, progress: &Progress) -> Result<RunMeasures> {
        let series = document.heaps().map(History::series);
        let history = match series {
            Some(series) => series.gc_history(progress)?,
            None => None,
        };
        let Some(history) = history.filter(|history| !history.collections.is_empty()) else {
            return Ok(RunMeasures::of_points(document, window));
        };
        let whole = crate::lives::RunWindow::of_points(document, &history, window);
        let within = &history.collections[whole.first as usize..whole.end as usize];
        let mut measures = RunMeasures {
            began: whole.from,
            gcs: within.iter().map(|gc| GcSpan { start: gc.start, end: gc.end, freed: 0 }).collect(),
            levels: Vec::new(),
            levels_are: String::new(),
            freed_is_estimated: None,
            is_epoch: false,
            notes: Vec::new(),
        };
        measures.add_freed(document, &history, whole, progress)?;
        measures.add_levels(document, window, &history, whole, states, progress)?;
        Ok(measures)
    }

    /// Of points in time alone, without collections.
    fn of_points(document: &Source, window: TimeWindow) -> RunMeasures {
        let timeline = document.timeline();
        let levels: Vec<MemoryLevel> =
            window.times().map(|time| point_level(document, time, time - window.from)).collect();
        RunMeasures {
            began: levels.first().map_or(0, |level| level.time),
            gcs: Vec::new(),
            levels_are: match document.heaps() {
                Some(heaps) if heaps.options().include_unreachable => {
                    "bytes of all objects, reachable or not".to_owned()
                }
                Some(_) => "bytes that GC roots reach".to_owned(),
                None => "bytes of the trees".to_owned(),
            },
            levels,
            freed_is_estimated: None,
            is_epoch: timeline.points()[window.from].gc.is_none(),
            notes: vec!["Collections are not recorded here: neither overhead nor churn can be told.".to_owned()],
        }
    }

    /// What each collection freed: from what is in use before and after it, else from samples.
    fn add_freed(
        &mut self,
        document: &Source,
        history: &GcHistory,
        whole: crate::lives::RunWindow,
        progress: &Progress,
    ) -> Result<()> {
        let within = &history.collections[whole.first as usize..whole.end as usize];
        if within.iter().all(|gc| gc.before.is_some() && gc.after.is_some()) {
            for (span, gc) in self.gcs.iter_mut().zip(within) {
                span.freed = super::change(gc.after.unwrap_or(0), gc.before.unwrap_or(0));
            }
            self.freed_is_estimated = Some(false);
        } else if let Some(lives) = document.heaps().and_then(|heaps| heaps.series().lives())
            && let Some(last) = whole.end.checked_sub(1)
        {
            let (mut born, mut died) = (vec![0.0; self.gcs.len()], vec![0.0; self.gcs.len()]);
            lives.each(last, progress, |event| {
                if let Some(at) = event.gc.checked_sub(whole.first).map(|at| at as usize).filter(|&at| at < born.len())
                {
                    match event.step {
                        LifeStep::Born => born[at] += event.amount.bytes,
                        LifeStep::Died => died[at] += event.amount.bytes,
                        LifeStep::Promoted => {}
                    }
                }
                Ok(())
            })?;
            // Deaths of samples are noticed some time after the collection, births are dated well: so what is in use at the start of a
            // collection is what was left by the one before, and what was born since.
            let mut used = match whole.first.checked_sub(1) {
                Some(before) => history.collections[before as usize].after.map(|bytes| bytes as f64),
                None => (history.began == 0).then_some(0.0),
            };
            for (at, (span, gc)) in self.gcs.iter_mut().zip(within).enumerate() {
                let after = gc.after.map(|bytes| bytes as f64);
                let freed = match (used, after) {
                    (Some(used), Some(after)) => used + born[at] - after,
                    // As much went as came.
                    (Some(_), None) => born[at],
                    (None, _) => died[at],
                };
                span.freed = freed as i64;
                used = after.or(used);
            }
            self.freed_is_estimated = Some(true);
            self.notes
                .push(format!("What collections freed is estimated from {} samples.", count_text(lives.samples())));
        } else {
            self.notes.push("What collections freed is not recorded here: churn cannot be told.".to_owned());
        }
        Ok(())
    }

    /// How much memory there was: what roots reach where that can be computed, else what is left after collections.
    fn add_levels(
        &mut self,
        document: &Source,
        window: TimeWindow,
        history: &GcHistory,
        whole: crate::lives::RunWindow,
        states: usize,
        progress: &Progress,
    ) -> Result<()> {
        let Some(heaps) = document.heaps() else { return Ok(()) };
        if heaps.has_seen_all() {
            // Collections of a part of the heap tell the roots of that part alone.
            let is_full = |t: &usize| {
                let gc = document.timeline().points()[*t].gc.as_ref();
                gc.is_some_and(|gc| gc.kind == GcKind::Major)
            };
            let fulls: Vec<usize> = looked::ends(document, window).into_iter().filter(is_full).collect();
            let looked =
                if states < ENOUGH || fulls.len() < ENOUGH { Vec::new() } else { looked::spread(&fulls, states) };
            for &time in &looked {
                progress.check()?;
                let heap = heaps.heap(time, progress)?;
                let Some(reached) = heap.reached_by_roots() else { break };
                let point = &document.timeline().points()[time];
                let time = point.millis.saturating_mul(NANOS);
                let number = point.gc.as_ref().map(|gc| u64::from(gc.number));
                let gc = history.collections.iter().position(|gc| Some(gc.number) == number).unwrap_or(0);
                let gc = gc.saturating_sub(whole.first as usize);
                self.levels.push(MemoryLevel { time, bytes: reached.bytes, gc });
            }
            if self.levels.len() >= ENOUGH {
                self.levels_are = "bytes that GC roots reach".to_owned();
                self.notes.push(format!(
                    "What GC roots reach was computed after {} of {} collections of the whole heap (states).",
                    count_text(self.levels.len() as u64),
                    count_text(fulls.len() as u64)
                ));
                return Ok(());
            }
            self.levels.clear();
        } else {
            // Walks are exact. Between them nothing is known of what roots reach.
            let walks: Vec<MemoryLevel> = window
                .times()
                .map(|time| {
                    let level = point_level(document, time, 0);
                    let since = match document.timeline().points()[time].gc {
                        Some(_) => level.time,
                        None => level.time.saturating_sub(history.epoch.saturating_mul(NANOS)),
                    };
                    let gc = history.collections.partition_point(|gc| gc.end < since.saturating_add(NANOS));
                    let gc = gc.saturating_sub(1 + whole.first as usize);
                    MemoryLevel { time: since, gc, ..level }
                })
                .collect();
            if walks.len() > 2 {
                self.levels = walks;
                self.levels_are = "bytes that GC roots reach".to_owned();
                return Ok(());
            }
        }
        let within = &history.collections[whole.first as usize..whole.end as usize];
        let level = |(gc, record): (usize, &memory_city_formats::GcRecord)| {
            Some(MemoryLevel { time: record.end, bytes: record.after?, gc })
        };
        self.levels = within.iter().enumerate().filter_map(level).collect();
        self.levels_are = "bytes after collections, with what was not yet collected".to_owned();
        Ok(())
    }
}

/// The memory of a point in time: what its tree holds.
fn point_level(document: &Source, time: usize, gc: usize) -> MemoryLevel {
    let timeline = document.timeline();
    let millis = timeline.points()[time].millis;
    MemoryLevel { time: millis.saturating_mul(NANOS), bytes: timeline.value(time, NodeId::ROOT, Metric::Bytes), gc }
}

/// A row before it is one.
struct FoundWindow {
    kind: &'static str,
    name: &'static str,
    verdict: String,
    from: u64,
    to: u64,
    gcs: Option<u64>,
    change: Option<i64>,
    rate: f64,
    share: f64,
}

fn findings(
    document: &Source,
    window: TimeWindow,
    run: &RunMeasures,
    found: &SuspiciousWindows,
    rules: &WindowRules,
) -> Findings {
    let mut rows: Vec<FoundWindow> = Vec::new();
    let mut answers = Vec::new();
    let clock = |nanos: u64| if run.is_epoch { time_text(nanos / NANOS) } else { uptime_text(nanos / NANOS) };
    let span = |from: u64, to: u64| format!("from {} to {}", clock(from), clock(to));
    if let Some(leak) = &found.leak {
        rows.extend(leak_rows(run, leak));
        if leak.is_suspicious {
            let [first, last] = [leak.from, leak.to].map(|at| run.levels[at]);
            answers.push(format!(
                "Memory grows to the end, {}: {} to {} ({}), {} per second.",
                span(first.time, last.time),
                bytes_text(first.bytes),
                bytes_text(last.bytes),
                run.levels_are,
                bytes_text(per_second(super::change(first.bytes, last.bytes), last.time - first.time) as u64),
            ));
            if let Some([from, to]) = leak.steepest.map(|(from, to)| [from, to].map(|at| run.levels[at])) {
                answers.push(format!("  It grows fastest {}.", span(from.time, to.time)));
            }
        }
    }
    if let Some(overhead) = &found.overhead {
        let percent = 100.0 * overhead.rate();
        let verdict = verdict(overhead.is_suspicious, || format!("below {} %", rules.overhead_percent));
        if overhead.is_suspicious {
            answers.push(format!(
                "Collecting takes {percent:.0} % of the time {} ({} collections).",
                span(overhead.from, overhead.to),
                overhead.last - overhead.first + 1
            ));
        }
        rows.push(FoundWindow {
            share: percent,
            rate: f64::NAN,
            ..gc_row("overhead", "GC overhead", verdict, overhead)
        });
    }
    if let Some(churn) = found.churn.as_ref().filter(|_| run.freed_is_estimated.is_some()) {
        let average = found.average.0 as f64 / found.average.1.max(1) as f64;
        let percent = 100.0 * churn.rate() / average;
        let verdict = verdict(churn.is_suspicious, || format!("below {} % of the average", rules.churn_percent));
        if churn.is_suspicious {
            answers.push(format!(
                "{} per second are thrown away {}, {percent:.0} % of the average of {} per second.",
                bytes_text((1e9 * churn.rate()) as u64),
                span(churn.from, churn.to),
                bytes_text((1e9 * average).max(0.0) as u64),
            ));
        }
        let share = if average > 0.0 { percent } else { f64::NAN };
        rows.push(FoundWindow {
            change: Some(churn.amount),
            rate: 1e9 * churn.rate(),
            share,
            ..gc_row("churn", "Churn", verdict, churn)
        });
    }
    if answers.is_empty() {
        answers.push("No window of time is suspicious.".to_owned());
    }
    let mut notes = run.notes.clone();
    if !run.gcs.is_empty() && run.gcs.len() < rules.least_gcs {
        notes.push(format!(
            "There are {} collections, fewer than the {} of a window: neither overhead nor churn is looked for.",
            run.gcs.len(),
            rules.least_gcs
        ));
    }
    let table = ResultTable {
        header: TableHeader {
            id: "windows".into(),
            title: "Suspicious windows".into(),
            columns: columns(run),
            ..TableHeader::default()
        },
        rows: rows.iter().map(|row| row.cells(document, window, run)).collect(),
        left_out: None,
        empty_text: "Nothing grows to the end, and there are too few collections.".into(),
    };
    Findings { answers, tables: vec![table], notes, ..Findings::default() }
}

fn verdict(is_suspicious: bool, otherwise: impl FnOnce() -> String) -> String {
    if is_suspicious { "suspicious".to_owned() } else { otherwise() }
}

fn per_second(change: i64, nanos: u64) -> f64 {
    1e9 * change as f64 / nanos.max(1) as f64
}

fn gc_row(kind: &'static str, name: &'static str, verdict: String, window: &GcWindow) -> FoundWindow {
    FoundWindow {
        kind,
        name,
        verdict,
        from: window.from,
        to: window.to,
        gcs: Some((window.last - window.first + 1) as u64),
        change: None,
        rate: f64::NAN,
        share: f64::NAN,
    }
}

fn leak_rows(run: &RunMeasures, leak: &LeakWindow) -> Vec<FoundWindow> {
    let row = |kind, name, verdict, from: usize, to: usize| {
        let [first, last] = [from, to].map(|at| run.levels[at]);
        let change = super::change(first.bytes, last.bytes);
        FoundWindow {
            kind,
            name,
            verdict,
            from: first.time,
            to: last.time,
            gcs: (!run.gcs.is_empty()).then_some((last.gc - first.gc) as u64),
            change: Some(change),
            rate: per_second(change, last.time.saturating_sub(first.time)),
            share: if first.bytes > 0 { 100.0 * change as f64 / first.bytes as f64 } else { f64::INFINITY },
        }
    };
    let word = verdict(leak.is_suspicious, || "too short or too small".to_owned());
    let mut rows = vec![row("leak", "Leak", word.clone(), leak.from, leak.to)];
    if let Some((from, to)) = leak.steepest {
        rows.push(row("steepest", "Leak, its steepest part", word, from, to));
    }
    if let Some((from, slope)) = leak.regression {
        let line = row("regression", "Leak, by regression", "for comparison".to_owned(), from, leak.to);
        rows.push(FoundWindow { rate: slope, ..line });
    }
    rows
}

fn columns(run: &RunMeasures) -> Vec<Column> {
    let moment = if run.is_epoch { CellKind::Time } else { CellKind::Uptime };
    let levels = format!("bytes: leaks by {}; churn by what was freed", run.levels_are);
    vec![
        Column::new("window", "Window", CellKind::Text, "What it is a window of"),
        Column::new(
            "kind",
            "Kind",
            CellKind::Text,
            "The same for programs: leak, steepest, regression, overhead, churn",
        ),
        Column::new("verdict", "Verdict", CellKind::Text, "Whether it is beyond its threshold"),
        Column::new("begins", "Begins", moment, "When it begins"),
        Column::new("ends", "Ends", moment, "When it ends"),
        Column::new(
            "from",
            "From",
            CellKind::Number(Unit::Count),
            "The last point in time at its beginning, for --from",
        ),
        Column::new("to", "To", CellKind::Number(Unit::Count), "The first point in time at its end, for --to"),
        Column::new("gcs", "Collections", CellKind::Number(Unit::Count), "Collections in it"),
        Column::new(
            "change",
            "Change",
            CellKind::Change(Unit::Bytes),
            format!("Growth of a leak, or what was freed: {levels}"),
        ),
        Column::new(
            "rate",
            "Per second",
            CellKind::Change(Unit::Bytes),
            "The same per second; of a regression the slope of its line",
        ),
        Column::new(
            "share",
            "Share",
            CellKind::Percent,
            "Growth of a leak against its beginning; of overhead the share of time; of churn its rate against the average of the run",
        ),
    ]
}

impl FoundWindow {
    fn cells(&self, document: &Source, window: TimeWindow, run: &RunMeasures) -> Row {
        let points = document.timeline().points();
        // Points know milliseconds.
        let [from, to] = [self.from, self.to].map(|nanos| nanos / NANOS);
        let is_known = run.is_epoch || points[window.from].gc.is_some();
        let place = |time: usize| if is_known { Cell::Number(time as u64 + 1) } else { Cell::Empty };
        let first = window.times().take_while(|&time| points[time].millis <= from).last().unwrap_or(window.from);
        let last = window.times().find(|&time| points[time].millis >= to).unwrap_or(window.to);
        let percent = |share: f64| if share.is_nan() { Cell::Empty } else { Cell::Percent(share) };
        Row {
            cells: vec![
                Cell::Text(self.name.to_owned()),
                Cell::Text(self.kind.to_owned()),
                Cell::Text(self.verdict.clone()),
                Cell::Time(from),
                Cell::Time(to),
                place(first),
                place(last),
                self.gcs.map_or(Cell::Empty, Cell::Number),
                self.change.map_or(Cell::Empty, Cell::Change),
                if self.rate.is_nan() { Cell::Empty } else { Cell::Change(self.rate as i64) },
                percent(self.share),
            ],
            ..Row::default()
        }
    }
}
