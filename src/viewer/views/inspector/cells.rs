//! Cells of lists of objects: name, address, sizes, value.

use super::desk::Desk;
use crate::viewer::panels::long_list::{ListCell, ListColumn};
use crate::viewer::panels::theme;
use memory_city_analysis::analyses::{bytes_text, count_text};
use memory_city_analysis::inspection::InspectedHeap;
use memory_city_heap::ObjectId;

/// Content of a column in a list of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectColumn {
    Address,
    Name,
    Text,
    Size,
    Retained,
    Length,
    Age,
    References,
    Referrers,
}

impl ObjectColumn {
    /// Title, width and alignment.
    pub fn list_column(self) -> ListColumn {
        match self {
            ObjectColumn::Address => {
                ListColumn::text("Address", 1.0, "Where the object is: names it in this state of the heap")
                    .points(104.0)
            }
            ObjectColumn::Name => ListColumn::text("Type", 1.2, "Its type; of a class object the class it stands for"),
            ObjectColumn::Text => {
                ListColumn::text("Value", 1.4, "What it says: the text of a string, a number, a name").spare(3)
            }
            ObjectColumn::Size => ListColumn::number("Size", 66.0, "Its shallow size").spare(2),
            ObjectColumn::Retained => ListColumn::number(
                "Retained",
                74.0,
                "What would be freed if it were: it and all that it alone keeps alive",
            ),
            ObjectColumn::Length => ListColumn::number("Length", 62.0, "Number of elements of an array").spare(6),
            ObjectColumn::Age => ListColumn::number("Age", 42.0, "Garbage collections that it survived").spare(4),
            ObjectColumn::References => ListColumn::number("Out", 52.0, "References to other objects").spare(7),
            ObjectColumn::Referrers => ListColumn::number("In", 52.0, "References from other objects to it").spare(5),
        }
    }

    /// The cell of an object.
    pub fn cell(self, heap: &InspectedHeap<'_>, desk: &mut Desk, o: ObjectId) -> ListCell {
        match self {
            ObjectColumn::Address => ListCell::link(heap.address(o)).monospace(),
            ObjectColumn::Name => ListCell::name(&heap.name(o)),
            ObjectColumn::Text => said(heap, desk, o),
            ObjectColumn::Size => ListCell::new(bytes_text(heap.heap().size_of(o))),
            ObjectColumn::Retained => retained(heap, o),
            ObjectColumn::Length => {
                ListCell::quiet(heap.heap().array_length(o).map_or(String::new(), |n| count_text(n.into())))
            }
            ObjectColumn::Age => {
                let age = heap.heap().facts(o).life.map_or(String::new(), |life| count_text(life.age.into()));
                ListCell::quiet(age)
            }
            ObjectColumn::References => ListCell::quiet(count_text(heap.heap().references(o).len() as u64)),
            ObjectColumn::Referrers => ListCell::quiet(count_text(heap.heap().referrers(o).len() as u64)),
        }
    }
}

/// The value of an object as text. Left out for a class, which its type column shows already.
pub fn said(heap: &InspectedHeap<'_>, desk: &mut Desk, o: ObjectId) -> ListCell {
    match heap.class_of(o).is_some() || !heap.may_have_values() {
        true => ListCell::quiet(""),
        false => told(desk.text(o)),
    }
}

/// The text that was read, as far as it is known.
fn told(text: Option<Option<String>>) -> ListCell {
    match text {
        Some(Some(text)) => ListCell::new(text).coloured(theme::OUTGOING),
        Some(None) => ListCell::quiet(""),
        None => ListCell::quiet("…"),
    }
}

/// Retained size of an object, once it is known.
pub fn retained(heap: &InspectedHeap<'_>, o: ObjectId) -> ListCell {
    match heap.retained(o) {
        Some(amount) => ListCell::new(bytes_text(amount.bytes)),
        None => ListCell::quiet("…"),
    }
}
