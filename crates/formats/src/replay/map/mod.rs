//! Where the objects are: leaves of 4 KB of heap, found through a directory by address.
//!
//! Objects start at multiples of 8. A leaf has a bit for each place an object can start at, and its objects in address
//! order; how many start below each word of bits is noted, so a place finds its object without counting them all. A
//! *slot* is a place in the table as 32 bits. Leaves live in a [`Map`]; a [`Directory`] says which leaf belongs to which
//! address. During a collection there are two directories over the same leaves: the heap before, and what has been
//! reported of the heap after. An object of the heap before that has been reported is *marked* there.

mod directory;
mod entry;
mod leaf;

pub use directory::Directory;
pub use entry::Entry;

use super::arena::grow;
use super::vacant::Vacant;
use leaf::Leaf;

/// Places of a leaf, as a shift.
const PLACES: u32 = 9;
/// Bytes of heap a leaf covers, as a shift.
pub const LEAF_SHIFT: u32 = PLACES + 3;
/// Leaves there can be, by the bits of a slot: 32 GB of heap in use.
const MOST_LEAVES: usize = 1 << (32 - PLACES);

/// Nothing.
pub const NONE: u32 = u32::MAX;

/// A place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u32);

impl Slot {
    #[inline]
    fn new(leaf: u32, address: u64) -> Slot {
        Slot(leaf << PLACES | place_of(address) as u32)
    }

    fn place(self) -> usize {
        self.0 as usize & ((1 << PLACES) - 1)
    }

    /// The leaf it is in.
    pub fn leaf(self) -> u32 {
        self.0 >> PLACES
    }

    /// The same place of another leaf.
    pub fn in_leaf(self, leaf: u32) -> Slot {
        Slot(leaf << PLACES | self.place() as u32)
    }
}

#[inline]
fn place_of(address: u64) -> usize {
    (address >> 3) as usize & ((1 << PLACES) - 1)
}

/// The leaves.
#[derive(Default)]
pub struct Map {
    leaves: Vec<Leaf>,
    vacant: Vacant,
    /// Leaves and objects of the heap before that the running GC has collected.
    released: (usize, usize),
    /// Entries a new leaf gets room for: what leaves had at the last GC, and a little more.
    room: usize,
    /// Leaves with marked objects.
    marked: Vec<u32>,
}

impl Map {
    /// Leaf and position of the object that starts at an address.
    #[inline(always)]
    fn position(&self, directory: &Directory, address: u64) -> Option<(usize, usize)> {
        let leaf = directory.get(address >> LEAF_SHIFT);
        if leaf == NONE || address & 7 != 0 {
            return None;
        }
        let at = self.leaves[leaf as usize].find(place_of(address))?;
        Some((leaf as usize, at))
    }

    /// The object that starts at an address.
    #[inline]
    pub fn find(&self, directory: &Directory, address: u64) -> Option<Entry> {
        self.position(directory, address).map(|(leaf, at)| self.leaves[leaf].entries[at])
    }

    /// The same, to change it.
    pub fn find_mut(&mut self, directory: &Directory, address: u64) -> Option<&mut Entry> {
        self.position(directory, address).map(|(leaf, at)| &mut self.leaves[leaf].entries[at])
    }

    /// Marks the object at an address, and returns it as it was; `None` when there is none that is not marked.
    #[inline]
    pub fn mark(&mut self, directory: &mut Directory, address: u64) -> Option<Entry> {
        let index = directory.look(address >> LEAF_SHIFT);
        if index == NONE || address & 7 != 0 {
            return None;
        }
        let leaf = &mut self.leaves[index as usize];
        let at = leaf.find(place_of(address))?;
        let entry = leaf.entries[at];
        if entry.is_marked() {
            return None;
        }
        leaf.entries[at].mark();
        leaf.marks += 1;
        if leaf.marks == 1 {
            self.marked.push(index);
        }
        Some(entry)
    }

