//! A run as a whole: memory use and time of collections, collection by collection, with its suspicious windows and the numbers of any
//! window. The overview and detail charts show this data.
//!
//! It takes one pass over the collections, and one over births and deaths. Traces with roots also need the heap states for leak windows.
//! Unknown values are `None`, with a note.

mod statistics;
mod table;
#[cfg(test)]
mod tests;

pub use statistics::RunStatistic;

use crate::analyses::{RunMeasures, TimeWindow};
use crate::lives::RunWindow;
use crate::tabular::count_text;
use crate::timeline::{History, Source, Timeline, by_uptime};
use crate::windows::{SuspiciousWindows, WindowRules};
use memory_city_formats::event::GcKind;
use memory_city_formats::{GcNoun, GcRecord, LifeStep, Lives, Recording, Weighed};
use memory_city_heap::SpaceKind;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::cmp::Reverse;

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

/// Bytes by space at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceLevels {
    /// New objects.
    pub eden: u64,
    /// Objects that survived a few collections.
    pub survivor: u64,
    /// Objects that survived more, and those in regions of their own.
    pub old: u64,
    /// Where the source does not say.
    pub unknown: u64,
}

impl SpaceLevels {
    /// All spaces together.
    pub fn all(&self) -> u64 {
        self.eden.saturating_add(self.survivor).saturating_add(self.old).saturating_add(self.unknown)
    }
}

/// Births and deaths between the end of the previous collection and the end of this one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GcLives {
    /// The allocated amount.
    pub born: Weighed,
    /// The part that the collection freed: it survived nothing.
    pub died_young: Weighed,
    /// All that the collection freed.
    pub died: Weighed,
    /// The objects moved from a young space into an old one.
    pub promoted: Weighed,
}

/// The allocations of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadShare {
    /// Its name.
    pub thread: String,
    /// Objects and bytes.
    pub born: Weighed,
}

/// The facts about a run between two points in time. Times are nanoseconds since the program started, or since 1970 if the start is unknown
/// ([`RunMeasures::is_epoch`]).
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// Memory over time, and the data for windows.
    pub measures: RunMeasures,
    /// The collections; as many as `measures.gcs`.
    pub collections: Vec<GcRecord>,
    /// Bytes by space at the start and at the end of each collection, where the input says in which space objects are.
    pub spaces: Option<Vec<[SpaceLevels; 2]>>,
    /// Births and deaths by collection, if known.
    pub lives: Option<Vec<GcLives>>,
    /// Whether `lives` are counted; otherwise they are estimates.
    pub lives_are_exact: bool,
    /// Threads, the largest allocation first; empty if unknown.
    pub threads: Vec<ThreadShare>,
    /// When the run ends.
    pub ended: u64,
}

impl RunFacts {
    /// Looks at a source between two points in time. `states`: see [`RunMeasures::of`].
    ///
    /// # Errors
    /// When a heap state cannot be loaded again, or the work was cancelled.
    pub fn of(source: &Source, window: TimeWindow, states: usize, progress: &Progress) -> Result<RunFacts> {
        let measures = RunMeasures::of(source, window, states, progress)?;
        let ended_level = measures.levels.last().map_or(measures.began, |level| level.time);
        let mut facts = RunFacts {
            ended: measures.gcs.last().map_or(ended_level, |gc| gc.end.max(ended_level)),
            measures,
            collections: Vec::new(),
            spaces: None,
            lives: None,
            lives_are_exact: false,
            threads: Vec::new(),
        };
        let Some(series) = source.heaps().map(History::series) else { return Ok(facts) };
        let Some(history) = series.gc_history(progress)?.filter(|history| !history.collections.is_empty()) else {
            return Ok(facts);
        };
        let whole = RunWindow::of_points(source, &history, window);
        facts.collections = history.collections[whole.first as usize..whole.end as usize].to_vec();
        facts.measures.notes.extend(pauses_note(facts.noun(), &facts.collections));
        if let Some(lives) = series.lives() {
            if lives.is_exact() {
                facts.spaces = spaces(lives.recording, whole, progress)?;
            }
            facts.add_lives(lives, whole, progress)?;
        }
        Ok(facts)
    }

    /// The windows that are suspicious under some rules. Milliseconds for a hundred thousand collections: ask again whenever a
    /// threshold changes.
    pub fn suspicious(&self, rules: &WindowRules) -> SuspiciousWindows {
        SuspiciousWindows::find(self.measures.began, &self.measures.gcs, &self.measures.levels, rules)
    }

