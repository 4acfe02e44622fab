//! Sunburst and icicle: the memory tree as parts within parts, at the time that is shown. Two levels to go into (the *local* picture),
//! the whole tree beside it (the *global* one), and small pictures of other times above the heap's curve.
//!
//! Choice, order and places of parts are [`memory_city_views::nested`]'s. Pictures are made off the frame ([`pictures`]), and show a step
//! by moving from the one before. Linked with other views by time, selection and hover.

mod bar;
mod paint;
mod pictures;
mod strip;

use crate::viewer::clock::Clock;
use crate::viewer::dock::Focus;
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::frame::Stage;
use crate::viewer::panels::{theme, tooltip};
use crate::viewer::selection::{Pointing, Select, Selection, Target};
use crate::viewer::view::{About, Place, View, ViewPicture, WriteTable, draw_with, no_table, written};
use bevy::prelude::*;
use bevy_egui::egui;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::error::Result;
use memory_city_views::nested::{NestedPart, NestedPicture, NestedPlan, NestedShape, SiblingOrder, nested_table};
use paint::NestedLook;
use pictures::Pictures;

const ID: &str = "nested";

/// Levels of the local picture, the group itself included.
const LOCAL_RINGS: u32 = 3;

/// The keys that the view handles itself.
const KEYS: &[KeyCode] = &[KeyCode::PageUp, KeyCode::PageDown];

/// Sunburst and icicle as a kind of view.
pub(super) const VIEW: &dyn View = &NestedView;

struct NestedView;

impl View for NestedView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Sunburst",
            help: "The tree as rings or columns: go into groups, compare times side by side",
            place: Place::Middle,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn keys(&self, _: &World) -> &'static [KeyCode] {
        KEYS
    }

    fn plugin(&self, app: &mut App) {
        plugin(app);
    }

    fn table(&self) -> Option<WriteTable> {
        Some(csv)
    }

    fn pictures(&self) -> Vec<ViewPicture> {
        pictures()
    }
}

/// The two ways to draw it, as pictures without a window.
fn pictures() -> Vec<ViewPicture> {
    fn shaped(world: &mut World, shape: NestedShape) {
        let mut nested = world.resource_mut::<Nested>();
        nested.shape = shape;
    }
    vec![
        ViewPicture { name: "sunburst", set_up: |world| shaped(world, NestedShape::Sunburst) },
        ViewPicture { name: "icicle", set_up: |world| shaped(world, NestedShape::Icicle) },
    ]
}

/// Both pictures as CSV.
fn csv(world: &World) -> Result<Vec<u8>> {
    let nested = world.resource::<Nested>();
    let (Some(timeline), Some((plan, time, local, global))) =
        (world.resource::<Document>().timeline(), nested.pictures.shown())
    else {
        return Err(no_table("The picture", "is not there yet"));
    };
    written(&nested_table(timeline, plan, time, &[("local", local), ("global", global)]))
}

/// Choices of the person in this view, and its pictures.
#[derive(Resource)]
pub struct Nested {
    shape: NestedShape,
    order: SiblingOrder,
    /// Whether the small pictures are scaled by the heap.
    to_scale: bool,
    /// The key of the group that the local picture begins with.
    top: String,
    /// Times with small pictures.
    times: Vec<usize>,
    pictures: Pictures,
    /// Whether it was drawn in the last frame: a hidden view computes nothing.
    seen: bool,
}

impl Default for Nested {
    fn default() -> Self {
        Nested {
            shape: NestedShape::default(),
            order: SiblingOrder::default(),
            to_scale: true,
            top: String::new(),
            times: Vec::new(),
            pictures: Pictures::default(),
            seen: false,
        }
    }
}

impl Nested {
    /// The group that the local picture begins with.
    fn top(&self, timeline: &Timeline) -> NodeId {
        timeline.find(&self.top).unwrap_or(NodeId::ROOT)
    }

    /// Goes into a group, or out to one.
    fn go_to(&mut self, timeline: &Timeline, node: NodeId) {
        self.top = timeline.key(node);
        tracing::debug!("sunburst: at {}", self.top);
    }

    fn go_out(&mut self, timeline: &Timeline) {
        if let Some(above) = timeline.parent(self.top(timeline)) {
            self.go_to(timeline, above);
        }
    }

    /// Shows a time as a small picture, or takes it away.
    fn toggle_time(&mut self, time: usize) {
        match self.times.iter().position(|&t| t == time) {
            Some(at) => {
                self.times.remove(at);
            }
            None => {
                self.times.push(time);
                self.times.sort_unstable();
            }
        }
    }

    /// Follows another program, with other times. The chosen shape and order stay.
    fn opened(&mut self, times: usize) {
        (self.top, self.pictures) = (String::new(), Pictures::default());
        self.times = strip::first_times(times);
    }
}

