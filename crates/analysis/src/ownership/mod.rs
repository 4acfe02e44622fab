//! Owners by name: objects below the object that alone keeps them alive, merged by type. Places match from time to time without identity of
//! objects. The module also has the paths that keep a group of objects.
//!
//! | module | says |
//! |---|---|
//! | `folding` | insides of other objects: the table and entries of a map |
//! | `names` | names of owners: classes with their static fields, threads with their methods, types |
//! | `owner` | the owner of every object of a heap state, as a tree of names |
//! | `thread_locals` | names of thread locals |
//! | `shared` | owners of shared objects: the objects that keep them together |
//! | `places` | such a tree without the objects: for comparisons and the cache |
//! | `history` | such trees over time, matched by names |
//! | `matching` | data structures that stay one place while their owners change |
//! | `suspects` | the largest growth outside the known places |
//! | `course` | the course of a place over time: it grows again and again, or once |
//! | `accumulation` | the places where a heap grows, and their elements |
//! | `evidence` | how sure it is that a place accumulates |
//! | `holders` | sets of objects by name: their retained size and places |
//! | `filling` | the number of elements in a collection |
//! | `chained` | the elements of a chain, whoever else holds them |
//! | `keys` | the name by which a table holds an object |
//! | `path` | the path from a root to one object, by fields |
//! | `keeping` | the keepers of an object: by any path, by the shortest, or alone |
//! | `anchors` | the starts of paths: GC roots, and static fields of classes that stay |
//! | `between` | paths up that return to where they were |
//! | `paths` | the steps from a group up to the roots, merged by type and field |
//! | `paths_expand` | one step of that |
//! | `fields` | the field by which each step holds the one below |
//! | `roots` | the roots that keep a group, and their shares of it |
//! | `group_paths` | the paths from roots to a group, for people, and their cuts |
//! | `freed` | the objects freed by a cut, by group |
//! | `new_objects` | new objects of a group since an earlier point in time |
//! | `upward_paths` | the objects on the paths up from a group, in an order for sums |
//! | `ranking` | the owners of a group, ranked by their shares |
//! | `chain` | the strongest path from a group up to a root, owner by owner |
//!
//! Dominators and closures of objects come from `memory_city_heap::ownership`.

mod accumulation;
#[cfg(test)]
mod accumulation_tests;
pub(crate) mod anchors;
mod between;
pub mod chain;
mod chained;
mod course;
mod described;
mod evidence;
mod exchanged;
pub(crate) mod fields;
mod filling;
mod folding;
mod freed;
mod gathered;
mod group_paths;
mod history;
pub(crate) mod holders;
pub(crate) mod keeping;
mod keys;
mod matching;
#[cfg(test)]
mod matching_tests;
mod member_weights;
mod names;
mod new_objects;
pub(crate) mod owner;
#[cfg(test)]
mod owner_tests;
mod path;
pub(crate) mod paths;
mod paths_expand;
pub(crate) mod places;
mod placing;
mod ranking;
pub(crate) mod roots;
mod shared;
mod suspects;
#[cfg(test)]
mod tests;
mod thread_locals;
mod upward_paths;
#[cfg(test)]
mod wide_tests;

pub use accumulation::{Accumulation, AccumulationRules, Elements, accumulations, filled_once};
pub(crate) use accumulation::{ends, is_steady};
pub(crate) use chained::chained_elements;
pub use course::Course;
pub(crate) use course::filled_between;
pub use course::{course_of, grows_between};
pub use evidence::{Doubt, doubt};
pub use filling::Filled;
pub(crate) use filling::{Filling, has_elements};
pub use freed::Freed;
pub use group_paths::{GroupWays, WayKind, WayQuestion, WayStep};
pub use history::{Holding, OwnerHistory, PlaceOverTime};
pub(crate) use keys::language_class;
pub(crate) use names::best_root;
pub use owner::{OwnerNode, OwnerTree};
pub(crate) use path::filled;
pub use path::{OwnerPath, RootedStep, owner_paths};
pub use paths::{PathEnd, RootStep};
pub use places::OwnerPlaces;
pub use ranking::RankedOwner;
pub use roots::KeepingRoot;
pub(crate) use suspects::suspects;
