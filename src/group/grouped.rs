//! Applies a grouping to a heap state.

use super::{Classifier, GroupOptions, Grouping, MemoryTree, Values};
use crate::error::Result;
use crate::heap::{Amount, HeapState, ObjectId};
use crate::progress::Progress;
use rayon::prelude::*;
use std::sync::Arc;

/// A heap state, grouped: the tree, and for each object the leaves it is counted in.
pub struct Grouped {
    /// The tree.
    pub tree: MemoryTree,
    assignment: Assignment,
    include_unreachable: bool,
}

enum Assignment {
    /// Leaves by type and variant: nothing is stored for an object.
    BySlot { slots: Slots, leaves: Vec<Vec<u32>> },
    /// Leaves by object.
    ByObject { offsets: Vec<u32>, leaves: Vec<u32> },
}

/// Objects of the same type and variant are in the same slot.
struct Slots {
    classifiers: Vec<(Arc<dyn Classifier>, u32)>,
    /// Variants of all classifiers together.
    width: usize,
}

impl Slots {
    /// `None` when a classifier must be asked for every object.
    fn new(grouping: &Grouping) -> Option<Slots> {
        let mut width = 1usize;
        let mut classifiers = Vec::new();
        for classifier in &grouping.classifiers {
            let variants = classifier.variants()?;
            width = width.checked_mul(variants as usize)?;
            if variants > 1 {
                classifiers.push((Arc::clone(classifier), variants));
            }
        }
        Some(Slots { classifiers, width })
    }

    #[inline]
    fn of(&self, heap: &HeapState, o: ObjectId) -> usize {
        let mut at = heap.type_of(o).0 as usize;
        for (classifier, variants) in &self.classifiers {
            at = at * *variants as usize + classifier.variant(heap, o) as usize;
        }
        at
    }
}

impl Grouped {
    /// The leaves an object is counted in; none when it is left out.
    pub fn leaves_of(&self, heap: &HeapState, o: ObjectId) -> &[u32] {
        if !self.include_unreachable && !heap.is_reachable(o) {
            return &[];
        }
        match &self.assignment {
            Assignment::BySlot { slots, leaves } => &leaves[slots.of(heap, o)],
            Assignment::ByObject { offsets, leaves } => {
                let i = o.0 as usize;
                &leaves[offsets[i] as usize..offsets[i + 1] as usize]
            }
        }
    }
}

/// Objects a task looks at between two looks at the clock.
const RUN: usize = 1 << 16;

/// Groups a heap state.
///
/// # Errors
/// When cancelled.
pub fn group(heap: &HeapState, grouping: &Grouping, options: GroupOptions, progress: &Progress) -> Result<Grouped> {
    let mut tree = MemoryTree::new();
    for classifier in &grouping.classifiers {
        if let Some(separator) = classifier.meta().separator {
            tree.join_chains(&Arc::from(classifier.meta().name), separator);
        }
    }
    let assignment = match Slots::new(grouping) {
        Some(slots) => by_slot(heap, grouping, options, slots, &mut tree, progress)?,
        None => by_object(heap, grouping, options, &mut tree, progress)?,
    };
    Ok(Grouped { tree, assignment, include_unreachable: options.include_unreachable })
}

#[derive(Clone, Copy)]
struct Slot {
    amount: Amount,
    /// An object of the slot; `u32::MAX` while it is empty.
    example: u32,
}

fn by_slot(
    heap: &HeapState,
    grouping: &Grouping,
    options: GroupOptions,
    slots: Slots,
    tree: &mut MemoryTree,
    progress: &Progress,
) -> Result<Assignment> {
    let n = heap.object_count();
    let size = heap.types().len() * slots.width;
    let empty = Slot { amount: Amount::default(), example: u32::MAX };
    let reachable = heap.reachable();
    let counted = (0..n.div_ceil(RUN))
        .into_par_iter()
        .try_fold(
            || vec![empty; size],
            |mut counts, run| {
                progress.check()?;
                for o in (run * RUN..((run + 1) * RUN).min(n)).map(|i| ObjectId(i as u32)) {
                    if options.include_unreachable || reachable.contains(o.0) {
                        let slot = &mut counts[slots.of(heap, o)];
                        slot.amount += Amount { objects: 1, bytes: heap.size_of(o) };
                        slot.example = slot.example.min(o.0);
                    }
                }
                Ok(counts)
            },
        )
        .try_reduce(
            || vec![empty; size],
            |mut a, b| {
                for (x, y) in a.iter_mut().zip(b) {
                    x.amount += y.amount;
                    x.example = x.example.min(y.example);
                }
                Ok(a)
            },
        )?;
    let mut leaves = vec![Vec::new(); size];
    for (slot, found) in counted.iter().zip(&mut leaves) {
        if slot.example != u32::MAX {
            let ends = ends(heap, grouping, ObjectId(slot.example), tree);
            tree.add_up(&ends, slot.amount);
            *found = ends.into_iter().map(|e| e as u32).collect();
        }
    }
    Ok(Assignment::BySlot { slots, leaves })
}

fn by_object(
    heap: &HeapState,
    grouping: &Grouping,
    options: GroupOptions,
    tree: &mut MemoryTree,
    progress: &Progress,
) -> Result<Assignment> {
    let mut offsets = vec![0u32];
    let mut leaves = Vec::new();
    for o in heap.objects() {
        if (o.0 as usize).is_multiple_of(RUN) {
            progress.check()?;
        }
        if options.include_unreachable || heap.is_reachable(o) {
            let ends = ends(heap, grouping, o, tree);
            tree.add_up(&ends, Amount { objects: 1, bytes: heap.size_of(o) });
            leaves.extend(ends.into_iter().map(|e| e as u32));
        }
        offsets.push(leaves.len() as u32);
    }
    Ok(Assignment::ByObject { offsets, leaves })
}

/// The nodes an object ends up in: one, unless a classifier gave several values.
fn ends(heap: &HeapState, grouping: &Grouping, o: ObjectId, tree: &mut MemoryTree) -> Vec<usize> {
    let mut ends = vec![0];
    for classifier in &grouping.classifiers {
        let role: Arc<str> = Arc::from(classifier.meta().name);
        let values = classifier.classify(heap, o);
        let mut next = Vec::with_capacity(ends.len());
        for end in ends {
            match &values {
                Values::One(value) => next.push(tree.child(end, &role, value)),
                Values::Many(values) => next.extend(values.iter().map(|v| tree.child(end, &role, v))),
                Values::Chain(values) => next.push(values.iter().fold(end, |at, v| tree.child(at, &role, v))),
            }
        }
        ends = next;
    }
    ends.sort_unstable();
    ends.dedup();
    ends
}
