//! The objects of a group one by one; and one object, what it holds and what holds it.

use super::objects::{Largest, address_text, group, history, object, text_cell, type_name};
use super::{Analysis, Arguments, Description, Findings, Need, Parameter, ParameterKind, TimeWindow};
use crate::group::Reads;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Amount, Source, Unit};
use memory_city_formats::values::{
    DetailLimits, FieldValue, HeapValues, ObjectContents, ObjectDetails, ReferencePlace, TextLimits, ValueKind,
};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepRules, KeptBy, Strengths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Inspect)
}

struct Inspect;

/// Bytes in a row of a hexadecimal listing.
const BYTES_IN_A_ROW: usize = 16;

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
                Parameter {
                    id: "group",
                    title: "Group",
                    explanation: "The key of the group whose objects are listed; all objects where it is empty",
                    kind: ParameterKind::Text { default: "" },
                },
                Parameter {
                    id: "object",
                    title: "Object",
                    explanation: "The address of the one object to look at, such as 0x7f00a8; empty to list objects",
                    kind: ParameterKind::Text { default: "" },
                },
                Parameter {
                    id: "by",
                    title: "InspectOrder",
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
        OneObject { heap, values, top, limits, chosen }.findings(progress)
    }
}

/// What objects are listed by, largest first; ties by address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InspectOrder {
    Size,
    Retained,
    Age,
    Address,
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
    let node = group(document, arguments.word("group"))?;
    let set = history.objects_of(time, &[node], progress)?;
    let heap = &set.heap;
    let order = match arguments.word("by") {
        "retained" => InspectOrder::Retained,
        "age" => InspectOrder::Age,
        "address" => InspectOrder::Address,
        _ => InspectOrder::Size,
    };
    let mut notes = Vec::new();
    let ages = heap.origins().is_some();
    let order = if order == InspectOrder::Age && !ages {
        notes.push("The input does not say how old objects are: the largest are listed.".to_owned());
        InspectOrder::Size
    } else {
        order
    };
    let dominators = match order {
        InspectOrder::Retained => Some(history.dominators(time, KeepRules::default(), progress)?.1),
        _ => None,
    };
    let age = |o: ObjectId| heap.facts(o).life.map_or(0, |life| u64::from(life.age));
    let key = |o: ObjectId| match (order, &dominators) {
        (InspectOrder::Retained, Some(dominators)) => dominators.retained(o).bytes,
        (InspectOrder::Age, _) => age(o),
        (InspectOrder::Address, _) => 0,
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
    let mut columns = object_columns();
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
        let mut cells = object_cells(heap, o, text);
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
    let title = format!("Objects of {}", document.timeline().path_label(node));
    let header = TableHeader { id: "objects".into(), title, columns, ..TableHeader::default() };
    let table = ResultTable {
        header,
        rows,
        left_out: (left > 0).then(|| (left, "objects".to_owned())),
        empty_text: "The group has no objects at this point in time.".into(),
    };
    Ok(Findings { tables: vec![table], notes, ..Findings::default() })
}

/// What is said of each object.
fn object_columns() -> Vec<Column> {
    vec![
        Column::new("address", "Address", CellKind::Text, "Where it is; names it in this state of the heap"),
        Column::new("type", "Type", CellKind::Text, "Its class"),
        Column::new("size", "Size", CellKind::Number(Unit::Bytes), "Its shallow size"),
        Column::new("length", "Length", CellKind::Number(Unit::Count), "Number of elements of an array"),
        Column::new("text", "Value", CellKind::Text, "What it says: the text of a string, a number, a name"),
    ]
}

fn object_cells(heap: &HeapState, o: ObjectId, text: Option<String>) -> Vec<Cell> {
    vec![
        Cell::Text(address_text(heap, o)),
        Cell::Text(type_name(heap, o).to_owned()),
        Cell::Number(heap.size_of(o)),
        heap.array_length(o).map_or(Cell::Empty, |n| Cell::Number(n.into())),
        text_cell(text),
    ]
}

/// A reference from one object, before it becomes a row.
struct ContentRow {
    place: String,
    class: String,
    value: String,
    object: Option<ObjectId>,
}

/// One object and its surroundings.
struct OneObject {
    heap: Arc<HeapState>,
    values: Option<HeapValues>,
    top: usize,
    limits: TextLimits,
    chosen: ObjectId,
}

