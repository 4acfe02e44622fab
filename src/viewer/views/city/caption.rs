//! The caption of a picture without panels: title, time, amounts, the selection, and the first warnings.

use crate::viewer::clock::Clock;
use crate::viewer::document::OpenDocument;
use crate::viewer::panels::{numbers, theme};
use crate::viewer::settings::Settings;
use bevy_egui::egui;
use memory_city_analysis::timeline::NodeId;

/// Title and time of a picture without panels.
pub(super) fn caption(
    ctx: &egui::Context,
    open: &OpenDocument,
    clock: &Clock,
    settings: &Settings,
    selected: Option<NodeId>,
    brief: bool,
) {
    let quiet = |text: String| egui::RichText::new(text).color(theme::QUIET);
    egui::Area::new("caption".into())
        .anchor(egui::Align2::LEFT_TOP, [theme::GAP, theme::GAP])
        .interactable(false)
        .show(ctx, |ui| {
            theme::frame().show(ui, |ui| {
                ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
                let timeline = &open.timeline;
                if brief {
                    brief_caption(ui, open, clock, selected);
                    return;
                }
                let label = timeline.points().get(clock.time).map_or("", |point| &point.label);
                ui.label(egui::RichText::new(&open.title).heading().strong());
                ui.label(format!("{}/{}  {}", clock.time + 1, timeline.times(), label));
                ui.label(quiet(numbers::amounts(timeline.amount(clock.time, NodeId::ROOT))));
                let grouping = open.source.grouping_title();
                ui.label(quiet(format!(
                    "{grouping}  ·  {}",
                    numbers::metric_name(timeline, settings.metric_in(timeline))
                )));
                if let Some(node) = selected {
                    let path = format!("selected: {}", theme::told_path(timeline, node));
                    ui.label(egui::RichText::new(path).color(theme::ACCENT));
                    ui.label(quiet(numbers::amounts(timeline.amount(clock.time, node))));
                }
                for warning in open.warnings.iter().take(3) {
                    let text = format!("⚠ {}", theme::shortened(&warning.to_string(), 110));
                    ui.label(egui::RichText::new(text).color(theme::WARNING).size(11.0));
                }
            });
        });
}

/// The caption of a small picture: one line.
fn brief_caption(ui: &mut egui::Ui, open: &OpenDocument, clock: &Clock, selected: Option<NodeId>) {
    let quiet = |text: String| egui::RichText::new(text).color(theme::QUIET);
    let timeline = &open.timeline;
    ui.horizontal(|ui| {
        ui.label(egui::RichText::new(&open.title).strong());
        ui.label(format!("{}/{}", clock.time + 1, timeline.times()));
        let of = selected.unwrap_or(NodeId::ROOT);
        if selected.is_some() {
            let name = theme::shortened(&theme::brief(&timeline.display_name(of)), 40);
            ui.label(egui::RichText::new(name).color(theme::ACCENT)).on_hover_text(theme::told_path(timeline, of));
        }
        ui.label(quiet(numbers::amounts(timeline.amount(clock.time, of))));
        if !open.warnings.is_empty() {
            let text = format!("⚠ {}", theme::shortened(&open.warnings[0].to_string(), 60));
            ui.label(egui::RichText::new(text).color(theme::WARNING).size(11.0));
        }
    });
}
