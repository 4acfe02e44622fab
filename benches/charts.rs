//! Frames of charts at 1280x720, on whatever draws here (usually a processor), against a frame of the same window that draws nothing:
//!
//! - trends of 10,000 groups over 1,000 times;
//! - four charts below each other, and overview and details, of a run of 10,000 collections;
//! - a trace of 10,000 collections: the first picture of its overview from the cache, as a window shows it, against reading the files of
//!   the cache and no more; and going down from the first to the fourth chart, whose series are made in the background.
//!
//! Each frame shows another time, so all of it is drawn anew. Numbers: the median of frames, the slowest (with the one
//! in which ranking begins), and the processor time of a frame over all threads, which a busy machine changes less.
//! `cargo bench --bench charts`; with `-- long` the trace alone.

use memory_city::viewer::capture::{Shot, Studio};
use memory_city::viewer::clock::Clock;
use memory_city::viewer::document::{Arrival, Draft};
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::run::OpenRun;
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views::{self, TrendCharts};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{AUTO, History, Metric, NodeId, Source};
use memory_city_formats::anttracks::{AntTracksSource, find_run};
use memory_city_formats::event::GcKind;
use memory_city_formats::recorded::open_with_cache;
use memory_city_formats::{GcHistory, GcRecord, HeapSeries, SnapshotInfo};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Profile, Root, RootKind, TypeKind};
use memory_city_testing::anttracks::{Spec, generate};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const SIZE: (u32, u32) = (1280, 720);
const FRAMES: usize = 60;

fn main() {
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let mut studio = Studio::new(SIZE, 1).expect("a GPU");
    println!("drawing with {}\n", studio.adapter);
    if std::env::args().any(|a| a == "long") {
        return long_trace(&mut studio);
    }
    println!("| view | groups | times | nothing (ms) | frame (ms) | ratio | slowest (ms) | processor (ms) |");
    println!("|---|---|---|---|---|---|---|---|");
    let many = source(Run { times: 1000, packages: 1, types: 10_000 }, "type");
    measure(&mut studio, &many, "trends", None, (10_000, 1000), "type");
    drop(many);
    let long = source(Run { times: 10_000, packages: 4, types: 40 }, "package>type");
    measure(&mut studio, &long, "trends", Some("Heap#a0#b0#c0#T0"), (160, 10_000), "package>type");
    measure(&mut studio, &long, "overview", None, (160, 10_000), "package>type");
    measure(&mut studio, &long, "details", None, (160, 10_000), "package>type");
    drop(long);
    long_trace(&mut studio);
}

/// Processor time of all threads of this program so far, milliseconds; 0 where the system does not say.
fn processor_ms() -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name in parentheses: the 12th and 13th of what follows, in hundredths of a second.
    let fields: Vec<f64> = told
        .rsplit(')')
        .next()
        .map(|rest| rest.split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect())
        .unwrap_or_default();
    10.0 * (fields.get(11).copied().unwrap_or(0.0) + fields.get(12).copied().unwrap_or(0.0))
}

/// A trace of ten thousand collections, with references, made when it is not there.
fn trace() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench/traces/long");
    let spec = Spec {
        gcs: 10_000,
        allocations_per_gc: 300,
        live_objects: 4000,
        full_gc_every: 50,
        types: 200,
        sites: 400,
        answers: false,
        ..Spec::default()
    };
    let key = format!("{spec:?}");
    if std::fs::read_to_string(folder.join("spec.txt")).ok().as_ref() != Some(&key) {
        std::fs::create_dir_all(&folder).expect("a folder for the trace");
        let mut trace = BufWriter::with_capacity(1 << 20, File::create(folder.join("trace")).expect("a trace"));
        let generated = generate(&spec, &mut trace).expect("written");
        std::fs::write(folder.join("symbols"), &generated.symbols).expect("written");
        std::fs::write(folder.join("spec.txt"), key).expect("written");
    }
    folder
}

