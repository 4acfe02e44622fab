//! Classifiers of single objects on random heaps, against a plain reading of their rules. Grouping object by object
//! against grouping by class.

use memory_city_analysis::group::{
    self, ByFunction, Cardinality, Classifier, ClassifierMeta, GroupOptions, Grouping, MemoryTree, ObjectValues,
    ObjectView, Reads,
};
use memory_city_analysis::timeline::all_references::time_references;
use memory_city_analysis::timeline::references::reference_map;
use memory_city_analysis::timeline::{NodeId, TimePoint, Timeline};
use memory_city_formats::JVM;
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    Amount, HeapBuilder, HeapState, HeapType, Loader, Loaders, ObjectId, Root, RootKind, TypeId, TypeKind,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const NAMES: [&str; 6] = [
    "com.acme.Cart",
    "com.acme.Item",
    "java.util.HashMap$Node[]",
    "byte[]",
    "Main$$Lambda$1.0x00ab",
    "Main$$Lambda$1.0x00cd",
];

#[derive(Debug, Clone)]
struct Plan {
    /// Type and length of each object.
    objects: Vec<(usize, u32)>,
    references: Vec<(usize, usize)>,
    /// Object, kind and detail.
    roots: Vec<(usize, usize)>,
    /// Loader of each type, parent of each loader.
    loader_of: Vec<Option<u32>>,
    parents: Vec<Option<u32>>,
}

/// Kinds of roots, details, and the chains they stand for.
const ROOTS: [(RootKind, &str, &[&str], bool); 8] = [
    (RootKind::StaticField, "com.acme.Cache.all", &["Static field", "com.acme.Cache", "all"], true),
    (RootKind::StaticField, "com.acme.Cache.one", &["Static field", "com.acme.Cache", "one"], true),
    (
        RootKind::LocalVariable,
        "thread \"main\", Main.main() line 3",
        &["Local variable", "main", "Main.main() line 3"],
        true,
    ),
    (RootKind::LocalVariable, "stack of thread \"main\"", &["Local variable", "stack", "main"], true),
    (RootKind::Jni, "JNI global", &["JNI", "JNI global"], false),
    (RootKind::Jni, "JNI local of thread \"main\"", &["JNI", "JNI local", "main"], true),
    (RootKind::Thread, "thread \"main\"", &["Thread", "main"], false),
    (RootKind::Other, "", &["Other root"], false),
];

fn plan() -> impl Strategy<Value = Plan> {
    let length = prop_oneof![0u32..9, 250u32..260, Just(u32::MAX - 1)];
    (1usize..40, prop::collection::vec(length, 40)).prop_flat_map(|(n, lengths)| {
        let types = prop::collection::vec(0..NAMES.len(), n);
        let references = prop::collection::vec((0..n, 0..n), 0..90);
        let roots = prop::collection::vec((0..n, 0..ROOTS.len()), 1..9);
        let loader_of = prop::collection::vec(prop::option::of(0u32..4), NAMES.len());
        let parents = prop::collection::vec(prop::option::of(0u32..4), 4);
        (types, references, roots, loader_of, parents).prop_map(
            move |(types, references, roots, loader_of, parents)| {
                let objects = types.into_iter().zip(lengths.iter().copied()).collect();
                // A loader's parent comes before it, as it does in a program.
                let before = |(i, p): (usize, Option<u32>)| p.filter(|&p| (p as usize) < i);
                let parents = parents.into_iter().enumerate().map(before).collect();
                Plan { objects, references, roots, loader_of, parents }
            },
        )
    })
}

fn build(plan: &Plan) -> HeapState {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let types: Vec<TypeId> = NAMES
        .iter()
        .map(|name| {
            let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
            heap.add_type(HeapType { name: (*name).into(), kind, superclass: None, loader: "app".into() })
        })
        .collect();
    for (i, &(t, length)) in plan.objects.iter().enumerate() {
        heap.add_object(types[t], 16 + 8 * i as u64, is_array(t).then_some(length));
    }
    for &(from, to) in &plan.references {
        heap.add_reference(ObjectId(from as u32), ObjectId(to as u32));
    }
    for &(object, kind) in &plan.roots {
        let (kind, detail, ..) = ROOTS[kind];
        heap.add_root(Root { object: ObjectId(object as u32), kind, detail: detail.into() });
    }
    let loader = |(i, &parent): (usize, &Option<u32>)| Loader { name: format!("loader {i}").into(), parent };
    let all = plan.parents.iter().enumerate().map(loader).collect();
    heap.set_loaders(Loaders { all, of_type: plan.loader_of.clone() });
    heap.finish()
}

fn is_array(t: usize) -> bool {
    NAMES[t].ends_with("[]")
}

fn name(t: usize) -> String {
    if NAMES[t].starts_with("Main") { "Main$$Lambda".into() } else { NAMES[t].into() }
}

type Chains = BTreeSet<Vec<String>>;

fn one(value: impl Into<String>) -> Chains {
    BTreeSet::from([vec![value.into()]])
}

fn or(chains: Chains, otherwise: &str) -> Chains {
    if chains.is_empty() { one(otherwise) } else { chains }
}

