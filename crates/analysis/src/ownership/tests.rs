//! Paths against what their definition says, on random heaps.

use super::anchors::Anchors;
use super::fields::{self, FieldNames};
use super::keeping::{ClassObjects, KeeperGraph};
use super::member_weights::MemberWeights;
use super::paths::{PathEnd, PathLimits, Paths, StepOf, Weighing, paths};
use crate::timeline::Metric;
use memory_city_formats::JVM;
use memory_city_heap::ownership::{Dominators, KeepGraph, KeepRules, ShortestPaths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    Amount, BitSet, HeapBuilder, HeapState, HeapType, ObjectId, ReferenceName, Root, RootKind, Strength, TypeId,
    TypeKind,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What a random heap is made of. The first objects stand for types where `mirrors` says so.
#[derive(Clone, Debug)]
struct RandomHeap {
    type_of: Vec<u32>,
    mirrors: Vec<bool>,
    edges: Vec<(u32, u32)>,
    referents: Vec<(u32, u32)>,
    roots: Vec<(u32, u32)>,
    group: Vec<u32>,
}

const TYPES: u32 = 6;
const RULES: KeepRules =
    KeepRules { soft: true, weak: false, permanent_classes: false, instances_keep_classes: true, passing_roots: true };

fn plans() -> impl Strategy<Value = RandomHeap> {
    (6u32..40).prop_flat_map(|n| {
        (
            prop::collection::vec(0..TYPES, n as usize),
            prop::collection::vec(any::<bool>(), TYPES as usize),
            prop::collection::vec((0..n, 0..n), 0..(2 * n as usize)),
            prop::collection::vec((0..n, 0..n), 0..5),
            prop::collection::vec((0..n, 0..3u32), 1..4),
            prop::collection::vec(0..n, 1..6),
        )
            .prop_map(|(type_of, mirrors, edges, referents, roots, group)| RandomHeap {
                type_of,
                mirrors,
                edges,
                referents,
                roots,
                group,
            })
    })
}

impl RandomHeap {
    fn heap(&self) -> HeapState {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let of =
            |name: String| HeapType { name, kind: TypeKind::Instance, superclass: None, loader: "a loader".into() };
        let class = heap.add_type(of("java.lang.Class".into()));
        let types: Vec<TypeId> = (0..TYPES).map(|t| heap.add_type(of(format!("T{t}")))).collect();
        for (o, &t) in self.type_of.iter().enumerate() {
            let mirror = self.mirrors.get(o).copied().unwrap_or(false);
            heap.add_object(if mirror { class } else { types[t as usize] }, 8 + o as u64, None);
        }
        for t in (0..TYPES as usize).filter(|&t| self.mirrors[t]) {
            heap.set_class_object(types[t], ObjectId(t as u32));
        }
        for (n, &(from, to)) in self.edges.iter().enumerate() {
            heap.add_reference(ObjectId(from), ObjectId(to));
            // Some have names, and some of these are keys and indexes.
            match n % 5 {
                0 => heap.name_reference(&*format!("field{}", to % 2)),
                1 => heap.name_reference(ReferenceName::key(&format!("key{}", to % 3))),
                2 => heap.name_reference(to % 2),
                _ => {}
            }
        }
        for &(from, to) in &self.referents {
            heap.add_referent(ObjectId(from), ObjectId(to), Strength::Weak);
        }
        for &(o, detail) in &self.roots {
            heap.add_root(Root { object: ObjectId(o), kind: RootKind::Thread, detail: format!("thread \"{detail}\"") });
        }
        heap.finish()
    }

    fn group(&self) -> BitSet {
        let mut group = BitSet::new(self.type_of.len());
        self.group.iter().for_each(|&o| {
            group.insert(o);
        });
        group
    }
}

/// Which graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    Shortest,
    Owners,
}

