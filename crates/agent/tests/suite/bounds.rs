//! The recorder stays within its bounds, and a fault of its own ends the recording and nothing else.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, library, load, load_from, wait_until, with_jdks};
use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote};
use memory_city_agent::{AgentOptions, PROGRAM_ENDED, SamplingMode};
use memory_city_testing::jvm::{self, Jdk, PATIENCE, Program};
use std::io::BufRead;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A fault in any call of the VM, or in the recorder's own thread, prints one line and ends the recording. The trace so
/// far can be read, and the program runs to its end.
#[test]
fn a_fault_ends_the_recording_and_not_the_program() {
    with_jdks("a_fault_ends_the_recording", |jdk, class_path, temporary| {
        for fault in [
            "sample:1",
            "sample:5000",
            "taking:3000",
            "collection-start:1",
            "collection-end:2",
            "worker:3",
            "histogram:1",
            "visit:1000",
            "load:1",
            "start:1",
            "end:1",
            "unload:1",
        ] {
            let folder = temporary.join(fault.replace(':', "-"));
            let sampling = SamplingMode::Every(1 << 10);
            let mut options = AgentOptions { folder: folder.clone(), sampling, ..AgentOptions::default() };
            let is_visit = fault.starts_with("visit");
            // Objects are only visited where somebody takes walks.
            let _lock = is_visit.then(|| {
                std::fs::create_dir(&folder).expect("made");
                RecorderLock::take(&folder).expect("the lock")
            });
            if is_visit {
                (options.identity, options.walks) = (1_000_000, 100);
            }
            // What is at the beginning and at the end of all takes no longer where there is little between.
            let rounds = if fault.contains("load") { "30000" } else { "300000" };
            let mut command = jdk.tool("java");
            command.env("MEMORY_CITY_FAULT", fault);
            command.args(["-Xmx100m", &agent(&options), "-cp", class_path, "Counted", rounds]);
            let printed = jvm::output(&mut command);
            assert!(printed.contains(&format!("done {rounds}")), "{fault}: {printed}");
            let said: Vec<&str> = printed.lines().filter(|l| l.contains("memory-city")).collect();
            assert!(
                matches!(said[..], [line] if line.contains("recording has stopped: a fault")),
                "{fault}: {printed}"
            );
            assert!(!printed.contains("panicked"), "{fault}: {printed}");
            if ["load:1", "start:1"].contains(&fault) {
                // Nothing had begun.
                assert!(fault == "start:1" || !folder.exists(), "{fault}");
                continue;
            }
            let trace = Trace::read(&folder);
            let samples = trace.samples.len();
            jvm::say(&format!("  {fault}: {samples} samples, {}", said[0]));
            assert_eq!(trace.damaged, 0, "{fault}");
            // The recorder's own thread.
            let is_own = ["worker", "histogram", "visit"].iter().any(|place| fault.starts_with(place));
            let at_once = fault == "sample:1" || fault == "worker:3" || is_visit;
            assert!(at_once || samples > 1000, "{fault}: {samples} samples");
            if let [end] = &trace.ends[..] {
                assert_eq!(end.samples as usize, samples, "{fault}");
                assert_eq!(end.reason == PROGRAM_ENDED, fault == "unload:1", "{fault}: {}", end.reason);
            } else {
                // The thread that writes has failed itself. What it had not written is counted all the same, and no event is left on.
                assert!(is_own, "{fault}");
                let status = AgentStatus::read(&folder).expect("its last words");
                let seen = (status.samples - status.lost, status.events_on);
                assert_eq!(seen, (samples as u64, 0), "{status:?}");
            }
        }
    });
}

