//! Shared by all collections: start, end, destinations of objects, and how they are written.
use super::heap::FILLER;
use super::parallel::{Bump, Parallel};
use super::program::Plan;
use super::simulation::{Model, too_small};
use super::types::Kind;
use super::writer::{Allocator, Buffer, OLD};
use std::io;

/// How an object gets where it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The event names the new address.
    Slow,
    /// To the cursor of the worker's PLAB.
    Fast,
}

impl Model<'_> {
    /// Runs the GC that is due; whether it was a full one.
    pub(super) fn collect(&mut self) -> io::Result<bool> {
        self.number += 1;
        self.roots.clear();
        self.time += self.rng.range(1, 30);
        for thread in 0..self.java.len() {
            if self.java[thread].tlab.left() >= 16 && self.rng.chance(300) {
                self.fill_tlab(Some(0), thread);
            }
            self.java[thread].tlab = Bump::default();
        }
        self.flush_all()?;
        let planned = !self.never_full() && self.number.is_multiple_of(self.spec.full_gc_every);
        let needed = if self.is_g1() {
            self.g1.free.len() < self.g1.young().count() + 2
        } else {
            let wasted = self.plab_bytes * 8 * self.gc.len() as u64;
            self.parallel.old.left() < self.parallel.young_used() + wasted
        };
        let full = planned || needed;
        if full {
            self.full_gc(if planned { 0 } else { 23 })?;
        } else {
            self.young_gc()?;
        }
        if self.heap.live >= self.spec.live_objects {
            self.warm = false;
        }
        Ok(full)
    }

    pub(super) fn begin_gc(&mut self, kind: u32, cause: u32) -> io::Result<()> {
        self.gc[0].buffer.gc_start(kind, cause, self.number, self.time, self.base);
        self.flush_gc(0, 2)
    }

    pub(super) fn end_gc(&mut self, kind: u32, cause: u32) -> io::Result<()> {
        for worker in (0..self.gc.len()).rev() {
            self.write_later(worker, 0);
            self.flush_gc(worker, 0)?;
            self.gc[worker].plabs = Default::default();
        }
        self.time += self.rng.range(0, 12);
        self.gc[0].buffer.gc_end(kind, cause, false, self.number, self.time, self.base);
        self.flush_gc(0, 2)
    }

    /// Events in a buffer of the VM thread of their own, with sync level 1.
    pub(super) fn ordered(&mut self, write: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        write(&mut self.gc[0].buffer);
        self.flush_gc(0, 1)
    }

    /// Space to move objects into; none if a survivor space is full.
    fn take_destination(&mut self, worker: usize, kind: u32, bytes: u64) -> io::Result<Option<u64>> {
        if self.is_g1() {
            return self.take_g1_destination(worker, kind, bytes).map(Some);
        }
        let Parallel { old, survivor, from, .. } = &mut self.parallel;
        Ok(if kind == OLD { old.take(bytes) } else { survivor[1 - *from].take(bytes) })
    }

    /// Where an object goes, how, and the kind of space there.
    pub(super) fn place(&mut self, worker: usize, mut kind: u32, bytes: u64) -> io::Result<(u64, Way, u32)> {
        loop {
            if let Some(to) = self.gc[worker].plabs[kind as usize].take(bytes) {
                let way = if self.rng.chance(8) { Way::Slow } else { Way::Fast };
                return Ok((to, way, kind));
            }
            if bytes <= self.plab_bytes / 4 && !self.rng.chance(10) {
                self.fill_plab(worker, kind, 500);
                let size = self.plab_bytes;
                if let Some(start) = self.take_destination(worker, kind, size)? {
                    let gc = &mut self.gc[worker];
                    gc.buffer.plab(size, start);
                    gc.plabs[kind as usize] = Bump { start, top: start + bytes, end: start + size };
                    return Ok((start, if self.is_g1() { Way::Slow } else { Way::Fast }, kind));
                }
            }
            if let Some(to) = self.take_destination(worker, kind, bytes)? {
                return Ok((to, Way::Slow, kind));
            }
            if kind == OLD {
                return Err(too_small("old space"));
            }
            kind = OLD;
        }
    }

    /// Closes the rest of a PLAB with a dead array, if there is enough of it, in some of thousand cases.
    pub(super) fn fill_plab(&mut self, worker: usize, kind: u32, in_thousand: u64) {
        let Bump { top, end, .. } = self.gc[worker].plabs[kind as usize];
        // What fills old space would stay forever without full collections.
        if end - top < 16 || !self.rng.chance(in_thousand) || (kind == OLD && self.never_full()) {
            return;
        }
        let gc = &mut self.gc[worker];
        gc.plabs[kind as usize].top = end;
        let plan = Plan::filler(top, end);
        gc.buffer.allocate_slow(Allocator::Vm, top, &self.program.describe(&plan));
        let name = gc.name;
        if let Some(handle) = self.new_object(top, &plan, name, Some((FILLER, kind))) {
            self.fillers.push((handle, kind));
        }
    }

    pub(super) fn write_move(&mut self, worker: usize, handle: u32, to: u64, way: Way, kind: u32) {
        let from = self.heap.address[handle as usize];
        if self.spec.pointers {
            self.write_move_with_pointers(worker, handle, to, way, kind);
            return;
        }
        let base = self.base;
        let buffer = &mut self.gc[worker].buffer;
        match way {
            Way::Slow => buffer.move_slow(from, to),
            Way::Fast => match self.rng.peek() % 64 {
                0 => buffer.move_fast_absolute(kind, from),
                1 if from >= base && from - base < 1 << 34 => {
                    buffer.move_fast_relative(kind, ((from - base) / 8) as u32);
                }
                _ => buffer.move_fast(kind, from, base),
            },
        }
    }

    fn write_move_with_pointers(&mut self, worker: usize, handle: u32, to: u64, way: Way, kind: u32) {
        let at = handle as usize;
        let from = self.heap.address[at];
        let ty = &self.program.types[self.heap.ty[at] as usize];
        if matches!(ty.kind, Kind::Array { references: true, .. }) && !self.is_g1() && self.heap.length[at] > 6 {
            // Large arrays are scanned in chunks, possibly later than they are moved.
            self.targets.clear();
            self.gc[worker].later.push_back((handle, to));
        } else {
            self.load_targets(handle);
        }
        let pointers = self.targets.pointers();
        let buffer = &mut self.gc[worker].buffer;
        match way {
            Way::Slow => buffer.move_with_pointers(from, to, &pointers),
            Way::Fast => {
                let base = (pointers.absolute & 6 == 0 || !from.is_multiple_of(64)).then_some(self.base);
                buffer.move_fast_with_pointers(kind, from, base, to, &pointers);
            }
        }
        let leave = if self.rng.chance(100) { 3 } else { 0 };
        self.write_later(worker, leave);
    }

    /// Kept in place, with pointers if there are any to be recorded.
    pub(super) fn write_kept(&mut self, worker: usize, handle: u32) {
        let address = self.heap.address[handle as usize];
        if self.spec.pointers {
            self.load_targets(handle);
            self.gc[worker].buffer.kept_with_pointers(address, &self.targets.pointers());
        } else {
            self.gc[worker].buffer.kept(address);
        }
    }
}
