//! The view of generations: a row for each allocation, a column for each part of the run, bright where many of the objects born then are
//! alive. A leak is filled from left to right.
//!
//! Numbers are [`memory_city_analysis::lives`]'s; here they are painted.

use crate::viewer::clock::Clock;
use crate::viewer::document::{Closed, Document, Grew, Opened};
use crate::viewer::frame::{Awake, Stage};
use crate::viewer::job::Job;
use crate::viewer::panels::theme;
use crate::viewer::selection::{Select, Selection};
use crate::viewer::view::{About, Place, View, ViewPicture, draw_with};
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Rect, RichText, Sense};
use memory_city_analysis::analyses::{TimeWindow, generation_caveats};
use memory_city_analysis::lives::{ALLOCATIONS, GenerationRow, GenerationShape, Generations, generations_of};
use memory_city_analysis::tabular::{bytes_text, count_text};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_heap::error::{Error, Result};
use std::sync::Arc;

const ID: &str = "generations";
/// Height of a row, points.
const ROW: f32 = 20.0;
/// Most columns.
const COLUMNS: usize = 160;
/// Rows that are shown, those with most live generations first.
const ROWS: usize = 500;
/// Width of the course beside the row, points.
const COURSE: f32 = 64.0;
/// Width of the number of live generations, points.
const COUNT: f32 = 48.0;

/// Generations as a kind of view.
pub(super) const VIEW: &dyn View = &GenerationsView;

struct GenerationsView;

impl View for GenerationsView {
    fn about(&self) -> About {
        About {
            id: ID,
            title: "Generations",
            help: "What is still alive of each interval between collections, by type and line of code: a leak keeps some of all",
            place: Place::WhenAsked,
        }
    }

    fn draw(&self, world: &mut World, ui: &mut egui::Ui) {
        draw_with(world, ui, draw);
    }

    fn plugin(&self, app: &mut App) {
        app.init_resource::<FoundGenerations>()
            .add_observer(|_: On<Opened>, mut state: ResMut<FoundGenerations>| state.forget())
            .add_observer(|_: On<Grew>, mut state: ResMut<FoundGenerations>| state.of = None)
            .add_observer(|_: On<Closed>, mut state: ResMut<FoundGenerations>| state.forget())
            .add_systems(Update, take_found.in_set(Stage::Derive));
    }

