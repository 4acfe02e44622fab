//! Painting of a nested picture into a room, and the search for the cell under the mouse pointer.

use super::bar::{amount, part_name};
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Color32, FontId, Mesh, Pos2, Shape, Stroke, epaint::PathShape};
use memory_city_analysis::timeline::{Metric, NodeId, Timeline};
use memory_city_views::city;
use memory_city_views::nested::{NestedCell, NestedPart, NestedPicture, NestedShape, NestedTarget, Outline};

/// How a picture is painted.
pub struct NestedLook<'a> {
    pub timeline: &'a Timeline,
    pub metric: Metric,
    pub shape: NestedShape,
    /// Share of the room that is used.
    pub scale: f64,
    /// Levels, the first included.
    pub rings: u32,
    /// Whether cells have names.
    pub named: bool,
    /// The group that is shown elsewhere: all that is not in it is pale.
    pub branch_of: Option<NodeId>,
    pub selected: Vec<NodeId>,
    /// The group under the mouse, here or elsewhere.
    pub pointed: Option<NodeId>,
}

const ROOT: Color32 = Color32::from_rgb(58, 72, 98);
const ITSELF: Color32 = Color32::from_rgb(40, 49, 68);
const INK: Color32 = Color32::from_rgb(16, 20, 30);
/// Between cells.
const LINE: Color32 = Color32::from_rgb(13, 18, 28);

/// Least area of a painted cell, square points: smaller ones would be invisible.
const LEAST: f32 = 0.3;

/// Paints a picture; the cell under the mouse pointer.
pub fn picture(
    ui: &mut egui::Ui,
    room: egui::Rect,
    name: &str,
    picture: &NestedPicture,
    look: &NestedLook<'_>,
) -> Option<usize> {
    let response = ui.interact(room, ui.id().with(name), egui::Sense::click());
    let target = target(room, look);
    let pointed = response.hover_pos().and_then(|at| look.shape.cell_at(&target, picture, at.x.into(), at.y.into()));
    paint(ui.painter(), &target, picture, look, pointed);
    if pointed.is_some() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
    }
    pointed
}

fn target(room: egui::Rect, look: &NestedLook<'_>) -> NestedTarget {
    let room = room.shrink(4.0);
    let room = city::Rect::new(room.left().into(), room.top().into(), room.width().into(), room.height().into());
    NestedTarget { room, rings: look.rings, scale: look.scale }
}

/// The same without a mouse.
pub fn still(painter: &egui::Painter, room: egui::Rect, picture: &NestedPicture, look: &NestedLook<'_>) {
    paint(painter, &target(room, look), picture, look, None);
}

fn paint(
    painter: &egui::Painter,
    target: &NestedTarget,
    picture: &NestedPicture,
    look: &NestedLook<'_>,
    pointed: Option<usize>,
) {
    let branch = look.branch_of.and_then(|node| picture.cell_of(node));
    let lit: Option<NodeId> = look.pointed;
    let mut over = Vec::new();
    let mut names = Vec::new();
    for (at, cell) in picture.cells.iter().enumerate() {
        let Some(outline) = look.shape.outline(target, cell) else { continue };
        let (w, h) = outline.room();
        if (w * h) as f32 <= LEAST {
            continue;
        }
        let mut colour = colour(cell, at);
        let outside = branch.is_some_and(|branch| !picture.lies_in(at, branch));
        if outside {
            colour = colour.gamma_multiply(0.28);
        }
        let group = match cell.part {
            NestedPart::Group(node) => Some(node),
            _ => None,
        };
        let is_pointed = pointed == Some(at) || group.is_some() && group == lit;
        if is_pointed {
            colour = theme::mixed(colour, Color32::WHITE, 0.35);
        }
        fill(painter, &outline, colour);
        if group.is_some_and(|node| look.selected.contains(&node)) {
            over.push((outline, Stroke::new(2.5, theme::ACCENT)));
        } else if is_pointed {
            over.push((outline, Stroke::new(1.5, Color32::WHITE)));
        } else if branch == Some(at) && at > 0 {
            over.push((outline, Stroke::new(2.0, Color32::WHITE)));
        }
        if look.named {
            names.push((at, outline));
        }
    }
    for (outline, stroke) in over {
        painter.add(Shape::Path(PathShape::closed_line(points(&outline), stroke)));
    }
    for (at, outline) in names {
        let cell = &picture.cells[at];
        let ink = if matches!(cell.part, NestedPart::Itself(_)) || at == 0 { theme::TEXT } else { INK };
        label(painter, &outline, cell, look, ink);
    }
}

