//! What the roots reach.
//!
//! An object also keeps its class alive, and with it the class's static fields; that reference is not in the columns.
//! A search from a stack, not level by level: a linked list of ten million nodes has ten million levels.

use super::{BitSet, HeapColumns, ObjectId, RootKind};

/// A search that can be gone on with when more is known to be reachable.
pub(super) struct Search {
    pub seen: BitSet,
    types_seen: Vec<bool>,
    open: Vec<ObjectId>,
}

impl Search {
    /// Everything the roots of `columns` reach.
    pub fn from_roots(columns: &HeapColumns) -> Search {
        let objects = columns.type_of.len();
        if columns.roots.is_empty() {
            // Nothing is known of roots, so nothing is known to be garbage.
            let types_seen = vec![true; columns.types.len()];
            return Search { seen: BitSet::full(objects), types_seen, open: Vec::new() };
        }
        let mut search =
            Search { seen: BitSet::new(objects), types_seen: vec![false; columns.types.len()], open: Vec::new() };
        // Without any real root (some tools write none) everything would be garbage, which tells nothing.
        let real = |kind: RootKind| kind != RootKind::StaticField;
        let any_real = columns.roots.iter().any(|r| real(r.kind));
        for root in columns.roots.iter().filter(|r| real(r.kind) || !any_real) {
            search.reach(root.object);
        }
        search.run(columns, |_| &[]);
        search
    }

    /// Notes that something reaches an object. [`Search::run`] finds what it reaches.
    pub fn reach(&mut self, o: ObjectId) {
        if self.seen.insert(o.0) {
            self.open.push(o);
        }
    }

    /// Follows the references of what was noted, and those that `more` adds.
    ///
    /// Objects are taken from the stack some at a time, and where their references are is read for all of them before any
    /// is followed: the processor waits for several places in memory at once instead of one after the other.
    pub fn run<'a>(&mut self, columns: &HeapColumns, more: impl Fn(ObjectId) -> &'a [ObjectId]) {
        let mut batch: [(ObjectId, &[ObjectId], u32); BATCH] = [(ObjectId(0), &[], 0); BATCH];
        while !self.open.is_empty() {
            let start = self.open.len().saturating_sub(BATCH);
            let mut taken = 0;
            for (o, slot) in self.open.drain(start..).rev().zip(&mut batch) {
                *slot = (o, columns.outgoing.of(o), columns.type_of[o.0 as usize]);
                taken += 1;
            }
            for &(o, references, t) in &batch[..taken] {
                for &target in references.iter().chain(more(o)) {
                    if self.seen.insert(target.0) {
                        self.open.push(target);
                    }
                }
                if !self.types_seen[t as usize] {
                    self.types_seen[t as usize] = true;
                    if let Some(mirror) = columns.mirror_of.get(t as usize).copied().flatten() {
                        self.reach(mirror);
                    }
                }
            }
        }
    }
}

/// Enough that memory is kept busy, few enough that the search stays near where it is.
const BATCH: usize = 16;
