//! Classifier by call site: the chain of methods that called the allocating method.

use super::site::depth;
use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, ClassifierMeta, Reads, Registry};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 2] = [
    OptionInfo { name: "depth", description: "At most so many callers", example: Some("3") },
    OptionInfo {
        name: "outermost-first",
        description: "From where the thread began down to the caller of the allocating method",
        example: None,
    },
];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("callers", "Call site")
        .describe(
            "The methods that called the one that allocated the object: its caller, below that the caller's caller, \
             and so on",
            "com.acme.Cart.add(Item):12",
        )
        .reads(Reads::SITE)
        .joined_by(" ‹ ");
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let depth = depth(request)?;
        let outermost = request.has("outermost-first");
        let meta = if outermost { meta.clone().joined_by(" › ") } else { meta.clone() };
        Ok(Arc::new(ByFunction::new(meta, move |object, values| match object.site() {
            [] => values.one(object.no_site()),
            [_] => values.one("(no caller)"),
            [_, callers @ ..] if outermost => values.chain(callers.iter().rev().take(depth)),
            [_, callers @ ..] => values.chain(callers.iter().take(depth)),
        })))
    })
}
