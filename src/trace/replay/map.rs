//! Where the objects are: leaves of 4 KB of heap, found through a directory by address.
//!
//! Objects start at multiples of 8. A leaf has a bit for each place an object can start at, and its objects in address
//! order; how many start below each word of bits is noted, so a place finds its object without counting them all. A
//! *slot* is a place in the table as 32 bits. Leaves live in a [`Map`]; a [`Directory`] says which leaf belongs to which
//! address. During a collection there are two directories over the same leaves: the heap before, and what has been
//! reported of the heap after. An object of the heap before that has been reported is *marked* there.

use super::arena::{Arena, grow};
use super::vacant::Vacant;

/// Places of a leaf, as a shift.
const PLACES: u32 = 9;
const WORDS: usize = 1 << (PLACES - 6);
/// Bytes of heap a leaf covers, as a shift.
pub const LEAF_SHIFT: u32 = PLACES + 3;
/// Leaves of a chunk of the directory: 4 GB of heap.
const CHUNK_SHIFT: u32 = 20;
/// No heap is spread over more chunks of the address range: a damaged file says so.
const MOST_CHUNKS: usize = 4096;
/// Leaves there can be, by the bits of a slot: 32 GB of heap in use.
const MOST_LEAVES: usize = 1 << (32 - PLACES);

/// Nothing.
pub const NONE: u32 = u32::MAX;
/// Set in the number of a marked object.
const MARK: u32 = 1 << 31;

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

/// An object in the table: all that is known of it.
///
/// Two words of 64 bits instead of four of 32: what is put together in registers is stored as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Cell and number.
    who: u64,
    /// Record and length.
    what: u64,
}

const LOW: u64 = u32::MAX as u64;

impl Entry {
    /// An entry that is not marked, without references. Numbers are below 2^31.
    #[inline]
    pub fn new(number: u32, cell: u32, length: u32) -> Entry {
        let record = u64::from(Arena::NONE);
        Entry { who: u64::from(cell) << 32 | u64::from(number & !MARK), what: record << 32 | u64::from(length) }
    }

    /// The number of the object, for as long as it lives.
    #[inline]
    pub fn number(self) -> u32 {
        self.who as u32 & !MARK
    }

    /// Its cell.
    #[inline]
    pub fn cell(self) -> u32 {
        (self.who >> 32) as u32
    }

    /// See [`crate::trace::event::EventSink::allocate`].
    #[inline]
    pub fn length(self) -> u32 {
        self.what as u32
    }

    /// Its references, a record in the arena.
    #[inline]
    pub fn record(self) -> u32 {
        (self.what >> 32) as u32
    }

    /// Moves it to another cell.
    #[inline]
    pub fn set_cell(&mut self, cell: u32) {
        self.who = self.who & LOW | u64::from(cell) << 32;
    }

    /// Gives it other references.
    #[inline]
    pub fn set_record(&mut self, record: u32) {
        self.what = self.what & LOW | u64::from(record) << 32;
    }

    /// Whether it has been reported by the running GC.
    #[inline]
    pub fn is_marked(self) -> bool {
        self.who & u64::from(MARK) != 0
    }
}

/// Leaves by address.
pub struct Directory {
    chunks: Vec<(u64, Vec<u32>)>,
    /// The chunk used last.
    chunk: usize,
    /// Pages that have a leaf, in no order; may name pages twice, and pages that have lost it.
    pages: Vec<u64>,
    /// How many have a leaf.
    count: usize,
    last: (u64, u32),
}

impl Default for Directory {
    fn default() -> Self {
        Directory { chunks: Vec::new(), chunk: 0, pages: Vec::new(), count: 0, last: (u64::MAX, NONE) }
    }
}

/// The first and the last page of an address range.
fn pages_of(start: u64, end: u64) -> Option<(u64, u64)> {
    (start < end).then(|| (start >> LEAF_SHIFT, (end - 1) >> LEAF_SHIFT))
}

const CHUNK_MASK: u64 = (1 << CHUNK_SHIFT) - 1;

impl Directory {
    /// The leaf of a page.
    #[inline]
    pub fn get(&self, page: u64) -> u32 {
        if self.last.0 == page {
            return self.last.1;
        }
        let key = page >> CHUNK_SHIFT;
        match self.chunks.get(self.chunk) {
            Some((k, leaves)) if *k == key => leaves[(page & CHUNK_MASK) as usize].wrapping_sub(1),
            _ => match self.chunks.binary_search_by_key(&key, |c| c.0) {
                Ok(at) => self.chunks[at].1[(page & CHUNK_MASK) as usize].wrapping_sub(1),
                Err(_) => NONE,
            },
        }
    }

