//! Writer of the objects of a walk: their keys and references.

use memory_city_heap::error::Error;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId};
use memory_city_wire::{WalkObject, WalkWriter, WireError};
use rustc_hash::FxHashMap;

/// Why the objects of a walk are not written.
pub(super) enum Stopped {
    Wire(WireError),
    Engine(Error),
}

/// How the objects of a heap state are named in the file.
pub(super) struct ObjectKeys {
    pub(super) by_id: bool,
    pub(super) has_addresses: bool,
    pub(super) unit: u32,
}

impl ObjectKeys {
    pub(super) fn of(heap: &HeapState) -> ObjectKeys {
        let has_addresses = heap.objects().last().is_none_or(|last| heap.address(last).is_some())
            && heap.objects().all(|o| heap.stable_id(o).is_none());
        let unit = match heap.objects().all(|o| heap.address(o).unwrap_or(0).is_multiple_of(8)) {
            true => 8,
            false => 1,
        };
        ObjectKeys { by_id: heap.origins().is_some(), has_addresses, unit }
    }

    pub(super) fn key(&self, heap: &HeapState, o: ObjectId) -> u64 {
        match heap.origins().filter(|_| self.by_id) {
            None => u64::from(o.0),
            Some(origins) if self.has_addresses => u64::from(origins.identity(o.0 as usize).number),
            Some(_) => heap.stable_id(o).unwrap_or(u64::from(o.0)),
        }
    }
}

/// Writes all objects with their references.
pub(super) fn write_objects(
    walk: &mut WalkWriter<'_>,
    heap: &HeapState,
    keys: &ObjectKeys,
    classes: &[u32],
    origins: &FxHashMap<u32, Option<u32>>,
    progress: &Progress,
) -> std::result::Result<(), Stopped> {
    let mut hidden = heap.inferred_references();
    let mut targets = Vec::new();
    for o in heap.objects() {
        if o.0 % (1 << 16) == 0 {
            progress.check().map_err(Stopped::Engine)?;
            progress.advance(1 << 16);
        }
        // What is not listed lies behind what is, and is told apart.
        let own = hidden.iter().take_while(|r| r.from == o).count();
        hidden = &hidden[own..];
        let references = heap.references(o);
        let listed = &references[..references.len() - own];
        targets.clear();
        targets.extend(listed.iter().map(|&target| keys.key(heap, target)));
        let object = WalkObject {
            id: if keys.by_id { keys.key(heap, o) } else { 0 },
            address: if keys.has_addresses { heap.address(o).unwrap_or(0) / u64::from(keys.unit) } else { 0 },
            class: classes[heap.type_of(o).0 as usize],
            length: heap.array_length(o),
            size: heap.odd_size(o),
            origin: origins.get(&heap.origin_class(o)).copied().flatten(),
        };
        walk.object(&object, &targets).map_err(Stopped::Wire)?;
    }
    Ok(())
}
