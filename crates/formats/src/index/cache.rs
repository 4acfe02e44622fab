//! The folder of indexes: its path, additions and removals.

use memory_city_heap::regular;
use memory_city_heap::unfinished::Unfinished;
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};

/// All indexes together take no more than this; the oldest go first.
pub(super) const MOST_IN_CACHE: u64 = 4 << 30;
/// The folder for indexes: of `MEMORY_CITY_CACHE`, or of this user. An empty `MEMORY_CITY_CACHE` means none, and so does a folder of another
/// user.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("MEMORY_CITY_CACHE") {
        Some(folder) if folder.is_empty() => None,
        Some(folder) => Some(PathBuf::from(folder)),
        None => dirs::cache_dir().map(|d| d.join("memory-city")),
    };
    folder.filter(|folder| is_usable(folder))
}

/// True if a folder is this user's, or does not exist yet.
fn is_usable(folder: &Path) -> bool {
    static TOLD: Once = Once::new();
    let is_usable = std::fs::metadata(folder).map_or(true, |meta| meta.is_dir() && regular::is_own(&meta));
    if !is_usable {
        TOLD.call_once(|| {
            tracing::warn!(
                "the cache {} is no folder of this user: nothing is kept there, and nothing taken from it. Name another one in \
                 MEMORY_CITY_CACHE",
                folder.display()
            );
        });
    }
    is_usable
}

/// Opens what was kept. Others may be able to write into the folder: what is not this user's own was not kept by it.
pub(super) fn open_kept(path: &Path) -> Option<File> {
    regular::open_own(path).ok()
}

/// Marks a file as used, which makes it young.
pub(super) fn is_used(file: &File, path: &Path) {
    let now = SystemTime::now();
    // Some systems change the times of files only through what may be written to.
    let by_path = || File::options().append(true).open(path)?.set_modified(now);
    let _ = if cfg!(unix) { file.set_modified(now) } else { by_path() };
}

/// How the names of indexes begin and end that are being written.
const PARTIAL: (&str, &str) = ("trace-", ".partial");
/// A temporary file without a lock is a leftover, unless it is younger than this: its writer may be just about to lock it.
const STALE: Duration = Duration::from_secs(60);

/// A file for an index that is being written, and its place. Others may be writing one of the same trace.
pub(super) fn create(cache: &Path) -> std::io::Result<(File, Unfinished)> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(cache)?;
    remove_stale(cache, STALE);
    let (mut file, place) = Unfinished::begin(tempfile::Builder::new().prefix(PARTIAL.0).suffix(PARTIAL.1), cache)?;
    // Where there are no locks (some network file systems) nothing is ever taken for stale.
    let _ = file.try_lock();
    file.write_all(super::MAGIC)?;
    Ok((file, place))
}

/// Whether an index that was being written has this name; earlier versions called it `0123456789abcdef.PID-COUNT.tmp`.
fn is_partial(name: &str) -> bool {
    let earlier = || {
        let (stem, rest) = name.strip_suffix(".tmp")?.split_once('.')?;
        let numbers = rest.split_once('-').is_some_and(|(pid, count)| {
            [pid, count].iter().all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        });
        Some(stem.len() == 16 && stem.bytes().all(|b| b.is_ascii_hexdigit()) && numbers)
    };
    name.starts_with(PARTIAL.0) && name.ends_with(PARTIAL.1) || earlier().unwrap_or(false)
}

/// Removes unfinished indexes of writers that were stopped.
fn remove_stale(cache: &Path, stale: Duration) {
    let Ok(entries) = std::fs::read_dir(cache) else { return };
    for entry in entries.flatten().filter(|e| e.file_name().to_str().is_some_and(is_partial)) {
        let changed = entry.metadata().and_then(|meta| meta.modified());
        let old = changed.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age >= stale));
        if !old {
            continue;
        }
        let path = entry.path();
        let abandoned = open_kept(&path).is_some_and(|file| file.try_lock().is_ok());
        if abandoned && let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!("{} was left behind and cannot be removed: {error}", path.display());
        }
    }
}

/// Removes the oldest indexes beyond the `most` bytes that the cache may take, but not the one just written.
pub(super) fn tidy(newest: &Path, most: u64) {
    let Some(entries) = newest.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|e| {
            let entry = e.ok()?;
            // A link is one, whatever it leads to.
            let (path, meta) = (entry.path(), entry.metadata().ok()?);
            let ours = path.extension().is_some_and(|e| e == "index") && meta.is_file() && regular::is_own(&meta);
            ours.then_some((meta.modified().ok()?, meta.len(), path))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|f| f.1).sum();
    for (_, bytes, path) in files {
        if total <= most {
            break;
        }
        if path != newest && std::fs::remove_file(&path).is_ok() {
            total -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_indexes_make_room_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, age: u64| {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![0; 1000]).expect("written");
            let time = SystemTime::now() - Duration::from_secs(age);
            File::options().append(true).open(&path).and_then(|f| f.set_modified(time)).expect("a time");
            path
        };
        let newest = file("a.index", 90);
        let [young, older, oldest, other] =
            [("b.index", 10), ("c.index", 50), ("d.index", 70), ("notes.txt", 99)].map(|(name, age)| file(name, age));
        tidy(&newest, 2500);
        let there = [&newest, &young, &older, &oldest, &other].map(|path| path.exists());
        assert_eq!(there, [true, true, false, false, true]);
    }

    #[test]
    fn what_was_left_behind_is_removed_and_what_is_being_written_stays() {
        let cache = tempfile::tempdir().expect("a folder");
        let old = |path: &Path| {
            let time = SystemTime::now() - 2 * STALE;
            File::options().append(true).open(path).and_then(|f| f.set_modified(time)).expect("a time");
        };
        let file = |name: &str| {
            let path = cache.path().join(name);
            std::fs::write(&path, "half an index").expect("written");
            old(&path);
            path
        };
        let stale = ["trace-x7Qa.partial", "0123456789abcdef.4711-0.tmp"].map(file);
        let others = ["0123456789abcdef.index", "mine.tmp", "trace-notes.txt", "abc.4711-0.tmp"].map(file);
        let (writing, place) = create(cache.path()).expect("a file");
        assert!(stale.iter().all(|path| !path.exists()) && others.iter().all(|path| path.exists()));
        old(place.path());
        remove_stale(cache.path(), STALE);
        assert!(place.path().exists(), "it is being written");
        // Its writer was killed: nobody removes the file, and nobody holds the lock.
        let left = place.path().to_path_buf();
        std::mem::forget(place);
        drop(writing);
        remove_stale(cache.path(), STALE);
        assert!(!left.exists());
        let young = file("trace-young.partial");
        File::options().append(true).open(&young).and_then(|f| f.set_modified(SystemTime::now())).expect("a time");
        remove_stale(cache.path(), STALE);
        assert!(young.exists());
    }
}
