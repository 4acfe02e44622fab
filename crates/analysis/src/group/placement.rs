//! The places of objects in the tree of a grouping.

use super::classifier::Classifier;
use super::object::ObjectView;
use super::tree::{MemoryTree, own_name};
use super::values::ObjectValues;
use memory_city_heap::error::{Error, Result};
use std::sync::Arc;

/// A list of classifiers, ready for a run, and the tree it makes. Transformers at its end are left to others.
pub(crate) struct Placement {
    /// The tree; grows as objects are placed.
    pub tree: MemoryTree,
    classifiers: Vec<Arc<dyn Classifier>>,
    /// The role of each classifier's nodes, as a symbol of the tree.
    roles: Vec<u32>,
    values: ObjectValues,
    /// True if objects that end in a group with subgroups get a group of their own there.
    own: bool,
    own_name: String,
}

impl Placement {
    /// An empty tree.
    pub fn new(classifiers: &[Arc<dyn Classifier>]) -> Self {
        let last = classifiers.last().map(|c| c.meta());
        let classifiers: Vec<_> = classifiers.iter().filter(|c| c.transform().is_none()).cloned().collect();
        let mut tree = MemoryTree::new();
        let mut roles = Vec::with_capacity(classifiers.len());
        for meta in classifiers.iter().map(|c| c.meta()) {
            if let Some(separator) = meta.separator {
                tree.join_chains(&(&*meta.name).into(), separator);
            }
            roles.push(tree.symbol(&meta.name));
        }
        // What comes after it divides them anyway.
        let own = last.filter(|meta| meta.own_groups);
        own.into_iter().for_each(|meta| tree.have_own(&(&*meta.name).into()));
        let own = own.is_some();
        Placement { tree, classifiers, roles, values: ObjectValues::default(), own, own_name: String::new() }
    }

    /// The classifiers.
    pub fn classifiers(&self) -> &[Arc<dyn Classifier>] {
        &self.classifiers
    }

    /// The error that a classifier has reported so far, if any.
    ///
    /// # Errors
    /// That.
    pub fn check(&self) -> Result<()> {
        self.classifiers.iter().find_map(|c| c.failure()).map_or(Ok(()), |error: Error| Err(error))
    }

    /// The nodes an object ends up in, ascending: one, unless a classifier gave several values or none. Counts nothing.
    pub fn place(&mut self, object: &ObjectView<'_>) -> Box<[u32]> {
        let (mut ends, mut next) = (vec![0], Vec::new());
        for level in 0..self.classifiers.len() {
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
        // What nothing was left of needs no further answers: a filter has said no.
        if ends.is_empty() {
            return;
        }
        let classifier = &*self.classifiers[level];
        self.values.clear();
        classifier.classify(&object.for_reader(classifier.meta().reads), &mut self.values);
        let (tree, role) = (&mut self.tree, self.roles[level]);
        let own = self.own && level + 1 == self.classifiers.len();
        for &end in ends {
            next.extend(self.values.chains().map(|chain| {
                let below = |(at, _), name| (tree.child_of(at, role, name), Some(name));
                match chain.fold((end, None), below) {
                    (at, Some(last)) if own => {
                        own_name(last, &mut self.own_name);
                        tree.child_of(at, role, &self.own_name)
                    }
                    (at, _) => at,
                }
            }));
        }
    }
}
