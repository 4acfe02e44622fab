//! The garbage collections of a trace: pauses, causes, what was freed and what survived, one by one and by kind and cause.

use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::run::pauses_note;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, count_text, gc_kind_text, uptime_text};
use crate::timeline::{GcPoint, History, Source, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Collections)
}

struct Collections;

impl Analysis for Collections {
    fn describe(&self) -> Description {
        Description {
            id: "collections",
            title: "Garbage collections",
            explanation: "How long each garbage collection paused the program, why it came, what it freed and how much \
                survived; and the sums by kind and cause.",
            needs: &[Need::Collections],
            parameters: vec![Parameter {
                id: "kind",
                title: "Kind",
                explanation: "Which collections are looked at",
                kind: ParameterKind::Choice { default: "all", choices: &["all", "full", "minor"] },
            }],
        }
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let timeline = document.timeline();
        let wanted = arguments.word("kind");
        let mut rows = Vec::new();
        let mut totals: BTreeMap<(&str, &str), Total> = BTreeMap::new();
        let mut sum = Total::default();
        let mut unfinished = 0;
        let mut numbers = BTreeSet::new();
        for t in window.times() {
            progress.check()?;
            let point = &timeline.points()[t];
            let Some(gc) = point.gc.as_ref().filter(|gc| wanted == "all" || wanted == gc_kind_text(gc.kind)) else {
                continue;
            };
            if !gc.end {
                // Its end, with the same numbers, comes next.
                let next = timeline.points()[t..=window.to].get(1).and_then(|p| p.gc.as_ref());
                unfinished += u64::from(!next.is_some_and(|end| end.end && end.number == gc.number));
                continue;
            }
            let survived = document.live_objects(t);
            numbers.insert(u64::from(gc.number));
            rows.push(Row { cells: one(&point.label, point.millis, gc, survived), ..Row::default() });
            totals.entry((gc_kind_text(gc.kind), &gc.cause)).or_default().add(gc, survived);
            sum.add(gc, survived);
        }
        let mut notes = Vec::new();
        if let (Some(first), Some(last)) = (timeline.points().get(window.from), timeline.points().get(window.to)) {
            // What came before the end of the first collection is its pause at least.
            let begun = first
                .gc
                .as_ref()
                .filter(|gc| gc.end)
                .map_or(first.millis, |gc| first.millis.saturating_sub(gc.duration));
            let elapsed = last.millis.saturating_sub(begun);
            if elapsed > 0 && sum.count > 0 {
                notes.push(format!(
                    "{} collections paused the program for {} ms of {} ({:.1} %), {} ms at most{}.",
                    count_text(sum.count),
                    count_text(sum.pause),
                    uptime_text(elapsed),
                    100.0 * sum.pause as f64 / elapsed as f64,
                    count_text(sum.longest),
                    sum.freed.map_or(String::new(), |freed| format!("; {} objects were freed", count_text(freed))),
                ));
            }
        }
        // A trace has seen all of each collection, and reading it again takes time.
        if let Some(series) = document.heaps().map(History::series).filter(|series| series.recording().is_none())
            && let Some(history) = series.gc_history(progress)?
        {
            notes.extend(pauses_note(history.collections.iter().filter(|gc| numbers.contains(&gc.number))));
        }
        if unfinished > 0 {
            notes.push(format!("{unfinished} collections begin but do not end here: they are not counted."));
        }
        let tables = vec![
            ResultTable {
                header: TableHeader {
                    id: "collections".into(),
                    title: "Garbage collections".into(),
                    columns: one_columns(),
                    ..TableHeader::default()
                },
                rows,
                left_out: None,
                empty_text: NONE.into(),
            },
            ResultTable {
                header: TableHeader {
                    id: "totals".into(),
                    title: "Garbage collections by kind and cause".into(),
                    columns: total_columns(),
                    ..TableHeader::default()
                },
                rows: totals
                    .into_iter()
                    .map(|((kind, cause), total)| Row { cells: total.cells(kind, cause), ..Row::default() })
                    .collect(),
                left_out: None,
                empty_text: NONE.into(),
            },
        ];
        Ok(Findings { tables, notes, ..Findings::default() })
    }
}

