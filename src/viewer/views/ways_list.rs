//! The ways from GC roots to a group as a list: step by step, with fields, shares and roots; and what would be freed if one of
//! them were cut. A row lights its building, a click selects it.

use super::{Place, ShownRoutes, View, Views};
use crate::viewer::action::Action;
use crate::viewer::app::Stage;
use crate::viewer::clock::Clock;
use crate::viewer::dock::Dock;
use crate::viewer::document::Document;
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use crate::viewer::ways::{CutChoice, CutState, CutView, FoundWays, WayRow, Ways};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, FontId, RichText, Sense, Stroke, StrokeKind};
use memory_city_analysis::ownership::{Freed, PathEnd, WayKind, WayStep};
use memory_city_analysis::tabular::{bytes_text, count_text};
use memory_city_analysis::timeline::{NodeId, Timeline};
use std::sync::Arc;

/// The list as a kind of view.
pub(super) fn view() -> View {
    View {
        id: "ways",
        title: "Paths",
        help: "The paths from GC roots to the selected group, and what would be freed if one were cut",
        place: Place::Right,
        keys: &[],
        plugin: |app| {
            app.add_systems(Update, open.in_set(Stage::Derive));
        },
        draw: |world, ui| super::draw_with(world, ui, draw),
        preparation: None,
    }
}

/// Height of a row, points.
const ROW: f32 = 19.0;
/// How far nested rows stand to the right, and how deep ones stand no further.
const INDENT: f32 = 9.0;
const DEEPEST: u32 = 9;
/// Kinds of roots that are listed above the steps.
const MOST_KINDS: usize = 6;

/// Brings the list to the front when ways are asked for.
fn open(mut ways: ResMut<Ways>, mut dock: ResMut<Dock>, views: Res<Views>) {
    if std::mem::take(&mut ways.bypass_change_detection().opens)
        && let Some(view) = views.get("ways")
    {
        dock.open(view, &views);
    }
}

/// What the list reads and writes.
struct Tools<'a> {
    timeline: &'a Timeline,
    time: usize,
    ways: &'a mut Ways,
    selection: &'a mut Selection,
    /// What is to be cut, or no longer.
    cut: Option<CutChoice>,
    actions: Vec<Action>,
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    (clock, routes): (Res<Clock>, Res<ShownRoutes>),
    mut ways: ResMut<Ways>,
    mut selection: ResMut<Selection>,
    mut actions: MessageWriter<Action>,
) {
    let Some(open) = document.get() else { return };
    let mut tools = Tools {
        timeline: &open.timeline,
        time: clock.time,
        ways: ways.bypass_change_detection(),
        selection: selection.bypass_change_detection(),
        cut: None,
        actions: Vec::new(),
    };
    tools.ways.hovered = None;
    theme::pane(ui, |ui| contents(ui, &mut tools, &routes));
    let Tools { cut, actions: asked, .. } = tools;
    actions.write_batch(asked);
    if let Some(choice) = cut {
        ways.bypass_change_detection().toggle_cut(&open.source, choice);
    }
}

fn quiet(text: impl Into<String>) -> RichText {
    RichText::new(text).size(11.5).color(theme::QUIET)
}

