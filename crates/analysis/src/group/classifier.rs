//! The interface of classifiers, which assign objects to groups.

use super::object::ObjectView;
use super::reads::Reads;
use super::transform::Transform;
use super::values::ObjectValues;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState};
use std::borrow::Cow;
use std::sync::Arc;

/// How many values an object has, and how they relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One value: its type.
    One,
    /// Any number of values: the object is counted under each, but once in their common groups.
    Many,
    /// A list from the general to the particular: its package, part by part.
    Hierarchy,
    /// Any number of such lists: the roots that hold it, each with its kind, thread and method.
    Hierarchies,
    /// Yes or no: a filter. As a classifier it has these two values.
    Filter,
    /// Other objects instead of the one at hand, which are classified in turn.
    Transformer,
}

impl Cardinality {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Cardinality::One => "one value",
            Cardinality::Many => "several values",
            Cardinality::Hierarchy => "a hierarchy",
            Cardinality::Hierarchies => "several hierarchies",
            Cardinality::Filter => "yes or no",
            Cardinality::Transformer => "other objects",
        }
    }
}

/// The description of a classifier.
#[derive(Clone, Debug)]
pub struct ClassifierMeta {
    /// Unique short name, for command lines and files: letters, digits, `-` and `_`.
    pub id: Cow<'static, str>,
    /// Name for people; the role of the nodes it makes.
    pub name: Cow<'static, str>,
    /// A line about it.
    pub description: Cow<'static, str>,
    /// A value it gives.
    pub example: Cow<'static, str>,
    /// See [`Cardinality`].
    pub cardinality: Cardinality,
    /// All facts about objects that its result depends on.
    pub reads: Reads,
    /// The separator of parts when a chain of single children is drawn as one district; `None` if they are never joined, because objects
    /// belong to the parts in the middle too.
    pub separator: Option<&'static str>,
    /// True if objects whose chain ends inside the chains of others get a group of their own there, unless another classifier follows.
    /// Beside the longer chains, that group is a building.
    pub own_groups: bool,
}

impl ClassifierMeta {
    /// A classifier of one value that reads the type; the functions below change that.
    pub fn new(id: impl Into<Cow<'static, str>>, name: impl Into<Cow<'static, str>>) -> ClassifierMeta {
        ClassifierMeta {
            id: id.into(),
            name: name.into(),
            description: Cow::Borrowed(""),
            example: Cow::Borrowed(""),
            cardinality: Cardinality::One,
            reads: Reads::TYPE,
            separator: None,
            own_groups: false,
        }
    }

    /// Sets the line about it, and an example of a value.
    #[must_use]
    pub fn describe(
        self,
        about: impl Into<Cow<'static, str>>,
        example: impl Into<Cow<'static, str>>,
    ) -> ClassifierMeta {
        ClassifierMeta { description: about.into(), example: example.into(), ..self }
    }

    /// Sets the facts that it reads.
    #[must_use]
    pub fn reads(self, reads: Reads) -> ClassifierMeta {
        ClassifierMeta { reads, ..self }
    }

    /// Sets the number of values.
    #[must_use]
    pub fn cardinality(self, cardinality: Cardinality) -> ClassifierMeta {
        ClassifierMeta { cardinality, ..self }
    }

    /// A [`Cardinality::Hierarchy`] with groups of their own for chains that end inside the chains of others.
    #[must_use]
    pub fn with_own_groups(self) -> ClassifierMeta {
        ClassifierMeta { cardinality: Cardinality::Hierarchy, own_groups: true, ..self }
    }

    /// A [`Cardinality::Hierarchy`] whose parts are joined so where they have one child each.
    #[must_use]
    pub fn joined_by(self, separator: &'static str) -> ClassifierMeta {
        ClassifierMeta { cardinality: Cardinality::Hierarchy, separator: Some(separator), ..self }
    }
}

/// Assigns an object to groups by one fact. Called on many threads at once; the answer depends only on the object.
pub trait Classifier: Send + Sync {
    /// Its description, and the facts it reads.
    fn meta(&self) -> &ClassifierMeta;

    /// Writes down the values of an object; none leaves the object out.
    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues);

    /// Called before a heap state (or, without one, a recording) is grouped. Returns a classifier with results computed once for all
    /// objects, or with limits counted for this run. `None`: no such classifier is needed.
    ///
    /// # Errors
    /// When that cannot be worked out, or the work was cancelled.
    fn prepare(&self, _: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        Ok(None)
    }

    /// Whether, once [prepared](Classifier::prepare), it knows [numbers](Classifier::number_of) of objects.
    fn numbers(&self) -> bool {
        false
    }

    /// A number of an object from which its values follow, in less time than they take: objects of equal numbers are then
    /// classified once. `None`: this one is to be classified by itself. The object is seen as by
    /// [`Classifier::classify`].
    fn number_of(&self, _: &ObjectView<'_>) -> Option<u64> {
        None
    }

    /// The error of a classification, if any; the grouping then ends with it.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Whether it only leaves objects out, and makes no groups.
    fn passes(&self) -> bool {
        false
    }

    /// The objects it puts in place of the one at hand, where it is a transformer.
    fn transform(&self) -> Option<&Transform> {
        None
    }
}

/// The input of a grouping.
pub struct GroupingRun<'a> {
    /// The heap state; `None` where the changes of a recording are followed.
    pub heap: Option<&'a HeapState>,
    /// The objects that take part; `None`: all.
    pub among: Option<&'a BitSet>,
    /// Progress and cancelling.
    pub progress: &'a Progress,
}

/// The same classifiers, ready for a run.
pub(super) fn prepared(list: &[Arc<dyn Classifier>], run: &GroupingRun<'_>) -> Result<Vec<Arc<dyn Classifier>>> {
    list.iter().map(|c| Ok(c.prepare(run)?.unwrap_or_else(|| Arc::clone(c)))).collect()
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

/// A classifier that numbers objects by a function.
pub(super) struct Numbered<C, N> {
    classifier: C,
    number: N,
}

impl<C: Classifier, N: Fn(&ObjectView<'_>) -> Option<u64> + Send + Sync> Numbered<C, N> {
    /// `number`: see [`Classifier::number_of`].
    pub fn new(classifier: C, number: N) -> Numbered<C, N> {
        Numbered { classifier, number }
    }
}

impl<C: Classifier, N: Fn(&ObjectView<'_>) -> Option<u64> + Send + Sync> Classifier for Numbered<C, N> {
    fn meta(&self) -> &ClassifierMeta {
        self.classifier.meta()
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        self.classifier.classify(object, values);
    }

    fn numbers(&self) -> bool {
        true
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        (self.number)(object)
    }
}
