//! Queries of references, from the pairs in the input.

use super::diagnostics::Note;
use super::fields::shortened;
use super::maps::{RawMaps, RawPair};
use super::scalars::ABSENT;
use super::totals::Totals;
use crate::timeline::all_references::{HeldByRoot, ReferencePair, TimeReferences};
use crate::timeline::builder::Keys;
use crate::timeline::key::NodeId;
use crate::timeline::metric::Metric;
use crate::timeline::nodes::Timeline;
use crate::timeline::references::{Edge, ReferenceMap};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The references of all times. A pair is kept once, and found from both ends.
#[derive(Debug, Default)]
pub(super) struct JsonReferences {
    times: Vec<Option<TimeMaps>>,
    /// Descriptions of GC roots.
    texts: Vec<Arc<str>>,
}

#[derive(Debug, Default)]
struct TimeMaps {
    /// By the referring group, then by the other.
    pairs: Vec<ReferencePair>,
    /// The same pairs by the group that is referred to.
    by_target: Vec<u32>,
    /// Group, text and objects, by group.
    roots: Vec<(u32, u32, u64)>,
}

impl JsonReferences {
    /// Finds the groups of pairs. Pairs with an unknown name are left out and counted.
    pub(super) fn resolve(
        maps: Vec<(usize, Arc<RawMaps>)>,
        timeline: &Timeline,
        keys: &Keys,
        totals: &mut Totals,
        progress: &Progress,
    ) -> Result<JsonReferences> {
        let mut groups: Vec<Option<Option<u32>>> = vec![None; totals.groups.len()];
        let mut times = Vec::with_capacity(maps.len());
        for (time, (file, raw)) in maps.into_iter().enumerate() {
            progress.check()?;
            if !raw.given {
                times.push(None);
                continue;
            }
            let mut node = |symbol: u32, totals: &mut Totals| {
                let text = totals.groups.text(symbol);
                let find = || keys.find.get(text).copied().or_else(|| timeline.find(text)).map(|n| n.0);
                let found = *groups[symbol as usize].get_or_insert_with(find);
                if found.is_none() {
                    let text = shortened(text, 120);
                    totals.note_in(file, Note::UnknownGroup, || format!("{text:?}"));
                }
                found
            };
            let mut pairs: Vec<RawPair> = raw.pairs.clone();
            pairs.retain_mut(|pair| match (node(pair.from, totals), node(pair.to, totals)) {
                (Some(from), Some(to)) => {
                    (pair.from, pair.to) = (from, to);
                    true
                }
                _ => false,
            });
            let mut roots = raw.roots.clone();
            roots.retain_mut(|root| node(root.0, totals).map(|n| root.0 = n).is_some());
            roots.sort_unstable_by_key(|&(node, text, objects)| (node, text, std::cmp::Reverse(objects)));
            roots.dedup_by_key(|&mut (node, text, _)| (node, text));
            let pairs = merged(pairs, timeline, time, |note, pair| {
                let key = |n: NodeId| shortened(&timeline.key(n), 120);
                totals.note_in(file, note, || format!("from {:?} to {:?}", key(pair.from), key(pair.to)));
            });
            let mut by_target: Vec<u32> = (0..pairs.len() as u32).collect();
            by_target.sort_unstable_by_key(|&i| (pairs[i as usize].to, i));
            times.push(Some(TimeMaps { pairs, by_target, roots }));
        }
        Ok(JsonReferences { times, texts: totals.groups.texts() })
    }

    /// Whether any time has references.
    pub fn is_empty(&self) -> bool {
        self.times.iter().all(Option::is_none)
    }

    /// The references to and from a node. For a district its whole content is the group: an object that refers to several groups in it may
    /// be counted several times, but the sum never exceeds the number of objects.
    pub fn of(&self, timeline: &Timeline, time: usize, node: NodeId) -> Option<ReferenceMap> {
        let maps = self.times.get(time)?.as_ref()?;
        let mut map = ReferenceMap::default();
        let mut incoming: FxHashMap<NodeId, Edge> = FxHashMap::default();
        let mut outgoing: FxHashMap<NodeId, Edge> = FxHashMap::default();
        let mut take = |pair: &ReferencePair, from_here: bool, to_here: bool| {
            if from_here != to_here && is_weak(timeline, pair) {
                let count = if to_here { &mut map.weak.0 } else { &mut map.weak.1 };
                *count = count.saturating_add(pair.references);
                return;
            }
            let (sums, other) = match (from_here, to_here) {
                (true, true) => {
                    map.internal = map.internal.saturating_add(pair.references);
                    return;
                }
                (true, false) => (&mut outgoing, pair.to),
                (false, true) => (&mut incoming, pair.from),
                (false, false) => return,
            };
            let none = Edge { other, referencing: 0, referenced: 0, references: 0 };
            let sum = sums.entry(other).or_insert(none);
            sum.referencing = sum.referencing.saturating_add(pair.referencing);
            sum.referenced = sum.referenced.saturating_add(pair.referenced);
            sum.references = sum.references.saturating_add(pair.references);
        };
        let leaf = timeline.is_leaf(node);
        if leaf {
            let start = maps.pairs.partition_point(|p| p.from < node);
            let from = maps.pairs[start..].iter().take_while(|p| p.from == node);
            from.for_each(|pair| take(pair, true, pair.to == node));
            let target = |i: &u32| &maps.pairs[*i as usize];
            let start = maps.by_target.partition_point(|i| target(i).to < node);
            let to = maps.by_target[start..].iter().map(target).take_while(|p| p.to == node);
            to.filter(|p| p.from != node).for_each(|pair| take(pair, false, true));
        } else {
            let inside = inside(timeline, node);
            for pair in &maps.pairs {
                take(pair, inside[pair.from.index()], inside[pair.to.index()]);
            }
        }
        let objects = |n: NodeId| timeline.value(time, n, Metric::Objects);
        let here = objects(node);
        let list = |sums: FxHashMap<NodeId, Edge>, to_here: bool| {
            let mut edges: Vec<Edge> = sums.into_values().collect();
            for edge in edges.iter_mut().filter(|_| !leaf) {
                let there = objects(edge.other);
                let (from, to) = if to_here { (there, here) } else { (here, there) };
                edge.referencing = edge.referencing.min(from.max(1));
                edge.referenced = edge.referenced.min(to.max(1));
            }
            edges.sort_unstable_by(|a, b| {
                (b.referencing, b.referenced).cmp(&(a.referencing, a.referenced)).then(a.other.cmp(&b.other))
            });
            edges
        };
        let (incoming, outgoing) = (list(incoming, true), list(outgoing, false));
        let roots = self.roots(maps, timeline, node);
        Some(ReferenceMap { incoming, outgoing, internal: map.internal, weak: map.weak, roots })
    }

