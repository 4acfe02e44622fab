//! Objects grouped by equal content: shared code of the analyses of duplicates. Not an analysis itself.
//!
//! Contents are compared by 128 bits of hash with random seeds, not byte by byte: of a billion different contents, two would be taken for
//! equal once in 10^20 runs. So memory is in proportion to the number of different contents, not to their size.

use ahash::RandomState;
use memory_city_heap::ObjectId;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Mutex;

/// Hashes contents to 128 bits.
pub(super) struct ContentHasher(RandomState, RandomState);

impl ContentHasher {
    pub(super) fn new() -> Self {
        ContentHasher(RandomState::new(), RandomState::new())
    }

    /// The hash of contents and of their kind: the same bytes mean something else in another kind of array.
    #[inline]
    pub(super) fn hash(&self, read_as: impl Hash + Copy, bytes: &[u8]) -> u128 {
        let half = |state: &RandomState| u128::from(state.hash_one((read_as, bytes)));
        half(&self.0) << 64 | half(&self.1)
    }
}

/// Objects that hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EqualObjects {
    /// How many.
    pub(super) count: u64,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Objects that refer to them and count with them: the strings of an array.
    pub(super) users: u64,
    /// The first of them, by address.
    pub(super) first: ObjectId,
}

const SHARDS: usize = 256;

/// All different contents, filled by several threads at once.
pub(super) struct ContentTable<K>(Vec<Mutex<FxHashMap<K, EqualObjects>>>);

impl<K: Hash + Eq + Copy> ContentTable<K> {
    pub(super) fn new() -> Self {
        ContentTable((0..SHARDS).map(|_| Mutex::default()).collect())
    }

    /// Adds an object with its bytes and users; `shard` is any number that follows from the key.
    #[inline]
    pub(super) fn add(&self, key: K, shard: usize, o: ObjectId, bytes: u64, users: u64) {
        let mut shard = self.0[shard % SHARDS].lock().unwrap_or_else(|e| e.into_inner());
        let equal = shard.entry(key).or_insert(EqualObjects { count: 0, bytes: 0, users: 0, first: o });
        equal.count += 1;
        equal.bytes += bytes;
        equal.users += users;
        equal.first = equal.first.min(o);
    }

    /// All contents, in no order.
    pub(super) fn finish(self) -> impl Iterator<Item = (K, EqualObjects)> {
        self.0.into_iter().flat_map(|shard| shard.into_inner().unwrap_or_else(|e| e.into_inner()))
    }
}
