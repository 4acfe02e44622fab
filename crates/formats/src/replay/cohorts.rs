//! Cohorts: objects that differ only in their address, with the same creation data, born in the same GC interval, in the same kind of
//! space. A [`Cohorts`] table counts them. Grouping needs only the changes of the table between two moments.

use super::arena::grow;
use super::vacant::Vacant;
use crate::event::{InfoId, PackedShape};
use hashbrown::HashTable;
use memory_city_heap::SpaceKind;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};
use std::hash::BuildHasher;

/// The common facts of the objects of a cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CohortKey {
    /// Creation data, an index into the infos.
    pub info: u32,
    /// The GC interval they were born in: 0 before the end of the first GC.
    pub birth: u32,
    /// Where they are.
    pub space: SpaceKind,
}

impl CohortKey {
    /// All of it in one word, which sorts as the fields do: births have 24 bits.
    fn packed(self) -> u64 {
        u64::from(self.info) << 27 | u64::from(self.birth) << 3 | self.space as u64
    }
}

impl std::hash::Hash for CohortKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.packed());
    }
}

/// A cohort: its key and its counts. Small: there are hundreds of thousands, and every event touches some.
#[derive(Clone, Copy, Debug)]
struct Cohort {
    bytes: u64,
    /// [`NONE`] when the cohort is free.
    info: u32,
    birth: u32,
    count: u32,
    /// How large each object is.
    shape: PackedShape,
    /// The cohort of the same objects in the kind of space that was asked for last.
    moved: u32,
    space: SpaceKind,
    /// Whether it is listed as changed.
    listed: bool,
    /// Whether its objects pass, see [`Cohorts::settle`].
    short_lived: bool,
}

impl Cohort {
    fn key(&self) -> CohortKey {
        CohortKey { info: self.info, birth: self.birth, space: self.space }
    }
}

/// A change of a cohort, in objects and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CohortChange {
    /// The cohort.
    pub key: CohortKey,
    /// How many objects came or went.
    pub objects: i64,
    /// How many bytes.
    pub bytes: i64,
}

const NONE: u32 = u32::MAX;

/// The cohorts of a heap.
pub(crate) struct Cohorts {
    /// Sizes of arrays are multiples of this and one more.
    mask: u64,
    entries: Vec<Cohort>,
    by_key: HashTable<u32>,
    vacant: Vacant,
    /// Cohorts that changed, with count and bytes before.
    changed: Vec<(u32, u32, u64)>,
    /// The cohort that an info's newborn objects went to last.
    newborn: Vec<u32>,
    /// Cohorts whose objects pass.
    short_lived: Vec<u32>,
    /// Objects and bytes that the running GC left in those.
    stays: FxHashMap<u32, (u32, u64)>,
}

impl Cohorts {
    /// An empty table, for a heap whose objects are aligned to so many bytes.
    pub(crate) fn new(alignment: u32) -> Cohorts {
        Cohorts {
            mask: u64::from(alignment.max(1)) - 1,
            entries: Vec::new(),
            by_key: HashTable::new(),
            vacant: Vacant::default(),
            changed: Vec::new(),
            newborn: Vec::new(),
            short_lived: Vec::new(),
            stays: FxHashMap::default(),
        }
    }

    /// The cohort of newborn objects, and the size of one of some length.
    #[inline]
    pub(crate) fn born(
        &mut self,
        info: InfoId,
        birth: u32,
        space: SpaceKind,
        shape: impl FnOnce() -> PackedShape,
        length: u32,
    ) -> (u32, u64) {
        if let Some(&cohort) = self.newborn.get(info.0 as usize)
            && let Some(c) = self.entries.get(cohort as usize)
            && (c.birth, c.space, c.info) == (birth, space, info.0)
        {
            return (cohort, c.shape.size(self.mask, || length));
        }
        let cohort = self.born_anew(CohortKey { info: info.0, birth, space }, shape());
        (cohort, self.size(cohort, || length))
    }

