//! The table: the whole memory tree with a column for each metric, its growth, share, and a line over time. It can be sorted, filtered,
//! opened and closed, and is linked with the other views both ways.
//!
//! The rows are [`memory_city_analysis::table`]'s, made off the frame ([`rows`]). Painting costs as much as the rows on screen
//! ([`paint`]), however many there are.

mod header;
mod keys;
mod paint;
mod rows;

use crate::viewer::clock::Clock;
use crate::viewer::dock::Focus;
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::frame::Stage;
use crate::viewer::panels::theme;
use crate::viewer::selection::{Pointing, Select, Selection, SharedFilter};
use crate::viewer::view::{About, Place, View, ViewPicture, WriteTable, draw_with, no_table, written};
use bevy::prelude::*;
use bevy_egui::egui;
use memory_city_analysis::table::{Arrangement, TableRows};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::error::Result;
pub use rows::Table;

const ID: &str = "table";

/// The table as a kind of view.
pub(super) const VIEW: &dyn View = &TablePane;

struct TablePane;

impl View for TablePane {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Table",
            help: "The whole tree as a table: sort, filter, compare over time",
            place: Place::Middle,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn keys(&self, world: &World) -> &'static [KeyCode] {
        keys::taken(world)
    }

    fn plugin(&self, app: &mut App) {
        plugin(app);
    }

    fn table(&self) -> Option<WriteTable> {
        Some(csv)
    }

    fn pictures(&self) -> Vec<ViewPicture> {
        vec![ViewPicture { name: ID, set_up: |_| () }]
    }
}

/// Its rows as CSV: the output of `report --tree --format csv`, but sorted, filtered and opened as here.
fn csv(world: &World) -> Result<Vec<u8>> {
    let grouping = world.resource::<Document>().get().map(|open| open.source.grouping_title()).unwrap_or_default();
    match world.resource::<Table>().shown() {
        Some((data, view, shape)) => {
            let arrangement = Arrangement { shape, ..Arrangement::default() };
            written(&TableRows::new(data, view, &arrangement, &grouping))
        }
        None => Err(no_table("The table", "is not there yet")),
    }
}

fn plugin(app: &mut App) {
    app.init_resource::<Table>()
        .add_observer(|_: On<Opened>, mut table: ResMut<Table>| table.forget())
        .add_observer(|_: On<Closed>, mut table: ResMut<Table>| table.forget())
        .add_observer(|_: On<Grew>, document: Res<Document>, mut table: ResMut<Table>| {
            if let Some(timeline) = document.timeline() {
                table.rebind(timeline);
            }
        })
        .add_systems(Update, rows::follow.in_set(Stage::Derive));
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut table: ResMut<Table>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    mut filter: ResMut<SharedFilter>,
    (clock, focus): (Res<Clock>, Res<Focus>),
) {
    let table = &mut *table;
    table.seen = true;
    let Some(timeline) = document.timeline() else { return };
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(6)).show(ui, |ui| {
        header::show(ui, table, &mut filter);
        let selection = &mut selection;
        if focus.is(ID) {
            keys::handle(ui, table, timeline, selection);
        }
        let room = ui.available_height() - paint::FOOTER;
        ui.allocate_ui(egui::vec2(ui.available_width(), room), |ui| {
            ui.set_min_height(room);
            paint::rows(ui, table, timeline, (selection, &mut pointing), clock.time);
        });
        paint::footer(ui, timeline, selection, clock.time);
    });
}

/// Selects the row that was clicked, adds it (Ctrl), or selects all from the row before to it (Shift).
fn click(
    table: &mut Table,
    timeline: &Timeline,
    selection: &mut ResMut<Selection>,
    row: usize,
    modifiers: egui::Modifiers,
) {
    let Some(&node) = table.rows().get(row) else { return };
    if modifiers.shift {
        let anchor = table.anchor.and_then(|node| table.row_of(node)).unwrap_or(row);
        let range = anchor.min(row)..=anchor.max(row);
        // The clicked row leads.
        let rest: Vec<NodeId> = table.rows()[range].iter().copied().filter(|n| *n != node).collect();
        selection.select_all(timeline, std::iter::once(node).chain(rest));
    } else {
        if modifiers.command {
            selection.add_or_remove(timeline, node);
        } else {
            selection.select(timeline, node);
        }
        table.anchor = Some(node);
    }
    table.cursor = Some(node);
    table.followed = selection.last_changed();
}
