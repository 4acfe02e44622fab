//! The owners of a group, ranked by what they keep of it.

use super::keeping::KeeperGraph;
use crate::group::Grouped;
use crate::timeline::NodeId;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, ObjectId};
use rustc_hash::FxHashMap;

/// A group of objects that keep objects of another group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedOwner {
    /// The group.
    pub node: NodeId,
    /// How many of its objects keep some; of those that keep each other, the topmost.
    pub objects: u64,
    /// What they keep of it, each object once.
    pub keeps: Amount,
    /// Steps up from the nearest object that any of the group's objects keeps.
    pub distance: u32,
}

/// An object on a way up.
struct OnWay {
    /// What is below it, itself included.
    below: Amount,
    /// Whether it is of the group.
    is_member: bool,
    /// Steps down to the nearest object of the group that is not itself.
    distance: u32,
    keeper: Option<ObjectId>,
    /// Those that it keeps directly, and that are not done.
    waits: u32,
}

impl Default for OnWay {
    fn default() -> Self {
        OnWay { below: Amount::default(), is_member: false, distance: u32::MAX, keeper: None, waits: 0 }
    }
}

/// Objects looked at between two looks at whether somebody wants the work to end.
const CHECKED: usize = 1 << 16;

/// The groups that keep objects of a group, those that keep most first, of equals the nearer ones. `keeping` has one keeper for
/// each object, and no object is above itself. Time and memory follow what is on the ways up.
///
/// # Errors
/// When cancelled.
pub(super) fn ranked_owners(
    keeping: &KeeperGraph<'_>,
    grouped: &Grouped,
    place: &[Option<NodeId>],
    group: &[ObjectId],
    by_bytes: bool,
    progress: &Progress,
) -> Result<Vec<RankedOwner>> {
    let heap = keeping.heap();
    let keeper = |o: ObjectId| {
        let mut by = None;
        keeping.keepers(o, |keeper| by = Some(keeper));
        by
    };
    let mut ways: FxHashMap<ObjectId, OnWay> = FxHashMap::default();
    for (n, &o) in group.iter().enumerate() {
        if n.is_multiple_of(CHECKED) {
            progress.check()?;
        }
        let mut at = o;
        let mut new = !ways.contains_key(&at);
        let way = ways.entry(at).or_default();
        way.below += Amount { objects: 1, bytes: heap.size_of(o) };
        way.is_member = true;
        while new {
            let Some(up) = keeper(at) else { break };
            ways.entry(at).or_default().keeper = Some(up);
            new = !ways.contains_key(&up);
            ways.entry(up).or_default().waits += 1;
            at = up;
        }
    }
    // From below upwards: amounts. Then the same order backwards: what is above each, by group.
    let mut order: Vec<ObjectId> = ways.iter().filter(|(_, way)| way.waits == 0).map(|(&o, _)| o).collect();
    order.sort_unstable();
    let mut at = 0;
    while let Some(&o) = order.get(at) {
        at += 1;
        if at.is_multiple_of(CHECKED) {
            progress.check()?;
        }
        let way = &ways[&o];
        let (amount, distance, up) = (way.below, if way.is_member { 0 } else { way.distance }, way.keeper);
        if let Some(above) = up.and_then(|up| ways.get_mut(&up)) {
            above.below += amount;
            above.distance = above.distance.min(distance.saturating_add(1));
            above.waits -= 1;
            if above.waits == 0 {
                order.extend(up);
            }
        }
    }
    // What an object owns by itself is no owner of its own: of members only what is below them counts.
    let mut found: FxHashMap<NodeId, RankedOwner> = FxHashMap::default();
    let mut below: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
    let mut tops = Vec::new();
    for &o in &order {
        match ways[&o].keeper {
            Some(up) => below.entry(up).or_default().push(o),
            None => tops.push(o),
        }
    }
    let nodes_of = |o: ObjectId| grouped.leaves_of(heap, o).iter().filter_map(|&leaf| place[leaf as usize]);
    let mut open_nodes: FxHashMap<NodeId, u32> = FxHashMap::default();
    let mut stack: Vec<(ObjectId, bool)> = tops.into_iter().map(|o| (o, false)).collect();
    let mut steps = 0usize;
    while let Some((o, left)) = stack.pop() {
        steps += 1;
        if steps.is_multiple_of(CHECKED) {
            progress.check()?;
        }
        if left {
            nodes_of(o).for_each(|node| {
                if let Some(open) = open_nodes.get_mut(&node) {
                    *open -= 1;
                }
            });
            continue;
        }
        let way = &ways[&o];
        let mut keeps = way.below;
        if way.is_member {
            keeps.objects -= 1;
            keeps.bytes -= heap.size_of(o);
        }
        for node in nodes_of(o) {
            let open = open_nodes.entry(node).or_default();
            *open += 1;
            if keeps.objects == 0 {
                continue;
            }
            let new = RankedOwner { node, objects: 0, keeps: Amount::default(), distance: u32::MAX };
            let owner = found.entry(node).or_insert(new);
            owner.distance = owner.distance.min(way.distance);
            if *open == 1 {
                owner.objects += 1;
                owner.keeps += keeps;
            }
        }
        stack.push((o, true));
        stack.extend(below.get(&o).into_iter().flatten().map(|&o| (o, false)));
    }
    let mut owners: Vec<RankedOwner> = found.into_values().collect();
    let weight = |amount: Amount| amount.measured(by_bytes);
    owners.sort_by_key(|owner| (std::cmp::Reverse(weight(owner.keeps)), owner.distance, owner.node));
    Ok(owners)
}
