//! Groupings whose answers can be kept.

use super::grouping::Grouping;
use super::shared::registry;
use crate::grammar::is_of_name;

impl Grouping {
    /// The list of classifiers as text, if the tree of a heap state depends on that alone. `None` for classifiers that use other inputs too
    /// (scripts, files, settings).
    pub(crate) fn settled(&self) -> Option<String> {
        let registry = registry();
        let known = registry.grouping(&self.id).ok()?;
        let list = registry.list_of(self);
        let words = || list.split(|c: char| !is_of_name(c)).filter(|word| !word.is_empty());
        let of_registry = |word: &str| registry.classifiers().any(|(meta, _)| meta.id == word);
        let settled = words().all(|word| SETTLED.contains(&word) || !of_registry(word));
        let same = known.classifiers.len() == self.classifiers.len()
            && self.classifiers.iter().all(|c| SETTLED.contains(&&*c.meta().id));
        (settled && same).then(|| list.to_owned())
    }
}

/// Classifiers and filters whose answer follows from the heap state and their options alone.
const SETTLED: [&str; 22] = [
    "type",
    "package",
    "kind",
    "loader",
    "loaders",
    "array-length",
    "points-to",
    "pointed-from",
    "rooted",
    "indirectly-rooted",
    "space",
    "subsystem",
    "thread",
    "age",
    "site",
    "callers",
    "allocating-package",
    "referrers",
    "address",
    "reachable",
    "filter",
    "owner",
];
