//! The commands that record programs, with real JVMs: from the command to what can be opened.

#![cfg(target_os = "linux")]

mod checked;
mod containers;
mod counts;
mod disks;
mod endings;
mod identity;
mod joined;
mod late;
mod launchers;
mod leaks;
mod limits;
mod loaders;
mod neighbours;
mod progress;
mod roots;
mod secrets;
mod terminal;

use memory_city_agent::AgentOptions;
use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote};
use memory_city_heap::progress::Progress;
use memory_city_testing::jvm::{self, Jdk, PATIENCE, Program};
use memory_city_testing::root;
use memory_city_wire::{
    ChunkKind, EndRow, FILE_HEADER, LossRow, PartReader, Piece, RunRow, SampleRow, SettingRow, WalkEndRow,
    WalkSampleRow,
};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The oldest JDK here that is supported, with the compiled test programs.
fn with_jdk(test: &str, run: impl FnOnce(&Jdk, &str, &Path)) {
    let Some(jdk) = jvm::jdk_from(17) else { return jvm::skip(test, "there is no JDK 17 or newer") };
    let folder = compiled(&jdk);
    run(&jdk, &folder.path().to_string_lossy(), folder.path());
}

/// Each JDK here that is supported, with the compiled test programs.
fn with_jdks(test: &str, mut run: impl FnMut(&Jdk, &str, &Path)) {
    let jdks = jvm::jdks();
    if jdks.range(17..).next().is_none() {
        return jvm::skip(test, "there is no JDK 17 or newer");
    }
    for jdk in jdks.range(17..).map(|(_, jdk)| jdk) {
        let folder = compiled(jdk);
        run(jdk, &folder.path().to_string_lossy(), folder.path());
    }
}

fn compiled(jdk: &Jdk) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let programs =
        ["Leaky", "Resting", "Ending", "Leaks", "Counted", "Rooted", "Doubling", "Busy", "Stacks", "Large", "Loaders"];
    let sources = programs.map(|n| root().join(format!("tests/java/{n}.java")));
    jdk.compile(&sources.each_ref().map(PathBuf::as_path), ".", folder.path());
    folder
}

/// Runs a program of the tests recorded, and waits for its end.
fn record(jdk: &Jdk, folder: &Path, options: &[&str], program: &[&str]) -> Output {
    let (output, java) = (folder.to_string_lossy(), java(jdk));
    finish(&mut memory_city(&[&["record", "-o", &output], options, &["--", &java], program].concat()))
}

/// The same with a program whose last argument is how many milliseconds it runs: three times as long where a busy machine has left
/// time for too little.
fn record_until(
    jdk: &Jdk,
    folder: &Path,
    options: &[&str],
    (program, millis): (&[&str], u64),
    is_enough: impl Fn(&Path) -> bool,
) -> Output {
    for times in [1, 3, 9] {
        let _ = std::fs::remove_dir_all(folder);
        let done = record(jdk, folder, options, &[program, &[&(times * millis).to_string()]].concat());
        if !done.status.success() || is_enough(folder) || times == 9 {
            return done;
        }
        jvm::say(&format!("  {} ms were too few for {program:?}", times * millis));
    }
    unreachable!("the last one is returned")
}

/// Whether a trace has so many walks.
fn has_walks(folder: &Path, least: usize) -> bool {
    let series = memory_city_formats::open(&[folder.to_owned()], &Progress::new());
    series.is_ok_and(|series| series.points().len() >= least)
}

/// True if the process beside the program has begun its stream with a walk. The file alone may still be empty.
fn begins_a_walk(folder: &Path) -> bool {
    std::fs::metadata(folder.join("01-000000.mcity")).is_ok_and(|part| part.len() > FILE_HEADER as u64)
}

/// What a command prints, told to do something with a trace.
fn of_trace(words: &[&str], folder: &Path) -> (String, String) {
    let output = folder.to_string_lossy();
    let done = finish(&mut memory_city(&[words, &[&output]].concat()));
    (text(&done.stdout), text(&done.stderr))
}

/// The program, with signals as a terminal leaves them: `nohup` and shells that run tests in the background have some ignored.
fn memory_city(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    command.args(words);
    let set_signals = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: `signal` may be called between fork and exec, and no handler of ours is involved.
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(set_signals) };
    command
}

fn java(jdk: &Jdk) -> String {
    jdk.home.join("bin/java").to_string_lossy().into_owned()
}

