//! The writer of a trace: it appends whole chunks, each in one call of the operating system. A reader may come while the file grows, or
//! after the process was killed: only the last chunk may be incomplete.
//!
//! It is made to run inside other people's programs. It does not panic, and its memory has a bound: the buffers of one chunk, the state of
//! the packer, and some bytes for each chunk of definitions in the part that is being written.

use crate::chunk::{CHUNK_HEADER, ChunkHeader, ChunkKind, FILE_HEADER, MOST_PLAIN, PartHeader};
use crate::columns::{MOST_ROWS, PayloadWriter};
use crate::error::{WireError, WireResult};
use crate::index::IndexBuilder;
use crate::rows::{EndRow, LossReason, LossRow, SampleRow, TraceRow};
use crate::spool::WalkSpool;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How a trace is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// The recording that a further stream belongs to; none begins a new one.
    pub recording: Option<[u8; 16]>,
    /// The number of the stream in its recording.
    pub stream: u16,
    /// How hard chunks are packed: the levels of zstd, 1 is fastest.
    pub level: i32,
    /// In folders: the most bytes of all parts of this stream. Old parts go when there are more; see [`TraceWriter`].
    pub most_bytes: Option<u64>,
    /// In folders: the size after which a new part begins: at least 64 KiB, at most an eighth of the bound.
    pub part_bytes: u64,
}

impl Default for TraceOptions {
    fn default() -> Self {
        TraceOptions { recording: None, stream: 0, level: 1, most_bytes: None, part_bytes: 16 << 20 }
    }
}

/// Bytes of a payload that are worth a chunk.
pub(crate) const TARGET: usize = 256 << 10;
/// Less is not packed.
const LEAST_PACKED: usize = 64;

/// Writes one stream of a recording.
///
/// In a folder with a bound (`most_bytes`), the oldest parts are removed. Rows that later parts need are written again first:
///
/// - names, classes, stacks and facts of the run, at the beginning of each part;
/// - samples whose objects are alive;
/// - samples that stand in a remaining walk (for walks of another stream: the newest of these, as long as half of a part goes);
/// - the last value of each setting;
/// - all other samples, added up by class, stack and thread;
/// - the numbers of removed collections, histograms and walks.
///
/// A walk waits beside the trace until it is complete and has room, so the bound holds at every moment. A walk that is too large even for
/// the empty folder is left out, and counted.
pub struct TraceWriter {
    pub(crate) header: PartHeader,
    pub(crate) options: TraceOptions,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) position: u64,
    begun: Instant,
    next: u64,
    payload: PayloadWriter,
    packed: Vec<u8>,
    pub(crate) frame: Vec<u8>,
    packer: Option<zstd::bulk::Compressor<'static>>,
    /// Where in this part the definitions are: offset and length of their chunks.
    pub(crate) definitions: Vec<(u64, u64)>,
    pub(crate) definition_bytes: u64,
    /// Bytes in this part that may have to be written again when it goes.
    pub(crate) again: u64,
    pub(crate) index: IndexBuilder,
    pub(crate) old: VecDeque<OldPart>,
    /// Rows that could not be written, by kind, and not yet reported.
    unwritten: BTreeMap<u16, u64>,
    samples: u64,
    lost: u64,
    pub(crate) in_walk: bool,
    pub(crate) walks: u32,
    /// Walks in this part, and the bytes that the last one needs, wherever it is.
    pub(crate) walks_here: u64,
    pub(crate) last_walk_needs: u64,
    /// The walk that is being written, where there is a bound.
    pub(crate) spool: Option<WalkSpool>,
    /// True while a new part begins, or an old one goes: the reserved bytes may be used.
    pub(crate) rotating: bool,
    /// True while the end is being written. There is always room for it.
    ends: bool,
    pub(crate) is_full: bool,
    /// The most bytes that all parts ever had together.
    #[cfg(test)]
    pub(crate) highest: u64,
}

