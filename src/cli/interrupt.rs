//! Handling of Ctrl+C, SIGTERM and SIGHUP (a terminal that closes). The first signal cancels the running work, which removes its
//! half-written files. A second one, or one while nothing runs, ends the program at once. Either way no half-written file is left behind,
//! and the exit code is [`CODE`], or 143 after SIGTERM, 129 after SIGHUP.

use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished;
use std::process::ExitCode;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Exit code after Ctrl+C: 128 and the number of the signal, as shells expect.
const CODE: u8 = 130;

static STATE: Mutex<InterruptState> = Mutex::new(InterruptState { asked: None, since: None, running: None });
static ASKED: Condvar = Condvar::new();

struct InterruptState {
    /// The exit code that was asked for.
    asked: Option<u8>,
    /// Since when.
    since: Option<Instant>,
    running: Option<Progress>,
}

/// Two signals within this time count as one: `timeout` and others signal a process and its group.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

impl InterruptState {
    /// Whether a signal is the one that was heard just now.
    fn is_again(&self, code: u8) -> bool {
        self.asked == Some(code) && self.since.is_some_and(|since| since.elapsed() < ONE_SIGNAL)
    }
}

fn state() -> MutexGuard<'static, InterruptState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this program was started to live on when the terminal closes, as by `nohup`.
#[cfg(target_os = "linux")]
fn ignores_hangup() -> bool {
    memory_city::jvm::process::ignores(std::process::id(), signal_hook::consts::SIGHUP)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn ignores_hangup() -> bool {
    true
}

/// Listens for Ctrl+C and SIGTERM, and for SIGHUP unless it is ignored, from now on.
pub fn listen() {
    if let Err(error) = ctrlc::set_handler(|| end(CODE)) {
        tracing::warn!("Ctrl+C ends the program at once and may leave temporary files: {error}");
    }
    #[cfg(unix)]
    let hangup = (!ignores_hangup()).then_some(signal_hook::consts::SIGHUP);
    #[cfg(unix)]
    match signal_hook::iterator::Signals::new([signal_hook::consts::SIGTERM].into_iter().chain(hangup)) {
        Ok(mut signals) => {
            let heard = move || signals.forever().for_each(|signal| end(128 + signal as u8));
            std::thread::spawn(heard);
        }
        Err(error) => tracing::warn!("SIGTERM ends the program at once and may leave temporary files: {error}"),
    }
}

/// Ends the running work, or the program.
fn end(code: u8) {
    let mut state = state();
    if state.is_again(code) {
        return;
    }
    match &state.running {
        Some(work) if state.asked.is_none() => work.cancel(),
        _ => {
            // Threads that still write are not waited for.
            unfinished::remove_all();
            exit(i32::from(state.asked.unwrap_or(code)));
        }
    }
    (state.asked, state.since) = (Some(code), Some(Instant::now()));
    ASKED.notify_all();
}

/// Ends the program at once. Exit handlers do not run: those of graphics drivers wait for threads that still draw, perhaps for ever.
fn exit(code: i32) -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(code);
    #[cfg(not(unix))]
    std::process::exit(code);
}

/// The exit code of cancelled work.
pub fn code() -> ExitCode {
    ExitCode::from(state().asked.unwrap_or(CODE))
}

/// Runs work that Ctrl+C cancels by its progress.
pub fn cancels<T>(progress: &Progress, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let running = Running::of(progress);
    tracing::debug!("working: Ctrl+C cancels");
    progress.check()?;
    let result = work();
    drop(running);
    result
}

#[cfg(target_os = "linux")]
/// Like [`cancels`], for work that ends in order by itself when it is asked to, also when it was asked before.
pub fn cancels_as_asked<T>(progress: &Progress, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let _running = Running::of(progress);
    work()
}

#[cfg(target_os = "linux")]
/// Keeps SIGQUIT (Ctrl+\) from ending this program: it is meant for a Java program beside it, which prints its threads. The signal is
/// caught, not ignored: child processes inherit an ignored signal, but not a caught one, and so react to it as usual.
pub fn outlive_quit() {
    let quit = signal_hook::consts::SIGQUIT;
    if !memory_city::jvm::process::ignores(std::process::id(), quit)
        && let Err(error) = signal_hook::flag::register(quit, Default::default())
    {
        tracing::warn!("Ctrl+\\ ends the recording: {error}");
    }
}

#[cfg(target_os = "linux")]
/// The exit code that Ctrl+C or SIGTERM has asked for.
pub fn asked() -> Option<u8> {
    state().asked
}

/// Waits so long, as work that Ctrl+C cancels.
///
/// # Errors
/// [`Error::Cancelled`] after Ctrl+C.
pub fn wait(time: Duration) -> Result<()> {
    let _running = Running::of(&Progress::new());
    let waited = ASKED.wait_timeout_while(state(), time, |state| state.asked.is_none());
    let asked = waited.unwrap_or_else(PoisonError::into_inner).0.asked.is_some();
    if asked { Err(Error::Cancelled) } else { Ok(()) }
}

/// Work that Ctrl+C cancels, until it is dropped.
struct Running;

impl Running {
    fn of(progress: &Progress) -> Running {
        let mut state = state();
        if state.asked.is_some() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_heard_twice_at_once_is_one() {
        let now = Instant::now();
        let before = now.checked_sub(ONE_SIGNAL * 2);
        for (asked, since, code, expected) in [
            (None, None, 130, false),
            (Some(130), Some(now), 130, true),
            (Some(130), Some(now), 143, false),
            (Some(130), before, 130, false),
        ] {
            let state = InterruptState { asked, since, running: None };
            assert_eq!(state.is_again(code), expected, "{asked:?} {code}");
        }
    }
}