fn finish(command: &mut Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    child.and_then(Child::wait_with_output).expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Every chunk of every part of a trace, unpacked.
fn for_chunks(folder: &Path, mut visit: impl FnMut(&memory_city_wire::Chunk<'_>)) {
    let parts = std::fs::read_dir(folder).expect("the trace").flatten().map(|e| e.path());
    parts.filter(|p| p.extension().is_some_and(|e| e == "mcity")).for_each(|part| for_chunks_of(&part, &mut visit));
}

fn for_chunks_of(part: &Path, visit: &mut dyn FnMut(&memory_city_wire::Chunk<'_>)) {
    let bytes = std::fs::read(part).expect("a part");
    // It may just have been made.
    if bytes.is_empty() {
        return;
    }
    for piece in PartReader::new(part, &bytes).expect("a part of ours") {
        if let Piece::Chunk(chunk) = piece {
            visit(&chunk);
        }
    }
}

fn ends_of(file: &Path) -> Vec<String> {
    let mut ends = Vec::new();
    for_chunks_of(file, &mut |chunk| {
        if chunk.kind() == ChunkKind::END {
            ends.extend(chunk.rows::<EndRow>().expect("an end").rows.into_iter().map(|e| e.reason));
        }
    });
    ends
}

fn ends(folder: &Path) -> Vec<String> {
    let mut ends = Vec::new();
    for_chunks(folder, |chunk| {
        if chunk.kind() == ChunkKind::END {
            ends.extend(chunk.rows::<EndRow>().expect("an end").rows.into_iter().map(|e| e.reason));
        }
    });
    ends
}

/// One command from the program to the line that leaks; nothing but the trace is left.
#[test]
fn a_recorded_program_opens_with_the_line_that_leaks() {
    with_jdk("a_recorded_program", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let output = folder.to_string_lossy();
        let words =
            ["record", "-o", &output, "--walk-every", "1s", "--", &java(jdk), "-Xmx300m", "-cp", class_path, "Leaky"];
        let run = |millis: &str| finish(&mut memory_city(&[&words[..], &[millis]].concat()));
        let mut done = run("8000");
        if !has_walks(&folder, 2) {
            // A busy machine left no time for them.
            std::fs::remove_dir_all(&folder).expect("the trace");
            done = run("40000");
        }
        let said = text(&done.stderr);
        assert!(done.status.success() && said.contains("memory-city open"), "{said}");
        // What the program prints is its own, and only that.
        let printed = text(&done.stdout);
        assert!(printed.starts_with("ready ") && printed.lines().count() == 2, "{printed}");
        assert_eq!(ends(&folder), ["the program ended", "the program ended"]);

        let (mut walks, mut linked, mut unlinked) = (0, 0, [0; 2]);
        for_chunks(&folder, |chunk| match chunk.kind() {
            ChunkKind::WALK_END => {
                for end in chunk.rows::<WalkEndRow>().expect("rows").rows {
                    walks += 1;
                    unlinked[0] += end.unlinked;
                    unlinked[1] += end.unlinked_classes.expect("told apart");
                    assert!(end.objects > 1000 && end.roots > 100 && end.pause.is_some_and(|p| p > 0));
                }
            }
            ChunkKind::WALK_SAMPLES => linked += chunk.rows::<WalkSampleRow>().expect("rows").rows.len() as u64,
            _ => {}
        });
        // All but objects that stand for classes which are not in use yet, and those are few.
        assert!(walks >= 2 && linked > 100, "{walks} walks, {linked} linked");
        assert!(unlinked[0] == unlinked[1] && unlinked[0] * 50 < linked, "{unlinked:?} not linked, {linked} linked");
        let mut names: Vec<String> = Vec::new();
        for entry in std::fs::read_dir(&folder).expect("the trace").flatten() {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(entry.metadata().expect("facts").permissions().mode() & 0o777, 0o600);
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        assert!(names.iter().all(|n| n.ends_with(".mcity")), "{names:?}");

        let series =
            memory_city_formats::open(std::slice::from_ref(&folder), &Progress::new()).expect("the trace opens");
        let heap = series.load(series.points().len() - 1, &Progress::new()).expect("the last walk");
        let mut by_site = std::collections::HashMap::<String, u64>::new();
        for o in heap.objects().filter(|o| heap.is_reachable(*o)) {
            if let Some(frame) = heap.allocation_site(o).iter().find(|f| f.contains("Leaky.")) {
                *by_site.entry(frame.to_string()).or_default() += heap.size_of(o);
            }
        }
        let most = by_site.iter().max_by_key(|(_, bytes)| **bytes).expect("sampled objects").0;
        assert!(most.contains("login"), "{by_site:?}");

        let report = finish(&mut memory_city(&["report", &output]));
        let report = text(&report.stdout);
        let leak = report.split("\n\n").find(|part| part.contains("WHAT LEAKS")).unwrap_or(&report);
        assert!(leak.contains("Leaky.SESSIONS"), "{leak}");
        // A recording has no values, and yet the names of the fields on the way.
        assert!(leak.contains("→ elementData: java.lang.Object[]"), "{leak}");

        // What the program wrote and what the walks are, as one file: nothing is missing, and trees are the same.
        let one = temporary.join("one.mcity");
        let done = finish(&mut memory_city(&["convert", &output, "-o", &one.to_string_lossy()]));
        let said = text(&done.stderr);
        assert!(done.status.success() && !said.contains("not in the file"), "{said}");
        for grouping in ["type", "type-site", "age", "thread"] {
            let words = ["report", "--tree", "--format", "csv", "--grouping", grouping];
            assert_eq!(of_trace(&words, &folder).0, of_trace(&words, &one).0, "{grouping}");
        }
        let times = ["report", "--grouping", "type", "--format", "csv", "--table", "times"];
        assert_eq!(of_trace(&times, &folder).0, of_trace(&times, &one).0);
        let counts = |of: &Path| of_trace(&["analyse", "counts", "--format", "csv"], of).0;
        assert_eq!(counts(&folder), counts(&one));
    });
}

/// Objects known to be allocated since the last collection can be hidden, and with them those without a sample, whose
/// age is unknown.
#[test]
fn what_is_newborn_at_a_walk_can_be_hidden() {
    with_jdk("what_is_newborn_at_a_walk_can_be_hidden", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        // The first walk is right after a collection. The second is that of the end, wherever the program is then.
        let options = ["--walk-every", "10m", "--walk-share", "50", "--interval", "16384"];
        let program = ["-Xmx300m", "-cp", class_path, "Leaky"];
        let done = record_until(jdk, &folder, &options, (&program, 3000), |folder| has_walks(folder, 2));
        assert!(done.status.success() && has_walks(&folder, 2), "{}", text(&done.stderr));
        // Objects of each age at the last walk: the name is the second column, the objects are the fifth.
        let ages = |grouping: &str| -> std::collections::BTreeMap<String, u64> {
            let csv = of_trace(&["report", "--tree", "--format", "csv", "--grouping", grouping], &folder).0;
            let rows = csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
            let of = rows.map(|row| (row[1].to_owned(), row[4].parse::<u64>().expect("objects")));
            of.filter(|(_, objects)| *objects > 0).collect()
        };
        let mut all = ages("age");
        assert!(all.keys().any(|age| age.starts_with("Survived")), "{all:?}");
        // What is left is as it was, and nothing else is there.
        let mut hide = |name: &str| {
            let hidden = all.remove(name).unwrap_or_else(|| panic!("{name} is not among the ages: {all:?}"));
            assert!(hidden > 0, "{name}");
            *all.get_mut("Heap").expect("all of them") -= hidden;
            all.clone()
        };
        assert_eq!(hide("Newborn"), ages("filter(not age = 0)>age"));
        assert_eq!(hide("(unknown)"), ages("filter(age >= 1)>age"));
    });
}

/// The program's exit code is that of the command. A script is recorded too. A message says so if the command is no
/// Java program.
#[test]
fn commands_keep_their_exit_codes() {
    with_jdk("commands_keep_their_exit_codes", |jdk, class_path, temporary| {
        let folder = temporary.join("script");
        let script = format!("'{}' -cp '{class_path}' Leaky 500; exit 7", java(jdk));
        let done = finish(&mut memory_city(&["record", "-o", &folder.to_string_lossy(), "--", "sh", "-c", &script]));
        assert_eq!(done.status.code(), Some(7), "{}", text(&done.stderr));
        assert!(!ends(&folder).is_empty());
        // A folder that holds something is not written into.
        let again = finish(&mut memory_city(&["record", "-o", &folder.to_string_lossy(), "--", "true"]));
        assert!(again.status.code() == Some(1) && text(&again.stderr).contains("--output"));
        let none = temporary.join("none");
        let done = finish(&mut memory_city(&["record", "-o", &none.to_string_lossy(), "--", "true"]));
        assert!(done.status.code() == Some(1) && text(&done.stderr).contains("Nothing was recorded"));
        assert!(!none.exists());
        let done = finish(&mut memory_city(&["record", "-o", &none.to_string_lossy(), "--", "/no/such/java"]));
        assert!(done.status.code() == Some(1) && !none.exists(), "{}", text(&done.stderr));
    });
}

/// A running program is listed, recorded by `attach` and `watch`, and left unchanged.
#[test]
fn running_programs_are_listed_recorded_and_watched() {
    with_jdk("running_programs_are_listed", |jdk, class_path, temporary| {
        let program = Program::start(jdk, &["-Xmx300m"], class_path, "Leaky");
        let pid = program.pid.to_string();
        let listed = text(&finish(&mut memory_city(&["jvms"])).stdout);
        assert!(listed.lines().any(|l| l.contains(&pid) && l.contains("Leaky")), "{listed}");

        let folder = temporary.join("attached");
        let output = folder.to_string_lossy();
        let attach = |time: &str| {
            finish(&mut memory_city(&["attach", &pid, "--for", time, "--walk-every", "1s", "-o", &output]))
        };
        let mut done = attach("5s");
        if !has_walks(&folder, 1) {
            std::fs::remove_dir_all(&folder).expect("the trace");
            done = attach("30s");
        }
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert_eq!(ends(&folder)[0], "recording was ended from outside");
        assert!(text(&done.stderr).contains("s are over, and the program goes on."), "{}", text(&done.stderr));
        let mut walks = 0;
        for_chunks(&folder, |chunk| walks += usize::from(chunk.kind() == ChunkKind::WALK_END));
        assert!(walks > 0);

        let file = temporary.join("watched.mcity");
        let output = file.to_string_lossy();
        let done = finish(&mut memory_city(&["watch", &pid, "--every", "500ms", "--for", "2s", "-o", &output]));
        assert!(done.status.success(), "{}", text(&done.stderr));
        let report = text(&finish(&mut memory_city(&["report", &output])).stdout);
        assert!(report.contains("Leaky$Session") && report.contains("the counts are exact"), "{report}");
        let counts = text(&finish(&mut memory_city(&["analyse", "counts", &output])).stdout);
        assert!(counts.contains("Leaky$Session") && counts.contains("class histograms: exact counts"), "{counts}");
        assert_eq!(ends_of(&file), ["watching was ended"]);
        drop(program);
        let gone = finish(&mut memory_city(&["attach", &pid, "-o", "/nowhere"]));
        assert!(gone.status.code() == Some(1) && text(&gone.stderr).contains("There is no process"));
        let own = std::process::id().to_string();
        let no_jvm = finish(&mut memory_city(&["watch", &own]));
        assert!(text(&no_jvm.stderr).contains("is no Java program"));
    });
}

/// On a terminal one of several JVMs is chosen from a list; with Escape none.
#[test]
fn one_of_several_programs_is_chosen_on_a_terminal() {
    with_jdk("one_of_several_programs", |jdk, class_path, temporary| {
        let programs = ["Leaky", "Large"].map(|name| {
            let arguments: &[&str] = if name == "Large" { &["1", "600000"] } else { &[] };
            Program::start_with(jdk, &["-Xmx100m"], class_path, name, arguments)
        });
        let wanted = programs[0].pid.to_string();
        let file = temporary.join("watched.mcity");
        let line = format!(
            "stty cols 100 rows 24; '{}' watch --every 300ms --for 1s -o '{}'",
            env!("CARGO_BIN_EXE_memory-city"),
            file.display()
        );
        // Until `press` has nothing more to press: what it says to what stands on the terminal.
        let chosen = |press: &dyn Fn(&str) -> Option<&'static [u8]>| {
            let mut command = Command::new("script");
            command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm");
            let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut child = pipes.expect("it runs");
            let (mut keys, mut printed) = (child.stdin.take().expect("keys"), child.stdout.take().expect("a screen"));
            let (sender, pieces) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = std::io::Read::read(&mut printed, &mut bytes) {
                    sender.send(bytes[..count].to_vec()).expect("somebody reads");
                }
            });
            let mut terminal = vt100::Parser::new(24, 100, 0);
            let (mut said, mut marked) = (String::new(), String::new());
            loop {
                // Once for each place at which the mark has come to stand.
                match pieces.recv_timeout(Duration::from_millis(200)) {
                    Ok(piece) => terminal.process(&piece),
                    Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                    Err(_) => {
                        let line = said.lines().find(|line| line.starts_with("> ")).unwrap_or_default();
                        if line != marked {
                            marked = line.to_owned();
                            if let Some(key) = Some(line).filter(|line| !line.is_empty()).and_then(press) {
                                let _ = std::io::Write::write_all(&mut keys, key);
                            }
                        }
                    }
                }
                said = terminal.screen().contents();
            }
            (child.wait().expect("a status").success(), said)
        };
        let (is_done, said) = chosen(&|line| Some(if line.contains(&wanted) { b"\r" } else { b"\x1b[B" }));
        assert!(is_done, "{said}");
        let watched = text(&finish(&mut memory_city(&["analyse", "counts", &file.to_string_lossy()])).stdout);
        assert!(watched.contains("Leaky$Session"), "{watched}");
        let (is_done, said) = chosen(&|_| Some(b"\x1b"));
        assert!(!is_done && said.contains("No JVM was chosen"), "{said}");
    });
}

