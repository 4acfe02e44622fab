//! Read permissions of the files that are made of an input: pages, results of checks, trees, tables, pictures.

use crate::compared::CompareWish;
use memory_city_formats::wire;
use memory_city_heap::error::Result;
pub use memory_city_heap::unfinished::FileReaders;
use std::path::PathBuf;

/// Like [`readers_of`], for an input and the one it is compared with.
///
/// # Errors
/// As there.
pub fn readers_compared(inputs: &[PathBuf], compare: Option<&CompareWish>) -> Result<FileReaders> {
    let readers = readers_of(inputs)?;
    match compare {
        Some(CompareWish::Run { data, .. }) => Ok(readers.and(readers_of(data)?)),
        _ => Ok(readers),
    }
}

/// Permissions for a file made of these inputs: only users who may read each of them. For recordings, which name threads, this user
/// alone.
///
/// # Errors
/// When one cannot be read.
pub fn readers_of(inputs: &[PathBuf]) -> Result<FileReaders> {
    for input in inputs {
        if wire::are_recordings(std::slice::from_ref(input))? {
            return Ok(FileReaders::OwnerAlone);
        }
    }
    Ok(FileReaders::of(inputs))
}
