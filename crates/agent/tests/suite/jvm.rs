//! The library inside real JVMs: what is in the trace is what the program did, and the program is never the worse for it.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, library, load, run, start, wait_until, with_jdks};
use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_testing::jvm::{self, Program};
use memory_city_testing::{root, rust_files};
use memory_city_wire::{ChunkKind, SampleRow, WEIGHT_ONE};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The guilty site comes first among what is alive; every sample that the walk has is linked, and is of the right class.
#[test]
fn a_leak_shows_its_site_and_a_walk_finds_the_samples() {
    with_jdks("a_leak_shows_its_site", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let options = AgentOptions { folder: folder.clone(), walks: 1500, ..AgentOptions::default() };
        let mut child = start(jdk, &options, class_path, &["Leaky"]);
        // Without somebody who takes them there are no walks: the first is when enough has leaked. Samples that are followed may be of
        // garbage, so those that outlived a collection are counted.
        let leaked = || {
            let trace = Trace::read(&folder);
            let of_site = |s: &&SampleRow| trace.stack(s).iter().any(|frame| frame.starts_with("Leaky.login:"));
            trace.alive().filter(of_site).count()
        };
        let begun = || AgentStatus::read(&folder).is_some_and(|s| s.live > 150 && s.collections > 1);
        wait_until("leaking", || begun() && leaked() > 40);
        let _lock = RecorderLock::take(&folder).expect("the lock");
        wait_until("a walk", || !WalkNote::waiting(&folder).is_empty());
        // Longer than from one walk to the next.
        std::thread::sleep(Duration::from_millis(options.walks + 500));
        let sent = Command::new("kill").arg(child.id().to_string()).status().expect("kill");
        assert!(sent.success());
        // A program that ends by this signal has 128 + 15 as its status.
        assert_eq!(child.wait().expect("a status").code(), Some(143));
        let trace = Trace::read(&folder);
        assert_eq!((trace.end(), trace.damaged), ("the program ended", 0));
        let mut sites: HashMap<String, f64> = HashMap::new();
        for sample in trace.alive() {
            let stack = trace.stack(sample);
            let site = stack.iter().find(|f| f.starts_with("Leaky.")).cloned().unwrap_or_default();
            *sites.entry(site).or_default() += sample.size as f64 * sample.weight as f64 / WEIGHT_ONE as f64;
        }
        let mut sites: Vec<_> = sites.into_iter().collect();
        sites.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert!(sites[0].0.starts_with("Leaky.login:"), "{sites:?}");
        // The line is that of the source.
        let source = std::fs::read_to_string(root().join("tests/java/Leaky.java")).expect("the source");
        let line: usize = sites[0].0.rsplit(':').next().and_then(|l| l.parse().ok()).expect("a line");
        assert!(source.lines().nth(line - 1).expect("a line").contains("new Session"), "{sites:?}");
        assert!(!trace.collections.is_empty() && trace.collections.iter().is_sorted_by_key(|c| c.number));
        assert!(trace.collections.iter().any(|c| c.cause.is_some()));
        assert_eq!(trace.run["process.command"], "Leaky");

        // Nobody took the first dump, so there is no second.
        let [walk] = WalkNote::waiting(&folder)[..] else { panic!("{:?}", WalkNote::waiting(&folder)) };
        let note = std::fs::read_to_string(WalkNote::file(&folder, walk)).expect("a note");
        let note = WalkNote::parse(&note).expect("a note of ours");
        assert!(note.links.len() > 20 && note.end > note.start);
        let input = Input::open(&WalkNote::dump(&folder, walk), &Progress::new()).expect("a dump");
        let handles = note.links.iter().map(|link| link.handle()).collect();
        let (heap, held) = hprof::load_held(&input, &handles, &Progress::new()).expect("a dump");
        let samples: HashMap<u64, &SampleRow> = trace.samples.iter().map(|s| (s.id, s)).collect();
        let (mut mirrors, mut wrong) = (0, Vec::new());
        for link in &note.links {
            let sample = samples[&link.number];
            assert_eq!(link.is_class(), trace.class(sample) == "java.lang.Class", "{sample:?}");
            let Some(object) = held.get(&link.handle()) else {
                assert_eq!(trace.class(sample), "java.lang.Class", "a sample is not in the dump: {sample:?}");
                mirrors += 1;
                continue;
            };
            let of = &heap.types()[heap.type_of(*object).0 as usize].name;
            let size = heap.size_of(*object);
            if of != trace.class(sample) || size != sample.size && of != "java.lang.Class" {
                wrong.push((of.clone(), size, trace.class(sample).to_owned(), sample.size));
            }
        }
        // A sample from before the dump must be linked, but for a few that threads were about to hand over. A look for deaths may come
        // long after the collection, so those of the first look after the walk may have died before it. All that die later were alive.
        let first_look = trace.deaths.iter().map(|death| death.time).filter(|time| *time > note.start).min();
        let gone: HashMap<u64, u64> = trace.deaths.iter().map(|death| (death.sample, death.time)).collect();
        let linked: HashSet<u64> = note.links.iter().map(|link| link.number).collect();
        let was_there =
            |s: &&SampleRow| s.time < note.start && gone.get(&s.id).is_none_or(|time| Some(*time) > first_look);
        let missed = trace.samples.iter().filter(was_there).filter(|s| !linked.contains(&s.id)).count();
        jvm::say(&format!("  {} samples linked, {mirrors} class mirrors not, {missed} missed", held.len()));
        assert!(missed <= 4, "{missed} of {}", linked.len());
        // Hidden classes are named in two ways.
        wrong.retain(|w| !w.0.contains("$$") && !w.2.contains("$$"));
        assert_eq!(wrong, [], "class and size by dump, by sample");
    });
}

