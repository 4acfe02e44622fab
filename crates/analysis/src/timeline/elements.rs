//! The number of elements in the data structures of each group, as a further metric of a timeline.

use super::closure_metric::ClosureMetric;
use super::history::History;
use super::metric::MetricBuilder;
use super::tree_groups::TreePlaces;
use crate::group::Grouped;
use crate::structures::{descriptions, fills};
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{FoundStructures, StructureRules};
use memory_city_heap::{HeapState, ObjectId};
use rustc_hash::FxHashMap;

impl History {
    /// The elements of each group at all times. Each heap state costs a search for data structures; its dominators, too, if it is grouped by
    /// structure: then those that others keep add none.
    pub(super) fn elements(&self, rules: KeepRules, progress: &Progress) -> Result<MetricBuilder> {
        let timeline = self.timeline();
        let mut column = MetricBuilder::new(ClosureMetric::Elements.info(), timeline.len());
        let mut is_known = timeline.times() == 0;
        let by_structure = self.grouping().classifiers.iter().any(|of| of.meta().id == "structure");
        for time in 0..timeline.times() {
            progress.check()?;
            let (heap, grouped) = self.grouped(time, progress)?;
            let values = self.values(time, progress)?;
            let dominators = by_structure.then(|| self.dominators(time, rules, progress)).transpose()?;
            let outermost = dominators.as_ref().map(|(_, dominators)| &**dominators);
            let found = elements_by_place(&heap, &grouped, values.as_ref(), outermost, progress)?;
            is_known |= found.is_some();
            let sums = TreePlaces::new(timeline, &grouped.tree).by_node(&found.unwrap_or_default());
            column.step(|node| sums[node.index()]);
        }
        match is_known {
            true => Ok(column),
            false => Err(Error::Unusable {
                what: "Elements cannot be counted: no data structure of this input has a known number of them".into(),
                remedy: "Open heap dumps with values, or describe your collections (--structures FILE)".into(),
            }),
        }
    }
}

/// The elements in and below each node of a tree; `None` where no structure has a known number. A structure that another one of the same
/// group is made of adds none. `outermost`: nor does one that another keeps.
fn elements_by_place(
    heap: &HeapState,
    grouped: &Grouped,
    values: Option<&HeapValues>,
    outermost: Option<&Dominators>,
    progress: &Progress,
) -> Result<Option<Vec<u64>>> {
    let descriptions = descriptions(heap.profile())?;
    let described = StructureRules::new(heap, &descriptions, progress)?;
    let found = FoundStructures::new(heap, &described, grouped.among(heap), progress)?;
    let fills = fills(heap, values, &described, &found, progress)?;
    let outermost = outermost.map(|dominators| found.outermost(dominators));
    // By object: the structure that is made of it.
    let made_of: FxHashMap<ObjectId, ObjectId> =
        std::iter::zip(found.heads(), &fills).filter_map(|(&head, fill)| Some((fill.made_of?, head))).collect();
    if !fills.is_empty() && fills.iter().all(|fill| fill.elements.is_none()) {
        return Ok(None);
    }
    let tree = &grouped.tree;
    let mut sums = vec![0u64; tree.len()];
    for (number, (&head, fill)) in (1..).zip(std::iter::zip(found.heads(), &fills)) {
        let is_kept = outermost.as_ref().is_some_and(|of| of[head.0 as usize] != number);
        let Some(elements) = fill.elements.filter(|_| !is_kept) else { continue };
        let of_whole = made_of.get(&head).map(|&whole| grouped.leaves_of(heap, whole)).unwrap_or_default();
        for &leaf in grouped.leaves_of(heap, head).iter().filter(|leaf| of_whole.binary_search(leaf).is_err()) {
            let sum = &mut sums[leaf as usize];
            *sum = sum.saturating_add(elements);
        }
    }
    // Parents come before children.
    for node in (1..tree.len()).rev().filter(|&node| !tree.restarts(node)) {
        if let Some(parent) = tree.parent(node) {
            sums[parent] = sums[parent].saturating_add(sums[node]);
        }
    }
    Ok(Some(sums))
}
