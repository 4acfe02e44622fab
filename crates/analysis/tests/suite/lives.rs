//! What came and went: against the collections' own counts, what is alive, and object by object through identity.

use memory_city_analysis::analyses::compare::compare;
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::lives::{
    CountedCollections, DeadTree, GenerationRow, RunWindow, age_bucket, age_bucket_text, died_over_time, generations,
    grouping_of_dead, life_spans, lives_of,
};
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::{AUTO, Amount, GcKind, GcPoint, History, Metric, NodeId, Source};
use memory_city_formats::event::{ObjectInfo, Program};
use memory_city_formats::replay::{CohortChange, CohortKey, Collection, Moment};
use memory_city_formats::{GcHistory, HeapSeries, LifeStep, Lives, Recording, SnapshotInfo};
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    AllocationSite, Allocator, HeapBuilder, HeapState, HeapType, Identity, ObjectId, Profile, SpaceKind, ThreadId,
    TypeKind,
};
use memory_city_testing::anttracks::{Collector, Spec, generate};
use memory_city_testing::root;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TRACES: [&str; 5] = ["churn-g1", "churn-parallel", "churn-par-noptr", "person-leak-g1", "person-leak-cms"];

fn open(path: &Path, grouping: &str) -> Source {
    let options = GroupOptions { gc_starts: false, ..GroupOptions::default() };
    Source::open(&[path.to_owned()], grouping, options, &Progress::new()).expect("it opens")
}

fn trace(name: &str) -> PathBuf {
    root().join("tests/data/anttracks").join(name)
}

/// A generated run on disk.
fn generated(folder: &Path, spec: &Spec) -> PathBuf {
    let mut trace = Vec::new();
    let run = generate(spec, &mut trace).expect("written to memory");
    let path = folder.join("run");
    std::fs::create_dir(&path).expect("made");
    std::fs::write(path.join("trace"), trace).expect("written");
    std::fs::write(path.join("symbols"), &run.symbols).expect("written");
    path
}

fn run(source: &Source, id: &str, given: &[(&str, &str)]) -> Findings {
    let analysis = AnalysisRegistry::built_in().get(id).expect(id);
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    let window = TimeWindow::whole(source.timeline());
    analyses::run(&*analysis, source, window, &arguments, &Progress::new()).expect(id)
}

fn number(table: &ResultTable, row: usize, column: &str) -> u64 {
    match &table.rows[row].cells[table.header.column(column).expect("a column")] {
        Cell::Number(n) => *n,
        other => panic!("{column} is {other:?}"),
    }
}

fn text<'a>(table: &'a ResultTable, row: usize, column: &str) -> &'a str {
    match &table.rows[row].cells[table.header.column(column).expect("a column")] {
        Cell::Text(text) => text,
        other => panic!("{column} is {other:?}"),
    }
}

/// Born less dead objects are the live ones, at every collection. Each collection freed as many as the replay.
#[test]
fn births_less_deaths_are_what_is_alive() {
    for name in TRACES {
        let source = open(&trace(name), "type");
        let (lives, _) = lives_of(&source, &Progress::new()).expect("a trace");
        let gcs = lives.gcs() as usize;
        let (mut alive, mut died) = (vec![Amount::default(); gcs], vec![0.0; gcs]);
        let (mut objects, mut bytes, mut now) = (0.0, 0.0, 0);
        lives
            .each(u32::MAX / 2 - 1, &Progress::new(), |event| {
                let at = (event.gc as usize).min(gcs);
                while now < at {
                    alive[now] = Amount { objects: objects as u64, bytes: bytes as u64 };
                    now += 1;
                }
                let sign = match event.step {
                    LifeStep::Born => 1.0,
                    LifeStep::Died => -1.0,
                    LifeStep::Promoted => 0.0,
                };
                if event.step == LifeStep::Died && at < gcs {
                    died[at] += event.amount.objects;
                }
                objects += sign * event.amount.objects;
                bytes += sign * event.amount.bytes;
                Ok(())
            })
            .expect("followed");
        while now < gcs {
            alive[now] = Amount { objects: objects as u64, bytes: bytes as u64 };
            now += 1;
        }
        let timeline = source.timeline();
        assert_eq!(timeline.times(), gcs, "{name}: a point for each collection");
        for (t, &alive) in alive.iter().enumerate() {
            assert_eq!(alive, timeline.amount(t, NodeId::ROOT), "{name}, after collection {t}");
            let freed = timeline.points()[t].gc.as_ref().expect("a collection").freed;
            assert_eq!(Some(died[t] as u64), freed, "{name}: freed by collection {t}");
        }
    }
}

