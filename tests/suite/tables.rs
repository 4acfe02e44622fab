//! `convert --parquet`, and the questions of docs/tables.md asked with DuckDB.

use memory_city_testing::{python, root};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    program.args(arguments).current_dir(root()).output().expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn converted(input: &str, folder: &Path, more: &[&str]) -> String {
    let folder = folder.to_string_lossy();
    let done = run(&[&["convert", input, "-o", &folder, "--parquet"], more].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stderr)
}

#[test]
fn the_questions_of_the_book_are_answered_by_another_engine() {
    let Some(python) = python::with_package("duckdb") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let said = converted("sample-data/person-leak", folder.path(), &[]);
    assert!(said.contains("objects: ") && said.contains("not in the tables: texts"), "{said}");
    let script = [root().join("tests/python/tables.py"), folder.path().to_owned(), root().join("docs/tables.md")];
    let output = Command::new(python).args(script).output().expect("Python");
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("rows")).collect();
    let names: Vec<&str> = answers.iter().map(|rows| rows[0][0].as_str().unwrap_or_default()).collect();
    assert_eq!(answers.len(), 8, "{said}");
    // The same as `report --grouping type` and the report's first line say.
    let report = run(&["report", "sample-data/person-leak", "--grouping", "type", "--tree", "--format", "csv"]);
    let report = text(&report.stdout);
    assert!(report.contains(names[0]), "{} is no type of {report}", names[0]);
    assert!(answers[1].to_string().contains("PersonRegistry") && names[1].contains("PERSONS"), "{}", answers[1]);
    assert!(answers[3].to_string().contains("LinkedList$Node"), "{}", answers[3]);
    assert!(answers[6].to_string().contains("PERSONS"), "{}", answers[6]);
    // Objects and groups add up to the totals of each state; the groups are joined to each object.
    let sums = answers[7].as_array().expect("rows");
    assert_eq!(sums.len(), 16);
    for row in sums {
        let [objects, bytes, summed, counted, grouped] = [2, 3, 4, 5, 6].map(|at| row[at].as_u64().expect("a number"));
        assert_eq!((summed, counted, grouped), (bytes, objects, bytes * objects), "{row}");
    }
}

#[test]
fn a_folder_takes_several_processes_and_nothing_is_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().to_string_lossy().into_owned();
    converted("sample-data/json/all-times.json", folder.path(), &["--process", "shop 1/2"]);
    converted("sample-data/json/all-times.json", folder.path(), &["--process", "shop 2/2"]);
    assert!(folder.path().join("groups/process=shop 1%2F2/time=1/0.parquet").is_file());
    for (arguments, expected) in [
        (
            &["convert", "sample-data/json/all-times.json", "-o", &at, "--parquet", "--process", "shop 2/2"][..],
            "is there already",
        ),
        (&["convert", "sample-data/json/all-times.json", "-o", "README.md", "--parquet"], "is a file"),
        (&["convert", "sample-data/json/all-times.json", "-o", &at, "--process", "x"], "--parquet"),
        (&["convert", "tests/data/anttracks/churn-parallel", "-o", &at, "--parquet", "--churn"], "--churn"),
    ] {
        let refused = run(arguments);
        assert!(!refused.status.success() && text(&refused.stderr).contains(expected), "{}", text(&refused.stderr));
    }
}

