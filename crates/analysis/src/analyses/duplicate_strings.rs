//! Analysis of strings with equal text: how many there are, and the saving if one of each were kept.

use super::contents::{ContentHasher, ContentTable, EqualObjects};
use super::objects::{
    Largest, SharedBits, address_text, group_parameter, members, objects_of_types, text_cell, top_parameter,
};
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::{FieldPlace, HeapValues, ObjectRecord, TextLimits};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::Mutex;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(DuplicateStrings)
}

struct DuplicateStrings;

/// Where the text of a string stands.
struct StringPlaces {
    value: Option<FieldPlace>,
    coder: Option<FieldPlace>,
    /// Old JDKs let strings share parts of arrays.
    offset: bool,
}

/// The arrays of strings.
struct StringArrays {
    /// Each array once.
    arrays: BitSet,
    /// Strings with two bytes a character in arrays of bytes.
    wide: SharedBits,
    /// How many strings beyond the first refer to an array.
    more: FxHashMap<ObjectId, u64>,
    strings: u64,
    /// Bytes of a string without its array.
    string_bytes: u64,
    sliced: bool,
}

fn arrays_of_strings(values: &HeapValues, strings: &BitSet, progress: &Progress) -> Result<StringArrays> {
    let heap = values.heap();
    let n = heap.object_count();
    let places: Vec<Option<StringPlaces>> = (0..heap.types().len() as u32)
        .map(TypeId)
        .map(|t| {
            let text = heap.profile().types.text.filter(|text| heap.types()[t.0 as usize].name == text.name)?;
            Some(StringPlaces {
                value: values.place(t, text.value),
                coder: values.place(t, text.coder),
                offset: values.place(t, text.offset).is_some(),
            })
        })
        .collect();
    let (arrays, wide) = (SharedBits::new(n), SharedBits::new(n));
    let more: Mutex<FxHashMap<ObjectId, u64>> = Mutex::default();
    let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
        let ObjectRecord::Instance(fields) = record else { return };
        let Some(places) = &places[heap.type_of(o).0 as usize] else { return };
        let Some(array) = places.value.and_then(|p| fields.at(p)?.object()) else { return };
        if places.coder.and_then(|p| fields.at(p)?.integer()) == Some(1) {
            wide.insert(array);
        }
        if !arrays.insert(array) {
            *more.lock().unwrap_or_else(|e| e.into_inner()).entry(array).or_default() += 1;
        }
    };
    values.scan(Some(strings), &visit, progress)?;
    Ok(StringArrays {
        arrays: arrays.finish(n),
        wide,
        more: more.into_inner().unwrap_or_else(|e| e.into_inner()),
        strings: strings.count() as u64,
        string_bytes: members(heap, strings).next().map_or(0, |o| heap.size_of(o)),
        sliced: places.iter().flatten().any(|p| p.offset),
    })
}

