//! Memory of a process, as the system accounts for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;

/// A field of `/proc/PID/status`, KiB.
pub fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find(|l| l.starts_with(name))?.split_whitespace().nth(1)?.parse().ok()
}

/// The same of this process; 0 where the system does not say.
pub fn own(name: &str) -> u64 {
    field(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), name).unwrap_or(0)
}

/// Looks at the memory of this process that is not file pages, again and again.
pub struct Watcher {
    peak: Arc<AtomicU64>,
    done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watcher {
    /// Begins.
    pub fn start() -> Watcher {
        let (peak, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let thread = {
            let (peak, done) = (Arc::clone(&peak), Arc::clone(&done));
            std::thread::spawn(move || {
                while !done.load(Relaxed) {
                    peak.fetch_max(own("RssAnon:"), Relaxed);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            })
        };
        Watcher { peak, done, thread }
    }

    /// Ends; the most there was, KiB.
    pub fn peak(self) -> u64 {
        self.done.store(true, Relaxed);
        let _ = self.thread.join();
        self.peak.load(Relaxed)
    }
}
