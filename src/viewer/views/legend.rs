//! The legend of the city, part of every picture: what areas, colours, opacity and cones mean, with numbers.

use super::{City, Place, Shown, View};
use crate::viewer::panels::numbers::{metric_name, number};
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, Pos2, Rect, RichText, Sense, Stroke};
use memory_city_views::city;

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

fn draw(InMut(ui): InMut<egui::Ui>, shown: Res<Shown>, settings: Res<Settings>, selection: Res<Selection>) {
    let Some(city) = &shown.0 else { return };
    theme::pane(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        contents(ui, city, &settings, selection.node().is_some());
    });
}

/// Shows the legend at the lower left of a picture.
pub fn over(ctx: &egui::Context, city: &City, settings: &Settings, selected: bool) {
    egui::Area::new("legend".into())
        .anchor(Align2::LEFT_BOTTOM, [theme::GAP, -theme::GAP])
        .movable(false)
        .show(ctx, |ui| {
            theme::frame().show(ui, |ui| {
                ui.set_width(WIDTH - 22.0);
                ui.spacing_mut().item_spacing.y = 3.0;
                contents(ui, city, settings, selected);
            });
        });
}

fn contents(ui: &mut egui::Ui, city: &City, settings: &Settings, selected: bool) {
    let metric = metric_name(&city.timeline, city.made_with.metric);
    let area = match settings.area_mode {
        city::AreaMode::Linear => metric,
        city::AreaMode::Sqrt => format!("√ {metric}"),
    };
    line(ui, format!("Building = group of objects · ground area ~ {area}"));
    if settings.colour {
        growth_bar(ui, city);
    } else {
        line(ui, "Growth colours are off (C)".to_owned());
    }
    line(ui, format!("Opaque: the {} that grew most; others {:.0} %", settings.solid_count, settings.opacity * 100.0));
    ui.horizontal(|ui| {
        if settings.show_pointers {
            swatch(ui, theme::colour(city::INCOMING_COLOUR));
            ui.label(RichText::new("keeps it alive").size(11.0));
            swatch(ui, theme::colour(city::OUTGOING_COLOUR));
            ui.label(RichText::new("kept by it").size(11.0));
        }
        if selected {
            swatch(ui, theme::colour(city::SELECTED_COLOUR));
            ui.label(RichText::new("selected").size(11.0));
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

fn growth_bar(ui: &mut egui::Ui, city: &City) {
    let metric = city.made_with.metric;
    let name = metric_name(&city.timeline, metric);
    ui.label(RichText::new(format!("Growth since the first state, {name}")).size(11.0));
    let (response, painter) = ui.allocate_painter(egui::vec2(ui.available_width(), 24.0), Sense::hover());
    let bar = Rect::from_min_size(response.rect.min, egui::vec2(response.rect.width(), 9.0));
    let steps = 48;
    for i in 0..steps {
        let at = i as f32 / (steps - 1) as f32;
        let x = bar.left() + bar.width() * i as f32 / steps as f32;
        let cell = Rect::from_min_size(Pos2::new(x, bar.top()), egui::vec2(bar.width() / steps as f32 + 0.5, 9.0));
        painter.rect_filled(cell, 0.0, theme::colour(city::growth_colour(at)));
    }
    let most = city.plan.max_growth();
    for (share, align) in [(0.0, Align2::LEFT_TOP), (0.5, Align2::CENTER_TOP), (1.0, Align2::RIGHT_TOP)] {
        let x = bar.left() + bar.width() * share;
        painter.line_segment(
            [Pos2::new(x, bar.bottom()), Pos2::new(x, bar.bottom() + 3.0)],
            Stroke::new(1.0, theme::QUIET),
        );
        let text = match (share, most) {
            (0.0, _) => "0 or less".to_owned(),
            (_, 0) => String::new(),
            _ => format!("+{}", number(&city.timeline, (most as f64 * f64::from(share)).round() as u64, metric)),
        };
        painter.text(Pos2::new(x, bar.bottom() + 3.0), align, text, egui::FontId::proportional(10.5), theme::TEXT);
    }
}
