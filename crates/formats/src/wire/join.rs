//! The parts of a recording as one file: chunk by chunk as they are, so nothing can be lost, whatever this version knows of it.

use super::save::SavedRecording;
use super::scan::{error_of, one_recording};
use ahash::AHashSet;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_heap::unfinished::{FileReaders, Unfinished};
use memory_city_wire::{ChunkKind, PartHeader, PartReader, Piece};
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

/// The files of recordings among these, and in these folders.
///
/// # Errors
/// When one cannot be read.
pub(super) fn recording_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        for file in files_of(path)? {
            if memory_city_wire::is_wire(&Input::peek(&file, memory_city_wire::MAGIC.len())?) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| Error::io(path, e))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect();
    files.sort();
    Ok(files)
}

/// Writes the parts of a recording of one stream into one file, which is complete or not there.
///
/// # Errors
/// When they are of different recordings, or of several streams, or the file cannot be written.
pub fn join(paths: &[PathBuf], output: &Path, progress: &Progress) -> Result<SavedRecording> {
    let mut files: Vec<(PartHeader, Input)> = Vec::new();
    for file in recording_files(paths)? {
        let input = Input::open(&file, progress)?;
        files.push((PartHeader::read(&file, input.bytes()).map_err(error_of)?, input));
    }
    files.sort_by_key(|(header, _)| (header.stream, header.part));
    one_recording(&files)?;
    let Some((first, _)) = files.first() else {
        return Err(Error::Unusable { what: "There is no recording".into(), remedy: "Check the paths".into() });
    };
    if files.iter().any(|(header, _)| header.stream != first.stream) {
        return Err(Error::Unusable {
            what: "A recording of several streams does not fit into one file: each numbers its names for itself".into(),
            remedy: "Keep its folder: it opens as it is".into(),
        });
    }
    let (file, place) = Unfinished::begin_for(output, FileReaders::OwnerAlone)?;
    let mut saved = SavedRecording::default();
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
    out.write_all(&PartHeader { part: 0, ..*first }.to_bytes()).map_err(io)?;
    let mut seen = AHashSet::default();
    let (mut damaged, mut bytes_damaged) = (0, 0);
    for (_, input) in files {
        for piece in PartReader::new(&input.path, input.bytes()).map_err(error_of)? {
            progress.check()?;
            match piece {
                // The places in an index would be wrong, and what is repeated is there.
                Piece::Chunk(chunk) if chunk.kind() == ChunkKind::INDEX || !seen.insert(chunk.number()) => {}
                Piece::Chunk(chunk) => {
                    if chunk.kind() == ChunkKind::WALK_END
                        && let Ok(ends) = chunk.rows::<memory_city_wire::WalkEndRow>()
                    {
                        saved.walks += ends.rows.len();
                        saved.objects += ends.rows.iter().map(|end| end.objects).sum::<u64>();
                        saved.references += ends.rows.iter().map(|end| end.references).sum::<u64>();
                    }
                    let from = chunk.offset as usize;
                    out.write_all(&input.bytes()[from..from + chunk.length() as usize]).map_err(io)?;
                }
                Piece::Damage { length, .. } | Piece::Cut { length, .. } => {
                    damaged += 1;
                    bytes_damaged += length;
                }
            }
        }
    }
    if damaged > 0 {
        saved.left_out.push(format!("{bytes_damaged} bytes in {damaged} places that are damaged or incomplete"));
    }
    out.flush().map_err(io)
}
