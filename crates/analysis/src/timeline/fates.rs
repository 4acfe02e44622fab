//! The difference of two times as trees: objects born between them, dead objects and survivors, each divided into its groups.
//!
//! The source has the two compared points in time. The first has the objects that died until the second and the survivors; the second has
//! the survivors and the newborn. So each is the whole heap of its time, and any view shows the difference: a city of the second point has
//! the newborn as a district, in the colours of growth.

use super::builder::TimelineBuilder;
use super::difference::{GroupMatch, TimeMatch};
use super::json::JsonSource;
use super::key::NodeId;
use super::nodes::Timeline;
use super::source::Source;
use super::window::TimeWindow;
use crate::group::MemoryTree;
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;

/// The fates of objects, by exact identity, and by count.
const FATES: [[&str; 4]; 3] = [
    ["Born", "Died", "Survived", "Stayed, perhaps in another group"],
    ["Born", "Died", "Survived", "Made while the first walk was taken"],
    ["More than before", "Fewer than before", "As many as before", "Stayed, perhaps in another group"],
];

/// The difference of two points in time, counted from 1, as a source of trees; by default of the first and the last. Objects are matched as
/// in [`difference`](super::difference); bytes of objects matched by count are in proportion. An object of several groups counts in each.
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
        let tree = tree(timeline, &found, (window.from, window.to), side, names, progress)?;
        builder.add(timeline.points()[time].clone(), &tree);
    }
    let mut warnings = source.warnings();
    let path = warnings.first().map(|warning| warning.path.clone()).unwrap_or_default();
    let message = match by_identity {
        true => "objects of the two times are matched by identity: what was born, died and survived is certain",
        false => "objects have no identity here: as many as a group has at both times are taken for the same",
    };
    warnings.push(Warning { path, offset: None, message: message.to_owned() });
    let title = format!("Difference: {}", source.grouping_title());
    let timeline = builder.finish().with_profile(timeline.profile());
    Ok(Source::Trees(JsonSource::of_timeline(timeline, title, warnings)))
}

/// A tree under construction: under each fate the groups that have some of it.
struct FateTree<'t> {
    timeline: &'t Timeline,
    tree: MemoryTree,
    /// By fate, then by node: its place in the tree.
    places: [FxHashMap<NodeId, usize>; 4],
}

impl FateTree<'_> {
    /// The place of a node under a fate. Each step of its path is made once.
    fn place(&mut self, fate: usize, node: NodeId, name: &str) -> usize {
        let mut missing = Vec::new();
        let mut at = Some(node);
        let known = loop {
            match at.map(|at| (at, self.places[fate].get(&at))) {
                Some((_, Some(&place))) => break Some(place),
                Some((node, None)) => missing.push(node),
                None => break None,
            }
            at = at.and_then(|at| self.timeline.parent(at));
        };
        let mut place = known.unwrap_or_default();
        for node in missing.into_iter().rev() {
            place = match node {
                NodeId::ROOT => self.tree.child(0, &"Fate".into(), &name.into()),
                _ => self.tree.child(place, &self.timeline.role(node).into(), &self.timeline.name(node).into()),
            };
            self.places[fate].insert(node, place);
        }
        place
    }

    /// The tree, where each group has what its groups have as well.
    fn finish(self) -> MemoryTree {
        let mut tree = self.tree;
        for node in (1..tree.len()).rev() {
            if let Some(above) = tree.parent(node) {
                tree.add(above, tree.amount(node));
            }
        }
        tree
    }
}

/// The tree of one side. O(nodes).
fn tree(
    timeline: &Timeline,
    found: &TimeMatch,
    times: (usize, usize),
    side: usize,
    names: [&str; 4],
    progress: &Progress,
) -> Result<MemoryTree> {
    let time = if side == 0 { times.0 } else { times.1 };
    let mut fates = FateTree { timeline, tree: MemoryTree::new(), places: Default::default() };
    for node in timeline.nodes() {
        if node.index() % 1024 == 0 {
            progress.check()?;
        }
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
            let place = fates.place(fate, node, names[fate]);
            fates.tree.add(place, Amount { objects, bytes });
        }
    }
    Ok(fates.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::TimePoint;

    /// A chain of groups with a leaf at each level: every group has what is below it.
    #[test]
    fn deep_trees_are_summed_up_once_and_can_be_cancelled() {
        const LEVELS: usize = 3000;
        let tree = |objects: u64| {
            let (mut tree, mut at) = (MemoryTree::new(), 0);
            for level in 0..LEVELS {
                let leaf = tree.child(at, &"Group".into(), &format!("leaf {level}").into());
                tree.add_up(&[leaf as u32], Amount { objects, bytes: 8 * objects });
                at = tree.child(at, &"Group".into(), &"inner".into());
            }
            tree
        };
        let points = vec![TimePoint::default(), TimePoint { millis: 1, ..TimePoint::default() }];
        let timeline = Timeline::from_trees(points, &[tree(1), tree(3)]);
        let source = Source::Trees(JsonSource::of_timeline(timeline, "Group".into(), Vec::new()));
        let found = fates(&source, Some((1, 2)), &Progress::new()).expect("trees");
        let amount = |time: usize, key: &str| {
            let trees = found.timeline();
            trees.find(key).map_or(0, |node| trees.amount(time, node).objects)
        };
        let levels = LEVELS as u64;
        assert_eq!([0, 1].map(|time| amount(time, "Heap")), [levels, 3 * levels]);
        assert_eq!([0, 1].map(|time| amount(time, "Heap#More than before")), [0, 2 * levels]);
        assert_eq!([0, 1].map(|time| amount(time, "Heap#As many as before#inner#inner")), [levels - 2; 2]);
        assert_eq!(amount(1, "Heap#More than before#inner#leaf 1"), 2);
        let stopped = Progress::new();
        stopped.cancel();
        assert!(fates(&source, Some((1, 2)), &stopped).is_err());
    }
}