    /// Takes an object out; `None` when there is none.
    pub fn take(&mut self, directory: &Directory, address: u64) -> Option<Entry> {
        let (leaf, at) = self.position(directory, address)?;
        let entry = self.leaves[leaf].entries[at];
        self.leaves[leaf].remove(place_of(address));
        Some(entry)
    }

    /// The slot of an address; makes its leaf. `None` when the address cannot be. `born` is the GC interval to which all
    /// belong that will be put there, [`NONE`] for objects that are older or will be.
    #[inline]
    pub fn slot(&mut self, directory: &mut Directory, address: u64, born: u32) -> Option<Slot> {
        Some(Slot::new(self.leaf(directory, address, born)?, address))
    }

    /// The leaf of an address; makes it.
    #[inline(always)]
    fn leaf(&mut self, directory: &mut Directory, address: u64, born: u32) -> Option<u32> {
        let page = address >> LEAF_SHIFT;
        match directory.look(page) {
            NONE => self.grow(directory, page, born),
            leaf => Some(leaf),
        }
    }

    #[cold]
    fn grow(&mut self, directory: &mut Directory, page: u64, born: u32) -> Option<u32> {
        let index = match self.vacant.next() {
            Some(index) => index,
            None if self.leaves.len() >= MOST_LEAVES - 1 => return None,
            None => {
                grow(&mut self.leaves);
                self.leaves.push(Leaf::default());
                self.leaves.len() as u32 - 1
            }
        };
        if !directory.set(page, index) {
            self.vacant.add(index);
            return None;
        }
        let leaf = &mut self.leaves[index as usize];
        leaf.page = page;
        leaf.born = born;
        leaf.entries.reserve_exact(self.room);
        Some(index)
    }

    /// Puts an object at an address, see [`Map::slot`]. `Some` of the one that was there; `None` when the address cannot be.
    #[inline(always)]
    pub fn insert(
        &mut self,
        directory: &mut Directory,
        address: u64,
        born: u32,
        entry: Entry,
    ) -> Option<Option<Entry>> {
        let leaf = self.leaf(directory, address, born)?;
        Some(self.leaves[leaf as usize].put(place_of(address), entry))
    }

    /// Puts an object at a slot; returns the one that was there.
    #[inline(always)]
    pub fn put(&mut self, slot: Slot, entry: Entry) -> Option<Entry> {
        self.leaves[slot.leaf() as usize].put(slot.place(), entry)
    }

    /// The object at a slot.
    pub fn object(&self, slot: Slot) -> Option<Entry> {
        let leaf = &self.leaves[slot.leaf() as usize];
        leaf.find(slot.place()).map(|at| leaf.entries[at])
    }

