//! Where the objects are: a table of object numbers by address, in leaves of 4 KB of heap.
//!
//! Objects are at least 16 bytes long and start at multiples of 8, so 16 bytes of heap (a granule) hold the start of
//! one object at most: an entry is its number and one bit for the half it starts in. A *slot* is a place in the table
//! as 32 bits. Leaves live in a [`Map`]; a [`Directory`] says which leaf belongs to which address. During a collection
//! there are two directories over the same leaves: the heap before, and what has been reported of the heap after.

use rustc_hash::FxHashMap;

/// Granules of a leaf, as a shift.
const GRANULES: u32 = 8;
/// Entries of a leaf.
pub const LEAF: usize = 1 << GRANULES;
/// Bytes of heap a leaf covers, as a shift.
pub const LEAF_SHIFT: u32 = GRANULES + 4;
/// Leaves of a chunk of the directory: 4 GB of heap.
const CHUNK_SHIFT: u32 = 20;
/// No heap is spread over more chunks of the address range: a damaged file says so.
const MOST_CHUNKS: usize = 4096;
/// Leaves there can be, by the bits of a slot: 64 GB of heap in use.
const MOST_LEAVES: usize = 1 << (32 - GRANULES);

/// Nothing.
pub const NONE: u32 = u32::MAX;

/// A place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u32);

impl Slot {
    fn new(leaf: u32, address: u64) -> Slot {
        Slot(leaf << GRANULES | (address >> 4) as u32 & (LEAF as u32 - 1))
    }

    /// The leaf it is in.
    pub fn leaf(self) -> u32 {
        self.0 >> GRANULES
    }

    /// The same granule of another leaf.
    pub fn in_leaf(self, leaf: u32) -> Slot {
        Slot(leaf << GRANULES | self.0 & (LEAF as u32 - 1))
    }
}

/// Leaves by address.
#[derive(Default)]
pub struct Directory {
    chunks: FxHashMap<u64, Vec<u32>>,
    /// Pages that have a leaf, in no order; may name pages that have lost it.
    pages: Vec<u64>,
    last: (u64, u32),
}

impl Directory {
    /// An empty one.
    pub fn new() -> Self {
        Directory { last: (u64::MAX, NONE), ..Directory::default() }
    }

    /// The leaf of a page.
    #[inline]
    pub fn get(&self, page: u64) -> u32 {
        if self.last.0 == page {
            return self.last.1;
        }
        match self.chunks.get(&(page >> CHUNK_SHIFT)) {
            Some(chunk) => chunk[page as usize & ((1 << CHUNK_SHIFT) - 1)].wrapping_sub(1),
            None => NONE,
        }
    }

    /// Sets the leaf of a page. `false` when the address range is spread too far.
    pub fn set(&mut self, page: u64, leaf: u32) -> bool {
        let key = page >> CHUNK_SHIFT;
        if !self.chunks.contains_key(&key) && self.chunks.len() >= MOST_CHUNKS {
            return false;
        }
        // Zeroed memory costs nothing until it is touched: most of a chunk never is.
        let chunk = self.chunks.entry(key).or_insert_with(|| vec![0; 1 << CHUNK_SHIFT]);
        let entry = &mut chunk[page as usize & ((1 << CHUNK_SHIFT) - 1)];
        if leaf != NONE && *entry == 0 {
            self.pages.push(page);
        }
        *entry = leaf.wrapping_add(1);
        self.last = (page, leaf);
        true
    }

    /// Remembers the page looked at last.
    #[inline]
    fn remember(&mut self, page: u64, leaf: u32) {
        self.last = (page, leaf);
    }

    /// The pages that have a leaf, in address order.
    pub fn pages(&mut self) -> Vec<u64> {
        let mut pages = std::mem::take(&mut self.pages);
        pages.retain(|&p| self.get(p) != NONE);
        pages.sort_unstable();
        pages.dedup();
        self.pages.clone_from(&pages);
        pages
    }

    /// The pages that have a leaf between two addresses, in address order.
    pub fn pages_between(&self, start: u64, end: u64) -> Vec<u64> {
        if start >= end {
            return Vec::new();
        }
        let (first, last) = (start >> LEAF_SHIFT, (end - 1) >> LEAF_SHIFT);
        let mut keys: Vec<u64> = self.chunks.keys().copied().collect();
        keys.sort_unstable();
        let mut pages = Vec::new();
        for key in keys {
            let base = key << CHUNK_SHIFT;
            let from = first.max(base);
            let to = last.min(base + (1 << CHUNK_SHIFT) - 1);
            if from > to {
                continue;
            }
            let chunk = &self.chunks[&key];
            pages.extend((from..=to).filter(|&p| chunk[(p - base) as usize] != 0));
        }
        pages
    }

