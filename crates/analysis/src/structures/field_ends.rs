//! The numbers and objects at the ends of paths of fields.
//!
//! All paths go on together: a step of all of them is one scan of the input.

use memory_city_formats::values::{FieldPlace, FieldValue, HeapValues, ObjectRecord};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::FieldPath;
use memory_city_heap::{ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// A path, and the object where it begins.
#[derive(Clone, Copy)]
pub(crate) struct FieldStart<'p> {
    /// What the caller knows it by.
    pub id: u32,
    pub object: ObjectId,
    pub path: &'p FieldPath,
    /// The type that should declare the first field; a subtype may have another field of that name.
    pub declared_by: &'p str,
}

/// The end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldEnd {
    Number(i64),
    /// The length of an array.
    Length(ObjectId, u32),
    Object(ObjectId),
    /// A field on the way is null.
    Nothing,
    /// A field is not there, or holds something else.
    Unknown,
}

/// An object on a path, and the step that comes next.
#[derive(Clone, Copy)]
struct OpenPath<'p> {
    start: FieldStart<'p>,
    object: ObjectId,
    step: usize,
}

/// Where the field of a type lies that a path asks for.
type KnownPlaces<'p> = FxHashMap<(TypeId, &'p str, &'p str), Option<FieldPlace>>;

/// The place of a field: of that which this class declares, or else of the nearest.
pub(super) fn place(values: &HeapValues, of: TypeId, declared_by: &str, field: &str) -> Option<FieldPlace> {
    let layouts = values.layouts();
    layouts.place_in(values.heap(), of, declared_by, field).or_else(|| values.place(of, field))
}

/// Elements of arrays that paths go through. More are damage: such arrays are counters of a few threads.
const MOST_ELEMENTS: usize = 16 << 20;

const SHARDS: usize = 64;

/// Calls `each` with the id of a start and the end of its path. A path through an array has an end for each element; it is unknown where
/// paths go through too many. Takes about 200 bytes a start.
///
/// # Errors
/// When cancelled.
pub(crate) fn field_ends<'p>(
    values: &HeapValues,
    starts: impl Iterator<Item = FieldStart<'p>>,
    mut each: impl FnMut(u32, FieldEnd),
    progress: &Progress,
) -> Result<()> {
    let heap = values.heap();
    let mut left = MOST_ELEMENTS;
    let mut open: Vec<OpenPath<'_>> = starts.map(|start| OpenPath { start, object: start.object, step: 0 }).collect();
    let mut places = KnownPlaces::default();
    // Each round is a step of all paths, and they have few.
    while !open.is_empty() {
        progress.check()?;
        // The length of an array needs no look into the input.
        open.retain(|path| {
            let steps = path.start.path.steps();
            let length = heap.array_length(path.object).filter(|_| steps[path.step].field == "length");
            let Some(length) = length else { return true };
            let is_last = path.step + 1 == steps.len();
            each(path.start.id, if is_last { FieldEnd::Length(path.object, length) } else { FieldEnd::Unknown });
            false
        });
        open.sort_unstable_by_key(|path| path.object);
        let wanted: Vec<Option<FieldPlace>> = open
            .iter()
            .map(|path| {
                let of = heap.type_of(path.object);
                let declared_by = if path.step == 0 { path.start.declared_by } else { "" };
                let field = &*path.start.path.steps()[path.step].field;
                *places.entry((of, declared_by, field)).or_insert_with(|| place(values, of, declared_by, field))
            })
            .collect();
        let found: Vec<Mutex<Vec<(u32, FieldValue)>>> = (0..SHARDS).map(|_| Mutex::default()).collect();
        let visit = |o: ObjectId, record: &ObjectRecord<'_>| {
            let ObjectRecord::Instance(fields) = record else { return };
            let first = open.partition_point(|path| path.object < o);
            let mut into = found[o.0 as usize / 64 % SHARDS].lock().unwrap_or_else(PoisonError::into_inner);
            for at in (first..open.len()).take_while(|at| open[*at].object == o) {
                let value = wanted[at].and_then(|place| fields.at(place));
                into.extend(value.map(|value| (at as u32, value)));
            }
        };
        values.scan_few(open.iter().map(|path| path.object), &visit, progress)?;
        let mut read = vec![None; open.len()];
        for (at, value) in found.into_iter().flat_map(|list| list.into_inner().unwrap_or_else(PoisonError::into_inner))
        {
            read[at as usize] = Some(value);
        }
        let mut next = Vec::new();
        for (path, value) in open.iter().zip(read) {
            let OpenPath { start, step, .. } = *path;
            let steps = start.path.steps();
            let is_last = step + 1 == steps.len();
            match value {
                Some(FieldValue::Null) => each(start.id, FieldEnd::Nothing),
                Some(FieldValue::Object(array)) if steps[step].each => {
                    let is_array = heap.array_length(array).is_some();
                    let elements = if is_array { heap.references(array) } else { &[] };
                    if elements.is_empty() || elements.len() > left {
                        let is_nothing = is_array && elements.is_empty();
                        each(start.id, if is_nothing { FieldEnd::Nothing } else { FieldEnd::Unknown });
                        continue;
                    }
                    left -= elements.len();
                    next.extend(elements.iter().map(|&object| OpenPath { start, object, step: step + 1 }));
                }
                Some(FieldValue::Object(object)) if is_last => each(start.id, FieldEnd::Object(object)),
                Some(FieldValue::Object(object)) => next.push(OpenPath { start, object, step: step + 1 }),
                Some(value) if is_last => {
                    each(start.id, value.integer().map_or(FieldEnd::Unknown, FieldEnd::Number));
                }
                _ => each(start.id, FieldEnd::Unknown),
            }
        }
        open = next;
    }
    Ok(())
}
