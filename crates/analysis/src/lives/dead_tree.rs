//! The tree of dead objects: of a window, and from the start of a run to each of its collections.

use super::{LifePlaces, RunWindow, lives_of};
use crate::group::{Grouping, MemoryTree};
use crate::timeline::json::JsonSource;
use crate::timeline::{GcPoint, Source, TimePoint, Timeline, TimelineBuilder};
use memory_city_formats::{GcHistory, LifeStep, Lives, Weighed};
use memory_city_heap::error::{Result, Warning};
use memory_city_heap::progress::Progress;
use std::collections::BTreeMap;

/// The objects that died in a window.
pub struct DeadTree {
    /// The groups. Their amounts are those of `died`, rounded.
    pub tree: MemoryTree,
    /// By node of the tree: its dead objects.
    pub died: Vec<Weighed>,
    /// Dead objects by GCs survived.
    pub by_age: BTreeMap<u32, Weighed>,
    /// The objects allocated in the window.
    pub born: Weighed,
}

impl DeadTree {
    /// One pass over births and deaths until the end of the window.
    ///
    /// # Errors
    /// When a classifier fails, or the work was cancelled.
    pub fn of(lives: Lives<'_>, grouping: &Grouping, window: RunWindow, progress: &Progress) -> Result<DeadTree> {
        DeadTree::of_ages(lives, grouping, window, u32::MAX, progress)
    }

    /// As [`DeadTree::of`], for objects that survived at most so many collections.
    ///
    /// # Errors
    /// As [`DeadTree::of`].
    pub fn of_ages(
        lives: Lives<'_>,
        grouping: &Grouping,
        window: RunWindow,
        oldest: u32,
        progress: &Progress,
    ) -> Result<DeadTree> {
        let mut places = LifePlaces::new(lives, grouping, progress)?;
        let mut by_leaves: Vec<Weighed> = vec![Weighed::default()];
        let mut found =
            DeadTree { tree: MemoryTree::new(), died: Vec::new(), by_age: BTreeMap::new(), born: Weighed::default() };
        let Some(last) = window.end.checked_sub(1).filter(|&last| last >= window.first) else {
            found.died = by_leaves;
            return Ok(found);
        };
        let mut above: Vec<u32> = Vec::new();
        lives.each(last, progress, |event| {
            if event.gc < window.first {
                return Ok(());
            }
            match event.step {
                LifeStep::Promoted => {}
                LifeStep::Born => found.born += event.amount,
                LifeStep::Died if event.age() > oldest => {}
                LifeStep::Died => {
                    *found.by_age.entry(event.age()).or_default() += event.amount;
                    above.clear();
                    above.extend_from_slice(places.of(&event));
                    with_above(places.tree(), &mut above);
                    by_leaves.resize(places.tree().len().max(by_leaves.len()), Weighed::default());
                    above.iter().for_each(|&node| by_leaves[node as usize] += event.amount);
                }
            }
            Ok(())
        })?;
        places.placement.check()?;
        found.tree = places.placement.tree;
        found.died = by_leaves;
        Ok(found)
    }

    /// All that died.
    pub fn all(&self) -> Weighed {
        self.died.first().copied().unwrap_or_default()
    }
}

/// Adds the nodes above some, each once.
pub(super) fn with_above(tree: &MemoryTree, nodes: &mut Vec<u32>) {
    let leaves = nodes.len();
    for at in 0..leaves {
        let mut node = nodes[at] as usize;
        while let Some(parent) = tree.parent(node) {
            nodes.push(parent as u32);
            node = parent;
        }
    }
    if leaves > 1 {
        nodes.sort_unstable();
        nodes.dedup();
    }
}

/// Dead objects over time, as a source of trees: at each collection all that died since the recording began. So the difference of two times
/// is the objects that died between them, and the treemap of the last time is that of all garbage. `grouping` is one
/// [for dead objects](super::grouping_of_dead).
///
/// # Errors
/// When the source has no deaths, or the work was cancelled.
pub fn died_over_time(source: &Source, grouping: &Grouping, progress: &Progress) -> Result<Source> {
    let (lives, history) = lives_of(source, progress)?;
    let timeline = timeline(lives, &history, grouping, progress)?.with_profile(source.profile());
    let mut warnings = source.warnings();
    let path = warnings.first().map(|warning| warning.path.clone()).unwrap_or_default();
    let mut warn = |message: String| warnings.push(Warning { path: path.clone(), offset: None, message });
    if !lives.is_exact() && !lives.is_complete() {
        warn(format!("what died is estimated from {} samples", lives.samples()));
    }
    if lives.undated() > 0 {
        warn(format!("of {} samples it is not known when they died: they are left out", lives.undated()));
    }
    Ok(Source::Trees(JsonSource::of_timeline(timeline, format!("Died: {}", grouping.title), warnings)))
}

fn timeline(lives: Lives<'_>, history: &GcHistory, grouping: &Grouping, progress: &Progress) -> Result<Timeline> {
    let mut places = LifePlaces::new(lives, grouping, progress)?;
    let mut builder = TimelineBuilder::default();
    let (mut changed, mut freed, mut next) = (Vec::new(), 0u64, 0u32);
    // Points count time from the start of the program only where all of them say what was collected.
    let (noun, by_gc) = (history.noun(), history.collections.iter().all(|gc| gc.kind.is_some()));
    let mut end_of = |gc: u32, places: &LifePlaces<'_>, changed: &mut Vec<u32>, freed: &mut u64| {
        let Some(record) = history.collections.get(gc as usize) else { return };
        changed.sort_unstable();
        changed.dedup();
        let millis = record.end / 1_000_000;
        let point = GcPoint {
            number: u32::try_from(record.number).unwrap_or(u32::MAX),
            kind: record.kind.unwrap_or(memory_city_formats::GcKind::Minor),
            one_pause: record.one_pause,
            cause: if record.cause.is_empty() { "unknown cause".to_owned() } else { record.cause.clone() },
            duration: (record.end - record.start) / 1_000_000,
            end: true,
            freed: Some(std::mem::take(freed)),
        };
        let point = TimePoint {
            label: noun.label(record.number),
            millis: if by_gc { millis } else { history.epoch.saturating_add(millis) },
            gc: Some(point).filter(|_| by_gc),
            ..TimePoint::default()
        };
        builder.step(point, places.tree(), changed);
        changed.clear();
    };
    if let Some(last) = lives.gcs().checked_sub(1) {
        lives.each(last, progress, |event| {
            while next < event.gc {
                end_of(next, &places, &mut changed, &mut freed);
                next += 1;
            }
            if event.step == LifeStep::Died {
                let leaves = places.of(&event).to_vec();
                let (objects, bytes) = (event.amount.objects.round() as i64, event.amount.bytes.round() as i64);
                freed = freed.saturating_add(objects.unsigned_abs());
                places.placement.tree.change_up(&leaves, objects, bytes, &mut changed);
            }
            Ok(())
        })?;
        for gc in next..=last {
            end_of(gc, &places, &mut changed, &mut freed);
        }
    }
    places.placement.check()?;
    Ok(builder.finish())
}
