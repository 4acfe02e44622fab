//! What leaks, as scripts ask for it: the first lines of the report, the analysis `leak`, and `check` with its exit codes.

use memory_city_testing::root;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const SAMPLE: &str = "sample-data/person-leak";
const LAST: &str = "sample-data/person-leak/person-leak-16.hprof.gz";
const WITHOUT_REFERENCES: &str = "tests/data/anttracks/churn-par-noptr";
const TREES: &str = "sample-data/json/lines.jsonl";
const PERSONS: &str = "register.store.PersonRegistry.PERSONS › java.util.LinkedList";

fn memory_city(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    program.args(arguments).current_dir(root()).env_remove("RUST_LOG").output().expect("it starts")
}

/// Exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = memory_city(arguments);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a code"), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str], code: i32) -> Value {
    let (ended, text, error) = run(arguments);
    assert_eq!(ended, code, "{arguments:?}: {text}{error}");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_report_begins_with_what_leaks() {
    let (code, report, error) = run(&["report", SAMPLE]);
    assert_eq!(code, 0, "{error}");
    let head = report.split("HEAP OVER TIME").next().expect("a head");
    insta::assert_snapshot!("report_head", head);
    let (_, leak, _) = run(&["analyse", "leak", SAMPLE]);
    insta::assert_snapshot!("analyse_leak", leak);
    let (_, leak, _) = run(&["analyse", "leak", SAMPLE, "--format", "json"]);
    insta::assert_snapshot!("analyse_leak_json", leak);
}

#[test]
fn of_one_dump_it_says_what_fills_the_heap() {
    for arguments in [&["report", LAST][..], &["report", SAMPLE, "--from", "16"]] {
        let (code, report, error) = run(arguments);
        assert_eq!(code, 0, "{error}");
        let head = report.split("HEAP OVER TIME").next().expect("a head");
        assert!(head.starts_with("FILLS  PersonRegistry.PERSONS (LinkedList): 12,400 Person, 2.06 MB, "), "{head}");
        assert!(head.contains("WHAT FILLS THE HEAP"), "{head}");
        assert!(head.contains(&format!("{PERSONS} holds 12,400 register.model.Person: 2.06 MB")), "{head}");
        assert!(!head.contains("at first") && !head.contains("growth"), "{head}");
    }
}

#[test]
fn without_references_nothing_is_said_to_be_healthy() {
    let (code, report, error) = run(&["report", WITHOUT_REFERENCES]);
    assert_eq!(code, 0, "{error}");
    assert!(report.contains("The owners cannot be found: that needs references"), "{report}");
    assert!(!report.contains("Nothing accumulates"), "{report}");
    for command in [&["analyse", "leak"][..], &["check"]] {
        let (code, _, error) = run(&[command, &[WITHOUT_REFERENCES]].concat());
        assert_eq!(code, 1, "{error}");
        assert!(error.contains("references"), "{error}");
    }
}

/// The starts of collections count what is dead: they are no points in time to compare.
#[test]
fn starts_of_collections_are_passed_over() {
    let trace = "tests/data/anttracks/person-leak-parallel";
    let answers = |more: &[&str]| json(&[&["analyse", "leak", trace, "--format", "json"], more].concat(), 0);
    let (ends, starts) = (answers(&[]), answers(&["--gc-starts"]));
    assert_eq!(ends["analyses"][0]["answers"], starts["analyses"][0]["answers"]);
    assert!(ends["analyses"][0]["answers"][0].as_str().expect("an answer").contains("PersonLeak8$Person"));
}

#[test]
fn a_dump_that_was_cut_is_told_and_the_rest_is_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    for n in ["01", "08", "16"] {
        let name = format!("person-leak-{n}.hprof.gz");
        std::fs::copy(root().join(SAMPLE).join(&name), folder.path().join(&name)).expect("a copy");
    }
    let cut = folder.path().join("person-leak-08.hprof.gz");
    let bytes = std::fs::read(&cut).expect("a dump");
    std::fs::write(&cut, &bytes[..bytes.len() * 9 / 10]).expect("less of it");
    let (code, report, error) = run(&["report", &folder.path().to_string_lossy()]);
    assert_eq!(code, 0, "{error}");
    assert!(report.contains("WARNINGS") && report.contains("person-leak-08"), "{report}");
    assert!(report.contains(PERSONS), "{report}");
}

