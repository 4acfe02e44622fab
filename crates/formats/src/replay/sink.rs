//! The event sink of a replay: applies each event to the heap.

use super::arena::grow;
use super::limits::Full;
use super::map::{Entry, NONE, Spot, SpotUnit};
use super::{Collecting, Collection, MOST_CHECKED, Moment, Observer, Replay, ReplayRoot, arena};
use crate::event::{EventSink, Gc, GcKind, InfoId, ObjectInfo, ObjectKey};
use crate::spaces::{Space, Spaces};
use hashbrown::hash_table;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::{RootKind, SpaceKind, ThreadId};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::sync::Arc;

impl<O: Observer> EventSink for Replay<O> {
    fn thread(&mut self, name: &str) -> ThreadId {
        self.threads.push(Arc::from(name));
        ThreadId(self.threads.len() as u32 - 1)
    }

    fn name_thread(&mut self, thread: ThreadId, name: &str) {
        if let Some(known) = self.threads.get_mut(thread.0 as usize) {
            *known = Arc::from(name);
        }
    }

    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn change_space(&mut self, index: u32, change: impl FnOnce(&mut Space)) -> bool {
        let before = self.spaces.get(index).copied().unwrap_or_default();
        if !self.spaces.set(index, change) {
            return false;
        }
        let after = self.spaces.get(index).copied().unwrap_or_default();
        let ((old_start, old_end), (start, end)) = (before.range(), after.range());
        let same = before.kind == after.kind && start < old_end && old_start < end;
        // What it covers as before is of its kind already.
        let between = |a: u64, b: u64| (a.min(b), a.max(b));
        let changed = match same {
            true => [between(start, old_start), between(old_end, end)],
            false => [(old_start, old_end), (start, end)],
        };
        for (start, end) in changed {
            // Where nothing is yet, nothing changes: regions get their kind before their objects.
            let unknown = self.collecting.is_some() || self.changed_ranges.len() > MOST_CHECKED;
            if start < end && (unknown || self.inhabited(start, end)) {
                self.changed_ranges.push((start, end));
            }
        }
        true
    }

    fn remove_spaces(&mut self, first: u32, count: u64) {
        let removed = self.spaces.all().iter().skip(first as usize).take(count.min(1 << 32) as usize);
        self.changed_ranges.extend(removed.filter(|s| s.bytes > 0).map(Space::range));
        self.spaces.remove(first, count);
    }

    fn info(&mut self, info: ObjectInfo) -> InfoId {
        let infos = &mut self.infos;
        let hash = |&id: &u32| FxBuildHasher.hash_one(infos[id as usize]);
        let entry = self.info_ids.entry(FxBuildHasher.hash_one(info), |&id| infos[id as usize] == info, hash);
        if let hash_table::Entry::Occupied(entry) = entry {
            return InfoId(*entry.get());
        }
        let id = infos.len() as u32;
        entry.insert(id);
        grow(infos);
        infos.push(info);
        InfoId(id)
    }

    #[inline]
    fn allocate(&mut self, info: InfoId, length: u32, object: ObjectKey) -> u64 {
        // What is asked for by name is known where it is called: each way is a function of its own.
        match object {
            ObjectKey::Address(address) => self.allocate_at(info, length, address),
            ObjectKey::Id(id) => self.allocate_known(info, length, id),
        }
    }

    #[inline]
    fn moved(&mut self, from: u64, to: u64) -> Option<u64> {
        self.events += 1;
        let Some(kind) = self.space_at(to) else {
            self.inconsistencies.misplaced += 1;
            return None;
        };
        if !self.map.unit.fits(from) {
            self.inconsistencies.unknown_objects += 1;
            return None;
        }
        self.carry(self.map.unit.spot_at(from), |unit| unit.spot_at(to), kind)
    }

    fn kept(&mut self, object: ObjectKey) -> bool {
        self.events += 1;
        let (Some(spot), Some(kind)) = (self.map.unit.spot(object), self.space_of(object)) else {
            self.inconsistencies.misplaced += 1;
            return false;
        };
        self.carry(spot, |_| spot, kind).is_some()
    }

