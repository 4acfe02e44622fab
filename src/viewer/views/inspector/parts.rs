//! Common parts of the inspector's pages: tiles of numbers, tabs, and the placeholder of an answer that is not there yet.

use super::awaited::Awaited;
use crate::viewer::editor::CodePlace;
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Align, Color32, CornerRadius, Layout, Margin, RichText, Sense, Stroke};
use memory_city_analysis::tabular::{bytes_text, count_text, objects_text};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::Amount;

/// Small text of less importance.
pub fn quiet(text: impl Into<String>) -> RichText {
    RichText::new(text.into()).size(12.0).color(theme::QUIET)
}

/// A line that wraps and is not to be clicked.
pub fn line(ui: &mut egui::Ui, text: RichText) {
    ui.add(egui::Label::new(text).wrap());
}

/// A GC root in one line: a link, if the code of a variable is known. Returns that place, when it was clicked.
pub fn root_line(ui: &mut egui::Ui, text: &str, place: Option<&str>) -> Option<CodePlace> {
    let place = place.and_then(CodePlace::first_in);
    let colour = if place.is_some() { theme::ACCENT } else { theme::INCOMING };
    let label = egui::Label::new(RichText::new(text).size(12.5).color(colour)).truncate();
    let Some(place) = place else {
        ui.add(label).on_hover_text(text);
        return None;
    };
    let label = ui.add(label.sense(Sense::click())).on_hover_cursor(egui::CursorIcon::PointingHand);
    label.on_hover_text(format!("{text}\nClick opens {} in your editor", place.brief())).clicked().then_some(place)
}

/// A card in the middle of the available room: a title, a text, and controls.
pub fn card<R>(ui: &mut egui::Ui, title: &str, text: &str, colour: Color32, add: impl FnOnce(&mut egui::Ui) -> R) -> R {
    let room = ui.available_size();
    let width = (room.x - 32.0).clamp(160.0, 440.0);
    ui.vertical_centered(|ui| {
        ui.add_space((room.y * 0.5 - 90.0).clamp(8.0, 140.0));
        egui::Frame::new()
            .fill(Color32::from_rgb(20, 27, 41))
            .stroke(Stroke::new(1.0, Color32::from_rgb(44, 55, 78)))
            .corner_radius(CornerRadius::same(8))
            .inner_margin(Margin::same(16))
            .show(ui, |ui| {
                ui.set_width(width);
                ui.with_layout(Layout::top_down(Align::LEFT), |ui| {
                    ui.label(RichText::new(title).size(15.0).strong().color(colour));
                    ui.add_space(2.0);
                    line(ui, quiet(text));
                    ui.add_space(8.0);
                    add(ui)
                })
                .inner
            })
            .inner
    })
    .inner
}

/// The placeholder of an answer: progress with a way to cancel it, or the error with a way to ask again. The answer becomes `Not` when it
/// is asked for again.
pub fn waiting<T: Send + 'static>(ui: &mut egui::Ui, asked: &mut Awaited<T>, what: &str) {
    let mut end = false;
    let mut again = false;
    match asked {
        Awaited::There(_) => {}
        Awaited::Not => {
            card(ui, what, "Not looked for yet.", theme::TEXT, |ui| again = ui.button("Look for it").clicked());
        }
        Awaited::Running(job) => {
            let snapshot = job.snapshot();
            let stage = if snapshot.stage.is_empty() { "Starting".to_owned() } else { snapshot.stage };
            card(ui, what, &stage, theme::TEXT, |ui| {
                let share = (snapshot.done as f64 / snapshot.total.max(1) as f64).clamp(0.0, 1.0) as f32;
                ui.add(egui::ProgressBar::new(share).desired_height(10.0).animate(snapshot.total == 0));
                ui.add_space(6.0);
                end = ui.button("Cancel").clicked();
            });
        }
        Awaited::Cancelled => {
            card(ui, what, "Cancelled: it was not looked for to the end.", theme::TEXT, |ui| {
                again = ui.button("Try again").clicked();
            });
        }
        Awaited::Failed(why) => {
            let why = why.clone();
            card(ui, what, &why, theme::ERROR, |ui| {
                ui.horizontal(|ui| {
                    again = ui.button("Try again").clicked();
                    if ui.button("Copy message").on_hover_text("Copies the message, for a ticket").clicked() {
                        ui.ctx().copy_text(why.clone());
                    }
                });
            });
        }
    }
    if end {
        asked.cancel();
    }
    if again {
        *asked = Awaited::Not;
    }
}

