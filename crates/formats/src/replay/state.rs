//! The heap at a moment as columns, in address order.

use super::map::Entry;
use super::{Observer, Replay, map};
use crate::event::Shape;
use memory_city_heap::{
    AddressSet, BitSet, Csr, HeapColumns, HeapState, NO_LENGTH, ObjectId, Origin, Origins, Root, TypeSizes,
};
use std::sync::Arc;

impl<O: Observer> Replay<O> {
    /// The heap between two GCs, or at the start of one before anything of it is known. Costs what there is.
    pub fn state(&mut self) -> HeapState {
        let n = self.live as usize;
        let set = AddressSet::new(3);
        let mut writer = set.writer();
        let mut entries: Vec<Entry> = Vec::with_capacity(n);
        let mut number = vec![map::NONE; self.numbers.len()];
        for page in self.now.pages().to_vec() {
            for (address, entry) in self.map.objects(self.now.get(page)) {
                number[entry.number() as usize] = entries.len() as u32;
                entries.push(entry);
                writer.insert(address);
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
        let sizes = TypeSizes { base, element, alignment: 8 };
        let (mut type_of, mut length) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut origins = Origins::new(n, Arc::clone(&self.program.sites), self.threads.clone(), self.interval);
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
                    odd_sizes.insert(o as u32, u64::from(entry.length()));
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
            let object = number.get(root.target as usize).copied().filter(|&o| o != map::NONE)?;
            let detail = match (root.detail, root.thread.0) {
                (detail, 0) => detail.to_owned(),
                (detail, thread) => format!("{detail} of thread \"{}\"", self.threads[thread as usize]),
            };
            Some(Root { object: ObjectId(object), kind: root.kind, detail })
        });
        let roots = roots.collect();
        let outgoing = Csr::new(offsets, targets);
        let mirror_of = vec![None; types.len()];
        let n = type_of.len();
        let columns = HeapColumns {
            types: types.clone(),
            loaders: Default::default(),
            sizes,
            type_of,
            length,
            odd_sizes,
            addresses: set.finish(),
            incoming: outgoing.transpose(),
            outgoing,
            roots,
            mirror_of,
            sites: Vec::new(),
            traces: Default::default(),
            origins: Some(origins),
            warnings: Vec::new(),
        };
        // A trace says which objects live, and not always why: a minor GC reports no references of what it leaves
        // alone. What the collector kept counts as reachable.
        HeapState::with_reachable(columns, BitSet::full(n))
    }
}
