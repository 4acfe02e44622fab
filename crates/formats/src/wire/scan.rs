//! The first reading of a recording: everything but the objects of walks, whose places it notes.

use super::count_stream::{CONVERTED, COUNTS_OF};
use super::ended::EndedSamples;
use super::names::StreamTables;
use super::parts::headed;
use super::warnings::Trouble;
use crate::budget::{memory_budget, memory_text};
use crate::counts::{ClassCounts, CountBasis, CountMoment, HistogramPiece, StreamCounts, joined};
use ahash::AHashMap;
use memory_city_heap::Amount;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_wire::{
    Chunk, ChunkKind, ClassRow, CohortRow, CountRow, DeathRow, EndRow, FieldRow, FrameRow, GcRow, LoaderRow,
    LossReason, LossRow, MethodRow, OldSamplesRow, OriginRow, PartReader, Piece, RunRow, SampleRow, SettingRow,
    StringRow, ThreadRow, TraceRow, WalkEndRow, WalkStartRow, WireError, WireResult,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A recording, without the objects of its walks.
pub(super) struct Scan {
    pub(super) files: Vec<Input>,
    pub(super) streams: BTreeMap<u16, StreamTables>,
    /// Facts of the run, by key.
    pub(super) run: BTreeMap<String, String>,
    /// Collections by number, with the stream that saw them: their causes are strings of that one.
    pub(super) gcs: BTreeMap<u64, (u16, GcRow)>,
    /// Samples by number, but for those in `ended`.
    pub(super) samples: AHashMap<u64, SampleOrigin>,
    /// Samples with a death that no walk names, added up.
    pub(super) ended: EndedSamples,
    /// In the order of time.
    pub(super) walks: Vec<WalkPlace>,
    /// Class histograms, by stream.
    pub(super) counts: BTreeMap<u16, StreamCounts>,
    /// Of `samples` those whose objects are dead, or that were dropped.
    pub(super) deaths: AHashMap<u64, SampleDeath>,
    pub(super) losses: Vec<LossRow>,
    /// Sums of samples of parts that have gone, by stream.
    pub(super) old_samples: Vec<(u16, OldSamplesRow)>,
    /// Changes of cohorts between moments, by stream.
    pub(super) cohorts: Vec<(u16, CohortRow)>,
    /// Settings that changed on the way.
    pub(super) settings: Vec<SettingRow>,
    pub(super) trouble: Trouble,
    /// Bytes that all of this takes, about.
    memory: u64,
    /// How much it may.
    budget: u64,
}

/// The origin of a sample's object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SampleOrigin {
    pub(super) stream: u16,
    pub(super) time: u64,
    pub(super) thread: u32,
    pub(super) stack: Option<u32>,
    pub(super) gcs: u32,
    pub(super) class: u32,
    pub(super) size: u64,
    /// In units of 1/65,536.
    pub(super) weight: u64,
    /// Elements of an array, if recorded.
    pub(super) length: Option<u32>,
}

/// The time at which a sample was found dead or dropped, and the number of the collection that freed its object, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleDeath {
    pub(super) time: u64,
    pub(super) gc: Option<u64>,
}

/// A walk, and where its chunks are.
pub(super) struct WalkPlace {
    pub(super) stream: u16,
    pub(super) start: WalkStartRow,
    /// Kind, file and offset of its chunks, in their order.
    pub(super) chunks: Vec<(ChunkKind, usize, u64)>,
    /// The file it begins in.
    pub(super) file: usize,
    pub(super) end: Option<WalkEndRow>,
}

/// The state of a stream while it is read.
#[derive(Default)]
struct StreamProgress {
    /// The last file that has something of it.
    file: usize,
    numbers: Vec<u64>,
    /// The first chunk that is no repeated definition.
    first: Option<u64>,
    walk: Option<usize>,
    ended: bool,
}

/// An error of the format as one of the engine.
pub(super) fn error_of(error: WireError) -> Error {
    match error {
        WireError::Io { path, source } => Error::io(&path, source),
        WireError::Format { path, offset, found, expected } => Error::Format {
            path,
            offset: Some(offset),
            found,
            expected,
            remedy: "Record again, or copy the file again if it was larger".into(),
        },
        other => Error::Unusable { what: other.to_string(), remedy: "Record with other limits".into() },
    }
}

