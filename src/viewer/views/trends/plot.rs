//! Painting of a chart: areas or lines over time, with marks for the time that is shown and the chosen span. Its cost follows the width
//! of the chart, whatever the number of times.

use super::charts::{ChartMeasure, DrawnChart, DrawnSeries};
use super::counted;
use crate::viewer::panels::{numbers, theme, ticks};
use crate::viewer::run::SuspectWindow;
use bevy_egui::egui::{self, Align2, Color32, FontId, Mesh, Pos2, Rect, RichText, Sense, Shape, Stroke};
use memory_city_analysis::timeline::{NodeId, Timeline};
use memory_city_analysis::trends::{CountsBetween, MinMaxLevels};

/// Time, as all charts show it.
pub struct Axis<'s> {
    /// The times at both edges.
    pub seen: (f64, f64),
    /// The time that is shown in other views.
    pub now: usize,
    /// The chosen span.
    pub span: Option<(usize, usize)>,
    /// Windows that are suspicious.
    pub suspects: &'s [SuspectWindow],
    /// Counts by class between the points in time.
    pub between: Option<&'s CountsBetween>,
}

/// The drag of a window: the end of the span that stays in place.
#[derive(Clone, Copy, Debug)]
pub struct WindowDrag {
    fixed: usize,
}

/// Wish of the mouse.
#[derive(Default)]
pub struct ChartWish {
    pub go_to: Option<usize>,
    pub span: Option<(usize, usize)>,
    pub zoom: Option<(f64, f64)>,
}

/// Series under the mouse.
#[derive(Default)]
pub struct Touched {
    pub clicked: Option<NodeId>,
    pub pointed: Option<NodeId>,
}

/// Room for the numbers at the left.
const NUMBERS: f32 = 66.0;
/// Room for the times below.
const TIMES: f32 = 16.0;
/// How near the mouse must be to an edge of the span to drag it, points.
const NEAR: f32 = 6.0;
/// The selected group, as in the source.
pub(super) const LIT: Color32 = Color32::from_rgb(255, 230, 60);

/// Scale of values in the plot.
pub(super) struct Scale {
    pub room: Rect,
    pub seen: (f64, f64),
    pub most: f64,
}

impl Scale {
    pub fn x(&self, time: f64) -> f32 {
        let (from, to) = self.seen;
        self.room.left() + self.room.width() * ((time - from) / (to - from).max(1e-9)) as f32
    }

    pub fn y(&self, value: f64) -> f32 {
        self.room.bottom() - self.room.height() * (value / self.most) as f32
    }

    pub fn time(&self, x: f32) -> f64 {
        let (from, to) = self.seen;
        from + (to - from) * f64::from((x - self.room.left()) / self.room.width().max(1.0))
    }
}

