//! Classifier by origin of the class: the program's own, or a library's.

use crate::group::registry::RegistryError;
use crate::group::{ByFunction, Cardinality, ClassifierMeta, Registry};
use std::sync::Arc;

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("domain", "Own class")
        .describe("Whether the class is in a package of the program itself, as they were set or guessed", "Yes")
        .cardinality(Cardinality::Filter);
    registry.add_with_options(meta.clone(), &[], move |request| {
        let packages = Arc::clone(request.domain);
        Ok(Arc::new(ByFunction::new(meta.clone(), move |object, values| {
            values.truth(packages.covers(object.profile(), object.type_name()));
        })))
    })
}
