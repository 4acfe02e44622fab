//! What an assistant may open, and what is open.

use memory_city_analysis::group::{AskedGrouping, GroupOptions};
use memory_city_analysis::timeline::{AskedObjects, Question, Source, title_of};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use std::path::{Path, PathBuf};

/// Most inputs that are open at once: each may take gigabytes.
const MOST_OPEN: usize = 3;
/// Most files of a folder that are listed.
pub(super) const MOST_LISTED: usize = 40;

/// The inputs that are open, and where others may come from.
pub(super) struct OpenInputs {
    /// Canonical.
    allowed: Vec<PathBuf>,
    /// Whether texts of the analysed program are shown.
    pub(super) texts: bool,
    open: Vec<OpenInput>,
    opened: usize,
}

/// An input under its id.
pub(super) struct OpenInput {
    /// `d1`.
    pub(super) id: String,
    /// Its name for people.
    pub(super) title: String,
    pub(super) source: Source,
}

/// A file or folder that may be opened.
pub(super) struct ListedFile {
    pub(super) path: PathBuf,
    /// Bytes; `None` of a folder.
    pub(super) size: Option<u64>,
}

impl OpenInputs {
    /// # Errors
    /// When a path leads nowhere.
    pub(super) fn below(paths: &[PathBuf], texts: bool) -> Result<OpenInputs> {
        let allowed = paths.iter().map(|path| path.canonicalize().map_err(|error| Error::io(path, error)));
        Ok(OpenInputs { allowed: allowed.collect::<Result<_>>()?, texts, open: Vec::new(), opened: 0 })
    }

    /// A path as it is on the disk. A relative one is looked for in each allowed folder.
    fn within(&self, path: &str) -> Result<PathBuf> {
        let places = self.allowed.iter().filter(|allowed| allowed.is_dir()).map(|folder| folder.join(path));
        let place = std::iter::once(PathBuf::from(path)).chain(places).filter_map(|place| place.canonicalize().ok());
        let is_allowed = |place: &PathBuf| self.allowed.iter().any(|allowed| place.starts_with(allowed));
        // One answer for both, so that nothing is learnt about files elsewhere.
        place.into_iter().find(is_allowed).ok_or_else(|| Error::Unusable {
            what: format!("{path} is not among the files that may be opened, or is not there"),
            remedy: "Call inputs to see them; `memory-city mcp PATH` allows others".into(),
        })
    }

    /// Files and folders that may be opened: those given, and what lies directly in given folders; and how many more there are.
    pub(super) fn listed(&self) -> (Vec<ListedFile>, usize) {
        let mut all = Vec::new();
        for allowed in &self.allowed {
            let Ok(entries) = allowed.read_dir() else {
                all.push(ListedFile { path: allowed.clone(), size: size(allowed) });
                continue;
            };
            all.push(ListedFile { path: allowed.clone(), size: None });
            let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            files.retain(|file| !file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
            files.sort();
            all.extend(files.into_iter().map(|path| ListedFile { size: size(&path), path }));
        }
        let more = all.len().saturating_sub(MOST_LISTED);
        all.truncate(MOST_LISTED);
        (all, more)
    }

    pub(super) fn open_ones(&self) -> &[OpenInput] {
        &self.open
    }

    /// Opens an input. Beyond the most, closes the one that was opened first: its id.
    ///
    /// # Errors
    /// When a path is not allowed, the grouping is wrong, the input cannot be read, or the work was cancelled.
    pub(super) fn open(
        &mut self,
        paths: &[String],
        grouping: AskedGrouping,
        progress: &Progress,
    ) -> Result<(&OpenInput, Option<String>)> {
        if paths.is_empty() {
            let what = "No path was given".to_owned();
            return Err(Error::Unusable { what, remedy: "Give the paths of one run; inputs lists them".into() });
        }
        let paths = paths.iter().map(|path| self.within(path)).collect::<Result<Vec<_>>>()?;
        for file in grouping.files() {
            self.within(&file)?;
        }
        // Before another is read: both may not fit.
        let closed = (self.open.len() >= MOST_OPEN).then(|| self.open.remove(0).id);
        let question = Question { objects: AskedObjects::default(), grouping };
        let source = Source::open(&paths, &question, GroupOptions::default(), progress)?;
        if source.timeline().times() == 0 {
            let what = format!("{} has no point in time", title_of(&paths));
            return Err(Error::Unusable { what, remedy: "Open another".into() });
        }
        self.opened += 1;
        self.open.push(OpenInput { id: format!("d{}", self.opened), title: title_of(&paths), source });
        Ok((&self.open[self.open.len() - 1], closed))
    }

    /// The open input of an id.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub(super) fn get(&self, id: &str) -> Result<&OpenInput> {
        self.open.iter().find(|input| input.id == id).ok_or_else(|| {
            let open: Vec<&str> = self.open.iter().map(|input| &*input.id).collect();
            let remedy = match &*open {
                [] => "Call open first".to_owned(),
                open => format!("Open: {}. Call open for others", open.join(", ")),
            };
            Error::Unusable { what: format!("No input {id} is open"), remedy }
        })
    }
}

fn size(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(|meta| meta.is_file()).map(|meta| meta.len())
}