/// Roots come last in a dump: without them who owns what is another question, and its answer would hide the leak.
#[test]
fn a_last_dump_that_was_cut_hides_no_leak() {
    let folder = tempfile::tempdir().expect("a folder");
    for n in ["01", "04", "08", "12", "16"] {
        let name = format!("person-leak-{n}.hprof.gz");
        std::fs::copy(root().join(SAMPLE).join(&name), folder.path().join(&name)).expect("a copy");
    }
    let cut = folder.path().join("person-leak-16.hprof.gz");
    let bytes = std::fs::read(&cut).expect("a dump");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).expect("less of it");
    let (code, report, error) = run(&["report", &folder.path().to_string_lossy()]);
    assert_eq!(code, 0, "{error}");
    assert!(report.contains(PERSONS) && report.contains("person-leak-16.hprof.gz is left out here"), "{report}");
    let (code, text, error) = run(&["check", &folder.path().to_string_lossy()]);
    assert_eq!(code, 3, "{error}");
    assert!(text.contains(PERSONS), "{text}");
}

#[test]
fn what_accumulates_fails_with_its_owner_in_every_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("leaks.xml");
    let (code, text, error) = run(&["check", SAMPLE, "--junit", &file.to_string_lossy()]);
    assert_eq!(code, 3, "{error}");
    assert!(text.contains("FAIL") && text.contains(PERSONS), "{text}");
    let cases = test_cases(&file);
    assert_eq!(cases.len(), 1);
    assert!(cases[0].0.contains(PERSONS), "{cases:?}");
    assert!(cases[0].1.as_deref().is_some_and(|failure| failure.contains("12,400 register.model.Person")), "{cases:?}");

    let report = json(&["check", SAMPLE, "--format", "json"], 3);
    assert_eq!((&report["passed"], &report["from"], &report["to"]), (&false.into(), &1.into(), &16.into()));
    assert_eq!(report["checks"][0]["id"], "accumulation");
    assert!(report["checks"][0]["details"].to_string().contains("PERSONS"), "{report}");
    assert_eq!(report["verdict"]["kind"], "leak");
    assert_eq!(report["report"]["analyses"][0]["id"], "leak");
}

/// A leak that somebody expects passes with the reason; the rest fails as before. What does not accumulate any more is named.
#[test]
fn what_is_expected_passes_with_its_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("expected.txt");
    let path = &*file.to_string_lossy();
    let write = |text: &str| std::fs::write(&file, text).expect("written");
    write("# of the sample\nPersonRegistry.PERSONS: a log, bounded by the disk\nOther.rows (ArrayList): ticket 7\n");
    let (code, text, error) = run(&["check", SAMPLE, "--expected", path]);
    assert_eq!(code, 0, "{error}");
    assert!(text.starts_with(&format!("ok    Accumulates, as expected: {PERSONS}\n")), "{text}");
    assert!(text.contains("Expected: a log, bounded by the disk."), "{text}");
    assert!(text.contains("ok    Expected, and does not accumulate: Other.rows (ArrayList)"), "{text}");
    let checked = json(&["check", SAMPLE, "--expected", path, "--format", "json"], 0);
    assert_eq!(checked["report"]["findings"][0]["signature"], "PersonRegistry.PERSONS (LinkedList)");
    write("Other.rows (ArrayList): ticket 7");
    let (code, text, error) = run(&["check", SAMPLE, "--expected", path]);
    assert_eq!(code, 3, "{error}");
    assert!(text.starts_with("LEAK  PersonRegistry.PERSONS (LinkedList): "), "{text}");
    write("PersonRegistry.PERSONS (LinkedList)");
    let (code, _, error) = run(&["check", SAMPLE, "--expected", path]);
    assert_eq!(code, 1, "a line without a reason");
    assert!(error.contains("line 1 is no expected leak") && error.contains("the reason"), "{error}");
}

