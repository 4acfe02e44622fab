//! The verdict over a series in one sentence: the largest growth, its share of the whole, and its start; or that nothing grows.
//!
//! It reads only a timeline, from any source, and so is there at once. The analysis `leak` finds the owners of the growth.

use super::ranking::{strongest, top_growing};
use crate::ownership::grows_between;
use crate::tabular::{bytes_text, count_text};
use crate::timeline::{Metric, NodeId, Timeline, Unit};

/// Growth below this share of the heap is no growth worth a word: caches fill, classes load.
pub(super) const WORD_FLOOR: f64 = 0.01;
/// Colours reach their red end no sooner than at this share of the heap: a healthy service is not red anywhere.
pub const GROWTH_FLOOR: f64 = 0.05;

/// The facts of the sentence about a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The sentence.
    pub text: String,
    /// The group it is about.
    pub group: Option<NodeId>,
    /// Whether something grows.
    pub grows: bool,
    /// The point in time from which that group grows.
    pub since: Option<usize>,
}

/// The growth at the red end of colours: the largest of any group, at least [`GROWTH_FLOOR`] of the largest heap, or of the part of it
/// below `root`; 0 if nothing grows.
pub fn growth_scale(timeline: &Timeline, metric: Metric, root: NodeId, largest: u64) -> u64 {
    if largest == 0 {
        return 0;
    }
    largest.max(of_largest(timeline, metric, root, GROWTH_FLOOR))
}

fn of_largest(timeline: &Timeline, metric: Metric, root: NodeId, share: f64) -> u64 {
    let heap = (0..timeline.times()).map(|t| timeline.value(t, root, metric)).max().unwrap_or(0);
    (heap as f64 * share).ceil() as u64
}

/// Looks at a series: linear in the groups, and for one of them in the points in time.
pub fn verdict(timeline: &Timeline, metric: Metric) -> Verdict {
    let text = |value: u64| match timeline.metric_info(metric).unit {
        Unit::Bytes => bytes_text(value),
        Unit::Millis => format!("{} ms", count_text(value)),
        Unit::Objects | Unit::Count => {
            format!("{} {}", count_text(value), timeline.metric_info(metric).title.to_lowercase())
        }
    };
    let last = timeline.times().saturating_sub(1);
    let heap = timeline.value(last, NodeId::ROOT, metric);
    let percent = |value: u64| 100.0 * value as f64 / heap.max(1) as f64;
    if timeline.times() < 2 {
        let largest = largest(timeline, metric, 1).first().copied();
        let said = largest.map(|node| {
            let value = timeline.value(last, node, metric);
            format!("{} is the largest group, {:.0} % of {}", timeline.display_name(node), percent(value), text(heap))
        });
        let text = format!("{}. One state tells no growth", said.unwrap_or("The heap is empty".into()));
        return Verdict { text, group: largest, grows: false, since: None };
    }
    let positive = |growth: i64| u64::try_from(growth).unwrap_or(0);
    let all = positive(timeline.growth(NodeId::ROOT, metric));
    let first = top_growing(timeline, metric, 1).first().copied();
    let most = first.map_or(0, |node| positive(timeline.growth(node, metric)));
    let floor = of_largest(timeline, metric, NodeId::ROOT, WORD_FLOOR).max(1);
    if let Some(node) = first.filter(|_| most >= floor) {
        let since = since(timeline, metric, node);
        let point = &timeline.points()[since];
        let label = if point.label.is_empty() { String::new() } else { format!(" ({})", point.label) };
        let text = format!(
            "{} grows most: +{}, {:.0} % of the heap at the end, since {} of {}{label}",
            timeline.display_name(node),
            text(most),
            percent(most),
            since + 1,
            timeline.times(),
        );
        return Verdict { text, group: first, grows: true, since: Some(since) };
    }
    if all >= floor {
        let text =
            format!("The heap grows by {}, {:.0} % of it, in many small groups: none by 1 %", text(all), percent(all));
        return Verdict { text, group: None, grows: true, since: None };
    }
    let least = match first {
        Some(node) => format!("the most any group grew is {} ({})", text(most), timeline.display_name(node)),
        None => "no group is larger at the end than at the start".to_owned(),
    };
    Verdict { text: format!("Nothing grows: {least}"), group: None, grows: false, since: None }
}

/// The `n` leaves with most at the last time, largest first; none that are empty. Ties by key.
pub fn largest(timeline: &Timeline, metric: Metric, n: usize) -> Vec<NodeId> {
    let last = timeline.times().saturating_sub(1);
    let leaves = timeline.nodes().filter(|&node| timeline.is_leaf(node));
    let sizes = leaves.map(|node| (i64::try_from(timeline.value(last, node, metric)).unwrap_or(i64::MAX), node));
    strongest(sizes.filter(|(size, _)| *size > 0).collect(), n)
}

/// The point in time from which a group grows.
fn since(timeline: &Timeline, metric: Metric, node: NodeId) -> usize {
    let values: Vec<u64> = (0..timeline.times()).map(|t| timeline.value(t, node, metric)).collect();
    grows_between(&values).map_or(0, |(since, _)| since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MemoryTree;
    use crate::timeline::Amount;
    use crate::timeline::TimePoint;

    /// A heap of two groups over time, bytes.
    fn series(of: &[(u64, u64)]) -> Timeline {
        let trees: Vec<MemoryTree> = of
            .iter()
            .map(|&(a, b)| {
                let mut tree = MemoryTree::new();
                for (name, bytes) in [("A", a), ("B", b)] {
                    let node = tree.child(0, &"Type".into(), &name.into());
                    tree.add_up(&[node as u32], Amount { objects: 1, bytes });
                }
                tree
            })
            .collect();
        let points = (0..of.len()).map(|t| TimePoint { label: format!("dump {t}"), ..TimePoint::default() });
        Timeline::from_trees(points.collect(), &trees)
    }

    #[test]
    fn the_verdict_names_what_grows_how_much_and_since_when() {
        let of = verdict(&series(&[(1000, 5000), (1000, 5000), (1010, 5000), (3000, 5000)]), Metric::Bytes);
        assert_eq!(of.text, "A grows most: +2.00 kB, 25 % of the heap at the end, since 3 of 4 (dump 2)");
        assert!(of.grows && of.group.is_some());
    }

    #[test]
    fn little_growth_and_shrinking_are_none() {
        let of = verdict(&series(&[(1000, 500_000), (4096, 500_000)]), Metric::Bytes);
        assert!(
            !of.grows && of.text.starts_with("Nothing grows: the most any group grew is 3.10 kB (A)"),
            "{}",
            of.text
        );
        assert_eq!(
            growth_scale(&series(&[(1000, 500_000), (4096, 500_000)]), Metric::Bytes, NodeId::ROOT, 3096),
            25_205
        );
        let of = verdict(&series(&[(4000, 5000), (10, 5000)]), Metric::Bytes);
        assert_eq!(of.text, "Nothing grows: no group is larger at the end than at the start");
        assert_eq!(growth_scale(&series(&[(4000, 5000), (10, 5000)]), Metric::Bytes, NodeId::ROOT, 0), 0);
    }

    #[test]
    fn one_state_tells_the_largest() {
        let of = verdict(&series(&[(3000, 1000)]), Metric::Bytes);
        assert_eq!(of.text, "A is the largest group, 75 % of 4.00 kB. One state tells no growth");
        assert_eq!(verdict(&series(&[(0, 0)]), Metric::Bytes).group, None);
    }
}
