//! Classifier by the package of the type, part by part. Arrays belong to the package of their elements.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("package", "Package")
        .describe("The package of the type; of an array, the package of its elements", "com.acme.shop")
        .joined_by(".");
    registry.add(meta, |object, values| match object.profile().names.split(object.type_name()).0 {
        "" if object.profile().names.is_primitive_array(object.type_name()) => values.one("(primitive arrays)"),
        "" => values.one("(default package)"),
        package => values.chain(package.split('.')),
    })
}
