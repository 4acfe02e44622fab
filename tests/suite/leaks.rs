//! Programs that leak, each in its own way, and healthy ones. `report` must name, before its table of times, the faulty
//! collection, field or thread with its elements then and now, or say that nothing grows.
//!
//! `tests/java/zoo/expected.json` says of each program of `tests/java/zoo` what must be named. It was written before anything
//! was there that could name it, and is changed only where it is wrong about the program. The programs take their dumps
//! themselves and say after each how many elements there are, so the expectation is held against them too.
//!
//! `MEMORY_CITY_ZOO='PersonList TwoLeaks'` runs only these and prints their reports.

use memory_city_testing::{jvm, root};
use rayon::prelude::*;
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the table of times begins: what stands before it is what a person reads first.
const TABLE_OF_TIMES: &str = "HEAP OVER TIME";
/// Most lines before the table, which fit on a screen: a report that lists everything names nothing.
const MOST_LINES: usize = 40;
/// The sentence about a healthy program.
const NOTHING_GROWS: &str = "Nothing accumulates";

/// Small heaps of one collector, compacted at each collection, so that every run is like the other.
const FLAGS: [&str; 4] =
    ["-Xmx64m", "-XX:+UseSerialGC", "-XX:MarkSweepAlwaysCompactCount=1", "-XX:TieredStopAtLevel=1"];

/// One program and the demands on its report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    program: String,
    /// The library it is about.
    class_path: Option<String>,
    /// In the order in which they must be named, by how much they grow. None: that nothing grows.
    leaks: Vec<Leak>,
    /// The report may also say that nothing grows.
    #[serde(default)]
    or_nothing: bool,
    /// What must not be named.
    #[serde(default)]
    not: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Leak {
    /// All of these must be there. `|` separates alternatives; one is enough.
    named: Vec<String>,
    /// At the first and at the last time, where it is something that has elements.
    elements: Option<[u64; 2]>,
    /// The program does not count exactly what a reader of the heap counts: up to 2 more or less, or 1 %.
    #[serde(default)]
    about: bool,
    /// The type of what there are more and more of; alternatives as above.
    holds: Option<String>,
}

