//! Suspicious windows, churn and the effect of a fix, of runs that were recorded: programs of benches/java on JDK 17.
//!
//! The recordings lie in tests/data/recordings; docs/churn.md says how they were made, and what larger ones of the same programs say.

use memory_city_analysis::analyses::compare::compare;
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, Findings, TimeWindow, report};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::run::RunFacts;
use memory_city_analysis::tabular::{Cell, ResultTable};
use memory_city_analysis::timeline::{Metric, NodeId, Source, json};
use memory_city_analysis::windows::WindowRules;
use memory_city_formats::wire;
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use memory_city_wire::{
    ClassRow, CollectionKind, GcRow, GcScope, RunRow, TraceOptions, TraceTables, TraceWriter, WalkObject, WalkStartRow,
};
use std::path::{Path, PathBuf};

fn open(name: &str) -> (Source, RunFacts) {
    let path = root().join("tests/data/recordings").join(name);
    let source = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    let window = TimeWindow::whole(source.timeline());
    let facts = RunFacts::of(&source, window, 60, &Progress::new()).expect("facts");
    (source, facts)
}

/// Tables that only the start needs take more than all that leaks until the end: the window begins behind them.
#[test]
fn the_leak_begins_behind_the_spike_of_the_start() {
    let (source, facts) = open("leak-after-spike");
    assert_eq!(facts.measures.levels_are, "bytes that GC roots reach");
    let found = facts.suspicious(&WindowRules::default());
    let leak = found.leak.expect("a leak");
    let levels = &facts.measures.levels;
    assert!(leak.is_suspicious && leak.to == levels.len() - 1);
    // The third walk is the first without the tables.
    assert_eq!(leak.from, 2);
    let [spike, first, last] = [1, leak.from, leak.to].map(|at| levels[at].bytes);
    assert!(spike > last && last > 10 * first, "{spike} {first} {last}");
    assert!(levels[leak.from..].windows(2).all(|pair| pair[1].bytes > pair[0].bytes));
    // Levels are what the trees hold, exactly.
    for (time, level) in levels.iter().enumerate() {
        assert_eq!(level.bytes, source.timeline().value(time, NodeId::ROOT, Metric::Bytes));
    }
    let (from, to) = leak.steepest.expect("time passes");
    assert!(from >= leak.from && to <= leak.to);
    // What grows is what is never closed.
    let timeline = source.timeline();
    let sessions = timeline.find("Heap#Phases$Session").expect("sessions");
    let grown =
        timeline.value(leak.to, sessions, Metric::Objects) - timeline.value(leak.from, sessions, Metric::Objects);
    assert!(grown > 4000, "{grown}");
    // Collections take their time in it, but not too much.
    assert!(found.overhead.is_some_and(|window| !window.is_suspicious));
}

/// While a cache takes nearly all of the heap, collections of all of it take most of the time; before and after they do not.
#[test]
fn the_overhead_is_found_where_the_heap_is_full() {
    let (_, facts) = open("gc-overhead");
    let found = facts.suspicious(&WindowRules::default());
    let window = found.overhead.expect("collections");
    assert!(window.is_suspicious && window.rate() > 0.5, "{window:?}");
    assert!(window.last - window.first + 1 >= 5);
    let gcs = &facts.measures.gcs;
    let share = |from: u64, to: u64| {
        let within = facts.gcs_between(from, to);
        let spent: u64 = gcs[within].iter().map(|gc| gc.end - gc.start).sum();
        spent as f64 / (to - from) as f64
    };
    // A second before it and the rest behind the full heap: little.
    assert!(share(facts.measures.began, window.from - 700_000_000) < 0.1);
    assert!(share(window.to + 2_500_000_000, facts.ended) < 0.1);
    // No other window of five collections is stronger.
    for first in 0..gcs.len() - 5 {
        let from = if first == 0 { facts.measures.began } else { gcs[first - 1].end };
        assert!(share(from, gcs[first + 4].end) <= window.rate() + 1e-9);
    }
    // Requests throw away as much before and behind it: there is no burst.
    let churn = found.churn.expect("collections");
    let average = found.average.0 as f64 / found.average.1 as f64;
    assert!(churn.rate() < 3.0 * average, "{churn:?}, on average {average}");
    // The heap is as large at the end as it was: no leak.
    assert!(found.leak.is_none_or(|leak| !leak.is_suspicious), "{:?}", found.leak);
}

