//! Pictures of the sample city, drawn without a window: compared with kept ones within a tolerance, and looked at for
//! what they must show. `UPDATE_GOLDEN=1` (or names, separated by commas) writes new ones to `tests/golden/`; look at them before keeping them.
#![cfg(feature = "viewer")]

use bevy::prelude::App;
use image::RgbImage;
use memory_city::readers::FileReaders;
use memory_city::viewer::action::Action;
use memory_city::viewer::capture::{CameraView, PictureExtras, Shot, Studio};
use memory_city::viewer::city::{self, CameraRig, Shown};
use memory_city::viewer::clock::Clock;
use memory_city::viewer::document::{Document, Draft};
use memory_city::viewer::loading::{Loading, open_document};
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::picture;
use memory_city::viewer::selection::{MarkNote, Selection, Target};
use memory_city::viewer::settings::{PartKey, Settings};
use memory_city::viewer::views;
use memory_city_analysis::timeline::Metric;
use memory_city_heap::progress::Progress;
use memory_city_views::city::camera::CameraPose;
use memory_city_views::city::{AreaMode, HitTarget};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

mod change;
mod finding;
mod harness;
mod opening;
mod panels;
mod tables;

const SIZE: (u32, u32) = (640, 400);

fn sample() -> Vec<PathBuf> {
    vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak")]
}

