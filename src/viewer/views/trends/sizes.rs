//! Deep and retained sizes for charts: found in the background at some points in time, both ends first, and shown as they come.
//!
//! Sizes of all groups are found at once, so that the charts below are there when they are opened. They are kept apart from the metrics
//! of the document, which have a value at every time.

use crate::viewer::job::Job;
use bevy::log::tracing;
use memory_city_analysis::timeline::{ClosureMetric, ClosureRequest, Source, TimeAmounts};
use memory_city_analysis::trends::GroupSizes;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::KeepRules;
use memory_city_heap::progress::{Progress, Snapshot};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Results since the last frame: sizes by time, `None` while a trace has no references yet.
type Arrived = Arc<Mutex<Vec<(usize, Option<TimeAmounts>)>>>;

/// Retained sizes alone, and those with deep ones: deep sizes cost more, and are found on request.
pub struct SizesWork {
    retained: FoundSizes,
    deep: FoundSizes,
}

impl Default for SizesWork {
    fn default() -> Self {
        let found = |deep| {
            let request = ClosureRequest { rules: KeepRules::default(), deep };
            FoundSizes { request, sizes: GroupSizes::new(request), ..FoundSizes::default() }
        };
        SizesWork { retained: found(false), deep: found(true) }
    }
}

/// The sizes of one request.
#[derive(Default)]
pub struct FoundSizes {
    request: ClosureRequest,
    sizes: GroupSizes,
    /// The times to be found, ascending.
    wanted: Vec<usize>,
    /// Times at which the input has no references.
    without: BTreeSet<usize>,
    job: Option<Job<Result<()>>>,
    arrived: Arrived,
    stopped: bool,
    error: Option<String>,
}

/// How far it is, for people.
pub struct SizesState<'s> {
    /// How many times are known, and how many are to be.
    pub known: usize,
    pub wanted: usize,
    /// How many times the input says nothing of.
    pub without: usize,
    pub stopped: bool,
    pub error: Option<&'s str>,
    pub job: Option<Snapshot>,
}

/// Sizes that the charts need now.
pub struct SizesWish<'s> {
    pub source: &'s Arc<Source>,
    /// Wanted times, ascending.
    pub wanted: &'s [usize],
    /// Starts no new work: more of the input is being read, or a window is being dragged.
    pub waits: bool,
    /// Computes at once, for a picture.
    pub still: bool,
}

impl SizesWork {
    /// The search that has a metric: the one with deep sizes as well, if these are asked for anyway.
    pub fn of(&self, metric: ClosureMetric, deep_too: bool) -> &FoundSizes {
        if metric.is_deep() || deep_too { &self.deep } else { &self.retained }
    }

    /// The same, to stop it or go on.
    pub fn of_mut(&mut self, metric: ClosureMetric, deep_too: bool) -> &mut FoundSizes {
        if metric.is_deep() || deep_too { &mut self.deep } else { &mut self.retained }
    }

    /// Takes results, and starts the search for missing sizes: retained ones, deep ones. Returns whether it goes on.
    pub fn follow(&mut self, wish: &SizesWish<'_>, retained: bool, deep: bool) -> bool {
        let one = self.retained.follow(wish, retained && !deep);
        self.deep.follow(wish, deep) || one
    }
}

impl FoundSizes {
    /// Sizes known by now.
    pub fn sizes(&self) -> &GroupSizes {
        &self.sizes
    }

