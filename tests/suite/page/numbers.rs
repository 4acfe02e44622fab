//! Amounts, points in time and what they are counted from, as the window writes them.

use super::changed::trees;
use super::{page, sample};
use memory_city_analysis::tabular::{bytes_text, uptime_text};
use memory_city_testing::browser::Browser;
use serde_json::json;

#[test]
fn numbers_read_as_those_of_the_engine() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().display().to_string(), "--grouping", "type", "--times", "2"], &file);
    browser.open(&file);
    // Also what lies in the middle between two numbers, and what is rounded up to the next unit.
    let mut values =
        vec![0, 1, 999, 1000, 1125, 1135, 9994, 9995, 9_996, 12_250, 12_350, 99_949, 99_950, 100_500, 101_500];
    values.extend([999_499, 999_500, 999_999, 1_000_000, 1_230_000, 52_125_000, 7_777_777_777, 999_600_000_000_000]);
    let mut random = 7u64;
    values.extend((0..500).map(|i| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> (12 + i % 50)
    }));
    let engine: Vec<[String; 2]> = values.iter().map(|&n| [bytes_text(n), uptime_text(n)]).collect();
    let told = browser
        .ask(&format!("{}.map(n => [memoryCity.text('bytes', n), memoryCity.text('millis', n)])", json!(values)));
    assert_eq!(told, json!(engine));
}

/// A page with fewer points in time than there are numbers them as all else does.
#[test]
fn points_in_time_have_the_numbers_they_have_among_all() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().display().to_string(), "--grouping", "type", "--times", "4"], &file);
    browser.open(&file);
    let number = "document.getElementById('number').textContent";
    let times = browser.ask("memoryCity.city.of").as_u64().expect("a number");
    assert!(times >= 12, "{times}");
    assert_eq!(browser.ask("memoryCity.city.numbers.length"), json!(4));
    assert_eq!(browser.ask(number), json!(format!("{times}/{times}")));
    browser.press("ArrowLeft");
    let second = browser.ask("memoryCity.city.numbers[2]").as_u64().expect("a number");
    browser.until("the one before", &format!("{number} === '{second}/{times}'"));
    browser.until("the address", &format!("location.hash.includes('t={second}&')"));
    // One that is left out leads to the nearest.
    browser.ask(&format!("location.hash = 't={}'", second + 1));
    browser.until("the nearest", &format!("{number} === '{second}/{times}'"));
    browser.ask("location.hash = 't=1'");
    browser.until("the first", &format!("{number} === '1/{times}'"));
    let when = browser.ask("document.getElementById('when').textContent");
    assert!(
        when.as_str()
            .is_some_and(|when| when.starts_with("person-leak-01.hprof.gz, taken 20") && when.ends_with(" UTC")),
        "{when}"
    );
    let heap = browser
        .ask("[document.getElementById('heap-is').textContent, document.getElementById('heap-now').textContent]");
    assert_eq!(heap[0], json!("Heap, reachable bytes"));
    assert!(heap[1].as_str().is_some_and(|text| text.starts_with("now ") && text.contains("    most ")), "{heap}");
}

#[test]
fn of_one_state_no_growth_is_told() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().join("person-leak-07.hprof.gz").display().to_string(), "--grouping", "type"], &file);
    browser.open(&file);
    assert_eq!(browser.ask("document.getElementById('ranking').textContent"), json!("Largest  ·  bytes"));
    let listed: Vec<String> =
        serde_json::from_value(browser.ask("[...document.querySelectorAll('#list b')].map(b => b.textContent)"))
            .expect("texts");
    assert!(listed.len() > 20 && listed.iter().all(|text| text.ends_with(" %") && !text.contains('±')), "{listed:?}");
    let share = |text: &String| text.split("  ").nth(1)?.trim_end_matches(" %").parse::<f64>().ok();
    assert!(share(&listed[0]) > share(&listed[5]), "the largest first: {listed:?}");
    let legend = browser.ask("document.getElementById('legend').textContent");
    let legend = legend.as_str().expect("a text");
    assert!(legend.contains("hare of the heap") && !legend.to_lowercase().contains("growth"), "{legend}");
    assert!(legend.contains("Solid: the 10 largest. Faded: the rest"), "{legend}");
    let key = browser.ask("[...memoryCity.keys()].find(key => key.endsWith('Person'))");
    browser.ask(&format!("memoryCity.select({key})"));
    let rows = browser.ask("[...document.querySelectorAll('#chosen tbody tr')].map(r => r.cells[0].textContent)");
    assert_eq!(rows, json!(["now", "share of the heap"]));
    // Nor by what the mouse points at.
    browser.press("b");
    browser.until("the city at rest", "!memoryCity.state().moving");
    let bare = "[...memoryCity.keys()].map(key => memoryCity.screen(key)).find(at => at && document.elementFromPoint(at[0], at[1])?.id === 'city')";
    let at = browser.ask(bare);
    browser.point(at[0].as_f64().expect("x"), at[1].as_f64().expect("y"));
    browser.until("the tip", "!document.getElementById('tip').hidden");
    let tip = browser.ask("document.getElementById('tip').textContent");
    let tip = tip.as_str().expect("a text");
    assert!(tip.contains("% of the heap's bytes now") && !tip.contains("since"), "{tip}");
}

