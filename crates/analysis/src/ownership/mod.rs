//! Who owns what, by names: objects under what alone keeps them alive, merged by type, so that owners match from time to
//! time without the identity of objects; and by which ways a group of objects is kept.
//!
//! | module | says |
//! |---|---|
//! | `folding` | which objects are the insides of others: the table and entries of a map |
//! | `names` | what owners are called: classes with their static fields, threads with their methods, types |
//! | `owner` | the owner of every object of a heap state, as a tree of names |
//! | `thread_locals` | what the variables are called whose values threads keep |
//! | `shared` | who keeps together what no object owns alone |
//! | `places` | such a tree without the objects: what is compared, and kept in the cache |
//! | `history` | such trees over time, matched by names |
//! | `course` | how what a place holds went over time: again and again, or once |
//! | `accumulation` | where a heap grows, and into what |
//! | `holders` | sets of objects by name: what they retain, and where they are |
//! | `filling` | how many elements a collection has |
//! | `path` | how an object hangs on its root, by fields |
//! | `keeping` | which object keeps which: by any path, by the shortest, or alone |
//! | `anchors` | where a path ends: GC roots, and static fields of classes that stay |
//! | `between` | ways up that come back to where they were |
//! | `paths` | the steps from a group up to the roots, merged by type and field |
//! | `paths_expand` | one step of that |
//! | `fields` | by which field each step holds the one below |
//! | `roots` | the roots that keep a group, and how much of it |
//! | `ways` | the ways from roots to a group, for people, and what to cut of them |
//! | `freed` | what would be freed without what is cut, by group |
//! | `came` | what of a group came since an earlier point in time |
//! | `ways_up` | the objects on the ways up from a group, in an order of which sums are made |
//! | `ranking` | the owners of a group by what they keep of it |
//! | `chain` | the strongest way from a group up to a root, owner by owner |
//!
//! Dominators and closures of objects come from `memory_city_heap::ownership`.

mod accumulation;
#[cfg(test)]
mod accumulation_tests;
pub(crate) mod anchors;
mod between;
mod came;
pub mod chain;
mod course;
pub(crate) mod fields;
mod filling;
mod folding;
mod freed;
mod gathered;
mod history;
pub(crate) mod holders;
pub(crate) mod keeping;
mod kept_by_each;
mod names;
mod owner;
#[cfg(test)]
mod owner_tests;
mod path;
pub(crate) mod paths;
mod paths_expand;
mod places;
mod placing;
mod ranking;
pub(crate) mod roots;
mod shared;
#[cfg(test)]
mod tests;
mod thread_locals;
mod ways;
mod ways_up;
#[cfg(test)]
mod wide_tests;

pub(crate) use accumulation::ends;
pub use accumulation::{Accumulation, AccumulationRules, Elements, accumulations, filled_once};
pub use course::Course;
pub(crate) use course::filled_between;
pub use course::grows_between;
pub use filling::Filled;
pub(crate) use filling::has_elements;
pub use freed::Freed;
pub use history::{Holding, OwnerHistory, PlaceOverTime};
pub(crate) use names::best_root;
pub use owner::{OwnerNode, OwnerTree};
pub(crate) use path::filled;
pub use path::{OwnerPath, RootedStep, owner_paths};
pub use paths::{PathEnd, RootStep};
pub use places::OwnerPlaces;
pub(crate) use places::StoredPlaces;
pub use ranking::RankedOwner;
pub use roots::KeepingRoot;
pub use ways::{GroupWays, WayKind, WayQuestion, WayStep};
