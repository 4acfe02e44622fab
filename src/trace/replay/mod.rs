//! The reconstructor: replays the events of a trace into the heap at every moment, with object identity over time.
//!
//! An object has a row for life; its number is free again when it is dead, so number and birth together are its
//! identity. The [`map`] finds rows by address. A collection writes what survives into a second directory of the map;
//! at its end, what the collected spaces still hold in the first is dead, and the second becomes part of the first.
//! So a collection costs what it collects, not what there is.
//!
//! [`cells`] counts the objects that nothing tells apart but their address. Their changes at each GC start and end are
//! the whole history as far as grouping is concerned. Nothing here knows a file format.

pub mod arena;
pub mod cells;
pub mod map;
mod saved;
mod state;

pub use cells::{CellKey, Change};
pub use saved::SavedReplay;

use super::event::{EventSink, Gc, GcKind, InfoId, ObjectInfo, Program};
use super::spaces::{Space, Spaces};
use crate::error::{Error, Result};
use crate::heap::{Identity, RootKind, SpaceKind, ThreadId};
use arena::{Arena, grow};
use cells::Cells;
use map::{Directory, Map, Slot};
use rustc_hash::FxHashMap;
use std::sync::Arc;

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

/// An object for life.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Where it is; [`map::NONE`] when the row is free.
    slot: u32,
    cell: u32,
    /// Its record in the arena.
    references: u32,
    /// The GC interval its references were reported in: targets born later are not meant.
    reported: u32,
}

const FREE: Row = Row { slot: map::NONE, cell: 0, references: Arena::NONE, reported: 0 };

/// A root: kind, thread, detail, and target (a row, or a slot until the end of the GC).
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
}

