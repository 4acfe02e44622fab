//! The path for a dump, as the VM sees it.
//!
//! A path goes to it as a Java text, and from that into whatever letters the program's locale has (`LC_ALL=C`: English ones). So the folder
//! is open while a dump is written, and called by its descriptor: digits and English letters, whatever its own name is.

use crate::folder::{WALKS, WalkNote};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// The folder of dumps, while one is written.
pub(crate) struct DumpPlace {
    /// Keeps the descriptor that is in the path.
    _folder: Option<File>,
    path: String,
}

impl DumpPlace {
    /// For the dump of a walk. Where there is no `/proc`, or no descriptor to be had, by the folder's own name.
    ///
    /// # Errors
    /// When that is the only one, and no UTF-8.
    pub(crate) fn of(folder: &Path, number: u64) -> Result<DumpPlace, &'static str> {
        let dump = WalkNote::dump(folder, number);
        let opened = File::open(folder.join(WALKS)).ok().and_then(|opened| {
            let called = format!("/proc/self/fd/{}", opened.as_raw_fd());
            let name = dump.file_name()?.to_str()?;
            Path::new(&called).is_dir().then(|| DumpPlace { path: format!("{called}/{name}"), _folder: Some(opened) })
        });
        let by_name = || dump.to_str().map(|path| DumpPlace { path: path.to_owned(), _folder: None });
        opened.or_else(by_name).ok_or("the name of the folder is no UTF-8")
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn whatever_a_folder_is_called_the_place_in_it_has_plain_letters() {
        let above = tempfile::tempdir().expect("a folder");
        for name in [&b"plain"[..], "Müll-📦 (2)".as_bytes(), b"no \xff utf-8"] {
            let folder = above.path().join(OsStr::from_bytes(name));
            std::fs::create_dir_all(folder.join(WALKS)).expect("made");
            let place = DumpPlace::of(&folder, 7).expect("a place");
            assert!(place.path().is_ascii() && place.path().ends_with("/7.hprof"), "{}", place.path());
            std::fs::write(place.path(), "dump").expect("written");
            assert!(WalkNote::dump(&folder, 7).exists());
        }
        let none = above.path().join("none");
        assert_eq!(DumpPlace::of(&none, 7).expect("its name").path(), WalkNote::dump(&none, 7).to_str().expect("text"));
    }
}
