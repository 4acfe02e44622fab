//! The selected building: its numbers, its references as clickable tables, the roots that hold it.

use super::theme;
use super::{Tools, amounts, signed};
use crate::viewer::action::Action;
use bevy_egui::egui::{self, Color32, RichText, Sense};
use memory_city_analysis::timeline::Metric;
use memory_city_analysis::timeline::references::{Edge, ReferenceMap};
use memory_city_views::city;
use std::sync::Arc;

/// The panel's contents.
pub fn show(ui: &mut egui::Ui, tools: &mut Tools<'_>) {
    let Some(node) = tools.selection.node() else {
        theme::heading(ui, "SELECTION");
        ui.label(
            RichText::new("Click a building or a row of the list to see what keeps its objects alive.")
                .color(theme::QUIET),
        );
        return;
    };
    let timeline = Arc::clone(&tools.city.timeline);
    let time = tools.clock.time;
    ui.horizontal(|ui| {
        theme::heading(ui, &timeline.role(node).to_uppercase());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            for (text, action) in [("✖", Action::Escape), ("Fly there", Action::Focus), ("Back", Action::Back)] {
                if ui.small_button(text).on_hover_text(action.tooltip()).clicked() {
                    tools.actions.push(action);
                }
            }
            if ui.small_button("Copy").on_hover_text("Copies the path, for the code search or a ticket").clicked() {
                ui.ctx().copy_text(timeline.path_label(node));
            }
        });
    });
    ui.label(RichText::new(timeline.name(node)).size(15.0).strong().color(theme::ACCENT));
    let parents = timeline.parent(node).map(|p| timeline.path_label(p)).unwrap_or_default();
    if !parents.is_empty() {
        ui.label(RichText::new(parents).size(11.0).color(theme::QUIET));
    }
    if tools.city.plan.plot_of(node).is_none() && tools.city.plan.district_of(node).is_none() {
        ui.label(RichText::new("Not in the city at the present child count").color(theme::WARNING).size(11.0));
    }
    egui::Grid::new("amounts").num_columns(3).spacing([14.0, 2.0]).show(ui, |ui| {
        let row = |ui: &mut egui::Ui, label: &str, objects: String, bytes: String| {
            ui.label(RichText::new(label).color(theme::QUIET).size(12.0));
            ui.label(RichText::new(objects).size(12.0));
            ui.label(RichText::new(bytes).size(12.0));
            ui.end_row();
        };
        let now = timeline.amount(time, node);
        row(ui, "now", super::number(now.objects, Metric::Objects), super::number(now.bytes, Metric::Bytes));
        if timeline.times() > 1 {
            row(
                ui,
                "since first",
                signed(timeline.growth_until(time, node, Metric::Objects), Metric::Objects),
                signed(timeline.growth_until(time, node, Metric::Bytes), Metric::Bytes),
            );
            row(
                ui,
                "first to last",
                signed(timeline.growth(node, Metric::Objects), Metric::Objects),
                signed(timeline.growth(node, Metric::Bytes), Metric::Bytes),
            );
            let max = timeline.max(node);
            row(ui, "most", super::number(max.objects, Metric::Objects), super::number(max.bytes, Metric::Bytes));
        }
    });
    ui.separator();
    if let Some(error) = &tools.references.error {
        ui.label(RichText::new(format!("References cannot be shown: {error}")).color(theme::ERROR));
        return;
    }
    if tools.references.unknown {
        ui.label(RichText::new(crate::viewer::selection::NOT_TOLD).color(theme::QUIET));
        return;
    }
    match tools.references.of(node).cloned() {
        Some(map) => references(ui, tools, &map),
        None => {
            ui.horizontal(|ui| {
                ui.spinner();
                let stage = tools.references.snapshot().map(|s| s.stage).filter(|s| !s.is_empty());
                ui.label(stage.unwrap_or_else(|| "Collecting references".to_owned()));
            });
        }
    }
}

