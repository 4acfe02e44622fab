//! Completion of interrupted recordings: dumps that a killed recording process left become walks. Incomplete files are removed, as they
//! hold the program's data. Only the user who owns a recording finishes it, as an act of its own: opening one changes nothing.

use super::walks::WalkTaker;
use crate::terminal;
use memory_city_agent::folder::{
    AgentStatus, CLAIM, LOCK, RecorderLock, STATUS, WALKS, claimed_by, is_running, private_folder, remove_dumps, tidy,
};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::texts::several;
use memory_city_wire::{FILE_HEADER, HeldFolder, LeftWalks, PartHeader, is_part};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

/// How large the walks of a trace may become that is finished here.
const MOST_BYTES: u64 = 1 << 40;

/// Result of finishing an interrupted recording.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FinishedRecording {
    /// Walks that are in it now.
    pub walks: u64,
    /// Incomplete dumps that went.
    pub removed: u64,
    /// Files that could not be added, or that stay, with the reason.
    pub warnings: Vec<String>,
}

impl FinishedRecording {
    /// Whether there was anything to do.
    pub fn is_nothing(&self) -> bool {
        *self == FinishedRecording::default()
    }

    /// The result, as text for people.
    pub fn text(&self) -> String {
        let added = (self.walks > 0).then(|| format!("{} added", several(self.walks, "walk was", "walks were")));
        let gone = (self.removed > 0)
            .then(|| format!("{} removed", several(self.removed, "incomplete dump was", "incomplete dumps were")));
        let done: Vec<String> = added.into_iter().chain(gone).collect();
        if done.is_empty() { "there was nothing to add".to_owned() } else { done.join(", ") }
    }
}

/// Finishes the recording in a folder of this user.
///
/// # Errors
/// When there is no recording, it is another user's, another process works on it, or it cannot be written to.
pub fn finish(folder: &Path) -> Result<FinishedRecording> {
    finish_held(HeldFolder::open(folder).map_err(|e| Error::io(folder, e))?)
}

fn finish_held(held: HeldFolder) -> Result<FinishedRecording> {
    let unusable = |what: String, remedy: &str| Error::Unusable { what, remedy: remedy.into() };
    let shown = held.path().display().to_string();
    if !held.is_own() {
        return Err(match held.is_open_to_writers() {
            true => unusable(
                format!("Other users may write into {shown}"),
                "Take that away first (chmod go-w), or move the recording into a folder of your own",
            ),
            false => unusable(format!("{shown} belongs to another user"), "Run this as that user"),
        });
    }
    if !holds_recording(&held) {
        return Err(unusable(format!("There is no recording in {shown}"), "Name the folder that was recorded into"));
    }
    let notes = || [WALKS, STATUS, CLAIM, LOCK].into_iter().filter(|name| held.entry(name).is_ok());
    if notes().next().is_none() {
        return Ok(FinishedRecording::default());
    }
    let place = held.place();
    let Ok(lock) = RecorderLock::take(&place) else {
        return Err(unusable(
            format!("{shown} cannot be finished: {}", why_not_taken(&held)),
            "Wait until the recording has ended; a link or another user's file there is to be removed by hand",
        ));
    };
    let incomplete = LeftWalks::waiting_in(&held).incomplete.len() as u64;
    let (shown, held) = (held.path().to_owned(), Arc::new(held));
    let mut taker = WalkTaker::new(Arc::clone(&held), MOST_BYTES);
    taker.take(&Progress::new());
    let mut done = FinishedRecording { walks: taker.walks, ..FinishedRecording::default() };
    if let Some((walks, why)) = taker.failed.take() {
        done.warnings.push(format!("{} left out: {why}", several(walks, "walk was", "walks were")));
    }
    taker.finish("a walk that was left was finished afterwards")?;
    if is_being_written(&place) {
        done.warnings.push(format!("{} is still being recorded into: the rest is its program's", shown.display()));
        return Ok(done);
    }
    done.removed = incomplete;
    remove_dumps(&place);
    tidy(&place);
    drop(lock);
    let stays: Vec<&str> = [WALKS, STATUS, CLAIM, LOCK].into_iter().filter(|name| held.entry(name).is_ok()).collect();
    if !stays.is_empty() {
        let stays = stays.join(", ");
        done.warnings
            .push(format!("{}: {stays} stays, as it is not, or has in it, what a recorder makes", shown.display()));
    }
    Ok(done)
}

