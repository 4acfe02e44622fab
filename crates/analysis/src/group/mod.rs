//! Grouping of a heap state into a memory tree: classifiers, applied one after the other.
//!
//! | what | says |
//! |---|---|
//! | [`Classifier`] | one fact about an object, from [the facts it reads](Reads) |
//! | [`ObjectView`] | the view of an object for it: the declared facts, as far as the input knows |
//! | [`ObjectValues`] | its result: a set of chains of names |
//! | [`Grouping`] | a list of classifiers under a name |
//! | [`Registry`] | classifiers and groupings by name; [`grouping`] parses `package > type` |
//! | [`group`] | the tree of a heap state, and the groups of each object |
//!
//! Nothing here knows time or files. The folder `classifiers` shows how one is written and added.
//!
//! # Example
//! ```
//! use memory_city_analysis::group::{self, GroupOptions};
//! use memory_city_heap::{HeapBuilder, HeapType, TypeKind, progress::Progress};
//!
//! let mut heap = HeapBuilder::new();
//! let bytes = HeapType { name: "byte[]".into(), kind: TypeKind::PrimitiveArray, superclass: None, loader: "bootstrap".into() };
//! let bytes = heap.add_type(bytes);
//! for length in [0, 5, 6, 7] {
//!     heap.add_object(bytes, 16 + 8, Some(length));
//! }
//! let grouping = group::grouping("type > array-length")?;
//! let grouped = group::group(&heap.finish(), &grouping, GroupOptions::default(), &Progress::new())?;
//! let names: Vec<String> = (0..grouped.tree.len())
//!     .map(|n| format!("{} {}", grouped.tree.name(n), grouped.tree.amount(n).objects))
//!     .collect();
//! assert_eq!(names, ["Heap 4", "byte[] 4", "Length 0 1", "Length 4 to 7 3"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asked;
mod by_object;
mod classifier;
mod classifiers;
mod completion;
pub mod domain;
mod expression;
mod filter;
mod grouped;
mod grouping;
mod groupings;
mod histogram;
mod object;
mod outline;
mod placement;
mod presets;
mod reads;
mod registry;
mod root_sets;
pub mod saved;
pub mod script;
mod settled;
mod shapes;
mod shared;
mod stored;
mod transform;
mod transformer;
mod tree;
mod values;

pub use crate::grammar::ExpressionError;
pub use asked::AskedGrouping;
pub use classifier::{ByFunction, Cardinality, Classifier, ClassifierMeta, GroupingRun};
pub use completion::Completion;
pub use filter::filter_numbers;
pub use grouped::{Grouped, group, group_some};
pub use grouping::{AUTO, GroupOptions, Grouping};
use object::few_types;
pub use object::{ObjectView, type_names};
pub use outline::{GroupingLevel, LevelCondition, LevelInside, LevelOption, PartKind, TextPlace, list_text};
pub(crate) use placement::Placement;
pub use reads::Reads;
pub use registry::{ClassifierRequest, OptionInfo, Registry, RegistryError};
pub use shared::{grouping, groupings, register, registry, registry_revision, set_packages, tell_packages};
pub(crate) use stored::StoredTree;
pub use transform::{OtherObjects, Transform};
pub use tree::MemoryTree;
pub(crate) use tree::is_own_name;
pub use values::ObjectValues;
