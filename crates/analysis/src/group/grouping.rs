//! A grouping: a list of classifiers under a name.

use super::classifier::{Classifier, GroupingRun, prepared};
use super::reads::Reads;
use memory_city_heap::error::Result;
use std::sync::Arc;

/// The name of the grouping that suits the input: by allocation site where the source knows it, by package otherwise.
pub const AUTO: &str = "auto";

/// The choice of objects to group.
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
    /// A line about it.
    pub description: String,
    /// Applied in this order: filters come first, transformers last.
    pub classifiers: Vec<Arc<dyn Classifier>>,
}

impl Grouping {
    /// A grouping by these classifiers, with a description made of theirs.
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

/// Filters first: objects they leave out reach no node. Transformers last: they work on the groups that the others make.
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
