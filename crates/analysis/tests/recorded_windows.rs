//! Suspicious windows, churn and the effect of a fix, of runs that were recorded: programs of benches/java on JDK 17.
//!
//! The recordings lie in tests/data/recordings; docs/churn.md says how they were made, and what larger ones of the same programs say.

use memory_city_analysis::analyses::compare::compare;
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::run::RunFacts;
use memory_city_analysis::tabular::Cell;
use memory_city_analysis::timeline::{Metric, NodeId, Source};
use memory_city_analysis::windows::WindowRules;
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use memory_city_wire::{
    ClassRow, CollectionKind, GcRow, GcScope, RunRow, TraceOptions, TraceTables, TraceWriter, WalkObject, WalkStartRow,
};

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

/// Of collectors that work beside the program the VM tells single pauses: where times are those of one, that is said.
#[test]
fn times_of_single_pauses_are_said_to_be_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.mcity");
    let mut writer = TraceWriter::create_file(&path, TraceOptions::default()).expect("a writer");
    let mut tables = TraceTables::new(100);
    let name = tables.string("shop.Cart").expect("a number");
    let class = tables.class(ClassRow { name, base: 16, ..ClassRow::default() });
    tables.write_new(&mut writer).expect("written");
    let fact = |key: &str, value: &str| RunRow { key: key.into(), value: value.into() };
    writer.write(&[fact("recording.started", "2000"), fact("vm.started", "1000")]).expect("written");
    for (number, scope) in [(0, GcScope::Whole), (1, GcScope::Pause), (2, GcScope::Pause)] {
        let start = (number + 1) * 1_000_000_000;
        let (duration, kind) = (4_000_000, CollectionKind::Minor);
        writer.write(&[GcRow { number, start, duration, kind, scope, ..GcRow::default() }]).expect("written");
        // None behind the second.
        if number != 1 {
            let time = start + duration;
            let start = WalkStartRow { time, gc: Some(number), all_alive: true, ..WalkStartRow::default() };
            let mut walk = writer.begin_walk(start).expect("a walk");
            walk.object(&WalkObject { class, ..WalkObject::default() }, &[]).expect("listed");
            walk.finish(None).expect("finished");
        }
    }
    writer.finish("done").expect("finished");
    let source = Source::open(&[path], "type", GroupOptions::default(), &Progress::new()).expect("a recording");
    let notes = |id: &str| {
        let analysis = AnalysisRegistry::built_in().get(id).expect("the analysis");
        let arguments = Arguments::parse(&analysis.describe(), []).expect("arguments");
        let window = TimeWindow::whole(source.timeline());
        analyses::run(&*analysis, &source, window, &arguments, &Progress::new()).expect("run").notes.join("\n")
    };
    let said = notes("collections");
    assert!(said.contains("Of 1 of 2 collections the times are those of one pause only"), "{said}");
    let said = notes("run");
    assert!(said.contains("Of 2 of 3 collections the times are those of one pause only"), "{said}");
}
