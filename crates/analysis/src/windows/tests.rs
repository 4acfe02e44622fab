//! Held against every window, one by one.

use super::*;
use proptest::prelude::*;

fn levels(bytes: &[u64]) -> Vec<MemoryLevel> {
    let level = |(i, &bytes): (usize, &u64)| MemoryLevel { time: i as u64 * 1_000_000_000, bytes, gc: i };
    bytes.iter().enumerate().map(level).collect()
}

fn window(bytes: &[u64]) -> Option<(usize, usize)> {
    let found = leak_window(&levels(bytes), bytes.len(), &WindowRules::default())?;
    Some((found.from, found.to))
}

#[test]
fn the_window_of_a_leak_forgives_a_quarter_and_no_more() {
    assert_eq!(window(&[10, 20, 10, 20, 30, 40, 34, 45]), Some((2, 7)));
    assert_eq!(window(&[10, 20, 20, 30]), Some((0, 3)));
    assert_eq!(window(&[10, 10, 11]), Some((1, 2)));
    assert_eq!(window(&[100, 200, 160, 149, 300]), Some((3, 4)));
    assert_eq!(window(&[3, 2, 1]), None);
    assert_eq!(window(&[]), None);
    assert_eq!(window(&[7]), None);
}

/// A start-up spike is no leak, and a window that is too short for the run is shown but not called suspicious.
#[test]
fn a_spike_at_the_start_is_left_out_and_a_short_end_is_no_suspicion() {
    let mut bytes = vec![500, 900, 400];
    bytes.extend((0..20).map(|i| 100 + 10 * i));
    let found = leak_window(&levels(&bytes), bytes.len(), &WindowRules::default()).expect("a window");
    assert_eq!((found.from, found.to, found.is_suspicious), (3, 22, true));
    let (start, slope) = found.regression.expect("it rises");
    assert!(start >= 3 && (slope - 10.0).abs() < 1e-9, "{start} {slope}");
    let mut flat = vec![100; 60];
    flat.push(101);
    let found = leak_window(&levels(&flat), flat.len(), &WindowRules::default()).expect("a window");
    assert_eq!((found.from, found.to, found.is_suspicious), (59, 60, false));
}

/// Every window, in the order of its start and then its length.
fn naive_steepest(points: &[(u64, i64)], least: usize, most: usize) -> Option<Rise> {
    let mut best: Option<Rise> = None;
    for from in 0..points.len() {
        for to in from + least..points.len().min(from.saturating_add(most).saturating_add(1)) {
            let rise = Rise { from, to, value: points[to].1 - points[from].1, time: points[to].0 - points[from].0 };
            let steeper = |best: Rise| {
                i128::from(rise.value) * i128::from(best.time) > i128::from(best.value) * i128::from(rise.time)
            };
            if rise.time > 0 && best.is_none_or(steeper) {
                best = Some(rise);
            }
        }
    }
    best
}

/// The longest suffix in which every point keeps the rule, each looked at from its beginning.
fn naive_suffix(bytes: &[u64], kept: u64) -> Option<usize> {
    let holds = |from: usize| {
        (from + 1..bytes.len()).all(|i| {
            let most = bytes[from..i].iter().max().copied().unwrap_or(0);
            bytes[i] > bytes[i - 1] || bytes[i] > bytes[from] && 100 * bytes[i] >= kept * most
        })
    };
    (0..bytes.len().saturating_sub(1)).find(|&from| holds(from))
}

fn naive_slope(levels: &[MemoryLevel]) -> Option<f64> {
    let n = levels.len() as f64;
    let (time, bytes) = (|l: &MemoryLevel| l.time as f64 / 1e9, |l: &MemoryLevel| l.bytes as f64);
    let (mt, my) = (levels.iter().map(time).sum::<f64>() / n, levels.iter().map(bytes).sum::<f64>() / n);
    let run: f64 = levels.iter().map(|l| (time(l) - mt).powi(2)).sum();
    (run > 0.0).then(|| levels.iter().map(|l| (time(l) - mt) * (bytes(l) - my)).sum::<f64>() / run)
}