/// Names and failures of the test cases in a file.
fn test_cases(file: &Path) -> Vec<(String, Option<String>)> {
    let text = std::fs::read_to_string(file).expect("a file");
    let mut reader = Reader::from_str(&text);
    let mut cases: Vec<(String, Option<String>)> = Vec::new();
    loop {
        match reader.read_event().expect("XML") {
            Event::Start(start) => {
                let attribute = |name: &str| {
                    let found = start.try_get_attribute(name).expect("attributes")?;
                    Some(
                        quick_xml::escape::unescape(std::str::from_utf8(&found.value).expect("text"))
                            .expect("text")
                            .into_owned(),
                    )
                };
                match start.name().as_ref() {
                    b"testcase" => cases.push((attribute("name").expect("a name"), None)),
                    b"failure" => cases.last_mut().expect("a case").1 = attribute("message"),
                    _ => {}
                }
            }
            Event::Eof => return cases,
            _ => {}
        }
    }
}

#[test]
fn limits_of_growth() {
    for (limit, code) in [("5%", 3), ("1kB", 3), ("10000%", 0), ("1GB", 0)] {
        let report = json(&["check", SAMPLE, "--max-growth", limit, "--format", "json"], code);
        let finding = &report["checks"][0];
        assert_eq!((&finding["id"], &finding["passed"]), (&"max-growth".into(), &(code == 0).into()), "{report}");
        assert!(finding["bytes"].as_i64().expect("bytes") > 1_800_000, "{report}");
        // Who owns it, where it is too much.
        assert_eq!(finding["details"].to_string().contains("PERSONS"), code == 3, "{report}");
    }
    // Trees have amounts, if no owners.
    assert_eq!(run(&["check", TREES, "--max-growth", "100000%"]).0, 0);
    let (code, text, _) = run(&["check", TREES, "--max-growth", "0%"]);
    assert!(code == 0 || text.contains("FAIL"), "{text}");
}

#[test]
fn limits_of_what_is_retained_are_exact_and_need_one_dump() {
    // What the table of the tree says of the type.
    let table = json(
        &[
            "report",
            LAST,
            "--grouping",
            "type",
            "--tree",
            "--leaves",
            "--metrics",
            "retained",
            "--format",
            "json",
            "--where",
            "name = \"register.model.Person\"",
        ],
        0,
    );
    let retained = table["analyses"][0]["tables"][0]["rows"][0]["values"]["retained"].as_u64().expect("a number");
    let check = |limit: &str, code| json(&["check", LAST, "--max-retained", limit, "--format", "json"], code);
    for (limit, code) in
        [(format!(">= {retained}"), 3), (format!("> {retained}"), 0), (format!("> {}", retained - 1), 3)]
    {
        let report = check(&format!("register.model.Person {limit}"), code);
        assert_eq!(report["checks"][0]["bytes"], retained, "{limit}");
        let details = report["checks"][0]["details"].to_string();
        assert_eq!(details.contains(&format!("12,400 in {PERSONS} › register.model.Person")), code == 3, "{details}");
    }
    // An owner with all below it, by the name that reports give it.
    let in_first_line = "PersonRegistry.PERSONS (LinkedList)";
    for name in ["register.store.PersonRegistry.PERSONS", in_first_line, PERSONS, &PERSONS.replace('›', ">")] {
        let owner = check(&format!("{name} > 1MB"), 3);
        assert!(owner["checks"][0]["bytes"].as_u64() > Some(retained), "{owner}");
    }
    // Any group.
    let groups = check("retained > 1MB and name ~ \"Person\"", 3);
    assert!(groups["checks"][0]["details"].to_string().contains("PERSONS"), "{groups}");
    check("retained > 1GB", 0);
    // A field of all instances of a class; what the class has not cannot be checked, and so does not pass.
    let names = check("register.model.Person.name > 500KB", 3);
    assert!(names["checks"][0]["message"].as_str().is_some_and(|m| m.contains("12,400 objects retain")), "{names}");
    check("register.model.Person.name > 5MB", 0);
    let (code, _, error) = run(&["check", LAST, "--max-retained", "register.model.Person.nonsense > 1B"]);
    assert!(code == 1 && error.contains("register.model.Person has no field nonsense"), "{code}: {error}");
    let missing = check("com.acme.Session > 50MB", 4);
    assert!(missing["checks"][0]["message"].as_str().is_some_and(|m| m.contains("Nothing is called")), "{missing}");
}

