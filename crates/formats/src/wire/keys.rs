//! The keys that name the objects of a walk, and the references between them.

use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::{AddressMap, AddressSet, Csr, ObjectId, ObjectIds};
use memory_city_wire::{ObjectColumns, WalkReferenceRow};
use rayon::prelude::*;
use std::path::Path;

/// Maps keys to objects.
pub(super) struct WalkKeys {
    /// Where they are the order of the list: first key, how many, and how many objects are listed before; ascending.
    runs: Vec<(u64, u64, u32)>,
    /// Where they are ids: all of them, ascending, with their place in the list.
    ids: Vec<(u64, u32)>,
    by_id: bool,
    /// By place in the list: the number of the object; empty if that is the place.
    rank: Vec<u32>,
}

impl WalkKeys {
    pub(super) fn find(&self, key: u64) -> Option<ObjectId> {
        let place = if self.by_id {
            let at = self.ids.binary_search_by_key(&key, |(id, _)| *id).ok()?;
            self.ids[at].1
        } else {
            let at = self.runs.partition_point(|(first, ..)| *first <= key).checked_sub(1)?;
            let (first, count, before) = self.runs[at];
            let inside = (key - first < count).then_some(key - first)?;
            before + inside as u32
        };
        Some(self.number(place))
    }

    pub(super) fn number(&self, place: u32) -> ObjectId {
        ObjectId(self.rank.get(place as usize).copied().unwrap_or(place))
    }
}

pub(super) fn too_many(path: &Path, what: &str) -> Error {
    Error::Unusable {
        what: format!("a walk of {} has more {what} than can be counted", path.display()),
        remedy: "Record a smaller heap: this size is not supported".into(),
    }
}

/// The keys of a walk, and its objects by address, where it has addresses.
pub(super) fn keys(
    path: &Path,
    lists: &[ObjectColumns],
    has_addresses: bool,
    by_id: bool,
    unit: u32,
) -> Result<(WalkKeys, AddressMap)> {
    let wrong = |found: String, expected: &str| Error::Format {
        path: path.to_owned(),
        offset: None,
        found,
        expected: expected.into(),
        remedy: "Record again, or write the walk as docs/trace-format.md says".into(),
    };
    let mut keys = WalkKeys { runs: Vec::new(), ids: Vec::new(), by_id, rank: Vec::new() };
    let mut before = 0u32;
    for list in lists {
        if by_id && list.ids.len() != list.len() || has_addresses && list.addresses.len() != list.len() {
            return Err(wrong("objects without the ids or addresses that the walk says it has".into(), "one for each"));
        }
        if !by_id {
            if let Some(&(first, count, _)) = keys.runs.last()
                && first.saturating_add(count) > list.first
            {
                return Err(wrong(format!("object {} twice in a walk", list.first), "each object once"));
            }
            keys.runs.push((list.first, list.len() as u64, before));
        }
        keys.ids.extend((0..list.ids.len()).map(|at| (list.key(at), before + at as u32)));
        before += list.len() as u32;
    }
    keys.ids.par_sort_unstable();
    if let Some(pair) = keys.ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(wrong(format!("the id {} twice in a walk", pair[0].0), "each object once"));
    }
    // Objects are numbered by address, or else by id, or else as they come.
    if !has_addresses {
        if by_id && !keys.ids.is_sorted_by_key(|(_, place)| *place) {
            keys.rank = vec![0; before as usize];
            for (number, &(_, place)) in keys.ids.iter().enumerate() {
                keys.rank[place as usize] = number as u32;
            }
        }
        return Ok((keys, AddressMap::default()));
    }
    let unit = unit.max(1);
    if !unit.is_power_of_two() || unit > 1 << 12 {
        return Err(wrong(format!("addresses in units of {unit}"), "a power of two of at most 4096"));
    }
    let shift = unit.trailing_zeros();
    let set = AddressSet::new(shift);
    let mut writer = set.writer();
    let mut sorted = true;
    let mut last = 0;
    for address in lists.iter().flat_map(|list| &list.addresses) {
        sorted &= last <= *address;
        last = *address;
        let whole = address
            .checked_mul(u64::from(unit))
            .ok_or_else(|| wrong("an address of more than 64 bits".into(), "64 bits"))?;
        if writer.insert(whole) == Some(false) {
            return Err(wrong(format!("two objects at the address 0x{whole:x}"), "each object once"));
        }
    }
    drop(writer);
    let addresses = set.finish();
    if !sorted {
        let number = |address: &u64| addresses.find(address << shift).map_or(0, |o| o.0);
        keys.rank = lists.iter().flat_map(|list| &list.addresses).map(number).collect();
    }
    Ok((keys, addresses))
}

