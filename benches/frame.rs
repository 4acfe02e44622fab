//! Frames of cities of 40 to 1,000,000 buildings, against a bare wgpu program that draws the same boxes with a plain
//! shader. That is the least work of the GPU (here usually a software one). It has as many vertices a box, 18, and as
//! many passes.
//!
//! Both run in this process, in turn, on the same kind of adapter, without anti-aliasing, and wait for each frame. The
//! least of all frames counts, since only other programs make one slower than another.
//!
//! Pictures without a window come last. The benchmark fails if an aim is missed, and names it. Aims are ratios to
//! measurements of the same run. An aim in seconds is scaled by the machine on which it was set: its bare draw of a
//! million takes 0.9 s.
//!
//! `cargo bench --bench frame`, with one of these behind `--`:
//! - `small`: without the million;
//! - `10000`: cities of that many alone;
//! - `render`: pictures without a window alone;
//! - `reactions`: the answers of a large city;
//! - `beside`: several times beside each other.

use memory_city::viewer::capture::{Shot, Studio};
use memory_city::viewer::city::{CameraRig, City, Multiples, Sharpness, TimeCell};
use memory_city::viewer::document::{Arrival, Draft};
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, Source};
use memory_city_formats::{HeapSeries, SnapshotInfo};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Profile, Root, RootKind, TypeKind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

#[path = "frame/aims.rs"]
mod aims;
#[path = "frame/bare.rs"]
mod bare;
#[path = "frame/pictures.rs"]
mod pictures;
#[path = "frame/reactions.rs"]
mod reactions;

use aims::Aims;
use bare::Bare;
use pictures::without_window;
use reactions::reactions;

const FULL: (u32, u32) = (1920, 1080);

/// What is drawn, and how.
struct Case {
    name: &'static str,
    buildings: usize,
    size: (u32, u32),
    opacity: f32,
    /// Shadows, and all panels over the picture.
    rich: bool,
    /// The camera moves in every frame: half as fine as on a GPU that is a processor, or in full. At rest nothing but panels is drawn.
    moves: Option<f32>,
    frames: usize,
    /// So many times beside each other; 0 is one alone.
    beside: usize,
    /// The ratio that is aimed at, by the clock.
    most: Option<f64>,
}

fn main() -> ExitCode {
    if std::env::args().any(|a| a == "--test") {
        return ExitCode::SUCCESS;
    }
    // As the program itself does.
    memory_city::allocator::keep_for_next_frame();
    let says = |word: &str| std::env::args().any(|a| a == word);
    let small = says("small");
    let only = std::env::args().find_map(|a| a.parse::<usize>().ok());
    let mut aims = Aims::default();
    let mut studio = Studio::new(FULL, 1).expect("a GPU");
    println!("drawing with {}\n", studio.adapter);
    if says("render") {
        without_window(&mut studio, small, &mut aims);
    } else if says("reactions") {
        reactions(&mut studio, only.unwrap_or(1_000_000), &mut aims);
    } else if says("beside") {
        head();
        beside_each_other(&mut studio, &mut aims);
    } else {
        frames(&mut studio, (small, only), &mut aims);
        if !small && only.is_none_or(|buildings| buildings == 1_000_000) {
            reactions(&mut studio, 1_000_000, &mut aims);
        }
        if only.is_none() {
            println!();
            without_window(&mut studio, small, &mut aims);
        }
    }
    aims.end()
}

