//! The dominator tree of single objects: the objects that each object alone keeps alive, and their amount.
//!
//! An object d dominates an object o when every path from a GC root to o passes d. The tree is found with the semi-NCA
//! algorithm (Georgiadis, *Linear-Time Algorithms for Dominators and Related Problems*, 2005): a depth-first numbering,
//! semidominators with path compression, nearest common ancestors. O(m log n) at worst, linear in practice. Nothing here
//! recurses: a list of ten million nodes is a tree of ten million levels. [`FoldedObjects`] are left out and put below their owners
//! afterwards.

use super::folded::{FoldedObjects, only_referrer};
use super::graph::{KeepGraph, KeepingRoots};
use super::rules::KeepRules;
use crate::amount::Amount;
use crate::bits::BitSet;
use crate::error::Result;
use crate::memory::make_sure;
use crate::progress::Progress;
use crate::state::HeapState;
use crate::texts::count_text;
use crate::types::ObjectId;
use rayon::prelude::*;
use std::sync::OnceLock;

/// The dominator tree of a heap state: above all is a node that stands for the GC roots.
///
/// Numbers: reachable objects and type nodes are numbered from 1, depth first and then what was folded; 0 stands for the roots. Memory: 24 bytes
/// an object, also while it is built; 32 with the index of owned objects ([`Dominators::owned`]).
pub struct Dominators {
    keeping: KeepingRoots,
    /// By object: its number; 0 if unreachable.
    number: Vec<u32>,
    /// By number: the object; for types a number from the number of objects on.
    order: Vec<u32>,
    /// By number: the number of the immediate dominator, which is smaller.
    above: Vec<u32>,
    /// By number: objects dominated, itself included.
    objects: Vec<u32>,
    /// By number: their shallow bytes.
    bytes: Vec<u64>,
    /// Built on demand.
    children: OnceLock<OwnedRows>,
}

/// Bytes of memory an object, also while it is built.
const BYTES: u64 = 24;
/// Further bytes an object of a tree for owners, to give them names.
const NAME_BYTES: u64 = 12;

impl Dominators {
    /// The tree of a heap state.
    ///
    /// # Errors
    /// When cancelled, or without memory for it.
    pub fn new(heap: &HeapState, rules: KeepRules, progress: &Progress) -> Result<Dominators> {
        Dominators::of(&KeepGraph::new(heap, rules), progress)
    }

    /// The tree of a graph.
    ///
    /// # Errors
    /// When cancelled, or without memory for it.
    pub fn of(graph: &KeepGraph<'_>, progress: &Progress) -> Result<Dominators> {
        let heap = graph.heap();
        let each = if graph.rules().passing_roots { BYTES } else { BYTES + NAME_BYTES };
        let bytes = each * heap.object_count() as u64 + heap.memory_of_referrers();
        make_sure(bytes, || format!("Finding the owners of {} objects", count_text(heap.object_count() as u64)))?;
        let n = heap.object_count();
        let folded = FoldedObjects::new(graph, progress)?;
        let walk = Walk::new(graph, &folded.all, progress)?;
        let (mut number, mut order, mut above) = walk.dominators(graph, progress)?;
        above.reserve_exact(order.capacity() - above.len());
        for o in folded.top_down() {
            let owner = heap.referrers(o).first();
            if let Some(up @ 1..) = owner.map(|owner| number[owner.0 as usize]) {
                number[o.0 as usize] = order.len() as u32;
                order.push(o.0);
                above.push(up);
            }
        }
        drop(folded);
        let amount = |&node: &u32| match (node as usize) < n {
            true => (1, heap.size_of(ObjectId(node))),
            false => (0, 0),
        };
        let (mut objects, mut bytes): (Vec<u32>, Vec<u64>) = (Vec::new(), Vec::new());
        order.par_iter().with_min_len(1 << 12).map(amount).unzip_into_vecs(&mut objects, &mut bytes);
        for at in (1..order.len()).rev() {
            let up = above[at] as usize;
            objects[up] += objects[at];
            bytes[up] += bytes[at];
        }
        let keeping = graph.keeping().clone();
        Ok(Dominators { keeping, number, order, above, objects, bytes, children: OnceLock::new() })
    }

