//! From bytes to heap states: one folder per format, behind one trait.
//!
//! [`open`] takes files and folders, finds out what they are by their content, and gives a [`HeapSeries`]. Dumps
//! ([`hprof`]) are snapshots. Traces ([`anttracks`]) are decoded into [`event`]s, from which [`replay`] reconstructs the
//! heap at every garbage collection. Nothing here groups or measures.

pub mod anttracks;
pub mod event;
pub mod hprof;
pub mod index;
mod kept;
pub mod recorded;
pub mod recording;
pub mod replay;
mod series;
pub mod spaces;

pub use event::GcKind;
pub use recording::Recording;
pub use series::{GcPoint, HeapSeries, SnapshotInfo, holds_heaps, open, open_gradually};
