//! Live trees allocate at most the memory that they claim, with the copy in progress and the existing timelines. Held
//! against real allocations.

use memory_city_analysis::timeline::json::{Collector, Grant, GrowingTrees, JsonSource};
use memory_city_heap::input::Input;
use memory_city_heap::memory::set_memory_budget;
use memory_city_heap::progress::Progress;
use peak_alloc::PeakAlloc;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Tests do not measure allocations of each other.
static ALONE: Mutex<()> = Mutex::new(());

/// Grants everything, and knows how much.
#[derive(Default)]
struct Granted(u64);

impl Grant for Granted {
    fn more(&mut self, bytes: u64) -> bool {
        self.0 += bytes;
        true
    }
}

/// Sends messages as a client would, while timelines are made as a server would: one is drawn, one is ready, and one
/// is being made. Returns what was allocated at most beyond what the work on messages was granted, and what was counted.
fn measured(times: impl Iterator<Item = String>, maps: impl Fn(usize) -> Option<String>) -> (u64, u64) {
    let before = ALLOCATED.current_usage();
    let mut trees = GrowingTrees::new("test");
    let mut drawn: Option<JsonSource> = None;
    let mut ready: Option<JsonSource> = None;
    let (mut most, mut counted) = (0, 0);
    for (n, time) in times.enumerate() {
        let mut granted = Granted::default();
        let bytes = trees.bytes();
        ALLOCATED.reset_peak_usage();
        trees.append(&time, &mut granted).expect("taken");
        // Vectors that double use what was counted for them before.
        let (work, may) = ((ALLOCATED.peak_usage() - before).saturating_sub(time.len()), bytes + granted.0 + (1 << 16));
        assert!(work as u64 <= may, "time {n}: {work} bytes were allocated, {may} counted");
        if let Some(maps) = maps(n) {
            trees.add_references(n, &maps, &mut granted).expect("taken");
        }
        assert!(trees.bytes() - bytes <= granted.0, "time {n}: more was kept than granted");
        ALLOCATED.reset_peak_usage();
        let next = trees.so_far().finish(&Progress::new()).expect("a timeline").expect("there is a time");
        // The messages of this test are no part of what is measured.
        most = most.max((ALLOCATED.peak_usage() - before).saturating_sub(time.len()) as u64);
        counted = counted.max(trees.bytes());
        drop(std::mem::replace(&mut drawn, ready.replace(next)));
    }
    (most, counted)
}

fn tree(children: impl Iterator<Item = String>) -> String {
    format!("{{\"tree\":{{\"children\":[{}]}}}}", children.collect::<Vec<_>>().join(","))
}

const LEAF: &str = "\"objects\":1,\"bytes\":1";

#[test]
fn what_is_counted_is_what_is_allocated() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let long = "x".repeat(3000);
    let no = |_: usize| None;
    let label = |n| format!("{{\"label\":\"{n}{long}\",\"tree\":{{{LEAF}}}}}");
    let cause = |n| format!("{{\"gc\":{{\"number\":1,\"cause\":\"{n}{long}\"}},\"tree\":{{{LEAF}}}}}");
    let first = || std::iter::once(format!("{{\"tree\":{{\"children\":[{{\"name\":\"a\",{LEAF}}}]}}}}"));
    let pairs = |count: usize, bytes: usize| {
        let x = "x".repeat(bytes);
        let pair = move |n: usize| format!("\"{n}{x}\":{{\"Heap#a\":{{\"referencing\":1,\"referenced\":1}}}}");
        move |_| Some(format!("{{\"points-to\":{{{}}}}}", (0..count).map(&pair).collect::<Vec<_>>().join(",")))
    };
    let names = |m: usize| tree((0..20_000).map(|n| format!("{{\"name\":\"{m} {n}\",{LEAF}}}")));
    let same = |m: usize| tree((0..20_000).map(|n| format!("{{\"name\":\"{n}\",\"objects\":{m},\"bytes\":{n}}}")));
    let keyed = |m: usize| tree((0..20_000).map(|n| format!("{{\"name\":\"{n}\",\"key\":\"{m} {n}\",{LEAF}}}")));
    let told = |m: usize| tree((0..300).map(|n| format!("{{\"name\":\"{long}\",\"key\":\"{m} {n}\",{LEAF}}}")));
    let roles = |m: usize| tree((0..300).map(|n| format!("{{\"name\":\"{long}\",\"role\":\"{m} {n}\",{LEAF}}}")));
    let groups = |m: usize| tree((0..200).map(|n| format!("{{\"name\":\"{n}\",\"objects\":{m},\"bytes\":1}}")));
    let all_pairs = |_| {
        let row = |n: usize| {
            let to: Vec<String> = (0..200).map(|to| format!("\"Heap#{to}\":1")).collect();
            format!("\"Heap#{n}\":{{{}}}", to.join(","))
        };
        Some(format!("{{\"points-to\":{{{}}}}}", (0..200).map(row).collect::<Vec<_>>().join(",")))
    };
    // How many times as much as is allocated may be counted: a limit that is never reached is no limit either.
    let table = [
        ("labels", measured((0..300).map(label), no), 2.5),
        ("causes", measured((0..300).map(cause), no), 2.5),
        ("many small times", measured((0..3000).map(|_| format!("{{\"tree\":{{{LEAF}}}}}")), no), 4.0),
        ("new names", measured((0..8).map(names), no), 3.5),
        ("new counts", measured((1..30).map(same), no), 3.0),
        ("keys", measured((0..8).map(keyed), no), 3.0),
        ("names told apart by keys", measured((0..8).map(told), no), 4.0),
        ("names told apart by roles", measured((0..8).map(roles), no), 4.0),
        ("short keys in maps", measured(first(), pairs(100_000, 1)), 3.0),
        ("long keys in maps", measured(first(), pairs(1000, 3000)), 3.0),
        ("pairs", measured((1..6).map(groups), all_pairs), 3.0),
    ];
    for (what, (allocated, counted), most) in &table {
        println!("{what}: {allocated} allocated, {counted} counted, {:.2}", *counted as f64 / *allocated as f64);
        assert!(counted + (1 << 16) >= *allocated, "{what}: {allocated} bytes were allocated, {counted} counted");
        let factor = *counted as f64 / *allocated as f64;
        assert!(factor <= *most, "{what}: {factor:.2} times as much was counted as was allocated");
    }
}

