//! Metrics of closures: the reached and retained amounts of groups, and which of them one walk finds together.

use super::metric::MetricInfo;
use crate::tabular::Unit;
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{GroupAmounts, KeepRules};

/// A metric of a group's closures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClosureMetric {
    /// Bytes that would be freed if the whole group were.
    Retained,
    /// The objects of these.
    RetainedObjects,
    /// Bytes of all that the group reaches.
    Deep,
    /// The objects of these.
    DeepObjects,
    /// Objects of other groups that refer to the group, whether or not their references keep it. Those of an inner node are the
    /// sums over its leaves.
    Referrers,
    /// Mean number of garbage collections that the objects of the group have survived, over those with a known age; 0 without any.
    Age,
    /// Elements of the group's data structures, as far as known. A map that a set of the group is made of adds none; grouped by structure,
    /// nor does what another structure keeps. Those of an inner node are the sums over its leaves.
    Elements,
}

impl ClosureMetric {
    /// All of them.
    pub const ALL: [ClosureMetric; 7] = [
        ClosureMetric::Retained,
        ClosureMetric::RetainedObjects,
        ClosureMetric::Deep,
        ClosureMetric::DeepObjects,
        ClosureMetric::Referrers,
        ClosureMetric::Age,
        ClosureMetric::Elements,
    ];
    /// The metrics of deep and retained amounts.
    pub const CLOSURES: [ClosureMetric; 4] =
        [ClosureMetric::Retained, ClosureMetric::RetainedObjects, ClosureMetric::Deep, ClosureMetric::DeepObjects];

    /// How it is described, and found among the metrics of a timeline.
    pub fn info(self) -> MetricInfo {
        match self {
            ClosureMetric::Retained => MetricInfo::new("retained", "Retained bytes", Unit::Bytes),
            ClosureMetric::RetainedObjects => MetricInfo::new("retained-objects", "Retained objects", Unit::Objects),
            ClosureMetric::Deep => MetricInfo::new("deep", "Deep bytes", Unit::Bytes),
            ClosureMetric::DeepObjects => MetricInfo::new("deep-objects", "Deep objects", Unit::Objects),
            ClosureMetric::Referrers => MetricInfo::new("referrers", "Referring objects", Unit::Objects),
            ClosureMetric::Age => MetricInfo::new("age", "Mean age", Unit::Count),
            ClosureMetric::Elements => MetricInfo::new("elements", "Elements", Unit::Count),
        }
    }

    /// Its meaning for people, after a colon.
    pub fn meaning(self) -> &'static str {
        match self {
            ClosureMetric::Retained | ClosureMetric::RetainedObjects => "what would be freed if the whole group were",
            ClosureMetric::Deep | ClosureMetric::DeepObjects => "all that the group reaches",
            ClosureMetric::Referrers => "objects of other groups that refer to it",
            ClosureMetric::Age => "collections that its objects have survived, on average",
            ClosureMetric::Elements => "elements of its maps, lists and other data structures",
        }
    }

    /// The metric of an id.
    ///
    /// # Errors
    /// When there is none; says which there are.
    pub fn of(id: &str) -> Result<ClosureMetric> {
        Self::ALL.into_iter().find(|metric| &*metric.info().id == id).ok_or_else(|| Error::Unusable {
            what: format!("There is no metric {id} of what groups reach or retain"),
            remedy: format!("Use one of: {}", Self::ALL.map(|metric| metric.info().id.to_string()).join(", ")),
        })
    }

    /// True for the metrics of deep amounts.
    pub fn is_deep(self) -> bool {
        matches!(self, ClosureMetric::Deep | ClosureMetric::DeepObjects)
    }

    /// The value among a group's closures; 0 for metrics found in another way: referrers, ages, elements.
    pub fn value(self, amounts: &GroupAmounts) -> u64 {
        match self {
            ClosureMetric::Retained => amounts.retained.bytes,
            ClosureMetric::RetainedObjects => amounts.retained.objects,
            ClosureMetric::Deep => amounts.deep.bytes,
            ClosureMetric::DeepObjects => amounts.deep.objects,
            ClosureMetric::Referrers | ClosureMetric::Age | ClosureMetric::Elements => 0,
        }
    }
}

/// A request for closures of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClosureRequest {
    /// The rules for references.
    pub rules: KeepRules,
    /// Deep amounts too, not only retained ones: they are zero otherwise.
    pub deep: bool,
}

impl ClosureRequest {
    /// The request for some metrics.
    pub fn of(metrics: &[ClosureMetric], rules: KeepRules) -> ClosureRequest {
        ClosureRequest { rules, deep: metrics.iter().any(|metric| metric.is_deep()) }
    }
}
