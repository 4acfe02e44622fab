//! The surroundings of an object, as lists: its fields or elements, its referrers, the way from a GC root, its owners, and the objects
//! that it owns. Each row leads to an object.

use super::cells::{retained, said};
use super::desk::Desk;
use super::navigation::InspectorStop;
use super::object::InspectedObject;
use super::{bytes, owners, parts};
use crate::viewer::editor::CodePlace;
use crate::viewer::panels::long_list::{ListCell, ListColumn, ListEvent, ListState, LongList};
use crate::viewer::panels::theme;
use bevy_egui::egui;
use memory_city_analysis::analyses::{bytes_text, count_text};
use memory_city_analysis::inspection::{InspectedHeap, NO_VALUES, StackLine};
use memory_city_formats::values::{FieldValue, ValueKind};
use memory_city_heap::ObjectId;

/// The shown part of the surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeldTab {
    /// Its fields or elements.
    #[default]
    Contents,
    /// Objects that refer to it.
    Referrers,
    /// A way from a root.
    Way,
    /// Objects that alone keep it alive.
    Owners,
    /// Objects that it alone keeps alive.
    Owned,
    /// Of a thread: its methods, and the objects in their variables.
    Stack,
}

/// The shown part, and the position of each list.
#[derive(Default)]
pub struct HeldView {
    pub tab: HeldTab,
    /// Whether elements of an array are numbers, not bytes.
    pub elements: Option<bool>,
    pub states: [ListState; 6],
}

type TabInfo = (HeldTab, &'static str, Option<u64>, &'static str);

/// The tabs, with how much is in each where that is known.
pub fn counts(view: &InspectedObject, heap: &InspectedHeap<'_>) -> Vec<TabInfo> {
    let page = view.page.get();
    let state = heap.heap();
    let (title, count) = match page.and_then(|page| page.details.as_ref()) {
        Some(details) => match (page.and_then(|page| page.fields()), page.and_then(|page| page.primitives())) {
            (Some(fields), _) => ("Fields", fields.len() as u64 + details.left_out),
            (None, Some((_, length, _))) => ("Elements", u64::from(length)),
            _ => ("Elements", details.len() as u64 + details.left_out),
        },
        None => ("References", state.references(view.object).len() as u64),
    };
    let owned = heap.known_dominators().map(|tree| tree.owned_count(Some(view.object)));
    let stack = page.map_or(0, |page| page.stack.len() as u64);
    let mut all = vec![
        (HeldTab::Contents, title, Some(count), "What it holds, by field or element"),
        (
            HeldTab::Referrers,
            "Held by",
            page.map(|page| page.referrers.len() as u64),
            "The objects that refer to it, and by which field",
        ),
        (HeldTab::Way, "Path from a root", None, "A shortest way from a GC root to it, object by object"),
        (
            HeldTab::Owners,
            "Owners",
            view.owners.get().map(|owners| owners.len() as u64),
            "What alone keeps it alive, the nearest first: its dominators",
        ),
        (HeldTab::Owned, "Owns", owned, "What it alone keeps alive, next below it in the dominator tree"),
    ];
    if stack > 0 {
        let info = "Its methods, the innermost first, and below each what its variables hold";
        all.push((HeldTab::Stack, "Stack", None, info));
    }
    all
}

/// How the elements of an array are shown, where there is a choice.
pub fn options(ui: &mut egui::Ui, view: &mut InspectedObject) {
    let Some((kind, ..)) = view.page.get().and_then(|page| page.primitives()) else { return };
    if view.held.tab != HeldTab::Contents {
        return;
    }
    let now = view.held.elements.unwrap_or(!is_text(kind));
    ui.separator();
    let all = [
        (false, "Hex and text", None, "The bytes as two digits each, and as characters"),
        (true, "Elements", None, "One element a row"),
    ];
    if let Some(elements) = parts::tabs(ui, now, &all) {
        view.held.elements = Some(elements);
    }
}

fn is_text(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::Byte | ValueKind::Char)
}

/// Draws the chosen list. Returns the target of a click.
pub fn show(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    focused: bool,
) -> Option<InspectorStop> {
    let target = match view.held.tab {
        HeldTab::Contents => contents(ui, view, heap, desk, focused),
        HeldTab::Referrers => referrers(ui, view, heap, desk, focused),
        HeldTab::Way => way(ui, view, heap, desk, focused),
        HeldTab::Owners => owners::owners(ui, view, heap, desk, focused),
        HeldTab::Owned => owners::owned(ui, view, heap, desk, focused),
        HeldTab::Stack => stack(ui, view, heap, desk, focused),
    };
    target.map(|object| InspectorStop::object(heap, object))
}

