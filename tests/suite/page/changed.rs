//! What has changed, without colour: signs, their legend, the list by what shrinks; and a page that begins as a view file says.

use super::{page, pixel, sample};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{Metric, NodeId, Source};
use memory_city_heap::progress::Progress;
use memory_city_testing::browser::Browser;
use memory_city_views::city::{Appearance, CityConfig, CityPlan, Look, PlotKind, sign};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Trees in a file: groups by name with their objects at each time, each object of 16 bytes.
pub(super) fn trees(file: &Path, groups: &[(String, Vec<u64>)]) {
    let times = groups[0].1.len();
    let line = |t: usize| {
        let leaf = |(name, objects): &(String, Vec<u64>)| json!({ "name": name, "role": "Type", "objects": objects[t], "bytes": 16 * objects[t] });
        let there = groups.iter().filter(|(_, objects)| objects[t] > 0).map(leaf).collect::<Vec<_>>();
        let tree = json!({ "name": "Heap", "children": there });
        format!("{}\n", json!({ "format": "memory-city", "version": 1, "timestamp": t, "tree": tree }))
    };
    std::fs::write(file, (0..times).map(line).collect::<String>()).expect("a file");
}

/// The signs that the engine puts on plots at a time, by key.
fn signs_of(source: &Source, config: &CityConfig, look: &Look, t: usize) -> BTreeMap<String, u16> {
    let timeline = source.timeline();
    let plan = CityPlan::new(timeline, config);
    let over = Appearance::new(&plan, timeline, look).overlay(&plan, timeline, t);
    let signs = over.iter().enumerate().filter(|(_, over)| over.colour > 0).map(|(plot, over)| {
        let key = match plan.kind(plot) {
            PlotKind::Building(node) => timeline.key(node),
            PlotKind::More { parent, .. } => format!("{}#…", timeline.key(parent)),
        };
        (key, over.colour)
    });
    signs.collect()
}

#[test]
fn what_shrinks_and_what_is_cut_off_has_a_sign() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (input, file) = (folder.path().join("trees.jsonl"), folder.path().join("city.html"));
    let known = [("half", [4000, 1900]), ("less", [3000, 2600]), ("gone", [2000, 0]), ("grown", [1000, 9000])];
    let mut groups: Vec<(String, Vec<u64>)> =
        known.into_iter().map(|(name, objects)| (name.to_owned(), objects.to_vec())).collect();
    trees(&input, &groups);
    page(&[&input.to_string_lossy(), "--metric", "objects"], &file);
    browser.open(&file);
    let expected = json!({ "Heap#half": sign::HALVED, "Heap#less": sign::SHRUNK, "Heap#gone": sign::VANISHED });
    assert_eq!(browser.ask("memoryCity.signs()"), expected);
    let legend =
        "[...document.querySelectorAll('#signs tr')].map(r => [r.cells[1].textContent, r.cells[2].textContent])";
    let counted = |n: [&str; 3]| json!([["shrunk", n[0]], ["shrunk to half or less", n[1]], ["gone", n[2]]]);
    assert_eq!(browser.ask(legend), counted(["1", "1", "1"]));
    assert!(
        browser
            .ask("document.querySelector('#signs caption').textContent")
            .to_string()
            .contains("since the first state")
    );
    assert_eq!(browser.ask("document.querySelectorAll('#signs svg path.core').length"), json!(3));

    // The cross of what is gone: its middle is white, and rimmed by black, where nothing stands any more.
    // From above, where nothing stands before it.
    browser.press("b");
    browser.until("the city at rest", "!memoryCity.state().moving");
    let middle = |browser: &mut Browser| {
        let at = browser.ask("memoryCity.screen('Heap#gone')");
        pixel(browser, at[0].as_f64().expect("x"), at[1].as_f64().expect("y"))
    };
    assert!(middle(&mut browser).iter().all(|channel| *channel > 220), "{:?}", middle(&mut browser));
    browser.ask("memoryCity.show(0, true)");
    assert_eq!(browser.ask("memoryCity.signs()"), json!({}));
    assert_eq!(browser.ask(legend), counted(["0", "0", "0"]));
    assert!(middle(&mut browser).iter().any(|channel| *channel < 220), "nothing is gone at first");
    browser.ask("memoryCity.show(1, true)");

    // The list by what shrinks, and the words of a sign for what is selected.
    browser.ask("(() => { const o = document.getElementById('order'); o.value = 'shrinks'; o.dispatchEvent(new Event('change')); })()");
    let listed = browser.ask("[...document.querySelectorAll('#list button')].map(b => b.textContent)");
    assert_eq!(listed, json!(["half−2,100 objects", "gone−2,000 objects", "less−400 objects", "grown+8,000 objects"]));
    browser.ask("memoryCity.select('Heap#half')");
    assert_eq!(
        browser.ask("document.getElementById('sign').textContent"),
        json!("shrunk to half or less since the first state")
    );

    // One that is higher than it is drawn, among sixty others.
    groups = (0..60).map(|i| (format!("g{i}"), vec![90 + i, 90 + i])).collect();
    groups.push(("outlier".to_owned(), vec![1_000_000, 1_000_000]));
    trees(&input, &groups);
    page(&[&input.to_string_lossy(), "--metric", "objects", "--height", "amount", "--height-scale", "linear"], &file);
    browser.open(&file);
    assert_eq!(browser.ask("memoryCity.signs()"), json!({ "Heap#outlier": sign::CAPPED }));
    assert_eq!(browser.ask(legend), json!([["higher than it is drawn", "1"]]));
}

