//! The map of objects: leaves of 512 places, found through a directory by page.
//!
//! A place is an address at which an object can start, so a leaf covers 4 KB of a heap whose objects are aligned to 8 bytes. Objects that
//! are known by an id have leaves of their own, with a place for each id. A leaf has a bit for each place, and its objects in the order of
//! their places. It also has the number of objects before each word of bits, so a place finds its object without counting them all. Leaves
//! live in an [`ObjectMap`]; a [`Directory`] maps pages to leaves. During a collection there are two directories over the same leaves: the
//! heap before, and the reported part of the heap after. A reported object of the heap before is *marked* there.

mod directory;
mod entry;
mod leaf;
mod spot;

pub(crate) use directory::Directory;
pub(crate) use entry::Entry;
pub(crate) use spot::{Slot, Spot, SpotUnit};

use super::arena::grow;
use super::vacant::Vacant;
use crate::event::ObjectKey;
use leaf::Leaf;

/// Places of a leaf, as a shift.
const PLACES: u32 = 9;

/// Nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// Set in the word of a slot that has no room in it.
const FAR: u32 = 1 << 31;
/// Slots in leaves below fit into a word: those of the first 16 GB of a heap.
const DIRECT: u32 = 1 << (31 - PLACES);

/// The leaves.
pub(crate) struct ObjectMap {
    /// The alignment of objects.
    pub(crate) unit: SpotUnit,
    leaves: Vec<Leaf>,
    /// There are never more leaves.
    most_leaves: usize,
    /// Slots in leaves below are words as they are.
    direct: u32,
    /// The slots of words that are [`FAR`].
    far: Vec<Slot>,
    vacant: Vacant,
    /// Leaves and objects of the heap before that the running GC has collected.
    released: (usize, usize),
    /// Entries to reserve for a new leaf: the number that leaves had at the last GC, and a little more.
    room: usize,
    /// Leaves with marked objects.
    marked: Vec<u32>,
}

impl ObjectMap {
    /// No objects. `most_leaves` is how many leaves there can be at a time; beyond `direct` of them slots need more memory
    /// ([`ObjectMap::word`]).
    pub(crate) fn new(unit: SpotUnit, most_leaves: u32, direct: Option<u32>) -> ObjectMap {
        ObjectMap {
            unit,
            leaves: Vec::new(),
            most_leaves: most_leaves as usize,
            direct: direct.unwrap_or(DIRECT).min(DIRECT),
            far: Vec::new(),
            vacant: Vacant::default(),
            released: (0, 0),
            room: 0,
            marked: Vec::new(),
        }
    }

    /// Leaf and position of the object at a spot.
    #[inline(always)]
    fn position(&self, directory: &Directory, spot: Spot) -> Option<(usize, usize)> {
        let leaf = directory.get(spot.page);
        if leaf == NONE {
            return None;
        }
        let at = self.leaves[leaf as usize].find(spot.place as usize)?;
        Some((leaf as usize, at))
    }

    /// The object at a spot.
    #[inline]
    pub(crate) fn find(&self, directory: &Directory, spot: Spot) -> Option<Entry> {
        self.position(directory, spot).map(|(leaf, at)| self.leaves[leaf].entries[at])
    }

    /// The same, to change it.
    pub(crate) fn find_mut(&mut self, directory: &Directory, spot: Spot) -> Option<&mut Entry> {
        self.position(directory, spot).map(|(leaf, at)| &mut self.leaves[leaf].entries[at])
    }

