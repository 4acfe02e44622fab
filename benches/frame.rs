//! Frames of cities of 40 to 1,000,000 buildings, against a bare wgpu program that draws the same boxes with a plain shader:
//! what the GPU (here usually a software one) must do in any case. The floor has as many vertices a box, 18, and as many passes.
//!
//! Both run in this process, in turn, on the same kind of adapter, without anti-aliasing, and each frame is waited for; the
//! least of all frames counts, since nothing but other programs makes one slower than another.
//!
//! Last, pictures without a window: `memory-city render` as a process, from its start to the PNG, beside the bare draw of as many boxes.
//! `cargo bench --bench frame`; with `-- small` without the million, with `-- 10000` cities of that many alone, with `-- render` pictures
//! without a window alone.

use bevy::prelude::DetectChangesMut as _;
use glam::Vec3;
use memory_city::viewer::capture::{CameraView, Shot, Studio};
use memory_city::viewer::document::{Arrival, Draft};
use memory_city::viewer::loading::open_document;
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views::{self, CameraRig, City, Sharpness, Shown};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, Source};
use memory_city_formats::{HeapSeries, SnapshotInfo};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeKind};
use memory_city_testing::memory::field;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// Pictures without a window, each by a process of its own: of memory trees in JSON in which every group has a plot, and of the sample,
/// opened for the first time and again.
fn without_window(studio: &mut Studio, small: bool) {
    println!(
        "| `render` of | buildings | time (s) | wanted | peak memory (MB) | wanted | boxes | bare draw (ms) | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let folder = tempfile::tempdir().expect("a folder");
    let trees = folder.path().join("trees.json");
    for (buildings, runs, wanted) in [(100_000, 3, ["2", ""]), (1_000_000, 1, ["6", "1000"])] {
        if small && buildings > 100_000 {
            continue;
        }
        write_trees(&trees, buildings);
        let cache = folder.path().join("cache");
        let run = |_| rendered(&trees, &["--child-count", "0"], folder.path(), &cache);
        let took: Vec<Took> = (0..runs).map(run).collect();
        let plain = bare_draw(studio, &trees, &Settings { prune: false, ..Settings::default() });
        row("trees in JSON, two times", took, wanted, plain);
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak");
    let caches = ["a", "b", "c"].map(|name| folder.path().join(name));
    // Each has its cache: what one has found is there for it alone.
    let open = || caches.iter().map(|cache| rendered(&sample, &[], folder.path(), cache)).collect::<Vec<_>>();
    let (first, again) = (open(), open());
    let plain = bare_draw(studio, &sample, &Settings::default());
    row("the sample, for the first time", first, ["", ""], plain);
    row("the sample, again", again, ["1", ""], plain);
}

/// What a process took.
#[derive(Clone, Copy)]
struct Took {
    seconds: f64,
    /// The most memory it had, MB; 0 where the system does not tell.
    peak: f64,
}

/// The bare draw of a city.
#[derive(Clone, Copy)]
struct Plain {
    buildings: usize,
    boxes: usize,
    milliseconds: f64,
}

/// The least time of some runs counts, and the most memory.
fn row(what: &str, took: Vec<Took>, [of_time, of_memory]: [&str; 2], plain: Plain) {
    let seconds = took.iter().map(|run| run.seconds).fold(f64::INFINITY, f64::min);
    let peak = took.iter().map(|run| run.peak).fold(0.0, f64::max);
    let Plain { buildings, boxes, milliseconds } = plain;
    println!(
        "| {what} | {buildings} | {seconds:.2} | {of_time} | {peak:.0} | {of_memory} | {boxes} | {milliseconds:.1} | {:.1} |",
        seconds * 1e3 / milliseconds
    );
}

/// Runs `render` from the start of the process to its end.
fn rendered(data: &Path, options: &[&str], folder: &Path, cache: &Path) -> Took {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    command.arg("render").arg(data).arg("-o").arg(folder.join("picture.png")).args(["--size", "1920x1080"]);
    command.args(options).env("MEMORY_CITY_CACHE", cache).env("MEMORY_CITY_CONFIG", folder);
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
    let status = format!("/proc/{}/status", child.id());
    let watcher = std::thread::spawn(move || {
        // It only grows, so the last look before the end is the peak. What the system says of a child that has ended is no less than
        // what this process, from which it came, has had itself.
        let mut peak = 0;
        while let Some(kib) = std::fs::read_to_string(&status).ok().and_then(|text| field(&text, "VmHWM:")) {
            peak = kib;
            std::thread::sleep(Duration::from_millis(5));
        }
        peak
    });
    let ended = child.wait().expect("it ends");
    let seconds = start.elapsed().as_secs_f64();
    assert!(ended.success(), "render {}: {ended}", data.display());
    let kib: u64 = watcher.join().expect("its memory");
    Took { seconds, peak: kib as f64 * 1024.0 / 1e6 }
}

/// The boxes of what `render` shows of some data, drawn barely: the least of some frames.
fn bare_draw(studio: &mut Studio, data: &Path, settings: &Settings) -> Plain {
    let preparations = views::preparations(settings);
    let draft = open_document(&[data.to_path_buf()], settings, &preparations, &Progress::new()).expect("it opens");
    studio.show(draft);
    let shot = Shot {
        size: FULL,
        time: None,
        select: Vec::new(),
        view: CameraView::Home,
        settings: settings.clone(),
        panels: false,
        paths: false,
        of_view: None,
        cut: None,
        with: Default::default(),
    };
    studio.shoot(&shot).expect("a picture");
    let world = studio.app().world();
    let city = world.resource::<Shown>().0.as_ref().expect("a city");
    let (buildings, all) = (city.plan.plots.len(), boxes(city, city.times() - 1));
    let rig = world.resource::<CameraRig>();
    let (clip, eye) = (rig.clip_from_world().to_cols_array(), rig.pose.eye.to_array());
    // See-through, as it is shown: two passes.
    let mut bare = Bare::new(&all, clip, eye, FULL, 2);
    bare.frame();
    Plain { buildings, boxes: all.len(), milliseconds: least(|| bare.frame()) }
}

/// The program of [`ManyTypes`] at two times, as memory trees.
fn write_trees(path: &Path, buildings: usize) {
    let mut file = BufWriter::new(File::create(path).expect("a file"));
    let mut write = |text: &str| file.write_all(text.as_bytes()).expect("written");
    write(r#"{"format":"memory-city","version":1,"times":["#);
    for time in 0..2 {
        let comma = if time > 0 { "," } else { "" };
        write(&format!(r#"{comma}{{"label":"{time}","timestamp":{time},"tree":{{"name":"Heap","children":["#));
        for first in (0..buildings).step_by(IN_PACKAGE) {
            let comma = if first > 0 { "," } else { "" };
            write(&format!(r#"{comma}{{"name":"p{}","role":"Package","children":["#, first / IN_PACKAGE));
            for i in first..buildings.min(first + IN_PACKAGE) {
                let (comma, bytes) = (if i > first { "," } else { "" }, size_of_type(i, time));
                write(&format!(r#"{comma}{{"name":"T{i}","role":"Type","objects":1,"bytes":{bytes}}}"#));
            }
            write("]}");
        }
        write("]}}");
    }
    write("]}");
    file.flush().expect("written");
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
    println!("\n| a city of {buildings} buildings | least (ms) | the naive way (ms) | ratio |\n|---|---|---|---|");
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
    println!("| what is under the mouse (mean of 1000, {hits} hit) | {pick:.4} | {naive:.1} | {:.3} |", pick / naive);
    for (what, from, to) in [("1 % changed", 1, 2), ("20 % changed", 0, 1), ("all changed", 2, 3)] {
        // A new one each time: it remembers what it was asked for.
        let time = (0..3).map(|_| {
            let mut another = City::new(&city.timeline, &settings);
            another.states(from);
            let start = Instant::now();
            another.states(to);
            start.elapsed().as_secs_f64() * 1e3
        });
        let one_by_one = least(|| {
            let state = |plot| city.appearance.state(&city.plan, &city.timeline, plot, to);
            drop(std::hint::black_box((0..plots).map(state).collect::<Vec<_>>()));
        });
        let took = time.fold(f64::INFINITY, f64::min);
        println!(
            "| all that is shown at another time, {what} | {took:.1} | {one_by_one:.1} | {:.3} |",
            took / one_by_one
        );
    }
    println!("| a time that was shown before | {:.4} | | |", least(|| drop(city.states(1))));
}

/// The least time of some runs, milliseconds.
fn least(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..9).map(time).fold(f64::INFINITY, f64::min)
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
    let (select, view) = (Vec::new(), CameraView::Home);
    let panels = case.rich;
    let shot = Shot {
        size: case.size,
        time: Some(1),
        select,
        view,
        settings,
        panels,
        paths: false,
        of_view: None,
        cut: None,
        with: Default::default(),
    };
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

/// The plainest program that draws boxes.
struct Bare {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// One for each pass.
    pipelines: Vec<wgpu::RenderPipeline>,
    group: wgpu::BindGroup,
    instances: wgpu::Buffer,
    count: u32,
    colour: wgpu::TextureView,
    depth: wgpu::TextureView,
}

const SHADER: &str = "
struct View { clip: mat4x4<f32>, eye: vec4<f32> }
@group(0) @binding(0) var<uniform> view: View;
struct Varying { @builtin(position) @invariant position: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vertex(@builtin(vertex_index) n: u32, @location(0) low: vec4<f32>, @location(1) size: vec4<f32>) -> Varying {
    let axis = n / 6u;
    let c = n % 6u;
    let u = select(0.0, 1.0, c == 1u || c == 2u || c == 4u);
    let v = select(0.0, 1.0, c == 2u || c == 4u || c == 5u);
    let extent = vec3<f32>(low.w, size.x, size.y);
    let far = select(vec3<f32>(0.0), vec3<f32>(1.0), view.eye.xyz > low.xyz + extent * 0.5);
    var p = vec3<f32>(far.x, u, v);
    if axis == 1u { p = vec3<f32>(u, far.y, v); }
    if axis == 2u { p = vec3<f32>(u, v, far.z); }
    var out: Varying;
    out.position = view.clip * vec4<f32>(low.xyz + p * extent, 1.0);
    out.colour = vec3<f32>(size.z) * (0.5 + 0.25 * f32(axis));
    return out;
}
@fragment fn nothing(in: Varying) { }
@fragment fn fragment(in: Varying) -> @location(0) vec4<f32> { return vec4<f32>(in.colour, 0.4); }
";

impl Bare {
    fn new(boxes: &[[f32; 8]], clip: [f32; 16], eye: [f32; 3], size: (u32, u32), passes: usize) -> Bare {
        use wgpu::util::DeviceExt as _;
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::PRIMARY;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = bevy::tasks::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
        let adapter = adapter.expect("a GPU");
        let (device, queue) =
            bevy::tasks::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).expect("a device");
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        let depth_format = wgpu::TextureFormat::Depth32Float;
        let group_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group_layout)],
            immediate_size: 0,
        });
        let pipeline = |fragment, depth_compare, blend, write_mask| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("vertex"),
                    compilation_options: Default::default(),
                    buffers: &[wgpu::VertexBufferLayout {
                        array_stride: 32,
                        step_mode: wgpu::VertexStepMode::Instance,
                        attributes: &wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x4],
                    }],
                },
                primitive: Default::default(),
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: depth_format,
                    depth_write_enabled: Some(depth_compare == wgpu::CompareFunction::Greater),
                    depth_compare: Some(depth_compare),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: Default::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(fragment),
                    compilation_options: Default::default(),
                    targets: &[Some(wgpu::ColorTargetState { format, blend, write_mask })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        use wgpu::CompareFunction::{Equal, Greater};
        let pipelines = match passes {
            1 => vec![pipeline("fragment", Greater, None, wgpu::ColorWrites::ALL)],
            _ => vec![
                pipeline("nothing", Greater, None, wgpu::ColorWrites::empty()),
                pipeline("fragment", Equal, Some(wgpu::BlendState::ALPHA_BLENDING), wgpu::ColorWrites::ALL),
            ],
        };
        let clip: Vec<u8> = clip.iter().chain(&eye).chain(&[0.0]).flat_map(|v| v.to_ne_bytes()).collect();
        let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &clip,
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &group_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        let bytes: Vec<u8> = boxes.iter().flatten().flat_map(|v| v.to_ne_bytes()).collect();
        let instances = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &bytes,
            usage: wgpu::BufferUsages::VERTEX,
        });
        let texture = |format| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        let (colour, depth) = (texture(format), texture(depth_format));
        let count = boxes.len() as u32;
        Bare { device, queue, pipelines, group, instances, count, colour, depth }
    }

    fn frame(&mut self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: None,
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &self.colour,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &self.depth,
                    depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard }),
                    stencil_ops: None,
                }),
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            });
            pass.set_bind_group(0, &self.group, &[]);
            pass.set_vertex_buffer(0, self.instances.slice(..));
            for pipeline in &self.pipelines {
                pass.set_pipeline(pipeline);
                pass.draw(0..18, 0..self.count);
            }
        }
        self.queue.submit([encoder.finish()]);
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
    }
}