/// The file for build servers is complete or unchanged: a result that cannot be written leaves the old one.
#[test]
fn the_file_for_build_servers_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("made/for/it/result.xml");
    let check = |more: &[&str]| run(&[&["check", SAMPLE, "--junit", &file.to_string_lossy()], more].concat());
    assert_eq!(check(&["--max-growth", "100GB"]).0, 0);
    let whole = std::fs::read_to_string(&file).expect("the file");
    assert!(whole.ends_with("</testsuites>\n"), "{whole}");
    // A bound on the size of files, as a full disk: nothing of the new one is there.
    let command = format!(
        "ulimit -f 0; trap '' XFSZ; exec {} check {SAMPLE} --junit {} --max-growth 1kB",
        env!("CARGO_BIN_EXE_memory-city"),
        file.display()
    );
    let mut full = Command::new("bash");
    full.args(["-c", &command]).current_dir(root()).env("MEMORY_CITY_CACHE", "");
    let full = full.output().expect("it runs");
    assert_eq!(full.status.code(), Some(1), "{}", String::from_utf8_lossy(&full.stderr));
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), whole);
    let left = std::fs::read_dir(file.parent().expect("its folder")).expect("it").count();
    assert_eq!(left, 1, "nothing half written is left");
}

/// A failure says how sure it is: of two points in time that a third one would tell.
#[test]
fn a_failure_says_how_sure_it_is() {
    let unsure = "Two points in time cannot tell a leak";
    let dump = |n: u32| format!("{SAMPLE}/person-leak-{n:02}.hprof.gz");
    for (dumps, is_sure) in [(&[1, 16][..], false), (&[1, 8, 16], true)] {
        let dumps: Vec<String> = dumps.iter().map(|n| dump(*n)).collect();
        let arguments: Vec<&str> = ["check"].into_iter().chain(dumps.iter().map(String::as_str)).collect();
        let (code, text, error) = run(&arguments);
        assert_eq!((code, !text.contains(unsure)), (3, is_sure), "{text}{error}");
    }
}

/// `--churn` checks the dead objects, as asked for.
#[test]
fn checks_are_of_what_was_asked_for() {
    let found = |more: &[&str]| run(&[&["check", WITHOUT_REFERENCES, "--max-growth", "1B"], more].concat());
    let (alive, dead) = (found(&[]), found(&["--churn"]));
    assert!(dead.0 == 0 || dead.0 == 3, "{}", dead.2);
    assert_ne!(alive.1, dead.1);
}

#[test]
fn every_limit_is_a_test_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("limits.xml");
    let limits =
        ["--max-growth", "5%", "--max-retained", "byte[] > 1GB", "--max-retained", "register.model.Person > 1kB"];
    let file_text = file.to_string_lossy();
    let (code, text, error) = run(&[&["check", SAMPLE, "--junit", &file_text], &limits[..]].concat());
    assert_eq!(code, 3, "{text}{error}");
    let failed: Vec<bool> = test_cases(&file).iter().map(|(_, failure)| failure.is_some()).collect();
    assert_eq!(failed, [true, false, true]);
}

