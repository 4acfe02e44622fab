//! A series of heap states under one grouping: its timeline, and reference maps on demand.

use super::all_references::{TimeReferences, time_references};
use super::references::{ReferenceMap, reference_map};
use super::{GrowingTree, NodeId, TimePoint, Timeline, TimelineBuilder};
use crate::group::{self, GroupOptions, Grouped, Grouping, Needs};
use memory_city_formats::{HeapSeries, Recording, SnapshotInfo};
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, HeapState};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A series, grouped.
pub struct History {
    series: Arc<dyn HeapSeries>,
    grouping: &'static Grouping,
    options: GroupOptions,
    timeline: Arc<Timeline>,
    /// The point of the series that each time is.
    points: Vec<usize>,
    maps: Mutex<VecDeque<(MapKey, Arc<ReferenceMap>)>>,
    /// The last grouped state: a selection asks for the same time again and again.
    last: Mutex<Option<GroupedState>>,
}

/// Time and group of a reference map.
type MapKey = (usize, NodeId);
/// A heap state, grouped, and its time.
type GroupedState = (usize, Arc<HeapState>, Arc<Grouped>);

/// Reference maps that are kept.
const KEPT_MAPS: usize = 256;

/// The grouping that suits the input: by allocation site where the source knows it, by package otherwise.
pub const AUTO: &str = "auto";

impl History {
    /// Groups every state of a series: from its recording where it has one, otherwise one by one. `grouping` may be
    /// [`AUTO`].
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
        let of_interest = |p: &SnapshotInfo| options.gc_starts || p.gc.as_ref().is_none_or(|gc| gc.end);
        let mut points: Vec<usize> = (0..series.points().len()).filter(|&i| of_interest(&series.points()[i])).collect();
        if points.len() > 1 {
            // A GC that never ended has no point of its own, unless starts are asked for.
            points.retain(|&i| options.gc_starts || series.points()[i].gc.is_some() || series.recording().is_none());
        }
        let mut last = None;
        // Groupings that look at every object need the objects.
        let recording = series.recording().filter(|_| !grouping.needs_any(Needs::Object));
        let timeline = match recording {
            Some(recording) => recorded(&*series, recording, grouping, &points, progress)?,
            None => {
                let mut builder = TimelineBuilder::default();
                for &i in &points {
                    let heap = series.load(i, progress)?;
                    if grouping.needs_any(Needs::Site) && !heap.has_sites() {
                        return Err(cannot_group(grouping, "allocation sites"));
                    }
                    let grouped = group::group(&heap, grouping, options, progress)?;
                    let (_, unreachable) = heap.totals();
                    builder.add(time_point(&series.points()[i], unreachable), &grouped.tree);
                    last = Some((i, heap, Arc::new(grouped)));
                }
                builder.finish()
            }
        };
        Ok(History {
            series,
            grouping,
            options,
            timeline: Arc::new(timeline),
            points,
            maps: Mutex::default(),
            last: Mutex::new(last),
        })
    }

    /// Whether the series knows enough for a grouping.
    pub fn offers(&self, grouping: &Grouping) -> bool {
        let recorded = self.series.recording().is_some();
        (recorded || !grouping.needs_any(Needs::Life))
            && (recorded || !grouping.needs_any(Needs::Site) || self.has_sites())
    }

    /// Whether the series is a trace: it knows what came and went, and where it came from.
    pub fn is_recorded(&self) -> bool {
        self.series.recording().is_some()
    }

    fn has_sites(&self) -> bool {
        self.last.lock().unwrap_or_else(|e| e.into_inner()).as_ref().is_some_and(|(_, heap, _)| heap.has_sites())
    }

    /// The same series under another grouping.
    ///
    /// # Errors
    /// As [`History::build`].
    pub fn regroup(&self, grouping: &str, options: GroupOptions, progress: &Progress) -> Result<History> {
        History::build(Arc::clone(&self.series), grouping, options, progress)
    }

    /// The trees over time.
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// The grouping.
    pub fn grouping(&self) -> &'static Grouping {
        self.grouping
    }

    /// The heap states.
    pub fn series(&self) -> &Arc<dyn HeapSeries> {
        &self.series
    }

    /// What a person must know about what is shown.
    pub fn warnings(&self) -> Vec<Warning> {
        self.series.warnings()
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

    /// All references at a point in time.
    ///
    /// # Errors
    /// As [`History::references`].
    pub fn time_references(&self, time: usize, progress: &Progress) -> Result<TimeReferences> {
        let (heap, grouped) = self.grouped(time, progress)?;
        time_references(&heap, &grouped, &self.timeline, progress)
    }

    pub(super) fn options(&self) -> GroupOptions {
        self.options
    }

    pub(super) fn grouped(&self, time: usize, progress: &Progress) -> Result<(Arc<HeapState>, Arc<Grouped>)> {
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
        let grouped = Arc::new(group::group(&heap, self.grouping, self.options, progress)?);
        let mut last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        *last = Some((time, Arc::clone(&heap), Arc::clone(&grouped)));
        Ok((heap, grouped))
    }
}

fn time_point(info: &SnapshotInfo, unreachable: Amount) -> TimePoint {
    TimePoint { label: info.label.clone(), millis: info.millis, gc: info.gc.clone(), unreachable }
}

/// Trees from what changed: no heap state is made.
fn recorded(
    series: &dyn HeapSeries,
    recording: &Recording,
    grouping: &Grouping,
    points: &[usize],
    progress: &Progress,
) -> Result<Timeline> {
    progress.begin("Grouping the heap over time", recording.log.len() as u64);
    let mut builder = TimelineBuilder::default();
    let mut tree = GrowingTree::new(recording, grouping);
    let mut changed: Vec<u32> = Vec::new();
    let mut wanted = points.iter().copied().peekable();
    for i in 0..recording.log.len() {
        progress.check()?;
        progress.advance(1);
        changed.extend_from_slice(tree.step(recording.log.changes(i), i.div_ceil(2) as u32));
        if wanted.next_if_eq(&i).is_some() {
            changed.sort_unstable();
            changed.dedup();
            builder.step(time_point(&series.points()[i], Amount::default()), tree.tree(), &changed);
            changed.clear();
        }
    }
    Ok(builder.finish())
}

fn choose(series: &dyn HeapSeries, grouping: &str) -> Result<&'static Grouping> {
    let id = match (grouping, series.recording().is_some()) {
        (AUTO, true) => "type-site",
        (AUTO, false) => "package-type",
        (id, _) => id,
    };
    let Some(grouping) = group::grouping(id) else {
        let known: Vec<&str> = group::groupings().iter().map(|g| g.id.as_str()).collect();
        return Err(Error::Unusable {
            what: format!("There is no grouping {grouping}"),
            remedy: format!("Use one of: {AUTO}, {}", known.join(", ")),
        });
    };
    if grouping.needs_any(Needs::Life) && series.recording().is_none() {
        return Err(cannot_group(grouping, "how objects were allocated and how long they live"));
    }
    Ok(grouping)
}

fn cannot_group(grouping: &Grouping, lacks: &str) -> Error {
    Error::Unusable {
        what: format!("The grouping {} needs a memory trace: heap dumps do not record {lacks}", grouping.title),
        remedy: "Choose a grouping by type, package, class loader or object kind".into(),
    }
}
