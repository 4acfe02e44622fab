//! Every end of a program, with any fate of the disk and of the recording process. The program does what it does
//! without the recorder, its trace opens with all until then, and losses are counted.

use super::*;
use memory_city_wire::{ClassRow, StringRow};
use std::collections::HashMap;

/// How a program ends: the word for it, further options of the VM, whether its hook runs, whether the trace can say that it ended.
type Ending = (&'static str, &'static [&'static str], bool, bool);

const ENDINGS: [Ending; 7] = [
    ("return", &[], true, true),
    ("exit", &[], true, true),
    ("halt", &[], false, true),
    ("throw", &[], true, true),
    ("memory", &[], true, true),
    ("memory", &["-XX:+ExitOnOutOfMemoryError"], false, false),
    ("memory", &["-XX:+CrashOnOutOfMemoryError", "-XX:-CreateCoredumpOnCrash"], false, false),
];

/// Each signal, the exit code of the command, whether the program's hook runs.
const SIGNALS: [(i32, i32, bool); 3] =
    [(libc::SIGINT, 130, true), (libc::SIGTERM, 143, true), (libc::SIGKILL, 137, false)];

#[test]
fn programs_end_as_they_would_and_leave_traces_that_open() {
    with_jdks("programs_end_as_they_would", |jdk, class_path, temporary| {
        let collectors = jdk.collectors();
        for (number, way) in ENDINGS.iter().enumerate() {
            // Another collector for each way, and another again on another JDK.
            let collector = &collectors[(number + jdk.version as usize) % collectors.len()];
            ends_as_it_would(jdk, collector, class_path, &temporary.join(number.to_string()), way);
        }
    });
}

/// Ctrl+C reaches the program, which ends as it does; so do SIGTERM, and SIGKILL, which leaves no time for anything.
#[test]
fn signals_end_the_program_and_the_trace_opens() {
    with_jdks("signals_end_the_program", |jdk, class_path, temporary| {
        let collectors = jdk.collectors();
        for (number, way) in SIGNALS.into_iter().enumerate() {
            let collector = &collectors[(number + jdk.version as usize) % collectors.len()];
            ends_by_signal(jdk, collector, class_path, &temporary.join(format!("signal-{number}")), way);
        }
    });
}

/// All of it under every collector: `make recorder-test`.
#[test]
#[ignore = "takes ten minutes: `make recorder-test`"]
fn every_way_to_end_under_every_collector() {
    with_jdks("every_way_to_end", |jdk, class_path, temporary| {
        for (number, collector) in jdk.collectors().iter().enumerate() {
            jvm::say(&format!("  JDK {}: {collector:?}", jdk.version));
            let folder = |name: &str| temporary.join(format!("{name}-{number}"));
            for (way, ending) in ENDINGS.iter().enumerate() {
                ends_as_it_would(jdk, collector, class_path, &folder(&format!("ends-{way}")), ending);
            }
            for signal in SIGNALS {
                ends_by_signal(jdk, collector, class_path, &folder(&format!("signal-{}", signal.0)), signal);
            }
            stands_still(jdk, collector, class_path, &folder("still"));
            full_for_the_recording_process(jdk, collector, class_path, &folder("full"));
            full_for_both(jdk, collector, class_path, &folder("tmpfs"));
            no_room_for_dumps(jdk, collector, class_path, &folder("small"));
        }
    });
}

fn ends_as_it_would(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path, way: &Ending) {
    let (how, options, hook, told) = *way;
    let what = format!("JDK {} {collector:?} {how} {options:?}", jdk.version);
    let log = format!("-XX:ErrorFile={}", folder.with_extension("log").display());
    // Whether a collector gives up before the heap is full follows from how much of the time it took, and so from what else the machine does.
    let program =
        [&["-Xmx64m", "-XX:-UseGCOverheadLimit", &log], collector, options, &["-cp", class_path, "Ending", how]]
            .concat();
    // A collector that gets no time does not keep up with the work before the end, and the program does not come to it.
    let came_to_it = |done: &Output| !text(&done.stderr).contains("at Ending.work(");
    let begin = || {
        let _ = std::fs::remove_dir_all(folder);
        record(jdk, folder, &["--walk-every", "500ms"], &[&program[..], &["1500"]].concat())
    };
    let mut done = begin();
    for _ in 0..3 {
        if came_to_it(&done) {
            break;
        }
        done = begin();
    }
    let without = finish(jdk.tool("java").args(&program).arg("100"));
    let (said, printed) = (text(&done.stderr), text(&done.stdout));
    assert_eq!(done.status.code(), without.status.code(), "{what}: {said}");
    let lines =
        |printed: &str| printed.lines().filter(|l| !l.starts_with("ready ")).map(String::from).collect::<Vec<_>>();
    // A VM that crashes says so, with addresses in it.
    if !options.iter().any(|o| o.contains("CrashOn")) {
        assert_eq!(lines(&printed), lines(&text(&without.stdout)), "{what}: {said}");
    }
    assert_eq!(printed.contains("hook"), hook, "{what}: {printed}");
    assert_eq!(ends(folder).contains(&"the program ended".to_owned()), told, "{what}: {said}");
    assert!(said.contains("memory-city open"), "{what}: {said}");
    match told {
        true => opens_complete(folder, &what),
        false => _ = opens_counted(folder, &said, &what),
    }
}

/// Opens with the program's classes; of its samples none is missing.
fn opens_complete(folder: &Path, what: &str) {
    let (samples, gaps, lost) = samples_and_gaps(folder);
    assert!(samples > 50 && gaps == 0 && lost == 0, "{what}: {samples} samples, {gaps} missing, {lost} lost");
    let (report, said) = of_trace(&["report"], folder);
    assert!(report.contains("Ending"), "{what}: {said}");
}

/// The program was killed: what it had taken and not written is counted, to the last sample. Returns how many that are.
fn opens_counted(folder: &Path, said: &str, what: &str) -> u64 {
    let (samples, gaps, lost) = samples_and_gaps(folder);
    jvm::say(&format!("  {what}: {samples} samples, {lost} lost"));
    assert!(samples > 50 && gaps <= lost, "{what}: {samples} samples, {gaps} missing, {lost} lost");
    assert_eq!(number_before(said, " samples ("), samples + lost, "{what}: {said}");
    let (samples_text, were_lost) =
        if lost == 1 { ("sample", " sample was lost") } else { ("samples", " samples were lost") };
    assert_eq!(said.contains(were_lost), lost > 0, "{what}: {said}");
    if lost > 0 {
        assert_eq!(number_before(said, &format!("{were_lost}: not written yet")), lost, "{what}: {said}");
    }
    let (report, said) = of_trace(&["report"], folder);
    assert!(report.contains("Ending"), "{what}: {said}");
    assert!(
        report.contains("the program was killed, or ran out of memory. All that was written is shown"),
        "{what}: {report}"
    );
    let counted = format!("not recorded: {lost} {samples_text} (the program was killed before they were written)");
    assert_eq!(report.contains(&counted), lost > 0, "{what}: {report}");
    lost
}

/// The number in front of some words of what a command says.
pub(super) fn number_before(said: &str, behind: &str) -> u64 {
    let before = said.split(behind).next().unwrap_or_default();
    let word = before.split_whitespace().last().unwrap_or_default();
    word.replace(',', "").parse().unwrap_or_else(|e| panic!("{e}: {said}"))
}

/// Every allocation of a suddenly killed program is in the trace, or counted, with its last unwritten objects.
#[test]
fn what_a_killed_program_had_not_written_is_counted_exactly() {
    const MARKS: u64 = 3000;
    with_jdks("what_a_killed_program_had_not_written", |jdk, class_path, temporary| {
        let folder = temporary.join("marks");
        let often = ["-Xmx64m", "-Xmn4m", "-XX:+ExitOnOutOfMemoryError"];
        let begin = |millis: &str| {
            let _ = std::fs::remove_dir_all(&folder);
            let program = [&often[..], &["-cp", class_path, "Ending", "marks", millis]].concat();
            record(jdk, &folder, &["--every-allocation", "--no-walks"], &program)
        };
        let mut done = begin("1500");
        if !has_walks(&folder, 2) {
            // A busy machine left no time for two collections that were written, and a report says what grew between two.
            done = begin("15000");
        }
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{said}");
        let lost = opens_counted(&folder, &said, &format!("JDK {}, marks", jdk.version));
        let marks = made_by_class(&folder).get("Ending$Mark").copied().unwrap_or(0);
        assert!(lost > 0 && marks < MARKS && MARKS - marks <= lost, "{marks} marks, {lost} lost: {said}");
    });
}

fn ends_by_signal(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path, way: (i32, i32, bool)) {
    let (signal, code, hook) = way;
    let what = format!("JDK {} {collector:?} signal {signal}", jdk.version);
    let (output, java) = (folder.to_string_lossy(), java(jdk));
    let words = ["record", "-o", &output, "--walk-every", "500ms", "--", &java, "-Xmx64m"];
    let words = [&words[..], collector, &["-cp", class_path, "Ending", "wait"]].concat();
    let command = &mut memory_city(&words);
    let mut recorder =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    wait_until("walks", || AgentStatus::read(folder).is_some_and(|s| s.walks > 1 && s.samples > 100));
    let program = AgentStatus::read(folder).expect("its state").pid;
    // Killed is the program, told to end is the command.
    send(if signal == libc::SIGKILL { program } else { recorder.id() }, signal);
    let status = recorder.wait().expect("a status");
    let (mut printed, mut said) = (String::new(), String::new());
    std::io::Read::read_to_string(&mut recorder.stdout.take().expect("its output"), &mut printed).expect("text");
    std::io::Read::read_to_string(&mut recorder.stderr.take().expect("its words"), &mut said).expect("text");
    assert_eq!((status.code(), printed.contains("hook")), (Some(code), hook), "{what}: {said}");
    assert_eq!(said.contains("the program was killed"), signal == libc::SIGKILL, "{what}: {said}");
    assert!(!Path::new(&format!("/proc/{program}/maps")).exists() || signal != libc::SIGKILL, "{what}");
    match signal == libc::SIGKILL {
        true => _ = opens_counted(folder, &said, &what),
        false => opens_complete(folder, &what),
    }
}

/// Containers wait ten seconds for an end, and reading a walk of many objects takes longer. The program is asked to end
/// at once, or left at once after `attach`.
#[test]
fn the_program_is_told_while_a_walk_is_read() {
    with_jdk("the_program_is_told_while", |jdk, class_path, temporary| {
        let java = java(jdk);
        let program = ["-Xmx600m", "-XX:+EnableDynamicAgentLoading", "-cp", class_path, "Ending", "wait", "8000000"];
        // Its dump is open and gone, and its note is still there.
        let is_read = |folder: &Path| {
            WalkNote::file(folder, 1).exists()
                && !WalkNote::dump(folder, 1).exists()
                && AgentStatus::read(folder).is_some_and(|status| status.walks == 1)
        };
        let folder = temporary.join("told");
        let output = folder.to_string_lossy();
        let words = ["record", "-o", &output, "--walk-every", "10m", "--", &java];
        let command = &mut memory_city(&[&words[..], &program].concat());
        let printed = temporary.join("printed");
        let quiet = |command: &mut Command| {
            let printed = std::fs::File::create(&printed).expect("a file");
            command.stdin(Stdio::null()).stdout(printed).stderr(Stdio::null()).spawn().expect("it runs")
        };
        let mut recorder = quiet(command);
        wait_until("a walk", || is_read(&folder));
        send(recorder.id(), libc::SIGTERM);
        let is_told = || std::fs::read_to_string(&printed).is_ok_and(|text| text.contains("hook"));
        wait_until("the program", || is_told() || !is_read(&folder));
        assert!(is_told() && is_read(&folder), "the program is told when the walk has been read");
        assert_eq!(recorder.wait().expect("a status").code(), Some(143));
        opens_complete(&folder, "told while a walk was read");

        let folder = temporary.join("left");
        let output = folder.to_string_lossy();
        let running = Program::start_with(jdk, &program[..2], class_path, "Ending", &program[5..]);
        let pid = running.pid.to_string();
        let mut recorder = quiet(&mut memory_city(&["attach", &pid, "-o", &output, "--walk-every", "10m"]));
        wait_until("a walk", || is_read(&folder));
        send(recorder.id(), libc::SIGINT);
        let has_left = || AgentStatus::read(&folder).is_none_or(|status| !status.ended.is_empty());
        wait_until("leaving", || has_left() || !is_read(&folder));
        assert!(has_left() && is_read(&folder), "the program is left when the walk has been read");
        assert!(recorder.wait().expect("a status").success());
        opens_complete(&folder, "left while a walk was read");
    });
}

/// Sends a signal to a process that the test has started, and that has not been waited for.
pub(super) fn send(process: u32, signal: i32) {
    // SAFETY: no pointers; whose number it is, see above.
    unsafe { libc::kill(process as i32, signal) };
}

/// A recording process that stands still, or whose disk is full, stops no program: it runs to its end, and all of its samples are
/// in the trace.
#[test]
fn a_recording_process_that_does_nothing_stops_nobody() {
    with_jdks("a_recording_process_that_does_nothing", |jdk, class_path, temporary| {
        let collectors = jdk.collectors();
        let collector = |number: usize| &collectors[(number + jdk.version as usize) % collectors.len()];
        stands_still(jdk, collector(0), class_path, &temporary.join("stopped"));
        full_for_the_recording_process(jdk, collector(1), class_path, &temporary.join("full"));
        full_for_both(jdk, collector(2), class_path, &temporary.join("tmpfs"));
        no_room_for_dumps(jdk, collector(4), class_path, &temporary.join("small"));
        all_is_there_though_nobody_takes_walks(jdk, collector(3), class_path, &temporary.join("every"));
    });
}

fn stands_still(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path) {
    let what = format!("JDK {} {collector:?}, stopped", jdk.version);
    let out = folder.with_extension("out");
    let mut recorder =
        recording(jdk, &["--walk-every", "300ms"], collector, class_path, folder, &["Ending", "return", "4000"]);
    wait_until("a walk", || begins_a_walk(folder));
    send(recorder.id(), libc::SIGSTOP);
    wait_until("the program", || std::fs::read_to_string(&out).is_ok_and(|t| t.contains("done")));
    wait_until("its end", || ends(folder).contains(&"the program ended".to_owned()));
    let waiting = WalkNote::waiting(folder);
    assert!(waiting.len() <= 1, "{what}: one dump waits at most: {waiting:?}");
    send(recorder.id(), libc::SIGCONT);
    assert!(recorder.wait().expect("a status").success(), "{what}");
    opens_complete(folder, &what);
    assert!(!folder.join(".walks").exists(), "{what}");
}

/// Records a program that prints into a file beside the trace.
fn recording(
    jdk: &Jdk,
    options: &[&str],
    collector: &[&str],
    class_path: &str,
    folder: &Path,
    program: &[&str],
) -> Child {
    let (output, java) = (folder.to_string_lossy(), java(jdk));
    let words =
        [&["record", "-o", &output], options, &["--", &java, "-Xmx64m"], collector, &["-cp", class_path], program];
    let file = std::fs::File::create(folder.with_extension("out")).expect("a file");
    memory_city(&words.concat()).stdout(file).stderr(Stdio::null()).spawn().expect("it runs")
}

/// Every allocation is recorded while the recording process stands still. The program's own count is in the trace, one
/// by one, except for those counted as lost.
fn all_is_there_though_nobody_takes_walks(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path) {
    const ROUNDS: u64 = 60_000;
    let what = format!("JDK {} {collector:?}, every allocation", jdk.version);
    let options = ["--every-allocation", "--walk-every", "300ms"];
    let rounds = ROUNDS.to_string();
    let mut recorder = recording(jdk, &options, collector, class_path, folder, &["Counted", &rounds]);
    wait_until("a sample", || AgentStatus::read(folder).is_some_and(|s| s.samples > 0));
    send(recorder.id(), libc::SIGSTOP);
    let out = folder.with_extension("out");
    wait_until("the program", || std::fs::read_to_string(&out).is_ok_and(|t| t.contains("done")));
    wait_until("its end", || ends(folder).contains(&"the program ended".to_owned()));
    send(recorder.id(), libc::SIGCONT);
    assert!(recorder.wait().expect("a status").success(), "{what}");
    let (samples, gaps, lost) = samples_and_gaps(folder);
    let made = made_by_class(folder);
    // Of C1 and C2 some are made in other ways besides, of which arrays have a class of their own.
    let expected = [("C0", ROUNDS), ("C1", ROUNDS), ("C2", ROUNDS + ROUNDS / 100), ("C3", ROUNDS), ("C4", ROUNDS)];
    let missing: u64 = expected.iter().map(|(class, count)| count - made[&format!("Counted${class}")]).sum();
    jvm::say(&format!("  {what}: {samples} samples, {gaps} missing within threads, {lost} lost, {missing} of ours"));
    assert!(missing <= lost && gaps <= lost && (lost > 0 || missing + gaps == 0), "{what}: {missing}, {gaps}, {lost}");
}

/// Samples by the name of their class.
fn made_by_class(folder: &Path) -> HashMap<String, u64> {
    let (mut strings, mut classes, mut samples) = (HashMap::new(), HashMap::new(), HashMap::<u32, u64>::new());
    // The program's own stream: that of the walks has numbers of its own.
    let visit = &mut |chunk: &memory_city_wire::Chunk<'_>| match chunk.kind() {
        ChunkKind::STRINGS => {
            strings.extend(chunk.rows::<StringRow>().expect("rows").rows.into_iter().map(|r| (r.id, r.text)));
        }
        ChunkKind::CLASSES => {
            classes.extend(chunk.rows::<ClassRow>().expect("rows").rows.into_iter().map(|r| (r.id, r.name)));
        }
        ChunkKind::SAMPLES => {
            for row in chunk.rows::<SampleRow>().expect("rows").rows {
                *samples.entry(row.class).or_default() += 1;
            }
        }
        _ => {}
    };
    let parts = std::fs::read_dir(folder).expect("the trace").flatten().map(|e| e.path());
    let own = |part: &PathBuf| part.file_name().is_some_and(|n| n.to_string_lossy().starts_with("00-"));
    parts.filter(own).for_each(|part| for_chunks_of(&part, visit));
    samples.into_iter().filter_map(|(class, count)| Some((strings.get(classes.get(&class)?)?.clone(), count))).collect()
}

/// The recording process may write 64 KB a file: as on a full disk. The program writes its own.
fn full_for_the_recording_process(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path) {
    let what = format!("JDK {} {collector:?}, no room for walks", jdk.version);
    let program = Program::start_with(jdk, &[&["-Xmx64m"], collector].concat(), class_path, "Ending", &["wait"]);
    let line = format!(
        "trap '' XFSZ; ulimit -f 64; exec '{}' attach {} --for 4s --walk-every 500ms -o '{}'",
        env!("CARGO_BIN_EXE_memory-city"),
        program.pid,
        folder.display()
    );
    let said = text(&finish(Command::new("sh").args(["-c", &line])).stderr);
    assert!(said.contains(" could not be taken; the last: "), "{what}: {said}");
    assert!(Path::new(&format!("/proc/{}", program.pid)).exists(), "{what}: the program runs");
    let (samples, gaps, lost) = samples_and_gaps(folder);
    assert!(samples > 50 && gaps == 0 && lost == 0, "{what}: {samples} samples, {gaps} missing, {lost} lost");
}

/// Runs a recorded program with a trace on a disk of its own that has so much room; `None` where disks cannot be had. The disk goes
/// with the command, so the trace is copied.
fn on_a_disk_of(size: &str, jdk: &Jdk, options: &str, program: &str, folder: &Path) -> Option<(Output, PathBuf)> {
    if !may_mount("on_a_disk_of") {
        return None;
    }
    let disk = folder.join("disk");
    std::fs::create_dir_all(&disk).expect("a folder");
    let line = format!(
        "mount -t tmpfs -o size={size} none '{disk}' || exit 99\n\
         '{city}' record -o '{disk}/trace' {options} -- '{java}' -Xmx64m {program}\n\
         code=$?\ncp -r '{disk}/trace' '{folder}/trace'\nexit $code",
        disk = disk.display(),
        city = env!("CARGO_BIN_EXE_memory-city"),
        java = java(jdk),
        folder = folder.display(),
    );
    Some((finish(Command::new("unshare").args(["-rm", "sh", "-c", &line])), folder.join("trace")))
}

/// Whether this user may mount a disk of its own.
pub fn may_mount(test: &str) -> bool {
    let may = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|o| o.status.success());
    if !may {
        jvm::skip(test, "nobody but root may mount a disk here");
    }
    may
}

