//! Frames: the header of a file, and chunks with kind, version, lengths and checksums. Neither knows the content.

use crate::columns::PayloadReader;
use crate::error::{WireError, WireResult};
use crate::rows::{Decoded, TraceRow};
use std::borrow::Cow;
use std::path::Path;

/// The first bytes of every file in this format: none of them can begin a text, and line ends that a transfer changed show.
pub const MAGIC: [u8; 8] = *b"\x93MCITY\r\n";

/// Whether these are the first bytes of a file in this format.
pub fn is_wire(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// The version of files that this library writes, and the only one that it reads. Within a version only columns and kinds
/// of chunks are added, which others pass over.
pub const VERSION: u16 = 1;

/// Bytes of the header of a file.
pub const FILE_HEADER: usize = 40;
/// Bytes of the header of a chunk.
pub const CHUNK_HEADER: usize = 32;
/// The most bytes inside a chunk, unpacked.
pub const MOST_PLAIN: u32 = 16 << 20;

/// The first bytes of each chunk.
const MARKER: [u8; 4] = *b"\x93CHK";
/// Flag: the content is packed with zstd.
const ZSTD: u8 = 1;
/// Added to the version of a chunk of another stream than that of its file. Readers that do not know such chunks skip them, as those of a
/// later version. The other seven bits are the number of the stream.
const OTHER_STREAM: u8 = 0x80;
/// The last stream that such a chunk can name.
const LAST_NAMED_STREAM: u16 = 127;

/// Where a file belongs: the same in all files of a recording but for stream and part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartHeader {
    /// Drawn when the recording began.
    pub recording: [u8; 16],
    /// The writer: each has its own numbers for names, classes and stacks.
    pub stream: u16,
    /// The number of the part in that stream, from 0.
    pub part: u32,
}

impl PartHeader {
    /// The header as bytes: magic, version, stream, part, recording, 4 bytes that are zero, checksum.
    pub fn to_bytes(&self) -> [u8; FILE_HEADER] {
        let fields: [&[u8]; 6] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &self.stream.to_le_bytes(),
            &self.part.to_le_bytes(),
            &self.recording,
            &[0; 4],
        ];
        let mut out = [0; FILE_HEADER];
        let checked = fields.concat();
        let sum = crc32fast::hash(&checked).to_le_bytes();
        out.iter_mut().zip(checked.iter().chain(&sum)).for_each(|(out, byte)| *out = *byte);
        out
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it is none, is damaged, or of another version.
    pub fn read(path: &Path, bytes: &[u8]) -> WireResult<PartHeader> {
        let wrong = |offset: u64, found: &str, expected: &str| WireError::Format {
            path: path.to_owned(),
            offset,
            found: found.to_owned(),
            expected: expected.to_owned(),
        };
        if !is_wire(bytes) {
            return Err(wrong(0, "other bytes", "the first bytes of a recording"));
        }
        let Some(header) = bytes.first_chunk::<FILE_HEADER>() else {
            return Err(wrong(bytes.len() as u64, "the end of the file", "the rest of its header"));
        };
        let version = u16::from_le_bytes(field(header, 8));
        if version != VERSION {
            return Err(wrong(8, &format!("version {version}"), &format!("version {VERSION}")));
        }
        let (checked, sum) = header.split_at(FILE_HEADER - 4);
        if crc32fast::hash(checked).to_le_bytes() != *sum {
            return Err(wrong(0, "a header whose checksum differs", "a header as it was written"));
        }
        Ok(PartHeader {
            recording: field(header, 16),
            stream: u16::from_le_bytes(field(header, 10)),
            part: u32::from_le_bytes(field(header, 12)),
        })
    }
}

/// Bytes at a fixed place; zeros where there are none.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}

/// The kind of rows in a chunk. A number is never used for another kind; readers skip kinds they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkKind(pub u16);

