//! Classifier by the number of references to an object.

use super::array_length::doubling;
use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, ClassifierMeta, Reads, Registry};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 1] =
    [OptionInfo { name: "exact", description: "A group for every number there is", example: None }];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("referrers", "Incoming references")
        .describe(
            "How many references of other objects lead to it, in classes that double: 0, 1, 2 to 3, 4 to 7",
            "Referred to 2 to 3 times",
        )
        .reads(Reads::REFERRERS);
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let meta = meta.clone();
        if request.has("exact") {
            return Ok(Arc::new(ByFunction::new(meta, |object, values| {
                values.one(&times(&object.referrers().count().to_string()));
            })));
        }
        let classes: Vec<String> = (0..=32).map(|bits| times(&doubling(bits))).collect();
        Ok(Arc::new(ByFunction::new(meta, move |object, values| {
            let count = u32::try_from(object.referrers().count()).unwrap_or(u32::MAX);
            values.one(&classes[(u32::BITS - count.leading_zeros()) as usize]);
        })))
    })
}

fn times(count: &str) -> String {
    match count {
        "0" => "Not referred to".to_owned(),
        "1" => "Referred to once".to_owned(),
        count => format!("Referred to {count} times"),
    }
}
