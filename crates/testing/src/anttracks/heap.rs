//! The objects of the simulated heap, in columns. Only those that may survive their first collection are stored.
use super::writer::Allocator;
use std::collections::HashMap;

pub(super) const DEAD: u8 = 1;
/// Never the target of a pointer, only of roots: may die without anybody else noticing.
pub(super) const UNREFERENCED: u8 = 2;
/// Its pointers were written at least once.
pub(super) const REPORTED: u8 = 4;
/// An array that closes a gap; dies as soon as its space is collected.
pub(super) const FILLER: u8 = 8;
/// An old object that may point to young ones.
pub(super) const REMEMBERED: u8 = 16;
pub(super) const IN_OLD: u8 = 32;
/// Survives the collection that is going on.
pub(super) const MOVING: u8 = 64;

/// Columns over all objects that may survive; an object's place in them is its handle. Handle 0 stands for null.
#[derive(Default)]
pub(super) struct Heap {
    pub(super) address: Vec<u64>,
    /// Index of the type.
    pub(super) ty: Vec<u16>,
    /// Of arrays; size in bytes of mirrors.
    pub(super) length: Vec<u32>,
    pub(super) flags: Vec<u8>,
    /// Young collections survived.
    pub(super) age: Vec<u8>,
    /// Pointers of objects with up to four.
    near: Vec<[u32; 4]>,
    /// Of objects with more.
    far: HashMap<u32, Box<[u32]>>,
    /// Handles to use again.
    pub(super) free: Vec<u32>,
    pub(super) live: u64,
    /// Empty unless answers are wanted.
    pub(super) known: Vec<Known>,
}

/// What only answers need to know about an object.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) identity: u64,
    pub(super) site: u32,
    /// Index of the name.
    pub(super) thread: u32,
    pub(super) allocator: Allocator,
    pub(super) birth: u32,
}

impl Heap {
    pub(super) fn new() -> Self {
        let mut heap = Self::default();
        heap.push(0, 0, 0, DEAD, None);
        heap.live = 0;
        heap
    }

    pub(super) fn push(&mut self, address: u64, ty: u16, length: u32, flags: u8, known: Option<Known>) -> u32 {
        self.live += 1;
        let handle = self.free.pop().map_or(self.address.len(), |handle| handle as usize);
        if handle == self.address.len() {
            self.address.push(address);
            self.ty.push(ty);
            self.length.push(length);
            self.flags.push(flags);
            self.age.push(0);
            self.near.push([0; 4]);
        } else {
            self.address[handle] = address;
            self.ty[handle] = ty;
            self.length[handle] = length;
            self.flags[handle] = flags;
            self.age[handle] = 0;
            self.near[handle] = [0; 4];
        }
        if let Some(known) = known {
            // The null handle has none, so that the first entry only takes its place.
            self.known.resize(self.address.len(), known);
            self.known[handle] = known;
        }
        handle as u32
    }

    pub(super) fn has(&self, handle: u32, flag: u8) -> bool {
        self.flags[handle as usize] & flag != 0
    }

    pub(super) fn set(&mut self, handle: u32, flag: u8) {
        self.flags[handle as usize] |= flag;
    }

    pub(super) fn clear(&mut self, handle: u32, flag: u8) {
        self.flags[handle as usize] &= !flag;
    }

    pub(super) fn kill(&mut self, handle: u32) {
        debug_assert!(!self.has(handle, DEAD));
        self.flags[handle as usize] = DEAD;
        self.far.remove(&handle);
        self.live -= 1;
    }

    /// The pointers of an object with that many.
    pub(super) fn pointers(&self, handle: u32, slots: usize) -> &[u32] {
        if slots <= 4 { &self.near[handle as usize][..slots] } else { self.far.get(&handle).map_or(&[], |far| far) }
    }

    pub(super) fn pointers_mut(&mut self, handle: u32, slots: usize) -> &mut [u32] {
        if slots <= 4 {
            &mut self.near[handle as usize][..slots]
        } else {
            self.far.entry(handle).or_insert_with(|| vec![0; slots].into())
        }
    }
}