/// Role, and the values of object `o` by the rules; `seen` are the objects that take part.
fn by_the_rules(classifier: &str, plan: &Plan, seen: &BTreeSet<usize>, o: usize) -> (&'static str, Chains) {
    let (t, length) = plan.objects[o];
    let roots = |choose: &dyn Fn(usize) -> bool, depth: usize| -> Chains {
        let of_object = plan.roots.iter().filter(|(object, kind)| *object == o && choose(*kind));
        of_object.map(|(_, kind)| ROOTS[*kind].2.iter().take(depth).map(|s| (*s).to_owned()).collect()).collect()
    };
    let variable = |kind: usize| ROOTS[kind].3;
    match classifier {
        "type" => ("Type", one(name(t))),
        "kind" => (
            "Object kind",
            one(match (is_array(t), length) {
                (false, _) => "Instance",
                (true, 255..) => "Big array",
                _ => "Small array",
            }),
        ),
        "array-length" => (
            "Array length",
            one(match (is_array(t), length) {
                (false, _) => "Not an array".to_owned(),
                (true, 0..=1) => format!("Length {length}"),
                _ => {
                    let mut low = 2u64;
                    while low * 2 <= u64::from(length) {
                        low *= 2;
                    }
                    format!("Length {low} to {}", low * 2 - 1)
                }
            }),
        ),
        "array-length(exact)" => {
            ("Array length", one(if is_array(t) { format!("Length {length}") } else { "Not an array".into() }))
        }
        "points-to" => {
            let to = plan.references.iter().filter(|r| r.0 == o && seen.contains(&r.1));
            ("Points to", or(to.map(|r| vec![name(plan.objects[r.1].0)]).collect(), "Points to nothing"))
        }
        "pointed-from" => {
            let from = plan.references.iter().filter(|r| r.1 == o && seen.contains(&r.0));
            ("Pointed from", or(from.map(|r| vec![name(plan.objects[r.0].0)]).collect(), "Pointed from nothing"))
        }
        "rooted" => ("GC root", or(roots(&|_| true, 9), "Not held by a GC root directly")),
        "rooted(kind)" => ("GC root", or(roots(&|_| true, 1), "Not held by a GC root directly")),
        "rooted(direct)" => ("GC root", roots(&|_| true, 9)),
        "rooted(variables)" => ("GC root", or(roots(&variable, 9), "Not held by a variable directly")),
        "rooted(direct,kind,variables)" => ("GC root", roots(&variable, 1)),
        "loaders" => {
            let mut chain = Vec::new();
            let mut at = plan.loader_of[t];
            while let Some(loader) = at {
                chain.insert(0, format!("loader {loader}"));
                at = plan.parents[loader as usize];
            }
            chain.insert(0, "bootstrap".to_owned());
            ("Class loader tree", BTreeSet::from([chain]))
        }
        "address" => ("Address", one(format!("{:#018x}", 0x1000 + 8 * o))),
        "address(block=64)" => {
            let start = (0x1000 + 8 * o) / 64 * 64;
            ("Address", one(format!("{start:#018x} to {:#018x}", start + 63)))
        }
        "referrers" => {
            let name = match plan.references.iter().filter(|r| r.1 == o && seen.contains(&r.0)).count() {
                0 => "Not referred to".to_owned(),
                1 => "Referred to once".to_owned(),
                n => {
                    let low = (0..).map(|b| 1 << b).take_while(|&low| low <= n).last().expect("a power");
                    format!("Referred to {low} to {} times", 2 * low - 1)
                }
            };
            ("Incoming references", one(name))
        }
        "domain" => {
            ("Own class", one(if NAMES[t].starts_with("com") || NAMES[t].starts_with("Main") { "Yes" } else { "No" }))
        }
        "indirectly-rooted" => {
            ("Reached from", or(reaching(plan, seen, o, &|_| true, 9), "Not reached from a GC root"))
        }
        "indirectly-rooted(kind)" => {
            ("Reached from", or(reaching(plan, seen, o, &|_| true, 1), "Not reached from a GC root"))
        }
        "indirectly-rooted(reached,variables)" => ("Reached from", reaching(plan, seen, o, &variable, 9)),
        "indirectly-rooted(variables)" => {
            ("Reached from", or(reaching(plan, seen, o, &variable, 9), "Not reached from a variable"))
        }
        "indirectly-rooted(first)" => {
            let distance =
                |(i, root): (usize, &(usize, usize))| Some((distances(plan, seen, root.0).get(&o).copied()?, i));
            let nearest = plan.roots.iter().enumerate().filter_map(distance).min();
            let chain = |(_, i): (usize, usize)| ROOTS[plan.roots[i].1].2.iter().map(|s| (*s).to_owned()).collect();
            ("Reached from", or(nearest.map(chain).into_iter().collect(), "Not reached from a GC root"))
        }
        "filter(size>100)" => ("", pass(16 + 8 * o > 100)),
        "filter(not type=byte[] and referrers>=1)" => {
            ("", pass(NAMES[t] != "byte[]" && plan.references.iter().any(|r| r.1 == o && seen.contains(&r.0))))
        }
        "filter(package=com.acme and points-to!~hashmap)" => {
            let to =
                |r: &(usize, usize)| r.0 == o && seen.contains(&r.1) && NAMES[plan.objects[r.1].0].contains("HashMap");
            ("", pass(NAMES[t].starts_with("com.acme.") && !plan.references.iter().any(to)))
        }
        _ => unreachable!("{classifier}"),
    }
}

/// A filter: it stays where it is, or it is gone.
fn pass(holds: bool) -> Chains {
    if holds { BTreeSet::from([Vec::new()]) } else { BTreeSet::new() }
}

/// How many references lead from an object to those it reaches.
fn distances(plan: &Plan, seen: &BTreeSet<usize>, from: usize) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    let mut level: BTreeSet<usize> = [from].into_iter().filter(|o| seen.contains(o)).collect();
    let mut distance = 0;
    while !level.is_empty() {
        found.extend(level.iter().map(|&o| (o, distance)));
        let next = plan.references.iter().filter(|r| level.contains(&r.0)).map(|r| r.1);
        level = next.filter(|o| seen.contains(o) && !found.contains_key(o)).collect();
        distance += 1;
    }
    found
}

/// The roots that reach an object.
fn reaching(plan: &Plan, seen: &BTreeSet<usize>, o: usize, choose: &dyn Fn(usize) -> bool, depth: usize) -> Chains {
    let roots = plan.roots.iter().filter(|root| choose(root.1) && distances(plan, seen, root.0).contains_key(&o));
    roots.map(|root| ROOTS[root.1].2.iter().take(depth).map(|s| (*s).to_owned()).collect()).collect()
}

