//! Test: a timeline written as JSON reads back the same.

use super::super::{Form, write};
use super::{read_text, shown};
use crate::group::MemoryTree;
use crate::timeline::all_references::{HeldByRoot, ReferencePair, TimeReferences};
use crate::timeline::references::{Edge, ReferenceMap};
use crate::timeline::{GcKind, GcPoint, NodeId, SampledPart, TimePoint, Timeline};
use memory_city_heap::Amount;
use memory_city_heap::progress::Progress;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Places of a tree: for each node its parent among those before, role and name.
type Shape = Vec<(prop::sample::Index, String, String)>;

fn name() -> impl Strategy<Value = String> {
    // Few names, so that nodes meet; and any characters at all.
    prop_oneof![3 => "[ab#\\\\]{0,2}", 2 => any::<String>(), 1 => Just("a (b)".to_owned()), 1 => Just("\u{0}\"\n\u{2028}".to_owned())]
}

fn tree(shape: &Shape, counts: &[(u32, u32)], overlapping: bool) -> MemoryTree {
    let mut tree = MemoryTree::new();
    let mut ids = vec![0];
    for (i, (parent, role, name)) in shape.iter().enumerate() {
        let parent = ids[parent.index(ids.len())];
        let id = tree.child(parent, &Arc::from(role.as_str()), &Arc::from(name.as_str()));
        let (objects, bytes) = counts[i % counts.len()];
        let amount = Amount { objects: u64::from(objects), bytes: u64::from(bytes) };
        let other = ids[(i * 7) % ids.len()];
        if overlapping {
            tree.add_up(&[id as u32, other as u32], amount)
        } else {
            tree.add_up(&[id as u32], amount)
        }
        ids.push(id);
    }
    tree
}

fn collections() -> impl Strategy<Value = GcPoint> {
    let kind = prop_oneof![Just(GcKind::Minor), Just(GcKind::Major)];
    (any::<u32>(), kind, any::<bool>(), any::<String>(), 0..9u64, any::<bool>(), prop::option::of(0..9u64)).prop_map(
        |(number, kind, one_pause, cause, duration, end, freed)| GcPoint {
            number,
            kind,
            one_pause,
            cause,
            duration,
            end,
            freed,
        },
    )
}

fn timelines() -> impl Strategy<Value = Timeline> {
    let shape = prop::collection::vec((any::<prop::sample::Index>(), "[ab]?", name()), 0..40);
    let counts = prop::collection::vec((0..5u32, 0..900u32), 1..9);
    let of_samples = prop::option::of((0..9u64, 9..99u64));
    let time = (any::<String>(), 0..4u64, 0..2u64, shape, counts, prop::option::of(collections()), of_samples);
    (prop::collection::vec(time, 1..5), any::<bool>()).prop_map(|(times, overlapping)| {
        let mut millis = 0;
        let mut points = Vec::new();
        let mut trees = Vec::new();
        let known = times.first().is_some_and(|t| t.1 > 0);
        for (label, later, unreachable, shape, counts, gc, of_samples) in times {
            millis += later;
            let unreachable = Amount { objects: unreachable, bytes: unreachable * 16 };
            let sampled = of_samples.map(|(samples, objects)| SampledPart { samples, objects });
            points.push(TimePoint { label, millis: if known { millis } else { 0 }, gc, unreachable, sampled });
            trees.push(tree(&shape, &counts, overlapping));
        }
        Timeline::from_trees(points, &trees)
    })
}

fn written(timeline: &Timeline, form: Form) -> Vec<u8> {
    let mut out = Vec::new();
    write(timeline, None, form, &mut out, Path::new("out.json"), &Progress::new()).unwrap();
    out
}