fn long_trace(studio: &mut Studio) {
    let (folder, cache) = (trace(), tempfile::tempdir().expect("a folder"));
    let open = |grouping: &str| {
        let run = find_run(std::slice::from_ref(&folder)).expect("files").expect("a run");
        let trace = AntTracksSource::open(run, &Progress::new()).expect("files");
        let series = open_with_cache(trace, Some(cache.path()), &Progress::new(), &mut |_| ()).expect("a series");
        let history = History::build(Arc::new(series), grouping, GroupOptions::default(), &Progress::new());
        Arc::new(Source::Heaps(history.expect("a history")))
    };
    let settings = Settings { labels: false, shadows: false, ..Settings::default() };
    let show = |studio: &mut Studio, source: Arc<Source>| {
        let preparations = views::all().preparations(&settings);
        studio.show(Draft::new("trace".into(), source, None, &settings, &preparations, Arrival::Opened));
    };
    // As in a window: what takes long is done in the background, frames go on.
    let as_window = |studio: &mut Studio| {
        let mut panels = studio.app().world_mut().resource_mut::<PanelState>();
        (panels.still, panels.visible) = (false, false);
    };
    // What is in the cache afterwards; and one picture, so that nothing is drawn for the first time.
    show(studio, open(AUTO));
    studio.shoot(&shot_of("overview", &[], settings.clone())).expect("a picture");
    as_window(studio);
    let ms = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
    let (mut floor, mut best, mut processor, mut bytes) = (f64::MAX, f64::MAX, f64::MAX, 0);
    for _ in 0..3 {
        let begun = Instant::now();
        let files = std::fs::read_dir(cache.path()).expect("the cache").flatten();
        bytes = files.map(|file| std::fs::read(file.path()).map_or(0, |read| read.len())).sum();
        floor = floor.min(ms(begun));
        let (begun, before) = (Instant::now(), processor_ms());
        show(studio, open(AUTO));
        while studio.app().world().resource::<OpenRun>().facts().is_none() {
            studio.frame();
        }
        studio.frame();
        best = best.min(ms(begun));
        processor = processor.min(processor_ms() - before);
    }
    println!("\n| a trace of 10,000 collections | time (ms) | ratio | processor (ms) |\n|---|---|---|---|");
    println!("| reading the {:.1} MB of its cache | {floor:.1} | | |", bytes as f64 / 1e6);
    println!(
        "| the first picture of its overview, from the cache | {best:.0} | {:.0} | {processor:.0} |",
        best / floor
    );

    let source = open("thread>space>type>site");
    show(studio, Arc::clone(&source));
    studio.shoot(&shot_of("trends", &[], settings.clone())).expect("a picture");
    let timeline = Arc::clone(source.timeline());
    as_window(studio);
    let mut frames = Vec::new();
    let mut node = NodeId::ROOT;
    let before = processor_ms();
    for _ in 0..4 {
        let begun = Instant::now();
        while begun.elapsed().as_millis() < 1500 {
            let frame = Instant::now();
            studio.frame();
            frames.push(ms(frame));
        }
        let peak = |child: &&NodeId| timeline.peak(**child, Metric::Bytes);
        node = *timeline.children(node).iter().max_by_key(peak).expect("four levels");
        studio.app().world_mut().resource_mut::<TrendCharts>().follow_path(&timeline, node);
    }
    let charts = timeline.path(node).len();
    let processor = (processor_ms() - before) / frames.len() as f64;
    frames.sort_by(f64::total_cmp);
    println!("\n| going down to chart | frames | median (ms) | slowest (ms) | processor (ms) |\n|---|---|---|---|---|");
    let (median, slowest) = (frames[frames.len() / 2], frames[frames.len() - 1]);
    println!("| {charts} | {} | {median:.1} | {slowest:.1} | {processor:.1} |", frames.len());
    let (median, slowest) = control(median, frames.len());
    println!(
        "| the same work of two threads every time, no frame at all | {} | {median:.1} | {slowest:.1} | |",
        frames.len()
    );
}

/// Work of about `wanted` milliseconds on two threads, `count` times: its median, and the slowest, which is what the machine does to
/// anything.
fn control(wanted: f64, count: usize) -> (f64, f64) {
    let spin = |rounds: u64| (0..rounds).fold(1u64, |sum, i| std::hint::black_box(sum.rotate_left(5) ^ i));
    let both = |rounds: u64| {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| spin(rounds));
            std::hint::black_box(spin(rounds));
            let _ = other.join();
        });
        begun.elapsed().as_secs_f64() * 1e3
    };
    let of_a_million = (0..9).map(|_| both(1_000_000)).fold(f64::MAX, f64::min);
    let rounds = (1e6 * wanted / of_a_million) as u64;
    let mut all: Vec<f64> = (0..count).map(|_| both(rounds)).collect();
    all.sort_by(f64::total_cmp);
    (all[count / 2], all[count - 1])
}

