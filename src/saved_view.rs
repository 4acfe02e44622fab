//! The part of a view file that needs no window: the data, its grouping and shape, the time, the selection. Windows and pictures read the
//! whole file (`viewer/view_file`), and write it.

use crate::compared::CompareWish;
use memory_city_analysis::group;
use memory_city_analysis::group::domain::DomainPackages;
use memory_city_analysis::group::script::ClassifierScript;
use memory_city_analysis::timeline::{IntoQuestion, Timeline};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::regular;
use memory_city_views::city::CityPart;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// Value of the first field of a view file.
pub const FORMAT: &str = "memory-city view";
/// The version of the format.
pub const VERSION: u32 = 1;
/// No view file is larger.
const MOST_BYTES: u64 = 4 << 20;

/// A view, as far as a page can show it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SavedView {
    format: String,
    version: u32,
    /// Paths of the data.
    pub data: Vec<PathBuf>,
    /// Id of the grouping, or a list of classifiers.
    pub grouping: String,
    #[serde(default)]
    classifiers: BTreeMap<String, String>,
    #[serde(default)]
    packages: Option<String>,
    /// Whether garbage counts.
    #[serde(default)]
    pub unreachable: bool,
    /// Whether starts of collections are times.
    #[serde(default)]
    pub gc_starts: bool,
    /// The point in time, counted from 1.
    pub time: usize,
    /// Keys of the selected groups.
    #[serde(default)]
    pub selected: Vec<String>,
    /// The time that all others are compared with, counted from 1.
    #[serde(default)]
    pub base: Option<u32>,
    /// The times that the ground is divided for, counted from 1.
    #[serde(default)]
    pub window: Option<(usize, usize)>,
    /// The part of the heap that is shown, and those that it was opened from.
    #[serde(default)]
    pub parts: Vec<PartKey>,
    /// The data to compare with.
    #[serde(default)]
    pub compare: Option<CompareWish>,
    /// Text of the search.
    #[serde(default)]
    filter: String,
    /// The ways that are shown.
    #[serde(default)]
    ways: Option<IgnoredAny>,
    /// How many times are shown beside each other.
    #[serde(default)]
    multiples: usize,
    /// How the city looks, as the settings of the window are kept.
    pub settings: Map<String, Value>,
}

/// A part of the heap as a city of its own, by key.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartKey {
    /// Key of the district.
    pub key: String,
    /// Number of its largest children that are left out.
    #[serde(default)]
    pub beyond: usize,
}

impl PartKey {
    /// The last of some parts, each opened from the one before it, that these trees have.
    pub fn last_in(parts: &[PartKey], timeline: &Timeline) -> Option<CityPart> {
        let found = |part: &PartKey| Some(CityPart { root: timeline.find(&part.key)?, beyond: part.beyond });
        parts.iter().rev().find_map(found)
    }

    /// Name of the part.
    pub fn name(&self, timeline: &Timeline) -> String {
        let name = timeline.find(&self.key).map_or_else(|| self.key.clone(), |node| timeline.name(node).to_owned());
        match self.beyond {
            0 => name,
            n => format!("{name} without its {n} largest"),
        }
    }
}

impl SavedView {
    /// Reads a view file. The data's paths become relative to the working folder.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<NamedView<SavedView>> {
        read(path)
    }

    /// Things that a view shows and a page does not, in words for a sentence.
    pub fn left_out(&self) -> Vec<String> {
        let filter = self.filter.trim();
        let filter = (!filter.is_empty()).then(|| format!("the filter {filter:?}"));
        let ways = self.ways.is_some().then(|| "the paths from GC roots".to_owned());
        let multiples = (self.multiples > 1).then(|| format!("{} times beside each other", self.multiples));
        filter.into_iter().chain(ways).chain(multiples).collect()
    }

    /// See [`make_known`].
    ///
    /// # Errors
    /// Those of [`make_known`].
    pub fn make_known(&self, path: &Path) -> Result<()> {
        make_known(&self.classifiers, self.packages.as_deref(), path)
    }
}