    fn pictures(&self) -> Vec<ViewPicture> {
        vec![ViewPicture { name: ID, set_up: |_| {} }]
    }
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowOrder {
    #[default]
    Generations,
    Bytes,
    Gap,
}

impl RowOrder {
    const ALL: [(RowOrder, &str, &str); 3] = [
        (RowOrder::Generations, "Generations", "Most live generations first"),
        (RowOrder::Bytes, "Bytes", "Most live bytes first"),
        (RowOrder::Gap, "Gap", "First those that have the most times the live generations of the next"),
    ];
}

/// Generations, and what their numbers do not tell.
type WithCaveats = (Generations, Vec<String>);

#[derive(Resource, Default)]
struct FoundGenerations {
    found: Option<std::result::Result<Arc<Generations>, String>>,
    job: Option<Job<Result<WithCaveats>>>,
    /// What its numbers do not tell, in sentences.
    caveats: Vec<String>,
    /// The part of the run that was looked at, or is.
    of: Option<TimeWindow>,
    order: RowOrder,
}

impl FoundGenerations {
    fn forget(&mut self) {
        *self = FoundGenerations { order: self.order, ..FoundGenerations::default() };
    }
}

fn take_found(mut state: ResMut<FoundGenerations>, mut awake: ResMut<Awake>) {
    let state = &mut *state;
    awake.wait_if(state.job.is_some());
    if let Some(outcome) = state.job.as_ref().and_then(Job::poll) {
        state.job = None;
        state.found = match outcome {
            Ok(Ok((found, caveats))) => {
                tracing::debug!("generations: {} groups", found.rows.len());
                state.caveats = caveats;
                Some(Ok(Arc::new(found)))
            }
            Ok(Err(Error::Cancelled)) => None,
            Ok(Err(error)) => Some(Err(error.to_string())),
            Err(panic) => Some(Err(panic)),
        };
    }
}

fn draw(
    InMut(ui): InMut<egui::Ui>,
    (document, clock): (Res<Document>, Res<Clock>),
    mut state: ResMut<FoundGenerations>,
    mut selection: ResMut<Selection>,
) {
    let Some(open) = document.get() else { return };
    let state = &mut *state;
    let last = open.timeline.times().saturating_sub(1);
    let (from, to) = clock.chosen().unwrap_or((0, last));
    let window = TimeWindow { from: from.min(last), to: to.min(last) };
    let of = Some(window);
    if state.of != of && open.timeline.times() > 0 {
        state.of = of;
        let source = Arc::clone(&open.source);
        state.job = Some(Job::behind_frames(move |progress| {
            let (found, _, lives, history) = generations_of(&source, ALLOCATIONS, window, None, progress)?;
            let caveats = generation_caveats(&found, lives, &history);
            Ok((found, caveats))
        }));
    }
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, theme::PANEL);
    egui::Frame::new().inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        let quiet = |text: &str| RichText::new(text).size(12.0).color(theme::QUIET);
        match &state.found {
            None => {
                ui.label(quiet("Following births and deaths …"));
            }
            Some(Err(error)) => {
                ui.add(egui::Label::new(RichText::new(error).color(theme::WARNING)).wrap());
            }
            Some(Ok(found)) if found.rows.is_empty() => {
                let text = "Nothing that was born is alive after a collection in this part of the run.";
                ui.label(quiet(text));
            }
            Some(Ok(found)) => {
                let found = Arc::clone(found);
                bar(ui, &mut state.order, &found);
                legend(ui);
                for caveat in &state.caveats {
                    ui.label(quiet(caveat));
                }
                headings(ui);
                rows(ui, &found, state.order, &open.timeline, &mut selection);
            }
        }
    });
}

/// What is seen, and in which order.
fn bar(ui: &mut egui::Ui, order: &mut RowOrder, found: &Generations) {
    ui.horizontal_wrapped(|ui| {
        theme::heading(ui, "LIVE OBJECTS BY WHEN THEY WERE BORN");
        let generations = format!("{} intervals between collections", count_text(found.generations.into()));
        ui.label(RichText::new(generations).size(12.0).color(theme::QUIET));
        ui.add_space(8.0);
        for (of, title, help) in RowOrder::ALL {
            ui.selectable_value(order, of, title).on_hover_text(help);
        }
    });
}

/// The rows in an order, by their places.
fn ordered(found: &Generations, order: RowOrder) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..found.rows.len()).collect();
    let number = |at: usize| match order {
        RowOrder::Generations => 0.0,
        RowOrder::Bytes => found.rows[at].alive().bytes,
        RowOrder::Gap => found.rows[at].gap.unwrap_or(0.0),
    };
    rows.sort_by(|&a, &b| number(b).total_cmp(&number(a)));
    rows
}

fn rows(
    ui: &mut egui::Ui,
    found: &Generations,
    order: RowOrder,
    timeline: &Timeline,
    selection: &mut ResMut<Selection>,
) {
    let order = ordered(found, order);
    let left_out = order.len().saturating_sub(ROWS);
    let most = found.rows.iter().flat_map(|row| &row.live).map(|(_, alive)| alive.objects).fold(1.0, f64::max);
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = egui::ScrollArea::vertical().auto_shrink([false, false]);
    area.show_rows(ui, ROW, order.len().min(ROWS) + usize::from(left_out > 0), |ui, range| {
        for at in range {
            match order.get(at).filter(|_| at < ROWS) {
                Some(&at) => row(ui, found, &found.rows[at], most, timeline, selection),
                None => {
                    let text = format!("and {} more", count_text(left_out as u64));
                    ui.label(RichText::new(text).size(12.0).color(theme::QUIET));
                }
            }
        }
    });
}

