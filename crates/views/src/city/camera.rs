//! Camera arithmetic: standard views of the city, orbiting and flying. The camera is never below ground or lost.

pub use super::in_view::{CityInView, sees_city};

use super::config::CITY_SIZE;
use super::rect::Rect;
use glam::{Mat4, Vec2, Vec3};

/// Where the camera is and where it looks.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CameraPose {
    /// Position, world units.
    pub eye: Vec3,
    /// Direction over the ground, radians; 0 looks north (-z), positive turns right.
    pub yaw: f32,
    /// Direction up (positive) or down, radians.
    pub pitch: f32,
}

/// The projection of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// Vertical field of view, radians.
    pub fov: f32,
    /// Width by height.
    pub aspect: f32,
    /// Shares of the picture that panels cover: left, top, right, bottom.
    pub margins: [f32; 4],
}

/// The eye stays this far above the ground.
const LOWEST: f32 = 0.6;
/// The largest distance from the centre: far enough for the home view of a narrow window between panels, near enough for the city to be
/// seen.
const FARTHEST: f32 = 12.0 * CITY_SIZE as f32;
pub(super) const STEEPEST: f32 = 1.5703;
/// How far the bird's-eye view looks down: a little of the walls is seen.
const BIRDS_EYE: f32 = 1.55;
/// How far views of the whole city look down.
const HOME_PITCH: f32 = -0.66;
/// A framed point is at least this far ahead.
const NEAREST: f32 = 2.0;
/// Framed things get this much more room than they take.
pub(super) const ROOM: f32 = 1.03;

impl CameraPose {
    /// Unit vector ahead.
    pub fn forward(&self) -> Vec3 {
        let (s, c) = self.pitch.sin_cos();
        Vec3::new(self.yaw.sin() * c, s, -self.yaw.cos() * c)
    }

    /// Unit vector to the right, level.
    pub fn right(&self) -> Vec3 {
        Vec3::new(self.yaw.cos(), 0.0, self.yaw.sin())
    }

    /// Unit vector up in the picture.
    pub fn up(&self) -> Vec3 {
        self.right().cross(self.forward())
    }
}

impl Lens {
    /// World to clip space with reversed depth (1 near, 0 at infinity).
    pub fn clip_from_world(&self, pose: &CameraPose) -> Mat4 {
        let aspect = self.aspect.clamp(0.05, 20.0);
        let projection = Mat4::perspective_infinite_reverse_rh(self.fov.clamp(0.1, 2.6), aspect, 0.1);
        projection * Mat4::look_to_rh(pose.eye, pose.forward(), pose.up())
    }

    /// The free part of the picture in normalized device coordinates: lowest and highest corner.
    pub(super) fn free(&self) -> (Vec2, Vec2) {
        let [left, top, right, bottom] = self.margins.map(|m| m.clamp(0.0, 0.45));
        (Vec2::new(left * 2.0 - 1.0, bottom * 2.0 - 1.0), Vec2::new(1.0 - right * 2.0, 1.0 - top * 2.0))
    }
}

/// The whole city, parallel to its border, from the south, looking down enough to see every district.
pub fn home(tallest: f32, lens: &Lens) -> CameraPose {
    frame(&city_corners(tallest), 0.0, HOME_PITCH, lens)
}

/// The whole city from straight above.
pub fn birds_eye(tallest: f32, lens: &Lens) -> CameraPose {
    frame(&city_corners(tallest), 0.0, -BIRDS_EYE, lens)
}

/// A plan of the city: from straight above, for a city whose buildings are flat. Seen so, a plane is not distorted: areas in the
/// picture are areas of the ground.
pub fn plan_view(lens: &Lens) -> CameraPose {
    frame(&city_corners(0.0), 0.0, -STEEPEST, lens)
}

/// A plot or district from the present side, near enough to see it and its neighbours.
pub fn focus(cell: &Rect, roof: f32, from: &CameraPose, lens: &Lens) -> CameraPose {
    let (x, z) = cell.centre();
    // Some neighbourhood belongs to the picture: a lone wall tells nothing.
    let half = (cell.w.max(cell.h) as f32 * 0.9).max(roof * 0.45).max(1.5);
    let corners =
        corners(Vec3::new(x as f32 - half, 0.0, z as f32 - half), Vec3::new(x as f32 + half, roof, z as f32 + half));
    frame(&corners, from.yaw, from.pitch.clamp(-0.9, -0.45), lens)
}

