//! What a classifier is.

use super::{ObjectValues, ObjectView, Reads};
use std::borrow::Cow;

/// How many values an object has, and how they relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One value: its type.
    One,
    /// Any number of values: the object is counted under each, but once in what they have in common.
    Many,
    /// A list from the general to the particular: its package, part by part.
    Hierarchy,
    /// Any number of such lists: the roots that hold it, each with its kind, thread and method.
    Hierarchies,
}

/// What a classifier says of itself.
#[derive(Clone, Debug)]
pub struct ClassifierMeta {
    /// Unique short name, for command lines and files: letters, digits, `-` and `_`.
    pub id: Cow<'static, str>,
    /// Name for people; the role of the nodes it makes.
    pub name: Cow<'static, str>,
    /// What it looks at, a line.
    pub description: Cow<'static, str>,
    /// A value it gives.
    pub example: Cow<'static, str>,
    /// See [`Cardinality`].
    pub cardinality: Cardinality,
    /// What it reads of objects: all that its result depends on.
    pub reads: Reads,
    /// What joins the parts of a hierarchy when a chain of single children is drawn as one district; `None` when they
    /// are never joined, because objects belong to the parts in the middle too.
    pub separator: Option<&'static str>,
}

impl ClassifierMeta {
    /// A classifier of one value that reads the type; the rest is said with the functions below.
    pub fn new(id: impl Into<Cow<'static, str>>, name: impl Into<Cow<'static, str>>) -> ClassifierMeta {
        ClassifierMeta {
            id: id.into(),
            name: name.into(),
            description: Cow::Borrowed(""),
            example: Cow::Borrowed(""),
            cardinality: Cardinality::One,
            reads: Reads::TYPE,
            separator: None,
        }
    }

    /// With a line on what it looks at, and a value it gives.
    #[must_use]
    pub fn describe(
        self,
        about: impl Into<Cow<'static, str>>,
        example: impl Into<Cow<'static, str>>,
    ) -> ClassifierMeta {
        ClassifierMeta { description: about.into(), example: example.into(), ..self }
    }

    /// With other properties that it reads.
    #[must_use]
    pub fn reads(self, reads: Reads) -> ClassifierMeta {
        ClassifierMeta { reads, ..self }
    }

    /// With another number of values.
    #[must_use]
    pub fn cardinality(self, cardinality: Cardinality) -> ClassifierMeta {
        ClassifierMeta { cardinality, ..self }
    }

    /// A [`Cardinality::Hierarchy`] whose parts are joined so where they have one child each.
    #[must_use]
    pub fn joined_by(self, separator: &'static str) -> ClassifierMeta {
        ClassifierMeta { cardinality: Cardinality::Hierarchy, separator: Some(separator), ..self }
    }
}

/// Says what an object is in one respect. Called on many threads at once; the answer follows from the object alone.
pub trait Classifier: Send + Sync {
    /// What it is and what it reads.
    fn meta(&self) -> &ClassifierMeta;

    /// Writes down the values of an object; none leaves the object out.
    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues);
}

/// A classifier made of a function.
pub struct ByFunction<F> {
    meta: ClassifierMeta,
    classify: F,
}

impl<F: Fn(&ObjectView<'_>, &mut ObjectValues) + Send + Sync> ByFunction<F> {
    /// Joins the two.
    pub fn new(meta: ClassifierMeta, classify: F) -> ByFunction<F> {
        ByFunction { meta, classify }
    }
}

impl<F: Fn(&ObjectView<'_>, &mut ObjectValues) + Send + Sync> Classifier for ByFunction<F> {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        (self.classify)(object, values);
    }
}