/// A fault while the library is loaded into a program that runs is one line of that program, and a number for whoever attaches.
#[test]
fn a_fault_while_attaching_leaves_the_program_as_it_was() {
    with_jdks("a_fault_while_attaching", |jdk, class_path, temporary| {
        let [printed, said] = ["printed", "said"].map(|name| temporary.join(name));
        let [out, err] = [&printed, &said].map(|path| std::fs::File::create(path).expect("a file"));
        let mut command = jdk.tool("java");
        command.env("MEMORY_CITY_FAULT", "attach:1").args(["-Xmx300m", "-XX:+EnableDynamicAgentLoading"]);
        command.args(["-cp", class_path, "Leaky", "4000"]);
        let mut child = command.stdout(out).stderr(err).spawn().expect("java runs");
        let has_said = |what: &str| std::fs::read_to_string(&printed).is_ok_and(|text| text.contains(what));
        wait_until("the program", || has_said("ready"));
        let folder = temporary.join("trace");
        let answer = load(jdk, child.id(), &AgentOptions { folder: folder.clone(), ..AgentOptions::default() });
        assert!(answer.contains("return code: 2") && !folder.exists(), "{answer}");
        assert!(child.wait().expect("a status").success() && has_said("done"), "the program goes on");
        let said = std::fs::read_to_string(&said).expect("what it said");
        let ours: Vec<&str> = said.lines().filter(|line| line.contains("memory-city")).collect();
        let what = "recording has stopped: a fault of the recorder in attaching";
        assert!(matches!(ours[..], [line] if line.contains(what)), "{said}");
    });
}

/// A fault in a sample ends one recording. The next one of the same program sees the thread that it happened in as any other.
#[test]
fn a_thread_in_which_a_fault_happened_is_sampled_in_the_next_recording() {
    with_jdks("a_thread_in_which_a_fault_happened", |jdk, class_path, temporary| {
        let printed = temporary.join("printed");
        let mut command = jdk.tool("java");
        command.env("MEMORY_CITY_FAULT", "taking:300").args(["-Xmx300m", "-XX:+EnableDynamicAgentLoading"]);
        command.args(["-cp", class_path, "Leaky", "60000"]).stderr(Stdio::null());
        let mut child = command.stdout(std::fs::File::create(&printed).expect("a file")).spawn().expect("java runs");
        wait_until("the program", || std::fs::read_to_string(&printed).is_ok_and(|text| text.contains("ready")));
        // All of these are of the program's own thread, but for a few of the one that loads the library.
        let of_main = |trace: &Trace| {
            let is_main = |thread: &u32| trace.strings[&trace.threads[thread].name] == "main";
            trace.samples.iter().filter(|sample| is_main(&sample.thread)).count()
        };
        for (name, reason) in
            [("first", "a fault of the recorder in a sample"), ("second", "recording was ended from outside")]
        {
            let folder = temporary.join(name);
            std::fs::create_dir(&folder).expect("made");
            // Nobody takes away what it says at its end.
            let _lock = RecorderLock::take(&folder).expect("the lock");
            let sampling = SamplingMode::Every(1 << 10);
            let options = AgentOptions { folder: folder.clone(), sampling, walks: 0, ..AgentOptions::default() };
            let answer = load(jdk, child.id(), &options);
            assert!(answer.contains("return code: 0"), "{answer}");
            let seen = || AgentStatus::read(&folder).unwrap_or_default();
            match name {
                "first" => wait_until("the fault", || !seen().ended.is_empty()),
                _ => {
                    wait_until("samples", || seen().samples > 300);
                    load(jdk, child.id(), &AgentOptions { stop: true, ..options });
                }
            }
            let trace = Trace::read(&folder);
            jvm::say(&format!("  {name}: {} of {} samples are of main", of_main(&trace), trace.samples.len()));
            assert_eq!(trace.ends.iter().map(|end| end.reason.as_str()).collect::<Vec<_>>(), [reason]);
            assert!(of_main(&trace) > 200, "{name}: {} of {}", of_main(&trace), trace.samples.len());
        }
        child.kill().expect("killed");
        child.wait().expect("a status");
    });
}

