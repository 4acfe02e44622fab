//! Who keeps what alive: what a reference keeps ([`KeepRules`]), the graph that follows ([`KeepGraph`]), and which object
//! alone owns which ([`Dominators`]).
//!
//! Knows nothing of groups and names.

mod dominators;
mod graph;
mod rules;
#[cfg(test)]
mod tests;

pub use dominators::Dominators;
pub use graph::KeepGraph;
pub use rules::KeepRules;
