//! The nodes of a tree as groups of objects: their nodes in the timeline, and the groups of each object.

use super::key::NodeId;
use super::nodes::Timeline;
use crate::group::{Grouped, MemoryTree};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::ObjectGroups;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where the nodes of a timeline are in the tree of one time.
pub(super) struct TreePlaces {
    /// By node of the timeline: the first of the tree's nodes that it stands for, which are one chain; `u32::MAX` without one.
    of: Vec<u32>,
}

impl TreePlaces {
    pub(super) fn new(timeline: &Timeline, tree: &MemoryTree) -> TreePlaces {
        let mut of = vec![u32::MAX; timeline.len()];
        for (place, node) in (0..).zip(timeline.locate(tree)) {
            if let Some(first) = node.map(|node| &mut of[node.index()]).filter(|first| **first == u32::MAX) {
                *first = place;
            }
        }
        TreePlaces { of }
    }

    pub(super) fn of(&self, nodes: &[NodeId]) -> Vec<Option<u32>> {
        nodes.iter().map(|node| Some(self.of[node.index()]).filter(|&place| place != u32::MAX)).collect()
    }

    /// Converts values by node of the tree to values by node of the timeline.
    pub(super) fn by_node<T: Copy + Default>(&self, found: &[T]) -> Vec<T> {
        self.of.iter().map(|&place| found.get(place as usize).copied().unwrap_or_default()).collect()
    }
}

/// Objects a task looks at between two looks at the clock.
pub(super) const RUN: usize = 1 << 16;

/// The nodes of its tree that each object of a heap state is in, those above its leaves included, as groups: the number of a group is that
/// of its node. 4 bytes an object.
///
/// # Errors
/// When cancelled.
pub fn object_groups(heap: &HeapState, grouped: &Grouped, progress: &Progress) -> Result<Arc<ObjectGroups>> {
    let n = heap.object_count();
    // Objects in the same groups share one list of leaves: it is told by where it lies.
    let runs: Vec<(Vec<u32>, Vec<&[u32]>)> = (0..n.div_ceil(RUN))
        .into_par_iter()
        .map(|run| {
            progress.check()?;
            let mut number: FxHashMap<(*const u32, usize), u32> = FxHashMap::default();
            let mut lists: Vec<&[u32]> = Vec::new();
            let mut last = (&[][..], u32::MAX);
            let of = (run * RUN..((run + 1) * RUN).min(n)).map(|o| {
                let leaves = grouped.leaves_of(heap, ObjectId(o as u32));
                if last.1 == u32::MAX || !std::ptr::eq(last.0, leaves) {
                    let next = lists.len() as u32;
                    let found = *number.entry((leaves.as_ptr(), leaves.len())).or_insert(next);
                    if found == next {
                        lists.push(leaves);
                    }
                    last = (leaves, found);
                }
                last.1
            });
            let of: Vec<u32> = of.collect();
            Ok((of, lists))
        })
        .collect::<Result<_>>()?;
    let mut all: Vec<Box<[u32]>> = Vec::new();
    let mut number: FxHashMap<(*const u32, usize), u32> = FxHashMap::default();
    let mut of = Vec::with_capacity(n);
    for (mine, lists) in runs {
        let global: Vec<u32> = lists
            .iter()
            .map(|leaves| {
                *number.entry((leaves.as_ptr(), leaves.len())).or_insert_with(|| {
                    all.push(with_above(&grouped.tree, leaves));
                    all.len() as u32 - 1
                })
            })
            .collect();
        of.extend(mine.into_iter().map(|list| global[list as usize]));
    }
    Ok(Arc::new(ObjectGroups::new(of, all, grouped.tree.len())))
}

/// Some nodes and all above them that count the same objects, ascending, each once.
pub(super) fn with_above(tree: &MemoryTree, nodes: &[u32]) -> Box<[u32]> {
    let up = |&node: &u32| {
        std::iter::successors(Some(node as usize), |&n| tree.parent(n).filter(|_| !tree.restarts(n))).map(|n| n as u32)
    };
    let mut all: Vec<u32> = nodes.iter().flat_map(up).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}
