//! Shallow, deep and retained amounts of many groups at once.
//!
//! Of a group S of objects:
//! - *retained* is what would be freed if all of S were: S, and what is reached from S but not from the GC roots once S is
//!   gone. Groups do not add up: two groups can own together what neither owns alone.
//! - *deep* is S, all that can be reached from it by fields and elements of arrays, and what it retains. The way from an
//!   instance to its class object does not count: classes lead to loaders, and loaders to all other classes. (It does
//!   count for what is retained, since an instance keeps its class.)
//!
//! Retained: for each object that roots reach, the set of groups that every path from the roots to it passes. It is the
//! greatest solution of `passed(v) = groups(v) ∪ ⋂ passed(p)` over all p that keep v, where roots give the empty set.
//! An object counts for each group in its set. Objects that no root reaches are freed with whatever leads to them: the
//! least solution of `passed(v) = groups(v) ∪ ⋃ passed(p)`. Deep is that union, for all objects, along the strongly
//! connected components of the heap: one pass.
//!
//! Sets are numbers ([`InternedSets`]). Where there would be too many distinct ones, groups of one object are looked up in
//! the dominator tree, and the others are done in parts, down to 63 of them, a bit each ([`MaskSets`]). Each part is exact,
//! so the whole is.

use super::few::FEW;
use super::order::{ComponentOrder, ReachOrder, Waiting, objects_where};
use super::sets::{InternedSets, MaskSets, SetAlgebra, SetLimits};
use super::{Dominators, KeepGraph, KeepRules};
use crate::error::Result;
use crate::progress::Progress;
use crate::{Amount, BitSet, HeapState, ObjectId};
use std::sync::{Arc, OnceLock};

/// What an option holds; leaves the function with no answer when there is nothing.
macro_rules! or_none {
    ($option:expr) => {
        match $option {
            Some(found) => found,
            None => return Ok(None),
        }
    };
}

/// Which groups the objects of a heap state are in: none, one or several. Groups may lie in each other: an object of an
/// inner group is in the outer ones too.
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

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups
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

/// What a group holds and keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupAmounts {
    /// All that it reaches, and what it retains.
    pub deep: Amount,
    /// What would be freed if it were.
    pub retained: Amount,
}

/// Finds deep and retained amounts of the groups of one heap state.
///
/// Memory: 4 bytes an object once asked; 8 or 12 more while it is asked for retained amounts, twice that for deep ones.
pub struct GroupClosures<'h> {
    pub(super) graph: KeepGraph<'h>,
    pub(super) groups: Arc<ObjectGroups>,
    orders: OnceLock<ReachOrders>,
    components: OnceLock<ComponentOrder>,
    limits: SetLimits,
    /// So many groups are done with a bit for each.
    mask: usize,
    /// So many groups are done in a walk without an order, where only retained amounts are asked for.
    few: usize,
}

/// The orders in which sets are passed on.
struct ReachOrders {
    /// What roots reach.
    live: ReachOrder,
    /// What grouped objects reach that roots do not.
    dead: ReachOrder,
}

/// Nodes between two looks at whether somebody wants the work to end.
const CHECKED: usize = 1 << 16;

