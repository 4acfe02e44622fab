//! The steepest window of a series: the largest rise per unit of time among all windows of a bounded number of steps.
//!
//! Dinkelbach's method for fractions: for a slope r, the window with the largest `rise - r x time` is found in one pass with a sliding
//! minimum. As long as that is above 0, its own slope is the next r. Slopes only get steeper, and the number of passes is small (their
//! number grows with the logarithm of the precision; a dozen for a hundred thousand points). All numbers are whole: the result is exact,
//! and ties are ties.

use std::collections::VecDeque;

/// A window of a series, and how much it rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// Its first point.
    pub from: usize,
    /// Its last point, later.
    pub to: usize,
    /// The rise of the value from the first to the last point; negative if all windows fall.
    pub value: i64,
    /// How much time passes, never 0.
    pub time: u64,
}

/// Values and times beyond this are taken for this: products of two of them stay within 127 bits.
const MOST: i64 = 1 << 61;

/// The window from one point to a later one, at least `least` and at most `most` steps on, with the largest rise per unit of time; the
/// earliest of equal ones, and then the shortest. `points` are times, ascending, and values. Windows without duration have no slope and do
/// not count. `None` without any window.
pub fn steepest(points: &[(u64, i64)], least: usize, most: usize) -> Option<Rise> {
    let (least, most) = (least.max(1), most.max(least.max(1)));
    let mut latest = 0;
    let points: Vec<(i64, i64)> = points
        .iter()
        .map(|&(time, value)| {
            latest = latest.max(i64::try_from(time).unwrap_or(MOST).min(MOST));
            (latest, value.clamp(-MOST, MOST))
        })
        .collect();
    let rise = |(from, to): (usize, usize)| Rise {
        from,
        to,
        value: points[to].1 - points[from].1,
        time: (points[to].0 - points[from].0) as u64,
    };
    // Any window will do to begin with; a good one saves passes.
    let mut best = {
        let first = best_above(&points, least, most, 0, 1)?;
        rise(first.1)
    };
    loop {
        let (excess, window) = best_above(&points, least, most, best.value.into(), best.time.into())?;
        best = rise(window);
        if excess == 0 {
            return Some(best);
        }
    }
}

/// The window with the largest `rise x d - time x n`, by how much; ties as in [`steepest`]. `None` where no window has a duration.
fn best_above(points: &[(i64, i64)], least: usize, most: usize, n: i128, d: i128) -> Option<(i128, (usize, usize))> {
    let weight = |at: usize| i128::from(points[at].1) * d - i128::from(points[at].0) * n;
    // Starts that may still be the best one, by weight, ascending.
    let mut starts: VecDeque<(usize, i128)> = VecDeque::new();
    let mut next = 0;
    let mut best: Option<(i128, (usize, usize))> = None;
    for to in least..points.len() {
        while next + least <= to && points[next].0 < points[to].0 {
            let here = weight(next);
            while starts.back().is_some_and(|&(_, before)| before > here) {
                starts.pop_back();
            }
            starts.push_back((next, here));
            next += 1;
        }
        while starts.front().is_some_and(|&(from, _)| from.saturating_add(most) < to) {
            starts.pop_front();
        }
        let Some(&(from, lowest)) = starts.front() else { continue };
        let excess = weight(to) - lowest;
        if best.is_none_or(|(most, window)| excess > most || excess == most && (from, to) < window) {
            best = Some((excess, (from, to)));
        }
    }
    best
}