/// The heap, reconstructed.
pub struct Replay<O> {
    program: Arc<Program>,
    /// Who is told.
    pub observer: O,
    threads: Vec<Arc<str>>,
    spaces: Spaces,
    infos: Vec<ObjectInfo>,
    info_ids: FxHashMap<ObjectInfo, InfoId>,
    cells: Cells,
    rows: Vec<Row>,
    free: Vec<u32>,
    map: Map,
    now: Directory,
    next: Directory,
    arena: Arena,
    /// Further references of objects whose record is not the last one, until the end of the GC.
    later: FxHashMap<u32, Vec<u32>>,
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
            info_ids: FxHashMap::default(),
            cells: Cells::default(),
            rows: Vec::new(),
            free: Vec::new(),
            map: Map::default(),
            now: Directory::new(),
            next: Directory::new(),
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
        let number = self.map.find(&self.now, address)?;
        Some(Identity { number, birth: self.cells.get(self.rows[number as usize].cell).key.birth })
    }

    /// Where the object of an identity is, and in which kind of space; `None` when it is not alive.
    pub fn place_of(&self, identity: Identity) -> Option<(u64, SpaceKind)> {
        let r = self.rows.get(identity.number as usize).filter(|r| r.slot != map::NONE)?;
        let key = self.cells.get(r.cell).key;
        (key.birth == identity.birth).then(|| (self.map.address(Slot(r.slot)), key.space))
    }

    /// Bytes of memory the heap takes, by capacity.
    pub fn memory(&self) -> usize {
        self.rows.capacity() * size_of::<Row>()
            + 4 * self.free.capacity()
            + self.map.memory()
            + self.now.memory()
            + self.next.memory()
            + self.arena.memory()
            + self.cells.memory()
            + self.infos.capacity() * size_of::<ObjectInfo>() * 2
            + self.roots.capacity() * size_of::<ReplayRoot>()
    }

    /// Takes a free row for an object.
    #[inline]
    fn row(&mut self, row: Row) -> u32 {
        match self.free.pop() {
            Some(free) => {
                self.rows[free as usize] = row;
                free
            }
            None => {
                grow(&mut self.rows);
                self.rows.push(row);
                self.rows.len() as u32 - 1
            }
        }
    }

    /// An object is dead; its slot has been emptied or given to another.
    fn bury(&mut self, row: u32) {
        let Row { cell, references, .. } = std::mem::replace(&mut self.rows[row as usize], FREE);
        self.arena.drop_record(references);
        self.cells.remove(cell);
        grow(&mut self.free);
        self.free.push(row);
        self.live -= 1;
    }

    /// Puts an object at an address of the heap now, or of the heap after the running GC.
    #[inline]
    fn place(&mut self, row: u32, address: u64) -> bool {
        let directory = if self.collecting.is_some() { &mut self.next } else { &mut self.now };
        let Some(slot) = self.map.slot(directory, address) else { return false };
        if let Some(other) = self.map.put(slot, address, row)
            && other != row
            && self.rows[other as usize].slot == slot.0
        {
            self.oddities.overwritten += 1;
            self.bury(other);
        }
        self.rows[row as usize].slot = slot.0;
        true
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
    fn sweep(&mut self, ranges: &[(u64, u64)]) -> u64 {
        let before = self.live;
        let mut dead = Vec::new();
        for &(start, end) in ranges {
            for page in self.now.pages_between(start, end) {
                let leaf = self.now.get(page);
                let first = page << map::LEAF_SHIFT;
                let whole = start <= first && end - first >= 1 << map::LEAF_SHIFT;
                dead.clear();
                for (slot, row) in self.map.objects(leaf) {
                    if whole || (start..end).contains(&self.map.address(slot)) {
                        dead.push((slot, row));
                    }
                }
                for &(slot, row) in &dead {
                    // A survivor has a slot in a leaf of the heap after.
                    if self.rows[row as usize].slot == slot.0 {
                        self.bury(row);
                    }
                    if !whole {
                        self.map.clear(slot);
                    }
                }
                if whole {
                    self.now.set(page, map::NONE);
                    self.map.release(leaf);
                }
            }
        }
        before - self.live
    }

    /// Makes the heap after the GC part of the heap now. Returns where leaves went that met another.
    fn join(&mut self) -> FxHashMap<u32, u32> {
        let mut joined = FxHashMap::default();
        let mut objects = Vec::new();
        for (page, leaf) in self.next.drain() {
            let here = self.now.get(page);
            if here == map::NONE {
                if !self.now.set(page, leaf) {
                    self.oddities.misplaced += 1;
                }
                continue;
            }
            joined.insert(leaf, here);
            objects.clear();
            objects.extend(self.map.objects(leaf).map(|(slot, row)| (slot, self.map.address(slot), row)));
            for &(slot, address, row) in &objects {
                let target = slot.in_leaf(here);
                if let Some(other) = self.map.put(target, address, row)
                    && other != row
                    && self.rows[other as usize].slot == target.0
                {
                    self.oddities.overwritten += 1;
                    self.bury(other);
                }
                if self.rows[row as usize].slot == slot.0 {
                    self.rows[row as usize].slot = target.0;
                }
            }
            self.map.release(leaf);
        }
        joined
    }

    /// Turns the slots that references and roots of this GC hold into rows.
    fn resolve(&mut self, joined: &FxHashMap<u32, u32>) {
        let mut unknown = 0;
        let map = &self.map;
        let mut find = |slot: u32| {
            let slot = match joined.get(&Slot(slot).leaf()) {
                Some(&leaf) => Slot(slot).in_leaf(leaf),
                None => Slot(slot),
            };
            map.object(slot).unwrap_or_else(|| {
                unknown += 1;
                map::NONE
            })
        };
        for row in &self.rows {
            // Records of earlier GCs hold rows already.
            if row.slot != map::NONE && row.references != Arena::NONE && row.reported == self.interval {
                for target in self.arena.of_mut(row.references) {
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

    /// References are what a row's record says, as rows; those that are not meant any more are left out.
    fn references_of(&self, row: &Row) -> impl Iterator<Item = u32> + '_ {
        let reported = row.reported;
        self.arena.of(row.references).iter().copied().filter(move |&target| {
            let target = match self.rows.get(target as usize) {
                Some(target) if target.slot != map::NONE => target,
                _ => return false,
            };
            self.cells.get(target.cell).key.birth <= reported
        })
    }

    /// References that the last GC reported and that lead to dead objects: none, if the trace is right. (What an earlier
    /// one reported may have been overwritten since.) Costs what there is.
    pub fn stale_references(&self) -> usize {
        let last = self.rows.iter().filter(|r| r.slot != map::NONE && r.reported + 1 == self.interval);
        last.map(|r| self.arena.of(r.references).len() - self.references_of(r).count()).sum()
    }

    /// Objects where the kind of space changed are counted under the new one.
    fn relabel(&mut self) {
        for (start, end) in std::mem::take(&mut self.changed_ranges) {
            for page in self.now.pages_between(start, end) {
                for (slot, row) in self.map.objects(self.now.get(page)) {
                    let r = &mut self.rows[row as usize];
                    if r.slot != slot.0 {
                        continue;
                    }
                    let kind = self.spaces.kind_at(self.map.address(slot));
                    let target = self.cells.in_space(r.cell, kind);
                    if target != r.cell {
                        self.cells.remove(r.cell);
                        self.cells.add(target);
                        r.cell = target;
                    }
                }
            }
        }
    }

    /// References that came before their object was known to be there.
    fn take_early(&mut self, collecting: &mut Collecting) {
        for (object, targets, more) in std::mem::take(&mut self.early) {
            match self.object_after(object) {
                Some(row) => self.refer(collecting, row, &targets, more),
                None => self.oddities.unknown_objects += 1,
            }
        }
    }

    /// References that could not be written behind the others of their object.
    fn take_later(&mut self) {
        for (row, more) in std::mem::take(&mut self.later) {
            let r = &mut self.rows[row as usize];
            if r.slot != map::NONE {
                let mut all = self.arena.of(r.references).to_vec();
                all.extend(more);
                self.arena.drop_record(r.references);
                self.oddities.unknown_targets += set_references(&mut self.arena, r, &all);
            }
        }
    }

    /// The object at an address of the heap after the running GC, as far as it is known.
    #[inline]
    fn object_after(&self, address: u64) -> Option<u32> {
        let row = self.map.find(&self.next, address).or_else(|| self.map.find(&self.now, address))?;
        (self.rows[row as usize].slot != map::NONE).then_some(row)
    }

    fn refer(&mut self, collecting: &mut Collecting, row: u32, targets: &[u64], more: bool) {
        self.targets.clear();
        for &target in targets {
            let found = match collecting.gc.targets_after {
                true => self.map.slot(&mut self.next, target).map(|s| s.0),
                false => self.map.find(&self.now, target).or_else(|| self.map.find(&self.next, target)),
            };
            match found {
                Some(found) => self.targets.push(found),
                None => self.oddities.unknown_targets += 1,
            }
        }
        let r = &mut self.rows[row as usize];
        if more && r.reported == self.interval && r.references != Arena::NONE {
            if self.later.contains_key(&row) || !self.arena.extend_last(r.references, &self.targets) {
                self.later.entry(row).or_default().extend_from_slice(&self.targets);
            }
            return;
        }
        if !self.later.is_empty() {
            self.later.remove(&row);
        }
        r.reported = self.interval;
        if self.arena.overwrite(r.references, &self.targets) {
            return;
        }
        self.arena.drop_record(r.references);
        self.oddities.unknown_targets += set_references(&mut self.arena, r, &self.targets);
    }
}

/// Gives an object its references. Returns how many could not be kept: those beyond four billion.
fn set_references(arena: &mut Arena, row: &mut Row, targets: &[u32]) -> u64 {
    match arena.add(targets.iter().copied()) {
        Some(record) => {
            row.references = record;
            0
        }
        None => {
            row.references = Arena::NONE;
            targets.len() as u64
        }
    }
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
        if before.kind != after.kind || before.bytes == 0 || old_end <= start || end <= old_start {
            self.changed_ranges.push((start, end));
        } else {
            // What it covered before is of its kind already.
            self.changed_ranges.push((start, old_start.max(start)));
            self.changed_ranges.push((old_end.min(end), end));
        }
        self.changed_ranges.retain(|(start, end)| start < end);
        true
    }

    fn remove_spaces(&mut self, first: u32, count: u64) {
        self.spaces.remove(first, count);
    }

    fn info(&mut self, info: ObjectInfo) -> InfoId {
        let next = InfoId(self.infos.len() as u32);
        let id = *self.info_ids.entry(info).or_insert(next);
        if id == next {
            self.infos.push(info);
        }
        id
    }

    #[inline]
    fn allocate(&mut self, info: InfoId, address: u64) {
        self.events += 1;
        let Some(space) = self.spaces.at(address).filter(|_| address & 7 == 0) else {
            self.oddities.misplaced += 1;
            return;
        };
        let cell = self.cells.born(info, self.interval, space.kind, &self.infos);
        let row = self.row(Row { cell, ..FREE });
        if !self.place(row, address) {
            self.oddities.misplaced += 1;
            self.rows[row as usize] = FREE;
            self.free.push(row);
            return;
        }
        self.cells.add(cell);
        self.live += 1;
    }

    #[inline]
    fn moved(&mut self, from: u64, to: u64) -> Option<u64> {
        self.events += 1;
        // Where one object was, another may have been moved to already: the heap before comes first.
        let found = self.map.find(&self.now, from).or_else(|| self.map.find(&self.next, from));
        let Some(row) = found.filter(|r| self.collecting.is_some() && self.rows[*r as usize].slot != map::NONE) else {
            self.oddities.unknown_objects += 1;
            return None;
        };
        let Some(kind) = self.spaces.at(to).filter(|_| to & 7 == 0).map(|s| s.kind) else {
            self.oddities.misplaced += 1;
            return None;
        };
        let Row { slot, cell, .. } = self.rows[row as usize];
        let target = self.cells.in_space(cell, kind);
        if target != cell {
            self.cells.remove(cell);
            self.cells.add(target);
            self.rows[row as usize].cell = target;
        }
        if !self.place(row, to) {
            self.oddities.misplaced += 1;
            return None;
        }
        if slot != self.rows[row as usize].slot && self.next.get(from >> map::LEAF_SHIFT) == Slot(slot).leaf() {
            // Moved twice in one GC: the place in between is empty again.
            if self.map.object(Slot(slot)) == Some(row) {
                self.map.clear(Slot(slot));
            }
        }
        Some(self.cells.get(target).size)
    }

    fn known(&self, at: u64) -> bool {
        self.map.find(&self.now, at).or_else(|| self.map.find(&self.next, at)).is_some()
    }

    fn references(&mut self, object: u64, targets: &[u64], more: bool) {
        self.events += 1;
        let Some(mut collecting) = self.collecting.take() else {
            self.oddities.unknown_objects += 1;
            return;
        };
        match self.object_after(object) {
            Some(row) => self.refer(&mut collecting, row, targets, more),
            None => self.early.push((object, targets.to_vec(), more)),
        }
        self.collecting = Some(collecting);
    }

    fn root(&mut self, kind: RootKind, thread: ThreadId, detail: &'static str, target: u64) {
        self.events += 1;
        let Some(collecting) = &self.collecting else { return };
        let found = match collecting.gc.targets_after {
            true => self.map.slot(&mut self.next, target).map(|s| s.0),
            false => self.map.find(&self.now, target),
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
        self.relabel();
        self.reached(Moment { gc: self.interval, end: false });
        self.roots.clear();
        self.collecting = Some(Collecting { gc, named: Vec::new(), unnamed: self.collected_by_default(gc.kind) });
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
        let Some(mut collecting) = self.collecting.take() else {
            return Err(Error::Unusable {
                what: format!("GC {} ends without having begun", gc.number),
                remedy: "Record the trace again: its garbage collections overlap".into(),
            });
        };
        // Objects of the heap before can still be found by address until the sweep.
        self.take_early(&mut collecting);
        let freed = match &collecting.named[..] {
            [] => self.sweep(&collecting.unnamed),
            named => self.sweep(named),
        };
        let joined = self.join();
        self.take_later();
        if collecting.gc.targets_after {
            self.resolve(&joined);
        }
        if self.arena.is_wasteful() {
            self.arena.compact(self.rows.iter_mut().map(|r| &mut r.references));
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
        let moment = Moment { gc: self.interval, end: true };
        self.interval += 1;
        self.reached(moment);
        Ok(())
    }

    fn satisfied(&self) -> bool {
        self.stopped
    }
}
