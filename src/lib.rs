//! Memory City: the heap of a garbage-collected program as a 3D city.
//!
//! The engine is a row of crates, each depending only on those to its left (ARCHITECTURE.md says why each line is where
//! it is): heap, wire, formats, analysis, views, live. This package is the application that stands on them: the command
//! line (in the binary), [`config`] (what is kept from run to run), [`allocator`] (when memory goes back to the system), [`jvm`]
//! (running JVMs), [`opening`] (what comes before a file is read), [`compared`] (two runs or times as one city), [`saved_view`]
//! (what a view file says that needs no window), and with the feature `viewer` the window. Nothing but `viewer` knows Bevy.

pub mod allocator;
pub mod compared;
pub mod config;
#[cfg(target_os = "linux")]
pub mod jvm;
pub mod opening;
pub mod saved_view;
#[cfg(feature = "viewer")]
pub mod viewer;
