//! Path of the recorder's library: a file beside the program, so that it can be copied into an image.

use memory_city_agent::LIBRARY;
use memory_city_heap::error::{Error, Result};
use std::path::PathBuf;

/// The environment variable that names the library.
const VARIABLE: &str = "MEMORY_CITY_AGENT";

/// The path of the library. Searched in this order: the environment variable, beside this program, cargo's folder, `../lib/memory-city`.
///
/// # Errors
/// When it is in none of these places.
pub fn find() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|n| !n.is_empty()) {
        let path = PathBuf::from(named);
        return path.canonicalize().map_err(|e| Error::io(&path, e));
    }
    let program = std::env::current_exe().and_then(|p| p.canonicalize()).unwrap_or_default();
    let folder = program.parent().map(PathBuf::from).unwrap_or_default();
    let places =
        [folder.join(LIBRARY), folder.join("deps").join(LIBRARY), folder.join("../lib/memory-city").join(LIBRARY)];
    places.iter().find_map(|place| place.canonicalize().ok()).ok_or_else(|| Error::Unusable {
        what: format!("The recorder's library {LIBRARY} is not beside {}", program.display()),
        remedy: format!("`make build` puts it there; or set {VARIABLE} to its path"),
    })
}
