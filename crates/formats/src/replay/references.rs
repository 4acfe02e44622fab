//! References: reported by collections, object by object, as addresses; kept as numbers of objects.

use super::arena::Arena;
use super::map::{self, Entry, Slot};
use super::{Collecting, Observer, Replay};
use crate::event::Gc;
use rustc_hash::FxHashMap;

impl<O: Observer> Replay<O> {
    /// Turns the slots that references and roots of this GC hold into numbers.
    pub(super) fn resolve(&mut self, joined: &FxHashMap<u32, u32>) {
        let mut unknown = 0;
        let map = &self.map;
        let mut find = |slot: u32| {
            let slot = match joined.get(&Slot(slot).leaf()) {
                Some(&leaf) => Slot(slot).in_leaf(leaf),
                None => Slot(slot),
            };
            map.object(slot).map(Entry::number).unwrap_or_else(|| {
                unknown += 1;
                map::NONE
            })
        };
        for entry in map.all() {
            // Records of earlier GCs hold numbers already.
            if entry.record() != Arena::NONE && self.arena.time_of(entry.record()) == self.interval {
                for target in self.arena.of_mut(entry.record()) {
                    *target = find(*target);
                }
            }
        }
        for root in &mut self.roots {
            root.target = find(root.target);
        }
        self.roots.retain(|r| r.target != map::NONE);
        self.inconsistencies.unknown_targets += unknown;
    }

    /// References are what an object's record says, as numbers; those that are not meant any more are left out: their
    /// target is dead, or its number belongs to an object born later.
    pub(super) fn references_of(&self, record: u32) -> impl Iterator<Item = u32> + '_ {
        let reported = self.arena.time_of(record);
        let meant = move |&target: &u32| self.numbers.is_live(target) && self.numbers.birth(target) <= reported;
        self.arena.of(record).iter().copied().filter(meant)
    }

    /// References that the last GC reported and that lead to dead objects: none, if the trace is right. (What an earlier
    /// one reported may have been overwritten since.) Costs what there is.
    pub fn stale_references(&self) -> usize {
        let records = self.map.all().map(|e| e.record()).filter(|&r| r != Arena::NONE);
        let last = records.filter(|&r| self.arena.time_of(r) + 1 == self.interval);
        last.map(|r| self.arena.of(r).len() - self.references_of(r).count()).sum()
    }

    /// References that came before their object was known to be there.
    pub(super) fn take_early(&mut self, collecting: &Collecting) {
        for (object, targets, more) in std::mem::take(&mut self.early) {
            if !self.refer(collecting, object, &targets, more) {
                self.inconsistencies.unknown_objects += 1;
            }
        }
    }

    /// References that could not be written behind the others of their object.
    pub(super) fn take_later(&mut self) {
        for (object, more) in std::mem::take(&mut self.later) {
            if let Some(entry) = self.map.find_mut(&self.now, object) {
                let mut all = self.arena.of(entry.record()).to_vec();
                all.extend(more);
                self.arena.drop_record(entry.record());
                self.inconsistencies.unknown_targets += set_references(&mut self.arena, self.interval, entry, &all);
            }
        }
    }

    /// Notes references of the object at an address of the heap after the running GC. `false` when it is not known yet.
    pub(super) fn refer(&mut self, collecting: &Collecting, object: u64, targets: &[u64], more: bool) -> bool {
        let moved = self.map.find(&self.next, object).is_some();
        if !moved && self.map.find(&self.now, object).is_none_or(Entry::is_marked) {
            return false;
        }
        self.targets.clear();
        for &target in targets {
            match self.target(collecting.gc, target) {
                Some(found) => self.targets.push(found),
                None => self.inconsistencies.unknown_targets += 1,
            }
        }
        let directory = if moved { &self.next } else { &self.now };
        if !moved {
            self.map.set_mixed(self.now.get(object >> map::LEAF_SHIFT));
        }
        let Some(entry) = self.map.find_mut(directory, object) else { return false };
        let now = self.interval;
        if more && entry.record() != Arena::NONE && self.arena.time_of(entry.record()) == now {
            if self.later.contains_key(&object) || !self.arena.extend_last(entry.record(), &self.targets) {
                self.later.entry(object).or_default().extend_from_slice(&self.targets);
            }
            return true;
        }
        if !self.later.is_empty() {
            self.later.remove(&object);
        }
        if !self.arena.overwrite(entry.record(), now, &self.targets) {
            self.arena.drop_record(entry.record());
            self.inconsistencies.unknown_targets += set_references(&mut self.arena, now, entry, &self.targets);
        }
        true
    }

    /// What a reference leads to: a number, or a slot of the heap after a GC whose references mean that.
    #[inline]
    pub(super) fn target(&mut self, gc: Gc, address: u64) -> Option<u32> {
        match gc.targets_after {
            true => self.map.slot(&mut self.next, address, map::NONE).map(|slot| slot.0),
            false => self.object_before(address),
        }
    }

    /// The object that a reference reported in a minor GC leads to: addresses are from before it.
    #[inline]
    pub(super) fn object_before(&self, address: u64) -> Option<u32> {
        self.map.find(&self.now, address).or_else(|| self.map.find(&self.next, address)).map(Entry::number)
    }
}

/// Gives an object its references. Returns how many could not be kept: those beyond four billion.
fn set_references(arena: &mut Arena, now: u32, entry: &mut Entry, targets: &[u32]) -> u64 {
    let record = arena.add(now, targets);
    entry.set_record(record.unwrap_or(Arena::NONE));
    if record.is_some() { 0 } else { targets.len() as u64 }
}
