//! Recordings without walks, grouped by the classifiers of heap states. Samples are grouped as their objects would be,
//! class histograms by all that follows from a class.

use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{AUTO, Amount, Metric, NodeId, Source, Timeline};
use memory_city_formats::wire::{CountStream, StreamCount};
use memory_city_heap::progress::Progress;
use memory_city_wire::{
    ClassRow, DeathRow, GcRow, RunRow, SampleRow, SettingRow, ThreadRow, TraceOptions, TraceTables, TraceWriter,
    WalkObject, WalkSampleRow, WalkStartRow,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Name and kind of each class.
const CLASSES: [(&str, u32); 4] = [("shop.Cart", 0), ("shop.Cart[]", 1), ("java.util.ArrayList", 0), ("byte[]", 2)];
const THREADS: [&str; 3] = ["main", "worker-1", "worker-2"];
/// Frames of each stack, innermost first.
const STACKS: [&[&str]; 4] = [
    &["shop.Cart.add"],
    &["java.util.ArrayList.grow", "shop.Cart.add", "shop.Main.main"],
    &["java.util.ArrayList.grow"],
    &[],
];
/// A millisecond in nanoseconds.
const MILLI: u64 = 1_000_000;
/// From one collection to the next, milliseconds.
const ROUND: u64 = 10;

/// An allocation that was sampled.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    class: usize,
    thread: usize,
    stack: usize,
    /// Born before the collection of this number.
    born: u64,
    /// Found dead behind this one.
    died: Option<u64>,
    elements: u32,
    /// So many allocations like it.
    weight: u64,
}

impl Sampled {
    fn size(&self) -> u64 {
        16 + if CLASSES[self.class].1 == 0 { 8 } else { 4 * u64::from(self.elements) }
    }

    fn is_alive_after(&self, gc: u64) -> bool {
        self.born <= gc && self.died.is_none_or(|died| died > gc)
    }
}

fn samples(weights: impl Strategy<Value = u64> + Clone + 'static) -> impl Strategy<Value = Vec<Sampled>> {
    let one =
        (0..CLASSES.len(), 0..THREADS.len(), 0..STACKS.len(), 0u64..6, prop::option::of(0u64..4), 0u32..400, weights);
    let one = one.prop_map(|(class, thread, stack, born, lived, elements, weight)| {
        let died = lived.map(|lived| born + lived).filter(|died| *died < 6);
        Sampled { class, thread, stack, born, died, elements, weight }
    });
    // There is always a time to be shown: one that dies at once, and one that stays.
    let fixed = |died| Sampled { class: 0, thread: 0, stack: 0, born: 0, died, elements: 0, weight: 1 };
    prop::collection::vec(one, 0..40).prop_map(move |more| [vec![fixed(Some(0)), fixed(None)], more].concat())
}

/// What is written of a recording beside its samples.
#[derive(Clone, Copy, Default)]
struct Written {
    /// Walks at the end of each collection at which something was found dead.
    walks: bool,
    /// Lengths of arrays.
    lengths: bool,
    /// From this collection on one in three is followed.
    thinned: Option<u64>,
}

