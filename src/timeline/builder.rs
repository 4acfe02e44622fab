//! Joins trees one at a time, so that a long series never holds them all.

use super::{Amount, TimePoint, Timeline};
use crate::group::MemoryTree;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A timeline under construction. Nodes are matched by role and name below the same parent.
#[derive(Clone, Default)]
pub struct TimelineBuilder {
    points: Vec<TimePoint>,
    parent: Vec<u32>,
    name: Vec<Arc<str>>,
    role: Vec<Arc<str>>,
    find: HashMap<(u32, Arc<str>, Arc<str>), u32>,
    /// By node: when its amount became another. It is 0 before the first.
    changes: Vec<Vec<(u32, Amount)>>,
    separators: Vec<(Arc<str>, &'static str)>,
    /// Nodes of the tree that [`TimelineBuilder::step`] knows.
    known: Vec<u32>,
}

/// The name of a node that shares its name, but not its role, with a sibling: a package `a.b` beside a class `a.b`.
pub(super) fn told_apart(name: &str, role: &str) -> String {
    format!("{name} ({role})")
}

impl TimelineBuilder {
    /// Adds the tree of the next point in time.
    pub fn add(&mut self, point: TimePoint, tree: &MemoryTree) {
        let ids = self.nodes_of(tree, Vec::with_capacity(tree.len()));
        // Nodes that share their place in the timeline add up.
        let mut column = vec![Amount::default(); self.parent.len()];
        for (n, &id) in ids.iter().enumerate() {
            column[id as usize] += tree.amount(n);
        }
        for (id, amount) in column.into_iter().enumerate() {
            self.note(id as u32, amount);
        }
        self.end_point(point, tree);
    }

    /// Adds the next point in time from what changed since the last call. The tree is always the same one, which only
    /// grows, without nodes that share their place; `changed` are the nodes whose amounts may be others now. Costs what
    /// changed.
    pub fn step(&mut self, point: TimePoint, tree: &MemoryTree, changed: &[u32]) {
        let known = std::mem::take(&mut self.known);
        self.known = self.nodes_of(tree, known);
        for &node in changed {
            self.note(self.known[node as usize], tree.amount(node as usize));
        }
        self.end_point(point, tree);
    }

    /// The nodes of a tree here; `ids` are those of its first nodes.
    fn nodes_of(&mut self, tree: &MemoryTree, mut ids: Vec<u32>) -> Vec<u32> {
        for n in ids.len()..tree.len() {
            ids.push(match tree.parent(n) {
                None => self.root(tree.name(n), tree.role(n)),
                Some(parent) => self.child(ids[parent], tree.role(n), tree.name(n)),
            });
        }
        ids
    }

    fn note(&mut self, id: u32, amount: Amount) {
        let t = self.points.len() as u32;
        let changes = &mut self.changes[id as usize];
        let before = changes.iter().rev().find(|c| c.0 < t).map(|c| c.1).unwrap_or_default();
        changes.pop_if(|last| last.0 == t);
        if amount != before {
            changes.push((t, amount));
        }
    }

    fn end_point(&mut self, point: TimePoint, tree: &MemoryTree) {
        for separator in tree.separators() {
            if !self.separators.contains(separator) {
                self.separators.push(separator.clone());
            }
        }
        self.points.push(point);
    }

    fn root(&mut self, name: &Arc<str>, role: &Arc<str>) -> u32 {
        if self.parent.is_empty() {
            self.parent.push(0);
            self.name.push(Arc::clone(name));
            self.role.push(Arc::clone(role));
            self.changes.push(Vec::new());
        }
        0
    }

    fn child(&mut self, parent: u32, role: &Arc<str>, name: &Arc<str>) -> u32 {
        let next = self.parent.len() as u32;
        let id = *self.find.entry((parent, Arc::clone(role), Arc::clone(name))).or_insert(next);
        if id == next {
            self.parent.push(parent);
            self.name.push(Arc::clone(name));
            self.role.push(Arc::clone(role));
            self.changes.push(Vec::new());
        }
        id
    }

