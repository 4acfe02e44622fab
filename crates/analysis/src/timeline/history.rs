//! A series of heap states under one grouping: its timeline, and reference maps on demand.

use super::all_references::{TimeReferences, time_references};
use super::choice::{check, choose, known_of_traces, with_wanted};
use super::closures::{ClosureRequest, KeptAmounts};
use super::following::Following;
use super::kept::{KeptAnswers, OwnersOfTime, keep_owners, kept_owners, key_of_dumps};
use super::references::{ReferenceMap, reference_map};
use super::trees::{TimeTree, point_of, points_of_interest, recorded, trees_of};
use super::{GrowingTree, NodeId, Timeline, TimelineBuilder};
use crate::group::{self, GroupOptions, Grouped, Grouping, MemoryTree, Reads};
use crate::ownership::OwnerTree;
use memory_city_formats::values::HeapValues;
use memory_city_formats::{AnswerKey, HeapSeries, MemoryNeed, each_state, memory_budget};
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::ownership::{Dominators, GroupAmounts, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

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
    /// Dominator trees, the last one last.
    dominators: Mutex<VecDeque<(DominatorsKey, Arc<Dominators>)>>,
    /// What groups reach and retain.
    amounts: Mutex<KeptAmounts>,
    /// What is kept for the next time that these dumps are opened.
    kept: Option<Arc<KeptAnswers>>,
    /// What is known of the objects of the last dump.
    pub(super) known: Option<Reads>,
    /// Where it is of a recording that may go on.
    pub(super) following: Option<Arc<Following>>,
}

/// Time and group of a reference map.
type MapKey = (usize, NodeId);
/// A heap state, grouped, and its time.
pub(super) type GroupedState = (usize, Arc<HeapState>, Arc<Grouped>);

/// The point of the series, and what keeps what.
type DominatorsKey = (usize, KeepRules);

/// Reference maps that are kept.
const KEPT_MAPS: usize = 256;

