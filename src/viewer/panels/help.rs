//! The cheat sheet: all keys and gestures on one page.

use super::theme;
use crate::viewer::action::{Action, BINDINGS, FLY_KEYS, gestures};
use crate::viewer::keys;
use bevy_egui::egui::{self, Align2, RichText};

/// Width of a column of keys with their effects, points.
const COLUMN: f32 = 400.0;
/// Room for keys.
const KEYS: f32 = 104.0;

/// Shows the cheat sheet; returns whether it stays open.
pub fn show(ctx: &egui::Context) -> bool {
    let mut open = true;
    let window = ctx.content_rect();
    let columns = (((window.width() - 70.0) / COLUMN) as usize).clamp(1, 3);
    let width = ((window.width() - 70.0) / columns as f32).min(1.25 * COLUMN);
    egui::Area::new("help".into()).order(egui::Order::Foreground).anchor(Align2::CENTER_CENTER, [0.0, 0.0]).show(
        ctx,
        |ui| {
            theme::frame().fill(theme::SOLID).inner_margin(16).show(ui, |ui| {
                ui.set_width(columns as f32 * width);
                ui.horizontal(|ui| {
                    ui.label(RichText::new("Keys and mouse").heading().strong());
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        if ui.button("Close").on_hover_text(keys::key(Action::Escape)).clicked() {
                            open = false;
                        }
                    });
                });
                ui.separator();
                // An area that stands in the middle believes that it has half of the window.
                let room = (window.height() - 96.0).max(120.0);
                let rows = egui::ScrollArea::vertical().max_height(room).min_scrolled_height(room);
                rows.show(ui, |ui| {
                    leak_in_five(ui);
                    let keys = keys_of_actions();
                    // The last column has the mouse as well.
                    let rest = 7;
                    let each = (keys.len() + rest).div_ceil(columns);
                    ui.horizontal_top(|ui| {
                        ui.spacing_mut().item_spacing.x = 0.0;
                        for column in 0..columns {
                            ui.vertical(|ui| {
                                ui.set_width(width);
                                ui.spacing_mut().item_spacing.y = 2.0;
                                for (printed, help) in keys.iter().skip(column * each).take(each) {
                                    line(ui, printed, help, width);
                                }
                                if column + 1 == columns {
                                    ui.add_space(8.0);
                                    for (flights, help) in FLY_KEYS {
                                        line(ui, &keys::map().printed_flights(flights), help, width);
                                    }
                                    for (printed, help) in &gestures() {
                                        line(ui, printed, help, width);
                                    }
                                }
                            });
                        }
                    });
                });
            });
        },
    );
    open
}

/// Keys as printed, and their effects. Further keys of an action stand beside the first, unless a person has changed them.
fn keys_of_actions() -> Vec<(&'static str, &'static str)> {
    let map = keys::map();
    let mut all = Vec::new();
    for binding in BINDINGS.iter().filter(|b| !b.help.is_empty()) {
        let own = !map.is_built_in(binding.action);
        if own && binding.printed != binding.action.binding().printed {
            continue;
        }
        all.push((if own { map.printed(binding.action) } else { binding.printed }, map.help(binding)));
    }
    all
}

fn line(ui: &mut egui::Ui, printed: &str, help: &str, width: f32) {
    ui.horizontal_top(|ui| {
        ui.set_max_width(width - 14.0);
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.allocate_ui_with_layout(egui::vec2(KEYS, 15.0), egui::Layout::top_down(egui::Align::LEFT), |ui| {
            ui.set_width(KEYS);
            let keys = RichText::new(printed).monospace().size(11.5).color(theme::ACCENT);
            ui.add(egui::Label::new(keys).wrap());
        });
        ui.add(egui::Label::new(RichText::new(help).size(12.0)).wrap());
    });
}

/// The way to a leak, before all keys.
fn leak_in_five(ui: &mut egui::Ui) {
    ui.label(RichText::new("How to find a leak").strong());
    let [owner, hint, step, play, follow, paths, code] = [
        Action::ShowOwner,
        Action::Hint,
        Action::HintStep,
        Action::Play,
        Action::FollowOwner,
        Action::RootPaths,
        Action::OpenCode,
    ]
    .map(keys::key);
    for text in [
        format!("1. Press {owner}: the city is grouped by owner, and the camera flies to what leaks."),
        format!("2. {hint} says what to look at next in any view, and {step} does it."),
        format!(
            "3. Or look for yourself: play the time ({play}), and click the reddest building. Strings and arrays are often only a symptom."
        ),
        format!(
            "4. {follow} goes up to what keeps it alive, object by object; {paths} shows all paths from the GC roots."
        ),
        format!(
            "5. A static field, a thread or a local variable at the root names the code to change; {code} opens a line in your editor."
        ),
    ] {
        ui.add(egui::Label::new(RichText::new(text).size(12.0)).wrap());
    }
    ui.add_space(8.0);
}
