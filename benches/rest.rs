//! A window at rest, and how it starts: the real program under Xvfb with the software GPU.
//!
//! At rest: the processor time of all its threads for a minute without input, and its frames. Beside it runs a process
//! with as many threads that sleep for a second each time. Three states: untouched, with the mouse over a building,
//! with a selection, its references and its owners. Of the sample, and of the dumps that `make real` took, if they
//! exist.
//!
//! In the hand: frames a second while the mouse turns the city, on screens of two sizes, and movements of the mouse,
//! which share the two cores with the window. The aim is 30 for a city of 40 plots that fills a screen of 1280x720.
//!
//! Start: from the start of the process until the growing groups of the sample are on the screen in red, without
//! anything kept of an earlier run, and again. The baseline is `report` of the same dumps, which reads them and shows
//! nothing.
//!
//! Needs Xvfb and xdotool. `cargo bench --bench rest`; with `-- short` ten seconds for each state, and the sample alone.

use memory_city_testing::display::{Display, Running, lines_of};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, ImageFormat, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

const WIDTH: u32 = 1440;
const HEIGHT: u32 = 900;
/// Of a core; more is no rest.
const WANTED: f64 = 2.0;
/// Frames a second on the smaller screen while a city is turned.
const WANTED_FRAMES: f64 = 30.0;
const SCREENS: [(u32, u32); 2] = [(1280, 720), (WIDTH, HEIGHT)];
/// Between two movements of the mouse, and for how long.
const MOVES_EVERY: Duration = Duration::from_millis(8);
const TURNED_FOR: Duration = Duration::from_secs(6);
/// Longest wait for an event; a later one never comes.
const PATIENCE: Duration = Duration::from_secs(240);
/// The last picture is on its way to the screen for a moment.
const SETTLE: Duration = Duration::from_secs(2);
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(threads) = arguments.iter().position(|a| a == "sleep").and_then(|at| arguments.get(at + 1)) {
        sleep(threads.parse().expect("a number of threads"));
    }
    if arguments.iter().any(|a| a == "--test") {
        return;
    }
    let short = arguments.iter().any(|a| a == "short");
    let missing = ["Xvfb", "xdotool"].into_iter().find(|tool| !is_there(tool));
    if let Some(tool) = missing {
        eprintln!("{tool} is missing: apt-get install xvfb xdotool");
        std::process::exit(1);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sample = root.join("sample-data/person-leak");
    let mut inputs = vec![sample.clone()];
    if !short {
        let real = std::fs::read_dir(root.join("target/real/dumps")).into_iter().flatten().flatten();
        let mut real: Vec<PathBuf> = real.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        real.sort();
        inputs.extend(real);
    }
    let display = Display::start((WIDTH, HEIGHT));
    at_rest(&display, &inputs, Duration::from_secs(if short { 10 } else { 60 }));
    start(&display, &sample);
    in_the_hand(&inputs);
}

/// Turns each city with the left button, round and round.
fn in_the_hand(inputs: &[PathBuf]) {
    println!("\n| open | screen | frames a second while it is turned | movements a second | wanted |");
    println!("|---|---|---|---|---|");
    for (i, input) in inputs.iter().enumerate() {
        for size in SCREENS {
            let display = Display::start(size);
            let (connection, _) = x11rb::connect(Some(&display.name)).expect("the display");
            let folder = tempfile::tempdir().expect("a folder");
            let mut window = Window::open(&display, input, folder.path());
            window.expect("leak: ");
            window.rest();
            let (x, y) = (size.0 as i16 / 2, size.1 as i16 / 2);
            let put = |what: u8, detail: u8, (x, y): (i16, i16)| {
                let root = x11rb::NONE;
                connection.xtest_fake_input(what, detail, x11rb::CURRENT_TIME, root, x, y, 0).expect("sent");
                connection.flush().expect("sent");
            };
            put(MOTION_NOTIFY_EVENT, 0, (x, y));
            put(BUTTON_PRESS_EVENT, 1, (0, 0));
            let (begun, mut moves) = (Instant::now(), 0u32);
            while begun.elapsed() < TURNED_FOR {
                let turn = begun.elapsed().as_secs_f32() * 1.5;
                put(MOTION_NOTIFY_EVENT, 0, (x + (200.0 * turn.sin()) as i16, y + (60.0 * (2.0 * turn).sin()) as i16));
                moves += 1;
                std::thread::sleep(MOVES_EVERY);
            }
            let lasted = begun.elapsed().as_secs_f64();
            put(BUTTON_RELEASE_EVENT, 1, (0, 0));
            let before = window.frames;
            window.rest();
            let drawn = (window.frames - before) as f64 / lasted;
            let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // The sample, of which it is known how many plots it has.
            let wanted = (i == 0 && size == SCREENS[0]).then_some(WANTED_FRAMES);
            let told = wanted.map_or(String::new(), |wanted| wanted.to_string());
            println!("| {name} | {}x{} | {drawn:.0} | {:.0} | {told} |", size.0, size.1, f64::from(moves) / lasted);
            assert!(wanted.is_none_or(|wanted| drawn >= wanted), "{name}: {drawn} frames a second");
        }
    }
}

