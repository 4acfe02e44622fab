//! JVMs of this machine: which run, how to talk to one that does, and what the recorder in one leaves to be taken. Linux only: other
//! systems do all of it otherwise.

pub mod attach;
pub mod leftovers;
pub mod list;
pub mod walks;

/// The number of a process within the innermost container, by what the kernel says of its state.
fn inner_pid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|l| l.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}
