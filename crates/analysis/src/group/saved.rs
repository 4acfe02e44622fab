//! Saved groupings: named by users, in one file that the window writes and the command line reads.
//!
//! The file is JSON, replaced at once or not at all. It is read again before each change, so that two programs do not undo each other's
//! changes. A file that cannot be read is never overwritten.

use super::grouping::{AUTO, Grouping};
use super::registry::{PresetKind, Registry, RegistryError};
use super::shared;
use crate::grammar::is_of_name;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::unfinished::write_whole;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the file.
pub const FILE: &str = "groupings.json";
/// Raised when an older program cannot read the files of a newer one.
const VERSION: u32 = 1;
/// No file of ours is larger.
const MOST_BYTES: u64 = 1 << 20;
/// No name is longer, in characters.
const LONGEST_NAME: usize = 60;

/// A saved grouping.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SavedGrouping {
    /// The name in lists and on the command line, made from the title: `--grouping big-strings`.
    pub id: String,
    /// The name as typed.
    pub title: String,
    /// The list of classifiers.
    pub list: String,
    /// Its purpose; may be empty.
    #[serde(default)]
    pub description: String,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct SavedFile {
    version: u32,
    groupings: Vec<SavedGrouping>,
}

/// The name on the command line that goes with a title: `Big strings!` is `big-strings`. Empty where nothing is left.
pub fn id_of(title: &str) -> String {
    let mut id = String::new();
    for c in title.trim().to_lowercase().chars().take(LONGEST_NAME) {
        if is_of_name(c) {
            id.push(c);
        } else if !id.ends_with('-') {
            id.push('-');
        }
    }
    id.trim_matches('-').to_owned()
}

/// Why no grouping can be saved under a title; `None` when one can. Those that were saved before do not stand in the way: they
/// are replaced.
pub fn refused_title(registry: &Registry, title: &str) -> Option<String> {
    let id = id_of(title);
    if id.is_empty() {
        return Some("A name has letters or digits".to_owned());
    }
    if title.trim().chars().count() > LONGEST_NAME {
        return Some(format!("A name has at most {LONGEST_NAME} characters"));
    }
    let saved = registry.saved().any(|grouping| grouping.id == id);
    let taken = registry.preset(&id).is_some() || registry.entry(&id).is_some() || id == AUTO;
    (taken && !saved).then(|| format!("{id} is the name of a grouping or classifier of the program: choose another"))
}

/// The saved groupings of a file.
#[derive(Clone, Debug)]
pub struct SavedGroupings {
    path: PathBuf,
    all: Vec<SavedGrouping>,
}

impl SavedGroupings {
    /// Reads a file; one that is not there has none.
    ///
    /// # Errors
    /// When the file is there and cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<SavedGroupings> {
        Ok(SavedGroupings { path: path.to_owned(), all: read(path)? })
    }

    /// All of them, in the order in which they were saved.
    pub fn all(&self) -> &[SavedGrouping] {
        &self.all
    }

    /// Saves a list under a title, in place of one of the same name.
    ///
    /// # Errors
    /// When the title makes no name, or the file cannot be read or written.
    pub fn save(&mut self, title: &str, list: &str, description: &str) -> Result<SavedGrouping> {
        let title = title.trim();
        let saved = SavedGrouping {
            id: id_of(title),
            title: title.to_owned(),
            list: list.to_owned(),
            description: description.trim().to_owned(),
        };
        if saved.id.is_empty() {
            return Err(not_saved("A name has letters or digits"));
        }
        self.change(|all| {
            match all.iter_mut().find(|other| other.id == saved.id) {
                Some(other) => *other = saved.clone(),
                None => all.push(saved.clone()),
            }
            Ok(saved.clone())
        })
    }

    /// Gives one another title, and with it another name.
    ///
    /// # Errors
    /// When there is none of that name, another one has the new name, or the file cannot be read or written.
    pub fn rename(&mut self, id: &str, title: &str) -> Result<SavedGrouping> {
        let (title, new) = (title.trim().to_owned(), id_of(title));
        if new.is_empty() {
            return Err(not_saved("A name has letters or digits"));
        }
        self.change(|all| {
            if new != id && all.iter().any(|other| other.id == new) {
                return Err(not_saved(&format!("There is a saved grouping {new} already")));
            }
            let Some(found) = all.iter_mut().find(|saved| saved.id == id) else {
                return Err(not_saved(&format!("There is no saved grouping {id} any more")));
            };
            (found.id, found.title) = (new, title);
            Ok(found.clone())
        })
    }

    /// Forgets one; one that is not there is forgotten already.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remove(&mut self, id: &str) -> Result<()> {
        self.change(|all| {
            all.retain(|saved| saved.id != id);
            Ok(())
        })
    }

    fn change<T>(&mut self, change: impl FnOnce(&mut Vec<SavedGrouping>) -> Result<T>) -> Result<T> {
        let mut all = read(&self.path)?;
        let changed = change(&mut all)?;
        let text = serde_json::to_vec_pretty(&SavedFile { version: VERSION, groupings: all.clone() })
            .map_err(|e| Error::io(&self.path, e.into()))?;
        write_whole(&self.path, |mut file| file.write_all(&text).map_err(|e| Error::io(&self.path, e)))?;
        self.all = all;
        Ok(changed)
    }

    /// Registers all of them in the shared registry, in place of those saved before. Returns the failures: the name, and the reason.
    pub fn make_known(&self) -> Vec<(String, RegistryError)> {
        let refused = shared::change(|registry| registry.set_saved(&self.all));
        refused.into_iter().map(|(at, error)| (self.all[at].id.clone(), error)).collect()
    }
}