/// Requests of which each throws four objects away, recorded with every allocation; and the same with one of the four made once.
#[test]
fn one_of_four_short_lived_types_is_gone_after_the_fix() {
    let [(before, facts), (after, _)] = [open("requests"), open("requests-fixed")];
    assert!(facts.lives_are_exact, "every allocation was recorded");
    let analysis = AnalysisRegistry::built_in().get("churn").expect("the analysis");
    let types = |source: &Source| {
        let arguments = Arguments::parse(&analysis.describe(), [("by", "age>type")]).expect("arguments");
        let window = TimeWindow::whole(source.timeline());
        let found = analyses::run(&*analysis, source, window, &arguments, &Progress::new()).expect("made");
        assert!(!found.answers[0].contains("about"), "{:?}", found.answers);
        let table = &found.tables[0];
        let number = |row: usize, id: &str| match table.rows[row].cells[table.header.column(id).expect("a column")] {
            Cell::Number(n) => n,
            _ => 0,
        };
        assert!(
            matches!(&table.rows[0].cells[table.header.column("group").expect("a column")], Cell::Text(age) if age == "0 GCs survived")
        );
        let all: u64 =
            (0..table.rows.len()).filter(|&row| table.rows[row].depth == 0).map(|row| number(row, "objects")).sum();
        let large =
            (1..table.rows.len()).filter(|&row| table.rows[row].depth == 1 && number(row, "objects") * 10 > all);
        assert!(number(0, "objects") * 1000 > all * 997, "nearly all died young");
        (all, large.map(|row| number(row, "objects")).collect::<Vec<u64>>())
    };
    let ((all, four), (fewer, three)) = (types(&before), types(&after));
    assert_eq!((four.len(), three.len()), (4, 3));
    for of in &four {
        assert!((0.24..0.26).contains(&(*of as f64 / all as f64)), "about a quarter: {of} of {all}");
    }
    assert!((0.74..0.76).contains(&(fewer as f64 / all as f64)), "{fewer} of {all}");
    let compared = compare([&before, &after], [("align", "end")], &Progress::new()).expect("compared");
    let findings = &compared.report.parts[0].findings;
    assert!(findings.answers[1].contains("at the ends"), "{:?}", findings.answers);
    let died = findings.tables.iter().find(|table| table.header.id == "died").expect("what died");
    assert!(matches!(&died.rows[0].cells[0], Cell::Node(node) if node.name.ends_with("Requests$Handler")));
    let column = died.header.column("bytes_percent").expect("a column");
    assert_eq!(died.rows[0].cells[column], Cell::Percent(-100.0));
}

/// No collection.
const BEFORE: u64 = u64::MAX;

/// A run of one class: a walk behind each of these collections, which take 4 ms each and come second by second; those of some numbers are
/// single pauses. Walks of [`BEFORE`] come before any of them, so much after the recording began.
fn recording(folder: &Path, collections: u64, pauses: &[u64], walks: &[(u64, u64)]) -> PathBuf {
    recording_of(folder, collections, CollectionKind::Minor, pauses, walks)
}