/// Type, age at death and how many: of every object that is there at the start of a collection and gone at its end.
fn dead_by_identity(path: &Path) -> BTreeMap<(String, String), u64> {
    let source = Source::open(
        &[path.to_owned()],
        "type",
        GroupOptions { gc_starts: true, ..GroupOptions::default() },
        &Progress::new(),
    )
    .expect("it opens");
    let series = source.heaps().expect("heaps").series();
    let mut dead = BTreeMap::new();
    for point in (0..series.points().len()).step_by(2) {
        if point + 1 >= series.points().len() {
            break;
        }
        let objects = |point: usize| -> HashMap<Identity, String> {
            let heap = series.load(point, &Progress::new()).expect("a state");
            let origins = heap.origins().expect("origins");
            let entry = |o: memory_city_heap::ObjectId| {
                let name = heap.types()[heap.type_of(o).0 as usize].name.clone();
                (origins.identity(o.0 as usize), name)
            };
            heap.objects().map(entry).collect()
        };
        let (before, after) = (objects(point), objects(point + 1));
        for (identity, name) in before.into_iter().filter(|(identity, _)| !after.contains_key(identity)) {
            let age = age_bucket_text(age_bucket(point as u32 / 2 - identity.birth));
            let short = name.rsplit('.').next().unwrap_or(&name).to_owned();
            *dead.entry((age, short)).or_default() += 1;
        }
    }
    dead
}

#[test]
fn what_died_is_what_is_gone_object_by_object() {
    let folder = tempfile::tempdir().expect("a folder");
    for (n, collector) in [Collector::Parallel, Collector::G1].into_iter().enumerate() {
        let home = folder.path().join(n.to_string());
        std::fs::create_dir(&home).expect("made");
        let path = generated(&home, &Spec { seed: 11 + n as u64, collector, gcs: 25, ..Spec::default() });
        let expected = dead_by_identity(&path);
        let source = open(&path, "type");
        let (lives, history) = lives_of(&source, &Progress::new()).expect("a trace");
        let grouping = grouping_of_dead("age>type").expect("a grouping");
        let whole = RunWindow::of_gcs(&history, 0, u32::MAX);
        let dead = DeadTree::of(lives, &grouping, whole, &Progress::new()).expect("grouped");
        let mut found = BTreeMap::new();
        for node in 1..dead.died.len() {
            let parent = dead.tree.parent(node).expect("not the root");
            if parent != 0 {
                let short = dead.tree.name(node).rsplit('.').next().unwrap_or_default().to_owned();
                *found.entry((dead.tree.name(parent).to_string(), short)).or_default() +=
                    dead.died[node].objects as u64;
            }
        }
        assert_eq!(found, expected, "{collector:?}");
        assert!(found.keys().any(|(age, _)| age != "0 GCs survived"), "some grow old");
    }
}

/// The timeline of what died adds up to what died in any window.
#[test]
fn the_difference_of_two_times_is_what_died_between_them() {
    let source = open(&trace("churn-parallel"), AUTO);
    let grouping = grouping_of_dead("age>type>site").expect("a grouping");
    let died = died_over_time(&source, &grouping, &Progress::new()).expect("trees");
    let timeline = died.timeline();
    let (lives, history) = lives_of(&source, &Progress::new()).expect("a trace");
    let times = timeline.times() as u32;
    assert_eq!(times, lives.gcs());
    for (first, end) in [(0, times), (1, times), (2, 5), (3, 3)] {
        let window = RunWindow::of_gcs(&history, first, end);
        let all = DeadTree::of(lives, &grouping, window, &Progress::new()).expect("grouped").all();
        let until = |gcs: u32| match gcs.checked_sub(1) {
            Some(t) => timeline.amount(t as usize, NodeId::ROOT),
            None => Amount::default(),
        };
        let (before, after) = (until(first), until(end));
        assert_eq!(all.objects as u64, after.objects - before.objects, "{first} to {end}");
        assert_eq!(all.bytes as u64, after.bytes - before.bytes);
    }
    // Opened as anybody opens it.
    let opened = open(&trace("churn-parallel"), "died:age>type>site");
    let last = times as usize - 1;
    assert_eq!(opened.timeline().amount(last, NodeId::ROOT), timeline.amount(last, NodeId::ROOT));
    assert!(opened.grouping_title().starts_with("Died: Age"), "{}", opened.grouping_title());
    for node in timeline.nodes().filter(|&node| !timeline.is_leaf(node)) {
        let sum: u64 = timeline.children(node).iter().map(|&c| timeline.value(last, c, Metric::Objects)).sum();
        assert_eq!(sum, timeline.value(last, node, Metric::Objects), "{}", timeline.key(node));
    }
}

