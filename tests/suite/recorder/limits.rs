//! Limits of the user hold. For a forbidden action a message names another way.

use super::*;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

/// What was seen of a trace while it was written.
struct SeenTrace {
    /// The most bytes that its parts had together whenever they were looked at.
    most: u64,
    /// The last part of each stream.
    parts: [u32; 2],
    /// The first part of each stream that is left at the end.
    left: [u32; 2],
    /// What the command said.
    said: String,
}

/// The rights of a file or folder; none where it has just gone.
fn mode(path: &Path) -> Option<u32> {
    Some(std::fs::symlink_metadata(path).ok()?.permissions().mode() & 0o777)
}

/// Files in the folder of a growing trace are private to its user, with dumps on their way and their companions. Adds
/// the names of the files.
fn is_private(folder: &Path, met: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, is_folder) = (entry.path(), entry.file_type().is_ok_and(|of| of.is_dir()));
        let Some(mode) = mode(&path) else { continue };
        assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{}", path.display());
        // Of a dump, its numbers or its note the ending says what it is.
        let name = entry.file_name().to_string_lossy().into_owned();
        met.insert(
            name.rsplit_once('.').filter(|(before, _)| !before.is_empty()).map_or(name.clone(), |of| of.1.to_owned()),
        );
        if is_folder {
            is_private(&path, met);
        }
    }
}

/// Records, and looks at the trace every two milliseconds meanwhile.
fn looked_at(folder: &Path, words: &[&str]) -> SeenTrace {
    let mut recorder = memory_city(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
    let (mut most, mut parts, mut met) = (0, [0u32; 2], BTreeSet::new());
    let mut left = [0; 2];
    let mut look = || {
        let mut size = 0;
        left = [u32::MAX; 2];
        assert!(mode(folder).is_none_or(|mode| mode == 0o700), "{}", folder.display());
        is_private(folder, &mut met);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some((stream, part)) = name.strip_suffix(".mcity").and_then(|name| name.split_once('-')) else {
                continue;
            };
            size += entry.metadata().map_or(0, |meta| meta.len());
            let stream: usize = stream.parse().expect("a stream");
            let part = part.parse().expect("a part");
            (parts[stream], left[stream]) = (parts[stream].max(part), left[stream].min(part));
        }
        most = most.max(size);
    };
    while recorder.try_wait().expect("a status").is_none() {
        look();
        std::thread::sleep(Duration::from_millis(2));
    }
    look();
    let done = recorder.wait_with_output().expect("its words");
    let said = text(&done.stderr);
    assert!(done.status.success(), "{said}");
    let hidden = ["mcity", ".walks", "hprof", ".status", ".recorder", ".program"];
    assert!(hidden.iter().all(|name| met.contains(*name)), "{met:?}");
    SeenTrace { most, parts, left, said }
}

/// `--max-size` bounds both streams together, at every moment; what had to go is counted, and the trace opens.
#[test]
fn a_bounded_trace_stays_within_its_bound() {
    const MOST: u64 = 2_000_000;
    with_jdks("a_bounded_trace", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let (output, java, most) = (folder.to_string_lossy(), java(jdk), (MOST / 1_000_000).to_string());
        // Samples and walks that would take several times as much.
        let options = ["--max-size", &most, "--interval", "256", "--walk-every", "100ms", "--walk-share", "50"];
        let program = ["--", &java, "-Xmx300m", "-Xmn20m", "-cp", class_path, "Leaks", "healthy", "15000"];
        let SeenTrace { most, parts, left, said } =
            looked_at(&folder, &[&["record", "-o", &output][..], &options, &program].concat());
        jvm::say(&format!(
            "  JDK {}: at most {most} bytes of {MOST}; parts {left:?} to {parts:?} at the end",
            jdk.version
        ));
        assert!(most <= MOST && most > MOST / 2, "{most} bytes: {said}");
        assert!(left.iter().all(|first| *first > 0), "both streams had to let parts go: {left:?}, {said}");
        let (report, warnings) = of_trace(&["report"], &folder);
        assert!(report.contains("Leaks"), "{warnings}");
        assert!(report.contains("gone with old parts"), "what went is counted: {report}");
        assert!(has_walks(&folder, 1));
        // Walks last longer than samples here: those whose samples are sums are not compared with others, or all would seem to grow.
        let (sites, warnings) = of_trace(&["analyse", "sites"], &folder);
        let missing = |line: &&str| {
            let of = line.split("of ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
            line.contains("the sample is not there") && of.is_some_and(|samples| samples > 500)
        };
        let missed = format!("{sites}{warnings}").lines().filter(missing).count();
        jvm::say(&format!("  JDK {}: {missed} walks whose samples are sums", jdk.version));
        // The last walk is told of in any case.
        assert!(missed < 2 || sites.contains("what grows is told from walk"), "{sites}{warnings}");
        assert!(!sites.contains("allocates what stays"), "{sites}");
    });
}

