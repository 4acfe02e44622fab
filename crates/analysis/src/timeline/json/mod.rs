//! Memory trees as JSON: what other tools write to show a city, and what this program writes for other tools.
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
//! | `fields` | the names of the format, fields that are none, places in a document |
//! | `scalars` | counts, texts, timestamps |
//! | `tree` | nodes into columns |
//! | `maps` | reference maps into pairs |
//! | `point` | what is said of a time beside its tree |
//! | `document` | times and documents |
//! | `settle` | what missing and contradictory counts mean |
//! | `diagnostics` | errors of the parser as errors for people, what is put right |
//! | `totals` | what has been read so far; warnings counted once |
//! | `read`, `files` | files and folders, the order of times |
//! | `live` | times that come one by one |
//! | `memory` | what all of it takes, counted before it is kept |
//! | `references` | answers about references |
//! | `write`, `save` | a timeline as JSON, and that as a file |
//!
//! Nothing here knows where the bytes come from beyond files, nor who looks at the result.

mod diagnostics;
mod document;
mod fields;
mod files;
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

pub use live::{GrowingTrees, SoFar};
pub use memory::Grant;
pub(crate) use read::holds_trees;
pub use read::{Collector, JsonSource, TreesOfRecording, read};
pub use save::{save, save_for};
pub use write::{Form, write};
pub use write::{ReferencesOf, write_time};

/// What `"format"` says.
pub const FORMAT: &str = "memory-city";

/// The version of the format that is written, and the latest that is read.
pub const VERSION: u64 = 1;

/// The largest count: the largest whole number that every JSON parser reads exactly. Also what the groups of one time
/// may add up to.
const LARGEST: u64 = (1 << 53) - 1;

/// How deep a tree may nest. Real trees have tens of levels, call trees of recursive programs thousands.
const LEVELS: usize = 20_000;

/// The subfolder with one file per time that says what refers to each group.
const POINTED_FROM_FOLDER: &str = "pointed-from-maps";

/// The subfolder with one file per time that says what each group refers to.
const POINTS_TO_FOLDER: &str = "points-to-maps";

/// Whether bytes that begin so are memory trees as JSON. A few kilobytes are enough.
pub fn identify(first_bytes: &[u8]) -> bool {
    let Some(inside) = trimmed(first_bytes).strip_prefix(b"{") else { return false };
    if marked(first_bytes) {
        return true;
    }
    // The order of fields is free, so the format may be named at the end: a first field of ours is enough.
    let Some(key) = trimmed(inside).strip_prefix(b"\"") else { return false };
    let Some(end) = memchr::memchr(b'"', key) else { return false };
    fields::DOCUMENT.iter().any(|(name, _)| name.as_bytes() == &key[..end] && !["format", "version"].contains(name))
}

/// Whether the format is named.
fn marked(bytes: &[u8]) -> bool {
    let value = |at: usize| trimmed(&bytes[at + "\"format\"".len()..]).strip_prefix(b":").map(trimmed);
    memchr::memmem::find_iter(bytes, "\"format\"").filter_map(value).any(|v| v.starts_with(b"\"memory-city\""))
}

/// Without a byte order mark and white space at the start.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start()
}
