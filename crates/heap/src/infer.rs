//! References and roots that a source leaves out but that must exist, added by a reader that knows its format.
//!
//! They become references like all others, in both directions, and the heap state remembers which they are. This module decides nothing:
//! the reader of the format decides which references exist.

use super::columns::HeapColumns;
use super::reference_names::ReferenceNameTable;
use super::roots::Root;
use super::state::HeapState;
use super::types::ObjectId;
use crate::error::{Error, Result};
use crate::reach::Search;
use ahash::AHashMap;

/// A reference that the source does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InferredReference {
    /// The object that refers.
    pub from: ObjectId,
    /// The object it refers to.
    pub to: ObjectId,
    /// The field of `from` that holds it, for people: `reflectionData`.
    pub field: &'static str,
}

/// A heap state under construction: complete except for inferred references and roots.
pub struct Inference {
    columns: HeapColumns,
    search: Search,
    added: Vec<InferredReference>,
    by_source: AHashMap<ObjectId, Vec<ObjectId>>,
}

impl Inference {
    /// Starts from these columns, and finds the reachable objects.
    pub fn new(columns: HeapColumns) -> Inference {
        let search = Search::from_roots(&columns);
        Inference { columns, search, added: Vec::new(), by_source: AHashMap::new() }
    }

    /// The columns, without inferred references.
    pub fn columns(&self) -> &HeapColumns {
        &self.columns
    }

    /// True if any root reaches the object, also through inferred references.
    pub fn is_reachable(&self, o: ObjectId) -> bool {
        self.search.seen.contains(o.0)
    }

    /// The objects that no root reaches, ascending. Costs a word for each 64 objects.
    pub fn unreachable(&self) -> Vec<ObjectId> {
        self.search.seen.missing(self.columns.type_of.len()).map(ObjectId).collect()
    }

    /// How many objects no root would reach, were these held too. A search over what they add.
    pub fn unreachable_but(&self, held: impl Iterator<Item = ObjectId>) -> usize {
        let columns = &self.columns;
        let mut seen = self.search.seen.clone();
        let mut open: Vec<ObjectId> = held.filter(|o| seen.insert(o.0)).collect();
        while let Some(o) = open.pop() {
            let class = columns.mirror_of[columns.type_of[o.0 as usize] as usize];
            let added = self.by_source.get(&o).map_or(&[][..], Vec::as_slice);
            let more = columns.outgoing.of(o).iter().chain(added).chain(&class);
            open.extend(more.filter(|to| seen.insert(to.0)));
        }
        columns.type_of.len() - seen.count()
    }

    /// Adds a reference, and updates reachability at once.
    pub fn add_reference(&mut self, from: ObjectId, to: ObjectId, field: &'static str) {
        self.added.push(InferredReference { from, to, field });
        self.by_source.entry(from).or_default().push(to);
        if self.is_reachable(from) {
            self.reach(to);
        }
    }

    /// Adds a root.
    pub fn add_root(&mut self, root: Root) {
        self.reach(root.object);
        self.columns.roots.push(root);
    }

    fn reach(&mut self, o: ObjectId) {
        self.search.reach(o);
        let added = &self.by_source;
        self.search.run(&self.columns, |from| added.get(&from).map_or(&[][..], Vec::as_slice));
    }

    /// The heap state.
    ///
    /// # Errors
    /// When there are more references than 32 bits count.
    pub fn finish(mut self) -> Result<HeapState> {
        if self.columns.outgoing.len() as u64 + self.added.len() as u64 > u64::from(u32::MAX) {
            return Err(Error::Unusable {
                what: format!("the heap has more than {} references", u32::MAX),
                remedy: "Take a smaller dump: this size is not supported".into(),
            });
        }
        self.added.sort_unstable();
        let entries: Vec<(ObjectId, ObjectId)> = self.added.iter().map(|r| (r.from, r.to)).collect();
        if !self.columns.names.is_empty() {
            // Of these the field is known.
            let unnamed: Vec<(ObjectId, u32)> = self.added.iter().map(|r| (r.from, ReferenceNameTable::NONE)).collect();
            self.columns.outgoing.append_beside(&mut self.columns.names.of, &unnamed);
        }
        self.columns.outgoing.append(&entries);
        Ok(HeapState::inferred(self.columns, Some(self.search.seen), self.added))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AddressSet, Csr, HeapColumns, HeapState, HeapType, ObjectId, ReferenceNameTable, ReferenceNames, Root,
        RootKind, TypeKind, TypeSizes,
    };
    use proptest::prelude::*;