fn why_not_taken(held: &HeldFolder) -> &'static str {
    match held.entry(LOCK) {
        Ok(entry) if !entry.is_file => "its lock is no file",
        _ => "somebody is at work there",
    }
}

/// Whether a part of a recording of ours is there.
fn holds_recording(held: &HeldFolder) -> bool {
    held.names().unwrap_or_default().iter().map(Path::new).filter(|name| is_part(name)).any(|name| {
        let mut head = Vec::new();
        let read = held.file(name).and_then(|file| file.take(FILE_HEADER as u64).read_to_end(&mut head));
        read.is_ok() && PartHeader::read(name, &head).is_ok()
    })
}

/// Whether the program still writes its own stream.
fn is_being_written(folder: &Path) -> bool {
    AgentStatus::read(folder).is_some_and(|status| status.ended.is_empty() && is_running(status.pid))
}

/// A recording that has begun: it may have to be finished later.
pub struct RememberedRecording {
    all: HeldFolder,
    name: String,
}

impl RememberedRecording {
    /// Remembers that this process records into a folder, until it is dropped. `None` if nothing can be remembered: then leftovers stay
    /// until a person finishes the recording.
    pub fn begin(folder: &Path) -> Option<RememberedRecording> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path = remembered()?;
        if let Some(above) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(above).ok()?;
        }
        private_folder(&path).ok()?;
        let all = HeldFolder::open_itself(&path).ok().filter(HeldFolder::is_own)?;
        let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // Of a process that had the same number, and was killed.
        let _ = all.remove(&name);
        all.create(&name).and_then(|mut file| file.write_all(folder.as_os_str().as_bytes())).ok()?;
        Some(RememberedRecording { all, name })
    }
}

impl Drop for RememberedRecording {
    fn drop(&mut self) {
        let _ = self.all.remove(&self.name);
    }
}

/// The folder that remembers recordings, beside this user's other runtime files: one file each, with the path of the recording.
fn remembered() -> Option<PathBuf> {
    Some(memory_city_live::pass_folder()?.parent()?.join("recordings"))
}

/// No name of a folder is longer, bytes.
const MOST_OF_NAME: u64 = 4096;

/// Recordings that are finished beside other work; dropped, it waits for that: a dump that is half read would be lost.
pub struct Finishing(Option<JoinHandle<()>>);

impl Finishing {
    /// Begins with those that this user has begun.
    pub fn begin() -> Finishing {
        Finishing(std::thread::Builder::new().name("finishing".into()).spawn(finish_forgotten).ok())
    }
}

