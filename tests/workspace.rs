//! The rules between crates, read from what cargo itself says: who may depend on whom, what the recorder's format may pull
//! in, and that the engine never sees the window's libraries.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use memory_city_testing::{root, rust_files};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// From left to right; a crate depends only on what stands to its left. Crates in one row know nothing of each other.
const ROWS: [&[&str]; 6] = [
    &["memory-city-heap", "memory-city-wire"],
    &["memory-city-agent", "memory-city-formats"],
    &["memory-city-analysis"],
    &["memory-city-views"],
    &["memory-city-live"],
    &["memory-city"],
];

/// What tests share: right of the formats, and never part of a program.
const TESTING: &str = "memory-city-testing";

/// What a recorder may pull into other people's programs.
const MOST_DEPENDENCIES_OF_WIRE: usize = 9;

/// What the library that a JVM loads may pull in besides: the tables of JNI and of the C library, with what declares them.
const MOST_DEPENDENCIES_OF_AGENT: usize = MOST_DEPENDENCIES_OF_WIRE + 9;

/// Where the program runs: what other systems need is not asked for.
const HOST: &str = "x86_64-unknown-linux-gnu";

fn metadata(arguments: &[&str]) -> Metadata {
    let mut command = MetadataCommand::new();
    command.manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    command.other_options(
        ["--locked", "--filter-platform", HOST].iter().chain(arguments).map(|a| (*a).to_owned()).collect::<Vec<_>>(),
    );
    command.exec().expect("cargo metadata")
}

/// All packages that a package is built from, itself not counted, by name.
fn built_from(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let names: HashMap<_, _> = metadata.packages.iter().map(|p| (&p.id, p.name.to_string())).collect();
    let nodes = &metadata.resolve.as_ref().expect("a resolution").nodes;
    let node_of: HashMap<_, _> = nodes.iter().map(|n| (&n.id, n)).collect();
    let start = nodes.iter().find(|n| names[&n.id] == name).expect("the package");
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(node) = open.pop() {
        for dependency in &node.deps {
            let normal = dependency.dep_kinds.iter().any(|k| k.kind == DependencyKind::Normal);
            if normal && seen.insert(&dependency.pkg) {
                open.push(node_of[&dependency.pkg]);
            }
        }
    }
    seen.into_iter().map(|id| names[id].clone()).collect()
}

#[test]
fn crates_depend_only_on_those_to_their_left() {
    let metadata = metadata(&["--no-deps"]);
    let row = |name: &str| ROWS.iter().position(|row| row.contains(&name));
    for package in &metadata.packages {
        let name = package.name.as_str();
        let ours = package.dependencies.iter().filter(|d| d.name.starts_with("memory-city") && d.name != TESTING);
        let at = row(name).or((name == TESTING).then_some(2));
        let at = at.unwrap_or_else(|| panic!("{name} has no place: put it into a row, and say why in ARCHITECTURE.md"));
        for dependency in ours.filter(|d| d.kind == DependencyKind::Normal) {
            let to = row(&dependency.name).expect("a place");
            assert!(to < at, "{name} depends on {}, which is not to its left", dependency.name);
        }
        let uses_tests =
            package.dependencies.iter().any(|d| d.name == TESTING && d.kind != DependencyKind::Development);
        assert!(!uses_tests, "{name} uses what is for tests only");
    }
    assert_eq!(metadata.packages.len(), ROWS.iter().map(|row| row.len()).sum::<usize>() + 1);
}

#[test]
fn the_wire_format_pulls_in_next_to_nothing() {
    let all = built_from(&metadata(&[]), "memory-city-wire");
    assert!(all.len() <= MOST_DEPENDENCIES_OF_WIRE, "{all:?}");
    assert!(all.iter().all(|name| !name.starts_with("memory-city")), "{all:?}");
}

/// It is a guest in somebody's program: of ours it knows the trace format, and nothing that reads or measures heaps.
#[test]
fn the_recorder_pulls_in_the_trace_format_and_two_tables() {
    let all = built_from(&metadata(&[]), "memory-city-agent");
    assert!(all.len() <= MOST_DEPENDENCIES_OF_AGENT, "{all:?}");
    let ours: Vec<_> = all.iter().filter(|name| name.starts_with("memory-city")).collect();
    assert_eq!(ours, ["memory-city-wire"]);
    for named in ["jni-sys", "libc"] {
        assert!(all.contains(named), "{all:?}");
    }
}