/// Of deep stacks the innermost calls are recorded: the outermost of these says that it is none at which anything began.
#[test]
fn stacks_that_are_deeper_than_is_recorded_say_so() {
    with_jdks("stacks_that_are_deeper", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let sampling = SamplingMode::Every(1 << 10);
        let options = AgentOptions { folder: folder.clone(), sampling, walks: 0, ..AgentOptions::default() };
        // Interpreted, so that no call is put into another.
        let mut command = jdk.tool("java");
        jvm::output(command.args(["-Xint", &agent(&options), "-cp", class_path, "Deep"]));
        let trace = Trace::read(&folder);
        for (class, depth, is_cut) in [("Deep$Shallow", 22, false), ("Deep$Deepest", 64, true)] {
            let of_class = trace.samples.iter().filter(|sample| trace.class(sample) == class);
            let mut count = 0;
            for sample in of_class {
                count += 1;
                let outermost = std::iter::successors(sample.stack, |id| trace.frames[id].caller).last();
                let cut = outermost.map(|id| trace.frames[&id].cut);
                assert_eq!((trace.stack(sample).len(), cut), (depth, Some(is_cut)), "{class}");
            }
            assert!(count > 100, "{count} of {class}");
        }
    });
}

/// Programs that start again and again under one name, as in a container: the last traces stay, and the numbers go on.
#[test]
fn of_earlier_traces_the_last_ones_stay() {
    with_jdks("of_earlier_traces_the_last_ones_stay", |jdk, class_path, temporary| {
        let above = temporary.join("above");
        std::fs::create_dir(&above).expect("made");
        let folder = above.join("trace");
        let options = AgentOptions { folder, keep: Some(2), ..AgentOptions::default() };
        let printed: Vec<String> = (0..4).map(|_| run(jdk, &options, class_path, &["Counted", "100"])).collect();
        let entries = std::fs::read_dir(&above).expect("the folder").flatten();
        let mut left: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        left.sort_unstable();
        assert_eq!(left, ["trace-2", "trace-3", "trace-4"], "{printed:?}");
        assert_eq!(Trace::read(&above.join("trace-4")).end(), "the program ended");
    });
}

/// Killed at once, the trace is readable to what was written last, and says that it was cut.
#[test]
fn a_killed_program_leaves_a_readable_trace() {
    with_jdks("a_killed_program", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let options = AgentOptions { folder: folder.clone(), ..AgentOptions::default() };
        let mut child = start(jdk, &options, class_path, &["Leaky"]);
        wait_until("sampling", || AgentStatus::read(&folder).is_some_and(|s| s.samples > 300 && s.size > 0));
        child.kill().expect("killed");
        child.wait().expect("a status");
        let trace = Trace::read(&folder);
        assert!(trace.ends.is_empty() && trace.samples.len() > 50, "{} samples", trace.samples.len());
        assert!(trace.samples.iter().any(|s| trace.stack(s).iter().any(|f| f.starts_with("Leaky."))));
    });
}

