//! What the groups of a tree reach and retain, as further metrics of its timeline.
//!
//! The numbers are those of [`GroupClosures`]: a group is all objects below a node, so that what an inner node retains is
//! what would be freed if all its objects were, which is more than its children retain one by one where they own
//! something together.

use super::metric::{MetricBuilder, MetricInfo, Unit};
use super::{History, NodeId, Source, Timeline};
use crate::group::{self, Grouped, MemoryTree, Reads};
use memory_city_formats::{MemoryNeed, each_state, memory_budget};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{GroupAmounts, GroupClosures, KeepRules, ObjectGroups};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// A metric of what groups reach or retain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClosureMetric {
    /// Bytes that would be freed if the whole group were.
    Retained,
    /// The objects of these.
    RetainedObjects,
    /// Bytes of all that the group reaches.
    Deep,
    /// The objects of these.
    DeepObjects,
    /// Objects of other groups that refer to the group, whether or not their references keep it. Those of an inner node are the
    /// sums over its leaves.
    Referrers,
    /// How many garbage collections the objects of the group have survived, on average of those of which that is known; 0 where it
    /// is of none.
    Age,
}

impl ClosureMetric {
    /// All of them.
    pub const ALL: [ClosureMetric; 6] = [
        ClosureMetric::Retained,
        ClosureMetric::RetainedObjects,
        ClosureMetric::Deep,
        ClosureMetric::DeepObjects,
        ClosureMetric::Referrers,
        ClosureMetric::Age,
    ];
    /// Those of what groups reach and retain.
    pub const CLOSURES: [ClosureMetric; 4] =
        [ClosureMetric::Retained, ClosureMetric::RetainedObjects, ClosureMetric::Deep, ClosureMetric::DeepObjects];

    /// How it is described, and found among the metrics of a timeline.
    pub fn info(self) -> MetricInfo {
        match self {
            ClosureMetric::Retained => MetricInfo::new("retained", "Retained bytes", Unit::Bytes),
            ClosureMetric::RetainedObjects => MetricInfo::new("retained-objects", "Retained objects", Unit::Objects),
            ClosureMetric::Deep => MetricInfo::new("deep", "Deep bytes", Unit::Bytes),
            ClosureMetric::DeepObjects => MetricInfo::new("deep-objects", "Deep objects", Unit::Objects),
            ClosureMetric::Referrers => MetricInfo::new("referrers", "Referring objects", Unit::Objects),
            ClosureMetric::Age => MetricInfo::new("age", "Mean age", Unit::Count),
        }
    }

    /// The metric of an id.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub fn of(id: &str) -> Result<ClosureMetric> {
        Self::ALL.into_iter().find(|metric| &*metric.info().id == id).ok_or_else(|| Error::Unusable {
            what: format!("There is no metric {id} of what groups reach or retain"),
            remedy: format!("Use one of: {}", Self::ALL.map(|metric| metric.info().id.to_string()).join(", ")),
        })
    }

    /// Whether it is of what groups reach.
    pub fn is_deep(self) -> bool {
        matches!(self, ClosureMetric::Deep | ClosureMetric::DeepObjects)
    }

    /// The value among what a group reaches and retains; 0 for what is found in another way, referrers and ages.
    pub fn value(self, amounts: &GroupAmounts) -> u64 {
        match self {
            ClosureMetric::Retained => amounts.retained.bytes,
            ClosureMetric::RetainedObjects => amounts.retained.objects,
            ClosureMetric::Deep => amounts.deep.bytes,
            ClosureMetric::DeepObjects => amounts.deep.objects,
            ClosureMetric::Referrers | ClosureMetric::Age => 0,
        }
    }
}

/// What is asked for of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClosureRequest {
    /// Which references keep what they refer to.
    pub rules: KeepRules,
    /// Deep amounts too, not only retained ones: they are zero otherwise.
    pub deep: bool,
}

impl ClosureRequest {
    /// What some metrics need.
    pub fn of(metrics: &[ClosureMetric], rules: KeepRules) -> ClosureRequest {
        ClosureRequest { rules, deep: metrics.iter().any(|metric| metric.is_deep()) }
    }
}

/// Times whose amounts are held while those of several dumps are found at once.
const AHEAD: usize = 8;

/// What all nodes reach and retain at a time, by node.
pub type TimeAmounts = Arc<Vec<GroupAmounts>>;

/// Amounts that were found lately.
#[derive(Clone, Default)]
pub(super) struct KeptAmounts {
    all: VecDeque<((usize, ClosureRequest), TimeAmounts)>,
}

