//! The heap of G1, and what only G1 does: taking regions, mixed collections, and sliding in a full collection.
use super::heap::UNREFERENCED;
use super::simulation::{Model, too_small};
use super::writer::{EDEN, OLD, SURVIVOR};
use std::io;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RegionKind {
    Free,
    /// With the kind of space.
    Used(u32),
    Humongous,
}

pub(super) struct Region {
    pub(super) kind: RegionKind,
    pub(super) top: u64,
    pub(super) objects: Vec<u32>,
}

#[derive(Default)]
pub(super) struct G1 {
    start: u64,
    pub(super) region_bytes: u64,
    pub(super) regions: Vec<Region>,
    /// Free regions, the next one to use last.
    pub(super) free: Vec<u32>,
    /// The region that the program allocates in.
    pub(super) eden: Option<u32>,
    /// The regions that collections move objects into, per space kind.
    pub(super) destination: [Option<u32>; 3],
}

impl G1 {
    pub(super) fn new(start: u64, count: u32, region_bytes: u64) -> Self {
        let mut g1 = Self { start, region_bytes, free: (0..count).collect(), ..Self::default() };
        for index in 0..count {
            g1.regions.push(Region { kind: RegionKind::Free, top: g1.start_of(index), objects: Vec::new() });
        }
        g1
    }

    pub(super) fn count(&self) -> u32 {
        self.regions.len() as u32
    }

    pub(super) fn start_of(&self, index: u32) -> u64 {
        self.start + u64::from(index) * self.region_bytes
    }

    pub(super) fn region_at(&self, address: u64) -> usize {
        ((address - self.start) / self.region_bytes) as usize
    }

    /// Adds an object to the list of its region.
    pub(super) fn list(&mut self, address: u64, handle: u32) {
        let region = self.region_at(address);
        self.regions[region].objects.push(handle);
    }

    /// The kind of space an object lies in.
    pub(super) fn kind_at(&self, address: u64) -> u32 {
        match self.regions[self.region_at(address)].kind {
            RegionKind::Used(kind) => kind,
            RegionKind::Humongous => OLD,
            RegionKind::Free => unreachable!("an object in a free region"),
        }
    }

    pub(super) fn young(&self) -> impl Iterator<Item = u32> {
        let young = |&index: &u32| matches!(self.regions[index as usize].kind, RegionKind::Used(EDEN | SURVIVOR));
        (0..self.count()).filter(young)
    }

    /// The next free region, put to use.
    fn take_region(&mut self, kind: u32) -> Option<u32> {
        let index = self.free.pop()?;
        self.regions[index as usize].kind = RegionKind::Used(kind);
        self.regions[index as usize].top = self.start_of(index);
        Some(index)
    }

    /// The start of that much memory in a region, if there is room.
    pub(super) fn take(&mut self, index: u32, bytes: u64) -> Option<u64> {
        let end = self.start_of(index + 1);
        let region = &mut self.regions[index as usize];
        (region.top + bytes <= end).then(|| {
            region.top += bytes;
            region.top - bytes
        })
    }

    /// The first of neighbouring free regions with room for something humongous.
    fn take_humongous(&mut self, bytes: u64) -> Option<Vec<u32>> {
        let count = bytes.div_ceil(self.region_bytes) as usize;
        let free = |region: &Region| region.kind == RegionKind::Free;
        let first = self.regions.windows(count).position(|window| window.iter().all(free))?;
        for region in &mut self.regions[first..first + count] {
            region.kind = RegionKind::Humongous;
        }
        let taken = first as u32..(first + count) as u32;
        self.free.retain(|free| !taken.contains(free));
        Some(taken.collect())
    }
}

