//! A folder held by its descriptor. Everything in it is opened, inspected and removed by a plain name, so a rename of the folder does not
//! matter. No link is followed out of it, and only regular files of its owner, or of this user, are opened. So a pipe or a device cannot
//! stall a reader, and a link cannot lead anywhere.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A folder held by its descriptor.
pub struct HeldFolder {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// Metadata of a folder's entry, read without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldEntry {
    /// True for a regular file: no link, folder, pipe, socket or device.
    pub is_file: bool,
    /// The user that it belongs to.
    pub owner: u32,
    /// Its length, bytes.
    pub bytes: u64,
}

/// How files are opened: never through a link, never waiting for the other end of a pipe.
const PLAIN: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

fn no_file(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.to_owned())
}

/// A name within a folder: one that leads nowhere else.
fn plain(name: &Path) -> io::Result<&Path> {
    let mut parts = name.components();
    match (parts.next(), parts.next()) {
        (Some(std::path::Component::Normal(part)), None) if part == name.as_os_str() => Ok(name),
        _ => Err(no_file("this is no name within a folder")),
    }
}

impl HeldFolder {
    /// Opens the folder that a path leads to, also through links: naming a link means its target.
    ///
    /// # Errors
    /// When it is no folder, or cannot be read.
    pub fn open(path: &Path) -> io::Result<HeldFolder> {
        let descriptor = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(HeldFolder { descriptor, path: path.to_owned() })
    }

