//! The files of one recording: reads their headers and checks that they belong together. Reads nothing behind the headers.

use super::scan::error_of;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_wire::{PartHeader, WireError};
use std::path::PathBuf;

/// Files with their headers, by stream and part, and the files with an incomplete header, as of a part that was begun on a full disk. The
/// others are usable without them.
pub(super) type HeadedFiles = (Vec<(PartHeader, Input)>, Vec<(PathBuf, WireError)>);

/// Reads the headers of the files of one recording, in any order.
///
/// # Errors
/// When none of them has one, or they are of different recordings.
pub(super) fn headed(inputs: Vec<Input>) -> Result<HeadedFiles> {
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for input in inputs {
        match PartHeader::read(&input.path, input.bytes()) {
            Ok(header) => files.push((header, input)),
            Err(error) => unread.push((input.path.clone(), error)),
        }
    }
    if files.is_empty()
        && let Some((_, error)) = unread.pop()
    {
        return Err(error_of(error));
    }
    files.sort_by_key(|(header, _)| (header.stream, header.part));
    one_recording(&files)?;
    Ok((files, unread))
}

/// Files of two recordings have nothing to do with each other.
fn one_recording(files: &[(PartHeader, Input)]) -> Result<()> {
    for pair in files.windows(2) {
        let [(one, first), (other, second)] = pair else { continue };
        let what = if one.recording != other.recording {
            "are of different recordings"
        } else if (one.stream, one.part) == (other.stream, other.part) {
            "are the same part of one recording"
        } else {
            continue;
        };
        return Err(Error::Unusable {
            what: format!("{} and {} {what}", first.path.display(), second.path.display()),
            remedy: "Open the files, or the folder, of one recording".into(),
        });
    }
    Ok(())
}