/// Calls `body` with a graph and its edges, found in a plain way.
fn with_graph(heap: &HeapState, which: Which, body: impl FnOnce(&KeeperGraph<'_>, &BTreeSet<(u32, u32)>)) {
    let graph = KeepGraph::new(heap, RULES);
    let progress = Progress::new();
    let shortest = ShortestPaths::new(&graph, None, &progress).expect("not cancelled");
    let owners = Dominators::new(heap, RULES, &progress).expect("not cancelled");
    let weak: Vec<(u32, u32)> = heap.referents().all().iter().map(|r| (r.from.0, r.to.0)).collect();
    let mut edges = BTreeSet::new();
    match which {
        Which::All => {
            for o in heap.objects() {
                for target in heap.references(o) {
                    let count = heap.references(o).iter().filter(|t| *t == target).count();
                    // Another field may hold it, too.
                    if count > weak.iter().filter(|pair| **pair == (o.0, target.0)).count() {
                        edges.insert((o.0, target.0));
                    }
                }
                edges.extend(heap.mirror_of(heap.type_of(o)).map(|class| (o.0, class.0)));
            }
        }
        Which::Shortest => edges.extend(heap.objects().filter_map(|o| Some((shortest.keeper(o)?.0, o.0)))),
        Which::Owners => {
            edges.extend(heap.objects().filter_map(|o| Some((owners.owner(o).or_else(|| shortest.keeper(o))?.0, o.0))))
        }
    }
    let keeping = match which {
        Which::All => KeeperGraph::All(&graph),
        Which::Shortest => KeeperGraph::Shortest(&graph, &shortest),
        Which::Owners => KeeperGraph::Owners(&graph, &owners, &shortest),
    };
    body(&keeping, &edges);
}

/// All that some objects reach, over edges between objects that are inside.
fn reached(from: impl IntoIterator<Item = u32>, edges: &BTreeSet<(u32, u32)>, inside: &HashSet<u32>) -> HashSet<u32> {
    let mut seen: HashSet<u32> = from.into_iter().collect();
    loop {
        let new: Vec<u32> = edges
            .iter()
            .filter(|(from, to)| seen.contains(from) && inside.contains(to) && !seen.contains(to))
            .map(|e| e.1)
            .collect();
        if new.is_empty() {
            return seen;
        }
        seen.extend(new);
    }
}

fn amount(heap: &HeapState, objects: impl IntoIterator<Item = u32>) -> Amount {
    objects.into_iter().fold(Amount::default(), |mut sum, o| {
        sum += Amount { objects: 1, bytes: heap.size_of(ObjectId(o)) };
        sum
    })
}

/// The steps that hold a step.
fn above_of(found: &Paths, at: usize) -> impl Iterator<Item = usize> + '_ {
    (at + 1..found.steps.len()).filter(move |&above| found.steps[above].below == at)
}