    /// All that is known of a time.
    pub fn time(&self, time: usize) -> Option<TimeReferences> {
        let maps = self.times.get(time)?.as_ref()?;
        let held = |&(node, text, objects): &(u32, u32, u64)| HeldByRoot {
            node: NodeId(node),
            root: self.texts[text as usize].to_string(),
            objects,
        };
        let mut roots: Vec<HeldByRoot> = maps.roots.iter().map(held).collect();
        roots.sort_unstable_by(|a, b| (a.node, &a.root).cmp(&(b.node, &b.root)));
        Some(TimeReferences { pairs: maps.pairs.clone(), roots })
    }

    fn roots(&self, maps: &TimeMaps, timeline: &Timeline, node: NodeId) -> Vec<(String, u64)> {
        let mut sums: FxHashMap<u32, u64> = FxHashMap::default();
        let inside = (!timeline.is_leaf(node)).then(|| inside(timeline, node));
        let is_here = |n: u32| inside.as_ref().map_or(n == node.0, |inside| inside[n as usize]);
        for &(_, text, objects) in maps.roots.iter().filter(|r| is_here(r.0)) {
            let sum = sums.entry(text).or_default();
            *sum = sum.saturating_add(objects);
        }
        let mut roots: Vec<(String, u64)> =
            sums.into_iter().map(|(text, objects)| (self.texts[text as usize].to_string(), objects)).collect();
        roots.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        roots
    }
}

/// The nodes that are `top` or below it.
fn inside(timeline: &Timeline, top: NodeId) -> Vec<bool> {
    let mut inside = vec![false; timeline.len()];
    inside[top.index()] = true;
    // Parents come before children.
    for node in timeline.nodes().skip(top.index() + 1) {
        inside[node.index()] = timeline.parent(node).is_some_and(|p| inside[p.index()]);
    }
    inside
}

/// Merges the numbers of several maps for the same two groups.
fn merged(
    mut raw: Vec<RawPair>,
    timeline: &Timeline,
    time: usize,
    mut note: impl FnMut(Note, &ReferencePair),
) -> Vec<ReferencePair> {
    raw.sort_unstable_by_key(|p| (p.from, p.to));
    let mut pairs = Vec::with_capacity(raw.len());
    for same in raw.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
        let mut contradiction = false;
        let mut largest = |of: fn(&RawPair) -> u64| {
            let mut given = same.iter().map(of).filter(|&n| n != ABSENT);
            let first = given.next()?;
            Some(given.fold(first, |a, b| {
                contradiction |= a != b;
                a.max(b)
            }))
        };
        let (referencing, referenced) = (largest(|p| p.referencing), largest(|p| p.referenced));
        let references = largest(|p| p.references);
        let objects = |n: u32| timeline.amount(time, NodeId(n)).objects.max(1);
        let (from, to) = (same[0].from, same[0].to);
        let one = referencing.is_none() || referenced.is_none();
        let ends = match (referencing, referenced) {
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => (a, a.min(objects(to))),
            (None, Some(b)) => (b.min(objects(from)), b),
            (None, None) => continue,
        };
        let references = references.unwrap_or(ends.0.max(ends.1));
        let (from, to) = (NodeId(from), NodeId(to));
        let pair = ReferencePair { from, to, referencing: ends.0, referenced: ends.1, references };
        if contradiction {
            note(Note::Contradiction, &pair);
        }
        if one && from != to {
            note(Note::OneNumber, &pair);
        }
        pairs.push(pair);
    }
    pairs
}

/// True if the references of a pair are those of weak reference objects to what they may lose.
fn is_weak(timeline: &Timeline, pair: &ReferencePair) -> bool {
    let any = |node: NodeId, is: &dyn Fn(&str) -> bool| {
        std::iter::successors(Some(node), |&n| timeline.parent(n)).any(|n| is(timeline.name(n)))
    };
    let known = &timeline.profile().types;
    let is_reference = |name: &str| known.references.iter().any(|package| name.starts_with(package));
    any(pair.from, &|name| known.weak.contains(&name)) && !any(pair.to, &is_reference)
}
