//! A series of heap states under one grouping: its timeline, and reference maps on demand.

use super::references::{ReferenceMap, reference_map};
use super::{NodeId, TimePoint, Timeline, TimelineBuilder};
use crate::error::{Error, Result, Warning};
use crate::group::{self, GroupOptions, Grouped, Grouping};
use crate::heap::HeapState;
use crate::progress::Progress;
use crate::trace::HeapSeries;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A series, grouped.
pub struct History {
    series: Arc<dyn HeapSeries>,
    grouping: &'static Grouping,
    options: GroupOptions,
    timeline: Arc<Timeline>,
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

impl History {
    /// Loads and groups every state of a series.
    ///
    /// # Errors
    /// When a state cannot be loaded, the grouping is not known, or the work was cancelled.
    pub fn build(
        series: Arc<dyn HeapSeries>,
        grouping: &str,
        options: GroupOptions,
        progress: &Progress,
    ) -> Result<History> {
        let Some(grouping) = group::grouping(grouping) else {
            let known: Vec<&str> = group::groupings().iter().map(|g| g.id.as_str()).collect();
            return Err(Error::Unusable {
                what: format!("There is no grouping {grouping}"),
                remedy: format!("Use one of: {}", known.join(", ")),
            });
        };
        let mut builder = TimelineBuilder::default();
        let mut last = None;
        for (t, point) in series.points().iter().enumerate() {
            let heap = series.load(t, progress)?;
            let grouped = group::group(&heap, grouping, options, progress)?;
            let (_, unreachable) = heap.totals();
            let point = TimePoint { label: point.label.clone(), millis: point.millis, unreachable };
            builder.add(point, &grouped.tree);
            last = Some((t, heap, Arc::new(grouped)));
        }
        Ok(History {
            series,
            grouping,
            options,
            timeline: Arc::new(builder.finish()),
            maps: Mutex::default(),
            last: Mutex::new(last),
        })
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

    fn grouped(&self, time: usize, progress: &Progress) -> Result<(Arc<HeapState>, Arc<Grouped>)> {
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