/// Draws a chart into a room.
#[allow(clippy::too_many_arguments)] // what a chart is drawn from
pub fn show(
    ui: &mut egui::Ui,
    room: Rect,
    chart: &DrawnChart,
    timeline: &Timeline,
    axis: &Axis<'_>,
    lit: &[NodeId],
    drag: &mut Option<WindowDrag>,
    change: &mut ChartWish,
) -> Touched {
    let inner = inner(room);
    let response = ui.interact(room, ui.id().with("plot"), Sense::click_and_drag());
    let times = &chart.times[..];
    // One more at each side: lines go on to the edges.
    let first = times.partition_point(|&time| (time as f64) < axis.seen.0).saturating_sub(1);
    let end = (times.partition_point(|&time| time as f64 <= axis.seen.1) + 1).min(times.len());
    // Least and largest of every three pixels: no spike is lost, and a third is drawn.
    let pieces = (inner.width() as usize / 3).max(2);
    let is_lit = |series: &DrawnSeries| series.node.is_some_and(|node| lit.contains(&node));
    let top = |series: &DrawnSeries| {
        if chart.stacked { series.top.between(first, end) } else { series.levels.between(first, end) }
    };
    let counted = counted::courses(chart, timeline, axis, &is_lit, pieces);
    let most =
        chart.series.iter().filter_map(top).map(|(_, most)| most).max().unwrap_or(0).max(counted::most(&counted));
    let most = most.max(1) as f64 * 1.05;
    let scale = Scale { room: inner, seen: axis.seen, most };
    grid(ui.painter(), &scale, chart, timeline, room);
    let painter = ui.painter().with_clip_rect(inner.expand(1.0));
    if chart.stacked {
        let mut below: Vec<Pos2> = columns(None, times, first, end, pieces)
            .iter()
            .map(|&(t, _, _)| Pos2::new(scale.x(t), inner.bottom()))
            .collect();
        for (place, series) in chart.series.iter().enumerate() {
            let above: Vec<Pos2> = columns(Some(&series.top), times, first, end, pieces)
                .iter()
                .map(|&(t, _, v)| Pos2::new(scale.x(t), scale.y(v)))
                .collect();
            let colour = if is_lit(series) { LIT } else { colour(place, series) };
            painter.add(Shape::mesh(band(&below, &above, colour.gamma_multiply(0.75))));
            // A point wide: one more tenth, and half as many triangles again would be drawn.
            painter.add(Shape::line(above.clone(), Stroke::new(1.0, colour)));
            below = above;
        }
    } else {
        for (place, series) in chart.series.iter().enumerate() {
            let line =
                columns(Some(&series.levels), times, first, end, pieces).into_iter().flat_map(|(t, least, most)| {
                    let both = [Pos2::new(scale.x(t), scale.y(least)), Pos2::new(scale.x(t), scale.y(most))];
                    if least == most { both[..1].to_vec() } else { both.to_vec() }
                });
            let (width, colour) = if is_lit(series) { (3.0, LIT) } else { (1.8, colour(place, series)) };
            painter.add(Shape::line(line.collect(), Stroke::new(width, colour)));
        }
    }
    // Where there are few, each is seen as what was measured.
    if chart.is_thinned && (end.saturating_sub(first) as f32) < inner.width() / 14.0 {
        let painter = ui.painter().with_clip_rect(inner.expand(4.0));
        for (place, series) in chart.series.iter().enumerate() {
            let colour = if is_lit(series) { LIT } else { colour(place, series) };
            let levels = if chart.stacked { &series.top } else { &series.levels };
            for (t, _, value) in columns(Some(levels), times, first, end, pieces) {
                painter.circle_filled(Pos2::new(scale.x(t), scale.y(value)), 2.6, colour);
            }
        }
    }
    counted::show(&painter, &scale, &counted, axis.between);
    for suspect in axis.suspects {
        let range = scale.x(suspect.from as f64)..=scale.x(suspect.to as f64);
        painter.hline(range, inner.top() + 1.5, Stroke::new(3.0, theme::suspect(suspect.kind)));
    }
    time_marks(&painter, &scale, axis);
    mouse(ui, &response, &scale, chart, timeline, axis, drag, change)
}

/// Rectangle of the lines of a chart in its room.
pub(super) fn inner(room: Rect) -> Rect {
    Rect::from_min_max(room.min + egui::vec2(NUMBERS, 4.0), room.max - egui::vec2(8.0, TIMES))
}

/// The chosen span, and the time that is shown.
pub(super) fn time_marks(painter: &egui::Painter, scale: &Scale, axis: &Axis<'_>) {
    let heights = scale.room.y_range();
    if let Some((from, to)) = axis.span {
        let window = Rect::from_x_y_ranges(scale.x(from as f64)..=scale.x(to as f64), heights);
        painter.rect_filled(window, 0.0, Color32::from_rgba_unmultiplied(255, 230, 60, 26));
        for edge in [window.left(), window.right()] {
            painter.vline(edge, heights, Stroke::new(1.5, LIT));
        }
    }
    painter.vline(scale.x(axis.now as f64), heights, Stroke::new(1.0, Color32::WHITE));
}

/// The zoom that the wheel with Ctrl asks for, about a place.
pub(super) fn zoomed(ui: &egui::Ui, scale: &Scale, x: f32, last: usize) -> Option<(f64, f64)> {
    let zoom = f64::from(ui.input(|i| i.zoom_delta()));
    if zoom == 1.0 {
        return None;
    }
    let (middle, (from, to)) = (scale.time(x), scale.seen);
    let least = 2.0f64.min(last as f64);
    let length = ((to - from) / zoom).clamp(least, last as f64);
    let share = (middle - from) / (to - from).max(1e-9);
    let from = (middle - length * share).clamp(0.0, last as f64 - length);
    Some((from, from + length))
}

