//! Pictures of a view file, and of the city alone.

use super::*;
use memory_city::viewer::view_file::ViewFile;
use memory_city_views::city::ReferenceShape;

/// Takes a picture, writes what is on screen as a view file, and has the command line draw that: the same.
fn drawn_from_its_view_file(studio: &mut Studio, wish: &Shot) -> ViewFile {
    let picture = studio.shoot(wish).expect("a picture");
    let folder = tempfile::tempdir().expect("a folder");
    let (file, drawn) = (folder.path().join("a.mcview"), folder.path().join("a.png"));
    let world = studio.app().world_mut();
    world.resource_mut::<Loading>().set_paths(sample().to_vec());
    let view = ViewFile::of(world).expect("something is open");
    view.write(&file).expect("written");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_memory-city"));
    let program = program
        .arg("render")
        .arg(&file)
        .arg("--allow-outside")
        .arg("-o")
        .arg(&drawn)
        .output()
        .expect("the program runs");
    assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
    let drawn = image::open(&drawn).expect("a picture").to_rgb8();
    let away = difference(&picture, &drawn, 3);
    if away >= 0.0005 {
        picture.save("target/window-test/view-file-expected.png").expect("saved");
        drawn.save("target/window-test/view-file-drawn.png").expect("saved");
    }
    assert!(away < 0.0005, "{away}: {:?}", std::fs::read_to_string(&file));
    view
}

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
    // Also of a screen with more pixels than points: as fine as there, and its text as large.
    for scale in [Some(1.75), None] {
        let view = drawn_from_its_view_file(studio, &Shot { scale, ..wish.clone() });
        assert_eq!((view.camera, view.time, view.size), (pose, 10, SIZE));
        assert!(scale.is_none_or(|scale| view.scale() == Some(scale)), "{:?}", view.scale());
    }
    // And with all else that a view has: another base and window with marks and what is looked for, several times, a part, ways.
    let compared = Settings { base: Some(2), window: Some((1, 12)), shadows: false, ..bundled.clone() };
    let person = [("Heap#register.model#Person".to_owned(), MarkNote { colour: 3, note: "why?".into() })];
    let with = PictureExtras { filter: "String".into(), marks: person.into(), ..PictureExtras::default() };
    drawn_from_its_view_file(studio, &Shot { settings: compared, with, ..wish.clone() });
    drawn_from_its_view_file(studio, &Shot { settings: Settings { multiples: 4, ..bundled.clone() }, ..wish.clone() });
    let part = Settings { parts: vec![PartKey { key: "Heap#java".into(), beyond: 0 }], ..bundled.clone() };
    drawn_from_its_view_file(
        studio,
        &Shot { settings: part, view: CameraView::Home, select: Vec::new(), ..wish.clone() },
    );
    drawn_from_its_view_file(studio, &Shot { paths: true, ..wish.clone() });
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
