//! Matching of a group's objects between two points in time.
//!
//! Traces know the identity of objects: the recording counts them by creation data and birth, and an object born earlier that still exists
//! later is the same. Walks of a recording that follows all objects have a number for each; an object without one was created during the
//! walk. Dumps have no identity. As many objects as a group has at both times are matched by its name, though they may be others, and only
//! the surplus of one time is certainly unmatched.

use super::history::History;
use super::key::NodeId;
use super::nodes::Timeline;
use crate::group::{Grouped, Grouping, GroupingRun, ObjectView, Placement, Reads};
use memory_city_formats::Recording;
use memory_city_formats::replay::CohortKey;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Objects of a group at two times. Those at the first are only there, matched or unclear; likewise those at the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupMatch {
    /// Objects that are in the group at the first of the times alone.
    pub only_base: u64,
    /// Objects that are in it at the second alone.
    pub only_time: u64,
    /// Objects that are in it at both.
    pub matched: u64,
    /// Objects at either time that may be in the group at both, or may have moved between groups: the recording cannot tell. For walks:
    /// objects without a number at the earlier time, which may be among the new ones.
    pub unclear: u64,
}

impl GroupMatch {
    /// A match of counts alone: any of the objects at one time may be any of the other.
    pub(crate) fn by_count(base: u64, time: u64) -> GroupMatch {
        let matched = base.min(time);
        GroupMatch { only_base: base - matched, only_time: time - matched, matched, unclear: 0 }
    }

    /// As [`GroupMatch::by_count`], for objects that need not be the same at both times.
    fn unclear(base: u64, time: u64) -> GroupMatch {
        let by_count = GroupMatch::by_count(base, time);
        GroupMatch { matched: 0, unclear: by_count.matched, ..by_count }
    }

    /// Both together.
    pub(crate) fn add(&mut self, other: GroupMatch) {
        self.only_base += other.only_base;
        self.only_time += other.only_time;
        self.matched += other.matched;
        self.unclear += other.unclear;
    }
}

/// The objects of all groups at two times.
pub(crate) struct TimeMatch {
    /// By node, for leaves.
    pub by_node: Vec<GroupMatch>,
    /// The match of all objects, whatever their groups.
    pub all: GroupMatch,
}

impl TimeMatch {
    fn new(nodes: usize) -> TimeMatch {
        TimeMatch { by_node: vec![GroupMatch::default(); nodes], all: GroupMatch::default() }
    }

    /// By the names of groups alone.
    pub(crate) fn by_count(timeline: &Timeline, base: usize, time: usize) -> TimeMatch {
        let mut found = TimeMatch::new(timeline.len());
        for node in timeline.nodes().filter(|&node| timeline.is_leaf(node)) {
            let objects = |t| timeline.amount(t, node).objects;
            found.by_node[node.index()] = GroupMatch::by_count(objects(base), objects(time));
            found.all.add(found.by_node[node.index()]);
        }
        found
    }
}

impl History {
    /// Matches the objects of two times under the grouping of this history.
    ///
    /// # Errors
    /// When a state is needed and cannot be loaded again, or the work was cancelled.
    pub(crate) fn match_groups(&self, base: usize, time: usize, progress: &Progress) -> Result<TimeMatch> {
        let timeline = self.timeline();
        if !self.knows_identity(base, time) {
            return Ok(TimeMatch::by_count(timeline, base, time));
        }
        if self.is_recorded() && !self.grouping().reads().by_object() {
            return self.match_recorded(self.grouping(), timeline, base, time, progress);
        }
        let found = |time: usize| {
            let (heap, grouped) = self.grouped(time, progress)?;
            Ok(identities_in(&heap, &grouped, timeline))
        };
        Ok(match_identities(&found(base)?, &found(time)?, base.cmp(&time), timeline.len()))
    }

