//! Names that class objects keep (`Class.getName()`, `Class.getPackageName()`), matched by their text. The VM keeps one string for each
//! text, and a string points nowhere.

use super::{HiddenContext, Role};
use crate::hprof::segment::{self, Visitor};
use ahash::{AHashMap, AHashSet, RandomState};
use memory_city_heap::{AddressMap, BitSet, Inference, ObjectId};
use rayon::prelude::*;
use std::hash::{BuildHasher, Hasher};

/// Class object, string, and the field it is in, for each name that an unreachable string holds. Of several strings with the
/// same text one that nothing refers to, and the one at the lowest address.
pub(super) fn find(
    context: &HiddenContext<'_>,
    inference: &Inference,
    unreachable: &[ObjectId],
) -> Vec<(ObjectId, ObjectId, &'static str)> {
    let columns = inference.columns();
    let texts = Texts::new(context, inference);
    let characters = |o: ObjectId| columns.outgoing.of(o).first().copied();
    let is_candidate = |o: &ObjectId| {
        !inference.is_reachable(*o)
            && context.role(columns, *o) == Role::String
            && characters(*o).is_some_and(|array| texts.lengths.contains(&columns.length[array.0 as usize]))
    };
    let candidates: Vec<ObjectId> = unreachable.iter().copied().filter(is_candidate).collect();
    let mut wanted = BitSet::new(columns.type_of.len());
    let mut addresses: Vec<u64> = Vec::with_capacity(candidates.len());
    for array in candidates.iter().filter_map(|&o| characters(o)) {
        if wanted.insert(array.0) {
            addresses.push(columns.addresses.address(array));
        }
    }
    addresses.sort_unstable();
    let dump = context.dump;
    let may_hold = |low: u64, high: u64| {
        let at = addresses.partition_point(|&a| a < low);
        addresses.get(at).is_some_and(|&a| a <= high)
    };
    let pieces: Vec<_> = dump.census.spans.iter().filter(|(_, low, high)| may_hold(*low, *high)).collect();
    let owners: Vec<(ObjectId, NameOwner)> = pieces
        .par_iter()
        .flat_map_iter(|(piece, ..)| {
            let mut search =
                NameSearch { texts: &texts, wanted: &wanted, addresses: &columns.addresses, found: Vec::new() };
            // Where it stops the census has already said so.
            let _ = segment::walk(dump.input.bytes(), piece.clone(), dump.header.id_size, &mut search);
            dump.input.release(piece.clone());
            search.found
        })
        .collect();
    let owner_of: AHashMap<ObjectId, NameOwner> = owners.into_iter().collect();
    let mut best: AHashMap<NameOwner, ObjectId> = AHashMap::new();
    // Only what is unreachable refers to what is.
    let mut referred = BitSet::new(columns.type_of.len());
    for &target in unreachable.iter().flat_map(|&o| columns.outgoing.of(o)) {
        referred.insert(target.0);
    }
    let referred = |o: ObjectId| referred.contains(o.0);
    for &string in &candidates {
        if let Some(&owner) = characters(string).and_then(|array| owner_of.get(&array)) {
            let kept = best.entry(owner).or_insert(string);
            if (referred(string), string) < (referred(*kept), *kept) {
                *kept = string;
            }
        }
    }
    let mut found: Vec<_> = best.into_iter().map(|(owner, string)| (owner.class, string, owner.field)).collect();
    found.sort_unstable();
    found
}

/// The class object and field of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct NameOwner {
    class: ObjectId,
    field: &'static str,
}

/// The texts that class objects may keep.
struct Texts<'a> {
    hash: RandomState,
    /// By hash of the text: its place in the file, and its owner. The text there has slashes for dots.
    by_hash: AHashMap<u64, Vec<(&'a [u8], NameOwner)>>,
    lengths: AHashSet<u32>,
}

/// The bytes of a name as `Class.getName()` gives them: the file has a slash for each dot, and a plus where a hidden class has
/// a slash.
fn runtime(name: &[u8]) -> impl Iterator<Item = u8> + '_ {
    name.iter().map(|&b| match b {
        b'/' => b'.',
        b'+' => b'/',
        b => b,
    })
}

impl<'a> Texts<'a> {
    fn new(context: &'a HiddenContext<'a>, inference: &Inference) -> Texts<'a> {
        let columns = inference.columns();
        let index = context.dump.index;
        let mut texts = Texts { hash: RandomState::new(), by_hash: AHashMap::new(), lengths: AHashSet::new() };
        // One of the classes of each name: one that is alive, where there is one.
        let mut of_name: AHashMap<u64, ObjectId> = AHashMap::new();
        for (t, class) in columns.mirror_of.iter().enumerate() {
            let name = index.class_names.get(&context.dump.classes.object_of[t]);
            if let (Some(&class), Some(&name)) = (class.as_ref(), name) {
                let kept = of_name.entry(name).or_insert(class);
                if !inference.is_reachable(*kept) && inference.is_reachable(class) {
                    *kept = class;
                }
            }
        }
        let mut names: Vec<(&[u8], ObjectId)> = of_name
            .into_iter()
            .filter_map(|(name, class)| Some((index.raw(context.dump.input.bytes(), name)?, class)))
            .filter(|(name, _)| name.is_ascii() && !name.is_empty())
            .collect();
        // Alive ones first, in the order of names: the first class of a package gets the package's name.
        names.sort_unstable_by_key(|&(name, class)| (!inference.is_reachable(class), name));
        for &(name, class) in &names {
            texts.add(name, NameOwner { class, field: "name" });
        }
        for &(name, class) in &names {
            let package = name.iter().rposition(|&b| b == b'/').filter(|_| name[0] != b'[');
            if let Some(end) = package {
                texts.add(&name[..end], NameOwner { class, field: "packageName" });
            }
        }
        texts
    }

    fn add(&mut self, name: &'a [u8], owner: NameOwner) {
        let hash = self.hash_of(runtime(name));
        let known = self.by_hash.entry(hash).or_default();
        if !known.iter().any(|(other, _)| *other == name) {
            known.push((name, owner));
            self.lengths.insert(name.len() as u32);
        }
    }

    fn hash_of(&self, text: impl Iterator<Item = u8>) -> u64 {
        let mut hasher = self.hash.build_hasher();
        text.for_each(|b| hasher.write_u8(b));
        hasher.finish()
    }

    fn owner(&self, text: impl Iterator<Item = u8> + Clone) -> Option<NameOwner> {
        let known = self.by_hash.get(&self.hash_of(text.clone()))?;
        known.iter().find(|(name, _)| runtime(name).eq(text.clone())).map(|(_, owner)| *owner)
    }
}

struct NameSearch<'a> {
    texts: &'a Texts<'a>,
    wanted: &'a BitSet,
    addresses: &'a AddressMap,
    found: Vec<(ObjectId, NameOwner)>,
}

impl Visitor for NameSearch<'_> {
    fn primitive_array(&mut self, id: u64, _: u32, kind: u8, length: u32, elements: &[u8]) {
        let wide = match kind {
            8 => false,
            5 => true,
            _ => return,
        };
        if !self.texts.lengths.contains(&length) {
            return;
        }
        let Some(array) = self.addresses.find(id).filter(|o| self.wanted.contains(o.0)) else { return };
        let owner = match wide {
            false => self.texts.owner(elements.iter().copied()),
            true if elements.iter().step_by(2).all(|&high| high == 0) => {
                self.texts.owner(elements.iter().skip(1).step_by(2).copied())
            }
            true => None,
        };
        self.found.extend(owner.map(|owner| (array, owner)));
    }
}
