//! Grouping, timelines and reference maps against naive oracles, on random heaps.

use memory_city_analysis::group::{
    self, ByFunction, Cardinality, Classifier, ClassifierMeta, GroupOptions, Grouping, Reads,
};
use memory_city_analysis::timeline::references::reference_map;
use memory_city_analysis::timeline::{Metric, NodeId, TimePoint, Timeline, TimelineBuilder};
use memory_city_formats::JVM;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeId, TypeKind};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const NAMES: [&str; 8] = [
    "com.acme.shop.Cart",
    "com.acme.shop.Item",
    "com.acme.Main",
    "java.util.HashMap$Node[]",
    "byte[]",
    "Main",
    "com.acme.shop",
    "org.one.two.three.Deep",
];

#[derive(Debug, Clone)]
struct Plan {
    /// Type and length of each object.
    objects: Vec<(usize, u32)>,
    references: Vec<(usize, usize)>,
    roots: Vec<usize>,
}

fn plan() -> impl Strategy<Value = Plan> {
    (1usize..60).prop_flat_map(|n| {
        (
            prop::collection::vec((0..NAMES.len(), 0u32..600), n),
            prop::collection::vec((0..n, 0..n), 0..150),
            prop::collection::vec(0..n, 0..6),
        )
            .prop_map(|(objects, references, roots)| Plan { objects, references, roots })
    })
}

fn build(plan: &Plan) -> HeapState {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let types: Vec<TypeId> = NAMES
        .iter()
        .map(|name| {
            let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
            heap.add_type(HeapType { name: (*name).into(), kind, superclass: None, loader: Arc::from("app") })
        })
        .collect();
    for &(t, length) in &plan.objects {
        let array = NAMES[t].ends_with("[]");
        heap.add_object(types[t], 16 + u64::from(length), array.then_some(length));
    }
    for &(from, to) in &plan.references {
        heap.add_reference(ObjectId(from as u32), ObjectId(to as u32));
    }
    for &root in &plan.roots {
        let detail = format!("C.f{root}");
        heap.add_root(Root { object: ObjectId(root as u32), kind: RootKind::Jni, detail });
    }
    heap.finish()
}

/// What the roots reach, step by step.
fn reachable(plan: &Plan) -> BTreeSet<usize> {
    if plan.roots.is_empty() {
        // Nothing is known of roots, so nothing is known to be garbage.
        return (0..plan.objects.len()).collect();
    }
    let mut seen: BTreeSet<usize> = plan.roots.iter().copied().collect();
    loop {
        let more: Vec<usize> =
            plan.references.iter().filter(|(f, t)| seen.contains(f) && !seen.contains(t)).map(|(_, t)| *t).collect();
        if more.is_empty() {
            return seen;
        }
        seen.extend(more);
    }
}

fn all() -> GroupOptions {
    GroupOptions { include_unreachable: true, ..GroupOptions::default() }
}

fn point() -> TimePoint {
    TimePoint { label: "t".into(), ..TimePoint::default() }
}

/// Every node of a timeline as path to amount.
fn flat(timeline: &Timeline, t: usize) -> BTreeMap<String, Amount> {
    timeline.nodes().map(|n| (timeline.path_label(n), timeline.amount(t, n))).filter(|(_, a)| a.objects > 0).collect()
}

/// A value for each bit of the length: one object, many groups; asked for every object.
fn by_bits() -> Arc<dyn Classifier> {
    let meta = ClassifierMeta::new("bits", "Bit")
        .describe("Bits of the length", "3")
        .reads(Reads::SIZE)
        .cardinality(Cardinality::Many);
    Arc::new(ByFunction::new(meta, |object, values| {
        let length = object.size().expect("a size") as u32 - 16;
        bits(length).iter().for_each(|b| values.one(&b.to_string()));
    }))
}

fn bits(length: u32) -> Vec<u32> {
    (0..4).filter(|b| length >> b & 1 == 1).collect()
}

