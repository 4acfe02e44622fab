//! Something that a job finds out, from the question to the answer: nothing, on its way, there, or why not.

use crate::viewer::job::Job;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;

/// An answer, or how far it is.
pub enum Asked<T> {
    /// Nobody has asked.
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

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Asked::Not
    }
}

impl<T: Send + 'static> Asked<T> {
    /// Asks, where nobody has.
    pub fn ask(&mut self, work: impl FnOnce(&Progress) -> Result<T> + Send + 'static) {
        if matches!(self, Asked::Not) {
            *self = Asked::Running(Job::start(work));
        }
    }

    /// Takes the answer when it has come. Returns whether a job is running.
    pub fn poll(&mut self) -> bool {
        let Asked::Running(job) = self else { return false };
        let Some(outcome) = job.poll() else { return true };
        *self = match outcome {
            Ok(Ok(found)) => Asked::There(found),
            Ok(Err(Error::Cancelled)) => Asked::Cancelled,
            Ok(Err(error)) => Asked::Failed(error.to_string()),
            Err(panic) => Asked::Failed(panic),
        };
        false
    }

    /// The answer.
    pub fn get(&self) -> Option<&T> {
        match self {
            Asked::There(found) => Some(found),
            _ => None,
        }
    }

    /// Ends the job.
    pub fn cancel(&mut self) {
        if let Asked::Running(job) = self {
            job.cancel();
        }
    }
}
