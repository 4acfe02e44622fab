//! Input files of memory trees: their choice, order and names.

use memory_city_heap::error::{Error, Result};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The text, if it is text.
///
/// # Errors
/// When it is not UTF-8.
pub(super) fn utf8<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    let wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let (text, valid) = match std::str::from_utf8(bytes) {
        Ok(text) => (Some(text), bytes.len()),
        Err(error) => (None, if wide { 0 } else { error.valid_up_to() }),
    };
    match text {
        Some(text) => Ok(text),
        None => Err(Error::Format {
            path: path.to_owned(),
            offset: Some(valid as u64),
            found: match wide {
                true => "UTF-16 text".into(),
                false => {
                    let line = memchr::memchr_iter(b'\n', &bytes[..valid]).count() + 1;
                    format!("the byte {:#04x} (line {line})", bytes[valid])
                }
            },
            expected: "text in UTF-8".into(),
            remedy: "Have the file written in UTF-8, or convert it (iconv -f LATIN1 -t UTF-8)".into(),
        }),
    }
}

/// Whether a file lies in a folder of that name.
pub(super) fn in_folder(file: &Path, name: &str) -> bool {
    file.parent().and_then(Path::file_name).is_some_and(|n| n == name)
}

/// The files of a folder, in the order people expect.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect();
    files.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok(files)
}

/// True for a file that is often beside trees, and needs no warning.
pub(super) fn is_companion(file: &Path) -> bool {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    let hidden = file.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
    hidden || ["md", "txt", "py", "sh", "log"].contains(&extension)
}

/// The name of a file without its endings.
pub(super) fn stem(file: &Path) -> String {
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut stem = name.as_str();
    for ending in [".gz", ".zst", ".json", ".jsonl", ".ndjson"] {
        stem = stem.strip_suffix(ending).filter(|s| !s.is_empty()).unwrap_or(stem);
    }
    stem.to_owned()
}

/// Names in the order people expect: `gc-2` before `gc-10`.
fn natural(a: &str, b: &str) -> Ordering {
    let runs = |text: &str| -> Vec<(bool, String)> {
        let parts = text.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
        parts.map(|p| (p[0].is_ascii_digit(), String::from_utf8_lossy(p).into_owned())).collect()
    };
    let number = |digits: &str| digits.trim_start_matches('0').to_owned();
    for ((a_digits, x), (b_digits, y)) in runs(a).iter().zip(&runs(b)) {
        let by = match a_digits & b_digits {
            true => (number(x).len(), number(x)).cmp(&(number(y).len(), number(y))),
            false => x.cmp(y),
        };
        if by != Ordering::Equal {
            return by;
        }
    }
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}
