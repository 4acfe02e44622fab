//! The structures that one object is in, for people.

use super::descriptions;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{ContainingStructures, StructureRules};
use memory_city_heap::{HeapState, ObjectId};

/// Objects above one that are looked at. A linked list of a million nodes takes a fraction of a second.
const MOST: usize = 2_000_000;

/// The structures that an object is in; of a reachable object the reachable ones. A pass over the types, and one over the structures as far as
/// they lie above it.
///
/// # Errors
/// When cancelled, or descriptions cannot be read.
pub(crate) fn containing(heap: &HeapState, o: ObjectId, progress: &Progress) -> Result<ContainingStructures> {
    let descriptions = descriptions(heap.profile())?;
    let rules = StructureRules::new(heap, &descriptions, progress)?;
    let mut found = ContainingStructures::of(heap, &rules, o, MOST, progress)?;
    if heap.is_reachable(o) {
        found.as_part.retain(|&head| heap.is_reachable(head));
        found.as_leaf.retain(|&head| heap.is_reachable(head));
    }
    Ok(found)
}
