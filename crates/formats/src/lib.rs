//! Readers of input formats: from bytes to heap states. Each format is a module behind one trait.
//!
//! [`open`] takes files and folders, recognises them by their first bytes, and returns a [`HeapSeries`]. Dumps ([`hprof`]) are snapshots.
//! Traces ([`anttracks`]) are decoded into [`event`]s, from which [`replay`] reconstructs the heap at every garbage collection. Nothing
//! here groups or measures.
//!
//! # Example
//! ```
//! use memory_city_heap::progress::Progress;
//! use memory_city_testing::hprof_writer::Dump;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two nodes of a list, the second in the field of the first, which is a GC root.
//! let (object, node) = (2, 0x1000);
//! let mut dump = Dump::new(2, 8, 1_700_000_000_000);
//! dump.load_class(1, node, "com/acme/Node").string(0x20, "next").class(node, 0, 0, &[], &[(0x20, object)]);
//! dump.instance(0x2000, 0, node, &[(object, 0x2010)]).instance(0x2010, 0, node, &[(object, 0)]);
//! dump.root(0x05, 0x2000, &[]);
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("first.hprof"), dump.finish())?;
//!
//! let series = memory_city_formats::open(&[folder.path().to_owned()], &Progress::new())?;
//! assert_eq!(series.points()[0].label, "first.hprof");
//! let heap = series.load(0, &Progress::new())?;
//! let [first, second] = [0x2000, 0x2010].map(|address| heap.object_at(address).unwrap());
//! assert_eq!(heap.references(first), [second]);
//! assert!(heap.is_reachable(second));
//! # Ok(())
//! # }
//! ```
//!
//! # Adding a format
//! A module with a function `format()` that gives its `registry::Format`, and its name in the list below. A format of
//! dumps reads a file into a heap state (`dumps::DumpFormat`); a format of traces is a [`event::Decoder`] and a
//! [`recorded::TraceSource`].

/// Declares the modules of the formats, and lists them in the order in which they inspect a file.
macro_rules! formats {
    ($($visible:vis $format:ident),+ $(,)?) => {
        $($visible mod $format;)+

        /// Every format, in the order they are asked.
        fn formats() -> Vec<Box<dyn registry::Format>> {
            vec![$($format::format()),+]
        }
    };
}

formats! {
    pub hprof,
    pub anttracks,
    pub wire,
}

mod answers;
mod budget;
pub mod counts;
mod dumps;
pub mod event;
mod foreign;
mod index;
mod jvm_profile;
mod lives;
mod opening;
mod read_ahead;
pub mod recorded;
mod recording;
mod registry;
pub mod replay;
pub mod sampled;
mod series;
pub mod spaces;
mod state_cache;
pub mod values;

pub use answers::{AnswerKey, DumpStamp};
pub use budget::{MemoryNeed, memory_budget, set_memory_budget, set_memory_limit};
pub use event::GcKind;
pub use foreign::refuse_foreign;
pub use jvm_profile::JVM;
pub use lives::{GcHistory, GcNoun, GcRecord, LifeEvent, LifeStep, Lives, Weighed};
pub use opening::{files_beside, holds_heaps, is_original, open, open_gradually};
pub use read_ahead::each_state;
pub use recording::{ChangeLog, Recording};
pub use series::{DumpFacts, DumpFiles, GcPoint, HeapSeries, PointNumber, SnapshotInfo};
