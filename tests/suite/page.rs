//! The page that any browser shows: opened, searched, stepped and clicked in a real one.
//! `cargo test --no-default-features --test page`; needs Chromium.

use data_encoding::BASE64;
use memory_city_analysis::analyses;
use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::{Metric, Source, brief};
use memory_city_heap::progress::Progress;
use memory_city_testing::browser::Browser;
use memory_city_testing::root;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod changed;
mod message;
mod named;
mod numbers;
mod seen;

fn run(arguments: &[&str], output: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .env("MEMORY_CITY_CACHE", "")
        .arg("page")
        .args(arguments)
        .args(["-o".as_ref(), output.as_os_str()])
        .output()
        .expect("the program runs")
}

fn page(arguments: &[&str], output: &Path) {
    let made = run(arguments, output);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// What is drawn at a place of the window.
fn pixel(browser: &mut Browser, x: f64, y: f64) -> [u8; 3] {
    let picture = BASE64.decode(browser.picture().as_bytes()).expect("base64");
    image::load_from_memory(&picture).expect("a PNG").to_rgb8().get_pixel(x.round() as u32, y.round() as u32).0
}

fn sample() -> PathBuf {
    root().join("sample-data/person-leak")
}

#[test]
fn a_city_is_searched_stepped_and_clicked_in_a_browser() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city <of> \"persons\".html");
    let sample = sample();
    page(&[&sample.to_string_lossy(), "--grouping", "package-type", "--title", "Persons & <b>more</b>"], &file);
    browser.open(&file);
    assert_eq!(browser.ask("document.title"), json!("Persons & <b>more</b>"));
    assert_eq!(browser.ask("document.querySelector('#about h1').textContent"), json!("Persons & <b>more</b>"));
    // The first sentence names the list that leaks.
    let says = browser.ask("document.querySelector('#says .name').title");
    assert!(says.as_str().is_some_and(|s| s.contains("LinkedList") && s.contains("PersonRegistry")), "{says}");

    // Every amount that the page shows is that of the engine.
    let source =
        Source::open(&[sample], "package-type", GroupOptions::default(), &Progress::new()).expect("the sample");
    let timeline = source.timeline();
    for time in [0, timeline.times() / 2, timeline.times() - 1] {
        browser.ask(&format!("memoryCity.show({time}, true)"));
        let known: BTreeMap<String, [u64; 2]> = serde_json::from_value(browser.ask(
            "Object.fromEntries([...memoryCity.keys()].filter(k => !k.endsWith('#…')).map(k => [k, memoryCity.values(k)]))",
        ))
        .expect("values by key");
        assert!(known.len() > 50);
        for (key, [objects, bytes]) in known {
            let node = timeline.find(&key).unwrap_or_else(|| panic!("a node {key}"));
            assert_eq!(timeline.value(time, node, Metric::Objects), objects, "{key} at {time}");
            assert_eq!(timeline.value(time, node, Metric::Bytes), bytes, "{key} at {time}");
        }
    }

    // The legend has how many buildings have which colour: before anything has grown one, in the end the reddest too.
    let columns = |browser: &mut Browser, time: usize| -> Vec<u64> {
        browser.ask(&format!("memoryCity.show({time}, true)"));
        serde_json::from_value(browser.ask("memoryCity.colours()")).expect("numbers")
    };
    let first = columns(&mut browser, 0);
    assert_eq!(first.iter().filter(|count| **count > 0).count(), 1, "{first:?}");
    let end = columns(&mut browser, timeline.times() - 1);
    assert!(end.len() == 32 && end[31] > 0 && end.iter().sum::<u64>() > 150, "{first:?} {end:?}");
    let drawn = browser.ask("(() => { const c = document.getElementById('counts'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 == 3 && v > 200).length })()");
    assert!(drawn.as_u64().is_some_and(|pixels| pixels > 100), "{drawn} pixels of the histogram");
    // Nothing is fetched: all of it is in the file.
    let fetched = browser.ask("performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('blob:') && !n.startsWith('data:'))");
    assert_eq!(fetched, json!([]));

    // Keys step through time.
    let last = timeline.times() - 1;
    browser.press("ArrowLeft");
    browser.until("a step back", &format!("memoryCity.state().time === {}", last - 1));
    browser.press("Home");
    browser.until("the first state", "memoryCity.state().time === 0");
    browser.press("End");
    browser.until("the last state", &format!("memoryCity.state().time === {last}"));

    // Search, and fly to what is found.
    browser.press("/");
    browser.write("model*pers");
    browser.until("one result", "document.querySelectorAll('#list button').length === 1");
    browser.press("Enter");
    browser.until("the selection", "(memoryCity.state().selected || '').endsWith('#Person')");
    browser.until("the end of the flight", "!memoryCity.state().moving");
    let key = browser.ask("memoryCity.state().selected").as_str().expect("a key").to_owned();
    // The address restores it all.
    browser.until("the address", "location.hash.includes('Person')");

    // A click on the roof drops the selection, another selects again, and it stays through time.
    let at = browser.ask(&format!("memoryCity.screen({})", json!(key)));
    let (x, y) = (at[0].as_f64().expect("x"), at[1].as_f64().expect("y") + 3.0);
    browser.press("Escape");
    browser.press("Escape");
    browser.until("no selection", "memoryCity.state().selected === null");
    browser.point(x, y);
    browser.until("hovering", &format!("memoryCity.state().hovered === {}", json!(key)));
    assert_eq!(browser.ask("document.getElementById('tip').hidden"), json!(false));
    browser.click(x, y);
    browser.until("the selection", &format!("memoryCity.state().selected === {}", json!(key)));
    browser.press("Home");
    browser.until("the first state", "memoryCity.state().time === 0");
    assert_eq!(browser.ask("memoryCity.state().selected"), json!(key));

    // It is drawn: red where growth is largest, and nothing is drawn at rest.
    browser.press("End");
    browser.press("Escape");
    browser.press("r");
    browser.until("the whole city", "!memoryCity.state().moving && memoryCity.state().selected === null");
    let picture =
        image::load_from_memory(&BASE64.decode(browser.picture().as_bytes()).expect("base64")).expect("a PNG");
    let red = picture.to_rgb8().pixels().filter(|p| p[0] > 140 && p[1] < 60 && p[2] < 60).count();
    assert!(red > 2000, "{red} red pixels");
    let frames = browser.ask("new Promise(r => setTimeout(() => { const f = memoryCity.state().frames; setTimeout(() => r(memoryCity.state().frames - f), 1500); }, 1500))");
    assert_eq!(frames, json!(0), "frames drawn at rest");
}

