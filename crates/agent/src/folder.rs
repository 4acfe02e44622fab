//! What lies in the folder of a trace besides the trace itself, while it is written: the agreement between the recorder inside
//! the program and the recording process outside.
//!
//! All of it is hidden (a name that begins with a dot), private to the user, and gone when the recording has ended in order.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Held (`flock`) by the recording process for as long as it lives: it takes dumps. The system lets go of it whatever happens.
pub const LOCK: &str = ".recorder";
/// Why a recording ended that was told to: the program goes on.
pub const ENDED_FROM_OUTSIDE: &str = "recording was ended from outside";
/// Names the process that is recorded: whoever makes this file first.
pub const CLAIM: &str = ".program";
/// How it goes, for the status line.
pub const STATUS: &str = ".status";
/// Dumps on their way from the program to the recording process.
pub const WALKS: &str = ".walks";

/// Makes a folder that nobody else can look into. One that is there, empty and this user's own becomes such a folder; any other stays as
/// it is: who put something into it knows who may look there.
///
/// # Errors
/// When it cannot be made or read, or something that is no folder has its name.
pub fn private_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => close(path),
        made => made,
    }
}

/// Takes away what others may do with an empty folder.
fn close(path: &Path) -> io::Result<()> {
    let meta = std::fs::metadata(path)?;
    // SAFETY: no pointers; it cannot fail.
    let is_own = meta.uid() == unsafe { libc::geteuid() };
    if is_own && meta.mode() & 0o077 != 0 && std::fs::read_dir(path)?.next().is_none() {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Whether anybody but its owner may look into a folder, or write there.
pub fn is_open_to_others(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o077 != 0)
}

/// Makes a file that nobody else can read.
///
/// # Errors
/// When it is there already, or cannot be made.
pub fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// The folder of the `number`th program, from 1, where the one that was asked for was taken by those before.
pub fn numbered(wanted: &Path, number: u32) -> PathBuf {
    if number < 2 {
        return wanted.to_owned();
    }
    let mut name = wanted.as_os_str().to_owned();
    name.push(format!("-{number}"));
    PathBuf::from(name)
}

/// Removes what lies in the folder besides the trace and dumps, when nobody looks at it any more.
pub fn tidy(folder: &Path) {
    let _ = std::fs::remove_dir(folder.join(WALKS));
    for name in [STATUS, CLAIM, LOCK] {
        let _ = std::fs::remove_file(folder.join(name));
    }
}

/// Marks a folder as this process's; with it the descriptor of the number of samples that were taken.
///
/// # Errors
/// When it is somebody's already, or cannot be written.
pub(crate) fn write_claim(folder: &Path, counter: Option<i32>) -> io::Result<()> {
    let counter = counter.map_or(String::new(), |descriptor| descriptor.to_string());
    let claim = folder.join(CLAIM);
    let mut file = private_file(&claim)?;
    let written = file.write_all(format!("{}\n{counter}\n", std::process::id()).as_bytes());
    if written.is_err() {
        // An empty one would keep the next program out.
        let _ = std::fs::remove_file(claim);
    }
    written
}

/// What [`write_claim`] has written: process, and descriptor.
pub(crate) fn claim_of(folder: &Path) -> Option<(u32, Option<i32>)> {
    let text = std::fs::read_to_string(folder.join(CLAIM)).ok()?;
    let mut lines = text.lines();
    Some((lines.next()?.trim().parse().ok()?, lines.next().and_then(|line| line.trim().parse().ok())))
}

/// The process that is recorded into a folder.
pub fn claimed_by(folder: &Path) -> Option<u32> {
    claim_of(folder).map(|(pid, _)| pid)
}

/// Whether a process runs. One that has ended, and that nobody has asked about yet, does not.
pub fn is_running(pid: u32) -> bool {
    // Behind the name, which is in parentheses and may hold anything, is its state.
    let state = |text: String| text.rsplit_once(") ").and_then(|(_, state)| state.chars().next());
    let read = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(state);
    read.is_some_and(|state| !matches!(state, 'Z' | 'X' | 'x'))
}

/// Whether what is mapped into a process, as the kernel lists it, has musl's C library: under the name of its loader, as on Alpine Linux,
/// or where Debian puts it.
pub fn is_musl(maps: &str) -> bool {
    maps.lines().any(|line| line.contains("/ld-musl-") || line.ends_with("-linux-musl/libc.so"))
}

/// A lock on [`LOCK`], until it is dropped or its process ends.
pub struct RecorderLock(#[allow(dead_code)] File);

fn locked(folder: &Path, operation: i32) -> io::Result<File> {
    // Who only looks leaves nothing behind.
    let make = operation == libc::LOCK_EX;
    let file = OpenOptions::new().write(true).create(make).truncate(false).mode(0o600).open(folder.join(LOCK))?;
    // SAFETY: the descriptor is that of an open file.
    match unsafe { libc::flock(file.as_raw_fd(), operation | libc::LOCK_NB) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

impl RecorderLock {
    /// Becomes the recording process of a folder.
    ///
    /// # Errors
    /// When another process is, or the file cannot be made.
    pub fn take(folder: &Path) -> io::Result<RecorderLock> {
        // The recorder inside looks by taking the lock for an instant: that is waited out.
        for _ in 0..50 {
            match locked(folder, libc::LOCK_EX) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
                other => return other.map(RecorderLock),
            }
        }
        locked(folder, libc::LOCK_EX).map(RecorderLock)
    }

    /// Whether a process is the recording process of a folder.
    pub fn is_held(folder: &Path) -> bool {
        matches!(locked(folder, libc::LOCK_SH), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

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
    /// Samples that were taken too late to be held, and before the program stood still: their objects are in the dump, and nobody knows
    /// where. None where nobody counted them.
    pub late: Option<u64>,
    /// The samples, by their numbers.
    pub links: Vec<WalkNumber>,
}

impl WalkNote {
    /// Where the dump of a walk is.
    pub fn dump(folder: &Path, number: u64) -> PathBuf {
        folder.join(WALKS).join(format!("{number}.hprof"))
    }

    /// Where its note is, which comes when the dump is complete.
    pub fn file(folder: &Path, number: u64) -> PathBuf {
        folder.join(WALKS).join(format!("{number}.links"))
    }

    /// Where the numbers of all objects are, where they have some: pairs of number and handle, eight bytes each, little
    /// endian; the lowest bit of the handle says that the object stands for a class.
    pub fn numbers(folder: &Path, number: u64) -> PathBuf {
        folder.join(WALKS).join(format!("{number}.numbers"))
    }

    /// Writes the numbers of all objects, each with the handle of the global reference that holds it; before the note.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_numbers(folder: &Path, number: u64, numbers: impl IntoIterator<Item = WalkNumber>) -> io::Result<()> {
        let mut file = io::BufWriter::new(private_file(&WalkNote::numbers(folder, number))?);
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
        let unfinished = WalkNote::file(folder, self.number).with_extension("part");
        let mut file = io::BufWriter::new(private_file(&unfinished)?);
        let late = self.late.map_or(String::new(), |late| format!(" {late}"));
        writeln!(file, "walk {} {} {} {}{late}", self.number, self.start, self.end, self.gcs)?;
        for link in &self.links {
            writeln!(file, "{} {:x}", link.number, link.word)?;
        }
        file.flush()?;
        drop(file);
        std::fs::rename(&unfinished, WalkNote::file(folder, self.number))
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
        let entries = std::fs::read_dir(folder.join(WALKS)).into_iter().flatten().flatten();
        let number = |e: std::fs::DirEntry| e.file_name().to_str()?.strip_suffix(".links")?.parse().ok();
        let mut waiting: Vec<u64> = entries.filter_map(number).collect();
        waiting.sort_unstable();
        waiting
    }
}

/// How it goes, in one small file that is written in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStatus {
    /// The program's process.
    pub pid: u32,
    /// Samples taken.
    pub samples: u64,
    /// Samples that are followed now.
    pub live: u64,
    /// Followed samples whose objects are gone.
    pub deaths: u64,
    /// Samples that are not followed, for want of room.
    pub thinned: u64,
    /// Samples that were lost.
    pub lost: u64,
    /// Objects that keep a number from walk to walk.
    pub numbered: u64,
    /// Garbage collections.
    pub collections: u64,
    /// Walks.
    pub walks: u64,
    /// Walks that were left out because the disk was too full.
    pub no_room: u64,
    /// Walks at the end that were left out because nobody would have waited for them.
    pub no_time: u64,
    /// The first walk comes no earlier than so many microseconds after the beginning, as it might stop the program for long; 0 where it need
    /// not wait, or has been.
    pub first_walk: u64,
    /// For how long, microseconds.
    pub first_takes: u64,
    /// Class histograms.
    pub histograms: u64,
    /// Class histograms that were left out because the program's heap was too full.
    pub uncounted: u64,
    /// How long the program stood still for walks and histograms, microseconds.
    pub pauses: u64,
    /// For the last walk.
    pub last_pause: u64,
    /// Time that samples took in the program's threads, microseconds.
    pub sampling: u64,
    /// Time of a core that the recorder's own thread took, microseconds.
    pub own: u64,
    /// Since the recording began, microseconds.
    pub elapsed: u64,
    /// Bytes between samples.
    pub interval: u64,
    /// Bytes written.
    pub size: u64,
    /// Which events the VM tells us, by their numbers: bit 0 for event 50. None when a recording has ended.
    pub events_on: u64,
    /// How often the VM has called us, in all recordings of the process.
    pub events_told: u64,
    /// How often before this recording.
    pub events_before: u64,
    /// 1 where the VM has a fault that is told as [`crate::CLONES_AT_RISK`].
    pub clones_at_risk: u64,
    /// Empty while it records; then why it ended.
    pub ended: String,
}

/// The file is this long: written with one call, so that a reader sees one state.
const STATUS_BYTES: usize = 2048;

/// Writes and reads each field by its name.
macro_rules! status_fields {
    ($($field:ident),+) => {
        impl AgentStatus {
            fn text(&self) -> String {
                let mut text = String::new();
                $(text.push_str(&format!("{} {}\n", stringify!($field), self.$field));)+
                let ended: String = self.ended.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
                text.push_str(&format!("ended {ended}\n"));
                text
            }

            fn parse(text: &str) -> AgentStatus {
                let mut status = AgentStatus::default();
                for (name, value) in text.lines().filter_map(|l| l.split_once(' ')) {
                    match name {
                        $(stringify!($field) => status.$field = value.parse().unwrap_or_default(),)+
                        "ended" => status.ended = value.to_owned(),
                        _ => {}
                    }
                }
                status
            }
        }
    };
}

status_fields!(
    pid,
    samples,
    live,
    deaths,
    thinned,
    lost,
    numbered,
    collections,
    walks,
    no_room,
    no_time,
    first_walk,
    first_takes,
    histograms,
    uncounted,
    pauses,
    last_pause,
    sampling,
    own,
    elapsed,
    interval,
    size,
    events_on,
    events_told,
    events_before,
    clones_at_risk
);

impl AgentStatus {
    /// Writes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        use std::os::unix::fs::FileExt;
        let mut bytes = self.text().into_bytes();
        bytes.resize(STATUS_BYTES, b'\n');
        let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join(STATUS))?;
        open.write_all_at(&bytes, 0)
    }

    /// Takes the room that it needs on the disk, before there is a recorder: one that finds the disk full can say so there.
    ///
    /// # Errors
    /// When there is no room.
    pub fn reserve(folder: &Path) -> io::Result<()> {
        private_file(&folder.join(STATUS))?.write_all(&[b'\n'; STATUS_BYTES])
    }

    /// Reads it; `None` before the recorder has begun.
    pub fn read(folder: &Path) -> Option<AgentStatus> {
        let bytes = std::fs::read(folder.join(STATUS)).ok()?;
        Some(AgentStatus::parse(&String::from_utf8_lossy(&bytes))).filter(|status| status.pid > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_and_status_come_back() {
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
        let status =
            AgentStatus { pid: 7, samples: 12, size: 99, ended: "the disk\nis full".into(), ..Default::default() };
        AgentStatus::reserve(folder.path()).expect("room");
        assert_eq!(AgentStatus::read(folder.path()), None, "nobody has said anything");
        status.write(folder.path()).expect("written");
        let expected = AgentStatus { ended: "the disk is full".into(), ..status };
        assert_eq!(AgentStatus::read(folder.path()), Some(expected));
    }

    #[test]
    fn musl_is_known_by_what_is_mapped() {
        let line = |path: &str| format!("7f0000000000-7f0000001000 r--p 00000000 08:01 42    {path}\n");
        for (path, expected) in [
            ("/lib/ld-musl-x86_64.so.1", true),
            ("/usr/lib/x86_64-linux-musl/libc.so", true),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", false),
            ("/home/me/about-musl/app.jar", false),
        ] {
            assert_eq!(is_musl(&(line("/usr/bin/java") + &line(path))), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_there_and_empty_becomes_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).expect("made");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("open");
            path
        };
        let empty = open("empty");
        private_folder(&empty).expect("made private");
        assert!(!is_open_to_others(&empty));
        let used = open("used");
        std::fs::write(used.join("something"), "x").expect("written");
        private_folder(&used).expect("left as it is");
        assert!(is_open_to_others(&used));
        assert!(private_folder(&used.join("something")).is_err());
        private_folder(&folder.path().join("new")).expect("made");
        assert!(!is_open_to_others(&folder.path().join("new")));
    }

    #[test]
    fn a_lock_ends_with_its_holder() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!RecorderLock::is_held(folder.path()) && !folder.path().join(LOCK).exists());
        let lock = RecorderLock::take(folder.path()).expect("the lock");
        assert!(RecorderLock::is_held(folder.path()) && RecorderLock::take(folder.path()).is_err());
        drop(lock);
        assert!(!RecorderLock::is_held(folder.path()));
    }
}
