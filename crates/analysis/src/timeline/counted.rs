//! Recordings with counts but no objects, as trees over time: class histograms, or live objects estimated from samples.
//!
//! The classifiers are those of heap states and traces. They are called once for objects that are counted together, with the common facts:
//! a class, and for samples the place, the thread and the collections survived. Any grouping that reads no more than that works. The
//! default grouping has packages, types, and the allocation sites if they are known.

use super::builder::TimelineBuilder;
use super::choice::{asked, made};
use super::nodes::Timeline;
use super::point::TimePoint;
use super::sampled_part::SampledPart;
use crate::group::domain::class_of_frame;
use crate::group::{
    AskedGrouping, ByFunction, Classifier, ClassifierMeta, Grouping, GroupingRun, ObjectValues, ObjectView, Placement,
    Reads, registry, tell_packages,
};
use memory_city_formats::counts::{ClassCounts, CountBasis};
use memory_city_formats::replay::CohortKey;
use memory_city_formats::wire::{CountedKind, CountedTimes};
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;

/// The name of the root of estimated trees.
pub const ESTIMATED: &str = "Heap, estimated from samples";

/// The counts of a recording without walks, under a grouping.
pub struct CountedHistory {
    counted: Arc<CountedTimes>,
    grouping: Arc<Grouping>,
    timeline: Arc<Timeline>,
    /// Why the grouping that was asked for is not that of the trees.
    refused: Option<Warning>,
}

impl CountedHistory {
    /// The trees of a recording, whose path is for messages. A grouping that cannot be had is a warning that says why.
    ///
    /// # Errors
    /// When the grouping is not known, a classifier fails, or the work was cancelled.
    pub(crate) fn of(
        counted: CountedTimes,
        path: &Path,
        grouping: &AskedGrouping,
        progress: &Progress,
    ) -> Result<CountedHistory> {
        tell_packages(counted.own_packages.as_deref());
        let chosen = choose(&counted, grouping)?;
        let refused = offers(&counted, &chosen).err().map(|lacks| Warning {
            path: path.to_owned(),
            offset: None,
            message: format!("the grouping {grouping} was not applied. {lacks}"),
        });
        let chosen = if refused.is_some() { unasked(counted.tells_places) } else { chosen };
        CountedHistory::grouped(Arc::new(counted), chosen, refused, progress)
    }

    fn grouped(
        counted: Arc<CountedTimes>,
        grouping: Arc<Grouping>,
        refused: Option<Warning>,
        progress: &Progress,
    ) -> Result<CountedHistory> {
        let timeline = Arc::new(timeline_of(&counted, &grouping, progress)?);
        Ok(CountedHistory { counted, grouping, timeline, refused })
    }

    /// The same counts under another grouping.
    ///
    /// # Errors
    /// When it is not known or cannot be had, a classifier fails, or the work was cancelled.
    pub(super) fn regroup(&self, grouping: &str, progress: &Progress) -> Result<CountedHistory> {
        let chosen = choose(&self.counted, &asked(grouping)?)?;
        if let Err(lacks) = self.offers(&chosen) {
            return Err(Error::Unusable {
                what: format!("The grouping {} cannot be applied. {lacks}", chosen.title),
                remedy: "Record with walks to group objects so".into(),
            });
        }
        CountedHistory::grouped(Arc::clone(&self.counted), chosen, None, progress)
    }

    /// Whether a grouping can be had; otherwise why not, for people.
    ///
    /// # Errors
    /// When it cannot.
    pub(super) fn offers(&self, grouping: &Grouping) -> std::result::Result<(), String> {
        offers(&self.counted, grouping)
    }

    pub(super) fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    pub(super) fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    pub(super) fn warnings(&self) -> Vec<Warning> {
        self.counted.warnings.iter().chain(&self.refused).cloned().collect()
    }

    /// The counts, for any grouping.
    pub(crate) fn counted(&self) -> &CountedTimes {
        &self.counted
    }

    /// The class counts.
    pub(super) fn class_counts(&self) -> Option<&Arc<ClassCounts>> {
        self.counted.histograms.as_ref()
    }

    /// True if the trees are estimates from samples: then the class counts are beside them.
    pub(crate) fn is_estimate(&self) -> bool {
        self.counted.is_estimate
    }
}

/// The facts that all counted objects have.
fn known_of(counted: &CountedTimes) -> Reads {
    let mut known = Reads::TYPE;
    known.set(Reads::SITE, counted.tells_places);
    known.set(Reads::THREAD | Reads::AGE, counted.is_estimate);
    known.set(Reads::BIG_ARRAY | Reads::LENGTH, counted.tells_lengths);
    known
}

fn offers(counted: &CountedTimes, grouping: &Grouping) -> std::result::Result<(), String> {
    let what = if counted.is_estimate { "samples of a recording without walks do" } else { "class histograms do" };
    match grouping.lacks(known_of(counted)) {
        None => Ok(()),
        Some(lacks) => Err(format!("Needs {lacks}, which {what} not tell")),
    }
}

fn choose(counted: &CountedTimes, asked: &AskedGrouping) -> Result<Arc<Grouping>> {
    if asked.is_auto() { Ok(unasked(counted.tells_places)) } else { made(asked) }
}