/// Writes them, with six collections.
fn record(path: &Path, samples: &[Sampled], written: Written) {
    let mut writer = TraceWriter::create_file(path, TraceOptions::default()).expect("a writer");
    let mut tables = TraceTables::new(1000);
    let classes = CLASSES.map(|(name, kind)| {
        let name = tables.string(name).expect("a number");
        let element = if kind == 0 { 0 } else { 4 };
        tables.class(ClassRow { name, kind, base: 16, element, ..ClassRow::default() })
    });
    let threads = THREADS.map(|name| {
        let name = tables.string(name).expect("a number");
        tables.thread(ThreadRow { name, ..ThreadRow::default() })
    });
    let stacks = STACKS.map(|frames| {
        frames.iter().rev().fold(None, |caller, frame| {
            let (class, name) = frame.rsplit_once('.').expect("a class");
            let method = tables.method(class, name, Some("()"), None, Vec::new).expect("a method");
            tables.frame(caller, method, None)
        })
    });
    tables.write_new(&mut writer).expect("written");
    let fact = |key: &str, value: &str| RunRow { key: key.into(), value: value.into() };
    writer.write(&[fact("recording.started", "1700000000000")]).expect("written");
    let end = |gc: u64| (gc + 1) * ROUND * MILLI;
    let row = |(id, of): (u64, &Sampled)| SampleRow {
        id,
        time: end(of.born) - 5 * MILLI,
        thread: threads[of.thread],
        class: classes[of.class],
        size: of.size(),
        length: (written.lengths && CLASSES[of.class].1 > 0).then_some(of.elements),
        weight: of.weight << 16,
        stack: stacks[of.stack],
        gcs: of.born as u32,
        ..SampleRow::default()
    };
    writer.write(&(0..).zip(samples).map(row).collect::<Vec<_>>()).expect("written");
    for gc in 0..6 {
        if written.thinned == Some(gc) {
            let (key, value) = ("sampling.followed-one-in".to_owned(), "3".to_owned());
            writer.write(&[SettingRow { time: end(gc) - 2 * MILLI, key, value }]).expect("written");
        }
        let row = GcRow { number: gc, start: end(gc) - MILLI, duration: MILLI, ..GcRow::default() };
        writer.write(&[row]).expect("written");
        let dead = (0..).zip(samples).filter(|(_, of)| of.died == Some(gc));
        let dead: Vec<DeathRow> =
            dead.map(|(sample, _)| DeathRow { sample, time: end(gc), gc: Some(gc), ..DeathRow::default() }).collect();
        let is_looked = !dead.is_empty();
        writer.write(&dead).expect("written");
        if !written.walks || !is_looked {
            continue;
        }
        let start = WalkStartRow {
            time: end(gc),
            gcs: gc as u32 + 1,
            alignment: 1,
            all_alive: true,
            ..WalkStartRow::default()
        };
        let mut walk = writer.begin_walk(start).expect("a walk");
        let mut links = Vec::new();
        for (sample, of) in (0..).zip(samples).filter(|(_, of)| of.is_alive_after(gc)) {
            let length = (CLASSES[of.class].1 > 0).then_some(of.elements);
            let size = Some(of.size());
            walk.object(&WalkObject { class: classes[of.class], length, size, ..WalkObject::default() }, &[])
                .expect("listed");
            links.push(WalkSampleRow { walk: walk.number(), object: links.len() as u64, sample });
        }
        walk.rows(&links).expect("written");
        walk.finish(None).expect("finished");
    }
    writer.finish("done").expect("finished");
}

fn open(path: &Path, grouping: &str) -> Source {
    Source::open(&[path.to_owned()], grouping, GroupOptions::default(), &Progress::new()).expect("it opens")
}

/// An analysis of all points in time.
fn run(source: &Source, id: &str) -> Findings {
    let analysis = AnalysisRegistry::built_in().get(id).expect(id);
    let arguments = Arguments::parse(&analysis.describe(), []).expect("none");
    analyses::run(&*analysis, source, TimeWindow::whole(source.timeline()), &arguments, &Progress::new()).expect(id)
}

/// The groups of a time without the root, by their paths; those without objects are not told.
fn groups(timeline: &Timeline, time: usize) -> BTreeMap<Vec<String>, Amount> {
    let path = |node: NodeId| timeline.path(node).into_iter().map(|node| timeline.name(node).to_owned()).collect();
    let amount = |node: NodeId| Amount {
        objects: timeline.value(time, node, Metric::Objects),
        bytes: timeline.value(time, node, Metric::Bytes),
    };
    timeline.nodes().map(|node| (path(node), amount(node))).filter(|(_, amount)| amount.objects > 0).collect()
}

