//! The owners of an object, and the objects that it owns: its place in the dominator tree, as lists.

use super::desk::Desk;
use super::held::{columns, followed, nothing, object_cell};
use super::object::InspectedObject;
use super::parts;
use crate::viewer::panels::long_list::{ListCell, ListColumn, LongList};
use bevy_egui::egui;
use memory_city_analysis::analyses::count_text;
use memory_city_analysis::inspection::InspectedHeap;
use memory_city_heap::ObjectId;

/// Objects that alone keep an object alive, the nearest first. Returns the target of a click.
pub fn owners(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    focused: bool,
) -> Option<ObjectId> {
    if desk.dominators.get().is_none() {
        parts::waiting(ui, &mut desk.dominators, "The dominator tree");
        return None;
    }
    let Some(owners) = view.owners.get() else {
        parts::waiting(ui, &mut view.owners, "Owners");
        return None;
    };
    if owners.is_empty() {
        let text = match heap.retained(view.object).is_some_and(|amount| amount.objects > 0) {
            true => "No object alone keeps it alive: a GC root does, or several objects together.",
            false => "No GC root reaches it: nothing keeps it alive.",
        };
        nothing(ui, text);
        return None;
    }
    let columns = columns(heap, ListColumn::text("Step", 1.0, "How many owners up").points(50.0));
    let long = LongList { name: "owners", columns: &columns, rows: owners.len() as u64, focused };
    let event = long.show(ui, &mut view.held.states[3], |row, column| match (column, owners.get(row as usize)) {
        (0, _) => ListCell::quiet(count_text(row + 1)),
        (_, Some(&o)) => object_cell(column, heap, desk, o),
        _ => ListCell::new(""),
    });
    owners.get(followed(event)? as usize).copied()
}

/// Objects that an object alone keeps alive, next below it. Returns the target of a click.
pub fn owned(
    ui: &mut egui::Ui,
    view: &mut InspectedObject,
    heap: &InspectedHeap<'_>,
    desk: &mut Desk,
    focused: bool,
) -> Option<ObjectId> {
    let Some(tree) = heap.known_dominators() else {
        parts::waiting(ui, &mut desk.dominators, "The dominator tree");
        return None;
    };
    let owner = Some(view.object);
    let rows = tree.owned_count(owner);
    if rows == 0 {
        nothing(ui, "It alone keeps nothing else alive.");
        return None;
    }
    let item = |row: u64| tree.owned_between(owner, row..row + 1).next();
    let columns = columns(heap, ListColumn::text("Rank", 1.0, "Those that retain most first").points(60.0));
    let long = LongList { name: "owned", columns: &columns, rows, focused };
    let event = long.show(ui, &mut view.held.states[4], |row, column| match (column, item(row)) {
        (0, _) => ListCell::quiet(count_text(row + 1)),
        (_, Some(o)) => object_cell(column, heap, desk, o),
        _ => ListCell::new(""),
    });
    item(followed(event)?)
}