/// Declares the kinds with their numbers and names.
macro_rules! kinds {
    ($($name:ident = $number:literal $title:literal),+ $(,)?) => {
        #[allow(missing_docs)] // each is described by its rows
        impl ChunkKind {
            $(pub const $name: ChunkKind = ChunkKind($number);)+

            /// The name for people; `None` for kinds of later versions.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(ChunkKind::$name => Some($title),)+
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    STRINGS = 1 "strings",
    LOADERS = 2 "class loaders",
    CLASSES = 3 "classes",
    METHODS = 4 "methods",
    FRAMES = 5 "stack frames",
    THREADS = 6 "threads",
    ORIGINS = 7 "origins",
    FIELDS = 8 "fields of references",
    RUN = 16 "run",
    GCS = 17 "collections",
    SAMPLES = 18 "samples",
    DEATHS = 19 "deaths",
    OLD_SAMPLES = 20 "old samples",
    COUNTS = 21 "class histogram",
    LOSSES = 22 "losses",
    SETTINGS = 23 "settings",
    COHORTS = 24 "births and deaths",
    WALK_START = 32 "start of a walk",
    WALK_OBJECTS = 33 "objects of a walk",
    WALK_REFERENCES = 34 "references of a walk",
    WALK_ROOTS = 35 "roots of a walk",
    WALK_SAMPLES = 36 "samples in a walk",
    WALK_MIRRORS = 37 "class objects of a walk",
    WALK_REFERENTS = 38 "referents of a walk",
    WALK_INFERRED = 39 "inferred references of a walk",
    WALK_END = 40 "end of a walk",
    WALK_IDENTITIES = 41 "identities in a walk",
    END = 48 "end of the recording",
    INDEX = 49 "index",
}

impl ChunkKind {
    /// Whether later chunks build on it: those are repeated at the beginning of each part.
    pub fn is_definition(self) -> bool {
        self.0 <= ChunkKind::RUN.0
    }

    /// Whether it is a piece of a walk.
    pub(crate) fn is_of_walk(self) -> bool {
        (ChunkKind::WALK_START.0..=ChunkKind::WALK_IDENTITIES.0).contains(&self.0)
    }
}

/// The header of a chunk, but for its checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    pub(crate) kind: ChunkKind,
    pub(crate) version: u8,
    pub(crate) packed: bool,
    /// Its stream, where that is another than that of the file: at most [`LAST_NAMED_STREAM`].
    pub(crate) other_stream: Option<u8>,
    pub(crate) number: u64,
    pub(crate) stored: u32,
    pub(crate) plain: u32,
    pub(crate) sum: u32,
}

impl ChunkHeader {
    /// The header as bytes. The checksum covers the recording too: a chunk of another recording is no chunk of this one.
    pub(crate) fn bytes(&self, recording: &[u8; 16]) -> [u8; CHUNK_HEADER] {
        let packed = if self.packed { ZSTD } else { 0 };
        let fields: [&[u8]; 7] = [
            &MARKER,
            &self.kind.0.to_le_bytes(),
            &match self.other_stream {
                None => [self.version, packed],
                Some(stream) => [self.version | OTHER_STREAM, packed | stream << 1],
            },
            &self.number.to_le_bytes(),
            &self.stored.to_le_bytes(),
            &self.plain.to_le_bytes(),
            &self.sum.to_le_bytes(),
        ];
        let checked = fields.concat();
        let sum = header_sum(recording, &checked).to_le_bytes();
        let mut out = [0; CHUNK_HEADER];
        out.iter_mut().zip(checked.iter().chain(&sum)).for_each(|(out, byte)| *out = *byte);
        out
    }

    pub(crate) fn read(recording: &[u8; 16], bytes: &[u8; CHUNK_HEADER]) -> Option<ChunkHeader> {
        let (checked, sum) = bytes.split_at(CHUNK_HEADER - 4);
        if !bytes.starts_with(&MARKER) || header_sum(recording, checked).to_le_bytes() != *sum {
            return None;
        }
        let [version, flags] = field::<2>(bytes, 6);
        let header = ChunkHeader {
            kind: ChunkKind(u16::from_le_bytes(field(bytes, 4))),
            version: version & !OTHER_STREAM,
            packed: flags & ZSTD != 0,
            other_stream: (version & OTHER_STREAM != 0).then_some(flags >> 1),
            number: u64::from_le_bytes(field(bytes, 8)),
            stored: u32::from_le_bytes(field(bytes, 16)),
            plain: u32::from_le_bytes(field(bytes, 20)),
            sum: u32::from_le_bytes(field(bytes, 24)),
        };
        Some(header)
    }
}

fn header_sum(recording: &[u8; 16], bytes: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(recording);
    sum.update(bytes);
    sum.finalize()
}

/// A chunk whose checksums are right.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    pub(crate) path: &'a Path,
    /// Where its header begins in the file.
    pub offset: u64,
    /// The stream of the file.
    pub(crate) file_stream: u16,
    pub(crate) header: ChunkHeader,
    pub(crate) stored: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The kind of its rows.
    pub fn kind(&self) -> ChunkKind {
        self.header.kind
    }

    /// The stream it belongs to: that of its file, unless it says another.
    pub fn stream(&self) -> u16 {
        self.header.other_stream.map_or(self.file_stream, u16::from)
    }

    /// Its number in its stream: numbers count up from 0, and a repeated chunk keeps its number. An index has none (`u64::MAX`).
    pub fn number(&self) -> u64 {
        self.header.number
    }

    /// Bytes in the file, header included.
    pub fn length(&self) -> u64 {
        CHUNK_HEADER as u64 + u64::from(self.header.stored)
    }

    /// Header and stored bytes, for a file of this recording with another header, perhaps of another stream. The content stays the same.
    /// `None` if a chunk of that file cannot name the stream because its number is above 127.
    pub fn for_file(&self, file: &PartHeader) -> Option<([u8; CHUNK_HEADER], &'a [u8])> {
        let other_stream = match self.stream() {
            own if own == file.stream => None,
            other if other <= LAST_NAMED_STREAM => Some(u8::try_from(other).ok()?),
            _ => return None,
        };
        Some((ChunkHeader { other_stream, ..self.header }.bytes(&file.recording), self.stored))
    }

    /// Unpacked bytes of the content, from the header.
    pub fn plain_length(&self) -> u32 {
        self.header.plain
    }

    /// True if this library knows the kind and version.
    pub fn is_known(&self) -> bool {
        self.header.kind.name().is_some() && self.header.version == 1
    }

    /// An error that is about this chunk.
    pub fn wrong(&self, found: impl Into<String>) -> WireError {
        let kind = self.header.kind.name().map_or_else(|| format!("of kind {}", self.header.kind.0), str::to_owned);
        WireError::Format {
            path: self.path.to_owned(),
            offset: self.offset,
            found: found.into(),
            expected: format!("a chunk ({kind}) as the format says"),
        }
    }

    /// The content, unpacked.
    ///
    /// # Errors
    /// When the unpacked content does not match the header.
    pub fn payload(&self) -> WireResult<Cow<'a, [u8]>> {
        let plain = self.header.plain;
        if plain > MOST_PLAIN {
            return Err(self.wrong(format!("{plain} bytes, more than the {MOST_PLAIN} that a chunk may have")));
        }
        if !self.header.packed {
            return match self.stored.len() == plain as usize {
                true => Ok(Cow::Borrowed(self.stored)),
                false => Err(self.wrong(format!("{} bytes instead of {plain}", self.stored.len()))),
            };
        }
        match zstd::bulk::decompress(self.stored, plain as usize) {
            Ok(bytes) if bytes.len() == plain as usize => Ok(Cow::Owned(bytes)),
            Ok(bytes) => Err(self.wrong(format!("{} bytes instead of {plain}", bytes.len()))),
            Err(error) => Err(self.wrong(format!("packed data that does not unpack ({error})"))),
        }
    }

    /// Its rows.
    ///
    /// # Errors
    /// When it is of another kind, or the content breaks the format.
    pub fn rows<R: TraceRow>(&self) -> WireResult<Decoded<R>> {
        if self.header.kind != R::KIND || self.header.version != 1 {
            return Err(self.wrong(format!("kind {}, version {}", self.header.kind.0, self.header.version)));
        }
        let payload = self.payload()?;
        PayloadReader::new(&payload).and_then(|reader| R::decode(&reader)).map_err(|found| self.wrong(found))
    }
}

