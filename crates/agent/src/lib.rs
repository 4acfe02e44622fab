//! The recorder that is loaded into a Java program: sampled allocations with stacks, deaths, collections, walks and class histograms,
//! written as a trace (`memory-city-wire`). One library for any HotSpot VM from Java 11 on, with `-agentpath`, `JAVA_TOOL_OPTIONS`, or attach.
//!
//! It is a guest in somebody's program. So: bounded memory, no call where JVMTI forbids it, no panic that leaves a callback,
//! and whatever goes wrong ends the recording with one log line while the program goes on.
//!
//! [`callbacks`] is what the VM calls, [`sampling`] what the program's threads do for a sample, [`worker`] the one thread of ours
//! that does all the rest. `jvmti` and `vm` are the VM's tables; nothing else is unsafe. The commands that start recordings
//! use the same crate for what both sides must agree on: [`AgentOptions`], the hidden files of a trace's folder ([`folder`]), the
//! VM's performance data ([`perfdata`]).

#![cfg(target_os = "linux")]

mod budget;
mod callbacks;
mod collections;
mod counters;
mod earlier;
mod event;
mod fault;
pub mod folder;
mod histogram;
mod identity;
mod jvmti;
mod live;
mod names;
mod options;
pub mod perfdata;
mod place;
mod recording;
mod sampling;
mod sink;
mod sites;
mod taken;
mod threads;
mod units;
mod vm;
mod walk;
mod worker;

pub use callbacks::PROGRAM_ENDED;
pub use counters::{CLONES_AT_RISK, CLONES_UNKNOWN};
pub use histogram::{PART_OF_SHARE, histogram_rows};
pub use jvmti::{CAPABILITIES, EVENTS, FUNCTIONS, IDENTITY_CAPABILITIES};
pub use options::{
    AgentOptions, DEFAULT_BUDGET, DEFAULT_WALK_EVERY, DEFAULT_WALK_SHARE, DEFAULT_WALKS, SamplingMode, WALK_PAUSE,
};
pub use sampling::FRAMES;
pub use taken::TakenSamples;

/// The name of the library's file.
pub const LIBRARY: &str = "libmemory_city_agent.so";

/// One line for whoever runs the program. Where it cannot be written, nothing happens.
fn log(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "memory-city: {line}");
}