/// The colour of a series: the same in plot and table.
pub fn colour(place: usize, series: &DrawnSeries) -> Color32 {
    match series.node {
        Some(_) => theme::SERIES[place % theme::SERIES.len()],
        None => theme::SERIES_REST,
    }
}

/// Drawn points of a series, within a range of places: a time, and the least and largest value about it.
fn columns(
    levels: Option<&MinMaxLevels>,
    times: &[usize],
    first: usize,
    end: usize,
    pieces: usize,
) -> Vec<(f64, f64, f64)> {
    let count = end.saturating_sub(first);
    let pieces = pieces.min(count);
    let values = levels.map(|levels| levels.pieces(first, end, pieces));
    let middle = |piece: usize| match pieces == count {
        true => times[first + piece] as f64,
        false => {
            let place = |piece: usize| first + (piece as u128 * count as u128 / pieces as u128) as usize;
            f64::midpoint(times[place(piece)] as f64, times[place(piece + 1) - 1] as f64)
        }
    };
    let value = |piece: usize| values.as_ref().and_then(|values| values.get(piece)).copied().unwrap_or_default();
    (0..pieces).map(|piece| (middle(piece), value(piece).0 as f64, value(piece).1 as f64)).collect()
}

/// The area between two lines of as many points.
fn band(below: &[Pos2], above: &[Pos2], colour: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    for (low, high) in below.iter().zip(above) {
        mesh.colored_vertex(*low, colour);
        mesh.colored_vertex(*high, colour);
    }
    for step in 0..(below.len().min(above.len())).saturating_sub(1) as u32 {
        let a = 2 * step;
        mesh.add_triangle(a, a + 1, a + 2);
        mesh.add_triangle(a + 1, a + 2, a + 3);
    }
    mesh
}

/// Lines at round numbers, and when it is.
fn grid(painter: &egui::Painter, scale: &Scale, chart: &DrawnChart, timeline: &Timeline, room: Rect) {
    let font = FontId::proportional(11.0);
    let step = round_step(scale.most / 4.0);
    let mut value = 0.0;
    while value <= scale.most {
        let y = scale.y(value);
        painter.hline(scale.room.x_range(), y, Stroke::new(1.0, Color32::from_rgb(38, 48, 68)));
        let text = numbers::in_unit(value as u64, chart.info.unit);
        painter.text(Pos2::new(scale.room.left() - 6.0, y), Align2::RIGHT_CENTER, text, font.clone(), theme::QUIET);
        value += step;
    }
    let last = timeline.times().saturating_sub(1);
    let seen = (scale.seen.0.round().max(0.0) as usize, (scale.seen.1.round().max(0.0) as usize).min(last));
    let x = |time: usize| scale.x(time as f64);
    ticks::paint(painter, timeline.points(), seen, &x, room.bottom(), &font, theme::QUIET);
}

/// 1, 2 or 5 times a power of ten, not below a number.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

/// The series at a point of the plot.
fn series_at<'c>(chart: &'c DrawnChart, scale: &Scale, time: f64, at: Pos2) -> Option<&'c DrawnSeries> {
    let (before, after, share) = chart.around(time)?;
    let value =
        |series: &DrawnSeries| series.values[before] as f64 * (1.0 - share) + series.values[after] as f64 * share;
    if chart.stacked {
        let mut sum = 0.0;
        return chart.series.iter().find(|series| {
            let low = scale.y(sum);
            sum += value(series);
            at.y <= low && at.y >= scale.y(sum)
        });
    }
    let distance = |series: &&DrawnSeries| (scale.y(value(series)) - at.y).abs();
    chart.series.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).filter(|series| distance(series) < 8.0)
}

