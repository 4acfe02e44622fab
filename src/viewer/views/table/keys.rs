//! The keyboard in the table: rows up and down, open and close, from end to end.

use super::rows::Table;
use crate::viewer::selection::Selection;
use bevy::prelude::{KeyCode, ResMut, World};
use bevy_egui::egui::{self, Key};
use memory_city_analysis::table::TableShape;
use memory_city_analysis::timeline::{NodeId, Timeline};

/// Keys that are the table's while it has the keyboard: those that open and close rows first, which there are in a tree alone.
const KEYS: &[KeyCode] = &[
    KeyCode::ArrowLeft,
    KeyCode::ArrowRight,
    KeyCode::Enter,
    KeyCode::ArrowUp,
    KeyCode::ArrowDown,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::PageUp,
    KeyCode::PageDown,
];

/// The keys with an effect in the present state of the table.
pub fn taken(world: &World) -> &'static [KeyCode] {
    let table = world.resource::<Table>();
    match table.order.shape {
        _ if table.rows().is_empty() => &[],
        TableShape::Tree => KEYS,
        _ => &KEYS[3..],
    }
}

/// Rows that a page key passes.
const PAGE: usize = 20;

/// Carries out the pressed keys; none while a text is typed.
pub fn handle(ui: &egui::Ui, table: &mut Table, timeline: &Timeline, selection: &mut ResMut<Selection>) {
    if ui.memory(|memory| memory.focused().is_some()) {
        return;
    }
    let pressed: Vec<(Key, egui::Modifiers)> = ui.input(|i| {
        let keys = i.events.iter().filter_map(|event| match event {
            egui::Event::Key { key, pressed: true, modifiers, .. } => Some((*key, *modifiers)),
            _ => None,
        });
        keys.collect()
    });
    for (key, modifiers) in pressed {
        press(table, timeline, selection, key, modifiers);
    }
}

fn press(
    table: &mut Table,
    timeline: &Timeline,
    selection: &mut ResMut<Selection>,
    key: Key,
    modifiers: egui::Modifiers,
) {
    let Some(last) = table.rows().len().checked_sub(1) else { return };
    let at = table.cursor.and_then(|node| table.row_of(node));
    let tree = table.order.shape == TableShape::Tree;
    let here: Option<NodeId> = at.map(|row| table.rows()[row]);
    let to = match key {
        Key::ArrowUp => at.map_or(0, |row| row.saturating_sub(1)),
        Key::ArrowDown => at.map_or(0, |row| (row + 1).min(last)),
        Key::PageUp => at.map_or(0, |row| row.saturating_sub(PAGE)),
        Key::PageDown => at.map_or(0, |row| (row + PAGE).min(last)),
        Key::Home => 0,
        Key::End => last,
        Key::Enter | Key::ArrowLeft | Key::ArrowRight => {
            let Some(node) = here.filter(|_| tree) else { return };
            let (open, leaf) = (table.is_open(node), timeline.is_leaf(node));
            match key {
                Key::Enter if !leaf => table.set_open(node, !open),
                Key::ArrowRight if !leaf && !open => table.set_open(node, true),
                Key::ArrowLeft if !leaf && open => table.set_open(node, false),
                // To the first child, or to what it lies in.
                Key::ArrowRight if !leaf => return press(table, timeline, selection, Key::ArrowDown, modifiers),
                Key::ArrowLeft => {
                    if let Some(row) = timeline.parent(node).and_then(|parent| table.row_of(parent)) {
                        go(table, timeline, selection, row, egui::Modifiers::NONE);
                    }
                }
                _ => {}
            }
            return;
        }
        _ => return,
    };
    go(table, timeline, selection, to, modifiers);
}

fn go(
    table: &mut Table,
    timeline: &Timeline,
    selection: &mut ResMut<Selection>,
    row: usize,
    modifiers: egui::Modifiers,
) {
    // Shift extends the range; Control means nothing here.
    let modifiers = if modifiers.shift { egui::Modifiers::SHIFT } else { egui::Modifiers::NONE };
    super::click(table, timeline, selection, row, modifiers);
    table.reveal = table.cursor;
}