/// What every allocation counts, sampling estimates: within three standard deviations.
#[test]
fn exact_recordings_count_and_samples_estimate() {
    const ROUNDS: u64 = 60_000;
    let rounds = ROUNDS.to_string();
    with_jdks("exact_recordings_count", |jdk, class_path, temporary| {
        let exact = temporary.join("exact");
        let options = AgentOptions { folder: exact.clone(), sampling: SamplingMode::All, ..AgentOptions::default() };
        let printed = run(jdk, &options, class_path, &["Counted", &rounds]);
        assert!(printed.contains("done"), "{printed}");
        let trace = Trace::read(&exact);
        let lost: u64 =
            trace.losses.iter().filter(|l| l.what == u32::from(ChunkKind::SAMPLES.0)).map(|l| l.count).sum();
        assert_eq!(lost, 0, "{:?}", trace.losses);
        let mut by_size: BTreeMap<(&str, u64), u64> = BTreeMap::new();
        for sample in &trace.samples {
            assert_eq!(sample.weight, WEIGHT_ONE);
            *by_size.entry((trace.class(sample), sample.size)).or_default() += 1;
        }
        // Arrays of a type have several lengths: meant is the usual one.
        let mut true_counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for ((class, size), count) in by_size {
            let of = true_counts.entry(class).or_default();
            *of = (*of).max((count, size));
        }
        for (class, count) in
            [("C0", ROUNDS), ("C1", ROUNDS), ("C2", ROUNDS + ROUNDS / 100), ("C3", ROUNDS), ("C4", ROUNDS)]
        {
            assert_eq!(true_counts[format!("Counted${class}").as_str()].0, count, "{class}");
        }
        assert_eq!(true_counts["Counted$C1[]"].0, ROUNDS / 100);
        // The numbers of each thread's samples have no gap.
        let mut next: HashMap<u32, u64> = HashMap::new();
        for sample in &trace.samples {
            let next = next.entry(sample.thread).or_default();
            assert_eq!(sample.sequence, *next);
            *next += 1;
        }

        let sampled = temporary.join("sampled");
        let sampling = SamplingMode::Every(8 << 10);
        run(
            jdk,
            &AgentOptions { folder: sampled.clone(), sampling, ..AgentOptions::default() },
            class_path,
            &["Counted", &rounds],
        );
        let trace = Trace::read(&sampled);
        for class in ["Counted$C0", "Counted$C1", "Counted$C2", "Counted$C3", "Counted$C4", "short[]"] {
            let (count, size) = true_counts[class];
            let truth = (count * size) as f64;
            let (mut estimate, mut variance, mut samples) = (0.0, 0.0, 0);
            for sample in trace.samples.iter().filter(|s| trace.class(s) == class && s.size == size) {
                let weight = sample.weight as f64 / WEIGHT_ONE as f64;
                estimate += weight * size as f64;
                variance += (weight * size as f64).powi(2) * (1.0 - 1.0 / weight);
                samples += 1;
            }
            let away = (estimate - truth).abs() / f64::sqrt(variance);
            jvm::say(&format!("  {class}: {samples} samples, {:.3} of the truth, {away:.1} sigma", estimate / truth));
            // Six classes on every JDK, in every test run: beyond four something is wrong, not unlucky.
            assert!(samples >= 30 && away < 4.0, "{class}: {estimate} of {truth}");
        }
    });
}

