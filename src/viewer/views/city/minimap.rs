//! The minimap: the whole city from above, small, in a corner of its pane, while only a part of it is in view. It marks the visible part,
//! and a click moves the camera.

use crate::viewer::city::{CameraRig, City};
use crate::viewer::panels::theme;
use crate::viewer::selection::Selection;
use bevy_egui::egui::{self, Color32, Pos2, Rect, Sense, Shape, Stroke, StrokeKind};
use glam::Vec2;
use memory_city_views::city::{self, CITY_SIZE};

/// Side of the map, points.
const SIDE: f32 = 128.0;
/// Panes that are smaller have no room for it.
const LEAST_PANE: f32 = 360.0;
/// How far the view is drawn where it ends at no ground.
const FARTHEST: f32 = 4.0 * CITY_SIZE as f32;

/// Width that it takes of a pane, with the space beside it; 0 if it is hidden.
pub fn room(pane: Rect, rig: &CameraRig) -> f32 {
    if rig.shows_all() || pane.width().min(pane.height()) < LEAST_PANE { 0.0 } else { SIDE + 3.0 * theme::GAP }
}

/// Draws it; a click or drag has that place of the city in the middle of the picture.
pub fn show(ctx: &egui::Context, pane: Rect, city: &mut City, time: usize, rig: &mut CameraRig, selection: &Selection) {
    if room(pane, rig) == 0.0 {
        return;
    }
    let corner = pane.right_bottom() - egui::vec2(SIDE + 2.0 * theme::GAP, SIDE + 2.0 * theme::GAP);
    let area = egui::Area::new("minimap".into()).order(egui::Order::Middle).fixed_pos(corner).constrain_to(pane);
    area.show(ctx, |ui| {
        let (response, painter) = ui.allocate_painter(egui::vec2(SIDE, SIDE), Sense::click_and_drag());
        let map = response.rect;
        if tracing::enabled!(tracing::Level::DEBUG) {
            let told = ui.id().with("told");
            if ui.data_mut(|data| data.get_temp::<Rect>(told)) != Some(map) {
                ui.data_mut(|data| data.insert_temp(told, map));
                tracing::debug!("minimap: at {:.0},{:.0}, {SIDE} wide", map.center().x, map.center().y);
            }
        }
        painter.rect(map, 4.0, theme::SOLID, Stroke::new(1.0, theme::QUIET), StrokeKind::Outside);
        let painter = painter.with_clip_rect(map);
        let at = |x: f32, z: f32| map.center() + egui::vec2(x, z) * (SIDE / CITY_SIZE as f32 * 0.96);
        let on_map = |cell: &city::Rect| {
            let low = at(cell.x as f32, cell.y as f32);
            Rect::from_min_max(low, at((cell.x + cell.w) as f32, (cell.y + cell.h) as f32))
        };
        let levels = city.plan.districts.iter().map(|d| d.level).max().unwrap_or(0) + 1;
        let root = city.plan.districts.first().map(|d| d.node);
        for node in root.into_iter().chain(city.named_districts.iter().copied()) {
            let Some(district) = city.plan.district_of(node).map(|d| &city.plan.districts[d]) else { continue };
            painter.rect_filled(
                on_map(&district.cell),
                0.0,
                theme::colour(city::district_colour(district.level, levels)),
            );
        }
        // In the colours that they have in the city: where nothing grows nothing is red here either.
        for (cell, colour) in ranked(city, time) {
            painter.rect_filled(on_map(&cell), 0.0, colour);
        }
        for node in selection.nodes().take(8) {
            if let Some(plot) = city.plan.plot_of(node) {
                painter.rect_filled(on_map(&city.plan.plots[plot].cell).expand(1.5), 0.0, theme::ACCENT);
            }
        }
        let seen: Vec<Pos2> = footprint(rig).into_iter().map(|p| at(p.x, p.y)).collect();
        let stroke = Stroke::new(1.5, Color32::WHITE);
        painter.add(Shape::convex_polygon(seen, Color32::from_white_alpha(26), stroke));
        if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.clicked() || response.dragged()) {
            let place = (pointer - map.center()) / (SIDE / CITY_SIZE as f32 * 0.96);
            let half = CITY_SIZE as f32 / 2.0;
            rig.centre_on(place.x.clamp(-half, half), place.y.clamp(-half, half));
        }
        response.on_hover_text("The whole city: click to look there");
    });
}

/// The buildings that are ranked first and there at a time, with their colours.
fn ranked(city: &mut City, time: usize) -> Vec<(city::Rect, Color32)> {
    let states = city.states(time.min(city.times().saturating_sub(1)));
    let gradient = &city.appearance.legend().gradient;
    let plots = city.growing.iter().filter_map(|&node| city.plan.plot_of(node));
    let there = plots.map(|plot| (plot, states.of(plot))).filter(|(_, state)| state.side > 0);
    there.map(|(plot, state)| (city.plan.plots[plot].cell, theme::colour(gradient.at(state.colour())))).collect()
}

/// The ground that is in the picture, as x and z of its corners.
fn footprint(rig: &CameraRig) -> [Vec2; 4] {
    let (corner, size) = rig.area();
    [Vec2::ZERO, Vec2::new(size.x, 0.0), size, Vec2::new(0.0, size.y)].map(|at| {
        let (eye, towards) = rig.ray(corner + at);
        let level = Vec2::new(towards.x, towards.z);
        let reach = if towards.y < -1e-3 { eye.y / -towards.y } else { f32::INFINITY };
        let most = FARTHEST / level.length().max(1e-6);
        Vec2::new(eye.x, eye.z) + level * reach.min(most)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footprint_of_the_home_view_holds_the_city() {
        let rig = CameraRig::default();
        let seen = footprint(&rig);
        let half = CITY_SIZE as f32 / 2.0;
        // The far edge lies behind the city, the near one before it.
        assert!(seen[0].y < -half && seen[1].y < -half && seen[2].y > half && seen[3].y > half, "{seen:?}");
        assert!(seen[0].x < -half && seen[1].x > half);
    }
}