/// A program that loads all items for each request and throws them away: short-lived items, their labels and the texts in
/// them; and the site that allocates them.
#[test]
fn churn_names_the_types_and_the_line() {
    let source = open(&trace("churn-parallel"), AUTO);
    let churn = run(&source, "churn", &[]);
    let [died, ages, short] = &churn.tables[..] else { panic!("three tables") };
    assert_eq!(text(died, 0, "group"), "0 GCs survived");
    assert_eq!(text(ages, 0, "age"), "0 GCs survived");
    assert_eq!(number(died, 0, "objects"), number(ages, 0, "objects"));
    let all: u64 = (0..ages.rows.len()).map(|row| number(ages, row, "objects")).sum();
    assert!(number(ages, 0, "objects") * 10 > all * 9, "nine of ten die young");
    let item = (0..short.rows.len()).find(|&row| text(short, row, "type").ends_with("Item")).expect("items");
    assert!(text(short, item, "site").contains("loadAll"), "{}", text(short, item, "site"));
    assert!(churn.answers[0].contains("objects died"), "{:?}", churn.answers);
    // Rows below a group add up to no more than it.
    for (at, row) in died.rows.iter().enumerate().filter(|(_, row)| row.depth == 0) {
        let below = died.rows[at + 1..].iter().take_while(|below| below.depth > 0).enumerate();
        let sum: u64 = below.filter(|(_, r)| r.depth == 1).map(|(n, _)| number(died, at + 1 + n, "objects")).sum();
        assert!(sum <= number(died, at, "objects"), "{row:?}");
    }
}

/// Every object counts once in the lifetimes; survival is what is left after those that died, and never rises.
#[test]
fn survival_falls_from_all_to_those_that_stay() {
    for name in TRACES {
        let source = open(&trace(name), "type");
        let (lives, history) = lives_of(&source, &Progress::new()).expect("a trace");
        let grouping = memory_city_analysis::group::grouping("type").expect("a grouping");
        let whole = RunWindow::of_gcs(&history, 0, u32::MAX);
        let spans = life_spans(lives, &grouping, whole, 15, &Progress::new()).expect("spans");
        let all = &spans.groups[0];
        let timeline = source.timeline();
        let alive = timeline.amount(timeline.times() - 1, NodeId::ROOT).objects as f64;
        assert_eq!(all.born.objects - all.died.objects, alive, "{name}");
        assert_eq!(all.deaths.iter().map(|died| died.objects).sum::<f64>(), all.died.objects);
        for group in &spans.groups {
            assert!(group.premature.objects <= group.promoted.objects && group.promoted.objects <= group.born.objects);
            let known: Vec<f64> = group.survival.iter().copied().filter(|share| !share.is_nan()).collect();
            assert!(known.is_sorted_by(|a, b| a >= b) && known.iter().all(|share| (0.0..=1.0).contains(share)));
        }
        // Nothing is seen for less than one collection but what the first one finds: the first step is exact.
        let first = 1.0 - all.deaths[0].objects / all.born.objects;
        let unseen = all.born.objects == 0.0;
        assert!(unseen || (all.survival[0] - first).abs() < 0.02, "{name}: {} and {first}", all.survival[0]);
    }
    let source = open(&trace("churn-g1"), "type");
    let (lives, history) = lives_of(&source, &Progress::new()).expect("a trace");
    let by_age = memory_city_analysis::group::grouping("age>type").expect("a grouping");
    let whole = RunWindow::of_gcs(&history, 0, u32::MAX);
    assert!(life_spans(lives, &by_age, whole, 15, &Progress::new()).is_err(), "ages change during a life");
}

