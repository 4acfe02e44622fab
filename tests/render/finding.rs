//! Pictures of a view file, and of the city alone.

use super::*;
use memory_city::viewer::view_file::ViewFile;
use memory_city_views::city::ReferenceShape;

/// The command line draws of a view file what is on screen; and the city has a picture with nothing behind it.
pub(super) fn a_view_file_and_the_city_alone(studio: &mut Studio, settings: &Settings) {
    // A view file: the command line draws what this shows. And the city alone, with nothing behind it.
    let pose = CameraPose { eye: bevy::math::Vec3::new(8.0, 110.0, 165.0), yaw: -0.05, pitch: -0.58 };
    let bundled =
        Settings { opacity: 0.3, reference_shape: ReferenceShape::Bundled, name_count: Some(15), ..settings.clone() };
    let wish = Shot {
        time: Some(9),
        view: CameraView::Pose(pose),
        ..Shot { select: vec!["Person".into()], ..shot(&bundled) }
    };
    let folder = tempfile::tempdir().expect("a folder");
    // Also of a screen with more pixels than points: as fine as there, and its text as large.
    for scale in [Some(1.75), None] {
        let wish = Shot { scale, ..wish.clone() };
        let picture = studio.shoot(&wish).expect("a picture");
        let (file, drawn) = (folder.path().join("a.mcview"), folder.path().join("a.png"));
        let world = studio.app().world_mut();
        world.resource_mut::<Loading>().set_paths(sample().to_vec());
        let view = ViewFile::of(world).expect("something is open");
        assert_eq!((view.camera, view.time, view.size), (pose, 10, SIZE));
        assert!(scale.is_none_or(|scale| view.scale() == Some(scale)), "{:?}", view.scale());
        view.write(&file).expect("written");
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_memory-city"))
            .arg("render")
            .arg(&file)
            .arg("-o")
            .arg(&drawn)
            .output()
            .expect("the program runs");
        assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
        let drawn = image::open(&drawn).expect("a picture").to_rgb8();
        let away = difference(&picture, &drawn, 3);
        assert!(away < 0.0005, "the view file shows the same at {scale:?}: {away}");
        std::fs::remove_file(&file).expect("removed");
    }
    let picture = studio.shoot(&wish).expect("a picture");
    let clear = studio.shoot_clear(&wish).expect("a picture");
    let alpha = |x: u32, y: u32| clear.get_pixel(x, y).0[3];
    assert_eq!((alpha(0, 0), alpha(SIZE.0 - 1, SIZE.1 - 1)), (0, 0), "nothing is behind the city");
    let legend = (20..120).filter(|x| alpha(*x, SIZE.1 - 30) > 200).count();
    assert!(legend > 90, "what colours mean goes with it: {legend}");
    let opaque = clear.pixels().filter(|p| p.0[3] > 250).count() as f64 / f64::from(SIZE.0 * SIZE.1);
    assert!((0.1..0.9).contains(&opaque), "{opaque}: the city is there");
    // Before black it is what was drawn before black.
    let again = studio.shoot(&wish).expect("a picture");
    assert_eq!(difference(&picture, &again, 0), 0.0, "sky and ground are back");
}
