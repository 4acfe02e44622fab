//! The walked owners as a line at the foot of the city: from the group where the walk began up to the root, each to be clicked.

use crate::viewer::action::Action;
use crate::viewer::keys;
use crate::viewer::owners::{OwnerWalk, OwnersKnown, OwnersOf, WalkStop};
use crate::viewer::panels::spinner::spinner;
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use bevy::prelude::Mut;
use bevy_egui::egui::{self, Align2, Color32, Margin, Rect, RichText, Stroke};
use memory_city_analysis::tabular::{bytes_text, objects_text};
use memory_city_analysis::timeline::Timeline;

/// Stops that are shown at both ends; those between are behind dots.
const SHOWN: (usize, usize) = (2, 4);
/// Letters of a name.
const LETTERS: usize = 26;
/// Letters of the root.
const END_LETTERS: usize = 80;

/// Draws it into the pane of the city. Returns the person's wish.
pub fn show(
    ctx: &egui::Context,
    pane: Rect,
    timeline: &Timeline,
    owners: &mut OwnersOf,
    selection: &mut Mut<Selection>,
) -> Vec<Action> {
    let mut asked = Vec::new();
    if !owners.waits() && owners.walk().is_none() {
        return asked;
    }
    let mut goes_to = None;
    let mut leaves = false;
    let area = egui::Area::new("owners walked".into()).order(egui::Order::Middle).constrain_to(pane);
    let area = area.pivot(Align2::LEFT_BOTTOM).fixed_pos(pane.left_bottom() + egui::vec2(theme::GAP, -theme::GAP));
    area.show(ctx, |ui| {
        ui.set_max_width(pane.width() - 2.0 * theme::GAP);
        theme::frame().fill(theme::SOLID).inner_margin(Margin::symmetric(9, 6)).show(ui, |ui| {
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
            ui.spacing_mut().item_spacing = egui::vec2(5.0, 4.0);
            let Some(walk) = owners.walk() else {
                ui.horizontal(|ui| {
                    spinner(ui, 12.0);
                    ui.label(quiet(looking(owners)));
                    leaves = ui.small_button("Cancel").clicked();
                });
                return;
            };
            ui.horizontal_wrapped(|ui| {
                let back = egui::Button::new(RichText::new("Back").size(12.0));
                if ui.add_enabled(walk.at > 0 || walk.ended, back).on_hover_text(Action::Back.tooltip()).clicked() {
                    asked.push(Action::Back);
                }
                ui.add_space(3.0);
                let shown = shown(walk);
                let mut before = None;
                for at in shown {
                    if let Some(before) = before {
                        separator(ui, at - before - 1, walk, timeline, before);
                    }
                    before = Some(at);
                    if chip(ui, walk, at, timeline) {
                        goes_to = Some(at);
                    }
                }
                if walk.at + 1 == walk.stops.len() {
                    ui.label(quiet("‹".into()));
                    end(ui, walk, &mut asked);
                } else {
                    let text =
                        RichText::new(keys::beside("Next owner", Action::FollowOwner)).size(12.0).color(Color32::WHITE);
                    let next = egui::Button::new(text).fill(theme::NEXT_STEP);
                    ui.add_space(3.0);
                    if ui.add(next).on_hover_text(Action::FollowOwner.tooltip()).clicked() {
                        asked.push(Action::FollowOwner);
                    }
                }
                leaves = theme::cross(ui, "Put this line away", "Puts this line away");
            });
        });
    });
    if leaves {
        owners.leave();
    } else if let Some(at) = goes_to {
        owners.go_to(at, timeline, selection);
    }
    asked
}

fn quiet(text: String) -> RichText {
    RichText::new(text).size(12.0).color(theme::QUIET)
}

