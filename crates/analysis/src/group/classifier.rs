//! What a classifier is.

use memory_city_heap::Facts;
use std::sync::Arc;

/// How many values an object has, and how they relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One value: its type.
    One,
    /// Any number of values: the object is counted under each, but once in what they have in common.
    Many,
    /// A list from the root down: its package, part by part.
    Hierarchy,
}

/// What a classifier says of itself.
#[derive(Clone, Debug)]
pub struct ClassifierMeta {
    /// Unique short name.
    pub id: &'static str,
    /// Name for people; the role of the nodes it makes.
    pub name: &'static str,
    /// What it looks at, a line.
    pub description: &'static str,
    /// A value it gives.
    pub example: &'static str,
    /// See [`Cardinality`].
    pub cardinality: Cardinality,
    /// What joins the parts of a hierarchy when a chain of single children is drawn as one district.
    pub separator: Option<&'static str>,
}

/// The values of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// One value.
    One(Arc<str>),
    /// Several values beside each other; none leaves the object out.
    Many(Vec<Arc<str>>),
    /// Values below each other.
    Chain(Vec<Arc<str>>),
}

/// What a classifier must know of an object, besides its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Nothing, or whether it is one of so many variants, told from type and length.
    Variants(u32),
    /// Where it was allocated.
    Site,
    /// How it was made and lives: known of objects of traces only.
    Life,
    /// All there is: it is asked for every object.
    Object,
}

/// Says what an object is in one respect.
pub trait Classifier: Send + Sync {
    /// What it is.
    fn meta(&self) -> &ClassifierMeta;

    /// What it looks at. Objects that are equal in this have equal values: they are classified once for all.
    fn needs(&self) -> Needs {
        Needs::Variants(1)
    }

    /// Which of the [`Needs::Variants`] an object is.
    fn variant(&self, _facts: &Facts<'_>) -> u32 {
        0
    }

    /// Whether an object's values change with time alone, as its age does.
    fn changes_with_time(&self) -> bool {
        false
    }

    /// The values of an object.
    fn classify(&self, facts: &Facts<'_>) -> Values;
}
