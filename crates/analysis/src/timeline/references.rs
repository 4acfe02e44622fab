//! Reference maps: the groups that refer to a group, and those it refers to, with the objects involved at both ends.
//!
//! A pair has both numbers, so few-to-many and many-to-few differ (spec: city, "Data"). References that do not keep their target (weak and
//! weaker) are separate: a map shows who keeps a group, and whom the group keeps.

use super::key::NodeId;
use super::nodes::Timeline;
use crate::group::Grouped;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// References between the group and one other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The other group: a leaf.
    pub other: NodeId,
    /// How many objects refer.
    pub referencing: u64,
    /// How many objects are referred to.
    pub referenced: u64,
    /// The number of references.
    pub references: u64,
}

/// The references of a group to and from others at one point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceMap {
    /// Groups that refer to it and keep it alive. Most referring objects first.
    pub incoming: Vec<Edge>,
    /// Groups it refers to and keeps alive. Most referring objects first.
    pub outgoing: Vec<Edge>,
    /// References between objects of the group, but for weak ones.
    pub internal: u64,
    /// Weak, phantom and finalizer references from others to the group, and from the group to others: in no edge.
    pub weak: (u64, u64),
    /// GC roots that hold objects of the group directly, with the number of objects, most first.
    pub roots: Vec<(String, u64)>,
}

/// Objects of the group, each with where its group's members are.
struct Members {
    objects: Vec<ObjectId>,
    set: BitSet,
}

/// Objects a task looks at between two looks at the clock.
const RUN: usize = 1 << 14;

/// The reference map of `node`, which may be a district: then its whole content is the group.
///
/// # Errors
/// When cancelled.
pub fn reference_map(
    heap: &HeapState,
    grouped: &Grouped,
    timeline: &Timeline,
    node: NodeId,
    progress: &Progress,
) -> Result<ReferenceMap> {
    reference_map_at(heap, grouped, (timeline, &timeline.locate(&grouped.tree)), node, progress)
}

/// The same where it is known which node each group is.
///
/// # Errors
/// When cancelled.
pub(super) fn reference_map_at(
    heap: &HeapState,
    grouped: &Grouped,
    (timeline, place): (&Timeline, &[Option<NodeId>]),
    node: NodeId,
    progress: &Progress,
) -> Result<ReferenceMap> {
    let inside: Vec<bool> = place.iter().map(|n| n.is_some_and(|n| timeline.is_within(n, node))).collect();
    progress.begin("Collecting the group", 0);
    let members = members(heap, grouped, &inside, progress)?;
    progress.begin("Collecting references", 2 * members.objects.len() as u64);
    let is_weak = |from: ObjectId, to: ObjectId| is_weak(heap, from, to);
    let places = (place, &inside[..]);
    let incoming =
        edges(heap, grouped, &members, places, progress, |o| heap.referrers(o), |o, other| is_weak(other, o))?;
    let outgoing = edges(heap, grouped, &members, places, progress, |o| heap.references(o), is_weak)?;
    let weak = (incoming.weak, outgoing.weak);
    let list = |found: FoundEdges, swap: bool| {
        let mut edges: Vec<Edge> = found
            .pairs
            .into_iter()
            .map(|(other, pair)| {
                let (mine, theirs) = (pair.mine, pair.theirs);
                let (referencing, referenced) = if swap { (theirs, mine) } else { (mine, theirs) };
                Edge { other: NodeId(other), referencing, referenced, references: pair.references }
            })
            .collect();
        edges.sort_unstable_by(|a, b| {
            (b.referencing, b.referenced).cmp(&(a.referencing, a.referenced)).then(a.other.cmp(&b.other))
        });
        edges
    };
    let internal = outgoing.internal;
    Ok(ReferenceMap {
        incoming: list(incoming, true),
        outgoing: list(outgoing, false),
        internal,
        weak,
        roots: roots(heap, &members),
    })
}

/// Whether an object refers to another by a reference that does not keep it, and by no other.
#[inline]
pub(super) fn is_weak(heap: &HeapState, from: ObjectId, to: ObjectId) -> bool {
    // Most objects are no reference objects: for most references a bit is looked at.
    let only = heap.referents().only(from, to);
    !only.is_empty() && !only.iter().any(|r| KeepRules::default().keeps(r.strength))
}

