//! The trees of a series: from its recording, from the cache, or from its heap states, several at once as far as memory allows.

use super::builder::TimelineBuilder;
use super::choice::check;
use super::dump_cache::DumpCache;
use super::growing::GrowingTree;
use super::history::GroupedState;
use super::nodes::Timeline;
use super::point::TimePoint;
use super::sampled_part::SampledPart;
use crate::group::{self, GroupOptions, Grouping, MemoryTree, Reads};
use memory_city_formats::{HeapSeries, MemoryNeed, Recording, SnapshotInfo, each_state, memory_budget};
use memory_city_heap::Amount;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::sync::Arc;

/// The points of a series that are times under these options.
pub(super) fn points_of_interest(series: &dyn HeapSeries, options: GroupOptions) -> Vec<usize> {
    let of_interest = |p: &SnapshotInfo| options.gc_starts || p.gc.as_ref().is_none_or(|gc| gc.end);
    let mut points: Vec<usize> = (0..series.points().len()).filter(|&i| of_interest(&series.points()[i])).collect();
    if points.len() > 1 {
        // A GC that never ended has no point of its own, unless starts are asked for.
        points.retain(|&i| options.gc_starts || series.points()[i].gc.is_some() || series.recording().is_none());
    }
    points
}

pub(super) fn point_of(info: &SnapshotInfo, unreachable: Amount, sampled: Option<SampledPart>) -> TimePoint {
    TimePoint { label: info.label.clone(), millis: info.millis, gc: info.gc.clone(), unreachable, sampled }
}

/// The tree of a dump.
pub(super) struct TimeTree {
    pub tree: MemoryTree,
    pub unreachable: Amount,
    pub sampled: Option<SampledPart>,
    /// The facts about its objects.
    pub known: Reads,
    /// Whether there are none.
    pub is_empty: bool,
}

/// The trees of dumps: from the cache, or from their states, several at once while memory lasts; with the state of the last one,
/// where it was read.
pub(super) fn trees_of(
    series: &dyn HeapSeries,
    grouping: &Grouping,
    options: GroupOptions,
    points: &[usize],
    kept: Option<&DumpCache>,
    progress: &Progress,
) -> Result<(Vec<TimeTree>, Option<GroupedState>)> {
    let mut trees: Vec<Option<TimeTree>> = Vec::with_capacity(points.len());
    for &i in points {
        progress.check()?;
        let found = kept.and_then(|kept| kept.tree(series, i, grouping));
        // What is kept is of dumps, which have no samples.
        trees.push(found.map(|f| TimeTree {
            tree: f.tree,
            unreachable: f.unreachable,
            sampled: None,
            known: f.known,
            is_empty: false,
        }));
    }
    let missing: Vec<usize> = (0..points.len()).filter(|&at| trees[at].is_none()).collect();
    let wanted: Vec<usize> = missing.iter().map(|&at| points[at]).collect();
    let need = match grouping.reads().contains(Reads::REFERRERS) {
        true => MemoryNeed::Owners,
        false => MemoryNeed::Graph,
    };
    let made = each_state(series, &wanted, need, memory_budget(), progress, |i, heap, progress| {
        let known = Reads::known_of(&heap);
        check(grouping, known, series.noun(), Some(&series.points()[i]))?;
        let mut grouped = group::group(&heap, grouping, options, progress)?;
        let (_, unreachable) = heap.totals();
        let sampled = SampledPart::of(&heap, series, grouping, options);
        if let Some(kept) = kept {
            kept.keep_tree(series, i, &grouped.tree, unreachable, known);
        }
        let is_empty = heap.object_count() == 0;
        // A selection is most likely to be about the last one.
        let last = wanted.last() == Some(&i);
        let tree = if last { grouped.tree.clone() } else { std::mem::take(&mut grouped.tree) };
        let state = last.then(|| (i, heap, Arc::new(grouped)));
        Ok((TimeTree { tree, unreachable, sampled, known, is_empty }, state))
    })?;
    let mut last = None;
    for (at, (tree, state)) in missing.into_iter().zip(made) {
        trees[at] = Some(tree);
        last = state.or(last);
    }
    Ok((trees.into_iter().flatten().collect(), last))
}

/// Trees from changes: no heap state is built.
pub(super) fn recorded(
    series: &dyn HeapSeries,
    recording: &Recording,
    grouping: &Grouping,
    points: &[usize],
    progress: &Progress,
) -> Result<Timeline> {
    progress.begin("Grouping the heap over time", recording.log.len() as u64);
    let mut builder = TimelineBuilder::default();
    let mut tree = GrowingTree::new(recording, grouping)?;
    let mut changed: Vec<u32> = Vec::new();
    let mut wanted = points.iter().copied().peekable();
    for i in 0..recording.log.len() {
        progress.check()?;
        progress.advance(1);
        changed.extend_from_slice(tree.step(recording.log.changes(i), i.div_ceil(2) as u32));
        tree.check()?;
        if wanted.next_if_eq(&i).is_some() {
            changed.sort_unstable();
            changed.dedup();
            builder.step(point_of(&series.points()[i], Amount::default(), None), tree.tree(), &changed);
            changed.clear();
        }
    }
    Ok(builder.finish().with_profile(series.profile()))
}
