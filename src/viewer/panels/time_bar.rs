//! The time bar along the bottom: buttons, slider, speed, and the heap size over time as a chart to click in. It steers
//! the time of all views.

use super::numbers::{amounts, number, when};
use super::{theme, ticks};
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::document::{Document, OpenDocument};
use crate::viewer::keys;
use crate::viewer::run::{OpenRun, SuspectWindow};
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Sense};
use egui_plot::{Line, MarkerShape, Plot, PlotBounds, Points};
use memory_city_analysis::analyses::{self, count_text};
use memory_city_analysis::timeline::{Amount, Metric, NodeId, TimePoint, Timeline, Unit, by_uptime, is_repeated};
use memory_city_analysis::trends::CountsBetween;
use memory_city_formats::event::GcKind;

/// Height of the bar with its frame.
pub const HEIGHT: f32 = 96.0;

/// Least distance of values on the axis, points.
const VALUES_APART: f32 = 11.0;
/// Room for the values of the axis, points.
const GUTTER: f32 = 58.0;
/// Room at the right for the mark of the last point in time, points.
const RIGHT: f32 = 14.0;
/// Seconds for which a state is shown at normal speed.
const NORMAL: f32 = 0.5;
/// The slowest and the fastest play, as multiples of it.
const SLOWEST: f32 = 0.1;
const FASTEST: f32 = 50.0;

/// The heap over time, and its largest value: computed once for a document and metric.
type Heap = (Vec<u64>, u64);

/// Resources that the bar reads and writes.
struct TimeTools<'a> {
    open: &'a OpenDocument,
    heap: &'a Heap,
    metric: Metric,
    clock: &'a Clock,
    selected: Option<NodeId>,
    interval: f32,
    base: Option<usize>,
    repeat: bool,
    suspects: &'a [SuspectWindow],
    between: Option<&'a CountsBetween>,
    actions: Vec<Action>,
    go_to: Option<usize>,
    /// A range that was chosen: all of it, or none.
    range: Option<Option<(usize, usize)>>,
}

/// Draws the bar.
pub fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut clock: ResMut<Clock>,
    mut settings: ResMut<Settings>,
    (selection, mut run): (Res<Selection>, ResMut<OpenRun>),
    mut actions: MessageWriter<Action>,
    mut heap: Local<Option<(Metric, Heap)>>,
) {
    let Some(open) = document.get() else { return };
    let metric = settings.metric_in(&open.timeline);
    if document.is_changed() || heap.as_ref().is_none_or(|(of, _)| *of != metric) {
        let timeline = &open.timeline;
        let values: Vec<u64> = (0..timeline.times()).map(|t| timeline.value(t, NodeId::ROOT, metric)).collect();
        let most = values.iter().copied().max().unwrap_or(0).max(1);
        *heap = Some((metric, (values, most)));
    }
    let Some((_, heap)) = heap.as_ref() else { return };
    let run = run.asked();
    let mut tools = TimeTools {
        open,
        heap,
        metric,
        clock: &clock,
        selected: selection.node(),
        interval: settings.interval,
        base: settings.base.map(|base| base.min(clock.last())),
        repeat: settings.repeat,
        suspects: run.suspects(),
        between: run.between().map(|between| &**between),
        actions: Vec::new(),
        go_to: None,
        range: None,
    };
    ui.horizontal(|ui| {
        buttons(ui, &mut tools);
        ui.add_space(8.0);
        chart(ui, &mut tools);
    });
    let TimeTools { interval, actions: asked, go_to, range, .. } = tools;
    if settings.interval != interval {
        settings.interval = interval;
    }
    if let Some(range) = range {
        clock.set_range(range);
    }
    if let Some(time) = go_to {
        clock.step_to(time);
    }
    actions.write_batch(asked);
}

