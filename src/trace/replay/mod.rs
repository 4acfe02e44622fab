//! The reconstructor: replays the events of a trace into the heap at every moment, with object identity over time.
//!
//! An object has a number for life, which is free again when it is dead; so number and birth together are its identity.
//! The [`map`] finds objects by address. A collection marks what it reports, and writes it into a second directory
//! of the map; at its end, what is not marked in the collected spaces is dead, and the second directory becomes part of
//! the first. So a collection costs what it collects, not what there is.
//!
//! [`cells`] counts the objects that nothing tells apart but their address. Their changes at each GC start and end are
//! the whole history as far as grouping is concerned. Nothing here knows a file format.

pub mod arena;
pub mod cells;
pub mod map;
mod saved;
mod state;
mod vacant;

pub use cells::{CellKey, Change};
pub use saved::SavedReplay;

use super::event::{EventSink, Gc, GcKind, InfoId, ObjectInfo, Program};
use super::spaces::{Space, Spaces};
use crate::error::{Error, Result};
use crate::heap::{Identity, RootKind, SpaceKind, ThreadId};
use arena::{Arena, grow};
use cells::Cells;
use hashbrown::{HashTable, hash_table};
use map::{Directory, Entry, Map, Slot};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::Arc;
use vacant::Vacant;

/// A moment of a trace: before or after a GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Which GC, in the order of the trace, from 0.
    pub gc: u32,
    /// Its end, or its start.
    pub end: bool,
}

/// A finished garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Collection {
    /// The trace's own number.
    pub number: u32,
    /// Its kind.
    pub kind: GcKind,
    /// Index into [`Program::causes`].
    pub cause: u32,
    /// When it began, milliseconds since the program started.
    pub start: u64,
    /// When it ended, the same.
    pub end: u64,
    /// The collector said that it failed.
    pub failed: bool,
    /// Objects it freed.
    pub freed: u64,
}

/// What the replay tells whoever runs it. Called between events.
pub trait Observer {
    /// A moment was reached; `changes` came since the moment before.
    fn moment(&mut self, moment: Moment, changes: Vec<Change>, infos: &[ObjectInfo]);
    /// A collection ended.
    fn collected(&mut self, collection: Collection);
}

/// Watches nothing.
impl Observer for () {
    fn moment(&mut self, _: Moment, _: Vec<Change>, _: &[ObjectInfo]) {}
    fn collected(&mut self, _: Collection) {}
}

/// Numbers there can be: they have 31 bits.
const MOST_NUMBERS: usize = 1 << 31;

/// So many changes of spaces are looked at when they come; more of them together.
const MOST_CHECKED: usize = 64;

/// A root: kind, thread, detail, and target (a number, or a slot until the end of the GC).
#[derive(Clone, Copy, Debug)]
struct ReplayRoot {
    kind: RootKind,
    thread: ThreadId,
    detail: &'static str,
    target: u32,
}

/// What does not fit together in a trace. Counted, so that it can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Oddities {
    /// Moves and references of objects that are not there.
    pub unknown_objects: u64,
    /// References to places where no object is.
    pub unknown_targets: u64,
    /// Objects allocated or moved onto a live one: the other was dead without having been reported.
    pub overwritten: u64,
    /// Objects outside every space, or at addresses no object can have.
    pub misplaced: u64,
}

/// The running collection.
struct Collecting {
    gc: Gc,
    /// Address ranges it said it collects, as the spaces were then: they may be gone at its end.
    named: Vec<(u64, u64)>,
    /// What it collects if it names nothing.
    unnamed: Vec<(u64, u64)>,
    /// Where young objects were when it began.
    young: Vec<(u64, u64)>,
}

/// The heap, reconstructed.
pub struct Replay<O> {
    program: Arc<Program>,
    /// Who is told.
    pub observer: O,
    threads: Vec<Arc<str>>,
    spaces: Spaces,
    infos: Vec<ObjectInfo>,
    info_ids: HashTable<u32>,
    cells: Cells,
    /// By number of an object: the GC interval it was born in.
    births: Vec<u32>,
    vacant: Vacant,
    map: Map,
    now: Directory,
    next: Directory,
    arena: Arena,
    /// Further references of objects whose record is not the last one, by address, until the end of the GC.
    later: FxHashMap<u64, Vec<u32>>,
    /// References of objects that were not there yet, by address after the GC.
    early: Vec<(u64, Vec<u64>, bool)>,
    /// The targets of the object at hand.
    targets: Vec<u32>,
    roots: Vec<ReplayRoot>,
    collecting: Option<Collecting>,
    /// Where the kind of space may have changed since the last GC.
    changed_ranges: Vec<(u64, u64)>,
    /// GCs that have ended.
    interval: u32,
    oddities: Oddities,
    /// Live objects.
    live: u64,
    events: u64,
    stop: Option<Moment>,
    stopped: bool,
}

