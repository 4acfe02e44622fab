//! Classifier by the data structure that an object is a part or contents of, by type.

use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{Cardinality, Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use crate::structures::find;
use memory_city_heap::error::Result;
use memory_city_heap::structures::HeldBy;
use memory_city_heap::{ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("contained-in", "Contained in")
        .describe(
            "The data structure that has the object as a part or as contents, by the type of its head; several where more \
             than one has it",
            "com.acme.Index",
        )
        .reads(READS);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let by_site = request.has("site");
        let meta = meta.clone();
        let meta = if by_site { meta.reads(READS | Reads::SITE).cardinality(Cardinality::Hierarchy) } else { meta };
        Ok(Arc::new(ContainedIn { meta, by_site, holders: Vec::new(), names: Vec::new() }))
    })
}

const READS: Reads = Reads::TYPE.union(Reads::REFERENCES).union(Reads::ID);

const OPTIONS: [OptionInfo; 1] = [OptionInfo {
    name: "site",
    description: "Structures by the place in the code that allocated them, too",
    example: None,
}];

struct ContainedIn {
    meta: ClassifierMeta,
    by_site: bool,
    /// By object of the prepared heap state: 0 for no structure, 1 for several, the number of a name and 2.
    holders: Vec<u32>,
    /// The type of a head, and where it was allocated.
    names: Vec<(Arc<str>, Option<Arc<str>>)>,
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
            Some(of) => match &self.names[of as usize - 2] {
                (name, Some(site)) => values.chain([name, site]),
                (name, None) => values.one(name),
            },
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
        // Heads of a type and a site have one name.
        let mut numbers: FxHashMap<(TypeId, Option<Arc<str>>), u32> = FxHashMap::default();
        let mut names = Vec::new();
        let mut number_of = |head: ObjectId| {
            let site = self
                .by_site
                .then(|| heap.allocation_site(head).first().cloned())
                .map(|site| site.unwrap_or_else(|| "(unknown site)".into()));
            let of = heap.type_of(head);
            *numbers.entry((of, site)).or_insert_with_key(|(_, site)| {
                names.push((Arc::from(&*heap.types()[of.0 as usize].name), site.clone()));
                names.len() as u32 + 1
            })
        };
        let of_head: Vec<u32> = found.heads().iter().map(|&head| number_of(head)).collect();
        let number = |o| match found.holders_of(o) {
            HeldBy::Nothing => 0,
            HeldBy::Several => 1,
            HeldBy::One(at) => of_head[at as usize],
        };
        let holders = heap.objects().map(number).collect();
        Ok(Some(Arc::new(ContainedIn { meta: self.meta.clone(), by_site: self.by_site, holders, names })))
    }
}
