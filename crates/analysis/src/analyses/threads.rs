//! Analysis `threads`: the threads of the program, with their stacks and the objects in their variables.

use super::objects::{address_text, top_parameter, type_name, values};
use super::thread_retained::kept_by_threads;
use super::{
    Analysis, Arguments, Certainty, Description, Detector, DetectorRank, DetectorText, Finding, Findings, FollowsFrom,
    LeakVerdict, Need, NextStep, Parameter, ParameterKind, TimeWindow,
};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, RowKind, TableHeader, bytes_text, count_text, several};
use crate::timeline::{Amount, Source, Unit};
use memory_city_formats::values::{HeapValues, TextLimits, ThreadStack};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(ThreadRetention)
}

struct ThreadRetention;

/// A thread and what it holds.
struct ThreadRow {
    stack: ThreadStack,
    held: Amount,
    retained: Option<Amount>,
}

const THREAD: usize = 0;
const FRAME: usize = 1;
const HELD: usize = 2;

impl Analysis for ThreadRetention {
    fn describe(&self) -> Description {
        Description {
            id: "threads",
            title: "Threads",
            explanation: "The threads at the last point in time: their stacks with methods and lines, and the objects that \
                variables of each method hold directly, by type; and what each thread alone keeps alive.",
            needs: &[Need::Objects, Need::Values],
            parameters: vec![
                top_parameter("How many threads are listed, those that retain most first"),
                Parameter {
                    id: "retained",
                    title: "Retained",
                    explanation: "Whether what each thread alone keeps alive is found out: that takes a walk over the heap",
                    kind: ParameterKind::Choice { default: "yes", choices: &["yes", "no"] },
                },
                Parameter {
                    id: "frames",
                    title: "Frames",
                    explanation: "How many methods of each stack are listed, from the innermost; the others are counted",
                    kind: ParameterKind::Number { default: 30, least: 0, most: 100_000 },
                },
            ],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let values = values(document, window.to, progress)?;
        let heap = values.heap();
        let stacks = values.threads();
        let found = out_of_memory(&values, &stacks, progress)?;
        let retained = match arguments.word("retained") {
            "yes" => kept_by_threads(heap, KeepRules::default(), &stacks, progress)?.into_iter().map(Some).collect(),
            _ => vec![None; stacks.len()],
        };
        let mut threads: Vec<ThreadRow> = stacks
            .into_iter()
            .zip(retained)
            .map(|(stack, retained)| ThreadRow { held: held(heap, stack.locals.iter().map(|l| l.1)), retained, stack })
            .collect();
        threads.sort_by_key(|t| (Reverse(t.retained.map(|r| r.bytes)), Reverse(t.held.bytes), t.stack.object));
        let all = threads.len();
        threads.truncate(arguments.count("top"));
        let objects: Vec<ObjectId> = threads.iter().map(|t| t.stack.object).collect();
        let names = match heap.is_redacted() {
            true => vec![None; objects.len()],
            false => values.texts(&objects, TextLimits::default(), progress)?,
        };
        let unnamed = if heap.is_redacted() { "(redacted)" } else { "(unnamed)" };
        let mut rows = Vec::new();
        for (ThreadRow { stack: thread, held: amount, retained }, name) in threads.iter().zip(names) {
            progress.check()?;
            rows.push(Row {
                kind: THREAD,
                depth: 0,
                cells: vec![
                    Cell::Text(name.filter(|name| !name.is_empty()).unwrap_or_else(|| unnamed.to_owned())),
                    Cell::Text(address_text(heap, thread.object)),
                    Cell::Empty,
                    Cell::Text(type_name(heap, thread.object).to_owned()),
                    Cell::Number(amount.objects),
                    Cell::Number(amount.bytes),
                    retained.map_or(Cell::Empty, |r| Cell::Number(r.bytes)),
                    Cell::Number(thread.frames.len() as u64),
                ],
            });
            stack_rows(heap, thread, arguments.count("frames"), &mut rows);
        }
        let left = (all - threads.len()) as u64;
        let header = TableHeader {
            id: "threads".into(),
            title: "Threads".into(),
            columns: columns(),
            kinds: kinds(),
            nested: true,
        };
        let table = ResultTable {
            header,
            rows,
            left_out: (left > 0).then(|| (left, "threads".to_owned())),
            empty_text: "The input names no thread.".into(),
        };
        let held: Amount = held(heap, threads.iter().flat_map(|t| t.stack.locals.iter().map(|l| l.1)));
        let notes = vec![format!(
            "{} threads; variables of those listed hold {} objects of {} directly.",
            count_text(all as u64),
            count_text(held.objects),
            bytes_text(held.bytes)
        )];
        let answers = found.iter().flat_map(|finding| finding.details.iter().cloned()).collect();
        let title = (!found.is_empty()).then(|| "Out of memory".to_owned());
        Ok(Findings { title, answers, tables: vec![table], found, notes, ..Findings::default() })
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(ThreadRetention)
}

/// Finds the threads that ran out of memory.
impl Detector for ThreadRetention {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Growth
    }

    fn arguments(&self, _: Option<&LeakVerdict>) -> &'static [(&'static str, &'static str)] {
        &[("retained", "no")]
    }