/// A recorder may get stuck at its last walk, as on a disk that does not answer. It keeps the program for less than the
/// ten seconds after which containers are killed. The trace has all that was recorded.
#[test]
fn the_end_of_a_program_waits_for_less_than_containers_do() {
    const ROUNDS: usize = 1000;
    with_jdks("the_end_of_a_program_waits", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let options = AgentOptions { folder: folder.clone(), sampling: SamplingMode::All, ..AgentOptions::default() };
        let mut command = jdk.tool("java");
        command.env("MEMORY_CITY_FAULT", "last-walk:1").args([&agent(&options), "-cp", class_path, "Counted"]);
        let mut child = command.arg(ROUNDS.to_string()).stdout(Stdio::piped()).spawn().expect("java runs");
        let printed = std::io::BufReader::new(child.stdout.take().expect("its output"));
        let last = printed.lines().map_while(Result::ok).find(|line| line.starts_with("done"));
        let done = Instant::now();
        assert!(last.is_some() && child.wait().expect("a status").success());
        let waited = done.elapsed();
        jvm::say(&format!("  it took {waited:.1?} to end"));
        assert!(waited > Duration::from_secs(5) && waited < Duration::from_secs(10), "{waited:?}");
        let trace = Trace::read(&folder);
        let made = trace.samples.iter().filter(|sample| trace.class(sample) == "Counted$C0").count();
        assert_eq!((made, trace.ends.len(), trace.damaged), (ROUNDS, 0, 0));
    });
}

/// A storm of names, stacks and samples: what the process takes beyond what it takes unrecorded is within 64 MB and 24 bytes a live
/// sample.
#[test]
fn memory_is_bounded_whatever_the_program_does() {
    with_jdks("memory_is_bounded", |jdk, class_path, temporary| {
        let plain = resident(jdk, class_path, None);
        let folder = temporary.join("trace");
        let options = AgentOptions {
            folder: folder.clone(),
            sampling: SamplingMode::All,
            followed: 400_000,
            ..AgentOptions::default()
        };
        // Nobody takes away what lies in the folder: the last status is there.
        let _lock = {
            std::fs::create_dir(&folder).expect("made");
            RecorderLock::take(&folder).expect("the lock")
        };
        let options = AgentOptions { walks: 0, ..options };
        let recorded = resident(jdk, class_path, Some(&options));
        let status = AgentStatus::read(&folder).expect("a status");
        let trace = Trace::read(&folder);
        let more = recorded.saturating_sub(plain);
        let bound = (64 << 20) + 24 * status.live;
        jvm::say(&format!(
            "  {} samples, {} live, {} frames, {} strings: {} MB more than {} MB, bound {} MB",
            status.samples,
            status.live,
            trace.frames.len(),
            trace.strings.len(),
            more >> 20,
            plain >> 20,
            bound >> 20
        ));
        assert!(status.live > 100_000 && trace.frames.len() > 50_000, "it was a storm");
        assert!(more < bound, "{more} bytes more, {bound} are allowed");
    });
}

/// The same at every moment, with two hundred threads and walk after walk. The other run has the VM's memory for dumps
/// too, since the JDK's own tool takes as many.
#[test]
fn memory_is_bounded_during_walks_and_with_many_threads() {
    with_jdks("memory_is_bounded_during_walks", |jdk, class_path, temporary| {
        let Some(told) = AllocatedTold::compile(temporary) else { return };
        let plain = most_allocated(jdk, class_path, None, &told);
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let options = AgentOptions {
            folder: folder.clone(),
            sampling: SamplingMode::All,
            followed: 400_000,
            walks: 100,
            duty: 1,
            ..AgentOptions::default()
        };
        let recorded = most_allocated(jdk, class_path, Some(&options), &told);
        let status = AgentStatus::read(&folder).expect("a status");
        let threads = Trace::read(&folder).threads.len();
        let more = recorded.bytes.saturating_sub(plain.bytes);
        // The same as without walks: what holds the samples meanwhile has room in it.
        let bound = (64 << 20) + 24 * recorded.live;
        jvm::say(&format!(
            "  {} samples of {threads} threads, {} live, {} walks: {} MB more than {} MB at most, bound {} MB",
            status.samples,
            recorded.live,
            recorded.dumps,
            more >> 20,
            plain.bytes >> 20,
            bound >> 20
        ));
        assert!(threads > 200 && recorded.live > 100_000 && recorded.dumps >= 2, "it was a storm");
        assert!(more < bound, "{more} bytes more, {bound} are allowed");
    });
}

