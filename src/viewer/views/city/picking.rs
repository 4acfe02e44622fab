//! What the mouse points at in the city, and what a click selects. The ray is cast by [`memory_city_views::city`]; a drag is no click.

use super::drill;
use super::fly::CameraRig;
use super::fly::focus_pose;
use super::labels::Named;
use super::laid_out::Shown;
use super::multiples::Multiples;
use super::pane::CityPane;
use super::present::ShownCones;
use crate::viewer::clock::Clock;
use crate::viewer::notices::Notices;
use crate::viewer::selection::{Selection, Target};
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::{EguiContexts, egui};
use memory_city_views::city::{HitTarget, nearest_way};

/// The mouse over the city.
#[derive(Resource, Default)]
pub struct Pointer {
    /// Logical pixels of the window, while over the city's pane and nothing that lies over it.
    pub over: Option<Vec2>,
    pressed_at: Option<Vec2>,
}

/// A reference is under the mouse within so many points.
const CONE_REACH: f32 = 3.0;
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
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn pick(
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    mut pointer: ResMut<Pointer>,
    mut selection: ResMut<Selection>,
    mut shown: ResMut<Shown>,
    clock: Res<Clock>,
    (mut rig, pane): (ResMut<CameraRig>, Res<CityPane>),
    (mut settings, mut notices): (ResMut<Settings>, ResMut<Notices>),
    mut cones: ResMut<ShownCones>,
) {
    let over = pointer.over.filter(|_| !rig.dragging());
    // A name stands for what it names.
    let named = over.and_then(|at| pane.named_at(egui::pos2(at.x, at.y)));
    let mut before_it = None;
    let hovered = match (over, shown.bypass_change_detection().0.as_mut()) {
        (Some(_), Some(_)) if named.is_some() => match named {
            Some(Named::Group(target)) => Some(target),
            Some(Named::Rest(..)) | None => None,
        },
        (Some(at), Some(city)) => {
            let (origin, direction) = rig.ray(at);
            let before = city.states(clock.time.min(city.times().saturating_sub(1)));
            let standing = |plot: usize| city.appearance.standing(before.of(plot));
            let hit = city.appearance.pick(&city.plan, standing, origin, direction);
            before_it = hit.as_ref().map(|hit| hit.distance);
            hit.map(|hit| match hit.target {
                HitTarget::Plot(plot) => city.target_of_plot(plot),
                HitTarget::District(district) => Target::Node(city.plan.districts[district].node),
            })
        }
        _ => None,
    };
    // References lie before and behind roofs: the one under the mouse, unless something stands before it.
    let on = over.filter(|_| named.is_none()).and_then(|at| {
        let (corner, size) = rig.area();
        let near = nearest_way(&cones.ways, rig.clip_from_world(), size, at - corner, CONE_REACH)?;
        let cone = cones.cones.get(near.way)?;
        // At its ends a building is meant.
        let city = shown.0.as_ref()?;
        let ends = [Some(city.target_of_plot(cone.other)), selection.node().map(Target::Node)];
        if hovered.is_some() && ends.contains(&hovered) {
            return None;
        }
        let far = rig.pose.eye.distance(near.at);
        before_it.is_none_or(|distance| distance > far - 0.7).then_some(near.way)
    });
    if cones.hovered != on {
        cones.hovered = on;
        if let Some(cone) = on.and_then(|at| cones.cones.get(at)) {
            let way = if cone.incoming { "in" } else { "out" };
            tracing::debug!("reference: {way}, {} objects refer to {}", cone.referencing, cone.referenced);
        }
    }
    if selection.hovered != hovered {
        selection.hovered = hovered;
    }
    if buttons.just_pressed(MouseButton::Left) {
        pointer.pressed_at = over;
    }
    if buttons.just_released(MouseButton::Left)
        && let (Some(start), Some(end)) = (pointer.pressed_at.take(), over)
        && let Some(city) = shown.bypass_change_detection().0.as_mut()
        && start.distance(end) <= CLICK_SLOP
    {
        if let Some(Named::Rest(district, _)) = named {
            if let Some(pose) = focus_pose(city, district, clock.time, &rig.pose, &rig.lens()) {
                rig.fly_to(pose);
            }
            return;
        }
        // What stands for many opens: there is nothing of it to be selected.
        if let Some(Named::Group(Target::More(parent))) = named {
            drill::open(city, Target::More(parent), &mut settings, &mut notices);
            return;
        }
        // A click on a reference goes to its other end.
        let other = cones.hovered.and_then(|at| cones.cones.get(at)).and_then(|cone| cone.other_node);
        if let Some(node) = other {
            selection.select(&city.timeline, node);
            return;
        }
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
