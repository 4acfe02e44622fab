//! Frames of cities of 40 to 1,000,000 buildings, against a bare wgpu program that draws the same boxes with a plain shader:
//! what the GPU (here usually a software one) must do in any case. The floor has as many vertices a box, 18, and as many passes.
//!
//! Both run in this process, in turn, on the same kind of adapter, without anti-aliasing, and each frame is waited for; the
//! least of all frames counts, since nothing but other programs makes one slower than another.
//!
//! Last, pictures without a window.
//! `cargo bench --bench frame`; with `-- small` without the million, with `-- 10000` cities of that many alone, with `-- render` pictures
//! without a window alone, with `-- reactions` what a large city takes to answer.

use bevy::prelude::{DetectChangesMut as _, World};
use glam::Vec3;
use memory_city::viewer::capture::{Shot, Studio};
use memory_city::viewer::document::{Arrival, Draft};
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::selection::{MarkNote, Marks, Selection};
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views::{self, CameraRig, City, Sharpness, Shown};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, NodeId, Source, Timeline};
use memory_city_formats::{HeapSeries, SnapshotInfo};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeKind};
use std::sync::Arc;
use std::time::Instant;

#[path = "frame/bare.rs"]
mod bare;
#[path = "frame/pictures.rs"]
mod pictures;

use bare::Bare;
use pictures::without_window;

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
}

