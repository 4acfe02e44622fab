//! How much of the city is inside a camera's picture.

use super::camera::{CameraPose, Lens, city_corners};
use glam::{Mat4, Vec2, Vec3, Vec4};

/// The sides of the box around the city, by its corners.
const FACES: [[usize; 4]; 6] = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];

/// The corners of the ground.
const GROUND: [usize; 4] = [0, 1, 5, 4];

/// The part of a polygon that is in the free part of the picture: its corners in clip space and in the world.
fn in_picture(polygon: impl IntoIterator<Item = Vec3>, clip: &Mat4, lens: &Lens) -> Vec<(Vec4, Vec3)> {
    let (free_low, free_high) = lens.free();
    // Each is at least 0 for what is in the picture.
    let planes: [&dyn Fn(Vec4) -> f32; 5] = [
        &|p| p.w - 0.05,
        &|p| p.x - free_low.x * p.w,
        &|p| free_high.x * p.w - p.x,
        &|p| p.y - free_low.y * p.w,
        &|p| free_high.y * p.w - p.y,
    ];
    let mut polygon: Vec<(Vec4, Vec3)> = polygon.into_iter().map(|p| (*clip * p.extend(1.0), p)).collect();
    for plane in planes {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (i, &a) in polygon.iter().enumerate() {
            let b = polygon[(i + 1) % polygon.len()];
            let (at_a, at_b) = (plane(a.0), plane(b.0));
            if at_a >= 0.0 {
                kept.push(a);
            }
            if (at_a >= 0.0) != (at_b >= 0.0) {
                let share = at_a / (at_a - at_b);
                kept.push((a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share));
            }
        }
        polygon = kept;
    }
    polygon
}

/// Whether the eye is in the box around the city.
fn is_within(eye: Vec3, corners: &[Vec3; 8]) -> bool {
    let (low, high) = (corners[0], corners[7]);
    eye.cmpge(low).all() && eye.cmple(high).all()
}

/// Whether any part of the box around the city is in the free part of the picture.
pub fn sees_city(pose: &CameraPose, tallest: f32, lens: &Lens) -> bool {
    let corners = city_corners(tallest);
    let clip = lens.clip_from_world(pose);
    let seen = |face: &[usize; 4]| !in_picture(face.iter().map(|&c| corners[c]), &clip, lens).is_empty();
    is_within(pose.eye, &corners) || FACES.iter().any(seen)
}

/// How much of a city is in a picture, and how much of the picture the city is; both from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CityInView {
    /// The part of the city's ground that is in the free part of the picture, as far as nothing stands before it.
    pub ground: f32,
    /// The part of the free picture that the box around the city takes.
    pub picture: f32,
}

impl CityInView {
    /// Measured from a pose.
    pub fn of(pose: &CameraPose, tallest: f32, lens: &Lens) -> CityInView {
        let (corners, clip) = (city_corners(tallest), lens.clip_from_world(pose));
        let seen = |face: &[usize; 4]| in_picture(face.iter().map(|&c| corners[c]), &clip, lens);
        let level = |p: Vec3| Vec2::new(p.x, p.z);
        let ground: Vec<Vec2> = seen(&GROUND).iter().map(|(_, world)| level(*world)).collect();
        let all = area(&GROUND.map(|c| level(corners[c])));
        let (low, high) = lens.free();
        let whole = ((high.x - low.x) * (high.y - low.y)).max(1e-6);
        let sides = FACES.iter().flat_map(seen).map(|(p, _)| Vec2::new(p.x, p.y) / p.w);
        let picture = if is_within(pose.eye, &corners) { 1.0 } else { area(&hull(sides.collect())) / whole };
        CityInView { ground: (area(&ground) / all).clamp(0.0, 1.0), picture: picture.clamp(0.0, 1.0) }
    }

    /// True if at least as much is in view as `least` asks for.
    pub fn is_at_least(self, least: CityInView) -> bool {
        self.ground >= least.ground && self.picture >= least.picture
    }
}

/// The area of a polygon, whichever way round.
fn area(polygon: &[Vec2]) -> f32 {
    let next = polygon.iter().cycle().skip(1);
    polygon.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum::<f32>().abs() / 2.0
}

/// The corners of the smallest convex polygon around points, in order.
fn hull(mut points: Vec<Vec2>) -> Vec<Vec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let half = |points: &mut dyn Iterator<Item = Vec2>| {
        let mut chain: Vec<Vec2> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(point - b) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut all = half(&mut points.iter().copied());
    all.extend(half(&mut points.iter().rev().copied()));
    all
}

#[cfg(test)]
mod tests {
    use super::super::CITY_SIZE;
    use super::super::camera::{ROOM, STEEPEST, home, look};
    use super::*;

    #[test]
    fn how_much_is_in_view_goes_from_all_of_it_to_nothing() {
        let lens = Lens { fov: 0.85, aspect: 1.6, margins: [0.0; 4] };
        let home = home(28.0, &lens);
        let of = |pose: &CameraPose| CityInView::of(pose, 28.0, &lens);
        let whole = of(&home);
        assert!(whole.ground > 0.99 && (0.4..1.0).contains(&whole.picture), "{whole:?}");
        // From nearer less of the ground, and more of the picture.
        let near = of(&CameraPose { eye: home.eye * 0.4, ..home });
        assert!(near.ground < 0.7 && near.picture > whole.picture, "{near:?}");
        let far = of(&CameraPose { eye: home.eye * 4.0, ..home });
        assert!(far.ground > 0.99 && far.picture < 0.1, "{far:?}");
        let away = of(&look(&home, Vec2::new(3.0, 0.0)));
        assert_eq!(away, CityInView { ground: 0.0, picture: 0.0 });
        let inside = of(&CameraPose { eye: Vec3::new(0.0, 3.0, 0.0), yaw: 0.0, pitch: 0.0 });
        assert!(inside.picture == 1.0 && inside.ground < 0.5, "{inside:?}");
        // From straight above the ground is a rectangle: shares are those of lengths.
        let above = CameraPose { eye: Vec3::new(0.0, 400.0, 0.0), yaw: 0.0, pitch: -STEEPEST };
        let high = 2.0 * 400.0 * (lens.fov / 2.0).tan();
        let side = CITY_SIZE as f32 * ROOM;
        let flat = CityInView::of(&above, 0.0, &lens);
        assert!((flat.picture - side * side / (high * high * 1.6)).abs() < 2e-3, "{flat:?}");
        let low = CityInView::of(&CameraPose { eye: Vec3::new(0.0, 40.0, 0.0), ..above }, 0.0, &lens);
        assert!((low.ground - high * high * 1.6 / 100.0 / (side * side)).abs() < 2e-3 && low.picture > 0.99, "{low:?}");
        assert!(whole.is_at_least(near) == (whole.picture >= near.picture) && whole.is_at_least(away));
    }
}
