//! First contact: the window fits the screen and rests, drags and keys do what they should, and the city cannot get
//! lost.

use super::*;

/// Processor time that a program has taken, in hundredths of a second (all its threads).
fn processor_time(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a running program");
    // The name may have spaces: fields are counted after its bracket.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    [11, 12].iter().map(|&at| fields[at].parse::<u64>().expect("a number")).sum()
}

fn frames(line: &str) -> u64 {
    let count = line.split_once("at rest: ").map(|(_, rest)| rest);
    count.and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("no count: {line}"))
}

impl Session {
    /// Waits until it rests. Returns how many frames it has drawn.
    fn frames_at_rest(&mut self) -> u64 {
        self.rest();
        let line = self.trail.iter().rev().find(|line| line.contains("at rest: "));
        frames(line.expect("it rested"))
    }

    /// Lets it be for so many seconds. Returns how many frames it draws meanwhile.
    fn frames_within(&mut self, seconds: u64) -> usize {
        let from = self.trail.len();
        std::thread::sleep(Duration::from_secs(seconds));
        while let Ok(line) = self.lines.try_recv() {
            self.take(&line);
        }
        let is_frame = |line: &&String| ["drawn while resting: ", "awake: "].iter().any(|begin| line.contains(begin));
        self.trail[from..].iter().filter(is_frame).count()
    }

    /// Drags with a button, by positions alone. The mouse is let go at the end.
    pub(super) fn drag_with(&mut self, button: &str, from: (u32, u32), to: (u32, u32)) {
        if self.pointer != from {
            self.point(from.0, from.1);
            self.rest();
        }
        self.tool("xdotool", &["mousedown", button]);
        self.expect("button: ");
        for step in 1..=4 {
            let part = |from: u32, to: u32| (i64::from(from) + (i64::from(to) - i64::from(from)) * step / 4) as u32;
            self.point(part(from.0, to.0), part(from.1, to.1));
        }
        self.tool("xdotool", &["mouseup", button]);
        self.expect("button: ");
        self.rest();
    }
}

#[test]
fn at_rest_nothing_is_drawn_and_no_processor_is_used() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    moves(config.path());
    let sample = sample();
    let mut session = Session::start(&["open", &*sample], &[("MEMORY_CITY_CONFIG", config.path())]);
    session.expect("leak: ");
    session.focus();
    // Untouched; with the mouse over a building and its tooltip; with a selection, its cones, owners and the help over it all.
    for state in 0..3 {
        match state {
            0 => {}
            1 => drop(session.point(WIDTH / 2, HEIGHT / 2)),
            _ => {
                session.click(120, 97);
                session.expect("owners: ");
                session.key("F1");
            }
        }
        // Others may ask for a frame: the display when it shows again what was covered, a minute that has passed. Not twice.
        let still = (0..2).any(|_| {
            session.rest();
            // What was drawn last is still on its way to the screen.
            session.frames_within(1);
            let before = processor_time(session.window.0.id());
            let drawn = session.frames_within(10);
            let taken = processor_time(session.window.0.id()) - before;
            eprintln!("at rest ({state}): {:.1} % of a core, {drawn} frames", taken as f64 / 10.0);
            // Of a thousand hundredths: under 2 % of a core.
            assert!(taken < 20, "{taken} hundredths of a second in ten seconds at rest");
            drawn == 0
        });
        assert!(still, "frames are drawn while nothing moves ({state}):\n{}", session.trail.join("\n"));
        // And it is not dead: the next event is a frame again.
        session.tool("xdotool", &["mousemove", &(WIDTH / 2 + 9 + state).to_string(), "20"]);
        session.pointer = (WIDTH / 2 + 9 + state, 20);
        session.expect("awake: ");
    }
}