fn plugin(app: &mut App) {
    app.init_resource::<Nested>()
        .add_observer(|_: On<Opened>, document: Res<Document>, mut nested: ResMut<Nested>| {
            nested.opened(document.timeline().map_or(0, |timeline| timeline.times()));
        })
        .add_observer(|_: On<Closed>, mut nested: ResMut<Nested>| nested.opened(0))
        .add_observer(|_: On<Grew>, mut nested: ResMut<Nested>| nested.pictures = Pictures::default())
        .add_systems(Update, pictures::follow.in_set(Stage::Derive));
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut nested: ResMut<Nested>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    (mut clock, focus): (ResMut<Clock>, Res<Focus>),
) {
    let nested = &mut *nested;
    nested.seen = true;
    let Some(open) = document.get() else { return };
    let timeline = &*open.timeline;
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        if focus.is(ID) {
            keys(ui, nested, timeline, &selection);
        }
        bar::show(ui, nested, timeline);
        let Some(made) = nested.pictures.made() else {
            ui.label(egui::RichText::new("Ordering groups over all times …").color(theme::QUIET));
            return;
        };
        let (plan, metric) = (made.plan.clone(), made.plan.config().metric);
        let all = ui.available_rect_before_wrap();
        let below = strip::height(all.height(), timeline.times());
        let room = all.with_max_y(all.bottom() - below);
        let progress = f64::from(clock.eased());
        let (local, global) = (nested.pictures.local(progress), nested.pictures.global(progress));
        let Some((local, global)) = local.zip(global) else { return };
        let top = nested.top(timeline);
        let (left, right) = split(room);
        let mut look = NestedLook {
            timeline,
            metric,
            shape: nested.shape,
            scale: 1.0,
            rings: LOCAL_RINGS,
            named: true,
            branch_of: None,
            selected: selection.nodes().collect(),
            pointed: pointing.pointed.or(hovered_elsewhere(&pointing)),
        };
        let mut clicked = None;
        if let Some(at) = paint::picture(ui, left, "local", &local, &look) {
            point(ui, &mut pointing, timeline, &plan, &local, at, clock.time);
            if ui.input(|i| i.pointer.primary_clicked()) {
                clicked = Some((local.cells[at].part, at == 0));
            }
        }
        if let Some(right) = right {
            bar::caption(ui, right, &global);
            let right = right.with_min_y(right.top() + 16.0);
            look.rings = global.depth() + 1;
            look.named = false;
            look.branch_of = Some(top);
            look.pointed = pointing.pointed.or(look.pointed);
            if let Some(at) = paint::picture(ui, right, "global", &global, &look) {
                point(ui, &mut pointing, timeline, &plan, &global, at, clock.time);
                if ui.input(|i| i.pointer.primary_clicked()) {
                    clicked = Some((global.cells[at].part, false));
                }
            }
        }
        match clicked {
            Some((_, true)) => nested.go_out(timeline),
            Some((NestedPart::Group(node), false)) => {
                selection.select(timeline, node);
                if plan.has_parts(node) {
                    nested.go_to(timeline, node);
                }
            }
            Some((NestedPart::Other(_) | NestedPart::Itself(_), false)) | None => {}
        }
        if below > 0.0 {
            let strip = all.with_min_y(all.bottom() - below + 6.0);
            if let Some(time) = strip::show(ui, strip, nested, timeline, clock.time) {
                clock.step_to(time);
            }
        }
    });
}

/// The room of the local picture, and of the global one where there is enough.
fn split(room: egui::Rect) -> (egui::Rect, Option<egui::Rect>) {
    if room.width() < 560.0 {
        return (room, None);
    }
    let right = (room.width() * 0.32).min(room.height());
    let edge = room.right() - right;
    (room.with_max_x(edge - 10.0), Some(room.with_min_x(edge)))
}

fn keys(ui: &egui::Ui, nested: &mut Nested, timeline: &Timeline, selection: &Selection) {
    if ui.input(|i| i.key_pressed(egui::Key::PageUp)) {
        nested.go_out(timeline);
    }
    if ui.input(|i| i.key_pressed(egui::Key::PageDown))
        && let Some(node) = selection.node()
    {
        nested.go_to(timeline, node);
    }
}

/// The group that another view points at.
fn hovered_elsewhere(pointing: &Pointing) -> Option<NodeId> {
    match pointing.hovered {
        Some(Target::Node(node)) => Some(node),
        _ => None,
    }
}

/// Points at a cell: it lights up in all views, with a tooltip.
fn point(
    ui: &egui::Ui,
    pointing: &mut Pointing,
    timeline: &Timeline,
    plan: &NestedPlan,
    picture: &NestedPicture,
    at: usize,
    time: usize,
) {
    let cell = &picture.cells[at];
    if let NestedPart::Group(node) = cell.part {
        pointing.pointed = Some(node);
    }
    let id = ui.id().with("cell");
    egui::Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), id, egui::PopupAnchor::Pointer).gap(14.0).show(|ui| {
        ui.set_max_width(460.0);
        let metric = plan.config().metric;
        match cell.part {
            NestedPart::Group(node) => tooltip::node(ui, timeline, time, node),
            NestedPart::Other(node) => {
                ui.strong(format!(
                    "Other: {} further groups of {}",
                    plan.in_other(node),
                    theme::told_path(timeline, node)
                ));
                ui.label(bar::amount(timeline, cell.value, metric));
            }
            NestedPart::Itself(node) => {
                ui.strong(format!("{} itself: in none of its groups", theme::told_path(timeline, node)));
                ui.label(bar::amount(timeline, cell.value, metric));
            }
        }
        let whole = picture.cells[0].value;
        if at > 0 && whole > 0.0 {
            let of = bar::part_name(timeline, picture.cells[0].part);
            ui.label(egui::RichText::new(format!("{:.1} % of {of}", cell.value * 100.0 / whole)).color(theme::QUIET));
        }
    });
}
