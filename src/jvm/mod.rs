//! JVMs of this machine: which run, how to talk to one that does, and what the recorder in one leaves to be taken. Linux only: other
//! systems do all of it otherwise.

pub mod attach;
pub mod leftovers;
pub mod list;
pub mod process;
pub mod seen;
pub mod walks;