/// Bytes of amounts that are kept, at most; those of the last time always.
const KEPT: usize = 64 << 20;

impl KeptAmounts {
    fn get(&self, time: usize, request: ClosureRequest) -> Option<TimeAmounts> {
        let found = self
            .all
            .iter()
            .find(|((t, kept), _)| *t == time && kept.rules == request.rules && (kept.deep || !request.deep));
        found.map(|(_, amounts)| Arc::clone(amounts))
    }

    fn add(&mut self, time: usize, request: ClosureRequest, amounts: TimeAmounts) {
        self.all.push_back(((time, request), amounts));
        let bytes = |amounts: &TimeAmounts| amounts.len() * size_of::<GroupAmounts>();
        let mut total: usize = self.all.iter().map(|(_, amounts)| bytes(amounts)).sum();
        while total > KEPT && self.all.len() > 1 {
            total -= self.all.pop_front().map_or(0, |(_, amounts)| bytes(&amounts));
        }
    }

    /// The same for trees that have gone on: their nodes have the same keys, and `time_of` says where a time is now, if it is.
    pub(super) fn moved(
        &self,
        (before, now): (&Timeline, &Timeline),
        time_of: &dyn Fn(usize) -> Option<usize>,
    ) -> KeptAmounts {
        if self.all.is_empty() {
            return KeptAmounts::default();
        }
        let node_of: Vec<Option<NodeId>> = now.nodes().map(|node| before.find(&now.key(node))).collect();
        let move_one = |((time, request), amounts): &((usize, ClosureRequest), TimeAmounts)| {
            let of =
                |node: &Option<NodeId>| node.and_then(|node| amounts.get(node.index()).copied()).unwrap_or_default();
            Some(((time_of(*time)?, *request), Arc::new(node_of.iter().map(of).collect())))
        };
        KeptAmounts { all: self.all.iter().filter_map(move_one).collect() }
    }
}

impl History {
    /// What some nodes reach and retain at a point in time, in their order; zero where a node has no objects.
    ///
    /// # Errors
    /// When the heap state holds no references or roots or cannot be loaded again, or the work was cancelled.
    pub fn closures_of(
        &self,
        time: usize,
        nodes: &[NodeId],
        request: ClosureRequest,
        progress: &Progress,
    ) -> Result<Vec<GroupAmounts>> {
        if let Some(all) = self.known_closures(time, request) {
            return Ok(nodes.iter().map(|node| all[node.index()]).collect());
        }
        let (heap, grouped) = self.grouped(time, progress)?;
        let closures = self.group_closures(&heap, &grouped, request, progress)?;
        let place = TreePlaces::new(self.timeline(), &grouped.tree);
        find(&closures, &place.of(nodes), request, progress)
    }

    /// What all nodes reach and retain at a point in time, by node. `first` is called with what the nodes of `wanted` do,
    /// in their order, as soon as that is known: before all others.
    ///
    /// # Errors
    /// As [`History::closures_of`].
    pub fn all_closures(
        &self,
        time: usize,
        request: ClosureRequest,
        wanted: &[NodeId],
        progress: &Progress,
        first: &mut dyn FnMut(&[GroupAmounts]),
    ) -> Result<Arc<Vec<GroupAmounts>>> {
        if let Some(all) = self.known_closures(time, request) {
            if !wanted.is_empty() {
                first(&wanted.iter().map(|node| all[node.index()]).collect::<Vec<_>>());
            }
            return Ok(all);
        }
        let (heap, grouped) = self.grouped(time, progress)?;
        let closures = self.group_closures(&heap, &grouped, request, progress)?;
        let place = TreePlaces::new(self.timeline(), &grouped.tree);
        if !wanted.is_empty() {
            first(&find(&closures, &place.of(wanted), request, progress)?);
        }
        let everywhere: Vec<Option<u32>> = (0..grouped.tree.len() as u32).map(Some).collect();
        let found = find(&closures, &everywhere, request, progress)?;
        self.amounts_to_cache(self.moment(time), request, &found);
        let all = Arc::new(place.by_node(&found));
        self.kept_amounts().add(time, request, Arc::clone(&all));
        Ok(all)
    }

    /// What was found before, in this program or an earlier one.
    fn known_closures(&self, time: usize, request: ClosureRequest) -> Option<TimeAmounts> {
        if let Some(all) = self.kept_amounts().get(time, request) {
            return Some(all);
        }
        let (tree, found) = self.amounts_from_cache(time, request)?;
        let all = Arc::new(TreePlaces::new(self.timeline(), &tree).by_node(&found));
        self.kept_amounts().add(time, request, Arc::clone(&all));
        Some(all)
    }

