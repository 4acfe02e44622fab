//! The strip below the nested pictures: the heap over time, and small pictures of some times side by side. A click on the curve adds a
//! time, or takes it away.

use super::paint::{self, NestedLook};
use super::{LOCAL_RINGS, Nested};
use crate::viewer::panels::{numbers, theme};
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Rect, Sense, Stroke};
use memory_city_analysis::timeline::{NodeId, Timeline};

/// Height of the curve.
const CURVE: f32 = 60.0;
/// Height of the small pictures with their captions.
const PICTURES: f32 = 118.0;
/// Times that have pictures at first.
const AT_FIRST: usize = 5;

/// The first times with pictures: some, evenly.
pub fn first_times(times: usize) -> Vec<usize> {
    let count = times.min(AT_FIRST);
    let mut all: Vec<usize> =
        (0..count).map(|i| i * times.saturating_sub(1) / count.saturating_sub(1).max(1)).collect();
    all.dedup();
    all
}

/// How much of a pane it takes: none where time does not pass or there is no room.
pub fn height(all: f32, times: usize) -> f32 {
    match times {
        0 | 1 => 0.0,
        _ if all < 300.0 => 0.0,
        _ if all < 420.0 => CURVE,
        _ => CURVE + PICTURES,
    }
}

/// Paints it. Returns the time to go to.
pub fn show(ui: &mut egui::Ui, room: Rect, nested: &mut Nested, timeline: &Timeline, now: usize) -> Option<usize> {
    let mut go = None;
    let curve = room.with_min_y(room.bottom() - CURVE + 6.0);
    if room.height() > CURVE + 20.0 {
        go = pictures(ui, room.with_max_y(curve.top() - 4.0), nested, timeline, now);
    }
    if let Some(time) = heap(ui, curve, nested, timeline, now) {
        nested.toggle_time(time);
    }
    go
}

/// The small pictures. Returns the time of the one that was clicked.
fn pictures(ui: &mut egui::Ui, room: Rect, nested: &Nested, timeline: &Timeline, now: usize) -> Option<usize> {
    let made = nested.pictures.made()?;
    let side = room.height() - 16.0;
    let fit = ((room.width() / (side + 8.0)) as usize).max(1);
    let mut go = None;
    for (place, (time, scale, picture)) in made.small.iter().take(fit).enumerate() {
        let min = room.min + egui::vec2(place as f32 * (side + 8.0), 0.0);
        let cell = Rect::from_min_size(min, egui::vec2(side, room.height()));
        let response = ui.interact(cell, ui.id().with(("small", *time)), Sense::click());
        let shown = *time == now;
        let stroke =
            if shown { Stroke::new(1.5, theme::ACCENT) } else { Stroke::new(1.0, Color32::from_rgb(44, 55, 78)) };
        ui.painter().rect_stroke(cell, 4.0, stroke, egui::StrokeKind::Inside);
        let look = NestedLook {
            timeline,
            metric: made.plan.config().metric,
            shape: nested.shape,
            scale: if nested.to_scale { *scale } else { 1.0 },
            rings: LOCAL_RINGS,
            named: false,
            branch_of: None,
            selected: Vec::new(),
            pointed: None,
        };
        let picture_room = cell.with_max_y(cell.bottom() - 14.0);
        paint::still(ui.painter(), picture_room, picture, &look);
        let caption = format!("{}/{}", time + 1, timeline.times());
        let font = FontId::proportional(11.0);
        let colour = if shown { theme::TEXT } else { theme::QUIET };
        ui.painter().text(cell.center_bottom() - egui::vec2(0.0, 2.0), Align2::CENTER_BOTTOM, caption, font, colour);
        if response.clicked() {
            go = Some(*time);
        }
        response.on_hover_ui(|ui| {
            ui.strong(&timeline.points()[*time].label);
            ui.label(numbers::amounts(timeline.amount(*time, NodeId::ROOT)));
            ui.label(egui::RichText::new("Click to go there").color(theme::QUIET));
        });
    }
    let hidden = made.small.len().saturating_sub(fit);
    if hidden > 0 {
        let text = format!("+{hidden}");
        ui.painter().text(room.right_center(), Align2::RIGHT_CENTER, text, FontId::proportional(13.0), theme::TEXT);
    }
    go
}

/// The curve. Returns the time that was clicked.
fn heap(ui: &mut egui::Ui, room: Rect, nested: &Nested, timeline: &Timeline, now: usize) -> Option<usize> {
    let metric = nested.pictures.made()?.plan.config().metric;
    let last = timeline.times().saturating_sub(1).max(1);
    let most = timeline.peak(NodeId::ROOT, metric).max(1) as f32;
    let response = ui.interact(room, ui.id().with("curve"), Sense::click());
    let painter = ui.painter();
    let (left, width) = (room.left() + 8.0, room.width() - 16.0);
    let x = |t: usize| left + width * t as f32 / last as f32;
    let y = |t: usize| {
        let share = timeline.value(t, NodeId::ROOT, metric) as f32 / most;
        room.bottom() - 6.0 - (room.height() - 14.0) * share
    };
    // No more points than there are places for.
    let step = (timeline.times() / (width as usize).max(1)).max(1);
    let line: Vec<Pos2> = (0..timeline.times()).step_by(step).map(|t| Pos2::new(x(t), y(t))).collect();
    painter.add(egui::Shape::line(line, Stroke::new(1.5, theme::ACCENT)));
    if width / last as f32 >= 5.0 {
        (0..timeline.times()).for_each(|t| {
            painter.circle_filled(Pos2::new(x(t), y(t)), 2.0, theme::ACCENT);
        });
    }
    for &t in nested.times.iter().filter(|&&t| t < timeline.times()) {
        painter.circle_stroke(Pos2::new(x(t), y(t)), 4.5, Stroke::new(1.5, Color32::WHITE));
    }
    if now <= last {
        painter.vline(x(now), room.y_range(), Stroke::new(1.0, Color32::WHITE));
    }
    let at =
        response.hover_pos().map(|p| (((p.x - left) / width * last as f32).round().max(0.0) as usize).min(last))?;
    let clicked = response.clicked();
    response.on_hover_ui_at_pointer(|ui| {
        ui.strong(format!("{}/{}  {}", at + 1, timeline.times(), timeline.points()[at].label));
        ui.label(numbers::amounts(timeline.amount(at, NodeId::ROOT)));
        let what =
            if nested.times.contains(&at) { "take its small picture away" } else { "show it as a small picture" };
        ui.label(egui::RichText::new(format!("Click to {what}")).color(theme::QUIET));
    });
    clicked.then_some(at)
}

#[cfg(test)]
mod tests {
    use super::first_times;

    #[test]
    fn some_times_have_pictures_at_first() {
        assert_eq!(first_times(0), Vec::<usize>::new());
        assert_eq!(first_times(1), [0]);
        assert_eq!(first_times(3), [0, 1, 2]);
        assert_eq!(first_times(9), [0, 2, 4, 6, 8]);
        assert_eq!(first_times(1000), [0, 249, 499, 749, 999]);
    }
}
