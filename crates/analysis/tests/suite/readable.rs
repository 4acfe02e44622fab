//! Texts that a person can read, however many rows there are.

use memory_city_analysis::analyses::report::{self, Report, ReportOptions};
use memory_city_analysis::analyses::{AnalysisRegistry, TimeWindow, all_rows};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::tabular::{RowSource, TEXT_ROWS};
use memory_city_analysis::timeline::{AUTO, Source};
use memory_city_heap::progress::Progress;
use memory_city_testing::anttracks::{Collector, Spec, generate};
use memory_city_testing::root;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn open(path: PathBuf) -> Source {
    Source::open(&[path], AUTO, GroupOptions::default(), &Progress::new()).expect("it opens")
}

/// A run with more collections than a text has rows.
fn many_collections(folder: &Path) -> PathBuf {
    let spec = Spec {
        seed: 7,
        collector: Collector::Parallel,
        live_objects: 40,
        allocations_per_gc: 60,
        gcs: 2 * TEXT_ROWS as u32,
        answers: false,
        ..Spec::default()
    };
    let mut trace = Vec::new();
    let generated = generate(&spec, &mut trace).expect("written to memory");
    let run = folder.join("run");
    std::fs::create_dir(&run).expect("made");
    std::fs::write(run.join("trace"), trace).expect("written");
    std::fs::write(run.join("symbols"), &generated.symbols).expect("written");
    run
}

/// Two times with more groups than a text has rows, all of which grow.
fn many_groups(folder: &Path) -> PathBuf {
    let path = folder.join("trees.jsonl");
    let tree = |time: u64| {
        let group = |n: u64| format!(r#"{{"name": "g{n}", "objects": {}, "bytes": {}}}"#, n + time, 16 * (n + time));
        let groups: Vec<String> = (0..5 * TEXT_ROWS as u64).map(group).collect();
        let tree = format!(r#""timestamp": {time}, "tree": {{"children": [{}]}}"#, groups.join(", "));
        if time == 1 { format!(r#"{{"format": "memory-city", "version": 1, {tree}}}"#) } else { format!("{{{tree}}}") }
    };
    std::fs::write(&path, [1, 2].map(tree).join("\n")).expect("written");
    path
}

fn text_of(report: &Report) -> String {
    let mut text = Vec::new();
    report.write_text(&mut text, &Progress::new()).expect("text");
    String::from_utf8(text).expect("text")
}

/// Lines of a text that are rows of its tables are no more than they may be, and the text says so.
fn check(name: &str, report: &Report, rows: usize) {
    let text = text_of(report);
    let tables = report.tables().count();
    // A sentence may take further lines.
    let most = 4 * tables * (rows + 4) + 200;
    assert!(text.lines().count() <= most, "{name}: {} lines", text.lines().count());
    assert!(text.len() <= tables * rows * 2000 + 20_000, "{name}: {} bytes", text.len());
    let cut = report.tables().filter(|table| table.len() > rows).count();
    assert_eq!(text.matches(" more rows").count(), cut, "{name}");
    assert!(text.matches("(--all lists them)").count() >= cut, "{name}");
}

#[test]
fn the_text_of_any_analysis_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = [
        root().join("sample-data/person-leak"),
        root().join("tests/data/recordings/leak-after-spike"),
        root().join("tests/data/recordings/requests"),
        root().join("sample-data/json/all-times.json"),
        many_collections(folder.path()),
        many_groups(folder.path()),
    ];
    let mut left: BTreeSet<&str> = AnalysisRegistry::built_in().iter().map(|analysis| analysis.describe().id).collect();
    let mut cut = BTreeSet::new();
    for path in inputs {
        let source = open(path);
        let window = TimeWindow::whole(source.timeline());
        for analysis in AnalysisRegistry::built_in().iter() {
            let description = analysis.describe();
            if description.check(&source, window).is_err() {
                continue;
            }
            let Ok(mut report) = report::analyse(analysis, &source, window, [], &Progress::new()) else { continue };
            check(description.id, &report, TEXT_ROWS);
            cut.extend(report.tables().filter(|table| table.len() > TEXT_ROWS).map(|_| description.id));
            left.remove(description.id);
            // The same with tables of many rows, whatever the input.
            for part in &mut report.parts {
                for table in part.findings.tables.iter_mut().filter(|table| !table.is_empty()) {
                    table.rows = table.rows.iter().cycle().take(3000).cloned().collect();
                }
            }
            check(description.id, &report, TEXT_ROWS);
            report.text_rows = usize::MAX;
            let all = text_of(&report);
            assert!(!all.contains("--all"), "{}", description.id);
            let filled = report.tables().filter(|table| !table.is_empty()).count();
            assert!(all.lines().count() >= 3000 * filled, "{}", description.id);
        }
    }
    assert!(cut.is_superset(&BTreeSet::from(["collections", "run"])), "{cut:?}");
    // Class histograms beside walks are in no input here; one writer writes all tables.
    assert_eq!(left, BTreeSet::from(["counts"]), "not tried");
}

#[test]
fn all_rows_of_a_report_are_there_when_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = open(many_groups(folder.path()));
    let of = |options: ReportOptions| report::report(&source, &options, &Progress::new()).expect("a report");
    let groups = 5 * TEXT_ROWS;
    for (options, listed, said) in [
        (ReportOptions::default(), 10, Some("  and 990 more groups that grow (--all lists them)")),
        (
            ReportOptions { top: 300, ..Default::default() },
            300,
            Some("  and 700 more groups that grow (--all lists them)"),
        ),
        (ReportOptions { all: true, ..Default::default() }, groups, None),
    ] {
        let report = of(options);
        let text = text_of(&report);
        let table = report.table("growing").expect("a table");
        assert_eq!(table.rows.iter().filter(|row| row.depth == 0).count(), listed);
        assert_eq!(text.lines().find(|line| line.contains("--all")), said);
        assert!(text.contains(&format!(" {listed}. ")), "{text}");
    }
}

/// Parameters that count rows have the names by which `--all` knows them.
#[test]
fn all_rows_can_be_asked_for() {
    for analysis in AnalysisRegistry::built_in().iter().map(|analysis| analysis.describe()) {
        let known: Vec<&str> = all_rows(&analysis).map(|(name, _)| name).collect();
        let counts_rows =
            |text: &str| text.starts_with("How many") && text.contains(" listed") && !text.contains("levels");
        for parameter in analysis.parameters.iter().filter(|parameter| counts_rows(parameter.explanation)) {
            assert!(known.contains(&parameter.id), "{}: {}", analysis.id, parameter.id);
        }
    }
}