/// Dominator trees that are kept: those of two times that are compared. One takes about as much as its heap state.
const KEPT_DOMINATORS: usize = 2;

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
        let grouping = choose(&*series, grouping)?;
        let kept = KeptAnswers::new(&*series, &grouping, with_wanted(options, &grouping));
        History::grouped_with(series, grouping, options, kept, progress)
    }

    /// As [`History::build`], by a grouping that need not be in the registry.
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
        kept: Option<KeptAnswers>,
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
                        let TimeTree { tree, unreachable, known, is_empty } = &trees[at];
                        builder.add(point_of(&series.points()[i], *unreachable), tree);
                        known_of_last = Some(*known).filter(|_| !is_empty);
                        continue;
                    }
                    progress.check()?;
                    let heap = series.load(i, progress)?;
                    known |= Reads::known_of(&heap);
                    known_of_last = Some(Reads::known_of(&heap)).filter(|_| heap.object_count() > 0);
                    let grouped = group::group(&heap, &grouping, options, progress)?;
                    let (_, unreachable) = heap.totals();
                    builder.add(point_of(&series.points()[i], unreachable), &grouped.tree);
                    last = Some((i, heap, Arc::new(grouped)));
                }
                if let Some((_, state)) = found {
                    last = state;
                }
                if is_trace && !points.is_empty() {
                    // A trace tells references as collections meet them: before the first there are none.
                    check(&grouping, known, "this trace", None)?;
                }
                builder.finish()
            }
        };
        let made = (last, known_of_last);
        let mut history = History::of_timeline(series, (grouping, options), timeline, points, made, None);
        history.kept = kept.map(Arc::new);
        Ok(history)
    }

    /// Of trees that were made: `points` are those of the series that they are of. The last state may be there, and what is known of its
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

    /// Whether the series is a trace: it knows what came and went, and where it came from.
    pub fn is_recorded(&self) -> bool {
        self.series.recording().is_some()
    }

    /// Whether each object was seen from its birth to its death: in traces, and in recordings that were made of them. The states hold
    /// what no root reaches too, until it is collected.
    pub(crate) fn has_seen_all(&self) -> bool {
        self.series.lives().is_some_and(|lives| lives.is_exact())
    }

    /// Whether it is known which objects of two points in time are the same: of traces, and where a recording followed all objects
    /// at both.
    pub(crate) fn knows_identity(&self, base: usize, time: usize) -> bool {
        self.is_recorded() || [base, time].iter().all(|&at| self.series.follows_objects(self.points[at]))
    }

    /// The same series under another grouping. Further metrics of the timeline ([`Timeline::with_metric`]) belong to the
    /// groups they were computed for, and are not carried over: whoever added them computes them for the new groups.
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

    /// What a person must know about what is shown.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut all = self.series.warnings();
        if self.following.is_some() {
            all.retain(|warning| !self.is_of_its_end(warning));
        }
        all
    }

    /// The reference map of a node at a point in time; computed once.
    ///
    /// # Errors
    /// When the state cannot be loaded again, or the work was cancelled.
    pub fn references(&self, time: usize, node: NodeId, progress: &Progress) -> Result<Arc<ReferenceMap>> {
        let key = (time, node);
        {
            let maps = self.maps.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((_, map)) = maps.iter().find(|(k, _)| *k == key) {
                return Ok(Arc::clone(map));
            }
        }
        let (heap, grouped) = self.grouped(time, progress)?;
        let map = Arc::new(reference_map(&heap, &grouped, &self.timeline, node, progress)?);
        let mut maps = self.maps.lock().unwrap_or_else(|e| e.into_inner());
        if maps.len() >= KEPT_MAPS {
            maps.pop_front();
        }
        maps.push_back((key, Arc::clone(&map)));
        Ok(map)
    }

    /// The owners at a point in time, by names, with the heap state whose objects they are about.
    ///
    /// # Errors
    /// As [`History::references`].
    pub fn owners(
        &self,
        time: usize,
        rules: KeepRules,
        progress: &Progress,
    ) -> Result<(Arc<HeapState>, Arc<OwnerTree>)> {
        let rules = rules.for_owners();
        let (heap, dominators) = self.dominators(time, rules, progress)?;
        let tree = Arc::new(OwnerTree::new(&heap, &dominators, progress)?);
        Ok((heap, tree))
    }

    /// The owners at some points in time without their objects: from the cache, or found now, of several states at once while
    /// memory lasts. `needs` is what owners are made of: where a state does not hold it there are none.
    ///
    /// # Errors
    /// As [`History::references`].
    pub(crate) fn owners_at(
        &self,
        times: &[usize],
        rules: KeepRules,
        needs: Reads,
        progress: &Progress,
    ) -> Result<Vec<OwnersOfTime>> {
        let (series, rules) = (&*self.series, rules.for_owners());
        let mut found: Vec<Option<OwnersOfTime>> =
            times.iter().map(|&time| kept_owners(series, self.points[time], rules)).collect();
        let lacking =
            |found: &Option<OwnersOfTime>| found.as_ref().is_none_or(|f| f.places.is_none() && f.known.contains(needs));
        let missing: Vec<usize> = (0..times.len()).filter(|&at| lacking(&found[at])).collect();
        let mut points: Vec<usize> = missing.iter().map(|&at| self.points[times[at]]).collect();
        points.sort_unstable();
        points.dedup();
        // What is looked at further is the first and the last of them.
        let ends = [times.first(), times.last()].map(|time| time.map(|&time| self.points[time]));
        let owners =
            each_state(series, &points, MemoryNeed::Owners, memory_budget(), progress, |point, heap, progress| {
                let known = Reads::known_of(&heap);
                if !known.contains(needs) {
                    return Ok(OwnersOfTime { known, places: None });
                }
                let dominators = self.dominators_of(point, &heap, rules, ends.contains(&Some(point)), progress)?;
                let places = OwnerTree::new(&heap, &dominators, progress)?.into_places();
                let owners = OwnersOfTime { known, places: Some(Arc::new(places)) };
                keep_owners(series, point, rules, &owners);
                Ok(owners)
            })?;
        for at in missing {
            let made = points.binary_search(&self.points[times[at]]).ok();
            found[at] = made.map(|made| owners[made].clone());
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// The trees of some points in time under another grouping, each once and in order. Heap states are needed only where they
    /// are neither recorded nor in the cache.
    ///
    /// # Errors
    /// As [`History::build`].
    pub(crate) fn timeline_of(&self, times: &[usize], grouping: &Grouping, progress: &Progress) -> Result<Timeline> {
        let mut points: Vec<usize> = times.iter().map(|&time| self.points[time]).collect();
        points.sort_unstable();
        points.dedup();
        let series = &*self.series;
        if let Some(recording) = series.recording() {
            check(grouping, known_of_traces(), "a trace", None)?;
            return recorded(series, recording, grouping, &points, progress);
        }
        let options = with_wanted(self.options, grouping);
        let kept = KeptAnswers::new(series, grouping, options);
        let (trees, _) = trees_of(series, grouping, options, &points, kept.as_ref(), progress)?;
        let mut builder = TimelineBuilder::default();
        for (&point, found) in points.iter().zip(&trees) {
            builder.add(point_of(&series.points()[point], found.unreachable), &found.tree);
        }
        Ok(builder.finish())
    }

    /// The tree of a point in time under the grouping. Of recorded heaps it follows the recording from its beginning, where the grouping
    /// reads no more than that knows.
    ///
    /// # Errors
    /// As [`History::references`].
    pub(crate) fn tree_at(&self, time: usize, progress: &Progress) -> Result<MemoryTree> {
        let Some(recording) = self.series.recording().filter(|_| !self.grouping.reads().by_object()) else {
            return Ok(self.grouped(time, progress)?.1.tree.clone());
        };
        let mut tree = GrowingTree::new(recording, &self.grouping)?;
        for i in 0..=self.points[time] {
            progress.check()?;
            tree.step(recording.log.changes(i), i.div_ceil(2) as u32);
        }
        tree.check()?;
        Ok(tree.tree().clone())
    }

    /// A question about all dumps of the series, under the grouping where it matters, whose answer is kept. `None` where
    /// answers are not kept: of traces, and of groupings that depend on more than the heap states.
    pub(crate) fn answer_key(&self, of: &str, grouped: bool) -> Option<AnswerKey> {
        let mut question = of.to_owned();
        if grouped {
            let metrics = self.timeline.hash_of_metrics();
            question = format!("{question} {} metrics {metrics:x}", self.kept.as_ref()?.question());
        }
        key_of_dumps(&*self.series, &self.points, &question)
    }

    /// By which field the first object of each pair refers to the second, for people; `None` where the input does not
    /// know.
    ///
    /// # Errors
    /// As [`History::references`].
    pub(crate) fn fields(
        &self,
        time: usize,
        pairs: &[(ObjectId, ObjectId)],
        progress: &Progress,
    ) -> Result<Vec<Option<String>>> {
        match self.series.values(self.points[time], progress)? {
            Some(values) => {
                let places = values.reference_places(pairs, progress)?;
                Ok(places.into_iter().map(|place| place.map(|place| place.short())).collect())
            }
            None => Ok(vec![None; pairs.len()]),
        }
    }

    /// The dominator tree at a point in time, with the heap state whose objects it is about. Computed once for whoever asks
    /// for the same time and rules next, or next but one.
    ///
    /// # Errors
    /// As [`History::references`].
    pub fn dominators(
        &self,
        time: usize,
        rules: KeepRules,
        progress: &Progress,
    ) -> Result<(Arc<HeapState>, Arc<Dominators>)> {
        // Objects have the same numbers whenever the state is loaded.
        let heap = self.heap(time, progress)?;
        let tree = self.dominators_of(self.points[time], &heap, rules, true, progress)?;
        Ok((heap, tree))
    }

    /// The same of a point of the series, whose state this is; kept where it will be asked for again.
    fn dominators_of(
        &self,
        point: usize,
        heap: &HeapState,
        rules: KeepRules,
        keep: bool,
        progress: &Progress,
    ) -> Result<Arc<Dominators>> {
        let key = (point, rules);
        {
            let kept = self.dominators.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((_, tree)) = kept.iter().find(|(k, _)| *k == key) {
                return Ok(Arc::clone(tree));
            }
        }
        let tree = Arc::new(Dominators::new(heap, rules, progress)?);
        if !keep {
            return Ok(tree);
        }
        let mut kept = self.dominators.lock().unwrap_or_else(|e| e.into_inner());
        // Somebody else may have made it meanwhile.
        kept.retain(|(k, _)| *k != key);
        if kept.len() >= KEPT_DOMINATORS {
            kept.pop_front();
        }
        kept.push_back((key, Arc::clone(&tree)));
        Ok(tree)
    }

    /// All references at a point in time.
    ///
    /// # Errors
    /// As [`History::references`].
    pub fn time_references(&self, time: usize, progress: &Progress) -> Result<TimeReferences> {
        let (heap, grouped) = self.grouped(time, progress)?;
        time_references(&heap, &grouped, &self.timeline, progress)
    }

    /// What the nodes of the tree of a time reach and retain, from the cache.
    pub(super) fn amounts_from_cache(
        &self,
        time: usize,
        request: ClosureRequest,
    ) -> Option<(MemoryTree, Vec<GroupAmounts>)> {
        let (kept, point) = (self.kept.as_ref()?, self.points[time]);
        let tree = kept.tree(&*self.series, point, &self.grouping)?.tree;
        let amounts = kept.amounts(&*self.series, point, request, tree.len())?;
        Some((tree, amounts))
    }

    /// Puts it there, by the point of the series.
    pub(super) fn amounts_to_cache(&self, point: usize, request: ClosureRequest, amounts: &[GroupAmounts]) {
        if let Some(kept) = &self.kept {
            kept.keep_amounts(&*self.series, point, request, amounts);
        }
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

    /// The heap state at a point in time.
    ///
    /// # Errors
    /// When it cannot be loaded again, or the work was cancelled.
    pub fn heap(&self, time: usize, progress: &Progress) -> Result<Arc<HeapState>> {
        let point = self.points[time];
        let last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((_, heap, _)) = last.as_ref().filter(|(t, ..)| *t == point) {
            return Ok(Arc::clone(heap));
        }
        drop(last);
        self.series.load(point, progress)
    }

    /// What the objects hold at a point in time, see [`HeapSeries::values`]; `None` where the input does not say.
    ///
    /// # Errors
    /// As [`HeapSeries::values`].
    pub fn values(&self, time: usize, progress: &Progress) -> Result<Option<HeapValues>> {
        self.series.values(self.points[time], progress)
    }

    /// The heap state and its groups under another grouping; nothing is kept.
    ///
    /// # Errors
    /// When the state cannot be loaded again, or the work was cancelled.
    pub(crate) fn grouped_by(
        &self,
        time: usize,
        grouping: &Grouping,
        progress: &Progress,
    ) -> Result<(Arc<HeapState>, Grouped)> {
        let heap = self.series.load(self.points[time], progress)?;
        let grouped = group::group(&heap, grouping, with_wanted(self.options, grouping), progress)?;
        Ok((heap, grouped))
    }

    pub(crate) fn grouped(&self, time: usize, progress: &Progress) -> Result<(Arc<HeapState>, Arc<Grouped>)> {
        let time = self.points[time];
        {
            let last = self.last.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((t, heap, grouped)) = &*last
                && *t == time
            {
                return Ok((Arc::clone(heap), Arc::clone(grouped)));
            }
        }
        let heap = self.series.load(time, progress)?;
        let grouped = Arc::new(group::group(&heap, &self.grouping, self.options, progress)?);
        let mut last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        *last = Some((time, Arc::clone(&heap), Arc::clone(&grouped)));
        Ok((heap, grouped))
    }
}
