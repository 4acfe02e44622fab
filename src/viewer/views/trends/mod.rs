//! Trends: the children of a group over time, the strongest by themselves and the rest as one; a click on one of them opens the chart
//! of its own children below, as deep as the tree is.
//!
//! What the series are is [`memory_city_analysis::trends`]'s, made off the frame ([`charts`]); how they are drawn is [`plot`]'s. Time,
//! zoom and the chosen window are the same for all charts, everything else is a chart's own.

mod bar;
mod charts;
mod plot;
mod rows;

use super::{Place, View, ViewPicture, ViewTable};
use crate::viewer::app::Stage;
use crate::viewer::clock::Clock;
use crate::viewer::dock::Focus;
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::panels::{chosen, theme};
use crate::viewer::run::OpenRun;
use crate::viewer::selection::Selection;
use bevy::prelude::*;
use bevy_egui::egui;
use charts::Chart;
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_analysis::trends::{ShownTrends, trends_table};
use memory_city_heap::error::Result;
use plot::Axis;

const ID: &str = "trends";

/// The key that the view handles itself: to the end of the chosen window.
const KEYS: &[KeyCode] = &[KeyCode::End];

/// Height of a chart where there is more than one.
const HEIGHT: f32 = 230.0;

/// Trends as a kind of view.
pub(super) fn view() -> View {
    View {
        id: ID,
        title: "Trends",
        help: "Groups over time, to go down into: areas or lines, by growth, size or average",
        place: Place::Middle,
        keys: KEYS,
        plugin,
        draw: |world, ui| super::draw_with(world, ui, draw),
        preparation: None,
    }
}

/// It as a picture without a window.
pub(super) fn pictures() -> [ViewPicture; 1] {
    [ViewPicture { name: ID, view: ID, set_up: |_| () }]
}

/// The values of all charts as CSV.
pub(super) fn csv() -> ViewTable {
    fn write(world: &World) -> Result<Vec<u8>> {
        let trends = world.resource::<TrendCharts>();
        let Some(timeline) = world.resource::<Document>().timeline() else {
            return Err(super::no_table("The chart", "is not there yet"));
        };
        let shown = trends.charts.iter().filter_map(|chart| {
            let drawn = chart.drawn()?;
            let series = drawn.series.iter().map(|series| (series.node, &series.values[..])).collect();
            Some(ShownTrends { parent: chart.parent(timeline), metric: drawn.metric, series, times: None })
        });
        let shown: Vec<_> = shown.collect();
        if shown.is_empty() {
            return Err(super::no_table("The chart", "is not there yet"));
        }
        super::written(&trends_table(timeline, &shown))
    }
    ViewTable { view: ID, csv: write }
}

/// The charts, one below the other.
#[derive(Resource)]
pub struct TrendCharts {
    /// The first is of the whole heap; each of the others of a group of the one before.
    charts: Vec<Chart>,
    /// The part of the time that is seen, the same for all.
    zoom: Option<(f64, f64)>,
    /// Where a drag began, and which it was.
    drag: Option<plot::WindowDrag>,
    /// Whether it was drawn in the last frame: what nobody sees is not computed.
    seen: bool,
}

impl Default for TrendCharts {
    fn default() -> Self {
        TrendCharts { charts: vec![Chart::default()], zoom: None, drag: None, seen: false }
    }
}

impl TrendCharts {
    /// Opens the chart of a group's children below a chart, in place of what was there.
    fn open(&mut self, below: usize, timeline: &Timeline, node: NodeId) {
        let key = timeline.key(node);
        let again = self.charts.get(below + 1).is_some_and(|chart| chart.of == key);
        self.charts.truncate(below + 1);
        if !again && !timeline.is_leaf(node) {
            let like = self.charts[below].rules.clone();
            tracing::debug!("trends: chart {} of {key}", below + 2);
            self.charts.push(Chart::new(key, like));
        }
    }

    /// Goes down along the path of a group, as far as it has children.
    fn follow_path(&mut self, timeline: &Timeline, node: NodeId) {
        for (depth, above) in timeline.path(node).into_iter().enumerate() {
            if self.charts.get(depth + 1).is_none_or(|chart| chart.of != timeline.key(above)) {
                self.open(depth, timeline, above);
            }
        }
    }
}

