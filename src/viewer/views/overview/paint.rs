//! Painting of the overview's charts and of the numbers beside them.

use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Align2, Color32, FontId, Mesh, Pos2, Rect, RichText, Shape, Stroke};
use memory_city_views::overview::{ChartPicture, ChartTint, RunPicture};

const GRID: Color32 = Color32::from_rgb(38, 48, 68);
/// The chosen window, as in all charts.
const CHOSEN: Color32 = Color32::from_rgb(255, 230, 60);

/// The colour of a line or bar.
fn tint(tint: ChartTint) -> Color32 {
    match tint {
        ChartTint::Memory => theme::SERIES[0],
        ChartTint::Eden => theme::SERIES[2],
        ChartTint::Survivor => theme::SERIES[4],
        ChartTint::Old => theme::SERIES[0],
        ChartTint::Unknown => theme::SERIES_REST,
        ChartTint::Collecting => theme::SERIES[1],
        ChartTint::Full => theme::ERROR,
        ChartTint::Allocated => theme::SERIES[3],
        ChartTint::Survived => theme::SERIES[0],
        ChartTint::SurvivedNew => theme::SERIES[4],
    }
}

/// Draws all of it; `now` is where the shown time is.
pub fn picture(ui: &mut egui::Ui, room: Rect, picture: &RunPicture, now: f64) {
    let painter = ui.painter().with_clip_rect(room);
    for (number, chart) in picture.charts.iter().enumerate() {
        one(&painter, picture, chart, now);
        if number + 1 == picture.charts.len() {
            let plot = area(chart);
            for tick in &picture.ticks {
                let at = Pos2::new(tick.at as f32, plot.bottom() + 5.0);
                painter.text(at, Align2::CENTER_TOP, &tick.text, FontId::proportional(11.0), theme::QUIET);
            }
        }
    }
    let beside = Rect::from_min_size(
        Pos2::new(picture.beside.x as f32, picture.beside.y as f32),
        egui::vec2(picture.beside.w as f32, picture.beside.h as f32),
    );
    ui.scope_builder(egui::UiBuilder::new().max_rect(beside), |ui| numbers(ui, picture));
}

fn area(chart: &ChartPicture) -> Rect {
    let r = chart.plot;
    Rect::from_min_size(Pos2::new(r.x as f32, r.y as f32), egui::vec2(r.w as f32, r.h as f32))
}

fn point(&(x, y): &(f64, f64)) -> Pos2 {
    Pos2::new(x as f32, y as f32)
}

