//! The owners of a group, ranked by the part of it that they keep.

use super::keeping::KeeperGraph;
use super::upward_paths::{CHECKED, UpwardPaths};
use crate::group::Grouped;
use crate::timeline::NodeId;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, ObjectId};
use rustc_hash::FxHashMap;

/// A group of objects that keep objects of another group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedOwner {
    /// The group.
    pub node: NodeId,
    /// How many of its objects keep some; of those that keep each other, the topmost.
    pub objects: u64,
    /// The part that they keep, each object once.
    pub keeps: Amount,
    /// Steps up from the nearest object that any of the group's objects keeps.
    pub distance: u32,
}

/// The groups that keep objects of a group, the largest part first, nearer ones first among equals. `keeping` has one keeper for each
/// object, and no object is above itself. Linear in the objects on the paths up.
///
/// # Errors
/// When cancelled.
pub(super) fn ranked_owners(
    keeping: &KeeperGraph<'_>,
    grouped: &Grouped,
    place: &[Option<NodeId>],
    group: &BitSet,
    by_bytes: bool,
    progress: &Progress,
) -> Result<Vec<RankedOwner>> {
    let heap = keeping.heap();
    let ways = UpwardPaths::new(keeping, group, progress)?;
    let below = ways.amounts(heap, group);
    let mut distances = vec![u32::MAX; below.len()];
    for (place, &o) in ways.objects().iter().enumerate().rev() {
        if let Some(keeper) = ways.keeper(place) {
            let own = if group.contains(o.0) { 0 } else { distances[place] };
            distances[keeper] = distances[keeper].min(own.saturating_add(1));
        }
    }
    let nodes_of = |o: ObjectId| grouped.leaves_of(heap, o).iter().filter_map(|&leaf| place[leaf as usize]);
    let nodes = place.iter().flatten().map(|node| node.index() + 1).max().unwrap_or(0);
    let mut found: FxHashMap<NodeId, RankedOwner> = FxHashMap::default();
    // The way from the top to where we are, and how many objects of each group are on it.
    let mut way: Vec<usize> = Vec::new();
    let mut on_way = vec![0u32; nodes];
    for (at, &o) in ways.objects().iter().enumerate() {
        if at.is_multiple_of(CHECKED) {
            progress.check()?;
        }
        while let Some(left) = way.pop_if(|last| Some(*last) != ways.keeper(at)) {
            nodes_of(ways.objects()[left]).for_each(|node| on_way[node.index()] -= 1);
        }
        way.push(at);
        // What an object owns by itself is no owner of its own: of members only what is below them counts.
        let mut keeps = below[at];
        if group.contains(o.0) {
            keeps.objects -= 1;
            keeps.bytes -= heap.size_of(o);
        }
        for node in nodes_of(o) {
            on_way[node.index()] += 1;
            if keeps.objects == 0 {
                continue;
            }
            let new = RankedOwner { node, objects: 0, keeps: Amount::default(), distance: u32::MAX };
            let owner = found.entry(node).or_insert(new);
            owner.distance = owner.distance.min(distances[at]);
            if on_way[node.index()] == 1 {
                owner.objects += 1;
                owner.keeps += keeps;
            }
        }
    }
    let mut owners: Vec<RankedOwner> = found.into_values().collect();
    let weight = |amount: Amount| amount.measured(by_bytes);
    owners.sort_by_key(|owner| (std::cmp::Reverse(weight(owner.keeps)), owner.distance, owner.node));
    Ok(owners)
}
