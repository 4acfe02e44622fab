//! Analysis `structures`: the data structures of a heap state, one by one and by type.

use super::biggest::owners_text;
use super::object_rows::OwnerRows;
use super::objects::{Largest, address_text, history, text_cell, top_parameter, type_name};
use super::paths::{rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, Parameter, ParameterKind, TimeWindow};
use crate::ownership::anchors::Anchors;
use crate::structures::{FieldEnd, FieldStart, StructureFill, descriptions, field_ends, fills};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::{HeapValues, TextLimits};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{FoundStructures, StructureExtent, StructureRules};
use memory_city_heap::{Amount, HeapState, ObjectId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Structures)
}

struct Structures;

impl Analysis for Structures {
    fn describe(&self) -> Description {
        Description {
            id: "structures",
            title: "Data structures",
            explanation: "The data structures at the last point in time, as descriptions of their types say: how many \
                elements each has, how much of its room is used, how large it is itself, and what it alone keeps alive.",
            needs: &[Need::Objects],
            parameters: vec![
                Parameter {
                    id: "which",
                    title: "Which",
                    explanation: "top: only structures that no other structure owns; all: also those inside others",
                    kind: ParameterKind::Choice { default: "top", choices: &["top", "all"] },
                },
                top_parameter("How many structures are listed, those first that keep most"),
                soft_parameter(),
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
        let history = history(document)?;
        let (heap, dominators) = history.dominators(window.to, rules(arguments), progress)?;
        let values = history.values(window.to, progress)?;
        let descriptions = descriptions(heap.profile())?;
        let rules = StructureRules::new(&heap, &descriptions, progress)?;
        let found = FoundStructures::new(&heap, &rules, Some(heap.reachable()), progress)?;
        let outermost = found.outermost(&dominators);
        let view = StructureView {
            fills: fills(&heap, values.as_ref(), &rules, &found, progress)?,
            heap: &heap,
            dominators: &dominators,
            rules,
            found,
            outermost,
        };
        let only_top = arguments.word("which") == "top";
        let mut largest = Largest::new(arguments.count("top"));
        let mut sums: BTreeMap<&str, StructureSum> = BTreeMap::new();
        let (mut listable, mut all, mut partial) = (0u64, StructureSum::default(), 0u64);
        for at in 0..view.found.heads().len() {
            if at.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            let (head, is_top) = (view.found.heads()[at], view.is_outermost(at));
            let retained = dominators.retained(head);
            if is_top || !only_top {
                listable += 1;
                largest.add((retained.bytes, Reverse(at)));
            }
            partial += u64::from(!view.found.extents()[at].is_whole);
            for sum in [sums.entry(type_name(&heap, head)).or_default(), &mut all] {
                sum.add(&view.found.extents()[at], view.fills[at], is_top.then_some(retained));
            }
        }
        let listed: Vec<usize> = largest.sorted().map(|(_, Reverse(at))| at).collect();
        let left_out = listable - listed.len() as u64;
        let tables = vec![view.one_by_one(&listed, left_out, values.as_ref(), progress)?, by_type(sums, &dominators)];
        let total = dominators.total();
        let mut notes = vec![
            format!(
                "{} data structures, of {} objects and {} themselves. {} of them no other structure owns: they keep {} \
                 objects, {}. No structure keeps the other {} objects, {}.",
                count_text(all.count),
                count_text(all.objects),
                bytes_text(all.bytes),
                count_text(all.outermost),
                count_text(all.retained.objects),
                bytes_text(all.retained.bytes),
                count_text(total.objects.saturating_sub(all.retained.objects)),
                bytes_text(total.bytes.saturating_sub(all.retained.bytes)),
            ),
            "A part that several structures share counts with each of them.".to_owned(),
        ];
        if partial > 0 {
            notes.push(format!(
                "{} structures share so many parts with others that their parts and leaves were not all counted: these \
                 numbers are the least they can be.",
                count_text(partial)
            ));
        }
        if values.is_none() || heap.is_redacted() {
            notes.push(
                "This input does not say what fields hold: elements are known only where parts can be counted.".into(),
            );
        }
        Ok(Findings { tables, notes, ..Findings::default() })
    }
}

/// The structures of a heap state, and what they keep.
struct StructureView<'a> {
    heap: &'a HeapState,
    dominators: &'a Dominators,
    rules: StructureRules<'a>,
    found: FoundStructures,
    /// By object.
    outermost: Vec<u32>,
    fills: Vec<StructureFill>,
}

impl StructureView<'_> {
    fn is_outermost(&self, at: usize) -> bool {
        self.outermost[self.found.heads()[at].0 as usize] as usize == at + 1
    }

