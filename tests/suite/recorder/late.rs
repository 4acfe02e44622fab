//! Objects allocated between the request for a walk and the stop of the program: in the walk, and counted.

use super::*;
use memory_city_wire::{DeathRow, GcRow, WalkStartRow};
use std::collections::{BTreeMap, HashMap, HashSet};

const MILLI: u64 = 1_000_000;
/// The least time between two walks.
const EVERY: u64 = 300 * MILLI;
/// Longest delay that still counts as at once, on a busy machine.
const AT_ONCE: u64 = 50 * MILLI;
const THREADS: u64 = 2;
/// Walks before the program is left; the last is not looked at.
const WALKS: u64 = 4;
/// A thread may be about to hand a sample over when somebody looks.
const IN_HAND: u64 = 8;

/// A walk, by its number.
#[derive(Default)]
struct LateWalk {
    start: u64,
    /// The last collection before.
    gc: Option<u64>,
    end: Option<WalkEndRow>,
    linked: HashSet<u64>,
}

/// Two threads allocate without end: the program goes on until it stands still, which shows as a long time without a sample. All that
/// was sampled and is alive by then is linked, or counted.
#[test]
fn every_live_sample_is_linked_in_a_walk_or_counted() {
    with_jdks("every_live_sample_is_linked_or_counted", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        // What it holds makes a walk longer than anything else that stops it.
        let flags = ["-Xmx400m", "-Xmn40m", "-XX:+UseSerialGC", "-XX:+EnableDynamicAgentLoading"];
        let program = Program::start_with(jdk, &flags, class_path, "Busy", &["2", "500", "400000"]);
        let (pid, output) = (program.pid.to_string(), folder.to_string_lossy());
        let walks = ["--walk-every", "300ms", "--walk-share", "50", "--histogram-every", "off"];
        let words = ["attach", &pid, "--interval", "4096", "-o", &output];
        let mut command = memory_city(&[&words[..], &walks].concat());
        let recorder = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
        // However long a busy machine takes for them.
        wait_until("walks", || AgentStatus::read(&folder).is_some_and(|status| status.walks >= WALKS));
        endings::send(recorder.id(), libc::SIGINT);
        let done = recorder.wait_with_output().expect("its words");
        drop(program);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let (mut samples, mut deaths) = (BTreeMap::<u64, u64>::new(), HashMap::<u64, u64>::new());
        let (mut walks, mut collections) = (BTreeMap::<u32, LateWalk>::new(), BTreeMap::<u64, u64>::new());
        for_chunks(&folder, |chunk| match chunk.kind() {
            ChunkKind::SAMPLES => {
                samples.extend(chunk.rows::<SampleRow>().expect("rows").rows.iter().map(|row| (row.id, row.time)));
            }
            ChunkKind::DEATHS => {
                let rows = chunk.rows::<DeathRow>().expect("rows").rows;
                deaths.extend(rows.iter().map(|row| (row.sample, if row.let_go { 0 } else { row.time })));
            }
            ChunkKind::GCS => {
                let rows = chunk.rows::<GcRow>().expect("rows").rows;
                collections.extend(rows.iter().map(|row| (row.number, row.start + row.duration)));
            }
            ChunkKind::WALK_START => {
                for row in chunk.rows::<WalkStartRow>().expect("rows").rows {
                    let walk = walks.entry(row.walk).or_default();
                    (walk.start, walk.gc) = (row.time, row.gc);
                }
            }
            ChunkKind::WALK_SAMPLES => {
                for row in chunk.rows::<WalkSampleRow>().expect("rows").rows {
                    walks.entry(row.walk).or_default().linked.insert(row.sample);
                }
            }
            ChunkKind::WALK_END => {
                for row in chunk.rows::<WalkEndRow>().expect("rows").rows {
                    let walk = walks.entry(row.walk).or_default();
                    walk.end = Some(row);
                }
            }
            _ => {}
        });
        let mut times: Vec<u64> = samples.values().copied().collect();
        times.sort_unstable();
        let (mut all_late, mut looked) = (0, 0);
        for walk in walks.values() {
            let end = walk.end.as_ref().expect("a whole walk");
            let late = end.late.expect("somebody counts them");
            all_late += late;
            // After the last walk, that of the end, nothing is sampled: of that one nobody sees here how long the program stood still.
            let until = walk.start + end.pause.expect("a pause") + 20 * MILLI;
            // With the one before: the program may have stood still before another one was taken.
            let first = times.partition_point(|time| *time < walk.start).saturating_sub(1);
            let near: Vec<u64> = times[first..].iter().copied().take_while(|time| *time <= until).collect();
            // On a busy machine something else may stop it for as long: it stood still at one of these times.
            let pairs = near.windows(2).map(|pair| (pair[0], pair[1]));
            let long: Vec<(u64, u64)> = pairs.filter(|(still, again)| again - still > 10 * MILLI).collect();
            if long.is_empty() {
                continue;
            }
            looked += 1;
            let between = |from: u64, still: u64| {
                let is_there = |id: &u64| deaths.get(id).is_none_or(|at| *at > still);
                let found = samples.iter().filter(|(_, time)| (from..=still).contains(*time));
                found.filter(|(id, _)| is_there(id) && !walk.linked.contains(id)).count() as u64
            };
            // Counted to the millisecond, and those too that were in the hands of threads when the others were held; but for one of each
            // thread that it still has in hand when they are counted.
            let expected = |still: u64| {
                let least = between(walk.start, still).saturating_sub(THREADS);
                least..=between(walk.start.saturating_sub(MILLI), still) + IN_HAND
            };
            let fitting = long.iter().copied().find(|(still, _)| expected(*still).contains(&late));
            let all: Vec<_> = long.iter().map(|(still, _)| expected(*still)).collect();
            let (still, again) = fitting.unwrap_or_else(|| panic!("{late} late, of {all:?}"));
            // What had died by then nobody may have noticed yet; since the last collection nothing has.
            let collected = collections.values().copied().filter(|end| *end <= again).max().unwrap_or(0);
            let missed = between(collected, still);
            let told = late + end.unlinked + IN_HAND;
            assert!(missed <= told, "{missed} are not linked, and {told} are counted");
        }
        // A walk is right behind a collection, when there is little garbage; or, where none came for as long again as walks are apart, by itself.
        let (mut before, mut behind, mut alone, mut neither) = (0, 0, 0, Vec::new());
        // But for that of the end, which comes when it is told to.
        for walk in walks.values().rev().skip(1).rev() {
            let delay = walk.gc.and_then(|gc| walk.start.checked_sub(*collections.get(&gc)?));
            match delay {
                Some(delay) if delay < AT_ONCE => behind += 1,
                _ if walk.start >= before + 2 * EVERY => alone += 1,
                other => neither.push((other, walk.start - before)),
            }
            before = walk.start + walk.end.as_ref().and_then(|end| end.pause).unwrap_or(0);
        }
        jvm::say(&format!("  {behind} walks behind a collection, {alone} without one, neither: {neither:?}"));
        assert!(neither.len() < (behind + alone).max(1), "{behind} and {alone}, {neither:?}");
        let count = walks.len();
        jvm::say(&format!("  JDK {}: {all_late} late in {count} walks, {looked} of them looked at", jdk.version));
        assert!(looked >= 2 && all_late > 0, "{all_late} late in {count} walks, {looked} of them looked at");
        let (report, said) = of_trace(&["report"], &folder);
        let times = memory_city_heap::texts::several(all_late, "time", "times");
        let warned = format!("{times} a sample was taken between the moment when a walk was asked for");
        assert!(format!("{report}{said}").contains(&warned), "{warned}: {said}{report}");
    });
}
