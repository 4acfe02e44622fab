//! Who points to whom: made-up pointers between the objects, and roots.
use super::heap::{DEAD, FILLER, IN_OLD, REPORTED, UNREFERENCED};
use super::simulation::Model;
use super::writer::Pointers;

/// Pointers about to be written: addresses, 0 for null, and which to write absolute.
#[derive(Default)]
pub(super) struct Targets {
    addresses: Vec<u64>,
    pub(super) absolute: u64,
}

impl Targets {
    pub(super) fn clear(&mut self) {
        self.addresses.clear();
        self.absolute = 0;
    }

    pub(super) fn pointers(&self) -> Pointers<'_> {
        Pointers { targets: &self.addresses, absolute: self.absolute }
    }
}

impl Model<'_> {
    /// A live object that may be pointed to: near in the list, anywhere in it, or old.
    pub(super) fn pick(&mut self, list: &[u32], near: usize) -> u32 {
        for _ in 0..4 {
            let way = self.rng.below(10);
            let handle = if list.is_empty() || (way == 0 && !self.old.is_empty()) {
                if self.old.is_empty() {
                    return 0;
                }
                self.old[self.rng.below(self.old.len() as u64) as usize]
            } else if way < 8 {
                let from = near.saturating_sub(20);
                let to = (near + 20).min(list.len() - 1);
                list[from.min(to) + self.rng.below((to - from.min(to)) as u64 + 1) as usize]
            } else {
                list[self.rng.below(list.len() as u64) as usize]
            };
            if !self.heap.has(handle, DEAD | UNREFERENCED | FILLER) {
                return handle;
            }
        }
        0
    }

    /// Brings the pointers of an object that is about to be reported up to date: fills them at the first time, replaces
    /// those to the dead, changes some others.
    pub(super) fn refresh(&mut self, handle: u32, list: &[u32], near: usize) {
        let slots = self.slots_of(handle);
        if slots == 0 || self.heap.has(handle, FILLER) {
            return;
        }
        let fresh = !self.heap.has(handle, REPORTED);
        self.heap.set(handle, REPORTED);
        for slot in 0..slots {
            let current = self.heap.pointers_mut(handle, slots)[slot];
            let dead = current != 0 && self.heap.has(current, DEAD);
            let roll = self.rng.below(100);
            let null = if fresh { roll < 20 } else { dead && roll < 50 };
            if fresh || dead || roll < 2 {
                let new = if null { 0 } else { self.pick(list, near) };
                self.heap.pointers_mut(handle, slots)[slot] = new;
            }
        }
    }

    /// Nulls the pointers to the dead.
    pub(super) fn drop_dead(&mut self, handle: u32) {
        let slots = self.slots_of(handle);
        if slots == 0 || !self.heap.has(handle, REPORTED) {
            return;
        }
        for slot in 0..slots {
            let target = self.heap.pointers(handle, slots)[slot];
            if target != 0 && self.heap.has(target, DEAD) {
                self.heap.pointers_mut(handle, slots)[slot] = 0;
            }
        }
    }

    /// Makes an object's pointers, to the addresses in the column now, those about to be written.
    pub(super) fn load_targets(&mut self, handle: u32) {
        self.targets.clear();
        if self.heap.has(handle, REPORTED) {
            for &target in self.heap.pointers(handle, self.slots_of(handle)) {
                self.targets.addresses.push(self.address_or_null(target));
            }
        }
        let mask = self.rng.next();
        self.targets.absolute = if mask.is_multiple_of(4) { mask & mask >> 7 } else { 0 };
    }

    fn address_or_null(&self, handle: u32) -> u64 {
        if handle == 0 { 0 } else { self.heap.address[handle as usize] }
    }

    pub(super) fn points_to_young(&self, handle: u32) -> bool {
        let young = |&target: &u32| target != 0 && !self.heap.has(target, IN_OLD);
        self.heap.has(handle, REPORTED) && self.heap.pointers(handle, self.slots_of(handle)).iter().any(young)
    }

    /// Roots of the parallel collector: some objects of the list and some old ones.
    pub(super) fn write_roots(&mut self, worker: Option<usize>, list: &[u32]) {
        if !self.spec.pointers || self.is_g1() {
            return;
        }
        let mut owners: Vec<u64> = (1..=11).filter(|_| self.rng.chance(800)).collect();
        let kinds = owners.len();
        owners.extend(self.java.iter().map(|thread| thread.address));
        for (index, owner) in owners.into_iter().enumerate() {
            let (kind, thread, absolute) = if index < kinds { (owner as u32, 0, u64::MAX) } else { (0, owner, 1) };
            let most = if self.rng.chance(150) { 40 } else { 9 };
            let count = self.rng.range(1, most);
            self.targets.clear();
            let mut roots = Vec::new();
            for _ in 0..count {
                let handle = self.pick_root(list);
                self.targets.addresses.push(self.address_or_null(handle));
                if handle != 0 {
                    roots.push((kind, thread, handle));
                }
            }
            self.targets.absolute = absolute;
            let worker = worker.unwrap_or_else(|| self.any_worker());
            self.gc[worker].buffer.roots(owner, &self.targets.pointers());
            self.gc[worker].roots.append(&mut roots);
        }
    }

    /// A live object or null. Roots may also hold what nothing else does.
    fn pick_root(&mut self, list: &[u32]) -> u32 {
        let near = self.rng.below(list.len() as u64 + 1) as usize;
        let near = near.min(list.len().saturating_sub(1));
        if self.rng.chance(150) {
            return 0;
        }
        match list.get(near) {
            Some(&handle) if !self.heap.has(handle, DEAD | FILLER) => handle,
            _ => self.pick(list, near),
        }
    }

    /// Writes the delayed pointers of arrays until only `leave` are left to be written.
    pub(super) fn write_later(&mut self, worker: usize, leave: usize) {
        while self.gc[worker].later.len() > leave
            && let Some((handle, to)) = self.gc[worker].later.pop_front()
        {
            self.load_targets(handle);
            self.gc[worker].buffer.array_pointers(to, &self.targets.pointers());
        }
    }
}
