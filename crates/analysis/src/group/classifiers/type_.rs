//! Classifier by type.

use crate::group::registry::{OptionInfo, RegistryError};
use crate::group::{ByFunction, ClassifierMeta, Registry};
use std::sync::Arc;

const OPTIONS: [OptionInfo; 2] = [
    OptionInfo { name: "full", description: "With the package, also below packages", example: None },
    OptionInfo { name: "simple", description: "Without the package: types of one name are one group", example: None },
];

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("type", "Type")
        .describe("The class of an instance, or the type of an array", "com.acme.Cart$Item");
    registry.add_with_options(meta.clone(), &OPTIONS, move |request| {
        let meta = meta.clone();
        match (request.has("simple"), request.has("full")) {
            (true, true) => Err("simple and full exclude each other".to_owned()),
            // Below its package a type needs no package in its name.
            (simple, full) if simple || !full && request.is_below("package") => {
                Ok(Arc::new(ByFunction::new(meta, |object, values| {
                    values.one(object.profile().names.split(object.type_name()).1);
                })))
            }
            _ => Ok(Arc::new(ByFunction::new(meta, |object, values| values.one(object.type_name())))),
        }
    })
}
