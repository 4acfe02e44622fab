//! What a GC did to the heap, and whether that is what the generator says.
use super::super::symbols::source_name;
use super::{Move, Replay};
use crate::anttracks::GcAnswer;
use std::collections::{BTreeMap, HashMap, HashSet};

impl Replay {
    pub fn end(&mut self, answer: &GcAnswer) {
        self.in_gc = false;
        let moves = std::mem::take(&mut self.moves);
        let before_ids: HashMap<u64, u64> =
            self.objects.iter().map(|(&address, object)| (address, object.id)).collect();
        let mut after = BTreeMap::new();
        let mut pointers = Vec::new();
        for Move { from, to, pointers: own } in &moves {
            let object = self.objects.remove(from).expect("an object to move");
            if let Some(own) = own {
                pointers.push((object.id, own.clone()));
            }
            assert!(after.insert(*to, object).is_none());
        }
        if self.minor {
            let ranges: Vec<(u64, u64)> = self
                .spaces
                .iter()
                .filter(|(index, space)| {
                    if self.collected.is_empty() {
                        matches!(space.kind, Some(0 | 1))
                    } else {
                        self.collected.contains(index)
                    }
                })
                .map(|(_, space)| (space.start, space.start + space.bytes))
                .collect();
            for (address, object) in std::mem::take(&mut self.objects) {
                if !ranges.iter().any(|&(start, end)| start <= address && address < end) {
                    assert!(after.insert(address, object).is_none(), "moved onto something alive");
                }
            }
            for (address, targets) in &self.cross {
                pointers.push((before_ids[address], targets.clone()));
            }
        } else {
            assert!(self.cross.is_empty());
        }
        after.append(&mut self.fresh);
        self.objects = after;
        // No two objects overlap.
        let mut end = 0;
        for (&address, object) in &self.objects {
            assert!(address >= end, "overlap at {address:x}");
            end = address + self.size(object);
        }
        let address_of: HashMap<u64, u64> =
            self.objects.iter().map(|(&address, object)| (object.id, address)).collect();
        let resolve = |target: u64| {
            if self.minor { before_ids[&target] } else { self.objects[&target].id }
        };
        let mut references: HashMap<u64, Vec<u64>> = HashMap::new();
        for (id, targets) in pointers {
            let ids: Vec<u64> = targets.iter().filter(|&&target| target != 0).map(|&target| resolve(target)).collect();
            assert!(ids.iter().all(|id| address_of.contains_key(id)), "points to something dead");
            assert!(references.insert(id, ids).is_none(), "reported twice");
        }
        let roots: Vec<_> =
            self.roots.iter().map(|&(kind, thread, target)| (kind, thread, address_of[&resolve(target)])).collect();
        for object in self.objects.values_mut() {
            if let Some(ids) = references.remove(&object.id) {
                object.references = ids;
            }
            object.references.retain(|id| address_of.contains_key(id));
        }
        assert!(references.is_empty());
        self.roots.clear();
        self.cross.clear();
        self.collected.clear();
        self.by_target.clear();
        // Compare.
        assert_eq!((answer.number, answer.full), (self.number, !self.minor));
        assert_eq!(answer.objects.len(), self.objects.len(), "objects after GC {}", self.number);
        let mut identities = HashMap::new();
        for ((&address, object), expected) in self.objects.iter().zip(&answer.objects) {
            let ty = &self.known.types[&object.ty];
            let array = ty.signature.starts_with('[');
            assert_eq!(address, expected.address);
            assert_eq!(source_name(&ty.signature), expected.type_name);
            assert_eq!(self.size(object), expected.size);
            assert_eq!(array.then_some(object.length), expected.array_length);
            let (frames, indices, _) = &self.known.sites[&object.site];
            assert_eq!((object.site, frames, indices), (expected.site, &expected.frames, &expected.bytecode_indices));
            assert_eq!(object.thread, expected.thread);
            assert_eq!(object.allocator, expected.allocator);
            assert_eq!(["Eden", "Survivor", "Old"][self.kind_at(address).unwrap() as usize], expected.space);
            assert_eq!(object.birth, expected.birth_gc);
            let addresses: Vec<u64> = object.references.iter().map(|id| address_of[id]).collect();
            assert_eq!(addresses, expected.references);
            identities.insert(object.id, expected.identity);
            if let Some(&before) = self.identities.get(&object.id) {
                assert_eq!(before, expected.identity);
            }
        }
        assert_eq!(identities.values().collect::<HashSet<_>>().len(), identities.len());
        self.identities = identities;
        assert_eq!(roots, answer.roots);
        assert_eq!(self.live_before + self.since - self.objects.len() as u64, answer.deaths);
        self.live_before = self.objects.len() as u64;
        self.since = 0;
    }
}
