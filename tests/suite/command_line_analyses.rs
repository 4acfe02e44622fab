//! The program itself, as scripts call it: reports and analyses in every form, and how it says what is wrong.

use memory_city_testing::root;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

const SAMPLE: &str = "sample-data/person-leak";
const TRACE: &str = "tests/data/anttracks/person-leak-parallel";
const TREES: &str = "sample-data/json/lines.jsonl";

fn memory_city(arguments: &[&str]) -> Output {
    run(arguments.iter().map(OsStr::new))
}

fn run<'a>(arguments: impl Iterator<Item = &'a OsStr>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memory-city")).args(arguments).current_dir(root()).output().expect("it starts")
}

/// Standard output of a successful run.
fn printed(arguments: &[&str]) -> String {
    let output = memory_city(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// What it says when it fails, and its exit code.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = memory_city(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?} prints something");
    (output.status.code().expect("a code"), String::from_utf8(output.stderr).expect("text"))
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).expect("JSON")
}

fn csv(arguments: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    let text = printed(arguments);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let rows = reader.records().map(|r| r.expect("a row").iter().map(str::to_owned).collect()).collect();
    (header, rows)
}

#[test]
fn the_report_says_the_same_in_every_form() {
    let text = printed(&["report", SAMPLE, "--top", "3", "--metric", "objects"]);
    assert!(text.contains("HEAP OVER TIME") && text.contains("GROWS MOST  (objects, first to last"), "{text}");
    assert!(text.contains("+24,334 objects"), "{text}");
    let report = json(&["report", SAMPLE, "--top", "3", "--metric", "objects", "--format", "json"]);
    assert_eq!(report["version"], 2);
    assert_eq!(report["grouping"], "package-type");
    assert_eq!(report["warnings"], Value::Array(vec![]));
    let leak = &report["analyses"][0];
    assert_eq!(leak["id"], "leak");
    assert!(text.starts_with("LEAK  PersonRegistry.PERSONS (LinkedList): 12,400 Person, "), "{text}");
    assert!(text.contains("\n\nWHAT LEAKS\n  register.store.PersonRegistry.PERSONS"), "{text}");
    assert_eq!(leak["answers"][0].as_str().map(str::trim), text.lines().nth(3).map(str::trim));
    let headline = report["verdict"]["headline"].as_str().expect("a headline");
    assert_eq!(text.lines().next(), Some(&*format!("LEAK  {headline}")));
    assert!(!text.contains("upwards"), "chains are not asked for: {text}");
    let full = printed(&["report", SAMPLE, "--top", "3", "--metric", "objects", "--full"]);
    assert!(full.contains("upwards: here: held by"), "{full}");
    let growth = &report["analyses"][2];
    assert_eq!((&growth["id"], &growth["arguments"]["metric"]), (&"growth".into(), &"objects".into()));
    let table = &growth["tables"][0];
    let rows = table["rows"].as_array().expect("rows");
    assert_eq!(rows.iter().filter(|row| row["kind"] == "group").count(), 3);
    assert_eq!(rows[0]["values"]["growth_objects"], 24_334);
    let left = table["left_out"]["rows"].as_u64().expect("a number");
    assert!(text.contains(&format!("and {left} more groups that grow")), "{text}");

    let (header, records) = csv(&["report", SAMPLE, "--top", "3", "--metric", "objects", "--format", "csv"]);
    assert_eq!(records.len(), rows.len());
    let at = |id: &str| header.iter().position(|h| h == id).expect("a column");
    assert_eq!(records[0][at("growth_objects")], "24334");
    assert_eq!(records[0][at("group_key")], rows[0]["values"]["group"]["key"].as_str().expect("a key"));
    let (header, records) = csv(&["report", SAMPLE, "--format", "csv", "--table", "times"]);
    assert_eq!((header[0].as_str(), records.len()), ("label", 16));
}

#[test]
fn a_collection_of_the_whole_heap_is_full_everywhere() {
    for arguments in
        [&["report", TRACE, "--format", "json"][..], &["analyse", "collections", TRACE, "--format", "json"]]
    {
        let text = printed(arguments);
        assert!(text.contains("\"full\"") && text.contains("\"minor\"") && !text.contains("major"), "{text}");
    }
    assert!(printed(&["report", TRACE]).contains("full"));
}

