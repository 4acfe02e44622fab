//! The camera: its pose, its flights, and its part of the window. It never ends below ground or lost. The arithmetic is
//! [`memory_city_views::city::camera`]'s; input is [`super::fly`]'s.

use bevy::prelude::*;
use bevy_egui::egui;
use glam::{Mat4, Vec2, Vec3};
use memory_city_views::city::CITY_SIZE;
use memory_city_views::city::camera::{self, CameraPose, CityInView, Lens, Navigation, ViewSide};

pub const FIELD_OF_VIEW: f32 = 0.55;

/// Pose of the camera, and the target of its flight.
#[derive(Resource)]
pub struct CameraRig {
    /// The present pose.
    pub pose: CameraPose,
    /// A view it flies to, and how far it is, 0..1.
    flight: Option<(CameraPose, CameraPose, f32)>,
    /// Size of the window or image, logical pixels.
    target: Vec2,
    /// Pixels of the window or image for a logical one.
    density: f32,
    /// Rectangle of the city in it: corner and size. All of it until a pane sets it.
    pane: Option<(Vec2, Vec2)>,
    /// The part of the pane that nothing covers, as shares of its size: left, top, right, bottom margins.
    margins: [f32; 4],
    tallest: f32,
    pub(in crate::viewer) dragging: bool,
    pending_home: bool,
    /// Pose of the first look at the next city.
    awaited: Option<(CameraPose, bool)>,
    /// Whether the pose was given exactly: by a view file, or a bookmark.
    given: bool,
    /// Counts how often the camera was taken elsewhere at once.
    jumps: u64,
    /// The view of the whole city that is shown, until a hand moves the camera.
    whole: Option<WholeView>,
    /// How far buildings are flattened for the plan: 0 not at all, 1 wholly.
    flat: f32,
}

/// A view of the whole city, framed anew when the city or its pane changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeView {
    /// From a side.
    Side(ViewSide),
    /// From above.
    Above,
    /// A plan: buildings are flat.
    Plan,
}

impl WholeView {
    /// The first view.
    pub const HOME: WholeView = WholeView::Side(ViewSide::South);
}

/// Effect of a drag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grip {
    /// Turns the city, or the look.
    Turn,
    /// Moves the city under the pointer.
    Move,
}

/// A view that was near something stays when the ground is divided anew, unless the city takes less of the picture than this.
const LEAST_MOVED: CityInView = CityInView { ground: 0.0, picture: 0.1 };
/// Of other groups nothing is where it was: most of them have to be in sight.
const LEAST_REGROUPED: CityInView = CityInView { ground: 0.5, picture: 0.1 };

/// Heights of a plan, beside those of the city: buildings still lie upon their districts.
const PLAN_HEIGHTS: f32 = 0.008;

impl Default for CameraRig {
    fn default() -> Self {
        let mut rig = CameraRig {
            pose: CameraPose { eye: Vec3::new(0.0, 60.0, 90.0), yaw: 0.0, pitch: -0.6 },
            flight: None,
            target: Vec2::new(1280.0, 720.0),
            density: 1.0,
            pane: None,
            margins: [0.0; 4],
            tallest: 10.0,
            dragging: false,
            pending_home: true,
            awaited: None,
            given: false,
            jumps: 0,
            whole: Some(WholeView::HOME),
            flat: 0.0,
        };
        rig.pose = rig.pose_of(WholeView::HOME);
        rig
    }
}

impl CameraRig {
    /// Corner and size of the part of the window that the city is drawn in, logical pixels.
    pub fn area(&self) -> (Vec2, Vec2) {
        self.pane.unwrap_or((Vec2::ZERO, self.target))
    }

    /// The same as shares of the window: left, top, width, height; within it.
    pub(in crate::viewer) fn viewport(&self) -> [f32; 4] {
        let (corner, size) = self.area();
        self.shares_of(corner, size)
    }

    /// A part of the window as shares of it, likewise.
    pub(in crate::viewer) fn shares_of(&self, corner: Vec2, size: Vec2) -> [f32; 4] {
        let target = self.target.max(Vec2::ONE);
        let low = (corner / target).clamp(Vec2::ZERO, Vec2::ONE);
        let high = ((corner + size) / target).clamp(low, Vec2::ONE);
        [low.x, low.y, high.x - low.x, high.y - low.y]
    }

