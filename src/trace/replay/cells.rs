//! Objects that nothing tells apart but their address: same creation data, born in the same GC interval, in the same
//! kind of space. A [`Cells`] table counts them; what changed in it between two moments is all that grouping needs.

use crate::heap::SpaceKind;
use crate::trace::event::{InfoId, Shape};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What the objects of a cell have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellKey {
    /// Creation data, an index into the infos.
    pub info: u32,
    /// The GC interval they were born in: 0 before the end of the first GC.
    pub birth: u32,
    /// Where they are.
    pub space: SpaceKind,
}

impl std::hash::Hash for CellKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.info) << 32 | u64::from(self.birth) << 3 | self.space as u64);
    }
}

/// A cell: its key, and how many objects are in it.
#[derive(Clone, Copy, Debug)]
pub struct CellEntry {
    /// What it stands for.
    pub key: CellKey,
    /// From what the size of an object follows.
    pub shape: Shape,
    count: u32,
    bytes: u64,
    /// Count and bytes when changes were last taken.
    noted: (u32, u64),
    /// Whether it is listed as changed.
    listed: bool,
    /// Cells of the same objects in another kind of space, found before; valid at `stamp` only.
    moved: [u32; SpaceKind::COUNT],
    stamp: u32,
}

/// A change of a cell: so many more or fewer objects and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The cell.
    pub key: CellKey,
    /// How many objects came or went.
    pub objects: i64,
    /// How many bytes.
    pub bytes: i64,
}

const NONE: u32 = u32::MAX;

/// The cells of a heap.
#[derive(Default)]
pub struct Cells {
    entries: Vec<CellEntry>,
    by_key: FxHashMap<CellKey, u32>,
    free: Vec<u32>,
    changed: Vec<u32>,
    /// The cell that an info's newborn objects go to, with its space and birth.
    newborn: Vec<(u32, u32, SpaceKind)>,
    stamp: u32,
}

impl Cells {
    /// The cell of newborn objects.
    #[inline]
    pub fn born(&mut self, info: InfoId, birth: u32, space: SpaceKind, shape: impl FnOnce() -> Shape) -> u32 {
        match self.newborn.get(info.0 as usize) {
            Some(&(cell, b, s)) if b == birth && s == space && cell != NONE => cell,
            _ => self.born_anew(info, birth, space, shape()),
        }
    }

    #[cold]
    fn born_anew(&mut self, info: InfoId, birth: u32, space: SpaceKind, shape: Shape) -> u32 {
        let cell = self.cell(CellKey { info: info.0, birth, space }, shape);
        if self.newborn.len() <= info.0 as usize {
            self.newborn.resize(info.0 as usize + 1, (NONE, 0, SpaceKind::Unknown));
        }
        self.newborn[info.0 as usize] = (cell, birth, space);
        cell
    }