/// The colour of a shape.
fn tint(shape: GenerationShape) -> Color32 {
    match shape {
        GenerationShape::Spread => theme::GROWTH,
        GenerationShape::Start => theme::ACCENT,
        GenerationShape::Recent => theme::OUTGOING,
        GenerationShape::Mixed => theme::QUIET,
    }
}

/// Cells without a live object.
const EMPTY: Color32 = Color32::from_rgb(22, 29, 44);

/// Paints numbers as cells beside each other, on a scale on which `most` is brightest.
fn cells(painter: &egui::Painter, room: Rect, numbers: &[u64], most: f64, colour: Color32) {
    painter.rect_filled(room, 0.0, EMPTY);
    let width = room.width() / numbers.len().max(1) as f32;
    for (at, &number) in numbers.iter().enumerate().filter(|(_, number)| **number > 0) {
        // One of a million is seen.
        let share = ((1.0 + number as f64).ln() / (1.0 + most).ln()).clamp(0.0, 1.0) as f32;
        let left = room.left() + width * at as f32;
        let cell = Rect::from_min_max(Pos2::new(left, room.top()), Pos2::new(left + width + 0.3, room.bottom()));
        painter.rect_filled(cell.intersect(room), 0.0, theme::mixed(EMPTY, colour, 0.35 + 0.65 * share));
    }
}

/// A line of numbers, the largest at the top.
fn course(painter: &egui::Painter, room: Rect, numbers: &[u32], colour: Color32) {
    let most = numbers.iter().copied().max().unwrap_or(0).max(1) as f32;
    let step = room.width() / numbers.len().saturating_sub(1).max(1) as f32;
    let place = |(at, &number): (usize, &u32)| {
        Pos2::new(room.left() + step * at as f32, room.bottom() - room.height() * number as f32 / most)
    };
    painter.line(numbers.iter().enumerate().map(place).collect(), egui::Stroke::new(1.5, colour));
}

/// Places in a row, from left to right: the name begins at its left.
struct RowPlaces {
    /// Right end of the number.
    count: f32,
    columns: Rect,
    course: Rect,
}

impl RowPlaces {
    fn of(row: Rect) -> RowPlaces {
        let left = row.left() + (row.width() * 0.36).clamp(120.0, 460.0) + COUNT;
        let right = row.right() - COURSE;
        let part = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to.max(from), row.y_range());
        RowPlaces { count: left - 8.0, columns: part(left, right - 10.0), course: part(right, row.right()) }
    }
}

/// What stands in the columns.
fn headings(ui: &mut egui::Ui) {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), 16.0), Sense::hover());
    let places = RowPlaces::of(rect);
    let middle = rect.center().y;
    let text = |x: f32, align: Align2, text: &str| {
        ui.painter().text(Pos2::new(x, middle), align, text, FontId::proportional(11.0), theme::QUIET)
    };
    text(rect.left(), Align2::LEFT_CENTER, "Type and line of code");
    text(places.count, Align2::RIGHT_CENTER, "Live");
    text(places.columns.left(), Align2::LEFT_CENTER, "Born at the start");
    text(places.columns.right(), Align2::RIGHT_CENTER, "at the end");
    text(places.course.left(), Align2::LEFT_CENTER, "Over time");
    response.on_hover_text(
        "Live: the number of intervals from which objects are alive. Over time: the same after each collection, from the start \
         of the run to its end. That of a leak rises",
    );
}

/// The group of a row in the timeline: of its type and site if that is how it is grouped, else of its type.
fn node_of(found: &Generations, row: &GenerationRow, timeline: &Timeline) -> Option<NodeId> {
    let names: Vec<&str> = found.names(row.node);
    let name = names.first()?;
    let of_type = timeline.nodes().filter(|&node| timeline.name(node) == *name);
    let is_site = |&node: &NodeId| names.get(1).is_some_and(|site| timeline.name(node) == *site);
    let mut of_type = of_type.peekable();
    let first = of_type.peek().copied();
    of_type.flat_map(|node| timeline.children(node).iter().copied()).find(is_site).or(first)
}

