//! Trees of owners on random heaps: what must hold of any of them.

use super::OwnerTree;
use memory_city_formats::JVM;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    Amount, HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, Strength, TypeId, TypeKind,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Collections with their insides, and what a program puts into them.
const TYPES: [(&str, TypeKind); 9] = [
    ("java.lang.Class", TypeKind::Instance),
    ("java.util.HashMap", TypeKind::Instance),
    ("java.util.HashMap$Node[]", TypeKind::ObjectArray),
    ("java.util.HashMap$Node", TypeKind::Instance),
    ("java.util.ArrayList", TypeKind::Instance),
    ("java.lang.Object[]", TypeKind::ObjectArray),
    ("com.acme.Item", TypeKind::Instance),
    ("com.acme.Holder", TypeKind::Instance),
    ("byte[]", TypeKind::PrimitiveArray),
];

/// A heap whose objects are numbered in some order. Objects 0 and 1 are the classes of `Item` and `Holder` where `classes`
/// says so; what these refer to they do by static fields.
#[derive(Clone, Debug)]
struct InventedHeap {
    type_of: Vec<usize>,
    classes: bool,
    edges: Vec<(usize, usize)>,
    weak: Option<(usize, usize)>,
    roots: Vec<(usize, u32)>,
    /// Sorts the objects when they are added in another order.
    order: Vec<u32>,
}

fn plans() -> impl Strategy<Value = InventedHeap> {
    (4usize..40).prop_flat_map(|n| {
        (
            prop::collection::vec(1..TYPES.len(), n),
            any::<bool>(),
            prop::collection::vec((0..n, 0..n), n..(2 * n)),
            prop::option::of((0..n, 0..n)),
            prop::collection::vec((0..n, 0u32..5), 1..4),
            prop::collection::vec(any::<u32>(), n),
        )
            .prop_map(|(type_of, classes, edges, weak, roots, order)| InventedHeap {
                type_of,
                classes,
                edges,
                weak,
                roots,
                order,
            })
    })
}

impl InventedHeap {
    /// The heap with object `i` of the plan as number `number[i]`.
    fn heap(&self, number: &[u32]) -> HeapState {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let types: Vec<TypeId> = TYPES
            .iter()
            .map(|(name, kind)| {
                let name = (*name).into();
                heap.add_type(HeapType { name, kind: *kind, superclass: None, loader: "app".into() })
            })
            .collect();
        let id = |o: usize| ObjectId(number[o]);
        let is_class = |o: usize| self.classes && o < 2;
        let mut by_number: Vec<usize> = (0..number.len()).collect();
        by_number.sort_by_key(|&o| number[o]);
        for &o in &by_number {
            let of = if is_class(o) { 0 } else { self.type_of[o] };
            heap.add_object(types[of], 8 * (1 + o as u64 % 5), None);
        }
        if self.classes {
            heap.set_class_object(types[6], id(0));
            heap.set_class_object(types[7], id(1));
        }
        // In the order of the objects: where references stand in an object says nothing either.
        let mut edges: Vec<(ObjectId, ObjectId)> = self.edges.iter().map(|&(from, to)| (id(from), id(to))).collect();
        edges.sort_unstable();
        edges.iter().for_each(|&(from, to)| heap.add_reference(from, to));
        if let Some((from, to)) = self.weak {
            heap.add_referent(id(from), id(to), Strength::Weak);
        }
        for &(from, to) in self.edges.iter().filter(|(from, _)| is_class(*from)) {
            let class = TYPES[6 + from].0;
            // The type of what it holds is its name.
            let detail = format!("{class}.field{}", self.type_of[to]);
            heap.add_root(Root { object: id(to), kind: RootKind::StaticField, detail });
        }
        for &(o, kind) in &self.roots {
            let (kind, detail) = match kind {
                0 => (RootKind::Thread, "thread \"worker-7\"".to_owned()),
                1 => (RootKind::LocalVariable, "thread \"main\", com.acme.Main.run() line 7".to_owned()),
                2 => (RootKind::Jni, "JNI global".to_owned()),
                3 => (RootKind::LocalVariable, "thread \"worker-3\", com.acme.Main.work() line 9".to_owned()),
                _ => (RootKind::Monitor, String::new()),
            };
            heap.add_root(Root { object: id(o), kind, detail });
        }
        heap.finish()
    }

    fn as_it_is(&self) -> Vec<u32> {
        (0..self.type_of.len() as u32).collect()
    }

    /// Another order of the objects.
    fn shuffled(&self) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.type_of.len()).collect();
        order.sort_by_key(|&o| (self.order[o], o));
        let mut number = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&o, at)| number[o] = at);
        number
    }
}

