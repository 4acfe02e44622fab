//! Picking with the mouse in the city: pointing, dragging, and selecting by a click. [`memory_city_views::city`] casts the ray; a drag is
//! no click.

use super::drill;
use super::labels::Named;
use super::names::CityNames;
use super::pinch::{Pinch, PinchStep};
use crate::viewer::city::{CameraRig, City, CityPane, CitySpot, Grip, Multiples, Shown, ShownCones};
use crate::viewer::clock::Clock;
use crate::viewer::notices::Notices;
use crate::viewer::selection::{Pointing, Select, Selection, Target};
use crate::viewer::settings::Settings;
use bevy::input::ButtonState;
use bevy::input::touch::TouchPhase;
use bevy::prelude::*;
use bevy::window::{PrimaryWindow, WindowEvent};
use bevy_egui::{EguiContexts, egui};
use memory_city_views::city::{Hit, HitTarget, camera, nearest_way};

/// The mouse over the city.
#[derive(Resource, Default)]
pub struct Pointer {
    /// Logical pixels of the window, while over the city's pane and nothing that lies over it.
    pub over: Option<Vec2>,
    /// The same in the rig's picture, with the index of its time if several are beside each other.
    pub(super) spot: Option<CitySpot>,
    /// Position of the mouse by the events read so far.
    at: Option<Vec2>,
    drag: Option<CityDrag>,
    /// The finger that drags, and a second one.
    pinch: Option<Pinch>,
    /// Spot where the left button was pressed and released in this frame without a drag.
    clicked: Option<CitySpot>,
}

/// The button or finger that holds the city.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Button(MouseButton),
    /// A finger, by its number. A second one beside it pinches, further ones do nothing.
    Finger(u64),
}

/// A button or a finger that is held over the city.
struct CityDrag {
    by: Holder,
    grip: Grip,
    pressed_at: Vec2,
    pressed: CitySpot,
    /// The held point.
    held: Vec3,
    /// Whether it went further than a click does.
    moved: bool,
}

/// Distance from the mouse, points, within which a reference counts as under it.
const CONE_REACH: f32 = 3.0;
/// A press that moves further than this is a drag.
const CLICK_SLOP: f32 = 4.0;

/// Whether a point is over the city: in its pane, with nothing over it, and the mouse busy with no other widget.
fn is_over(at: Vec2, contexts: &mut EguiContexts, pane: &CityPane) -> bool {
    let point = egui::pos2(at.x, at.y);
    let Some(rect) = pane.rect.filter(|rect| rect.contains(point)) else { return false };
    let Ok(ctx) = contexts.ctx_mut() else { return rect.is_positive() };
    let covered = ctx.layer_id_at(point).is_some_and(|layer| layer.order != egui::Order::Background);
    !covered && !ctx.egui_is_using_pointer()
}

/// The thing under a point of the window, and where the ray meets it; `None` beside the city.
fn hit(city: &mut City, rig: &CameraRig, time: usize, at: Vec2) -> Option<Hit> {
    let (origin, direction) = rig.ray(at);
    let states = city.states(time.min(city.times().saturating_sub(1)));
    let standing = |plot: usize| city.appearance.standing(states.of(plot));
    city.appearance.pick(&city.plan, standing, origin, direction)
}

/// The held point, before the camera: on the thing there, or on the ground.
fn held_at(city: Option<&mut City>, rig: &CameraRig, clock: &Clock, spot: CitySpot) -> Vec3 {
    let time = spot.time.unwrap_or(clock.time);
    let met = city.and_then(|city| hit(city, rig, time, spot.at)).map(|hit| rig.flattened() * hit.point);
    let (eye, towards) = rig.look(spot.at);
    met.unwrap_or_else(|| camera::pivot_on_ground(eye, towards))
}

/// Step of a hand: mouse or finger.
enum HandStep {
    /// It goes somewhere; a finger says which one it is.
    To(Vec2, Option<Holder>),
    /// It presses; a finger says where.
    Press(Holder, Option<Vec2>),
    /// It lets go, or was taken away, which is no click.
    LetGo(Holder, bool),
}

impl HandStep {
    fn of(event: &WindowEvent) -> Option<HandStep> {
        Some(match event {
            WindowEvent::CursorMoved(moved) => HandStep::To(moved.position, None),
            WindowEvent::MouseButtonInput(input) => {
                let by = Holder::Button(input.button);
                match input.state {
                    ButtonState::Pressed => HandStep::Press(by, None),
                    ButtonState::Released => HandStep::LetGo(by, true),
                }
            }
            WindowEvent::TouchInput(touch) => {
                let by = Holder::Finger(touch.id);
                match touch.phase {
                    TouchPhase::Started => HandStep::Press(by, Some(touch.position)),
                    TouchPhase::Moved => HandStep::To(touch.position, Some(by)),
                    TouchPhase::Ended => HandStep::LetGo(by, true),
                    TouchPhase::Canceled => HandStep::LetGo(by, false),
                }
            }
            _ => return None,
        })
    }
}

