//! A real window on a virtual display, driven with real key and mouse events. The trail in the log says what the
//! program believes; the screenshots say what a person sees. Both must agree.
//!
//! No test depends on the speed of the machine. After each input the trail reports that it has come, and later that all
//! is at rest. Waiting ends after minutes, for events that never come.
//!
//! Needs Xvfb, xdotool and ImageMagick's `import`; says so and fails when they are missing, unless
//! `MEMORY_CITY_SKIP_WINDOW_TEST` is set. Screenshots are kept in `target/window-test/`.
#![cfg(feature = "viewer")]

use memory_city_testing::anttracks::{Spec, generate};
use memory_city_testing::display::{Display, Running, lines_of};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, EventMask};

mod anything;
mod calm;
mod change;
mod comparison;
mod editor;
mod finding;
mod hunts;
mod inspector;
mod long;
mod opening;
mod places;
#[cfg(target_os = "linux")]
mod recording;
mod references;
mod saving;
mod views;

const WIDTH: u32 = 1440;
const HEIGHT: u32 = 900;
/// Longest wait for an event; a later one never comes.
const PATIENCE: Duration = Duration::from_secs(240);

/// The window, and the trail it leaves.
struct Session {
    display: String,
    lines: Receiver<String>,
    trail: Vec<String>,
    /// Whether nothing moves any more, by the last line that says anything about it.
    rests: bool,
    /// Where the mouse is, in the window.
    pointer: (u32, u32),
    /// Where the contents of the window begin on the screen: a window manager puts a frame around them.
    corner: (u32, u32),
    folder: PathBuf,
    window: Running,
    manager: Option<Running>,
    server: Running,
}

/// The folder of the sample's dumps.
fn sample() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak").to_string_lossy().into_owned()
}

/// Whether there shall be no window tests.
fn skipped() -> bool {
    let skipped = std::env::var_os("MEMORY_CITY_SKIP_WINDOW_TEST").is_some();
    if skipped {
        eprintln!("SKIPPED: MEMORY_CITY_SKIP_WINDOW_TEST is set");
    }
    skipped
}

/// Has what is shown move, as it does for people, in a window with this folder of settings.
fn moves(config: &Path) {
    std::fs::write(config.join("settings.json"), "{}").expect("written");
}

/// Whether there is a window manager. Where `make test` has installed one, a test that would do without fails.
fn manager_for(test: &str) -> bool {
    let there = Command::new("openbox").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        memory_city_testing::jvm::skip(test, "there is no openbox (apt-get install openbox)");
    }
    there
}

/// Environment of the program; `PWD` is its working folder.
type Environment<'a> = [(&'a str, &'a Path)];

impl Session {
    /// Starts the program on a display of its own.
    fn start(arguments: &[&str], environment: &Environment) -> Session {
        Session::start_on((WIDTH, HEIGHT), arguments, environment)
    }

    /// The same on a display of any size, pixels.
    fn start_on(size: (u32, u32), arguments: &[&str], environment: &Environment) -> Session {
        Session::start_with(size, false, arguments, environment)
    }

    /// The same with a window manager.
    fn start_managed(size: (u32, u32), arguments: &[&str], environment: &Environment) -> Session {
        Session::start_with(size, true, arguments, environment)
    }

    /// The same with a window manager, on a screen that has room for a frame around a window of the usual size. `None` where there is
    /// no window manager.
    fn start_framed(test: &str, arguments: &[&str], environment: &Environment) -> Option<Session> {
        manager_for(test).then(|| Session::start_managed((WIDTH + 80, HEIGHT + 60), arguments, environment))
    }

