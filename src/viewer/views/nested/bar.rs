//! The bar above the nested pictures: their form, and the way into the tree.

use super::Nested;
use crate::viewer::panels::{numbers, theme};
use bevy_egui::egui::{self, Align2, FontId, RichText};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_views::nested::{NestedPart, NestedPicture, NestedShape, SiblingOrder};

/// The controls and the way.
pub fn show(ui: &mut egui::Ui, nested: &mut Nested, timeline: &Timeline) {
    ui.horizontal_wrapped(|ui| {
        for (shape, name, help) in [
            (NestedShape::Sunburst, "Sunburst", "Rings: the group in the middle, each level a ring around it"),
            (NestedShape::Icicle, "Icicle", "Columns: the group at the left, each level a column to its right"),
        ] {
            if ui.selectable_label(nested.shape == shape, name).on_hover_text(help).clicked() {
                nested.shape = shape;
            }
        }
        ui.separator();
        ui.label(RichText::new("first").color(theme::QUIET))
            .on_hover_text("Which groups come first; the order is the same at all times");
        for (order, name, help) in SiblingOrder::ALL {
            if ui.selectable_label(nested.order == order, name).on_hover_text(help).clicked() {
                nested.order = order;
            }
        }
        if timeline.times() > 1 {
            ui.separator();
            ui.checkbox(&mut nested.to_scale, "to scale")
                .on_hover_text("Small pictures are as large as the heap is, compared with its largest state");
        }
    });
    ui.horizontal_wrapped(|ui| way(ui, nested, timeline));
}

/// The groups from the whole heap to the one in the middle, each to be gone back to.
fn way(ui: &mut egui::Ui, nested: &mut Nested, timeline: &Timeline) {
    let top = nested.top(timeline);
    let out = ui.add_enabled(top != NodeId::ROOT, egui::Button::new("⬆ Out").small());
    if out
        .on_hover_text(
            "To the group around this one (Page Up, or click the middle). Page Down goes into the selected group",
        )
        .clicked()
    {
        nested.go_out(timeline);
    }
    let mut go = None;
    for node in std::iter::once(NodeId::ROOT).chain(timeline.path(top)) {
        if node != NodeId::ROOT {
            ui.label(RichText::new("›").color(theme::QUIET));
        }
        let name = theme::shortened(&theme::brief(timeline.name(node)), 40);
        let text = if node == top { RichText::new(name).strong() } else { RichText::new(name).color(theme::ACCENT) };
        if ui
            .add(egui::Label::new(text).sense(egui::Sense::click()))
            .on_hover_text(theme::told_path(timeline, node))
            .clicked()
        {
            go = Some(node);
        }
    }
    if let Some(node) = go {
        nested.go_to(timeline, node);
    }
}

/// Caption of the global picture, with the parts that it leaves out.
pub fn caption(ui: &egui::Ui, room: egui::Rect, global: &NestedPicture) {
    let mut text = "The whole tree".to_owned();
    if global.left_out > 0 {
        text.push_str(&format!("; {} smaller parts are not drawn", global.left_out));
    }
    ui.painter().text(room.center_top(), Align2::CENTER_TOP, text, FontId::proportional(11.0), theme::QUIET);
}

/// A value of a picture in words.
pub fn amount(timeline: &Timeline, value: f64, metric: Metric) -> String {
    numbers::number(timeline, value.round().max(0.0) as u64, metric)
}

/// Short name of the part that a cell stands for.
pub fn part_name(timeline: &Timeline, part: NestedPart) -> String {
    match part {
        NestedPart::Group(node) => theme::brief(timeline.name(node)),
        NestedPart::Other(_) => "Other".to_owned(),
        NestedPart::Itself(_) => "itself".to_owned(),
    }
}
