//! First lines of a page, in the words of the window: leaks with their paths to the root, the result of a comparison,
//! the shown part of the heap, and the parts left out.

use super::{page, run, sample};
use memory_city_analysis::analyses::{self, AnalysisRegistry, Arguments, LeakLines, LeakPlace, TimeWindow};
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{Metric, Source};
use memory_city_heap::progress::Progress;
use memory_city_testing::browser::Browser;
use memory_city_testing::root;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The texts of what fits a selector, where they are shown.
fn texts(browser: &mut Browser, selector: &str) -> Vec<String> {
    let all = format!("[...document.querySelectorAll({})].map(e => e.textContent)", json!(selector));
    serde_json::from_value(browser.ask(&all)).expect("texts")
}

fn dump(number: usize) -> PathBuf {
    sample().join(format!("person-leak-{number:02}.hprof.gz"))
}

/// A view file of the sample, with more of what a view file says.
fn view(file: &Path, more: Value) {
    let mut says = json!({
        "version": 1, "data": [sample()], "grouping": "package-type", "time": 1,
        "camera": { "eye": [0.0, 50.0, 90.0], "yaw": 0.0, "pitch": -0.5 }, "size": [800, 500],
        "filter": "", "settings": { "metric": "bytes" }
    });
    for (name, value) in more.as_object().expect("fields") {
        says[name] = value.clone();
    }
    // What it is stands first.
    let text = says.to_string().replacen('{', r#"{"format":"memory-city view","#, 1);
    std::fs::write(file, text).expect("a file");
}

#[test]
fn what_leaks_is_told_as_the_window_tells_it_with_the_whole_way() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().display().to_string(), "--grouping", "package-type", "--times", "5"], &file);
    browser.open(&file);
    let progress = Progress::new();
    let source = Source::open(&[sample()], "package-type", GroupOptions::default(), &progress).expect("the sample");
    let timeline = source.timeline();
    let leak = AnalysisRegistry::built_in().get("leak").expect("an analysis");
    let (window, arguments) = (TimeWindow::whole(timeline), Arguments::defaults(&leak.describe()));
    let findings = analyses::run(&*leak, &source, window, &arguments, &progress).expect("findings");
    let place = LeakPlace::of(&findings, 0).expect("a place");
    let since = place.since(timeline, &analyses::verdict(timeline, Metric::Bytes));
    let lines = LeakLines::of(&place, timeline, since);
    assert_eq!(texts(&mut browser, "#says .verdict"), ["WHAT LEAKS"]);
    let told = texts(&mut browser, "#says > .place p");
    assert_eq!(told[..2], [format!("{}{}", lines.which, lines.place), lines.sentence.clone()]);
    assert!(lines.sentence.contains("of all growth") && lines.sentence.contains("% of the heap at the end, since "));
    assert!(
        told.contains(
            &place
                .kept_text(false)
                .map(|kept| format!("{}, {kept}", place.elements_text(false).unwrap_or_default()))
                .expect("states")
        ),
        "{told:?}"
    );
    assert!(told.iter().any(|line| line.starts_with("Fills up with ")), "{told:?}");
    let steps: Vec<String> = place.steps().collect();
    assert!(steps.len() >= 2, "{steps:?}");
    assert_eq!(texts(&mut browser, "#says > .place .step"), steps);
    // It unfolds, and the list makes room for it.
    let top =
        |browser: &mut Browser| browser.ask("document.getElementById('groups').getBoundingClientRect().top").as_f64();
    browser.ask("document.querySelector('#says > .place > .more').open = false");
    browser.ask("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))");
    let before = top(&mut browser);
    browser.ask("document.querySelector('#says > .place > .more').open = true");
    let overlap = "document.getElementById('groups').getBoundingClientRect().top >= document.getElementById('about').getBoundingClientRect().bottom";
    browser.until("the list below what is told", overlap);
    assert!(top(&mut browser) > before, "{before:?}");
    // What the page does not know, the panel of a group says.
    browser.ask("memoryCity.select([...memoryCity.keys()].find(key => key.endsWith('#Person')))");
    let alive = texts(&mut browser, "#chosen #alive");
    assert!(alive[0].contains("What keeps it alive") && alive[0].contains("Memory City"), "{alive:?}");

    // Two states: what must be known of the verdict is beside it, as in the report.
    let two = [dump(1), dump(7)].map(|dump| dump.display().to_string());
    page(&[&two[0], &two[1]], &file);
    browser.open(&file);
    let notes = texts(&mut browser, "#says .note");
    assert!(notes.iter().any(|note| note.starts_with("Two points in time cannot tell a leak")), "{notes:?}");
}

#[test]
fn without_references_it_says_which_group_grows() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    let trace = root().join("tests/data/anttracks/churn-par-noptr");
    page(&[&trace.display().to_string(), "--grouping", "type"], &file);
    browser.open(&file);
    let source = Source::open(&[trace], "type", GroupOptions::default(), &Progress::new()).expect("a trace");
    let verdict = analyses::verdict(source.timeline(), Metric::Bytes).text;
    let said = texts(&mut browser, "#says > .name");
    // The owners are unknown, so that is no all-clear.
    assert_eq!(said, [format!("UNKNOWN  {}", memory_city_analysis::timeline::brief(&verdict))]);
    let notes = texts(&mut browser, "#says .note");
    assert!(notes[0].starts_with("The owners cannot be found: that needs references"), "{notes:?}");
    // A collection is told with all that is known of it.
    let when = browser.ask("document.getElementById('when').textContent");
    assert_eq!(when, json!(memory_city_analysis::timeline::when(source.timeline(), source.timeline().times() - 1)));
}

