//! Writes a trace: appends whole chunks, each in one call of the operating system, so that whoever reads it, also while it
//! grows or after the process was killed, finds nothing half done but the last chunk.
//!
//! Made to run inside somebody else's program. It does not panic, and its memory has a bound: the buffers of one chunk, the
//! state of the packer, and some bytes for each chunk of definitions in the part that is being written.

use crate::chunk::{ChunkHeader, ChunkKind, FILE_HEADER, MOST_PLAIN, PartHeader};
use crate::columns::{MOST_ROWS, PayloadWriter};
use crate::error::{WireError, WireResult};
use crate::index::IndexBuilder;
use crate::retire::{self, Retired};
use crate::rows::{EndRow, LossReason, LossRow, SampleRow, TraceRow};
use std::collections::{BTreeMap, VecDeque};
use std::fs::{DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Seek, SeekFrom, Write};
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
    /// In folders: a new part is begun behind so many bytes: at least 64 KiB, at most an eighth of the bound.
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
/// In a folder with a bound (`most_bytes`), the oldest parts go. What later parts need of them is written again first:
/// names, classes, stacks and facts of the run at the beginning of each part; samples whose objects are alive or stand in a
/// walk that is left; all other samples added up by class, stack and thread; and how many collections, histograms and
/// walks went. A walk is in one part: the bound may be passed by the size of a walk.
pub struct TraceWriter {
    header: PartHeader,
    options: TraceOptions,
    folder: Option<PathBuf>,
    path: PathBuf,
    pub(crate) file: File,
    pub(crate) position: u64,
    begun: Instant,
    next: u64,
    payload: PayloadWriter,
    packed: Vec<u8>,
    frame: Vec<u8>,
    packer: Option<zstd::bulk::Compressor<'static>>,
    /// Where in this part the definitions are: offset and length of their chunks.
    definitions: Vec<(u64, u64)>,
    definition_bytes: u64,
    index: IndexBuilder,
    old: VecDeque<OldPart>,
    /// Rows that could not be written, by kind, and not yet told.
    unwritten: BTreeMap<u16, u64>,
    samples: u64,
    lost: u64,
    in_walk: bool,
    /// Where the walk begins that is being written, and what the last one took.
    walk_begun: u64,
    last_walk: u64,
    walks: u32,
    rotating: bool,
    is_full: bool,
}

/// A part that is complete.
struct OldPart {
    path: PathBuf,
    bytes: u64,
}

