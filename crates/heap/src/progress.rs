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
    /// Which of how many like parts is worked on; none of 0.
    part: AtomicU64,
    parts: AtomicU64,
    /// How far all parts together were, at most, in millionths.
    reached: AtomicU64,
}

/// What all parts together count up to.
const MILLION: u64 = 1_000_000;

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
    /// Says that what follows is part `index` of `parts` like ones, such as the files of a series: who watches sees one way through
    /// all of them, which never goes back, whatever stages each has. 0 parts: stages count for themselves again.
    pub fn part(&self, index: u64, parts: u64) {
        if index == 0 || parts == 0 {
            self.0.reached.store(0, Relaxed);
        }
        self.0.part.store(index, Relaxed);
        self.0.parts.store(parts, Relaxed);
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
        let (done, total) = (self.0.done.load(Relaxed), self.0.total.load(Relaxed));
        let parts = self.0.parts.load(Relaxed);
        if parts > 0 {
            let within = if total > 0 { (done as f64 / total as f64).clamp(0.0, 1.0) } else { 0.0 };
            let all = (self.0.part.load(Relaxed) as f64 + within) / parts as f64 * MILLION as f64;
            let reached = self.0.reached.fetch_max(all as u64, Relaxed).max(all as u64);
            let stage = self.0.stage.lock().unwrap_or_else(|e| e.into_inner()).clone();
            return Snapshot { stage, done: reached.min(MILLION), total: MILLION };
        }
        Snapshot { stage: self.0.stage.lock().unwrap_or_else(|e| e.into_inner()).clone(), done, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_way_that_never_goes_back() {
        let progress = Progress::new();
        let mut last = 0;
        let mut check = |progress: &Progress| {
            let seen = progress.snapshot();
            assert!(seen.done >= last && seen.done <= seen.total, "{} after {last}", seen.done);
            last = seen.done;
        };
        for file in 0..4 {
            progress.part(file, 4);
            for stage in ["Reading", "Linking"] {
                progress.begin(stage, 10);
                for _ in 0..10 {
                    check(&progress);
                    progress.advance(1);
                }
                check(&progress);
            }
        }
        assert_eq!(last, 1_000_000);
        progress.part(0, 0);
        progress.begin("Grouping", 7);
        assert_eq!((progress.snapshot().done, progress.snapshot().total), (0, 7));
    }
}