    /// How far it is.
    pub fn state(&self) -> SizesState<'_> {
        SizesState {
            known: self.sizes.times().len(),
            wanted: self.wanted.len(),
            without: self.without.len(),
            stopped: self.stopped,
            error: self.error.as_deref(),
            job: self.job.as_ref().map(Job::snapshot),
        }
    }

    /// Stops; results so far stay.
    pub fn stop(&mut self) {
        (self.job, self.stopped) = (None, true);
    }

    /// Goes on after a stop or an error.
    pub fn go_on(&mut self) {
        (self.stopped, self.error) = (false, None);
    }

    fn follow(&mut self, wish: &SizesWish<'_>, asked: bool) -> bool {
        self.take();
        if !asked {
            self.job = None;
            return false;
        }
        if self.wanted != wish.wanted && (!wish.waits || self.wanted.is_empty()) {
            self.wanted = wish.wanted.to_vec();
            self.sizes.keep(&self.wanted);
            self.job = None;
            self.error = None;
        }
        let lacks = |time: &usize| !self.sizes.has(*time) && !self.without.contains(time);
        let missing: Vec<usize> = GroupSizes::order(&self.wanted).into_iter().filter(lacks).collect();
        if missing.is_empty() || self.job.is_some() || self.stopped || self.error.is_some() || wish.waits {
            return self.job.is_some();
        }
        // What a job that was given up found too late is of other times.
        self.arrived = Arrived::default();
        let (source, arrived, request) = (Arc::clone(wish.source), Arc::clone(&self.arrived), self.request);
        let work = move |progress: &Progress| {
            // Few at once: the first are to be seen soon.
            let ahead = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(4);
            source.closures_at(&missing, ahead, request, progress, &mut |time, found| {
                arrived.lock().unwrap_or_else(|e| e.into_inner()).push((time, found));
            })
        };
        if wish.still {
            let outcome = work(&Progress::new());
            self.take();
            self.end(outcome);
            return false;
        }
        self.job = Some(Job::behind_frames(work));
        true
    }

    fn take(&mut self) {
        let outcome = self.job.as_ref().and_then(Job::poll);
        let arrived = std::mem::take(&mut *self.arrived.lock().unwrap_or_else(|e| e.into_inner()));
        for (time, found) in arrived {
            match found {
                Some(found) => self.sizes.add(time, found),
                None => drop(self.without.insert(time)),
            }
        }
        if let Some(outcome) = outcome {
            self.job = None;
            match outcome {
                Ok(outcome) => self.end(outcome),
                Err(panic) => self.error = Some(panic),
            }
        }
    }

    fn end(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => tracing::debug!("trends: found sizes at {} times", self.sizes.times().len()),
            Err(Error::Cancelled) => self.stopped = true,
            Err(error) => self.error = Some(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_analysis::group::GroupOptions;
    use std::path::Path;

    fn source() -> Arc<Source> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-data/person-leak");
        let paths = [1, 8, 16].map(|i| folder.join(format!("person-leak-{i:02}.hprof.gz")));
        Arc::new(Source::open(&paths, "type", GroupOptions::default(), &Progress::new()).expect("it opens"))
    }

    #[test]
    fn sizes_come_one_by_one_stop_when_told_and_go_on() {
        let source = source();
        let mut work = SizesWork::default();
        let wish = |wanted: &'static [usize], waits, still| SizesWish { source: &source, wanted, waits, still };
        let metric = ClosureMetric::Retained;
        assert!(!work.follow(&wish(&[0, 2], true, false), true, false), "more is being read");
        assert!(work.follow(&wish(&[0, 2], false, false), true, false));
        work.of_mut(metric, false).stop();
        assert!(!work.follow(&wish(&[0, 2], false, false), true, false), "until somebody wants it again");
        assert!(work.of(metric, false).state().stopped);
        work.of_mut(metric, false).go_on();
        while work.follow(&wish(&[0, 2], false, false), true, false) {
            std::thread::yield_now();
        }
        assert_eq!(work.of(metric, false).sizes().times(), [0, 2]);
        // Another number of times takes what is there.
        assert!(!work.follow(&wish(&[0, 1, 2], false, true), true, false));
        let state = work.of(metric, false).state();
        assert_eq!((state.known, state.wanted, state.without, state.error), (3, 3, 0, None));
        assert_eq!(work.of(metric, true).sizes().times(), [] as [usize; 0], "deep ones were not asked for");
    }
}
