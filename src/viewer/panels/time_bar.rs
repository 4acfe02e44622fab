//! The time bar along the bottom: buttons, slider, speed, and the heap size over time as a chart to click in. It steers
//! the time of all views.

use super::numbers::{amounts, metric_name, number, when};
use super::theme;
use crate::viewer::action::Action;
use crate::viewer::clock::Clock;
use crate::viewer::document::{Document, OpenDocument};
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke};
use memory_city_analysis::timeline::{Metric, NodeId, TimePoint};
use memory_city_formats::event::GcKind;

/// Height of the bar with its frame.
pub const HEIGHT: f32 = 96.0;

/// The heap over time, and its largest value: computed once for a document and metric.
type Heap = (Vec<u64>, u64);

/// What the bar reads and writes.
struct TimeTools<'a> {
    open: &'a OpenDocument,
    heap: &'a Heap,
    metric: Metric,
    clock: &'a Clock,
    selected: Option<NodeId>,
    interval: f32,
    actions: Vec<Action>,
    go_to: Option<usize>,
}

/// Draws the bar.
pub fn draw(
    InMut(ui): InMut<egui::Ui>,
    document: Res<Document>,
    mut clock: ResMut<Clock>,
    mut settings: ResMut<Settings>,
    selection: Res<Selection>,
    mut actions: MessageWriter<Action>,
    mut heap: Local<Option<((u64, Metric), Heap)>>,
) {
    let Some(open) = document.get() else { return };
    let metric = settings.metric_in(&open.timeline);
    let state = (document.revision(), metric);
    if heap.as_ref().is_none_or(|(of, _)| *of != state) {
        let timeline = &open.timeline;
        let values: Vec<u64> = (0..timeline.times()).map(|t| timeline.value(t, NodeId::ROOT, metric)).collect();
        let most = values.iter().copied().max().unwrap_or(0).max(1);
        *heap = Some((state, (values, most)));
    }
    let Some((_, heap)) = heap.as_ref() else { return };
    let mut tools = TimeTools {
        open,
        heap,
        metric,
        clock: &clock,
        selected: selection.node(),
        interval: settings.interval,
        actions: Vec::new(),
        go_to: None,
    };
    ui.horizontal(|ui| {
        buttons(ui, &mut tools);
        ui.add_space(8.0);
        chart(ui, &mut tools);
    });
    let TimeTools { interval, actions: asked, go_to, .. } = tools;
    if settings.interval != interval {
        settings.interval = interval;
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
            for (text, text_size, action) in [
                ("⏮", 15.0, Action::First),
                ("|◀", 15.0, Action::Previous),
                (if playing { "⏸" } else { "⏵" }, 19.0, Action::Play),
                ("▶|", 15.0, Action::Next),
                ("⏭", 15.0, Action::Last),
            ] {
                let enabled = times > 1;
                let button =
                    egui::Button::new(egui::RichText::new(text).size(text_size)).min_size(egui::vec2(36.0, 28.0));
                if ui.add_enabled(enabled, button).on_hover_text(action.tooltip()).clicked() {
                    tools.actions.push(action);
                }
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
            .on_hover_text(when(point));
        });
        ui.horizontal(|ui| {
            ui.label(egui::RichText::new("each").size(11.0).color(theme::QUIET));
            let speed = egui::Slider::new(&mut tools.interval, 0.1..=3.0).step_by(0.1).fixed_decimals(1).suffix(" s");
            ui.spacing_mut().slider_width = 110.0;
            ui.add(speed).on_hover_text("How long automatic play shows each state");
        });
    });
}

/// A point in time in a few words.
fn caption(point: &TimePoint) -> String {
    match &point.gc {
        Some(gc) => {
            format!("{} · {} · {}", point.label, if gc.kind == GcKind::Major { "full" } else { "minor" }, gc.cause)
        }
        None => point.label.clone(),
    }
}