fn one(painter: &egui::Painter, picture: &RunPicture, chart: &ChartPicture, now: f64) {
    let plot = area(chart);
    let font = FontId::proportional(11.0);
    let title = FontId::proportional(13.0);
    let top = plot.left_top() - egui::vec2(0.0, 5.0);
    let mut x = painter.text(top, Align2::LEFT_BOTTOM, &chart.title, title, theme::TEXT).right() + 18.0;
    if chart.lines.len() > 1 {
        for line in &chart.lines {
            let swatch = Rect::from_min_size(Pos2::new(x, top.y - 11.0), egui::vec2(9.0, 9.0));
            painter.rect_filled(swatch, 2.0, tint(line.tint));
            let at = Pos2::new(x + 13.0, top.y);
            x = painter.text(at, Align2::LEFT_BOTTOM, &line.name, font.clone(), theme::QUIET).right() + 12.0;
        }
    }
    for tick in &chart.ticks {
        painter.hline(plot.x_range(), tick.at as f32, Stroke::new(1.0, GRID));
        let at = Pos2::new(plot.left() - 6.0, tick.at as f32);
        painter.text(at, Align2::RIGHT_CENTER, &tick.text, font.clone(), theme::QUIET);
    }
    let inside = painter.with_clip_rect(plot.expand(1.0).intersect(painter.clip_rect()));
    for found in picture.marks.iter().filter(|found| found.is_suspicious) {
        let colour = theme::suspect(found.kind);
        let range =
            Rect::from_x_y_ranges(found.x.0 as f32..=(found.x.1 as f32).max(found.x.0 as f32 + 2.0), plot.y_range());
        inside.rect_filled(range, 0.0, colour.gamma_multiply(0.14));
        inside.hline(range.x_range(), plot.top() + 1.5, Stroke::new(3.0, colour));
    }
    for line in &chart.lines {
        let colour = tint(line.tint);
        if let Some(base) = &line.base {
            inside.add(Shape::mesh(between(&line.points, base, colour.gamma_multiply(0.45))));
        }
        inside.add(Shape::line(line.points.iter().map(point).collect(), Stroke::new(1.4, colour)));
    }
    for (rect, colour) in told_apart(chart) {
        inside.rect_filled(rect, 0.0, colour);
    }
    if let Some((from, to)) = picture.chosen {
        let window = Rect::from_x_y_ranges(from as f32..=to as f32, plot.y_range());
        inside.rect_filled(window, 0.0, CHOSEN.gamma_multiply(0.09));
        for edge in [window.left(), window.right()] {
            inside.vline(edge, plot.y_range(), Stroke::new(1.5, CHOSEN));
        }
    }
    inside.vline(now as f32, plot.y_range(), Stroke::new(1.0, Color32::WHITE));
    if let Some(why) = &chart.empty {
        painter.text(plot.center(), Align2::CENTER_CENTER, why, FontId::proportional(12.0), theme::QUIET);
    }
}

/// The bars that are seen: of those in one column of pixels the tallest of each colour.
fn told_apart(chart: &ChartPicture) -> Vec<(Rect, Color32)> {
    let mut seen: Vec<(Rect, Color32)> = Vec::new();
    let mut column = (i64::MIN, 0);
    for bar in &chart.bars {
        let r = bar.rect;
        let rect = Rect::from_min_size(Pos2::new(r.x as f32, r.y as f32), egui::vec2(r.w as f32, r.h as f32));
        if column.0 != r.x.floor() as i64 {
            column = (r.x.floor() as i64, seen.len());
        }
        let colour = tint(bar.tint);
        match seen[column.1..].iter_mut().find(|(_, of)| *of == colour) {
            Some((tallest, _)) => *tallest = tallest.union(rect),
            None => seen.push((rect, colour)),
        }
    }
    seen
}

/// The area between two lines, whose points may be at different places: a strip over the places of both.
fn between(above: &[(f64, f64)], below: &[(f64, f64)], colour: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    if above.is_empty() || below.is_empty() {
        return mesh;
    }
    // Where a line is between the last point passed and the next one.
    let at = |line: &[(f64, f64)], next: usize, x: f64| match (next.checked_sub(1).map(|i| line[i]), line.get(next)) {
        (Some((x0, y0)), Some(&(x1, y1))) if x1 > x0 => y0 + (y1 - y0) * ((x - x0) / (x1 - x0)).clamp(0.0, 1.0),
        (_, Some(&(_, y))) | (Some((_, y)), None) => y,
        (None, None) => 0.0,
    };
    let (mut a, mut b) = (0, 0);
    while a < above.len() || b < below.len() {
        let first = |line: &[(f64, f64)], next: usize| line.get(next).map_or(f64::INFINITY, |p| p.0);
        let (x, high, low) = if first(above, a) <= first(below, b) {
            let (x, y) = above[a];
            a += 1;
            (x, y, at(below, b, x))
        } else {
            let (x, y) = below[b];
            b += 1;
            (x, at(above, a, x), y)
        };
        mesh.colored_vertex(point(&(x, high)), colour);
        mesh.colored_vertex(point(&(x, low)), colour);
    }
    for step in 0..(mesh.vertices.len() as u32 / 2).saturating_sub(1) {
        let a = 2 * step;
        mesh.add_triangle(a, a + 1, a + 2);
        mesh.add_triangle(a + 1, a + 2, a + 3);
    }
    mesh
}