#[test]
fn one_analysis_is_run_with_its_parameters() {
    let (header, rows) = csv(&["analyse", "collections", TRACE, "-p", "kind=full", "--format", "csv"]);
    let kind = header.iter().position(|h| h == "kind").expect("a column");
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row[kind] == "full"));
    let (_, rows) = csv(&["analyse", "collections", TRACE, "--from", "3", "--to", "4", "--format", "csv"]);
    assert_eq!(rows.len(), 2);
    let (_, totals) = csv(&["analyze", "collections", TRACE, "--table", "totals", "--format", "csv"]);
    assert_eq!(totals.len(), 2);
    let growth =
        json(&["analyse", "growth", SAMPLE, "-p", "top=1", "-p", "referrers=0", "--to", "5", "--format", "json"]);
    assert_eq!((&growth["from"], &growth["to"]), (&1.into(), &5.into()));
    assert_eq!(growth["analyses"][0]["arguments"]["referrers"], 0);
    assert!(printed(&["analyse", "growth", SAMPLE]).contains("upwards: here: held by"));
}

#[test]
fn the_list_explains_every_analysis_and_parameter() {
    let list = json(&["analyse", "--list", "--format", "json"]);
    let text = printed(&["analyse", "--list"]);
    let all = list.as_array().expect("a list");
    assert!(all.len() >= 3);
    for analysis in all {
        for part in [&analysis["id"], &analysis["explanation"]] {
            assert!(text.contains(part.as_str().expect("text")), "{text}");
        }
        for parameter in analysis["parameters"].as_array().expect("parameters") {
            assert!(text.contains(&format!("-p {}=", parameter["id"].as_str().expect("an id"))), "{text}");
            assert!(!parameter["default"].is_null());
        }
    }
}

#[test]
fn the_tree_is_a_table() {
    let text = printed(&["report", SAMPLE, "--tree", "--sort", "bytes", "--depth", "1"]);
    assert!(text.contains("nodes below level 1") && text.contains('█') && text.contains("100.0 %"), "{text}");
    let (header, rows) = csv(&["report", SAMPLE, "--tree", "--leaves", "--sort", "growth", "--format", "csv"]);
    let at = |id: &str| header.iter().position(|h| h == id).expect("a column");
    let number = |row: &[String], id: &str| row[at(id)].parse::<i64>().expect("a number");
    assert_eq!(rows[0][at("name")], "byte[]");
    assert_eq!(rows[0][at("trend")].split(' ').count(), 16);
    assert!(rows.is_sorted_by(|a, b| number(a, "growth_bytes") >= number(b, "growth_bytes")));
    let (_, reversed) =
        csv(&["report", SAMPLE, "--tree", "--leaves", "--sort", "name", "--reverse", "--format", "csv"]);
    // Where display names have the group above before them, it is the group's own name that is sorted.
    let own = |row: &[String]| row[at("name")].rsplit(" › ").next().map(str::to_owned);
    assert!(reversed.is_sorted_by(|a, b| own(a) >= own(b)));

    // A filter finds what a look at each row finds, and those above it stand around it.
    let expected = rows.iter().filter(|r| {
        let first: i64 = r[at("trend")].split(' ').next().and_then(|v| v.parse().ok()).expect("a value");
        number(r, "bytes") > 10_000 && number(r, "growth_bytes") * 5 > first
    });
    let filter = "bytes > 10kB and growth > 20% and children = 0";
    let (_, found) = csv(&["report", SAMPLE, "--tree", "--where", filter, "--format", "csv", "--leaves"]);
    let mut expected: Vec<_> = expected.map(|r| r[at("name_key")].clone()).collect();
    let mut names: Vec<_> = found.iter().map(|r| r[at("name_key")].clone()).collect();
    expected.sort();
    names.sort();
    assert!(!names.is_empty());
    assert_eq!(names, expected);

    let tree = json(&["report", SAMPLE, "--tree", "--find", "hashmap", "--format", "json"]);
    assert_eq!((&tree["version"], &tree["analyses"][0]["id"]), (&2.into(), &"tree".into()));
    let rows = tree["analyses"][0]["tables"][0]["rows"].as_array().expect("rows");
    assert_eq!((&rows[0]["depth"], &rows[0]["values"]["name"]["name"]), (&0.into(), &"Heap".into()));
    assert!(rows.iter().any(|r| r["values"]["name"]["name"] == "HashMap$Node"));
    assert!(tree["analyses"][0]["notes"][0].as_str().expect("a note").contains("name ~ \"hashmap\""));
}

