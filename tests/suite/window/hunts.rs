//! Leak hunts by a person's means alone: real keys and mouse in a real window, from what is first seen to a picture that is saved.

use super::*;
use memory_city_testing::jvm;

/// Saves what is shown as a picture, through the card that asks where.
fn saved_picture(session: &mut Session, path: &Path) -> image::RgbImage {
    session.chord("ctrl", "F12");
    assert!(session.trail.iter().rev().take(40).any(|line| line.contains("save: opened")), "Ctrl+F12 opens it");
    session.save_to(path);
    image::open(path).expect("the saved picture").to_rgb8()
}

fn is_red([r, g, b]: [u8; 3]) -> bool {
    r > 100 && u32::from(r) > 3 * u32::from(g.max(b))
}

pub(super) fn is_yellow([r, g, b]: [u8; 3]) -> bool {
    r > 140 && g > 110 && b < 90 && r.abs_diff(g) < 90
}

/// The middle of what is red in the city.
fn reddest(picture: &image::RgbImage) -> (u32, u32) {
    let mut found: Vec<(u32, u32)> = (60..HEIGHT - 130)
        .flat_map(|y| (320..WIDTH - 350).map(move |x| (x, y)))
        .filter(|&(x, y)| is_red(picture.get_pixel(x, y).0))
        .collect();
    assert!(found.len() > 400, "something is red");
    found.sort_unstable();
    let x = found[found.len() / 2].0;
    let mut column: Vec<u32> = found.iter().filter(|at| at.0 == x).map(|at| at.1).collect();
    column.sort_unstable();
    (x, column[column.len() / 2])
}

/// Follows owners with Enter up to the root. Returns what was selected on the way, and what the root is.
fn follow_owners(session: &mut Session) -> (Vec<String>, String) {
    let mut walked = Vec::new();
    loop {
        // What the key does is told before the key.
        session.tool("xdotool", &["key", "Return"]);
        let line = session.expect("owner: ");
        session.expect("key: Enter");
        session.rest();
        let told = line.split("owner: ").nth(1).unwrap_or_default().to_owned();
        if told.starts_with("here: ") {
            return (walked, told);
        }
        walked.push(told);
        assert!(walked.len() < 24, "{walked:?}");
    }
}

/// The way from the root over the roofs, and its picture. More of it is visible than `before`, by more than that share.
/// The saved picture has the same, without the card that asked.
fn saved_way(session: &mut Session, (before, by): (&image::RgbImage, f64), shot: &str, path: &Path) {
    session.key("u");
    let ways = session.expect("ways: ");
    session.point(WIDTH / 2, 21);
    let seen = session.screenshot(shot);
    assert!(share(&seen, is_yellow) > share(before, is_yellow) + by, "the way is seen: {ways}");
    let saved = saved_picture(session, path);
    assert_eq!(saved.dimensions(), (WIDTH, HEIGHT));
    assert!(difference(&saved, &seen) < 0.01, "what was seen is what is saved");
}

/// The hunt of figure 10: what is red is a symptom; from owner to owner it leads to the list that is never emptied.
fn hunt_of_figure_10(mut session: Session, folder: &Path) {
    session.expect("city: person-leak");
    session.expect("leak: ");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.key("h");
    // From the first time to the last one by itself: nothing is red before anything has grown.
    session.key("Home");
    session.expect("time: 1/");
    let of = if session.manager.is_some() { "framed-" } else { "" };
    let first = session.screenshot(&format!("{of}60-hunt-first"));
    assert!(share(&first, is_red) < 0.002, "nothing has grown");
    session.key("space");
    session.expect("time: 16/16");
    let grown = session.screenshot(&format!("{of}61-hunt-grown"));
    assert!(share(&grown, is_red) > 0.01, "what grows turned red");
    // A click on what is red.
    let (x, y) = reddest(&grown);
    session.point(x, y);
    let pointed = session.screenshot(&format!("{of}61-hunt-pointed"));
    let beside = |picture: &image::RgbImage| (1..7).all(|left| is_red(picture.get_pixel(x - left, y - 2).0));
    assert!(!beside(&grown) || beside(&pointed), "red stays red under the pointer");
    session.click(x, y);
    let symptom = session.expect("selected: Heap#");
    assert!(symptom.contains("byte[]"), "{symptom}");
    session.expect("owners: ");
    let (walked, root) = follow_owners(&mut session);
    let mut chain = walked.iter();
    for of in ["#String", "#Person", "#LinkedList$Node", "#LinkedList"] {
        assert!(chain.any(|key| key.ends_with(of)), "{of}: {walked:?}");
    }
    assert!(root.contains("Static field: register.store.PersonRegistry.PERSONS"), "{root}");
    // The path over the roofs, and the picture of it.
    let shot = format!("{of}62-hunt-path");
    saved_way(&mut session, (&grown, 0.0005), &shot, &folder.join("figure-10.png"));
}

