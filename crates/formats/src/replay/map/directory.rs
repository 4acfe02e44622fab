//! The directory: the leaf of each page of the address range or of the ids.

use super::{NONE, SpotUnit};
use rustc_hash::FxHashMap;

/// Leaves of a chunk of the directory: 4 GB of a heap whose objects are aligned to 8 bytes.
const CHUNK_SHIFT: u32 = 20;
/// Few heaps are spread over more chunks: the pages of others are in a hash table.
const MOST_CHUNKS: usize = 4096;

/// Leaves by page.
pub(crate) struct Directory {
    chunks: Vec<(u64, Vec<u32>)>,
    most_chunks: usize,
    /// Leaves of pages that have no chunk.
    scattered: FxHashMap<u64, u32>,
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
        Directory::with_chunks(MOST_CHUNKS)
    }
}

/// The first and the last page of an address range.
fn pages_of(unit: SpotUnit, start: u64, end: u64) -> Option<(u64, u64)> {
    (start < end).then(|| (start >> unit.leaf_shift(), (end - 1) >> unit.leaf_shift()))
}

const CHUNK_MASK: u64 = (1 << CHUNK_SHIFT) - 1;

impl Directory {
    /// An empty directory, with so many chunks at most.
    pub(super) fn with_chunks(most_chunks: usize) -> Directory {
        Directory {
            chunks: Vec::new(),
            most_chunks,
            scattered: FxHashMap::default(),
            chunk: 0,
            pages: Vec::new(),
            count: 0,
            last: (u64::MAX, NONE),
        }
    }

    /// The leaf of a page.
    #[inline]
    pub(crate) fn get(&self, page: u64) -> u32 {
        if self.last.0 == page {
            return self.last.1;
        }
        let key = page >> CHUNK_SHIFT;
        match self.chunks.get(self.chunk) {
            Some((k, leaves)) if *k == key => leaves[(page & CHUNK_MASK) as usize].wrapping_sub(1),
            _ => match self.chunks.binary_search_by_key(&key, |c| c.0) {
                Ok(at) => self.chunks[at].1[(page & CHUNK_MASK) as usize].wrapping_sub(1),
                Err(_) if self.scattered.is_empty() => NONE,
                Err(_) => self.scattered.get(&page).copied().unwrap_or(NONE),
            },
        }
    }

    /// The same, remembered for the next question.
    #[inline]
    pub(super) fn look(&mut self, page: u64) -> u32 {
        if self.last.0 != page {
            self.last = (page, self.get(page));
        }
        self.last.1
    }

    /// Sets the leaf of a page.
    pub(crate) fn set(&mut self, page: u64, leaf: u32) {
        let before = self.replace(page, leaf);
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
    }

    /// Sets the leaf of a page; returns the one before plus 1, 0 for none.
    fn replace(&mut self, page: u64, leaf: u32) -> u32 {
        let key = page >> CHUNK_SHIFT;
        if self.chunks.get(self.chunk).is_none_or(|c| c.0 != key) {
            self.chunk = match self.chunks.binary_search_by_key(&key, |c| c.0) {
                Ok(at) => at,
                Err(_) if self.chunks.len() >= self.most_chunks => {
                    let before = match leaf {
                        NONE => self.scattered.remove(&page),
                        _ => self.scattered.insert(page, leaf),
                    };
                    return before.map_or(0, |before| before + 1);
                }
                Err(at) => {
                    // Zeroed memory costs nothing until it is touched: most of a chunk never is.
                    self.chunks.insert(at, (key, vec![0; 1 << CHUNK_SHIFT]));
                    at
                }
            };
        }
        let entry = &mut self.chunks[self.chunk].1[(page & CHUNK_MASK) as usize];
        std::mem::replace(entry, leaf.wrapping_add(1))
    }

    /// The pages that have a leaf, in order.
    pub(crate) fn pages(&mut self) -> &[u64] {
        let mut pages = std::mem::take(&mut self.pages);
        pages.retain(|&p| self.get(p) != NONE);
        pages.sort_unstable();
        pages.dedup();
        self.pages = pages;
        &self.pages
    }

    /// The pages that have a leaf between two addresses, in address order. Costs as many steps as there are pages
    /// between them, or in all, whichever is less.
    pub(crate) fn pages_between(&self, unit: SpotUnit, start: u64, end: u64) -> Vec<u64> {
        let Some((first, last)) = pages_of(unit, start, end) else { return Vec::new() };
        if last - first < self.pages.len() as u64 {
            return (first..=last).filter(|&page| self.get(page) != NONE).collect();
        }
        let mut pages: Vec<u64> = self.named(first, last).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Whether there is one.
    pub(crate) fn has_between(&self, unit: SpotUnit, start: u64, end: u64) -> bool {
        let Some((first, last)) = pages_of(unit, start, end) else { return false };
        match last - first < self.pages.len() as u64 {
            true => (first..=last).any(|page| self.get(page) != NONE),
            false => self.named(first, last).next().is_some(),
        }
    }

    fn named(&self, first: u64, last: u64) -> impl Iterator<Item = u64> + '_ {
        self.pages.iter().copied().filter(move |&page| (first..=last).contains(&page) && self.get(page) != NONE)
    }

    /// Takes all pages with their leaves, and leaves the directory empty.
    pub(crate) fn drain(&mut self) -> Vec<(u64, u32)> {
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
    pub(crate) fn memory(&self) -> usize {
        8 * self.pages.capacity() + 4 * self.pages.len() + 4096 * self.chunks.len() + 16 * self.scattered.capacity()
    }
}