/// The fields that every view file has, read in whole or in part.
pub trait ViewHead: serde::de::DeserializeOwned {
    /// It, to be named anew.
    fn head(&mut self) -> ViewNames<'_>;
}

/// The format of a view file, and the paths that it names.
pub struct ViewNames<'a> {
    /// [`FORMAT`], where it is one.
    pub format: &'a str,
    /// [`VERSION`], where it is one of this program.
    pub version: u32,
    /// Paths of the data.
    pub data: &'a mut Vec<PathBuf>,
    /// The data to compare with.
    pub compare: &'a mut Option<CompareWish>,
    /// Id of the grouping, or a list of classifiers, which may name files.
    pub grouping: &'a str,
}

impl ViewHead for SavedView {
    fn head(&mut self) -> ViewNames<'_> {
        let SavedView { format, version, data, compare, grouping, .. } = self;
        ViewNames { format, version: *version, data, compare, grouping }
    }
}

/// Places that the paths in a view file may lead to. A view file may come from a stranger, and its data is opened with the rights of the
/// user who opens the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewReach {
    /// In its own folder, or below.
    OwnFolder,
    /// Anywhere: a person has allowed it.
    Anywhere,
}

/// A view file that was read; nothing that it names was looked into yet.
#[derive(Debug)]
pub struct NamedView<V> {
    view: V,
    path: PathBuf,
    named: Vec<PathBuf>,
    outside: Vec<PathBuf>,
}

impl<V> NamedView<V> {
    /// Named files outside the view file's own folder, after links are followed.
    pub fn outside(&self) -> &[PathBuf] {
        &self.outside
    }

    /// The view, where all that it names may be read: files and folders, none of them farther away than `reach`.
    ///
    /// # Errors
    /// When something is farther away, or is a pipe or a device.
    pub fn within(self, reach: ViewReach) -> Result<V> {
        if reach == ViewReach::OwnFolder && !self.outside.is_empty() {
            let outside: Vec<String> = self.outside.iter().map(|path| path.display().to_string()).collect();
            return Err(Error::Unusable {
                what: format!("{} names what lies outside its folder: {}", self.path.display(), outside.join(", ")),
                remedy: "Where you trust who made it, --allow-outside has it read; or put both into one folder".into(),
            });
        }
        let is_none = |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        match self.named.iter().find(is_none) {
            None => Ok(self.view),
            Some(path) => Err(Error::Unusable {
                what: format!("{} names {}, which is a pipe or a device", self.path.display(), path.display()),
                remedy: "Views are made of files and folders".into(),
            }),
        }
    }
}

/// Reads a view file, as much of it as `V` has. The data's paths become relative to the working folder.
///
/// # Errors
/// When it cannot be read, or is no view file: the error has the place and the reason.
pub fn read<V: ViewHead>(path: &Path) -> Result<NamedView<V>> {
    let bytes = regular::read(path, MOST_BYTES).map_err(|error| Error::io(path, error))?;
    let mut view: V = serde_json::from_slice(&bytes).map_err(|e| wrong(path, e.to_string()))?;
    let ViewNames { format, version, data, compare, grouping } = view.head();
    if (format, version) != (FORMAT, VERSION) {
        return Err(wrong(path, format!("{format:?}, version {version}")));
    }
    if data.is_empty() {
        return Err(wrong(path, "no data".to_owned()));
    }
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    data.iter_mut().for_each(|data| *data = folder.join(&*data));
    if !compare.as_mut().is_none_or(|wish| wish.from_folder(&folder)) {
        return Err(wrong(path, "a comparison without data".to_owned()));
    }
    let mut named = data.clone();
    if let Some(CompareWish::Run { data, .. }) = compare {
        named.extend(data.iter().cloned());
    }
    // What is no question opens nothing.
    let files = grouping.question().map(|asked| asked.grouping.files()).unwrap_or_default();
    named.extend(files.into_iter().map(PathBuf::from));
    let outside = outside(path, &named);
    Ok(NamedView { view, path: path.to_path_buf(), named, outside })
}