/// Loaded with the program, the library samples threads from their first object on. A VM of Java 17 that hears of the
/// interval later lets each thread use up its earlier distance first, 512 KB in the mean. Attached recordings begin so,
/// and the trace names the Java.
#[test]
fn what_a_thread_allocates_first_is_sampled() {
    const ROUNDS: u64 = 400;
    with_jdks("what_a_thread_allocates_first", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let sampling = SamplingMode::Every(1 << 10);
        let options = AgentOptions { folder: folder.clone(), sampling, walks: 0, ..AgentOptions::default() };
        // What is left of the room that the first thread has taken before anything is sampled goes unseen: little.
        let small = ["-XX:TLABSize=4k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB"];
        let printed = run(jdk, &options, class_path, &[&small[..], &["Counted", &ROUNDS.to_string()]].concat());
        assert!(printed.contains("done"), "{printed}");
        let trace = Trace::read(&folder);
        let (mut estimate, mut variance) = (0.0, 0.0);
        for sample in trace.samples.iter().filter(|sample| trace.class(sample) == "short[]" && sample.size == 216) {
            let weight = sample.weight as f64 / WEIGHT_ONE as f64;
            estimate += weight;
            variance += weight * (weight - 1.0);
        }
        // All of them together are a fifth of what a thread might have drawn, and would be missing. (How exact estimates are other tests say,
        // of threads whose room is not that small.)
        let java = trace.run.get("java.version");
        jvm::say(&format!("  about {estimate:.0} of {ROUNDS} arrays, sigma is {:.0}; {java:?}", f64::sqrt(variance)));
        let is_about = (ROUNDS as f64 / 2.0..ROUNDS as f64 * 2.0).contains(&estimate);
        assert!(is_about, "about {estimate} of {ROUNDS}");
        let version = trace.run["java.version"].split('.').next().and_then(|number| number.parse().ok());
        assert_eq!(version, Some(jdk.version), "{:?}", trace.run);
    });
}

/// Attached to a busy program by the JDK's own tool, told to stop, attached again: each trace is whole, and between them
/// nothing is recorded.
#[test]
fn recordings_of_a_running_program_begin_and_end() {
    with_jdks("recordings_of_a_running_program", |jdk, class_path, temporary| {
        let program = Program::start(jdk, &["-Xmx300m", "-XX:+EnableDynamicAgentLoading"], class_path, "Leaky");
        let load = |options: &AgentOptions| load(jdk, program.pid, options);
        let mut last = 0;
        let mut told = None;
        for name in ["first", "second"] {
            let folder = temporary.join(name);
            std::fs::create_dir(&folder).expect("made");
            // Nobody takes away what it says at its end.
            let _lock = RecorderLock::take(&folder).expect("the lock");
            let options = AgentOptions { folder: folder.clone(), walks: 0, ..AgentOptions::default() };
            assert!(load(&options).contains("return code: 0"));
            // There is one recording at a time.
            let twice = load(&AgentOptions { folder: temporary.join("other"), ..AgentOptions::default() });
            assert!(!twice.contains("return code: 0"), "{twice}");
            wait_until("sampling", || AgentStatus::read(&folder).is_some_and(|s| s.samples > 300));
            assert!(load(&AgentOptions { stop: true, ..options }).contains("return code: 0"));
            let trace = Trace::read(&folder);
            assert_eq!(trace.end(), "recording was ended from outside");
            assert_eq!(trace.run["recording.from-start"], "false");
            let size = |folder: &Path| folder.join("00-000000.mcity").metadata().expect("the trace").len();
            last = size(&folder);
            std::thread::sleep(Duration::from_millis(300));
            assert_eq!(size(&folder), last, "nothing is written any more");
            let status = AgentStatus::read(&folder).expect("its last words");
            assert_eq!(status.events_on, 0, "events are left on");
            // Nor does the VM call us: a thread may have been about to when it was told to stop.
            let between = told.map(|before| status.events_before - before);
            assert!(between.is_none_or(|calls| calls < 10), "{between:?} calls between two recordings");
            assert!(status.events_told > status.events_before + 300);
            told = Some(status.events_told);
        }
        assert!(last > 0 && !temporary.join("other").exists());
    });
}

/// A program that was left ends without us: we do not even hear of its end.
#[test]
fn the_end_of_a_program_that_was_left_is_not_told() {
    with_jdks("the_end_of_a_program_that_was_left", |jdk, class_path, temporary| {
        let said = temporary.join("said");
        let mut command = jdk.tool("java");
        // Should we be called at its end, that is said.
        command.env("MEMORY_CITY_FAULT", "end:1").args(["-Xmx100m", "-XX:+EnableDynamicAgentLoading"]);
        command.args(["-cp", class_path, "Resting"]).stdin(std::process::Stdio::piped());
        let mut child = command
            .stdout(std::fs::File::create(temporary.join("printed")).expect("a file"))
            .stderr(std::fs::File::create(&said).expect("a file"))
            .spawn()
            .expect("java runs");
        let ready = || std::fs::read_to_string(temporary.join("printed")).is_ok_and(|text| text.contains("ready"));
        wait_until("the program", ready);
        let folder = temporary.join("trace");
        for stop in [false, true] {
            let options = AgentOptions { folder: folder.clone(), stop, ..AgentOptions::default() };
            let answer = load(jdk, child.id(), &options);
            assert!(answer.contains("return code: 0"), "{answer}");
        }
        assert_eq!(Trace::read(&folder).end(), "recording was ended from outside");
        drop(child.stdin.take());
        assert!(child.wait().expect("a status").success());
        let said = std::fs::read_to_string(&said).expect("what it said");
        assert!(!said.contains("memory-city"), "{said}");
    });
}

