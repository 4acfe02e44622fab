//! Ranges of points in time.

use super::key::NodeId;
use super::metric::Metric;
use super::nodes::Timeline;
use memory_city_heap::error::{Error, Result};

/// A range of points in time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    /// The first, counted from 0.
    pub from: usize,
    /// The last; not before the first.
    pub to: usize,
}

impl TimeWindow {
    /// The window from the first to the last point in time.
    pub fn whole(timeline: &Timeline) -> TimeWindow {
        TimeWindow { from: 0, to: timeline.times().saturating_sub(1) }
    }

    /// The typed range, counted from 1; by default from the first to the last.
    ///
    /// # Errors
    /// When there is no such point in time, or the last is before the first.
    pub fn of(timeline: &Timeline, from: Option<usize>, to: Option<usize>) -> Result<TimeWindow> {
        let times = timeline.times();
        let place = |given: Option<usize>, name: &str, default: usize| match given {
            None => Ok(default),
            Some(k) if (1..=times).contains(&k) => Ok(k - 1),
            Some(k) => Err(Error::Unusable {
                what: format!("There is no point in time {k}: the input has {times}"),
                remedy: format!("Let {name} be from 1 to {times}"),
            }),
        };
        let whole = TimeWindow::whole(timeline);
        let window = TimeWindow { from: place(from, "--from", whole.from)?, to: place(to, "--to", whole.to)? };
        if window.from > window.to {
            return Err(Error::Unusable {
                what: format!("The point in time {} comes after {}", window.from + 1, window.to + 1),
                remedy: "Let --from be no larger than --to".into(),
            });
        }
        Ok(window)
    }

    /// The points in time in it.
    pub fn times(self) -> std::ops::RangeInclusive<usize> {
        self.from..=self.to
    }

    /// The value of a node at the last time minus that at the first. Saturates.
    pub fn growth(self, timeline: &Timeline, node: NodeId, metric: Metric) -> i64 {
        if timeline.times() == 0 {
            return 0;
        }
        change(timeline.value(self.from, node, metric), timeline.value(self.to, node, metric))
    }
}

/// The increase from `first` to `last`, clamped to a signed number.
#[inline]
pub(crate) fn change(first: u64, last: u64) -> i64 {
    (i128::from(last) - i128::from(first)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
