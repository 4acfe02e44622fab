//! docs/groupings.md lists what there is: its tables are made from the registry, and are those in the file.
//!
//! `MEMORY_CITY_UPDATE_DOCS=1 cargo test -p memory-city-analysis --test groupings_doc` writes them.

use memory_city_analysis::group::script::{PROPERTIES, ScriptLimits};
use memory_city_analysis::group::{self, Registry};
use std::fmt::Write;
use std::path::Path;

fn tasks() -> String {
    let registry = Registry::new();
    // One comes with a classifier that is described elsewhere.
    let rows = registry.tasks().filter(|task| task.id != "who-owns").map(|task| {
        let (title, _) = task.title.split_once(": ").expect("a title");
        let list = task.classifiers.iter().map(|c| c.meta().name.to_string()).collect::<Vec<_>>().join(" › ");
        format!("| `{}` | {title}. {} | {list} |\n", task.id, task.description)
    });
    rows.collect()
}

fn classifiers() -> String {
    let mut text = String::new();
    for (meta, options) in Registry::new().classifiers().filter(|(meta, _)| meta.id != "owner") {
        let _ = writeln!(text, "### `{}`: {}\n", meta.id, meta.name);
        let _ = writeln!(text, "{}.\n", meta.description);
        let _ = writeln!(text, "- Gives {}, such as `{}`.", meta.cardinality.title(), meta.example);
        let _ = writeln!(text, "- Reads {}.", meta.reads.names());
        for option in options {
            let value = option.example.map(|e| format!("={e}")).unwrap_or_default();
            let _ = writeln!(text, "- `{}({}{value})`: {}.", meta.id, option.name, option.description);
        }
        text.push('\n');
    }
    text
}

fn numbers() -> String {
    group::filter_numbers().map(|(name, about)| format!("| `{name}` | {about} |\n")).collect()
}

fn properties() -> String {
    PROPERTIES.iter().map(|p| format!("| `{}` | {} |\n", p.name, p.description)).collect()
}

/// The text with a table in place of what stands between its marks.
fn put(text: &str, mark: &str, table: &str) -> String {
    let begin = format!("<!-- {mark} -->\n");
    let at = text.find(&begin).unwrap_or_else(|| panic!("the mark {mark}")) + begin.len();
    let end = at + text[at..].find("<!-- end -->").expect("an end");
    format!("{}{table}{}", &text[..at], &text[end..])
}

#[test]
fn the_page_lists_what_there_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/groupings.md");
    let found = std::fs::read_to_string(&path).expect("the page");
    let mut expected = found.clone();
    for (mark, table) in
        [("tasks", tasks()), ("classifiers", classifiers()), ("numbers", numbers()), ("properties", properties())]
    {
        expected = put(&expected, mark, &table);
    }
    if std::env::var_os("MEMORY_CITY_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("written");
        return;
    }
    assert!(found == expected, "docs/groupings.md is stale: run this test with MEMORY_CITY_UPDATE_DOCS=1");
    let limits = ScriptLimits::default();
    let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
    for (number, what) in [
        (limits.operations, "operations for an object"),
        (limits.operations_in_all, "for all objects of a heap"),
        (limits.text as u64 >> 10, "KiB, lists"),
        (limits.entries as u64, "entries"),
        (limits.variables as u64, "variables"),
        (limits.name as u64, "bytes, an object"),
        (limits.groups as u64, "groups."),
    ] {
        let digits = number.to_string();
        let written: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().map(|d| std::str::from_utf8(d).expect("digits")).collect();
        assert!(found.contains(&format!("{} {what}", written.join(","))), "{what}");
    }
}