    /// Size of the window or image, logical pixels.
    pub(in crate::viewer) fn target(&self) -> Vec2 {
        self.target
    }

    /// Sets the size of the window or image, in logical pixels, and the number of its own pixels in each.
    pub(in crate::viewer) fn set_target(&mut self, size: Vec2, density: f32) {
        self.density = density;
        if self.target != size {
            self.target = size;
            if self.pane.is_none() {
                self.reframe();
            }
        }
    }

    /// Pixels of the window or image in a logical one.
    pub fn density(&self) -> f32 {
        self.density
    }

    /// Height of the pane, pixels of the window or image.
    pub(in crate::viewer) fn pixels_high(&self) -> f32 {
        self.area().1.y * self.density
    }

    /// The lens for the present pane.
    pub fn lens(&self) -> Lens {
        let size = self.area().1;
        Lens { fov: FIELD_OF_VIEW, aspect: size.x / size.y.max(1.0), margins: self.margins }
    }

    /// The pose of a view of the whole city.
    fn pose_of(&self, view: WholeView) -> CameraPose {
        match view {
            WholeView::Side(side) => camera::from_side(side, self.tallest, &self.lens()),
            WholeView::Above => camera::birds_eye(self.tallest, &self.lens()),
            WholeView::Plan => camera::plan_view(&self.lens()),
        }
    }

    /// Flies to a view of the whole city.
    pub fn show_whole(&mut self, view: WholeView) {
        self.dragging = false;
        self.fly_to(self.pose_of(view));
        self.whole = Some(view);
    }

    /// Whether the city is shown as a plan.
    pub fn plan(&self) -> bool {
        self.whole == Some(WholeView::Plan) || self.whole.is_none() && self.flat >= 1.0
    }

    /// Factor of heights.
    pub(in crate::viewer) fn heights(&self) -> f32 {
        // The nearer the flatter: roofs lie as little above the ground in the picture however near somebody goes.
        let flat = PLAN_HEIGHTS * (self.pose.eye.y / CITY_SIZE as f32).clamp(1e-3, 1.0);
        1.0 + (flat - 1.0) * self.flat
    }