    fn add_lives(&mut self, lives: Lives<'_>, whole: RunWindow, progress: &Progress) -> Result<()> {
        let mut found = vec![GcLives::default(); self.collections.len()];
        let mut by_thread = vec![Weighed::default(); lives.recording.threads.len()];
        if let Some(last) = whole.end.checked_sub(1) {
            lives.each(last, progress, |event| {
                let Some(of) = event.gc.checked_sub(whole.first).and_then(|at| found.get_mut(at as usize)) else {
                    return Ok(());
                };
                match event.step {
                    LifeStep::Born => {
                        of.born += event.amount;
                        let thread = lives.recording.infos.get(event.key.info as usize).map(|info| info.thread.0);
                        if let Some(sum) = thread.and_then(|thread| by_thread.get_mut(thread as usize)) {
                            *sum += event.amount;
                        }
                    }
                    LifeStep::Promoted => of.promoted += event.amount,
                    LifeStep::Died => {
                        of.died += event.amount;
                        if event.age() == 0 {
                            of.died_young += event.amount;
                        }
                    }
                }
                Ok(())
            })?;
        }
        let named = lives.recording.threads.iter().zip(by_thread);
        self.threads = named
            .filter(|(_, born)| born.objects > 0.0)
            .map(|(name, born)| ThreadShare { thread: name.to_string(), born })
            .collect();
        self.threads.sort_by(|a, b| b.born.bytes.total_cmp(&a.born.bytes).then_with(|| a.thread.cmp(&b.thread)));
        self.lives = Some(found);
        self.lives_are_exact = lives.is_exact() || lives.is_complete();
        Ok(())
    }

    /// Whether a collection was one of the whole heap. One pause of one is not: the program goes on while the rest is collected.
    pub fn is_full(&self, gc: usize) -> bool {
        self.collections.get(gc).is_some_and(|of| of.kind == Some(GcKind::Major) && !of.one_pause)
    }

    /// The noun for one of its collections.
    pub fn noun(&self) -> GcNoun {
        self.measures.noun
    }

    /// Share of the time from the end of the collection before to the end of one that the collection took, 0 to 1.
    pub fn overhead(&self, gc: usize) -> f64 {
        let of = &self.measures.gcs[gc];
        let before = gc.checked_sub(1).map_or(self.measures.began, |last| self.measures.gcs[last].end);
        let all = of.end.saturating_sub(before).max(1);
        (of.end.saturating_sub(of.start) as f64 / all as f64).min(1.0)
    }

    /// Bytes allocated between the end of the previous collection and the start of this one: the increase of memory in use, else the
    /// births; `None` if neither is known.
    pub fn allocated(&self, gc: usize) -> Option<f64> {
        let of = self.collections.get(gc)?;
        let last = gc.checked_sub(1).map(|last| self.collections[last].after);
        if let (Some(before), Some(Some(after))) = (of.before, last) {
            return Some(before.saturating_sub(after) as f64);
        }
        let of_births = self.lives.as_ref().map(|lives| lives[gc].born.bytes);
        // Before the first collection all that is in use was allocated, if the recording begins with the program.
        let is_first = gc == 0 && self.measures.began == 0;
        of_births.or_else(|| of.before.filter(|_| is_first).map(|before| before as f64))
    }

    /// Nanoseconds in which that was; a millisecond at least, since the clocks of traces know no less.
    pub fn allocating(&self, gc: usize) -> u64 {
        let before = gc.checked_sub(1).map_or(self.measures.began, |last| self.measures.gcs[last].end);
        self.measures.gcs[gc].start.saturating_sub(before).max(NANOS)
    }

    /// Share of the bytes in use at the start of a collection that survived it, 0 to 1.
    pub fn survived(&self, gc: usize) -> Option<f64> {
        let of = self.collections.get(gc)?;
        let (before, after) = (of.before?, of.after?);
        (before > 0).then(|| (after as f64 / before as f64).min(1.0))
    }

    /// Share of the bytes allocated before a collection that survived it, 0 to 1.
    pub fn survived_new(&self, gc: usize) -> Option<f64> {
        let of = self.lives.as_ref()?.get(gc)?;
        (of.born.bytes > 0.0).then(|| (1.0 - of.died_young.bytes / of.born.bytes).clamp(0.0, 1.0))
    }

    /// The collections between two moments: the first that ended after the first moment, and the first behind those that ended until
    /// the second.
    pub fn gcs_between(&self, from: u64, to: u64) -> std::ops::Range<usize> {
        let gcs = &self.measures.gcs;
        let first = gcs.partition_point(|gc| gc.end <= from);
        first..gcs.partition_point(|gc| gc.end <= to).max(first)
    }

