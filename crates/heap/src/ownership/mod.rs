//! Who keeps what alive: what a reference keeps ([`KeepRules`]), the graph that follows ([`KeepGraph`]), and which object
//! alone owns which ([`Dominators`]); what groups of objects reach and retain ([`GroupClosures`]).
//!
//! Groups are numbers here; nothing knows names and trees.

mod closures;
mod dominators;
mod graph;
mod order;
mod rules;
mod sets;
#[cfg(test)]
mod tests;

pub use closures::{GroupAmounts, GroupClosures, ObjectGroups};
pub use dominators::Dominators;
pub use graph::KeepGraph;
pub use rules::KeepRules;