const CLASSIFIERS: [&str; 24] = [
    "type",
    "kind",
    "array-length",
    "array-length(exact)",
    "points-to",
    "pointed-from",
    "rooted",
    "rooted(kind)",
    "rooted(direct)",
    "rooted(variables)",
    "rooted(direct,kind,variables)",
    "loaders",
    "address",
    "address(block=64)",
    "referrers",
    "domain",
    "indirectly-rooted",
    "indirectly-rooted(kind)",
    "indirectly-rooted(variables)",
    "indirectly-rooted(reached,variables)",
    "indirectly-rooted(first)",
    "filter(size>100)",
    "filter(not type=byte[] and referrers>=1)",
    "filter(package=com.acme and points-to!~hashmap)",
];

/// One to three of them.
fn lists() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(CLASSIFIERS.to_vec()), 1..4)
}

/// What the roots reach, step by step.
fn reachable(plan: &Plan) -> BTreeSet<usize> {
    let real = |kind: usize| ROOTS[kind].0 != RootKind::StaticField;
    let any = plan.roots.iter().any(|r| real(r.1));
    let mut seen: BTreeSet<usize> = plan.roots.iter().filter(|r| real(r.1) || !any).map(|r| r.0).collect();
    loop {
        let more: Vec<usize> = plan.references.iter().filter(|(f, _)| seen.contains(f)).map(|(_, t)| *t).collect();
        let before = seen.len();
        seen.extend(more);
        if seen.len() == before {
            return seen;
        }
    }
}

type Path = Vec<String>;

/// Where an object ends up: by each classifier it forks, and goes down along each chain.
fn ends(list: &[&str], plan: &Plan, seen: &BTreeSet<usize>, o: usize) -> BTreeSet<Path> {
    let mut ends = BTreeSet::from([Vec::new()]);
    for classifier in list {
        let (role, chains) = by_the_rules(classifier, plan, seen, o);
        ends = ends
            .iter()
            .flat_map(|end| chains.iter().map(move |c| (end, c)))
            .map(|(end, chain)| end.iter().cloned().chain(chain.iter().map(|n| format!("{role}: {n}"))).collect())
            .collect();
    }
    ends
}

fn path(tree: &MemoryTree, node: usize) -> Path {
    let mut path: Path = std::iter::successors(Some(node), |&n| tree.parent(n))
        .filter(|&n| n != 0)
        .map(|n| format!("{}: {}", tree.role(n), tree.name(n)))
        .collect();
    path.reverse();
    path
}

fn point() -> TimePoint {
    TimePoint { label: "t".into(), ..TimePoint::default() }
}

fn options(include_unreachable: bool) -> GroupOptions {
    GroupOptions { include_unreachable, ..GroupOptions::default() }
}

/// A classifier that gives what another gives, but asks for every object.
fn asking_each(classifier: &Arc<dyn Classifier>) -> Arc<dyn Classifier> {
    struct Each(Arc<dyn Classifier>, ClassifierMeta);
    impl Classifier for Each {
        fn meta(&self) -> &ClassifierMeta {
            &self.1
        }
        fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
            self.0.classify(object, values);
        }
    }
    let meta = classifier.meta().clone();
    let reads = meta.reads | Reads::ID;
    Arc::new(Each(Arc::clone(classifier), meta.reads(reads)))
}

/// By size and type.
fn by_size() -> Grouping {
    let meta = ClassifierMeta::new("size", "Size").reads(Reads::SIZE);
    let by_size = ByFunction::new(meta, |object: &ObjectView<'_>, values: &mut ObjectValues| {
        values.one(&(object.size().expect("a size") / 64).to_string());
    });
    let of_type = group::grouping("type").expect("a grouping").classifiers.clone();
    Grouping::new("size", [vec![Arc::new(by_size) as Arc<dyn Classifier>], of_type].concat())
}

