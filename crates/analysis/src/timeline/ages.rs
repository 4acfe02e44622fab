//! The mean age of groups' objects, as a further metric of a timeline. The mean of an inner node is not the sum of its leaves' means.

use super::closure_metric::ClosureMetric;
use super::history::History;
use super::metric::MetricBuilder;
use super::tree_groups::{RUN, TreePlaces, with_above};
use crate::group::Grouped;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

impl History {
    /// How many collections the objects of each group have survived on average, at all times: one pass over each heap state.
    pub(super) fn ages(&self, progress: &Progress) -> Result<MetricBuilder> {
        let timeline = self.timeline();
        let mut column = MetricBuilder::new(ClosureMetric::Age.info(), timeline.len());
        let mut any = false;
        for time in 0..timeline.times() {
            progress.check()?;
            let (heap, grouped) = self.grouped(time, progress)?;
            let sums = ages_by_place(&heap, &grouped, progress)?;
            any |= sums.iter().any(|sum| sum.objects > 0);
            let sums = TreePlaces::new(timeline, &grouped.tree).by_node(&sums);
            column.step(|node| sums[node.index()].mean());
        }
        match any || timeline.times() == 0 {
            true => Ok(column),
            false => Err(Error::Unusable {
                what:
                    "How old objects are cannot be found: the input does not say how many collections any has survived"
                        .into(),
                remedy: "Open a memory trace or a recording: heap dumps know nothing of births".into(),
            }),
        }
    }
}

/// The known ages of some objects.
#[derive(Clone, Copy, Default)]
struct Ages {
    objects: u64,
    collections: u64,
}

impl Ages {
    fn add(&mut self, other: Ages) {
        self.objects += other.objects;
        self.collections += other.collections;
    }

    /// The nearest whole number.
    fn mean(self) -> u64 {
        (self.collections + self.objects / 2).checked_div(self.objects).unwrap_or(0)
    }
}

/// The ages of the objects in and below each node of a tree, as far as known.
fn ages_by_place(heap: &HeapState, grouped: &Grouped, progress: &Progress) -> Result<Vec<Ages>> {
    let n = heap.object_count();
    let sums = (0..n.div_ceil(RUN))
        .into_par_iter()
        .map(|run| {
            progress.check()?;
            // Objects in the same groups share one list of leaves: it is told by where it lies.
            let mut lists: FxHashMap<(*const u32, usize), (&[u32], Ages)> = FxHashMap::default();
            for o in (run * RUN..((run + 1) * RUN).min(n)).map(|o| ObjectId(o as u32)) {
                let Some(life) = heap.facts(o).life else { continue };
                let leaves = grouped.leaves_of(heap, o);
                let sum = lists.entry((leaves.as_ptr(), leaves.len())).or_insert((leaves, Ages::default()));
                sum.1.add(Ages { objects: 1, collections: u64::from(life.age) });
            }
            let mut of = FxHashMap::<u32, Ages>::default();
            for (leaves, sum) in lists.into_values() {
                with_above(&grouped.tree, leaves).iter().for_each(|&node| of.entry(node).or_default().add(sum));
            }
            Ok(of)
        })
        .try_reduce(FxHashMap::default, |mut all, part| {
            part.into_iter().for_each(|(node, sum)| all.entry(node).or_default().add(sum));
            Ok(all)
        })?;
    let mut all = vec![Ages::default(); grouped.tree.len()];
    sums.into_iter().for_each(|(node, sum)| all[node as usize] = sum);
    Ok(all)
}
