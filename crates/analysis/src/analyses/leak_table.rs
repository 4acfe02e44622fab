//! The table of places that leak, or that fill the heap.

use super::leak_example::Example;
use super::leak_sentence::{elements_text, owner_key, place_text};
use super::owner_times::OwnerTimes;
use crate::ownership::Accumulation;
use crate::tabular::{Cell, CellKind, Column, Row};
use crate::timeline::Unit;

pub(super) fn columns() -> Vec<Column> {
    let objects = CellKind::Number(Unit::Objects);
    let bytes = CellKind::Number(Unit::Bytes);
    vec![
        Column::new("place", "Place", CellKind::Text, "Who owns what grows, from the root down"),
        Column::new("elements", "Elements", CellKind::Text, "The type of what it fills up with"),
        Column::new("first", "At first", objects, "Elements at the first point in time"),
        Column::new("last", "At last", objects, "Elements at the last point in time"),
        Column::new("retained_first", "Retained at first", bytes, "What it kept alive at the first point in time"),
        Column::new("retained", "Retained", bytes, "What it keeps alive at the last point in time"),
        Column::new("growth", "Growth", CellKind::Change(Unit::Bytes), "The difference of the two"),
        Column::new("share", "Share of growth", CellKind::Percent, "Part of the growth of the whole heap"),
        Column::new(
            "entries_first",
            "Entries at first",
            objects,
            "Elements of the last collection on the path, at first",
        ),
        Column::new("entries", "Entries", objects, "Elements of the last collection on the path, at last"),
        Column::new("pattern", "Pattern", CellKind::Text, "How that collection grows, as `growing-structures` says it"),
        Column::new("course", "Course", CellKind::Text, "How it grows: lasting, paused, or in the last step alone"),
        Column::new(
            "since",
            "Since",
            CellKind::Number(Unit::Count),
            "The last point in time looked at, counted from 1, at which there was no more than a twentieth of the growth",
        ),
        Column::new(
            "grown_at",
            "Grown at",
            CellKind::Number(Unit::Count),
            "The next that was looked at: there was more by then",
        ),
        Column::new("path", "Path", CellKind::Text, "From the GC root to it, by fields"),
        Column::new("owner", "Owner", CellKind::Text, "The key of the place when grouped by owner"),
    ]
}

pub(super) fn row(looked: &OwnerTimes, point: &Accumulation, example: &Example, grew: bool) -> Row {
    let history = &looked.history;
    let since = looked.grows_between(point.place).filter(|_| grew);
    let time = |at: Option<usize>| at.map_or(Cell::Empty, |at| Cell::Number(at as u64 + 1));
    let entries = |count: Option<u64>| count.map_or(Cell::Empty, Cell::Number);
    let (first, last) = point.bytes;
    Row {
        cells: vec![
            Cell::Text(place_text(history, point.place)),
            Cell::Text(elements_text(history, point)),
            Cell::Number(point.count.0),
            Cell::Number(point.count.1),
            Cell::Number(first),
            Cell::Number(last),
            Cell::Change(super::change(first, last)),
            Cell::Percent(100.0 * point.share),
            entries(example.filled.and_then(|(first, _)| first)),
            entries(example.filled.map(|(_, last)| last)),
            example.pattern.map_or(Cell::Empty, |pattern| Cell::Text(pattern.text().into())),
            if grew { Cell::Text(point.course.title().into()) } else { Cell::Empty },
            time(since.map(|(from, _)| from)),
            time(since.map(|(_, next)| next)),
            example.path.as_ref().map_or(Cell::Empty, |path| Cell::Text(path.text())),
            Cell::Text(owner_key(history, point.place)),
        ],
        ..Row::default()
    }
}