    /// The nearest window that begins and ends where windows do: at the begin of the run, at the ends of collections or at levels.
    pub fn snapped(&self, from: u64, to: u64) -> (u64, u64) {
        let (from, to) = (from.min(to), from.max(to));
        (self.nearest_end(from), self.nearest_end(to))
    }

    fn nearest_end(&self, time: u64) -> u64 {
        let gcs = &self.measures.gcs;
        let levels = &self.measures.levels;
        let mut near = vec![self.measures.began, self.ended];
        let at = gcs.partition_point(|gc| gc.end < time);
        near.extend(at.checked_sub(1).into_iter().chain([at]).filter_map(|i| gcs.get(i)).map(|gc| gc.end));
        if gcs.is_empty() {
            let at = levels.partition_point(|level| level.time < time);
            near.extend(at.checked_sub(1).into_iter().chain([at]).filter_map(|i| levels.get(i)).map(|l| l.time));
        }
        near.into_iter().min_by_key(|&end| (end.abs_diff(time), end)).unwrap_or(time)
    }

    /// The points in time around two moments: the last not after the first one, and the first not before the second. `None` where the
    /// points have no times that compare.
    pub fn points(&self, timeline: &Timeline, from: u64, to: u64) -> Option<TimeWindow> {
        let points = timeline.points();
        let is_known = self.measures.is_epoch || by_uptime(points);
        if !is_known {
            return None;
        }
        let [from, to] = [from, to].map(|nanos| nanos / NANOS);
        let first = (0..points.len()).take_while(|&time| points[time].millis <= from).last().unwrap_or(0);
        let last = (0..points.len()).find(|&time| points[time].millis >= to).unwrap_or(points.len() - 1);
        Some(TimeWindow { from: first, to: last.max(first) })
    }
}

/// Bytes by space at the start and end of each collection of a window; `None` where the recording does not say.
fn spaces(recording: &Recording, whole: RunWindow, progress: &Progress) -> Result<Option<Vec<[SpaceLevels; 2]>>> {
    let mut sums = [0i64; 4];
    let mut found = Vec::with_capacity(whole.gcs() as usize);
    for gc in 0..whole.end as usize {
        progress.check()?;
        let mut levels = [SpaceLevels::default(); 2];
        for (side, levels) in levels.iter_mut().enumerate() {
            if 2 * gc + side < recording.log.len() {
                for change in recording.log.changes(2 * gc + side) {
                    let space = match change.key.space {
                        SpaceKind::Eden => 0,
                        SpaceKind::Survivor => 1,
                        SpaceKind::Old | SpaceKind::Humongous => 2,
                        SpaceKind::Unknown => 3,
                    };
                    sums[space] += change.bytes;
                }
            }
            let [eden, survivor, old, unknown] = sums.map(|sum| u64::try_from(sum).unwrap_or(0));
            *levels = SpaceLevels { eden, survivor, old, unknown };
        }
        if gc >= whole.first as usize {
            found.push(levels);
        }
    }
    let is_told = found.iter().flatten().any(|levels| levels.eden > 0 || levels.survivor > 0 || levels.old > 0);
    Ok(is_told.then_some(found))
}

/// A note that the times of some collections are those of one pause, if there are such.
pub(crate) fn pauses_note<'a>(noun: GcNoun, collections: impl IntoIterator<Item = &'a GcRecord>) -> Option<String> {
    let (mut all, mut pauses) = (0u64, 0u64);
    for gc in collections {
        all += 1;
        pauses += u64::from(gc.one_pause);
    }
    (pauses > 0).then(|| match noun {
        GcNoun::Pauses => "What is counted are pauses: the collector works beside the program, and pauses it several times for one collection. \
             How many collections there were, and how long it worked, is not known."
            .to_owned(),
        GcNoun::Collections => format!(
            "Of {} of {} collections the times are those of one pause only: the collector works beside the program, and how long it \
             worked is not known. It pauses the program several times for one collection: there were fewer.",
            count_text(pauses),
            count_text(all)
        ),
    })
}

/// Causes of collections in a window: name, how many, nanoseconds; those that took longest first.
pub(crate) fn causes(collections: &[GcRecord]) -> Vec<(String, u64, u64)> {
    let mut sums: std::collections::BTreeMap<&str, (u64, u64)> = std::collections::BTreeMap::new();
    for gc in collections {
        let sum = sums.entry(&gc.cause).or_default();
        *sum = (sum.0 + 1, sum.1 + gc.end.saturating_sub(gc.start));
    }
    let mut causes: Vec<_> = sums.into_iter().map(|(cause, (n, time))| (cause.to_owned(), n, time)).collect();
    causes.sort_by_key(|of| (Reverse(of.2), Reverse(of.1)));
    causes
}
