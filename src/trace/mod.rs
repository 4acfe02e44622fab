//! From bytes to heap states: one folder per format, behind one trait.
//!
//! [`open`] takes files and folders, finds out what they are by their content, and gives a [`HeapSeries`]. Nothing
//! here groups or measures.

pub mod anttracks;
pub mod event;
pub mod hprof;
pub mod input;
pub mod replay;
mod series;
pub mod spaces;

pub use series::{HeapSeries, SnapshotInfo, open};
