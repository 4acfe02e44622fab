use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Keys that lie together, addresses at any alignment and ids, and some that lie far from all others.
fn keys(unit: SpotUnit) -> impl Strategy<Value = ObjectKey> {
    let near = (0u64..3000).prop_map(move |n| ObjectKey::Address(0xfff0_0000 + (n << unit.shift())));
    let far = any::<u64>().prop_map(move |n| ObjectKey::Address(n >> unit.shift() << unit.shift()));
    let ids = (0u64..2000).prop_map(ObjectKey::Id);
    prop_oneof![6 => near, 1 => far, 3 => ids, 1 => any::<u64>().prop_map(ObjectKey::Id)]
}

fn steps() -> impl Strategy<Value = (SpotUnit, Vec<(ObjectKey, u8)>)> {
    let unit = prop_oneof![3 => Just(8), 1 => Just(1), 1 => Just(4), 1 => Just(16)].prop_map(SpotUnit::of);
    unit.prop_flat_map(|unit| (Just(unit), prop::collection::vec((keys(unit), 0u8..5), 0..400)))
}

proptest! {
    #[test]
    fn the_map_agrees_with_a_sorted_one((unit, mut steps) in steps(), in_order: bool) {
        let (mut map, mut directory) = (ObjectMap::new(unit, u32::MAX, Some(3)), Directory::with_chunks(3));
        let mut expected: BTreeMap<ObjectKey, u32> = BTreeMap::new();
        if in_order {
            steps.sort_unstable();
        }
        for (i, (key, what)) in steps.into_iter().enumerate() {
            let spot = unit.spot(key).expect("a key of an object");
            match what {
                0..3 => {
                    let slot = map.slot(&mut directory, spot, NONE).expect("a slot");
                    let before = map.insert(&mut directory, spot, NONE, Entry::new(i as u32, 7, 0)).expect("room");
                    prop_assert_eq!(before.map(Entry::number), expected.insert(key, i as u32));
                    prop_assert_eq!(map.object(slot).map(Entry::number), Some(i as u32));
                    let word = map.word(slot).expect("a word");
                    prop_assert_eq!(map.slot_of(word), slot);
                }
                3 => {
                    let taken = map.take(&directory, spot);
                    prop_assert_eq!(taken.map(Entry::number), expected.remove(&key));
                }
                _ => {
                    let marked = map.mark(&mut directory, spot);
                    prop_assert_eq!(marked.map(Entry::number), expected.remove(&key));
                    map.drop_marked();
                }
            }
            prop_assert_eq!(map.find(&directory, spot).map(Entry::number), expected.get(&key).copied());
        }
        let found: Vec<(ObjectKey, u32)> = map.keyed(&mut directory).map(|(key, e)| (key, e.number())).collect();
        prop_assert!(found.into_iter().eq(expected));
    }
}

#[test]
fn there_are_no_more_leaves_than_asked_for() {
    let (mut map, mut directory) = (ObjectMap::new(SpotUnit::of(8), 2, None), Directory::default());
    let mut slot =
        |id| map.slot(&mut directory, SpotUnit::of(8).spot(ObjectKey::Id(id)).expect("a spot"), NONE).is_some();
    assert_eq!([0, 511, 512, 1024].map(&mut slot), [true, true, true, false]);
}