/// What a storm of many threads came to.
struct SeenStorm {
    /// The most that native code ever had allocated and not freed.
    bytes: u64,
    /// The most samples that were followed, as far as that was seen.
    live: u64,
    /// Dumps of the heap that were written meanwhile.
    dumps: u64,
}

fn most_allocated(jdk: &Jdk, class_path: &str, options: Option<&AgentOptions>, told: &AllocatedTold) -> SeenStorm {
    let mut command = jdk.tool("java");
    command.args(["-Xms200m", "-Xmx200m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    command.arg(told.agent()).args(options.map(agent));
    command.args(["-cp", class_path, "Storm", "150000", "20000", "60000", "200"]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("java runs");
    let (mut seen, begun) = (SeenStorm { bytes: 0, live: 0, dumps: 0 }, Instant::now());
    let (dump, mut asked): (_, Option<std::process::Child>) = (told.file.with_extension("hprof"), None);
    let status = loop {
        assert!(begun.elapsed() < PATIENCE, "it takes too long");
        match options {
            Some(AgentOptions { folder, .. }) => {
                seen.live = seen.live.max(AgentStatus::read(folder).map_or(0, |status| status.live));
                for number in WalkNote::waiting(folder) {
                    // The note goes last: then there may be another one.
                    std::fs::remove_file(WalkNote::dump(folder, number)).expect("a dump");
                    std::fs::remove_file(WalkNote::file(folder, number)).expect("a note");
                    seen.dumps += 1;
                }
            }
            None if asked.as_mut().is_none_or(|tool| tool.try_wait().expect("a status").is_some()) => {
                seen.dumps += u64::from(std::fs::remove_file(&dump).is_ok());
                let words =
                    [&child.id().to_string(), "GC.heap_dump", "-all", &dump.to_string_lossy()].map(str::to_owned);
                let mut tool = jdk.tool("jcmd");
                asked = Some(tool.args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("jcmd runs"));
            }
            None => {}
        }
        match child.try_wait().expect("a status") {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    };
    if let Some(mut tool) = asked {
        tool.wait().expect("a status");
    }
    assert!(status.success() && seen.dumps > 0, "{status}, {} dumps", seen.dumps);
    SeenStorm { bytes: told.most(), ..seen }
}

/// A library that tells how much native code has allocated.
struct AllocatedTold {
    library: std::path::PathBuf,
    file: std::path::PathBuf,
}

impl AllocatedTold {
    /// `None` without a compiler, with a message.
    fn compile(temporary: &Path) -> Option<AllocatedTold> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malloc/told.c");
        let told = AllocatedTold { library: temporary.join("libtold.so"), file: temporary.join("told") };
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-pthread", "-o"]).arg(&told.library).arg(source);
        match compiler.status() {
            Ok(status) => assert!(status.success(), "{status}"),
            Err(why) => {
                jvm::skip("how much is allocated", &format!("there is no C compiler: {why}"));
                return None;
            }
        }
        Some(told)
    }

    fn agent(&self) -> String {
        format!("-agentpath:{}={}", self.library.display(), self.file.display())
    }

    /// Bytes now, and at most until now.
    fn read(&self) -> [u64; 2] {
        let text = std::fs::read_to_string(&self.file).expect("what is told");
        let mut words = text.split_whitespace().map(|word| word.parse().expect("a number"));
        [words.next().expect("now"), words.next().expect("the most")]
    }

    fn now(&self) -> u64 {
        self.read()[0]
    }

    fn most(&self) -> u64 {
        self.read()[1]
    }
}

/// Attached to and left twelve times, each time until the tables of names and stacks are full. Afterwards all memory is
/// freed, and no weak reference, thread or open file of ours is left.
#[test]
fn a_program_that_was_left_has_nothing_of_ours() {
    with_jdks("a_program_that_was_left", |jdk, class_path, temporary| {
        left(jdk, &["-XX:+UseSerialGC"], class_path, temporary, 12);
    });
}

/// Under each of them: `make recorder-test`.
#[test]
#[ignore = "takes some minutes: `make recorder-test`"]
fn a_program_that_was_left_has_nothing_of_ours_under_every_collector() {
    with_jdks("a_program_that_was_left_under_every_collector", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().iter().enumerate() {
            jvm::say(&format!("  {flags:?}"));
            let folder = temporary.join(format!("left-{number}"));
            std::fs::create_dir(&folder).expect("made");
            left(jdk, flags, class_path, &folder, 12);
        }
    });
}

fn left(jdk: &Jdk, collector: &[&str], class_path: &str, temporary: &Path, times: usize) {
    let Some(told) = AllocatedTold::compile(temporary) else { return };
    let (flags, told_flag) = (["-Xmx100m", "-XX:TieredStopAtLevel=1"], told.agent());
    let flags = [&flags[..], collector, &["-XX:+EnableDynamicAgentLoading", &told_flag]].concat();
    let program = Program::start_with(jdk, &flags, class_path, "Busy", &["2"]);
    let mut first = None;
    let mut least_held = u64::MAX;
    for time in 0..times {
        // The first two leave what the VM makes for whoever attaches.
        if time == 2 {
            first = Some(LeftProgram::of(jdk, program.pid, &told));
        }
        let folder = temporary.join(time.to_string());
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let sampling = SamplingMode::Every(1 << 9);
        let options =
            AgentOptions { folder: folder.clone(), sampling, walks: 0, histograms: 0, ..AgentOptions::default() };
        let before = told.now();
        assert!(load(jdk, program.pid, &options).contains("return code: 0"));
        wait_until("sampling", || AgentStatus::read(&folder).is_some_and(|s| s.samples > 20_000));
        least_held = least_held.min(told.now().saturating_sub(before));
        leave(jdk, &program, options);
    }
    assert!(least_held > 4 << 20, "there was something to free");
    let now = || LeftProgram::of(jdk, program.pid, &told);
    nothing_is_left(jdk, &first.expect("more than two"), now, least_held, times - 2);
}

/// Ends a recording of a program that goes on; its trace is gone then.
fn leave(jdk: &Jdk, program: &Program, options: AgentOptions) {
    let folder = options.folder.clone();
    assert!(load(jdk, program.pid, &AgentOptions { stop: true, ..options }).contains("return code: 0"));
    let status = AgentStatus::read(&folder).expect("its last words");
    assert_eq!((status.events_on, &*status.ended), (0, "recording was ended from outside"));
    std::fs::remove_dir_all(&folder).expect("the trace");
}

/// Between the first state and now so many recordings have come and gone, each of which held so much.
fn nothing_is_left(jdk: &Jdk, first: &LeftProgram, now: impl Fn() -> LeftProgram, held: u64, times: usize) {
    // Whatever is kept of a recording is more than a part in a hundred of what it held.
    let most = held / 100 * times as u64;
    let more = |last: &LeftProgram| last.allocated.saturating_sub(first.allocated);
    let mut last = now();
    let begun = Instant::now();
    // Some the VM frees by and by, in a thread of its own; and it compiles meanwhile. What is kept stays.
    while more(&last) >= most && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(200));
        last = now();
    }
    jvm::say(&format!("  JDK {}: at least {held} bytes held each time; left: {first:?}, {last:?}", jdk.version));
    assert!(more(&last) < most, "{} bytes more", more(&last));
    assert_eq!((last.weak, last.files), (first.weak, first.files), "weak references, open files");
    assert_eq!((last.threads, last.mapped), (0, 0), "threads and mappings of ours");
}