/// The same with collections of a kind.
fn recording_of(
    folder: &Path,
    collections: u64,
    kind: CollectionKind,
    pauses: &[u64],
    walks: &[(u64, u64)],
) -> PathBuf {
    let path = folder.join("run.mcity");
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let mut tables = TraceTables::new(100);
    let name = tables.string("shop.Cart").expect("a number");
    let class = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
    tables.write_new(&mut writer).expect("written");
    let fact = |key: &str, value: &str| RunRow { key: key.into(), value: value.into() };
    let facts = [("recording.started", "2000"), ("vm.started", "1000"), ("recording.mode", "samples")];
    writer.write(&facts.map(|(key, value)| fact(key, value))).expect("written");
    let walk = |writer: &mut TraceWriter, gc: Option<u64>, time: u64| {
        let start = WalkStartRow { time, gc, all_alive: true, ..WalkStartRow::default() };
        let mut walk = writer.begin_walk(start).expect("a walk");
        walk.object(&WalkObject { class, ..WalkObject::default() }, &[]).expect("listed");
        walk.finish(None).expect("finished");
    };
    for &(_, time) in walks.iter().filter(|(gc, _)| *gc == BEFORE) {
        walk(&mut writer, None, time);
    }
    for number in 0..collections {
        let scope = if pauses.contains(&number) { GcScope::Pause } else { GcScope::Whole };
        let (start, duration) = ((number + 1) * 1_000_000_000, 4_000_000);
        writer.write(&[GcRow { number, start, duration, kind, scope, ..GcRow::default() }]).expect("written");
        for (_, later) in walks.iter().filter(|(gc, _)| *gc == number) {
            walk(&mut writer, Some(number), start + duration + later);
        }
    }
    writer.finish("done").expect("finished");
    path
}

fn findings(source: &Source, id: &str, (from, to): (usize, usize)) -> Findings {
    let analysis = AnalysisRegistry::built_in().get(id).expect("the analysis");
    let arguments = Arguments::parse(&analysis.describe(), []).expect("arguments");
    analyses::run(&*analysis, source, TimeWindow { from, to }, &arguments, &Progress::new()).expect("run")
}

/// Concurrent collectors: the VM tells single pauses, and notes say that times are those of pauses.
#[test]
fn times_of_single_pauses_are_said_to_be_such() {
    let folder = tempfile::tempdir().expect("a folder");
    // None behind the second.
    let path = recording(folder.path(), 3, &[1, 2], &[(0, 0), (2, 0)]);
    let source = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    for id in ["collections", "run"] {
        let said = findings(&source, id, (0, 1)).notes.join("\n");
        assert!(said.contains("Of 2 of 3 collections the times are those of one pause only"), "{id}: {said}");
    }
}

