//! Removal of earlier traces with the same name. A container that is restarted again and again leaves one trace each time. Each has a
//! bound, but all of them together have none, so an option sets how many stay when the next one begins.
//!
//! Only files that a recorder has written are removed, and none that may still grow. A program in another container cannot be seen from
//! here, but its writes can.

use crate::folder::{CLAIM, RecorderLock, STATUS, claimed_by, is_running, numbered, remove_dumps, tidy};
use memory_city_wire::HeldFolder;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A recording writes at least twice in a second. A trace without a write for this long has no writer.
const QUIET: Duration = Duration::from_secs(60);

/// Numbers of the traces that are called so, ascending: the first has none behind its name, which is 1.
pub(crate) fn earlier(wanted: &Path) -> Vec<u32> {
    let above = wanted.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = wanted.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let number = |other: &str| match other.strip_prefix(name)? {
        "" => Some(1),
        behind => behind.strip_prefix('-')?.parse::<u32>().ok().filter(|n| *n > 1 && behind == format!("-{n}")),
    };
    let entries = std::fs::read_dir(above).into_iter().flatten().flatten();
    // No links: what is behind them is somebody else's.
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut numbers: Vec<u32> = folders.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
    numbers.sort_unstable();
    numbers
}

/// Removes all but the last `keep` of some [`earlier`] traces, and the leftovers of recordings that could not begin. Returns the number of
/// removed traces.
pub(crate) fn remove_earlier(wanted: &Path, numbers: &[u32], keep: u32) -> u32 {
    let folders = numbers.iter().map(|number| numbered(wanted, *number));
    let (traces, others): (Vec<PathBuf>, Vec<PathBuf>) = folders.partition(|folder| has_trace(folder));
    let begun = others.iter().filter(|folder| folder.join(CLAIM).exists());
    begun.filter(|folder| !may_be_written(folder)).for_each(|folder| _ = remove(folder));
    let goes = traces.len().saturating_sub(keep as usize);
    traces.iter().take(goes).filter(|folder| !may_be_written(folder) && remove(folder)).count() as u32
}

/// True if a trace of any program is in the folder already.
pub(crate) fn has_trace(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| e.path()).any(|path| memory_city_wire::is_part(&path))
}

/// Takes back that a folder is this program's, where no trace came to be in it. It goes where it `is_new`.
pub(crate) fn withdraw(folder: &Path, is_new: bool) {
    // A recording process that waits for it has the folder in its own hands.
    if has_trace(folder) || RecorderLock::is_held(folder) {
        return;
    }
    tidy(folder);
    if is_new {
        let _ = std::fs::remove_dir(folder);
    }
}

/// True if another process may be writing there.
fn may_be_written(folder: &Path) -> bool {
    let is_recent = |path: PathBuf| {
        let written = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        // One that was written in the future, as the clock was set since, is left alone.
        written.is_some_and(|at| at.elapsed().map_or(true, |since| since < QUIET))
    };
    let has_claim = folder.join(CLAIM).exists();
    // A program in a container has the number that the one before it had there.
    let is_other = |pid| pid != std::process::id() && is_running(pid);
    RecorderLock::is_held(folder)
        || claimed_by(folder).is_some_and(is_other)
        || has_claim && (is_recent(folder.join(STATUS)) || is_recent(folder.join(CLAIM)))
}

/// True if the folder has gone. Files of others stay, and so does the folder then.
fn remove(folder: &Path) -> bool {
    let Ok(held) = HeldFolder::open_itself(folder) else { return false };
    let names = held.names().unwrap_or_default();
    names.iter().filter(|name| memory_city_wire::is_part(Path::new(name))).for_each(|name| _ = held.remove(name));
    remove_dumps(folder);
    tidy(folder);
    std::fs::remove_dir(folder).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::WALKS;
    use std::time::SystemTime;

    #[test]
    fn the_last_ones_stay_and_what_is_written_does() {
        let above = tempfile::tempdir().expect("a folder");
        let wanted = above.path().join("trace");
        let make = |name: &str| {
            let folder = above.path().join(name);
            std::fs::create_dir(&folder).expect("made");
            std::fs::write(folder.join("00-000000.mcity"), "part").expect("written");
            folder
        };
        for name in ["trace", "trace-2", "trace-3", "trace-4", "trace-10", "trace-x", "trace-02", "tracer", "other"] {
            make(name);
        }
        std::fs::write(above.path().join("trace-5"), "a file").expect("written");
        std::os::unix::fs::symlink(above.path().join("other"), above.path().join("trace-6")).expect("linked");
        assert_eq!(earlier(&wanted), [1, 2, 3, 4, 10]);
        // Killed, and killed long ago; nobody here has such a process.
        let claim = |name: &str, ago: Duration| {
            let file = above.path().join(name).join(CLAIM);
            std::fs::write(&file, format!("{}\n\n", i32::MAX)).expect("written");
            let then = SystemTime::now() - ago;
            std::fs::File::options().write(true).open(file).and_then(|file| file.set_modified(then)).expect("set");
        };
        claim("trace", Duration::from_secs(3600));
        claim("trace-2", Duration::from_secs(1));
        std::fs::write(above.path().join("trace-3/notes.txt"), "mine").expect("written");
        let remove_earlier = |keep| remove_earlier(&wanted, &earlier(&wanted), keep);
        assert_eq!(remove_earlier(2), 1, "the first goes");
        assert_eq!(earlier(&wanted), [2, 3, 4, 10]);
        assert!(above.path().join("trace-3/notes.txt").exists());
        assert!(above.path().join("trace-2/00-000000.mcity").exists(), "somebody may be at work there");
        claim("trace-2", Duration::from_secs(3600));
        // What has only notes counts no more.
        assert_eq!((remove_earlier(3), earlier(&wanted)), (0, vec![2, 3, 4, 10]));
        assert_eq!((remove_earlier(2), earlier(&wanted)), (1, vec![3, 4, 10]));
        assert_eq!((remove_earlier(2), remove_earlier(9)), (0, 0));
        // Two that could not begin count for nothing, and go when nobody is at work there; what somebody else has made stays.
        let hour = Duration::from_secs(3600);
        for (name, ago) in [("trace-11", Some(hour)), ("trace-12", Some(Duration::ZERO)), ("trace-13", None)] {
            std::fs::create_dir_all(above.path().join(name).join(WALKS)).expect("made");
            ago.into_iter().for_each(|ago| claim(name, ago));
        }
        assert_eq!((remove_earlier(3), earlier(&wanted)), (0, vec![3, 4, 10, 12, 13]));
        // In a container the program before had the same number.
        std::fs::write(above.path().join("trace-4").join(CLAIM), format!("{}\n\n", std::process::id()))
            .expect("written");
        assert_eq!(remove_earlier(0), 1, "that one may just have begun, and of the others the tenth goes");
        let then = SystemTime::now() - hour;
        let of_before = std::fs::File::options().write(true).open(above.path().join("trace-4").join(CLAIM));
        of_before.and_then(|file| file.set_modified(then)).expect("set");
        assert_eq!((remove_earlier(0), earlier(&wanted)), (1, vec![3, 12, 13]));
        assert!(above.path().join("other/00-000000.mcity").exists());
        assert_eq!(earlier(Path::new("/nowhere/trace")), Vec::<u32>::new());
    }
}