/// Packages as districts, types as buildings, divided by the place in the program's own code where places are known.
fn unasked(tells_places: bool) -> Arc<Grouping> {
    let package = |object: &ObjectView<'_>, values: &mut ObjectValues| match split(name(object)).0 {
        "" => values.pass(),
        package => values.one(package),
    };
    let of_type = |object: &ObjectView<'_>, values: &mut ObjectValues| values.one(split(name(object)).1);
    let mut classifiers: Vec<Arc<dyn Classifier>> = vec![
        Arc::new(ByFunction::new(ClassifierMeta::new("package", "Package"), package)),
        Arc::new(ByFunction::new(ClassifierMeta::new("type", "Type"), of_type)),
    ];
    if tells_places {
        let domain = Arc::clone(registry().domain());
        let meta = ClassifierMeta::new("site", "Allocation site").reads(Reads::SITE);
        // The innermost frame of the program's own code, or of any.
        classifiers.push(Arc::new(ByFunction::new(meta, move |object, values| {
            let frames = object.site();
            let own = frames.iter().find(|frame| domain.covers(object.profile(), class_of_frame(frame)));
            values.one(own.or(frames.first()).map_or("(no stack)", |frame| frame));
        })));
    }
    let unnamed = Grouping::new("", classifiers);
    // Its title says all there is to it: it is no list that could be written.
    Arc::new(Grouping { id: unnamed.title.clone(), ..unnamed })
}

fn name<'a>(object: &ObjectView<'a>) -> &'a str {
    object.heap_type().map_or("", |of| &of.name)
}

/// The package of a class, and the rest of its name. Hidden classes have a slash behind their name; packages end before it.
fn split(class: &str) -> (&str, &str) {
    let plain = class.split('/').next().unwrap_or(class);
    plain.rsplit_once('.').map_or(("", class), |(package, _)| (package, &class[package.len() + 1..]))
}

/// Groups the counts at each time. The estimate of a group is rounded once, whatever kinds it consists of.
fn timeline_of(counted: &CountedTimes, grouping: &Grouping, progress: &Progress) -> Result<Timeline> {
    progress.begin("Grouping what was counted", counted.times.len() as u64);
    let run = GroupingRun { heap: None, among: None, progress };
    let mut placement = Placement::new(&grouping.prepared(&run)?);
    let (grows_old, by_length) = (grouping.reads().contains(Reads::AGE), grouping.reads().contains(Reads::LENGTH));
    // Births and lengths matter only to groupings that read them.
    let key_of = |kind: &CountedKind| {
        let key = if by_length { kind.key } else { counted.of_any_length(kind.key) };
        CohortKey { birth: if grows_old { key.birth } else { 0 }, ..key }
    };
    let mut builder = TimelineBuilder::default();
    let basis = counted.histograms.as_ref().map(|counts| counts.basis);
    let is_estimate = counted.is_estimate || basis == Some(CountBasis::Estimates);
    builder.name_root(if is_estimate { ESTIMATED } else { "Heap" });
    let mut leaves: FxHashMap<CohortKey, Box<[u32]>> = FxHashMap::default();
    counted.each(|time, kinds| {
        progress.check()?;
        progress.advance(1);
        if grows_old {
            leaves.clear();
        }
        let mut sums: FxHashMap<&[u32], (f64, f64)> = FxHashMap::default();
        for kind in kinds {
            leaves
                .entry(key_of(kind))
                .or_insert_with(|| placement.place(&ObjectView::of_cohort(&counted.facts(time, kind.key))));
        }
        for kind in kinds {
            let Some(leaves) = leaves.get(&key_of(kind)) else { continue };
            let sum = sums.entry(leaves).or_default();
            *sum = (sum.0 + kind.amount.objects, sum.1 + kind.amount.bytes);
        }
        placement.check()?;
        let tree = &mut placement.tree;
        tree.clear_amounts();
        for (leaves, (objects, bytes)) in sums {
            tree.add_up(leaves, Amount { objects: objects.round() as u64, bytes: bytes.round() as u64 });
        }
        let all: Vec<u32> = (0..tree.len() as u32).collect();
        builder.step(point_of(counted, time), tree, &all);
        Ok(())
    })?;
    Ok(builder.finish().with_profile(counted.profile()))
}

fn point_of(counted: &CountedTimes, time: usize) -> TimePoint {
    let of = counted.times.get(time).cloned().unwrap_or_default();
    let sampled = of.sampled.map(|(samples, objects)| SampledPart { samples, objects });
    TimePoint { label: of.label, millis: of.millis, gc: of.gc, sampled, ..TimePoint::default() }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn packages_end_before_the_names_of_classes() {
        for (class, parts) in [
            ("byte[]", ("", "byte[]")),
            ("shop.Cart", ("shop", "Cart")),
            ("java.util.Map$Entry[]", ("java.util", "Map$Entry[]")),
            ("app.Main$$Lambda/0x01.2", ("app", "Main$$Lambda/0x01.2")),
        ] {
            assert_eq!(split(class), parts);
        }
    }
}
