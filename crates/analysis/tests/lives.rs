//! What came and went: against the collections' own counts, what is alive, and object by object through identity.

use memory_city_analysis::analyses::compare::compare;
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::lives::{
    DeadTree, RunWindow, age_bucket, age_bucket_text, died_over_time, grouping_of_dead, life_spans, lives_of,
};
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::{AUTO, Amount, DIED, Metric, NodeId, Source};
use memory_city_formats::LifeStep;
use memory_city_heap::Identity;
use memory_city_heap::progress::Progress;
use memory_city_testing::anttracks::{Collector, Spec, generate};
use memory_city_testing::root;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

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

/// What is born less what died is what is alive, at every collection; and each freed what the replay saw it free.
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
            assert_eq!(died[t] as u64, freed, "{name}: freed by collection {t}");
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
    let died = died_over_time(&source, "age>type>site", &Progress::new()).expect("trees");
    let timeline = died.timeline();
    let (lives, history) = lives_of(&source, &Progress::new()).expect("a trace");
    let grouping = grouping_of_dead("age>type>site").expect("a grouping");
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
    let opened = open(&trace("churn-parallel"), &format!("{DIED}age>type>site"));
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

/// Two runs of one program: the same, and shorter.
#[test]
fn a_run_compared_with_itself_has_no_difference() {
    let source = open(&trace("churn-parallel"), "type");
    for align in ["auto", "time", "gcs", "allocated"] {
        let compared = compare([&source, &source], [("align", align)], &Progress::new()).expect("compared");
        for table in &compared.report.parts[0].findings.tables {
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
    let [alive, died] = &compared.report.parts[0].findings.tables[..] else { panic!("two tables") };
    for table in [alive, died] {
        assert!(!table.rows.is_empty());
        for row in 0..table.rows.len() {
            let change = &table.rows[row].cells[table.header.column("bytes_change").expect("a column")];
            let [a, b] = ["bytes_a", "bytes_b"].map(|column| number(table, row, column) as i64);
            assert_eq!(*change, Cell::Change(b - a));
        }
    }
}

/// The leak is found in what the roots reach where the trace has roots and references, else in what is left after collections.
#[test]
fn the_window_of_a_leak_says_what_it_is_measured_in() {
    for (name, measured) in [("person-leak-parallel", "GC roots reach"), ("churn-par-noptr", "after collections")] {
        let source = open(&trace(name), "type");
        let windows = run(&source, "windows", &[]);
        let column = windows.tables[0].header.columns.iter().find(|c| c.id == "change").expect("a column");
        assert!(column.explanation.contains(measured), "{name}: {}", column.explanation);
        if name.contains("leak") {
            assert_eq!(text(&windows.tables[0], 0, "kind"), "leak");
            assert_eq!(text(&windows.tables[0], 0, "verdict"), "suspicious");
            assert!(windows.answers[0].contains("grows to the end"), "{:?}", windows.answers);
        }
        let none = run(&source, "windows", &[("states", "0")]);
        let column = none.tables[0].header.columns.iter().find(|c| c.id == "change").expect("a column");
        assert!(column.explanation.contains("after collections"), "{name}");
    }
}
