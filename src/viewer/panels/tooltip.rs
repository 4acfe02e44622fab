//! The tooltip of whatever the mouse points at: path from the root, objects, bytes, growth.

use super::numbers::{amounts, signed};
use super::theme;
use crate::viewer::selection::Target;
use crate::viewer::views::City;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};

/// Shows the tooltip of a target beside the mouse pointer.
pub fn show(ctx: &egui::Context, city: &City, time: usize, target: Target, pointer: egui::Pos2) {
    let screen = ctx.content_rect();
    // Keep it on screen: open to the left and above when there is no room to the right and below.
    let x = if pointer.x > screen.right() - 420.0 { egui::Align::RIGHT } else { egui::Align::LEFT };
    let y = if pointer.y > screen.bottom() - 150.0 { egui::Align::BOTTOM } else { egui::Align::TOP };
    let offset =
        egui::vec2(if x == egui::Align::LEFT { 16.0 } else { -10.0 }, if y == egui::Align::TOP { 16.0 } else { -8.0 });
    egui::Area::new("tooltip".into())
        .order(egui::Order::Tooltip)
        .pivot(egui::Align2([x, y]))
        .fixed_pos(pointer + offset)
        .interactable(false)
        .constrain(true)
        .show(ctx, |ui| {
            theme::frame().show(ui, |ui| {
                ui.set_max_width(460.0);
                match target {
                    Target::Node(id) => node(ui, &city.timeline, time, id),
                    Target::More(parent) => more(ui, city, time, parent),
                }
            });
        });
}

/// The lines about a node.
pub fn node(ui: &mut egui::Ui, timeline: &Timeline, time: usize, node: NodeId) {
    let now = timeline.amount(time, node);
    ui.label(RichText::new(theme::worded(&timeline.path_label(node))).strong());
    ui.label(amounts(now));
    let heap = timeline.amount(time, NodeId::ROOT).bytes.max(1);
    ui.label(
        RichText::new(format!("{:.1} % of the heap's bytes now", now.bytes as f64 * 100.0 / heap as f64))
            .color(theme::QUIET),
    );
    if timeline.times() > 1 {
        growth(ui, timeline, "since the first state", |m| timeline.growth_until(time, node, m));
        growth(ui, timeline, "first to last", |m| timeline.growth(node, m));
    }
}

fn growth(ui: &mut egui::Ui, timeline: &Timeline, what: &str, of: impl Fn(Metric) -> i64) {
    let (objects, bytes) = (of(Metric::Objects), of(Metric::Bytes));
    let colour = match bytes.max(objects) {
        g if g > 0 => theme::GROWTH,
        0 => theme::QUIET,
        _ => theme::SHRINK,
    };
    ui.label(
        RichText::new(format!(
            "{}, {} {what}",
            signed(timeline, objects, Metric::Objects),
            signed(timeline, bytes, Metric::Bytes)
        ))
        .color(colour),
    );
}

fn more(ui: &mut egui::Ui, city: &City, time: usize, parent: NodeId) {
    let Some(plot) = city.plan.more_of(parent) else { return };
    let pruned = city.plan.pruned(plot);
    let timeline = &city.timeline;
    ui.label(RichText::new(format!("{} more in {}", pruned.len(), timeline.path_label(parent))).strong());
    let amount = city.plan.amount(timeline, plot, time);
    ui.label(amounts(amount));
    let heap = timeline.amount(time, NodeId::ROOT).bytes.max(1);
    ui.label(
        RichText::new(format!("{:.1} % of the heap's bytes now", amount.bytes as f64 * 100.0 / heap as f64))
            .color(theme::QUIET),
    );
    for &id in pruned.iter().take(5) {
        ui.label(
            RichText::new(format!(
                "{}  {}",
                theme::shortened(timeline.name(id), 46),
                amounts(timeline.amount(time, id))
            ))
            .size(11.5)
            .color(theme::QUIET),
        );
    }
    ui.label(
        RichText::new("The smallest groups share this plot: raise the child count to give each its own.")
            .size(11.0)
            .color(theme::QUIET),
    );
}
