//! What a few groups retain, without an order of the heap: for what is looked at first.
//!
//! One walk from the roots, a bit for each group: does a way lead to this object that avoids the group? An object is visited
//! again when such a way is found later. Objects with more bits go first: those that all groups can be avoided on the way
//! to, in many heaps most of them, are visited once.

use super::GroupClosures;
use super::order::{ReachOrder, objects_where};
use super::sets::{MaskSets, SetAlgebra};
use crate::error::Result;
use crate::progress::Progress;
use crate::{Amount, BitSet, ObjectId};

/// The most groups: a bit says that an object is reached at all, another that it waits.
pub(super) const FEW: usize = 30;
const REACHED: u32 = 1 << 31;
const WAITS: u32 = 1 << 30;

/// Objects taken at a time: their references are read for all of them before any is followed, so that memory is waited
/// for once.
const BATCH: usize = 16;
/// Targets of each that are looked at ahead.
const AHEAD: usize = 4;
/// Batches between two looks at whether somebody wants the work to end.
const CHECKED: usize = 1 << 14;

impl GroupClosures<'_> {
    /// Retained amounts of up to [`FEW`] groups.
    pub(super) fn few_retained(&self, wanted: &[u32], progress: &Progress) -> Result<Vec<Amount>> {
        let heap = self.graph.heap();
        let n = heap.object_count();
        progress.begin("Finding what groups retain", n as u64);
        let lists = self.groups.lists_of(wanted);
        let own: Vec<u32> = lists.iter().map(|list| list.iter().fold(0, |mask, &group| mask | 1 << group)).collect();
        let ways = self.ways(&own, (1 << wanted.len()) - 1, progress)?;

        let mut sets = MaskSets::new(&lists, wanted.len());
        let all = (1u64 << wanted.len()) - 1;
        let one = |o: usize| Amount { objects: 1, bytes: heap.size_of(ObjectId(o as u32)) };
        for (o, &way) in ways[..n].iter().enumerate() {
            let own = own[self.groups.of[o] as usize];
            let passed = !u64::from(way & !own) & all;
            if way & REACHED != 0 && passed != 0 {
                sets.count(passed, one(o));
            }
        }
        let mut retained = sets.sums();
        let is_lost = |o: ObjectId| ways[o.0 as usize] == 0 && own[self.groups.of[o.0 as usize] as usize] != 0;
        if !objects_where(heap, is_lost).any(|_| true) {
            return Ok(retained);
        }
        let mut live = BitSet::new(self.graph.nodes());
        ways.iter().zip(0..).filter(|(way, _)| **way != 0).for_each(|(_, node)| {
            live.insert(node);
        });
        let dead = ReachOrder::new(&self.graph, objects_where(heap, is_lost), Some(&live), progress)?;
        let mut at = vec![MaskSets::EMPTY; self.graph.nodes()];
        let _ = self.settle(&mut sets, &dead, &mut at, |sets, a, b| sets.join(a, b), progress)?;
        for &node in dead.nodes.iter().filter(|&&node| (node as usize) < n) {
            sets.count(at[node as usize] | sets.of_list(self.groups.of[node as usize]), one(node as usize));
        }
        retained.iter_mut().zip(sets.sums()).for_each(|(sum, more)| *sum += more);
        Ok(retained)
    }

    /// By node: the groups that a way from the roots to it avoids, its own not looked at; 0 where there is no way.
    fn ways(&self, own: &[u32], all: u32, progress: &Progress) -> Result<Vec<u32>> {
        let graph = &self.graph;
        let heap = graph.heap();
        let n = heap.object_count();
        let of = &self.groups.of;
        let mut ways = vec![0u32; graph.nodes()];
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); FEW + 1];
        let place = |way: u32| (way & !(REACHED | WAITS)).count_ones() as usize;
        for root in graph.roots() {
            ways[root.0 as usize] = all | REACHED | WAITS;
            waiting[place(all)].push(root.0);
        }
        let mut most = place(all);
        let mut batch = [0u32; BATCH];
        let mut batches = 0usize;
        loop {
            let Some(stack) = waiting.get_mut(most).filter(|stack| !stack.is_empty()) else {
                if most == 0 {
                    return Ok(ways);
                }
                most -= 1;
                continue;
            };
            batches += 1;
            if batches.is_multiple_of(CHECKED) {
                progress.check()?;
                progress.advance((BATCH * CHECKED) as u64);
            }
            let start = stack.len().saturating_sub(BATCH);
            let taken = stack.len() - start;
            batch[..taken].copy_from_slice(&stack[start..]);
            stack.truncate(start);
            let mut touched = 0usize;
            let objects = || batch[..taken].iter().filter(|&&node| (node as usize) < n);
            for &o in objects() {
                touched += heap.references(ObjectId(o)).len() + of[o as usize] as usize;
            }
            for &o in objects() {
                for target in heap.references(ObjectId(o)).iter().take(AHEAD) {
                    touched += ways[target.0 as usize] as usize;
                }
            }
            std::hint::black_box(touched);
            let mut next = most;
            for &node in &batch[..taken] {
                let way = ways[node as usize];
                if way & WAITS == 0 {
                    // It was taken with more bits.
                    continue;
                }
                ways[node as usize] = way & !WAITS;
                let mut out = way & !WAITS;
                if (node as usize) < n {
                    out &= !own[of[node as usize] as usize];
                }
                graph.kept_nodes(node, |target| {
                    let before = ways[target as usize];
                    let after = before | out;
                    if after != before {
                        ways[target as usize] = after | WAITS;
                        let to = place(after);
                        // It may wait with fewer bits already: it is taken once, with all of them.
                        waiting[to].push(target);
                        next = next.max(to);
                    }
                });
            }
            most = next;
        }
    }
}
