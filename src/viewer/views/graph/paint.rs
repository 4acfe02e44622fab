//! Painting of the graph: boxes and arrows.

use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Align2, Color32, FontId, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind};
use memory_city_views::graph::{BoxShape, GraphFit, GraphItem, GraphPicture, GraphTint, LinkShape};

/// How a picture is drawn.
pub struct GraphLook {
    /// Place in the window.
    pub fit: GraphFit,
    /// The box that steps begin with.
    pub chosen: Option<usize>,
    /// The box under the mouse.
    pub over: Option<GraphItem>,
    /// The arrow under the mouse.
    pub link: Option<usize>,
}

/// The colour of a box.
pub fn tint(tint: GraphTint) -> Color32 {
    match tint {
        GraphTint::Selected => Color32::from_rgb(28, 84, 168),
        GraphTint::Group => Color32::from_rgb(42, 54, 80),
        GraphTint::Other => Color32::from_rgb(56, 60, 72),
        GraphTint::NoGroup => Color32::from_rgb(44, 40, 48),
        GraphTint::StaticRoot => Color32::from_rgb(112, 84, 8),
        GraphTint::ThreadRoot => Color32::from_rgb(18, 92, 84),
        GraphTint::OtherRoot => Color32::from_rgb(92, 62, 92),
    }
}

/// Text smaller than this is left out, points.
const LEAST_TEXT: f32 = 6.5;

/// Draws all of it.
pub fn picture(painter: &egui::Painter, picture: &GraphPicture, look: &GraphLook) {
    let centre = look.over.or(look.chosen.map(GraphItem::Box));
    let touches = |link: &LinkShape| centre.is_some_and(|item| link.from == item || link.to == item);
    // What belongs to the box in question comes last, on top.
    let (behind, before): (Vec<_>, Vec<_>) =
        picture.links.iter().enumerate().partition(|(at, link)| !touches(link) && look.link != Some(*at));
    for (at, link) in behind.into_iter().chain(before) {
        arrow(painter, link, look, look.link == Some(at), centre);
    }
    let items = (0..picture.boxes.len()).map(GraphItem::Box).chain((0..picture.roots.len()).map(GraphItem::Roots));
    for item in items {
        if let Some(shape) = picture.shape(item) {
            let chosen = matches!(item, GraphItem::Box(at) if look.chosen == Some(at));
            group(painter, shape, look, chosen, look.over == Some(item));
        }
    }
}

fn there(fit: &GraphFit, x: f64, y: f64) -> Pos2 {
    let (x, y) = fit.there(x, y);
    Pos2::new(x as f32, y as f32)
}

fn group(painter: &egui::Painter, shape: &BoxShape, look: &GraphLook, chosen: bool, over: bool) {
    let r = shape.rect;
    let rect = Rect::from_min_max(there(&look.fit, r.x, r.y), there(&look.fit, r.x + r.w, r.y + r.h));
    let stroke = match (chosen, over) {
        (true, _) => Stroke::new(2.0, Color32::WHITE),
        (_, true) => Stroke::new(1.5, theme::ACCENT),
        _ => Stroke::new(1.0, Color32::from_white_alpha(40)),
    };
    let scale = look.fit.scale as f32;
    painter.rect(rect, 5.0 * scale, tint(shape.tint), stroke, StrokeKind::Inside);
    let size = 13.0 * scale;
    if size < LEAST_TEXT {
        return;
    }
    let font = FontId::proportional(size);
    let room = rect.width() - 14.0 * scale;
    let title = theme::fitting(painter, &theme::brief(&shape.title), &font, room);
    let at = rect.left_center() + egui::vec2(7.0 * scale, 0.0);
    let below = 1.0 * scale;
    painter.text(at - egui::vec2(0.0, below), Align2::LEFT_BOTTOM, title, font, theme::TEXT);
    let small = FontId::proportional(11.0 * scale);
    let line = theme::fitting(painter, &shape.line, &small, room);
    painter.text(at + egui::vec2(0.0, below), Align2::LEFT_TOP, line, small, Color32::from_rgb(190, 200, 218));
}

fn arrow(painter: &egui::Painter, link: &LinkShape, look: &GraphLook, over: bool, centre: Option<GraphItem>) {
    let colour = match centre {
        _ if over => Color32::WHITE,
        Some(item) if item == link.to => theme::INCOMING,
        Some(item) if item == link.from => theme::OUTGOING,
        _ => Color32::from_rgb(96, 112, 142),
    };
    let touches = centre.is_some_and(|item| link.from == item || link.to == item);
    let strength = match (over || touches, link.is_dim, centre.is_some()) {
        (true, ..) => 0.85,
        (_, true, _) => 0.16,
        (_, _, true) => 0.35,
        _ => 0.65,
    };
    let colour = colour.gamma_multiply(strength);
    painter.add(Shape::mesh(ribbon(link, &look.fit, colour)));
    head(painter, link, &look.fit, colour);
    let size = 11.0 * look.fit.scale as f32;
    if size < LEAST_TEXT || link.is_dim && !over || !(over || touches || centre.is_none()) {
        return;
    }
    if let Some(middle) = link.path.get(link.path.len() / 2) {
        let at = there(&look.fit, middle.x, middle.y);
        let galley = painter.layout_no_wrap(link.label.clone(), FontId::proportional(size), theme::TEXT);
        let rect = Rect::from_center_size(at, galley.size() + egui::vec2(6.0, 1.0));
        painter.rect_filled(rect, 3.0, Color32::from_rgba_unmultiplied(13, 18, 28, 205));
        painter.galley(rect.center() - galley.size() / 2.0, galley, theme::TEXT);
    }
}

/// The path of an arrow as an area, with its width at each point.
fn ribbon(link: &LinkShape, fit: &GraphFit, colour: Color32) -> Mesh {
    let points: Vec<(Pos2, f32)> =
        link.path.iter().map(|p| (there(fit, p.x, p.y), (p.width * fit.scale) as f32)).collect();
    let mut mesh = Mesh::default();
    for (at, &(point, width)) in points.iter().enumerate() {
        let before = points[at.saturating_sub(1)].0;
        let after = points[(at + 1).min(points.len() - 1)].0;
        let aside = (after - before).normalized().rot90() * (width.max(1.0) / 2.0);
        mesh.colored_vertex(point - aside, colour);
        mesh.colored_vertex(point + aside, colour);
    }
    for step in 0..points.len().saturating_sub(1) as u32 {
        let a = 2 * step;
        mesh.add_triangle(a, a + 1, a + 2);
        mesh.add_triangle(a + 1, a + 2, a + 3);
    }
    mesh
}

/// The head of an arrow, at its target.
fn head(painter: &egui::Painter, link: &LinkShape, fit: &GraphFit, colour: Color32) {
    let [.., before, end] = &link.path[..] else { return };
    let (from, to) = (there(fit, before.x, before.y), there(fit, end.x, end.y));
    let along = (to - from).normalized();
    let half = ((end.width * fit.scale) as f32 / 2.0).max(1.0) + 3.5 * fit.scale as f32;
    let aside = along.rot90() * half;
    let back = to - along * (half * 1.4);
    painter.add(Shape::convex_polygon(vec![to, back + aside, back - aside], colour, Stroke::NONE));
}