    fn text(&self, _: &Source) -> DetectorText {
        DetectorText::Early
    }
}

/// Threads that ran out of memory and are named; others are counted.
const NAMED: usize = 3;

/// The threads that ran out of memory: an error of that kind is just being made on their stacks.
fn out_of_memory(values: &HeapValues, stacks: &[ThreadStack], progress: &Progress) -> Result<Vec<Finding>> {
    let profile = values.heap().profile();
    let is_error = |frame: &str| profile.types.out_of_memory.iter().any(|of| frame.starts_with(of));
    let dying: Vec<(&ThreadStack, usize)> = stacks
        .iter()
        .filter_map(|stack| Some((stack, stack.frames.iter().rposition(|frame| is_error(frame))? + 1)))
        .collect();
    let named = &dying[..dying.len().min(NAMED)];
    let objects: Vec<ObjectId> = named.iter().map(|(stack, _)| stack.object).collect();
    let names = match values.heap().is_redacted() {
        true => vec![None; objects.len()],
        false => values.texts(&objects, TextLimits::default(), progress)?,
    };
    let finding = |((stack, below), name): (&(&ThreadStack, usize), Option<String>)| {
        let frames = &stack.frames[*below..];
        let own = frames.iter().find(|frame| profile.packages.is_own(frame));
        let at = match (own, frames.first()) {
            (Some(own), Some(first)) if own == first => format!(" at {own}"),
            (Some(own), Some(first)) => format!(" at {own}, in {first}"),
            (None, Some(first)) => format!(" in {first}"),
            _ => String::new(),
        };
        let thread =
            name.filter(|name| !name.is_empty()).map_or("A thread".to_owned(), |name| format!("Thread {name}"));
        let headline = format!("{thread} ran out of memory{at}");
        Finding {
            detector: "threads".to_owned(),
            details: vec![format!("{headline}.")],
            headline,
            certainty: Certainty::Counted,
            next: NextStep::run("threads"),
            ..Finding::default()
        }
    };
    let mut found: Vec<Finding> = named.iter().zip(names).map(finding).collect();
    if let (Some(more @ 1..), Some(last)) = (dying.len().checked_sub(NAMED), found.last_mut()) {
        let more = several(more as u64, "more thread", "more threads");
        last.details.push(format!("{more} did so, too: `analyse threads` has all stacks."));
    }
    Ok(found)
}

/// The objects, each counted once.
fn held(heap: &HeapState, objects: impl Iterator<Item = ObjectId>) -> Amount {
    let mut sum = Amount::default();
    for o in objects.collect::<HashSet<_>>() {
        sum += Amount { objects: 1, bytes: heap.size_of(o) };
    }
    sum
}