fn plugin(app: &mut App) {
    app.init_resource::<TrendCharts>()
        .add_observer(|_: On<Opened>, mut trends: ResMut<TrendCharts>| *trends = TrendCharts::default())
        .add_observer(|_: On<Closed>, mut trends: ResMut<TrendCharts>| *trends = TrendCharts::default())
        .add_observer(|_: On<Grew>, document: Res<Document>, mut trends: ResMut<TrendCharts>| {
            let Some(timeline) = document.timeline() else { return };
            let there = trends.charts.iter().skip(1).take_while(|chart| timeline.find(&chart.of).is_some()).count();
            trends.charts.truncate(1 + there);
        })
        .add_systems(Update, charts::follow.in_set(Stage::Derive));
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut trends: ResMut<TrendCharts>,
    mut selection: ResMut<Selection>,
    (mut clock, focus, mut run): (ResMut<Clock>, Res<Focus>, ResMut<OpenRun>),
) {
    let (trends, clock) = (trends.bypass_change_detection(), clock.bypass_change_detection());
    trends.seen = true;
    let Some(open) = document.get() else { return };
    let timeline = &*open.timeline;
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        if timeline.times() < 2 {
            ui.label(
                egui::RichText::new(
                    "Only one state is open. Open a second one of the same program, taken later, to see trends.",
                )
                .color(theme::QUIET),
            );
            return;
        }
        let selection = selection.bypass_change_detection();
        if focus.is(ID) {
            chosen::key(ui, clock);
        }
        bar::window(ui, trends, timeline, clock);
        let last = timeline.times() - 1;
        let axis = Axis {
            seen: trends.zoom.unwrap_or((0.0, last as f64)),
            now: clock.time,
            span: clock.chosen(),
            suspects: run.bypass_change_detection().asked().suspects(),
        };
        let room = ui.available_height();
        let height = if trends.charts.len() == 1 { room.max(160.0) } else { HEIGHT.min(room).max(160.0) };
        let (mut go_down, mut change) = (None, plot::ChartWish::default());
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            for number in 0..trends.charts.len() {
                let opened = trends.charts.get(number + 1).map(|chart| chart.of.clone());
                let chart = &mut trends.charts[number];
                ui.push_id(number, |ui| {
                    ui.allocate_ui(egui::vec2(ui.available_width(), height - 8.0), |ui| {
                        bar::of_chart(ui, chart, timeline);
                        if let Some(node) =
                            one(ui, chart, timeline, &axis, selection, opened, &mut trends.drag, &mut change)
                        {
                            go_down = Some((number, node));
                        }
                    });
                });
            }
        });
        if let Some((number, node)) = go_down {
            selection.select(timeline, node);
            trends.open(number, timeline, node);
        }
        if let Some(time) = change.go_to {
            clock.step_to(time);
        }
        if change.span.is_some() {
            clock.set_range(change.span);
        }
        if let Some(zoom) = change.zoom {
            trends.zoom = (zoom.0 > 0.0 || zoom.1 < last as f64).then_some(zoom);
        }
    });
}

/// Plot and table of a chart. Returns the group that was clicked.
#[allow(clippy::too_many_arguments)] // what a chart is drawn from
fn one(
    ui: &mut egui::Ui,
    chart: &Chart,
    timeline: &Timeline,
    axis: &Axis<'_>,
    selection: &mut Selection,
    opened: Option<String>,
    drag: &mut Option<plot::WindowDrag>,
    change: &mut plot::ChartWish,
) -> Option<NodeId> {
    let Some(drawn) = chart.drawn() else {
        ui.label(egui::RichText::new("Looking through all points in time …").color(theme::QUIET));
        return None;
    };
    let all = ui.available_rect_before_wrap();
    let table = (all.width() * 0.36).clamp(180.0, 380.0);
    let (left, right) = match all.width() > 480.0 {
        true => (all.with_max_x(all.right() - table - 8.0), Some(all.with_min_x(all.right() - table))),
        false => (all, None),
    };
    let lit: Vec<NodeId> =
        selection.nodes().chain(selection.pointed).chain(opened.and_then(|key| timeline.find(&key))).collect();
    let clicked = plot::show(ui, left, drawn, timeline, axis, &lit, drag, change);
    if let Some(node) = clicked.pointed {
        selection.pointed = Some(node);
    }
    let row = right.and_then(|room| rows::show(ui, room, drawn, timeline, axis, &lit, selection));
    ui.advance_cursor_after_rect(all);
    row.or(clicked.clicked)
}