/// Lists that read what samples know.
const LISTS: [&str; 20] = [
    "type",
    "package>type",
    "kind>type",
    "array-length>type",
    "array-length(exact)>thread",
    "filter(length >= 255)>type",
    "age>array-length",
    "thread>type",
    "age>type",
    "type>age>thread",
    "site",
    "type>site(depth=1)",
    "callers",
    "callers(outermost-first)>type",
    "domain-site>type",
    "domain-site(callers)",
    "allocating-package>type",
    "filter(age >= 1)>type>thread",
    "filter(thread = worker-1 and not age = 0)>site>type",
    "filter(type ~ cart)>age",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Where each sample stands for itself, the trees are those of walks that have the same objects.
    #[test]
    fn samples_are_grouped_as_the_objects_of_walks(samples in samples(Just(1))) {
        let folder = tempfile::tempdir().expect("a folder");
        let [bare, walked] = ["bare.mcity", "walked.mcity"].map(|name| folder.path().join(name));
        record(&bare, &samples, Written { lengths: true, ..Written::default() });
        record(&walked, &samples, Written { lengths: true, walks: true, ..Written::default() });
        // What died is the same, whether or not somebody has looked at what is left.
        let [died, also] = [&bare, &walked].map(|path| open(path, "died:age>type"));
        prop_assert_eq!(died.timeline().times(), also.timeline().times());
        for time in 0..died.timeline().times() {
            prop_assert_eq!(groups(died.timeline(), time), groups(also.timeline(), time), "died by {}", time);
        }
        let walked = open(&walked, "type");
        let bare = open(&bare, AUTO);
        // And places have the same samples that are alive.
        let [sites, also] = [&bare, &walked].map(|source| {
            let findings = run(source, "sites");
            let sites = findings.tables.into_iter().find(|table| table.header.id == "sites").expect("places");
            (sites.rows.into_iter().map(|row| row.cells).collect::<Vec<_>>(), findings.answers)
        });
        prop_assert_eq!(&sites.0, &also.0);
        prop_assert!(!sites.1.iter().any(|answer| answer.contains("what stays")), "{:?}", sites.1);
        for list in LISTS {
            let regroup = |source: &Source| source.regroup(list, GroupOptions::default(), &Progress::new());
            let [bare, walked] = [&bare, &walked].map(|source| regroup(source).expect("it can be had"));
            prop_assert!(walked.heaps().is_some() && bare.heaps().is_none());
            prop_assert_eq!(bare.timeline().times(), walked.timeline().times());
            for (time, point) in walked.timeline().points().iter().enumerate() {
                prop_assert_eq!(bare.timeline().points()[time].millis, point.millis);
                prop_assert_eq!(groups(bare.timeline(), time), groups(walked.timeline(), time), "{} at {}", list, time);
            }
        }
    }

    /// Sums of weights, rounded once for each group of objects that are in the same groups.
    #[test]
    fn weights_are_added_up(samples in samples(1u64..5000), thinned in prop::option::of(0u64..6)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bare.mcity");
        record(&path, &samples, Written { thinned, ..Written::default() });
        let source = open(&path, "thread>type>age");
        let timeline = source.timeline();
        for (time, point) in timeline.points().iter().enumerate() {
            let millis = point.millis - 1_700_000_000_000;
            let alive = samples.iter().filter(|sample| (sample.born + 1) * ROUND - 5 <= millis);
            let alive = alive.filter(|sample| sample.died.is_none_or(|died| (died + 1) * ROUND > millis));
            let mut expected: BTreeMap<Vec<String>, Amount> = BTreeMap::new();
            for sample in alive {
                let is_thinned = thinned.is_some_and(|from| (from + 1) * ROUND - 2 <= millis);
                let weight = if is_thinned { 3 * sample.weight } else { sample.weight };
                let age = match millis / ROUND - sample.born {
                    0 => "Newborn".to_owned(),
                    age => format!("Survived {age:>2}"),
                };
                let path = [THREADS[sample.thread].to_owned(), CLASSES[sample.class].0.to_owned(), age];
                for depth in 0..=3 {
                    let group = expected.entry(path[..depth].to_vec()).or_default();
                    *group += Amount { objects: weight, bytes: weight * sample.size() };
                }
            }
            prop_assert_eq!(groups(timeline, time), expected, "at {} ms", millis);
        }
    }
}

fn samples_of(path: PathBuf, lengths: bool) -> PathBuf {
    let sampled = |class, died| Sampled { class, thread: 1, stack: 1, born: 0, died, elements: 300, weight: 100 };
    record(
        &path,
        &[sampled(0, None), sampled(3, None), sampled(0, Some(2))],
        Written { lengths, ..Written::default() },
    );
    path
}

