//! How the program allocates: TLABs, slow and fast allocations, arrays too large for eden.
use super::heap::{DEAD, FILLER, IN_OLD, Known, UNREFERENCED};
use super::parallel::Bump;
use super::program::Plan;
use super::simulation::{Model, too_small};
use super::types::{CHARS, CLASS, OBJECTS, round8};
use super::writer::{Allocator, EDEN, OLD};
use std::io;

impl Model<'_> {
    pub(super) fn allocate_until_gc(&mut self) -> io::Result<()> {
        if self.number > 0 && self.java.len() > 1 && self.rng.chance(300) {
            let index = 1 + self.rng.below(self.java.len() as u64 - 1) as usize;
            self.end_thread(index)?;
            self.start_thread();
        }
        if self.rng.chance(500) && (self.warm || !self.never_full()) {
            self.allocate_large()?;
        }
        let mut done = 0;
        while done < self.spec.allocations_per_gc {
            let thread = self.rng.below(self.java.len() as u64) as usize;
            for _ in 0..self.rng.range(20, 400).min(self.spec.allocations_per_gc - done) {
                let plan = self.program.plan(&mut self.rng);
                if !self.allocate(thread, &plan)? {
                    return Ok(());
                }
                done += 1;
            }
        }
        Ok(())
    }

    /// Space for a TLAB or an object outside of one.
    fn take_eden(&mut self, thread: usize, bytes: u64) -> io::Result<Option<u64>> {
        if self.is_g1() { self.take_g1_eden(thread, bytes) } else { Ok(self.parallel.eden.take(bytes)) }
    }

    /// Makes one object in eden; false if there is no room.
    pub(super) fn allocate(&mut self, thread: usize, plan: &Plan) -> io::Result<bool> {
        let Some((address, in_tlab)) = self.take_for_object(thread, self.program.bytes(plan))? else {
            return Ok(false);
        };
        let form = self.rng.below(100);
        let mut what = self.program.describe(plan);
        let buffer = &mut self.java[thread].buffer;
        if plan.special {
            buffer.allocate_slow(plan.by, address, &what);
        } else if plan.named {
            if !in_tlab || form < 20 || plan.by == Allocator::Interpreter {
                buffer.allocate_slow_other(plan.by, address, &what);
            } else {
                buffer.allocate_fast(plan.by, &what);
            }
        } else if !in_tlab || form < 2 {
            buffer.allocate_slow(plan.by, address, &what);
        } else if form < 4 {
            buffer.allocate_normal(plan.by, address, &what);
        } else {
            what.type_id = None;
            buffer.allocate_fast(plan.by, &what);
        }
        if buffer.words.len() > self.java[thread].limit {
            self.flush_java(thread, 0)?;
        }
        let survives = if self.warm { 900 } else { 10 * u64::from(self.spec.survivors_percent) };
        let survives = self.rng.chance(survives) || plan.ty == CLASS;
        // G1's mixed collections can only free such; a few are enough for the parallel collector.
        let share = if self.is_g1() { 400 } else { 40 };
        let flags = if self.rng.chance(share) { UNREFERENCED } else { 0 };
        self.new_object(address, plan, self.java[thread].name, survives.then_some((flags, EDEN)));
        Ok(true)
    }

    /// The address of a new object, and whether its TLAB was there before it; none if there is no room.
    fn take_for_object(&mut self, thread: usize, bytes: u64) -> io::Result<Option<(u64, bool)>> {
        if let Some(address) = self.java[thread].tlab.take(bytes) {
            return Ok(Some((address, true)));
        }
        if bytes > self.tlab_bytes / 4 {
            return Ok(self.take_eden(thread, bytes)?.map(|address| (address, false)));
        }
        let size = round8(self.tlab_bytes / 2 + self.rng.below(self.tlab_bytes / 2));
        let Some(address) = self.take_eden(thread, size)? else { return Ok(None) };
        if self.java[thread].tlab.left() >= 16 && self.rng.chance(500) {
            self.fill_tlab(None, thread);
        }
        let java = &mut self.java[thread];
        java.buffer.tlab(size, address);
        java.tlab = Bump { start: address, top: address + bytes, end: address + size };
        Ok(Some((address, false)))
    }

    /// Counts an allocation and, if it is `kept` (flags and space kind), stores it.
    pub(super) fn new_object(&mut self, address: u64, plan: &Plan, name: u32, kept: Option<(u8, u32)>) -> Option<u32> {
        self.allocations += 1;
        let (flags, kind) = kept?;
        let known = self.spec.answers.then_some(Known {
            identity: self.allocations,
            site: plan.site,
            thread: name,
            allocator: plan.by,
            // Only fillers are made during a GC.
            birth: self.number + u32::from(flags & FILLER == 0),
        });
        let handle = self.heap.push(address, plan.ty, plan.length, flags, known);
        if kind == EDEN {
            self.young.push(handle);
            if self.is_g1() {
                self.g1.list(address, handle);
            }
        }
        Some(handle)
    }

    /// Closes the rest of a TLAB with a dead array, on behalf of the thread itself or (`by`) a thread of the VM.
    pub(super) fn fill_tlab(&mut self, by: Option<usize>, thread: usize) {
        let Bump { top, end, .. } = self.java[thread].tlab;
        let plan = Plan::filler(top, end);
        let buffer = match by {
            Some(worker) => &mut self.gc[worker].buffer,
            None => &mut self.java[thread].buffer,
        };
        buffer.allocate_slow(Allocator::Vm, top, &self.program.describe(&plan));
        self.new_object(top, &plan, 0, None);
    }

    /// An array too large for eden, straight into old space, if there is plenty of room.
    fn allocate_large(&mut self) -> io::Result<()> {
        let thread = self.rng.below(self.java.len() as u64) as usize;
        let by = [Allocator::Interpreter, Allocator::C1, Allocator::C2][self.rng.below(3) as usize];
        let ty = if self.rng.chance(400) { OBJECTS } else { CHARS };
        let Some(site) = self.program.sites.iter().find(|site| site.ty == ty) else { return Ok(()) };
        let mut plan = Plan { site: site.id, ty, length: 0, by, named: false, special: false };
        let address = if self.is_g1() {
            plan.ty = CHARS;
            plan.named = ty != CHARS;
            plan.length = (self.g1.region_bytes / 4 + self.rng.below(self.g1.region_bytes / 2)) as u32;
            if self.g1.free.len() < self.g1.regions.len() * 2 / 3 {
                return Ok(());
            }
            let Some(address) = self.take_g1_humongous(thread, self.program.bytes(&plan))? else { return Ok(()) };
            address
        } else {
            plan.length = self.rng.range(400, 6000) as u32;
            if self.parallel.old.left() < self.parallel.young_capacity() + 256 * 1024 {
                return Ok(());
            }
            self.parallel.old.take(self.program.bytes(&plan)).ok_or_else(|| too_small("large object"))?
        };
        let what = self.program.describe(&plan);
        let java = &mut self.java[thread];
        if plan.named {
            java.buffer.allocate_slow_other(by, address, &what);
        } else {
            java.buffer.allocate_slow(by, address, &what);
        }
        let name = java.name;
        if let Some(handle) = self.new_object(address, &plan, name, Some((IN_OLD, OLD))) {
            self.add_old(handle);
        }
        Ok(())
    }

    /// Puts a handle into the lists of old objects, its address being final.
    pub(super) fn add_old(&mut self, handle: u32) {
        self.heap.set(handle, IN_OLD);
        if !self.is_g1() {
            self.old.push(handle);
            return;
        }
        self.g1.list(self.heap.address[handle as usize], handle);
        if !self.old.is_empty() {
            let place = self.rng.below(self.old.len() as u64) as usize;
            if self.heap.has(self.old[place], DEAD) {
                self.old[place] = handle;
                return;
            }
        }
        if (self.old.len() as u64) < 2 * self.heap.live + 1000 {
            self.old.push(handle);
        }
    }
}
