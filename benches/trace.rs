//! Traces: replay with and without references, memory, trees from changes against trees from scratch, any GC at once,
//! and the first city of a large trace.
//!
//! `cargo bench --bench trace --no-default-features`. The traces are generated into `target/bench` (1.7 GB). With a folder
//! as argument, only that run is replayed; with `--profile` too, once and without the baselines.

#[path = "trace/naive.rs"]
mod naive;

use memory_city_analysis::group::{self, GroupOptions};
use memory_city_analysis::timeline::{AUTO, GrowingTree, History};
use memory_city_formats::HeapSeries;
use memory_city_formats::anttracks::{AntTracks, AntTracksSource, TraceFiles, find_run};
use memory_city_formats::event::{Decoder, EventSink, ObjectInfo, Step};
use memory_city_formats::recorded::{RecordedSeries, open_with_cache};
use memory_city_formats::replay::{CohortChange, Collection, Moment, Observer, Replay};
use memory_city_heap::progress::Progress;
use memory_city_testing::anttracks::{Spec, generate};
use memory_city_views::city::{CityConfig, CityPlan};
use naive::Naive;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    println!("| what | events or objects | ours | baseline | ratio |");
    println!("|---|---|---|---|---|");
    if let Some(folder) = arguments.iter().find(|a| !a.starts_with('-')) {
        let files = files(Path::new(folder));
        if arguments.iter().any(|a| a == "--profile") {
            let mut sink = Replay::new(Arc::clone(files.program()), Changes::default());
            let time = play(&files, &mut sink, |_| ());
            return println!("{:.1} M/s", sink.events() as f64 / time.as_secs_f64() / 1e6);
        }
        return replay(folder, &files);
    }
    let base = Spec {
        threads: 8,
        types: 400,
        sites: 2000,
        full_gc_every: 0,
        answers: false,
        gcs: u32::MAX,
        ..Spec::default()
    };
    let plain = Spec {
        pointers: false,
        live_objects: 2_000_000,
        allocations_per_gc: 1_000_000,
        survivors_percent: 5,
        stop_at_bytes: Some(300_000_000),
        ..base.clone()
    };
    let pointers = Spec { pointers: true, live_objects: 1_000_000, allocations_per_gc: 500_000, ..plain.clone() };
    // One object in a hundred is another at every GC.
    let slow = Spec {
        live_objects: 10_000_000,
        allocations_per_gc: 200_000,
        survivors_percent: 50,
        gcs: 120,
        stop_at_bytes: None,
        ..plain.clone()
    };
    let large = Spec { stop_at_bytes: Some(1_000_000_000), ..plain.clone() };
    recorded();
    let busy = Spec {
        threads: 2,
        types: 60,
        sites: 64,
        live_objects: 100_000,
        allocations_per_gc: 100_000,
        survivors_percent: 10,
        ..plain.clone()
    };
    replay("without references, 0.1 million live, 64 sites, 2 threads", &files(&run("busy", &busy)));
    replay("without references, 2 million live, 2,000 sites, 8 threads", &files(&run("plain", &plain)));
    replay("with references, 1 million live, 2,000 sites, 8 threads", &files(&run("pointers", &pointers)));
    trees(&run("slow", &slow));
    any_gc(&run("plain", &plain));
    first_city(&run("large", &large));
}

/// A generated run; made when it is not there.
fn run(name: &str, spec: &Spec) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench/traces").join(name);
    let key = format!("{spec:?}");
    if std::fs::read_to_string(folder.join("spec.txt")).ok().as_ref() != Some(&key) {
        std::fs::create_dir_all(&folder).expect("a folder for the trace");
        let mut trace = BufWriter::with_capacity(1 << 20, File::create(folder.join("trace")).expect("a trace"));
        let generated = generate(spec, &mut trace).expect("written");
        std::fs::write(folder.join("symbols"), &generated.symbols).expect("written");
        std::fs::write(folder.join("spec.txt"), key).expect("written");
    }
    folder
}

fn files(folder: &Path) -> Arc<TraceFiles> {
    let run = find_run(&[folder.to_owned()]).expect("files").expect("a run");
    run.open(&Progress::new()).expect("files")
}

