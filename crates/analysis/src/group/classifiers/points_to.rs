//! The types of the objects that an object refers to.

use crate::group::registry::RegistryError;
use crate::group::{Cardinality, ClassifierMeta, Reads, Registry, type_names};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("points-to", "Points to")
        .describe("The types of the objects it refers to; an object may refer to several", "java.lang.String")
        .reads(Reads::REFERENCES | Reads::TYPE)
        .cardinality(Cardinality::Many);
    registry.add(meta, |object, values| match type_names(object.references()) {
        types if types.is_empty() => values.one("Points to nothing"),
        types => types.into_iter().for_each(|t| values.one(t)),
    })
}
