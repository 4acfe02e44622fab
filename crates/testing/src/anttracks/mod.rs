//! A generator of AntTracks memory traces whose contents are known, for tests and benchmarks of code that reads them.
//!
//! [`generate`] simulates a program and its garbage collector as a [`Spec`] describes them. It writes the trace of the
//! run and returns the symbols file that belongs to it, together with what a correct reader has to know at the end of
//! every collection ([`GcAnswer`]). The same [`Spec`] always gives the same bytes. The simulation starts in
//! `simulation`, which also explains how it is divided.
//!
//! Below that are the writers of the file format: events ([`Buffer`]), the trace file they go into ([`TraceFile`]), the
//! symbols file ([`Symbols`]) and the compression of buffers ([`compress`]). They can be used alone to write traces by
//! hand, including events that the simulation never needs.

mod answers;
mod collector;
mod full;
mod g1;
mod heap;
mod lzw;
mod minor;
mod mutator;
mod parallel;
mod pointers;
mod program;
mod random;
mod simulation;
mod spec;
mod symbols;
mod threads;
mod types;
mod writer;

pub use answers::{GcAnswer, Generated, ObjectAnswer};
pub use lzw::compress;
pub use simulation::generate;
pub use spec::{Collector, Spec};
pub use symbols::{Field, Symbols};
pub use writer::{Allocation, Allocator, Buffer, EDEN, HEADER_WORDS, OLD, Pointers, SURVIVOR, TraceFile};
