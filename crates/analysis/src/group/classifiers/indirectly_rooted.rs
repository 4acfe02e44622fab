//! Classifier by the GC roots that reach an object, directly or through others: kind, then class and field, or thread and place in the
//! code.

use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::root_sets::{RootChoice, RootSets};
use crate::group::{Cardinality, Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use memory_city_heap::error::Result;
use std::sync::Arc;

const OPTIONS: [OptionInfo; 4] = [
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
    OptionInfo { name: "first", description: "Only the nearest root; of several, the first", example: None },
    OptionInfo { name: "reached", description: "Leaves out what no such root reaches", example: None },
];

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("indirectly-rooted", "Reached from")
        .describe(
            "All GC roots that reach the object, directly or through others, by kind, class and field, thread and \
             method. Paths end at class objects: their static fields are roots of their own",
            "Static field › com.acme.Cache › entries",
        )
        .reads(Reads::ROOTS | Reads::REFERENCES | Reads::ID)
        .cardinality(Cardinality::Hierarchies);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let [kind, variables, first, reached] = ["kind", "variables", "first", "reached"].map(|o| request.has(o));
        let choice = RootChoice { kind, variables, first };
        Ok(Arc::new(IndirectlyRooted { meta: meta.clone(), choice, reached, sets: None }))
    })
}

struct IndirectlyRooted {
    meta: ClassifierMeta,
    choice: RootChoice,
    /// Leaves out the rest.
    reached: bool,
    /// The root sets of the prepared heap state.
    sets: Option<RootSets>,
}

impl Classifier for IndirectlyRooted {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        let sets = self.sets.as_ref().zip(object.id());
        let roots = sets.map_or(&[][..], |(sets, id)| sets.of(id));
        for &root in roots {
            if let Some(sets) = &self.sets {
                values.chain(&sets.chains[root as usize]);
            }
        }
        if roots.is_empty() && !self.reached {
            values.one(if self.choice.variables {
                "Not reached from a variable"
            } else {
                "Not reached from a GC root"
            });
        }
    }

    fn numbers(&self) -> bool {
        self.sets.is_some()
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        self.sets.as_ref().zip(object.id()).map(|(sets, o)| u64::from(sets.number_of(o)))
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let Some(heap) = run.heap else { return Ok(None) };
        let sets = Some(RootSets::new(heap, self.choice, run)?);
        Ok(Some(Arc::new(IndirectlyRooted { meta: self.meta.clone(), sets, ..*self })))
    }
}
