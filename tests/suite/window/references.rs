//! References in a real window: the values at both ends of the one under the mouse, and its other end.

use super::*;

/// A number as the trail and the labels write it.
fn number(text: &str) -> u64 {
    text.chars().filter(char::is_ascii_digit).collect::<String>().parse().expect("a number")
}

/// What stands at both ends: objects, and where.
fn ends(line: &str) -> Vec<(u64, (u32, u32))> {
    let told = line.split("ends: ").nth(1).expect("both ends");
    let end = |text: &str| {
        let (words, at) = text.split_once(" at ").unwrap_or_else(|| panic!("in sight: {line}"));
        let (x, y) = at.split_once(',').expect("a place");
        let objects = number(words.split('·').next().expect("objects"));
        (objects, (x.trim().parse().expect("a number"), y.trim().parse().expect("a number")))
    };
    told.split("; ").map(end).collect()
}

#[test]
fn a_reference_under_the_mouse_tells_its_values_at_both_ends() {
    if skipped() {
        return;
    }
    let (mut session, _config) = Session::of_sample("package>type");
    session.key("h");
    // What grows most, the first row: it is kept by one kind of building almost alone.
    session.click(120, 97);
    session.expect("selected: Heap#(primitive arrays)#byte[]");
    session.expect("cones: ");
    session.point(WIDTH / 2, 20);
    let plain = session.screenshot("90-cones");
    // The thick arc is where most purple is: its middle, and not its ends, which are buildings.
    let mut purple: Vec<(u32, u32)> = (70..HEIGHT - 140)
        .flat_map(|y| (320..WIDTH - 350).map(move |x| (x, y)))
        .filter(|&(x, y)| is_purple(plain.get_pixel(x, y).0))
        .filter(|&(x, y)| (1..5).all(|by| is_purple(plain.get_pixel(x, y + by).0)))
        .collect();
    purple.sort_unstable();
    assert!(purple.len() > 100, "arcs are seen");
    let middle = purple.len() / 2;
    let mut found = None;
    for at in (0..12).flat_map(|step| [middle + step * purple.len() / 25, middle - step * purple.len() / 25]) {
        let (x, y) = purple[at.min(purple.len() - 1)];
        if session.pointer == (x, y + 2) {
            continue;
        }
        let from = session.trail.len();
        session.point(x, y + 2);
        session.rest();
        let told = session.trail[from..].iter().find(|line| line.contains("reference: in, ")).cloned();
        if let Some(told) = told {
            found = Some(told);
            break;
        }
    }
    let told = found.expect("a reference under the mouse");
    let line = session.trail.iter().rev().find(|line| line.contains("ends: ")).expect("both ends").clone();
    let pointed = session.screenshot("91-ends");
    let both = ends(&line);
    // What the trail says of the reference is what stands at its ends.
    let (referring, referred) = told
        .split("reference: in, ")
        .nth(1)
        .and_then(|told| told.split_once(" objects refer to "))
        .expect("two numbers");
    assert_eq!(
        both.iter().map(|end| end.0).collect::<Vec<_>>(),
        [number(referring), number(referred)],
        "{told}; {line}"
    );
    // Names are put away, what is pointed at is told all the same.
    session.key("l");
    session.rest();
    let nameless = session.screenshot("92-ends-without-names");
    for (objects, (x, y)) in &both {
        // A plate with light letters, where there was none.
        let crop = |picture: &image::RgbImage| image::imageops::crop_imm(picture, x - 26, y - 7, 52, 14).to_image();
        let light = |picture: &image::RgbImage| {
            crop(picture).pixels().filter(|p| p.0.iter().all(|&c| c > 120) || p.0[2] > 200).count()
        };
        for pointed in [&pointed, &nameless] {
            let changed = crop(&plain).pixels().zip(crop(pointed).pixels()).filter(|(p, q)| p != q).count();
            assert!(changed > 300 && light(pointed) > 20, "{objects} at {x}, {y}: {changed}, {}", light(pointed));
        }
    }
    session.key("l");
    session.rest();
    // A click goes to the other end.
    let from = session.trail.len();
    session.click(session.pointer.0, session.pointer.1);
    session.rest();
    let selected = session.trail[from..].iter().rev().find(|line| line.contains("selected: Heap#"));
    assert!(selected.is_some_and(|line| !line.contains("#byte[]")), "{selected:?}");
}
