//! The header of the table: the search, and whether rows are a tree or a list.

use super::rows::Table;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use crate::viewer::selection::SharedFilter;
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::analyses::count_text;
use memory_city_analysis::table::TableShape;

const HELP: &str = "A part of a name, or an expression:\n  bytes > 1MB and growth > 20%\n  name ~ \"HashMap\" or path ~ \"java.util\"\n  not role = \"Package\" and share >= 1%";

/// The controls.
pub fn show(ui: &mut egui::Ui, table: &mut Table, filter: &mut ResMut<SharedFilter>) {
    ui.horizontal(|ui| {
        let mut text = filter.0.clone();
        let right = 330.0;
        let field = egui::TextEdit::singleline(&mut text)
            .hint_text("Filter: part of a name, or  bytes > 1MB and growth > 20%")
            .desired_width((ui.available_width() - right).clamp(120.0, 560.0));
        ui.add(field).on_hover_text(HELP);
        let filtered = !text.is_empty();
        if ui.add_enabled_ui(filtered, |ui| theme::cross_button(ui, "No filter", "No filter")).inner {
            text.clear();
        }
        if filter.0 != text {
            filter.0 = text;
        }
        for (shape, name, help) in [
            (TableShape::Tree, "Tree", "Groups below the groups they lie in"),
            (TableShape::Leaves, "Leaves", "The innermost groups as one list: the buildings of the city"),
            (TableShape::Nodes, "All", "Every group as one list"),
        ] {
            if ui.selectable_label(table.order.shape == shape, name).on_hover_text(help).clicked() {
                table.order.shape = shape;
            }
        }
        if table.busy() {
            spinner(ui, 14.0);
        } else {
            let text = match filter.0.trim().is_empty() {
                true => format!("{} rows", count_text(table.rows().len() as u64)),
                false => format!("{} match", count_text(table.matched())),
            };
            ui.label(RichText::new(text).size(11.5).color(theme::QUIET));
        }
    });
    if let Some((pointing, _)) = &table.wrong {
        ui.label(RichText::new(pointing).monospace().size(11.5).color(theme::WARNING));
    }
}