#[test]
fn signs_are_those_of_the_engine_while_times_are_compared() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    let sample = sample();
    page(&[&sample.to_string_lossy(), "--grouping", "package-type", "--base", "3", "--times", "5"], &file);
    browser.open(&file);
    let source =
        Source::open(&[sample], "package-type", GroupOptions::default(), &Progress::new()).expect("the sample");
    let config = CityConfig { metric: Metric::Bytes, ..CityConfig::default() };
    let look = Look { base: Some(2), colour: "change".into(), ..Look::default() };
    // Five of sixteen times at equal distances, the base in the place of the fourth.
    let base = browser.ask("memoryCity.city.base").as_u64().expect("a number") as usize;
    let labels: Vec<String> = serde_json::from_value(browser.ask("memoryCity.city.times")).expect("labels");
    assert_eq!((labels.len(), base), (5, 1), "{labels:?}");
    assert!(browser.ask("memoryCity.city.since").to_string().contains("3 of 16 person-leak-03"));
    let mut kinds = 0u16;
    for (shown, label) in labels.iter().enumerate() {
        let t = source.timeline().points().iter().position(|point| point.label == *label).expect("a time");
        browser.ask(&format!("memoryCity.show({shown}, true)"));
        let signs: BTreeMap<String, u16> = serde_json::from_value(browser.ask("memoryCity.signs()")).expect("signs");
        assert_eq!(signs, signs_of(&source, &config, &look, t), "at {label}");
        assert_eq!(signs.is_empty(), shown == base);
        signs.values().for_each(|bits| kinds |= 1 << (bits & sign::DIRECTION));
        // Growth in the list is that since the base, too.
        let root = source.timeline().name(NodeId::ROOT);
        let (now, then) = [t, 2].map(|t| source.timeline().value(t, NodeId::ROOT, Metric::Bytes)).into();
        assert_eq!(browser.ask(&format!("memoryCity.growth('{root}')")), json!(now as i64 - then as i64));
    }
    assert!(kinds.count_ones() >= 4, "grown, shrunk, new and gone: {kinds:b}");
}

/// A page of a view file has its data, grouping and shape, and begins with its time and selection.
#[test]
fn a_view_file_becomes_a_page() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (view, file) = (folder.path().join("one.mcview"), folder.path().join("city.html"));
    let mut says = json!({
        "format": "memory-city view", "version": 1, "data": [sample()], "grouping": "type", "time": 3,
        "camera": { "eye": [0.0, 50.0, 90.0], "yaw": 0.0, "pitch": -0.5 }, "size": [800, 500],
        "selected": ["Heap#register.model.Person"], "filter": "", "window": [1, 9],
        "settings": { "metric": "objects", "area": "linear", "theme": "light", "child-count": 12, "colour": "share", "opacity": 1.0 }
    });
    std::fs::write(&view, says.to_string()).expect("a file");
    page(&[&view.to_string_lossy(), "--allow-outside", "--times", "4"], &file);
    browser.open(&file);
    assert_eq!(browser.ask("memoryCity.state().selected"), json!("Heap#register.model.Person"));
    let shown = "memoryCity.city.times[memoryCity.state().time]";
    assert!(browser.ask(shown).to_string().contains("person-leak-03"), "{}", browser.ask(shown));
    assert_eq!(browser.ask("document.documentElement.dataset.theme"), json!("light"));
    let said = browser.ask("[memoryCity.city.grouping, memoryCity.city.legend.shape, memoryCity.city.times.length]");
    assert_eq!(said, json!(["Grouped by Type", "Building = group of objects · ground area ~ objects", 4]));
    let plots = browser.ask("memoryCity.city.plots.filter(p => p[1] === 0).length");
    assert_eq!(plots, json!(12));
    // What the command line says holds.
    page(
        &[
            &view.to_string_lossy(),
            "--allow-outside",
            "--theme",
            "dark",
            "--child-count",
            "5",
            "--grouping",
            "package-type",
        ],
        &file,
    );
    browser.open(&file);
    assert_eq!(browser.ask("document.documentElement.dataset.theme"), json!("dark"));
    assert_eq!(browser.ask("memoryCity.city.grouping"), json!("Grouped by Package › Type"));

    says["data"] = json!([]);
    std::fs::write(&view, says.to_string()).expect("a file");
    let refused = super::run(&[&view.to_string_lossy()], &file);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("one.mcview") && said.contains("no data"), "{said}");
}
