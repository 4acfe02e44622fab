//! A growing container is one place, whoever else refers to it for a while.

use super::{AccumulationRules, Elements, OwnerHistory, OwnerPlaces, OwnerTree, accumulations, suspects};
use memory_city_formats::JVM;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapType, ObjectId, Root, RootKind, TypeId, TypeKind};
use proptest::prelude::*;

/// What else refers to the container, or to what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecondHolder {
    /// A static field of another class.
    Field,
    /// An object that another static field holds.
    Object,
    /// Four such objects: more than are named.
    Many,
    /// A handle of the VM.
    Handle,
    /// Another list, of all elements.
    Index,
}

const HOLDERS: [SecondHolder; 5] =
    [SecondHolder::Field, SecondHolder::Object, SecondHolder::Many, SecondHolder::Handle, SecondHolder::Index];

struct GrowingState {
    heap: HeapBuilder,
    types: Vec<(&'static str, TypeId)>,
}

impl GrowingState {
    fn add(&mut self, name: &'static str, bytes: u64) -> ObjectId {
        let known = self.types.iter().find(|(other, _)| *other == name).map(|(_, of)| *of);
        let of = known.unwrap_or_else(|| {
            let kind = match name {
                "byte[]" => TypeKind::PrimitiveArray,
                _ if name.ends_with("[]") => TypeKind::ObjectArray,
                _ => TypeKind::Instance,
            };
            let of = self.heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: "app".into() });
            self.types.push((name, of));
            of
        });
        self.heap.add_object(of, bytes, None)
    }

    fn field(&mut self, object: ObjectId, detail: &str) {
        self.heap.add_root(Root { object, kind: RootKind::StaticField, detail: detail.into() });
    }

    /// A map with so many sessions, each with a name; the map and its sessions.
    fn map(&mut self, sessions: u64) -> (ObjectId, Vec<ObjectId>) {
        let map = self.add("java.util.HashMap", 48);
        let table = self.add("java.util.HashMap$Node[]", 16 + 8 * sessions);
        self.heap.add_reference(map, table);
        let mut all = Vec::new();
        for _ in 0..sessions {
            let [node, key, session, name] = [
                ("java.util.HashMap$Node", 32),
                ("java.lang.String", 24),
                ("com.acme.Session", 200),
                ("java.lang.String", 24),
            ]
            .map(|(name, bytes)| self.add(name, bytes));
            for (from, to) in [(table, node), (node, key), (node, session), (session, name)] {
                self.heap.add_reference(from, to);
            }
            all.push(session);
        }
        (map, all)
    }
}

/// The owners of a heap in which a map of sessions grows, with other things that do not.
fn places(sessions: u64, second: Option<SecondHolder>, noise: u64) -> OwnerPlaces {
    let mut state = GrowingState { heap: HeapBuilder::with_profile(&JVM), types: Vec::new() };
    let registry = state.add("com.acme.Registry", 16);
    state.field(registry, "com.acme.Main.registry");
    let (map, all) = state.map(sessions);
    state.heap.add_reference(registry, map);
    // A cache of the same kind, as large as ever.
    let (cache, _) = state.map(300);
    state.field(cache, "com.acme.Cache.entries");
    for n in 0..noise {
        let buffer = state.add("byte[]", 4000 + 100 * n);
        state.field(buffer, &format!("com.acme.Buffers.b{n}"));
    }
    match second {
        None => {}
        Some(SecondHolder::Field) => state.field(map, "com.acme.Audit.seen"),
        Some(SecondHolder::Handle) => {
            state.heap.add_root(Root { object: map, kind: RootKind::Jni, detail: "JNI global".into() });
        }
        Some(SecondHolder::Index) => {
            let list = state.add("java.util.ArrayList", 24);
            let array = state.add("java.lang.Object[]", 16 + 8 * sessions);
            state.heap.add_reference(list, array);
            all.iter().for_each(|&session| state.heap.add_reference(array, session));
            state.field(list, "com.acme.Report.rows");
        }
        Some(holder) => {
            let names = ["com.acme.Audit", "com.acme.Mirror", "com.acme.Watch", "com.acme.Export"];
            for name in &names[..if holder == SecondHolder::Many { 4 } else { 1 }] {
                let object = state.add(name, 16);
                state.heap.add_reference(object, map);
                state.field(object, &format!("{name}.instance"));
            }
        }
    }
    let heap = state.heap.finish();
    let progress = Progress::new();
    let dominators = Dominators::new(&heap, KeepRules::default(), &progress).expect("not cancelled");
    OwnerTree::new(&heap, &dominators, &progress).expect("not cancelled").into_places()
}

