//! Where objects belong in the tree of a grouping.

use super::{Grouping, MemoryTree, Values};
use memory_city_heap::Facts;
use std::sync::Arc;

/// A grouping and the tree it makes.
pub struct Placement<'g> {
    /// The tree; grows as objects are placed.
    pub tree: MemoryTree,
    grouping: &'g Grouping,
    roles: Vec<Arc<str>>,
}

impl<'g> Placement<'g> {
    /// An empty tree.
    pub fn new(grouping: &'g Grouping) -> Self {
        let mut tree = MemoryTree::new();
        let roles: Vec<Arc<str>> = grouping.classifiers.iter().map(|c| Arc::from(c.meta().name)).collect();
        for (classifier, role) in grouping.classifiers.iter().zip(&roles) {
            if let Some(separator) = classifier.meta().separator {
                tree.join_chains(role, separator);
            }
        }
        Placement { tree, grouping, roles }
    }

    /// The grouping.
    pub fn grouping(&self) -> &'g Grouping {
        self.grouping
    }

    /// The nodes an object ends up in: one, unless a classifier gave several values. Counts nothing.
    pub fn place(&mut self, facts: &Facts<'_>) -> Box<[u32]> {
        let mut ends = vec![0];
        for (classifier, role) in self.grouping.classifiers.iter().zip(&self.roles) {
            let values = classifier.classify(facts);
            let tree = &mut self.tree;
            let mut next = Vec::with_capacity(ends.len());
            for end in ends {
                match &values {
                    Values::One(value) => next.push(tree.child(end, role, value)),
                    Values::Many(values) => next.extend(values.iter().map(|v| tree.child(end, role, v))),
                    Values::Chain(values) => next.push(values.iter().fold(end, |at, v| tree.child(at, role, v))),
                }
            }
            ends = next;
        }
        ends.sort_unstable();
        ends.dedup();
        ends.into_iter().map(|e| e as u32).collect()
    }
}
