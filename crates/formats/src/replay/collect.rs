//! The end of a collection: removes dead objects, merges the reported ones into the heap, and recounts those that moved.

use super::map;
use super::{Collecting, Observer, Replay};
use crate::event::GcKind;
use crate::spaces::Space;
use rustc_hash::FxHashMap;

impl<O: Observer> Replay<O> {
    /// Where young objects are.
    pub(super) fn young(&self) -> Vec<(u64, u64)> {
        self.spaces.all().iter().filter(|s| s.kind.is_young()).map(Space::range).collect()
    }

    /// Whether there may be objects between two addresses.
    pub(super) fn inhabited(&self, start: u64, end: u64) -> bool {
        self.now.has_between(self.map.unit, start, end)
    }

    /// Buries the objects of the heap before that remain in the collected ranges. Returns how many objects.
    pub(super) fn sweep(&mut self, collecting: &Collecting) -> u64 {
        let before = self.live;
        let ranges = match (&collecting.named[..], collecting.gc.kind) {
            ([], GcKind::Major) => &[(0, u64::MAX)],
            ([], GcKind::Minor) => &collecting.young[..],
            (named, _) => named,
        };
        // If all young spaces are collected, what was born in them and not reported is dead: its number and its place
        // in the counts are taken back with those of all others, and its leaf without a look at what is in it.
        let inhabited: Vec<_> = collecting.young.iter().copied().filter(|&(a, b)| self.inhabited(a, b)).collect();
        let short_lived = covers(ranges, &inhabited);
        match (&collecting.named[..], collecting.gc.kind) {
            // What has no address is collected too.
            ([], GcKind::Major) => {
                for page in self.now.pages().to_vec() {
                    self.clear(page, short_lived);
                }
            }
            _ => {
                let unit = self.map.unit;
                for &(start, end) in ranges {
                    for page in self.now.pages_between(unit, start, end) {
                        let (first, bytes) = (page << unit.leaf_shift(), 1 << unit.leaf_shift());
                        if start <= first && end - first >= bytes {
                            self.clear(page, short_lived);
                            continue;
                        }
                        let mut dead = Vec::new();
                        self.map.cut(self.now.get(page), start..end, |entry| {
                            if !entry.is_marked() {
                                dead.push(entry);
                            }
                        });
                        dead.into_iter().for_each(|entry| self.bury(entry));
                    }
                }
            }
        }
        self.map.drop_marked();
        self.cohorts.settle(short_lived);
        if short_lived {
            self.numbers.free_passing();
        }
        before - self.live
    }

    /// Removes a page with all its objects from the heap before; reported objects are in the heap after.
    fn clear(&mut self, page: u64, short_lived: bool) {
        let leaf = self.now.get(page);
        self.now.set(page, map::NONE);
        if short_lived && self.map.born(leaf) == self.interval {
            self.live -= self.map.discard(leaf) as u64;
            return;
        }
        let mut dead = std::mem::take(&mut self.dead);
        self.map.release(leaf, |entry| {
            if !entry.is_marked() {
                dead.push(entry);
            }
        });
        dead.drain(..).for_each(|entry| self.bury(entry));
        self.dead = dead;
    }

    /// Makes the heap after the GC part of the heap now. Returns where leaves went that met another.
    pub(super) fn join(&mut self) -> FxHashMap<u32, u32> {
        let mut joined = FxHashMap::default();
        let mut objects = Vec::new();
        for (page, leaf) in self.next.drain() {
            let here = self.now.get(page);
            if here == map::NONE {
                self.now.set(page, leaf);
                self.map.trim(leaf);
                continue;
            }
            joined.insert(leaf, here);
            objects.clear();
            objects.extend(self.map.objects(leaf));
            self.map.release(leaf, |_| ());
            self.map.set_mixed(here);
            for &(spot, entry) in &objects {
                // The leaf is there: nothing is refused.
                if let Some(Some(other)) = self.map.insert(&mut self.now, spot, map::NONE, entry) {
                    self.overwrite(other);
                }
            }
        }
        joined
    }

    /// Objects where the kind of space changed are counted under the new one.
    pub(super) fn relabel(&mut self) {
        let mut kinds = Vec::new();
        for (start, end) in merged(std::mem::take(&mut self.changed_ranges)) {
            for page in self.now.pages_between(self.map.unit, start, end) {
                let leaf = self.now.get(page);
                kinds.clear();
                let kind = |spot| self.space_of(self.map.unit.key(spot)).unwrap_or_default();
                kinds.extend(self.map.objects(leaf).map(|(spot, _)| kind(spot)));
                let mut mixed = false;
                for (entry, &kind) in self.map.entries_mut(leaf).iter_mut().zip(&kinds) {
                    let target = self.cohorts.in_space(entry.cohort(), kind);
                    if target != entry.cohort() {
                        mixed = true;
                        self.numbers.keep(entry.number());
                        let size = self.cohorts.size(target, || entry.length());
                        self.cohorts.remove(entry.cohort(), size);
                        self.cohorts.add(target, size);
                        entry.set_cell(target);
                    }
                }
                if mixed {
                    self.map.set_mixed(leaf);
                }
            }
        }
    }
}

/// Ranges without overlaps, in order.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
    ranges
}

/// Whether some ranges hold all of others.
fn covers(ranges: &[(u64, u64)], others: &[(u64, u64)]) -> bool {
    let ranges = merged(ranges.to_vec());
    others.iter().all(|&(start, end)| {
        let at = ranges.partition_point(|range| range.0 <= start);
        start >= end || at > 0 && ranges[at - 1].1 >= end
    })
}
