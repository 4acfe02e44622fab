//! Reader and writer of the recorder's trace format. `docs/trace-format.md` describes the format itself, in enough detail to read and write
//! it without this crate.
//!
//! A recorder runs inside other people's programs, so it must link little: this crate may have fewer than ten dependencies, transitive ones
//! included (`tests/workspace.rs` of the application counts them), and none of ours. It knows bytes and columns of numbers, but no heap,
//! group or picture. The writer has bounded memory and does not panic; the reader accepts data from anybody.
//!
//! # Example
//! ```
//! use memory_city_wire::{PartReader, Piece, SampleBuffers, SampleRow, TraceOptions, TraceTables, TraceWriter, weight};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("run.mcity");
//! let mut writer = TraceWriter::create_file(&path, TraceOptions::default())?;
//!
//! // Names first, then what uses them.
//! let mut tables = TraceTables::new(100_000);
//! let main = tables.method("com.acme.Main", "run", Some("()"), Some("Main.java"), || vec![0, 12, 7, 13]);
//! let stack = main.and_then(|method| tables.frame(None, method, Some(9)));
//! tables.write_new(&mut writer)?;
//!
//! // A thread of the program hands its samples over; the writer takes them when it likes.
//! let buffers = SampleBuffers::new(10_000, 1_000);
//! let thread = buffers.thread(0);
//! thread.push(SampleRow { time: writer.now(), size: 48, interval: 512 << 10, weight: weight(48, 512 << 10), stack, ..SampleRow::default() });
//! let collected = buffers.collect(writer.now());
//! writer.write(&collected.samples)?;
//! writer.write(&collected.losses)?;
//! writer.finish("the program ended")?;
//!
//! let bytes = std::fs::read(&path)?;
//! let mut samples = Vec::new();
//! for piece in PartReader::new(&path, &bytes)? {
//!     if let Piece::Chunk(chunk) = piece && chunk.kind() == memory_city_wire::ChunkKind::SAMPLES {
//!         samples.extend(chunk.rows::<SampleRow>()?.rows);
//!     }
//! }
//! assert_eq!((samples[0].size, samples[0].stack), (48, stack));
//! # Ok(())
//! # }
//! ```

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)
)]

mod bound;
mod buffers;
mod chunk;
mod columns;
mod error;
#[cfg(unix)]
mod held_folder;
mod index;
mod modified_utf8;
mod names;
mod objects;
mod retire;
mod rows;
#[cfg(unix)]
mod side_files;
mod spool;
#[cfg(test)]
mod tests;
mod varint;
mod walk;
mod writer;

pub use buffers::{Collected, SampleBuffer, SampleBuffers};
pub use chunk::{
    CHUNK_HEADER, Chunk, ChunkKind, FILE_HEADER, MAGIC, MOST_PLAIN, PartHeader, PartReader, Piece, VERSION, is_wire,
};
pub use columns::{LONGEST_TEXT, MOST_ROWS};
pub use error::{WireError, WireResult};
#[cfg(unix)]
pub use held_folder::{HeldEntry, HeldFolder};
pub use index::{IndexEntry, index_of};
pub use modified_utf8::modified_utf8;
pub use names::TraceTables;
pub use objects::{ObjectColumns, WalkObject};
pub use rows::{
    ClassRow, CohortRow, CollectionKind, CountRow, DeathRow, Decoded, EndRow, FOLLOWED_ONE_IN, FieldRow, FrameRow,
    GcRow, GcScope, LoaderRow, LossReason, LossRow, MethodRow, ObjectNaming, OldSamplesRow, OriginRow,
    ReferentStrength, RunRow, SampleRow, SettingRow, StringRow, ThreadRow, TraceRow, WEIGHT_ONE, WalkEndRow,
    WalkIdentityRow, WalkInferredRow, WalkMirrorRow, WalkReferenceRow, WalkReferentRow, WalkRootRow, WalkSampleRow,
    WalkStartRow,
};
#[cfg(unix)]
pub use side_files::{
    CLAIM, DUMP_END, LOCK, LeftWalks, NOTE_END, NUMBERS_END, STATUS, UNFINISHED_NOTE_END, WALKS, is_locked, walk_file,
};
pub use walk::WalkWriter;
pub use writer::{TraceOptions, TraceWriter, is_part, weight};
