//! The messages shown when there is no city: welcome, loading with progress, and errors with a remedy. And notices.

use super::spinner::spinner;
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::keys;
use crate::viewer::loading::ViewQuestion;
use bevy_egui::egui::{self, Align2, RichText};
use memory_city_heap::printable::line_text;
use memory_city_heap::progress::Snapshot;

/// The user's choice in a card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Open files.
    OpenFiles,
    /// Open a folder.
    OpenFolder,
    /// Open the bundled sample.
    OpenSample,
    /// Listen for programs.
    Listen,
    /// Choose a running JVM to record.
    Record,
    /// Stop loading.
    Cancel,
    /// Close the error, or answer a question with no.
    Dismiss,
    /// Read the paths in a view file, wherever they are.
    Allow,
}

fn card<R>(ctx: &egui::Context, id: &str, add: impl FnOnce(&mut egui::Ui) -> R) -> R {
    egui::Area::new(egui::Id::new(id))
        .order(egui::Order::Foreground)
        .anchor(Align2::CENTER_CENTER, [0.0, -20.0])
        .show(ctx, |ui| {
            theme::frame()
                .inner_margin(22)
                .show(ui, |ui| {
                    ui.set_width(480.0);
                    add(ui)
                })
                .inner
        })
        .inner
}

/// The welcome, while no document is open.
pub fn welcome(ctx: &egui::Context, sample: bool, listening: Option<String>) -> Option<Answer> {
    card(ctx, "welcome", |ui| {
        ui.label(RichText::new("Memory City").size(26.0).strong());
        ui.label("The heap of your program as a city: what leaks grows tall and red.");
        ui.add_space(10.0);
        let mut recorded = None;
        if cfg!(target_os = "linux") {
            ui.label(
                RichText::new("Watch a Java program that runs here: choose it, and its city grows").color(theme::QUIET),
            );
            let button = egui::Button::new(RichText::new("Record a running JVM…").size(14.0));
            let record = ui.add_sized([220.0, 30.0], button).on_hover_text(Action::Record.tooltip());
            recorded = record.clicked().then_some(Answer::Record);
            ui.add_space(10.0);
        }
        ui.label(RichText::new("Or take heap dumps of a running program, a while apart").color(theme::QUIET));
        ui.label(RichText::new("      jcmd PID GC.heap_dump -gz=1 /tmp/dumps/1.hprof.gz").monospace());
        ui.label(
            RichText::new(
                "and open them here, or drop the folder onto this window. Memory trees in JSON (.json) open too",
            )
            .color(theme::QUIET),
        );
        ui.add_space(12.0);
        let answer = recorded.or(open_buttons(ui, sample));
        ui.add_space(6.0);
        match listening {
            Some(address) => {
                ui.label(
                    RichText::new(format!("Listening on {address}: the city begins with the first tree"))
                        .color(theme::ACCENT),
                );
                answer
            }
            None => {
                let tip = Action::Listen.tooltip();
                let listen = ui.small_button("Listen for a running program").on_hover_text(tip).clicked();
                answer.or(listen.then_some(Answer::Listen))
            }
        }
    })
}

fn open_buttons(ui: &mut egui::Ui, sample: bool) -> Option<Answer> {
    let mut answer = None;
    ui.horizontal(|ui| {
        let mut offer = |text: &str, tip: String, what: Answer| {
            let button = egui::Button::new(RichText::new(text).size(14.0)).min_size(egui::vec2(120.0, 30.0));
            if ui.add(button).on_hover_text(tip).clicked() {
                answer = Some(what);
            }
        };
        offer("Open…", Action::OpenFiles.tooltip(), Answer::OpenFiles);
        offer("Open folder…", Action::OpenFolder.tooltip(), Answer::OpenFolder);
        if sample {
            offer("Sample city", "A small program with a leak, recorded over time".to_owned(), Answer::OpenSample);
        }
    });
    answer
}

/// Something is being loaded.
pub fn loading(ctx: &egui::Context, title: &str, snapshot: &Snapshot) -> Option<Answer> {
    card(ctx, "loading", |ui| {
        ui.label(RichText::new(format!("Opening {}", theme::shortened(title, 44))).heading().strong());
        ui.add_space(6.0);
        let stage = if snapshot.stage.is_empty() { "Starting" } else { snapshot.stage.as_str() };
        ui.label(RichText::new(theme::shortened(stage, 72)).color(theme::QUIET));
        if snapshot.total > 0 {
            let share = (snapshot.done as f64 / snapshot.total as f64).clamp(0.0, 1.0) as f32;
            ui.add(egui::ProgressBar::new(share).text(format!("{:.0} %", share * 100.0)).desired_height(16.0));
        } else {
            ui.add(egui::ProgressBar::new(0.0).animate(true).desired_height(16.0));
        }
        ui.add_space(6.0);
        ui.button("Cancel").on_hover_text(keys::key(Action::Escape)).clicked().then_some(Answer::Cancel)
    })
}

