//! A history: a series of heap states under one grouping, with its timeline and caches. Its queries are in a submodule.

mod queries;

use super::builder::TimelineBuilder;
use super::choice::{asked, check, choose, known_of_traces, with_wanted};
use super::dump_cache::DumpCache;
use super::following::Following;
use super::kept_amounts::KeptAmounts;
use super::key::NodeId;
use super::nodes::Timeline;
use super::references::ReferenceMap;
use super::trees::{TimeTree, point_of, points_of_interest, recorded, trees_of};
use crate::group::{self, AskedGrouping, GroupOptions, Grouped, Grouping, Reads};
use memory_city_formats::HeapSeries;
use memory_city_heap::HeapState;
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};

/// A series, grouped.
pub struct History {
    series: Arc<dyn HeapSeries>,
    grouping: Arc<Grouping>,
    options: GroupOptions,
    timeline: Arc<Timeline>,
    /// The point of the series that each time is.
    points: Vec<usize>,
    maps: Mutex<VecDeque<(MapKey, Arc<ReferenceMap>)>>,
    /// The last grouped state: a selection asks for the same time again and again.
    last: Mutex<Option<GroupedState>>,
    /// The node of each of its groups, built on demand.
    places: Mutex<Option<Places>>,
    /// Dominator trees, the last one last.
    dominators: Mutex<VecDeque<(DominatorsKey, Arc<Dominators>)>>,
    /// Closures of groups.
    amounts: Mutex<KeptAmounts>,
    /// The cache for the next time that these dumps are opened.
    kept: Option<Arc<DumpCache>>,
    /// The facts about the objects of the last dump.
    pub(super) known: Option<Reads>,
    /// Where it is of a recording that may go on.
    pub(super) following: Option<Arc<Following>>,
}

/// Time and group of a reference map.
type MapKey = (usize, NodeId);
/// A heap state, grouped, and its time.
pub(super) type GroupedState = (usize, Arc<HeapState>, Arc<Grouped>);

/// The node of each group of a state.
type Places = (Weak<Grouped>, Arc<[Option<NodeId>]>);

/// The point of the series, and the rules for references.
type DominatorsKey = (usize, KeepRules);

impl History {
    /// Groups every state of a series: from its recording where it has one and the grouping reads no more than that
    /// knows, otherwise one by one. `grouping` is [`super::AUTO`], the name of a grouping, or a list of classifiers
    /// ([`group::grouping`]).
    ///
    /// # Errors
    /// When a state cannot be loaded, the grouping is not known or cannot be made of this input, or the work was
    /// cancelled.
    pub fn build(
        series: Arc<dyn HeapSeries>,
        grouping: &str,
        options: GroupOptions,
        progress: &Progress,
    ) -> Result<History> {
        History::build_asked(series, &asked(grouping)?, options, progress)
    }

    /// As [`History::build`], with a grouping that was parsed.
    pub(crate) fn build_asked(
        series: Arc<dyn HeapSeries>,
        grouping: &AskedGrouping,
        options: GroupOptions,
        progress: &Progress,
    ) -> Result<History> {
        let grouping = choose(&*series, grouping)?;
        let kept = DumpCache::new(&*series, &grouping, with_wanted(options, &grouping));
        History::grouped_with(series, grouping, options, kept, progress)
    }

    /// As [`History::build`], with a grouping that need not be in the registry.
    ///
    /// # Errors
    /// As [`History::build`].
    pub fn build_with(
        series: Arc<dyn HeapSeries>,
        grouping: Arc<Grouping>,
        options: GroupOptions,
        progress: &Progress,
    ) -> Result<History> {
        History::grouped_with(series, grouping, options, None, progress)
    }

    fn grouped_with(
        series: Arc<dyn HeapSeries>,
        grouping: Arc<Grouping>,
        options: GroupOptions,
        kept: Option<DumpCache>,
        progress: &Progress,
    ) -> Result<History> {
        let options = with_wanted(options, &grouping);
        let points = points_of_interest(&*series, options);
        let (mut last, mut known_of_last) = (None, None);
        if series.recording().is_some() {
            check(&grouping, known_of_traces(), "a trace", None)?;
        }
        let recording = series.recording().filter(|_| !grouping.reads().by_object());
        let timeline = match recording {
            Some(recording) => recorded(&*series, recording, &grouping, &points, progress)?,
            None => {
                let is_trace = series.recording().is_some();
                let found = match is_trace {
                    true => None,
                    false => Some(trees_of(&*series, &grouping, options, &points, kept.as_ref(), progress)?),
                };
                let mut builder = TimelineBuilder::default();
                let mut known = Reads::empty();
                for (at, &i) in points.iter().enumerate() {
                    if let Some((trees, _)) = &found {
                        let TimeTree { tree, unreachable, sampled, known, is_empty } = &trees[at];
                        builder.add(point_of(&series.points()[i], *unreachable, *sampled), tree);
                        known_of_last = Some(*known).filter(|_| !is_empty);
                        continue;
                    }
                    progress.check()?;
                    let heap = series.load(i, progress)?;
                    known |= Reads::known_of(&heap);
                    known_of_last = Some(Reads::known_of(&heap)).filter(|_| heap.object_count() > 0);
                    let grouped = group::group(&heap, &grouping, options, progress)?;
                    let (_, unreachable) = heap.totals();
                    builder.add(point_of(&series.points()[i], unreachable, None), &grouped.tree);
                    last = Some((i, heap, Arc::new(grouped)));
                }
                if let Some((_, state)) = found {
                    last = state;
                }
                if is_trace && !points.is_empty() {
                    // A trace tells references as collections meet them: before the first there are none.
                    check(&grouping, known, "this trace", None)?;
                }
                builder.finish().with_profile(series.profile())
            }
        };
        let made = (last, known_of_last);
        let mut history = History::of_timeline(series, (grouping, options), timeline, points, made, None);
        history.kept = kept.map(Arc::new);
        Ok(history)
    }

