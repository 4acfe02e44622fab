//! Two runs compared in a real window: before and after a fix, by keys; what is saved is what the command line prints.

use super::{Session, WIDTH, skipped};
use std::path::Path;
use std::process::Command;

/// A run whose cache grows by so many objects from state to state, as memory trees.
fn run(path: &Path, grows: u64) {
    let time = |t: u64| {
        let group = |name: &str, objects: u64, bytes: u64| {
            format!(r#"{{"name":"{name}","role":"Type","objects":{objects},"bytes":{bytes}}}"#)
        };
        let children = [
            group("shop.Cache", 100 + grows * t, 100_000 + 1000 * grows * t),
            group("shop.Order", 500, 40_000 + 10 * t),
            group("byte[]", 2000, 900_000),
        ];
        let children = children.join(",");
        format!(
            r#"{{"label":"gc {t}","timestamp":{},"tree":{{"children":[{children}]}}}}"#,
            1_795_269_802_000 + 1000 * t
        )
    };
    let times: Vec<String> = (0..6).map(time).collect();
    let text = format!(r#"{{"format":"memory-city","version":1,"times":[{}]}}"#, times.join(","));
    std::fs::write(path, text).expect("written");
}

fn save_as(session: &mut Session, keys: (&str, &str), path: &str) {
    session.chord(keys.0, keys.1);
    session.chord("ctrl", "a");
    session.type_text(path);
    session.rest();
    session.key("Return");
    session.expect("saved: ");
}

/// A line that has come since, while the window came to rest, or comes now.
fn seen(session: &mut Session, from: usize, text: &str) -> String {
    let came = session.trail[from..].iter().find(|line| line.contains(text)).cloned();
    came.unwrap_or_else(|| session.expect(text))
}

#[test]
fn a_fix_is_shown_by_comparing_two_runs() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    run(Path::new(&path("leak.json")), 300);
    run(Path::new(&path("fixed.json")), 0);
    let environment = [("MEMORY_CITY_CONFIG", folder.path())];
    let mut session = Session::start(&["open", &path("leak.json")], &environment);
    session.expect("city: leak.json");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.rest();
    session.chord("ctrl", "shift+d");
    session.type_text(&path("fixed.json"));
    session.rest();
    session.key("Return");
    let said = session.expect("comparison: ");
    assert!(said.contains("shop.Cache grew by 1.50 MB in the first run"), "{said}");
    assert!(said.contains("not at all in the second: fixed"), "{said}");
    session.screenshot("40-comparison-city");
    // The view with table and curves; its table is what the command line prints.
    session.chord("ctrl", "k");
    session.type_text("Comparison");
    session.rest();
    session.key("Return");
    session.rest();
    session.screenshot("41-comparison-view");
    save_as(&mut session, ("ctrl", "shift+s"), &path("window.csv"));
    let saved = std::fs::read_to_string(path("window.csv")).expect("the table");
    let (leak, fixed) = (path("leak.json"), path("fixed.json"));
    let printed = Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .args(["compare", &leak, &fixed, "--format", "csv", "--top", "100000"])
        .output()
        .expect("the program");
    assert_eq!(saved, String::from_utf8_lossy(&printed.stdout), "the same numbers");
    assert!(saved.contains("shop.Cache,Heap#shop.Cache,1600,100,-1500,1600000,100000,-1500000"), "{saved}");
    save_as(&mut session, ("ctrl", "F12"), &path("both.mcview"));
    // Back to the first run, as it was.
    let from = session.trail.len();
    session.chord("ctrl", "shift+w");
    seen(&mut session, from, "comparison: ended");
    session.rest();
    assert!(session.trail.iter().rev().any(|line| line.contains("time: 6/6")), "the time is that from before");
    // Two times of it: what came and went, by counts.
    let from = session.trail.len();
    session.chord("ctrl", "d");
    let said = seen(&mut session, from, "comparison: From 1 (gc 0) to 6 (gc 5)");
    assert!(said.contains("+1,500"), "{said}");
    session.screenshot("42-difference");

    let mut session = session.restart(&["open", &path("both.mcview")], &environment);
    let said = session.expect("comparison: ");
    assert!(said.contains("fixed"), "{said}");
    session.expect("view: shown");
    session.screenshot("43-comparison-again");
}
