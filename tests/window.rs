//! A real window on a virtual display, driven with real key and mouse events. The trail in the log says what the
//! program believes; the screenshots say what a person sees. Both must agree.
//!
//! Needs Xvfb, xdotool and ImageMagick's `import`; says so and fails when they are missing, unless
//! `MEMORY_CITY_SKIP_WINDOW_TEST` is set. Screenshots are kept in `target/window-test/`.
#![cfg(feature = "viewer")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const WIDTH: u32 = 1440;
const HEIGHT: u32 = 900;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The window, and the trail it leaves.
struct Session {
    display: String,
    lines: Receiver<String>,
    trail: Vec<String>,
    folder: PathBuf,
    window: Running,
    server: Running,
}

impl Session {
    /// Starts the program on a display of its own; its layout is kept in `config`.
    fn start(arguments: &[&str], config: &Path) -> Session {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../window-test");
        std::fs::create_dir_all(&folder).expect("a folder for screenshots");
        let number = 90 + std::process::id() % 400;
        let display = format!(":{number}");
        let server = Command::new("Xvfb")
            .args([&display, "-screen", "0", &format!("{WIDTH}x{HEIGHT}x24"), "-nolisten", "tcp"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb (apt-get install xvfb)");
        let server = Running(server);
        let socket = format!("/tmp/.X11-unix/X{number}");
        let started = Instant::now();
        while !Path::new(&socket).exists() {
            assert!(started.elapsed() < Duration::from_secs(20), "Xvfb did not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        let (window, lines) = Session::launch(arguments, &display, config);
        Session { display, lines, trail: Vec::new(), folder, window, server }
    }

    /// Ends the program and starts it again on the same display.
    fn restart(self, arguments: &[&str], config: &Path) -> Session {
        let Session { display, trail, folder, window, server, .. } = self;
        drop(window);
        let (window, lines) = Session::launch(arguments, &display, config);
        Session { display, lines, trail, folder, window, server }
    }

    fn launch(arguments: &[&str], display: &str, config: &Path) -> (Running, Receiver<String>) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_memory-city"))
            .args(arguments)
            .env("DISPLAY", display)
            .env("MEMORY_CITY_CONFIG", config)
            .env_remove("WAYLAND_DISPLAY")
            .env("RUST_LOG", "memory_city=debug,wgpu_hal=off")
            .env("NO_COLOR", "1")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program");
        let stderr = child.stderr.take().expect("its log");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        (Running(child), lines)
    }

    /// Waits for a line that contains `text`; lines before it are passed over.
    fn expect(&mut self, text: &str) -> String {
        let started = Instant::now();
        loop {
            match self.lines.recv_timeout(Duration::from_millis(200)) {
                Ok(line) => {
                    self.trail.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(_) => {
                    let ended = self.window.0.try_wait().ok().flatten();
                    assert!(ended.is_none(), "the program ended ({ended:?}); trail:\n{}", self.trail.join("\n"));
                }
            }
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "no `{text}` within a minute; trail:\n{}",
                self.trail.join("\n")
            );
        }
    }

    /// Takes what is in the trail by now.
    fn drain(&mut self) -> Vec<String> {
        let lines: Vec<String> = self.lines.try_iter().collect();
        self.trail.extend(lines.iter().cloned());
        lines
    }

    fn tool(&self, program: &str, arguments: &[&str]) {
        let status = Command::new(program)
            .args(arguments)
            .env("DISPLAY", &self.display)
            .status()
            .unwrap_or_else(|e| panic!("{program}: {e} (apt-get install xdotool imagemagick)"));
        assert!(status.success(), "{program} {arguments:?}");
    }

    fn key(&self, name: &str) {
        self.tool("xdotool", &["key", name]);
    }

    fn point(&self, x: u32, y: u32) {
        self.tool("xdotool", &["mousemove", &x.to_string(), &y.to_string()]);
    }

    fn click(&self, x: u32, y: u32) {
        self.point(x, y);
        std::thread::sleep(Duration::from_millis(400));
        self.tool("xdotool", &["click", "1"]);
    }

    fn screenshot(&self, name: &str) -> image::RgbImage {
        // A step takes a third of a second; software drawing takes its time on top.
        std::thread::sleep(Duration::from_millis(1500));
        let path = self.folder.join(format!("{name}.png"));
        self.tool("import", &["-window", "root", &path.to_string_lossy()]);
        image::open(&path).expect("a screenshot").to_rgb8()
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
    if std::env::var_os("MEMORY_CITY_SKIP_WINDOW_TEST").is_some() {
        eprintln!("SKIPPED: MEMORY_CITY_SKIP_WINDOW_TEST is set");
        return;
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak");
    let config = tempfile::tempdir().expect("a folder");
    let sample = sample.to_string_lossy();
    let arguments = ["open", &*sample];
    let mut session = Session::start(&arguments, config.path());
    session.expect("city: person-leak");
    // There is no window manager to give the window the keyboard.
    session.tool("xdotool", &["search", "--sync", "--name", "Memory City", "windowfocus"]);
    session.point(WIDTH / 2, 20);
    let at_end = session.screenshot("1-last");
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
            session.point(x, y);
            std::thread::sleep(Duration::from_millis(250));
            if let Some(line) = session.drain().iter().rev().find(|l| l.contains("hovered: Heap#")) {
                // A type in a package: a building, not a district.
                if line.matches('#').count() >= 2 {
                    hovered = Some((x, y, line.clone()));
                    break 'search;
                }
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
    assert!(!session.drain().iter().any(|l| l.contains("selected: ")), "the selection survives a step");
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
    std::thread::sleep(Duration::from_millis(1500));
    let home = session.screenshot("9-home");
    assert!(difference(&home, &again) < 0.03, "R brings the first view back");

    // The cheat sheet opens and closes.
    session.key("F1");
    let help = session.screenshot("10-help");
    assert!(difference(&help, &home) > 0.05, "the cheat sheet is seen");
    session.key("Escape");

    // The table, in front of the city: a click on a row selects, keys move and open, a filter leaves what it says.
    session.click(369, 50);
    session.expect("layout kept");
    session.expect("table: ");
    session.click(420, 160);
    session.expect("selected: Heap#");
    session.key("Home");
    session.expect("selected: Heap");
    session.key("Down");
    session.expect("selected: Heap#");
    session.key("Right");
    session.expect("table: ");
    assert!(!session.drain().iter().any(|l| l.contains("time: ")), "the table's keys are its own");
    session.tool("xdotool", &["keydown", "shift", "key", "Down", "key", "Down", "keyup", "shift"]);
    session.expect(", Heap#");
    let table = session.screenshot("11-table");
    assert!(difference(&table, &home) > 0.2, "the table is seen");
    session.click(500, 79);
    session.tool("xdotool", &["type", "--delay", "30", "bytes > 300kB and growth > 20%"]);
    session.expect("10 match");
    session.key("Escape");

    // At rest no frames are drawn: what counts them says nothing any more, or once for those before.
    session.point(WIDTH / 2, 20);
    std::thread::sleep(Duration::from_secs(8));
    session.drain();
    std::thread::sleep(Duration::from_secs(12));
    let frames: Vec<String> = session.drain().into_iter().filter(|l| l.contains("frames: ")).collect();
    assert!(frames.is_empty(), "frames are drawn at rest: {frames:?}");

    // The layout is there again in the next run: the table is in front.
    let mut session = session.restart(&arguments, config.path());
    session.expect("layout restored");
    session.expect("table: ");
    session.screenshot("12-restored");
}
