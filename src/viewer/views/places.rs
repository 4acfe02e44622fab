//! The view of places to come back to: marked groups with their colours and notes, and bookmarks.

use crate::viewer::action::Action;
use crate::viewer::bookmarks::Bookmarks;
use crate::viewer::clock::Clock;
use crate::viewer::document::Document;
use crate::viewer::keys;
use crate::viewer::panels::numbers::number;
use crate::viewer::panels::theme;
use crate::viewer::selection::{LONGEST_NOTE, MarkNote, Marks, Select, Selection};
use crate::viewer::settings::Settings;
use crate::viewer::view::{About, Place, View, draw_with};
use bevy::prelude::*;
use bevy_egui::egui::{self, Color32, RichText, Sense, Stroke, StrokeKind};
use memory_city_analysis::timeline::{NodeId, Timeline, names_of_key};
use memory_city_views::city::MARK_COLOURS;

/// The places as a kind of view.
pub(super) const VIEW: &dyn View = &MarksView;

struct MarksView;

impl View for MarksView {
    fn about(&self) -> About {
        About {
            id: "places",
            title: "Marks",
            help: "Marked groups with colours and notes, and bookmarks",
            place: Place::LeftBelow,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }
}

#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    (clock, settings): (Res<Clock>, Res<Settings>),
    mut marks: ResMut<Marks>,
    mut bookmarks: ResMut<Bookmarks>,
    mut selection: ResMut<Selection>,
    mut actions: MessageWriter<Action>,
) {
    let Some(timeline) = document.timeline() else { return };
    let value = |node: NodeId| {
        let metric = settings.metric_in(timeline);
        number(timeline, timeline.value(clock.time.min(timeline.times().saturating_sub(1)), node, metric), metric)
    };
    theme::pane(ui, |ui| {
        ui.horizontal(|ui| {
            theme::heading(ui, "MARKED GROUPS");
            let text = RichText::new("Mark the selection").size(11.5);
            if ui.button(text).on_hover_text(Action::Mark.tooltip()).clicked() {
                actions.write(Action::Mark);
            }
        });
        if marks.all().is_empty() {
            let key = keys::key(Action::Mark);
            quiet(ui, &format!("Select a group and press {key}: it gets a colour of its own, and keeps its name."));
        }
        let all: Vec<(String, MarkNote)> = marks.all().iter().map(|(key, mark)| (key.clone(), mark.clone())).collect();
        for (key, mark) in all {
            let node = timeline.find(&key);
            match marked(ui, timeline, (&key, node), &mark, &value) {
                Some(PlaceChange::Say(said)) => marks.set(&key, said),
                Some(PlaceChange::Remove) => marks.remove(timeline, &key),
                Some(PlaceChange::Go) => {
                    if let Some(node) = node {
                        selection.select(timeline, node);
                        actions.write(Action::Focus);
                    }
                }
                None => {}
            }
        }
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            theme::heading(ui, "BOOKMARKS");
            let text = RichText::new("Bookmark this view").size(11.5);
            if ui.button(text).on_hover_text(Action::Bookmark.tooltip()).clicked() {
                actions.write(Action::Bookmark);
            }
        });
        if bookmarks.list().is_empty() {
            let key = keys::key(Action::Bookmark);
            quiet(ui, &format!("{key} keeps the time, the view and the selection."));
        }
        let (mut goes, mut gone, mut renamed) = (None, None, None);
        for (at, bookmark) in bookmarks.list().iter().enumerate() {
            ui.horizontal(|ui| {
                if ui.small_button("Go").on_hover_text("Shows it again: time, view and selection").clicked() {
                    goes = Some(at);
                }
                let mut name = bookmark.name.clone();
                let width = (ui.available_width() - 28.0).max(40.0);
                let field = egui::TextEdit::singleline(&mut name).desired_width(width).char_limit(200);
                if ui.add(field).on_hover_text("Its name").changed() {
                    renamed = Some((at, name));
                }
                if away(ui) {
                    gone = Some(at);
                }
            });
        }
        if let Some(at) = goes {
            bookmarks.go_to(at);
        }
        if let Some((at, name)) = renamed {
            bookmarks.rename(at, name);
        }
        if let Some(at) = gone {
            bookmarks.remove(at);
        }
    });
}

enum PlaceChange {
    Say(MarkNote),
    Remove,
    Go,
}

fn marked(
    ui: &mut egui::Ui,
    timeline: &Timeline,
    (key, node): (&str, Option<NodeId>),
    mark: &MarkNote,
    value: &dyn Fn(NodeId) -> String,
) -> Option<PlaceChange> {
    let mut change = None;
    ui.horizontal(|ui| {
        let colour = theme::colour(MARK_COLOURS[mark.colour % MARK_COLOURS.len()]);
        let (rect, swatch) = ui.allocate_exact_size(egui::vec2(16.0, 16.0), Sense::click());
        ui.painter().rect(rect, 3.0, colour, Stroke::new(1.0, Color32::from_white_alpha(60)), StrokeKind::Inside);
        if swatch.on_hover_text("Click for the next colour").clicked() {
            let colour = (mark.colour + 1) % MARK_COLOURS.len();
            change = Some(PlaceChange::Say(MarkNote { colour, ..mark.clone() }));
        }
        // Of a key the groups, without the heap and the levels that have none.
        let of_key = || {
            let names = names_of_key(key).into_iter().skip(1).filter(|name| !name.is_empty());
            names.collect::<Vec<_>>().join(" › ")
        };
        let name = node.map_or_else(of_key, |node| timeline.display_name(node));
        let text = RichText::new(theme::shortened(&theme::brief(&name), 26)).size(12.5);
        match node {
            Some(node) => {
                let link =
                    ui.link(text).on_hover_text(format!("{}\nClick to fly there", theme::told_path(timeline, node)));
                if link.clicked() {
                    change = Some(PlaceChange::Go);
                }
                ui.label(RichText::new(value(node)).size(11.5).color(theme::QUIET));
            }
            None => {
                ui.label(text.color(theme::QUIET)).on_hover_text("The present grouping has no such group");
            }
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if away(ui) {
                change = Some(PlaceChange::Remove);
            }
        });
    });
    let mut note = mark.note.clone();
    let field = egui::TextEdit::multiline(&mut note).desired_rows(1).desired_width(f32::INFINITY);
    let field = field.id_salt(key).hint_text("Note").char_limit(LONGEST_NOTE / 4);
    if ui.add(field).changed() {
        change = Some(PlaceChange::Say(MarkNote { note, ..mark.clone() }));
    }
    change
}

fn quiet(ui: &mut egui::Ui, text: &str) {
    ui.label(RichText::new(text).size(12.0).color(theme::QUIET));
}

fn away(ui: &mut egui::Ui) -> bool {
    theme::cross(ui, "Take it away", "Takes it away")
}
