//! The structures that one object is in, found from the object upwards.

use super::rules::{Pointed, StructureRules};
use crate::error::Result;
use crate::progress::Progress;
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
    ///
    /// # Errors
    /// When cancelled.
    pub fn of(
        heap: &HeapState,
        rules: &StructureRules<'_>,
        o: ObjectId,
        most: usize,
        progress: &Progress,
    ) -> Result<ContainingStructures> {
        let (as_part, all_parts) = heads_above(heap, rules, o, Pointed::Part, most, progress)?;
        let (mut as_leaf, all_leaves) = heads_above(heap, rules, o, Pointed::Leaf, most, progress)?;
        as_leaf.retain(|head| as_part.binary_search(head).is_err());
        Ok(ContainingStructures { as_part, as_leaf, is_whole: all_parts && all_leaves })
    }
}

/// The heads of structures that have an object as such, and whether all were looked for.
fn heads_above(
    heap: &HeapState,
    rules: &StructureRules<'_>,
    o: ObjectId,
    as_what: Pointed,
    most: usize,
    progress: &Progress,
) -> Result<(Vec<ObjectId>, bool)> {
    let (types, _) = heap.types_and_lengths();
    let column = |o: ObjectId| rules.columns()[types[o.0 as usize] as usize] as usize;
    let holds = |by: &ObjectId, to: ObjectId, what| rules.row(types[by.0 as usize])[column(to)] == what;
    let (mut seen, mut open, mut heads) = (FxHashSet::default(), Vec::new(), Vec::new());
    let mut next = Some((o, as_what));
    while let Some((at, what)) = next {
        progress.check()?;
        for &by in heap.referrers(at).iter().filter(|by| holds(by, at, what)) {
            if seen.len() >= most {
                heads.sort_unstable();
                return Ok((heads, false));
            }
            if !seen.insert(by) {
                continue;
            }
            match rules.is_head(heap.type_of(by)) {
                true => heads.extend(Some(by).filter(|head| *head != o)),
                false => open.push(by),
            }
        }
        next = open.pop().map(|at| (at, Pointed::Part));
    }
    heads.sort_unstable();
    Ok((heads, true))
}
