//! How many elements a collection has: as its shape says, since the field for its size has another name in each.
//!
//! A collection of a library has as many elements as it has entries or nodes (insides of nested classes that refer to
//! something which is no inside); where it has none, as many as its arrays refer to. An array, or an object of the program
//! with arrays of its own, has as many as the array refers to: what is null is none.

use super::folding::Folding;
use super::names::type_name;
use memory_city_heap::{HeapState, ObjectId, TypeId, TypeKind};
use rustc_hash::FxHashSet;

/// A collection on a path, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Its type.
    pub of: String,
    /// Its elements; the entries of a map.
    pub elements: u64,
}

/// Whether an object is a collection, or has an array, with elements in it.
pub(crate) fn has_elements(heap: &HeapState, o: ObjectId) -> bool {
    Filling::new(heap).elements(o).is_some_and(|elements| elements > 0)
}

/// Counts the elements of collections of a heap state.
pub(super) struct Filling<'h> {
    heap: &'h HeapState,
    folding: Folding<'h>,
}

impl<'h> Filling<'h> {
    pub(super) fn new(heap: &'h HeapState) -> Filling<'h> {
        Filling { heap, folding: Folding::new(heap) }
    }

    /// The last collection of a path that has elements.
    pub(super) fn last_on(&self, way: &[ObjectId]) -> Option<Filled> {
        let of = |o: ObjectId| self.heap.type_of(o);
        let mut heads: Vec<ObjectId> = Vec::new();
        for (i, &o) in way.iter().enumerate() {
            let inside = match (i.checked_sub(1).map(|i| way[i]), heads.last()) {
                // What a static field holds is no inside of the class.
                (Some(by), Some(&head)) => {
                    !self.heap.is_class_object(by) && self.folding.is_inside(of(o), of(by), of(head))
                }
                _ => false,
            };
            if !inside {
                heads.push(o);
            }
        }
        heads.into_iter().rev().filter(|&o| !self.heap.is_class_object(o)).find_map(|o| {
            let elements = self.elements(o).filter(|&elements| elements > 0)?;
            Some(Filled { of: type_name(&self.heap.types()[of(o).0 as usize]).to_owned(), elements })
        })
    }

    /// The elements of an object; `None` if it is no collection and has no array of references. Takes as long as it has
    /// insides.
    pub(super) fn elements(&self, head: ObjectId) -> Option<u64> {
        let of = self.heap.type_of(head);
        if self.is_array(of) {
            return Some(self.heap.references(head).len() as u64);
        }
        if !self.folding.is_collection(of) {
            let arrays = self.heap.references(head).iter().filter(|&&o| self.is_array(self.heap.type_of(o)));
            return arrays.map(|&o| self.heap.references(o).len() as u64).max();
        }
        let (mut entries, mut slots, mut arrays) = (0u64, 0u64, 0u64);
        let mut seen: FxHashSet<ObjectId> = FxHashSet::from_iter([head]);
        let mut open = vec![head];
        while let Some(o) = open.pop() {
            let by = self.heap.type_of(o);
            let is_array = self.is_array(by);
            let mut others = 0;
            for &target in self.heap.references(o) {
                let to = self.heap.type_of(target);
                let is_values = self.heap.types()[to.0 as usize].kind == TypeKind::PrimitiveArray;
                // Arrays of bytes and numbers are counted with a collection, but are what was put into it.
                if self.folding.is_inside(to, by, of) && !is_values {
                    if seen.insert(target) {
                        open.push(target);
                    }
                } else if target != head {
                    others += 1;
                }
            }
            if is_array {
                arrays += 1;
                slots += others;
            } else if o != head && others > 0 && self.folding.is_nested(by) {
                entries += 1;
            }
        }
        // Keys and values lie in turn in the array of this one.
        let pairs = type_name(&self.heap.types()[of.0 as usize]) == "java.util.IdentityHashMap";
        match (entries, arrays) {
            (0, 0) => None,
            (0, _) if pairs => Some(slots.div_ceil(2)),
            (0, _) => Some(slots),
            _ => Some(entries),
        }
    }

    fn is_array(&self, of: TypeId) -> bool {
        self.heap.types()[of.0 as usize].kind == TypeKind::ObjectArray
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_city_heap::{HeapBuilder, HeapType};
    use std::collections::HashMap;

    /// A heap of objects that are named by their type and a number, and refer to each other.
    fn heap(objects: &[(&str, &[usize])]) -> (HeapState, Vec<ObjectId>) {
        let mut heap = HeapBuilder::new();
        let mut types: HashMap<&str, TypeId> = HashMap::new();
        let mut ids = Vec::new();
        for (name, _) in objects {
            let kind = match *name {
                "int[]" => TypeKind::PrimitiveArray,
                _ if name.ends_with("[]") => TypeKind::ObjectArray,
                _ => TypeKind::Instance,
            };
            let of = *types.entry(name).or_insert_with(|| {
                let loader = "app".into();
                heap.add_type(HeapType { name: (*name).to_owned(), kind, superclass: None, loader })
            });
            ids.push(heap.add_object(of, 16, None));
        }
        for (from, (_, targets)) in objects.iter().enumerate() {
            for &to in *targets {
                heap.add_reference(ids[from], ids[to]);
            }
        }
        (heap.finish(), ids)
    }

    #[test]
    fn entries_of_maps_and_slots_of_arrays_are_counted() {
        // A map with three entries, two of them in one chain, under a set; the third has a list with two texts as its value.
        let (heap, o) = heap(&[
            ("java.util.HashSet", &[1]),
            ("java.util.HashMap", &[2]),
            ("java.util.HashMap$Node[]", &[3, 4]),
            ("java.util.HashMap$Node", &[5, 6]),
            ("java.util.HashMap$Node", &[7, 8]),
            ("java.util.HashMap$Node", &[9]),
            ("java.lang.String", &[]),
            ("java.lang.String", &[]),
            ("java.util.ArrayList", &[10]),
            ("java.lang.String", &[]),
            ("java.lang.Object[]", &[6, 7]),
            ("com.acme.Table", &[12, 13]),
            ("com.acme.Row[]", &[]),
            ("com.acme.Row[]", &[14, 14, 14]),
            ("com.acme.Row", &[]),
            ("java.util.IdentityHashMap", &[16]),
            ("java.lang.Object[]", &[6, 7, 9, 6]),
            ("java.util.ArrayList", &[18]),
            ("java.lang.Object[]", &[6, 19, 20]),
            ("int[]", &[]),
            ("int[]", &[]),
        ]);
        let filling = Filling::new(&heap);
        for (of, expected) in [
            (0, Some(3)),
            (1, Some(3)),
            (8, Some(2)),
            (11, Some(3)),
            (13, Some(3)),
            (14, None),
            (15, Some(2)),
            (17, Some(3)),
        ] {
            assert_eq!(filling.elements(o[of]), expected, "object {of}");
        }
        let on = |way: &[usize]| filling.last_on(&way.iter().map(|&i| o[i]).collect::<Vec<_>>());
        let filled = |of: &str, elements| Some(Filled { of: of.to_owned(), elements });
        assert_eq!(on(&[0, 1, 2, 3, 6]), filled("java.util.HashSet", 3));
        assert_eq!(on(&[0, 1, 2, 4, 8, 10]), filled("java.util.ArrayList", 2));
        assert_eq!(on(&[11, 13, 14]), filled("com.acme.Table", 3));
        assert_eq!(on(&[14]), None);
    }
}
