//! All objects of a few structures, with or without the structures inside them.

use super::rules::{Pointed, StructureRules};
use crate::error::Result;
use crate::progress::Progress;
use crate::{Amount, BitSet, HeapState, ObjectId};

/// The objects of some structures together, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructureClosure {
    /// Heads, parts and leaves.
    pub amount: Amount,
    /// The leaves, ascending. Of a deep closure, those that are no structures themselves.
    pub leaves: Vec<ObjectId>,
}

impl StructureClosure {
    /// The structures of these heads. A deep closure goes on through contents that are structures. Linear in objects and references of the
    /// structures; 2 bits an object of the heap.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        heap: &HeapState,
        rules: &StructureRules<'_>,
        heads: &[ObjectId],
        is_deep: bool,
        progress: &Progress,
    ) -> Result<StructureClosure> {
        let (types, _) = heap.types_and_lengths();
        let columns = rules.columns();
        let (mut inner, mut outer) = (BitSet::new(types.len()), BitSet::new(types.len()));
        let mut closure = StructureClosure::default();
        let mut open: Vec<ObjectId> = heads.iter().copied().filter(|head| inner.insert(head.0)).collect();
        let mut followed = 0u64;
        while let Some(o) = open.pop() {
            followed += 1;
            if followed.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            closure.amount += Amount { objects: 1, bytes: heap.size_of(o) };
            let row = rules.row(types[o.0 as usize]);
            for &target in heap.references(o) {
                let of = types[target.0 as usize];
                let goes_on = match row[columns[of as usize] as usize] {
                    Pointed::Outside => continue,
                    Pointed::Part => true,
                    Pointed::Leaf => is_deep && rules.is_head(crate::TypeId(of)),
                };
                if goes_on && inner.insert(target.0) {
                    open.push(target);
                } else if !goes_on && outer.insert(target.0) {
                    closure.leaves.push(target);
                }
            }
        }
        closure.leaves.retain(|leaf| !inner.contains(leaf.0));
        closure.leaves.sort_unstable();
        for &leaf in &closure.leaves {
            closure.amount += Amount { objects: 1, bytes: heap.size_of(leaf) };
        }
        Ok(closure)
    }
}
