//! The panel of the programs that send their trees, and of the growth that the city has no place for.

use super::theme;
use crate::viewer::action::Action;
use crate::viewer::city::City;
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::live::Listening;
use bevy::prelude::MessageWriter;
use bevy_egui::egui::{self, RichText};

/// The panel mentions the city's scale from this factor on.
const MUCH_SMALLER: f64 = 1.5;

/// The panel's contents; nothing when nothing listens.
pub fn show(
    ui: &mut egui::Ui,
    listening: &mut Listening,
    document: &Document,
    city: Option<&City>,
    clock: &Clock,
    actions: &mut MessageWriter<Action>,
) {
    let Some((address, token)) = listening.address() else { return };
    ui.separator();
    theme::heading(ui, "LIVE");
    ui.add(egui::Label::new(RichText::new(&address).size(12.0)).selectable(true)).on_hover_text(match token {
        Some(_) => "Programs connect here, with a token. docs/live-protocol.md says what to send",
        None => "Programs on this machine connect here. docs/live-protocol.md says what to send",
    });
    if let Some(token) = token
        && ui.small_button("Copy the token").on_hover_text("Clients must send it with their hello").clicked()
    {
        ui.ctx().copy_text(token.to_owned());
    }
    let sources = listening.sources();
    if sources.is_empty() {
        ui.label(RichText::new("No program has connected yet").size(12.0).color(theme::QUIET));
    }
    let mut chosen = None;
    egui::ScrollArea::vertical().id_salt("sources").max_height(96.0).show(ui, |ui| {
        for source in &sources {
            let here = listening.showing() == Some(&source.name);
            let text = format!("{}  ·  {} times", theme::shortened(&source.name, 24), source.times);
            let colour = if source.clients > 0 { theme::TEXT } else { theme::QUIET };
            let row = ui.selectable_label(here, RichText::new(text).size(12.0).color(colour)).on_hover_text(format!(
                "{}: {} groups, {} clients connected. Click to show it",
                source.name, source.groups, source.clients
            ));
            if row.clicked() {
                chosen = Some(source.name.clone());
            }
        }
    });
    if chosen.is_some() {
        listening.choose = chosen;
    }
    if let Some(city) = city.filter(|_| document.live().is_some()) {
        ground(ui, city, clock, actions);
    }
}

/// The amount that the ground has no room for.
fn ground(ui: &mut egui::Ui, city: &City, clock: &Clock, actions: &mut MessageWriter<Action>) {
    let (plan, timeline) = (&city.plan, &city.timeline);
    let metric = city.made_with.metric;
    let unplaced = plan.unplaced();
    let outgrowth = plan.outgrowth();
    if unplaced.is_empty() && outgrowth < MUCH_SMALLER {
        return;
    }
    if !unplaced.is_empty() {
        let of = |node| timeline.value(clock.time, node, metric);
        let heap = of(memory_city_analysis::timeline::NodeId::ROOT).max(1);
        let share = 100.0 * unplaced.iter().map(|&n| of(n)).sum::<u64>() as f64 / heap as f64;
        let text = match unplaced.len() {
            1 => format!("1 new group has no place yet ({share:.1} %)"),
            n => format!("{n} new groups have no place yet ({share:.1} %)"),
        };
        ui.label(RichText::new(text).size(12.0).color(theme::WARNING)).on_hover_ui(|ui| {
            for &node in unplaced.iter().take(12) {
                ui.label(theme::told_path(timeline, node));
            }
            if unplaced.len() > 12 {
                ui.label(format!("and {} more", unplaced.len() - 12));
            }
        });
    }
    if outgrowth >= MUCH_SMALLER {
        ui.label(
            RichText::new(format!("Buildings outgrew their plots: areas are drawn at 1/{outgrowth:.1}"))
                .size(12.0)
                .color(theme::WARNING),
        );
    }
    if ui.button("Re-layout").on_hover_text(Action::ReLayout.tooltip()).clicked() {
        actions.write(Action::ReLayout);
    }
}
