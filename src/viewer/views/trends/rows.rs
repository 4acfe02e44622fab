//! The table beside a chart: its series with their first and last values, and their growth.

use super::charts::{ChartMeasure, DrawnChart, DrawnSeries};
use super::plot::{Axis, colour};
use crate::viewer::panels::{numbers, theme, tooltip};
use crate::viewer::selection::Pointing;
use bevy_egui::egui::{self, Align2, Color32, FontId, Rect, Sense};
use memory_city_analysis::tabular::count_text;
use memory_city_analysis::timeline::{NodeId, Timeline};

const ROW: f32 = 19.0;

/// Draws it. Returns the group whose row was clicked.
#[allow(clippy::too_many_arguments)] // what a table is drawn from
pub fn show(
    ui: &egui::Ui,
    room: Rect,
    chart: &DrawnChart,
    timeline: &Timeline,
    axis: &Axis<'_>,
    lit: &[NodeId],
    pointing: &mut Pointing,
) -> Option<NodeId> {
    let span = axis.span.unwrap_or((0, timeline.times().saturating_sub(1)));
    let (from, to) = chart.ends(span)?;
    let painter = ui.painter().with_clip_rect(room);
    let font = FontId::proportional(12.0);
    let (now, gained) = (room.right() - 84.0, room.right() - 4.0);
    for (x, text) in [(now, "at the end"), (gained, "gained")] {
        painter.text(egui::pos2(x, room.top()), Align2::RIGHT_TOP, text, FontId::proportional(11.0), theme::QUIET);
    }
    let mut clicked = None;
    let fit = (((room.height() - 16.0) / ROW) as usize).max(1);
    for (place, series) in chart.series.iter().enumerate().take(fit) {
        let top = room.top() + 16.0 + ROW * place as f32;
        let rect = Rect::from_min_max(egui::pos2(room.left(), top), egui::pos2(room.right(), top + ROW));
        let response = ui.interact(rect, ui.id().with(("row", place)), Sense::click());
        let is_lit = series.node.is_some_and(|node| lit.contains(&node));
        if is_lit || response.hovered() {
            painter.rect_filled(
                rect,
                4.0,
                if is_lit { Color32::from_rgb(30, 66, 122) } else { Color32::from_rgb(34, 44, 64) },
            );
        }
        let swatch = Rect::from_min_size(rect.min + egui::vec2(3.0, 5.0), egui::vec2(9.0, 9.0));
        painter.rect_filled(swatch, 2.0, colour(place, series));
        let (was, is) = (series.values[from], series.values[to]);
        let growth = is as i64 - was as i64;
        let end = numbers::in_unit(is, chart.info.unit);
        let gain = numbers::signed_in_unit(growth, chart.info.unit);
        let growth_colour = if growth > 0 { theme::GROWTH } else { theme::SHRINK };
        painter.text(egui::pos2(gained, rect.center().y), Align2::RIGHT_CENTER, gain, font.clone(), growth_colour);
        let end = painter.text(egui::pos2(now, rect.center().y), Align2::RIGHT_CENTER, end, font.clone(), theme::TEXT);
        let name = title(series, chart);
        let most = (((end.left() - rect.left() - 26.0) / 6.6).max(5.0)) as usize;
        let short = theme::shortened(&theme::brief(&name), most);
        painter.text(rect.left_center() + egui::vec2(17.0, 0.0), Align2::LEFT_CENTER, short, font.clone(), theme::TEXT);
        if let Some(node) = series.node {
            if response.hovered() {
                pointing.pointed = Some(node);
            }
            if response.clicked() {
                clicked = Some(node);
            }
            response.on_hover_ui(|ui| tooltip::node(ui, timeline, axis.now, node));
        }
    }
    let below = room.top() + 16.0 + ROW * chart.series.len().min(fit) as f32 + 4.0;
    let shares = matches!(chart.measure, ChartMeasure::Found(_)) || chart.measure.is_shared(timeline);
    let text = match (chart.overlaps, shares) {
        (true, _) => "Objects are in several of these groups: they add up to more.".to_owned(),
        (false, true) if chart.others > 0 => {
            format!("{} more. Groups share objects: these sizes do not add up.", count_text(chart.others as u64))
        }
        (false, true) => "Groups share objects: these sizes do not add up.".to_owned(),
        (false, false) => String::new(),
    };
    if !text.is_empty() && below + ROW <= room.bottom() {
        let text = theme::fitting(&painter, &text, &FontId::proportional(11.0), room.width());
        painter.text(egui::pos2(room.left(), below), Align2::LEFT_TOP, text, FontId::proportional(11.0), theme::QUIET);
    }
    clicked
}

fn title(series: &DrawnSeries, chart: &DrawnChart) -> String {
    match series.node {
        None if chart.others > 0 => format!("Other ({} groups)", chart.others),
        _ => series.name.clone(),
    }
}