impl Model<'_> {
    /// Space in eden, perhaps in a new region that the thread tells of.
    pub(super) fn take_g1_eden(&mut self, thread: usize, bytes: u64) -> io::Result<Option<u64>> {
        if let Some(address) = self.g1.eden.and_then(|index| self.g1.take(index, bytes)) {
            return Ok(Some(address));
        }
        let reserve = self.g1.young().count() + 4;
        if self.g1.free.len() < reserve || bytes > self.g1.region_bytes {
            return Ok(None);
        }
        let Some(index) = self.g1.take_region(EDEN) else { return Ok(None) };
        self.g1.eden = Some(index);
        self.java[thread].buffer.space_in_use(index, EDEN, 0);
        self.flush_java(thread, 1)?;
        Ok(self.g1.take(index, bytes))
    }

    /// Space for a humongous object, in regions that the thread tells of.
    pub(super) fn take_g1_humongous(&mut self, thread: usize, bytes: u64) -> io::Result<Option<u64>> {
        let Some(taken) = self.g1.take_humongous(bytes) else { return Ok(None) };
        for &index in &taken {
            let mode = if index == taken[0] { 1 } else { 2 };
            self.java[thread].buffer.space_in_use(index, OLD, mode);
            self.flush_java(thread, 1)?;
        }
        Ok(Some(self.g1.start_of(taken[0])))
    }

    /// Space that a collection moves objects into, perhaps in a new region that the worker tells of.
    pub(super) fn take_g1_destination(&mut self, worker: usize, kind: u32, bytes: u64) -> io::Result<u64> {
        let current = self.g1.destination[kind as usize];
        if let Some(address) = current.and_then(|index| self.g1.take(index, bytes)) {
            return Ok(address);
        }
        let index = self.g1.take_region(kind).ok_or_else(|| too_small("no free region"))?;
        self.g1.destination[kind as usize] = Some(index);
        self.gc[worker].buffer.space_in_use(index, kind, 0);
        self.flush_gc(worker, 1)?;
        self.g1.take(index, bytes).ok_or_else(|| too_small("no region is large enough"))
    }

    /// Old regions to collect along with the young ones.
    pub(super) fn choose_mixed(&mut self) -> Vec<u32> {
        if self.warm || !self.number.is_multiple_of(3) {
            return Vec::new();
        }
        self.g1.destination[OLD as usize] = None;
        let count = self.g1.count();
        let limit = (self.g1.free.len() / 3).min(count as usize / 8 + 1);
        let start = self.rng.below(count.into()) as u32;
        let old = |&index: &u32| self.g1.regions[index as usize].kind == RegionKind::Used(OLD);
        (0..count).map(|step| (start + step) % count).filter(old).take(limit).collect()
    }

    /// Whether an old object that is collected along has to go.
    pub(super) fn dies_mixed(&self, handle: u32) -> bool {
        self.heap.live + 1 > self.spec.live_objects && self.heap.has(handle, UNREFERENCED)
    }

    /// A full collection decides whether humongous objects die: the regions of those that do.
    pub(super) fn humongous_deaths(&mut self, humongous: &mut Vec<u32>, dead: &mut Vec<u32>, unlucky: u64) -> Vec<u32> {
        let mut released = Vec::new();
        humongous.retain(|&handle| {
            let dies = self.rng.chance(unlucky.max(300));
            if dies {
                let first = self.g1.region_at(self.heap.address[handle as usize]) as u32;
                let count = self.size_of(handle).div_ceil(self.g1.region_bytes) as u32;
                released.extend(first..first + count);
                self.heap.kill(handle);
                dead.push(handle);
            }
            !dies
        });
        released
    }

    /// A full collection moves all objects but humongous ones to the lowest regions: which regions they take.
    pub(super) fn slide_regions(&mut self, live: &[u32]) -> io::Result<Vec<bool>> {
        let mut used = vec![false; self.g1.regions.len()];
        let not_humongous = |&index: &u32| self.g1.regions[index as usize].kind != RegionKind::Humongous;
        let usable: Vec<u32> = (0..self.g1.count()).filter(not_humongous).collect();
        for &index in &usable {
            self.g1.regions[index as usize].top = self.g1.start_of(index);
        }
        let mut usable = usable.into_iter();
        let mut current = usable.next();
        for &handle in live {
            let bytes = self.size_of(handle);
            let to = loop {
                let index = current.ok_or_else(|| too_small("regions in a full GC"))?;
                if let Some(to) = self.g1.take(index, bytes) {
                    used[index as usize] = true;
                    break to;
                }
                current = usable.next();
            };
            self.heap.address[handle as usize] = to;
            self.g1.list(to, handle);
        }
        Ok(used)
    }

    /// What became of the regions in a full collection.
    pub(super) fn settle_regions(&mut self, used: &[bool], released: &[u32]) -> io::Result<()> {
        self.g1.free.clear();
        for index in (0..self.g1.count()).rev() {
            let before = self.g1.regions[index as usize].kind;
            if before == RegionKind::Humongous && !released.contains(&index) {
                continue;
            }
            if used[index as usize] {
                self.g1.regions[index as usize].kind = RegionKind::Used(OLD);
                self.ordered(|buffer| buffer.space_in_use(index, OLD, 0))?;
            } else {
                self.g1.regions[index as usize].kind = RegionKind::Free;
                self.g1.free.push(index);
                if before != RegionKind::Free {
                    self.ordered(|buffer| buffer.space_released(index))?;
                }
            }
        }
        // The highest free region is used first.
        self.g1.free.reverse();
        self.g1.destination = [None; 3];
        self.g1.eden = None;
        self.base = self.g1.start;
        Ok(())
    }
}
