//! The configuration folder: settings, scripts and descriptions of this user, the same for the window and the command line.

use std::path::PathBuf;

/// The variable that says where; an empty one keeps nothing.
const FOLDER: &str = "MEMORY_CITY_CONFIG";

/// The folder: `MEMORY_CITY_CONFIG`, or `memory-city` where the system keeps settings. `None`: nothing is kept.
pub fn folder() -> Option<PathBuf> {
    match std::env::var_os(FOLDER) {
        Some(folder) if folder.is_empty() => None,
        Some(folder) => Some(PathBuf::from(folder)),
        None => dirs::config_dir().map(|folder| folder.join("memory-city")),
    }
}

/// The folder of classifiers that people wrote.
pub fn classifiers() -> Option<PathBuf> {
    folder().map(|folder| folder.join("classifiers"))
}

/// The folder of descriptions of data structures that people wrote.
pub fn structures() -> Option<PathBuf> {
    folder().map(|folder| folder.join("structures"))
}

/// The file of the groupings that people saved.
pub fn groupings() -> Option<PathBuf> {
    folder().map(|folder| folder.join(memory_city_analysis::group::saved::FILE))
}