/// Number of samples in a recording, and of lost ones. Each thread numbers its samples, lost ones too: a gap must be
/// counted.
fn samples_and_gaps(folder: &Path) -> (u64, u64, u64) {
    let mut by_thread = std::collections::HashMap::<u32, Vec<u64>>::new();
    let mut lost = 0;
    for_chunks(folder, |chunk| match chunk.kind() {
        ChunkKind::SAMPLES => {
            for row in chunk.rows::<SampleRow>().expect("rows").rows {
                by_thread.entry(row.thread).or_default().push(row.sequence);
            }
        }
        ChunkKind::LOSSES => {
            let rows = chunk.rows::<LossRow>().expect("rows").rows;
            let of_samples = rows.iter().filter(|r| r.what == u32::from(ChunkKind::SAMPLES.0));
            lost += of_samples.map(|r| r.count).sum::<u64>();
        }
        _ => {}
    });
    let samples: u64 = by_thread.values().map(|all| all.len() as u64).sum();
    let gaps = by_thread.values_mut().map(|all| {
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "a sample has a number of its own");
        all.last().map_or(0, |last| last + 1 - all.len() as u64)
    });
    (samples, gaps.sum(), lost)
}

/// Without a recording process, as in a container, there are no walks: the trace opens all the same, with what samples estimate,
/// and says so.
#[test]
fn a_trace_without_walks_opens_as_what_samples_estimate() {
    with_jdk("a_trace_without_walks", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let agent =
            Path::new(env!("CARGO_BIN_EXE_memory-city")).with_file_name("deps").join(memory_city_agent::LIBRARY);
        assert!(agent.exists(), "{}", agent.display());
        // As docs/recorder.md says it for containers.
        let recorded = || {
            let mut command = jdk.tool("java");
            command.env("JAVA_TOOL_OPTIONS", format!("-agentpath:{}=folder={}", agent.display(), folder.display()));
            command
        };
        let output = folder.to_string_lossy().into_owned();
        // Three times as long where a busy machine has left time for too few collections.
        let mut told = String::new();
        for millis in ["6000", "18000", "54000"] {
            let _ = std::fs::remove_dir_all(&folder);
            let program = ["-Xmx300m", "-Xmn20m", "-cp", class_path, "Leaks", "persons", millis];
            let done = finish(recorded().args(program));
            assert!(done.status.success(), "{}", text(&done.stderr));
            told = text(&finish(&mut memory_city(&["report", &output])).stdout);
            if told.contains("Leaks.register(int) line") {
                break;
            }
        }
        assert!(told.contains("Leaks.register(int) line") && told.contains("estimated from"), "{told}");
        assert!(told.contains("Heap, estimated from samples"), "{told}");
        // What the VM counted is beside that, exact.
        let counts = text(&finish(&mut memory_city(&["analyse", "counts", &output])).stdout);
        assert!(told.contains("`memory-city analyse counts`"), "{told}");
        assert!(counts.contains("Leaks$Person") && counts.contains("class histograms: exact counts"), "{counts}");
        let tree = text(&finish(&mut memory_city(&["report", &output, "--tree", "--format", "csv"])).stdout);
        assert!(tree.contains("Leaks$Person"), "{tree}");
        // What is there for good has files of its own: a second run does not write into them.
        let names: Vec<_> = std::fs::read_dir(&folder).expect("the trace").flatten().map(|e| e.file_name()).collect();
        let again = finish(recorded().args(["-cp", class_path, "Leaks", "persons", "500"]));
        assert!(again.status.success());
        let now: Vec<_> = std::fs::read_dir(&folder).expect("the trace").flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, now);
        assert!(temporary.join("trace-2").join("00-000000.mcity").exists());
    });
}

