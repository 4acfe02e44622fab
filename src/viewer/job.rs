//! Work on another thread, watched from the frame: progress, cancel, and a result that is polled for.
//!
//! A job that panics ends in `Err`, never in a frozen window.

use memory_city_heap::progress::{Progress, Snapshot};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

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
            // The receiver may be gone: then nobody wants the result any more.
            let _ = sender.send(work(&shared));
        });
        Job { progress, result: Mutex::new(receiver) }
    }

    /// The result, once it is there; `Err` when the work panicked.
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
    /// Work nobody waits for stops at its next check.
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
