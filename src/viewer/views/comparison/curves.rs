//! The curves of both runs on one axis: the whole heap, and a group. A click moves the comparison to that place.

use crate::viewer::panels::{numbers, theme};
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Rect, RichText, Sense, Shape, Stroke};
use memory_city_analysis::analyses::compare::{AlignedRuns, RunCurve};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};

/// Colours of the first and the second run, which are distinct without colour by the dashes of the first.
pub const COLOURS: [Color32; 2] = [theme::GROWTH, theme::ACCENT];

/// Room for the numbers at the left, and for places below.
const NUMBERS: f32 = 66.0;
const BELOW: f32 = 16.0;
const ABOVE: f32 = 18.0;

/// Input of the curves.
type CurvesOf = (Option<String>, Metric, u64);

/// Curves that were drawn last: made again only where they are of something else.
#[derive(Default)]
pub struct Curves {
    of: Option<CurvesOf>,
    plots: Vec<CurvePair>,
}

struct CurvePair {
    title: String,
    curves: [RunCurve; 2],
}

impl Curves {
    /// Draws them. Returns the place that was clicked.
    pub fn show(
        &mut self,
        ui: &mut egui::Ui,
        height: f32,
        runs: [&Timeline; 2],
        aligned: &AlignedRuns,
        group: Option<&str>,
        metric: Metric,
    ) -> Option<f64> {
        let root = runs[0].key(NodeId::ROOT);
        let group = group.filter(|group| *group != root);
        let of = (group.map(str::to_owned), metric, aligned.place.to_bits());
        if self.of.as_ref() != Some(&of) {
            let plot = |key: &str, title: String| CurvePair {
                title,
                curves: [0, 1].map(|side| aligned.curve(side, runs[side], key, metric)),
            };
            self.plots = vec![plot(&root, "All together".to_owned())];
            if let Some(key) = group {
                let name = runs.iter().find_map(|run| run.find(key).map(|node| run.display_name(node)));
                self.plots.push(plot(key, name.unwrap_or_else(|| key.to_owned())));
            }
            self.of = Some(of);
        }
        let all = Rect::from_min_size(ui.cursor().min, egui::vec2(ui.available_width(), height));
        // Beside each other where there is room for both.
        let count = if all.width() < 420.0 { 1 } else { self.plots.len() };
        let width = all.width() / count as f32;
        let mut clicked = None;
        // In small rooms the group is what is asked for.
        for (at, plot) in self.plots.iter().rev().take(count).rev().enumerate() {
            let left = all.left() + at as f32 * width;
            let room = Rect::from_x_y_ranges(left..=left + width - 10.0, all.y_range());
            clicked = draw(ui, room, at, plot, aligned, runs[0], metric).or(clicked);
        }
        ui.advance_cursor_after_rect(all);
        clicked
    }
}