impl Registry {
    /// Puts these in the place of all that were saved before. Those whose name is taken, or whose list is not right
    /// (any more), are left out: their places in `saved`, and why.
    pub fn set_saved(&mut self, saved: &[SavedGrouping]) -> Vec<(usize, RegistryError)> {
        self.presets.retain(|preset| preset.kind != PresetKind::Saved);
        let mut refused = Vec::new();
        for (at, saved) in saved.iter().enumerate() {
            // Alone in a list a classifier would be hidden by a grouping of its name.
            let taken = self.entry(&saved.id).is_some() || saved.id == AUTO;
            let added = if taken {
                Err(RegistryError::Taken(saved.id.clone()))
            } else {
                self.add_grouping(&saved.id, &saved.list, "")
            };
            match added {
                Ok(()) => {
                    let added = self.presets.last_mut().unwrap_or_else(|| unreachable!("just added"));
                    let description = match saved.description.as_str() {
                        "" => added.grouping.title.clone(),
                        told => told.to_owned(),
                    };
                    let grouping = Grouping { title: saved.title.clone(), description, ..(*added.grouping).clone() };
                    (added.grouping, added.kind) = (Arc::new(grouping), PresetKind::Saved);
                }
                Err(error) => refused.push((at, error)),
            }
        }
        refused
    }
}

fn not_saved(why: &str) -> Error {
    Error::Unusable { what: why.to_owned(), remedy: "Choose another name".into() }
}

fn read(path: &Path) -> Result<Vec<SavedGrouping>> {
    let wrong = |found: String| Error::Format {
        path: path.to_owned(),
        offset: None,
        found,
        expected: format!("saved groupings, version {VERSION}"),
        remedy: "Put the file right, or move it away: then a new one is begun".into(),
    };
    let length = match std::fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(path, error)),
    };
    if length > MOST_BYTES {
        return Err(wrong(format!("{length} bytes, more than the {MOST_BYTES} it may have")));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let file: SavedFile = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
    if file.version != VERSION {
        return Err(wrong(format!("version {}", file.version)));
    }
    Ok(file.groupings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Registry;

    #[test]
    fn titles_have_names() {
        for (title, id) in [
            ("Big strings!", "big-strings"),
            ("  Größe > 1 MB  ", "größe-1-mb"),
            ("a_b-c", "a_b-c"),
            ("->-", ""),
            ("", ""),
        ] {
            assert_eq!(id_of(title), id);
        }
        let registry = Registry::new();
        for title in ["", "type", "What grows", "auto", &"x".repeat(61)] {
            assert!(refused_title(&registry, title).is_some(), "{title}");
        }
        assert_eq!(refused_title(&registry, "Big strings"), None);
    }

    #[test]
    fn what_is_saved_is_there_again_renamed_and_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new").join(FILE);
        let mut saved = SavedGroupings::read(&path).expect("nothing yet");
        assert!(saved.all().is_empty());
        saved.save("Big strings", "filter(size>1kB)>type", "").expect("saved");
        // Another program saves, too.
        SavedGroupings::read(&path).expect("read").save("By age", "age>type", "What grows old").expect("saved");
        saved.save("Big  strings", "filter(size>2kB)>type", "").expect("replaced");
        let ids = |saved: &SavedGroupings| saved.all().iter().map(|s| s.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&saved), ["big-strings", "by-age"]);
        let again = SavedGroupings::read(&path).expect("read");
        assert_eq!(again.all(), saved.all());
        assert_eq!(again.all()[0].list, "filter(size>2kB)>type");

        assert!(saved.rename("by-age", "Big strings").is_err(), "taken");
        assert!(saved.rename("gone", "x").is_err());
        assert_eq!(saved.rename("by-age", "Old ones").expect("renamed").id, "old-ones");
        saved.remove("big-strings").expect("removed");
        assert_eq!(ids(&SavedGroupings::read(&path).expect("read")), ["old-ones"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_of_and_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        for text in ["", "{", r#"{"version":2,"groupings":[]}"#, r#"{"version":1,"groupings":[{}]}"#] {
            let mut saved = SavedGroupings { path: path.clone(), all: Vec::new() };
            std::fs::write(&path, text).expect("written");
            let error = SavedGroupings::read(&path).expect_err("it is none").to_string();
            assert!(error.contains(FILE) && error.contains("move it away"), "{error}");
            assert!(saved.save("x", "type", "").is_err());
            assert_eq!(std::fs::read_to_string(&path).expect("there"), text);
        }
    }

    #[test]
    fn saved_groupings_are_groupings_by_their_names() {
        let mut registry = Registry::new();
        let saved = |title: &str, list: &str| SavedGrouping {
            id: id_of(title),
            title: title.into(),
            list: list.into(),
            description: String::new(),
        };
        let all =
            [saved("Mine", "type>age"), saved("Type", "age"), saved("Broken", "no-such"), saved("What grows", "age")];
        let refused: Vec<usize> = registry.set_saved(&all).into_iter().map(|(at, _)| at).collect();
        assert_eq!(refused, [1, 2, 3]);
        let mine = registry.grouping("mine").expect("by name");
        assert_eq!((mine.id.as_str(), mine.title.as_str(), mine.description.as_str()), ("mine", "Mine", "Type › Age"));
        assert_eq!(registry.list_of(&mine), "type>age");
        // The list goes on to be what it is.
        assert_eq!(registry.grouping("type>age").map(|g| g.id.clone()), Ok("type>age".into()));
        assert_eq!(registry.grouping("type").map(|g| g.id.clone()), Ok("type".into()));
        assert_eq!(registry.set_saved(&all[..0]), []);
        assert!(registry.grouping("mine").is_err());
    }
}
