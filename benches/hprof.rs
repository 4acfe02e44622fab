//! Reading a heap dump of about 1 GB with 23 million objects. Two programs read the same file in the same run:
//! `hprof-slurp` (class histogram only) and `hprof-analyzer` (graph, dominators, report).
//!
//! Each is run as a process of its own, in turn, five times; the table gives medians and ratios. Peak memory is what
//! the system says of the finished process; for ours also the part that is not the mapped file (`anonymous`).
//! `cargo bench --bench hprof --no-default-features`. The baselines are looked for on the PATH and in `target/tools/bin`:
//! `cargo install --root target/tools --locked hprof-slurp@0.10.0 hprof-analyzer@0.3.2`.

use memory_city_analysis::ownership::OwnerTree;
use memory_city_formats::hprof;
use memory_city_heap::ObjectId;
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_testing::memory;
use memory_city_testing::memory::{Watcher, field};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 5;
/// 23 million objects, about 1 GB.
const UNITS: &str = "1680000";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--measure") {
        return measure(&arguments[at + 1], Path::new(&arguments[at + 2]));
    }
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
    std::fs::create_dir_all(&folder).expect("a folder for the dump");
    let dump = folder.join("big.hprof");
    if !dump.exists() {
        record(&folder, &dump);
    }
    let size = std::fs::metadata(&dump).expect("the dump").len();
    let own = std::env::current_exe().expect("this program");
    let own = own.to_string_lossy();
    let file = dump.to_string_lossy();
    let report = folder.join("analyzer.json");
    let report = report.to_string_lossy();
    let mut runs: Vec<(&str, Vec<String>)> = vec![
        ("ours, class histogram", vec![own.to_string(), "--measure".into(), "histogram".into(), file.to_string()]),
        ("ours, whole graph", vec![own.to_string(), "--measure".into(), "graph".into(), file.to_string()]),
        (
            "ours, whole graph, references both ways",
            vec![own.to_string(), "--measure".into(), "both".into(), file.to_string()],
        ),
        (
            "ours, whole graph, dominators, retained size of every object",
            vec![own.to_string(), "--measure".into(), "dominators".into(), file.to_string()],
        ),
    ];
    match tool("hprof-slurp") {
        Some(path) => runs.push(("hprof-slurp 0.10.0, class histogram", vec![path, file.to_string()])),
        None => eprintln!("hprof-slurp is not installed: its rows are missing"),
    }
    match tool("hprof-analyzer") {
        Some(path) => {
            runs.push(("hprof-analyzer 0.3.2, full report", vec![path, file.to_string(), report.to_string()]))
        }
        None => eprintln!("hprof-analyzer is not installed: its rows are missing"),
    }
    let mut measured: Vec<Vec<Run>> = vec![Vec::new(); runs.len()];
    for round in 0..=ROUNDS {
        for (i, (name, command)) in runs.iter().enumerate() {
            // The full report takes twenty seconds a round: two rounds tell enough.
            if name.contains("full report") && round > 2 {
                continue;
            }
            let run = time(command);
            // The first round warms the file cache.
            if round > 0 {
                measured[i].push(run);
            }
        }
    }
    let slurp = runs.iter().position(|(n, _)| n.starts_with("hprof-slurp"));
    let medians: Vec<Run> = measured.iter_mut().map(|runs| median(runs)).collect();
    println!("| program | time (s) | times hprof-slurp | peak memory (MB) | anonymous (MB) | times file size |");
    println!("|---|---|---|---|---|---|");
    for ((name, _), run) in runs.iter().zip(&medians) {
        let ratio = slurp.map(|s| format!("{:.2}", run.seconds / medians[s].seconds)).unwrap_or("?".into());
        let anonymous = run.anonymous.map(|a| format!("{}", a / 1000)).unwrap_or_default();
        let share = run.anonymous.unwrap_or(run.peak) as f64 * 1024.0 / size as f64;
        println!("| {name} | {:.2} | {ratio} | {} | {anonymous} | {share:.2} |", run.seconds, run.peak / 1000);
    }
    println!("\nfile: {:.0} MB", size as f64 / 1e6);
}

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    seconds: f64,
    /// Peak resident set, KiB.
    peak: u64,
    /// Peak of the part that is not file pages, KiB.
    anonymous: Option<u64>,
}

