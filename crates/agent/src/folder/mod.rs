//! What lies in the folder of a trace besides the trace itself, while it is written: the agreement between the recorder inside
//! the program and the recording process outside.
//!
//! All of it is hidden (a name that begins with a dot), private to the user, and gone when the recording has ended in order.

mod status;
mod walk_note;

pub use status::AgentStatus;
pub use walk_note::{WalkNote, WalkNumber};

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

#[cfg(test)]
mod tests {
    use super::*;

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