/// Threads that sleep, until somebody ends the process.
fn sleep(threads: usize) -> ! {
    for _ in 1..threads {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        });
    }
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn is_there(tool: &str) -> bool {
    let mut command = Command::new(tool);
    command.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// A mouse and keys on a display.
fn tool(display: &Display, arguments: &[&str]) {
    let status = Command::new("xdotool").args(arguments).env("DISPLAY", &display.name).status();
    assert!(status.expect("xdotool").success(), "{arguments:?}");
}

/// A window, and what its log says.
struct Window {
    process: Running,
    lines: Receiver<String>,
    /// Frames at the last rest.
    frames: u64,
}

impl Window {
    fn open(display: &Display, input: &Path, folder: &Path) -> Window {
        let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
        program.arg("open").arg(input).env("DISPLAY", &display.name).env_remove("WAYLAND_DISPLAY");
        program.env("MEMORY_CITY_CONFIG", folder.join("config")).env("MEMORY_CITY_CACHE", folder.join("cache"));
        program.env("RUST_LOG", "memory_city=debug").env("NO_COLOR", "1");
        let mut program = program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program");
        let log = program.stderr.take().expect("its log");
        Window { process: Running(program), lines: lines_of(log), frames: 0 }
    }

    /// Waits for a line of the log.
    fn expect(&mut self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|e| panic!("never `{text}`: {e}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits until nothing has been drawn for a while.
    fn rest(&mut self) {
        let mut line = self.expect("at rest: ");
        // Awake again at once, where something was found meanwhile.
        while let Ok(next) = self.lines.recv_timeout(SETTLE) {
            if next.contains("at rest: ") {
                line = next;
            }
        }
        self.frames = frames(&line);
    }
}

/// The number of frames that a line of the log tells.
fn frames(line: &str) -> u64 {
    let told = line.split_once("at rest: ").or(line.split_once("awake: "));
    told.and_then(|(_, told)| told.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("no count: {line}"))
}

/// Processor time of a process, wakes of its threads, and their number.
#[derive(Clone, Copy)]
struct Used {
    time: Duration,
    wakes: u64,
    threads: usize,
}

impl Used {
    fn by(pid: u32) -> Used {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a running program").flatten();
        let mut used = Used { time: Duration::ZERO, wakes: 0, threads: 0 };
        for task in tasks.map(|task| task.path()) {
            let read = |name: &str| std::fs::read_to_string(task.join(name)).unwrap_or_default();
            let nanos = read("schedstat").split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            used.time += Duration::from_nanos(nanos);
            let status = read("status");
            let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            used.wakes += switches.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0);
            used.threads += 1;
        }
        used
    }

    fn since(self, before: Used) -> Used {
        Used {
            time: self.time.saturating_sub(before.time),
            wakes: self.wakes.saturating_sub(before.wakes),
            threads: self.threads,
        }
    }
}

fn at_rest(display: &Display, inputs: &[PathBuf], lasts: Duration) {
    let seconds = lasts.as_secs();
    println!(
        "| open | state | frames in {seconds} s | processor (ms) | of a core | wakes a second | threads | as many that sleep (ms) | ratio | wanted |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for input in inputs {
        let folder = tempfile::tempdir().expect("a folder");
        tool(display, &["mousemove", "720", "20"]);
        let mut window = Window::open(display, input, folder.path());
        window.expect("leak: ");
        let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let states: [(&str, &dyn Fn()); 3] = [
            ("untouched", &|| ()),
            ("the mouse over a building", &|| tool(display, &["mousemove", "720", "450"])),
            ("a selection, its references and owners", &|| tool(display, &["mousemove", "120", "97", "click", "1"])),
        ];
        for (state, put) in states {
            put();
            window.rest();
            let pid = window.process.0.id();
            let threads = Used::by(pid).threads;
            let own = std::env::current_exe().expect("this program");
            let sleeper = Command::new(own).args(["sleep", &threads.to_string()]).spawn().expect("this program");
            let sleeper = Running(sleeper);
            std::thread::sleep(SETTLE);
            let before = [pid, sleeper.0.id()].map(Used::by);
            std::thread::sleep(lasts);
            let after = [pid, sleeper.0.id()].map(Used::by);
            let [ours, theirs] = [0, 1].map(|i| after[i].since(before[i]));
            let drawn: u64 = window
                .lines
                .try_iter()
                .filter(|line| line.contains("at rest: "))
                .map(|l| frames(&l))
                .max()
                .unwrap_or(window.frames)
                - window.frames;
            let share = 100.0 * ours.time.as_secs_f64() / lasts.as_secs_f64();
            let ms = |used: Used| used.time.as_secs_f64() * 1e3;
            println!(
                "| {name} | {state} | {drawn} | {:.1} | {share:.2} % | {:.1} | {threads} | {:.1} | {:.1} | {WANTED} % |",
                ms(ours),
                ours.wakes as f64 / lasts.as_secs_f64(),
                ms(theirs),
                ms(ours) / ms(theirs).max(0.01),
            );
            assert!(drawn == 0 && share < WANTED, "{name}, {state}: {drawn} frames, {share:.2} % of a core");
        }
    }
}

/// How much of the middle of the screen is red.
fn red(display: &x11rb::rust_connection::RustConnection, screen: u32) -> f64 {
    let (x, y, width, height) = (WIDTH / 4, HEIGHT / 8, WIDTH / 2, HEIGHT / 2);
    let (x, y, w, h) = (x as i16, y as i16, width as u16, height as u16);
    let asked = display.get_image(ImageFormat::Z_PIXMAP, screen, x, y, w, h, u32::MAX).expect("asked");
    let pixels = asked.reply().expect("a picture").data;
    let is_red = |p: &&[u8]| p[2] > 100 && u32::from(p[2]) > 3 * u32::from(p[1].max(p[0]));
    pixels.chunks_exact(4).filter(is_red).count() as f64 / f64::from(width * height)
}

fn start(display: &Display, sample: &Path) {
    let (connection, number) = x11rb::connect(Some(&display.name)).expect("the display");
    let screen = connection.setup().roots[number].root;
    let folder = tempfile::tempdir().expect("a folder");
    let shown = |fresh: bool| {
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                if fresh {
                    let _ = std::fs::remove_dir_all(folder.path().join("cache"));
                }
                // What the window before has left on the screen.
                while red(&connection, screen) > 0.0 {
                    std::thread::sleep(Duration::from_millis(20));
                }
                let begun = Instant::now();
                let window = Window::open(display, sample, folder.path());
                while red(&connection, screen) < 0.01 {
                    std::thread::sleep(Duration::from_millis(2));
                    assert!(begun.elapsed() < PATIENCE, "no city");
                }
                let taken = begun.elapsed();
                drop(window);
                taken
            })
            .collect();
        times.sort();
        times
    };
    let report = || {
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let begun = Instant::now();
                let mut program = Command::new(env!("CARGO_BIN_EXE_memory-city"));
                program
                    .arg("report")
                    .arg(sample)
                    .env("MEMORY_CITY_CACHE", "")
                    .stdout(Stdio::null())
                    .stderr(Stdio::null());
                assert!(program.status().expect("the program").success());
                begun.elapsed()
            })
            .collect();
        times.sort();
        times
    };
    let floor = report();
    println!(
        "\n| start of the process to the sample on the screen | least (s) | median (s) | `report` of the same dumps, least (s) | ratio |"
    );
    println!("|---|---|---|---|---|");
    for (what, fresh) in [("nothing kept", true), ("again", false)] {
        let times = shown(fresh);
        let s = |time: Duration| time.as_secs_f64();
        println!(
            "| {what} | {:.2} | {:.2} | {:.2} | {:.2} |",
            s(times[0]),
            s(times[ROUNDS / 2]),
            s(floor[0]),
            s(times[0]) / s(floor[0])
        );
    }
}
