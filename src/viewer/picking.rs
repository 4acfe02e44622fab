//! What the mouse points at in the city, and what a click selects. The ray is cast by [`memory_city_views::city`]; a drag is no click.

use super::clock::Clock;
use super::fly::CameraRig;
use super::selection::Selection;
use super::shown::{Shown, Target};
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::input::EguiWantsInput;
use memory_city_views::city::HitTarget;

/// The mouse over the city.
#[derive(Resource, Default)]
pub struct Pointer {
    /// Logical pixels, while over the city and not over a panel.
    pub over_city: Option<Vec2>,
    pressed_at: Option<Vec2>,
}

/// A press that moves further than this is a drag.
const CLICK_SLOP: f32 = 4.0;

/// Updates what is hovered and selects on a click.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn pick(
    windows: Query<&Window, With<PrimaryWindow>>,
    buttons: Res<ButtonInput<MouseButton>>,
    egui: Res<EguiWantsInput>,
    mut pointer: ResMut<Pointer>,
    mut selection: ResMut<Selection>,
    mut shown: ResMut<Shown>,
    clock: Res<Clock>,
    rig: Res<CameraRig>,
) {
    let cursor = windows.single().ok().and_then(|w| w.cursor_position());
    let free = !egui.is_pointer_over_area() && !egui.wants_pointer_input();
    pointer.over_city = cursor.filter(|_| free && !rig.dragging());
    let hovered = match (pointer.over_city, shown.bypass_change_detection().0.as_mut()) {
        (Some(at), Some(city)) => {
            let (origin, direction) = rig.ray(at);
            let before = city.states(clock.time).plots;
            let standing = |plot: usize| city.appearance.standing(before[plot]);
            let hit = city.appearance.pick(&city.plan, standing, origin, direction);
            hit.map(|hit| match hit.target {
                HitTarget::Plot(plot) => city.target_of_plot(plot),
                HitTarget::District(district) => Target::Node(city.plan.districts[district].node),
            })
        }
        _ => None,
    };
    if selection.hovered != hovered {
        selection.hovered = hovered;
    }
    if buttons.just_pressed(MouseButton::Left) {
        pointer.pressed_at = pointer.over_city;
    }
    if buttons.just_released(MouseButton::Left)
        && let (Some(start), Some(end), Some(city)) = (pointer.pressed_at.take(), pointer.over_city, &shown.0)
        && start.distance(end) <= CLICK_SLOP
    {
        match hovered {
            Some(Target::Node(node)) => selection.toggle(&city.timeline, node),
            Some(Target::More(parent)) => selection.toggle(&city.timeline, parent),
            None => selection.clear(),
        }
    }
}
