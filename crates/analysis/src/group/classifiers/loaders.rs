//! Classifier by the class loader of the type below its parents: bootstrap, platform, application, plug-in.

use crate::group::registry::RegistryError;
use crate::group::{Cardinality, ClassifierMeta, Reads, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("loaders", "Class loader tree")
        .describe(
            "The class loader that defined the type, below the loaders that it asks first",
            "bootstrap › platform › application",
        )
        .reads(Reads::LOADERS)
        .cardinality(Cardinality::Hierarchy);
    registry.add(meta, |object, values| {
        let mut chain: Vec<&str> = object.loaders().collect();
        chain.push(object.profile().loaders.runtime);
        values.chain(chain.iter().rev());
    })
}