/// A program whose heap doubles from walk to walk: the bound still holds. Older walks go before a larger one is
/// written. A walk without room in any case is left out, with a message and a remedy, and the others stay.
#[test]
fn walks_that_double_stay_within_the_bound() {
    const MOST: u64 = 2_000_000;
    with_jdks("walks_that_double", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let (output, java, size) = (folder.to_string_lossy(), java(jdk), (MOST / 1_000_000).to_string());
        let options = ["--max-size", &size, "--walk-every", "200ms", "--walk-share", "50"];
        for millis in ["1000", "5000"] {
            let _ = std::fs::remove_dir_all(&folder);
            let program = ["--", &java, "-Xmx300m", "-Xmn10m", "-cp", class_path, "Doubling", "9", millis];
            let SeenTrace { most, parts, said, .. } =
                looked_at(&folder, &[&["record", "-o", &output][..], &options, &program].concat());
            assert!(most <= MOST, "{most} bytes: {said}");
            let mut walks = Vec::new();
            for_chunks(&folder, |chunk| {
                if chunk.kind() == ChunkKind::WALK_END {
                    walks.extend(chunk.rows::<WalkEndRow>().expect("rows").rows.iter().map(|end| end.objects));
                }
            });
            let left_out = said.contains("left out: larger than --max-size 2MB leaves for walks");
            jvm::say(&format!(
                "  JDK {}: at most {most} bytes of {MOST}; parts up to {parts:?}, {walks:?}",
                jdk.version
            ));
            if !left_out && millis == "1000" {
                // A busy machine left no time for a walk where the heap was largest.
                continue;
            }
            assert!(left_out && said.contains("there is room for the last with --max-size "), "{said}");
            assert!(parts[1] > 0 && !walks.is_empty(), "{parts:?}, {walks:?}: {said}");
            let (report, warnings) = of_trace(&["report"], &folder);
            let lost = |why: &str| {
                let of_walks =
                    |line: &str| line.contains("not recorded: ") && line.contains(" walk") && line.contains(why);
                report.lines().any(of_walks)
            };
            assert!(lost("(larger than the bound of the trace)"), "{warnings}: {report}");
            assert!(lost("(gone with old parts)"), "{warnings}: {report}");
            break;
        }
    });
}

/// An existing empty folder is used, and becomes private.
#[test]
fn an_empty_folder_becomes_private() {
    with_jdk("an_empty_folder_becomes_private", |jdk, class_path, temporary| {
        let folder = temporary.join("mine");
        std::fs::create_dir(&folder).expect("made");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("open to all");
        let done = record(jdk, &folder, &["--no-walks"], &["-cp", class_path, "Leaky", "500"]);
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert_eq!(mode(&folder), Some(0o700));
        is_private(&folder, &mut BTreeSet::new());
    });
}

/// If attaching is forbidden, a message says so at once, and the program is not disturbed. If only agents are
/// forbidden, `watch` works.
#[test]
fn what_a_jvm_forbids_is_said_with_what_to_do() {
    with_jdks("what_a_jvm_forbids", |jdk, class_path, temporary| {
        let said = |words: &[&str]| text(&finish(&mut memory_city(words)).stderr);
        // Found out by the performance data, or where there is none by the command line.
        for more in [&["-XX:+UsePerfData"][..], &["-XX:-UsePerfData"]] {
            let flags = [&["-XX:+DisableAttachMechanism", "-Xmx100m"], more].concat();
            let mut program = Program::start(jdk, &flags, class_path, "Resting");
            let pid = program.pid.to_string();
            for command in ["attach", "watch"] {
                let folder = temporary.join(command);
                let output = folder.to_string_lossy();
                let told = said(&[command, &pid, "-o", &output]);
                assert!(told.contains("forbids attaching (-XX:+DisableAttachMechanism)"), "{command} {more:?}: {told}");
                assert!(told.contains("memory-city record") && !folder.exists(), "{command} {more:?}: {told}");
            }
            // It would have printed its threads, had anybody sent it the signal.
            assert!(!program.ask("x").contains("Full thread dump"), "{more:?}");
        }
        let program = Program::start(jdk, &["-XX:-EnableDynamicAgentLoading", "-Xmx100m"], class_path, "Resting");
        let pid = program.pid.to_string();
        let folder = temporary.join("forbidden");
        let told = said(&["attach", &pid, "-o", &folder.to_string_lossy()]);
        assert!(
            told.contains("-XX:-EnableDynamicAgentLoading") && told.contains(&format!("memory-city watch {pid}")),
            "{told}"
        );
        assert!(!folder.exists(), "{told}");
        let file = temporary.join("watched.mcity");
        let output = file.to_string_lossy();
        let done = finish(&mut memory_city(&["watch", &pid, "--every", "200ms", "--for", "1s", "-o", &output]));
        assert!(done.status.success(), "{}", text(&done.stderr));
        let counts = text(&finish(&mut memory_city(&["analyse", "counts", &output])).stdout);
        assert!(counts.contains("Resting$Entry"), "{counts}");
    });
}

