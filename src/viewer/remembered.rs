//! Marks and bookmarks of earlier runs: they are there again when the same data is opened.
//!
//! One file beside the settings holds them, by the opened paths. It is replaced in one step, and checked when it is read. When it is
//! full, the input whose entry changed longest ago is removed. A view file brings its own marks, and these are added to them.

use super::bookmarks::{Bookmark, Bookmarks};
use super::document::{Closed, Document, Opened};
use super::loading::Loading;
use super::notices::Notices;
use super::selection::{MarkNote, Marks};
use super::view_file::AwaitedView;
use bevy::prelude::*;
use memory_city_heap::error::Error;
use memory_city_heap::unfinished::{FileReaders, write_whole_for};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const FILE: &str = "marks.json";
/// No file of ours is larger.
const MOST_BYTES: usize = 4 << 20;
/// Most inputs in the file.
const MOST_INPUTS: usize = 200;

/// Marks and bookmarks of an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remembered {
    paths: Vec<PathBuf>,
    #[serde(default)]
    marks: BTreeMap<String, MarkNote>,
    #[serde(default)]
    bookmarks: Vec<Bookmark>,
}

impl Remembered {
    fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.bookmarks.is_empty()
    }
}

/// The open input with its marks.
#[derive(Resource, Default)]
struct OpenMarks {
    /// Another input has come, and was not looked up yet.
    fresh: bool,
    /// Its entry in the file.
    kept: Option<Remembered>,
}

fn file() -> Option<PathBuf> {
    crate::config::folder().map(|folder| folder.join(FILE))
}

/// Reads all entries, the last changed ones last.
fn read(path: &Path) -> Result<Vec<Remembered>, String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
        Ok(metadata) if metadata.len() > MOST_BYTES as u64 => return Err("it is larger than marks are".to_owned()),
        Ok(_) => {}
    }
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    serde_json::from_slice(&bytes).map_err(|e| e.to_string())
}

/// Replaces the entry of one input in the file.
fn remember(path: &Path, now: &Remembered) -> Result<(), String> {
    // What cannot be read is not written over: somebody may have put it there.
    let mut all = read(path)?;
    all.retain(|one| one.paths != now.paths);
    if !now.is_empty() {
        all.push(now.clone());
    }
    all.drain(..all.len().saturating_sub(MOST_INPUTS));
    loop {
        let text = serde_json::to_vec_pretty(&all).map_err(|e| e.to_string())?;
        if text.len() <= MOST_BYTES || all.is_empty() {
            let io = |error| Error::io(path, error);
            // Keys of groups are names of threads and classes.
            return write_whole_for(path, FileReaders::OwnerAlone, |mut file| file.write_all(&text).map_err(io))
                .map_err(|e| e.to_string());
        }
        all.remove(0);
    }
}

/// Restores the entry of an input that has come, and saves changes to it.
fn follow(
    mut open: ResMut<OpenMarks>,
    document: Res<Document>,
    (loading, awaited): (Res<Loading>, Res<AwaitedView>),
    (mut marks, mut bookmarks): (ResMut<Marks>, ResMut<Bookmarks>),
    mut notices: ResMut<Notices>,
) {
    // What is still being read, or has a view to come, may bring marks of its own.
    if loading.is_opening() || awaited.0.is_some() {
        return;
    }
    let Some(path) = file() else { return };
    let Some(shown) = document.get().filter(|shown| shown.live.is_none() && !loading.paths().is_empty()) else {
        return;
    };
    if std::mem::take(&mut open.fresh) {
        let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let paths: Vec<PathBuf> = loading.paths().iter().map(whole).collect();
        let kept = read(&path).unwrap_or_else(|why| {
            tracing::warn!("{}: the marks of before are ignored: {why}", path.display());
            Vec::new()
        });
        let kept = kept.into_iter().find(|one| one.paths == paths);
        if let Some(before) = &kept {
            let mut all = before.marks.clone();
            all.extend(marks.all().clone());
            let come = bookmarks.list().iter().filter(|one| !before.bookmarks.contains(one));
            let list = before.bookmarks.iter().chain(come).cloned().collect();
            marks.replace(&shown.timeline, all);
            bookmarks.replace(list);
            let (marked, places) = (before.marks.len(), before.bookmarks.len());
            tracing::debug!("remembered: {marked} marks, {places} bookmarks");
            notices.tell(format!("Here again: {}", told(marked, places)));
        }
        open.kept = Some(kept.unwrap_or(Remembered { paths, ..Remembered::default() }));
    }
    if !marks.is_changed() && !bookmarks.is_changed() {
        return;
    }
    let Some(kept) = &mut open.kept else { return };
    if *marks.all() != kept.marks || bookmarks.list() != kept.bookmarks {
        (kept.marks, kept.bookmarks) = (marks.all().clone(), bookmarks.list().to_vec());
        match remember(&path, kept) {
            Ok(()) => tracing::debug!("marks kept: {}", path.display()),
            Err(why) => tracing::warn!("{}: marks are not kept: {why}", path.display()),
        }
    }
}