    fn one_by_one(
        &self,
        listed: &[usize],
        left_out: u64,
        values: Option<&HeapValues>,
        progress: &Progress,
    ) -> Result<ResultTable> {
        let names = self.names(listed, values, progress)?;
        let graph = self.dominators.graph(self.heap);
        let anchors = Anchors::new(&graph);
        let objects = OwnerRows::new(self.heap, self.dominators);
        let row = |(&at, name): (&usize, Option<String>)| {
            let (head, extent, fill) = (self.found.heads()[at], self.found.extents()[at], self.fills[at]);
            let mut cells = objects.names(head).to_vec();
            cells.push(text_cell(name));
            cells.extend([fill.elements, fill.capacity].map(|n| n.map_or(Cell::Empty, Cell::Number)));
            cells.push(used(fill.elements, fill.capacity));
            cells.extend([u64::from(extent.parts) + 1, extent.bytes, extent.leaves.into()].map(Cell::Number));
            cells.extend(objects.retained(self.dominators.retained(head)));
            cells.push(Cell::Text(owners_text(self.heap, self.dominators, &anchors, &objects, head)));
            Row { cells, ..Row::default() }
        };
        let rows = listed.iter().zip(names).map(row).collect();
        let (bytes, objects) = (CellKind::Number(Unit::Bytes), CellKind::Number(Unit::Objects));
        let mut columns = OwnerRows::name_columns().to_vec();
        columns.push(Column::of_program("name", "Name", "Its name, where its description says which field has one"));
        columns.extend(fill_columns());
        columns.extend([
            Column::new("objects", "Objects", objects, "Its head and its parts"),
            Column::new("bytes", "Own", bytes, "Shallow bytes of its head and its parts"),
            Column::new("leaves", "Leaves", objects, "Objects that are its contents, each once"),
        ]);
        columns.extend(OwnerRows::retained_columns("What would be freed if it were, its contents included"));
        columns.push(Column::new(
            "owners",
            "Owners",
            CellKind::Text,
            "What alone keeps it alive, upwards; at last the root",
        ));
        let header =
            TableHeader { id: "structures".into(), title: "Data structures".into(), columns, ..TableHeader::default() };
        Ok(ResultTable {
            header,
            rows,
            left_out: Some((left_out, "structures that keep less".to_owned())),
            empty_text: "No object is the head of a structure that is described.".to_owned(),
        })
    }

    /// The names of structures, where their descriptions say which field has one.
    fn names(&self, listed: &[usize], values: Option<&HeapValues>, progress: &Progress) -> Result<Vec<Option<String>>> {
        let mut names = vec![None; listed.len()];
        let Some(values) = values else { return Ok(names) };
        let head = |at: usize| self.found.heads()[at];
        let described = |at: usize| self.rules.of(self.heap.type_of(head(at)));
        let starts = listed.iter().enumerate().flat_map(|(row, &at)| {
            described(at).into_iter().flat_map(move |of| {
                of.label().iter().map(move |path| FieldStart {
                    id: row as u32,
                    object: head(at),
                    path,
                    declared_by: of.name(),
                })
            })
        });
        let mut texts: Vec<(usize, ObjectId)> = Vec::new();
        let take = |row: u32, end| {
            let row = row as usize;
            match end {
                FieldEnd::Object(o) if texts.iter().all(|(other, _)| *other != row) => texts.push((row, o)),
                FieldEnd::Number(n) if names[row].is_none() => names[row] = Some(n.to_string()),
                FieldEnd::Length(_, n) if names[row].is_none() => names[row] = Some(n.to_string()),
                _ => (),
            }
        };
        field_ends(values, starts, take, progress)?;
        let objects: Vec<ObjectId> = texts.iter().map(|(_, o)| *o).collect();
        for ((row, o), text) in texts.iter().zip(values.texts(&objects, TextLimits::default(), progress)?) {
            names[*row] = text.or_else(|| Some(address_text(self.heap, *o)));
        }
        Ok(names)
    }
}

