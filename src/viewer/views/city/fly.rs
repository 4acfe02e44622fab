//! Camera control by keys and mouse, and views reached by one key. The limits of the camera are [`CameraRig`]'s.

use super::picking::Pointer;
use crate::viewer::action::Action;
use crate::viewer::city::{self, CameraRig, Shown, WholeView};
use crate::viewer::clock::Clock;
use crate::viewer::dock::{Dock, Focus};
use crate::viewer::frame::Awake;
use crate::viewer::input::is_command;
use crate::viewer::keys::{self, Flight};
use crate::viewer::notices::Notices;
use crate::viewer::panels::Typing;
use crate::viewer::selection::Selection;
use crate::viewer::settings::Settings;
use crate::viewer::view::Views;
use bevy::input::mouse::{AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;
use memory_city_views::city::camera::ViewSide;

/// Follows the size of the window or image.
pub fn follow_size(mut rig: ResMut<CameraRig>, cameras: Query<&Camera>) {
    for camera in &cameras {
        let (size, density) = (camera.logical_viewport_size(), camera.target_scaling_factor());
        let size = size.filter(|size| size.min_element() > 0.0).unwrap_or(rig.target());
        let density = density.unwrap_or(rig.density());
        // Whoever looks at changes of the camera sees one only where there is one.
        if (size, density) != (rig.target(), rig.density()) {
            rig.set_target(size, density);
        }
    }
}

/// Behind another tab the city would be there and not seen.
fn in_front(dock: &mut ResMut<Dock>, views: &Views) {
    if let Some(view) = views.get(city::ID) {
        dock.bring_to_front(view, views);
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
    (mut settings, mut dock, views): (ResMut<Settings>, ResMut<Dock>, Res<Views>),
) {
    for action in actions.read() {
        match action {
            Action::Reset => {
                tracing::debug!("view: the whole city");
                rig.show_whole(WholeView::HOME);
                in_front(&mut dock, &views);
            }
            Action::FromSouth => rig.show_whole(WholeView::HOME),
            Action::FromEast => rig.show_whole(WholeView::Side(ViewSide::East)),
            Action::FromNorth => rig.show_whole(WholeView::Side(ViewSide::North)),
            Action::FromWest => rig.show_whole(WholeView::Side(ViewSide::West)),
            Action::BirdsEye => rig.show_whole(WholeView::Above),
            Action::PlanView => rig.show_whole(WholeView::Plan),
            Action::Navigation => {
                settings.navigation = settings.navigation.next();
                let navigation = settings.navigation;
                notices.tell(format!("{}: {}", navigation.title(), navigation.explanation()));
            }
            Action::Focus => {
                let (Some(city), Some(node)) = (shown.0.as_mut(), selection.node()) else {
                    notices.tell(format!("Select a building first, then {} flies to it", keys::key(Action::Focus)));
                    continue;
                };
                match city.focus_pose(node, clock.time, &rig.pose, &rig.lens()) {
                    Some(pose) => {
                        rig.fly_to(pose);
                        in_front(&mut dock, &views);
                    }
                    None => notices.tell("The selected group has no plot at the present child count"),
                }
            }
            _ => {}
        }
    }
}

/// Held keys, wheel, and flights to views.
#[allow(clippy::too_many_arguments)] // a system: its parameters are what it touches
pub fn fly(
    mut rig: ResMut<CameraRig>,
    keys: Res<ButtonInput<KeyCode>>,
    scroll: Res<AccumulatedMouseScroll>,
    (typing, focus): (Res<Typing>, Res<Focus>),
    pointer: Res<Pointer>,
    settings: Res<Settings>,
    time: Res<Time>,
    mut awake: ResMut<Awake>,
) {
    // A long frame must not fling the camera away.
    let delta = time.delta_secs().min(0.1);
    // Of a slow frame nobody knows what came first: a view that was asked for in it is not undone by what was only touched in it.
    let asked = rig.begins_flight();
    rig.advance(if settings.reduced_motion { f32::INFINITY } else { delta });
    awake.keep_if(rig.moving());
    if !typing.goes_on() && !is_command(&keys) {
        // Also what was pressed and let go within one slow frame. Where flights have keys that lead through views, these come first.
        let held = |key: KeyCode| (keys.pressed(key) || keys.just_pressed(key) && !asked) && !focus.takes(key);
        let axis = |to: Flight, against: Flight| keys::map().flown(to, against, held);
        let wish = Vec3::new(
            axis(Flight::Right, Flight::Left),
            axis(Flight::Up, Flight::Down),
            axis(Flight::Ahead, Flight::Back),
        );
        if wish != Vec3::ZERO {
            let fast = if keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]) { 3.0 } else { 1.0 };
            rig.fly_by(wish, fast * delta.max(0.016), settings.navigation);
        }
    }
    if let Some(spot) = pointer.spot.filter(|_| scroll.delta.y != 0.0 && !asked) {
        let notches = match scroll.unit {
            MouseScrollUnit::Line => scroll.delta.y,
            MouseScrollUnit::Pixel => scroll.delta.y / 40.0,
        };
        rig.zoom_at(spot.at, notches);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::city::CitySpot;

    /// S was tapped, or the wheel turned, and then F5 pressed, all within one slow frame: F5 brings the city back.
    #[test]
    fn a_view_is_not_undone_by_what_was_touched_in_the_same_frame() {
        for (tapped, asked, flies) in [(true, true, true), (false, true, true), (true, false, false)] {
            let mut app = App::new();
            app.init_resource::<CameraRig>()
                .init_resource::<ButtonInput<KeyCode>>()
                .init_resource::<AccumulatedMouseScroll>()
                .init_resource::<Typing>()
                .init_resource::<Focus>()
                .init_resource::<Pointer>()
                .init_resource::<Settings>()
                .init_resource::<Time>()
                .init_resource::<Awake>()
                .add_systems(Update, fly);
            let world = app.world_mut();
            world.resource_mut::<Time>().advance_by(std::time::Duration::from_millis(100));
            world.resource_mut::<CameraRig>().show_whole(WholeView::Above);
            if !asked {
                // It has begun before.
                world.resource_mut::<CameraRig>().advance(0.01);
            }
            if tapped {
                let mut keys = world.resource_mut::<ButtonInput<KeyCode>>();
                keys.press(KeyCode::KeyS);
                keys.release(KeyCode::KeyS);
            } else {
                world.resource_mut::<Pointer>().spot = Some(CitySpot { at: Vec2::new(300.0, 200.0), time: None });
                world.resource_mut::<AccumulatedMouseScroll>().delta.y = 3.0;
            }
            app.update();
            assert_eq!(app.world().resource::<CameraRig>().moving(), flies, "{tapped} {asked}");
        }
    }
}
