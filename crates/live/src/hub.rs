//! The sources: their trees, the cities built from them, the selection and the time shown.
//!
//! Three locks per source keep waits short. The trees are held while a message is taken in; the state, a few words, never for long; the
//! latest complete city is swapped in when it is ready. One thread builds cities. While it works more trees may come, and its next city has
//! all of them.

use super::memory::{HeldMemory, Ledger, lock};
use super::protocol::LiveLimits;
use memory_city_analysis::timeline::Source;
use memory_city_analysis::timeline::json::{GrowingTrees, TreesOfRecording};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// All sources.
pub struct Hub {
    sources: Mutex<BTreeMap<String, Arc<Live>>>,
    /// The builder waits here for trees, and others for the builder.
    work: Mutex<()>,
    changed: Condvar,
    pub(super) limits: LiveLimits,
    /// Memory that all clients together make the server keep.
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
    /// The recording that its trees are of, as a trusted client claims.
    pub recording: Mutex<Option<TreesOfRecording>>,
}

/// The trees of a source, and the memory counted for them.
pub(super) struct Trees {
    pub trees: GrowingTrees,
    /// As much as the trees take; more while timelines of replaced trees still exist.
    pub held: HeldMemory,
    /// The revision at which trees were replaced, until a city has been built of that or a later one.
    pub replaced: Option<u64>,
}

/// The small state of a source.
#[derive(Clone, Debug, Default)]
pub(super) struct HubState {
    /// Counts changes of the trees.
    pub revision: u64,
    /// The revision up to which the memory of replaced trees has been given back.
    pub settled: u64,
    pub times: usize,
    pub nodes: usize,
    pub clients: usize,
    pub selected: Option<Arc<str>>,
    /// The time shown, from 0.
    pub time: usize,
    pub wishes: Wishes,
}

/// Wishes of clients for the view. A wish is new when its number is.
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
    /// The revision of the trees it was built from.
    pub revision: u64,
    /// The trees; `None` while there are none.
    pub source: Option<Arc<Source>>,
}

/// The status of a source, for its clients.
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

    /// The status of all sources, by name.
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

    /// The wishes of a source's clients.
    pub fn wishes(&self, name: &str) -> Wishes {
        self.find(name).map(|live| lock(&live.state).wishes.clone()).unwrap_or_default()
    }

    /// The source that clients wish to be shown, with a number that counts such wishes.
    pub fn wanted(&self) -> (u64, String) {
        lock(&self.show).clone()
    }

    /// Sends the selection and the time shown of a source to its clients.
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

    /// Called after a change: `trees` is the present state. Returns the revision.
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

    /// Waits until the replaced trees of a source are freed. `false` if there were none, or it took too long.
    pub(super) fn make_room(&self, live: &Live, timeout: Duration) -> bool {
        let Some(replaced) = lock(&live.trees).replaced else { return false };
        self.wait(timeout, || (lock(&live.state).settled >= replaced).then_some(())).is_some()
    }

    /// Waits for the builder until `wanted` returns a value. `wanted` must not wait for trees: their holder may be waiting for the lock
    /// held here.
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

    /// Called when a city of that revision replaced the previous one: trees replaced until then are freed.
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

    /// A source whose city is older than its trees.
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

/// Builds cities of new trees, until the hub is gone.
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
