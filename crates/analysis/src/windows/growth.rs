//! The window of a leak: the longest one that grows, more or less, to the end of the run.

use super::{LeakWindow, WindowRules, steepest};

/// How much memory there is at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryLevel {
    /// When, nanoseconds; ascending.
    pub time: u64,
    /// Bytes.
    pub bytes: u64,
    /// The collection after which that is, counted from 0; of points that are none, their place. Ascending.
    pub gc: usize,
}

/// The leak of a run of `gcs` collections, whether or not it is beyond the thresholds. `None` where nothing grows to the
/// end.
///
/// A point extends the window if it is above the previous one. It also does if it is above the first of the window and no lower than
/// [`WindowRules::kept_percent`] of its largest. Otherwise the window begins anew there. At the end, the window is the longest of this
/// kind.
pub fn leak_window(levels: &[MemoryLevel], gcs: usize, rules: &WindowRules) -> Option<LeakWindow> {
    let last = levels.len().checked_sub(1)?;
    let (mut from, mut most) = (0, levels[0].bytes);
    for (at, pair) in levels.windows(2).enumerate() {
        let [before, here] = [pair[0].bytes, pair[1].bytes];
        let kept = u128::from(here) * 100 >= u128::from(rules.kept_percent) * u128::from(most);
        if here > before || here > levels[from].bytes && kept {
            most = most.max(here);
        } else {
            (from, most) = (at + 1, here);
        }
    }
    if from == last {
        return None;
    }
    let grown = levels[last].bytes.saturating_sub(levels[from].bytes);
    let share_grown =
        u128::from(grown) * 100 >= u128::from(rules.least_growth_percent) * u128::from(levels[from].bytes);
    let covered = levels[last].gc.saturating_sub(levels[from].gc) + 1;
    let is_long = covered as u128 * 100 >= u128::from(rules.least_cover_percent) * gcs.max(1) as u128;
    Some(LeakWindow {
        from,
        to: last,
        steepest: narrowed(levels, from, rules),
        is_suspicious: !rules.is_well && is_long && grown >= rules.least_growth.max(1) && share_grown,
        regression: regression(levels, rules),
    })
}

/// A percentage of some points, rounded up.
fn share(points: usize, percent: u64) -> usize {
    usize::try_from((points as u128 * u128::from(percent)).div_ceil(100)).unwrap_or(points)
}

/// The part of the window from `from` to the end that grows fastest.
fn narrowed(levels: &[MemoryLevel], from: usize, rules: &WindowRules) -> Option<(usize, usize)> {
    let points: Vec<(u64, i64)> =
        levels[from..].iter().map(|level| (level.time, i64::try_from(level.bytes).unwrap_or(i64::MAX))).collect();
    let least = share(points.len(), rules.narrow_least_percent).max(2);
    let most = (points.len() as u128 * u128::from(rules.narrow_most_percent) / 100) as usize;
    let rise = steepest(&points, least - 1, most.max(least) - 1)?;
    Some((from + rise.from, from + rise.to))
}

/// The steepest regression line through the points from some point to the end, and its start. It tries the last points first, then further
/// and further back; of equal lines the longest wins.
pub(super) fn regression(levels: &[MemoryLevel], rules: &WindowRules) -> Option<(usize, f64)> {
    let least = share(levels.len(), rules.regression_percent).max(2);
    let end = levels.last()?;
    // Sums of whole numbers, so that equal slopes are equal; relative to the end, so that they are small.
    let (mut n, mut t, mut y, mut tt, mut ty) = (0i128, 0i128, 0i128, 0i128, 0i128);
    let mut best: Option<(usize, f64)> = None;
    for (at, level) in levels.iter().enumerate().rev() {
        // Within a hundred years and a petabyte.
        let time = -i128::from(end.time.saturating_sub(level.time).min(1 << 52));
        let bytes = i128::from(level.bytes.min(1 << 50)) - i128::from(end.bytes.min(1 << 50));
        n += 1;
        t += time;
        y += bytes;
        tt += time * time;
        ty += time * bytes;
        if levels.len() - at < least {
            continue;
        }
        let difference = |a: i128, b: i128, c: i128, d: i128| match (a.checked_mul(b), c.checked_mul(d)) {
            (Some(ab), Some(cd)) => (ab - cd) as f64,
            _ => a as f64 * b as f64 - c as f64 * d as f64,
        };
        let (rise, run) = (difference(n, ty, t, y), difference(n, tt, t, t));
        let slope = 1e9 * rise / run;
        if run > 0.0 && slope > 0.0 && best.is_none_or(|(_, most)| slope >= most) {
            best = Some((at, slope));
        }
    }
    best
}