fn median(runs: &mut [Run]) -> Run {
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs[runs.len() / 2]
}

/// Runs a command to its end; the peak is read from `/usr/bin/time`-like accounting of the shell's `wait`.
fn time(command: &[String]) -> Run {
    let start = Instant::now();
    let child = Command::new(&command[0])
        .args(&command[1..])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e}", command[0]));
    let status = format!("/proc/{}/status", child.id());
    let watcher = std::thread::spawn(move || {
        // VmHWM only grows, so the last look before the end is the peak.
        let mut peak = 0;
        while let Ok(text) = std::fs::read_to_string(&status) {
            match field(&text, "VmHWM:") {
                Some(kib) => peak = peak.max(kib),
                None => break,
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        peak
    });
    let output = child.wait_with_output().expect("the program ends");
    let seconds = start.elapsed().as_secs_f64();
    assert!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8_lossy(&output.stdout);
    let own = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse().ok());
    let peak = own("peak ").unwrap_or_else(|| watcher.join().unwrap_or(0));
    Run { seconds, peak, anonymous: own("anonymous ") }
}

/// Reads the dump in this process and says what it took.
fn measure(what: &str, dump: &Path) {
    let watcher = Watcher::start();
    let progress = Progress::new();
    let start = Instant::now();
    let input = Input::open(dump, &progress).expect("the dump opens");
    match what {
        "histogram" => {
            let rows = hprof::histogram(&input, &progress).expect("a histogram").rows;
            println!("classes {}", rows.len());
        }
        _ => {
            let heap = hprof::load(&input, &progress).expect("a heap");
            println!("objects {}", heap.object_count());
            println!("references {}", heap.reference_count());
            if what == "both" {
                println!("referrers of the first {}", heap.referrers(ObjectId(0)).len());
            }
            if what == "dominators" || what == "owners" {
                let began = Instant::now();
                let rules = if what == "owners" { KeepRules::default().for_owners() } else { KeepRules::default() };
                let tree = Dominators::new(&heap, rules, &progress).expect("not cancelled");
                let largest = heap.objects().map(|o| tree.retained(o).bytes).max();
                println!("all {} largest {largest:?}", tree.total().bytes);
                let dominators = began.elapsed().as_secs_f64();
                if what == "owners" {
                    let began = Instant::now();
                    let owners = OwnerTree::new(&heap, &tree, &progress).expect("not cancelled");
                    let both = dominators + began.elapsed().as_secs_f64();
                    println!("owners {} in {:.2}x the dominators", owners.nodes().len(), both / dominators);
                }
            }
        }
    }
    println!("inside {:.3}", start.elapsed().as_secs_f64());
    println!("peak {}", memory::own("VmHWM:"));
    println!("anonymous {}", watcher.peak());
}

fn tool(name: &str) -> Option<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/bin").join(name);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::iter::once(own).chain(std::env::split_paths(&path).map(|d| d.join(name))).find(|p| p.exists());
    found.map(|p: PathBuf| p.to_string_lossy().into_owned())
}

/// Has a JVM write the dump.
fn record(folder: &Path, dump: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/java/BigHeap.java");
    let run = |command: &mut Command| {
        let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e} (a JDK 17 or newer is needed)"));
        assert!(status.success(), "{command:?}");
    };
    run(Command::new("javac").arg("-d").arg(folder).arg(source));
    let mut java = Command::new("java")
        .args(["-Xmx6g", "-XX:+UseParallelGC", "-cp"])
        .arg(folder)
        .args(["BigHeap", UNITS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("java runs");
    let mut line = String::new();
    let output = java.stdout.take().expect("its output");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("a line");
    let pid = line.trim().trim_start_matches("ready ").to_owned();
    run(Command::new("jcmd").args([&pid, "GC.heap_dump"]).arg(dump).stdout(Stdio::null()));
    drop(java.stdin.take());
    let _ = java.wait();
}