fn play<S: EventSink>(files: &Arc<TraceFiles>, sink: &mut S, mut each: impl FnMut(&mut S)) -> Duration {
    let mut decoder = AntTracks::new(Arc::clone(files));
    let begun = Instant::now();
    while decoder.step(sink).expect("events") == Step::More {
        each(sink);
    }
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// What a recording notes at every moment.
#[derive(Default)]
struct Changes(u64);

impl Observer for Changes {
    fn moment(&mut self, _: Moment, changes: Vec<CohortChange>, _: &[ObjectInfo]) {
        self.0 += changes.len() as u64;
    }
    fn collected(&mut self, _: Collection) {}
}

/// Decoding and replaying on one core, against the same decoder with a hash map of objects, and against looking at every
/// word of the file once.
fn replay(name: &str, files: &Arc<TraceFiles>) {
    let (mut ours, mut naive, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    let mut events = 0;
    let mut live = (0, 0);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let bytes = files.files.iter().flat_map(|f| f.input.bytes().as_chunks::<4>().0);
        let sum = bytes.fold(0u64, |sum, word| sum.wrapping_add(u64::from(u32::from_le_bytes(*word))));
        std::hint::black_box(sum);
        floor.push(begun.elapsed());
        let mut sink = Replay::new(Arc::clone(files.program()), Changes::default());
        ours.push(play(files, &mut sink, |_| ()));
        (events, live.0) = (sink.events(), sink.live());
        let mut sink = Naive::new(Arc::clone(files.program()));
        naive.push(play(files, &mut sink, |_| ()));
        live.1 = sink.live();
    }
    assert_eq!(live.0, live.1, "both end with the same objects");
    let (ours, naive, floor) = (median(ours), median(naive), median(floor));
    let rate = |t: Duration| events as f64 / t.as_secs_f64() / 1e6;
    println!(
        "| replay {name} | {:.0} M events | {:.1} M/s | hash map of objects {:.1} M/s | {:.1}x |",
        events as f64 / 1e6,
        rate(ours),
        rate(naive),
        naive.as_secs_f64() / ours.as_secs_f64()
    );
    let ratio = ours.as_secs_f64() / floor.as_secs_f64();
    println!(
        "| the same | | {:.2} s | reading the words once {:.2} s | {ratio:.1}x |",
        ours.as_secs_f64(),
        floor.as_secs_f64()
    );
    memory(name, files);
}

/// Runs that the VM itself recorded: small, and unlike made-up ones in what they do most.
fn recorded() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/anttracks");
    for name in ["churn-par-noptr", "churn-par-comp", "churn-parallel", "churn-g1", "person-leak-parallel"] {
        let files = files(&data.join(name));
        let mut events = 0;
        let mut ours = || {
            let mut sink = Replay::new(Arc::clone(files.program()), Changes::default());
            let time = play(&files, &mut sink, |_| ());
            events = sink.events();
            time
        };
        let ours = median((0..51).map(|_| ours()).collect());
        let naive =
            median((0..11).map(|_| play(&files, &mut Naive::new(Arc::clone(files.program())), |_| ())).collect());
        let rate = |t: Duration| events as f64 / t.as_secs_f64() / 1e6;
        println!(
            "| replay recorded {name} | {:.2} M events | {:.1} M/s | hash map of objects {:.1} M/s | {:.1}x |",
            events as f64 / 1e6,
            rate(ours),
            rate(naive),
            naive.as_secs_f64() / ours.as_secs_f64()
        );
    }
}

/// Memory at every moment between GCs, where it is largest against the objects there are.
fn memory(name: &str, files: &Arc<TraceFiles>) {
    let mut sink = Replay::new(Arc::clone(files.program()), ());
    let mut fullest = (0, Vec::new());
    let mut seen = u32::MAX;
    let mut last = (0, Vec::new());
    play(files, &mut sink, |sink| {
        if sink.is_collecting() && seen != sink.interval() {
            seen = sink.interval();
            if sink.live() > fullest.0 {
                fullest = (sink.live(), sink.memory_parts().to_vec());
            }
        } else if !sink.is_collecting() && seen == sink.interval() - 1 {
            last = (sink.live(), sink.memory_parts().to_vec());
        }
    });
    let references = sink.state().reference_count() as f64;
    println!(
        "| references at the end of {name} | {:.2} M | {:.2} an object | | |",
        references / 1e6,
        references / last.0.max(1) as f64
    );
    for (when, (objects, parts)) in [("before the GC with most objects", fullest), ("after the last GC", last)] {
        let of = |wanted: &str| parts.iter().filter(|p| p.0 == wanted).map(|p| p.1).sum::<usize>() as f64;
        let all: f64 = parts.iter().map(|p| p.1 as f64).sum();
        let references = of("references");
        println!(
            "| memory {name}, {when} | {:.2} M objects | {:.1} bytes an object | and references {:.1} bytes an object | |",
            objects as f64 / 1e6,
            (all - references) / objects as f64,
            references / objects as f64
        );
    }
}

fn open(folder: &Path, cache: Option<&Path>) -> RecordedSeries<AntTracksSource> {
    let run = find_run(&[folder.to_owned()]).expect("files").expect("a run");
    let source = AntTracksSource::open(run, &Progress::new()).expect("files");
    open_with_cache(source, cache, &Progress::new(), &mut |_| ()).expect("a series")
}

