//! Permissions of new files: a file made from an input is no more readable than the input. Names of threads and classes, and contents of
//! strings, go from a dump that only its owner may read into pages, tables and pictures.

#[cfg(unix)]
use std::fs::{File, Metadata};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The users that may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileReaders {
    /// The users that may read other new files of this user.
    AsUsual,
    /// This user and a group, by its number.
    Group(u32),
    /// This user alone.
    OwnerAlone,
}

/// Most levels of folders that are checked, and files in them. Beyond that only the owner may read the result.
const DEEPEST: usize = 4;
const MOST_FILES: usize = 20_000;

impl FileReaders {
    /// The users that may read all of these files, and those in these folders: who may not look into a folder above one reads nothing in
    /// it. Inputs that are neither file nor folder, such as a pipe,
    /// restrict nothing. Access control lists count as far as the mode of a file shows them.
    pub fn of<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) -> FileReaders {
        let mut left = MOST_FILES;
        inputs.into_iter().fold(FileReaders::AsUsual, |all, input| {
            let input = input.as_ref();
            all.and(of(input, DEEPEST, &mut left)).and(above(input))
        })
    }

    /// The users that both allow.
    pub fn and(self, other: FileReaders) -> FileReaders {
        match (self, other) {
            (FileReaders::AsUsual, other) | (other, FileReaders::AsUsual) => other,
            (FileReaders::Group(a), FileReaders::Group(b)) if a == b => self,
            _ => FileReaders::OwnerAlone,
        }
    }

    /// A new file gets the group of its creator, or of its folder. If that is another group than allowed, only the owner may read it.
    #[cfg(unix)]
    pub(crate) fn leave_out_other_groups(self, file: &File) -> std::io::Result<()> {
        match self {
            FileReaders::Group(group) if file.metadata()?.gid() != group => {
                file.set_permissions(PermissionsExt::from_mode(0o600))
            }
            _ => Ok(()),
        }
    }
}

/// The users that the mode of a file lets read it, or that of a folder look into it. Anything else restricts nothing.
#[cfg(unix)]
fn own(metadata: &Metadata) -> FileReaders {
    let may = match () {
        () if metadata.is_file() => 0o4,
        () if metadata.is_dir() => 0o1,
        () => return FileReaders::AsUsual,
    };
    let mode = metadata.mode();
    match (mode >> 3 & may != 0, mode & may != 0) {
        (true, true) => FileReaders::AsUsual,
        (true, false) => FileReaders::Group(metadata.gid()),
        (false, _) => FileReaders::OwnerAlone,
    }
}

/// The users that may look into all folders above a file or folder, links followed.
#[cfg(unix)]
fn above(input: &Path) -> FileReaders {
    let Ok(whole) = input.canonicalize() else { return FileReaders::AsUsual };
    let folders = whole.ancestors().skip(1).filter_map(|folder| std::fs::metadata(folder).ok());
    folders.fold(FileReaders::AsUsual, |all, folder| all.and(own(&folder)))
}

#[cfg(not(unix))]
fn above(_: &Path) -> FileReaders {
    FileReaders::AsUsual
}

#[cfg(unix)]
fn of(input: &Path, deeper: usize, left: &mut usize) -> FileReaders {
    // What is not there is read by nobody.
    let Ok(metadata) = std::fs::metadata(input) else { return FileReaders::AsUsual };
    let own = own(&metadata);
    if !metadata.is_dir() || own == FileReaders::OwnerAlone {
        return own;
    }
    let Some(deeper) = deeper.checked_sub(1) else { return FileReaders::OwnerAlone };
    let Ok(entries) = std::fs::read_dir(input) else { return FileReaders::OwnerAlone };
    let mut all = own;
    for entry in entries.flatten() {
        match left.checked_sub(1) {
            Some(rest) => *left = rest,
            None => return FileReaders::OwnerAlone,
        }
        let path = entry.path();
        all = all.and(of(&path, deeper, left));
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            all = all.and(above(&path));
        }
        if all == FileReaders::OwnerAlone {
            break;
        }
    }
    all
}

#[cfg(not(unix))]
fn of(_: &Path, _: usize, _: &mut usize) -> FileReaders {
    FileReaders::AsUsual
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::unfinished::write_whole_for;
    use std::path::PathBuf;

    #[test]
    fn what_is_made_of_a_file_is_no_more_readable() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
        set(folder.path(), 0o755);
        let inputs = folder.path().join("inputs");
        std::fs::create_dir(&inputs).expect("a folder");
        let file = |name: &str, mode: u32| -> PathBuf {
            let path = inputs.join(name);
            std::fs::write(&path, name).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("its owner may");
            path
        };
        let (open, grouped, closed) = (file("open", 0o644), file("grouped", 0o640), file("closed", 0o600));
        let odd = file("odd", 0o604);
        let gid = std::fs::metadata(&grouped).expect("there").gid();
        let group = FileReaders::Group(gid);
        for (of, readers, mode) in [
            (vec![&open], FileReaders::AsUsual, 0o644),
            (vec![&open, &grouped], group, 0o640),
            (vec![&grouped, &closed], FileReaders::OwnerAlone, 0o600),
            (vec![&odd], FileReaders::OwnerAlone, 0o600),
            (vec![&inputs], FileReaders::OwnerAlone, 0o600),
        ] {
            assert_eq!(FileReaders::of(&of), readers, "{of:?}");
            let made = folder.path().join("made");
            write_whole_for(&made, readers, |_| Ok(())).expect("written");
            let got = std::fs::metadata(&made).expect("there").mode() & 0o777;
            assert_eq!(got & !mode, 0, "{of:?}: {got:o}");
        }
        assert_eq!(group.and(FileReaders::Group(gid.wrapping_add(1))), FileReaders::OwnerAlone);
        let made = folder.path().join("of others");
        write_whole_for(&made, FileReaders::Group(gid.wrapping_add(1)), |_| Ok(())).expect("written");
        assert_eq!(std::fs::metadata(&made).expect("there").mode() & 0o777, 0o600, "another group reads nothing");
        // A folder whose files all may read; one that nobody may look into; links that lead in a circle.
        std::fs::remove_file(&closed).and_then(|()| std::fs::remove_file(&odd)).expect("removed");
        assert_eq!(FileReaders::of([&inputs]), group);
        std::fs::set_permissions(&inputs, PermissionsExt::from_mode(0o700)).expect("its owner may");
        assert_eq!(FileReaders::of([&inputs]), FileReaders::OwnerAlone);
        std::fs::set_permissions(&inputs, PermissionsExt::from_mode(0o755)).expect("its owner may");
        std::os::unix::fs::symlink(&inputs, inputs.join("again")).expect("a link");
        assert_eq!(FileReaders::of([&inputs]), FileReaders::OwnerAlone, "what is too deep is not looked at");
        assert_eq!(FileReaders::of(["/dev/null", "/nowhere"]), FileReaders::AsUsual);
        // A folder above counts, also where a link leads into it.
        let linked = folder.path().join("linked");
        std::fs::create_dir(&linked).expect("a folder");
        std::os::unix::fs::symlink(&open, linked.join("open")).expect("a link");
        for (mode, readers) in [
            (0o755, FileReaders::AsUsual),
            (0o711, FileReaders::AsUsual),
            (0o750, group),
            (0o700, FileReaders::OwnerAlone),
        ] {
            set(&inputs, mode);
            assert_eq!(FileReaders::of([&open]), readers, "{mode:o}");
            assert_eq!(FileReaders::of([&linked]), readers, "{mode:o}");
        }
    }
}
