//! Dumps that a recording process left in a trace because it was killed: they become walks when the trace is opened, or when this user
//! records or looks for JVMs the next time; and what is not complete goes, as it holds what the program held.

use super::walks::WalkTaker;
use memory_city_agent::folder::{
    AgentStatus, RecorderLock, WALKS, WalkNote, claimed_by, is_running, private_file, private_folder, tidy,
};
use memory_city_heap::progress::Progress;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How large the walks of a trace may become that is finished here.
const MOST_BYTES: u64 = 1 << 40;

/// Finishes those of these that are traces nobody records into any more, or parts of one. What cannot be finished is left as it is, and
/// said.
pub fn finish(paths: &[PathBuf]) {
    let is_part = |path: &Path| path.extension().is_some_and(|end| end == "mcity");
    let folder_of = |path: &PathBuf| match path.is_dir() {
        true => Some(path.clone()),
        false => path.parent().filter(|_| is_part(path)).map(Path::to_path_buf),
    };
    // A folder of somebody else's that is called as ours is nothing to be tidied.
    let is_trace = |folder: &PathBuf| {
        let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        folder.join(WALKS).is_dir() && files.any(|file| is_part(&file.path()))
    };
    let folders: BTreeSet<PathBuf> = paths.iter().filter_map(folder_of).filter(is_trace).collect();
    folders.iter().for_each(|folder| finish_one(folder));
}

/// A recording that has begun: somebody may have to look after it.
pub struct RememberedRecording(PathBuf);

impl RememberedRecording {
    /// Remembers that this process records into a folder, until it is dropped. `None` where nothing can be remembered: then a dump that
    /// is left stays until the trace is opened.
    pub fn begin(folder: &Path) -> Option<RememberedRecording> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let all = remembered()?;
        if let Some(above) = all.parent() {
            std::fs::create_dir_all(above).ok()?;
        }
        private_folder(&all).ok()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = all.join(format!("{}-{number}", std::process::id()));
        // Of a process that had the same number, and was killed: its trace is looked after when it is opened.
        let _ = std::fs::remove_file(&file);
        private_file(&file).and_then(|mut file| file.write_all(folder.as_os_str().as_bytes())).ok()?;
        Some(RememberedRecording(file))
    }
}

impl Drop for RememberedRecording {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Where recordings are remembered, beside what else this user has here for programs of his own: one file each, with the folder.
fn remembered() -> Option<PathBuf> {
    Some(memory_city_live::pass_folder()?.parent()?.join("recordings"))
}

/// Finishes the recordings of this user whose recording process and program have both gone without a word.
pub fn finish_forgotten() {
    let Some(all) = remembered() else { return };
    for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let recorder = name.to_str().and_then(|name| name.split_once('-')?.0.parse::<u32>().ok());
        if recorder.is_none_or(is_running) {
            continue;
        }
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        let folder = PathBuf::from(OsString::from_vec(bytes));
        if folder.is_absolute() && folder.join(WALKS).is_dir() {
            // A program that goes on looks after its own.
            if claimed_by(&folder).is_some_and(is_running) {
                continue;
            }
            finish_one(&folder);
        }
        let _ = std::fs::remove_file(entry.path());
    }
}

fn finish_one(folder: &Path) {
    // Whoever has it is at work.
    let Ok(lock) = RecorderLock::take(folder) else { return };
    let waiting = WalkNote::waiting(folder).len();
    let mut taker = WalkTaker::new(folder, MOST_BYTES);
    taker.take(&Progress::new());
    let (walks, failed) = (taker.walks, taker.failed.take());
    let finished = taker.finish("a walk that was left was finished when the trace was opened");
    if let Some(why) = failed.map(|(_, why)| why).or(finished.err().map(|e| e.to_string())) {
        eprintln!(
            "memory-city: warning: of {waiting} walks that a recording process left {walks} were finished: {why}"
        );
    } else if walks > 0 {
        eprintln!("memory-city: {walks} walks that a recording process left were finished");
    }
    if is_being_written(folder) {
        return;
    }
    for left in std::fs::read_dir(folder.join(WALKS)).into_iter().flatten().flatten() {
        let _ = std::fs::remove_file(left.path());
    }
    tidy(folder);
    drop(lock);
}

/// Whether the program still writes its own stream.
fn is_being_written(folder: &Path) -> bool {
    AgentStatus::read(folder).is_some_and(|status| status.ended.is_empty() && is_running(status.pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies in a hidden folder of that name beside a dump, or beside nothing of ours, is somebody else's.
    #[test]
    fn nothing_is_tidied_that_is_no_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = folder.path().join(WALKS).join("diary.txt");
        std::fs::create_dir(folder.path().join(WALKS)).expect("a folder");
        std::fs::write(&kept, "Monday").expect("written");
        let dump = folder.path().join("1.hprof");
        std::fs::write(&dump, "JAVA PROFILE 1.0.2").expect("written");
        finish(&[folder.path().to_owned(), dump.clone(), folder.path().join("none")]);
        assert!(kept.exists(), "a folder, a dump, and what is not there");
        // Beside a recording it is the recorder's: what is not complete holds what the program held.
        std::fs::write(folder.path().join("00-000000.mcity"), "").expect("written");
        finish(&[dump]);
        assert!(kept.exists(), "a dump is no part of a recording");
        finish(&[folder.path().join("00-000000.mcity")]);
        assert!(!kept.exists() && !folder.path().join(WALKS).exists());
    }
}
