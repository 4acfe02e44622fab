//! The walk from a group to its root: one stop for each group on the chain of owners.

use memory_city_analysis::ownership::chain::GroupOwners;
use memory_city_analysis::timeline::NodeId;
use memory_city_heap::Amount;

/// Input of the search for owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerQuestion {
    /// The point in time.
    pub time: usize,
    /// The groups, as one group.
    pub nodes: Vec<NodeId>,
    /// Whether bytes weigh, not objects.
    pub by_bytes: bool,
}

/// A group on the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkStop {
    /// The group; of the first stop, perhaps several.
    pub nodes: Vec<NodeId>,
    /// Objects and fields that lead there, from below upwards; empty for the group where the walk began.
    pub by: Vec<String>,
    /// The amount of that group that it keeps.
    pub keeps: Amount,
}

/// A walk from a group to a root.
#[derive(Clone, Debug)]
pub struct OwnerWalk {
    /// The groups, the one where it began first.
    pub stops: Vec<WalkStop>,
    /// Index of the current stop.
    pub at: usize,
    /// Whether the root was reached.
    pub ended: bool,
    /// The root, or why the way ends.
    pub end: String,
    /// Amount of the objects that the walk is about.
    pub about: Amount,
    /// Whether these are only the new objects since the first point in time.
    pub only_new: bool,
    /// See [`OwnerChain::by_place`].
    pub by_place: bool,
    /// Start of the walk.
    pub question: OwnerQuestion,
}

impl OwnerWalk {
    /// The walk along a chain of owners.
    pub fn new(question: &OwnerQuestion, found: &GroupOwners) -> OwnerWalk {
        let chain = &found.chain;
        let first = WalkStop { nodes: question.nodes.clone(), by: Vec::new(), keeps: chain.about };
        let mut stops = vec![first];
        for step in &chain.steps {
            let dot = if step.field.is_empty() || step.field.starts_with('[') { "" } else { "." };
            let by = format!("{}{dot}{}", step.of, step.field);
            let last = stops.last_mut().filter(|stop| step.node.is_none_or(|node| stop.nodes == [node]));
            match (last, step.node) {
                // More of the same group, or what is in none: part of the stop below.
                (Some(stop), _) => stop.by.push(by),
                (None, Some(node)) => stops.push(WalkStop { nodes: vec![node], by: vec![by], keeps: step.keeps }),
                (None, None) => {}
            }
        }
        OwnerWalk {
            stops,
            at: 0,
            ended: false,
            end: chain.end.clone(),
            about: chain.about,
            only_new: chain.only_new,
            by_place: chain.by_place,
            question: question.clone(),
        }
    }

    /// The stop where exactly these groups are, the nearest to where the walk is.
    pub fn stop_of(&self, nodes: &[NodeId]) -> Option<usize> {
        let all = self.stops.iter().enumerate().filter(|(_, stop)| stop.nodes == nodes);
        all.map(|(at, _)| at).min_by_key(|at| at.abs_diff(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::ownership::chain::{OwnerChain, OwnerStep};

    fn step(node: Option<u32>, of: &str, field: &str) -> OwnerStep {
        OwnerStep {
            node: node.map(NodeId),
            of: of.into(),
            field: field.into(),
            by_several_ways: false,
            objects: 1,
            holds: 1,
            keeps: Amount { objects: 7, bytes: 70 },
        }
    }

    #[test]
    fn a_walk_stops_at_each_group_once_in_a_row() {
        let chain = OwnerChain {
            about: Amount { objects: 7, bytes: 70 },
            only_new: true,
            by_place: false,
            steps: vec![
                step(Some(5), "Node", "item"),
                step(Some(5), "Node", "next"),
                step(None, "Unfiltered", "x"),
                step(Some(6), "List", "first"),
                step(Some(5), "Node", "up"),
            ],
            roots: Vec::new(),
            end: "here: held by a root".into(),
        };
        let question = OwnerQuestion { time: 0, nodes: vec![NodeId(3)], by_bytes: false };
        let walk = OwnerWalk::new(&question, &GroupOwners { chain, owners: Vec::new(), by_bytes: false });
        let stops: Vec<(u32, usize)> = walk.stops.iter().map(|stop| (stop.nodes[0].0, stop.by.len())).collect();
        assert_eq!(stops, [(3, 0), (5, 3), (6, 1), (5, 1)]);
        assert_eq!(walk.stops[1].by, ["Node.item", "Node.next", "Unfiltered.x"]);
        let at = |at: usize| OwnerWalk { at, ..walk.clone() }.stop_of(&[NodeId(5)]);
        assert_eq!((at(0), at(2), at(3)), (Some(1), Some(1), Some(3)), "the nearest of two");
        assert_eq!(walk.stop_of(&[NodeId(9)]), None);
    }
}