proptest! {
    #[test]
    fn objects_are_where_the_rules_put_them(plan in plan(), list in lists(), include_unreachable: bool) {
        let heap = build(&plan);
        let seen = if include_unreachable { (0..plan.objects.len()).collect() } else { reachable(&plan) };
        let grouping = group::grouping(&list.join(">")).expect("a grouping");
        let grouped = group::group(&heap, &grouping, options(include_unreachable), &Progress::new()).expect("grouped");
        let mut expected: BTreeMap<Path, Amount> = BTreeMap::new();
        for o in 0..plan.objects.len() {
            let ends = if seen.contains(&o) { ends(&list, &plan, &seen, o) } else { BTreeSet::new() };
            let got: BTreeSet<Path> =
                grouped.leaves_of(&heap, ObjectId(o as u32)).iter().map(|&l| path(&grouped.tree, l as usize)).collect();
            prop_assert_eq!(&got, &ends);
            // Once in all that they have in common.
            let above: BTreeSet<Path> = ends.iter().flat_map(|e| (0..=e.len()).map(|l| e[..l].to_vec())).collect();
            for path in above {
                *expected.entry(path).or_default() += Amount { objects: 1, bytes: 16 + 8 * o as u64 };
            }
        }
        let tree = &grouped.tree;
        let amounts = |n: usize| (path(tree, n), tree.amount(n));
        let got: BTreeMap<Path, Amount> = (0..tree.len()).map(amounts).filter(|(_, a)| a.objects > 0).collect();
        prop_assert_eq!(got, expected);
        // The same in the timeline, under keys that lead back.
        let timeline = Timeline::from_trees(vec![point()], std::slice::from_ref(tree));
        for (n, node) in timeline.locate(tree).into_iter().enumerate() {
            let node = node.expect("no chain is joined");
            prop_assert_eq!(timeline.amount(0, node), tree.amount(n));
            prop_assert_eq!(timeline.find(&timeline.key(node)), Some(node));
        }
    }

    #[test]
    fn references_between_groups_of_many_values_are_counted(plan in plan(), list in lists(), pick: prop::sample::Index) {
        let heap = build(&plan);
        let grouping = group::grouping(&list.join(">")).expect("a grouping");
        let grouped = group::group(&heap, &grouping, options(true), &Progress::new()).expect("grouped");
        let timeline = Timeline::from_trees(vec![point()], std::slice::from_ref(&grouped.tree));
        let node = NodeId(pick.index(timeline.len()) as u32);
        let place = timeline.locate(&grouped.tree);
        let leaves = |o: usize| -> BTreeSet<NodeId> {
            grouped.leaves_of(&heap, ObjectId(o as u32)).iter().filter_map(|&l| place[l as usize]).collect()
        };
        let inside = |o: usize| leaves(o).iter().any(|&l| timeline.is_within(l, node));
        type Ends = (BTreeSet<usize>, BTreeSet<usize>, u64);
        let mut expected: [BTreeMap<NodeId, Ends>; 2] = Default::default();
        let mut internal = 0;
        for &(from, to) in &plan.references {
            let (side, other) = match (inside(from), inside(to)) {
                (true, true) => { internal += 1; continue }
                (false, true) => (0, from),
                (true, false) => (1, to),
                _ => continue,
            };
            for leaf in leaves(other) {
                let ends = expected[side].entry(leaf).or_default();
                ends.0.insert(from);
                ends.1.insert(to);
                ends.2 += 1;
            }
        }
        let map = reference_map(&heap, &grouped, &timeline, node, &Progress::new()).expect("a map");
        prop_assert_eq!(map.internal, internal);
        for (edges, expected) in [&map.incoming, &map.outgoing].into_iter().zip(expected) {
            let got: BTreeMap<NodeId, (u64, u64, u64)> =
                edges.iter().map(|e| (e.other, (e.referencing, e.referenced, e.references))).collect();
            let expected: BTreeMap<NodeId, (u64, u64, u64)> =
                expected.into_iter().map(|(n, e)| (n, (e.0.len() as u64, e.1.len() as u64, e.2))).collect();
            prop_assert_eq!(got, expected);
        }
        let held: u64 = map.roots.iter().map(|(_, n)| n).sum();
        prop_assert_eq!(held, plan.roots.iter().filter(|r| inside(r.0)).count() as u64);
        // The answers for all groups at once say the same of this one.
        if grouped.tree.len() == timeline.len() && (0..plan.objects.len()).any(|o| leaves(o).contains(&node)) {
            let all = time_references(&heap, &grouped, &timeline, &Progress::new()).expect("all references");
            let from_here: BTreeMap<NodeId, u64> =
                all.pairs.iter().filter(|p| p.from == node && p.to != node).map(|p| (p.to, p.references)).collect();
            let expected: BTreeMap<NodeId, u64> = map.outgoing.iter().filter(|e| !timeline.is_within(e.other, node)).map(|e| (e.other, e.references)).collect();
            if timeline.is_leaf(node) {
                prop_assert_eq!(from_here, expected);
            }
        }
    }

    #[test]
    fn all_ways_of_grouping_make_the_same_tree(plan in plan(), include_unreachable: bool) {
        let heap = build(&plan);
        let by_class = ["package>type", "kind>type", "loaders>package>type", "type>kind"];
        let by_shape = ["array-length>type", "rooted>array-length(exact)", "reachable>array-length", "filter(array-length != Not an array)>type"];
        let all = by_class.into_iter().chain(by_shape).map(|list| group::grouping(list).expect("a grouping"));
        for (i, once) in all.chain([Arc::new(by_size())]).enumerate() {
            prop_assert_eq!(once.reads().by_object(), i >= by_class.len());
            let each = Grouping::new("each", once.classifiers.iter().map(asking_each).collect());
            let mixed = [&once.classifiers[..1], &each.classifiers[1..]].concat();
            let mixed = Grouping::new("mixed", mixed);
            let [once, each, mixed] = [&once, &each, &mixed].map(|grouping| {
                group::group(&heap, grouping, options(include_unreachable), &Progress::new()).expect("grouped")
            });
            for other in [each, mixed] {
                let nodes = |tree: &MemoryTree| -> Vec<(Path, Amount)> {
                    (0..tree.len()).map(|n| (path(tree, n), tree.amount(n))).collect()
                };
                prop_assert_eq!(nodes(&once.tree), nodes(&other.tree));
                for o in heap.objects() {
                    prop_assert_eq!(once.leaves_of(&heap, o), other.leaves_of(&heap, o));
                }
            }
        }
    }

    #[test]
    fn objects_in_the_middle_of_a_joined_chain_are_not_lost(depths in prop::collection::vec(1usize..5, 1..12)) {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let of = heap.add_type(HeapType { name: "A".into(), kind: TypeKind::Instance, superclass: None, loader: "app".into() });
        for (i, &depth) in depths.iter().enumerate() {
            let o = heap.add_object(of, 8 * depth as u64, None);
            heap.add_reference(o, ObjectId((i as u32 + 1) % depths.len() as u32));
            heap.add_root(Root { object: o, kind: RootKind::Other, detail: String::new() });
        }
        let heap = heap.finish();
        let meta = ClassifierMeta::new("depth", "Depth").reads(Reads::SIZE).joined_by(".");
        let classifier = ByFunction::new(meta, |object: &ObjectView<'_>, values: &mut ObjectValues| {
            values.chain((0..object.size().expect("a size") / 8).map(|i| format!("d{i}")));
        });
        let grouping = Grouping::new("depth", vec![Arc::new(classifier)]);
        let grouped = group::group(&heap, &grouping, options(true), &Progress::new()).expect("grouped");
        let timeline = Timeline::from_trees(vec![point()], std::slice::from_ref(&grouped.tree));
        let map = reference_map(&heap, &grouped, &timeline, NodeId::ROOT, &Progress::new()).expect("a map");
        prop_assert_eq!(map.internal, depths.len() as u64);
        prop_assert_eq!(map.roots.iter().map(|r| r.1).sum::<u64>(), depths.len() as u64);
        for node in timeline.locate(&grouped.tree) {
            prop_assert!(node.is_some());
        }
    }
}

