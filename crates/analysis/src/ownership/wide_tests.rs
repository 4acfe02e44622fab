//! Very many kinds at one place: trees of owners cost what there is to name, not the square of it.

use super::{AccumulationRules, OwnerHistory, OwnerTree, accumulations};
use memory_city_formats::JVM;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeId, TypeKind};

/// A list with an element of each of so many classes. Each element has a part of its own, which leads back to an element like the list's
/// first: all kinds fold there. One part is shared by all elements and a static field of each class.
fn wide(kinds: u32, parts: u32) -> HeapState {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let mut of = |name: String, kind| -> TypeId {
        heap.add_type(HeapType {
            name,
            kind,
            superclass: None,
            loader: "jdk.internal.loader.ClassLoaders$AppClassLoader".into(),
        })
    };
    let class = of("java.lang.Class".into(), TypeKind::Instance);
    let list = of("java.util.ArrayList".into(), TypeKind::Instance);
    let array = of("java.lang.Object[]".into(), TypeKind::ObjectArray);
    let shared = of("com.acme.Shared".into(), TypeKind::Instance);
    let kinds: Vec<TypeId> = (0..kinds).map(|k| of(format!("com.acme.Kind{k}"), TypeKind::Instance)).collect();
    let list = heap.add_object(list, 24, None);
    let array = heap.add_object(array, 16 + 4 * kinds.len() as u64, None);
    let shared = heap.add_object(shared, 16, None);
    heap.add_root(Root {
        object: list,
        kind: RootKind::LocalVariable,
        detail: "thread \"main\", a.B.c() line 1".into(),
    });
    heap.add_reference(list, array);
    for (k, &kind) in kinds.iter().enumerate() {
        let mirror = heap.add_object(class, 100, None);
        heap.set_class_object(kind, mirror);
        heap.add_reference(mirror, shared);
        heap.add_root(Root { object: shared, kind: RootKind::StaticField, detail: format!("com.acme.Kind{k}.shared") });
        let element = heap.add_object(kind, 32, None);
        heap.add_reference(array, element);
        heap.add_reference(element, shared);
        let mut at = element;
        for part in 0..parts {
            let next = heap.add_object(kinds[(k + part as usize) % kinds.len()], 32, None);
            heap.add_reference(at, next);
            at = next;
        }
    }
    heap.finish()
}

#[test]
fn ten_thousand_kinds_at_one_place_are_named_one_by_one() {
    let kinds = 10_000;
    let progress = Progress::new();
    let rules = KeepRules::default();
    let mut history = OwnerHistory::default().with_profile(&JVM);
    for parts in [1, 3] {
        let heap = wide(kinds, parts);
        let dominators = Dominators::new(&heap, rules, &progress).expect("not cancelled");
        let tree = OwnerTree::new(&heap, &dominators, &progress).expect("not cancelled");
        let list = tree.of(ObjectId(0));
        let below = tree.nodes().iter().enumerate().skip(1).filter(|(_, node)| node.parent == list);
        assert_eq!(below.count(), kinds as usize);
        let shared: Vec<String> = tree.path(tree.of(ObjectId(2))).iter().map(|name| name.to_string()).collect();
        assert_eq!(shared, ["shared by more than 3", "com.acme.Shared"]);
        let reached: u64 = tree.nodes().iter().map(|node| node.own.objects).sum();
        assert_eq!(reached, heap.object_count() as u64);
        history.add(tree.places());
    }
    let points = accumulations(&history, AccumulationRules::default());
    assert_eq!(points.len(), 1, "{points:?}");
    assert_eq!(history.path(points[0].place).last().map(|name| &**name), Some("java.util.ArrayList"));
}