    /// The same, remembered for the next question.
    #[inline]
    fn look(&mut self, page: u64) -> u32 {
        if self.last.0 != page {
            self.last = (page, self.get(page));
        }
        self.last.1
    }

    /// Sets the leaf of a page. `false` when the address range is spread too far.
    pub fn set(&mut self, page: u64, leaf: u32) -> bool {
        let key = page >> CHUNK_SHIFT;
        if self.chunks.get(self.chunk).is_none_or(|c| c.0 != key) {
            self.chunk = match self.chunks.binary_search_by_key(&key, |c| c.0) {
                Ok(at) => at,
                Err(_) if self.chunks.len() >= MOST_CHUNKS => return false,
                Err(at) => {
                    // Zeroed memory costs nothing until it is touched: most of a chunk never is.
                    self.chunks.insert(at, (key, vec![0; 1 << CHUNK_SHIFT]));
                    at
                }
            };
        }
        let entry = &mut self.chunks[self.chunk].1[(page & CHUNK_MASK) as usize];
        let before = std::mem::replace(entry, leaf.wrapping_add(1));
        self.last = (page, leaf);
        match (before, leaf) {
            (0, NONE) => {}
            (_, NONE) => self.count -= 1,
            (0, _) => {
                self.count += 1;
                self.pages.push(page);
                if self.pages.len() > 2 * self.count + (1 << 12) {
                    self.pages();
                }
            }
            _ => {}
        }
        true
    }

    /// The pages that have a leaf, in address order.
    pub fn pages(&mut self) -> &[u64] {
        let mut pages = std::mem::take(&mut self.pages);
        pages.retain(|&p| self.get(p) != NONE);
        pages.sort_unstable();
        pages.dedup();
        self.pages = pages;
        &self.pages
    }

    /// The pages that have a leaf between two addresses, in address order. Costs as many steps as there are pages
    /// between them, or in all, whichever is less.
    pub fn pages_between(&self, start: u64, end: u64) -> Vec<u64> {
        let Some((first, last)) = pages_of(start, end) else { return Vec::new() };
        if last - first < self.pages.len() as u64 {
            return (first..=last).filter(|&page| self.get(page) != NONE).collect();
        }
        let mut pages: Vec<u64> = self.named(first, last).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Whether there is one.
    pub fn has_between(&self, start: u64, end: u64) -> bool {
        let Some((first, last)) = pages_of(start, end) else { return false };
        match last - first < self.pages.len() as u64 {
            true => (first..=last).any(|page| self.get(page) != NONE),
            false => self.named(first, last).next().is_some(),
        }
    }

    fn named(&self, first: u64, last: u64) -> impl Iterator<Item = u64> + '_ {
        self.pages.iter().copied().filter(move |&page| (first..=last).contains(&page) && self.get(page) != NONE)
    }

    /// Takes all pages with their leaves, and leaves the directory empty.
    pub fn drain(&mut self) -> Vec<(u64, u32)> {
        let mut taken = Vec::with_capacity(self.pages.len());
        for page in std::mem::take(&mut self.pages) {
            let leaf = self.get(page);
            if leaf != NONE {
                taken.push((page, leaf));
                self.set(page, NONE);
            }
        }
        taken
    }

    /// Bytes of memory that were touched, about.
    pub fn memory(&self) -> usize {
        8 * self.pages.capacity() + 4 * self.pages.len() + 4096 * self.chunks.len()
    }
}

/// Objects of 4 KB of heap.
struct Leaf {
    page: u64,
    bits: [u64; WORDS],
    /// Objects below each word; of no meaning where the word is empty.
    below: [u16; WORDS],
    /// The highest place ever taken.
    last: u16,
    /// Marked objects.
    marks: u16,
    /// The GC interval in which all its objects were born; [`NONE`] when they were not born together.
    born: u32,
    entries: Vec<Entry>,
}

impl Default for Leaf {
    fn default() -> Self {
        let (bits, below) = ([0; WORDS], [0; WORDS]);
        Leaf { page: 0, bits, below, last: 0, marks: 0, born: NONE, entries: Vec::new() }
    }
}

