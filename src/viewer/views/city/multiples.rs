//! Small multiples: the city at 4, 9 or 16 times beside each other, from one camera. The mouse in one of them acts on all, as in the city
//! alone; a click on a title goes to its time. References of the selection are drawn only at the shown time, if that is among them:
//! finding those of another time takes as long again.
//!
//! It arranges the times ([`Multiples`]); the scene is drawn by [`present`](super::present), once for each.

use crate::viewer::city::{CameraRig, City, Multiples, TimeCell};
use crate::viewer::clock::Clock;
use crate::viewer::panels::{numbers, theme};
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use bevy_egui::egui::{self, Align2, Color32, CornerRadius, FontId, Rect, Sense, Stroke, StrokeKind};
use memory_city_analysis::timeline::NodeId;
use memory_city_views::page::thinned;

/// The shown times: at equal distances, the first and the last among them.
pub(super) fn chosen(times: usize, settings: &Settings) -> Vec<usize> {
    let (from, to) = settings.window.unwrap_or((0, times.saturating_sub(1)));
    let to = to.min(times.saturating_sub(1));
    let from = from.min(to);
    match settings.multiples {
        0 | 1 => Vec::new(),
        most => thinned(to + 1 - from, most).into_iter().map(|t| from + t).collect(),
    }
}

/// Divides a part of the window into as many rows as columns, or as fit: all of one size.
pub(super) fn divide(all: Rect, count: usize) -> Vec<Rect> {
    let columns = (count as f64).sqrt().ceil().max(1.0) as usize;
    let rows = count.div_ceil(columns).max(1);
    let size = egui::vec2(all.width() / columns as f32, all.height() / rows as f32);
    let at = |i: usize| egui::vec2((i % columns) as f32 * size.x, (i / columns) as f32 * size.y);
    (0..count).map(|i| Rect::from_min_size(all.min + at(i), size)).collect()
}

/// Lays the times out in the free part of the pane, and paints the number, the label and the heap size of each. Returns whether there are
/// any; the rig then looks through the first.
pub(super) fn lay_out(
    multiples: &mut Multiples,
    rig: &mut CameraRig,
    city: &City,
    settings: &Settings,
    painter: &egui::Painter,
    free: Rect,
) -> bool {
    let times = chosen(city.times(), settings);
    let cells = divide(free, times.len());
    multiples.0.clear();
    let (Some(&first), Some(&end)) = (cells.first(), cells.last()) else { return false };
    // The last row may have room for more: there is no picture.
    let rest = Rect::from_min_max(end.right_top(), free.max);
    if rest.width() > 1.0 {
        painter.rect_filled(rest, 0.0, theme::SOLID);
    }
    // A strip at the top has the words.
    rig.set_pane(first, first.with_min_y(first.top() + 26.0_f32.min(first.height() / 4.0)));
    let timeline = &city.timeline;
    let metric = settings.metric_in(timeline);
    for (time, rect) in times.into_iter().zip(cells) {
        painter.rect(
            rect,
            0.0,
            Color32::TRANSPARENT,
            Stroke::new(1.0, Color32::from_rgb(60, 74, 102)),
            StrokeKind::Inside,
        );
        let label = timeline.points().get(time).map_or("", |point| point.label.as_str());
        let heap = numbers::number(timeline, timeline.value(time, NodeId::ROOT, metric), metric);
        let room = (rect.width() / 7.0) as usize;
        let base = if settings.base == Some(time) { "  ·  base" } else { "" };
        let words = format!("{}/{}  {label}", time + 1, timeline.times());
        let words =
            format!("{}  ·  {heap}{base}", theme::shortened(&words, room.saturating_sub(heap.len() + 4).max(8)));
        let galley = painter.layout_no_wrap(words, FontId::proportional(12.0), theme::TEXT);
        let title =
            Align2::LEFT_TOP.anchor_size(rect.min + egui::vec2(5.0, 5.0), galley.size() + egui::vec2(10.0, 4.0));
        painter.rect_filled(title, CornerRadius::same(4), theme::PANEL);
        painter.galley(title.min + egui::vec2(5.0, 2.0), galley, theme::TEXT);
        multiples.0.push(TimeCell { time, rect, title });
    }
    true
}

/// Explains why none of the times has references: they belong to another time.
pub(super) fn tell_of_references(painter: &egui::Painter, free: Rect, of: usize, times: usize) {
    let words = format!("References are drawn at the time that is shown, {}/{times}: it is none of these", of + 1);
    let galley = painter.layout_no_wrap(words, FontId::proportional(12.0), theme::QUIET);
    let size = galley.size() + egui::vec2(14.0, 6.0);
    let plate = Align2::CENTER_BOTTOM.anchor_size(free.center_bottom() - egui::vec2(0.0, theme::GAP), size);
    painter.rect_filled(plate, CornerRadius::same(4), theme::SOLID);
    painter.galley(plate.min + egui::vec2(7.0, 3.0), galley, theme::QUIET);
}

/// A click on a title goes to its time, alone; pointing at it says so.
pub(super) fn click(ui: &egui::Ui, multiples: &Multiples, clock: &mut Clock, settings: &mut Settings) {
    for cell in &multiples.0 {
        let response = ui.interact(cell.title, ui.id().with(("time", cell.time)), Sense::click());
        if response.hovered() {
            let stroke = Stroke::new(2.0, theme::ACCENT);
            ui.painter().rect(cell.rect, 0.0, Color32::TRANSPARENT, stroke, StrokeKind::Inside);
        }
        if response.on_hover_text("Click to look at this time alone").clicked() {
            clock.jump(cell.time);
            settings.multiples = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_egui::egui::Pos2;

    #[test]
    fn times_are_spread_and_cells_fill_the_pane() {
        let settings = |multiples, window| Settings { multiples, window, ..Settings::default() };
        assert_eq!(chosen(16, &settings(4, None)), [0, 5, 10, 15]);
        assert_eq!(chosen(16, &settings(9, Some((4, 7)))), [4, 5, 6, 7]);
        assert!(chosen(16, &settings(0, None)).is_empty());
        assert_eq!(chosen(1, &settings(16, None)), [0]);
        let all = Rect::from_min_size(Pos2::new(10.0, 20.0), egui::vec2(900.0, 600.0));
        for count in [1, 2, 4, 5, 9, 16] {
            let cells = divide(all, count);
            assert_eq!(cells.len(), count);
            for (i, a) in cells.iter().enumerate() {
                assert!(all.expand(0.01).contains_rect(*a) && a.size() == cells[0].size());
                assert!(cells[i + 1..].iter().all(|b| a.shrink(0.01).intersect(b.shrink(0.01)).is_negative()));
            }
        }
    }
}