/// A part of a list: a classifier, or a transformer with a list.
#[derive(Clone, Debug)]
enum Item {
    Plain(&'static str),
    /// Whether those that refer, and the list.
    Through(bool, Vec<Item>),
}

impl Item {
    fn text(&self) -> String {
        match self {
            Item::Plain(name) => (*name).to_owned(),
            Item::Through(true, list) => format!("pointed-from({})", text(list)),
            Item::Through(false, list) => format!("points-to({})", text(list)),
        }
    }
}

fn text(list: &[Item]) -> String {
    list.iter().map(Item::text).collect::<Vec<_>>().join(">")
}

fn nested() -> impl Strategy<Value = Vec<Item>> {
    let plain =
        prop::sample::select(vec!["type", "kind", "points-to", "rooted", "filter(size>100)", "indirectly-rooted"]);
    let some = prop::collection::vec(plain.prop_map(Item::Plain), 1..3);
    some.clone().prop_recursive(3, 12, 2, move |inner| {
        let through = (any::<bool>(), inner).prop_map(|(referring, list)| Item::Through(referring, list));
        (prop_oneof![Just(Vec::new()), some.clone()], prop::collection::vec(through, 0..3)).prop_filter_map(
            "a list of nothing",
            |(list, mut through)| {
                // One in each direction.
                let mut seen = [false; 2];
                through.retain(|item| match item {
                    Item::Through(referring, _) => !std::mem::replace(&mut seen[usize::from(*referring)], true),
                    Item::Plain(_) => true,
                });
                Some([list, through].concat()).filter(|list| !list.is_empty())
            },
        )
    })
}

/// For each node the objects in it.
type Members = BTreeMap<Path, BTreeSet<usize>>;

/// Sorts a group of objects into the nodes below one; others take their place below rows.
fn sort_into(
    list: &[Item],
    plan: &Plan,
    seen: &BTreeSet<usize>,
    group: &BTreeSet<usize>,
    top: &Path,
    all: &mut Members,
) {
    let plain: Vec<&str> =
        list.iter().filter_map(|i| if let Item::Plain(name) = i { Some(*name) } else { None }).collect();
    let mut last: Members = BTreeMap::new();
    for &o in group {
        for end in ends(&plain, plan, seen, o) {
            let path: Path = top.iter().chain(&end).cloned().collect();
            for length in top.len()..=path.len() {
                all.entry(path[..length].to_vec()).or_default().insert(o);
            }
            last.entry(path).or_default().insert(o);
        }
    }
    for item in list {
        let Item::Through(referring, inner) = item else { continue };
        for (path, members) in &last {
            let other = |&(from, to): &(usize, usize)| match referring {
                true => members.contains(&to).then_some(from),
                false => members.contains(&from).then_some(to),
            };
            let others: BTreeSet<usize> =
                plan.references.iter().filter_map(other).filter(|o| seen.contains(o)).collect();
            let row = if *referring { "Pointed from" } else { "Points to" };
            let row: Path = path.iter().cloned().chain([format!("{row} (objects): {row}")]).collect();
            sort_into(inner, plan, seen, &others, &row, all);
        }
    }
}

proptest! {
    /// Objects at the other end count once for each group, whatever nests in what.
    #[test]
    fn transformers_put_other_objects_in_place_of_a_group(plan in plan(), list in nested(), include_unreachable: bool) {
        let heap = build(&plan);
        let seen: BTreeSet<usize> = if include_unreachable { (0..plan.objects.len()).collect() } else { reachable(&plan) };
        let grouping = group::grouping(&text(&list)).expect("a grouping");
        let grouped = group::group(&heap, &grouping, options(include_unreachable), &Progress::new()).expect("grouped");
        let mut expected = BTreeMap::new();
        sort_into(&list, &plan, &seen, &seen, &Vec::new(), &mut expected);
        let tree = &grouped.tree;
        let amount = |objects: &BTreeSet<usize>| Amount {
            objects: objects.len() as u64,
            bytes: objects.iter().map(|&o| 16 + 8 * o as u64).sum(),
        };
        let amounts: BTreeMap<Path, Amount> = expected.iter().map(|(p, o)| (p.clone(), amount(o))).collect();
        let got: BTreeMap<Path, Amount> =
            (0..tree.len()).map(|n| (path(tree, n), tree.amount(n))).filter(|(_, a)| a.objects > 0).collect();
        prop_assert_eq!(got, amounts, "{}", text(&list));
        // Which objects they are, and that those of a row are no part of what is above it.
        let timeline = Timeline::from_trees(vec![point()], std::slice::from_ref(tree));
        let place = timeline.locate(tree);
        // Of a large tree some of the nodes: each is compared with all leaves.
        for n in (0..tree.len()).step_by(1 + tree.len() / 200) {
            let node = place[n].expect("no chain is joined");
            let inside: BTreeSet<usize> = (0..plan.objects.len())
                .filter(|&o| {
                    let leaves = grouped.leaves_of(&heap, ObjectId(o as u32));
                    leaves.iter().any(|&l| timeline.is_within(place[l as usize].expect("a node"), node))
                })
                .collect();
            prop_assert_eq!(inside, expected.get(&path(tree, n)).cloned().unwrap_or_default());
            prop_assert_eq!(timeline.restarts(node), tree.restarts(n));
        }
    }
}

/// The stack that forgets to forget: what it popped is still referred to from its array, and that from the stack.
#[test]
fn the_way_from_what_is_kept_to_what_keeps_it() {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let mut of =
        |name: &str, kind| heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() });
    let stack = of("data.BuggyStack", TypeKind::Instance);
    let array = of("java.lang.Object[]", TypeKind::ObjectArray);
    let test = of("data.TestObject", TypeKind::Instance);
    let (stack, array) = (heap.add_object(stack, 24, None), heap.add_object(array, 4016, Some(1000)));
    heap.add_root(Root {
        object: stack,
        kind: RootKind::LocalVariable,
        detail: "thread \"main\", data.Main.main() line 3".into(),
    });
    heap.add_reference(stack, array);
    for _ in 0..900 {
        let object = heap.add_object(test, 16, None);
        // Twice in the array: it is referred to by one object all the same.
        heap.add_reference(array, object);
        heap.add_reference(array, object);
    }
    let heap = heap.finish();
    let grouping =
        group::grouping("filter(type=data.TestObject)>type>pointed-from(type>pointed-from(type))").expect("a grouping");
    let grouped = group::group(&heap, &grouping, options(false), &Progress::new()).expect("grouped");
    let tree = &grouped.tree;
    let rows: Vec<String> = (0..tree.len())
        .map(|n| {
            format!(
                "{}{} {} {}",
                "  ".repeat(path(tree, n).len()),
                tree.name(n),
                tree.amount(n).objects,
                tree.amount(n).bytes
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            "Heap 900 14400",
            "  data.TestObject 900 14400",
            "    Pointed from 1 4016",
            "      java.lang.Object[] 1 4016",
            "        Pointed from 1 24",
            "          data.BuggyStack 1 24",
        ]
    );
}