/// The disk is full soon, for the program's part of the trace and that of the recording process.
fn full_for_both(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path) {
    let what = format!("JDK {} {collector:?}, full disk", jdk.version);
    // All allocations: that fills it at once.
    let program = format!("{} -cp '{class_path}' Counted 100000", collector.join(" "));
    let ran = on_a_disk_of("400k", jdk, "--every-allocation --walk-every 300ms", &program, folder);
    let Some((done, trace)) = ran else { return };
    let (printed, said) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success() && printed.contains("done 100000"), "{what}: {printed} {said}");
    let stopped = said.lines().filter(|l| l.contains("recording has stopped")).count();
    assert_eq!(stopped, 1, "{what}: {said}");
    let (samples, gaps, lost) = samples_and_gaps(&trace);
    assert!(samples > 50 && gaps == lost, "{what}: {samples} samples, {gaps} missing, {lost} lost");
    // What there was no room for cannot be in the trace: the command says it. Together they are all that were taken.
    let number = |behind| number_before(&said, behind);
    assert_eq!(number(" samples (") - number(" samples were lost"), samples, "{what}: {said}");
    let (report, said) = of_trace(&["report"], &trace);
    assert!(report.contains("HEAP OVER TIME"), "{what}: {said}");
}

/// The disk has room for samples, and not for dumps: no walks, and a message.
fn no_room_for_dumps(jdk: &Jdk, collector: &[&str], class_path: &str, folder: &Path) {
    let what = format!("JDK {} {collector:?}, no room for dumps", jdk.version);
    let program = format!("{} -cp '{class_path}' Ending return 2500", collector.join(" "));
    let Some((done, trace)) = on_a_disk_of("30m", jdk, "--walk-every 500ms", &program, folder) else { return };
    let (printed, said) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success() && printed.contains("done"), "{what}: {printed} {said}");
    assert!(said.contains("left out: the disk is too full") && said.contains(" 0 walks;"), "{what}: {said}");
    let (samples, gaps, lost) = samples_and_gaps(&trace);
    assert!(samples > 50 && gaps == 0 && lost == 0, "{what}: {samples} samples, {gaps} missing, {lost} lost");
    assert_eq!(ends(&trace), ["the program ended"], "{what}");
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
        wait_until("a walk", || begins_a_walk(&folder));
        recorder.kill().expect("killed");
        recorder.wait().expect("a status");
        wait_until("the program", || std::fs::read_to_string(temporary.join("out")).is_ok_and(|t| t.contains("done ")));
        wait_until("the end", || !ends(&folder).is_empty());
        assert_eq!(ends(&folder), ["the program ended"]);
        // No dump stays behind.
        wait_until("tidying", || !folder.join(".walks").exists());
    });
}

/// The VM cannot stop while it writes a dump, and a program cannot end before. If the last dump would take longer than
/// the end waits, there is none. A message says so, and the program ends at once.
#[test]
fn no_walk_is_begun_for_which_nobody_would_wait() {
    with_jdks("no_walk_is_begun", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        // On a slow machine it takes nine seconds to write as much; no collection, and so no walk, comes before the end.
        let heap = ["-Xms2200m", "-Xmx2200m", "-XX:+UseSerialGC", "-Xmn1900m"];
        let done = record(jdk, &folder, &[], &[&heap[..], &["-cp", class_path, "Ending", "large", "300"]].concat());
        let said = text(&done.stderr);
        assert!(done.status.success() && text(&done.stdout).contains("done"), "{said}");
        assert!(
            said.contains("there is no walk of the end: the VM might have written longer than the end waits"),
            "{said}"
        );
        assert!(said.contains(" 0 walks;"), "{said}");
        assert_eq!(ends(&folder), ["the program ended"]);
        let (report, warnings) = of_trace(&["report"], &folder);
        assert!(report.contains("no walk at the end: it might have taken"), "{report} {warnings}");
    });
}