    #[cold]
    fn born_anew(&mut self, key: CohortKey, shape: PackedShape) -> u32 {
        // Most newborn pass, and are found here while they do: they need not be found by their key. If there come to be
        // two cohorts of one key, their changes add up.
        let cohort = if key.space.is_young() { self.new_cohort(key, shape) } else { self.cohort(key, shape) };
        let info = key.info as usize;
        while self.newborn.len() <= info {
            grow(&mut self.newborn);
            self.newborn.push(NONE);
        }
        self.newborn[info] = cohort;
        let c = &mut self.entries[cohort as usize];
        if key.space.is_young() && !c.short_lived {
            c.short_lived = true;
            self.short_lived.push(cohort);
        }
        cohort
    }

    /// The running GC put an object where the newborn are.
    #[inline]
    pub(crate) fn stay(&mut self, cohort: u32, length: impl FnOnce() -> u32) {
        let c = &self.entries[cohort as usize];
        if c.short_lived {
            let size = c.shape.size(self.mask, length);
            let stays = self.stays.entry(cohort).or_default();
            *stays = (stays.0 + 1, stays.1 + size);
        }
    }

    /// It has taken one away again.
    pub(crate) fn leave(&mut self, cohort: u32, length: impl FnOnce() -> u32) {
        let size = self.size(cohort, length);
        if let Some(stays) = self.stays.get_mut(&cohort) {
            *stays = (stays.0.saturating_sub(1), stays.1.saturating_sub(size));
        }
    }

    /// Ends a GC. Most objects die here: they are born in a young space, and the next GC collects all young objects. If `all`, newborn
    /// objects that the GC did not report are dead, and are not counted one by one.
    pub(crate) fn settle(&mut self, all: bool) {
        let stays = std::mem::take(&mut self.stays);
        for cohort in std::mem::take(&mut self.short_lived) {
            if !std::mem::take(&mut self.entries[cohort as usize].short_lived) || !all {
                continue;
            }
            let (count, bytes) = stays.get(&cohort).copied().unwrap_or_default();
            let c = self.touch(cohort);
            (c.count, c.bytes) = (count, bytes);
        }
    }

    /// The cohort of a key; made when it is not there.
    pub(crate) fn cohort(&mut self, key: CohortKey, shape: PackedShape) -> u32 {
        let (hash, entries) = (FxBuildHasher.hash_one(key), &self.entries);
        if let Some(&cohort) = self.by_key.find(hash, |&c| entries[c as usize].key() == key) {
            return cohort;
        }
        let cohort = self.new_cohort(key, shape);
        let entries = &self.entries;
        self.by_key.insert_unique(hash, cohort, |&c| FxBuildHasher.hash_one(entries[c as usize].key()));
        cohort
    }

    fn new_cohort(&mut self, key: CohortKey, shape: PackedShape) -> u32 {
        let CohortKey { info, birth, space } = key;
        let new =
            Cohort { bytes: 0, info, birth, count: 0, shape, moved: NONE, space, listed: false, short_lived: false };
        let cohort = self.vacant.next().unwrap_or(self.entries.len() as u32);
        match self.entries.get_mut(cohort as usize) {
            Some(entry) => *entry = new,
            None => {
                grow(&mut self.entries);
                self.entries.push(new);
            }
        }
        cohort
    }

    /// The cohort of an object of `cohort` once it is in `space`.
    #[inline]
    pub(crate) fn in_space(&mut self, cohort: u32, space: SpaceKind) -> u32 {
        let c = &self.entries[cohort as usize];
        if c.space == space {
            return cohort;
        }
        if let Some(m) = self.entries.get(c.moved as usize)
            && (m.birth, m.space, m.info) == (c.birth, space, c.info)
        {
            return c.moved;
        }
        self.in_space_anew(cohort, space)
    }

    #[cold]
    fn in_space_anew(&mut self, cohort: u32, space: SpaceKind) -> u32 {
        let c = self.entries[cohort as usize];
        let moved = self.cohort(CohortKey { space, ..c.key() }, c.shape);
        self.entries[cohort as usize].moved = moved;
        moved
    }

