//! Two actions on the chosen window of time, shared by all views with a time axis: go to its end, and choose the whole run again.

use super::theme;
use crate::viewer::clock::Clock;
use bevy_egui::egui;

/// The buttons, while a window is chosen.
pub fn buttons(ui: &mut egui::Ui, clock: &mut Clock) {
    let Some((_, to)) = clock.chosen() else { return };
    let help = "Shows the heap at the end of the window in all views (End)";
    if ui.small_button("Go to its end").on_hover_text(help).clicked() {
        clock.step_to(to);
    }
    if theme::cross_button(ui, "Whole run", "Look at the whole run again") {
        clock.set_range(None);
    }
}

/// The key End, for a view that has the keyboard.
pub fn key(ui: &egui::Ui, clock: &mut Clock) {
    if let Some((_, to)) = clock.chosen().filter(|_| ui.input(|i| i.key_pressed(egui::Key::End))) {
        clock.step_to(to);
    }
}
