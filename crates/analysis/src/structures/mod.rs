//! The data structures of a heap state, by the descriptions of its runtime and of users; their numbers of elements, and their growth.
//!
//! The language and the rules are those of [`memory_city_heap::structures`]. Users add files with [`add`], for all that is found from then on.

mod containing;
mod field_ends;
pub(crate) mod fill;
mod followed;
mod growth;
#[cfg(test)]
mod growth_tests;
mod patterns;
pub(crate) mod registry;
mod suggested;

pub(crate) use containing::containing;
pub(crate) use field_ends::{FieldEnd, FieldStart, field_ends};
pub(crate) use fill::{StructureFill, fills};
pub(crate) use followed::{FollowedHeads, FollowedKey, HeadFollowing};
pub(crate) use growth::{StructureGrowth, StructureSizes, StructuresApart, apart, change, growths, sizes};
pub(crate) use patterns::{ChangedPart, StrongGrowth, StructurePattern};
pub(crate) use registry::fingerprint;
pub use registry::{EXTENSION, add, descriptions, find, in_folder, in_own_form, read};
pub(crate) use suggested::{SuggestedStructure, suggested, suggestions_as_file};
