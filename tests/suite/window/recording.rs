//! Recording from a real window: a program chosen from the list and left again. And from the command line, with a
//! window that is closed and opened again.

use super::*;
use memory_city_agent::folder::{AgentStatus, STATUS, is_running};
use memory_city_testing::jvm::{self, Jdk};
use memory_city_testing::root;

/// A program of the tests that leaks; it ends by itself, whatever becomes of the test.
fn leaking(jdk: &Jdk, classes: &Path, seconds: u32) -> Command {
    let mut command = Command::new(jdk.home.join("bin/java"));
    // Room for all that it leaks until then.
    command.args(["-Xmx700m", "-Xmn20m", "-cp"]).arg(classes).args(["Leaks", "persons", &(seconds * 1000).to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The oldest JDK here that is supported, and a folder with the compiled program.
fn compiled(test: &str) -> Option<(Jdk, tempfile::TempDir)> {
    let Some(jdk) = jvm::jdk_from(17) else {
        jvm::skip(test, "there is no JDK 17 or newer");
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let source = root().join("tests/java/Leaks.java");
    jdk.compile(&[&source], ".", folder.path());
    Some((jdk, folder))
}

/// Waits for what another process does.
fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it takes too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn walks(folder: &Path) -> u64 {
    AgentStatus::read(folder).map_or(0, |status| status.walks)
}

/// The start screen leads to the list of JVMs. Enter records the chosen one, its city comes, and a key stops it. The
/// program goes on unchanged. A message explains why a JVM cannot be recorded, and the list stays.
#[test]
fn a_window_records_a_jvm_from_its_list_and_leaves_it() {
    if skipped() {
        return;
    }
    let Some((jdk, classes)) = compiled("a_window_records_a_jvm") else { return };
    let config = tempfile::tempdir().expect("a folder");
    // As no other test has it: what is typed below is of one program.
    const SECONDS: u32 = 203;
    let mut java = Running(leaking(&jdk, classes.path(), SECONDS).spawn().expect("java"));
    let pid = java.0.id();
    let mut session = Session::start(&["open", "--listen=127.0.0.1:0"], &[("MEMORY_CITY_CONFIG", config.path())]);
    session.expect("at rest: ");
    session.focus();
    let welcome = session.screenshot("recording-1-welcome");
    session.chord("ctrl", "r");
    assert!(session.trail.iter().any(|line| line.contains("jvms: opened")));

    // This process is none: the list stays, with the reason.
    let own = std::process::id().to_string();
    session.tool("xdotool", &["type", "--delay", "40", &own]);
    session.expect(&format!("chosen: {own}"));
    session.key("Return");
    let line = session.expect("recording: ended: ");
    assert!(line.contains("is no Java program"), "{line}");
    let refused = session.screenshot("recording-2-refused");
    assert!(difference(&welcome, &refused) > 0.05, "the list is seen");

    // The program, which is in the list by its command line: no other one has this.
    session.chord("ctrl", "a");
    session.tool("xdotool", &["type", "--delay", "40", &format!("leaks persons {}", 1000 * SECONDS)]);
    session.expect(&format!("1 listed, chosen: {pid}"));
    // Where the trace goes is shown, and may be chosen: with Tab one gets there.
    session.rest();
    session.key("Tab");
    session.rest();
    let folder = classes.path().join("trace");
    session.chord("ctrl", "a");
    session.type_text(&folder.to_string_lossy());
    session.rest();
    session.screenshot("recording-3-chosen");
    session.key("Return");
    session.expect(&format!("recording: {pid} into {}", folder.display()));
    session.expect("city: Leaks, recorded");
    session.rest();
    let city = session.screenshot("recording-4-city");
    assert!(difference(&refused, &city) > 0.1, "its city is seen");
    assert!(walks(&folder) > 0);

    // Stopped: the recorder inside is silent, the files are complete, the program runs.
    session.tool("xdotool", &["key", "ctrl+shift+r"]);
    let line = session.expect("recording: ended: ");
    assert!(line.contains("Ok(") && line.contains("ended here, and the program goes on"), "{line}");
    session.screenshot("recording-5-stopped");
    assert!(!folder.join(STATUS).exists(), "nothing is recorded any more");
    assert!(java.0.try_wait().expect("it can be asked").is_none(), "the program goes on");
    let report = Command::new(env!("CARGO_BIN_EXE_memory-city")).arg("report").arg(&folder).output().expect("it runs");
    assert!(String::from_utf8_lossy(&report.stdout).contains("Leaks$Person"), "{report:?}");

    // A window that is closed, or killed, leaves the program as well.
    let again = classes.path().join("again");
    session.chord("ctrl", "r");
    let digits = pid.to_string();
    session.tool("xdotool", &["type", "--delay", "40", &digits]);
    for digit in digits.chars() {
        session.expect(&format!("key: Digit{digit}"));
    }
    // No line of the trail follows where it was the only one, and chosen before.
    let chosen = |trail: &[String]| trail.iter().rev().find(|line| line.contains("listed, chosen: ")).cloned();
    if !chosen(&session.trail).is_some_and(|line| line.ends_with(&format!("chosen: {digits}"))) {
        session.expect(&format!("chosen: {digits}"));
    }
    session.rest();
    session.key("Tab");
    session.rest();
    session.chord("ctrl", "a");
    session.type_text(&again.to_string_lossy());
    session.rest();
    session.key("Return");
    wait_for("the second recording", || again.join(STATUS).exists());
    drop(session);
    wait_for("the end of the second recording", || !again.join(STATUS).exists());
    assert!(java.0.try_wait().expect("it can be asked").is_none(), "the program goes on");
}

/// Processes whose command line has all of these words.
fn processes_with(words: &[&str]) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        words.iter().all(|word| line.contains(word))
    };
    pids.filter(has).collect()
}

/// `record --live` opens a window in which the city grows. Closing it ends neither program nor recording; a window that listens gets
/// all walks, those it missed and those that come.
#[test]
fn a_live_window_may_be_closed_and_another_gets_all_walks() {
    if skipped() {
        return;
    }
    let Some((jdk, classes)) = compiled("a_live_window_may_be_closed") else { return };
    if std::net::TcpStream::connect(memory_city_live::DEFAULT_ADDRESS).is_ok() {
        jvm::skip("a_live_window_may_be_closed", "a city listens where cities do by default");
        return;
    }
    let config = tempfile::tempdir().expect("a folder");
    let folder = classes.path().join("trace");
    // Time for all of it on a busy machine, too.
    let program = leaking(&jdk, classes.path(), 80);
    let words: Vec<String> = std::iter::once(program.get_program())
        .chain(program.get_args())
        .map(|w| w.to_string_lossy().into_owned())
        .collect();
    let output = folder.to_string_lossy().into_owned();
    let mut arguments = vec!["record", "-o", &output, "--live", "--walk-every", "1s", "--walk-share", "20", "--"];
    arguments.extend(words.iter().map(String::as_str));
    let environment = [("MEMORY_CITY_CONFIG", config.path())];
    let mut session = Session::start(&arguments, &environment);

    // The window says in its title whose city it is.
    session.tool("xdotool", &["search", "--sync", "--name", "Leaks, recorded .* Memory City"]);
    wait_for("three walks", || walks(&folder) >= 3);
    std::thread::sleep(Duration::from_millis(700));
    let first = session.shown("live-1-first");
    wait_for("three more", || walks(&folder) >= 6);
    std::thread::sleep(Duration::from_millis(700));
    let grown = session.shown("live-2-grown");
    assert!(share(&grown, |p| p.iter().any(|&c| c > 40)) > 0.5, "the picture is black");
    assert!(difference(&first, &grown) > 0.002, "the city grows");

    // Closed: program and recording go on.
    let windows = processes_with(&["--listen=", "--only-recordings"]);
    assert_eq!(windows.len(), 1, "one window was opened");
    session.close();
    wait_for("the end of the window", || !is_running(windows[0]));
    let before = walks(&folder);
    wait_for("walks without a window", || walks(&folder) >= before + 2);
    session.expect("the live city has gone");

    // Opened again where cities listen: all walks are there, and more come.
    let missed = walks(&folder);
    let (_window, lines) = Session::launch(&["open", "--listen"], &session.display, &environment);
    let mut most = 0;
    let since = Instant::now();
    while most < missed + 1 {
        assert!(since.elapsed() < PATIENCE, "{most} walks of {missed}");
        let Ok(line) = lines.recv_timeout(Duration::from_secs(1)) else { continue };
        if let Some(times) = line.split("time: ").nth(1).and_then(|t| t.split('/').nth(1)) {
            most = most.max(times.trim().parse().unwrap_or(0));
        }
    }
    session.shown("live-3-again");
    assert_eq!(session.ended(), Some(0), "the program ends as it would without");
}

/// Takes the first row that the palette finds for a text.
fn take_from_palette(session: &mut Session, text: &str) {
    session.chord("ctrl", "k");
    session.type_text(text);
    session.rest();
    session.key("Return");
}

/// The last time of the city, of a line that tells it.
fn times_in(line: &str) -> Option<u64> {
    line.split("time: ").nth(1)?.split('/').nth(1)?.trim().parse().ok()
}

/// A program that is being recorded is shown by thread, then by age: all walks so far, and those that come.
#[test]
#[ignore = "takes some minutes, and a machine on which a window rests between two walks: `make recorder-test`"]
fn a_live_city_is_grouped_anew_and_goes_on() {
    if skipped() {
        return;
    }
    let Some((jdk, classes)) = compiled("a_live_city_is_grouped_anew") else { return };
    let (config, cache) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port");
    let environment = [("MEMORY_CITY_CONFIG", config.path()), ("MEMORY_CITY_CACHE", cache.path())];
    let mut session = Session::start(&["open", &format!("--listen={free}")], &environment);
    session.expect("at rest: ");
    session.focus();

    let folder = classes.path().join("trace");
    // Slowly: what is found anew after each walk of a large heap takes longer than the next one lets it.
    let mut program = Command::new(jdk.home.join("bin/java"));
    program.args(["-Xmx300m", "-Dpause=10", "-cp"]).arg(classes.path()).args(["Leaks", "persons", "60000"]);
    let mut record = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    record.arg("record").arg("-o").arg(&folder).arg(format!("--live={free}"));
    record.args(["--walk-every", "3s", "--walk-share", "20", "--"]).arg(program.get_program()).args(program.get_args());
    record.envs(environment).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _recording = Running(record.spawn().expect("a recording"));
    session.expect("city: Leaks, recorded");
    wait_for("two walks", || walks(&folder) >= 2);
    session.rest();
    // Also of the walks that are sent it is known where what is selected was allocated.
    take_from_palette(&mut session, "Leaks$Person");
    session.expect("selected: Heap#");
    session.expect("allocated: Leaks.");
    session.rest();
    let sent = session.shown("live-4-sent");
    session.key("Escape");
    session.rest();

    // By thread. Most objects were not sampled, and the program has one thread of its own.
    take_from_palette(&mut session, "Group by Allocating thread");
    session.expect("city: Leaks, recorded");
    session.rest();
    let by_thread = session.screenshot("live-5-thread");
    assert!(difference(&sent, &by_thread) > 0.02, "other buildings are seen");
    take_from_palette(&mut session, "Leaks$Person");
    let selected = session.expect("selected: Heap#");
    // Without thread it would be below its package, which has no name.
    assert!(
        ["Heap#main#Leaks$Person", "Heap#(unknown)#Leaks$Person"].iter().any(|key| selected.contains(key)),
        "{selected}"
    );

    // It goes on: whoever looks at the last time sees the next.
    let from = session.trail.len();
    let before = walks(&folder);
    let mut shown = 0;
    while shown < before + 2 {
        shown = times_in(&session.expect("time: ")).unwrap_or(shown);
    }
    let since = &session.trail[from..];
    assert!(!since.iter().any(|line| line.contains("selected: nothing")), "the selection stays");
    assert!(!since.iter().any(|line| line.contains("city: ") && !line.contains("thread-type")), "so does the grouping");
    session.shown("live-6-thread-later");

    // By age, while it is recorded.
    take_from_palette(&mut session, "Group by Age");
    session.expect("city: Leaks, recorded");
    session.rest();
    let by_age = session.shown("live-7-age");
    assert!(difference(&by_thread, &by_age) > 0.02, "other buildings are seen");
    let before = walks(&folder);
    while shown < before + 1 {
        shown = times_in(&session.expect("time: ")).unwrap_or(shown);
    }
    // What leaks, and who owns it: looked for when it is asked for, in the walks so far.
    session.key("o");
    session.expect("leak: Leaks.PERSONS");
    let owner = session.expect("selected: Heap#");
    assert!(owner.contains("class Leaks#static PERSONS"), "{owner}");
    session.rest();
    session.shown("live-8-owner");
}
