//! Prefetching: tells the processor which memory will be needed soon.
//!
//! Most work on a heap is waiting for memory, one object after the other. If the next places are known, prefetching all of them first
//! overlaps the waits. It changes no result.

/// Has an element of a slice fetched into the processor's cache; nothing where there is no such element.
#[inline]
pub fn prefetch<T>(slice: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it reads nothing into the program, writes nothing, and faults on no address, and this
        // one is that of an element. The instruction is part of SSE, which every x86_64 processor has.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at);
}