/// Finds out where the mouse is, and drags. Events are taken in the order in which they came: in a slow frame the mouse goes
/// somewhere, presses, moves and lets go. Positions are those of the window, so that pens, touch, virtual machines and remote
/// desktops drag as a mouse does.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn find_pointer(
    mut events: MessageReader<WindowEvent>,
    windows: Query<&Window, With<PrimaryWindow>>,
    (buttons, keys): (Res<ButtonInput<MouseButton>>, Res<ButtonInput<KeyCode>>),
    mut contexts: EguiContexts,
    (pane, multiples): (Res<CityPane>, Res<Multiples>),
    (clock, settings): (Res<Clock>, Res<Settings>),
    mut pointer: ResMut<Pointer>,
    mut shown: ResMut<Shown>,
    mut rig: ResMut<CameraRig>,
) {
    let pointer = &mut *pointer;
    pointer.clicked = None;
    let mut over_city = |at: Vec2| multiples.spot(at).filter(|_| is_over(at, &mut contexts, &pane));
    for step in events.read().filter_map(HandStep::of) {
        match step {
            HandStep::To(at, by) => {
                if let (Some(Holder::Finger(finger)), Some(pinch), Some(drag)) = (by, &mut pointer.pinch, &pointer.drag)
                {
                    let Some(PinchStep { middle, by: moved, notches }) = pinch.to(finger, at) else { continue };
                    rig.dragging = true;
                    rig.zoom_at(multiples.spot(middle).map_or(middle, |spot| spot.at), notches);
                    rig.drag(Grip::Move, drag.held, moved, settings.navigation);
                    if Holder::Finger(finger) == drag.by {
                        pointer.at = Some(at);
                    }
                    continue;
                }
                if by.is_some() && pointer.drag.as_ref().map(|drag| drag.by) != by {
                    continue;
                }
                let before = pointer.at.replace(at);
                let Some(drag) = &mut pointer.drag else { continue };
                drag.moved |= drag.pressed_at.distance(at) > CLICK_SLOP;
                if drag.moved {
                    // The first step has all that the slop kept back.
                    let from = if rig.dragging { before.unwrap_or(drag.pressed_at) } else { drag.pressed_at };
                    rig.dragging = true;
                    rig.drag(drag.grip, drag.held, at - from, settings.navigation);
                }
            }
            HandStep::Press(by, at) => {
                if let Some(drag) = &mut pointer.drag {
                    // A second finger: what is between them is held, and neither has tapped.
                    let hands = (drag.by, by, pointer.at, at);
                    if let (Holder::Finger(first), Holder::Finger(second), Some(there), Some(here)) = hands
                        && pointer.pinch.is_none()
                        && first != second
                    {
                        let pinch = Pinch::new((first, there), (second, here));
                        let middle = pinch.middle();
                        let spot = multiples.spot(middle).unwrap_or(drag.pressed);
                        drag.held = held_at(shown.0.as_mut(), &rig, &clock, spot);
                        drag.moved = true;
                        pointer.pinch = Some(pinch);
                    }
                    continue;
                }
                (pointer.at, pointer.pinch) = (at.or(pointer.at), None);
                let Some((at, spot)) = pointer.at.and_then(|at| Some((at, over_city(at)?))) else { continue };
                let shift = keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]);
                let grip = match by {
                    Holder::Finger(_) | Holder::Button(MouseButton::Left | MouseButton::Right) if !shift => Grip::Turn,
                    Holder::Finger(_)
                    | Holder::Button(MouseButton::Left | MouseButton::Right | MouseButton::Middle) => Grip::Move,
                    Holder::Button(_) => continue,
                };
                let held = held_at(shown.0.as_mut(), &rig, &clock, spot);
                pointer.drag = Some(CityDrag { by, grip, pressed_at: at, pressed: spot, held, moved: false });
            }
            HandStep::LetGo(by, is_click) => {
                let stays = match by {
                    Holder::Finger(finger) => pointer.pinch.and_then(|pinch| pinch.without(finger)),
                    Holder::Button(_) => None,
                };
                if let (Some((finger, at)), Some(drag)) = (stays, &mut pointer.drag) {
                    // The other one goes on, from where it is.
                    (drag.by, drag.pressed_at) = (Holder::Finger(finger), at);
                    (pointer.at, pointer.pinch) = (Some(at), None);
                    continue;
                }
                if let Some(drag) = pointer.drag.take_if(|drag| drag.by == by) {
                    rig.dragging = false;
                    let chooses = matches!(by, Holder::Finger(_) | Holder::Button(MouseButton::Left));
                    pointer.clicked = Some(drag.pressed).filter(|_| is_click && !drag.moved && chooses);
                }
            }
        }
    }
    // Who let go while another window had the mouse did not say so.
    let is_up = |by: Holder| matches!(by, Holder::Button(button) if !buttons.pressed(button));
    if pointer.drag.as_ref().is_some_and(|drag| is_up(drag.by)) {
        pointer.drag = None;
        rig.dragging = false;
    }
    let cursor = windows.single().ok().and_then(|w| w.cursor_position());
    pointer.at = cursor.or(pointer.at);
    pointer.spot = cursor.and_then(over_city);
    pointer.over = cursor.filter(|_| pointer.spot.is_some());
}

