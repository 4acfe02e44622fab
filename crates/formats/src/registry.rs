//! The registry of formats: finds the format of a file by asking each one about the first bytes.
//!
//! A format is a module with a function `format()`, listed in `formats!` in `lib.rs`; nothing else names it.

use super::foreign::foreign;
use super::hprof::leftovers::whole_of;
use super::series::HeapSeries;
use memory_city_heap::error::{Error, Result, Warning};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};

/// A format of heaps.
pub(crate) trait Format: Send + Sync {
    /// The noun for a file of this format, with its article: `an HPROF heap dump`.
    fn name(&self) -> &'static str;

    /// The command or option that writes such files, for people.
    fn written_by(&self) -> &'static str;

    /// True if a file is of this format, by its first [`START`] bytes (unpacked), or fewer in a short file. Damage further behind does not
    /// matter here: opening reports it.
    fn recognises(&self, start: &[u8]) -> bool;

    /// True if a file of this format may be one that this program converted, by its name: then it can be made again.
    fn may_be_converted(&self, _file: &Path) -> bool {
        false
    }

    /// The files that are looked into together with a named one of this format.
    fn beside(&self, _file: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Opens files of this format, and no others; `partial` is called now and then with the part read so far.
    ///
    /// # Errors
    /// When a named file cannot be used, nothing is left to show, or the work was cancelled.
    fn open(
        &self,
        found: FoundFiles<'_>,
        progress: &Progress,
        partial: &mut dyn FnMut(Box<dyn HeapSeries>),
    ) -> Result<Box<dyn HeapSeries>>;
}

/// Bytes of a file that show its format.
pub(crate) const START: usize = 64;

/// Files of one format.
pub(crate) struct FoundFiles<'a> {
    /// The requested paths: files, and folders of them.
    pub(crate) paths: &'a [PathBuf],
    /// The files, those of folders in the order of their names.
    pub(crate) files: Vec<File>,
    /// Files of folders that were left out.
    pub(crate) skipped: Vec<Warning>,
}

/// A file, and how it begins.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) start: Vec<u8>,
    /// It was asked for by itself, not found in a folder.
    pub(crate) named: bool,
}

/// Opens files and folders by their formats.
///
/// # Errors
/// When a named file is of no format, files are of different ones, there is none, or it cannot be opened.
pub(crate) fn open(
    formats: &[Box<dyn Format>],
    paths: &[PathBuf],
    progress: &Progress,
    partial: &mut dyn FnMut(Box<dyn HeapSeries>),
) -> Result<Box<dyn HeapSeries>> {
    let mut found: Option<(&dyn Format, FoundFiles<'_>)> = None;
    let mut strangers = Vec::new();
    let mut skipped = Vec::new();
    for path in paths {
        let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        let files = if meta.is_dir() { files_of(path)? } else { vec![path.clone()] };
        let mut usable = 0;
        for file in &files {
            progress.check()?;
            let start = match Input::peek(file, START) {
                Ok(start) => start,
                Err(error) if meta.is_dir() => {
                    skipped.push(skip(file, error.to_string()));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(format) = formats.iter().map(AsRef::as_ref).find(|f| f.recognises(&start)) else {
                match meta.is_dir() {
                    // What stands beside dumps by custom is not worth a warning.
                    true if is_companion(file) || is_part(file) => {}
                    true => skipped.push(skip(file, stranger(file, &start)?)),
                    false => strangers.push((file.clone(), start)),
                }
                continue;
            };
            usable += 1;
            let file = File { path: file.clone(), start, named: !meta.is_dir() };
            match &mut found {
                None => found = Some((format, FoundFiles { paths, files: vec![file], skipped: Vec::new() })),
                Some((one, found)) if one.name() == format.name() => found.files.push(file),
                Some((one, found)) => {
                    return Err(different(&found.files[0].path, one.name(), &file.path, format.name()));
                }
            }
        }
        if meta.is_dir() && usable == 0 {
            return Err(nothing_in(formats, path, files.iter().filter(|file| !is_companion(file)).count()));
        }
    }
    match (found, strangers.into_iter().next()) {
        (Some((format, mut found)), None) => {
            found.skipped = skipped;
            format.open(found, progress, partial)
        }
        (_, Some((path, _))) if is_part(&path) => Err(part(&path)),
        (_, Some((path, start))) => match foreign(&path)? {
            Some(known) => Err(known.error(&path)),
            None => Err(unknown(formats, &path, &start)),
        },
        (None, None) => Err(Error::Unusable {
            what: "No input was given".into(),
            remedy: "Give one or more heap dumps or a trace, or folders of them".into(),
        }),
    }
}

/// Whether a folder has a file of a format.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn holds_heaps(formats: &[Box<dyn Format>], folder: &Path) -> Result<bool> {
    let known = |file: &PathBuf| {
        Input::peek(file, START).is_ok_and(|start| formats.iter().any(|format| format.recognises(&start)))
    };
    Ok(files_of(folder)?.iter().any(known))
}

/// Whether a file is a dump, a part of one, or of a trace, and nothing that this program converted. Reads its first bytes.
pub(crate) fn is_original(formats: &[Box<dyn Format>], file: &Path) -> bool {
    let known = |start: Vec<u8>| formats.iter().any(|f| f.recognises(&start) && !f.may_be_converted(file));
    is_part(file) || Input::peek(file, START).is_ok_and(known)
}

/// The files beside a named one that are looked into with it. Reads its first bytes.
pub(crate) fn files_beside(formats: &[Box<dyn Format>], file: &Path) -> Vec<PathBuf> {
    let Ok(start) = Input::peek(file, START) else { return Vec::new() };
    formats.iter().find(|format| format.recognises(&start)).map_or_else(Vec::new, |format| format.beside(file))
}

/// The files of a folder, in the order of their names.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_file()).collect();
    files.sort();
    Ok(files)
}

/// A warning for a file of a folder that is left out.
pub(crate) fn skip(path: &Path, why: String) -> Warning {
    Warning { path: path.to_owned(), offset: None, message: format!("{}{why}", Warning::SKIPPED) }
}

/// Whether it is read with another file: a part of a dump whose writer was killed.
fn is_part(file: &Path) -> bool {
    whole_of(file).is_some_and(|whole| whole.is_file())
}

fn part(file: &Path) -> Error {
    let whole = whole_of(file).unwrap_or_default();
    Error::Unusable {
        what: format!("{} is a part of {}, which the JVM left when it was killed", file.display(), whole.display()),
        remedy: format!("Open {}: its parts are read with it", whole.display()),
    }
}

/// Why a file of a folder is left out.
fn stranger(file: &Path, start: &[u8]) -> Result<String> {
    Ok(match foreign(file)? {
        Some(known) => format!("it is {}. {}", known.is, known.remedy),
        None => format!("of no known format, it begins with {}", shown(start)),
    })
}

fn is_companion(file: &Path) -> bool {
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    let hidden = file.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
    hidden || ["md", "txt", "java", "class", "jar", "sh", "log", "json"].contains(&extension)
}

/// The first bytes for people: as text where they are, otherwise as numbers.
pub(crate) fn shown(start: &[u8]) -> String {
    let first = &start[..start.len().min(18)];
    let is_text = |b: &u8| (b' '..0x7f).contains(b) || b"\n\r\t\0".contains(b);
    match first {
        [] => "nothing: it is empty".to_owned(),
        _ if first.iter().all(is_text) => format!("{:?}", String::from_utf8_lossy(first)),
        _ => format!(
            "the bytes {}",
            first[..first.len().min(8)].iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
        ),
    }
}

/// The formats there are, for people.
fn names(formats: &[Box<dyn Format>]) -> String {
    let names: Vec<&str> = formats.iter().map(|f| f.name()).chain(["memory trees in JSON"]).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} or {last}", others.join(", "))
}

