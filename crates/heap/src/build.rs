//! Builds a heap state object by object: for formats that list objects one at a time, and for tests.

use super::addresses::{AddressMap, AddressSet};
use super::columns::HeapColumns;
use super::csr::Csr;
use super::profile::Profile;
use super::reference_names::{ReferenceName, ReferenceNameTable, ReferenceNames};
use super::referents::{Referent, Strength};
use super::roots::Root;
use super::state::HeapState;
use super::types::{HeapType, Loaders, NO_LENGTH, ObjectId, TypeId, TypeSizes};
use crate::error::{Error, Result};

/// A heap state under construction. Objects are numbered in the order they are added, or in the end by their addresses.
#[derive(Default)]
pub struct HeapBuilder {
    profile: &'static Profile,
    types: Vec<HeapType>,
    type_of: Vec<u32>,
    length: Vec<u32>,
    sizes: Vec<u64>,
    references: Vec<(ObjectId, ObjectId)>,
    /// By reference its name; of those behind the last name nothing.
    names: Vec<u32>,
    table: ReferenceNameTable,
    /// References that are weaker than plain ones, by number.
    weaker: Vec<(u32, Strength)>,
    roots: Vec<Root>,
    loaders: Loaders,
    mirrors: Vec<(TypeId, ObjectId)>,
}

impl HeapBuilder {
    /// An empty heap, of no known runtime.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty heap of a runtime with this profile.
    pub fn with_profile(profile: &'static Profile) -> Self {
        HeapBuilder { profile, ..Self::default() }
    }

    /// Adds a type.
    pub fn add_type(&mut self, heap_type: HeapType) -> TypeId {
        self.types.push(heap_type);
        TypeId(self.types.len() as u32 - 1)
    }

    /// Adds an object of `size` bytes; `length` for arrays.
    pub fn add_object(&mut self, of: TypeId, size: u64, length: Option<u32>) -> ObjectId {
        self.type_of.push(of.0);
        self.length.push(length.unwrap_or(NO_LENGTH));
        self.sizes.push(size);
        ObjectId(self.type_of.len() as u32 - 1)
    }

    /// Adds a reference. Those of an object stay in the order they are added.
    pub fn add_reference(&mut self, from: ObjectId, to: ObjectId) {
        self.references.push((from, to));
    }

    /// Adds a reference that is weaker than a plain one.
    pub fn add_referent(&mut self, from: ObjectId, to: ObjectId, strength: Strength) {
        self.weaker.push((self.references.len() as u32, strength));
        self.add_reference(from, to);
    }

    /// Names the reference that was added last: a text is a field or property, a number an index.
    pub fn name_reference(&mut self, name: impl Into<ReferenceName>) {
        self.names.resize(self.references.len().saturating_sub(1), ReferenceNameTable::NONE);
        self.names.push(self.table.number(name.into()));
    }

    /// Says which object stands for a type: its instances keep it alive.
    pub fn set_class_object(&mut self, of: TypeId, object: ObjectId) {
        self.mirrors.push((of, object));
    }

    /// Adds a GC root.
    pub fn add_root(&mut self, root: Root) {
        self.roots.push(root);
    }

    /// Says which loaders there are, and which types each of them loaded.
    pub fn set_loaders(&mut self, loaders: Loaders) {
        self.loaders = loaders;
    }

    /// The heap state. Objects have the numbers that they got when they were added, and no addresses of meaning.
    pub fn finish(self) -> HeapState {
        let addresses = AddressSet::new(3);
        let mut writer = addresses.writer();
        for i in 0..self.type_of.len() as u64 {
            writer.insert(0x1000 + i * 8);
        }
        self.state(addresses.finish())
    }

