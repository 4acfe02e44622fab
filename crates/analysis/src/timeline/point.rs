//! Points in time.

use super::sampled_part::SampledPart;
use memory_city_formats::{GcNoun, GcPoint};
use memory_city_heap::Amount;

/// A point in time of a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TimePoint {
    /// Short label for people, such as the file name.
    pub label: String,
    /// Milliseconds since the Unix epoch, or since the program started where any point of the timeline has a `gc` ([`by_uptime`]); 0 when
    /// the source does not say.
    pub millis: u64,
    /// The garbage collection this is the start or end of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc: Option<GcPoint>,
    /// Objects and bytes that are not reachable from any root (garbage in the dump), counted apart.
    pub unreachable: Amount,
    /// For a grouping by facts of samples: the number of objects with these facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledPart>,
}

/// Whether the times of all these points count from the start of the program: some may be of no collection.
pub fn by_uptime(points: &[TimePoint]) -> bool {
    points.iter().any(|point| point.gc.is_some())
}

/// The noun for the collections of points in time, if only the points are known.
pub fn gc_noun(points: &[TimePoint]) -> GcNoun {
    GcNoun::of_each(points.iter().filter_map(|point| Some(point.gc.as_ref()?.one_pause)))
}

/// Whether a point in time has the same collection as the one before it: of a recording that was walked twice after one.
pub fn is_repeated(points: &[TimePoint], at: usize) -> bool {
    at > 0 && points[at].gc.is_some() && points[at].gc == points[at - 1].gc
}