pub(super) fn city_corners(tallest: f32) -> [Vec3; 8] {
    let half = CITY_SIZE as f32 / 2.0 * ROOM;
    corners(Vec3::new(-half, 0.0, -half), Vec3::new(half, tallest.clamp(0.0, 2.0 * CITY_SIZE as f32), half))
}

fn corners(low: Vec3, high: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        Vec3::new(
            if i & 1 == 0 { low.x } else { high.x },
            if i & 2 == 0 { low.y } else { high.y },
            if i & 4 == 0 { low.z } else { high.z },
        )
    })
}

/// The nearest pose in a direction from which all points lie in the free part of the picture.
///
/// In camera axes a point is in the picture when its offset lies between two multiples of its depth. For the distance
/// and a sideways shift of the camera these are linear inequalities, so the smallest distance has a closed form.
fn frame(points: &[Vec3; 8], yaw: f32, pitch: f32, lens: &Lens) -> CameraPose {
    let pose = CameraPose { eye: Vec3::ZERO, yaw, pitch };
    let (right, up, forward) = (pose.right(), pose.up(), pose.forward());
    let (low, high) = lens.free();
    let tan = (lens.fov.clamp(0.1, 2.6) / 2.0).tan();
    let tan = Vec2::new(tan * lens.aspect.clamp(0.05, 20.0), tan);
    let (low, high) = (low * tan, high * tan);
    // Bounds of the shift along an axis, for distance 0: at least `.0`, at most `.1`.
    let spread = |axis: Vec3, low: f32, high: f32| {
        let offset = |p: &Vec3, slope: f32| p.dot(axis) - slope * p.dot(forward);
        let least = points.iter().map(|p| offset(p, high)).fold(f32::NEG_INFINITY, f32::max);
        (least, points.iter().map(|p| offset(p, low)).fold(f32::INFINITY, f32::min))
    };
    let (x, y) = (spread(right, low.x, high.x), spread(up, low.y, high.y));
    let nearest = points.iter().map(|p| p.dot(forward)).fold(f32::INFINITY, f32::min);
    let fits = ((x.0 - x.1) / (high.x - low.x)).max((y.0 - y.1) / (high.y - low.y));
    let distance = fits.max(NEAREST - nearest);
    let shift = |(least, most): (f32, f32), low: f32, high: f32| (least + most - (low + high) * distance) / 2.0;
    let eye = right * shift(x, low.x, high.x) + up * shift(y, low.y, high.y) - forward * distance;
    clamp(CameraPose { eye, ..pose })
}

/// A side of the city to look from, with north up on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewSide {
    /// From the same side as the home view.
    South,
    /// From the right of the home view.
    East,
    /// From behind the home view.
    North,
    /// From the left of the home view.
    West,
}

/// The whole city from one side, looking down as the home view does.
pub fn from_side(side: ViewSide, tallest: f32, lens: &Lens) -> CameraPose {
    use std::f32::consts::FRAC_PI_2;
    let yaw = match side {
        ViewSide::South => 0.0,
        ViewSide::East => -FRAC_PI_2,
        ViewSide::North => 2.0 * FRAC_PI_2,
        ViewSide::West => FRAC_PI_2,
    };
    frame(&city_corners(tallest), yaw, HOME_PITCH, lens)
}

/// The meaning of drags and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Navigation {
    /// A drag turns the city around the point that was taken hold of.
    #[default]
    Orbit,
    /// A drag turns the look; keys fly where it looks.
    Fly,
    /// A drag turns the look; keys walk level, at the height of the eye.
    Walk,
}

impl Navigation {
    /// All, in the order in which they are offered.
    pub const ALL: [Navigation; 3] = [Navigation::Orbit, Navigation::Fly, Navigation::Walk];

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Navigation::Orbit => "orbit",
            Navigation::Fly => "fly",
            Navigation::Walk => "first person",
        }
    }

    /// The effect of a drag and of the keys, in one sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            Navigation::Orbit => "Dragging turns the city around the point under the pointer",
            Navigation::Fly => "Dragging looks around; W A S D fly where you look",
            Navigation::Walk => "Dragging looks around; W A S D walk level, Q and E change the height of the eye",
        }
    }

    /// The one after it, around.
    #[must_use]
    pub fn next(self) -> Navigation {
        let at = Navigation::ALL.iter().position(|n| *n == self).unwrap_or(0);
        Navigation::ALL[(at + 1) % Navigation::ALL.len()]
    }
}

/// Radians of turn for each point of the screen that a drag moves.
const TURN: f32 = 0.005;

