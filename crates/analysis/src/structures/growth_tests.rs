//! Sizes of structures against plain sets of objects, on random heaps.

use super::growth::{StructureSizes, growths, sizes};
use super::{FollowedHeads, StructureFill};
use memory_city_formats::JVM;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{Descriptions, FoundStructures, StructureFile, StructureRules};
use memory_city_heap::{Amount, HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, TypeKind};
use proptest::prelude::*;
use std::collections::BTreeSet;

const TYPES: [&str; 4] = ["Map", "Node", "List", "Item"];
const DESCRIPTIONS: &str = "DS Map { Node; } Node { Node; (*); } DS List { Node; (Item); (Map); }";

/// By object: the number of its type; references; the objects that roots hold.
#[derive(Clone, Debug)]
struct StructurePlan {
    types: Vec<usize>,
    references: Vec<(usize, usize)>,
    roots: Vec<usize>,
}

type Set = BTreeSet<usize>;

fn plans() -> impl Strategy<Value = StructurePlan> {
    (1usize..24).prop_flat_map(|n| {
        let references = prop::collection::vec((0..n, 0..n), 0..2 * n + 8);
        let parts = (prop::collection::vec(0..TYPES.len(), n), references, prop::collection::vec(0..n, 1..4));
        parts.prop_map(|(types, references, roots)| StructurePlan { types, references, roots })
    })
}

impl StructurePlan {
    fn heap(&self) -> HeapState {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let of = |name: &str| HeapType {
            name: name.into(),
            kind: TypeKind::Instance,
            superclass: None,
            loader: "app".into(),
        };
        let types = TYPES.map(|name| heap.add_type(of(name)));
        for (o, &of) in self.types.iter().enumerate() {
            heap.add_object(types[of], 16 + o as u64, None);
        }
        for &(from, to) in &self.references {
            heap.add_reference(ObjectId(from as u32), ObjectId(to as u32));
        }
        for &o in &self.roots {
            heap.add_root(Root { object: ObjectId(o as u32), kind: RootKind::Jni, detail: String::new() });
        }
        heap.finish()
    }

    fn is_head(&self, o: usize) -> bool {
        matches!(TYPES[self.types[o]], "Map" | "List")
    }

    /// All that is reached from some objects, without one of them.
    fn reach(&self, from: impl Iterator<Item = usize>, without: Option<usize>) -> Set {
        let mut seen: Set = from.filter(|o| Some(*o) != without).collect();
        loop {
            let before = seen.len();
            for &(from, to) in &self.references {
                if seen.contains(&from) && Some(to) != without {
                    seen.insert(to);
                }
            }
            if seen.len() == before {
                return seen;
            }
        }
    }

    fn retained(&self, head: usize) -> Set {
        let without = self.reach(self.roots.iter().copied(), Some(head));
        self.reach(self.roots.iter().copied(), None).difference(&without).copied().collect()
    }

    /// The structure of a head by [`DESCRIPTIONS`]; a deep one goes on in structures inside.
    fn structure(&self, head: usize, is_deep: bool) -> Set {
        let (mut inner, mut all) = (Set::from([head]), Set::from([head]));
        loop {
            let before = (inner.len(), all.len());
            for &(from, to) in &self.references {
                let (of, to_type) = (TYPES[self.types[from]], TYPES[self.types[to]]);
                let belongs = match of {
                    "Map" => to_type == "Node",
                    "Node" => true,
                    "List" => to_type != "List",
                    _ => false,
                };
                if inner.contains(&from) && belongs {
                    all.insert(to);
                    if to_type == "Node" || is_deep && self.is_head(to) {
                        inner.insert(to);
                    }
                }
            }
            if before == (inner.len(), all.len()) {
                return all;
            }
        }
    }
}

fn amount(all: &Set) -> Amount {
    Amount { objects: all.len() as u64, bytes: all.iter().map(|&o| 16 + o as u64).sum() }
}

proptest! {
    #[test]
    fn sizes_and_their_growth_are_those_of_plain_sets(before in plans(), after in plans()) {
        let progress = Progress::new();
        let mut descriptions = Descriptions::default();
        descriptions.add(StructureFile::parse("a.ds", DESCRIPTIONS).expect("descriptions"));
        let keep = KeepRules::default();
        let plans = [before, after];
        let followed = plans.each_ref().map(|plan| {
            let heap = plan.heap();
            let dominators = Dominators::new(&heap, keep, &progress).expect("owners");
            let rules = StructureRules::new(&heap, &descriptions, &progress).expect("rules");
            let found = FoundStructures::new(&heap, &rules, Some(heap.reachable()), &progress).expect("structures");
            let wanted: Vec<Vec<ObjectId>> = found.heads().iter().map(|&head| vec![head]).collect();
            let measured = sizes(&heap, &rules, keep, &wanted, &progress).expect("sizes");
            for (&head, found) in found.heads().iter().zip(measured) {
                let head = head.0 as usize;
                let expected = StructureSizes {
                    structure: amount(&plan.structure(head, false)),
                    deep_structure: amount(&plan.structure(head, true)),
                    deep: amount(&plan.reach(std::iter::once(head), None)),
                };
                assert_eq!(found, expected, "{plan:?} {head}");
            }
            // Objects are the same if their numbers are.
            let keys: Vec<u64> = found.heads().iter().map(|head| head.0.into()).collect();
            let fills = vec![StructureFill::default(); keys.len()];
            FollowedHeads::new(&dominators, &found, &fills, &keys, heap.object_count(), &progress).expect("sums")
        });
        let reached = |plan: &StructurePlan, o: usize| o < plan.types.len() && plan.is_head(o) && !plan.retained(o).is_empty();
        for growth in growths(followed.each_ref()) {
            let head = growth.key as usize;
            prop_assert!(plans.iter().all(|plan| reached(plan, head)));
            prop_assert_eq!(growth.structures, [1, 1]);
            prop_assert_eq!(growth.retained, plans.each_ref().map(|plan| amount(&plan.retained(head))));
        }
        // Nothing is at home in two structures: growth adds up to that of the outermost.
        let inside = |time: usize| followed[time].inside.keys().map(|(_, inner)| *inner).collect::<BTreeSet<u64>>();
        let all = growths(followed.each_ref());
        let both: BTreeSet<u64> = all.iter().map(|of| of.key).collect();
        let outermost = |time: usize| -> i64 {
            let inside = inside(time);
            let kept = |key: &&u64| !inside.contains(key) || !followed[time].inside.keys().any(|(outer, inner)| inner == *key && both.contains(outer));
            both.iter().filter(kept).map(|key| followed[time].sums[key].retained.bytes as i64).sum()
        };
        prop_assert_eq!(all.iter().map(|of| of.at_home).sum::<i64>(), outermost(1) - outermost(0));
    }
}