/// Things under a point of the window.
#[derive(Default)]
struct Under {
    /// A name, which stands for the named thing.
    named: Option<Named>,
    target: Option<Target>,
    /// Index of a reference on screen.
    reference: Option<usize>,
}

fn under(
    spot: CitySpot,
    city: &mut City,
    rig: &CameraRig,
    names: &CityNames,
    cones: &ShownCones,
    selection: &Selection,
    clock: &Clock,
) -> Option<Under> {
    let (at, time) = (spot.at, spot.time.unwrap_or(clock.time));
    if let Some(named) = names.named_at(egui::pos2(at.x, at.y), city.layout) {
        let target = match named {
            Named::Group(target) => Some(target),
            Named::Rest(..) => None,
        };
        return Some(Under { named: Some(named), target, reference: None });
    }
    let met = hit(city, rig, time, at);
    let target = met.as_ref().map(|hit| match hit.target {
        HitTarget::Plot(plot) => city.target_of_plot(plot),
        HitTarget::District(district) => Target::Node(city.plan.districts[district].node),
    });
    // References lie before and behind roofs: the one under the mouse, unless something stands before it.
    let reference = || {
        // A city that has just come has none yet.
        if cones.layout != city.layout {
            return None;
        }
        // Of several times beside each other one has them.
        if spot.time.is_some_and(|time| cones.time != Some(time)) {
            return None;
        }
        let (corner, size) = rig.area();
        let near = nearest_way(&cones.ways, rig.clip_from_world(), size, at - corner, CONE_REACH)?;
        let cone = cones.cones.get(near.way)?;
        // At its ends a building is meant.
        let ends = [Some(city.target_of_plot(cone.other)), selection.node().map(Target::Node)];
        if target.is_some() && ends.contains(&target) {
            return None;
        }
        let far = rig.eye().distance(near.at);
        met.as_ref().is_none_or(|hit| hit.distance > far - 0.7).then_some(near.way)
    };
    let reference = reference();
    Some(Under { named: None, target, reference })
}

/// Updates the hovered thing, and selects on a click.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn pick(
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    (mut selection, mut pointing): (ResMut<Selection>, ResMut<Pointing>),
    mut shown: ResMut<Shown>,
    clock: Res<Clock>,
    (mut rig, names): (ResMut<CameraRig>, Res<CityNames>),
    (mut settings, mut notices): (ResMut<Settings>, ResMut<Notices>),
    mut cones: ResMut<ShownCones>,
) {
    let over = pointer.spot.filter(|_| !rig.dragging());
    let city = &mut shown.0;
    let mut find = |spot: CitySpot| under(spot, city.as_mut()?, &rig, &names, &cones, &selection, &clock);
    let hovered = over.and_then(&mut find).unwrap_or_default();
    // What was under the mouse when it was pressed: it may be elsewhere by now.
    let clicked = pointer.clicked.map(|spot| find(spot).unwrap_or_default());
    if cones.hovered != hovered.reference {
        cones.hovered = hovered.reference;
        if let Some(cone) = hovered.reference.and_then(|at| cones.cones.get(at)) {
            let way = if cone.incoming { "in" } else { "out" };
            tracing::debug!("reference: {way}, {} objects refer to {}", cone.referencing, cone.referenced);
        }
    }
    pointing.hovered = hovered.target;
    if let (Some(clicked), Some(city)) = (clicked, &mut shown.0) {
        if let Some(Named::Rest(district, _)) = clicked.named {
            if let Some(pose) = city.focus_pose(district, clock.time, &rig.pose, &rig.lens()) {
                tracing::debug!("flies to: {}", city.timeline.key(district));
                rig.fly_to(pose);
            }
            return;
        }
        // What stands for many opens: there is nothing of it to be selected.
        if let Some(Named::Group(Target::More(parent))) = clicked.named {
            drill::open(city, Target::More(parent), &mut settings, &mut notices);
            return;
        }
        // A click on a reference goes to its other end.
        let other = clicked.reference.and_then(|at| cones.cones.get(at)).and_then(|cone| cone.other_node);
        if let Some(node) = other {
            selection.select(&city.timeline, node);
            return;
        }
        let several = keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]);
        match clicked.target {
            Some(Target::Node(node) | Target::More(node)) if several => {
                selection.add_or_remove(&city.timeline, node);
            }
            Some(Target::Node(node) | Target::More(node)) => selection.toggle(&city.timeline, node),
            None => selection.clear(),
        }
    }
}
