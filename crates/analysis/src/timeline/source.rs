//! The source of a city: trees over time, and further queries that the input offers.
//!
//! Every source has a [`Timeline`]. Sources with heap states ([`History`]) can be grouped anew and asked for the references of any group.
//! Recordings without walks ([`CountedHistory`]) can be grouped anew by the facts of their counts, and have no references. Sources of trees
//! from other tools ([`JsonSource`]) have one grouping, and references if the writer gave them. Callers ask a source for its abilities
//! ([`TreeSource`]), not for its kind.

use super::counted::CountedHistory;
use super::history::History;
use super::json::{self, JsonSource};
use super::tree_source::TreeSource;
use memory_city_heap::error::{Error, Result};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The kinds of sources.
pub enum Source {
    /// Heap states: dumps, traces.
    Heaps(History),
    /// Class counts, or estimates from samples: recordings without walks.
    Counts(CountedHistory),
    /// Trees that another program counted.
    Trees(JsonSource),
}

/// Why sources of trees offer no grouping, for people.
pub const GROUPED_BY_THE_WRITER: &str =
    "The input has trees, not objects: they are grouped as the program that wrote them grouped them";

impl Deref for Source {
    type Target = dyn TreeSource;

    fn deref(&self) -> &Self::Target {
        match self {
            Source::Heaps(history) => history,
            Source::Counts(counts) => counts,
            Source::Trees(trees) => trees,
        }
    }
}

/// Whether the inputs are memory trees in JSON.
///
/// # Errors
/// When some are and some are not, or one cannot be read.
pub fn are_trees(paths: &[PathBuf]) -> Result<bool> {
    let (mut trees, mut others) = (None, None);
    for path in paths {
        if path.is_file() {
            memory_city_formats::refuse_foreign(path)?;
        }
        // A folder with a dump or a trace is a folder of dumps, whatever was exported into it.
        let here = json::holds_trees(path)? && !(path.is_dir() && memory_city_formats::holds_heaps(path)?);
        if here {
            trees.get_or_insert(path)
        } else {
            others.get_or_insert(path)
        };
    }
    match (trees, others) {
        (Some(tree), Some(other)) => Err(Error::Unusable {
            what: format!("{} holds memory trees in JSON, {} does not", tree.display(), other.display()),
            remedy: "Open them one after the other, or `memory-city convert` the others to JSON first".into(),
        }),
        (trees, _) => Ok(trees.is_some()),
    }
}

/// A name for inputs: that of the only one, or of the folder they share.
pub fn title_of(paths: &[PathBuf]) -> String {
    let name = |path: &Path| {
        let full = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        full.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_else(|| path.display().to_string())
    };
    match paths {
        [] => "nothing".to_owned(),
        [one] => name(one),
        [first, ..] => match first.parent().filter(|p| !p.as_os_str().is_empty()) {
            Some(parent) => format!("{} ({} files)", name(parent), paths.len()),
            None => format!("{} and {} more", name(first), paths.len() - 1),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::title_of;
    use std::path::PathBuf;

    #[test]
    fn inputs_have_short_titles() {
        assert_eq!(title_of(&[PathBuf::from("/tmp/dumps/a.hprof")]), "a.hprof");
        let two = [PathBuf::from("/x/dumps/a.hprof"), PathBuf::from("/x/dumps/b.hprof")];
        assert_eq!(title_of(&two), "dumps (2 files)");
        assert_eq!(title_of(&[]), "nothing");
    }
}
