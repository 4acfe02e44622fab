//! Sample buffers: one for each thread of the program, taken over by the writer now and then. A thread waits only for the writer, while it
//! exchanges two pointers.

use crate::chunk::ChunkKind;
use crate::rows::{LossReason, LossRow, SampleRow};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The buffers of all threads.
pub struct SampleBuffers {
    shared: Arc<SharedBuffers>,
}

struct SharedBuffers {
    /// The most samples in all buffers together.
    most: usize,
    /// The most of one thread.
    most_of_thread: usize,
    held: AtomicUsize,
    next_id: AtomicU64,
    threads: Mutex<Vec<Arc<Mutex<WaitingSamples>>>>,
}

/// The samples waiting in the buffer of a thread.
#[derive(Default)]
struct WaitingSamples {
    thread: u32,
    rows: Vec<SampleRow>,
    sequence: u64,
    lost: u64,
    lost_bytes: u64,
    closed: bool,
}

/// The samples that the writer took over.
#[derive(Debug, Default)]
pub struct Collected {
    /// Samples, thread by thread.
    pub samples: Vec<SampleRow>,
    /// Samples without room, by thread.
    pub losses: Vec<LossRow>,
}

/// The buffer of a thread. When it is dropped, its waiting samples are still written.
pub struct SampleBuffer {
    shared: Arc<SharedBuffers>,
    waiting: Arc<Mutex<WaitingSamples>>,
}

/// Nothing here panics while it holds a lock; if others do, the data is as good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SampleBuffers {
    /// Room for `most` samples in all and `most_of_thread` of each thread: about 100 bytes a sample, taken when it is needed.
    pub fn new(most: usize, most_of_thread: usize) -> SampleBuffers {
        let shared = SharedBuffers {
            most,
            most_of_thread,
            held: AtomicUsize::new(0),
            next_id: AtomicU64::new(0),
            threads: Mutex::default(),
        };
        SampleBuffers { shared: Arc::new(shared) }
    }

    /// A buffer for a thread, by its number in the table of threads.
    pub fn thread(&self, thread: u32) -> SampleBuffer {
        let waiting = Arc::new(Mutex::new(WaitingSamples { thread, ..WaitingSamples::default() }));
        lock(&self.shared.threads).push(Arc::clone(&waiting));
        SampleBuffer { shared: Arc::clone(&self.shared), waiting }
    }

    /// Takes over the waiting samples. The samples of a thread come in their order; those of others may be older.
    pub fn collect(&self, time: u64) -> Collected {
        let mut all = Collected::default();
        let buffers: Vec<Arc<Mutex<WaitingSamples>>> = lock(&self.shared.threads).clone();
        let mut any_closed = false;
        for buffer in buffers {
            // Only these few words are done while the thread may wait.
            let mut waiting = lock(&buffer);
            let rows = std::mem::take(&mut waiting.rows);
            let (thread, lost, lost_bytes) = (waiting.thread, waiting.lost, waiting.lost_bytes);
            (waiting.lost, waiting.lost_bytes) = (0, 0);
            any_closed |= waiting.closed;
            drop(waiting);
            self.shared.held.fetch_sub(rows.len(), Relaxed);
            all.samples.extend(rows);
            if lost > 0 {
                all.losses.push(LossRow {
                    time,
                    thread: Some(thread),
                    what: u32::from(ChunkKind::SAMPLES.0),
                    reason: LossReason::BufferFull,
                    count: lost,
                    bytes: Some(lost_bytes),
                });
            }
        }
        if any_closed {
            lock(&self.shared.threads).retain(|buffer| {
                let waiting = lock(buffer);
                !waiting.closed || !waiting.rows.is_empty() || waiting.lost > 0
            });
        }
        all
    }

    /// Samples that wait.
    pub fn held(&self) -> usize {
        self.shared.held.load(Relaxed)
    }
}

impl SampleBuffer {
    /// Adds a sample, and sets its number, thread and sequence. Returns the number, or none without room: then it only counts the sample as
    /// lost.
    pub fn push(&self, sample: SampleRow) -> Option<u64> {
        let mut waiting = lock(&self.waiting);
        let sequence = waiting.sequence;
        waiting.sequence = sequence.wrapping_add(1);
        let has_room = waiting.rows.len() < self.shared.most_of_thread
            && self
                .shared
                .held
                .fetch_update(Relaxed, Relaxed, |held| (held < self.shared.most).then_some(held + 1))
                .is_ok();
        if !has_room {
            waiting.lost = waiting.lost.saturating_add(1);
            let bytes = u128::from(sample.size) * u128::from(sample.weight) / u128::from(crate::rows::WEIGHT_ONE);
            waiting.lost_bytes = waiting.lost_bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
            return None;
        }
        let id = self.shared.next_id.fetch_add(1, Relaxed);
        let thread = waiting.thread;
        waiting.rows.push(SampleRow { id, thread, sequence, ..sample });
        Some(id)
    }
}

impl Drop for SampleBuffer {
    fn drop(&mut self) {
        lock(&self.waiting).closed = true;
    }
}