fn row(
    ui: &mut egui::Ui,
    found: &Generations,
    of: &GenerationRow,
    most: f64,
    timeline: &Timeline,
    selection: &mut ResMut<Selection>,
) {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), ROW), Sense::click());
    let name = found.path(of.node);
    theme::named(&response, &name);
    let painter = ui.painter_at(rect);
    if response.hovered() {
        painter.rect_filled(rect, 2.0, Color32::from_rgb(34, 44, 64));
    }
    let places = RowPlaces::of(rect);
    let shape = of.shape(found.generations);
    let font = FontId::proportional(12.0);
    let text = theme::fitting(&painter, &theme::brief(&name), &font, places.count - rect.left() - COUNT);
    let middle = rect.center().y;
    painter.text(Pos2::new(rect.left(), middle), Align2::LEFT_CENTER, text, font.clone(), theme::TEXT);
    let at = Pos2::new(places.count, middle);
    painter.text(at, Align2::RIGHT_CENTER, count_text(of.count().into()), font, theme::TEXT);
    let columns = places.columns.shrink2(egui::vec2(0.0, 1.0));
    cells(&painter, columns, &of.picture(found.generations, COLUMNS), most, tint(shape));
    course(&painter, places.course.shrink2(egui::vec2(2.0, 3.0)), &of.course, tint(shape));
    if response.clicked()
        && let Some(node) = node_of(found, of, timeline)
    {
        selection.toggle(timeline, node);
    }
    let pointed = response.hover_pos().filter(|at| columns.contains(*at)).map(|at| {
        let share = (at.x - columns.left()) / columns.width();
        (share * found.generations as f32) as u32
    });
    response.on_hover_ui_at_pointer(|ui| {
        ui.set_max_width(480.0);
        ui.label(RichText::new(&name).strong());
        let alive = of.alive();
        ui.label(format!(
            "{} of {} generations are alive: {} objects, {}",
            count_text(of.count().into()),
            count_text(found.generations.into()),
            count_text(alive.objects.round() as u64),
            bytes_text(alive.bytes.round() as u64)
        ));
        ui.label(RichText::new(format!("{}: {}", shape.text(), shape.meaning())).color(tint(shape)));
        if let Some(generation) = pointed {
            let objects = of.live.iter().find(|(at, _)| *at == generation).map_or(0.0, |(_, alive)| alive.objects);
            let text = format!("Generation {generation}: {} objects", count_text(objects.round() as u64));
            ui.label(RichText::new(text).color(theme::QUIET));
        }
        ui.label(RichText::new("Click selects it in all views").color(theme::QUIET));
    });
}

/// An example of each shape, with its meaning.
fn legend(ui: &mut egui::Ui) {
    ui.horizontal_wrapped(|ui| {
        for shape in GenerationShape::ALL {
            let (rect, response) = ui.allocate_exact_size(egui::vec2(44.0, 12.0), Sense::hover());
            let example: [u64; 11] = match shape {
                GenerationShape::Spread => [9; 11],
                GenerationShape::Start => [9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                GenerationShape::Recent => [0, 0, 0, 0, 0, 0, 0, 0, 2, 5, 9],
                GenerationShape::Mixed => [9, 9, 0, 0, 0, 0, 0, 0, 2, 5, 9],
            };
            cells(ui.painter(), rect, &example, 9.0, tint(shape));
            let words = match shape {
                GenerationShape::Spread => "spread: like a leak",
                GenerationShape::Start => "start: the program's state",
                GenerationShape::Recent => "recent: sessions, caches",
                GenerationShape::Mixed => "mixed: state and sessions",
            };
            let label = ui.label(RichText::new(words).size(12.0).color(theme::QUIET));
            let told = format!("{}: {}", shape.text(), shape.meaning());
            response.on_hover_text(&told);
            label.on_hover_text(told);
            ui.add_space(10.0);
        }
    });
    ui.add_space(4.0);
}
