//! Classifier by the outermost data structure that alone keeps an object alive, by type.

use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use crate::structures::find;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 1] = [OptionInfo {
    name: "heads",
    description: "Only the heads of structures that no other structure owns, and nothing else",
    example: None,
}];

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("structure", "Structure")
        .describe(
            "The outermost data structure that alone keeps the object alive, by the type of its head; a head that no other \
             structure owns counts with its own",
            "com.acme.Index",
        )
        .reads(Reads::TYPE | Reads::REFERENCES | Reads::REFERRERS | Reads::ROOTS | Reads::ID);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let only_heads = request.has("heads");
        Ok(Arc::new(OutermostStructure { meta: meta.clone(), only_heads, of: Vec::new(), types: Vec::new() }))
    })
}

struct OutermostStructure {
    meta: ClassifierMeta,
    only_heads: bool,
    /// By object of the prepared heap state: the number of a type and 1, 0 for no structure, [`NOT_A_HEAD`].
    of: Vec<u32>,
    types: Vec<Arc<str>>,
}

const NOT_A_HEAD: u32 = u32::MAX;

impl OutermostStructure {
    fn of(&self, object: &ObjectView<'_>) -> Option<u32> {
        self.of.get(object.id()?.0 as usize).copied()
    }
}

impl Classifier for OutermostStructure {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        match self.of(object) {
            None => values.one("not known"),
            Some(0) => values.one("In no structure"),
            Some(NOT_A_HEAD) => (),
            Some(of) => values.one(&self.types[of as usize - 1]),
        }
    }

    fn numbers(&self) -> bool {
        !self.of.is_empty()
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        self.of(object).map(u64::from)
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let Some(heap) = run.heap else { return Ok(None) };
        let found = find(heap, run.among, run.progress)?;
        let dominators = Dominators::new(heap, KeepRules::default(), run.progress)?;
        let mut of = found.outermost(&dominators);
        drop(dominators);
        for (o, number) in heap.objects().zip(&mut of) {
            let head = number.checked_sub(1).map(|at| found.heads()[at as usize]);
            *number = match head {
                _ if self.only_heads && head != Some(o) => NOT_A_HEAD,
                None => 0,
                Some(head) => heap.type_of(head).0 + 1,
            };
        }
        let types = heap.types().iter().map(|of| Arc::from(&*of.name)).collect();
        Ok(Some(Arc::new(OutermostStructure { meta: self.meta.clone(), only_heads: self.only_heads, of, types })))
    }
}