fn draw(
    ui: &egui::Ui,
    room: Rect,
    number: usize,
    plot: &CurvePair,
    aligned: &AlignedRuns,
    timeline: &Timeline,
    metric: Metric,
) -> Option<f64> {
    let inner = Rect::from_min_max(room.min + egui::vec2(NUMBERS, ABOVE), room.max - egui::vec2(4.0, BELOW));
    let ends = aligned.ends();
    let far = ends[0].max(ends[1]).max(1e-9);
    let values = plot.curves.iter().flatten().map(|(_, value)| *value);
    let most = values.max().unwrap_or(0).max(1) as f64 * 1.05;
    let x = |place: f64| inner.left() + inner.width() * (place / far) as f32;
    let y = |value: f64| inner.bottom() - inner.height() * (value / most) as f32;
    let response = ui.interact(room, ui.id().with(("curves", number)), Sense::click());
    let painter = ui.painter();
    let font = FontId::proportional(11.0);
    let title = theme::fitting(painter, &plot.title, &FontId::proportional(12.5), inner.width());
    painter.text(room.min + egui::vec2(NUMBERS, 0.0), Align2::LEFT_TOP, title, FontId::proportional(12.5), theme::TEXT);
    for step in 0..=2 {
        let value = most / 1.05 * f64::from(step) / 2.0;
        painter.hline(inner.x_range(), y(value), Stroke::new(1.0, Color32::from_rgb(38, 48, 68)));
        let text = numbers::number(timeline, value as u64, metric);
        painter.text(Pos2::new(inner.left() - 6.0, y(value)), Align2::RIGHT_CENTER, text, font.clone(), theme::QUIET);
    }
    let tick = |at: f64, anchor: Align2| {
        painter.text(Pos2::new(x(at), room.bottom()), anchor, aligned.tick_text(at), font.clone(), theme::QUIET);
    };
    tick(0.0, Align2::LEFT_BOTTOM);
    tick(far, Align2::RIGHT_BOTTOM);
    // Where both are compared.
    let here = x(aligned.place.min(far));
    painter.vline(here, inner.y_range(), Stroke::new(1.0, Color32::WHITE));
    for (side, curve) in plot.curves.iter().enumerate() {
        let points: Vec<Pos2> = thinned(curve, inner.width() as f64, far)
            .into_iter()
            .map(|(place, value)| Pos2::new(x(place), y(value as f64)))
            .collect();
        let stroke = Stroke::new(2.0, COLOURS[side]);
        match (&points[..], side) {
            ([one], _) => {
                painter.circle_filled(*one, 3.5, COLOURS[side]);
            }
            (_, 0) => {
                painter.extend(Shape::dashed_line(&points, stroke, 7.0, 4.0));
            }
            _ => {
                painter.add(Shape::line(points.clone(), stroke));
            }
        }
        if let Some(last) = points.last() {
            let name = if side == 0 { "A" } else { "B" };
            let (at, anchor) = match last.x > inner.right() - 14.0 {
                true => (*last + egui::vec2(-3.0, -3.0), Align2::RIGHT_BOTTOM),
                false => (*last + egui::vec2(4.0, -4.0), Align2::LEFT_BOTTOM),
            };
            painter.text(at, anchor, name, FontId::proportional(12.0), COLOURS[side]);
        }
    }
    let place_at = |at: Pos2| (f64::from((at.x - inner.left()) / inner.width().max(1.0)) * far).clamp(0.0, far);
    let place = response.hover_pos().map(place_at);
    response.clone().on_hover_ui_at_pointer(|ui| {
        let Some(place) = place else { return };
        ui.strong(&plot.title);
        for (side, curve) in plot.curves.iter().enumerate() {
            let point = aligned.point(side, place);
            let value = curve.get(point).map_or(0, |(_, value)| *value);
            let name = if side == 0 { "A" } else { "B" };
            let text = format!("{name}: {}", numbers::number(timeline, value, metric));
            ui.label(RichText::new(text).color(COLOURS[side]));
        }
        ui.label(RichText::new(format!("{}: click to compare there", aligned.tick_text(place))).color(theme::QUIET));
    });
    place.filter(|_| response.clicked())
}

/// Of each unit along the axis the first, the least, the largest and the last point: no spike is lost.
fn thinned(curve: &[(f64, u64)], width: f64, far: f64) -> Vec<(f64, u64)> {
    if curve.len() as f64 <= 4.0 * width {
        return curve.to_vec();
    }
    let column = |at: &(f64, u64)| (at.0 / far * width).floor();
    let mut points = Vec::new();
    for piece in curve.chunk_by(|a, b| column(a) == column(b)) {
        let least = (0..piece.len()).min_by_key(|&i| piece[i].1).unwrap_or(0);
        let most = (0..piece.len()).max_by_key(|&i| piece[i].1).unwrap_or(0);
        let mut kept = [0, least, most, piece.len() - 1].to_vec();
        kept.sort_unstable();
        kept.dedup();
        points.extend(kept.into_iter().map(|i| piece[i]));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn thousands_of_points_lose_no_spike() {
        let mut curve: Vec<(f64, u64)> = (0..100_000).map(|i| (f64::from(i), 5)).collect();
        curve[77_777].1 = 900;
        curve[33_333].1 = 1;
        let drawn = thinned(&curve, 300.0, 100_000.0);
        assert!(drawn.len() <= 1200 && drawn.is_sorted_by(|a, b| a.0 <= b.0));
        assert!(drawn.contains(&curve[77_777]) && drawn.contains(&curve[33_333]));
        assert_eq!(thinned(&curve[..50], 300.0, 50.0), curve[..50]);
    }
}
