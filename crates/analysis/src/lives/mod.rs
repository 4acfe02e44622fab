//! Lives of objects, from birth to death, by any grouping: deaths in a window of time, ages, and premature promotions.
//!
//! It takes one pass over the births and deaths at every collection ([`Lives`]); no heap state is built. Traces are exact, recordings of
//! stock JVMs are estimates from samples, with their error: the same code handles both.
//!
//! | module | finds |
//! |---|---|
//! | `dead_tree` | the tree of dead objects of a window, and over time: a timeline that any view of trees shows |
//! | `generations` | the intervals between collections from which objects of each group are alive |
//! | `spans` | the age that objects of each group reach, their survival and promotion |
//!
//! Groupings may read facts that objects keep for life, and their age and space at death. Nothing here knows tables.

mod dead_tree;
mod generations;
mod spans;
#[cfg(test)]
mod tests;

pub use dead_tree::{DeadTree, died_over_time};
pub use generations::{
    ALLOCATIONS, AliveObjects, CountedCollections, GenerationCounter, GenerationRow, GenerationShape, Generations,
    above_gap, generations, generations_of,
};
pub use spans::{AGES, GroupSpans, LifeSpans, age_bucket, age_bucket_text, life_spans};

use crate::group::{ByFunction, ClassifierMeta, Grouping, GroupingRun, MemoryTree, ObjectView, Placement, Reads};
use crate::timeline::{History, Source, TimeWindow, by_uptime};
use memory_city_formats::{GcHistory, LifeEvent, Lives, Recording};
use memory_city_heap::SpaceKind;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Default start of a grouping of dead objects: age, type, allocation site.
pub const BY_AGE_TYPE_AND_SITE: &str = "age>type>site";

/// Whether anything is known of births and deaths of a source. Costs nothing.
pub(crate) fn has_lives(source: &Source) -> bool {
    match source {
        Source::Heaps(history) => history.series().lives().is_some(),
        Source::Counts(counts) => counts.counted().has_lives(),
        Source::Trees(_) => false,
    }
}

/// The births and deaths of a source, and its collections.
///
/// # Errors
/// When nothing is known of them, or the work was cancelled.
pub fn lives_of<'a>(source: &'a Source, progress: &Progress) -> Result<(Lives<'a>, GcHistory)> {
    if let Source::Counts(counts) = source
        && let Some(known) = counts.counted().lives(progress)?
    {
        return Ok(known);
    }
    let series = source.heaps().map(History::series);
    if let Some(series) = series
        && let Some(lives) = series.lives()
        && let Some(history) = series.gc_history(progress)?
    {
        return Ok((lives, history));
    }
    Err(Error::Unusable {
        what: "The input does not say when objects were born and died".into(),
        remedy: "Open a memory trace, or record the program with `memory-city record`".into(),
    })
}

/// The grouping of a name or list, for objects that are dead: their age is that at death (`0 GCs survived`).
///
/// # Errors
/// When it is not known, or reads facts that dead objects lack.
pub fn grouping_of_dead(text: &str) -> Result<Grouping> {
    of_dead(&*crate::timeline::named_grouping(text)?)
}

/// A grouping for objects that are dead.
///
/// # Errors
/// As [`grouping_of_dead`].
pub(crate) fn of_dead(known: &Grouping) -> Result<Grouping> {
    let classifiers = known.classifiers.iter().map(|classifier| match &*classifier.meta().id {
        "age" => Arc::new(ByFunction::new(
            ClassifierMeta::new("age", "Age")
                .describe("How many garbage collections the object had survived when it died", "0 GCs survived")
                .reads(Reads::AGE),
            |object, values| match object.age() {
                Some(age) => values.one(&age_bucket_text(age_bucket(age))),
                None => values.one("(unknown)"),
            },
        )),
        _ => Arc::clone(classifier),
    });
    let grouping = Grouping { classifiers: classifiers.collect(), ..known.clone() };
    let reads = grouping.reads();
    if reads.by_object() {
        return Err(Error::Unusable {
            what: format!(
                "Dead objects cannot be grouped by {}: it reads {}, which is not recorded of them",
                grouping.title,
                reads.intersection(Reads::BY_OBJECT).names()
            ),
            remedy: "Group them by age, type, package, site, callers or thread".into(),
        });
    }
    Ok(grouping)
}