    /// Opens a folder, and no link to one.
    ///
    /// # Errors
    /// When it is no folder, or cannot be read.
    pub fn open_itself(path: &Path) -> io::Result<HeldFolder> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(HeldFolder { descriptor: rustix::fs::open(path, flags, Mode::empty())?, path: path.to_owned() })
    }

    /// A folder within it: no link, and of the same owner, or of this user.
    ///
    /// # Errors
    /// When there is none, it is something else, or it has another owner.
    pub fn folder(&self, name: &str) -> io::Result<HeldFolder> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(&self.descriptor, plain(Path::new(name))?, flags, Mode::empty())?;
        let folder = HeldFolder { descriptor, path: self.path.join(name) };
        self.trusts(folder.owner()).then_some(folder).ok_or_else(foreign)
    }

    /// Makes a folder within it for this user alone, where there is none of that name, and opens it. Returns too whether it was made.
    ///
    /// # Errors
    /// When something else has that name, a link too, or it cannot be made.
    pub fn make_folder(&self, name: impl AsRef<Path>) -> io::Result<(HeldFolder, bool)> {
        let name = plain(name.as_ref())?;
        let is_new = match rustix::fs::mkdirat(&self.descriptor, name, Mode::RWXU) {
            Err(error) if error == rustix::io::Errno::EXIST => false,
            made => made.map(|()| true)?,
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())?;
        let folder = HeldFolder { descriptor, path: self.path.join(name) };
        // Who may write above can have put another folder in place of the new one.
        match is_new && !(folder.owner() == geteuid().as_raw() && folder.is_empty()) {
            true => Err(foreign()),
            false => Ok((folder, is_new)),
        }
    }

    /// The path by which it was opened, for people.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Owner and permissions now. If the system does not say: no owner, and open to all.
    fn state(&self) -> (u32, Mode) {
        let stat = rustix::fs::fstat(&self.descriptor);
        stat.map_or((u32::MAX, Mode::all()), |stat| (stat.st_uid, Mode::from_raw_mode(stat.st_mode)))
    }

    /// The user that it belongs to.
    pub fn owner(&self) -> u32 {
        self.state().0
    }

    /// True if it belongs to this user, and no other user may change its content.
    pub fn is_own(&self) -> bool {
        self.owner() == geteuid().as_raw() && !self.is_open_to_writers()
    }

    /// True if others than its owner may read or change it.
    pub fn is_open_to_others(&self) -> bool {
        self.state().1.intersects(Mode::RWXG | Mode::RWXO)
    }

    /// True if other users may change its content.
    pub fn is_open_to_writers(&self) -> bool {
        self.state().1.intersects(Mode::WGRP | Mode::WOTH)
    }

    /// A path that leads to this folder for as long as it is held, by its descriptor, even after a rename. Without `/proc`, its own path.
    pub fn place(&self) -> PathBuf {
        let place = PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()));
        if cfg!(target_os = "linux") && place.is_dir() { place } else { self.path.clone() }
    }

    /// A message with the path in place of [`HeldFolder::place`], for people.
    pub fn told(&self, message: &str) -> String {
        message.replace(&*self.place().to_string_lossy(), &self.path.to_string_lossy())
    }

    /// True if files of this owner count as the folder's own: the folder's owner put them there, or we did.
    fn trusts(&self, owner: u32) -> bool {
        owner == self.owner() || owner == geteuid().as_raw()
    }

    /// Makes this folder private, if it is this user's own and empty: the user of a folder with content chose its permissions. Returns
    /// whether it was changed.
    ///
    /// # Errors
    /// Those of the system.
    pub fn close_empty(&self) -> io::Result<()> {
        if self.owner() == geteuid().as_raw() && self.is_open_to_others() && self.is_empty() {
            rustix::fs::fchmod(&self.descriptor, Mode::RWXU)?;
        }
        Ok(())
    }

    /// The metadata of an entry. A link is a link, whatever it leads to.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn entry(&self, name: impl AsRef<Path>) -> io::Result<HeldEntry> {
        let stat = rustix::fs::statat(&self.descriptor, plain(name.as_ref())?, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(HeldEntry::of(&stat))
    }

    /// True if there is a regular file of that name, of the folder's owner or of this user.
    pub fn has_file(&self, name: impl AsRef<Path>) -> bool {
        self.entry(name).and_then(|entry| self.checked(entry)).is_ok()
    }

    /// The names of all entries, in no order.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// Whether nothing is in it. `false` where it cannot be read.
    pub fn is_empty(&self) -> bool {
        self.names().is_ok_and(|names| names.is_empty())
    }

    /// Opens a regular file to read it.
    ///
    /// # Errors
    /// When there is none, it is something else, or it has another owner.
    pub fn file(&self, name: impl AsRef<Path>) -> io::Result<File> {
        self.opened(name.as_ref(), OFlags::RDONLY)
    }

    /// Opens a regular file to write into it, and keeps its content.
    ///
    /// # Errors
    /// As [`HeldFolder::file`].
    pub fn file_to_write(&self, name: impl AsRef<Path>) -> io::Result<File> {
        self.opened(name.as_ref(), OFlags::WRONLY)
    }

    fn opened(&self, name: &Path, access: OFlags) -> io::Result<File> {
        // Opening some devices does something already.
        self.checked(self.entry(name)?)?;
        let file = rustix::fs::openat(&self.descriptor, plain(name)?, access | PLAIN, Mode::empty())?;
        self.checked(HeldEntry::of(&rustix::fs::fstat(&file)?))?;
        Ok(File::from(file))
    }

    fn checked(&self, entry: HeldEntry) -> io::Result<()> {
        match entry {
            HeldEntry { is_file: false, .. } => Err(no_file("this is no regular file")),
            HeldEntry { owner, .. } if !self.trusts(owner) => Err(foreign()),
            _ => Ok(()),
        }
    }

    /// Reads a regular file of at most `most` bytes.
    ///
    /// # Errors
    /// As [`HeldFolder::file`]; when it has more.
    pub fn read(&self, name: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file(name)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > most {
            true => Err(io::Error::new(io::ErrorKind::InvalidData, format!("this has more than {most} bytes"))),
            false => Ok(bytes),
        }
    }

    /// Makes a file that is not there yet, for this user alone, to write into it.
    ///
    /// # Errors
    /// When something has that name, also a link that leads nowhere; when it cannot be made.
    pub fn create(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | PLAIN;
        let file = rustix::fs::openat(&self.descriptor, plain(name.as_ref())?, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(file))
    }

    /// Removes a regular file.
    ///
    /// # Errors
    /// As [`HeldFolder::file`]; when it cannot be removed.
    pub fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        let name = name.as_ref();
        self.checked(self.entry(name)?)?;
        Ok(rustix::fs::unlinkat(&self.descriptor, plain(name)?, AtFlags::empty())?)
    }

    /// Removes a file that this process created, whatever its owner is now. Another file with its name stays.
    ///
    /// # Errors
    /// When it is not there any more, or cannot be removed.
    pub fn remove_made(&self, name: impl AsRef<Path>, made: &File) -> io::Result<()> {
        let (name, own) = (plain(name.as_ref())?, rustix::fs::fstat(made)?);
        let there = rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (there.st_dev, there.st_ino) != (own.st_dev, own.st_ino) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    /// Removes a folder within it that is empty.
    ///
    /// # Errors
    /// When it is none, or not empty.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.descriptor, plain(Path::new(name))?, AtFlags::REMOVEDIR)?)
    }

    /// Renames a file in it; a file with that name is replaced.
    ///
    /// # Errors
    /// Those of the system.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (plain(Path::new(from))?, plain(Path::new(to))?);
        Ok(rustix::fs::renameat(&self.descriptor, from, &self.descriptor, to)?)
    }
}