    /// The timeline. Nodes are numbered level by level, by name within a parent: the same data gives the same numbers,
    /// whatever the order in which the trees listed them.
    pub fn finish(mut self) -> Timeline {
        let heap: Arc<str> = Arc::from("Heap");
        self.root(&heap, &heap);
        let n = self.parent.len();
        let mut children_of: Vec<Vec<u32>> = vec![Vec::new(); n];
        // A tree that follows changes also knows groups that came and went between two points in time.
        let fleeting = |i: usize| !self.known.is_empty() && self.changes[i].is_empty();
        for i in (1..n).filter(|&i| !fleeting(i)) {
            children_of[self.parent[i] as usize].push(i as u32);
        }
        self.join_chains(&mut children_of);
        self.tell_apart(&children_of);

        let mut order: Vec<u32> = vec![0];
        let mut parent = vec![0u32];
        let mut level = vec![0u32];
        let mut first_child = Vec::with_capacity(n + 1);
        let mut at = 0;
        while at < order.len() {
            first_child.push(order.len() as u32 - 1);
            let mut children = std::mem::take(&mut children_of[order[at] as usize]);
            children.sort_unstable_by(|&a, &b| self.name[a as usize].cmp(&self.name[b as usize]));
            for child in children {
                order.push(child);
                parent.push(at as u32);
                level.push(level[at] + 1);
            }
            at += 1;
        }
        first_child.push(order.len() as u32 - 1);
        let pick = |column: &[Arc<str>]| order.iter().map(|&i| Arc::clone(&column[i as usize])).collect();
        let mut first_change = Vec::with_capacity(order.len() + 1);
        let mut changes = Vec::with_capacity(self.changes.iter().map(Vec::len).sum());
        let mut max = vec![Amount::default(); order.len()];
        for (&i, m) in order.iter().zip(&mut max) {
            first_change.push(changes.len() as u32);
            for (t, amount) in std::mem::take(&mut self.changes[i as usize]) {
                m.objects = m.objects.max(amount.objects);
                m.bytes = m.bytes.max(amount.bytes);
                changes.push((t, amount));
            }
        }
        first_change.push(changes.len() as u32);
        let name: Vec<Arc<str>> = pick(&self.name);
        let mut seen: HashSet<Arc<str>> = HashSet::new();
        let leaves = (0..order.len()).filter(|&i| first_child[i] == first_child[i + 1]).map(|i| &name[i]);
        let shared_names = leaves.filter(|n| !seen.insert(Arc::clone(n))).cloned().collect();
        Timeline {
            points: self.points,
            // Breadth first, every node but the root is a child in numbering order.
            children: (1..order.len() as u32).map(super::NodeId).collect(),
            parent,
            level,
            name,
            role: pick(&self.role),
            first_child,
            first_change,
            changes,
            max,
            separators: self.separators,
            shared_names,
        }
    }

    /// Makes one node of a node with a single child of the same role, where that role is joined: `org`, `org.h2`.
    /// Decided on the nodes of all times together, so a name never changes over time.
    fn join_chains(&mut self, children_of: &mut [Vec<u32>]) {
        // Children come after their parents: backwards, a chain is joined from its end.
        for i in (1..self.parent.len()).rev() {
            let Some((_, separator)) = self.separators.iter().find(|(role, _)| *role == self.role[i]) else { continue };
            if let [only] = children_of[i][..]
                && self.role[only as usize] == self.role[i]
            {
                self.name[i] = Arc::from(format!("{}{separator}{}", self.name[i], self.name[only as usize]));
                children_of[i] = std::mem::take(&mut children_of[only as usize]);
            }
        }
    }

    fn tell_apart(&mut self, children_of: &[Vec<u32>]) {
        for children in children_of {
            let mut seen: HashSet<Arc<str>> = HashSet::with_capacity(children.len());
            let twice: HashSet<Arc<str>> = children
                .iter()
                .map(|&c| Arc::clone(&self.name[c as usize]))
                .filter(|name| !seen.insert(Arc::clone(name)))
                .collect();
            for &child in children.iter().filter(|_| !twice.is_empty()) {
                let i = child as usize;
                if twice.contains(&self.name[i]) {
                    self.name[i] = Arc::from(told_apart(&self.name[i], &self.role[i]));
                }
            }
        }
    }
}