    fn freed(&mut self, object: ObjectKey) -> bool {
        self.events += 1;
        let Some(entry) = self.map.unit.spot(object).and_then(|spot| self.take_out(spot)) else {
            self.inconsistencies.unknown_objects += 1;
            return false;
        };
        if !self.later.is_empty() {
            self.later.remove(&object);
        }
        if let Some(collecting) = &mut self.collecting {
            collecting.freed += 1;
        }
        self.bury(entry);
        true
    }

    fn located(&mut self, id: u64, address: u64) -> bool {
        self.events += 1;
        let Some(number) = self.object_before(ObjectKey::Id(id)) else {
            self.inconsistencies.unknown_objects += 1;
            return false;
        };
        self.located.insert(number, address);
        true
    }

    fn known(&self, object: ObjectKey) -> bool {
        self.object_before(object).is_some()
    }

    fn references(&mut self, object: ObjectKey, targets: &[ObjectKey], more: bool) {
        self.events += 1;
        let Some(collecting) = self.collecting.take() else {
            self.inconsistencies.unknown_objects += 1;
            return;
        };
        if !self.refer(&collecting, object, targets, more) {
            self.early.push((object, targets.to_vec(), more));
        }
        self.collecting = Some(collecting);
    }

    fn root(&mut self, kind: RootKind, thread: ThreadId, detail: &str, target: ObjectKey) {
        self.events += 1;
        let Some(collecting) = &self.collecting else { return };
        match self.target(collecting.gc, target) {
            Some(target) => {
                let detail = self.details.number(detail);
                // Checkpoints know these kinds alone: a heap is the same from there.
                let kind = if let RootKind::Own { .. } = kind { RootKind::Other } else { kind };
                self.roots.push(ReplayRoot { kind, thread, detail, target });
            }
            None => self.inconsistencies.unknown_targets += 1,
        }
    }

    fn gc_start(&mut self, gc: Gc) -> Result<()> {
        self.events += 1;
        self.check()?;
        if let Some(running) = &self.collecting {
            return Err(Error::Unusable {
                what: format!("GC {} begins before GC {} has ended", gc.number, running.gc.number),
                remedy: "Record the trace again: its garbage collections overlap".into(),
            });
        }
        if self.interval >= arena::MOST_TIMES - 1 {
            return Err(Error::Unusable {
                what: format!("The trace has more than {} garbage collections", arena::MOST_TIMES - 1),
                remedy: "Record a shorter run".into(),
            });
        }
        self.relabel();
        self.reached(Moment { gc: self.interval, end: false });
        self.roots.clear();
        self.details.clear();
        self.located.clear();
        self.collecting = Some(Collecting { gc, named: Vec::new(), young: self.young(), freed: 0 });
        Ok(())
    }

    fn collects(&mut self, space: u32) {
        if let (Some(collecting), Some(space)) = (&mut self.collecting, self.spaces.get(space))
            && collecting.gc.kind == GcKind::Minor
        {
            collecting.named.push(space.range());
        }
    }

    fn gc_end(&mut self, gc: Gc) -> Result<()> {
        self.events += 1;
        self.check()?;
        let Some(collecting) = self.collecting.take() else {
            return Err(Error::Unusable {
                what: format!("GC {} ends without having begun", gc.number),
                remedy: "Record the trace again: its garbage collections overlap".into(),
            });
        };
        // Objects of the heap before can still be found by address until the sweep.
        self.take_early(&collecting);
        let freed = collecting.freed + self.sweep(&collecting);
        let joined = self.join();
        self.take_later();
        if collecting.gc.targets_after {
            self.resolve(&joined);
        }
        for number in std::mem::take(&mut self.dying) {
            self.numbers.release(number);
        }
        self.check()?;
        if self.arena.is_wasteful() {
            let map = &mut self.map;
            self.arena.compact(|place| map.all_mut().for_each(|entry| entry.set_record(place(entry.record()))));
        }
        self.relabel();
        self.observer.collected(Collection {
            number: collecting.gc.number,
            kind: collecting.gc.kind,
            cause: collecting.gc.cause,
            start: collecting.gc.millis,
            end: gc.millis.max(collecting.gc.millis),
            failed: collecting.gc.failed || gc.failed,
            freed,
        });
        self.numbers.rewind();
        self.map.settle();
        let moment = Moment { gc: self.interval, end: true };
        self.interval += 1;
        self.reached(moment);
        Ok(())
    }

