//! Groups the objects of a heap state into a memory tree.
//!
//! Three ways lead to the same tree. If the classifiers read only facts that objects share with others
//! ([`Reads::BY_CLASS`](super::Reads::BY_CLASS)), objects are counted by class, and each class is classified once. If they read facts that
//! follow from type and length for nearly all objects, these are counted by [shape](super::shapes). Otherwise each object is classified,
//! see [`by_object`](super::by_object). A test compares the three.

use super::by_object::{self, ByObject, GroupLimits};
use super::classifier::GroupingRun;
use super::grouping::{GroupOptions, Grouping};
use super::histogram;
use super::object::ObjectView;
use super::placement::Placement;
use super::reads::Reads;
use super::shapes::{ByShape, ObjectShapes};
use super::tree::MemoryTree;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BIG_ARRAY, BitSet, HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// A heap state, grouped: the tree, and for each object the leaves it is counted in.
pub struct Grouped {
    /// The tree.
    pub tree: MemoryTree,
    assignment: Assignment,
    include_unreachable: bool,
}

enum Assignment {
    /// Leaves by class, where there is a place for each class: nothing is stored for an object.
    Dense(ObjectClasses, Vec<Box<[u32]>>),
    /// Leaves by class.
    Sparse(ObjectClasses, FxHashMap<u64, Box<[u32]>>),
    /// The number of a list of leaves by shape, and the lists.
    Shape(ObjectShapes, ByShape, Vec<Box<[u32]>>),
    /// Leaves by object.
    Object(ByObject),
}

/// Classes of objects that are equal to all classifiers which read only [`Reads::BY_CLASS`].
#[derive(Clone, Copy)]
pub(super) struct ObjectClasses {
    /// True if big arrays are separate.
    big: bool,
    /// Whether origins matter.
    origin: bool,
}

impl ObjectClasses {
    pub fn new(reads: Reads) -> ObjectClasses {
        ObjectClasses { big: reads.contains(Reads::BIG_ARRAY), origin: reads.intersects(Reads::SITE | Reads::LIFE) }
    }

    /// The type and whether it is a big array, a number below twice that of types; and the origin where it matters.
    #[inline]
    pub fn of(self, heap: &HeapState, o: ObjectId) -> u64 {
        let big = self.big && heap.array_length(o).is_some_and(|l| l >= BIG_ARRAY);
        let slot = 2 * u64::from(heap.type_of(o).0) + u64::from(big);
        if self.origin { slot << 32 | u64::from(heap.origin_class(o)) } else { slot }
    }
}

impl Grouped {
    /// The objects that are grouped; `None` if all are.
    pub(crate) fn among<'h>(&self, heap: &'h HeapState) -> Option<&'h BitSet> {
        (!self.include_unreachable).then(|| heap.reachable())
    }

    /// The leaves an object is counted in, ascending; none when it is left out.
    #[inline]
    pub fn leaves_of(&self, heap: &HeapState, o: ObjectId) -> &[u32] {
        if !self.include_unreachable && !heap.is_reachable(o) {
            return &[];
        }
        match &self.assignment {
            Assignment::Dense(classes, leaves) => &leaves[classes.of(heap, o) as usize],
            Assignment::Sparse(classes, leaves) => leaves.get(&classes.of(heap, o)).map_or(&[], |l| l),
            Assignment::Shape(shapes, numbers, lists) => &lists[shapes.number_of(numbers, heap, o) as usize],
            Assignment::Object(leaves) => leaves.of(o),
        }
    }
}

/// Objects a task looks at between two looks at the clock.
pub(super) const RUN: usize = 1 << 16;

