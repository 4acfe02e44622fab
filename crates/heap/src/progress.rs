//! Progress and cancellation of long work, shared between the thread that works and those that watch.
//!
//! Cloning shares the state. The worker calls [`Progress::advance`] and [`Progress::check`] often enough
//! (every few milliseconds); the watcher reads [`Progress::snapshot`] and may [`Progress::cancel`].

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

/// A shared progress counter with a cancel flag.
#[derive(Clone, Default)]
pub struct Progress(Arc<Inner>);

#[derive(Default)]
struct Inner {
    stage: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
    cancelled: Arc<AtomicBool>,
    way: Mutex<Way>,
    /// Lines for people that nobody has taken yet.
    lines: Mutex<Vec<String>>,
}

/// The way over several stages, in shares from 0 to 1: it never goes back.
#[derive(Default)]
struct Way {
    /// Where the stages lead that are in work; `None` where each stage counts for itself.
    until: Option<f64>,
    /// Where the stage in work began.
    from: f64,
    /// Where the first part began, the index of the part in work, and how many there are.
    part: Option<(f64, u64, u64)>,
    reached: f64,
}

impl Way {
    fn is_shown(&self) -> bool {
        self.until.is_some() || self.part.is_some()
    }

    /// Goes on to where a stage is that has done this share of its own. A part is as long as each of its stages. How many stages
    /// lead up to a place is not known: each takes half of the way to it.
    fn go(&mut self, within: f64) -> f64 {
        if !self.is_shown() {
            return 0.0;
        }
        let until = self.until.unwrap_or(1.0);
        let (from, to) = match self.part {
            Some((start, index, parts)) => {
                let at = |index: u64| start + (until - start) * index as f64 / parts as f64;
                (at(index), at(index + 1))
            }
            None => (self.from, self.from.midpoint(until)),
        };
        self.reached = self.reached.max(from + (to - from) * within);
        self.reached
    }
}

/// The total of a way over several stages.
const MILLION: u64 = 1_000_000;

/// The progress at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The current stage, for people: `Reading dump-03.hprof (3 of 12)`.
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
    /// A separate counter that is cancelled together with this one, for parts of a stage that are not shown.
    pub fn hidden(&self) -> Self {
        Progress(Arc::new(Inner { cancelled: Arc::clone(&self.0.cancelled), ..Inner::default() }))
    }
    /// Starts a stage of `total` units (0 = unknown); the count restarts at zero.
    pub fn begin(&self, stage: impl Into<String>, total: u64) {
        let mut way = self.way();
        way.from = way.go(self.within());
        *self.0.stage.lock().unwrap_or_else(|e| e.into_inner()) = stage.into();
        self.0.done.store(0, Relaxed);
        self.0.total.store(total, Relaxed);
    }
    /// Starts part `index` of `parts` like ones, such as the files of a series. Watchers see one progress over all of them, which never
    /// goes back, whatever stages each has. With 0 parts, stages count for themselves again.
    pub fn part(&self, index: u64, parts: u64) {
        let mut way = self.way();
        let reached = way.go(self.within());
        let is_within = way.until.is_some();
        way.part = match (parts, way.part) {
            (0, _) => None,
            (_, Some((start, ..))) if index > 0 => Some((start, index, parts)),
            _ => Some((if is_within { reached } else { 0.0 }, index, parts)),
        };
        if !is_within && (index == 0 || parts == 0) {
            way.reached = 0.0;
        }
        way.from = way.reached;
        self.0.done.store(0, Relaxed);
    }
    /// The stages from now on lead up to this share of all the work, from 0 to 1: watchers see one progress over all of it, which never
    /// goes back. What led up to the share before is done.
    pub fn lead_to(&self, share: f64) {
        let mut way = self.way();
        way.go(self.within());
        way.reached = way.until.filter(|before| *before < share).unwrap_or(0.0).max(way.reached);
        way.until = Some(share);
        way.from = way.reached;
        self.0.done.store(0, Relaxed);
    }
    /// Says a line to people who watch: what is known already.
    pub fn say(&self, line: String) {
        self.0.lines.lock().unwrap_or_else(|e| e.into_inner()).push(line);
    }
    /// The lines that were said since they were taken last.
    pub fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lines.lock().unwrap_or_else(|e| e.into_inner()))
    }
    /// Adds finished units.
    pub fn advance(&self, units: u64) {
        self.0.done.fetch_add(units, Relaxed);
    }
    /// Asks the worker to stop at its next [`Progress::check`].
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Relaxed);
    }
    /// Whether the work goes on.
    ///
    /// # Errors
    /// [`Error::Cancelled`] after a request to stop; another error when nearly all memory is used up.
    pub fn check(&self) -> Result<()> {
        if self.0.cancelled.load(Relaxed) {
            return Err(Error::Cancelled);
        }
        crate::memory::check_left(|| self.0.stage.lock().unwrap_or_else(|e| e.into_inner()).clone())
    }
    /// The state as seen from outside.
    pub fn snapshot(&self) -> Snapshot {
        let stage = self.0.stage.lock().unwrap_or_else(|e| e.into_inner()).clone();
        let mut way = self.way();
        match way.is_shown() {
            true => Snapshot { stage, done: (way.go(self.within()) * MILLION as f64).round() as u64, total: MILLION },
            false => Snapshot { stage, done: self.0.done.load(Relaxed), total: self.0.total.load(Relaxed) },
        }
    }

    fn way(&self) -> MutexGuard<'_, Way> {
        self.0.way.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The share of the stage in work that is done.
    fn within(&self) -> f64 {
        let (done, total) = (self.0.done.load(Relaxed), self.0.total.load(Relaxed));
        if total > 0 { (done as f64 / total as f64).min(1.0) } else { 0.0 }
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

    /// Stages, parts and shares as a report has them.
    #[test]
    fn stages_that_lead_to_a_share_are_one_way() {
        let progress = Progress::new();
        let mut last = 0;
        let mut check = |least: u64, most: u64| {
            let seen = progress.snapshot();
            assert_eq!(seen.total, 1_000_000);
            assert!(seen.done >= last && (least..=most).contains(&seen.done), "{} after {last}", seen.done);
            last = seen.done;
        };
        progress.lead_to(1.0);
        progress.lead_to(0.4);
        progress.begin("Looking", 0);
        check(0, 0);
        for file in 0..2 {
            progress.part(file, 2);
            for stage in ["Reading", "Linking"] {
                progress.begin(stage, 10);
                check(200_000 * file, 200_000 * (file + 1));
                progress.advance(10);
                check(200_000 * (file + 1), 200_000 * (file + 1));
            }
        }
        progress.part(0, 0);
        progress.lead_to(0.8);
        check(400_000, 400_000);
        for stage in ["Walking", "Looking for owners"] {
            progress.begin(stage, 10);
            progress.advance(10);
            check(600_000, 700_000);
        }
        progress.lead_to(1.0);
        check(800_000, 800_000);
        progress.begin("Grouping", 7);
        progress.advance(7);
        check(900_000, 900_000);
        progress.say("2 objects".into());
        assert_eq!(progress.take_lines(), ["2 objects"]);
        assert!(progress.take_lines().is_empty());
    }
}
