//! Classifier by the types of the objects that an object refers to; with a list, those objects in its place.

use crate::group::classifier::Numbered;
use crate::group::registry::RegistryError;
use crate::group::{
    ByFunction, Cardinality, ClassifierMeta, OtherObjects, Reads, Registry, few_types, transformer, type_names,
};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("points-to", "Points to")
        .describe("The types of the objects it refers to, of which there may be several; with a list of classifiers in parentheses, \
             those objects, each once, in a row of their own", "com.acme.Item")
        .reads(Reads::REFERENCES | Reads::TYPE)
        .cardinality(Cardinality::Many);
    let plain = ByFunction::new(meta.clone(), |object, values| match type_names(object.references()) {
        types if types.is_empty() => values.one("Points to nothing"),
        types => types.into_iter().for_each(|t| values.one(t)),
    });
    let plain = Numbered::new(plain, |object| few_types(object.references()));
    transformer::register(registry, meta, OtherObjects::Referred, Reads::REFERENCES, plain)
}
