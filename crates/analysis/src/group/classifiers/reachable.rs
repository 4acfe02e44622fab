//! Classifier by reachability from GC roots: live objects and garbage.

use crate::group::classifier::Numbered;
use crate::group::registry::RegistryError;
use crate::group::{ByFunction, Cardinality, ClassifierMeta, ObjectView, Reads, Registry};
use std::sync::Arc;

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("reachable", "Reachable")
        .describe(
            "Whether any GC root reaches the object, by references of whatever strength, as the VM's own histogram counts; \
             it also counts those that none reaches. `kept-by` tells apart what soft or weaker references alone keep",
            "No",
        )
        .reads(Reads::REACHABLE)
        .cardinality(Cardinality::Filter);
    registry.add_with_options(meta.clone(), &[], move |_| {
        let is_reachable = |object: &ObjectView<'_>| object.is_reachable().unwrap_or(true);
        let reachable = ByFunction::new(meta.clone(), move |object, values| values.truth(is_reachable(object)));
        Ok(Arc::new(Numbered::new(reachable, move |object| Some(is_reachable(object).into()))))
    })
}