impl<'h> GroupClosures<'h> {
    /// Of the objects of a heap state in some groups. Little is done before something is asked for.
    pub fn new(heap: &'h HeapState, rules: KeepRules, groups: Arc<ObjectGroups>) -> GroupClosures<'h> {
        GroupClosures {
            graph: KeepGraph::new(heap, rules),
            groups,
            orders: OnceLock::new(),
            components: OnceLock::new(),
            limits: SetLimits::default(),
            mask: MaskSets::MOST,
            few: FEW,
        }
    }

    #[cfg(test)]
    pub(super) fn with_limits(self, limits: SetLimits, mask: usize, few: usize) -> Self {
        GroupClosures { limits, mask, few, ..self }
    }

    /// The groups.
    pub fn groups(&self) -> &Arc<ObjectGroups> {
        &self.groups
    }

    /// Retained amounts of some groups, each named once, in their order. Up to 30 groups cost about two walks over what
    /// roots reach; any number of groups of an ordinary grouping some more.
    ///
    /// # Errors
    /// When cancelled.
    pub fn retained(&self, wanted: &[u32], progress: &Progress) -> Result<Vec<Amount>> {
        // Once there is an order it is used.
        if wanted.len() <= self.few && self.orders.get().is_none() {
            return self.few_retained(wanted, progress);
        }
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

    /// Walks the heap once from its roots, and from the grouped objects that these do not reach.
    fn orders(&self, progress: &Progress) -> Result<&ReachOrders> {
        if let Some(orders) = self.orders.get() {
            return Ok(orders);
        }
        let heap = self.graph.heap();
        progress.begin("Walking from the GC roots", heap.object_count() as u64);
        let live = ReachOrder::new(&self.graph, self.graph.roots().iter().copied(), None, progress)?;
        let lost = objects_where(heap, |o| !live.reached.contains(o.0) && !self.groups.of(o).is_empty());
        let dead = ReachOrder::new(&self.graph, lost, Some(&live.reached), progress)?;
        Ok(self.orders.get_or_init(|| ReachOrders { live, dead }))
    }

    fn in_parts(&self, wanted: &[u32], deep: bool, progress: &Progress) -> Result<Vec<GroupAmounts>> {
        self.orders(progress)?;
        let stage = if deep { "Finding what groups reach and retain" } else { "Finding what groups retain" };
        progress.begin(stage, wanted.len() as u64);
        if let Some(all) = self.part(wanted, deep, progress)? {
            return Ok(all);
        }
        // There are too many distinct sets, as where every object is a group of its own: those are in the dominator tree.
        let single = if deep { vec![None; self.groups.groups] } else { self.single_objects() };
        let (alone, others): (Vec<u32>, Vec<u32>) = wanted.iter().partition(|&&g| single[g as usize].is_some());
        let mut amounts = vec![GroupAmounts::default(); self.groups.groups];
        if !alone.is_empty() {
            let owners = Dominators::new(self.graph.heap(), self.graph.rules(), progress)?;
            for group in alone {
                amounts[group as usize].retained =
                    single[group as usize].map(|o| owners.retained(o)).unwrap_or_default();
            }
            progress.begin(stage, others.len() as u64);
        }
        let (mut done, mut size) = (0, (others.len() / 8).max(1));
        while done < others.len() {
            let some = &others[done..(done + size).min(others.len())];
            match self.part(some, deep, progress)? {
                Some(found) => {
                    some.iter().zip(found).for_each(|(&group, found)| amounts[group as usize] = found);
                    done += some.len();
                    progress.advance(some.len() as u64);
                }
                None => size = (some.len() / 8).max(self.mask).max(1),
            }
        }
        Ok(wanted.iter().map(|&group| amounts[group as usize]).collect())
    }

    /// Some groups at once; `None` when there are too many sets.
    fn part(&self, wanted: &[u32], deep: bool, progress: &Progress) -> Result<Option<Vec<GroupAmounts>>> {
        let lists = self.groups.lists_of(wanted);
        if wanted.len() <= self.mask {
            return self.amounts(MaskSets::new(&lists, wanted.len()), deep, progress);
        }
        match InternedSets::new(&lists, wanted.len(), self.limits) {
            Some(sets) => self.amounts(sets, deep, progress),
            None => Ok(None),
        }
    }

    /// By group: its only object, where it has one that roots reach.
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
        let live = |o: ObjectId| self.orders.get().is_some_and(|orders| orders.live.reached.contains(o.0));
        by_group.into_iter().map(|(count, o)| (count == 1 && live(o)).then_some(o)).collect()
    }

    /// By group; `None` when there are too many sets.
    fn amounts<S: SetAlgebra>(
        &self,
        mut sets: S,
        deep: bool,
        progress: &Progress,
    ) -> Result<Option<Vec<GroupAmounts>>> {
        let Some(passed) = self.passed(&mut sets, progress)? else { return Ok(None) };
        let heap = self.graph.heap();
        let n = heap.object_count();
        let one = |o: usize| Amount { objects: 1, bytes: heap.size_of(ObjectId(o as u32)) };
        for (o, &set) in passed[..n].iter().enumerate() {
            if set != S::ALL && set != S::EMPTY {
                sets.count(set, one(o));
            }
        }
        let retained = sets.sums();
        if !deep {
            let only = |retained| GroupAmounts { retained, ..GroupAmounts::default() };
            return Ok(Some(retained.into_iter().map(only).collect()));
        }
        let Some(reaching) = self.reaching(&mut sets, progress)? else { return Ok(None) };
        for (o, (&set, &by)) in passed[..n].iter().zip(&reaching).enumerate() {
            let set = if set == S::ALL { by } else { or_none!(sets.join(set, by)) };
            sets.count(set, one(o));
        }
        let both = |(deep, retained)| GroupAmounts { deep, retained };
        Ok(Some(sets.sums().into_iter().zip(retained).map(both).collect()))
    }

    /// By node: the groups that it goes with, its own included; [`SetAlgebra::ALL`] where no path leads to it, neither
    /// from roots nor from groups. `None` when there are too many sets.
    fn passed<S: SetAlgebra>(&self, sets: &mut S, progress: &Progress) -> Result<Option<Vec<S::Set>>> {
        let orders = self.orders(progress)?;
        let mut at = vec![S::ALL; self.graph.nodes()];
        for root in self.graph.roots() {
            at[root.0 as usize] = S::EMPTY;
        }
        let join = |sets: &mut S, a, b| sets.meet(a, b);
        if self.settle(sets, &orders.live, &mut at, join, progress)?.is_none() {
            return Ok(None);
        }
        for &node in &orders.dead.nodes {
            at[node as usize] = S::EMPTY;
        }
        let join = |sets: &mut S, a, b| sets.join(a, b);
        if self.settle(sets, &orders.dead, &mut at, join, progress)?.is_none() {
            return Ok(None);
        }
        // Until here the sets are those of the ways to an object.
        let n = self.graph.heap().object_count();
        for (o, set) in at[..n].iter_mut().enumerate().filter(|(_, set)| **set != S::ALL) {
            *set = or_none!(sets.join(*set, sets.of_list(self.groups.of[o])));
        }
        Ok(Some(at))
    }

    /// Makes `at` say of each node of an order what comes to it over the edges from nodes of that order.
    pub(super) fn settle<S: SetAlgebra>(
        &self,
        sets: &mut S,
        order: &ReachOrder,
        at: &mut [S::Set],
        join: impl Fn(&mut S, S::Set, S::Set) -> Option<S::Set>,
        progress: &Progress,
    ) -> Result<Option<()>> {
        let n = self.graph.heap().object_count();
        let mut done = BitSet::new(at.len());
        let mut again: Vec<u32> = Vec::new();
        let mut step = |node: u32, at: &mut [S::Set], late: &mut dyn FnMut(u32)| -> Option<()> {
            let mut out = at[node as usize];
            if (node as usize) < n {
                let own = sets.of_list(self.groups.of[node as usize]);
                if own != S::EMPTY {
                    out = sets.join(out, own)?;
                }
            }
            let mut fits = true;
            self.graph.kept_nodes(node, |target| {
                let before = at[target as usize];
                if before == out || !fits || !order.reached.contains(target) {
                    return;
                }
                let Some(after) = join(sets, before, out) else {
                    fits = false;
                    return;
                };
                if after != before {
                    at[target as usize] = after;
                    late(target);
                }
            });
            fits.then_some(())
        };
        for (i, &node) in order.nodes.iter().enumerate() {
            if i.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            done.insert(node);
            let mut late = |target| {
                if done.contains(target) {
                    again.push(target);
                }
            };
            or_none!(step(node, at, &mut late));
        }
        if again.is_empty() {
            return Ok(Some(()));
        }
        // What came to a node after it had passed on what it had: in the same order, until nothing changes.
        let mut place = vec![0u32; at.len()];
        for (i, &node) in (0..).zip(&order.nodes) {
            place[node as usize] = i;
        }
        let mut waiting = Waiting::new(order.nodes.len());
        again.into_iter().for_each(|node| waiting.add(place[node as usize]));
        let mut steps = 0usize;
        while let Some(next) = waiting.take() {
            steps += 1;
            if steps.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            or_none!(step(order.nodes[next as usize], at, &mut |target| waiting.add(place[target as usize])));
        }
        Ok(Some(()))
    }

    /// By object: the groups that reach it by references, its own included. `None` when there are too many sets.
    fn reaching<S: SetAlgebra>(&self, sets: &mut S, progress: &Progress) -> Result<Option<Vec<S::Set>>> {
        let components = match self.components.get() {
            Some(components) => components,
            None => {
                let found = ComponentOrder::new(&self.graph, progress)?;
                self.components.get_or_init(|| found)
            }
        };
        let n = self.graph.heap().object_count();
        let mut at = vec![S::EMPTY; n];
        let mut begin = 0;
        while begin < n {
            let end = (begin + 1..n).find(|&i| components.begins.contains(i as u32)).unwrap_or(n);
            let members = &components.objects[begin..end];
            let mut all = S::EMPTY;
            for (i, &o) in members.iter().enumerate() {
                if (begin + i).is_multiple_of(CHECKED) {
                    progress.check()?;
                }
                all = or_none!(sets.join(all, at[o as usize]));
                all = or_none!(sets.join(all, sets.of_list(self.groups.of[o as usize])));
            }
            members.iter().for_each(|&o| at[o as usize] = all);
            let mut fits = true;
            for &o in members {
                self.graph.kept(ObjectId(o), |target| {
                    let before = at[target.0 as usize];
                    if before != all && fits {
                        match sets.join(before, all) {
                            Some(after) => at[target.0 as usize] = after,
                            None => fits = false,
                        }
                    }
                });
            }
            if !fits {
                return Ok(None);
            }
            begin = end;
        }
        Ok(Some(at))
    }
}
