//! Classifier by the class loader of the type.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("loader", "Class loader")
        .describe("The class loader that defined the type", "com.acme.PluginLoader");
    registry.add(meta, |object, values| values.one(object.heap_type().map_or("", |t| &t.loader)))
}