/// A method works on a map, and on the table inside, that a static field of another object's class keeps.
#[test]
fn what_a_method_works_on_belongs_to_who_keeps_it() {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let types = ["java.lang.Class", "java.util.HashMap", "java.util.HashMap$Node[]", "com.acme.Item"].map(|name| {
        let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
        heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() })
    });
    // The class of items, whose static field is the map; the map, its table, an item in it; an item of the method alone, and a table
    // of its own into which it has copied the item in the map.
    let objects = [0, 1, 2, 3, 3, 2].map(|of: usize| heap.add_object(types[of], 16, None));
    heap.add_reference(objects[5], objects[3]);
    heap.set_class_object(types[3], objects[0]);
    for pair in objects[..4].windows(2) {
        heap.add_reference(pair[0], pair[1]);
    }
    let mut root = |object, kind, detail: &str| heap.add_root(Root { object, kind, detail: detail.into() });
    root(objects[0], RootKind::ClassLoader, "class loader");
    root(objects[1], RootKind::StaticField, "com.acme.Item.all");
    for o in [1, 2, 4, 5] {
        root(objects[o], RootKind::LocalVariable, "thread \"main\", com.acme.Main.run() line 7");
    }
    root(objects[2], RootKind::Monitor, "");
    let heap = heap.finish();
    let path = |rules: KeepRules, o: usize| {
        let progress = Progress::new();
        let dominators = Dominators::new(&heap, rules, &progress).expect("not cancelled");
        let tree = OwnerTree::new(&heap, &dominators, &progress).expect("not cancelled");
        tree.path(tree.of(objects[o])).iter().map(ToString::to_string).collect::<Vec<_>>().join(" > ")
    };
    let owners = RULES.for_owners();
    for inside in [1, 2] {
        assert_eq!(path(owners, inside), "class com.acme.Item > static all > java.util.HashMap");
    }
    assert_eq!(path(owners, 3), "class com.acme.Item > static all > java.util.HashMap > com.acme.Item");
    for own in [4, 5] {
        assert!(path(owners, own).starts_with("thread main > local variable of"), "{}", path(owners, own));
    }
    // Where variables count like any root, the table is the method's.
    assert!(path(RULES, 3).contains("local variable of"), "{}", path(RULES, 3));
}

/// A script that runs holds the table of its variables, with a list that its method works on. An iterator over a list is no owner of it.
#[test]
fn a_script_owns_the_variable_that_its_method_works_on() {
    let types = [
        "com.acme.Script",
        "com.acme.Binding",
        "java.util.HashMap",
        "java.util.HashMap$Node[]",
        "java.util.HashMap$Node",
        "java.util.ArrayList",
        "java.util.ArrayList$Itr",
    ];
    for (held, below) in
        [(&[0, 5][..], "com.acme.Script > com.acme.Binding > java.util.HashMap > "), (&[5], ""), (&[5, 6], "")]
    {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let objects = types.map(|name| {
            let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
            let of = heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() });
            heap.add_object(of, 16, None)
        });
        for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (6, 5)] {
            heap.add_reference(objects[from], objects[to]);
        }
        for &o in held {
            let detail = "thread \"main\", com.acme.Script.run() line 7".to_owned();
            heap.add_root(Root { object: objects[o], kind: RootKind::LocalVariable, detail });
        }
        let (heap, progress) = (heap.finish(), Progress::new());
        let dominators = Dominators::new(&heap, RULES.for_owners(), &progress).expect("not cancelled");
        let tree = OwnerTree::new(&heap, &dominators, &progress).expect("not cancelled");
        let path = tree.path(tree.of(objects[5])).iter().map(ToString::to_string).collect::<Vec<_>>().join(" > ");
        assert_eq!(path, format!("thread main > local variable of com.acme.Script.run() > {below}java.util.ArrayList"));
    }
}

const RULES: KeepRules =
    KeepRules { soft: true, weak: false, permanent_classes: false, instances_keep_classes: true, passing_roots: true };

fn owners(heap: &HeapState) -> (Dominators, OwnerTree) {
    owners_by(heap, RULES)
}

fn owners_by(heap: &HeapState, rules: KeepRules) -> (Dominators, OwnerTree) {
    let progress = Progress::new();
    let dominators = Dominators::new(heap, rules, &progress).expect("not cancelled");
    let tree = OwnerTree::new(heap, &dominators, &progress).expect("not cancelled");
    (dominators, tree)
}