/// The piece at a place in a file.
#[derive(Clone, Copy)]
pub enum Piece<'a> {
    /// A whole chunk.
    Chunk(Chunk<'a>),
    /// Bytes that are no chunk, or a chunk whose checksum differs; the file goes on behind them.
    Damage {
        /// Where they begin.
        offset: u64,
        /// Their number.
        length: u64,
    },
    /// The file ends within a chunk: it was cut, or is still being written.
    Cut {
        /// Where the chunk begins.
        offset: u64,
        /// Bytes that are there.
        length: u64,
    },
}

/// A file, read from the front. Costs one look at each byte (the checksum); nothing is unpacked.
pub struct PartReader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    header: PartHeader,
    at: usize,
}

impl<'a> PartReader<'a> {
    /// A reader of the bytes of a file; the path is for messages.
    ///
    /// # Errors
    /// As [`PartHeader::read`].
    pub fn new(path: &'a Path, bytes: &'a [u8]) -> WireResult<PartReader<'a>> {
        let header = PartHeader::read(path, bytes)?;
        Ok(PartReader { path, bytes, header, at: FILE_HEADER })
    }

    /// Where the file belongs.
    pub fn header(&self) -> &PartHeader {
        &self.header
    }

    /// Where the next piece begins. A reader of a growing file goes on there, with [`PartReader::go_to`].
    pub fn position(&self) -> u64 {
        self.at as u64
    }

    /// Goes on at a place that [`PartReader::position`] gave.
    pub fn go_to(&mut self, position: u64) {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        self.at = at.clamp(FILE_HEADER, self.bytes.len().max(FILE_HEADER));
    }

    /// The chunk at a place, where there is one.
    fn chunk_at(&self, at: usize) -> FoundAt<'a> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let Some(header) = rest.first_chunk::<CHUNK_HEADER>() else {
            let begun = rest.get(..MARKER.len()).unwrap_or(rest);
            return if MARKER.starts_with(begun) { FoundAt::Cut } else { FoundAt::Other };
        };
        let Some(header) = ChunkHeader::read(&self.header.recording, header) else { return FoundAt::Other };
        let end = CHUNK_HEADER.saturating_add(header.stored as usize);
        let Some(stored) = rest.get(CHUNK_HEADER..end) else { return FoundAt::Cut };
        let chunk = Chunk { path: self.path, offset: at as u64, file_stream: self.header.stream, header, stored };
        if crc32fast::hash(stored) == header.sum { FoundAt::Whole(chunk) } else { FoundAt::Damaged(chunk) }
    }

    /// Where the next chunk header behind a place begins, or else the end of the file.
    fn next_header(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(rest) = self.bytes.get(at..) {
            let Some(step) = rest.windows(MARKER.len()).position(|w| w == MARKER) else { break };
            at += step;
            match self.bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK_HEADER>()) {
                Some(header) if ChunkHeader::read(&self.header.recording, header).is_some() => return at,
                Some(_) => at += 1,
                None => break,
            }
        }
        self.bytes.len()
    }
}

