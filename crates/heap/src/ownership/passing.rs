//! Propagation of sets of groups along references, until nothing changes.
//!
//! Objects whose sets changed wait, and are taken in the order of the heap, round by round ([`Sweep`]). The result does not depend on the
//! order, and this one reads the objects and their references as they lie in memory. An object is visited 1.2 times on ordinary heaps, and
//! at worst as often as its set can get smaller.

use super::closures::GroupClosures;
use super::order::{ComponentOrder, WORDS, objects_where};
use super::sets::SetAlgebra;
use crate::bits::BitSet;
use crate::error::Result;
use crate::prefetch::prefetch;
use crate::progress::Progress;
use crate::sweep::Sweep;
use crate::types::ObjectId;

/// Nodes between two checks for cancellation.
const CHECKED: usize = 1 << 16;

/// How far passing on has come. It can be gone on with, also with sets of another kind.
pub(super) struct Passing<T> {
    /// By node (objects, then types): the groups that arrive on the paths to it, without its own.
    pub at: Vec<T>,
    waiting: Sweep,
    /// The reachable objects; `None` until they are found.
    live: Option<BitSet>,
}

impl<T> Passing<T> {
    /// The same state with converted sets.
    pub fn with<U>(self, other: impl FnOnce(Vec<T>) -> Vec<U>) -> Passing<U> {
        Passing { at: other(self.at), waiting: self.waiting, live: self.live }
    }
}

impl GroupClosures<'_> {
    /// At the roots.
    pub(super) fn begin<S: SetAlgebra>(&self) -> Passing<S::Set> {
        let mut at = vec![S::ALL; self.graph.nodes()];
        let mut waiting = Sweep::new(at.len());
        for root in self.graph.roots() {
            at[root.0 as usize] = S::EMPTY;
            waiting.add(root.0);
        }
        Passing { at, waiting, live: None }
    }

    /// Runs the propagation. Afterwards `passing` has, by node, the groups that would free it from above; [`SetAlgebra::ALL`] if no path
    /// leads to it, neither from roots nor from groups. `None` if there are too many sets: the sets found so far are then true of the paths
    /// followed so far, and all that wait are kept.
    pub(super) fn pass<S: SetAlgebra>(
        &self,
        sets: &mut S,
        passing: &mut Passing<S::Set>,
        progress: &Progress,
    ) -> Result<Option<()>> {
        if passing.live.is_none() {
            let meet = |sets: &mut S, before, out| sets.meet(before, out);
            if self.settle(sets, passing, |_| true, meet, progress)?.is_none() {
                return Ok(None);
            }
            let is_lost = |o: ObjectId| passing.at[o.0 as usize] == S::ALL && !self.groups.of(o).is_empty();
            let lost: Vec<ObjectId> = objects_where(self.graph.heap(), is_lost).collect();
            let mut live = BitSet::new(passing.at.len());
            if !lost.is_empty() {
                passing.at.iter().zip(0..).filter(|(set, _)| **set != S::ALL).for_each(|(_, node)| {
                    live.insert(node);
                });
            }
            for o in lost {
                passing.at[o.0 as usize] = S::EMPTY;
                passing.waiting.add(o.0);
            }
            passing.live = Some(live);
        }
        let live = passing.live.take().unwrap_or_default();
        let join = |sets: &mut S, before, out| if before == S::ALL { Some(out) } else { sets.join(before, out) };
        let fits = self.settle(sets, passing, |node| !live.contains(node), join, progress)?;
        passing.live = Some(live);
        Ok(fits)
    }

    /// Follows the waiting nodes. `goes`: whether sets are passed on to a node; `change`: from the set of a node and one that arrives, the
    /// new one.
    fn settle<S: SetAlgebra>(
        &self,
        sets: &mut S,
        passing: &mut Passing<S::Set>,
        goes: impl Fn(u32) -> bool,
        change: impl Fn(&mut S, S::Set, S::Set) -> Option<S::Set>,
        progress: &Progress,
    ) -> Result<Option<()>> {
        let n = self.graph.heap().object_count();
        let Passing { at, waiting, .. } = passing;
        let mut words = 0usize;
        while let Some(mut word) = waiting.take() {
            words += 1;
            if words.is_multiple_of(WORDS) {
                progress.check()?;
            }
            self.graph.ahead(&word, |target| prefetch(at, target.0 as usize));
            while let Some(node) = word.next() {
                let set = at[node as usize];
                let out = match (node as usize) < n {
                    true => sets.join(set, sets.of_list(self.groups.of[node as usize])),
                    false => Some(set),
                };
                let mut fits = out.is_some();
                if let Some(out) = out {
                    self.graph.kept_nodes(node, |target| {
                        let before = at[target as usize];
                        if before == out || !fits || !goes(target) {
                            return;
                        }
                        match change(sets, before, out) {
                            Some(after) if after != before => {
                                at[target as usize] = after;
                                waiting.add(target);
                            }
                            Some(_) => (),
                            None => fits = false,
                        }
                    });
                }
                if !fits {
                    waiting.add(node);
                    word.for_each(|node| waiting.add(node));
                    return Ok(None);
                }
            }
        }
        Ok(Some(()))
    }

    /// By object: the groups that reach it by references, its own included. `None` if there are too many sets.
    pub(super) fn reaching<S: SetAlgebra>(&self, sets: &mut S, progress: &Progress) -> Result<Option<Vec<S::Set>>> {
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
                let with_own = sets.join(all, at[o as usize]).and_then(|all| {
                    let own = sets.of_list(self.groups.of[o as usize]);
                    sets.join(all, own)
                });
                let Some(with_own) = with_own else { return Ok(None) };
                all = with_own;
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
