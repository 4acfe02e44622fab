//! Alignment of two runs: the points in time at which both are equally far, by time, collections, allocated objects, or share of the run.

use crate::lives::{ended_by, lives_of};
use crate::tabular::{count_text, several, uptime_text};
use crate::timeline::{Metric, Source, TimePoint, Timeline, by_uptime};
use memory_city_formats::{GcNoun, LifeStep};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

/// Two runs, each with how far it is at each of its points in time, and the place at which they are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignedRuns {
    /// `order`, `time`, `gcs`, `allocated` or `end`, as in the parameters of the [description](super::description): the chosen one,
    /// or one that both runs have.
    pub by: &'static str,
    /// How far from the start they are compared: points in time, milliseconds, collections, objects, or percent of each run.
    pub place: f64,
    /// The noun for collections when runs are aligned by them: pauses, if both runs have pauses.
    pub noun: GcNoun,
    /// The point in time of each that is the last one not after the place.
    pub points: [usize; 2],
    axes: [RunAxis; 2],
}

/// A group in one of the runs: how far the run is, and the value of the group there; one pair for each point in time, places ascending.
pub type RunCurve = Vec<(f64, u64)>;

impl AlignedRuns {
    /// Aligns two runs; `at` is a place, 0 for as far as the shorter run goes.
    ///
    /// # Errors
    /// When they cannot be aligned so, or the work was cancelled.
    pub(super) fn new(runs: [&Source; 2], by: &str, at: u64, progress: &Progress) -> Result<AlignedRuns> {
        let (by, axes) = axes(runs, by, progress)?;
        let place = match at {
            0 => axes[0].end().min(axes[1].end()),
            n => n as f64,
        };
        // What lies just behind the end of the shorter run is as far as that.
        let reach = if at == 0 && by == "time" { place * NEAR } else { place };
        let points = [axes[0].point(reach), axes[1].point(reach)];
        let is_pauses = runs.iter().all(|run| run.gc_noun().is_pauses());
        let noun = if is_pauses { GcNoun::Pauses } else { GcNoun::Collections };
        Ok(AlignedRuns { by, place, noun, points, axes })
    }

    /// The point in time of a run (0 or 1) at a place.
    pub fn point(&self, side: usize, place: f64) -> usize {
        self.axes[side].point(place)
    }

    /// The end of each run.
    pub fn ends(&self) -> [f64; 2] {
        [self.axes[0].end(), self.axes[1].end()]
    }

    /// A group of a run (0 or 1) over all of it; nothing but zeros where the run does not have it.
    pub fn curve(&self, side: usize, timeline: &Timeline, key: &str, metric: Metric) -> RunCurve {
        let node = timeline.find(key);
        let value = |t: usize| node.map_or(0, |node| timeline.value(t, node, metric));
        let known = timeline.times().min(self.axes[side].at.len());
        (0..known).map(|t| (self.axes[side].at[t], value(t))).collect()
    }

    /// The place in words: `after 12 collections`.
    pub fn place_text(&self) -> String {
        let place = self.place;
        match self.by {
            "time" => format!("{} after the start", uptime_text(place as u64)),
            "order" => format!("dump by dump, {} each", several(place as u64, "dump", "dumps")),
            "gcs" => format!("after {}", several(place as u64, self.noun.one(), self.noun.many())),
            "end" if place >= 100.0 => "at the ends of the runs".to_owned(),
            "end" => format!("after {place:.0} % of the time of each run"),
            _ => format!("after {} objects were allocated", count_text(place as u64)),
        }
    }

    /// A note that one run has collections and the other single pauses, if runs are aligned by these.
    pub(super) fn unlike_note(&self, runs: [&Source; 2]) -> Option<String> {
        let [a, b] = runs.map(|run| run.gc_noun().many());
        let is_unlike = self.by == "gcs" && a != b;
        is_unlike.then(|| {
            format!("Of A {a} are counted, of B {b}: a collection has several pauses, so after as many the runs are not as far.")
        })
    }

    /// A place as a number on an axis.
    pub fn tick_text(&self, place: f64) -> String {
        match self.by {
            "time" => uptime_text(place as u64),
            "end" => format!("{place:.0} %"),
            _ => count_text(place as u64),
        }
    }
}

/// Of the way to the end of the shorter run, so much further counts as the same.
const NEAR: f64 = 1.02;

/// The progress of a run at each of its points in time, in the unit of the alignment.
#[derive(Clone, Debug, PartialEq)]
struct RunAxis {
    /// Ascending.
    at: Vec<f64>,
}

impl RunAxis {
    /// The last point not after some place; the first where all are after it.
    fn point(&self, place: f64) -> usize {
        self.at.partition_point(|&at| at <= place).saturating_sub(1)
    }

    fn end(&self) -> f64 {
        self.at.last().copied().unwrap_or(0.0)
    }
}

