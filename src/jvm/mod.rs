//! JVMs of this machine: which run, and how to talk to one that does. Linux only: other systems do both otherwise.

pub mod attach;
pub mod list;

/// The number of a process within the innermost container, by what the kernel says of its state.
fn inner_pid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|l| l.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}
