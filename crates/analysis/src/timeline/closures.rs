//! Deep and retained amounts of the groups of a tree, as further metrics of its timeline.
//!
//! The numbers are those of [`GroupClosures`]: a group is all objects below a node. So the retained amount of an inner node would be freed
//! with all its objects, and is more than its children retain one by one if they own something together.

use super::closure_metric::{ClosureMetric, ClosureRequest};
use super::history::History;
use super::kept_amounts::TimeAmounts;
use super::key::NodeId;
use super::metric::MetricBuilder;
use super::nodes::Timeline;
use super::source::Source;
use super::tree_groups::{TreePlaces, object_groups};
use crate::group::{self, Grouped, Reads};
use memory_city_formats::{MemoryNeed, each_state, memory_budget};
use memory_city_heap::HeapState;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{GroupAmounts, GroupClosures, KeepRules};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Times whose amounts are held while those of several dumps are found at once.
const AHEAD: usize = 8;

impl History {
    /// The closures of some nodes at a point in time, in their order; zero for a node without objects.
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

    /// The closures of all nodes at a point in time, by node. `first` is called with those of `wanted`, in their order, as soon as they are
    /// known: before all others.
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

    /// Closures found earlier, in this program or in the cache.
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

    /// The retained amounts of the groups of dumps at the next of some times. They were found before, or are found together with that of
    /// the first, `ahead` times at most. The amounts of a few times are in memory, not of all.
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

    /// The closures of all nodes at some points in time, by node, in the order of `times`. `found` is called with each as soon as it is
    /// known, and with `None` if a trace has no references yet. For dumps up to `ahead` are read together.
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

    /// The same series and groups with further metrics: the closures of each group, at all times. One heap state after the other is loaded;
    /// 16 bytes are kept for each value that differs from the time before.
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
            let column = match metric {
                ClosureMetric::Age => self.ages(progress),
                ClosureMetric::Elements => self.elements(rules, progress),
                _ => self.referrers(progress),
            }?;
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

    /// The closures of all nodes at some points in time ([`History::closures_at`]).
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

/// Finds the requested amounts, and no more: those of nodes of a tree, if there are nodes.
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

/// Fails if a heap state has no data for closures.
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
