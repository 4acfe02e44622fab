//! Joins the parts of a recording, of all its streams, into one file. Chunks are copied unchanged, so nothing is lost, even of unknown
//! kinds. Chunks of another stream than the first carry its number.

use super::parts::headed;
use super::save::SavedRecording;
use super::scan::error_of;
use crate::registry;
use ahash::AHashSet;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::{FileReaders, Unfinished};
use memory_city_wire::{Chunk, ChunkKind, PartHeader, PartReader, Piece, WalkEndRow, is_part};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Whether all of these are recordings of ours.
///
/// # Errors
/// When one cannot be read.
pub fn are_recordings(paths: &[PathBuf]) -> Result<bool> {
    let mut any = false;
    for path in paths {
        for file in files_of(path)? {
            if memory_city_wire::is_wire(&Input::peek(&file, memory_city_wire::MAGIC.len())?) {
                any = true;
            } else if !path.is_dir() {
                return Ok(false);
            }
        }
    }
    Ok(any)
}

/// The files of recordings among these paths, and in these folders. Empty parts are included, so that the reader reports them.
///
/// # Errors
/// When one cannot be read.
pub(super) fn recording_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        for file in files_of(path)? {
            if is_part(&file) || memory_city_wire::is_wire(&Input::peek(&file, memory_city_wire::MAGIC.len())?) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() { registry::files_of(path) } else { Ok(vec![path.to_owned()]) }
}

/// Writes the parts of a recording into one file, which is complete or not there.
///
/// # Errors
/// When they are of different recordings, one is of a stream that a chunk cannot name, or the file cannot be written.
pub fn join(paths: &[PathBuf], output: &Path, progress: &Progress) -> Result<SavedRecording> {
    let inputs = recording_files(paths)?.iter().map(|file| Input::open(file, progress)).collect::<Result<_>>()?;
    let (files, unread) = headed(inputs)?;
    if files.is_empty() {
        return Err(Error::Unusable { what: "There is no recording".into(), remedy: "Check the paths".into() });
    }
    let (file, place) = Unfinished::begin_for(output, FileReaders::OwnerAlone)?;
    let mut saved = SavedRecording::default();
    saved.left_out.extend(unread.iter().map(|(_, error)| error.to_string()));
    copy(&files, &file, output, &mut saved, progress)?;
    drop(file);
    place.complete(output)?;
    saved.bytes = std::fs::metadata(output).map_err(|e| Error::io(output, e))?.len();
    Ok(saved)
}

fn copy(
    files: &[(PartHeader, Input)],
    file: &File,
    output: &Path,
    saved: &mut SavedRecording,
    progress: &Progress,
) -> Result<()> {
    let io = |e| Error::io(output, e);
    let mut out = BufWriter::new(file);
    let Some((first, _)) = files.first() else { return Ok(()) };
    let header = PartHeader { part: 0, ..*first };
    out.write_all(&header.to_bytes()).map_err(io)?;
    let mut seen = AHashSet::default();
    let mut ends = Vec::new();
    let (mut damaged, mut bytes_damaged) = (0, 0);
    for (_, input) in files {
        for piece in PartReader::new(&input.path, input.bytes()).map_err(error_of)? {
            progress.check()?;
            match piece {
                // The places in an index would be wrong, and what is repeated is there.
                Piece::Chunk(chunk)
                    if chunk.kind() == ChunkKind::INDEX || !seen.insert((chunk.stream(), chunk.number())) => {}
                Piece::Chunk(chunk) => {
                    let (start, stored) =
                        chunk.for_file(&header).ok_or_else(|| too_many_streams(&input.path, &chunk))?;
                    count(&chunk, saved);
                    // Ends of streams last: wherever the file is cut, the first stream shows it.
                    if chunk.kind() == ChunkKind::END {
                        ends.push((start, stored));
                        continue;
                    }
                    out.write_all(&start).and_then(|()| out.write_all(stored)).map_err(io)?;
                }
                Piece::Damage { length, .. } | Piece::Cut { length, .. } => {
                    damaged += 1;
                    bytes_damaged += length;
                }
            }
        }
    }
    for (start, stored) in ends {
        out.write_all(&start).and_then(|()| out.write_all(stored)).map_err(io)?;
    }
    if damaged > 0 {
        saved.left_out.push(format!("{bytes_damaged} bytes in {damaged} places that are damaged or incomplete"));
    }
    out.flush().map_err(io)
}

/// Counts the walks that end.
fn count(chunk: &Chunk<'_>, saved: &mut SavedRecording) {
    if chunk.kind() == ChunkKind::WALK_END
        && let Ok(ends) = chunk.rows::<WalkEndRow>()
    {
        saved.walks += ends.rows.len();
        // A file may say any numbers.
        let sum = |of: fn(&WalkEndRow) -> u64| ends.rows.iter().map(of).fold(0, u64::saturating_add);
        saved.objects = saved.objects.saturating_add(sum(|end| end.objects));
        saved.references = saved.references.saturating_add(sum(|end| end.references));
    }
}

fn too_many_streams(path: &Path, chunk: &Chunk<'_>) -> Error {
    Error::Unusable {
        what: format!("{} is of stream {}: one file has room for those up to 127", path.display(), chunk.stream()),
        remedy: "Keep the folder of the recording: it opens as it is".into(),
    }
}
