//! Owners, retained and deep amounts of a dump of 1 GB (23 million objects, 33 million references), each as a ratio to
//! something plain in the same run:
//!
//! - graph, dominator tree and retained amount of every object, from the file, against the whole report of
//!   `hprof-analyzer` 0.3.2 where it is installed (see `benches/hprof.rs`), with the peak of anonymous memory;
//! - exact retained amounts of every type at once, and of the 20 largest, against one walk over the heap from its roots;
//! - the closure of one set in references a second, against a breadth-first search over hash sets;
//! - all data structures against the same walk, with the bytes an object that they take;
//! - a group of a hundred objects, and hundreds of thousands of groups at once, against the same walk.
//!
//! `cargo bench --bench closures --no-default-features [-- DUMP]`; without a dump that of `benches/hprof.rs`, which makes
//! it. Both sides of a ratio take turns, and the least time of each counts: what others on the machine take away is not
//! ours. With `--test` nothing is measured.

use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::ownership::{
    Dominators, GroupAmounts, GroupClosures, KeepGraph, KeepRules, ObjectClosures, ObjectGroups,
};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{Descriptions, FoundStructures, StructureRules};
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
    structures(&heap);
    fine(&heap);
}

fn row(what: &str, time: Duration, against: &str, other: Option<Duration>) {
    let ratio = other.map(|other| format!("{:.2}x", time.as_secs_f64() / other.as_secs_f64())).unwrap_or_default();
    println!("| {what} | {:.3} | {against} | {ratio} |", time.as_secs_f64());
}

/// The least time of a plain thing and of what is measured against it, in turn; and the last result.
fn beside<P, T>(mut plain: impl FnMut() -> P, mut work: impl FnMut() -> T) -> (Duration, Duration, T) {
    let (mut least_plain, mut least) = (Duration::MAX, Duration::MAX);
    let mut last = None;
    for _ in 0..ROUNDS {
        drop(last.take());
        let begun = Instant::now();
        drop(std::hint::black_box(plain()));
        least_plain = least_plain.min(begun.elapsed());
        let begun = Instant::now();
        last = Some(work());
        least = least.min(begun.elapsed());
    }
    (least_plain, least, last.expect("there are rounds"))
}