    fn group_closures<'h>(
        &self,
        heap: &'h HeapState,
        grouped: &Grouped,
        request: ClosureRequest,
        progress: &Progress,
    ) -> Result<GroupClosures<'h>> {
        check(heap, self.is_recorded())?;
        let groups = object_groups(heap, grouped, progress)?;
        Ok(GroupClosures::new(heap, request.rules, groups))
    }

    /// What the groups of dumps retain at the next of some times, as far as it was found before or is found at once with that of the
    /// first of them: `ahead` times at most. The amounts of a few times are held, not of all.
    fn closures_ahead(
        &self,
        times: &[usize],
        ahead: usize,
        request: ClosureRequest,
        progress: &Progress,
    ) -> Result<FxHashMap<usize, TimeAmounts>> {
        let mut found = FxHashMap::default();
        if self.is_recorded() {
            return Ok(found);
        }
        let mut missing = Vec::new();
        for &time in times {
            match self.known_closures(time, request) {
                Some(all) => drop(found.insert(time, all)),
                None => missing.push(time),
            }
            if missing.len() + found.len() >= ahead {
                break;
            }
        }
        let points: Vec<usize> = missing.iter().map(|&time| self.moment(time)).collect();
        let series = &**self.series();
        let need = MemoryNeed::Owners;
        let made = each_state(series, &points, need, memory_budget(), progress, |point, heap, progress| {
            let grouped = group::group(&heap, self.grouping(), self.options(), progress)?;
            let closures = self.group_closures(&heap, &grouped, request, progress)?;
            let everywhere: Vec<Option<u32>> = (0..grouped.tree.len() as u32).map(Some).collect();
            let found = find(&closures, &everywhere, request, progress)?;
            self.amounts_to_cache(point, request, &found);
            Ok(Arc::new(TreePlaces::new(self.timeline(), &grouped.tree).by_node(&found)))
        })?;
        for (time, all) in missing.into_iter().zip(made) {
            self.kept_amounts().add(time, request, Arc::clone(&all));
            found.insert(time, all);
        }
        Ok(found)
    }

    /// What all nodes reach and retain at some points in time, by node, in the order of `times`: `found` is called with each as soon as
    /// it is known, and with `None` where a trace has no references yet. Of dumps up to `ahead` are read together.
    ///
    /// # Errors
    /// As [`History::closures_of`]. In a trace times without references are passed over as long as others have some.
    pub fn closures_at(
        &self,
        times: &[usize],
        ahead: usize,
        request: ClosureRequest,
        progress: &Progress,
        found: &mut dyn FnMut(usize, Option<TimeAmounts>),
    ) -> Result<()> {
        let (mut any, mut lacks) = (false, None);
        let mut held = FxHashMap::default();
        for (at, &time) in times.iter().enumerate() {
            progress.check()?;
            if !held.contains_key(&time) {
                held = self.closures_ahead(&times[at..], ahead.max(1), request, progress)?;
            }
            let all = match held.remove(&time) {
                Some(all) => Ok(all),
                None => self.all_closures(time, request, &[], progress, &mut |_| ()),
            };
            match all {
                Ok(all) => {
                    any = true;
                    found(time, Some(all));
                }
                Err(error @ Error::Unusable { .. }) if self.is_recorded() => {
                    lacks.get_or_insert(error);
                    found(time, None);
                }
                Err(error) => return Err(error),
            }
        }
        match lacks {
            Some(error) if !any => Err(error),
            _ => Ok(()),
        }
    }

    /// The same series and groups with further metrics: what each group reaches and retains, at all times. One heap state
    /// after the other is loaded; 16 bytes are kept for each value that differs from the time before.
    ///
    /// # Errors
    /// As [`History::closures_of`]. In a trace times without references are passed over as long as others have some.
    pub fn with_closures(&self, metrics: &[ClosureMetric], rules: KeepRules, progress: &Progress) -> Result<History> {
        let is_closure = |metric: &ClosureMetric| ClosureMetric::CLOSURES.contains(metric);
        let (closures, others): (Vec<_>, Vec<_>) = metrics.iter().partition(|metric| is_closure(metric));
        let mut found = match closures.is_empty() {
            true => None,
            false => Some(self.with_found_closures(&closures, rules, progress)?),
        };
        for metric in others {
            let column = if metric == ClosureMetric::Age { self.ages(progress) } else { self.referrers(progress) }?;
            let before = found.as_ref().unwrap_or(self);
            found = Some(before.with_timeline(Timeline::clone(before.timeline()).with_columns([column])));
        }
        Ok(found.unwrap_or_else(|| self.with_timeline(Timeline::clone(self.timeline()))))
    }

    /// How many objects of other groups refer to each group, at all times: one pass over each heap state.
    fn referrers(&self, progress: &Progress) -> Result<MetricBuilder> {
        let timeline = self.timeline();
        let mut column = MetricBuilder::new(ClosureMetric::Referrers.info(), timeline.len());
        let mut any = false;
        for time in 0..timeline.times() {
            progress.check()?;
            let mut referring = vec![0u64; timeline.len()];
            for pair in self.time_references(time, progress)?.pairs.iter().filter(|pair| pair.from != pair.to) {
                referring[pair.to.index()] += pair.referencing;
                any = true;
            }
            // Parents come before children.
            for node in timeline.nodes().rev() {
                if let Some(parent) = timeline.parent(node) {
                    referring[parent.index()] = referring[parent.index()].saturating_add(referring[node.index()]);
                }
            }
            column.step(|node| referring[node.index()]);
        }
        match any || timeline.times() == 0 || timeline.nodes().count() < 3 {
            true => Ok(column),
            false => Err(Error::Unusable {
                what: "Who refers to what cannot be found: the input holds no references between its groups".into(),
                remedy: "Take a heap dump, or record a trace with references".into(),
            }),
        }
    }

    fn with_found_closures(&self, metrics: &[ClosureMetric], rules: KeepRules, progress: &Progress) -> Result<History> {
        let request = ClosureRequest::of(metrics, rules);
        let timeline = self.timeline();
        let mut columns: Vec<MetricBuilder> =
            metrics.iter().map(|metric| MetricBuilder::new(metric.info(), timeline.len())).collect();
        let times: Vec<usize> = (0..timeline.times()).collect();
        self.closures_at(&times, AHEAD, request, progress, &mut |_, found| {
            for (column, metric) in columns.iter_mut().zip(metrics) {
                column.step(|node| found.as_ref().map_or(0, |found| metric.value(&found[node.index()])));
            }
        })?;
        Ok(self.with_timeline(Timeline::clone(timeline).with_columns(columns)))
    }
}

