//! The result of a job, from the question to the answer: not asked, on its way, there, or failed with a reason.

use crate::viewer::job::Job;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

/// An answer, or how far it is.
#[derive(Default)]
pub enum Awaited<T> {
    /// Nobody has asked.
    #[default]
    Not,
    /// A job is looking for it.
    Running(Job<Result<T>>),
    /// It is there.
    There(T),
    /// It could not be found, and why.
    Failed(String),
    /// Somebody ended the job.
    Cancelled,
}

impl<T: Send + 'static> Awaited<T> {
    /// Starts the work, unless it has been started.
    pub fn ask(&mut self, work: impl FnOnce(&Progress) -> Result<T> + Send + 'static) {
        if matches!(self, Awaited::Not) {
            *self = Awaited::Running(Job::behind_frames(work));
        }
    }

    /// Takes the answer when it has come. Returns whether a job is running.
    pub fn poll(&mut self) -> bool {
        let Awaited::Running(job) = self else { return false };
        let Some(outcome) = job.poll() else { return true };
        *self = match outcome {
            Ok(Ok(found)) => Awaited::There(found),
            Ok(Err(Error::Cancelled)) => Awaited::Cancelled,
            Ok(Err(error)) => Awaited::Failed(error.to_string()),
            Err(panic) => Awaited::Failed(panic),
        };
        false
    }

    /// The answer.
    pub fn get(&self) -> Option<&T> {
        match self {
            Awaited::There(found) => Some(found),
            _ => None,
        }
    }

    /// Ends the job.
    pub fn cancel(&mut self) {
        if let Awaited::Running(job) = self {
            job.cancel();
        }
    }
}