/// A killed recording process leaves a dump. Opening the trace reports it and keeps it. `finish` makes a walk of it,
/// and removes half a one.
#[test]
fn walks_that_were_left_are_told_and_finished_when_that_is_asked_for() {
    with_jdk("walks_that_were_left", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("a folder");
        let agent =
            Path::new(env!("CARGO_BIN_EXE_memory-city")).with_file_name("deps").join(memory_city_agent::LIBRARY);
        let options = AgentOptions { folder: folder.clone(), walks: 500, ..AgentOptions::default() };
        let flag = format!("-agentpath:{}={}", agent.display(), options.text());
        let mut program = jdk
            .tool("java")
            .args([&flag, "-Xmx300m", "-cp", class_path, "Leaky"])
            .stdout(Stdio::null())
            .spawn()
            .expect("java runs");
        // Walks begin when there is somebody who takes them: when enough has leaked.
        wait_until("leaking", || AgentStatus::read(&folder).is_some_and(|status| status.collections > 1));
        let lock = RecorderLock::take(&folder).expect("the lock");
        wait_until("a walk", || !WalkNote::waiting(&folder).is_empty());
        // Both are killed together.
        program.kill().expect("killed");
        program.wait().expect("a status");
        drop(lock);
        std::fs::write(folder.join(".walks/9.hprof"), "JAVA PROFILE 1.0.2").expect("half a dump");
        // Whatever opens the trace, as one of two, or by one of its parts, says so: it may have no other walk.
        let (output, part) = (folder.to_string_lossy().into_owned(), folder.join("00-000000.mcity"));
        for words in [
            &["report", &output][..],
            &["compare", &output, &output],
            &["analyse", "heap", &output],
            &["report", &part.to_string_lossy()],
        ] {
            let done = finish(&mut memory_city(words));
            let said = [text(&done.stdout), text(&done.stderr)].concat();
            assert!(said.contains("n interrupted recording left 1 walk"), "{words:?}: {said}");
            assert!(said.contains(&format!("`memory-city finish {output}` adds it")), "{words:?}: {said}");
            assert!(folder.join(".walks/9.hprof").exists() && !WalkNote::waiting(&folder).is_empty(), "{words:?}");
        }
        let done = finish(&mut memory_city(&["finish", &output]));
        let said = [text(&done.stdout), text(&done.stderr)].concat();
        assert!(said.contains("1 walk was added, 1 incomplete dump was removed"), "{said}");
        let done = finish(&mut memory_city(&["report", &output]));
        assert!(text(&done.stdout).contains("Leaky$Session"), "{} {}", text(&done.stdout), text(&done.stderr));
        assert!(!text(&done.stdout).contains("interrupted"), "{}", text(&done.stdout));
        let left: Vec<String> = std::fs::read_dir(&folder)
            .expect("it")
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        assert!(left.iter().all(|name| name.ends_with(".mcity")), "{left:?}");
        // Nothing is done twice.
        let again = finish(&mut memory_city(&["finish", &output]));
        assert!(text(&again.stdout).contains("there was nothing to add"), "{}", text(&again.stdout));
    });
}