fn colour(cell: &NestedCell, at: usize) -> Color32 {
    match cell.part {
        _ if at == 0 => ROOT,
        NestedPart::Itself(_) => ITSELF,
        NestedPart::Other(_) if cell.level == 1 => theme::SERIES_REST,
        part => {
            let branch = theme::SERIES[cell.branch as usize % theme::SERIES.len()];
            let deeper = 0.13 * (cell.level.saturating_sub(1)).min(4) as f32;
            let base = theme::mixed(branch, Color32::WHITE, deeper);
            if matches!(part, NestedPart::Other(_)) { theme::mixed(base, theme::SERIES_REST, 0.6) } else { base }
        }
    }
}

fn points(outline: &Outline) -> Vec<Pos2> {
    outline.points(0.2).into_iter().map(|(x, y)| Pos2::new(x as f32, y as f32)).collect()
}

fn fill(painter: &egui::Painter, outline: &Outline, colour: Color32) {
    let points = points(outline);
    match outline {
        Outline::Box(r) => {
            let rect = egui::Rect::from_min_size(Pos2::new(r.x as f32, r.y as f32), egui::vec2(r.w as f32, r.h as f32));
            painter.rect_filled(rect, 0.0, colour);
        }
        Outline::Ring { inner, .. } if *inner > 0.0 => {
            // A band: the arcs are not convex, so it is painted as the strip between them.
            let mut mesh = Mesh::default();
            let n = points.len() / 2;
            for step in 0..n {
                mesh.colored_vertex(points[step], colour);
                mesh.colored_vertex(points[2 * n - 1 - step], colour);
            }
            for step in 0..n.saturating_sub(1) as u32 {
                let a = 2 * step;
                mesh.add_triangle(a, a + 1, a + 2);
                mesh.add_triangle(a + 1, a + 2, a + 3);
            }
            painter.add(Shape::mesh(mesh));
        }
        Outline::Ring { .. } => {
            painter.add(Shape::convex_polygon(points.clone(), colour, Stroke::NONE));
        }
    }
    // Its edge smooths what the mesh leaves jagged.
    painter.add(Shape::Path(PathShape::closed_line(points, Stroke::new(1.0, LINE))));
}

/// Name and share, as much of them as there is room for.
fn label(painter: &egui::Painter, outline: &Outline, cell: &NestedCell, look: &NestedLook<'_>, ink: Color32) {
    let (x, y) = outline.middle();
    let fits = |size: egui::Vec2| {
        let (w, h) = (f64::from(size.x) / 2.0 + 2.0, f64::from(size.y) / 2.0 + 1.0);
        [(-w, -h), (w, -h), (-w, h), (w, h), (-w, 0.0), (w, 0.0)]
            .iter()
            .all(|(dx, dy)| outline.contains(x + dx, y + dy))
    };
    // What is smaller than one line of few letters is not tried.
    let (width, height) = outline.room();
    if width.max(height) < 24.0 || width.min(height) < 11.0 {
        return;
    }
    let name = part_name(look.timeline, cell.part);
    let value = amount(look.timeline, cell.value, look.metric);
    let font = FontId::proportional(12.0);
    for most in [36, 24, 18, 13, 9] {
        let short = theme::shortened(&name, most);
        for lines in [vec![short.clone(), value.clone()], vec![short]] {
            let galleys: Vec<_> =
                lines.into_iter().map(|line| painter.layout_no_wrap(line, font.clone(), ink)).collect();
            let width = galleys.iter().map(|galley| galley.size().x).fold(0.0, f32::max);
            let height: f32 = galleys.iter().map(|galley| galley.size().y).sum();
            if fits(egui::vec2(width, height)) {
                let mut top = y as f32 - height / 2.0;
                for galley in galleys {
                    let size = galley.size();
                    painter.galley(Pos2::new(x as f32 - size.x / 2.0, top), galley, ink);
                    top += size.y;
                }
                return;
            }
        }
    }
}
