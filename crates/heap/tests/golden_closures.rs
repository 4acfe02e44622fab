//! Closures of two heaps whose numbers are known from elsewhere: two lists that share data, and two caches that hold the
//! same million products.

use memory_city_heap::ownership::{
    Dominators, GroupAmounts, GroupClosures, KeepRules, ObjectClosure, ObjectClosures, ObjectGroups,
};
use memory_city_heap::progress::Progress;
use memory_city_heap::{
    AddressSet, Amount, BitSet, Csr, HeapBuilder, HeapColumns, HeapState, HeapType, NO_LENGTH, ObjectId, Root,
    RootKind, TypeKind, TypeSizes,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn of_type(name: &str) -> HeapType {
    let kind = if name.ends_with("[]") { TypeKind::PrimitiveArray } else { TypeKind::Instance };
    HeapType { name: name.into(), kind, superclass: None, loader: "app".into() }
}

fn set(heap: &HeapState, objects: impl IntoIterator<Item = ObjectId>) -> BitSet {
    let mut set = BitSet::new(heap.object_count());
    objects.into_iter().for_each(|o| {
        set.insert(o.0);
    });
    set
}

/// L1 is a list of N1 to N5, L2 one of N6 to N10. Ni refers to its data Di for i up to 8; N9 shares D4, N10 shares D5, and
/// D8 refers to D3. Both lists are roots.
#[test]
fn two_lists_that_share_data() {
    let mut heap = HeapBuilder::new();
    let of = heap.add_type(of_type("Object"));
    let mut id = BTreeMap::new();
    let names = ["L1".to_owned(), "L2".to_owned()].into_iter();
    let names = names.chain((1..=10).map(|i| format!("N{i}"))).chain((1..=8).map(|i| format!("D{i}")));
    for name in names {
        id.insert(name, heap.add_object(of, 16, None));
    }
    let mut edges: Vec<(String, String)> = vec![("L1".into(), "N1".into()), ("L2".into(), "N6".into())];
    edges.extend((1..=9).filter(|&i| i != 5).map(|i| (format!("N{i}"), format!("N{}", i + 1))));
    edges.extend((1..=8).map(|i| (format!("N{i}"), format!("D{i}"))));
    edges.extend([("N9", "D4"), ("N10", "D5"), ("D8", "D3")].map(|(from, to)| (from.into(), to.into())));
    edges.iter().for_each(|(from, to)| heap.add_reference(id[from], id[to]));
    for list in ["L1", "L2"] {
        heap.add_root(Root { object: id[list], kind: RootKind::StaticField, detail: list.into() });
    }
    let heap = heap.finish();
    let progress = Progress::new();
    let closures = ObjectClosures::new(&heap, KeepRules::default(), &progress).expect("not cancelled");
    let of = |names: &[&str]| closures.of(&set(&heap, names.iter().map(|&n| id[n])), &progress).expect("not cancelled");
    let named = |set: &BitSet| -> BTreeSet<&str> {
        id.iter().filter(|(_, o)| set.contains(o.0)).map(|(name, _)| name.as_str()).collect()
    };
    let retained = |names: &[&str]| named(&of(names).retained).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(retained(&["L1"]), "D1 D2 L1 N1 N2 N3 N4 N5");
    assert_eq!(retained(&["N8"]), "D8 N10 N8 N9");
    // What neither owns alone.
    assert_eq!(retained(&["N4", "N9"]), "D4 D5 N10 N4 N5 N9");
    assert_eq!(of(&["L1", "L2"]).retained.count(), 20);
    assert_eq!(retained(&["L2"]), "D6 D7 D8 L2 N10 N6 N7 N8 N9");
    assert_eq!(of(&["L1"]).deep.count(), 11);

    // As groups, all at once: each list, the two nodes, both lists together.
    let rows = [vec!["L1"], vec!["N8"], vec!["N4", "N9"], vec!["L1", "L2"], vec!["L2"]];
    let lists: Vec<Box<[u32]>> = heap
        .objects()
        .map(|o| (0u32..).zip(&rows).filter(|(_, row)| row.iter().any(|&n| id[n] == o)).map(|(at, _)| at).collect())
        .collect();
    let groups = ObjectGroups::new((0..20).collect(), lists, rows.len());
    let groups = GroupClosures::new(&heap, KeepRules::default(), Arc::new(groups));
    let counts = |found: Vec<Amount>| found.into_iter().map(|amount| amount.objects).collect::<Vec<_>>();
    assert_eq!(counts(groups.retained(&[0, 1, 2, 3, 4], &progress).expect("not cancelled")), [8, 4, 6, 20, 9]);
    let owners = Dominators::new(&heap, KeepRules::default(), &progress).expect("not cancelled");
    assert_eq!(["D3", "D4", "D5"].map(|shared| owners.owner(id[shared])), [None; 3]);
}

/// The types of the caches, with what an instance takes, or an element.
const TYPES: [(&str, u32, u32); 8] = [
    ("java.util.HashMap", 48, 0),
    ("java.util.HashMap$Node[]", 16, 4),
    ("java.util.HashMap$Node", 32, 0),
    ("java.lang.Long", 24, 0),
    ("Product", 48, 0),
    ("int[]", 24, 0),
    ("java.lang.String", 24, 0),
    ("char[]", 16, 2),
];
const MAP: u32 = 0;
const TABLE: u32 = 1;
const NODE: u32 = 2;
const LONG: u32 = 3;
const PRODUCT: u32 = 4;
const INTS: u32 = 5;
const STRING: u32 = 6;
const CHARS: u32 = 7;

/// A million products in two maps: one by their numbers, one by their names, which are the strings that the products have
/// too. The numbers up to 127 belong to the cache of the JDK. The first objects are the maps and that cache.
fn two_caches(products: u32) -> HeapState {
    let (mut type_of, mut length) = (Vec::new(), Vec::new());
    let (mut offsets, mut targets) = (vec![0u32], Vec::new());
    let mut object = |of: u32, elements: u32, references: &[u32]| {
        type_of.push(of);
        length.push(elements);
        targets.extend(references.iter().copied().map(ObjectId));
        offsets.push(targets.len() as u32);
    };
    // Maps 0 and 1, their tables 2 and 3, the cache of numbers 4; then eight objects a product.
    let first = |product: u32| 5 + 8 * product;
    object(MAP, NO_LENGTH, &[2]);
    object(MAP, NO_LENGTH, &[3]);
    let nodes = |at: u32| (0..products).map(|p| first(p) + at).collect::<Vec<u32>>();
    object(TABLE, 1 << 21, &nodes(0));
    object(TABLE, 1 << 21, &nodes(1));
    // An array of the JDK of which only the references matter.
    object(TABLE, 0, &(0..127).map(|p| first(p) + 2).collect::<Vec<u32>>());
    for p in 0..products {
        let [long, product, ints, more, name, text]: [u32; 6] = std::array::from_fn(|i| first(p) + 2 + i as u32);
        object(NODE, NO_LENGTH, &[long, product]);
        object(NODE, NO_LENGTH, &[name, product]);
        object(LONG, NO_LENGTH, &[]);
        object(PRODUCT, NO_LENGTH, &[ints, more, name]);
        object(INTS, 0, &[]);
        object(INTS, 0, &[]);
        object(STRING, NO_LENGTH, &[text]);
        object(CHARS, 9 + (p + 1).to_string().len() as u32, &[]);
    }
    let addresses = AddressSet::new(3);
    let mut writer = addresses.writer();
    (0..type_of.len() as u64).for_each(|i| {
        writer.insert(0x1000 + 8 * i);
    });
    let outgoing = Csr::new(offsets, targets);
    let root = |object, kind, detail: &str| Root { object: ObjectId(object), kind, detail: detail.into() };
    HeapState::new(HeapColumns {
        profile: Default::default(),
        types: TYPES.iter().map(|(name, ..)| of_type(name)).collect(),
        sizes: TypeSizes {
            base: TYPES.iter().map(|t| t.1).collect(),
            element: TYPES.iter().map(|t| t.2).collect(),
            alignment: 8,
            ..TypeSizes::default()
        },
        type_of,
        length,
        addresses: addresses.finish(),
        outgoing,
        roots: vec![
            root(0, RootKind::StaticField, "IdCache.idCache"),
            root(1, RootKind::StaticField, "NameCache.nameCache"),
            root(4, RootKind::StaticField, "java.lang.Long$LongCache.cache"),
        ],
        mirror_of: vec![None; TYPES.len()],
        ..HeapColumns::default()
    })
}

#[test]
fn two_caches_own_together_what_neither_owns_alone() {
    let heap = two_caches(1_000_000);
    let progress = Progress::new();
    let amount = |objects, bytes| Amount { objects, bytes };
    let closures = ObjectClosures::new(&heap, KeepRules::default(), &progress).expect("not cancelled");
    let of = |maps: &[u32]| -> ObjectClosure {
        closures.of(&set(&heap, maps.iter().copied().map(ObjectId)), &progress).expect("not cancelled")
    };
    assert_eq!(closures.amount(&of(&[0]).retained).bytes, 64_385_624);
    assert_eq!(closures.amount(&of(&[1]).retained).bytes, 40_388_672);
    let both = of(&[0, 1]);
    assert_eq!(closures.amount(&both.deep), amount(8_000_004, 272_769_352));
    assert_eq!(closures.amount(&both.retained), amount(7_999_877, 272_766_304));

    // Single objects, in the dominator tree: a product with its arrays belongs to both maps.
    let owners = Dominators::new(&heap, KeepRules::default(), &progress).expect("not cancelled");
    assert_eq!(owners.retained(ObjectId(0)).bytes, 64_385_624);
    assert_eq!(owners.retained(ObjectId(1)).bytes, 40_388_672);
    assert_eq!((owners.retained(ObjectId(5 + 3)).bytes, owners.owner(ObjectId(5 + 3))), (96, None));

    // What both maps retain, by type: objects, their bytes, and what each type retains of it.
    let retained = &both.retained;
    let inside = |o: ObjectId| retained.contains(o.0);
    let types = TYPES.len() as u32;
    // By type, among the objects that both maps retain; then each map, both, and all that they retain.
    let [first, second, maps, all] = [0, 1, 2, 3].map(|i| types + i);
    let mut lists: Vec<Box<[u32]>> = (0..types).map(|t| [t, all].into()).collect();
    lists.extend([[MAP, first, maps, all].into(), [MAP, second, maps, all].into(), Box::default()]);
    let list = |o: ObjectId| match o.0 {
        o @ 0..2 => types + o,
        _ if inside(o) => heap.type_of(o).0,
        _ => types + 2,
    };
    let groups = ObjectGroups::new(heap.objects().map(list).collect(), lists, types as usize + 4);
    let groups = GroupClosures::new(&heap, KeepRules::default(), Arc::new(groups));
    let wanted: Vec<u32> = (0..types + 4).collect();
    let found = groups.deep_and_retained(&wanted, &progress).expect("not cancelled");
    let table: [(u32, u64, u64, u64); 8] = [
        (NODE, 2_000_000, 64_000_000, 255_988_960),
        (INTS, 2_000_000, 48_000_000, 48_000_000),
        (PRODUCT, 1_000_000, 48_000_000, 96_000_000),
        (CHARS, 1_000_000, 47_992_008, 47_992_008),
        (STRING, 1_000_000, 24_000_000, 71_992_008),
        (LONG, 999_873, 23_996_952, 23_996_952),
        (TABLE, 2, 16_777_248, 272_766_208),
        (MAP, 2, 96, 272_766_304),
    ];
    let mut shallow = vec![Amount::default(); types as usize];
    heap.objects().filter(|&o| inside(o)).for_each(|o| {
        shallow[heap.type_of(o).0 as usize] += amount(1, heap.size_of(o));
    });
    for (of, objects, bytes, retained) in table {
        let name = TYPES[of as usize].0;
        assert_eq!(shallow[of as usize], amount(objects, bytes), "{name}");
        assert_eq!(found[of as usize].retained.bytes, retained, "{name}");
    }
    let bytes = |group: u32| found[group as usize].retained.bytes;
    assert_eq!((bytes(first), bytes(second)), (64_385_624, 40_388_672));
    let expected = GroupAmounts { deep: amount(8_000_004, 272_769_352), retained: amount(7_999_877, 272_766_304) };
    assert_eq!([found[maps as usize], found[all as usize]], [expected; 2]);
    // A few groups at a time give the same.
    let few = groups.retained(&[second, PRODUCT], &progress).expect("not cancelled");
    assert_eq!((few[0].bytes, few[1].bytes), (40_388_672, 96_000_000));
}