    fn start_with(
        (width, height): (u32, u32),
        managed: bool,
        arguments: &[&str],
        environment: &Environment,
    ) -> Session {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../window-test");
        std::fs::create_dir_all(&folder).expect("a folder for screenshots");
        let Display { name: display, server } = Display::start((width, height));
        let manager = managed.then(|| {
            let mut openbox = Command::new("openbox");
            let started = openbox.env("DISPLAY", &display).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            // The first thing that it does is to say that it is there.
            let wait = ["search", "--sync", "--onlyvisible", "--maxdepth", "1", "."];
            let _ = Command::new("timeout").arg("2").arg("xdotool").args(wait).env("DISPLAY", &display).output();
            Running(started.expect("openbox"))
        });
        let (window, lines) = Session::launch(arguments, &display, environment);
        let (trail, rests, pointer, corner) = (Vec::new(), false, (0, 0), (0, 0));
        Session { display, lines, trail, rests, pointer, corner, folder, window, manager, server }
    }

    /// A window with the sample, its leak shown, and the keyboard. And the folder of its settings, which is also its
    /// working folder and must outlive it.
    fn of_sample(grouping: &str) -> (Session, tempfile::TempDir) {
        let (sample, config) = (sample(), tempfile::tempdir().expect("a folder"));
        let environment = [("MEMORY_CITY_CONFIG", config.path()), ("PWD", config.path())];
        let mut session = Session::start(&["open", &*sample, "--grouping", grouping], &environment);
        session.expect("city: person-leak");
        session.expect("leak: ");
        session.focus();
        session.point(WIDTH / 2, 20);
        (session, config)
    }

    /// Ends the program and starts it again on the same display.
    fn restart(self, arguments: &[&str], environment: &Environment) -> Session {
        let Session { display, trail, pointer, corner, folder, window, manager, server, .. } = self;
        drop(window);
        let (window, lines) = Session::launch(arguments, &display, environment);
        Session { display, lines, trail, rests: false, pointer, corner, folder, window, manager, server }
    }