/// Each place by its names, with what is there.
fn places(tree: &OwnerTree) -> BTreeMap<Vec<String>, (Amount, Amount, u64)> {
    let name = |n: usize| tree.path(n as u32).iter().map(|name| name.to_string()).collect();
    let places: BTreeMap<_, _> =
        tree.nodes().iter().enumerate().map(|(n, node)| (name(n), (node.own, node.total, node.heads))).collect();
    assert_eq!(places.len(), tree.nodes().len(), "no two places have one name");
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_object_is_in_one_place_below_its_owner(plan in plans()) {
        let heap = plan.heap(&plan.as_it_is());
        let (dominators, tree) = owners(&heap);
        let mut own = vec![Amount::default(); tree.nodes().len()];
        let mut heads = vec![0u64; own.len()];
        for o in heap.objects() {
            let node = tree.of(o);
            prop_assert_eq!(dominators.is_reached(o), node != 0, "{:?}", o);
            if node == 0 {
                continue;
            }
            own[node as usize] += Amount { objects: 1, bytes: heap.size_of(o) };
            heads[node as usize] += 1;
            if let Some(owner) = dominators.owner(o) {
                let above = tree.of(owner);
                let mut at = node;
                while at != above && at != 0 {
                    at = tree.nodes()[at as usize].parent;
                }
                // What nests in itself is one place, further up.
                let recursion = tree.path(above).starts_with(&tree.path(node));
                prop_assert!(at == above || recursion, "{:?} is not below its owner", o);
            }
        }
        let mut total = own.clone();
        for (n, node) in tree.nodes().iter().enumerate().skip(1).rev() {
            prop_assert!((node.parent as usize) < n, "parents come first");
            let below = total[n];
            total[node.parent as usize] += below;
        }
        for (n, node) in tree.nodes().iter().enumerate() {
            prop_assert_eq!((node.own, node.total), (own[n], total[n]));
            prop_assert!(node.heads <= heads[n]);
            if let Some((o, bytes)) = node.largest {
                prop_assert_eq!(tree.of(o) as usize, n);
                prop_assert_eq!(dominators.retained(o).bytes, bytes);
            }
        }
        prop_assert_eq!(tree.nodes()[0].total, dominators.total());
    }

    /// Dumps number objects by address, and a collection moves them: names and amounts may not depend on it.
    #[test]
    fn the_order_of_objects_changes_nothing(plan in plans()) {
        let (heap, other) = (plan.heap(&plan.as_it_is()), plan.heap(&plan.shuffled()));
        for rules in [RULES, RULES.for_owners()] {
            prop_assert_eq!(places(&owners_by(&heap, rules).1), places(&owners_by(&other, rules).1));
        }
    }
}

/// Objects of a few types by name, with references; the first is held by a static field.
fn heap_of(types: &[&str], objects: impl Iterator<Item = usize>, edges: impl Iterator<Item = (u32, u32)>) -> HeapState {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let ids: Vec<TypeId> = types
        .iter()
        .map(|name| {
            let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
            heap.add_type(HeapType { name: (*name).into(), kind, superclass: None, loader: "app".into() })
        })
        .collect();
    objects.for_each(|t| {
        heap.add_object(ids[t], 16, None);
    });
    edges.for_each(|(from, to)| heap.add_reference(ObjectId(from), ObjectId(to)));
    heap.add_root(Root { object: ObjectId(0), kind: RootKind::StaticField, detail: "com.acme.App.all".into() });
    heap.finish()
}

#[test]
fn a_list_of_a_million_nodes_is_one_place() {
    const NODES: u32 = 1_000_000;
    let types = ["java.util.LinkedList", "java.util.LinkedList$Node"];
    let heap = heap_of(&types, (0..=NODES).map(|o| usize::from(o > 0)), (0..NODES).map(|o| (o, o + 1)));
    let (_, tree) = owners(&heap);
    let all = places(&tree);
    let list = &all[&["class com.acme.App", "static all", "java.util.LinkedList"].map(str::to_owned).to_vec()];
    assert_eq!((all.len(), list.0.objects, list.2), (4, u64::from(NODES) + 1, 1));
    // Of a program's own nodes too.
    let heap = heap_of(&["com.acme.Node"], (0..=NODES).map(|_| 0), (0..NODES).map(|o| (o, o + 1)));
    assert_eq!(owners(&heap).1.nodes().len(), 4);
}

/// Kinds that hold each other in turn are a chain of a few places, however long it is.
#[test]
fn chains_of_two_kinds_are_short() {
    let of = |types: [&str; 2], length: u32| {
        owners(&heap_of(&types, (0..length).map(|o| o as usize % 2), (0..length - 1).map(|o| (o, o + 1)))).1
    };
    for types in [["clojure.lang.LazySeq", "clojure.lang.Cons"], ["com.acme.A", "com.acme.B"]] {
        for length in [48, 1000] {
            let tree = of(types, length);
            assert!(tree.nodes().len() <= 7 && tree.too_deep() == 0, "{types:?}: {}", tree.nodes().len());
        }
    }
    // A map of lists of maps is none.
    let map_of_lists = of(["java.util.HashMap", "java.util.ArrayList"], 3);
    assert_eq!(map_of_lists.nodes().len(), 6);
}

