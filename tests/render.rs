//! Pictures of the sample city, drawn without a window: compared with kept ones within a tolerance, and looked at for
//! what they must show. `UPDATE_GOLDEN=1` writes new ones to `tests/golden/`; look at them before keeping them.
#![cfg(feature = "viewer")]

use bevy::prelude::App;
use image::RgbImage;
use memory_city::viewer::action::Action;
use memory_city::viewer::capture::{self, Shot, Studio, View};
use memory_city::viewer::document::{Document, Draft};
use memory_city::viewer::loading::open_document;
use memory_city::viewer::selection::Selection;
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views::{self, Shown};
use memory_city_analysis::timeline::Metric;
use memory_city_heap::progress::Progress;
use memory_city_views::city::AreaMode;
use std::path::{Path, PathBuf};

const SIZE: (u32, u32) = (640, 400);

fn sample() -> Vec<PathBuf> {
    vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak")]
}

fn shot(settings: &Settings) -> Shot {
    Shot { size: SIZE, time: None, select: None, view: View::Home, settings: settings.clone(), panels: false }
}

/// Share of pixels of which a channel differs by more than `by`.
fn difference(a: &RgbImage, b: &RgbImage, by: u8) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let differing = a.pixels().zip(b.pixels()).filter(|(p, q)| (0..3).any(|c| p[c].abs_diff(q[c]) > by)).count();
    differing as f64 / a.pixels().len() as f64
}

fn share(picture: &RgbImage, test: impl Fn([u8; 3]) -> bool) -> f64 {
    picture.pixels().filter(|p| test(p.0)).count() as f64 / picture.pixels().len() as f64
}

fn is_red([r, g, b]: [u8; 3]) -> bool {
    r > 100 && u32::from(r) > 3 * u32::from(g.max(b))
}

fn is_purple([r, g, b]: [u8; 3]) -> bool {
    b > 110 && i32::from(b) - i32::from(g) > 60 && i32::from(r) - i32::from(g) > 25
}

fn is_green([r, g, b]: [u8; 3]) -> bool {
    g > 90 && i32::from(g) - i32::from(r) > 40 && i32::from(g) - i32::from(b) > 15
}

fn is_blue([r, g, b]: [u8; 3]) -> bool {
    b > 140 && i32::from(b) - i32::from(r) > 100 && i32::from(b) - i32::from(g) > 60
}

/// Compares with the kept picture. Software drivers of other versions draw edges a little differently.
fn golden(name: &str, picture: &RgbImage) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = folder.join(format!("{name}.png"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        capture::save(picture, &path).expect("written");
        return;
    }
    let kept = image::open(&path).unwrap_or_else(|e| panic!("{}: {e}; UPDATE_GOLDEN=1 writes it", path.display()));
    let off = difference(&kept.to_rgb8(), picture, 40);
    if off > 0.02 {
        let got = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        capture::save(picture, &got).expect("written");
        panic!("{name}: {:.1} % of the pixels differ from the kept picture; see {}", off * 100.0, got.display());
    }
}

fn open(paths: &[PathBuf], settings: &Settings) -> Draft {
    open_document(paths, settings, &views::preparations(settings), &Progress::new()).expect("it opens")
}

