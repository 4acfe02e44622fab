//! Trends: the children of a group over time, the strongest by themselves and the rest as one. A click on one of them opens the chart of
//! its own children below, as deep as the tree is.
//!
//! The series are [`memory_city_analysis::trends`]'s, made off the frame ([`charts`]), deep and retained sizes at fewer times
//! ([`sizes`]). They are drawn by [`plot`]. Below them are the collections ([`strip`]). Time, zoom and the chosen window are the same for
//! all charts, everything else is a chart's own.

mod bar;
mod charts;
mod counted;
mod hint;
mod plot;
mod rows;
mod sizes;
mod strip;

use crate::viewer::clock::Clock;
use crate::viewer::dock::Focus;
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::frame::Stage;
use crate::viewer::hint::Hint;
use crate::viewer::panels::{PanelState, chosen, theme};
use crate::viewer::run::OpenRun;
use crate::viewer::selection::{Pointing, Select, Selection};
use crate::viewer::settings::Settings;
use crate::viewer::view::{About, Place, View, ViewPicture, WriteTable, draw_with, no_table, written};
use bevy::prelude::*;
use bevy_egui::egui;
use charts::{Chart, ChartMeasure, ChartedTimes};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_analysis::trends::{ShownTrends, trends_table};
use memory_city_heap::error::Result;
use plot::Axis;
use sizes::SizesWork;

const ID: &str = "trends";

/// The key that the view handles itself: to the end of the chosen window.
const KEYS: &[KeyCode] = &[KeyCode::End];

/// Height of a chart, at least, where there is more than one.
const HEIGHT: f32 = 200.0;

/// Trends as a kind of view.
pub(super) const VIEW: &dyn View = &TrendsView;

struct TrendsView;

impl View for TrendsView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Trends",
            help: "Groups over time, to go down into: areas or lines, by growth, size or average",
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
        vec![ViewPicture { name: ID, set_up: |_| () }]
    }
}

/// The values of all charts as CSV.
fn csv(world: &World) -> Result<Vec<u8>> {
    let trends = world.resource::<TrendCharts>();
    let Some(timeline) = world.resource::<Document>().timeline() else {
        return Err(no_table("The chart", "is not there yet"));
    };
    let shown = trends.charts.iter().filter_map(|chart| {
        let drawn = chart.drawn()?;
        let series = drawn.series.iter().map(|series| (series.node, &series.values[..])).collect();
        let (metric, times) = (&drawn.info, Some(&*drawn.times));
        Some(ShownTrends { parent: chart.parent(timeline), metric, series, times })
    });
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() {
        return Err(no_table("The chart", "is not there yet"));
    }
    written(&trends_table(timeline, &shown))
}

/// The charts, one below the other.
#[derive(Resource)]
pub struct TrendCharts {
    /// The first is of the whole heap; each of the others of a group of the one before.
    charts: Vec<Chart>,
    /// The part of the time that is seen, the same for all.
    zoom: Option<(f64, f64)>,
    /// Start and kind of a drag.
    drag: Option<plot::WindowDrag>,
    /// Whether it was drawn in the last frame: a hidden view computes nothing.
    seen: bool,
    /// The points in time that are charted.
    charted: ChartedTimes,
    /// Deep and retained sizes at some of them.
    sizes: SizesWork,
    /// The collections.
    strip: strip::StripData,
}

impl Default for TrendCharts {
    fn default() -> Self {
        TrendCharts {
            charts: vec![Chart::default()],
            zoom: None,
            drag: None,
            seen: false,
            charted: ChartedTimes::default(),
            sizes: SizesWork::default(),
            strip: strip::StripData::default(),
        }
    }
}

impl TrendCharts {
    /// Opens the chart of a group's children below a chart, in place of the one there.
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
    pub fn follow_path(&mut self, timeline: &Timeline, node: NodeId) {
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
            (trends.charted, trends.sizes, trends.strip) = Default::default();
            let there = trends.charts.iter().skip(1).take_while(|chart| timeline.find(&chart.of).is_some()).count();
            trends.charts.truncate(1 + there);
            // Of fewer points in time than before, another part is seen.
            let last = timeline.times().saturating_sub(1) as f64;
            trends.zoom = trends.zoom.filter(|zoom| zoom.1 <= last);
        })
        .add_systems(Update, charts::follow.in_set(Stage::Derive));
}

