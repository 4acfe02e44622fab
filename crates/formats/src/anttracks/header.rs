//! The header at the beginning of every file of an AntTracks run.

use memory_city_heap::error::{Error, Result};
use std::path::Path;

/// The role of a file in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileKind {
    /// Types, allocation sites, GC causes.
    Symbols,
    /// Events.
    Trace,
    /// Raw class files; not needed.
    ClassDefinitions,
}

impl FileKind {
    /// Its name, for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            FileKind::Symbols => "symbols",
            FileKind::Trace => "trace",
            FileKind::ClassDefinitions => "class definitions",
        }
    }
}

/// The content of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceHeader {
    /// Random words, the same in all files of a run.
    pub(crate) run: Vec<u32>,
    /// The role of the file.
    pub(crate) kind: FileKind,
    /// Where the content begins.
    pub(crate) end: usize,
}

/// The first word.
pub(crate) const MAGIC: u32 = 0x00C0_FFEE;
/// The longest header up to the file's kind: the bytes to read to recognise a file.
pub(crate) const LONGEST: usize = 12 + 4 * MOST_WORDS;
const MOST_WORDS: usize = 1024;

impl TraceHeader {
    /// Reads the header of `bytes`, the start of a file; `None` when it is no AntTracks file.
    ///
    /// # Errors
    /// When it begins like one and goes on wrong.
    pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Option<TraceHeader>> {
        let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        if word(0) != Some(MAGIC) {
            return Ok(None);
        }
        let wrong = |offset: usize, found: String, expected: &str| Error::Format {
            path: path.to_owned(),
            offset: Some(offset as u64),
            found,
            expected: expected.to_owned(),
            remedy: "The header of this AntTracks file is damaged: copy the file again, or record the trace again"
                .into(),
        };
        let cut = || wrong(bytes.len(), "the end of the file".into(), "the rest of the header");
        let count = word(4).ok_or_else(cut)? as usize;
        if count > MOST_WORDS {
            return Err(wrong(4, format!("{count} words"), "some forty words that name the run"));
        }
        let run = (0..count).map(|i| word(8 + 4 * i).ok_or_else(cut)).collect::<Result<Vec<_>>>()?;
        let at = 8 + 4 * count;
        let kind = match word(at).ok_or_else(cut)? {
            0 => FileKind::Symbols,
            1 => FileKind::Trace,
            2 => FileKind::ClassDefinitions,
            other => return Err(wrong(at, format!("file kind {other}"), "0 (symbols), 1 (trace) or 2 (classes)")),
        };
        Ok(Some(TraceHeader { run, kind, end: at + 4 }))
    }
}
