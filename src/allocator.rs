//! Tuning of glibc's allocator: when it asks the system for memory and gives it back. Each setting is made once, before other threads
//! start.
//!
//! May not: know which part of the program wants which memory. With an allocator other than glibc's, nothing happens.

/// Has freed memory go back to the system at once, instead of staying with the thread that freed it. Kept memory would be many times the
/// limit with many clients, and a tenth more for a picture of a million buildings.
pub fn give_back_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    let taken = set([(libc::M_MMAP_THRESHOLD, 128 << 10), (libc::M_TRIM_THRESHOLD, 128 << 10), (libc::M_ARENA_MAX, 4)]);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if !taken {
        tracing::warn!("the allocator keeps memory that is free: with many clients it may take more than its limit");
    }
}

/// Gives free memory between used blocks back to the system. Several threads that read one walk after the other leave several times the
/// memory in use.
#[cfg(target_os = "linux")]
pub fn give_back_now() {
    // SAFETY: no pointers; it locks what it looks at, as any thread that allocates does.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has up to 64 MB of freed memory wait for the next frame. A GPU in software frees the triangles of each frame in blocks; giving these
/// back and asking for them again costs a sixth of a frame of 10,000 buildings. Blocks of 32 MB and more go back at once, as they do
/// anyway once one has been freed.
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
