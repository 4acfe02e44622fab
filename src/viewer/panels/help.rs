//! The cheat sheet: all keys and gestures on one page.

use super::theme;
use crate::viewer::action::{BINDINGS, FLY_KEYS};
use crate::viewer::keys;
use bevy_egui::egui::{self, Align2, RichText};

/// Shows the cheat sheet; returns whether it stays open.
pub fn show(ctx: &egui::Context) -> bool {
    let mut open = true;
    egui::Area::new("help".into()).order(egui::Order::Foreground).anchor(Align2::CENTER_CENTER, [0.0, -20.0]).show(
        ctx,
        |ui| {
            theme::frame().fill(theme::SOLID).inner_margin(18).show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.label(RichText::new("Keys and mouse").heading().strong());
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        if ui.button("Close").on_hover_text("Esc").clicked() {
                            open = false;
                        }
                    });
                });
                ui.separator();
                let room = ui.ctx().content_rect().height() - 150.0;
                egui::ScrollArea::vertical().max_height(room.max(120.0)).show(ui, |ui| {
                    ui.horizontal_top(|ui| {
                        egui::Grid::new("keys").num_columns(2).spacing([16.0, 1.0]).min_row_height(16.0).show(
                            ui,
                            |ui| {
                                for binding in BINDINGS.iter().filter(|b| !b.help.is_empty()) {
                                    // Further keys of an action stand beside the first, unless a person gave it others.
                                    let map = keys::map();
                                    let own = !map.is_built_in(binding.action);
                                    if own && binding.printed != binding.action.binding().printed {
                                        continue;
                                    }
                                    let printed = if own { map.printed(binding.action) } else { binding.printed };
                                    ui.label(RichText::new(printed).monospace().color(theme::ACCENT));
                                    ui.label(binding.help);
                                    ui.end_row();
                                }
                            },
                        );
                        ui.add_space(20.0);
                        ui.vertical(|ui| {
                            egui::Grid::new("fly").num_columns(2).spacing([16.0, 4.0]).show(ui, |ui| {
                                for (keys, help) in FLY_KEYS {
                                    ui.label(RichText::new(*keys).monospace().color(theme::ACCENT));
                                    ui.label(*help);
                                    ui.end_row();
                                }
                            });
                            ui.add_space(12.0);
                            ui.set_max_width(340.0);
                            ui.label(RichText::new("How to find a leak").strong());
                            for line in [
                                "1. Play the time (Space). What turns red grows.",
                                "2. Click the reddest building. Strings and arrays are often only the symptom.",
                                "3. Follow the purple cones (Enter): they lead to what keeps those objects alive.",
                                "4. A thick end that thins out to a few objects is the owner: a list, a map, a cache.",
                                "5. Its GC roots name the static field or local variable: the line to fix.",
                            ] {
                                ui.label(RichText::new(line).color(theme::QUIET));
                            }
                        });
                    })
                });
            });
        },
    );
    open
}