impl Scan {
    /// Reads files of one recording, in any order.
    ///
    /// # Errors
    /// When one of them cannot be read or has another header, they are of different recordings, or the work was cancelled.
    pub(super) fn read(inputs: Vec<Input>, progress: &Progress) -> Result<Scan> {
        let (files, unread) = headed(inputs)?;
        let total = files.iter().map(|(_, input)| input.bytes().len() as u64).sum();
        progress.begin(
            format!("Reading {}", files.first().map_or(Path::new(""), |(_, input)| &input.path).display()),
            total,
        );
        let mut scan = Scan {
            files: Vec::new(),
            streams: BTreeMap::new(),
            run: BTreeMap::new(),
            gcs: BTreeMap::new(),
            samples: AHashMap::default(),
            ended: EndedSamples::default(),
            walks: Vec::new(),
            counts: BTreeMap::new(),
            deaths: AHashMap::default(),
            losses: Vec::new(),
            old_samples: Vec::new(),
            cohorts: Vec::new(),
            settings: Vec::new(),
            trouble: Trouble::default(),
            memory: 0,
            budget: memory_budget(),
        };
        unread.iter().for_each(|(path, error)| scan.trouble.file(path, error));
        scan.ended = EndedSamples::within(&files, scan.budget, progress)?;
        let mut streams: BTreeMap<u16, StreamProgress> = BTreeMap::new();
        let last_of: BTreeMap<u16, u32> = files.iter().map(|(header, _)| (header.stream, header.part)).collect();
        for (number, (header, input)) in files.iter().enumerate() {
            scan.trouble.warnings.extend(input.warnings.iter().cloned());
            streams.entry(header.stream).or_default().file = number;
            let is_last = last_of.get(&header.stream) == Some(&header.part);
            scan.read_part(number, input, &mut streams, is_last, progress)?;
        }
        let is_counted = scan.losses.iter().any(|loss| loss.reason == LossReason::Killed);
        for stream in streams.values() {
            if let Some((_, input)) = files.get(stream.file) {
                scan.trouble.stream(&input.path, stream.missing(), stream.ended, is_counted);
            }
        }
        for counts in scan.counts.values_mut() {
            scan.memory += counts.complete();
            scan.trouble.incomplete_histograms += counts.incomplete;
        }
        let most = scan.counts.values().map(StreamCounts::len).max().unwrap_or(0);
        scan.trouble.other_histograms = (scan.histograms() - most) as u64;
        if let Some((_, input)) = files.first() {
            scan.trouble.settings(&input.path, &scan.settings);
            scan.trouble.unlinked(&input.path, scan.walks.iter().filter_map(|walk| walk.end.as_ref()));
        }
        // Walks copy them.
        scan.memory += scan.streams.values().map(StreamTables::class_name_bytes).sum::<u64>();
        if let Some((_, input)) = files.first().filter(|_| scan.memory + scan.memory_of_samples() > scan.budget) {
            return Err(too_large(&input.path, scan.budget));
        }
        scan.files = files.into_iter().map(|(_, input)| input).collect();
        scan.walks.sort_by_key(|walk| (walk.start.time, walk.stream, walk.start.walk));
        Ok(scan)
    }

    fn read_part(
        &mut self,
        file: usize,
        input: &Input,
        streams: &mut BTreeMap<u16, StreamProgress>,
        is_last: bool,
        progress: &Progress,
    ) -> Result<()> {
        let path = &input.path;
        for piece in PartReader::new(path, input.bytes()).map_err(error_of)? {
            progress.check()?;
            match piece {
                Piece::Chunk(chunk) => {
                    progress.advance(chunk.length());
                    // A file may have chunks of several.
                    let stream = streams.entry(chunk.stream()).or_default();
                    stream.file = file;
                    if chunk.kind() != ChunkKind::INDEX {
                        stream.numbers.push(chunk.number());
                    }
                    if !chunk.kind().is_definition() && chunk.kind() != ChunkKind::INDEX && stream.first.is_none() {
                        stream.first = Some(chunk.number());
                    }
                    if !chunk.is_known() {
                        self.trouble.unknown_chunks += 1;
                    } else if let Err(error) = self.take(file, stream, &chunk) {
                        self.trouble.chunk(path, &error);
                    }
                    // A few bytes may say that there are millions of names.
                    if self.memory + self.memory_of_samples() > self.budget {
                        return Err(too_large(path, self.budget));
                    }
                }
                Piece::Damage { offset, length } => self.trouble.damage(path, offset, length),
                Piece::Cut { offset, length } => self.trouble.cut(path, offset, length, is_last),
            }
        }
        Ok(())
    }

