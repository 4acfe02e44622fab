//! Counts by class between the points in time, as rings beside the lines of a chart. The time slider has no stop there, and the counts
//! may include garbage, which a text beside them says.

use super::charts::{ChartMeasure, DrawnChart, DrawnSeries};
use super::plot::{self, Axis, Scale};
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Align2, Color32, FontId, Pos2, Stroke};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_analysis::trends::{CountsBetween, spread};

/// The rings of a line.
pub(super) struct CountedCourse {
    colour: Color32,
    /// Place among the points in time, and value.
    pub(super) at: Vec<(f64, u64)>,
}

/// The courses beside the lines of a chart: of each class that has a line, or of all together above a stack of the whole heap. Each has
/// at most `most` rings.
pub(super) fn courses(
    chart: &DrawnChart,
    timeline: &Timeline,
    axis: &Axis<'_>,
    is_lit: &dyn Fn(&DrawnSeries) -> bool,
    most: usize,
) -> Vec<CountedCourse> {
    let (Some(between), ChartMeasure::Known(metric @ (Metric::Objects | Metric::Bytes))) =
        (axis.between, chart.measure)
    else {
        return Vec::new();
    };
    let (from, to) = axis.seen;
    let seen: Vec<usize> = (0..between.len()).filter(|&count| (from..=to).contains(&between.place(count))).collect();
    let seen = spread(&seen, most.max(2));
    let course = |node: NodeId, colour: Color32| {
        let amounts = between.of_group(timeline, node)?;
        let value =
            |count: usize| if metric == Metric::Objects { amounts[count].objects } else { amounts[count].bytes };
        Some(CountedCourse { colour, at: seen.iter().map(|&count| (between.place(count), value(count))).collect() })
    };
    if chart.stacked {
        let is_whole = chart.others == 0 || chart.series.iter().any(|series| series.node.is_none());
        let of_root =
            chart.series.iter().filter_map(|series| series.node).all(|n| timeline.parent(n) == Some(NodeId::ROOT));
        return course(NodeId::ROOT, theme::TEXT).filter(|_| is_whole && of_root).into_iter().collect();
    }
    let beside = |(place, series): (usize, &DrawnSeries)| {
        course(series.node?, if is_lit(series) { plot::LIT } else { plot::colour(place, series) })
    };
    chart.series.iter().enumerate().filter_map(beside).collect()
}

/// The largest value of them.
pub(super) fn most(courses: &[CountedCourse]) -> u64 {
    courses.iter().flat_map(|course| &course.at).map(|&(_, value)| value).max().unwrap_or(0)
}

/// Draws the rings, and their explanation.
pub(super) fn show(painter: &egui::Painter, scale: &Scale, courses: &[CountedCourse], between: Option<&CountsBetween>) {
    for course in courses {
        let at = course.at.iter().map(|&(place, value)| Pos2::new(scale.x(place), scale.y(value as f64)));
        // Where they would touch, their line says as much.
        if (course.at.len() as f32) * 8.0 > scale.room.width() {
            painter.line(at.collect(), Stroke::new(1.0, course.colour.gamma_multiply(0.6)));
        } else {
            at.for_each(|at| {
                painter.circle_stroke(at, 2.6, Stroke::new(1.0, course.colour));
            });
        }
    }
    if let Some(between) = between.filter(|_| !courses.is_empty()) {
        let corner = scale.room.right_top() + egui::vec2(-6.0, 4.0);
        let words = format!("○ {}", between.title());
        painter.text(corner, Align2::RIGHT_TOP, words, FontId::proportional(11.0), theme::QUIET);
    }
}
