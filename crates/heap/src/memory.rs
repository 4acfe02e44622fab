//! Memory: the free amount, the budget of dumps, and the end of work that would take more.
//!
//! Readers count their memory wherever a few bytes of a file can ask for much. Work that takes columns of all objects asks for
//! [room](make_sure) before it takes them, and is refused with the amount. Uncounted memory shows here: long work checks the rest at
//! [`Progress::check`](crate::progress::Progress::check), and ends in an error before the system ends the program.

use crate::error::{Error, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use sysinfo::{MemoryRefreshKind, System};

/// The chosen budget; 0 before a choice.
static CHOSEN: AtomicU64 = AtomicU64::new(0);
/// The limit of this process; 0 without one.
static LIMIT: AtomicU64 = AtomicU64::new(0);
/// What this process had taken when it was set: for a window, most of it is none of the data.
static TAKEN_BEFORE: AtomicU64 = AtomicU64::new(0);

/// Bytes that dumps may take while they are read: the chosen budget, or three quarters of the free memory of the machine or container.
pub fn memory_budget() -> u64 {
    match CHOSEN.load(Relaxed) {
        0 => memory_limit(),
        chosen => chosen,
    }
}

/// Chooses the budget of this process. A single dump is read whatever it takes; several are read at once only within it.
pub fn set_memory_budget(bytes: u64) {
    CHOSEN.store(bytes.max(1), Relaxed);
}

/// Limits all that this process takes from now on, other than files that are mapped. It is the budget too.
pub fn set_memory_limit(bytes: u64) {
    set_memory_budget(bytes);
    TAKEN_BEFORE.store(taken(), Relaxed);
    LIMIT.store(bytes.max(1), Relaxed);
}

/// Most bytes an unpacked input may take: the free memory of the machine or of this process, less a quarter for the heap state itself.
pub fn memory_limit() -> u64 {
    // Of a system that does not tell a guess.
    MemoryLeft::now(false).map_or(6 << 30, |memory| memory.left / 4 * 3)
}

/// Bytes that work takes without asking: looking at the system would take longer than such work.
const SMALL: u64 = 16 << 20;

/// Makes sure that `work` may take so many bytes beside what is in use. Reads a few small files of the system.
///
/// # Errors
/// When less is left; says how much it takes and what limits it.
pub fn make_sure(bytes: u64, work: impl FnOnce() -> String) -> Result<()> {
    if bytes < SMALL {
        return Ok(());
    }
    match MemoryLeft::now(true).filter(|memory| bytes > memory.left.saturating_sub(memory.kept_free())) {
        Some(memory) => Err(memory.refusal(bytes, &work())),
        None => Ok(()),
    }
}

/// For people: `350 MB`, `4.7 GB`, `112 GB`.
pub fn memory_text(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        1_000_000_000..10_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}

/// The memory that this process may still take.
#[derive(Clone, Copy, Debug)]
struct MemoryLeft {
    left: u64,
    /// The total.
    total: u64,
    limited_by: Limit,
}

/// A limit to the memory of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Machine,
    Container,
    Addresses,
    Chosen,
}

impl Limit {
    /// Its name, for people, behind an amount.
    fn text(self) -> &'static str {
        match self {
            Limit::Machine => "of this machine",
            Limit::Container => "of this container",
            Limit::Addresses => "of addresses that this process may use (ulimit -v)",
            Limit::Chosen => "of the memory limit (--memory)",
        }
    }
}

impl MemoryLeft {
    /// `None` where the system does not tell.
    fn now(with_swap: bool) -> Option<MemoryLeft> {
        let mut system = System::new();
        let what = MemoryRefreshKind::nothing().with_ram();
        system.refresh_memory_specifics(if with_swap { what.with_swap() } else { what });
        if system.total_memory() == 0 {
            return None;
        }
        let left = system.available_memory() + system.free_swap();
        let mut memory = MemoryLeft { left, total: system.total_memory(), limited_by: Limit::Machine };
        // A container's page cache counts as used, though it is given back when memory is wanted.
        if let Some(limits) = system.cgroup_limits() {
            memory.limit(limits.rss, limits.total_memory, Limit::Container);
        }
        if let Some(most) = most_addresses() {
            memory.limit(addresses(), most, Limit::Addresses);
        }
        if let limit @ 1.. = LIMIT.load(Relaxed) {
            memory.limit(taken().saturating_sub(TAKEN_BEFORE.load(Relaxed)), limit, Limit::Chosen);
        }
        Some(memory)
    }

    fn limit(&mut self, used: u64, total: u64, limited_by: Limit) {
        let left = total.saturating_sub(used);
        // The memory of the machine is the total of a container without a limit of its own.
        if left.saturating_sub(kept_free(total, limited_by)) < self.left.saturating_sub(self.kept_free()) {
            *self = MemoryLeft { left, total, limited_by };
        }
    }

    /// Bytes that are left free for small things, which are not counted: without them the system would end the program.
    fn kept_free(&self) -> u64 {
        kept_free(self.total, self.limited_by)
    }

    fn is_used_up(&self) -> bool {
        self.left <= self.kept_free()
    }