/// The ids of objects that have no address.
pub(super) fn ids_of(lists: &[ObjectColumns], keys: &WalkKeys, by_id: bool, n: usize) -> ObjectIds {
    let mut ids = ObjectIds::default();
    if by_id {
        for (number, &(id, _)) in keys.ids.iter().enumerate() {
            ids.push(ObjectId(number as u32), id, None);
        }
        return ids;
    }
    let all = lists.iter().flat_map(|list| (0..list.len()).map(|at| list.key(at)));
    for (number, id) in all.take(n).enumerate() {
        ids.push(ObjectId(number as u32), id, None);
    }
    ids
}

/// The references of all objects: those of the list, then separate ones, in their order.
pub(super) fn references(
    path: &Path,
    lists: &[ObjectColumns],
    keys: &WalkKeys,
    n: usize,
    further: &[WalkReferenceRow],
    dangling: &mut u64,
    progress: &Progress,
) -> Result<Csr> {
    const NOWHERE: ObjectId = ObjectId(u32::MAX);
    let found: Vec<Vec<ObjectId>> = lists
        .par_iter()
        .map(|list| {
            progress.check()?;
            progress.advance(1);
            Ok(list.references.iter().map(|&key| keys.find(key).unwrap_or(NOWHERE)).collect())
        })
        .collect::<Result<_>>()?;
    let further: Vec<(ObjectId, ObjectId)> = further
        .iter()
        .filter_map(|row| match (keys.find(row.from), keys.find(row.to)) {
            (Some(from), Some(to)) => Some((from, to)),
            _ => {
                *dangling += 1;
                None
            }
        })
        .collect();
    let mut offsets = vec![0u64; n + 1];
    let each = |add: &mut dyn FnMut(ObjectId, &[ObjectId])| {
        let mut place = 0;
        for (list, found) in lists.iter().zip(&found) {
            let mut rest = &found[..];
            for &count in &list.reference_counts {
                let (own, more) = rest.split_at(count as usize);
                rest = more;
                add(keys.number(place), own);
                place += 1;
            }
        }
    };
    each(&mut |from, targets| {
        let there = targets.iter().filter(|t| **t != NOWHERE).count() as u64;
        *dangling += targets.len() as u64 - there;
        offsets[from.0 as usize + 1] += there;
    });
    further.iter().for_each(|(from, _)| offsets[from.0 as usize + 1] += 1);
    for i in 0..n {
        offsets[i + 1] += offsets[i];
    }
    let count = offsets.last().copied().unwrap_or(0);
    if count > u64::from(u32::MAX) {
        return Err(too_many(path, "references"));
    }
    let offsets: Vec<u32> = offsets.into_iter().map(|offset| offset as u32).collect();
    let mut next: Vec<u32> = offsets[..n].to_vec();
    let mut all = vec![ObjectId(0); count as usize];
    let mut put = |from: ObjectId, target: ObjectId| {
        let at = &mut next[from.0 as usize];
        all[*at as usize] = target;
        *at += 1;
    };
    each(&mut |from, targets| targets.iter().filter(|t| **t != NOWHERE).for_each(|t| put(from, *t)));
    further.into_iter().for_each(|(from, to)| put(from, to));
    Ok(Csr::new(offsets, all))
}