    /// Marks the object at a spot, and returns it as it was before; `None` if there is no unmarked object.
    #[inline]
    pub(crate) fn mark(&mut self, directory: &mut Directory, spot: Spot) -> Option<Entry> {
        let index = directory.look(spot.page);
        if index == NONE {
            return None;
        }
        let leaf = &mut self.leaves[index as usize];
        let at = leaf.find(spot.place as usize)?;
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

    /// Takes an object out that is not marked; `None` when there is none.
    pub(crate) fn take(&mut self, directory: &Directory, spot: Spot) -> Option<Entry> {
        let (leaf, at) = self.position(directory, spot)?;
        let entry = self.leaves[leaf].entries[at];
        if entry.is_marked() {
            return None;
        }
        self.leaves[leaf].remove(spot.place as usize);
        Some(entry)
    }

    /// The slot of a spot; makes its leaf. `None` when there are too many. `born` is the GC interval to which all belong
    /// that will be put there, [`NONE`] for objects that are older or will be.
    #[inline]
    pub(crate) fn slot(&mut self, directory: &mut Directory, spot: Spot, born: u32) -> Option<Slot> {
        Some(Slot { leaf: self.leaf(directory, spot, born)?, place: spot.place })
    }

    /// A slot in a word, until the next [`ObjectMap::forget_words`]. `None` when there are too many: two billion beyond the
    /// first 16 GB of a heap.
    #[inline]
    pub(crate) fn word(&mut self, slot: Slot) -> Option<u32> {
        if slot.leaf < self.direct { Some(slot.leaf << PLACES | slot.place) } else { self.far_word(slot) }
    }

    #[cold]
    fn far_word(&mut self, slot: Slot) -> Option<u32> {
        let word = u32::try_from(self.far.len()).ok().map(|index| index | FAR).filter(|&w| w != NONE)?;
        (self.far.len() < FAR as usize).then(|| {
            self.far.push(slot);
            word
        })
    }

    /// The slot of a word.
    #[inline]
    pub(crate) fn slot_of(&self, word: u32) -> Slot {
        match word & FAR {
            0 => Slot { leaf: word >> PLACES, place: word & ((1 << PLACES) - 1) },
            _ => self.far[(word & !FAR) as usize],
        }
    }

    /// No word is used any more.
    pub(crate) fn forget_words(&mut self) {
        self.far = Vec::new();
    }

    /// The leaf of a spot; makes it.
    #[inline(always)]
    fn leaf(&mut self, directory: &mut Directory, spot: Spot, born: u32) -> Option<u32> {
        match directory.look(spot.page) {
            NONE => self.grow(directory, spot.page, born),
            leaf => Some(leaf),
        }
    }

    #[cold]
    fn grow(&mut self, directory: &mut Directory, page: u64, born: u32) -> Option<u32> {
        let index = match self.vacant.next() {
            Some(index) => index,
            None if self.leaves.len() >= self.most_leaves => return None,
            None => {
                grow(&mut self.leaves);
                self.leaves.push(Leaf::default());
                self.leaves.len() as u32 - 1
            }
        };
        directory.set(page, index);
        let leaf = &mut self.leaves[index as usize];
        leaf.page = page;
        leaf.born = born;
        leaf.entries.reserve_exact(self.room);
        Some(index)
    }

    /// Puts an object at a spot, see [`ObjectMap::slot`]. `Some` of the one that was there; `None` when there are too many leaves.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        directory: &mut Directory,
        spot: Spot,
        born: u32,
        entry: Entry,
    ) -> Option<Option<Entry>> {
        let leaf = self.leaf(directory, spot, born)?;
        Some(self.leaves[leaf as usize].put(spot.place as usize, entry))
    }

    /// The object at a slot.
    pub(crate) fn object(&self, slot: Slot) -> Option<Entry> {
        let leaf = &self.leaves[slot.leaf as usize];
        leaf.find(slot.place as usize).map(|at| leaf.entries[at])
    }

