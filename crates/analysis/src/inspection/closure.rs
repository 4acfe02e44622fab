//! Closures of a set of objects (reached or retained), as amounts and under any grouping.

use super::state::InspectedHeap;
use super::unfold::RowList;
use crate::group::{self, Grouping, MemoryTree, Reads};
use crate::timeline::{Amount, NodeId};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::ObjectClosures;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId};
use std::ops::Range;
use std::sync::Arc;

/// The kind of closure of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClosureKind {
    /// The objects themselves.
    Shallow,
    /// The set and all it reaches.
    Reachable,
    /// The set and everything that would be freed with it.
    Retained,
}

impl ClosureKind {
    /// All of them.
    pub const ALL: [ClosureKind; 3] = [ClosureKind::Shallow, ClosureKind::Reachable, ClosureKind::Retained];

    /// Its name in parameters.
    pub fn id(self) -> &'static str {
        match self {
            ClosureKind::Shallow => "shallow",
            ClosureKind::Reachable => "reachable",
            ClosureKind::Retained => "retained",
        }
    }

    /// The closure of a name; the retained one for an unknown name.
    pub fn of(id: &str) -> ClosureKind {
        Self::ALL.into_iter().find(|kind| kind.id() == id).unwrap_or(ClosureKind::Retained)
    }

    /// An explanation, for people.
    pub fn explanation(self) -> &'static str {
        match self {
            ClosureKind::Shallow => "The objects themselves",
            ClosureKind::Reachable => "The objects and all they reach, whoever else holds it",
            ClosureKind::Retained => "The objects and what would be freed if all of them were",
        }
    }
}

/// A set of objects with its closures. Three bits an object of the heap.
pub struct GroupClosure {
    sets: [BitSet; 3],
    amounts: [Amount; 3],
    /// Of them, how many no GC root reaches by any reference. They are among what the set retains: nothing alive does.
    garbage: u64,
}

impl GroupClosure {
    /// The closures of several nodes of the trees, as one group.
    ///
    /// # Errors
    /// When the state cannot be loaded again, the input holds no references or roots, or the work was cancelled.
    pub fn of_nodes(inspected: &InspectedHeap<'_>, nodes: &[NodeId], progress: &Progress) -> Result<GroupClosure> {
        GroupClosure::new(inspected, inspected.objects_of(nodes, progress)?, progress)
    }

    /// The closures of any objects. Walks the heap once from its roots; then time follows the objects that the set reaches.
    ///
    /// # Errors
    /// As [`GroupClosure::of_nodes`].
    pub fn new(inspected: &InspectedHeap<'_>, set: BitSet, progress: &Progress) -> Result<GroupClosure> {
        let heap = &**inspected.heap();
        let lacks = Reads::REFERENCES.difference(Reads::known_of(heap));
        if !lacks.is_empty() {
            return Err(Error::Unusable {
                what: "What objects reach and retain cannot be found: the input does not say what refers to what"
                    .into(),
                remedy: "Take a heap dump, or record a trace with references".into(),
            });
        }
        let closures = ObjectClosures::new(heap, inspected.rules(), progress)?;
        let closure = closures.of(&set, progress)?;
        // Garbage is what groupings call so: what weak references alone reach is still in memory.
        let garbage = set.iter().filter(|&o| !heap.is_reachable(ObjectId(o))).count() as u64;
        let sets = [set, closure.deep, closure.retained];
        let amounts = [0, 1, 2].map(|i| closures.amount(&sets[i]));
        Ok(GroupClosure { sets, amounts, garbage })
    }

    /// The objects of a closure.
    pub fn objects(&self, kind: ClosureKind) -> &BitSet {
        &self.sets[kind as usize]
    }

    /// How many they are, and their shallow bytes.
    pub fn amount(&self, kind: ClosureKind) -> Amount {
        self.amounts[kind as usize]
    }

