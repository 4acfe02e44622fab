//! Pictures of cities with buildings smaller than a pixel. Drawn as blocks, also in flight, they look like the same
//! city drawn building by building, without its noise. Also the lower resolution of moving pictures with the full one
//! soon after, and buildings on the way to new places.
#![cfg(feature = "viewer")]

use bevy::time::TimeUpdateStrategy;
use image::RgbImage;
use memory_city::viewer::action::Action;
use memory_city::viewer::capture::{CameraView, Shot, Studio};
use memory_city::viewer::city::{CameraRig, City, Sharpness, Shown};
use memory_city::viewer::clock::Clock;
use memory_city::viewer::loading::open_document;
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::selection::{MarkNote, Marks, Selection};
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views;
use memory_city_heap::progress::Progress;
use memory_city_views::city::camera::CameraPose;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

mod moving;

const SIZE: (u32, u32) = (320, 200);

/// Two times of `packages` packages of 250 types; every fifth type grows.
fn write_city(path: &Path, packages: usize) {
    write_growing(path, packages, 2, 5);
}

/// Times of as many; from time to time others grow, one of so many.
fn write_growing(path: &Path, packages: usize, times: usize, of: usize) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("a file"));
    for time in 0..times {
        write!(file, r#"{{"format":"memory-city","version":1,"label":"{time}","tree":{{"children":["#)
            .expect("written");
        for package in 0..packages {
            let comma = if package > 0 { "," } else { "" };
            write!(file, r#"{comma}{{"name":"p{package}","role":"Package","children":["#).expect("written");
            for kind in 0..250 {
                let i = package * 250 + kind;
                let bytes = 16 + (i * 7919 % 10_007) * if i % of < time { 2 } else { 1 };
                let comma = if kind > 0 { "," } else { "" };
                write!(file, r#"{comma}{{"name":"T{i}","objects":1,"bytes":{bytes}}}"#).expect("written");
            }
            write!(file, "]}}").expect("written");
        }
        writeln!(file, "]}}}}").expect("written");
    }
    file.flush().expect("written");
}

/// Means over tiles of eight by eight pixels, 0 to 1.
fn tiles(picture: &RgbImage) -> Vec<f64> {
    let (w, h) = (picture.width() / 8, picture.height() / 8);
    let mut sums = vec![0.0; (w * h * 3) as usize];
    for (x, y, pixel) in picture.enumerate_pixels().filter(|(x, y, _)| x / 8 < w && y / 8 < h) {
        (0..3).for_each(|c| sums[((y / 8 * w + x / 8) * 3) as usize + c] += f64::from(pixel.0[c]) / 64.0 / 255.0);
    }
    sums
}

/// The mean difference, and the one that only one of a hundred exceeds.
fn difference(a: &[f64], b: &[f64]) -> (f64, f64) {
    let mut all: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect();
    all.sort_by(f64::total_cmp);
    (all.iter().sum::<f64>() / all.len() as f64, all[all.len() - 1 - all.len() / 100])
}

/// How much pixels differ from those beside them in the middle of the picture, which is city.
fn noise(picture: &RgbImage) -> f64 {
    let (w, h) = picture.dimensions();
    let (mut sum, mut count) = (0.0, 0.0);
    for y in h * 2 / 5..h * 3 / 5 {
        for x in w * 2 / 5..w * 3 / 5 {
            let (a, b) = (picture.get_pixel(x, y).0, picture.get_pixel(x + 1, y).0);
            sum += (0..3).map(|c| f64::from(a[c].abs_diff(b[c]))).sum::<f64>() / 3.0;
            count += 1.0;
        }
    }
    sum / count
}

#[test]
fn blocks_look_like_the_buildings_they_stand_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 400);
    let settings = Settings { prune: false, labels: false, ..Settings::default() };
    let open = |settings: &Settings| {
        open_document(std::slice::from_ref(&file), settings, &views::all().preparations(settings), &Progress::new())
            .expect("it opens")
    };
    let mut studio = Studio::new(SIZE, 4).expect("a GPU, if only in software");
    let shot = |settings: &Settings, view: CameraView| Shot { time: Some(1), view, ..Shot::of(SIZE, settings) };
    for opacity in [0.4, 1.0] {
        let settings = Settings { opacity, ..settings.clone() };
        studio.show(open(&settings));
        // Caption and legend find their room; then nothing lies over so small a picture.
        studio.app().world_mut().resource_mut::<PanelState>().nothing = false;
        studio.shoot(&shot(&settings, CameraView::Home)).expect("a picture");
        studio.app().world_mut().resource_mut::<PanelState>().nothing = true;
        let mut take = |view: CameraView, smallest: f32| {
            studio.app().world_mut().resource_mut::<Sharpness>().smallest = smallest;
            let picture = studio.shoot(&shot(&settings, view)).expect("a picture");
            let pose = studio.app().world().resource::<CameraRig>().pose;
            if let Ok(folder) = std::env::var("DETAIL_PICTURES") {
                let name = format!("{folder}/detail-{opacity}-{smallest}-{:.3}-{:.3}.png", pose.eye.y, pose.yaw);
                picture.save(name).expect("written");
            }
            (picture, studio.boxes_drawn(), pose)
        };
        let (full, all, home) = take(CameraView::Home, 0.0);
        let (blocks, few, _) = take(CameraView::Home, 1.0);
        assert!(all > 100_000 && few * 5 < all, "{few} of {all} boxes");
        assert!(noise(&blocks) < 0.8 * noise(&full), "{} after {}", noise(&blocks), noise(&full));
        // A flight from the home view down to buildings that are larger than a pixel, and past the side.
        let (mut before, mut told) = (None::<[Vec<f64>; 3]>, Vec::new());
        // Frames of a flight are a hundredth of the way apart; between the pairs it has gone on.
        for along in [0.0, 0.01, 0.25, 0.26, 0.5, 0.51, 0.75, 0.76, 0.99, 1.0] {
            let eye = home.eye * (1.0 - 0.6 * along);
            let pose = CameraPose { eye, yaw: home.yaw + 0.3 * along, pitch: home.pitch };
            // The last is what larger cities are drawn with.
            let pictures = [0.0, 1.0, 1.5].map(|smallest| tiles(&take(CameraView::Pose(pose), smallest).0));
            let [full, blocks, coarser] = &pictures;
            let (mean, worst) = difference(full, coarser);
            assert!(mean < 0.02 && worst < 0.08, "opacity {opacity}, coarser: {mean} {worst}");
            let (mean, worst) = difference(full, blocks);
            told.push(format!("{along}: {:.2} % ({:.1} %)", mean * 100.0, worst * 100.0));
            assert!(mean < 0.02, "opacity {opacity}: {told:?}");
            assert!(worst < 0.08, "opacity {opacity}: {told:?}");
            if let Some(before) = &before {
                // What changes from frame to frame is what changes in the full pictures.
                let changes: Vec<Vec<f64>> = std::iter::zip(&pictures, before)
                    .map(|(now, then)| now.iter().zip(then).map(|(a, b)| a - b).collect())
                    .collect();
                for of in &changes[1..] {
                    let (mean, worst) = difference(&changes[0], of);
                    told.push(format!("changes {:.2} % ({:.1} %)", mean * 100.0, worst * 100.0));
                    assert!(mean < 0.02 && worst < 0.12, "opacity {opacity}: {told:?}");
                }
            }
            before = Some(pictures);
        }
        eprintln!("opacity {opacity}: {told:?}");
    }
    let plain = studio.shoot(&shot(&settings, CameraView::Home)).expect("a picture");
    // While something is looked for there are blocks too: they show how much of them is found.
    for (text, most) in [("T7", 0.02), ("T99999", 0.01)] {
        let mut take = |smallest: f32| {
            studio.app().world_mut().resource_mut::<Sharpness>().smallest = smallest;
            let mut wish = shot(&settings, CameraView::Home);
            wish.with.filter = text.into();
            (studio.shoot(&wish).expect("a picture"), studio.boxes_drawn())
        };
        let ((full, all), (blocks, few)) = (take(0.0), take(1.0));
        assert!(few * 4 < all, "{text}: {few} of {all} boxes");
        let (receded, _) = difference(&tiles(&plain), &tiles(&blocks));
        assert!(receded > 0.02, "{text}: what is not found recedes, {receded}");
        let (mean, worst) = difference(&tiles(&full), &tiles(&blocks));
        eprintln!("{text} looked for: {:.2} % ({:.1} %), {few} of {all} boxes", 100.0 * mean, 100.0 * worst);
        assert!(mean < most && worst < 0.12, "{text}: {mean} {worst}");
    }
}

