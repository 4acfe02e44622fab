//! Analysis of the finalizer queue: garbage that waits for its `finalize` method.

use super::objects::{Largest, address_text, text_cell, top_parameter, type_name, values};
use super::{Analysis, Arguments, Description, Findings, Need, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Amount, Source, Unit};
use memory_city_formats::values::{
    DetailLimits, FieldPlace, FieldValue, HeapValues, ObjectDetails, ObjectRecord, TextLimits,
};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(FinalizerQueue)
}

struct FinalizerQueue;

/// A reference to an object with a finalizer.
#[derive(Clone, Copy)]
struct FinalizerEntry {
    referent: Option<ObjectId>,
    /// The next in the queue.
    next: Option<ObjectId>,
}

/// All finalizers of the heap state, and those that wait, in the order of the queue.
#[derive(Default)]
struct FinalizerEntries {
    all: FxHashMap<ObjectId, FinalizerEntry>,
    waiting: Vec<ObjectId>,
}

fn read(values: &HeapValues, progress: &Progress) -> Result<FinalizerEntries> {
    let heap = values.heap();
    let Some(known) = heap.profile().types.finalizers else { return Ok(FinalizerEntries::default()) };
    let types: Vec<TypeId> = (0..heap.types().len() as u32)
        .map(TypeId)
        .filter(|t| known.types.contains(&&*heap.types()[t.0 as usize].name))
        .collect();
    let place = |t: TypeId, names: &[&str]| -> Vec<FieldPlace> {
        let of_name =
            |name: &&str| known.classes.iter().find_map(|class| values.layouts().place_in(heap, t, class, name));
        names.iter().filter_map(of_name).collect()
    };
    let places: FxHashMap<TypeId, [Vec<FieldPlace>; 2]> =
        types.iter().map(|&t| (t, [place(t, known.referent), place(t, known.next)])).collect();
    let mut wanted = BitSet::new(heap.object_count());
    for o in heap.objects().filter(|&o| places.contains_key(&heap.type_of(o))) {
        wanted.insert(o.0);
    }
    let all: Mutex<FxHashMap<ObjectId, FinalizerEntry>> = Mutex::default();
    let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
        let (ObjectRecord::Instance(fields), Some(places)) = (record, places.get(&heap.type_of(o))) else { return };
        let [referent, next] =
            places.each_ref().map(|of| of.iter().find_map(|&p| fields.at(p).and_then(FieldValue::object)));
        all.lock().unwrap_or_else(|e| e.into_inner()).insert(o, FinalizerEntry { referent, next });
    };
    values.scan(Some(&wanted), &visit, progress)?;
    let all = all.into_inner().unwrap_or_else(|e| e.into_inner());

    let details = |objects: Vec<ObjectId>| values.details(&objects, DetailLimits::default(), progress);
    let object = |name: &'static str| move |d: &ObjectDetails| d.field(name).and_then(FieldValue::object);
    let classes = types.iter().filter_map(|&t| heap.mirror_of(t)).collect();
    let queues = details(classes)?.iter().filter_map(object(known.queue)).collect();
    let heads: Vec<ObjectId> = details(queues)?.iter().filter_map(object(known.head)).collect();
    let mut seen = HashSet::new();
    let mut waiting = Vec::new();
    for head in heads {
        // The last one refers to itself. A damaged queue may lead back.
        let mut at = Some(head);
        while let Some(entry) = at.filter(|o| seen.insert(*o)) {
            progress.check()?;
            waiting.push(entry);
            at = all.get(&entry).and_then(|e| e.next);
        }
    }
    Ok(FinalizerEntries { all, waiting })
}

