//! Finding, in a real window: the palette, what it lights, a part of the city as its own city, names that are clicked.

use super::{Session, WIDTH, difference, places, skipped};

/// Types into the palette, which a chord has opened.
pub(super) fn look_for(session: &mut Session, text: &str) {
    session.chord("ctrl", "k");
    assert!(session.trail.iter().rev().take(40).any(|line| line.contains("palette: opened")), "Ctrl+K opens it");
    session.tool("xdotool", &["type", "--delay", "40", text]);
    session.expect(&format!("search: {text}: "));
    session.rest();
}

/// Of the sample by type, chooses Person one time before the last. Returns its key.
pub(super) fn choose_person(session: &mut Session) -> String {
    session.key("h");
    session.key("p");
    session.expect("time: 15/16");
    look_for(session, "*Person");
    session.key("Return");
    let selected = session.expect("selected: Heap#");
    let key = selected.split("selected: ").nth(1).expect("a key").to_owned();
    session.rest();
    key
}

/// Where libraries are folded, their buildings have no names, and their districts count them; those of the program keep theirs.
#[test]
fn names_of_libraries_fold_and_unfold() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    session.key("h");
    let (mut shown, mut pictures) = (Vec::new(), Vec::new());
    for (at, wanted) in ["", "Names of libraries folded: on", "Names of libraries folded: off"].iter().enumerate() {
        if !wanted.is_empty() {
            look_for(&mut session, wanted);
            session.key("Return");
            session.expect("palette: closed");
        }
        session.point(WIDTH / 2, 20 + at as u32 + 1);
        pictures.push(session.screenshot(&format!("34-folded-{at}")));
        let line = session.trail.iter().rev().find(|line| line.contains("names at [")).expect("names").clone();
        let keys = places(&line, "names at [").into_iter().map(|(key, _)| key);
        shown.push(keys.filter(|key| key.matches('#').count() >= 2).collect::<std::collections::BTreeSet<_>>());
    }
    let is_own = |key: &&String| !["#java", "#jdk", "#sun"].iter().any(|library| key.contains(library));
    assert!(shown[0].iter().any(|key| !is_own(&key)) && shown[0].iter().any(|key| is_own(&key)), "{:?}", shown[0]);
    assert!(shown[1].iter().all(|key| is_own(&key)) && !shown[1].is_empty(), "{:?}", shown[1]);
    let own = |shown: &std::collections::BTreeSet<String>| shown.iter().filter(is_own).cloned().collect::<Vec<_>>();
    assert!(own(&shown[0]).iter().all(|key| shown[1].contains(key)), "no name of the program goes");
    assert_eq!(shown[0], shown[2], "and all come back");
    assert!(difference(&pictures[0], &pictures[1]) > 0.005 && difference(&pictures[0], &pictures[2]) < 0.001);
}

#[test]
fn a_window_finds_lights_opens_and_names() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    session.key("h");
    let plain = session.screenshot("30-names");

    // A name is as good as its building.
    let line = session.trail.iter().rev().find(|line| line.contains("names at [")).expect("names").clone();
    let names = places(&line, "names at [");
    // All forty buildings that grow or are large have room for theirs, but for some that stand in another's way.
    let buildings = names.iter().filter(|(key, _)| key.matches('#').count() >= 2).count();
    assert!(buildings >= 20 && names.len() >= 25, "most of what there is room for has a name: {line}");
    let (key, at) = names.iter().find(|(key, _)| key.matches('#').count() >= 2).expect("that of a building").clone();
    session.click(at.0, at.1);
    session.expect(&format!("selected: {key}"));
    session.key("Escape");
    session.expect("selected: nothing");

    // A glob: what it finds is lit while one types, Enter goes to the first.
    look_for(&mut session, "*LinkedList*");
    let palette = session.screenshot("31-palette");
    assert!(difference(&palette, &plain) > 0.1, "the palette is seen, and what is found is lit");
    // The ways home are there while somebody writes into it.
    for (chord, key) in [(None, "F5"), (Some("ctrl"), "Home")] {
        let from = session.trail.len();
        match chord {
            Some(with) => session.chord(with, key),
            None => session.key(key),
        }
        session.rest();
        let reset = |line: &String| line.contains("view: the whole city");
        assert!(session.trail[from..].iter().any(reset), "{key}: {:?}", &session.trail[from..]);
    }
    session.key("Return");
    let line = session.expect("selected: Heap#");
    assert!(line.contains("LinkedList"), "{line}");
    session.rest();
    session.key("Escape");
    session.expect("selected: nothing");
    session.key("r");

    // An expression as a filter: it stays, with its counts, until Escape.
    look_for(&mut session, "bytes > 100kB");
    session.chord("shift", "Return");
    session.point(WIDTH / 2, 21);
    let filtered = session.screenshot("32-filter");
    assert!(difference(&filtered, &plain) > 0.03, "what is not found recedes");
    // What the key does is told before the key.
    session.tool("xdotool", &["key", "Escape"]);
    session.expect("search: nothing");
    session.expect("key: Escape");
    session.point(WIDTH / 2, 20);
    let again = session.screenshot("33-no-filter");
    assert!(difference(&again, &plain) < 0.03, "all is as it was");

    // An action by its name.
    session.chord("ctrl", "p");
    // Faster than the window draws, Enter included.
    session.tool("xdotool", &["key", "--delay", "1", "b", "i", "r", "d", "Return"]);
    session.expect("palette: closed");
    let above = session.screenshot("34-above");
    assert!(difference(&above, &plain) > 0.1, "the palette does what keys do");
    session.key("r");

    // A district as its own city, and back.
    look_for(&mut session, "role = \"Package\" and name = \"lang\" or name = \"java.lang\"");
    session.key("Return");
    session.expect("selected: Heap#");
    session.rest();
    session.chord("ctrl", "Return");
    assert!(session.trail.iter().any(|line| line.contains("part: Heap#java")), "Ctrl+Enter opens it");
    session.key("Escape");
    session.expect("selected: nothing");
    session.point(WIDTH / 2, 21);
    let part = session.screenshot("35-part");
    assert!(difference(&part, &plain) > 0.1, "the district fills the ground");
    session.chord("ctrl", "BackSpace");
    assert!(session.trail.iter().any(|line| line.contains("part: 0 left")), "Ctrl+Backspace goes back");
    session.point(WIDTH / 2, 20);
    let back = session.screenshot("36-back");
    assert!(difference(&back, &plain) < 0.03, "the whole city again");
}

