//! Where to look from: poses, views that fit the city, movement and limits. Pure mathematics, no window and no input.
//!
//! The world is right-handed with y up. At yaw 0 and pitch 0 a camera looks north, along -z, as cameras do by default
//! in most engines; positive yaw turns left, positive pitch up. Angles in radians, lengths in city units.

use super::Rect;
use glam::{Quat, Vec2, Vec3};
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Steepest look up. Straight down is allowed: that is the bird's-eye view.
pub const MAX_PITCH: f32 = 1.0;
/// Pitch of the home view: 37 degrees down.
pub const HOME_PITCH: f32 = -0.645_771_8;
/// The eye stays this far above the ground.
pub const CLEARANCE: f32 = 0.5;
/// Distance of the nearest thing drawn.
pub const NEAR: f32 = 0.05;

/// Position and direction of a camera.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CameraPose {
    /// Where it is; in files a list of three numbers.
    #[serde(with = "eye_as_list")]
    pub eye: Vec3,
    /// Turn about the vertical axis; 0 looks north (-z), positive to the left.
    pub yaw: f32,
    /// Tilt; negative looks down.
    pub pitch: f32,
}

/// What of the window shows the city.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Vertical field of view of the whole window.
    pub fov_y: f32,
    /// Width of the window over its height.
    pub aspect: f32,
    /// Parts of the window covered by panels.
    pub insets: Insets,
}

/// Covered parts at the edges of a window, as fractions of its width or height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)] // the names say it
pub struct Insets {
    pub left: f32,
    pub right: f32,
    pub top: f32,
    pub bottom: f32,
}

impl View {
    /// A window without panels.
    pub fn new(fov_y: f32, aspect: f32) -> View {
        View { fov_y, aspect, insets: Insets::default() }
    }

    /// Free part as tangents of the angles from the axis: (left, right, bottom, top).
    fn tangents(&self) -> (f32, f32, f32, f32) {
        let y = (self.fov_y.clamp(0.05, 3.0) / 2.0).tan();
        let x = y * self.aspect.clamp(0.05, 50.0);
        // Panels that cover nearly everything would leave no view to fit; a tenth of the window always counts as free.
        let free = |low: f32, high: f32| {
            let (low, high) = (low.clamp(0.0, 0.9), high.clamp(0.0, 0.9));
            let excess = ((low + high) / 0.9).max(1.0);
            (low / excess * 2.0 - 1.0, 1.0 - high / excess * 2.0)
        };
        let ((l, r), (b, t)) = (free(self.insets.left, self.insets.right), free(self.insets.bottom, self.insets.top));
        (l * x, r * x, b * y, t * y)
    }
}

/// The space a city takes and the limits a camera keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CityBounds {
    /// Side of the square ground, centred on the origin.
    pub side: f32,
    /// Highest point over all time ([`super::CityPlan::tallest`]).
    pub tallest: f32,
}

impl CameraPose {
    /// The rotation, as an engine wants it.
    pub fn rotation(&self) -> Quat {
        Quat::from_rotation_y(self.yaw) * Quat::from_rotation_x(self.pitch)
    }
    /// The direction of view.
    pub fn forward(&self) -> Vec3 {
        self.rotation() * Vec3::NEG_Z
    }
    /// To the right in the picture; always level.
    pub fn right(&self) -> Vec3 {
        self.rotation() * Vec3::X
    }
    /// Upwards in the picture.
    pub fn up(&self) -> Vec3 {
        self.rotation() * Vec3::Y
    }

    /// The pose with this direction from which all `points` just fit into the free part of the window, and none is
    /// nearer than `nearest`.
    ///
    /// In camera axes a point is in the picture when its offset lies between two multiples of its depth. For the
    /// distance `d` and a sideways shift these are linear inequalities, so the smallest `d` has a closed form.
    pub fn fitting(points: &[Vec3], yaw: f32, pitch: f32, view: &View, nearest: f32) -> CameraPose {
        let pose = CameraPose { eye: Vec3::ZERO, yaw, pitch };
        let (right, up, forward) = (pose.right(), pose.up(), pose.forward());
        let (l, r, b, t) = view.tangents();
        let spread = |axis: Vec3, low: f32, high: f32| {
            let least = points.iter().map(|p| p.dot(axis) - high * p.dot(forward)).fold(f32::NEG_INFINITY, f32::max);
            let most = points.iter().map(|p| p.dot(axis) - low * p.dot(forward)).fold(f32::INFINITY, f32::min);
            (least, most)
        };
        let (x, y) = (spread(right, l, r), spread(up, b, t));
        let depth = points.iter().map(|p| p.dot(forward)).fold(f32::INFINITY, f32::min);
        if !depth.is_finite() {
            return pose;
        }
        let d = ((x.0 - x.1) / (r - l)).max((y.0 - y.1) / (t - b)).max(nearest - depth);
        let shift = |(least, most): (f32, f32), low: f32, high: f32| (least - high * d + most - low * d) / 2.0;
        CameraPose { eye: right * shift(x, l, r) + up * shift(y, b, t) - forward * d, yaw, pitch }
    }