/// A click goes to a time and opens a series, dragging chooses a span, Ctrl and wheel zoom.
#[allow(clippy::too_many_arguments)] // what a chart is drawn from
fn mouse(
    ui: &egui::Ui,
    response: &egui::Response,
    scale: &Scale,
    chart: &DrawnChart,
    timeline: &Timeline,
    axis: &Axis<'_>,
    drag: &mut Option<WindowDrag>,
    change: &mut ChartWish,
) -> Touched {
    let mut touched = Touched::default();
    let last = timeline.times().saturating_sub(1);
    let time_at = |x: f32| (scale.time(x).round().max(0.0) as usize).min(last);
    if response.drag_started()
        && let Some(origin) = ui.input(|i| i.pointer.press_origin())
    {
        // An edge that is near is dragged, the other one stays; else a new span begins.
        let edges = axis.span.map(|(from, to)| [(from, to), (to, from)]);
        let near = edges.iter().flatten().find(|(edge, _)| (scale.x(*edge as f64) - origin.x).abs() <= NEAR);
        *drag = Some(WindowDrag { fixed: near.map_or_else(|| time_at(origin.x), |(_, other)| *other) });
    }
    if let Some(WindowDrag { fixed }) = *drag
        && response.dragged()
        && let Some(at) = response.interact_pointer_pos()
    {
        change.span = Some((fixed, time_at(at.x)));
    }
    if response.drag_stopped() {
        *drag = None;
    }
    let Some(at) = response.hover_pos() else { return touched };
    change.zoom = zoomed(ui, scale, at.x, last).or(change.zoom);
    let time = time_at(at.x);
    let series = series_at(chart, scale, scale.time(at.x), at).filter(|_| scale.room.contains(at));
    touched.pointed = series.and_then(|series| series.node);
    if response.clicked() {
        change.go_to = Some(time);
        touched.clicked = touched.pointed;
    }
    if axis.span.is_some_and(|(from, to)| [from, to].iter().any(|&t| (scale.x(t as f64) - at.x).abs() <= NEAR)) {
        ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
    }
    response.clone().on_hover_ui_at_pointer(|ui| {
        ui.strong(format!("{}/{}  {}", time + 1, timeline.times(), timeline.points()[time].label));
        if let Some((series, (before, after, share))) = series.zip(chart.around(scale.time(at.x))) {
            let nearest = if share > 0.5 { after } else { before };
            let value = numbers::in_unit(series.values[nearest], chart.info.unit);
            let (charted, what) = (chart.times[nearest], chart.info.title.to_lowercase());
            let apart = match charted == time {
                true => String::new(),
                false => format!(" at {}/{}, the nearest that is charted", charted + 1, timeline.times()),
            };
            match chart.measure {
                ChartMeasure::Found(_) => ui.label(format!("{}: {value} ({what}){apart}", series.name)),
                ChartMeasure::Known(_) => ui.label(format!("{}: {value}{apart}", series.name)),
            };
            let click = match series.node.is_some_and(|node| !timeline.is_leaf(node)) {
                true => "Click to go to this time and open its chart below",
                false => "Click to go to this time",
            };
            ui.label(RichText::new(click).color(theme::QUIET));
        }
        for suspect in axis.suspects.iter().filter(|suspect| (suspect.from..=suspect.to).contains(&time)) {
            ui.label(RichText::new(format!("⚠ {}", suspect.text)).color(theme::suspect(suspect.kind)));
        }
    });
    touched
}

#[cfg(test)]
mod tests {
    use super::{columns, round_step};
    use memory_city_analysis::trends::MinMaxLevels;

    #[test]
    fn steps_are_round_and_not_too_small() {
        for (least, step) in [(0.2, 1.0), (1.0, 1.0), (1.2, 2.0), (3.0, 5.0), (7.0, 10.0), (4321.0, 5000.0)] {
            assert_eq!(round_step(least), step, "{least}");
        }
    }

    #[test]
    fn no_spike_is_lost_between_pixels() {
        let mut values = vec![5u64; 10_000];
        values[7_777] = 900;
        let times: Vec<usize> = (0..values.len()).collect();
        let drawn = columns(Some(&MinMaxLevels::new(&values)), &times, 0, values.len(), 300);
        assert_eq!(drawn.len(), 300);
        assert_eq!(drawn.iter().filter(|(_, _, most)| *most == 900.0).count(), 1);
        assert!(drawn.iter().all(|(t, ..)| (0.0..10_000.0).contains(t)));
        let few = columns(Some(&MinMaxLevels::new(&values[..3])), &[0, 7, 9], 0, 3, 300);
        assert_eq!(few, [(0.0, 5.0, 5.0), (7.0, 5.0, 5.0), (9.0, 5.0, 5.0)]);
    }
}