impl Source {
    /// The same source with further metrics ([`History::with_closures`]). Metrics that it has already stay as they are.
    ///
    /// # Errors
    /// When the input has no heap states, and otherwise as [`History::with_closures`].
    pub fn with_closures(&self, metrics: &[ClosureMetric], rules: KeepRules, progress: &Progress) -> Result<Source> {
        match self {
            Source::Heaps(history) => history.with_closures(metrics, rules, progress).map(Source::Heaps),
            Source::Trees(_) | Source::Counts(_) => Err(no_objects()),
        }
    }

    /// What all nodes reach and retain at some points in time ([`History::closures_at`]).
    ///
    /// # Errors
    /// When the input has no heap states, and otherwise as [`History::closures_at`].
    pub fn closures_at(
        &self,
        times: &[usize],
        ahead: usize,
        request: ClosureRequest,
        progress: &Progress,
        found: &mut dyn FnMut(usize, Option<TimeAmounts>),
    ) -> Result<()> {
        match self {
            Source::Heaps(history) => history.closures_at(times, ahead, request, progress, found),
            Source::Trees(_) | Source::Counts(_) => Err(no_objects()),
        }
    }
}

fn no_objects() -> Error {
    Error::Unusable {
        what: "What groups reach and retain cannot be found: the input has trees, not objects".into(),
        remedy: "Open heap dumps or a memory trace, or a tree that brings these metrics along".into(),
    }
}

/// Where the nodes of a timeline are in the tree of one time.
pub(super) struct TreePlaces {
    /// By node of the timeline: of the nodes of the tree that it stands for, which are one chain, the first; `u32::MAX`
    /// where it stands for none.
    of: Vec<u32>,
}

impl TreePlaces {
    pub(super) fn new(timeline: &Timeline, tree: &MemoryTree) -> TreePlaces {
        let mut of = vec![u32::MAX; timeline.len()];
        for (place, node) in (0..).zip(timeline.locate(tree)) {
            if let Some(first) = node.map(|node| &mut of[node.index()]).filter(|first| **first == u32::MAX) {
                *first = place;
            }
        }
        TreePlaces { of }
    }

    fn of(&self, nodes: &[NodeId]) -> Vec<Option<u32>> {
        nodes.iter().map(|node| Some(self.of[node.index()]).filter(|&place| place != u32::MAX)).collect()
    }

