//! Numbers that pages of the documentation give are those of the code.

use memory_city_analysis::analyses::{AnalysisRegistry, ParameterKind};
use memory_city_analysis::ownership::AccumulationRules;
use memory_city_heap::structures::{StructureFile, formatted};
use std::collections::BTreeMap;
use std::path::Path;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).expect("the page")
}

/// Defaults of the numbers that some analyses take.
fn defaults(of: &[&str]) -> BTreeMap<&'static str, u64> {
    let registry = AnalysisRegistry::built_in();
    let all = of.iter().flat_map(|id| registry.get(id).expect("it is there").describe().parameters);
    all.filter_map(|parameter| match parameter.kind {
        ParameterKind::Number { default, .. } => Some((parameter.id, default)),
        _ => None,
    })
    .collect()
}

/// What stands as `` `name` (number) `` or `` `name` (number ...) `` on a page.
fn given(page: &str) -> Vec<(&str, u64)> {
    let mut parts = page.split('`').collect::<Vec<_>>().into_iter();
    parts.next();
    let mut found = Vec::new();
    // Behind each mark a name and the text up to the next.
    while let (Some(name), Some(text)) = (parts.next(), parts.next()) {
        let number = text
            .trim_start()
            .strip_prefix('(')
            .map(|text| text.chars().take_while(char::is_ascii_digit).collect::<String>());
        found.extend(number.and_then(|number| Some((name, number.parse().ok()?))));
    }
    found
}

#[test]
fn thresholds_of_windows_are_those_of_the_page() {
    let (page, defaults) = (page("churn.md"), defaults(&["windows"]));
    let given = given(&page);
    let compared = given.iter().filter_map(|(name, number)| Some((name, number, defaults.get(name)?)));
    let wrong: Vec<_> = compared.clone().filter(|(_, number, default)| number != default).collect();
    assert!(wrong.is_empty(), "on the page, and in force: {wrong:?}");
    // `growth` alone has no number there: any growth.
    let named: Vec<&&str> = compared.map(|(name, ..)| name).collect();
    let lacking: Vec<_> = defaults.keys().filter(|name| **name != "growth" && !named.contains(name)).collect();
    assert!(lacking.is_empty(), "the page gives no number for {lacking:?}");
}

#[test]
fn thresholds_of_accumulations_are_those_of_the_page() {
    let page = page("owners.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let rules = AccumulationRules::default();
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    for said in [
        format!("at least {} KiB (`least`)", rules.least_bytes >> 10),
        format!("by {} of the heap's first size", percent(rules.least_of_heap)),
        format!("by {} (`least_share`)", percent(rules.least_of_growth)),
        format!("at least {} of it (`follow`)", percent(rules.most)),
        format!("at least {} of what even growth would have put there", percent(rules.later)),
    ] {
        assert!(page.contains(&said), "docs/owners.md: {said}");
    }
    let defaults = defaults(&["leak"]);
    let as_percent = |share: f64| (share * 100.0).round() as u64;
    assert_eq!(defaults["least_share"], as_percent(rules.least_of_growth));
    assert_eq!(defaults["follow"], as_percent(rules.most));
}

/// Every example on the page of data structures is in the language, and the limits are those in force.
#[test]
fn examples_of_descriptions_can_be_read() {
    let page = page("structures.md");
    let examples: Vec<&str> = page.split("```text\n").skip(1).filter_map(|text| text.split("```").next()).collect();
    assert_eq!(examples.len(), 4);
    for example in examples {
        let form = formatted("structures.md", example).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(form, example, "an example in its own form");
    }
    let lines = |count: usize| (0..count).map(|n| format!("A{n} {{ B{n}*; }}\n")).collect::<String>();
    assert!(page.contains("at most 1,000 names with `*`"));
    assert!(StructureFile::parse("a.ds", &lines(1000)).is_ok() && StructureFile::parse("a.ds", &lines(1001)).is_err());
    assert!(page.contains("A file has at most 16 MiB"));
    let blanks = |bytes: usize| StructureFile::parse("a.ds", &" ".repeat(bytes));
    assert!(blanks(16 << 20).is_ok() && blanks((16 << 20) + 1).is_err());
    let paragraphs = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let said =
        StructureFile::parse("depot.ds", "DS Depot {\n    Shelf[]\n    }").expect_err("no semicolon").to_string();
    assert!(paragraphs.contains(&said.replace('`', "")), "{said}");
}
