//! The recording behind a recorder's trees: a viewer on the same machine can open it to group its walks in other ways.
//!
//! The server opens a folder on the word of a client. So it believes only clients with a pass or the token, and opens only a folder with
//! that very recording: its number was drawn when it began, and is read from its files, which are the user's own.

use super::request::RecordingClaim;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use memory_city_analysis::group;
use memory_city_analysis::timeline::RecordingFolder;
use memory_city_analysis::timeline::json::TreesOfRecording;
use memory_city_heap::error::{Error, Result};
use std::path::PathBuf;

/// No path is longer.
const LONGEST_PATH: usize = 4096;
/// No grouping is longer.
const LONGEST_GROUPING: usize = 4096;

impl RecordingClaim {
    /// The claim of a recorder; `None` if the path is no UTF-8.
    pub fn of(trees: &TreesOfRecording) -> Option<RecordingClaim> {
        let RecordingFolder { folder, recording } = &trees.recording;
        Some(RecordingClaim {
            folder: folder.to_str()?.to_owned(),
            id: HEXLOWER.encode(recording),
            grouping: trees.grouping.clone(),
        })
    }

    /// The claim as trees of a recording. The folder is checked when it is opened.
    ///
    /// # Errors
    /// When it is nothing that a recorder says.
    pub fn trees(&self) -> Result<TreesOfRecording> {
        let wrong = |field: &str, expected: &str| Error::Unusable {
            what: format!("The {field:?} of the recording is not understood"),
            remedy: format!("Write {expected} into it"),
        };
        let folder = PathBuf::from(&self.folder);
        if !folder.is_absolute() || self.folder.len() > LONGEST_PATH || self.folder.chars().any(char::is_control) {
            return Err(wrong("folder", "the whole path of the folder"));
        }
        if self.grouping.len() > LONGEST_GROUPING || group::grouping(&self.grouping).is_err() {
            return Err(wrong("grouping", "the id of a grouping, as `memory-city report --help` lists them"));
        }
        let recording = self.number().ok_or_else(|| wrong("id", "the 32 hexadecimal digits of its number"))?;
        Ok(TreesOfRecording { recording: RecordingFolder { folder, recording }, grouping: self.grouping.clone() })
    }

    fn number(&self) -> Option<[u8; 16]> {
        HEXLOWER_PERMISSIVE.decode(self.id.as_bytes()).ok()?.try_into().ok()
    }
}

/// The error for unknown clients.
pub(super) fn only_known() -> Error {
    Error::Unusable {
        what: "Only who has a token or a pass may name a recording".into(),
        remedy: "Say hello with one; the trees are taken without it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_recorders_say_is_taken_as_it_was_meant_or_not_at_all() {
        let folder = RecordingFolder { folder: "/traces/shop \u{e9}".into(), recording: *b"0123456789abcdef" };
        let said = TreesOfRecording { recording: folder, grouping: "package-type".into() };
        let claim = |folder: &str, id: &str, grouping: &str| {
            let all = [folder, id, grouping].map(str::to_owned);
            let [folder, id, grouping] = all;
            RecordingClaim { folder, id, grouping }.trees().ok()
        };
        let whole = RecordingClaim::of(&said).expect("a path of letters");
        assert_eq!(whole.trees().ok(), Some(said));
        let id = whole.id.as_str();
        assert!(claim("/a", id, "type").is_some());
        for (folder, number, grouping) in [
            ("a", id, "type"),
            ("", id, "type"),
            ("/a\nb", id, "type"),
            (&*format!("/{}", "a".repeat(LONGEST_PATH)), id, "type"),
            ("/a", &id[1..], "type"),
            ("/a", &format!("{id}00"), "type"),
            ("/a", &id.replace('3', "x"), "type"),
            ("/a", id, "no such"),
            ("/a", id, ""),
        ] {
            assert_eq!(claim(folder, number, grouping), None, "{folder} {number} {grouping}");
        }
    }
}
