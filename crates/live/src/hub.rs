//! The sources: what has come, what was made of it, what is selected and which time is shown.
//!
//! Three locks per source, so that nobody waits for more than the least: the trees are held while a message is taken;
//! the state, a few words, never for long; the latest complete city is swapped in when it is ready. One thread makes
//! cities of what has come: while it works more may come, and it makes the next of all of it at once.

use super::LiveLimits;
use super::memory::{HeldMemory, Ledger};
use memory_city_analysis::timeline::Source;
use memory_city_analysis::timeline::json::{GrowingTrees, TreesOfRecording};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// All sources.
pub struct Hub {
    sources: Mutex<BTreeMap<String, Arc<Live>>>,
    /// What the builder waits for, and those who wait for the builder.
    work: Mutex<()>,
    changed: Condvar,
    pub(super) limits: LiveLimits,
    /// What all clients together have made the server keep.
    pub(super) ledger: Arc<Ledger>,
    wake: Box<dyn Fn() + Send + Sync>,
    /// Counts the wishes to show a source, and the last of them.
    show: Mutex<(u64, String)>,
    closing: AtomicBool,
}

/// A source.
pub(super) struct Live {
    pub name: String,
    pub trees: Mutex<Trees>,
    pub state: Mutex<HubState>,
    latest: Mutex<Latest>,
    /// For the key of the selected group.
    pub selection: Mutex<HeldMemory>,
    /// The recording that its trees are of, as a client says who may.
    pub recording: Mutex<Option<TreesOfRecording>>,
}

/// What has come of a source, and the memory counted for it.
pub(super) struct Trees {
    pub trees: GrowingTrees,
    /// As much as the trees take; more while timelines of trees that were replaced are still there.
    pub held: HeldMemory,
    /// What had come when trees were replaced, until a city has been made of that or later ones.
    pub replaced: Option<u64>,
}

/// What is small of a source.
#[derive(Clone, Debug, Default)]
pub(super) struct HubState {
    /// Counts what has come.
    pub revision: u64,
    /// Up to which of that the memory of what was replaced has been given back.
    pub settled: u64,
    pub times: usize,
    pub nodes: usize,
    pub clients: usize,
    pub selected: Option<Arc<str>>,
    /// From 0.
    pub time: usize,
    pub wishes: Wishes,
}

/// What clients wish to see. The numbers count: a wish is new when its number is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The key of a group, or none.
    pub select: (u64, Option<String>),
    /// A point in time, from 0.
    pub go: (u64, usize),
    /// The ground divided anew.
    pub plan: u64,
}

/// The latest complete city of a source.
#[derive(Clone, Default)]
pub struct Latest {
    /// What had come when it was made.
    pub revision: u64,
    /// The trees; `None` while there are none.
    pub source: Option<Arc<Source>>,
}

