//! Dominators against what their definition says, by taking each object out in turn.

use super::{Dominators, KeepRules};
use crate::progress::Progress;
use crate::{Amount, HeapBuilder, HeapState, HeapType, ObjectId, Root, RootKind, Strength, TypeId, TypeKind};
use proptest::prelude::*;
use std::collections::HashSet;

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
            prop::collection::vec((o.clone(), o.clone(), 0u8..4), 0..4),
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

const STRENGTHS: [Strength; 4] = [Strength::Soft, Strength::Weak, Strength::Phantom, Strength::Finalizer];

impl Plan {
    pub fn heap(&self) -> HeapState {
        let mut heap = HeapBuilder::new();
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
            heap.add_object(t, 8 + u64::from(o % 3) * 8, None);
        }
        for t in 0..self.types.min(self.objects) {
            if self.mirrors[t as usize] {
                heap.set_class_object(types[t as usize], ObjectId(t));
            }
        }
        self.edges.iter().for_each(|&(from, to)| heap.add_reference(ObjectId(from), ObjectId(to)));
        for &(from, to, strength) in &self.referents {
            // One of a reference object; the other references of the same object stay.
            heap.add_referent(ObjectId(from), ObjectId(to), STRENGTHS[usize::from(strength)]);
        }
        for &o in &self.roots {
            heap.add_root(Root { object: ObjectId(o), kind: RootKind::Thread, detail: String::new() });
        }
        heap.finish()
    }

    /// What the roots reach without the objects of `without`.
    pub fn reached(&self, rules: KeepRules, without: &HashSet<u32>) -> HashSet<u32> {
        let heap = self.heap();
        let mut seen: HashSet<u32> = HashSet::new();
        let mut open: Vec<u32> = self.roots.clone();
        while let Some(o) = open.pop() {
            if without.contains(&o) || !seen.insert(o) {
                continue;
            }
            // The last referent of an object is the one that counts; the earlier are plain references.
            let referent = self.referents.iter().rev().find(|r| r.0 == o);
            let mut targets: Vec<u32> = heap.references(ObjectId(o)).iter().map(|t| t.0).collect();
            if let Some(&(_, to, strength)) = referent
                && !rules.keeps(STRENGTHS[usize::from(strength)])
            {
                let at = targets.iter().position(|&t| t == to).expect("it is a reference too");
                targets.remove(at);
            }
            open.extend(targets);
            open.extend(heap.mirror_of(heap.type_of(ObjectId(o))).map(|m| m.0));
        }
        seen
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
        let rules = KeepRules { soft, weak };
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
    }
}