/// Input of all parts of the view.
struct Drawing<'d> {
    timeline: &'d Timeline,
    axis: Axis<'d>,
    settings: &'d Settings,
    /// Whether deep and retained sizes can be found.
    finds: bool,
    /// Whether sizes with deep ones are looked for.
    deep: bool,
    /// For a picture: nothing that is only for using.
    still: bool,
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut trends: ResMut<TrendCharts>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    (mut clock, focus, mut run): (ResMut<Clock>, Res<Focus>, ResMut<OpenRun>),
    (mut settings, panels): (ResMut<Settings>, Res<PanelState>),
) {
    let (trends, clock) = (&mut *trends, &mut *clock);
    trends.seen = true;
    let Some(open) = document.get() else { return };
    let timeline = &*open.timeline;
    let finds = open.source.heaps().is_some();
    let mut set = settings.trends.clone();
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
        if focus.is(ID) {
            chosen::key(ui, clock);
        }
        bar::window(ui, trends, &mut set, (timeline, open.source.gc_noun()), clock);
        let last = timeline.times() - 1;
        let run = run.asked();
        let measures = trends.charts.iter().map(|chart| chart.measure(timeline, &settings, finds));
        let deep = measures.into_iter().any(|of| matches!(of, ChartMeasure::Found(metric) if metric.is_deep()));
        let drawing = Drawing {
            timeline,
            axis: Axis {
                seen: trends.zoom.unwrap_or((0.0, last as f64)),
                now: clock.time,
                span: clock.chosen(),
                suspects: run.suspects(),
                between: run.between().map(|between| &**between),
            },
            settings: &settings,
            finds,
            deep,
            still: panels.still,
        };
        if set.strip {
            trends.strip.follow(timeline, run);
        }
        let strip_room = if set.strip { strip::height(&trends.strip, ui.available_height()) } else { 0.0 };
        let room = ui.available_height() - strip_room;
        // They share the room, and are not too small to be read: then they are scrolled.
        let height = (room / trends.charts.len() as f32).max(HEIGHT.min(room)).max(120.0);
        let (mut go_down, mut change) = (None, plot::ChartWish::default());
        let charts = egui::ScrollArea::vertical().auto_shrink([false, false]).max_height(room.max(120.0));
        charts.show(ui, |ui| {
            for number in 0..trends.charts.len() {
                let opened = trends.charts.get(number + 1).map(|chart| chart.of.clone());
                ui.push_id(number, |ui| {
                    ui.allocate_ui(egui::vec2(ui.available_width(), height - 8.0), |ui| {
                        bar::of_chart(ui, trends, number, &mut set, &drawing);
                        if let Some(node) =
                            one(ui, trends, number, &drawing, (&selection, &mut pointing), opened, &mut change)
                        {
                            go_down = Some((number, node));
                        }
                    });
                });
            }
        });
        if set.strip {
            strip::show(ui, &trends.strip, run, &drawing, &mut change);
        }
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
    if settings.trends != set {
        tracing::debug!(
            "trends: set to sizes at {} times, {:?}, collections {}",
            set.sizes_at,
            set.thinning,
            set.strip
        );
        settings.trends = set;
    }
}

/// Rectangles of plot and table of a chart: the table at the right, if there is room for one.
fn parts(all: egui::Rect) -> (egui::Rect, Option<egui::Rect>) {
    let table = (all.width() * 0.36).clamp(180.0, 380.0);
    match all.width() > 480.0 {
        true => (all.with_max_x(all.right() - table - 8.0), Some(all.with_min_x(all.right() - table))),
        false => (all, None),
    }
}

/// Plot and table of a chart. Returns the group that was clicked.
fn one(
    ui: &mut egui::Ui,
    trends: &mut TrendCharts,
    number: usize,
    drawing: &Drawing<'_>,
    (selection, pointing): (&Selection, &mut Pointing),
    opened: Option<String>,
    change: &mut plot::ChartWish,
) -> Option<NodeId> {
    let TrendCharts { charts, drag, sizes, .. } = trends;
    let chart = &charts[number];
    let Some(drawn) = chart.drawn() else {
        match chart.measure(drawing.timeline, drawing.settings, drawing.finds) {
            ChartMeasure::Found(metric) => bar::awaited(ui, sizes.of(metric, drawing.deep), metric),
            ChartMeasure::Known(_) => quiet(ui, "Looking through all points in time …"),
        }
        return None;
    };
    let all = ui.available_rect_before_wrap();
    // Of many charts a few are in sight.
    if !ui.is_rect_visible(all) {
        ui.advance_cursor_after_rect(all);
        return None;
    }
    let (left, right) = parts(all);
    let found = opened.and_then(|key| drawing.timeline.find(&key));
    let lit: Vec<NodeId> = selection.nodes().chain(pointing.pointed).chain(found).collect();
    let clicked = plot::show(ui, left, drawn, drawing.timeline, &drawing.axis, &lit, drag, change);
    if let Some(node) = clicked.pointed {
        pointing.pointed = Some(node);
    }
    let row = right.and_then(|room| rows::show(ui, room, drawn, drawing.timeline, &drawing.axis, &lit, pointing));
    ui.advance_cursor_after_rect(all);
    row.or(clicked.clicked)
}