fn stack_rows(heap: &HeapState, thread: &ThreadStack, most: usize, rows: &mut Vec<Row>) {
    let mut by_frame: BTreeMap<Option<u32>, Vec<ObjectId>> = BTreeMap::new();
    for (frame, o) in &thread.locals {
        by_frame.entry(*frame).or_default().push(*o);
    }
    let places = (0..thread.frames.len() as u32).map(Some);
    // What belongs to no known method comes last.
    let unknown = by_frame.keys().copied().filter(|f| f.is_none_or(|f| f as usize >= thread.frames.len()));
    let places: Vec<Option<u32>> = places.chain(unknown).collect();
    for &place in places.iter().take(most) {
        let objects = by_frame.get(&place).map_or(&[][..], Vec::as_slice);
        let amount = held(heap, objects.iter().copied());
        let frame = place.and_then(|f| thread.frames.get(f as usize)).map_or("(unknown method)", |f| f);
        let none = || Cell::Empty;
        let some = |n: u64| if amount.objects > 0 { Cell::Number(n) } else { Cell::Empty };
        let [count, bytes] = [some(amount.objects), some(amount.bytes)];
        let cells = vec![none(), none(), Cell::Text(frame.to_owned()), none(), count, bytes, none(), none()];
        rows.push(Row { kind: FRAME, depth: 1, cells });
        let mut types: BTreeMap<&str, Amount> = BTreeMap::new();
        for o in objects.iter().collect::<HashSet<_>>() {
            *types.entry(type_name(heap, *o)).or_default() += Amount { objects: 1, bytes: heap.size_of(*o) };
        }
        for (name, amount) in types {
            let [count, bytes] = [Cell::Number(amount.objects), Cell::Number(amount.bytes)];
            let cells = vec![none(), none(), none(), Cell::Text(name.to_owned()), count, bytes, none(), none()];
            rows.push(Row { kind: HELD, depth: 2, cells });
        }
    }
    if let Some(more) = places.len().checked_sub(most).filter(|more| *more > 0) {
        let text = format!("({more} more methods)");
        let cells = vec![
            Cell::Empty,
            Cell::Empty,
            Cell::Text(text),
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
        ];
        rows.push(Row { kind: FRAME, depth: 1, cells });
    }
}

fn kinds() -> Vec<RowKind> {
    let kind = |id: &str, explanation: &str, sentence: &str| RowKind {
        id: id.into(),
        explanation: explanation.into(),
        sentence: sentence.into(),
    };
    vec![
        kind(
            "thread",
            "A thread, and the objects that its variables hold",
            "{thread} at {address}: {frames} methods hold {objects} objects of {bytes}; retained: {retained}",
        ),
        kind(
            "frame",
            "A method on its stack, the innermost first, and the objects that its variables hold",
            "{frame} {bytes}",
        ),
        kind("held", "Objects of a type among them", "{objects} {type}, {bytes}"),
    ]
}

fn columns() -> Vec<Column> {
    let (count, bytes) = (CellKind::Number(Unit::Count), CellKind::Number(Unit::Bytes));
    vec![
        Column::new("thread", "Thread", CellKind::Text, "Its name"),
        Column::new("address", "Address", CellKind::Text, "The thread object"),
        Column::new("frame", "Method", CellKind::Text, "The method that runs, and its line"),
        Column::new("type", "Type", CellKind::Text, "The class of the thread, or of the objects"),
        Column::new(
            "objects",
            "Objects",
            CellKind::Number(Unit::Objects),
            "Objects that variables hold directly, each once",
        ),
        Column::new("bytes", "Bytes", bytes, "Their shallow bytes"),
        Column::new(
            "retained",
            "Retained",
            bytes,
            "Bytes that would be freed if the thread ended: what its variables and its thread object keep, and nothing else does",
        ),
        Column::new("frames", "Methods", count, "How many methods are on its stack"),
    ]
}
