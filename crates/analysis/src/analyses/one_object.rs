//! The page of one object: its contents, its referrers, the GC roots that hold it, and a path from one to it. Not an analysis itself.

use super::Findings;
use super::object_rows::{told_cells, told_columns};
use super::objects::{address_text, class_or_type, text_cell, type_name};
use crate::inspection::{BYTES_IN_A_ROW, NO_VALUES, RootWay, hexadecimal, named_references};
use crate::ownership::fields::{Pair, field_in_heap};
use crate::ownership::keeping::ClassObjects;
use crate::structures::containing;
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::Unit;
use memory_city_formats::values::{
    DetailLimits, FieldValue, HeapValues, ObjectContents, ObjectDetails, ReferencePlace, TextLimits, ValueKind,
};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{KeepRules, KeptBy, Strengths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};

/// A reference from one object, before it becomes a row.
struct ContentRow {
    place: String,
    class: String,
    value: String,
    object: Option<ObjectId>,
}

/// One object and its surroundings.
pub(super) struct OneObject<'a> {
    pub(super) heap: &'a HeapState,
    pub(super) values: Option<&'a HeapValues>,
    /// Elements and referring objects that are listed.
    pub(super) top: usize,
    pub(super) limits: TextLimits,
    pub(super) chosen: ObjectId,
}

/// Structures that an object is in, by name.
const MOST_STRUCTURES: usize = 3;

impl OneObject<'_> {
    pub(super) fn findings(&self, progress: &Progress) -> Result<Findings> {
        let heap = self.heap;
        let o = self.chosen;
        let (contents, contents_left) = self.contents(progress)?;
        let mut referrers: Vec<ObjectId> = heap.referrers(o).to_vec();
        referrers.dedup();
        let referrers_left = referrers.len().saturating_sub(self.top);
        referrers.truncate(self.top);
        let places = self.places(&referrers.iter().map(|&from| (from, o)).collect::<Vec<_>>(), progress)?;
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
        let inside = containing(heap, o, progress)?;
        for (heads, role) in [(&inside.as_part, "A part of"), (&inside.as_leaf, "Contents of")] {
            let names = heads.iter().map(|&head| format!("{} {}", type_name(heap, head), address_text(heap, head)));
            let names: Vec<String> = names.take(MOST_STRUCTURES).collect();
            let what = match heads.len() as u64 {
                0 => continue,
                1 => "the data structure".to_owned(),
                all if names.len() as u64 == all => "the data structures".to_owned(),
                all => format!("{} data structures, such as", count_text(all)),
            };
            notes.push(format!("{role} {what} {}.", names.join(", ")));
        }
        if !inside.is_whole {
            notes.push("Too many objects hold it to look for all data structures that it is in.".to_owned());
        }
        if self.values.is_none() {
            notes.push(format!("{NO_VALUES}."));
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
            let mut cells = vec![text_cell(place)];
            cells.extend(told_cells(heap, from, next()));
            Row { cells, ..Row::default() }
        });
        let referring: Vec<Row> = referring.collect();
        let roots = heap.roots_of(o).map(|root| Row {
            cells: vec![Cell::Text(root.kind.title().to_owned()), Cell::Text(root.detail.clone())],
            ..Row::default()
        });
        let roots: Vec<Row> = roots.collect();
        let path = self.path(progress)?;
        let name = format!("{} {}", type_name(heap, o), address_text(heap, o));
        let table = |id: &str, title: String, columns, rows, left: u64, what: &str, empty: &str| ResultTable {
            header: TableHeader { id: id.into(), title, columns, ..TableHeader::default() },
            rows,
            left_out: (left > 0).then(|| (left, what.to_owned())),
            empty_text: empty.to_owned(),
        };
        let mut referrer_columns =
            vec![Column::new("place", "Field", CellKind::Text, "The field or element that holds the object")];
        referrer_columns.extend(told_columns());
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
                table(
                    "path",
                    format!("A shortest way from a GC root to {name}"),
                    path_columns(),
                    path,
                    0,
                    "steps",
                    "No GC root reaches it.",
                ),
            ],
            notes,
            ..Findings::default()
        })
    }

    /// The field or element by which the first object of each pair refers to the second, as far as the input knows.
    fn places(&self, pairs: &[Pair], progress: &Progress) -> Result<Vec<Option<String>>> {
        Ok(match self.values {
            Some(values) => {
                values.reference_places(pairs, progress)?.into_iter().map(|place| Some(place?.to_string())).collect()
            }
            None => pairs.iter().map(|&pair| field_in_heap(self.heap, pair)).collect(),
        })
    }

    /// A way from a root to it: the root, then an object a row. Of a long one the ends, and how many are between.
    fn path(&self, progress: &Progress) -> Result<Vec<Row>> {
        let heap = self.heap;
        let Some(way) = RootWay::find(heap, KeepRules::default(), self.chosen, progress)? else {
            return Ok(Vec::new());
        };
        let ends = self.top.max(2);
        let (head, tail) = match way.objects.len() > ends {
            true => (ends / 2, way.objects.len() - (ends - ends / 2)),
            false => (way.objects.len(), way.objects.len()),
        };
        let shown = || (0..head).chain(tail..way.objects.len());
        let pairs: Vec<_> = shown().filter(|&i| i > 0).map(|i| (way.objects[i - 1], way.objects[i])).collect();
        let places = self.places(&pairs, progress)?;
        let class_objects = ClassObjects::new(heap);
        let mut places = places.into_iter();
        let mut rows =
            vec![Row { cells: vec![Cell::Text(way.root.clone()), Cell::Empty, Cell::Empty], ..Row::default() }];
        for i in shown() {
            if i == tail && tail > head {
                let left_out = format!("({} further objects)", count_text((tail - head) as u64));
                rows.push(Row { cells: vec![Cell::Text(left_out), Cell::Empty, Cell::Empty], ..Row::default() });
            }
            let place = if i == 0 { None } else { places.next().flatten() };
            let o = way.objects[i];
            let cells = vec![
                text_cell(place),
                Cell::Text(class_or_type(heap, &class_objects, o)),
                Cell::Text(address_text(heap, o)),
            ];
            rows.push(Row { cells, ..Row::default() });
        }
        Ok(rows)
    }

    /// The contents of the object, and how many more there would be.
    fn contents(&self, progress: &Progress) -> Result<(Vec<ContentRow>, u64)> {
        let heap = self.heap;
        let Some(values) = &self.values else {
            if let Some(details) = named_references(heap, self.chosen, self.top) {
                return Ok((rows_of(&details, self.top), details.left_out));
            }
            let all = heap.references(self.chosen);
            let row = |&o: &ObjectId| ContentRow {
                place: field_in_heap(heap, (self.chosen, o)).unwrap_or_default(),
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
            class: heap.profile().types.mirror.unwrap_or_default().into(),
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
                value: byte_row(chunk),
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

/// Bytes as numbers and as characters, in one text.
fn byte_row(bytes: &[u8]) -> String {
    let (digits, characters) = hexadecimal(bytes);
    format!("{digits}|{characters}|")
}

fn content_columns() -> Vec<Column> {
    vec![
        Column::new("place", "Field", CellKind::Text, "The field, or the element of an array"),
        Column::of_program("value", "Value", "What it holds, or what the object there says"),
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

fn path_columns() -> Vec<Column> {
    vec![
        Column::new(
            "place",
            "Field",
            CellKind::Text,
            "The GC root; then the field of the object above that holds this one",
        ),
        Column::new("type", "Type", CellKind::Text, "Its type, or the class it stands for"),
        Column::new("address", "Address", CellKind::Text, "Where it is"),
    ]
}
