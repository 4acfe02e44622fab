//! The objects behind nodes: a selection of several groups as *one* group.

use super::history::History;
use super::key::NodeId;
use super::source::Source;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use rayon::prelude::*;
use std::sync::Arc;

/// A set of objects of one heap state.
#[derive(Clone)]
pub struct ObjectSet {
    /// The heap state whose objects they are.
    pub heap: Arc<HeapState>,
    /// The objects, by [`ObjectId`].
    pub objects: BitSet,
}

impl ObjectSet {
    /// How many there are, and their shallow bytes. Costs one pass over the heap.
    pub fn amount(&self) -> Amount {
        let mut amount = Amount::default();
        for object in self.heap.objects().filter(|o| self.objects.contains(o.0)) {
            amount += Amount { objects: 1, bytes: self.heap.size_of(object) };
        }
        amount
    }
}

/// Objects a task looks at between two looks at the clock; a multiple of the bits of a word.
const RUN: usize = 1 << 14;

impl History {
    /// The objects of several nodes at a point in time, each once. Costs one pass over the heap, a bit per object, and loading the state if
    /// it is not the last one used.
    ///
    /// # Errors
    /// When the state cannot be loaded again, or the work was cancelled.
    pub fn objects_of(&self, time: usize, nodes: &[NodeId], progress: &Progress) -> Result<ObjectSet> {
        let (heap, grouped) = self.grouped(time, progress)?;
        let timeline = self.timeline();
        let mut inside = vec![false; timeline.len()];
        for node in nodes {
            if let Some(chosen) = inside.get_mut(node.index()) {
                *chosen = true;
            }
        }
        // Parents come before their children.
        for node in timeline.nodes() {
            if let Some(parent) = timeline.parent(node).filter(|_| !timeline.restarts(node)) {
                inside[node.index()] |= inside[parent.index()];
            }
        }
        let place = self.places_of(&grouped);
        let wanted: Vec<bool> = place.iter().map(|n| n.is_some_and(|n| inside[n.index()])).collect();
        let n = heap.object_count();
        progress.begin("Collecting objects", n as u64);
        let runs: Vec<Vec<u32>> = (0..n.div_ceil(RUN))
            .into_par_iter()
            .map(|run| {
                progress.check()?;
                progress.advance(RUN as u64);
                let all = (run * RUN..((run + 1) * RUN).min(n)).map(|i| i as u32);
                let is_in = |&o: &u32| grouped.leaves_of(&heap, ObjectId(o)).iter().any(|&l| wanted[l as usize]);
                Ok(all.filter(is_in).collect())
            })
            .collect::<Result<_>>()?;
        let mut objects = BitSet::new(n);
        runs.into_iter().flatten().for_each(|o| {
            objects.insert(o);
        });
        Ok(ObjectSet { heap, objects })
    }
}

impl Source {
    /// The objects of several nodes at a point in time, as one set ([`History::objects_of`]); `None` where the input has
    /// trees, not objects.
    ///
    /// # Errors
    /// As [`History::objects_of`].
    pub fn objects_of(&self, time: usize, nodes: &[NodeId], progress: &Progress) -> Result<Option<ObjectSet>> {
        self.heaps().map(|history| history.objects_of(time, nodes, progress)).transpose()
    }

    /// How many objects there are at a point in time, whether or not they are grouped.
    pub(crate) fn live_objects(&self, time: usize) -> u64 {
        let timeline = self.timeline();
        let grouped = timeline.amount(time, NodeId::ROOT).objects;
        match self.heaps().is_some_and(|history| history.options().include_unreachable) {
            true => grouped,
            false => grouped.saturating_add(timeline.points()[time].unreachable.objects),
        }
    }
}
