//! Real traces of the AntTracks VM against the class histograms that VM wrote at the end of every full GC.

use memory_city_formats::anttracks::{AntTracks, find_run};
use memory_city_formats::event::{Decoder, GcKind, Step};
use memory_city_formats::replay::{Collection, Inconsistencies, Moment, Replay};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Allocator, HeapState, ObjectId, RootKind, SpaceKind};
use memory_city_testing::class_names::source_name;
use memory_city_testing::collections::Collections;
use memory_city_testing::root;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

fn data(set: &str) -> PathBuf {
    root().join("tests/data/anttracks").join(set)
}

/// Objects and bytes by type.
type Histogram = BTreeMap<String, (u64, u64)>;

/// The histograms in the VM's output, in order.
fn histograms(set: &str) -> Vec<Histogram> {
    let file = std::fs::File::open(data(set).join("stdout.txt.zst")).expect("the output");
    let mut text = String::new();
    zstd::stream::read::Decoder::new(file).expect("zstd").read_to_string(&mut text).expect("text");
    let mut all = Vec::new();
    let mut current: Option<Histogram> = None;
    for line in text.lines() {
        if line.contains("[Class Histogram (after full gc)") {
            all.extend(current.take());
            current = Some(Histogram::new());
        } else if let Some(histogram) = &mut current {
            let parts: Vec<&str> = line.split_whitespace().collect();
            if let [rank, objects, bytes, name] = parts[..]
                && rank.ends_with(':')
            {
                histogram.insert(source_name(name), (objects.parse().expect("objects"), bytes.parse().expect("bytes")));
            } else if parts.first() == Some(&"Total") {
                all.extend(current.take());
            }
        }
    }
    all.extend(current);
    all
}

/// Where the data sets are, and what is known of each: GCs, full GCs.
const SETS: [(&str, usize, usize); 7] = [
    ("churn-g1", 3, 2),
    ("churn-par-comp", 6, 2),
    ("churn-par-noptr", 6, 2),
    ("churn-parallel", 8, 2),
    ("person-leak-cms", 6, 6),
    ("person-leak-g1", 6, 6),
    ("person-leak-parallel", 12, 6),
];

/// Replays a data set and shows the heap at the end of every GC.
fn at_every_gc(set: &str, mut look: impl FnMut(&Collection, HeapState)) {
    let run = find_run(&[data(set)]).expect("readable").expect("a run");
    let files = run.open(&Progress::new()).expect("files");
    let mut decoder = AntTracks::new(Arc::clone(&files));
    let mut replay = Replay::new(Arc::clone(files.program()), Collections::default());
    loop {
        replay.stop_at(Moment { gc: replay.interval(), end: true });
        let step = decoder.step(&mut replay).unwrap_or_else(|e| panic!("{set}: {e}"));
        if replay.stopped() {
            let collection = *replay.observer.0.last().expect("a GC");
            assert_eq!(replay.stale_references(), 0, "{set}: references to dead objects");
            look(&collection, replay.state());
        }
        if step == Step::End {
            break;
        }
    }
    assert_eq!(replay.inconsistencies(), Inconsistencies::default(), "{set}");
    assert_eq!(decoder.warnings(), [], "{set}");
}

fn histogram(heap: &HeapState) -> Histogram {
    let mut histogram = Histogram::new();
    for o in heap.objects() {
        let entry = histogram.entry(heap.types()[heap.type_of(o).0 as usize].name.clone()).or_default();
        entry.0 += 1;
        entry.1 += heap.size_of(o);
    }
    histogram
}

