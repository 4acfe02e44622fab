//! Growth in two runs by group, where owners are not known: the largest change between them, and whether the growth of the first goes on in
//! the second. The sentence says whether a fix works.
//!
//! Growth is from the first point in time of a run to the compared one. As in [`verdict`](crate::analyses::verdict()), growth below 1 % of
//! the largest heap of a run is not reported.

use crate::analyses::change;
use crate::analyses::verdict::WORD_FLOOR;
use crate::tabular::bytes_text;
use crate::timeline::{Metric, NodeId, Timeline};
use std::cmp::Reverse;

/// The fate of the first run's growth in the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrowthOutcome {
    /// What grew in the first run does not grow in the second.
    Fixed,
    /// It grows less there, by a tenth at least.
    Less,
    /// It grows there as well.
    Remains,
    /// It grows more there, by a tenth at least.
    Worse,
    /// It grows in the second run alone.
    New,
    /// Nothing grows in either.
    NoGrowth,
    /// It could not be judged: a run is damaged, has one point in time alone, or is of another program.
    Unknown,
}

impl GrowthOutcome {
    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            GrowthOutcome::Fixed => "fixed",
            GrowthOutcome::Less => "less",
            GrowthOutcome::Remains => "still there",
            GrowthOutcome::Worse => "worse",
            GrowthOutcome::New => "new",
            GrowthOutcome::NoGrowth => "no growth",
            GrowthOutcome::Unknown => "unknown",
        }
    }
}

/// The result of a comparison of two runs, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsOutcome {
    /// The fate of the growth; of several places the worst.
    pub outcome: GrowthOutcome,
    /// It in words, without a full stop; of several places, the worst.
    pub text: String,
    /// The same of further places, a sentence each.
    pub more: Vec<String>,
    /// The key of the group that it is about; in both runs the same.
    pub group: Option<String>,
}

/// Growth of the second run below this share of that of the first is less of it; growth as far above it is more.
pub(super) const LESS: f64 = 0.9;

/// Something that grows.
struct Grown {
    /// The same in both runs.
    key: String,
    name: String,
    bytes: i64,
}

/// A run until where it is compared, by the groups of its timeline.
#[derive(Clone, Copy)]
struct RunUntil<'t> {
    timeline: &'t Timeline,
    point: usize,
}

impl RunUntil<'_> {
    /// The growth of the group with this key, bytes; 0 without such a group.
    fn growth(&self, key: &str) -> i64 {
        self.timeline.find(key).map_or(0, |node| self.growth_of(node))
    }

    fn growth_of(&self, node: NodeId) -> i64 {
        self.timeline.growth_until(self.point, node, Metric::Bytes)
    }

    /// The least growth worth a word.
    fn floor(&self) -> i64 {
        let heap = |t: usize| self.timeline.value(t, NodeId::ROOT, Metric::Bytes);
        floor_of((0..=self.point).map(heap).max().unwrap_or(0))
    }

    /// The largest growth, if it is worth reporting.
    fn most(&self) -> Option<Grown> {
        let leaves = self.timeline.nodes().filter(|&node| self.timeline.is_leaf(node));
        let (Reverse(bytes), node) = leaves.map(|node| (Reverse(self.growth_of(node)), node)).min()?;
        let grown = || Grown { key: self.timeline.key(node), name: self.timeline.display_name(node), bytes };
        (bytes >= self.floor()).then(grown)
    }
}

/// The least growth worth a word where the heap has so many bytes.
pub(super) fn floor_of(heap: u64) -> i64 {
    ((heap as f64 * WORD_FLOOR).ceil() as i64).max(1)
}

pub(super) fn bytes(growth: i64) -> String {
    bytes_text(growth.unsigned_abs())
}