/// Where it grows most, how many sessions there were and are, and by how many bytes.
fn answer(states: &[OwnerPlaces]) -> Option<(String, u64, u64, u64)> {
    let mut history = OwnerHistory::default().with_profile(&JVM);
    for places in states {
        history.add(places);
    }
    let history = history.settled();
    let found = accumulations(&history, AccumulationRules::default());
    let most = found.first()?;
    let Elements::Below(below) = &most.elements else { return None };
    let sessions = below.iter().find(|&&p| &*history.places()[p as usize].name == "com.acme.Session")?;
    let held = &history.places()[*sessions as usize].held;
    let grown = most.bytes.1 - most.bytes.0;
    Some((history.path(most.place).join("/"), held.first()?.heads, held.last()?.heads, grown))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_second_holder_that_comes_and_goes_changes_no_answer(
        held in prop::collection::vec(prop::option::of(prop::sample::select(HOLDERS.to_vec())), 3..8),
        one in prop::option::of(prop::sample::select(HOLDERS.to_vec())),
        step in 200u64..500,
        noise in prop::collection::vec(0u64..4, 8),
    ) {
        // It is there at some times alone; at one of them at least it is not.
        let mut held: Vec<Option<SecondHolder>> = held.iter().map(|there| there.and(one)).collect();
        let alone = held.len() / 2;
        held[alone] = None;
        let sessions = |t: usize| 300 + step * t as u64;
        let states: Vec<OwnerPlaces> =
            held.iter().enumerate().map(|(t, &second)| places(sessions(t), second, noise[t])).collect();
        let without: Vec<OwnerPlaces> = (0..held.len()).map(|t| places(sessions(t), None, noise[t])).collect();
        let (right, found) = (answer(&without), answer(&states));
        let expected = "class com.acme.Main/static registry/com.acme.Registry/java.util.HashMap";
        let right = right.expect("it grows");
        prop_assert_eq!((&*right.0, right.1, right.2), (expected, 300, sessions(held.len() - 1)));
        let found = found.expect("it grows with a second holder too");
        // Where fields are roots, as in traces, one that holds the map itself owns it as well as the one whose object does; but not if it is
        // empty at the end.
        let is_field = one == Some(SecondHolder::Field) && held.last() == Some(&one);
        match is_field && found.0 != right.0 {
            true => prop_assert_eq!(&*found.0, "class com.acme.Audit/static seen/java.util.HashMap"),
            false => prop_assert_eq!(&found.0, &right.0),
        }
        prop_assert_eq!((found.1, found.2), (right.1, right.2));
        // The second holder's own list is no part of it.
        prop_assert!(found.3.abs_diff(right.3) * 10 <= right.3, "{} {}", found.3, right.3);
    }
}

/// What is in no place that is known is named, as deep as most of it goes.
#[test]
fn the_rest_of_a_growth_has_suspects() {
    let mut history = OwnerHistory::default().with_profile(&JVM);
    for (sessions, noise) in [(300, 1), (600, 3), (900, 40)] {
        history.add(&places(sessions, None, noise));
    }
    let history = history.settled();
    let map = accumulations(&history, AccumulationRules::default());
    let known: Vec<u32> = map.iter().map(|point| point.place).collect();
    assert!(known.iter().any(|&p| history.path(p).join("/").ends_with("com.acme.Registry/java.util.HashMap")));
    let all: Vec<String> = suspects(&history, &[]).iter().map(|&(p, _)| history.path(p).join("/")).collect();
    assert!(all.iter().any(|path| path.contains("com.acme.Registry")), "{all:?}");
    let rest: Vec<String> = suspects(&history, &known).iter().map(|&(p, _)| history.path(p).join("/")).collect();
    assert!(!rest.iter().any(|path| path.contains("com.acme.Registry")), "{rest:?}");
}
