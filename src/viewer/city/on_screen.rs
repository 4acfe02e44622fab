//! What of the city is on screen: its pane, the times beside each other, the references and the routes. The city's view writes it, others
//! read it.

use super::rig::CameraRig;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::egui::{self, Rect};
use memory_city_views::city::{Cone, ConeWay, Routes};

/// Rectangle of the city, and what is behind it.
#[derive(Resource, Default)]
pub struct CityPane {
    /// In the window, points; `None` while it is not drawn at all (behind another tab).
    pub rect: Option<egui::Rect>,
    /// One colour behind the city, linear light, in place of sky and ground, and nothing beside it.
    pub(in crate::viewer) backdrop: Option<[f32; 3]>,
}

/// Whether the city can be seen.
#[derive(SystemParam)]
pub struct CitySight<'w> {
    pane: Res<'w, CityPane>,
    rig: Res<'w, CameraRig>,
}

impl CitySight<'_> {
    /// Whether it is drawn, and some of it lies before the camera.
    pub fn any(&self) -> bool {
        self.pane.rect.is_some_and(|rect| rect.is_positive()) && self.rig.sees_city()
    }
}

/// The city is not drawn, unless it is asked for again in this frame.
pub fn hide(world: &mut World) {
    world.resource_mut::<CityPane>().rect = None;
    world.resource_mut::<Multiples>().0.clear();
}

/// Sets the background of the city: one colour, or sky and ground.
pub fn set_backdrop(world: &mut World, colour: Option<[f32; 3]>) {
    world.resource_mut::<CityPane>().backdrop = colour;
}

/// Gives the picture the whole window or image, with nothing over it.
pub fn fill(world: &mut World, ctx: &egui::Context) {
    let all = ctx.content_rect();
    world.resource_mut::<CityPane>().rect = Some(all);
    world.resource_mut::<CameraRig>().set_pane(all, all);
}

/// The times beside each other. Empty while one is shown alone.
#[derive(Resource, Default)]
pub struct Multiples(pub Vec<TimeCell>);

/// One of several times beside each other.
#[derive(Clone, Copy, Debug)]
pub struct TimeCell {
    /// The point in time.
    pub time: usize,
    /// Rectangle in the window, points.
    pub rect: Rect,
    /// Its title in it.
    pub(in crate::viewer) title: Rect,
}

/// A place in the city's picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CitySpot {
    /// Position in logical pixels of the window, in the rig's picture: of several times beside each other, that is the first.
    pub at: Vec2,
    /// Index among several times.
    pub time: Option<usize>,
}

impl Multiples {
    /// The spot at a point of the window in the city's pane; `None` between the times and on their titles.
    pub(in crate::viewer) fn spot(&self, at: Vec2) -> Option<CitySpot> {
        let Some(first) = self.0.first() else { return Some(CitySpot { at, time: None }) };
        let point = egui::pos2(at.x, at.y);
        let cell = self.0.iter().find(|cell| cell.rect.contains(point) && !cell.title.contains(point))?;
        let moved = point - (cell.rect.min - first.rect.min);
        Some(CitySpot { at: Vec2::new(moved.x, moved.y), time: Some(cell.time) })
    }
}

/// How many cones there are, and how many more there would be.
#[derive(Resource, Default, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConeCount {
    /// Drawn.
    pub drawn: usize,
    /// Left out because they are the thinnest.
    pub left_out: usize,
    /// Single references of all, and of those that are left out.
    pub references: (u64, u64),
    /// Groups that take part and have no building in this city, and single references from and to them.
    pub elsewhere: (usize, u64),
}

/// The references on screen, with their paths.
#[derive(Resource, Default)]
pub struct ShownCones {
    /// Drawn cones.
    pub cones: Vec<Cone>,
    /// The way of each.
    pub ways: Vec<ConeWay>,
    /// The one under the mouse.
    pub hovered: Option<usize>,
    /// Of which point in time they are.
    pub time: Option<usize>,
    /// The layout in which they run.
    pub layout: u64,
}

/// The routes on screen.
#[derive(Resource, Default)]
pub struct ShownRoutes(pub Option<Routes>);

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_egui::egui::Pos2;

    #[test]
    fn a_place_in_one_of_the_times_is_one_in_the_first() {
        let cell = |time: usize, left: f32| {
            let rect = Rect::from_min_size(Pos2::new(left, 50.0), egui::vec2(100.0, 80.0));
            TimeCell { time, rect, title: rect.with_max_x(left + 40.0).with_max_y(70.0) }
        };
        let beside = Multiples(vec![cell(3, 10.0), cell(8, 110.0)]);
        let at = |x, y| beside.spot(Vec2::new(x, y)).map(|spot| (spot.at.x, spot.at.y, spot.time));
        assert_eq!(at(30.0, 100.0), Some((30.0, 100.0, Some(3))));
        assert_eq!(at(130.0, 100.0), Some((30.0, 100.0, Some(8))));
        assert_eq!((at(115.0, 60.0), at(5.0, 60.0)), (None, None), "a title, and beside them");
        let alone = Multiples::default().spot(Vec2::new(7.0, 9.0));
        assert_eq!(alone, Some(CitySpot { at: Vec2::new(7.0, 9.0), time: None }));
    }
}