    /// The cell of a key; made when it is not there.
    pub fn cell(&mut self, key: CellKey, shape: Shape) -> u32 {
        if let Some(&cell) = self.by_key.get(&key) {
            return cell;
        }
        let entry = CellEntry {
            key,
            shape,
            count: 0,
            bytes: 0,
            noted: (0, 0),
            listed: false,
            moved: [NONE; SpaceKind::COUNT],
            stamp: NONE,
        };
        let cell = match self.free.pop() {
            Some(cell) => {
                self.entries[cell as usize] = entry;
                cell
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.by_key.insert(key, cell);
        cell
    }

    /// The cell of an object of `cell` once it is in `space`.
    #[inline]
    pub fn in_space(&mut self, cell: u32, space: SpaceKind) -> u32 {
        let entry = &self.entries[cell as usize];
        if entry.key.space == space {
            return cell;
        }
        if entry.stamp == self.stamp && entry.moved[space as usize] != NONE {
            return entry.moved[space as usize];
        }
        self.in_space_anew(cell, space)
    }

    #[cold]
    fn in_space_anew(&mut self, cell: u32, space: SpaceKind) -> u32 {
        let CellEntry { key, shape, .. } = self.entries[cell as usize];
        let target = self.cell(CellKey { space, ..key }, shape);
        let entry = &mut self.entries[cell as usize];
        if entry.stamp != self.stamp {
            entry.stamp = self.stamp;
            entry.moved = [NONE; SpaceKind::COUNT];
        }
        entry.moved[space as usize] = target;
        target
    }

    /// An object more.
    #[inline]
    pub fn add(&mut self, cell: u32, size: u64) {
        let entry = &mut self.entries[cell as usize];
        entry.count += 1;
        entry.bytes += size;
        if !entry.listed {
            entry.listed = true;
            self.changed.push(cell);
        }
    }

    /// An object fewer.
    #[inline]
    pub fn remove(&mut self, cell: u32, size: u64) {
        let entry = &mut self.entries[cell as usize];
        entry.count -= 1;
        entry.bytes -= size;
        if !entry.listed {
            entry.listed = true;
            self.changed.push(cell);
        }
    }

    /// An entry.
    #[inline]
    pub fn get(&self, cell: u32) -> &CellEntry {
        &self.entries[cell as usize]
    }

    /// Cells there are or were: one more than the largest number of a cell.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// What changed since the last time, by key. Empty cells are given up: no object may refer to them.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        for cell in std::mem::take(&mut self.changed) {
            let entry = &mut self.entries[cell as usize];
            entry.listed = false;
            let now = (entry.count, entry.bytes);
            if now != entry.noted {
                changes.push(Change {
                    key: entry.key,
                    objects: i64::from(now.0) - i64::from(entry.noted.0),
                    bytes: now.1.wrapping_sub(entry.noted.1) as i64,
                });
                entry.noted = now;
            }
            if entry.count == 0 {
                let key = entry.key;
                self.by_key.remove(&key);
                self.free.push(cell);
                if let Some(newborn) = self.newborn.get_mut(key.info as usize).filter(|n| n.0 == cell) {
                    newborn.0 = NONE;
                }
            }
        }
        // Cells may have been given up: what led to them must be looked up again.
        self.stamp = self.stamp.wrapping_add(1) & (NONE >> 1);
        changes.sort_unstable_by_key(|c| c.key);
        changes
    }

    /// Forgets that anything changed: what is there now was noted before.
    pub fn note_all(&mut self) {
        self.take_changes();
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<CellEntry>()
            + self.by_key.capacity() * (size_of::<CellKey>() + 5)
            + self.newborn.capacity() * 12
            + 4 * (self.free.capacity() + self.changed.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_what_came_and_went_since_the_last_time() {
        let shape = Shape::Instance(16);
        let mut cells = Cells::default();
        let eden = cells.born(InfoId(0), 0, SpaceKind::Eden, || shape);
        (0..3).for_each(|_| cells.add(eden, 16));
        let key = |space| CellKey { info: 0, birth: 0, space };
        assert_eq!(cells.take_changes(), [Change { key: key(SpaceKind::Eden), objects: 3, bytes: 48 }]);
        assert_eq!(cells.take_changes(), []);
        let old = cells.in_space(eden, SpaceKind::Old);
        for _ in 0..2 {
            cells.remove(eden, 16);
            cells.add(old, 16);
        }
        cells.remove(eden, 16);
        assert_eq!(
            cells.take_changes(),
            [
                Change { key: key(SpaceKind::Eden), objects: -3, bytes: -48 },
                Change { key: key(SpaceKind::Old), objects: 2, bytes: 32 }
            ]
        );
        // The empty cell is used again for another one, and the way to it is forgotten.
        let later = cells.born(InfoId(0), 1, SpaceKind::Eden, || shape);
        cells.add(later, 16);
        assert_eq!(cells.get(later).key.birth, 1);
        assert_eq!(cells.take_changes().len(), 1);
    }
}