/// The heap over time. The marked part is what no root reaches.
fn chart(ui: &mut egui::Ui, tools: &mut TimeTools<'_>) {
    let timeline = &tools.open.timeline;
    let times = timeline.times();
    let metric = tools.metric;
    let size = egui::vec2(ui.available_width(), HEIGHT - 22.0);
    let (response, painter) = ui.allocate_painter(size, Sense::click_and_drag());
    let rect = response.rect;
    painter.rect_filled(rect, 4.0, Color32::from_rgba_unmultiplied(0, 0, 0, 90));

    let heap = |t: usize| tools.heap.0[t];
    let most = tools.heap.1;
    let plot = Rect::from_min_max(rect.min + egui::vec2(10.0, 18.0), rect.max - egui::vec2(10.0, 8.0));
    let x = |t: usize| {
        if times < 2 { plot.center().x } else { plot.left() + plot.width() * t as f32 / (times - 1) as f32 }
    };
    let y = |value: u64| plot.bottom() - plot.height() * (value as f64 / most as f64) as f32;
    let line: Vec<Pos2> = (0..times).map(|t| Pos2::new(x(t), y(heap(t)))).collect();
    let fill = Color32::from_rgba_unmultiplied(86, 156, 255, 46);
    for pair in line.windows(2) {
        painter.add(Shape::convex_polygon(
            vec![pair[0], pair[1], Pos2::new(pair[1].x, plot.bottom()), Pos2::new(pair[0].x, plot.bottom())],
            fill,
            Stroke::NONE,
        ));
    }
    painter.add(Shape::line(line.clone(), Stroke::new(1.8, theme::ACCENT)));
    for point in &line {
        painter.circle_filled(*point, if times > 120 { 0.0 } else { 2.0 }, theme::ACCENT);
    }
    // The selected group over time, on its own scale: its shape is what matters.
    if let Some(node) = tools.selected {
        let own = timeline.peak(node, metric).max(1);
        let points: Vec<Pos2> = (0..times)
            .map(|t| {
                let value = timeline.value(t, node, metric) as f64 / own as f64;
                Pos2::new(x(t), plot.bottom() - plot.height() * value as f32)
            })
            .collect();
        painter.add(Shape::line(points, Stroke::new(1.5, Color32::WHITE)));
    }
    let now = x(tools.clock.time);
    painter.line_segment(
        [Pos2::new(now, rect.top() + 2.0), Pos2::new(now, rect.bottom() - 2.0)],
        Stroke::new(2.0, Color32::WHITE),
    );
    painter.circle_filled(Pos2::new(now, y(heap(tools.clock.time))), 4.5, Color32::WHITE);

    let small = FontId::proportional(11.0);
    // A trace knows what the collector kept, whether or not something reaches it; trees are what others counted.
    let dumps = tools.open.source.heaps().is_some() && !tools.open.source.is_recorded();
    let which = if dumps { "reachable " } else { "" };
    let title = format!("Heap, {which}{}", metric_name(timeline, metric));
    painter.text(rect.min + egui::vec2(10.0, 3.0), Align2::LEFT_TOP, title, small.clone(), theme::QUIET);
    let mut right = format!("now {}", number(timeline, heap(tools.clock.time), metric));
    if let Some(node) = tools.selected {
        right = format!(
            "— {} {}    {right}",
            theme::shortened(&theme::brief(&timeline.display_name(node)), 32),
            number(timeline, timeline.value(tools.clock.time, node, metric), metric)
        );
    }
    right.push_str(&format!("    most {}", number(timeline, most, metric)));
    painter.text(Pos2::new(rect.right() - 10.0, rect.top() + 3.0), Align2::RIGHT_TOP, right, small, theme::TEXT);

    let at = |position: Pos2| {
        let share = ((position.x - plot.left()) / plot.width().max(1.0)).clamp(0.0, 1.0);
        (share * (times.max(1) - 1) as f32).round() as usize
    };
    if let Some(position) = response.interact_pointer_pos()
        && (response.clicked() || response.dragged())
    {
        tools.go_to = Some(at(position));
    }
    response.on_hover_ui_at_pointer(|ui| {
        let Some(position) = ui.ctx().pointer_hover_pos() else { return };
        let t = at(position);
        let amount = timeline.amount(t, NodeId::ROOT);
        let point = &timeline.points()[t];
        ui.strong(format!("{}/{}  {}", t + 1, times, point.label));
        ui.label(when(point));
        ui.label(amounts(amount));
        if point.unreachable.objects > 0 {
            ui.label(
                egui::RichText::new(format!("unreachable, not counted: {}", amounts(point.unreachable)))
                    .color(theme::QUIET),
            );
        }
        ui.label(egui::RichText::new("Click or drag to go there").color(theme::QUIET).size(11.0));
    });
}
