//! The view of the object graph of the selection: groups as boxes, the references between them as arrows in both directions, extended
//! step by step up to the GC roots.
//!
//! The content of the boxes is [`memory_city_analysis::object_graph`]'s, their places are [`memory_city_views::graph`]'s; both are made
//! off the frame ([`made`]). Linked with other views by time, selection and hover. May not: count anything.

mod bar;
mod drawn_graph;
mod hint;
mod paint;

use crate::viewer::dock::Focus;
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::frame::Stage;
use crate::viewer::hint::Hint;
use crate::viewer::panels::theme;
use crate::viewer::selection::{Pointing, Select, Selection};
use crate::viewer::view::{About, Place, View, ViewPicture, WriteTable, draw_with, no_table, written};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use drawn_graph::{DrawnGraph, GraphWish};
use memory_city_analysis::object_graph::GraphStep;
use memory_city_heap::error::Result;
use memory_city_views::graph::{GraphFit, GraphItem, GraphPicture};

const ID: &str = "graph";

/// The keys that the view handles itself, and their effects on the chosen box.
const KEYS: &[KeyCode] = &[KeyCode::ArrowLeft, KeyCode::ArrowRight, KeyCode::ArrowUp, KeyCode::ArrowDown];

/// The object graph as a kind of view.
pub(super) const VIEW: &dyn View = &GraphView;

struct GraphView;

impl View for GraphView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Graph",
            help: "What refers to the selection and what it refers to, step by step up to the GC roots",
            place: Place::Middle,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn keys(&self, world: &World) -> &'static [KeyCode] {
        world.resource::<DrawnGraph>().chosen_or_first().map_or(&[], |_| KEYS)
    }

    fn plugin(&self, app: &mut App) {
        plugin(app);
    }

    fn table(&self) -> Option<WriteTable> {
        Some(csv)
    }

    fn hints(&self, world: &World) -> Vec<Hint> {
        hint::hints(world)
    }

    fn pictures(&self) -> Vec<ViewPicture> {
        vec![ViewPicture { name: ID, set_up: |_| () }]
    }
}

/// Boxes, arrows and roots as CSV.
fn csv(world: &World) -> Result<Vec<u8>> {
    let drawn = world.resource::<DrawnGraph>();
    match (world.resource::<Document>().timeline(), drawn.graph()) {
        (Some(timeline), Some(graph)) => written(&graph.table(timeline, drawn.held())),
        _ => Err(no_table("The graph", "is of what is selected, and nothing is")),
    }
}