/// In a desktop: the window has a frame, and stands where the window manager puts it. Without one where there is none.
#[test]
fn the_hunt_of_figure_10_ends_with_a_saved_picture() {
    let test = "the_hunt_of_figure_10_ends_with_a_saved_picture";
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let environment = [("MEMORY_CITY_CONFIG", folder.path())];
    let arguments = ["open", &*sample(), "--grouping", "package>type"];
    let framed = Session::start_framed(test, &arguments, &environment);
    let session = framed.unwrap_or_else(|| Session::start(&arguments, &environment));
    hunt_of_figure_10(session, folder.path());
}

/// Five dumps of an application on the H2 database that leaves more statements open from step to step.
fn dumps_of_h2(test: &str, folder: &Path) -> Option<PathBuf> {
    const H2: &str = "/usr/share/java/h2.jar";
    let Some(jdk) = jvm::jdk_from(17) else {
        jvm::skip(test, "there is no JDK 17 or newer (apt-get install default-jdk-headless)");
        return None;
    };
    if !Path::new(H2).is_file() {
        jvm::skip(test, &format!("{H2} is missing (apt-get install libh2-java)"));
        return None;
    }
    let classes = folder.join("classes");
    jdk.compile(&[&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/H2Load.java")], H2, &classes);
    let class_path = format!("{}:{H2}", classes.display());
    let mut shop = jvm::Program::start(&jdk, &["-Xmx128m", "-XX:+UseSerialGC"], &class_path, "H2Load");
    let dumps = folder.join("shop");
    std::fs::create_dir(&dumps).expect("a folder");
    for step in 0..5 {
        shop.ask("300 100");
        shop.dump(&dumps.join(format!("{step}.hprof")), &[]);
    }
    Some(dumps)
}

/// A real application, a database with a shop on it. The first sentence names the field that fills up, O flies there,
/// its owners end at the root, and the picture of the way is saved.
fn hunt_in_h2(session: &mut Session, folder: &Path) {
    let of = if session.manager.is_some() { "framed-" } else { "" };
    session.point(WIDTH / 2, 20);
    let first = session.screenshot(&format!("{of}67-h2"));
    assert!(share(&first, is_red) > 0.002, "what grows is red");
    session.key("o");
    session.expect("city: shop owner");
    let selected = session.expect("selected: Heap#");
    assert!(selected.contains("H2Load"), "{selected}");
    session.rest();
    let there = session.screenshot(&format!("{of}68-h2-owner"));
    assert!(difference(&first, &there) > 0.1, "the city of owners, from near");
    let (walked, root) = follow_owners(session);
    assert!(walked.last().is_some_and(|key| key.ends_with("class H2Load itself")), "{walked:?}: {root}");
    // Back to where it began: the first step back leaves the root.
    session.key("BackSpace");
    let mut back = String::new();
    for _ in &walked {
        session.key("BackSpace");
        back = session.expect("selected: ");
        session.rest();
    }
    assert!(selected.split("selected: ").nth(1).is_some_and(|key| back.ends_with(key)), "{back}: {selected}");
    saved_way(session, (&there, 0.0), &format!("{of}69-h2-path"), &folder.join("h2.png"));
}

/// In a desktop, with a window manager.
#[test]
fn the_hunt_in_h2_under_a_window_manager_ends_with_a_saved_picture() {
    let test = "the_hunt_in_h2_under_a_window_manager_ends_with_a_saved_picture";
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let Some(dumps) = dumps_of_h2(test, folder.path()) else { return };
    let environment = [("MEMORY_CITY_CONFIG", folder.path())];
    let arguments = ["open", &*dumps.to_string_lossy()];
    let Some(mut session) = Session::start_framed(test, &arguments, &environment) else { return };
    session.expect("city: shop");
    let leak = session.expect("leak: ");
    assert!(leak.contains("H2Load"), "{leak}");
    session.focus();
    hunt_in_h2(&mut session, folder.path());
}

/// A place in the middle of something red: all around it is red too.
fn within_red(picture: &image::RgbImage) -> (u32, u32) {
    let (near_x, near_y) = reddest(picture);
    let all_red = |&(x, y): &(u32, u32)| {
        (x - 6..=x + 6).step_by(3).all(|x| (y - 6..=y + 6).step_by(3).all(|y| is_red(picture.get_pixel(x, y).0)))
    };
    let places = (70..HEIGHT - 140).flat_map(|y| (330..WIDTH - 360).map(move |x| (x, y)));
    let far = |&(x, y): &(u32, u32)| x.abs_diff(near_x).pow(2) + y.abs_diff(near_y).pow(2);
    places.filter(all_red).min_by_key(far).expect("a red wall")
}

/// Where there is no window manager: first the mouse alone, on the red building, and again, which selects nothing.
#[test]
fn the_hunt_in_h2_without_a_window_manager_ends_with_a_saved_picture() {
    let test = "the_hunt_in_h2_without_a_window_manager_ends_with_a_saved_picture";
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let Some(dumps) = dumps_of_h2(test, folder.path()) else { return };
    let environment = [("MEMORY_CITY_CONFIG", folder.path())];
    let mut session = Session::start(&["open", &dumps.to_string_lossy()], &environment);
    session.expect("city: shop");
    session.expect("leak: ");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.key("h");
    let first = session.screenshot("67-h2-bare");
    let (x, y) = within_red(&first);
    let over = session.point(x, y);
    let key = over.split(" over ").nth(1).expect("something is there").to_owned();
    assert!(key.starts_with("Heap#"), "{over}");
    session.click(x, y);
    let selected = session.expect("selected: ");
    assert!(selected.ends_with(&key), "{selected}: {key}");
    session.expect("cones: ");
    session.point(WIDTH / 2, 21);
    let blue = session.screenshot("67-h2-clicked");
    assert!(is_blue(blue.get_pixel(x, y).0), "the building that was clicked: {:?}", blue.get_pixel(x, y));
    assert!(share(&blue, is_purple) > share(&first, is_purple), "what keeps it alive is seen");
    // Again: nothing is selected.
    session.click(x, y);
    session.expect("selected: nothing");
    session.point(WIDTH / 2, 22);
    let again = session.screenshot("67-h2-bare-again");
    assert!(difference(&first, &again) < 0.02, "as it was");
    // The card is back, and the hunt is the same.
    session.key("h");
    hunt_in_h2(&mut session, folder.path());
}

/// The legend is behind another tab: the picture that is saved has it all the same, and the window does not.
#[test]
fn a_saved_picture_says_what_its_colours_mean() {
    if skipped() {
        return;
    }
    let (mut session, folder) = Session::of_sample("type");
    // Shares of the pixels that differ: where the legend stands beside the city, and where it would stand over it.
    let differing = |a: &image::RgbImage, b: &image::RgbImage, left: u32| {
        let all = (left..left + 230).flat_map(|x| (HEIGHT - 310..HEIGHT - 110).map(move |y| (x, y)));
        let is_other = |&(x, y): &(u32, u32)| (0..3).any(|c| a.get_pixel(x, y)[c].abs_diff(b.get_pixel(x, y)[c]) > 24);
        all.filter(is_other).count() as f64 / (230.0 * 200.0)
    };
    let (beside_it, over_it) = (10, 310);
    let with = saved_picture(&mut session, &folder.path().join("with.png"));
    session.point(WIDTH / 2, 21);
    let beside = session.screenshot("59-legend-beside");
    assert!(differing(&with, &beside, over_it) < 0.01, "it is there already");
    // Marks stand where it stood.
    session.click(100, HEIGHT - 288);
    session.rest();
    session.point(WIDTH / 2, 22);
    let hidden = session.screenshot("59-legend-hidden");
    assert!(differing(&beside, &hidden, beside_it) > 0.03, "the legend is away");
    let saved = saved_picture(&mut session, &folder.path().join("without.png"));
    saved.save(session.folder.join("59-legend-saved.png")).expect("saved");
    assert!(differing(&saved, &hidden, over_it) > 0.15, "the picture has it");
    session.rest();
    session.point(WIDTH / 2, 23);
    let after = session.screenshot("59-legend-after");
    assert!(differing(&after, &hidden, over_it) < 0.01, "the window has not");
    // So has the one that a key saves, into the folder in which the program works.
    session.key("F12");
    let line = session.expect("saved: ");
    let path = Path::new(line.split("saved: ").nth(1).expect("a path"));
    assert_eq!(path.parent(), Some(folder.path()), "{line}");
    let by_key = image::open(path).expect("the saved picture").to_rgb8();
    by_key.save(session.folder.join("59-legend-by-key.png")).expect("saved");
    assert!(differing(&by_key, &hidden, over_it) > 0.15, "the picture of F12 has it");
}

/// A folder of real dumps that `make real` has taken.
fn real_dumps(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/real/dumps");
    let folder = std::env::var_os("MEMORY_CITY_REAL_DUMPS").map_or(root, PathBuf::from).join(name);
    if !folder.is_dir() {
        assert!(std::env::var_os("MEMORY_CITY_REQUIRE_REAL").is_none(), "no {}", folder.display());
        eprintln!("SKIPPED: no {}: `make real` takes the dumps", folder.display());
        return None;
    }
    Some(folder)
}

/// A Spark driver of a million objects: the first sentence names the list, O flies there, and the picture of the way there is saved.
#[test]
fn the_hunt_in_spark_ends_with_a_saved_picture() {
    let Some(dumps) = real_dumps("spark-leak").filter(|_| !skipped()) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let environment = [("MEMORY_CITY_CONFIG", folder.path())];
    let mut session = Session::start(&["open", &dumps.to_string_lossy()], &environment);
    session.expect("city: spark-leak");
    let leak = session.expect("leak: ");
    assert!(leak.ends_with("py4j.Gateway › java.util.concurrent.ConcurrentHashMap › java.util.ArrayList"), "{leak}");
    session.focus();
    session.point(WIDTH / 2, 20);
    let first = session.screenshot("63-spark");
    assert!(share(&first, is_red) > 0.005, "what grows is red");
    session.key("o");
    session.expect("city: spark-leak owner");
    let selected = session.expect("selected: Heap#");
    assert!(selected.contains("java.util.ArrayList"), "{selected}");
    session.rest();
    let there = session.screenshot("64-spark-owner");
    // A list that holds half of the growth is a district: its edges are lit.
    assert!(share(&there, is_blue) > share(&first, is_blue) + 0.0005, "the place is seen");
    assert!(difference(&first, &there) > 0.1, "the city of owners, from near");
    saved_way(&mut session, (&there, 0.0), "65-spark-path", &folder.path().join("spark.png"));
    // The whole city again, by one key.
    session.key("Escape");
    session.key("Escape");
    session.key("r");
    let whole = session.screenshot("66-spark-whole");
    assert!(difference(&whole, &there) > 0.05, "all of it is seen again");
}

/// In a desktop with a window manager: the window has a frame and the keyboard, the pointer stands where the window is.
#[test]
fn a_window_manager_frames_the_window_and_all_goes_on() {
    if skipped() {
        return;
    }
    if !manager_for("a_window_manager_frames_the_window_and_all_goes_on") {
        return;
    }
    let sample = sample();
    let config = tempfile::tempdir().expect("a folder");
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start_managed((1280, 720), &["open", &*sample], &environment);
    session.expect("leak: ");
    session.rest();
    // Nobody gives it the keyboard but the manager.
    session.tool("xdotool", &["key", "Home"]);
    session.expect("time: 1/");
    session.rest();
    session.tool("xdotool", &["mousemove", "640", "380"]);
    let line = session.expect("pointer: ");
    let at = line.split("pointer: ").nth(1).and_then(|rest| rest.split(" over").next()).expect("a place");
    let (x, y) = at.split_once(", ").expect("two numbers");
    let (x, y): (f32, f32) = (x.parse().expect("a number"), y.parse().expect("a number"));
    assert!(x <= 640.0 && y < 380.0 && y > 300.0, "the frame has a title: {line}");
    session.rest();
    // Over nothing that has a tooltip.
    let aside = |session: &mut Session, x: &str| {
        session.tool("xdotool", &["mousemove", x, "40"]);
        session.expect("pointer: ");
        session.rest();
    };
    aside(&mut session, "500");
    let before = session.shown("70-managed");
    session.tool("xdotool", &["mousemove", "640", "380"]);
    session.expect("pointer: ");
    session.rest();
    session.tool("xdotool", &["mousedown", "1"]);
    session.expect("button: Left Pressed");
    for step in 1..=5 {
        session.tool("xdotool", &["mousemove", &(640 + 40 * step).to_string(), "380"]);
        session.expect("pointer: ");
    }
    session.tool("xdotool", &["mouseup", "1"]);
    session.expect("button: Left Released");
    aside(&mut session, "501");
    let turned = session.shown("71-managed-turned");
    let off = |a: &image::RgbImage, b: &image::RgbImage| {
        let differs = |(p, q): &(&image::Rgb<u8>, &image::Rgb<u8>)| (0..3).any(|c| p[c].abs_diff(q[c]) > 24);
        a.pixels().zip(b.pixels()).filter(differs).count() as f64 / a.pixels().len() as f64
    };
    assert!(off(&before, &turned) > 0.03, "a drag by positions turns the city");
    session.tool("xdotool", &["key", "F5"]);
    session.expect("key: F5");
    session.rest();
    let back = session.shown("72-managed-back");
    assert!(off(&before, &back) < 0.01, "one key brings it back");
    // The time bar is in sight: all of the window is on the screen.
    session.tool("xdotool", &["key", "End"]);
    session.expect("time: 16/16");
    session.rest();
}
