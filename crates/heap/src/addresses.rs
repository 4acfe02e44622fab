//! A map from addresses to object numbers in constant time: a bitmap of the addresses that hold an object, with ranks.
//!
//! The address space is cut into pages of 4096 slots. [`AddressSet`] collects addresses from many threads into the pages that occur;
//! [`AddressMap`] numbers them: an object's number is the count of addresses below its own. A flat table over the occurring range finds a
//! page, or a binary search if addresses are so scattered that the table would be large. Memory is bounded by the number of objects: 1.4 KB
//! a page at worst. For addresses from a file that may be wrong, pages are bounded as well: a few bytes of a file name an address, while
//! objects of real programs are neighbours.

use super::types::ObjectId;
use ahash::AHashMap;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const SLOTS: u64 = 4096;
const WORDS: usize = (SLOTS / 64) as usize;
const SHARDS: usize = 64;

type Page = [AtomicU64; WORDS];

/// Addresses being collected. Cheap to write from many threads when each goes through an [`AddressWriter`].
pub struct AddressSet {
    shift: u32,
    /// Pages that there may be, and that there are.
    most_pages: u64,
    pages: AtomicU64,
    shards: Vec<Mutex<AHashMap<u64, Arc<Page>>>>,
}

/// Bytes of a page, while it is collected and while it is numbered.
const PAGE_BYTES: u64 = 1400;

/// Why addresses are not numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManyAddresses {
    /// The number of objects.
    Objects(u64),
    /// They lie so scattered that the map of them takes more memory than it may, bytes.
    Scattered(u64),
}

/// One thread's access to an [`AddressSet`]: remembers the last page.
pub struct AddressWriter<'a> {
    set: &'a AddressSet,
    page: u64,
    bits: Option<Arc<Page>>,
}

impl AddressSet {
    /// Addresses that are multiples of `1 << shift`.
    pub fn new(shift: u32) -> Self {
        Self::within(shift, u64::MAX)
    }

    /// The same, in at most `bytes` of memory. [`AddressSet::finish_within`] fails if they do not hold all addresses.
    pub fn within(shift: u32, bytes: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        AddressSet { shift, most_pages: bytes / PAGE_BYTES, pages: AtomicU64::new(0), shards }
    }

    /// Access for one thread.
    pub fn writer(&self) -> AddressWriter<'_> {
        AddressWriter { set: self, page: 0, bits: None }
    }

    fn page(&self, page: u64) -> Arc<Page> {
        let mut shard = self.shards[page as usize % SHARDS].lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = shard.get(&page) {
            return Arc::clone(known);
        }
        let new: Arc<Page> = Arc::new(std::array::from_fn(|_| AtomicU64::new(0)));
        // One page too many is for its writer alone: nothing will be made of it.
        if self.pages.fetch_add(1, Relaxed) < self.most_pages {
            shard.insert(page, Arc::clone(&new));
        }
        new
    }

    /// Numbers the addresses. `Err` with their count if there are more than `most`.
    ///
    /// # Errors
    /// How many there are, where these are more; that they are too scattered for [the memory](AddressSet::within) there is for them.
    pub fn finish_within(self, most: u32) -> Result<AddressMap, TooManyAddresses> {
        if self.pages.load(Relaxed) > self.most_pages {
            return Err(TooManyAddresses::Scattered(self.most_pages * PAGE_BYTES));
        }
        let count = |shard: &Mutex<AHashMap<u64, Arc<Page>>>| {
            let pages = shard.lock().unwrap_or_else(|e| e.into_inner());
            pages.values().flat_map(|p| p.iter()).map(|word| u64::from(word.load(Relaxed).count_ones())).sum::<u64>()
        };
        let count = self.shards.par_iter().map(count).sum();
        if count > u64::from(most) { Err(TooManyAddresses::Objects(count)) } else { Ok(self.finish()) }
    }

    /// Numbers the addresses. There must be less than 2^32.
    pub fn finish(self) -> AddressMap {
        let mut pages: Vec<(u64, Arc<Page>)> = self
            .shards
            .into_iter()
            .flat_map(|s| s.into_inner().unwrap_or_else(|e| e.into_inner()).into_iter())
            .collect();
        pages.par_sort_unstable_by_key(|p| p.0);
        let mut words = vec![0u64; pages.len() * WORDS];
        words.par_chunks_mut(WORDS).zip(&pages).for_each(|(out, (_, page))| {
            for (word, bits) in out.iter_mut().zip(page.iter()) {
                *word = bits.load(Relaxed);
            }
        });
        let keys: Vec<u64> = pages.into_iter().map(|p| p.0).collect();
        let mut ranks = Vec::with_capacity(words.len() + 1);
        let mut count = 0u32;
        for word in &words {
            ranks.push(count);
            count += word.count_ones();
        }
        ranks.push(count);
        let first = keys.first().copied().unwrap_or(0);
        let span = keys.last().map(|last| last - first + 1).unwrap_or(0);
        // A flat table while it stays small beside the bitmap itself.
        let table = if span <= (keys.len() as u64 * 64).max(1 << 16) {
            let mut table = vec![u32::MAX; span as usize];
            for (i, key) in keys.iter().enumerate() {
                table[(key - first) as usize] = i as u32;
            }
            table
        } else {
            Vec::new()
        };
        AddressMap { shift: self.shift, first, table, keys, words, ranks }
    }
}

