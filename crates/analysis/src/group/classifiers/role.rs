//! Classifier by role: head, part or contents of a data structure, or none.

use crate::group::registry::RegistryError;
use crate::group::{Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use crate::structures::find;
use memory_city_heap::error::Result;
use memory_city_heap::structures::{FoundStructures, StructureRole};
use std::sync::Arc;

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("role", "Role")
        .describe(
            "The part that the object plays in data structures: a head is the object that a program holds, a part is of \
             the structure itself, a leaf is its contents. Of several roles, the first of these",
            "Part",
        )
        .reads(Reads::TYPE | Reads::REFERENCES | Reads::ID);
    registry.add_with_options(meta.clone(), &[], move |_| {
        Ok(Arc::new(RoleInStructures { meta: meta.clone(), found: None }))
    })
}

struct RoleInStructures {
    meta: ClassifierMeta,
    /// The structures of the prepared heap state.
    found: Option<FoundStructures>,
}

impl RoleInStructures {
    fn of(&self, object: &ObjectView<'_>) -> Option<StructureRole> {
        Some(self.found.as_ref()?.role_of(object.id()?))
    }
}

impl Classifier for RoleInStructures {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        values.one(match self.of(object) {
            Some(StructureRole::Head) => "Head",
            Some(StructureRole::Part) => "Part",
            Some(StructureRole::Leaf) => "Leaf",
            Some(StructureRole::Outside) => "In no structure",
            None => "not known",
        });
    }

    fn numbers(&self) -> bool {
        self.found.is_some()
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        self.of(object).map(|role| role as u64)
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let Some(heap) = run.heap else { return Ok(None) };
        let found = Some(find(heap, run.among, run.progress)?);
        Ok(Some(Arc::new(RoleInStructures { meta: self.meta.clone(), found })))
    }
}
