//! Boxes, arrows and ways against plain sets of objects, on random heaps; and the source's examples.

use super::*;
use crate::group::{ByFunction, Cardinality, Classifier, ClassifierMeta, GroupOptions, Grouping, Reads, group};
use crate::timeline::TimePoint;
use crate::timeline::references::reference_map;
use memory_city_formats::JVM;
use memory_city_heap::ownership::ObjectClosures;
use memory_city_heap::{HeapBuilder, HeapType, Root, TypeId, TypeKind};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
struct GraphPlan {
    /// By object: its type; and a second group where it has one.
    objects: Vec<(u8, Option<u8>)>,
    edges: Vec<(u32, u32)>,
    roots: Vec<(u32, RootKind)>,
}

type Set = BTreeSet<u32>;

fn plans(second: bool) -> impl Strategy<Value = GraphPlan> {
    (2u32..40).prop_flat_map(move |n| {
        let other = if second { prop::option::of(0u8..4).boxed() } else { Just(None).boxed() };
        let kind = prop_oneof![Just(RootKind::Jni), Just(RootKind::LocalVariable), Just(RootKind::Thread)];
        (
            prop::collection::vec((0u8..4, other), n as usize),
            prop::collection::vec((0..n, 0..n), 0..(2 * n as usize)),
            prop::collection::vec((0..n, kind), 1..5),
        )
            .prop_map(|(objects, edges, roots)| GraphPlan { objects, edges, roots })
    })
}

impl GraphPlan {
    fn heap(&self) -> HeapState {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let of = |t: u8| HeapType {
            name: format!("T{t}"),
            kind: TypeKind::Instance,
            superclass: None,
            loader: "app".into(),
        };
        let types: Vec<TypeId> = (0..4).map(|t| heap.add_type(of(t))).collect();
        for &(t, second) in &self.objects {
            heap.add_object(types[usize::from(t)], 16 + 8 * second.map_or(0, |s| 1 + u64::from(s)), None);
        }
        self.edges.iter().for_each(|&(from, to)| heap.add_reference(ObjectId(from), ObjectId(to)));
        for &(o, kind) in &self.roots {
            heap.add_root(Root { object: ObjectId(o), kind, detail: format!("C.f{o}") });
        }
        heap.finish()
    }

    fn reach(&self, from: Set, allowed: impl Fn(u32) -> bool, cut: impl Fn(u32, u32) -> bool) -> Set {
        let mut seen = from;
        loop {
            let more: Vec<u32> = self
                .edges
                .iter()
                .filter(|&&(f, t)| seen.contains(&f) && !seen.contains(&t) && allowed(t) && !cut(f, t))
                .map(|&(_, t)| t)
                .collect();
            if more.is_empty() {
                return seen;
            }
            seen.extend(more);
        }
    }

    fn live(&self) -> Set {
        self.reach(self.roots.iter().map(|r| r.0).collect(), |_| true, |_, _| false)
    }

    /// Objects at which ways end.
    fn held(&self) -> Set {
        let lasting: Set = self.roots.iter().filter(|r| r.1 != RootKind::LocalVariable).map(|r| r.0).collect();
        let reached = self.reach(lasting.clone(), |_| true, |_, _| false);
        let passing: Set = self.roots.iter().map(|r| r.0).filter(|o| !reached.contains(o)).collect();
        // Of variables, those that no other leads to by way of the rest, unless it leads back.
        let leads = |by: u32, to: u32| {
            let from = Set::from_iter([by]);
            self.reach(from, |_| true, |f, t| passing.contains(&f) && passing.contains(&t)).contains(&to)
        };
        let is_top = |o: u32| passing.iter().all(|&by| !leads(by, o) || leads(o, by));
        lasting.iter().copied().chain(passing.iter().copied().filter(|&o| is_top(o))).collect()
    }