    /// The same under a grouping that `timeline` is grouped by, of walks that know the identity of their objects. Groups both.
    ///
    /// # Errors
    /// As [`History::match_groups`].
    pub(crate) fn match_followed(
        &self,
        grouping: &Grouping,
        timeline: &Timeline,
        base: usize,
        time: usize,
        progress: &Progress,
    ) -> Result<TimeMatch> {
        let found = |time: usize| {
            let (heap, grouped) = self.grouped_by(time, grouping, progress)?;
            Ok(identities_in(&heap, &grouped, timeline))
        };
        Ok(match_identities(&found(base)?, &found(time)?, base.cmp(&time), timeline.len()))
    }

    /// The same for a trace under a grouping that reads only facts of a recording; `timeline` has that grouping. No heap state is built.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub(crate) fn match_recorded(
        &self,
        grouping: &Grouping,
        timeline: &Timeline,
        base: usize,
        time: usize,
        progress: &Progress,
    ) -> Result<TimeMatch> {
        match self.series().recording() {
            Some(recording) => {
                by_recording(recording, grouping, timeline, self.moment(base), self.moment(time), progress)
            }
            None => Ok(TimeMatch::new(timeline.len())),
        }
    }
}

/// The counts of a cohort at two times.
type CohortCounts = FxHashMap<CohortKey, [u64; 2]>;

fn by_recording(
    recording: &Recording,
    grouping: &Grouping,
    timeline: &Timeline,
    base: usize,
    time: usize,
    progress: &Progress,
) -> Result<TimeMatch> {
    let moments = [base, time];
    let counts = cohorts_at(recording, moments, progress)?;
    let reads = grouping.reads();
    let run = GroupingRun { heap: None, among: None, progress };
    let mut placement = Placement::new(&grouping.prepared(&run)?);
    // Where birth does not matter, what is born later goes where the others are.
    let mut places: FxHashMap<(CohortKey, usize), Box<[u32]>> = FxHashMap::default();
    let mut sorted: Vec<(CohortKey, [u64; 2])> = counts.into_iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| (key.info, key.birth, key.space as u8));
    let mut all = GroupMatch::default();
    let mut by_place: Vec<GroupMatch> = Vec::new();
    // Objects of one birth and the same creation data: none is added later, and each stays one of them for life.
    for unit in sorted.chunk_by(|(a, _), (b, _)| (a.info, a.birth) == (b.info, b.birth)) {
        progress.check()?;
        let total = |side: usize| unit.iter().map(|(_, counts)| counts[side]).sum();
        all.add(GroupMatch::by_count(total(0), total(1)));
        let mut lists: Vec<(Box<[u32]>, [u64; 2])> = Vec::new();
        for (key, counts) in unit {
            for side in (0..2).filter(|&side| counts[side] > 0) {
                let aged = reads.contains(Reads::AGE);
                let class = if aged { (*key, side) } else { (CohortKey { birth: 0, ..*key }, 0) };
                let leaves = places.entry(class).or_insert_with(|| {
                    placement.place(&ObjectView::of_cohort(&recording.facts(*key, moments[side].div_ceil(2) as u32)))
                });
                let at = lists.iter().position(|(list, _)| list == leaves).unwrap_or(lists.len());
                if at == lists.len() {
                    lists.push((leaves.clone(), [0, 0]));
                }
                lists[at].1[side] += counts[side];
            }
        }
        by_place.resize(placement.tree.len().max(by_place.len()), GroupMatch::default());
        let moved = lists.len() > 1;
        let mut of_leaf: FxHashMap<u32, [u64; 2]> = FxHashMap::default();
        for (list, counts) in &lists {
            for &leaf in list {
                let of_leaf = of_leaf.entry(leaf).or_default();
                (0..2).for_each(|side| of_leaf[side] += counts[side]);
            }
        }
        for (leaf, [first, second]) in of_leaf {
            let found = match moved {
                true => GroupMatch::unclear(first, second),
                false => GroupMatch::by_count(first, second),
            };
            by_place[leaf as usize].add(found);
        }
    }
    placement.check()?;
    let mut found = TimeMatch { all, ..TimeMatch::new(timeline.len()) };
    for (node, of_place) in timeline.locate(&placement.tree).into_iter().zip(by_place) {
        if let Some(NodeId(node)) = node {
            found.by_node[node as usize].add(of_place);
        }
    }
    Ok(found)
}

