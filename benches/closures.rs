//! Owners, retained and deep amounts of a dump of 1 GB (23 million objects, 33 million references), each as a ratio to
//! something plain in the same run:
//!
//! - graph, dominator tree and retained amount of every object, from the file, against the whole report of
//!   `hprof-analyzer` 0.3.2 where it is installed (see `benches/hprof.rs`), with the peak of anonymous memory;
//! - exact retained amounts of every type at once, and of the 20 largest, against one walk over the heap from its roots;
//! - the closure of one set in references a second, against a breadth-first search over hash sets;
//! - a small group, against the whole heap.
//!
//! `cargo bench --bench closures --no-default-features [-- DUMP]`; without a dump that of `benches/hprof.rs`, which makes
//! it. With `--test` nothing is measured.

use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{
    Dominators, GroupAmounts, GroupClosures, KeepGraph, KeepRules, ObjectClosures, ObjectGroups,
};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use memory_city_testing::memory::Watcher;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dump = arguments.first().map_or(root.join("target/bench/big.hprof"), PathBuf::from);
    if !dump.exists() {
        eprintln!("{} is not there: `cargo bench --bench hprof --no-default-features` makes it", dump.display());
        return;
    }
    println!("| what | time (s) | against | ratio |\n|---|---|---|---|");
    let heap = whole(&dump, root);
    groups(&heap);
    sets(&heap);
}

fn row(what: &str, time: Duration, against: &str, other: Option<Duration>) {
    let ratio = other.map(|other| format!("{:.2}x", time.as_secs_f64() / other.as_secs_f64())).unwrap_or_default();
    println!("| {what} | {:.3} | {against} | {ratio} |", time.as_secs_f64());
}

/// The median, and the last result.
fn timed<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut times = Vec::new();
    loop {
        let begun = Instant::now();
        let result = work();
        times.push(begun.elapsed());
        if times.len() == ROUNDS {
            times.sort_unstable();
            return (times[ROUNDS / 2], result);
        }
    }
}

/// From the file to the retained amount of every object.
fn whole(dump: &Path, root: &Path) -> HeapState {
    let size = std::fs::metadata(dump).expect("the dump").len();
    let watcher = Watcher::start();
    let progress = Progress::new();
    let begun = Instant::now();
    let input = Input::open(dump, &progress).expect("the dump opens");
    let heap = hprof::load(&input, &progress).expect("a heap");
    let read = begun.elapsed();
    let owners = Dominators::new(&heap, KeepRules::default(), &progress).expect("not cancelled");
    let took = begun.elapsed();
    let peak = watcher.peak() as f64 * 1024.0;
    let analyzer = analyzer(dump, root);
    let against = if analyzer.is_some() { "hprof-analyzer 0.3.2, report" } else { "hprof-analyzer is not installed" };
    row("graph", read, against, analyzer);
    row("graph, dominator tree, retained amount of every object", took, against, analyzer);
    println!("| peak of anonymous memory | {:.0} MB | file | {:.2}x |", peak / 1e6, peak / size as f64);
    let total = owners.total();
    println!(
        "| {} objects, {} references, {} reached | | | |",
        heap.object_count(),
        heap.reference_count(),
        total.objects
    );
    heap
}

fn analyzer(dump: &Path, root: &Path) -> Option<Duration> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(root.join("target/tools/bin")).chain(std::env::split_paths(&path));
    let tool = folders.map(|folder| folder.join("hprof-analyzer")).find(|tool| tool.exists())?;
    let begun = Instant::now();
    let mut command = Command::new(tool);
    command.arg(dump).arg(root.join("target/bench/analyzer.json")).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().ok().filter(|status| status.success()).map(|_| begun.elapsed())
}

