//! Files that are being written: each has a temporary name until it is complete, and is removed if it never is.
//!
//! A program that ends runs no destructors of threads that still work. So every such file is in one list, which is emptied first when the
//! program ends: [`remove_all`], at the end of `main` and after a signal. Only a killed program leaves such a file behind.
//!
//! It knows neither the content of the files nor their purpose.

use crate::error::{Error, Result};
pub use crate::readers::FileReaders;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

static LIST: Mutex<UnfinishedList> = Mutex::new(UnfinishedList { places: BTreeSet::new(), ended: false });

struct UnfinishedList {
    places: BTreeSet<PathBuf>,
    /// The program ends: no file is begun any more.
    ended: bool,
}

fn list() -> MutexGuard<'static, UnfinishedList> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file that is being written in this program, and prevents further ones from being begun or put in place. Call it when the
/// program ends, while other threads may still work.
pub fn remove_all() {
    let mut list = list();
    list.ended = true;
    for place in std::mem::take(&mut list.places) {
        // It may just have been put in place, or removed by its writer.
        let _ = std::fs::remove_file(place);
    }
}

fn ends() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the program ends")
}

/// The place of a file that is being written. Dropped, it removes the file.
#[derive(Debug)]
pub struct Unfinished(Option<TempPath>);

impl Unfinished {
    /// Begins the file that is to become `output`, beside it, in a folder that is created if it is missing.
    ///
    /// # Errors
    /// When it cannot be made; [`Error::Cancelled`] once the program ends.
    pub fn begin_for(output: &Path, readers: FileReaders) -> Result<(File, Unfinished)> {
        let folder = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| Error::not_made(folder, e))?;
        let mut named = tempfile::Builder::new();
        named.prefix(".").suffix(".partial");
        // Otherwise temporary files are their owner's alone.
        #[cfg(unix)]
        match readers {
            FileReaders::AsUsual => _ = named.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)),
            FileReaders::Group(_) => _ = named.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o640)),
            FileReaders::OwnerAlone => {}
        }
        let (file, place) = Unfinished::begin(&named, folder).map_err(|e| refused(output, e))?;
        #[cfg(unix)]
        readers.leave_out_other_groups(&file).map_err(|e| refused(output, e))?;
        Ok((file, place))
    }

    /// Puts it in its place, complete.
    ///
    /// # Errors
    /// When the system refuses; [`Error::Cancelled`] once the program ends.
    pub fn complete(self, output: &Path) -> Result<()> {
        self.put_in_place(output).map_err(|e| refused(output, e))
    }

    /// Begins a file in `folder`, with a name and rights as `named` says.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::Interrupted`] once the program ends.
    pub fn begin(named: &tempfile::Builder<'_, '_>, folder: &Path) -> io::Result<(File, Unfinished)> {
        // Locked while it is made: no file is there that is not in the list.
        let mut list = list();
        if list.ended {
            return Err(ends());
        }
        let (file, place) = named.tempfile_in(folder)?.into_parts();
        list.places.insert(place.to_path_buf());
        Ok((file, Unfinished(Some(place))))
    }

    /// Where it is now.
    pub fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Gives the file its name: a file of that name is replaced, in one step.
    ///
    /// # Errors
    /// Those of the system (the file is removed then); [`io::ErrorKind::Interrupted`] once the program ends.
    pub fn put_in_place(mut self, at: &Path) -> io::Result<()> {
        let mut list = list();
        let Some(place) = self.0.take().filter(|_| !list.ended) else { return Err(ends()) };
        list.places.remove(&*place);
        place.persist(at).map_err(|refused| refused.error)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            let path = place.to_path_buf();
            drop(place);
            list().places.remove(&path);
        }
    }
}

/// Writes a file completely or not at all. It replaces a file of that name only when the new one is complete, and creates missing folders.
/// Pipes and devices are written to directly.
///
/// # Errors
/// Those of `write`, and when the file cannot be made.
pub fn write_whole(output: &Path, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    write_whole_for(output, FileReaders::AsUsual, write)
}

/// As [`write_whole`], for some readers.
///
/// # Errors
/// As there.
pub fn write_whole_for(output: &Path, readers: FileReaders, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    if std::fs::metadata(output).is_ok_and(|m| !m.is_file()) {
        return write(&File::options().write(true).open(output).map_err(|e| refused(output, e))?);
    }
    let (file, place) = Unfinished::begin_for(output, readers)?;
    write(&file)?;
    drop(file);
    place.complete(output)
}

fn refused(output: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::Interrupted => Error::Cancelled,
        _ => Error::not_made(output, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// One test, since the list belongs to the whole program.
    #[test]
    fn files_are_complete_or_gone_and_none_is_begun_when_the_program_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = |name: &str, text: &'static str| {
            write_whole(&folder.path().join(name), |mut file| {
                file.write_all(text.as_bytes()).map_err(|e| Error::io(Path::new(name), e))
            })
        };
        written("deep/er", "one").expect("written");
        written("a", "two").expect("written");
        written("a", "three").expect("replaced");
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).expect("a file"), "three");
        // What fails half way leaves what was there.
        let failed = write_whole(&folder.path().join("a"), |mut file| {
            file.write_all(b"half").expect("written");
            Err(Error::Cancelled)
        });
        assert!(matches!(failed, Err(Error::Cancelled)));
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).expect("a file"), "three");
        assert_eq!(names(folder.path()), ["a", "deep"]);

        let mut named = tempfile::Builder::new();
        let begin = || Unfinished::begin(named.prefix("half-"), folder.path());
        let mut begin = begin;
        let (_file, dropped) = begin().expect("a file");
        drop(dropped);
        let (_file, first) = begin().expect("a file");
        let (_other, second) = begin().expect("a file");
        assert!(first.path().exists() && second.path().exists());
        remove_all();
        assert_eq!(names(folder.path()), ["a", "deep"], "what threads still write is gone");
        let refused = first.put_in_place(&folder.path().join("late")).expect_err("it is gone");
        assert_eq!(refused.kind(), io::ErrorKind::Interrupted);
        assert!(begin().is_err() && written("b", "late").is_err());
        drop(second);
        assert_eq!(names(folder.path()), ["a", "deep"]);
    }
}
