//! The reconstructor: replays the events of a trace into the heap at every moment, with object identity over time.
//!
//! An object has a number for life, which is free again after its death; so number and birth together are its identity. The [`map`] finds
//! objects by address, or by the id in the trace. A collection marks the objects it reports, and writes them into a second directory of the
//! map. At its end, unmarked objects in the collected spaces are dead, and the second directory becomes part of the first. So the cost of a
//! collection follows the objects it collects, not the heap. An object outside of all spaces dies when a full collection does not report
//! it, or when the trace reports its death.
//!
//! [`cohorts`] counts the objects that nothing tells apart but their address. Their changes at each GC start and end are
//! the whole history as far as grouping is concerned. Nothing here knows a file format.

mod arena;
mod cohorts;
mod collect;
mod details;
mod limits;
mod map;
mod numbers;
mod references;
mod saved;
mod sink;
mod state;
mod vacant;

pub use cohorts::{CohortChange, CohortKey};
pub use limits::ReplayLimits;
pub use saved::SavedReplay;

use super::event::{Gc, GcKind, ObjectInfo, ObjectKey, Program};
use super::spaces::Spaces;
use arena::Arena;
use cohorts::Cohorts;
use details::Details;
use hashbrown::HashTable;
use limits::Full;
use map::{Directory, Entry, ObjectMap, Spot, SpotUnit};
use memory_city_heap::error::Result;
use memory_city_heap::{Identity, RootKind, SpaceKind, ThreadId};
use numbers::Numbers;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A moment of a trace: before or after a GC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The GC, in the order of the trace, from 0.
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
    /// True if the collector reported a failure.
    pub failed: bool,
    /// Objects it freed: not reported alive, or reported as freed while it ran.
    pub freed: u64,
}

/// Receives reports of a replay. Called between events.
pub trait Observer {
    /// A moment was reached; `changes` came since the moment before.
    fn moment(&mut self, moment: Moment, changes: Vec<CohortChange>, infos: &[ObjectInfo]);
    /// A collection ended.
    fn collected(&mut self, collection: Collection);
}

/// Watches nothing.
impl Observer for () {
    fn moment(&mut self, _: Moment, _: Vec<CohortChange>, _: &[ObjectInfo]) {}
    fn collected(&mut self, _: Collection) {}
}

/// Changes of spaces up to this number are checked one by one; more of them together.
const MOST_CHECKED: usize = 64;

/// A root: kind, thread, number of its detail, and target (a number, or the word of a slot until the end of the GC).
#[derive(Clone, Copy, Debug)]
struct ReplayRoot {
    kind: RootKind,
    thread: ThreadId,
    detail: u32,
    target: u32,
}

/// Contradictions within a trace, counted to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Inconsistencies {
    /// Moves, references and deaths of objects that are not there.
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
    /// Address ranges that it claimed to collect, with the spaces of that time: they may be gone at its end.
    named: Vec<(u64, u64)>,
    /// The ranges of young objects when it began: a minor collection collects these if it names nothing.
    young: Vec<(u64, u64)>,
    /// Objects the trace called freed while it runs.
    freed: u64,
}

/// The heap, reconstructed.
pub struct Replay<O> {
    program: Arc<Program>,
    /// The observer.
    pub observer: O,
    threads: Vec<Arc<str>>,
    spaces: Spaces,
    infos: Vec<ObjectInfo>,
    info_ids: HashTable<u32>,
    cohorts: Cohorts,
    numbers: Numbers,
    map: ObjectMap,
    now: Directory,
    next: Directory,
    arena: Arena,
    /// Further references of objects whose record is not the last one, by key after the GC, until its end.
    later: FxHashMap<ObjectKey, Vec<u32>>,
    /// References of objects that were not there yet, by key after the GC.
    early: Vec<(ObjectKey, Vec<ObjectKey>, bool)>,
    /// The targets of the object at hand.
    targets: Vec<u32>,
    roots: Vec<ReplayRoot>,
    details: Details,
    /// Addresses of objects that are known by an id, by number, as far as they were reported since the last GC began.
    located: FxHashMap<u32, u64>,
    /// Numbers of objects that died while a GC runs: they are free at its end, since its references are still to be read.
    dying: Vec<u32>,
    /// Dead entries of a leaf, while they are removed.
    dead: Vec<Entry>,
    /// Where objects outside all spaces are: nowhere, if the heap has spaces.
    spaceless: Option<SpaceKind>,
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
    limits: ReplayLimits,
    full: Option<Full>,
}

