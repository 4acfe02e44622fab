//! Applies a grouping to a heap state.

use super::{Classifier, GroupOptions, Grouping, MemoryTree, Needs, Placement};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
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
    Slot { slots: Slots, leaves: Vec<Box<[u32]>> },
    /// Leaves by type, variant and origin.
    Class { slots: Slots, leaves: FxHashMap<u64, Box<[u32]>> },
    /// Leaves by object.
    Object { offsets: Vec<u32>, leaves: Vec<u32> },
}

/// Objects of the same type and variant are in the same slot.
struct Slots {
    classifiers: Vec<(Arc<dyn Classifier>, u32)>,
    /// Variants of all classifiers together.
    width: usize,
}

impl Slots {
    fn new(grouping: &Grouping) -> Slots {
        let mut width = 1usize;
        let mut classifiers = Vec::new();
        for classifier in &grouping.classifiers {
            if let Needs::Variants(variants @ 2..) = classifier.needs() {
                width *= variants as usize;
                classifiers.push((Arc::clone(classifier), variants));
            }
        }
        Slots { classifiers, width }
    }

    #[inline]
    fn of(&self, heap: &HeapState, o: ObjectId) -> usize {
        let mut at = heap.type_of(o).0 as usize;
        if !self.classifiers.is_empty() {
            let facts = heap.facts(o);
            for (classifier, variants) in &self.classifiers {
                at = at * *variants as usize + classifier.variant(&facts) as usize;
            }
        }
        at
    }

    /// The slot, and the origin where there is one.
    #[inline]
    fn class_of(&self, heap: &HeapState, o: ObjectId) -> u64 {
        let origin = heap.origins().map_or(0, |origins| origins.class_of(o.0 as usize));
        (self.of(heap, o) as u64) << 32 | u64::from(origin)
    }
}

impl Grouped {
    /// The leaves an object is counted in; none when it is left out.
    pub fn leaves_of(&self, heap: &HeapState, o: ObjectId) -> &[u32] {
        if !self.include_unreachable && !heap.is_reachable(o) {
            return &[];
        }
        match &self.assignment {
            Assignment::Slot { slots, leaves } => &leaves[slots.of(heap, o)],
            Assignment::Class { slots, leaves } => leaves.get(&slots.class_of(heap, o)).map(|l| &l[..]).unwrap_or(&[]),
            Assignment::Object { offsets, leaves } => {
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
    let mut placement = Placement::new(grouping);
    let slots = Slots::new(grouping);
    let assignment = match grouping.needs() {
        Needs::Variants(_) => by_slot(heap, options, slots, &mut placement, progress)?,
        Needs::Site | Needs::Life if heap.origins().is_some() => {
            by_class(heap, options, slots, &mut placement, progress)?
        }
        _ => by_object(heap, options, &mut placement, progress)?,
    };
    Ok(Grouped { tree: placement.tree, assignment, include_unreachable: options.include_unreachable })
}

#[derive(Clone, Copy)]
struct Slot {
    amount: Amount,
    /// An object of the slot; `u32::MAX` while it is empty.
    example: u32,
}

const EMPTY: Slot = Slot { amount: Amount { objects: 0, bytes: 0 }, example: u32::MAX };

impl Slot {
    fn count(&mut self, heap: &HeapState, o: ObjectId) {
        self.amount += Amount { objects: 1, bytes: heap.size_of(o) };
        self.example = self.example.min(o.0);
    }

    fn join(&mut self, other: Slot) {
        self.amount += other.amount;
        self.example = self.example.min(other.example);
    }
}

/// Counts all objects that take part, on all cores, into whatever `count` keeps.
fn counted<C: Send>(
    heap: &HeapState,
    options: GroupOptions,
    progress: &Progress,
    empty: impl Fn() -> C + Sync + Send,
    count: impl Fn(&mut C, ObjectId) + Sync + Send,
    join: impl Fn(&mut C, C) + Sync + Send,
) -> Result<C> {
    let n = heap.object_count();
    let reachable = heap.reachable();
    (0..n.div_ceil(RUN))
        .into_par_iter()
        .try_fold(&empty, |mut counts, run| {
            progress.check()?;
            for o in (run * RUN..((run + 1) * RUN).min(n)).map(|i| ObjectId(i as u32)) {
                if options.include_unreachable || reachable.contains(o.0) {
                    count(&mut counts, o);
                }
            }
            Ok(counts)
        })
        .try_reduce(&empty, |mut a, b| {
            join(&mut a, b);
            Ok(a)
        })
}

fn by_slot(
    heap: &HeapState,
    options: GroupOptions,
    slots: Slots,
    placement: &mut Placement<'_>,
    progress: &Progress,
) -> Result<Assignment> {
    let size = heap.types().len() * slots.width;
    let counts = counted(
        heap,
        options,
        progress,
        || vec![EMPTY; size],
        |counts, o| counts[slots.of(heap, o)].count(heap, o),
        |a, b| a.iter_mut().zip(b).for_each(|(x, y)| x.join(y)),
    )?;
    let mut leaves = vec![Box::default(); size];
    for (slot, found) in counts.iter().zip(&mut leaves) {
        if slot.example != u32::MAX {
            *found = placement.place(&heap.facts(ObjectId(slot.example)));
            placement.tree.add_up(found, slot.amount);
        }
    }
    Ok(Assignment::Slot { slots, leaves })
}

fn by_class(
    heap: &HeapState,
    options: GroupOptions,
    slots: Slots,
    placement: &mut Placement<'_>,
    progress: &Progress,
) -> Result<Assignment> {
    let counts = counted(
        heap,
        options,
        progress,
        FxHashMap::<u64, Slot>::default,
        |counts, o| counts.entry(slots.class_of(heap, o)).or_insert(EMPTY).count(heap, o),
        |a, b| b.into_iter().for_each(|(class, slot)| a.entry(class).or_insert(EMPTY).join(slot)),
    )?;
    let mut counts: Vec<(u64, Slot)> = counts.into_iter().collect();
    // In the order of objects, so that the tree does not depend on the number of cores.
    counts.sort_unstable_by_key(|(_, slot)| slot.example);
    let mut leaves = FxHashMap::default();
    for (class, slot) in counts {
        let found = placement.place(&heap.facts(ObjectId(slot.example)));
        placement.tree.add_up(&found, slot.amount);
        leaves.insert(class, found);
    }
    Ok(Assignment::Class { slots, leaves })
}

fn by_object(
    heap: &HeapState,
    options: GroupOptions,
    placement: &mut Placement<'_>,
    progress: &Progress,
) -> Result<Assignment> {
    let mut offsets = vec![0u32];
    let mut leaves = Vec::new();
    for o in heap.objects() {
        if (o.0 as usize).is_multiple_of(RUN) {
            progress.check()?;
        }
        if options.include_unreachable || heap.is_reachable(o) {
            let found = placement.place(&heap.facts(o));
            placement.tree.add_up(&found, Amount { objects: 1, bytes: heap.size_of(o) });
            leaves.extend_from_slice(&found);
        }
        offsets.push(leaves.len() as u32);
    }
    Ok(Assignment::Object { offsets, leaves })
}