fn head() {
    println!(
        "| buildings | size | frame | boxes drawn | bare draw (ms) | ours (ms) | ratio | bare, processor (ms) | ours | ratio | wanted |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
}

const CASE: Case = Case {
    name: "",
    buildings: 0,
    size: FULL,
    opacity: 0.4,
    rich: true,
    moves: Some(1.0),
    frames: 40,
    beside: 0,
    most: None,
};

/// While somebody moves on a GPU that is a processor.
const HALF: Option<f32> = Some(Sharpness::SOFTWARE);

fn frames(studio: &mut Studio, (small, only): (bool, Option<usize>), aims: &mut Aims) {
    head();
    let all = "40 % opacity, shadows, panels";
    let (few, window) = (Case { buildings: 40, ..CASE }, (1280, 720));
    // 30 frames in a second where the bare draw takes 9.4 ms.
    let thirty = Some(3.5);
    for case in [
        Case { name: "40 % opacity, panels, camera at rest", size: window, moves: None, most: Some(1.0), ..few },
        Case { name: "40 % opacity, panels", size: window, most: thirty, ..few },
        Case { name: "the same, half as fine", size: window, moves: HALF, most: thirty, ..few },
        Case { name: "40 % opacity, panels, half as fine", size: (1440, 900), moves: HALF, most: thirty, ..few },
        Case { name: "40 % opacity, panels, half as fine", moves: HALF, most: thirty, ..few },
        Case { name: "all opaque, nothing over it", buildings: 10_000, opacity: 1.0, rich: false, ..CASE },
        Case { name: "the city left out", buildings: 10_001, opacity: 1.0, rich: false, ..CASE },
        Case { name: all, buildings: 10_000, most: Some(1.3), ..CASE },
        Case { name: "the same, camera at rest", buildings: 10_000, moves: None, most: Some(1.0), ..CASE },
        Case { name: "all opaque, nothing over it", buildings: 100_000, opacity: 1.0, rich: false, ..CASE },
        Case { name: all, buildings: 100_000, most: Some(1.3), ..CASE },
        Case { name: all, buildings: 1_000_000, frames: 8, most: Some(1.0), ..CASE },
        Case { name: "the same, half as fine", buildings: 1_000_000, moves: HALF, frames: 8, most: Some(1.0), ..CASE },
    ] {
        if only.is_some_and(|buildings| buildings != case.buildings) {
            continue;
        }
        if !(small && case.buildings > 100_000) {
            measure(studio, &case, aims);
        }
    }
    if only.is_none() {
        beside_each_other(studio, aims);
    }
}

/// Four, nine and sixteen times in one picture; the floor draws as many bare ones.
fn beside_each_other(studio: &mut Studio, aims: &mut Aims) {
    let beside = |beside, name| Case { name, buildings: 1000, beside, most: Some(2.0), frames: 20, ..CASE };
    for case in [
        beside(4, "4 times beside each other"),
        beside(9, "9 times"),
        beside(16, "16 times"),
        Case { moves: HALF, ..beside(16, "the same, half as fine") },
        Case { moves: None, most: Some(1.0), ..beside(16, "16 times, camera at rest") },
    ] {
        measure(studio, &case, aims);
    }
}

/// Runs of which the least counts.
const RUNS: usize = 9;

/// The least time of [`RUNS`], milliseconds.
fn least(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..RUNS).map(time).fold(f64::INFINITY, f64::min)
}

fn measure(studio: &mut Studio, case: &Case, aims: &mut Aims) {
    let settings = Settings {
        grouping: "package-type".into(),
        prune: false,
        opacity: case.opacity,
        labels: case.rich,
        shadows: case.rich,
        multiples: case.beside,
        ..Settings::default()
    };
    let source = source(case.buildings, case.beside.max(2), &settings);
    let city = City::new(source.timeline(), &settings);
    let boxes = boxes(&city, 1);
    let preparations = views::all().preparations(&settings);
    studio.show(Draft::new("bench".into(), source, None, &settings, &preparations, Arrival::Opened));
    let panels = case.rich;
    let shot = Shot { time: Some(1), panels, ..Shot::of(case.size, &settings) };
    studio.shoot(&shot).expect("a picture");
    // Without panels the frame is the city alone: the bare draw has no text either.
    studio.app().world_mut().resource_mut::<PanelState>().nothing = !panels;
    // The picture takes the room that the panels leave: the bare draw shows the same part of the city.
    studio.frame();
    studio.frame();
    if case.buildings < 100 {
        // Near enough to fill the screen.
        let mut rig = studio.app().world_mut().resource_mut::<CameraRig>();
        let mut pose = rig.pose;
        pose.eye *= 0.62;
        rig.jump_to(pose);
        studio.frame();
    }
    studio.leave_out(case.name.contains("left out"));
    studio.app().world_mut().resource_mut::<Sharpness>().moving = case.moves.unwrap_or(1.0);
    let rig = studio.app().world().resource::<CameraRig>();
    let (clip, eye) = (rig.clip_from_world(), rig.pose.eye);
    let passes = if case.opacity < 1.0 { 2 } else { 1 };
    let mut bare = Bare::new(&boxes, clip.to_cols_array(), eye.to_array(), case.size, passes);
    let cells = &studio.app().world().resource::<Multiples>().0;
    if !cells.is_empty() {
        assert_eq!(cells.len(), case.beside);
        let place = |cell: &TimeCell| [cell.rect.left(), cell.rect.top(), cell.rect.width(), cell.rect.height()];
        bare.places = cells.iter().map(place).collect();
    }
    let (mut ours, mut plain) = (f64::INFINITY, f64::INFINITY);
    let (mut our_work, mut plain_work) = (Vec::new(), Vec::new());
    for i in 0..case.frames + 3 {
        let (start, began) = (Instant::now(), processor_time());
        bare.frame();
        let (middle, turned) = (Instant::now(), processor_time());
        if case.moves.is_some() {
            let mut rig = studio.app().world_mut().resource_mut::<CameraRig>();
            let mut pose = rig.pose;
            pose.yaw += if i % 2 == 0 { 0.002 } else { -0.002 };
            rig.jump_to(pose);
        }
        studio.frame();
        if i >= 3 {
            our_work.push(processor_time() - turned);
            plain_work.push(turned - began);
            plain = plain.min((middle - start).as_secs_f64() * 1e3);
            ours = ours.min(middle.elapsed().as_secs_f64() * 1e3);
        }
    }
    studio.app().world_mut().resource_mut::<Sharpness>().moving = 1.0;
    let drawn = studio.boxes_drawn();
    let (w, h) = case.size;
    let name = case.name;
    let (plain_work, our_work) = (median(plain_work), median(our_work));
    let ratio = ours / plain;
    println!(
        "| {} | {w}x{h} | {name} | {drawn} | {plain:.1} | {ours:.1} | {ratio:.2} | {plain_work:.1} | {our_work:.1} | {:.2} | {} |",
        case.buildings,
        our_work / plain_work,
        case.most.map_or(String::new(), |most| most.to_string())
    );
    if let Some(most) = case.most {
        aims.most(&format!("{} buildings, {w}x{h}, {name}", case.buildings), ratio, most);
    }
}

