//! Files as another process sees them: in a container, or with a `/tmp` of its own, the same paths lead to other files.

use super::process::{inner_pid, status};
use memory_city_agent::folder::{CLAIM, claimed_by};
use memory_city_wire::is_part;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How the parts of a trace are called that the program itself writes.
const OWN_PARTS: &str = "00-";

/// Whether a process sees the same file as we do under a path, complete from the root, and there is one.
pub fn sees_same(pid: u32, path: &Path) -> bool {
    let inside = PathBuf::from(format!("/proc/{pid}/root{}", path.display()));
    let id = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    id(path).is_some_and(|here| id(&inside) == Some(here))
}

/// The folder that a program is being recorded into, where we see it too: by the part of its trace that it has open.
pub fn recorded_into(pid: u32) -> Option<PathBuf> {
    let inner = inner_pid(&status(pid))?;
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let of = |file: PathBuf| {
        let is_own = is_part(&file) && file.file_name()?.to_str()?.starts_with(OWN_PARTS);
        let folder = file.parent().filter(|_| is_own)?;
        let is_its = claimed_by(folder) == Some(inner) && sees_same(pid, &folder.join(CLAIM));
        is_its.then(|| folder.to_owned())
    };
    open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_found_by_what_its_program_has_open() {
        let (above, own) = (tempfile::tempdir().expect("a folder"), std::process::id());
        let part = |folder: &str, name: &str| {
            let folder = above.path().join(folder);
            std::fs::create_dir_all(&folder).expect("made");
            std::fs::File::create(folder.join(name)).expect("a file")
        };
        // Whoever reads a trace has it open too, and what writes walks into one.
        let _others = [part("read", "00-000000.mcity"), part("walks", "01-000000.mcity")];
        let claim =
            |folder: &str, pid: u32| std::fs::write(above.path().join(folder).join(CLAIM), format!("{pid}\n\n"));
        claim("read", 1).and(claim("walks", own)).expect("written");
        assert_eq!(recorded_into(own), None);
        let open = part("own", "00-000003.mcity");
        claim("own", own).expect("written");
        assert_eq!(recorded_into(own), Some(above.path().join("own")));
        assert!(sees_same(own, above.path()) && !sees_same(own, &above.path().join("none")));
        drop(open);
        assert_eq!(recorded_into(own), None);
    }
}