    /// How many objects of the set no GC root reaches.
    pub fn garbage(&self) -> u64 {
        self.garbage
    }
}

/// A closure under a grouping: a memory tree whose children are sorted, those with most bytes first.
pub struct ClosureContents {
    tree: MemoryTree,
    /// By node: where its children are in `children`.
    start: Vec<u32>,
    children: Vec<u32>,
}

impl ClosureContents {
    /// Groups some objects of a state.
    ///
    /// # Errors
    /// When the state lacks the facts of the grouping, there would be too many groups, or the work was cancelled.
    pub fn new(
        inspected: &InspectedHeap<'_>,
        objects: &BitSet,
        grouping: &Grouping,
        progress: &Progress,
    ) -> Result<ClosureContents> {
        let heap: &HeapState = inspected.heap();
        if let Some(lacks) = grouping.lacks(Reads::known_of(heap)) {
            return Err(Error::Unusable {
                what: format!("The grouping {} needs {lacks}, which this input does not hold", grouping.title),
                remedy: "Choose a grouping by type, package, class loader or object kind".into(),
            });
        }
        let options = inspected.history()?.options();
        // Garbage is grouped where it is in the set: what is asked for is this set.
        let include_unreachable =
            options.include_unreachable || objects.iter().any(|o| !heap.is_reachable(ObjectId(o)));
        let options = group::GroupOptions { include_unreachable, ..options };
        let tree = group::group_some(heap, grouping, options, objects, progress)?;
        Ok(ClosureContents::sorted(tree))
    }

    fn sorted(tree: MemoryTree) -> ClosureContents {
        let n = tree.len();
        let mut start = vec![0u32; n + 1];
        let mut count = vec![0u32; n];
        (1..n).filter_map(|node| tree.parent(node)).for_each(|parent| count[parent] += 1);
        // A group whose own objects are all that it has needs no row for them.
        let parent = |node: usize| tree.parent(node).filter(|&parent| count[parent] > 1 || !tree.is_own(node));
        (1..n).filter_map(parent).for_each(|parent| start[parent + 1] += 1);
        for at in 1..start.len() {
            start[at] += start[at - 1];
        }
        let mut next = start.clone();
        let mut children = vec![0u32; n.saturating_sub(1)];
        for node in 1..n {
            if let Some(parent) = parent(node) {
                children[next[parent] as usize] = node as u32;
                next[parent] += 1;
            }
        }
        for row in start.windows(2) {
            children[row[0] as usize..row[1] as usize].sort_by(|&a, &b| {
                let amount = |node: u32| (tree.amount(node as usize).bytes, tree.amount(node as usize).objects);
                let name = |node: u32| tree.name(node as usize);
                amount(b).cmp(&amount(a)).then_with(|| name(a).cmp(name(b)))
            });
        }
        ClosureContents { tree, start, children }
    }

    /// The tree.
    pub fn tree(&self) -> &MemoryTree {
        &self.tree
    }

    fn range(&self, node: usize) -> Range<usize> {
        self.start[node] as usize..self.start[node + 1] as usize
    }

    /// The children of a node, those with most bytes first.
    pub fn children(&self, node: usize) -> &[u32] {
        &self.children[self.range(node)]
    }
}

/// The children of a node, as rows of a tree that is unfolded.
#[derive(Clone)]
pub struct ContentsRows {
    contents: Arc<ClosureContents>,
    node: usize,
}

impl ContentsRows {
    /// The children of a node; of the tree as a whole those of node 0.
    pub fn new(contents: Arc<ClosureContents>, node: usize) -> ContentsRows {
        ContentsRows { contents, node }
    }

    /// The node of a row.
    pub fn node(&self, at: u64) -> Option<usize> {
        self.contents.children(self.node).get(usize::try_from(at).ok()?).map(|&node| node as usize)
    }
}

impl RowList for ContentsRows {
    fn len(&self) -> u64 {
        self.contents.range(self.node).len() as u64
    }
}
