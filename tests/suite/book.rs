//! The Markdown pages: links and anchors that resolve, chapters in the book's summary, sizes, and the report that README.md shows.

use memory_city_testing::root;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most bytes of pages that are read first.
const MOST_BYTES: [(&str, usize); 2] = [("README.md", 10_000), ("ARCHITECTURE.md", 14_000)];

/// The longest line of a release note, characters.
const LONGEST_NOTE: usize = 120;

/// All Markdown files of the sources: not those of builds, hidden folders, or what scripts download.
fn pages() -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root().to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_link = entry.file_type().expect("a type").is_symlink();
            if path.is_dir() && !is_link {
                let is_left_out = name.starts_with(['.', '_']) || name.starts_with("target") || name == "out";
                open.extend((!is_left_out).then_some(path));
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lines outside blocks of code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// A line without its code in backticks, which holds no links.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Targets of the links and pictures of a line.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let behind = line.match_indices("](").map(|(at, _)| &line[at + 2..]);
    behind.filter_map(|rest| Some(rest[..rest.find(')')?].split(' ').next()?.to_owned())).collect()
}

/// The anchors of a page, as GitHub and mdBook make them of its headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text)
        .filter_map(|(_, line)| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    headings
        .map(|heading| {
            let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
            let count = seen.entry(anchor.clone()).and_modify(|count| *count += 1).or_insert(0);
            if *count == 0 { anchor } else { format!("{anchor}-{count}") }
        })
        .collect()
}

/// Why a link of a page leads nowhere.
fn broken(page: &Path, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let file = if path.is_empty() { page.to_owned() } else { page.parent().expect("a folder").join(path) };
    if !file.exists() {
        return Some("there is no such file");
    }
    let anchor = anchor?;
    (!anchors(&read(&file)).contains(anchor)).then_some("that page has no such heading")
}

#[test]
fn links_lead_somewhere() {
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for page in pages() {
        for (number, line) in prose(&read(&page)) {
            for target in targets(line) {
                tried += 1;
                let why = broken(&page, &target);
                wrong.extend(why.map(|why| format!("{}:{number}: {target}: {why}", page.display())));
            }
        }
    }
    assert!(tried > 100, "{tried} links");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The checks above find what they are for.
#[test]
fn broken_links_are_found() {
    let page = root().join("README.md");
    for (target, is_broken) in [
        ("docs/ci.md", false),
        ("docs/nothing.md", true),
        ("docs/ci.md#limits", false),
        ("docs/ci.md#no-such-heading", true),
        ("#no-such-heading", true),
        ("https://example.org/anything", false),
    ] {
        assert_eq!(broken(&page, target).is_some(), is_broken, "{target}");
    }
    assert_eq!(targets("[a](b.md) `[c](d.md)` ![e](f.png \"title\")"), ["b.md", "f.png"]);
    let text = "# A `b`: c, d\n```\n# no heading\n```\n## Twice\n## Twice\n";
    assert_eq!(anchors(text), BTreeSet::from(["a-b-c-d", "twice", "twice-1"].map(str::to_owned)));
}

#[test]
fn every_page_is_a_chapter() {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    let chapters: Vec<String> = summary.lines().flat_map(targets).collect();
    let distinct: BTreeSet<&String> = chapters.iter().collect();
    assert_eq!(distinct.len(), chapters.len(), "a chapter stands twice in docs/SUMMARY.md");
    for page in pages().iter().filter(|page| page.parent() == Some(&docs) && !page.ends_with("SUMMARY.md")) {
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(distinct.contains(&name), "docs/{name} is no chapter in docs/SUMMARY.md");
    }
}

/// No picture of the book is left over.
#[test]
fn every_picture_is_shown() {
    let shown: BTreeSet<PathBuf> = pages()
        .iter()
        .flat_map(|page| {
            let folder = page.parent().expect("a folder").to_owned();
            let text = read(page);
            prose(&text).flat_map(|(_, line)| targets(line)).map(|target| folder.join(target)).collect::<Vec<_>>()
        })
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    for entry in std::fs::read_dir(root().join("docs")).expect("the book") {
        let path = entry.expect("an entry").path().canonicalize().expect("a path");
        let is_picture = path.extension().is_some_and(|end| end == "png");
        assert!(!is_picture || shown.contains(&path), "no page shows {}", path.display());
    }
}

#[test]
fn pages_that_are_read_first_are_short() {
    for (name, most) in MOST_BYTES {
        let bytes = read(&root().join(name)).len();
        assert!(bytes <= most, "{name} has {bytes} bytes; move details to docs/, {most} are enough");
    }
}

/// One line of at most 120 characters for each change, below a release that has a date; the newest is this version.
#[test]
fn release_notes_are_short() {
    let text = read(&root().join("CHANGELOG.md"));
    let releases: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for release in &releases {
        let date = release.split_once(" (").and_then(|(_, date)| date.strip_suffix(')')).unwrap_or_default();
        let parts: Vec<usize> = date.split('-').map(str::len).collect();
        assert_eq!(parts, [4, 2, 2], "a release is `## VERSION (YEAR-MONTH-DAY)`: {release}");
    }
    let newest = releases.first().and_then(|release| release.split(' ').next());
    assert_eq!(newest, Some(env!("CARGO_PKG_VERSION")), "CHANGELOG.md begins with this version");
    for (at, line) in text.lines().enumerate() {
        assert!(line.chars().count() <= LONGEST_NOTE, "CHANGELOG.md:{}: over {LONGEST_NOTE} characters", at + 1);
        assert!(!line.starts_with("  "), "CHANGELOG.md:{}: a note is one line", at + 1);
    }
}

/// The report that README.md and docs/find-a-leak.md show is the one that the program prints of the sample.
#[test]
fn the_report_on_the_pages_is_that_of_the_sample() {
    let report = Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .args(["report", "sample-data/person-leak"])
        .env("MEMORY_CITY_CACHE", "")
        .current_dir(root())
        .output()
        .expect("the program");
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let report = String::from_utf8(report.stdout).expect("text");
    for name in ["README.md", "docs/find-a-leak.md"] {
        let page = read(&root().join(name));
        let blocks = page.split("```\n").skip(1).step_by(2);
        let command = "memory-city report sample-data/person-leak\n";
        let shown = blocks.skip_while(|block| *block != command).nth(1).expect("what the command prints");
        assert!(shown.lines().count() > 1, "{name}: {shown}");
        assert!(report.contains(shown), "{name} shows\n{shown}\nand the program prints\n{report}");
    }
}