fn shot(settings: &Settings) -> Shot {
    Shot::of(SIZE, settings)
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

fn is_yellow([r, g, b]: [u8; 3]) -> bool {
    r > 140 && g > 110 && b < 90 && r.abs_diff(g) < 90
}

fn is_cyan([r, g, b]: [u8; 3]) -> bool {
    b > 110 && g > 100 && r < 90
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

/// The blue of what is selected, in the light or not.
fn is_selected([r, g, b]: [u8; 3]) -> bool {
    b > 60 && i32::from(b) - i32::from(r) > 45 && i32::from(b) - i32::from(g) > 20
}

/// A picture, and which box is drawn at each of its pixels.
struct Taken {
    picture: RgbImage,
    boxes: Vec<Option<u32>>,
}

/// Renders without panels or names over the city.
fn take(studio: &mut Studio, shot: &Shot) -> Taken {
    let picture = studio.shoot(shot).expect("a picture");
    let boxes = studio.box_numbers();
    Taken { picture, boxes }
}

impl Taken {
    /// The box at a pixel, unless it is at an edge: there drivers differ, and rays and rasters too.
    fn inside(&self, x: u32, y: u32) -> Option<Option<u32>> {
        let (w, h) = self.picture.dimensions();
        let at = |x: u32, y: u32| self.boxes[(y * w + x) as usize];
        let here = at(x, y);
        let around = (x.saturating_sub(1)..=(x + 1).min(w - 1))
            .flat_map(|i| (y.saturating_sub(1)..=(y + 1).min(h - 1)).map(move |j| (i, j)));
        around.into_iter().all(|(i, j)| at(i, j) == here).then_some(here)
    }

    /// As [`Taken::as_picture`] kept it.
    fn from_picture(boxes: &RgbImage, picture: RgbImage) -> Taken {
        let number = |p: &image::Rgb<u8>| u32::from_le_bytes([p.0[0], p.0[1], p.0[2], 0]).checked_sub(1);
        Taken { picture, boxes: boxes.pixels().map(number).collect() }
    }

    /// Boxes as colours, to be kept as a picture.
    fn as_picture(&self) -> RgbImage {
        let (w, h) = self.picture.dimensions();
        RgbImage::from_fn(w, h, |x, y| {
            let number = self.boxes[(y * w + x) as usize].map_or(0, |n| n + 1);
            image::Rgb([number as u8, (number >> 8) as u8, (number >> 16) as u8])
        })
    }
}

/// The kept picture of a name; with `UPDATE_GOLDEN` the new one is kept, and there is nothing to compare.
fn kept(name: &str, picture: &RgbImage) -> Option<RgbImage> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.png"));
    let update = std::env::var("UPDATE_GOLDEN").unwrap_or_default();
    if update == "1" || update.split(',').any(|wanted| wanted == name) {
        picture::save(picture, &path, FileReaders::AsUsual).expect("written");
        return None;
    }
    let kept = image::open(&path).unwrap_or_else(|e| panic!("{}: {e}; UPDATE_GOLDEN=1 writes it", path.display()));
    Some(kept.to_rgb8())
}

/// Fails with the picture at hand kept beside the tests' other output.
fn differs(name: &str, picture: &RgbImage, why: &str) -> ! {
    let got = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
    picture::save(picture, &got, FileReaders::AsUsual).expect("written");
    panic!("{name}: {why}; see {}", got.display());
}

/// Compares with the kept picture by colour. Software drivers of other versions draw edges a little differently.
fn golden(name: &str, picture: &RgbImage) {
    let Some(kept) = kept(name, picture) else { return };
    let off = difference(&kept, picture, 40);
    if off > 0.005 {
        differs(name, picture, &format!("{:.2} % of the pixels differ from the kept picture", off * 100.0));
    }
}

fn open(paths: &[PathBuf], settings: &Settings) -> Draft {
    open_document(paths, settings, &views::all().preparations(settings), &Progress::new()).expect("it opens")
}

/// Compares with what is kept by structure: away from edges, every pixel shows the same box.
fn golden_boxes(name: &str, taken: &Taken) -> Option<Taken> {
    let numbers = taken.as_picture();
    let kept = Taken::from_picture(&kept(&format!("{name}.boxes"), &numbers)?, taken.picture.clone());
    if let Some(why) = other_boxes(&kept, taken) {
        differs(&format!("{name}.boxes"), &numbers, &why);
    }
    Some(kept)
}

/// Compares by structure and by colour, where no names lie over the city: every box that is large enough to have an inside
/// has the same colours there.
fn golden_city(name: &str, taken: &Taken) {
    golden(name, &taken.picture);
    let (Some(boxes), Some(picture)) = (golden_boxes(name, taken), kept(name, &taken.picture)) else { return };
    if let Some(why) = other_colours(&Taken { picture, ..boxes }, taken) {
        differs(name, &taken.picture, &why);
    }
}

/// Where another box is drawn, if anywhere.
fn other_boxes(kept: &Taken, taken: &Taken) -> Option<String> {
    taken.picture.enumerate_pixels().find_map(|(x, y, _)| match (kept.inside(x, y), taken.inside(x, y)) {
        (Some(was), Some(is)) if was != is => Some(format!("at {x}, {y} there was box {was:?}, now {is:?}")),
        _ => None,
    })
}

/// The box with another mean colour, if any.
fn other_colours(kept: &Taken, taken: &Taken) -> Option<String> {
    let mut sums: HashMap<u32, ([i64; 3], i64)> = HashMap::new();
    for (x, y, pixel) in taken.picture.enumerate_pixels() {
        if let (Some(Some(was)), Some(Some(is))) = (kept.inside(x, y), taken.inside(x, y))
            && was == is
        {
            let (sums, pixels) = sums.entry(is).or_default();
            let before = kept.picture.get_pixel(x, y);
            (0..3).for_each(|c| sums[c] += i64::from(pixel[c]) - i64::from(before[c]));
            *pixels += 1;
        }
    }
    sums.into_iter().find_map(|(number, (sums, pixels))| {
        let off = sums.map(|s| s.abs() / pixels).into_iter().find(|&off| off > 6)?;
        Some(format!("box {number} has another colour, {off} of 255 off on average"))
    })
}

/// The comparison itself: one small building that vanishes or changes its colour is found, though it is less than a
/// hundredth of the picture.
fn the_comparison_finds_a_single_building(taken: &Taken) {
    let mut insides: HashMap<u32, usize> = HashMap::new();
    for (x, y, _) in taken.picture.enumerate_pixels() {
        if let Some(Some(number)) = taken.inside(x, y) {
            *insides.entry(number).or_default() += 1;
        }
    }
    let small = insides.iter().filter(|(_, pixels)| (12..200).contains(*pixels)).map(|(&number, _)| number).min();
    let small = small.expect("a small building");
    let gone = |n: &Option<u32>| if *n == Some(small) { Some(0) } else { *n };
    let vanished = Taken { picture: taken.picture.clone(), boxes: taken.boxes.iter().map(gone).collect() };
    assert!(other_boxes(taken, &vanished).is_some());
    let mut painted = Taken { picture: taken.picture.clone(), boxes: taken.boxes.clone() };
    for (pixel, number) in painted.picture.pixels_mut().zip(&taken.boxes) {
        if *number == Some(small) {
            pixel.0[0] = pixel.0[0].wrapping_add(40);
        }
    }
    assert!(difference(&taken.picture, &painted.picture, 0) < 0.01);
    assert!(other_colours(taken, &painted).is_some() && other_boxes(taken, &painted).is_none());
}

/// Drawing and picking agree at every pixel but edges.
fn picking_agrees(name: &str, studio: &mut Studio, taken: &Taken) {
    let (w, h) = taken.picture.dimensions();
    let world = studio.app().world_mut();
    let mut shown = world.remove_resource::<Shown>().expect("a city");
    let rig = world.resource::<CameraRig>();
    let time = world.resource::<Clock>().time;
    let city = shown.0.as_mut().expect("a city");
    let states = city.states(time);
    let mut compared = 0;
    for y in 0..h {
        for x in 0..w {
            let Some(drawn) = taken.inside(x, y) else { continue };
            let (origin, direction) = rig.ray(bevy::math::Vec2::new(x as f32 + 0.5, y as f32 + 0.5));
            let standing = |plot: usize| city.appearance.standing(states.of(plot));
            let hit = city.appearance.pick(&city.plan, standing, origin, direction);
            let picked = hit.map(|hit| match hit.target {
                HitTarget::Plot(plot) => city.box_of(city.target_of_plot(plot)).expect("a box"),
                HitTarget::District(district) => district as u32,
            });
            assert_eq!(drawn, picked, "{name}: drawn and picked at {x}, {y}");
            compared += 1;
        }
    }
    assert!(compared > w * h / 3, "{name}: only {compared} pixels are no edges");
    world.insert_resource(shown);
}

/// Boxes without marks have shaders of their own, which find outlines in another way. A mark on nothing draws all with the
/// others.
fn both_shaders_draw_alike(studio: &mut Studio, settings: &Settings) {
    let marks = [("no group has this key".to_owned(), MarkNote::default())];
    let with = PictureExtras { marks: marks.into(), ..PictureExtras::default() };
    for opacity in [settings.opacity, 1.0] {
        let settings = Settings { opacity, shadows: opacity >= 1.0, ..settings.clone() };
        for pose in [CameraView::Home, CameraView::BirdsEye, CameraView::Pose(NEAR)] {
            let plain = Shot { view: pose.clone(), ..shot(&settings) };
            let special = Shot { with: with.clone(), ..plain.clone() };
            let [plain, special] = [plain, special].map(|shot| studio.shoot(&shot).expect("a picture"));
            let by = |steps| difference(&plain, &special, steps);
            // Not one and the same, or there would be nothing to compare.
            assert!(
                by(0) > 0.001 && by(2) < 0.01 && by(8) < 0.001,
                "{pose:?}, {opacity}: {} {} {}",
                by(0),
                by(2),
                by(8)
            );
        }
    }
}

/// What holds the persons of the sample.
const CUT: &str = "register.store.PersonRegistry.PERSONS";

/// Buildings that go have stripes, buildings that stay have none: in lightness alone, on each side.
fn what_would_be_freed_is_told_without_colours(studio: &mut Studio, shot: &Shot) {
    let taken = take(studio, shot);
    let city = studio.app().world_mut().resource::<Shown>().0.as_ref().expect("a city");
    let box_named = |name: &str| {
        let timeline = &city.timeline;
        let node = timeline.nodes().find(|&node| timeline.key(node).ends_with(&format!("#{name}")));
        city.box_of(Target::Node(node.expect(name))).expect("a box")
    };
    let lightness = |x: u32, y: u32| taken.picture.get_pixel(x, y).0.iter().map(|&c| u32::from(c)).sum::<u32>() / 3;
    let (w, h) = taken.picture.dimensions();
    // The share of neighbours on it that are clearly lighter or darker.
    let striped = |number: u32| {
        let on = |x: u32, y: u32| taken.inside(x, y) == Some(Some(number));
        let pairs = (1..h - 1).flat_map(|y| (1..w - 4).map(move |x| (x, y))).filter(|&(x, y)| on(x, y) && on(x + 3, y));
        let (mut jumps, mut all) = (0, 0);
        for (x, y) in pairs {
            all += 1;
            jumps += usize::from(lightness(x, y).abs_diff(lightness(x + 3, y)) > 16);
        }
        assert!(all > 150, "box {number} is seen: {all}");
        jumps as f64 / all as f64
    };
    let stays = ["ConcurrentHashMap$Node", "ConcurrentHashMap$Node[]"].map(|name| (name, false));
    for (name, goes) in [("String", true), ("byte[]", true)].into_iter().chain(stays) {
        let share = striped(box_named(name));
        eprintln!("{name}: {:.0} % of it differs in lightness from what is beside it", 100.0 * share);
        // Corners of other buildings stand before some of those that stay.
        assert!(if goes { share > 0.3 } else { share < 0.15 }, "{name}: {share}");
    }
}

/// Between buildings: corners of what is seen are behind the eye.
const NEAR: CameraPose = CameraPose { eye: bevy::math::Vec3::new(8.0, 2.0, 12.0), yaw: 0.4, pitch: -0.1 };

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
    let bare = Settings { labels: false, ..settings.clone() };
    let end = take(&mut studio, &shot(&bare));
    golden_city("end-bare", &end);
    picking_agrees("end", &mut studio, &end);
    the_comparison_finds_a_single_building(&end);
    let start = take(&mut studio, &Shot { time: Some(0), ..shot(&bare) });
    golden_city("start-bare", &start);
    picking_agrees("start", &mut studio, &start);
    let above = take(&mut studio, &Shot { view: CameraView::BirdsEye, time: Some(7), ..shot(&bare) });
    picking_agrees("above", &mut studio, &above);
    both_shaders_draw_alike(&mut studio, &bare);
    let growing = Settings { height: "growth".into(), colour: "share".into(), ..bare.clone() };
    let growing = take(&mut studio, &shot(&growing));
    golden_city("share-and-growth", &growing);
    picking_agrees("share-and-growth", &mut studio, &growing);
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
    let select = |settings: &Settings| Shot { select: vec!["Person".into()], ..shot(settings) };
    let selected = studio.shoot(&select(&settings)).expect("a picture");
    golden("selected", &selected);
    golden_boxes("selected", &Taken { boxes: studio.box_numbers(), picture: selected.clone() });
    assert!(share(&selected, is_blue) > share(&end, is_blue) + 0.004, "the selected building is blue");
    assert!(share(&selected, is_purple) > share(&end, is_purple) + 0.001, "incoming cones are purple");
    assert!(share(&selected, is_green) > share(&end, is_green) + 0.001, "outgoing cones are green");
    // The paths from its root: yellow, in place of cones. What would be freed by a cut: cyan, and the rest goes quiet.
    let paths = studio.shoot(&Shot { paths: true, ..select(&settings) }).expect("a picture");
    golden("paths", &paths);
    assert!(share(&paths, is_yellow) > share(&end, is_yellow) + 0.002, "the path is seen");
    assert!(share(&paths, is_purple) < share(&selected, is_purple) / 2.0, "no cones beside paths");
    let cut = studio.shoot(&Shot { paths: true, cut: Some(CUT.into()), ..select(&settings) }).expect("a picture");
    golden("cut", &cut);
    assert!(share(&cut, is_cyan) > share(&paths, is_cyan) + 0.02, "what would be freed is lit");
    assert!(share(&cut, is_red) < share(&paths, is_red) / 2.0, "growth is not what colours tell now");
    what_would_be_freed_is_told_without_colours(
        &mut studio,
        &Shot { paths: true, cut: Some(CUT.into()), ..select(&bare) },
    );
    let undone = studio.shoot(&select(&settings)).expect("a picture");
    assert_eq!(difference(&undone, &selected, 0), 0.0, "without paths and cut all is as before");
    let no_pointers = Settings { show_pointers: false, ..settings.clone() };
    let bare = studio.shoot(&select(&no_pointers)).expect("a picture");
    assert!(share(&bare, is_purple) < share(&selected, is_purple) / 2.0, "no cones without pointers");
    let focused = studio.shoot(&Shot { view: CameraView::Focus, ..select(&settings) }).expect("a picture");
    assert!(share(&focused, is_blue) > share(&selected, is_blue) * 1.15, "focus brings the building near");

    // Views, and pictures with the panels of the window.
    let above = studio.shoot(&Shot { view: CameraView::BirdsEye, ..shot(&settings) }).expect("a picture");
    golden("above", &above);
    golden_boxes("above", &Taken { boxes: studio.box_numbers(), picture: above.clone() });
    // As a plan, from the same place: what is around the city is as it was.
    let pose = studio.app().world().resource::<CameraRig>().pose;
    let plan = studio.shoot(&Shot { view: CameraView::Plan(pose), ..shot(&settings) }).expect("a picture");
    let ground = |picture: &image::RgbImage| picture.get_pixel(6, 6).0;
    assert!(ground(&plan).iter().zip(ground(&above)).all(|(a, b)| a.abs_diff(b) < 4), "the ground is in no haze");
    golden("plan", &plan);
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

    // Each of several selected groups is blue, and is not any more when another one is selected.
    let plain = Settings { labels: false, show_pointers: false, opacity: 1.0, solid_count: 200, ..settings.clone() };
    studio.app().world_mut().resource_mut::<PanelState>().nothing = true;
    let none = take(&mut studio, &shot(&plain));
    let mut blue = |select: &[&str]| -> Vec<u32> {
        let wish = Shot { select: select.iter().map(|&s| s.into()).collect(), ..shot(&plain) };
        let taken = take(&mut studio, &wish);
        assert!(taken.boxes == none.boxes, "a selection moves nothing");
        let mut pixels: HashMap<u32, (u32, u32)> = HashMap::new();
        let pairs = taken.picture.pixels().zip(none.picture.pixels());
        for (number, (now, before)) in taken.boxes.iter().zip(pairs).filter_map(|(n, p)| n.zip(Some(p))) {
            let (changed, all) = pixels.entry(number).or_default();
            *all += 1;
            *changed += u32::from(is_selected(now.0) && (0..3).any(|c| now.0[c].abs_diff(before.0[c]) > 16));
        }
        let mut blue: Vec<u32> =
            pixels.into_iter().filter(|(_, (c, all))| *all >= 30 && 3 * c > *all).map(|p| p.0).collect();
        blue.sort_unstable();
        blue
    };
    let several = ["Person", "char[]", "String"];
    let mut each: Vec<u32> = several.iter().flat_map(|one| blue(&[one])).collect();
    each.sort_unstable();
    assert_eq!(each.len(), several.len(), "one alone is one box: {each:?}");
    assert_eq!(blue(&several), each);
    assert!(blue(&[]).is_empty());
    studio.app().world_mut().resource_mut::<PanelState>().nothing = false;

    // Opacity: opaque, see-through, outlines only, are three pictures; without colour nothing is red.
    for (name, opacity) in [("opaque", 1.0), ("outlines", 0.0)] {
        let picture = studio.shoot(&shot(&Settings { opacity, ..settings.clone() })).expect("a picture");
        assert!(difference(&picture, &end, 16) > 0.02, "{name}");
        golden(name, &picture);
    }
    let gray =
        studio.shoot(&shot(&Settings { colour: "none".into(), labels: false, ..settings.clone() })).expect("a picture");
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
        golden_boxes(grouping, &Taken { boxes: studio.box_numbers(), picture });
    }

    // What groups retain is an area, a height and a colour like any other metric.
    let mut retained = settings.clone();
    retained.set_metric_by_name("retained");
    studio.show(open(&retained));
    let picture = studio.shoot(&shot(&retained)).expect("a picture");
    let shown = studio.app().world().resource::<Shown>().0.as_ref().map(|city| {
        assert_eq!(city.plan.config().metric, city.made_with.metric);
        city.timeline.metric_info(city.made_with.metric).id.to_string()
    });
    assert_eq!(shown.as_deref(), Some("retained"));
    assert!(difference(&picture, &end, 24) > 0.05);

    // A trace: types and where their objects were allocated, and what keeps those of one site alive.
    let trace = [Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/anttracks/person-leak-parallel")];
    let traced = Settings::default();
    studio.show(self::open(&trace, &traced));
    let site = "Heap#PersonLeak8$Person#PersonLeak8.main(String[]):33";
    let wish = Shot { select: vec![site.into()], panels: true, size: (1280, 720), ..shot(&traced) };
    let picture = studio.shoot(&wish).expect("a picture");
    golden("trace", &picture);
    golden_boxes("trace", &Taken { boxes: studio.box_numbers(), picture: picture.clone() });
    for (name, size) in [("details", (1280, 720)), ("details-small", (640, 400))] {
        let wish = Shot { of_view: Some("details"), size, ..shot(&traced) };
        golden(name, &studio.shoot(&wish).expect("a picture"));
    }
    let wish = Shot { of_view: Some("generations"), size: (1024, 480), ..shot(&traced) };
    golden("generations", &studio.shoot(&wish).expect("a picture"));
    // Charts with the collections below them; what groups retain, at fewer times.
    for (name, size) in [("trends-trace", (1280, 720)), ("trends-trace-small", (640, 400))] {
        let wish = Shot { of_view: Some("trends"), size, ..shot(&traced) };
        golden(name, &studio.shoot(&wish).expect("a picture"));
    }
    assert!(
        share(&picture, is_red) > 0.004 && share(&picture, is_purple) > 0.0008 && share(&picture, is_green) > 0.003
    );
    studio.show(open(&settings));

    // Other views than the city, at two sizes.
    for (name, view, size) in [
        ("sunburst", "sunburst", (1280, 720)),
        ("sunburst-small", "sunburst", (640, 400)),
        ("icicle", "icicle", (1280, 720)),
        ("icicle-small", "icicle", (640, 400)),
        ("trends", "trends", (1280, 720)),
        ("trends-small", "trends", (640, 400)),
        ("graph", "graph", (1280, 720)),
        ("graph-small", "graph", (640, 400)),
        ("overview", "overview", (1280, 720)),
        ("overview-small", "overview", (640, 400)),
    ] {
        let wish = Shot { of_view: Some(view), size, ..select(&settings) };
        golden(name, &studio.shoot(&wish).expect("a picture"));
    }
    let mut retained = settings.clone();
    (retained.trends.metric, retained.trends.sizes_at) = (Some("retained".into()), 5);
    for (name, size) in [("trends-retained", (1280, 720)), ("trends-retained-small", (640, 400))] {
        let wish = Shot { of_view: Some("trends"), size, ..select(&retained) };
        golden(name, &studio.shoot(&wish).expect("a picture"));
    }
    change::times_compared(&mut studio);
    change::heights_themes_and_times(&mut studio);
    change::the_scene_of_figure_10(&mut studio);
    change::the_scenes_of_figures_11_and_12(&mut studio);
    studio.show(open(&settings));

    finding::a_view_file_and_the_city_alone(&mut studio, &settings);

    // Wrong wishes are errors with a remedy.
    let error = studio.shoot(&Shot { time: Some(99), ..shot(&settings) }).expect_err("no such time").to_string();
    assert!(error.contains("no point in time 100") && error.contains("from 1 to 16"), "{error}");
    let error = studio.shoot(&Shot { select: vec!["Nobody".into()], ..shot(&settings) }).expect_err("none").to_string();
    assert!(error.contains("no group Nobody") && error.contains("Heap#"), "{error}");
}