    /// The objects of a leaf with their spots, in order.
    pub(crate) fn objects(&self, index: u32) -> impl Iterator<Item = (Spot, Entry)> + '_ {
        let leaf = &self.leaves[index as usize];
        let page = leaf.page;
        leaf.places().zip(&leaf.entries).map(move |(place, entry)| (Spot { page, place: place as u32 }, *entry))
    }

    /// All objects of a directory with their keys, in order: addresses, then ids.
    pub(crate) fn keyed<'a>(&'a self, directory: &'a mut Directory) -> impl Iterator<Item = (ObjectKey, Entry)> + 'a {
        let pages = directory.pages().to_vec();
        let objects = pages.into_iter().flat_map(|page| self.objects(directory.get(page)));
        objects.map(|(spot, entry)| (self.unit.key(spot), entry))
    }

    /// All objects, in no order. Those that the running GC moved are there twice.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Entry> {
        self.leaves.iter().flat_map(|leaf| &leaf.entries)
    }

    /// The same, to change them.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.leaves.iter_mut().flat_map(|leaf| &mut leaf.entries)
    }

    /// The objects of a leaf, to change them.
    pub(crate) fn entries_mut(&mut self, index: u32) -> &mut [Entry] {
        &mut self.leaves[index as usize].entries
    }

    /// Empties a leaf that no directory names any more, and gives it back. Its entries go to `each`.
    pub(crate) fn release(&mut self, index: u32, each: impl FnMut(Entry)) {
        let entries = &mut self.leaves[index as usize].entries;
        self.released.1 += entries.len();
        entries.drain(..).for_each(each);
        self.discard(index);
    }

    /// The same for any content. Returns how many objects were not marked.
    pub(crate) fn discard(&mut self, index: u32) -> usize {
        let leaf = std::mem::take(&mut self.leaves[index as usize]);
        self.released.0 += 1;
        self.released.1 += leaf.entries.len();
        self.vacant.add(index);
        leaf.entries.len() - (leaf.marks as usize).min(leaf.entries.len())
    }

    /// The GC interval of a leaf whose objects are unchanged since birth, and were all born in that interval in young spaces.
    pub(crate) fn born(&self, index: u32) -> u32 {
        self.leaves[index as usize].born
    }

    /// Notes that objects of a leaf, if there is one, differ in birth, were not born in a young space, or have changed.
    pub(crate) fn set_mixed(&mut self, index: u32) {
        if let Some(leaf) = self.leaves.get_mut(index as usize) {
            leaf.born = NONE;
        }
    }

    /// A GC has ended: leaves that are free are used again, in order, so that those of a thread lie side by side.
    pub(crate) fn settle(&mut self) {
        let (leaves, objects) = std::mem::take(&mut self.released);
        if let Some(mean) = objects.checked_div(leaves) {
            self.room = (mean * 5 / 4).clamp(4, 1 << PLACES);
        }
        self.vacant.rewind();
    }

    /// Takes the objects between two addresses out of a leaf.
    pub(crate) fn cut(&mut self, index: u32, range: std::ops::Range<u64>, mut each: impl FnMut(Entry)) {
        let (shift, leaf) = (self.unit.shift(), &mut self.leaves[index as usize]);
        let base = leaf.page << PLACES;
        leaf.retain(|place, entry| {
            let stays = !range.contains(&((base | place as u64) << shift));
            if !stays {
                each(entry);
            }
            stays
        });
    }

    /// Takes marked objects out of leaves that were not collected: they are elsewhere now.
    pub(crate) fn drop_marked(&mut self) {
        for index in std::mem::take(&mut self.marked) {
            let leaf = &mut self.leaves[index as usize];
            if std::mem::take(&mut leaf.marks) > 0 {
                leaf.retain(|_, entry| !entry.is_marked());
            }
        }
    }

    /// Gives back the room a leaf does not need: it will not get many more objects.
    pub(crate) fn trim(&mut self, index: u32) {
        let entries = &mut self.leaves[index as usize].entries;
        if entries.capacity() > entries.len() + entries.len() / 4 {
            entries.shrink_to_fit();
        }
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.leaves.capacity() * size_of::<Leaf>()
            + self.leaves.iter().map(|l| l.entries.capacity() * size_of::<Entry>()).sum::<usize>()
            + self.vacant.memory()
            + 4 * self.marked.capacity()
            + self.far.capacity() * size_of::<Slot>()
    }
}

#[cfg(test)]
mod tests;
