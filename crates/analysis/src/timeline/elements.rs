//! The number of elements in the data structures of each group, as a further metric of a timeline.

use super::closure_metric::ClosureMetric;
use super::history::History;
use super::metric::MetricBuilder;
use super::tree_groups::TreePlaces;
use crate::group::Grouped;
use crate::structures::{descriptions, fills};
use memory_city_formats::values::HeapValues;
use memory_city_heap::HeapState;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{FoundStructures, StructureRules};

impl History {
    /// The elements of each group at all times. Each heap state costs its dominators and a search for data structures.
    pub(super) fn elements(&self, rules: KeepRules, progress: &Progress) -> Result<MetricBuilder> {
        let timeline = self.timeline();
        let mut column = MetricBuilder::new(ClosureMetric::Elements.info(), timeline.len());
        let mut any = false;
        for time in 0..timeline.times() {
            progress.check()?;
            let (heap, grouped) = self.grouped(time, progress)?;
            let values = self.values(time, progress)?;
            let sums = elements_by_place(&heap, &grouped, values.as_ref(), rules, progress)?;
            any |= sums.first().is_some_and(|&all| all > 0);
            let sums = TreePlaces::new(timeline, &grouped.tree).by_node(&sums);
            column.step(|node| sums[node.index()]);
        }
        match any || timeline.times() == 0 {
            true => Ok(column),
            false => Err(Error::Unusable {
                what: "Elements cannot be counted: no data structure of this input has a known number of them".into(),
                remedy: "Open heap dumps with values, or describe your collections (--structures FILE)".into(),
            }),
        }
    }
}

/// The elements in and below each node of a tree. A structure that another one of the same group owns is an element of it, and adds none.
fn elements_by_place(
    heap: &HeapState,
    grouped: &Grouped,
    values: Option<&HeapValues>,
    rules: KeepRules,
    progress: &Progress,
) -> Result<Vec<u64>> {
    let descriptions = descriptions(heap.profile())?;
    let described = StructureRules::new(heap, &descriptions, progress)?;
    let found = FoundStructures::new(heap, &described, grouped.among(heap), progress)?;
    let fills = fills(heap, values, &described, &found, progress)?;
    let owner = found.owners(&Dominators::new(heap, rules, progress)?);
    let tree = &grouped.tree;
    let mut sums = vec![0u64; tree.len()];
    for ((&head, fill), owner) in found.heads().iter().zip(&fills).zip(owner) {
        let Some(elements) = fill.elements else { continue };
        let of_owner = owner.map(|at| grouped.leaves_of(heap, found.heads()[at as usize])).unwrap_or_default();
        for &leaf in grouped.leaves_of(heap, head).iter().filter(|leaf| !of_owner.contains(leaf)) {
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
    Ok(sums)
}
