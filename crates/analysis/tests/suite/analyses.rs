//! What analyses find, held against counts made without them, and against what each says of itself.

use memory_city_analysis::analyses::{
    self, Analysis, AnalysisRegistry, Arguments, Description, Finding, Findings, LeakPlace, Need, ParameterKind,
    TimeWindow, report,
};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::tabular::{Cell, CellKind, CsvTexts, ResultTable, RowSource, write_csv, write_text};
use memory_city_analysis::timeline::{AUTO, Amount, GcKind, MetricInfo, NodeId, Source, Unit};
use memory_city_formats::wire::{CountStream, StreamCount};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_testing::root;
use std::collections::{BTreeMap, BTreeSet, HashSet};

fn open(path: &str, grouping: &str, options: GroupOptions) -> Source {
    Source::open(&[root().join(path)], grouping, options, &Progress::new()).expect(path)
}

/// An input of each kind: dumps, a trace, trees with references, trees without.
fn inputs() -> Vec<(&'static str, Source)> {
    let paths = [
        "sample-data/person-leak",
        "tests/data/anttracks/person-leak-g1",
        "sample-data/json/all-times.json",
        "sample-data/json/lines.jsonl",
        "sample-data/json/one-time.json",
    ];
    paths.map(|path| (path, open(path, AUTO, GroupOptions::default()))).into()
}

fn run(source: &Source, id: &str, window: TimeWindow, given: &[(&str, &str)]) -> Findings {
    let analysis = AnalysisRegistry::built_in().get(id).expect(id);
    let arguments = Arguments::parse(&analysis.describe(), given.iter().copied()).expect("arguments");
    analyses::run(&*analysis, source, window, &arguments, &Progress::new()).expect(id)
}

fn cell<'a>(table: &'a ResultTable, row: usize, column: &str) -> &'a Cell {
    &table.rows[row].cells[table.header.column(column).unwrap_or_else(|| panic!("no column {column}"))]
}

/// Trees in JSON as a source.
fn trees(text: &str) -> Source {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trees.json");
    std::fs::write(&path, text).expect("written");
    Source::open(&[path], AUTO, GroupOptions::default(), &Progress::new()).expect("trees")
}

#[test]
fn every_table_is_what_its_header_says_in_every_form() {
    for (path, source) in inputs() {
        let window = TimeWindow::whole(source.timeline());
        for analysis in AnalysisRegistry::built_in().iter() {
            let description = analysis.describe();
            if description.check(&source, window).is_err() {
                continue;
            }
            let report = report::analyse(analysis, &source, window, [], &Progress::new()).expect("findings");
            assert!(report.tables().count() > 0, "{path}: {} finds no table", description.id);
            for table in report.tables() {
                check_table(path, table);
            }
            let mut text = Vec::new();
            report.write_json(&mut text).expect("JSON");
            let json: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(json["version"], 2);
            assert_eq!(json["analyses"][0]["id"], description.id);
            for (table, json) in report.tables().zip(json["analyses"][0]["tables"].as_array().expect("tables")) {
                let rows = json["rows"].as_array().expect("rows");
                assert_eq!(rows.len(), table.rows.len());
                for (row, json) in table.rows.iter().zip(rows) {
                    for (column, cell) in table.header.columns.iter().zip(&row.cells) {
                        let value = &json["values"][&column.id];
                        match cell {
                            Cell::Node(link) => assert_eq!(value["key"], link.key),
                            Cell::Empty => assert_eq!(*value, serde_json::Value::Null),
                            Cell::Percent(p) if p.is_infinite() => assert_eq!(*value, serde_json::Value::Null),
                            // The reader of JSON may be wrong in the last binary digit.
                            Cell::Percent(p) => {
                                let read = value.as_f64().expect("a number");
                                assert!((read - p).abs() <= p.abs() * 1e-12, "{read} for {p}");
                            }
                            Cell::Text(text) => assert_eq!(value, text),
                            Cell::Series(values) => assert_eq!(value.as_array().map(Vec::len), Some(values.len())),
                            // JSON has one kind of numbers.
                            number => {
                                let plain: f64 = number.plain().parse().expect("a number");
                                assert_eq!(value.as_f64(), Some(plain));
                            }
                        }
                    }
                }
            }
        }
    }
}

