//! Whatever somebody does with keys and mouse, one key brings the city back.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Keys with an action, some with modifiers. Excluded are keys that open a dialog of the system, write a file, start
/// another program or close the input. Ctrl+K is excluded too, since Enter there might do any of these.
const KEYS: [&str; 53] = [
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
    "l",
    "m",
    "n",
    "o",
    "p",
    "q",
    "r",
    "s",
    "t",
    "u",
    "v",
    "w",
    "x",
    "y",
    "z",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "space",
    "Tab",
    "Return",
    "BackSpace",
    "Delete",
    "Home",
    "End",
    "Left",
    "Up",
    "Escape",
    "Page_Down",
    "F1",
    "question",
    "ctrl+Return",
    "ctrl+BackSpace",
    "ctrl+g",
    "ctrl+d",
    "ctrl+b",
    "ctrl+plus",
    "ctrl+minus",
    "shift+w",
];

#[derive(Clone, Debug)]
enum Hand {
    Key(&'static str),
    /// A button, pressed at one place and let go at another.
    Drag(u8, (u32, u32), (u32, u32)),
    Click((u32, u32)),
    Wheel(u8, u8, (u32, u32)),
}

fn hand() -> impl Strategy<Value = Hand> {
    // The bar at the top has buttons that open dialogs of the system and close what is open.
    let place = || (0..1280u32, 90..720u32);
    prop_oneof![
        5 => prop::sample::select(&KEYS[..]).prop_map(Hand::Key),
        2 => (1..4u8, place(), place()).prop_map(|(button, from, to)| Hand::Drag(button, from, to)),
        2 => place().prop_map(Hand::Click),
        2 => (4..6u8, 1..12u8, place()).prop_map(|(button, times, at)| Hand::Wheel(button, times, at)),
    ]
}

impl Hand {
    fn words(&self) -> Vec<String> {
        let at = |(x, y): (u32, u32)| ["mousemove".to_owned(), x.to_string(), y.to_string()];
        let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        match self {
            Hand::Key(key) => words(format!("key {key}")),
            Hand::Drag(button, from, to) => {
                let middle = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
                let press = words(format!("mousedown {button}"));
                [&at(*from)[..], &press, &at(middle), &at(*to), &words(format!("mouseup {button}"))].concat()
            }
            Hand::Click(place) => [&at(*place)[..], &words("click 1".to_owned())].concat(),
            Hand::Wheel(button, times, place) => {
                [&at(*place)[..], &words(format!("click --repeat {times} --delay 5 {button}"))].concat()
            }
        }
    }
}

#[test]
fn after_any_keys_and_drags_one_key_brings_the_city_back() {
    if skipped() {
        return;
    }
    let sample = sample();
    let home = tempfile::tempdir().expect("a folder");
    moves(home.path());
    let environment = [("MEMORY_CITY_CONFIG", home.path()), ("HOME", home.path())];
    let session = std::cell::RefCell::new(Session::start_on((1280, 720), &["open", &sample], &environment));
    session.borrow_mut().expect("leak: ");
    session.borrow_mut().focus();
    // The same few each time, so that what fails fails again; as many others as somebody asks for.
    let others = std::env::var("MEMORY_CITY_WINDOW_CASES").ok().and_then(|cases| cases.parse().ok());
    let config =
        Config { cases: others.unwrap_or(6), max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    let mut runner = match others {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        ),
    };
    let done = runner.run(&prop::collection::vec(hand(), 20..40), |hands| {
        let mut session = session.borrow_mut();
        for hand in &hands {
            let words = hand.words();
            session.tool("xdotool", &words.iter().map(String::as_str).collect::<Vec<_>>());
        }
        // While somebody writes, too.
        session.tool("xdotool", &["key", "F5"]);
        session.expect("key: F5");
        // Longer than a flight and a step take. Some inputs have it played over and over: the city is in sight all the same.
        session.rests_within(Duration::from_secs(10));
        let told = session.trail.iter().rev().find_map(|line| line.split("sight: ").nth(1));
        prop_assert_eq!(told, Some("the city"), "after {:?}", hands);
        // Whatever is open lies over a part of it at most.
        let picture = session.shown("80-anything");
        let lit = picture.enumerate_pixels().filter(|(x, y, _)| *x < 1280 && *y < 720);
        let shades: std::collections::HashSet<[u8; 3]> = lit.map(|(_, _, p)| p.0.map(|c| c / 16)).collect();
        prop_assert!(shades.len() > 40, "{} shades after {:?}", shades.len(), hands);
        Ok(())
    });
    if let Err(failed) = done {
        panic!("{failed}");
    }
}

/// Keys of a person's own, from the file beside the settings: for an action, and to fly with.
#[test]
fn keys_of_a_person_do_what_their_file_says() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    moves(config.path());
    let text = r#"{ "First": ["F7"], "Last": ["Ctrl+J"], "FlyAhead": ["I"], "FlyBack": ["K"], "Inspect": ["W"] }"#;
    std::fs::write(config.path().join("keys.json"), text).expect("a file");
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start(&["open", &*sample()], &environment);
    session.expect("leak: ");
    session.focus();
    session.key("h");
    session.key("F7");
    session.expect("time: 1/16");
    session.chord("ctrl", "j");
    assert!(session.trail.iter().any(|line| line.contains("time: 16/16")), "Ctrl+J goes to the end");
    session.point(WIDTH / 2, 20);
    let before = session.screenshot("81-keys");
    let mut hold = |key: &str, name: &str| {
        session.tool("xdotool", &["keydown", key]);
        session.expect("key: Key");
        std::thread::sleep(Duration::from_millis(400));
        session.tool("xdotool", &["keyup", key]);
        session.screenshot(name)
    };
    let ahead = hold("i", "82-keys-ahead");
    assert!(difference(&before, &ahead) > 0.05, "I flies ahead");
    let back = hold("k", "83-keys-back");
    assert!(difference(&ahead, &back) > 0.05, "K flies back");
    // W does not fly any more: it inspects.
    session.key("Home");
    session.rest();
    let still = session.screenshot("84-keys-still");
    session.tool("xdotool", &["key", "w"]);
    session.expect("key: KeyW");
    session.rest();
    let inspected = session.screenshot("85-keys-inspects");
    assert!(difference(&still, &inspected) > 0.2, "W opens the inspector");
}
