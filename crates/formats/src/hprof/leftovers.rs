//! Dumps in parts, left behind by an interrupted writer.
//!
//! A JVM since 22 writes `FILE` with names and `FILE.p0`, `FILE.p1`... with the heap, all at once. It appends the parts to `FILE` at the
//! end, the lowest first; each is removed when it is appended. If the JVM is killed before that, as when a container runs out of memory,
//! the files stay: `FILE`, the part that was being appended, and those after it. Together they are the dump.

use super::cursor::Cursor;
use super::header::DumpHeader;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::memory::memory_limit;
use memory_city_heap::progress::Progress;
use std::fs;
use std::path::{Path, PathBuf};

/// The dump of which a file is a part, by their names.
pub(crate) fn whole_of(part: &Path) -> Option<PathBuf> {
    let name = part.file_name()?.to_str()?;
    let (whole, number) = name.rsplit_once(".p")?;
    number_of(number).filter(|_| !whole.is_empty()).map(|_| part.with_file_name(whole))
}

fn number_of(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The parts that lie beside a dump, the lowest first.
pub(super) fn parts_of(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut parts: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = number_of(entry.file_name().to_str()?.strip_prefix(name)?.strip_prefix(".p")?)?;
            Some((number, entry.path()))
        })
        .collect();
    parts.sort();
    parts.into_iter().map(|(_, path)| path).collect()
}

/// Opens a dump, with the parts of it that lie beside it.
///
/// # Errors
/// When it or a part of it cannot be read, or all of them together are more than memory holds.
pub(super) fn open(path: &Path, progress: &Progress) -> Result<Input> {
    let whole = Input::open(path, progress)?;
    let parts = parts_of(path);
    if parts.is_empty() {
        return Ok(whole);
    }
    let Ok(header) = DumpHeader::read(path, whole.bytes()) else { return Ok(whole) };
    let sizes = parts.iter().map(|part| Ok(fs::metadata(part).map_err(|e| Error::io(part, e))?.len()));
    let all = sizes.sum::<Result<u64>>()? + whole.bytes().len() as u64;
    if all > memory_limit() {
        return Err(too_large(path, &parts));
    }
    let mut joined = Vec::new();
    let mut cut = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        // A part may be packed: what it unpacks to is there twice while it is appended.
        let room = memory_limit().saturating_sub(joined.len() as u64) / 2;
        let input = Input::open_within(part, room, progress)?;
        progress.check()?;
        let more = input.bytes().len() + if number == 0 { whole.bytes().len() } else { 0 };
        if joined.try_reserve_exact(more).is_err() {
            return Err(too_large(path, &parts));
        }
        if number == 0 {
            let end = end_of_names(whole.bytes(), header.end, input.bytes());
            if !append(&whole.bytes()[..end], header.end, &mut joined) {
                cut.push(path);
            }
        }
        if !append(input.bytes(), 0, &mut joined) {
            cut.push(part);
        }
    }
    let mut input = Input::from_bytes(path, joined);
    input.warnings = whole.warnings;
    let mut warn = |message: String| input.warnings.push(Warning { path: path.to_owned(), offset: None, message });
    let cut: Vec<String> =
        cut.iter().filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect();
    let killed = format!(
        "the JVM was killed while it wrote this dump: it was put together from the file and {} parts beside it",
        parts.len()
    );
    match cut.is_empty() {
        true => warn(killed),
        false => warn(format!(
            "{}{killed}, and {} ended before everything was written. Complete records are shown, the rest is missing",
            Warning::UNJUDGED,
            cut.join(", ")
        )),
    }
    Ok(input)
}

fn too_large(path: &Path, parts: &[PathBuf]) -> Error {
    let names: Vec<String> = parts.iter().map(|part| part.display().to_string()).collect();
    Error::Unusable {
        what: format!(
            "{} was left in {} parts, which together are more than memory holds",
            path.display(),
            1 + parts.len()
        ),
        remedy: format!("Put them together first: cat {} >> {}", names.join(" "), path.display()),
    }
}

/// So many bytes of two segments are alike only where they are the same.
const ALIKE: usize = 64;

/// Where in the file the part begins that was being appended to it, or else its end.
fn end_of_names(bytes: &[u8], from: usize, part: &[u8]) -> usize {
    let start = &part[..part.len().min(ALIKE)];
    let is_part =
        |at: &usize| !start.is_empty() && bytes[*at..].starts_with(&start[..start.len().min(bytes.len() - at)]);
    records(bytes, from).map(|(at, _)| at).find(|at| bytes[*at] == 0x1c && is_part(at)).unwrap_or(bytes.len())
}

/// Start and end of each top-level record; the last may end behind the bytes.
pub(super) fn records(bytes: &[u8], from: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut cursor = Cursor::new(bytes, from);
    std::iter::from_fn(move || {
        let at = cursor.at;
        cursor.take(5)?;
        let length = cursor.u32()? as usize;
        let end = cursor.at.saturating_add(length);
        cursor.at = end;
        Some((at, end))
    })
}

/// Appends what stands before the records and all that are complete; a segment that is cut becomes as long as it is. Returns whether
/// nothing was cut.
fn append(bytes: &[u8], from: usize, joined: &mut Vec<u8>) -> bool {
    let (at, end) = records(bytes, from).last().unwrap_or((from, from));
    if end <= bytes.len() {
        joined.extend_from_slice(&bytes[..end]);
        return end == bytes.len();
    }
    joined.extend_from_slice(&bytes[..at]);
    if bytes[at] == 0x1c {
        joined.extend_from_slice(&bytes[at..at + 5]);
        joined.extend_from_slice(&((bytes.len() - at - 9) as u32).to_be_bytes());
        joined.extend_from_slice(&bytes[at + 9..]);
    }
    false
}