impl std::os::fd::AsFd for HeldFolder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn foreign() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "this belongs to another user")
}

impl HeldEntry {
    fn of(stat: &Stat) -> HeldEntry {
        HeldEntry {
            is_file: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
            owner: stat.st_uid,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_but_regular_files_is_opened_and_no_link_is_followed() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let at = |name: &str| folder.path().join(name);
        std::fs::write(other.path().join("diary"), "Monday").expect("written");
        std::fs::write(at("file"), "12345").expect("written");
        symlink(other.path().join("diary"), at("link")).expect("linked");
        symlink(other.path(), at("linked")).expect("linked");
        symlink("/dev/zero", at("endless")).expect("linked");
        symlink("nowhere", at("dangling")).expect("linked");
        std::fs::create_dir(at("inner")).expect("made");
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::RUSR | Mode::WUSR).expect("a pipe");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("bound");
        let held = HeldFolder::open_itself(folder.path()).expect("the folder");
        for name in
            ["link", "linked", "endless", "dangling", "inner", "pipe", "socket", "none", "..", ".", "inner/x", ""]
        {
            assert!(held.file(name).is_err() && held.read(name, 10).is_err(), "{name}");
            assert!(held.file_to_write(name).is_err() && held.remove(name).is_err(), "{name}");
            assert!(held.folder(name).is_err() || name == "inner", "{name}");
            assert!(name == "none" || held.create(name).is_err(), "{name}");
        }
        assert!(HeldFolder::open_itself(&at("linked")).is_err() && HeldFolder::open(&at("linked")).is_ok());
        assert_eq!(held.read("file", 5).expect("five bytes"), b"12345");
        assert!(held.read("file", 4).is_err_and(|error| error.kind() == io::ErrorKind::InvalidData));
        assert_eq!(held.names().expect("names").len(), 8);
        assert_eq!(std::fs::read_to_string(other.path().join("diary")).expect("there"), "Monday");
        assert_eq!(std::fs::read_dir(other.path()).expect("it").count(), 1);
    }

    #[test]
    fn a_folder_is_held_whatever_becomes_of_its_name() {
        let above = tempfile::tempdir().expect("a folder");
        let at = |name: &str| above.path().join(name);
        std::fs::create_dir(at("one")).expect("made");
        std::fs::create_dir(at("other")).expect("made");
        std::fs::write(at("other").join("new"), "theirs").expect("written");
        let held = HeldFolder::open(&at("one")).expect("the folder");
        std::fs::rename(at("one"), at("moved")).expect("moved");
        symlink(at("other"), at("one")).expect("linked");
        held.create("new").and_then(|mut file| file.write_all(b"ours")).expect("written");
        std::fs::write(held.place().join("by place"), "x").expect("written");
        assert_eq!(std::fs::read_to_string(at("moved").join("new")).expect("there"), "ours");
        assert!(at("moved").join("by place").exists());
        let made = held.create("made").expect("made");
        assert!(held.remove_made("new", &made).is_err() && held.remove_made("made", &made).is_ok());
        held.rename("new", "old").expect("renamed");
        held.remove("old").expect("removed");
        held.remove("by place").expect("removed");
        assert!(held.is_empty() && at("other").join("new").exists());
        let said = held.told(&format!("{}: full", held.place().join("00-000000.mcity").display()));
        assert_eq!(said, format!("{}: full", at("one").join("00-000000.mcity").display()));
    }
}