    /// Whether a view of the whole city is shown.
    pub(in crate::viewer) fn shows_all(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether any of the city is in sight.
    pub(in crate::viewer) fn sees_city(&self) -> bool {
        camera::sees_city(&self.pose, self.tallest * self.heights(), &self.lens())
    }

    /// The next city that is shown is seen from here, not from its home view.
    pub fn await_city(&mut self, pose: CameraPose, plan: bool) {
        self.awaited = Some((pose, plan));
    }

    /// A new city: its home view at once.
    pub fn show_city(&mut self, tallest: f32) {
        self.tallest = tallest;
        self.flight = None;
        self.given = false;
        self.jumps += 1;
        (self.whole, self.flat) = (Some(WholeView::HOME), 0.0);
        if let Some((pose, plan)) = self.awaited.take() {
            self.jump_to(pose);
            self.lie_flat(plan);
            return;
        }
        self.pose = self.pose_of(WholeView::HOME);
        // Panels appear with the city: the view is taken again once their room is known.
        self.pending_home = true;
    }

    /// A part of the city as its own, or the city around it: its home view at once, as a plan where it was one.
    pub fn show_part(&mut self, tallest: f32) {
        let plan = self.plan();
        self.show_city(tallest);
        if plan {
            self.lie_flat(true);
            self.whole = Some(WholeView::Plan);
            self.pose = self.pose_of(WholeView::Plan);
        }
    }

    /// Adapts to the growth of the same city: a camera that shows all of it still does, one near something stays there.
    pub fn set_tallest(&mut self, tallest: f32) {
        self.tallest = tallest;
        self.reframe();
        if self.flight.is_none() && !self.sees_city() {
            self.show_whole(WholeView::HOME);
        }
    }

    /// Adapts to ground that is divided anew, for the same groups or for others. A camera near something stays there if that shows enough
    /// of the city, and is taken to the whole of it otherwise. `buried` returns whether an eye is in a building now.
    pub fn laid_out_anew(&mut self, tallest: f32, regrouped: bool, buried: impl FnOnce(Vec3) -> bool) {
        self.tallest = tallest;
        self.reframe();
        if self.whole.is_some() || self.given && !regrouped {
            return;
        }
        let pose = self.flight.map_or(self.pose, |(_, to, _)| to);
        let least = if regrouped { LEAST_REGROUPED } else { LEAST_MOVED };
        let view = CityInView::of(&pose, self.tallest * self.heights(), &self.lens());
        // Where that is in the world.
        let eye = pose.eye / self.flattened();
        if !view.is_at_least(least) || buried(eye) {
            tracing::debug!("camera: home: {:.2} of the ground, {:.2} of the picture", view.ground, view.picture);
            self.show_whole(WholeView::HOME);
        }
    }

    /// Frames the view of the whole city again, if it is one.
    fn reframe(&mut self) {
        let Some(view) = self.whole else { return };
        let pose = self.pose_of(view);
        match &mut self.flight {
            Some((_, to, _)) => *to = pose,
            None => self.pose = pose,
        }
    }

    /// Sets the city's pane, and the part of it that nothing covers.
    pub(in crate::viewer) fn set_pane(&mut self, all: egui::Rect, free: egui::Rect) {
        let (w, h) = (all.width().max(1.0), all.height().max(1.0));
        let margins = [
            (free.left() - all.left()) / w,
            (free.top() - all.top()) / h,
            (all.right() - free.right()) / w,
            (all.bottom() - free.bottom()) / h,
        ];
        let pane = Some((Vec2::new(all.left(), all.top()), Vec2::new(all.width(), all.height())));
        let (resized, uncovered) = (pane != self.pane, margins != self.margins);
        (self.pane, self.margins) = (pane, margins);
        // A new city, or a pane of another size: who looked at the whole city still does.
        if std::mem::take(&mut self.pending_home) || resized {
            self.reframe();
        } else if uncovered && let Some(view) = self.whole {
            // Something came over the city, or went: it glides there.
            self.show_whole(view);
        }
    }

    /// Whether a new city waits for its pane: its place is unknown until then.
    pub(in crate::viewer) fn awaits_pane(&self) -> bool {
        self.pending_home
    }

    /// Whether the camera moves by itself.
    pub(in crate::viewer) fn moving(&self) -> bool {
        self.flight.is_some() || self.flat != self.flat_wanted()
    }

    /// The plan stays one while it is moved about; any other view has heights.
    fn flat_wanted(&self) -> f32 {
        if self.plan() { 1.0 } else { 0.0 }
    }

    /// Lets time pass.
    pub(in crate::viewer) fn advance(&mut self, seconds: f32) {
        let step = seconds / 0.6;
        if let Some((from, to, progress)) = self.flight {
            let progress = (progress + step).min(1.0);
            let eased = progress * progress * (3.0 - 2.0 * progress);
            self.pose = if progress < 1.0 { camera::clamp(camera::between(&from, &to, eased)) } else { to };
            self.flight = (progress < 1.0).then_some((from, to, progress));
        }
        let wanted = self.flat_wanted();
        self.flat = if wanted > self.flat { (self.flat + step).min(1.0) } else { (self.flat - step).max(wanted) };
    }

    /// Whether a flight begins with this frame.
    pub(in crate::viewer) fn begins_flight(&self) -> bool {
        self.flight.is_some_and(|(.., progress)| progress == 0.0)
    }

    /// A hand moves the camera: no flight goes on.
    fn moved(&mut self, pose: CameraPose) {
        let plan = self.plan();
        self.flight = None;
        self.given = false;
        self.whole = None;
        self.flat = if plan { 1.0 } else { self.flat.min(0.999) };
        self.pose = camera::clamp(pose);
    }

    /// Drags by `by` points the point held at `held`.
    pub(in crate::viewer) fn drag(&mut self, grip: Grip, held: Vec3, by: Vec2, navigation: Navigation) {
        let height = self.area().1.y;
        // A plan is moved about: it has no sides to be looked at.
        let pose = match (grip, navigation) {
            (Grip::Move, _) => camera::pan(&self.pose, held, by, height, &self.lens()),
            _ if self.plan() => camera::pan(&self.pose, held, by, height, &self.lens()),
            (Grip::Turn, Navigation::Orbit) => camera::orbit(&self.pose, held, by),
            (Grip::Turn, _) => camera::drag_look(&self.pose, by, height, &self.lens()),
        };
        self.moved(pose);
    }

    /// Flies: `wish` is right, up, ahead, each from -1 to 1.
    pub(in crate::viewer) fn fly_by(&mut self, wish: Vec3, seconds: f32, navigation: Navigation) {
        // Speed follows height: slow between buildings, fast above the city.
        let by = wish * (8.0 + self.pose.eye.y.max(0.0) * 0.7) * seconds;
        let pose = match navigation {
            // Ahead on a plan is up in the picture.
            _ if self.plan() => camera::walk(&self.pose, by),
            Navigation::Walk => camera::walk(&self.pose, by),
            Navigation::Orbit | Navigation::Fly => camera::fly(&self.pose, by),
        };
        self.moved(pose);
    }

    /// Zooms with the wheel: nearer to the thing under the pointer, or back from it. If nothing is there, that would lose the city, so it
    /// approaches the city instead.
    pub(in crate::viewer) fn zoom_at(&mut self, at: Vec2, notches: f32) {
        let notches = notches.clamp(-8.0, 8.0);
        let sees = |pose: &CameraPose| camera::sees_city(pose, self.tallest * self.heights(), &self.lens());
        let to = |towards: Vec3| camera::clamp(camera::zoom(&self.pose, towards, notches));
        let pose = to(self.look(at).1);
        let instead = to((-self.pose.eye).normalize_or(Vec3::NEG_Y));
        let pose = match !sees(&self.pose) || sees(&pose) {
            true => pose,
            false if sees(&instead) => instead,
            false => self.pose,
        };
        self.moved(pose);
    }

    /// Moves a point of the ground to the middle of the picture.
    pub(in crate::viewer) fn centre_on(&mut self, x: f32, z: f32) {
        let ahead = self.pose.forward();
        let met = self.pose.eye + ahead * (self.pose.eye.y / (-ahead.y).max(0.05));
        let eye = self.pose.eye + Vec3::new(x - met.x, 0.0, z - met.z);
        self.moved(CameraPose { eye, ..self.pose });
    }

    /// Whether a mouse button drags the view.
    pub fn dragging(&self) -> bool {
        self.dragging
    }

    /// Shows the present view as a plan, or not.
    pub fn lie_flat(&mut self, plan: bool) {
        self.whole = None;
        self.flat = if plan { 1.0 } else { self.flat.min(0.999) };
    }

    /// Flies to a pose.
    pub fn fly_to(&mut self, pose: CameraPose) {
        self.given = false;
        self.whole = None;
        self.flat = self.flat.min(0.999);
        self.flight = Some((self.pose, pose, 0.0));
    }

    /// Takes a pose at once.
    pub fn jump_to(&mut self, pose: CameraPose) {
        self.flight = None;
        self.pending_home = false;
        self.given = true;
        self.jumps += 1;
        (self.whole, self.flat) = (None, 0.0);
        // A view that was kept comes back to the letter.
        let allowed = camera::clamp(pose);
        let yaw = if pose.yaw.abs() <= std::f32::consts::TAU { pose.yaw } else { allowed.yaw };
        self.pose =
            if pose.eye.is_finite() && pose.pitch.is_finite() { CameraPose { yaw, ..allowed } } else { allowed };
    }

    /// The pose that it has is that of a view of the whole city.
    pub fn show_at_once(&mut self, view: WholeView) {
        self.whole = Some(view);
    }

    /// How often the camera was taken elsewhere at once.
    pub(in crate::viewer) fn jumps(&self) -> u64 {
        self.jumps
    }

    /// The eye in the world. On a plan, which is flat, it is higher by the same factor: things above the ground look no larger for it.
    pub(in crate::viewer) fn eye(&self) -> Vec3 {
        self.pose.eye / self.flattened()
    }

    /// Factor from a world point to its place before the camera.
    pub(in crate::viewer) fn flattened(&self) -> Vec3 {
        Vec3::new(1.0, self.heights(), 1.0)
    }

    /// World to clip space, reversed depth without a far plane.
    pub fn clip_from_world(&self) -> Mat4 {
        self.lens().clip_from_world(&self.pose) * Mat4::from_scale(self.flattened())
    }

    /// The ray through a point of the window (logical pixels), in the world.
    pub fn ray(&self, at: Vec2) -> (Vec3, Vec3) {
        let (_, towards) = self.look(at);
        (self.eye(), (towards / self.flattened()).normalize_or(Vec3::NEG_Y))
    }

    /// The same as it is before the camera.
    pub(in crate::viewer) fn look(&self, at: Vec2) -> (Vec3, Vec3) {
        let (corner, size) = self.area();
        let at = (at - corner) / size.max(Vec2::ONE);
        let ndc = Vec2::new(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0);
        let towards = camera::direction(&self.pose, &self.lens(), ndc);
        (self.pose.eye, towards.normalize_or(Vec3::NEG_Y))
    }
}

#[cfg(test)]
mod tests {
    use super::super::laid_out::City;
    use super::*;
    use crate::viewer::settings::Settings;
    use memory_city_analysis::timeline::{Amount, TimePoint, Timeline};
    use proptest::prelude::*;
    use std::sync::Arc;