/// The counts of each cohort at two moments.
fn cohorts_at(recording: &Recording, moments: [usize; 2], progress: &Progress) -> Result<CohortCounts> {
    let end = moments[0].max(moments[1]);
    progress.begin("Following objects over time", end as u64 + 1);
    let mut now: FxHashMap<CohortKey, i64> = FxHashMap::default();
    let mut counts = CohortCounts::default();
    for i in 0..=end {
        progress.check()?;
        progress.advance(1);
        for change in recording.log.changes(i) {
            *now.entry(change.key).or_default() += change.objects;
        }
        now.retain(|_, objects| *objects != 0);
        for side in (0..2).filter(|&side| moments[side] == i) {
            for (&key, &objects) in &now {
                counts.entry(key).or_default()[side] = u64::try_from(objects).unwrap_or(0);
            }
        }
    }
    Ok(counts)
}

/// The objects of a state that are in any group, by identity, each with its groups.
pub(crate) struct Identities {
    /// Identity, and where its groups begin.
    objects: Vec<((u32, u32), u32)>,
    /// Where the groups begin of objects that have no identity.
    unknown: Vec<u32>,
    groups: Vec<u32>,
}

/// The objects of a grouped state by identity, with the groups of `timeline` that they are in.
fn identities_in(heap: &HeapState, grouped: &Grouped, timeline: &Timeline) -> Identities {
    let place = timeline.locate(&grouped.tree);
    let groups = |heap: &HeapState, o: ObjectId, into: &mut Vec<u32>| {
        let nodes = grouped.leaves_of(heap, o).iter().filter_map(|&leaf| place[leaf as usize]);
        into.extend(nodes.map(|node| node.0));
    };
    identities(heap, &groups)
}

/// The objects of a state by identity, with their groups: `groups` lists those of an object.
pub(crate) fn identities(
    heap: &HeapState,
    groups: &(impl Fn(&HeapState, ObjectId, &mut Vec<u32>) + Sync),
) -> Identities {
    let mut found = Identities { objects: Vec::new(), unknown: Vec::new(), groups: Vec::new() };
    let Some(origins) = heap.origins() else { return found };
    let mut of_object = Vec::new();
    // Most objects have the groups of the one before.
    let mut before = 0..0;
    for o in heap.objects() {
        of_object.clear();
        groups(heap, o, &mut of_object);
        if of_object.is_empty() {
            continue;
        }
        of_object.sort_unstable();
        of_object.dedup();
        if found.groups[before.clone()] != of_object[..] || before.is_empty() {
            before = found.groups.len() + 1..found.groups.len() + 1 + of_object.len();
            found.groups.push(of_object.len() as u32);
            found.groups.extend_from_slice(&of_object);
        }
        let identity = match origins.followed.get(o.0 as usize) {
            Some(0) => {
                found.unknown.push(before.start as u32);
                continue;
            }
            // In the order of the numbers: what was met later is behind.
            Some(number) => ((number >> 32) as u32, *number as u32),
            None => {
                let identity = origins.identity(o.0 as usize);
                (identity.number, identity.birth)
            }
        };
        found.objects.push((identity, before.start as u32));
    }
    found.objects.par_sort_unstable();
    found
}

impl Identities {
    fn groups_of(&self, object: usize) -> &[u32] {
        self.groups_at(self.objects[object].1)
    }

    fn groups_at(&self, start: u32) -> &[u32] {
        let start = start as usize;
        &self.groups[start..start + self.groups[start - 1] as usize]
    }

