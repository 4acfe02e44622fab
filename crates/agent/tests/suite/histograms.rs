//! Class histograms: they are what the VM has, come between walks and without them, and keep to their share of the time.

#![cfg(target_os = "linux")]

use crate::common::{Trace, agent, run, start, wait_until, with_jdks};
use memory_city_agent::AgentOptions;
use memory_city_agent::folder::{AgentStatus, RecorderLock, WalkNote};
use memory_city_testing::jvm::{self, Jdk, Program};
use memory_city_wire::ChunkKind;
use std::path::Path;
use std::process::Command;

/// A program at rest, under each collector and without a recording process. A histogram between two equal ones of the
/// VM equals them in objects and bytes of each class.
#[test]
fn a_histogram_of_a_program_at_rest_is_what_the_vm_has() {
    with_jdks("a_histogram_of_a_program_at_rest", |jdk, class_path, temporary| {
        for (number, flags) in jdk.collectors().into_iter().enumerate() {
            at_rest(jdk, class_path, &temporary.join(format!("trace-{number}")), &flags);
        }
    });
}

fn at_rest(jdk: &Jdk, class_path: &str, folder: &Path, flags: &[&str]) {
    // Share and spacing as small as they can be: this is about what is counted.
    let options = AgentOptions { folder: folder.to_owned(), histograms: 100, duty: 1, ..AgentOptions::default() };
    let agent = agent(&options);
    let program = Program::start(jdk, &[flags, &[&agent, "-Xmx300m"]].concat(), class_path, "Resting");
    // What is loaded for the first of each is there for all others.
    program.histogram();
    wait_until("a first histogram", || AgentStatus::read(folder).is_some_and(|s| s.histograms > 0));
    for attempt in 0.. {
        let before = program.histogram();
        let taken = AgentStatus::read(folder).expect("a status").histograms;
        wait_until("a histogram", || AgentStatus::read(folder).is_some_and(|s| s.histograms > taken));
        let after = program.histogram();
        let trace = Trace::read(folder);
        let histograms = trace.histograms();
        let counted = &histograms[&taken].classes;
        let steady: Vec<_> = before.iter().filter(|(class, row)| after.get(*class) == Some(row)).collect();
        let differing: Vec<_> = steady
            .iter()
            // What fills gaps in the heap is an array of numbers for the VM, on newer ones of a class of its own.
            .filter(|(class, _)| {
                !class.contains("$$") && *class != "int[]" && !class.contains("jdk.internal.vm.Filler")
            })
            .filter(|(class, row)| counted.get(*class) != Some(row))
            .map(|(class, row)| format!("{class}: {row:?} by the VM, {:?} in the trace", counted.get(*class)))
            .collect();
        // The VM's own tool and the question itself leave texts behind, which nobody has collected yet.
        if differing.len() > 3 && attempt < 3 {
            continue;
        }
        jvm::say(&format!("  {flags:?}: {} of {} classes differ: {differing:?}", differing.len(), steady.len()));
        assert!(steady.len() > 200 && differing.len() <= 3, "{flags:?}: {differing:?}");
        assert_eq!((counted["Resting$Entry"].0, counted["long[]"]), (30_000, before["long[]"]), "{flags:?}");
        assert!(histograms.values().all(|h| h.pause > 0 && h.rows > 200));
        return;
    }
}

