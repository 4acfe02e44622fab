//! The recorder stays within its bounds, and a fault of its own ends the recording and nothing else.

#![cfg(target_os = "linux")]

mod common;

use common::{Trace, agent, load, wait_until, with_jdks};
use memory_city_agent::folder::{AgentStatus, RecorderLock};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_testing::jvm::{self, Jdk};
use std::io::BufRead;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A fault in whatever the VM calls, or in the recorder's own thread: one line, the recording ends, what was recorded can be read, and
/// the program runs to its end.
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
            "start:1",
            "end:1",
        ] {
            let folder = temporary.join(fault.replace(':', "-"));
            let sampling = SamplingMode::Every(1 << 10);
            let options = AgentOptions { folder: folder.clone(), sampling, ..AgentOptions::default() };
            let mut command = jdk.tool("java");
            command.env("MEMORY_CITY_FAULT", fault);
            command.args(["-Xmx100m", &agent(&options), "-cp", class_path, "Counted", "300000"]);
            let printed = jvm::output(&mut command);
            assert!(printed.contains("done 300000"), "{fault}: {printed}");
            let said: Vec<&str> = printed.lines().filter(|l| l.contains("memory-city")).collect();
            assert!(
                matches!(said[..], [line] if line.contains("recording has stopped: a fault")),
                "{fault}: {printed}"
            );
            assert!(!printed.contains("panicked"), "{fault}: {printed}");
            if fault == "start:1" {
                // Nothing had begun.
                continue;
            }
            let trace = Trace::read(&folder);
            let samples = trace.samples.len();
            jvm::say(&format!("  {fault}: {samples} samples, {}", said[0]));
            assert_eq!(trace.damaged, 0, "{fault}");
            let at_once = fault == "sample:1" || fault == "worker:3";
            assert!(at_once || samples > 1000, "{fault}: {samples} samples");
            if let [end] = &trace.ends[..] {
                assert_eq!(end.samples as usize, samples, "{fault}");
            } else {
                // The thread that writes has failed itself. What it had not written is counted all the same, and no event is left on.
                assert_eq!(fault, "worker:3");
                let status = AgentStatus::read(&folder).expect("its last words");
                let seen = (status.samples - status.lost, status.events_on);
                assert_eq!(seen, (samples as u64, 0), "{status:?}");
            }
        }
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

/// A recorder that gets stuck at its last walk, as on a disk that does not answer, keeps the program for less than the ten seconds after
/// which containers are killed; what it has recorded is in the trace.
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

/// What the process has of its own, bytes, after the storm.
fn resident(jdk: &Jdk, class_path: &str, options: Option<&AgentOptions>) -> u64 {
    let mut command = jdk.tool("java");
    // The heap is there from the beginning, so that what differs is not the heap.
    command.args(["-Xms200m", "-Xmx200m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    command.args(options.map(agent));
    let printed = jvm::output(command.args(["-cp", class_path, "Storm", "150000", "20000", "60000"]));
    let kilobytes = printed.lines().find_map(|l| l.strip_prefix("resident ")?.parse::<u64>().ok());
    kilobytes.expect("what it has") << 10
}
