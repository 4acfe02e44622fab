//! Pictures without a window: `memory-city render` as a process, from its start to the PNG, beside the bare draw of as many boxes.

use super::aims::Aims;
use super::bare::Bare;
use super::{FULL, IN_PACKAGE, boxes, least, size_of_type};
use memory_city::viewer::capture::{Shot, Studio};
use memory_city::viewer::city::{CameraRig, Shown};
use memory_city::viewer::loading::open_document;
use memory_city::viewer::settings::Settings;
use memory_city::viewer::views;
use memory_city_heap::progress::Progress;
use memory_city_testing::memory::field;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pictures without a window, each by a process of its own: of memory trees in JSON in which every group has a plot, and of the sample,
/// opened for the first time and again.
pub fn without_window(studio: &mut Studio, small: bool, aims: &mut Aims) {
    println!(
        "| `render` of | buildings | time (s) | wanted | peak memory (MB) | wanted | boxes | bare draw (ms) | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let folder = tempfile::tempdir().expect("a folder");
    let trees = folder.path().join("trees.json");
    for (buildings, runs, wanted) in [(100_000, 3, [Some(2.0), None]), (1_000_000, 1, [Some(6.0), Some(1000.0)])] {
        if small && buildings > 100_000 {
            continue;
        }
        write_trees(&trees, buildings);
        let cache = folder.path().join("cache");
        let run = |_| rendered(&trees, &["--child-count", "0"], folder.path(), &cache);
        let took: Vec<Took> = (0..runs).map(run).collect();
        let plain = bare_draw(studio, &trees, &Settings { prune: false, ..Settings::default() });
        row("trees in JSON, two times", took, wanted, plain, aims);
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak");
    let caches = ["a", "b", "c"].map(|name| folder.path().join(name));
    // Each has its cache: what one has found is there for it alone.
    let open = || caches.iter().map(|cache| rendered(&sample, &[], folder.path(), cache)).collect::<Vec<_>>();
    let (first, again) = (open(), open());
    let plain = bare_draw(studio, &sample, &Settings::default());
    row("the sample, for the first time", first, [Some(1.0), None], plain, aims);
    row("the sample, again", again, [Some(1.0), None], plain, aims);
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

/// Speed of the machine on which the aims in seconds were set: boxes of a bare draw in a millisecond for very many, and
/// milliseconds of any picture.
const BOXES_IN_A_MILLISECOND: f64 = 1_010.0;
const FRAME: f64 = 12.0;

/// The least time of some runs counts, and the most memory.
fn row(what: &str, took: Vec<Took>, [of_time, of_memory]: [Option<f64>; 2], plain: Plain, aims: &mut Aims) {
    let seconds = took.iter().map(|run| run.seconds).fold(f64::INFINITY, f64::min);
    let peak = took.iter().map(|run| run.peak).fold(0.0, f64::max);
    let Plain { buildings, boxes, milliseconds } = plain;
    // As many times the bare draw as it is on that machine.
    let slower = (milliseconds / (boxes as f64 / BOXES_IN_A_MILLISECOND).max(FRAME)).max(1.0);
    if let Some(most) = of_time {
        aims.most(&format!("render of {what}, {buildings} buildings, s"), seconds, most * slower);
    }
    if let Some(most) = of_memory {
        aims.most(&format!("render of {what}, {buildings} buildings, MB"), peak, most);
    }
    let [of_time, of_memory] = [of_time, of_memory].map(|most| most.map_or(String::new(), |most| most.to_string()));
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
    let preparations = views::all().preparations(settings);
    let draft = open_document(&[data.to_path_buf()], settings, &preparations, &Progress::new()).expect("it opens");
    studio.show(draft);
    studio.shoot(&Shot::of(FULL, settings)).expect("a picture");
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