    /// The graph that the tree is of. `heap` is the heap state that it was made of.
    pub fn graph<'h>(&self, heap: &'h HeapState) -> KeepGraph<'h> {
        KeepGraph::of(heap, &self.keeping)
    }

    /// Whether a root reaches the object, under the rules of the tree.
    #[inline]
    pub fn is_reached(&self, o: ObjectId) -> bool {
        self.number[o.0 as usize] != 0
    }

    /// The object that alone keeps this one alive, and is next to it in the tree. `None` when there is none, because
    /// roots or several objects do; and of objects that no root reaches.
    #[inline]
    pub fn owner(&self, o: ObjectId) -> Option<ObjectId> {
        let n = self.number.len();
        let mut at = self.above[self.number[o.0 as usize] as usize] as usize;
        // Types stand between a class object and what keeps it.
        while at != 0 && self.order[at] as usize >= n {
            at = self.above[at] as usize;
        }
        (at != 0).then(|| ObjectId(self.order[at]))
    }

    /// The retained amount of an object: itself and all objects it dominates. Nothing for unreachable objects.
    #[inline]
    pub fn retained(&self, o: ObjectId) -> Amount {
        match self.number[o.0 as usize] as usize {
            0 => Amount::default(),
            at => Amount { objects: u64::from(self.objects[at]), bytes: self.bytes[at] },
        }
    }

    /// The amount that all roots keep.
    pub fn total(&self) -> Amount {
        Amount { objects: u64::from(self.objects[0]), bytes: self.bytes[0] }
    }

    /// The objects that an object alone keeps alive and that are next to it in the tree; without one, those that have no owner. Largest
    /// retained size first, then by number. The first call costs a pass over the tree and 8 bytes an object, every other one is linear in
    /// the items taken.
    pub fn owned(&self, owner: Option<ObjectId>) -> impl Iterator<Item = ObjectId> + '_ {
        self.owned_numbers(owner).iter().map(|&child| ObjectId(self.order[child as usize]))
    }

    /// How many objects [`Dominators::owned`] gives; costs no more than the index does.
    pub fn owned_count(&self, owner: Option<ObjectId>) -> u64 {
        self.owned_numbers(owner).len() as u64
    }

    /// A range of [`Dominators::owned`], by place in it; empty beyond the last. The cost is linear in the range.
    pub fn owned_between(
        &self,
        owner: Option<ObjectId>,
        places: std::ops::Range<u64>,
    ) -> impl Iterator<Item = ObjectId> + '_ {
        let all = self.owned_numbers(owner);
        let place = |at: u64| usize::try_from(at).map_or(all.len(), |at| at.min(all.len()));
        let some = &all[place(places.start)..place(places.end.max(places.start))];
        some.iter().map(|&child| ObjectId(self.order[child as usize]))
    }

    /// The place of an object among those that its owner owns ([`Dominators::owned`]); `None` where no root reaches it. A
    /// binary search.
    pub fn place_of(&self, o: ObjectId) -> Option<u64> {
        let number = Some(self.number[o.0 as usize]).filter(|&number| number != 0)?;
        let key = |&at: &u32| (std::cmp::Reverse(self.bytes[at as usize]), self.order[at as usize]);
        let all = self.owned_numbers(self.owner(o));
        all.binary_search_by_key(&key(&number), key).ok().map(|place| place as u64)
    }

    fn owned_numbers(&self, owner: Option<ObjectId>) -> &[u32] {
        let n = self.number.len() as u32;
        let children = self.children.get_or_init(|| OwnedRows::new(&self.above, &self.order, n, &self.bytes));
        let at = owner.map_or(0, |o| self.number[o.0 as usize]);
        // What no root reaches has no number, and owns nothing.
        if at == 0 && owner.is_some() { &[] } else { children.of(at) }
    }

    /// The objects that roots reach, every one after its owner.
    pub fn top_down(&self) -> impl DoubleEndedIterator<Item = ObjectId> + '_ {
        let n = self.number.len() as u32;
        self.order[1..].iter().filter(move |&&node| node < n).map(|&node| ObjectId(node))
    }

    /// The same, each with its owner.
    pub fn top_down_with_owners(&self) -> impl Iterator<Item = (ObjectId, Option<ObjectId>)> + '_ {
        let n = self.number.len();
        (1..self.order.len()).filter(move |&at| (self.order[at] as usize) < n).map(move |at| {
            let mut up = self.above[at] as usize;
            while up != 0 && self.order[up] as usize >= n {
                up = self.above[up] as usize;
            }
            (ObjectId(self.order[at]), (up != 0).then(|| ObjectId(self.order[up])))
        })
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        4 * (self.number.capacity() + self.order.capacity() + self.above.capacity() + self.objects.capacity())
            + 8 * self.bytes.capacity()
            + self.children.get().map_or(0, |c| 4 * (c.start.capacity() + c.all.capacity()))
    }
}

