//! Suspicious windows of a run with 100,000 collections: ours, and the naive way, which looks at every window.
//!
//! The memory of the run grows in waves, so that the window of the leak is the whole run: the most there is to narrow.
//! Least of several rounds for ours, one round for the naive way. Both must find the same windows.
//! `cargo bench --bench windows --no-default-features`

use memory_city_analysis::windows::{GcSpan, MemoryLevel, SuspiciousWindows, WindowRules};
use std::hint::black_box;
use std::time::{Duration, Instant};

const COLLECTIONS: usize = 100_000;
const ROUNDS: usize = 9;

fn main() {
    let test = std::env::args().any(|a| a == "--test");
    let (collections, rounds) = if test { (500, 1) } else { (COLLECTIONS, ROUNDS) };
    let (gcs, levels) = run(collections);
    let rules = WindowRules::default();
    let mut least = Duration::MAX;
    let mut found = SuspiciousWindows::default();
    for _ in 0..rounds {
        let begun = Instant::now();
        found = black_box(SuspiciousWindows::find(0, black_box(&gcs), black_box(&levels), &rules));
        least = least.min(begun.elapsed());
    }
    let begun = Instant::now();
    let naive = naive(&gcs, &levels);
    let slow = begun.elapsed();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("| windows of {collections} collections | time (ms) | ratio |\n|---|---|---|");
    println!("| every window, one by one | {:.1} | |", ms(slow));
    println!("| ours | {:.2} | {:.5}x |", ms(least), ms(least) / ms(slow));
    let leak = found.leak.expect("it grows");
    assert_eq!((leak.from, leak.to), (0, levels.len() - 1));
    let ours = [
        leak.steepest.expect("a part"),
        found.overhead.map(|w| (w.first, w.last)).expect("a window"),
        found.churn.map(|w| (w.first, w.last)).expect("a window"),
    ];
    assert_eq!(ours, naive);
}

/// A run whose memory grows in waves and whose pauses and garbage vary without a pattern.
fn run(collections: usize) -> (Vec<GcSpan>, Vec<MemoryLevel>) {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let (mut now, mut gcs, mut levels) = (0, Vec::new(), Vec::new());
    for gc in 0..collections {
        let start = now + 50_000_000 + random(100_000_000);
        now = start + 1_000_000 + random(9_000_000);
        gcs.push(GcSpan { start, end: now, freed: (20_000_000 + random(10_000_000)) as i64 });
        let wave = 1_000_000.0 * (1.0 + (gc as f64 / 300.0).sin());
        levels.push(MemoryLevel { time: now, bytes: 100_000_000 + 4_000 * gc as u64 + wave as u64 + random(1000), gc });
    }
    (gcs, levels)
}

/// Every window: steepest part of the leak, overhead, churn.
fn naive(gcs: &[GcSpan], levels: &[MemoryLevel]) -> [(usize, usize); 3] {
    let points = levels.len();
    let (least, most) = (points.div_ceil(10).max(2), (points / 2).max(points.div_ceil(10)));
    let mut steepest = (f64::MIN, (0, 0));
    for from in 0..points {
        for to in from + least - 1..points.min(from + most) {
            let rise = levels[to].bytes as f64 - levels[from].bytes as f64;
            let slope = rise / (levels[to].time - levels[from].time) as f64;
            if slope > steepest.0 {
                steepest = (slope, (from, to));
            }
        }
    }
    let worst = |of: &dyn Fn(&GcSpan) -> f64| {
        let mut best = (f64::MIN, (0, 0));
        for first in 0..gcs.len() {
            let from = if first == 0 { 0 } else { gcs[first - 1].end };
            let mut sum = 0.0;
            for (last, gc) in gcs.iter().enumerate().skip(first).take(50) {
                sum += of(gc);
                let rate = sum / (gc.end - from) as f64;
                if last + 1 >= first + 5 && rate > best.0 {
                    best = (rate, (first, last));
                }
            }
        }
        best.1
    };
    [steepest.1, worst(&|gc| (gc.end - gc.start) as f64), worst(&|gc| gc.freed as f64)]
}
