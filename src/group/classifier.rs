//! What a classifier is.

use crate::heap::{HeapState, ObjectId};
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

/// Says what an object is in one respect.
pub trait Classifier: Send + Sync {
    /// What it is.
    fn meta(&self) -> &ClassifierMeta;

    /// Into how many classes it divides the objects of one type, if the result depends on little more than the type:
    /// 1 when on the type alone. Such results are computed once for each class, not once for each object. `None` when
    /// it must be asked for every object.
    fn variants(&self) -> Option<u32> {
        None
    }

    /// Which of the variants an object is, below [`Classifier::variants`].
    fn variant(&self, _heap: &HeapState, _object: ObjectId) -> u32 {
        0
    }

    /// The values of an object.
    fn classify(&self, heap: &HeapState, object: ObjectId) -> Values;
}