fn references(ui: &mut egui::Ui, tools: &mut Tools<'_>, map: &ReferenceMap) {
    if !map.roots.is_empty() {
        theme::heading(ui, "HELD DIRECTLY BY GC ROOTS");
        for (root, count) in map.roots.iter().take(4) {
            ui.add(
                egui::Label::new(
                    RichText::new(format!("{count}× {}", theme::shortened(root, 58))).size(11.5).color(theme::INCOMING),
                )
                .selectable(false),
            )
            .on_hover_text(root);
        }
        if map.roots.len() > 4 {
            let more = map.roots.len() - 4;
            ui.label(RichText::new(format!("and {more} more")).size(11.0).color(theme::QUIET)).on_hover_ui(|ui| {
                for (root, count) in map.roots.iter().skip(4).take(20) {
                    ui.label(format!("{count}× {root}"));
                }
                if more > 20 {
                    ui.label(format!("… {} more", more - 20));
                }
            });
        }
        ui.add_space(4.0);
    }
    table(
        ui,
        tools,
        "KEPT ALIVE BY  (incoming)",
        "incoming",
        &map.incoming,
        theme::colour(city::INCOMING_COLOUR),
        true,
    );
    ui.add_space(4.0);
    table(ui, tools, "KEEPS ALIVE  (outgoing)", "outgoing", &map.outgoing, theme::colour(city::OUTGOING_COLOUR), false);
    if tools.cones.left_out > 0 && tools.settings.show_pointers {
        ui.label(
            RichText::new(format!(
                "{} cones are drawn; the {} thinnest are not. The tables list all",
                tools.cones.drawn, tools.cones.left_out
            ))
            .size(11.0)
            .color(theme::WARNING),
        );
    }
    if map.internal > 0 {
        ui.label(
            RichText::new(format!(
                "{} references inside the group itself",
                memory_city_analysis::analyses::count_text(map.internal)
            ))
            .size(11.0)
            .color(theme::QUIET),
        );
    }
}

fn table(
    ui: &mut egui::Ui,
    tools: &mut Tools<'_>,
    title: &str,
    id: &str,
    edges: &[Edge],
    colour: Color32,
    incoming: bool,
) {
    theme::heading(ui, title);
    if edges.is_empty() {
        ui.label(RichText::new("none").color(theme::QUIET).size(12.0));
        return;
    }
    let timeline = Arc::clone(&tools.city.timeline);
    egui::ScrollArea::vertical().id_salt(id).max_height(132.0).auto_shrink([false, true]).show_rows(
        ui,
        17.0,
        edges.len(),
        |ui, rows| {
            for edge in &edges[rows] {
                row(ui, tools, &timeline, edge, colour, incoming);
            }
        },
    );
}

fn row(
    ui: &mut egui::Ui,
    tools: &mut Tools<'_>,
    timeline: &memory_city_analysis::timeline::Timeline,
    edge: &Edge,
    colour: Color32,
    incoming: bool,
) {
    let name = &theme::brief(&timeline.display_name(edge.other));
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 17.0), Sense::click());
    let painter = ui.painter_at(rect);
    if response.hovered() {
        painter.rect_filled(rect, 3.0, Color32::from_rgb(34, 44, 64));
        tools.selection.pointed = Some(edge.other);
    }
    let font = egui::FontId::proportional(12.0);
    let counts = format!(
        "{} › {}",
        memory_city_analysis::analyses::count_text(edge.referencing),
        memory_city_analysis::analyses::count_text(edge.referenced)
    );
    let right = painter.text(rect.right_top(), egui::Align2::RIGHT_TOP, counts, font.clone(), theme::QUIET);
    let room = ((right.left() - rect.left() - 16.0) / 6.4) as usize;
    painter.circle_filled(rect.left_center() + egui::vec2(5.0, 0.0), 3.5, colour);
    painter.text(
        rect.left_top() + egui::vec2(14.0, 0.0),
        egui::Align2::LEFT_TOP,
        theme::shortened(name, room.max(6)),
        font,
        theme::TEXT,
    );
    if response.clicked() {
        tools.selection.select(timeline, edge.other);
    }
    response.on_hover_ui(|ui| {
        ui.label(RichText::new(timeline.path_label(edge.other)).strong());
        let (from, to) =
            if incoming { ("its objects", "selected objects") } else { ("selected objects", "its objects") };
        ui.label(format!(
            "{} of {from} refer to {} of {to} through {} references",
            memory_city_analysis::analyses::count_text(edge.referencing),
            memory_city_analysis::analyses::count_text(edge.referenced),
            memory_city_analysis::analyses::count_text(edge.references)
        ));
        ui.label(amounts(timeline.amount(tools.clock.time, edge.other)));
        ui.label(RichText::new("Click to select it").size(11.0).color(theme::QUIET));
    });
}