#[test]
fn files_that_are_none_are_no_warnings() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (data, file) = (folder.path().join("data"), folder.path().join("city.html"));
    std::fs::create_dir(&data).expect("a folder");
    std::fs::copy(dump(1), data.join("one.hprof.gz")).expect("a copy");
    std::fs::write(data.join("notes.bin"), "to do").expect("a file");
    page(&[&data.display().to_string()], &file);
    browser.open(&file);
    assert_eq!(texts(&mut browser, "#says .warning"), Vec::<String>::new());
    assert_eq!(texts(&mut browser, "#says > details > summary").last().map(String::as_str), Some("1 other file"));
    let others = texts(&mut browser, "#says > details.quiet p");
    assert_eq!(others[0], "Not part of what is shown, and nothing is missing for it:");
    assert!(others[1].starts_with("notes.bin: skipped: "), "{others:?}");
}

#[test]
fn a_view_that_compares_becomes_a_page_of_the_comparison() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (saved, file) = (folder.path().join("one.mcview"), folder.path().join("city.html"));
    // Two times of one run.
    view(&saved, json!({ "compare": { "with": "times", "from": 2, "to": 9 }, "base": 1, "time": 2 }));
    page(&[&saved.display().to_string(), "--allow-outside"], &file);
    browser.open(&file);
    assert_eq!(texts(&mut browser, "#says .verdict"), ["DIFFERENCE"]);
    assert_eq!(
        browser.ask("[memoryCity.city.times.length, memoryCity.city.base, memoryCity.state().time]"),
        json!([2, 0, 1])
    );
    let compared = texts(&mut browser, "#says > .quiet");
    assert!(compared[0].starts_with("A: 2: person-leak-02") && compared[1].starts_with("B: 9: "), "{compared:?}");
    let districts = browser.ask("memoryCity.city.floors").to_string();
    assert!(districts.contains("More than before"), "{districts}");
    let title = browser.ask("document.querySelector('#about h1').textContent");
    assert!(title.as_str().is_some_and(|title| title.ends_with(": 2 to 9")), "{title}");

    // Another run, which the view file names from its own folder.
    std::fs::copy(dump(7), folder.path().join("other.hprof.gz")).expect("a copy");
    let with = json!({ "with": "run", "data": ["other.hprof.gz"], "align": "auto", "at": 0 });
    view(&saved, json!({ "compare": with, "data": [dump(2)], "settings": { "metric": "retained" } }));
    page(&[&saved.display().to_string(), "--allow-outside"], &file);
    browser.open(&file);
    assert_eq!(texts(&mut browser, "#says .verdict"), ["COMPARISON"]);
    let compared = texts(&mut browser, "#says > .quiet");
    assert_eq!(compared[1], "B: other.hprof.gz", "{compared:?}");
    let said = texts(&mut browser, "#says > p");
    assert!(
        said.contains(&"Of what is compared here retained is not known: the page measures without it.".into()),
        "{said:?}"
    );
    assert!(browser.ask("memoryCity.city.compared").as_bool() == Some(true));
    assert!(!texts(&mut browser, "#says > .name")[0].is_empty());

    // One without data is none.
    view(&saved, json!({ "compare": { "with": "run", "data": [] } }));
    let refused = run(&[&saved.display().to_string()], &file);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a comparison without data"));
}

#[test]
fn a_part_of_the_heap_stays_one_and_what_a_page_has_not_is_said() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (saved, file) = (folder.path().join("one.mcview"), folder.path().join("city.html"));
    let part = json!([{ "key": "Heap#java#java.util" }, { "key": "Heap#java#java.util", "beyond": 5 }]);
    let key = {
        let source =
            Source::open(&[sample()], "package-type", GroupOptions::default(), &Progress::new()).expect("the sample");
        let timeline = source.timeline();
        let node = timeline.nodes().find(|&node| timeline.name(node).ends_with("util") && !timeline.is_leaf(node));
        timeline.key(node.expect("a package"))
    };
    let part = json!([{ "key": key }, { "key": key, "beyond": part[1]["beyond"] }]);
    view(&saved, json!({ "parts": part }));
    page(&[&saved.display().to_string(), "--allow-outside"], &file);
    browser.open(&file);
    let keys: Vec<String> = serde_json::from_value(browser.ask("[...memoryCity.keys()]")).expect("keys");
    assert!(keys.len() > 5 && keys.iter().all(|other| other.starts_with(&key)), "{keys:?}");
    let said = texts(&mut browser, "#says > p");
    assert!(
        said.iter()
            .any(|line| line.starts_with("A part of the heap: Heap › ") && line.ends_with(", without its 5 largest.")),
        "{said:?}"
    );
    // The curve is that of the whole heap, and so are shares.
    let whole = browser.ask("memoryCity.city.whole[1][0]").as_u64();
    let of_part = browser.ask(&format!("memoryCity.values({})[1]", json!(key))).as_u64();
    assert!(whole > of_part, "{whole:?} {of_part:?}");

    // What is not in the data, and what no page shows, is said by the command and in the page.
    view(&saved, json!({ "parts": [{ "key": "Heap#gone" }], "filter": "*Cache*", "multiples": 4 }));
    let made = run(&[&saved.display().to_string(), "--allow-outside"], &file);
    let stderr = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{stderr}");
    browser.open(&file);
    let said = texts(&mut browser, "#says > p").join("\n");
    for line in [
        "The part of the heap that the view shows, Heap#gone, is not in the data: the whole heap is shown.",
        "What the view shows as well is not in the page: the filter \"*Cache*\", 4 times beside each other.",
    ] {
        assert!(said.contains(line) && stderr.contains(line), "{line}: {said}\n{stderr}");
    }
}
