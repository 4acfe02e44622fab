//! Owners and closures against what their definitions say, by taking objects out in turn.

use super::closures::Limits;
use super::sets::SetLimits;
use super::{
    CutSet, Dominators, GroupAmounts, GroupClosures, KeepGraph, KeepRules, KeptBy, ObjectClosures, ObjectGroups,
    ShortestPaths, Strengths, unrecorded,
};
use crate::progress::Progress;
use crate::{
    Amount, BitSet, HeapBuilder, HeapState, HeapType, LoaderNames, ObjectId, Profile, Root, RootKind, Strength, TypeId,
    TypeKind,
};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

/// What a random heap is made of. Objects 0..types stand for types where `mirrors` says so.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub objects: u32,
    pub types: u32,
    pub mirrors: Vec<bool>,
    pub edges: Vec<(u32, u32)>,
    pub referents: Vec<(u32, u32, u8)>,
    pub roots: Vec<u32>,
}

pub(super) fn plans() -> impl Strategy<Value = Plan> {
    (2u32..30, 1u32..4).prop_flat_map(|(objects, types)| {
        let o = 0..objects;
        (
            prop::collection::vec(any::<bool>(), types as usize),
            prop::collection::vec((o.clone(), o.clone()), 0..(2 * objects as usize)),
            prop::collection::vec((o.clone(), o.clone(), 0u8..4), 0..8),
            prop::collection::vec(o, 1..4),
        )
            .prop_map(move |(mirrors, edges, referents, roots)| Plan {
                objects,
                types,
                mirrors,
                edges,
                referents,
                roots,
            })
    })
}

/// A runtime that never unloads what its own loader loaded.
static PROFILE: Profile =
    Profile { loaders: LoaderNames { permanent: &["bootstrap"], ..LoaderNames::PLAIN }, ..Profile::PLAIN };

const STRENGTHS: [Strength; 4] = [Strength::Soft, Strength::Weak, Strength::Phantom, Strength::Finalizer];

impl Plan {
    pub fn heap(&self) -> HeapState {
        self.heap_with(|_| RootKind::Thread)
    }

    /// With roots of these kinds.
    fn heap_with(&self, kind: impl Fn(usize) -> RootKind) -> HeapState {
        let mut heap = HeapBuilder::with_profile(&PROFILE);
        let of = |t: u32| HeapType {
            name: format!("T{t}"),
            kind: TypeKind::Instance,
            superclass: None,
            loader: "bootstrap".into(),
        };
        let class = heap.add_type(HeapType { name: "java.lang.Class".into(), ..of(0) });
        let types: Vec<TypeId> = (0..self.types).map(|t| heap.add_type(of(t))).collect();
        for o in 0..self.objects {
            let mirror = o < self.types && self.mirrors[o as usize];
            let t = if mirror { class } else { types[(o % self.types) as usize] };
            // Of their own, within one type.
            heap.add_object(t, 1 + u64::from(o * o % 31), None);
        }
        for t in 0..self.types.min(self.objects) {
            if self.mirrors[t as usize] {
                heap.set_class_object(types[t as usize], ObjectId(t));
            }
        }
        self.edges.iter().for_each(|&(from, to)| heap.add_reference(ObjectId(from), ObjectId(to)));
        for &(from, to, strength) in &self.referents {
            // Several of an object, some to the same; its other references stay.
            heap.add_referent(ObjectId(from), ObjectId(to), STRENGTHS[usize::from(strength)]);
        }
        for (n, &o) in self.roots.iter().enumerate() {
            heap.add_root(Root { object: ObjectId(o), kind: kind(n), detail: String::new() });
        }
        heap.finish()
    }

    /// The references that keep: all, but for referents that do not.
    pub fn edges(&self, rules: KeepRules) -> Vec<(u32, u32)> {
        let heap = self.heap();
        let graph = KeepGraph::new(&heap, rules);
        let mut edges = Vec::new();
        heap.objects().for_each(|o| graph.kept(o, |target| edges.push((o.0, target.0))));
        edges
    }

    /// What the roots reach without the objects of `without`.
    pub fn reached(&self, rules: KeepRules, without: &HashSet<u32>) -> HashSet<u32> {
        self.closure(&self.heap(), rules, self.roots.clone(), without, true)
    }

