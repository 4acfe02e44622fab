//! Memory trees exported as JSON and opened again are the same city: from dumps, traces, and trees themselves.
//!
//! The exporter collects all references in one pass; the oracle asks for those of each group by itself.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::references::ReferenceMap;
use memory_city_analysis::timeline::{NodeId, Source, Timeline, json};
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use memory_city_views::city::{CityConfig, CityPlan};
use std::path::{Path, PathBuf};

fn open(path: &Path, grouping: &str) -> Source {
    Source::open(&[path.to_owned()], grouping, GroupOptions::default(), &Progress::new()).expect("a source")
}

/// Exports, and opens what was written.
fn again(source: &Source, folder: &Path, name: &str) -> (Source, PathBuf) {
    let path = folder.join(name);
    let references = |time: usize| source.time_references(time, &Progress::new());
    json::save(source.timeline(), Some(&references), &path, &Progress::new()).expect("a file");
    (open(&path, "auto"), path)
}

fn same_trees(a: &Timeline, b: &Timeline) {
    assert_eq!(a.points(), b.points());
    assert_eq!(a.len(), b.len());
    for (x, y) in a.nodes().zip(b.nodes()) {
        assert_eq!((a.name(x), a.role(x), a.parent(x)), (b.name(y), b.role(y), b.parent(y)));
        assert_eq!(a.display_name(x), b.display_name(y));
        assert_eq!(a.max(x), b.max(y));
        for t in 0..a.times() {
            assert_eq!(a.amount(t, x), b.amount(t, y), "{} at {t}", a.key(x));
        }
    }
    let plans = [a, b].map(|timeline| CityPlan::new(timeline, &CityConfig::default()));
    assert_eq!(plans[0].plots, plans[1].plots);
    assert_eq!(plans[0].districts, plans[1].districts);
}

/// The references of each leaf, and of the district above it, at some times.
fn same_references(a: &Source, b: &Source, times: &[usize]) {
    let timeline = a.timeline();
    let progress = Progress::new();
    let mut seen = 0;
    for &t in times {
        for node in timeline.nodes().filter(|&n| timeline.amount(t, n).objects > 0) {
            let [one, other] = [a, b].map(|s| s.references(t, node, &progress).expect("references").expect("known"));
            if timeline.is_leaf(node) {
                // How many weak references there are is in heaps alone.
                let told = ReferenceMap { weak: (0, 0), ..ReferenceMap::clone(&one) };
                assert_eq!(told, *other, "{} at {t}", timeline.key(node));
                seen += one.incoming.len();
                continue;
            }
            // Of a district, sums over its buildings: who takes part is the same, and nothing is counted too low.
            let others = |edges: &[memory_city_analysis::timeline::references::Edge]| {
                let mut all: Vec<(NodeId, u64)> = edges.iter().map(|e| (e.other, e.references)).collect();
                all.sort();
                all
            };
            assert_eq!(others(&one.incoming), others(&other.incoming), "{} at {t}", timeline.key(node));
            assert_eq!(others(&one.outgoing), others(&other.outgoing));
            assert_eq!((one.internal, &one.roots), (other.internal, &other.roots));
        }
    }
    assert!(seen > 20, "hardly any references: {seen}");
}

#[test]
fn dumps() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = root().join("sample-data/person-leak");
    for (grouping, name) in [("package-type", "city.json.gz"), ("type", "deep/city.jsonl.zst")] {
        let source = open(&sample, grouping);
        let (read, path) = again(&source, folder.path(), name);
        assert_eq!(read.warnings(), []);
        assert!(read.heaps().is_none());
        same_trees(source.timeline(), read.timeline());
        let last = source.timeline().times() - 1;
        same_references(&source, &read, &[0, last]);
        // And once more from there: nothing is lost on the second way either.
        let (twice, twice_path) = again(&read, folder.path(), "twice.json.zst");
        same_trees(source.timeline(), twice.timeline());
        same_references(&read, &twice, &[last]);
        let bytes = |path: &Path| std::fs::metadata(path).expect("a file").len();
        assert!(bytes(&path) > 1000 && bytes(&twice_path) > 1000);
    }
}

#[test]
fn traces_with_their_collections() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = root().join("tests/data/anttracks/person-leak-parallel");
    for grouping in ["type-site", "package-type"] {
        let source = open(&data, grouping);
        let (read, _) = again(&source, folder.path(), "trace.jsonl");
        assert_eq!(read.warnings(), []);
        same_trees(source.timeline(), read.timeline());
        assert!(read.timeline().points().iter().all(|p| p.gc.is_some()));
        let last = source.timeline().times() - 1;
        same_references(&source, &read, &[last]);
    }
}

#[test]
fn trees_cannot_be_grouped_anew_and_say_why() {
    let path = root().join("sample-data/json/all-times.json");
    let source = open(&path, "type");
    let warnings = source.warnings();
    assert!(warnings.iter().any(|w| w.message.contains("grouping type was not applied")), "{warnings:?}");
    let error = source.regroup("type", GroupOptions::default(), &Progress::new()).err().expect("refused").to_string();
    assert!(error.contains("Open heap dumps or a memory trace"), "{error}");
}

#[test]
fn inputs_are_told_apart_by_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = root();
    // Named like a dump.
    let trees = folder.path().join("heap.hprof");
    std::fs::copy(root.join("sample-data/json/all-times.json"), &trees).expect("a copy");
    assert!(open(&trees, "auto").heaps().is_none());
    let dump = std::fs::read_dir(root.join("sample-data/person-leak")).expect("the sample");
    let dump = dump.flatten().map(|e| e.path()).find(|p| p.to_string_lossy().contains("hprof")).expect("a dump");
    let open_all = |paths: &[PathBuf]| Source::open(paths, "auto", GroupOptions::default(), &Progress::new());
    let mixed = open_all(&[trees.clone(), dump.clone()]).err().expect("refused").to_string();
    assert!(
        mixed.contains("heap.hprof holds memory trees in JSON") && mixed.contains("one after the other"),
        "{mixed}"
    );
    // An export beside dumps does not hide them.
    std::fs::copy(&dump, folder.path().join("1.json")).expect("a copy");
    assert!(open(folder.path(), "auto").heaps().is_some());
    // Other JSON is told what it lacks.
    let other = folder.path().join("other.json");
    std::fs::write(&other, "{\"nodes\": []}").expect("a file");
    let message = open_all(&[other]).err().expect("refused").to_string();
    assert!(message.contains("no \"format\""), "{message}");
}