impl OneObject {
    fn findings(&self, progress: &Progress) -> Result<Findings> {
        let heap = &*self.heap;
        let o = self.chosen;
        let (contents, contents_left) = self.contents(progress)?;
        let mut referrers: Vec<ObjectId> = heap.referrers(o).to_vec();
        referrers.dedup();
        let referrers_left = referrers.len().saturating_sub(self.top);
        referrers.truncate(self.top);
        let places = match &self.values {
            Some(values) => {
                let pairs: Vec<_> = referrers.iter().map(|&from| (from, o)).collect();
                values.reference_places(&pairs, progress)?
            }
            None => vec![None; referrers.len()],
        };
        let mut named: Vec<ObjectId> = vec![o];
        named.extend(contents.iter().filter_map(|row| row.object));
        named.extend(&referrers);
        let mut texts = match &self.values {
            Some(values) => values.texts(&named, self.limits, progress)?,
            None => vec![None; named.len()],
        }
        .into_iter();
        let mut next = || texts.next().flatten();

        let itself = next();
        let said = itself.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        let mut notes =
            vec![format!("{} at {}, {}{said}", type_name(heap, o), address_text(heap, o), bytes_text(heap.size_of(o)))];
        if !heap.is_reachable(o) {
            notes.push("No GC root reaches it: it is garbage, or waits for its finalizer.".to_owned());
        } else if !heap.referents().all().is_empty() {
            let by = Strengths::new(heap, progress)?.of(o);
            if by != KeptBy::Strong {
                notes.push(format!("Kept by: {}.", by.title()));
            }
        }
        if self.values.is_none() {
            notes.push(
                "The input records references, not what fields hold: values and names of fields take a heap dump."
                    .into(),
            );
        }
        let contents = contents.into_iter().map(|row| {
            let text = row.object.and_then(|_| next());
            let type_of = row.object.map(|o| type_name(heap, o).to_owned());
            let value = text.unwrap_or(row.value);
            Row {
                cells: vec![
                    Cell::Text(row.place),
                    Cell::Text(value),
                    text_cell(type_of),
                    text_cell(row.object.map(|o| address_text(heap, o))),
                    row.object.map_or(Cell::Empty, |o| Cell::Number(heap.size_of(o))),
                    Cell::Text(row.class),
                ],
                ..Row::default()
            }
        });
        let contents: Vec<Row> = contents.collect();
        let referring = referrers.iter().zip(places).map(|(&from, place)| {
            let mut cells = vec![text_cell(place.map(|p| p.to_string()))];
            cells.extend(object_cells(heap, from, next()));
            Row { cells, ..Row::default() }
        });
        let referring: Vec<Row> = referring.collect();
        let roots = heap.roots_of(o).map(|root| Row {
            cells: vec![Cell::Text(root.kind.title().to_owned()), Cell::Text(root.detail.clone())],
            ..Row::default()
        });
        let roots: Vec<Row> = roots.collect();
        let name = format!("{} {}", type_name(heap, o), address_text(heap, o));
        let table = |id: &str, title: String, columns, rows, left: u64, what: &str, empty: &str| ResultTable {
            header: TableHeader { id: id.into(), title, columns, ..TableHeader::default() },
            rows,
            left_out: (left > 0).then(|| (left, what.to_owned())),
            empty_text: empty.to_owned(),
        };
        let mut referrer_columns =
            vec![Column::new("place", "Field", CellKind::Text, "The field or element that holds the object")];
        referrer_columns.extend(object_columns());
        let left = referrers_left as u64;
        Ok(Findings {
            tables: vec![
                table(
                    "contents",
                    format!("What {name} holds"),
                    content_columns(),
                    contents,
                    contents_left,
                    "elements",
                    "It holds nothing.",
                ),
                table(
                    "referrers",
                    format!("What refers to {name}"),
                    referrer_columns,
                    referring,
                    left,
                    "objects",
                    "Nothing refers to it.",
                ),
                table(
                    "roots",
                    format!("GC roots that hold {name}"),
                    root_columns(),
                    roots,
                    0,
                    "roots",
                    "No root holds it directly.",
                ),
            ],
            notes,
            ..Findings::default()
        })
    }

