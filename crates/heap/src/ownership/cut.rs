//! What would be freed if references or GC roots were not there.

use super::graph::root_objects;
use super::order::WORDS;
use super::{KeepGraph, KeepRules};
use crate::error::Result;
use crate::progress::Progress;
use crate::sweep::Sweep;
use crate::{BitSet, HeapState, ObjectId};
use rustc_hash::FxHashMap;

/// References and roots that are thought away.
#[derive(Clone, Debug, Default)]
pub struct CutSet {
    /// How many of the references from one object to another.
    references: FxHashMap<(ObjectId, ObjectId), u32>,
    /// Numbers of roots in [`HeapState::roots`].
    roots: rustc_hash::FxHashSet<u32>,
}

impl CutSet {
    /// Nothing is cut.
    pub fn new() -> CutSet {
        CutSet::default()
    }

    /// Cuts one more reference from an object to another, of those that keep.
    pub fn reference(&mut self, from: ObjectId, to: ObjectId) {
        let count = self.references.entry((from, to)).or_default();
        *count = count.saturating_add(1);
    }

    /// Cuts all references from an object to another.
    pub fn references(&mut self, from: ObjectId, to: ObjectId) {
        self.references.insert((from, to), u32::MAX);
    }

    /// Cuts a root, by its number in [`HeapState::roots`].
    pub fn root(&mut self, number: u32) {
        self.roots.insert(number);
    }

    /// Whether nothing is cut.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty() && self.roots.is_empty()
    }

    /// The objects that roots reach, but would not without what is cut. Two walks over all that roots reach, with a bit for
    /// each object.
    ///
    /// # Errors
    /// When cancelled.
    pub fn freed(&self, heap: &HeapState, rules: KeepRules, progress: &Progress) -> Result<BitSet> {
        let graph = KeepGraph::new(heap, rules);
        progress.begin("Walking with and without what is cut", 2 * heap.object_count() as u64);
        let before = reached(&graph, graph.roots(), |_| None, progress)?;
        let left = root_objects(heap, rules, |number| !self.roots.contains(&number));
        let cut_objects: rustc_hash::FxHashSet<ObjectId> = self.references.keys().map(|&(from, _)| from).collect();
        let cut = |o: ObjectId| cut_objects.contains(&o).then_some(&self.references);
        let after = reached(&graph, &left, cut, progress)?;
        let mut freed = before;
        freed.subtract(&after);
        Ok(freed)
    }
}

/// What some objects reach; `cut` gives, of objects of which references are cut, how many to which.
fn reached<'c>(
    graph: &KeepGraph<'_>,
    roots: &[ObjectId],
    cut: impl Fn(ObjectId) -> Option<&'c FxHashMap<(ObjectId, ObjectId), u32>>,
    progress: &Progress,
) -> Result<BitSet> {
    let heap = graph.heap();
    let mut seen = BitSet::new(heap.object_count());
    let mut types_seen = vec![false; heap.types().len()];
    let mut open = Sweep::new(heap.object_count());
    roots.iter().filter(|o| seen.insert(o.0)).for_each(|o| open.add(o.0));
    let mut words = 0usize;
    while let Some(word) = open.take() {
        words += 1;
        if words.is_multiple_of(WORDS) {
            progress.check()?;
            progress.advance(64 * WORDS as u64);
        }
        for o in word.map(ObjectId) {
            let mut reach = |target: ObjectId| {
                if seen.insert(target.0) {
                    open.add(target.0);
                }
            };
            match cut(o) {
                None => graph.kept(o, &mut reach),
                Some(cut) => {
                    let mut met: FxHashMap<ObjectId, u32> = FxHashMap::default();
                    graph.kept(o, |target| {
                        let met = met.entry(target).or_default();
                        *met += 1;
                        if *met > cut.get(&(o, target)).copied().unwrap_or(0) {
                            reach(target);
                        }
                    });
                }
            }
            let of = heap.type_of(o);
            if !std::mem::replace(&mut types_seen[of.0 as usize], true)
                && let Some(class) = heap.mirror_of(of)
            {
                reach(class);
            }
        }
    }
    Ok(seen)
}