#[test]
fn a_step_that_looks_at_what_changes_shows_what_a_whole_one_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 100);
    let settings = Settings { prune: false, ..Settings::default() };
    let files = std::slice::from_ref(&file);
    let draft =
        open_document(files, &settings, &views::all().preparations(&settings), &Progress::new()).expect("it opens");
    let timeline = draft.source.timeline();
    let mut stepped = City::new(timeline, &settings);
    assert!(stepped.plan.plots.len() > 20_000, "large enough for steps of their own");
    for (from, to) in [(0, 1), (1, 0)] {
        stepped.reverse_see_through();
        stepped.reverse_see_through();
        stepped.states(from);
        // What the legend counts goes on from there too.
        stepped.told(from);
        let (stepped, counted) = (stepped.states(to), stepped.told(to).0);
        let mut another = City::new(timeline, &settings);
        let whole = another.states(to);
        assert!(stepped.records.records == whole.records.records, "{from} to {to}");
        assert_eq!(counted, another.told(to).0, "{from} to {to}");
        let plots = 0..another.plan.plots.len();
        let there = plots.filter(|&plot| !another.plan.is_more(plot) && whole.of(plot).side > 0).count();
        assert_eq!(counted.buildings() as usize, there, "at {to}");
    }
}

/// A step that changes few buildings sends these alone. The picture equals that of a city that was sent whole: half the
/// way and at its end, from step to step, back, and at once.
#[test]
fn a_step_that_sends_what_changes_shows_what_a_whole_one_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_growing(&file, 100, 4, 1000);
    let plain = Settings { prune: false, labels: false, ..Settings::default() };
    let mut compared = plain.clone();
    compared.compare_with(Some(0));
    for settings in [plain, compared] {
        let files = std::slice::from_ref(&file);
        let draft = || {
            open_document(files, &settings, &views::all().preparations(&settings), &Progress::new()).expect("it opens")
        };
        let mut city = City::new(draft().source.timeline(), &settings);
        city.states(1);
        let second = city.states(2);
        let changed = second.records.since.expect("few are others").boxes.len();
        assert!(
            changed > 25
                && 64 * changed < second.records.records.len()
                && second.over.since.is_some() == settings.base.is_some(),
            "{changed}"
        );
        let start = |time: usize| {
            let mut studio = Studio::new(SIZE, 1).expect("a GPU, if only in software");
            studio.show(draft());
            let shot = Shot { time: Some(time), panels: false, ..Shot::of(SIZE, &settings) };
            studio.shoot(&shot).expect("a picture");
            (studio, shot)
        };
        let (mut studio, shot) = start(0);
        let mut from = 0;
        for (to, on_the_way) in
            [(1, true), (2, true), (3, true), (2, true), (1, false), (2, false), (0, true), (1, true)]
        {
            let (mut whole, _) = start(from);
            for share in [0.5, 1.0].into_iter().skip(usize::from(!on_the_way)) {
                let [now, expected] =
                    [&mut studio, &mut whole].map(|studio| studio.shoot_step(&shot, to, share).expect("a picture"));
                assert!(now == expected, "{from} to {to}, {share} of the way, compared with {:?}", settings.base);
            }
            from = to;
        }
    }
}