/// The same where all objects had numbers, and walk after walk was taken: that holds most.
#[test]
fn a_program_that_was_walked_and_left_has_nothing_of_ours() {
    const OBJECTS: u64 = 200_000;
    const TIMES: usize = 4;
    with_jdks("a_program_that_was_walked_and_left", |jdk, class_path, temporary| {
        let Some(told) = AllocatedTold::compile(temporary) else { return };
        let (flags, told_flag) = (["-Xmx200m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"], told.agent());
        let flags = [&flags[..], &["-XX:+EnableDynamicAgentLoading", &told_flag]].concat();
        let objects = OBJECTS.to_string();
        let program = Program::start_with(jdk, &flags, class_path, "Busy", &["1", "60000", &objects]);
        // What an environment had that was given back, such as its tags, the VM frees at a collection behind that.
        let collected = || {
            for _ in 0..2 {
                jvm::output(jdk.tool("jcmd").arg(program.pid.to_string()).arg("GC.run"));
            }
            LeftProgram::of(jdk, program.pid, &told)
        };
        let mut first = None;
        let mut least_held = u64::MAX;
        for time in 0..TIMES {
            let state = collected();
            let before = state.allocated;
            if time == 2 {
                first = Some(state);
            }
            let folder = temporary.join(time.to_string());
            std::fs::create_dir(&folder).expect("made");
            let _lock = RecorderLock::take(&folder).expect("the lock");
            let options = AgentOptions {
                folder: folder.clone(),
                identity: 4 * OBJECTS as u32,
                walks: 100,
                duty: 1,
                ..AgentOptions::default()
            };
            assert!(load(jdk, program.pid, &options).contains("return code: 0"));
            for number in 1..=2 {
                wait_until("a walk", || WalkNote::waiting(&folder).contains(&number));
                wait_until("its status", || AgentStatus::read(&folder).is_some_and(|s| s.numbered > OBJECTS));
                least_held = least_held.min(told.now().saturating_sub(before));
                // The note goes last: then there may be another one.
                for path in [
                    WalkNote::numbers(&folder, number),
                    WalkNote::dump(&folder, number),
                    WalkNote::file(&folder, number),
                ] {
                    std::fs::remove_file(path).expect("what a walk leaves");
                }
            }
            leave(jdk, &program, options);
        }
        // A weak reference for each object, and what finds it.
        assert!(least_held > 16 * OBJECTS, "there was something to free");
        nothing_is_left(jdk, &first.expect("more than two"), collected, least_held, TIMES - 2);
    });
}