    /// The error for work that would take so many bytes more.
    fn refusal(&self, bytes: u64, work: &str) -> Error {
        let (limit, total) = (self.limited_by, memory_text(self.total));
        let left = memory_text(self.left.saturating_sub(self.kept_free()));
        let needed = self.total.saturating_sub(self.left).saturating_add(self.kept_free()).saturating_add(bytes);
        Error::Memory {
            what: format!(
                "{work} takes about {} more memory, and {left} of the {total} {} are left",
                memory_text(bytes),
                limit.text()
            ),
            remedy: match limit {
                Limit::Machine => {
                    "End other programs, open fewer or smaller files, or open them on a machine with more memory"
                        .to_owned()
                }
                _ => format!("Let it be at least {}, or open fewer or smaller files", memory_text(needed)),
            },
        }
    }
}

/// As [`MemoryLeft::kept_free`].
fn kept_free(total: u64, limited_by: Limit) -> u64 {
    match limited_by {
        Limit::Chosen => 0,
        _ => (total / 32).clamp(64 << 20, 512 << 20),
    }
}

/// Bytes of memory that this process takes, without files that are mapped; 0 where the system does not tell.
fn taken() -> u64 {
    ["RssAnon:", "RssShmem:"].iter().filter_map(|line| number_in("/proc/self/status", line)).sum::<u64>() << 10
}

/// The number in a line of a file of the system.
fn number_in(file: &str, line: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|found| found.strip_prefix(line))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Bytes of addresses that this process may use, where that is limited (`ulimit -v`).
fn most_addresses() -> Option<u64> {
    static MOST: OnceLock<Option<u64>> = OnceLock::new();
    *MOST.get_or_init(|| number_in("/proc/self/limits", "Max address space"))
}

/// Whether the addresses of this process are limited.
pub fn has_address_limit() -> bool {
    most_addresses().is_some()
}

/// The addresses that this process uses.
fn addresses() -> u64 {
    number_in("/proc/self/status", "VmSize:").map_or(0, |kilobytes| kilobytes << 10)
}

/// Milliseconds between two looks.
const PAUSE: u64 = 50;

/// Whether there is memory left for work to go on. Looks at most twenty times a second, for all threads.
///
/// # Errors
/// When nearly all of it is used up.
pub(crate) fn check_left(stage: impl FnOnce() -> String) -> Result<()> {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static USED_UP: AtomicBool = AtomicBool::new(false);
    let now = STARTED.get_or_init(Instant::now).elapsed().as_millis() as u64;
    let next = NEXT.load(Relaxed);
    if now >= next && NEXT.compare_exchange(next, now + PAUSE, Relaxed, Relaxed).is_ok() {
        USED_UP.store(MemoryLeft::now(true).is_some_and(|memory| memory.is_used_up()), Relaxed);
    }
    match USED_UP.load(Relaxed) {
        true => Err(used_up(&stage())),
        false => Ok(()),
    }
}

/// The error for work that ends for want of memory.
fn used_up(stage: &str) -> Error {
    let work = if stage.is_empty() { "the work" } else { stage };
    match MemoryLeft::now(true).filter(|memory| memory.limited_by != Limit::Machine) {
        Some(MemoryLeft { total, limited_by, .. }) => Error::Memory {
            what: format!("Nearly all of the {} {} is used up: {work} ended", memory_text(total), limited_by.text()),
            remedy: "Raise that limit, or open fewer or smaller files".into(),
        },
        None => Error::Memory {
            what: format!("Nearly all memory is used up: {work} ended"),
            remedy: "End other programs, open fewer or smaller files, or open them on a machine with more memory"
                .into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_is_free_is_known() {
        assert!(memory_limit() > 1 << 20);
    }

    #[test]
    fn the_narrowest_limit_counts() {
        const GB: u64 = 1 << 30;
        let mut memory = MemoryLeft { left: 8 * GB, total: 16 * GB, limited_by: Limit::Machine };
        memory.limit(GB, 10 * GB, Limit::Addresses);
        assert_eq!((memory.left, memory.is_used_up()), (8 * GB, false));
        memory.limit(GB - (63 << 20), GB, Limit::Container);
        assert_eq!((memory.left, memory.total, memory.is_used_up()), (63 << 20, GB, true));
        let large = MemoryLeft { left: 500 << 20, total: 1 << 40, limited_by: Limit::Machine };
        assert!(large.is_used_up(), "half a gigabyte is kept, and no more");
    }

    #[test]
    fn a_refusal_says_how_much_it_takes() {
        const MB: u64 = 1_000_000;
        for (limited_by, said, remedy) in [
            (Limit::Chosen, "and 300 MB of the 500 MB of the memory limit (--memory) are left", "at least 2.2 GB"),
            (Limit::Container, "and 233 MB of the 500 MB of this container are left", "at least 2.3 GB"),
            (Limit::Machine, "and 233 MB of the 500 MB of this machine are left", "more memory"),
        ] {
            let memory = MemoryLeft { left: 300 * MB, total: 500 * MB, limited_by };
            let text = memory.refusal(2000 * MB, "Reading a.hprof").to_string();
            assert!(text.starts_with("Reading a.hprof takes about 2.0 GB more memory"), "{text}");
            assert!(text.contains(said) && text.contains(remedy), "{text}");
        }
    }
}
