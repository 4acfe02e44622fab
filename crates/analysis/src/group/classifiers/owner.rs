//! Classifier by owner: the path of owners from the GC root to the object, by names.

use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use crate::ownership::OwnerTree;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 1] = [OptionInfo {
    name: "soft-as-weak",
    description: "Soft references do not keep what they refer to, as if memory were short",
    example: None,
}];

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("owner", "Owner")
        .describe(
            "What alone keeps the object alive, and what keeps that, up to a static field or a thread: each merged by \
             type, the insides of collections counted with them",
            "class com.acme.Cache › static entries › java.util.HashMap › com.acme.Entry",
        )
        .reads(Reads::REFERENCES | Reads::REFERRERS | Reads::ROOTS | Reads::ID)
        .with_own_groups();
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let rules = if request.has("soft-as-weak") { KeepRules::SOFT_AS_WEAK } else { KeepRules::default() };
        Ok(Arc::new(Owner { meta: meta.clone(), rules, tree: None }))
    })
}

struct Owner {
    meta: ClassifierMeta,
    rules: KeepRules,
    /// The owners of the prepared heap state.
    tree: Option<OwnerTree>,
}

impl Classifier for Owner {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        match self.tree.as_ref().zip(object.id()).map(|(tree, o)| (tree, tree.of(o))) {
            Some((tree, node @ 1..)) => values.chain(tree.path(node)),
            _ => values.one("kept by weak references at most"),
        }
    }

    fn numbers(&self) -> bool {
        self.tree.is_some()
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        self.tree.as_ref().zip(object.id()).map(|(tree, o)| u64::from(tree.of(o)))
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let Some(heap) = run.heap else { return Ok(None) };
        let rules = self.rules.for_owners();
        let dominators = Dominators::new(heap, rules, run.progress)?;
        let tree = Some(OwnerTree::new(heap, &dominators, run.progress)?);
        Ok(Some(Arc::new(Owner { meta: self.meta.clone(), tree, ..*self })))
    }
}