    /// Of some objects those that no other leads to by way of the rest, unless it leads back.
    fn tops(&self, rules: KeepRules, held: HashSet<u32>) -> Vec<u32> {
        let edges: Vec<(u32, u32)> = self.edges(rules);
        let leads = |from: u32, to: u32| {
            let mut seen = HashSet::from([from]);
            loop {
                let goes = |&&(f, t): &&(u32, u32)| seen.contains(&f) && !(held.contains(&f) && held.contains(&t));
                let more: Vec<u32> = edges.iter().filter(goes).map(|e| e.1).filter(|t| !seen.contains(t)).collect();
                if more.is_empty() {
                    return seen.contains(&to);
                }
                seen.extend(more);
            }
        };
        held.iter().copied().filter(|&o| held.iter().all(|&by| !leads(by, o) || leads(o, by))).collect()
    }

    /// What some objects reach without those of `without`; an instance reaches its class object where `classes` says so.
    pub fn closure(
        &self,
        heap: &HeapState,
        rules: KeepRules,
        from: Vec<u32>,
        without: &HashSet<u32>,
        classes: bool,
    ) -> HashSet<u32> {
        let mut seen: HashSet<u32> = HashSet::new();
        let mut open = from;
        while let Some(o) = open.pop() {
            if without.contains(&o) || !seen.insert(o) {
                continue;
            }
            let mut targets: Vec<u32> = heap.references(ObjectId(o)).iter().map(|t| t.0).collect();
            let referents = self.referents.iter().filter(|r| r.0 == o);
            for &(_, to, _) in referents.filter(|r| !rules.keeps(STRENGTHS[usize::from(r.2)])) {
                let at = targets.iter().position(|&t| t == to).expect("it is a reference too");
                targets.remove(at);
            }
            open.extend(targets);
            open.extend(heap.mirror_of(heap.type_of(ObjectId(o))).map(|m| m.0).filter(|_| classes));
        }
        seen
    }

    /// What goes when all of a set does: the set, and what it reaches but the roots without it do not.
    pub fn retained(&self, heap: &HeapState, rules: KeepRules, set: &HashSet<u32>) -> HashSet<u32> {
        let from = set.iter().copied().collect();
        &self.closure(heap, rules, from, &HashSet::new(), true)
            - &self.closure(heap, rules, self.roots.clone(), set, true)
    }

    /// All that a set reaches by references, and what it retains.
    pub fn deep(&self, heap: &HeapState, rules: KeepRules, set: &HashSet<u32>) -> HashSet<u32> {
        let from = set.iter().copied().collect();
        &self.closure(heap, rules, from, &HashSet::new(), false) | &self.retained(heap, rules, set)
    }
}