    /// An object more.
    #[inline]
    pub(crate) fn add(&mut self, cohort: u32, size: u64) {
        let c = self.touch(cohort);
        c.count += 1;
        c.bytes += size;
    }

    /// An object fewer.
    #[inline]
    pub(crate) fn remove(&mut self, cohort: u32, size: u64) {
        let c = self.touch(cohort);
        c.count -= 1;
        c.bytes -= size;
    }

    #[inline]
    fn touch(&mut self, cohort: u32) -> &mut Cohort {
        let c = &mut self.entries[cohort as usize];
        if !c.listed {
            c.listed = true;
            self.changed.push((cohort, c.count, c.bytes));
        }
        c
    }

    /// The key of a cohort.
    #[inline]
    pub(crate) fn key(&self, cohort: u32) -> CohortKey {
        self.entries[cohort as usize].key()
    }

    /// How large an object of a cohort is, of some length.
    #[inline]
    pub(crate) fn size(&self, cohort: u32, length: impl FnOnce() -> u32) -> u64 {
        self.entries[cohort as usize].shape.size(self.mask, length)
    }

    /// Cohorts there are or were: one more than the largest number of a cohort.
    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// The changes since the last call, by key. Empty cohorts are removed: no object may refer to them.
    pub(crate) fn take_changes(&mut self) -> Vec<CohortChange> {
        let mut changes = Vec::new();
        for (cohort, count, bytes) in self.changed.drain(..) {
            let c = &mut self.entries[cohort as usize];
            c.listed = false;
            let key = c.key();
            if (c.count, c.bytes) != (count, bytes) {
                changes.push(CohortChange {
                    key,
                    objects: i64::from(c.count) - i64::from(count),
                    bytes: c.bytes.wrapping_sub(bytes) as i64,
                });
            }
            if c.count == 0 {
                if let Ok(entry) = self.by_key.find_entry(FxBuildHasher.hash_one(key), |&other| other == cohort) {
                    entry.remove();
                }
                // Whoever still leads here sees that it is another now.
                c.info = NONE;
                c.short_lived = false;
                self.vacant.add(cohort);
            }
        }
        // Cohorts that are made next lie side by side, those of the most frequent objects first.
        self.vacant.rewind();
        changes.sort_unstable_by_key(|c| c.key.packed());
        changes
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Cohort>()
            + self.by_key.allocation_size()
            + self.changed.capacity() * size_of::<(u32, u32, u64)>()
            + self.vacant.memory()
            + 4 * self.newborn.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Shape;

    #[test]
    fn changes_are_what_came_and_went_since_the_last_time() {
        let shape = Shape::Instance(16).packed();
        let mut cohorts = Cohorts::new(8);
        let (eden, size) = cohorts.born(InfoId(0), 0, SpaceKind::Eden, || shape, 0);
        assert_eq!(size, 16);
        (0..3).for_each(|_| cohorts.add(eden, 16));
        let key = |space| CohortKey { info: 0, birth: 0, space };
        assert_eq!(cohorts.take_changes(), [CohortChange { key: key(SpaceKind::Eden), objects: 3, bytes: 48 }]);
        assert_eq!(cohorts.take_changes(), []);
        let old = cohorts.in_space(eden, SpaceKind::Old);
        for _ in 0..2 {
            cohorts.remove(eden, 16);
            cohorts.add(old, 16);
        }
        cohorts.remove(eden, 16);
        assert_eq!(
            cohorts.take_changes(),
            [
                CohortChange { key: key(SpaceKind::Eden), objects: -3, bytes: -48 },
                CohortChange { key: key(SpaceKind::Old), objects: 2, bytes: 32 }
            ]
        );
        // The empty cohort is used again for another one, and the way to it is forgotten.
        let (later, _) = cohorts.born(InfoId(0), 1, SpaceKind::Eden, || shape, 0);
        cohorts.add(later, 16);
        assert_eq!(cohorts.key(later).birth, 1);
        assert_eq!(cohorts.take_changes().len(), 1);
    }
}
