//! Growth patterns of collections that leak.

use crate::ownership::Filled;
use crate::structures::{ChangedPart, StrongGrowth, StructurePattern, StructureSizes, descriptions};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{StructureClosure, StructureRules};
use memory_city_heap::{Amount, HeapState};

/// A collection on the way to a place as a data structure, at a point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct StructureAtTime {
    retained: Amount,
    sizes: StructureSizes,
    elements: u64,
    heap: Amount,
}

impl StructureAtTime {
    /// Each of some collections; `None` where no description makes it a data structure. A pass over the types, and a walk over each structure.
    ///
    /// # Errors
    /// When cancelled, or descriptions cannot be read.
    pub(super) fn of(
        heap: &HeapState,
        dominators: &Dominators,
        collections: &[Option<Filled>],
        progress: &Progress,
    ) -> Result<Vec<Option<StructureAtTime>>> {
        let descriptions = descriptions(heap.profile())?;
        let rules = StructureRules::new(heap, &descriptions, progress)?;
        let is_structure = |filled: &&Filled| rules.is_head(heap.type_of(filled.object));
        let at_time = |filled: &Filled| {
            let size = |is_deep| StructureClosure::new(heap, &rules, &[filled.object], is_deep, progress);
            // All that is reached says nothing of what a place keeps.
            let sizes = StructureSizes {
                structure: size(false)?.amount,
                deep_structure: size(true)?.amount,
                deep: Amount::default(),
            };
            let retained = dominators.retained(filled.object);
            Ok(StructureAtTime { retained, sizes, elements: filled.elements, heap: dominators.total() })
        };
        collections.iter().map(|of| of.as_ref().filter(is_structure).map(at_time).transpose()).collect()
    }

    /// How a structure grows from one time to another; `None` where it does not.
    pub(super) fn pattern(ends: [StructureAtTime; 2]) -> Option<StructurePattern> {
        let strong = StrongGrowth::new(ends.map(|end| end.heap), StrongGrowth::SHARE, StrongGrowth::LEAST);
        let elements = ends.map(|end| Some(end.elements));
        let pattern =
            StructurePattern::of(ends.map(|end| end.retained), elements, ends.map(|end| end.sizes), false, strong);
        Some(pattern).filter(|pattern| pattern.what != ChangedPart::Nothing && !pattern.shrinks)
    }
}