#[test]
fn what_cannot_be_checked_is_no_failed_check() {
    for (arguments, code, said) in [
        (&["check", LAST][..], 1, "two dumps"),
        (&["check", LAST, "--max-growth", "5%"], 1, "two dumps"),
        (&["check", "/does/not/exist"], 1, "/does/not/exist"),
        (&["check", TREES, "--max-retained", "X > 1kB"], 1, "objects"),
        (&["check", SAMPLE, "--junit", "/dev/null/of-no-folder.xml", "--max-growth", "1GB"], 1, "/dev/null"),
        (&["check", SAMPLE, "--max-growth", "much"], 2, "write 5% or 20MB"),
        (&["check", SAMPLE, "--max-retained", "com.acme.Session < 5MB"], 2, "say what is too much"),
        (&["check", SAMPLE, "--max-retained", "retained > "], 2, "^"),
        (&["check"], 2, "PATH"),
    ] {
        let (ended, text, error) = run(arguments);
        assert_eq!(ended, code, "{arguments:?}: {text}{error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}

/// A dump that was cut off is judged by nobody: the report says so first, and the check ends with a code of its own.
#[test]
fn what_cannot_be_judged_is_no_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = memory_city_testing::hprof_writer::small(2, 8, 3000);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [first, cut, start] = ["1.hprof", "2.hprof", "start.hprof"].map(path);
    std::fs::write(&first, &whole).expect("written");
    std::fs::write(&cut, &whole[..whole.len() - 20_000]).expect("written");
    std::fs::write(&start, &whole[..100]).expect("written");
    let (code, report, error) = run(&["report", &cut]);
    assert_eq!(code, 0, "{error}");
    assert!(report.starts_with("Cannot be judged: 2.hprof: the file was cut off after "), "{report}");
    let (code, checked, error) = run(&["check", &first, &cut, "--max-growth", "500%"]);
    assert_eq!(code, 4, "{checked}{error}");
    assert!(
        checked.contains("FAIL  The input can be judged") && checked.contains("Cannot be judged: 2.hprof"),
        "{checked}"
    );
    let allowed = run(&["check", &first, &cut, "--max-growth", "500%", "--allow-incomplete"]);
    assert_eq!(allowed.0, 0, "{}{}", allowed.1, allowed.2);
    assert!(allowed.1.contains("Cannot be judged: 2.hprof"), "{}", allowed.1);
    let limits = json(&["check", &first, &cut, "--max-growth", "500%", "--format", "json"], 4);
    assert_eq!((&limits["passed"], &limits["checks"][0]["id"]), (&Value::from(false), &Value::from("incomplete")));
    for command in ["report", "check"] {
        let (code, said, error) = run(&[command, &start]);
        assert_eq!((code, said.as_str()), (1, ""), "{error}");
        assert!(error.contains("has no objects in its 100 bytes"), "{error}");
    }
}

/// What people hand over in place of a dump: a sentence says what it is, and nothing ends with 0.
#[test]
fn files_of_other_kinds_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes, part) in [
        ("heapdump", &b"<!DOCTYPE html>\n<html><head><title>Please sign in</title>"[..], "a web page"),
        ("heapdump.json", b"{\"timestamp\":\"2026-01-01\",\"status\":404,\"error\":\"Not Found\"}", "server"),
        ("dump.zip", b"PK\x03\x04\x14\0\0\0", "a zip archive"),
        ("rec.jfr", b"FLR\0\0\x02\0\0", "Flight Recorder"),
        ("java.hprof.txt", b"JAVA PROFILE 1.0.1, created Thu Jan  1 12:00:00 2026\n\nHeader for", "old hprof agent"),
        ("1.phd", b"\0\x12portable heap dump\0\0\0\x06", "OpenJ9"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let path = path.display().to_string();
        let (code, said, error) = run(&["report", &path]);
        assert_eq!((code, said.as_str()), (1, ""), "{name}: {error}");
        assert!(error.contains(part) && error.contains(name) && error.trim().lines().count() == 1, "{name}: {error}");
    }
}