    /// What the object holds, and how much more there would be.
    fn contents(&self, progress: &Progress) -> Result<(Vec<ContentRow>, u64)> {
        let heap = &*self.heap;
        let Some(values) = &self.values else {
            let all = heap.references(self.chosen);
            let row = |&o: &ObjectId| ContentRow {
                place: String::new(),
                class: String::new(),
                value: String::new(),
                object: Some(o),
            };
            return Ok((all.iter().take(self.top).map(row).collect(), all.len().saturating_sub(self.top) as u64));
        };
        let limits = DetailLimits { fields: 100_000, elements: self.top, bytes: self.top * BYTES_IN_A_ROW };
        let Some(details) = values.details(&[self.chosen], limits, progress)?.pop() else {
            return Ok((Vec::new(), 0));
        };
        let mut rows = rows_of(&details, self.top);
        let hidden = heap.inferred_references().iter().filter(|r| r.from == self.chosen);
        rows.extend(hidden.map(|r| ContentRow {
            place: ReferencePlace::Hidden(r.field).to_string(),
            class: "java.lang.Class".into(),
            value: String::new(),
            object: Some(r.to),
        }));
        let left = match &details.contents {
            // Rows hold several bytes.
            ObjectContents::Primitives { kind: ValueKind::Byte, .. } => details.left_out,
            ObjectContents::Primitives { .. } => details.left_out + (details.len().saturating_sub(self.top)) as u64,
            _ => details.left_out,
        };
        Ok((rows, left))
    }
}

fn rows_of(details: &ObjectDetails, top: usize) -> Vec<ContentRow> {
    let value = |place: String, class: &str, value: FieldValue| ContentRow {
        place,
        class: class.to_owned(),
        value: if value.object().is_some() { String::new() } else { value.to_string() },
        object: value.object(),
    };
    match &details.contents {
        ObjectContents::Instance(fields) | ObjectContents::Class { statics: fields, .. } => {
            fields.iter().map(|f| value(f.name.to_string(), &f.class, f.value)).collect()
        }
        ObjectContents::References(elements) => {
            elements.iter().enumerate().map(|(i, v)| value(format!("[{i}]"), "", *v)).collect()
        }
        ObjectContents::Primitives { kind: ValueKind::Byte, bytes, .. } => bytes
            .chunks(BYTES_IN_A_ROW)
            .enumerate()
            .map(|(i, chunk)| ContentRow {
                place: format!("[{}]", i * BYTES_IN_A_ROW),
                class: String::new(),
                value: hexadecimal(chunk),
                object: None,
            })
            .collect(),
        ObjectContents::Primitives { kind, bytes, .. } => bytes
            .chunks(kind.width(8))
            .take(top)
            .enumerate()
            .filter_map(|(i, bytes)| Some(value(format!("[{i}]"), "", FieldValue::primitive(*kind, bytes)?)))
            .collect(),
        ObjectContents::Unknown => Vec::new(),
    }
}

/// Bytes as numbers and, where they are printable, as characters.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text: String = bytes.iter().map(|b| format!("{b:02x} ")).collect();
    let characters = bytes.iter().map(|&b| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '.' });
    text.push_str(&format!("{:width$}|", "", width = 3 * (BYTES_IN_A_ROW - bytes.len().min(BYTES_IN_A_ROW))));
    text.extend(characters);
    text.push('|');
    text
}

fn content_columns() -> Vec<Column> {
    vec![
        Column::new("place", "Field", CellKind::Text, "The field, or the element of an array"),
        Column::new("value", "Value", CellKind::Text, "What it holds, or what the object there says"),
        Column::new("type", "Type", CellKind::Text, "The class of the object there"),
        Column::new("address", "Address", CellKind::Text, "Where that object is"),
        Column::new("size", "Size", CellKind::Number(Unit::Bytes), "Its shallow size"),
        Column::new("class", "Declared by", CellKind::Text, "The class that declares the field"),
    ]
}

fn root_columns() -> Vec<Column> {
    vec![
        Column::new("kind", "Kind", CellKind::Text, "What kind of GC root it is"),
        Column::new(
            "detail",
            "Where",
            CellKind::Text,
            "The static field; the thread and the method; what else is known",
        ),
    ]
}