/// Concurrent collectors: no text calls a pause a collection, and none is full. Ids for programs stay the same.
#[test]
fn pauses_are_called_so_everywhere() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let all: Vec<u64> = (0..8).collect();
    let [pauses, collections] = [&all[..], &[]].map(|pauses| {
        let folder = folders[usize::from(pauses.is_empty())].path();
        let path = recording_of(folder, 8, CollectionKind::Major, pauses, &[(0, 0), (3, 0), (3, 500_000_000), (6, 0)]);
        Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording")
    });
    let labels: Vec<&str> = pauses.timeline().points().iter().map(|point| &*point.label).collect();
    assert_eq!(
        labels,
        ["Walk 1 after pause 0", "Walk 2 after pause 3", "Walk 3 after pause 3", "Walk 4 after pause 6"]
    );
    // What pauses are of, and what is not known of those.
    let of_pauses = [
        "Pauses of garbage collections",
        "pauses of collections stopped",
        "pause of a garbage collection",
        "by the collection that it is a pause of",
        "a part of the heap was collected",
        "Minor collections look at a part of the heap",
        "several times for one collection",
        "How many collections there were",
        "a collection has several of them",
        "what each collection freed",
        "What collections freed is not recorded",
    ];
    for id in ["collections", "run", "heap", "windows"] {
        let found = findings(&pauses, id, (0, 3));
        let ids = |found: &Findings| -> Vec<Vec<String>> {
            let of = |table: &ResultTable| table.header.columns.iter().map(|column| column.id.clone()).collect();
            found.tables.iter().map(of).collect()
        };
        assert_eq!(ids(&found), ids(&findings(&collections, id, (0, 3))), "{id}");
        let mut texts = [found.answers.clone(), found.notes.clone()].concat();
        for table in &found.tables {
            texts.extend([table.header.title.clone(), table.empty_text.clone()]);
            texts.extend(table.header.columns.iter().flat_map(|of| [of.title.clone(), of.explanation.clone()]));
            texts.extend(table.rows.iter().flat_map(|row| &row.cells).map(Cell::plain));
        }
        assert!(texts.iter().any(|text| text.contains("ause")), "{id}: {texts:?}");
        for text in &texts {
            let lower = |text: &str| text.to_lowercase();
            let rest = of_pauses.iter().fold(lower(text), |text, of| text.replace(&lower(of), ""));
            assert!(!rest.contains("collection") && !rest.contains("full") && rest != "gc", "{id}: {text}");
        }
    }
    let found = findings(&pauses, "collections", (0, 3));
    let kind = found.tables[0].header.column("kind").expect("a column");
    assert!(found.tables[0].rows.iter().all(|row| row.cells[kind] == Cell::Text("major".into())));
    // Those of the whole heap are found by the same word as ever.
    let analysis = AnalysisRegistry::built_in().get("collections").expect("the analysis");
    for (wanted, rows) in [("full", 8), ("minor", 0)] {
        let arguments = Arguments::parse(&analysis.describe(), [("kind", wanted)]).expect("arguments");
        let window = TimeWindow { from: 0, to: 3 };
        let found = analyses::run(&*analysis, &pauses, window, &arguments, &Progress::new()).expect("run");
        assert_eq!(found.tables[0].rows.len(), rows, "{wanted}");
    }
    // With so few of them no window is looked for.
    let few = findings(&pauses, "windows", (0, 1)).notes.join("\n");
    assert!(few.contains("There are 4 pauses, and a window needs 5"), "{few}");
}

/// After as many pauses, where both runs tell these; where only one does, they are not as far.
#[test]
fn runs_are_aligned_by_what_both_tell() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [pauses, collections] = [&[0, 1, 2, 3][..], &[]].map(|pauses| {
        let folder = folders[usize::from(pauses.is_empty())].path();
        let path = recording(folder, 4, pauses, &[(0, 0), (3, 0)]);
        Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording")
    });
    for (runs, place, title, note) in [
        ([&pauses, &pauses], "after 4 pauses", "Pauses", None),
        ([&collections, &collections], "after 4 collections", "Collections", None),
        (
            [&collections, &pauses],
            "after 4 collections",
            "Collections",
            Some("Of A collections are counted, of B pauses:"),
        ),
    ] {
        let compared = compare(runs, [("align", "gcs")], &Progress::new()).expect("compared");
        assert_eq!(compared.aligned.place_text(), place);
        let findings = &compared.report.parts[0].findings;
        let trend = findings.tables.iter().find(|table| table.header.id == "trend").expect("the way there");
        let at = trend.header.column("at").expect("a column");
        assert_eq!(trend.header.columns[at].title, title);
        let said = findings.notes.iter().find(|text| text.starts_with("Of A "));
        assert_eq!(said.is_some(), note.is_some(), "{said:?}");
        assert!(said.zip(note).is_none_or(|(said, note)| said.starts_with(note)), "{said:?}");
        // By time it does not matter.
        let by_time = compare(runs, [("align", "time")], &Progress::new()).expect("compared");
        assert!(!by_time.report.parts[0].findings.notes.iter().any(|text| text.starts_with("Of A ")));
    }
}

