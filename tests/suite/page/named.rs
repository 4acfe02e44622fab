//! Names of groups over roofs and in lists: short, no two alike, the program's own first. And the search for them.

use super::{page, sample};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{Metric, NodeId, Source, brief, shortened, worded};
use memory_city_heap::progress::Progress;
use memory_city_testing::browser::Browser;
use memory_city_testing::root;
use memory_city_views::city::{CityConfig, CityPlan, Nameable};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Names by key over the roofs of a page that has come to rest; of districts too.
fn names(browser: &mut Browser) -> Vec<Value> {
    browser.until("the city at rest", "!memoryCity.state().moving");
    browser.ask("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))");
    browser.ask("memoryCity.names()").as_array().expect("names").clone()
}

#[test]
fn groups_are_named_in_short_and_apart_as_the_window_names_them() {
    let Some(mut browser) = Browser::start(1600, 1000) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    let mut shared_plots = 0;
    for grouping in ["owner", "type", "package-type", "type>site"] {
        let input = if grouping == "type>site" { root().join("tests/data/anttracks/person-leak-g1") } else { sample() };
        page(&[&input.display().to_string(), "--grouping", grouping, "--times", "2"], &file);
        browser.open(&file);
        let source = Source::open(&[input], grouping, GroupOptions::default(), &Progress::new()).expect("the input");
        let timeline = source.timeline();
        let plan = CityPlan::new(timeline, &CityConfig { metric: Metric::Bytes, ..CityConfig::default() });
        let nodes: Vec<NodeId> = (0..plan.plots.len()).filter_map(|plot| plan.building(plot)).collect();
        let apart = timeline.names_apart(&nodes);
        let briefs: BTreeMap<String, String> =
            nodes.iter().zip(&apart).map(|(&node, name)| (timeline.key(node), brief(name))).collect();
        let shown = names(&mut browser);
        let is = |name: &Value, what: &str| name[what].as_str().expect("a text").to_owned();
        let (mut roofs, mut mores) = (0, 0);
        for name in &shown {
            let (key, text) = (is(name, "key"), is(name, "text"));
            if let Some(brief) = briefs.get(&key).filter(|_| name["district"] == json!(false)) {
                assert_eq!(text, shortened(brief, 34), "{key}");
                roofs += 1;
            } else if key.ends_with("#…") {
                assert!(text.ends_with(" more"), "{text}");
                mores += 1;
            }
        }
        assert!(roofs > 8, "{grouping}: {roofs} of {}", shown.len());
        shared_plots += mores;
        // So has the list; what is pointed at there tells the whole path.
        let listed: Vec<[String; 2]> = serde_json::from_value(
            browser.ask("[...document.querySelectorAll('#list button')].map(b => [b.firstChild.textContent, b.title])"),
        )
        .expect("texts");
        assert!(listed.len() > 8, "{listed:?}");
        // Of a name the end tells most: what has no room is left out of the middle.
        let is = |told: &str, name: &String| match told.split_once('…').filter(|_| told != name) {
            Some((head, tail)) => {
                name.starts_with(head) && name.ends_with(tail) && tail.chars().count() > head.chars().count()
            }
            None => told == name,
        };
        let strange: Vec<_> = listed.iter().filter(|[told, _]| !briefs.values().any(|name| is(told, name))).collect();
        assert!(strange.is_empty(), "{strange:?}");
        let path = |node: NodeId| worded(&timeline.path_label(node));
        let paths: BTreeSet<String> = nodes.iter().map(|&node| path(node)).collect();
        assert!(listed.iter().all(|[_, title]| paths.contains(title)), "{listed:?}");
        if grouping == "owner" {
            let first: BTreeSet<&String> = listed.iter().map(|[name, _]| name).collect();
            assert!(first.len() > listed.len() * 9 / 10, "owners are told apart: {listed:?}");
        }
    }
    assert!(shared_plots > 0, "what shares a plot has its count");
}

#[test]
fn names_are_searched_without_what_they_are_names_of() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().display().to_string(), "--grouping", "package-type", "--times", "2"], &file);
    browser.open(&file);
    let roles = browser.ask("memoryCity.city.roles").to_string();
    assert!(roles.contains("Package"), "{roles}");
    browser.press("/");
    browser.write("package:");
    browser.until("nothing", "document.querySelectorAll('#list button').length === 0");
    browser.press("Escape");
    browser.press("/");
    // Of a package all classes, by its name.
    browser.write("model");
    browser.until("results", "document.querySelectorAll('#list button').length > 1");
    let title = "[...document.querySelectorAll('#list button')].every(b => /model/i.test(b.title))";
    assert_eq!(browser.ask(title), json!(true));
}

#[test]
fn the_programs_own_groups_come_first() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().display().to_string(), "--grouping", "type", "--times", "2", "--child-count", "0"], &file);
    browser.open(&file);
    let source = Source::open(&[sample()], "type", GroupOptions::default(), &Progress::new()).expect("the sample");
    let timeline = source.timeline();
    let plan =
        CityPlan::new(timeline, &CityConfig { child_count: None, metric: Metric::Bytes, ..CityConfig::default() });
    let nameable = Nameable::of_program(&plan, timeline);
    assert!(nameable.knows_own(), "the sample tells its packages");
    let own = |plot: usize| plan.building(plot).filter(|_| nameable.is_own(plot)).map(|node| timeline.key(node));
    let expected: BTreeSet<String> = (0..plan.plots.len()).filter_map(own).collect();
    let said: BTreeSet<String> = serde_json::from_value(
        browser.ask("memoryCity.city.plots.flatMap((p, row) => (memoryCity.city.own[row >> 5] & (1 << (row & 31)) ? [memoryCity.key(row)] : []))"),
    )
    .expect("keys");
    assert_eq!(said, expected);
    // Those that are there and not tiny have names, whatever else is as large.
    let shown = names(&mut browser);
    let mine = shown.iter().filter(|name| expected.contains(name["key"].as_str().unwrap_or_default())).count();
    assert!(mine >= 2, "{mine} of {expected:?} in {shown:?}");
    // What is opaque stands out, and nothing else.
    let coloured: Vec<[Value; 2]> = serde_json::from_value(browser.ask(
        "[...document.querySelectorAll('#labels button.grows')].filter(b => !b.hidden).map(b => [Number(b.dataset.row), memoryCity.city.opaque[b.dataset.row >> 5] >> (b.dataset.row & 31) & 1])",
    ))
    .expect("rows");
    assert!(!coloured.is_empty() && coloured.iter().all(|[_, opaque]| *opaque == json!(1)), "{coloured:?}");
}