/// Looks at two runs until their `points`; `alive` has both as its two points in time.
pub(super) fn of_runs(runs: [&Timeline; 2], points: [usize; 2], alive: &Timeline) -> RunsOutcome {
    let [a, b] = [0, 1].map(|side| RunUntil { timeline: runs[side], point: points[side] });
    let differs = most_changed(alive);
    if points.contains(&0) {
        let text = differs.as_ref().map_or("Nothing differs".to_owned(), |(_, text)| text.clone());
        return RunsOutcome {
            outcome: GrowthOutcome::Unknown,
            text: format!("{text}. {ONE_POINT}"),
            more: Vec::new(),
            group: differs.map(|(key, _)| key),
        };
    }
    let most_of_b = b.most();
    let Some(Grown { key, name, bytes: grew }) = a.most() else {
        let (outcome, text, group) = match (most_of_b, differs) {
            (Some(grown), _) => {
                let (name, by) = (grown.name, bytes(grown.bytes));
                let text = format!(
                    "{name} grows by {by} in the second run: new, in the first nothing grows by 1 % of the heap"
                );
                (GrowthOutcome::New, text, Some(grown.key))
            }
            (None, Some((key, text))) => {
                (GrowthOutcome::NoGrowth, format!("Nothing grows by 1 % of the heap in either run. {text}"), Some(key))
            }
            (None, None) => {
                let text = "Nothing grows by 1 % of the heap in either run, and nothing differs".to_owned();
                (GrowthOutcome::NoGrowth, text, None)
            }
        };
        return RunsOutcome { outcome, text, more: Vec::new(), group };
    };
    let grows = b.growth(&key);
    let (outcome, second) = match grows as f64 / grew.max(1) as f64 {
        _ if grows <= 0 => (GrowthOutcome::Fixed, "not at all in the second: fixed".to_owned()),
        of_first if grows < b.floor() && of_first < LESS => {
            (GrowthOutcome::Fixed, format!("by {} in the second, less than 1 % of the heap: fixed", bytes(grows)))
        }
        of_first => {
            let (outcome, words) = judged(of_first, LESS);
            (outcome, format!("by {} in the second: {words}", bytes(grows)))
        }
    };
    let mut text = format!("{name} grew by {} in the first run, {second}", bytes(grew));
    // What is fixed at one place may come again at another.
    if let Some(other) = most_of_b.filter(|other| other.key != key) {
        let (by, before) = (bytes(other.bytes), bytes(a.growth(&other.key).max(0)));
        text.push_str(&format!(". In the second {} grows most: by {by} ({before} in the first)", other.name));
    } else if let Some((_, what)) = differs.filter(|(changed, _)| *changed != key) {
        text.push_str(&format!(". {what}"));
    }
    RunsOutcome { outcome, text, more: Vec::new(), group: Some(key) }
}

/// Why growth is not compared.
pub(super) const ONE_POINT: &str =
    "Growth cannot be told: one of the runs has no point in time before the one that is compared";

/// The outcome of growth that goes on, by its share of what it was, and in words. `less`: a smaller share is less.
pub(super) fn judged(of_first: f64, less: f64) -> (GrowthOutcome, String) {
    match of_first {
        _ if of_first < less => (GrowthOutcome::Less, format!("{:.0} % less, but not gone", 100.0 * (1.0 - of_first))),
        _ if of_first <= 1.0 / less => (GrowthOutcome::Remains, "still there".to_owned()),
        _ => (GrowthOutcome::Worse, format!("{of_first:.1} times as much")),
    }
}

