//! Tests of [`super`].

use super::*;
use proptest::prelude::*;

const CITY: CityBounds = CityBounds { side: 100.0, tallest: 60.0 };

fn views() -> impl Strategy<Value = View> {
    let inset = || 0.0..0.45f32;
    (0.3..1.6f32, 0.3..4.0f32, inset(), inset(), inset(), inset()).prop_map(
        |(fov_y, aspect, left, right, top, bottom)| View { fov_y, aspect, insets: Insets { left, right, top, bottom } },
    )
}

/// One thing a person can do.
#[derive(Clone, Debug)]
enum Input {
    Fly(f32, f32, f32),
    Dolly(f32),
    Pan(f32, f32),
    Turn(f32, f32),
    Orbit(f32, f32),
    Zoom(Vec2, f32),
    BirdsEye,
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let far = || -300.0..300.0f32;
    let turn = || -7.0..7.0f32;
    prop::collection::vec(
        prop_oneof![
            (far(), far(), far()).prop_map(|(a, b, c)| Input::Fly(a, b, c)),
            far().prop_map(Input::Dolly),
            (far(), far()).prop_map(|(a, b)| Input::Pan(a, b)),
            (turn(), turn()).prop_map(|(a, b)| Input::Turn(a, b)),
            (turn(), turn()).prop_map(|(a, b)| Input::Orbit(a, b)),
            (-1.0..1.0f32, -1.0..1.0f32, -30.0..30.0f32).prop_map(|(x, y, s)| Input::Zoom(Vec2::new(x, y), s)),
            Just(Input::BirdsEye),
        ],
        0..40,
    )
}