/// Program and recording process are killed together. Their dump becomes a walk the next time that this user records,
/// without a request. Dumps of a running program are its own, and listing JVMs changes nothing.
#[test]
fn what_both_left_when_they_were_killed_goes_the_next_time() {
    with_jdks("what_both_left", |jdk, class_path, temporary| {
        let (folder, cache) = (temporary.join("trace"), temporary.join("cache"));
        let command = |words: &[&str]| {
            let mut command = memory_city(words);
            command.env("MEMORY_CITY_CACHE", &cache);
            command
        };
        let remembered = || std::fs::read_dir(cache.join("recordings")).map_or(0, |entries| entries.count());
        let (output, java) = (folder.to_string_lossy().into_owned(), java(jdk));
        let words =
            ["record", "-o", &output, "--walk-every", "300ms", "--", &java, "-Xmx100m", "-cp", class_path, "Leaky"];
        let silent =
            |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        let mut recorder = silent(&mut command(&words));
        wait_until("a walk", || begins_a_walk(&folder));
        // It must not be in the midst of taking one.
        wait_until("nothing on its way", || {
            endings::send(recorder.id(), libc::SIGSTOP);
            let is_empty = std::fs::read_dir(folder.join(".walks")).is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty {
                endings::send(recorder.id(), libc::SIGCONT);
            }
            is_empty
        });
        wait_until("a dump", || !WalkNote::waiting(&folder).is_empty());
        let program = AgentStatus::read(&folder).expect("its state").pid;
        recorder.kill().expect("killed");
        recorder.wait().expect("a status");
        // The program goes on.
        let next = |name: &str| {
            let output = temporary.join(name).to_string_lossy().into_owned();
            finish(&mut command(&["record", "-o", &output, "--", &java, "-version"]))
        };
        let recorded = next("meanwhile");
        assert!(recorded.status.success() && remembered() == 1, "{}", text(&recorded.stderr));
        let walks = || {
            let mut walks = 0;
            for_chunks(&folder, |chunk| walks += usize::from(chunk.kind() == ChunkKind::WALK_END));
            walks
        };
        let before = walks();
        endings::send(program, libc::SIGKILL);
        wait_until("its end", || !memory_city_agent::folder::is_running(program));
        assert!(folder.join(".walks").exists());
        let looked = finish(&mut command(&["jvms"]));
        assert!(looked.status.success() && folder.join(".walks").exists() && remembered() == 1);
        // It has ended before the next one has: what ends in order is forgotten at once.
        let recorded = next("other");
        let said = text(&recorded.stderr);
        assert!(said.contains("an interrupted recording was finished"), "{said}");
        assert!(!folder.join(".walks").exists() && remembered() == 0 && walks() > before);
    });
}

