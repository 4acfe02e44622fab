//! The strip of collections, below all charts and on their axis. Each bar shows the reclaimed and the surviving memory and the time it
//! took, in the colour of its cause. [`memory_city_views::strip`] computes the bars.

use super::plot::{self, ChartWish, Scale};
use super::{Drawing, parts};
use crate::viewer::panels::theme;
use crate::viewer::run::{Moments, OpenRun};
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Rect, RichText, Sense, Stroke};
use memory_city_analysis::run::RunFacts;
use memory_city_analysis::tabular::{bytes_text, count_text};
use memory_city_analysis::timeline::Timeline;
use memory_city_views::strip::{GcStrip, StripBars, StripCause};
use std::collections::HashMap;
use std::sync::Arc;

/// How tall the strip is, and how tall where there is little room.
const HEIGHT: f32 = 84.0;
const SMALL: f32 = 56.0;
/// Height without collections.
const EMPTY: f32 = 26.0;
/// Height of a line of the legend.
const LINE: f32 = 15.0;
/// Colours of surviving and of reclaimed memory.
const SURVIVED: Color32 = theme::SERIES[0];
const RECLAIMED: Color32 = theme::SERIES_REST;
/// Why there is nothing to see.
const NOTHING: &str = "No collections: heap dumps do not say when garbage was collected; traces and recordings do.";

/// The collections of the open run.
#[derive(Default)]
pub struct StripData {
    facts: Option<Arc<RunFacts>>,
    strip: GcStrip,
}

impl StripData {
    /// Follows the facts about the run.
    pub fn follow(&mut self, timeline: &Timeline, run: &OpenRun) {
        if self.facts.as_ref().map(Arc::as_ptr) != run.facts().map(Arc::as_ptr) {
            self.facts = run.facts().cloned();
            self.strip = run.facts().map_or_else(GcStrip::default, |facts| strip_of(timeline, facts));
        }
    }
}

/// The collections of a run on the axis of a timeline: those that are points in time there, others between the points around them.
fn strip_of(timeline: &Timeline, facts: &RunFacts) -> GcStrip {
    if facts.collections.is_empty() {
        return GcStrip::of_points(timeline);
    }
    let moments = Moments::new(timeline, facts);
    let ends = timeline.points().iter().enumerate().filter_map(|(time, point)| {
        let gc = point.gc.as_ref().filter(|gc| gc.end)?;
        Some((u64::from(gc.number), time as f64))
    });
    // Several walks may follow one: it was before the first of them.
    let mut by_number: HashMap<u64, f64> = HashMap::new();
    ends.for_each(|(number, time)| _ = by_number.entry(number).or_insert(time));
    GcStrip::of_run(facts, |gc| {
        let gc = &facts.collections[gc];
        by_number.get(&gc.number).copied().or_else(|| moments.place(gc.end))
    })
}

/// How tall the strip is in so much room: a line where there is nothing to see.
pub fn height(data: &StripData, room: f32) -> f32 {
    match (data.strip.is_empty(), room > 420.0) {
        (true, _) => EMPTY,
        (false, true) => HEIGHT,
        (false, false) => SMALL,
    }
}

/// The colours of causes, by their place: first those that few charts have.
const CAUSES: [usize; 9] = [6, 5, 7, 9, 4, 3, 8, 1, 2];

/// The colour of a cause, by its place. Causes beyond the last colour share it.
fn colour(cause: usize) -> Color32 {
    CAUSES.get(cause).map_or(theme::SERIES_REST, |&place| theme::SERIES[place])
}

/// Bars at both ends of the axis are whole.
fn around(room: Rect) -> Rect {
    room.expand2(egui::vec2(8.0, 1.0))
}