// One test: a process has one GPU device, and one picture leads to the next.
#[test]
fn the_sample_city_looks_as_it_should() {
    let settings = Settings::default();
    let open = |settings: &Settings| open(&sample(), settings);
    let mut studio = Studio::new(SIZE, 4).expect("a GPU, if only in software (apt-get install mesa-vulkan-drivers)");
    eprintln!("drawing with {}", studio.adapter);

    // Nothing open: the welcome card, not a black screen.
    let empty = studio.shoot(&shot(&settings)).expect("a picture");
    assert!(share(&empty, |p| p.iter().any(|&c| c > 150)) > 0.003, "the empty state says something");
    golden("empty", &empty);

    studio.show(open(&settings));
    let end = studio.shoot(&shot(&settings)).expect("a picture");
    golden("end", &end);
    let start = studio.shoot(&Shot { time: Some(0), ..shot(&settings) }).expect("a picture");
    golden("start", &start);
    assert!(share(&start, is_red) < 0.003, "nothing has grown at the start");
    assert!(share(&end, is_red) > 0.02, "the leak stands out in red at the end");
    assert!(difference(&start, &end, 24) > 0.02);
    let again = studio.shoot(&shot(&settings)).expect("a picture");
    assert_eq!(difference(&end, &again, 0), 0.0, "the same question gives the same picture");

    // A selection: blue, with purple cones in and green cones out; without pointers none.
    let select = |settings: &Settings| Shot { select: Some("Person".into()), ..shot(settings) };
    let selected = studio.shoot(&select(&settings)).expect("a picture");
    golden("selected", &selected);
    assert!(share(&selected, is_blue) > share(&end, is_blue) + 0.004, "the selected building is blue");
    assert!(share(&selected, is_purple) > share(&end, is_purple) + 0.001, "incoming cones are purple");
    assert!(share(&selected, is_green) > share(&end, is_green) + 0.001, "outgoing cones are green");
    let no_pointers = Settings { show_pointers: false, ..settings.clone() };
    let bare = studio.shoot(&select(&no_pointers)).expect("a picture");
    assert!(share(&bare, is_purple) < share(&selected, is_purple) / 2.0, "no cones without pointers");
    let focused = studio.shoot(&Shot { view: View::Focus, ..select(&settings) }).expect("a picture");
    assert!(share(&focused, is_blue) > share(&selected, is_blue) * 1.15, "focus brings the building near");

    // Views, and pictures with the panels of the window.
    let above = studio.shoot(&Shot { view: View::BirdsEye, ..shot(&settings) }).expect("a picture");
    golden("above", &above);
    let panels = studio.shoot(&Shot { panels: true, size: (1280, 800), ..select(&settings) }).expect("a picture");
    golden("panels", &panels);

    // The selection survives time steps, changed settings, new layouts and groupings that know the group.
    let app = studio.app();
    let selected_key = |app: &App| {
        let node = app.world().resource::<Selection>().node()?;
        app.world().resource::<Document>().get().map(|open| open.timeline.key(node))
    };
    let key = selected_key(app).expect("a selection");
    for action in [Action::First, Action::Next, Action::Last] {
        app.world_mut().write_message(action);
        app.update();
        assert_eq!(selected_key(app).as_deref(), Some(&*key), "{action:?}");
    }
    for change in [
        (|s| s.area_mode = AreaMode::Linear) as fn(&mut Settings),
        |s| s.child_count = 12,
        |s| s.solid_count = 3,
        |s| s.metric = Metric::Objects,
        |s| s.include_unreachable = true,
    ] {
        let world = app.world_mut();
        change(&mut world.resource_mut::<Settings>());
        let wanted = world.resource::<Settings>().clone();
        let started = std::time::Instant::now();
        let made = |app: &App| app.world().resource::<Shown>().0.as_ref().is_some_and(|c| c.made_with == wanted);
        while !made(app) {
            app.update();
            assert!(started.elapsed().as_secs() < 60, "the city is made anew");
        }
        assert_eq!(selected_key(app).as_deref(), Some(&*key));
    }
    // A grouping without the group drops it.
    app.world_mut().resource_mut::<Settings>().grouping = "kind-type".into();
    while app.world().resource::<Shown>().0.as_ref().is_some_and(|c| c.made_with.grouping != "kind-type") {
        app.update();
    }
    assert_eq!(selected_key(app), None);
    studio.show(open(&settings));

    // Opacity: opaque, see-through, outlines only, are three pictures; without colour nothing is red.
    for (name, opacity) in [("opaque", 1.0), ("outlines", 0.0)] {
        let picture = studio.shoot(&shot(&Settings { opacity, ..settings.clone() })).expect("a picture");
        assert!(difference(&picture, &end, 16) > 0.02, "{name}");
        golden(name, &picture);
    }
    let gray = studio.shoot(&shot(&Settings { colour: false, labels: false, ..settings.clone() })).expect("a picture");
    assert!(share(&gray, is_red) < share(&end, is_red) / 10.0, "colours can be switched off");

    // What is see-through does not depend on the order of drawing.
    let app = studio.app();
    app.world_mut().resource_mut::<Shown>().0.as_mut().expect("a city").reverse_see_through();
    let reversed = studio.shoot(&shot(&settings)).expect("a picture");
    assert_eq!(difference(&end, &reversed, 2), 0.0, "the order of drawing is not seen");

    // Other settings of the layout.
    for grouping in ["type", "loader-type", "kind-type"] {
        let other = Settings { grouping: grouping.into(), child_count: 12, ..settings.clone() };
        studio.show(open(&other));
        let picture = studio.shoot(&shot(&other)).expect("a picture");
        assert!(difference(&picture, &end, 24) > 0.05, "{grouping}");
        golden(grouping, &picture);
    }

    // A trace: types and where their objects were allocated, and what keeps those of one site alive.
    let trace = [Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/anttracks/person-leak-parallel")];
    let traced = Settings::default();
    studio.show(self::open(&trace, &traced));
    let site = "Heap#PersonLeak8$Person#PersonLeak8.main(String[]):33";
    let wish = Shot { select: Some(site.into()), panels: true, size: (1280, 720), ..shot(&traced) };
    let picture = studio.shoot(&wish).expect("a picture");
    golden("trace", &picture);
    assert!(share(&picture, is_red) > 0.005 && share(&picture, is_purple) > 0.002 && share(&picture, is_green) > 0.005);
    studio.show(open(&settings));

    // Wrong wishes are errors with a remedy.
    let error = studio.shoot(&Shot { time: Some(99), ..shot(&settings) }).expect_err("no such time").to_string();
    assert!(error.contains("no point in time 100") && error.contains("from 1 to 16"), "{error}");
    let error = studio.shoot(&Shot { select: Some("Nobody".into()), ..shot(&settings) }).expect_err("none").to_string();
    assert!(error.contains("no group Nobody") && error.contains("Heap#"), "{error}");
}