    /// The view to start with and to come back to: from the south, parallel to the city's border, looking 37 degrees
    /// down, the whole city in the free part of the window at all times.
    pub fn home(city: &CityBounds, view: &View) -> CameraPose {
        CameraPose::fitting(&city.corners(1.03), 0.0, HOME_PITCH, view, 2.0)
    }

    /// Straight down on the whole city, north up.
    pub fn birds_eye(city: &CityBounds, view: &View) -> CameraPose {
        CameraPose::fitting(&city.corners(1.03), 0.0, -FRAC_PI_2, view, 2.0)
    }

    /// A view of one plot or district with its surroundings: `cell` fills about a third of the free window. The yaw is
    /// the caller's (keep the present one, so that nobody loses their bearings).
    pub fn focus(cell: &Rect, ground: f32, height: f32, yaw: f32, pitch: f32, view: &View) -> CameraPose {
        let margin = (cell.w.max(cell.h) as f32 * 0.9).max(height * 0.4).max(0.4);
        let (x, z) = (cell.x as f32, cell.y as f32);
        let (w, h) = (cell.w as f32, cell.h as f32);
        let low = Vec3::new(x - margin, ground, z - margin);
        let high = Vec3::new(x + w + margin, ground + height * 1.2, z + h + margin);
        CameraPose::fitting(&corners(low, high), yaw, pitch, view, 2.0)
    }

    /// Moves level and vertically: forward and right in the ground plane whatever the tilt, up along y.
    #[must_use]
    pub fn fly(&self, forward: f32, right: f32, up: f32) -> CameraPose {
        let ahead = Quat::from_rotation_y(self.yaw) * Vec3::NEG_Z;
        CameraPose { eye: self.eye + ahead * forward + self.right() * right + Vec3::Y * up, ..*self }
    }

    /// Moves along the direction of view.
    #[must_use]
    pub fn dolly(&self, distance: f32) -> CameraPose {
        CameraPose { eye: self.eye + self.forward() * distance, ..*self }
    }

    /// Moves in the picture plane, as when the ground is dragged.
    #[must_use]
    pub fn pan(&self, right: f32, up: f32) -> CameraPose {
        CameraPose { eye: self.eye + self.right() * right + self.up() * up, ..*self }
    }

    /// Turns on the spot.
    #[must_use]
    pub fn turn(&self, yaw: f32, pitch: f32) -> CameraPose {
        CameraPose { yaw: wrapped(self.yaw + yaw), pitch: (self.pitch + pitch).clamp(-FRAC_PI_2, MAX_PITCH), ..*self }
    }

    /// Turns around a point, which keeps its place in the picture.
    #[must_use]
    pub fn orbit(&self, around: Vec3, yaw: f32, pitch: f32) -> CameraPose {
        let turned = self.turn(yaw, pitch);
        let local = self.rotation().inverse() * (self.eye - around);
        CameraPose { eye: around + turned.rotation() * local, ..turned }
    }

    /// Wheel zoom towards the point under the cursor, which keeps its place in the picture. Each step takes 15 % of
    /// the distance (negative steps give it back); not nearer than `nearest`.
    #[must_use]
    pub fn zoom(&self, towards: Vec3, steps: f32, nearest: f32) -> CameraPose {
        let offset = self.eye - towards;
        let distance = offset.length();
        let wanted = distance * 0.85f32.powf(steps.clamp(-40.0, 40.0));
        // Someone who is already nearer is not pushed away.
        let distance_after = if steps > 0.0 { wanted.max(nearest.min(distance)) } else { wanted.max(NEAR) };
        let eye = if distance > 0.0 { towards + offset * (distance_after / distance) } else { self.eye };
        CameraPose { eye, ..*self }
    }

    /// Brings a pose within limits: above the ground, not farther out than `reach` from the city's centre, tilt in
    /// range; `None` if it is not made of finite numbers.
    pub fn clamped(&self, reach: f32) -> Option<CameraPose> {
        let finite = self.eye.is_finite() && self.yaw.is_finite() && self.pitch.is_finite();
        finite.then(|| {
            let mut eye = self.eye.clamp_length_max(reach.max(2.0 * CLEARANCE));
            eye.y = eye.y.max(CLEARANCE);
            let pitch = self.pitch.clamp(-FRAC_PI_2, MAX_PITCH);
            CameraPose { eye, yaw: wrapped(self.yaw), pitch }
        })
    }

