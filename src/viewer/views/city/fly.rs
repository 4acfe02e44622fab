//! The camera: keys and mouse move it, views fly it, and it never ends below ground or lost. The arithmetic is
//! [`memory_city_views::city::camera`]'s; this module feeds it input and time.

use super::laid_out::{City, Shown};
use super::picking::Pointer;
use super::place_of;
use crate::viewer::action::Action;
use crate::viewer::app::Awake;
use crate::viewer::clock::Clock;
use crate::viewer::notices::Notices;
use crate::viewer::selection::{Selection, Target};
use bevy::input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;
use bevy_egui::egui;
use bevy_egui::input::EguiWantsInput;
use glam::{Mat4, Vec2, Vec3};
use memory_city_analysis::timeline::NodeId;
use memory_city_views::city::camera::{self, CameraPose, Lens};

/// Vertical field of view, radians.
pub const FIELD_OF_VIEW: f32 = 0.55;

/// Where the camera is, and where it flies to.
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
    /// Where in it the city is drawn: corner and size. All of it until a pane says otherwise.
    pane: Option<(Vec2, Vec2)>,
    /// The part of the pane that nothing covers, as shares of its size: left, top, right, bottom margins.
    margins: [f32; 4],
    tallest: f32,
    dragging: bool,
    pending_home: bool,
    /// From where the next city is seen first.
    awaited: Option<CameraPose>,
    /// Counts how often the camera was taken elsewhere at once.
    jumps: u64,
}

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
            jumps: 0,
        };
        rig.pose = rig.home();
        rig
    }
}

impl CameraRig {
    /// Corner and size of the part of the window that the city is drawn in, logical pixels.
    pub fn area(&self) -> (Vec2, Vec2) {
        self.pane.unwrap_or((Vec2::ZERO, self.target))
    }

    /// The same as shares of the window: left, top, width, height; within it.
    pub(super) fn viewport(&self) -> [f32; 4] {
        let (corner, size) = self.area();
        self.shares_of(corner, size)
    }

    /// A part of the window as shares of it, likewise.
    pub(super) fn shares_of(&self, corner: Vec2, size: Vec2) -> [f32; 4] {
        let target = self.target.max(Vec2::ONE);
        let low = (corner / target).clamp(Vec2::ZERO, Vec2::ONE);
        let high = ((corner + size) / target).clamp(low, Vec2::ONE);
        [low.x, low.y, high.x - low.x, high.y - low.y]
    }

    /// Height of the pane, pixels of the window or image.
    pub(super) fn pixels_high(&self) -> f32 {
        self.area().1.y * self.density
    }

    /// The lens for the present pane.
    pub fn lens(&self) -> Lens {
        let size = self.area().1;
        Lens { fov: FIELD_OF_VIEW, aspect: size.x / size.y.max(1.0), margins: self.margins }
    }

    fn home(&self) -> CameraPose {
        camera::home(self.tallest, &self.lens())
    }

    /// The next city that is shown is seen from here, not from its home view.
    pub fn await_city(&mut self, pose: CameraPose) {
        self.awaited = Some(pose);
    }

    /// A new city: its home view at once.
    pub fn show_city(&mut self, tallest: f32) {
        self.tallest = tallest;
        self.flight = None;
        self.jumps += 1;
        if let Some(pose) = self.awaited.take() {
            self.jump_to(pose);
            return;
        }
        self.pose = self.home();
        // Panels appear with the city: the view is taken again once their room is known.
        self.pending_home = true;
    }

    /// The same city, laid out anew: the camera stays.
    pub fn set_tallest(&mut self, tallest: f32) {
        self.tallest = tallest;
    }

    /// Where the city is drawn, and the part of it that nothing covers.
    pub(super) fn set_pane(&mut self, all: egui::Rect, free: egui::Rect) {
        let (w, h) = (all.width().max(1.0), all.height().max(1.0));
        let margins = [
            (free.left() - all.left()) / w,
            (free.top() - all.top()) / h,
            (all.right() - free.right()) / w,
            (all.bottom() - free.bottom()) / h,
        ];
        let pane = Some((Vec2::new(all.left(), all.top()), Vec2::new(all.width(), all.height())));
        let was_home = self.pose == self.home();
        if (pane, margins) != (self.pane, self.margins) {
            (self.pane, self.margins) = (pane, margins);
        }
        // A new city, or a pane of another size: who looked at the whole city still does.
        if std::mem::take(&mut self.pending_home) || was_home {
            self.pose = self.home();
        }
    }

    /// Whether the camera moves by itself.
    pub(super) fn moving(&self) -> bool {
        self.flight.is_some()
    }

    /// Whether a mouse button drags the view.
    pub fn dragging(&self) -> bool {
        self.dragging
    }

    /// Flies to a pose.
    pub fn fly_to(&mut self, pose: CameraPose) {
        self.flight = Some((self.pose, pose, 0.0));
    }

    /// Takes a pose at once.
    pub fn jump_to(&mut self, pose: CameraPose) {
        self.flight = None;
        self.pending_home = false;
        self.jumps += 1;
        self.pose = camera::clamp(pose);
    }

    /// How often the camera was taken elsewhere at once.
    pub(super) fn jumps(&self) -> u64 {
        self.jumps
    }

    /// World to clip space, reversed depth without a far plane.
    pub fn clip_from_world(&self) -> Mat4 {
        self.lens().clip_from_world(&self.pose)
    }