/// Draws it into the remaining room of a view.
pub(super) fn show(ui: &mut egui::Ui, data: &StripData, run: &OpenRun, drawing: &Drawing<'_>, change: &mut ChartWish) {
    let all = ui.available_rect_before_wrap();
    let strip = &data.strip;
    ui.painter().hline(all.x_range(), all.top() + 1.0, Stroke::new(1.0, Color32::from_rgb(38, 48, 68)));
    if strip.is_empty() {
        let outside = strip.outside();
        let text = match (run.facts().is_some(), run.error()) {
            (_, Some(error)) => error.to_owned(),
            (false, None) => "Looking at the collections …".to_owned(),
            (true, None) if outside > 0 => {
                let count = count_text(outside as u64);
                format!("All {count} {} were before the first point in time or after the last.", strip.noun().many())
            }
            (true, None) => NOTHING.to_owned(),
        };
        let font = FontId::proportional(12.0);
        let galley = ui.painter().layout(text, font, theme::QUIET, all.width() - 8.0);
        let at = Pos2::new(all.left() + 4.0, all.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, theme::QUIET);
        return;
    }
    let (left, right) = parts(all);
    // As wide as the lines above, as tall as there is room.
    let lines = plot::inner(left).with_max_y(all.bottom() - 4.0).with_min_y(all.top() + 8.0);
    let scale = Scale { room: lines, seen: drawing.axis.seen, most: 1.0 };
    let bars = strip.bars(drawing.axis.seen, f64::from(lines.width()));
    let middle = lines.top() + lines.height() * 0.58;
    let bytes = lines.with_max_y(middle - 3.0);
    let pauses = lines.with_min_y(middle + 3.0);
    draw_bytes(ui.painter(), strip, &bars, bytes);
    draw_pauses(ui.painter(), &bars, pauses);
    plot::time_marks(&ui.painter().with_clip_rect(lines.expand(1.0)), &scale, &drawing.axis);
    if let Some(room) = right {
        legend(ui, strip, room.with_min_y(all.top() + 6.0));
    }
    mouse(ui, strip, &bars, &scale, left, drawing, change);
}

/// Left and right side of a bar, from its middle.
fn sides(room: Rect, x: f64, width: f64) -> egui::Rangef {
    let (x, half) = (room.left() + x as f32, width as f32 / 2.0);
    egui::Rangef::new(x - half, x + half)
}

fn draw_bytes(painter: &egui::Painter, strip: &GcStrip, bars: &StripBars, room: Rect) {
    let inside = painter.with_clip_rect(around(room));
    for bar in &bars.bars {
        let height = |bytes: u64| room.height() * (bytes as f64 / bars.most_bytes.max(1) as f64) as f32;
        let survived = room.bottom() - height(bar.survived);
        let reclaimed = survived - height(bar.reclaimed);
        let x = sides(room, bar.x, bars.width);
        inside.rect_filled(Rect::from_x_y_ranges(x, survived..=room.bottom()), 0.0, SURVIVED);
        inside.rect_filled(Rect::from_x_y_ranges(x, reclaimed..=survived), 0.0, RECLAIMED);
    }
    inside.hline(room.x_range(), room.bottom(), Stroke::new(1.0, Color32::from_rgb(38, 48, 68)));
    let text = if strip.has_bytes() { bytes_text(bars.most_bytes) } else { "no bytes".to_owned() };
    most(painter, room, text);
}

fn draw_pauses(painter: &egui::Painter, bars: &StripBars, room: Rect) {
    let inside = painter.with_clip_rect(around(room));
    for bar in &bars.bars {
        let share = bar.pause as f64 / bars.most_pause.max(1) as f64;
        // A pause that is nothing beside the longest is still one.
        let top = room.bottom() - (room.height() * share as f32).max(1.0);
        let colour = colour(usize::from(bar.cause));
        inside.rect_filled(Rect::from_x_y_ranges(sides(room, bar.x, bars.width), top..=room.bottom()), 0.0, colour);
    }
    inside.hline(room.x_range(), room.bottom(), Stroke::new(1.0, Color32::from_rgb(38, 48, 68)));
    most(painter, room, format!("{:.1} ms", bars.most_pause as f64 / 1e6));
}

/// The largest value, left of the bars.
fn most(painter: &egui::Painter, room: Rect, text: String) {
    let at = Pos2::new(room.left() - 10.0, room.top() - 1.0);
    painter.text(at, Align2::RIGHT_TOP, text, FontId::proportional(11.0), theme::QUIET);
}

