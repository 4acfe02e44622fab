//! When the allocator asks the system for memory and gives it back. To be chosen before other threads are there, and once.
//!
//! May not: know who wants what. Where the allocator is another one than glibc's, nothing happens.

/// Has memory that is freed go back to the system at once, instead of being kept by each thread that has had some for
/// the next time: with many clients that would be many times the limit, and a picture of a million buildings would take a tenth more.
pub fn give_back_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    let taken = set([(libc::M_MMAP_THRESHOLD, 128 << 10), (libc::M_TRIM_THRESHOLD, 128 << 10), (libc::M_ARENA_MAX, 4)]);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if !taken {
        tracing::warn!("the allocator keeps memory that is free: with many clients it may take more than its limit");
    }
}

/// Gives back what is free between blocks that are in use: of one walk after the other, which several threads read, that comes to several
/// times what is in use.
#[cfg(target_os = "linux")]
pub fn give_back_now() {
    // SAFETY: no pointers; it locks what it looks at, as any thread that allocates does.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has up to 64 MB of freed memory wait for the next frame. A GPU in software keeps the triangles of a frame in blocks that it
/// frees behind it: given back to the system and asked for again they are a sixth of what a frame of 10,000 buildings costs.
/// Blocks of 32 MB and more go back at once, as they do anyway once one has been freed.
pub fn keep_for_next_frame() {
    // What cannot be set only costs time.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    let _ = set([(libc::M_MMAP_THRESHOLD, 32 << 20), (libc::M_TRIM_THRESHOLD, 64 << 20)]);
}

/// Whether all could be set.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn set<const OPTIONS: usize>(options: [(libc::c_int, libc::c_int); OPTIONS]) -> bool {
    // SAFETY: `mallopt` takes two numbers and changes when the allocator asks the system for memory and gives it
    // back, for blocks of any size. It must not run beside other threads that allocate: there are none yet.
    options.into_iter().all(|(option, value)| unsafe { libc::mallopt(option, value) } != 0)
}
