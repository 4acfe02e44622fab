//! Single objects as rows of tables: their names and retained sizes. Not an analysis itself.

use super::objects::{address_text, class_or_type, text_cell, type_name};
use crate::ownership::keeping::ClassObjects;
use crate::tabular::{Cell, CellKind, Column};
use crate::timeline::{Amount, Unit};
use memory_city_heap::ownership::Dominators;
use memory_city_heap::{HeapState, ObjectId};

/// Rows of objects of a heap state, with their retained sizes.
pub(super) struct OwnerRows<'a> {
    heap: &'a HeapState,
    class_objects: ClassObjects,
    total: Amount,
}

impl<'a> OwnerRows<'a> {
    pub(super) fn new(heap: &'a HeapState, dominators: &Dominators) -> OwnerRows<'a> {
        OwnerRows { heap, class_objects: ClassObjects::new(heap), total: dominators.total() }
    }

    pub(super) fn class_objects(&self) -> &ClassObjects {
        &self.class_objects
    }

    /// The type of an object, or the class it stands for.
    pub(super) fn name(&self, o: ObjectId) -> String {
        class_or_type(self.heap, &self.class_objects, o)
    }

    /// The name, and the address.
    pub(super) fn names(&self, o: ObjectId) -> [Cell; 2] {
        [Cell::Text(self.name(o)), Cell::Text(address_text(self.heap, o))]
    }

    /// The columns of [`OwnerRows::names`].
    pub(super) fn name_columns() -> [Column; 2] {
        [
            Column::new("type", "Type", CellKind::Text, "Type of the object, or the class it stands for"),
            Column::new("object", "Object", CellKind::Text, "Its address"),
        ]
    }

    /// The retained amount: bytes, share of all that GC roots keep, objects.
    pub(super) fn retained(&self, retained: Amount) -> [Cell; 3] {
        let share = 100.0 * retained.bytes as f64 / self.total.bytes.max(1) as f64;
        [Cell::Number(retained.bytes), Cell::Percent(share), Cell::Number(retained.objects)]
    }

    /// The columns of [`OwnerRows::retained`].
    pub(super) fn retained_columns(explanation: &'static str) -> [Column; 3] {
        let (bytes, objects) = (CellKind::Number(Unit::Bytes), CellKind::Number(Unit::Objects));
        [
            Column::new("retained", "Retained", bytes, explanation),
            Column::new("share", "Share", CellKind::Percent, "Of all that GC roots keep"),
            Column::new("retained_objects", "Retained, objects", objects, "How many objects that are"),
        ]
    }
}

/// The columns for the text of an object, if values are read.
pub(super) fn told_columns() -> Vec<Column> {
    vec![
        Column::new("address", "Address", CellKind::Text, "Where it is; names it in this state of the heap"),
        Column::new("type", "Type", CellKind::Text, "Its class"),
        Column::new("size", "Size", CellKind::Number(Unit::Bytes), "Its shallow size"),
        Column::new("length", "Length", CellKind::Number(Unit::Count), "Number of elements of an array"),
        Column::of_program("text", "Value", "What it says: the text of a string, a number, a name"),
    ]
}

/// The cells of [`told_columns`].
pub(super) fn told_cells(heap: &HeapState, o: ObjectId, text: Option<String>) -> Vec<Cell> {
    vec![
        Cell::Text(address_text(heap, o)),
        Cell::Text(type_name(heap, o).to_owned()),
        Cell::Number(heap.size_of(o)),
        heap.array_length(o).map_or(Cell::Empty, |n| Cell::Number(n.into())),
        text_cell(text),
    ]
}
