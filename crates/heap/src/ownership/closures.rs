//! Shallow, deep and retained amounts of many groups at once.
//!
//! For a group S of objects:
//! - *retained* would be freed with all of S: S, and everything reached from S but not from the GC roots once S is gone. Groups do not
//!   add up: two groups can own together objects that neither owns alone.
//! - *deep* is S, everything reachable from it by fields and elements of arrays, and everything it retains. The reference from an
//!   instance to its class object does not count: classes lead to loaders, and loaders to all other classes. (It does count for the
//!   retained size, since an instance keeps its class.)
//!
//! Retained: for each reachable object, the set of groups that every path from the roots to it passes. It is the greatest solution of
//! `passed(v) = groups(v) ∪ ⋂ passed(p)` over all p that keep v, where roots give the empty set. An object counts for each group in its
//! set. Unreachable objects are freed with anything that leads to them: the least solution of `passed(v) = groups(v) ∪ ⋃ passed(p)`. Deep
//! is that union, for all objects, along the strongly connected components of the heap: one pass.
//!
//! Sets are numbers ([`InternedSets`]). If there would be too many distinct ones, groups of one object are looked up in the dominator tree,
//! and groups with little below them are done one by one ([`Subtrees`]). The others are done in parts, down to 63 of them, a bit each
//! ([`MaskSets`]). Each part is exact, so the whole is.

use super::dominators::Dominators;
use super::graph::KeepGraph;
use super::masks::{Mask, MaskSets, NarrowSets};
use super::order::ComponentOrder;
use super::passing::Passing;
use super::rules::KeepRules;
use super::sets::{InternedSets, SetAlgebra, SetLimits};
use super::subtrees::Subtrees;
use crate::amount::Amount;
use crate::error::Result;
use crate::progress::Progress;
use crate::state::HeapState;
use crate::types::ObjectId;
use std::sync::{Arc, OnceLock};

/// Unwraps an option; returns `Ok(None)` from the function if it is empty.
macro_rules! or_none {
    ($option:expr) => {
        match $option {
            Some(found) => found,
            None => return Ok(None),
        }
    };
}

/// The groups of each object of a heap state: none, one or several. Groups may be nested: an object of an inner group is in the outer ones
/// too.
pub struct ObjectGroups {
    /// By object: the number of a list.
    pub(super) of: Vec<u32>,
    /// Ascending, each group once.
    lists: Vec<Box<[u32]>>,
    groups: usize,
}

impl ObjectGroups {
    /// `of`: by object, the place in `lists` of the list of its groups, which are numbers below `groups`, ascending.
    ///
    /// # Panics
    /// When a list has a number that is not below `groups`.
    pub fn new(of: Vec<u32>, lists: Vec<Box<[u32]>>, groups: usize) -> ObjectGroups {
        assert!(lists.iter().flatten().all(|&group| (group as usize) < groups), "a group that there is not");
        ObjectGroups { of, lists, groups }
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The number of lists of groups.
    pub(super) fn lists(&self) -> usize {
        self.lists.len()
    }

    /// The groups of an object.
    #[inline]
    pub fn of(&self, o: ObjectId) -> &[u32] {
        &self.lists[self.of[o.0 as usize] as usize]
    }

    /// The lists with only some groups, by their places in `wanted`.
    pub(super) fn lists_of(&self, wanted: &[u32]) -> Vec<Box<[u32]>> {
        let mut place = vec![u32::MAX; self.groups];
        for (at, &group) in (0..).zip(wanted) {
            place[group as usize] = at;
        }
        let list = |list: &[u32]| {
            let mut places: Vec<u32> = list.iter().map(|&g| place[g as usize]).filter(|&p| p != u32::MAX).collect();
            places.sort_unstable();
            places.into()
        };
        self.lists.iter().map(|groups| list(groups)).collect()
    }
}

/// The amounts of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupAmounts {
    /// All that it reaches, and all that it retains.
    pub deep: Amount,
    /// The amount that would be freed with it.
    pub retained: Amount,
}

/// Finds deep and retained amounts of the groups of one heap state.
///
/// Memory for retained amounts: up to 4 bytes an object, 8 for 32 to 63 groups. Deep amounts take twice that, and keep 4 more. If there are
/// too many sets, [`Dominators`] and [`Subtrees`] come on top, one after the other.
pub struct GroupClosures<'h> {
    pub(super) graph: KeepGraph<'h>,
    pub(super) groups: Arc<ObjectGroups>,
    pub(super) components: OnceLock<ComponentOrder>,
    limits: Limits,
}

/// The limits that choose the kind of set.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub sets: SetLimits,
    /// Groups that are done at once with a bit for each.
    pub mask: usize,
    /// Sets are numbers of a byte from this many nodes on, up to `narrow` sets.
    pub narrow_from: usize,
    pub narrow: usize,
    /// When there are too many sets, a group is done by itself if it has at most one of this many nodes below its objects. That takes four
    /// times as long per node as doing 63 groups at once.
    pub one_by_one: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // Masks of fewer nodes lie in a processor's cache.
        Limits {
            sets: SetLimits::default(),
            mask: u64::MOST,
            narrow_from: 1 << 22,
            narrow: NarrowSets::<u64>::MOST,
            one_by_one: 256,
        }
    }
}