    #[derive(Clone, Debug)]
    enum Hand {
        Drag(Grip, Vec2, Vec<Vec2>),
        Fly(Vec3, f32),
        Wheel(Vec2, f32),
        View(WholeView),
        Window(Vec2),
        City(f32),
        Wait(f32),
    }

    fn point() -> impl Strategy<Value = Vec2> {
        (-50.0..1500.0f32, -50.0..900.0f32).prop_map(|(x, y)| Vec2::new(x, y))
    }

    fn hand() -> impl Strategy<Value = (Hand, usize)> {
        let grip = prop_oneof![Just(Grip::Turn), Just(Grip::Move)];
        let view = prop_oneof![
            Just(WholeView::Side(ViewSide::East)),
            Just(WholeView::Side(ViewSide::North)),
            Just(WholeView::Above),
            Just(WholeView::Plan)
        ];
        let hand = prop_oneof![
            3 => (grip, point(), prop::collection::vec(point(), 1..6)).prop_map(|(g, at, to)| Hand::Drag(g, at, to)),
            1 => (-1.0..1.0f32, -1.0..1.0f32, -1.0..1.0f32, 0.0..9.0f32)
                .prop_map(|(x, y, z, s)| Hand::Fly(Vec3::new(x, y, z), s)),
            1 => (point(), -60.0..60.0f32).prop_map(|(at, n)| Hand::Wheel(at, n)),
            1 => view.prop_map(Hand::View),
            1 => (40.0..4000.0f32, 40.0..2200.0f32).prop_map(|(x, y)| Hand::Window(Vec2::new(x, y))),
            1 => (0.0..180.0f32).prop_map(Hand::City),
            1 => (0.0..1.0f32).prop_map(Hand::Wait),
        ];
        (hand, 0..Navigation::ALL.len())
    }