/// The nodes of some leaves, each once: where a chain of single children is one node, several leaves are the same.
#[inline]
pub(crate) fn nodes<'a>(place: &'a [Option<NodeId>], leaves: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let node = |leaf: &u32| place[*leaf as usize].map(|n| n.0);
    let first = move |(i, leaf): (usize, &u32)| node(leaf).filter(|n| !leaves[..i].iter().any(|l| node(l) == Some(*n)));
    leaves.iter().enumerate().filter_map(first)
}

fn members(heap: &HeapState, grouped: &Grouped, inside: &[bool], progress: &Progress) -> Result<Members> {
    let n = heap.object_count();
    let runs: Vec<Vec<ObjectId>> = (0..n.div_ceil(RUN))
        .into_par_iter()
        .map(|run| {
            progress.check()?;
            let all = (run * RUN..((run + 1) * RUN).min(n)).map(|i| ObjectId(i as u32));
            Ok(all.filter(|&o| grouped.leaves_of(heap, o).iter().any(|&l| inside[l as usize])).collect())
        })
        .collect::<Result<_>>()?;
    let objects = runs.concat();
    let mut set = BitSet::new(n);
    objects.iter().for_each(|o| {
        set.insert(o.0);
    });
    Ok(Members { objects, set })
}

#[derive(Default, Clone, Copy)]
struct PairCount {
    mine: u64,
    theirs: u64,
    references: u64,
}

#[derive(Default)]
struct FoundEdges {
    /// Pairs by node.
    pairs: FxHashMap<u32, PairCount>,
    /// Objects outside that take part.
    others: Vec<ObjectId>,
    internal: u64,
    /// References that keep nothing.
    weak: u64,
}

fn edges<'h>(
    heap: &'h HeapState,
    grouped: &Grouped,
    members: &Members,
    (place, inside): (&[Option<NodeId>], &[bool]),
    progress: &Progress,
    row: impl Fn(ObjectId) -> &'h [ObjectId] + Sync,
    is_weak: impl Fn(ObjectId, ObjectId) -> bool + Sync,
) -> Result<FoundEdges> {
    let mut found = members
        .objects
        .par_chunks(RUN)
        .map(|run| {
            progress.check()?;
            let mut found = FoundEdges::default();
            let mut nodes_here: Vec<u32> = Vec::new();
            let mut outside: Vec<u32> = Vec::new();
            for &o in run {
                nodes_here.clear();
                for &other in row(o) {
                    let is_inside = members.set.contains(other.0);
                    if is_weak(o, other) {
                        found.weak += u64::from(!is_inside);
                        continue;
                    }
                    if is_inside {
                        found.internal += 1;
                        continue;
                    }
                    outside.clear();
                    outside.extend(grouped.leaves_of(heap, other).iter().filter(|&&l| !inside[l as usize]));
                    for node in nodes(place, &outside) {
                        let pair = found.pairs.entry(node).or_default();
                        pair.references += 1;
                        // An object of the group counts once for each other group.
                        if !nodes_here.contains(&node) {
                            nodes_here.push(node);
                            pair.mine += 1;
                        }
                    }
                    found.others.push(other);
                }
            }
            found.others.sort_unstable();
            found.others.dedup();
            progress.advance(run.len() as u64);
            Ok(found)
        })
        .try_reduce(FoundEdges::default, |mut a, b| {
            for (node, pair) in b.pairs {
                let sum = a.pairs.entry(node).or_default();
                sum.mine += pair.mine;
                sum.references += pair.references;
            }
            a.internal += b.internal;
            a.weak += b.weak;
            if a.others.is_empty() {
                a.others = b.others;
            } else {
                a.others.extend(b.others);
                // Kept short while it is merged: an object that many refer to is there many times.
                a.others.sort_unstable();
                a.others.dedup();
            }
            Ok(a)
        })?;
    for &other in &found.others {
        for node in nodes(place, grouped.leaves_of(heap, other)) {
            if let Some(pair) = found.pairs.get_mut(&node) {
                pair.theirs += 1;
            }
        }
    }
    Ok(found)
}

fn roots(heap: &HeapState, members: &Members) -> Vec<(String, u64)> {
    // Texts of dumps: hashed with a random seed.
    let mut counts: AHashMap<String, u64> = AHashMap::default();
    for root in heap.roots().iter().filter(|r| members.set.contains(r.object.0)) {
        *counts.entry(root.text()).or_default() += 1;
    }
    let mut roots: Vec<(String, u64)> = counts.into_iter().collect();
    roots.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    roots
}