/// The progress of both runs at their points in time, in the requested unit, or the best that both have.
fn axes(runs: [&Source; 2], align: &str, progress: &Progress) -> Result<(&'static str, [RunAxis; 2])> {
    let both =
        |axis: &dyn Fn(&Source) -> Result<RunAxis>| -> Result<[RunAxis; 2]> { Ok([axis(runs[0])?, axis(runs[1])?]) };
    match align {
        "order" => return Ok(("order", both(&|run| Ok(by_order(run)))?)),
        "time" => return Ok(("time", both(&|run| Ok(by_time(run)))?)),
        "gcs" => return Ok(("gcs", both(&|run| by_gcs(run, progress))?)),
        "allocated" => return Ok(("allocated", both(&|run| by_allocation(run, progress))?)),
        "end" => return Ok(("end", both(&|run| Ok(by_share(run)))?)),
        _ => {}
    }
    // A single state is compared with the end of the other run.
    if runs.iter().any(|run| run.timeline().times() == 1) {
        return Ok(("end", both(&|run| Ok(by_share(run)))?));
    }
    match both(&|run| by_allocation(run, progress)) {
        Ok(axes) => return Ok(("allocated", axes)),
        Err(Error::Unusable { .. }) => {}
        Err(error) => return Err(error),
    }
    // The time at which a dump was taken by hand says nothing of how far the program was.
    if is_by_hand(runs[0]) && is_by_hand(runs[1]) {
        return Ok(("order", both(&|run| Ok(by_order(run)))?));
    }
    Ok(("time", both(&|run| Ok(by_time(run)))?))
}

/// Whether its points in time are dumps, taken one by one.
fn is_by_hand(run: &Source) -> bool {
    let series = run.heaps().filter(|heaps| !heaps.is_recorded()).map(|heaps| heaps.series());
    !by_uptime(run.timeline().points()) && series.is_some_and(|series| series.uptime(0).is_none())
}

/// Points in time, counted from 1.
fn by_order(run: &Source) -> RunAxis {
    RunAxis { at: (0..run.timeline().times()).map(|time| time as f64 + 1.0).collect() }
}

/// Milliseconds since the program started, or since the first point if that is unknown.
fn by_time(run: &Source) -> RunAxis {
    let points = run.timeline().points();
    let started = if by_uptime(points) { 0 } else { points[0].millis };
    // Recordings know it of walks that the clock of the system dates, too.
    let series = run.heaps().filter(|heaps| !heaps.is_recorded()).map(|heaps| heaps.series());
    let known: Option<Vec<u64>> = series.and_then(|series| (0..points.len()).map(|time| series.uptime(time)).collect());
    let mut latest = 0u64;
    let since = |(time, point): (usize, &TimePoint)| {
        let at = known.as_ref().map_or_else(|| point.millis.saturating_sub(started), |known| known[time]);
        latest = latest.max(at);
        latest as f64
    };
    RunAxis { at: points.iter().enumerate().map(since).collect() }
}

/// Percent of the way from the first to the last point in time.
fn by_share(run: &Source) -> RunAxis {
    let RunAxis { at } = by_time(run);
    let (first, last) = (at.first().copied().unwrap_or(0.0), at.last().copied().unwrap_or(0.0));
    let count = at.len();
    let share = |(i, at): (usize, f64)| match last > first {
        _ if i + 1 == count => 100.0,
        true => 100.0 * (at - first) / (last - first),
        false => 0.0,
    };
    RunAxis { at: at.into_iter().enumerate().map(share).collect() }
}

/// Collections that have ended; without any, points in time.
fn by_gcs(run: &Source, progress: &Progress) -> Result<RunAxis> {
    let times = run.timeline().times();
    let history = match run.heaps() {
        Some(heaps) => heaps.series().gc_history(progress)?,
        None => None,
    };
    let ended = |time: usize| match &history {
        Some(history) => f64::from(ended_by(run, history, time)),
        None => time as f64 + 1.0,
    };
    Ok(RunAxis { at: (0..times).map(ended).collect() })
}

/// Objects that were allocated until then.
fn by_allocation(run: &Source, progress: &Progress) -> Result<RunAxis> {
    let (lives, history) = lives_of(run, progress)?;
    let mut born = vec![0.0; lives.gcs() as usize];
    if let Some(last) = lives.gcs().checked_sub(1) {
        lives.each(last, progress, |event| {
            if event.step == LifeStep::Born {
                born[event.gc as usize] += event.amount.objects;
            }
            Ok(())
        })?;
    }
    let mut sum = 0.0;
    for born in &mut born {
        sum += *born;
        *born = sum;
    }
    let until = |time: usize| match ended_by(run, &history, time) {
        0 => 0.0,
        gcs => born.get(gcs as usize - 1).copied().unwrap_or(sum),
    };
    Ok(RunAxis { at: (0..run.timeline().times()).map(until).collect() })
}
