//! Parallel loading of several dumps of a series, as far as memory allows.
//!
//! Reading a dump uses all cores, but not all of the time. While one dump is unpacked or its objects are sorted on one core, another can be
//! read on the others. Results and their order are the same as when dumps are read one after the other.

use super::budget::{MemoryNeed, memory_text};
use super::series::HeapSeries;
use memory_city_heap::HeapState;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Reads some states of a series and calls `work` with each point, its state, and the progress. Results are in the order of `wanted`. The
/// number of states read at once is limited by the cores, and by half of `budget` bytes for their [estimates](HeapSeries::estimate) (the
/// other half is for states that are kept). A series without estimates is read one state after the other.
///
/// # Errors
/// The first in the order of `wanted`, whichever came first.
pub fn each_state<T: Send>(
    series: &dyn HeapSeries,
    wanted: &[usize],
    need: MemoryNeed,
    budget: u64,
    progress: &Progress,
    work: impl Fn(usize, Arc<HeapState>, &Progress) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let one = |index: usize, progress: &Progress| {
        progress.check()?;
        work(index, series.load(index, progress)?, progress)
    };
    // Threads of the pool would wait here for work that only they can do.
    let in_pool = rayon::current_thread_index().is_some();
    let cores = std::thread::available_parallelism().map_or(1, |cores| if in_pool { 1 } else { cores.get() });
    let estimates: Option<Vec<u64>> = match wanted.len().min(cores) {
        0 | 1 => None,
        _ => series.dumps().and_then(|dumps| wanted.iter().map(|&index| dumps.estimate(index, need)).collect()),
    };
    let budget = budget / 2;
    let fits = |estimates: &Vec<u64>| estimates.windows(2).any(|two| two[0].saturating_add(two[1]) <= budget);
    let Some(estimates) = estimates.filter(fits) else {
        // One way through all of them: a bar that begins again with each file tells nothing.
        let parts = if wanted.len() > 1 { wanted.len() as u64 } else { 0 };
        let mut made = Vec::with_capacity(wanted.len());
        for (part, &index) in wanted.iter().enumerate() {
            progress.part(part as u64, parts);
            let result = one(index, progress);
            if result.is_err() {
                progress.part(0, 0);
            }
            made.push(result?);
        }
        progress.part(0, 0);
        return Ok(made);
    };
    let at_once = at_once(&estimates, cores, budget);
    let largest = estimates.iter().copied().max().unwrap_or(0);
    let all = estimates.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes));
    progress.begin(
        format!(
            "Reading {} dumps, up to {at_once} at once, each in up to {} of memory",
            wanted.len(),
            memory_text(largest)
        ),
        all,
    );
    let gate = DumpGate { state: Mutex::default(), freed: Condvar::new(), estimates: &estimates, budget };
    let results: Vec<Mutex<Option<Result<T>>>> = wanted.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(place) = gate.enter() {
                    let result = one(wanted[place.index], &progress.hidden());
                    if result.is_err() {
                        gate.close();
                    }
                    *results[place.index].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
                    progress.advance(estimates[place.index]);
                }
            });
        }
    });
    // States are taken in order: what was not read comes after what failed.
    let mut made = Vec::with_capacity(wanted.len());
    for result in results {
        match result.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(result) => made.push(result?),
            None => return Err(Error::Cancelled),
        }
    }
    Ok(made)
}

/// How many of some states can ever be there at once.
fn at_once(estimates: &[u64], cores: usize, budget: u64) -> usize {
    let mut smallest = estimates.to_vec();
    smallest.sort_unstable();
    let mut sum = 0u64;
    let fit = smallest.iter().take_while(|&&bytes| {
        sum = sum.saturating_add(bytes);
        sum <= budget
    });
    fit.count().clamp(1, cores)
}

/// Lets states be read in order, as many as fit.
struct DumpGate<'a> {
    state: Mutex<GateState>,
    freed: Condvar,
    estimates: &'a [u64],
    budget: u64,
}

