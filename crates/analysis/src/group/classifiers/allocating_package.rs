//! Classifier by the package of the allocating method, part by part.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Reads, Registry, domain};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("allocating-package", "Allocating package")
        .describe("The package of the method that allocated the object", "com.acme.shop")
        .reads(Reads::SITE)
        .joined_by(".");
    registry.add(meta, |object, values| match object.site() {
        [] => values.one(object.no_site()),
        [frame, ..] => match object.profile().names.split(domain::class_of_frame(frame)).0 {
            "" => values.one(domain::NO_PACKAGE),
            package => values.chain(package.split('.')),
        },
    })
}
