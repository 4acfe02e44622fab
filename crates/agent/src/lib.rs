//! The recorder, a library that is loaded into a Java program. It writes a trace (`memory-city-wire`) of sampled allocations with stacks,
//! deaths, collections, walks and class histograms. One library works in any HotSpot VM from Java 11 on, by `-agentpath`,
//! `JAVA_TOOL_OPTIONS`, or attach.
//!
//! It is a guest in other people's programs. So its memory is bounded, it makes no call where JVMTI forbids it, and no panic leaves a
//! callback. Any failure ends the recording with one log line while the program goes on.
//!
//! [`callbacks`] has the entry points of the VM, [`sampling`] the work of a program's thread for a sample, [`worker`] the one thread of the
//! recorder, which does the rest. `jvmti` and `vm` are the VM's tables; nothing else is unsafe. The commands that start recordings use the
//! same crate for the parts that both sides share: [`AgentOptions`], the hidden files of a trace's folder ([`folder`]), the VM's
//! performance data ([`perfdata`]).

#![cfg(target_os = "linux")]

mod budget;
mod callbacks;
mod collections;
mod counters;
mod earlier_traces;
mod event;
mod fault;
pub mod folder;
mod histogram;
mod identity;
mod jvmti;
mod live_samples;
mod log;
mod names;
mod options;
pub mod perfdata;
mod place;
mod recording;
mod sample_count;
mod sampling;
mod sink;
mod sites;
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
pub use sample_count::TakenSamples;
pub use sampling::FRAMES;

/// The name of the library's file.
pub const LIBRARY: &str = "libmemory_city_agent.so";