    /// All ways to some objects, those that live.
    fn ways(&self, to: &Set) -> Set {
        let (held, live) = (self.held(), self.live());
        let mut seen = to.clone();
        loop {
            let goes = |&&(f, t): &&(u32, u32)| {
                seen.contains(&t) && !held.contains(&t) && !seen.contains(&f) && live.contains(&f)
            };
            let more: Vec<u32> = self.edges.iter().filter(goes).map(|&(f, _)| f).collect();
            if more.is_empty() {
                return seen;
            }
            seen.extend(more);
        }
    }
}

/// By type, and by a second group that some objects have.
fn grouping() -> Grouping {
    let meta = ClassifierMeta::new("two", "Group")
        .describe("One group or two", "T1")
        .reads(Reads::TYPE.union(Reads::SIZE))
        .cardinality(Cardinality::Many);
    let two: Arc<dyn Classifier> = Arc::new(ByFunction::new(meta, |object, values| {
        values.one(object.type_name());
        let second = (object.size().unwrap_or(16) - 16) / 8;
        if second > 0 {
            let name = format!("T{}", second - 1);
            if name != object.type_name() {
                values.one(&name);
            }
        }
    }));
    Grouping::new("two", vec![two])
}

struct GraphSetting {
    heap: Arc<HeapState>,
    grouped: Arc<Grouped>,
    timeline: Arc<Timeline>,
}

impl GraphSetting {
    fn new(plan: &GraphPlan) -> GraphSetting {
        let heap = Arc::new(plan.heap());
        let options = GroupOptions::default();
        let grouped = Arc::new(group(&heap, &grouping(), options, &Progress::new()).expect("groups"));
        let timeline = Timeline::from_trees(vec![TimePoint::default()], std::slice::from_ref(&grouped.tree));
        let timeline = Arc::new(timeline);
        GraphSetting { heap, grouped, timeline }
    }

    fn graph(&self, selected: &[NodeId], limits: GraphLimits) -> ObjectGraph {
        let (heap, grouped, timeline) = (Arc::clone(&self.heap), Arc::clone(&self.grouped), Arc::clone(&self.timeline));
        ObjectGraph::of(heap, grouped, timeline, selected, KeepRules::default(), limits, &Progress::new())
            .expect("a graph")
    }

    fn leaves(&self) -> Vec<NodeId> {
        self.timeline.nodes().filter(|&n| self.timeline.is_leaf(n) && n != NodeId::ROOT).collect()
    }
}

/// What is true of every graph: boxes are disjoint, arrows are what their objects say, nothing is lost.
fn check(plan: &GraphPlan, graph: &ObjectGraph) {
    let shown = graph.graph();
    let mut seen = Set::new();
    let sets: Vec<Set> = (0..shown.boxes.len()).map(|b| graph.objects(b).iter().map(|o| o.0).collect()).collect();
    for (b, set) in sets.iter().enumerate() {
        assert!(!set.is_empty() && set.iter().all(|&o| seen.insert(o)), "no object is in two boxes: {sets:?}");
        assert!(set.iter().all(|&o| graph.box_of(ObjectId(o)) == Some(b)));
        assert_eq!(shown.boxes[b].amount.objects, set.len() as u64);
        let out = plan.edges.iter().filter(|(f, _)| set.contains(f)).count() as u64;
        let into = plan.edges.iter().filter(|(_, t)| set.contains(t)).count() as u64;
        let told = |fits: &dyn Fn(&&GraphArrow) -> bool| -> u64 {
            shown.arrows.iter().filter(fits).map(|a| a.references).sum()
        };
        let of = &shown.boxes[b];
        assert_eq!(told(&|a| a.from == b) + of.internal + of.beyond, out);
        assert_eq!(told(&|a| a.to == b) + of.internal + of.before, into);
    }
    let mut pairs = BTreeMap::new();
    for (a, from) in sets.iter().enumerate() {
        for (b, to) in sets.iter().enumerate().filter(|(b, _)| *b != a) {
            let all: Vec<_> = plan.edges.iter().filter(|(f, t)| from.contains(f) && to.contains(t)).collect();
            let ends = |end: fn(&(u32, u32)) -> u32| all.iter().map(|e| end(e)).collect::<Set>().len() as u64;
            if !all.is_empty() {
                pairs.insert((a, b), (ends(|e| e.0), ends(|e| e.1), all.len() as u64));
            }
        }
    }
    let told: BTreeMap<_, _> =
        shown.arrows.iter().map(|a| ((a.from, a.to), (a.referencing, a.referenced, a.references))).collect();
    assert_eq!(told, pairs);
    for root in &shown.roots {
        let of: Vec<_> =
            plan.roots.iter().filter(|(o, k)| k.title() == root.kind && sets[root.held].contains(o)).collect();
        assert_eq!(root.roots, of.len() as u64);
        assert_eq!(root.objects, Some(of.iter().map(|r| r.0).collect::<Set>().len() as u64));
        assert_eq!(root.places.iter().map(|p| p.1).sum::<u64>(), root.roots);
    }
    let held: u64 = shown.roots.iter().map(|r| r.roots).sum();
    assert_eq!(held, plan.roots.iter().filter(|r| seen.contains(&r.0)).count() as u64);
}

