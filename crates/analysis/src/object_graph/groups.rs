//! The group of an object: the nodes of the timeline it is counted in, or its type if a filter leaves it out.

use crate::group::Grouped;
use crate::inspection::type_name;
use crate::timeline::references::nodes;
use crate::timeline::{NodeId, Timeline};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The common group of a box's objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum BoxGroup {
    /// They are counted in these nodes, ascending.
    Nodes(Box<[NodeId]>),
    /// They are in no group, and of this type.
    Type(Arc<str>),
    /// The objects of several groups: their number.
    Other(usize),
}

impl BoxGroup {
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            BoxGroup::Nodes(nodes) => nodes.to_vec(),
            _ => Vec::new(),
        }
    }

    pub fn others(&self) -> usize {
        match self {
            BoxGroup::Other(count) => *count,
            _ => 0,
        }
    }
}

/// Groups of objects, with their names.
#[derive(Clone)]
pub(super) struct ObjectNaming {
    timeline: Arc<Timeline>,
    grouped: Arc<Grouped>,
    /// By leaf of the tree: its node.
    place: Arc<[Option<NodeId>]>,
}

/// Objects between two checks of the clock.
const RUN: usize = 1 << 16;

impl ObjectNaming {
    pub fn new(timeline: Arc<Timeline>, grouped: Arc<Grouped>) -> ObjectNaming {
        let place = timeline.locate(&grouped.tree).into();
        ObjectNaming { timeline, grouped, place }
    }

    /// The group of an object; `None` of garbage that is not grouped.
    pub fn of(&self, heap: &HeapState, o: ObjectId) -> Option<BoxGroup> {
        let mut of: Vec<NodeId> = nodes(&self.place, self.grouped.leaves_of(heap, o)).map(NodeId).collect();
        if of.is_empty() {
            return heap.is_reachable(o).then(|| BoxGroup::Type(type_name(heap, o).into()));
        }
        of.sort_unstable();
        Some(BoxGroup::Nodes(of.into()))
    }

    pub fn name(&self, group: &BoxGroup) -> String {
        match group {
            BoxGroup::Nodes(nodes) => {
                let names: Vec<String> = nodes.iter().map(|&node| self.timeline.display_name(node)).collect();
                names.join(" and ")
            }
            BoxGroup::Type(name) => format!("{name} (in no group)"),
            BoxGroup::Other(1) => "1 other group".to_owned(),
            BoxGroup::Other(count) => format!("{count} other groups"),
        }
    }

    /// The objects of some nodes, by the nodes they are in; those of single nodes in the given order.
    pub fn selected(
        &self,
        heap: &HeapState,
        selected: &[NodeId],
        progress: &Progress,
    ) -> Result<Vec<(BoxGroup, Vec<ObjectId>)>> {
        // By leaf: which of the selected nodes it lies in.
        let within = |node: NodeId| {
            let found: Vec<usize> =
                (0..selected.len()).filter(|&i| self.timeline.is_within(node, selected[i])).collect();
            found
        };
        let of_leaf: Vec<Vec<usize>> = self.place.iter().map(|node| node.map_or(Vec::new(), within)).collect();
        let mut found: BTreeMap<Vec<usize>, Vec<ObjectId>> = BTreeMap::new();
        let mut of_object: Vec<usize> = Vec::new();
        for (i, o) in heap.objects().enumerate() {
            if i % RUN == 0 {
                progress.check()?;
                progress.advance(RUN as u64);
            }
            of_object.clear();
            for &leaf in self.grouped.leaves_of(heap, o) {
                of_object.extend(&of_leaf[leaf as usize]);
            }
            if of_object.is_empty() {
                continue;
            }
            of_object.sort_unstable();
            of_object.dedup();
            match found.get_mut(&of_object) {
                Some(objects) => objects.push(o),
                None => drop(found.insert(of_object.clone(), vec![o])),
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
        let group = |of: Vec<usize>| {
            let mut of: Vec<NodeId> = of.into_iter().map(|i| selected[i]).collect();
            of.sort_unstable();
            of.dedup();
            BoxGroup::Nodes(of.into())
        };
        Ok(found.into_iter().map(|(of, objects)| (group(of), objects)).collect())
    }
}
