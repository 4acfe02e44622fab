//! A grouping: a list of classifiers under a name.

use super::classifier::{GroupingRun, prepared};
use super::{Classifier, Reads};
use memory_city_heap::error::Result;
use std::sync::Arc;

/// What is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct GroupOptions {
    /// Objects that no root reaches are grouped too.
    pub include_unreachable: bool,
    /// Traces: a point in time at the start of every GC as well as at its end.
    pub gc_starts: bool,
}

/// A named list of classifiers.
#[derive(Clone)]
pub struct Grouping {
    /// Short name for command lines and files: that of a preset, or the list as it is written (`package>type`).
    pub id: String,
    /// Name for people.
    pub title: String,
    /// What it shows, a line.
    pub description: String,
    /// Applied in this order: filters come first, transformers last.
    pub classifiers: Vec<Arc<dyn Classifier>>,
}

impl Grouping {
    /// A grouping by these classifiers, described by what they say of themselves.
    pub fn new(id: impl Into<String>, mut classifiers: Vec<Arc<dyn Classifier>>) -> Grouping {
        classifiers.sort_by_key(|c| order(&**c));
        let joined = |text: fn(&dyn Classifier) -> &str, separator: &str| {
            let all: Vec<&str> = classifiers.iter().map(|c| text(&**c)).collect();
            all.join(separator)
        };
        Grouping {
            id: id.into(),
            title: joined(|c| &c.meta().name, " › "),
            description: joined(|c| &c.meta().description, "; then: "),
            classifiers,
        }
    }

    /// The same, ready for a run.
    pub(crate) fn prepared(&self, run: &GroupingRun<'_>) -> Result<Vec<Arc<dyn Classifier>>> {
        prepared(&self.classifiers, run)
    }

    /// Whether objects that no root reaches must be among those that are grouped: it looks for them.
    pub fn wants_unreachable(&self) -> bool {
        self.reads().contains(Reads::REACHABLE)
    }

    /// What the tree of a heap state depends on beside the heap state, where that can be written down: the list of
    /// classifiers. `None` for those that look elsewhere too (scripts, files, settings).
    pub(crate) fn settled(&self) -> Option<String> {
        let registry = super::registry();
        let known = registry.grouping(&self.id).ok()?;
        let list = registry.list_of(self);
        let words = || list.split(|c: char| !super::expression::is_of_name(c)).filter(|word| !word.is_empty());
        let of_registry = |word: &str| registry.classifiers().any(|(meta, _)| meta.id == word);
        let settled = words().all(|word| SETTLED.contains(&word) || !of_registry(word));
        let same = known.classifiers.len() == self.classifiers.len()
            && self.classifiers.iter().all(|c| SETTLED.contains(&&*c.meta().id));
        (settled && same).then(|| list.to_owned())
    }

    /// All that its classifiers read.
    pub fn reads(&self) -> Reads {
        self.classifiers.iter().fold(Reads::empty(), |all, c| all | c.meta().reads)
    }

    /// Why objects of which only so much is known cannot be grouped so, for people; `None` when they can.
    pub fn lacks(&self, known: Reads) -> Option<String> {
        let missing = self.reads().difference(known);
        (!missing.is_empty()).then(|| missing.names())
    }
}

/// Filters first: what they leave out reaches no node. Transformers last: they are about the objects of the groups that
/// the others make.
pub(super) fn order(classifier: &dyn Classifier) -> u8 {
    match classifier.transform() {
        Some(_) => 2,
        None => u8::from(!classifier.passes()),
    }
}

impl std::fmt::Debug for Grouping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grouping").field("id", &self.id).finish_non_exhaustive()
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
