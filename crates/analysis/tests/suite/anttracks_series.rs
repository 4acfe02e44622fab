//! Traces as a series of heap states: any GC at once, the index behind it, lives of objects, and trees over time.

use memory_city_analysis::analyses::report::{ReportOptions, report};
use memory_city_analysis::group::{self, ByFunction, Classifier, GroupOptions, Grouping, Reads};
use memory_city_analysis::timeline::{self, AUTO, GrowingTree, History, NodeId, Timeline, TimelineBuilder};
use memory_city_formats::HeapSeries;
use memory_city_formats::anttracks::{AntTracksSource, find_run};
use memory_city_formats::recorded::{ObjectPlace, RecordedSeries, open_with_cache};
use memory_city_heap::error::Warning;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, Identity};
use memory_city_testing::anttracks::{Collector, Generated, Spec, generate};
use memory_city_testing::{anttracks, root};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A generated run on disk.
struct Run {
    folder: TempDir,
    generated: Generated,
}

impl Run {
    fn new(spec: &Spec) -> Run {
        let folder = tempfile::tempdir().expect("a folder");
        let mut trace = Vec::new();
        let generated = generate(spec, &mut trace).expect("written to memory");
        std::fs::create_dir(folder.path().join("run")).expect("made");
        std::fs::write(folder.path().join("run/trace"), trace).expect("written");
        std::fs::write(folder.path().join("run/symbols"), &generated.symbols).expect("written");
        Run { folder, generated }
    }

