//! Who keeps a group of objects alive, and by which way: paths from GC roots, merged by type and field, and the chain of
//! owners.
//!
//! | module | says |
//! |---|---|
//! | `keeping` | which object keeps which: by any path, by the shortest, or alone |
//! | `anchors` | where a path ends: GC roots, and static fields of classes that stay |
//! | `paths` | the steps from a group up to the roots, merged |
//! | `paths_expand` | one step of that |
//! | `fields` | by which field each step holds the one below |
//! | `roots` | the roots that keep a group, and how much of it |
//! | `chain` | the strongest way from a group up to a root, owner by owner |

pub(crate) mod anchors;
pub mod chain;
pub(crate) mod fields;
pub(crate) mod keeping;
pub(crate) mod paths;
mod paths_expand;
pub(crate) mod roots;
#[cfg(test)]
mod tests;