    /// The last identity that was given.
    fn last(&self) -> Option<(u32, u32)> {
        self.objects.last().map(|(identity, _)| *identity)
    }
}

/// Matches objects without identity. One at the time of `late` was created during that walk, so it exists at that time alone. One at the
/// time of `early` got a number later if it lived: it may be among all objects with newer numbers, or have died.
fn match_unknown(early: &Identities, late: &Identities, found: &mut TimeMatch, early_is_base: bool) {
    let alone = |matched: &mut GroupMatch, is_early: bool, count: u64| match is_early == early_is_base {
        true => matched.only_base += count,
        false => matched.only_time += count,
    };
    for start in &late.unknown {
        for group in late.groups_at(*start) {
            alone(&mut found.by_node[*group as usize], false, 1);
        }
    }
    alone(&mut found.all, false, late.unknown.len() as u64);
    if early.unknown.is_empty() {
        return;
    }
    let mut unknown: FxHashMap<u32, u64> = FxHashMap::default();
    for start in &early.unknown {
        for group in early.groups_at(*start) {
            *unknown.entry(*group).or_default() += 1;
        }
    }
    let from = late.objects.partition_point(|(identity, _)| Some(*identity) <= early.last());
    let mut came: FxHashMap<u32, u64> = FxHashMap::default();
    for at in from..late.objects.len() {
        for group in late.groups_of(at) {
            *came.entry(*group).or_default() += 1;
        }
    }
    let settle = |matched: &mut GroupMatch, unknown: u64, came: u64| {
        let unclear = unknown.min(came);
        alone(matched, true, unknown - unclear);
        matched.unclear += unclear;
        // They were counted among those that came.
        match early_is_base {
            true => matched.only_time -= unclear,
            false => matched.only_base -= unclear,
        }
    };
    for (group, count) in unknown {
        settle(&mut found.by_node[group as usize], count, came.get(&group).copied().unwrap_or(0));
    }
    settle(&mut found.all, early.unknown.len() as u64, (late.objects.len() - from) as u64);
}

