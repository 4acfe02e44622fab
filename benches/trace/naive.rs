//! The naive way: a hash map from addresses to objects, another one for the heap after the collection, and a look at
//! all objects at the end of every collection.

use memory_city_formats::event::{EventSink, Gc, GcKind, InfoId, ObjectInfo, ObjectKey, Program};
use memory_city_formats::spaces::{Space, Spaces};
use memory_city_heap::error::Result;
use memory_city_heap::{RootKind, ThreadId};
use std::collections::HashMap;
use std::sync::Arc;

struct Object {
    info: u32,
    length: u32,
    /// Nothing reads it here: a heap state would.
    #[allow(dead_code)]
    birth: u32,
    references: Vec<ObjectKey>,
}

/// A heap in hash maps.
pub struct Naive {
    program: Arc<Program>,
    spaces: Spaces,
    infos: Vec<ObjectInfo>,
    ids: HashMap<ObjectInfo, u32>,
    now: HashMap<ObjectKey, Object>,
    next: HashMap<ObjectKey, Object>,
    gc: Option<Gc>,
    collected: Vec<(u64, u64)>,
    gcs: u32,
    threads: u32,
    /// Objects by type at the end of every GC.
    histograms: Vec<Vec<u64>>,
}

impl Naive {
    pub fn new(program: Arc<Program>) -> Self {
        Naive {
            program,
            spaces: Spaces::default(),
            infos: Vec::new(),
            ids: HashMap::new(),
            now: HashMap::new(),
            next: HashMap::new(),
            gc: None,
            collected: Vec::new(),
            gcs: 0,
            threads: 0,
            histograms: Vec::new(),
        }
    }

    pub fn live(&self) -> u64 {
        self.now.len() as u64
    }

    fn size(&self, object: &Object) -> u64 {
        self.program.shapes[self.infos[object.info as usize].type_id as usize]
            .size(object.length, self.program.alignment)
    }
}

impl EventSink for Naive {
    fn thread(&mut self, _: &str) -> ThreadId {
        self.threads += 1;
        ThreadId(self.threads)
    }

    fn name_thread(&mut self, _: ThreadId, _: &str) {}

    fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    fn change_space(&mut self, index: u32, change: impl FnOnce(&mut Space)) -> bool {
        self.spaces.set(index, change)
    }

    fn remove_spaces(&mut self, first: u32, count: u64) {
        self.spaces.remove(first, count);
    }

    fn info(&mut self, info: ObjectInfo) -> InfoId {
        let next = self.infos.len() as u32;
        let id = *self.ids.entry(info).or_insert(next);
        if id == next {
            self.infos.push(info);
        }
        InfoId(id)
    }

    fn allocate(&mut self, info: InfoId, length: u32, key: ObjectKey) -> u64 {
        let object = Object { info: info.0, length, birth: self.gcs, references: Vec::new() };
        let size = self.size(&object);
        let map = if self.gc.is_some() { &mut self.next } else { &mut self.now };
        map.insert(key, object);
        size
    }

    fn moved(&mut self, from: u64, to: u64) -> Option<u64> {
        let (from, to) = (ObjectKey::Address(from), ObjectKey::Address(to));
        let object = self.now.remove(&from).or_else(|| self.next.remove(&from))?;
        let size = self.size(&object);
        self.next.insert(to, object);
        Some(size)
    }

    fn kept(&mut self, key: ObjectKey) -> bool {
        let Some(object) = self.now.remove(&key) else { return self.next.contains_key(&key) };
        self.next.insert(key, object);
        true
    }

    fn freed(&mut self, key: ObjectKey) -> bool {
        self.next.remove(&key).or_else(|| self.now.remove(&key)).is_some()
    }

    fn located(&mut self, id: u64, _: u64) -> bool {
        self.known(ObjectKey::Id(id))
    }

    fn known(&self, key: ObjectKey) -> bool {
        self.now.contains_key(&key) || self.next.contains_key(&key)
    }

    fn references(&mut self, key: ObjectKey, targets: &[ObjectKey], more: bool) {
        let found = self.next.get_mut(&key);
        if let Some(object) = found.or_else(|| self.now.get_mut(&key)) {
            if !more {
                object.references.clear();
            }
            object.references.extend_from_slice(targets);
        }
    }

    fn root(&mut self, _: RootKind, _: ThreadId, _: &str, _: ObjectKey) {}

    fn gc_start(&mut self, gc: Gc) -> Result<()> {
        self.gc = Some(gc);
        self.collected.clear();
        Ok(())
    }

    fn collects(&mut self, space: u32) {
        self.collected.extend(self.spaces.get(space).map(Space::range));
    }

    fn gc_end(&mut self, _: Gc) -> Result<()> {
        let major = self.gc.take().is_some_and(|gc| gc.kind == GcKind::Major);
        let (spaces, collected) = (&self.spaces, &self.collected);
        self.now.retain(|&key, _| {
            let ObjectKey::Address(address) = key else { return !major };
            let named = || collected.iter().any(|&(start, end)| (start..end).contains(&address));
            !major && if collected.is_empty() { !spaces.kind_at(address).is_young() } else { !named() }
        });
        self.now.extend(self.next.drain());
        self.gcs += 1;
        let mut histogram = vec![0; self.program.types.len()];
        for object in self.now.values() {
            histogram[self.infos[object.info as usize].type_id as usize] += 1;
        }
        self.histograms.push(histogram);
        Ok(())
    }
}