/// Collections of a window of time, and how long it is. Nanoseconds since the program started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunWindow {
    /// The first collection in it, counted from 0.
    pub first: u32,
    /// The first one after it.
    pub end: u32,
    /// When it begins: at the start of the recording, or at the end of the collection before.
    pub from: u64,
    /// When it ends: at the end of its last collection.
    pub to: u64,
}

impl RunWindow {
    /// These collections.
    pub fn of_gcs(history: &GcHistory, first: u32, end: u32) -> RunWindow {
        let all = &history.collections;
        let end = end.min(all.len() as u32);
        let first = first.min(end);
        let until = |gcs: u32| match gcs.checked_sub(1).and_then(|last| all.get(last as usize)) {
            Some(last) => last.end.max(history.began),
            None => history.began,
        };
        RunWindow { first, end, from: until(first), to: until(end).max(until(first)) }
    }

    /// The collections between two points in time of a source. The first point stands for the start of the recording, the last
    /// one for its end, so that the window of all points is the whole run.
    pub fn of_points(source: &Source, history: &GcHistory, window: TimeWindow) -> RunWindow {
        let ended_by = |time: usize| ended_by(source, history, time);
        let first = if window.from == 0 { 0 } else { ended_by(window.from) };
        let end = match window.to + 1 >= source.timeline().times() {
            true => history.collections.len() as u32,
            false => ended_by(window.to),
        };
        RunWindow::of_gcs(history, first, end.max(first))
    }

    /// Seconds; never 0.
    pub fn seconds(&self) -> f64 {
        ((self.to - self.from) as f64 / 1e9).max(1e-3)
    }

    /// How many collections are in it.
    pub fn gcs(&self) -> u32 {
        self.end - self.first
    }
}

/// When a point in time is, milliseconds since the program started.
pub(crate) fn since_start(source: &Source, history: &GcHistory, time: usize) -> u64 {
    let points = source.timeline().points();
    if by_uptime(points) { points[time].millis } else { points[time].millis.saturating_sub(history.epoch) }
}

/// How many collections have ended at a point in time.
pub(crate) fn ended_by(source: &Source, history: &GcHistory, time: usize) -> u32 {
    if let Some(heaps) = source.heaps().filter(|heaps| heaps.is_recorded()) {
        // Starts and ends in turn.
        return heaps.moment(time).div_ceil(2) as u32;
    }
    // The clocks of points tick in milliseconds.
    let until = (since_start(source, history, time) + 1).saturating_mul(1_000_000);
    history.collections.partition_point(|gc| gc.end < until) as u32
}

/// The names down to a group, the outermost first; none of the root.
fn names(tree: &MemoryTree, node: usize) -> Vec<&str> {
    let up = std::iter::successors(Some(node), |&n| tree.parent(n)).filter(|&n| n != 0);
    let mut names: Vec<&str> = up.map(|n| &**tree.name(n)).collect();
    names.reverse();
    names
}

/// The same in one text.
pub(crate) fn group_path(tree: &MemoryTree, node: usize) -> String {
    if node == 0 { "All objects".to_owned() } else { names(tree, node).join(" › ") }
}

/// Where the objects of events belong in the tree of a grouping.
struct LifePlaces<'a> {
    recording: &'a Recording,
    placement: Placement,
    reads: Reads,
    /// By creation data, and by space and age as far as the grouping uses them.
    leaves: FxHashMap<(u32, SpaceKind, u32), Box<[u32]>>,
}

impl<'a> LifePlaces<'a> {
    fn new(lives: Lives<'a>, grouping: &Grouping, progress: &Progress) -> Result<LifePlaces<'a>> {
        let run = GroupingRun { heap: None, among: None, progress };
        Ok(LifePlaces {
            recording: lives.recording,
            placement: Placement::new(&grouping.prepared(&run)?),
            reads: grouping.reads(),
            leaves: FxHashMap::default(),
        })
    }

    fn tree(&self) -> &MemoryTree {
        &self.placement.tree
    }

    /// The nodes that objects of an event are counted in, and above.
    fn of(&mut self, event: &LifeEvent) -> &[u32] {
        let space = if self.reads.contains(Reads::SPACE) { event.key.space } else { SpaceKind::Unknown };
        let age = if self.reads.contains(Reads::AGE) { event.age() } else { 0 };
        let (recording, placement) = (self.recording, &mut self.placement);
        self.leaves.entry((event.key.info, space, age)).or_insert_with(|| {
            let facts = recording.facts(event.key, event.gc);
            placement.place(&ObjectView::of_cohort(&facts))
        })
    }
}
