//! The note beside the dump of a walk: the places of the followed samples, or of all objects, in the dump. It comes when the dump is
//! complete.

use super::WALKS;
use memory_city_wire::{DUMP_END, HeldFolder, NOTE_END, NUMBERS_END, UNFINISHED_NOTE_END, walk_file};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The number of an object in a walk, or of a sample, and where the object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkNumber {
    /// Its number in all walks; of a sample, that of the sample.
    pub number: u64,
    /// Handle and kind, as they are written.
    word: u64,
}

impl WalkNumber {
    /// The lowest bits of `handle` are no part of it; `is_class` where the object stands for a class.
    pub fn new(number: u64, handle: u64, is_class: bool) -> WalkNumber {
        WalkNumber { number, word: handle & !7 | u64::from(is_class) }
    }

    /// The handle of the global reference that holds it in the dump; a multiple of 8.
    pub fn handle(self) -> u64 {
        self.word & !7
    }

    /// Whether it stands for a class: dumps have those of linked classes alone.
    pub fn is_class(self) -> bool {
        self.word & 1 != 0
    }
}

/// The dump of a walk that is complete, and where the followed samples stand in it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WalkNote {
    /// The walk's number, from 1.
    pub number: u64,
    /// When it began, nanoseconds since the recording began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// How many collections had ended before.
    pub gcs: u64,
    /// Late samples: taken too late to be held, and before the program stood still. Their objects are in the dump at unknown places. None
    /// if they were not counted.
    pub late: Option<u64>,
    /// The samples, by their numbers.
    pub links: Vec<WalkNumber>,
}

impl WalkNote {
    /// Where the dump of a walk is.
    pub fn dump(folder: &Path, number: u64) -> PathBuf {
        folder.join(WALKS).join(format!("{number}.{DUMP_END}"))
    }

    /// Where its note is, which comes when the dump is complete.
    pub fn file(folder: &Path, number: u64) -> PathBuf {
        folder.join(WALKS).join(format!("{number}.{NOTE_END}"))
    }

    /// The file with the numbers of all objects, if they have some: pairs of number and handle, eight bytes each, little endian. The lowest
    /// bit of the handle marks an object that stands for a class.
    pub fn numbers(folder: &Path, number: u64) -> PathBuf {
        folder.join(WALKS).join(format!("{number}.{NUMBERS_END}"))
    }

    /// Writes the numbers of all objects, each with the handle of the global reference that holds it; before the note.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_numbers(folder: &Path, number: u64, numbers: impl IntoIterator<Item = WalkNumber>) -> io::Result<()> {
        let walks = HeldFolder::open(folder)?.folder(WALKS)?;
        let mut file = io::BufWriter::new(walks.create(format!("{number}.{NUMBERS_END}"))?);
        for numbered in numbers {
            file.write_all(&numbered.number.to_le_bytes())?;
            file.write_all(&numbered.word.to_le_bytes())?;
        }
        file.flush()
    }

    /// The pairs of such a file; half a pair at its end is none.
    pub fn parse_numbers(bytes: &[u8]) -> impl Iterator<Item = WalkNumber> {
        let word = |pair: &[u8; 16], at| u64::from_le_bytes(std::array::from_fn(|i| pair[at + i]));
        bytes.as_chunks::<16>().0.iter().map(move |pair| {
            let word_of = word(pair, 8);
            WalkNumber::new(word(pair, 0), word_of, word_of & 1 != 0)
        })
    }

    /// Writes the note: the dump is complete.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let walks = HeldFolder::open(folder)?.folder(WALKS)?;
        let unfinished = format!("{}.{UNFINISHED_NOTE_END}", self.number);
        let mut file = io::BufWriter::new(walks.create(&unfinished)?);
        let late = self.late.map_or(String::new(), |late| format!(" {late}"));
        writeln!(file, "walk {} {} {} {}{late}", self.number, self.start, self.end, self.gcs)?;
        for link in &self.links {
            writeln!(file, "{} {:x}", link.number, link.word)?;
        }
        file.flush()?;
        drop(file);
        walks.rename(&unfinished, &format!("{}.{NOTE_END}", self.number))
    }

    /// Reads a note.
    pub fn parse(text: &str) -> Option<WalkNote> {
        let mut lines = text.lines();
        let mut words = lines.next()?.strip_prefix("walk ")?.split(' ').map(str::parse);
        let mut word = || words.next()?.ok();
        let (number, start, end, gcs, late) = (word()?, word()?, word()?, word()?, word());
        let mut note = WalkNote { number, start, end, gcs, late, links: Vec::new() };
        for line in lines {
            let (sample, handle) = line.split_once(' ')?;
            let word = u64::from_str_radix(handle, 16).ok()?;
            note.links.push(WalkNumber::new(sample.parse().ok()?, word, word & 1 != 0));
        }
        Some(note)
    }

    /// Numbers of the walks that wait to be taken, ascending.
    pub fn waiting(folder: &Path) -> Vec<u64> {
        let names = HeldFolder::open(folder).and_then(|held| held.folder(WALKS)?.names()).unwrap_or_default();
        let number = |name: &std::ffi::OsString| walk_file(name).filter(|(_, end)| *end == NOTE_END).map(|(n, _)| n);
        let mut waiting: Vec<u64> = names.iter().filter_map(number).collect();
        waiting.sort_unstable();
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::private_folder;

    #[test]
    fn notes_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        private_folder(&folder.path().join(WALKS)).expect("made");
        let number = WalkNumber::new;
        let note = WalkNote {
            number: 3,
            start: 5,
            end: 9,
            gcs: 2,
            late: Some(4),
            links: vec![number(1, 0xffff_1000, false), number(7, 0x10, true)],
        };
        note.write(folder.path()).expect("written");
        assert_eq!(WalkNote::waiting(folder.path()), [3]);
        let text = std::fs::read_to_string(WalkNote::file(folder.path(), 3)).expect("the note");
        assert_eq!(WalkNote::parse(&text), Some(note.clone()));
        // What an older recorder has left.
        let old = WalkNote::parse(&text.replacen("walk 3 5 9 2 4", "walk 3 5 9 2", 1));
        assert_eq!(old, Some(WalkNote { late: None, ..note }));
        assert_eq!(WalkNote::parse("walk 1 2"), None);
        let numbers = [number(1, 0x7f00_0010, true), number(1 << 40, 1 << 63, false)];
        WalkNote::write_numbers(folder.path(), 3, numbers).expect("written");
        let bytes = std::fs::read(WalkNote::numbers(folder.path(), 3)).expect("the numbers");
        let back: Vec<_> = WalkNote::parse_numbers(&bytes[..bytes.len() - 1]).collect();
        assert_eq!((back, bytes.len()), (vec![numbers[0]], 32));
    }
}
