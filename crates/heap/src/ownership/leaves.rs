//! Objects that keep nothing and that one object alone refers to: the array of a text, a boxed number. Their owner is known without a
//! search. In most heaps these are a third to a half of all objects.

use super::KeepGraph;
use crate::error::Result;
use crate::progress::Progress;
use crate::{BitSet, ObjectId};

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 20;

/// The leaves of a graph that have one keeper, which refers to them once. No root holds them.
pub(super) fn leaves(graph: &KeepGraph<'_>, progress: &Progress) -> Result<BitSet> {
    let heap = graph.heap();
    let mut found = BitSet::new(graph.nodes());
    for o in heap.objects() {
        if (o.0 as usize).is_multiple_of(CHECKED) {
            progress.check()?;
        }
        if heap.references(o).is_empty()
            && let Some(keeper) = only_referrer(graph, o)
            && graph.is_keeper(keeper, o)
            && graph.type_node(o).is_none()
        {
            found.insert(o.0);
        }
    }
    graph.roots().iter().for_each(|root| _ = found.remove(root.0));
    Ok(found)
}

/// The only object that refers to another, if it does so once and no type keeps the other.
#[inline]
pub(super) fn only_referrer(graph: &KeepGraph<'_>, o: ObjectId) -> Option<ObjectId> {
    match graph.heap().referrers(o) {
        &[only] if graph.type_keepers(o).is_empty() => Some(only),
        _ => None,
    }
}
