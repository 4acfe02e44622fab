//! Classifier by the allocating subsystem.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Reads, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("subsystem", "Allocating subsystem")
        .describe(
            "What allocated the object: interpreted code, compiled code (C1, C2), or the virtual machine",
            "Interpreter",
        )
        .reads(Reads::SUBSYSTEM);
    registry.add(meta, |object, values| values.one(object.allocator().map_or("(unknown)", |a| a.title())))
}
