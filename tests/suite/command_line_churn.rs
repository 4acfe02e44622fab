//! Dead objects as tables, trees and a page; suspicious windows; two runs: by the program on the command line.

use std::process::{Command, Output};

const CHURN: &str = "tests/data/anttracks/churn-parallel";
const LEAK: &str = "tests/data/anttracks/person-leak-parallel";

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memory-city")).args(arguments).output().expect("the program")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is printed by a command that succeeds.
fn printed(arguments: &[&str]) -> String {
    let done = run(arguments);
    assert_eq!(done.status.code(), Some(0), "{arguments:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

/// The rows of a table in CSV, by column.
fn rows(csv: &str) -> Vec<std::collections::HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

#[test]
fn what_died_is_the_same_in_every_form() {
    let json: serde_json::Value =
        serde_json::from_str(&printed(&["analyse", "churn", CHURN, "--format", "json"])).expect("JSON");
    let of_json = &json["analyses"][0]["tables"][0]["rows"][0]["values"];
    let csv = rows(&printed(&["analyse", "churn", CHURN, "--format", "csv"]));
    assert_eq!(csv[0]["group"], "0 GCs survived");
    assert_eq!(csv[0]["objects"], of_json["objects"].to_string());
    // The tree over time ends with the same numbers.
    let tree = rows(&printed(&["report", CHURN, "--tree", "--churn", "--depth", "1", "--format", "csv"]));
    let young = tree.iter().find(|row| row["name"] == "0 GCs survived").expect("those that died young");
    assert_eq!(young["objects"], csv[0]["objects"]);
    assert_eq!(young["bytes"], csv[0]["bytes"]);
    let people = printed(&["analyse", "churn", CHURN]);
    assert!(people.contains("objects died") && people.contains("per second"), "{people}");
}

#[test]
fn what_nobody_knows_of_dead_objects_is_refused() {
    let refused = run(&["report", CHURN, "--churn", "--grouping", "type>points-to"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("Dead objects cannot be grouped by"), "{}", text(&refused.stderr));
    let refused = run(&["analyse", "churn", "sample-data/person-leak"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("when objects were born and died"), "{}", text(&refused.stderr));
}

#[test]
fn the_window_of_a_leak_in_a_short_run_is_found_on_request() {
    // The run takes 61 ms: windows of so short a run are for those who ask.
    let report = printed(&["report", LEAK]);
    assert!(!report.contains("Memory grows to the end"), "{report}");
    let windows = printed(&["analyse", "windows", LEAK, "-p", "least_millis=0"]);
    assert!(windows.contains("Memory grows to the end"), "{windows}");
    let growth = ["-p", "growth=1000000000000", "-p", "least_millis=0", "--format", "csv"];
    let strict = printed(&[&["analyse", "windows", LEAK], &growth[..]].concat());
    assert_eq!(rows(&strict)[0]["verdict"], "too short or too small");
}

#[test]
fn two_runs_become_one_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let both = folder.path().join("both.json").display().to_string();
    let other = "tests/data/anttracks/churn-g1";
    let said = printed(&["compare", CHURN, other, "--grouping", "type", "-o", &both]);
    assert!(said.contains("objects were allocated") && said.contains("Died until then"), "{said}");
    let table = rows(&printed(&["report", &both, "--format", "csv", "--table", "times"]));
    assert_eq!(table.iter().map(|row| &*row["label"]).collect::<Vec<_>>(), ["A", "B"]);
    let page = folder.path().join("churn.html").display().to_string();
    printed(&["page", CHURN, "--churn", "-o", &page]);
    // What is shown is packed; tests/page.rs looks into pages.
    let written = std::fs::read_to_string(&page).expect("a page");
    assert!(written.contains("<title>churn-parallel") && written.len() > 100_000);
}

#[test]
fn the_difference_of_two_times_is_a_tree() {
    let tree = |difference: &str| {
        rows(&printed(&["report", LEAK, difference, "--grouping", "type", "--tree", "--depth", "1", "--format", "csv"]))
    };
    let whole = tree("--difference");
    let names: Vec<&str> = whole.iter().map(|row| &*row["name"]).collect();
    assert!(names.contains(&"Born") && names.contains(&"Survived"), "{names:?}");
    assert_ne!(tree("--difference=2-3")[0]["objects"], "");
    let dumps = printed(&["report", "sample-data/person-leak", "--difference=3-8", "--tree", "--depth", "1"]);
    assert!(dumps.contains("More than before"), "{dumps}");
    let refused = run(&["report", LEAK, "--difference=3-800"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("no point in time 800"), "{}", text(&refused.stderr));
    assert_eq!(run(&["report", LEAK, "--difference", "--churn"]).status.code(), Some(2));
}

#[test]
fn the_object_graph_names_what_holds_a_group() {
    let dump = "sample-data/person-leak/person-leak-16.hprof.gz";
    let found = printed(&["analyse", "graph", dump, "-p", "group=Heap#register.model.Person", "--grouping", "type"]);
    assert!(found.contains("objects are held by Static field"), "{found}");
    let arrows = rows(&printed(&[
        "analyse",
        "graph",
        dump,
        "-p",
        "group=Heap#register.model.Person",
        "-p",
        "steps=points-to",
        "--grouping",
        "type",
        "--format",
        "csv",
        "--table",
        "arrows",
    ]));
    assert!(arrows.iter().all(|row| row["from"] == "1"), "{arrows:?}");
}

#[test]
fn a_run_is_told_collection_by_collection() {
    for input in [CHURN, "tests/data/recordings/gc-overhead"] {
        let gcs = rows(&printed(&["analyse", "run", input, "--format", "csv", "--table", "run"]));
        assert!(gcs.len() >= 5 && gcs.iter().all(|row| !row["overhead"].is_empty()), "{input}");
        assert_eq!(gcs[0].contains_key("eden_before"), input == CHURN);
        let numbers = printed(&["analyse", "run", input]);
        assert!(numbers.contains("Longest pause") && numbers.contains("Allocation rate"), "{numbers}");
    }
}
