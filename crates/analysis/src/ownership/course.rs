//! The course of a place over time: it grows again and again, or was filled once and stayed so.
//!
//! Only the bytes at some points in time are used. Thresholds are parts of the growth from the first to the last, so that they mean the
//! same for small and large places.

/// How bytes went from the first point in time to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// They grow to the end.
    Lasting,
    /// They grew several times, with rests between as long as the last one is.
    Paused,
    /// All of the growth came after the last point but one: it may go on, or be over.
    LastStep,
    /// They grew, and have stayed since: a full cache, or objects loaded at first use.
    Filled,
    /// They do not grow, come and go, or grew mostly at the start.
    Other,
}

impl Course {
    /// In a word or two.
    pub fn title(self) -> &'static str {
        match self {
            Course::Lasting => "lasting",
            Course::Paused => "paused",
            Course::LastStep => "last step",
            Course::Filled => "filled",
            Course::Other => "other",
        }
    }

    /// Whether it may be a leak.
    pub fn may_leak(self) -> bool {
        matches!(self, Course::Lasting | Course::Paused | Course::LastStep)
    }
}

/// Share of all growth; less in a rest is no growth.
const REST: f64 = 0.1;
/// Share of even growth that each interval must have; less is no growth.
const OF_EVEN: f64 = 0.4;
/// Share of all growth; a growing place may end at most so far below its highest.
const BELOW_HIGHEST: f64 = 0.25;
/// Share of all growth; less in the last of two intervals is no growth. Three points are too few for [`REST`].
const REST_OF_TWO: f64 = 0.05;
/// Share of all growth. If a place shrinks by more in between, it is a sawtooth, and its lowest points count.
const SAWTOOTH: f64 = 0.5;

/// The course of some bytes. `later` is the part of the growth that the later half of the times must have, for each half of it that even
/// growth would have.
pub fn course(bytes: &[u64], later: f64) -> Course {
    course_at(bytes, &[], later)
}

/// As [`course`], of points in time that lie unevenly: `at` says when each was, in any unit; empty where nobody knows. What is short may have little
/// growth without being a rest.
pub fn course_at(bytes: &[u64], at: &[u64], later: f64) -> Course {
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return Course::Other };
    if last <= first {
        return Course::Other;
    }
    let growth = (last - first) as f64;
    let highest = bytes.iter().copied().max().unwrap_or(0);
    if bytes.len() > 2 && (highest - last) as f64 > BELOW_HIGHEST * growth {
        return Course::Other;
    }
    let shrunk: f64 = bytes.windows(2).map(|pair| pair[0].saturating_sub(pair[1]) as f64).sum();
    if shrunk < SAWTOOTH * growth {
        return course_of_level(bytes, at, later, little_of(bytes.len()));
    }
    // Of three or four points, the lowest tell no level.
    if bytes.len() < 5 {
        return Course::Other;
    }
    let level = troughs(bytes, REST * growth);
    match level[level.len() - 1].saturating_sub(level[0]) as f64 >= OF_EVEN * growth {
        true => course_of_level(&level, &[], later, REST),
        false => Course::Other,
    }
}

/// As [`course`], with the usual part of the later half.
pub fn course_of(bytes: &[u64]) -> Course {
    course(bytes, super::AccumulationRules::default().later)
}

/// The troughs of a sawtooth: levels that the bytes never fall below again, up to the last fall by more than `fall`. The last tooth may
/// fall as well, so it is left out.
fn troughs(bytes: &[u64], fall: f64) -> Vec<u64> {
    let came_down = bytes.windows(2).rposition(|pair| pair[0].saturating_sub(pair[1]) as f64 > fall);
    let until = came_down.map_or(bytes.len(), |at| at + 2);
    let mut level: Vec<u64> = Vec::new();
    for &lower in bytes[..until].iter().rev() {
        if level.last().is_none_or(|&later| lower <= later) {
            level.push(lower);
        }
    }
    level.reverse();
    level
}

/// Share of all growth of so many points; less in a rest is no growth.
fn little_of(points: usize) -> f64 {
    if points == 3 { REST_OF_TWO } else { REST }
}

/// The course of bytes that are more at the end, and do not go up and down much.
fn course_of_level(bytes: &[u64], at: &[u64], later: f64, little: f64) -> Course {
    let (first, last, intervals) = (bytes[0], bytes[bytes.len() - 1], bytes.len() - 1);
    // Two points tell where it grew, not how.
    if intervals < 2 {
        return Course::Lasting;
    }
    let growth = last.saturating_sub(first) as f64;
    let least = growth * REST.min(OF_EVEN / intervals as f64);
    let grows: Vec<bool> = bytes.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64 >= least).collect();
    let rest = rest(bytes, at, little);
    if rest == 0 {
        let before = bytes[intervals - 1].saturating_sub(first) as f64;
        if before < REST * growth {
            return Course::LastStep;
        }
    } else {
        let active = grows[..intervals - rest].iter().filter(|&&grows| grows).count();
        // One interval without growth is no end yet, where most others have some.
        let short = rest == 1 && active > (intervals / 4).max(1);
        if !short && longest_gap(&grows[..intervals - rest]).is_none_or(|gap| gap < rest) {
            return Course::Filled;
        }
    }
    let middle = intervals / 2;
    let later_times = part_from(middle, bytes.len(), at);
    let least = if little < REST { little.min(later * later_times) } else { later * later_times };
    let is_late = last.saturating_sub(bytes[middle]) as f64 >= least * growth;
    match rest {
        _ if !is_late => Course::Other,
        0 => Course::Lasting,
        _ => Course::Paused,
    }
}

