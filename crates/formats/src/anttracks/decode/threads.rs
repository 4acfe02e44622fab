//! Addresses that the format leaves out: the allocation cursor of each thread, and the move cursor of each GC thread.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A region threads allocate in from bottom to top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ThreadBuffer {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) top: u64,
}

/// The cursors of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThreadState {
    pub(super) id: u32,
    /// Whether the thread has announced itself.
    pub(super) named: bool,
    pub(super) tlab: ThreadBuffer,
    /// Buffers of the running GC, newest last.
    pub(super) plabs: Vec<ThreadBuffer>,
    /// The object outside the collected spaces whose pointers may go on in the next event of their kind; 0 for none.
    pub(super) unfinished: u64,
}

/// Buffers of one GC a thread may have open: more belong to a damaged file.
pub(super) const MOST_PLABS: usize = 1 << 16;

/// All that must be kept between two buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Threads {
    pub(super) by_address: FxHashMap<u64, ThreadState>,
    /// Base of relative addresses.
    pub(super) base: u64,
    pub(super) collecting: bool,
    pub(super) minor: bool,
    /// Background cycles of CMS seen.
    pub(crate) background_cycles: u64,
}

/// Moves the top of the buffer whose top is exactly `to`.
#[inline]
pub(super) fn advance(plabs: &mut [ThreadBuffer], to: u64, size: u64) {
    if let Some(plab) = plabs.iter_mut().rev().find(|p| p.top == to && to < p.end) {
        plab.top = to.wrapping_add(size);
    }
}
