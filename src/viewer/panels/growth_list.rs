//! What grows most: a list linked both ways with the city. A row selects its building; a selected building marks its row.

use super::Tools;
use super::theme;
use super::{metric_name, signed};
use bevy_egui::egui::{self, Align2, Color32, CornerRadius, Rect, RichText, Sense, Stroke, StrokeKind};
use memory_city_views::city;

/// Rows that are shown.
const ROWS: usize = 12;

/// Shows the list at the upper left.
pub fn show(ctx: &egui::Context, tools: &mut Tools<'_>) {
    egui::Area::new("growth".into()).anchor(Align2::LEFT_TOP, [theme::GAP, theme::GAP]).movable(false).show(
        ctx,
        |ui| {
            theme::frame().show(ui, |ui| {
                ui.set_width(super::legend::LEGEND_WIDTH - 22.0);
                header(ui, tools);
                ui.add_space(4.0);
                list(ui, tools);
                super::live_panel::show(ui, tools);
            });
        },
    );
}

fn header(ui: &mut egui::Ui, tools: &mut Tools<'_>) {
    ui.horizontal(|ui| {
        ui.add(
            egui::Label::new(RichText::new(theme::shortened(&tools.city.title, 24)).heading().strong())
                .selectable(false),
        )
        .on_hover_text(&tools.city.title);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            use crate::viewer::action::Action;
            if ui.button("?").on_hover_text(Action::Help.tooltip()).clicked() {
                tools.actions.push(Action::Help);
            }
            let listens = tools.listening.address().is_some();
            if ui.selectable_label(listens, "Live").on_hover_text(Action::Listen.tooltip()).clicked() {
                tools.actions.push(Action::Listen);
            }
            if ui.button("Open…").on_hover_text(Action::OpenFiles.tooltip()).clicked() {
                tools.actions.push(Action::OpenFiles);
            }
        });
    });
    let amount = tools.city.timeline.amount(tools.clock.time, memory_city_analysis::timeline::NodeId::ROOT);
    ui.label(RichText::new(super::amounts(amount)).size(12.0).color(theme::QUIET)).on_hover_text(
        match tools.city.source.heaps() {
            Some(_) => "The heap at the shown time: what is reachable from the GC roots",
            None => "The heap at the shown time, as the input counts it",
        },
    );
    let warnings = tools.city.source.warnings();
    if !warnings.is_empty() {
        let text = match warnings.len() {
            1 => "1 warning".to_owned(),
            n => format!("{n} warnings"),
        };
        ui.label(RichText::new(format!("⚠ {text}: what is shown may be incomplete")).color(theme::WARNING).size(12.0))
            .on_hover_ui(|ui| {
                for warning in warnings.iter().take(12) {
                    ui.label(theme::shortened(&warning.to_string(), 400));
                }
                if warnings.len() > 12 {
                    ui.label(format!("and {} more, see the log", warnings.len() - 12));
                }
            });
    }
}

fn list(ui: &mut egui::Ui, tools: &mut Tools<'_>) {
    let metric = tools.city.made_with.metric;
    let timeline = std::sync::Arc::clone(&tools.city.timeline);
    theme::heading(ui, &format!("GROWS MOST  ·  {} first to last", metric_name(metric)));
    let top = &tools.city.growing[..tools.city.growing.len().min(ROWS)];
    let most = top.first().map(|&n| timeline.growth(n, metric)).unwrap_or(0).max(1);
    if timeline.times() < 2 {
        ui.label(
            RichText::new("Only one state is open. Open a second one of the same program, taken later, to see growth.")
                .color(theme::QUIET),
        );
        return;
    }
    if top.is_empty() {
        ui.label(RichText::new("No group is larger at the end than at the start.").color(theme::QUIET));
        return;
    }
    for (rank, &node) in top.iter().enumerate() {
        let growth = timeline.growth(node, metric);
        let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 20.0), Sense::click());
        let painter = ui.painter_at(rect);
        let selected = tools.selection.node() == Some(node);
        if selected || response.hovered() {
            let fill = if selected { Color32::from_rgb(30, 66, 122) } else { Color32::from_rgb(34, 44, 64) };
            painter.rect(rect, CornerRadius::same(4), fill, Stroke::NONE, StrokeKind::Inside);
        }
        let share = (growth as f64 / most as f64) as f32;
        let bar = Rect::from_min_size(rect.min + egui::vec2(2.0, 16.0), egui::vec2((rect.width() - 4.0) * share, 2.5));
        painter.rect_filled(bar, 1.0, theme::colour(city::growth_colour(share)));
        let font = egui::FontId::proportional(12.5);
        let amount = signed(growth, metric);
        let amount_rect = painter.text(
            rect.right_top() + egui::vec2(-4.0, 1.0),
            Align2::RIGHT_TOP,
            amount,
            font.clone(),
            theme::TEXT,
        );
        let name = &theme::brief(&timeline.display_name(node));
        let room = ((amount_rect.left() - rect.left() - 26.0) / 6.6) as usize;
        painter.text(
            rect.left_top() + egui::vec2(4.0, 1.0),
            Align2::LEFT_TOP,
            format!("{}", rank + 1),
            font.clone(),
            theme::QUIET,
        );
        painter.text(
            rect.left_top() + egui::vec2(24.0, 1.0),
            Align2::LEFT_TOP,
            theme::shortened(name, room.max(6)),
            font,
            theme::TEXT,
        );
        if response.hovered() {
            tools.selection.pointed = Some(node);
        }
        if response.clicked() {
            tools.selection.toggle(&timeline, node);
        }
        response.on_hover_ui(|ui| super::tooltip::node(ui, &timeline, tools.clock.time, node));
    }
}