/// Asserts that the whole city is inside the free part of the window.
fn in_frame(pose: &CameraPose, city: &CityBounds, view: &View) -> Result<(), TestCaseError> {
    let i = view.insets;
    for corner in city.corners(1.0) {
        let p = pose.project(corner, view);
        prop_assert!(p.is_some(), "{corner} is behind {pose:?}");
        let p = p.unwrap_or_default() * 0.5 + 0.5;
        let free = i.left <= p.x && p.x <= 1.0 - i.right && i.bottom <= p.y && p.y <= 1.0 - i.top;
        prop_assert!(free, "{corner} is at {p} for {view:?}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn home_and_birds_eye_show_the_whole_city(view in views(), tallest in 0.0..250.0f32) {
        let city = CityBounds { tallest, ..CITY };
        for pose in [CameraPose::home(&city, &view), CameraPose::birds_eye(&city, &view)] {
            in_frame(&pose, &city, &view)?;
            // The limits leave both alone.
            prop_assert_eq!(pose.clamped(city.reach(&view)), Some(pose));
        }
    }

    #[test]
    fn whatever_happens_the_eye_stays_above_ground_and_home_brings_the_city_back(
        inputs in inputs(),
        view in views(),
    ) {
        let reach = CITY.reach(&view);
        let home = CameraPose::home(&CITY, &view);
        let mut pose = home;
        for input in inputs {
            let wanted = match input {
                Input::Fly(f, r, u) => pose.fly(f, r, u),
                Input::Dolly(d) => pose.dolly(d),
                Input::Pan(r, u) => pose.pan(r, u),
                Input::Turn(y, p) => pose.turn(y, p),
                Input::Orbit(y, p) => pose.orbit(Vec3::ZERO, y, p),
                Input::Zoom(at, steps) => match pose.ground_point(at, &view, 0.0) {
                    Some(point) => pose.zoom(point, steps, 2.0),
                    None => pose.dolly(steps),
                },
                Input::BirdsEye => CameraPose::birds_eye(&CITY, &view),
            };
            pose = wanted.clamped(reach).expect("finite input gives finite poses");
            prop_assert!(pose.eye.y >= CLEARANCE && pose.eye.length() <= reach + CLEARANCE + 1e-2);
            prop_assert!((-FRAC_PI_2..=MAX_PITCH).contains(&pose.pitch) && pose.yaw.abs() <= PI);
        }
        // Following home frame by frame arrives, and never goes below the ground on the way.
        let mut now = pose;
        for _ in 0..600 {
            now = now.following(&home, 1.0 / 60.0, 0.1);
            prop_assert!(now.eye.y >= CLEARANCE);
        }
        prop_assert_eq!(now, home);
        in_frame(&now, &CITY, &view)?;
        prop_assert_eq!(pose.between(&home, 0.0), pose);
        prop_assert_eq!(pose.between(&home, 1.0), home);
    }

    #[test]
    fn rays_and_projection_are_inverse(x in -1.0..1.0f32, y in -1.0..1.0f32, yaw in -3.0..3.0f32,
                                       pitch in -1.5..1.0f32, depth in 1.0..200.0f32, view in views()) {
        let pose = CameraPose { eye: Vec3::new(3.0, 20.0, -7.0), yaw, pitch };
        let point = pose.eye + pose.ray(Vec2::new(x, y), &view) * depth;
        let back = pose.project(point, &view);
        prop_assert!(back.is_some_and(|p| (p - Vec2::new(x, y)).length() < 1e-3), "{back:?}");
    }

    #[test]
    fn zooming_keeps_the_point_under_the_cursor(x in -0.9..0.9f32, y in -0.9..-0.1f32, steps in -6.0..6.0f32) {
        let view = View::new(0.8, 1.6);
        let pose = CameraPose::home(&CITY, &view);
        if let Some(point) = pose.ground_point(Vec2::new(x, y), &view, 0.0) {
            let zoomed = pose.zoom(point, steps, 2.0);
            let p = zoomed.project(point, &view);
            prop_assert!(p.is_some_and(|p| (p - Vec2::new(x, y)).length() < 1e-3));
            let (before, after) = ((pose.eye - point).length(), (zoomed.eye - point).length());
            let nearer = after <= before;
            prop_assert!(nearer == (steps > 0.0) || after == before);
        }
    }

    #[test]
    fn orbiting_keeps_the_point_in_its_place(yaw in -1.0..1.0f32, pitch in -0.5..0.2f32) {
        let view = View::new(0.8, 1.6);
        let pose = CameraPose::home(&CITY, &view);
        let around = Vec3::new(10.0, 0.0, 5.0);
        let (a, b) = (pose.project(around, &view), pose.orbit(around, yaw, pitch).project(around, &view));
        prop_assert!(a.zip(b).is_some_and(|(a, b)| (a - b).length() < 1e-3));
    }

    #[test]
    fn focus_shows_the_plot_with_some_surroundings(x in -50.0..49.0f64, z in -50.0..49.0f64, side in 0.01..40.0f64,
                                                   yaw in -3.0..3.0f32, view in views()) {
        let cell = Rect::new(x, z, side, side * 0.7);
        let height = 2.0 * (cell.area().sqrt() as f32);
        let pose = CameraPose::focus(&cell, 0.8, height, yaw, -0.65, &view);
        for corner in [cell.centre_at(0.8), cell.centre_at(0.8 + f64::from(height))] {
            let p = pose.project(corner, &view);
            prop_assert!(p.is_some_and(|p| p.abs().max_element() <= 1.0), "{p:?}");
        }
        prop_assert!(pose.eye.y >= CLEARANCE);
    }
}

#[test]
fn axes_are_those_of_the_world() {
    let pose = CameraPose { eye: Vec3::ZERO, yaw: 0.0, pitch: 0.0 };
    assert!((pose.forward() - Vec3::NEG_Z).length() < 1e-6);
    assert!((pose.right() - Vec3::X).length() < 1e-6);
    assert!((pose.turn(0.0, 0.5).forward().y) > 0.4, "positive pitch looks up");
    assert!((pose.turn(0.5, 0.0).forward().x) < -0.4, "positive yaw turns left");
    let down = pose.turn(0.0, -9.0);
    assert!((down.forward() - Vec3::NEG_Y).length() < 1e-5 && (down.up() - Vec3::NEG_Z).length() < 1e-5);
    assert!((down.fly(1.0, 0.0, 0.0).eye - Vec3::NEG_Z).length() < 1e-5, "forward is north on the map too");
}

#[test]
fn home_is_parallel_to_the_border_and_fits_tightly() {
    let view = View::new(std::f32::consts::FRAC_PI_4, 16.0 / 9.0);
    let pose = CameraPose::home(&CITY, &view);
    assert!(pose.yaw == 0.0 && pose.eye.x.abs() < 1e-3 && pose.eye.z > 50.0);
    assert!((-40.0..-35.0).contains(&pose.pitch.to_degrees()));
    let points = CITY.corners(1.03).map(|c| pose.project(c, &view).unwrap_or_default());
    let used = points.iter().map(|p| p.y).fold(0.0, f32::max) - points.iter().map(|p| p.y).fold(0.0, f32::min);
    assert!((used - 2.0).abs() < 1e-3, "the height of the window is used: {used}");
}

#[test]
fn poses_that_are_not_numbers_are_refused() {
    let pose = CameraPose::home(&CITY, &View::new(0.8, 1.6));
    assert_eq!(CameraPose { yaw: f32::NAN, ..pose }.clamped(400.0), None);
    assert_eq!(CameraPose { eye: Vec3::INFINITY, ..pose }.clamped(400.0), None);
    let text = serde_json::to_string(&pose).unwrap_or_default();
    assert_eq!(serde_json::from_str::<CameraPose>(&text).ok(), Some(pose));
}
