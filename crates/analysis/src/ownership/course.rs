//! How what a place holds went over time: whether it grows again and again, or was filled once and stayed so.
//!
//! Only the bytes at some points in time are looked at. Thresholds are parts of the growth from the first to the last, so that
//! they mean the same for small and large places.

/// How bytes went from the first point in time to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// They grow to the end.
    Lasting,
    /// They grew several times, with rests between as long as the last one is.
    Paused,
    /// All of the growth came after the last point but one: it may go on, or be over.
    LastStep,
    /// They grew, and have stayed since: a cache that is full, what was loaded when it was first needed.
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

/// Of all growth; less in a rest is no growth.
const REST: f64 = 0.1;
/// Of what each interval would have if growth were even; less is no growth.
const OF_EVEN: f64 = 0.4;
/// Of all growth: so far below its highest a place that grows may be at the end.
const BELOW_HIGHEST: f64 = 0.25;
/// Of all growth: what shrinks so much in between is a sawtooth, of which the lowest points count.
const SAWTOOTH: f64 = 0.5;

/// The course of some bytes. `later` is the part of the growth that the later half of the times must have, for each half of it
/// that it would have if it were even.
pub fn course(bytes: &[u64], later: f64) -> Course {
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
    if bytes.len() < 5 || shrunk < SAWTOOTH * growth {
        return course_of_level(bytes, later);
    }
    let level = troughs(bytes, REST * growth);
    match level[level.len() - 1].saturating_sub(level[0]) as f64 >= OF_EVEN * growth {
        true => course_of_level(&level, later),
        false => Course::Other,
    }
}

/// What teeth stand on: what there is never less of again, until they came down for the last time, by more than `fall`. The last tooth may
/// come down as well, so it says nothing.
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

/// The course of bytes that are more at the end, and do not go up and down much.
fn course_of_level(bytes: &[u64], later: f64) -> Course {
    let (first, last, intervals) = (bytes[0], bytes[bytes.len() - 1], bytes.len() - 1);
    // Two points tell where it grew, not how.
    if intervals < 2 {
        return Course::Lasting;
    }
    let growth = last.saturating_sub(first) as f64;
    let least = growth * REST.min(OF_EVEN / intervals as f64);
    let grows: Vec<bool> = bytes.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64 >= least).collect();
    let rest = rest(bytes);
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
    let later_times = (intervals - middle) as f64 / intervals as f64;
    let is_late = last.saturating_sub(bytes[middle]) as f64 >= later * later_times * growth;
    match rest {
        _ if !is_late => Course::Other,
        0 => Course::Lasting,
        _ => Course::Paused,
    }
}

/// In how many of the last intervals together there is next to no growth: all points are about as high as the last.
fn rest(bytes: &[u64]) -> usize {
    let (first, last, intervals) = (bytes[0], bytes[bytes.len() - 1], bytes.len() - 1);
    let growth = last.saturating_sub(first) as f64;
    let is_rest = |n: &usize| {
        let tail = &bytes[intervals - n..];
        let grown = last.saturating_sub(tail[0]) as f64;
        grown <= growth * REST.min(OF_EVEN * *n as f64 / intervals as f64)
            && tail.iter().all(|b| b.abs_diff(last) as f64 <= REST * growth)
    };
    (1..intervals).rev().find(is_rest).unwrap_or(0)
}

/// Of what was filled: the points in time after which it grew, and from which on it stayed.
pub fn filled_between(bytes: &[u64]) -> (usize, usize) {
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return (0, 0) };
    let small = REST * last.saturating_sub(first) as f64;
    let until = bytes.len() - 1 - if bytes.len() > 1 { rest(bytes) } else { 0 };
    let from = bytes.iter().position(|&b| b.saturating_sub(first) as f64 > small).map_or(0, |at| at.saturating_sub(1));
    (from.min(until), until)
}

/// Of all growth; what has no more has not begun to grow.
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
    use super::{Course, course, filled_between, grows_between};
    use proptest::prelude::*;

    fn of(bytes: &[u64]) -> Course {
        course(&bytes.iter().map(|b| b * 1000).collect::<Vec<_>>(), 0.4)
    }

    #[test]
    fn growth_again_and_again_is_told_from_a_step() {
        for (bytes, expected) in [
            (&[1, 2][..], Course::Lasting),
            (&[1, 5, 9], Course::Lasting),
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

    proptest! {
        /// Even growth is a leak at whatever scale and however often it is looked at; so is it when it begins in the middle.
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

        /// Nothing panics, and what ends no larger than it began is no leak.
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
