//! The card that asks for a run to compare with the open one, and the progress of the work.

use super::spinner::spinner;
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::comparison::{CompareWish, OpenComparison};
use crate::viewer::document::Document;
use crate::viewer::frame::{Awake, Stage};
use crate::viewer::job::Job;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, RichText};
use memory_city_analysis::analyses::compare;
use memory_city_analysis::analyses::{Parameter, ParameterKind};
use std::path::PathBuf;

/// The card, open or not, and its typed text.
#[derive(Resource, Default)]
pub struct CompareCard {
    open: bool,
    fresh: bool,
    path: String,
    align: String,
    dialog: Option<Job<Option<PathBuf>>>,
}

impl CompareCard {
    /// Closes it. Returns whether it was open.
    pub fn escape(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }
}

/// Alignments of runs, with the help text of the command line.
fn alignment() -> (Vec<&'static str>, &'static str) {
    let is_align = |parameter: &Parameter| parameter.id == "align";
    match compare::description().parameters.into_iter().find(is_align) {
        Some(Parameter { kind: ParameterKind::Choice { choices, .. }, explanation, .. }) => {
            (choices.to_vec(), explanation)
        }
        _ => (Vec::new(), ""),
    }
}

fn card_actions(
    mut actions: MessageReader<Action>,
    mut card: ResMut<CompareCard>,
    document: Res<Document>,
    mut awake: ResMut<Awake>,
) {
    for action in actions.read() {
        if *action == Action::CompareRuns && document.get().is_some() {
            card.open = !card.open;
            card.fresh = true;
            if card.align.is_empty() {
                card.align = "auto".to_owned();
            }
            tracing::debug!("compare card: {}", if card.open { "opened" } else { "closed" });
        }
    }
    awake.wait_if(card.dialog.is_some());
    if let Some(outcome) = card.dialog.as_ref().and_then(|dialog| dialog.poll()) {
        card.dialog = None;
        if let Ok(Some(path)) = outcome {
            card.path = path.to_string_lossy().into_owned();
        }
    }
}

/// Draws the card, or how far the work is.
pub fn show(
    In(ctx): In<egui::Context>,
    mut card: ResMut<CompareCard>,
    mut comparison: ResMut<OpenComparison>,
    document: Res<Document>,
    mut awake: ResMut<Awake>,
) {
    let comparison = &mut *comparison;
    if let Some(snapshot) = comparison.snapshot() {
        if working(&ctx, &snapshot) {
            comparison.escape();
        }
        return;
    }
    let Some(open) = document.get().filter(|_| card.open) else { return };
    let title = comparison.shown().map_or(open.title.as_str(), |shown| shown.first.title.as_str()).to_owned();
    let card = &mut *card;
    let mut starts = false;
    egui::Area::new("compare".into()).order(egui::Order::Foreground).anchor(Align2::CENTER_TOP, [0.0, 70.0]).show(
        &ctx,
        |ui| {
            theme::frame().fill(theme::SOLID).inner_margin(16).show(ui, |ui| {
                ui.set_width(560.0_f32.min(ctx.content_rect().width() - 60.0));
                ui.label(RichText::new("Compare with another run").heading().strong());
                ui.add_space(4.0);
                let text = format!(
                    "{} is the first run. The second: the same program after a fix, or another version of it.",
                    theme::shortened(&title, 48)
                );
                ui.add(egui::Label::new(RichText::new(text).color(theme::QUIET)).wrap());
                ui.add_space(6.0);
                let field = egui::TextEdit::singleline(&mut card.path)
                    .id(egui::Id::new("compare path"))
                    .hint_text("A trace, a recording, dumps or trees; a folder where there are several files")
                    .desired_width(f32::INFINITY);
                let field = ui.add(field).on_hover_text("Where the second run is");
                if std::mem::take(&mut card.fresh) {
                    field.request_focus();
                }
                let path = PathBuf::from(card.path.trim());
                let there = path.exists() && !card.path.trim().is_empty();
                if !there && !card.path.trim().is_empty() {
                    ui.label(RichText::new("There is no such file or folder").size(11.5).color(theme::WARNING));
                }
                if let Some(why) = &comparison.failed {
                    ui.add(egui::Label::new(RichText::new(why).size(12.0).color(theme::ERROR)).wrap());
                }
                let enter = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
                if ui.input(|i| i.key_pressed(egui::Key::Escape)) {
                    card.open = false;
                }
                ui.add_space(2.0);
                ui.horizontal(|ui| {
                    // The dialog is made on this thread (some platforms insist) and awaited on another.
                    if ui.button("File…").on_hover_text("Chooses a file").clicked() && card.dialog.is_none() {
                        let picked = rfd::AsyncFileDialog::new().set_title("The second run").pick_file();
                        card.dialog = Some(Job::start(move |_| {
                            bevy::tasks::block_on(picked).map(|file| file.path().to_path_buf())
                        }));
                    }
                    if ui.button("Folder…").on_hover_text("Chooses a folder").clicked() && card.dialog.is_none() {
                        let picked = rfd::AsyncFileDialog::new().set_title("The second run").pick_folder();
                        card.dialog = Some(Job::start(move |_| {
                            bevy::tasks::block_on(picked).map(|folder| folder.path().to_path_buf())
                        }));
                    }
                    ui.add_space(10.0);
                    let (choices, explanation) = alignment();
                    ui.label("Aligned by").on_hover_text(explanation);
                    let shown =
                        egui::ComboBox::from_id_salt("align runs").width(110.0).selected_text(card.align.as_str());
                    let shown = shown.show_ui(ui, |ui| {
                        for choice in choices {
                            ui.selectable_value(&mut card.align, choice.to_owned(), choice);
                        }
                    });
                    shown.response.on_hover_text(explanation);
                });
                ui.add_space(6.0);
                ui.horizontal(|ui| {
                    let compare = ui.add_enabled(there, egui::Button::new("Compare"));
                    starts = compare.on_hover_text("Enter").clicked() || enter && there;
                    if ui.button("Cancel").on_hover_text("Esc").clicked() {
                        card.open = false;
                    }
                });
            });
        },
    );
    if starts {
        card.open = false;
        let data = vec![PathBuf::from(card.path.trim())];
        comparison.wish = Some(CompareWish::Run { data, align: card.align.clone(), at: 0 });
        awake.keep_if(true);
    }
}

/// How far the work is. Returns whether it is to be stopped.
fn working(ctx: &egui::Context, snapshot: &memory_city_heap::progress::Snapshot) -> bool {
    let area = egui::Area::new("comparing".into()).order(egui::Order::Foreground);
    let shown = area.anchor(Align2::CENTER_TOP, [0.0, 70.0]).show(ctx, |ui| {
        theme::frame()
            .fill(theme::SOLID)
            .inner_margin(10)
            .show(ui, |ui| {
                ui.horizontal(|ui| {
                    spinner(ui, 14.0);
                    let stage = if snapshot.stage.is_empty() { "Comparing" } else { snapshot.stage.as_str() };
                    let share = match snapshot.total {
                        0 => String::new(),
                        total => format!("  {:.0} %", snapshot.done as f64 * 100.0 / total as f64),
                    };
                    ui.label(format!("{}{share}", theme::shortened(stage, 60)));
                    ui.button("Cancel").on_hover_text("Esc").clicked()
                })
                .inner
            })
            .inner
    });
    shown.inner
}

/// The card for comparisons.
pub struct CompareCardPlugin;

impl Plugin for CompareCardPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<CompareCard>().add_systems(Update, card_actions.in_set(Stage::Act));
    }
}