/// The live generations of types are the births of the objects in the last heap state.
#[test]
fn live_generations_are_the_births_of_live_objects() {
    for name in TRACES {
        let source = open(&trace(name), "type");
        let (lives, history) = lives_of(&source, &Progress::new()).expect("a trace");
        let grouping = memory_city_analysis::group::grouping("type").expect("a grouping");
        let whole = RunWindow::of_gcs(&history, 0, u32::MAX);
        let found =
            generations(lives, &history, &grouping, whole, CountedCollections::All, &Progress::new()).expect("found");
        let last = source.timeline().times() - 1;
        let heap = source.heaps().expect("objects").heap(last, &Progress::new()).expect("the last state");
        let mut births: BTreeMap<String, BTreeMap<u32, u64>> = BTreeMap::new();
        for o in (0..heap.object_count() as u32).map(ObjectId) {
            let of = births.entry(heap.types()[heap.type_of(o).0 as usize].name.to_string()).or_default();
            *of.entry(heap.origins().expect("a trace").of(o.0 as usize).birth).or_default() += 1;
        }
        let of = |row: &GenerationRow| {
            let live = row.live.iter().map(|(generation, alive)| (*generation, alive.counted)).collect();
            (found.tree.name(row.node as usize).to_string(), live)
        };
        assert_eq!(found.rows.iter().map(of).collect::<BTreeMap<_, BTreeMap<u32, u64>>>(), births, "{name}");
        assert!(found.rows.is_sorted_by(|a, b| a.count() >= b.count()), "{name}");
        assert!(found.rows.iter().all(|row| row.course.last() == Some(&row.count())), "{name}");
    }
}

/// The leak of a generated trace has objects of most generations, and is kept alive by its field.
#[test]
fn what_leaks_has_live_generations_all_over_the_run() {
    let source = open(&trace("person-leak-g1"), "type");
    let found = run(&source, "generations", &[("collections", "all"), ("gap", "1"), ("least", "4"), ("by", "type")]);
    insta::assert_snapshot!(found.answers.join("\n"));
}

/// Two runs of one program: the same, and shorter.
#[test]
fn a_run_compared_with_itself_has_no_difference() {
    let source = open(&trace("churn-parallel"), "type");
    for align in ["auto", "time", "gcs", "allocated", "end"] {
        let compared = compare([&source, &source], [("align", align)], &Progress::new()).expect("compared");
        for table in &compared.report.parts[0].findings.tables {
            if table.header.id == "trend" {
                let same = |row: usize| number(table, row, "bytes_a") == number(table, row, "bytes_b");
                assert!((0..table.rows.len()).all(same), "{align}");
                continue;
            }
            assert!(table.rows.is_empty(), "{align}: {} differs", table.header.id);
        }
        let timeline = compared.trees.timeline();
        assert_eq!(timeline.times(), 2);
        assert_eq!(timeline.amount(0, NodeId::ROOT), timeline.amount(1, NodeId::ROOT));
    }
}