    /// Long enough for several checkpoints.
    fn long(collector: Collector, pointers: bool) -> Run {
        Run::new(&Spec {
            seed: 7,
            collector,
            pointers,
            live_objects: 3000,
            allocations_per_gc: 20_000,
            survivors_percent: 4,
            gcs: u32::MAX,
            full_gc_every: 9,
            answers: false,
            stop_at_bytes: Some(if pointers { 24 << 20 } else { 16 << 20 }),
            ..Spec::default()
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn open(&self, cache: Option<&Path>) -> RecordedSeries<AntTracksSource> {
        open(&self.path(), cache)
    }

    /// The files in the cache.
    fn cached(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.cache()).expect("a cache");
        entries.map(|e| e.expect("an entry").path()).collect()
    }
}

fn open(path: &Path, cache: Option<&Path>) -> RecordedSeries<AntTracksSource> {
    let run = find_run(&[path.to_owned()]).expect("readable").expect("a run");
    let source = AntTracksSource::open(run, &Progress::new()).expect("files");
    open_with_cache(source, cache, &Progress::new(), &mut |_| {}).expect("a series")
}

/// All that a heap state says, in a form that can be compared.
#[derive(Debug, PartialEq)]
struct Portrait {
    objects: Vec<(u64, u32, u64, String, Identity)>,
    references: Vec<Vec<u32>>,
    roots: Vec<(u32, String)>,
}

fn portrait(heap: &HeapState) -> Portrait {
    let origins = heap.origins().expect("origins");
    let object = |o: memory_city_heap::ObjectId| {
        let facts = heap.facts(o);
        let life = facts.life.as_ref().expect("a life");
        let origin = format!(
            "{:?} {:?} {} {:?} {:?} {}",
            facts.length, facts.site, life.thread, life.allocator, life.space, life.age
        );
        (heap.address(o).expect("an address"), heap.type_of(o).0, facts.size, origin, origins.identity(o.0 as usize))
    };
    Portrait {
        objects: heap.objects().map(object).collect(),
        references: heap.objects().map(|o| heap.references(o).iter().map(|t| t.0).collect()).collect(),
        roots: heap.roots().iter().map(|r| (r.object.0, format!("{:?} {}", r.kind, r.detail))).collect(),
    }
}

/// Every state in order, without any index.
fn sequential(run: &Run) -> Vec<Portrait> {
    let series = run.open(None);
    (0..series.points().len()).map(|i| portrait(&series.load(i, &Progress::new()).expect("a state"))).collect()
}

#[test]
fn any_gc_is_the_same_however_it_is_reached() {
    for (collector, pointers) in [(Collector::Parallel, false), (Collector::Parallel, true), (Collector::G1, true)] {
        let run = Run::long(collector, pointers);
        let expected = sequential(&run);
        let points = expected.len();
        assert!(points > 40, "{points} points");
        let first = run.open(Some(&run.cache()));
        assert!(first.checkpoints() >= 2, "{} checkpoints", first.checkpoints());
        drop(first);
        // From the index alone, without a first reading.
        let series = run.open(Some(&run.cache()));
        assert!(series.checkpoints() >= 2);
        // Far ones, near ones, forward and back; in an order that every run shares.
        let mut order: Vec<usize> = (0..points).step_by(3).chain((0..points).rev().step_by(7)).collect();
        order.sort_by_key(|i| i.wrapping_mul(0x9e37_79b9) % 1009);
        for i in order {
            let state = series.load(i, &Progress::new()).expect("a state");
            assert!(portrait(&state) == expected[i], "{collector:?}, point {i}");
        }
    }
}

#[test]
fn an_index_is_used_again_and_made_anew_when_it_does_not_fit() {
    let run = Run::long(Collector::Parallel, false);
    let points = |series: RecordedSeries<AntTracksSource>| {
        let series: Arc<dyn HeapSeries> = Arc::new(series);
        let history = History::build(Arc::clone(&series), "type-site", GroupOptions::default(), &Progress::new());
        (series.points().to_vec(), series.warnings(), amounts(history.expect("a history").timeline()))
    };
    let expected = points(run.open(Some(&run.cache())));
    let [index] = &run.cached()[..] else { panic!("one file") };
    let written = std::fs::read(index).expect("the index");

    // What is in the trace is not looked at: only its size and its time of change.
    let trace = run.path().join("trace");
    let bytes = std::fs::read(&trace).expect("the trace");
    let time = trace.metadata().expect("metadata").modified().expect("a time");
    let mut other = bytes.clone();
    let header = 4 + 4 + 4 * anttracks::HEADER_WORDS + 8;
    other[header..].fill(0xff);
    write_at(&trace, &other, time);
    assert_eq!(points(run.open(Some(&run.cache()))), expected);
    write_at(&trace, &bytes, time);

    // Changed since.
    write_at(&trace, &bytes, time + Duration::from_secs(5));
    assert_eq!(points(run.open(Some(&run.cache()))), expected);
    assert_ne!(std::fs::read(index).expect("the index"), written, "it was written anew");
    write_at(&trace, &bytes[..bytes.len() - 40_000], time);
    assert_ne!(points(run.open(Some(&run.cache()))).1, expected.1, "the end is missing, and that is said");
    write_at(&trace, &bytes, time);
    assert_eq!(points(run.open(Some(&run.cache()))), expected);

    // Damaged anywhere, or cut: the trace is read again, and the picture is the same.
    let written = std::fs::read(index).expect("the index");
    let places =
        [0, 5, 9, written.len() / 3, written.len() / 2, written.len() - 30, written.len() - 12, written.len() - 1];
    for at in places {
        let mut damaged = written.clone();
        damaged[at] ^= 0x10;
        std::fs::write(index, &damaged).expect("written");
        let series = run.open(Some(&run.cache()));
        let last = series.load(series.points().len() - 1, &Progress::new()).expect("a state");
        assert!(last.object_count() > 1000);
        assert!(points(series) == expected, "byte {at}");
    }
    for length in [0, 7, 8, 20, written.len() / 2, written.len() - 1] {
        std::fs::write(index, &written[..length]).expect("written");
        assert_eq!(points(run.open(Some(&run.cache()))), expected, "{length} bytes");
    }
    assert_eq!(run.cached(), std::slice::from_ref(index), "nothing else is left behind");
}

fn write_at(path: &Path, bytes: &[u8], time: SystemTime) {
    std::fs::write(path, bytes).expect("written");
    std::fs::File::options().append(true).open(path).and_then(|f| f.set_modified(time)).expect("a time");
}

#[test]
fn without_a_cache_everything_works_and_nothing_is_left_after_a_cancelled_reading() {
    let run = Run::long(Collector::Parallel, false);
    let series = run.open(Some(Path::new("/proc/no/such/folder")));
    assert!(series.checkpoints() > 0, "they are kept in memory");
    let told = |w: &Warning| w.path.starts_with("/proc/no/such/folder") && w.message.contains("can be kept");
    assert!(series.warnings().iter().any(told), "{:?}", series.warnings());
    let last = series.points().len() - 1;
    let state = series.load(last, &Progress::new()).expect("a state");
    assert!(state.object_count() > 1000);
    assert!(series.load(last / 2, &Progress::new()).is_ok());

    let progress = Progress::new();
    let source =
        AntTracksSource::open(find_run(&[run.path()]).expect("readable").expect("a run"), &progress).expect("files");
    progress.cancel();
    assert!(open_with_cache(source, Some(&run.cache()), &progress, &mut |_| {}).is_err());
    assert_eq!(run.cached(), [] as [PathBuf; 0]);
}

#[test]
fn lives_are_what_the_generator_knows() {
    for collector in [Collector::Parallel, Collector::G1] {
        let run = Run::new(&Spec { collector, gcs: 14, full_gc_every: 5, ..Spec::default() });
        let series = run.open(Some(&run.cache()));
        let mut known: HashMap<u64, Vec<(u32, u64)>> = HashMap::new();
        for (gc, answer) in run.generated.answers.iter().enumerate() {
            for object in &answer.objects {
                known.entry(object.identity).or_default().push((gc as u32, object.address));
            }
        }
        for gc in [0usize, 3, 8, 13] {
            let heap = series.load(2 * gc + 1, &Progress::new()).expect("a state");
            let origins = heap.origins().expect("origins");
            let objects = &run.generated.answers[gc].objects;
            for at in (0..objects.len()).step_by(objects.len() / 12 + 1) {
                let life = series.life(origins.identity(at), &Progress::new()).expect("a life");
                let places: Vec<(u32, u64)> =
                    life.places.iter().map(|p: &ObjectPlace| (p.gc, p.address.expect("an address"))).collect();
                let expected = &known[&objects[at].identity];
                assert_eq!(&places, expected);
                let last = expected.last().expect("a place").0;
                assert_eq!(life.death, (last < 13).then_some(last + 1));
                assert_eq!(run.generated.answers[life.birth as usize].number, objects[at].birth_gc);
            }
        }
    }
}

/// Amounts by path and time, without what is empty.
type Trees = Vec<BTreeMap<Vec<String>, (u64, u64)>>;

fn amounts(timeline: &Timeline) -> Trees {
    let path = |node: NodeId| {
        let mut path: Vec<String> = std::iter::successors(Some(node), |&n| timeline.parent(n))
            .map(|n| format!("{} {}", timeline.role(n), timeline.name(n)))
            .collect();
        path.reverse();
        path
    };
    let at = |time: usize| {
        let all = timeline.nodes().map(|n| (path(n), timeline.amount(time, n)));
        all.filter(|(_, a)| a.objects > 0).map(|(p, a)| (p, (a.objects, a.bytes))).collect()
    };
    (0..timeline.times()).map(at).collect()
}

/// The trees that a history makes from changes alone equal grouping every heap state anew. For every grouping, at the
/// ends of all collections and at their starts.
#[test]
fn trees_that_follow_changes_equal_trees_from_scratch() {
    let mut runs: Vec<(String, Arc<dyn HeapSeries>, Option<Run>)> = Vec::new();
    for (collector, pointers) in [(Collector::Parallel, true), (Collector::G1, false)] {
        let spec = Spec { seed: 5, collector, pointers, gcs: 10, full_gc_every: 3, ..Spec::default() };
        let run = Run::new(&spec);
        let series = Arc::new(run.open(None));
        runs.push((format!("{collector:?}"), series, Some(run)));
    }
    let data = root().join("tests/data/anttracks/churn-g1");
    runs.push(("churn-g1".into(), Arc::new(open(&data, None)), None));
    for (name, series, _run) in runs {
        let known = (0..series.points().len()).fold(Reads::empty(), |known, i| {
            known | Reads::known_of(&series.load(i, &Progress::new()).expect("a state"))
        });
        for grouping in group::groupings() {
            for gc_starts in [false, true] {
                let options = GroupOptions { gc_starts, ..GroupOptions::default() };
                let history = History::build(Arc::clone(&series), &grouping.id, options, &Progress::new());
                let unknown = Reads::all() - known;
                if grouping.reads().intersects(unknown) {
                    // What the input lacks is said.
                    let error = history.err().expect("not all is known").to_string();
                    assert!(error.contains(&grouping.reads().intersection(unknown).names()), "{error}");
                    continue;
                }
                let history = history.expect("a history");
                let points = (0..series.points().len()).filter(|i| gc_starts || i % 2 == 1);
                let mut builder = TimelineBuilder::default();
                for i in points {
                    let heap = series.load(i, &Progress::new()).expect("a state");
                    let grouped = group::group(&heap, &grouping, options, &Progress::new()).expect("grouped");
                    builder.add(Default::default(), &grouped.tree);
                }
                let (found, expected) = (amounts(history.timeline()), amounts(&builder.finish()));
                assert_eq!(found.len(), expected.len());
                for (time, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let wrong = || {
                        let paths = found.keys().chain(expected.keys());
                        paths
                            .filter(|p| found.get(*p) != expected.get(*p))
                            .map(|p| (p, found.get(p), expected.get(p)))
                            .next()
                    };
                    assert!(found == expected, "{name}, {}, {gc_starts}, {time}: {:?}", grouping.id, wrong());
                }
            }
        }
    }
}

/// A recording knows of the lengths of arrays only whether they are big. A grouping by length asks the heap states, which
/// know them exactly; one that could follow the changes gives the same trees when it asks the states.
#[test]
fn groupings_by_object_ask_the_heap_states_of_a_trace() {
    let data = root().join("tests/data/anttracks/churn-g1");
    let series: Arc<dyn HeapSeries> = Arc::new(open(&data, None));
    let recording = series.recording().expect("a recording");
    let by_length = group::grouping("array-length(exact)").expect("a grouping");
    let error = GrowingTree::new(recording, &by_length).err().expect("a recording does not know").to_string();
    assert!(error.contains("array lengths"), "{error}");
    let options = GroupOptions::default();
    let history = History::build_with(Arc::clone(&series), by_length, options, &Progress::new()).expect("a history");
    let mut lengths = BTreeMap::new();
    for (time, found) in amounts(history.timeline()).into_iter().enumerate() {
        let heap = series.load(2 * time + 1, &Progress::new()).expect("a state");
        let mut expected: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
        for o in heap.objects() {
            let length = heap.array_length(o).map_or("Not an array".into(), |l| format!("Length {l}"));
            for path in [vec!["Heap Heap".to_owned()], vec!["Heap Heap".to_owned(), format!("Array length {length}")]] {
                let amount = expected.entry(path).or_default();
                *amount = (amount.0 + 1, amount.1 + heap.size_of(o));
            }
            lengths.insert(heap.array_length(o), ());
        }
        assert_eq!(found, expected);
    }
    assert!(lengths.len() > 10, "lengths are told apart: {}", lengths.len());

    // The same trees from heap states as from changes.
    let each = |classifier: &Arc<dyn Classifier>| -> Arc<dyn Classifier> {
        let meta = classifier.meta().clone();
        let (reads, inner) = (meta.reads | Reads::ID, Arc::clone(classifier));
        Arc::new(ByFunction::new(meta.reads(reads), move |object, values| inner.classify(object, values)))
    };
    for list in ["type>site", "age>thread>kind", "space>subsystem>package>type"] {
        let grouping = group::grouping(list).expect("a grouping");
        let by_object = Arc::new(Grouping::new("each", grouping.classifiers.iter().map(each).collect()));
        let [changes, states] = [grouping, by_object].map(|grouping| {
            History::build_with(Arc::clone(&series), grouping, options, &Progress::new()).expect("a history")
        });
        assert_eq!(amounts(changes.timeline()), amounts(states.timeline()), "{list}");
    }
}

/// Missing data of a trace is named, before and after loading a state.
#[test]
fn a_trace_without_references_says_so() {
    let spec = Spec { seed: 5, pointers: false, gcs: 4, ..Spec::default() };
    let run = Run::new(&spec);
    let series: Arc<dyn HeapSeries> = Arc::new(run.open(None));
    let history =
        |grouping: &str| History::build(Arc::clone(&series), grouping, GroupOptions::default(), &Progress::new());
    let by_type = history("type").expect("a history");
    let loaders = group::grouping("loaders").expect("a grouping");
    assert_eq!(by_type.offers(&loaders), Err("Needs the parents of class loaders, which a trace does not hold".into()));
    let error = history("type>points-to").err().expect("no references").to_string();
    assert!(error.contains("references between objects"), "{error}");
    let by_length = history("array-length").expect("a history");
    let points_to = group::grouping("points-to").expect("a grouping");
    let reason = "Needs references between objects, which this trace does not hold";
    assert_eq!(by_length.offers(&points_to), Err(reason.into()));
    assert_eq!(by_length.offers(&group::grouping("type>site").expect("a grouping")), Ok(()));
}

/// What somebody with a leak reads: every GC, and for what grows where it was allocated and what holds it.
#[test]
fn the_report_of_a_recorded_leak_names_the_line_that_allocates_it() {
    let data = root().join("tests/data/anttracks/person-leak-parallel");
    let series: Arc<dyn HeapSeries> = Arc::new(open(&data, None));
    let history = History::build(series, AUTO, GroupOptions::default(), &Progress::new()).expect("a history");
    let options = ReportOptions { top: 4, ..ReportOptions::default() };
    let report = report(&timeline::Source::Heaps(history), &options, &Progress::new()).expect("a report");
    insta::assert_snapshot!(report.to_string());
}
