//! The heap at a moment as columns, in the order of addresses and ids.

use super::map::Entry;
use super::{Observer, Replay, map};
use crate::event::{ObjectKey, Shape};
use memory_city_heap::{
    AddressSet, BitSet, Csr, HeapColumns, HeapState, NO_LENGTH, ObjectId, ObjectIds, Origin, Origins, Root, ThreadId,
    TypeSizes,
};
use std::sync::Arc;

impl<O: Observer> Replay<O> {
    /// The heap between two GCs, or at the start of one before its first event: objects by address, then those known by an id, by id.
    /// Linear in the heap.
    pub fn state(&mut self) -> HeapState {
        let threads = self.threads.clone();
        self.state_with(&threads)
    }

    /// The same with names of threads that became known later.
    pub fn state_with(&mut self, threads: &[Arc<str>]) -> HeapState {
        let n = self.live as usize;
        let set = AddressSet::new(self.map.unit.shift());
        let mut writer = set.writer();
        let mut entries: Vec<Entry> = Vec::with_capacity(n);
        let mut number = vec![map::NONE; self.numbers.len()];
        let mut ids = ObjectIds::default();
        for (key, entry) in self.map.keyed(&mut self.now) {
            let o = entries.len() as u32;
            number[entry.number() as usize] = o;
            entries.push(entry);
            match key {
                ObjectKey::Address(address) => {
                    writer.insert(address);
                }
                ObjectKey::Id(id) => ids.push(ObjectId(o), id, self.located.get(&entry.number()).copied()),
            }
        }
        let types = &self.program.types;
        let (base, element) = self
            .program
            .shapes
            .iter()
            .map(|shape| match *shape {
                Shape::Instance(bytes) => (bytes, 0),
                Shape::Array { base, element } => (base, element),
                Shape::Mirror => (0, 0),
            })
            .unzip();
        let sizes = TypeSizes { base, element, alignment: self.program.alignment, ..TypeSizes::default() };
        let (mut type_of, mut length) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut origins = Origins::new(n, Arc::clone(&self.program.sites), threads.to_vec(), self.interval);
        origins.ids = ids;
        let mut odd_sizes = rustc_hash::FxHashMap::default();
        let mut offsets = Vec::with_capacity(n + 1);
        let mut targets = Vec::new();
        offsets.push(0u32);
        for (o, entry) in entries.iter().enumerate() {
            let key = self.cohorts.key(entry.cohort());
            let info = &self.infos[key.info as usize];
            type_of.push(info.type_id);
            match self.program.shapes[info.type_id as usize] {
                Shape::Instance(_) => length.push(NO_LENGTH),
                Shape::Array { .. } => length.push(entry.length()),
                Shape::Mirror => {
                    length.push(NO_LENGTH);
                    odd_sizes.insert(o as u32, self.cohorts.size(entry.cohort(), || entry.length()));
                }
            }
            origins.push(
                Origin {
                    site: info.site,
                    thread: info.thread,
                    allocator: info.allocator,
                    birth: key.birth,
                    space: key.space,
                },
                entry.number(),
            );
            let found = self.references_of(entry.record()).map(|t| number[t as usize]);
            targets.extend(found.filter(|&t| t != map::NONE).map(ObjectId));
            offsets.push(targets.len() as u32);
        }
        let roots = self.roots.iter().filter_map(|root| {
            // A number that an object has got since then means nothing here.
            let meant = |&target: &u32| self.numbers.is_live(target) && self.numbers.birth(target) < self.interval;
            let target = Some(root.target).filter(meant)?;
            let object = number.get(target as usize).copied().filter(|&o| o != map::NONE)?;
            let detail = self.details.text(root.detail);
            let detail = match threads.get(root.thread.0 as usize).filter(|_| root.thread != ThreadId::UNKNOWN) {
                None => detail.to_owned(),
                Some(thread) => format!("{detail} of thread \"{thread}\""),
            };
            Some(Root { object: ObjectId(object), kind: root.kind, detail })
        });
        let roots = roots.collect();
        let outgoing = Csr::new(offsets, targets);
        let mirror_of = vec![None; types.len()];
        let n = type_of.len();
        let columns = HeapColumns {
            profile: self.program.profile,
            types: types.clone(),
            sizes,
            type_of,
            length,
            odd_sizes,
            addresses: set.finish(),
            outgoing,
            roots,
            mirror_of,
            origins: Some(origins),
            ..HeapColumns::default()
        };
        // A trace says which objects live, and not always why: a minor GC reports no references of what it leaves
        // alone. What the collector kept counts as reachable.
        HeapState::with_reachable(columns, BitSet::full(n))
    }
}