/// Boxes with a paint of their own are written alone. After marks and selections have come and gone, the screen is as
/// if they were the first.
#[test]
fn marks_that_come_and_go_leave_what_was_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 12);
    let settings = Settings { prune: false, labels: false, ..Settings::default() };
    let draft = |settings: &Settings| {
        let files = std::slice::from_ref(&file);
        open_document(files, settings, &views::all().preparations(settings), &Progress::new()).expect("it opens")
    };
    // Marked and selected buildings, by number.
    let shown = |studio: &mut Studio, marked: &[usize], chosen: &[usize]| {
        let (timeline, nodes) = {
            let city = studio.app().world().resource::<Shown>().0.as_ref().expect("a city");
            let nodes = city.timeline.nodes().filter(|&node| city.plan.plot_of(node).is_some()).collect::<Vec<_>>();
            (std::sync::Arc::clone(&city.timeline), nodes)
        };
        let note =
            |(colour, at): (usize, &usize)| (timeline.key(nodes[*at]), MarkNote { colour, ..MarkNote::default() });
        let notes = marked.iter().enumerate().map(note).collect();
        studio.app().world_mut().resource_mut::<Marks>().replace(&timeline, notes);
        let mut selection = studio.app().world_mut().resource_mut::<Selection>();
        selection.select_all(&timeline, chosen.iter().map(|&at| nodes[at]));
        (0..3).for_each(|_| studio.frame());
        studio.frame_picture().expect("a picture")
    };
    let start = |settings: &Settings| {
        let mut studio = Studio::new(SIZE, 1).expect("a GPU, if only in software");
        studio.show(draft(settings));
        studio.shoot(&Shot { panels: false, ..Shot::of(SIZE, settings) }).expect("a picture");
        studio
    };
    let mut studio = start(&settings);
    let plain = shown(&mut studio, &[], &[]);
    let steps: [(&[usize], &[usize]); 4] =
        [(&[0, 7, 2000], &[]), (&[7], &[0, 1, 2999]), (&[], &[1, 2]), (&[2999], &[])];
    for (marked, chosen) in steps {
        let now = shown(&mut studio, marked, chosen);
        assert!(now != plain, "{marked:?} and {chosen:?} are seen");
        let first = shown(&mut start(&settings), marked, chosen);
        assert!(now == first, "{marked:?} and {chosen:?}");
    }
    assert!(shown(&mut studio, &[], &[]) == plain, "and nothing is left of them");
}