fn looking(owners: &OwnersOf) -> String {
    let snapshot = match owners.known() {
        OwnersKnown::Looking(snapshot) => snapshot,
        OwnersKnown::Nothing | OwnersKnown::Known(_) | OwnersKnown::Failed(_) => None,
    };
    match snapshot {
        Some(now) if now.total > 0 => {
            let stage = theme::shortened(&now.stage, 60);
            format!("Looking for what keeps it: {stage}  {:.0} %", 100.0 * now.done as f64 / now.total as f64)
        }
        _ => "Looking for what keeps it".to_owned(),
    }
}

/// The stops that are shown: the first ones, those around where the walk is, as far as it has come.
fn shown(walk: &OwnerWalk) -> Vec<usize> {
    let (first, last) = SHOWN;
    (0..=walk.at).filter(|&at| at < first || at + last > walk.at).collect()
}

fn name(timeline: &Timeline, stop: &WalkStop) -> String {
    match &stop.nodes[..] {
        [node] => theme::brief(&timeline.display_name(*node)),
        several => format!("{} groups", several.len()),
    }
}

fn separator(ui: &mut egui::Ui, hidden: usize, walk: &OwnerWalk, timeline: &Timeline, before: usize) {
    ui.label(quiet("‹".into()));
    if hidden > 0 {
        ui.label(quiet(format!("… {hidden} …"))).on_hover_ui(|ui| {
            for stop in &walk.stops[before + 1..=before + hidden] {
                ui.label(name(timeline, stop));
            }
        });
        ui.label(quiet("‹".into()));
    }
}

/// One stop. Returns whether it was clicked.
fn chip(ui: &mut egui::Ui, walk: &OwnerWalk, at: usize, timeline: &Timeline) -> bool {
    let stop = &walk.stops[at];
    let here = at == walk.at && !walk.ended;
    let colour = if here { theme::ACCENT } else { theme::TEXT };
    let text = RichText::new(theme::shortened(&name(timeline, stop), LETTERS)).size(12.5).color(colour);
    let button = egui::Button::new(if here { text.strong() } else { text }).fill(theme::TAB);
    let response = ui.add(if here { button.stroke(Stroke::new(1.0, theme::ACCENT)) } else { button });
    let response = response.on_hover_ui(|ui| {
        for &node in &stop.nodes {
            ui.label(RichText::new(theme::told_path(timeline, node)).strong());
        }
        for by in &stop.by {
            ui.label(RichText::new(format!("by {by}")).color(theme::INCOMING));
        }
        let share = 100.0 * stop.keeps.objects as f64 / walk.about.objects.max(1) as f64;
        let what = match (walk.only_new, walk.by_place) {
            (false, _) => "of the group",
            (true, false) => "of what came since the first time",
            (true, true) => "of what is where it grew since the first time",
        };
        ui.label(match at {
            0 => format!("The walk began here: {} {what}", objects_text(walk.about.objects)),
            _ => format!(
                "Keeps {}, {} {what}: {share:.0} %",
                objects_text(stop.keeps.objects),
                bytes_text(stop.keeps.bytes)
            ),
        });
        ui.label(RichText::new("Click to go there").size(11.0).color(theme::QUIET));
    });
    response.clicked()
}

/// The root, or why the way ends.
fn end(ui: &mut egui::Ui, walk: &OwnerWalk, asked: &mut Vec<Action>) {
    let rooted = walk.end.starts_with("here: ");
    let (text, fill) = match (rooted, walk.ended) {
        (true, true) => (Color32::from_rgb(28, 22, 0), theme::ROUTE),
        (true, false) => (theme::ROUTE, theme::TAB),
        (false, _) => (theme::WARNING, theme::TAB),
    };
    let label = RichText::new(theme::shortened(&walk.end, END_LETTERS)).size(12.5).strong().color(text);
    let button = ui.add(egui::Button::new(label).fill(fill));
    let response = button.on_hover_ui(|ui| {
        ui.label(RichText::new(&walk.end).strong());
        let key = keys::key(Action::FollowOwner);
        ui.label(quiet(format!("{key} ends here: nothing further up keeps more of it")));
    });
    if response.clicked() && !walk.ended {
        asked.push(Action::FollowOwner);
    }
}