    fn satisfied(&self) -> bool {
        self.stopped
    }
}

impl<O: Observer> Replay<O> {
    fn allocate_at(&mut self, info: InfoId, length: u32, address: u64) -> u64 {
        self.born(info, length, self.space_at(address), |unit| unit.spot_at(address))
    }

    fn allocate_known(&mut self, info: InfoId, length: u32, id: u64) -> u64 {
        self.born(info, length, Some(SpaceKind::Unknown), |unit| unit.spot_of(id))
    }

    /// An object is born in a space of a kind, if it can be there. Its spot is asked for when it is needed: this has few
    /// registers to spare.
    #[inline(always)]
    fn born(
        &mut self,
        info: InfoId,
        length: u32,
        kind: Option<SpaceKind>,
        spot: impl Fn(SpotUnit) -> Spot + Copy,
    ) -> u64 {
        self.events += 1;
        let shape = || self.program.shapes[self.infos[info.0 as usize].type_id as usize].packed();
        let Some(kind) = kind else {
            self.inconsistencies.misplaced += 1;
            return shape().size(u64::from(self.program.alignment) - 1, || length);
        };
        let (cohort, size) = self.cohorts.born(info, self.interval, kind, shape, length);
        let Some(number) = self.numbers.take(self.interval) else {
            self.full = Some(Full::Objects);
            return size;
        };
        // Until the next GC says otherwise, what is born in a young space passes.
        let mut born = self.interval;
        if !kind.is_young() || self.collecting.is_some() {
            self.stays(number, spot(self.map.unit));
            born = NONE;
        }
        if !self.place(Entry::new(number, cohort, length), spot, born) {
            self.numbers.release(number);
            return size;
        }
        self.cohorts.add(cohort, size);
        self.live += 1;
        size
    }

    /// An object will be born at a spot that does not pass; nor is its leaf one whose objects pass together.
    #[inline(never)]
    fn stays(&mut self, number: u32, spot: Spot) {
        self.numbers.keep(number);
        if self.collecting.is_none() {
            self.map.set_mixed(self.now.get(spot.page()));
        }
    }

    /// The running GC reports the object that is `here`: it will be `there`, in a space of that kind.
    #[inline(always)]
    fn carry(&mut self, here: Spot, there: impl FnOnce(SpotUnit) -> Spot, kind: SpaceKind) -> Option<u64> {
        if self.collecting.is_none() {
            self.inconsistencies.unknown_objects += 1;
            return None;
        }
        // Where one object was, another may have been moved to already: the heap before comes first. What is only in the
        // heap after is moved a second time.
        let mut entry = match self.map.mark(&mut self.now, here) {
            Some(entry) => entry,
            None => match self.map.take(&self.next, here) {
                Some(entry) => {
                    self.leave_next(entry);
                    entry
                }
                None => {
                    self.inconsistencies.unknown_objects += 1;
                    return None;
                }
            },
        };
        self.numbers.keep(entry.number());
        let cohort = self.cohorts.in_space(entry.cohort(), kind);
        let size = self.cohorts.size(cohort, || entry.length());
        if cohort != entry.cohort() {
            self.cohorts.remove(entry.cohort(), size);
            self.cohorts.add(cohort, size);
            entry.set_cell(cohort);
        }
        if !self.place(entry, there, NONE) {
            self.bury(entry);
            return None;
        }
        Some(size)
    }

    /// Takes an object out of the heap after the running GC, or out of the heap now if that has not been reported.
    fn take_out(&mut self, spot: Spot) -> Option<Entry> {
        if self.collecting.is_some()
            && let Some(entry) = self.map.take(&self.next, spot)
        {
            self.leave_next(entry);
            return Some(entry);
        }
        self.map.take(&self.now, spot)
    }
}