/// Sums over structures.
#[derive(Clone, Copy, Default)]
struct StructureSum {
    count: u64,
    outermost: u64,
    objects: u64,
    bytes: u64,
    empty: u64,
    /// Where any of them says how many.
    elements: Option<u64>,
    /// Elements of those whose capacity is known, and these capacities.
    in_room: u64,
    room: u64,
    /// Of the outermost.
    retained: Amount,
}

impl StructureSum {
    fn add(&mut self, extent: &StructureExtent, fill: StructureFill, retained: Option<Amount>) {
        self.count += 1;
        self.objects += u64::from(extent.parts) + 1;
        self.bytes = self.bytes.saturating_add(extent.bytes);
        self.empty += u64::from(fill.elements == Some(0));
        self.elements = fill.elements.map(|n| n.saturating_add(self.elements.unwrap_or(0))).or(self.elements);
        if let (Some(elements), Some(capacity)) = (fill.elements, fill.capacity) {
            self.in_room = self.in_room.saturating_add(elements);
            self.room = self.room.saturating_add(capacity);
        }
        if let Some(retained) = retained {
            self.outermost += 1;
            self.retained += retained;
        }
    }
}

fn used(elements: Option<u64>, capacity: Option<u64>) -> Cell {
    match (elements, capacity) {
        (Some(elements), Some(capacity @ 1..)) => Cell::Percent(100.0 * elements as f64 / capacity as f64),
        _ => Cell::Empty,
    }
}

fn fill_columns() -> [Column; 3] {
    let count = CellKind::Number(Unit::Count);
    [
        Column::new("elements", "Elements", count, "Elements, or entries of maps; empty where nothing says how many"),
        Column::new("capacity", "Room", count, "How many elements there is room for, or slots of a hash table"),
        Column::new("used", "Used", CellKind::Percent, "Elements as a share of that"),
    ]
}

fn by_type(sums: BTreeMap<&str, StructureSum>, dominators: &Dominators) -> ResultTable {
    let total = dominators.total().bytes.max(1);
    let mut sorted: Vec<_> = sums.into_iter().collect();
    sorted.sort_by_key(|(name, sum)| (Reverse(sum.retained.bytes), Reverse(sum.bytes), *name));
    let rows = sorted.into_iter().map(|(name, sum)| Row {
        cells: vec![
            Cell::Text(name.to_owned()),
            Cell::Number(sum.count),
            Cell::Number(sum.outermost),
            sum.elements.map_or(Cell::Empty, Cell::Number),
            if sum.room > 0 { Cell::Number(sum.room) } else { Cell::Empty },
            used(Some(sum.in_room), Some(sum.room)),
            Cell::Number(sum.empty),
            Cell::Number(sum.objects),
            Cell::Number(sum.bytes),
            Cell::Number(sum.retained.bytes),
            Cell::Percent(100.0 * sum.retained.bytes as f64 / total as f64),
        ],
        ..Row::default()
    });
    let rows: Vec<Row> = rows.collect();
    let (bytes, objects) = (CellKind::Number(Unit::Bytes), CellKind::Number(Unit::Objects));
    let mut columns = vec![
        Column::new("type", "Type", CellKind::Text, "Type of the head"),
        Column::new("count", "Structures", objects, "How many there are"),
        Column::new("top", "Owned by none", objects, "How many of them no other structure owns"),
    ];
    columns.extend(fill_columns());
    columns.extend([
        Column::new("empty", "Empty", objects, "Structures without an element"),
        Column::new("objects", "Objects", objects, "Their heads and parts"),
        Column::new("bytes", "Own", bytes, "Shallow bytes of these"),
        Column::new("retained", "Retained", bytes, "What those keep that no other structure owns"),
        Column::new("share", "Share", CellKind::Percent, "Of all that GC roots keep"),
    ]);
    let title = "Data structures by type".into();
    ResultTable {
        header: TableHeader { id: "types".into(), title, columns, ..TableHeader::default() },
        rows,
        left_out: None,
        empty_text: "No type of this heap is described as a head.".to_owned(),
    }
}