/// Of another run the sums are those of the points that are compared, and the groups add up to them.
#[test]
fn two_runs_are_compared_at_the_same_place() {
    let (a, b) = (open(&trace("churn-parallel"), "type"), open(&trace("churn-g1"), "type"));
    let compared = compare([&a, &b], [("align", "gcs"), ("top", "100000")], &Progress::new()).expect("compared");
    let timeline = compared.trees.timeline();
    let gcs = a.timeline().times().min(b.timeline().times());
    for (t, run) in [&a, &b].into_iter().enumerate() {
        assert_eq!(timeline.amount(t, NodeId::ROOT), run.timeline().amount(gcs - 1, NodeId::ROOT));
    }
    let [alive, died, trend] = &compared.report.parts[0].findings.tables[..] else { panic!("three tables") };
    for table in [alive, died] {
        assert!(!table.rows.is_empty());
        for row in 0..table.rows.len() {
            let change = &table.rows[row].cells[table.header.column("bytes_change").expect("a column")];
            let [a, b] = ["bytes_a", "bytes_b"].map(|column| number(table, row, column) as i64);
            assert_eq!(*change, Cell::Change(b - a));
        }
    }
    // On the way: at every place both are at points of their own, which never go back; the last is what is compared.
    let whole: Vec<usize> = (0..trend.rows.len())
        .filter(|&row| matches!(&trend.rows[row].cells[0], Cell::Node(n) if n.key == "Heap"))
        .collect();
    assert_eq!(whole.len(), gcs);
    for (t, (run, label)) in [(&a, "a"), (&b, "b")].into_iter().enumerate() {
        let points: Vec<u64> = whole.iter().map(|&row| number(trend, row, &format!("point_{label}"))).collect();
        assert!(points.is_sorted(), "{points:?}");
        for (&row, &point) in whole.iter().zip(&points) {
            let bytes = run.timeline().value(point as usize - 1, NodeId::ROOT, Metric::Bytes);
            assert_eq!(number(trend, row, &format!("bytes_{label}")), bytes);
        }
        assert_eq!(
            timeline.amount(t, NodeId::ROOT).bytes,
            number(trend, *whole.last().expect("a row"), &format!("bytes_{label}"))
        );
    }
}

/// The leak is found in what the roots reach where the trace has roots and references, else in what is left after collections.
#[test]
fn the_window_of_a_leak_says_what_it_is_measured_in() {
    for (name, measured) in [("person-leak-parallel", "GC roots reach"), ("churn-par-noptr", "after collections")] {
        let source = open(&trace(name), "type");
        let windows = run(&source, "windows", &[("least_millis", "0")]);
        let column = windows.tables[0].header.columns.iter().find(|c| c.id == "change").expect("a column");
        assert!(column.explanation.contains(measured), "{name}: {}", column.explanation);
        if name.contains("leak") {
            assert_eq!(text(&windows.tables[0], 0, "kind"), "leak");
            assert_eq!(text(&windows.tables[0], 0, "verdict"), "suspicious");
            assert!(windows.answers[0].contains("grows to the end"), "{:?}", windows.answers);
            let short = run(&source, "windows", &[]);
            // The run lasts for less than a second.
            let [answer] = &short.answers[..] else { panic!("{:?}", short.answers) };
            assert!(answer.starts_with("LEAK  ") && answer.ends_with("No window of time stands out."), "{answer}");
        }
        let none = run(&source, "windows", &[("states", "0")]);
        let column = none.tables[0].header.columns.iter().find(|c| c.id == "change").expect("a column");
        assert!(column.explanation.contains("after collections"), "{name}");
    }
}

/// A run that was thought up: what is born in each collection interval of which type, and how many collections some survive.
struct ThoughtUp {
    recording: Recording,
    points: Vec<SnapshotInfo>,
}

/// Collections of the runs that are thought up.
const GCS: u32 = 100;