#[test]
fn the_engine_knows_no_window() {
    let metadata = metadata(&["--no-default-features"]);
    for name in ROWS.concat() {
        let all = built_from(&metadata, name);
        let seen = all.iter().find(|d| ["bevy", "wgpu", "winit", "egui"].iter().any(|w| d.starts_with(w)));
        assert_eq!(seen, None, "{name} is built from it");
    }
}

/// A fault of the recorder is caught wherever the VM calls it, which takes panics that unwind: also in what is shipped.
#[test]
fn panics_unwind_in_every_profile() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let is_said = |text: &str| text.lines().any(|line| line.trim_start().starts_with("panic") && line.contains('='));
    assert!(manifest.contains("[profile.release]") && !is_said(&manifest), "a profile says what panics do");
    assert!(is_said("[profile.release]\npanic = \"abort\""));
    // What cargo reads besides.
    for name in [".cargo/config.toml", ".cargo/config"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap_or_default();
        assert!(!is_said(&text) && !text.contains("panic="), "{name}");
    }
}

/// One concept, one name: no two types of the program are called the same. (Test support has names of its own.)
#[test]
fn type_names_are_unique() {
    let mut files = rust_files(&root().join("src"));
    for name in ROWS.concat().iter().filter_map(|name| name.strip_prefix("memory-city-")) {
        files.extend(rust_files(&root().join("crates").join(name).join("src")));
    }
    let mut seen: HashMap<String, PathBuf> = HashMap::new();
    let mut twice = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(&file).expect("a source").lines() {
            let words = line.trim_start().trim_start_matches("pub").trim_start();
            let words = words.strip_prefix('(').and_then(|w| w.split_once(')')).map_or(words, |(_, rest)| rest);
            let mut words = words.split_whitespace();
            let (Some("struct" | "enum" | "trait"), Some(name)) = (words.next(), words.next()) else { continue };
            let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
            // A name that a macro is given stands where the macro is used.
            if name.is_empty() {
                continue;
            }
            if let Some(other) = seen.insert(name.clone(), file.clone()) {
                twice.push(format!("{name}: {} and {}", other.display(), file.display()));
            }
        }
    }
    assert!(seen.len() > 300, "{} types", seen.len());
    assert!(twice.is_empty(), "{twice:#?}");
}

/// What a killed recording left in a trace is taken before anything of it is read: whoever opens what people name does it by `opening`.
#[test]
fn what_people_name_is_opened_in_one_place() {
    for file in rust_files(&root().join("src")) {
        let text = std::fs::read_to_string(&file).expect("a source");
        // A walk that has just been written is read again by who wrote it; tests open what they have made.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if ["opening.rs", "recorder/live.rs"].iter().any(|own| file.ends_with(own)) {
            continue;
        }
        for call in ["Source::open(", "Source::open_gradually(", "formats::open("] {
            assert!(!code.contains(call), "{} calls {call}...)", file.display());
        }
    }
}

/// One concept, one word: no word stands twice in the glossary.
#[test]
fn words_of_the_glossary_are_unique() {
    let page = std::fs::read_to_string(root().join("docs/glossary.md")).expect("the page");
    let mut seen = BTreeSet::new();
    for word in page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()) {
        assert!(word == "word" || seen.insert(word.to_owned()), "{word} stands twice in docs/glossary.md");
    }
    assert!(seen.len() > 80, "{} words", seen.len());
}

/// What README.md says of the recorder's cost is what the table of measurements says.
#[test]
fn costs_are_those_that_were_measured() {
    let text = |name: &str| std::fs::read_to_string(root().join(name)).expect("a page");
    let benches = text("benches/README.md");
    let behind = benches.split("\nAll that a recording does by default").nth(1).expect("the measurements");
    let table = behind.lines().skip_while(|line| !line.starts_with("| JVM |")).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = table.map(|line| line.split('|').map(str::trim).collect()).collect();
    let column = rows[0].iter().position(|title| title.starts_with("by the clock")).expect("the column");
    let of = |row: &Vec<&str>| row[column].split(' ').next()?.parse::<f64>().ok();
    let ratios: Vec<f64> = rows.iter().skip(2).filter_map(of).collect();
    assert!(ratios.len() > 10, "{ratios:?}");
    let (least, most) =
        ratios.iter().fold((f64::MAX, 0.0), |(least, most), &ratio| (ratio.min(least), ratio.max(most)));
    for page in ["README.md", "docs/recorder.md"] {
        let said = format!("measured under G1 took {least:.2} to {most:.2} times");
        let page_text = text(page).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page_text.contains(&said), "{page} does not say: {said}");
    }
}
