//! The index at the end of a part: the places of its chunks. It is optional: the headers of the chunks hold the same data, and a reader may
//! use those.

use crate::chunk::{CHUNK_HEADER, Chunk, ChunkKind, FILE_HEADER, PartHeader, PartReader, Piece};
use crate::columns::{ColumnWriter, Encoding, PayloadReader, PayloadWriter};
use std::path::Path;

/// More chunks than this are not indexed: the writer's memory has a bound.
const MOST: usize = crate::columns::MOST_ROWS;

/// Where a chunk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// Its kind.
    pub kind: u16,
    /// Its number in the stream.
    pub number: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// Bytes, header included.
    pub length: u64,
}

/// Collects it.
#[derive(Default)]
pub(crate) struct IndexBuilder {
    entries: Vec<IndexEntry>,
    dropped: bool,
}

const KIND: u8 = 1;
const NUMBER: u8 = 2;
const OFFSET: u8 = 3;
const LENGTH: u8 = 4;
/// The last eight bytes of the file: where the index begins.
const OWN: u8 = 5;

impl IndexBuilder {
    pub(crate) fn add(&mut self, kind: ChunkKind, number: u64, offset: u64, length: u64) {
        if self.dropped || self.entries.len() >= MOST {
            (self.entries, self.dropped) = (Vec::new(), true);
            return;
        }
        self.entries.push(IndexEntry { kind: kind.0, number, offset, length });
    }

    /// An index takes no more than this, header of its chunk included: of an entry the kind takes one byte, number and offset
    /// differ little from those before.
    pub(crate) fn most_bytes(&self) -> u64 {
        Self::bytes_of(self.entries.len() as u64)
    }

    /// The bytes of an index of so many chunks.
    pub(crate) fn bytes_of(chunks: u64) -> u64 {
        chunks.saturating_mul(20).saturating_add(CHUNK_HEADER as u64 + 64)
    }

    /// The payload of an index that is written at a place; none where there are too many chunks.
    pub(crate) fn finish(self, position: u64) -> Option<Vec<u8>> {
        if self.dropped || self.entries.is_empty() {
            return None;
        }
        let mut payload = PayloadWriter::default();
        payload.begin(self.entries.len());
        let mut column = |id: u8, encoding: Encoding, of: fn(&IndexEntry) -> u64| {
            payload.column(id, encoding, |out| {
                let mut column = ColumnWriter::new(out, encoding);
                self.entries.iter().for_each(|entry| column.number(of(entry)));
            });
        };
        column(KIND, Encoding::Plain, |e| u64::from(e.kind));
        column(NUMBER, Encoding::Delta, |e| e.number);
        column(OFFSET, Encoding::Delta, |e| e.offset);
        column(LENGTH, Encoding::Plain, |e| e.length);
        payload.column(OWN, Encoding::Raw, |out| out.extend_from_slice(&position.to_le_bytes()));
        Some(payload.finish().to_vec())
    }
}

/// The index of a part, if it ends with one: ascending, and within the file. The reader must check that the chunks exist.
pub fn index_of(path: &Path, bytes: &[u8]) -> Option<Vec<IndexEntry>> {
    PartHeader::read(path, bytes).ok()?;
    let offset = u64::from_le_bytes(*bytes.last_chunk()?);
    let start = usize::try_from(offset).ok().filter(|&at| at >= FILE_HEADER)?;
    if bytes.len().checked_sub(start)? < CHUNK_HEADER {
        return None;
    }
    let mut reader = PartReader::new(path, bytes).ok()?;
    reader.go_to(offset);
    let Some(Piece::Chunk(chunk)) = reader.next() else { return None };
    if chunk.kind() != ChunkKind::INDEX || chunk.offset + chunk.length() != bytes.len() as u64 {
        return None;
    }
    let entries = entries(&chunk)?;
    let mut end = FILE_HEADER as u64;
    for entry in &entries {
        if entry.offset < end || entry.length < CHUNK_HEADER as u64 {
            return None;
        }
        end = entry.offset.checked_add(entry.length).filter(|&end| end <= offset)?;
    }
    Some(entries)
}

fn entries(chunk: &Chunk<'_>) -> Option<Vec<IndexEntry>> {
    let payload = chunk.payload().ok()?;
    let reader = PayloadReader::new(&payload).ok()?;
    let [mut kinds, mut numbers, mut offsets, mut lengths] = [KIND, NUMBER, OFFSET, LENGTH].map(|id| reader.column(id));
    let mut all = Vec::with_capacity(reader.rows);
    for _ in 0..reader.rows {
        all.push(IndexEntry {
            kind: u16::try_from(kinds.number().ok()?).ok()?,
            number: numbers.number().ok()?,
            offset: offsets.number().ok()?,
            length: lengths.number().ok()?,
        });
    }
    Some(all)
}
