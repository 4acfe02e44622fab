//! Ctrl+C: the first one cancels the work that runs, which then removes what it has half written; the second one, or
//! one while nothing runs, ends the program at once. Both ways the exit code is 130.

use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What cancelled programs exit with: 128 and the number of the signal, as shells expect.
pub const CODE: u8 = 130;

static STATE: Mutex<InterruptState> = Mutex::new(InterruptState { asked: false, running: None });
static ASKED: Condvar = Condvar::new();

struct InterruptState {
    asked: bool,
    running: Option<Progress>,
}

fn state() -> MutexGuard<'static, InterruptState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens for Ctrl+C from now on.
pub fn listen() {
    let listening = ctrlc::set_handler(|| {
        let mut state = state();
        match &state.running {
            Some(work) if !state.asked => work.cancel(),
            _ => std::process::exit(i32::from(CODE)),
        }
        state.asked = true;
        ASKED.notify_all();
    });
    if let Err(error) = listening {
        tracing::warn!("Ctrl+C ends the program at once and may leave temporary files: {error}");
    }
}

/// Runs work that Ctrl+C cancels by its progress.
pub fn cancels<T>(progress: &Progress, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let running = Running::of(progress);
    progress.check()?;
    let result = work();
    drop(running);
    result
}

/// Waits so long, as work that Ctrl+C cancels.
///
/// # Errors
/// [`Error::Cancelled`] after Ctrl+C.
pub fn wait(time: Duration) -> Result<()> {
    let _running = Running::of(&Progress::new());
    let waited = ASKED.wait_timeout_while(state(), time, |state| !state.asked);
    let asked = waited.unwrap_or_else(PoisonError::into_inner).0.asked;
    if asked { Err(Error::Cancelled) } else { Ok(()) }
}

/// Work that Ctrl+C cancels, until it is dropped.
struct Running;

impl Running {
    fn of(progress: &Progress) -> Running {
        let mut state = state();
        if state.asked {
            progress.cancel();
        }
        state.running = Some(progress.clone());
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        state().running = None;
    }
}