/// Matches the objects of two states by identity; `order` says which of them was before the other.
pub(crate) fn match_identities(
    first: &Identities,
    second: &Identities,
    order: std::cmp::Ordering,
    groups: usize,
) -> TimeMatch {
    let mut found = TimeMatch::new(groups);
    let (mut i, mut j) = (0, 0);
    let one = GroupMatch { matched: 1, ..GroupMatch::default() };
    let at_first = GroupMatch { only_base: 1, ..GroupMatch::default() };
    let at_second = GroupMatch { only_time: 1, ..GroupMatch::default() };
    while i < first.objects.len() || j < second.objects.len() {
        let order = match (first.objects.get(i), second.objects.get(j)) {
            (Some(a), Some(b)) => a.0.cmp(&b.0),
            (Some(_), None) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        let (was, is): (&[u32], &[u32]) = match order {
            std::cmp::Ordering::Less => (first.groups_of(i), &[]),
            std::cmp::Ordering::Greater => (&[], second.groups_of(j)),
            std::cmp::Ordering::Equal => (first.groups_of(i), second.groups_of(j)),
        };
        for group in was {
            let both = is.binary_search(group).is_ok();
            found.by_node[*group as usize].add(if both { one } else { at_first });
        }
        for group in is.iter().filter(|group| was.binary_search(group).is_err()) {
            found.by_node[*group as usize].add(at_second);
        }
        let (all, next) = match order {
            std::cmp::Ordering::Less => (at_first, (1, 0)),
            std::cmp::Ordering::Greater => (at_second, (0, 1)),
            std::cmp::Ordering::Equal => (one, (1, 1)),
        };
        found.all.add(all);
        (i, j) = (i + next.0, j + next.1);
    }
    match order {
        std::cmp::Ordering::Less => match_unknown(first, second, &mut found, true),
        std::cmp::Ordering::Greater => match_unknown(second, first, &mut found, false),
        // One state: whoever has no identity is the same all the same.
        std::cmp::Ordering::Equal => {
            for start in &first.unknown {
                first.groups_at(*start).iter().for_each(|group| found.by_node[*group as usize].add(one));
                found.all.add(one);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GROUPS: usize = 3;

    /// An object over two walks: in which group it is at each, if it is there; when it was made.
    #[derive(Clone, Copy, Debug)]
    struct Followed {
        groups: [Option<u32>; 2],
        made: MadeWhen,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum MadeWhen {
        Before,
        /// While the first or second walk was taken.
        During(usize),
        Between,
    }

    fn objects() -> impl Strategy<Value = Vec<Followed>> {
        let group = || prop::option::of(0..GROUPS as u32);
        let made = prop_oneof![
            Just(MadeWhen::Before),
            Just(MadeWhen::During(0)),
            Just(MadeWhen::During(1)),
            Just(MadeWhen::Between)
        ];
        let one = (group(), group(), made).prop_map(|(first, second, made)| Followed {
            groups: match made {
                MadeWhen::Before | MadeWhen::During(0) => [first, second],
                MadeWhen::During(_) | MadeWhen::Between => [None, second],
            },
            made,
        });
        prop::collection::vec(one, 0..60)
    }

    /// The objects of a walk: numbers are given in the order in which objects are met.
    fn seen(all: &[Followed], walk: usize) -> Identities {
        let mut found = Identities { objects: Vec::new(), unknown: Vec::new(), groups: Vec::new() };
        for (at, object) in all.iter().enumerate() {
            let Some(group) = object.groups[walk] else { continue };
            found.groups.extend([1, group]);
            let start = found.groups.len() as u32 - 1;
            let number = at as u32 + if object.made == MadeWhen::Before { 0 } else { 1000 };
            match object.made {
                MadeWhen::During(during) if during == walk => found.unknown.push(start),
                _ => found.objects.push(((0, number), start)),
            }
        }
        found.objects.sort_unstable();
        found
    }

    proptest! {
        /// Objects reported as new, gone or kept are so, each object of a group counts once, and unclear ones are no more than those
        /// created during the earlier walk. In either direction.
        #[test]
        fn what_walks_say_of_identity_is_true(all in objects(), back in any::<bool>()) {
            let sides = if back { [1, 0] } else { [0, 1] };
            let [first, second] = sides.map(|walk| seen(&all, walk));
            let found = match_identities(&first, &second, sides[0].cmp(&sides[1]), GROUPS);
            for group in 0..GROUPS as u32 {
                let told = found.by_node[group as usize];
                let is = |object: &Followed, side: usize| object.groups[sides[side]] == Some(group);
                let count = |of: &dyn Fn(&Followed) -> bool| all.iter().filter(|o| of(o)).count() as u64;
                prop_assert_eq!(told.only_base + told.matched + told.unclear, count(&|o| is(o, 0)));
                prop_assert_eq!(told.only_time + told.matched + told.unclear, count(&|o| is(o, 1)));
                let both = count(&|o| is(o, 0) && is(o, 1));
                prop_assert!((told.matched..=told.matched + told.unclear).contains(&both), "{told:?}");
                let during = count(&|o| o.groups[0] == Some(group) && o.made == MadeWhen::During(0));
                prop_assert!(told.unclear <= during);
            }
            let there = |walk: usize| all.iter().filter(|o| o.groups[walk].is_some()).count() as u64;
            let whole = found.all;
            prop_assert_eq!(whole.only_base + whole.matched + whole.unclear, there(sides[0]));
            prop_assert_eq!(whole.only_time + whole.matched + whole.unclear, there(sides[1]));
            // A walk differs in nothing from itself.
            let same = match_identities(&first, &first, std::cmp::Ordering::Equal, GROUPS).all;
            prop_assert_eq!((same.only_base, same.only_time, same.unclear, same.matched), (0, 0, 0, there(sides[0])));
        }
    }
}
