//! Analysis `windows`: suspicious windows of time, in which memory grows to the end, collecting takes long, or many objects die young. The
//! rules are those of [`crate::windows`]; every threshold is a parameter.

use super::measures::{NANOS, RunMeasures};
use super::{
    Analysis, Arguments, Certainty, Description, Detector, DetectorRank, DetectorText, Finding, Findings, LeakVerdict,
    NextStep, Parameter, ParameterKind, TimeWindow,
};
use crate::lives::has_lives;
use crate::tabular::{
    Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, several, time_text, uptime_text,
};
use crate::timeline::{Source, Unit, by_uptime};
use crate::windows::{GcWindow, LeakWindow, SuspiciousWindows, WindowRules};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Windows)
}

struct Windows;

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
                Parameter {
                    id: "owners",
                    title: "Owners",
                    explanation: "Whether the verdict of the analysis leak counts, which costs as much: where nothing accumulates, no window is a leak, and \
                        where something does, it is told. well: nothing accumulates",
                    kind: ParameterKind::Choice { default: ASK, choices: &[ASK, WELL, "leave-out"] },
                },
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
                    "Windows of overhead and churn have so many collections at least; where a collector works beside the program (ZGC, \
                     Shenandoah), so many of its pauses",
                    rules.least_gcs as u64,
                    1,
                    1_000_000,
                ),
                number("most_gcs", "Most collections", "And so many at most", rules.most_gcs as u64, 1, 1_000_000_000),
                number(
                    "least_millis",
                    "Least time",
                    "In a run of fewer milliseconds nothing is suspicious: so short a part of a program says nothing of it",
                    rules.least_millis,
                    0,
                    u64::MAX,
                ),
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
        let mut rules = rules_of(arguments);
        let run = RunMeasures::of(document, window, arguments.count("states"), progress)?;
        let verdict = match arguments.word("owners") {
            ASK => owners_verdict(document, window, progress)?,
            _ => None,
        };
        // One verdict: where the owners of all that grew came to rest, or it comes and goes, a higher end is no leak.
        rules.is_well = arguments.word("owners") == WELL || verdict.as_ref().is_some_and(LeakVerdict::is_well);
        let found = SuspiciousWindows::find(run.began, &run.gcs, &run.levels, &rules);
        let mut findings = findings(document, window, &run, &found, &rules);
        let is_leak = found.leak.as_ref().is_some_and(|leak| leak.is_suspicious);
        // And what grows without a window of its own is no less one.
        if let Some(verdict) = verdict.filter(|verdict| !is_leak && verdict.grows()) {
            findings.answers.retain(|answer| answer != NOTHING);
            findings.answers.insert(0, format!("{}. No window of time stands out.", verdict.line()));
        }
        Ok(findings)
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(Windows)
}

impl Detector for Windows {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Course
    }

    fn arguments(&self, verdict: Option<&LeakVerdict>) -> &'static [(&'static str, &'static str)] {
        match verdict.is_some_and(LeakVerdict::is_well) {
            true => &[("states", "24"), ("owners", WELL)],
            false => &[("states", "24"), ("owners", "leave-out")],
        }
    }

    fn text(&self, _: &Source) -> DetectorText {
        DetectorText::Always
    }
}

/// The answer without any window.
const NOTHING: &str = "No window of time is suspicious.";
/// Whether owners are asked as well.
const ASK: &str = "ask";
/// Owners were asked before: nothing accumulates.
const WELL: &str = "well";

/// The verdict of the detectors that make one, if they can run.
fn owners_verdict(document: &Source, window: TimeWindow, progress: &Progress) -> Result<Option<LeakVerdict>> {
    if window.from == window.to {
        return Ok(None);
    }
    match super::decide(document, window, progress) {
        Ok(findings) => Ok(findings.verdict),
        Err(Error::Unusable { .. }) => Ok(None),
        Err(error) => Err(error),
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
        least_millis: number("least_millis"),
        overhead_percent: number("overhead"),
        churn_percent: number("churn"),
        is_well: false,
    }
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
    if let Some(leak) = found.leak.as_ref().filter(|leak| leak.is_worth_a_word(&run.levels)) {
        rows.extend(leak_rows(run, leak, rules));
        if leak.is_suspicious {
            let [first, last] = [leak.from, leak.to].map(|at| run.levels[at]);
            answers.push(format!(
                "{}, {}: {} to {} ({}), {} per second.",
                leak.words(&run.levels),
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
                "Collecting takes {percent:.0} % of the time {} ({}).",
                span(overhead.from, overhead.to),
                several((overhead.last - overhead.first + 1) as u64, run.noun.one(), run.noun.many())
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
        answers.push(NOTHING.to_owned());
    }
    let mut notes = run.notes.clone();
    if !run.gcs.is_empty() && run.gcs.len() < rules.least_gcs {
        notes.push(format!(
            "There {}, and a window needs {}: overhead and churn are not judged.",
            match run.gcs.len() {
                1 => format!("is 1 {}", run.noun.one()),
                n => format!("are {n} {}", run.noun.many()),
            },
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
        empty_text: format!("There are too few {} for a window.", run.noun.many()),
    };
    let suspicious = rows.iter().enumerate().filter(|(_, row)| row.verdict == SUSPICIOUS && row.kind != "steepest");
    let sentences = answers.iter().filter(|answer| !answer.starts_with(' ') && *answer != NOTHING);
    let found = suspicious.zip(sentences).map(|((at, row), sentence)| {
        let finding = Finding::of_row("windows", vec![sentence.clone()], &table, Some(at));
        let is_certain = row.kind != "churn" || run.freed_is_estimated == Some(false);
        Finding {
            since: finding.time("from").zip(finding.time("from")),
            certainty: if is_certain { Certainty::Counted } else { Certainty::Estimated },
            next: NextStep::run(match row.kind {
                "leak" if document.heaps().is_some() => "leak",
                "leak" => "growth",
                _ if has_lives(document) => "churn",
                _ => "collections",
            }),
            ..finding
        }
    });
    let found = found.collect();
    Findings { answers, tables: vec![table], found, notes, ..Findings::default() }
}

const SUSPICIOUS: &str = "suspicious";

fn verdict(is_suspicious: bool, otherwise: impl FnOnce() -> String) -> String {
    if is_suspicious { SUSPICIOUS.to_owned() } else { otherwise() }
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

fn leak_rows(run: &RunMeasures, leak: &LeakWindow, rules: &WindowRules) -> Vec<FoundWindow> {
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
    let alone = || SuspiciousWindows::find(run.began, &run.gcs, &run.levels, &WindowRules { is_well: false, ..*rules });
    let is_at_rest = rules.is_well && alone().leak.is_some_and(|leak| leak.is_suspicious);
    let no_leak = if is_at_rest { "came to rest, or comes and goes" } else { "too short or too small" };
    let word = verdict(leak.is_suspicious, || no_leak.to_owned());
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
        Column::new("gcs", run.noun.title(), CellKind::Number(Unit::Count), format!("{} in it", run.noun.title())),
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
        let is_known = run.is_epoch || by_uptime(points);
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