pub(super) fn amount(heap: &HeapState, objects: impl IntoIterator<Item = u32>) -> Amount {
    let mut amount = Amount::default();
    for o in objects {
        amount += Amount { objects: 1, bytes: heap.size_of(ObjectId(o)) };
    }
    amount
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn what_an_object_retains_is_what_goes_with_it(plan in plans(), soft: bool, weak: bool) {
        let rules = KeepRules { soft, weak, permanent_classes: false, ..KeepRules::default() };
        let heap = plan.heap();
        let tree = Dominators::new(&heap, rules, &Progress::new()).expect("not cancelled");
        let all = plan.reached(rules, &HashSet::new());
        prop_assert_eq!(tree.total(), amount(&heap, all.iter().copied()));
        let gone: Vec<HashSet<u32>> = (0..plan.objects)
            .map(|o| &all - &plan.reached(rules, &HashSet::from([o])))
            .collect();
        for o in 0..plan.objects {
            let id = ObjectId(o);
            prop_assert_eq!(tree.is_reached(id), all.contains(&o));
            prop_assert_eq!(tree.retained(id), amount(&heap, gone[o as usize].iter().copied()), "{}", o);
            // The owner is the one of all that o goes with which goes with all others.
            let others: Vec<u32> = (0..plan.objects).filter(|d| *d != o && gone[*d as usize].contains(&o)).collect();
            let nearest = others.iter().copied().find(|d| others.iter().all(|e| e == d || gone[*e as usize].contains(d)));
            if all.contains(&o) {
                prop_assert_eq!(tree.owner(id).map(|d| d.0), nearest);
            }
        }
        let order: Vec<ObjectId> = tree.top_down().collect();
        prop_assert_eq!(order.len(), all.len());
        for (at, &o) in order.iter().enumerate() {
            prop_assert!(tree.owner(o).is_none_or(|d| order[..at].contains(&d)));
        }
        for owner in (0..plan.objects).map(|o| Some(ObjectId(o))).chain([None]) {
            let owned: Vec<ObjectId> = tree.owned(owner).collect();
            let mut expected: Vec<ObjectId> = order.iter().copied().filter(|&o| tree.owner(o) == owner).collect();
            expected.sort_by_key(|&o| (std::cmp::Reverse(tree.retained(o).bytes), o));
            if owner.is_none_or(|o| tree.is_reached(o)) {
                prop_assert_eq!(owned, expected);
            } else {
                prop_assert_eq!(owned, []);
            }
        }
    }

    /// What a local variable alone leads to owns only what it alone leads to: a method that has copied a list does not share what is in it.
    #[test]
    fn passing_roots_share_nothing_that_lasts(plan in plans()) {
        let rules = KeepRules { permanent_classes: false, ..KeepRules::default() };
        let passes = |n: usize| n % 2 == 1;
        let heap = plan.heap_with(|n| if passes(n) { RootKind::LocalVariable } else { RootKind::Thread });
        let tree = Dominators::new(&heap, rules.for_owners(), &Progress::new()).expect("not cancelled");
        let from = |of_passing: bool| -> Vec<u32> {
            plan.roots.iter().enumerate().filter(|(n, _)| passes(*n) == of_passing).map(|(_, o)| *o).collect()
        };
        let reached = |from: Vec<u32>, without: &HashSet<u32>| plan.closure(&heap, rules, from, without, true);
        let lasting = reached(from(false), &HashSet::new());
        let passing = reached(from(true), &lasting);
        let tops = plan.tops(rules, from(true).into_iter().filter(|o| !lasting.contains(o)).collect());
        prop_assert_eq!(&reached(tops.clone(), &lasting), &passing);
        for o in 0..plan.objects {
            prop_assert_eq!(tree.is_reached(ObjectId(o)), lasting.contains(&o) || passing.contains(&o));
            let gone: HashSet<u32> = match lasting.contains(&o) {
                true => &lasting - &reached(from(false), &HashSet::from([o])),
                false => &passing - &reached(tops.clone(), &lasting.iter().copied().chain([o]).collect()),
            };
            prop_assert_eq!(tree.retained(ObjectId(o)), amount(&heap, gone), "{}", o);
        }
    }

    /// The strongest way is that of the strictest rules under which there is one.
    #[test]
    fn each_object_is_kept_by_the_strongest_way(plan in plans()) {
        let heap = plan.heap();
        let strengths = Strengths::new(&heap, &Progress::new()).expect("not cancelled");
        let rules = |soft, weak| KeepRules { soft, weak, ..KeepRules::default() };
        // The types of a plan are those of the bootstrap loader, which the VM holds.
        let classes = heap.types().iter().enumerate().filter_map(|(t, _)| Some(heap.mirror_of(TypeId(t as u32))?.0));
        let roots: Vec<u32> = plan.roots.iter().copied().chain(classes).collect();
        let [strong, soft, weak] = [(false, false), (true, false), (true, true)]
            .map(|(s, w)| plan.closure(&heap, rules(s, w), roots.clone(), &HashSet::new(), true));
        for o in 0..plan.objects {
            let expected = match () {
                () if strong.contains(&o) => KeptBy::Strong,
                () if soft.contains(&o) => KeptBy::Soft,
                () if weak.contains(&o) => KeptBy::Weak,
                () => KeptBy::Nothing,
            };
            prop_assert_eq!(strengths.of(ObjectId(o)), expected, "{}", o);
        }
        let amounts = strengths.amounts(&heap, heap.objects());
        let mut all = Amount::default();
        amounts.iter().for_each(|&a| all += a);
        prop_assert_eq!(all, amount(&heap, 0..plan.objects));
        prop_assert_eq!(amounts[0], amount(&heap, strong));
    }

    #[test]
    fn shortest_paths_are_paths_and_none_is_shorter(plan in plans(), soft: bool, weak: bool, some: u32) {
        let rules = KeepRules { soft, weak, permanent_classes: false, ..KeepRules::default() };
        let heap = plan.heap();
        let n = plan.objects as usize;
        let classes = || heap.objects().filter_map(|o| Some((o.0, heap.mirror_of(heap.type_of(o))?.0)));
        let plain: HashSet<(u32, u32)> =
            plan.edges(KeepRules { soft: false, weak: false, ..rules }).into_iter().chain(classes()).collect();
        let mut edges = plan.edges(rules);
        edges.extend(classes());
        // Weaker references and length of the best path, by relaxing every edge until nothing changes.
        let far = (usize::MAX, usize::MAX);
        let mut distance = vec![far; n];
        plan.roots.iter().for_each(|&o| distance[o as usize] = (0, 0));
        for _ in 0..n {
            for &(from, to) in &edges {
                let (weaker, length) = distance[from as usize];
                if distance[from as usize] != far {
                    let next = (weaker + usize::from(!plain.contains(&(from, to))), length + 1);
                    distance[to as usize] = distance[to as usize].min(next);
                }
            }
        }
        let mut wanted = BitSet::new(n);
        (0..plan.objects).filter(|o| some >> (o % 32) & 1 == 1).for_each(|o| { wanted.insert(o); });
        for wanted in [None, Some(&wanted)] {
            let paths = ShortestPaths::new(&KeepGraph::new(&heap, rules), wanted, &Progress::new()).expect("not cancelled");
            for o in heap.objects().filter(|o| wanted.is_none_or(|w| w.contains(o.0))) {
                prop_assert_eq!(paths.is_reached(o), distance[o.0 as usize] != far);
                let (mut weaker, mut length) = (0, 0);
                let mut at = o;
                while let Some(by) = paths.keeper(at) {
                    prop_assert!(edges.contains(&(by.0, at.0)));
                    weaker += usize::from(!plain.contains(&(by.0, at.0)));
                    length += 1;
                    at = by;
                }
                if paths.is_reached(o) {
                    let (fewest, shortest) = distance[o.0 as usize];
                    prop_assert_eq!(weaker, fewest);
                    prop_assert!(length == shortest || weaker > 0, "{} steps, not {}", length, shortest);
                    prop_assert!(plan.roots.contains(&at.0));
                }
            }
        }
    }

    #[test]
    fn what_is_cut_frees_what_is_not_reached_without_it(
        plan in plans(),
        soft: bool,
        weak: bool,
        cut_edges in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        whole: bool,
        cut_roots in prop::collection::vec(any::<prop::sample::Index>(), 0..2),
    ) {
        let rules = KeepRules { soft, weak, permanent_classes: false, ..KeepRules::default() };
        let heap = plan.heap();
        let mut edges = plan.edges(rules);
        let mut cut = CutSet::new();
        for index in cut_edges {
            if edges.is_empty() {
                break;
            }
            let edge = *index.get(&edges);
            if whole {
                cut.references(ObjectId(edge.0), ObjectId(edge.1));
                edges.retain(|e| *e != edge);
            } else {
                cut.reference(ObjectId(edge.0), ObjectId(edge.1));
                edges.remove(edges.iter().position(|e| *e == edge).expect("it was chosen"));
            }
        }
        let mut without = plan.clone();
        for index in cut_roots {
            let at = index.index(plan.roots.len());
            cut.root(at as u32);
            without.roots[at] = u32::MAX;
        }
        without.roots.retain(|&o| o != u32::MAX);
        let closures = ObjectClosures::new(&heap, rules, &Progress::new()).expect("not cancelled");
        let freed = closures.freed(&cut, &Progress::new()).expect("not cancelled");
        // Without the plan's referents: of these only those that keep are among the edges.
        without = Plan { edges, referents: Vec::new(), ..without };
        let expected = &plan.reached(rules, &HashSet::new()) - &without.reached(rules, &HashSet::new());
        prop_assert_eq!(freed.iter().collect::<HashSet<u32>>(), expected);
    }
}

