//! The structures that one object is in, found from the object upwards.

use super::rules::{Pointed, StructureRules};
use crate::{HeapState, ObjectId};
use rustc_hash::FxHashSet;

/// The structures that an object is in, by their heads, ascending. A head is not in its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainingStructures {
    /// Those that it is a part of.
    pub as_part: Vec<ObjectId>,
    /// Those whose contents it is.
    pub as_leaf: Vec<ObjectId>,
    /// False where there are too many objects above it to look at all: there may be more structures then.
    pub is_whole: bool,
}

impl ContainingStructures {
    /// Looks at no more than `most` objects above it. A list is looked at from the object to its head, node by node.
    pub fn of(heap: &HeapState, rules: &StructureRules<'_>, o: ObjectId, most: usize) -> ContainingStructures {
        let mut left = most;
        let (as_part, all_parts) = heads_above(heap, rules, o, Pointed::Part, &mut left);
        let (mut as_leaf, all_leaves) = heads_above(heap, rules, o, Pointed::Leaf, &mut left);
        as_leaf.retain(|head| as_part.binary_search(head).is_err());
        ContainingStructures { as_part, as_leaf, is_whole: all_parts && all_leaves }
    }
}

/// The heads of structures that have an object as such, and whether all were looked for.
fn heads_above(
    heap: &HeapState,
    rules: &StructureRules<'_>,
    o: ObjectId,
    as_what: Pointed,
    left: &mut usize,
) -> (Vec<ObjectId>, bool) {
    let (types, _) = heap.types_and_lengths();
    let column = |o: ObjectId| rules.columns()[types[o.0 as usize] as usize] as usize;
    let is_referred = |by: ObjectId, to: ObjectId, what| rules.row(types[by.0 as usize])[column(to)] == what;
    let first = heap.referrers(o).iter().copied().filter(|&by| is_referred(by, o, as_what));
    let mut seen: FxHashSet<ObjectId> = first.collect();
    let mut open: Vec<ObjectId> = seen.iter().copied().collect();
    let mut heads = Vec::new();
    while let Some(at) = open.pop() {
        if *left == 0 {
            heads.sort_unstable();
            return (heads, false);
        }
        *left -= 1;
        if rules.is_head(heap.type_of(at)) {
            heads.extend(Some(at).filter(|head| *head != o));
            continue;
        }
        let above = heap.referrers(at).iter().copied().filter(|&by| is_referred(by, at, Pointed::Part));
        open.extend(above.filter(|by| seen.insert(*by)));
    }
    heads.sort_unstable();
    (heads, true)
}
