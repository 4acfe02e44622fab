//! Where objects belong in the tree of a grouping.

use super::{Grouping, MemoryTree, ObjectValues, ObjectView};

/// A grouping and the tree it makes.
pub(crate) struct Placement<'g> {
    /// The tree; grows as objects are placed.
    pub tree: MemoryTree,
    grouping: &'g Grouping,
    /// The role of each classifier's nodes, as a symbol of the tree.
    roles: Vec<u32>,
    values: ObjectValues,
}

impl<'g> Placement<'g> {
    /// An empty tree.
    pub fn new(grouping: &'g Grouping) -> Self {
        let mut tree = MemoryTree::new();
        let mut roles = Vec::with_capacity(grouping.classifiers.len());
        for meta in grouping.classifiers.iter().map(|c| c.meta()) {
            if let Some(separator) = meta.separator {
                tree.join_chains(&(&*meta.name).into(), separator);
            }
            roles.push(tree.symbol(&meta.name));
        }
        Placement { tree, grouping, roles, values: ObjectValues::default() }
    }

    /// The nodes an object ends up in, ascending: one, unless a classifier gave several values or none. Counts nothing.
    pub fn place(&mut self, object: &ObjectView<'_>) -> Box<[u32]> {
        let (mut ends, mut next) = (vec![0], Vec::new());
        for level in 0..self.grouping.classifiers.len() {
            next.clear();
            self.below(level, object, &ends, &mut next);
            std::mem::swap(&mut ends, &mut next);
        }
        ends.sort_unstable();
        ends.dedup();
        ends.into()
    }

    /// Lists where an object goes by one classifier, from each of the nodes it is in by those before.
    #[inline]
    pub fn below(&mut self, level: usize, object: &ObjectView<'_>, ends: &[u32], next: &mut Vec<u32>) {
        let classifier = &*self.grouping.classifiers[level];
        self.values.clear();
        classifier.classify(&object.for_reader(classifier.meta().reads), &mut self.values);
        let (tree, role) = (&mut self.tree, self.roles[level]);
        for &end in ends {
            next.extend(self.values.chains().map(|chain| chain.fold(end, |at, name| tree.child_of(at, role, name))));
        }
    }
}
