//! Takes the dumps of walks that the recorder inside the program leaves, and writes them into the trace as walks: with the
//! place of each followed sample, without any value of a field or an array.
//!
//! A dump is unlinked as soon as it is open: nothing of it stays behind, whatever happens to this process.

use memory_city_agent::folder::WalkNote;
use memory_city_formats::hprof;
use memory_city_formats::wire::{SeenWalk, WalkStream};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_wire::{FILE_HEADER, PartHeader, TraceOptions, TraceWriter, WalkStartRow};
use std::path::{Path, PathBuf};

/// Takes walks.
pub struct WalkTaker {
    folder: PathBuf,
    most_bytes: u64,
    stream: Option<WalkStream>,
    /// Walks written.
    pub walks: u64,
    /// Objects of the last one.
    pub objects: u64,
    /// Walks that could not be taken, and why the last one could not.
    pub failed: Option<(u64, String)>,
}

impl WalkTaker {
    /// Of a trace in `folder`, whose walks may take so many bytes: then the oldest go, and are counted.
    pub fn new(folder: &Path, most_bytes: u64) -> WalkTaker {
        WalkTaker { folder: folder.to_owned(), most_bytes, stream: None, walks: 0, objects: 0, failed: None }
    }

    /// Bytes written.
    pub fn bytes(&self) -> u64 {
        self.stream.as_ref().map_or(0, WalkStream::bytes)
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
            let taken = input.and_then(|input| self.one(number, &input, numbers.as_ref(), progress));
            let _ = std::fs::remove_file(WalkNote::file(&self.folder, number));
            match taken {
                Ok(()) => self.walks += 1,
                Err(error) => {
                    let before = self.failed.take().map_or(0, |(n, _)| n);
                    self.failed = Some((before + 1, error.to_string()));
                }
            }
        }
    }

    fn one(&mut self, number: u64, input: &Input, numbers: Option<&Input>, progress: &Progress) -> Result<()> {
        let file = WalkNote::file(&self.folder, number);
        let text = std::fs::read_to_string(&file).map_err(|e| Error::io(&file, e))?;
        let note = WalkNote::parse(&text).ok_or_else(|| Error::Unusable {
            what: format!("{} is damaged", file.display()),
            remedy: "The walk is left out".into(),
        })?;
        let numbers = || WalkNote::parse_numbers(numbers.map_or(&[], |input| input.bytes()));
        let handles = note.links.iter().copied().chain(numbers()).map(|(_, handle)| handle).collect();
        let (heap, held) = hprof::load_held(input, &handles, progress)?;
        let mut samples: Vec<_> =
            note.links.iter().filter_map(|(sample, handle)| Some((*held.get(handle)?, *sample))).collect();
        samples.sort_unstable();
        // An object that was met twice, which the VM does not rule out, is known by its first number.
        let mut identities: Vec<_> =
            numbers().filter_map(|(number, handle)| Some((*held.get(&handle)?, number))).collect();
        identities.sort_unstable();
        identities.dedup_by_key(|(object, _)| *object);
        let start = WalkStartRow {
            time: note.start,
            gc: note.gcs.checked_sub(1),
            gcs: u32::try_from(note.gcs).unwrap_or(u32::MAX),
            ..WalkStartRow::default()
        };
        let seen = SeenWalk {
            samples: &samples,
            identities: &identities,
            pause: Some(note.end.saturating_sub(note.start)),
            unlinked: (note.links.len() - samples.len()) as u64,
        };
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(WalkStream::new(begin(&self.folder, self.most_bytes)?)),
        };
        self.objects = stream.write(&heap, start, &seen, progress)?;
        Ok(())
    }

    /// Ends the stream.
    pub fn finish(self, reason: &str) -> Result<()> {
        self.stream.map_or(Ok(()), |stream| stream.finish(reason))
    }
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
    let parts = entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "mcity"));
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
