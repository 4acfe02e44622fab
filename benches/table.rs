//! Times the memory tree as a table with a million nodes against rows of text, in one run, and prints rows of a table.
//!
//! `cargo bench --no-default-features --bench table`; a number after `--` sets how many nodes.
//!
//! The baseline is a usual table widget. Each row has texts (name, path, numbers as shown) and its numbers. It is
//! sorted with a comparison and filtered with `contains` on a lower-case copy.

use memory_city_analysis::group::MemoryTree;
use memory_city_analysis::table::{Arrangement, TableShape, TreeTable};
use memory_city_analysis::tabular::bytes_text;
use memory_city_analysis::timeline::{Amount, Metric, TimePoint, Timeline};
use memory_city_heap::progress::Progress;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs per row; the fastest counts, as the least disturbed.
const RUNS: usize = 5;

struct TextRow {
    name: String,
    path: String,
    bytes_text: String,
    first: u64,
    bytes: u64,
}

fn main() {
    let asked = std::env::args().skip(1).find_map(|a| a.parse::<usize>().ok());
    let n = asked.unwrap_or(1_000_000).max(1000);
    let timeline = Arc::new(timeline(n));
    println!(
        "Fastest of {RUNS} runs, {} threads, {} nodes, four points in time.\n",
        rayon::current_num_threads(),
        timeline.len()
    );
    println!("| what | ours | rows of text | ratio |");
    println!("|---|---|---|---|");
    let progress = Progress::new();
    let last = timeline.times() - 1;
    let (ours, table) =
        fastest(|| TreeTable::new(Arc::clone(&timeline), None, Metric::Bytes, &progress).expect("a table"));
    let (theirs, rows) = fastest(|| {
        let row = |node| {
            let bytes = timeline.amount(last, node).bytes;
            TextRow {
                name: timeline.name(node).to_owned(),
                path: timeline.path_label(node),
                bytes_text: bytes_text(bytes),
                first: timeline.amount(0, node).bytes,
                bytes,
            }
        };
        timeline.nodes().map(row).collect::<Vec<_>>()
    });
    assert!(rows.iter().any(|row| !row.bytes_text.is_empty()));
    say("making the table", ours, theirs);

    let flat = |sort, filter| Arrangement { sort, filter, shape: TableShape::Nodes, ..Arrangement::default() };
    let tree = |sort, filter| Arrangement { sort, filter, ..Arrangement::default() };
    let by = |column, descending| Some(table.sort(column, descending).expect("a column"));
    let filter = |text| Some(table.filter(text).expect("a filter"));
    let arrangements = [
        ("all by bytes", flat(by("bytes", true), None)),
        ("all by name", flat(by("name", false), None)),
        ("a tree, all open, siblings by growth", tree(by("growth", true), None)),
        ("by expression: bytes > 1MB and growth > 20%", flat(None, filter("bytes > 1MB and growth > 20%"))),
        ("by text: name ~ hashmap", flat(None, filter("name ~ 'hashmap'"))),
        ("by path: path ~ hashmap", tree(None, filter("path ~ 'hashmap'"))),
    ];
    for (what, arrangement) in arrangements {
        let (ours, view) = fastest(|| table_view(&table, &arrangement));
        let (theirs, found) = match what {
            "all by bytes" => sorted(&rows, |a, b| b.bytes.cmp(&a.bytes)),
            "all by name" => sorted(&rows, |a, b| a.name.cmp(&b.name)),
            "a tree, all open, siblings by growth" => sorted(&rows, |a, b| {
                let growth = |r: &TextRow| r.bytes as i64 - r.first as i64;
                growth(b).cmp(&growth(a))
            }),
            "by text: name ~ hashmap" => filtered(&rows, |r| r.name.to_lowercase().contains("hashmap")),
            "by path: path ~ hashmap" => filtered(&rows, |r| r.path.to_lowercase().contains("hashmap")),
            _ => filtered(&rows, |r| r.bytes > 1_000_000 && r.bytes as f64 - r.first as f64 > 0.2 * r.first as f64),
        };
        assert_eq!(view.matched as usize, found, "{what}");
        say(what, ours, theirs);
    }
}

fn table_view(table: &TreeTable, arrangement: &Arrangement) -> memory_city_analysis::table::TableView {
    table.rebuild(arrangement, &Progress::new()).expect("a view")
}

fn sorted(rows: &[TextRow], compare: impl Fn(&TextRow, &TextRow) -> std::cmp::Ordering) -> (Duration, usize) {
    fastest(|| {
        let mut order: Vec<&TextRow> = rows.iter().collect();
        order.sort_by(|a, b| compare(a, b));
        order.len()
    })
}

fn filtered(rows: &[TextRow], holds: impl Fn(&TextRow) -> bool) -> (Duration, usize) {
    fastest(|| rows.iter().filter(|row| holds(row)).count())
}

/// Packages of a hundred classes, each with a hundred places that allocate.
fn timeline(n: usize) -> Timeline {
    let mut seed = 1u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seed >> 33
    };
    let mut trees = Vec::new();
    for _ in 0..4 {
        let mut tree = MemoryTree::new();
        let roles = ["Package", "Type", "Allocation site"].map(Arc::from);
        let mut made = 1;
        'all: for p in 0.. {
            let package = tree.child(0, &roles[0], &format!("org.example.module{p}").into());
            for c in 0..100 {
                let kind = ["HashMap", "Session", "Buffer", "Row"][c % 4];
                let class = tree.child(package, &roles[1], &format!("{kind}{c}").into());
                for s in 0..100 {
                    let site =
                        tree.child(class, &roles[2], &format!("run{}():{s}", (p * 31 + c * 17 + s * 7) % 1000).into());
                    let objects = 1 + next() % 1000;
                    tree.add_up(&[site as u32], Amount { objects, bytes: objects * (16 + next() % 64) });
                    made += 1;
                    if made >= n {
                        break 'all;
                    }
                }
            }
        }
        trees.push(tree);
    }
    Timeline::from_trees(vec![TimePoint::default(); 4], &trees)
}

fn fastest<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut best: Option<(Duration, T)> = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let result = work();
        let time = start.elapsed();
        if best.as_ref().is_none_or(|b| time < b.0) {
            best = Some((time, result));
        }
    }
    best.expect("at least one run")
}

fn say(what: &str, ours: Duration, theirs: Duration) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("| {what} | {:.1} ms | {:.1} ms | {:.1}x |", ms(ours), ms(theirs), ms(theirs) / ms(ours));
}
