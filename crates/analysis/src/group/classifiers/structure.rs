//! Classifier by the outermost data structure that alone keeps an object alive, by type.

use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use crate::ownership::{OwnerPlaces, OwnerTree};
use crate::structures::find;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 2] = [
    OptionInfo {
        name: "heads",
        description: "Only the heads of structures that no other structure owns, and nothing else",
        example: None,
    },
    OptionInfo {
        name: "place",
        description: "The structure by its place instead: the path of its owners, from the GC root down",
        example: None,
    },
];

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("structure", "Structure")
        .describe(
            "The outermost data structure that alone keeps the object alive, by the type of its head; a head that no other \
             structure owns counts with its own",
            "com.acme.Index",
        )
        .reads(Reads::TYPE | Reads::REFERENCES | Reads::REFERRERS | Reads::ROOTS | Reads::ID);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let (only_heads, names) = (request.has("heads"), StructureNames::Types(Vec::new()));
        Ok(Arc::new(OutermostStructure {
            meta: if request.has("place") { meta.clone().with_own_groups() } else { meta.clone() },
            only_heads,
            by_place: request.has("place"),
            of: Vec::new(),
            names,
        }))
    })
}

struct OutermostStructure {
    meta: ClassifierMeta,
    only_heads: bool,
    by_place: bool,
    /// By object of the prepared heap state: the number of a name and 1, 0 for no structure, [`NOT_A_HEAD`].
    of: Vec<u32>,
    names: StructureNames,
}

/// The names of structures: types of heads, or places in the tree of owners.
enum StructureNames {
    Types(Vec<Arc<str>>),
    Places(OwnerPlaces),
}

const NOT_A_HEAD: u32 = u32::MAX;
/// Its structure has no place: weak references alone lead to it.
const WEAKLY_HELD: u32 = u32::MAX - 1;

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
            Some(WEAKLY_HELD) => values.one("kept by weak references at most"),
            Some(of) => match &self.names {
                StructureNames::Types(types) => values.one(&types[of as usize - 1]),
                StructureNames::Places(places) => values.chain(places.path(of - 1)),
            },
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
        let rules = KeepRules::default();
        let rules = if self.by_place { rules.for_owners() } else { rules };
        let dominators = Dominators::new(heap, rules, run.progress)?;
        let mut of = found.outermost(&dominators);
        let places = match self.by_place {
            true => Some(OwnerTree::new(heap, &dominators, run.progress)?),
            false => None,
        };
        drop(dominators);
        for (o, number) in heap.objects().zip(&mut of) {
            let head = number.checked_sub(1).map(|at| found.heads()[at as usize]);
            *number = match head {
                _ if self.only_heads && head != Some(o) => NOT_A_HEAD,
                None => 0,
                Some(head) => match places.as_ref().map(|places| places.of(head)) {
                    None => heap.type_of(head).0 + 1,
                    Some(0) => WEAKLY_HELD,
                    Some(place) => place + 1,
                },
            };
        }
        let names = match places {
            Some(places) => StructureNames::Places(places.into_places()),
            None => StructureNames::Types(heap.types().iter().map(|of| Arc::from(&*of.name)).collect()),
        };
        Ok(Some(Arc::new(OutermostStructure { meta: self.meta.clone(), of, names, ..*self })))
    }
}