fn buttons(ui: &mut egui::Ui, tools: &mut TimeTools<'_>) {
    let times = tools.open.timeline.times();
    ui.vertical(|ui| {
        ui.set_width(232.0);
        ui.horizontal(|ui| {
            let playing = tools.clock.playing;
            // Play and next share a triangle in this font; the step buttons carry a bar.
            for (text, name, text_size, action) in [
                ("⏮", "First time", 15.0, Action::First),
                ("|◀", "Previous time", 15.0, Action::Previous),
                (if playing { "⏸" } else { "⏵" }, if playing { "Pause" } else { "Play" }, 19.0, Action::Play),
                ("▶|", "Next time", 15.0, Action::Next),
                ("⏭", "Last time", 15.0, Action::Last),
            ] {
                let enabled = times > 1;
                let button =
                    egui::Button::new(egui::RichText::new(text).size(text_size)).min_size(egui::vec2(32.0, 28.0));
                let button = ui.add_enabled(enabled, button).on_hover_text(action.tooltip());
                theme::named(&button, name);
                if button.clicked() {
                    tools.actions.push(action);
                }
            }
            let label = egui::RichText::new("↻").size(16.0);
            let repeat = egui::Button::new(label).min_size(egui::vec2(28.0, 28.0)).selected(tools.repeat);
            let repeat = ui.add_enabled(times > 1, repeat).on_hover_text(Action::Repeat.tooltip());
            repeat.widget_info(|| {
                let kind = egui::WidgetType::Button;
                egui::WidgetInfo::selected(kind, repeat.enabled(), tools.repeat, "Play again from the start")
            });
            if repeat.clicked() {
                tools.actions.push(Action::Repeat);
            }
        });
        let point = &tools.open.timeline.points()[tools.clock.time];
        ui.horizontal(|ui| {
            ui.label(egui::RichText::new(format!("{}/{}", tools.clock.time + 1, times)).size(15.0).strong())
                .on_hover_text(format!("Point in time {} of {}\n{}", tools.clock.time + 1, times, point.label));
            ui.add(
                egui::Label::new(
                    egui::RichText::new(theme::shortened(&caption(point), 34)).size(11.0).color(theme::QUIET),
                )
                .selectable(false),
            )
            .on_hover_text(when(&tools.open.timeline, tools.clock.time));
        });
        ui.horizontal(|ui| {
            let speed_is = ui.label(egui::RichText::new("speed").size(11.0).color(theme::QUIET)).id;
            let mut times = speed_of(tools.interval);
            let speed = egui::Slider::new(&mut times, SLOWEST..=FASTEST).logarithmic(true).prefix("×").max_decimals(1);
            ui.spacing_mut().slider_width = 110.0;
            let tip = "How fast automatic play is: at ×1 each state is shown for half a second";
            if ui.add(speed).labelled_by(speed_is).on_hover_text(tip).changed() {
                tools.interval = interval_of(times);
            }
        });
    });
}

/// Speed of play as the slider has it, for this time of each state, seconds.
fn speed_of(interval: f32) -> f32 {
    (NORMAL / interval.max(1e-3)).clamp(SLOWEST, FASTEST)
}

/// For how many seconds each state is shown at a speed.
fn interval_of(speed: f32) -> f32 {
    NORMAL / speed
}

/// A point in time in a few words.
fn caption(point: &TimePoint) -> String {
    match &point.gc {
        Some(gc) => {
            format!("{} · {} · {}", point.label, analyses::gc_kind_text(gc.kind, gc.one_pause), gc.cause)
        }
        None => point.label.clone(),
    }
}

/// Whether a collection ends at a point in time, once for each, and whether it is a full one. A pause of a concurrent collector is not,
/// whatever it collects.
fn mark_at(points: &[TimePoint], time: usize) -> Option<bool> {
    let gc = points[time].gc.as_ref().filter(|gc| gc.end && !is_repeated(points, time))?;
    Some(gc.kind == GcKind::Major && !gc.one_pause)
}

/// The top of the bar's scale. Counts between the points in time include garbage, and may be many times the heap. Beyond one and a half
/// times the heap they are cut at the top, so that its curve does not lie on the floor.
fn scale_of(heap: u64, counted: u64) -> u64 {
    heap.max(counted.min(heap.saturating_add(heap / 2)))
}

/// A value of an axis, which has little room: the unit of counts is in the heading.
fn axis_text(timeline: &Timeline, value: u64, metric: Metric) -> String {
    let of_bytes = !matches!(timeline.metric_info(metric).unit, Unit::Objects | Unit::Count);
    let scales = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    match scales.into_iter().find(|(scale, _)| value >= *scale && value.is_multiple_of(*scale)) {
        _ if of_bytes => number(timeline, value, metric),
        Some((scale, name)) => format!("{} {name}", value / scale),
        None => count_text(value),
    }
}

