//! Analysis of arrays with equal elements: how many there are, and the saving if one of each were kept.

use super::contents::{ContentHasher, ContentTable, EqualObjects};
use super::objects::{
    Largest, address_text, group_parameter, members, objects_of_types, text_cell, top_parameter, type_name,
};
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::{ObjectRecord, TextLimits};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, TypeKind};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(DuplicateArrays)
}

struct DuplicateArrays;

/// The arrays that strings refer to.
fn arrays_in_strings(heap: &HeapState) -> BitSet {
    let mut arrays = BitSet::new(heap.object_count());
    let is_string: Vec<bool> = heap.types().iter().map(|t| heap.profile().types.is_text(&t.name)).collect();
    for string in heap.objects().filter(|&o| is_string[heap.type_of(o).0 as usize]) {
        heap.references(string).iter().for_each(|array| {
            arrays.insert(array.0);
        });
    }
    arrays
}

impl Analysis for DuplicateArrays {
    fn describe(&self) -> Description {
        Description {
            id: "duplicate-arrays",
            title: "Duplicate arrays",
            explanation: "Arrays of the same type with equal elements at the last point in time (of references: to the same \
                objects): how many copies there are, and how many bytes one copy of each would save.",
            needs: &[Need::Objects, Need::Values],
            parameters: vec![
                group_parameter("The key of the group whose arrays are compared; all arrays where it is empty"),
                top_parameter("How many contents are listed, those that would save most first"),
                Parameter {
                    id: "strings",
                    title: "Arrays of strings",
                    explanation: "Whether arrays in which strings keep their text are compared too: duplicate-strings tells \
                        more of them",
                    kind: ParameterKind::Choice { default: "no", choices: &["no", "yes"] },
                },
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
        let is_array = |t: &memory_city_heap::HeapType| t.kind != TypeKind::Instance;
        let (values, mut wanted) = objects_of_types(document, window.to, arguments.word("group"), is_array, progress)?;
        let heap = values.heap();
        if arguments.word("strings") == "no" {
            let in_strings = arrays_in_strings(heap);
            let mut others = BitSet::new(heap.object_count());
            members(heap, &wanted).filter(|o| !in_strings.contains(o.0)).for_each(|o| {
                others.insert(o.0);
            });
            wanted = others;
        }
        let (hasher, contents) = (ContentHasher::new(), ContentTable::new());
        let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
            let (bytes, length) = match record {
                ObjectRecord::PrimitiveArray(elements) => (elements.bytes(), elements.len() as usize),
                ObjectRecord::ObjectArray(elements) => (elements.bytes(), elements.len()),
                _ => return,
            };
            // Where the dump leaves contents out, nothing is known to be equal.
            if bytes.is_empty() && length > 0 {
                return;
            }
            let hash = hasher.hash(heap.type_of(o).0, bytes);
            contents.add(hash, hash as usize, o, heap.size_of(o), 0);
        };
        values.scan(Some(&wanted), &visit, progress)?;

        let mut first = Largest::new(arguments.count("top"));
        let mut types: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let (mut distinct, mut repeated, mut copies, mut saved_in_all) = (0u64, 0u64, 0u64, 0u64);
        for (_, equal) in contents.finish() {
            distinct += 1;
            if equal.count > 1 {
                repeated += 1;
                copies += equal.count - 1;
                // All are of the same size.
                let saved = equal.bytes - equal.bytes / equal.count;
                saved_in_all += saved;
                let of_type = types.entry(type_name(heap, equal.first)).or_default();
                of_type.0 += equal.count - 1;
                of_type.1 += saved;
                first.add((saved, Reverse(equal.first), equal));
            }
        }
        let listed: Vec<(u64, EqualObjects)> = first.sorted().map(|(saved, _, equal)| (saved, equal)).collect();
        let examples: Vec<ObjectId> = listed.iter().map(|(_, equal)| equal.first).collect();
        let texts = values.texts(&examples, TextLimits { characters: 40, elements: 8 }, progress)?;
        let rows: Vec<Row> =
            listed.iter().zip(texts).map(|((saved, equal), text)| row(heap, equal, *saved, text)).collect();
        let left = repeated - rows.len() as u64;
        let notes = vec![
            format!(
                "{} arrays have {} different contents; {} are copies of others: one of each would save {}.",
                count_text(wanted.count() as u64),
                count_text(distinct),
                count_text(copies),
                bytes_text(saved_in_all)
            ),
            "Contents are compared by 128 bits of hash.".to_owned(),
        ];
        let mut by_type: Vec<_> = types.into_iter().collect();
        by_type.sort_by_key(|(name, (_, saved))| (Reverse(*saved), *name));
        let type_rows = by_type.into_iter().map(|(name, (copies, saved))| Row {
            cells: vec![Cell::Text(name.to_owned()), Cell::Number(copies), Cell::Number(saved)],
            ..Row::default()
        });
        let table = |id: &str, title: &str, columns, rows, left: u64| ResultTable {
            header: TableHeader { id: id.into(), title: title.into(), columns, ..TableHeader::default() },
            rows,
            left_out: (left > 0).then(|| (left, "contents of several arrays".to_owned())),
            empty_text: "No two arrays have equal elements.".into(),
        };
        Ok(Findings {
            tables: vec![
                table("arrays", "Arrays with equal elements", columns(), rows, left),
                table("array_types", "Copies by type", type_columns(), type_rows.collect(), 0),
            ],
            notes,
            ..Findings::default()
        })
    }
}

fn row(heap: &HeapState, equal: &EqualObjects, saved: u64, text: Option<String>) -> Row {
    Row {
        cells: vec![
            Cell::Text(type_name(heap, equal.first).to_owned()),
            Cell::Number(heap.array_length(equal.first).unwrap_or(0).into()),
            text_cell(text),
            Cell::Number(equal.count),
            Cell::Number(equal.bytes),
            Cell::Number(saved),
            Cell::Text(address_text(heap, equal.first)),
        ],
        ..Row::default()
    }
}

fn columns() -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    vec![
        Column::new("type", "Type", CellKind::Text, "The type of the arrays"),
        Column::new("length", "Length", CellKind::Number(Unit::Count), "Elements of each"),
        Column::of_program("text", "Elements", "The first of them; empty for references"),
        Column::new("copies", "Arrays", objects, "Arrays with these elements"),
        Column::new("bytes", "Bytes", bytes, "Bytes of all of them"),
        Column::new("saved", "One copy saves", bytes, "Bytes of all of them but one"),
        Column::new("address", "First", CellKind::Text, "One of the arrays"),
    ]
}

fn type_columns() -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    vec![
        Column::new("type", "Type", CellKind::Text, "The type of the arrays"),
        Column::new("copies", "Copies", objects, "Arrays whose elements another one has too"),
        Column::new("saved", "One copy saves", bytes, "Bytes that one array of each content would save"),
    ]
}
