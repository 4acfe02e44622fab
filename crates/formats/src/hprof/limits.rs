//! Limits of what is read of a dump, and errors beyond them.

use super::census::Census;
use crate::budget::{memory_limit, memory_text};
use memory_city_heap::error::{Error, Result, Warning};
use std::path::Path;

/// How much a heap state may hold. Numbers of objects and places of references take 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpLimits {
    /// Objects, class objects included.
    pub objects: u32,
    /// References.
    pub references: u32,
    /// Most bytes for names of classes, fields and methods, each counted as often as it occurs; for tables of classes, their fields and
    /// roots; for inherited fields, each counted in every class that has it; and for addresses, which take more the more scattered they are.
    pub memory: u64,
}

impl Default for DumpLimits {
    fn default() -> Self {
        DumpLimits { objects: u32::MAX, references: u32::MAX, memory: memory_limit() / 3 }
    }
}

/// The error for a dump in which no object can be read: the heap was not empty.
pub(super) fn without_objects(path: &Path, length: u64) -> Error {
    Error::Unusable {
        what: format!(
            "{} has no objects in its {length} bytes: it is the start of a heap dump that was cut off, as when a disk is full or its writer \
             was killed",
            path.display()
        ),
        remedy: "Take the dump again, on a disk with room for it, or copy it again".into(),
    }
}

/// Bytes that the tables take by class and by root, without their names.
const CLASS_BYTES: u64 = 1000;
const ROOT_BYTES: u64 = 120;

/// The error for a dump whose classes have too many fields. Each class has those of all that it extends.
pub(super) fn too_many_fields(path: &Path, memory: u64) -> Error {
    Error::Memory {
        what: format!(
            "The fields of the classes in {}, inherited ones among them, take more than the {} that there are for them",
            path.display(),
            memory_text(memory)
        ),
        remedy:
            "Open it with more memory (--memory, another machine); if the program has few classes, the dump is damaged: take it again"
                .into(),
    }
}

/// Whether there is memory for the tables of classes and roots: a record of a few bytes makes an entry.
pub(super) fn check_tables(path: &Path, census: &Census, limits: DumpLimits) -> Result<()> {
    let classes = (census.classes.len() + census.records.len()) as u64;
    let roots = census.roots.len() as u64;
    if classes * CLASS_BYTES + roots * ROOT_BYTES + census.field_bytes <= limits.memory {
        return Ok(());
    }
    Err(Error::Memory {
        what: format!(
            "The tables of {classes} classes and {roots} roots in {} take more than the {} that there are for them",
            path.display(),
            memory_text(limits.memory)
        ),
        remedy:
            "Open it with more memory (--memory, another machine); if the program has few classes, the dump is damaged: take it again"
                .into(),
    })
}

/// Warnings beyond these are counted, not listed: a damaged file may give one for each segment.
pub(super) const MOST_WARNINGS: usize = 20;

/// The first warnings, and how many `more` there are beside them and the rest.
pub(super) fn condense(mut warnings: Vec<Warning>, more: usize) -> Vec<Warning> {
    let more = more + warnings.len().saturating_sub(MOST_WARNINGS);
    if more > 0 && !warnings.is_empty() {
        warnings.truncate(MOST_WARNINGS);
        let path = warnings[0].path.clone();
        warnings.push(Warning { path, offset: None, message: format!("and {more} more problems of this kind") });
    }
    warnings
}
