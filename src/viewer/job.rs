//! A job on another thread, watched from the frame: progress, cancel, and a result that is polled for.
//!
//! A job that panics ends in `Err`, never in a frozen window.

use memory_city_heap::progress::{Progress, Snapshot};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::Duration;
use thread_priority::{ThreadPriority, ThreadPriorityValue, set_current_thread_priority};

/// Priority of work behind frames, of 0 to 99: a nice value of 9 on systems that have these. Threads usually have 49.
const BEHIND: u8 = 25;

/// How many frames were drawn, and who waits for the next.
static DRAWN: (Mutex<u64>, Condvar) = (Mutex::new(0), Condvar::new());
/// Longest wait of work behind frames for the frame that asked for it: there may be none.
const FRAME_AT_MOST: Duration = Duration::from_millis(50);

/// Says that a frame was drawn.
pub fn frame_was_drawn() {
    *DRAWN.0.lock().unwrap_or_else(|e| e.into_inner()) += 1;
    DRAWN.1.notify_all();
}

fn frames_drawn() -> u64 {
    *DRAWN.0.lock().unwrap_or_else(|e| e.into_inner())
}

/// Waits until more frames were drawn than these.
fn wait_for_frame_after(drawn: u64) {
    let frames = DRAWN.0.lock().unwrap_or_else(|e| e.into_inner());
    let _ = DRAWN.1.wait_timeout_while(frames, FRAME_AT_MOST, |frames| *frames <= drawn);
}

/// Called whenever one ends, on its thread.
static WHEN_ONE_ENDS: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Sets the function that tells the window of each job that ends: while it only waits it draws few frames. Works for the first window of
/// a process.
pub fn when_one_ends(tell: impl Fn() + Send + Sync + 'static) {
    let _ = WHEN_ONE_ENDS.set(Box::new(tell));
}

/// Reports the end when it is dropped, also by a panic.
struct TellsOfEnd;

impl Drop for TellsOfEnd {
    fn drop(&mut self) {
        if let Some(tell) = WHEN_ONE_ENDS.get() {
            tell();
        }
    }
}

/// Gives the calling thread a tenth of a drawing thread's share. If the system refuses, it competes with frames.
fn go_behind() {
    let lower = ThreadPriorityValue::try_from(BEHIND).map(ThreadPriority::Crossplatform);
    if let Some(refused) = lower.ok().and_then(|lower| set_current_thread_priority(lower).err()) {
        tracing::debug!("background work keeps its priority: {refused:?}");
    }
}

/// A running piece of work.
pub struct Job<T> {
    progress: Progress,
    result: Mutex<Receiver<T>>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts `work` on a thread of its own.
    pub fn start(work: impl FnOnce(&Progress) -> T + Send + 'static) -> Self {
        let progress = Progress::new();
        let (sender, receiver) = channel();
        let shared = progress.clone();
        std::thread::spawn(move || {
            // Dropped after the sender: who looks then finds the result, or that there is none.
            let _tells = TellsOfEnd;
            let sender = sender;
            // The receiver may be gone: then nobody wants the result any more.
            let _ = sender.send(work(&shared));
        });
        Job { progress, result: Mutex::new(receiver) }
    }

    /// The same for work while people go on: if frames and the work want the same core, frames come first. This includes the threads that
    /// the work is divided among: they are its own, not those of the frame.
    ///
    /// Not for work that starts other programs: they would inherit its priority.
    pub fn behind_frames(work: impl FnOnce(&Progress) -> T + Send + 'static) -> Self {
        let drawn = frames_drawn();
        Job::start(move |progress| {
            go_behind();
            // The frame in which somebody asked for it shows that first.
            wait_for_frame_after(drawn);
            match rayon::ThreadPoolBuilder::new().start_handler(|_| go_behind()).build() {
                Ok(own) => own.install(|| work(progress)),
                Err(refused) => {
                    tracing::debug!("background work has no threads of its own: {refused}");
                    work(progress)
                }
            }
        })
    }

    /// The result, once it is ready; `Err` when the work panicked.
    pub fn poll(&self) -> Option<Result<T, String>> {
        let receiver = self.result.lock().unwrap_or_else(|e| e.into_inner());
        match receiver.try_recv() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err("an internal error ended the work (details are in the log). Please report it with the input"
                    .to_owned()))
            }
        }
    }

    /// How far it is.
    pub fn snapshot(&self) -> Snapshot {
        self.progress.snapshot()
    }

    /// Asks it to stop.
    pub fn cancel(&self) {
        self.progress.cancel();
    }
}

impl<T> Drop for Job<T> {
    /// Stops abandoned work at its next check.
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T: Send + 'static>(job: &Job<T>) -> Result<T, String> {
        loop {
            if let Some(result) = job.poll() {
                return result;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_job_delivers_its_result() {
        assert_eq!(wait(&Job::start(|_| 42)), Ok(42));
    }

    /// The nice value of the thread that asks.
    #[cfg(target_os = "linux")]
    fn niceness() -> i64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("what the system says of this thread");
        let behind_the_name = stat.rsplit(')').next().expect("a name in parentheses");
        behind_the_name.split_whitespace().nth(16).and_then(|nice| nice.parse().ok()).expect("the 19th field")
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn frames_come_before_what_is_made_behind_them() {
        let here = niceness();
        assert_eq!(wait(&Job::start(|_| niceness())), Ok(here));
        let behind = wait(&Job::behind_frames(|_| niceness())).expect("it ends");
        assert!(behind >= 9, "a nice value of {behind} beside {here}");
        // And what it is divided among, of which none is what frames have their work divided among.
        let all = wait(&Job::behind_frames(|_| rayon::broadcast(|_| niceness()))).expect("it ends");
        assert!(!all.is_empty() && all.iter().all(|nice| *nice >= 9), "nice values of {all:?} beside {here}");
        assert!(rayon::broadcast(|_| niceness()).into_iter().all(|nice| nice == here), "frames come first");
    }

    #[test]
    fn a_panic_is_a_result() {
        let job = Job::<u32>::start(|_| panic!("on purpose"));
        assert!(wait(&job).is_err());
    }

    #[test]
    fn cancelling_reaches_the_work() {
        let job = Job::start(|progress| {
            while progress.check().is_ok() {
                std::thread::yield_now();
            }
            "stopped"
        });
        job.cancel();
        assert_eq!(wait(&job), Ok("stopped"));
    }
}
