//! Painting of the table's rows on screen: cells, lines over time, and below them the sums of the selection.

use super::rows::Table;
use crate::viewer::panels::numbers::{number, signed};
use crate::viewer::panels::{theme, tooltip};
use crate::viewer::selection::{Pointing, Selection, Target};
use bevy::ecs::change_detection::Tick;
use bevy::prelude::{DetectChanges, ResMut};
use bevy_egui::egui::{self, Align, Color32, Layout, Pos2, RichText, Sense, Shape as Drawn, Stroke};
use egui_extras::{Column, TableBuilder, TableRow};
use memory_city_analysis::table::{TableShape, TreeTable};
use memory_city_analysis::tabular::{Cell, CellKind};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline, Unit};
use std::sync::Arc;

/// Height of the line below the table.
pub const FOOTER: f32 = 22.0;
const ROW: f32 = 18.0;
/// Most points of a line over time: more would be indistinct in a cell.
const MOST_POINTS: usize = 60;
/// Indentation of children, points.
const INDENT: f32 = 14.0;
/// Depth from which the indentation stays the same.
const DEEPEST_INDENT: u32 = 14;

/// The table itself.
pub fn rows(
    ui: &mut egui::Ui,
    table: &mut Table,
    timeline: &Arc<Timeline>,
    (selection, pointing): (&mut ResMut<Selection>, &mut Pointing),
    time: usize,
) {
    let Some(data) = table.data().cloned() else { return };
    // While the next trees' numbers are made, there are no rows.
    if !Arc::ptr_eq(data.timeline(), timeline) {
        return;
    }
    let reveal = table.reveal.filter(|_| !table.busy()).and_then(|node| table.row_of(node));
    if !table.busy() {
        table.reveal = None;
    }
    let shown: Vec<usize> = (0..data.columns().len()).filter(|&c| data.columns()[c].id != "role").collect();
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Truncate);
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut clicked = None;
    let mut toggled = None;
    egui::ScrollArea::horizontal().auto_shrink([false, false]).show(ui, |ui| {
        let mut builder = TableBuilder::new(ui)
            .id_salt("memory tree")
            .striped(true)
            .resizable(true)
            .sense(Sense::click())
            .auto_shrink([false, false])
            .cell_layout(Layout::left_to_right(Align::Center));
        for &column in &shown {
            builder = builder.column(match data.columns()[column].kind {
                CellKind::Node => Column::initial(220.0).at_least(120.0).clip(true),
                CellKind::Series(_) => Column::initial(100.0).at_least(60.0).clip(true),
                CellKind::Change(_) => Column::initial(94.0).at_least(48.0).clip(true),
                CellKind::Percent => Column::initial(66.0).at_least(48.0).clip(true),
                _ => Column::initial(74.0).at_least(48.0).clip(true),
            });
        }
        if let Some(row) = reveal {
            builder = builder.scroll_to_row(row, None);
        }
        let header = builder.header(22.0, |mut row| {
            for &column in &shown {
                row.col(|ui| title(ui, table, &data, column));
            }
        });
        header.body(|body| {
            let count = table.rows().len();
            body.rows(ROW, count, |mut row| {
                let Some(&node) = table.rows().get(row.index()) else { return };
                let pointed = pointing.hovered == Some(Target::Node(node));
                row.set_selected(selection.has(node));
                row.set_hovered(pointed);
                for &column in &shown {
                    if column == 0 {
                        row.col(|ui| {
                            if name(ui, table, timeline, node) {
                                toggled = Some(node);
                            }
                        });
                    } else {
                        cell(&mut row, &data, timeline, node, column, (table.metric(), time));
                    }
                }
                let response = row.response();
                if response.clicked() {
                    clicked = Some(row.index());
                }
                if response.double_clicked() && !timeline.is_leaf(node) {
                    toggled = Some(node);
                }
                if response.hovered() {
                    pointing.pointed = Some(node);
                }
                response.on_hover_ui(|ui| tooltip::node(ui, timeline, time, node));
            });
        });
    });
    if let Some(node) = toggled {
        table.set_open(node, !table.is_open(node));
    } else if let Some(row) = clicked {
        let modifiers = ui.input(|i| i.modifiers);
        super::click(table, timeline, selection, row, modifiers);
    }
}