fn check_table(path: &str, table: &ResultTable) {
    let header = &table.header;
    let ids: HashSet<&str> = header.columns.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids.len(), header.columns.len(), "{path}: columns of {} share an id", header.id);
    assert!(header.columns.iter().all(|c| !c.title.is_empty() && !c.explanation.is_empty()));
    for row in &table.rows {
        assert_eq!(row.cells.len(), header.columns.len());
        assert!(row.depth == 0 || header.nested);
        for (column, cell) in header.columns.iter().zip(&row.cells) {
            let fits = match (column.kind, cell) {
                (_, Cell::Empty)
                | (CellKind::Text, Cell::Text(_))
                | (CellKind::Number(_), Cell::Number(_))
                | (CellKind::Change(_), Cell::Change(_))
                | (CellKind::Percent, Cell::Percent(_))
                | (CellKind::Time | CellKind::Uptime, Cell::Time(_))
                | (CellKind::Series(_), Cell::Series(_)) => true,
                // A key is found again.
                (CellKind::Node, Cell::Node(link)) => !link.key.is_empty(),
                _ => false,
            };
            assert!(fits, "{path}: {} holds {cell:?}", column.id);
        }
    }
    // What is written as CSV is read back as the same cells, whatever the names.
    let mut csv = Vec::new();
    write_csv(table, CsvTexts::Raw, &mut csv, &Progress::new()).expect("CSV");
    let mut reader = csv::Reader::from_reader(&csv[..]);
    let names = reader.headers().expect("a header").clone();
    let records: Vec<csv::StringRecord> = reader.records().collect::<std::result::Result<_, _>>().expect("CSV");
    assert_eq!(records.len(), table.rows.len());
    for (record, row) in records.iter().zip(&table.rows) {
        for (column, cell) in header.columns.iter().zip(&row.cells) {
            let key = if column.kind == CellKind::Node { format!("{}_key", column.id) } else { column.id.clone() };
            let at = names.iter().position(|n| n == key).expect("a column");
            assert_eq!(record[at], cell.plain());
        }
        if let Some(at) = names.iter().position(|n| n == "kind").filter(|_| !header.kinds.is_empty()) {
            assert_eq!(record[at], header.kinds[row.kind].id);
        }
    }
    // Every place in a sentence is a column: nothing in braces is left.
    for kind in &header.kinds {
        for place in kind.sentence.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            let id = place.strip_suffix(".path").unwrap_or(place);
            assert!(header.column(id).is_some(), "{}: no column {id}", kind.id);
        }
    }
    let mut text = Vec::new();
    write_text(table, usize::MAX, &mut text, &Progress::new()).expect("text");
    assert!(String::from_utf8(text).expect("text").lines().count() > table.len());
}

#[test]
fn growth_of_a_range_is_the_difference_of_its_ends() {
    let source = open("sample-data/person-leak", "type", GroupOptions::default());
    let timeline = source.timeline();
    let window = TimeWindow { from: 4, to: 9 };
    let found = run(&source, "growth", window, &[("top", "7"), ("metric", "objects")]);
    let table = &found.tables[0];
    let mut expected: Vec<(i64, NodeId)> = timeline
        .nodes()
        .filter(|&n| timeline.children(n).is_empty())
        .map(|n| (timeline.amount(9, n).objects as i64 - timeline.amount(4, n).objects as i64, n))
        .filter(|(growth, _)| *growth > 0)
        .collect();
    expected.sort_by_key(|&(growth, n)| (-growth, n));
    let groups: Vec<usize> = (0..table.rows.len()).filter(|&i| table.rows[i].depth == 0).collect();
    assert_eq!(groups.len(), 7);
    for (&row, (growth, node)) in groups.iter().zip(&expected) {
        assert!(matches!(cell(table, row, "group"), Cell::Node(link) if link.key == timeline.key(*node)));
        assert_eq!(*cell(table, row, "growth_objects"), Cell::Change(*growth));
        assert_eq!(*cell(table, row, "last_bytes"), Cell::Number(timeline.amount(9, *node).bytes));
        let peak = (4..=9).map(|t| timeline.amount(t, *node).objects).max().expect("times");
        assert_eq!(*cell(table, row, "peak_objects"), Cell::Number(peak));
    }
    assert_eq!(table.left_out.as_ref().map(|l| l.0), Some(expected.len() as u64 - 7), "what is cut is counted");
}

