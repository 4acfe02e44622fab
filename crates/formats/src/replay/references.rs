//! References of a replay: reported by collections, object by object, as addresses; kept as numbers of objects.

use super::arena::Arena;
use super::limits::Full;
use super::map::{self, Entry};
use super::{Collecting, Observer, Replay};
use crate::event::{Gc, ObjectKey};
use rustc_hash::FxHashMap;

impl<O: Observer> Replay<O> {
    /// Turns the words of slots that references and roots of this GC hold into numbers.
    pub(super) fn resolve(&mut self, joined: &FxHashMap<u32, u32>) {
        let mut unknown = 0;
        let map = &self.map;
        let mut find = |word: u32| {
            let slot = map.slot_of(word);
            let slot = joined.get(&slot.leaf()).map_or(slot, |&leaf| slot.in_leaf(leaf));
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
        self.map.forget_words();
        self.inconsistencies.unknown_targets += unknown;
    }

    /// The references in an object's record, as numbers. Stale ones are left out: their target is dead, or its number belongs to an object
    /// born later.
    pub(super) fn references_of(&self, record: u32) -> impl Iterator<Item = u32> + '_ {
        let reported = self.arena.time_of(record);
        let meant = move |&target: &u32| self.numbers.is_live(target) && self.numbers.birth(target) <= reported;
        self.arena.of(record).iter().copied().filter(meant)
    }

    /// References of the last GC that lead to dead objects: none, if the trace is right. (Those of an earlier GC may have been overwritten
    /// since.) Linear in the heap.
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
            let spot = self.map.unit.spot(object);
            if let Some(entry) = spot.and_then(|spot| self.map.find_mut(&self.now, spot)) {
                let mut all = self.arena.of(entry.record()).to_vec();
                all.extend(more);
                self.arena.drop_record(entry.record());
                match self.arena.add(self.interval, &all) {
                    Some(record) => entry.set_record(record),
                    None => self.full = Some(Full::References),
                }
            }
        }
    }

    /// Notes references of an object of the heap after the running GC. `false` when it is not known yet.
    pub(super) fn refer(
        &mut self,
        collecting: &Collecting,
        object: ObjectKey,
        targets: &[ObjectKey],
        more: bool,
    ) -> bool {
        let Some(spot) = self.map.unit.spot(object) else { return false };
        let moved = self.map.find(&self.next, spot).is_some();
        if !moved && self.map.find(&self.now, spot).is_none_or(Entry::is_marked) {
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
            self.map.set_mixed(self.now.get(spot.page()));
        }
        let Some(entry) = self.map.find_mut(directory, spot) else { return false };
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
            let record = self.arena.add(now, &self.targets);
            entry.set_record(record.unwrap_or(Arena::NONE));
            if record.is_none() {
                self.full = Some(Full::References);
            }
        }
        true
    }

    /// The target of a reference: a number, or a slot word of the heap after the GC if the references of that GC use slots.
    #[inline]
    pub(super) fn target(&mut self, gc: Gc, target: ObjectKey) -> Option<u32> {
        if !gc.targets_after {
            return self.object_before(target);
        }
        let spot = self.map.unit.spot(target)?;
        let Some(slot) = self.map.slot(&mut self.next, spot, map::NONE) else {
            self.full = Some(Full::Leaves);
            return None;
        };
        let word = self.map.word(slot);
        if word.is_none() {
            self.full = Some(Full::References);
        }
        word
    }

    /// The object that a reference reported in a minor GC leads to: addresses are from before it.
    #[inline]
    pub(super) fn object_before(&self, object: ObjectKey) -> Option<u32> {
        let spot = self.map.unit.spot(object)?;
        self.map.find(&self.now, spot).or_else(|| self.map.find(&self.next, spot)).map(Entry::number)
    }
}
