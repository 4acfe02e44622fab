//! How many objects a grouping can place at all, where it asks what only samples tell: so that their number is never taken for a total.

use crate::group::{GroupOptions, Grouping, Reads};
use crate::tabular::count_text;
use memory_city_formats::HeapSeries;
use memory_city_heap::HeapState;
use std::fmt;

/// Of how many objects at a point in time it is known what the grouping asks: those of which the allocation was sampled. Groups that go by it have
/// these alone, however many each of them stands for; all others are in one, *(not sampled)*, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SampledPart {
    /// Objects that are samples.
    pub samples: u64,
    /// Objects in all.
    pub objects: u64,
}

/// What samples alone tell, in recordings that take them.
const TOLD_BY_SAMPLES: Reads = Reads::SITE.union(Reads::LIFE);

impl SampledPart {
    /// Of a state that is grouped; `None` where the grouping asks nothing of the kind, or the input tells it of all objects. Looks at each object.
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
