//! Classifier by the closest domain call site: the place in the program's own code that led to the allocation, even if a library allocated.

use crate::group::domain::{DomainPackages, LIBRARIES_ONLY, class_of_frame};
use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, Cardinality, ClassifierMeta, Reads, Registry};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 2] = [
    OptionInfo {
        name: "packages",
        description: "The program's own packages, joined by +; otherwise those that were set or guessed",
        example: Some("com.acme+org.x"),
    },
    OptionInfo {
        name: "callers",
        description: "Below it its callers; frames of libraries between them are folded into one",
        example: None,
    },
];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("domain-site", "Closest domain call site")
        .describe(
            "The method of the program itself, not of a library, that is nearest to the allocation",
            "com.acme.shop.Cart.add(Item):12",
        )
        .reads(Reads::SITE);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let packages = match request.value("packages") {
            Some(text) => Arc::new(DomainPackages::parse(text)?),
            None => Arc::clone(request.domain),
        };
        let callers = request.has("callers");
        let meta = if callers { meta.clone().joined_by(" ‹ ") } else { meta.clone().cardinality(Cardinality::One) };
        Ok(Arc::new(ByFunction::new(meta, move |object, values| {
            let frames = object.site();
            let own = |frame: &Arc<str>| packages.covers(object.profile(), class_of_frame(frame));
            let Some(first) = frames.iter().position(own) else {
                return values.one(if frames.is_empty() { object.no_site() } else { LIBRARIES_ONLY });
            };
            if !callers {
                return values.one(&frames[first]);
            }
            let mut chain: Vec<String> = Vec::new();
            let mut folded = 0;
            for frame in &frames[first..] {
                if own(frame) {
                    if folded > 0 {
                        chain.push(fold(folded));
                        folded = 0;
                    }
                    chain.push(frame.to_string());
                } else {
                    folded += 1;
                }
            }
            if folded > 0 {
                chain.push(fold(folded));
            }
            values.chain(chain);
        })))
    })
}

fn fold(frames: usize) -> String {
    if frames == 1 { "(1 library frame)".to_owned() } else { format!("({frames} library frames)") }
}
