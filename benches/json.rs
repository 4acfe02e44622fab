//! Reading memory trees in JSON: about 1 GB of JSON Lines, twelve times of a tree with a million nodes, against the naive
//! way, `serde_json::Value`, in the same run.
//!
//! Each is a process of its own on one core, in turn, three times; the table gives medians. Memory is the part that is
//! not the mapped file (anonymous), at its peak. `cargo bench --bench json --no-default-features`; with `-- small` a
//! tenth of it.

use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::timeline::json;
use memory_city_analysis::timeline::{TimePoint, Timeline, TimelineBuilder};
use memory_city_heap::Amount;
use memory_city_heap::progress::Progress;
use memory_city_testing::memory::Watcher;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 3;
const TIMES: usize = 12;

const WAYS: &[(&str, &str)] = &[
    ("ours: timeline", "ours"),
    ("serde_json::Value, nothing done with it", "value"),
    ("serde_json::Value, walked into a timeline", "walked"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--measure") {
        return measure(&arguments[at + 1], Path::new(&arguments[at + 2]));
    }
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let small = arguments.iter().any(|a| a == "small");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
    std::fs::create_dir_all(&folder).expect("a folder for the files");
    println!("| set | way | time (s) | MB/s | times serde_json::Value walked | peak anonymous memory (MB) |");
    println!("|---|---|---|---|---|---|");
    for (set, times, nodes) in [("12 times, JSON Lines", TIMES, 1_000_000), ("one time", 1, 1_000_000)] {
        let nodes = if small { nodes / 10 } else { nodes };
        let file = folder.join(format!("trees-{times}-{nodes}.jsonl"));
        if !file.exists() {
            generate(&file, times, nodes);
        }
        compare(set, &file);
    }
}

fn compare(set: &str, file: &Path) {
    let size = std::fs::metadata(file).expect("the file").len() as f64 / 1e6;
    let mut runs: Vec<Vec<(f64, f64)>> = vec![Vec::new(); WAYS.len()];
    for round in 0..=ROUNDS {
        for (i, (_, way)) in WAYS.iter().enumerate() {
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            let output = command.args(["--measure", way]).arg(file).output().expect("a process");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let number = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse::<f64>().ok());
            let run = (number("seconds ").expect("a time"), number("anonymous ").unwrap_or(0.0) / 1000.0);
            // The first round warms the file cache.
            if round > 0 {
                runs[i].push(run);
            }
        }
    }
    let median = |runs: &mut Vec<(f64, f64)>| {
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        runs[runs.len() / 2]
    };
    let medians: Vec<(f64, f64)> = runs.iter_mut().map(median).collect();
    let naive = medians[WAYS.len() - 1].0;
    for ((name, _), (seconds, memory)) in WAYS.iter().zip(&medians) {
        let (speed, ratio) = (size / seconds, naive / seconds);
        println!("| {set}, {size:.0} MB | {name} | {seconds:.2} | {speed:.0} | {ratio:.1} | {memory:.0} |");
    }
}

/// Does it once, and says what it took.
fn measure(way: &str, file: &Path) {
    let watcher = Watcher::start();
    let start = Instant::now();
    let nodes = match way {
        "ours" => {
            let source = json::read(&[PathBuf::from(file)], &Progress::new()).expect("memory trees");
            assert!(source.warnings.is_empty(), "{:?}", source.warnings);
            source.timeline.len()
        }
        way => naive(file, way == "walked"),
    };
    println!("seconds {:.4}", start.elapsed().as_secs_f64());
    println!("nodes {nodes}");
    println!("anonymous {}", watcher.peak());
}

/// Line by line into values; with `walk` from there into a timeline.
fn naive(file: &Path, walk: bool) -> usize {
    let lines = std::io::BufRead::lines(std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(file).unwrap()));
    let mut builder = TimelineBuilder::default();
    let mut values = 0;
    for line in lines {
        let value: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        if walk {
            let mut tree = MemoryTree::new();
            below(&value["tree"], 0, &mut tree);
            let point = TimePoint {
                label: value["label"].as_str().unwrap_or_default().to_owned(),
                millis: value["timestamp"].as_u64().unwrap_or_default(),
                ..TimePoint::default()
            };
            builder.add(point, &tree);
        }
        values += 1;
    }
    let timeline: Timeline = builder.finish();
    timeline.len().max(values)
}

fn below(value: &serde_json::Value, node: usize, tree: &mut MemoryTree) {
    let count = |field: &str| value[field].as_u64().unwrap_or_default();
    tree.add(node, Amount { objects: count("objects"), bytes: count("bytes") });
    for child in value["children"].as_array().into_iter().flatten() {
        let text = |field: &str| -> Arc<str> { Arc::from(child[field].as_str().unwrap_or_default()) };
        let child_node = tree.child(node, &text("role"), &text("name"));
        below(child, child_node, tree);
    }
}

/// Packages, classes and fields, as exporters name them. From time to time counts change, a class in a hundred comes or
/// goes.
fn generate(file: &Path, times: usize, nodes: usize) {
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(file).expect("a file"));
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    // A package has 40 classes, a class 24 fields.
    let packages = nodes / (40 * 25);
    for t in 0..times {
        write!(
            out,
            "{{\"format\":\"memory-city\",\"version\":1,\"label\":\"gc {t}\",\"timestamp\":{},",
            1_700_000_000_000 + t as u64 * 1000
        )
        .unwrap();
        out.write_all(b"\"tree\":{\"name\":\"Heap\",\"role\":\"Heap\",\"children\":[").unwrap();
        for p in 0..packages {
            let comma = if p == 0 { "" } else { "," };
            write!(out, "{comma}{{\"name\":\"org.example.module{p}\",\"role\":\"Package\",\"children\":[").unwrap();
            let mut separator = "";
            for c in 0..40 {
                if c > 0 && random(100) == 0 {
                    continue;
                }
                write!(out, "{separator}{{\"name\":\"Component{c}$Builder{p}\",\"role\":\"Type\",\"children\":[")
                    .unwrap();
                separator = ",";
                for f in 0..24 {
                    let objects = random(100_000);
                    let comma = if f == 0 { "" } else { "," };
                    write!(
                        out,
                        "{comma}{{\"name\":\"allocate{f}Site()\",\"role\":\"Allocation site\",\"objects\":{objects},\"bytes\":{}}}",
                        objects * 24
                    )
                    .unwrap();
                }
                out.write_all(b"]}").unwrap();
            }
            out.write_all(b"]}").unwrap();
        }
        out.write_all(b"]}}\n").unwrap();
    }
    out.flush().unwrap();
}
