//! New objects of a group since an earlier point in time.
//!
//! Traces have the birth of each object. Recordings that followed all objects know which existed before: an object whose number did not
//! exist then, or without a number yet, is new. Dumps have neither, and their objects have no identity; but places of owners have names
//! that match from dump to dump. The objects of a group in a place that had fewer of it before are new. This cannot tell single objects
//! apart, but it separates a table that the class loader keeps from one that a leak fills.

use super::owner::OwnerTree;
use crate::group::Grouped;
use crate::timeline::{History, NodeId};
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The way to find new objects.
pub(super) enum NewObjects {
    /// There is nothing earlier to compare with.
    Unknown,
    /// By birth: the number of the first collection after the earlier time.
    Since(u32),
    /// By identity: the numbers of the objects at the earlier time, ascending. Objects created during that walk, without a number yet,
    /// count as new.
    Met(Vec<u64>),
    /// By place: how much of each group was in each place at the earlier time.
    Places { before: AHashMap<(NodeId, Box<str>), Amount>, now: Arc<OwnerTree> },
}

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 18;

/// By leaf of the memory tree and place: the amount.
type Counts = FxHashMap<(u32, u32), Amount>;

impl NewObjects {
    /// Where the state at the earlier time is needed, it is loaded first. Of dumps the owners at both times are looked up; of
    /// recordings that followed all objects it takes 8 bytes for each object of the earlier time.
    ///
    /// # Errors
    /// When a state cannot be loaded again, or the work was cancelled.
    pub fn new(history: &History, from: usize, time: usize, progress: &Progress) -> Result<NewObjects> {
        if from == time {
            return Ok(NewObjects::Unknown);
        }
        if history.is_recorded() {
            // Start and end of each collection are a moment; a birth is the number of the first collection that follows it.
            return Ok(NewObjects::Since((history.moment(from) / 2 + 1) as u32));
        }
        if history.knows_identity(from, time) {
            return Ok(NewObjects::Met(met(history, from, progress)?));
        }
        let before = before(history, from, progress)?;
        let (_, now) = history.owners(time, KeepRules::default(), progress)?;
        Ok(NewObjects::Places { before, now })
    }

    /// True if new objects are found by place: then all objects of a place count.
    pub fn is_by_place(&self) -> bool {
        matches!(self, NewObjects::Places { .. })
    }

    /// The new objects of a group; all of them if that is unknown or none is new. Returns whether it is only a part.
    pub fn of(
        &self,
        all: BitSet,
        heap: &HeapState,
        grouped: &Grouped,
        place: &[Option<NodeId>],
        by_bytes: bool,
    ) -> (BitSet, bool) {
        let is_new: Box<dyn Fn(u32) -> bool + '_> = match self {
            NewObjects::Unknown => return (all, false),
            NewObjects::Since(born) => match heap.origins() {
                Some(origins) => Box::new(move |o| origins.of(o as usize).birth >= *born),
                None => return (all, false),
            },
            NewObjects::Met(before) => match heap.origins().filter(|origins| !origins.followed.is_empty()) {
                Some(origins) => Box::new(move |o| before.binary_search(&origins.followed[o as usize]).is_err()),
                None => return (all, false),
            },
            NewObjects::Places { before, now } => {
                let Some(grown) = grown(&all, heap, grouped, place, before, now, by_bytes) else { return (all, false) };
                Box::new(move |o| {
                    let leaf = grouped.leaves_of(heap, ObjectId(o)).first();
                    leaf.is_some_and(|&leaf| grown.contains_key(&(leaf, now.of(ObjectId(o)))))
                })
            }
        };
        let mut new = BitSet::new(heap.object_count());
        let (mut count, mut whole) = (0usize, 0usize);
        for o in all.iter() {
            whole += 1;
            if is_new(o) {
                count += 1;
                new.insert(o);
            }
        }
        if count == 0 || count == whole { (all, false) } else { (new, true) }
    }
}

/// The numbers of the objects that were there, ascending; 0 is none.
fn met(history: &History, from: usize, progress: &Progress) -> Result<Vec<u64>> {
    let heap = history.heap(from, progress)?;
    let followed = heap.origins().map_or(&[][..], |origins| &origins.followed);
    let mut numbers: Vec<u64> = followed.iter().copied().filter(|number| *number != 0).collect();
    numbers.par_sort_unstable();
    progress.check()?;
    Ok(numbers)
}

fn before(history: &History, from: usize, progress: &Progress) -> Result<AHashMap<(NodeId, Box<str>), Amount>> {
    let (heap, tree) = history.owners(from, KeepRules::default(), progress)?;
    let (_, grouped) = history.grouped(from, progress)?;
    let place = history.places_of(&grouped);
    let mut counts = Counts::default();
    for (at, o) in heap.objects().enumerate() {
        if at.is_multiple_of(CHECKED) {
            progress.check()?;
        }
        count(&mut counts, &heap, &grouped, &tree, o);
    }
    let mut before: AHashMap<(NodeId, Box<str>), Amount> = AHashMap::new();
    for ((leaf, owner), amount) in counts {
        if let Some(node) = place[leaf as usize] {
            *before.entry((node, name(&tree, owner))).or_default() += amount;
        }
    }
    Ok(before)
}

fn count(counts: &mut Counts, heap: &HeapState, grouped: &Grouped, tree: &OwnerTree, o: ObjectId) {
    // In whichever of several groups: the same at both times.
    if let Some(&leaf) = grouped.leaves_of(heap, o).first() {
        *counts.entry((leaf, tree.of(o))).or_default() += Amount { objects: 1, bytes: heap.size_of(o) };
    }
}

/// The name of a place, as one text.
fn name(tree: &OwnerTree, owner: u32) -> Box<str> {
    tree.path(owner).iter().map(|name| &***name).collect::<Vec<_>>().join("\n").into_boxed_str()
}

/// The places whose objects count as new: those that at least doubled, if they make up half of the increase; else all that grew. `None` if
/// none grew.
fn grown(
    all: &BitSet,
    heap: &HeapState,
    grouped: &Grouped,
    place: &[Option<NodeId>],
    before: &AHashMap<(NodeId, Box<str>), Amount>,
    now: &OwnerTree,
    by_bytes: bool,
) -> Option<Counts> {
    let weight = |amount: Amount| amount.measured(by_bytes);
    let mut counts = Counts::default();
    all.iter().for_each(|o| count(&mut counts, heap, grouped, now, ObjectId(o)));
    let mut sums = [0u64; 2];
    let mut doubled = rustc_hash::FxHashSet::default();
    counts.retain(|&(leaf, owner), amount| {
        let was = place[leaf as usize].and_then(|node| before.get(&(node, name(now, owner))));
        let was = was.map_or(0, |&amount| weight(amount));
        let came = weight(*amount).saturating_sub(was);
        sums[0] = sums[0].saturating_add(came);
        if came >= was && came > 0 {
            sums[1] = sums[1].saturating_add(came);
            doubled.insert((leaf, owner));
        }
        came > 0
    });
    if sums[1] >= sums[0].div_ceil(2) {
        counts.retain(|key, _| doubled.contains(key));
    }
    (!counts.is_empty()).then_some(counts)
}