/// A part that is complete.
pub(crate) struct OldPart {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// Bytes that may have to be written again.
    pub(crate) again: u64,
    pub(crate) walks: u64,
}

/// The inside of a chunk, as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct StoredChunk {
    pub(crate) kind: ChunkKind,
    pub(crate) packed: bool,
    pub(crate) stored: u32,
    pub(crate) plain: u32,
    pub(crate) sum: u32,
}

impl TraceWriter {
    /// Begins a trace in one file, which must not exist yet. It has no bound.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create_file(path: &Path, options: TraceOptions) -> WireResult<TraceWriter> {
        Self::begin(None, path.to_owned(), TraceOptions { most_bytes: None, part_bytes: u64::MAX, ..options })
    }

    /// Begins a trace in a file that is open for writing, and empty; the path is for messages. It has no bound. The caller sets the
    /// permissions of the file.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn on_file(mut file: File, path: &Path, options: TraceOptions) -> WireResult<TraceWriter> {
        let recording = options.recording.unwrap_or_else(random);
        let header = PartHeader { recording, stream: options.stream, part: 0 };
        file.write_all(&header.to_bytes()).map_err(|e| WireError::io(path, e))?;
        let options = TraceOptions { most_bytes: None, part_bytes: u64::MAX, ..options };
        Ok(Self::on(file, None, path.to_owned(), header, options))
    }

    /// Begins a stream in a folder, which is made where it does not exist, for this user alone.
    ///
    /// # Errors
    /// When folder or file cannot be made, or the stream is there already.
    pub fn create_folder(folder: &Path, options: TraceOptions) -> WireResult<TraceWriter> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|e| WireError::io(folder, e))?;
        let path = part_path(folder, options.stream, 0);
        let part_bytes = options.most_bytes.map_or(options.part_bytes, |most| options.part_bytes.min(most / 8));
        Self::begin(Some(folder.to_owned()), path, TraceOptions { part_bytes: part_bytes.max(64 << 10), ..options })
    }

    fn begin(folder: Option<PathBuf>, path: PathBuf, options: TraceOptions) -> WireResult<TraceWriter> {
        let recording = options.recording.unwrap_or_else(random);
        let header = PartHeader { recording, stream: options.stream, part: 0 };
        let file = create_part(&path, &header)?;
        Ok(Self::on(file, folder, path, header, options))
    }

    /// A writer on a file with its header.
    fn on(
        file: File,
        folder: Option<PathBuf>,
        path: PathBuf,
        header: PartHeader,
        options: TraceOptions,
    ) -> TraceWriter {
        TraceWriter {
            header,
            // Without a packer chunks are as they are.
            packer: zstd::bulk::Compressor::new(options.level).ok(),
            options,
            folder,
            path,
            file,
            position: FILE_HEADER as u64,
            begun: Instant::now(),
            next: 0,
            payload: PayloadWriter::default(),
            packed: Vec::new(),
            frame: Vec::new(),
            definitions: Vec::new(),
            definition_bytes: 0,
            again: 0,
            index: IndexBuilder::default(),
            old: VecDeque::new(),
            unwritten: BTreeMap::new(),
            samples: 0,
            lost: 0,
            in_walk: false,
            walks: 0,
            walks_here: 0,
            last_walk_needs: 0,
            spool: None,
            rotating: false,
            ends: false,
            is_full: false,
            #[cfg(test)]
            highest: 0,
        }
    }

    /// The recording, for further streams.
    pub fn recording(&self) -> [u8; 16] {
        self.header.recording
    }

    /// The file that is being written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Nanoseconds since the recording began, as the time of an event now.
    pub fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// When time 0 is.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Says when time 0 is, for a stream that counts from another moment than its own beginning.
    pub fn set_begun(&mut self, begun: Instant) {
        self.begun = begun;
    }

    /// Bytes of all parts there are.
    pub fn bytes(&self) -> u64 {
        self.position.saturating_add(self.old.iter().map(|part| part.bytes).sum())
    }

    /// Walks that are there: those that went with old parts, were broken off or left out are not.
    pub fn walks(&self) -> u64 {
        self.old.iter().map(|part| part.walks).sum::<u64>().saturating_add(self.walks_here)
    }

    /// The bound within which the last walk would have room if there were nothing else, bytes; 0 where there is no bound, or no walk.
    pub fn last_walk_needs(&self) -> u64 {
        self.last_walk_needs
    }

    /// Samples that were written, those repeated from old parts counted once.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Writes rows of one kind, as many chunks as they need. In the file when this returns.
    ///
    /// # Errors
    /// When the disk refuses: how many rows are missing is counted, and written as losses when it takes data again. When
    /// the trace has a bound that it has reached, or a row is too large for a chunk.
    pub fn write<R: TraceRow>(&mut self, mut rows: &[R]) -> WireResult<()> {
        // Small parts have small chunks.
        let target = usize::try_from(self.options.part_bytes).map_or(TARGET, |part| part.min(TARGET));
        while !rows.is_empty() {
            let mut heft = 0;
            let fits = |row: &&R| {
                heft += row.heft();
                heft <= target
            };
            let count = rows.iter().take(MOST_ROWS).take_while(fits).count().clamp(1, rows.len());
            let (now, later) = rows.split_at(count);
            rows = later;
            let result = self.make_room().and_then(|()| {
                let mut payload = std::mem::take(&mut self.payload);
                R::encode(now, &mut payload);
                let result = self.put_chunk(R::KIND, payload.finish());
                payload.shrink(2 * TARGET);
                self.payload = payload;
                result
            });
            if let Err(error) = result {
                self.missed(R::KIND, now.len() as u64);
                self.missed(R::KIND, later.len() as u64);
                return Err(error);
            }
            if R::KIND == ChunkKind::SAMPLES && !self.rotating {
                self.samples = self.samples.saturating_add(now.len() as u64);
            }
        }
        self.tell_unwritten()
    }

    /// As [`TraceWriter::write`], for rows that the caller keeps for another try: they do not count as missing.
    pub(crate) fn write_definitions<R: TraceRow>(&mut self, rows: &[R]) -> WireResult<()> {
        let result = self.write(rows);
        if result.is_err() {
            self.unwritten.remove(&R::KIND.0);
        }
        result
    }

    /// Counts rows that could not be written.
    pub(crate) fn missed(&mut self, kind: ChunkKind, rows: u64) {
        let count = self.unwritten.entry(kind.0).or_default();
        *count = count.saturating_add(rows);
        if kind == ChunkKind::SAMPLES {
            self.lost = self.lost.saturating_add(rows);
        }
    }

    /// Counts samples that were lost before they came here, for the end of the recording.
    pub fn count_lost(&mut self, samples: u64) {
        self.lost = self.lost.saturating_add(samples);
    }

    /// Reports rows that could not be written before.
    fn tell_unwritten(&mut self) -> WireResult<()> {
        if self.unwritten.is_empty() || self.rotating {
            return Ok(());
        }
        let time = self.now();
        let loss = |(&kind, &count): (&u16, &u64)| LossRow {
            time,
            what: u32::from(kind),
            reason: LossReason::WriteFailed,
            count,
            ..LossRow::default()
        };
        let losses: Vec<LossRow> = self.unwritten.iter().filter(|(_, count)| **count > 0).map(loss).collect();
        let mut payload = std::mem::take(&mut self.payload);
        LossRow::encode(&losses, &mut payload);
        let result = self.put_chunk(ChunkKind::LOSSES, payload.finish());
        self.payload = payload;
        result.map(|()| self.unwritten.clear())
    }

    /// Appends a chunk; those of a walk wait where there is a bound.
    pub(crate) fn put_chunk(&mut self, kind: ChunkKind, plain: &[u8]) -> WireResult<()> {
        let mut chunk = self.pack(kind, plain)?;
        let result = if self.spool.is_some() && kind.is_of_walk() {
            self.spool.as_mut().map_or(Ok(()), |spool| spool.push(chunk, stored(&self.packed, plain, chunk.packed)))
        } else {
            if !self.fits(kind, CHUNK_HEADER as u64 + u64::from(chunk.stored)) {
                self.make_room_for(kind, CHUNK_HEADER as u64 + u64::from(chunk.stored))?;
                // What was written meanwhile has taken the buffer.
                chunk = self.pack(kind, plain)?;
            }
            let number = self.begin_frame(&chunk);
            self.frame.extend_from_slice(stored(&self.packed, plain, chunk.packed));
            self.append(kind, number)
        };
        self.frame.clear();
        self.frame.shrink_to(2 * TARGET);
        self.packed.shrink_to(2 * TARGET);
        result
    }

    /// Packs the inside of a chunk into the buffer, where that makes it smaller.
    fn pack(&mut self, kind: ChunkKind, plain: &[u8]) -> WireResult<StoredChunk> {
        let length = u32::try_from(plain.len()).ok().filter(|&l| l <= MOST_PLAIN);
        let Some(length) = length else {
            return Err(WireError::TooLarge { what: format!("a chunk of {} bytes", plain.len()) });
        };
        self.packed.clear();
        let mut packed = false;
        if let Some(packer) = &mut self.packer
            && plain.len() >= LEAST_PACKED
            // The index must be readable from its end.
            && kind != ChunkKind::INDEX
        {
            self.packed.reserve(zstd::zstd_safe::compress_bound(plain.len()));
            packed = packer.compress_to_buffer(plain, &mut self.packed).is_ok_and(|n| n < plain.len());
        }
        let bytes = stored(&self.packed, plain, packed);
        Ok(StoredChunk { kind, packed, stored: bytes.len() as u32, plain: length, sum: crc32fast::hash(bytes) })
    }

    /// Puts the header of a chunk into the frame, which is empty then but for that, and returns its number.
    pub(crate) fn begin_frame(&mut self, chunk: &StoredChunk) -> u64 {
        let is_index = chunk.kind == ChunkKind::INDEX;
        let header = ChunkHeader {
            kind: chunk.kind,
            version: 1,
            packed: chunk.packed,
            other_stream: None,
            // What a part says of itself is no part of the stream.
            number: if is_index { u64::MAX } else { self.next },
            stored: chunk.stored,
            plain: chunk.plain,
            sum: chunk.sum,
        };
        self.frame.clear();
        self.frame.extend_from_slice(&header.bytes(&self.header.recording));
        // A number that was not written shows that something is missing.
        self.next = self.next.wrapping_add(u64::from(!is_index));
        header.number
    }

    /// Appends the frame.
    pub(crate) fn append(&mut self, kind: ChunkKind, number: u64) -> WireResult<()> {
        let (offset, length) = (self.position, self.frame.len() as u64);
        if let Err(error) = self.file.write_all(&self.frame) {
            // A part of it may be there: readers pass over it.
            self.position = self.file.metadata().map_or(self.position, |meta| meta.len());
            return Err(WireError::io(&self.path, error));
        }
        self.position = self.position.saturating_add(length);
        self.index.add(kind, number, offset, length);
        if kind.is_definition() {
            self.definitions.push((offset, length));
            self.definition_bytes = self.definition_bytes.saturating_add(length);
        }
        if matches!(kind, ChunkKind::SAMPLES | ChunkKind::OLD_SAMPLES | ChunkKind::LOSSES | ChunkKind::SETTINGS) {
            self.again = self.again.saturating_add(length);
        }
        #[cfg(test)]
        {
            self.highest = self.highest.max(self.bytes());
        }
        Ok(())
    }

    /// True if the reserved bytes may be used.
    pub(crate) fn may_use_all(&self) -> bool {
        self.rotating || self.ends
    }

    pub(crate) fn write_index(&mut self) -> WireResult<()> {
        let index = std::mem::take(&mut self.index);
        match index.finish(self.position) {
            Some(payload) => self.put_chunk(ChunkKind::INDEX, &payload),
            None => Ok(()),
        }
    }

    pub(crate) fn take_payload(&mut self) -> PayloadWriter {
        std::mem::take(&mut self.payload)
    }

    pub(crate) fn give_payload(&mut self, mut payload: PayloadWriter) {
        payload.shrink(2 * TARGET);
        self.payload = payload;
    }

    /// Waits until the operating system has written everything to the disk. Only needed to survive an end of the machine, not of this
    /// process.
    ///
    /// # Errors
    /// When it says so.
    pub fn sync(&self) -> WireResult<()> {
        self.file.sync_data().map_err(|e| WireError::io(&self.path, e))
    }

    /// Ends the recording, with the reason for people, and writes the index. A trace without this is as good, but says that
    /// it was cut.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(mut self, reason: &str) -> WireResult<()> {
        self.ends = true;
        self.tell_unwritten()?;
        let end = EndRow {
            time: self.now(),
            reason: reason.to_owned(),
            chunks: self.next,
            samples: self.samples,
            lost: self.lost,
        };
        self.write(&[end])?;
        self.write_index()
    }
}