/// The columns of objects behind a first one of the list's own.
pub(super) fn columns(heap: &InspectedHeap<'_>, first: ListColumn) -> Vec<ListColumn> {
    // What the input does not hold takes no room.
    let value = match heap.may_have_values() {
        true => ListColumn::text("Value", 1.3, "What the object there says, or the number that is there").spare(1),
        false => ListColumn::text("", 1.0, "").points(0.0),
    };
    vec![
        first,
        value,
        ListColumn::text("Type", 1.2, "The class of the object there"),
        ListColumn::text("Address", 1.0, "Where it is").points(104.0).spare(3),
        ListColumn::number("Size", 66.0, "Its shallow size").spare(2),
        ListColumn::number("Retained", 74.0, "What would be freed if it were"),
    ]
}

/// The cells of an object behind the first one.
pub(super) fn object_cell(column: usize, heap: &InspectedHeap<'_>, desk: &mut Desk, o: ObjectId) -> ListCell {
    match column {
        1 => said(heap, desk, o),
        2 => ListCell::name(&heap.name(o)),
        3 => ListCell::link(heap.address(o)).monospace(),
        4 => ListCell::new(bytes_text(heap.heap().size_of(o))),
        _ => retained(heap, o),
    }
}

/// The cells of a value behind the first one: those of an object, or the value alone.
fn value_cell(column: usize, heap: &InspectedHeap<'_>, desk: &mut Desk, value: FieldValue) -> ListCell {
    match (value, column) {
        (FieldValue::Object(o), _) => object_cell(column, heap, desk, o),
        (FieldValue::Null, 1) => ListCell::quiet("null"),
        (value, 1) => ListCell::new(value.to_string()).coloured(theme::OUTGOING),
        (FieldValue::Null | FieldValue::Dangling(_), _) => ListCell::quiet(""),
        (value, 2) => ListCell::quiet(value.kind().name()),
        _ => ListCell::quiet(""),
    }
}

/// The row whose object is to be shown.
pub(super) fn followed(event: Option<ListEvent>) -> Option<u64> {
    match event? {
        ListEvent::Follow(row, _) => Some(row),
        _ => None,
    }
}

pub(super) fn nothing(ui: &mut egui::Ui, text: &str) {
    ui.add_space(10.0);
    ui.label(parts::quiet(text));
}

fn contents(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    focused: bool,
) -> Option<ObjectId> {
    let state = &mut view.held.states[0];
    let Some(page) = view.page.get() else {
        // The head of the page says how far it is.
        return None;
    };
    if page.left_out() > 0 {
        let text = format!("{} further elements are not listed", count_text(page.left_out()));
        ui.label(egui::RichText::new(text).size(12.0).color(theme::WARNING));
    }
    if page.details.is_none() {
        parts::line(ui, parts::quiet(NO_VALUES));
        let all = heap.heap().references(view.object);
        if all.is_empty() {
            nothing(ui, "It refers to no object.");
            return None;
        }
        let columns = columns(heap, ListColumn::text("", 1.0, "").points(60.0));
        let long = LongList { name: "references", columns: &columns, rows: all.len() as u64, focused };
        let event = long.show(ui, state, |row, column| match (column, all.get(row as usize)) {
            (0, _) => ListCell::quiet(format!("{}", row + 1)),
            (_, Some(&o)) => object_cell(column, heap, desk, o),
            _ => ListCell::new(""),
        });
        return all.get(followed(event)? as usize).copied();
    }
    if let Some(fields) = page.fields() {
        if fields.is_empty() {
            nothing(ui, "It has no fields.");
            return None;
        }
        let columns = columns(heap, ListColumn::text("Field", 1.0, "Its name; quiet where a superclass declares it"));
        let own = fields.first().map(|field| field.class.clone());
        let long = LongList { name: "fields", columns: &columns, rows: fields.len() as u64, focused };
        let event = long.show(ui, state, |row, column| {
            let Some(field) = fields.get(row as usize) else { return ListCell::new("") };
            match column {
                0 if own.as_ref() == Some(&field.class) => ListCell::new(&*field.name),
                0 => {
                    let class = field.class.rsplit('.').next().unwrap_or(&field.class);
                    ListCell::quiet(format!("{}   {class}", field.name))
                }
                _ => value_cell(column, heap, desk, field.value),
            }
        });
        return fields.get(followed(event)? as usize)?.value.object();
    }
    if let Some(elements) = page.elements() {
        if elements.is_empty() {
            nothing(ui, "It has no elements.");
            return None;
        }
        let columns = columns(heap, ListColumn::text("Index", 1.0, "The place in the array").points(70.0));
        let long = LongList { name: "elements", columns: &columns, rows: elements.len() as u64, focused };
        let event = long.show(ui, state, |row, column| match (column, elements.get(row as usize)) {
            (0, _) => ListCell::quiet(format!("[{}]", count_text(row))),
            (_, Some(&value)) => value_cell(column, heap, desk, value),
            _ => ListCell::new(""),
        });
        return elements.get(followed(event)? as usize)?.object();
    }
    match page.primitives() {
        Some((_, 0, _)) => nothing(ui, "It has no elements."),
        Some((_, _, [])) => nothing(ui, "The dump leaves out what primitive arrays hold."),
        Some((kind, _, held)) => {
            let elements = view.held.elements.unwrap_or(!is_text(kind));
            bytes::primitives(ui, state, kind, held, elements, focused);
        }
        None => nothing(ui, "The dump has no record of it: it may be damaged."),
    }
    None
}

