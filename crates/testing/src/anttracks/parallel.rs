//! The spaces of the parallel collector, and stretches of memory that are filled from their start.
use super::writer::{EDEN, OLD, SURVIVOR};

/// Sizes of spaces are multiples of this.
pub(super) const PAGE: u64 = 4096;

/// Memory that is handed out from its start to its end: a space, a TLAB or a PLAB.
#[derive(Clone, Copy, Default)]
pub(super) struct Bump {
    pub(super) start: u64,
    pub(super) top: u64,
    pub(super) end: u64,
}

impl Bump {
    pub(super) fn new(start: u64, bytes: u64) -> Self {
        Self { start, top: start, end: start + bytes }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.end - self.start
    }

    pub(super) fn used(&self) -> u64 {
        self.top - self.start
    }

    pub(super) fn left(&self) -> u64 {
        self.end - self.top
    }

    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        (bytes <= self.left()).then(|| {
            self.top += bytes;
            self.top - bytes
        })
    }

    pub(super) fn reset(&mut self) {
        self.top = self.start;
    }
}

/// The heap of the parallel collector, from low to high addresses: old space, eden, survivor spaces.
#[derive(Default)]
pub(super) struct Parallel {
    pub(super) old: Bump,
    pub(super) eden: Bump,
    pub(super) survivor: [Bump; 2],
    /// Which survivor space holds objects between collections.
    pub(super) from: usize,
    /// Sizes of a survivor space: now, and after the young generation is resized for the next time.
    survivor_sizes: [u64; 2],
    /// Young collections name the collected spaces.
    pub(super) with_info: bool,
}

impl Parallel {
    pub(super) fn new(start: u64, old: u64, eden: u64, survivor: u64, with_info: bool) -> Self {
        let old = Bump::new(start, old);
        let eden = Bump::new(old.end, eden);
        let first = Bump::new(eden.end, survivor);
        Self {
            old,
            eden,
            survivor: [first, Bump::new(first.end, survivor)],
            from: 1,
            survivor_sizes: [survivor, (survivor * 3 / 4).next_multiple_of(PAGE)],
            with_info,
        }
    }

    /// By their numbers in the trace.
    pub(super) fn spaces(&self) -> [Bump; 4] {
        [self.old, self.eden, self.survivor[0], self.survivor[1]]
    }

    /// The kind of space an address lies in.
    pub(super) fn kind_at(&self, address: u64) -> u32 {
        if address < self.old.end {
            OLD
        } else if address < self.eden.end {
            EDEN
        } else {
            SURVIVOR
        }
    }

    /// Most bytes that a young collection may have to promote.
    pub(super) fn young_capacity(&self) -> u64 {
        self.eden.bytes() + self.survivor_sizes[0]
    }

    pub(super) fn young_used(&self) -> u64 {
        self.eden.used() + self.survivor[self.from].used()
    }

    /// After a young collection: what it collected is empty, and the survivor spaces change roles.
    pub(super) fn swap_survivors(&mut self) {
        self.eden.reset();
        self.survivor[self.from].reset();
        self.from = 1 - self.from;
    }

    /// After a full collection: everything lives in old space.
    pub(super) fn empty_young(&mut self) {
        self.eden.reset();
        self.survivor.iter_mut().for_each(Bump::reset);
    }

    /// Changes the sizes of eden and the survivor spaces while they are empty.
    pub(super) fn resize_young(&mut self) {
        self.survivor_sizes.swap(0, 1);
        let bytes = self.survivor_sizes[0];
        let mut end = self.survivor[1].end;
        for space in self.survivor.iter_mut().rev() {
            *space = Bump::new(end - bytes, bytes);
            end -= bytes;
        }
        self.eden.end = end;
    }
}
