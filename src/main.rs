//! The command line: parses arguments, wires the library, reports errors, and does nothing else.
//!
//! Exit codes: 0 done, 1 the input or machine could not be used, 2 the command line is wrong, 130 cancelled, 143 by SIGTERM.

mod cli;

use memory_city_heap::unfinished;
use std::process::ExitCode;

/// However `main` ends, files that other threads are still writing are removed.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        unfinished::remove_all();
    }
}

fn main() -> ExitCode {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // Without a session Mesa's device selection layer asks for a Wayland display that cannot be there, and prints
        // an error for each time it asks. There is nothing to select then.
        // SAFETY: nothing else runs yet: this is the first statement of the only thread.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
    let _ending = Ending;
    cli::main()
}