    proptest! {
        #[test]
        fn after_any_inputs_the_city_is_on_screen_after_one_key(hands in prop::collection::vec(hand(), 0..40)) {
            let mut rig = CameraRig::default();
            for (hand, mode) in hands {
                let mode = Navigation::ALL[mode];
                match hand {
                    Hand::Drag(grip, at, to) => {
                        let (eye, towards) = rig.ray(at);
                        let held = camera::pivot_on_ground(eye, towards);
                        let p = rig.clip_from_world() * held.extend(1.0);
                        let in_sight = p.w > 1.0 && (Vec2::new(p.x, p.y) / p.w).abs().max_element() < 0.95;
                        let mut last = at;
                        for next in to {
                            rig.drag(grip, held, next - last, mode);
                            last = next;
                        }
                        // What turns the city around a point in sight never loses it.
                        if grip == Grip::Turn && mode == Navigation::Orbit && !rig.plan() && in_sight {
                            prop_assert!(rig.sees_city(), "{:?}", rig.pose);
                        }
                    }
                    Hand::Fly(by, seconds) => rig.fly_by(by, seconds, mode),
                    Hand::Wheel(at, notches) => rig.zoom_at(at, notches),
                    Hand::View(view) => rig.show_whole(view),
                    Hand::Window(size) => {
                        let all = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(size.x, size.y));
                        rig.set_pane(all, all);
                    }
                    Hand::City(tallest) => rig.set_tallest(tallest),
                    Hand::Wait(seconds) => rig.advance(seconds),
                }
                prop_assert!(rig.pose.eye.is_finite() && rig.pose.eye.y > 0.0);
            }
            rig.show_whole(WholeView::HOME);
            rig.advance(f32::INFINITY);
            prop_assert!(rig.sees_city());
            prop_assert_eq!(rig.pose, camera::home(rig.tallest, &rig.lens()));
        }
    }

