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
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Sense};
use egui_plot::{Line, Plot, PlotBounds, Points, VLine};
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
    base: Option<usize>,
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
        base: settings.base.map(|base| base.min(clock.last())),
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
    let heap = |t: usize| tools.heap.0[t];
    let most = tools.heap.1;
    // Room for the line of text above, and for the marks at both ends.
    let (width, height) = (ui.available_width(), HEIGHT - 22.0);
    let last = times.saturating_sub(1).max(1) as f64;
    let aside = last * 10.0 / f64::from(width - 20.0).max(1.0);
    let unit = most as f64 / f64::from(height - 26.0).max(1.0);
    let bounds = PlotBounds::from_min_max([-aside, -8.0 * unit], [last + aside, most as f64 + 18.0 * unit]);
    // A single point in time stands in the middle.
    let x = |t: usize| if times < 2 { last / 2.0 } else { t as f64 };
    let series = |of: &dyn Fn(usize) -> f64| -> Vec<[f64; 2]> { (0..times).map(|t| [x(t), of(t)]).collect() };
    let now = tools.clock.time;
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
            let sizes = series(&|t| heap(t) as f64);
            plot.line(Line::new("heap", sizes.clone()).color(theme::ACCENT).width(1.8).fill(0.0).fill_alpha(0.18));
            if times <= 120 {
                plot.points(Points::new("states", sizes).color(theme::ACCENT).radius(2.0));
            }
            // The selected group over time, on its own scale: its shape is what matters.
            if let Some(node) = tools.selected {
                let scale = most as f64 / timeline.peak(node, metric).max(1) as f64;
                let shape = series(&|t| timeline.value(t, node, metric) as f64 * scale);
                plot.line(Line::new("selection", shape).color(Color32::WHITE).width(1.5));
            }
            if let Some(base) = tools.base {
                plot.vline(
                    VLine::new("base", x(base))
                        .color(theme::ROUTE)
                        .width(1.5)
                        .style(egui_plot::LineStyle::dashed_loose()),
                );
            }
            plot.vline(VLine::new("now", x(now)).color(Color32::WHITE).width(2.0));
            plot.points(Points::new("now", vec![[x(now), heap(now) as f64]]).color(Color32::WHITE).radius(4.5));
        });
    let transform = response.transform;
    let response = response.response;
    let (rect, painter) = (response.rect, ui.painter().clone());

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
        let time = transform.value_from_position(position).x.round();
        (time.max(0.0) as usize).min(times.saturating_sub(1))
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