/// The distance of the lines of an axis up to `most`: 1, 2 or 5 times a power of ten, so that there are two to five of them.
fn axis_step(most: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for step in [1, 2, 5] {
            let distance = power.saturating_mul(step);
            if most / distance < 5 {
                return distance.max(1);
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Points in time to draw a curve through: all, or of many the lowest and the highest of each of `columns` parts.
fn thinned(times: usize, columns: usize, of: &dyn Fn(usize) -> f64) -> Vec<usize> {
    if times <= 2 * columns {
        return (0..times).collect();
    }
    let mut kept = Vec::with_capacity(2 * columns + 2);
    for column in 0..columns {
        let part = column * times / columns..(column + 1) * times / columns;
        let low = part.clone().min_by(|a, b| of(*a).total_cmp(&of(*b)));
        let high = part.max_by(|a, b| of(*a).total_cmp(&of(*b)));
        kept.extend(low.into_iter().chain(high));
    }
    kept.extend([0, times - 1]);
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Of places, ascending, those that are so far from the one before: none is further than that from one that stays.
fn far_apart(places: impl Iterator<Item = f64>, distance: f64) -> impl Iterator<Item = f64> {
    let mut last = f64::NEG_INFINITY;
    places.filter(move |&place| {
        let stays = place - last >= distance;
        last = if stays { place } else { last };
        stays
    })
}

/// Magnification of a group's curve beside that of the heap: 1, 2, 5, 10, 20 and so on. The curve fills a part of the room and never
/// leaves it.
fn magnification(peak: u64, most: u64) -> u64 {
    let room = most / peak.max(1);
    let mut best = 1;
    let mut power: u64 = 1;
    loop {
        for step in [1, 2, 5] {
            let times = power.saturating_mul(step);
            if times > room || times > 1_000_000_000 {
                return best;
            }
            best = times;
        }
        power = power.saturating_mul(10);
    }
}

/// The heap over time. The marked part is unreachable from any root.
fn chart(ui: &mut egui::Ui, tools: &mut TimeTools<'_>) {
    let timeline = &tools.open.timeline;
    let times = timeline.times();
    let metric = tools.metric;
    let heap = |t: usize| tools.heap.0[t];
    let between = tools.between.filter(|_| matches!(metric, Metric::Objects | Metric::Bytes));
    let of_metric = |amount: &Amount| if metric == Metric::Objects { amount.objects } else { amount.bytes };
    let counted: Vec<u64> = between.map_or_else(Vec::new, |between| between.total().iter().map(of_metric).collect());
    let highest = counted.iter().copied().max().unwrap_or(0);
    let most = scale_of(tools.heap.1, highest);
    // Room for the line of text above, for the values at the left, and for marks and moments below.
    let (width, height) = (ui.available_width(), HEIGHT - 22.0);
    let last = times.saturating_sub(1).max(1) as f64;
    let point = last / f64::from(width - GUTTER - RIGHT).max(1.0);
    let unit = most as f64 / f64::from(height - 36.0).max(1.0);
    let low = [-point * f64::from(GUTTER), -18.0 * unit];
    let bounds = PlotBounds::from_min_max(low, [last + f64::from(RIGHT) * point, most as f64 + 18.0 * unit]);
    // A single point in time stands in the middle.
    let x = |t: usize| if times < 2 { last / 2.0 } else { t as f64 };
    // Of many points in time as many as there is room for, with all peaks and hollows.
    let columns = (width as usize).max(16);
    let series = |of: &dyn Fn(usize) -> f64| -> Vec<[f64; 2]> {
        thinned(times, columns, of).into_iter().map(|t| [x(t), of(t)]).collect()
    };
    let axis = axis_step(most);
    let (first, end) = tools.clock.range();
    let ranged = tools.clock.chosen().is_some();
    let now = tools.clock.time;
    let magnified = tools.selected.map_or(1, |node| magnification(timeline.peak(node, metric), most));
    let response = Plot::new("heap over time")
        .width(width)
        .height(height)
        .show_axes(false)
        .show_grid(false)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .sense(Sense::click_and_drag())
        .label_formatter(|_| None)
        .show(ui, |plot| {
            plot.set_plot_bounds(bounds);
            for value in (1..).map(|n| n * axis).take_while(|value| *value <= most).take(8) {
                let faint = Color32::from_white_alpha(18);
                plot.hline(egui_plot::HLine::new("axis", value as f64).color(faint).width(1.0));
            }
            // Collections are marked at the foot, those of the whole heap over the others; where marks would touch one stands for all.
            for (is_full, colour, radius) in [(false, theme::QUIET, 1.2), (true, theme::WARNING, 2.6)] {
                let points = timeline.points();
                let is = |t: &usize| mark_at(points, *t) == Some(is_full);
                let at = far_apart((0..times).filter(is).map(x), f64::from(2.0 * radius) * point);
                let at: Vec<_> = at.map(|x| [x, -4.0 * unit]).collect();
                plot.points(Points::new("gc", at).color(colour).radius(radius));
            }
            // From foot to top, and not through the words above and below.
            let upright = |name: &'static str, t: usize| Line::new(name, vec![[x(t), 0.0], [x(t), most as f64]]);
            if ranged {
                for edge in [first, end] {
                    plot.line(upright("range", edge).color(theme::ROUTE).width(1.5));
                }
            }
            let sizes = series(&|t| heap(t) as f64);
            plot.line(Line::new("heap", sizes.clone()).color(theme::ACCENT).width(1.8).fill(0.0).fill_alpha(0.18));
            if times <= 120 {
                plot.points(Points::new("states", sizes).color(theme::ACCENT).radius(2.0));
            }
            // What was counted between the points in time: rings, or where these would touch their line.
            let mut rings = |course: &[u64], scale: f64, colour: Color32| {
                let Some(between) = between else { return };
                let at = |count: usize| course[count] as f64 * scale;
                let at =
                    thinned(course.len(), columns / 2, &at).into_iter().map(|count| [between.place(count), at(count)]);
                let at: Vec<[f64; 2]> = at.collect();
                let top = most as f64;
                if at.len() > columns / 8 {
                    let at: Vec<_> = at.into_iter().map(|[x, value]| [x, value.min(top)]).collect();
                    plot.line(Line::new("counted", at).color(colour.gamma_multiply(0.7)).width(1.0));
                    return;
                }
                let (beyond, within): (Vec<_>, Vec<_>) = at.into_iter().partition(|[_, value]| *value > top);
                plot.points(Points::new("counted", within).color(colour).filled(false).radius(3.0));
                let beyond: Vec<_> = beyond.into_iter().map(|[x, _]| [x, top]).collect();
                plot.points(
                    Points::new("beyond", beyond).color(colour).shape(MarkerShape::Up).filled(false).radius(3.5),
                );
            };
            rings(&counted, 1.0, theme::ACCENT);
            if let (Some(between), Some(node)) = (between, tools.selected)
                && let Some(course) = between.of_group(timeline, node)
            {
                let course: Vec<u64> = course.iter().map(of_metric).collect();
                rings(&course, magnified as f64, Color32::WHITE);
            }
            // The selected group over time on the scale of the heap; what is small as a round multiple that is told.
            if tools.selected.is_some() {
                let scale = magnified as f64;
                let shape =
                    series(&|t| timeline.value(t, tools.selected.unwrap_or(NodeId::ROOT), metric) as f64 * scale);
                plot.line(Line::new("selection", shape).color(Color32::WHITE).width(1.5));
            }
            if let Some(base) = tools.base {
                let dashed = egui_plot::LineStyle::dashed_loose();
                plot.line(upright("base", base).color(theme::ROUTE).width(1.5).style(dashed));
            }
            plot.line(upright("now", now).color(Color32::WHITE).width(2.0));
            plot.points(Points::new("now", vec![[x(now), heap(now) as f64]]).color(Color32::WHITE).radius(4.5));
        });
    let transform = response.transform;
    let response = response.response;
    let (rect, painter) = (response.rect, ui.painter().clone());

    let small = FontId::proportional(11.0);
    let mut title = tools.open.source.heap_title(metric);
    if let Some(between) = between {
        title.push_str(&format!("    ○ {}", between.title()));
        if highest > most {
            title.push_str(&format!(" (⏶ above, up to {})", number(timeline, highest, metric)));
        }
    }
    painter.text(rect.min + egui::vec2(10.0, 3.0), Align2::LEFT_TOP, title, small.clone(), theme::QUIET);
    let mut right = format!("now {}", number(timeline, heap(tools.clock.time), metric));
    if let Some(node) = tools.selected {
        let times = if magnified > 1 { format!(" (drawn ×{})", count_text(magnified)) } else { String::new() };
        right = format!(
            "— {} {}{times}    {right}",
            theme::shortened(&theme::brief(&timeline.display_name(node)), 32),
            number(timeline, timeline.value(tools.clock.time, node, metric), metric)
        );
    }
    right.push_str(&format!("    most {}", number(timeline, tools.heap.1, metric)));
    painter.text(
        Pos2::new(rect.right() - RIGHT - 14.0, rect.top() + 3.0),
        Align2::RIGHT_TOP,
        right,
        small,
        theme::TEXT,
    );

    let at = |position: Pos2| {
        let time = transform.value_from_position(position).x.round();
        (time.max(0.0) as usize).min(times.saturating_sub(1))
    };
    // Values of the axis, and when it begins and ends.
    let faint = theme::QUIET.gamma_multiply(0.9);
    let tiny = FontId::proportional(9.5);
    let mut free = f32::INFINITY;
    for value in (1..).map(|n| n * axis).take_while(|value| *value <= most).take(8) {
        let y = transform.position_from_point(&egui_plot::PlotPoint::new(0.0, value as f64)).y;
        // One above the other, as many as have room.
        if y > rect.top() + 18.0 && y <= free {
            free = y - VALUES_APART;
            let text = axis_text(timeline, value, metric);
            painter.text(Pos2::new(rect.left() + GUTTER - 8.0, y), Align2::RIGHT_CENTER, text, tiny.clone(), faint);
        }
    }
    let across = |t: usize| transform.position_from_point(&egui_plot::PlotPoint::new(x(t), 0.0)).x;
    if times > 1 {
        ticks::paint(&painter, timeline.points(), (0, times - 1), &across, rect.bottom() - 1.0, &tiny, faint);
    } else {
        let text = match tools.open.live {
            None => &format!(
                "One state is open. Open a later one of the same program beside it ({}) to see what grows",
                keys::key(Action::OpenFiles)
            ),
            Some(_) => "The first state is here. What grows is to be seen when the next one has come",
        };
        let at = Pos2::new(rect.left() + GUTTER, rect.bottom() - 1.0);
        painter.text(at, Align2::LEFT_BOTTOM, text, FontId::proportional(11.0), theme::QUIET);
    }
    for suspect in tools.suspects {
        let edge = |t: usize| transform.position_from_point(&egui_plot::PlotPoint::new(x(t.min(times - 1)), 0.0)).x;
        // On the axis: the curve stands above it.
        let y = transform.position_from_point(&egui_plot::PlotPoint::new(0.0, 0.0)).y + 1.0;
        painter.hline(edge(suspect.from)..=edge(suspect.to), y, (3.0, theme::suspect(suspect.kind)));
    }
    if ranged {
        let shade = Color32::from_black_alpha(110);
        painter.rect_filled(rect.with_max_x(across(first)), 0.0, shade);
        painter.rect_filled(rect.with_min_x(across(end)), 0.0, shade);
    }
    if response.double_clicked() {
        tools.range = Some(None);
    } else if let Some(position) = response.interact_pointer_pos()
        && (response.clicked() || response.dragged())
    {
        let held = ui.input(|i| i.modifiers.shift);
        let from = ui.input(|i| i.pointer.press_origin()).map(at);
        match from.filter(|_| held && response.dragged()) {
            Some(from) => tools.range = Some(Some((from, at(position)))),
            None => tools.go_to = Some(at(position)),
        }
    }
    let suspects = tools.suspects;
    response.on_hover_ui_at_pointer(|ui| {
        let Some(position) = ui.ctx().pointer_hover_pos() else { return };
        let t = at(position);
        let amount = timeline.amount(t, NodeId::ROOT);
        let point = &timeline.points()[t];
        ui.strong(format!("{}/{}  {}", t + 1, times, point.label));
        ui.label(when(timeline, t));
        ui.label(amounts(amount));
        if point.unreachable.objects > 0 {
            ui.label(
                egui::RichText::new(format!("unreachable, not counted: {}", amounts(point.unreachable)))
                    .color(theme::QUIET),
            );
        }
        if let Some(between) = between {
            let count = between.nearest(transform.value_from_position(position).x);
            let millis = between.moment(count).millis;
            let when =
                if by_uptime(timeline.points()) { analyses::uptime_text(millis) } else { analyses::time_text(millis) };
            let text = format!("○ {when}: {} ({})", amounts(between.total()[count]), between.title());
            ui.label(egui::RichText::new(text).color(theme::QUIET));
        }
        for suspect in suspects.iter().filter(|suspect| (suspect.from..=suspect.to).contains(&t)) {
            ui.label(egui::RichText::new(format!("⚠ {}", suspect.text)).color(theme::suspect(suspect.kind)));
        }
        ui.label(
            egui::RichText::new("Click or drag to go there; Shift and drag: play this part alone; double click: all")
                .color(theme::QUIET)
                .size(11.0),
        );
    });
}

#[cfg(test)]
mod tests {
    use super::{
        FASTEST, SLOWEST, axis_step, caption, far_apart, interval_of, magnification, mark_at, scale_of, speed_of,
        thinned,
    };
    use memory_city_analysis::timeline::{GcPoint, TimePoint};
    use memory_city_formats::event::GcKind;

    #[test]
    fn play_is_a_tenth_as_fast_to_fifty_times() {
        for (speed, seconds) in [(SLOWEST, 5.0), (1.0, 0.5), (FASTEST, 0.01)] {
            assert!((interval_of(speed) - seconds).abs() < 1e-6, "{speed}");
            assert!((speed_of(seconds) - speed).abs() < 1e-3, "{speed}");
        }
        assert_eq!((speed_of(60.0), speed_of(0.0)), (0.1, 50.0), "what the slider cannot show is its end");
    }

    #[test]
    fn pauses_have_no_mark_of_full_collections() {
        for (kind, one_pause, mark, said) in [
            (GcKind::Major, false, true, "GC 4 · full · Warmup"),
            (GcKind::Minor, false, false, "GC 4 · minor · Warmup"),
            (GcKind::Major, true, false, "GC 4 · major · Warmup"),
            (GcKind::Minor, true, false, "GC 4 · minor · Warmup"),
        ] {
            let gc =
                GcPoint { number: 4, kind, one_pause, cause: "Warmup".into(), duration: 1, end: true, freed: None };
            let point = TimePoint { label: "GC 4".into(), gc: Some(gc.clone()), ..TimePoint::default() };
            let begun = TimePoint { gc: Some(GcPoint { end: false, ..gc }), ..TimePoint::default() };
            let points = [begun, point.clone(), point.clone(), TimePoint::default()];
            assert_eq!([0, 1, 2, 3].map(|time| mark_at(&points, time)), [None, Some(mark), None, None], "{kind:?}");
            assert_eq!(caption(&point), said);
        }
    }

    #[test]
    fn marks_of_many_collections_stay_and_do_not_touch() {
        let places = |count: usize| (0..count).map(|n| n as f64);
        assert_eq!(far_apart(places(5), 1.0).count(), 5);
        let kept: Vec<f64> = far_apart(places(100_000), 300.0).collect();
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] >= 300.0));
        assert!(places(100_000).all(|place| kept.iter().any(|mark| (place - mark).abs() < 300.0)), "each has its mark");
        assert_eq!(far_apart([7.0].into_iter(), 300.0).count(), 1);
    }

    #[test]
    fn counts_with_garbage_leave_the_curve_of_the_heap_high() {
        for (heap, counted, expected) in
            [(100, 0, 100), (100, 120, 120), (100, 900, 150), (u64::MAX, u64::MAX, u64::MAX)]
        {
            assert_eq!(scale_of(heap, counted), expected);
        }
    }

    #[test]
    fn axes_have_a_few_lines() {
        for most in [1u64, 4, 5, 17, 999, 1_000_000, 2_910_000, u64::MAX] {
            let lines = most / axis_step(most);
            assert!(lines <= 5 && (lines >= 1 || most < 1), "{most}: {lines}");
        }
    }

    #[test]
    fn a_curve_of_many_times_keeps_its_peaks() {
        let value = |t: usize| {
            if t == 5_432 {
                99.0
            } else if t == 7_000 {
                -5.0
            } else {
                (t % 7) as f64
            }
        };
        let kept = thinned(10_000, 300, &value);
        assert!(kept.len() <= 602 && kept.windows(2).all(|w| w[0] < w[1]));
        assert!([0, 5_432, 7_000, 9_999].iter().all(|t| kept.contains(t)));
        assert_eq!(thinned(500, 300, &value).len(), 500);
    }

    #[test]
    fn curves_are_magnified_by_round_numbers_that_fit() {
        for (peak, most, expected) in
            [(100, 100, 1), (51, 100, 1), (50, 100, 2), (9, 100, 10), (1, 4_999, 2000), (0, 0, 1)]
        {
            assert_eq!(magnification(peak, most), expected, "{peak} of {most}");
        }
        assert!(magnification(1, u64::MAX) <= 1_000_000_000);
    }
}
