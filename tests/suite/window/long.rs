//! Thousands of points in time: the time bar, steps, ranges and play over and over, and what that takes.

use super::*;

/// Collections of the trace.
const COLLECTIONS: u32 = 3000;

/// A small program with thousands of collections.
fn long_trace(folder: &Path) {
    let spec = Spec {
        pointers: false,
        answers: false,
        live_objects: 600,
        allocations_per_gc: 150,
        full_gc_every: 60,
        gcs: COLLECTIONS,
        ..Spec::default()
    };
    let mut out = std::io::BufWriter::new(std::fs::File::create(folder.join("trace")).expect("a file"));
    let generated = generate(&spec, &mut out).expect("written");
    std::fs::write(folder.join("symbols"), generated.symbols).expect("written");
}

/// Memory of a program that is not of files, bytes.
fn own_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a running program");
    let kb = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("RssAnon");
    kb.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// The shown time and how many there are, of a line of the trail.
fn shown_time(line: &str) -> Option<(usize, usize)> {
    let (time, times) = line.split_once("time: ")?.1.split_once('/')?;
    Some((time.trim().parse().ok()?, times.trim().parse().ok()?))
}

impl Session {
    /// The time that was shown last.
    fn time(&self) -> (usize, usize) {
        self.trail.iter().rev().find_map(|line| shown_time(line)).expect("a time is shown")
    }

    /// Times that were shown since a place in the trail.
    fn times_since(&self, from: usize) -> Vec<usize> {
        self.trail[from..].iter().filter_map(|line| Some(shown_time(line)?.0)).collect()
    }
}

#[test]
fn thousands_of_times_are_stepped_through_at_once_and_played_in_part() {
    if skipped() {
        return;
    }
    let (config, folder) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    long_trace(folder.path());
    let path = folder.path().to_string_lossy().into_owned();
    let environment = [("MEMORY_CITY_CONFIG", config.path()), ("MEMORY_CITY_CACHE", config.path())];
    let mut session = Session::start(&["open", &*path], &environment);
    // All of it is read: parts of the run may have come before.
    while session.trail.iter().rev().find_map(|line| shown_time(line)).is_none_or(|(_, all)| all < 3000) {
        session.expect("time: ");
    }
    session.focus();
    session.point(WIDTH / 2, 20);
    session.rest();
    let (last, times) = session.time();
    assert_eq!(last, times, "it opens at the last time");
    assert!(times >= COLLECTIONS as usize, "{times} times");

    // A key and its time belong to one frame: nothing is read, grouped or laid out between them.
    let from = session.trail.len();
    session.key("Left");
    session.expect(&format!("time: {}/{times}", last - 1));
    let key = session.trail[from..].iter().position(|line| line.contains("key: ")).expect("a key");
    assert!(shown_time(&session.trail[from + key + 1]).is_some(), "{:?}", &session.trail[from..]);
    session.rest();
    // Many keys, none of which is lost.
    let (from, before) = (session.trail.len(), own_memory(session.window.0.id()));
    for _ in 0..8 {
        session.tool("xdotool", &["key", "--repeat", "50", "--delay", "4", "Left"]);
    }
    session.expect(&format!("time: {}/{times}", last - 401));
    session.tool("xdotool", &["key", "Home"]);
    session.expect(&format!("time: 1/{times}"));
    session.tool("xdotool", &["key", "End"]);
    session.expect(&format!("time: {last}/{times}"));
    session.rest();
    assert!(!session.trail[from..].iter().any(|line| line.contains("city: ")), "the city stays");
    // 48 states of a few hundred buildings, 8 bytes each, are nothing beside this.
    let grown = own_memory(session.window.0.id()).saturating_sub(before);
    assert!(grown < 48 << 20, "{} MB for four hundred steps", grown >> 20);

    session.screenshot("90-thousands-of-times");

    // A few times of thousands, chosen with Shift; they are played over and over, and no others.
    let (left, y) = (700, HEIGHT - 45);
    session.point(left, y);
    session.rest();
    session.tool("xdotool", &["keydown", "shift"]);
    session.expect("key: ");
    session.tool("xdotool", &["mousedown", "1"]);
    session.expect("button: Left Pressed");
    session.point(left + 60, y);
    session.point(left + 3, y);
    session.tool("xdotool", &["mouseup", "1"]);
    session.expect("button: Left Released");
    session.tool("xdotool", &["keyup", "shift"]);
    session.rest();
    let chosen = session.trail.iter().rev().find_map(|line| line.split_once("window of time: ")).expect("a range").1;
    let (first, end) = chosen.trim().split_once(" to ").expect("from and to");
    let (first, end) = (first.to_owned(), end.to_owned());
    let range = first.parse::<usize>().expect("a time")..=end.parse::<usize>().expect("a time");
    assert!((2..40).contains(&range.clone().count()), "{range:?}");
    session.screenshot("91-a-range-of-thousands");
    let from = session.trail.len();
    session.key("j");
    session.key("space");
    // To its end and to its beginning again.
    session.expect(&format!("time: {end}/{times}"));
    session.expect(&format!("time: {first}/{times}"));
    session.key("space");
    session.rest();
    let played = session.times_since(from);
    assert!(played.len() >= 2 && played.iter().all(|time| range.contains(time)), "{played:?} of {range:?}");
}
