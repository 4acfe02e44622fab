//! How structures grow from one time to another.
//!
//! Of a place with several structures, as many are followed as it has at both times, each the average of its time. The others are new, or
//! gone.

use super::followed::{FollowedHeads, FollowedKey, FollowedSums};
use memory_city_heap::Amount;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{GroupClosures, KeepRules, ObjectGroups};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{StructureClosure, StructureRules};
use memory_city_heap::{HeapState, ObjectId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A structure, or those of a place, at two times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StructureGrowth {
    pub key: FollowedKey,
    /// How many there are at each time.
    pub structures: [u64; 2],
    /// What the followed ones alone keep.
    pub retained: [Amount; 2],
    /// See [`FollowedSums::own`].
    pub own: [Amount; 2],
    pub elements: [Option<u64>; 2],
    pub is_whole: bool,
    /// The change of the retained bytes without those of followed structures inside: where growth is at home.
    pub at_home: i64,
}

/// Structures that are at one of the times only: how many, and what they alone keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StructuresApart {
    pub structures: u64,
    pub bytes: u64,
}

impl StructureGrowth {
    /// A number of all structures at a time, for those that are followed.
    pub fn followed(&self, time: usize, of_all: u64) -> u64 {
        part(of_all, self.structures[0].min(self.structures[1]), self.structures[time])
    }

    /// The same for objects and bytes.
    pub fn followed_amount(&self, time: usize, of_all: Amount) -> Amount {
        Amount { objects: self.followed(time, of_all.objects), bytes: self.followed(time, of_all.bytes) }
    }
}

/// `n` times `some` of `all`.
fn part(n: u64, some: u64, all: u64) -> u64 {
    if some == all {
        return n;
    }
    u64::try_from(u128::from(n) * u128::from(some) / u128::from(all.max(1))).unwrap_or(u64::MAX)
}

/// The growth of all structures that are at both times, by key.
pub(crate) fn growths(times: [&FollowedHeads; 2]) -> Vec<StructureGrowth> {
    let mut all: Vec<StructureGrowth> = times[0]
        .sums
        .iter()
        .filter_map(|(&key, before)| {
            let sums = [before, times[1].sums.get(&key)?];
            let mut growth = StructureGrowth {
                key,
                structures: sums.map(|sums| sums.structures),
                retained: Default::default(),
                own: Default::default(),
                elements: Default::default(),
                is_whole: sums.iter().all(|sums| sums.is_whole),
                at_home: 0,
            };
            for (time, sums) in sums.into_iter().enumerate() {
                growth.retained[time] = growth.followed_amount(time, sums.retained);
                growth.own[time] = growth.followed_amount(time, sums.own);
                growth.elements[time] = sums.elements.map(|n| growth.followed(time, n));
            }
            growth.at_home = change(growth.retained.map(|retained| retained.bytes));
            Some(growth)
        })
        .collect();
    all.sort_unstable_by_key(|growth| growth.key);
    let at = |key: FollowedKey| all.binary_search_by_key(&key, |growth| growth.key).ok();
    let mut inside: Vec<(usize, i64)> = Vec::new();
    for (time, sign) in [(0, 1), (1, -1)] {
        for (&(outer, inner), amount) in &times[time].inside {
            if let Some((outer, inner)) = at(outer).zip(at(inner)) {
                let followed = [outer, inner].map(|at| all[at].followed(time, amount.bytes));
                let followed = followed[0].min(followed[1]);
                inside.push((outer, sign * i64::try_from(followed).unwrap_or(i64::MAX)));
            }
        }
    }
    for (outer, bytes) in inside {
        all[outer].at_home = all[outer].at_home.saturating_add(bytes);
    }
    all
}

/// The structures of one of the times that the other one does not have, by key; those inside others of them count with these.
pub(crate) fn apart(here: &FollowedHeads, there: &FollowedHeads) -> FxHashMap<FollowedKey, StructuresApart> {
    let surplus = |key: &FollowedKey, of: &FollowedSums, n: u64| {
        let others = there.sums.get(key).map_or(0, |other| other.structures.min(of.structures));
        part(n, of.structures - others, of.structures)
    };
    let mut all: FxHashMap<FollowedKey, StructuresApart> = FxHashMap::default();
    for (key, of) in &here.sums {
        let structures = surplus(key, of, of.structures);
        if structures > 0 {
            all.insert(*key, StructuresApart { structures, bytes: surplus(key, of, of.retained.bytes) });
        }
    }
    for ((outer, inner), amount) in &here.inside {
        if let (Some(outside), Some(of)) = (here.sums.get(outer), here.sums.get(inner))
            && all.contains_key(outer)
            && let Some(found) = all.get_mut(inner)
        {
            let twice = surplus(outer, outside, surplus(inner, of, amount.bytes));
            found.bytes = found.bytes.saturating_sub(twice);
        }
    }
    all
}

/// The second of two numbers minus the first.
pub(crate) fn change([before, after]: [u64; 2]) -> i64 {
    crate::timeline::change(before, after)
}

/// The sizes that take a walk for each structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StructureSizes {
    /// Heads, parts and leaves.
    pub structure: Amount,
    /// The same with the structures inside.
    pub deep_structure: Amount,
    /// All that is reached from them.
    pub deep: Amount,
}

/// The sizes of structures, some heads each; what they have in common counts once.
///
/// # Errors
/// When cancelled.
pub(crate) fn sizes(
    heap: &HeapState,
    rules: &StructureRules<'_>,
    keep: KeepRules,
    wanted: &[Vec<ObjectId>],
    progress: &Progress,
) -> Result<Vec<StructureSizes>> {
    let mut of_object: FxHashMap<ObjectId, Vec<u32>> = FxHashMap::default();
    for (group, heads) in (0..).zip(wanted) {
        heads.iter().for_each(|&head| of_object.entry(head).or_default().push(group));
    }
    let mut lists: Vec<Box<[u32]>> = vec![Box::new([])];
    let mut place: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut of = vec![0; heap.object_count()];
    for (head, groups) in of_object {
        of[head.0 as usize] = *place.entry(groups).or_insert_with_key(|groups| {
            lists.push(groups.as_slice().into());
            lists.len() as u32 - 1
        });
    }
    let groups = Arc::new(ObjectGroups::new(of, lists, wanted.len()));
    let numbers: Vec<u32> = (0..wanted.len() as u32).collect();
    let amounts = GroupClosures::new(heap, keep, groups).deep_and_retained(&numbers, progress)?;
    wanted
        .iter()
        .zip(amounts)
        .map(|(heads, amounts)| {
            let of = |is_deep| StructureClosure::new(heap, rules, heads, is_deep, progress);
            Ok(StructureSizes { structure: of(false)?.amount, deep_structure: of(true)?.amount, deep: amounts.deep })
        })
        .collect()
}
