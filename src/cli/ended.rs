//! Handlers of the signals by which the system ends the program: they print the reason before.
//!
//! - SIGBUS: a mapped file was truncated while it was read.
//! - SIGABRT, where the addresses of the process are limited (`ulimit -v`): there was no memory for something small, for which nobody looks
//!   whether there is room.

/// Message on stderr for SIGBUS.
#[cfg(target_os = "linux")]
const TRUNCATED: &[u8] = b"error: a file was truncated while it was read, or could not be read any more: the system ends the program. Copy the file to a disk of your own, and open the copy\n";

/// Message on stderr for SIGABRT; Rust has said before it how many bytes were asked for.
#[cfg(target_os = "linux")]
const NO_MEMORY: &[u8] = b"error: the addresses that this process may use (ulimit -v) are used up. Raise that limit, or open fewer or smaller files\n";

/// Installs the handlers.
#[cfg(target_os = "linux")]
pub(super) fn say_why() {
    // Ends the program as if nothing had been done about the signal.
    on(libc::SIGBUS, TRUNCATED, || drop(signal_hook::low_level::emulate_default_handler(libc::SIGBUS)));
    if memory_city_heap::memory::has_address_limit() {
        on(libc::SIGABRT, NO_MEMORY, || signal_hook::low_level::exit(1));
    }
}

/// Prints a message at a signal, and then does what `end` does: something that is allowed in a signal handler.
#[cfg(target_os = "linux")]
fn on(signal: libc::c_int, why: &'static [u8], end: fn()) {
    let action = move || {
        // SAFETY: the bytes are a constant, as long as is said, and `write` may be called in a signal handler.
        unsafe { libc::write(libc::STDERR_FILENO, why.as_ptr().cast(), why.len()) };
        end();
    };
    // SAFETY: the action calls `write` and what the library says may be called in a signal handler; it allocates nothing,
    // takes no lock and does not panic.
    let registered = unsafe { signal_hook::low_level::register(signal, action) };
    if let Err(error) = registered {
        tracing::debug!("nothing is said at signal {signal}: {error}");
    }
}

/// Windows does not truncate mapped files; elsewhere the shell says `Bus error`.
#[cfg(not(target_os = "linux"))]
pub(super) fn say_why() {}