/// Every number of every step, from the definition.
fn check(
    heap: &HeapState,
    found: &Paths,
    keeping: &KeeperGraph<'_>,
    edges: &BTreeSet<(u32, u32)>,
    plan: &RandomHeap,
    least: u64,
) {
    let group: HashSet<u32> = plan.group.iter().copied().collect();
    let class_objects = ClassObjects::new(heap);
    let anchors = Anchors::new(keeping.graph());
    // A class that a root holds is not looked for by way of its instances: they make no difference.
    let roots = keeping.graph().roots();
    let refers = |from: u32, to: u32| {
        let mut found = false;
        keeping.graph().kept(ObjectId(from), |target| found |= target == ObjectId(to));
        found
    };
    let by_instance = |from: u32, to: u32| {
        heap.mirror_of(heap.type_of(ObjectId(from))) == Some(ObjectId(to))
            && !refers(from, to)
            && roots.contains(&ObjectId(to))
    };
    let in_group = |seen: HashSet<u32>| amount(heap, seen.intersection(&group).copied());
    let key = |o: u32| match class_objects.type_of(ObjectId(o)) {
        Some(_) => StepOf::Class(ObjectId(o)),
        None => StepOf::Type(heap.type_of(ObjectId(o))),
    };
    let field = |from, to| {
        let names = heap.names(&[(ObjectId(from), ObjectId(to))], &Progress::new()).expect("not cancelled");
        // Elements and entries are alike, whichever they are.
        match &names[0] {
            Some(fields::StepName::Field(field)) => field.clone(),
            Some(_) => "[*]".to_owned(),
            None => String::new(),
        }
    };
    let roots_of = |o: u32| {
        let mut all = Vec::new();
        anchors.of(ObjectId(o), |_, text| all.push(text));
        all
    };
    for (at, step) in found.steps.iter().enumerate() {
        // The way down: what lies on it, and the types.
        let mut inside = group.clone();
        inside.extend(found.steps[0].again.iter().filter(|_| at != 0).map(|o| o.0));
        let mut types = BTreeSet::new();
        let mut below = at;
        while below != 0 {
            let on_the_way = &found.steps[below];
            inside.extend(on_the_way.objects.iter().map(|o| o.0));
            if below != at {
                inside.extend(on_the_way.again.iter().map(|o| o.0));
            }
            types.insert(on_the_way.of);
            below = on_the_way.below;
        }
        // What comes back to these types.
        let mut walked: BTreeSet<u32> = step.objects.iter().map(|o| o.0).collect();
        let mut again = BTreeSet::new();
        if keeping.has_one_keeper_each() {
            // What lies between two objects that are inside.
            let everything: HashSet<u32> = (0..plan.type_of.len() as u32).collect();
            let below =
                |o: u32| reached(edges.iter().filter(|edge| edge.0 == o).map(|edge| edge.1), edges, &everything);
            let is_between = |o: &u32| {
                !inside.contains(o)
                    && below(*o).iter().any(|b| inside.contains(b))
                    && inside.iter().any(|i| below(*i).contains(o))
            };
            again = everything.iter().copied().filter(is_between).collect();
            inside.extend(&again);
            walked.extend(&again);
        }
        let mut above: BTreeMap<(StepOf, String), BTreeSet<(u32, u32)>> = BTreeMap::new();
        loop {
            let before = again.len();
            for &(from, to) in edges.iter().filter(|(from, to)| walked.contains(to) && !inside.contains(from)) {
                if by_instance(from, to) {
                    continue;
                }
                if matches!(key(from), StepOf::Type(_)) && types.contains(&key(from)) {
                    again.insert(from);
                } else {
                    above.entry((key(from), field(from, to))).or_default().insert((from, to));
                }
            }
            inside.extend(&again);
            walked.extend(&again);
            if again.len() == before {
                break;
            }
        }
        assert_eq!(step.again.iter().map(|o| o.0).collect::<BTreeSet<u32>>(), again);
        // The way down from an object of the step is by its references to the step below.
        let begins = |held: &[u32]| -> Vec<u32> {
            let of_step = |o: &u32| at != 0 && step.objects.contains(&ObjectId(*o));
            let targets = step.references.iter().filter(|(from, _)| held.contains(&from.0)).map(|(_, to)| to.0);
            targets.chain(held.iter().copied().filter(|o| !of_step(o))).collect()
        };
        for root in &step.roots {
            let held = walked.iter().copied().filter(|&o| roots_of(o).contains(&root.text));
            let held: Vec<u32> = held.collect();
            assert_eq!(root.held, held.len() as u64);
            assert_eq!(root.reached, in_group(reached(begins(&held), edges, &inside)));
        }
        let all: BTreeSet<String> = walked.iter().flat_map(|&o| roots_of(o)).collect();
        assert_eq!(step.roots.iter().map(|r| r.text.clone()).collect::<BTreeSet<_>>(), all);
        let held: Vec<u32> = walked.iter().copied().filter(|&o| !roots_of(o).is_empty()).collect();
        let by_roots = in_group(reached(begins(&held), edges, &inside));
        let mut left = above.clone();
        for above_at in above_of(found, at) {
            let above_step = &found.steps[above_at];
            let first = above_step.references[0];
            let references = left.remove(&(above_step.of, field(first.0.0, first.1.0))).expect("it was one of them");
            let objects: BTreeSet<u32> = references.iter().map(|r| r.0).collect();
            assert_eq!(above_step.objects.iter().map(|o| o.0).collect::<BTreeSet<_>>(), objects);
            assert_eq!(above_step.reference_count, references.len() as u64);
            assert_eq!(above_step.reached, in_group(reached(references.iter().map(|r| r.1), edges, &inside)));
            assert!(above_step.reached.objects >= least);
        }
        // What was never a step was not asked for its fields.
        let kinds: BTreeSet<StepOf> = left.keys().map(|key| key.0).collect();
        assert!(
            (kinds.len()..=left.len()).contains(&(step.left_out.0 as usize)),
            "{} of {kinds:?} {left:?}",
            step.left_out.0
        );
        if by_roots.objects >= step.reached.objects && by_roots.objects > 0 {
            assert_eq!(step.end, PathEnd::Roots);
            assert_eq!(above_of(found, at).count(), 0);
        } else {
            for references in left.values() {
                let reach = in_group(reached(references.iter().map(|r| r.1), edges, &inside));
                assert!(reach.objects < least, "nothing of weight is left out");
            }
        }
    }
}

