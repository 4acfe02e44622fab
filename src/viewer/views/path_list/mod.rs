//! The list of paths from GC roots to a group, step by step, with fields, shares and roots. It shows the memory that a cut would free. A
//! row lights its building, a click selects it.

mod cut;
mod hint;
mod row;

use crate::viewer::action::Action;
use crate::viewer::city::ShownRoutes;
use crate::viewer::clock::Clock;
use crate::viewer::dock::Dock;
use crate::viewer::document::Document;
use crate::viewer::editor::{CodePlace, CodeRequest};
use crate::viewer::frame::Stage;
use crate::viewer::hint::Hint;
use crate::viewer::keys;
use crate::viewer::panels::spinner::working;
use crate::viewer::panels::theme;
use crate::viewer::root_paths::{CutChoice, FoundPaths, RootPaths};
use crate::viewer::selection::{Pointing, Select, Selection};
use crate::viewer::view::{About, Place, View, Views, draw_with};
use bevy::prelude::*;
use bevy_egui::egui::{self, Color32, RichText, Sense};
use memory_city_analysis::ownership::WayKind;
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::{NodeId, Timeline};
use std::sync::Arc;

/// The list as a kind of view.
pub(super) const VIEW: &dyn View = &PathsView;

struct PathsView;

impl View for PathsView {
    fn about(&self) -> About {
        About {
            id: "ways",
            title: "Paths",
            help: "The paths from GC roots to the selected group, and what would be freed if one were cut",
            place: Place::Right,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn hints(&self, world: &World) -> Vec<Hint> {
        hint::hints(world)
    }

    fn plugin(&self, app: &mut App) {
        app.add_systems(Update, open.in_set(Stage::Derive));
    }
}

/// Height of a row, points.
const ROW: f32 = 19.0;
/// Kinds of roots that are listed above the steps.
const MOST_KINDS: usize = 6;

/// Brings the list to the front when ways are asked for.
fn open(mut ways: ResMut<RootPaths>, mut dock: ResMut<Dock>, views: Res<Views>) {
    if std::mem::take(&mut ways.opens)
        && let Some(view) = views.get("ways")
    {
        dock.open(view, &views);
    }
}

/// Resources that the list reads and writes.
struct PathTools<'a> {
    timeline: &'a Timeline,
    time: usize,
    ways: &'a mut RootPaths,
    selection: Mut<'a, Selection>,
    pointing: &'a mut Pointing,
    /// The step or root to cut; the present cut again takes it back.
    cut: Option<CutChoice>,
    /// A place in the code that is to be opened.
    code: Option<CodePlace>,
    actions: Vec<Action>,
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    (clock, routes): (Res<Clock>, Res<ShownRoutes>),
    mut ways: ResMut<RootPaths>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    (mut actions, mut requests): (MessageWriter<Action>, MessageWriter<CodeRequest>),
) {
    let Some(open) = document.get() else { return };
    let mut tools = PathTools {
        timeline: &open.timeline,
        time: clock.time,
        ways: &mut ways,
        selection: selection.reborrow(),
        pointing: &mut pointing,
        cut: None,
        code: None,
        actions: Vec::new(),
    };
    tools.ways.hovered = None;
    theme::pane_at_least(ui, theme::RIGHT_CONTENTS, |ui| contents(ui, &mut tools, &routes));
    let PathTools { cut, code, actions: asked, .. } = tools;
    actions.write_batch(asked);
    requests.write_batch(code.map(CodeRequest));
    if let Some(choice) = cut {
        ways.toggle_cut(&open.source, choice);
    }
}

fn quiet(text: impl Into<String>) -> RichText {
    RichText::new(text).size(11.5).color(theme::QUIET)
}

fn contents(ui: &mut egui::Ui, tools: &mut PathTools<'_>, routes: &ShownRoutes) {
    ui.spacing_mut().item_spacing.y = 4.0;
    if tools.ways.subject().is_empty() {
        theme::heading(ui, "PATHS FROM GC ROOTS");
        ui.add(
            egui::Label::new(quiet("Which references keep a group alive, object by object, from the GC roots down."))
                .wrap(),
        );
        let text =
            RichText::new(keys::beside("Show the paths to the selection", Action::RootPaths)).color(Color32::WHITE);
        let button = egui::Button::new(text).fill(theme::NEXT_STEP);
        let selected = tools.selection.node().is_some();
        let response = ui.add_enabled(selected, button).on_hover_text(Action::RootPaths.tooltip());
        if response.on_disabled_hover_text("Select a building or a row of a list first").clicked() {
            tools.actions.push(Action::RootPaths);
        }
        return;
    }
    head(ui, tools);
    if let Some(error) = tools.ways.error() {
        let text = RichText::new(format!("There are no paths to show: {error}")).color(theme::ERROR);
        ui.add(egui::Label::new(text).wrap());
        return;
    }
    if let Some(snapshot) = tools.ways.snapshot() {
        working(ui, if snapshot.stage.is_empty() { "Looking for the paths" } else { &snapshot.stage });
    }
    let Some(found) = tools.ways.found().map(Arc::clone) else { return };
    if found.ways.about().objects == 0 {
        ui.label(quiet("The group has no objects at this point in time."));
        return;
    }
    kinds(ui, &found);
    cut::cut_box(ui, tools);
    ui.horizontal(|ui| {
        theme::heading(ui, "STEP BY STEP, UPWARDS");
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let cut = egui::Button::new(RichText::new(keys::beside("Cut", Action::Cut)).size(11.5));
            let response = ui.add_enabled(tools.ways.chosen.is_some(), cut).on_hover_text(Action::Cut.tooltip());
            if response.on_disabled_hover_text("Choose a step or a root first").clicked() {
                tools.actions.push(Action::Cut);
            }
        });
    });
    for &(depth, row) in &found.rows {
        row::row_of(ui, tools, &found, depth, row);
    }
    if let Some(routes) = &routes.0 {
        let counted = [
            (routes.inside, "within one building"),
            (routes.nowhere, "in no group"),
            (routes.left_out, "too weak to be drawn"),
        ];
        let text: Vec<String> = counted.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if !text.is_empty() {
            ui.add(egui::Label::new(quiet(format!("Steps that the city does not draw: {}", text.join(", ")))).wrap());
        }
    }
}