/// Whether the last interval of three or four points in time has less than [`OF_EVEN`] of even growth: what fills up looks alike.
pub(super) fn slows(bytes: &[u64], at: &[u64]) -> bool {
    let (Some(&first), [.., before, last]) = (bytes.first(), bytes) else { return false };
    let of_last = last.saturating_sub(*before) as f64;
    let even = part_from(bytes.len() - 2, bytes.len(), at) * last.saturating_sub(first) as f64;
    (3..=4).contains(&bytes.len()) && of_last < OF_EVEN * even
}

/// The part of the whole time from a point on, by the number of intervals, or by the clock where that is less.
fn part_from(from: usize, points: usize, at: &[u64]) -> f64 {
    let intervals = points.saturating_sub(1).max(1) as f64;
    let even = (points.saturating_sub(1) - from) as f64 / intervals;
    match (at.first(), at.get(from), at.last()) {
        (Some(&first), Some(&from), Some(&last)) if at.len() == points && last > first && at.is_sorted() => {
            even.min((last - from) as f64 / (last - first) as f64)
        }
        _ => even,
    }
}

/// In how many of the last intervals together there is next to no growth: all points are about as high as the last.
fn rest(bytes: &[u64], at: &[u64], little: f64) -> usize {
    let (first, last, intervals) = (bytes[0], bytes[bytes.len() - 1], bytes.len() - 1);
    let growth = last.saturating_sub(first) as f64;
    let is_rest = |n: &usize| {
        let tail = &bytes[intervals - n..];
        let grown = last.saturating_sub(tail[0]) as f64;
        grown <= growth * little.min(OF_EVEN * part_from(intervals - n, bytes.len(), at))
            && tail.iter().all(|b| b.abs_diff(last) as f64 <= REST * growth)
    };
    (1..intervals).rev().find(is_rest).unwrap_or(0)
}

/// For a filled place: the points in time between which it grew.
pub fn filled_between(bytes: &[u64]) -> (usize, usize) {
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return (0, 0) };
    let small = REST * last.saturating_sub(first) as f64;
    let until = bytes.len() - 1 - if bytes.len() > 1 { rest(bytes, &[], little_of(bytes.len())) } else { 0 };
    let from = bytes.iter().position(|&b| b.saturating_sub(first) as f64 > small).map_or(0, |at| at.saturating_sub(1));
    (from.min(until), until)
}

/// Share of all growth; up to it a place has not begun to grow.
const LITTLE: f64 = 0.05;

/// Since when it grows: the last point in time at which there was no more than a twentieth of the growth, and the next. `None` where it
/// does not grow.
pub fn grows_between(bytes: &[u64]) -> Option<(usize, usize)> {
    let (&first, &last) = (bytes.first()?, bytes.last()?);
    let little = first as f64 + LITTLE * last.checked_sub(first).filter(|&grown| grown > 0)? as f64;
    let from = bytes.iter().rposition(|&b| b as f64 <= little)?;
    Some((from, (from + 1).min(bytes.len() - 1)))
}

/// The longest time without growth between two with some; `None` where it grew in one go.
fn longest_gap(grows: &[bool]) -> Option<usize> {
    let places: Vec<usize> = grows.iter().enumerate().filter(|(_, grows)| **grows).map(|(at, _)| at).collect();
    places.windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|&gap| gap > 0).max()
}

#[cfg(test)]
mod tests {
    use super::{Course, course, course_at, filled_between, grows_between};
    use proptest::prelude::*;

    fn of(bytes: &[u64]) -> Course {
        course(&bytes.iter().map(|b| b * 1000).collect::<Vec<_>>(), 0.4)
    }

