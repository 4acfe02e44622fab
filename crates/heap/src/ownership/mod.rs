//! Who keeps what alive: what a reference keeps ([`KeepRules`]), the graph that follows ([`KeepGraph`]), and which object
//! alone owns which ([`Dominators`]); what groups of objects reach and retain ([`GroupClosures`]); what
//! any set of objects does, and what would be freed without a reference or a root ([`ObjectClosures`]).
//!
//! Groups are numbers here; nothing knows names and trees.

mod closures;
mod dominators;
mod graph;
mod order;
mod roots;
mod rules;
mod selection;
mod sets;
#[cfg(test)]
mod tests;

pub use closures::{GroupAmounts, GroupClosures, ObjectGroups};
pub use dominators::Dominators;
pub use graph::KeepGraph;
pub use rules::KeepRules;
pub use selection::{ObjectClosure, ObjectClosures};
