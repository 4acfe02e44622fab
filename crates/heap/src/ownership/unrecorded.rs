//! Objects that must be held by GC roots missing from the source.

use super::graph::KeepGraph;
use super::order::{follow, reverse_postorder};
use crate::bits::BitSet;
use crate::progress::Progress;
use crate::sweep::Sweep;
use crate::types::ObjectId;

/// One object of each strongly connected component that is alive, but that neither roots nor other such components lead
/// to.
pub(super) fn unrecorded(graph: &KeepGraph<'_>) -> Vec<ObjectId> {
    let heap = graph.heap();
    let alive = heap.reachable();
    let mut seen = BitSet::new(graph.nodes());
    let mut open = Sweep::new(graph.nodes());
    graph.roots().iter().filter(|root| seen.insert(root.0)).for_each(|root| open.add(root.0));
    let unwatched = Progress::new();
    let never = "nobody can cancel it";
    follow(graph, &mut seen, &mut open, &unwatched).expect(never);
    let lost = || alive.iter().filter(|&o| !seen.contains(o)).map(ObjectId);
    if lost().next().is_none() {
        return Vec::new();
    }
    // The first of the reverse postorder is in a component that no other leads to, and so on with what it does not reach.
    let order = reverse_postorder(graph, lost(), |_, to| !seen.contains(to), &unwatched).expect(never);
    let mut tops = Vec::new();
    for node in order {
        if seen.insert(node) {
            if (node as usize) < heap.object_count() {
                tops.push(ObjectId(node));
            }
            open.add(node);
            follow(graph, &mut seen, &mut open, &unwatched).expect(never);
        }
    }
    tops.sort_unstable();
    tops
}