/// Between walks that are far apart there are histograms, each as long after what was before as the share asks for.
#[test]
fn histograms_come_between_walks_and_keep_to_the_share() {
    with_jdks("histograms_come_between_walks", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        std::fs::create_dir(&folder).expect("made");
        let _lock = RecorderLock::take(&folder).expect("the lock");
        let duty = 2;
        let (every, walks) = (200, 2000);
        let options =
            AgentOptions { folder: folder.clone(), walks, histograms: every, duty, ..AgentOptions::default() };
        let mut child = start(jdk, &options, class_path, &["Leaky"]);
        let mut notes: Vec<WalkNote> = Vec::new();
        let (mut after_first, mut ends) = (None, false);
        while child.try_wait().expect("a status").is_none() {
            // Until two walks and two histograms after the first of them are there, however fast the machine is.
            let taken = AgentStatus::read(&folder).map_or(0, |status| status.histograms);
            let after_first = notes.first().map(|_| *after_first.get_or_insert(taken));
            if !ends && notes.len() > 1 && after_first.is_some_and(|first| taken > first + 1) {
                ends = Command::new("kill").arg(child.id().to_string()).status().expect("kill").success();
            }
            for number in WalkNote::waiting(&folder) {
                let note = std::fs::read_to_string(WalkNote::file(&folder, number)).expect("a note");
                notes.push(WalkNote::parse(&note).expect("a note of ours"));
                let _ = std::fs::remove_file(WalkNote::dump(&folder, number));
                let _ = std::fs::remove_file(WalkNote::file(&folder, number));
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let status = AgentStatus::read(&folder).expect("a status");
        let trace = Trace::read(&folder);
        let histograms = trace.histograms();
        assert_eq!(histograms.len() as u64, status.histograms);
        // Start, pause, and whether it is a walk.
        let mut stops: Vec<(u64, u64, bool)> = notes.iter().map(|n| (n.start, n.end - n.start, true)).collect();
        stops.extend(histograms.values().map(|h| (h.time, h.pause, false)));
        stops.sort_unstable();
        jvm::say(&format!("  {} walks, {} histograms: {stops:?}", notes.len(), histograms.len()));
        let first = notes.first().map_or(u64::MAX, |note| note.end);
        let after = histograms.values().filter(|h| h.time > first).count();
        assert!(after >= 1, "{after} histograms after the first of {} walks", notes.len());
        // What stands still before a walk is made up for before it; a histogram waits four times as long for the one before.
        let (mut rest_until, mut last_histogram) = (0, (0, 0));
        for (at, &(start, pause, is_walk)) in stops.iter().enumerate() {
            let end = start + pause;
            if is_walk {
                assert!(start >= rest_until, "a walk came too early: {stops:?}");
            } else {
                let (before, was) = last_histogram;
                assert!(start >= before + 4 * u64::from(duty) * was, "a histogram came too early: {stops:?}");
                let earlier = stops[..at].last().map_or(0, |(start, pause, _)| start + pause + every * 1_000_000);
                let is_last = at + 1 == stops.len();
                assert!(start >= earlier || is_last, "less than {every} ms: {stops:?}");
                last_histogram = (end, pause);
            }
            rest_until = rest_until.max(end) + u64::from(duty) * pause;
        }
        // What leaks is in them, and grows.
        let sessions: Vec<u64> = histograms.values().map(|h| h.classes["Leaky$Session"].0).collect();
        assert!(sessions.is_sorted() && sessions.first() < sessions.last(), "{sessions:?}");
        let told = status.pauses * 1000;
        let sum: u64 = stops.iter().map(|stop| stop.1).sum();
        assert!(told.abs_diff(sum) < 1_000_000 * stops.len() as u64, "{told} of {sum}");
    });
}

/// Switched off, there are none. A short program has one, at its end. A Java without the means says so once.
#[test]
fn histograms_are_off_last_or_not_to_be_had() {
    with_jdks("histograms_are_off", |jdk, class_path, temporary| {
        let of = |name: &str, histograms: u64, words: &[&str]| {
            let folder = temporary.join(name);
            let options = AgentOptions { folder: folder.clone(), histograms, ..AgentOptions::default() };
            let printed = run(jdk, &options, class_path, words);
            assert!(printed.contains("done"), "{printed}");
            (Trace::read(&folder), printed)
        };
        let (off, _) = of("off", 0, &["Leaky", "1500"]);
        assert!(off.counts.is_empty() && !off.samples.is_empty());
        let (short, _) = of("short", AgentOptions::default().histograms, &["Leaky", "300"]);
        let last = short.histograms();
        assert_eq!(last.len(), 1);
        assert!(
            last[&0].classes["Leaky$Session"].0 > 0
                && short.losses.iter().all(|l| l.what != u32::from(ChunkKind::COUNTS.0))
        );
        // Only java.base: nobody who could be asked.
        let folder = temporary.join("small");
        let options = AgentOptions { folder: folder.clone(), histograms: 100, ..AgentOptions::default() };
        let mut java = jdk.tool("java");
        java.args(["--limit-modules", "java.base", "-Xmx300m", &agent(&options), "-cp", class_path, "Leaky", "1500"]);
        let printed = jvm::output(&mut java);
        let trace = Trace::read(&folder);
        assert!(trace.counts.is_empty() && trace.settings.iter().any(|s| s.key == "histograms"), "{printed}");
        assert_eq!(printed.matches("no more class histograms: this Java has no module").count(), 1, "{printed}");
    });
}
