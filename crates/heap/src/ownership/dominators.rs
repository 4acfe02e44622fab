//! The dominator tree of single objects: which object alone keeps which alive, and how much that is.
//!
//! An object d dominates an object o when every path from a GC root to o passes d. The tree is found with the semi-NCA
//! algorithm (Georgiadis, *Linear-Time Algorithms for Dominators and Related Problems*, 2005): a depth-first numbering,
//! semidominators with path compression, nearest common ancestors. O(m log n) at worst, linear in practice. Nothing here
//! recurses: a list of ten million nodes is a tree of ten million levels.

use super::{KeepGraph, KeepRules};
use crate::error::Result;
use crate::progress::Progress;
use crate::{Amount, HeapState, ObjectId};

/// The dominator tree of a heap state: above all is a node that stands for the GC roots.
///
/// Numbers: the objects that roots reach, and type nodes, are numbered depth first from 1; 0 stands for the roots. Memory:
/// 24 bytes an object; 32 while it is made.
pub struct Dominators {
    /// By object: its number; 0 where no root reaches it.
    number: Vec<u32>,
    /// By number: the object; a number of objects and more for types.
    order: Vec<u32>,
    /// By number: the number of the immediate dominator, which is smaller.
    above: Vec<u32>,
    /// By number: objects dominated, itself included.
    objects: Vec<u32>,
    /// By number: their shallow bytes.
    bytes: Vec<u64>,
}

impl Dominators {
    /// The tree of a heap state.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(heap: &HeapState, rules: KeepRules, progress: &Progress) -> Result<Dominators> {
        let graph = KeepGraph::new(heap, rules);
        let walk = Walk::new(&graph, progress)?;
        let (number, order, above) = walk.dominators(&graph, progress)?;
        let n = heap.object_count();
        let count = order.len();
        let mut objects = vec![0u32; count];
        let mut bytes = vec![0u64; count];
        for at in 1..count {
            let node = order[at] as usize;
            if node < n {
                objects[at] = 1;
                bytes[at] = heap.size_of(ObjectId(node as u32));
            }
        }
        for at in (1..count).rev() {
            let up = above[at] as usize;
            objects[up] += objects[at];
            bytes[up] += bytes[at];
        }
        Ok(Dominators { number, order, above, objects, bytes })
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

    /// What would be freed if the object were: itself and all it dominates. Of objects that no root reaches: nothing.
    #[inline]
    pub fn retained(&self, o: ObjectId) -> Amount {
        match self.number[o.0 as usize] as usize {
            0 => Amount::default(),
            at => Amount { objects: u64::from(self.objects[at]), bytes: self.bytes[at] },
        }
    }

    /// What all roots keep.
    pub fn total(&self) -> Amount {
        Amount { objects: u64::from(self.objects[0]), bytes: self.bytes[0] }
    }

    /// The objects that roots reach, every one after its owner.
    pub fn top_down(&self) -> impl DoubleEndedIterator<Item = ObjectId> + '_ {
        let n = self.number.len() as u32;
        self.order[1..].iter().filter(move |&&node| node < n).map(|&node| ObjectId(node))
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        4 * (self.number.capacity() + self.order.capacity() + self.above.capacity() + self.objects.capacity())
            + 8 * self.bytes.capacity()
    }
}

/// A depth-first walk from the roots.
struct Walk {
    /// By node (objects, then types): its number; 0 where it was not reached.
    number: Vec<u32>,
    /// By number: the node. The first stands for the roots.
    order: Vec<u32>,
    /// By number: the number it was first reached from.
    parent: Vec<u32>,
}

/// Steps between two looks at whether somebody wants the work to end.
const CHECKED: usize = 1 << 20;

impl Walk {
    fn new(graph: &KeepGraph<'_>, progress: &Progress) -> Result<Walk> {
        let heap = graph.heap();
        let n = heap.object_count();
        progress.begin("Walking from the GC roots", n as u64);
        let mut number = vec![0u32; n + graph.type_nodes().len()];
        let mut order = vec![u32::MAX];
        let mut parent = vec![0u32];
        // By number: how many of its references were followed. Of objects the reference to the type comes last.
        let mut cursor = vec![0u32];
        for &root in graph.roots() {
            if number[root.0 as usize] != 0 {
                continue;
            }
            let mut at = 0u32;
            let mut next = Some(root.0);
            loop {
                if let Some(node) = next.take() {
                    let new = order.len() as u32;
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
                next = graph.step(node, &mut cursor[at as usize], |target| number[target as usize] == 0);
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
        let mut forest = Forest { ancestor: parent.clone(), label: (0..count as u32).collect(), path: Vec::new() };
        let mut semi = parent.clone();
        for &root in graph.roots() {
            semi[number[root.0 as usize] as usize] = 0;
        }
        for at in (1..count as u32).rev() {
            if (at as usize).is_multiple_of(CHECKED) {
                progress.check()?;
                progress.advance(CHECKED as u64);
            }
            let mut least = semi[at as usize];
            if least != 0 {
                let mut meet = |keeper: u32| {
                    if keeper != 0 {
                        least = least.min(forest.least(keeper, at + 1));
                    }
                };
                match (order[at as usize] as usize).checked_sub(n) {
                    None => {
                        let o = ObjectId(order[at as usize]);
                        graph.keepers(o, |keeper| meet(number[keeper.0 as usize]));
                        for &t in graph.type_keepers(o) {
                            meet(number[n + t as usize]);
                        }
                    }
                    Some(t) => instances.of(t).iter().for_each(|&instance| meet(instance)),
                }
                semi[at as usize] = least;
            }
            forest.label[at as usize] = least;
        }
        drop(forest);
        drop(instances);
        let mut above = parent;
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
    start: Vec<u32>,
    /// Numbers.
    all: Vec<u32>,
}

impl Instances {
    fn new(graph: &KeepGraph<'_>, order: &[u32], n: usize) -> Instances {
        let mut start = vec![0u32; graph.type_nodes().len() + 1];
        let node = |node: u32| ((node as usize) < n).then(|| graph.type_node(ObjectId(node))).flatten();
        if graph.type_nodes().is_empty() {
            return Instances { start, all: Vec::new() };
        }
        for t in order[1..].iter().filter_map(|&o| node(o)) {
            start[t as usize + 1] += 1;
        }
        for t in 1..start.len() {
            start[t] += start[t - 1];
        }
        let mut next = start.clone();
        let mut all = vec![0u32; start.last().copied().unwrap_or(0) as usize];
        for (at, &o) in order.iter().enumerate().skip(1) {
            if let Some(t) = node(o) {
                let slot = &mut next[t as usize];
                all[*slot as usize] = at as u32;
                *slot += 1;
            }
        }
        Instances { start, all }
    }

    fn of(&self, t: usize) -> &[u32] {
        &self.all[self.start[t] as usize..self.start[t + 1] as usize]
    }
}
