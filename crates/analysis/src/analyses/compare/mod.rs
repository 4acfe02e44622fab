//! Comparison of two runs: before and after a fix, or of two versions. They are taken at the same time, after as many collections, or after
//! as much allocation. They are compared group by group: live objects, and the objects that died until then.
//!
//! `alignment` finds the points in time at which both runs are equally far. `growth` compares their growth, `owners` does so by owner.
//! `programs` checks that both are runs of one program.
//!
//! It needs two inputs, so it is no [`Analysis`](super::Analysis) of the registry. Its result is a [`Report`] all the same, and a source of
//! trees with two points in time for any view.

mod alignment;
mod growth;
mod owners;
mod programs;

pub use alignment::{AlignedRuns, RunCurve};
pub use growth::{GrowthOutcome, RunsOutcome};

use super::report::{Report, ReportPart};
use super::{Arguments, Description, Findings, Parameter, ParameterKind, TimeWindow, change};
use crate::group::MemoryTree;
use crate::lives::{DeadTree, RunWindow, ended_by, grouping_of_dead, lives_of, since_start};
use crate::tabular::{
    Cell, CellKind, Column, NodeLink, ResultTable, Row, TEXT_ROWS, TableHeader, bytes_text, count_text, several,
    time_text, uptime_text,
};
use crate::timeline::json::JsonSource;
use crate::timeline::{Metric, NodeId, Source, TimePoint, Timeline, TimelineBuilder, Unit, by_uptime};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::cmp::Reverse;

/// Description and parameters of the comparison. Parameters are set as those of analyses.
pub fn description() -> Description {
    Description {
        id: "compare",
        title: "Comparison of two runs",
        explanation: "What one run of a program has more or less of than another, by group, at the same time, after as many \
            collections, or after as much was allocated.",
        needs: &[],
        parameters: vec![
            Parameter {
                id: "align",
                title: "Align",
                explanation: "order: dump by dump, the first of one with the first of the other; time: as long after the start; gcs: after as many collections (ZGC, Shenandoah: pauses), or points in time \
                    where none are recorded; allocated: after as many objects were allocated, which is the same work where allocation itself is not what \
                    differs; end: each at its own end, for runs that do the same work from beginning to end; auto: the end where a run \
                    has one state alone, allocated where both runs know it, order of dumps that were taken one by one, else time",
                kind: ParameterKind::Choice {
                    default: "auto",
                    choices: &["auto", "order", "time", "gcs", "allocated", "end"],
                },
            },
            Parameter {
                id: "at",
                title: "At",
                explanation: "How far from the start: dumps, milliseconds, collections, objects that were allocated, or percent of each run. \
                    0: as far as the shorter run goes",
                kind: ParameterKind::Number { default: 0, least: 0, most: u64::MAX },
            },
            Parameter {
                id: "top",
                title: "Rows",
                explanation: "How many rows each table has, those that differ most first; the others are counted",
                kind: ParameterKind::Number { default: 20, least: 1, most: u64::MAX },
            },
        ],
    }
}

/// The result of a comparison.
pub struct ComparedRuns {
    /// The differences, as tables.
    pub report: Report,
    /// Both runs as points in time of one source: the live objects of the first, and of the second.
    pub trees: Source,
    /// Where both were compared, and how far they are at each of their points in time.
    pub aligned: AlignedRuns,
    /// The largest change, and whether the growth of the first run goes on in the second.
    pub outcome: RunsOutcome,
}

