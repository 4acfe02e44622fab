//! Threads of samples: renamed ones, virtual ones, ever new ones.

#![cfg(target_os = "linux")]

use crate::common::{Trace, run, with_jdks};
use memory_city_agent::{AgentOptions, SamplingMode};
use memory_city_testing::jvm;
use memory_city_wire::ChunkKind;
use std::collections::{BTreeMap, HashMap};

/// Samples of a class by the names of their threads.
fn by_thread<'a>(trace: &'a Trace, class: &str) -> BTreeMap<&'a str, u64> {
    let mut names = BTreeMap::new();
    for sample in trace.samples.iter().filter(|sample| trace.class(sample) == format!("Threads${class}")) {
        *names.entry(trace.strings[&trace.threads[&sample.thread].name].as_str()).or_default() += 1;
    }
    names
}

#[test]
fn samples_are_of_the_thread_as_it_is_called_when_it_allocates() {
    const ROUNDS: u64 = 2000;
    with_jdks("samples_are_of_the_thread", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let options = AgentOptions { folder: folder.clone(), sampling: SamplingMode::All, ..AgentOptions::default() };
        let printed = run(jdk, &options, class_path, &["Threads", &ROUNDS.to_string(), "50"]);
        let virtuals = if jdk.version >= 21 { 20 * ROUNDS } else { 0 };
        assert!(printed.contains(&format!("done {ROUNDS} {virtuals} 50")), "{printed}");
        let trace = Trace::read(&folder);
        assert_eq!(trace.losses.iter().filter(|l| l.what == u32::from(ChunkKind::SAMPLES.0)).count(), 0);
        assert_eq!(by_thread(&trace, "OfFirstName"), BTreeMap::from([("first name", ROUNDS)]));
        assert_eq!(by_thread(&trace, "OfSecondName"), BTreeMap::from([("second name", ROUNDS)]));
        let of_short = by_thread(&trace, "OfShort");
        assert!(of_short.len() == 50 && of_short.values().all(|n| *n == 1), "{of_short:?}");
        let (named, nameless) = (by_thread(&trace, "OfNamed"), by_thread(&trace, "OfNameless"));
        match virtuals {
            0 => assert!(named.is_empty() && nameless.is_empty()),
            _ => {
                assert_eq!(named, BTreeMap::from([("till 0", virtuals / 2), ("till 2", virtuals / 2)]));
                assert_eq!(nameless, BTreeMap::from([("virtual threads", virtuals)]));
            }
        }
        // Numbers have no gap, also of numbers that many threads share.
        let mut sequences: HashMap<u32, Vec<u64>> = HashMap::new();
        trace.samples.iter().for_each(|sample| sequences.entry(sample.thread).or_default().push(sample.sequence));
        for (thread, mut numbers) in sequences {
            numbers.sort_unstable();
            assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "thread {thread}: {numbers:?}");
        }
    });
}

/// A program that names a thread for each request: the table of names is full one day, and the rest is one thread, counted.
#[test]
fn ever_new_threads_are_one_when_there_is_no_room_for_their_names() {
    const MANY: u64 = 30_000;
    with_jdks("ever_new_threads", |jdk, class_path, temporary| {
        let folder = temporary.join("trace");
        let options = AgentOptions { folder: folder.clone(), sampling: SamplingMode::All, ..AgentOptions::default() };
        let printed = run(jdk, &options, class_path, &["Threads", "10", &MANY.to_string()]);
        assert!(printed.contains("done 10"), "{printed}");
        let trace = Trace::read(&folder);
        let names = by_thread(&trace, "OfShort");
        let others = names.get("other threads (too many names)").copied().unwrap_or(0);
        let refused: u64 =
            trace.losses.iter().filter(|l| l.what == u32::from(ChunkKind::THREADS.0)).map(|l| l.count).sum();
        jvm::say(&format!("  {} names, {others} samples of others, {refused} threads without a name", names.len()));
        assert_eq!(others + names.len() as u64 - 1, MANY);
        assert!((1000..MANY).contains(&others) && refused >= others, "{others} {refused}");
    });
}
