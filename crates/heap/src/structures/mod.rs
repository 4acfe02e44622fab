//! Data structures: which objects together are one map, one list or one tree.
//!
//! A *description* says whether the objects of a type are *heads* of structures, and which types they point to within the structure. Some
//! of these are *leaves*, the contents. Files of descriptions come with the [profile](crate::Profile) of a runtime,
//! and from users; `docs/structures.md` teaches their language.
//!
//! | module | has |
//! |---|---|
//! | [`tokens`] | the words of a file |
//! | [`parse`] | the parser: a file becomes descriptions, or an error with line and column |
//! | [`layout`] | the formatter |
//! | [`fields`] | where numbers, keys and names stand in objects |
//! | [`names`] | names with wildcards |
//! | [`descriptions`] | descriptions of several files together |
//! | [`rules`] | descriptions applied to the types of a heap state |
//! | [`find`] | the structures of a heap state |
//! | [`closure`] | all objects of a few structures |
//! | [`containing`] | the structures that one object is in |
//!
//! ```
//! use memory_city_heap::structures::{Descriptions, StructureFile, formatted};
//!
//! let text = "namespace shop { DS Orders { Order*; size: count; } Order* { Order*; (*); } }";
//! let file = StructureFile::parse("shop.ds", text)?;
//! let head = &file.descriptions()[0];
//! assert_eq!((head.name(), head.is_head()), ("shop.Orders", true));
//! assert_eq!(StructureFile::parse("shop.ds", &formatted("shop.ds", text)?)?, file);
//! # Ok::<(), memory_city_heap::structures::DescriptionError>(())
//! ```

mod closure;
mod containing;
mod descriptions;
mod fields;
mod find;
mod layout;
mod names;
mod parse;
mod rules;
#[cfg(test)]
mod tests;
mod tokens;

pub use closure::StructureClosure;
pub use containing::ContainingStructures;
pub use descriptions::Descriptions;
pub use fields::{CountTerm, FieldCount, FieldPath, FieldStep, FieldSum};
pub use find::{FoundStructures, HeldBy, StructureExtent, StructureRole};
pub use layout::formatted;
pub use parse::{DescriptionError, PointedType, StructureFile, TypeDescription};
pub use rules::StructureRules;
