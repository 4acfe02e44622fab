//! How time grows with the dump: heaps of several shapes, each in two sizes, the second four times the first. Against the class histogram of
//! the same file, and that of `hprof-slurp` where it is installed (see `benches/hprof.rs`). A report of two dumps, the second a tenth
//! larger, stands against that of one.
//!
//! Times are processor time of all cores, the least of the rounds: other programs on the machine take part of the clock. `exponent` is the
//! power of the size with which the time grows: 1 is in step. Dumps are written as they are needed, and removed.
//! `cargo bench --bench size --no-default-features [-- large]`; `large` adds a dump of 12 GB, with nothing to compare it to.

#[path = "size/shapes.rs"]
mod shapes;

use memory_city_testing::memory::field;
use shapes::Shape;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 2;

/// Each shape with the units of its smaller dump.
const SHAPES: [(Shape, u64); 4] = [
    (Shape::Business, 1_700_000),
    (Shape::Chain, 5_000_000),
    (Shape::DeepTree, 1_250_000),
    (Shape::SmallMaps, 1_000_000),
];

/// Units of the dump of 12 GB.
const LARGE: u64 = 20_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
    std::fs::create_dir_all(&folder).expect("a folder for the dumps");
    println!(
        "| heap | dump (GB) | work | processor time (s) | by the clock (s) | peak memory (MB) | times the histogram | times the report | exponent |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (shape, units) in SHAPES {
        let small = measure(shape, units, &folder, shape == Shape::Business);
        small.print(shape, None);
        measure(shape, 4 * units, &folder, false).print(shape, Some(&small));
    }
    if arguments.iter().any(|a| a == "large") {
        measure(Shape::Business, LARGE, &folder, false).print(Shape::Business, None);
    }
}

/// What a dump costs.
struct Measured {
    bytes: u64,
    /// The histogram first, then the report of the dump.
    runs: Vec<(&'static str, Run)>,
}

#[derive(Clone, Copy)]
struct Run {
    seconds: f64,
    clock: Duration,
    /// KiB.
    peak: u64,
}

/// Measures a dump; `with_later` also the report of it and a later one.
fn measure(shape: Shape, units: u64, folder: &Path, with_later: bool) -> Measured {
    let [dump, later] = ["size.hprof", "size-later.hprof"].map(|name| folder.join(name));
    shape.write(units, &dump).expect("the dump");
    if with_later {
        shape.write(units + units / 10, &later).expect("the later dump");
    }
    let cache = folder.join("size-cache");
    let own = PathBuf::from(env!("CARGO_BIN_EXE_memory-city"));
    let [file, later_file] = [&dump, &later].map(|path| path.to_string_lossy().into_owned());
    let mut works: Vec<(&'static str, PathBuf, Vec<&str>)> = vec![
        ("class histogram", own.clone(), vec!["report", &*file, "--tree", "--grouping", "type"]),
        ("report", own.clone(), vec!["report", &*file]),
    ];
    let slurp = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/bin/hprof-slurp");
    if slurp.exists() {
        works.push(("hprof-slurp 0.10.0, class histogram", slurp, vec![&*file]));
    }
    if with_later {
        works.push(("report of two", own, vec!["report", &*file, &*later_file]));
    }
    let mut runs: Vec<(&'static str, Run)> = Vec::new();
    for (name, program, arguments) in &works {
        let rounds = (0..ROUNDS).map(|_| {
            // What an earlier run has kept would be no work.
            let _ = std::fs::remove_dir_all(&cache);
            run(program, arguments, &cache)
        });
        let least = rounds.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("a round");
        runs.push((*name, least));
    }
    let bytes = std::fs::metadata(&dump).expect("the dump").len();
    let _ = std::fs::remove_dir_all(&cache);
    std::fs::remove_file(&dump).expect("the dump goes");
    let _ = std::fs::remove_file(&later);
    Measured { bytes, runs }
}

impl Measured {
    fn print(&self, shape: Shape, smaller: Option<&Measured>) {
        let [histogram, report] = [0, 1].map(|at: usize| self.runs[at].1.seconds);
        for (at, (name, run)) in self.runs.iter().enumerate() {
            let exponent = smaller.map(|smaller| {
                let times = run.seconds / smaller.runs[at].1.seconds;
                format!("{:.2}", times.ln() / (self.bytes as f64 / smaller.bytes as f64).ln())
            });
            println!(
                "| {} | {:.2} | {name} | {:.1} | {:.1} | {} | {:.1} | {:.1} | {} |",
                shape.title(),
                self.bytes as f64 / 1e9,
                run.seconds,
                run.clock.as_secs_f64(),
                run.peak / 1000,
                run.seconds / histogram,
                run.seconds / report,
                exponent.unwrap_or_default()
            );
        }
    }
}

fn run(program: &Path, arguments: &[&str], cache: &Path) -> Run {
    let (before, start) = (time_of_children(), Instant::now());
    let mut child = Command::new(program)
        .args(arguments)
        .env("MEMORY_CITY_CACHE", cache)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // VmHWM only grows, so the last look before the end is the peak.
    while child.try_wait().expect("it runs").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        peak = field(&text, "VmHWM:").unwrap_or(0).max(peak);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(child.wait().expect("it ends").success(), "{arguments:?} failed");
    Run { seconds: time_of_children() - before, clock: start.elapsed(), peak }
}

/// Processor time of all programs that this one has run to their end, in seconds.
fn time_of_children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux says");
    // Behind the name, which may hold anything: the 16th and 17th field of all, in hundredths of a second.
    let behind = text.rsplit_once(')').expect("a name").1;
    let ticks: u64 = behind.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}