/// The tree does not depend on how the heap is cut into parts: a heap of many parts, grouped on one core and on several.
#[test]
fn many_parts_make_one_tree() {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let types: Vec<TypeId> = (0..50)
        .map(|i| {
            let kind = if i % 3 == 0 { TypeKind::ObjectArray } else { TypeKind::Instance };
            heap.add_type(HeapType { name: format!("p{}.T{i}", i % 7), kind, superclass: None, loader: "app".into() })
        })
        .collect();
    let n = 200_000u32;
    for i in 0..n {
        let t = (i.wrapping_mul(2_654_435_761) >> 16) as usize % types.len();
        heap.add_object(types[t], 16, (t.is_multiple_of(3)).then_some(i % 1000));
        heap.add_reference(ObjectId(i), ObjectId(i.wrapping_mul(40503) % n));
        heap.add_reference(ObjectId(i), ObjectId(i.wrapping_mul(69621) % n));
    }
    let heap = heap.finish();
    let grouping = group::grouping("package>points-to>array-length").expect("a grouping");
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| group::group(&heap, &grouping, options(true), &Progress::new()).expect("grouped"))
    };
    let (one, several) = (on(1), on(5));
    let nodes = |tree: &MemoryTree| -> Vec<(Path, Amount)> {
        (0..tree.len()).map(|n| (path(tree, n), tree.amount(n))).collect()
    };
    assert_eq!(nodes(&one.tree), nodes(&several.tree));
    assert_eq!(one.tree.amount(0).objects, u64::from(n));
    for o in heap.objects() {
        assert_eq!(one.leaves_of(&heap, o), several.leaves_of(&heap, o));
    }
}

/// A classifier says what it is, and gives as many values as it says.
#[test]
fn every_classifier_explains_itself() {
    let plan = Plan {
        objects: vec![(0, 0), (2, 3), (3, 700)],
        references: vec![(0, 1), (0, 2), (1, 0), (2, 0)],
        roots: vec![(0, 0), (0, 2), (1, 4)],
        loader_of: vec![Some(1); NAMES.len()],
        parents: vec![None, Some(0)],
    };
    let heap = build(&plan);
    let ids: Vec<String> = group::registry().classifiers().map(|(meta, _)| meta.id.to_string()).collect();
    assert!(ids.len() >= 14);
    let features = std::env::temp_dir().join(format!("memory-city-features-{}.txt", std::process::id()));
    std::fs::write(&features, "[acme]\ncom.acme").expect("a file");
    for id in ids {
        // Those that cannot be alone.
        let text = match &*id {
            "filter" => "filter(size > 3)".to_owned(),
            "feature" => format!("feature(file={})", features.display()),
            id => id.to_owned(),
        };
        let classifier = Arc::clone(&group::grouping(&text).expect("a grouping").classifiers[0]);
        let meta = classifier.meta();
        assert!(!meta.description.is_empty() && !meta.example.is_empty() && !meta.name.is_empty(), "{id}");
        assert!(!meta.reads.is_empty(), "{id}");
        for o in heap.objects() {
            let mut values = ObjectValues::default();
            // Tests panic where a classifier reads what it did not declare.
            classifier.classify(&ObjectView::new(&heap, o, None, meta.reads), &mut values);
            let lengths: Vec<usize> = values.chains().map(|c| c.count()).collect();
            match meta.cardinality {
                Cardinality::One => assert_eq!(lengths, [1], "{id}"),
                Cardinality::Many => assert!(lengths.iter().all(|&l| l == 1), "{id}"),
                Cardinality::Hierarchy => assert_eq!(lengths.len(), 1, "{id}"),
                Cardinality::Filter => assert!(classifier.passes() || lengths == [1], "{id}"),
                Cardinality::Hierarchies | Cardinality::Transformer => {}
            }
        }
    }
    let _ = std::fs::remove_file(features);
}

#[test]
fn what_is_not_declared_is_not_seen() {
    let plan = Plan {
        objects: vec![(2, 3)],
        references: vec![(0, 0)],
        roots: vec![(0, 0)],
        loader_of: vec![None; NAMES.len()],
        parents: vec![],
    };
    let heap = build(&plan);
    let view = ObjectView::new(&heap, ObjectId(0), None, Reads::SITE);
    let nothing: [(&str, &dyn Fn() -> bool); 9] = [
        ("type", &|| view.heap_type().is_none()),
        ("length", &|| view.length().is_none()),
        ("size", &|| view.size().is_none()),
        ("id", &|| view.id().is_none()),
        ("references", &|| view.references().next().is_none()),
        ("referrers", &|| view.referrers().next().is_none()),
        ("roots", &|| view.roots().next().is_none()),
        ("big", &|| !view.is_big_array()),
        ("loaders", &|| view.loaders().next().is_none()),
    ];
    for (what, asked) in nothing {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(asked));
        // A mistake of whoever wrote the classifier: found by tests, harmless for users.
        assert_eq!(answer.ok(), (!cfg!(debug_assertions)).then_some(true), "{what}");
    }
    assert_eq!(view.site().len(), 0);
}