#[test]
fn every_type_of_every_data_set_equals_the_histogram_of_the_vm() {
    for (set, gcs, full) in SETS {
        let expected = histograms(set);
        assert_eq!(expected.len(), full, "{set}");
        let mut found = Vec::new();
        let mut ended = 0;
        at_every_gc(set, |collection, heap| {
            ended += 1;
            if collection.kind == GcKind::Major {
                found.push(histogram(&heap));
            }
        });
        assert_eq!((ended, found.len()), (gcs, full), "{set}");
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let names: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
            let wrong: Vec<_> = names
                .into_iter()
                .filter(|n| found.get(*n) != expected.get(*n))
                .map(|n| (n, found.get(n), expected.get(n)))
                .collect();
            assert!(wrong.is_empty(), "{set}, full GC {}: (type, found, VM) {wrong:?}", i + 1);
        }
    }
}

#[test]
fn references_are_what_the_program_built() {
    // The VM reports no references under CMS.
    for set in ["person-leak-parallel", "person-leak-g1"] {
        let mut last = None;
        at_every_gc(set, |_, heap| last = Some(heap));
        let heap = last.expect("a GC");
        let name = |o: ObjectId| heap.types()[heap.type_of(o).0 as usize].name.as_str();
        let mut nodes = 0;
        for node in heap.objects().filter(|&o| name(o) == "java.util.LinkedList$Node") {
            let mut targets: Vec<&str> = heap.references(node).iter().map(|&t| name(t)).collect();
            targets.sort_unstable();
            // The ends of the list have one neighbour.
            let neighbours = targets.iter().filter(|t| **t == "java.util.LinkedList$Node").count();
            assert!(neighbours == 2 || neighbours == 1, "{set}: {targets:?}");
            assert_eq!(targets.iter().filter(|t| **t == "PersonLeak8$Person").count(), 1, "{set}: {targets:?}");
            assert_eq!(targets.len(), neighbours + 1);
            nodes += 1;
            for &next in heap.references(node).iter().filter(|&&t| name(t) == "java.util.LinkedList$Node") {
                assert!(heap.references(next).contains(&node), "{set}: neighbours know each other");
            }
        }
        assert_eq!(nodes, 4800, "{set}");
        for person in heap.objects().filter(|&o| name(o) == "PersonLeak8$Person") {
            let targets: Vec<&str> = heap.references(person).iter().map(|&t| name(t)).collect();
            assert_eq!(targets, ["java.lang.String"; 2], "{set}");
            for &text in heap.references(person) {
                assert_eq!(heap.references(text).iter().map(|&t| name(t)).collect::<Vec<_>>(), ["char[]"], "{set}");
            }
        }
    }
}

#[test]
fn roots_carry_their_kind() {
    let mut kinds = BTreeSet::new();
    let mut threads = BTreeSet::new();
    at_every_gc("person-leak-parallel", |_, heap| {
        for root in heap.roots() {
            kinds.insert(root.kind);
            if root.kind == RootKind::LocalVariable {
                threads.insert(root.detail.clone());
            }
        }
    });
    for kind in [RootKind::ClassLoader, RootKind::Jni, RootKind::LocalVariable, RootKind::Other] {
        assert!(kinds.contains(&kind), "{kind:?} of {kinds:?}");
    }
    assert!(threads.contains("stack of thread \"main\""), "{threads:?}");
}

#[test]
fn objects_know_where_they_come_from() {
    let mut last = None;
    at_every_gc("person-leak-parallel", |_, heap| last = Some(heap));
    let heap = last.expect("a GC");
    let origins = heap.origins().expect("a trace knows origins");
    let mut births = BTreeSet::new();
    for o in heap.objects().filter(|&o| heap.types()[heap.type_of(o).0 as usize].name == "PersonLeak8$Person") {
        let facts = heap.facts(o);
        let life = facts.life.expect("a life");
        assert_eq!(&**life.thread, "main");
        assert_eq!(life.space, SpaceKind::Old);
        assert!(facts.site[0].starts_with("PersonLeak8.main(String[]):"), "{:?}", facts.site);
        assert!([Allocator::Interpreter, Allocator::C1, Allocator::C2].contains(&life.allocator));
        births.insert(origins.of(o.0 as usize).birth);
    }
    // Every step of the program allocates, and ends with a minor and a full GC.
    assert_eq!(births, (0..12).step_by(2).collect());
}
