//! The table of groups that differ: sorted by any column, linked with the selection. Only the rows on screen are drawn.

use super::groups_of;
use crate::viewer::comparison::ShownComparison;
use crate::viewer::panels::theme;
use crate::viewer::selection::{Pointing, Selection};
use bevy::prelude::ResMut;
use bevy_egui::egui::{self, Align, Layout, RichText, Sense};
use egui_extras::{Column, TableBuilder};
use memory_city_analysis::tabular::{Cell, ResultTable, RowSource};
use memory_city_analysis::timeline::Timeline;
use std::cmp::Ordering;

/// Height of a row.
const ROW: f32 = 18.0;

/// The order of the rows, by a column and whether its largest come first; as they are where there is none. Ties stay as they are.
pub fn order(table: &ResultTable, sort: Option<(usize, bool)>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..table.rows.len()).collect();
    if let Some((column, descending)) = sort {
        order.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|row| table.rows[row].cells.get(column).unwrap_or(&Cell::Empty));
            let by = compared(a, b);
            if descending { by.reverse() } else { by }
        });
    }
    order
}

/// Compares two cells; an empty one is the least.
fn compared(a: &Cell, b: &Cell) -> Ordering {
    match (a, b) {
        (Cell::Number(a), Cell::Number(b)) => a.cmp(b),
        (Cell::Change(a), Cell::Change(b)) => a.cmp(b),
        (Cell::Percent(a), Cell::Percent(b)) => a.total_cmp(b),
        // Names from A to Z first where the largest numbers are first.
        (Cell::Node(a), Cell::Node(b)) => b.name.cmp(&a.name),
        (Cell::Empty, Cell::Empty) => Ordering::Equal,
        (Cell::Empty, _) => Ordering::Less,
        (_, Cell::Empty) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// Draws them. Returns the column whose title was clicked.
pub fn show(
    ui: &mut egui::Ui,
    shown: &ShownComparison,
    order: &[usize],
    sort: Option<(usize, bool)>,
    timeline: &Timeline,
    (selection, pointing): (&mut ResMut<Selection>, &mut Pointing),
) -> Option<usize> {
    let table = &shown.told.table;
    if table.is_empty() {
        ui.label(RichText::new(table.empty_text()).color(theme::QUIET));
        return None;
    }
    let columns = &table.header.columns;
    let mut sorts = None;
    ui.spacing_mut().item_spacing.y = 0.0;
    // Numbers need their room; names get the rest.
    let numbers = 96.0 * (columns.len() - 1) as f32;
    let names = (ui.available_width() - numbers - 24.0).clamp(150.0, 420.0);
    egui::ScrollArea::horizontal().auto_shrink([false, false]).show(ui, |ui| {
        let mut builder = TableBuilder::new(ui)
            .striped(true)
            .resizable(true)
            .sense(Sense::click())
            .auto_shrink([false, false])
            .max_scroll_height(f32::INFINITY)
            .cell_layout(Layout::left_to_right(Align::Center));
        for at in 0..columns.len() {
            let width = if at == 0 { names } else { 88.0 };
            builder = builder.column(Column::initial(width).at_least(40.0).clip(true));
        }
        let header = builder.header(20.0, |mut row| {
            for (at, column) in columns.iter().enumerate() {
                row.col(|ui| {
                    let sign = match sort {
                        Some((by, true)) if by == at => " ⏷",
                        Some((by, false)) if by == at => " ⏶",
                        _ => "",
                    };
                    let title =
                        RichText::new(format!("{}{sign}", column.title)).size(11.5).strong().color(theme::QUIET);
                    let label = egui::Label::new(title).selectable(false).truncate().sense(Sense::click());
                    let response = match column.kind.is_numeric() {
                        true => ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.add(label)).inner,
                        false => ui.add(label),
                    };
                    let response = response.on_hover_text(format!("{}\nClick sorts by it", column.explanation));
                    if response.clicked() {
                        sorts = Some(at);
                    }
                });
            }
        });
        header.body(|body| {
            body.rows(ROW, order.len(), |mut row| {
                let line = &table.rows[order[row.index()]];
                let groups = line.cells.iter().find_map(|cell| match cell {
                    Cell::Node(link) => Some(groups_of(shown, timeline, &link.key)),
                    _ => None,
                });
                let groups = groups.unwrap_or_default();
                row.set_selected(groups.iter().any(|&node| selection.has(node)));
                for (cell, column) in line.cells.iter().zip(columns) {
                    row.col(|ui| {
                        let colour = match cell {
                            Cell::Change(change) if *change > 0 => theme::GROWTH,
                            Cell::Change(change) if *change < 0 => theme::SHRINK,
                            Cell::Percent(percent) if *percent > 0.0 => theme::GROWTH,
                            Cell::Percent(percent) if *percent < 0.0 => theme::SHRINK,
                            Cell::Number(0) | Cell::Change(_) => theme::QUIET,
                            _ => theme::TEXT,
                        };
                        let text = RichText::new(cell.text(column.kind).replace('→', "›")).size(12.0).color(colour);
                        let label = egui::Label::new(text).selectable(false).truncate();
                        match column.kind.is_numeric() {
                            true => ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.add(label)).inner,
                            false => ui.add(label),
                        };
                    });
                }
                let response = row.response();
                let Some(&first) = groups.first() else { return };
                if response.hovered() {
                    pointing.pointed = Some(first);
                }
                if response.clicked() {
                    match groups.iter().any(|&node| selection.has(node)) {
                        true => selection.clear(),
                        false => selection.select_all(timeline, groups.iter().copied()),
                    }
                }
                response.on_hover_text(format!("{}\nClick selects it in all views", theme::told_path(timeline, first)));
            });
        });
    });
    sorts
}

#[cfg(test)]
mod tests {
    use super::order;
    use memory_city_analysis::tabular::{Cell, ResultTable, Row};

    #[test]
    fn rows_are_sorted_by_a_column_and_ties_stay() {
        let row = |change: Option<i64>| Row { cells: vec![change.map_or(Cell::Empty, Cell::Change)], ..Row::default() };
        let rows = [Some(3), Some(-9), None, Some(3), Some(7)].map(row).to_vec();
        let table = ResultTable { rows, ..ResultTable::default() };
        assert_eq!(order(&table, None), [0, 1, 2, 3, 4]);
        assert_eq!(order(&table, Some((0, true))), [4, 0, 3, 1, 2]);
        assert_eq!(order(&table, Some((0, false))), [2, 1, 0, 3, 4]);
    }
}