/// Turns the camera around `pivot` by a drag of `by` points (right, down): the pivot stays where it is in the picture. The
/// city is grasped, so it follows the pointer: dragging to the right brings what is at the left. It never ends below the ground
/// nor looks up from below.
pub fn orbit(pose: &CameraPose, pivot: Vec3, by: Vec2) -> CameraPose {
    let offset = pose.eye - pivot;
    let level = Vec2::new(offset.x, offset.z).length();
    // The eye's height over the pivot as an angle: both it and the look stay between level and straight down.
    let height = offset.y.atan2(level);
    let (lowest, highest) = (0.04 - height, STEEPEST - height);
    let tilt = (by.y * TURN).clamp(lowest.min(0.0), highest.max(0.0));
    let tilt = tilt.clamp((-0.04 - pose.pitch.abs()).min(0.0), (pose.pitch + STEEPEST).max(0.0));
    let turn = -by.x * TURN;
    // A rigid turn about the level axis through the pivot, then about the upright one.
    let right = pose.right();
    let tilted = glam::Quat::from_axis_angle(right, -tilt) * offset;
    let turned = glam::Quat::from_rotation_y(-turn) * tilted;
    CameraPose { eye: pivot + turned, yaw: pose.yaw + turn, pitch: pose.pitch - tilt }
}

/// Moves the camera sideways by a drag of `by` points (right, down) in a picture `height` points high. The point `grasped` stays under the
/// pointer.
pub fn pan(pose: &CameraPose, grasped: Vec3, by: Vec2, height: f32, lens: &Lens) -> CameraPose {
    let depth = (grasped - pose.eye).dot(pose.forward()).clamp(0.5, FARTHEST);
    let unit = 2.0 * (lens.fov.clamp(0.1, 2.6) / 2.0).tan() * depth / height.max(1.0);
    CameraPose { eye: pose.eye + (pose.up() * by.y - pose.right() * by.x) * unit, ..*pose }
}

/// Turns the look by a drag of `by` points in a picture `height` points high. The picture turns a little faster than the pointer moves, but
/// one drag across the window never loses the city.
pub fn drag_look(pose: &CameraPose, by: Vec2, height: f32, lens: &Lens) -> CameraPose {
    let angle = 1.5 * lens.fov.clamp(0.1, 2.6) / height.max(1.0);
    CameraPose { yaw: pose.yaw - by.x * angle, pitch: pose.pitch + by.y * angle, ..*pose }
}

/// Walks: as [`fly`], but ahead is level.
pub fn walk(pose: &CameraPose, by: Vec3) -> CameraPose {
    let ahead = Vec3::new(pose.yaw.sin(), 0.0, -pose.yaw.cos());
    CameraPose { eye: pose.eye + pose.right() * by.x + Vec3::Y * by.y + ahead * by.z, ..*pose }
}

/// The direction through a point of the picture, in normalized device coordinates; not normalized, its depth is 1.
pub fn direction(pose: &CameraPose, lens: &Lens, ndc: Vec2) -> Vec3 {
    let tan = (lens.fov.clamp(0.1, 2.6) / 2.0).tan();
    let aside = pose.right() * (ndc.x * tan * lens.aspect.clamp(0.05, 20.0));
    pose.forward() + aside + pose.up() * (ndc.y * tan)
}

/// The place to turn around where a ray from the eye meets nothing: where it meets the ground, as near to the city as that can be.
pub fn pivot_on_ground(eye: Vec3, towards: Vec3) -> Vec3 {
    let half = CITY_SIZE as f32 / 2.0;
    let reach = if towards.y < -1e-3 { (-eye.y / towards.y).clamp(0.0, FARTHEST) } else { FARTHEST };
    let met = eye + towards * reach;
    Vec3::new(met.x.clamp(-half, half), 0.0, met.z.clamp(-half, half))
}

/// Moves: `by` is right, up, ahead in world units. Up is the world's up; ahead follows the look.
pub fn fly(pose: &CameraPose, by: Vec3) -> CameraPose {
    CameraPose { eye: pose.eye + pose.right() * by.x + Vec3::Y * by.y + pose.forward() * by.z, ..*pose }
}

/// Turns the look by radians to the right and up.
pub fn look(pose: &CameraPose, by: Vec2) -> CameraPose {
    CameraPose { yaw: pose.yaw + by.x, pitch: pose.pitch - by.y, ..*pose }
}

