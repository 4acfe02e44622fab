//! References and roots to leave out in an experiment. [`ObjectClosures::freed`](super::ObjectClosures::freed) finds the objects that would
//! be freed.

use super::graph::{KeepGraph, root_objects};
use crate::types::ObjectId;
use rustc_hash::{FxHashMap, FxHashSet};

/// References and roots to leave out.
#[derive(Clone, Debug, Default)]
pub struct CutSet {
    /// How many of the references from one object to another.
    references: FxHashMap<(ObjectId, ObjectId), u32>,
    /// Where they come from: asked of every object on the way.
    sources: FxHashSet<ObjectId>,
    /// Where they lead.
    targets: FxHashSet<ObjectId>,
    /// Numbers of roots in [`HeapState::roots`](crate::HeapState::roots).
    roots: FxHashSet<u32>,
}

impl CutSet {
    /// Nothing is cut.
    pub fn new() -> CutSet {
        CutSet::default()
    }

    /// Cuts one more reference from an object to another, of those that keep.
    pub fn reference(&mut self, from: ObjectId, to: ObjectId) {
        let count = self.between(from, to);
        *count = count.saturating_add(1);
    }

    /// Cuts all references from an object to another.
    pub fn references(&mut self, from: ObjectId, to: ObjectId) {
        *self.between(from, to) = u32::MAX;
    }

    fn between(&mut self, from: ObjectId, to: ObjectId) -> &mut u32 {
        self.sources.insert(from);
        self.targets.insert(to);
        self.references.entry((from, to)).or_default()
    }

    /// Cuts a root, by its number in [`HeapState::roots`](crate::HeapState::roots).
    pub fn root(&mut self, number: u32) {
        self.roots.insert(number);
    }

    /// Whether nothing is cut.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty() && self.roots.is_empty()
    }

    /// Objects that may be freed: the targets of cut references, and the objects of cut roots.
    pub(super) fn ends(&self, graph: &KeepGraph<'_>) -> Vec<ObjectId> {
        let roots = graph.heap().roots();
        let held = self.roots.iter().filter_map(|&number| Some(roots.get(number as usize)?.object));
        let mut ends: Vec<ObjectId> = self.targets.iter().copied().chain(held).collect();
        ends.retain(|o| (o.0 as usize) < graph.heap().object_count());
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// The objects that roots hold that are left, ascending.
    pub(super) fn roots_left(&self, graph: &KeepGraph<'_>) -> Vec<ObjectId> {
        let mut left = root_objects(graph.heap(), graph.rules(), |number| !self.roots.contains(&number));
        left.extend_from_slice(graph.unrecorded_roots());
        left.sort_unstable();
        left
    }

    /// Whether some reference to an object is cut.
    pub(super) fn leads_to(&self, o: ObjectId) -> bool {
        self.targets.contains(&o)
    }

    /// Calls `each` with the objects that an object keeps by the remaining references; with some more than once.
    #[inline]
    pub(super) fn kept(&self, graph: &KeepGraph<'_>, o: ObjectId, mut each: impl FnMut(ObjectId)) {
        if !self.sources.contains(&o) {
            return graph.kept(o, each);
        }
        let mut met: FxHashMap<ObjectId, u32> = FxHashMap::default();
        graph.kept(o, |target| {
            let met = met.entry(target).or_default();
            *met += 1;
            if *met > self.references.get(&(o, target)).copied().unwrap_or(0) {
                each(target);
            }
        });
    }

    /// Whether one of the objects that fit keeps an object by a reference that is left.
    pub(super) fn has_keeper(&self, graph: &KeepGraph<'_>, o: ObjectId, fits: impl Fn(ObjectId) -> bool) -> bool {
        if !self.targets.contains(&o) {
            return graph.has_keeper(o, fits);
        }
        graph.has_keeper(o, |source| {
            fits(source) && {
                let cut = self.references.get(&(source, o)).copied().unwrap_or(0);
                let mut there = 0u32;
                graph.kept(source, |target| there = there.saturating_add(u32::from(target == o)));
                there > cut
            }
        })
    }
}
