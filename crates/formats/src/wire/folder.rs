//! The folder of a recording that may go on: a follower opens it again and again.

use super::scan::error_of;
use crate::opening;
use crate::registry;
use crate::series::HeapSeries;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::input::Input;
use memory_city_heap::progress::Progress;
use memory_city_wire::{FILE_HEADER, PartHeader, is_part};
use std::path::{Path, PathBuf};

/// The folder of a recording, and which recording it is: another one in its place is another heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingFolder {
    /// Where it is, as a whole path.
    pub folder: PathBuf,
    /// Drawn when the recording began.
    pub recording: [u8; 16],
}

impl RecordingFolder {
    /// The recording in a folder.
    ///
    /// # Errors
    /// When there is none, or the folder cannot be read.
    pub fn of(folder: &Path) -> Result<RecordingFolder> {
        let folder = folder.canonicalize().map_err(|error| Error::io(folder, error))?;
        // One that has just been begun may be empty still.
        let mut failed = None;
        for part in registry::files_of(&folder)?.into_iter().filter(|path| is_part(path)) {
            match PartHeader::read(&part, &Input::peek(&part, FILE_HEADER)?) {
                Ok(header) => return Ok(RecordingFolder { folder, recording: header.recording }),
                Err(error) => failed = failed.or(Some(error_of(error))),
            }
        }
        Err(failed.unwrap_or_else(|| Error::Unusable {
            what: format!("There is no recording in {}", folder.display()),
            remedy: "Name the folder that `memory-city record` or `attach` writes into".into(),
        }))
    }

    /// Its walks, as many as there are by now.
    ///
    /// # Errors
    /// When the folder holds another recording, or none; as [`open`](crate::open).
    pub fn open(&self, progress: &Progress) -> Result<Box<dyn HeapSeries>> {
        let there = RecordingFolder::of(&self.folder).map_err(|error| Error::Unusable {
            what: format!("The recording is not here: {error}"),
            remedy: "Its walks can be read on the machine that records, by the same user, as long as they are kept"
                .into(),
        })?;
        if there.recording != self.recording {
            return Err(Error::Unusable {
                what: format!("{} holds another recording than the one that was sent", self.folder.display()),
                remedy: "Record into a folder of its own; `memory-city open FOLDER` shows what is there".into(),
            });
        }
        opening::open(std::slice::from_ref(&self.folder), progress)
    }
}