    fn columns(n: usize, edges: &[(u32, u32)], roots: &[u32]) -> HeapColumns {
        let mut rows = vec![Vec::new(); n];
        edges.iter().for_each(|(from, to)| rows[*from as usize].push(ObjectId(*to)));
        let set = AddressSet::new(3);
        let mut writer = set.writer();
        for i in 0..n as u64 {
            writer.insert(i * 8);
        }
        let root = |&o: &u32| Root { object: ObjectId(o), kind: RootKind::Thread, detail: String::new() };
        let mut names = ReferenceNameTable::default();
        let of = |i: usize| HeapType {
            name: format!("T{i}"),
            kind: TypeKind::Instance,
            superclass: None,
            loader: "bootstrap".into(),
        };
        HeapColumns {
            types: (0..3).map(of).collect(),
            sizes: TypeSizes { base: vec![8; 3], element: vec![0; 3], alignment: 8, ..TypeSizes::default() },
            type_of: (0..n as u32).map(|i| i % 3).collect(),
            length: vec![u32::MAX; n],
            addresses: set.finish(),
            outgoing: Csr::from_rows(&rows),
            roots: roots.iter().map(root).collect(),
            // The object that stands for the first type.
            mirror_of: vec![Some(ObjectId(1)), None, None],
            // Each reference has its number as a name.
            names: ReferenceNames::new((0..edges.len() as u32).map(|n| names.number(n.into())).collect(), names),
            ..HeapColumns::default()
        }
    }

    proptest! {
        /// References and roots added one by one give the heap that had them from the start.
        #[test]
        fn what_is_added_is_as_if_it_had_been_there(
            edges in prop::collection::vec((0u32..40, 0u32..40), 0..60),
            added in prop::collection::vec((0u32..40, 0u32..40), 0..20),
            roots in prop::collection::vec(0u32..40, 1..3),
            added_roots in prop::collection::vec(0u32..40, 0..3),
        ) {
            let mut inference = super::Inference::new(columns(40, &edges, &roots));
            for &(from, to) in &added {
                inference.add_reference(ObjectId(from), ObjectId(to), "field");
            }
            for &o in &added_roots {
                inference.add_root(Root { object: ObjectId(o), kind: RootKind::Other, detail: "hidden".into() });
            }
            let unreachable = inference.unreachable();
            let heap = inference.finish().expect("a heap");
            let before = HeapState::new(columns(40, &edges, &roots));

            let sorted = { let mut sorted = added.clone(); sorted.sort(); sorted };
            let all = [edges, sorted.clone()].concat();
            let all_roots = [roots, added_roots].concat();
            let whole = columns(40, &all, &all_roots);
            let whole = HeapState::new(whole);
            for o in whole.objects() {
                prop_assert_eq!(heap.references(o), whole.references(o));
                prop_assert_eq!(heap.referrers(o), whole.referrers(o));
                prop_assert_eq!(heap.is_reachable(o), whole.is_reachable(o));
                prop_assert_eq!(unreachable.contains(&o), !whole.is_reachable(o));
                for place in 0..heap.references(o).len() {
                    prop_assert_eq!(heap.reference_name(o, place), before.reference_name(o, place));
                }
            }
            let told: Vec<_> = heap.inferred_references().iter().map(|r| (r.from.0, r.to.0)).collect();
            prop_assert_eq!(told, sorted);
        }
    }
}
