//! The objects that roots reach.
//!
//! An object also keeps its class alive, and with it the class's static fields; that reference is not in the columns.
//! Neither by recursion nor level by level: a linked list of ten million nodes has ten million levels.

use super::bits::BitSet;
use super::columns::HeapColumns;
use super::roots::RootKind;
use super::sweep::{AHEAD, Sweep};
use super::types::ObjectId;

/// A search that can be gone on with when more is known to be reachable.
pub(super) struct Search {
    pub seen: BitSet,
    types_seen: Vec<bool>,
    open: Sweep,
}

impl Search {
    /// Everything the roots of `columns` reach.
    pub fn from_roots(columns: &HeapColumns) -> Search {
        let objects = columns.type_of.len();
        if columns.roots.is_empty() {
            // Nothing is known of roots, so nothing is known to be garbage.
            let types_seen = vec![true; columns.types.len()];
            return Search { seen: BitSet::full(objects), types_seen, open: Sweep::new(objects) };
        }
        let types_seen = vec![false; columns.types.len()];
        let mut search = Search { seen: BitSet::new(objects), types_seen, open: Sweep::new(objects) };
        // Without any real root (some tools write none) everything would be garbage, which tells nothing.
        let real = |kind: RootKind| kind != RootKind::StaticField;
        let any_real = columns.roots.iter().any(|r| real(r.kind));
        for root in columns.roots.iter().filter(|r| real(r.kind) || !any_real) {
            search.reach(root.object);
        }
        search.run(columns, |_| &[]);
        search
    }

    /// Notes that an object is reached. [`Search::run`] follows its references.
    pub fn reach(&mut self, o: ObjectId) {
        if self.seen.insert(o.0) {
            self.open.add(o.0);
        }
    }

    /// Follows the references of the noted objects, and those that `more` adds.
    pub fn run<'a>(&mut self, columns: &HeapColumns, more: impl Fn(ObjectId) -> &'a [ObjectId]) {
        while let Some(word) = self.open.take() {
            if let Some((first, last)) = word.run() {
                let ahead = columns.outgoing.of_run(ObjectId(first), ObjectId(last), AHEAD);
                ahead.iter().for_each(|target| self.seen.prefetch(target.0));
            }
            for o in word.map(ObjectId) {
                for &target in columns.outgoing.of(o).iter().chain(more(o)) {
                    self.reach(target);
                }
                let t = columns.type_of[o.0 as usize] as usize;
                if !self.types_seen[t] {
                    self.types_seen[t] = true;
                    if let Some(mirror) = columns.mirror_of.get(t).copied().flatten() {
                        self.reach(mirror);
                    }
                }
            }
        }
    }
}