#[test]
fn drags_by_positions_turn_the_city_and_one_key_brings_it_back() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    moves(config.path());
    let sample = sample();
    let mut session = Session::start(&["open", &*sample], &[("MEMORY_CITY_CONFIG", config.path())]);
    session.expect("leak: ");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.key("h");
    let home = session.screenshot("30-home");
    // A plain drag turns the city: the picture is another one, of the city still, and nothing is selected by it.
    let from = session.trail.len();
    session.drag_with("1", (700, 450), (900, 450));
    session.point(WIDTH / 2, 20);
    let turned = session.screenshot("31-turned");
    assert!(difference(&home, &turned) > 0.1, "the city turned");
    assert!(!session.trail[from..].iter().any(|line| line.contains("selected: ")), "a drag is no click");
    // A processor that draws does so half as finely while it moves, in each direction, and in full at rest.
    let fine: Vec<&str> = session.trail[from..].iter().filter_map(|line| line.split("sharpness: ").nth(1)).collect();
    assert!(fine.contains(&"0.5") && fine.last() == Some(&"1"), "{fine:?}");
    let is_bright = |p: [u8; 3]| p.iter().any(|&c| c > 110);
    assert!(share(&turned, is_bright) > 0.5 * share(&home, is_bright), "the city is in sight");
    // The other way, it comes back.
    session.drag_with("1", (900, 450), (700, 450));
    session.drag_with("3", (700, 450), (700, 600));
    session.drag_with("2", (700, 450), (400, 300));
    session.key("F5");
    session.point(WIDTH / 2, 20);
    let back = session.screenshot("32-back");
    assert!(difference(&home, &back) < 0.01, "one key brings the city back");

    // Whatever was done, in any way of moving.
    for _ in 0..2 {
        session.key("6");
        session.drag_with("1", (700, 200), (760, 700));
        session.drag_with("1", (700, 200), (760, 700));
        session.tool("xdotool", &["click", "--repeat", "9", "4"]);
    }
    // Who looks around from where they stand may turn away from it, and is told how it comes back.
    let lost = |session: &Session| {
        let told = session.trail.iter().rev().find_map(|line| line.split("sight: ").nth(1));
        told == Some("none of the city")
    };
    for _ in 0..6 {
        if lost(&session) {
            break;
        }
        session.drag_with("1", (400, 450), (1000, 450));
        session.rest();
    }
    assert!(lost(&session), "turned away");
    session.point(WIDTH / 2, 20);
    let away = session.screenshot("33-away");
    let hint = image::imageops::crop_imm(&away, WIDTH / 2 - 300, HEIGHT / 2 - 120, 600, 240).to_image();
    let lit = hint.pixels().filter(|pixel| is_bright(pixel.0)).count();
    assert!(lit > 300, "words in the middle: {lit} pixels");
    session.key("r");
    session.point(WIDTH / 2, 21);
    let again = session.screenshot("33-again");
    assert!(difference(&home, &again) < 0.01, "and from anywhere");

    // A plan from above, and sides.
    session.key("5");
    let plan = session.screenshot("34-plan");
    assert!(difference(&home, &plan) > 0.1);
    session.key("2");
    let east = session.screenshot("35-east");
    assert!(difference(&plan, &east) > 0.1 && difference(&home, &east) > 0.05);
}

#[test]
fn keys_work_after_tab_and_after_buttons() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    let sample = sample();
    let mut session = Session::start(&["open", &*sample], &[("MEMORY_CITY_CONFIG", config.path())]);
    session.expect("leak: ");
    session.focus();
    // Tab hides the panels, and shows them; nothing of them has the keyboard then.
    for _ in 0..4 {
        session.key("Tab");
        session.rest();
    }
    session.key("Home");
    session.expect("time: 1/");
    session.key("n");
    session.expect("time: 2/");
    // The button for the next time; Space plays then, and does not press it again.
    session.click(143, HEIGHT - 77);
    session.expect("time: 3/");
    session.key("Tab");
    session.key("Tab");
    session.key("End");
    session.expect("time: 16/16");
    session.key("space");
    session.expect("time: 1/");
    session.key("space");
    session.rest();
}

/// The line of the trail that tells the size.
fn fits(session: &mut Session, size: (u32, u32)) {
    session.expect(&format!("window: {}x{} on {}x{}", size.0, size.1, size.0, size.1));
}

