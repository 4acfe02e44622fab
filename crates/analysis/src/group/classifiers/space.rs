//! Classifier by the kind of heap space.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Reads, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("space", "Space")
        .describe("The kind of heap space the object is in", "Survivor")
        .reads(Reads::SPACE);
    registry.add(meta, |object, values| values.one(object.space().map_or("(unknown)", |s| s.title())))
}
