//! The other views in a real window: trends, sunburst, graph and overview, opened by name, by real clicks and keys, linked with each
//! other by time and selection.

use super::finding::look_for;
use super::{HEIGHT, Session, WIDTH, difference, skipped};
use std::path::Path;

/// Shows a view, found by its name.
fn show(session: &mut Session, name: &str) {
    look_for(session, &format!("Show {name}"));
    session.key("Return");
    session.rest();
}

/// Whether the trail has told something since there were so many lines.
fn told(session: &Session, from: usize, text: &str) -> bool {
    session.trail[from..].iter().any(|line| line.contains(text))
}

#[test]
fn views_are_linked_by_time_selection_and_window() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    let city = session.screenshot("70-city");

    // A click on an area opens the chart of its parts, goes to the time, and selects the group in all views.
    show(&mut session, "Trends");
    let trends = session.screenshot("71-trends");
    assert!(difference(&city, &trends) > 0.2, "charts are seen");
    let (x, y) = (WIDTH / 2, HEIGHT * 7 / 10);
    session.click(x, y);
    session.expect("trends: chart 2 of ");
    session.expect("selected: Heap#");
    session.rest();
    let below = session.screenshot("72-trends-below");
    assert!(difference(&trends, &below) > 0.05, "there are two charts");
    // A drag chooses a window.
    let from = session.trail.len();
    session.drag((x, HEIGHT * 3 / 10), (x + 90, HEIGHT * 3 / 10));
    session.rest();
    assert!(told(&session, from, "window of time: "), "a drag chooses a window");
    let windowed = session.screenshot("73-trends-window");
    assert!(difference(&below, &windowed) > 0.005, "it is marked");

    // The same selection, as parts within parts; a click on the middle goes out, one beside it in.
    show(&mut session, "Sunburst");
    let sunburst = session.screenshot("74-sunburst");
    assert!(difference(&windowed, &sunburst) > 0.2);
    session.key("Next");
    session.rest();

    // What refers to it, and a step up to its roots.
    let from = session.trail.len();
    show(&mut session, "Graph");
    session.rest();
    assert!(told(&session, from, "graph: "), "the graph of what is selected");
    let graph = session.screenshot("75-graph");
    assert!(difference(&sunburst, &graph) > 0.2);
    // The view has the keyboard once it is clicked into.
    session.click(WIDTH / 2, HEIGHT - 150);
    session.rest();
    // What is not in sight has no keys.
    session.key("Tab");
    session.rest();
    let from = session.trail.len();
    for key in ["Left", "Right"] {
        session.key(key);
        session.rest();
    }
    assert!(told(&session, from, "time: "), "arrows step in time");
    session.key("Tab");
    session.rest();

    // The run as a whole.
    show(&mut session, "Overview");
    let overview = session.screenshot("76-overview");
    assert!(difference(&graph, &overview) > 0.1);
}

/// The charts of a trace: its collections below them, what groups retain as another measure, and the chart of one of them.
#[test]
fn trends_show_collections_and_what_groups_retain() {
    if skipped() {
        return;
    }
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/anttracks/person-leak-parallel");
    let config = tempfile::tempdir().expect("a folder");
    let trace = trace.to_string_lossy();
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start(&["open", &*trace], &environment);
    session.expect("city: person-leak-parallel");
    session.focus();
    session.point(WIDTH / 2, 20);
    show(&mut session, "Trends");
    let areas = session.screenshot("77-trends-collections");

    // A click on the bar of a collection goes there. Letters are what they always are, wherever somebody clicked: S flies, L is names.
    session.click(566, 775);
    session.expect("time: 6/12");
    session.rest();
    let from = session.trail.len();
    session.key("s");
    session.rest();
    session.key("l");
    session.expect("labels: false");
    session.rest();
    assert!(!told(&session, from, "strip: false"), "{:?}", &session.trail[from..]);
    // The palette puts the bars away and brings them back, as the button above the charts does.
    for (state, name) in [("false", "78-trends-without-collections"), ("true", "78-trends-with-collections")] {
        look_for(&mut session, "Collections below trends");
        session.key("Return");
        session.expect(&format!("strip: {state}"));
        let now = session.screenshot(name);
        assert_eq!(difference(&areas, &now) > 0.02, state == "false", "the charts have their room");
    }

    // What groups retain is found at some times, as lines; the row of one opens the chart of its parts.
    session.click(387, 107);
    session.rest();
    session.click(394, 187);
    session.expect("trends: found sizes at 12 times");
    let lines = session.screenshot("79-trends-retained");
    assert!(difference(&areas, &lines) > 0.1, "lines in place of areas");
    session.click(900, 205);
    session.expect("trends: chart 2 of Heap#PersonLeak8$Person");
    let below = session.screenshot("80-trends-retained-below");
    assert!(difference(&lines, &below) > 0.05, "there are two charts");
    // Another moment leaves them as they are.
    session.key("p");
    session.expect("time: 5/12");
    session.rest();
}

/// A reference under the mouse has a description, and a click goes to its other end.
#[test]
fn references_tell_what_they_are_and_lead_to_their_other_end() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("type");
    session.key("h");
    look_for(&mut session, "Person");
    session.key("Return");
    let selected = session.expect("selected: ");
    session.key("r");
    let before = session.screenshot("81-references");
    // In the colour of what keeps it alive, from the middle of the city outwards.
    let is_purple = |&(x, y): &(u32, u32)| {
        let [r, g, b] = before.get_pixel(x, y).0.map(u32::from);
        b > 110 && r > b / 3 && r < b && 2 * g < b
    };
    let all = (120..HEIGHT - 140).step_by(7).flat_map(|y| (330..WIDTH - 340).step_by(7).map(move |x| (x, y)));
    let purple: Vec<(u32, u32)> = all.filter(is_purple).collect();
    assert!(purple.len() > 5, "references are seen");
    let mut told = None;
    for &(x, y) in purple.iter().step_by((purple.len() / 24).max(1)) {
        let from = session.trail.len();
        session.point(x, y);
        session.rest();
        told = session.trail[from..].iter().find(|line| line.contains("reference: in, ")).cloned();
        if told.is_some() {
            break;
        }
    }
    let told = told.expect("one of them is pointed at");
    assert!(told.contains(" objects refer to "), "{told}");
    let pointed = session.screenshot("82-reference-told");
    assert!(difference(&before, &pointed) > 0.005, "both ends and their numbers are told");
    session.tool("xdotool", &["click", "1"]);
    let other = session.expect("selected: Heap#");
    assert_ne!(other.split("selected: ").nth(1), selected.split("selected: ").nth(1));
}
