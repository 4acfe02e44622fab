//! Constants of the format, and how it is recognised.

use super::fields::DOCUMENT;

/// The value of `"format"`.
pub const FORMAT: &str = "memory-city";

/// The version of the format that is written, and the latest that is read.
pub const VERSION: u64 = 1;

/// The largest count: the largest whole number that every JSON parser reads exactly. It also limits the sum over the groups of one time.
pub(super) const LARGEST: u64 = (1 << 53) - 1;

/// How deep a tree may nest. Real trees have tens of levels, call trees of recursive programs thousands.
pub(super) const LEVELS: usize = 20_000;

/// Most bytes of the paths of all groups together, each with all names above it. Tables, files and selections name groups by their paths.
pub(super) const MOST_PATHS: u64 = 64 << 30;

/// The subfolder with one file per time of the references to each group.
pub const POINTED_FROM_FOLDER: &str = "pointed-from-maps";

/// The subfolder with one file per time of the references from each group.
pub const POINTS_TO_FOLDER: &str = "points-to-maps";

/// Whether bytes that begin so are memory trees as JSON. A few kilobytes are enough.
pub fn identify(first_bytes: &[u8]) -> bool {
    let Some(inside) = trimmed(first_bytes).strip_prefix(b"{") else { return false };
    if marked(first_bytes) {
        return true;
    }
    // The order of fields is free, so the format may be named at the end: a first field of ours is enough.
    let Some(key) = trimmed(inside).strip_prefix(b"\"") else { return false };
    let Some(end) = memchr::memchr(b'"', key) else { return false };
    DOCUMENT.iter().any(|(name, _)| name.as_bytes() == &key[..end] && !["format", "version"].contains(name))
}

/// Whether the format is named.
pub(super) fn marked(bytes: &[u8]) -> bool {
    let value = |at: usize| trimmed(&bytes[at + "\"format\"".len()..]).strip_prefix(b":").map(trimmed);
    memchr::memmem::find_iter(bytes, "\"format\"").filter_map(value).any(|v| v.starts_with(b"\"memory-city\""))
}

/// Without a byte order mark and white space at the start.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start()
}
