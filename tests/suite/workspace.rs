//! The rules between crates, from the output of cargo: their dependencies, the packages of the recorder's format, and
//! an engine without the window's libraries.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use memory_city_testing::{root, rust_files};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// From left to right; a crate depends only on what stands to its left. Crates in one row know nothing of each other.
const ROWS: [&[&str]; 6] = [
    &["memory-city-heap", "memory-city-wire"],
    &["memory-city-agent", "memory-city-formats"],
    &["memory-city-analysis"],
    &["memory-city-views", "memory-city-tables"],
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

/// The packages that a package alone is linked with, itself not counted: without features that others of the workspace ask for.
fn linked_with(name: &str) -> BTreeSet<String> {
    let mut tree = std::process::Command::new(option_env!("CARGO").unwrap_or("cargo"));
    tree.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--target", HOST, "--package", name]);
    let listed = tree.current_dir(root()).output().expect("cargo");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("names");
    listed.lines().filter_map(|line| line.split_whitespace().next()).filter(|n| *n != name).map(str::to_owned).collect()
}

#[test]
fn the_wire_format_pulls_in_next_to_nothing() {
    let all = linked_with("memory-city-wire");
    assert!(all.len() <= MOST_DEPENDENCIES_OF_WIRE, "{all:?}");
    assert!(all.iter().all(|name| !name.starts_with("memory-city")), "{all:?}");
}

/// It is a guest in somebody's program: of ours it knows the trace format, and nothing that reads or measures heaps.
#[test]
fn the_recorder_pulls_in_the_trace_format_and_two_tables() {
    let all = linked_with("memory-city-agent");
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

/// Names of others are escaped by who writes to the terminal: that is one module.
#[test]
fn the_terminal_is_written_to_in_one_place() {
    let said = ["println!", "print!(", "stdout()", "stderr()", "dbg!("];
    let own = [
        // It is that module.
        "src/terminal.rs",
        // The recorder, in the program that is recorded, which escapes its few lines itself.
        "crates/agent/src/log.rs",
    ];
    let crates = std::fs::read_dir(root().join("crates")).expect("the crates").flatten().map(|entry| entry.path());
    let crates = crates.filter(|path| !path.ends_with("testing")).map(|path| path.join("src"));
    let mut seen = 0;
    for file in crates.chain([root().join("src")]).flat_map(|folder| rust_files(&folder)) {
        let text = std::fs::read_to_string(&file).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        seen += 1;
        if own.iter().any(|own| file.ends_with(own)) {
            continue;
        }
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            // Whether there is a terminal, and where its progress bars are drawn, is no text.
            let line = line.replace("stderr().is_terminal()", "").replace("Term::stderr()", "");
            let found = said.iter().find(|said| line.contains(**said));
            assert_eq!(found, None, "{}: {line}", file.display());
        }
        // Folders that a neighbour may have made before.
        assert!(!code.contains("temp_dir()"), "{}: a folder of a random name is made by tempfile", file.display());
    }
    assert!(seen > 700, "{seen} files");
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

/// A change that Bevy does not notice needs a number that others compare in every frame.
#[test]
fn changes_are_noticed() {
    for file in rust_files(&root().join("src/viewer")) {
        let text = std::fs::read_to_string(&file).expect("a source");
        assert!(!text.contains(".bypass_change_detection("), "{}", file.display());
    }
}

/// The pages give the recorder's cost as the table of measurements has it.
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
    for page in ["docs/record.md", "docs/recorder.md"] {
        let said = format!("measured under G1 took {least:.2} to {most:.2} times");
        let page_text = text(page).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page_text.contains(&said), "{page} does not say: {said}");
    }
}

/// Modules that import each other in a circle can only be understood together. The largest circle of each folder has at most this many;
/// the module of the folder comes second. The numbers may only shrink.
const CIRCLES: [(&str, &str, usize); 12] = [
    ("crates/heap/src", "", 8),
    ("crates/wire/src", "", 8),
    ("crates/agent/src", "", 8),
    ("crates/formats/src", "", 8),
    ("crates/analysis/src", "", 8),
    ("crates/tables/src", "", 8),
    ("crates/views/src", "", 8),
    ("crates/live/src", "", 8),
    ("crates/testing/src", "", 8),
    ("src/cli", "cli", 8),
    ("src/jvm", "jvm", 8),
    ("src/viewer", "viewer", 8),
];