fn referrers(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    focused: bool,
) -> Option<ObjectId> {
    let all = &view.page.get()?.referrers;
    if all.is_empty() {
        nothing(ui, "No object refers to it.");
        return None;
    }
    let columns = columns(heap, ListColumn::text("By field", 2.0, "The field or element that holds the object"));
    let long = LongList { name: "referrers", columns: &columns, rows: all.len() as u64, focused };
    let object = view.object;
    let event = long.show(ui, &mut view.held.states[1], |row, column| match (column, all.get(row as usize)) {
        (0, Some(&from)) => place_cell(desk, from, object),
        (_, Some(&from)) => object_cell(column, heap, desk, from),
        _ => ListCell::new(""),
    });
    all.get(followed(event)? as usize).copied()
}

fn place_cell(desk: &mut Desk, from: ObjectId, to: ObjectId) -> ListCell {
    match desk.place(from, to) {
        Some(Some(place)) => ListCell::new(place).coloured(theme::INCOMING),
        Some(None) => ListCell::quiet(""),
        None => ListCell::quiet("…"),
    }
}

fn way(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    focused: bool,
) -> Option<ObjectId> {
    let Some(found) = view.way.get() else {
        parts::waiting(ui, &mut view.way, "A way from a GC root");
        return None;
    };
    let Some(way) = found else {
        nothing(ui, "No GC root reaches it: nothing keeps it alive.");
        return None;
    };
    ui.horizontal(|ui| {
        theme::heading(ui, "FROM");
        if let Some(place) = parts::root_line(ui, &way.root, way.place.as_deref()) {
            desk.code = Some(place);
        }
    });
    let columns = columns(heap, ListColumn::text("By field", 2.0, "The field of the object above that holds this one"));
    let long = LongList { name: "way", columns: &columns, rows: way.objects.len() as u64, focused };
    let event = long.show(ui, &mut view.held.states[2], |row, column| {
        let row = row as usize;
        match (column, way.objects.get(row)) {
            (0, _) if row == 0 => ListCell::quiet("held by the root"),
            (0, Some(&o)) => place_cell(desk, way.objects[row - 1], o),
            (_, Some(&o)) => object_cell(column, heap, desk, o),
            _ => ListCell::new(""),
        }
    });
    way.objects.get(followed(event)? as usize).copied()
}

fn stack(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    focused: bool,
) -> Option<ObjectId> {
    let lines = &view.page.get()?.stack;
    let mut columns =
        columns(heap, ListColumn::text("Method", 2.4, "The innermost first; below it what its variables hold"));
    columns[1] = columns[1].clone().spare(2);
    let long = LongList { name: "stack", columns: &columns, rows: lines.len() as u64, focused };
    let event = long.show(ui, &mut view.held.states[5], |row, column| match (column, lines.get(row as usize)) {
        // To the line in the editor.
        (0, Some(StackLine::Frame(text))) if CodePlace::first_in(text).is_some() => ListCell::link(&**text),
        (0, Some(StackLine::Frame(text))) => ListCell::new(&**text).coloured(theme::INCOMING),
        (0, Some(StackLine::Local(_))) => ListCell { depth: 1, ..ListCell::quiet("a variable holds") },
        (_, Some(StackLine::Local(o))) => object_cell(column, heap, desk, *o),
        _ => ListCell::new(""),
    });
    match lines.get(followed(event)? as usize)? {
        StackLine::Local(o) => Some(*o),
        StackLine::Frame(text) => {
            desk.code = CodePlace::first_in(text);
            None
        }
    }
}