    #[test]
    fn growth_again_and_again_is_told_from_a_step() {
        for (bytes, expected) in [
            (&[1, 2][..], Course::Lasting),
            (&[1, 5, 9], Course::Lasting),
            // Slower, of three points.
            (&[10, 182, 200], Course::Lasting),
            // Steady, from the middle on, in bursts, slower and slower, below teeth.
            (&[1, 2, 3, 4, 5, 6, 7, 8], Course::Lasting),
            (&[1, 1, 1, 1, 3, 5, 7, 9], Course::Lasting),
            (&[2, 2, 7, 7, 7, 12, 12, 12, 17], Course::Lasting),
            (&[10, 30, 45, 57, 66, 73, 79, 84], Course::Lasting),
            (&[1, 9, 3, 11, 5, 13, 7, 15, 9, 16], Course::Lasting),
            (&[1, 9, 3, 11, 5, 13, 7, 12], Course::Lasting),
            // It rests at the end no longer than between, or for a moment.
            (&[1, 1, 6, 6, 6, 11, 11, 11], Course::Paused),
            (&[1, 2, 3, 4, 5, 6, 7, 7], Course::Paused),
            // One step: at the end, in the middle, in two parts, at the start.
            (&[1, 1, 9], Course::LastStep),
            (&[1, 1, 1, 1, 1, 1, 1, 9], Course::LastStep),
            (&[1, 9, 9], Course::Filled),
            (&[1, 1, 1, 1, 9, 9, 9, 9], Course::Filled),
            (&[1, 1, 1, 1, 1, 1, 9, 9], Course::Filled),
            (&[1, 1, 1, 3, 8, 9, 9, 9], Course::Filled),
            (&[0, 8, 9, 9, 9, 9], Course::Filled),
            (&[1, 2, 3, 4, 5, 5, 5, 5], Course::Filled),
            // Full, and what is in it changes.
            (&[100, 300, 900, 980, 1000, 970, 1010, 990, 1000], Course::Filled),
            // The same, up and down.
            (&[10, 90, 60, 95, 65, 92], Course::Filled),
            // Nothing, less, teeth.
            (&[9, 9, 9, 9], Course::Other),
            (&[9, 8, 7, 6], Course::Other),
            (&[1, 9, 1, 9, 1, 2], Course::Other),
            (&[2, 16, 4, 17, 3, 15, 6, 18], Course::Other),
            // Two caches of a healthy Spark driver: the last tooth has not come down yet.
            (&[948, 1220, 798, 300, 802, 768, 1910, 1880], Course::Other),
            (&[252, 594, 660, 297, 846, 297, 549, 846], Course::Other),
            (&[252, 660, 846, 297, 846], Course::Other),
            (&[1, 50, 53, 57, 60, 64, 67, 72], Course::Other),
            // A cache that was emptied in between; a short fall is none.
            (&[10, 4, 12], Course::Other),
            (&[10, 60, 12, 90], Course::Other),
            (&[10, 9, 20], Course::LastStep),
        ] {
            assert_eq!(of(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn it_is_said_when_it_was_filled() {
        assert_eq!(filled_between(&[10, 10, 10, 10, 90, 90, 90]), (3, 4));
        assert_eq!(filled_between(&[10, 10, 30, 60, 90, 90, 91]), (1, 4));
        assert_eq!(filled_between(&[10, 90, 90]), (0, 1));
    }

    #[test]
    fn it_is_said_since_when_it_grows() {
        assert_eq!(grows_between(&[10, 10, 10, 30, 60, 90]), Some((2, 3)));
        assert_eq!(grows_between(&[10, 30, 60, 90]), Some((0, 1)));
        assert_eq!(grows_between(&[10, 60, 12, 90]), Some((2, 3)), "what it lost again does not count");
        assert_eq!((grows_between(&[90, 10]), grows_between(&[7, 7]), grows_between(&[])), (None, None, None));
    }

    /// The last point follows the one before at once: little growth in a short time is no rest.
    #[test]
    fn of_uneven_points_the_clock_tells_a_rest() {
        let (slow, at) = ([1000, 2820, 2900], [0, 14, 15]);
        assert_eq!(course(&slow, 0.4), Course::Filled);
        assert_eq!(course_at(&slow, &at, 0.4), Course::Lasting);
        assert_eq!(course_at(&[1000, 2890, 2900], &at, 0.4), Course::Filled);
        assert_eq!(course_at(&slow, &[15, 14, 0], 0.4), Course::Filled, "clocks that go back tell nothing");
    }

    proptest! {
        /// Even growth is a leak at any scale and any number of points; so is growth that begins in the middle.
        #[test]
        fn even_growth_lasts(n in 3usize..40, start in 0u64..1_000_000, step in 100u64..1_000_000, noise in 0u64..10) {
            let steady: Vec<u64> = (0..n as u64).map(|i| start + i * step + (i * 7919 % 10) * step / 100 * noise / 10).collect();
            prop_assert_eq!(course(&steady, 0.4), Course::Lasting);
            let late: Vec<u64> = (0..n as u64).map(|i| start + i.saturating_sub(n as u64 / 2) * step).collect();
            prop_assert!(course(&late, 0.4).may_leak());
        }

        /// One step with a rest of two intervals and more behind it is none, wherever it is.
        #[test]
        fn a_step_is_filled(n in 4usize..40, at in any::<prop::sample::Index>(), start in 0u64..1000, step in 1000u64..1_000_000) {
            let at = 1 + at.index(n - 3);
            let bytes: Vec<u64> = (0..n).map(|i| start + if i >= at { step } else { 0 }).collect();
            prop_assert_eq!(course(&bytes, 0.4), Course::Filled);
            prop_assert_eq!(filled_between(&bytes), (at - 1, at));
        }

        /// Nothing panics, and a place that ends no larger than it began is no leak.
        #[test]
        fn any_bytes_have_a_course(bytes in prop::collection::vec(any::<u64>(), 0..12)) {
            let course = course(&bytes, 0.4);
            filled_between(&bytes);
            if bytes.last() <= bytes.first() {
                prop_assert_eq!(course, Course::Other);
            }
        }
    }
}
