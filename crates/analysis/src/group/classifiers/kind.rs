//! Classifier by kind: instance, small array, big array.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Reads, Registry};
use memory_city_heap::TypeKind;

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("kind", "Object kind")
        .describe("Instance, small array (less than 255 elements), or big array", "Small array")
        .reads(Reads::TYPE | Reads::BIG_ARRAY);
    registry.add(meta, |object, values| {
        values.one(match object.heap_type().map(|t| t.kind) {
            None | Some(TypeKind::Instance) => "Instance",
            Some(_) if object.is_big_array() => "Big array",
            Some(_) => "Small array",
        });
    })
}