fn contents(ui: &mut egui::Ui, tools: &mut Tools<'_>, routes: &ShownRoutes) {
    ui.spacing_mut().item_spacing.y = 4.0;
    if tools.ways.subject().is_empty() {
        theme::heading(ui, "PATHS FROM GC ROOTS");
        ui.add(
            egui::Label::new(quiet("Which references keep a group alive, object by object, from the GC roots down."))
                .wrap(),
        );
        let text = RichText::new("Show the paths to the selection  [U]").color(Color32::WHITE);
        let button = egui::Button::new(text).fill(Color32::from_rgb(30, 84, 160));
        let selected = tools.selection.node().is_some();
        let response = ui.add_enabled(selected, button).on_hover_text(Action::Ways.tooltip());
        if response.on_disabled_hover_text("Select a building or a row of a list first").clicked() {
            tools.actions.push(Action::Ways);
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
        ui.horizontal(|ui| {
            ui.add(egui::Spinner::new().size(12.0));
            let stage = if snapshot.stage.is_empty() { "Looking for the paths" } else { &snapshot.stage };
            ui.label(quiet(theme::shortened(stage, 44))).on_hover_text(stage);
        });
    }
    let Some(found) = tools.ways.found().map(Arc::clone) else { return };
    if found.ways.about().objects == 0 {
        ui.label(quiet("The group has no objects at this point in time."));
        return;
    }
    kinds(ui, &found);
    cut_box(ui, tools);
    ui.horizontal(|ui| {
        theme::heading(ui, "STEP BY STEP, UPWARDS");
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let cut = egui::Button::new(RichText::new("Cut  [Del]").size(11.5));
            let response = ui.add_enabled(tools.ways.chosen.is_some(), cut).on_hover_text(Action::Cut.tooltip());
            if response.on_disabled_hover_text("Choose a step or a root first").clicked() {
                tools.actions.push(Action::Cut);
            }
        });
    });
    for &(depth, row) in &found.rows {
        row_of(ui, tools, &found, depth, row);
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

/// What it is about, and which paths.
fn head(ui: &mut egui::Ui, tools: &mut Tools<'_>) {
    ui.horizontal(|ui| {
        theme::heading(ui, "PATHS FROM GC ROOTS TO");
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.small_button("✖").on_hover_text("Puts the paths away  [Esc]").clicked() {
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
            tools.selection.pointed = Some(node);
        }
        if response.on_hover_text(tools.timeline.path_label(node)).clicked() {
            tools.selection.select(tools.timeline, node);
        }
    }
    if subject.len() > 3 {
        ui.label(quiet(format!("and {} more, as one group", subject.len() - 3)));
    }
    ui.horizontal(|ui| {
        let kinds = [
            (WayKind::Interesting, "Most interesting", "Every way through which enough of the group is reached"),
            (WayKind::Shortest, "Shortest", "For each object one path as short as any"),
        ];
        for (kind, title, help) in kinds {
            let text = RichText::new(title).size(12.0);
            if ui.selectable_label(tools.ways.kind == kind, text).on_hover_text(help).clicked() {
                tools.ways.kind = kind;
            }
        }
        let mut share = tools.ways.share;
        let field = egui::DragValue::new(&mut share).range(0..=100).prefix("≥ ").suffix(" %").speed(0.2);
        let help = "A step is followed if at least this part of the group's objects is reached through it";
        if ui.add(field).on_hover_text(help).changed() {
            tools.ways.share = share;
        }
    });
}

/// All roots that keep it, by kind.
fn kinds(ui: &mut egui::Ui, found: &FoundWays) {
    theme::heading(ui, "ROOTS THAT KEEP IT, BY KIND");
    let whole = found.ways.about().objects.max(1) as f64;
    if found.ways.kinds.is_empty() {
        ui.label(quiet("No root reaches it."));
    }
    for kind in found.ways.kinds.iter().take(MOST_KINDS) {
        let share = 100.0 * kind.keeps.objects as f64 / whole;
        let text = format!("{} × {}: {share:.0} %", kind.text, count_text(kind.roots));
        ui.label(RichText::new(text).size(12.0)).on_hover_ui(|ui| {
            ui.label(format!(
                "From all {} roots of this kind {} objects of the group are reached, by any way",
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

/// What a row says.
struct Line {
    text: String,
    colour: Color32,
    /// Of the group, 0 to 1, where the row is about a part.
    share: Option<f32>,
    choice: Option<CutChoice>,
    node: Option<NodeId>,
    step: Option<usize>,
}

fn line_of(found: &FoundWays, row: WayRow, timeline: &Timeline) -> Line {
    let whole = found.ways.about().objects.max(1) as f32;
    let share = |objects: u64| Some(objects as f32 / whole);
    let steps: &[WayStep] = &found.ways.steps;
    let said = |text: String| Line { text, colour: theme::QUIET, share: None, choice: None, node: None, step: None };
    match row {
        WayRow::Step(0) => Line {
            text: match steps[0].node {
                Some(node) => theme::brief(&timeline.display_name(node)),
                None => "the groups".to_owned(),
            },
            colour: theme::ACCENT,
            share: Some(1.0),
            choice: None,
            node: steps[0].node,
            step: Some(0),
        },
        WayRow::Step(at) => Line {
            text: brief_step(&steps[at]),
            colour: theme::TEXT,
            share: share(steps[at].reached.objects),
            choice: (steps[at].field != "<class>").then_some(CutChoice::Step(at)),
            node: steps[at].node,
            step: Some(at),
        },
        WayRow::Root(at, root) => {
            let root = &steps[at].roots[root];
            Line {
                text: root.text.clone(),
                colour: theme::ROUTE,
                share: share(root.reached.objects),
                choice: Some(CutChoice::Root(root.text.clone())),
                node: steps[at].node,
                step: Some(at),
            }
        }
        WayRow::LeftOut(at) => {
            let (kinds, objects) = steps[at].left_out;
            said(format!(
                "{} not followed, {}",
                several(kinds, "kind of holders", "kinds of holders"),
                several(objects, "object", "objects")
            ))
        }
        WayRow::End(at) => said(
            match steps[at].end {
                PathEnd::NotFollowed => "there are ways further up",
                _ if steps[at].left_out.0 > 0 => "each way further up leads to too little of the group",
                _ => "nothing else holds it",
            }
            .to_owned(),
        ),
    }
}

/// A count with its noun.
fn several(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", count_text(n), if n == 1 { one } else { more })
}

/// Class and field, without the package.
fn brief_step(step: &WayStep) -> String {
    let of = step.of.rsplit_once('.').map_or(step.of.as_str(), |(_, class)| class);
    let of = if step.of.starts_with("class ") { format!("class {of}") } else { of.to_owned() };
    let of = of.replace("class class ", "class ");
    let dot = if step.field.is_empty() || step.field.starts_with('[') { "" } else { "." };
    format!("{of}{dot}{}", step.field)
}

fn row_of(ui: &mut egui::Ui, tools: &mut Tools<'_>, found: &FoundWays, depth: u32, row: WayRow) {
    let line = line_of(found, row, tools.timeline);
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), ROW), Sense::click());
    let chosen = line.choice.is_some() && line.choice == tools.ways.chosen;
    let is_cut = line.choice.is_some() && tools.ways.cut().map(|cut| &cut.choice) == line.choice.as_ref();
    let painter = ui.painter_at(rect);
    if response.hovered() {
        tools.ways.hovered = line.step;
        tools.selection.pointed = line.node;
    }
    if chosen || response.hovered() {
        let fill = if chosen { Color32::from_rgb(30, 66, 122) } else { Color32::from_rgb(34, 44, 64) };
        painter.rect(rect, 4.0, fill, Stroke::NONE, StrokeKind::Inside);
    }
    let left = rect.left() + 3.0 + INDENT * depth.min(DEEPEST) as f32;
    let mut right = rect.right() - 3.0;
    if let Some(share) = line.share {
        let text = format!("{:.0} %", 100.0 * share);
        let at = egui::pos2(right, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, text, FontId::proportional(12.0), theme::QUIET);
        right -= 38.0;
    }
    if is_cut {
        let at = egui::pos2(right, rect.center().y);
        right = painter.text(at, Align2::RIGHT_CENTER, "cut", FontId::proportional(11.5), theme::FREED).left() - 4.0;
    }
    let mut text_left = left;
    match row {
        WayRow::Root(..) => {
            let c = egui::pos2(left + 4.0, rect.center().y);
            let pin = vec![c + egui::vec2(-4.0, -4.0), c + egui::vec2(4.0, -4.0), c + egui::vec2(0.0, 5.0)];
            painter.add(egui::Shape::convex_polygon(pin, theme::ROUTE, Stroke::NONE));
            text_left += 13.0;
        }
        WayRow::Step(at) if at > 0 => {
            painter.text(
                egui::pos2(left, rect.center().y - 1.0),
                Align2::LEFT_CENTER,
                "‹",
                FontId::proportional(13.0),
                theme::QUIET,
            );
            text_left += 10.0;
        }
        _ => {}
    }
    let room = ((right - text_left) / 6.3).max(6.0) as usize;
    let font = FontId::proportional(12.0);
    let text = theme::shortened(&line.text, room);
    painter.text(egui::pos2(text_left, rect.center().y), Align2::LEFT_CENTER, text, font, line.colour);
    if response.clicked() {
        tools.ways.chosen.clone_from(&line.choice);
        if let Some(node) = line.node {
            tools.selection.select(tools.timeline, node);
        }
    }
    let can_cut = line.choice.is_some();
    let response = response.on_hover_ui(|ui| explained(ui, tools, found, row, can_cut));
    if let Some(choice) = line.choice {
        response.context_menu(|ui| {
            if ui.button("Show what would be freed without it").clicked() {
                tools.cut = Some(choice);
                ui.close();
            }
        });
    }
}

fn explained(ui: &mut egui::Ui, tools: &Tools<'_>, found: &FoundWays, row: WayRow, can_cut: bool) {
    match row {
        WayRow::Step(at) => {
            let step = &found.ways.steps[at];
            if at > 0 {
                ui.label(RichText::new(step.text()).strong());
                ui.label(format!(
                    "{} objects hold those below by {} references",
                    count_text(step.objects),
                    count_text(step.references)
                ));
            }
            ui.label(format!(
                "{} of the group's {} objects are reached through it, {}",
                count_text(step.reached.objects),
                count_text(found.ways.about().objects),
                bytes_text(step.reached.bytes)
            ));
            ui.label(format!("Retains {}: what would be freed if all of them were", bytes_text(step.retained.bytes)));
            if step.again > 0 {
                ui.label(format!("{} more objects of types on the way lie between", count_text(step.again)));
            }
            if let Some(node) = step.node {
                ui.label(quiet(tools.timeline.path_label(node)));
            }
        }
        WayRow::Root(at, root) => {
            let root = &found.ways.steps[at].roots[root];
            ui.label(RichText::new(&root.text).strong());
            ui.label(format!(
                "Holds {} objects of this step; {} objects of the group are reached from there",
                count_text(root.held),
                count_text(root.reached.objects)
            ));
        }
        WayRow::LeftOut(_) => {
            ui.label("Through each of them too little of the group is reached, or there were enough steps");
        }
        WayRow::End(_) => {
            ui.label("Nothing above this step is listed");
        }
    }
    if can_cut {
        ui.label(quiet("Click chooses it and selects its group; Del shows what would be freed without it"));
    }
}

/// What would be freed.
fn cut_box(ui: &mut egui::Ui, tools: &mut Tools<'_>) {
    let Some(cut) = tools.ways.cut() else { return };
    let (mut undone, mut clicked, mut pointed) = (false, None, None);
    let frame = egui::Frame::new().fill(theme::SOLID).stroke(Stroke::new(1.0, theme::FREED)).corner_radius(6);
    frame.inner_margin(8).show(ui, |ui| {
        ui.set_width(ui.available_width() - 10.0);
        ui.horizontal(|ui| {
            ui.label(RichText::new("WITHOUT").size(11.0).strong().color(theme::FREED));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                undone = ui.small_button("Undo  [Esc]").on_hover_text("Shows the city as it is").clicked();
            });
        });
        ui.add(egui::Label::new(RichText::new(theme::brief(&cut.title)).strong()).wrap()).on_hover_text(&cut.title);
        match &cut.state {
            CutState::Looking(_) => {
                ui.horizontal(|ui| {
                    ui.add(egui::Spinner::new().size(12.0));
                    ui.label(quiet("Walking without it"));
                });
            }
            CutState::Failed(why) => {
                ui.add(egui::Label::new(RichText::new(why).color(theme::ERROR)).wrap());
            }
            CutState::Freed(freed) => {
                (clicked, pointed) = freed_list(ui, cut, freed, tools.timeline, tools.time);
            }
        }
    });
    ui.add_space(3.0);
    if let Some(node) = pointed {
        tools.selection.pointed = Some(node);
    }
    if let Some(node) = clicked {
        tools.selection.select(tools.timeline, node);
    }
    if undone {
        tools.ways.escape();
    }
}

/// What would be freed, by group. Returns the group that was clicked, and the one that the mouse is over.
fn freed_list(
    ui: &mut egui::Ui,
    cut: &CutView,
    freed: &Freed,
    timeline: &Timeline,
    time: usize,
) -> (Option<NodeId>, Option<NodeId>) {
    let (mut clicked, mut pointed) = (None, None);
    if freed.total.objects == 0 {
        let text = "Nothing would be freed: something else keeps it all.";
        ui.add(egui::Label::new(RichText::new(text).color(theme::WARNING)).wrap());
        return (None, None);
    }
    let heap = timeline.amount(time, NodeId::ROOT).bytes.max(1);
    let share = 100.0 * freed.total.bytes as f64 / heap as f64;
    let total =
        format!("{} objects, {} would be freed", count_text(freed.total.objects), bytes_text(freed.total.bytes));
    ui.label(RichText::new(total).strong().color(theme::FREED))
        .on_hover_text(format!("{share:.1} % of the heap's bytes at this time, exactly"));
    let height = (freed.groups.len() as f32 * ROW).min(6.0 * ROW);
    egui::ScrollArea::vertical().id_salt("freed").max_height(height).auto_shrink([false, true]).show_rows(
        ui,
        ROW - ui.spacing().item_spacing.y,
        freed.groups.len(),
        |ui, rows| {
            let groups = &freed.groups[rows];
            let nodes: Vec<NodeId> = groups.iter().map(|(node, _)| *node).collect();
            for (&(node, amount), name) in groups.iter().zip(timeline.names_apart(&nodes)) {
                let size = egui::vec2(ui.available_width(), ROW - ui.spacing().item_spacing.y);
                let (rect, response) = ui.allocate_exact_size(size, Sense::click());
                let painter = ui.painter_at(rect);
                if response.hovered() {
                    painter.rect_filled(rect, 3.0, Color32::from_rgb(34, 44, 64));
                    pointed = Some(node);
                }
                let font = FontId::proportional(12.0);
                let text = format!("{}  {}", count_text(amount.objects), bytes_text(amount.bytes));
                let right = painter.text(rect.right_top(), Align2::RIGHT_TOP, text, font.clone(), theme::QUIET);
                let room = ((right.left() - rect.left() - 8.0) / 6.4).max(6.0) as usize;
                let name = theme::shortened(&theme::brief(&name), room);
                painter.text(rect.left_top(), Align2::LEFT_TOP, name, font, theme::TEXT);
                if response.clicked() {
                    clicked = Some(node);
                }
                let of = cut.shares.get(&node).copied().unwrap_or(0.0);
                response.on_hover_text(format!("{}\n{:.0} % of its bytes", timeline.path_label(node), 100.0 * of));
            }
        },
    );
    if freed.elsewhere.objects > 0 {
        let text = format!("{} objects in no group of this grouping", count_text(freed.elsewhere.objects));
        ui.label(quiet(text));
    }
    (clicked, pointed)
}