/// What to tell of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// Points in time that have come.
    pub times: usize,
    /// Groups of all times together.
    pub groups: usize,
    /// Clients that are connected.
    pub clients: usize,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    /// Without sources. `wake` is called, from any thread, when there is something new to look at.
    pub fn new(limits: LiveLimits, wake: impl Fn() + Send + Sync + 'static) -> Arc<Hub> {
        let hub = Arc::new(Hub {
            sources: Mutex::default(),
            work: Mutex::default(),
            changed: Condvar::new(),
            ledger: Ledger::new(limits.memory_bytes),
            limits,
            wake: Box::new(wake),
            show: Mutex::default(),
            closing: AtomicBool::new(false),
        });
        let weak = Arc::downgrade(&hub);
        std::thread::spawn(move || build(&weak));
        hub
    }

    /// What to tell of the sources, by name.
    pub fn status(&self) -> Vec<Status> {
        let all: Vec<Arc<Live>> = lock(&self.sources).values().cloned().collect();
        let of = |live: Arc<Live>| {
            let state = lock(&live.state);
            Status { name: live.name.clone(), times: state.times, groups: state.nodes, clients: state.clients }
        };
        all.into_iter().map(of).collect()
    }

    /// The latest complete city of a source.
    pub fn latest(&self, name: &str) -> Latest {
        self.find(name).map(|live| lock(&live.latest).clone()).unwrap_or_default()
    }

    /// What clients of a source wish to see.
    pub fn wishes(&self, name: &str) -> Wishes {
        self.find(name).map(|live| lock(&live.state).wishes.clone()).unwrap_or_default()
    }

    /// Which source clients wish to be shown, with a number that counts such wishes.
    pub fn wanted(&self) -> (u64, String) {
        lock(&self.show).clone()
    }

    /// Says what is selected and shown of a source: its clients are told.
    pub fn tell(&self, name: &str, selected: Option<String>, time: usize) {
        if let Some(live) = self.find(name) {
            let mut state = lock(&live.state);
            state.selected = selected.map(Arc::from);
            state.time = time;
        }
    }

    /// Ends the connections and the builder.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    fn find(&self, name: &str) -> Option<Arc<Live>> {
        lock(&self.sources).get(name).cloned()
    }

    /// The source of that name; made when there is none.
    pub(super) fn join(&self, name: &str) -> Result<Arc<Live>> {
        let mut sources = lock(&self.sources);
        if !sources.contains_key(name) && sources.len() >= self.limits.sources {
            // Sources that are empty and that nobody uses make room.
            sources.retain(|_, live| {
                let state = lock(&live.state);
                state.clients > 0 || state.times > 0
            });
            if sources.len() >= self.limits.sources {
                return Err(Error::Unusable {
                    what: format!("There are {} sources already", sources.len()),
                    remedy: "Use the name of one of them, or `clear` one and disconnect from it".into(),
                });
            }
        }
        let live = sources.entry(name.to_owned()).or_insert_with(|| {
            Arc::new(Live {
                name: name.to_owned(),
                trees: Mutex::new(Trees {
                    trees: GrowingTrees::new(name),
                    held: HeldMemory::none(&self.ledger),
                    replaced: None,
                }),
                state: Mutex::default(),
                latest: Mutex::default(),
                selection: Mutex::new(HeldMemory::none(&self.ledger)),
                recording: Mutex::default(),
            })
        });
        lock(&live.state).clients += 1;
        Ok(Arc::clone(live))
    }

    pub(super) fn leave(&self, live: &Live) {
        let mut state = lock(&live.state);
        state.clients = state.clients.saturating_sub(1);
        drop(state);
        (self.wake)();
    }

    /// After something has come: `trees` is what there is now. Returns a number that counts what has come.
    pub(super) fn came(&self, live: &Live, trees: &GrowingTrees) -> u64 {
        let mut state = lock(&live.state);
        state.revision += 1;
        (state.times, state.nodes) = (trees.times(), trees.nodes());
        state.time = state.time.min(state.times.saturating_sub(1));
        let revision = state.revision;
        drop(state);
        let _held = lock(&self.work);
        self.changed.notify_all();
        revision
    }

    /// A client wishes to see a group, a time.
    pub(super) fn wish(&self, live: &Live, change: impl FnOnce(&mut HubState)) {
        change(&mut lock(&live.state));
        (self.wake)();
    }

    pub(super) fn wish_shown(&self, name: &str) {
        let mut show = lock(&self.show);
        show.0 += 1;
        name.clone_into(&mut show.1);
        drop(show);
        (self.wake)();
    }

    /// The city of all that has come by now, when it is ready in time.
    pub(super) fn up_to_date(&self, live: &Live, timeout: Duration) -> Option<Latest> {
        let wanted = lock(&live.state).revision;
        self.wait(timeout, || Some(lock(&live.latest).clone()).filter(|latest| latest.revision >= wanted))
    }

    /// Waits until what was replaced in a source is gone. `false` when nothing was, or it took too long.
    pub(super) fn make_room(&self, live: &Live, timeout: Duration) -> bool {
        let Some(replaced) = lock(&live.trees).replaced else { return false };
        self.wait(timeout, || (lock(&live.state).settled >= replaced).then_some(())).is_some()
    }

    /// Waits for the builder until there is what is wanted. `wanted` must not wait for trees: whoever holds them may be
    /// waiting for what is locked here.
    fn wait<T>(&self, timeout: Duration, wanted: impl Fn() -> Option<T>) -> Option<T> {
        let until = Instant::now() + timeout;
        let mut held = lock(&self.work);
        loop {
            if let Some(there) = wanted() {
                return Some(there);
            }
            let left = until.checked_duration_since(Instant::now())?;
            if self.is_closing() {
                return None;
            }
            held = self.changed.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// After a city of that revision took the place of the one before: what was replaced until then is gone.
    fn settle(&self, live: &Live, revision: u64) {
        let mut trees = lock(&live.trees);
        if trees.replaced.is_none_or(|replaced| replaced > revision) {
            return;
        }
        trees.replaced = None;
        let bytes = trees.trees.bytes();
        trees.held.shrink_to(bytes);
        lock(&live.state).settled = revision;
        drop(trees);
        let _held = lock(&self.work);
        self.changed.notify_all();
    }

    /// A source whose city is older than what has come.
    fn stale(&self) -> Option<Arc<Live>> {
        let sources = lock(&self.sources);
        let behind = |live: &Arc<Live>| {
            let revision = lock(&live.state).revision;
            let latest = lock(&live.latest).revision;
            (revision > latest).then_some(latest)
        };
        // The one that was made longest ago, so that none starves.
        sources
            .values()
            .filter_map(|live| behind(live).map(|r| (r, live)))
            .min_by_key(|(r, _)| *r)
            .map(|(_, l)| l.clone())
    }
}

/// Makes cities of what has come, until the hub is gone.
fn build(hub: &Weak<Hub>) {
    while let Some(hub) = hub.upgrade().filter(|hub| !hub.is_closing()) {
        let Some(live) = hub.stale() else {
            let held = lock(&hub.work);
            // Looked at again now that nobody can add unseen; and now and then, in case the hub is to go.
            if hub.stale().is_none() {
                let _ = hub.changed.wait_timeout(held, Duration::from_millis(200));
            }
            continue;
        };
        let (revision, so_far) = {
            let trees = lock(&live.trees);
            (lock(&live.state).revision, trees.trees.so_far())
        };
        let recording = lock(&live.recording).clone();
        // It cannot fail but by being cancelled, and nobody cancels it.
        let source = so_far.finish(&Progress::new()).ok().flatten().map(|mut trees| {
            trees.recording = recording;
            Arc::new(Source::Trees(trees))
        });
        let before = std::mem::replace(&mut *lock(&live.latest), Latest { revision, source });
        {
            let _held = lock(&hub.work);
            hub.changed.notify_all();
        }
        (hub.wake)();
        // Large timelines take a while to go away: not while a lock is held.
        drop(before);
        hub.settle(&live, revision);
    }
}
