//! Whether any GC root reaches the object: what is no garbage.

use crate::group::registry::RegistryError;
use crate::group::{Cardinality, ClassifierMeta, Reads, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("reachable", "Reachable")
        .describe(
            "Whether any GC root reaches the object, by references of whatever strength, as the VM's own histogram counts; \
             it also counts those that none reaches. `kept-by` tells apart what soft or weaker references alone keep",
            "No",
        )
        .reads(Reads::REACHABLE)
        .cardinality(Cardinality::Filter);
    registry.add(meta, |object, values| values.truth(object.is_reachable().unwrap_or(true)))
}