#[test]
fn who_reads_a_number_sees_what_it_is_counted_from() {
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (input, file) = (folder.path().join("trees.jsonl"), folder.path().join("city.html"));
    let known =
        [("grows", [1000, 4000, 9000, 7000]), ("shrinks", [3000, 3000, 2000, 1000]), ("same", [500, 500, 500, 500])];
    let mut groups: Vec<(String, Vec<u64>)> = known.map(|(name, objects)| (name.to_owned(), objects.to_vec())).into();
    groups.extend((0..30).map(|i| (format!("small{i}"), vec![1, 1, 1, 1])));
    trees(&input, &groups);
    let path = input.display().to_string();
    page(&[&path, "--metric", "objects", "--child-count", "3", "--times", "3"], &file);
    browser.open(&file);
    let ranking = "document.getElementById('ranking').textContent";
    let listed = "[...document.querySelectorAll('#list button')].map(b => b.textContent)";
    assert_eq!(browser.ask(ranking), json!("Grows most  ·  objects first to last"));
    let expected = json!(["grows+6,000 objects", "same±0 objects", "shrinks−2,000 objects"]);
    assert_eq!(browser.ask(listed), expected, "what shares a plot is no group");
    assert_eq!(
        browser.ask("document.getElementById('found').textContent"),
        json!("3 groups; 30 smaller ones share plots")
    );
    // At the first state it is told what comes: nothing has grown yet.
    browser.ask("memoryCity.show(0, true)");
    assert_eq!(browser.ask(ranking), json!("Grows most  ·  objects first to last"));
    assert_eq!(browser.ask(listed), expected);
    browser.ask("memoryCity.show(1, true)");
    let number = browser.ask("memoryCity.city.numbers[1]");
    assert_eq!(browser.ask(ranking), json!(format!("Grows most  ·  objects from first to {number}/4")));
    // A selected group has rows with names and columns with units; the most is of all states, also of those that are left out.
    browser.ask("memoryCity.show(2, true)");
    browser.ask("memoryCity.select('Heap#grows')");
    let cells = "[...document.querySelectorAll('#chosen tr')].map(r => [...r.cells].map(c => c.textContent))";
    assert_eq!(
        browser.ask(cells),
        json!([
            ["", "Objects", "Bytes"],
            ["now", "7,000", "112 kB"],
            ["since first", "+6,000", "+96.0 kB"],
            ["first to last", "+6,000", "+96.0 kB"],
            ["most", "9,000", "144 kB"],
            ["share of the heap", "82.1 %", "82.1 %"]
        ])
    );
    // Compared with another one, that is what all of it says.
    page(&[&path, "--metric", "objects", "--base", "2", "--times", "4"], &file);
    browser.open(&file);
    assert_eq!(browser.ask(ranking), json!("Grows most  ·  objects from 2/4 to last"));
    let caption = browser.ask("document.querySelector('#signs caption').textContent");
    let legend = browser.ask("document.querySelector('#legend h2').textContent");
    for text in [&caption, &legend] {
        assert!(text.as_str().is_some_and(|text| text.contains("since 2 of 4")), "{text}");
    }
    browser.ask("memoryCity.select('Heap#shrinks')");
    let since = browser.ask("document.getElementById('sign').textContent");
    assert!(since.as_str().is_some_and(|text| text.starts_with("shrunk to half or less since 2 of 4")), "{since}");
    let rows = browser.ask("[...document.querySelectorAll('#chosen tbody tr')].map(r => r.cells[0].textContent)");
    assert_eq!(rows, json!(["now", "since first", "since 2 of 4", "first to last", "most", "share of the heap"]));
    let note = browser.ask("document.querySelector('#signs-note').textContent");
    assert_eq!(note, json!("Different by less than 1 %, without a sign"));
    // More or less without a base: signs and colours tell of the first state, and both say so.
    page(&[&path, "--metric", "objects", "--colour", "change"], &file);
    browser.open(&file);
    let caption = browser.ask("document.querySelector('#signs caption').textContent");
    assert_eq!(caption, json!("Signs on buildings, since the first state"));
    // Without a comparison only notable losses have signs.
    page(&[&path, "--metric", "objects"], &file);
    browser.open(&file);
    let note = browser.ask("document.querySelector('#signs-note').textContent");
    assert_eq!(note, json!("Shrunk by 1 % of the heap or more"));
    // Heights that tell something have a scale.
    page(&[&path, "--metric", "bytes", "--height", "amount", "--height-scale", "log", "--area", "linear"], &file);
    browser.open(&file);
    let legend = browser.ask("document.getElementById('legend').textContent");
    assert!(
        legend.as_str().is_some_and(|text| text.contains("Ground area ~ bytes · height: amount, bytes (log")),
        "{legend}"
    );
    let heights = browser.ask("[...document.querySelectorAll('#heights span')].map(s => s.textContent)");
    assert!(heights.as_array().is_some_and(|heights| heights.len() >= 2), "{heights}");
    // Nothing lies over something else.
    let apart = "[...document.querySelectorAll('.marks')].every(line => { const all = [...line.children].map(e => e.getBoundingClientRect()).sort((a, b) => a.left - b.left); return all.every((r, i) => !i || r.left >= all[i - 1].right) })";
    assert_eq!(browser.ask(apart), json!(true), "{heights}");
}