fn numbers(ui: &mut egui::Ui, picture: &RunPicture) {
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.label(RichText::new(&picture.heading).strong());
        ui.add_space(2.0);
        let columns = if ui.available_width() > 560.0 { 4 } else { 2 };
        egui::Grid::new("numbers").num_columns(columns).spacing([16.0, 5.0]).show(ui, |ui| {
            for (place, number) in picture.statistics.iter().enumerate() {
                ui.label(RichText::new(&number.name).color(theme::QUIET)).on_hover_text(&number.explanation);
                ui.label(&number.text).on_hover_text(&number.explanation);
                if (place + 1) % (columns / 2) == 0 {
                    ui.end_row();
                }
            }
        });
        if !picture.threads.is_empty() {
            ui.add_space(10.0);
            ui.label(RichText::new("Threads, by what they allocated").strong());
            for (name, text, share) in &picture.threads {
                let (rect, response) =
                    ui.allocate_exact_size(egui::vec2(ui.available_width(), 18.0), egui::Sense::hover());
                let filled = rect.with_max_x(rect.left() + rect.width() * *share as f32);
                ui.painter().rect_filled(filled, 2.0, theme::SERIES[3].gamma_multiply(0.35));
                let font = FontId::proportional(12.0);
                let said = ui.painter().text(
                    rect.right_center() - egui::vec2(4.0, 0.0),
                    Align2::RIGHT_CENTER,
                    text,
                    font.clone(),
                    theme::QUIET,
                );
                let room = said.left() - rect.left() - 12.0;
                let short = theme::fitting(ui.painter(), name, &font, room);
                ui.painter().text(
                    rect.left_center() + egui::vec2(4.0, 0.0),
                    Align2::LEFT_CENTER,
                    short,
                    font,
                    theme::TEXT,
                );
                response.on_hover_text(name);
            }
            if picture.threads_left_out > 0 {
                ui.label(RichText::new(format!("and {} more", picture.threads_left_out)).color(theme::QUIET));
            }
        }
        ui.add_space(10.0);
        for note in &picture.notes {
            ui.label(RichText::new(note).color(theme::QUIET).size(11.5));
        }
        let quiet: Vec<_> = picture.marks.iter().filter(|mark| !mark.is_suspicious).collect();
        if !quiet.is_empty() {
            ui.add_space(6.0);
            ui.label(RichText::new("Strongest that are not suspicious").color(theme::QUIET).size(11.5));
            for mark in quiet {
                ui.label(RichText::new(format!("{}: {}", mark.kind.title(), mark.text)).color(theme::QUIET).size(11.5));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::between;
    use bevy_egui::egui::Color32;

    #[test]
    fn areas_between_lines_with_other_points_are_whole() {
        let above = [(0.0, 1.0), (4.0, 1.0), (10.0, 3.0)];
        let below = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (10.0, 0.0)];
        let mesh = between(&above, &below, Color32::WHITE);
        let area: f32 = mesh
            .indices
            .chunks(3)
            .map(|t| {
                let [a, b, c] = [t[0], t[1], t[2]].map(|i| mesh.vertices[i as usize].pos);
                ((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)).abs() / 2.0
            })
            .sum();
        // 4 wide and 1 high, then from 1 to 3 over 6.
        assert!((area - (4.0 + 12.0)).abs() < 1e-3, "{area}");
        // Nothing reaches out of a hollow.
        let hollow = [(0.0, 5.0), (1.0, 1.0), (9.0, 1.0), (10.0, 5.0)];
        let mesh = between(&hollow, &[(0.0, 0.0), (10.0, 0.0)], Color32::WHITE);
        let middle = mesh.vertices.iter().filter(|v| v.pos.x >= 1.0 && v.pos.x <= 9.0);
        assert!(middle.clone().count() >= 4 && middle.clone().all(|v| v.pos.y <= 1.0));
        assert!(between(&[], &below, Color32::WHITE).indices.is_empty());
    }
}
