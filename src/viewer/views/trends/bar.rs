//! What is set for all charts and for each.

use super::TrendCharts;
use super::charts::Chart;
use crate::viewer::clock::Clock;
use crate::viewer::panels::{chosen, numbers, theme};
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_analysis::trends::TrendOrder;

/// What each order is called, and what it means.
const ORDERS: [(TrendOrder, &str, &str); 5] = [
    (TrendOrder::Growth, "growth", "Those that grow most come first"),
    (TrendOrder::RelativeGrowth, "relative growth", "Those that grow most, compared with what they were, come first"),
    (TrendOrder::Start, "start", "Those that are largest at the beginning come first"),
    (TrendOrder::End, "end", "Those that are largest at the end come first"),
    (TrendOrder::Average, "average", "Those that are largest on average come first"),
];

/// The chosen window and the zoom, which all charts share.
pub fn window(ui: &mut egui::Ui, trends: &mut TrendCharts, timeline: &Timeline, clock: &mut Clock) {
    ui.horizontal_wrapped(|ui| {
        match clock.chosen() {
            Some((from, to)) => {
                ui.label(RichText::new(format!("Window {} to {}", from + 1, to + 1)).strong()).on_hover_text(format!(
                    "{} to {}; groups are ranked by what they do in it. WindowDrag its edges to change it",
                    timeline.points()[from].label,
                    timeline.points()[to].label
                ));
                chosen::buttons(ui, clock);
            }
            None => {
                let text =
                    "Drag over a chart to choose a window of time, click to go to a time, Ctrl and wheel to zoom";
                ui.label(RichText::new(text).color(theme::QUIET));
            }
        }
        if trends.zoom.is_some() && ui.small_button("Whole run").on_hover_text("Zooms out").clicked() {
            trends.zoom = None;
        }
    });
}

/// What a chart is of, and its settings.
pub fn of_chart(ui: &mut egui::Ui, chart: &mut Chart, timeline: &Timeline) {
    let parent = chart.parent(timeline);
    ui.horizontal_wrapped(|ui| {
        let title = match parent {
            NodeId::ROOT => timeline.name(NodeId::ROOT).to_owned(),
            node => format!("› {}", theme::shortened(&theme::brief(&timeline.display_name(node)), 48)),
        };
        ui.label(RichText::new(title).strong()).on_hover_text(timeline.path_label(parent));
        let Some((metric, stacked)) = chart.drawn().map(|drawn| (drawn.metric, drawn.stacked)) else { return };
        let rules = &mut chart.rules;
        egui::ComboBox::from_id_salt("metric").selected_text(numbers::metric_name(timeline, metric)).show_ui(
            ui,
            |ui| {
                for one in timeline.metrics() {
                    let info = timeline.metric_info(one);
                    if ui.selectable_label(one == metric, &*info.title).clicked() {
                        rules.metric = Some(info.id.to_string());
                    }
                }
            },
        );
        for (is, name, help) in [
            (true, "areas", "One on top of the other: sizes that add up"),
            (false, "lines", "Beside each other: sizes that share objects, and what is small"),
        ] {
            if ui.selectable_label(stacked == is, name).on_hover_text(help).clicked() {
                rules.stacked = Some(is);
            }
        }
        ui.label(RichText::new("first").color(theme::QUIET));
        let order = ORDERS.iter().find(|(order, ..)| *order == rules.order).map_or("", |(_, name, _)| name);
        egui::ComboBox::from_id_salt("order").selected_text(order).show_ui(ui, |ui| {
            for (order, name, help) in ORDERS {
                if ui.selectable_label(rules.order == order, name).on_hover_text(help).clicked() {
                    rules.order = order;
                }
            }
        });
        ui.add(egui::DragValue::new(&mut rules.top).range(1..=9).prefix("top "))
            .on_hover_text("How many groups are shown by themselves");
        ui.checkbox(&mut rules.rest, "Other").on_hover_text("All further groups as one");
    });
}