/// Compares two runs, grouped alike.
///
/// # Errors
/// When a run has no point in time, they cannot be aligned so, a state cannot be loaded again, or the work was cancelled.
pub fn compare<'a>(
    runs: [&Source; 2],
    given: impl IntoIterator<Item = (&'a str, &'a str)>,
    progress: &Progress,
) -> Result<ComparedRuns> {
    let description = description();
    let arguments = Arguments::parse(&description, given)?;
    if runs.iter().any(|run| run.timeline().times() == 0) {
        return Err(Error::Unusable {
            what: "One of the runs has no point in time".into(),
            remedy: "Compare two that have".into(),
        });
    }
    let aligned = AlignedRuns::new(runs, arguments.word("align"), arguments.number("at"), progress)?;
    let points = aligned.points;
    let mut builder = TimelineBuilder::default();
    for ((run, time), label) in runs.into_iter().zip(points).zip(["A", "B"]) {
        add_tree(&mut builder, run, time, label, progress)?;
    }
    let alive = builder.finish().with_profile(runs[0].profile());
    let timelines = runs.map(|run| &**run.timeline());
    let mut outcome = growth::of_runs(timelines, points, &alive);
    // Dumps behind those that both have tell of growth all the same: by step.
    let has_more = timelines.iter().all(|timeline| timeline.times() > 1);
    let whole = aligned.by == "order" && arguments.number("at") == 0 && has_more;
    let ends = if whole { timelines.map(|timeline| timeline.times() - 1) } else { points };
    let mut places = None;
    if let Some(text) = programs::unlike(runs, points, progress)? {
        outcome = RunsOutcome { outcome: GrowthOutcome::Unknown, text, ..outcome };
    } else if let Some((by_owner, table)) =
        owners::of_runs(runs, ends, whole && ends[0] != ends[1], growth::most_changed(&alive), progress)?
    {
        let group = by_owner.group.filter(|key| alive.find(key).is_some()).or(outcome.group);
        outcome = RunsOutcome { group, ..by_owner };
        places = table;
    }
    let mut answers = vec![format!("{}.", outcome.text)];
    answers.extend(outcome.more.iter().cloned());
    answers.push(format!("Compared {}.", aligned.place_text()));
    answers.push(total("Alive", &alive));
    let top = arguments.count("top");
    let mut tables: Vec<ResultTable> = places.into_iter().collect();
    tables.push(table("alive", "What is alive", &alive, top));
    let mut notes = Vec::new();
    match died(runs, points, progress) {
        Ok((died, facts)) => {
            answers.push(total("Died until then", &died));
            answers.extend(facts);
            tables.push(table("died", "What died", &died, top));
        }
        Err(Error::Unusable { what, .. }) => notes.push(format!("What died cannot be compared. {what}.")),
        Err(error) => return Err(error),
    }
    tables.push(trend(runs, &aligned, &alive));
    notes.extend(aligned.unlike_note(runs));
    for (run, (time, label)) in runs.iter().zip(points.into_iter().zip(["A", "B"])) {
        let points = run.timeline().points();
        let point = &points[time];
        let taken = if by_uptime(points) { uptime_text(point.millis) } else { time_text(point.millis) };
        let of = run.timeline().times();
        notes.push(format!("{label} is at its point in time {} of {of} ({}, {taken}).", time + 1, point.label));
    }
    let roles = runs[0].grouping_title();
    let trees = Source::Trees(JsonSource::of_timeline(alive, roles, runs.iter().flat_map(|r| r.warnings()).collect()));
    let findings = Findings { answers, tables, notes, ..Findings::default() };
    let part = ReportPart::new(description, arguments, Ok(findings));
    let report = Report {
        grouping: runs[0].grouping_id(),
        window: TimeWindow { from: 0, to: 1 },
        sampled: runs.iter().zip(points).rev().find_map(|(run, time)| run.timeline().points()[time].sampled),
        verdict: None,
        parts: vec![part],
        warnings: trees.warnings(),
        text_rows: TEXT_ROWS,
    };
    Ok(ComparedRuns { report, trees, aligned, outcome })
}

/// How many places of both runs the trend has, and how many groups beside all together.
const TREND_PLACES: usize = 20;
const TREND_GROUPS: usize = 5;

