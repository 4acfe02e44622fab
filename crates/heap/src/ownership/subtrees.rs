//! The retained size of a group without a pass over the heap, for groupings of very many small groups.
//!
//! In any tree of paths from the GC roots, an object below no member of a group has a path that avoids the group: its own path in the tree.
//! So a group retains only members and objects below them: of these, the ones that neither a GC root holds nor anything outside leads to.
//! The tree is that of a breadth-first search, in which little lies below an object.

use super::closures::ObjectGroups;
use super::graph::KeepGraph;
use crate::amount::Amount;
use crate::bits::BitSet;
use crate::error::Result;
use crate::progress::Progress;
use crate::types::ObjectId;

/// A tree of shortest paths to all that roots reach. Memory: 12 bytes a node (objects and types), 20 while it is made.
pub(super) struct Subtrees<'g, 'h> {
    graph: &'g KeepGraph<'h>,
    /// By node: its place in `order`; [`NONE`] if unreachable.
    place: Vec<u32>,
    /// Nodes in preorder: each before everything below it.
    order: Vec<u32>,
    /// By place: the place after everything below it.
    end: Vec<u32>,
    /// By type node: instances that roots reach.
    instances: Vec<u32>,
    scratch: SubtreeScratch,
}

/// Notes about one group, reset afterwards.
#[derive(Default)]
struct SubtreeScratch {
    members: BitSet,
    inside: BitSet,
    kept: BitSet,
    /// By type node: instances inside.
    instances: Vec<u32>,
    open: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Nodes between two checks for cancellation.
const CHECKED: usize = 1 << 18;

impl<'g, 'h> Subtrees<'g, 'h> {
    /// The tree; and by list of groups how many nodes, at most, lie below its objects, these included.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(graph: &'g KeepGraph<'h>, groups: &ObjectGroups, progress: &Progress) -> Result<(Self, Vec<u64>)> {
        let heap = graph.heap();
        let (n, nodes) = (heap.object_count(), graph.nodes());
        progress.begin("Looking for the shortest paths from GC roots", n as u64);
        let mut instances = vec![0u32; graph.type_nodes().len()];
        // By node, as soon as it is met: what it was met from, itself where that is a root.
        let mut above = vec![NONE; nodes];
        let mut queue: Vec<u32> = Vec::new();
        for root in graph.roots() {
            above[root.0 as usize] = root.0;
            queue.push(root.0);
        }
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            if next.is_multiple_of(CHECKED) {
                progress.check()?;
                progress.advance(CHECKED as u64);
            }
            if (node as usize) < n
                && let Some(t) = graph.type_node(ObjectId(node))
            {
                instances[t as usize] += 1;
            }
            graph.kept_nodes(node, |target| {
                let above = &mut above[target as usize];
                if *above == NONE {
                    *above = node;
                    queue.push(target);
                }
            });
        }
        let mut size = vec![0u32; nodes];
        let mut below = vec![0u64; groups.lists()];
        for &node in queue.iter().rev() {
            let up = above[node as usize];
            size[node as usize] += 1;
            if up != node {
                size[up as usize] += size[node as usize];
            }
            // What lies below another of the same list is counted there.
            let list = |node: u32| groups.of.get(node as usize).copied();
            if let Some(mine) = list(node)
                && (up == node || list(up) != Some(mine))
            {
                below[mine as usize] += u64::from(size[node as usize]);
            }
        }
        // Places are handed out from above: a node has that behind those that its siblings take.
        let mut place = vec![NONE; nodes];
        let (mut order, mut end) = (vec![0u32; queue.len()], vec![0u32; queue.len()]);
        let mut free = 0u32;
        for &node in &queue {
            let (up, size) = (above[node as usize], size[node as usize]);
            let at = if up == node {
                free += size;
                free - size
            } else {
                // Until all below it have their places, the end of a node is that of what has been handed out.
                let handed = &mut end[place[up as usize] as usize];
                *handed += size;
                *handed - size
            };
            place[node as usize] = at;
            order[at as usize] = node;
            end[at as usize] = at + 1;
        }
        let scratch = SubtreeScratch {
            members: BitSet::new(nodes),
            inside: BitSet::new(nodes),
            kept: BitSet::new(nodes),
            instances: vec![0; instances.len()],
            open: Vec::new(),
        };
        Ok((Subtrees { graph, place, order, end, instances, scratch }, below))
    }

    fn is_live(&self, node: u32) -> bool {
        self.place[node as usize] != NONE
    }

    /// The retained amount of a group. The time is linear in the objects below its members and their referrers. `None` if it retains more
    /// than `most` unreachable objects.
    pub fn retained(&mut self, members: &[ObjectId], most: usize) -> Option<Amount> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let amount = self.retained_with(members, most, &mut scratch);
        self.scratch = scratch;
        amount
    }

    fn retained_with(&self, members: &[ObjectId], most: usize, scratch: &mut SubtreeScratch) -> Option<Amount> {
        let SubtreeScratch { members: is_member, inside, kept, instances, open } = scratch;
        let graph = self.graph;
        let heap = graph.heap();
        let n = heap.object_count();
        let type_of = |node: u32| if (node as usize) < n { graph.type_node(ObjectId(node)) } else { None };
        members.iter().for_each(|o| {
            is_member.insert(o.0);
        });
        let mut tops: Vec<u32> = members.iter().map(|o| self.place[o.0 as usize]).filter(|&at| at != NONE).collect();
        tops.sort_unstable();
        let mut behind = 0;
        tops.retain(|&at| {
            let is_top = at >= behind;
            if is_top {
                behind = self.end[at as usize];
            }
            is_top
        });
        let nodes = || tops.iter().flat_map(|&at| &self.order[at as usize..self.end[at as usize] as usize]).copied();
        for node in nodes() {
            inside.insert(node);
            if let Some(t) = type_of(node) {
                instances[t as usize] += 1;
            }
        }
        let from_outside = |node: u32| self.is_live(node) && !inside.contains(node);
        for node in nodes().filter(|&node| !is_member.contains(node)) {
            // What roots hold is below nothing.
            let stays = match (node as usize).checked_sub(n) {
                Some(t) => instances[t] < self.instances[t],
                None => {
                    let o = ObjectId(node);
                    graph.type_keepers(o).iter().any(|&t| from_outside(n as u32 + t))
                        || graph.has_keeper(o, |keeper| from_outside(keeper.0))
                }
            };
            if stays {
                kept.insert(node);
                open.push(node);
            }
        }
        while let Some(node) = open.pop() {
            graph.kept_nodes(node, |target| {
                if inside.contains(target) && !is_member.contains(target) && kept.insert(target) {
                    open.push(target);
                }
            });
        }
        let mut amount = Amount::default();
        let mut count = |node: u32| {
            if (node as usize) < n {
                amount += Amount { objects: 1, bytes: heap.size_of(ObjectId(node)) };
            }
        };
        nodes().filter(|&node| !kept.contains(node)).for_each(&mut count);
        for node in nodes() {
            inside.remove(node);
            kept.remove(node);
            if let Some(t) = type_of(node) {
                instances[t as usize] = 0;
            }
        }
        // What no root reaches goes with whatever leads to it.
        let lost = |node: u32, inside: &mut BitSet| !self.is_live(node) && inside.insert(node);
        let mut gone: Vec<u32> = members.iter().map(|o| o.0).filter(|&o| lost(o, inside)).collect();
        let mut next = 0;
        while let Some(&node) = gone.get(next).filter(|_| gone.len() <= most) {
            next += 1;
            count(node);
            graph.kept_nodes(node, |target| {
                if lost(target, inside) {
                    gone.push(target);
                }
            });
        }
        let fits = next == gone.len();
        gone.into_iter().for_each(|node| {
            inside.remove(node);
        });
        members.iter().for_each(|o| {
            is_member.remove(o.0);
        });
        fits.then_some(amount)
    }
}