#[test]
fn a_finger_turns_two_come_nearer_and_a_tap_selects() {
    use bevy::input::touch::{TouchInput, TouchPhase};
    use bevy::window::WindowEvent;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 4);
    let settings = Settings::default();
    let mut studio = Studio::new((1280, 720), 1).expect("a GPU, if only in software");
    studio.app().world_mut().resource_mut::<PanelState>().still = false;
    let document = open_document(&[file], &settings, &views::all().preparations(&settings), &Progress::new());
    studio.show(document.expect("it opens"));
    (0..4).for_each(|_| studio.frame());
    let (corner, size) = studio.app().world().resource::<CameraRig>().area();
    let middle = corner + size / 2.0;
    let touch = |studio: &mut Studio, id: u64, steps: &[(TouchPhase, f32)]| {
        for &(phase, right) in steps {
            let position = middle + bevy::math::Vec2::new(right, 0.0);
            let input = TouchInput { phase, position, window: bevy::ecs::entity::Entity::PLACEHOLDER, force: None, id };
            studio.app().world_mut().write_message(WindowEvent::TouchInput(input));
            studio.frame();
        }
        let world = studio.app().world();
        (world.resource::<CameraRig>().pose.yaw, world.resource::<Selection>().node())
    };
    let (before, none) = touch(&mut studio, 1, &[]);
    assert_eq!(none, None);
    // One finger turns. A second one beside it comes nearer, and does not turn; a third one does nothing. Who stays goes on turning.
    let (held, _) = touch(&mut studio, 1, &[(TouchPhase::Started, 0.0)]);
    assert_eq!(held, before);
    let eye = |studio: &mut Studio| studio.app().world().resource::<CameraRig>().pose.eye;
    let far = eye(&mut studio);
    let (apart, _) = touch(&mut studio, 2, &[(TouchPhase::Started, 60.0), (TouchPhase::Moved, 180.0)]);
    let near = eye(&mut studio);
    assert!(near.y < far.y / 2.0 && (apart - before).abs() < 1e-4, "{far} {near} {before} {apart}");
    touch(&mut studio, 3, &[(TouchPhase::Started, 20.0), (TouchPhase::Moved, 90.0), (TouchPhase::Ended, 90.0)]);
    assert_eq!(eye(&mut studio), near);
    let (_, selected) = touch(&mut studio, 1, &[(TouchPhase::Ended, 0.0)]);
    assert_eq!((eye(&mut studio), selected), (near, None));
    let (turned, selected) = touch(&mut studio, 2, &[(TouchPhase::Moved, 120.0), (TouchPhase::Ended, 120.0)]);
    assert!((turned - before).abs() > 0.05 && selected.is_none(), "{before} {turned}");
    // A finger that is taken away has not tapped.
    let (_, selected) = touch(&mut studio, 3, &[(TouchPhase::Started, 0.0), (TouchPhase::Canceled, 0.0)]);
    assert_eq!(selected, None);
    let (_, selected) = touch(&mut studio, 4, &[(TouchPhase::Started, 0.0), (TouchPhase::Ended, 0.0)]);
    assert!(selected.is_some(), "a tap selects what is under it");
}

