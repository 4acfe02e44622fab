//! The axis of heights beside the city: the amount for each height of a roof. It stands at the leftmost corner, or at the rightmost one
//! if its words have no room there. Where heights and areas have the same meaning it is the scale of both.

use crate::viewer::city::City;
use crate::viewer::panels::theme;
use bevy_egui::egui::{self, Align2, Color32, FontId, Painter, Pos2, Rect, Stroke};
use glam::{Mat4, Vec3};
use memory_city_views::city::CITY_SIZE;

/// A place in the world on the screen; `None` behind the eye.
fn project(clip_from_world: Mat4, at: Vec3, picture: Rect) -> Option<Pos2> {
    let clip = clip_from_world * at.extend(1.0);
    let ndc = clip.truncate() / clip.w;
    (clip.w > 0.05).then(|| {
        let x = picture.left() + (ndc.x * 0.5 + 0.5) * picture.width();
        Pos2::new(x, picture.top() + (0.5 - ndc.y * 0.5) * picture.height())
    })
}

/// Paints it over the picture in `picture`. Returns the rectangles of its words.
pub(super) fn paint(painter: &Painter, city: &City, clip_from_world: Mat4, picture: Rect) -> Vec<Rect> {
    let mut words = Vec::new();
    let axis = city.appearance.height_axis();
    let Some(highest) = axis.ticks.last() else { return words };
    let half = (CITY_SIZE / 2.0) as f32;
    let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
    let foot = |(x, z): &(f32, f32)| project(clip_from_world, Vec3::new(*x, 0.0, *z), picture).map(|at| at.x);
    let mut on_screen: Vec<(f32, (f32, f32))> = corners.iter().filter_map(|c| foot(c).map(|x| (x, *c))).collect();
    on_screen.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(left), Some(right)) = (on_screen.first(), on_screen.last()) else { return words };
    let galley = |text: &str| painter.layout_no_wrap(text.to_owned(), FontId::proportional(11.0), theme::TEXT);
    let wide = axis.ticks.iter().map(|tick| galley(&tick.text).size().x).fold(0.0, f32::max) + 18.0;
    let free = painter.clip_rect();
    // Perspective lets the top lean outwards: both ends need room. Where there is none, words stand before the city.
    let ends = |(x, z): (f32, f32)| -> Vec<f32> {
        let at = |height: f64| project(clip_from_world, Vec3::new(x, height as f32, z), picture);
        [0.0, highest.height].into_iter().filter_map(at).map(|at| at.x).collect()
    };
    let fits_left = ends(left.1).iter().all(|x| x - wide > free.left());
    let fits_right = ends(right.1).iter().all(|x| x + wide < free.right());
    let ((x, z), way) = match (fits_left, fits_right) {
        (true, _) => (left.1, -1.0),
        (_, true) => (right.1, 1.0),
        _ => (right.1, -1.0),
    };
    // Heights count from the ground that most buildings stand on: that of the innermost district.
    let ground = city.highest_ground;
    let at = |height: f64| project(clip_from_world, Vec3::new(x, (ground + height) as f32, z), picture);
    let (Some(low), Some(high)) = (at(0.0), at(highest.height)) else { return words };
    // Seen from above an axis would be a point.
    if low.distance(high) < 40.0 {
        return words;
    }
    let line = |a: Pos2, b: Pos2, width: f32| {
        painter.line_segment([a, b], Stroke::new(width + 2.0, Color32::from_black_alpha(120)));
        painter.line_segment([a, b], Stroke::new(width, theme::TEXT));
    };
    line(low, high, 1.5);
    let mut last = f32::INFINITY;
    for tick in &axis.ticks {
        let Some(at) = at(tick.height) else { continue };
        line(at, at + egui::vec2(6.0 * way, 0.0), 1.0);
        let galley = galley(&tick.text);
        let anchor = if way < 0.0 { Align2::RIGHT_CENTER } else { Align2::LEFT_CENTER };
        let plate = anchor.anchor_size(at + egui::vec2(9.0 * way, 0.0), galley.size() + egui::vec2(6.0, 2.0));
        if plate.bottom() > last {
            continue;
        }
        last = plate.top();
        painter.rect_filled(plate, 3.0, theme::PANEL);
        painter.galley(plate.min + egui::vec2(3.0, 1.0), galley, theme::TEXT);
        words.push(plate);
    }
    words
}
