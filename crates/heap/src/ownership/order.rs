//! Orders of the graph in which a node comes after its keepers wherever possible.

use super::graph::KeepGraph;
use crate::bits::BitSet;
use crate::error::Result;
use crate::progress::Progress;
use crate::state::HeapState;
use crate::sweep::Sweep;
use crate::types::ObjectId;

/// Steps between two checks for cancellation.
const CHECKED: usize = 1 << 18;

/// The nodes (objects, and types behind all objects) reachable from `from` by references that `goes` accepts, by source and target. They
/// are in reverse postorder of a depth-first walk: without cycles, every node comes after all its keepers. In any case every node except
/// the first ones comes after one of its keepers. 8 bytes a node at worst.
///
/// # Errors
/// When cancelled.
pub(super) fn reverse_postorder(
    graph: &KeepGraph<'_>,
    from: impl Iterator<Item = ObjectId>,
    goes: impl Fn(u32, u32) -> bool,
    progress: &Progress,
) -> Result<Vec<u32>> {
    let mut reached = BitSet::new(graph.nodes());
    let mut nodes = Vec::new();
    let mut path: Vec<(u32, u32)> = Vec::new();
    for root in from {
        if !reached.insert(root.0) {
            continue;
        }
        path.push((root.0, 0));
        while let Some((node, cursor)) = path.last_mut() {
            let from = *node;
            let next = graph.step(from, cursor, |to| !reached.contains(to) && goes(from, to));
            match next {
                Some(next) => {
                    reached.insert(next);
                    path.push((next, 0));
                }
                None => {
                    nodes.push(*node);
                    path.pop();
                    if nodes.len().is_multiple_of(CHECKED) {
                        progress.check()?;
                        progress.advance(CHECKED as u64);
                    }
                }
            }
        }
    }
    nodes.reverse();
    Ok(nodes)
}

/// Goes on from `open`, whose nodes are seen, to all that they keep.
///
/// # Errors
/// When cancelled.
pub(super) fn follow(graph: &KeepGraph<'_>, seen: &mut BitSet, open: &mut Sweep, progress: &Progress) -> Result<()> {
    let mut words = 0usize;
    while let Some(word) = open.take() {
        words += 1;
        if words.is_multiple_of(WORDS) {
            progress.check()?;
            progress.advance(64 * WORDS as u64);
        }
        graph.ahead(&word, |target| seen.prefetch(target.0));
        for node in word {
            graph.kept_nodes(node, |target| {
                if seen.insert(target) {
                    open.add(target);
                }
            });
        }
    }
    Ok(())
}

/// Words of nodes between two checks for cancellation.
pub(super) const WORDS: usize = 1 << 12;

/// All objects in the order of their strongly connected components: referrers before their targets, unless they are in one component.
pub(super) struct ComponentOrder {
    /// Objects; those of a component beside each other.
    pub objects: Vec<u32>,
    /// Whether a component begins at a place in `objects`.
    pub begins: BitSet,
}

impl ComponentOrder {
    /// Uses the references that keep, without those from instances to class objects. Pearce's algorithm (*A space-efficient algorithm for
    /// finding strongly connected components*, 2016); 8 bytes an object, and as much for the walk at worst.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(graph: &KeepGraph<'_>, progress: &Progress) -> Result<ComponentOrder> {
        let n = graph.heap().object_count();
        // By object: when it was met; while its component is being found, the earliest it leads to; 0 where it was not met,
        // DONE where its component is known.
        const DONE: u32 = u32::MAX;
        let mut index = vec![0u32; n];
        let mut objects: Vec<u32> = Vec::with_capacity(n);
        let mut ends = BitSet::new(n + 1);
        let mut open: Vec<u32> = Vec::new();
        // Object, cursor, whether it is the first of its component as far as is known.
        let mut path: Vec<(u32, u32, bool)> = Vec::new();
        let mut met = 0u32;
        for start in 0..n as u32 {
            if index[start as usize] != 0 {
                continue;
            }
            met += 1;
            index[start as usize] = met;
            path.push((start, 0, true));
            while let Some((object, cursor, first)) = path.last_mut() {
                let before = index[*object as usize];
                let mut least = before;
                let next = graph.step_objects(ObjectId(*object), cursor, |target| {
                    let other = index[target as usize];
                    if other != 0 {
                        least = least.min(other);
                    }
                    other == 0
                });
                if least < before {
                    index[*object as usize] = least;
                    *first = false;
                }
                if let Some(next) = next {
                    met += 1;
                    index[next as usize] = met;
                    path.push((next, 0, true));
                    continue;
                }
                let (object, _, first) = path.pop().expect("it was the last");
                if first {
                    let own = index[object as usize];
                    while let Some(&other) = open.last() {
                        if index[other as usize] < own {
                            break;
                        }
                        open.pop();
                        index[other as usize] = DONE;
                        objects.push(other);
                    }
                    index[object as usize] = DONE;
                    objects.push(object);
                    ends.insert(objects.len() as u32 - 1);
                } else {
                    open.push(object);
                }
                if let Some((above, _, first)) = path.last_mut() {
                    let found = index[object as usize];
                    if found < index[*above as usize] {
                        index[*above as usize] = found;
                        *first = false;
                    }
                }
                if objects.len().is_multiple_of(CHECKED) {
                    progress.check()?;
                }
            }
        }
        // Components came sinks first, each closed by its first object.
        objects.reverse();
        let mut begins = BitSet::new(n + 1);
        for at in 0..n as u32 {
            if ends.contains(n as u32 - 1 - at) {
                begins.insert(at);
            }
        }
        Ok(ComponentOrder { objects, begins })
    }
}

/// The objects of a heap state as an iterator of those that fit.
pub(super) fn objects_where<'a>(
    heap: &'a HeapState,
    fits: impl Fn(ObjectId) -> bool + 'a,
) -> impl Iterator<Item = ObjectId> + 'a {
    heap.objects().filter(move |&o| fits(o))
}
