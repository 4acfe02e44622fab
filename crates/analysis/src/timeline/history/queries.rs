//! Queries of a history: heap states, groups, owners and references at a point in time, cached after the first use.

use super::History;
use crate::group::{self, Grouped, Grouping, MemoryTree, Reads};
use crate::ownership::fields::field_in_heap;
use crate::ownership::owner::OwnerTree;
use crate::timeline::all_references::{TimeReferences, time_references};
use crate::timeline::builder::TimelineBuilder;
use crate::timeline::choice::{check, known_of_traces, with_wanted};
use crate::timeline::closure_metric::ClosureRequest;
use crate::timeline::dump_cache::{DumpCache, OwnersOfTime, keep_owners, kept_owners, key_of_dumps};
use crate::timeline::growing::GrowingTree;
use crate::timeline::key::NodeId;
use crate::timeline::nodes::Timeline;
use crate::timeline::references::{ReferenceMap, reference_map_at};
use crate::timeline::trees::{point_of, recorded, trees_of};
use memory_city_formats::values::HeapValues;
use memory_city_formats::{AnswerKey, MemoryNeed, each_state, memory_budget};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, GroupAmounts, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, RootKind};
use std::sync::Arc;

/// Reference maps that are kept.
const KEPT_MAPS: usize = 256;

/// Dominator trees that are kept: those of two times that are compared. One takes about as much as its heap state.
const KEPT_DOMINATORS: usize = 2;

impl History {
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
        let map =
            Arc::new(reference_map_at(&heap, &grouped, (&self.timeline, &self.places_of(&grouped)), node, progress)?);
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

    /// The owners at some points in time without their objects: from the cache, or found now, for several states at once as far as memory
    /// allows. `needs` are the facts for owners: a state without them has no owners.
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
                    return Ok(OwnersOfTime { known, places: None, is_cut: false });
                }
                let dominators = self.dominators_of(point, &heap, rules, ends.contains(&Some(point)), progress)?;
                let places = OwnerTree::new(&heap, &dominators, progress)?.into_places();
                // Every VM keeps something for native code, and its dumps say so last. Without any, what roots there are was found otherwise.
                use RootKind::{ClassLoader, Other, StaticField, Thread};
                let is_found = |kind: RootKind| matches!(kind, StaticField | ClassLoader | Thread | Other);
                let is_cut = heap.origins().is_none() && heap.roots().iter().all(|root| is_found(root.kind));
                let owners = OwnersOfTime { known, places: Some(Arc::new(places)), is_cut };
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
        let kept = DumpCache::new(series, grouping, options);
        let (trees, _) = trees_of(series, grouping, options, &points, kept.as_ref(), progress)?;
        let mut builder = TimelineBuilder::default();
        for (&point, found) in points.iter().zip(&trees) {
            builder.add(point_of(&series.points()[point], found.unreachable, found.sampled), &found.tree);
        }
        Ok(builder.finish().with_profile(series.profile()))
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

    /// The field by which the first object of each pair refers to the second, for people; `None` if the input does not know.
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
            None => {
                let heap = self.heap(time, progress)?;
                Ok(pairs.iter().map(|&pair| field_in_heap(&heap, pair)).collect())
            }
        }
    }

    /// The dominator tree at a point in time, with its heap state. Kept for the last two pairs of time and rules.
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

    /// The closures of the nodes of a time's tree, from the cache.
    pub(crate) fn amounts_from_cache(
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
    pub(crate) fn amounts_to_cache(&self, point: usize, request: ClosureRequest, amounts: &[GroupAmounts]) {
        if let Some(kept) = &self.kept {
            kept.keep_amounts(&*self.series, point, request, amounts);
        }
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

    /// The values of objects at a point in time, see [`HeapSeries::values`]; `None` if the input has none.
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

    /// The timeline's node of each group of a grouped state. Found once for the last used state: with a million groups the map costs more
    /// than a query of one.
    pub(crate) fn places_of(&self, grouped: &Arc<Grouped>) -> Arc<[Option<NodeId>]> {
        {
            let last = self.places.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((of, places)) = &*last
                && of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, grouped))
            {
                return Arc::clone(places);
            }
        }
        let places: Arc<[Option<NodeId>]> = self.timeline.locate(&grouped.tree).into();
        *self.places.lock().unwrap_or_else(|e| e.into_inner()) = Some((Arc::downgrade(grouped), Arc::clone(&places)));
        places
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