    /// The heap state of objects with addresses, one each, in the order they were added. Objects get new numbers, by address:
    /// [`HeapState::object_at`] finds them.
    ///
    /// # Errors
    /// When an object has no address or that of another, or they lie so scattered that a map of them takes too much memory.
    pub fn finish_at(mut self, addresses: &[u64]) -> Result<HeapState> {
        let wrong = |what: String| Error::Unusable {
            what,
            remedy: "Write each object once, with an address of its own".into(),
        };
        let n = self.type_of.len();
        if addresses.len() != n {
            return Err(wrong(format!("there are {n} objects and {} addresses", addresses.len())));
        }
        let all_bits = addresses.iter().fold(0, |all, address| all | address);
        let set = AddressSet::within(all_bits.trailing_zeros().min(3), MOST_BYTES + 128 * n as u64);
        let mut writer = set.writer();
        if let Some(twice) = addresses.iter().find(|address| writer.insert(**address) == Some(false)) {
            return Err(wrong(format!("two objects are at address {twice:#x}")));
        }
        let scattered = |_| wrong(format!("the addresses of {n} objects lie too scattered"));
        let map = set.finish_within(u32::MAX - 1).map_err(scattered)?;
        let number = |o: ObjectId| map.find(addresses[o.0 as usize]).unwrap_or(o);
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by_key(|&o| addresses[o as usize]);
        self.type_of = order.iter().map(|&o| self.type_of[o as usize]).collect();
        self.length = order.iter().map(|&o| self.length[o as usize]).collect();
        self.sizes = order.iter().map(|&o| self.sizes[o as usize]).collect();
        for (from, to) in &mut self.references {
            (*from, *to) = (number(*from), number(*to));
        }
        self.roots.iter_mut().for_each(|root| root.object = number(root.object));
        self.mirrors.iter_mut().for_each(|(_, object)| *object = number(*object));
        Ok(self.state(map))
    }

