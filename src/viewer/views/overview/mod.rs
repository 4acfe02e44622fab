//! Overview and details of a run: its memory and its collection times, the suspicious windows, and the numbers of the chosen window.
//!
//! Charts are [`memory_city_views::overview`]'s, over the facts of [`OpenRun`]; here they are painted. The chosen window is that of all
//! views ([`Clock`]). May not: find windows, or count.

mod bar;
mod hint;
mod paint;

use crate::viewer::clock::Clock;
use crate::viewer::dock::Focus;
use crate::viewer::document::{Closed, Document, Opened};
use crate::viewer::finding::LeakSearch;
use crate::viewer::hint::Hint;
use crate::viewer::panels::{chosen, theme};
use crate::viewer::run::{Moments, OpenRun};
use crate::viewer::view::{About, Place, View, ViewPicture, WriteTable, draw_with, no_table, written};
use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use memory_city_analysis::run::RunFacts;
use memory_city_heap::error::Result;
use memory_city_views::city::Rect;
use memory_city_views::overview::{RunConfig, RunPicture, RunView};
use std::sync::Arc;

const ID: &str = "overview";

/// The key that the view handles itself: to the end of the chosen window.
const KEYS: &[KeyCode] = &[KeyCode::End];

/// How near the mouse must be to an edge of the window to drag it, points.
const NEAR: f64 = 6.0;

/// The overview as a kind of view.
pub(super) const VIEW: &dyn View = &OverviewView;

struct OverviewView;

impl View for OverviewView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Overview",
            help: "Memory and garbage collection over the run, with suspicious windows; and their details",
            place: Place::Middle,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn hints(&self, world: &World) -> Vec<Hint> {
        hint::hints(world)
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

/// Both as pictures without a window.
fn pictures() -> Vec<ViewPicture> {
    fn of(world: &mut World, view: RunView) {
        world.resource_mut::<Overview>().view = view;
    }
    vec![
        ViewPicture { name: "overview", set_up: |world| of(world, RunView::Overview) },
        ViewPicture { name: "details", set_up: |world| of(world, RunView::Details) },
    ]
}

/// Content of its charts as CSV: points by time in the overview, collection by collection in the details.
fn csv(world: &World) -> Result<Vec<u8>> {
    let Some(facts) = world.resource::<OpenRun>().facts() else {
        return Err(no_table("The run", "is not known yet"));
    };
    written(&match world.resource::<Overview>().view {
        RunView::Overview => facts.overview_table(),
        RunView::Details => facts.table(),
    })
}

/// State of the view.
#[derive(Resource, Default)]
pub struct Overview {
    view: RunView,
    /// The part that is seen, nanoseconds.
    zoom: Option<(u64, u64)>,
    /// The end of the window that stays while the other one is dragged.
    fixed: Option<u64>,
    /// The last picture, with its facts and settings.
    made: Option<(Arc<RunFacts>, RunConfig, RunPicture)>,
}

fn plugin(app: &mut App) {
    app.init_resource::<Overview>()
        .add_observer(|_: On<Opened>, mut overview: ResMut<Overview>| {
            *overview = Overview { view: overview.view, ..Overview::default() };
        })
        .add_observer(|_: On<Closed>, mut overview: ResMut<Overview>| overview.made = None);
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut overview: ResMut<Overview>,
    (mut run, mut clock, focus, finding): (ResMut<OpenRun>, ResMut<Clock>, Res<Focus>, Res<LeakSearch>),
) {
    let Some(open) = document.get() else { return };
    let (overview, run) = (&mut *overview, run.asked());
    let clock = &mut *clock;
    let timeline = &*open.timeline;
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        let Some(facts) = run.facts().cloned() else {
            let text = match (run.error(), timeline.times() < 2) {
                (Some(error), _) => RichText::new(error).color(theme::WARNING),
                (None, true) => {
                    let text =
                        "Only one state is open. Open a second one of the same program, taken later, or a trace.";
                    RichText::new(text).color(theme::QUIET)
                }
                (None, false) => RichText::new("Looking through the run …").color(theme::QUIET),
            };
            ui.label(text);
            return;
        };
        let moments = Moments::new(timeline, &facts);
        if focus.is(ID) {
            chosen::key(ui, clock);
        }
        bar::show(ui, overview, run, clock, timeline, finding.verdict());
        let room = ui.available_rect_before_wrap();
        let side = |v: f32| f64::from(v);
        let config = RunConfig {
            view: overview.view,
            room: Rect::new(side(room.left()), side(room.top()), side(room.width()), side(room.height())),
            zoom: overview.zoom,
            chosen: clock.chosen().map(|(from, to)| (moments.time(from), moments.time(to))),
            rules: run.rules(),
        };
        let is_made = overview.made.as_ref().is_some_and(|(of, by, _)| Arc::ptr_eq(of, &facts) && *by == config);
        if !is_made {
            overview.made = Some((Arc::clone(&facts), config, RunPicture::new(&facts, &config)));
        }
        let Overview { made, zoom, fixed, .. } = overview;
        let Some((_, _, picture)) = made.as_ref() else { return };
        let response = ui.interact(room, ui.id().with("charts"), egui::Sense::click_and_drag());
        paint::picture(ui, room, picture, picture.time.place(moments.time(clock.time)));
        mouse(ui, &response, &facts, picture, &moments, clock, zoom, fixed);
    });
}

