//! The camera: keys and mouse move it, views fly it, and it never ends below ground or lost. The arithmetic is
//! [`memory_city_views::city::camera`]'s; this module feeds it input and time.

use super::action::Action;
use super::clock::Clock;
use super::notices::Notices;
use super::selection::Selection;
use super::shown::{Shown, Target};
use bevy::input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::egui;
use bevy_egui::input::EguiWantsInput;
use glam::{Mat4, Vec2, Vec3};
use memory_city_views::city::HitTarget;
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
    /// Size of the picture, logical pixels.
    pub size: Vec2,
    /// The part no panel covers, as shares of the size: left, top, right, bottom margins.
    margins: [f32; 4],
    tallest: f32,
    dragging: bool,
    pending_home: bool,
}

impl Default for CameraRig {
    fn default() -> Self {
        let mut rig = CameraRig {
            pose: CameraPose { eye: Vec3::new(0.0, 60.0, 90.0), yaw: 0.0, pitch: -0.6 },
            flight: None,
            size: Vec2::new(1280.0, 720.0),
            margins: [0.0; 4],
            tallest: 10.0,
            dragging: false,
            pending_home: true,
        };
        rig.pose = rig.home();
        rig
    }
}

impl CameraRig {
    /// The lens for the present picture and panels.
    pub fn lens(&self) -> Lens {
        Lens { fov: FIELD_OF_VIEW, aspect: self.size.x / self.size.y.max(1.0), margins: self.margins }
    }

    fn home(&self) -> CameraPose {
        camera::home(self.tallest, &self.lens())
    }

    /// A new city: its home view at once.
    pub fn show_city(&mut self, tallest: f32) {
        self.tallest = tallest;
        self.flight = None;
        self.pose = self.home();
        // Panels appear with the city: the view is taken again once their room is known.
        self.pending_home = true;
    }

    /// The same city, laid out anew: the camera stays.
    pub fn set_tallest(&mut self, tallest: f32) {
        self.tallest = tallest;
    }

    /// The part of the picture that panels leave free.
    pub fn set_free_area(&mut self, all: egui::Rect, free: egui::Rect) {
        let (w, h) = (all.width().max(1.0), all.height().max(1.0));
        let margins = [
            (free.left() - all.left()) / w,
            (free.top() - all.top()) / h,
            (all.right() - free.right()) / w,
            (all.bottom() - free.bottom()) / h,
        ];
        if margins != self.margins {
            self.margins = margins;
        }
        if self.pending_home {
            self.pending_home = false;
            self.pose = self.home();
        }
    }

    /// Whether the camera moves by itself.
    pub fn moving(&self) -> bool {
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
        self.pose = camera::clamp(pose);
    }

    /// World to clip space, reversed depth without a far plane.
    pub fn clip_from_world(&self) -> Mat4 {
        self.lens().clip_from_world(&self.pose)
    }

    /// The ray through a point of the picture (logical pixels).
    pub fn ray(&self, at: Vec2) -> (Vec3, Vec3) {
        let ndc = Vec2::new(at.x / self.size.x.max(1.0) * 2.0 - 1.0, 1.0 - at.y / self.size.y.max(1.0) * 2.0);
        let world_from_clip = self.clip_from_world().inverse();
        let near = world_from_clip.project_point3(ndc.extend(0.5));
        (self.pose.eye, (near - self.pose.eye).normalize_or(Vec3::NEG_Y))
    }
}

/// Follows the size of the window or image.
pub fn follow_size(mut rig: ResMut<CameraRig>, cameras: Query<&Camera>) {
    for camera in &cameras {
        if let Some(size) = camera.logical_viewport_size()
            && size.min_element() > 0.0
            && rig.size != size
        {
            let was_home = rig.pose == rig.home();
            rig.size = size;
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
                let target = match (city.plot_of(Target::Node(node)), city.plan.district_of(node)) {
                    (Some(plot), _) => HitTarget::Plot(plot),
                    (None, Some(district)) => HitTarget::District(district),
                    (None, None) => {
                        notices.tell("The selected group has no plot at the present child count");
                        continue;
                    }
                };
                let pose = city.focus(target, clock.time, &rig.pose, &rig.lens());
                rig.fly_to(pose);
            }
            _ => {}
        }
    }
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
    windows: Query<&Window, With<PrimaryWindow>>,
    time: Res<Time>,
) {
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
    let over_panel = egui.is_pointer_over_area() || egui.wants_pointer_input();
    let pressed_now = buttons.any_just_pressed([MouseButton::Right, MouseButton::Middle]);
    if pressed_now && !over_panel {
        rig.dragging = true;
    }
    if !buttons.any_pressed([MouseButton::Right, MouseButton::Middle]) {
        rig.dragging = false;
    }
    if rig.dragging && motion.delta != Vec2::ZERO {
        if buttons.pressed(MouseButton::Right) {
            pose = camera::look(&pose, motion.delta * 0.0045);
        } else {
            let per_pixel = pose.eye.y.max(2.0) * 1.4 / rig.size.y.max(1.0);
            pose = camera::fly(&pose, Vec3::new(-motion.delta.x, motion.delta.y, 0.0) * per_pixel);
        }
        moved = true;
    }
    if scroll.delta.y != 0.0 && !over_panel {
        let notches = match scroll.unit {
            MouseScrollUnit::Line => scroll.delta.y,
            MouseScrollUnit::Pixel => scroll.delta.y / 40.0,
        };
        let cursor = windows.single().ok().and_then(|w| w.cursor_position());
        let towards = cursor.map(|at| rig.ray(at).1).unwrap_or(pose.forward());
        pose = camera::zoom(&pose, towards, notches.clamp(-8.0, 8.0));
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
