//! Key facts of a view's data, saved with the view: other data under the same name is reported as different.

use memory_city_analysis::timeline::{NodeId, Timeline};
use serde::{Deserialize, Serialize};

/// How many points in time there were, and how large the heap was at the one that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenData {
    /// Counted from 1.
    time: usize,
    times: usize,
    objects: u64,
    bytes: u64,
}

impl SeenData {
    /// Facts of a timeline at a point in time, counted from 0.
    pub fn of(timeline: &Timeline, time: usize) -> SeenData {
        let heap = match timeline.times() {
            0 => Default::default(),
            times => timeline.amount(time.min(times - 1), NodeId::ROOT),
        };
        SeenData { time: time + 1, times: timeline.times(), objects: heap.objects, bytes: heap.bytes }
    }

    /// Differences of other data at that point in time, a sentence; `None` if there are none.
    pub fn difference(&self, timeline: &Timeline) -> Option<String> {
        let now = SeenData::of(timeline, self.time.saturating_sub(1));
        let what = match &now {
            same if same == self => return None,
            now if now.times != self.times => {
                let points = |n: usize| format!("{n} {}", if n == 1 { "point in time" } else { "points in time" });
                format!("{}, and {} then", points(now.times), self.times)
            }
            now => {
                let (is, was) = ((now.objects, now.bytes), (self.objects, self.bytes));
                format!("{} objects of {} bytes at {}, and {} of {} then", is.0, is.1, self.time, was.0, was.1)
            }
        };
        Some(format!("The data is another than when this view was saved: {what}"))
    }
}
