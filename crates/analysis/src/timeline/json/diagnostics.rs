//! Errors of the JSON parser as errors for people, and warnings about corrected mistakes.

use super::document::ReadContext;
use super::fields::shortened;
use memory_city_heap::error::Error;
use std::path::Path;

/// A corrected mistake, reported once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Note {
    Raised,
    OneCount,
    Duplicate,
    NoTimestamp,
    OutOfOrder,
    SameKey,
    UnknownGroup,
    OneNumber,
    Contradiction,
    LooseMap,
}

impl Note {
    /// All there are.
    pub const ALL: [Note; 10] = [
        Note::Raised,
        Note::OneCount,
        Note::Duplicate,
        Note::NoTimestamp,
        Note::OutOfOrder,
        Note::SameKey,
        Note::UnknownGroup,
        Note::OneNumber,
        Note::Contradiction,
        Note::LooseMap,
    ];

    /// The mistake, and its consequence.
    pub fn text(self) -> (&'static str, &'static str) {
        match self {
            Note::Raised => (
                "nodes that count less than their children together",
                "They were raised to what the children have. If groups overlap, write \"overlaps\": true in the time",
            ),
            Note::OneCount => (
                "nodes with objects or bytes, but not both",
                "What is missing counts 0. Write both, and the city can show both",
            ),
            Note::Duplicate => (
                "nodes with the name and role (or the key) of a sibling",
                "They were added up. Give siblings different names, or each a \"key\", to keep them apart",
            ),
            Note::NoTimestamp => (
                "times without a timestamp, though others have one",
                "Each stays behind the time before it. Give all of them a \"timestamp\", or none",
            ),
            Note::OutOfOrder => (
                "times that are earlier than the time before them",
                "All times were sorted by timestamp. Write them in order, or check the clock",
            ),
            Note::SameKey => (
                "keys that belong to several groups",
                "References that name such a key are those of the first group. Give each group a key of its own",
            ),
            Note::UnknownGroup => (
                "names in reference maps that no group has",
                "These entries were left out. Use the \"key\" of a node, or its path of names: Heap#java.util#HashMap",
            ),
            Note::OneNumber => (
                "pairs of groups with the number of objects at one end only",
                "The other end is taken to have as many, or all there are. Give \"referencing\" and \"referenced\"",
            ),
            Note::Contradiction => (
                "pairs of groups that are given several times with different numbers",
                "The largest of them counts. Let \"pointed-from\" and \"points-to\" agree",
            ),
            Note::LooseMap => (
                "files with reference maps that belong to no file with one time",
                "They were left out. Name them like the file with the tree",
            ),
        }
    }
}

/// The byte of a line and column as the parser counts them, both from 1.
pub(super) fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let start = match line {
        0 | 1 => 0,
        _ => memchr::memchr_iter(b'\n', bytes).nth(line - 2).map_or(bytes.len(), |at| at + 1),
    };
    (start + column.saturating_sub(1)).min(bytes.len())
}

/// Converts an error of the parser into terms of the file. `base` is the offset of its bytes, `lines` the number of lines before.
pub(super) fn diagnose(
    error: &serde_json::Error,
    context: &mut ReadContext<'_, '_>,
    path: &Path,
    bytes: &[u8],
    (base, lines): (usize, usize),
) -> Error {
    let at = offset(&bytes[base..], error.line(), error.column()) + base;
    match context.stop.take() {
        // What comes live has no place in a file.
        Some(Error::Unusable { what, remedy }) if !context.totals.live => {
            return Error::Unusable { what: format!("{} at byte {at}: {what}", path.display()), remedy };
        }
        Some(stop) => return stop,
        None => {}
    }
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&text);
    let inside = context.path.text(|symbol| context.totals.groups.text(symbol));
    let place = context.place.take().unwrap_or(inside);
    let place = if place.is_empty() { "the document itself".to_owned() } else { place };
    let line = lines + error.line();
    let (found, expected, remedy) = match text.rsplit_once(", expected ") {
        Some((found, expected)) if error.is_data() => {
            let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
            // The words of JSON instead of those of the parser.
            let found = match found {
                "map" => "an object".to_owned(),
                "sequence" => "a list".to_owned(),
                other => shortened(other, 120),
            };
            let remedy = context.remedy.map_or_else(|| remedy(context.path.innermost()), str::to_owned);
            (found, expected.to_owned(), remedy)
        }
        _ if error.is_eof() => (
            "the end of the file".to_owned(),
            "the rest of the JSON".to_owned(),
            "The file is incomplete: write or copy it again".to_owned(),
        ),
        _ => {
            let shown = &bytes[at..bytes.len().min(at + 16)];
            (
                format!("{:?}", String::from_utf8_lossy(shown)),
                format!("JSON ({})", shortened(text, 120)),
                "Check what writes the file; a JSON library gets commas, quotes and escapes right".to_owned(),
            )
        }
    };
    Error::Format {
        path: path.to_owned(),
        offset: Some(at as u64),
        found: format!("{found} in {place} (line {line})"),
        expected,
        remedy,
    }
}

/// The remedy for a duplicate field.
pub(super) const ONCE: &str = "A field stands once in an object; which of the two is meant, only the writer knows";

/// The remedy for a document without a head.
pub(super) const HEAD: &str = "Begin the document with {\"format\": \"memory-city\", \"version\": 1, ...}";

/// The remedy for a field.
fn remedy(field: &str) -> String {
    match field {
        "objects" | "bytes" | "referencing" | "referenced" | "references" => {
            "Write counts as whole numbers without sign, and leave out what is not known".into()
        }
        "timestamp" => "Write milliseconds since 1970 as a number, or a text with a time zone (RFC 3339)".into(),
        "version" => "Update Memory City, or have the file written in the version it reads".into(),
        "format" => HEAD.into(),
        "pointed-from" | "points-to" | "roots" => {
            "Write reference maps as {\"key of a group\": {\"key of another\": 5}}".into()
        }
        _ => "docs/memory-tree-json.md describes the format and has an example".into(),
    }
}