    /// Movements are for people: a test that is not about them takes every step at once ([`moves`]).
    fn launch(arguments: &[&str], display: &str, environment: &Environment) -> (Running, Receiver<String>) {
        for (_, config) in environment.iter().filter(|(name, _)| *name == "MEMORY_CITY_CONFIG") {
            let settings = config.join("settings.json");
            if !settings.exists() {
                std::fs::create_dir_all(config).expect("a folder");
                std::fs::write(settings, r#"{ "reduced-motion": true }"#).expect("written");
            }
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_memory-city"))
            .args(arguments)
            .env("DISPLAY", display)
            .envs(environment.iter().copied())
            .current_dir(environment.iter().find(|(name, _)| *name == "PWD").map_or(Path::new("."), |(_, path)| path))
            .env_remove("WAYLAND_DISPLAY")
            .env("RUST_LOG", "memory_city=debug,wgpu_hal=off")
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program");
        let stderr = child.stderr.take().expect("its log");
        let lines = lines_of(stderr);
        (Running(child), lines)
    }

    /// Takes a line of the trail.
    fn take(&mut self, line: &str) {
        if line.contains("at rest: ") {
            self.rests = true;
        } else if ["awake: ", "key: ", "button: ", "pointer: "].iter().any(|begin| line.contains(begin)) {
            self.rests = false;
        }
        self.trail.push(line.to_owned());
    }

    /// Waits for a line that contains `text`; lines before it are passed over.
    fn expect(&mut self, text: &str) -> String {
        let started = Instant::now();
        loop {
            match self.lines.recv_timeout(Duration::from_millis(200)) {
                Ok(line) => {
                    self.take(&line);
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(_) => {
                    let ended = self.window.0.try_wait().ok().flatten();
                    assert!(ended.is_none(), "the program ended ({ended:?}); trail:\n{}", self.trail.join("\n"));
                }
            }
            assert!(started.elapsed() < PATIENCE, "never `{text}`; trail:\n{}", self.trail.join("\n"));
        }
    }

    /// Waits until nothing moves: all that was asked for is done, and on screen. Returns the trail until then.
    fn rest(&mut self) -> Vec<String> {
        let from = self.trail.len();
        // What has come while nobody waited.
        while let Ok(line) = self.lines.try_recv() {
            self.take(&line);
        }
        if !self.rests {
            self.expect("at rest: ");
        }
        self.trail[from..].to_vec()
    }

    /// As [`Session::rest`], for so long at most: what plays over and over never rests. Whether it does.
    fn rests_within(&mut self, most: Duration) -> bool {
        let started = Instant::now();
        while !self.rests && started.elapsed() < most {
            if let Ok(line) = self.lines.recv_timeout(Duration::from_millis(100)) {
                self.take(&line);
            }
        }
        self.rests
    }

    fn tool(&self, program: &str, arguments: &[&str]) {
        let status = Command::new(program)
            .args(arguments)
            .env("DISPLAY", &self.display)
            .status()
            .unwrap_or_else(|e| panic!("{program}: {e} (apt-get install xdotool imagemagick)"));
        assert!(status.success(), "{program} {arguments:?}");
    }

    /// Presses a key; the program has it when this returns.
    fn key(&mut self, name: &str) {
        self.tool("xdotool", &["key", name]);
        self.expect("key: ");
    }

    /// Types a text; the program has all of it when this returns.
    fn type_text(&mut self, text: &str) {
        let from = self.trail.len();
        self.tool("xdotool", &["type", "--delay", "40", text]);
        // Letters and digits: how others are typed depends on the layout.
        let plain = || text.chars().filter(char::is_ascii_alphanumeric);
        let came = |trail: &[String]| {
            let is_plain = |line: &&String| line.contains("key: Key") || line.contains("key: Digit");
            trail[from..].iter().filter(is_plain).count()
        };
        while came(&self.trail) < plain().count() {
            self.expect("key: ");
        }
    }

    /// Moves the mouse. Returns what the trail says is there.
    fn point(&mut self, x: u32, y: u32) -> String {
        assert_ne!(self.pointer, (x, y), "it is there already: nothing would tell that it has come");
        self.pointer = (x, y);
        let [on_screen_x, on_screen_y] = [x + self.corner.0, y + self.corner.1].map(|at| at.to_string());
        self.tool("xdotool", &["mousemove", &on_screen_x, &on_screen_y]);
        self.expect(&format!("pointer: {x}, {y} "))
    }

    fn click(&mut self, x: u32, y: u32) {
        if self.pointer != (x, y) {
            self.point(x, y);
            // Panels know where the mouse is one frame later.
            self.rest();
        }
        self.tool("xdotool", &["click", "1"]);
        self.expect("button: Left Released");
    }

    /// Types the name of a file into the card that saves, over what stands there, and waits until it is written.
    fn save_to(&mut self, path: &Path) {
        self.chord("ctrl", "a");
        self.type_text(&path.to_string_lossy());
        self.rest();
        self.key("Return");
        self.expect("saved: ");
        self.rest();
    }

    /// Presses a key while another one is held.
    fn chord(&mut self, held: &str, name: &str) {
        self.tool("xdotool", &["keydown", held]);
        self.expect("key: ");
        self.key(name);
        self.tool("xdotool", &["keyup", held]);
        // As long as a key is held, the window is awake.
        self.rest();
    }

    /// Takes hold of something with the mouse, and lets it go elsewhere.
    fn drag(&mut self, from: (u32, u32), to: (u32, u32)) {
        self.point(from.0, from.1);
        self.rest();
        self.tool("xdotool", &["mousedown", "1"]);
        self.expect("button: Left Pressed");
        self.point((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        self.point(to.0 + 1, to.1);
        self.point(to.0, to.1);
        self.tool("xdotool", &["mouseup", "1"]);
        self.expect("button: Left Released");
    }

    /// What is on screen when nothing moves any more.
    fn screenshot(&mut self, name: &str) -> image::RgbImage {
        self.rest();
        self.shown(name)
    }

    /// What is on screen; of a window with a frame, what is in it.
    fn shown(&self, name: &str) -> image::RgbImage {
        let path = self.folder.join(format!("{name}.png"));
        self.tool("import", &["-window", "root", &path.to_string_lossy()]);
        let picture = image::open(&path).expect("a screenshot").to_rgb8();
        match self.corner {
            (0, 0) => picture,
            (x, y) => image::imageops::crop_imm(&picture, x, y, WIDTH, HEIGHT).to_image(),
        }
    }

    /// The keyboard is the window's: where there is no window manager to say so. Where there is one, it is asked where it has put the
    /// window.
    fn focus(&mut self) {
        if self.manager.is_none() {
            self.tool("xdotool", &["search", "--sync", "--name", "Memory City", "windowfocus"]);
            return;
        }
        let mut search = Command::new("xdotool");
        let found = search.args(["search", "--sync", "--name", "Memory City"]).env("DISPLAY", &self.display).output();
        let found = String::from_utf8(found.expect("xdotool").stdout).expect("numbers");
        let window = found.split_whitespace().last().and_then(|id| id.parse().ok()).expect("the window");
        let (display, screen) = x11rb::connect(Some(&self.display)).expect("the display");
        let root = display.setup().roots[screen].root;
        let at = display.translate_coordinates(window, root, 0, 0).expect("asked").reply().expect("an answer");
        let inside = display.get_geometry(window).expect("asked").reply().expect("an answer");
        assert_eq!((u32::from(inside.width), u32::from(inside.height)), (WIDTH, HEIGHT), "all of it is on the screen");
        self.corner = (at.dst_x as u32, at.dst_y as u32);
        assert!(self.corner.1 > 5, "the frame has a title: {:?}", self.corner);
    }

    /// Closes the window, as window managers do when they are asked to.
    fn close(&self) {
        let (display, screen) = x11rb::connect(Some(&self.display)).expect("the display");
        let root = display.setup().roots[screen].root;
        let atom =
            |name: &str| display.intern_atom(false, name.as_bytes()).expect("asked").reply().expect("an answer").atom;
        let tree = display.query_tree(root).expect("asked").reply().expect("an answer");
        for window in tree.children {
            let closes =
                ClientMessageEvent::new(32, window, atom("WM_PROTOCOLS"), [atom("WM_DELETE_WINDOW"), 0, 0, 0, 0]);
            display.send_event(false, window, EventMask::NO_EVENT, closes).expect("sent");
        }
        // An answer: what came before has arrived. Who hangs up before that may not be heard.
        display.get_input_focus().expect("asked").reply().expect("an answer");
    }

    /// Waits until the program has ended.
    fn ended(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.window.0.try_wait().expect("it can be asked") {
                return status.code();
            }
            if started.elapsed() >= PATIENCE {
                self.trail.extend(self.lines.try_iter());
                panic!("it goes on; trail:\n{}", self.trail.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Share of the pixels between the side panels that differ clearly.
fn difference(a: &image::RgbImage, b: &image::RgbImage) -> f64 {
    let (mut differing, mut all) = (0u64, 0u64);
    for y in 0..HEIGHT - 130 {
        for x in 320..WIDTH - 350 {
            let (p, q) = (a.get_pixel(x, y), b.get_pixel(x, y));
            all += 1;
            differing += u64::from((0..3).any(|c| p[c].abs_diff(q[c]) > 24));
        }
    }
    differing as f64 / all as f64
}

/// Share of the pixels between the side panels that satisfy `test`.
fn share(picture: &image::RgbImage, test: impl Fn([u8; 3]) -> bool) -> f64 {
    let (mut hits, mut all) = (0u64, 0u64);
    for y in 0..HEIGHT - 130 {
        for x in 320..WIDTH - 350 {
            all += 1;
            hits += u64::from(test(picture.get_pixel(x, y).0));
        }
    }
    hits as f64 / all as f64
}

fn is_purple([r, g, b]: [u8; 3]) -> bool {
    b > 90 && r > 70 && i32::from(b) - i32::from(g) > 60 && i32::from(r) - i32::from(g) > 25
}

fn is_blue([r, g, b]: [u8; 3]) -> bool {
    b > 130 && i32::from(b) - i32::from(r) > 90 && g > 40
}

#[test]
fn a_window_steps_hovers_selects_and_shows_cones() {
    if skipped() {
        return;
    }
    let sample = sample();
    let config = tempfile::tempdir().expect("a folder");
    moves(config.path());
    let arguments = ["open", &*sample];
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start(&arguments, &environment);
    session.expect("city: person-leak");
    // What leaks is the first thing to be seen, without being asked for; H puts it away. Known again from the cache, it is there at
    // once.
    session.expect("leak: ");
    session.focus();
    session.point(WIDTH / 2, 20);
    let told = session.screenshot("0-leak");
    session.key("h");
    let at_end = session.screenshot("1-last");
    assert!(difference(&told, &at_end) > 0.02, "the card that says what leaks is seen, and goes");
    assert!(share(&at_end, |p| p.iter().any(|&c| c > 40)) > 0.5, "the picture is black");

    // Stepping: keys change the time and the picture; the last step brings the first picture back.
    session.key("Home");
    session.expect("time: 1/");
    let at_start = session.screenshot("2-first");
    assert!(difference(&at_start, &at_end) > 0.005, "stepping to the first state changes the picture");
    session.key("n");
    session.expect("time: 2/");
    session.key("Right");
    session.expect("time: 3/");
    session.key("p");
    session.expect("time: 2/");
    session.key("End");
    let time = session.expect("time: ");
    let again = session.screenshot("3-last-again");
    assert!(difference(&again, &at_end) < 0.002, "the same state is the same picture ({time})");

    // Hovering: somewhere in the middle there is a building with a tooltip.
    let mut hovered = None;
    'search: for y in (250..650).step_by(35) {
        for x in (450..950).step_by(45) {
            let line = session.point(x, y);
            // A type in a package: a building, not a district.
            if line.contains(" over Heap#") && line.matches('#').count() >= 2 {
                hovered = Some((x, y, line));
                break 'search;
            }
        }
    }
    let (x, y, line) = hovered.expect("a building under the mouse");
    let tooltip = session.screenshot("4-hover");
    assert!(difference(&tooltip, &again) > 0.003, "the tooltip is seen: {line}");

    // Selecting by a click: blue, and it stays selected while time moves.
    session.click(x, y);
    session.expect("selected: Heap#");
    session.expect("cones: ");
    session.point(WIDTH / 2, 20);
    let selected = session.screenshot("5-selected");
    assert!(share(&selected, is_blue) > share(&again, is_blue), "the selected building is blue");
    session.key("p");
    session.expect("time: ");
    assert!(!session.rest().iter().any(|l| l.contains("selected: ")), "the selection survives a step");
    session.key("Escape");
    session.expect("selected: nothing");
    session.key("End");
    session.expect("time: ");

    // The list: its first row is what grows most; its cones are purple.
    session.click(120, 97);
    session.expect("selected: Heap#");
    session.expect("cones: ");
    session.point(WIDTH / 2, 20);
    let cones = session.screenshot("6-cones");
    assert!(share(&cones, is_purple) > share(&again, is_purple) + 0.001, "purple cones are seen");
    session.key("x");
    let without = session.screenshot("7-no-cones");
    assert!(share(&without, is_purple) < share(&cones, is_purple), "cones go away");

    // Views: from above the picture is another one, and R brings the first view back.
    session.key("Escape");
    session.key("b");
    let above = session.screenshot("8-above");
    assert!(difference(&above, &again) > 0.1, "the bird's-eye view differs");
    session.key("r");
    let home = session.screenshot("9-home");
    assert!(difference(&home, &again) < 0.03, "R brings the first view back");

    // The cheat sheet opens and closes.
    session.key("F1");
    let help = session.screenshot("10-help");
    assert!(difference(&help, &home) > 0.05, "the cheat sheet is seen");
    session.key("Escape");

    // The table, in front of the city: a click on a row selects, keys move and open, a filter leaves what it says.
    // A closed tab is an arrangement, which is kept; a tab in front is none.
    session.click(870, 50);
    session.expect("layout kept");
    session.click(369, 50);
    session.expect("table: ");
    session.click(420, 160);
    session.expect("selected: Heap#");
    session.key("Home");
    session.expect("selected: Heap");
    session.key("Down");
    session.expect("selected: Heap#");
    session.key("Right");
    session.expect("table: ");
    assert!(!session.rest().iter().any(|l| l.contains("time: ")), "the table's keys are its own");
    session.tool("xdotool", &["keydown", "shift"]);
    session.expect("key: Shift");
    session.key("Down");
    session.expect(", Heap#");
    session.key("Down");
    session.expect(", Heap#");
    session.tool("xdotool", &["keyup", "shift"]);
    let table = session.screenshot("11-table");
    assert!(difference(&table, &home) > 0.2, "the table is seen");
    session.click(500, 79);
    session.tool("xdotool", &["type", "--delay", "30", "bytes > 300kB and growth > 20%"]);
    session.expect(", 10 match");
    session.key("Escape");

    // At rest no frames are drawn: those before the next input are counted when it comes.
    session.point(WIDTH / 2, 20);
    session.rest();
    let frames = |line: &str| -> u64 {
        let count = line.split_once("at rest: ").or(line.split_once("awake: ")).map(|(_, rest)| rest);
        count.and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("no count: {line}"))
    };
    let before = session.trail.iter().rev().find(|line| line.contains("at rest: ")).map(|line| frames(line));
    std::thread::sleep(Duration::from_secs(10));
    session.tool("xdotool", &["mousemove", &(WIDTH / 2 + 9).to_string(), "20"]);
    let drawn = frames(&session.expect("awake: ")) - before.expect("it rested");
    assert!(drawn <= 3, "{drawn} frames are drawn in ten seconds at rest");

    // The layout is there again in the next run, with the city in front: what was found stands over it.
    let mut session = session.restart(&arguments, &environment);
    session.expect("layout restored");
    session.expect("city: person-leak");
    let restored = session.screenshot("12-restored");
    assert!(difference(&restored, &table) > 0.2, "the table is behind the city");
    session.click(369, 50);
    session.expect("table: ");
}

/// The places that a line of the trail names: `... name 12,34; other 56,78]`, or without names.
fn places(line: &str, list: &str) -> Vec<(String, (u32, u32))> {
    let start = line.find(list).unwrap_or_else(|| panic!("{list}: {line}")) + list.len();
    let end = start + line[start..].find(']').expect("an end");
    let place = |text: &str| {
        let (name, at) = text.trim().rsplit_once(' ').unwrap_or(("", text.trim()));
        let (x, y) = at.split_once(',')?;
        Some((name.to_owned(), (x.parse().ok()?, y.parse().ok()?)))
    };
    let separator = if line[start..end].contains("; ") { ';' } else { ' ' };
    let all = &line[start..end];
    // One name and its place is a single entry.
    match all.split(' ').count() == 2 && !all.starts_with(|c: char| c.is_ascii_digit()) {
        true => place(all).into_iter().collect(),
        false => all.split(separator).filter_map(place).collect(),
    }
}

/// A grouping is put together by drag and drop, grouped by, saved, and used: in the window, after a restart, and on the
/// command line.
#[test]
fn a_grouping_is_built_by_drag_and_drop_saved_and_used() {
    if skipped() {
        return;
    }
    let sample = sample();
    let config = tempfile::tempdir().expect("a folder");
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start(&["open", &*sample, "--grouping", "type"], &environment);
    session.expect("city: person-leak type ");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.rest();
    session.chord("ctrl", "g");
    let tasks = session.screenshot("20-editor-tasks");
    // The second page: levels, beside all there is.
    session.click(440, 175);
    let line = session.expect("levels: type at [");
    let level = places(&line, "levels: type at [")[0].1;
    let loader = places(&line, "parts at [").into_iter().find(|(id, _)| id == "package").expect("it is listed").1;
    let levels = session.screenshot("21-editor-levels");
    assert!(difference(&tasks, &levels) > 0.05, "another page is seen");
    // Dragged below what is there, and then before it.
    session.drag(loader, (level.0, level.1 + 160));
    session.expect("levels: type>package at [");
    let line = session.expect("levels: type>package at [");
    let rows = places(&line, "levels: type>package at [");
    session.drag(rows[1].1, (rows[0].1.0, rows[0].1.1 - 12));
    session.expect("levels: package>type at [");
    session.drag(loader, (level.0, level.1 - 12));
    session.expect("levels: package>package>type at [");
    session.rest();
    // The last one was too much: the row has the keyboard when it is clicked.
    session.click(level.0, level.1);
    session.key("Delete");
    session.expect("levels: package>type at [");
    // The same as text: typed, completed by Tab, grouped by with Enter.
    session.click(640, 696);
    session.chord("ctrl", "a");
    session.type_text("kind>typ");
    session.rest();
    session.key("Tab");
    session.rest();
    session.key("Return");
    session.expect("city: person-leak kind-type ");
    session.rest();
    session.chord("ctrl", "s");
    session.type_text("Kinds first");
    session.rest();
    session.key("Return");
    session.expect("grouping saved: kinds-first kind>type");
    let line = session.expect("saved groupings at [kinds-first");
    let card = places(&line, "saved groupings at [")[0].1;
    session.screenshot("22-editor-saved");
    session.click(card.0, card.1);
    session.expect("city: person-leak kinds-first ");
    session.screenshot("23-editor-used");
    // Nothing but the editor was told of all these keys; Escape puts it away.
    session.key("Escape");
    session.rest();
    let away = session.screenshot("24-editor-away");
    assert!(difference(&away, &tasks) > 0.1, "the city is seen again");

    let mut session = session.restart(&["open", &*sample, "--grouping", "kinds-first"], &environment);
    session.expect("city: person-leak kinds-first ");
    let report = Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .args(["report", &*sample, "--group-by", "kinds-first", "--tree", "--format", "csv"])
        .envs(environment)
        .output()
        .expect("the program");
    let table = String::from_utf8_lossy(&report.stdout);
    assert!(report.status.success() && table.contains("Small array"), "{table}");
}

/// A trace that takes many seconds to read.
fn large_trace(folder: &Path) {
    let spec = Spec {
        pointers: false,
        threads: 8,
        types: 400,
        sites: 2000,
        live_objects: 300_000,
        allocations_per_gc: 300_000,
        survivors_percent: 5,
        full_gc_every: 0,
        answers: false,
        gcs: u32::MAX,
        stop_at_bytes: Some(600_000_000),
        ..Spec::default()
    };
    let mut out = std::io::BufWriter::new(std::fs::File::create(folder.join("trace")).expect("a file"));
    let generated = generate(&spec, &mut out).expect("written");
    std::fs::write(folder.join("symbols"), generated.symbols).expect("written");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_window_that_ends_while_it_reads_a_trace_leaves_no_half_index() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    large_trace(folder.path());
    let (cache, config) = (folder.path().join("cache"), folder.path().join("config"));
    let environment = [("MEMORY_CITY_CACHE", &*cache), ("MEMORY_CITY_CONFIG", &*config)];
    let input = folder.path().to_string_lossy();
    for (how, code) in [("INT", 130), ("TERM", 143), ("close", 0)] {
        let mut session = Session::start(&["open", &*input], &environment);
        let started = Instant::now();
        while names(&cache).is_empty() {
            assert!(started.elapsed() < PATIENCE, "nothing is written; trail:\n{}", session.rest().join("\n"));
            std::thread::sleep(Duration::from_millis(5));
        }
        match how {
            "close" => {
                // The reading begins before there is a window that listens: there is one when it shows the first city.
                session.expect("city: ");
                session.close();
            }
            signal => session.tool("kill", &[&format!("-{signal}"), &session.window.0.id().to_string()]),
        }
        assert_eq!(session.ended(), Some(code), "{how}");
        let left = names(&cache);
        assert!(!left.iter().any(|name| name.ends_with(".index")), "{how}: all was read before it could be ended");
        assert_eq!(left, Vec::<String>::new(), "{how}");
    }
}

/// Enter goes from owner to owner up to the root and says which it is; Backspace goes back. U draws and lists the paths; what Del
/// shows to be freed is what the analysis `cut` says, and Escape takes it back.
#[test]
fn a_window_follows_owners_to_the_root_and_cuts() {
    if skipped() {
        return;
    }
    let sample = sample();
    let config = tempfile::tempdir().expect("a folder");
    let mut session =
        Session::start(&["open", &*sample, "--grouping", "type"], &[("MEMORY_CITY_CONFIG", config.path())]);
    session.expect("city: person-leak");
    session.expect("leak: ");
    session.focus();
    session.point(WIDTH / 2, 20);
    session.key("h");
    // The first row of the list, the symptom: its objects hang on the one list that leaks.
    session.click(120, 97);
    session.expect("selected: Heap#");
    session.expect("owners: ");
    let selected = session.screenshot("20-owners");
    let mut walked = Vec::new();
    let end = loop {
        // What the key does is told before the key.
        session.tool("xdotool", &["key", "Return"]);
        let line = session.expect("owner: ");
        session.expect("key: Enter");
        if line.contains("owner: here: ") {
            break line;
        }
        walked.push(line);
        assert!(walked.len() < 20, "{walked:?}");
    };
    assert!(end.contains("Static field: register.store.PersonRegistry.PERSONS"), "{end}");
    assert!(walked.last().is_some_and(|line| line.ends_with("Heap#java.util.LinkedList")), "{walked:?}");
    let at_root = session.screenshot("21-root");
    assert!(difference(&selected, &at_root) > 0.005, "the owners walked are seen");
    // The first step back leaves the root, the next ones the owners.
    session.key("BackSpace");
    session.key("BackSpace");
    let back = session.expect("selected: ");
    assert!(walked.len() < 2 || back.ends_with("Heap#java.util.LinkedList$Node"), "{back}");

    // Paths of the nodes, in city and list.
    session.key("u");
    session.expect("ways: ");
    session.point(WIDTH / 2, 20);
    let paths = session.screenshot("22-paths");
    let is_yellow = |[r, g, b]: [u8; 3]| r > 140 && g > 110 && b < 90 && r.abs_diff(g) < 90;
    assert!(share(&paths, is_yellow) > share(&at_root, is_yellow) + 0.0005, "the route is seen");
    // One of the rows below the group is its root.
    let cut = Command::new(env!("CARGO_BIN_EXE_memory-city"))
        .args(["analyse", "cut", &*sample, "--grouping", "type", "--format", "json", "-p"])
        .arg("cut=Static field: register.store.PersonRegistry.PERSONS")
        .output()
        .expect("the analysis");
    let told: serde_json::Value = serde_json::from_slice(&cut.stdout).expect("JSON");
    let objects = freed_objects(&told);
    let mut found = None;
    for y in (303..420).step_by(23) {
        session.click(WIDTH - 180, y);
        session.rest();
        session.key("Delete");
        let lines = session.rest();
        let Some(line) = lines.iter().rev().find(|line| line.contains("cut: ") && line.contains(" objects, ")) else {
            continue;
        };
        if line.contains("cut: Static field: ") {
            found = Some(line.clone());
            break;
        }
        session.tool("xdotool", &["key", "Escape"]);
        session.expect("cut: undone");
        session.expect("key: Escape");
    }
    let line = found.expect("a row of the root");
    assert!(line.contains(&format!("PERSONS: {objects} objects, ")), "{line}: the analysis says {objects}");
    session.point(WIDTH / 2, 20);
    let without = session.screenshot("23-cut");
    let is_cyan = |[r, g, b]: [u8; 3]| b > 110 && g > 100 && r < 90;
    assert!(share(&without, is_cyan) > share(&paths, is_cyan) + 0.001, "what would be freed is lit");
    session.tool("xdotool", &["key", "Escape"]);
    session.expect("cut: undone");
    session.expect("key: Escape");
    let undone = session.screenshot("24-undone");
    assert!(share(&undone, is_cyan) < share(&without, is_cyan), "Escape undoes the cut");
    session.key("Escape");
    session.key("Escape");
    session.expect("selected: nothing");
}

/// Objects that would be freed, as the analysis `cut` lists them by type.
fn freed_objects(told: &serde_json::Value) -> u64 {
    let table = &told["analyses"][0]["tables"][0];
    assert_eq!(table["id"], "freed");
    let rows = table["rows"].as_array().expect("rows");
    rows.iter().map(|row| row["values"]["objects"].as_u64().expect("objects")).sum()
}
