//! Regular files only. A pipe or a device with the name of a file is an error at once: nothing waits for its other end, and nothing reads
//! it without end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file to read it, through links too.
///
/// # Errors
/// Those of the system; [`io::ErrorKind::IsADirectory`] for a folder, and [`io::ErrorKind::InvalidInput`] for any other kind.
pub fn open(path: &Path) -> io::Result<File> {
    let file = opened(path, std::fs::metadata(path)?, false)?;
    // Another one may have its name by now.
    is_regular(&file.metadata()?)?;
    Ok(file)
}

/// As [`open`], for a file that belongs to this user, and is no link: for files that programs of one user share where others may write.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::PermissionDenied`] when it has another owner.
pub fn open_own(path: &Path) -> io::Result<File> {
    let file = opened(path, std::fs::symlink_metadata(path)?, true)?;
    let meta = file.metadata()?;
    is_regular(&meta)?;
    match is_own(&meta) {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "this belongs to another user")),
    }
}

/// True if a file or folder belongs to this user, or if files have no owners.
pub fn is_own(meta: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(meta) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    {
        let _ = meta;
        true
    }
}

fn opened(path: &Path, meta: std::fs::Metadata, itself: bool) -> io::Result<File> {
    // Opening some devices does something already: what it is comes first.
    is_regular(&meta)?;
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let links = if itself { OFlags::NOFOLLOW } else { OFlags::empty() };
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | links;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
    }
    #[cfg(not(unix))]
    let _ = itself;
    options.read(true).open(path)
}

fn is_regular(meta: &std::fs::Metadata) -> io::Result<()> {
    match (meta.is_file(), meta.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "this is a pipe, a socket or a device, and no file")),
    }
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::FileTooLarge`] if it has more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_within_their_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").expect("written");
        assert_eq!(read(&path, 5).expect("five bytes"), b"12345");
        assert_eq!(read(&path, 4).expect_err("too many").kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(open(folder.path()).expect_err("a folder").kind(), io::ErrorKind::IsADirectory);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_sockets_and_devices_are_no_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).expect("a pipe");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("bound");
        std::os::unix::fs::symlink("pipe", at("to a pipe")).expect("linked");
        std::os::unix::fs::symlink("/dev/zero", at("zero")).expect("linked");
        for name in ["pipe", "socket", "to a pipe", "zero"] {
            assert_eq!(open(&at(name)).expect_err(name).kind(), io::ErrorKind::InvalidInput, "{name}");
            assert_eq!(open_own(&at(name)).expect_err(name).kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        std::fs::write(at("file"), "x").expect("written");
        std::os::unix::fs::symlink("file", at("link")).expect("linked");
        assert!(open(&at("link")).is_ok() && open_own(&at("file")).is_ok() && open_own(&at("link")).is_err());
        // Root's, unless this is root.
        let others = Path::new("/etc/hostname");
        let is_own = others.metadata().is_ok_and(|meta| is_own(&meta));
        assert_eq!(open_own(others).is_ok(), is_own);
    }
}