#[test]
fn ten_thousand_buildings_at_fifty_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, file) = (folder.path().join("large.jsonl"), folder.path().join("large.html"));
    // Numbers that change all the time, without a pattern that packs well.
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut objects: Vec<u64> = (0..10_000).map(|_| next() % 100_000 + 1).collect();
    let mut text = String::new();
    for time in 0..50 {
        objects.iter_mut().for_each(|n| *n += next() % (*n / 4 + 2));
        let district = |d: usize| -> Value {
            let leaf = |i: usize| {
                let n = objects[d * 100 + i];
                json!({ "name": format!("Group{i}"), "role": "Type", "objects": n, "bytes": n * (16 + 8 * (i as u64 % 9)) })
            };
            json!({ "name": format!("package{d}"), "role": "Package", "children": (0..100).map(leaf).collect::<Vec<_>>() })
        };
        let children: Vec<Value> = (0..100).map(district).collect();
        let line = json!({ "format": "memory-city", "version": 1, "timestamp": time, "tree": { "name": "Heap", "children": children } });
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(&input, text).expect("a file");
    page(&[&input.to_string_lossy(), "--child-count", "0"], &file);
    let size = file.metadata().expect("a file").len();
    assert!(size <= 20_000_000, "{size} bytes");
    // Trees do not tell what keeps what: which group grows most is the first that is said all the same.
    let source = Source::open(&[input], "auto", GroupOptions::default(), &Progress::new()).expect("trees");
    let verdict = brief(&analyses::verdict(source.timeline(), Metric::Bytes).text);
    let Some(mut browser) = Browser::start(1280, 720) else { return };
    browser.open(&file);
    assert_eq!(browser.ask("[memoryCity.city.plots.length, memoryCity.city.times.length]"), json!([10_000, 50]));
    let said = browser.ask("document.body.textContent");
    assert!(said.as_str().is_some_and(|text| text.contains(&verdict)), "{verdict}");
    browser.press("/");
    browser.write("package42*group7");
    browser.until("results", "document.querySelectorAll('#list button').length === 11");
    browser.press("Enter");
    browser.until("a selection", "memoryCity.state().selected !== null");
    browser.press("Escape");
    browser.press("ArrowLeft");
    browser.until("a step back", "memoryCity.state().time === 48");
}

/// What finds its way into a page does not run there, reaches nothing and changes no style; the page itself works.
#[test]
fn nothing_in_a_page_runs_but_its_own_program() {
    let Some(mut browser) = Browser::start(900, 600) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("city.html");
    page(&[&sample().to_string_lossy(), "--grouping", "package-type", "--title", "Persons"], &file);
    let html = std::fs::read_to_string(&file).expect("a page");
    let foreign = "<script>document.title = 'script'</script>\
        <img src='data:image/png;base64,x' onerror='document.title = 1'><iframe src='javascript:parent.document.title = 2'></iframe>\
        <p id=foreign style='color: rgb(1, 2, 3)'>text</p><base href='https://example.org'></body>";
    std::fs::write(&file, html.replace("</body>", foreign)).expect("written");
    browser.open(&file);
    assert_eq!(browser.ask("document.title"), json!("Persons"));
    let colour = browser.ask("getComputedStyle(document.getElementById('foreign')).color");
    assert_ne!(colour, json!("rgb(1, 2, 3)"));
    assert!(browser.ask("document.baseURI").as_str().is_some_and(|base| base.starts_with("file:")));
    let fetched = "fetch('data:,text').then(() => 'reached', (error) => String(error))";
    let fetched = browser.ask(fetched);
    assert!(fetched != json!("reached"), "{fetched}");
}
