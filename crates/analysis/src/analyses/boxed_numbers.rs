//! Analysis of boxed numbers: how many number objects there are, and how many are equal.

use super::contents::{ContentTable, EqualObjects};
use super::objects::{Largest, address_text, group_parameter, objects_of_types, text_cell, top_parameter, type_name};
use super::{Analysis, Arguments, Description, Findings, Need, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::{FieldPlace, FieldValue, ObjectRecord, TextLimits};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapType, ObjectId, TypeId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(BoxedNumbers)
}

struct BoxedNumbers;

/// The bits that distinguish values of one class.
fn bits(value: FieldValue) -> Option<u64> {
    match value {
        FieldValue::Float(x) => Some(x.to_bits().into()),
        FieldValue::Double(x) => Some(x.to_bits()),
        value => value.integer().map(|n| n as u64),
    }
}

impl Analysis for BoxedNumbers {
    fn describe(&self) -> Description {
        Description {
            id: "boxed-numbers",
            title: "Boxed numbers",
            explanation: "Numbers, characters and truth values that are objects (java.lang.Integer and the like) at the last \
                point in time: how many there are, how many different ones, and how many bytes one box for each value would \
                save.",
            needs: &[Need::Objects, Need::Values],
            parameters: vec![
                group_parameter("The key of the group whose boxes are counted; all where it is empty"),
                top_parameter("How many values are listed, those with the most bytes first"),
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
        let types = &document.profile().types;
        let is_box = |t: &HeapType| types.boxes.contains(&&*t.name);
        let (values, boxes) = objects_of_types(document, window.to, arguments.word("group"), is_box, progress)?;
        let heap = values.heap();
        let place =
            |t: u32| if is_box(&heap.types()[t as usize]) { values.place(TypeId(t), types.boxed) } else { None };
        let places: Vec<Option<FieldPlace>> = (0..heap.types().len() as u32).map(place).collect();
        let contents = ContentTable::new();
        let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
            let of = heap.type_of(o);
            let (ObjectRecord::Instance(fields), Some(place)) = (record, places[of.0 as usize]) else { return };
            if let Some(bits) = fields.at(place).and_then(bits) {
                contents.add((of, bits), (bits ^ bits >> 8) as usize, o, heap.size_of(o), 0);
            }
        };
        values.scan(Some(&boxes), &visit, progress)?;

        let mut first = Largest::new(arguments.count("top"));
        let mut sums: BTreeMap<&str, BoxSum> = BTreeMap::new();
        let mut sum = BoxSum::default();
        let mut distinct = 0u64;
        for (_, equal) in contents.finish() {
            distinct += 1;
            sums.entry(type_name(heap, equal.first)).or_default().add(&equal);
            sum.add(&equal);
            first.add((equal.bytes, Reverse(equal.first), equal));
        }
        let listed: Vec<EqualObjects> = first.sorted().map(|(_, _, equal)| equal).collect();
        let examples: Vec<ObjectId> = listed.iter().map(|equal| equal.first).collect();
        let texts = values.texts(&examples, TextLimits::default(), progress)?;
        let value_rows = listed.iter().zip(texts).map(|(equal, text)| Row {
            cells: vec![
                text_cell(text),
                Cell::Text(type_name(heap, equal.first).to_owned()),
                Cell::Number(equal.count),
                Cell::Number(equal.bytes),
                Cell::Number(equal.bytes - equal.bytes / equal.count),
                Cell::Text(address_text(heap, equal.first)),
            ],
            ..Row::default()
        });
        let value_rows: Vec<Row> = value_rows.collect();
        let mut by_type: Vec<_> = sums.into_iter().collect();
        by_type.sort_by_key(|(name, sum)| (Reverse(sum.bytes), *name));
        let type_rows = by_type.into_iter().map(|(name, sum)| Row { cells: sum.cells(name), ..Row::default() });
        let left = distinct - value_rows.len() as u64;
        let notes = vec![format!(
            "{} boxes of {} different values take {}; one box for each value would save {}.",
            count_text(sum.count),
            count_text(sum.distinct),
            bytes_text(sum.bytes),
            bytes_text(sum.saved)
        )];
        let table = |id: &str, title: &str, columns, rows, left: u64| ResultTable {
            header: TableHeader { id: id.into(), title: title.into(), columns, ..TableHeader::default() },
            rows,
            left_out: (left > 0).then(|| (left, "values".to_owned())),
            empty_text: "There are no boxed numbers.".into(),
        };
        Ok(Findings {
            tables: vec![
                table("boxes", "Boxes by class", type_columns(), type_rows.collect(), 0),
                table("boxed_values", "Values in boxes", value_columns(), value_rows, left),
            ],
            notes,
            ..Findings::default()
        })
    }
}

/// Sums over boxes.
#[derive(Default)]
struct BoxSum {
    count: u64,
    distinct: u64,
    bytes: u64,
    saved: u64,
}

impl BoxSum {
    fn add(&mut self, equal: &EqualObjects) {
        self.count += equal.count;
        self.distinct += 1;
        self.bytes += equal.bytes;
        self.saved += equal.bytes - equal.bytes / equal.count;
    }

    fn cells(&self, name: &str) -> Vec<Cell> {
        vec![
            Cell::Text(name.to_owned()),
            Cell::Number(self.count),
            Cell::Number(self.distinct),
            Cell::Number(self.bytes),
            Cell::Number(self.saved),
        ]
    }
}

fn type_columns() -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    vec![
        Column::new("type", "Class", CellKind::Text, "The class of the boxes"),
        Column::new("copies", "Boxes", objects, "How many there are"),
        Column::new(
            "distinct",
            "Different values",
            CellKind::Number(Unit::Count),
            "How many different values they hold",
        ),
        Column::new("bytes", "Bytes", bytes, "Bytes of all of them"),
        Column::new("saved", "One box saves", bytes, "Bytes that one box for each value would save"),
    ]
}

fn value_columns() -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    vec![
        Column::of_program("text", "Value", "The value"),
        Column::new("type", "Class", CellKind::Text, "The class of the boxes"),
        Column::new("copies", "Boxes", objects, "Boxes that hold it"),
        Column::new("bytes", "Bytes", bytes, "Their bytes"),
        Column::new("saved", "One box saves", bytes, "Bytes of all of them but one"),
        Column::new("address", "First", CellKind::Text, "One of them"),
    ]
}