#[test]
fn what_samples_do_not_tell_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = samples_of(folder.path().join("samples.mcity"), false);
    let source = open(&path, AUTO);
    assert!(source.can_regroup());
    assert_eq!(
        (source.grouping_title().as_str(), source.grouping_id().as_str()),
        ("Package › Type › Allocation site", "Package › Type › Allocation site")
    );
    let root = |source: &Source| source.timeline().name(NodeId::ROOT).to_owned();
    assert_eq!(root(&source), "Heap, estimated from samples");
    assert_eq!(
        groups(source.timeline(), 0)[&["shop", "Cart", "shop.Cart.add()"].map(str::to_owned).to_vec()],
        Amount { objects: 100, bytes: 2400 }
    );
    // As it was, whatever was asked for in between.
    let regroup = |source: &Source, list: &str| source.regroup(list, GroupOptions::default(), &Progress::new());
    let by_thread = regroup(&source, "thread").expect("it can be had");
    assert_eq!(
        (root(&by_thread), by_thread.grouping_id()),
        ("Heap, estimated from samples".to_owned(), "thread".to_owned())
    );
    assert!(by_thread.warnings()[0].message.contains("estimated from 3 samples"), "{:?}", by_thread.warnings());
    let again = regroup(&by_thread, AUTO).expect("always");
    assert_eq!(groups(again.timeline(), 0), groups(source.timeline(), 0));
    for (list, lacks) in [
        ("rooted", "GC roots"),
        ("type>points-to(type)", "references between objects"),
        ("owner", "references between objects"),
        ("address", "the identity of objects"),
        ("filter(size > 1kB)>type", "sizes"),
        ("space>type", "heap spaces"),
        ("subsystem>type", "allocating subsystems"),
        ("kind>type", "which arrays are big"),
        ("array-length", "array lengths"),
    ] {
        let grouping = memory_city_analysis::group::grouping(list).expect("a list");
        let said = source.offers(&grouping).expect_err(list);
        assert!(
            said.starts_with("Needs ") && said.contains(lacks) && said.contains("samples of a recording without walks"),
            "{said}"
        );
        let error = regroup(&source, list).err().expect(list).to_string();
        assert!(error.contains(&said), "{error}");
        // Opened with it, the recording is shown all the same.
        let opened = open(&path, list);
        assert_eq!(groups(opened.timeline(), 0), groups(source.timeline(), 0));
        let warned = opened.warnings().iter().any(|w| w.message.contains("not applied") && w.message.contains(&said));
        assert!(warned, "{:?}", opened.warnings());
        assert!(
            !regroup(&opened, "type")
                .expect("it can be had")
                .warnings()
                .iter()
                .any(|w| w.message.contains("not applied"))
        );
    }
    // Nobody told who loaded what: it is no guess of the bootstrap loader.
    assert!(groups(open(&path, "loader").timeline(), 0).contains_key(&vec!["(unknown loader)".to_owned()]));
    let with_lengths = samples_of(folder.path().join("lengths.mcity"), true);
    assert!(groups(open(&with_lengths, "kind").timeline(), 0).contains_key(&vec!["Big array".to_owned()]));
}

#[test]
fn class_histograms_are_grouped_by_what_follows_from_a_class() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, frames: &[&str]| {
        let path = folder.path().join(name);
        let file = File::create(&path).expect("a file");
        let mut stream = CountStream::on_file(file, &path, &[("recording.started", "1000".into())]).expect("begun");
        for more in 0..2 {
            let of = |class, objects| StreamCount { class, frames, objects, bytes: 16 * objects };
            stream.write(more * MILLI, None, true, [of("shop.Cart", 3 + more), of("shop.Cart[]", 1)]).expect("written");
        }
        stream.finish("done").expect("ended");
        path
    };
    let plain = write("plain.mcity", &[]);
    let source = open(&plain, "package>type");
    assert!(!source.warnings().iter().any(|warning| warning.message.contains("not applied")));
    let expected = [(vec![], 5), (vec!["shop"], 5), (vec!["shop", "Cart"], 4), (vec!["shop", "Cart[]"], 1)];
    let expected = expected.map(|(path, objects)| {
        (path.into_iter().map(str::to_owned).collect::<Vec<_>>(), Amount { objects, bytes: 16 * objects })
    });
    assert_eq!(groups(source.timeline(), 1), expected.into());
    assert_eq!(source.grouping_id(), "package-type");
    for list in ["filter(type ~ cart)>type", "type(simple)", "package", "domain>type"] {
        assert_eq!(source.offers(&memory_city_analysis::group::grouping(list).expect("a list")), Ok(()), "{list}");
    }
    for list in ["thread>type", "age", "site", "kind", "rooted"] {
        let said = source.offers(&memory_city_analysis::group::grouping(list).expect("a list")).expect_err(list);
        assert!(said.contains("which class histograms do not tell"), "{said}");
    }
    // With places it may be by those too.
    let placed = write("placed.mcity", &["shop.Cart.add()", "shop.Main.main()"]);
    let sites = groups(open(&placed, "callers>type").timeline(), 0);
    assert_eq!(sites[&vec!["shop.Main.main()".to_owned()]].objects, 4);
}
