//! What a view file says that needs no window: which data, how grouped and shaped, the time, what is selected. Windows and pictures
//! read all of it (`viewer/view_file`), and write it.

use crate::compared::CompareWish;
use memory_city_analysis::group;
use memory_city_analysis::group::domain::{self, DomainPackages};
use memory_city_analysis::group::script::ClassifierScript;
use memory_city_analysis::timeline::Timeline;
use memory_city_heap::error::{Error, Result};
use memory_city_views::city::CityPart;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What the first field of a view file says.
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
    /// What is opened.
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
    /// What the data is compared with.
    #[serde(default)]
    pub compare: Option<CompareWish>,
    /// What is looked for.
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
    /// So many of its largest children are left out.
    #[serde(default)]
    pub beyond: usize,
}

impl PartKey {
    /// The last of some parts, each opened from the one before it, that these trees have.
    pub fn last_in(parts: &[PartKey], timeline: &Timeline) -> Option<CityPart> {
        let found = |part: &PartKey| Some(CityPart { root: timeline.find(&part.key)?, beyond: part.beyond });
        parts.iter().rev().find_map(found)
    }

    /// What it is called.
    pub fn name(&self, timeline: &Timeline) -> String {
        let name = timeline.find(&self.key).map_or_else(|| self.key.clone(), |node| timeline.name(node).to_owned());
        match self.beyond {
            0 => name,
            n => format!("{name} without its {n} largest"),
        }
    }
}

impl SavedView {
    /// Reads one. Its data is named as it is to be opened from the working folder.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<SavedView> {
        let mut view: SavedView = read(path)?;
        name_compared(&mut view.compare, path)?;
        Ok(view)
    }

    /// What a view shows that a page does not, in words for a sentence.
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

/// What every view file says, whoever reads how much of the rest.
pub trait ViewHead: serde::de::DeserializeOwned {
    /// Format, version, and what is opened.
    fn head(&mut self) -> (&str, u32, &mut Vec<PathBuf>);
}

impl ViewHead for SavedView {
    fn head(&mut self) -> (&str, u32, &mut Vec<PathBuf>) {
        (&self.format, self.version, &mut self.data)
    }
}

/// Reads a view file, as much of it as `V` has. Its data is named as it is to be opened from the working folder.
///
/// # Errors
/// When it cannot be read, or is none: says where and what.
pub fn read<V: ViewHead>(path: &Path) -> Result<V> {
    let length = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    if length > MOST_BYTES {
        return Err(wrong(path, format!("{length} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let mut view: V = serde_json::from_slice(&bytes).map_err(|e| wrong(path, e.to_string()))?;
    let (format, version, data) = view.head();
    if (format, version) != (FORMAT, VERSION) {
        return Err(wrong(path, format!("{format:?}, version {version}")));
    }
    if data.is_empty() {
        return Err(wrong(path, "no data".to_owned()));
    }
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    data.iter_mut().for_each(|data| *data = folder.join(&*data));
    Ok(view)
}

/// Names the data that a view is compared with as it is to be opened from the working folder. `path` is the view file.
///
/// # Errors
/// When there is none.
pub fn name_compared(compare: &mut Option<CompareWish>, path: &Path) -> Result<()> {
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    match compare.as_mut().is_none_or(|wish| wish.from_folder(&folder)) {
        true => Ok(()),
        false => Err(wrong(path, "a comparison without data".to_owned())),
    }
}

/// What is no view file, and why.
pub fn wrong(path: &Path, found: String) -> Error {
    Error::Format {
        path: path.to_path_buf(),
        offset: None,
        found,
        expected: format!("a view file of version {VERSION}"),
        remedy: "Save the view again with this version, or open the data itself".into(),
    }
}

/// Makes what the grouping of a view needs known to this process: classifiers, in place of others of the same id, and which packages
/// are the program's own. `path` is the view file, for messages.
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
        domain::set_packages(packages);
    }
    Ok(())
}

/// Whether a file says that it is a view file: by its content.
pub fn is_one(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let mut begin = Vec::new();
    let read = file.take(256).read_to_end(&mut begin);
    read.is_ok() && begin.starts_with(b"{") && String::from_utf8_lossy(&begin).contains(FORMAT)
}