    /// Between two poses, `t` from 0 to 1, slow at both ends; turns the short way round.
    #[must_use]
    pub fn between(&self, to: &CameraPose, t: f32) -> CameraPose {
        let t = t.clamp(0.0, 1.0);
        self.mixed(to, t * t * (3.0 - 2.0 * t))
    }

    /// One frame of following a moving goal: after `half_life` seconds half of the way is gone, at any frame rate.
    #[must_use]
    pub fn following(&self, goal: &CameraPose, seconds: f32, half_life: f32) -> CameraPose {
        let near = (self.eye - goal.eye).length() < 1e-3 + 2e-6 * goal.eye.length()
            && wrapped(goal.yaw - self.yaw).abs() < 1e-4;
        if half_life <= 0.0 || (near && (goal.pitch - self.pitch).abs() < 1e-4) {
            return *goal;
        }
        self.mixed(goal, 1.0 - (-seconds.max(0.0) / half_life).exp2())
    }

    fn mixed(&self, to: &CameraPose, t: f32) -> CameraPose {
        if t >= 1.0 {
            return *to;
        }
        CameraPose {
            eye: self.eye.lerp(to.eye, t),
            yaw: wrapped(self.yaw + wrapped(to.yaw - self.yaw) * t),
            pitch: self.pitch + (to.pitch - self.pitch) * t,
        }
    }

    /// Direction (length 1) of the ray through a point of the window, in -1 to 1 from left to right and bottom to top.
    pub fn ray(&self, window: Vec2, view: &View) -> Vec3 {
        let y = (view.fov_y.clamp(0.05, 3.0) / 2.0).tan();
        let x = y * view.aspect.clamp(0.05, 50.0);
        (self.forward() + self.right() * (window.x * x) + self.up() * (window.y * y)).normalize()
    }

    /// Where a point is in the window, in -1 to 1 from left to right and bottom to top (beyond that, outside); `None`
    /// for points behind the camera.
    pub fn project(&self, point: Vec3, view: &View) -> Option<Vec2> {
        let offset = point - self.eye;
        let depth = offset.dot(self.forward());
        let y = (view.fov_y.clamp(0.05, 3.0) / 2.0).tan();
        let x = y * view.aspect.clamp(0.05, 50.0);
        (depth > NEAR).then(|| Vec2::new(offset.dot(self.right()) / (depth * x), offset.dot(self.up()) / (depth * y)))
    }

    /// Where the ray through a point of the window meets the ground plane at height `y`, if it looks down on it.
    pub fn ground_point(&self, window: Vec2, view: &View, y: f32) -> Option<Vec3> {
        let ray = self.ray(window, view);
        let distance = (y - self.eye.y) / ray.y;
        (ray.y.abs() > 1e-6 && distance > 0.0 && distance.is_finite()).then(|| self.eye + ray * distance)
    }
}

impl CityBounds {
    /// The eight corners of the city's box, the ground scaled by `margin`.
    pub fn corners(&self, margin: f32) -> [Vec3; 8] {
        let half = self.side / 2.0 * margin;
        corners(Vec3::new(-half, 0.0, -half), Vec3::new(half, self.tallest.max(0.0), half))
    }

    /// How far from the city's centre a camera may go: four sides, or further where the window is so narrow that home
    /// is further.
    pub fn reach(&self, view: &View) -> f32 {
        let far = |pose: CameraPose| pose.eye.length() * 1.5;
        (4.0 * self.side).max(far(CameraPose::home(self, view))).max(far(CameraPose::birds_eye(self, view)))
    }
}

mod eye_as_list {
    use glam::Vec3;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(eye: &Vec3, s: S) -> Result<S::Ok, S::Error> {
        eye.to_array().serialize(s)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec3, D::Error> {
        <[f32; 3]>::deserialize(d).map(Vec3::from_array)
    }
}

fn corners(low: Vec3, high: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let side = |bit: usize, low: f32, high: f32| if i >> bit & 1 == 0 { low } else { high };
        Vec3::new(side(0, low.x, high.x), side(1, low.y, high.y), side(2, low.z, high.z))
    })
}

/// An angle in -pi to pi.
fn wrapped(angle: f32) -> f32 {
    let a = angle.rem_euclid(TAU);
    if a > PI { a - TAU } else { a }
}

#[cfg(test)]
mod tests;
