//! The objects that would be freed by a cut of references or roots, by the groups of the timeline.

use crate::timeline::{History, NodeId};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{CutSet, KeepRules, ObjectClosures};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The objects that would be freed.
#[derive(Clone)]
pub struct Freed {
    /// The heap state whose objects they are.
    pub heap: Arc<HeapState>,
    /// The objects.
    pub objects: BitSet,
    /// How many, and their shallow bytes.
    pub total: Amount,
    /// By leaf of the timeline, the largest first. An object in several groups counts in each.
    pub groups: Vec<(NodeId, Amount)>,
    /// The amount in no group: objects that a filter of the grouping leaves out, or groups that the timeline does not have.
    pub elsewhere: Amount,
}

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 16;

impl Freed {
    /// The objects freed by a cut at a point in time. A walk over the heap, and one over the objects that may go.
    ///
    /// # Errors
    /// When the state cannot be loaded again, or the work was cancelled.
    pub fn without(
        history: &History,
        time: usize,
        cut: &CutSet,
        rules: KeepRules,
        progress: &Progress,
    ) -> Result<Freed> {
        let (heap, grouped) = history.grouped(time, progress)?;
        let objects = ObjectClosures::new(&heap, rules, progress)?.freed(cut, progress)?;
        let place = history.places_of(&grouped);
        let (mut total, mut elsewhere) = (Amount::default(), Amount::default());
        let mut groups: BTreeMap<NodeId, Amount> = BTreeMap::new();
        for (at, o) in objects.iter().map(ObjectId).enumerate() {
            if at.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let one = Amount { objects: 1, bytes: heap.size_of(o) };
            total += one;
            let mut any = false;
            for node in grouped.leaves_of(&heap, o).iter().filter_map(|&leaf| place[leaf as usize]) {
                any = true;
                *groups.entry(node).or_default() += one;
            }
            if !any {
                elsewhere += one;
            }
        }
        let mut groups: Vec<(NodeId, Amount)> = groups.into_iter().collect();
        groups.sort_by_key(|&(node, amount)| (std::cmp::Reverse((amount.bytes, amount.objects)), node));
        Ok(Freed { heap, objects, total, groups, elsewhere })
    }
}
