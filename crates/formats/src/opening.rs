//! Opening of files and folders, whatever their format.

use super::registry;
use super::series::HeapSeries;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};

/// Opens files and folders as one series: dumps in the order of the time they were taken, ties by name; or a trace.
///
/// # Errors
/// When a named file is of no known format or cannot be read, files are of different formats, or nothing is left to
/// show. In a folder, files of no known format are skipped with a warning.
pub fn open(paths: &[PathBuf], progress: &Progress) -> Result<Box<dyn HeapSeries>> {
    open_gradually(paths, progress, &mut |_| ())
}

/// As [`open`]. While a long trace is being read, `partial` is called now and then with the part read so far. Reading waits for it.
///
/// # Errors
/// As [`open`].
pub fn open_gradually(
    paths: &[PathBuf],
    progress: &Progress,
    partial: &mut dyn FnMut(Box<dyn HeapSeries>),
) -> Result<Box<dyn HeapSeries>> {
    progress.begin("Looking at the files", 0);
    registry::open(&crate::formats(), paths, progress, partial)
}

/// True if a folder has a heap dump or a trace.
///
/// # Errors
/// When it cannot be read.
pub fn holds_heaps(folder: &Path) -> Result<bool> {
    registry::holds_heaps(&crate::formats(), folder)
}

/// Whether a file is a heap dump, a part of one, or of a trace or recording that goes on, by its first bytes and its name. A recording in
/// one file is none: `convert` writes such.
pub fn is_original(file: &Path) -> bool {
    registry::is_original(&crate::formats(), file)
}

/// The files beside a named one that are looked into with it: parts of a dump, and all files in the folder of a trace, of which those of
/// its run are read. Of a folder none. Reads the first bytes of the file.
pub fn files_beside(file: &Path) -> Vec<PathBuf> {
    registry::files_beside(&crate::formats(), file)
}