/// The same in one line, for a number among others.
pub fn waiting_line<T: Send + 'static>(ui: &mut egui::Ui, asked: &mut Awaited<T>, what: &str) {
    let mut again = false;
    match asked {
        Awaited::There(_) => {}
        Awaited::Not => again = ui.small_button(what).clicked(),
        Awaited::Running(job) => {
            let snapshot = job.snapshot();
            spinner(ui, 12.0);
            let share = match snapshot.total {
                0 => String::new(),
                total => format!(" {:.0} %", 100.0 * (snapshot.done as f64 / total as f64).min(1.0)),
            };
            ui.label(quiet(format!("{what}{share}")));
            if ui.small_button("Cancel").clicked() {
                job.cancel();
            }
        }
        Awaited::Cancelled => {
            ui.label(quiet("cancelled"));
            again = ui.small_button("Try again").clicked();
        }
        Awaited::Failed(why) => {
            let shown = RichText::new(theme::shortened(why, 60)).size(12.0).color(theme::ERROR);
            ui.label(shown).on_hover_text(why.as_str());
            again = ui.small_button("Try again").clicked();
        }
    }
    if again {
        *asked = Awaited::Not;
    }
}

/// A number that can be chosen: bytes large, objects below. Returns whether it was clicked.
pub fn tile(ui: &mut egui::Ui, title: &str, amount: Option<Amount>, chosen: bool, width: f32) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(width, 54.0), Sense::click());
    let (fill, edge) = match (chosen, response.hovered()) {
        (true, _) => (Color32::from_rgb(26, 46, 80), theme::ACCENT),
        (false, true) => (Color32::from_rgb(30, 39, 58), Color32::from_rgb(70, 88, 122)),
        _ => (Color32::from_rgb(20, 27, 41), Color32::from_rgb(44, 55, 78)),
    };
    let painter = ui.painter_at(rect);
    painter.rect(rect, CornerRadius::same(6), fill, Stroke::new(1.0, edge), egui::StrokeKind::Inside);
    let at = rect.left_top() + egui::vec2(10.0, 6.0);
    let small = egui::FontId::proportional(11.0);
    painter.text(at, egui::Align2::LEFT_TOP, title, small.clone(), theme::QUIET);
    let (large, below) = match amount {
        Some(amount) => (bytes_text(amount.bytes), objects_text(amount.objects)),
        None => ("…".to_owned(), String::new()),
    };
    let font = egui::FontId::proportional(17.0);
    painter.text(at + egui::vec2(0.0, 13.0), egui::Align2::LEFT_TOP, large, font, theme::TEXT);
    painter.text(
        egui::pos2(rect.right() - 10.0, rect.bottom() - 8.0),
        egui::Align2::RIGHT_BOTTOM,
        below,
        small,
        theme::QUIET,
    );
    response
}

/// A row of tabs, each with a title, a count where it is known, and an explanation. Returns the one that was clicked.
pub fn tabs<T: Copy + PartialEq>(ui: &mut egui::Ui, chosen: T, all: &[(T, &str, Option<u64>, &str)]) -> Option<T> {
    let mut other = None;
    for (tab, title, count, explanation) in all {
        let count = count.map(|n| format!("  {}", count_text(n))).unwrap_or_default();
        let text = RichText::new(format!("{title}{count}")).size(12.5);
        if ui.selectable_label(*tab == chosen, text).on_hover_text(*explanation).clicked() && *tab != chosen {
            other = Some(*tab);
        }
    }
    other
}

/// A name and its value, one of several in a line.
pub fn fact(ui: &mut egui::Ui, name: &str, value: &str) -> egui::Response {
    ui.spacing_mut().item_spacing.x = 5.0;
    ui.label(quiet(name));
    let response = ui.label(RichText::new(value).size(12.5).color(theme::TEXT));
    ui.add_space(9.0);
    response
}

/// Title of the page: one group with its path, or several by name.
pub fn title(ui: &mut egui::Ui, timeline: &Timeline, nodes: &[NodeId], keys: &[String]) {
    let name = |node: NodeId| theme::brief(&timeline.display_name(node));
    match nodes {
        [] => {}
        [node] => {
            ui.horizontal(|ui| {
                theme::heading(ui, &timeline.role(*node).to_uppercase());
                ui.label(quiet(theme::shortened(&theme::told_path(timeline, *node), 90))).on_hover_text(&keys[0]);
            });
            ui.label(RichText::new(timeline.name(*node)).size(16.0).strong().color(theme::ACCENT));
        }
        several => {
            theme::heading(ui, &format!("{} GROUPS AS ONE", several.len()));
            let names: Vec<String> = several.iter().take(4).map(|&node| name(node)).collect();
            let more = several.len().saturating_sub(4);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = RichText::new(format!("{}{more}", names.join("  +  "))).size(16.0).strong().color(theme::ACCENT);
            ui.add(egui::Label::new(text).truncate()).on_hover_ui(|ui| {
                for &node in several.iter().take(30) {
                    ui.label(theme::told_path(timeline, node));
                }
            });
        }
    }
}