proptest! {
    #[test]
    fn what_is_reachable_is_what_a_naive_search_finds(plan in plan()) {
        let heap = build(&plan);
        let expected = reachable(&plan);
        for o in heap.objects() {
            prop_assert_eq!(heap.is_reachable(o), expected.contains(&(o.0 as usize)));
        }
    }

    #[test]
    fn groups_by_type_and_kind_hold_what_a_naive_count_finds(plan in plan(), include_unreachable: bool) {
        let heap = build(&plan);
        let reached = reachable(&plan);
        let mut expected: BTreeMap<String, Amount> = BTreeMap::new();
        for (i, &(t, length)) in plan.objects.iter().enumerate() {
            if !include_unreachable && !reached.contains(&i) {
                continue;
            }
            let kind = match (NAMES[t].ends_with("[]"), length) {
                (false, _) => "Instance",
                (true, 255..) => "Big array",
                _ => "Small array",
            };
            for path in [
                "Heap".to_owned(),
                format!("Heap › Object kind: {kind}"),
                format!("Heap › Object kind: {kind} › Type: {}", NAMES[t]),
            ] {
                *expected.entry(path).or_default() += Amount { objects: 1, bytes: 16 + u64::from(length) };
            }
        }
        let grouping = group::grouping("kind-type").expect("a grouping");
        let grouped = group::group(&heap, &grouping, GroupOptions { include_unreachable, ..GroupOptions::default() }, &Progress::new()).expect("grouped");
        let timeline = Timeline::from_trees(vec![point()], &[grouped.tree]);
        prop_assert_eq!(flat(&timeline, 0), expected);
    }

    #[test]
    fn an_object_of_many_groups_counts_once_above_them(plan in plan()) {
        let heap = build(&plan);
        let types = group::grouping("type").expect("a grouping");
        let grouping = Grouping::new("test", [vec![by_bits()], types.classifiers.clone()].concat());
        let grouped = group::group(&heap, &grouping, all(), &Progress::new()).expect("grouped");
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for &(t, length) in &plan.objects {
            let bits = bits(length);
            if !bits.is_empty() {
                *expected.entry("Heap".into()).or_default() += 1;
            }
            for b in bits {
                *expected.entry(format!("Heap › Bit: {b}")).or_default() += 1;
                *expected.entry(format!("Heap › Bit: {b} › Type: {}", NAMES[t])).or_default() += 1;
            }
        }
        let timeline = Timeline::from_trees(vec![point()], &[grouped.tree]);
        let got: BTreeMap<String, u64> = flat(&timeline, 0).into_iter().map(|(k, a)| (k, a.objects)).collect();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn a_timeline_keeps_its_promises(plans in prop::collection::vec(plan(), 1..5)) {
        let grouping = group::grouping("package-type").expect("a grouping");
        let mut builder = TimelineBuilder::default();
        let mut trees = Vec::new();
        for plan in &plans {
            let grouped = group::group(&build(plan), &grouping, all(), &Progress::new()).expect("grouped");
            builder.add(point(), &grouped.tree);
            trees.push(grouped.tree);
        }
        let timeline = builder.finish();
        let mut keys = BTreeSet::new();
        for n in timeline.nodes() {
            // Keys are unique and lead back.
            let key = timeline.key(n);
            prop_assert_eq!(timeline.find(&key), Some(n));
            prop_assert!(keys.insert(key));
            if let Some(parent) = timeline.parent(n) {
                prop_assert!(parent < n && timeline.children(parent).contains(&n));
                prop_assert_eq!(timeline.level(n), timeline.level(parent) + 1);
            }
            let column: Vec<Amount> = (0..timeline.times()).map(|t| timeline.amount(t, n)).collect();
            prop_assert_eq!(timeline.max(n).objects, column.iter().map(|a| a.objects).max().unwrap_or(0));
            prop_assert_eq!(timeline.max(n).bytes, column.iter().map(|a| a.bytes).max().unwrap_or(0));
            let growth = column.last().map_or(0, |a| a.bytes as i64) - column.first().map_or(0, |a| a.bytes as i64);
            prop_assert_eq!(timeline.growth(n, Metric::Bytes), growth);
            for (t, amount) in column.iter().enumerate() {
                if !timeline.is_leaf(n) {
                    let sum: u64 = timeline.children(n).iter().map(|&c| timeline.amount(t, c).objects).sum();
                    prop_assert_eq!(sum, amount.objects, "children sum up to their parent");
                }
            }
        }
        for (t, tree) in trees.iter().enumerate() {
            let place = timeline.locate(tree);
            let total: u64 = (0..tree.len()).filter(|&i| (0..tree.len()).all(|k| tree.parent(k) != Some(i))).map(|i| {
                // Every leaf of every tree is found, with its own amount in it.
                let node = place[i].expect("a leaf has its place");
                assert_eq!(timeline.name(node).trim_end_matches(" (Type)"), &**tree.name(i));
                timeline.amount(t, node).objects
            }).sum();
            prop_assert_eq!(total, timeline.amount(t, NodeId::ROOT).objects);
        }
    }

    #[test]
    fn reference_maps_count_both_ends(plan in plan(), pick: prop::sample::Index, with_unreachable: bool) {
        let heap = build(&plan);
        let options = GroupOptions { include_unreachable: with_unreachable, ..GroupOptions::default() };
        let grouped = group::group(&heap, &group::grouping("package-type").expect("a grouping"), options, &Progress::new()).expect("grouped");
        let mut builder = TimelineBuilder::default();
        builder.add(point(), &grouped.tree);
        let timeline = builder.finish();
        let node = NodeId(pick.index(timeline.len()) as u32);
        let map = reference_map(&heap, &grouped, &timeline, node, &Progress::new()).expect("a map");

        let place = timeline.locate(&grouped.tree);
        let leaf = |o: usize| grouped.leaves_of(&heap, ObjectId(o as u32)).first().and_then(|&l| place[l as usize]);
        let inside = |o: usize| leaf(o).is_some_and(|l| timeline.is_within(l, node));
        type Ends = (BTreeSet<usize>, BTreeSet<usize>, u64);
        let mut incoming: BTreeMap<NodeId, Ends> = BTreeMap::new();
        let mut outgoing: BTreeMap<NodeId, Ends> = BTreeMap::new();
        let mut internal = 0;
        for &(from, to) in &plan.references {
            let side = match (inside(from), inside(to)) {
                (true, true) => { internal += 1; continue }
                (false, true) => leaf(from).map(|l| incoming.entry(l).or_default()),
                (true, false) => leaf(to).map(|l| outgoing.entry(l).or_default()),
                _ => None,
            };
            if let Some(ends) = side {
                ends.0.insert(from);
                ends.1.insert(to);
                ends.2 += 1;
            }
        }
        prop_assert_eq!(map.internal, internal);
        for (edges, expected) in [(&map.incoming, incoming), (&map.outgoing, outgoing)] {
            let got: BTreeMap<NodeId, (u64, u64, u64)> = edges.iter().map(|e| (e.other, (e.referencing, e.referenced, e.references))).collect();
            let expected: BTreeMap<NodeId, (u64, u64, u64)> =
                expected.into_iter().map(|(n, e)| (n, (e.0.len() as u64, e.1.len() as u64, e.2))).collect();
            prop_assert_eq!(got, expected);
            prop_assert!(edges.windows(2).all(|w| w[0].referencing >= w[1].referencing), "most referring first");
        }
        let held: u64 = map.roots.iter().map(|(_, n)| n).sum();
        prop_assert_eq!(held, plan.roots.iter().filter(|&&r| inside(r)).count() as u64);
    }
}

#[test]
fn names_that_collide_are_told_apart() {
    // The package com.acme.shop beside a class com.acme.shop.
    let plan = Plan { objects: vec![(0, 0), (2, 0), (6, 0)], references: vec![], roots: vec![0, 1, 2] };
    let heap = build(&plan);
    let grouping = group::grouping("package-type").expect("a grouping");
    let grouped = group::group(&heap, &grouping, all(), &Progress::new()).expect("grouped");
    let timeline = Timeline::from_trees(vec![point()], &[grouped.tree]);
    let labels: Vec<String> = timeline.nodes().map(|n| timeline.path_label(n)).collect();
    assert_eq!(
        labels,
        [
            "Heap",
            "Heap › Package: com.acme",
            "Heap › Package: com.acme › Type: Main",
            "Heap › Package: com.acme › Package: shop (Package)",
            "Heap › Package: com.acme › Type: shop (Type)",
            "Heap › Package: com.acme › Package: shop (Package) › Type: Cart",
        ]
    );
}