const ALL: PathLimits = PathLimits { share: 0, steps: 100_000, only_strongest: false, by_field: true };

fn by<'a>(bytes: bool) -> Weighing<'a> {
    if bytes { Weighing::Bytes } else { Weighing::Objects }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn steps_are_what_their_definition_says(plan in plans(), share in 0u64..70, which in 0usize..3) {
        let heap = plan.heap();
        let group = plan.group();
        let least = (group.count() as u64 * share).div_ceil(100).max(1);
        with_graph(&heap, [Which::All, Which::Shortest, Which::Owners][which], |keeping, edges| {
            let found = paths(keeping, &group, PathLimits { share, steps: 3_000, ..ALL }, Weighing::Objects, &heap, &Progress::new());
            let found = found.expect("not cancelled");
            assert!(found.steps.len() <= 3_001, "steps are bounded, whatever the heap");
            if found.steps.len() <= 3_000 {
                check(&heap, &found, keeping, edges, &plan, least);
            }
            // What objects keep counts as they do: a way is followed for either.
            let owners = Dominators::new(&heap, RULES, &Progress::new()).expect("a tree");
            let kept = MemberWeights::new(&group, &owners, &Progress::new()).expect("not cancelled");
            let nearest = |o: u32| {
                let mut up = std::iter::successors(owners.owner(ObjectId(o)), |&up| owners.owner(up));
                up.find(|up| group.contains(up.0))
            };
            let retained = |o: u32| owners.retained(ObjectId(o)).bytes;
            let own = |o: u32| {
                let below = group.iter().filter(|&other| nearest(other) == Some(ObjectId(o)));
                retained(o) - below.map(retained).sum::<u64>()
            };
            assert!(group.iter().all(|o| kept.of(ObjectId(o)) == own(o)));
            assert_eq!(kept.total, group.iter().map(own).sum::<u64>());
            let limits = PathLimits { share, steps: 3_000, by_field: false, ..ALL };
            let by_kept = paths(keeping, &group, limits, Weighing::Kept(&kept), &heap, &Progress::new()).expect("not cancelled");
            if by_kept.steps.len() <= 3_000 {
                let least_kept = (kept.total * share).div_ceil(100).max(1);
                assert_eq!(by_kept.steps[0].keeps, kept.total);
                for step in &by_kept.steps[1..] {
                    assert!(step.reached.objects >= least || step.keeps >= least_kept);
                    let roots_keep = step.roots.iter().map(|root| root.keeps).max().unwrap_or(0);
                    assert!(step.keeps.max(roots_keep) <= kept.total);
                }
                // The ways that are followed without, and more.
                let plain = paths(keeping, &group, limits, Weighing::Objects, &heap, &Progress::new()).expect("not cancelled");
                let all_of = |found: &Paths| -> BTreeSet<(StepOf, Vec<ObjectId>, u64)> {
                    found.steps.iter().map(|step| (step.of, step.objects.clone(), step.reached.objects)).collect()
                };
                assert!(plain.steps.len() > 3_000 || all_of(&plain).is_subset(&all_of(&by_kept)));
            }
            // At a fork the chain takes the way through which most is reached, by what is measured.
            for by_bytes in [false, true] {
                let weight = |step: &super::paths::MergedStep| step.reached.measured(by_bytes);
                // Chains are found without fields.
                let (limits, weighing) = (PathLimits { steps: 3_000, by_field: false, ..ALL }, by(by_bytes));
                let all = paths(keeping, &group, limits, weighing, &heap, &Progress::new()).expect("not cancelled");
                let chain = paths(keeping, &group, PathLimits { only_strongest: true, ..limits }, weighing, &heap, &Progress::new());
                let chain = chain.expect("not cancelled");
                if all.steps.len() <= 3_000 && let Some(first) = chain.steps.get(1) {
                    assert_eq!(Some(weight(first)), above_of(&all, 0).map(|at| weight(&all.steps[at])).max());
                }
            }
        });
    }

    /// A chain adds up from below what a tree of paths finds by going down again: they say the same of each step.
    #[test]
    fn chains_reach_what_trees_of_paths_reach(plan in plans(), which in 0usize..3, by_bytes: bool) {
        let heap = plan.heap();
        let group = plan.group();
        with_graph(&heap, [Which::All, Which::Shortest, Which::Owners][which], |keeping, _| {
            let (limits, weighing) = (PathLimits { steps: 3_000, by_field: false, ..ALL }, by(by_bytes));
            let all = paths(keeping, &group, limits, weighing, &heap, &Progress::new()).expect("not cancelled");
            let chain = paths(keeping, &group, PathLimits { only_strongest: true, ..limits }, weighing, &heap, &Progress::new());
            let chain = chain.expect("not cancelled");
            if all.steps.len() > 3_000 {
                return;
            }
            let mut at = 0;
            for step in &chain.steps[1..] {
                let Some(same) = above_of(&all, at).find(|&above| all.steps[above].of == step.of) else {
                    // A tree ends where roots reach all; a chain goes on where more is reached through a recursion.
                    assert_eq!(all.steps[at].end, PathEnd::Roots);
                    return;
                };
                let other = &all.steps[same];
                assert_eq!((step.reached, &step.objects, &step.again), (other.reached, &other.objects, &other.again));
                at = same;
            }
        });
    }

    /// Of one object that a root reaches, a way up to a root is always found.
    #[test]
    fn the_way_to_a_root_is_found(plan in plans(), o: prop::sample::Index, which in 0usize..3) {
        let plan = RandomHeap { group: vec![o.index(plan.type_of.len()) as u32], ..plan };
        let heap = plan.heap();
        let group = plan.group();
        with_graph(&heap, [Which::All, Which::Shortest, Which::Owners][which], |keeping, edges| {
            let limits = PathLimits { steps: 3_000, ..ALL };
            let found = paths(keeping, &group, limits, Weighing::Objects, &heap, &Progress::new()).expect("not cancelled");
            let everything: HashSet<u32> = (0..plan.type_of.len() as u32).collect();
            let live = reached(plan.roots.iter().map(|r| r.0), edges, &everything);
            let found_root = found.steps.iter().flat_map(|s| &s.roots).any(|root| root.reached.objects == 1);
            if found.steps.len() <= 3_000 {
                assert_eq!(found_root, live.contains(&plan.group[0]));
            }
            // The strongest of the ways is one of them.
            let chain = paths(keeping, &group, PathLimits { only_strongest: true, ..limits }, Weighing::Objects, &heap, &Progress::new());
            let chain = chain.expect("not cancelled");
            for at in 1..chain.steps.len() {
                assert_eq!(chain.steps[at].below, at - 1);
            }
        });
    }
}