/// The page lists all facts and settings of a recording, and no others.
#[test]
fn the_page_of_the_format_lists_the_facts() {
    let page = std::fs::read_to_string(root().join("docs/trace-format.md")).expect("the page");
    let table = page.split("## Facts of the run").nth(1).expect("the section");
    let cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let listed: HashSet<&str> = cells.flat_map(|cell| cell.split("`")).filter(|word| !word.contains(", ")).collect();
    let listed: HashSet<&str> = listed.into_iter().filter(|word| !word.trim().is_empty()).collect();
    let folders = ["crates/agent/src", "crates/formats/src/wire", "crates/wire/src", "src/cli", "src/jvm"];
    let files = folders.iter().flat_map(|folder| rust_files(&root().join(folder)));
    let sources: String = files.map(|file| std::fs::read_to_string(file).expect("a source")).collect();
    for fact in &listed {
        assert!(sources.contains(&format!("\"{fact}\"")), "nobody writes {fact}");
    }
    with_jdks("the_page_of_the_format", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let packages = "com.acme, org.x".to_owned();
        let options = AgentOptions { folder: folder.clone(), identity: 1000, packages, ..AgentOptions::default() };
        run(jdk, &options, class_path, &["Counted", "1000"]);
        let trace = Trace::read(&folder);
        assert_eq!(trace.run["program.packages"], "com.acme, org.x");
        let written = trace.run.keys().map(String::as_str).chain(trace.settings.iter().map(|row| row.key.as_str()));
        let missing: Vec<&str> = written.filter(|key| !listed.contains(key)).collect();
        assert_eq!(missing, [""; 0], "not in the page");
        assert!(trace.run.len() > 15, "{:?}", trace.run);
    });
}

/// The trace names the collector.
#[test]
fn the_collector_is_named() {
    with_jdks("the_collector_is_named", |jdk, class_path, temporary| {
        for (flag, name) in [("UseSerialGC", "Serial"), ("UseParallelGC", "Parallel"), ("UseG1GC", "G1")] {
            let folder = temporary.join(name);
            let options = AgentOptions { folder: folder.clone(), ..AgentOptions::default() };
            let mut command = jdk.tool("java");
            command.args(["-Xmx300m", &format!("-XX:+{flag}"), &agent(&options), "-cp", class_path, "Counted", "1000"]);
            jvm::output(&mut command);
            let trace = Trace::read(&folder);
            assert!(trace.run["vm.collector"].starts_with(name), "{flag}: {:?}", trace.run);
            assert!(trace.run["process.command"].contains("Counted"), "{flag}: {:?}", trace.run);
        }
    });
}

/// Bad options, a folder that cannot be made, a full disk: the program runs as if nothing were, and one line says why.
#[test]
fn a_recorder_that_cannot_record_leaves_the_program_alone() {
    with_jdks("a_recorder_that_cannot_record", |jdk, class_path, temporary| {
        let file = temporary.join("file");
        std::fs::write(&file, "x").expect("written");
        let below = AgentOptions { folder: file.join("trace"), ..AgentOptions::default() };
        for options in ["folder=%zz".to_owned(), "fodler=x".to_owned(), below.text()] {
            let mut command = Command::new(jdk.home.join("bin/java"));
            command
                .arg(format!("-agentpath:{}={options}", library().display()))
                .args(["-cp", class_path, "Counted", "10"]);
            let printed = jvm::output(&mut command);
            assert!(printed.contains("done 10"), "{printed}");
            let said: Vec<&str> = printed.lines().filter(|l| l.starts_with("memory-city:")).collect();
            assert!(matches!(said[..], [line] if line.contains("is not recorded")), "{printed}");
        }
        // Files may have 64 KB: writing fails in the midst, as on a full disk.
        let full = temporary.join("full");
        let options = AgentOptions { folder: full.clone(), sampling: SamplingMode::All, ..AgentOptions::default() };
        let java = jdk.home.join("bin/java");
        let line = format!(
            "trap '' XFSZ; ulimit -f 64; exec '{}' -XX:-UsePerfData '{}' -cp '{class_path}' Counted 100000",
            java.display(),
            agent(&options)
        );
        let printed = jvm::output(Command::new("sh").args(["-c", &line]));
        assert!(printed.contains("done 100000"), "{printed}");
        let said: Vec<&str> = printed.lines().filter(|l| l.starts_with("memory-city:")).collect();
        assert!(matches!(said[..], [line] if line.contains("recording has stopped")), "{printed}");
        let trace = Trace::read(&full);
        assert!(!trace.samples.is_empty() && trace.ends.is_empty());
    });
}