/// The title of a column: a click sorts.
fn title(ui: &mut egui::Ui, table: &mut Table, data: &TreeTable, column: usize) {
    let column = &data.columns()[column];
    let sorted = table.order.sort.as_ref().filter(|(id, _)| *id == column.id).map(|(_, descending)| *descending);
    let arrow = match sorted {
        Some(true) => " ⏷",
        Some(false) => " ⏶",
        None => "",
    };
    let colour = if sorted.is_some() { theme::ACCENT } else { theme::QUIET };
    let text = RichText::new(format!("{}{arrow}", column.title)).size(11.5).strong().color(colour);
    let label = egui::Label::new(text).selectable(false).sense(Sense::click()).truncate();
    let layout = match column.kind.is_numeric() {
        true => Layout::right_to_left(Align::Center),
        false => Layout::left_to_right(Align::Center),
    };
    let response = ui.with_layout(layout, |ui| ui.add(label)).inner;
    if response.on_hover_text(format!("{}. Click to sort", column.explanation)).clicked() {
        table.sort_by(&column.id);
    }
}

/// The name, with the sign that opens and closes it. Returns whether that was clicked.
fn name(ui: &mut egui::Ui, table: &Table, timeline: &Timeline, node: NodeId) -> bool {
    let mut toggled = false;
    let text = if table.order.shape == TableShape::Tree {
        ui.add_space(INDENT * timeline.level(node).min(DEEPEST_INDENT) as f32);
        let (rect, response) = ui.allocate_exact_size(egui::vec2(INDENT, ROW), Sense::click());
        if !timeline.is_leaf(node) {
            let c = rect.center();
            let points = match table.is_open(node) {
                true => vec![c + egui::vec2(-4.0, -2.5), c + egui::vec2(4.0, -2.5), c + egui::vec2(0.0, 3.5)],
                false => vec![c + egui::vec2(-2.5, -4.0), c + egui::vec2(3.5, 0.0), c + egui::vec2(-2.5, 4.0)],
            };
            let colour = if response.hovered() { theme::TEXT } else { theme::QUIET };
            ui.painter().add(Drawn::convex_polygon(points, colour, Stroke::NONE));
            toggled = response.clicked();
        }
        timeline.name(node).to_owned()
    } else {
        timeline.display_name(node)
    };
    ui.add(egui::Label::new(RichText::new(text).size(12.5)).selectable(false).truncate());
    toggled
}

fn cell(
    row: &mut TableRow<'_, '_>,
    data: &TreeTable,
    timeline: &Timeline,
    node: NodeId,
    column: usize,
    (metric, time): (Metric, usize),
) {
    let kind = data.columns()[column].kind;
    row.col(|ui| {
        if let CellKind::Series(_) = kind {
            return line(ui, timeline, node, metric, time);
        }
        let cell = data.cell(node, column);
        let colour = match (&cell, kind) {
            (Cell::Change(0), _) | (Cell::Number(0), _) => theme::QUIET,
            (Cell::Change(change), _) => {
                if is_tiny(change.unsigned_abs(), kind, timeline, time) {
                    theme::TEXT
                } else if *change > 0 {
                    theme::GROWTH
                } else {
                    theme::SHRINK
                }
            }
            (Cell::Text(_), _) => theme::QUIET,
            _ => theme::TEXT,
        };
        let text = match cell {
            Cell::Change(0) => cell.text(kind).replacen('+', "±", 1),
            _ => cell.text(kind),
        };
        let text = RichText::new(text).size(12.0).color(colour);
        let label = egui::Label::new(text).selectable(false).truncate();
        match kind.is_numeric() {
            true => ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.add(label)).inner,
            false => ui.add(label),
        };
    });
}

