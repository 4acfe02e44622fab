//! All references between groups at one point in time, found in one pass over the heap. This is the data of exports, and of inputs that
//! have trees instead of objects.
//!
//! [`references`](super::references) answers for one group, for a click. A call for each group in turn would read the heap once for each of
//! them.

use super::key::NodeId;
use super::nodes::Timeline;
use super::references::{is_weak, nodes};
use crate::group::Grouped;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// References from the objects of one group to those of another, or among those of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferencePair {
    /// The group that refers.
    pub from: NodeId,
    /// The group that is referred to.
    pub to: NodeId,
    /// How many objects refer.
    pub referencing: u64,
    /// How many objects are referred to.
    pub referenced: u64,
    /// The number of references.
    pub references: u64,
}

/// A GC root, or several of the same kind and place, and the group of the objects they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldByRoot {
    /// The group.
    pub node: NodeId,
    /// Kind and place, for people.
    pub root: String,
    /// How many objects of the group are held.
    pub objects: u64,
}

/// The known references of one point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeReferences {
    /// By the referring group, then by the other.
    pub pairs: Vec<ReferencePair>,
    /// By group, then by root.
    pub roots: Vec<HeldByRoot>,
}

/// Objects a task looks at between two looks at the clock.
const RUN: usize = 1 << 14;

/// Collects all of them.
///
/// # Errors
/// When cancelled.
pub fn time_references(
    heap: &HeapState,
    grouped: &Grouped,
    timeline: &Timeline,
    progress: &Progress,
) -> Result<TimeReferences> {
    let place = timeline.locate(&grouped.tree);
    let n = heap.object_count();
    progress.begin("Collecting references", n as u64);
    // Some parts for each core: a part keeps a mark for each group.
    let part = n.div_ceil(4 * rayon::current_num_threads()).max(RUN);
    let sums = (0..n.div_ceil(part))
        .into_par_iter()
        .map(|i| {
            let mut sums = Sums { place: &place, pairs: FxHashMap::default(), mark: vec![0; timeline.len()], turn: 0 };
            let objects = i * part..((i + 1) * part).min(n);
            for run in objects.step_by(RUN) {
                progress.check()?;
                let run = run..((i + 1) * part).min(n).min(run + RUN);
                progress.advance(run.len() as u64);
                run.for_each(|o| sums.add(heap, grouped, ObjectId(o as u32)));
            }
            Ok(sums.pairs)
        })
        .try_reduce(FxHashMap::default, |a, b| {
            let (mut more, less) = if a.len() < b.len() { (b, a) } else { (a, b) };
            for (pair, [referencing, referenced, references]) in less {
                let sum = more.entry(pair).or_default();
                sum[0] += referencing;
                sum[1] += referenced;
                sum[2] += references;
            }
            Ok(more)
        })?;
    let mut pairs: Vec<ReferencePair> = sums
        .into_iter()
        .map(|((from, to), [referencing, referenced, references])| ReferencePair {
            from: NodeId(from),
            to: NodeId(to),
            referencing,
            referenced,
            references,
        })
        .collect();
    pairs.sort_unstable_by_key(|p| (p.from, p.to));
    Ok(TimeReferences { pairs, roots: roots(heap, grouped, &place) })
}

/// By pair of nodes: referring objects, target objects, references.
type PairSums = FxHashMap<(u32, u32), [u64; 3]>;

struct Sums<'a> {
    /// The node of each leaf of the tree: where a chain of single children is one node, several leaves are the same.
    place: &'a [Option<NodeId>],
    pairs: PairSums,
    /// By node: the turn in which it was last met. An object counts once for each other group.
    mark: Vec<u32>,
    turn: u32,
}

impl Sums<'_> {
    /// Adds the references of an object at both ends. A reference between objects of one group is inside that group, even if they are in
    /// other groups too.
    fn add(&mut self, heap: &HeapState, grouped: &Grouped, o: ObjectId) {
        let place = self.place;
        let nodes_of = |o: ObjectId| nodes(place, grouped.leaves_of(heap, o));
        for from in nodes_of(o) {
            self.next_turn();
            for &target in heap.references(o).iter().filter(|&&target| !is_weak(heap, o, target)) {
                match nodes_of(target).any(|to| to == from) {
                    true => self.count(from, from, from, 0, true),
                    false => nodes_of(target).for_each(|to| self.count(from, to, to, 0, true)),
                }
            }
        }
        for to in nodes_of(o) {
            self.next_turn();
            for &referrer in heap.referrers(o).iter().filter(|&&referrer| !is_weak(heap, referrer, o)) {
                for from in nodes_of(referrer) {
                    if from == to || !nodes_of(o).any(|own| own == from) {
                        self.count(from, to, from, 1, false);
                    }
                }
            }
        }
    }

    fn next_turn(&mut self) {
        self.turn = self.turn.checked_add(1).unwrap_or_else(|| {
            self.mark.fill(0);
            1
        });
    }

    fn count(&mut self, from: u32, to: u32, other: u32, end: usize, reference: bool) {
        let sum = self.pairs.entry((from, to)).or_default();
        sum[2] += u64::from(reference);
        if std::mem::replace(&mut self.mark[other as usize], self.turn) != self.turn {
            sum[end] += 1;
        }
    }
}

fn roots(heap: &HeapState, grouped: &Grouped, place: &[Option<NodeId>]) -> Vec<HeldByRoot> {
    // Texts of dumps: hashed with a random seed.
    let mut counts: AHashMap<(NodeId, String), u64> = AHashMap::default();
    for root in heap.roots() {
        for node in nodes(place, grouped.leaves_of(heap, root.object)).map(NodeId) {
            *counts.entry((node, root.text())).or_default() += 1;
        }
    }
    let mut roots: Vec<HeldByRoot> =
        counts.into_iter().map(|((node, root), objects)| HeldByRoot { node, root, objects }).collect();
    roots.sort_unstable_by(|a, b| (a.node, &a.root).cmp(&(b.node, &b.root)));
    roots
}
