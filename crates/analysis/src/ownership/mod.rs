//! Who owns what, by names: objects under what alone keeps them alive, merged by type, so that owners match from time to
//! time without the identity of objects.
//!
//! | module | says |
//! |---|---|
//! | `folding` | which objects are the insides of others: the table and entries of a map |
//! | `names` | what owners are called: classes with their static fields, threads with their methods, types |
//! | `owner` | the owner of every object of a heap state, as a tree of names |
//! | `history` | such trees over time, matched by names |
//! | `accumulation` | where a heap grows, and into what |
//! | `path` | how an object hangs on its root, by fields |
//! | `shared` | who keeps together what no object owns alone |
//!
//! Dominators and closures of objects come from `memory_city_heap::ownership`.

mod accumulation;
mod folding;
mod history;
mod names;
mod owner;
mod path;
mod shared;

pub(crate) use accumulation::ends;
pub use accumulation::{Accumulation, AccumulationRules, Elements, accumulations};
pub use history::{Holding, OwnerHistory, PlaceOverTime};
pub use owner::{OwnerNode, OwnerTree};
pub use path::{OwnerPath, PathStep, owner_paths};
