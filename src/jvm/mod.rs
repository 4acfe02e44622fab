//! The JVMs of this machine: a list of those that run, the connection to one, and the dumps that a recorder in one leaves. Linux only:
//! other systems do all of it otherwise.

pub mod attach;
mod attach_socket;
pub mod leftovers;
pub mod list;
pub mod namespaces;
pub mod process;
pub mod walks;