/// The tree of the next GC from what changed, against grouping the heap state anew; and what a GC costs to replay.
fn trees(folder: &Path) {
    let series = open(folder, None);
    let recording = HeapSeries::recording(&series).expect("a recording");
    let gcs = recording.collections.len();
    let grouping = group::grouping("type-site").expect("a grouping");
    let mut tree = GrowingTree::new(recording, &grouping).expect("a tree that follows changes");
    let (mut follow, mut anew) = (Vec::new(), Vec::new());
    let mut objects = 0;
    for i in 0..recording.log.len() {
        let begun = Instant::now();
        tree.step(recording.log.changes(i), i.div_ceil(2) as u32);
        let took = begun.elapsed();
        // The ends of the last GCs, when the program is warm.
        if i % 2 == 1 && i / 2 + 5 >= gcs {
            follow.push(took);
            let heap = series.load(i, &Progress::new()).expect("a state");
            let begun = Instant::now();
            let grouped = group::group(&heap, &grouping, GroupOptions::default(), &Progress::new()).expect("grouped");
            anew.push(begun.elapsed());
            objects = heap.object_count();
            let (ours, theirs) = (tree.tree().amount(0), grouped.tree.amount(0));
            assert_eq!(ours, theirs);
        }
    }
    let (follow, anew) = (median(follow), median(anew));
    println!(
        "| tree of the next GC, 1 % turnover | {:.1} M objects | {:.2} ms | grouping the state anew (2 cores) {:.0} ms | {:.0}x |",
        objects as f64 / 1e6,
        follow.as_secs_f64() * 1e3,
        anew.as_secs_f64() * 1e3,
        anew.as_secs_f64() / follow.as_secs_f64()
    );
    // What a GC costs to replay, of a heap that is large and hardly changes.
    let files = files(folder);
    let mut sink = Replay::new(Arc::clone(files.program()), Changes::default());
    let (mut times, mut begun, mut interval) = (Vec::new(), Instant::now(), 0);
    play(&files, &mut sink, |sink| {
        if sink.interval() != interval {
            interval = sink.interval();
            times.push(begun.elapsed());
            begun = Instant::now();
        }
    });
    let last = times.split_off(times.len() - 10);
    println!(
        "| replaying the next GC, 1 % turnover | {:.1} M objects | {:.1} ms | | |",
        objects as f64 / 1e6,
        median(last).as_secs_f64() * 1e3
    );
}

/// Any GC, against replaying from the beginning.
fn any_gc(folder: &Path) {
    let cache = tempfile::tempdir().expect("a folder");
    drop(open(folder, Some(cache.path())));
    let begun = Instant::now();
    let series = open(folder, Some(cache.path()));
    let opened = begun.elapsed();
    let points = series.points().len();
    let (mut ours, mut start) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    let whole = open(folder, None);
    let whole_time = begun.elapsed();
    drop(whole);
    for i in (1..points).step_by((points / 9).max(2) | 1).map(|i| i | 1).filter(|&i| i < points) {
        let begun = Instant::now();
        let heap = series.load(i, &Progress::new()).expect("a state");
        ours.push(begun.elapsed());
        let run = find_run(&[folder.to_owned()]).expect("files").expect("a run").open(&Progress::new()).expect("files");
        let begun = Instant::now();
        let mut decoder = AntTracks::new(Arc::clone(&run));
        let mut sink = Replay::new(Arc::clone(run.program()), ());
        sink.stop_at(Moment { gc: i as u32 / 2, end: true });
        while !sink.stopped() && decoder.step(&mut sink).expect("events") == Step::More {}
        assert_eq!(sink.state().object_count(), heap.object_count());
        start.push(begun.elapsed());
    }
    let (ours, start) = (median(ours), median(start));
    println!(
        "| one GC of {} by the index ({} checkpoints) | | {:.2} s | replay from the start {:.2} s | {:.1}x |",
        points / 2,
        series.checkpoints(),
        ours.as_secs_f64(),
        start.as_secs_f64(),
        start.as_secs_f64() / ours.as_secs_f64()
    );
    println!(
        "| opening a trace again | | {:.2} s | the first reading, index written {:.2} s | {:.0}x |",
        opened.as_secs_f64(),
        whole_time.as_secs_f64(),
        whole_time.as_secs_f64() / opened.as_secs_f64()
    );
}

/// From opening a trace of a gigabyte to the layout of a first city, while the reading goes on.
fn first_city(folder: &Path) {
    let cache = tempfile::tempdir().expect("a folder");
    let bytes = std::fs::metadata(folder.join("trace")).expect("the trace").len();
    let begun = Instant::now();
    let mut first = None;
    let run = find_run(&[folder.to_owned()]).expect("files").expect("a run");
    let source = AntTracksSource::open(run, &Progress::new()).expect("files");
    let series = open_with_cache(source, Some(cache.path()), &Progress::new(), &mut |series| {
        let history = History::build(Arc::from(series), AUTO, GroupOptions::default(), &Progress::new());
        let history = history.expect("a history");
        let city = CityPlan::new(history.timeline(), &CityConfig::default());
        first.get_or_insert((begun.elapsed(), history.timeline().times(), city.plots.len()));
    });
    let series = series.expect("a series");
    let whole = begun.elapsed();
    let (time, times, plots) = first.expect("a first city");
    println!(
        "| first city of {:.1} GB ({times} of {} GCs, {plots} plots) | | {:.2} s | reading all of it {:.1} s | {:.0}x |",
        bytes as f64 / 1e9,
        series.points().len() / 2,
        time.as_secs_f64(),
        whole.as_secs_f64(),
        whole.as_secs_f64() / time.as_secs_f64()
    );
}