/// `+n` beside the name of a district flies there; `n more` opens what it stands for as a city of its own.
#[test]
fn names_that_stand_for_many_lead_to_them() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    session.key("h");
    session.point(WIDTH / 2, 22);
    let plain = session.screenshot("39-many");
    let spot = |session: &Session, what: &str| {
        let line = session.trail.iter().rev().find(|line| line.contains("many at [")).expect("names").clone();
        places(&line, "many at [").into_iter().find(|(key, _)| key.starts_with(what))
    };
    let (key, at) = spot(&session, "rest:Heap#").expect("a district with more than there is room for");
    session.click(at.0, at.1);
    session.rest();
    let flown = format!("flies to: {}", key.trim_start_matches("rest:"));
    assert!(session.trail.iter().any(|line| line.contains(&flown)), "{flown}");
    session.point(WIDTH / 2, 21);
    let there = session.screenshot("39-many-there");
    assert!(difference(&there, &plain) > 0.1, "the camera is elsewhere");
    assert!(!session.trail.iter().any(|line| line.contains("selected: Heap#")), "nothing was selected by it");

    let (mut session, _config) = Session::of_sample("type");
    session.key("h");
    // What is pruned lies flat between buildings: from above it is in sight.
    session.key("5");
    session.point(WIDTH / 2, 22);
    let plain = session.screenshot("39-more");
    let (key, at) = spot(&session, "more:").expect("many are pruned");
    session.click(at.0, at.1);
    session.rest();
    let opened = format!("part: {} beyond ", key.trim_start_matches("more:"));
    assert!(session.trail.iter().any(|line| line.contains(&opened)), "{opened}");
    session.point(WIDTH / 2, 21);
    let part = session.screenshot("39-more-there");
    assert!(difference(&part, &plain) > 0.1, "they fill the ground");
    session.chord("ctrl", "BackSpace");
    assert!(session.trail.iter().any(|line| line.contains("part: 0 left")), "Ctrl+Backspace goes back");
    session.point(WIDTH / 2, 20);
    let back = session.screenshot("39-more-back");
    assert!(difference(&back, &plain) < 0.03, "the whole city again");
}

/// What a view file keeps, another window shows again, and `render` too.
#[test]
fn a_view_file_brings_a_window_back() {
    if skipped() {
        return;
    }
    let (mut session, folder) = Session::of_sample("type");
    let environment = [("MEMORY_CITY_CONFIG", folder.path())];
    let key = choose_person(&mut session);
    session.key("k");
    session.chord("ctrl", "b");
    let before = session.screenshot("37-view");
    let file = folder.path().join("a.mcview");
    let path = file.to_string_lossy().into_owned();
    session.chord("ctrl", "F12");
    session.chord("ctrl", "a");
    session.type_text(&path);
    session.rest();
    session.key("Return");
    session.expect("saved: ");

    let mut session = session.restart(&["open", &path, "--allow-outside"], &environment);
    session.expect("view: shown");
    session.focus();
    session.point(WIDTH / 2, 21);
    session.key("h");
    let after = session.screenshot("38-view-again");
    assert!(session.trail.iter().any(|line| line.contains(&format!("selected: {key}"))), "{key} is selected again");
    assert!(session.trail.iter().any(|line| line.contains("time: 15/")), "the time is the same");
    assert!(difference(&before, &after) < 0.03, "the same view");
    let picture = folder.path().join("a.png");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .args(["render", &path, "--allow-outside", "-o"])
        .arg(&picture)
        .status()
        .expect("the program");
    assert!(status.success());
    let text = std::fs::read_to_string(&file).expect("text");
    let view: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let size = image::open(&picture).expect("a picture").to_rgb8().dimensions();
    assert_eq!(
        (u64::from(size.0), u64::from(size.1)),
        (view["size"][0].as_u64().unwrap(), view["size"][1].as_u64().unwrap())
    );
}

/// Hints alone, by their keys, lead from buildings of classes to the owner, its paths, and what a cut would free.
#[test]
fn hints_alone_lead_to_the_reference_that_keeps_the_leak() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    let follow = |session: &mut Session, hint: &str, step: &str, then: &str| {
        session.key("F2");
        session.expect(&format!("hint: {hint}"));
        session.rest();
        session.chord("shift", "F2");
        let trail = session.trail.join("\n");
        for told in [format!("hint: {step}"), then.to_owned()] {
            if !trail.contains(&told) {
                session.expect(&told);
            }
        }
        session.rest();
    };
    follow(&mut session, "owner-of-growth", "Show its owner", "PersonRegistry#static PERSONS");
    follow(&mut session, "tower-of-the-owner", "Show the references that keep it", "ways: ");
    // After a step the next key goes on to the hint of the paths, not back to the city's.
    follow(&mut session, "path-to-cut", "Show what would be freed without it", "cut: ");
    let line = session.trail.iter().rev().find(|line| line.contains("cut: ")).expect("a cut");
    assert!(line.contains("PERSONS"), "{line}");
}
