//! Collections on paths that descriptions of data structures know, of runtimes and of users.

use super::filling::Filling;
use crate::structures::fill::fills;
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{Descriptions, FoundStructures, StructureRules};
use memory_city_heap::{BitSet, HeapState, ObjectId, TypeId, TypeKind};
use rustc_hash::FxHashMap;

/// Levels of references from a head to another one whose elements are its own: a set is made of a map.
const LEVELS: usize = 2;

/// The described collections on some paths.
#[derive(Default)]
pub(super) struct DescribedCollections<'d> {
    rules: Option<StructureRules<'d>>,
    elements: FxHashMap<ObjectId, u64>,
}

impl<'d> DescribedCollections<'d> {
    /// Costs a pass over all types and objects, where there is such a collection; else next to nothing.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub(super) fn on(
        ways: &[Option<Vec<ObjectId>>],
        filling: &Filling<'_>,
        values: Option<&HeapValues>,
        descriptions: &'d Descriptions,
        progress: &Progress,
    ) -> Result<DescribedCollections<'d>> {
        let heap = filling.heap();
        let mut described: FxHashMap<TypeId, bool> = FxHashMap::default();
        let mut asked: Vec<ObjectId> = ways.iter().flatten().flatten().copied().collect();
        asked.retain(|&o| {
            let of = heap.type_of(o);
            *described.entry(of).or_insert_with(|| is_described(heap, of, descriptions))
        });
        if asked.is_empty() {
            return Ok(DescribedCollections::default());
        }
        let rules = StructureRules::new(heap, descriptions, progress)?;
        let (mut among, mut seen) = (BitSet::new(heap.object_count()), BitSet::new(heap.object_count()));
        let is_array = |o: ObjectId| heap.types()[heap.type_of(o).0 as usize].kind == TypeKind::ObjectArray;
        let mut level = asked.clone();
        for depth in 0..=LEVELS {
            progress.check()?;
            level.retain(|o| seen.insert(o.0));
            level.iter().filter(|&&o| rules.is_head(heap.type_of(o))).for_each(|o| {
                among.insert(o.0);
            });
            if depth < LEVELS {
                let mut next: Vec<ObjectId> = Vec::new();
                for &o in level.iter().filter(|&&o| !is_array(o)) {
                    next.extend(heap.references(o).iter().filter(|to| !seen.contains(to.0)));
                }
                level = next;
            }
        }
        let found = FoundStructures::new(heap, &rules, Some(&among), progress)?;
        let fills = fills(heap, values, &rules, &found, progress)?;
        let count = |o: &ObjectId| Some((*o, fills[found.heads().binary_search(o).ok()?].elements?));
        Ok(DescribedCollections { elements: asked.iter().filter_map(count).collect(), rules: Some(rules) })
    }

    /// The elements of a collection on the paths, as its description says.
    pub(super) fn elements(&self, o: ObjectId) -> Option<u64> {
        self.elements.get(&o).copied()
    }

    /// Whether an object of a type is a part of the collection that its owner is or is a part of.
    pub(super) fn is_part(&self, owner: TypeId, of: TypeId) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.is_part(owner, of))
    }
}

fn is_described(heap: &HeapState, of: TypeId, descriptions: &Descriptions) -> bool {
    heap.supertypes(of).any(|t| descriptions.find(&heap.types()[t.0 as usize].name).is_some())
}

#[cfg(test)]
mod tests {
    use super::super::filling::Filled;
    use super::*;
    use memory_city_formats::JVM;
    use memory_city_heap::structures::StructureFile;
    use memory_city_heap::{HeapBuilder, HeapType};

    const DEPOT: &str = "namespace com.acme { DS Depot { Shelf[]; } Shelf { Shelf; (*); value: item; } }";

    #[test]
    fn a_collection_of_a_program_has_the_elements_that_its_description_says() {
        let mut heap = HeapBuilder::with_profile(&JVM);
        let mut type_of = |name: &str, kind| {
            heap.add_type(HeapType { name: name.to_owned(), kind, superclass: None, loader: "app".into() })
        };
        let depot = type_of("com.acme.Depot", TypeKind::Instance);
        let shelves = type_of("com.acme.Shelf[]", TypeKind::ObjectArray);
        let shelf = type_of("com.acme.Shelf", TypeKind::Instance);
        let item = type_of("com.acme.Item", TypeKind::Instance);
        // Two chains: of two shelves and of one.
        let all = [depot, shelves, shelf, shelf, shelf, item, item, item];
        let o: Vec<ObjectId> = all.iter().map(|&of| heap.add_object(of, 16, None)).collect();
        for (from, to) in [(0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (4, 7)] {
            heap.add_reference(o[from], o[to]);
        }
        let heap = heap.finish();
        let filling = Filling::new(&heap);
        let way = vec![Some(vec![o[0], o[1], o[2], o[4], o[7]])];
        let filled = |descriptions: &Descriptions| {
            let described =
                DescribedCollections::on(&way, &filling, None, descriptions, &Progress::default()).expect("counted");
            filling.last_on(way[0].as_ref()?, &described)
        };
        let mut descriptions = Descriptions::of(&JVM).expect("descriptions");
        let of_depot = |elements| Some(Filled { of: "com.acme.Depot".to_owned(), elements, object: o[0] });
        assert_eq!(filled(&descriptions), of_depot(2), "the slots of its array");
        descriptions.add(StructureFile::parse("depot.ds", DEPOT).expect("a description"));
        assert_eq!(filled(&descriptions), of_depot(3));
    }
}