/// Whether a change is less than a thousandth of the heap: with its sign, but not in a colour that says that it matters.
fn is_tiny(change: u64, kind: CellKind, timeline: &Timeline, time: usize) -> bool {
    let heap = timeline.amount(time, NodeId::ROOT);
    let all = match kind.unit() {
        Some(Unit::Bytes) => heap.bytes,
        Some(Unit::Objects) => heap.objects,
        _ => return false,
    };
    u128::from(change) * 1000 < u128::from(all)
}

/// The value over all times, on its own scale, with a mark at the shown time.
fn line(ui: &mut egui::Ui, timeline: &Timeline, node: NodeId, metric: Metric, time: usize) {
    let (rect, _) = ui.allocate_exact_size(egui::vec2(ui.available_width(), ROW), Sense::hover());
    let times = timeline.times();
    if times < 2 {
        return;
    }
    let rect = rect.shrink2(egui::vec2(4.0, 3.0));
    let points = times.min(MOST_POINTS);
    let at = |i: usize| i * (times - 1) / (points - 1).max(1);
    let values: Vec<u64> = (0..points).map(|i| timeline.value(at(i), node, metric)).collect();
    let most = timeline.peak(node, metric).max(1) as f64;
    let y = |value: u64| rect.bottom() - rect.height() * (value as f64 / most) as f32;
    let x = |t: usize| rect.left() + rect.width() * t as f32 / (times - 1) as f32;
    let line: Vec<Pos2> = values.iter().enumerate().map(|(i, &value)| Pos2::new(x(at(i)), y(value))).collect();
    ui.painter().add(Drawn::line(line, Stroke::new(1.2, theme::ACCENT)));
    let now = Pos2::new(x(time.min(times - 1)), y(timeline.value(time.min(times - 1), node, metric)));
    ui.painter().circle_filled(now, 2.0, Color32::WHITE);
}

/// The sums of the selection.
pub fn footer(ui: &mut egui::Ui, timeline: &Timeline, selection: &ResMut<Selection>, time: usize) {
    ui.horizontal(|ui| {
        let quiet = |text: String| RichText::new(text).size(11.5).color(theme::QUIET);
        let count = selection.nodes().len();
        if count == 0 {
            let text = "Click selects a row, Ctrl adds one, Shift adds all up to it: together they are one group";
            ui.label(quiet(text.to_owned()));
            return;
        }
        let id = egui::Id::new("sums of the selection");
        let state = (selection.last_changed(), time, timeline.len());
        let kept: Option<((Tick, usize, usize), String)> = ui.data(|data| data.get_temp(id));
        let text = match kept {
            Some((of, text)) if of == state => text,
            _ => {
                let text = sums(timeline, selection, time);
                ui.data_mut(|data| data.insert_temp(id, (state, text.clone())));
                text
            }
        };
        let name = if count == 1 { "1 row".to_owned() } else { format!("{count} rows as one group") };
        ui.label(RichText::new(name).size(11.5).color(theme::ACCENT));
        ui.label(quiet(text));
    });
}

fn sums(timeline: &Timeline, selection: &Selection, time: usize) -> String {
    let tops = selection.outermost(timeline);
    let sum = |metric: Metric| {
        let now: u64 = tops.iter().map(|&n| timeline.value(time, n, metric)).fold(0, u64::saturating_add);
        let grown: i64 = tops.iter().map(|&n| timeline.growth_until(time, n, metric)).fold(0, i64::saturating_add);
        format!("{} ({})", number(timeline, now, metric), signed(timeline, grown, metric))
    };
    let sums: Vec<String> = timeline.metrics().take(4).map(sum).collect();
    format!("{}  ·  growth since the first time", sums.join("   "))
}