const MANY: GraphLimits = GraphLimits { boxes_a_step: 100, rounds: 100 };

proptest! {
    /// What cones show of a group, its box shows: objects at both ends, references, roots.
    #[test]
    fn numbers_are_those_of_reference_maps(plan in plans(false), which in any::<prop::sample::Index>()) {
        let setting = GraphSetting::new(&plan);
        let leaves = setting.leaves();
        prop_assume!(!leaves.is_empty());
        let node = *which.get(&leaves);
        let progress = Progress::new();
        let map = reference_map(&setting.heap, &setting.grouped, &setting.timeline, node, &progress).expect("a map");
        let mut graph = setting.graph(&[node], MANY);
        graph.points_to(0, &progress).expect("a step");
        let first = graph.graph().clone();
        let of = |arrow: &GraphArrow, other: usize| {
            (first.boxes[other].groups[0], (arrow.referencing, arrow.referenced, arrow.references))
        };
        let told: BTreeMap<_, _> = first.arrows.iter().filter(|a| a.from == 0).map(|a| of(a, a.to)).collect();
        let expected: BTreeMap<_, _> =
            map.outgoing.iter().map(|e| (e.other, (e.referencing, e.referenced, e.references))).collect();
        prop_assert_eq!(told, expected);
        prop_assert_eq!(first.boxes[0].internal, map.internal);
        // Each added box is what the group refers to, and nothing else.
        for (b, added) in first.boxes.iter().enumerate().skip(1) {
            let arrow = first.arrows.iter().find(|a| (a.from, a.to) == (0, b)).expect("an arrow");
            prop_assert_eq!(arrow.referenced, added.amount.objects);
        }
        let mut graph = setting.graph(&[node], MANY);
        graph.pointed_from(0, &progress).expect("a step");
        let shown = graph.graph();
        let told: BTreeMap<_, _> = shown
            .arrows
            .iter()
            .filter(|a| a.to == 0)
            .map(|a| (shown.boxes[a.from].groups[0], (a.referencing, a.referenced, a.references)))
            .collect();
        let expected: BTreeMap<_, _> =
            map.incoming.iter().map(|e| (e.other, (e.referencing, e.referenced, e.references))).collect();
        prop_assert_eq!(told, expected);
        let mut places: Vec<(String, u64)> =
            shown.roots.iter().filter(|r| r.held == 0).flat_map(|r| r.places.clone()).collect();
        places.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        prop_assert_eq!(places, map.roots);
    }

    /// Whatever is done, in whatever order, with few boxes or many.
    #[test]
    fn no_object_is_in_two_boxes(
        plan in plans(true),
        steps in prop::collection::vec((0u8..5, any::<prop::sample::Index>()), 0..8),
        few in 2usize..5,
        rounds in 0usize..4,
    ) {
        let setting = GraphSetting::new(&plan);
        let leaves = setting.leaves();
        prop_assume!(!leaves.is_empty());
        let selected = &leaves[..leaves.len().min(2)];
        let mut graph = setting.graph(selected, GraphLimits { boxes_a_step: few, rounds });
        let first = graph.members.clone();
        check(&plan, &graph);
        let progress = Progress::new();
        for (what, which) in steps {
            let of = which.index(graph.graph().boxes.len());
            match what {
                0 => graph.points_to(of, &progress),
                1 => graph.pointed_from(of, &progress),
                2 => graph.paths_to_roots(of, None, &progress),
                3 => graph.paths_to_roots(of, Some(5), &progress),
                _ => graph.unfold(of, &progress),
            }
            .expect("a step");
            check(&plan, &graph);
            prop_assert_eq!(&graph.members[..first.len()], &first[..], "what was selected stays");
        }
    }

    /// All ways, however many boxes they are put into; and what they hold.
    #[test]
    fn ways_lead_to_roots(plan in plans(false), limits in prop_oneof![Just(MANY), Just(GraphLimits { boxes_a_step: 2, rounds: 1 })]) {
        let setting = GraphSetting::new(&plan);
        let leaves = setting.leaves();
        prop_assume!(!leaves.is_empty());
        let mut graph = setting.graph(&leaves[..1], limits);
        let progress = Progress::new();
        graph.paths_to_roots(0, None, &progress).expect("ways");
        check(&plan, &graph);
        let of: Set = graph.objects(0).iter().map(|o| o.0).collect();
        let shown: Set = (0..).zip(&graph.box_of).filter(|(_, b)| **b != NO_BOX).map(|(o, _)| o).collect();
        prop_assert_eq!(&shown, &plan.ways(&of));
        // Over each arrow what it leads to, through boxes; over roots together everything.
        let held = graph.held_over(0, &progress).expect("held");
        let closures = ObjectClosures::new(&setting.heap, KeepRules::default(), &progress).expect("closures");
        for (i, arrow) in graph.graph().arrows.iter().enumerate() {
            let side = |b: usize| graph.objects(b).iter().map(|o| o.0).collect::<Set>();
            let (from, to) = (side(arrow.from), side(arrow.to));
            let along = |f: u32, t: u32| from.contains(&f) && to.contains(&t);
            let ends: Set = plan.edges.iter().filter(|e| along(e.0, e.1)).map(|e| e.1).collect();
            let reached = plan.reach(ends, |o| shown.contains(&o), |_, _| false);
            prop_assert_eq!(held.arrows[i], reached.intersection(&of).count() as u64);
            let roots: Set = plan.roots.iter().map(|r| r.0).collect();
            let left = plan.reach(roots, |_| true, along);
            let alone = graph.held_alone(&closures, i, 0, &progress).expect("alone");
            prop_assert_eq!(alone, of.difference(&left).count() as u64);
            prop_assert!(alone <= held.arrows[i]);
        }
        prop_assert_eq!(held.objects, of.len() as u64);
        prop_assert!(held.roots.iter().sum::<u64>() >= held.objects);
    }
}