/// Imports of a folder: the modules that each module uses, or names by a path after `crate`, `super` or `self`. Modules are paths from the
/// folder, such as `views::city`; the folder itself is the empty one. Tests are left out.
fn imports(folder: &str, prefix: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = root().join(folder);
    let mut texts = BTreeMap::new();
    for file in rust_files(&folder) {
        let path = file.strip_prefix(&folder).expect("in the folder").with_extension("");
        let words = path.iter().map(|word| word.to_str().expect("a name"));
        let words: Vec<&str> = words.filter(|word| !["mod", "lib", "main"].contains(word)).collect();
        let text = std::fs::read_to_string(&file).expect("a source");
        let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        texts.insert(words.join("::"), lines.join("\n"));
    }
    let mut tests = BTreeSet::new();
    for (module, text) in &mut texts {
        let items =
            text.match_indices("#[cfg(test)]").map(|(at, attribute)| (at, text[at + attribute.len()..].trim_start()));
        let items: Vec<(usize, &str)> = items.map(|(at, item)| (at, item.lines().next().unwrap_or_default())).collect();
        let names = items.iter().filter_map(|(_, item)| item.split_once("mod ")?.1.strip_suffix(';'));
        tests.extend(names.map(|name| inside(module, name)));
        if let Some(&(at, _)) = items.iter().find(|(_, item)| item.starts_with("mod ") && item.ends_with('{')) {
            text.truncate(at);
        }
    }
    texts.retain(|module, _| !tests.iter().any(|test| module == test || module.starts_with(&format!("{test}::"))));
    let find =
        |path: &[&str]| (0..=path.len()).rev().map(|n| path[..n].join("::")).find(|path| texts.contains_key(path));
    let imports_of = |module: &String, text: &String| {
        let own: Vec<&str> = module.split("::").filter(|word| !word.is_empty()).collect();
        let named = paths(text).into_iter().filter_map(|path| {
            let ups = path.iter().take_while(|word| **word == "super").count();
            let absolute = match path[0] {
                "crate" if prefix.is_empty() => path[1..].to_vec(),
                "crate" if path.get(1) == Some(&prefix) => path[2..].to_vec(),
                "super" if ups <= own.len() => [&own[..own.len() - ups], &path[ups..]].concat(),
                "self" => [&own[..], &path[1..]].concat(),
                child if texts.contains_key(&inside(module, child)) => [&own[..], &path[..]].concat(),
                _ => return None,
            };
            find(&absolute)
        });
        named.filter(|other| other != module).collect()
    };
    texts.iter().map(|(module, text)| (module.clone(), imports_of(module, text))).collect()
}

fn inside(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The paths in a text that are used, or begin at a module; those of a group one by one.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let end = match first {
            first if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let before = if at == 0 { "" } else { tokens[at - 1] };
        let begins = before == "use" || before != "::" && ["crate", "super", "self"].contains(&tokens[at]);
        if begins && tokens.get(at + 1) == Some(&"::") {
            path_at(&tokens, at, &[], &mut found);
        }
    }
    found
}

/// Adds the paths that begin at a token, below `outer`. Returns where they end.
fn path_at<'a>(tokens: &[&'a str], mut at: usize, outer: &[&'a str], found: &mut Vec<Vec<&'a str>>) -> usize {
    let mut path = outer.to_vec();
    while let Some(token) = tokens.get(at) {
        at += 1;
        match *token {
            "{" => {
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = path_at(tokens, at, &path, found);
                }
                return at + 1;
            }
            word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => path.push(word),
            _ => break,
        }
        if tokens.get(at) != Some(&"::") {
            // The end of a member of a group, with another name perhaps.
            at += tokens[at..].iter().take_while(|token| !outer.is_empty() && ![",", "}"].contains(token)).count();
            at += usize::from(!outer.is_empty() && tokens.get(at) == Some(&","));
            break;
        }
        at += 1;
    }
    found.push(path);
    at
}

/// The largest set of modules that import each other, directly or by others.
fn largest_circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<&String> {
    let reached = |from| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            open.extend(imports[module].iter().filter(|other| seen.insert(*other)));
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|module| (module, reached(module))).collect();
    let circle =
        |module: &String| reached[module].iter().filter(|other| reached[*other].contains(module)).copied().collect();
    imports.keys().map(circle).max_by_key(|circle: &Vec<&String>| circle.len()).unwrap_or_default()
}

#[test]
fn circles_of_modules_are_small() {
    for (folder, prefix, most) in CIRCLES {
        let imports = imports(folder, prefix);
        let circle = largest_circle(&imports);
        assert!(imports.values().any(|others| !others.is_empty()), "{folder}");
        assert!(circle.len() <= most, "{folder}: {} modules import each other: {circle:#?}", circle.len());
    }
}

/// What views share lies below them: nothing but the assembly knows a view, or the list of them.
#[test]
fn a_view_knows_no_other() {
    let imports = imports("src/viewer", "viewer");
    let view_of =
        |module: &str| module.strip_prefix("views::").and_then(|rest| rest.split("::").next()).map(str::to_owned);
    let mut views = BTreeSet::new();
    for (module, others) in &imports {
        views.extend(view_of(module));
        for other in others {
            let assembles = ["app", "capture", "film", "views"].contains(&module.as_str());
            let knows = other == "views" || view_of(other).is_some_and(|view| view_of(module) != Some(view));
            assert!(assembles || !knows, "{module} imports {other}");
            assert!(other != "app" || module == "capture", "{module} imports {other}: it assembles, and is not used");
        }
    }
    assert!(views.len() > 10, "{views:?}");
}
