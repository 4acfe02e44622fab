//! The files beside a trace in its folder while it is written, and those left by an interrupted recording. Inspecting them changes nothing.

use crate::held_folder::HeldFolder;
use rustix::fs::FlockOperation;
use std::collections::BTreeMap;
use std::ffi::OsStr;

/// Locked (`flock`) by the recording process for as long as it lives: it collects dumps. The system releases the lock in any case.
pub const LOCK: &str = ".recorder";
/// Names the recorded process: the first one to create this file.
pub const CLAIM: &str = ".program";
/// How it goes, for the status line.
pub const STATUS: &str = ".status";
/// Dumps on their way from the program to the recording process.
pub const WALKS: &str = ".walks";

/// Suffix of a walk's dump.
pub const DUMP_END: &str = "hprof";
/// Suffix of a walk's note, which comes when the dump is complete.
pub const NOTE_END: &str = "links";
/// Suffix of the numbers of a walk's objects.
pub const NUMBERS_END: &str = "numbers";
/// Suffix of a note that is being written.
pub const UNFINISHED_NOTE_END: &str = "part";

/// The walk that a file of [`WALKS`] belongs to, and its end, by its name. `None` where a recorder names none so.
pub fn walk_file(name: &OsStr) -> Option<(u64, &str)> {
    let digits = |text: &str| text.parse().ok().filter(|parsed: &u64| parsed.to_string() == text);
    let (number, end) = name.to_str()?.split_once('.')?;
    let number = digits(number)?;
    // VMs that write a dump on several threads put the parts beside it, until they are one.
    if end.strip_prefix(DUMP_END).and_then(|part| digits(part.strip_prefix(".p")?)).is_some() {
        return Some((number, DUMP_END));
    }
    [DUMP_END, NOTE_END, NUMBERS_END, UNFINISHED_NOTE_END].contains(&end).then_some((number, end))
}

/// Walks that wait in the folder of a trace to be taken, by number: no recording process is at work there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftWalks {
    /// Walks with a complete dump.
    pub complete: Vec<u64>,
    /// The incomplete ones.
    pub incomplete: Vec<u64>,
}

impl LeftWalks {
    /// The leftovers in a folder; none while a recording process is at work.
    pub fn of(folder: &HeldFolder) -> LeftWalks {
        if is_locked(folder) { LeftWalks::default() } else { LeftWalks::waiting_in(folder) }
    }

    /// The waiting files in a folder, even if a recording process is at work.
    pub fn waiting_in(folder: &HeldFolder) -> LeftWalks {
        let mut left = LeftWalks::default();
        let Ok(walks) = folder.folder(WALKS) else { return left };
        let mut found: BTreeMap<u64, bool> = BTreeMap::new();
        for name in walks.names().unwrap_or_default() {
            if let Some((number, end)) = walk_file(&name)
                && walks.has_file(&name)
            {
                *found.entry(number).or_default() |= end == NOTE_END;
            }
        }
        for (number, is_complete) in found {
            if is_complete { &mut left.complete } else { &mut left.incomplete }.push(number);
        }
        left
    }
}

/// Whether a recording process has the lock of a folder.
pub fn is_locked(folder: &HeldFolder) -> bool {
    // Who only looks leaves nothing behind, and lets go at once.
    let Ok(file) = folder.file(LOCK) else { return false };
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_walks_are_known_by_name() {
        for (name, expected) in [
            ("1.hprof", Some((1, "hprof"))),
            ("12.links", Some((12, "links"))),
            ("3.hprof.p0", Some((3, "hprof"))),
            ("3.hprof.p", None),
            ("3.numbers", Some((3, "numbers"))),
            ("3.part", Some((3, "part"))),
            ("03.links", None),
            ("+3.links", None),
            ("diary.txt", None),
            ("1.hprof.gz", None),
            ("1.txt", None),
            (".links", None),
        ] {
            assert_eq!(walk_file(OsStr::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn what_is_left_is_told_and_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let left = || LeftWalks::of(&HeldFolder::open(folder.path()).expect("the folder"));
        assert_eq!(left(), LeftWalks::default());
        std::fs::create_dir(at(WALKS)).expect("made");
        for name in ["1.hprof", "1.links", "2.hprof", "10.links", "4.part", "diary.txt"] {
            std::fs::write(at(WALKS).join(name), "x").expect("written");
        }
        std::os::unix::fs::symlink("1.links", at(WALKS).join("7.links")).expect("linked");
        let expected = LeftWalks { complete: vec![1, 10], incomplete: vec![2, 4] };
        assert_eq!(left(), expected);
        let lock = std::fs::File::create(at(LOCK)).expect("a file");
        assert_eq!(left(), expected, "nobody has the lock");
        lock.lock().expect("the lock");
        assert_eq!(left(), LeftWalks::default(), "somebody is at work");
        lock.unlock().expect("let go");
        std::fs::rename(at(WALKS), at("elsewhere")).expect("moved");
        std::os::unix::fs::symlink("elsewhere", at(WALKS)).expect("linked");
        assert_eq!(left(), LeftWalks::default(), "a link is none of a recorder's");
    }
}