impl Leaf {
    #[inline]
    fn find(&self, place: usize) -> Option<usize> {
        let (word, bit) = (self.bits[place / 64], 1u64 << (place % 64));
        if word & bit == 0 {
            return None;
        }
        Some(self.below[place / 64] as usize + (word & (bit - 1)).count_ones() as usize)
    }

    /// Puts an object at a place; returns the one that was there.
    #[inline(always)]
    fn put(&mut self, place: usize, entry: Entry) -> Option<Entry> {
        if place as u16 > self.last || self.entries.is_empty() {
            let word = &mut self.bits[place / 64];
            if *word == 0 {
                self.below[place / 64] = self.entries.len() as u16;
            }
            *word |= 1 << (place % 64);
            self.entries.push(entry);
            self.last = place as u16;
            return None;
        }
        self.put_between(place, entry)
    }

    #[cold]
    fn put_between(&mut self, place: usize, entry: Entry) -> Option<Entry> {
        if let Some(at) = self.find(place) {
            return Some(std::mem::replace(&mut self.entries[at], entry));
        }
        self.bits[place / 64] |= 1 << (place % 64);
        self.count();
        if let Some(at) = self.find(place) {
            self.entries.insert(at, entry);
        }
        None
    }

    fn remove(&mut self, place: usize) {
        if let Some(at) = self.find(place) {
            self.entries.remove(at);
            self.bits[place / 64] &= !(1 << (place % 64));
            self.count();
        }
    }

    fn count(&mut self) {
        let mut below = 0;
        for (word, count) in self.bits.iter().zip(&mut self.below) {
            *count = below;
            below += word.count_ones() as u16;
        }
    }

    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let bits = self.bits;
        bits.into_iter().enumerate().flat_map(|(i, word)| {
            std::iter::successors((word != 0).then_some(word), |w| Some(w & (w - 1)).filter(|w| *w != 0))
                .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }

    /// Keeps the entries that `keep` says, given their place.
    fn retain(&mut self, mut keep: impl FnMut(usize, Entry) -> bool) {
        let mut places = self.places();
        let mut bits = self.bits;
        self.entries.retain(|entry| {
            let place = places.next().unwrap_or(0);
            let stays = keep(place, *entry);
            if !stays {
                bits[place / 64] &= !(1 << (place % 64));
            }
            stays
        });
        self.bits = bits;
        self.count();
    }
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
    /// The object that starts at an address.
    #[inline]
    pub fn find(&self, directory: &Directory, address: u64) -> Option<Entry> {
        let leaf = directory.get(address >> LEAF_SHIFT);
        if leaf == NONE || address & 7 != 0 {
            return None;
        }
        let leaf = &self.leaves[leaf as usize];
        leaf.find(place_of(address)).map(|at| leaf.entries[at])
    }

    /// The same, to change it.
    pub fn find_mut(&mut self, directory: &Directory, address: u64) -> Option<&mut Entry> {
        let leaf = directory.get(address >> LEAF_SHIFT);
        if leaf == NONE || address & 7 != 0 {
            return None;
        }
        let leaf = &mut self.leaves[leaf as usize];
        leaf.find(place_of(address)).map(|at| &mut leaf.entries[at])
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
        leaf.entries[at].who |= u64::from(MARK);
        leaf.marks += 1;
        if leaf.marks == 1 {
            self.marked.push(index);
        }
        Some(entry)
    }

    /// Takes an object out; `None` when there is none.
    pub fn take(&mut self, directory: &Directory, address: u64) -> Option<Entry> {
        let entry = self.find(directory, address)?;
        let leaf = directory.get(address >> LEAF_SHIFT);
        self.leaves[leaf as usize].remove(place_of(address));
        Some(entry)
    }

    /// The slot of an address; makes its leaf. `None` when the address cannot be. `born` is the GC interval to which all
    /// belong that will be put there, [`NONE`] for objects that are older or will be.
    #[inline]
    pub fn slot(&mut self, directory: &mut Directory, address: u64, born: u32) -> Option<Slot> {
        let page = address >> LEAF_SHIFT;
        let mut leaf = directory.look(page);
        if leaf == NONE {
            leaf = self.grow(directory, page, born)?;
        }
        Some(Slot::new(leaf, address))
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
        if leaves > 0 {
            self.room = (objects / leaves * 5 / 4).clamp(4, 1 << PLACES);
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
