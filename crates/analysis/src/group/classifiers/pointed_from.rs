//! Classifier by the types of the objects that refer to an object; with a list, those objects in its place.

use crate::group::classifier::Numbered;
use crate::group::registry::RegistryError;
use crate::group::{
    ByFunction, Cardinality, ClassifierMeta, OtherObjects, Reads, Registry, few_types, transformer, type_names,
};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("pointed-from", "Pointed from")
        .describe(
            "The types of the objects that refer to it, of which there may be several; with a list of classifiers in \
             parentheses, those objects, each once, in a row of their own",
            "com.acme.Cart",
        )
        .reads(Reads::REFERRERS | Reads::TYPE)
        .cardinality(Cardinality::Many);
    let plain = ByFunction::new(meta.clone(), |object, values| match type_names(object.referrers()) {
        types if types.is_empty() => values.one("Pointed from nothing"),
        types => types.into_iter().for_each(|t| values.one(t)),
    });
    let plain = Numbered::new(plain, |object| few_types(object.referrers()));
    transformer::register(registry, meta, OtherObjects::Referring, Reads::REFERRERS, plain)
}