/// Where a text stands as a word of its own, from a position on.
fn word(text: &str, word: &str, from: usize) -> Option<usize> {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut at = from;
    while let Some(found) = text[at..].find(word) {
        let (start, end) = (at + found, at + found + word.len());
        let before = part(word.chars().next()) && part(text[..start].chars().next_back());
        let after = part(word.chars().next_back()) && part(text[end..].chars().next());
        if !before && !after {
            return Some(start);
        }
        at = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// The first place of any of the alternatives.
fn any_of(text: &str, alternatives: &str, from: usize) -> Option<usize> {
    alternatives.split('|').filter_map(|one| word(text, one, from)).min()
}

/// All whole numbers of a text, with or without commas between thousands.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit() && c != ',' && c != '.')
        .filter_map(|number| number.trim_end_matches([',', '.']).replace(',', "").parse().ok())
        .collect()
}

/// Demands that a report misses, and text that must not be there; empty if all is well.
fn complaints(head: &str, expected: &Expected) -> Vec<String> {
    let said_nothing_grows = head.contains(NOTHING_GROWS);
    if said_nothing_grows && (expected.leaks.is_empty() || expected.or_nothing) {
        return Vec::new();
    }
    if expected.leaks.is_empty() {
        return vec!["does not say that nothing grows".into()];
    }
    let mut wrong = Vec::new();
    if said_nothing_grows {
        wrong.push("says that nothing grows".to_owned());
    }
    let numbers = numbers(head);
    let mut before = 0;
    for leak in &expected.leaks {
        let mut first = None;
        for name in &leak.named {
            match any_of(head, name, 0) {
                Some(at) => first = first.max(Some(at)),
                None => wrong.push(format!("does not name {name}")),
            }
        }
        if let Some(first) = first {
            if first < before {
                wrong.push(format!("names {} too early", leak.named.join(", ")));
            }
            before = first;
        }
        for elements in leak.elements.into_iter().flatten() {
            let tolerance = if leak.about { (elements / 100).max(2) } else { 0 };
            if !numbers.iter().any(|n| n.abs_diff(elements) <= tolerance) {
                wrong.push(format!("does not say {elements} elements"));
            }
        }
        if let Some(holds) = leak.holds.as_ref().filter(|holds| any_of(head, holds, 0).is_none()) {
            wrong.push(format!("does not say that it holds {holds}"));
        }
    }
    wrong.extend(expected.not.iter().filter(|name| word(head, name, 0).is_some()).map(|name| format!("names {name}")));
    let lines = head.trim().lines().count();
    if lines > MOST_LINES {
        wrong.push(format!("says it in {lines} lines"));
    }
    wrong
}

/// What `report` prints before its table of times.
fn head(dumps: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .arg("report")
        .arg(dumps)
        .env_remove("RUST_LOG")
        .env("MEMORY_CITY_CACHE", "")
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    said.split(TABLE_OF_TIMES).next().unwrap_or_default().to_owned()
}

/// Whether `check` lets a build pass.
fn passes(dumps: &Path) -> bool {
    let status = Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .arg("check")
        .arg(dumps)
        .env_remove("RUST_LOG")
        .env("MEMORY_CITY_CACHE", "")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("the program runs");
    match status.code() {
        Some(0) => true,
        Some(3) => false,
        code => panic!("check ends with {code:?}"),
    }
}

/// Runs a program, which dumps itself into a folder, and looks at what it says about itself.
fn record(jdk: &jvm::Jdk, classes: &str, expected: &Expected, dumps: &Path) -> Vec<String> {
    let main = format!("zoo.{}.{}", expected.program.to_lowercase(), expected.program);
    let class_path = format!("{classes}:{}", expected.class_path.as_deref().unwrap_or_default());
    let mut java = jdk.tool("java");
    java.args(FLAGS).arg(format!("-Ddumps={}", dumps.display())).args(["-cp", &class_path, &main]);
    let said = jvm::output(&mut java);
    let counted: Vec<u64> = said.lines().filter_map(|l| l.strip_prefix("elements ")?.parse().ok()).collect();
    assert!(counted.len() > 3, "{main} has taken {} dumps: {said}", counted.len());
    let Some([first, last]) = expected.leaks.first().and_then(|leak| leak.elements) else {
        return Vec::new();
    };
    let off = |a: u64, b: u64| a.abs_diff(b) > 1;
    if off(first, counted[0]) || off(last, counted[counted.len() - 1]) {
        return vec![format!("the program counts {counted:?}")];
    }
    Vec::new()
}

#[test]
fn what_leaks_is_named_first_and_what_is_healthy_is_left_alone() {
    let test = "what_leaks_is_named_first_and_what_is_healthy_is_left_alone";
    let Some(jdk) = jvm::jdk_from(17) else {
        return jvm::skip(test, "there is no JDK 17 or newer (apt-get install default-jdk-headless)");
    };
    let zoo = root().join("tests/java/zoo");
    let text = std::fs::read_to_string(zoo.join("expected.json")).expect("the expectations");
    let mut programs: Vec<Expected> = serde_json::from_str(&text).expect("expectations of the form above");
    let of_folder = std::fs::read_dir(&zoo).expect("the programs").map(|entry| entry.expect("a file").path());
    let sources: Vec<_> = of_folder.filter(|path| path.extension().is_some_and(|e| e == "java")).collect();
    assert_eq!(sources.len(), programs.len() + 1, "each program but the one that takes the dumps has an expectation");

    let only = std::env::var("MEMORY_CITY_ZOO").ok();
    let chosen = |name: &str| only.as_ref().is_none_or(|only| only.split_whitespace().any(|one| one == name));
    programs.retain(|p| chosen(&p.program));
    for library in programs.iter().filter_map(|p| p.class_path.as_ref()) {
        if !Path::new(library).is_file() {
            return jvm::skip(test, &format!("{library} is missing (apt-get install libh2-java)"));
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let classes = folder.path().join("classes");
    let libraries: Vec<&str> = programs.iter().filter_map(|p| p.class_path.as_deref()).collect();
    let compiled: Vec<&Path> = sources
        .iter()
        .map(std::path::PathBuf::as_path)
        .filter(|path| path.file_stem().is_some_and(|name| name == "Series" || chosen(&name.to_string_lossy())))
        .collect();
    jdk.compile(&compiled, &libraries.join(":"), &classes);
    let classes = classes.to_string_lossy().into_owned();

    let failures: Vec<String> = programs
        .par_iter()
        .filter_map(|expected| {
            let dumps = folder.path().join(&expected.program);
            std::fs::create_dir(&dumps).expect("a folder");
            let mut wrong = record(&jdk, &classes, expected, &dumps);
            let head = head(&dumps);
            // `check` says the same by its exit code.
            if passes(&dumps) != head.contains(NOTHING_GROWS) {
                wrong.push("check says otherwise".to_owned());
            }
            std::fs::remove_dir_all(&dumps).expect("dumps that can go");
            wrong.extend(complaints(&head, expected));
            if only.is_some() {
                jvm::say(&format!("--- {}\n{head}", expected.program));
            }
            (!wrong.is_empty()).then(|| format!("{}: {}\n{head}", expected.program, wrong.join("; ")))
        })
        .collect();
    let summary: Vec<&str> = failures.iter().filter_map(|failure| failure.lines().next()).collect();
    assert!(
        failures.is_empty(),
        "{}\n\nIn short, {} of {}:\n{}",
        failures.join("\n"),
        failures.len(),
        programs.len(),
        summary.join("\n")
    );
}

/// Each demand can fail. The test above is worth only as much as this one.
#[test]
fn an_answer_that_misses_something_is_found_out() {
    let leak = |named: &[&str], elements, holds: &str| Leak {
        named: named.iter().map(|&name| name.to_owned()).collect(),
        elements,
        about: false,
        holds: Some(holds.to_owned()),
    };
    let mut expected = Expected {
        program: "Shop".into(),
        class_path: None,
        leaks: vec![leak(&["Audit.events", "main|worker"], Some([900, 3600]), "AuditEvent|Event")],
        or_nothing: false,
        not: vec!["pages".into()],
    };
    let good = "Audit.events of thread main grows: 900 -> 3,600 AuditEvent, 1.5 MB, 97.3 % of the growth";
    assert_eq!(complaints(good, &expected), Vec::<String>::new());
    for (said, complaint) in [
        (good.replace("events", "eventsOld"), "does not name Audit.events"),
        (good.replace("main", "mainly"), "does not name main|worker"),
        (good.replace("3,600", "3,601"), "does not say 3600 elements"),
        (good.replace("900 ->", "1.900 ->"), "does not say 900 elements"),
        (good.replace("AuditEvent", "AuditEvents"), "does not say that it holds AuditEvent|Event"),
        (format!("{good}; also pages"), "names pages"),
        (format!("{good}{}", "\nand that".repeat(MOST_LINES)), "says it in 41 lines"),
        (format!("{good}\nNothing accumulates: all is well"), "says that nothing grows"),
    ] {
        assert_eq!(complaints(&said, &expected), [complaint], "{said}");
    }

    let carts = "Carts.byCustomer grows: 300 -> 1,200 Cart";
    expected.leaks.push(leak(&["Carts.byCustomer"], Some([300, 1200]), "Cart"));
    assert_eq!(complaints(&format!("{good}\n{carts}"), &expected), Vec::<String>::new());
    assert_eq!(complaints(&format!("{carts}\n{good}"), &expected), ["names Carts.byCustomer too early"]);

    expected.leaks.clear();
    assert_eq!(complaints("Nothing accumulates: no place grows", &expected), Vec::<String>::new());
    assert_eq!(complaints(carts, &expected), ["does not say that nothing grows"]);
    assert_eq!(complaints("", &expected), ["does not say that nothing grows"]);
}