/// A heap of some types without class objects; a root holds the first object.
fn small(types: &[&str], objects: &[usize], edges: &[(u32, u32)]) -> HeapState {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let ids: Vec<TypeId> = types
        .iter()
        .map(|name| {
            heap.add_type(HeapType {
                name: (*name).into(),
                kind: TypeKind::Instance,
                superclass: None,
                loader: "bootstrap".into(),
            })
        })
        .collect();
    objects.iter().for_each(|&t| {
        heap.add_object(ids[t], 16, None);
    });
    edges.iter().for_each(|&(from, to)| heap.add_reference(ObjectId(from), ObjectId(to)));
    heap.add_root(Root { object: ObjectId(0), kind: RootKind::StaticField, detail: "Registry.all".into() });
    heap.finish()
}

/// A thread and a variable of its outermost method hold the same object: the thread says more.
#[test]
fn of_roots_that_hold_equally_much_threads_come_first() {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let kind = TypeKind::Instance;
    let of = heap.add_type(HeapType { name: "T".into(), kind, superclass: None, loader: "app".into() });
    heap.add_object(of, 16, None);
    for (kind, detail) in [(RootKind::LocalVariable, "thread \"a\", Thread.run()"), (RootKind::Thread, "thread \"a\"")]
    {
        heap.add_root(Root { object: ObjectId(0), kind, detail: detail.into() });
    }
    let heap = heap.finish();
    let mut group = BitSet::new(1);
    group.insert(0);
    let (graph, progress) = (KeepGraph::new(&heap, RULES), Progress::new());
    let found =
        paths(&KeeperGraph::All(&graph), &group, ALL, Weighing::Objects, &heap, &progress).expect("not cancelled");
    let kinds: Vec<RootKind> = found.steps[0].roots.iter().map(|root| root.kind).collect();
    assert_eq!(kinds, [RootKind::Thread, RootKind::LocalVariable]);
    let shortest = ShortestPaths::new(&graph, Some(&group), &progress).expect("paths");
    let keeping = KeeperGraph::Shortest(&graph, &shortest);
    for by_bytes in [false, true] {
        let mut tops = super::roots::Tops::new(&heap);
        let roots = super::roots::keeping_roots(&keeping, &[ObjectId(0)], &mut tops, by_bytes, &progress);
        let kinds: Vec<RootKind> = roots.expect("not cancelled").iter().map(|root| root.kind).collect();
        assert_eq!(kinds, [RootKind::Thread, RootKind::LocalVariable]);
    }
}

