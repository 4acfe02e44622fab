//! The commands that record programs, with real JVMs: from the command to what can be opened.

#![cfg(target_os = "linux")]

use memory_city_heap::progress::Progress;
use memory_city_testing::jvm::{self, Jdk, PATIENCE, Program};
use memory_city_testing::root;
use memory_city_wire::{ChunkKind, EndRow, PartReader, Piece, WalkEndRow, WalkSampleRow};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What `Leaky` holds in a string, and in bytes.
const SECRETS: [&str; 2] = ["zq-secret-", "zq-bytes-of-a-password-0815"];

/// The newest JDK and the oldest that is supported here, with the compiled test programs.
fn with_jdk(test: &str, run: impl FnOnce(&Jdk, &str, &Path)) {
    let Some(jdk) = jvm::jdk_from(17) else { return jvm::skip(test, "there is no JDK 17 or newer") };
    let folder = tempfile::tempdir().expect("a folder");
    let sources = ["Leaky", "Resting"].map(|n| root().join(format!("tests/java/{n}.java")));
    jdk.compile(&sources.each_ref().map(PathBuf::as_path), ".", folder.path());
    run(&jdk, &folder.path().to_string_lossy(), folder.path());
}

fn memory_city(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory-city"));
    command.args(words);
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
    for part in parts.filter(|p| p.extension().is_some_and(|e| e == "mcity")) {
        let bytes = std::fs::read(&part).expect("a part");
        for piece in PartReader::new(&part, &bytes).expect("a part of ours") {
            if let Piece::Chunk(chunk) = piece {
                visit(&chunk);
            }
        }
    }
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

/// One command from the program to the line that leaks; nothing of its values is in any file, and nothing else is left.
#[test]
fn a_recorded_program_opens_with_the_line_that_leaks_and_without_its_secrets() {
    with_jdk("a_recorded_program", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let output = folder.to_string_lossy();
        let words = [
            "record",
            "-o",
            &output,
            "--walk-every",
            "1s",
            "--",
            &java(jdk),
            "-Xmx300m",
            "-cp",
            class_path,
            "Leaky",
            "8000",
        ];
        let done = finish(&mut memory_city(&words));
        let said = text(&done.stderr);
        assert!(done.status.success() && said.contains("memory-city open"), "{said}");
        // What the program prints is its own, and only that.
        let printed = text(&done.stdout);
        assert!(printed.starts_with("ready ") && printed.lines().count() == 2, "{printed}");
        assert_eq!(ends(&folder), ["the program ended", "the program ended"]);

        let (mut walks, mut linked, mut unlinked) = (0, 0, 0);
        for_chunks(&folder, |chunk| {
            let payload = chunk.payload().expect("a payload");
            for secret in SECRETS {
                assert!(
                    !payload.windows(secret.len()).any(|w| w == secret.as_bytes()),
                    "{secret} in {:?}",
                    chunk.kind()
                );
            }
            match chunk.kind() {
                ChunkKind::WALK_END => {
                    for end in chunk.rows::<WalkEndRow>().expect("rows").rows {
                        walks += 1;
                        unlinked += end.unlinked;
                        assert!(end.objects > 1000 && end.roots > 100 && end.pause.is_some_and(|p| p > 0));
                    }
                }
                ChunkKind::WALK_SAMPLES => linked += chunk.rows::<WalkSampleRow>().expect("rows").rows.len() as u64,
                _ => {}
            }
        });
        assert!(walks >= 2 && linked > 100 && unlinked * 50 < linked, "{walks} walks, {linked} linked, {unlinked} not");
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
    });
}

/// The program's exit code is that of the command; a script is recorded too; what is no Java program is said so.
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

/// When the recording process is killed, the program goes on, and is still sampled; its trace is whole.
#[test]
fn a_recording_process_that_dies_leaves_the_program_alone() {
    with_jdk("a_recording_process_that_dies", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let output = folder.to_string_lossy();
        let file = std::fs::File::create(temporary.join("out")).expect("a file");
        let words =
            ["record", "-o", &output, "--walk-every", "1s", "--", &java(jdk), "-cp", class_path, "Leaky", "6000"];
        let mut recorder = memory_city(&words).stdout(file).stderr(Stdio::null()).spawn().expect("it runs");
        wait_until("a walk", || folder.join("01-000000.mcity").exists());
        recorder.kill().expect("killed");
        recorder.wait().expect("a status");
        wait_until("the program", || std::fs::read_to_string(temporary.join("out")).is_ok_and(|t| t.contains("done ")));
        wait_until("the end", || !ends(&folder).is_empty());
        assert_eq!(ends(&folder), ["the program ended"]);
        // No dump stays behind.
        wait_until("tidying", || !folder.join(".walks").exists());
    });
}

/// A running program is listed, attached to, watched, and left as it was.
#[test]
fn running_programs_are_listed_recorded_and_watched() {
    with_jdk("running_programs_are_listed", |jdk, class_path, temporary| {
        let program = Program::start(jdk, &["-Xmx300m"], class_path, "Leaky");
        let pid = program.pid.to_string();
        let listed = text(&finish(&mut memory_city(&["jvms"])).stdout);
        assert!(listed.lines().any(|l| l.contains(&pid) && l.contains("Leaky")), "{listed}");

        let folder = temporary.join("attached");
        let output = folder.to_string_lossy();
        let done = finish(&mut memory_city(&["attach", &pid, "--for", "5s", "--walk-every", "1s", "-o", &output]));
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert_eq!(ends(&folder)[0], "recording was ended from outside");
        let mut walks = 0;
        for_chunks(&folder, |chunk| walks += usize::from(chunk.kind() == ChunkKind::WALK_END));
        assert!(walks > 0);

        let file = temporary.join("watched.jsonl");
        let output = file.to_string_lossy();
        let done = finish(&mut memory_city(&["watch", &pid, "--every", "500ms", "--for", "2s", "-o", &output]));
        assert!(done.status.success(), "{}", text(&done.stderr));
        let report = text(&finish(&mut memory_city(&["report", &output])).stdout);
        assert!(report.contains("Leaky$Session"), "{report}");
        drop(program);
        let gone = finish(&mut memory_city(&["attach", &pid, "-o", "/nowhere"]));
        assert!(gone.status.code() == Some(1) && text(&gone.stderr).contains("There is no process"));
        let own = std::process::id().to_string();
        let no_jvm = finish(&mut memory_city(&["watch", &own]));
        assert!(text(&no_jvm.stderr).contains("is no Java program"));
    });
}