/// Those of the named paths that do not lie in the folder of a view file, or hold links that lead out of it.
fn outside(view: &Path, named: &[PathBuf]) -> Vec<PathBuf> {
    let folder = view.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(folder) = folder.canonicalize() else { return named.to_vec() };
    let mut left = MOST_ENTRIES;
    let mut inside = |path: &&PathBuf| is_inside(path, &folder, DEEPEST, &mut left) && beside_inside(path, &folder);
    named.iter().filter(|path| !inside(path)).cloned().collect()
}

/// True if no file that is read with a named one is a link that leads elsewhere: no part of a dump, no other file of a trace.
fn beside_inside(path: &Path, folder: &Path) -> bool {
    let is_inside = |file: &PathBuf| file.canonicalize().is_ok_and(|whole| whole.starts_with(folder));
    memory_city_formats::files_beside(path).iter().all(is_inside)
}

/// Levels of folders, and entries of them, that are looked at for links; what lies deeper counts as outside.
const DEEPEST: usize = 6;
const MOST_ENTRIES: usize = 20_000;

fn is_inside(path: &Path, folder: &Path, deeper: usize, left: &mut usize) -> bool {
    let Ok(whole) = path.canonicalize() else {
        // What is not there is read by nobody; where it would lie is said by its path alone, if that does not go up.
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        let above = path.ancestors().skip(1).find_map(|above| {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            above.canonicalize().ok()
        });
        let is_link = path.symlink_metadata().is_ok();
        return !goes_up && !is_link && above.is_some_and(|above| above.starts_with(folder));
    };
    if !whole.starts_with(folder) {
        return false;
    }
    if !whole.is_dir() {
        return true;
    }
    let (Some(deeper), Ok(entries)) = (deeper.checked_sub(1), whole.read_dir()) else { return false };
    for entry in entries.flatten() {
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        // Plain files are where they are.
        let is_plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_plain && !is_inside(&entry.path(), folder, deeper, left) {
            return false;
        }
    }
    true
}

/// The error for a file that is no view file, with the reason.
pub fn wrong(path: &Path, found: String) -> Error {
    Error::Format {
        path: path.to_path_buf(),
        offset: None,
        found,
        expected: format!("a view file of version {VERSION}"),
        remedy: "Save the view again with this version, or open the data itself".into(),
    }
}

/// Registers the definitions that the grouping of a view needs: classifiers, in place of others of the same id, and the program's own
/// packages. `path` is the view file, for messages.
///
/// # Errors
/// When a classifier is none, or its id is that of something else.
pub fn make_known(classifiers: &BTreeMap<String, String>, packages: Option<&str>, path: &Path) -> Result<()> {
    let wrong = |what: String| Error::Unusable {
        what: format!("{}: {what}", path.display()),
        remedy: "Save the view again where it was made".into(),
    };
    for (id, text) in classifiers {
        let script = ClassifierScript::parse(id, text).map_err(|error| wrong(error.to_string()))?;
        let defined = group::register(|registry| registry.define(script));
        defined.map_err(|error| wrong(format!("the classifier {id}: {error}")))?;
    }
    let packages = packages.map(|packages| match packages {
        "" => Ok(DomainPackages::default()),
        packages => DomainPackages::parse(packages),
    });
    if let Some(packages) = packages.transpose().map_err(wrong)? {
        group::set_packages(packages);
    }
    Ok(())
}

/// Whether a file says that it is a view file: by its content.
pub fn is_one(path: &Path) -> bool {
    let Ok(file) = regular::open(path) else { return false };
    let mut begin = Vec::new();
    let read = file.take(256).read_to_end(&mut begin);
    read.is_ok() && begin.starts_with(b"{") && String::from_utf8_lossy(&begin).contains(FORMAT)
}