#[test]
fn a_city_that_stands_still_is_the_picture_that_was_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 4);
    let settings = Settings { prune: false, ..Settings::default() };
    for samples in [1, 4] {
        let mut studio = Studio::new(SIZE, samples).expect("a GPU, if only in software");
        let take = |studio: &mut Studio, time: usize, size: (u32, u32)| {
            let shot = Shot { time: Some(time), panels: true, ..Shot::of(size, &settings) };
            studio.shoot(&shot).expect("a picture")
        };
        let files = std::slice::from_ref(&file);
        let document = open_document(files, &settings, &views::all().preparations(&settings), &Progress::new());
        studio.show(document.expect("it opens"));
        let drawn = take(&mut studio, 1, SIZE);
        // Drawn and kept, then copied.
        for _ in 0..3 {
            assert!(take(&mut studio, 1, SIZE) == drawn, "{samples} samples: the same picture");
        }
        // What changes is drawn, and so is what comes back.
        let before = take(&mut studio, 0, SIZE);
        assert!(before != drawn, "{samples} samples: another time is another picture");
        let wider = (SIZE.0 + 40, SIZE.1);
        assert_eq!(take(&mut studio, 1, wider).dimensions(), wider);
        assert!(take(&mut studio, 1, SIZE) == drawn, "{samples} samples: back again");
    }
}

/// Each frame of a studio takes so long, whatever the machine does.
const FRAME: Duration = Duration::from_millis(20);

fn with_even_frames(studio: &mut Studio) {
    studio.app().world_mut().insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
}

#[test]
fn while_it_moves_the_city_is_drawn_half_as_fine_and_in_full_soon_after() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.jsonl");
    write_city(&file, 40);
    let settings = Settings { prune: false, labels: false, ..Settings::default() };
    let mut studio = Studio::new((640, 400), 1).expect("a GPU, if only in software");
    let files = std::slice::from_ref(&file);
    let draft =
        open_document(files, &settings, &views::all().preparations(&settings), &Progress::new()).expect("it opens");
    studio.show(draft);
    with_even_frames(&mut studio);
    let shot = |view: CameraView| Shot { time: Some(1), view, ..Shot::of((640, 400), &settings) };
    studio.shoot(&shot(CameraView::Home)).expect("a picture");
    studio.app().world_mut().resource_mut::<Sharpness>().moving = Sharpness::SOFTWARE;
    for _ in 0..20 {
        studio.frame();
    }
    let now = |studio: &mut Studio| studio.app().world().resource::<Sharpness>().now();
    assert_eq!(now(&mut studio), 1.0, "it rests");
    let still = studio.frame_picture().expect("a picture");
    let mut moving = Vec::new();
    for _ in 0..10 {
        studio.app().world_mut().resource_mut::<CameraRig>().pose.yaw += 0.004;
        moving.push(studio.frame_picture().expect("a picture"));
        let fine = now(&mut studio);
        assert!((0.5..1.0).contains(&fine), "{fine} of each side");
    }
    // Then whole again, within 200 ms.
    let mut frames = 0;
    let mut picture = moving[9].clone();
    while now(&mut studio) < 1.0 {
        picture = studio.frame_picture().expect("a picture");
        frames += 1;
        assert!(frames * FRAME.as_millis() <= 200, "{frames} frames of {FRAME:?} after the last movement");
    }
    assert!(frames > 1, "who goes on at once does not flicker");
    let pose = studio.app().world().resource::<CameraRig>().pose;
    studio.app().world_mut().resource_mut::<Sharpness>().moving = 1.0;
    let whole = studio.shoot(&shot(CameraView::Pose(pose))).expect("a picture");
    let off = |a: &RgbImage, b: &RgbImage| difference(&tiles(a), &tiles(b)).0;
    assert!(picture == whole, "all of its pixels: {}", off(&picture, &whole));
    // It is the same picture before, with half of the detail: what is beside each other differs less, or is the same.
    let last = &moving[9];
    assert!(off(last, &whole) < 0.02, "{}", off(last, &whole));
    let (coarse, fine) = (noise(last), noise(&whole));
    assert!(coarse < 0.85 * fine && coarse > 0.2 * fine, "{coarse} after {fine}");
    assert!(noise(&still) > coarse);
}