/// Dragging chooses a window or moves one of its edges, a click goes to a time or chooses the mark there, Ctrl and wheel zoom.
#[allow(clippy::too_many_arguments)] // what charts are drawn from
fn mouse(
    ui: &egui::Ui,
    response: &egui::Response,
    facts: &RunFacts,
    picture: &RunPicture,
    moments: &Moments,
    clock: &mut Clock,
    zoom: &mut Option<(u64, u64)>,
    fixed: &mut Option<u64>,
) {
    let whole = (facts.measures.began, facts.ended.max(facts.measures.began + 1));
    let place = |at: egui::Pos2| (f64::from(at.x), f64::from(at.y));
    if response.drag_started()
        && let Some(origin) = ui.input(|i| i.pointer.press_origin())
        && picture.chart_at(place(origin).0, place(origin).1).is_some()
    {
        let x = place(origin).0;
        let edge = picture.edge_at(x, NEAR).zip(clock.chosen());
        *fixed = Some(match edge {
            Some((is_end, (from, to))) => moments.time(if is_end { from } else { to }),
            None => picture.time.time(x),
        });
    }
    if let (Some(fixed), true, Some(at)) = (*fixed, response.dragged(), response.interact_pointer_pos()) {
        let other = picture.time.time(place(at).0);
        clock.set_range(Some((moments.point(fixed), moments.point(other))));
    }
    if response.drag_stopped() {
        *fixed = None;
    }
    let Some(at) = response.hover_pos() else { return };
    let (x, y) = place(at);
    if picture.chart_at(x, y).is_none() {
        return;
    }
    let factor = f64::from(ui.input(|i| i.zoom_delta()));
    if factor != 1.0 {
        let seen = picture.time.zoomed(factor, x, whole);
        *zoom = (seen != whole).then_some(seen);
    }
    let mark = picture.mark_at(x, y).map(|at| &picture.marks[at]);
    if response.clicked() {
        match mark {
            Some(mark) => clock.set_range(Some((moments.point(mark.from), moments.point(mark.to)))),
            None => clock.step_to(moments.point(picture.time.time(x))),
        }
    }
    if picture.edge_at(x, NEAR).is_some() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
    }
    response.clone().on_hover_ui_at_pointer(|ui| {
        ui.set_max_width(420.0);
        for (number, line) in picture.told_at(facts, x, y).unwrap_or_default().iter().enumerate() {
            ui.label(if number == 0 { RichText::new(line).strong() } else { RichText::new(line) });
        }
        if let Some(mark) = mark {
            ui.label(RichText::new(mark.kind.title()).strong().color(theme::suspect(mark.kind)));
            ui.label(&mark.text);
        }
        let hint =
            if mark.is_some() { "Click to choose this window" } else { "Click to go there, drag to choose a window" };
        ui.label(RichText::new(hint).color(theme::QUIET));
    });
}
