//! Classifier by strength: kept by plain references, by soft ones alone, by weaker ones alone, or not at all.

use crate::group::registry::RegistryError;
use crate::group::{Classifier, ClassifierMeta, GroupingRun, ObjectValues, ObjectView, Reads, Registry};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Strengths;
use std::sync::Arc;

pub(super) fn register(registry: &mut Registry) -> std::result::Result<(), RegistryError> {
    let meta = ClassifierMeta::new("kept-by", "Kept by")
        .describe(
            "How strong the references are that keep the object alive: the strongest way from a GC root counts, and a way \
             is as strong as its weakest reference. It also counts what nothing keeps",
            "Soft references alone",
        )
        .reads(Reads::REFERENCES | Reads::REFERRERS | Reads::ROOTS | Reads::REACHABLE | Reads::ID);
    registry.add_with_options(meta.clone(), &[], move |_| {
        Ok(Arc::new(KeptByStrength { meta: meta.clone(), strengths: None }))
    })
}

struct KeptByStrength {
    meta: ClassifierMeta,
    /// The strengths of the prepared heap state.
    strengths: Option<Strengths>,
}

impl Classifier for KeptByStrength {
    fn meta(&self) -> &ClassifierMeta {
        &self.meta
    }

    fn classify(&self, object: &ObjectView<'_>, values: &mut ObjectValues) {
        let known = self.strengths.as_ref().zip(object.id());
        values.one(known.map_or("not known", |(strengths, o)| strengths.of(o).title()));
    }

    fn number_of(&self, object: &ObjectView<'_>) -> Option<u64> {
        self.strengths.as_ref().zip(object.id()).map(|(strengths, o)| strengths.of(o) as u64)
    }

    fn prepare(&self, run: &GroupingRun<'_>) -> Result<Option<Arc<dyn Classifier>>> {
        let Some(heap) = run.heap else { return Ok(None) };
        let strengths = Some(Strengths::new(heap, run.progress)?);
        Ok(Some(Arc::new(KeptByStrength { meta: self.meta.clone(), strengths })))
    }
}
