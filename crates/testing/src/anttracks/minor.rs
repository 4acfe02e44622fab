//! Young collections. They empty eden and the survivor space in use, or with G1 all young regions and now and then some
//! old ones, and move what survives into the other survivor space, new regions or old space.
use super::g1::RegionKind;
use super::heap::{DEAD, FILLER, IN_OLD, MOVING, REMEMBERED, UNREFERENCED};
use super::simulation::Model;
use super::writer::{OLD, SURVIVOR};
use std::io;

/// Young collections an object survives before it is promoted.
const TENURED: u8 = 2;

/// The regions that a young collection of G1 collects.
#[derive(Default)]
struct Regions {
    /// By number.
    collected: Vec<u32>,
    /// The old ones among them.
    mixed: Vec<u32>,
    /// The one among them whose objects stay where they are.
    kept: Option<u32>,
}

impl Model<'_> {
    pub(super) fn young_gc(&mut self) -> io::Result<()> {
        let regions = if self.is_g1() { self.choose_regions() } else { Regions::default() };
        self.base = if self.is_g1() {
            self.g1.start_of(regions.collected.first().copied().unwrap_or(0))
        } else {
            self.parallel.eden.start
        };
        let (moving, mut dead) = self.minor_deaths(&regions.mixed);
        let cause = if self.is_g1() { 24 } else { [14, 14, 14, 5][self.rng.below(4) as usize] };
        self.begin_gc(0, cause)?;
        self.announce(&regions)?;
        self.write_cards(&moving)?;
        let places = self.move_all(&moving, regions.kept)?;
        // Everything is written: now it takes effect.
        if self.is_g1() {
            self.free_collected(&regions);
        }
        let promoted = self.arrive(&moving, &places);
        if self.spec.pointers {
            self.update_remembered(promoted);
        }
        self.heap.free.append(&mut dead);
        if !self.is_g1() {
            self.parallel.swap_survivors();
        }
        self.end_gc(0, cause)
    }

    fn choose_regions(&mut self) -> Regions {
        let mixed = self.choose_mixed();
        // Evacuation fails in the newest eden region, unless nothing could ever get rid of what that leaves in old.
        let fails = self.number % 5 == 2 && (self.warm || !self.never_full());
        let kept = self.g1.eden.filter(|_| fails);
        let mut collected: Vec<u32> = self.g1.young().chain(mixed.iter().copied()).collect();
        collected.sort_unstable();
        Regions { collected, mixed, kept }
    }

    /// Nothing but their age and luck takes objects out of the young generation: no full collection will come to free
    /// what is promoted.
    fn tenured_die(&self) -> bool {
        !self.warm && self.never_full()
    }

    /// Decides who dies: the survivors and the dead.
    fn minor_deaths(&mut self, mixed: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let mut moving = std::mem::take(&mut self.young);
        let mut dead = Vec::new();
        let tenured_die = self.tenured_die();
        for handle in std::mem::take(&mut self.survivors) {
            let unreferenced = self.is_g1() && self.heap.has(handle, UNREFERENCED);
            let too_old = tenured_die && self.heap.age[handle as usize] >= TENURED && !unreferenced;
            if self.heap.has(handle, FILLER) || too_old || (!self.warm && self.rng.chance(250)) {
                self.heap.kill(handle);
                dead.push(handle);
            } else {
                moving.push(handle);
            }
        }
        for &index in mixed {
            for handle in std::mem::take(&mut self.g1.regions[index as usize].objects) {
                if self.heap.has(handle, FILLER) || self.dies_mixed(handle) {
                    self.heap.kill(handle);
                    dead.push(handle);
                } else {
                    moving.push(handle);
                }
            }
        }
        if !mixed.is_empty() {
            self.remembered.retain(|&handle| !self.heap.has(handle, DEAD));
        }
        for &handle in &moving {
            self.heap.set(handle, MOVING);
        }
        (moving, dead)
    }

    /// Names the collected spaces. G1 also releases them, before the moves out of them are written.
    fn announce(&mut self, regions: &Regions) -> io::Result<()> {
        let number = self.number;
        if self.is_g1() || self.parallel.with_info {
            let spaces = [1, 2 + self.parallel.from as u32];
            let spaces = if self.is_g1() { &regions.collected[..] } else { &spaces };
            self.ordered(|buffer| {
                spaces.iter().for_each(|&index| buffer.gc_info(index, number));
                buffer.no_op();
            })?;
        }
        for &index in &regions.collected {
            if Some(index) == regions.kept {
                self.ordered(|buffer| buffer.space_in_use(index, OLD, 0))?;
            } else {
                self.ordered(|buffer| buffer.space_released(index))?;
            }
        }
        Ok(())
    }

    /// Old objects that point into the young generation: some are reported, with new pointers perhaps, some are not.
    fn write_cards(&mut self, moving: &[u32]) -> io::Result<()> {
        if !self.spec.pointers {
            return Ok(());
        }
        let mut report = Vec::new();
        for index in 0..self.remembered.len() {
            let handle = self.remembered[index];
            if self.heap.has(handle, MOVING) {
                continue;
            }
            if self.rng.chance(600) {
                self.refresh(handle, moving, self.rng.peek() as usize % moving.len().max(1));
                report.push(handle);
            } else {
                self.drop_dead(handle);
            }
        }
        if !self.old.is_empty() && !moving.is_empty() {
            for _ in 0..moving.len() / 40 + 1 {
                let handle = self.old[self.rng.below(self.old.len() as u64) as usize];
                let slots = self.slots_of(handle);
                let unfit = self.heap.has(handle, DEAD | MOVING | REMEMBERED | FILLER);
                if unfit || !self.heap.has(handle, IN_OLD) || slots == 0 {
                    continue;
                }
                let near = self.rng.below(moving.len() as u64) as usize;
                self.refresh(handle, moving, near);
                let target = self.pick(moving, near);
                let slot = self.rng.below(slots as u64) as usize;
                self.heap.pointers_mut(handle, slots)[slot] = target;
                self.heap.set(handle, REMEMBERED);
                self.remembered.push(handle);
                report.push(handle);
            }
        }
        for handle in report {
            let worker = self.any_worker();
            self.load_targets(handle);
            let address = self.heap.address[handle as usize];
            self.gc[worker].buffer.cross_pointers(address, &self.targets.pointers());
            self.settle_gc(worker)?;
        }
        Ok(())
    }

    /// Writes where the survivors go: addresses and kinds of space.
    fn move_all(&mut self, moving: &[u32], kept: Option<u32>) -> io::Result<Vec<(u64, u32)>> {
        self.g1.destination[SURVIVOR as usize] = None;
        let mut places = Vec::with_capacity(moving.len());
        let roots_at = self.rng.below(moving.len() as u64 + 1) as usize;
        let (mut worker, mut left) = (1, 0);
        for (at, &handle) in moving.iter().enumerate() {
            if at == roots_at {
                self.write_roots(None, moving);
            }
            if left == 0 {
                worker = self.any_worker();
                left = self.rng.range(1, 300);
            }
            left -= 1;
            if self.spec.pointers {
                self.refresh(handle, moving, at);
            }
            let address = self.heap.address[handle as usize];
            if kept.is_some_and(|index| self.g1.region_at(address) == index as usize) {
                self.write_kept(worker, handle);
                places.push((address, OLD));
            } else {
                let promoted = self.heap.has(handle, IN_OLD)
                    || self.heap.age[handle as usize] >= TENURED
                    || (self.warm && self.rng.chance(500))
                    || (!self.tenured_die() && self.rng.chance(30));
                let kind = if promoted { OLD } else { SURVIVOR };
                let (to, way, kind) = self.place(worker, kind, self.size_of(handle))?;
                self.write_move(worker, handle, to, way, kind);
                places.push((to, kind));
            }
            self.settle_gc(worker)?;
        }
        if moving.is_empty() {
            self.write_roots(None, moving);
        }
        for worker in 1..self.gc.len() {
            self.write_later(worker, 0);
            // The last PLABs are closed too, mostly.
            self.fill_plab(worker, SURVIVOR, 700);
            self.fill_plab(worker, OLD, 700);
        }
        Ok(places)
    }

    fn free_collected(&mut self, regions: &Regions) {
        for &index in &regions.collected {
            let region = &mut self.g1.regions[index as usize];
            region.objects.clear();
            if Some(index) == regions.kept {
                region.kind = RegionKind::Used(OLD);
            } else {
                region.kind = RegionKind::Free;
                self.g1.free.insert(0, index);
            }
        }
        self.g1.eden = None;
    }

    /// Brings the columns and lists up to date for the survivors and what fills gaps; who is newly in old space.
    fn arrive(&mut self, moving: &[u32], places: &[(u64, u32)]) -> Vec<u32> {
        let mut promoted = Vec::new();
        for (&handle, &(to, kind)) in moving.iter().zip(places) {
            let at = handle as usize;
            self.heap.address[at] = to;
            self.heap.age[at] = self.heap.age[at].saturating_add(1);
            self.heap.clear(handle, MOVING);
            if kind == OLD {
                if !self.heap.has(handle, REMEMBERED) {
                    promoted.push(handle);
                }
                self.add_old(handle);
            } else {
                self.survivors.push(handle);
                if self.is_g1() {
                    self.g1.list(to, handle);
                }
            }
        }
        for (handle, kind) in std::mem::take(&mut self.fillers) {
            if kind == OLD {
                self.add_old(handle);
            } else {
                self.survivors.push(handle);
            }
        }
        promoted
    }

    fn update_remembered(&mut self, promoted: Vec<u32>) {
        let mut remembered = std::mem::take(&mut self.remembered);
        remembered.extend(promoted);
        remembered.retain(|&handle| {
            let stays = self.points_to_young(handle);
            if stays {
                self.heap.set(handle, REMEMBERED);
            } else {
                self.heap.clear(handle, REMEMBERED);
            }
            stays
        });
        self.remembered = remembered;
    }
}
