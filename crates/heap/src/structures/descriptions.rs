//! Descriptions of several files, as one.

use super::names::fits;
use super::parse::{DescriptionError, StructureFile, TypeDescription};
use crate::Profile;
use rustc_hash::FxHashMap;

/// Descriptions by type. A later file replaces what an earlier one says of the same name.
#[derive(Clone, Debug, Default)]
pub struct Descriptions {
    all: Vec<TypeDescription>,
    /// By exact name.
    named: FxHashMap<String, usize>,
    /// Those with wildcards, the last first.
    patterns: Vec<usize>,
}

impl Descriptions {
    /// The descriptions that come with the profile of a runtime.
    ///
    /// # Errors
    /// When one of them breaks the language; a test parses all.
    pub fn of(profile: &Profile) -> Result<Descriptions, DescriptionError> {
        let mut all = Descriptions::default();
        for (file, text) in profile.structures {
            all.add(StructureFile::parse(file, text)?);
        }
        Ok(all)
    }

    /// Adds the descriptions of a further file.
    pub fn add(&mut self, file: StructureFile) {
        for description in file.into_descriptions() {
            let is_pattern = description.name.contains('*');
            let same = |at: &usize| self.all[*at].name == description.name;
            let known = match is_pattern {
                true => self.patterns.iter().copied().find(same),
                false => self.named.get(&description.name).copied(),
            };
            let Some(at) = known else {
                match is_pattern {
                    true => self.patterns.insert(0, self.all.len()),
                    false => drop(self.named.insert(description.name.clone(), self.all.len())),
                }
                self.all.push(description);
                continue;
            };
            self.all[at] = description;
            if is_pattern {
                self.patterns.retain(|other| *other != at);
                self.patterns.insert(0, at);
            }
        }
    }

    /// All of them; the index is the number that other functions give.
    pub fn all(&self) -> &[TypeDescription] {
        &self.all
    }

    /// The number of the description of a name: the one of this very name, or the last whose wildcards fit.
    pub fn find(&self, name: &str) -> Option<usize> {
        let by_name = self.named.get(name).copied();
        by_name.or_else(|| self.patterns.iter().copied().find(|&at| fits(&self.all[at].name, name)))
    }
}