    /// What was found by node of the tree, by node of the timeline.
    pub(super) fn by_node<T: Copy + Default>(&self, found: &[T]) -> Vec<T> {
        self.of.iter().map(|&place| found.get(place as usize).copied().unwrap_or_default()).collect()
    }
}

/// Asks for what was requested, and no more: of nodes of a tree, where they are.
fn find(
    closures: &GroupClosures<'_>,
    nodes: &[Option<u32>],
    request: ClosureRequest,
    progress: &Progress,
) -> Result<Vec<GroupAmounts>> {
    let wanted: Vec<u32> = nodes.iter().copied().flatten().collect();
    let mut found = if request.deep {
        closures.deep_and_retained(&wanted, progress)?
    } else {
        let found = closures.retained(&wanted, progress)?;
        found.into_iter().map(|retained| GroupAmounts { retained, ..GroupAmounts::default() }).collect()
    }
    .into_iter();
    Ok(nodes.iter().map(|node| node.and_then(|_| found.next()).unwrap_or_default()).collect())
}

/// Whether a heap state has what closures are made of.
fn check(heap: &HeapState, is_trace: bool) -> Result<()> {
    // A trace says what is alive, whether or not it knows all roots.
    let needs = if is_trace { Reads::REFERENCES } else { Reads::REFERENCES | Reads::ROOTS };
    let lacks = needs.difference(Reads::known_of(heap));
    if lacks.is_empty() {
        return Ok(());
    }
    let what = if is_trace { "this trace" } else { "this heap dump" };
    Err(Error::Unusable {
        what: format!(
            "What groups reach and retain cannot be found: that needs {}, which {what} does not hold",
            lacks.names()
        ),
        remedy: "Take a heap dump, or record a trace with references and GC roots".into(),
    })
}

/// Objects a task looks at between two looks at the clock.
pub(super) const RUN: usize = 1 << 16;

/// The nodes of its tree that each object of a heap state is in, those above its leaves included, as groups: the number of
/// a group is that of its node. 4 bytes an object.
///
/// # Errors
/// When cancelled.
pub fn object_groups(heap: &HeapState, grouped: &Grouped, progress: &Progress) -> Result<Arc<ObjectGroups>> {
    let n = heap.object_count();
    // Objects in the same groups share one list of leaves: it is told by where it lies.
    let runs: Vec<(Vec<u32>, Vec<&[u32]>)> = (0..n.div_ceil(RUN))
        .into_par_iter()
        .map(|run| {
            progress.check()?;
            let mut number: FxHashMap<(*const u32, usize), u32> = FxHashMap::default();
            let mut lists: Vec<&[u32]> = Vec::new();
            let mut last = (&[][..], u32::MAX);
            let of = (run * RUN..((run + 1) * RUN).min(n)).map(|o| {
                let leaves = grouped.leaves_of(heap, ObjectId(o as u32));
                if last.1 == u32::MAX || !std::ptr::eq(last.0, leaves) {
                    let next = lists.len() as u32;
                    let found = *number.entry((leaves.as_ptr(), leaves.len())).or_insert(next);
                    if found == next {
                        lists.push(leaves);
                    }
                    last = (leaves, found);
                }
                last.1
            });
            let of: Vec<u32> = of.collect();
            Ok((of, lists))
        })
        .collect::<Result<_>>()?;
    let mut all: Vec<Box<[u32]>> = Vec::new();
    let mut number: FxHashMap<(*const u32, usize), u32> = FxHashMap::default();
    let mut of = Vec::with_capacity(n);
    for (mine, lists) in runs {
        let global: Vec<u32> = lists
            .iter()
            .map(|leaves| {
                *number.entry((leaves.as_ptr(), leaves.len())).or_insert_with(|| {
                    all.push(with_above(&grouped.tree, leaves));
                    all.len() as u32 - 1
                })
            })
            .collect();
        of.extend(mine.into_iter().map(|list| global[list as usize]));
    }
    Ok(Arc::new(ObjectGroups::new(of, all, grouped.tree.len())))
}

/// Some nodes and all above them that count the same objects, ascending, each once.
pub(super) fn with_above(tree: &MemoryTree, nodes: &[u32]) -> Box<[u32]> {
    let up = |&node: &u32| {
        std::iter::successors(Some(node as usize), |&n| tree.parent(n).filter(|_| !tree.restarts(n))).map(|n| n as u32)
    };
    let mut all: Vec<u32> = nodes.iter().flat_map(up).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}
