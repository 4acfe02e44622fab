//! Who keeps what alive: what a reference keeps ([`KeepRules`]), the graph that follows ([`KeepGraph`]), which object alone
//! owns which ([`Dominators`]), the shortest way to each ([`ShortestPaths`]), and what goes when something is cut ([`Cut`]).
//!
//! Knows nothing of groups and names.

mod cut;
mod dominators;
mod graph;
mod rules;
mod shortest;
#[cfg(test)]
mod tests;

pub use cut::Cut;
pub use dominators::Dominators;
pub use graph::KeepGraph;
pub use rules::KeepRules;
pub use shortest::ShortestPaths;