/// Groups that lie in each other, and which of them each object is in.
#[derive(Clone, Debug)]
struct GroupPlan {
    /// By group: the group it lies in, which is a smaller number; the first lies in none.
    above: Vec<u32>,
    /// By object: some groups.
    of: Vec<Vec<u32>>,
}

impl GroupPlan {
    fn groups(&self) -> Arc<ObjectGroups> {
        let mut lists: Vec<Box<[u32]>> = Vec::new();
        let mut number = |list: Vec<u32>| -> u32 {
            let at = lists.iter().position(|l| **l == list[..]).unwrap_or_else(|| {
                lists.push(list.into());
                lists.len() - 1
            });
            at as u32
        };
        let of = self.of.iter().map(|groups| number(self.with_outer(groups))).collect();
        Arc::new(ObjectGroups::new(of, lists, self.above.len()))
    }

    fn with_outer(&self, groups: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = Vec::new();
        for &group in groups {
            let mut at = group;
            all.push(at);
            while at != 0 {
                at = self.above[at as usize];
                all.push(at);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A heap and groups of its objects: up to five levels, some objects in several groups, some in none.
fn grouped_plans() -> impl Strategy<Value = (Plan, GroupPlan)> {
    (plans(), prop::collection::vec(any::<u32>(), 1..9)).prop_flat_map(|(plan, above)| {
        let above: Vec<u32> = (0..).zip(&above).map(|(g, &at)| if g == 0 { 0 } else { at % g }).collect();
        let groups = above.len() as u32;
        let of = prop::collection::vec(prop::collection::vec(0..groups, 0..3), plan.objects as usize);
        of.prop_map(move |of| (plan.clone(), GroupPlan { above: above.clone(), of }))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    #[test]
    fn groups_reach_and_retain_what_their_definitions_say(
        (plan, grouping) in grouped_plans(),
        soft: bool,
        weak: bool,
        entries in 0usize..60,
    ) {
        let rules = KeepRules { soft, weak, permanent_classes: false, ..KeepRules::default() };
        let heap = plan.heap();
        let groups = grouping.groups();
        let count = groups.groups() as u32;
        let progress = Progress::new();
        let expected: Vec<GroupAmounts> = (0..count)
            .map(|group| {
                let members = (0..plan.objects).filter(|&o| groups.of(ObjectId(o)).contains(&group)).collect();
                GroupAmounts {
                    deep: amount(&heap, plan.deep(&heap, rules, &members)),
                    retained: amount(&heap, plan.retained(&heap, rules, &members)),
                }
            })
            .collect();
        let retained: Vec<Amount> = expected.iter().map(|all| all.retained).collect();
        // Sets as numbers; as bits; as bytes, while there is room for them; and as many numbers as there is room for.
        let tight = SetLimits { entries, pairs: entries };
        let bits = Limits { narrow_from: usize::MAX, ..Limits::default() };
        let bytes = |narrow: usize| Limits { narrow_from: 0, narrow, ..Limits::default() };
        let numbers = Limits { mask: 0, ..bits };
        let few = Limits { mask: 2, sets: tight, ..bits };
        let single = Limits { mask: 1, one_by_one: 1, ..few };
        let some = Limits { mask: 1, one_by_one: 8, ..few };
        for limits in [numbers, bits, bytes(255), bytes(entries / 4), few, single, some] {
            let closures = GroupClosures::new(&heap, rules, Arc::clone(&groups)).with_limits(limits);
            let wanted: Vec<u32> = (0..count).collect();
            prop_assert_eq!(&closures.retained(&wanted, &progress).expect("not cancelled"), &retained);
            prop_assert_eq!(&closures.deep_and_retained(&wanted, &progress).expect("not cancelled"), &expected);
            // Some, in another order.
            let some: Vec<u32> = (0..count).rev().step_by(2).collect();
            let found = closures.retained(&some, &progress).expect("not cancelled");
            for (group, found) in some.into_iter().zip(found) {
                prop_assert_eq!(found, retained[group as usize]);
            }
        }
    }
}

fn bits(plan: &Plan, objects: &HashSet<u32>) -> BitSet {
    let mut set = BitSet::new(plan.objects as usize);
    objects.iter().for_each(|&o| {
        set.insert(o);
    });
    set
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    #[test]
    fn sets_of_objects_reach_and_retain_what_their_definitions_say(
        plan in plans(),
        soft: bool,
        weak: bool,
        set in prop::collection::hash_set(0u32..30, 0..12),
    ) {
        let rules = KeepRules { soft, weak, permanent_classes: false, ..KeepRules::default() };
        let heap = plan.heap();
        let progress = Progress::new();
        let closures = ObjectClosures::new(&heap, rules, &progress).expect("not cancelled");
        prop_assert_eq!(closures.live(), &bits(&plan, &plan.reached(rules, &HashSet::new())));
        let set: HashSet<u32> = set.into_iter().filter(|&o| o < plan.objects).collect();
        let found = closures.of(&bits(&plan, &set), &progress).expect("not cancelled");
        prop_assert_eq!(&found.retained, &bits(&plan, &plan.retained(&heap, rules, &set)));
        prop_assert_eq!(&found.deep, &bits(&plan, &plan.deep(&heap, rules, &set)));
        let all = found.deep.iter().collect::<Vec<_>>();
        prop_assert_eq!(closures.amount(&found.deep), amount(&heap, all));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// What weak references alone lead to counts as alive in a heap state, and stands for what is alive without a root.
    #[test]
    fn unrecorded_roots_lead_to_all_that_is_alive_and_not_to_each_other(plan in plans()) {
        let rules = KeepRules { permanent_classes: false, ..KeepRules::SOFT_AS_WEAK };
        let heap = plan.heap();
        let tops: Vec<u32> = unrecorded::unrecorded(&KeepGraph::new(&heap, rules)).iter().map(|top| top.0).collect();
        let reached = |without: Option<u32>| {
            let others = tops.iter().copied().filter(|top| Some(*top) != without);
            let from = plan.roots.iter().copied().chain(others).collect();
            plan.closure(&heap, rules, from, &HashSet::new(), true)
        };
        prop_assert_eq!(&bits(&plan, &reached(None)), heap.reachable());
        for &top in &tops {
            prop_assert!(!reached(Some(top)).contains(&top));
        }
    }
}
