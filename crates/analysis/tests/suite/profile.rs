//! Profiles: the engine has no name of a runtime but by the profile of the heap state.

use memory_city_analysis::group::domain;
use memory_city_analysis::group::{self, GroupOptions};
use memory_city_analysis::timeline::{TimePoint, Timeline};
use memory_city_formats::JVM;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Profile, Root, RootKind, TypeKind};
use memory_city_testing::{root, rust_files};
use std::collections::BTreeSet;

/// A map with an entry, a lambda and bytes in a static field; and the class of the map, which holds an object of its own.
fn heap(profile: &'static Profile) -> (HeapState, ObjectId) {
    let mut heap = HeapBuilder::with_profile(profile);
    let [class, map, table, node, item, lambda, bytes] = [
        "java.lang.Class",
        "java.util.HashMap",
        "java.util.HashMap$Node[]",
        "java.util.HashMap$Node",
        "com.acme.Item",
        "com.acme.Main$$Lambda$14/0x0000000800c03000",
        "byte[]",
    ]
    .map(|name| {
        let kind = match name {
            "byte[]" => TypeKind::PrimitiveArray,
            _ if name.ends_with("[]") => TypeKind::ObjectArray,
            _ => TypeKind::Instance,
        };
        let loader = if name.starts_with("java.") { "bootstrap" } else { "app" };
        let of = heap.add_type(HeapType { name: name.into(), kind, superclass: None, loader: loader.into() });
        (of, kind)
    });
    let mut add = |(of, kind)| heap.add_object(of, 16, (kind != TypeKind::Instance).then_some(1));
    let [all, first, entry, key, value, data, mirror, kept] =
        [map, table, node, item, lambda, bytes, class, item].map(&mut add);
    for (from, to) in [(all, first), (first, entry), (entry, key), (entry, value), (value, data), (mirror, kept)] {
        heap.add_reference(from, to);
    }
    heap.set_class_object(node.0, mirror);
    heap.add_root(Root { object: all, kind: RootKind::Jni, detail: String::new() });
    (heap.finish(), kept)
}

/// The last names of all groups.
fn groups(heap: &HeapState, grouping: &str) -> BTreeSet<String> {
    let grouping = group::grouping(grouping).expect("a grouping");
    let options = GroupOptions { include_unreachable: true, ..GroupOptions::default() };
    let tree = group::group(heap, &grouping, options, &Progress::new()).expect("grouped").tree;
    let timeline = Timeline::from_trees(vec![TimePoint::default()], &[tree]);
    timeline.nodes().map(|node| timeline.name(node).to_owned()).collect()
}

#[test]
fn a_heap_of_no_known_runtime_has_its_own_words() {
    let (jvm, kept_there) = heap(&JVM);
    let (plain, kept_here) = heap(&Profile::PLAIN);
    for (grouping, of_jvm, of_any) in [
        ("type", "com.acme.Main$$Lambda", "com.acme.Main$$Lambda$14/0x0000000800c03000"),
        ("package", "(primitive arrays)", "(default package)"),
        ("domain", "No", "Yes"),
        ("owner", "com.acme.Item", "java.util.HashMap$Node"),
    ] {
        let (there, here) = (groups(&jvm, grouping), groups(&plain, grouping));
        assert!(there.contains(of_jvm), "{grouping} {there:?}");
        assert!(here.contains(of_any), "{grouping} {here:?}");
        assert!(grouping == "domain" || !there.contains(of_any), "{grouping} {there:?}");
        assert!(grouping == "owner" || !here.contains(of_jvm), "{grouping} {here:?}");
    }
    let own = |heap| domain::guess(heap).into_iter().map(|guess| guess.package).collect::<BTreeSet<_>>();
    assert_eq!(own(&jvm), BTreeSet::from(["com.acme".to_owned()]));
    assert_eq!(own(&plain), ["com.acme", "java.lang", "java.util"].map(str::to_owned).into());
    // Nothing keeps the class of the entry but its instance, and the VM.
    let is_kept = |heap: &HeapState, o| {
        let rules = KeepRules { instances_keep_classes: false, ..KeepRules::default() };
        Dominators::new(heap, rules, &Progress::new()).expect("not cancelled").is_reached(o)
    };
    assert_eq!((is_kept(&jvm, kept_there), is_kept(&plain, kept_here)), (true, false));
}

/// Beginnings of the names of one family of runtimes.
const NAMES_OF_RUNTIMES: [&str; 19] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "scala.",
    "kotlin.",
    "kotlinx.",
    "clojure.",
    "groovy.",
    "org.jruby.",
    "org.python.",
    "org.mozilla.",
    "org.armedbear.",
    "com.google.",
    "android.",
    "androidx.",
    "dalvik.",
    "bootstrap\"",
];

/// Texts in the code of the engine, not in comments and tests, that begin with one of these.
#[test]
fn only_profiles_have_names_of_runtimes() {
    let mut found = Vec::new();
    for file in ["crates/heap/src", "crates/analysis/src"].iter().flat_map(|folder| rust_files(&root().join(folder))) {
        let is_test = |part: &str| part.ends_with("tests") || part.ends_with("tests.rs");
        if file.iter().any(|part| is_test(&part.to_string_lossy())) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a file");
        // Tests stand last in their file.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            if NAMES_OF_RUNTIMES.iter().any(|name| line.contains(&format!("\"{name}"))) {
                found.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "put these into a profile (formats/jvm_profile):\n{}", found.join("\n"));
}