/// The tree downwards, without the nodes of types: their children belong to their owner.
struct OwnedRows {
    /// By number, and one more: where its children begin.
    start: Vec<u32>,
    /// Numbers, the largest first in each row.
    all: Vec<u32>,
}

impl OwnedRows {
    fn new(above: &[u32], order: &[u32], n: u32, bytes: &[u64]) -> OwnedRows {
        let is_object = |at: usize| order[at] < n;
        let owner = |at: usize| {
            let mut up = above[at] as usize;
            while up != 0 && !is_object(up) {
                up = above[up] as usize;
            }
            up
        };
        let mut start = vec![0u32; above.len() + 1];
        for at in (1..above.len()).filter(|&at| is_object(at)) {
            start[owner(at) + 1] += 1;
        }
        for at in 1..start.len() {
            start[at] += start[at - 1];
        }
        let mut next = start.clone();
        let mut all = vec![0u32; start.last().copied().unwrap_or(0) as usize];
        for at in (1..above.len()).filter(|&at| is_object(at)) {
            let slot = &mut next[owner(at)];
            all[*slot as usize] = at as u32;
            *slot += 1;
        }
        drop(next);
        // Objects are numbered by address, which says more than the order of the walk.
        let first = |&at: &u32| (std::cmp::Reverse(bytes[at as usize]), order[at as usize]);
        for row in start.windows(2).filter(|row| row[1] - row[0] > 1) {
            let row = &mut all[row[0] as usize..row[1] as usize];
            match row.len() > LONG_ROW {
                true => row.par_sort_unstable_by_key(first),
                false => row.sort_unstable_by_key(first),
            }
        }
        OwnedRows { start, all }
    }

    fn of(&self, at: u32) -> &[u32] {
        &self.all[self.start[at as usize] as usize..self.start[at as usize + 1] as usize]
    }
}

/// OwnedRows from which on it pays to sort on several cores.
const LONG_ROW: usize = 1 << 14;

/// A depth-first walk from the roots, without what was folded.
struct Walk {
    /// By node (objects, then types): its number; 0 if it was not reached.
    number: Vec<u32>,
    /// By number: the node. The first stands for the roots.
    order: Vec<u32>,
    /// By number: the number it was first reached from.
    parent: Vec<u32>,
}

/// Steps between two checks for cancellation.
const CHECKED: usize = 1 << 20;

impl Walk {
    fn new(graph: &KeepGraph<'_>, folded: &BitSet, progress: &Progress) -> Result<Walk> {
        let heap = graph.heap();
        let n = heap.object_count();
        progress.begin("Walking from the GC roots", (n - folded.count()) as u64);
        let mut number = vec![0u32; n + graph.type_nodes().len()];
        // A bit a node stays in the processor's cache, a number a node does not.
        let mut seen = folded.clone();
        // Room for all, of which only what is written takes memory.
        let with_first = |first: u32| {
            let mut column = Vec::with_capacity(1 + number.len());
            column.push(first);
            column
        };
        let (mut order, mut parent) = (with_first(u32::MAX), with_first(0));
        // By number: how many of its references were followed. Of objects the reference to the type comes last.
        let mut cursor = with_first(0);
        for &root in graph.roots() {
            if seen.contains(root.0) {
                continue;
            }
            let mut at = 0u32;
            let mut next = Some(root.0);
            loop {
                if let Some(node) = next.take() {
                    let new = order.len() as u32;
                    seen.insert(node);
                    number[node as usize] = new;
                    order.push(node);
                    parent.push(at);
                    cursor.push(0);
                    at = new;
                    if order.len().is_multiple_of(CHECKED) {
                        progress.check()?;
                        progress.advance(CHECKED as u64);
                    }
                }
                let node = order[at as usize];
                next = graph.step(node, &mut cursor[at as usize], |target| !seen.contains(target));
                if next.is_none() {
                    at = parent[at as usize];
                    if at == 0 {
                        break;
                    }
                }
            }
        }
        Ok(Walk { number, order, parent })
    }

