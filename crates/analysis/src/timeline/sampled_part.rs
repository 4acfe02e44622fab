//! The share of objects that a grouping by facts of samples can place, so that their number is never taken for a total.

use crate::group::{GroupOptions, Grouping, Reads};
use crate::tabular::count_text;
use memory_city_formats::HeapSeries;
use memory_city_heap::HeapState;
use std::fmt;

/// The number of objects with the facts of the grouping at a point in time: those whose allocation was sampled. Groups by these facts have
/// only these, whatever each of them stands for. All others are in one, *(not sampled)*, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SampledPart {
    /// Objects that are samples.
    pub samples: u64,
    /// Objects in all.
    pub objects: u64,
}

/// The facts that only samples have, in recordings with samples.
const TOLD_BY_SAMPLES: Reads = Reads::SITE.union(Reads::LIFE);

impl SampledPart {
    /// The share in a grouped state; `None` if the grouping uses no such facts, or the input has them for all objects. Visits each object.
    pub(super) fn of(
        heap: &HeapState,
        series: &dyn HeapSeries,
        grouping: &Grouping,
        options: GroupOptions,
    ) -> Option<SampledPart> {
        if !series.is_sampled() || !grouping.reads().intersects(TOLD_BY_SAMPLES) {
            return None;
        }
        let mut part = SampledPart { samples: 0, objects: 0 };
        for object in heap.objects().filter(|&object| options.include_unreachable || heap.is_reachable(object)) {
            part.objects += 1;
            part.samples += u64::from(!heap.is_unsampled(object));
        }
        Some(part).filter(|part| part.samples < part.objects)
    }
}

impl fmt::Display for SampledPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Place, thread and age are known of sampled objects only, {} of {}: groups of these are no totals. Shares of places, with their error, \
             stand beside a selection and in `analyse sites`",
            count_text(self.samples),
            count_text(self.objects)
        )
    }
}
