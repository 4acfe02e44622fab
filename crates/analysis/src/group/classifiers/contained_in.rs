//! Classifier by the data structure that an object is a part or contents of, by type.

use crate::group::registry::RegistryError;
use crate::group::{Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use crate::structures::find;
use memory_city_heap::error::Result;
use memory_city_heap::structures::HeldBy;
use std::sync::Arc;

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("contained-in", "Contained in")
        .describe(
            "The data structure that has the object as a part or as contents, by the type of its head; several where more \
             than one has it",
            "com.acme.Index",
        )
        .reads(Reads::TYPE | Reads::REFERENCES | Reads::ID);
    registry.add_with_options(meta.clone(), &[], move |_| {
        Ok(Arc::new(ContainedIn { meta: meta.clone(), holders: Vec::new(), types: Vec::new() }))
    })
}

struct ContainedIn {
    meta: ClassifierMeta,
    /// By object of the prepared heap state: 0 for no structure, 1 for several, the number of a type and 2.
    holders: Vec<u32>,
    types: Vec<Arc<str>>,
}

impl ContainedIn {
    fn of(&self, object: &ObjectView<'_>) -> Option<u32> {
        self.holders.get(object.id()?.0 as usize).copied()
    }
}

impl Classifier for ContainedIn {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        match self.of(object) {
            None => values.one("not known"),
            Some(0) => values.one("In no structure"),
            Some(1) => values.one("In several structures"),
            Some(of) => values.one(&self.types[of as usize - 2]),
        }
    }

    fn numbers(&self) -> bool {
        !self.holders.is_empty()
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        self.of(object).map(u64::from)
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let Some(heap) = run.heap else { return Ok(None) };
        let found = find(heap, run.among, run.progress)?;
        let number = |o| match found.holders_of(o) {
            HeldBy::Nothing => 0,
            HeldBy::Several => 1,
            HeldBy::One(at) => heap.type_of(found.heads()[at as usize]).0 + 2,
        };
        let holders = heap.objects().map(number).collect();
        let types = heap.types().iter().map(|of| Arc::from(&*of.name)).collect();
        Ok(Some(Arc::new(ContainedIn { meta: self.meta.clone(), holders, types })))
    }
}
