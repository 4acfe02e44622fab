//! Garbage collections, as the VM's callbacks report them. A callback may not call, lock or allocate anything, so times go into a ring of
//! numbers, and an event counter wakes the recorder's thread.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::Instant;

/// Collections that fit before the recorder's thread looks; older ones are counted as lost.
const RING: usize = 1024;

/// The ring. One for the process: the callbacks must not look for it.
pub(crate) struct CollectionLog {
    starts: [AtomicU64; RING],
    ends: [AtomicU64; RING],
    /// Collections that have started, and ended, since the library was loaded.
    started: AtomicU64,
    ended: AtomicU64,
    wake: AtomicI32,
    /// Something in a callback went wrong that must not.
    has_failed: AtomicBool,
}

pub(crate) static COLLECTIONS: CollectionLog = CollectionLog::new();

/// Nanoseconds by a clock that does not jump, from an unknown beginning.
pub(crate) fn clock() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours. Cannot fail: every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A collection: its start and end by [`clock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenCollection {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl CollectionLog {
    const fn new() -> CollectionLog {
        CollectionLog {
            starts: [const { AtomicU64::new(0) }; RING],
            ends: [const { AtomicU64::new(0) }; RING],
            started: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            wake: AtomicI32::new(-1),
            has_failed: AtomicBool::new(false),
        }
    }

    /// In the VM's callback: one at a time, the program stands still.
    pub(crate) fn start(&self) {
        // Not the next behind those that have started: of one whose end came when the event was off no end was seen, and none will be.
        let n = self.ended.load(Ordering::Relaxed);
        self.starts[n as usize % RING].store(clock(), Ordering::Relaxed);
        self.started.store(n + 1, Ordering::Relaxed);
    }

    /// In the VM's callback.
    pub(crate) fn finish(&self) {
        let n = self.ended.load(Ordering::Relaxed);
        // A collection that had begun before the event was switched on has no start.
        let started = self.started.load(Ordering::Relaxed);
        if started <= n {
            self.starts[n as usize % RING].store(clock(), Ordering::Relaxed);
            self.started.store(n + 1, Ordering::Relaxed);
        }
        self.ends[n as usize % RING].store(clock(), Ordering::Relaxed);
        self.ended.store(n + 1, Ordering::Release);
        self.wake();
    }

    /// In the VM's callback: it could not do its work.
    pub(crate) fn failed(&self) {
        self.has_failed.store(true, Ordering::Release);
        self.wake();
    }

    /// Whether a callback has failed since the last time.
    pub(crate) fn take_failure(&self) -> bool {
        self.has_failed.swap(false, Ordering::AcqRel)
    }

    /// Wakes the recorder's thread. Async-signal-safe.
    pub(crate) fn wake(&self) {
        let wake = self.wake.load(Ordering::Relaxed);
        if wake >= 0 {
            let one = 1u64.to_ne_bytes();
            // SAFETY: eight bytes are written from eight bytes. A failure means that it is awake already.
            unsafe { libc::write(wake, one.as_ptr().cast(), 8) };
        }
    }

    /// Creates the event counter that wakes the thread. It lives as long as the process, since a callback may write to it any time.
    pub(crate) fn open(&self) -> std::io::Result<()> {
        if self.wake.load(Ordering::Relaxed) < 0 {
            // SAFETY: no pointers.
            let made = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
            if made < 0 {
                return Err(std::io::Error::last_os_error());
            }
            self.wake.store(made, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Waits until something wakes, or the time is over.
    pub(crate) fn wait(&self, most: std::time::Duration) {
        let until = Instant::now() + most;
        let mut wanted = libc::pollfd { fd: self.wake.load(Ordering::Relaxed), events: libc::POLLIN, revents: 0 };
        let left = until.saturating_duration_since(Instant::now()).as_millis() as i32;
        // SAFETY: one structure of ours, and eight bytes of ours to read into.
        unsafe {
            if libc::poll(&raw mut wanted, 1, left) > 0 {
                let mut count = [0u8; 8];
                libc::read(wanted.fd, count.as_mut_ptr().cast(), 8);
            }
        }
    }

    /// How many collections have begun by now.
    pub(crate) fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// How many collections have ended by now.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// Collections from number `from` on, and how many before them were overwritten.
    pub(crate) fn since(&self, from: u64) -> (Vec<SeenCollection>, u64) {
        let ended = self.ended();
        let lost = ended.saturating_sub(from).saturating_sub(RING as u64 / 2);
        let seen = (from + lost..ended).map(|n| SeenCollection {
            start: self.starts[n as usize % RING].load(Ordering::Relaxed),
            end: self.ends[n as usize % RING].load(Ordering::Relaxed),
        });
        (seen.collect(), lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording ends while the VM collects: the next one has no start of before.
    #[test]
    fn a_start_whose_end_was_not_seen_is_forgotten() {
        static LOG: CollectionLog = CollectionLog::new();
        LOG.start();
        let before = clock();
        for _ in 0..2 {
            LOG.start();
            LOG.finish();
        }
        assert_eq!((LOG.started(), LOG.ended()), (2, 2));
        let (seen, lost) = LOG.since(0);
        assert_eq!((seen.len(), lost), (2, 0));
        assert!(seen.iter().all(|c| before <= c.start && c.start <= c.end) && seen[0].end <= seen[1].start, "{seen:?}");
    }

    #[test]
    fn collections_are_told_once_and_what_is_overwritten_is_counted() {
        static LOG: CollectionLog = CollectionLog::new();
        LOG.open().expect("an event counter");
        // The first had begun before anybody listened.
        LOG.finish();
        for _ in 0..3 {
            LOG.start();
            LOG.finish();
        }
        let before = Instant::now();
        LOG.wait(std::time::Duration::from_secs(60));
        assert!(before.elapsed().as_secs() < 30, "it was woken");
        let (seen, lost) = LOG.since(0);
        assert_eq!((seen.len(), lost), (4, 0));
        assert!(seen.iter().all(|c| c.start <= c.end) && seen.is_sorted_by_key(|c| c.end));
        assert_eq!(LOG.since(4).0, []);
        for _ in 0..2000 {
            LOG.start();
            LOG.finish();
        }
        let (seen, lost) = LOG.since(4);
        assert_eq!(seen.len() as u64 + lost, 2000);
        assert!(lost > 1000);
    }
}
