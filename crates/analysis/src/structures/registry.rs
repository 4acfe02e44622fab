//! The descriptions of users, from files, beside those of the runtimes.

use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{
    DescriptionError, Descriptions, FoundStructures, StructureFile, StructureRules, formatted,
};
use memory_city_heap::{BitSet, HeapState, Profile, regular};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The suffix of files of descriptions.
pub const EXTENSION: &str = ".ds";

/// The longest file, in bytes.
const LONGEST: u64 = 16 << 20;

/// The descriptions of users, in the order in which they were added.
static OF_USERS: RwLock<Vec<Arc<StructureFile>>> = RwLock::new(Vec::new());

/// Adds descriptions to those of the runtimes. A description takes the place of an earlier one of the same name.
pub fn add(file: StructureFile) {
    OF_USERS.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(file));
}

/// Stands for the descriptions of users: what was found with others is another answer.
pub(crate) fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", OF_USERS.read().unwrap_or_else(PoisonError::into_inner)).hash(&mut hasher);
    hasher.finish()
}

/// Reads a file of descriptions.
///
/// # Errors
/// When it cannot be read, is no text, or breaks the language.
pub fn read(path: &Path) -> Result<StructureFile> {
    StructureFile::parse(&path.display().to_string(), &text_of(path)?).map_err(DescriptionError::unusable)
}

/// The text of a file of descriptions in the formatter's form.
///
/// # Errors
/// As [`read`].
pub fn in_own_form(path: &Path) -> Result<String> {
    formatted(&path.display().to_string(), &text_of(path)?).map_err(DescriptionError::unusable)
}

fn text_of(path: &Path) -> Result<String> {
    let bytes = regular::read(path, LONGEST).map_err(|error| Error::io(path, error))?;
    String::from_utf8(bytes).map_err(|error| Error::Format {
        path: path.to_owned(),
        offset: Some(error.utf8_error().valid_up_to() as u64),
        found: "bytes that are no UTF-8".into(),
        expected: "descriptions of data structures as text".into(),
        remedy: "Save it as UTF-8".into(),
    })
}

/// Reads all files of descriptions in a folder, in the order of their names; none where there is no folder.
pub fn in_folder(folder: &Path) -> Vec<Result<StructureFile>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(EXTENSION));
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

/// The descriptions for heaps of a runtime: those of its profile, and those of users.
///
/// # Errors
/// When those of the profile break the language.
pub fn descriptions(profile: &Profile) -> Result<Descriptions> {
    let mut all = Descriptions::of(profile).map_err(DescriptionError::unusable)?;
    let of_users = OF_USERS.read().unwrap_or_else(PoisonError::into_inner).clone();
    of_users.iter().for_each(|file| all.add(StructureFile::clone(file)));
    Ok(all)
}

/// The structures whose heads are among these objects of a heap state; all where it is `None`.
///
/// # Errors
/// When cancelled, or as [`descriptions`].
pub fn find(heap: &HeapState, among: Option<&BitSet>, progress: &Progress) -> Result<FoundStructures> {
    let descriptions = descriptions(heap.profile())?;
    let rules = StructureRules::new(heap, &descriptions, progress)?;
    FoundStructures::new(heap, &rules, among, progress)
}