/// The VM gives samples of allocations to one recorder alone. A profiler, or another copy, that comes after ours takes
/// them. Ours gets them back when that has left.
#[test]
fn other_recorders_get_what_ours_has_left() {
    with_jdks("other_recorders_get", |jdk, class_path, temporary| {
        let other = temporary.join("libother.so");
        std::fs::copy(library(), &other).expect("copied");
        let flags = ["-Xmx100m", "-XX:+UseSerialGC", "-XX:+EnableDynamicAgentLoading"];
        let program = Program::start_with(jdk, &flags, class_path, "Busy", &["2"]);
        let recorders = [library(), other.clone(), library()];
        for (at, recorder) in recorders.iter().enumerate() {
            let folder = temporary.join(format!("trace-{at}"));
            std::fs::create_dir(&folder).expect("made");
            let _lock = RecorderLock::take(&folder).expect("the lock");
            let options = AgentOptions { folder: folder.clone(), walks: 0, histograms: 0, ..AgentOptions::default() };
            let answer = load_from(recorder, jdk, program.pid, &options);
            assert!(answer.contains("return code: 0"), "recorder {at}: {answer}");
            wait_until("sampling", || AgentStatus::read(&folder).is_some_and(|s| s.samples > 20));
            // While it records no other may.
            let refused = AgentOptions { folder: temporary.join("refused"), keep: Some(1), ..options.clone() };
            let answer = load_from(&recorders[(at + 1) % 2], jdk, program.pid, &refused);
            assert!(answer.contains("return code: 1"), "recorder {at}: {answer}");
            assert!(!refused.folder.exists(), "what cannot begin leaves nothing");
            load_from(recorder, jdk, program.pid, &AgentOptions { stop: true, ..options });
            let status = AgentStatus::read(&folder).expect("its last words");
            assert_eq!((status.events_on, &*status.ended), (0, "recording was ended from outside"));
        }
    });
}

