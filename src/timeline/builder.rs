//! Joins trees one at a time, so that a long series never holds them all.

use super::{Amount, TimePoint, Timeline};
use crate::group::MemoryTree;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A timeline under construction. Nodes are matched by role and name below the same parent.
#[derive(Default)]
pub struct TimelineBuilder {
    points: Vec<TimePoint>,
    parent: Vec<u32>,
    name: Vec<Arc<str>>,
    role: Vec<Arc<str>>,
    find: HashMap<(u32, Arc<str>, Arc<str>), u32>,
    amounts: Vec<Vec<Amount>>,
    separators: Vec<(Arc<str>, &'static str)>,
}

/// The name of a node that shares its name, but not its role, with a sibling: a package `a.b` beside a class `a.b`.
pub(super) fn told_apart(name: &str, role: &str) -> String {
    format!("{name} ({role})")
}

impl TimelineBuilder {
    /// Adds the tree of the next point in time.
    pub fn add(&mut self, point: TimePoint, tree: &MemoryTree) {
        let mut ids: Vec<u32> = Vec::with_capacity(tree.len());
        let mut column = vec![Amount::default(); self.parent.len().max(1)];
        for n in 0..tree.len() {
            let id = match tree.parent(n) {
                None => self.root(tree.name(n), tree.role(n)),
                Some(parent) => self.child(ids[parent], tree.role(n), tree.name(n)),
            };
            column.resize(self.parent.len(), Amount::default());
            column[id as usize] += tree.amount(n);
            ids.push(id);
        }
        for separator in tree.separators() {
            if !self.separators.contains(separator) {
                self.separators.push(separator.clone());
            }
        }
        self.points.push(point);
        self.amounts.push(column);
    }

    fn root(&mut self, name: &Arc<str>, role: &Arc<str>) -> u32 {
        if self.parent.is_empty() {
            self.parent.push(0);
            self.name.push(Arc::clone(name));
            self.role.push(Arc::clone(role));
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
        for i in 1..n {
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
        let of_order = |column: &Vec<Amount>| {
            order.iter().map(|&i| column.get(i as usize).copied().unwrap_or_default()).collect::<Vec<_>>()
        };
        let amounts: Vec<Vec<Amount>> = self.amounts.iter().map(of_order).collect();
        let mut max = vec![Amount::default(); order.len()];
        for column in &amounts {
            for (m, a) in max.iter_mut().zip(column) {
                m.objects = m.objects.max(a.objects);
                m.bytes = m.bytes.max(a.bytes);
            }
        }
        Timeline {
            points: self.points,
            // Breadth first, every node but the root is a child in numbering order.
            children: (1..order.len() as u32).map(super::NodeId).collect(),
            parent,
            level,
            name: pick(&self.name),
            role: pick(&self.role),
            first_child,
            amounts,
            max,
            separators: self.separators,
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
