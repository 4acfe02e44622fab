//! The bar at the top: the open input, its size, its warnings, and other things to open or show.

use super::numbers::amounts;
use super::theme;
use crate::opening;
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::comparison::OpenComparison;
use crate::viewer::dock::Dock;
use crate::viewer::document::{Document, OpenDocument};
use crate::viewer::live::Listening;
use crate::viewer::loading::{Loading, is_sample};
use crate::viewer::view::Views;
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::analyses;
use memory_city_analysis::timeline::NodeId;

/// Height with its frame.
pub const HEIGHT: f32 = 38.0;

const SAMPLE: &str = "A small program with a leak, which comes with Memory City. Open… shows your own";

/// Draws the bar.
pub(in crate::viewer) fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    (clock, listening, loading, views): (Res<Clock>, Res<Listening>, Res<Loading>, Res<Views>),
    #[cfg(target_os = "linux")] recorder: Res<crate::viewer::recording::WindowRecorder>,
    compared: Res<OpenComparison>,
    mut dock: ResMut<Dock>,
    mut actions: MessageWriter<Action>,
) {
    let Some(open) = document.get() else { return };
    ui.horizontal_centered(|ui| {
        let title = RichText::new(theme::shortened(&open.title, 48)).heading().strong();
        ui.add(egui::Label::new(title).selectable(false)).on_hover_text(&open.title);
        if is_sample(loading.paths()) {
            ui.label(RichText::new("sample").color(theme::ACCENT)).on_hover_text(SAMPLE);
        }
        ui.add_space(6.0);
        let amount = open.timeline.amount(clock.time, NodeId::ROOT);
        ui.label(RichText::new(amounts(amount)).color(theme::QUIET)).on_hover_text(match open.source.heaps() {
            Some(_) => "The heap at the shown time: what is reachable from the GC roots",
            None => "The heap at the shown time, as the input counts it",
        });
        warnings(ui, open);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let help = ui.button("?").on_hover_text(Action::Help.tooltip());
            theme::named(&help, "Help");
            if help.clicked() {
                actions.write(Action::Help);
            }
            ui.menu_button("Views", |ui| menu(ui, &mut dock, &views))
                .response
                .on_hover_text("Which views are shown. Drag their tabs to place them beside each other");
            if ui.button("Group…").on_hover_text(Action::Groupings.tooltip()).clicked() {
                actions.write(Action::Groupings);
            }
            if ui.button("Find…").on_hover_text(Action::Palette.tooltip()).clicked() {
                actions.write(Action::Palette);
            }
            let listens = listening.address().is_some();
            if ui.selectable_label(listens, "Live").on_hover_text(Action::Listen.tooltip()).clicked() {
                actions.write(Action::Listen);
            }
            #[cfg(target_os = "linux")]
            actions.write_batch(super::recorder_card::sign(ui, &recorder));
            ui.menu_button("Compare", |ui| {
                let times = open.timeline.times();
                for (text, action, offered) in [
                    ("With another run…", Action::CompareRuns, true),
                    (
                        "Difference of base and shown time",
                        Action::DifferenceTrees,
                        compared.shown().is_none() && times > 1,
                    ),
                    ("End comparison", Action::EndComparison, compared.shown().is_some()),
                ] {
                    let button = ui.add_enabled(offered, egui::Button::new(text));
                    if button.on_hover_text(action.tooltip()).clicked() {
                        actions.write(action);
                        ui.close();
                    }
                }
            })
            .response
            .on_hover_text("Another run, or another time, beside what is open");
            if ui.button("Open…").on_hover_text(Action::OpenFiles.tooltip()).clicked() {
                actions.write(Action::OpenFiles);
            }
        });
    });
}

fn menu(ui: &mut egui::Ui, dock: &mut Dock, views: &Views) {
    for view in views.iter() {
        let about = view.about();
        let mut shown = dock.shows(about.id);
        if ui.checkbox(&mut shown, about.title).on_hover_text(about.help).clicked() {
            if shown { dock.open(view, views) } else { dock.close(about.id) }
        }
    }
    ui.separator();
    if ui.button("First layout").on_hover_text("Puts all views where they were at the first start").clicked() {
        dock.reset(views);
        ui.close();
    }
}

/// Characters of the banner.
const UNJUDGED: usize = 110;

fn warnings(ui: &mut egui::Ui, open: &OpenDocument) {
    let (skipped, warnings): (Vec<_>, Vec<_>) = open.warnings.iter().partition(|warning| warning.skips_file());
    if !skipped.is_empty() {
        ui.label(RichText::new(opening::other_files(skipped.len())).color(theme::QUIET)).on_hover_ui(|ui| {
            ui.label(opening::OTHER_FILES);
            for warning in skipped.iter().take(12) {
                ui.label(theme::shortened(&warning.to_string(), 400));
            }
        });
    }
    // What keeps anybody from judging it is no matter of a hover.
    let reasons = analyses::unjudged(&open.warnings);
    if let Some(first) = reasons.first() {
        let banner = RichText::new(format!("⚠ {}", theme::shortened(first, UNJUDGED))).color(theme::ERROR).strong();
        ui.label(banner)
            .on_hover_ui(|ui| reasons.iter().for_each(|reason| _ = ui.label(theme::shortened(reason, 600))));
    }
    let text = match warnings.len() {
        0 => return,
        1 => "1 warning".to_owned(),
        n => format!("{n} warnings"),
    };
    ui.label(RichText::new(format!("⚠ {text}")).color(theme::WARNING)).on_hover_ui(|ui| {
        ui.label(opening::INCOMPLETE);
        for warning in warnings.iter().take(12) {
            ui.label(theme::shortened(&warning.to_string(), 400));
        }
        if warnings.len() > 12 {
            ui.label(format!("and {} more, see the log", warnings.len() - 12));
        }
    });
}