/// A fault in the recorder's own thread leaves nothing in the program either.
#[test]
fn a_fault_of_its_own_thread_leaves_no_weak_reference() {
    with_jdks("a_fault_of_its_own_thread", |jdk, class_path, temporary| {
        let mut command = jdk.tool("java");
        command.env("MEMORY_CITY_FAULT", "worker:40").args(["-Xmx300m", "-XX:+EnableDynamicAgentLoading"]);
        let printed = temporary.join("printed");
        command.args(["-cp", class_path, "Leaky", "60000"]).stderr(Stdio::null());
        let mut child = command.stdout(std::fs::File::create(&printed).expect("a file")).spawn().expect("java runs");
        wait_until("the program", || std::fs::read_to_string(&printed).is_ok_and(|text| text.contains("ready")));
        let before = weak_references(jdk, child.id());
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let sampling = SamplingMode::Every(1 << 10);
        let options = AgentOptions { folder: folder.clone(), sampling, walks: 0, ..AgentOptions::default() };
        assert!(load(jdk, child.id(), &options).contains("return code: 0"));
        let seen = || AgentStatus::read(&folder).unwrap_or_default();
        let mut most = 0;
        wait_until("the fault", || {
            most = most.max(seen().live);
            !seen().ended.is_empty()
        });
        assert!(most > 100 && seen().ended.contains("own thread"), "{most} were followed: {:?}", seen());
        wait_until("weak references", || weak_references(jdk, child.id()) <= before);
        child.kill().expect("killed");
        child.wait().expect("a status");
    });
}

/// How many weak references of native code a VM has.
fn weak_references(jdk: &Jdk, pid: u32) -> u64 {
    let threads = jvm::output(jdk.tool("jcmd").arg(pid.to_string()).arg("Thread.print"));
    let weak = threads.lines().find_map(|line| line.strip_prefix("JNI global refs: ")?.split("weak refs: ").nth(1));
    weak.and_then(|count| count.trim().parse().ok()).expect("how many weak references there are")
}

/// Memory, threads and files of a process that are ours, or might be.
#[derive(Debug)]
struct LeftProgram {
    /// Bytes that native code has allocated and not freed.
    allocated: u64,
    /// Weak references of native code.
    weak: u64,
    threads: usize,
    files: usize,
    /// Memory of ours that is mapped; the library stays.
    mapped: usize,
}

impl LeftProgram {
    fn of(jdk: &Jdk, pid: u32, told: &AllocatedTold) -> LeftProgram {
        let weak = weak_references(jdk, pid);
        let entries = |name: &str| std::fs::read_dir(format!("/proc/{pid}/{name}")).expect("the process").flatten();
        let is_ours = |task: &std::fs::DirEntry| {
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("memory-city"))
        };
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("its mappings");
        // The heap of some collectors is such memory too, under a name of its own.
        let mapped = maps.lines().filter(|line| line.contains("memfd:memory-city"));
        // What the tools had allocated in the process is freed a moment later.
        let least = (0..50).map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            told.now()
        });
        LeftProgram {
            allocated: least.min().unwrap_or(0),
            weak,
            threads: entries("task").filter(is_ours).count(),
            files: entries("fd").count(),
            mapped: mapped.count(),
        }
    }
}

/// Bytes of the process itself, after the storm.
fn resident(jdk: &Jdk, class_path: &str, options: Option<&AgentOptions>) -> u64 {
    let mut command = jdk.tool("java");
    // The heap is there from the beginning, so that what differs is not the heap.
    command.args(["-Xms200m", "-Xmx200m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    command.args(options.map(agent));
    let printed = jvm::output(command.args(["-cp", class_path, "Storm", "150000", "20000", "60000"]));
    let kilobytes = printed.lines().find_map(|l| l.strip_prefix("resident ")?.parse::<u64>().ok());
    kilobytes.expect("what it has") << 10
}
