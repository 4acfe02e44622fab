//! Classifier by the GC roots that hold an object directly: kind, then class and field, or thread and place in the code. An object may have
//! several.

use crate::group::classifier::Numbered;
use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, Cardinality, ClassifierMeta, ObjectView, Reads, Registry};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 3] = [
    OptionInfo {
        name: "kind",
        description: "Only the kinds of roots, without class, field, thread and method",
        example: None,
    },
    OptionInfo {
        name: "variables",
        description: "Only variables: static fields, local variables, JNI locals",
        example: None,
    },
    OptionInfo { name: "direct", description: "Leaves out what no such root holds directly", example: None },
];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("rooted", "GC root")
        .describe(
            "The GC roots that hold the object directly, by kind, class and field, thread and method",
            "Static field › com.acme.Cache › entries",
        )
        .reads(Reads::ROOTS)
        .cardinality(Cardinality::Hierarchies);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let [kind, variables, direct] = ["kind", "variables", "direct"].map(|o| request.has(o));
        let depth = if kind { 1 } else { usize::MAX };
        let rest = if variables { "Not held by a variable directly" } else { "Not held by a GC root directly" };
        let rooted = ByFunction::new(meta.clone(), move |object, values| {
            let mut held = false;
            for root in object.roots().filter(|r| !variables || r.is_variable()) {
                held = true;
                values.chain(root.chain().take(depth));
            }
            if !held && !direct {
                values.one(rest);
            }
        });
        Ok(Arc::new(Numbered::new(rooted, |object: &ObjectView<'_>| object.roots_number())))
    })
}
