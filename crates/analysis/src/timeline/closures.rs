//! What the groups of a tree reach and retain, as further metrics of its timeline.
//!
//! The numbers are those of [`GroupClosures`]: a group is all objects below a node, so that what an inner node retains is
//! what would be freed if all its objects were, which is more than its children retain one by one where they own
//! something together.

use super::metric::{MetricBuilder, MetricInfo, Unit};
use super::{History, NodeId, Source, Timeline};
use crate::group::{Grouped, Reads};
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
}

impl ClosureMetric {
    /// All of them.
    pub const ALL: [ClosureMetric; 4] =
        [ClosureMetric::Retained, ClosureMetric::RetainedObjects, ClosureMetric::Deep, ClosureMetric::DeepObjects];

    /// How it is described, and found among the metrics of a timeline.
    pub fn info(self) -> MetricInfo {
        match self {
            ClosureMetric::Retained => MetricInfo::new("retained", "Retained bytes", Unit::Bytes),
            ClosureMetric::RetainedObjects => MetricInfo::new("retained-objects", "Retained objects", Unit::Objects),
            ClosureMetric::Deep => MetricInfo::new("deep", "Deep bytes", Unit::Bytes),
            ClosureMetric::DeepObjects => MetricInfo::new("deep-objects", "Deep objects", Unit::Objects),
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

    fn is_deep(self) -> bool {
        matches!(self, ClosureMetric::Deep | ClosureMetric::DeepObjects)
    }

    fn value(self, amounts: &GroupAmounts) -> u64 {
        match self {
            ClosureMetric::Retained => amounts.retained.bytes,
            ClosureMetric::RetainedObjects => amounts.retained.objects,
            ClosureMetric::Deep => amounts.deep.bytes,
            ClosureMetric::DeepObjects => amounts.deep.objects,
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

/// The amounts of all nodes at a time.
type TimeAmounts = Arc<Vec<GroupAmounts>>;

/// Amounts that were found lately.
#[derive(Default)]
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
        if let Some(all) = self.kept_amounts().get(time, request) {
            return Ok(nodes.iter().map(|node| all[node.index()]).collect());
        }
        let (heap, grouped) = self.grouped(time, progress)?;
        check(&heap, self.is_recorded())?;
        let groups = object_groups(&heap, &grouped, self.timeline(), progress)?;
        let closures = GroupClosures::new(&heap, request.rules, groups, progress)?;
        find(&closures, nodes, request, progress)
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
        if let Some(all) = self.kept_amounts().get(time, request) {
            if !wanted.is_empty() {
                first(&wanted.iter().map(|node| all[node.index()]).collect::<Vec<_>>());
            }
            return Ok(all);
        }
        let (heap, grouped) = self.grouped(time, progress)?;
        check(&heap, self.is_recorded())?;
        let groups = object_groups(&heap, &grouped, self.timeline(), progress)?;
        let closures = GroupClosures::new(&heap, request.rules, groups, progress)?;
        if !wanted.is_empty() {
            first(&find(&closures, wanted, request, progress)?);
        }
        let timeline = self.timeline();
        let here: Vec<NodeId> = timeline.nodes().filter(|&node| timeline.amount(time, node).objects > 0).collect();
        let mut all = vec![GroupAmounts::default(); timeline.len()];
        for (node, amounts) in here.iter().zip(find(&closures, &here, request, progress)?) {
            all[node.index()] = amounts;
        }
        let all = Arc::new(all);
        self.kept_amounts().add(time, request, Arc::clone(&all));
        Ok(all)
    }

    /// The same series and groups with further metrics: what each group reaches and retains, at all times. One heap state
    /// after the other is loaded; 16 bytes are kept for each value that differs from the time before.
    ///
    /// # Errors
    /// As [`History::closures_of`]. In a trace times without references are passed over as long as others have some.
    pub fn with_closures(&self, metrics: &[ClosureMetric], rules: KeepRules, progress: &Progress) -> Result<History> {
        let request = ClosureRequest::of(metrics, rules);
        let timeline = self.timeline();
        let mut columns: Vec<MetricBuilder> =
            metrics.iter().map(|metric| MetricBuilder::new(metric.info(), timeline.len())).collect();
        let (mut any, mut lacks) = (false, None);
        for time in 0..timeline.times() {
            progress.check()?;
            let found = match self.all_closures(time, request, &[], progress, &mut |_| ()) {
                Ok(found) => {
                    any = true;
                    found
                }
                Err(error @ Error::Unusable { .. }) if self.is_recorded() => {
                    lacks.get_or_insert(error);
                    Arc::new(vec![GroupAmounts::default(); timeline.len()])
                }
                Err(error) => return Err(error),
            };
            for (column, metric) in columns.iter_mut().zip(metrics) {
                column.step(|node| metric.value(&found[node.index()]));
            }
        }
        match lacks {
            Some(error) if !any => Err(error),
            _ => Ok(self.with_timeline(Timeline::clone(timeline).with_columns(columns))),
        }
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
            Source::Trees(_) => Err(Error::Unusable {
                what: "What groups reach and retain cannot be found: the input has trees, not objects".into(),
                remedy: "Open heap dumps or a memory trace, or a tree that brings these metrics along".into(),
            }),
        }
    }
}

/// Asks for what was requested, and no more.
fn find(
    closures: &GroupClosures<'_>,
    nodes: &[NodeId],
    request: ClosureRequest,
    progress: &Progress,
) -> Result<Vec<GroupAmounts>> {
    let wanted: Vec<u32> = nodes.iter().map(|node| node.0).collect();
    if request.deep {
        return closures.deep_and_retained(&wanted, progress);
    }
    let found = closures.retained(&wanted, progress)?;
    Ok(found.into_iter().map(|retained| GroupAmounts { retained, ..GroupAmounts::default() }).collect())
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
const RUN: usize = 1 << 16;

/// The nodes that each object is in, those above its leaves included, as groups: the number of a group is that of its
/// node. 4 bytes an object.
///
/// # Errors
/// When cancelled.
pub fn object_groups(
    heap: &HeapState,
    grouped: &Grouped,
    timeline: &Timeline,
    progress: &Progress,
) -> Result<Arc<ObjectGroups>> {
    let place = timeline.locate(&grouped.tree);
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
                    all.push(with_above(timeline, leaves.iter().filter_map(|&leaf| place[leaf as usize])));
                    all.len() as u32 - 1
                })
            })
            .collect();
        of.extend(mine.into_iter().map(|list| global[list as usize]));
    }
    Ok(Arc::new(ObjectGroups::new(of, all, timeline.len())))
}

/// Some nodes and all above them, ascending, each once.
fn with_above(timeline: &Timeline, nodes: impl Iterator<Item = NodeId>) -> Box<[u32]> {
    let up = |node| std::iter::successors(Some(node), |&n| timeline.parent(n));
    let mut all: Vec<u32> = nodes.flat_map(up).map(|node| node.0).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}