proptest! {
    #[test]
    fn the_same_timeline(timeline in timelines(), lines: bool) {
        let form = if lines { Form::Lines } else { Form::Document };
        let text = written(&timeline, form);
        let again = read_text(text.clone()).unwrap();
        prop_assert_eq!(again.timeline.points(), timeline.points());
        prop_assert_eq!(shown(&again.timeline), shown(&timeline), "{}", String::from_utf8_lossy(&text));
        prop_assert!(again.warnings.is_empty(), "{:?}", again.warnings);
        prop_assert_eq!(written(&again.timeline, form), text);
    }

    /// Timestamps tell the order, whatever the order of the lines.
    #[test]
    fn the_same_timeline_from_lines_in_any_order(
        timeline in timelines(),
        keys in prop::collection::vec(any::<u32>(), 5),
    ) {
        let text = String::from_utf8(written(&timeline, Form::Lines)).unwrap();
        let mut lines: Vec<(u32, usize, String)> = text.split_inclusive('\n').zip(&keys).enumerate()
            .map(|(t, (line, &key))| {
                let value = format!("\"version\":1,\"timestamp\":{},", t + 1);
                let known = line.find(",\"timestamp\":").map(|at| {
                    let end = at + 1 + line[at + 1..].find(",\"").unwrap();
                    format!("{}{}", &line[..at], &line[end..])
                });
                (key, t, known.unwrap_or(line.to_owned()).replacen("\"version\":1,", &value, 1))
            })
            .collect();
        let read = |lines: &[(u32, usize, String)]| {
            let text: String = lines.iter().map(|l| l.2.as_str()).collect();
            read_text(text).unwrap()
        };
        let straight = read(&lines);
        lines.sort();
        let shuffled = read(&lines);
        prop_assert_eq!(shown(&straight.timeline), shown(&shuffled.timeline));
        for node in straight.timeline.nodes() {
            prop_assert_eq!(straight.timeline.max(node), shuffled.timeline.max(node));
        }
        let sorted = lines.is_sorted_by_key(|l| l.1);
        prop_assert_eq!(shuffled.warnings.is_empty(), sorted, "{:?}", shuffled.warnings);
    }

    /// A naive reader agrees: serde_json's values, walked.
    #[test]
    fn the_same_as_read_naively(timeline in timelines()) {
        let text = written(&timeline, Form::Document);
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        for (t, time) in value["times"].as_array().unwrap().iter().enumerate() {
            let mut open = vec![(&time["tree"], NodeId::ROOT)];
            let mut seen = 0;
            while let Some((value, node)) = open.pop() {
                let amount = timeline.amount(t, node);
                prop_assert_eq!(value["name"].as_str(), Some(timeline.name(node)));
                prop_assert_eq!(value["role"].as_str(), Some(timeline.role(node)));
                prop_assert_eq!(value["objects"].as_u64(), Some(amount.objects));
                prop_assert_eq!(value["bytes"].as_u64(), Some(amount.bytes));
                seen += usize::from(amount != Amount::default());
                for child in value["children"].as_array().into_iter().flatten() {
                    let is_child = |c: &&NodeId| Some(timeline.name(**c)) == child["name"].as_str();
                    open.push((child, *timeline.children(node).iter().find(is_child).unwrap()));
                }
            }
            prop_assert_eq!(seen, timeline.nodes().filter(|n| timeline.amount(t, *n) != Amount::default()).count());
        }
    }

    /// References survive, whatever the keys look like.
    #[test]
    fn the_same_references(
        timeline in timelines(),
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..9u64, 1..9u64, 0..9u64), 0..20),
    ) {
        let leaves: Vec<NodeId> = timeline.nodes().filter(|n| timeline.is_leaf(*n)).collect();
        let mut edges = std::collections::BTreeMap::new();
        for (from, to, referencing, referenced, more) in pairs {
            let (from, to) = (*from.get(&leaves), *to.get(&leaves));
            let edge = Edge { other: to, referencing, referenced, references: referencing.max(referenced) + more };
            if timeline.amount(0, from) != Amount::default() && from != to {
                edges.insert((from, to), edge);
            }
        }
        let roots = leaves.iter().map(|&node| HeldByRoot { node, root: timeline.name(node).to_owned(), objects: 3 });
        let pairs = edges.iter().map(|(&(from, to), e)| {
            ReferencePair { from, to, referencing: e.referencing, referenced: e.referenced, references: e.references }
        });
        let all = TimeReferences { pairs: pairs.collect(), roots: roots.collect() };
        let map = |node: NodeId| {
            let mut outgoing: Vec<Edge> = edges.iter().filter(|((f, _), _)| *f == node).map(|(_, e)| *e).collect();
            let mut incoming: Vec<Edge> =
                edges.iter().filter(|((_, to), _)| *to == node).map(|((f, _), e)| Edge { other: *f, ..*e }).collect();
            for list in [&mut outgoing, &mut incoming] {
                list.sort_by(|a, b| (b.referencing, b.referenced).cmp(&(a.referencing, a.referenced)).then(a.other.cmp(&b.other)));
            }
            ReferenceMap { incoming, outgoing, internal: 0, weak: (0, 0), roots: vec![(timeline.name(node).to_owned(), 3)] }
        };
        let mut out = Vec::new();
        let ask = |t: usize| Ok((t == 0).then(|| all.clone()));
        write(&timeline, Some(&ask), Form::Lines, &mut out, Path::new("out"), &Progress::new()).unwrap();
        let again = read_text(out).unwrap();
        for &leaf in leaves.iter().filter(|l| timeline.amount(0, **l) != Amount::default()) {
            prop_assert_eq!(again.references(0, leaf), Some(map(leaf)));
        }
        prop_assert!(again.references(1, NodeId::ROOT).is_none());
        prop_assert_eq!(again.time_references(0), Some(all.clone()));
    }
}