/// Files of places of three processes: two leak in the same place, one in an older version too.
#[test]
fn a_fleet_tells_what_leaks_where_and_since_when() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let dump = |n: u32| format!("sample-data/person-leak/person-leak-{n:02}.hprof.gz");
    // The same dump three times does not grow.
    let same = [1, 2, 3].map(|n| at(&format!("{n}.hprof.gz")));
    same.iter().for_each(|copy| {
        std::fs::copy(root().join(dump(16)), copy).expect("copied");
    });
    for (process, version, dumps, code) in [
        ("shop-1", "2.4", [3, 8, 13].map(dump), 3),
        ("shop-2", "2.4", [4, 9, 14].map(dump), 3),
        ("shop-2", "2.3", [3, 6, 9].map(dump), 3),
        ("web-1", "1.0", same, 0),
    ] {
        let [a, b, c] = &dumps;
        let file = at(&format!("{process}-{version}.parquet"));
        let places = ["--places", &file, "--process", process, "--app-version", version];
        let done = run(&[&["check", a, b, c][..], &places].concat());
        assert_eq!(done.status.code(), Some(code), "{}{}", text(&done.stdout), text(&done.stderr));
        let size = std::fs::metadata(&file).expect("a file").len();
        assert!(size < 60_000, "{size} bytes");
    }
    // What is no such file is another table, or a warning.
    std::fs::write(at("empty.parquet"), "").expect("written");
    let whole = std::fs::read(at("shop-1-2.4.parquet")).expect("a file");
    std::fs::write(at("cut.parquet"), &whole[..whole.len() / 2]).expect("written");
    let marker = b"{\"memory-city.places\":1,\"process\":";
    let summary = whole.windows(marker.len()).position(|bytes| bytes == marker).expect("its summary");
    let mut damaged = whole.clone();
    damaged[summary + marker.len()] = b'!';
    std::fs::write(at("damaged.parquet"), damaged).expect("written");
    // Another table stands beside them.
    converted("sample-data/json/all-times.json", &folder.path().join("tables"), &[]);
    let folder_text = folder.path().to_string_lossy();
    let done = run(&["fleet", &folder_text, "--since", "2026-01-01", "--format", "json"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let table = |id: &str| {
        let all = report["analyses"].as_array().into_iter().flatten();
        let mut tables = all.flat_map(|part| part["tables"].as_array().into_iter().flatten());
        let rows = tables.find(|table| table["id"] == id).and_then(|table| table["rows"].as_array());
        rows.into_iter().flatten().map(|row| row["values"].clone()).collect::<Vec<_>>()
    };
    let places = table("places");
    let first = &places[0];
    assert!(first["place"].as_str().is_some_and(|place| place.contains("PersonRegistry.PERSONS")), "{report:#}");
    assert_eq!((first["processes"].as_u64(), first["versions"].as_str()), (Some(2), Some("2.4")), "{first}");
    assert_eq!((first["new"].as_str(), first["in"].as_str()), (Some("new"), Some("shop-1, shop-2")), "{first}");
    let processes = table("processes");
    assert_eq!(processes.len(), 3, "{processes:?}");
    assert_eq!((processes[2]["process"].as_str(), processes[2]["verdict"].as_str()), (Some("web-1"), Some("OK")));
    let said = text(&run(&["fleet", &folder_text]).stdout);
    assert!(said.contains("2 of 3 processes leak or grow."), "{said}");
    assert!(["cut.parquet", "empty.parquet", "damaged.parquet"].iter().all(|file| said.contains(file)), "{said}");
    assert!(said.contains("From 4 files of places."), "{said}");
    assert!(said.contains("3 files or folders could not be read, see the warnings."), "{said}");

    // The last file of a process counts: what it does not have any more is mended.
    let copies: Vec<String> = [1, 2, 3].map(|n| at(&format!("{n}.hprof.gz"))).into();
    let mended = at("shop-2-2.5.parquet");
    let arguments = [&["check"][..], &copies.iter().map(String::as_str).collect::<Vec<_>>(), &["--places", &mended]];
    assert!(run(&[&arguments.concat()[..], &["--process", "shop-2"]].concat()).status.success());
    let said = text(&run(&["fleet", &folder_text, "--since", "2999-01-01", "--format", "csv"]).stdout);
    assert!(said.lines().nth(1).is_some_and(|row| row.contains("PERSONS,1,") && row.ends_with("shop-1")), "{said}");
    assert!(!said.lines().skip(1).any(|row| row.contains("new,")), "{said}");

    let nothing = tempfile::tempdir().expect("a folder");
    let refused = run(&["fleet", &nothing.path().to_string_lossy()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("check DUMPS --places"), "{}", text(&refused.stderr));
}