    /// Numbers of objects, the order of nodes, and immediate dominators by number.
    fn dominators(self, graph: &KeepGraph<'_>, progress: &Progress) -> Result<(Vec<u32>, Vec<u32>, Vec<u32>)> {
        let Walk { mut number, order, parent } = self;
        let n = graph.heap().object_count();
        let count = order.len();
        progress.begin("Looking for owners", count as u64);
        let instances = Instances::new(graph, &order, n);
        let mut semi = parent.clone();
        // Both the walk's tree and the forest are needed, the tree only afterwards: until then two bits a node do.
        let tree = PackedTree::new(&parent);
        let mut forest = Forest { ancestor: parent, label: (0..count as u32).collect(), path: Vec::new() };
        for &root in graph.roots() {
            semi[number[root.0 as usize] as usize] = 0;
        }
        let mut keepers = KeeperBatch::default();
        for start in (1..count).step_by(KeeperBatch::NODES).rev() {
            let batch = start..(start + KeeperBatch::NODES).min(count);
            if (start / KeeperBatch::NODES).is_multiple_of(CHECKED / KeeperBatch::NODES) {
                progress.check()?;
                progress.advance(CHECKED as u64);
            }
            keepers.read(graph, &number, &order[batch.clone()]);
            for at in batch.rev() {
                let mut least = semi[at];
                let mut meet = |keeper: u32| {
                    if keeper != 0 && least != 0 {
                        least = least.min(forest.least(keeper, at as u32 + 1));
                    }
                };
                match (order[at] as usize).checked_sub(n) {
                    None => keepers.of(at - start).iter().for_each(|&keeper| meet(keeper)),
                    Some(t) => instances.each(t, graph, &number, meet),
                }
                semi[at] = least;
                forest.label[at] = least;
            }
        }
        drop(forest);
        drop(instances);
        let mut above = tree.parents(count);
        for at in 1..count {
            let mut up = above[at];
            while up > semi[at] {
                up = above[up as usize];
            }
            above[at] = up;
        }
        number.truncate(n);
        Ok((number, order, above))
    }
}

/// The numbers of the keepers of some objects, of those that have several. All are read before any is used, so that the processor waits for
/// many places in memory at once.
#[derive(Default)]
struct KeeperBatch<'h> {
    rows: Vec<&'h [ObjectId]>,
    numbers: Vec<u32>,
    ends: Vec<usize>,
}

impl<'h> KeeperBatch<'h> {
    const NODES: usize = 32;

    fn read(&mut self, graph: &KeepGraph<'h>, number: &[u32], nodes: &[u32]) {
        let n = graph.heap().object_count();
        self.rows.clear();
        self.rows.extend(nodes.iter().map(|&node| match (node as usize) < n {
            true => graph.heap().referrers(ObjectId(node)),
            false => &[],
        }));
        self.numbers.clear();
        self.ends.clear();
        for (&node, row) in nodes.iter().zip(&self.rows) {
            let o = ObjectId(node);
            // Of a single referrer nothing has to be looked up: the walk came from there.
            if (node as usize) < n && only_referrer(graph, o).is_none() {
                self.numbers.extend(row.iter().filter(|&&r| graph.is_keeper(r, o)).map(|r| number[r.0 as usize]));
                self.numbers.extend(graph.type_keepers(o).iter().map(|&t| number[n + t as usize]));
            }
            self.ends.push(self.numbers.len());
        }
    }

    /// The keepers of a node of the batch.
    #[inline]
    fn of(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.numbers[start..self.ends[i]]
    }
}

