//! What is shown when there is no city: welcome, loading with progress, and errors one can act on. And notices.

use super::spinner::spinner;
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::keys;
use bevy_egui::egui::{self, Align2, RichText};
use memory_city_heap::progress::Snapshot;

/// What the user asked for in a card.
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
    /// Close the error.
    Dismiss,
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

/// Nothing is open.
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

/// How far above the lower edge messages stand: above the time bar, and the line of owners walked.
const NOTICES_UP: f32 = 106.0;

/// Short messages near the lower edge: at the upper one stands what leaks, and who reads that reads on.
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