/// Both runs on the way to where they are compared: bytes of all and of the groups that differ most, at places that are as far for both.
fn trend(runs: [&Source; 2], aligned: &AlignedRuns, alive: &Timeline) -> ResultTable {
    let (align, place) = (aligned.by, aligned.place);
    let value = |t: usize, node| alive.value(t, node, Metric::Bytes);
    let mut groups: Vec<NodeId> = alive.nodes().filter(|&node| alive.is_leaf(node)).collect();
    groups.sort_by_key(|&node| (Reverse(change(value(0, node), value(1, node)).unsigned_abs()), node));
    groups.retain(|&node| value(0, node) != value(1, node));
    groups.truncate(TREND_GROUPS);
    let mut rows = Vec::new();
    for group in std::iter::once(NodeId::ROOT).chain(groups) {
        let key = alive.key(group);
        let nodes = runs.map(|run| run.timeline().find(&key));
        let mut last = None;
        for step in 1..=TREND_PLACES {
            let at = place * step as f64 / TREND_PLACES as f64;
            let points = [0, 1].map(|side: usize| aligned.point(side, at));
            // Short runs have fewer points than places.
            if last.replace(points) == Some(points) {
                continue;
            }
            let bytes = |side: usize| {
                let timeline = runs[side].timeline();
                nodes[side].map_or(0, |node| timeline.value(points[side], node, Metric::Bytes))
            };
            let (a, b) = (bytes(0), bytes(1));
            let at = match align {
                "time" => Cell::Time(at as u64),
                // The first dump is there from the start.
                "order" => Cell::Number((at as u64).max(1)),
                _ => Cell::Number(at.round() as u64),
            };
            let cells = vec![
                Cell::Node(NodeLink::new(alive, group)),
                at,
                Cell::Number(points[0] as u64 + 1),
                Cell::Number(points[1] as u64 + 1),
                Cell::Number(a),
                Cell::Number(b),
                Cell::Change(change(a, b)),
            ];
            rows.push(Row { cells, ..Row::default() });
        }
    }
    let (count, bytes) = (CellKind::Number(Unit::Count), CellKind::Number(Unit::Bytes));
    let at = match align {
        "time" => Column::new("at", "After", CellKind::Uptime, "Time since the start"),
        "order" => Column::new("at", "Dumps", count, "Dumps until then"),
        "end" => Column::new("at", "Percent", count, "Percent of the time of each run"),
        "gcs" => {
            let title = aligned.noun.title();
            Column::new("at", title, count, format!("{title} until then"))
        }
        _ => Column::new("at", "Allocated", count, "Objects allocated until then"),
    };
    let columns = vec![
        Column::new(
            "group",
            "Group",
            CellKind::Node,
            "The group; all together first, then those that differ most in the end",
        ),
        at,
        Column::new("point_a", "A, point", count, "The point in time of the first run, counted from 1"),
        Column::new("point_b", "B, point", count, "Of the second"),
        Column::new("bytes_a", "A, bytes", bytes, "Bytes in the first run"),
        Column::new("bytes_b", "B, bytes", bytes, "In the second"),
        Column::new("bytes_change", "Change, bytes", CellKind::Change(Unit::Bytes), "Second minus first"),
    ];
    ResultTable {
        header: TableHeader { id: "trend".into(), title: "On the way there".into(), columns, ..TableHeader::default() },
        rows,
        left_out: None,
        empty_text: "There is one place alone.".into(),
    }
}

/// The tree of a run at a point in time, as the next point of a timeline.
fn add_tree(builder: &mut TimelineBuilder, run: &Source, time: usize, label: &str, progress: &Progress) -> Result<()> {
    let point = &run.timeline().points()[time];
    let point = TimePoint { label: label.to_owned(), unreachable: point.unreachable, ..TimePoint::default() };
    match run.heaps() {
        Some(heaps) => builder.add(point, &heaps.tree_at(time, progress)?),
        None => builder.add(point, &tree_of(run.timeline(), time)),
    }
    Ok(())
}

/// The tree of a timeline at a point in time.
fn tree_of(timeline: &Timeline, time: usize) -> MemoryTree {
    let mut tree = MemoryTree::new();
    let mut place = vec![0; timeline.len()];
    tree.add(0, timeline.amount(time, NodeId::ROOT));
    for node in timeline.nodes().skip(1) {
        if let Some(parent) = timeline.parent(node) {
            let (role, name) = (timeline.role(node).into(), timeline.name(node).into());
            place[node.index()] = tree.child(place[parent.index()], &role, &name);
            tree.add(place[node.index()], timeline.amount(time, node));
        }
    }
    tree
}