impl AddressWriter<'_> {
    /// Adds an address; returns whether it was new. `None` when it is not a multiple of the set's unit.
    #[inline]
    pub fn insert(&mut self, address: u64) -> Option<bool> {
        let slot = address >> self.set.shift;
        if slot << self.set.shift != address {
            return None;
        }
        let page = slot / SLOTS;
        let bits = match &self.bits {
            Some(bits) if self.page == page => bits,
            _ => {
                self.page = page;
                self.bits.insert(self.set.page(page))
            }
        };
        let bit = 1u64 << (slot % 64);
        let before = bits[(slot % SLOTS / 64) as usize].fetch_or(bit, Relaxed);
        Some(before & bit == 0)
    }
}

/// Numbered addresses.
#[derive(Debug, Default)]
pub struct AddressMap {
    shift: u32,
    first: u64,
    /// Page key minus `first` to page number; empty when addresses are scattered.
    table: Vec<u32>,
    keys: Vec<u64>,
    words: Vec<u64>,
    /// Objects before each word.
    ranks: Vec<u32>,
}

impl AddressMap {
    /// The number of addresses.
    #[inline]
    pub fn len(&self) -> usize {
        self.ranks.last().copied().unwrap_or(0) as usize
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        12 * self.words.len() + 4 * self.table.len() + 8 * self.keys.len()
    }

    /// The object at an address.
    #[inline]
    pub fn find(&self, address: u64) -> Option<ObjectId> {
        let slot = address >> self.shift;
        let key = slot / SLOTS;
        let page = if self.table.is_empty() {
            self.keys.binary_search(&key).ok()?
        } else {
            let page = *self.table.get(key.wrapping_sub(self.first) as usize)?;
            if page == u32::MAX {
                return None;
            }
            page as usize
        };
        let at = page * WORDS + (slot % SLOTS / 64) as usize;
        let word = self.words[at];
        let bit = slot % 64;
        if word >> bit & 1 == 0 || slot << self.shift != address {
            return None;
        }
        Some(ObjectId(self.ranks[at] + (word & ((1u64 << bit) - 1)).count_ones()))
    }

    /// The address of an object.
    #[inline]
    pub fn address(&self, object: ObjectId) -> u64 {
        // The last word whose rank is not above the number holds it.
        let at = self.ranks.partition_point(|&r| r <= object.0).saturating_sub(1);
        let mut word = self.words.get(at).copied().unwrap_or(0);
        for _ in self.ranks[at]..object.0 {
            word &= word - 1;
        }
        let slot = self.keys[at / WORDS] * SLOTS + (at % WORDS) as u64 * 64 + u64::from(word.trailing_zeros());
        slot << self.shift
    }

    /// All addresses, ascending.
    #[cfg(test)]
    fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().enumerate().flat_map(move |(at, &word)| {
            let base = self.keys[at / WORDS] * SLOTS + (at % WORDS) as u64 * 64;
            std::iter::successors((word != 0).then_some(word), |w| Some(w & (w - 1)).filter(|w| *w != 0))
                .map(move |w| (base + u64::from(w.trailing_zeros())) << self.shift)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_addresses_take_no_more_memory_than_they_may() {
        for (bytes, fits) in [(1000 * PAGE_BYTES, true), (999 * PAGE_BYTES, false)] {
            let set = AddressSet::within(3, bytes);
            let mut writer = set.writer();
            for page in 0..1000 {
                assert_eq!(writer.insert(page << 40), Some(true));
            }
            let kept: usize = set.shards.iter().map(|shard| shard.lock().expect("whole").len()).sum();
            assert_eq!(kept as u64, bytes / PAGE_BYTES);
            assert_eq!(set.finish_within(u32::MAX).err(), (!fits).then_some(TooManyAddresses::Scattered(bytes)));
        }
    }
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_map_agrees_with_a_sorted_list(
            dense in prop::collection::vec(0u64..2000, 0..200),
            scattered in prop::collection::vec(any::<u64>(), 0..40),
            shift in prop::sample::select(vec![0u32, 3]),
            with_scattered: bool,
        ) {
            let unit = 1u64 << shift;
            let mut addresses: BTreeSet<u64> = dense.iter().map(|a| 0x7_0000_0000 + a * unit).collect();
            if with_scattered {
                addresses.extend(scattered.iter().map(|a| a / unit * unit));
            }
            let set = AddressSet::new(shift);
            let mut writer = set.writer();
            for a in addresses.iter().rev() {
                prop_assert_eq!(writer.insert(*a), Some(true));
                prop_assert_eq!(writer.insert(*a), Some(false));
            }
            if shift > 0 {
                prop_assert_eq!(writer.insert(1), None);
            }
            let map = set.finish();
            prop_assert_eq!(map.len(), addresses.len());
            prop_assert!(map.iter().eq(addresses.iter().copied()));
            for (i, a) in addresses.iter().enumerate() {
                prop_assert_eq!(map.find(*a), Some(ObjectId(i as u32)));
                prop_assert_eq!(map.address(ObjectId(i as u32)), *a);
                let beside = a.wrapping_add(1);
                prop_assert_eq!(map.find(beside).is_some(), addresses.contains(&beside));
            }
        }
    }
}
