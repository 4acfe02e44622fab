//! The owner of every object of a heap state, as a tree of names: the path of dominators from the root, merged by type.
//!
//! An object lies below the object that alone keeps it alive. On top stand classes (with their static fields below), threads (with the
//! methods whose variables hold something), and other roots. Insides of collections are counted with the collection (`folding`); an object
//! without a single owner lies below `shared by ...` (`shared`). Objects of one type in one place are one node, so the tree is small, and
//! its keys are names that other heap states have too.
//!
//! Costs about as much as the dominator tree, and 8 bytes an object while it is made, 4 afterwards.

use super::places::OwnerPlaces;
use super::placing;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, HeapState, ObjectId};
use std::sync::Arc;

/// A place in the tree of owners: objects of one type that the same places own.
#[derive(Clone, Debug)]
pub struct OwnerNode {
    /// The node above; the first node is its own.
    pub parent: u32,
    /// Its name below that.
    pub name: Arc<str>,
    /// The objects here, insides included.
    pub own: Amount,
    /// All objects here and below: the least amount that freeing these objects together frees.
    pub total: Amount,
    /// How many of the objects are no insides of others here: the collections, not their tables and entries.
    pub heads: u64,
    /// The one of them that retains most, and how many bytes; `None` where the node only names a root.
    pub largest: Option<(ObjectId, u64)>,
}

/// The owners of a heap state.
pub struct OwnerTree {
    pub(super) places: OwnerPlaces,
    /// By object: its node; 0 if unreachable.
    pub(super) of: Vec<u32>,
}

/// Deeper places are counted in the deepest ([`OwnerTree::too_deep`]): types nest so deep only in recursion that folding
/// does not see.
pub(super) const DEEPEST: u32 = 48;

impl OwnerTree {
    /// The owners of the objects of a heap state. `dominators` must be of the same state, and says by which rules.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(heap: &HeapState, dominators: &Dominators, progress: &Progress) -> Result<OwnerTree> {
        placing::place_all(heap, dominators, progress)
    }

    /// The nodes, parents before children; the first stands for the heap.
    pub fn nodes(&self) -> &[OwnerNode] {
        self.places.nodes()
    }

    /// The nodes without the objects.
    pub fn places(&self) -> &OwnerPlaces {
        &self.places
    }

    /// The same, of a tree that is needed no more.
    pub fn into_places(self) -> OwnerPlaces {
        self.places
    }

    /// The node of an object; 0 where no root reaches it.
    #[inline]
    pub fn of(&self, o: ObjectId) -> u32 {
        self.of[o.0 as usize]
    }

    /// How many objects lie deeper than places do, without their insides: they are counted with the deepest place above.
    pub fn too_deep(&self) -> u64 {
        self.places.too_deep()
    }

    /// See [`OwnerPlaces::path`].
    pub fn path(&self, node: u32) -> Vec<&Arc<str>> {
        self.places.path(node)
    }
}
