//! Filters: conditions on objects. Objects that fail them reach no group.
//!
//! A condition asks for a number of an object (`size > 1MB`), for a value of any classifier (`package = com.acme`,
//! `site ~ cart`), or for a filter, which is true or false (`reachable`).

use super::classifier::{Cardinality, Classifier, ClassifierMeta, GroupingRun};
use super::object::ObjectView;
use super::reads::Reads;
use super::registry::{Inside, Registry, RegistryError};
use super::values::ObjectValues;
use crate::grammar::{FilterComparison, Operator};
use memory_city_heap::error::{Error, Result};
use std::sync::Arc;

/// A condition, for messages.
pub(super) const EXAMPLE: &str = "package = com.acme and size > 1kB";

/// A number of an object that can be compared.
pub(super) struct AskedNumber {
    pub name: &'static str,
    pub description: &'static str,
    pub reads: Reads,
    of: fn(&ObjectView<'_>) -> Option<u64>,
}

pub(super) const NUMBERS: [AskedNumber; 5] = [
    AskedNumber { name: "size", description: "Shallow bytes", reads: Reads::SIZE, of: |o| o.size() },
    AskedNumber {
        name: "length",
        description: "Elements of an array; of nothing else",
        reads: Reads::LENGTH,
        of: |o| o.length().map(u64::from),
    },
    AskedNumber {
        name: "age",
        description: "Garbage collections survived",
        reads: Reads::AGE,
        of: |o| o.age().map(u64::from),
    },
    AskedNumber {
        name: "references",
        description: "References it holds that are not null",
        reads: Reads::REFERENCES,
        of: |o| Some(o.references().count() as u64),
    },
    AskedNumber {
        name: "referrers",
        description: "References to it",
        reads: Reads::REFERRERS,
        of: |o| Some(o.referrers().count() as u64),
    },
];

/// The numbers of objects that a filter can compare: name, description.
pub fn filter_numbers() -> impl Iterator<Item = (&'static str, &'static str)> {
    NUMBERS.iter().map(|number| (number.name, number.description))
}

/// A condition on an object.
#[derive(Clone)]
pub(super) struct FilterCondition {
    not: bool,
    asks: Asks,
}

#[derive(Clone)]
enum Asks {
    Number { of: fn(&ObjectView<'_>) -> Option<u64>, reads: Reads, comparison: FilterComparison, than: f64 },
    Value { of: Arc<dyn Classifier>, contains: bool, value: String },
    Holds(Arc<dyn Classifier>),
}

impl std::fmt::Debug for FilterCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilterCondition").field("not", &self.not).finish_non_exhaustive()
    }
}

impl FilterCondition {
    pub fn number(not: bool, asked: &AskedNumber, comparison: FilterComparison, than: f64) -> FilterCondition {
        FilterCondition { not, asks: Asks::Number { of: asked.of, reads: asked.reads, comparison, than } }
    }

    pub fn value(not: bool, of: Arc<dyn Classifier>, operator: Operator, value: &str) -> FilterCondition {
        let contains = !matches!(operator, Operator::Compare(_));
        let differs = matches!(operator, Operator::ContainsNot | Operator::Compare(FilterComparison::Unequal));
        let value = if contains { value.to_lowercase() } else { value.to_owned() };
        FilterCondition { not: not != differs, asks: Asks::Value { of, contains, value } }
    }

    pub fn holds(not: bool, of: Arc<dyn Classifier>) -> FilterCondition {
        FilterCondition { not, asks: Asks::Holds(of) }
    }

    fn classifier(&self) -> Option<&Arc<dyn Classifier>> {
        match &self.asks {
            Asks::Number { .. } => None,
            Asks::Value { of, .. } | Asks::Holds(of) => Some(of),
        }
    }

    fn reads(&self) -> Reads {
        match &self.asks {
            Asks::Number { reads, .. } => *reads,
            Asks::Value { of, .. } | Asks::Holds(of) => of.meta().reads,
        }
    }

    fn is_met(&self, object: &ObjectView<'_>, values: &mut ObjectValues) -> bool {
        values.clear();
        let met = match &self.asks {
            Asks::Number { of, reads, comparison, than } => {
                of(&object.for_reader(*reads)).is_some_and(|number| comparison.holds(number as f64, *than))
            }
            Asks::Holds(of) => {
                of.classify(&object.for_reader(of.meta().reads), values);
                values.is_true()
            }
            Asks::Value { of, contains, value } => {
                of.classify(&object.for_reader(of.meta().reads), values);
                let separator = of.meta().separator.unwrap_or(" › ");
                values.chains().any(|chain| {
                    let mut whole = String::new();
                    for name in chain {
                        whole.push_str(if whole.is_empty() { "" } else { separator });
                        whole.push_str(name);
                        // Any part of a hierarchy, and all down to it.
                        if !contains && (name == value || whole == *value) {
                            return true;
                        }
                    }
                    *contains && whole.to_lowercase().contains(value.as_str())
                })
            }
        };
        met != self.not
    }
}

/// Lets objects through that meet all conditions.
struct ObjectFilter {
    meta: ClassifierMeta,
    conditions: Vec<FilterCondition>,
}

impl Classifier for ObjectFilter {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        let mut answers = ObjectValues::default();
        if self.conditions.iter().all(|condition| condition.is_met(object, &mut answers)) {
            values.pass();
        }
    }

    // Whether the conditions are met takes as long as anything else to tell; but nothing has to be done with the answer.
    fn numbers(&self) -> bool {
        self.conditions.iter().all(|condition| matches!(condition.asks, Asks::Number { .. }))
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        let mut answers = ObjectValues::default();
        Some(self.conditions.iter().all(|condition| condition.is_met(object, &mut answers)).into())
    }

    fn passes(&self) -> bool {
        true
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let mut conditions = self.conditions.clone();
        for condition in &mut conditions {
            if let Asks::Value { of, .. } | Asks::Holds(of) = &mut condition.asks
                && let Some(ready) = of.prepare(run)?
            {
                *of = ready;
            }
        }
        Ok(Some(Arc::new(ObjectFilter { meta: self.meta.clone(), conditions })))
    }

    fn failure(&self) -> Option<Error> {
        self.conditions.iter().filter_map(FilterCondition::classifier).find_map(|c| c.failure())
    }
}

/// Adds `filter`.
pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("filter", "Filter")
        .describe("Leaves out all objects but those that meet its conditions; it makes no groups of its own", EXAMPLE)
        .cardinality(Cardinality::Filter);
    registry.add_entry(meta.clone(), &[], Inside::Conditions, move |request| {
        let conditions = request.conditions.to_vec();
        let reads = conditions.iter().fold(Reads::empty(), |all, c| all | c.reads());
        let meta = ClassifierMeta {
            name: format!("Only {}", request.text).into(),
            description: format!("Only objects with {}", request.text).into(),
            reads,
            ..meta.clone()
        };
        Ok(Arc::new(ObjectFilter { meta, conditions }))
    })
}