enum FoundAt<'a> {
    Whole(Chunk<'a>),
    Damaged(Chunk<'a>),
    Cut,
    Other,
}

impl<'a> Iterator for PartReader<'a> {
    type Item = Piece<'a>;

    /// The next piece; `None` at the end of the file. After [`Piece::Cut`] too, and then it stands where that begins.
    fn next(&mut self) -> Option<Piece<'a>> {
        let at = self.at;
        if at >= self.bytes.len() {
            return None;
        }
        let next = match self.chunk_at(at) {
            FoundAt::Whole(chunk) => {
                self.at = at + chunk.length() as usize;
                return Some(Piece::Chunk(chunk));
            }
            FoundAt::Damaged(chunk) => {
                // The bytes inside may differ, or have never been written: then another chunk begins among them.
                let end = at + chunk.length() as usize;
                match self.chunk_at(end) {
                    FoundAt::Whole(_) | FoundAt::Damaged(_) => end,
                    FoundAt::Cut if end == self.bytes.len() => end,
                    FoundAt::Cut | FoundAt::Other => self.next_header(at + 1),
                }
            }
            FoundAt::Cut => {
                // Unless the chunk was never finished, and others were written behind what there is of it.
                let next = self.next_header(at + 1);
                if next == self.bytes.len() {
                    let length = (self.bytes.len() - at) as u64;
                    self.bytes = self.bytes.get(..at).unwrap_or(&[]);
                    return Some(Piece::Cut { offset: at as u64, length });
                }
                next
            }
            FoundAt::Other => self.next_header(at + 1),
        };
        self.at = next;
        Some(Piece::Damage { offset: at as u64, length: (next - at) as u64 })
    }
}