/// A recording says at once where it goes and how it ends, and at its end that one walk does not tell what grows.
#[test]
fn a_recording_says_where_it_goes_and_what_it_lacks() {
    with_jdks("a_recording_says_where_it_goes", |jdk, class_path, temporary| {
        let first_line =
            |said: &str| said.lines().find(|line| !line.starts_with("Picked up")).unwrap_or_default().to_owned();
        let folder = temporary.join("short");
        let done = record(jdk, &folder, &["--walk-every", "10m"], &["-Xmx100m", "-cp", class_path, "Leaky", "500"]);
        let said = text(&done.stderr);
        assert!(done.status.success(), "{said}");
        let expected = format!("Recording Leaky into {}: until the program ends; Ctrl+C ends it", folder.display());
        assert_eq!(first_line(&said), expected);
        assert!(has_walks(&folder, 1) && !has_walks(&folder, 2));
        let lacks = "this recording has one. Record for longer, or with a smaller --walk-every (it was 10m) and a larger --walk-share (it was 2)";
        assert!(said.contains(lacks), "{said}");
        let none = temporary.join("none");
        let options = ["--no-walks", "--packages", "com.acme,org.x"];
        let done = record(jdk, &none, &options, &["-Xmx100m", "-cp", class_path, "Leaky", "500"]);
        assert!(!text(&done.stderr).contains("--walk-every"), "{}", text(&done.stderr));
        // The trace tells whose code is meant.
        let mut told = Vec::new();
        for_chunks(&none, |chunk| {
            if chunk.kind() == ChunkKind::RUN {
                let facts = chunk.rows::<RunRow>().expect("facts").rows;
                told.extend(facts.into_iter().filter(|f| f.key == "program.packages").map(|f| f.value));
            }
        });
        assert_eq!(told, ["com.acme,org.x"]);
        let done = finish(&mut memory_city(&["record", "--packages", "com.acme,,", "--", "java"]));
        let said = text(&done.stderr);
        assert!(!done.status.success() && said.contains("packages are written as com.acme,org.x"), "{said}");
        // An option that there is not would be taken for the program.
        let done = finish(&mut memory_city(&["record", "--colour", "x", "--", "java"]));
        assert_eq!(done.status.code(), Some(2), "{}", text(&done.stderr));
        assert!(text(&done.stderr).contains("--colour is no option of record"), "{}", text(&done.stderr));
        let program = Program::start(jdk, &["-Xmx100m", "-XX:+EnableDynamicAgentLoading"], class_path, "Leaky");
        let (folder, pid) = (temporary.join("attached"), program.pid.to_string());
        let output = folder.to_string_lossy();
        let done = finish(&mut memory_city(&[
            "attach",
            &pid,
            "--for",
            "2s",
            "--walk-every",
            "200ms",
            "--walk-share",
            "50",
            "-o",
            &output,
        ]));
        let said = text(&done.stderr);
        let expected =
            format!("Recording process {pid} into {output}: for 2s, until Ctrl+C, or until the program ends");
        assert_eq!(first_line(&said), expected);
        let warning = "The program has a warning on its standard error now";
        assert!(!said.contains(warning), "agents are allowed there: {said}");
        // Where nobody has said what is to be with them, newer ones write a warning, and whoever attaches is told of it.
        let other = Program::start(jdk, &["-Xmx100m"], class_path, "Resting");
        let output = temporary.join("warned").to_string_lossy().into_owned();
        let words = ["attach", &other.pid.to_string(), "--no-walks", "--for", "100ms", "-o", &output];
        let told = text(&finish(&mut memory_city(&words)).stderr);
        assert!(told.contains("and the program goes on."), "{told}");
        assert_eq!(told.contains(warning), jdk.version >= 21, "JDK {}: {told}", jdk.version);
        assert!(!has_walks(&folder, 2) || !said.contains("this recording has one"), "{said}");
        // What an older one does not let anybody see at first is said.
        let (sites, _) = of_trace(&["analyse", "sites"], &folder);
        assert_eq!(sites.contains("up to 512 KB were not seen"), jdk.version < 18, "JDK {}: {sites}", jdk.version);
        // Who comes second learns why it may not, and leaves nothing; a terminal that closes ends the first in order.
        let (first, second) = (temporary.join("first"), temporary.join("second"));
        let mut command = memory_city(&["attach", &pid, "--walk-every", "10m", "-o", &first.to_string_lossy()]);
        let mut recorder =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        wait_until("a recording", || AgentStatus::read(&first).is_some_and(|status| status.samples > 20));
        let done = finish(&mut memory_city(&["attach", &pid, "-o", &second.to_string_lossy()]));
        let (said, why) = (text(&done.stderr), format!("it is being recorded already, into {}", first.display()));
        assert!(done.status.code() == Some(1) && said.contains(&why), "{said}");
        assert!(!second.exists(), "nothing is left");
        endings::send(recorder.id(), libc::SIGHUP);
        assert_eq!(recorder.wait().expect("a status").code(), Some(0));
        assert_eq!(ends(&first)[0], "recording was ended from outside");
    });
}

