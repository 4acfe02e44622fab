//! Names without room in the tables are counted in the trace while the program runs, not only at its end.

#![cfg(target_os = "linux")]

use crate::common::{Trace, start, with_jdks};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_testing::jvm::{self, PATIENCE};
use memory_city_wire::{ChunkKind, LossReason};
use std::path::Path;
use std::time::{Duration, Instant};

/// Count of a kind that found no room, as the trace has it.
fn refused(folder: &Path, what: ChunkKind) -> u64 {
    let trace = Trace::read(folder);
    let of_kind = trace.losses.iter().filter(|l| l.what == u32::from(what.0) && l.reason == LossReason::TableFull);
    of_kind.map(|loss| loss.count).sum()
}

/// A running recording says it, and so does that of a program that was killed.
#[test]
fn what_found_no_room_is_told_before_the_end() {
    with_jdks("what_found_no_room_is_told", |jdk, class_path, temporary| {
        // They would go on for much longer than the tables have room.
        let names = (ChunkKind::THREADS, &["Threads", "10", "10000000"][..]);
        let stacks = (ChunkKind::FRAMES, &["Storm", "0", "0", "100000000"][..]);
        for (what, program) in [names, stacks] {
            let folder = temporary.join(program[0]);
            let sampling = SamplingMode::All;
            let options = AgentOptions { folder: folder.clone(), sampling, walks: 0, ..AgentOptions::default() };
            let mut child = start(jdk, &options, class_path, program);
            let begun = Instant::now();
            let mut told = 0;
            while told == 0 && begun.elapsed() < PATIENCE && child.try_wait().expect("a status").is_none() {
                std::thread::sleep(Duration::from_millis(500));
                told = if folder.join("00-000000.mcity").exists() { refused(&folder, what) } else { 0 };
            }
            let running = child.try_wait().expect("a status").is_none();
            child.kill().expect("killed");
            child.wait().expect("a status");
            let left = refused(&folder, what);
            jvm::say(&format!("  {program:?}: {told} told after {:?}, {left} when it was killed", begun.elapsed()));
            assert!(running && told > 0 && left >= told, "{program:?}: {told}, {left}");
            assert!(Trace::read(&folder).ends.is_empty());
        }
    });
}