    fn state(self, addresses: AddressMap) -> HeapState {
        let (n, types) = (self.type_of.len(), self.types.len());
        // The references by source: those of each object together, in their order.
        let mut offsets = vec![0u32; n + 1];
        self.references.iter().for_each(|(from, _)| offsets[from.0 as usize + 1] += 1);
        for row in 0..n {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut targets = vec![ObjectId(0); self.references.len()];
        let mut names = vec![ReferenceNameTable::NONE; if self.names.is_empty() { 0 } else { targets.len() }];
        let mut weaker = self.weaker.iter().copied().peekable();
        let mut referents = Vec::with_capacity(weaker.len());
        for (number, &(from, to)) in self.references.iter().enumerate() {
            let at = next[from.0 as usize] as usize;
            next[from.0 as usize] += 1;
            targets[at] = to;
            if let Some(&name) = self.names.get(number) {
                names[at] = name;
            }
            if let Some((_, strength)) = weaker.next_if(|(weaker, _)| *weaker as usize == number) {
                referents.push(Referent { from, to, place: at as u32 - offsets[from.0 as usize], strength });
            }
        }
        let mut mirror_of = vec![None; types];
        self.mirrors.iter().for_each(|&(of, object)| mirror_of[of.0 as usize] = Some(object));
        let own = |&size: &u64| u32::try_from(size).unwrap_or(HeapColumns::LARGE);
        let large = (0u32..).zip(&self.sizes).filter(|(_, size)| own(size) == HeapColumns::LARGE);
        HeapState::new(HeapColumns {
            profile: self.profile,
            sizes: TypeSizes { base: vec![0; types], element: vec![0; types], alignment: 8, ..TypeSizes::default() },
            odd_sizes: large.map(|(o, &size)| (o, size)).collect(),
            own_sizes: self.sizes.iter().map(own).collect(),
            types: self.types,
            mirror_of,
            loaders: self.loaders,
            type_of: self.type_of,
            length: self.length,
            addresses,
            outgoing: Csr::new(offsets, targets),
            names: ReferenceNames::new(names, self.table),
            referents,
            roots: self.roots,
            ..HeapColumns::default()
        })
    }
}

/// Bytes that the map of the addresses may take for a heap of any size.
const MOST_BYTES: u64 = 1 << 28;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RootKind, TypeKind};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A reference: its ends, its name as a small number, its strength.
    type Planned = (usize, usize, Option<u32>, Option<bool>);

    fn name(n: u32) -> ReferenceName {
        match n % 3 {
            0 => ReferenceName::from(n),
            1 => ReferenceName::from(&*format!("field{n}")),
            _ => ReferenceName::key(&format!("key{n}")),
        }
    }

    fn built(addresses: &[u64], references: &[Planned]) -> HeapBuilder {
        let mut heap = HeapBuilder::new();
        let of = heap.add_type(HeapType {
            name: "(closure)".into(),
            kind: TypeKind::Instance,
            superclass: None,
            loader: "".into(),
        });
        // The size says which it is, whatever its number.
        let objects: Vec<ObjectId> = addresses.iter().map(|&address| heap.add_object(of, address, None)).collect();
        for &(from, to, named, weak) in references {
            let (from, to) = (objects[from % objects.len()], objects[to % objects.len()]);
            match weak {
                None => heap.add_reference(from, to),
                Some(soft) => heap.add_referent(from, to, if soft { Strength::Soft } else { Strength::Weak }),
            }
            named.into_iter().for_each(|n| heap.name_reference(name(n)));
        }
        heap.set_class_object(of, objects[0]);
        heap.add_root(Root { object: objects[objects.len() - 1], kind: RootKind::Other, detail: String::new() });
        heap
    }

    /// What is known of each reference, by its ends, in the order they were added.
    type Known = BTreeMap<u64, Vec<(u64, Option<ReferenceName>, Option<Strength>)>>;

    fn known(heap: &HeapState) -> Known {
        let row = |o: ObjectId| {
            let of = heap.referents().of(o);
            let reference = |(place, &to): (usize, &ObjectId)| {
                let weaker = of.iter().find(|r| r.place as usize == place && r.to == to);
                (heap.size_of(to), heap.reference_name(o, place), weaker.map(|r| r.strength))
            };
            (heap.size_of(o), heap.references(o).iter().enumerate().map(reference).collect())
        };
        heap.objects().map(row).collect()
    }

    proptest! {
        /// Names and strengths stay with their references, whatever order these are put in and whatever numbers objects get.
        #[test]
        fn what_references_are_called_follows_them(
            addresses in prop::collection::btree_set(0u64..1 << 40, 1..12),
            shuffle in any::<u64>(),
            unit in 0u32..4,
            references in prop::collection::vec(
                (0usize..12, 0usize..12, prop::option::of(0u32..6), prop::option::of(any::<bool>())), 0..40),
        ) {
            let mut addresses: Vec<u64> = addresses.into_iter().map(|address| address << unit).collect();
            let n = addresses.len();
            (0..n).for_each(|i| addresses.swap(i, (shuffle >> (i % 60)) as usize % n));
            let mut expected: Known = addresses.iter().map(|&a| (a, Vec::new())).collect();
            for &(from, to, named, weak) in &references {
                let strength = weak.map(|soft| if soft { Strength::Soft } else { Strength::Weak });
                expected.get_mut(&addresses[from % n]).expect("an object").push((addresses[to % n], named.map(name), strength));
            }
            let heap = built(&addresses, &references).finish();
            prop_assert_eq!(known(&heap), expected.clone());
            prop_assert_eq!(heap.has_reference_names(), references.iter().any(|r| r.2.is_some()));
            let moved = built(&addresses, &references).finish_at(&addresses).expect("addresses of their own");
            prop_assert_eq!(known(&moved), expected);
            let ascending = { let mut sorted = addresses.clone(); sorted.sort_unstable(); sorted };
            for (o, &address) in moved.objects().zip(&ascending) {
                prop_assert_eq!((moved.address(o), moved.object_at(address)), (Some(address), Some(o)));
            }
            prop_assert_eq!(moved.size_of(moved.roots()[0].object), addresses[n - 1]);
            prop_assert_eq!(moved.mirror_of(TypeId(0)).map(|o| moved.size_of(o)), Some(addresses[0]));
            // Pair by pair: the first plain reference names it, or the first.
            let pairs: Vec<_> = moved.objects().flat_map(|a| moved.objects().map(move |b| (a, b))).chain([(ObjectId(0), ObjectId(0))]).collect();
            let rows = known(&moved);
            for (&(from, to), found) in pairs.iter().zip(moved.names_between(&pairs)) {
                let to = moved.size_of(to);
                let between = || rows[&moved.size_of(from)].iter().filter(move |(target, ..)| *target == to);
                let best = between().find(|(.., strength)| strength.is_none()).or_else(|| between().next());
                prop_assert_eq!(found, best.and_then(|(_, name, _)| name.clone()));
            }
        }

        /// Sizes of their own, large ones too, add up and are those of the objects.
        #[test]
        fn objects_have_sizes_of_their_own(sizes in prop::collection::vec(prop_oneof![0u64..100, u64::from(u32::MAX) - 2..u64::from(u32::MAX) + 3], 1..40)) {
            let heap = built(&sizes, &[]).finish();
            prop_assert_eq!(heap.objects().map(|o| heap.size_of(o)).collect::<Vec<_>>(), sizes.clone());
            let mut odd: Vec<_> = heap.odd_sizes().collect();
            odd.sort_unstable();
            prop_assert_eq!(odd, heap.objects().zip(sizes.iter().copied()).collect::<Vec<_>>());
            prop_assert_eq!(heap.odd_size_count(), sizes.len());
            prop_assert_eq!(heap.totals().0.bytes, sizes.iter().sum::<u64>());
        }
    }

    #[test]
    fn addresses_that_are_none_are_refused() {
        for (addresses, why) in
            [(&[8u64, 16, 8][..], "two objects are at address 0x8"), (&[8, 16], "3 objects and 2 addresses")]
        {
            let error = built(&[1, 2, 3], &[]).finish_at(addresses).err().expect("an error").to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