/// The parents of a depth-first tree whose nodes are numbered in the order of the walk, from 0.
///
/// The parent of a node is the node before it, or above that one: the number of steps up as zeros, then a one. A walk goes up no more often
/// than it went down, so these are at most two bits a node.
struct PackedTree {
    words: Vec<u64>,
}

impl PackedTree {
    fn new(parent: &[u32]) -> PackedTree {
        let mut words = vec![0u64; (2 * parent.len()).div_ceil(64)];
        let mut bit = 0usize;
        for at in 1..parent.len() {
            let mut up = at as u32 - 1;
            while up != parent[at] {
                up = parent[up as usize];
                bit += 1;
            }
            words[bit / 64] |= 1 << (bit % 64);
            bit += 1;
        }
        PackedTree { words }
    }

    /// The parents of `count` nodes; that of the first is itself.
    fn parents(self, count: usize) -> Vec<u32> {
        let mut parents = Vec::with_capacity(count);
        parents.push(0u32);
        let mut bit = 0usize;
        for at in 1..count {
            let mut up = at as u32 - 1;
            while self.words[bit / 64] >> (bit % 64) & 1 == 0 {
                up = parents[up as usize];
                bit += 1;
            }
            bit += 1;
            parents.push(up);
        }
        parents
    }
}

/// The linked part of the depth-first tree, with compressed paths.
struct Forest {
    ancestor: Vec<u32>,
    /// The least semidominator on the path to the ancestor; a node's own number until it is linked.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The least semidominator on the linked part of the path up from `at`. Nodes from `linked` on are linked.
    #[inline]
    fn least(&mut self, at: u32, linked: u32) -> u32 {
        if at < linked || self.ancestor[at as usize] < linked {
            return self.label[at as usize];
        }
        self.compress(at, linked)
    }

    fn compress(&mut self, at: u32, linked: u32) -> u32 {
        let mut x = at;
        while self.ancestor[x as usize] >= linked {
            self.path.push(x);
            x = self.ancestor[x as usize];
        }
        let top = self.ancestor[x as usize];
        let mut least = self.label[x as usize];
        while let Some(y) = self.path.pop() {
            least = least.min(self.label[y as usize]);
            self.label[y as usize] = least;
            self.ancestor[y as usize] = top;
        }
        least
    }
}

/// The reached instances of each type that has a node.
struct Instances {
    /// By type node: where its instances begin in `all`.
    start: Vec<u32>,
    /// Numbers of instances, except for types with a good part of all objects. These types are few, and each costs a pass over all objects.
    all: Vec<u32>,
    /// By type node: how many instances were reached.
    counts: Vec<u32>,
    /// More are not listed.
    most: u32,
}

impl Instances {
    fn new(graph: &KeepGraph<'_>, order: &[u32], n: usize) -> Instances {
        let types = graph.type_nodes().len();
        let most = n as u32 / 32 + 4;
        let node = |node: u32| ((node as usize) < n).then(|| graph.type_node(ObjectId(node))).flatten();
        let mut counts = vec![0u32; types];
        if types > 0 {
            order[1..].iter().filter_map(|&o| node(o)).for_each(|t| counts[t as usize] += 1);
        }
        let mut start = vec![0u32];
        for &count in &counts {
            start.push(start.last().copied().unwrap_or(0) + if count > most { 0 } else { count });
        }
        let mut next = start.clone();
        let mut all = vec![0u32; start[types] as usize];
        if !all.is_empty() {
            for (at, &o) in order.iter().enumerate().skip(1) {
                if let Some(t) = node(o).filter(|&t| counts[t as usize] <= most) {
                    let slot = &mut next[t as usize];
                    all[*slot as usize] = at as u32;
                    *slot += 1;
                }
            }
        }
        Instances { start, all, counts, most }
    }

    /// Calls `meet` with the numbers of the instances of a type.
    fn each(&self, t: usize, graph: &KeepGraph<'_>, number: &[u32], mut meet: impl FnMut(u32)) {
        if self.counts[t] <= self.most {
            return self.all[self.start[t] as usize..self.start[t + 1] as usize].iter().for_each(|&i| meet(i));
        }
        for o in graph.heap().objects().filter(|&o| graph.type_node(o) == Some(t as u32)) {
            meet(number[o.0 as usize]);
        }
    }
}
