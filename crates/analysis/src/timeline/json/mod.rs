//! Memory trees as JSON: the exchange format with other tools, to read and to write.
//!
//! The format, version 1, is taught in `docs/memory-tree-json.md` and described by `assets/memory-tree.schema.json`. In
//! short: a *document* is one JSON object, a file is one document or several of them (JSON Lines), a folder is one file
//! per time.
//!
//! | word | means |
//! |---|---|
//! | document | `{"format": "memory-city", "version": 1, ...}` with a `tree` (one time) or `times` (several) |
//! | time | an object with a `tree`, perhaps a `label`, a `timestamp`, and reference maps |
//! | node | `{"name", "role", "key", "objects", "bytes", "children"}` |
//! | reference map | group -> other group -> how many objects take part; groups are named by key |
//!
//! Reading is one pass over the bytes: serde visitors write nodes into the columns of one time, which the
//! [`TimelineBuilder`](super::TimelineBuilder) matches with those before. No JSON value is ever built.
//!
//! | module | does |
//! |---|---|
//! | `format` | constants of the format, and how it is recognised |
//! | `fields` | the names of the format, unknown fields, places in a document |
//! | `scalars` | counts, texts, timestamps |
//! | `tree`, `columns` | nodes into columns |
//! | `maps` | reference maps into pairs |
//! | `point` | facts about a time beside its tree |
//! | `document` | times and documents |
//! | `settle` | correction of missing and contradictory counts |
//! | `diagnostics` | errors of the parser as errors for people, warnings about corrections |
//! | `totals` | the data read so far; warnings counted once |
//! | `read`, `files` | files and folders, the order of times |
//! | `live` | times that come one by one |
//! | `memory` | the memory of all of it, counted before it is kept |
//! | `references` | queries of references |
//! | `write`, `save` | a timeline as JSON, and that as a file |
//!
//! Nothing here knows other sources of bytes than files, nor the viewers of the result.

pub(super) mod columns;
mod diagnostics;
mod document;
mod fields;
mod files;
mod format;
mod live;
mod maps;
pub(super) mod memory;
mod point;
mod read;
mod references;
mod save;
mod scalars;
mod settle;
#[cfg(test)]
mod tests;
mod totals;
mod tree;
mod write;

pub use format::{FORMAT, POINTED_FROM_FOLDER, POINTS_TO_FOLDER, VERSION, identify};
pub use live::{GrowingTrees, SoFar};
pub use memory::Grant;
pub(crate) use read::holds_trees;
pub use read::{Collector, JsonSource, TreesOfRecording, read};
pub use save::{save, save_for};
pub use write::{Form, write};
pub use write::{ReferencesOf, write_time};