/// On a terminal one line of status is rewritten in place. It fits, so nothing wraps. Output of the program has its own
/// lines.
#[test]
fn one_line_of_the_terminal_says_how_it_goes() {
    with_jdk("one_line_of_the_terminal", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        // Room for all that recording costs, behind which the line is cut.
        let (rows, columns) = (12, 80);
        let line = format!(
            "stty cols {columns} rows {rows}; '{}' record -o '{}' --walk-every 500ms -- '{}' -Xmx300m -cp '{class_path}' Leaks persons 6000",
            env!("CARGO_BIN_EXE_memory-city"),
            folder.display(),
            java(jdk),
        );
        let done = finish(Command::new("script").args(["-qec", &line, "/dev/null"]).env("TERM", "xterm"));
        assert!(done.status.success(), "{}", text(&done.stdout));
        let mut terminal = vt100::Parser::new(rows, columns, 0);
        let mut told = std::collections::BTreeSet::new();
        for byte in &done.stdout {
            // Back to the start of a line: what stands there is complete.
            let is_complete = *byte == b'\r';
            terminal.process(&[*byte]);
            let lines: Vec<String> = terminal.screen().rows(0, columns).collect();
            let of_status: Vec<&String> = lines.iter().filter(|line| line.contains(" live, ")).collect();
            // The program's last word may come while one stands there.
            let is_over = lines.iter().any(|line| line.starts_with('d'));
            assert!(of_status.len() <= 1 || is_over, "{lines:#?}");
            told.extend(of_status.into_iter().filter(|_| is_complete).cloned());
        }
        let left: Vec<String> = terminal.screen().rows(0, columns).collect();
        let parts = [" samples, ", " live, ", " walk", " paused, ", " % CPU, ", "B"];
        assert!(told.len() >= 4 && told.iter().all(|l| parts.iter().all(|part| l.contains(part))), "{told:#?}");
        assert!(left.iter().filter(|line| line.contains(" live, ")).count() <= 1, "{left:#?}");
        for start in ["ready ", "done", "Recorded for ", "Open it:"] {
            assert_eq!(left.iter().filter(|line| line.starts_with(start)).count(), 1, "{start}: {left:#?}");
        }
    });
}

/// With `--live` each walk goes to a city that listens; one that stands still, or goes, stops neither program nor recording.
#[test]
fn walks_go_to_a_live_city_that_may_stand_still() {
    with_jdk("walks_go_to_a_live_city", |jdk, class_path, temporary| {
        let said = temporary.join("said");
        let file = std::fs::File::create(&said).expect("a file");
        let command = &mut memory_city(&["serve", "--listen", "127.0.0.1:0"]);
        let mut serve = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file).spawn().expect("it runs");
        let mut printed = std::io::BufReader::new(serve.stdout.take().expect("its output"));
        let mut line = String::new();
        std::io::BufRead::read_line(&mut printed, &mut line).expect("where it listens");
        let address = line.trim().rsplit("ws://").next().expect("an address").to_owned();
        let record = |name: &str, options: &[&str], millis: u64| {
            let folder = temporary.join(name);
            let (output, java, live) = (folder.to_string_lossy().into_owned(), java(jdk), format!("--live={address}"));
            let words = ["record", "-o", &output, &live, "--walk-every", "500ms", "--walk-share", "50"];
            let program =
                ["--", &java, "-Xmx300m", "-Xmn20m", "-cp", class_path, "Leaks", "persons", &millis.to_string()];
            let done = finish(&mut memory_city(&[&words[..], options, &program].concat()));
            assert!(done.status.success(), "{}", text(&done.stderr));
            assert_eq!(ends(&folder), ["the program ended", "the program ended"]);
            let names = std::fs::read_dir(&folder).expect("the trace").flatten().map(|e| e.file_name());
            assert!(names.into_iter().all(|n| n.to_string_lossy().ends_with(".mcity")));
            text(&done.stderr)
        };
        record("live", &[], 6_000);
        // Who does not see the pass of the city, as another user, does not know whose it is.
        let stranger = temporary.join("stranger");
        let output = stranger.to_string_lossy().into_owned();
        let words = ["record", "-o", &output, &format!("--live={address}"), "--", &java(jdk), "-version"];
        let done = finish(memory_city(&words).env("MEMORY_CITY_CACHE", temporary.join("other")));
        let told = text(&done.stderr);
        assert!(done.status.code() == Some(1) && told.contains("is no city of this user: it gets no walks"), "{told}");
        assert!(told.contains("MEMORY_CITY_LIVE_TOKEN") && !stranger.exists(), "{told}");
        wait_until("walks", || {
            let said = std::fs::read_to_string(&said).unwrap_or_default();
            said.lines().any(|l| l.starts_with("Leaks, recorded") && !l.contains(": 1 times") && l.contains(" groups"))
        });
        // The first walks of a bounded recording go, and its city goes on with those that come: it has more of them than the trace.
        // On a busy machine walks are few: then for longer.
        let told = [6_000, 18_000, 54_000].into_iter().any(|millis| {
            let before = std::fs::read_to_string(&said).unwrap_or_default().lines().count();
            let folder = format!("bounded-{millis}");
            record(&folder, &["--max-size", "1"], millis);
            let (report, _) = of_trace(&["report"], &temporary.join(folder));
            assert!(report.contains("gone with old parts"), "{report}");
            let kept = report.lines().filter(|line| line.contains(" Walk ")).count();
            let begun = Instant::now();
            let times = |line: &str| line.split_once(": ")?.1.split_once(" times")?.0.parse::<usize>().ok();
            let has_more = || {
                let said = std::fs::read_to_string(&said).unwrap_or_default();
                said.lines().skip(before).filter_map(times).any(|times| times > kept.max(1))
            };
            while begun.elapsed() < PATIENCE / 4 && !has_more() {
                std::thread::sleep(Duration::from_millis(20));
            }
            has_more()
        });
        assert!(told, "the city never has more walks than a bounded recording");
        // SAFETY: no pointers; the process was started here and not waited for.
        unsafe { libc::kill(serve.id() as i32, libc::SIGSTOP) };
        record("while-it-stands-still", &[], 6_000);
        assert!(has_walks(&temporary.join("while-it-stands-still"), 2), "walks wait for nobody who looks");
        serve.kill().expect("killed");
        serve.wait().expect("a status");
        // Nobody listens: that is said before anything runs.
        let output = temporary.join("none").to_string_lossy().into_owned();
        let done = finish(&mut memory_city(&[
            "record",
            "-o",
            &output,
            &format!("--live={address}"),
            "--",
            &java(jdk),
            "-version",
        ]));
        assert!(
            done.status.code() == Some(1) && text(&done.stderr).contains("Nothing listens"),
            "{}",
            text(&done.stderr)
        );
        assert!(!Path::new(&output).exists());
    });
}