/// A short queue loses samples, and exactly those are counted: without a recording process, and with one that stands
/// still and takes no walk.
#[test]
fn what_is_lost_is_counted_exactly() {
    const ROUNDS: u64 = 60_000;
    with_jdks("what_is_lost_is_counted", |jdk, class_path, temporary| {
        for stands_still in [false, true] {
            let folder = temporary.join(format!("trace-{stands_still}"));
            std::fs::create_dir(&folder).expect("made");
            let _lock = stands_still.then(|| RecorderLock::take(&folder).expect("the lock"));
            let options = AgentOptions {
                folder: folder.clone(),
                sampling: SamplingMode::All,
                queue: 5000,
                walks: 100,
                ..AgentOptions::default()
            };
            let printed = run(jdk, &options, class_path, &["Counted", &ROUNDS.to_string()]);
            assert!(printed.contains(&format!("done {ROUNDS}")), "{printed}");
            assert_eq!(WalkNote::waiting(&folder).len(), usize::from(stands_still), "one walk waits at most");
            let trace = Trace::read(&folder);
            let of_samples = trace.losses.iter().filter(|l| l.what == u32::from(ChunkKind::SAMPLES.0));
            let lost: u64 = of_samples.map(|l| l.count).sum();
            // Each sample has a number, lost ones too, and the recorder tells the recording process how many it has given.
            let seen = trace.samples.len() as u64;
            let given = AgentStatus::read(&folder).map(|status| status.samples);
            assert_eq!(given, stands_still.then_some(seen + lost), "each is in the trace or counted");
            let [end] = &trace.ends[..] else { panic!("{:?}", trace.ends) };
            assert_eq!((end.lost, end.samples), (lost, seen));
            // Each thread numbers its own: what is lost between two samples is a gap, what is lost behind the last one is none.
            let mut last: HashMap<u32, (u64, u64)> = HashMap::new();
            for sample in &trace.samples {
                let (seen, most) = last.entry(sample.thread).or_default();
                *seen += 1;
                *most = (*most).max(sample.sequence + 1);
            }
            let gaps: u64 = last.values().map(|(seen, most)| most - seen).sum();
            // What the program says it made is there, or among those that are lost.
            let made = |class: &str| trace.samples.iter().filter(|s| trace.class(s) == class).count() as u64;
            let missing: u64 = ["C0", "C1", "C3", "C4"].iter().map(|c| ROUNDS - made(&format!("Counted${c}"))).sum();
            jvm::say(&format!("  {seen} samples, {lost} lost, gaps {gaps}, {missing} of four classes"));
            assert!(
                lost > 1000 && gaps <= lost && missing > 0 && missing <= lost,
                "{lost} lost, gaps {gaps}, {missing}"
            );
        }
    });
}

/// One library, for every Linux that has glibc.
#[test]
fn the_library_needs_only_what_every_glibc_system_has() {
    let Ok(listed) = Command::new("objdump").arg("-p").arg(library()).output() else {
        return jvm::skip("the_library_needs_only", "there is no objdump");
    };
    let text = String::from_utf8_lossy(&listed.stdout);
    let needed: Vec<&str> = text.lines().filter_map(|l| l.trim().strip_prefix("NEEDED")).map(str::trim).collect();
    let known = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];
    assert!(!needed.is_empty() && needed.iter().all(|n| known.contains(n)), "{needed:?}");
    let versions = text.lines().filter_map(|l| l.split_whitespace().find_map(|w| w.strip_prefix("GLIBC_2.")));
    let newest = versions.filter_map(|v| v.split('.').next()?.parse::<u32>().ok()).max().expect("versions");
    assert!(newest <= 34, "needs glibc 2.{newest}; docs/recorder.md says 2.34");
}
