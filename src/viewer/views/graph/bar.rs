//! The bars above and below the graph: its subject, actions on the chosen box, and the meaning of colours.

use super::drawn_graph::{DrawnGraph, GraphWish};
use super::paint;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use bevy::prelude::{DetectChanges, ResMut};
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Rect, RichText};
use memory_city_analysis::object_graph::GraphStep;
use memory_city_analysis::timeline::Timeline;
use memory_city_views::graph::{GraphPicture, GraphTint};

/// Room for the legend, points.
pub const LEGEND: f32 = 24.0;

/// Keys of steps, as they are printed.
fn key_of(step: GraphStep) -> &'static str {
    match step {
        GraphStep::PointsTo => "  [Right]",
        GraphStep::PointedFrom => "  [Left]",
        GraphStep::MainPaths => "  [Up]",
        GraphStep::Unfold => "  [Down]",
        GraphStep::PathsToRoots => "",
    }
}

/// Whether a step does something to the chosen box.
fn is_possible(graph: &DrawnGraph, step: GraphStep) -> bool {
    let chosen = graph.chosen_or_first().and_then(|at| graph.graph()?.boxes.get(at));
    match step {
        GraphStep::PointsTo | GraphStep::PointedFrom => chosen.is_some(),
        GraphStep::PathsToRoots | GraphStep::MainPaths => chosen.is_some() && graph.has_objects(),
        GraphStep::Unfold => chosen.is_some_and(|chosen| chosen.other > 0),
    }
}

/// The controls.
pub fn show(ui: &mut egui::Ui, graph: &mut DrawnGraph, selection: &ResMut<Selection>, timeline: &Timeline) {
    ui.horizontal_wrapped(|ui| {
        let chosen = graph.chosen_or_first();
        let name = chosen.and_then(|at| graph.graph()?.boxes.get(at)).map(|one| one.name.clone()).unwrap_or_default();
        ui.label(RichText::new(theme::shortened(&theme::brief(&name), 40)).strong()).on_hover_text(&name);
        let works = graph.works();
        if let Some(chosen) = chosen {
            for (step, title, help) in GraphStep::ALL {
                if step == GraphStep::Unfold && !is_possible(graph, step) {
                    continue;
                }
                let button = ui.add_enabled(!works && is_possible(graph, step), egui::Button::new(title).small());
                if button.on_hover_text(format!("{help}{}", key_of(step))).clicked() {
                    graph.wish = Some(GraphWish::Step(step, chosen));
                }
            }
            let owned = graph.owned() == Some(chosen);
            let toggle =
                ui.add_enabled(!works && graph.has_objects(), egui::Button::selectable(owned, "Ownership").small());
            let help = "At each arrow how much of this box is held over it: which of several collections keeps it";
            if toggle.on_hover_text(help).clicked() {
                graph.wish = Some(GraphWish::Ownership((!owned).then_some(chosen)));
            }
        }
        if graph.fit.is_some()
            && ui.add(egui::Button::new("Fit").small()).on_hover_text("Shows all of it again").clicked()
        {
            graph.fit = None;
        }
        let other = graph.steps > 0 && selection.node().is_some() && graph.followed != selection.last_changed();
        if other {
            let text = format!(
                "Begin with {}",
                selection
                    .node()
                    .map_or_else(String::new, |node| theme::shortened(&theme::brief(&timeline.display_name(node)), 28))
            );
            if ui
                .add(egui::Button::new(text).small())
                .on_hover_text("Makes the graph of what is selected now")
                .clicked()
            {
                graph.wish = Some(GraphWish::Anew);
            }
        } else if graph.steps > 0
            && ui.add(egui::Button::new("Begin anew").small()).on_hover_text("Takes all steps back").clicked()
        {
            graph.wish = Some(GraphWish::Anew);
        }
        if let Some(snapshot) = graph.snapshot() {
            spinner(ui, 14.0);
            ui.label(RichText::new(snapshot.stage).color(theme::QUIET));
            if ui.add(egui::Button::new("Cancel").small()).clicked() {
                graph.cancel();
            }
        }
    });
    if let Some(error) = &graph.error {
        ui.label(RichText::new(error).color(theme::WARNING).size(12.0));
    }
}

/// The steps from the chosen box, as a menu.
pub fn menu(ui: &mut egui::Ui, graph: &mut DrawnGraph) {
    let Some(chosen) = graph.chosen_or_first() else { return };
    for (step, title, help) in GraphStep::ALL {
        if is_possible(graph, step) && ui.button(title).on_hover_text(format!("{help}{}", key_of(step))).clicked() {
            graph.wish = Some(GraphWish::Step(step, chosen));
            ui.close();
        }
    }
}

/// Meaning of colours, the moment of the graph, and the number of omitted groups.
pub fn legend(ui: &egui::Ui, room: Rect, graph: &DrawnGraph, picture: &GraphPicture) {
    let painter = ui.painter();
    let font = FontId::proportional(11.0);
    let strip = room.with_min_y(room.bottom() - LEGEND);
    painter.rect_filled(strip, 0.0, theme::PANEL);
    let mut x = strip.left();
    for (tint, means) in GraphTint::ALL {
        if !picture.boxes.iter().chain(&picture.roots).any(|shape| shape.tint == tint) {
            continue;
        }
        let swatch = Rect::from_center_size(Pos2::new(x + 6.0, strip.center().y), egui::vec2(11.0, 11.0));
        painter.rect(swatch, 2.0, paint::tint(tint), (1.0, Color32::from_white_alpha(60)), egui::StrokeKind::Inside);
        let at = Pos2::new(x + 16.0, strip.center().y);
        x = painter.text(at, Align2::LEFT_CENTER, means, font.clone(), theme::QUIET).right() + 14.0;
    }
    let mut notes = Vec::new();
    if picture.left_out > 0 {
        notes.push(format!("{} thinner arrows not drawn", picture.left_out));
    }
    if graph.left_out > 0 {
        notes.push(format!("{} groups with fewer references not added", graph.left_out));
    }
    let text = if notes.is_empty() {
        "Wheel: larger, smaller · drag: move · right click: steps".to_owned()
    } else {
        notes.join(" · ")
    };
    let at = Pos2::new(strip.right(), strip.center().y);
    if x + 320.0 < strip.right() || !notes.is_empty() {
        painter.text(
            at,
            Align2::RIGHT_CENTER,
            text,
            font,
            if notes.is_empty() { theme::QUIET } else { theme::WARNING },
        );
    }
}
