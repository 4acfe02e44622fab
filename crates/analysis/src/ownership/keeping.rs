//! The keepers of an object on a path: all objects that refer to it, the last step of the shortest path, or the owner.

use memory_city_heap::ownership::{Dominators, KeepGraph, ShortestPaths};
use memory_city_heap::{HeapState, ObjectId, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// One of several graphs over the objects of a heap state.
pub(crate) enum KeeperGraph<'a> {
    /// All referrers keep an object; a class is kept by its instances, too.
    All(&'a KeepGraph<'a>),
    /// The object before it on a shortest path from a root.
    Shortest(&'a KeepGraph<'a>, &'a ShortestPaths),
    /// The object that alone keeps it; where there is none, that before it on a shortest path.
    Owners(&'a KeepGraph<'a>, &'a Dominators, &'a ShortestPaths),
}

impl<'a> KeeperGraph<'a> {
    /// The graph behind it.
    pub fn graph(&self) -> &'a KeepGraph<'a> {
        match *self {
            KeeperGraph::All(graph) | KeeperGraph::Shortest(graph, _) | KeeperGraph::Owners(graph, ..) => graph,
        }
    }

    /// The heap state.
    pub fn heap(&self) -> &'a HeapState {
        self.graph().heap()
    }

    /// Whether each object has one keeper at most, and none is above itself.
    pub fn has_one_keeper_each(&self) -> bool {
        !matches!(self, KeeperGraph::All(_))
    }

    /// Calls `each` with the objects that keep an object; with some more than once. Without the instances that keep a
    /// class: see [`KeeperGraph::instances_keep`].
    #[inline]
    pub fn keepers(&self, o: ObjectId, mut each: impl FnMut(ObjectId)) {
        match self {
            KeeperGraph::All(graph) => graph.keepers(o, each),
            KeeperGraph::Shortest(_, shortest) => shortest.keeper(o).into_iter().for_each(each),
            KeeperGraph::Owners(_, owners, shortest) => {
                if let Some(keeper) = owners.owner(o).or_else(|| shortest.keeper(o)) {
                    each(keeper);
                }
            }
        }
    }

    /// The one that keeps an object, where each has one at most.
    pub fn keeper(&self, o: ObjectId) -> Option<ObjectId> {
        let mut by = None;
        self.keepers(o, |keeper| by = Some(keeper));
        by
    }

    /// Calls `each` with the objects that an object keeps; with some more than once.
    #[inline]
    pub fn kept(&self, o: ObjectId, mut each: impl FnMut(ObjectId)) {
        let heap = self.heap();
        let class = heap.mirror_of(heap.type_of(o));
        match self {
            KeeperGraph::All(graph) => {
                graph.kept(o, &mut each);
                class.into_iter().for_each(each);
            }
            KeeperGraph::Shortest(graph, shortest) => {
                graph.kept(o, |target| {
                    if shortest.keeper(target) == Some(o) {
                        each(target);
                    }
                });
                class.filter(|&class| shortest.keeper(class) == Some(o)).into_iter().for_each(each);
            }
            KeeperGraph::Owners(graph, owners, shortest) => {
                if !owners.is_reached(o) {
                    return;
                }
                owners.owned(Some(o)).for_each(&mut each);
                let mut by_path = |target: ObjectId| {
                    if owners.owner(target).is_none() && shortest.keeper(target) == Some(o) {
                        each(target);
                    }
                };
                graph.kept(o, &mut by_path);
                class.into_iter().for_each(by_path);
            }
        }
    }

    /// By type: its class object, if that is one of `classes` and kept by the instances. A class that a root holds, and one on a path that
    /// does not lead through an instance, needs none.
    pub fn instances_keep(&self, classes: impl Iterator<Item = ObjectId>) -> FxHashMap<TypeId, ObjectId> {
        let KeeperGraph::All(graph) = self else { return FxHashMap::default() };
        let free: FxHashSet<ObjectId> = classes.filter(|class| graph.roots().binary_search(class).is_err()).collect();
        if free.is_empty() {
            return FxHashMap::default();
        }
        let heap = graph.heap();
        let types = (0..heap.types().len() as u32).map(TypeId);
        types.filter_map(|t| Some((t, heap.mirror_of(t).filter(|class| free.contains(class))?))).collect()
    }
}

/// The types of a heap state's class objects.
pub(crate) struct ClassObjects(FxHashMap<ObjectId, TypeId>);

impl ClassObjects {
    pub fn new(heap: &HeapState) -> ClassObjects {
        let types = (0..heap.types().len() as u32).map(TypeId);
        ClassObjects(types.filter_map(|t| Some((heap.mirror_of(t)?, t))).collect())
    }

    #[inline]
    pub fn type_of(&self, o: ObjectId) -> Option<TypeId> {
        self.0.get(&o).copied()
    }
}