/// Meaning of colours: bytes in a line, then as many causes as there is room for.
fn legend(ui: &mut egui::Ui, strip: &GcStrip, room: Rect) {
    let response = ui.interact(room, ui.id().with("legend"), Sense::hover());
    let painter = ui.painter().with_clip_rect(room);
    let font = FontId::proportional(11.0);
    let entry = |at: Pos2, colour: Color32, text: &str, width: f32| {
        painter.rect_filled(Rect::from_min_size(at + egui::vec2(3.0, 3.0), egui::vec2(9.0, 9.0)), 2.0, colour);
        let text = theme::fitting(&painter, text, &font, width - 20.0);
        painter.text(at + egui::vec2(17.0, LINE / 2.0), Align2::LEFT_CENTER, text, font.clone(), theme::QUIET).right()
    };
    let right = entry(room.min, SURVIVED, "survived", room.width());
    entry(Pos2::new(right + 8.0, room.top()), RECLAIMED, "reclaimed", room.right() - right);
    let causes = strip.causes();
    let lines = ((room.height() / LINE) as usize).saturating_sub(1).max(1);
    let shown = if causes.len() <= lines { causes.len() } else { lines.saturating_sub(1) };
    for (place, cause) in causes.iter().enumerate().take(shown) {
        let at = Pos2::new(room.left(), room.top() + LINE * (place + 1) as f32);
        entry(at, colour(place), &said(cause), room.width());
    }
    if shown < causes.len() {
        let at = Pos2::new(room.left() + 17.0, room.top() + LINE * (shown as f32 + 1.5));
        let text = format!("{} more causes", causes.len() - shown);
        painter.text(at, Align2::LEFT_CENTER, text, font.clone(), theme::QUIET);
    }
    response.on_hover_ui(|ui| {
        ui.strong(strip.noun().title());
        ui.label("Upper bars: bytes that survived each and that it reclaimed. Lower bars: how long it took, in the colour of its cause.");
        for cause in causes {
            ui.label(format!("{}, {:.1} ms together", said(cause), cause.pauses as f64 / 1e6));
        }
        if strip.outside() > 0 {
            let text = format!(
                "{} {} were before the first point in time or after the last: they are not shown",
                count_text(strip.outside() as u64),
                strip.noun().many()
            );
            ui.label(RichText::new(text).color(theme::QUIET));
        }
    });
}

fn said(cause: &StripCause) -> String {
    let name = if cause.name.is_empty() { "cause not recorded" } else { &cause.name };
    format!("{} × {name}", count_text(cause.collections))
}

/// A click goes to the nearest point in time, Ctrl and wheel zoom, the tooltip explains a bar.
fn mouse(
    ui: &egui::Ui,
    strip: &GcStrip,
    bars: &StripBars,
    scale: &Scale,
    room: Rect,
    drawing: &Drawing<'_>,
    change: &mut ChartWish,
) {
    let response = ui.interact(room, ui.id().with("collections"), Sense::click());
    let Some(at) = response.hover_pos() else { return };
    let last = drawing.timeline.times().saturating_sub(1);
    change.zoom = plot::zoomed(ui, scale, at.x, last).or(change.zoom);
    let x = f64::from(at.x - scale.room.left());
    let nearest = bars.bars.iter().min_by(|a, b| (a.x - x).abs().total_cmp(&(b.x - x).abs()));
    let Some(bar) = nearest.filter(|bar| (bar.x - x).abs() <= bars.width.max(8.0)) else { return };
    let time = (strip.gcs()[bar.gcs.end - 1].at.round() as usize).min(last);
    if response.clicked() {
        change.go_to = Some(time);
    }
    let lit = sides(scale.room, bar.x, bars.width + 2.0);
    ui.painter().rect_filled(Rect::from_x_y_ranges(lit, scale.room.y_range()), 0.0, Color32::from_white_alpha(34));
    response.on_hover_ui_at_pointer(|ui| {
        ui.set_max_width(420.0);
        for (number, line) in strip.told(bar).into_iter().enumerate() {
            ui.label(if number == 0 { RichText::new(line).strong() } else { RichText::new(line) });
        }
        let label = &drawing.timeline.points()[time].label;
        ui.label(RichText::new(format!("Click to go to {label}")).color(theme::QUIET));
    });
}
