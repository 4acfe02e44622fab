//! The reconstructor: replays the events of a trace into the heap at every moment, with object identity over time.
//!
//! An object has a number for life, which is free again when it is dead; so number and birth together are its identity.
//! The [`map`] finds objects by address. A collection marks what it reports, and writes it into a second directory
//! of the map; at its end, what is not marked in the collected spaces is dead, and the second directory becomes part of
//! the first. So a collection costs what it collects, not what there is.
//!
//! [`cohorts`] counts the objects that nothing tells apart but their address. Their changes at each GC start and end are
//! the whole history as far as grouping is concerned. Nothing here knows a file format.

pub mod arena;
pub mod cohorts;
mod collect;
pub mod map;
mod numbers;
mod references;
mod saved;
mod sink;
mod state;
mod vacant;

pub use cohorts::{Change, CohortKey};
pub use saved::SavedReplay;

use super::event::{Gc, GcKind, ObjectInfo, Program};
use super::spaces::Spaces;
use arena::Arena;
use cohorts::Cohorts;
use hashbrown::HashTable;
use map::{Directory, Entry, Map};
use memory_city_heap::{Identity, RootKind, SpaceKind, ThreadId};
use numbers::Numbers;
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
pub struct Inconsistencies {
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
    /// Where young objects were when it began: what a minor one collects if it names nothing.
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
    cohorts: Cohorts,
    numbers: Numbers,
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
    inconsistencies: Inconsistencies,
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
            cohorts: Cohorts::default(),
            numbers: Numbers::default(),
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
            inconsistencies: Inconsistencies::default(),
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

    /// Whether any reference was ever reported.
    pub fn has_references(&self) -> bool {
        self.arena.memory() > 0
    }

    /// What did not fit together so far.
    pub fn inconsistencies(&self) -> Inconsistencies {
        self.inconsistencies
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

    /// Where the object of an identity is, and in which kind of space; `None` when it is not alive. Looks at all objects.
    pub fn place_of(&mut self, identity: Identity) -> Option<(u64, SpaceKind)> {
        if !self.numbers.has(identity) {
            return None;
        }
        let pages = self.now.pages().to_vec();
        let mut all = pages.iter().flat_map(|&page| self.map.objects(self.now.get(page)));
        let (address, entry) = all.find(|(_, entry)| entry.number() == identity.number)?;
        Some((address, self.cohorts.key(entry.cohort()).space))
    }

    /// Bytes of memory the heap takes, by capacity.
    pub fn memory(&self) -> usize {
        self.memory_parts().iter().map(|p| p.1).sum()
    }

    /// The same by part: numbers, objects, references, cohorts, creation data.
    pub fn memory_parts(&self) -> [(&'static str, usize); 5] {
        [
            ("numbers", self.numbers.memory()),
            ("objects", self.map.memory() + self.now.memory() + self.next.memory()),
            ("references", self.arena.memory() + self.roots.capacity() * size_of::<ReplayRoot>()),
            ("cohorts", self.cohorts.memory()),
            ("infos", self.infos.capacity() * size_of::<ObjectInfo>() + self.info_ids.allocation_size()),
        ]
    }

    /// An object is dead; it is out of the map.
    #[inline]
    fn bury(&mut self, entry: Entry) {
        self.numbers.release(entry.number());
        self.arena.drop_record(entry.record());
        let size = self.cohorts.size(entry.cohort(), || entry.length());
        self.cohorts.remove(entry.cohort(), size);
        self.live -= 1;
    }

    /// Puts an object at an address of the heap now, or of the heap after the running GC.
    #[inline(always)] // once for every event: an entry stays in registers on its way into the leaf
    fn place(&mut self, entry: Entry, address: u64) -> bool {
        let (directory, born) = match self.collecting {
            Some(_) => (&mut self.next, map::NONE),
            None => (&mut self.now, self.interval),
        };
        let Some(other) = self.map.insert(directory, address, born, entry) else { return false };
        if born == map::NONE {
            self.cohorts.stay(entry.cohort(), || entry.length());
        }
        if let Some(other) = other {
            self.overwrite(other);
        }
        true
    }

    /// Another object was put where this one is.
    #[cold]
    fn overwrite(&mut self, other: Entry) {
        self.inconsistencies.overwritten += 1;
        self.leave_next(other);
        self.bury(other);
    }

    /// An object is taken out of the heap after the running GC.
    fn leave_next(&mut self, entry: Entry) {
        if self.collecting.is_some() {
            self.cohorts.leave(entry.cohort(), || entry.length());
        }
    }

    fn reached(&mut self, moment: Moment) {
        let changes = self.cohorts.take_changes();
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
}
