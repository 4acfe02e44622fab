//! Classifier by allocation site: the allocating method, below it its caller, and so on.

use crate::group::registry::{ClassifierRequest, OptionInfo, RegistryError};
use crate::group::{ByFunction, ClassifierMeta, Reads, Registry};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 1] = [OptionInfo {
    name: "depth",
    description: "At most so many frames, the allocating method first",
    example: Some("1"),
}];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("site", "Allocation site")
        .describe(
            "The method and bytecode index that allocated the object, then their callers",
            "com.acme.Cart.add(Item):12",
        )
        .reads(Reads::SITE)
        .joined_by(" ‹ ");
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let depth = depth(request)?;
        Ok(Arc::new(ByFunction::new(meta.clone(), move |object, values| match object.site() {
            [] => values.one(object.no_site()),
            frames => values.chain(frames.iter().take(depth)),
        })))
    })
}

/// The option `depth`.
pub(super) fn depth(request: &ClassifierRequest<'_>) -> Result<usize, String> {
    match request.value("depth").map(str::parse) {
        None => Ok(usize::MAX),
        Some(Ok(depth @ 1..)) => Ok(depth),
        Some(_) => Err("the depth is a number of frames, 1 or more".to_owned()),
    }
}