impl Analysis for FinalizerQueue {
    fn describe(&self) -> Description {
        Description {
            id: "finalizer-queue",
            title: "Finalizer queue",
            explanation: "Objects that wait for their finalizer at the last point in time: garbage that stays in memory, with \
                all it refers to, until one thread has run their finalizers one after the other. A long queue means that it \
                does not keep up, or that a finalizer hangs.",
            needs: &[Need::Objects, Need::Values],
            parameters: vec![top_parameter("How many single objects are listed, the largest first")],
        }
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
        let found = read(&values, progress)?;
        let mut types: BTreeMap<&str, (Amount, u64)> = BTreeMap::new();
        for entry in found.all.values() {
            if let Some(referent) = entry.referent {
                types.entry(type_name(heap, referent)).or_default().1 += 1;
            }
        }
        let mut sum = Amount::default();
        let mut first = Largest::new(arguments.count("top"));
        for (position, entry) in found.waiting.iter().enumerate() {
            let Some(referent) = found.all.get(entry).and_then(|e| e.referent) else { continue };
            let amount = Amount { objects: 1, bytes: heap.size_of(referent) };
            sum += amount;
            types.entry(type_name(heap, referent)).or_default().0 += amount;
            first.add((amount.bytes, Reverse(position), referent));
        }
        let listed: Vec<(usize, ObjectId)> = first.sorted().map(|(_, Reverse(at), o)| (at, o)).collect();
        let objects: Vec<ObjectId> = listed.iter().map(|(_, o)| *o).collect();
        let texts = values.texts(&objects, TextLimits::default(), progress)?;
        let object_rows = listed.iter().zip(texts).map(|(&(at, o), text)| Row {
            cells: vec![
                Cell::Text(address_text(heap, o)),
                Cell::Text(type_name(heap, o).to_owned()),
                Cell::Number(heap.size_of(o)),
                Cell::Number(at as u64 + 1),
                text_cell(text),
            ],
            ..Row::default()
        });
        let object_rows: Vec<Row> = object_rows.collect();
        let left = sum.objects - object_rows.len() as u64;
        let mut by_type: Vec<_> = types.into_iter().collect();
        by_type.sort_by_key(|(name, (waiting, registered))| (Reverse(waiting.objects), Reverse(*registered), *name));
        let type_rows = by_type.into_iter().map(|(name, (waiting, registered))| Row {
            cells: vec![
                Cell::Text(name.to_owned()),
                Cell::Number(waiting.objects),
                Cell::Number(waiting.bytes),
                Cell::Number(registered),
            ],
            ..Row::default()
        });
        let table = |id: &str, title: &str, columns, rows, left: u64, empty: &str| ResultTable {
            header: TableHeader { id: id.into(), title: title.into(), columns, ..TableHeader::default() },
            rows,
            left_out: (left > 0).then(|| (left, "objects".to_owned())),
            empty_text: empty.to_owned(),
        };
        let notes = vec![format!(
            "{} objects wait for their finalizer and take {} themselves; {} objects have one.",
            count_text(sum.objects),
            bytes_text(sum.bytes),
            count_text(found.all.len() as u64)
        )];
        Ok(Findings {
            tables: vec![
                table(
                    "finalizers",
                    "Objects with finalizers by class",
                    type_columns(),
                    type_rows.collect(),
                    0,
                    "No object has a finalizer.",
                ),
                table(
                    "waiting",
                    "Objects that wait for their finalizer",
                    object_columns(),
                    object_rows,
                    left,
                    "No object waits for its finalizer.",
                ),
            ],
            notes,
            ..Findings::default()
        })
    }
}

fn type_columns() -> Vec<Column> {
    let objects = CellKind::Number(Unit::Objects);
    vec![
        Column::new("type", "Class", CellKind::Text, "A class with a finalizer"),
        Column::new("waiting", "Waiting", objects, "Objects that wait for their finalizer"),
        Column::new("bytes", "Bytes", CellKind::Number(Unit::Bytes), "Their shallow bytes"),
        Column::new("registered", "With finalizer", objects, "Objects whose finalizer has not run, waiting or alive"),
    ]
}

fn object_columns() -> Vec<Column> {
    vec![
        Column::new("address", "Address", CellKind::Text, "Where it is; names it in this state of the heap"),
        Column::new("type", "Type", CellKind::Text, "Its class"),
        Column::new("size", "Size", CellKind::Number(Unit::Bytes), "Its shallow size"),
        Column::new("position", "Position", CellKind::Number(Unit::Count), "Its place in the queue, counted from 1"),
        Column::of_program("text", "Value", "What it says: the text of a string, a number, a name"),
    ]
}
