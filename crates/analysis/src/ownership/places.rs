//! The places of a tree of owners without the objects, for comparisons over time and for the cache of a dump.

use super::owner::OwnerNode;
use memory_city_heap::{Amount, ObjectId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The places of the owners of a heap state.
#[derive(Clone, Debug)]
pub struct OwnerPlaces {
    nodes: Vec<OwnerNode>,
    too_deep: u64,
}

impl OwnerPlaces {
    /// Places, parents before children; and how many objects lie deeper than places do.
    pub(super) fn new(nodes: Vec<OwnerNode>, too_deep: u64) -> OwnerPlaces {
        OwnerPlaces { nodes, too_deep }
    }

    /// The places, parents before children; the first stands for the heap.
    pub fn nodes(&self) -> &[OwnerNode] {
        &self.nodes
    }

    /// See [`super::OwnerTree::too_deep`].
    pub fn too_deep(&self) -> u64 {
        self.too_deep
    }

    /// The names from the top down to a node, without that of the heap.
    pub fn path(&self, node: u32) -> Vec<&Arc<str>> {
        let above = |&n: &u32| Some(self.nodes()[n as usize].parent).filter(|&p| p != 0);
        let mut names: Vec<&Arc<str>> = std::iter::successors(Some(node).filter(|&n| n != 0), above)
            .map(|n| &self.nodes()[n as usize].name)
            .collect();
        names.reverse();
        names
    }

    /// All that roots keep.
    pub fn total(&self) -> Amount {
        self.nodes.first().map(|heap| heap.total).unwrap_or_default()
    }
}

/// Places as they are written to the cache: each name once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredPlaces {
    nodes: Vec<StoredPlace>,
    names: Vec<String>,
    too_deep: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredPlace {
    parent: u32,
    name: u32,
    /// Objects and bytes of its own: totals follow.
    own: (u64, u64),
    heads: u64,
    largest: Option<(u32, u64)>,
}

impl StoredPlaces {
    /// The form to write.
    pub(crate) fn of(places: &OwnerPlaces) -> StoredPlaces {
        let (mut names, mut numbers) = (Vec::new(), FxHashMap::default());
        let mut number = |name: &Arc<str>| {
            *numbers.entry(Arc::clone(name)).or_insert_with(|| {
                names.push(name.to_string());
                names.len() as u32 - 1
            })
        };
        let stored = |node: &OwnerNode| StoredPlace {
            parent: node.parent,
            name: number(&node.name),
            own: (node.own.objects, node.own.bytes),
            heads: node.heads,
            largest: node.largest.map(|(o, bytes)| (o.0, bytes)),
        };
        let nodes = places.nodes.iter().map(stored).collect();
        StoredPlaces { nodes, names, too_deep: places.too_deep }
    }

    /// The places; `None` if the data is no tree.
    pub(crate) fn places(&self) -> Option<OwnerPlaces> {
        let names: Vec<Arc<str>> = self.names.iter().map(|name| name.as_str().into()).collect();
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for (at, stored) in self.nodes.iter().enumerate() {
            if stored.parent as usize >= at.max(1) {
                return None;
            }
            let own = Amount { objects: stored.own.0, bytes: stored.own.1 };
            let largest = stored.largest.map(|(o, bytes)| (ObjectId(o), bytes));
            let name = Arc::clone(names.get(stored.name as usize)?);
            nodes.push(OwnerNode { parent: stored.parent, name, own, total: own, heads: stored.heads, largest });
        }
        for at in (1..nodes.len()).rev() {
            let OwnerNode { total, parent, .. } = nodes[at];
            let above = &mut nodes[parent as usize].total;
            above.objects = above.objects.checked_add(total.objects)?;
            above.bytes = above.bytes.checked_add(total.bytes)?;
        }
        (!nodes.is_empty()).then_some(OwnerPlaces { nodes, too_deep: self.too_deep })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_read_as_they_were_written(
            nodes in prop::collection::vec((any::<u32>(), 0..5u8, 0..1000u64, any::<Option<u32>>()), 1..40),
            too_deep in any::<u64>(),
        ) {
            let amount = |n: u64| Amount { objects: n, bytes: 24 * n };
            let mut nodes: Vec<OwnerNode> = nodes
                .into_iter()
                .enumerate()
                .map(|(at, (parent, name, own, largest))| OwnerNode {
                    parent: parent % at.max(1) as u32,
                    name: format!("name {name}").into(),
                    own: amount(own),
                    total: amount(own),
                    heads: own / 2,
                    largest: largest.map(|o| (ObjectId(o), own)),
                })
                .collect();
            for at in (1..nodes.len()).rev() {
                let (total, parent) = (nodes[at].total, nodes[at].parent);
                nodes[parent as usize].total += total;
            }
            let places = OwnerPlaces::new(nodes, too_deep);
            let read = StoredPlaces::of(&places).places().expect("a tree");
            prop_assert_eq!(format!("{places:?}"), format!("{read:?}"));
        }

        /// The cache may have been written by anybody.
        #[test]
        fn what_is_no_tree_is_refused(
            nodes in prop::collection::vec((0..6u32, 0..6u32, any::<u64>()), 0..6),
            names in prop::collection::vec("[a-z]", 0..4),
        ) {
            let place = |&(parent, name, own): &(u32, u32, u64)| StoredPlace {
                parent,
                name,
                own: (own, own),
                heads: own,
                largest: None,
            };
            let stored = StoredPlaces { nodes: nodes.iter().map(place).collect(), names, too_deep: 0 };
            if let Some(places) = stored.places() {
                prop_assert!(places.nodes().iter().enumerate().all(|(at, node)| (node.parent as usize) < at.max(1)));
                prop_assert!(places.nodes().iter().all(|node| node.total.bytes <= places.total().bytes));
            }
        }
    }
}
