//! Frames of charts at 1280x720, on whatever draws here (usually a processor), against a frame of the same window that draws nothing:
//!
//! - trends of 10,000 groups over 1,000 times;
//! - four charts below each other, and overview and details, of a run of 10,000 collections.
//!
//! In every frame another time is shown, so all of it is drawn anew. The median of frames counts, and the slowest is told, the one in
//! which ranking begins included. `cargo bench --bench charts`

use memory_city::viewer::capture::{CameraView, Shot, Studio};
use memory_city::viewer::clock::Clock;
use memory_city::viewer::document::{Arrival, Draft};
use memory_city::viewer::panels::PanelState;
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{History, Source};
use memory_city_formats::event::GcKind;
use memory_city_formats::{GcHistory, GcRecord, HeapSeries, SnapshotInfo};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeKind};
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
    println!("| view | groups | times | nothing (ms) | frame (ms) | ratio | slowest (ms) |");
    println!("|---|---|---|---|---|---|---|");
    let many = source(Run { times: 1000, packages: 1, types: 10_000 }, "type");
    measure(&mut studio, &many, "trends", None, (10_000, 1000), "type");
    drop(many);
    let long = source(Run { times: 10_000, packages: 4, types: 40 }, "package>type");
    measure(&mut studio, &long, "trends", Some("Heap#a0#b0#c0#T0"), (160, 10_000), "package>type");
    measure(&mut studio, &long, "overview", None, (160, 10_000), "package>type");
    measure(&mut studio, &long, "details", None, (160, 10_000), "package>type");
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
    let preparations = views::preparations(&settings);
    studio.show(Draft::new("bench".into(), Arc::clone(source), None, &settings, &preparations, Arrival::Opened));
    let shot = Shot {
        size: SIZE,
        time: None,
        select: select.into_iter().map(str::to_owned).collect(),
        view: CameraView::Home,
        settings,
        panels: false,
        paths: false,
        of_view: Some(view),
        cut: None,
        with: Default::default(),
    };
    studio.shoot(&shot).expect("a picture");
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
    let (median, slowest) = time_of(false);
    println!("| {view} | {groups} | {times} | {floor:.1} | {median:.1} | {:.1} | {slowest:.1} |", median / floor);
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
