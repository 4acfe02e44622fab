//! Takes the dumps of walks that the recorder inside the program leaves, and writes them into the trace as walks: with the
//! place of each followed sample, without any value of a field or an array.
//!
//! A dump is unlinked as soon as it is open: nothing of it stays behind, whatever happens to this process.

use memory_city_agent::folder::WalkNote;
use memory_city_formats::hprof::{self, HeldDump};
use memory_city_formats::wire::{SavedWalk, SeenWalk, WalkStream};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_wire::{
    ChunkKind, FILE_HEADER, LossRow, OldSamplesRow, PartHeader, PartReader, Piece, SampleRow, TraceOptions,
    TraceWriter, WalkStartRow, is_part,
};
use std::path::{Path, PathBuf};

/// Takes walks.
pub struct WalkTaker {
    folder: PathBuf,
    most_bytes: u64,
    stream: Option<WalkStream>,
    /// Walks written.
    pub walks: u64,
    /// Walks that were left out, as the bound has no room for them.
    pub too_large: u64,
    /// Before there is a stream: what [`WalkTaker::kept`] and [`WalkTaker::last_walk_needs`] say.
    pub before: [u64; 2],
    /// Objects of the last one.
    pub objects: u64,
    /// Walks whose dump does not tell where objects are that have numbers: they are as they would be without.
    pub unnumbered: u64,
    /// Walks that could not be taken, and why the last one could not.
    pub failed: Option<(u64, String)>,
}

impl WalkTaker {
    /// Of a trace in `folder`, whose walks may take so many bytes: then the oldest go, and are counted.
    pub fn new(folder: &Path, most_bytes: u64) -> WalkTaker {
        WalkTaker {
            folder: folder.to_owned(),
            most_bytes,
            stream: None,
            walks: 0,
            too_large: 0,
            before: [0; 2],
            objects: 0,
            unnumbered: 0,
            failed: None,
        }
    }

    /// Bytes written.
    pub fn bytes(&self) -> u64 {
        self.stream.as_ref().map_or(0, WalkStream::bytes)
    }

    /// Walks that are in the trace: those that went with its old parts are not.
    pub fn kept(&self) -> u64 {
        self.stream.as_ref().map_or(self.before[0], WalkStream::walks)
    }

    /// The bound within which the last walk would have room if there were nothing else, bytes.
    pub fn last_walk_needs(&self) -> u64 {
        self.stream.as_ref().map_or(self.before[1], WalkStream::last_walk_needs)
    }

    /// Takes what waits. A walk that cannot be taken is counted; the others go on.
    pub fn take(&mut self, progress: &Progress) {
        for number in WalkNote::waiting(&self.folder) {
            let dump = WalkNote::dump(&self.folder, number);
            let input = Input::open(&dump, progress);
            // Also when it could not be opened: no dump stays behind.
            let _ = std::fs::remove_file(&dump);
            let numbers = Input::open(&WalkNote::numbers(&self.folder, number), progress).ok();
            let _ = std::fs::remove_file(WalkNote::numbers(&self.folder, number));
            let taken = input.and_then(|input| self.one(number, input, numbers.as_ref(), progress));
            let _ = std::fs::remove_file(WalkNote::file(&self.folder, number));
            match taken {
                Ok(SavedWalk::Written { objects }) => {
                    self.walks += 1;
                    self.objects = objects;
                }
                Ok(SavedWalk::TooLarge { .. }) => self.too_large += 1,
                Err(error) => {
                    let before = self.failed.take().map_or(0, |(n, _)| n);
                    self.failed = Some((before + 1, error.to_string()));
                }
            }
        }
    }

    fn one(&mut self, number: u64, input: Input, numbers: Option<&Input>, progress: &Progress) -> Result<SavedWalk> {
        let file = WalkNote::file(&self.folder, number);
        let text = std::fs::read_to_string(&file).map_err(|e| Error::io(&file, e))?;
        let note = WalkNote::parse(&text).ok_or_else(|| Error::Unusable {
            what: format!("{} is damaged", file.display()),
            remedy: "The walk is left out".into(),
        })?;
        let numbers = || WalkNote::parse_numbers(numbers.map_or(&[], |input| input.bytes()));
        let handles = note.links.iter().copied().chain(numbers()).map(|object| object.handle()).collect();
        let HeldDump { heap, held, fields } = hprof::load_walk(input, &handles, progress)?;
        let mut samples: Vec<_> =
            note.links.iter().filter_map(|link| Some((*held.get(&link.handle())?, link.number))).collect();
        samples.sort_unstable();
        // An object that was met twice, which the VM does not rule out, is known by its first number.
        let mut identities: Vec<_> =
            numbers().filter_map(|object| Some((*held.get(&object.handle())?, object.number))).collect();
        identities.sort_unstable();
        identities.dedup_by_key(|(object, _)| *object);
        // All of them were held. Where some are not at the places that the dump says, it was written while a collector moved them: then
        // nothing is said of any, as those would look like others.
        let missing = numbers().filter(|object| !object.is_class() && !held.contains_key(&object.handle())).count();
        if missing > 0 {
            identities.clear();
            self.unnumbered += 1;
        }
        let start = WalkStartRow {
            time: note.start,
            gc: note.gcs.checked_sub(1),
            gcs: u32::try_from(note.gcs).unwrap_or(u32::MAX),
            ..WalkStartRow::default()
        };
        let lost_classes =
            note.links.iter().filter(|link| link.is_class() && !held.contains_key(&link.handle())).count();
        let seen = SeenWalk {
            samples: &samples,
            identities: &identities,
            fields: Some(&fields),
            pause: Some(note.end.saturating_sub(note.start)),
            unlinked: (note.links.len() - samples.len()) as u64,
            unlinked_classes: lost_classes as u64,
            late: note.late,
        };
        self.stream()?.write(&heap, start, &seen, progress)
    }