impl<O: Observer> Replay<O> {
    /// An empty heap.
    pub fn new(program: Arc<Program>, observer: O) -> Self {
        Replay {
            program,
            observer,
            threads: vec![Arc::from("(unknown thread)")],
            spaces: Spaces::default(),
            infos: Vec::new(),
            info_ids: HashTable::new(),
            cells: Cells::default(),
            births: Vec::new(),
            vacant: Vacant::default(),
            map: Map::default(),
            now: Directory::default(),
            next: Directory::default(),
            arena: Arena::default(),
            later: FxHashMap::default(),
            early: Vec::new(),
            targets: Vec::new(),
            roots: Vec::new(),
            collecting: None,
            changed_ranges: Vec::new(),
            interval: 0,
            oddities: Oddities::default(),
            live: 0,
            events: 0,
            stop: None,
            stopped: false,
        }
    }

    /// Stops at a moment: [`EventSink::satisfied`] is true from there on. Only forward.
    pub fn stop_at(&mut self, moment: Moment) {
        self.stopped = false;
        self.stop = Some(moment);
    }

    /// Whether the moment asked for was reached.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// GCs that have ended.
    pub fn interval(&self) -> u32 {
        self.interval
    }

    /// Whether a GC is going on.
    pub fn is_collecting(&self) -> bool {
        self.collecting.is_some()
    }

    /// Live objects.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Events taken.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Words that references take, waste included: none when none was ever reported.
    pub fn reference_words(&self) -> usize {
        self.arena.memory() / 4
    }