/// From the file to the retained amount of every object.
fn whole(dump: &Path, root: &Path) -> HeapState {
    let size = std::fs::metadata(dump).expect("the dump").len();
    let progress = Progress::new();
    let mut peak = 0f64;
    let mut read = Duration::MAX;
    let mut theirs: Option<Duration> = None;
    let ours = || {
        let watcher = Watcher::start();
        let begun = Instant::now();
        let input = Input::open(dump, &progress).expect("the dump opens");
        let heap = hprof::load(&input, &progress).expect("a heap");
        read = read.min(begun.elapsed());
        let owners = Dominators::new(&heap, KeepRules::default(), &progress).expect("not cancelled");
        peak = peak.max(watcher.peak() as f64 * 1024.0);
        (heap, owners.total())
    };
    let plain = || theirs = theirs.into_iter().chain(analyzer(dump, root)).min();
    let (_, took, (heap, total)) = beside(plain, ours);
    let against = if theirs.is_some() { "hprof-analyzer 0.3.2, report" } else { "hprof-analyzer is not installed" };
    if let Some(theirs) = theirs {
        row(against, theirs, "itself", Some(theirs));
    }
    row("graph", read, against, theirs);
    row("graph, dominator tree, retained amount of every object", took, against, theirs);
    println!("| peak of anonymous memory | {:.0} MB | file | {:.2}x |", peak / 1e6, peak / size as f64);
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
    let types = heap.types().len();
    let mut bytes = vec![0u64; types];
    let of: Vec<u32> = heap.objects().map(|o| heap.type_of(o).0).collect();
    heap.objects().for_each(|o| bytes[heap.type_of(o).0 as usize] += heap.size_of(o));
    let lists = (0..types as u32).map(|t| vec![t].into()).collect();
    let groups = Arc::new(ObjectGroups::new(of, lists, types));
    let closures = || GroupClosures::new(heap, rules, Arc::clone(&groups));
    let mut by: Vec<u32> = (0..types as u32).filter(|&t| bytes[t as usize] > 0).collect();
    by.sort_by_key(|&t| Reverse(bytes[t as usize]));
    let largest = &by[..20.min(by.len())];
    let (plain, took, first) =
        beside(|| walk(heap), || closures().retained(largest, &progress).expect("not cancelled"));
    row(&format!("walk from the roots ({} objects)", walk(heap)), plain, "itself", Some(plain));
    row("retained amounts of the 20 largest types", took, "walk", Some(plain));
    let (plain, took, all) = beside(|| walk(heap), || closures().retained(&by, &progress).expect("not cancelled"));
    row(&format!("retained amounts of {} types", by.len()), took, "walk", Some(plain));
    assert_eq!(&all[..first.len()], &first[..]);
    let (plain, took, deep) =
        beside(|| walk(heap), || closures().deep_and_retained(&by, &progress).expect("not cancelled"));
    row(&format!("deep and retained amounts of {} types", by.len()), took, "walk", Some(plain));
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
    let rules = KeepRules::default();
    let graph = KeepGraph::new(heap, rules);
    let made = || ObjectClosures::new(heap, rules, &progress).expect("not cancelled");
    let (plain, took, closures) = beside(|| walk(heap), made);
    row("what roots reach, for closures of sets, once", took, "walk", Some(plain));
    let n = heap.object_count();
    let set = |objects: &mut dyn Iterator<Item = ObjectId>| {
        let mut set = BitSet::new(n);
        objects.for_each(|o| {
            set.insert(o.0);
        });
        set
    };
    let all = set(&mut graph.roots().iter().copied());
    let reach = || closures.reached(&all, &progress).expect("not cancelled");
    let (naive, took, reached) = beside(|| by_hashing(heap, graph.roots()), reach);
    let references: usize = reached.iter().map(|o| heap.references(ObjectId(o)).len()).sum();
    assert_eq!(by_hashing(heap, graph.roots()), reached.count());
    let speed = references as f64 / took.as_secs_f64() / 1e6;
    row(
        &format!("transitive closure of all roots: {speed:.0} million references a second"),
        took,
        "hash sets",
        Some(naive),
    );
    let (plain, took, _) = beside(|| walk(heap), || closures.of(&all, &progress).expect("not cancelled"));
    row("deep and retained sets of all that roots hold", took, "walk", Some(plain));
    // A hundred objects of all over the heap that lead to little.
    let small = (0..).map(|i: u64| ObjectId((i * 1_000_003 % n as u64) as u32)).take(n);
    let leads_little = |o: &ObjectId| {
        (2..100).contains(&closures.reached(&set(&mut std::iter::once(*o)), &progress).map_or(0, |found| found.count()))
    };
    let small: Vec<ObjectId> = small.filter(leads_little).take(100).collect();
    let group = set(&mut small.iter().copied());
    let (plain, took, found) = beside(|| walk(heap), || closures.of(&group, &progress).expect("not cancelled"));
    let what = format!("deep and retained sets of {} objects, which reach {}", small.len(), found.deep.count());
    row(&what, took, "walk", Some(plain));
    let of = heap.objects().map(|o| u32::from(group.contains(o.0))).collect();
    let groups = Arc::new(ObjectGroups::new(of, vec![Box::default(), vec![0].into()], 1));
    let checked = GroupClosures::new(heap, rules, groups).retained(&[0], &progress).expect("not cancelled");
    assert_eq!(checked, [closures.amount(&found.retained)]);
}

/// All data structures of the heap.
fn structures(heap: &HeapState) {
    let progress = Progress::new();
    let descriptions = Descriptions::of(heap.profile()).expect("shipped descriptions");
    let rules = || StructureRules::new(heap, &descriptions, &progress).expect("not cancelled");
    let found = || FoundStructures::new(heap, &rules(), Some(heap.reachable()), &progress).expect("not cancelled");
    heap.reachable();
    let (plain, took, all) = beside(|| walk(heap), found);
    let (heads, bytes) = (all.heads().len(), all.memory() as f64 / heap.object_count() as f64);
    row(&format!("{heads} data structures, {bytes:.1} bytes an object"), took, "walk", Some(plain));
}

/// About three hundred thousand groups of neighbouring objects.
fn fine(heap: &HeapState) {
    let (rules, progress) = (KeepRules::default(), Progress::new());
    let size = (heap.object_count() as u32 / 300_000).max(2);
    let of: Vec<u32> = heap.objects().map(|o| o.0 / size).collect();
    let count = of.last().map_or(0, |last| last + 1);
    let groups = Arc::new(ObjectGroups::new(of, (0..count).map(|g| vec![g].into()).collect(), count as usize));
    let all: Vec<u32> = (0..count).collect();
    let closures = GroupClosures::new(heap, rules, groups);
    let begun = Instant::now();
    let found = closures.retained(&all, &progress).expect("not cancelled");
    let took = begun.elapsed();
    let some: Vec<u32> = all.iter().copied().step_by((count as usize / 50).max(1)).take(63).collect();
    let (plain, part, checked) = beside(|| walk(heap), || closures.retained(&some, &progress).expect("not cancelled"));
    row(&format!("retained amounts of {} groups of {size} neighbouring objects", all.len()), took, "walk", Some(plain));
    row(&format!("the same of {} of them", some.len()), part, "walk", Some(plain));
    assert_eq!(checked, some.iter().map(|&group| found[group as usize]).collect::<Vec<_>>());
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