    /// Takes all pages with their leaves, and leaves the directory empty.
    pub fn drain(&mut self) -> Vec<(u64, u32)> {
        let mut taken = Vec::with_capacity(self.pages.len());
        self.last = (u64::MAX, NONE);
        for page in std::mem::take(&mut self.pages) {
            let leaf = self.get(page);
            if leaf != NONE {
                taken.push((page, leaf));
                self.set(page, NONE);
            }
        }
        self.last = (u64::MAX, NONE);
        taken
    }
}

/// The leaves.
#[derive(Default)]
pub struct Map {
    leaves: Vec<[u32; LEAF]>,
    page_of: Vec<u64>,
    free: Vec<u32>,
}

impl Map {
    /// The number of the object that starts at an address.
    #[inline]
    pub fn find(&self, directory: &Directory, address: u64) -> Option<u32> {
        let leaf = directory.get(address >> LEAF_SHIFT);
        if leaf == NONE {
            return None;
        }
        let entry = self.leaves[leaf as usize][(address >> 4) as usize & (LEAF - 1)];
        // An entry is number + 1 in the upper 31 bits, and bit 3 of the address.
        if entry == 0 || entry & 1 != (address >> 3) as u32 & 1 || address & 7 != 0 {
            return None;
        }
        Some((entry >> 1) - 1)
    }

    /// The slot of an address; makes its leaf. `None` when the address cannot be.
    #[inline]
    pub fn slot(&mut self, directory: &mut Directory, address: u64) -> Option<Slot> {
        let page = address >> LEAF_SHIFT;
        let mut leaf = directory.get(page);
        if leaf == NONE {
            leaf = self.grow(directory, page)?;
        }
        directory.remember(page, leaf);
        Some(Slot::new(leaf, address))
    }

    #[cold]
    fn grow(&mut self, directory: &mut Directory, page: u64) -> Option<u32> {
        let leaf = match self.free.pop() {
            Some(leaf) => leaf,
            None if self.leaves.len() >= MOST_LEAVES - 1 => return None,
            None => {
                self.leaves.push([0; LEAF]);
                self.page_of.push(0);
                self.leaves.len() as u32 - 1
            }
        };
        if !directory.set(page, leaf) {
            self.free.push(leaf);
            return None;
        }
        self.page_of[leaf as usize] = page;
        Some(leaf)
    }

    /// Puts an object at a slot; returns the one that was there.
    #[inline]
    pub fn put(&mut self, slot: Slot, address: u64, object: u32) -> Option<u32> {
        let entry = self.entry(slot);
        let before = std::mem::replace(entry, (object + 1) << 1 | (address >> 3) as u32 & 1);
        (before != 0).then(|| (before >> 1) - 1)
    }

    /// Empties a slot.
    pub fn clear(&mut self, slot: Slot) {
        *self.entry(slot) = 0;
    }

    #[inline]
    fn entry(&mut self, slot: Slot) -> &mut u32 {
        &mut self.leaves[slot.leaf() as usize][slot.0 as usize & (LEAF - 1)]
    }

    /// The object at a slot.
    pub fn object(&self, slot: Slot) -> Option<u32> {
        let entry = self.leaves[slot.leaf() as usize][slot.0 as usize & (LEAF - 1)];
        (entry != 0).then(|| (entry >> 1) - 1)
    }

    /// The address of an occupied slot.
    pub fn address(&self, slot: Slot) -> u64 {
        let granule = slot.0 as usize & (LEAF - 1);
        let leaf = slot.leaf() as usize;
        let half = u64::from(self.leaves[leaf][granule] & 1);
        self.page_of[leaf] << LEAF_SHIFT | (granule as u64) << 4 | half << 3
    }

    /// The objects of a leaf with their slots, by address.
    pub fn objects(&self, leaf: u32) -> impl Iterator<Item = (Slot, u32)> + '_ {
        self.leaves[leaf as usize]
            .iter()
            .enumerate()
            .filter(|(_, e)| **e != 0)
            .map(move |(i, e)| (Slot(leaf << GRANULES | i as u32), (e >> 1) - 1))
    }

    /// Empties a leaf and gives it back.
    pub fn release(&mut self, leaf: u32) {
        self.leaves[leaf as usize] = [0; LEAF];
        self.free.push(leaf);
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.leaves.capacity() * size_of::<[u32; LEAF]>() + 8 * self.page_of.capacity() + 4 * self.free.capacity()
    }
}

impl Directory {
    /// Bytes of memory that were touched, about.
    pub fn memory(&self) -> usize {
        8 * self.pages.capacity() + 4 * self.pages.len() + 4096 * self.chunks.len()
    }
}