    fn stream(&mut self) -> Result<&mut WalkStream> {
        match &mut self.stream {
            Some(stream) => Ok(stream),
            none => Ok(none.insert(WalkStream::new(begin(&self.folder, self.most_bytes)?))),
        }
    }

    /// The program was killed at `time`, nanoseconds since the recording began, when it had taken so many samples: notes in the trace
    /// how many of them are not there, and returns how many are lost, those included that the program had noted itself.
    ///
    /// # Errors
    /// When the trace cannot be read, or written.
    pub fn killed(&mut self, time: u64, taken: u64) -> Result<u64> {
        let (there, noted) = samples_in(&self.folder)?;
        let lost = taken.saturating_sub(there);
        self.stream()?.samples_gone(time, lost.saturating_sub(noted))?;
        Ok(lost)
    }

    /// Ends the stream.
    pub fn finish(self, reason: &str) -> Result<()> {
        self.stream.map_or(Ok(()), |stream| stream.finish(reason))
    }
}

/// Samples that the program has written, those included that have become sums; and how many it has noted as lost.
fn samples_in(folder: &Path) -> Result<(u64, u64)> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?.flatten();
    let (mut there, mut noted) = (0u64, 0u64);
    for part in entries.map(|e| e.path()).filter(|p| is_part(p)) {
        let input = Input::open(&part, &Progress::new())?;
        // Only the program's own stream has samples. What is cut, or damaged, nobody can read: it is not there.
        for piece in PartReader::new(&part, input.bytes()).into_iter().flatten() {
            let Piece::Chunk(chunk) = piece else { continue };
            match chunk.kind() {
                ChunkKind::SAMPLES => there += chunk.rows::<SampleRow>().map_or(0, |read| read.rows.len() as u64),
                ChunkKind::OLD_SAMPLES => {
                    let sums = chunk.rows::<OldSamplesRow>().map_or(Vec::new(), |read| read.rows);
                    there = sums.iter().fold(there, |sum, row| sum.saturating_add(row.samples));
                }
                ChunkKind::LOSSES => {
                    let losses = chunk.rows::<LossRow>().map_or(Vec::new(), |read| read.rows);
                    let of_samples = losses.iter().filter(|row| row.what == u32::from(ChunkKind::SAMPLES.0));
                    noted = of_samples.fold(noted, |sum, row| sum.saturating_add(row.count));
                }
                _ => {}
            }
        }
    }
    Ok((there, noted))
}

fn cannot_write(folder: &Path, error: &memory_city_wire::WireError) -> Error {
    Error::Unusable {
        what: format!("{}: {error}", folder.display()),
        remedy: "Make room on the disk; what was written before is readable".into(),
    }
}

/// Begins this process's stream of the recording that the program has begun.
fn begin(folder: &Path, most_bytes: u64) -> Result<TraceWriter> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?.flatten();
    let parts = entries.map(|e| e.path()).filter(|p| is_part(p));
    let headers: Vec<PartHeader> =
        parts.filter_map(|part| PartHeader::read(&part, &Input::peek(&part, FILE_HEADER).ok()?).ok()).collect();
    let Some(header) = headers.first() else {
        return Err(Error::Unusable {
            what: format!("The recorder has written nothing into {}", folder.display()),
            remedy: "It may have failed in the program: its standard error says why".into(),
        });
    };
    // The program's is 0. Another recording process may have been here before.
    let last = headers.iter().map(|header| header.stream).max().unwrap_or(0);
    let options = TraceOptions {
        recording: Some(header.recording),
        stream: last.saturating_add(1),
        most_bytes: Some(most_bytes),
        ..TraceOptions::default()
    };
    TraceWriter::create_folder(folder, options).map_err(|e| cannot_write(folder, &e))
}