/// A hundred A's: one B refers to 60 of them, a root holds four.
const OWNED: &str = r#"{"format": "memory-city", "version": 1, "times": [
    {"label": "1", "tree": {"children": [{"name": "A", "objects": 1, "bytes": 1}, {"name": "B", "objects": 1, "bytes": 1}]}},
    {"label": "2",
     "tree": {"children": [{"name": "A", "objects": 100, "bytes": 100}, {"name": "B", "objects": 1, "bytes": 1}]},
     "points-to": {"Heap#B": {"Heap#A": {"referencing": 1, "referenced": 60, "references": 60}}},
     "roots": {"Heap#A": {"Static field: X.a": 4, "JNI: global": 1}, "Heap#B": {"Static field: X.b": 1}}}]}"#;

/// A's are held by N's, and of these, three by M's: perhaps others than those that hold A's.
#[test]
fn the_chain_of_owners_ends_where_it_may_leave_what_it_follows() {
    let source = trees(
        r#"{"format": "memory-city", "version": 1, "times": [
    {"label": "1", "tree": {"children": [{"name": "A", "objects": 1, "bytes": 1}]}},
    {"label": "2", "tree": {"children": [{"name": "A", "objects": 50, "bytes": 9000},
        {"name": "N", "objects": 100, "bytes": 100}, {"name": "M", "objects": 9, "bytes": 9}]},
     "points-to": {"Heap#N": {"Heap#A": {"referencing": 50, "referenced": 50, "references": 50}},
        "Heap#M": {"Heap#N": {"referencing": 3, "referenced": 60, "references": 60}}}}]}"#,
    );
    let found = run(&source, "growth", TimeWindow::whole(source.timeline()), &[]);
    let table = &found.tables[0];
    let ends: Vec<String> = (0..table.rows.len())
        .filter(|&row| table.header.kinds[table.rows[row].kind].id == "chain_end")
        .map(|row| cell(table, row, "end").text(CellKind::Text))
        .collect();
    assert!(ends[0].starts_with("not known further up: ") && ends[0].contains("60 of 100 objects"), "{ends:?}");
}

#[test]
fn the_chain_of_owners_ends_where_its_parameters_say() {
    let source = trees(OWNED);
    let window = TimeWindow::whole(source.timeline());
    let chain = |given: &[(&str, &str)]| -> Vec<String> {
        let found = run(&source, "growth", window, given);
        let table = &found.tables[0];
        let is = |row: usize, kind: &str| table.header.kinds[table.rows[row].kind].id == kind;
        (0..table.rows.len())
            .filter_map(|row| match () {
                () if is(row, "owner") => Some(cell(table, row, "group").text(CellKind::Node)),
                () if is(row, "chain_end") => Some(cell(table, row, "end").text(CellKind::Text)),
                () => None,
            })
            .collect()
    };
    // B owns more than half: the way goes on to it, and ends at its root.
    assert_eq!(chain(&[]), ["B", "held by Static field: X.b"]);
    assert_eq!(chain(&[("owner_share", "59")]), ["B", "held by Static field: X.b"]);
    // Where 60 of 100 is not enough of an owner, the root that holds 4, half of 8, ends it.
    assert_eq!(chain(&[("owner_share", "60")]), ["held by Static field: X.a"]);
    assert_eq!(chain(&[("owner_share", "60"), ("root_share", "51")]), ["B", "held by Static field: X.b"]);
    assert_eq!(chain(&[("owner_share", "60"), ("small_group", "9")]), ["B", "held by Static field: X.b"]);
    // Of a small group any root that holds enough is the end.
    assert_eq!(chain(&[("small_group", "100")]), ["B", "held by Static field: X.b"], "4 is less than half of 100");
    assert_eq!(chain(&[("small_group", "100"), ("root_share", "4")]), ["held by Static field: X.a"]);
    assert_eq!(chain(&[("longest_chain", "1")]), ["and further up"]);

    let found = run(&source, "growth", window, &[("roots", "1"), ("referrers", "0")]);
    let kinds: Vec<&str> =
        found.tables[0].rows.iter().map(|r| found.tables[0].header.kinds[r.kind].id.as_str()).collect();
    assert_eq!(kinds, ["group", "more_referrers", "root", "more_roots", "owner", "chain_end"], "cuts are counted");
}

