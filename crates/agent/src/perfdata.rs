//! The performance data that a JVM keeps in `/tmp/hsperfdata_USER/PID`: what garbage collection it did last and why, and which
//! program it runs.
//!
//! The file is memory that the JVM changes while we read it, and may be anybody's: every offset is checked.

use std::path::{Path, PathBuf};

/// A copy of the data of one JVM.
pub struct PerfData(Vec<u8>);

/// The first bytes, whatever the byte order of the rest.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Where the entries begin is told at this place; how many there are behind it.
const ENTRY_OFFSET: usize = 24;

impl PerfData {
    /// Reads the data of a process by its id in its own container; `None` where there is none.
    pub fn read(file: &Path) -> Option<PerfData> {
        use std::io::Read;
        let mut bytes = Vec::new();
        std::fs::File::open(file).ok()?.take(1 << 20).read_to_end(&mut bytes).ok()?;
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

/// Files of all JVMs below a folder of temporary files (of this machine: `/tmp`), with their process ids.
pub fn perf_files(temporary: &Path) -> Vec<(u32, PathBuf)> {
    let mut found = Vec::new();
    for user in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        if !user.file_name().to_string_lossy().starts_with("hsperfdata_") {
            continue;
        }
        for file in std::fs::read_dir(user.path()).into_iter().flatten().flatten() {
            if let Some(pid) = file.file_name().to_str().and_then(|n| n.parse().ok()) {
                found.push((pid, file.path()));
            }
        }
    }
    found.sort();
    found
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
