//! Full collections: everything that survives slides together, into old space or the lowest regions.
use super::g1::RegionKind;
use super::heap::{FILLER, IN_OLD, REMEMBERED};
use super::simulation::{Model, too_small};
use super::writer::Buffer;
use std::io;

impl Model<'_> {
    pub(super) fn full_gc(&mut self, cause: u32) -> io::Result<()> {
        let (mut all, mut humongous) = self.take_everything();
        // Who dies.
        let surplus = self.heap.live.saturating_sub(self.spec.live_objects);
        let old = (self.heap.live - self.young.len() as u64).max(1);
        let luckless = if self.warm { 5 } else { 10 };
        let unlucky = luckless + (surplus * 1000).div_ceil(old).min(900);
        let mut dead = self.full_deaths(&mut all, unlucky);
        let released = self.humongous_deaths(&mut humongous, &mut dead, unlucky);
        let live: Vec<u32> = all.iter().map(|&(_, handle)| handle).collect();
        self.young.clear();
        self.survivors.clear();
        for handle in std::mem::take(&mut self.remembered) {
            self.heap.clear(handle, REMEMBERED);
        }
        self.base = if self.is_g1() { self.g1.start_of(self.g1.count() / 2) } else { self.parallel.eden.start };
        self.begin_gc(1, cause)?;
        if !self.is_g1() {
            self.ordered(Buffer::no_op)?;
        }
        // Addresses change at once: pointers in a full GC are those after it.
        let used = if self.is_g1() { self.slide_regions(&live)? } else { self.slide(&live)? };
        self.old.clear();
        self.old.extend(live.iter().chain(&humongous));
        for &handle in &self.old {
            self.heap.set(handle, IN_OLD);
        }
        self.write_roots(Some(0), &live);
        self.flush_gc(0, 0)?;
        self.write_full(&all, &live)?;
        for handle in humongous {
            if self.spec.pointers {
                self.refresh(handle, &live, 0);
            }
            self.write_kept(0, handle);
            self.g1.list(self.heap.address[handle as usize], handle);
        }
        self.flush_gc(0, 0)?;
        self.heap.free.append(&mut dead);
        if self.is_g1() {
            self.settle_regions(&used, &released)?;
        } else {
            self.parallel.empty_young();
            if self.rng.chance(400) {
                self.resize_young()?;
            }
        }
        self.end_gc(1, cause)
    }

    /// All objects with their addresses, in that order; humongous ones apart from the others.
    fn take_everything(&mut self) -> (Vec<(u64, u32)>, Vec<u32>) {
        let mut humongous = Vec::new();
        let mut all = Vec::with_capacity(self.heap.live as usize);
        let heap = &self.heap;
        let entry = |&handle: &u32| (heap.address[handle as usize], handle);
        if self.is_g1() {
            for region in &mut self.g1.regions {
                if region.kind == RegionKind::Humongous {
                    humongous.append(&mut region.objects);
                } else {
                    all.extend(region.objects.drain(..).map(|handle| entry(&handle)));
                }
            }
            // Fillers in survivor regions are listed only here.
            all.extend(self.survivors.iter().filter(|&&handle| heap.has(handle, FILLER)).map(entry));
        } else {
            all.extend([&self.old, &self.survivors, &self.young].into_iter().flatten().map(entry));
        }
        all.sort_unstable();
        (all, humongous)
    }

    /// Decides who dies, apart from humongous objects. What is new is spared.
    fn full_deaths(&mut self, all: &mut Vec<(u64, u32)>, unlucky: u64) -> Vec<u32> {
        let mut dead = Vec::new();
        all.retain(|&(_, handle)| {
            let spared = self.heap.age[handle as usize] == 0 && !self.heap.has(handle, IN_OLD);
            let dies = self.heap.has(handle, FILLER) || (!spared && self.rng.chance(unlucky));
            if dies {
                self.heap.kill(handle);
                dead.push(handle);
            }
            !dies
        });
        dead
    }

    /// The parallel collector moves everything to the start of old space. It has no regions to tell of.
    fn slide(&mut self, live: &[u32]) -> io::Result<Vec<bool>> {
        self.parallel.old.reset();
        for &handle in live {
            let to = self.parallel.old.take(self.size_of(handle));
            self.heap.address[handle as usize] = to.ok_or_else(|| too_small("old space in a full GC"))?;
        }
        Ok(Vec::new())
    }

    /// Writes the moves. `all` holds where the objects of `live` were.
    fn write_full(&mut self, all: &[(u64, u32)], live: &[u32]) -> io::Result<()> {
        let (g1, pointers) = (self.is_g1(), self.spec.pointers);
        let (mut worker, mut left) = (0, 0);
        let mut at = 0;
        while at < live.len() {
            if left == 0 {
                left = self.rng.range(1, 400);
                worker = if g1 { 0 } else { self.any_worker() };
            }
            left -= 1;
            let (from, handle) = all[at];
            let to = self.heap.address[handle as usize];
            let mut run = 1;
            if self.is_plain(handle) && (!pointers || self.rng.chance(300)) {
                let limit = self.rng.range(1, 900) as usize;
                run = self.neighbours(&all[at..], limit);
            }
            if run > 1 {
                self.gc[worker].buffer.move_region(run as u32, from, to);
            } else if from == to && (g1 || self.rng.chance(500)) {
                if pointers && g1 && self.rng.chance(700) {
                    // G1 says nothing about the pointers of objects that stay.
                    self.drop_dead(handle);
                    self.gc[worker].buffer.kept(to);
                } else {
                    if pointers {
                        self.refresh(handle, live, at);
                    }
                    self.write_kept(worker, handle);
                }
            } else if pointers {
                self.refresh(handle, live, at);
                self.load_targets(handle);
                self.gc[worker].buffer.move_with_pointers(from, to, &self.targets.pointers());
            } else if self.rng.chance(500) {
                self.gc[worker].buffer.move_slow(from, to);
            } else {
                self.gc[worker].buffer.move_region(1, from, to);
            }
            at += run;
            self.settle_gc(worker)?;
        }
        Ok(())
    }

    /// No pointers of the object have to be reported.
    fn is_plain(&self, handle: u32) -> bool {
        !self.spec.pointers || self.slots_of(handle) == 0
    }

    /// How many plain objects from the first on, up to a limit, are neighbours both before and after.
    fn neighbours(&self, all: &[(u64, u32)], limit: usize) -> usize {
        let touch = |pair: &&[(u64, u32)]| {
            let [(from, handle), (next_from, next)] = **pair else { return false };
            let (bytes, to) = (self.size_of(handle), self.heap.address[handle as usize]);
            self.is_plain(next) && next_from == from + bytes && self.heap.address[next as usize] == to + bytes
        };
        1 + all.windows(2).take(limit - 1).take_while(touch).count()
    }

    /// Changes the sizes of eden and the (empty) survivor spaces.
    fn resize_young(&mut self) -> io::Result<()> {
        self.parallel.resize_young();
        let spaces = self.parallel.spaces();
        for (index, space) in (0..).zip(spaces).skip(1) {
            self.ordered(|buffer| buffer.space_redefined(index, space.start, space.bytes()))?;
        }
        Ok(())
    }
}
