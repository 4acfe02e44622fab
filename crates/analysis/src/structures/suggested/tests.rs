//! Suggestions on small heaps without values.

use super::{suggested, suggestions_as_file};
use memory_city_formats::JVM;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{Descriptions, StructureFile};
use memory_city_heap::{HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeKind};

/// A heap of objects, each a type with the numbers of what it refers to. A root holds the first one.
fn heap(objects: &[(&str, &[usize])]) -> HeapState {
    let mut heap = HeapBuilder::with_profile(&JVM);
    let mut types = std::collections::BTreeMap::new();
    for (name, _) in objects {
        types.entry(*name).or_insert_with(|| {
            let kind = if name.ends_with("[]") { TypeKind::ObjectArray } else { TypeKind::Instance };
            heap.add_type(HeapType { name: (*name).to_owned(), kind, superclass: None, loader: "app".into() })
        });
    }
    for (name, _) in objects {
        heap.add_object(types[name], 16, None);
    }
    for (from, (_, targets)) in objects.iter().enumerate() {
        targets.iter().for_each(|&to| heap.add_reference(ObjectId(from as u32), ObjectId(to as u32)));
    }
    heap.add_root(Root { object: ObjectId(0), kind: RootKind::Other, detail: "".into() });
    heap.finish()
}

fn text(heap: &HeapState, known: Option<&str>) -> String {
    let mut descriptions = Descriptions::default();
    if let Some(known) = known {
        descriptions.add(StructureFile::parse("known.ds", known).expect("descriptions"));
    }
    let all = suggested(heap, None, known.map(|_| &descriptions), &Progress::new()).expect("suggestions");
    suggestions_as_file(heap, &all)
}

/// A depot with three chained shelves and one alone; an order refers to an item.
const DEPOT: [(&str, &[usize]); 12] = [
    ("a.Main", &[1, 10]),
    ("a.Depot", &[2]),
    ("a.Shelf[]", &[3, 6]),
    ("a.Shelf", &[4, 7]),
    ("a.Shelf", &[5, 8]),
    ("a.Shelf", &[9]),
    ("a.Shelf", &[11]),
    ("a.Item", &[]),
    ("a.Item", &[]),
    ("a.Item", &[]),
    ("b.Order", &[8]),
    ("a.Item", &[]),
];

#[test]
fn nodes_in_chains_and_their_head_are_suggested() {
    let expected = "// a.Depot: 1 structure with 4 elements or nodes inside. No field was found that has their number.\n\
        DS a.Depot {\n    a.Shelf[];\n}\n\
        a.Shelf {\n    a.Shelf;\n    (*);\n}\n";
    assert_eq!(text(&heap(&DEPOT), None), expected);
    assert!(StructureFile::parse("suggested", expected).is_ok());
    assert_eq!(text(&heap(&DEPOT), Some("DS a.Depot { a.Shelf[]; } a.Shelf { a.Shelf; (*); }")), "");
}

#[test]
fn objects_that_others_use_are_no_nodes() {
    // The order is of another package, and refers to a shelf: then shelves are no inside of the depot.
    let mut used = DEPOT;
    used[10].1 = &[4];
    assert_eq!(text(&heap(&used), None), "");
    // Two shelves alone show nothing.
    let few = heap(&[("a.Depot", &[1]), ("a.Shelf", &[2]), ("a.Shelf", &[])]);
    assert_eq!(text(&few, None), "");
}

#[test]
fn entries_that_are_declared_within_a_table_are_its_nodes() {
    let table = |entry: &'static str, array: &'static str| {
        heap(&[
            ("a.Main", &[1]),
            ("a.Table", &[2]),
            (array, &[3, 4, 5]),
            (entry, &[6]),
            (entry, &[6]),
            (entry, &[6]),
            ("b.Value", &[]),
        ])
    };
    assert!(text(&table("a.Table$Entry", "a.Table$Entry[]"), None).contains("DS a.Table {\n    a.Table$Entry[];\n}"));
    // Those of a type of its own are what was put into it.
    assert_eq!(text(&table("a.Order", "a.Order[]"), None), "");
}