fn plan(objects: &[u8], edges: &[(u32, u32)], roots: &[(u32, RootKind)]) -> GraphPlan {
    GraphPlan { objects: objects.iter().map(|&t| (t, None)).collect(), edges: edges.to_vec(), roots: roots.to_vec() }
}

/// A refers to 1, 2, 3 and B to 1, 4, 5, all of one type: what both refer to is a box of its own.
#[test]
fn what_two_boxes_share_is_a_box_of_its_own() {
    let edges = [(0, 1), (0, 2), (0, 3), (6, 1), (6, 4), (6, 5)];
    let plan = plan(&[0, 2, 2, 2, 2, 2, 1], &edges, &[(0, RootKind::Thread), (6, RootKind::Thread)]);
    let setting = GraphSetting::new(&plan);
    let node = |name: &str| setting.timeline.find(&format!("Heap#{name}")).expect(name);
    let mut graph = setting.graph(&[node("T0"), node("T1")], GraphLimits::default());
    graph.points_to(0, &Progress::new()).expect("a step");
    assert_eq!(graph.graph().boxes.len(), 3);
    graph.points_to(1, &Progress::new()).expect("a step");
    check(&plan, &graph);
    let mut of_type: Vec<Vec<u32>> =
        (2..graph.graph().boxes.len()).map(|b| graph.objects(b).iter().map(|o| o.0).collect()).collect();
    of_type.sort();
    assert_eq!(of_type, [vec![1], vec![2, 3], vec![4, 5]]);
}

