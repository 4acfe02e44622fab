//! The types of the objects that refer to an object.

use crate::group::registry::RegistryError;
use crate::group::{Cardinality, ClassifierMeta, Reads, Registry, type_names};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("pointed-from", "Pointed from")
        .describe("The types of the objects that refer to it; several may", "java.util.ArrayList")
        .reads(Reads::REFERRERS | Reads::TYPE)
        .cardinality(Cardinality::Many);
    registry.add(meta, |object, values| match type_names(object.referrers()) {
        types if types.is_empty() => values.one("Pointed from nothing"),
        types => types.into_iter().for_each(|t| values.one(t)),
    })
}
