//! Progress of long work, and the wish to cancel it, shared between the thread that works and those that watch.
//!
//! Cloning shares the state. The worker calls [`Progress::advance`] and [`Progress::check`] often enough
//! (every few milliseconds); the watcher reads [`Progress::snapshot`] and may [`Progress::cancel`].

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A shared progress counter with a cancel flag.
#[derive(Clone, Default)]
pub struct Progress(Arc<Inner>);

#[derive(Default)]
struct Inner {
    stage: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
    cancelled: Arc<AtomicBool>,
}

/// What a watcher sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// What is being done, for people: `Reading dump-03.hprof (3 of 12)`.
    pub stage: String,
    /// Units done (bytes, objects: the stage's own).
    pub done: u64,
    /// Units in all; 0 while unknown.
    pub total: u64,
}

impl Progress {
    /// A fresh counter.
    pub fn new() -> Self {
        Self::default()
    }
    /// A counter of its own that is cancelled together with this one: for parts of a stage that nobody watches.
    pub fn hidden(&self) -> Self {
        Progress(Arc::new(Inner { cancelled: Arc::clone(&self.0.cancelled), ..Inner::default() }))
    }
    /// Starts a stage of `total` units (0 = unknown); the count restarts at zero.
    pub fn begin(&self, stage: impl Into<String>, total: u64) {
        *self.0.stage.lock().unwrap_or_else(|e| e.into_inner()) = stage.into();
        self.0.done.store(0, Relaxed);
        self.0.total.store(total, Relaxed);
    }
    /// Adds finished units.
    pub fn advance(&self, units: u64) {
        self.0.done.fetch_add(units, Relaxed);
    }
    /// Asks the worker to stop at its next [`Progress::check`].
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Relaxed);
    }
    /// `Err(Error::Cancelled)` once somebody has asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.0.cancelled.load(Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
    /// The state as seen from outside.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            stage: self.0.stage.lock().unwrap_or_else(|e| e.into_inner()).clone(),
            done: self.0.done.load(Relaxed),
            total: self.0.total.load(Relaxed),
        }
    }
}