#[derive(Default)]
struct GateState {
    next: usize,
    running: usize,
    bytes: u64,
    closed: bool,
}

/// A state that may be read; its place is given back when dropped, in any outcome.
struct GatePlace<'g, 'a> {
    gate: &'g DumpGate<'a>,
    /// Index into the wanted states.
    index: usize,
}

impl<'a> DumpGate<'a> {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits until the next state fits; `None` when there is none.
    fn enter(&self) -> Option<GatePlace<'_, 'a>> {
        let mut state = self.lock();
        loop {
            let index = state.next;
            let bytes = *self.estimates.get(index).filter(|_| !state.closed)?;
            // One alone is read whatever it takes.
            if state.running == 0 || state.bytes.saturating_add(bytes) <= self.budget {
                state.next += 1;
                state.running += 1;
                state.bytes = state.bytes.saturating_add(bytes);
                return Some(GatePlace { gate: self, index });
            }
            state = self.freed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
    }

    /// Lets nothing further in.
    fn close(&self) {
        self.lock().closed = true;
        self.freed.notify_all();
    }
}

impl Drop for GatePlace<'_, '_> {
    fn drop(&mut self) {
        let mut state = self.gate.lock();
        state.running -= 1;
        state.bytes -= self.gate.estimates[self.index].min(state.bytes);
        if std::thread::panicking() {
            state.closed = true;
        }
        drop(state);
        self.gate.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::DumpStamp;
    use crate::series::{DumpFacts, DumpFiles, SnapshotInfo};
    use memory_city_heap::HeapBuilder;
    use memory_city_heap::error::Warning;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

    /// States that take a while to read, with a count of those in memory.
    struct Slow {
        points: Vec<SnapshotInfo>,
        estimates: Vec<u64>,
        fails: Vec<bool>,
        running: AtomicUsize,
        bytes: AtomicU64,
        most: AtomicU64,
        most_running: AtomicUsize,
    }

    impl Slow {
        fn new(estimates: &[u64], fails: &[bool]) -> Slow {
            let point = |i: usize| SnapshotInfo { label: i.to_string(), millis: 0, path: "x".into(), gc: None };
            Slow {
                points: (0..estimates.len()).map(point).collect(),
                estimates: estimates.to_vec(),
                fails: fails.to_vec(),
                running: AtomicUsize::new(0),
                bytes: AtomicU64::new(0),
                most: AtomicU64::new(0),
                most_running: AtomicUsize::new(0),
            }
        }

        /// One after the other and at once, with so much memory.
        fn read(&self, wanted: &[usize], budget: u64) -> Result<Vec<usize>> {
            each_state(self, wanted, MemoryNeed::Graph, budget, &Progress::new(), |index, _, _| {
                let bytes = self.bytes.fetch_add(self.estimates[index], SeqCst) + self.estimates[index];
                self.most.fetch_max(bytes, SeqCst);
                self.most_running.fetch_max(self.running.fetch_add(1, SeqCst) + 1, SeqCst);
                std::thread::sleep(std::time::Duration::from_micros(200 * (index as u64 % 3)));
                self.running.fetch_sub(1, SeqCst);
                self.bytes.fetch_sub(self.estimates[index], SeqCst);
                match self.fails[index] {
                    true => Err(Error::Unusable { what: index.to_string(), remedy: String::new() }),
                    false => Ok(10 * index),
                }
            })
        }
    }

    impl HeapSeries for Slow {
        fn profile(&self) -> &'static memory_city_heap::Profile {
            &memory_city_heap::Profile::PLAIN
        }

        fn points(&self) -> &[SnapshotInfo] {
            &self.points
        }
        fn load(&self, _: usize, _: &Progress) -> Result<Arc<HeapState>> {
            Ok(Arc::new(HeapBuilder::new().finish()))
        }
        fn warnings(&self) -> Vec<Warning> {
            Vec::new()
        }
        fn dumps(&self) -> Option<&dyn DumpFiles> {
            Some(self)
        }
    }

