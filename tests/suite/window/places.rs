//! Places in a real window: bookmarks and marks with notes, kept in a view file; the camera to the last digit; the
//! minimap; and a city in sight after grouping anew.

use super::finding::{choose_person, look_for};
use super::*;
use memory_city_views::city::CITY_SIZE;
use memory_city_views::city::camera::CameraPose;
use serde_json::Value;

/// Saves what is shown as a view file, and reads it.
fn saved_view(session: &mut Session, path: &Path) -> Value {
    session.chord("ctrl", "F12");
    session.save_to(path);
    serde_json::from_slice(&std::fs::read(path).expect("a view file")).expect("JSON")
}

fn camera_of(view: &Value) -> CameraPose {
    serde_json::from_value(view["camera"].clone()).expect("a pose")
}

/// A line that has come since, or comes now. The palette may have closed, and what it did have been told, in one frame.
fn since(session: &mut Session, from: usize, text: &str) -> String {
    let came = session.trail[from..].iter().find(|line| line.contains(text)).cloned();
    came.unwrap_or_else(|| session.expect(text))
}

/// Takes the first row that the palette finds for a text.
fn take_from_palette(session: &mut Session, text: &str) {
    session.chord("ctrl", "k");
    session.type_text(text);
    session.rest();
    session.key("Return");
}

#[test]
fn bookmarks_notes_and_the_camera_come_back_to_the_letter() {
    if skipped() {
        return;
    }
    const NOTE: &str = "grows with each login, why?";
    let (mut session, config) = Session::of_sample("type");
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let folder = tempfile::tempdir().expect("a folder");
    // A group at a time, from a place that no key leads to.
    let key = choose_person(&mut session);
    session.drag_with("1", (700, 450), (733, 437));
    session.point(WIDTH / 2, 20);
    let there = session.screenshot("80-place");
    session.chord("ctrl", "b");
    let from = session.trail.len() - 40.min(session.trail.len());
    let made = since(&mut session, from, "bookmark: ");
    let name = made.split("bookmark: ").nth(1).expect("a name").to_owned();
    assert!(name.ends_with("Person at 15/16"), "{name}");
    // A mark, and what is to be remembered of it, typed into its field.
    session.key("k");
    take_from_palette(&mut session, "Show Marks");
    session.rest();
    session.screenshot("80-marks");
    session.click(150, 681);
    session.type_text(NOTE);
    session.rest();
    session.screenshot("80-noted");

    // Elsewhere, at another time, with nothing selected; and back by the name of the bookmark.
    let elsewhere = |session: &mut Session| {
        // Out of the field.
        session.point(WIDTH / 2, 21);
        session.key("Escape");
        session.rest();
        session.key("Escape");
        session.key("Home");
        session.expect("time: 1/16");
        session.key("r");
        session.point(WIDTH / 2, 22);
        session.screenshot("81-elsewhere")
    };
    let back = |session: &mut Session, shot: &str| {
        let from = session.trail.len();
        take_from_palette(session, &name);
        since(session, from, &format!("bookmark: to {name}"));
        since(session, from, "time: 15/16");
        since(session, from, &format!("selected: {key}"));
        session.point(WIDTH / 2, 20);
        session.screenshot(shot)
    };
    let away = elsewhere(&mut session);
    assert!(difference(&there, &away) > 0.1, "it was elsewhere");
    let again = back(&mut session, "82-back");
    assert!(difference(&there, &again) < 0.01, "the bookmark leads back");

    let first = saved_view(&mut session, &folder.path().join("first.mcview"));
    let bookmark = &first["bookmarks"][0];
    assert_eq!(bookmark["camera"], first["camera"], "a bookmark has the view to the letter");
    assert_eq!((&bookmark["name"], bookmark["time"].as_u64()), (&Value::from(&*name), Some(14)));
    assert_eq!(first["marks"][&key]["note"], NOTE);

    // The next run: nothing was touched, and all is the same again, to the last digit.
    let path = folder.path().join("first.mcview").to_string_lossy().into_owned();
    let mut session = session.restart(&["open", &path, "--allow-outside"], &environment);
    session.expect("view: shown");
    session.focus();
    session.rest();
    let second = saved_view(&mut session, &folder.path().join("second.mcview"));
    assert_eq!(first, second);
    session.key("h");
    session.point(WIDTH / 2, 19);
    let shown = session.screenshot("83-next-run");
    assert!(difference(&again, &shown) < 0.01, "the same picture");
    // The bookmark and the note are there: the one leads back, the other stands in its field.
    elsewhere(&mut session);
    let again = back(&mut session, "84-back-in-the-next-run");
    assert!(difference(&there, &again) < 0.01, "the bookmark leads back in the next run too");
    let third = saved_view(&mut session, &folder.path().join("third.mcview"));
    assert_eq!((&third["camera"], &third["marks"]), (&first["camera"], &first["marks"]));

    // So they are without any view file, of the same data alone.
    let sample = sample();
    let mut session = session.restart(&["open", &*sample, "--grouping", "type"], &environment);
    session.expect("remembered: 1 marks, 1 bookmarks");
    session.expect("leak: ");
    session.focus();
    session.rest();
    session.point(WIDTH / 2, 23);
    back(&mut session, "85-remembered");
    let fourth = saved_view(&mut session, &folder.path().join("fourth.mcview"));
    assert_eq!((&fourth["bookmarks"], &fourth["marks"]), (&first["bookmarks"], &first["marks"]));
}

