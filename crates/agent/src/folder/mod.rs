//! The files beside a trace in its folder, while it is written: the protocol between the recorder inside the program and the recording
//! process outside.
//!
//! All of it is hidden (a name that begins with a dot), private to the user, and gone when the recording has ended in order. A reader holds
//! the folder by its descriptor, follows no link in it, and limits the size of each file: the folder may be anybody's.

mod status;
mod walk_note;

pub use status::AgentStatus;
pub use walk_note::{WalkNote, WalkNumber};

pub use memory_city_wire::{CLAIM, LOCK, STATUS, WALKS};

use memory_city_wire::{HeldFolder, is_locked, walk_file};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Reason for the end of a recording that was ended on request: the program goes on.
pub const ENDED_FROM_OUTSIDE: &str = "recording was ended from outside";

/// Creates a folder that is private to this user. An existing folder becomes private if it is empty and this user's own. Any other stays as
/// it is, since its owner chose its permissions.
///
/// # Errors
/// When it cannot be made or read, or something that is no folder has its name.
pub fn private_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
            HeldFolder::open(path)?.close_empty()
        }
        made => made,
    }
}

/// Makes the folder of dumps in that of a trace, for this user alone.
///
/// # Errors
/// When it cannot be made, or something else has its name, even a link.
pub(crate) fn walks_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder.join(WALKS)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            HeldFolder::open(folder)?.folder(WALKS).map_err(|_| error).map(drop)
        }
        made => made,
    }
}

/// Creates a file that is private to this user.
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

/// Removes the files beside the trace and dumps, when they are of no more use.
pub fn tidy(folder: &Path) {
    let Ok(held) = HeldFolder::open(folder) else { return };
    let _ = held.remove_folder(WALKS);
    for name in [STATUS, CLAIM, LOCK] {
        let _ = held.remove(name);
    }
}

/// Removes the dumps in a folder that no process will collect any more, with their notes. Files of others stay.
pub fn remove_dumps(folder: &Path) {
    let Ok(walks) = HeldFolder::open(folder).and_then(|held| held.folder(WALKS)) else { return };
    let names = walks.names().unwrap_or_default();
    names.iter().filter(|name| walk_file(name).is_some()).for_each(|name| _ = walks.remove(name));
}

/// True if dumps are being written, or wait.
pub fn has_dumps(folder: &Path) -> bool {
    let walks = HeldFolder::open(folder).and_then(|held| held.folder(WALKS));
    walks.and_then(|walks| walks.names()).is_ok_and(|names| names.iter().any(|name| walk_file(name).is_some()))
}

/// Marks a folder as this process's; with it the descriptor of the number of samples that were taken.
///
/// # Errors
/// When another process has it already, or it cannot be written.
pub(crate) fn write_claim(folder: &Path, counter: Option<i32>) -> io::Result<()> {
    let counter = counter.map_or(String::new(), |descriptor| descriptor.to_string());
    let held = HeldFolder::open(folder)?;
    let mut file = held.create(CLAIM)?;
    let written = file.write_all(format!("{}\n{counter}\n", std::process::id()).as_bytes());
    if written.is_err() {
        // An empty one would keep the next program out.
        let _ = held.remove(CLAIM);
    }
    written
}

/// No claim is longer, bytes.
const MOST_OF_CLAIM: u64 = 64;

/// The process and descriptor that [`write_claim`] has written.
pub(crate) fn claim_of(folder: &Path) -> Option<(u32, Option<i32>)> {
    let text = HeldFolder::open(folder).and_then(|held| held.read(CLAIM, MOST_OF_CLAIM)).ok()?;
    let text = String::from_utf8(text).ok()?;
    let mut lines = text.lines();
    Some((lines.next()?.trim().parse().ok()?, lines.next().and_then(|line| line.trim().parse().ok())))
}

/// The process that is recorded into a folder.
pub fn claimed_by(folder: &Path) -> Option<u32> {
    claim_of(folder).map(|(pid, _)| pid)
}

/// True if a process runs. A zombie does not.
pub fn is_running(pid: u32) -> bool {
    // Behind the name, which is in parentheses and may hold anything, is its state.
    let state = |text: String| text.rsplit_once(") ").and_then(|(_, state)| state.chars().next());
    let read = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(state);
    read.is_some_and(|state| !matches!(state, 'Z' | 'X' | 'x'))
}

/// True if a process has musl's C library, from the kernel's list of its mapped files: under the name of its loader, as on Alpine Linux, or
/// in Debian's folder.
pub fn is_musl(maps: &str) -> bool {
    maps.lines().any(|line| line.contains("/ld-musl-") || line.ends_with("-linux-musl/libc.so"))
}

/// A lock on [`LOCK`], until it is dropped or its process ends.
pub struct RecorderLock {
    file: File,
    is_new: bool,
}

fn locked(folder: &HeldFolder) -> io::Result<RecorderLock> {
    let (file, is_new) = match folder.create(LOCK) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (folder.file_to_write(LOCK)?, false),
        made => (made?, true),
    };
    // SAFETY: the descriptor is that of an open file.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(RecorderLock { file, is_new }),
        _ => Err(io::Error::last_os_error()),
    }
}

impl RecorderLock {
    /// Becomes the recording process of a folder.
    ///
    /// # Errors
    /// When another process is, or the file cannot be made.
    pub fn take(folder: &Path) -> io::Result<RecorderLock> {
        let held = HeldFolder::open(folder)?;
        // The recorder inside looks by taking the lock for an instant: that is waited out.
        for _ in 0..50 {
            match locked(&held) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
                other => return other,
            }
        }
        locked(&held)
    }

    /// The file that was made for it; `None` where it was there.
    pub fn made(&self) -> Option<&File> {
        self.is_new.then_some(&self.file)
    }

    /// Whether a process is the recording process of a folder.
    pub fn is_held(folder: &Path) -> bool {
        HeldFolder::open(folder).is_ok_and(|held| is_locked(&held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

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
        let is_open_to_others = |path: &Path| HeldFolder::open(path).is_ok_and(|held| held.is_open_to_others());
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