/// Flies towards the point under the mouse (or back), a share of the way a notch: never through the ground.
pub fn zoom(pose: &CameraPose, towards: Vec3, notches: f32) -> CameraPose {
    let to_ground = if towards.y < -0.02 { pose.eye.y / -towards.y } else { CITY_SIZE as f32 };
    let reach = to_ground.clamp(2.0, 3.0 * CITY_SIZE as f32);
    let step = reach * (1.0 - 0.88f32.powf(notches));
    CameraPose { eye: pose.eye + towards * step, ..*pose }
}

/// The pose between two, turning the short way round.
pub fn between(from: &CameraPose, to: &CameraPose, share: f32) -> CameraPose {
    let turn = (to.yaw - from.yaw + std::f32::consts::PI).rem_euclid(std::f32::consts::TAU) - std::f32::consts::PI;
    CameraPose {
        eye: from.eye.lerp(to.eye, share),
        yaw: from.yaw + turn * share,
        pitch: from.pitch + (to.pitch - from.pitch) * share,
    }
}

/// The nearest allowed pose: above ground, not lost in the distance, not upside down, finite.
pub fn clamp(pose: CameraPose) -> CameraPose {
    if !(pose.eye.is_finite() && pose.yaw.is_finite() && pose.pitch.is_finite()) {
        return CameraPose { eye: Vec3::new(0.0, CITY_SIZE as f32, CITY_SIZE as f32), yaw: 0.0, pitch: -0.7 };
    }
    let mut eye = pose.eye.clamp_length_max(FARTHEST);
    eye.y = eye.y.max(LOWEST);
    CameraPose { eye, yaw: pose.yaw.rem_euclid(std::f32::consts::TAU), pitch: pose.pitch.clamp(-STEEPEST, STEEPEST) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lens(aspect: f32, margins: [f32; 4]) -> Lens {
        Lens { fov: 0.85, aspect, margins }
    }

    fn all_in_free_part(pose: &CameraPose, tallest: f32, lens: &Lens) -> bool {
        let clip = lens.clip_from_world(pose);
        let (low, high) = lens.free();
        city_corners(tallest).iter().all(|c| {
            let p = clip * c.extend(1.0);
            let ndc = Vec2::new(p.x, p.y) / p.w;
            p.w > 0.0 && ndc.cmpge(low - 1e-3).all() && ndc.cmple(high + 1e-3).all()
        })
    }

    #[derive(Debug, Clone)]
    enum CameraInput {
        Fly(Vec3),
        Look(Vec2),
        Zoom(Vec3, f32),
    }

    fn input() -> impl Strategy<Value = CameraInput> {
        let v = -500.0..500.0f32;
        prop_oneof![
            (v.clone(), v.clone(), v.clone()).prop_map(|(x, y, z)| CameraInput::Fly(Vec3::new(x, y, z))),
            (-9.0..9.0f32, -9.0..9.0f32).prop_map(|(x, y)| CameraInput::Look(Vec2::new(x, y))),
            (-1.0..1.0f32, -1.0..1.0f32, -1.0..1.0f32, -8.0..8.0f32)
                .prop_map(|(x, y, z, n)| CameraInput::Zoom(Vec3::new(x, y, z).normalize_or(Vec3::X), n)),
        ]
    }

    proptest! {
        #[test]
        fn whatever_happens_the_eye_is_above_ground_and_home_shows_the_city(
            inputs in prop::collection::vec(input(), 0..60),
            aspect in 0.4..4.0f32,
            tallest in 0.0..120.0f32,
            margins in prop::array::uniform4(0.0..0.3f32),
        ) {
            let lens = lens(aspect, margins);
            let mut pose = home(tallest, &lens);
            for i in &inputs {
                pose = clamp(match i {
                    CameraInput::Fly(by) => fly(&pose, *by),
                    CameraInput::Look(by) => look(&pose, *by),
                    CameraInput::Zoom(towards, n) => zoom(&pose, *towards, *n),
                });
                prop_assert!(pose.eye.y >= LOWEST && pose.eye.is_finite() && pose.eye.length() <= FARTHEST + 1.0);
            }
            // Home does not depend on where the camera was: one key brings the city back.
            prop_assert!(all_in_free_part(&home(tallest, &lens), tallest, &lens));
            prop_assert!(all_in_free_part(&birds_eye(tallest, &lens), tallest, &lens));
        }
    }

    proptest! {
        #[test]
        fn focus_shows_the_place_and_its_surroundings(
            x in -50.0..49.0f64,
            z in -50.0..49.0f64,
            side in 0.01..40.0f64,
            yaw in -3.0..3.0f32,
            pitch in -1.5..1.5f32,
            aspect in 0.4..4.0f32,
        ) {
            let lens = lens(aspect, [0.2, 0.05, 0.25, 0.1]);
            let cell = Rect::new(x, z, side, side * 0.7);
            let roof = 0.8 + 2.0 * cell.area().sqrt() as f32;
            let from = CameraPose { eye: Vec3::new(0.0, 30.0, 80.0), yaw, pitch };
            let pose = focus(&cell, roof, &from, &lens);
            let clip = lens.clip_from_world(&pose);
            let (low, high) = lens.free();
            for point in [cell.centre_at(0.8), cell.centre_at(f64::from(roof))] {
                let p = clip * point.extend(1.0);
                let ndc = Vec2::new(p.x, p.y) / p.w;
                prop_assert!(p.w > 0.0 && ndc.cmpge(low).all() && ndc.cmple(high).all(), "{ndc}");
            }
            prop_assert!(pose.eye.y >= LOWEST);
            prop_assert!((pose.yaw - yaw.rem_euclid(std::f32::consts::TAU)).abs() < 1e-4, "bearings are kept");
        }

        #[test]
        fn zooming_keeps_what_the_mouse_points_at(x in -0.9..0.9f32, y in -0.9..0.9f32, notches in -4.0..4.0f32) {
            let lens = lens(1.6, [0.0; 4]);
            let pose = home(30.0, &lens);
            let at = Vec2::new(x, y);
            let near = lens.clip_from_world(&pose).inverse().project_point3(at.extend(0.5));
            let towards = (near - pose.eye).normalize();
            let ground = pose.eye + towards * (pose.eye.y / -towards.y);
            let p = lens.clip_from_world(&zoom(&pose, towards, notches)) * ground.extend(1.0);
            prop_assert!((Vec2::new(p.x, p.y) / p.w - at).length() < 1e-3);
            let closer = (zoom(&pose, towards, notches).eye - ground).length() < (pose.eye - ground).length();
            prop_assert_eq!(closer, notches > 0.0);
        }
    }

    proptest! {
        #[test]
        fn a_drag_turns_the_city_around_what_was_taken_hold_of(
            (x, z, height) in (-45.0..45.0f32, -45.0..45.0f32, 0.0..40.0f32),
            drags in prop::collection::vec((-400.0..400.0f32, -400.0..400.0f32), 1..20),
        ) {
            let lens = lens(1.6, [0.0; 4]);
            let pivot = Vec3::new(x, height, z);
            let mut pose = home(60.0, &lens);
            let at = |pose: &CameraPose| {
                let p = lens.clip_from_world(pose) * pivot.extend(1.0);
                (Vec2::new(p.x, p.y) / p.w, (pose.eye - pivot).length())
            };
            let before = at(&pose);
            for (dx, dy) in drags {
                pose = clamp(orbit(&pose, pivot, Vec2::new(dx, dy)));
                let now = at(&pose);
                prop_assert!((now.0 - before.0).length() < 0.01, "it stays in the picture: {} {}", now.0, before.0);
                prop_assert!((now.1 - before.1).abs() < 0.05 * before.1, "and as far away");
                prop_assert!(pose.eye.y > pivot.y - 0.01 && sees_city(&pose, 60.0, &lens));
            }
        }

        #[test]
        fn panning_keeps_what_was_taken_hold_of_under_the_pointer(
            (x, z) in (-40.0..40.0f32, -40.0..40.0f32),
            (dx, dy) in (-300.0..300.0f32, -200.0..200.0f32),
        ) {
            let lens = lens(1.6, [0.0; 4]);
            let (grasped, pose) = (Vec3::new(x, 0.0, z), home(30.0, &lens));
            let on_screen = |pose: &CameraPose| {
                let p = lens.clip_from_world(pose) * grasped.extend(1.0);
                Vec2::new(p.x / p.w * 1.6, -p.y / p.w) * 300.0
            };
            let moved = on_screen(&pan(&pose, grasped, Vec2::new(dx, dy), 600.0, &lens)) - on_screen(&pose);
            prop_assert!((moved - Vec2::new(dx, dy)).length() < 0.5, "{moved}");
        }

        #[test]
        fn directions_lead_to_where_points_are_in_the_picture(
            (x, y) in (-1.0..1.0f32, -1.0..1.0f32), depth in 1.0..200.0f32, yaw in 0.0..6.0f32, pitch in -1.5..1.5f32,
        ) {
            let lens = lens(1.3, [0.0; 4]);
            let pose = CameraPose { eye: Vec3::new(3.0, 20.0, -7.0), yaw, pitch };
            let p = lens.clip_from_world(&pose) * (pose.eye + direction(&pose, &lens, Vec2::new(x, y)) * depth).extend(1.0);
            prop_assert!((Vec2::new(p.x, p.y) / p.w - Vec2::new(x, y)).length() < 1e-3);
        }

        #[test]
        fn the_city_is_seen_when_a_point_of_it_is_in_the_picture(
            (x, y, z) in (-120.0..120.0f32, 1.0..90.0f32, -120.0..120.0f32), yaw in 0.0..6.2f32, pitch in -1.5..1.0f32,
        ) {
            let lens = lens(1.6, [0.1, 0.0, 0.2, 0.05]);
            let pose = CameraPose { eye: Vec3::new(x, y, z), yaw, pitch };
            let clip = lens.clip_from_world(&pose);
            let (low, high) = lens.free();
            // A lattice within the box is no more than the box: whatever of it is seen, the city is.
            let (n, half) = (24, CITY_SIZE as f32 / 2.0);
            let step = |i: i32| i as f32 / n as f32;
            let seen = (0..=n).any(|i| (0..=n).any(|j| (0..=4).any(|k| {
                let at = Vec3::new((step(i) * 2.0 - 1.0) * half, k as f32 * 7.0, (step(j) * 2.0 - 1.0) * half);
                let p = clip * at.extend(1.0);
                let ndc = Vec2::new(p.x, p.y) / p.w;
                p.w > 0.05 && ndc.cmpge(low).all() && ndc.cmple(high).all()
            })));
            prop_assert!(!seen || sees_city(&pose, 28.0, &lens));
            let view = CityInView::of(&pose, 28.0, &lens);
            prop_assert!(sees_city(&pose, 28.0, &lens) || view == CityInView { ground: 0.0, picture: 0.0 }, "{view:?}");
            prop_assert!((0.0..=1.0).contains(&view.ground) && (0.0..=1.0).contains(&view.picture), "{view:?}");
        }
    }

    #[test]
    fn sides_show_the_whole_city_and_the_sky_shows_nothing_of_it() {
        let lens = lens(1.6, [0.1, 0.1, 0.2, 0.05]);
        for side in [ViewSide::South, ViewSide::East, ViewSide::North, ViewSide::West] {
            assert!(all_in_free_part(&from_side(side, 40.0, &lens), 40.0, &lens), "{side:?}");
        }
        assert!(from_side(ViewSide::East, 40.0, &lens).eye.x > 50.0, "from the east");
        let up = CameraPose { eye: Vec3::new(0.0, 100.0, 150.0), yaw: 0.0, pitch: 1.2 };
        assert!(!sees_city(&up, 40.0, &lens));
        let away = CameraPose { eye: Vec3::new(0.0, 10.0, 150.0), yaw: std::f32::consts::PI, pitch: -0.2 };
        assert!(!sees_city(&away, 40.0, &lens));
        assert!(sees_city(&home(40.0, &lens), 40.0, &lens));
    }

    #[test]
    fn home_is_parallel_to_the_border_and_uses_the_window() {
        let lens = lens(16.0 / 9.0, [0.0; 4]);
        let pose = home(40.0, &lens);
        assert!(pose.yaw == 0.0 && pose.eye.x.abs() < 1e-3 && pose.eye.z > 50.0);
        assert!((-40.0..-35.0).contains(&pose.pitch.to_degrees()));
        let clip = lens.clip_from_world(&pose);
        let points = city_corners(40.0).map(|c| {
            let p = clip * c.extend(1.0);
            Vec2::new(p.x, p.y) / p.w
        });
        let (low, high) = points.iter().fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
        assert!(((high - low).max_element() - 2.0).abs() < 1e-3, "one direction is used in full: {low} {high}");
    }

    #[test]
    fn turning_goes_the_short_way() {
        let at = |yaw| CameraPose { eye: Vec3::Y, yaw, pitch: 0.0 };
        let middle = between(&at(6.2), &at(0.1), 0.5);
        assert!((middle.yaw - 6.29).abs() < 0.02, "{}", middle.yaw);
    }

    #[test]
    fn broken_numbers_are_mended() {
        let broken = CameraPose { eye: Vec3::new(f32::NAN, 0.0, 0.0), yaw: 0.0, pitch: f32::INFINITY };
        assert!(clamp(broken).eye.is_finite());
    }
}