impl<O: Observer> Replay<O> {
    /// An empty heap.
    pub fn new(program: Arc<Program>, observer: O) -> Self {
        Replay::with_limits(program, observer, ReplayLimits::default())
    }

    /// An empty heap that can hold no more than `limits` say.
    pub fn with_limits(program: Arc<Program>, observer: O, limits: ReplayLimits) -> Self {
        let unit = SpotUnit::of(program.alignment);
        Replay {
            observer,
            threads: vec![Arc::from("(unknown thread)")],
            spaces: Spaces::default(),
            infos: Vec::new(),
            info_ids: HashTable::new(),
            cohorts: Cohorts::new(program.alignment),
            numbers: Numbers::new(limits.objects),
            map: ObjectMap::new(unit, limits.leaves, limits.near_leaves),
            now: Directory::default(),
            next: Directory::default(),
            arena: Arena::new(limits.references),
            later: FxHashMap::default(),
            early: Vec::new(),
            targets: Vec::new(),
            roots: Vec::new(),
            details: Details::default(),
            located: FxHashMap::default(),
            dying: Vec::new(),
            dead: Vec::new(),
            spaceless: (!program.has_spaces).then_some(SpaceKind::Unknown),
            collecting: None,
            changed_ranges: Vec::new(),
            interval: 0,
            inconsistencies: Inconsistencies::default(),
            live: 0,
            events: 0,
            stop: None,
            stopped: false,
            limits,
            full: None,
            program,
        }
    }

    /// Fails if events were dropped. Call it after each step of a decoder.
    ///
    /// # Errors
    /// When the trace needs more than the limits allow. The heap is not that of the program from there on.
    pub fn check(&self) -> Result<()> {
        self.limits.check(self.full)
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

    /// The inconsistencies so far.
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

    /// The address of the object of an identity, as far as it is known, and its kind of space; `None` when it is not
    /// alive. Looks at all objects.
    pub fn place_of(&mut self, identity: Identity) -> Option<(Option<u64>, SpaceKind)> {
        if !self.numbers.has(identity) {
            return None;
        }
        let (key, entry) = self.map.keyed(&mut self.now).find(|(_, entry)| entry.number() == identity.number)?;
        let address = match key {
            ObjectKey::Address(address) => Some(address),
            ObjectKey::Id(_) => self.located.get(&identity.number).copied(),
        };
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
        match self.collecting {
            None => self.numbers.release(entry.number()),
            Some(_) => self.dying.push(entry.number()),
        }
        if !self.located.is_empty() {
            self.located.remove(&entry.number());
        }
        self.arena.drop_record(entry.record());
        let size = self.cohorts.size(entry.cohort(), || entry.length());
        self.cohorts.remove(entry.cohort(), size);
        self.live -= 1;
    }

    /// The kind of space an object is in; `None` where it cannot be.
    #[inline(always)]
    fn space_of(&self, object: ObjectKey) -> Option<SpaceKind> {
        match object {
            ObjectKey::Address(address) => self.space_at(address),
            ObjectKey::Id(_) => Some(SpaceKind::Unknown),
        }
    }

    /// The kind of space at an address; `None` where there can be no object.
    #[inline(always)]
    fn space_at(&self, address: u64) -> Option<SpaceKind> {
        match self.spaces.at(address) {
            Some(space) => self.map.unit.fits(address).then_some(space.kind),
            None => self.spaceless.filter(|_| self.map.unit.fits(address)),
        }
    }

    /// Puts an object into the heap now, or into the heap after the running GC. `born`: the interval, if it passes unless a
    /// GC says otherwise; else none.
    #[inline(always)] // once for every event: an entry stays in registers on its way into the leaf
    fn place(&mut self, entry: Entry, spot: impl FnOnce(SpotUnit) -> Spot, born: u32) -> bool {
        let directory = if self.collecting.is_some() { &mut self.next } else { &mut self.now };
        let spot = spot(self.map.unit);
        let Some(other) = self.map.insert(directory, spot, born, entry) else {
            self.full = Some(Full::Leaves);
            return false;
        };
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

    /// Ends a trace in which no GC ever ended: the present state becomes its only moment.
    pub fn finish(&mut self) {
        if self.interval == 0 && self.collecting.is_none() {
            self.relabel();
            self.reached(Moment { gc: 0, end: false });
        }
    }
}