/// Heading: the subject, and the kind of paths.
fn head(ui: &mut egui::Ui, tools: &mut PathTools<'_>) {
    ui.horizontal(|ui| {
        theme::heading(ui, "PATHS FROM GC ROOTS TO");
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if theme::cross_button(ui, "Put the paths away", &keys::beside("Puts the paths away", Action::Escape)) {
                tools.ways.close();
            }
            let nodes = tools.selection.outermost(tools.timeline);
            let other = !nodes.is_empty() && nodes != tools.ways.subject();
            let again = egui::Button::new(RichText::new("Of selection").size(11.0)).small();
            if ui.add_enabled(other, again).on_hover_text("Shows the paths to what is selected now").clicked() {
                tools.ways.show(tools.timeline, nodes);
            }
        });
    });
    let subject: Vec<NodeId> = tools.ways.subject().to_vec();
    for &node in subject.iter().take(3) {
        let name = theme::brief(&tools.timeline.display_name(node));
        let text = RichText::new(theme::shortened(&name, 44)).size(14.0).strong().color(theme::ACCENT);
        let response = ui.add(egui::Label::new(text).sense(Sense::click()));
        if response.hovered() {
            tools.pointing.pointed = Some(node);
        }
        if response.on_hover_text(theme::told_path(tools.timeline, node)).clicked() {
            tools.selection.select(tools.timeline, node);
        }
    }
    if subject.len() > 3 {
        ui.label(quiet(format!("and {} more, as one group", subject.len() - 3)));
    }
    ui.horizontal(|ui| {
        let kinds = [
            (WayKind::Interesting, "Most interesting", "Every way through which enough of the group is reached"),
            (WayKind::Shortest, "Shortest", "For each object a shortest path, with as few weaker references as possible"),
        ];
        for (kind, title, help) in kinds {
            let text = RichText::new(title).size(12.0);
            if ui.selectable_label(tools.ways.kind == kind, text).on_hover_text(help).clicked() {
                tools.ways.kind = kind;
            }
        }
        let mut share = tools.ways.share;
        let field = egui::DragValue::new(&mut share).range(0..=100).prefix("≥ ").suffix(" %").speed(0.2);
        let help = "A step is followed if at least this part of the group's objects, or of what these keep alive, is reached through it";
        if ui.add(field).on_hover_text(help).changed() {
            tools.ways.share = share;
        }
    });
}

/// All roots that it is reached from, by kind: by any way, so that an object counts at each kind.
fn kinds(ui: &mut egui::Ui, found: &FoundPaths) {
    theme::heading(ui, "REACHED FROM ROOTS, BY KIND");
    let whole = found.ways.about().objects.max(1) as f64;
    if found.ways.kinds.is_empty() {
        ui.label(quiet("No root reaches it."));
    }
    for kind in found.ways.kinds.iter().take(MOST_KINDS) {
        let share = 100.0 * kind.keeps.objects as f64 / whole;
        let text = format!("{} × {}: {share:.0} %", kind.text, count_text(kind.roots));
        ui.label(RichText::new(text).size(12.0)).on_hover_ui(|ui| {
            ui.label(format!(
                "From all {} roots of this kind {} objects of the group are reached, by any way. What several kinds reach counts at each: \
                 the ways above are those that keep most",
                count_text(kind.roots),
                count_text(kind.keeps.objects)
            ));
            let of_kind = || found.ways.nearest.iter().filter(|root| root.kind == kind.kind);
            for root in of_kind().take(8) {
                ui.label(format!("nearest to {} objects: {}", count_text(root.keeps.objects), root.text));
            }
            let more = of_kind().count().saturating_sub(8);
            if more > 0 {
                ui.label(quiet(format!("and {} more that are nearest to fewer", count_text(more as u64))));
            }
        });
    }
    let more = found.ways.kinds.len().saturating_sub(MOST_KINDS);
    if more > 0 {
        ui.label(quiet(format!("and {more} more kinds"))).on_hover_ui(|ui| {
            for kind in &found.ways.kinds[MOST_KINDS..] {
                ui.label(format!("{} × {}", kind.text, count_text(kind.roots)));
            }
        });
    }
    ui.add_space(3.0);
}