prop_compose! {
    /// Collections, some of them in the same moment.
    fn collections()(steps in prop::collection::vec((0..4u64, 0..3u64, -20..100i64), 0..80)) -> Vec<GcSpan> {
        let mut now = 0;
        let span = |(wait, pause, freed): (u64, u64, i64)| {
            let start = now + wait;
            now = start + pause;
            GcSpan { start, end: now, freed }
        };
        steps.into_iter().map(span).collect()
    }
}

proptest! {
    #[test]
    fn the_steepest_window_is_that_of_all_windows(
        steps in prop::collection::vec((0..3u64, -6..7i64), 0..60), least in 1..12usize, more in 0..20usize,
    ) {
        let (mut time, mut value) = (0, 0);
        let points: Vec<(u64, i64)> = steps.into_iter().map(|(t, v)| {
            (time, value) = (time + t, value + v);
            (time, value)
        }).collect();
        prop_assert_eq!(steepest(&points, least, least + more), naive_steepest(&points, least, least + more));
    }

    #[test]
    fn huge_numbers_are_no_trouble(points in prop::collection::vec((any::<u64>(), any::<i64>()), 0..30), least in 0..9usize) {
        let found = steepest(&points, least, usize::MAX);
        prop_assert!(found.is_none_or(|rise| rise.time > 0 && rise.to >= rise.from + least.max(1)));
    }

    #[test]
    fn the_window_of_a_leak_is_the_longest_that_keeps_the_rule(
        bytes in prop::collection::vec(0..30u64, 0..40), kept in prop::sample::select(vec![0, 50, 75, 100]),
    ) {
        let rules = WindowRules { kept_percent: kept, ..WindowRules::default() };
        let found = leak_window(&levels(&bytes), bytes.len(), &rules);
        prop_assert_eq!(found.map(|found| found.from), naive_suffix(&bytes, kept));
        if let Some(found) = found {
            let inside = &bytes[found.from..];
            prop_assert!(bytes[found.to] > inside[0], "it grows");
            let mut most = 0;
            for &here in inside {
                most = most.max(here);
                prop_assert!(100 * here >= kept.min(100) * most, "it never falls below a share of the largest");
            }
            let covers = 10 * (found.to - found.from + 1) >= bytes.len();
            let grows = 10 * (bytes[found.to] - inside[0]) >= inside[0];
            prop_assert_eq!(found.is_suspicious, covers && grows);
            // Its steepest part has the length that is asked for.
            let (from, to) = found.steepest.expect("time passes");
            let (points, all) = (to - from + 1, found.to - found.from + 1);
            prop_assert!(from >= found.from && to <= found.to && points >= 2);
            prop_assert!(10 * points >= all && (2 * points <= all || points == all.div_ceil(10).max(2)));
        }
    }

    #[test]
    fn the_regression_finds_the_line_that_rises_most(bytes in prop::collection::vec(0..1000u64, 2..60)) {
        let levels = levels(&bytes);
        let least = levels.len().div_ceil(10).max(2);
        let slopes = (0..=levels.len() - least).filter_map(|from| naive_slope(&levels[from..]));
        let most = slopes.fold(0.0, f64::max);
        match growth_regression(&levels) {
            None => prop_assert!(most <= 1e-9, "{}", most),
            Some((from, slope)) => {
                prop_assert!((slope - most).abs() <= 1e-9 * most, "{} is not {}", slope, most);
                let own = naive_slope(&levels[from..]).expect("time passes");
                prop_assert!((slope - own).abs() <= 1e-9 * own.abs());
            }
        }
    }

    #[test]
    fn overhead_and_churn_are_those_of_the_worst_window(gcs in collections(), least in 1..7usize, more in 0..9usize) {
        let rules = WindowRules { least_gcs: least, most_gcs: least + more, least_millis: 0, ..WindowRules::default() };
        let found = SuspiciousWindows::find(0, &gcs, &[], &rules);
        for (window, of) in [
            (found.overhead, (|gc| (gc.end - gc.start) as i64) as fn(&GcSpan) -> i64),
            (found.churn, |gc| gc.freed),
        ] {
            let mut best: Option<(usize, usize, i64, u64)> = None;
            for first in 0..gcs.len() {
                let from = if first == 0 { 0 } else { gcs[first - 1].end };
                for last in (first + least).saturating_sub(1)..gcs.len().min(first + least + more) {
                    let (amount, time) = (gcs[first..=last].iter().map(of).sum::<i64>(), gcs[last].end - from);
                    let better = |(_, _, most, all): (usize, usize, i64, u64)| {
                        i128::from(amount) * i128::from(all) > i128::from(most) * i128::from(time)
                    };
                    if time > 0 && best.is_none_or(better) {
                        best = Some((first, last, amount, time));
                    }
                }
            }
            let seen = window.map(|w| (w.first, w.last, w.amount, w.to - w.from));
            prop_assert_eq!(seen, best);
        }
        if let Some(window) = found.overhead {
            prop_assert_eq!(window.is_suspicious, window.amount > 0 && 10 * window.amount as u64 >= window.duration());
        }
    }
}

