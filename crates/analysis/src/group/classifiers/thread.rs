//! Classifier by the allocating thread.

use crate::group::registry::RegistryError;
use crate::group::{ClassifierMeta, Reads, Registry};

pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    let meta = ClassifierMeta::new("thread", "Allocating thread")
        .describe("The name of the thread that allocated the object", "http-worker-3")
        .reads(Reads::THREAD);
    registry.add(meta, |object, values| values.one(object.thread().unwrap_or("(unknown)")))
}