    /// The objects of a leaf with their addresses, in order.
    pub fn objects(&self, index: u32) -> impl Iterator<Item = (u64, Entry)> + '_ {
        let leaf = &self.leaves[index as usize];
        let base = leaf.page << LEAF_SHIFT;
        leaf.places().zip(&leaf.entries).map(move |(place, entry)| (base | (place as u64) << 3, *entry))
    }

    /// All objects, in no order. Those that the running GC moved are there twice.
    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.leaves.iter().flat_map(|leaf| &leaf.entries)
    }

    /// The same, to change them.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.leaves.iter_mut().flat_map(|leaf| &mut leaf.entries)
    }

    /// The objects of a leaf, to change them.
    pub fn entries_mut(&mut self, index: u32) -> &mut [Entry] {
        &mut self.leaves[index as usize].entries
    }

    /// Empties a leaf that no directory names any more, and gives it back. Its entries go to `each`.
    pub fn release(&mut self, index: u32, each: impl FnMut(Entry)) {
        let entries = &mut self.leaves[index as usize].entries;
        self.released.1 += entries.len();
        entries.drain(..).for_each(each);
        self.discard(index);
    }

    /// The same, whatever is in it. Returns how many objects were not marked.
    pub fn discard(&mut self, index: u32) -> usize {
        let leaf = std::mem::take(&mut self.leaves[index as usize]);
        self.released.0 += 1;
        self.released.1 += leaf.entries.len();
        self.vacant.add(index);
        leaf.entries.len() - (leaf.marks as usize).min(leaf.entries.len())
    }

    /// The GC interval in which all objects of a leaf were born, if they were born in one and are as they were.
    pub fn born(&self, index: u32) -> u32 {
        self.leaves[index as usize].born
    }

    /// Objects of a leaf are not as they were born any more.
    pub fn set_mixed(&mut self, index: u32) {
        self.leaves[index as usize].born = NONE;
    }

    /// A GC has ended: leaves that are free are used again, in order, so that those of a thread lie side by side.
    pub fn settle(&mut self) {
        let (leaves, objects) = std::mem::take(&mut self.released);
        if let Some(mean) = objects.checked_div(leaves) {
            self.room = (mean * 5 / 4).clamp(4, 1 << PLACES);
        }
        self.vacant.rewind();
    }

    /// Takes the objects between two addresses out of a leaf.
    pub fn cut(&mut self, index: u32, range: std::ops::Range<u64>, mut each: impl FnMut(Entry)) {
        let leaf = &mut self.leaves[index as usize];
        let base = leaf.page << LEAF_SHIFT;
        leaf.retain(|place, entry| {
            let stays = !range.contains(&(base | (place as u64) << 3));
            if !stays {
                each(entry);
            }
            stays
        });
    }

    /// Takes marked objects out of leaves that were not collected: they are elsewhere now.
    pub fn drop_marked(&mut self) {
        for index in std::mem::take(&mut self.marked) {
            let leaf = &mut self.leaves[index as usize];
            if std::mem::take(&mut leaf.marks) > 0 {
                leaf.retain(|_, entry| !entry.is_marked());
            }
        }
    }

    /// Gives back the room a leaf does not need: it will not get many more objects.
    pub fn trim(&mut self, index: u32) {
        let entries = &mut self.leaves[index as usize].entries;
        if entries.capacity() > entries.len() + entries.len() / 4 {
            entries.shrink_to_fit();
        }
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.leaves.capacity() * size_of::<Leaf>()
            + self.leaves.iter().map(|l| l.entries.capacity() * size_of::<Entry>()).sum::<usize>()
            + self.vacant.memory()
            + 4 * self.marked.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_map_agrees_with_a_sorted_one(
            steps in prop::collection::vec((0u64..3000, 0u8..5), 0..400),
            in_order: bool,
        ) {
            let (mut map, mut directory) = (Map::default(), Directory::default());
            let mut expected: BTreeMap<u64, u32> = BTreeMap::new();
            let mut steps = steps;
            if in_order {
                steps.sort_unstable();
            }
            for (i, (place, what)) in steps.into_iter().enumerate() {
                let address = 0xfff0_0000 + place * 8;
                match what {
                    0..3 => {
                        let slot = map.slot(&mut directory, address, NONE).expect("a slot");
                        let before = map.put(slot, Entry::new(i as u32, 7, 0));
                        prop_assert_eq!(before.map(Entry::number), expected.insert(address, i as u32));
                        prop_assert_eq!(map.object(slot).map(Entry::number), Some(i as u32));
                    }
                    3 => {
                        let taken = map.take(&directory, address);
                        prop_assert_eq!(taken.map(Entry::number), expected.remove(&address));
                    }
                    _ => {
                        let marked = map.mark(&mut directory, address);
                        prop_assert_eq!(marked.map(Entry::number), expected.remove(&address));
                        map.drop_marked();
                    }
                }
                prop_assert_eq!(map.find(&directory, address).map(Entry::number), expected.get(&address).copied());
                prop_assert_eq!(map.find(&directory, address + 1).map(Entry::number), None);
            }
            let mut found = Vec::new();
            for page in directory.pages().to_vec() {
                found.extend(map.objects(directory.get(page)).map(|(a, e)| (a, e.number())));
            }
            prop_assert!(found.into_iter().eq(expected));
        }
    }
}