impl Analysis for DuplicateStrings {
    fn describe(&self) -> Description {
        Description {
            id: "duplicate-strings",
            title: "Duplicate strings",
            explanation: "Strings of equal text at the last point in time: how many copies there are, and how many bytes one \
                copy of each would save. Strings that share an array are told from those that have one each.",
            needs: &[Need::Objects, Need::Values],
            parameters: vec![
                group_parameter("The key of the group whose strings are compared; all strings where it is empty"),
                top_parameter("How many texts are listed, those that would save most first"),
                Parameter {
                    id: "characters",
                    title: "Characters",
                    explanation: "How many characters of a text are shown; the others are counted",
                    kind: ParameterKind::Number { default: 80, least: 8, most: 1_000_000 },
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
        let is_string = |t: &memory_city_heap::HeapType| document.profile().types.is_text(&t.name);
        let (values, strings) = objects_of_types(document, window.to, arguments.word("group"), is_string, progress)?;
        let heap = values.heap();
        let of = arrays_of_strings(&values, &strings, progress)?;
        let (hasher, contents) = (ContentHasher::new(), ContentTable::new());
        let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
            let ObjectRecord::PrimitiveArray(elements) = record else { return };
            let hash = hasher.hash((elements.kind(), of.wide.contains(o)), elements.bytes());
            let users = 1 + of.more.get(&o).copied().unwrap_or(0);
            contents.add(hash, hash as usize, o, heap.size_of(o), users);
        };
        values.scan(Some(&of.arrays), &visit, progress)?;

        let mut first = Largest::new(arguments.count("top"));
        let (mut distinct, mut repeated, mut copies, mut saved_in_all) = (0u64, 0u64, 0u64, 0u64);
        for (_, equal) in contents.finish() {
            distinct += 1;
            if equal.users > 1 {
                repeated += 1;
                copies += equal.users - 1;
                let saved = saved(&equal, heap.size_of(equal.first), of.string_bytes);
                saved_in_all += saved;
                first.add((saved, Reverse(equal.first), equal));
            }
        }
        let listed: Vec<(u64, EqualObjects)> = first.sorted().map(|(saved, _, equal)| (saved, equal)).collect();
        // A string of each array, to read its text.
        let mut string_of: FxHashMap<ObjectId, Option<ObjectId>> =
            listed.iter().map(|(_, e)| (e.first, None)).collect();
        for string in members(heap, &strings) {
            for array in heap.references(string) {
                if let Some(known) = string_of.get_mut(array) {
                    known.get_or_insert(string);
                }
            }
        }
        let example = |equal: &EqualObjects| string_of.get(&equal.first).copied().flatten().unwrap_or(equal.first);
        let examples: Vec<ObjectId> = listed.iter().map(|(_, equal)| example(equal)).collect();
        let limits = TextLimits { characters: arguments.count("characters"), elements: 0 };
        let texts = values.texts(&examples, limits, progress)?;
        let rows = listed.iter().zip(texts).zip(&examples).map(|(((saved, equal), text), &example)| Row {
            cells: vec![
                text_cell(text),
                Cell::Number(equal.users),
                Cell::Number(equal.count),
                Cell::Number(equal.bytes + equal.users * of.string_bytes),
                Cell::Number(*saved),
                Cell::Text(address_text(heap, example)),
            ],
            ..Row::default()
        });
        let rows: Vec<Row> = rows.collect();
        let left = repeated - rows.len() as u64;
        let mut notes = vec![
            format!(
                "{} strings have {} different texts; {} are copies of others: one of each text would save {}.",
                count_text(of.strings),
                count_text(distinct),
                count_text(copies),
                bytes_text(saved_in_all)
            ),
            "Texts are compared by 128 bits of hash.".to_owned(),
        ];
        if of.sliced {
            notes.push("In this JDK strings may share parts of arrays: the whole arrays are compared.".to_owned());
        }
        let header = TableHeader {
            id: "texts".into(),
            title: "Strings of equal text".into(),
            columns: columns(),
            ..TableHeader::default()
        };
        let table = ResultTable {
            header,
            rows,
            left_out: (left > 0).then(|| (left, "texts of several strings".to_owned())),
            empty_text: "No text is there twice.".into(),
        };
        Ok(Findings { tables: vec![table], notes, ..Findings::default() })
    }
}

/// Bytes of all strings and arrays but one of each.
fn saved(equal: &EqualObjects, array_bytes: u64, string_bytes: u64) -> u64 {
    equal.bytes - array_bytes.min(equal.bytes) + (equal.users - 1) * string_bytes
}

fn columns() -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    vec![
        Column::of_program("text", "Text", "The text"),
        Column::new("copies", "Strings", objects, "Strings that have it"),
        Column::new(
            "arrays",
            "Arrays",
            objects,
            "Arrays that these strings have; fewer than strings where they share them",
        ),
        Column::new("bytes", "Bytes", bytes, "Bytes of these strings and arrays"),
        Column::new("saved", "One copy saves", bytes, "Bytes of all of them but one string and one array"),
        Column::new("address", "First", CellKind::Text, "One of the strings"),
    ]
}