/// The group whose bytes differ most, its key and a sentence; none that differs by less than 1 % of the heap.
pub(super) fn most_changed(alive: &Timeline) -> Option<(String, String)> {
    let value = |t: usize, node| alive.value(t, node, Metric::Bytes);
    let differs = |node: NodeId| change(value(0, node), value(1, node));
    let leaves = alive.nodes().filter(|&node| alive.is_leaf(node));
    let (Reverse(most), node) = leaves.map(|node| (Reverse(differs(node).unsigned_abs()), node)).min()?;
    let sentence = || {
        let sign = if differs(node) < 0 { "-" } else { "+" };
        format!(
            "{} changed most: {sign}{}, {} in the first run and {} in the second",
            alive.display_name(node),
            bytes_text(most),
            bytes_text(value(0, node)),
            bytes_text(value(1, node))
        )
    };
    let floor = floor_of(value(0, NodeId::ROOT).max(value(1, NodeId::ROOT)));
    (most >= floor as u64).then(|| (alive.key(node), sentence()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::MemoryTree;
    use crate::timeline::{Amount, TimePoint};

    fn tree(groups: &[(&str, u64)]) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for &(name, bytes) in groups {
            let node = tree.child(0, &"Type".into(), &name.into()) as u32;
            tree.add_up(&[node], Amount { objects: 1, bytes });
        }
        tree
    }

    /// Groups of one level, by their bytes at each point in time.
    fn run(groups: &[(&'static str, &[u64])]) -> Timeline {
        let times = groups[0].1.len();
        let at = |t: usize| groups.iter().map(|(name, bytes)| (*name, bytes[t])).collect::<Vec<_>>();
        let trees: Vec<MemoryTree> = (0..times).map(|t| tree(&at(t))).collect();
        Timeline::from_trees(vec![TimePoint::default(); times], &trees)
    }

    fn told(a: &[(&'static str, &[u64])], b: &[(&'static str, &[u64])]) -> RunsOutcome {
        let runs = [run(a), run(b)];
        let points = [a[0].1.len() - 1, b[0].1.len() - 1];
        let last = |groups: &[(&'static str, &[u64])]| -> Vec<(&'static str, u64)> {
            groups.iter().map(|(name, bytes)| (*name, *bytes.last().expect("a time"))).collect()
        };
        let trees = [last(a), last(b)].map(|groups| tree(&groups));
        let alive = Timeline::from_trees(vec![TimePoint::default(); 2], &trees);
        of_runs([&runs[0], &runs[1]], points, &alive)
    }

    const MB: u64 = 1_000_000;

    #[test]
    fn the_sentence_says_whether_growth_is_gone() {
        let leak: &[(&'static str, &[u64])] =
            &[("Cache", &[MB, 10 * MB, 19 * MB]), ("Other", &[9 * MB, 9 * MB, 9 * MB])];
        let cases: [(&[u64], GrowthOutcome, &str); 5] = [
            (&[MB, MB, MB], GrowthOutcome::Fixed, "not at all in the second: fixed"),
            (&[2 * MB, MB, MB], GrowthOutcome::Fixed, "not at all in the second: fixed"),
            (&[MB, MB, MB + 50_000], GrowthOutcome::Fixed, "less than 1 % of the heap: fixed"),
            (&[MB, 5 * MB, 10 * MB], GrowthOutcome::Less, "50 % less, but not gone"),
            (&[MB, 10 * MB, 19 * MB], GrowthOutcome::Remains, "still there"),
        ];
        for (second, outcome, words) in cases {
            let found = told(leak, &[("Cache", second), ("Other", &[9 * MB, 9 * MB, 9 * MB])]);
            assert_eq!(found.outcome, outcome, "{}", found.text);
            assert!(
                found.text.starts_with("Cache grew by 17 MB") || found.text.starts_with("Cache grew by 18"),
                "{}",
                found.text
            );
            assert!(found.text.contains(words), "{}", found.text);
            assert_eq!(found.group.as_deref(), Some("Heap#Cache"));
        }
    }

    #[test]
    fn what_leaks_elsewhere_after_the_fix_is_named() {
        let found =
            told(&[("Cache", &[MB, 19 * MB]), ("List", &[MB, MB])], &[("Cache", &[MB, MB]), ("List", &[MB, 12 * MB])]);
        assert_eq!(found.outcome, GrowthOutcome::Fixed);
        assert!(found.text.contains("In the second List grows most"), "{}", found.text);
    }

    #[test]
    fn runs_without_growth_say_what_differs() {
        let found = told(&[("A", &[MB, MB])], &[("A", &[2 * MB, 2 * MB])]);
        assert_eq!(found.outcome, GrowthOutcome::NoGrowth);
        assert!(found.text.contains("A changed most: +"), "{}", found.text);
        let new = told(&[("A", &[MB, MB])], &[("A", &[MB, 9 * MB])]);
        assert_eq!((new.outcome, new.group.as_deref()), (GrowthOutcome::New, Some("Heap#A")));
        let one = told(&[("A", &[MB])], &[("A", &[MB, 9 * MB])]);
        assert_eq!(one.outcome, GrowthOutcome::Unknown);
        let same = told(&[("A", &[MB, MB])], &[("A", &[MB, MB])]);
        assert_eq!((same.outcome, same.group), (GrowthOutcome::NoGrowth, None));
    }
}
