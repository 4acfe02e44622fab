//! Thinning: the points in time of a chart, fewer if there are thousands, or if each costs a pass over the heap.
//!
//! The first and the last are always among them, so growth between them is exact, however many are left out.

use crate::timeline::{TimePoint, TimeWindow};

/// The charted points in time, as in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Thinning {
    /// All.
    #[default]
    All,
    /// Every n-th.
    Every(usize),
    /// Times at least so many seconds apart, on the clock of the observed program.
    Seconds(u64),
}

impl Thinning {
    /// The points in time of a window that are charted: ascending, the first and the last of the window always.
    pub fn times(self, points: &[TimePoint], window: TimeWindow) -> Vec<usize> {
        let mut last_at: Option<u64> = None;
        let mut chosen = |time: usize| match self {
            Thinning::All => true,
            Thinning::Every(n) => (time - window.from).is_multiple_of(n.max(1)),
            Thinning::Seconds(seconds) => {
                let now = points.get(time).map_or(0, |point| point.millis);
                // A clock that was set back begins anew.
                let due = last_at.is_none_or(|then| now < then || now - then >= seconds.saturating_mul(1000));
                if due {
                    last_at = Some(now);
                }
                due
            }
        };
        window.times().filter(|&time| chosen(time) || time == window.from || time == window.to).collect()
    }
}

/// At most `most` of some points in time (two at least), evenly spread, both ends among them.
pub fn spread(times: &[usize], most: usize) -> Vec<usize> {
    let steps = times.len().saturating_sub(1);
    let wanted = steps.min(most.max(2) - 1);
    (0..=wanted).filter_map(|i| times.get((i * steps).checked_div(wanted).unwrap_or(0)).copied()).collect()
}