/// Two static lists hold the same products, one over two arrays, the other over ten (the source's example): both are named, and
/// neither keeps them alone.
#[test]
fn both_of_two_owners_are_named() {
    let products = 14..34u32;
    let mut objects = vec![0u8, 1];
    objects.extend([2u8; 12]);
    objects.extend(products.clone().map(|_| 3));
    let mut edges: Vec<(u32, u32)> = (2..4).map(|a| (0, a)).chain((4..14).map(|a| (1, a))).collect();
    edges.extend(products.clone().flat_map(|p| [(2 + p % 2, p), (4 + p % 10, p)]));
    let plan = plan(&objects, &edges, &[(0, RootKind::StaticField), (1, RootKind::StaticField)]);
    let setting = GraphSetting::new(&plan);
    let product = setting.timeline.find("Heap#T3").expect("products");
    let mut graph = setting.graph(&[product], GraphLimits::default());
    let progress = Progress::new();
    graph.paths_to_roots(0, Some(5), &progress).expect("ways");
    check(&plan, &graph);
    let held = graph.held_over(0, &progress).expect("held");
    let names = |b: usize| &*graph.graph().boxes[b].name;
    for (i, arrow) in graph.graph().arrows.iter().enumerate() {
        assert_eq!(held.arrows[i], 20, "{} to {}", names(arrow.from), names(arrow.to));
    }
    assert_eq!(held.roots, [20, 20]);
    let closures = ObjectClosures::new(&setting.heap, KeepRules::default(), &progress).expect("closures");
    for arrow in (0..graph.graph().arrows.len()).filter(|&a| names(graph.graph().arrows[a].from) != "T2") {
        assert_eq!(graph.held_alone(&closures, arrow, 0, &progress).expect("alone"), 0);
    }
}

/// A list is as many steps as it has nodes, and two boxes.
#[test]
fn long_lists_are_few_boxes() {
    let nodes = 100_000u32;
    let mut objects = vec![0u8];
    objects.extend(std::iter::repeat_n(1, nodes as usize));
    objects.push(2);
    let edges: Vec<(u32, u32)> = (0..=nodes).map(|o| (o, o + 1)).collect();
    let plan = plan(&objects, &edges, &[(0, RootKind::StaticField)]);
    let setting = GraphSetting::new(&plan);
    let last = setting.timeline.find("Heap#T2").expect("the last");
    let mut graph = setting.graph(&[last], GraphLimits::default());
    graph.paths_to_roots(0, None, &Progress::new()).expect("ways");
    let boxes: Vec<(&str, u64)> = graph.graph().boxes.iter().map(|b| (&*b.name, b.amount.objects)).collect();
    assert_eq!(boxes, [("T2", 1), ("T1", u64::from(nodes) - 1), ("T1", 1), ("T0", 1)]);
    assert_eq!(graph.held_over(0, &Progress::new()).expect("held").roots, [1]);
}
