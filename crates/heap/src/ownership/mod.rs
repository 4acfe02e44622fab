//! Who keeps what alive: what a reference keeps ([`KeepRules`]), the graph that follows ([`KeepGraph`]), which object alone
//! owns which ([`Dominators`]), what groups of objects reach and retain ([`GroupClosures`]) and what any set of objects does
//! ([`ObjectClosures`]) and what goes when references or roots are cut ([`CutSet`]), how strongly objects are kept
//! ([`Strengths`]), the shortest way to each ([`ShortestPaths`]).
//!
//! Groups are numbers here; nothing knows names and trees.

mod closures;
mod cut;
mod dominators;
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
mod unrecorded;

pub use closures::{GroupAmounts, GroupClosures, ObjectGroups};
pub use cut::CutSet;
pub use dominators::Dominators;
pub use graph::{KeepGraph, KeepingRoots};
pub use rules::KeepRules;
pub use selection::{ObjectClosure, ObjectClosures};
pub use shortest::ShortestPaths;
pub use strengths::{KeptBy, Strengths};