    /// The plan is a treemap with the same plots: each as it lies on the ground, all at one scale, for any building height and any camera
    /// distance.
    #[test]
    fn the_plan_is_a_treemap_of_the_plots() {
        let trees = [1u64, 3].map(|time| {
            let mut tree = memory_city_analysis::group::MemoryTree::new();
            for (package, bytes) in [("a", 900), ("b", 500), ("b", 40), ("c", 90), ("c", 12), ("c", 7000), ("d", 3)] {
                let inner = tree.child(0, &"Package".into(), &package.into());
                let leaf = tree.child(inner, &"Type".into(), &format!("T{bytes}").as_str().into());
                tree.add_up(&[leaf as u32], Amount { objects: time, bytes: time * bytes });
            }
            tree
        });
        let timeline = Arc::new(Timeline::from_trees(vec![TimePoint::default(); 2], &trees));
        let mut city = City::new(&timeline, &Settings::default());
        let mut rig = CameraRig::default();
        let all = egui::Rect::from_min_size(egui::pos2(300.0, 40.0), egui::vec2(900.0, 640.0));
        rig.set_pane(all, all.with_min_y(90.0));
        rig.show_city(city.appearance.height_unit());
        rig.show_whole(WholeView::Plan);
        rig.advance(f32::INFINITY);
        let states = city.states(1);
        let mut compared = 0;
        for near in [1.0, 0.04] {
            rig.pose.eye.y *= near;
            let at = |x: f64, y: f64, z: f64| {
                let clip = rig.clip_from_world() * Vec3::new(x as f32, y as f32, z as f32).extend(1.0);
                let ndc = Vec2::new(clip.x, -clip.y) / clip.w;
                (ndc + Vec2::ONE) / 2.0 * rig.area().1
            };
            // The scale of the ground, by its corners.
            let half = CITY_SIZE / 2.0;
            let (low, high) = (at(-half, 0.0, -half), at(half, 0.0, half));
            let scale = (high - low) / (2.0 * half) as f32;
            assert!((scale.x - scale.y).abs() < 1e-3 * scale.x && scale.x > 0.0, "{scale}");
            assert!(near < 1.0 || high.x - low.x > 500.0, "it fills its pane: {low} to {high}");
            for (plot, p) in city.plan.plots.iter().enumerate() {
                let standing = city.appearance.standing(states.of(plot));
                let roof = p.ground() + f64::from(standing.height);
                for (x, z) in [(p.cell.x, p.cell.y), (p.cell.x + p.cell.w, p.cell.y + p.cell.h)] {
                    let wanted = low + scale * Vec2::new((x + half) as f32, (z + half) as f32);
                    let off = at(x, roof, z).distance(wanted);
                    // Roofs lie a little above the ground, which shows the more the further from the middle of the picture.
                    let from_middle = wanted.distance(rig.area().1 / 2.0).max(100.0);
                    assert!(off < 0.015 * from_middle, "plot {plot}: {off} points off, {near}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, 2 * 2 * 7);
    }

    #[test]
    fn a_drag_of_200_points_leaves_the_city_in_sight() {
        for mode in Navigation::ALL {
            for by in [Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y] {
                let mut rig = CameraRig::default();
                let (eye, towards) = rig.ray(Vec2::new(640.0, 360.0));
                rig.drag(Grip::Turn, camera::pivot_on_ground(eye, towards), by * 200.0, mode);
                assert!(rig.sees_city(), "{mode:?} {by}");
            }
        }
    }

    #[test]
    fn the_wheel_over_the_sky_does_not_lose_the_city() {
        for at in [Vec2::new(1200.0, 5.0), Vec2::new(10.0, 5.0), Vec2::new(1275.0, 715.0)] {
            for notches in [1.0, -1.0] {
                let mut rig = CameraRig::default();
                for _ in 0..60 {
                    rig.zoom_at(at, notches);
                    assert!(rig.sees_city(), "{at} {notches}");
                }
            }
        }
    }

    #[test]
    fn a_view_of_the_whole_city_stays_one_when_the_city_or_the_window_changes() {
        for view in [WholeView::HOME, WholeView::Side(ViewSide::West), WholeView::Above, WholeView::Plan] {
            let mut rig = CameraRig::default();
            rig.show_whole(view);
            rig.advance(f32::INFINITY);
            rig.set_tallest(90.0);
            let all = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(500.0, 900.0));
            rig.set_pane(all, all);
            assert_eq!(rig.pose, rig.pose_of(view), "{view:?}");
        }
        // Who went near something stays there, unless nothing of the city would be left in sight.
        let mut rig = CameraRig::default();
        rig.zoom_at(Vec2::new(640.0, 400.0), 3.0);
        let near = rig.pose;
        rig.set_tallest(90.0);
        assert_eq!(rig.pose, near);
    }

    #[test]
    fn on_a_ground_that_is_divided_anew_the_city_is_in_sight() {
        // How far somebody went near it, whether groups are others, whether a building stands there now, and whether that stays.
        for (notches, regrouped, buried, stays) in [
            (3.0, false, false, true),
            (3.0, true, false, true),
            (24.0, false, false, true),
            (24.0, true, false, false),
            (24.0, false, true, false),
            (-24.0, false, false, false),
            (-24.0, true, false, false),
        ] {
            let mut rig = CameraRig::default();
            for _ in 0..10 {
                rig.zoom_at(Vec2::new(640.0, 400.0), notches / 10.0);
            }
            let before = rig.pose;
            rig.laid_out_anew(30.0, regrouped, |eye| {
                assert_eq!(eye, before.eye);
                buried
            });
            rig.advance(f32::INFINITY);
            let case = (notches, regrouped, buried);
            assert_eq!(rig.pose == before, stays, "{case:?}");
            assert!(stays || rig.pose == rig.pose_of(WholeView::HOME), "{case:?}: all of it is in sight");
        }
        // Where a flight leads is what counts; a view that was given to the letter stays with the same groups.
        let near = CameraPose { eye: Vec3::new(10.0, 4.0, 20.0), yaw: 0.0, pitch: -0.3 };
        let mut rig = CameraRig::default();
        rig.fly_to(near);
        rig.laid_out_anew(30.0, true, |_| false);
        rig.advance(f32::INFINITY);
        assert_eq!(rig.pose, rig.pose_of(WholeView::HOME));
        // On a plan it is asked where the eye is in the world, above all roofs.
        let mut rig = CameraRig::default();
        rig.show_at_once(WholeView::Plan);
        rig.zoom_at(Vec2::new(640.0, 400.0), 24.0);
        rig.advance(f32::INFINITY);
        assert!(rig.pose.eye.y < 40.0, "{}", rig.pose.eye);
        rig.laid_out_anew(30.0, false, |eye| {
            assert!(eye.y > 100.0, "{eye}");
            false
        });
        let nothing = CameraPose { pitch: 1.0, ..near };
        for (regrouped, stays) in [(false, true), (true, false)] {
            let mut rig = CameraRig::default();
            rig.jump_to(nothing);
            rig.laid_out_anew(30.0, regrouped, |_| true);
            rig.advance(f32::INFINITY);
            assert_eq!(rig.pose == nothing, stays);
        }
    }
}