/// No earlier stop tells the time of a walk. The first walk of a large heap waits for its share; a message and the
/// trace say so. The last walk is within the bound of the end.
#[test]
fn the_first_walk_of_a_large_heap_waits_for_its_share() {
    with_jdks("the_first_walk_of_a_large_heap", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let flags = ["-Xms1g", "-Xmx1g", "-XX:+UseSerialGC", "-Xmn100m", "-XX:+EnableDynamicAgentLoading"];
        let program = Program::start_with(jdk, &flags, class_path, "Large", &["600", "600000"]);
        let (pid, output) = (program.pid.to_string(), folder.to_string_lossy());
        let words = ["attach", &pid, "--for", "4s", "--walk-every", "100ms", "--histogram-every", "off", "-o", &output];
        let done = finish(&mut memory_city(&words));
        let said = text(&done.stderr);
        assert!(done.status.success(), "{said}");
        // Four seconds, or a little more, of which each wants fifty.
        assert_eq!(said.matches("\nThe first walk comes ").count(), 1, "{said}");
        let mut told = Vec::new();
        for_chunks(&folder, |chunk| {
            if chunk.kind() == ChunkKind::SETTINGS {
                let settings = chunk.rows::<SettingRow>().expect("settings").rows;
                told.extend(settings.into_iter().filter(|s| s.key == "walk.first"));
            }
        });
        let [first] = &told[..] else { panic!("{told:?}") };
        let millis: u64 = first.value.parse().expect("a number");
        assert!((200_000..250_000).contains(&millis) && first.time < 4_000_000_000, "{first:?}");
        assert!(said.contains(" 1 walk;"), "{said}");
        assert!(has_walks(&folder, 1) && !has_walks(&folder, 2));
    });
}

/// OpenJ9 has another protocol, and answers HotSpot's with useless files: it is left alone.
#[test]
fn another_kind_of_jvm_is_refused_and_not_disturbed() {
    let folder = tempfile::tempdir().expect("a folder");
    // Whatever is mapped under those names.
    let library = std::fs::read_to_string("/proc/self/maps").expect("what is mapped");
    let library =
        library.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains("libgcc_s"));
    let Some(library) = library else { return jvm::say("  libgcc is no library of its own here") };
    let named = ["libjvm.so", "libj9vm29.so"].map(|name| {
        let copy = folder.path().join(name);
        std::fs::copy(library, &copy).expect("copied");
        copy.to_string_lossy().into_owned()
    });
    let script = "trap 'echo disturbed' QUIT; echo ready; read line; echo done";
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("LD_PRELOAD", named.join(":"));
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut printed = std::io::BufReader::new(program.stdout.take().expect("its output"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut printed, &mut line).expect("its first line");
    let pid = program.id().to_string();
    for command in ["attach", "watch"] {
        let output = folder.path().join(command);
        let done = finish(&mut memory_city(&[command, &pid, "-o", &output.to_string_lossy()]));
        let said = text(&done.stderr);
        assert!(done.status.code() == Some(1) && said.contains("runs on OpenJ9 (IBM Semeru)"), "{said}");
        assert!(said.contains("with HotSpot") && !output.exists(), "{said}");
    }
    drop(program.stdin.take());
    std::io::Read::read_to_string(&mut printed, &mut line).expect("the rest");
    program.wait().expect("a status");
    assert_eq!(line, "ready\ndone\n");
}