/// Number of allocations that a sample of an object stands for, in units of 1/65,536. An object of `size` bytes is sampled with the
/// probability 1 - e^(-size / interval), where `interval` is the mean number of bytes between samples. With an interval of 0 every
/// allocation is sampled.
pub fn weight(size: u64, interval: u64) -> u64 {
    if interval == 0 {
        return SampleRow::ONE;
    }
    let probability = -(-(size.max(1) as f64) / interval as f64).exp_m1();
    (SampleRow::ONE as f64 / probability) as u64
}

impl SampleRow {
    /// The weight of one.
    const ONE: u64 = crate::rows::WEIGHT_ONE;
}

/// The bytes to write of a chunk: packed, or plain.
fn stored<'a>(packed: &'a [u8], plain: &'a [u8], is_packed: bool) -> &'a [u8] {
    if is_packed { packed } else { plain }
}

/// The name of a part.
pub(crate) fn part_path(folder: &Path, stream: u16, part: u32) -> PathBuf {
    folder.join(format!("{stream:02}-{part:06}.mcity"))
}

/// Whether a file of a recording's folder is a part, by its name.
pub fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mcity")
}

/// Opens a part of another stream to read it, whose folder may have another owner by now. Follows no link, opens no device, and does not
/// wait for a pipe.
pub(crate) fn open_part(path: &Path) -> std::io::Result<File> {
    let regular = |meta: std::fs::Metadata| match meta.is_file() {
        true => Ok(()),
        false => Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "this is no regular file")),
    };
    // Opening some devices does something already.
    regular(std::fs::symlink_metadata(path)?)?;
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
    }
    let file = options.read(true).open(path)?;
    regular(file.metadata()?).map(|()| file)
}

/// Makes a file that only this user may read, with its header.
pub(crate) fn create_part(path: &Path, header: &PartHeader) -> WireResult<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|e| WireError::io(path, e))?;
    file.write_all(&header.to_bytes()).map_err(|e| WireError::io(path, e))?;
    Ok(file)
}

/// Bytes that no other recording has: of the random keys of hash tables, the time and the process.
fn random() -> [u8; 16] {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let half = |n: u8| RandomState::new().hash_one((n, now, std::process::id())).to_le_bytes();
    let mut out = [0; 16];
    out.iter_mut().zip(half(0).into_iter().chain(half(1))).for_each(|(out, byte)| *out = byte);
    out
}