/// Reads a file of memory trees. Returns what was allocated at most, the file included, and whether it was read.
fn of_file(text: String) -> (u64, Result<usize, String>) {
    let before = ALLOCATED.current_usage() - text.capacity();
    ALLOCATED.reset_peak_usage();
    let input = Input::from_bytes(Path::new("trees.jsonl"), text.into_bytes());
    let mut collector = Collector::default();
    let read = collector.add_input(&input, &Progress::new()).and_then(|()| {
        drop(input);
        collector.finish(&Progress::new())
    });
    let read = read.map(|source| source.timeline.times()).map_err(|error| error.to_string());
    ((ALLOCATED.peak_usage() - before) as u64, read)
}

/// A few bytes of a file may ask for much memory: with more and more of them comes an error, before the budget is spent.
#[test]
fn files_take_no_more_than_the_budget() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const BUDGET: u64 = 16 << 20;
    set_memory_budget(BUDGET);
    let head = "\"format\":\"memory-city\",\"version\":1";
    let tiny =
        |n: usize| format!("{{{head},\"tree\":{{\"bytes\":1}}}}\n") + "{\"tree\":{\"bytes\":1}}\n".repeat(n).as_str();
    let labels = |n: usize| {
        let time = |i: usize| format!("{{{head},\"label\":\"{i} {}\",\"tree\":{{\"bytes\":1}}}}\n", "x".repeat(200));
        (0..n / 4).map(time).collect::<String>()
    };
    let wide = |n: usize| {
        let children = vec!["{\"name\":\"\",\"bytes\":1}"; n].join(",");
        format!("{{{head},\"tree\":{{\"children\":[{children}]}}}}")
    };
    let names = |n: usize| {
        let children: Vec<String> =
            (0..n).map(|i| format!("{{\"name\":\"{i}\",\"role\":\"{i}\",\"bytes\":1}}")).collect();
        format!("{{{head},\"tree\":{{\"children\":[{}]}}}}", children.join(","))
    };
    let keys = |n: usize| {
        let pairs: Vec<String> = (0..n).map(|i| format!("\"{i}\":{{\"Heap\":1}}")).collect();
        format!("{{{head},\"tree\":{{\"bytes\":1}},\"points-to\":{{{}}}}}", pairs.join(","))
    };
    let pairs = |n: usize| {
        let times = format!(
            "{{\"tree\":{{\"bytes\":1}},\"points-to\":{{\"Heap\":{{{}}}}}}}",
            vec!["\"Heap\":1"; n / 8].join(",")
        );
        format!("{{{head},\"times\":[{}]}}", vec![times; 8].join(","))
    };
    let roles = |n: usize| {
        let roles = vec!["\"\""; n].join(",");
        format!("{{{head},\"nested-roles\":[{roles}],\"tree\":{{\"bytes\":1}}}}")
    };
    let escaped = |n: usize| {
        let children = vec!["{\"name\":\"\\u0041\",\"bytes\":1}"; n].join(",");
        format!("{{{head},\"tree\":{{\"children\":[{children}]}}}}")
    };
    let table: [(&str, &dyn Fn(usize) -> String); 8] = [
        ("tiny times", &tiny),
        ("labels", &labels),
        ("one name", &wide),
        ("names and roles", &names),
        ("keys of maps", &keys),
        ("pairs", &pairs),
        ("nested roles", &roles),
        ("names with escapes", &escaped),
    ];
    for (what, text) in table {
        let mut refused = false;
        for n in [1_000, 4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 64_000, 128_000, 500_000, 1_000_000] {
            let (peak, read) = of_file(text(n));
            println!(
                "{what}, {n}: {peak} bytes, {}",
                read.as_ref().map_or("refused".into(), |times| format!("{times} times"))
            );
            assert!(n > 1_000 || read.is_ok(), "{what}: {read:?}");
            if let Err(error) = read {
                assert!(
                    error.contains("trees.jsonl at byte ") && error.contains("more than the 17 MB"),
                    "{what}: {error}"
                );
                refused = true;
            }
            let input = text(n).len() as u64;
            assert!(peak <= BUDGET.max(input) + (1 << 20), "{what}, {n}: {peak} bytes were allocated");
            if refused {
                break;
            }
        }
        assert!(refused, "{what}: never too much");
    }
}