/// How to get a file of each format, for people.
fn sources(formats: &[Box<dyn Format>]) -> String {
    let sources = formats.iter().map(|f| format!("{} is written by {}", f.name(), f.written_by()));
    let text = sources.collect::<Vec<_>>().join("; ");
    text[..1].to_uppercase() + &text[1..]
}

fn unknown(formats: &[Box<dyn Format>], path: &Path, start: &[u8]) -> Error {
    Error::Format {
        path: path.to_owned(),
        offset: Some(0),
        found: shown(start),
        expected: names(formats),
        remedy: sources(formats),
    }
}

fn nothing_in(formats: &[Box<dyn Format>], folder: &Path, files: usize) -> Error {
    let what = match files {
        0 => format!("There is no heap dump, trace or memory tree in the folder {}", folder.display()),
        n => format!("None of the {n} files in {} is {}", folder.display(), names(formats)),
    };
    let remedy = format!("Put some into it, or give the files themselves. {}", sources(formats));
    Error::Unusable { what, remedy }
}

fn different(one: &Path, is: &str, other: &Path, other_is: &str) -> Error {
    Error::Unusable {
        what: format!("{} is {is}, {} is {other_is}", one.display(), other.display()),
        remedy: "Open them one after the other, by the names of the files".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;

    #[test]
    fn every_format_has_a_name_of_its_own_and_knows_its_own_files_only() {
        let formats = formats();
        let starts: [&[u8]; 2] = [b"JAVA PROFILE 1.0.2\0", &[0xee, 0xff, 0xc0, 0x00, 42, 0, 0, 0]];
        for start in starts {
            assert_eq!(formats.iter().filter(|f| f.recognises(start)).count(), 1, "{start:?}");
        }
        for start in [&b""[..], b"PK\x03\x04", b"{\"format\": 1}"] {
            assert!(formats.iter().all(|f| !f.recognises(start)), "{start:?}");
        }
        let mut names: Vec<&str> = formats.iter().map(|f| f.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), formats.len());
    }

    #[test]
    fn what_no_format_knows_is_shown_beside_what_they_know() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            path
        };
        let said = |paths: &[PathBuf]| {
            let error = open(&formats(), paths, &Progress::new(), &mut |_| ()).err().expect("an error").to_string();
            error.replace(&format!("{}", folder.path().display()), "FOLDER")
        };
        let mut all = said(&[]);
        let elf = file("program", b"\x7fELF\x02\x01");
        let empty = file("empty", b"");
        let text = file("notes", b"Dear diary, today my heap grew again");
        let dump = file("1.hprof", b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0");
        for paths in [vec![elf.clone()], vec![empty], vec![text.clone()], vec![dump, text]] {
            all = format!("{all}\n{}", said(&paths));
        }
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        all = format!("{all}\n{}", said(std::slice::from_ref(&inner)));
        for name in ["x", "y"] {
            std::fs::copy(&elf, inner.join(name)).expect("copied");
            all = format!("{all}\n{}", said(std::slice::from_ref(&inner)));
        }
        insta::assert_snapshot!(all);
    }
}