fn main() {
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    // As the program itself does.
    memory_city::allocator::keep_for_next_frame();
    let small = std::env::args().any(|a| a == "small");
    let only = std::env::args().find_map(|a| a.parse::<usize>().ok());
    let mut studio = Studio::new(FULL, 1).expect("a GPU");
    println!("drawing with {}\n", studio.adapter);
    if std::env::args().any(|a| a == "render") {
        return without_window(&mut studio, small);
    }
    if std::env::args().any(|a| a == "reactions") {
        return reactions(&mut studio, only.unwrap_or(1_000_000));
    }
    println!(
        "| buildings | size | frame | boxes drawn | bare draw (ms) | ours (ms) | ratio | bare, processor (ms) | ours | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let case = Case { name: "", buildings: 0, size: FULL, opacity: 0.4, rich: true, moves: Some(1.0), frames: 40 };
    let all = "40 % opacity, shadows, panels";
    let half = Some(Sharpness::SOFTWARE);
    for case in [
        Case { name: "40 % opacity, panels, camera at rest", buildings: 40, size: (1280, 720), moves: None, ..case },
        Case { name: "40 % opacity, panels", buildings: 40, size: (1280, 720), ..case },
        Case { name: "the same, half as fine", buildings: 40, size: (1280, 720), moves: half, ..case },
        Case { name: "all opaque, nothing over it", buildings: 10_000, opacity: 1.0, rich: false, ..case },
        Case { name: "the city left out", buildings: 10_001, opacity: 1.0, rich: false, ..case },
        Case { name: all, buildings: 10_000, ..case },
        Case { name: "the same, camera at rest", buildings: 10_000, moves: None, ..case },
        Case { name: "all opaque, nothing over it", buildings: 100_000, opacity: 1.0, rich: false, ..case },
        Case { name: all, buildings: 100_000, ..case },
        Case { name: all, buildings: 1_000_000, frames: 8, ..case },
        Case { name: "the same, half as fine", buildings: 1_000_000, moves: half, frames: 8, ..case },
    ] {
        if only.is_some_and(|buildings| buildings != case.buildings) {
            continue;
        }
        if !(small && case.buildings > 100_000) {
            measure(&mut studio, &case);
        }
    }
    if !small && only.is_none_or(|buildings| buildings == 1_000_000) {
        reactions(&mut studio, 1_000_000);
    }
    if only.is_none() {
        println!();
        without_window(&mut studio, small);
    }
}

/// What a large city takes to say what is under the mouse, and to show another time.
fn reactions(studio: &mut Studio, buildings: usize) {
    let settings = Settings {
        grouping: "package-type".into(),
        prune: false,
        animation: 0.0,
        labels: false,
        ..Settings::default()
    };
    let source = source(buildings, 4, &settings);
    let preparations = views::preparations(&settings);
    studio.show(Draft::new("bench".into(), source, None, &settings, &preparations, Arrival::Opened));
    (0..4).for_each(|_| studio.frame());
    println!(
        "\n| a city of {buildings} buildings | least (ms) | processor (ms) | on one core alone (ms) | the naive way (ms) | ratio |\n|---|---|---|---|---|---|"
    );
    let rig = studio.app().world().resource::<CameraRig>();
    let eye = rig.pose.eye;
    let mut shown = studio.app().world_mut().resource_mut::<Shown>();
    let Some(city) = shown.bypass_change_detection().0.as_mut() else { return };
    let states = city.states(1);
    let standing = |plot: usize| city.appearance.standing(states.of(plot));
    let mut hits = 0;
    let rays: Vec<_> = (0..1000)
        .map(|i| {
            let goal = Vec3::new((i % 40) as f32 * 2.0 - 40.0, 1.0, (i / 40) as f32 * 3.0 - 37.0);
            goal - eye
        })
        .collect();
    let pick = least(|| {
        hits = rays.iter().filter(|ray| city.appearance.pick(&city.plan, standing, eye, **ray).is_some()).count();
    });
    // One plot after the other, each a box.
    let plots = city.plan.plots.len();
    let boxed = |plot: usize, ray: &Vec3| {
        let (cell, standing) = (city.plan.plots[plot].cell, standing(plot));
        let (low, high) =
            (Vec3::new(cell.x as f32, 0.0, cell.y as f32), Vec3::new(cell.w as f32, standing.height, cell.h as f32));
        let (to_low, to_high) = ((low - eye) / *ray, (low + high - eye) / *ray);
        let (from, to) = (to_low.min(to_high).max_element(), to_low.max(to_high).min_element());
        (standing.side > 0.0 && from.max(0.0) <= to).then_some(from)
    };
    let nearest = |ray: &Vec3| (0..plots).filter_map(|plot| boxed(plot, ray)).fold(f32::INFINITY, f32::min);
    let naive = least(|| {
        std::hint::black_box(rays[..4].iter().map(nearest).fold(0.0, f32::max));
    }) / 4.0;
    let pick = pick / 1000.0;
    println!(
        "| what is under the mouse (mean of 1000, {hits} hit) | {pick:.4} | {pick:.4} | {pick:.4} | {naive:.1} | {:.3} |",
        pick / naive
    );
    // Each ray by itself, the least of its runs: one that another program has interrupted says nothing of it.
    let alone = |ray: &Vec3| least(|| _ = std::hint::black_box(city.appearance.pick(&city.plan, standing, eye, *ray)));
    let mut alone: Vec<f64> = rays.iter().map(alone).collect();
    alone.sort_by(f64::total_cmp);
    let (most, nearly) = (alone[alone.len() - 1], alone[alone.len() * 99 / 100]);
    println!(
        "| the same, slowest of 1000 (99 of 100 take less than {nearly:.3}) | {most:.3} | {most:.3} | {most:.3} | {naive:.1} | {:.3} |",
        most / naive
    );
    for (what, from, to) in [("1 % changed", 1, 2), ("20 % changed", 0, 1), ("all changed", 2, 3)] {
        // A new one each time: it remembers what it was asked for.
        let mut work = Vec::new();
        let step = |work: &mut Vec<f64>| {
            let mut another = City::new(&city.timeline, &settings);
            another.told(from);
            let (start, began) = (Instant::now(), processor_time());
            // The states, and what the legend counts of them.
            another.told(to);
            let took = start.elapsed().as_secs_f64() * 1e3;
            work.push(processor_time() - began);
            took
        };
        let took = (0..RUNS).map(|_| step(&mut work)).fold(f64::INFINITY, f64::min);
        // The same where there is one core: two that share what they compute with take longer each.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let alone = (0..RUNS).map(|_| alone.install(|| step(&mut Vec::new()))).fold(f64::INFINITY, f64::min);
        let one_by_one = least(|| {
            let state = |plot| city.appearance.state(&city.plan, &city.timeline, plot, to);
            drop(std::hint::black_box((0..plots).map(state).collect::<Vec<_>>()));
        });
        let work = median(work);
        println!(
            "| all that is shown at another time, {what} | {took:.1} | {work:.1} | {alone:.1} | {one_by_one:.1} | {:.3} |",
            took / one_by_one
        );
    }
    println!("| a time that was shown before | {:.4} | | | | |", least(|| drop(city.states(1))));
    let (timeline, nodes) = (Arc::clone(&city.timeline), city.growing.clone());
    answers(studio, &timeline, &nodes);
}

/// What somebody does for the so-manieth time.
type Change<'a> = &'a mut dyn FnMut(&mut World, usize);

/// What a frame takes in which the mouse, the selection or marks come to be elsewhere, without drawing the city: that is the rest of the
/// frame, and the same for all. What is found behind frames (references, allocation sites) is waited for in between.
fn answers(studio: &mut Studio, timeline: &Timeline, nodes: &[NodeId]) {
    studio.leave_out(true);
    let mut taken = |change: Change<'_>| {
        let mut times = Vec::new();
        for i in 0..20 {
            for i in 0..200 {
                if i >= 4 && !studio.waits() {
                    break;
                }
                studio.frame();
            }
            change(studio.app().world_mut(), i);
            let start = Instant::now();
            studio.frame();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        (times.iter().copied().fold(f64::INFINITY, f64::min), median(times))
    };
    let nothing = taken(&mut |_, _| ());
    println!(
        "\n| a frame of it without the city, in which | least (ms) | median (ms) | least, more than nothing |\n|---|---|---|---|"
    );
    println!("| nothing happens | {:.2} | {:.2} | |", nothing.0, nothing.1);
    let node = |i: usize| nodes[i % nodes.len().clamp(1, 50)];
    let changes: [(&str, Change<'_>); 4] = [
        ("the mouse comes to another building", &mut |world, i| {
            world.resource_mut::<Selection>().pointed = Some(node(i));
        }),
        ("another building is selected", &mut |world, i| world.resource_mut::<Selection>().select(timeline, node(i))),
        ("three others are selected", &mut |world, i| {
            world.resource_mut::<Selection>().select_all(timeline, (0..3).map(|more| node(i + more)));
        }),
        ("another building is marked", &mut |world, i| {
            world.resource_mut::<Marks>().replace(timeline, [(timeline.key(node(i)), MarkNote::default())].into());
        }),
    ];
    for (what, change) in changes {
        let took = taken(change);
        println!("| {what} | {:.2} | {:.2} | {:.2} |", took.0, took.1, took.0 - nothing.0);
    }
    studio.leave_out(false);
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

fn measure(studio: &mut Studio, case: &Case) {
    let settings = Settings {
        grouping: "package-type".into(),
        prune: false,
        opacity: case.opacity,
        labels: case.rich,
        shadows: case.rich,
        ..Settings::default()
    };
    let source = source(case.buildings, 2, &settings);
    let city = City::new(source.timeline(), &settings);
    let boxes = boxes(&city, 1);
    let preparations = views::preparations(&settings);
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
    println!(
        "| {} | {w}x{h} | {name} | {drawn} | {plain:.1} | {ours:.1} | {:.2} | {plain_work:.1} | {our_work:.1} | {:.2} |",
        case.buildings,
        ours / plain,
        our_work / plain_work
    );
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

fn source(buildings: usize, times: u64, settings: &Settings) -> Arc<Source> {
    let points =
        (0..times).map(|i| SnapshotInfo { label: format!("{i}"), millis: i, path: "many".into(), gc: None }).collect();
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
