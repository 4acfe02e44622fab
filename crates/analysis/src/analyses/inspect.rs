//! Analysis `inspect`: the objects of a group one by one; or one object with its contents and its referrers.

use super::object_rows::{told_cells, told_columns};
use super::objects::{Largest, group_parameter, groups, history, object};
use super::one_object::OneObject;
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::group::Reads;
use crate::inspection::{ObjectOrder, age};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Amount, Source, Unit};
use memory_city_formats::values::TextLimits;
use memory_city_heap::ObjectId;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepRules, KeptBy, Strengths};
use memory_city_heap::progress::Progress;
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Inspect)
}

struct Inspect;

impl Analysis for Inspect {
    fn describe(&self) -> Description {
        Description {
            id: "inspect",
            title: "Objects",
            explanation: "The objects of a group one by one at the last point in time, with what they say (the text of \
                strings, numbers, names); or one object: its fields by name and value, what refers to it and from which \
                field, and the GC roots that hold it. Values take a heap dump; of traces, references are shown.",
            needs: &[Need::Objects],
            parameters: vec![
                group_parameter(
                    "The key of the group whose objects are listed, or several keys with ` + ` between them, \
                        which are one group then; all objects where it is empty",
                ),
                Parameter {
                    id: "object",
                    title: "Object",
                    explanation: "The address of the one object to look at, such as 0x7f00a8; empty to list objects",
                    kind: ParameterKind::Text { default: "" },
                },
                Parameter {
                    id: "by",
                    title: "Order",
                    explanation: "Which objects are listed first: the largest, those that retain most, the oldest (of \
                        traces), or those at the lowest addresses",
                    kind: ParameterKind::Choice { default: "size", choices: &["size", "retained", "age", "address"] },
                },
                Parameter {
                    id: "top",
                    title: "Rows",
                    explanation: "How many objects are listed; of one object, how many elements, and how many objects \
                        that refer to it",
                    kind: ParameterKind::Number { default: 20, least: 1, most: 100_000 },
                },
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
        let limits = TextLimits { characters: arguments.count("characters"), elements: 16 };
        let top = arguments.count("top");
        if arguments.word("object").is_empty() {
            return list(document, window.to, arguments, top, limits, progress);
        }
        let history = history(document)?;
        let values = history.values(window.to, progress)?;
        let heap = match &values {
            Some(values) => Arc::clone(values.heap()),
            None => history.heap(window.to, progress)?,
        };
        let chosen = object(&heap, arguments.word("object"))?;
        OneObject { heap: &heap, values: values.as_ref(), top, limits, chosen }.findings(progress)
    }
}

/// The objects of a group.
fn list(
    document: &Source,
    time: usize,
    arguments: &Arguments,
    top: usize,
    limits: TextLimits,
    progress: &Progress,
) -> Result<Findings> {
    let history = history(document)?;
    let nodes = groups(document, arguments.word("group"))?;
    let set = history.objects_of(time, &nodes, progress)?;
    let heap = &set.heap;
    let order = ObjectOrder::of(arguments.word("by"));
    let mut notes = Vec::new();
    let ages = heap.origins().is_some();
    let order = if order == ObjectOrder::Age && !ages {
        notes.push("The input does not say how old objects are: the largest are listed.".to_owned());
        ObjectOrder::Size
    } else {
        order
    };
    let dominators = match order {
        ObjectOrder::Retained => Some(history.dominators(time, KeepRules::default(), progress)?.1),
        _ => None,
    };
    let age = |o: ObjectId| age(heap, o);
    let key = |o: ObjectId| match (order, &dominators) {
        (ObjectOrder::Retained, Some(dominators)) => dominators.retained(o).bytes,
        (ObjectOrder::Age, _) => age(o),
        (ObjectOrder::Address, _) => 0,
        _ => heap.size_of(o),
    };
    let mut first = Largest::new(top);
    let mut amount = Amount::default();
    progress.begin("Choosing objects", heap.object_count() as u64);
    for o in heap.objects() {
        if o.0 % (1 << 16) == 0 {
            progress.check()?;
            progress.advance(1 << 16);
        }
        if set.objects.contains(o.0) {
            amount += Amount { objects: 1, bytes: heap.size_of(o) };
            first.add((key(o), std::cmp::Reverse(o)));
        }
    }
    let listed: Vec<ObjectId> = first.sorted().map(|(_, std::cmp::Reverse(o))| o).collect();
    let texts = match history.values(time, progress)? {
        Some(values) => values.texts(&listed, limits, progress)?,
        None => vec![None; listed.len()],
    };
    let mut columns = told_columns();
    if dominators.is_some() {
        let explanation = "Bytes that would be freed if the object were: it and all that it alone keeps alive";
        columns.push(Column::new("retained", "Retained", CellKind::Number(Unit::Bytes), explanation));
    }
    if ages {
        let explanation = "Garbage collections that it survived";
        columns.push(Column::new("age", "Age", CellKind::Number(Unit::Count), explanation));
    }
    let objects = CellKind::Number(Unit::Count);
    columns.push(Column::new("references", "References", objects, "References to other objects"));
    columns.push(Column::new("referrers", "Referrers", objects, "References from other objects to it"));
    let rows = listed.iter().zip(texts).map(|(&o, text)| {
        let mut cells = told_cells(heap, o, text);
        cells.extend(dominators.as_ref().map(|d| Cell::Number(d.retained(o).bytes)));
        cells.extend(ages.then(|| Cell::Number(age(o))));
        cells.push(Cell::Number(heap.references(o).len() as u64));
        cells.push(Cell::Number(heap.referrers(o).len() as u64));
        Row { cells, ..Row::default() }
    });
    let rows: Vec<Row> = rows.collect();
    notes.insert(0, format!("{} objects, {}.", count_text(amount.objects), bytes_text(amount.bytes)));
    if !heap.referents().all().is_empty() && Reads::known_of(heap).contains(Reads::ROOTS) {
        let strengths = Strengths::new(heap, progress)?;
        let amounts = strengths.amounts(heap, set.objects.iter().map(ObjectId));
        for by in [KeptBy::Soft, KeptBy::Weak] {
            let Amount { objects, bytes } = amounts[by as usize];
            if objects > 0 {
                notes.push(format!("{}: {} of them, {}.", by.title(), count_text(objects), bytes_text(bytes)));
            }
        }
    }
    let left = amount.objects - rows.len() as u64;
    let labels: Vec<String> = nodes.iter().map(|&node| document.timeline().path_label(node)).collect();
    let title = format!("Objects of {}", labels.join(" and "));
    let header = TableHeader { id: "objects".into(), title, columns, ..TableHeader::default() };
    let table = ResultTable {
        header,
        rows,
        left_out: (left > 0).then(|| (left, "objects".to_owned())),
        empty_text: "The group has no objects at this point in time.".into(),
    };
    Ok(Findings { tables: vec![table], notes, ..Findings::default() })
}