#[test]
fn what_is_wrong_is_said() {
    for (arguments, code, part) in [
        (&["report", SAMPLE, "--metric", "depth"][..], 1, "Use one of: objects, bytes"),
        (&["report", SAMPLE, "--to", "17"], 1, "from 1 to 16"),
        (&["report", SAMPLE, "--tree", "--sort", "size"], 1, "Use one of: name, role, objects, bytes"),
        (&["report", SAMPLE, "--tree", "--where", "grwth > 1"], 1, "grwth > 1\n  ^ there is no column grwth"),
        (&["report", SAMPLE, "--sort", "name"], 2, "--tree"),
        (&["report", SAMPLE, "--format", "csv", "--table", "none"], 1, "Use one of: leaks, times, growing"),
        (&["report", SAMPLE, "--table", "times"], 2, "--format csv"),
        (&["report", SAMPLE, "--tree", "--format", "csv", "--table", "times"], 1, "Use --table tree"),
        (&["analyse", "nothing", SAMPLE], 2, "possible values: leak, heap, growth, collections"),
        (&["analyse", "growth", "no such file", "-p", "tp=1"], 2, "Use one of: top, metric"),
        (&["analyse", "growth", "no such file", "-p", "top"], 2, "expected NAME=VALUE"),
        (&["analyse", "growth"], 2, "PATH"),
        (&["analyse", "collections", SAMPLE], 1, "does not record garbage collections"),
        (&["analyse", "growth", "sample-data/json/one-time.json"], 1, "growth needs a second one"),
        (&["analyse", "growth", "no such file"], 1, "Check the path"),
    ] {
        let (found, said) = refused(arguments);
        assert!(found == code && said.contains(part), "{arguments:?}: {found} {said}");
    }
}

/// A warning whose path is no UTF-8 either stands in the JSON, or the program says that it cannot: never an empty line.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_printed_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join(OsStr::from_bytes(b"dumps \xff"));
    std::fs::create_dir(&inner).expect("a folder");
    std::fs::copy(root().join(TREES), inner.join("trees.jsonl")).expect("copied");
    // A grouping that trees do not have is a warning about the first path.
    let path = inner.join("trees.jsonl");
    for more in [&[][..], &["--tree"]] {
        let arguments = ["report", "--format", "json", "--grouping", "type"].iter().chain(more).map(OsStr::new);
        let output = run(arguments.chain([path.as_os_str()]));
        match output.status.code() {
            Some(0) => {
                let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
                assert_eq!(report["warnings"].as_array().map(Vec::len), Some(1));
            }
            code => {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(code == Some(1) && said.contains("could not be printed"), "{code:?} {said}");
                assert!(serde_json::from_slice::<Value>(&output.stdout).is_err());
            }
        }
    }
}

/// A reader that has seen enough is no error; a disk that is full is one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_none() {
    let start = |stdout: std::process::Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
        command
            .args(["report", TREES, "--tree"])
            .current_dir(root())
            .stdout(stdout)
            .stderr(std::process::Stdio::piped());
        command.spawn().expect("it starts")
    };
    if Path::new("/dev/full").exists() {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full disk");
        let output = start(full.into()).wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    }
    let mut child = start(std::process::Stdio::piped());
    drop(child.stdout.take());
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(0));
}

/// Descriptions of data structures: suggested from a heap, and brought into their own form.
#[test]
fn descriptions_are_suggested_and_brought_into_form() {
    // What this program holds is all described.
    let last = "sample-data/person-leak/person-leak-16.hprof.gz";
    assert!(printed(&["structures", "--suggest", last]).starts_with("// Nothing looks like"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.ds");
    let path = file.to_string_lossy().into_owned();
    std::fs::write(&file, "DS shop.Depot{shop.Shelf[];size:filled;}shop.Shelf{shop.Shelf;(*);}").expect("written");
    let formatted = printed(&["structures", "--format", &path]);
    assert_eq!(
        formatted,
        "DS shop.Depot {\n    shop.Shelf[];\n    size: filled;\n}\nshop.Shelf {\n    shop.Shelf;\n    (*);\n}\n"
    );
    std::fs::write(&file, "DS shop.Depot {\n    shop.Shelf[]\n}").expect("written");
    for (arguments, code, expected) in [
        (&["structures", "--format", &path][..], 1, "shop.ds, line 3, column 1"),
        (&["structures", "--format", &path, last], 2, "cannot be used with"),
        (&["structures", last], 2, "--suggest|--format <FILE>"),
        (&["structures", "--suggest"], 2, "<PATH>"),
        (&["structures", "--suggest", TREES], 1, "objects"),
    ] {
        let output = memory_city(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && said.contains(expected), "{arguments:?}: {said}");
    }
}
