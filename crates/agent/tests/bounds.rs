//! The recorder stays within its bounds, and a fault of its own ends the recording and nothing else.

#![cfg(target_os = "linux")]

mod common;

use common::{Trace, agent, with_jdks};
use memory_city_agent::folder::AgentStatus;
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_testing::jvm::{self, Jdk};

/// A fault in whatever the VM calls, or in the recorder's own thread: one line, the recording ends, what was recorded can be read, and
/// the program runs to its end.
#[test]
fn a_fault_ends_the_recording_and_not_the_program() {
    with_jdks("a_fault_ends_the_recording", |jdk, class_path, temporary| {
        for fault in
            ["sample:1", "sample:5000", "collection-start:1", "collection-end:2", "worker:3", "start:1", "end:1"]
        {
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
            memory_city_agent::folder::RecorderLock::take(&folder).expect("the lock")
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