impl TraceWriter {
    /// Begins a trace in one file, which must not exist yet. It has no bound.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create_file(path: &Path, options: TraceOptions) -> WireResult<TraceWriter> {
        Self::begin(None, path.to_owned(), TraceOptions { most_bytes: None, part_bytes: u64::MAX, ..options })
    }

    /// Begins a trace in a file that is open for writing, and empty; the path is for messages. It has no bound. Who may read
    /// the file is for whoever made it to say.
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

    /// On a file with its header.
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
            index: IndexBuilder::default(),
            old: VecDeque::new(),
            unwritten: BTreeMap::new(),
            samples: 0,
            lost: 0,
            in_walk: false,
            walk_begun: 0,
            last_walk: 0,
            walks: 0,
            rotating: false,
            is_full: false,
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

    /// Nanoseconds since the recording began: the time of what happens now.
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
        while !rows.is_empty() {
            let mut heft = 0;
            let fits = |row: &&R| {
                heft += row.heft();
                heft <= TARGET
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

    /// As [`TraceWriter::write`], for what the caller keeps and tries again: it does not count as missing.
    pub(crate) fn write_definitions<R: TraceRow>(&mut self, rows: &[R]) -> WireResult<()> {
        let result = self.write(rows);
        if result.is_err() {
            self.unwritten.remove(&R::KIND.0);
        }
        result
    }

    /// Notes what could not be written.
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

    /// Writes down what could not be written before.
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

    /// Appends a chunk.
    pub(crate) fn put_chunk(&mut self, kind: ChunkKind, plain: &[u8]) -> WireResult<()> {
        let length = u32::try_from(plain.len()).ok().filter(|&l| l <= MOST_PLAIN);
        let Some(length) = length else {
            return Err(WireError::TooLarge { what: format!("a chunk of {} bytes", plain.len()) });
        };
        self.packed.clear();
        let mut is_packed = false;
        if let Some(packer) = &mut self.packer
            && plain.len() >= LEAST_PACKED
            // The index must be readable from its end.
            && kind != ChunkKind::INDEX
        {
            self.packed.reserve(zstd::zstd_safe::compress_bound(plain.len()));
            is_packed = packer.compress_to_buffer(plain, &mut self.packed).is_ok_and(|n| n < plain.len());
        }
        let stored = if is_packed { &self.packed[..] } else { plain };
        let header = ChunkHeader {
            kind,
            version: 1,
            packed: is_packed,
            other_stream: None,
            // What a part says of itself is no part of the stream.
            number: if kind == ChunkKind::INDEX { u64::MAX } else { self.next },
            stored: stored.len() as u32,
            plain: length,
            sum: crc32fast::hash(stored),
        };
        self.frame.clear();
        self.frame.extend_from_slice(&header.bytes(&self.header.recording));
        self.frame.extend_from_slice(stored);
        // A number that was not written shows that something is missing.
        self.next = self.next.wrapping_add(u64::from(kind != ChunkKind::INDEX));
        let result = self.append(kind, header.number);
        self.frame.clear();
        self.frame.shrink_to(2 * TARGET);
        self.packed.shrink_to(2 * TARGET);
        result
    }

    /// Appends what is in the frame.
    fn append(&mut self, kind: ChunkKind, number: u64) -> WireResult<()> {
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
        Ok(())
    }

    /// Begins a new part where this one is long enough, and lets old ones go.
    fn make_room(&mut self) -> WireResult<()> {
        if let (true, false, Some(most)) = (self.is_full, self.in_walk, self.options.most_bytes) {
            return Err(WireError::Full { most });
        }
        if self.in_walk
            || self.rotating
            || self.position.saturating_sub(self.definition_bytes) < self.options.part_bytes
        {
            return Ok(());
        }
        self.rotating = true;
        let result = self.rotate().and_then(|()| self.keep_bound());
        self.rotating = false;
        result
    }

    /// Begins the next part of a folder: with all definitions.
    fn rotate(&mut self) -> WireResult<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        self.write_index()?;
        let header = PartHeader { part: self.header.part.saturating_add(1), ..self.header };
        let path = part_path(&folder, header.stream, header.part);
        let file = create_part(&path, &header)?;
        let mut source = File::open(&self.path).map_err(|e| WireError::io(&self.path, e))?;
        let old_path = std::mem::replace(&mut self.path, path);
        self.old.push_back(OldPart { path: old_path.clone(), bytes: self.position });
        (self.header, self.file, self.position) = (header, file, FILE_HEADER as u64);
        self.index = IndexBuilder::default();
        self.definition_bytes = 0;
        for (offset, length) in std::mem::take(&mut self.definitions) {
            self.frame.clear();
            let read = source
                .seek(SeekFrom::Start(offset))
                .and_then(|_| (&mut source).take(length).read_to_end(&mut self.frame));
            match read {
                Ok(read) if read as u64 == length => {}
                Ok(_) => continue,
                Err(error) => return Err(WireError::io(&old_path, error)),
            }
            let number = self.frame.get(8..).and_then(|rest| rest.first_chunk()).copied().map_or(0, u64::from_le_bytes);
            let kind = self.frame.get(4..).and_then(|rest| rest.first_chunk()).copied().map_or(0, u16::from_le_bytes);
            self.append(ChunkKind(kind), number)?;
        }
        Ok(())
    }

    /// Lets old parts go until the bound is kept.
    fn keep_bound(&mut self) -> WireResult<()> {
        let Some(most) = self.options.most_bytes else { return Ok(()) };
        // The part that has just begun will grow to its size, and then end with the walk in which it does.
        let part = self.options.part_bytes;
        let room = part.saturating_add(self.last_walk).saturating_add(self.last_walk / 8);
        while self.bytes().saturating_add(room) > most {
            let Some(oldest) = self.old.pop_front() else {
                // The next walk has a place however large it is: one that is gone is worse than one that is too large.
                if self.bytes().saturating_add(part) <= most {
                    break;
                }
                self.is_full = true;
                return Err(WireError::Full { most });
            };
            if let Err(error) = self.let_go(&oldest.path) {
                self.old.push_front(oldest);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes again what is needed of an old part, and removes it.
    fn let_go(&mut self, oldest: &Path) -> WireResult<()> {
        let others: Vec<PathBuf> = self.old.iter().map(|part| part.path.clone()).chain([self.path.clone()]).collect();
        let (header, now) = (self.header, self.now());
        let Retired { old_samples, losses } =
            retire::retire(oldest, &header, &others, now, &mut |samples| self.write(samples))?;
        self.write(&old_samples)?;
        self.write(&losses)?;
        std::fs::remove_file(oldest).map_err(|e| WireError::io(oldest, e))
    }

    fn write_index(&mut self) -> WireResult<()> {
        let index = std::mem::take(&mut self.index);
        match index.finish(self.position) {
            Some(payload) => self.put_chunk(ChunkKind::INDEX, &payload),
            None => Ok(()),
        }
    }

    pub(crate) fn next_walk(&mut self) -> WireResult<u32> {
        self.make_room()?;
        self.in_walk = true;
        self.walk_begun = self.position;
        self.walks = self.walks.wrapping_add(1);
        Ok(self.walks.wrapping_sub(1))
    }

    pub(crate) fn end_walk(&mut self) {
        self.last_walk = self.position.saturating_sub(self.walk_begun);
        self.in_walk = false;
    }

    pub(crate) fn take_payload(&mut self) -> PayloadWriter {
        std::mem::take(&mut self.payload)
    }

    pub(crate) fn give_payload(&mut self, mut payload: PayloadWriter) {
        payload.shrink(2 * TARGET);
        self.payload = payload;
    }

    /// Waits until the operating system has everything on the disk. Not needed for what only the end of this process, not
    /// that of the machine, may cut.
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
        self.tell_unwritten()?;
        let end = EndRow {
            time: self.now(),
            reason: reason.to_owned(),
            chunks: self.next,
            samples: self.samples,
            lost: self.lost,
        };
        self.in_walk = true; // no new part for this
        self.write(&[end])?;
        self.write_index()
    }
}

/// How many allocations a sample of an object stands for, in units of 1/65,536: one of so many bytes is sampled with the
/// probability 1 - e^(-size / interval), where `interval` is the mean number of bytes between samples. With an interval of
/// 0 every allocation is sampled.
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

/// The name of a part.
fn part_path(folder: &Path, stream: u16, part: u32) -> PathBuf {
    folder.join(format!("{stream:02}-{part:06}.mcity"))
}

/// Makes a file that only this user may read, with its header.
fn create_part(path: &Path, header: &PartHeader) -> WireResult<File> {
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
