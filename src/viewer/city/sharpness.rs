//! The sharpness of the city's picture: lower while the camera moves, if the GPU is a processor, and full soon after.

use super::rig::CameraRig;
use crate::viewer::frame::Awake;
use crate::viewer::settings::Settings;
use bevy::prelude::*;
use memory_city_views::city::camera::CameraPose;

/// How finely the city is drawn.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct Sharpness {
    /// Side of the picture while the camera moves, as a share of its full size. Half of it keeps names and edges readable.
    pub moving: f32,
    /// Buildings smaller than this many pixels are drawn as blocks; 0 draws every building.
    pub smallest: f32,
    pub(in crate::viewer) now: f32,
}

impl Default for Sharpness {
    fn default() -> Self {
        Sharpness { moving: 1.0, smallest: 1.0, now: 1.0 }
    }
}

impl Sharpness {
    /// While the camera moves on a processor that draws.
    pub const SOFTWARE: f32 = 0.5;

    /// Side of the picture of this frame.
    pub fn now(&self) -> f32 {
        self.now
    }
}

/// Seconds after the last movement in which it may go on. With a frame of the whole city it is at most 200 ms, where that takes no more than 80.
const REST: f32 = 0.12;

/// Follows the camera.
pub(in crate::viewer) fn follow_camera(
    rig: Res<CameraRig>,
    time: Res<Time>,
    mut sharpness: ResMut<Sharpness>,
    settings: Res<Settings>,
    mut awake: ResMut<Awake>,
    mut last: Local<Option<CameraPose>>,
    (mut moved_before, mut rested): (Local<bool>, Local<f32>),
) {
    let moved = last.replace(rig.pose).is_some_and(|last| last != rig.pose);
    // A view that is there at once is there whole: only a movement that goes on is drawn smaller.
    let goes_on = std::mem::replace(&mut *moved_before, moved) || !settings.reduced_motion;
    let moved = moved && goes_on;
    *rested = if moved { 0.0 } else { *rested + time.delta_secs() };
    // Where frames take long, the next one would come too late.
    let moves = moved || (sharpness.now < 1.0 && *rested + time.delta_secs() < REST);
    let now = if moves { sharpness.moving.clamp(0.1, 1.0) } else { 1.0 };
    if sharpness.now != now {
        sharpness.now = now;
    }
    // The full picture comes even if nothing else happens.
    awake.keep_if(now < 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_picture_is_whole_again_soon_after_the_last_movement() {
        let mut app = App::new();
        app.init_resource::<CameraRig>().init_resource::<Awake>().init_resource::<Time>().init_resource::<Settings>();
        app.insert_resource(Sharpness { moving: 0.5, ..Sharpness::default() });
        app.add_systems(Update, follow_camera);
        let mut frame = |by: f32| {
            app.world_mut().resource_mut::<Time>().advance_by(Duration::from_millis(20));
            app.world_mut().resource_mut::<CameraRig>().pose.yaw += by;
            app.update();
            app.world().resource::<Sharpness>().now
        };
        assert_eq!(frame(0.0), 1.0, "nothing has moved");
        assert_eq!((frame(0.1), frame(0.1)), (0.5, 0.5));
        let smaller = (0..20).take_while(|_| frame(0.0) < 1.0).count();
        assert!((1..10).contains(&smaller), "{smaller} frames of 20 ms");
        assert_eq!(frame(0.0), 1.0);
    }

    /// Holds for frame times up to those of large cities on slow machines.
    #[test]
    fn the_picture_is_whole_within_a_fifth_of_a_second() {
        for millis in [10, 20, 45, 80, 90] {
            let mut app = App::new();
            app.init_resource::<CameraRig>()
                .init_resource::<Awake>()
                .init_resource::<Time>()
                .init_resource::<Settings>();
            app.insert_resource(Sharpness { moving: 0.5, ..Sharpness::default() });
            app.add_systems(Update, follow_camera);
            let mut frame = |by: f32| {
                app.world_mut().resource_mut::<Time>().advance_by(Duration::from_millis(millis));
                app.world_mut().resource_mut::<CameraRig>().pose.yaw += by;
                app.update();
                app.world().resource::<Sharpness>().now
            };
            frame(0.0);
            assert_eq!(frame(0.1), 0.5);
            // That frame is drawn, then those that are smaller, then a whole one.
            let smaller = (0..100).take_while(|_| frame(0.0) < 1.0).count() as u64;
            let until_whole = (1 + smaller + 1) * millis;
            assert!(until_whole <= 200, "frames of {millis} ms: {until_whole} ms");
        }
    }

    #[test]
    fn with_reduced_motion_a_view_is_whole_at_once() {
        let mut app = App::new();
        app.init_resource::<CameraRig>().init_resource::<Awake>().init_resource::<Time>();
        app.insert_resource(Settings { reduced_motion: true, ..Settings::default() });
        app.insert_resource(Sharpness { moving: 0.5, ..Sharpness::default() });
        app.add_systems(Update, follow_camera);
        let mut frame = |by: f32| {
            app.world_mut().resource_mut::<CameraRig>().pose.yaw += by;
            app.update();
            app.world().resource::<Sharpness>().now
        };
        assert_eq!([frame(0.0), frame(1.0), frame(0.0)], [1.0; 3], "it jumped");
        assert_eq!([frame(0.1), frame(0.1)], [1.0, 0.5], "it is dragged");
    }
}