    /// What did not fit together so far.
    pub fn oddities(&self) -> Oddities {
        self.oddities
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Names of threads.
    pub fn threads(&self) -> &[Arc<str>] {
        &self.threads
    }

    /// Creation data by id.
    pub fn infos(&self) -> &[ObjectInfo] {
        &self.infos
    }

    /// The identity of the object at an address.
    pub fn identity_at(&self, address: u64) -> Option<Identity> {
        let number = self.map.find(&self.now, address)?.number();
        Some(Identity { number, birth: self.births[number as usize] })
    }

    /// Where the object of an identity is, and in which kind of space; `None` when it is not alive. Looks at all objects.
    pub fn place_of(&mut self, identity: Identity) -> Option<(u64, SpaceKind)> {
        if *self.births.get(identity.number as usize)? != identity.birth || !self.is_live(identity.number) {
            return None;
        }
        let pages = self.now.pages().to_vec();
        let mut all = pages.iter().flat_map(|&page| self.map.objects(self.now.get(page)));
        let (address, entry) = all.find(|(_, entry)| entry.number() == identity.number)?;
        Some((address, self.cells.key(entry.cell()).space))
    }

    /// Bytes of memory the heap takes, by capacity.
    pub fn memory(&self) -> usize {
        self.memory_parts().iter().map(|p| p.1).sum()
    }

    /// The same by part: numbers, objects, references, cells, creation data.
    pub fn memory_parts(&self) -> [(&'static str, usize); 5] {
        [
            ("numbers", 4 * self.births.capacity() + self.vacant.memory()),
            ("objects", self.map.memory() + self.now.memory() + self.next.memory()),
            ("references", self.arena.memory() + self.roots.capacity() * size_of::<ReplayRoot>()),
            ("cells", self.cells.memory()),
            ("infos", self.infos.capacity() * size_of::<ObjectInfo>() + self.info_ids.allocation_size()),
        ]
    }

    /// Takes a number for an object, the next one that was free at the end of the last GC. `None` when there are two
    /// billion.
    #[inline]
    fn number(&mut self) -> Option<u32> {
        if let Some(number) = self.vacant.next() {
            self.births[number as usize] = self.interval;
            return Some(number);
        }
        if self.births.len() >= MOST_NUMBERS - 1 {
            return None;
        }
        grow(&mut self.births);
        self.births.push(self.interval);
        Some(self.births.len() as u32 - 1)
    }

    /// Whether a number is that of a live object.
    fn is_live(&self, number: u32) -> bool {
        (number as usize) < self.births.len() && !self.vacant.is_free(number)
    }

    /// An object is dead; it is out of the map.
    #[inline]
    fn bury(&mut self, entry: Entry) {
        self.vacant.add(entry.number());
        self.arena.drop_record(entry.record());
        let size = self.cells.size(entry.cell(), || entry.length());
        self.cells.remove(entry.cell(), size);
        self.live -= 1;
    }

    /// Puts an object at an address of the heap now, or of the heap after the running GC.
    // Not through memory: an entry is four words, which a call would write one by one and read back together.
    #[inline(always)]
    fn place(&mut self, entry: Entry, address: u64) -> bool {
        let (directory, born) = match self.collecting {
            Some(_) => (&mut self.next, map::NONE),
            None => (&mut self.now, self.interval),
        };
        let Some(slot) = self.map.slot(directory, address, born) else { return false };
        let other = self.map.put(slot, entry);
        if born == map::NONE {
            self.cells.stay(entry.cell(), || entry.length());
        }
        if let Some(other) = other {
            self.overwrite(other);
        }
        true
    }

    /// Another object was put where this one is.
    #[cold]
    fn overwrite(&mut self, other: Entry) {
        self.oddities.overwritten += 1;
        self.leave_next(other);
        self.bury(other);
    }

    /// An object is taken out of the heap after the running GC.
    fn leave_next(&mut self, entry: Entry) {
        if self.collecting.is_some() {
            self.cells.leave(entry.cell(), || entry.length());
        }
    }

    fn reached(&mut self, moment: Moment) {
        let changes = self.cells.take_changes();
        self.observer.moment(moment, changes, &self.infos);
        if self.stop.is_some_and(|stop| stop <= moment) {
            self.stopped = true;
        }
    }

    /// The end of a trace in which no GC ever ended: what there is becomes its only moment.
    pub fn finish(&mut self) {
        if self.interval == 0 && self.collecting.is_none() {
            self.reached(Moment { gc: 0, end: false });
        }
    }

    /// The address ranges a GC collects, where it does not name them.
    fn collected_by_default(&self, kind: GcKind) -> Vec<(u64, u64)> {
        match kind {
            GcKind::Major => vec![(0, u64::MAX)],
            GcKind::Minor => self.spaces.all().iter().filter(|s| s.kind.is_young()).map(Space::range).collect(),
        }
    }

    /// Buries what the collected ranges still hold of the heap before. Returns how many objects.
    fn sweep(&mut self, ranges: &[(u64, u64)], young: &[(u64, u64)]) -> u64 {
        let before = self.live;
        // If all young spaces are collected, what was born in them and not reported is dead: its number and its place
        // in the counts are taken back with those of all others, and its leaf without a look at what is in it.
        let inhabited: Vec<_> = young.iter().copied().filter(|&(a, b)| self.now.has_between(a, b)).collect();
        let passing = covers(ranges, &inhabited);
        let mut dead = Vec::new();
        for &(start, end) in ranges {
            for page in self.now.pages_between(start, end) {
                let leaf = self.now.get(page);
                let first = page << map::LEAF_SHIFT;
                // What was reported is in the heap after.
                let keep_dead = |entry: Entry| {
                    if !entry.is_marked() {
                        dead.push(entry);
                    }
                };
                if start > first || end - first < 1 << map::LEAF_SHIFT {
                    self.map.cut(leaf, start..end, keep_dead);
                } else if passing && self.map.born(leaf) == self.interval {
                    self.now.set(page, map::NONE);
                    self.live -= self.map.discard(leaf) as u64;
                } else {
                    self.now.set(page, map::NONE);
                    self.map.release(leaf, keep_dead);
                }
                dead.drain(..).for_each(|entry| self.bury(entry));
            }
        }
        self.map.drop_marked();
        self.cells.settle(passing);
        if passing {
            self.vacant.free_passing()
        } else {
            self.vacant.keep_all()
        }
        before - self.live
    }

    /// Makes the heap after the GC part of the heap now. Returns where leaves went that met another.
    fn join(&mut self) -> FxHashMap<u32, u32> {
        let mut joined = FxHashMap::default();
        let mut objects = Vec::new();
        for (page, leaf) in self.next.drain() {
            let here = self.now.get(page);
            if here == map::NONE && self.now.set(page, leaf) {
                self.map.trim(leaf);
                continue;
            }
            joined.insert(leaf, here);
            objects.clear();
            objects.extend(self.map.objects(leaf));
            self.map.release(leaf, |_| ());
            for &(address, entry) in &objects {
                match self.map.slot(&mut self.now, address, map::NONE) {
                    Some(slot) => {
                        self.map.set_mixed(slot.leaf());
                        if let Some(other) = self.map.put(slot, entry) {
                            self.oddities.overwritten += 1;
                            self.bury(other);
                        }
                    }
                    None => {
                        self.oddities.misplaced += 1;
                        self.bury(entry);
                    }
                }
            }
        }
        joined
    }

    /// Turns the slots that references and roots of this GC hold into numbers.
    fn resolve(&mut self, joined: &FxHashMap<u32, u32>) {
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
        self.oddities.unknown_targets += unknown;
    }

    /// References are what an object's record says, as numbers; those that are not meant any more are left out: their
    /// target is dead, or its number belongs to an object born later.
    fn references_of(&self, record: u32) -> impl Iterator<Item = u32> + '_ {
        let reported = self.arena.time_of(record);
        let meant = move |&target: &u32| self.is_live(target) && self.births[target as usize] <= reported;
        self.arena.of(record).iter().copied().filter(meant)
    }

    /// References that the last GC reported and that lead to dead objects: none, if the trace is right. (What an earlier
    /// one reported may have been overwritten since.) Costs what there is.
    pub fn stale_references(&self) -> usize {
        let records = self.map.all().map(|e| e.record()).filter(|&r| r != Arena::NONE);
        let last = records.filter(|&r| self.arena.time_of(r) + 1 == self.interval);
        last.map(|r| self.arena.of(r).len() - self.references_of(r).count()).sum()
    }

    /// Objects where the kind of space changed are counted under the new one.
    fn relabel(&mut self) {
        let mut kinds = Vec::new();
        for (start, end) in merged(std::mem::take(&mut self.changed_ranges)) {
            for page in self.now.pages_between(start, end) {
                let leaf = self.now.get(page);
                kinds.clear();
                kinds.extend(self.map.objects(leaf).map(|(address, _)| self.spaces.kind_at(address)));
                let mut mixed = false;
                for (entry, &kind) in self.map.entries_mut(leaf).iter_mut().zip(&kinds) {
                    let target = self.cells.in_space(entry.cell(), kind);
                    if target != entry.cell() {
                        mixed = true;
                        self.vacant.keep(entry.number());
                        let size = self.cells.size(target, || entry.length());
                        self.cells.remove(entry.cell(), size);
                        self.cells.add(target, size);
                        entry.set_cell(target);
                    }
                }
                if mixed {
                    self.map.set_mixed(leaf);
                }
            }
        }
    }

    /// References that came before their object was known to be there.
    fn take_early(&mut self, collecting: &Collecting) {
        for (object, targets, more) in std::mem::take(&mut self.early) {
            if !self.refer(collecting, object, &targets, more) {
                self.oddities.unknown_objects += 1;
            }
        }
    }

    /// References that could not be written behind the others of their object.
    fn take_later(&mut self) {
        for (object, more) in std::mem::take(&mut self.later) {
            if let Some(entry) = self.map.find_mut(&self.now, object) {
                let mut all = self.arena.of(entry.record()).to_vec();
                all.extend(more);
                self.arena.drop_record(entry.record());
                self.oddities.unknown_targets += set_references(&mut self.arena, self.interval, entry, &all);
            }
        }
    }

    /// Notes references of the object at an address of the heap after the running GC. `false` when it is not known yet.
    fn refer(&mut self, collecting: &Collecting, object: u64, targets: &[u64], more: bool) -> bool {
        let moved = self.map.find(&self.next, object).is_some();
        if !moved && self.map.find(&self.now, object).is_none_or(Entry::is_marked) {
            return false;
        }
        self.targets.clear();
        for &target in targets {
            let found = match collecting.gc.targets_after {
                true => self.map.slot(&mut self.next, target, map::NONE).map(|s| s.0),
                false => self.object_before(target),
            };
            match found {
                Some(found) => self.targets.push(found),
                None => self.oddities.unknown_targets += 1,
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
            self.oddities.unknown_targets += set_references(&mut self.arena, now, entry, &self.targets);
        }
        true
    }

    /// The object that a reference reported in a minor GC leads to: addresses are from before it.
    #[inline]
    fn object_before(&self, address: u64) -> Option<u32> {
        self.map.find(&self.now, address).or_else(|| self.map.find(&self.next, address)).map(Entry::number)
    }
}

/// Ranges without overlaps, in order.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    ranges
}

/// Whether some ranges hold all of others.
fn covers(ranges: &[(u64, u64)], others: &[(u64, u64)]) -> bool {
    let ranges = merged(ranges.to_vec());
    others.iter().all(|&(start, end)| {
        let at = ranges.partition_point(|range| range.0 <= start);
        start >= end || at > 0 && ranges[at - 1].1 >= end
    })
}

/// Gives an object its references. Returns how many could not be kept: those beyond four billion.
fn set_references(arena: &mut Arena, now: u32, entry: &mut Entry, targets: &[u32]) -> u64 {
    let record = arena.add(now, targets);
    entry.set_record(record.unwrap_or(Arena::NONE));
    if record.is_some() { 0 } else { targets.len() as u64 }
}

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
            if start < end && (unknown || self.now.has_between(start, end)) {
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
    fn allocate(&mut self, info: InfoId, length: u32, address: u64) -> u64 {
        self.events += 1;
        let shape = || self.program.shapes[self.infos[info.0 as usize].type_id as usize].packed();
        let Some(kind) = self.spaces.at(address).filter(|_| address & 7 == 0).map(|s| s.kind) else {
            self.oddities.misplaced += 1;
            return shape().size(|| length);
        };
        let cell = self.cells.born(info, self.interval, kind, shape);
        let size = self.cells.size(cell, || length);
        let Some(number) = self.number() else {
            self.oddities.misplaced += 1;
            return size;
        };
        // Until the next GC says otherwise, what is born in a young space passes.
        if kind.is_young() && self.collecting.is_none() {
            self.vacant.pass(number);
        }
        if !self.place(Entry::new(number, cell, length), address) {
            self.oddities.misplaced += 1;
            self.vacant.add(number);
            return size;
        }
        self.cells.add(cell, size);
        self.live += 1;
        size
    }

    #[inline]
    fn moved(&mut self, from: u64, to: u64) -> Option<u64> {
        self.events += 1;
        let Some(kind) = self.spaces.at(to).filter(|_| to & 7 == 0).map(|s| s.kind) else {
            self.oddities.misplaced += 1;
            return None;
        };
        if self.collecting.is_none() {
            self.oddities.unknown_objects += 1;
            return None;
        }
        // Where one object was, another may have been moved to already: the heap before comes first. What is only in the
        // heap after is moved a second time.
        let mut entry = match self.map.mark(&mut self.now, from) {
            Some(entry) => entry,
            None => match self.map.take(&self.next, from) {
                Some(entry) => {
                    self.leave_next(entry);
                    entry
                }
                None => {
                    self.oddities.unknown_objects += 1;
                    return None;
                }
            },
        };
        self.vacant.keep(entry.number());
        let cell = self.cells.in_space(entry.cell(), kind);
        let size = self.cells.size(cell, || entry.length());
        if cell != entry.cell() {
            self.cells.remove(entry.cell(), size);
            self.cells.add(cell, size);
            entry.set_cell(cell);
        }
        if !self.place(entry, to) {
            self.oddities.misplaced += 1;
            self.bury(entry);
            return None;
        }
        Some(size)
    }

    fn known(&self, at: u64) -> bool {
        self.object_before(at).is_some()
    }

    fn references(&mut self, object: u64, targets: &[u64], more: bool) {
        self.events += 1;
        let Some(collecting) = self.collecting.take() else {
            self.oddities.unknown_objects += 1;
            return;
        };
        if !self.refer(&collecting, object, targets, more) {
            self.early.push((object, targets.to_vec(), more));
        }
        self.collecting = Some(collecting);
    }

    fn root(&mut self, kind: RootKind, thread: ThreadId, detail: &'static str, target: u64) {
        self.events += 1;
        let Some(collecting) = &self.collecting else { return };
        let found = match collecting.gc.targets_after {
            true => self.map.slot(&mut self.next, target, map::NONE).map(|s| s.0),
            false => self.object_before(target),
        };
        match found {
            Some(target) => self.roots.push(ReplayRoot { kind, thread, detail, target }),
            None => self.oddities.unknown_targets += 1,
        }
    }

    fn gc_start(&mut self, gc: Gc) -> Result<()> {
        self.events += 1;
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
        let unnamed = self.collected_by_default(gc.kind);
        let young = self.collected_by_default(GcKind::Minor);
        self.collecting = Some(Collecting { gc, named: Vec::new(), unnamed, young });
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
        let Some(collecting) = self.collecting.take() else {
            return Err(Error::Unusable {
                what: format!("GC {} ends without having begun", gc.number),
                remedy: "Record the trace again: its garbage collections overlap".into(),
            });
        };
        // Objects of the heap before can still be found by address until the sweep.
        self.take_early(&collecting);
        let freed = match &collecting.named[..] {
            [] => self.sweep(&collecting.unnamed, &collecting.young),
            named => self.sweep(named, &collecting.young),
        };
        let joined = self.join();
        self.take_later();
        if collecting.gc.targets_after {
            self.resolve(&joined);
        }
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
        self.vacant.rewind();
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