#[test]
fn maps_within_maps_are_places_up_to_a_depth_that_is_said() {
    const MAPS: u32 = 100;
    let types = ["java.util.HashMap", "java.util.HashMap$Node[]", "java.util.HashMap$Node"];
    let heap = heap_of(&types, (0..3 * MAPS).map(|o| o as usize % 3), (0..3 * MAPS - 1).map(|o| (o, o + 1)));
    let (dominators, tree) = owners(&heap);
    assert!(tree.nodes().len() <= 60, "{}", tree.nodes().len());
    assert_eq!(tree.nodes()[0].total, dominators.total());
    // Tables and nodes lie with their map; of the maps, those that lie too deep are counted.
    let deepest = tree.nodes().last().expect("a place");
    assert_eq!(tree.too_deep(), u64::from(MAPS) - (tree.nodes().len() as u64 - 3));
    assert_eq!(deepest.own.objects, 3 * (tree.too_deep() + 1));
}

#[test]
fn many_threads_are_one_place_and_what_many_fields_share_is_another() {
    const THREADS: u32 = 50_000;
    const FIELDS: u32 = 10_000;
    let mut heap = HeapBuilder::with_profile(&JVM);
    let of =
        |name: &str| HeapType { name: name.into(), kind: TypeKind::Instance, superclass: None, loader: "app".into() };
    let (thread, item) = (heap.add_type(of("java.lang.Thread")), heap.add_type(of("com.acme.Item")));
    for n in 0..THREADS {
        let o = heap.add_object(thread, 100, None);
        let local = heap.add_object(item, 10, None);
        let named = |kind, what: &str| (kind, format!("thread \"worker-{n}\"{what}"));
        for (object, (kind, detail)) in [
            (o, named(RootKind::Thread, "")),
            (local, named(RootKind::LocalVariable, &format!(", com.acme.Job.run() line {}", n % 30))),
        ] {
            heap.add_root(Root { object, kind, detail });
        }
    }
    let shared = heap.add_object(item, 10, None);
    for n in 0..FIELDS {
        let detail = format!("com.acme.C{n}.item");
        heap.add_root(Root { object: shared, kind: RootKind::StaticField, detail });
    }
    let (_, tree) = owners(&heap.finish());
    let all = places(&tree);
    assert!(all.len() < 10, "{all:?}");
    assert_eq!(all[&vec!["thread worker-#".to_owned()]].2, u64::from(THREADS));
}

/// A queue that a thread, cleaners of the runtime, and sometimes a field refer to.
#[test]
fn cleaners_own_nothing_and_threads_hide_no_field() {
    const HOLDERS: [&str; 4] = ["com.acme.Worker", "java.util.TimerThread", "jdk.internal.ref.Cleaner", "com.acme.App"];
    const QUEUE: u32 = HOLDERS.len() as u32;
    let cleaner = (2, RootKind::StaticField, "jdk.internal.ref.CleanerFactory.commonCleaner");
    let threads = [(0, RootKind::Thread, "thread \"a\""), (1, RootKind::Thread, "thread \"b\"")];
    let field = (3, RootKind::StaticField, "com.acme.App.timer");
    for (holders, expected) in [
        (vec![cleaner, threads[0]], "thread a > com.acme.Queue"),
        (vec![cleaner, threads[0], threads[1], field], "class com.acme.App > static timer > com.acme.Queue"),
        (
            vec![cleaner],
            "class jdk.internal.ref.CleanerFactory > static commonCleaner > jdk.internal.ref.Cleaner > com.acme.Queue",
        ),
    ] {
        let mut heap = HeapBuilder::with_profile(&JVM);
        for name in HOLDERS.iter().chain(&["com.acme.Queue"]) {
            let of =
                HeapType { name: (*name).to_owned(), kind: TypeKind::Instance, superclass: None, loader: "app".into() };
            let of = heap.add_type(of);
            heap.add_object(of, 16, None);
        }
        for (holder, kind, detail) in holders {
            heap.add_root(Root { object: ObjectId(holder), kind, detail: detail.into() });
            heap.add_reference(ObjectId(holder), ObjectId(QUEUE));
        }
        let heap = heap.finish();
        let (_, owners) = owners(&heap);
        let names: Vec<&str> = owners.path(owners.of(ObjectId(QUEUE))).into_iter().map(|name| &**name).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| !name.starts_with("shared")).collect();
        assert_eq!(names.join(" > "), expected);
    }
}
