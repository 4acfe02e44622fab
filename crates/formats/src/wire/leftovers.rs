//! Leftovers of interrupted recordings beside their parts, and their possible use. Inspecting them changes nothing.

use memory_city_heap::error::{Error, Warning};
use std::path::Path;

/// The leftovers beside these parts, a warning for each folder.
#[cfg(unix)]
pub(super) fn left_beside<'a>(parts: impl Iterator<Item = &'a Path>) -> Vec<Warning> {
    use memory_city_heap::texts::several;
    use memory_city_wire::{HeldFolder, LeftWalks};
    use std::collections::BTreeSet;
    const UNFINISHED: &str = Warning::UNFINISHED;

    let named = |folder: &'a Path| if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folders: BTreeSet<&Path> = parts.filter_map(|part| part.parent().map(named)).collect();
    let warning = |folder: &Path| {
        let LeftWalks { complete, incomplete } = LeftWalks::of(&HeldFolder::open(folder).ok()?);
        let command = format!("`memory-city finish {}`", folder.display());
        let message = match (complete.len(), incomplete.len()) {
            (0, 0) => return None,
            (0, some) => {
                let dumps = several(some as u64, "incomplete dump", "incomplete dumps");
                format!("{UNFINISHED}{dumps} of what the program held: {command} removes what is left")
            }
            (walks, _) => {
                let (walks, them) = (several(walks as u64, "walk", "walks"), if walks == 1 { "it" } else { "them" });
                format!("{UNFINISHED}{walks} beside what is shown: {command} adds {them}")
            }
        };
        Some(Warning { path: folder.to_owned(), offset: None, message })
    };
    folders.into_iter().filter_map(warning).collect()
}

/// Recordings are made on Linux alone.
#[cfg(not(unix))]
pub(super) fn left_beside<'a>(_: impl Iterator<Item = &'a Path>) -> Vec<Warning> {
    Vec::new()
}

/// Adds a remedy to the error of an empty recording whose leftovers are readable.
pub(super) fn with_remedy(error: Error, left: &[Warning]) -> Error {
    match (error, left.first()) {
        (Error::Unusable { what, .. }, Some(left)) => Error::Unusable { what, remedy: capitalised(&left.message) },
        (error, _) => error,
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
