//! Memory City: the heap of a garbage-collected program as a 3D city.
//!
//! The engine is a row of crates, each depending only on those to its left: heap, wire, formats, analysis, views, live (ARCHITECTURE.md
//! has the reasons). This package is the application on top of them. The command line is in the binary; the library has these parts:
//! [`config`] (kept settings), [`allocator`] (when memory goes back to the system), [`jvm`] (running JVMs), [`opening`] (messages about
//! opened files), [`compared`] (two runs or times as one city), [`saved_view`] (the part of a view file that needs no window), and with
//! the feature `viewer` the window. Only `viewer` knows Bevy.

pub mod allocator;
pub mod compared;
pub mod config;
#[cfg(target_os = "linux")]
pub mod jvm;
pub mod opening;
pub mod readers;
pub mod saved_view;
pub mod terminal;
#[cfg(feature = "viewer")]
pub mod viewer;