/// Plates of names twice as large cover more, and names are of the same buildings.
#[test]
fn names_are_as_large_as_somebody_wants() {
    let mut studio = Studio::new(SIZE, 1).expect("a GPU, if only in software");
    let [none, plain, large] = [(false, 1.0), (true, 1.0), (true, 2.0)].map(|(labels, name_size)| {
        // As few as there is room for in both sizes.
        let settings = Settings { labels, name_size, name_count: Some(4), ..Settings::default() };
        studio.show(open(&sample(), &settings));
        studio.shoot(&Shot { panels: false, ..shot(&settings) }).expect("a picture")
    });
    let covered = |picture: &RgbImage| difference(picture, &none, 20);
    assert!(covered(&plain) > 0.002, "{}", covered(&plain));
    assert!(covered(&large) > 1.3 * covered(&plain), "{} after {}", covered(&large), covered(&plain));
}

#[test]
fn a_film_shows_every_time_and_the_steps_between() {
    let folder = tempfile::tempdir().expect("a folder");
    let command = |arguments: &[&str], output: &Path| {
        let made = std::process::Command::new(env!("CARGO_BIN_EXE_memory-city"))
            .env("MEMORY_CITY_CACHE", "")
            // Nobody sits before it.
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .arg("render")
            .args(sample())
            .args(["--no-labels", "--size", "320x200", "-o"])
            .arg(output)
            .args(arguments)
            .output()
            .expect("the program runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    let picture = |path: &Path| image::open(path).expect("a picture").to_rgb8();
    let (film, alone) = (folder.path().join("film"), folder.path().join("alone.png"));
    let range = ["--film", "--from", "2", "--to", "4", "--between", "1"];
    command(&range, &film);
    let pictures: Vec<RgbImage> = (1..=5).map(|n| picture(&film.join(format!("{n:04}.png")))).collect();
    assert!(!film.join("0006.png").exists());
    for (number, time) in [(0, "2"), (2, "3"), (4, "4")] {
        command(&["--time", time], &alone);
        // Without names: in a film they stay where they were as long as they can.
        assert!(difference(&pictures[number], &picture(&alone), 40) < 0.002, "picture {number}");
    }
    for pair in pictures.windows(2) {
        assert!(difference(&pair[0], &pair[1], 0) > 0.001, "a step shows");
    }
    // The same in one file: as many frames, of which the first is what a viewer shows that knows no animation.
    let animated = folder.path().join("film.png");
    command(&range, &animated);
    assert_eq!(picture(&animated), pictures[0]);
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&animated).expect("a film")));
    let mut reader = decoder.read_info().expect("a PNG");
    assert_eq!(reader.info().animation_control.expect("animated").num_frames, 5);
    let mut buffer = vec![0; reader.output_buffer_size().expect("a size")];
    let mut shown = RgbImage::new(320, 200);
    for picture in &pictures {
        reader.next_frame(&mut buffer).expect("a frame");
        // A frame lies over what was shown before.
        let frame = *reader.info().frame_control().expect("a frame of the film");
        for (at, pixel) in buffer.chunks(4).take((frame.width * frame.height) as usize).enumerate() {
            let (x, y) = (at as u32 % frame.width, at as u32 / frame.width);
            if pixel[3] == 255 {
                shown.put_pixel(frame.x_offset + x, frame.y_offset + y, image::Rgb([pixel[0], pixel[1], pixel[2]]));
            }
        }
        assert!(picture == &shown, "frames are the pictures");
    }
    let bytes = std::fs::metadata(&animated).expect("a film").len();
    let each: u64 =
        (1..=5).map(|n| std::fs::metadata(film.join(format!("{n:04}.png"))).expect("a picture").len()).sum();
    assert!(bytes < each, "what stays the same is not written again: {bytes} of {each} bytes");
}
