//! The library inside real JVMs: what is in the trace is what the program did, and the program is never the worse for it.

#![cfg(target_os = "linux")]

use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote};
use memory_city_agent::{AgentOptions, LIBRARY, SamplingMode};
use memory_city_formats::hprof;
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_testing::jvm::{self, Jdk, PATIENCE, Program};
use memory_city_testing::root;
use memory_city_wire::{
    ChunkKind, ClassRow, DeathRow, EndRow, FrameRow, GcRow, LossRow, MethodRow, PartReader, Piece, RunRow, SampleRow,
    StringRow, ThreadRow, WEIGHT_ONE,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// All that the program's stream says.
#[derive(Default)]
struct Trace {
    strings: HashMap<u32, String>,
    classes: HashMap<u32, ClassRow>,
    methods: HashMap<u32, MethodRow>,
    frames: HashMap<u32, FrameRow>,
    threads: HashMap<u32, ThreadRow>,
    samples: Vec<SampleRow>,
    deaths: Vec<DeathRow>,
    collections: Vec<GcRow>,
    losses: Vec<LossRow>,
    run: BTreeMap<String, String>,
    ends: Vec<EndRow>,
    damaged: u64,
}

impl Trace {
    fn read(folder: &Path) -> Trace {
        let mut trace = Trace::default();
        let mut parts: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("the folder").flatten().map(|e| e.path()).collect();
        parts.retain(|p| p.extension().is_some_and(|e| e == "mcity"));
        parts.sort();
        for part in parts {
            let bytes = std::fs::read(&part).expect("a part");
            for piece in PartReader::new(&part, &bytes).expect("a part of ours") {
                let Piece::Chunk(chunk) = piece else {
                    trace.damaged += 1;
                    continue;
                };
                macro_rules! rows {
                    ($row:ty) => {
                        chunk.rows::<$row>().expect("rows").rows
                    };
                }
                match chunk.kind() {
                    ChunkKind::STRINGS => trace.strings.extend(rows!(StringRow).into_iter().map(|r| (r.id, r.text))),
                    ChunkKind::CLASSES => trace.classes.extend(rows!(ClassRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::METHODS => trace.methods.extend(rows!(MethodRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::FRAMES => trace.frames.extend(rows!(FrameRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::THREADS => trace.threads.extend(rows!(ThreadRow).into_iter().map(|r| (r.id, r))),
                    ChunkKind::SAMPLES => {
                        // What is used must have been defined before.
                        for sample in rows!(SampleRow) {
                            assert!(trace.classes.contains_key(&sample.class) || sample.class == 0, "{sample:?}");
                            assert!(trace.threads.contains_key(&sample.thread), "{sample:?}");
                            assert!(sample.stack.is_none_or(|s| trace.frames.contains_key(&s)), "{sample:?}");
                            trace.samples.push(sample);
                        }
                    }
                    ChunkKind::DEATHS => trace.deaths.extend(rows!(DeathRow)),
                    ChunkKind::GCS => trace.collections.extend(rows!(GcRow)),
                    ChunkKind::LOSSES => trace.losses.extend(rows!(LossRow)),
                    ChunkKind::RUN => trace.run.extend(rows!(RunRow).into_iter().map(|r| (r.key, r.value))),
                    ChunkKind::END => trace.ends.extend(rows!(EndRow)),
                    _ => {}
                }
            }
        }
        trace
    }

    fn class(&self, sample: &SampleRow) -> &str {
        self.classes.get(&sample.class).map_or("?", |c| &self.strings[&c.name])
    }

    /// The frames of a sample, innermost first: `Leaky.login:26`.
    fn stack(&self, sample: &SampleRow) -> Vec<String> {
        let (mut frames, mut at) = (Vec::new(), sample.stack);
        while let Some(frame) = at.map(|id| &self.frames[&id]) {
            let method = &self.methods[&frame.method];
            let lines: Vec<&[u64]> = method.lines.chunks(2).collect();
            let index = u64::from(frame.index.unwrap_or(u32::MAX));
            let line = lines.iter().rev().find(|l| l[0] <= index).map_or(0, |l| l[1]);
            frames.push(format!("{}.{}:{line}", self.strings[&method.class], self.strings[&method.name]));
            at = frame.caller;
        }
        frames
    }

    /// Samples whose objects are not known to be dead.
    fn alive(&self) -> impl Iterator<Item = &SampleRow> {
        let dead: HashSet<u64> = self.deaths.iter().map(|d| d.sample).collect();
        self.samples.iter().filter(move |s| !dead.contains(&s.id))
    }

    fn end(&self) -> &str {
        match &self.ends[..] {
            [end] => {
                assert_eq!(end.samples as usize, self.samples.len());
                &end.reason
            }
            other => panic!("{} ends", other.len()),
        }
    }
}

/// The library that cargo has built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let library = test.parent().expect("a folder").join(LIBRARY);
    assert!(library.exists(), "{} was not built", library.display());
    library
}

fn agent(options: &AgentOptions) -> String {
    format!("-agentpath:{}={}", library().display(), options.text())
}

/// The JDKs to test with, and the classes of the test programs in a folder that is compiled once for each.
fn with_jdks(test: &str, mut run: impl FnMut(&Jdk, &str, &Path)) {
    let jdks = jvm::jdks();
    if jdks.range(17..).next().is_none() {
        return jvm::skip(test, "there is no JDK 17 or newer");
    }
    for jdk in jdks.range(17..).map(|(_, jdk)| jdk) {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = ["Leaky", "Counted", "Unloading", "Resting"].map(|n| root().join(format!("tests/java/{n}.java")));
        jdk.compile(&sources.each_ref().map(PathBuf::as_path), ".", folder.path());
        jvm::say(&format!("{test}: JDK {}", jdk.version));
        run(jdk, &folder.path().to_string_lossy(), folder.path());
    }
}

fn start(jdk: &Jdk, options: &AgentOptions, class_path: &str, words: &[&str]) -> Child {
    let mut command = jdk.tool("java");
    command.args(["-Xmx300m", &agent(options), "-cp", class_path]).args(words);
    command.stdout(Stdio::null()).spawn().expect("java runs")
}

fn run(jdk: &Jdk, options: &AgentOptions, class_path: &str, words: &[&str]) -> String {
    let mut command = jdk.tool("java");
    jvm::output(command.args(["-Xmx300m", &agent(options), "-cp", class_path]).args(words))
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The guilty site comes first among what is alive; every sample that the walk has is linked, and is of the right class.
#[test]
fn a_leak_shows_its_site_and_a_walk_finds_the_samples() {
    with_jdks("a_leak_shows_its_site", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let options = AgentOptions { folder: folder.clone(), walks: 1500, ..AgentOptions::default() };
        let mut child = start(jdk, &options, class_path, &["Leaky", "6000"]);
        // The first walk may be before much has leaked: the second is looked at.
        wait_until("a walk", || WalkNote::waiting(&folder) == [1]);
        for file in [WalkNote::dump(&folder, 1), WalkNote::file(&folder, 1)] {
            std::fs::remove_file(file).expect("removed");
        }
        assert!(child.wait().expect("a status").success());
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

        // Nobody took the second dump, so there is no third.
        let [walk] = WalkNote::waiting(&folder)[..] else { panic!("{:?}", WalkNote::waiting(&folder)) };
        let note = std::fs::read_to_string(WalkNote::file(&folder, walk)).expect("a note");
        let note = WalkNote::parse(&note).expect("a note of ours");
        assert!(note.links.len() > 20 && note.end > note.start);
        let input = Input::open(&WalkNote::dump(&folder, walk), &Progress::new()).expect("a dump");
        let handles = note.links.iter().map(|l| l.1).collect();
        let (heap, held) = hprof::load_held(&input, &handles, &Progress::new()).expect("a dump");
        let samples: HashMap<u64, &SampleRow> = trace.samples.iter().map(|s| (s.id, s)).collect();
        let (mut mirrors, mut wrong) = (0, Vec::new());
        for (sample, handle) in &note.links {
            let sample = samples[sample];
            let Some(object) = held.get(handle) else {
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
        jvm::say(&format!("  {} samples linked, {mirrors} class mirrors not", held.len()));
        // Hidden classes are named in two ways.
        wrong.retain(|w| !w.0.contains("$$") && !w.2.contains("$$"));
        assert_eq!(wrong, [], "class and size by dump, by sample");
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

/// Methods whose classes are unloaded all the time have their names all the same, and nothing crashes.
#[test]
fn names_are_right_while_classes_come_and_go() {
    with_jdks("names_are_right_while_classes_come_and_go", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let options =
            AgentOptions { folder: folder.clone(), sampling: SamplingMode::Every(4096), ..AgentOptions::default() };
        let printed = run(jdk, &options, class_path, &["Unloading", "6000"]);
        let unloaded: u64 = printed.lines().find_map(|l| l.strip_prefix("done ")?.parse().ok()).expect("how many");
        assert!(unloaded > 100, "{unloaded} classes were unloaded");
        let trace = Trace::read(&folder);
        assert_eq!(trace.end(), "the program ended");
        let work: Vec<&SampleRow> = trace.samples.iter().filter(|s| trace.class(s) == "long[]").collect();
        let right =
            work.iter().filter(|s| trace.stack(s).first().is_some_and(|f| f.starts_with("Unloading$Work.get:")));
        let right = right.count();
        jvm::say(&format!("  {unloaded} classes unloaded, {right} of {} samples in their methods", work.len()));
        assert!(work.len() > 100 && right * 100 >= work.len() * 95, "{right} of {}", work.len());
        assert!(
            trace.methods.values().all(|m| !trace.strings[&m.name].is_empty() && !trace.strings[&m.class].is_empty())
        );
    });
}

/// Attached to a busy program by the JDK's own tool, told to stop, attached again: each trace is whole, and between them
/// nothing is recorded.
#[test]
fn recordings_of_a_running_program_begin_and_end() {
    with_jdks("recordings_of_a_running_program", |jdk, class_path, temporary| {
        let program = Program::start(jdk, &["-Xmx300m", "-XX:+EnableDynamicAgentLoading"], class_path, "Leaky");
        let load = |options: &AgentOptions| {
            let mut command = jdk.tool("jcmd");
            command.arg(program.pid.to_string()).arg("JVMTI.agent_load").arg(library());
            // jcmd takes an equals sign for its own unless it is quoted.
            command.arg(format!("\"{}\"", options.text()));
            jvm::output(&mut command)
        };
        let mut last = 0;
        for name in ["first", "second"] {
            let folder = temporary.join(name);
            let options = AgentOptions { folder: folder.clone(), ..AgentOptions::default() };
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
        }
        assert!(last > 0 && !temporary.join("other").exists());
    });
}

/// On a program at rest, objects per class at a walk are those of the VM's own histograms before and after.
#[test]
fn a_walk_of_a_program_at_rest_counts_what_the_vm_counts() {
    with_jdks("a_walk_of_a_program_at_rest", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let options = AgentOptions { folder: folder.clone(), walks: 200, ..AgentOptions::default() };
        let agent = agent(&options);
        let program = Program::start(jdk, &[&agent, "-Xmx300m"], class_path, "Resting");
        let take = |number: u64| {
            wait_until("a walk", || WalkNote::waiting(&folder).contains(&number));
            let dump = WalkNote::dump(&folder, number);
            let input = Input::open(&dump, &Progress::new()).expect("a dump");
            let counted = hprof::histogram(&input, &Progress::new()).expect("a dump");
            for file in [dump, WalkNote::file(&folder, number)] {
                std::fs::remove_file(file).expect("removed");
            }
            counted.rows.into_iter().map(|r| (r.class, r.objects)).collect::<BTreeMap<_, _>>()
        };
        // The first of each loads classes; histograms collect garbage, and so bring about the walks.
        let mut walk = 0;
        let mut next = || {
            walk += 1;
            take(walk)
        };
        program.histogram();
        next();
        let before = program.histogram();
        let counted = next();
        let after = program.histogram();
        let steady = before.iter().filter(|(class, row)| after.get(*class).map(|r| r.0) == Some(row.0));
        let differing: Vec<_> = steady
            .clone()
            .filter_map(|(class, row)| {
                let walked = counted.get(class).copied().unwrap_or(0);
                (walked != row.0).then(|| format!("{class}: {} by the VM, {walked} by the walk", row.0))
            })
            // What asks for the dump is in it: its path, the object that is asked.
            .filter(|line| {
                !["java.lang.Class:", "java.lang.String:", "byte[]:", "com.sun.management."]
                    .iter()
                    .any(|c| line.starts_with(c))
            })
            .collect();
        jvm::say(&format!("  {} classes steady, {} differ: {differing:?}", steady.clone().count(), differing.len()));
        assert!(steady.count() > 200 && before["Resting$Entry"].0 == 30_000);
        assert_eq!(counted["Resting$Entry"], 30_000);
        assert!(differing.len() <= 3, "{differing:#?}");
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
