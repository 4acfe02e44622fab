//! Analysis of strengths: the parts of the heap that soft references alone keep, or weaker ones, with the largest types of each.

use super::objects::{history, top_parameter, type_name};
use super::{
    Analysis, Arguments, Certainty, Description, Detector, DetectorRank, Finding, Findings, FollowsFrom, Need,
    NextStep, TimeWindow,
};
use crate::group::Reads;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Amount, Source, Unit};
use memory_city_heap::HeapState;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{KeptBy, Strengths};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(KeptByReferences)
}

struct KeptByReferences;

/// Weaker references keep much from this part of the heap on: one in so many.
const MUCH: u64 = 100;

impl Analysis for KeptByReferences {
    fn describe(&self) -> Description {
        Description {
            id: "kept-by",
            title: "What weaker references keep",
            explanation: "How much of the heap plain references keep at the last point in time, how much soft references \
                alone do (the VM lets go of it when memory is short), what only weak, phantom or finalizer references \
                lead to, and garbage; with the types that have most of what is not kept by plain references.",
            needs: &[Need::Objects],
            parameters: vec![top_parameter("How many types are listed, those with most bytes first")],
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
        let heap = history(document)?.heap(window.to, progress)?;
        // Of recorded heaps what must be held by roots is known without them.
        let mut needs = Reads::REFERENCES;
        needs.set(Reads::ROOTS, !document.is_recorded());
        let missing = needs.difference(Reads::known_of(&heap));
        if !missing.is_empty() {
            return Err(Error::Unusable {
                what: format!(
                    "How strongly objects are kept cannot be found: that needs {}, which the input does not hold",
                    missing.names()
                ),
                remedy: "Take a heap dump, or record a trace with references and GC roots".into(),
            });
        }
        let strengths = Strengths::new(&heap, progress)?;
        let amounts = strengths.amounts(&heap, heap.objects());
        let total: u64 = amounts.iter().map(|a| a.bytes).sum();
        let percent = |bytes: u64| 100.0 * bytes as f64 / total.max(1) as f64;
        let answer = |by: KeptBy| {
            let Amount { objects, bytes } = amounts[by as usize];
            let objects = format!("{} objects, {} ({:.1} %)", count_text(objects), bytes_text(bytes), percent(bytes));
            match by {
                KeptBy::Soft => {
                    format!("Kept by soft references alone: {objects}. The VM lets go of it when memory is short.")
                }
                _ => format!("Kept by weak, phantom or finalizer references alone: {objects}."),
            }
        };
        let weaker = || [KeptBy::Soft, KeptBy::Weak].into_iter().filter(|&by| amounts[by as usize].objects > 0);
        let answers: Vec<String> = weaker().map(answer).collect();
        let row = |by: KeptBy| Row {
            cells: vec![
                Cell::Text(by.title().into()),
                Cell::Number(amounts[by as usize].objects),
                Cell::Number(amounts[by as usize].bytes),
                Cell::Percent(percent(amounts[by as usize].bytes)),
            ],
            ..Row::default()
        };
        let columns = vec![
            Column::new("by", "Kept by", CellKind::Text, "The strongest references that keep it"),
            Column::new("objects", "Objects", CellKind::Number(Unit::Objects), "How many objects"),
            Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "What they take"),
            Column::new("share", "Share", CellKind::Percent, "Part of all bytes of the input"),
        ];
        let header = TableHeader { id: "strengths".into(), title: "Kept by".into(), columns, ..TableHeader::default() };
        let table = ResultTable { header, rows: KeptBy::ALL.map(row).into(), ..ResultTable::default() };
        let of_weaker: u64 = weaker().map(|by| amounts[by as usize].bytes).sum();
        let is_much = of_weaker.saturating_mul(MUCH) >= total;
        let finding = |(by, answer): (KeptBy, &String)| {
            let row = KeptBy::ALL.iter().position(|&of| of == by);
            let finding = Finding::of_row("kept-by", vec![answer.clone()], &table, row);
            Finding { certainty: Certainty::Counted, next: NextStep::run("kept-by"), ..finding }
        };
        let found = weaker().zip(&answers).filter(|_| is_much).map(finding).collect();
        let types = types(&heap, &strengths, arguments.count("top"), progress)?;
        Ok(Findings { answers, tables: vec![table, types], found, ..Findings::default() })
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(KeptByReferences)
}

impl Detector for KeptByReferences {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Heap
    }
}

/// The types of objects without a plain reference, by strength, most bytes first.
fn types(heap: &HeapState, strengths: &Strengths, top: usize, progress: &Progress) -> Result<ResultTable> {
    let mut types: BTreeMap<(KeptBy, &str), Amount> = BTreeMap::new();
    for o in heap.objects() {
        if o.0.is_multiple_of(1 << 18) {
            progress.check()?;
        }
        let by = strengths.of(o);
        if by != KeptBy::Strong {
            *types.entry((by, type_name(heap, o))).or_default() += Amount { objects: 1, bytes: heap.size_of(o) };
        }
    }
    let mut types: Vec<_> = types.into_iter().collect();
    types.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.bytes));
    let left = types.len().saturating_sub(top) as u64;
    types.truncate(top);
    let rows = types.into_iter().map(|((by, of), amount)| Row {
        cells: vec![
            Cell::Text(of.to_owned()),
            Cell::Text(by.title().into()),
            Cell::Number(amount.objects),
            Cell::Number(amount.bytes),
        ],
        ..Row::default()
    });
    let columns = vec![
        Column::new("type", "Type", CellKind::Text, "The type of the objects"),
        Column::new("by", "Kept by", CellKind::Text, "The strongest references that keep them"),
        Column::new("objects", "Objects", CellKind::Number(Unit::Objects), "How many objects"),
        Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "What they take"),
    ];
    let header = TableHeader {
        id: "types".into(),
        title: "Types of what plain references do not keep".into(),
        columns,
        ..TableHeader::default()
    };
    Ok(ResultTable {
        header,
        rows: rows.collect(),
        left_out: (left > 0).then(|| (left, "types".to_owned())),
        empty_text: "Plain references keep all of the heap.".into(),
    })
}
