//! How much is allocated and still there, counted by an allocator: nothing that is kept can be forgotten in this count. A test that uses
//! it has a binary of its own, since other tests allocate beside it.
//!
//! ```
//! use memory_city_testing::allocated::{Counting, held};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let (bytes, numbers) = held(|| vec![0u8; 1000]);
//! assert_eq!(bytes, numbers.len());
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, counting.
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came, which keeps what the trait asks for; counting touches no memory
// of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps what the trait asks of it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps what the trait asks of it; it came from `alloc`, which is the system's.
        unsafe { System.dealloc(at, layout) }
    }
}

/// What is still allocated of what some work allocates, and its result.
pub fn held<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.load(Relaxed);
    let result = work();
    (HELD.load(Relaxed).saturating_sub(before), result)
}