    /// Reads a chunk.
    fn take(&mut self, file: usize, stream: &mut StreamProgress, chunk: &Chunk<'_>) -> WireResult<()> {
        fn rows<R: TraceRow>(
            chunk: &Chunk<'_>,
            (trouble, memory): &mut (&mut Trouble, &mut u64),
        ) -> WireResult<Vec<R>> {
            let decoded = chunk.rows::<R>()?;
            trouble.unknown_columns += u64::from(decoded.unknown_columns);
            **memory += decoded.rows.len() as u64 * (size_of::<R>() as u64 + 16) + u64::from(chunk.plain_length());
            Ok(decoded.rows)
        }
        /// Rows that are not kept as they are.
        fn unkept<R: TraceRow>(chunk: &Chunk<'_>, trouble: &mut Trouble) -> WireResult<Vec<R>> {
            let decoded = chunk.rows::<R>()?;
            trouble.unknown_columns += u64::from(decoded.unknown_columns);
            Ok(decoded.rows)
        }
        let trouble = &mut (&mut self.trouble, &mut self.memory);
        let tables = self.streams.entry(chunk.stream()).or_default();
        match chunk.kind() {
            ChunkKind::STRINGS => tables.add_strings(rows::<StringRow>(chunk, trouble)?),
            ChunkKind::LOADERS => {
                tables.loaders.extend(rows::<LoaderRow>(chunk, trouble)?.into_iter().map(|r| (r.id, r)));
            }
            ChunkKind::CLASSES => {
                tables.classes.extend(rows::<ClassRow>(chunk, trouble)?.into_iter().map(|r| (r.id, r)));
            }
            ChunkKind::METHODS => {
                tables.methods.extend(rows::<MethodRow>(chunk, trouble)?.into_iter().map(|r| (r.id, r)));
            }
            ChunkKind::FRAMES => {
                tables.frames.extend(rows::<FrameRow>(chunk, trouble)?.into_iter().map(|r| (r.id, r)));
            }
            ChunkKind::THREADS => {
                tables.threads.extend(rows::<ThreadRow>(chunk, trouble)?.into_iter().map(|r| (r.id, r)));
            }
            ChunkKind::ORIGINS => {
                tables.origins.extend(rows::<OriginRow>(chunk, trouble)?.into_iter().map(|r| (r.id, r)));
            }
            // Each part repeats them.
            ChunkKind::FIELDS => {
                for row in rows::<FieldRow>(chunk, trouble)? {
                    tables.fields.entry((row.from, row.to)).or_default().insert(row.field);
                }
            }
            ChunkKind::RUN => {
                self.run.extend(rows::<RunRow>(chunk, trouble)?.into_iter().map(|r| (r.key, r.value)));
            }
            ChunkKind::GCS => {
                self.gcs.extend(rows::<GcRow>(chunk, trouble)?.into_iter().map(|r| (r.number, (chunk.stream(), r))));
            }
            ChunkKind::SAMPLES => {
                let stream = chunk.stream();
                let origin = |r: SampleRow| {
                    let SampleRow { id, time, thread, class, size, length, weight, stack, gcs, .. } = r;
                    (id, SampleOrigin { stream, class, size, weight, time, thread, stack, gcs, length })
                };
                for (id, sample) in unkept::<SampleRow>(chunk, trouble.0)?.into_iter().map(origin) {
                    match self.deaths.get(&id) {
                        Some(&death) if self.ended.take(id, sample, death) => _ = self.deaths.remove(&id),
                        _ => _ = self.samples.insert(id, sample),
                    }
                }
            }
            ChunkKind::DEATHS => {
                let death = |row: DeathRow| (row.sample, SampleDeath { time: row.time, gc: row.gc });
                for (id, death) in unkept::<DeathRow>(chunk, trouble.0)?.into_iter().map(death) {
                    match self.samples.get(&id) {
                        Some(&sample) if self.ended.take(id, sample, death) => _ = self.samples.remove(&id),
                        _ => _ = self.deaths.insert(id, death),
                    }
                }
            }
            ChunkKind::OLD_SAMPLES => {
                let rows = rows::<OldSamplesRow>(chunk, trouble)?;
                self.old_samples.extend(rows.into_iter().map(|row| (chunk.stream(), row)));
            }
            ChunkKind::COHORTS => {
                let rows = rows::<CohortRow>(chunk, trouble)?;
                self.cohorts.extend(rows.into_iter().map(|row| (chunk.stream(), row)));
            }
            ChunkKind::SETTINGS => self.settings.extend(rows::<SettingRow>(chunk, trouble)?),
            ChunkKind::COUNTS => {
                // What is kept of them is far less than the rows.
                let decoded = chunk.rows::<CountRow>()?;
                trouble.0.unknown_columns += u64::from(decoded.unknown_columns);
                let counts = self.counts.entry(chunk.stream()).or_default();
                *trouble.1 += decoded.rows.into_iter().map(|row| counts.take(piece_of(&row))).sum::<u64>();
            }
            ChunkKind::LOSSES => self.losses.extend(rows::<LossRow>(chunk, trouble)?),
            ChunkKind::END => {
                rows::<EndRow>(chunk, trouble)?;
                stream.ended = true;
            }
            ChunkKind::WALK_START => {
                for start in rows::<WalkStartRow>(chunk, trouble)? {
                    stream.walk = Some(self.walks.len());
                    let stream = chunk.stream();
                    self.walks.push(WalkPlace { stream, start, chunks: Vec::new(), file, end: None });
                }
            }
            ChunkKind::WALK_END => {
                for end in rows::<WalkEndRow>(chunk, trouble)? {
                    let walk = stream.walk.take().and_then(|at| self.walks.get_mut(at));
                    match walk.filter(|walk| walk.start.walk == end.walk) {
                        Some(walk) => walk.end = Some(end),
                        None => trouble.0.stray_chunks += 1,
                    }
                }
            }
            kind if kind >= ChunkKind::WALK_START && kind <= ChunkKind::WALK_IDENTITIES => {
                match stream.walk.and_then(|at| self.walks.get_mut(at)) {
                    Some(walk) => walk.chunks.push((kind, file, chunk.offset)),
                    None => trouble.0.stray_chunks += 1,
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn memory_of_samples(&self) -> u64 {
        let samples = self.samples.capacity() * size_of::<(u64, SampleOrigin)>();
        let deaths = self.deaths.capacity() * size_of::<(u64, SampleDeath)>();
        (samples + deaths + self.ended.memory()) as u64
    }

    /// How many samples there are, but for those of parts that have gone.
    pub(super) fn sample_count(&self) -> u64 {
        self.samples.len() as u64 + self.ended.samples()
    }

    /// The name of a class.
    pub(super) fn class_name(&self, stream: u16, class: u32) -> Arc<str> {
        let name = || {
            let tables = self.streams.get(&stream)?;
            Some(tables.string(tables.classes.get(&class)?.name))
        };
        name().unwrap_or_else(|| Arc::from("(unknown class)"))
    }

    /// The number of class histograms.
    pub(super) fn histograms(&self) -> usize {
        self.counts.values().map(StreamCounts::len).sum()
    }

    /// The class counts; `None` without histograms. `millis` converts a time of the recording in nanoseconds to milliseconds.
    pub(super) fn class_counts(&self, millis: impl Fn(u64) -> u64) -> Option<ClassCounts> {
        let named = |stream, class| self.class_name(stream, class);
        let basis = self.count_basis();
        (self.histograms() > 0).then(|| ClassCounts { basis, ..joined(&self.counts, named, millis).0 })
    }

    /// The basis of the counts.
    pub(super) fn count_basis(&self) -> CountBasis {
        let is_converted = self.run.get("recording.mode").is_some_and(|mode| mode == CONVERTED);
        CountBasis::of(self.run.get(COUNTS_OF).map(|word| word.trim()), is_converted)
    }

    /// The chunk at a place that was noted.
    ///
    /// # Errors
    /// When the file has changed since.
    pub(super) fn chunk(&self, file: usize, offset: u64) -> Result<Chunk<'_>> {
        let input = &self.files[file];
        let mut reader = PartReader::new(&input.path, input.bytes()).map_err(error_of)?;
        reader.go_to(offset);
        match reader.next() {
            Some(Piece::Chunk(chunk)) => Ok(chunk),
            _ => Err(Error::Unusable {
                what: format!("{} has changed while it was open", input.path.display()),
                remedy: "Open it again".into(),
            }),
        }
    }
}

/// A row of a histogram as the counts take it.
fn piece_of(row: &CountRow) -> HistogramPiece {
    HistogramPiece {
        number: row.histogram,
        time: row.time,
        moment: CountMoment { millis: 0, gc: row.gc, with_garbage: row.garbage, pause: row.pause },
        rows: row.rows,
        class: (row.class, row.stack),
        counted: Amount { objects: row.objects, bytes: row.bytes },
    }
}

impl StreamProgress {
    /// Chunks that are not there, behind the first that is no repetition.
    fn missing(&self) -> u64 {
        let Some(first) = self.first else { return 0 };
        let mut numbers: Vec<u64> = self.numbers.iter().copied().filter(|n| *n >= first).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let span = numbers.last().map_or(0, |last| last - first + 1);
        span - numbers.len() as u64
    }
}

pub(super) fn too_large(path: &Path, budget: u64) -> Error {
    Error::Unusable {
        what: format!("{} takes more than the {} of memory that are free", path.display(), memory_text(budget)),
        remedy: "Close other programs, or open it on a machine with more memory".into(),
    }
}
