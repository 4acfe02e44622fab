//! Bloat as a city: bytes of collections divided into wanted content and overhead. The grouping is a list with a script that comes with
//! the program as an example. Choosing it copies the script to the person's own, to be changed, and for the command line too.

use memory_city_analysis::group::script::{self, ClassifierScript, EXTENSION};
use memory_city_analysis::group::{self, ExpressionError};
use std::path::Path;

/// Name of the grouping.
pub const TITLE: &str = "Bloat of collections";
/// Description.
pub const ABOUT: &str = "Heads, entries, arrays and contents of collections are districts, types are buildings. All but contents is what \
                         holds them together: much of it is bloat";
/// The list of classifiers.
pub const LIST: &str = "collection-health>type";
/// The script in it, and its text.
pub const SCRIPT: (&str, &str) =
    ("collection-health", include_str!("../../../../examples/classifiers/collection-health.classifier.rhai"));

/// Why objects cannot be grouped so, where they cannot be looked at.
pub const NEEDS_OBJECTS: &str = "the input has trees, not objects that refer to each other";

/// Registers the script if it is unknown: as a file in the folder of scripts, if there is one.
///
/// # Errors
/// For people: when the file exists and is no script, or cannot be written.
pub fn make_known() -> Result<(), String> {
    make_known_in(crate::config::classifiers().as_deref())
}

fn make_known_in(folder: Option<&Path>) -> Result<(), String> {
    if group::grouping(LIST).is_ok() {
        return Ok(());
    }
    let (id, text) = SCRIPT;
    if let Some(folder) = folder {
        let path = folder.join(format!("{id}{EXTENSION}"));
        // It is somebody's own by now.
        if path.exists() {
            return Err(format!("{} is not in use: {}", path.display(), why_not()));
        }
        script::save(folder, id, text).map_err(|error| error.to_string())?;
        tracing::debug!("script saved: {id}");
    }
    let script = ClassifierScript::parse(id, text).map_err(|error| error.to_string())?;
    group::register(|registry| registry.define(script)).map_err(|error| error.to_string())
}

fn why_not() -> String {
    group::grouping(LIST).err().map_or_else(String::new, |error: ExpressionError| error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_chooses_it_has_the_script_as_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(format!("{}{EXTENSION}", SCRIPT.0));
        std::fs::write(&path, "no script").expect("written");
        assert!(make_known_in(Some(folder.path())).is_err_and(|why| why.contains("is not in use")));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "no script", "what somebody wrote stays");
        std::fs::remove_file(&path).expect("removed");
        make_known_in(Some(folder.path())).expect("known");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), SCRIPT.1);
        assert!(group::grouping(LIST).is_ok());
        // Once is enough.
        std::fs::remove_file(&path).expect("removed");
        make_known_in(Some(folder.path())).expect("known");
        assert!(!path.exists());
    }
}