fn shot_of(view: &'static str, select: &[&str], settings: Settings) -> Shot {
    let select = select.iter().map(|&key| key.to_owned()).collect();
    Shot { select, of_view: Some(view), ..Shot::of(SIZE, &settings) }
}

fn measure(
    studio: &mut Studio,
    source: &Arc<Source>,
    view: &'static str,
    select: Option<&str>,
    (groups, times): (usize, usize),
    grouping: &str,
) {
    let settings = Settings { grouping: grouping.into(), labels: false, shadows: false, ..Settings::default() };
    let preparations = views::all().preparations(&settings);
    studio.show(Draft::new("bench".into(), Arc::clone(source), None, &settings, &preparations, Arrival::Opened));
    let select: Vec<&str> = select.into_iter().collect();
    studio.shoot(&shot_of(view, &select, settings)).expect("a picture");
    let mut time_of = |nothing: bool| {
        studio.app().world_mut().resource_mut::<PanelState>().nothing = nothing;
        let frame = |i: usize| {
            studio.app().world_mut().resource_mut::<Clock>().jump(i * 7 % times);
            let start = Instant::now();
            studio.frame();
            start.elapsed().as_secs_f64() * 1e3
        };
        let mut all: Vec<f64> = (0..FRAMES).map(frame).collect();
        all.sort_by(f64::total_cmp);
        (all[FRAMES / 2], all[FRAMES - 1])
    };
    let (floor, _) = time_of(true);
    let before = processor_ms();
    let (median, slowest) = time_of(false);
    let processor = (processor_ms() - before) / FRAMES as f64;
    let ratio = median / floor;
    println!("| {view} | {groups} | {times} | {floor:.1} | {median:.1} | {ratio:.1} | {slowest:.1} | {processor:.1} |");
}

/// How much there is of everything.
#[derive(Clone, Copy)]
struct Run {
    times: usize,
    packages: usize,
    types: usize,
}

/// A program whose types grow in ways of their own, collection by collection.
struct Growing(Vec<SnapshotInfo>, Run);

impl HeapSeries for Growing {
    fn profile(&self) -> &'static Profile {
        &Profile::PLAIN
    }
    fn points(&self) -> &[SnapshotInfo] {
        &self.0
    }
    fn load(&self, index: usize, _: &Progress) -> Result<Arc<HeapState>> {
        let run = self.1;
        let mut heap = HeapBuilder::new();
        for i in 0..run.types * run.packages {
            let p = run.packages;
            let of = heap.add_type(HeapType {
                name: format!("a{}.b{}.c{}.T{i}", i % p, i / p % 3, i / p / 3 % 2),
                kind: TypeKind::Instance,
                superclass: None,
                loader: Arc::from("app"),
            });
            let wave = (index as f64 / (3.0 + (i % 97) as f64)).sin() + 1.0;
            let size = 16 + (i * 7919 % 10_007) as u64 + (2000.0 * wave) as u64 + (i % 5 * index) as u64;
            let object = heap.add_object(of, size, None);
            heap.add_root(Root { object: ObjectId(object.0), kind: RootKind::Jni, detail: String::new() });
        }
        Ok(Arc::new(heap.finish()))
    }
    fn warnings(&self) -> Vec<memory_city_heap::error::Warning> {
        Vec::new()
    }
    fn gc_history(&self, _: &Progress) -> Result<Option<GcHistory>> {
        let record = |i: u64| GcRecord {
            one_pause: false,
            number: i,
            kind: Some(if i.is_multiple_of(20) { GcKind::Major } else { GcKind::Minor }),
            cause: "Allocation Failure".into(),
            start: i * 100_000_000,
            end: i * 100_000_000 + 1_000_000 + i * 7919 % 9_000_000,
            before: Some(60_000_000 + i * 1000),
            after: Some(20_000_000 + i * 1000 + i * 7919 % 3_000_000),
        };
        let collections = (1..=self.0.len() as u64).map(record).collect();
        Ok(Some(GcHistory { began: 0, epoch: 0, collections }))
    }
}

fn source(run: Run, grouping: &str) -> Arc<Source> {
    let points = (0..run.times)
        .map(|i| SnapshotInfo { label: format!("GC {i}"), millis: 100 * i as u64, path: "run".into(), gc: None })
        .collect();
    let series = Arc::new(Growing(points, run));
    let history = History::build(series, grouping, GroupOptions::default(), &Progress::new());
    Arc::new(Source::Heaps(history.expect("a history")))
}
