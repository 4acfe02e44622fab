//! The legend of the city, part of every picture: what areas, colours, opacity and cones mean, with numbers.

use super::{City, Place, Shown, View};
use crate::viewer::panels::numbers::metric_name;
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use crate::viewer::ways::Ways;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, Pos2, Rect, RichText, Sense, Stroke};
use memory_city_views::city::{self, Legend};

/// Width over a picture, with its frame, points.
pub const WIDTH: f32 = 292.0;

/// The legend as a kind of view.
pub(super) fn view() -> View {
    View {
        id: "legend",
        title: "Legend",
        help: "What areas and colours of the city mean",
        place: Place::LeftBelow,
        keys: &[],
        plugin: |_| (),
        draw: |world, ui| super::draw_with(world, ui, draw),
        preparation: None,
    }
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    shown: Res<Shown>,
    settings: Res<Settings>,
    selection: Res<Selection>,
    ways: Res<Ways>,
) {
    let Some(city) = &shown.0 else { return };
    theme::pane(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        contents(ui, city, &settings, selection.node().is_some(), &ways);
    });
}

/// Shows the legend at the lower left of a picture.
pub fn over(ctx: &egui::Context, city: &City, settings: &Settings, selected: bool, ways: &Ways) {
    egui::Area::new("legend".into()).anchor(Align2::LEFT_BOTTOM, [theme::GAP, -theme::GAP]).movable(false).show(
        ctx,
        |ui| {
            theme::frame().show(ui, |ui| {
                ui.set_width(WIDTH - 22.0);
                ui.spacing_mut().item_spacing.y = 3.0;
                contents(ui, city, settings, selected, ways);
            });
        },
    );
}

fn contents(ui: &mut egui::Ui, city: &City, settings: &Settings, selected: bool, ways: &Ways) {
    let metric = metric_name(&city.timeline, city.made_with.metric);
    let area = match settings.area_mode {
        city::AreaMode::Linear => metric,
        city::AreaMode::Sqrt => format!("√ {metric}"),
    };
    match city.appearance.height_title() {
        None => line(ui, format!("Building = group of objects · ground area ~ {area}")),
        Some(title) => line(ui, format!("Ground area ~ {area} · height: {}", title.to_lowercase())),
    }
    colour_bar(ui, city.appearance.legend());
    let which = if city.times() < 2 { "largest" } else { "that grew most" };
    line(ui, format!("Opaque: the {} {which}; others {:.0} %", settings.solid_count, settings.opacity * 100.0));
    ui.horizontal(|ui| {
        if ways.found().is_some() {
            swatch(ui, theme::ROUTE);
            ui.label(RichText::new("path from a root").size(11.0));
        } else if settings.show_pointers {
            swatch(ui, theme::colour(city::INCOMING_COLOUR));
            ui.label(RichText::new("keeps it alive").size(11.0));
            swatch(ui, theme::colour(city::OUTGOING_COLOUR));
            ui.label(RichText::new("kept by it").size(11.0));
        }
        if selected {
            swatch(ui, theme::colour(city::SELECTED_COLOUR));
            ui.label(RichText::new("selected").size(11.0));
        }
        if ways.freed().is_some() {
            swatch(ui, theme::FREED);
            ui.label(RichText::new("would be freed").size(11.0));
        }
    });
}

fn line(ui: &mut egui::Ui, text: String) {
    ui.label(RichText::new(text).size(11.0).color(theme::QUIET));
}

fn swatch(ui: &mut egui::Ui, colour: Color32) {
    let (response, painter) = ui.allocate_painter(egui::vec2(10.0, 10.0), Sense::hover());
    painter.rect_filled(response.rect, 2.0, colour);
}

/// The gradient that buildings are coloured with, and its marks.
fn colour_bar(ui: &mut egui::Ui, legend: &Legend) {
    if legend.marks.is_empty() {
        line(ui, format!("{} (C)", legend.title));
        return;
    }
    ui.label(RichText::new(&legend.title).size(11.0));
    let (response, painter) = ui.allocate_painter(egui::vec2(ui.available_width(), 24.0), Sense::hover());
    let bar = Rect::from_min_size(response.rect.min, egui::vec2(response.rect.width(), 9.0));
    let steps = 48;
    for i in 0..steps {
        let at = i as f32 / (steps - 1) as f32;
        let x = bar.left() + bar.width() * i as f32 / steps as f32;
        let cell = Rect::from_min_size(Pos2::new(x, bar.top()), egui::vec2(bar.width() / steps as f32 + 0.5, 9.0));
        painter.rect_filled(cell, 0.0, theme::colour(legend.gradient.at(at)));
    }
    for mark in &legend.marks {
        let x = bar.left() + bar.width() * mark.position;
        let align = match mark.position {
            p if p <= 0.0 => Align2::LEFT_TOP,
            p if p >= 1.0 => Align2::RIGHT_TOP,
            _ => Align2::CENTER_TOP,
        };
        let below = Pos2::new(x, bar.bottom() + 3.0);
        painter.line_segment([Pos2::new(x, bar.bottom()), below], Stroke::new(1.0, theme::QUIET));
        painter.text(below, align, &mark.text, egui::FontId::proportional(10.5), theme::TEXT);
    }
}