/// Somebody who uses the library adds a classifier and a grouping, and both are known everywhere by name.
#[test]
fn classifiers_are_added_at_run_time() {
    let add = |registry: &mut group::Registry| {
        let meta =
            ClassifierMeta::new("even", "Even").describe("Whether the length is even", "Even").reads(Reads::LENGTH);
        registry.add(meta, |object, values| {
            values.one(if object.length().unwrap_or(0).is_multiple_of(2) { "Even" } else { "Odd" });
        })?;
        registry.add_grouping("even-type", "even>type", "Even and odd arrays")
    };
    assert!(group::grouping("even-type").is_err());
    group::register(add).expect("added");
    assert_eq!(group::grouping("even-type").expect("known").title, "Even › Type");
    assert_eq!(group::grouping("type>even").expect("known").title, "Type › Even");
    assert_eq!(
        group::register(add).expect_err("twice").to_string(),
        "there is a classifier or grouping \"even\" already"
    );
    let spaced = group::register(|r| r.add(ClassifierMeta::new("a b", "A"), |_, _| ())).expect_err("no name");
    assert!(spaced.to_string().contains("no name"));
    let wrong = group::register(|r| r.add_grouping("x", "even>tpye", "")).expect_err("no list");
    assert!(wrong.to_string().contains("Did you mean type?"), "{wrong}");
}

/// Groups of six objects by age, then features (an object has several), then a chain of methods.
#[test]
fn the_three_kinds_of_classifiers_make_nineteen_nodes() {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let of =
        heap.add_type(HeapType { name: "O".into(), kind: TypeKind::Instance, superclass: None, loader: "app".into() });
    // Sizes tell the objects apart: 1 to 6.
    (1..=6).for_each(|size| {
        heap.add_object(of, size, None);
    });
    let heap = heap.finish();
    let by_size = |id: &'static str, cardinality, of: fn(u64) -> Vec<Vec<&'static str>>| -> Arc<dyn Classifier> {
        let meta = ClassifierMeta::new(id, id).reads(Reads::SIZE).cardinality(cardinality);
        Arc::new(ByFunction::new(meta, move |object: &ObjectView<'_>, values: &mut ObjectValues| {
            of(object.size().expect("a size")).into_iter().for_each(|chain| values.chain(chain));
        }))
    };
    let age = by_size("Age", Cardinality::One, |o| vec![vec![if [1, 2, 6].contains(&o) { "1" } else { "3" }]]);
    let feature = by_size("Feature", Cardinality::Many, |o| match o {
        1 | 2 | 6 => vec![vec!["F1"], vec!["F2"]],
        _ => vec![vec!["F1"]],
    });
    let site = by_size("Site", Cardinality::Hierarchy, |o| {
        vec![match o {
            1 | 6 => vec!["add", "A"],
            2 => vec!["add", "B", "D"],
            4 => vec!["clone", "D"],
            _ => vec!["main", "C", "A"],
        }]
    });
    let grouping = Grouping::new("worked", vec![age, feature, site]);
    let grouped = group::group(&heap, &grouping, options(true), &Progress::new()).expect("grouped");
    let tree = &grouped.tree;
    assert_eq!(tree.len(), 19);
    let total = |wanted: &str| {
        let name = |n: usize| {
            path(tree, n).iter().map(|p| p.split_once(": ").expect("a role").1.to_owned()).collect::<Vec<_>>()
        };
        let node = (0..tree.len()).find(|&n| name(n).join("/") == wanted).expect(wanted);
        tree.amount(node).objects
    };
    for (node, objects) in
        [("", 6), ("1", 3), ("1/F1", 3), ("1/F2", 3), ("3", 3), ("1/F1/add/A", 2), ("3/F1/main/C/A", 2)]
    {
        assert_eq!(total(node), objects, "{node}");
    }
    // Nine entries for six objects.
    assert_eq!(heap.objects().map(|o| grouped.leaves_of(&heap, o).len()).sum::<usize>(), 9);
    let leaves: BTreeSet<String> = heap
        .objects()
        .flat_map(|o| grouped.leaves_of(&heap, o).to_vec())
        .map(|l| {
            path(tree, l as usize).iter().map(|p| p.split_once(": ").expect("a role").1).collect::<Vec<_>>().join("/")
        })
        .collect();
    let expected = ["1/F1/add/A", "1/F1/add/B/D", "1/F2/add/A", "1/F2/add/B/D", "3/F1/clone/D", "3/F1/main/C/A"];
    assert_eq!(leaves, expected.map(str::to_owned).into());
}

