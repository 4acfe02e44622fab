//! Questions of ownership: which objects keep which alive.
//!
//! | type | answers |
//! |---|---|
//! | [`KeepRules`] | which references keep their target |
//! | [`KeepGraph`] | the graph of these references |
//! | [`Dominators`] | which objects each object alone owns |
//! | [`GroupClosures`] | the objects that groups reach and retain |
//! | [`ObjectClosures`] | the same for any set, and the objects freed by a [`CutSet`] |
//! | [`Strengths`] | how strongly objects are kept |
//! | [`ShortestPaths`] | the shortest path to each object |
//!
//! Groups are numbers here; nothing knows names and trees.

mod closures;
mod cut;
mod dominators;
mod folded;
mod graph;
mod masks;
mod order;
mod passing;
mod rules;
mod selection;
mod sets;
mod shortest;
mod strengths;
mod subtrees;
#[cfg(test)]
mod tests;
mod tops;
mod unrecorded;

pub use closures::{GroupAmounts, GroupClosures, ObjectGroups};
pub use cut::CutSet;
pub use dominators::Dominators;
pub use graph::{KeepGraph, KeepingRoots};
pub use rules::KeepRules;
pub use selection::{ObjectClosure, ObjectClosures};
pub use shortest::ShortestPaths;
pub use strengths::{KeptBy, Strengths};