impl Drop for Finishing {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

/// Finishes the recordings that this user has begun, if both their recording process and their program ended without a word. Recordings
/// that another user has noted, or owns, are left alone.
fn finish_forgotten() {
    let Some(all) = remembered().and_then(|all| HeldFolder::open_itself(&all).ok()).filter(HeldFolder::is_own) else {
        return;
    };
    for name in all.names().unwrap_or_default() {
        let recorder = name.to_str().and_then(|name| name.split_once('-')?.0.parse::<u32>().ok());
        if recorder.is_none_or(is_running) {
            continue;
        }
        let Ok(bytes) = all.read(&name, MOST_OF_NAME) else { continue };
        let path = PathBuf::from(OsString::from_vec(bytes));
        if path.is_absolute()
            && let Ok(folder) = HeldFolder::open_itself(&path)
        {
            // A program that goes on looks after its own.
            if claimed_by(&folder.place()).is_some_and(is_running) {
                continue;
            }
            let is_left = LeftWalks::of(&folder) != LeftWalks::default();
            say(&path, finish_held(folder), is_left);
        }
        let _ = all.remove(&name);
    }
}

fn say(path: &Path, finished: Result<FinishedRecording>, is_left: bool) {
    match finished {
        Ok(finished) if finished.is_nothing() => {}
        Ok(finished) => {
            finished.warnings.iter().for_each(terminal::warning);
            terminal::note(format_args!(
                "an interrupted recording was finished: {} ({})",
                finished.text(),
                path.display()
            ));
        }
        Err(error) if is_left => {
            terminal::warning(format_args!("an interrupted recording is not finished: {error}"));
        }
        // It was never begun.
        Err(error) => tracing::debug!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_wire::{TraceOptions, TraceWriter};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn recording(folder: &Path) {
        let writer = TraceWriter::create_folder(folder, TraceOptions::default()).expect("begun");
        writer.finish("killed").expect("finished");
    }

    fn refused(folder: &Path) -> String {
        finish(folder).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_is_no_recording_is_not_finished() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let walks = at(WALKS);
        std::fs::create_dir(&walks).expect("a folder");
        std::fs::write(walks.join("1.hprof"), "JAVA PROFILE 1.0.2").expect("written");
        assert!(refused(folder.path()).contains("no recording"));
        // Called as a part, and none.
        std::fs::write(at("00-000000.mcity"), "").expect("written");
        assert!(refused(folder.path()).contains("no recording") && walks.join("1.hprof").exists());
        std::fs::remove_file(at("00-000000.mcity")).expect("removed");
        recording(folder.path());
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).expect("for all");
        assert!(refused(folder.path()).contains("Other users may write") && walks.join("1.hprof").exists());
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("for this user");
        let lock = RecorderLock::take(folder.path()).expect("the lock");
        assert!(refused(folder.path()).contains("somebody is at work"));
        drop(lock);
        let done = finish(folder.path()).expect("finished");
        assert_eq!(done, FinishedRecording { removed: 1, ..FinishedRecording::default() });
        assert!(!walks.exists() && finish(folder.path()).expect("finished before").is_nothing());
        assert_eq!(std::fs::read_dir(folder.path()).expect("it").count(), 1, "its part alone");
    }

    /// Foreign files beside a recording stay, and so do the targets of links.
    #[test]
    fn only_what_a_recorder_makes_goes() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let at = |name: &str| folder.path().join(name);
        recording(folder.path());
        std::fs::create_dir(at(WALKS)).expect("a folder");
        for name in ["1.hprof", "2.hprof.p0", "diary.txt"] {
            std::fs::write(at(WALKS).join(name), "x").expect("written");
        }
        std::fs::write(other.path().join("3.hprof"), "theirs").expect("written");
        symlink(other.path().join("3.hprof"), at(WALKS).join("3.hprof")).expect("linked");
        symlink("/dev/zero", at(STATUS)).expect("linked");
        let done = finish(folder.path()).expect("finished");
        assert_eq!(done.removed, 2);
        assert!(done.warnings[0].contains(".walks, .status stays"), "{:?}", done.warnings);
        let left = |folder: &Path| std::fs::read_dir(folder).expect("it").count();
        assert_eq!((left(&at(WALKS)), left(other.path())), (2, 1), "the diary, and the link");
        // A whole folder that is another one's.
        std::fs::remove_dir_all(at(WALKS)).expect("removed");
        symlink(other.path(), at(WALKS)).expect("linked");
        assert_eq!(finish(folder.path()).expect("finished").removed, 0);
        assert_eq!(left(other.path()), 1);
        symlink(other.path().join("new"), at(LOCK)).expect("linked");
        assert!(refused(folder.path()).contains("its lock is no file"));
        assert_eq!(left(other.path()), 1, "nothing was made through the link");
    }
}
