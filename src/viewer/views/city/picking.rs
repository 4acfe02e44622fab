//! What the mouse points at in the city, and what a click selects. The ray is cast by [`memory_city_views::city`]; a drag is no click.

use super::fly::CameraRig;
use super::laid_out::Shown;
use super::multiples::Multiples;
use super::pane::CityPane;
use crate::viewer::clock::Clock;
use crate::viewer::selection::{Selection, Target};
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::{EguiContexts, egui};
use memory_city_views::city::HitTarget;

/// The mouse over the city.
#[derive(Resource, Default)]
pub struct Pointer {
    /// Logical pixels of the window, while over the city's pane and nothing that lies over it.
    pub over: Option<Vec2>,
    pressed_at: Option<Vec2>,
}

/// A press that moves further than this is a drag.
const CLICK_SLOP: f32 = 4.0;

/// Finds out whether the mouse is over the city: in its pane, with nothing over it, and busy with no other widget.
pub fn find_pointer(
    windows: Query<&Window, With<PrimaryWindow>>,
    mut contexts: EguiContexts,
    (pane, multiples): (Res<CityPane>, Res<Multiples>),
    mut pointer: ResMut<Pointer>,
) {
    let cursor = windows.single().ok().and_then(|w| w.cursor_position());
    let over = cursor.filter(|at| {
        let point = egui::pos2(at.x, at.y);
        let Some(rect) = pane.rect.filter(|rect| rect.contains(point)) else { return false };
        let Ok(ctx) = contexts.ctx_mut() else { return rect.is_positive() };
        let covered = ctx.layer_id_at(point).is_some_and(|layer| layer.order != egui::Order::Background);
        // Of several times beside each other a click chooses one.
        !covered && !ctx.egui_is_using_pointer() && multiples.0.is_empty()
    });
    if pointer.over != over {
        pointer.over = over;
    }
}

/// Updates what is hovered and selects on a click.
pub fn pick(
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    mut pointer: ResMut<Pointer>,
    mut selection: ResMut<Selection>,
    mut shown: ResMut<Shown>,
    clock: Res<Clock>,
    rig: Res<CameraRig>,
) {
    let over = pointer.over.filter(|_| !rig.dragging());
    let hovered = match (over, shown.bypass_change_detection().0.as_mut()) {
        (Some(at), Some(city)) => {
            let (origin, direction) = rig.ray(at);
            let before = city.states(clock.time.min(city.times().saturating_sub(1)));
            let standing = |plot: usize| city.appearance.standing(before.of(plot));
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
        pointer.pressed_at = over;
    }
    if buttons.just_released(MouseButton::Left)
        && let (Some(start), Some(end), Some(city)) = (pointer.pressed_at.take(), over, &shown.0)
        && start.distance(end) <= CLICK_SLOP
    {
        let several = keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]);
        match hovered {
            Some(Target::Node(node) | Target::More(node)) if several => {
                selection.add_or_remove(&city.timeline, node);
            }
            Some(Target::Node(node) | Target::More(node)) => selection.toggle(&city.timeline, node),
            None => selection.clear(),
        }
    }
}