impl ThoughtUp {
    /// `types` has names, sites and the number that dies young. Of the last type, some of the first become older:
    /// `older` has their number and age.
    fn new(types: &[(&str, &str, u64)], older: &[(u64, u32)]) -> ThoughtUp {
        let mut recording = Recording::default();
        let type_of = |&(name, ..): &(&str, &str, u64)| HeapType {
            name: name.to_owned(),
            kind: TypeKind::Instance,
            superclass: None,
            loader: "app".into(),
        };
        let site_of = |&(_, site, _): &(&str, &str, u64)| AllocationSite { frames: vec![site.into()] };
        recording.program = Arc::new(Program {
            types: types.iter().map(type_of).collect(),
            sites: Arc::new(types.iter().map(site_of).collect()),
            ..Program::default()
        });
        recording.threads = vec!["main".into()];
        let info = |n: usize| ObjectInfo {
            type_id: n as u32,
            site: n as u32,
            thread: ThreadId(0),
            allocator: Allocator::Unknown,
            big: false,
        };
        recording.infos = (0..types.len()).map(info).collect();
        let last = types.len() as u32 - 1;
        let kept: u64 = older.iter().map(|(objects, _)| objects).sum();
        let mut points = Vec::new();
        for gc in 0..GCS {
            let key = |info: u32, birth: u32, space| CohortKey { info, birth, space };
            let change = |key, objects: i64| CohortChange { key, objects, bytes: 24 * objects };
            let (mut born, mut dead) = (Vec::new(), Vec::new());
            for (info, &(_, _, all)) in (0..).zip(types) {
                // So many in each interval, what is left over in the first.
                let all = if gc == 0 { all - all / u64::from(GCS) * u64::from(GCS - 1) } else { all / u64::from(GCS) };
                let extra = if gc == 0 && info == last { kept } else { 0 };
                born.push(change(key(info, gc, SpaceKind::Eden), (all + extra) as i64));
                for &(objects, age) in older.iter().filter(|(_, age)| info == last && *age == gc && gc > 0) {
                    assert!(age < GCS);
                    dead.push(change(key(info, 0, SpaceKind::Survivor), -(objects as i64)));
                }
                dead.push(change(key(info, gc, SpaceKind::Eden), -((all + extra) as i64)));
                if extra > 0 {
                    dead.push(change(key(info, gc, SpaceKind::Survivor), extra as i64));
                }
            }
            recording.log.push(Moment { gc, end: false }, &born);
            recording.log.push(Moment { gc, end: true }, &dead);
            let millis = u64::from(gc) * 200 + 195;
            let collection = Collection {
                number: gc,
                kind: GcKind::Minor,
                cause: 0,
                start: millis,
                end: millis + 5,
                failed: false,
                freed: 0,
            };
            recording.collections.push(collection);
            for end in [false, true] {
                let gc = GcPoint {
                    number: gc,
                    kind: GcKind::Minor,
                    one_pause: false,
                    cause: "full".into(),
                    duration: 5,
                    end,
                    freed: Some(0),
                };
                let millis = if end { millis + 5 } else { millis };
                points.push(SnapshotInfo { label: "GC".into(), millis, path: "run".into(), gc: Some(gc) });
            }
        }
        ThoughtUp { recording, points }
    }

    fn source(self) -> Source {
        let history = History::build(Arc::new(self), "type", GroupOptions::default(), &Progress::new());
        Source::Heaps(history.expect("grouped"))
    }
}

impl HeapSeries for ThoughtUp {
    fn profile(&self) -> &'static Profile {
        &Profile::PLAIN
    }

    fn points(&self) -> &[SnapshotInfo] {
        &self.points
    }

    fn load(&self, _: usize, _: &Progress) -> Result<Arc<HeapState>> {
        Ok(Arc::new(HeapBuilder::new().finish()))
    }

    fn warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    fn recording(&self) -> Option<&Recording> {
        Some(&self.recording)
    }

    fn gc_history(&self, progress: &Progress) -> Result<Option<GcHistory>> {
        GcHistory::of_trace(&self.recording, progress).map(Some)
    }

    fn lives(&self) -> Option<Lives<'_>> {
        Some(Lives::of_trace(&self.recording))
    }
}

const WAIT: &str = "com.twitter.util.Promise$WaitQueue$$anon$4";
const MONITORED: &str = "com.twitter.util.Promise$Monitored";
const SUCCESS: &str = "com.twitter.util.Future$$anonfun$onSuccess$1";
const HANDLER: &str = "FinagleHttp$$anonfun$runIteration$1$$anon$2";