/// Where a person looks on the ground: what is in the middle of the picture.
fn looked_at(pose: &CameraPose) -> (f32, f32) {
    let ahead = pose.forward();
    let reach = pose.eye.y / -ahead.y;
    (pose.eye.x + ahead.x * reach, pose.eye.z + ahead.z * reach)
}

#[test]
fn a_click_on_the_minimap_goes_there() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    let folder = tempfile::tempdir().expect("a folder");
    session.key("h");
    assert!(!session.trail.iter().any(|line| line.contains("minimap: ")), "of the whole city there is none");
    look_for(&mut session, "*Person");
    session.key("Return");
    session.expect("selected: Heap#");
    session.rest();
    let line =
        session.trail.iter().rev().find(|line| line.contains("minimap: at ")).expect("near one building").clone();
    let told = line.split("minimap: at ").nth(1).and_then(|told| told.split(" wide").next()).expect("a place");
    let numbers: Vec<f32> = told.split([',', ' ']).filter_map(|n| n.parse().ok()).collect();
    let &[x, y, side] = &numbers[..] else { panic!("{line}") };
    let before = session.screenshot("85-near");
    for (right, down) in [(34.0, -41.0), (-40.0, 30.0)] {
        session.click((x + right) as u32, (y + down) as u32);
        session.rest();
        let view = saved_view(&mut session, &folder.path().join(format!("map{right}.mcview")));
        let (at_x, at_z) = looked_at(&camera_of(&view));
        // The ground takes all of the map but a little at its sides.
        let ground = CITY_SIZE as f32 / (0.96 * side);
        let off = (at_x - right * ground).hypot(at_z - down * ground);
        assert!(off < 1.5 * ground, "{at_x}, {at_z} after a click at {right}, {down} of {side}: {off} off");
    }
    session.point(WIDTH / 2, 21);
    let there = session.screenshot("86-elsewhere");
    assert!(difference(&before, &there) > 0.1, "another place is in the picture");
}

/// A camera near a building shows the whole city after grouping anew, since all places change. A camera with most of
/// the city in sight stays.
#[test]
fn the_city_is_in_sight_after_it_was_grouped_anew() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    let folder = tempfile::tempdir().expect("a folder");
    session.key("h");
    look_for(&mut session, "*PageCache$Page");
    session.key("Return");
    session.expect("selected: Heap#");
    session.rest();
    let near = session.screenshot("87-near");
    let grouped = |session: &mut Session, name: &str, then: &str| {
        let from = session.trail.len();
        take_from_palette(session, &format!("Group by {name}"));
        since(session, from, &format!("city: person-leak {then} "));
        session.rest();
        session.trail[from..].to_vec()
    };
    let trail = grouped(&mut session, "What fills the heap: Object", "what-fills");
    assert!(trail.iter().any(|line| line.contains("camera: home: ")), "it is taken to the whole city");
    session.point(WIDTH / 2, 21);
    let whole = session.screenshot("88-grouped");
    session.key("r");
    session.point(WIDTH / 2, 22);
    let home = session.screenshot("89-home");
    assert!(difference(&near, &whole) > 0.1 && difference(&whole, &home) < 0.01, "that is what R shows");
    // Turned a little, all of it in sight.
    session.drag_with("1", (700, 450), (740, 440));
    let before = camera_of(&saved_view(&mut session, &folder.path().join("before.mcview")));
    let trail = grouped(&mut session, "What grows: Package", "what-grows");
    assert!(!trail.iter().any(|line| line.contains("camera: home: ")), "it stays");
    let after = camera_of(&saved_view(&mut session, &folder.path().join("after.mcview")));
    assert_eq!(before, after);
}