/// Several walks may follow one collection, and collections come without a walk. Each collection counts once, and
/// stands at the first walk after it.
#[test]
fn each_collection_of_a_recording_counts_once() {
    let folder = tempfile::tempdir().expect("a folder");
    // One at its very end, three later; none behind the second.
    let path =
        recording(folder.path(), 4, &[], &[(0, 0), (2, 300_000_000), (2, 500_000_000), (2, 700_000_000), (3, 9)]);
    let source = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    let cells = |table: &ResultTable, column: &str| -> Vec<Cell> {
        let at = table.header.column(column).unwrap_or_else(|| panic!("no column {column}"));
        table.rows.iter().map(|row| row.cells[at].clone()).collect()
    };
    let found = findings(&source, "collections", (0, 4));
    let text = |label: &str| Cell::Text(label.to_owned());
    // The walk at the end of a collection has seen what survived.
    let labels = ["Walk 1 after GC 0", "GC 1", "GC 2", "Walk 5 after GC 3"].map(text);
    assert_eq!(cells(&found.tables[0], "label"), labels);
    assert_eq!(cells(&found.tables[0], "survived"), [Cell::Number(1), Cell::Empty, Cell::Empty, Cell::Number(1)]);
    let totals = &found.tables[1];
    assert_eq!((cells(totals, "count"), cells(totals, "pause")), (vec![Cell::Number(4)], vec![Cell::Number(16)]));
    assert!(found.notes[0].starts_with("4 collections paused the program for 16 ms of 4.004 s"), "{:?}", found.notes);
    // From a walk at the end of a collection that one counts, from one in between only what came later.
    for (window, count) in [((0, 1), 3), ((1, 3), 0), ((1, 4), 1)] {
        assert_eq!(findings(&source, "collections", window).tables[0].rows.len(), count, "{window:?}");
    }

    let times = &findings(&source, "heap", (0, 4)).tables[0];
    let [once, again] = [Cell::Number(4), Cell::Empty];
    let pauses = [&once, &once, &again, &again, &once].map(Clone::clone);
    assert_eq!(cells(times, "pause"), pauses);
    assert_eq!(cells(times, "gc_kind").iter().filter(|cell| **cell == text("minor")).count(), 3);
    // As trees they are the same points, of which nobody knows what came between.
    let trees = folder.path().join("trees.json");
    let mut file = std::fs::File::create(&trees).expect("a file");
    json::write(source.timeline(), None, json::Form::Document, &mut file, &trees, &Progress::new()).expect("written");
    let trees = Source::open(&[trees], "auto", GroupOptions::default(), &Progress::new()).expect("trees");
    assert_eq!(findings(&trees, "collections", (0, 4)).tables[0].rows.len(), 3);
}

/// A walk before the first collection takes no collection from later walks. If there is none at all, a note says so.
#[test]
fn collections_are_known_whatever_the_first_walk_came_after() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = recording(folder.path(), 3, &[], &[(BEFORE, 400_000_000), (0, 5), (2, 300_000_000)]);
    let source = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    let found = findings(&source, "collections", (0, 2));
    assert_eq!(found.tables[0].rows.len(), 3);
    assert!(found.notes[0].starts_with("3 collections paused the program for 12 ms"), "{:?}", found.notes);
    let times = &findings(&source, "heap", (0, 2)).tables[0];
    let cells = |column: &str| -> Vec<Cell> {
        let at = times.header.column(column).unwrap_or_else(|| panic!("no column {column}"));
        times.rows.iter().map(|row| row.cells[at].clone()).collect()
    };
    assert_eq!(cells("pause"), [Cell::Empty, Cell::Number(4), Cell::Number(4)]);
    // All by one clock: since the program started, a second before it was recorded.
    assert_eq!(cells("taken"), [1400, 2004, 4304].map(Cell::Time));
    // How far it is at its first walk, and at its last.
    let other = tempfile::tempdir().expect("a folder");
    let path = recording(other.path(), 4, &[], &[(1, 5)]);
    let later = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    for (align, ends) in [("gcs", [3.0, 2.0]), ("time", [4304.0, 3004.0])] {
        let compared = compare([&source, &later], [("align", align)], &Progress::new()).expect("compared");
        assert_eq!(compared.aligned.ends(), ends, "{align}");
    }

    let other = tempfile::tempdir().expect("a folder");
    let path = recording(other.path(), 0, &[], &[(BEFORE, 400_000_000)]);
    let source = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    let window = TimeWindow::whole(source.timeline());
    let registry = AnalysisRegistry::built_in();
    let analysis = registry.get("collections").expect("the analysis");
    let error = report::analyse(&analysis, &source, window, [], &Progress::new()).expect_err("there was none");
    assert!(error.to_string().contains("No garbage collection happened while"), "{error}");
}