/// A sentence where something would be.
fn quiet(ui: &mut egui::Ui, text: &str) {
    ui.label(egui::RichText::new(text).color(theme::QUIET));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::document::{Arrival, Draft, Preparations, install};
    use crate::viewer::frame::Awake;
    use crate::viewer::notices::Notices;
    use memory_city_analysis::timeline::{ClosureMetric, Source, json};
    use memory_city_analysis::trends::Thinning;
    use memory_city_heap::progress::Progress;
    use std::sync::Arc;

    /// A source with so many times of orders with two parts, and of baskets from the third on, which come first by name.
    fn source(times: usize) -> Arc<Source> {
        let tree = |time: usize| {
            let baskets = r#"{"name":"Basket","objects":1,"bytes":8},"#;
            let orders = |n: usize| format!(r#"{{"name":"site {n}","objects":{},"bytes":8}}"#, time + n + 1);
            let parts = format!("{},{}", orders(0), orders(1));
            let order = format!(r#"{{"name":"Order","objects":{},"bytes":16,"children":[{parts}]}}"#, 2 * time + 3);
            let baskets = if time >= 2 { baskets } else { "" };
            format!(r#"{{"label":"GC {time}","tree":{{"children":[{baskets}{order}]}}}}"#)
        };
        let trees: Vec<String> = (0..times).map(tree).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.json");
        let text = format!(r#"{{"format":"memory-city","version":1,"times":[{}]}}"#, trees.join(","));
        std::fs::write(&path, text).expect("written");
        Arc::new(Source::Trees(json::read(&[path], &Progress::new()).expect("trees")))
    }

    fn app() -> App {
        let mut app = App::new();
        app.init_resource::<Document>().init_resource::<Preparations>().init_resource::<Settings>();
        app.init_resource::<PanelState>().init_resource::<Clock>().init_resource::<Selection>();
        app.init_resource::<Notices>().init_resource::<Awake>();
        plugin(&mut app);
        app
    }

    fn show(app: &mut App, times: usize, arrival: Arrival) {
        let world = app.world_mut();
        let (settings, preparations) = (Settings::default(), Preparations::default());
        let draft = Draft::new("run".into(), source(times), None, &settings, &preparations, arrival);
        install(world, draft, arrival);
    }

    /// A frame in which the view is seen. Returns how many times each chart has.
    fn frame(app: &mut App) -> Vec<Option<usize>> {
        app.world_mut().resource_mut::<TrendCharts>().seen = true;
        app.update();
        let trends = app.world().resource::<TrendCharts>();
        trends.charts.iter().map(|chart| chart.drawn().map(|drawn| drawn.times.len())).collect()
    }

    fn wait(app: &mut App, wanted: &[usize]) {
        while frame(app) != wanted.iter().copied().map(Some).collect::<Vec<_>>() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn charts_go_on_while_a_run_is_being_read() {
        let mut app = app();
        show(&mut app, 2, Arrival::Opened);
        wait(&mut app, &[2]);
        let timeline = Arc::clone(app.world().resource::<Document>().timeline().expect("open"));
        let order = timeline.find("Heap#Order").expect("it is there");
        let mut trends = app.world_mut().resource_mut::<TrendCharts>();
        trends.open(0, &timeline, order);
        trends.zoom = Some((0.0, 1.0));
        trends.sizes.of_mut(ClosureMetric::Retained, false).stop();
        wait(&mut app, &[2, 2]);
        for (before, times) in [(2, 3), (3, 7)] {
            show(&mut app, times, Arrival::Anew);
            // What was there is seen until there is more: with the chart below, its group under another number, and the zoom.
            let seen = frame(&mut app);
            assert!(seen.iter().all(|times| times.is_some_and(|times| times >= before)), "{seen:?}");
            let timeline = Arc::clone(app.world().resource::<Document>().timeline().expect("open"));
            let trends = app.world().resource::<TrendCharts>();
            let sizes = trends.sizes.of(ClosureMetric::Retained, false);
            assert!(!sizes.state().stopped, "they are sought anew");
            assert_eq!((trends.charts[1].of.as_str(), trends.zoom), ("Heap#Order", Some((0.0, 1.0))));
            let drawn = trends.charts[0].drawn().expect("seen");
            let node = timeline.find("Heap#Order");
            assert!(drawn.series.iter().any(|series| series.node == node && series.name == "Order"));
            wait(&mut app, &[times, times]);
        }
        // Fewer points in time are charted at once, and what is left out is known.
        app.world_mut().resource_mut::<Settings>().trends.thinning = Thinning::Every(4);
        wait(&mut app, &[3, 3]);
        assert_eq!(**app.world().resource::<TrendCharts>().charted.times(), [0, 4, 6]);
        // Another run begins anew.
        show(&mut app, 2, Arrival::Opened);
        let trends = app.world().resource::<TrendCharts>();
        assert_eq!((trends.charts.len(), trends.zoom), (1, None));
    }
}