/// Groups a heap state. Facts that the heap does not know count as missing: ask [`Grouping::lacks`] with [`Reads::known_of`] first.
///
/// # Errors
/// When cancelled, or when there would be too many groups to look at.
pub fn group(heap: &HeapState, grouping: &Grouping, options: GroupOptions, progress: &Progress) -> Result<Grouped> {
    let reads = grouping.reads();
    let include_unreachable = options.include_unreachable || grouping.wants_unreachable();
    let options = GroupOptions { include_unreachable, ..options };
    if reads.by_object()
        && let Some(shapes) = ObjectShapes::new(heap, reads)
    {
        let alike = shapes.count(heap, include_unreachable, progress)?;
        let (tree, groups) = by_object::group_alike(heap, grouping, options, &alike, progress)?;
        let numbers = shapes.numbered(heap, &alike, groups.parts.iter().flatten());
        let assignment = Assignment::Shape(shapes, numbers, groups.lists);
        return Ok(Grouped { tree, assignment, include_unreachable });
    }
    if reads.by_object() {
        let (tree, leaves) = by_object::group(heap, grouping, options, None, GroupLimits::default(), progress)?;
        return Ok(Grouped { tree, assignment: Assignment::Object(leaves), include_unreachable });
    }
    let among = (!include_unreachable).then(|| heap.reachable());
    let mut placement = Placement::new(&grouping.prepared(&GroupingRun { heap: Some(heap), among, progress })?);
    let classes = ObjectClasses::new(reads);
    let assignment = if classes.origin {
        let counts = counted(heap, options, classes, progress)?;
        Assignment::Sparse(classes, placed(heap, counts, &mut placement).collect())
    } else {
        let size = 2 * heap.types().len();
        let counted = histogram::by_type(heap, classes.big, include_unreachable, progress)?;
        let counts =
            counted.into_iter().map(|(class, amount, example)| (class, ClassCount { amount, example })).collect();
        let mut leaves = vec![Box::default(); size];
        placed(heap, counts, &mut placement).for_each(|(class, found)| leaves[class as usize] = found);
        Assignment::Dense(classes, leaves)
    };
    placement.check()?;
    Ok(Grouped { tree: placement.tree, assignment, include_unreachable })
}

/// The tree of some of the objects of a heap state, by any grouping. Classifiers see an object as when all objects are grouped: its
/// neighbours need not be among `wanted`.
///
/// # Errors
/// As [`group`].
pub fn group_some(
    heap: &HeapState,
    grouping: &Grouping,
    options: GroupOptions,
    wanted: &BitSet,
    progress: &Progress,
) -> Result<MemoryTree> {
    progress.begin("Grouping objects", 0);
    let (tree, _) = by_object::group(heap, grouping, options, Some(wanted), GroupLimits::default(), progress)?;
    Ok(tree)
}

/// The objects of a class.
#[derive(Clone, Copy)]
struct ClassCount {
    amount: Amount,
    /// The first of them; `u32::MAX` while there is none.
    example: u32,
}

impl ClassCount {
    const NONE: ClassCount = ClassCount { amount: Amount { objects: 0, bytes: 0 }, example: u32::MAX };

    fn join(&mut self, other: ClassCount) {
        self.amount += other.amount;
        self.example = self.example.min(other.example);
    }
}

type Counts = FxHashMap<u64, ClassCount>;

fn joined(mut into: Counts, from: Counts) -> Counts {
    from.into_iter().for_each(|(class, count)| into.entry(class).or_insert(ClassCount::NONE).join(count));
    into
}

/// Counts all objects that take part, on all cores.
fn counted(
    heap: &HeapState,
    options: GroupOptions,
    classes: ObjectClasses,
    progress: &Progress,
) -> Result<Vec<(u64, ClassCount)>> {
    let n = heap.object_count();
    let reachable = heap.reachable();
    let counts = (0..n.div_ceil(RUN))
        .into_par_iter()
        .try_fold(Counts::default, |mut counts, run| {
            progress.check()?;
            for o in (run * RUN..((run + 1) * RUN).min(n)).map(|i| ObjectId(i as u32)) {
                if options.include_unreachable || reachable.contains(o.0) {
                    let amount = Amount { objects: 1, bytes: heap.size_of(o) };
                    let count = counts.entry(classes.of(heap, o)).or_insert(ClassCount::NONE);
                    count.join(ClassCount { amount, example: o.0 });
                }
            }
            Ok(counts)
        })
        .try_reduce(Counts::default, |a, b| Ok(joined(a, b)))?;
    Ok(counts.into_iter().collect())
}

/// Places each class, and counts its objects there: in the order of objects, so that the tree does not depend on the
/// number of cores.
fn placed<'a>(
    heap: &'a HeapState,
    mut counts: Vec<(u64, ClassCount)>,
    placement: &'a mut Placement,
) -> impl Iterator<Item = (u64, Box<[u32]>)> + 'a {
    counts.sort_unstable_by_key(|(_, count)| count.example);
    counts.into_iter().map(|(class, count)| {
        let leaves = placement.place(&ObjectView::new(heap, ObjectId(count.example), None, Reads::BY_CLASS));
        placement.tree.add_up(&leaves, count.amount);
        (class, leaves)
    })
}
