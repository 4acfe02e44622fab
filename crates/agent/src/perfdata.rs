//! Reader of a JVM's performance data in `/tmp/hsperfdata_USER/PID`: its last garbage collection with cause, and the program it runs.
//!
//! The file is memory that the JVM changes while we read it: every offset is checked. Any user may write into `/tmp`: files of other users,
//! and anything but a regular file, are passed over, and nothing waits for it.

use memory_city_wire::HeldFolder;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// A copy of the data of one JVM.
pub struct PerfData(Vec<u8>);

/// The first bytes, for any byte order of the rest.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Offset of the field with the place of the first entry; the number of entries follows.
const ENTRY_OFFSET: usize = 24;

/// More is not read of a file, bytes.
const MOST_BYTES: u64 = 1 << 20;

impl PerfData {
    /// The data of a process of user `owner`, by its number in its own container, below a folder of temporary files (of this machine:
    /// `/tmp`). `None` where there is none.
    pub fn of(temporary: &Path, pid: u32, owner: u32) -> Option<PerfData> {
        PerfData::read(&perf_file(temporary, pid, owner)?)
    }

    /// Reads the data of a process as it is now.
    pub(crate) fn read(file: &File) -> Option<PerfData> {
        let length = file.metadata().ok()?.len().min(MOST_BYTES);
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut bytes, 0).ok()?;
        PerfData::parse(bytes)
    }

    /// Takes the bytes of such a file.
    pub fn parse(bytes: Vec<u8>) -> Option<PerfData> {
        (bytes.starts_with(&MAGIC) && bytes.get(4) == Some(&1) && bytes.len() >= 32).then_some(PerfData(bytes))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<i64> {
        let (kind, data) = self.find(name)?;
        (kind == b'J').then(|| data.get(..8).map(|b| i64::from_le_bytes(b.try_into().unwrap_or_default())))?
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<String> {
        let (kind, data) = self.find(name)?;
        let text = data.split(|b| *b == 0).next()?;
        (kind == b'B').then(|| String::from_utf8_lossy(text).into_owned())
    }

    fn word(&self, at: usize) -> Option<usize> {
        Some(u32::from_le_bytes(self.0.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize)
    }

    /// Kind and bytes of an entry.
    fn find(&self, name: &str) -> Option<(u8, &[u8])> {
        let (mut at, entries) = (self.word(ENTRY_OFFSET)?, self.word(ENTRY_OFFSET + 4)?);
        for _ in 0..entries {
            let length = self.word(at)?;
            let entry = self.0.get(at..at.checked_add(length)?)?;
            let named = entry.get(self.word(at + 4)?..)?;
            if named.len() > name.len() && named.starts_with(name.as_bytes()) && named[name.len()] == 0 {
                return Some((*entry.get(12)?, entry.get(self.word(at + 16)?..)?));
            }
            // An entry without length would never end.
            at = at.checked_add(length.max(20))?;
        }
        None
    }
}

/// The open file of a process of user `owner`. Others can create files and folders there with the names of a JVM's. So only a file of that
/// user counts, in a folder that only that user may write.
pub(crate) fn perf_file(temporary: &Path, pid: u32, owner: u32) -> Option<File> {
    let is_its = |folder: &HeldFolder| folder.owner() == owner && !folder.is_open_to_writers();
    let of = |folder: HeldFolder| folder.file(pid.to_string()).ok().filter(|file| owner_of(file) == Some(owner));
    perf_folders(temporary).filter(is_its).find_map(of)
}

/// Process numbers that have performance data below a folder of temporary files, each with the user whose folder it is in. Files of
/// processes that were killed stay behind: whether one is its process's, [`PerfData::of`] finds out.
pub fn perf_files(temporary: &Path) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for folder in perf_folders(temporary).filter(|folder| !folder.is_open_to_writers()) {
        let names = folder.names().unwrap_or_default();
        found.extend(names.iter().filter_map(|name| Some((name.to_str()?.parse().ok()?, folder.owner()))));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Folders that are called as those of JVMs, no links.
fn perf_folders(temporary: &Path) -> impl Iterator<Item = HeldFolder> {
    let entries = std::fs::read_dir(temporary).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().as_bytes().starts_with(b"hsperfdata_"));
    named.filter_map(|entry| HeldFolder::open_itself(&entry.path()).ok())
}

fn owner_of(file: &File) -> Option<u32> {
    file.metadata().ok().map(|meta| meta.uid())
}

/// Data as a JVM writes it: texts and numbers by their names.
#[cfg(test)]
pub(crate) fn data_of(texts: &[(String, String)], numbers: &[(String, i64)]) -> PerfData {
    fn entry(name: &str, kind: u8, data: &[u8]) -> Vec<u8> {
        let data_at = (20 + name.len() + 1).next_multiple_of(8);
        let length = (data_at + data.len()).next_multiple_of(8);
        let mut bytes = Vec::new();
        for word in [length as u32, 20, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([kind, 0, 0, 0]);
        bytes.extend((data_at as u32).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(data_at, 0);
        bytes.extend(data);
        bytes.resize(length, 0);
        bytes
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 2, 0, 1]);
    bytes.resize(24, 0);
    bytes.extend(32u32.to_le_bytes());
    bytes.extend(((texts.len() + numbers.len()) as u32).to_le_bytes());
    texts.iter().for_each(|(name, text)| bytes.extend(entry(name, b'B', format!("{text}\0").as_bytes())));
    numbers.iter().for_each(|(name, number)| bytes.extend(entry(name, b'J', &number.to_le_bytes())));
    PerfData(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file() -> Vec<u8> {
        let texts = [("sun.gc.lastCause".to_owned(), "Allocation Failure\0\0".to_owned())];
        data_of(&texts, &[("sun.gc.collector.0.invocations".to_owned(), 7)]).0
    }

    #[test]
    fn numbers_and_texts_are_found_by_name() {
        let data = PerfData::parse(file()).expect("data");
        assert_eq!(data.text("sun.gc.lastCause").as_deref(), Some("Allocation Failure"));
        assert_eq!(data.number("sun.gc.collector.0.invocations"), Some(7));
        assert_eq!((data.number("sun.gc.lastCause"), data.number("sun.gc.collector.0")), (None, None));
    }

    /// Folders and files with such names from other users, or without one.
    #[test]
    fn only_what_its_own_user_has_made_is_read() {
        let temporary = tempfile::tempdir().expect("a folder");
        // SAFETY: no pointers; it cannot fail.
        let own = unsafe { libc::geteuid() };
        let at = |name: &str| temporary.path().join(name);
        for name in ["hsperfdata_a", "hsperfdata_me", "hsperfdata_open", "elsewhere"] {
            std::fs::create_dir(at(name)).expect("made");
        }
        let pipe = |path: &Path| {
            let path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("a path");
            // SAFETY: a text that ends with 0.
            assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        };
        pipe(&at("hsperfdata_a/7"));
        pipe(&at("hsperfdata_pipe"));
        pipe(&at("hsperfdata_me/8"));
        std::fs::write(at("hsperfdata_me/7"), file()).expect("written");
        for file in ["elsewhere/9", "hsperfdata_open/11"] {
            std::fs::write(at(file), self::file()).expect("written");
        }
        std::os::unix::fs::symlink(at("elsewhere"), at("hsperfdata_link")).expect("linked");
        std::os::unix::fs::symlink(at("elsewhere/9"), at("hsperfdata_me/10")).expect("linked");
        std::os::unix::fs::symlink("/dev/zero", at("hsperfdata_me/12")).expect("linked");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(at("hsperfdata_open"), open).expect("for all");
        for (pid, is_read) in [(7, true), (8, false), (9, false), (10, false), (11, false), (12, false), (13, false)] {
            assert_eq!(PerfData::of(temporary.path(), pid, own).is_some(), is_read, "{pid}");
        }
        assert!(PerfData::of(temporary.path(), 7, own + 1).is_none(), "of another user");
        assert_eq!(perf_files(temporary.path()), [(7, own), (8, own), (10, own), (12, own)]);
    }

    proptest! {
        #[test]
        fn damage_is_survived(at in 0usize..140, to in any::<u8>(), cut in 32usize..150) {
            let mut bytes = file();
            let length = bytes.len();
            bytes[at % length] = to;
            bytes.truncate(cut);
            if let Some(data) = PerfData::parse(bytes) {
                let _ = (data.text("sun.gc.lastCause"), data.number("sun.gc.collector.0.invocations"), data.text("none"));
            }
        }
    }
}
