//! Opening what people name, in the command line and in the window. A trace whose recording process was killed may have dumps that nobody
//! took: they hold what the program held, so they become walks, or go, before anything is read.
//!
//! Everything here that opens inputs of people does it through this module; a test of the workspace looks for who does not.

use memory_city_analysis::group::GroupOptions;
use memory_city_analysis::timeline::Source;
use memory_city_formats::HeapSeries;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use std::path::PathBuf;

/// As [`Source::open`].
///
/// # Errors
/// Those of [`Source::open`].
pub fn open(paths: &[PathBuf], grouping: &str, options: GroupOptions, progress: &Progress) -> Result<Source> {
    finish_left(paths);
    Source::open(paths, grouping, options, progress)
}

/// As [`Source::open_gradually`].
///
/// # Errors
/// Those of [`Source::open`].
pub fn open_gradually(
    paths: &[PathBuf],
    grouping: &str,
    options: GroupOptions,
    progress: &Progress,
    partial: &mut dyn FnMut(Source),
) -> Result<Source> {
    finish_left(paths);
    Source::open_gradually(paths, grouping, options, progress, partial)
}

/// As [`memory_city_formats::open`]: without a grouping.
///
/// # Errors
/// Those of [`memory_city_formats::open`].
pub fn open_series(paths: &[PathBuf], progress: &Progress) -> Result<Box<dyn HeapSeries>> {
    finish_left(paths);
    memory_city_formats::open(paths, progress)
}

/// What is said of so many files beside what was opened, in short.
pub fn other_files(count: usize) -> String {
    if count == 1 { "1 other file".to_owned() } else { format!("{count} other files") }
}

/// What that means, before their names.
pub const OTHER_FILES: &str = "Not part of what is shown, and nothing is missing for it:";
/// What a person must know of warnings, before them.
pub const INCOMPLETE: &str = "What is shown may be incomplete:";

fn finish_left(paths: &[PathBuf]) {
    #[cfg(target_os = "linux")]
    crate::jvm::leftovers::finish(paths);
    #[cfg(not(target_os = "linux"))]
    let _ = paths;
}