/// A list of many nodes, each with an element: as many steps as there are types, however long it is.
#[test]
fn a_long_list_is_two_steps() {
    const NODES: u32 = 200_000;
    // The list, the nodes, the elements.
    let objects: Vec<usize> = (0..1 + 2 * NODES).map(|o| if o == 0 { 0 } else { 1 + usize::from(o > NODES) }).collect();
    let next = (0..NODES).map(|node| (node, node + 1));
    let elements = (1..=NODES).map(|node| (node, node + NODES));
    let heap = small(&["List", "Node", "Element"], &objects, &next.chain(elements).collect::<Vec<_>>());
    let mut group = BitSet::new(objects.len());
    (NODES + 1..=2 * NODES).for_each(|o| {
        group.insert(o);
    });
    for which in [Which::All, Which::Shortest, Which::Owners] {
        let graph = KeepGraph::new(&heap, RULES);
        let progress = Progress::new();
        let shortest = ShortestPaths::new(&graph, Some(&group), &progress).expect("paths");
        let owners = Dominators::new(&heap, RULES, &progress).expect("a tree");
        let keeping = match which {
            Which::All => KeeperGraph::All(&graph),
            Which::Shortest => KeeperGraph::Shortest(&graph, &shortest),
            Which::Owners => KeeperGraph::Owners(&graph, &owners, &shortest),
        };
        let found = paths(&keeping, &group, ALL, Weighing::Objects, &heap, &progress).expect("not cancelled");
        let names = found.steps.iter().map(|s| match s.of {
            StepOf::Type(t) => heap.types()[t.0 as usize].name.to_string(),
            _ => "the group".to_owned(),
        });
        assert_eq!(names.collect::<Vec<_>>(), ["the group", "Node", "List"], "{which:?}");
        let list = &found.steps[2];
        assert_eq!((list.objects.len(), list.reached.objects, list.end), (1, u64::from(NODES), PathEnd::Roots));
        assert_eq!(list.roots[0].text, "Static field: Registry.all");
        assert_eq!(list.roots[0].reached.objects, u64::from(NODES));
        assert_eq!(found.steps[1].objects.len(), NODES as usize);
    }
}