/// Objects with call chains: which code allocated them, on whose behalf, and for which feature.
#[test]
fn call_chains_are_told_by_package_caller_domain_and_feature() {
    use memory_city_heap::{AddressSet, AllocationSite, Csr, HeapColumns, NO_LENGTH, TypeSizes};
    let chains: [&[&str]; 5] = [
        &[
            "java.util.HashMap.resize():4",
            "java.util.HashMap.put():9",
            "com.acme.shop.Cart.add(Item):12",
            "java.lang.Thread.run():3",
            "Main.main():7",
        ],
        &["com.acme.shop.Cart.add(Item):50", "Main.main():8"],
        &["java.util.ArrayList.grow():1"],
        &[],
        &["Main.helper():2"],
    ];
    let addresses = AddressSet::new(3);
    let mut writer = addresses.writer();
    (0..5u64).for_each(|i| {
        writer.insert(0x1000 + 8 * i);
    });
    let outgoing = Csr::new(vec![0; 6], Vec::new());
    let frames = |chain: &[&str]| chain.iter().map(|f| Arc::from(*f)).collect();
    let heap = HeapState::new(HeapColumns {
        profile: &JVM,
        sizes: TypeSizes { base: vec![16], element: vec![0], alignment: 8, ..TypeSizes::default() },
        mirror_of: vec![None],
        types: vec![HeapType { name: "O".into(), kind: TypeKind::Instance, superclass: None, loader: "app".into() }],
        type_of: vec![0; 5],
        length: vec![NO_LENGTH; 5],
        addresses: addresses.finish(),
        outgoing,
        sites: (0..5).collect(),
        traces: chains
            .iter()
            .enumerate()
            .map(|(i, chain)| (i as u32, AllocationSite { frames: frames(chain) }))
            .collect(),
        ..HeapColumns::default()
    });
    let features = std::env::temp_dir().join(format!("memory-city-map-{}.txt", std::process::id()));
    std::fs::write(&features, "[shop]\ncom.acme.shop\n[adding]\ncom.acme.shop.Cart.add:10-20\n[main]\nMain\n")
        .expect("written");
    let values = |list: &str| -> Vec<Vec<String>> {
        let grouping = group::grouping(list).expect("a grouping");
        let grouped = group::group(&heap, &grouping, options(true), &Progress::new()).expect("grouped");
        let ends = |o: ObjectId| -> Vec<String> {
            let end = |&leaf: &u32| {
                path(&grouped.tree, leaf as usize)
                    .iter()
                    .map(|p| p.split_once(": ").expect("a role").1)
                    .collect::<Vec<_>>()
                    .join("/")
            };
            grouped.leaves_of(&heap, o).iter().map(end).collect()
        };
        heap.objects().map(ends).collect()
    };
    let file = features.display();
    let checks: [(String, [&[&str]; 5]); 9] = [
        (
            "allocating-package".into(),
            [&["java/util"], &["com/acme/shop"], &["java/util"], &["(unknown site)"], &["(default package)"]],
        ),
        (
            "callers(depth=2)".into(),
            [
                &["java.util.HashMap.put():9/com.acme.shop.Cart.add(Item):12"],
                &["Main.main():8"],
                &["(no caller)"],
                &["(unknown site)"],
                &["(no caller)"],
            ],
        ),
        (
            "callers(depth=1,outermost-first)".into(),
            [&["Main.main():7"], &["Main.main():8"], &["(no caller)"], &["(unknown site)"], &["(no caller)"]],
        ),
        (
            "domain-site".into(),
            [
                &["com.acme.shop.Cart.add(Item):12"],
                &["com.acme.shop.Cart.add(Item):50"],
                &["(libraries only)"],
                &["(unknown site)"],
                &["Main.helper():2"],
            ],
        ),
        (
            "domain-site(callers)".into(),
            [
                &["com.acme.shop.Cart.add(Item):12/(1 library frame)/Main.main():7"],
                &["com.acme.shop.Cart.add(Item):50/Main.main():8"],
                &["(libraries only)"],
                &["(unknown site)"],
                &["Main.helper():2"],
            ],
        ),
        (
            "domain-site(packages=java.util+com.x)".into(),
            [
                &["java.util.HashMap.resize():4"],
                &["(libraries only)"],
                &["java.util.ArrayList.grow():1"],
                &["(unknown site)"],
                &["(libraries only)"],
            ],
        ),
        (
            format!("feature(file={file})"),
            [&["shop", "adding"], &["shop"], &["(no feature)"], &["(unknown site)"], &["main"]],
        ),
        (
            format!("feature(file={file},all)"),
            [&["shop", "adding", "main"], &["shop", "main"], &["(no feature)"], &["(unknown site)"], &["main"]],
        ),
        (
            format!("feature(file={file},site)"),
            [&["(no feature)"], &["shop"], &["(no feature)"], &["(unknown site)"], &["main"]],
        ),
    ];
    for (list, expected) in checks {
        let mut got = values(&list);
        let mut expected: Vec<Vec<String>> =
            expected.iter().map(|e| e.iter().map(|s| (*s).to_owned()).collect()).collect();
        got.iter_mut().chain(&mut expected).for_each(|ends| ends.sort());
        assert_eq!(got, expected, "{list}");
    }
    // Overlapping features: the object counts once above them.
    let grouping = group::grouping(&format!("feature(file={file})")).expect("a grouping");
    let grouped = group::group(&heap, &grouping, options(true), &Progress::new()).expect("grouped");
    assert_eq!(grouped.tree.amount(0).objects, 5);
    let _ = std::fs::remove_file(&features);
    // Whoever says which packages are the program's own is heard by presets too, from then on.
    let mut registry = group::Registry::new();
    registry.set_domain(group::domain::DomainPackages::chosen(["java.util"]));
    let told = registry.grouping("who-allocates").expect("a task");
    let grouped = group::group(&heap, &told, options(true), &Progress::new()).expect("grouped");
    assert!((0..grouped.tree.len()).any(|n| &**grouped.tree.name(n) == "java.util.HashMap.resize():4"));
}

/// Unreachable objects are included for this, though they are left out otherwise.
#[test]
fn garbage_is_a_task() {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let of =
        heap.add_type(HeapType { name: "O".into(), kind: TypeKind::Instance, superclass: None, loader: "app".into() });
    let [kept, lost, last] = [16, 24, 32].map(|size| heap.add_object(of, size, None));
    heap.add_reference(lost, last);
    heap.add_reference(lost, kept);
    heap.add_root(Root { object: kept, kind: RootKind::Thread, detail: "thread \"main\"".into() });
    let heap = heap.finish();
    let grouped = |list: &str| {
        let grouping = group::grouping(list).expect("a grouping");
        group::group(&heap, &grouping, options(false), &Progress::new()).expect("grouped")
    };
    assert_eq!(grouped("what-is-garbage").tree.amount(0), Amount { objects: 2, bytes: 56 });
    assert_eq!(grouped("type").tree.amount(0), Amount { objects: 1, bytes: 16 });
    let both = grouped("reachable>type");
    assert_eq!(both.tree.amount(0).objects, 3);
}