/// Milliseconds of processor time of all threads of this process; they do not grow when others use the machine. 0 where the system
/// does not tell.
fn processor_time() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok());
    let nanos = texts.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    nanos.sum::<u64>() as f64 / 1e6
}

/// The number in the middle; 0 of none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// How many types a package has.
const IN_PACKAGE: usize = 100;

/// Bytes of the one object of a type: over three decades. A fifth grows first, then one of a hundred, then all.
fn size_of_type(i: usize, time: usize) -> u64 {
    let grown = [i.is_multiple_of(5) && time > 0, i.is_multiple_of(100) && time > 1, time > 2];
    let times = 1 + grown.iter().filter(|&&grown| grown).count() as u64;
    16 + (1 + i as u64 * 7919 % 10_007) * times
}

/// A program with one object of each of many types, in packages.
struct ManyTypes(Vec<SnapshotInfo>, usize);

impl HeapSeries for ManyTypes {
    fn profile(&self) -> &'static Profile {
        &Profile::PLAIN
    }
    fn points(&self) -> &[SnapshotInfo] {
        &self.0
    }
    fn load(&self, index: usize, _: &Progress) -> Result<Arc<HeapState>> {
        let mut heap = HeapBuilder::new();
        for i in 0..self.1 {
            let of = heap.add_type(HeapType {
                name: format!("p{}.T{i}", i / IN_PACKAGE),
                kind: TypeKind::Instance,
                superclass: None,
                loader: Arc::from("app"),
            });
            let object = heap.add_object(of, size_of_type(i, index), None);
            heap.add_root(Root { object: ObjectId(object.0), kind: RootKind::Jni, detail: String::new() });
        }
        Ok(Arc::new(heap.finish()))
    }
    fn warnings(&self) -> Vec<memory_city_heap::error::Warning> {
        Vec::new()
    }
}

fn source(buildings: usize, times: usize, settings: &Settings) -> Arc<Source> {
    let points = (0..times as u64)
        .map(|i| SnapshotInfo { label: format!("{i}"), millis: i, path: "many".into(), gc: None })
        .collect();
    let series = Arc::new(ManyTypes(points, buildings));
    let history = History::build(series, &settings.grouping, GroupOptions::default(), &Progress::new());
    Arc::new(Source::Heaps(history.expect("a history")))
}

/// Corner, size and colour of every building at a time, and of every district.
fn boxes(city: &City, time: usize) -> Vec<[f32; 8]> {
    let states = city.appearance.states(&city.plan, &city.timeline, time);
    let box_of = |(p, plot): (usize, &memory_city_views::city::Plot)| {
        let standing = city.appearance.standing(states[p]);
        let base = plot.cell.scaled(f64::from(standing.side));
        let height = f64::from(standing.height);
        let colour = 0.3 + 0.7 * states[p].colour();
        [base.x, plot.ground(), base.y, base.w, height, base.h, f64::from(colour), 0.0].map(|v| v as f32)
    };
    let slab_of = |slab: &memory_city_views::city::District| {
        let cell = slab.cell;
        [cell.x, slab.base, cell.y, cell.w, slab.top - slab.base, cell.h, 0.2, 0.0].map(|v| v as f32)
    };
    city.plan.plots.iter().enumerate().map(box_of).chain(city.plan.districts.iter().map(slab_of)).collect()
}