fn growth_regression(levels: &[MemoryLevel]) -> Option<(usize, f64)> {
    super::growth::regression(levels, &WindowRules::default())
}

/// A run whose second half throws away three times as much.
/// A heap that goes up and down does not grow to the end, wherever it is then.
#[test]
fn growth_to_the_end_is_said_where_the_end_is_highest() {
    for (bytes, is_suspicious, expected) in [
        (&[100, 150, 200][..], true, Some("Memory grows to the end")),
        (&[100, 190, 150], true, Some("Memory goes up and down, and is higher at the end")),
        (&[722, 736, 717, 731, 745, 723, 741, 729], false, None),
        (&[1000, 1010, 1020], false, Some("Memory grows a little to the end, or for a short time")),
    ] {
        let levels = levels(bytes);
        let found = leak_window(&levels, levels.len(), &WindowRules::default()).expect("a window");
        assert_eq!(found.is_suspicious, is_suspicious, "{bytes:?}");
        let said = found.is_worth_a_word(&levels).then(|| found.words(&levels));
        assert_eq!(said, expected, "{bytes:?}");
    }
}

/// Nanoseconds.
const MS: u64 = 1_000_000;

#[test]
fn churn_is_told_where_it_is_well_above_the_average() {
    let gcs = |freed: &dyn Fn(u64) -> i64| -> Vec<GcSpan> {
        (1..=100).map(|i| GcSpan { start: i * 100 * MS, end: i * 100 * MS + 5, freed: freed(i) }).collect()
    };
    let find = |gcs: &[GcSpan]| SuspiciousWindows::find(0, gcs, &[], &WindowRules::default());
    let steady = find(&gcs(&|_| 1000)).churn.expect("a window");
    assert!(!steady.is_suspicious, "what is everywhere is nowhere");
    let burst = find(&gcs(&|i| if i > 80 { 3000 } else { 1000 })).churn.expect("a window");
    assert!(burst.is_suspicious && burst.first >= 80, "{burst:?}");
    // The same in 61 ms says nothing of a program.
    let short: Vec<GcSpan> = gcs(&|i| if i > 80 { 3000 } else { 1000 })
        .iter()
        .map(|gc| GcSpan { start: gc.start * 61 / 10_000, end: gc.end * 61 / 10_000, ..*gc })
        .collect();
    assert!(find(&short).churn.is_some_and(|window| !window.is_suspicious));
    let fewer = SuspiciousWindows::find(0, &gcs(&|_| 1)[..4], &[], &WindowRules::default());
    assert_eq!((fewer.churn, fewer.overhead), (None, None), "there are fewer collections than a window has");
}