/// The objects that died in both runs until the compared points, as a timeline of two points, and notes about them.
fn died(runs: [&Source; 2], points: [usize; 2], progress: &Progress) -> Result<(Timeline, Vec<String>)> {
    let mut builder = TimelineBuilder::default();
    let mut facts = Vec::new();
    for ((run, time), label) in runs.into_iter().zip(points).zip(["A", "B"]) {
        let (lives, history) = lives_of(run, progress)?;
        let grouping = grouping_of_dead(&run.grouping_id())?;
        let window = RunWindow::of_gcs(&history, 0, ended_by(run, &history, time));
        let mut dead = DeadTree::of(lives, &grouping, window, progress)?;
        for (node, died) in dead.died.iter().enumerate() {
            let amount =
                crate::timeline::Amount { objects: died.objects.round() as u64, bytes: died.bytes.round() as u64 };
            dead.tree.add(node, amount);
        }
        builder.add(TimePoint { label: label.to_owned(), ..TimePoint::default() }, &dead.tree);
        let pauses: u64 = history.collections[..window.end as usize].iter().map(|gc| gc.end - gc.start).sum();
        facts.push(format!(
            "{label}: {} until then, {} ms in them, {} after the start{}.",
            several(window.end.into(), history.noun().one(), history.noun().many()),
            count_text(pauses / 1_000_000),
            uptime_text(since_start(run, &history, time)),
            if lives.is_exact() || lives.is_complete() {
                String::new()
            } else {
                format!("; estimated from {} samples", count_text(lives.samples()))
            }
        ));
    }
    Ok((builder.finish().with_profile(runs[0].profile()), facts))
}

/// All of both runs, in a sentence.
fn total(what: &str, timeline: &Timeline) -> String {
    let [a, b] = [0, 1].map(|t| timeline.amount(t, NodeId::ROOT));
    let percent = |a: u64, b: u64| match a {
        0 => String::new(),
        a => format!(" ({:+.1} %)", 100.0 * (b as f64 - a as f64) / a as f64),
    };
    format!(
        "{what}: {} objects in A, {} in B{}; {} in A, {} in B{}.",
        count_text(a.objects),
        count_text(b.objects),
        percent(a.objects, b.objects),
        bytes_text(a.bytes),
        bytes_text(b.bytes),
        percent(a.bytes, b.bytes)
    )
}

fn table(id: &str, title: &str, timeline: &Timeline, top: usize) -> ResultTable {
    let value = |t: usize, node, metric| timeline.value(t, node, metric);
    let differs = |node: &NodeId| timeline.amount(0, *node) != timeline.amount(1, *node);
    let mut groups: Vec<NodeId> = timeline.nodes().filter(|&node| timeline.is_leaf(node)).filter(differs).collect();
    let by = |node: NodeId, metric| change(value(0, node, metric), value(1, node, metric)).unsigned_abs();
    groups.sort_by_key(|&node| (Reverse(by(node, Metric::Bytes)), Reverse(by(node, Metric::Objects)), node));
    let left_out = groups.len().saturating_sub(top) as u64;
    groups.truncate(top);
    let row = |&node: &NodeId| {
        let mut cells = vec![Cell::Node(NodeLink::new(timeline, node))];
        for metric in [Metric::Objects, Metric::Bytes] {
            let (a, b) = (value(0, node, metric), value(1, node, metric));
            cells.extend([Cell::Number(a), Cell::Number(b), Cell::Change(change(a, b))]);
        }
        let [a, b] = [0, 1].map(|t| timeline.value(t, node, Metric::Bytes) as f64);
        cells.push(if a > 0.0 { Cell::Percent(100.0 * (b - a) / a) } else { Cell::Empty });
        Row { cells, ..Row::default() }
    };
    let (objects, bytes) = (Unit::Objects, Unit::Bytes);
    let columns = vec![
        Column::new("group", "Group", CellKind::Node, "The group"),
        Column::new("objects_a", "A, objects", CellKind::Number(objects), "Objects in the first run"),
        Column::new("objects_b", "B, objects", CellKind::Number(objects), "In the second"),
        Column::new("objects_change", "Change", CellKind::Change(objects), "Second minus first"),
        Column::new("bytes_a", "A, bytes", CellKind::Number(bytes), "Bytes in the first run"),
        Column::new("bytes_b", "B, bytes", CellKind::Number(bytes), "In the second"),
        Column::new("bytes_change", "Change, bytes", CellKind::Change(bytes), "Second minus first"),
        Column::new("bytes_percent", "Change, %", CellKind::Percent, "Relative to the first run"),
    ];
    ResultTable {
        header: TableHeader { id: id.into(), title: title.into(), columns, ..TableHeader::default() },
        rows: groups.iter().map(row).collect(),
        left_out: Some((left_out, "groups that differ less".to_owned())).filter(|(n, _)| *n > 0),
        empty_text: "Nothing differs.".into(),
    }
}
