//! Classifiers, groupings and descriptions of data structures that people made themselves: files of the configuration folder and of the
//! command line, and saved groupings.
//!
//! They are read before the command line is parsed: `--grouping` may name them.

use memory_city::config;
use memory_city_analysis::group;
use memory_city_analysis::group::domain::DomainPackages;
use memory_city_analysis::group::saved::SavedGroupings;
use memory_city_analysis::group::script::{self, ClassifierScript};
use memory_city_analysis::structures;
use std::ffi::OsString;
use std::path::Path;

/// Reads `--classifier`, `--structures` and `--packages`, anywhere in the arguments, and the folder's classifiers, descriptions of data
/// structures and saved groupings. Errors in the folder are returned as warnings: they matter only to commands that use the faulty file.
///
/// # Errors
/// When an argument names no classifier, no descriptions or no packages; for people.
pub fn before_parsing(arguments: &[OsString]) -> Result<Vec<String>, String> {
    let mut warnings = Vec::new();
    for script in config::classifiers().map(|folder| script::in_folder(&folder)).unwrap_or_default() {
        let defined = script.map_err(|e| e.to_string()).and_then(|s| define(s, Path::new("")));
        warnings.extend(defined.err());
    }
    for file in values(arguments, "--classifier") {
        let path = Path::new(&file);
        let script = ClassifierScript::read(path).map_err(|e| format!("--classifier: {e}"))?;
        define(script, path).map_err(|e| format!("--classifier: {e}"))?;
    }
    for file in config::structures().map(|folder| structures::in_folder(&folder)).unwrap_or_default() {
        match file {
            Ok(file) => structures::add(file),
            Err(error) => warnings.push(error.to_string()),
        }
    }
    for file in values(arguments, "--structures") {
        let file = structures::read(Path::new(&file)).map_err(|e| format!("--structures: {e}"))?;
        structures::add(file);
    }
    for packages in values(arguments, "--packages") {
        let packages = packages.to_string_lossy();
        group::set_packages(DomainPackages::parse(&packages).map_err(|e| format!("--packages: {e}"))?);
    }
    // They may be made of all of these.
    if let Some(path) = config::groupings() {
        match SavedGroupings::read(&path) {
            Ok(saved) => warnings.extend(
                saved
                    .make_known()
                    .into_iter()
                    .map(|(id, error)| format!("{}: the grouping {id} is left out: {error}", path.display())),
            ),
            Err(error) => warnings.push(error.to_string()),
        }
    }
    Ok(warnings)
}

fn define(script: ClassifierScript, path: &Path) -> Result<(), String> {
    let id = script.meta().id.clone();
    group::register(|registry| registry.define(script)).map_err(|e| {
        let file = path.display();
        format!("{file}: the classifier {id} is not added: {e}. Give it another name: // id: ...")
    })
}

/// The values of an argument, written as `--name value` or `--name=value`, up to `--`.
fn values(arguments: &[OsString], name: &str) -> Vec<OsString> {
    let mut found = Vec::new();
    let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        if argument == name {
            found.extend(arguments.next().cloned());
        } else if let Some(value) = argument.to_str().and_then(|a| a.strip_prefix(name)?.strip_prefix('=')) {
            found.push(value.into());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_wherever_they_stand() {
        let all: Vec<OsString> = [
            "report",
            "--classifier",
            "a.rhai",
            "x",
            "--classifier=b.rhai",
            "--classifiers",
            "c",
            "--",
            "--classifier",
            "d",
        ]
        .map(OsString::from)
        .to_vec();
        assert_eq!(values(&all, "--classifier"), ["a.rhai", "b.rhai"]);
    }
}