    /// A history of existing trees: `points` are their points of the series. The last state may be included, and the facts about its
    /// objects.
    pub(super) fn of_timeline(
        series: Arc<dyn HeapSeries>,
        (grouping, options): (Arc<Grouping>, GroupOptions),
        timeline: Timeline,
        points: Vec<usize>,
        (last, known): (Option<GroupedState>, Option<Reads>),
        following: Option<Arc<Following>>,
    ) -> History {
        History {
            series,
            grouping,
            options,
            timeline: Arc::new(timeline),
            points,
            maps: Mutex::default(),
            last: Mutex::new(last),
            places: Mutex::default(),
            dominators: Mutex::default(),
            amounts: Mutex::default(),
            kept: None,
            known,
            following,
        }
    }

    /// Whether the series knows enough for a grouping; otherwise why not, for people.
    ///
    /// # Errors
    /// When it does not. Whether a trace holds references is known only after a heap state has been asked for: until
    /// then it is taken to.
    pub fn offers(&self, grouping: &Grouping) -> std::result::Result<(), String> {
        let last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        let of_state =
            last.as_ref().filter(|(_, heap, _)| heap.object_count() > 0).map(|(_, heap, _)| Reads::known_of(heap));
        let (known, what) = match (self.is_recorded(), of_state) {
            (true, Some(known)) => (known & known_of_traces(), "this trace"),
            (true, None) => (known_of_traces(), "a trace"),
            (false, known) => (known.or(self.known).unwrap_or(Reads::all()), self.series.noun()),
        };
        match grouping.lacks(known) {
            None => Ok(()),
            Some(lacks) => Err(format!("Needs {lacks}, which {what} does not hold")),
        }
    }

    /// True if the series is a trace, with births and deaths, and allocation sites.
    pub fn is_recorded(&self) -> bool {
        self.series.recording().is_some()
    }

    /// True if each object was seen from its birth to its death: in traces, and in recordings converted from them. The states include
    /// unreachable objects until they are collected.
    pub(crate) fn has_seen_all(&self) -> bool {
        self.series.lives().is_some_and(|lives| lives.is_exact())
    }

    /// Whether it is known which objects of two points in time are the same: of traces, and where a recording followed all objects
    /// at both.
    pub(crate) fn knows_identity(&self, base: usize, time: usize) -> bool {
        self.is_recorded() || [base, time].iter().all(|&at| self.series.follows_objects(self.points[at]))
    }

    /// The same series under another grouping. Further metrics of the timeline ([`Timeline::with_metric`]) belong to the groups they were
    /// computed for, and are not carried over: the caller computes them for the new groups.
    ///
    /// # Errors
    /// As [`History::build`].
    pub fn regroup(&self, grouping: &str, options: GroupOptions, progress: &Progress) -> Result<History> {
        match &self.following {
            // By now there may be more of it.
            Some(following) => History::follow(&following.recording, grouping, options, progress),
            None => History::build(Arc::clone(&self.series), grouping, options, progress),
        }
    }

    /// The same series and groups, with a timeline that has more to say of them.
    pub(super) fn with_timeline(&self, timeline: Timeline) -> History {
        let last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        let last = last.as_ref().map(|(time, heap, grouped)| (*time, Arc::clone(heap), Arc::clone(grouped)));
        History {
            series: Arc::clone(&self.series),
            grouping: Arc::clone(&self.grouping),
            options: self.options,
            timeline: Arc::new(timeline),
            points: self.points.clone(),
            maps: Mutex::default(),
            last: Mutex::new(last),
            places: Mutex::default(),
            dominators: Mutex::default(),
            // The same groups retain the same.
            amounts: Mutex::new(self.kept_amounts().clone()),
            kept: self.kept.clone(),
            known: self.known,
            following: self.following.clone(),
        }
    }

    /// The trees over time.
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// The grouping.
    pub fn grouping(&self) -> &Arc<Grouping> {
        &self.grouping
    }

    /// The heap states.
    pub fn series(&self) -> &Arc<dyn HeapSeries> {
        &self.series
    }

    /// Warnings about the data.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut all = self.series.warnings();
        if self.following.is_some() {
            all.retain(|warning| !self.is_of_its_end(warning));
        }
        all
    }

    pub(super) fn kept_amounts(&self) -> std::sync::MutexGuard<'_, KeptAmounts> {
        self.amounts.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The point of the series that a time is; of traces, the number of the moment.
    pub(crate) fn moment(&self, time: usize) -> usize {
        self.points[time]
    }

    pub(crate) fn options(&self) -> GroupOptions {
        self.options
    }
}
