//! The card at the top of the city with the result of a comparison, in place of the leak.

use super::card::{BANNER, BANNER_ROOM, LINE_ROOM, is_small, quiet};
use crate::compared::title_text;
use crate::viewer::action::Action;
use crate::viewer::comparison::ShownComparison;
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Margin, Rect, RichText};

/// How much of the pane's top the city leaves free for it, points.
pub fn room(pane: Rect) -> f32 {
    if is_small(pane) { LINE_ROOM } else { BANNER_ROOM }
}

/// Shows the result of a comparison, in place of the leak. Returns the wished actions, whether table and curves are wanted, and its
/// rectangle.
pub fn show(ctx: &egui::Context, pane: Rect, shown: &ShownComparison) -> (Vec<Action>, bool, Option<Rect>) {
    let (mut asked, mut more) = (Vec::new(), false);
    let room = pane.width() - 2.0 * theme::GAP;
    if room < 230.0 {
        return (asked, more, None);
    }
    let tint = theme::outcome(shown.told.outcome);
    let runs = shown.told.second.is_some();
    // Names of types become brief, those of files stay.
    let sentence = if runs { theme::brief(&shown.told.sentence) } else { shown.told.sentence.clone() };
    let small = is_small(pane);
    let area = egui::Area::new("comparison".into()).order(egui::Order::Middle).constrain_to(pane);
    let drawn = area.fixed_pos(pane.min + egui::vec2(theme::GAP, theme::GAP)).show(ctx, |ui| {
        let frame = theme::frame().fill(theme::SOLID).inner_margin(Margin { left: 12, right: 8, top: 4, bottom: 5 });
        frame.show(ui, |ui| {
            ui.set_width(room.min(BANNER) - 20.0);
            ui.spacing_mut().item_spacing.y = 1.0;
            let buttons = |ui: &mut egui::Ui, asked: &mut Vec<Action>, more: &mut bool| {
                if ui.small_button("End").on_hover_text(Action::EndComparison.tooltip()).clicked() {
                    asked.push(Action::EndComparison);
                }
                let table = ui.small_button(if runs { "Table and curves" } else { "Table" });
                *more |= table.on_hover_text("All groups that differ, and both runs over time").clicked();
            };
            ui.horizontal(|ui| {
                if !small {
                    ui.label(RichText::new(title_text(runs)).size(11.0).strong().color(tint));
                }
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    buttons(ui, &mut asked, &mut more);
                    let [a, b] = shown.names();
                    let names = format!("A {}   B {}", theme::shortened(&a, 22), theme::shortened(&b, 22));
                    ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                        let label = egui::Label::new(quiet(names)).truncate();
                        ui.add(label)
                            .on_hover_text(format!("A: {a}\nB: {b}\nAt the left of time stands A, at the right B"));
                    });
                });
            });
            if !small {
                let font = egui::FontId::proportional(12.5);
                let text = theme::fitting(ui.painter(), &sentence, &font, ui.available_width());
                let label = egui::Label::new(RichText::new(text).font(font).strong().color(tint)).selectable(false);
                ui.add(label).on_hover_text(&shown.told.sentence);
            }
        });
    });
    (asked, more, Some(drawn.response.rect))
}