#[test]
fn collections_are_those_of_the_trace_and_what_survives_is_in_the_heap() {
    for trace in ["churn-g1", "churn-parallel", "person-leak-cms", "person-leak-parallel"] {
        for gc_starts in [false, true] {
            let options = GroupOptions { gc_starts, include_unreachable: false };
            let source = open(&format!("tests/data/anttracks/{trace}"), AUTO, options);
            let found = run(&source, "collections", TimeWindow::whole(source.timeline()), &[]);
            let (table, totals) = (&found.tables[0], &found.tables[1]);
            let series = source.heaps().expect("a trace").series();
            let ends =
                series.points().iter().enumerate().filter_map(|(i, p)| Some((i, p.gc.as_ref().filter(|g| g.end)?)));
            let mut sums: BTreeMap<(&str, &str), [u64; 5]> = BTreeMap::new();
            let mut rows = 0;
            for (row, (i, gc)) in ends.enumerate() {
                let heap = series.load(i, &Progress::new()).expect("a state");
                let survived = heap.object_count() as u64;
                let kind = if gc.kind == GcKind::Major { "full" } else { "minor" };
                assert_eq!(*cell(table, row, "kind"), Cell::Text(kind.into()));
                assert_eq!(*cell(table, row, "cause"), Cell::Text(gc.cause.clone()));
                assert_eq!(*cell(table, row, "pause"), Cell::Number(gc.duration));
                assert_eq!(*cell(table, row, "freed"), gc.freed.map_or(Cell::Empty, Cell::Number));
                assert_eq!(*cell(table, row, "survived"), Cell::Number(survived), "{trace} {gc_starts} {row}");
                let sum = sums.entry((kind, &gc.cause)).or_default();
                *sum = [
                    sum[0] + 1,
                    sum[1] + gc.duration,
                    sum[2].max(gc.duration),
                    sum[3] + gc.freed.unwrap_or(0),
                    sum[4] + survived,
                ];
                rows += 1;
            }
            assert_eq!(table.rows.len(), rows);
            assert_eq!(totals.rows.len(), sums.len());
            for (row, ((kind, cause), [count, pause, longest, freed, survived])) in sums.into_iter().enumerate() {
                assert_eq!(*cell(totals, row, "kind"), Cell::Text(kind.into()));
                assert_eq!(*cell(totals, row, "cause"), Cell::Text(cause.into()));
                assert_eq!(*cell(totals, row, "count"), Cell::Number(count));
                assert_eq!(*cell(totals, row, "pause"), Cell::Number(pause));
                assert_eq!(*cell(totals, row, "longest"), Cell::Number(longest));
                assert_eq!(*cell(totals, row, "freed"), Cell::Number(freed));
                let Cell::Percent(survival) = *cell(totals, row, "survival") else { panic!("no survival") };
                let expected = 100.0 * survived as f64 / (survived + freed) as f64;
                assert!((survival - expected).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn growth_is_measured_in_any_metric_of_the_input() {
    let mut source = trees(OWNED);
    let Source::Trees(trees) = &mut source else { panic!("these are trees") };
    // B keeps more from time to time, though it does not grow.
    let (timeline, b) = ((*trees.timeline).clone(), trees.timeline.find("Heap#B").expect("it is there"));
    let info = MetricInfo::new("retained", "Retained bytes", Unit::Bytes);
    trees.timeline = timeline.with_metric(info, |t, node| if node == b { 5000 * (t as u64 + 1) } else { 7 }).into();
    let options = report::ReportOptions { metric: "retained".into(), ..Default::default() };
    let report = report::report(&source, &options, &Progress::new()).expect("a report");
    let table = report.table("growing").expect("what grows");
    assert_eq!(table.rows.iter().filter(|row| row.depth == 0).count(), 1);
    assert_eq!(*cell(table, 0, "growth_retained"), Cell::Change(5000));
    assert_eq!(*cell(table, 0, "peak_retained"), Cell::Number(10_000));
    let text = report.to_string();
    assert!(
        text.contains("(retained, first to last") && text.contains("+5.00 kB retained bytes   (5.00 kB -> 10.0 kB)")
    );
    check_table("a further metric", table);
}

#[test]
fn what_an_input_lacks_is_said() {
    let dumps = open("sample-data/person-leak", AUTO, GroupOptions::default());
    let window = TimeWindow::whole(dumps.timeline());
    let collections = AnalysisRegistry::built_in().get("collections").expect("it is there");
    let error = report::analyse(&collections, &dumps, window, [], &Progress::new()).expect_err("no GCs");
    assert!(error.to_string().contains("does not record garbage collections"), "{error}");

    let growth = AnalysisRegistry::built_in().get("growth").expect("it is there");
    let error = report::analyse(&growth, &dumps, TimeWindow { from: 3, to: 3 }, [], &Progress::new());
    assert!(error.expect_err("one time").to_string().contains("Only one point in time is looked at"));

    let without = open("sample-data/json/lines.jsonl", AUTO, GroupOptions::default());
    let whole = TimeWindow::whole(without.timeline());
    assert!(Need::Objects.check(&without, whole).is_err());
    assert!(Need::References.check(&without, whole).is_err());
    let with = trees(OWNED);
    assert_eq!(Need::References.check(&with, TimeWindow::whole(with.timeline())), Ok(()));
    assert!(Need::References.check(&with, TimeWindow { from: 0, to: 0 }).is_err(), "the first time tells none");
    for need in [Need::Objects, Need::References, Need::TwoTimes] {
        assert_eq!(need.check(&dumps, window), Ok(()));
    }
    let one = report::report(
        &dumps,
        &report::ReportOptions { window: (Some(2), Some(2)), ..Default::default() },
        &Progress::new(),
    );
    assert!(one.expect("a report of one time").to_string().contains("Only one point in time is looked at"));
}

/// Class histograms: a message names the numbers they do not have, and no zero stands for an unknown one.
#[test]
fn the_report_of_counts_by_class_says_what_they_lack() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("watched.mcity");
    let file = std::fs::File::create(&path).expect("a file");
    let mut stream = CountStream::on_file(file, &path, &[("recording.started", "1000".into())]).expect("begun");
    let of = |class, objects| StreamCount { class, frames: &[], objects, bytes: 16 * objects };
    for time in 0..3 {
        let counts = [of("shop.cache.Entry", 10 + 1000 * time), of("shop.Main", 1), of("byte[]", 7)];
        stream.write(1_000_000_000 * (time + 1), None, true, counts).expect("written");
    }
    stream.finish("done").expect("ended");
    let source = Source::open(&[path], AUTO, GroupOptions::default(), &Progress::new()).expect("counts");
    assert_eq!(source.grouping_id(), "Package › Type", "types without a package lie beside packages");
    let report = report::report(&source, &report::ReportOptions::default(), &Progress::new()).expect("a report");
    let text = report.to_string();
    assert!(text.starts_with("GROWS  Entry grows most: "), "{text}");
    assert!(
        text.contains("\n\nWHAT LEAKS\n  Counts by class have no references: what keeps what grows is not known"),
        "{text}"
    );
    assert!(text.contains(". Heap › Package: shop.cache › Type: Entry grows most, see below.\n"), "{text}");
    assert!(!text.to_lowercase().contains("unreachable"), "{text}");
    // A tree that says so has what no root reaches.
    let with = trees(
        r#"{"format": "memory-city", "version": 1, "unreachable": {"objects": 3, "bytes": 48}, "tree": {"name": "Heap", "objects": 1, "bytes": 16}}"#,
    );
    let times = run(&with, "heap", TimeWindow { from: 0, to: 0 }, &[]).tables.remove(0);
    assert_eq!(*cell(&times, 0, "unreachable"), Cell::Number(48));
}

#[test]
fn windows_and_metrics_that_are_not_there_are_refused() {
    let dumps = open("sample-data/json/lines.jsonl", AUTO, GroupOptions::default());
    let timeline = dumps.timeline();
    assert_eq!(TimeWindow::of(timeline, Some(2), None).expect("a range"), TimeWindow { from: 1, to: 2 });
    for (from, to, part) in [
        (Some(0), None, "--from be from 1 to 3"),
        (None, Some(4), "--to be from 1 to 3"),
        (Some(3), Some(2), "no larger"),
    ] {
        let error = TimeWindow::of(timeline, from, to).expect_err("no such range").to_string();
        assert!(error.contains(part), "{error}");
    }
    let growth = AnalysisRegistry::built_in().get("growth").expect("it is there");
    let window = TimeWindow::whole(timeline);
    let error =
        report::analyse(&growth, &dumps, window, [("metric", "deep")], &Progress::new()).expect_err("no metric");
    assert!(error.to_string().contains("Use one of: objects, bytes"), "{error}");
}

#[test]
fn parameters_hold_what_they_say() {
    for analysis in AnalysisRegistry::built_in().iter() {
        let description = analysis.describe();
        let defaults = Arguments::defaults(&description);
        for parameter in &description.parameters {
            assert!(!parameter.explanation.is_empty() && !parameter.title.is_empty());
            // The default is something that may be typed.
            let text = parameter.kind.default_text();
            assert_eq!(Arguments::parse(&description, [(parameter.id, &*text)]).expect("the default"), defaults);
            let wrong = match parameter.kind {
                ParameterKind::Number { .. } => "many",
                ParameterKind::Choice { .. } => "none of them",
                ParameterKind::Metric { .. } | ParameterKind::Text { .. } => continue,
            };
            let error = Arguments::parse(&description, [(parameter.id, wrong)]).expect_err("out of range").to_string();
            assert!(error.contains(parameter.id) && error.contains(&parameter.kind.text()), "{error}");
            if let ParameterKind::Number { most, .. } = parameter.kind
                && let Some(more) = most.checked_add(1)
            {
                assert!(Arguments::parse(&description, [(parameter.id, &*more.to_string())]).is_err());
            }
        }
        let error = Arguments::parse(&description, [("no such", "1")]).expect_err("unknown").to_string();
        assert!(description.parameters.iter().all(|p| error.contains(p.id)), "{error}");
    }
}

/// An analysis of somebody else.
struct Leaves;

impl Analysis for Leaves {
    fn describe(&self) -> Description {
        Description {
            id: "leaves",
            title: "Leaves",
            explanation: "How many.",
            needs: &[Need::Objects],
            parameters: vec![],
        }
    }
    fn run(&self, document: &Source, _: TimeWindow, _: &Arguments, _: &Progress) -> Result<Findings> {
        let timeline = document.timeline();
        let leaves = timeline.nodes().filter(|&n| timeline.is_leaf(n)).count();
        Ok(Findings { notes: vec![format!("{leaves} leaves")], ..Findings::default() })
    }
}

/// Titles are read by people: words, not names of the code.
#[test]
fn titles_are_words() {
    for analysis in AnalysisRegistry::built_in().iter() {
        let described = analysis.describe();
        for title in std::iter::once(described.title).chain(described.parameters.iter().map(|p| p.title)) {
            let joined =
                title.as_bytes().windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
            assert!(!title.is_empty() && !joined && !title.contains('_'), "{}: {title}", described.id);
        }
    }
}

#[test]
fn programs_add_analyses_of_their_own() {
    let mut registry = AnalysisRegistry::built_in();
    registry.register(Box::new(Leaves)).expect("a new id");
    assert!(registry.register(Box::new(Leaves)).is_err(), "an id is taken once");
    let dumps = open("sample-data/person-leak", "type", GroupOptions::default());
    let leaves = registry.get("leaves").expect("it was added");
    let window = TimeWindow::whole(dumps.timeline());
    let found = report::analyse(&leaves, &dumps, window, [], &Progress::new()).expect("findings");
    assert!(found.to_string().contains("leaves"));
    let error = registry.get("leafs").err().expect("no such analysis").to_string();
    assert!(error.contains("heap, growth, ") && error.ends_with("explains them"), "{error}");
    assert!(error.contains(", leaves"), "{error}");
}

#[test]
fn a_wish_to_stop_is_heard() {
    let dumps = open("sample-data/person-leak", "type", GroupOptions::default());
    let progress = Progress::new();
    progress.cancel();
    let window = TimeWindow::whole(dumps.timeline());
    for id in ["heap", "growth"] {
        let analysis = AnalysisRegistry::built_in().get(id).expect("it is there");
        let result = report::analyse(&analysis, &dumps, window, [], &progress);
        assert!(matches!(result, Err(Error::Cancelled)), "{id} goes on");
    }
}

#[test]
fn names_from_files_do_not_speak_to_the_terminal() {
    let source = trees(
        r#"{"format": "memory-city", "version": 1, "times": [
        {"label": "a\u001b[2J", "tree": {"children": [{"name": "x\ny", "objects": 1, "bytes": 1}]}},
        {"label": "b", "tree": {"children": [{"name": "x\ny", "objects": 2, "bytes": 2}]}}]}"#,
    );
    let text = report::report(&source, &Default::default(), &Progress::new()).expect("a report").to_string();
    assert!(!text.contains('\u{1b}') && text.contains("x\\ny"), "{text:?}");
}

/// Every table, column, analysis and parameter stands in the page that describes the JSON form.
#[test]
fn the_page_on_the_json_report_names_all_there_is() {
    let page = std::fs::read_to_string(root().join("docs/report-json.md")).expect("the page");
    let said = |id: &str| assert!(page.contains(&format!("`{id}`")), "docs/report-json.md does not name {id}");
    for (_, source) in inputs() {
        let window = TimeWindow::whole(source.timeline());
        for analysis in AnalysisRegistry::built_in().iter() {
            let description = analysis.describe();
            said(description.id);
            description.parameters.iter().for_each(|p| said(p.id));
            description
                .needs
                .iter()
                .for_each(|need| said(serde_json::to_value(need).expect("a name").as_str().expect("text")));
            if description.check(&source, window).is_ok() {
                for table in &run(&source, description.id, window, &[]).tables {
                    said(&table.header.id);
                    table.header.columns.iter().for_each(|c| {
                        // Columns of metrics are named once for all metrics.
                        let id = ["growth", "first", "last", "peak"].iter().find_map(|p| {
                            let metric = c.id.strip_prefix(p)?.strip_prefix('_')?;
                            (metric == "objects" || metric == "bytes").then(|| format!("{p}_METRIC"))
                        });
                        said(&id.unwrap_or_else(|| c.id.clone()));
                    });
                    table.header.kinds.iter().for_each(|k| said(&k.id));
                }
            }
        }
    }
    assert!(page.contains("\"version\": 2"));
    // What a document has, and in which order.
    let listed =
        page.split("## What `report` composes").nth(1).and_then(|text| text.split("\n## ").next()).expect("it");
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()).collect();
    for (name, source) in inputs() {
        let report = report::report(&source, &Default::default(), &Progress::new()).expect("a report");
        let json = serde_json::to_value(&report).expect("JSON");
        let parts = json["analyses"].as_array().expect("a list");
        let names = json.as_object().into_iter().chain(parts[0].as_object()).flat_map(|object| object.keys());
        for name in names {
            assert!(
                page.contains(&format!("`{name}`")) || page.contains(&format!("[].{name}`")),
                "{name} is not in docs/report-json.md"
            );
        }
        let mut rest = listed.iter();
        for part in parts {
            let id = part["id"].as_str().expect("a name");
            assert!(rest.any(|listed| *listed == id), "{name}: {id} is not listed there, or elsewhere: {listed:?}");
        }
    }
}

/// The first line is that of the first finding, each next step can be run, and the report is what the detectors found.
#[test]
fn findings_say_what_and_where_and_what_to_run_next() {
    let registry = AnalysisRegistry::built_in();
    let ids: Vec<&str> = analyses::detectors().iter().map(|detector| detector.describe().id).collect();
    let mut seen = BTreeSet::new();
    for (name, source) in inputs() {
        let report = report::report(&source, &Default::default(), &Progress::new()).expect("a report");
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json["findings"].as_array().expect("a list").len(), report.findings().count(), "{name}");
        let window = TimeWindow::whole(source.timeline());
        let all =
            ids.iter().filter(|id| registry.get(id).expect("an analysis").describe().check(&source, window).is_ok());
        let all: Vec<Finding> = all.flat_map(|id| run(&source, id, window, &[]).found).collect();
        for finding in report.findings().chain(&all) {
            seen.insert(finding.detector.clone());
            assert!(ids.contains(&&*finding.detector), "{name}: {finding:?}");
            assert!(!finding.headline.is_empty() && !finding.headline.ends_with('.'), "{name}: {finding:?}");
            assert!(!finding.details.is_empty() && !finding.evidence.is_empty(), "{name}: {finding:?}");
            let next = finding.next.as_ref().expect("a next step");
            let description = registry.get(&next.analysis).expect("the analysis").describe();
            let given = next.arguments.iter().map(|(name, text)| (&**name, &**text));
            Arguments::parse(&description, given).expect("arguments");
        }
        let verdict = report.verdict.as_ref().expect("a verdict");
        if let Some(first) = report.findings().find(|finding| finding.detector == "leak") {
            assert_eq!(verdict.headline, first.headline, "{name}");
            let place = LeakPlace::of(&report.parts[0].findings, 0).expect("a place");
            assert_eq!(Some(place.place), first.place.as_ref().map(|place| place.name.clone()), "{name}");
        }
    }
    assert!(seen.contains("leak") && seen.len() > 1, "{seen:?}");
}