    impl DumpFiles for Slow {
        fn facts(&self, _: usize) -> Option<DumpFacts> {
            None
        }
        fn recall(&self, _: usize, _: DumpFacts) {}
        fn stamp(&self, _: usize) -> Option<DumpStamp> {
            None
        }
        fn estimate(&self, index: usize, _: MemoryNeed) -> Option<u64> {
            Some(self.estimates[index])
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn results_are_in_order_and_memory_lasts(
            states in prop::collection::vec((1u64..100, prop::bool::weighted(0.05)), 1..12),
            budget in 1u64..250,
        ) {
            let (estimates, fails): (Vec<u64>, Vec<bool>) = states.into_iter().unzip();
            let slow = Slow::new(&estimates, &fails);
            let wanted: Vec<usize> = (0..estimates.len()).rev().collect();
            let found = slow.read(&wanted, budget).map_err(|error| error.to_string());
            let expected = match wanted.iter().find(|&&i| fails[i]) {
                Some(first) => Err(format!("{first}. ")),
                None => Ok(wanted.iter().map(|i| 10 * i).collect()),
            };
            prop_assert_eq!(found, expected);
            let largest = estimates.iter().copied().max().unwrap_or(0);
            prop_assert!(slow.most.load(SeqCst) <= budget.max(largest));
            if largest > budget && estimates.iter().all(|&bytes| 2 * bytes > budget) {
                prop_assert_eq!(slow.most_running.load(SeqCst), 1);
            }
        }
    }

    /// A bar that begins again with each file tells nothing: one after the other and at once, it only goes on.
    #[test]
    fn progress_goes_on_from_state_to_state() {
        let slow = Slow::new(&[5; 6], &[false; 6]);
        for budget in [6, 1000] {
            let progress = Progress::new();
            let seen = Mutex::new(Vec::new());
            let look = || {
                let mut seen = seen.lock().expect("no panic");
                let now = progress.snapshot();
                if now.total > 0 {
                    seen.push(now.done as f64 / now.total as f64);
                }
            };
            let result = each_state(&slow, &[0, 1, 2, 3, 4, 5], MemoryNeed::Graph, budget, &progress, |_, _, own| {
                for stage in ["Reading", "Linking"] {
                    own.begin(stage, 4);
                    for _ in 0..4 {
                        look();
                        own.advance(1);
                    }
                    look();
                }
                Ok(())
            });
            assert_eq!(result.map(|all| all.len()).ok(), Some(6));
            let seen = seen.into_inner().expect("no panic");
            assert!(seen.len() > 40 && seen.is_sorted(), "{budget}: {seen:?}");
            assert!(seen[seen.len() - 1] > 0.5, "{budget}: {seen:?}");
        }
    }

    #[test]
    fn a_panic_ends_the_others_and_is_told() {
        let slow = Slow::new(&[1; 8], &[false; 8]);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            each_state(&slow, &[0, 1, 2, 3, 4, 5, 6, 7], MemoryNeed::Graph, 2, &Progress::new(), |index, _, _| {
                assert_ne!(index, 3, "as it must");
                Ok(())
            })
        }));
        assert!(panicked.is_err());
    }

    /// The only thread of a pool does not wait for itself.
    #[test]
    fn within_a_pool_states_are_read_one_after_the_other() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let slow = Slow::new(&[1; 8], &[false; 8]);
        let found = pool.install(|| slow.read(&[4, 2], 100));
        assert_eq!(found.expect("read"), [40, 20]);
        assert_eq!(slow.most_running.load(SeqCst), 1);
    }

    #[test]
    fn who_cancels_is_heard() {
        let (slow, progress) = (Slow::new(&[1; 8], &[false; 8]), Progress::new());
        let result = each_state(&slow, &[0, 1, 2, 3, 4, 5, 6, 7], MemoryNeed::Graph, 100, &progress, |index, _, _| {
            if index == 1 {
                progress.cancel();
            }
            // Another thread could do all the others before.
            while index > 1 && progress.check().is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Ok(index)
        });
        assert!(matches!(result, Err(Error::Cancelled)));
    }
}