/// What a trace says of its collections, it says as a recording as well.
#[test]
fn collections_of_a_converted_trace_are_those_of_the_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let progress = Progress::new();
    let path = root().join("tests/data/anttracks/person-leak-cms");
    let trace = Source::open(&[path], "type", GroupOptions::default(), &progress).expect("a trace");
    let file = folder.path().join("converted.mcity");
    let series = trace.heaps().expect("a trace").series();
    let all: Vec<usize> = (0..series.points().len()).collect();
    wire::save(&**series, &all, &file, &progress).expect("saved");
    let walks = Source::open(&[file], "type", GroupOptions::default(), &progress).expect("a recording");
    let last = trace.timeline().times() - 1;
    for window in [(0, last), (2, 3), (3, last)] {
        let [expected, found] = [&trace, &walks].map(|source| findings(source, "collections", window).tables);
        assert!(!expected[0].rows.is_empty());
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected.rows, found.rows, "{window:?}");
        }
    }
}

/// Samples are found by the class of a group, whatever it lies below.
#[test]
fn arrays_of_primitive_values_have_their_samples() {
    let path = root().join("tests/data/recordings/leak-after-spike");
    let progress = Progress::new();
    let samples = |grouping: &str, key: &str| {
        let source = Source::open(std::slice::from_ref(&path), grouping, GroupOptions::default(), &progress)
            .expect("a recording");
        let node = source.timeline().find(key).unwrap_or_else(|| panic!("no {key}"));
        analyses::sampled_shares(&source, node, 2, &progress).expect("read").expect("samples")
    };
    let expected = samples("type", "Heap#byte[]");
    assert!(expected.samples > 0);
    assert_eq!(samples("package>type", "Heap#(primitive arrays)#byte[]"), expected);
}

/// Of groups that are no classes the samples are those of their objects: each living sample is with one owner, and with the class that it
/// is of.
#[test]
fn groups_of_owners_have_the_samples_of_their_objects() {
    let path = root().join("tests/data/recordings/leak-after-spike");
    let progress = Progress::new();
    let samples_of = |grouping: &str| {
        let source = Source::open(std::slice::from_ref(&path), grouping, GroupOptions::default(), &progress)
            .expect("a recording");
        let timeline = source.timeline();
        let last = timeline.times() - 1;
        let shares = |node| analyses::sampled_shares(&source, node, last, &progress).expect("read").expect("samples");
        let of_all = shares(NodeId::ROOT);
        let groups: Vec<_> =
            timeline.nodes().filter(|n| timeline.parent(*n) == Some(NodeId::ROOT)).map(shares).collect();
        (of_all, groups)
    };
    let (of_all, owners) = samples_of("owner");
    let (of_all_types, types) = samples_of("type");
    assert!(of_all.samples > 10 && of_all.places == of_all_types.places, "{of_all:?} {of_all_types:?}");
    for groups in [&owners, &types] {
        assert_eq!(groups.iter().map(|of| of.samples).sum::<u64>(), of_all.samples);
    }
    // What leaks has its line, whoever asks for it.
    let most = |groups: &[analyses::SampledShares]| groups.iter().max_by_key(|of| of.samples).expect("groups").clone();
    let (owner, class) = (most(&owners), most(&types));
    assert!(owner.samples >= class.samples / 2 && owner.class != class.class, "{owner:?} {class:?}");
    assert!(owner.places[0].place.contains(" line "), "{owner:?}");
}