fn told(marks: usize, bookmarks: usize) -> String {
    let some = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 {what}")),
        n => Some(format!("{n} {what}s")),
    };
    let all: Vec<String> = [some(marks, "mark"), some(bookmarks, "bookmark")].into_iter().flatten().collect();
    format!("{} of before", all.join(" and "))
}

/// Marks and bookmarks of earlier runs. Only for windows: a picture has its own.
pub struct RememberedPlugin;

impl Plugin for RememberedPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<OpenMarks>()
            .add_observer(|_: On<Opened>, mut open: ResMut<OpenMarks>| {
                *open = OpenMarks { fresh: true, kept: None };
            })
            .add_observer(|_: On<Closed>, mut open: ResMut<OpenMarks>| *open = OpenMarks::default())
            .add_systems(Last, follow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, note: &str) -> Remembered {
        let marks = BTreeMap::from([("Heap#a".to_owned(), MarkNote { colour: 1, note: note.to_owned() })]);
        Remembered { paths: vec![name.into()], marks, bookmarks: Vec::new() }
    }

    #[test]
    fn what_is_remembered_is_there_again_and_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config").join(FILE);
        assert_eq!(read(&path), Ok(Vec::new()));
        for one in [of("/a", "first"), of("/b", "other"), of("/a", "again")] {
            remember(&path, &one).expect("written");
        }
        assert_eq!(read(&path), Ok(vec![of("/b", "other"), of("/a", "again")]), "what was said last comes last");
        remember(&path, &Remembered { paths: vec!["/a".into()], ..Remembered::default() }).expect("written");
        assert_eq!(read(&path), Ok(vec![of("/b", "other")]), "nothing is said of it any more");
        for i in 0..MOST_INPUTS {
            remember(&path, &of(&format!("/{i}"), "")).expect("written");
        }
        let all = read(&path).expect("read");
        assert_eq!((all.len(), &*all[0].paths[0]), (MOST_INPUTS, Path::new("/0")), "the oldest went");
        // One that is too large takes the others with it, and no more than it must.
        let large = of("/large", &"x".repeat(MOST_BYTES - 1000));
        remember(&path, &large).expect("written");
        let left = read(&path).expect("small enough");
        assert_eq!(left.last(), Some(&large));
        assert!(left.len() < 20, "{}", left.len());
    }

    #[test]
    fn what_is_no_such_file_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        for text in ["", "{}", "[1]", "[{\"paths\":[]"] {
            std::fs::write(&path, text).expect("written");
            assert!(read(&path).is_err() && remember(&path, &of("/a", "")).is_err(), "{text:?}");
            assert_eq!(std::fs::read_to_string(&path).expect("text"), text);
        }
    }

    #[test]
    fn it_is_told_in_words() {
        assert_eq!(told(1, 0), "1 mark of before");
        assert_eq!(told(3, 2), "3 marks and 2 bookmarks of before");
    }
}