/// What every type retains and reaches.
fn groups(heap: &HeapState) {
    let (rules, progress) = (KeepRules::default(), Progress::new());
    let (walk, reached) = timed(|| walk(heap));
    row(&format!("walk from the roots ({reached} objects)"), walk, "itself", Some(walk));
    let types = heap.types().len();
    let mut bytes = vec![0u64; types];
    let of: Vec<u32> = heap.objects().map(|o| heap.type_of(o).0).collect();
    heap.objects().for_each(|o| bytes[heap.type_of(o).0 as usize] += heap.size_of(o));
    let lists = (0..types as u32).map(|t| vec![t].into()).collect();
    let groups = Arc::new(ObjectGroups::new(of, lists, types));
    let closures = || GroupClosures::new(heap, rules, Arc::clone(&groups));
    let mut by: Vec<u32> = (0..types as u32).filter(|&t| bytes[t as usize] > 0).collect();
    by.sort_by_key(|&t| Reverse(bytes[t as usize]));
    let (took, first) = timed(|| closures().retained(&by[..20.min(by.len())], &progress).expect("not cancelled"));
    row("retained amounts of the 20 largest types", took, "walk", Some(walk));
    let (took, all) = timed(|| closures().retained(&by, &progress).expect("not cancelled"));
    row(&format!("retained amounts of {} types", by.len()), took, "walk", Some(walk));
    assert_eq!(&all[..first.len()], &first[..]);
    let (took, deep) = timed(|| closures().deep_and_retained(&by, &progress).expect("not cancelled"));
    row(&format!("deep and retained amounts of {} types", by.len()), took, "walk", Some(walk));
    let retained: Vec<Amount> = deep.iter().map(|found: &GroupAmounts| found.retained).collect();
    assert_eq!(retained, all);
    for (&t, found) in by.iter().zip(&deep).take(5) {
        let (name, retained, deep) = (&heap.types()[t as usize].name, found.retained.bytes, found.deep.bytes);
        println!("| {name}: {} shallow, {retained} retained, {deep} deep | | | |", bytes[t as usize]);
    }
}

/// The closures of sets.
fn sets(heap: &HeapState) {
    let progress = Progress::new();
    let graph = KeepGraph::new(heap, KeepRules::default());
    let (made, closures) = timed(|| ObjectClosures::new(heap, KeepRules::default(), &progress).expect("not cancelled"));
    row("what roots reach, for closures of sets", made, "", None);
    let mut all = BitSet::new(heap.object_count());
    graph.roots().iter().for_each(|root| {
        all.insert(root.0);
    });
    let (took, reached) = timed(|| closures.reached(&all, &progress).expect("not cancelled"));
    let references: usize = reached.iter().map(|o| heap.references(ObjectId(o)).len()).sum();
    let (naive, count) = timed(|| by_hashing(heap, graph.roots()));
    assert_eq!(count, reached.count());
    let speed = references as f64 / took.as_secs_f64() / 1e6;
    row(
        &format!("transitive closure of all roots: {speed:.0} million references a second"),
        took,
        "hash sets",
        Some(naive),
    );
    let (whole, _) = timed(|| closures.of(&all, &progress).expect("not cancelled"));
    row("deep and retained sets of all that roots hold", whole, "", None);
    // An instance of the type that has most of them, and what it leads to.
    let one = reached.iter().find(|&o| heap.references(ObjectId(o)).len() == 2).unwrap_or_default();
    let mut small = BitSet::new(heap.object_count());
    small.insert(one);
    let (took, found) = timed(|| closures.of(&small, &progress).expect("not cancelled"));
    row(&format!("the same of one object, which reaches {}", found.deep.count()), took, "all", Some(whole));
}

/// Plain: a bit for each object, a stack.
fn walk(heap: &HeapState) -> usize {
    let graph = KeepGraph::new(heap, KeepRules::default());
    let mut seen = BitSet::new(heap.object_count());
    let mut open: Vec<ObjectId> = graph.roots().iter().copied().filter(|root| seen.insert(root.0)).collect();
    let mut count = 0;
    while let Some(o) = open.pop() {
        count += 1;
        for &target in heap.references(o) {
            if seen.insert(target.0) {
                open.push(target);
            }
        }
    }
    count
}

fn by_hashing(heap: &HeapState, from: &[ObjectId]) -> usize {
    let graph = KeepGraph::new(heap, KeepRules::default());
    let mut seen: HashSet<ObjectId> = from.iter().copied().collect();
    let mut level: Vec<ObjectId> = from.to_vec();
    while !level.is_empty() {
        let mut next = Vec::new();
        for &o in &level {
            graph.kept(o, |target| {
                if seen.insert(target) {
                    next.push(target);
                }
            });
        }
        level = next;
    }
    seen.len()
}