/// Groups between two checks for cancellation.
const CHECKED: usize = 1 << 6;

impl<'h> GroupClosures<'h> {
    /// For the objects of a heap state in some groups. The work is done on demand.
    pub fn new(heap: &'h HeapState, rules: KeepRules, groups: Arc<ObjectGroups>) -> GroupClosures<'h> {
        GroupClosures {
            graph: KeepGraph::new(heap, rules),
            groups,
            components: OnceLock::new(),
            limits: Limits::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn with_limits(self, limits: Limits) -> Self {
        GroupClosures { limits, ..self }
    }

    /// The groups.
    pub fn groups(&self) -> &Arc<ObjectGroups> {
        &self.groups
    }

    /// Retained amounts of some groups, each given once, in their order. Up to 63 groups cost less than two walks over the reachable
    /// objects; any number of groups of an ordinary grouping some more.
    ///
    /// # Errors
    /// When cancelled.
    pub fn retained(&self, wanted: &[u32], progress: &Progress) -> Result<Vec<Amount>> {
        Ok(self.in_parts(wanted, false, progress)?.into_iter().map(|found| found.retained).collect())
    }

    /// Deep and retained amounts of some groups, each named once, in their order. The first time the strongly connected components of the
    /// heap are found.
    ///
    /// # Errors
    /// When cancelled.
    pub fn deep_and_retained(&self, wanted: &[u32], progress: &Progress) -> Result<Vec<GroupAmounts>> {
        self.in_parts(wanted, true, progress)
    }

    fn in_parts(&self, wanted: &[u32], deep: bool, progress: &Progress) -> Result<Vec<GroupAmounts>> {
        let stage = if deep { "Finding what groups reach and retain" } else { "Finding what groups retain" };
        progress.begin(stage, wanted.len() as u64);
        if let Some(all) = self.part(wanted, deep, progress)? {
            return Ok(all);
        }
        // There are too many distinct sets, as where every object is a group of its own: those are in the dominator tree.
        let single = if deep { vec![None; self.groups.groups] } else { self.single_objects() };
        let mut amounts = vec![GroupAmounts::default(); self.groups.groups];
        let mut others = wanted.to_vec();
        if wanted.iter().any(|&group| single[group as usize].is_some()) {
            let owners = Dominators::of(&self.graph, progress)?;
            others.retain(|&group| match single[group as usize].filter(|&o| owners.is_reached(o)) {
                Some(o) => {
                    amounts[group as usize].retained = owners.retained(o);
                    false
                }
                None => true,
            });
        }
        if !deep && others.len() > self.limits.mask {
            self.one_by_one(&mut others, &mut amounts, progress)?;
        }
        progress.begin(stage, others.len() as u64);
        let (mut done, mut size) = (0, (others.len() / 8).max(1));
        while done < others.len() {
            let some = &others[done..(done + size).min(others.len())];
            match self.part(some, deep, progress)? {
                Some(found) => {
                    some.iter().zip(found).for_each(|(&group, found)| amounts[group as usize] = found);
                    done += some.len();
                    progress.advance(some.len() as u64);
                }
                None => size = (some.len() / 8).max(self.limits.mask).max(1),
            }
        }
        Ok(wanted.iter().map(|&group| amounts[group as usize]).collect())
    }

    /// Looks at each of the groups by itself for which that is cheaper, and takes them out of `wanted`.
    fn one_by_one(&self, wanted: &mut Vec<u32>, amounts: &mut [GroupAmounts], progress: &Progress) -> Result<()> {
        let groups = &self.groups;
        let (mut trees, below) = Subtrees::new(&self.graph, groups, progress)?;
        let mut cost = vec![0u64; groups.groups];
        for (list, &below) in groups.lists.iter().zip(&below) {
            list.iter().for_each(|&group| cost[group as usize] += below);
        }
        let most = (self.graph.nodes() / self.limits.one_by_one) as u64;
        let mut chosen = vec![false; groups.groups];
        wanted.iter().for_each(|&group| chosen[group as usize] = cost[group as usize] <= most);
        let is_chosen = |group: &u32| chosen[*group as usize];
        // The objects of each chosen group: where those of a group end, then filled from there.
        let mut start = vec![0usize; groups.groups + 1];
        for list in &groups.of {
            groups.lists[*list as usize].iter().filter(|g| is_chosen(g)).for_each(|&g| start[g as usize] += 1);
        }
        let mut sum = 0;
        for start in &mut start {
            sum += *start;
            *start = sum;
        }
        let mut members = vec![ObjectId(0); sum];
        for (o, list) in (0..).map(ObjectId).zip(&groups.of) {
            for &group in groups.lists[*list as usize].iter().filter(|g| is_chosen(g)) {
                let at = &mut start[group as usize];
                *at -= 1;
                members[*at] = o;
            }
        }
        let mut left = vec![false; groups.groups];
        let of = |group: u32| &members[start[group as usize]..start[group as usize + 1]];
        progress.begin("Finding what groups retain", wanted.len() as u64);
        for (i, &group) in wanted.iter().filter(|g| chosen[**g as usize]).enumerate() {
            if i.is_multiple_of(CHECKED) {
                progress.check()?;
                progress.advance(CHECKED as u64);
            }
            match trees.retained(of(group), most as usize) {
                Some(retained) => amounts[group as usize].retained = retained,
                None => left[group as usize] = true,
            }
        }
        wanted.retain(|&group| !chosen[group as usize] || left[group as usize]);
        Ok(())
    }

    /// Some groups at once; `None` when there are too many sets.
    fn part(&self, wanted: &[u32], deep: bool, progress: &Progress) -> Result<Option<Vec<GroupAmounts>>> {
        let lists = self.groups.lists_of(wanted);
        let count = wanted.len();
        if count > self.limits.mask.min(u64::MOST) {
            return match InternedSets::new(&lists, count, self.limits.sets) {
                Some(sets) => self.amounts(sets, None, deep, progress),
                None => Ok(None),
            };
        }
        if deep {
            return self.amounts(MaskSets::<u64>::new(&lists, count), None, deep, progress);
        }
        match count <= u32::MOST {
            true => self.masks(MaskSets::<u32>::new(&lists, count), progress),
            false => self.masks(MaskSets::<u64>::new(&lists, count), progress),
        }
    }

    /// The retained amounts of groups, by masks, narrow ones as long as there is room.
    fn masks<M: Mask>(&self, sets: MaskSets<M>, progress: &Progress) -> Result<Option<Vec<GroupAmounts>>> {
        if self.graph.nodes() < self.limits.narrow_from {
            return self.amounts(sets, None, false, progress);
        }
        let mut narrow = match NarrowSets::new(sets, self.limits.narrow) {
            Ok(narrow) => narrow,
            Err(sets) => return self.amounts(sets, None, false, progress),
        };
        let mut passing = self.begin::<NarrowSets<M>>();
        if self.pass(&mut narrow, &mut passing, progress)?.is_some() {
            return Ok(self.retained_of(&mut narrow, &passing.at));
        }
        let mut sets = None;
        let passing = passing.with(|at| {
            let (wide, at) = narrow.widen(&at);
            sets = Some(wide);
            at
        });
        match sets {
            Some(sets) => self.amounts(sets, Some(passing), false, progress),
            None => Ok(None),
        }
    }

    /// By group: its object, if it has only one.
    fn single_objects(&self) -> Vec<Option<ObjectId>> {
        let mut by_list = vec![(0u64, ObjectId(0)); self.groups.lists.len()];
        for (o, &list) in (0..).zip(&self.groups.of) {
            let (count, last) = &mut by_list[list as usize];
            (*count, *last) = (*count + 1, ObjectId(o));
        }
        let mut by_group = vec![(0u64, ObjectId(0)); self.groups.groups];
        for (&(count, last), list) in by_list.iter().zip(&self.groups.lists).filter(|((count, _), _)| *count > 0) {
            for &group in list {
                let group = &mut by_group[group as usize];
                *group = (group.0 + count, last);
            }
        }
        by_group.into_iter().map(|(count, o)| (count == 1).then_some(o)).collect()
    }

    /// The amounts by group, going on with a pass that was begun. `None` if there are too many sets.
    fn amounts<S: SetAlgebra>(
        &self,
        mut sets: S,
        begun: Option<Passing<S::Set>>,
        deep: bool,
        progress: &Progress,
    ) -> Result<Option<Vec<GroupAmounts>>> {
        let mut passing = begun.unwrap_or_else(|| self.begin::<S>());
        if self.pass(&mut sets, &mut passing, progress)?.is_none() {
            return Ok(None);
        }
        let mut passed = passing.at;
        let retained = or_none!(self.retained_of(&mut sets, &passed));
        if !deep {
            return Ok(Some(retained));
        }
        let reaching = or_none!(self.reaching(&mut sets, progress)?);
        // What an object retains is in what it reaches, but for what it keeps by way of its class.
        for (set, &by) in passed.iter_mut().zip(&reaching) {
            *set = if *set == S::ALL { by } else { or_none!(sets.join(*set, by)) };
        }
        drop(reaching);
        let n = self.graph.heap().object_count();
        let deep = or_none!(sets.sums(self.graph.heap(), &passed[..n], &self.groups.of));
        Ok(Some(retained.into_iter().zip(deep).map(|(found, deep)| GroupAmounts { deep, ..found }).collect()))
    }

    fn retained_of<S: SetAlgebra>(&self, sets: &mut S, passed: &[S::Set]) -> Option<Vec<GroupAmounts>> {
        let n = self.graph.heap().object_count();
        let retained = sets.sums(self.graph.heap(), &passed[..n], &self.groups.of)?;
        Some(retained.into_iter().map(|retained| GroupAmounts { retained, ..GroupAmounts::default() }).collect())
    }
}
