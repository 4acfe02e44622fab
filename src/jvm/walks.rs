//! Reader of the dumps that the recorder inside the program leaves at each walk over the heap. Writes them into the trace, with the place
//! of each followed sample, without any value of a field or an array.
//!
//! A dump is unlinked as soon as it is open: nothing of it stays behind, whatever happens to this process. The folder may be another
//! user's, so it is held by its descriptor. Only regular files of its owner are read there, and only new ones are written.

use memory_city_agent::folder::{WALKS, WalkNote};
use memory_city_formats::hprof::{self, HeldDump};
use memory_city_formats::wire::{SavedWalk, SeenWalk, WalkStream};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_wire::{
    ChunkKind, DUMP_END, FILE_HEADER, HeldFolder, LossRow, NOTE_END, NUMBERS_END, OldSamplesRow, PartHeader,
    PartReader, Piece, SampleRow, TraceOptions, TraceWriter, WalkStartRow, is_part,
};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Takes walks.
pub struct WalkTaker {
    folder: Arc<HeldFolder>,
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
    pub fn new(folder: Arc<HeldFolder>, most_bytes: u64) -> WalkTaker {
        WalkTaker {
            folder,
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

    /// Takes the waiting walks. A walk that cannot be taken is counted; the others go on.
    pub fn take(&mut self, progress: &Progress) {
        let Ok(walks) = self.folder.folder(WALKS) else { return };
        for number in WalkNote::waiting(&self.folder.place()) {
            let [dump, numbers, note] = [DUMP_END, NUMBERS_END, NOTE_END].map(|end| format!("{number}.{end}"));
            let input = input_in(&walks, &dump, progress);
            // Also when it could not be opened: no dump stays behind.
            let _ = walks.remove(&dump);
            let numbered = input_in(&walks, &numbers, progress).ok();
            let _ = walks.remove(&numbers);
            let taken = input.and_then(|input| self.one(input, (&walks, &note), numbered.as_ref(), progress));
            let _ = walks.remove(&note);
            match taken {
                Ok(SavedWalk::Written { objects }) => {
                    self.walks += 1;
                    self.objects = objects;
                }
                Ok(SavedWalk::TooLarge { .. }) => self.too_large += 1,
                Err(error) => {
                    let before = self.failed.take().map_or(0, |(n, _)| n);
                    self.failed = Some((before + 1, self.folder.told(&error.to_string())));
                }
            }
        }
    }

    fn one(
        &mut self,
        input: Input,
        (walks, note): (&HeldFolder, &str),
        numbers: Option<&Input>,
        progress: &Progress,
    ) -> Result<SavedWalk> {
        let text = walks.read(note, MOST_OF_NOTE).map_err(|e| Error::io(&walks.path().join(note), e))?;
        let note = WalkNote::parse(&String::from_utf8_lossy(&text)).ok_or_else(|| Error::Unusable {
            what: format!("{} is damaged", walks.path().join(note).display()),
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

    /// The program was killed at `time`, nanoseconds since the recording began, after it had taken `taken` samples. Notes in the trace
    /// how many of them are missing. Returns the number of lost samples, including those that the program had noted itself.
    ///
    /// # Errors
    /// When the trace cannot be read, or written.
    pub fn killed(&mut self, time: u64, taken: u64) -> Result<u64> {
        let (there, noted) = samples_in(&self.folder)?;
        let lost = taken.saturating_sub(there);
        let told = self.stream().and_then(|stream| stream.samples_gone(time, lost.saturating_sub(noted)));
        told.map(|()| lost).map_err(|error| named(&self.folder, error))
    }

    /// Ends the stream.
    pub fn finish(self, reason: &str) -> Result<()> {
        self.stream.map_or(Ok(()), |stream| stream.finish(reason)).map_err(|error| named(&self.folder, error))
    }
}

/// Samples that the program has written, those included that have become sums; and how many it has noted as lost.
fn samples_in(folder: &HeldFolder) -> Result<(u64, u64)> {
    let (mut there, mut noted) = (0u64, 0u64);
    for part in parts_in(folder)? {
        let input = input_in(folder, &part, &Progress::new())?;
        // Only the program's own stream has samples. What is cut, or damaged, nobody can read: it is not there.
        for piece in PartReader::new(&input.path, input.bytes()).into_iter().flatten() {
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

/// The parts of a recording, by name.
fn parts_in(folder: &HeldFolder) -> Result<Vec<PathBuf>> {
    let names = folder.names().map_err(|e| Error::io(folder.path(), e))?;
    Ok(names.into_iter().map(PathBuf::from).filter(|name| is_part(name)).collect())
}

fn input_in(folder: &HeldFolder, name: impl AsRef<Path>, progress: &Progress) -> Result<Input> {
    let path = folder.path().join(&name);
    let file = folder.file(name).map_err(|e| Error::io(&path, e))?;
    Input::of_file(&file, &path, progress)
}

/// An error of work by the descriptor of a folder, with the folder's name.
fn named(folder: &HeldFolder, error: Error) -> Error {
    match error {
        Error::Io { path, source, remedy } => {
            Error::Io { path: folder.told(&path.to_string_lossy()).into(), source, remedy }
        }
        Error::Unusable { what, remedy } => Error::Unusable { what: folder.told(&what), remedy },
        Error::Memory { what, remedy } => Error::Memory { what: folder.told(&what), remedy },
        other => other,
    }
}

/// No note of a walk is longer, bytes: a line for each sample that is followed.
const MOST_OF_NOTE: u64 = 256 << 20;

fn cannot_write(folder: &HeldFolder, error: &memory_city_wire::WireError) -> Error {
    Error::Unusable {
        what: folder.told(&format!("{}: {error}", folder.path().display())),
        remedy: "Make room on the disk; what was written before is readable".into(),
    }
}

/// Begins this process's stream of the recording that the program has begun.
fn begin(folder: &HeldFolder, most_bytes: u64) -> Result<TraceWriter> {
    let header = |part: PathBuf| {
        let mut head = Vec::new();
        folder.file(&part).ok()?.take(FILE_HEADER as u64).read_to_end(&mut head).ok()?;
        PartHeader::read(&part, &head).ok()
    };
    let headers: Vec<PartHeader> = parts_in(folder)?.into_iter().filter_map(header).collect();
    let Some(header) = headers.first() else {
        return Err(Error::Unusable {
            what: format!("The recorder has written nothing into {}", folder.path().display()),
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
    TraceWriter::create_folder(&folder.place(), options).map_err(|e| cannot_write(folder, &e))
}