proptest! {
    /// Over several times each object is in a building of its own owners' city: those of a group around others in one beside these,
    /// which is there only where there are others.
    #[test]
    fn groups_around_others_have_buildings_of_their_own(plans in prop::collection::vec(plans(), 1..4)) {
        let heaps: Vec<HeapState> = plans.iter().map(RandomHeap::heap).collect();
        let grouping = crate::group::grouping("owner").expect("a grouping");
        let group = |heap| crate::group::group(heap, &grouping, Default::default(), &Progress::new()).expect("grouped");
        let grouped: Vec<_> = heaps.iter().map(group).collect();
        let trees: Vec<_> = grouped.iter().map(|grouped| grouped.tree.clone()).collect();
        let timeline = crate::timeline::Timeline::from_trees(vec![Default::default(); trees.len()], &trees);
        for metric in [Metric::Objects, Metric::Bytes] {
            prop_assert_eq!(timeline.beside_leaves(metric), vec![0; trees.len()]);
        }
        let itself = |node| timeline.parent(node).is_some_and(|above| {
            crate::group::is_own_name(timeline.name(node), timeline.name(above))
        });
        for node in timeline.nodes().filter(|&node| itself(node)) {
            let above = timeline.parent(node).expect("a parent");
            prop_assert!(timeline.is_leaf(node) && timeline.children(above).len() > 1, "{}", timeline.key(node));
        }
        for ((heap, grouped), t) in heaps.iter().zip(&grouped).zip(0..) {
            let place = timeline.locate(&grouped.tree);
            let mut counted = vec![Amount::default(); timeline.len()];
            for o in heap.objects() {
                for &leaf in grouped.leaves_of(heap, o) {
                    let node = place[leaf as usize].expect("a node");
                    prop_assert!(timeline.is_leaf(node), "{}", timeline.key(node));
                    counted[node.index()] += Amount { objects: 1, bytes: heap.size_of(o) };
                }
            }
            for node in timeline.nodes().filter(|&node| timeline.is_leaf(node)) {
                prop_assert_eq!(counted[node.index()], timeline.amount(t, node), "{}", timeline.key(node));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    /// A group keeps those objects that have one of its own above them, whatever else lies between.
    #[test]
    fn owners_are_ranked_by_what_has_them_above(plan in plans(), by_bytes: bool) {
        let heap = plan.heap();
        let progress = Progress::new();
        let grouping = crate::group::grouping("type").expect("a grouping");
        let options = crate::group::GroupOptions { include_unreachable: true, ..Default::default() };
        let grouped = crate::group::group(&heap, &grouping, options, &progress).expect("grouped");
        let trees = std::slice::from_ref(&grouped.tree);
        let timeline = crate::timeline::Timeline::from_trees(vec![Default::default()], trees);
        let place = timeline.locate(&grouped.tree);
        let node_of = |o: u32| place[grouped.leaves_of(&heap, ObjectId(o))[0] as usize].expect("a node");
        let members: BTreeSet<u32> = plan.group.iter().copied().collect();
        let mut group = memory_city_heap::BitSet::new(heap.object_count());
        members.iter().for_each(|&o| {
            group.insert(o);
        });
        let (mut checked, mut ranked) = (Ok(()), Vec::new());
        with_graph(&heap, Which::Owners, |keeping, edges| {
            match super::ranking::ranked_owners(keeping, &grouped, &place, &group, by_bytes, &progress) {
                Ok(found) => ranked = found,
                Err(error) => checked = Err(error.to_string()),
            }
            let above = |o: u32| edges.iter().find(|(_, to)| *to == o).map(|(from, _)| *from);
            let mut expected: BTreeMap<_, (Amount, u32)> = BTreeMap::new();
            for &o in &members {
                let mut counted = BTreeSet::new();
                for (steps, owner) in (1u32..).zip(std::iter::successors(above(o), |&o| above(o))) {
                    let (keeps, distance) = expected.entry(node_of(owner)).or_insert((Amount::default(), u32::MAX));
                    *distance = steps.min(*distance);
                    if counted.insert(node_of(owner)) {
                        *keeps += Amount { objects: 1, bytes: heap.size_of(ObjectId(o)) };
                    }
                }
            }
            let found: BTreeMap<_, _> = ranked.iter().map(|owner| (owner.node, (owner.keeps, owner.distance))).collect();
            if found != expected {
                checked = Err(format!("{found:?} for {expected:?}"));
            }
        });
        prop_assert!(checked.is_ok(), "{:?}", checked);
        let weight = |amount: Amount| amount.measured(by_bytes);
        prop_assert!(ranked.windows(2).all(|pair| weight(pair[0].keeps) >= weight(pair[1].keeps)));
    }
}

/// What an object of a step keeps by a way that joined later is reached through it, too: the last step reaches all of the group.
#[test]
fn what_joins_a_chain_later_counts_further_down_too() {
    // Z, C, A1, A2, A3, B1, B2, three of the group: C keeps A1 and B2, A1 keeps one of the group and B1.
    let edges = [(0, 1), (1, 2), (1, 6), (2, 7), (2, 5), (5, 3), (3, 8), (6, 4), (4, 9)];
    let heap = small(&["Z", "C", "A", "B", "G"], &[0, 1, 2, 2, 2, 3, 3, 4, 4, 4], &edges);
    let mut group = BitSet::new(10);
    (7..10).for_each(|o| _ = group.insert(o));
    for which in [Which::Shortest, Which::Owners] {
        with_graph(&heap, which, |keeping, _| {
            let limits = PathLimits { only_strongest: true, by_field: false, ..ALL };
            let found =
                paths(keeping, &group, limits, Weighing::Objects, &heap, &Progress::new()).expect("not cancelled");
            let reached: Vec<u64> = found.steps.iter().map(|step| step.reached.objects).collect();
            // A, with B1 between two of them; then C, through which B2 and what that keeps is reached as well; then Z.
            assert_eq!(reached, [3, 3, 2, 3]);
        });
    }
}

/// Of a thousand sessions one keeps nearly all: the way to it is followed however few objects are on it.
#[test]
fn the_way_to_what_keeps_most_is_followed() {
    const SESSIONS: u32 = 1000;
    // A registry with all but the last, a cache with that one, and an attribute of the last.
    let (last, attribute) = (1 + SESSIONS, 2 + SESSIONS);
    let mut heap = HeapBuilder::with_profile(&JVM);
    for name in ["Registry", "Cache", "Session", "byte[]"] {
        let kind = TypeKind::Instance;
        heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() });
    }
    for o in 0..=attribute {
        let (of, size) = match o {
            0 | 1 => (o, 24),
            o if o == attribute => (3, 1 << 20),
            _ => (2, 24),
        };
        heap.add_object(TypeId(of), size, None);
    }
    let edges = (2..last).map(|session| (0, session)).chain([(1, last), (last, attribute)]);
    edges.for_each(|(from, to)| heap.add_reference(ObjectId(from), ObjectId(to)));
    for (object, detail) in [(0, "Registry.all"), (1, "Cache.last")] {
        heap.add_root(Root { object: ObjectId(object), kind: RootKind::StaticField, detail: detail.into() });
    }
    let heap = heap.finish();
    let mut group = BitSet::new(heap.object_count());
    (2..=last).for_each(|o| _ = group.insert(o));
    let (graph, progress) = (KeepGraph::new(&heap, RULES), Progress::new());
    let owners = Dominators::new(&heap, RULES, &progress).expect("a tree");
    let kept = MemberWeights::new(&group, &owners, &progress).expect("not cancelled");
    let limits = PathLimits { share: 5, ..ALL };
    let followed = |weighing| {
        let found =
            paths(&KeeperGraph::All(&graph), &group, limits, weighing, &heap, &progress).expect("not cancelled");
        let name = |step: &super::paths::MergedStep| match step.of {
            StepOf::Type(t) => heap.types()[t.0 as usize].name.to_string(),
            _ => "the group".to_owned(),
        };
        (found.steps.iter().map(name).collect::<Vec<_>>().join(", "), found.steps[0].left_out.0)
    };
    assert_eq!(followed(Weighing::Objects), ("the group, Registry".to_owned(), 1));
    // It keeps a megabyte, and the others 24 bytes each.
    assert_eq!(followed(Weighing::Kept(&kept)), ("the group, Registry, Cache".to_owned(), 0));
}
