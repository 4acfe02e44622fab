//! The spaces of a heap: the parts of the address range that are eden, survivor or old.

use memory_city_heap::SpaceKind;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// One space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Space {
    /// First address.
    pub start: u64,
    /// Bytes; 0 when it is not defined.
    pub bytes: u64,
    /// Its kind.
    pub kind: SpaceKind,
}

impl Space {
    /// Whether it holds an address.
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    /// First address, and the one behind the last.
    pub fn range(&self) -> (u64, u64) {
        (self.start, self.start.saturating_add(self.bytes))
    }
}

/// All spaces, by the source's own index.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spaces {
    by_index: Vec<Space>,
    /// Indices of the defined spaces, by start.
    #[serde(skip)]
    sorted: Vec<u32>,
    /// The space found last: events come in runs.
    #[serde(skip)]
    last: Cell<u32>,
}

/// More spaces than a heap can have: a damaged file says so.
pub const MOST_SPACES: u32 = 1 << 16;

impl Spaces {
    /// The space at an address.
    #[inline]
    pub fn at(&self, address: u64) -> Option<&Space> {
        match self.by_index.get(self.last.get() as usize) {
            Some(space) if space.contains(address) => Some(space),
            _ => self.search(address),
        }
    }

    /// The kind of the space at an address.
    pub fn kind_at(&self, address: u64) -> SpaceKind {
        self.at(address).map(|s| s.kind).unwrap_or_default()
    }

    fn search(&self, address: u64) -> Option<&Space> {
        let after = self.sorted.partition_point(|&i| self.by_index[i as usize].start <= address);
        // Spaces may overlap for a moment while they are being moved: the one that begins last is the newest.
        let index = *self.sorted.get(after.checked_sub(1)?)?;
        let space = &self.by_index[index as usize];
        if !space.contains(address) {
            return None;
        }
        self.last.set(index);
        Some(space)
    }

    /// The space with an index.
    pub fn get(&self, index: u32) -> Option<&Space> {
        self.by_index.get(index as usize)
    }

    /// All spaces, by index; undefined ones have no bytes.
    pub fn all(&self) -> &[Space] {
        &self.by_index
    }

    /// Changes a space. `false` when the index is more than a heap can have.
    pub fn set(&mut self, index: u32, change: impl FnOnce(&mut Space)) -> bool {
        if index >= MOST_SPACES {
            return false;
        }
        if self.by_index.len() <= index as usize {
            self.by_index.resize(index as usize + 1, Space::default());
        }
        self.unlist(index);
        let space = &mut self.by_index[index as usize];
        change(space);
        space.bytes = space.bytes.min(u64::MAX - space.start);
        if space.bytes > 0 {
            let key = (space.start, index);
            let at = self.sorted.partition_point(|&i| (self.by_index[i as usize].start, i) < key);
            self.sorted.insert(at, index);
        }
        true
    }

    fn unlist(&mut self, index: u32) {
        let key = (self.by_index[index as usize].start, index);
        let at = self.sorted.partition_point(|&i| (self.by_index[i as usize].start, i) < key);
        if self.sorted.get(at) == Some(&index) {
            self.sorted.remove(at);
        }
    }

    /// Forgets spaces.
    pub fn remove(&mut self, first: u32, count: u64) {
        let first = (first as usize).min(self.by_index.len());
        let end = first.saturating_add(usize::try_from(count).unwrap_or(usize::MAX)).min(self.by_index.len());
        self.by_index[first..end].fill(Space::default());
        self.sort();
    }

    /// Makes the lookup anew; needed after deserializing.
    pub fn sort(&mut self) {
        let all = &self.by_index;
        self.sorted = (0..all.len() as u32).filter(|&i| all[i as usize].bytes > 0).collect();
        self.sorted.sort_by_key(|&i| (all[i as usize].start, i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_find_their_space() {
        let mut spaces = Spaces::default();
        for (i, (start, bytes)) in [(0x3000, 0x1000), (0x1000, 0x1000), (0x2000, 0x800)].into_iter().enumerate() {
            assert!(spaces.set(i as u32, |s| (s.start, s.bytes) = (start, bytes)));
        }
        let start = |a| spaces.at(a).map(|s| s.start);
        for (address, expected) in [
            (0xfff, None),
            (0x1000, Some(0x1000)),
            (0x1fff, Some(0x1000)),
            (0x27ff, Some(0x2000)),
            (0x2800, None),
            (0x3000, Some(0x3000)),
            (0x4000, None),
        ] {
            assert_eq!(start(address), expected, "{address:x}");
        }
        spaces.remove(1, u64::MAX);
        assert_eq!(spaces.at(0x1000), None);
        assert!(!spaces.set(MOST_SPACES, |_| ()));
    }
}