/// Amount of several nodes: the sum over nodes that lie in no other of them.
fn expected_amount(source: &Source, time: usize, nodes: &[NodeId]) -> Amount {
    let timeline = source.timeline();
    let distinct: HashSet<NodeId> = nodes.iter().copied().collect();
    let outermost = distinct.iter().filter(|&&n| !distinct.iter().any(|&m| m != n && timeline.is_within(n, m)));
    let mut amount = Amount::default();
    outermost.for_each(|&n| amount += timeline.amount(time, n));
    amount
}

#[test]
fn the_objects_of_several_groups_are_counted_once() {
    for (path, grouping) in [
        ("sample-data/person-leak/person-leak-08.hprof.gz", "package-type"),
        ("sample-data/person-leak/person-leak-08.hprof.gz", "type"),
        ("tests/data/anttracks/person-leak-g1", AUTO),
        ("tests/data/anttracks/person-leak-g1", "site-type"),
    ] {
        let source = open(path, grouping, GroupOptions::default());
        let timeline = source.timeline();
        let time = timeline.times() - 1;
        let n = timeline.len() as u32;
        // Any nodes, some of them within others, some twice, some that are not there.
        for seed in 0..40u32 {
            let nodes: Vec<NodeId> = (0..seed % 9).map(|i| NodeId((seed * 7919 + i * i * 104_729) % n)).collect();
            let set = source.objects_of(time, &nodes, &Progress::new()).expect("a state").expect("objects");
            let expected = expected_amount(&source, time, &nodes);
            assert_eq!(set.objects.count() as u64, expected.objects, "{path} {nodes:?}");
            assert_eq!(set.amount(), expected, "{path} {nodes:?}");
        }
        let absent = source.objects_of(time, &[NodeId(u32::MAX)], &Progress::new()).expect("a state").expect("objects");
        assert_eq!(absent.objects.count(), 0);
    }
    // They are the very objects: by type, each is told by its own type's name.
    let source = open("sample-data/person-leak/person-leak-08.hprof.gz", "type", GroupOptions::default());
    let timeline = source.timeline();
    let wanted = ["register.model.Person", "java.lang.String"];
    let nodes: Vec<NodeId> = timeline.nodes().filter(|&n| wanted.contains(&timeline.name(n))).collect();
    assert_eq!(nodes.len(), 2);
    let set = source.objects_of(0, &nodes, &Progress::new()).expect("a state").expect("objects");
    for object in set.heap.objects() {
        let name = &set.heap.types()[set.heap.type_of(object).0 as usize].name;
        let expected = set.heap.is_reachable(object) && wanted.contains(&&**name);
        assert_eq!(set.objects.contains(object.0), expected, "{name}");
    }
    let trees = open("sample-data/json/lines.jsonl", AUTO, GroupOptions::default());
    assert!(trees.objects_of(0, &[NodeId::ROOT], &Progress::new()).expect("trees").is_none());
    let progress = Progress::new();
    progress.cancel();
    assert!(matches!(source.objects_of(0, &nodes, &progress), Err(Error::Cancelled)));
}