#[test]
fn the_window_fits_small_screens_and_comes_back_as_it_was_left() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    let sample = sample();
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    for size in [(1280, 720), (900, 600)] {
        let mut session = Session::start_on(size, &["open", &*sample], &environment);
        fits(&mut session, size);
        session.expect("leak: ");
        session.focus();
        session.point(size.0 / 2, 20);
        session.screenshot(&format!("40-{}x{}", size.0, size.1));
        // The time bar is in sight: a click into the middle of the chart goes to the middle of the series.
        session.click(size.0 / 2 + 60, size.1 - 40);
        let line = session.expect("time: ");
        let time: u32 = line.split("time: ").nth(1).and_then(|t| t.split('/').next()?.parse().ok()).expect("a time");
        assert!((4..=13).contains(&time), "{line}");
    }
    // The size a person gives it, and that of the text, are there in the next run.
    let mut session = Session::start_on((1280, 720), &["open", &*sample], &environment);
    session.expect("leak: ");
    session.focus();
    session.rest();
    session.tool("xdotool", &["search", "--name", "Memory City", "windowsize", "1000", "640"]);
    session.expect("awake: ");
    session.rest();
    let from = session.trail.len();
    session.chord("ctrl", "equal");
    assert!(session.trail[from..].iter().any(|line| line.contains("scale: 1.1")), "{:?}", &session.trail[from..]);
    session.rest();
    session.key("Tab");
    session.expect("panels: hidden");
    session.rest();
    // So are panels, hidden or not.
    let mut session = session.restart(&["open", &*sample], &environment);
    session.expect("window: 1000x640 on 1280x720");
    session.expect("scale: 1.1");
    session.expect("panels: hidden");
    session.expect("leak: ");
    session.screenshot("41-hidden");
    session.focus();
    session.key("Tab");
    session.expect("panels: shown");
    session.rest();
    let mut session = session.restart(&["open", &*sample], &environment);
    session.expect("panels: shown");
}

/// Frames that are drawn from one moment of rest to the next.
fn frames_for(session: &mut Session, key: &str) -> u64 {
    let before = session.frames_at_rest();
    session.key(key);
    session.frames_at_rest() - before
}

/// A step that moves for two seconds otherwise, by the settings of before or by the palette, is there at once.
#[test]
fn with_reduced_motion_a_step_is_there_at_once() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    let kept = serde_json::json!({ "reduced-motion": true, "step-seconds": 2.0 });
    std::fs::write(config.path().join("settings.json"), kept.to_string()).expect("written");
    let sample = sample();
    let mut session = Session::start(&["open", &*sample], &[("MEMORY_CITY_CONFIG", config.path())]);
    session.expect("leak: ");
    session.focus();
    session.point(WIDTH / 2, 20);
    // What is found behind frames shows that it is worked at: a busy machine does so for longer than a movement takes, and only once.
    let at_once = frames_for(&mut session, "p");
    let again = frames_for(&mut session, "n");
    let at_once = at_once.min(again).min(frames_for(&mut session, "p"));
    let still = session.screenshot("60-reduced");
    session.key("n");
    super::finding::look_for(&mut session, "Reduced motion");
    session.key("Return");
    session.expect("palette: closed");
    let moving = frames_for(&mut session, "p");
    let moved = session.screenshot("61-moved");
    // For more than half a second after any event panels may fade: that is in both.
    eprintln!("frames of a step: {at_once} with reduced motion, {moving} without");
    // On a machine that draws few of them, a movement of two seconds is some all the same.
    assert!(at_once + 8 <= moving, "{at_once}, {moving}");
    assert!(difference(&still, &moved) < 0.01, "both end at the same");
}

#[test]
fn text_is_twice_as_large_on_a_screen_of_2160_lines() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    let sample = sample();
    let mut session = Session::start_on((3840, 2160), &["open", &*sample], &[("MEMORY_CITY_CONFIG", config.path())]);
    session.expect("window: 3072x1728 on 3840x2160");
    session.expect("scale: 2");
    session.expect("leak: ");
    session.rest();
    session.screenshot("41-2160");
}

#[test]
fn one_dump_alone_is_a_city_with_names_and_ranks() {
    if skipped() {
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    let mut dumps: Vec<PathBuf> =
        std::fs::read_dir(sample()).expect("the sample").flatten().map(|entry| entry.path()).collect();
    dumps.sort();
    let last = dumps.iter().rev().find(|path| path.to_string_lossy().contains(".hprof")).expect("a dump");
    let mut session = Session::start(&["open", &*last.to_string_lossy()], &[("MEMORY_CITY_CONFIG", config.path())]);
    let verdict = session.expect("verdict: ");
    assert!(verdict.contains("is the largest group") && verdict.contains("One state"), "{verdict}");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.screenshot("50-one-dump");
    // The list ranks the largest: its first row can be chosen.
    session.click(120, 97);
    let line = session.expect("selected: Heap#");
    assert!(line.contains("byte[]"), "{line}");
}