/// The numbers of the paper: 10,019,784 dead objects, nearly all of age 0, four types of about a quarter each. And the
/// run without the fourth of them.
#[test]
fn the_case_of_the_paper_and_its_fix() {
    let types = [
        (WAIT, "Promise.transform", 2_494_576),
        (MONITORED, "Promise.respond", 2_494_393),
        (SUCCESS, "Future.onSuccess", 2_494_362),
        (HANDLER, "FinagleHttp.runIteration", 2_494_361),
        ("char[]", "Arrays.copyOf", 3_196),
        ("Other", "elsewhere", 31_189),
    ];
    let older = [(21, 1), (7_686, 4)];
    let before = ThoughtUp::new(&types, &older).source();
    let churn = run(&before, "churn", &[]);
    let [died, ages, short] = &churn.tables[..] else { panic!("three tables") };
    let by_age: Vec<(&str, u64)> =
        (0..ages.rows.len()).map(|row| (text(ages, row, "age"), number(ages, row, "objects"))).collect();
    assert_eq!(by_age, [("0 GCs survived", 10_012_077), ("1 GCs survived", 21), ("4 GCs survived", 7_686)]);
    assert!(churn.answers[0].contains("10,019,784 objects died"), "{:?}", churn.answers);
    assert!(churn.answers[1].starts_with("99.9 % of them had survived no collection"), "{:?}", churn.answers);
    let below = |row: usize| (text(died, row, "group").to_owned(), number(died, row, "objects"));
    let first: Vec<(String, u64)> = (1..8).step_by(2).map(below).collect();
    let expected = [(WAIT, 2_494_576), (MONITORED, 2_494_393), (SUCCESS, 2_494_362), (HANDLER, 2_494_361)];
    assert_eq!(first, expected.map(|(name, objects)| (name.to_owned(), objects)));
    let suspects: Vec<&str> = (0..short.rows.len()).map(|row| text(short, row, "site")).collect();
    assert_eq!(suspects, ["Promise.transform", "Promise.respond", "Future.onSuccess", "FinagleHttp.runIteration"]);

    let fixed: Vec<_> = types.iter().copied().filter(|(name, ..)| *name != HANDLER).collect();
    let after = ThoughtUp::new(&fixed, &older).source();
    let compared = compare([&before, &after], [("align", "gcs")], &Progress::new()).expect("compared");
    let findings = &compared.report.parts[0].findings;
    assert!(
        findings.answers[3].contains("10,019,784 objects in A, 7,525,423 in B (-24.9 %)"),
        "{:?}",
        findings.answers
    );
    let died = findings.tables.iter().find(|table| table.header.id == "died").expect("what died");
    assert_eq!(died.rows.len(), 1, "one type is gone, and nothing else differs");
}

/// One burst in a run that throws away little: the window of churn is there, and churn asked for that window sees it alone.
#[test]
fn the_worst_window_is_looked_at_alone() {
    let source = open(&trace("churn-parallel"), "type");
    let (whole, worst) = (run(&source, "churn", &[]), run(&source, "churn", &[("window", "churn")]));
    let all = |findings: &Findings| -> u64 {
        (0..findings.tables[1].rows.len()).map(|row| number(&findings.tables[1], row, "objects")).sum()
    };
    assert!(all(&worst) <= all(&whole));
    let windows = run(&source, "windows", &[]);
    let table = &windows.tables[0];
    let churn = (0..table.rows.len()).find(|&row| text(table, row, "kind") == "churn").expect("a window");
    let rate = |findings: &Findings| findings.answers[0].rsplit(", ").next().unwrap_or_default().to_owned();
    let Cell::Change(per_second) = table.rows[churn].cells[table.header.column("rate").expect("a column")] else {
        panic!("a rate")
    };
    // What is freed and what died are counted apart: collections allocate a little themselves.
    let said = rate(&worst);
    let megabytes: f64 = said.split(" MB").next().and_then(|number| number.parse().ok()).expect("a rate");
    assert!((megabytes * 1e6 / per_second as f64 - 1.0).abs() < 0.05, "{said} and {per_second}");
}

/// Whatever dies between two times was there at the first, or is counted as born and died between them.
#[test]
fn the_difference_counts_what_is_at_neither_time() {
    let source = open(&trace("churn-parallel"), "type");
    let found = run(&source, "difference", &[("base", "2"), ("time", "5"), ("by", "type"), ("top", "1000000")]);
    let table = &found.tables[0];
    let gone: u64 = (0..table.rows.len()).map(|row| number(table, row, "only_base")).sum();
    let (lives, history) = lives_of(&source, &Progress::new()).expect("a trace");
    let grouping = grouping_of_dead("type").expect("a grouping");
    let window = RunWindow::of_gcs(&history, 2, 5);
    let died = DeadTree::of(lives, &grouping, window, &Progress::new()).expect("grouped").all().objects as u64;
    let note = found.notes.iter().find(|note| note.contains("at neither")).expect("it is said");
    let passed = memory_city_analysis::analyses::count_text(died - gone);
    assert!(note.starts_with(&format!("{passed} objects (")), "{note}, not {passed}");
}
