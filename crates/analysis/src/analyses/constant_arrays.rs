//! Analysis of arrays of primitive values whose elements are all equal: memory with next to no information.

use super::contents::{ContentTable, EqualObjects};
use super::objects::{address_text, group_parameter, objects_of_types, text_cell, top_parameter, type_name};
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Source, Unit};
use memory_city_formats::values::{FieldValue, ObjectRecord, ValueKind};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapType, ObjectId, TypeKind};
use std::cmp::Reverse;
use std::collections::HashMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(ConstantArrays)
}

struct ConstantArrays;

impl Analysis for ConstantArrays {
    fn describe(&self) -> Description {
        Description {
            id: "constant-arrays",
            title: "Arrays of one value",
            explanation: "Arrays of primitive values at the last point in time whose elements are all equal, most often zero: \
                buffers that were never filled, tables that are too large.",
            needs: &[Need::Objects, Need::Values],
            parameters: vec![
                group_parameter("The key of the group whose arrays are looked at; all where it is empty"),
                top_parameter("How many types and values are listed, those with the most bytes first"),
                Parameter {
                    id: "least",
                    title: "Least length",
                    explanation: "Arrays with fewer elements are not looked at",
                    kind: ParameterKind::Number { default: 16, least: 1, most: u64::from(u32::MAX) },
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
        let is_primitive = |t: &HeapType| t.kind == TypeKind::PrimitiveArray;
        let (values, arrays) = objects_of_types(document, window.to, arguments.word("group"), is_primitive, progress)?;
        let heap = values.heap();
        let least = arguments.number("least");
        let contents = ContentTable::new();
        let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
            let ObjectRecord::PrimitiveArray(elements) = record else { return };
            let (bytes, width) = (elements.bytes(), elements.kind().width(8));
            if u64::from(elements.len()) < least || bytes.len() < width {
                return;
            }
            // All elements are equal when each equals the one before it.
            if bytes[width..] == bytes[..bytes.len() - width] {
                let mut value = [0; 8];
                value[..width].copy_from_slice(&bytes[..width]);
                let key = (elements.kind(), value);
                contents.add(key, o.0 as usize, o, heap.size_of(o), elements.len().into());
            }
        };
        values.scan(Some(&arrays), &visit, progress)?;
        // There are few different values, so objects were spread over all locks by number: here they are joined.
        let mut joined: HashMap<(ValueKind, [u8; 8]), EqualObjects> = HashMap::new();
        for (key, equal) in contents.finish() {
            let sum = joined.entry(key).or_insert(EqualObjects { count: 0, bytes: 0, users: 0, first: equal.first });
            sum.count += equal.count;
            sum.bytes += equal.bytes;
            sum.users += equal.users;
            sum.first = sum.first.min(equal.first);
        }
        let count: u64 = joined.values().map(|equal| equal.count).sum();
        let bytes: u64 = joined.values().map(|equal| equal.bytes).sum();
        let mut listed: Vec<_> = joined.into_iter().collect();
        listed.sort_by_key(|(_, equal)| (Reverse(equal.bytes), equal.first));
        let left = listed.len().saturating_sub(arguments.count("top")) as u64;
        listed.truncate(arguments.count("top"));
        let row = |((kind, value), equal): ((ValueKind, [u8; 8]), EqualObjects)| Row {
            cells: vec![
                Cell::Text(type_name(heap, equal.first).to_owned()),
                text_cell(FieldValue::primitive(kind, &value).map(|v| v.to_string())),
                Cell::Number(equal.count),
                Cell::Number(equal.users),
                Cell::Number(equal.bytes),
                Cell::Text(address_text(heap, equal.first)),
            ],
            ..Row::default()
        };
        let header = TableHeader {
            id: "constants".into(),
            title: "Arrays of one value".into(),
            columns: columns(),
            ..TableHeader::default()
        };
        let table = ResultTable {
            header,
            rows: listed.into_iter().map(row).collect(),
            left_out: (left > 0).then(|| (left, "types and values".to_owned())),
            empty_text: "No array of that length has one value only.".into(),
        };
        let note = format!(
            "{} arrays of {} elements or more hold one value only and take {}.",
            count_text(count),
            count_text(least),
            bytes_text(bytes)
        );
        Ok(Findings { tables: vec![table], notes: vec![note], ..Findings::default() })
    }
}

fn columns() -> Vec<Column> {
    let (objects, bytes) = (CellKind::Number(Unit::Objects), CellKind::Number(Unit::Bytes));
    vec![
        Column::new("type", "Type", CellKind::Text, "The type of the arrays"),
        Column::of_program("text", "Value", "What each of their elements is"),
        Column::new("arrays", "Arrays", objects, "How many there are"),
        Column::new("elements", "Elements", CellKind::Number(Unit::Count), "Elements of all of them"),
        Column::new("bytes", "Bytes", bytes, "Bytes of all of them"),
        Column::new("address", "First", CellKind::Text, "One of them"),
    ]
}
