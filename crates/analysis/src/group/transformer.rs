//! Classifiers that are transformers where a list stands in their parentheses.

use super::classifier::{Cardinality, Classifier, ClassifierMeta, GroupingRun, prepared};
use super::object::ObjectView;
use super::reads::Reads;
use super::registry::{Inside, Registry, RegistryError};
use super::transform::{OtherObjects, Transform};
use super::values::ObjectValues;
use memory_city_heap::error::Result;
use std::sync::Arc;

/// A transformer: it gives an object no values, others take its place.
struct Transformer {
    meta: ClassifierMeta,
    transform: Transform,
}

impl Classifier for Transformer {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, _: &ObjectView<'_>, _: &mut ObjectValues) {}

    fn transform(&self) -> Option<&Transform> {
        Some(&self.transform)
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let list = prepared(&self.transform.list, run)?;
        let transform = Transform { list, ..self.transform.clone() };
        Ok(Some(Arc::new(Transformer { meta: self.meta.clone(), transform })))
    }
}

/// Adds a classifier that is a transformer where a list of classifiers stands in its parentheses.
pub(super) fn register(
    registry: &mut Registry,
    meta: ClassifierMeta,
    others: OtherObjects,
    needs: Reads,
    plain: impl Classifier + 'static,
) -> std::result::Result<(), RegistryError> {
    let plain: Arc<dyn Classifier> = Arc::new(plain);
    registry.add_entry(meta.clone(), &[], Inside::List, move |request| {
        if request.list.is_empty() {
            return Ok(Arc::clone(&plain));
        }
        let list = request.list.to_vec();
        let join =
            |text: fn(&ClassifierMeta) -> &str| list.iter().map(|c| text(c.meta())).collect::<Vec<_>>().join(" › ");
        let row = match others {
            OtherObjects::Referred => "Points to",
            OtherObjects::Referring | OtherObjects::Parts => "Pointed from",
        };
        let which = match others {
            OtherObjects::Referred => "the objects they refer to",
            OtherObjects::Referring | OtherObjects::Parts => "the objects that refer to them",
        };
        let meta = ClassifierMeta {
            name: format!("{row} ({})", join(|m| &m.name)).into(),
            description: format!("{which}, by {}", join(|m| &m.name)).into(),
            reads: list.iter().fold(needs, |all, c| all | c.meta().reads),
            cardinality: Cardinality::Transformer,
            ..meta.clone()
        };
        Ok(Arc::new(Transformer { meta, transform: Transform { others, row: row.to_owned(), list } }))
    })
}
