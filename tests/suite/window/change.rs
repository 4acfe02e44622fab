//! Times compared in a real window, by keys: a base, the way back, several times beside each other, the ground divided anew.

use super::*;

#[test]
fn keys_compare_times_and_put_them_beside_each_other() {
    if skipped() {
        return;
    }
    let sample = sample();
    let config = tempfile::tempdir().expect("a folder");
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start(&["open", &*sample], &environment);
    session.expect("city: person-leak");
    session.expect("leak: ");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.key("h");
    session.key("Home");
    session.expect("time: 1/");
    let first = session.screenshot("change-1-first");
    // The first state is the base; compared with itself nothing has a sign.
    session.key("v");
    session.expect("base: Some(0)");
    session.key("End");
    session.expect("time: 16/");
    let grown = session.screenshot("change-2-grown");
    assert!(difference(&first, &grown) > 0.02);
    // Base and shown time change places: what had grown has shrunk.
    session.key("z");
    session.expect("time: 1/");
    let shrunk = session.screenshot("change-3-shrunk");
    let teal = |[r, g, b]: [u8; 3]| b > 60 && g > 50 && r < 60 && g.abs_diff(b) < 50;
    assert!(share(&shrunk, teal) > share(&first, teal) + 0.004, "less is teal, with a sign");
    session.key("z");
    session.expect("time: 16/");
    // The ground divided for what lies between, and for all again.
    session.key("Home");
    session.expect("time: 1/");
    for _ in 0..3 {
        session.key("n");
    }
    session.expect("time: 4/");
    session.key("g");
    session.expect("window: Some((0, 3))");
    let divided = session.screenshot("change-4-window");
    session.key("g");
    session.expect("window: None");
    let whole = session.screenshot("change-5-all");
    assert!(difference(&divided, &whole) > 0.02, "plots have moved");
    session.key("v");
    session.expect("base: Some(3)");
    session.key("v");
    session.expect("base: None");
    // Four times beside each other; a click on the last goes there.
    session.key("y");
    session.expect("multiples: 4");
    let four = session.screenshot("change-6-four");
    assert!(difference(&whole, &four) > 0.05);
    // Nine, sixteen, one alone, and four again.
    let mut before = four.clone();
    for (count, name) in [(9, "change-6-nine"), (16, "change-6-sixteen"), (0, "change-6-alone"), (4, "change-6-again")]
    {
        session.key("y");
        session.expect(&format!("multiples: {count}"));
        let now = session.screenshot(name);
        assert!(difference(&before, &now) > 0.03, "{count} beside each other");
        before = now;
    }
    assert!(difference(&four, &before) < 0.01, "as it was");
    // The mouse in one of them does what it does in the city alone: here in the last, on the tower of byte[].
    session.click(WIDTH * 11 / 16, HEIGHT * 3 / 5);
    session.expect("selected: Heap#(primitive arrays)#byte[]");
    // What refers to it is drawn at the time that is shown: that is none of these, and then the last.
    session.point(WIDTH / 2, 20);
    let none = session.screenshot("change-6-none-of-these");
    session.key("End");
    session.expect("time: 16/16");
    session.expect("cones: ");
    let selected = session.screenshot("change-6-selected");
    let purple = |picture: &image::RgbImage, (left, top): (u32, u32)| {
        let cell = image::imageops::crop_imm(picture, left, top, 380, 340).to_image();
        cell.pixels().filter(|pixel| is_purple(pixel.0)).count()
    };
    let of =
        |picture: &image::RgbImage| [(310, 90), (720, 90), (310, 450), (720, 450)].map(|cell| purple(picture, cell));
    let (before, [first, second, third, last]) = (of(&none), of(&selected));
    assert!(before.iter().sum::<usize>() < 60, "{before:?}");
    assert!(last > 300 && first + second + third < 60, "{first} {second} {third} {last}");
    // In the first of them.
    session.drag((WIDTH * 6 / 16, HEIGHT / 4), (WIDTH * 5 / 16, HEIGHT / 4));
    session.rest();
    let turned = session.screenshot("change-6-turned");
    assert!(difference(&selected, &turned) > 0.05, "all turn");
    session.key("Home");
    // A click on a title goes there.
    session.click(WIDTH * 9 / 16, HEIGHT / 2 - 3);
    session.expect("time: 16/");
    let one = session.screenshot("change-7-one");
    assert!(difference(&four, &one) > 0.05);
}

/// Whether the starts of collections are points in time too: the moment that is shown stays.
#[test]
fn starts_of_collections_come_and_go_around_the_moment_that_is_shown() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    let environment = [("MEMORY_CITY_CONFIG", config.path()), ("MEMORY_CITY_CACHE", config.path())];
    let mut session = Session::start(&["open", "tests/data/anttracks/churn-parallel"], &environment);
    session.expect("time: 8/8");
    session.focus();
    session.point(WIDTH / 2, 20);
    for time in [7, 6, 5] {
        session.key("p");
        session.expect(&format!("time: {time}/8"));
    }
    let ends = session.screenshot("change-8-ends");
    // The end of the fifth collection is the tenth of starts and ends.
    for (expected, name) in [("time: 10/16", "change-9-starts-too"), ("time: 5/8", "change-9-ends-again")] {
        super::finding::look_for(&mut session, "Starts of collections too");
        session.key("Return");
        session.expect(expected);
        session.rest();
        session.screenshot(name);
    }
    let again = session.screenshot("change-9-again");
    assert!(difference(&ends, &again) < 0.02, "the same city");
}