fn plugin(app: &mut App) {
    app.init_resource::<DrawnGraph>()
        .add_observer(|_: On<Opened>, mut graph: ResMut<DrawnGraph>| *graph = DrawnGraph::default())
        .add_observer(|_: On<Closed>, mut graph: ResMut<DrawnGraph>| *graph = DrawnGraph::default())
        .add_observer(|_: On<Grew>, mut graph: ResMut<DrawnGraph>| *graph = DrawnGraph::default())
        .add_systems(Update, drawn_graph::follow.in_set(Stage::Derive));
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut graph: ResMut<DrawnGraph>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    focus: Res<Focus>,
) {
    let graph = &mut *graph;
    graph.seen = true;
    let Some(open) = document.get() else { return };
    let timeline = &*open.timeline;
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        if graph.is_empty() {
            let text = match (&graph.error, graph.works(), selection.node()) {
                (Some(error), ..) => RichText::new(error).color(theme::WARNING),
                (None, true, _) => RichText::new("Collecting objects …").color(theme::QUIET),
                (None, false, _) => RichText::new(
                    "Select a building or a row of a list: here is what refers to it, and what it refers to.",
                )
                .color(theme::QUIET),
            };
            ui.label(text);
            return;
        }
        if focus.is(ID) {
            keys(ui, graph);
        }
        bar::show(ui, graph, &selection, timeline);
        let room = ui.available_rect_before_wrap();
        let response = ui.interact(room, ui.id().with("canvas"), egui::Sense::click_and_drag());
        let picture = graph.shown();
        let fit = moved(ui, graph, &picture, room, &response);
        let hit = response.hover_pos().map(|at| fit.back(f64::from(at.x), f64::from(at.y)));
        let over = hit.and_then(|(x, y)| picture.item_at(x, y));
        let link = hit.filter(|_| over.is_none()).and_then(|(x, y)| picture.link_at(x, y, 5.0 / fit.scale));
        let look = paint::GraphLook { fit, chosen: graph.chosen_or_first(), over, link };
        paint::picture(&ui.painter().with_clip_rect(room), &picture, &look);
        bar::legend(ui, room, graph, &picture);
        let details = over
            .and_then(|item| picture.shape(item))
            .map(|shape| (shape.title.clone(), shape.details.clone()))
            .or_else(|| link.map(|link| (picture.links[link].label.clone(), picture.links[link].details.clone())));
        if let Some((title, details)) = details.filter(|_| !response.dragged()) {
            let tip = egui::PopupAnchor::Pointer;
            egui::Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), ui.id().with("tip"), tip).gap(14.0).show(
                |ui| {
                    ui.set_max_width(460.0);
                    ui.strong(title);
                    details.iter().for_each(|line| _ = ui.label(line));
                },
            );
        }
        let group = |item: Option<GraphItem>| match item {
            Some(GraphItem::Box(at)) => graph.graph().and_then(|g| g.boxes.get(at)).and_then(|b| b.groups.first()),
            _ => None,
        };
        if let Some(&node) = group(over) {
            pointing.pointed = Some(node);
        }
        if response.clicked() || response.secondary_clicked() {
            let node = group(over).copied();
            graph.chosen = match over {
                Some(GraphItem::Box(at)) => Some(at),
                _ => None,
            };
            if let Some(node) = node {
                // What is selected here is in the graph: it goes on from what it has.
                selection.select(timeline, node);
                graph.followed = selection.last_changed();
            }
        }
        response.context_menu(|ui| bar::menu(ui, graph));
    });
}

/// Drags move the picture, the wheel makes it larger or smaller.
fn moved(
    ui: &egui::Ui,
    graph: &mut DrawnGraph,
    picture: &GraphPicture,
    room: egui::Rect,
    response: &egui::Response,
) -> GraphFit {
    let within = memory_city_views::city::Rect::new(
        f64::from(room.left()),
        f64::from(room.top()),
        f64::from(room.width()),
        f64::from(room.height() - bar::LEGEND),
    );
    let mut fit = graph.fit.unwrap_or_else(|| GraphFit::new(picture, within, 14.0));
    if response.dragged() {
        let by = response.drag_delta();
        fit.offset = (fit.offset.0 + f64::from(by.x), fit.offset.1 + f64::from(by.y));
        graph.fit = Some(fit);
    }
    if let Some(at) = response.hover_pos() {
        let (wheel, pinch) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
        let factor = f64::from(pinch) * f64::from(wheel / 300.0).exp();
        if (factor - 1.0).abs() > 1e-4 {
            fit = fit.zoomed(factor, f64::from(at.x), f64::from(at.y));
            graph.fit = Some(fit);
        }
    }
    fit
}

fn keys(ui: &egui::Ui, graph: &mut DrawnGraph) {
    let Some(chosen) = graph.chosen_or_first() else { return };
    for (key, step) in [
        (egui::Key::ArrowLeft, GraphStep::PointedFrom),
        (egui::Key::ArrowRight, GraphStep::PointsTo),
        (egui::Key::ArrowUp, GraphStep::MainPaths),
        (egui::Key::ArrowDown, GraphStep::Unfold),
    ] {
        if ui.input(|i| i.key_pressed(key)) {
            graph.wish = Some(GraphWish::Step(step, chosen));
        }
    }
}
