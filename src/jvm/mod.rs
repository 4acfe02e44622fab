//! JVMs of this machine: which run, and how to talk to one that does. Linux only: other systems do both otherwise.

pub mod attach;
pub mod list;