/// `--live` alone finds the city that listens where cities do by default: no window is opened for it.
#[test]
fn walks_go_to_the_city_that_is_there() {
    with_jdk("walks_go_to_the_city_that_is_there", |jdk, class_path, temporary| {
        if let Err(why) = std::net::TcpListener::bind(memory_city_live::DEFAULT_ADDRESS) {
            return jvm::say(&format!("  {} is taken: {why}", memory_city_live::DEFAULT_ADDRESS));
        }
        let said = temporary.join("said");
        let file = std::fs::File::create(&said).expect("a file");
        let serve = memory_city(&["serve"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file).spawn();
        let mut serve = serve.expect("it runs");
        let mut printed = std::io::BufReader::new(serve.stdout.take().expect("its output"));
        let mut line = String::new();
        std::io::BufRead::read_line(&mut printed, &mut line).expect("where it listens");
        assert!(line.contains(memory_city_live::DEFAULT_ADDRESS), "{line}");
        let (folder, java) = (temporary.join("trace"), java(jdk));
        let output = folder.to_string_lossy();
        let words = ["record", "-o", &output, "--live", "--walk-every", "500ms", "--walk-share", "50", "--", &java];
        let program = ["-Xmx300m", "-Xmn20m", "-cp", class_path, "Leaks", "persons", "4000"];
        let done = finish(&mut memory_city(&[&words[..], &program].concat()));
        assert!(done.status.success(), "{}", text(&done.stderr));
        wait_until("walks", || {
            let said = std::fs::read_to_string(&said).unwrap_or_default();
            said.lines().any(|line| line.starts_with("Leaks, recorded") && line.contains(" groups"))
        });
        serve.kill().expect("killed");
        serve.wait().expect("a status");
    });
}

/// Launchers start the program that is meant and end: that one is recorded too, with walks, and is the last that is named.
#[test]
fn the_program_that_a_launcher_starts_is_recorded() {
    with_jdk("the_program_that_a_launcher_starts", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let run = |way: &str, millis: &str| {
            format!("'{}' -Xmx300m -Xmn20m -cp '{class_path}' Leaks {way} {millis}", java(jdk))
        };
        let script = format!("{}; {}; exit 5", run("healthy", "500"), run("persons", "5000"));
        let output = folder.to_string_lossy().into_owned();
        let words = ["record", "-o", &output, "--walk-every", "500ms", "--", "sh", "-c", &script];
        let done = finish(&mut memory_city(&words));
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{said}");
        let second = temporary.join("trace-2");
        let last = said.lines().rev().find(|l| l.contains("memory-city report")).expect("how to open it");
        assert!(last.ends_with(&second.display().to_string()), "{said}");
        assert_eq!(ends(&second), ["the program ended", "the program ended"], "{said}");
        assert_eq!(ends(&folder)[0], "the program ended");
        let report = text(&finish(&mut memory_city(&["report", &second.to_string_lossy()])).stdout);
        // A busy machine may have left no time for a walk after the first person; samples have their line.
        assert!(report.contains("Leaks$Person") || report.contains("Leaks.register("), "{report}");
    });
}