    /// The ray through a point of the window (logical pixels).
    pub fn ray(&self, at: Vec2) -> (Vec3, Vec3) {
        let (corner, size) = self.area();
        let at = (at - corner) / size.max(Vec2::ONE);
        let ndc = Vec2::new(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0);
        let world_from_clip = self.clip_from_world().inverse();
        let near = world_from_clip.project_point3(ndc.extend(0.5));
        (self.pose.eye, (near - self.pose.eye).normalize_or(Vec3::NEG_Y))
    }
}

/// Follows the size of the window or image.
pub fn follow_size(mut rig: ResMut<CameraRig>, cameras: Query<&Camera>) {
    for camera in &cameras {
        if let Some(density) = camera.target_scaling_factor().filter(|&density| density != rig.density) {
            rig.density = density;
        }
        if let Some(size) = camera.logical_viewport_size()
            && size.min_element() > 0.0
            && rig.target != size
        {
            let was_home = rig.pane.is_none() && rig.pose == rig.home();
            rig.target = size;
            if was_home {
                rig.pose = rig.home();
            }
        }
    }
}

/// Views reached by one key.
pub fn view_actions(
    mut actions: MessageReader<Action>,
    mut rig: ResMut<CameraRig>,
    selection: Res<Selection>,
    mut shown: ResMut<Shown>,
    clock: Res<Clock>,
    mut notices: ResMut<Notices>,
) {
    for action in actions.read() {
        match action {
            Action::Reset => {
                let home = rig.home();
                rig.fly_to(home);
            }
            Action::BirdsEye => {
                let above = camera::birds_eye(rig.tallest, &rig.lens());
                rig.fly_to(above);
            }
            Action::Focus => {
                let (Some(city), Some(node)) = (shown.bypass_change_detection().0.as_mut(), selection.node()) else {
                    notices.tell("Select a building first, then F flies to it");
                    continue;
                };
                match focus_pose(city, node, clock.time, &rig.pose, &rig.lens()) {
                    Some(pose) => rig.fly_to(pose),
                    None => notices.tell("The selected group has no plot at the present child count"),
                }
            }
            _ => {}
        }
    }
}

/// The pose that shows a node from near; `None` where it has no place in the city.
pub fn focus_pose(city: &mut City, node: NodeId, time: usize, from: &CameraPose, lens: &Lens) -> Option<CameraPose> {
    let target = place_of(city, Target::Node(node))?;
    let time = time.min(city.times().saturating_sub(1));
    Some(city.focus(target, time, from, lens))
}

/// Held keys, wheel and drags.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn fly(
    mut rig: ResMut<CameraRig>,
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
    egui: Res<EguiWantsInput>,
    pointer: Res<Pointer>,
    time: Res<Time>,
    mut awake: ResMut<Awake>,
) {
    awake.keep_if(rig.moving());
    // A long frame must not fling the camera away.
    let delta = time.delta_secs().min(0.1);
    let mut pose = rig.pose;
    if let Some((from, to, progress)) = rig.flight {
        let progress = (progress + delta / 0.6).min(1.0);
        let eased = progress * progress * (3.0 - 2.0 * progress);
        pose = camera::between(&from, &to, eased);
        rig.flight = (progress < 1.0).then_some((from, to, progress));
    }
    let mut moved = false;
    if !egui.wants_keyboard_input() && !keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]) {
        let axis = |plus: KeyCode, minus: KeyCode| keys.pressed(plus) as i8 as f32 - keys.pressed(minus) as i8 as f32;
        let wish = Vec3::new(
            axis(KeyCode::KeyD, KeyCode::KeyA),
            axis(KeyCode::KeyQ, KeyCode::KeyE),
            axis(KeyCode::KeyW, KeyCode::KeyS),
        );
        if wish != Vec3::ZERO {
            let fast = if keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]) { 3.0 } else { 1.0 };
            // Speed follows height: slow between buildings, fast above the city.
            let speed = (8.0 + pose.eye.y.max(0.0) * 0.7) * fast * delta;
            pose = camera::fly(&pose, wish * speed);
            moved = true;
        }
    }
    let pressed_now = buttons.any_just_pressed([MouseButton::Right, MouseButton::Middle]);
    if pressed_now && pointer.over.is_some() {
        rig.dragging = true;
    }
    if !buttons.any_pressed([MouseButton::Right, MouseButton::Middle]) {
        rig.dragging = false;
    }
    if rig.dragging && motion.delta != Vec2::ZERO {
        if buttons.pressed(MouseButton::Right) {
            pose = camera::look(&pose, motion.delta * 0.0045);
        } else {
            let per_pixel = pose.eye.y.max(2.0) * 1.4 / rig.area().1.y.max(1.0);
            pose = camera::fly(&pose, Vec3::new(-motion.delta.x, motion.delta.y, 0.0) * per_pixel);
        }
        moved = true;
    }
    if let Some(at) = pointer.over.filter(|_| scroll.delta.y != 0.0) {
        let notches = match scroll.unit {
            MouseScrollUnit::Line => scroll.delta.y,
            MouseScrollUnit::Pixel => scroll.delta.y / 40.0,
        };
        pose = camera::zoom(&pose, rig.ray(at).1, notches.clamp(-8.0, 8.0));
        moved = true;
    }
    if moved {
        rig.flight = None;
    }
    let clamped = camera::clamp(pose);
    if clamped != rig.pose {
        rig.pose = clamped;
    }
}