const NONE: &str = "No collection of this kind ends here.";

const SURVIVAL: &str = "Share of the objects of the whole heap that were there when the collection began and were not \
    freed. Minor collections look at a part of the heap; what they leave alone survives";

fn one_columns() -> Vec<Column> {
    let objects = CellKind::Number(Unit::Objects);
    vec![
        Column::new("label", "GC", CellKind::Text, "The collection, as the timeline calls it"),
        Column::new("ended", "Ended at", CellKind::Uptime, "When it ended"),
        Column::new("kind", "Kind", CellKind::Text, "minor: a part of the heap was collected; full: all of it"),
        Column::new("cause", "Cause", CellKind::Text, "Why the heap was collected"),
        Column::new("pause", "Pause", CellKind::Number(Unit::Millis), "From its start to its end"),
        Column::new("freed", "Freed", objects, "Objects that it freed"),
        Column::new("survived", "Survived", objects, "Objects in the heap at its end"),
        Column::new("survival", "Survival", CellKind::Percent, SURVIVAL),
    ]
}

fn one(label: &str, ended: u64, gc: &GcPoint, survived: u64) -> Vec<Cell> {
    vec![
        Cell::Text(label.to_owned()),
        Cell::Time(ended),
        Cell::Text(gc_kind_text(gc.kind).to_owned()),
        Cell::Text(gc.cause.clone()),
        Cell::Number(gc.duration),
        gc.freed.map_or(Cell::Empty, Cell::Number),
        Cell::Number(survived),
        survival(gc.freed, survived),
    ]
}

fn total_columns() -> Vec<Column> {
    let (objects, millis) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Millis));
    vec![
        Column::new("kind", "Kind", CellKind::Text, "minor: a part of the heap was collected; full: all of it"),
        Column::new("cause", "Cause", CellKind::Text, "Why the heap was collected"),
        Column::new("count", "Collections", CellKind::Number(Unit::Count), "How many there were"),
        Column::new("pause", "Total pause", millis, "All their pauses together"),
        Column::new("longest", "Longest pause", millis, "The longest of them"),
        Column::new("freed", "Freed", objects, "Objects that they freed together"),
        Column::new("survival", "Survival", CellKind::Percent, SURVIVAL),
    ]
}

/// Sums over collections.
#[derive(Clone, Copy, Default)]
struct Total {
    count: u64,
    pause: u64,
    longest: u64,
    /// Where it is known of all of them.
    freed: Option<u64>,
    /// Objects that survived, each time anew.
    survived: u64,
}

impl Total {
    fn add(&mut self, gc: &GcPoint, survived: u64) {
        self.count += 1;
        self.pause = self.pause.saturating_add(gc.duration);
        self.longest = self.longest.max(gc.duration);
        // The first one begins the sum.
        let before = if self.count == 1 { Some(0) } else { self.freed };
        self.freed = before.zip(gc.freed).map(|(sum, freed)| sum.saturating_add(freed));
        self.survived = self.survived.saturating_add(survived);
    }

    fn cells(self, kind: &str, cause: &str) -> Vec<Cell> {
        vec![
            Cell::Text(kind.to_owned()),
            Cell::Text(cause.to_owned()),
            Cell::Number(self.count),
            Cell::Number(self.pause),
            Cell::Number(self.longest),
            self.freed.map_or(Cell::Empty, Cell::Number),
            survival(self.freed, self.survived),
        ]
    }
}

fn survival(freed: Option<u64>, survived: u64) -> Cell {
    let Some(freed) = freed else { return Cell::Empty };
    let all = freed as f64 + survived as f64;
    if all > 0.0 { Cell::Percent(100.0 * survived as f64 / all) } else { Cell::Empty }
}