/// Asks about a view file with paths outside its folder.
pub fn asks(ctx: &egui::Context, question: &ViewQuestion) -> Option<Answer> {
    card(ctx, "asks", |ui| {
        let name = question.view.file_name().unwrap_or_default().to_string_lossy();
        ui.label(
            RichText::new(format!("Read what {} names?", theme::shortened(&line_text(&name), 40))).heading().strong(),
        );
        ui.add_space(4.0);
        ui.label("This view file names what lies outside its own folder. Nothing of it was read yet:");
        egui::ScrollArea::vertical().max_height(180.0).show(ui, |ui| {
            for path in &question.outside {
                let path = line_text(&path.display().to_string());
                ui.add(egui::Label::new(RichText::new(path).monospace()).wrap());
            }
        });
        ui.label(RichText::new("Say yes where you made the view, or trust who did").color(theme::QUIET));
        ui.add_space(10.0);
        let mut answer = None;
        ui.horizontal(|ui| {
            if ui.button("Read it").on_hover_text("Opens the view with all that it names (Ctrl+Enter)").clicked() {
                answer = Some(Answer::Allow);
            }
            if ui.button("Cancel").on_hover_text(keys::key(Action::Escape)).clicked() {
                answer = Some(Answer::Dismiss);
            }
        });
        // Enter alone may still be that of the dialog by which the view was chosen.
        if ui.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, egui::Key::Enter)) {
            answer = Some(Answer::Allow);
        }
        answer
    })
}

/// Loading failed.
pub fn failed(ctx: &egui::Context, title: &str, error: &str, city: bool, sample: bool) -> Option<Answer> {
    card(ctx, "failed", |ui| {
        ui.label(
            RichText::new(format!("Cannot open {}", theme::shortened(title, 40)))
                .heading()
                .strong()
                .color(theme::ERROR),
        );
        ui.add_space(4.0);
        egui::ScrollArea::vertical().max_height(220.0).show(ui, |ui| {
            ui.add(egui::Label::new(error).wrap());
        });
        ui.add_space(10.0);
        let mut answer = open_buttons(ui, sample);
        ui.horizontal(|ui| {
            if ui.button("Copy message").on_hover_text("Copies the message, for a ticket").clicked() {
                ui.ctx().copy_text(error.to_owned());
            }
            if city && ui.button("Back to the city").on_hover_text(keys::key(Action::Escape)).clicked() {
                answer = Some(Answer::Dismiss);
            }
        });
        answer
    })
}

/// A small box while something is recomputed behind the shown city.
pub fn busy(ctx: &egui::Context, what: &str, snapshot: &Snapshot) {
    egui::Area::new("busy".into()).anchor(Align2::CENTER_TOP, [0.0, theme::GAP]).interactable(false).show(ctx, |ui| {
        theme::frame().show(ui, |ui| {
            ui.horizontal(|ui| {
                spinner(ui, 14.0);
                let share = match snapshot.total {
                    0 => String::new(),
                    total => format!("  {:.0} %", snapshot.done as f64 * 100.0 / total as f64),
                };
                ui.label(format!("{what}{share}"));
            });
        });
    });
}

/// Distance of messages from the lower edge: above the time bar, and the line of owners walked.
const NOTICES_UP: f32 = 106.0;

/// Short messages near the lower edge. The upper one is taken by the leak, and people may be reading it.
pub fn notices<'a>(ctx: &egui::Context, notices: impl Iterator<Item = (&'a str, f32)>) {
    egui::Area::new("notices".into())
        .order(egui::Order::Foreground)
        .anchor(Align2::CENTER_BOTTOM, [0.0, -NOTICES_UP])
        .interactable(false)
        .show(ctx, |ui| {
            for (text, opacity) in notices {
                ui.scope(|ui| {
                    ui.set_opacity(opacity);
                    theme::frame().show(ui, |ui| {
                        ui.set_max_width(520.0);
                        ui.label(text);
                    });
                });
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_view_that_reaches_far_is_asked_for() {
        let question = ViewQuestion { view: "/a/one.mcview".into(), outside: vec!["/etc/\u{202e}passwd\n".into()] };
        let show = move |ui: &mut egui::Ui, answer: &mut Option<Answer>| {
            *answer = asks(ui.ctx(), &question).or(*answer);
        };
        let mut card = Harness::builder().with_size((800.0, 600.0)).build_ui_state(show, None);
        card.run_steps(3);
        assert!(card.query_by_label("Read what one.mcview names?").is_some());
        assert!(card.query_by_label("/etc/\\u{202e}passwd\\n").is_some(), "what is named, as it is written");
        // The Enter of a dialog before it is no answer.
        card.key_press(egui::Key::Enter);
        card.run_steps(2);
        assert_eq!(*card.state(), None);
        card.get_by_label("Cancel").click();
        card.run_steps(2);
        assert_eq!(*card.state(), Some(Answer::Dismiss));
        *card.state_mut() = None;
        card.get_by_label("Read it").click();
        card.run_steps(2);
        assert_eq!(*card.state(), Some(Answer::Allow));
        *card.state_mut() = None;
        card.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Enter);
        card.run_steps(2);
        assert_eq!(*card.state(), Some(Answer::Allow));
    }
}
