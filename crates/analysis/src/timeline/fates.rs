//! The difference of two times as trees: what was born between them, what died, and what survived, each divided into its groups.
//!
//! Two points in time, the ones that are compared. At the first stand what died until the second and what survived, at the second what
//! survived and what was born, so that either is the whole heap of its time, and any view shows the difference: a city of the second
//! point has the newborn as a district, in the colours of growth.

use super::difference::{GroupMatch, TimeMatch};
use super::json::JsonSource;
use super::{Amount, Source, Timeline, TimelineBuilder};
use crate::analyses::TimeWindow;
use crate::group::MemoryTree;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use std::sync::Arc;

/// What a grouping begins with that asks for the difference of two times: `difference:3-8:type`, or `difference::type` for that of
/// the first and the last.
pub const DIFFERENCE: &str = "difference:";

/// What became of objects, where the input knows that objects are the same, and where it counts.
const FATES: [[&str; 4]; 3] = [
    ["Born", "Died", "Survived", "Stayed, perhaps in another group"],
    ["Born", "Died", "Survived", "Made while the first walk was taken"],
    ["More than before", "Fewer than before", "As many as before", "Stayed, perhaps in another group"],
];

/// The times, counted from 1, and the grouping in `3-8:type`; no times for the first and the last.
///
/// # Errors
/// When what stands before the colon is no pair of times.
pub(super) fn parse(text: &str) -> Result<(Option<(usize, usize)>, &str)> {
    let wrong = || Error::Unusable {
        what: format!("\"{text}\" does not say which two times are compared"),
        remedy: "Write them as 3-8, counted from 1".into(),
    };
    let (times, grouping) = text.split_once(':').ok_or_else(wrong)?;
    if times.is_empty() {
        return Ok((None, grouping));
    }
    let (from, to) = times.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse().ok().filter(|&n: &usize| n > 0).ok_or_else(wrong);
    Ok((Some((number(from)?, number(to)?)), grouping))
}

/// The difference of two points in time, counted from 1, as a source of trees; of the first and the last where none are given.
/// Objects are matched as in [`difference`](super::difference); bytes of what is matched by count are in proportion. An object of several
/// groups counts in each.
///
/// # Errors
/// When there are no such points, the grouping begins anew at a transformer, a state cannot be loaded again, or the work was
/// cancelled.
pub fn fates(source: &Source, times: Option<(usize, usize)>, progress: &Progress) -> Result<Source> {
    let timeline = source.timeline();
    let window = TimeWindow::of(timeline, times.map(|t| t.0.min(t.1)), times.map(|t| t.0.max(t.1)))?;
    if timeline.nodes().any(|node| timeline.restarts(node)) {
        return Err(Error::Unusable {
            what: "The grouping looks at other objects below some groups: they are no parts of a difference".into(),
            remedy: "Group by classifiers alone".into(),
        });
    }
    let found = match source.heaps() {
        Some(heaps) => heaps.match_groups(window.from, window.to, progress)?,
        None => TimeMatch::by_count(timeline, window.from, window.to),
    };
    let by_identity = source.heaps().is_some_and(|heaps| heaps.knows_identity(window.from, window.to));
    let names = match by_identity {
        true => FATES[usize::from(!source.is_recorded())],
        false => FATES[2],
    };
    let mut builder = TimelineBuilder::default();
    for (time, side) in [(window.from, 0), (window.to, 1)] {
        builder.add(timeline.points()[time].clone(), &tree(timeline, &found, (window.from, window.to), side, names));
    }
    let mut warnings = source.warnings();
    let path = warnings.first().map(|warning| warning.path.clone()).unwrap_or_default();
    let message = match by_identity {
        true => "objects of the two times are matched by identity: what was born, died and survived is certain",
        false => "objects have no identity here: as many as a group has at both times are taken for the same",
    };
    warnings.push(Warning { path, offset: None, message: message.to_owned() });
    let title = format!("Difference: {}", source.grouping_title());
    Ok(Source::Trees(JsonSource::of_timeline(builder.finish(), title, warnings)))
}

/// The tree of one side.
fn tree(timeline: &Timeline, found: &TimeMatch, times: (usize, usize), side: usize, names: [&str; 4]) -> MemoryTree {
    let time = if side == 0 { times.0 } else { times.1 };
    let mut tree = MemoryTree::new();
    let role: Arc<str> = Arc::from("Fate");
    for node in timeline.nodes() {
        // Of inner nodes what is in none of their children.
        let own = |time: usize| {
            let below = timeline.children(node).iter().map(|&child| timeline.amount(time, child));
            let mut own = timeline.amount(time, node);
            below.for_each(|of| {
                own.objects = own.objects.saturating_sub(of.objects);
                own.bytes = own.bytes.saturating_sub(of.bytes);
            });
            own
        };
        let amount = own(time);
        let known = found.by_node[node.index()];
        let of = match timeline.is_leaf(node) || known != GroupMatch::default() {
            true => known,
            false => GroupMatch::by_count(own(times.0).objects, own(times.1).objects),
        };
        let GroupMatch { only_base, only_time, matched, unclear } = of;
        let alone = if side == 0 { (1, only_base) } else { (0, only_time) };
        let parts = [alone, (2, matched), (3, unclear)];
        let all: u64 = parts.iter().map(|part| part.1).sum();
        let (mut objects_left, mut bytes_left) = (all, amount.bytes);
        for (fate, objects) in parts.into_iter().filter(|part| part.1 > 0) {
            // The last takes what is left, so that nothing is lost to rounding.
            let bytes = match objects == objects_left {
                true => bytes_left,
                false => (u128::from(amount.bytes) * u128::from(objects) / u128::from(all.max(1))) as u64,
            };
            objects_left -= objects;
            bytes_left -= bytes;
            let mut place = tree.child(0, &role, &names[fate].into());
            for step in timeline.path(node) {
                place = tree.child(place, &timeline.role(step).into(), &timeline.name(step).into());
            }
            tree.add_up(&[place as u32], Amount { objects, bytes });
        }
    }
    tree
}
