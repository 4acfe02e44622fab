//! The number of elements in a collection: its own size, if the input has the values of objects; else derived from its shape.
//!
//! A collection of a library has as many elements as it has entries or nodes (insides of nested classes that refer to something which is no
//! inside). Without these, it has as many as its arrays refer to. An array, or an object of the program with arrays of its own, has as many
//! as the array refers to; null does not count.

use super::described::DescribedCollections;
use super::folding::Folding;
use super::names::type_name;
use memory_city_formats::values::{DetailLimits, FieldValue, HeapValues, ObjectContents, ObjectDetails};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, TypeId, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A collection on a path, with its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Its type.
    pub of: String,
    /// Its elements; the entries of a map.
    pub elements: u64,
    /// The collection itself, in its heap state.
    pub object: ObjectId,
}

/// The first of these fields of an object that holds a whole number.
fn whole_number(details: &ObjectDetails, names: &[&str]) -> Option<u64> {
    first_in(details, names, |value| match value {
        FieldValue::Int(size) => u64::try_from(size).ok(),
        FieldValue::Long(size) => u64::try_from(size).ok(),
        _ => None,
    })
}

/// The first of these fields that has such a value.
fn first_in<T>(details: &ObjectDetails, names: &[&str], of: impl Fn(FieldValue) -> Option<T>) -> Option<T> {
    let ObjectContents::Instance(fields) = &details.contents else { return None };
    names.iter().find_map(|&name| fields.iter().filter(|field| &*field.name == name).find_map(|field| of(field.value)))
}

/// True if an object is a collection, or has an array, with elements in it.
pub(crate) fn has_elements(heap: &HeapState, o: ObjectId) -> bool {
    Filling::new(heap).elements(o).is_some_and(|elements| elements > 0)
}

/// Counts the elements of collections of a heap state.
pub(crate) struct Filling<'h> {
    heap: &'h HeapState,
    folding: Folding<'h>,
}

impl<'h> Filling<'h> {
    pub(crate) fn new(heap: &'h HeapState) -> Filling<'h> {
        Filling { heap, folding: Folding::new(heap) }
    }

    pub(super) fn heap(&self) -> &'h HeapState {
        self.heap
    }

    /// The last collection of a path that has elements.
    pub(super) fn last_on(&self, way: &[ObjectId], described: &DescribedCollections<'_>) -> Option<Filled> {
        let of = |o: ObjectId| self.heap.type_of(o);
        let mut heads: Vec<ObjectId> = Vec::new();
        for (i, &o) in way.iter().enumerate() {
            let inside = match (i.checked_sub(1).map(|i| way[i]), heads.last()) {
                // What a static field holds is no inside of the class.
                (Some(by), Some(&head)) => {
                    let is_inside =
                        || self.folding.is_inside(of(o), of(by), of(head)) || described.is_part(of(by), of(o));
                    !self.heap.is_class_object(by) && is_inside()
                }
                _ => false,
            };
            if !inside {
                heads.push(o);
            }
        }
        heads.into_iter().rev().filter(|&o| !self.heap.is_class_object(o)).find_map(|o| {
            let elements = described.elements(o).or_else(|| self.elements(o)).filter(|&elements| elements > 0)?;
            Some(Filled { of: type_name(self.heap, of(o)).to_owned(), elements, object: o })
        })
    }

    /// The same with the number of elements that the collections themselves have written down, where the input says what they hold. Their shape
    /// says less where nodes are shared, chains are long, or arrays are larger than what is in them.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub(super) fn with_own_sizes(
        &self,
        values: Option<&HeapValues>,
        described: &DescribedCollections<'_>,
        mut found: Vec<Option<Filled>>,
        progress: &Progress,
    ) -> Result<Vec<Option<Filled>>> {
        let keeps_size = |o: ObjectId| {
            let of = self.heap.type_of(o);
            (self.folding.extends_collection(of) || self.folding.is_of_language(of))
                && !self.is_array(of)
                && described.elements(o).is_none()
        };
        let asked: Vec<ObjectId> =
            found.iter().flatten().map(|filled| filled.object).filter(|&o| keeps_size(o)).collect();
        if let Some(values) = values.filter(|_| !asked.is_empty()) {
            let known = &self.heap.profile().collections;
            let details = values.details(&asked, DetailLimits::default(), progress)?;
            let mut sizes: FxHashMap<ObjectId, u64> = details
                .iter()
                .filter_map(|details| Some((details.object, whole_number(details, known.sizes)?)))
                .collect();
            // The size of a queue for several threads is an object of its own, an `AtomicInteger`.
            let counters: FxHashMap<ObjectId, ObjectId> = details
                .iter()
                .filter_map(|details| Some((first_in(details, known.sizes, FieldValue::object)?, details.object)))
                .collect();
            let counters_asked: Vec<ObjectId> = counters.keys().copied().collect();
            for details in values.details(&counters_asked, DetailLimits::default(), progress)? {
                if let (Some(of), Some(size)) = (counters.get(&details.object), whole_number(&details, known.counted)) {
                    sizes.entry(*of).or_insert(size);
                }
            }
            // Redacted dumps say 0 of every size.
            let redacted = self.heap.is_redacted();
            for filled in found.iter_mut().flatten() {
                let own = sizes.get(&filled.object).copied().filter(|&size| size > 0 || !redacted);
                filled.elements = own.unwrap_or(filled.elements);
            }
        }
        Ok(found)
    }

    /// The elements of an object; `None` if it is no collection and has no array of references. Takes as long as it has
    /// insides.
    pub(crate) fn elements(&self, head: ObjectId) -> Option<u64> {
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
        let mut table_of: FxHashMap<ObjectId, ObjectId> = FxHashMap::default();
        let mut maybe_segments: FxHashSet<ObjectId> = FxHashSet::default();
        // From the types of an owner and an object: most elements are alike, and names are long.
        let mut insides: FxHashMap<(TypeId, TypeId), bool> = FxHashMap::default();
        let mut open = vec![head];
        while let Some(o) = open.pop() {
            let by = self.heap.type_of(o);
            let is_array = self.is_array(by);
            let (mut others, mut has_table, mut has_entries) = (0, false, false);
            for &target in self.heap.references(o) {
                let to = self.heap.type_of(target);
                let is_values = self.heap.types()[to.0 as usize].kind == TypeKind::PrimitiveArray;
                let is_inside = *insides.entry((by, to)).or_insert_with(|| self.folding.is_inside(to, by, of));
                // An array that others refer to as well was put into it: one constant, perhaps, in every slot.
                let is_constant = o != head && self.is_array(to) && self.heap.referrers(target).len() > 1;
                // Arrays of bytes and numbers are counted with a collection, but are what was put into it.
                if is_inside && !is_values && !is_constant {
                    if self.is_array(to) || !self.folding.is_nested(to) {
                        has_table = true;
                        table_of.insert(target, o);
                    } else if is_array {
                        has_entries = true;
                    }
                    // Few insides have several referrers: the others are met once. Of the head a root may be the other one.
                    if target != head && (self.heap.referrers(target).len() == 1 || seen.insert(target)) {
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
                if has_table {
                    maybe_segments.insert(o);
                }
            }
            // What has a table of entries is none, but a segment.
            let mut up = Some(o).filter(|_| has_entries);
            while let Some(holder) = up.and_then(|o| table_of.remove(&o)) {
                entries -= u64::from(maybe_segments.remove(&holder));
                up = Some(holder);
            }
        }
        // Keys and values lie in turn in the array of this one.
        let pairs = self.heap.profile().collections.maps_in_pairs.contains(&type_name(self.heap, of));
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
    use memory_city_formats::JVM;
    use memory_city_heap::{HeapBuilder, HeapType};
    use std::collections::HashMap;

    /// A heap of objects that are named by their type and a number, and refer to each other.
    fn heap(objects: &[(&str, &[usize])]) -> (HeapState, Vec<ObjectId>) {
        let mut heap = HeapBuilder::with_profile(&JVM);
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
            // One constant in all slots: a text, an empty array.
            ("java.util.ArrayDeque", &[22]),
            ("java.lang.Object[]", &[6, 6, 6]),
            ("java.util.ArrayDeque", &[24]),
            ("java.lang.Object[]", &[25, 25, 25]),
            ("java.lang.Object[]", &[]),
            ("java.util.concurrent.LinkedBlockingQueue", &[27]),
            ("java.util.concurrent.LinkedBlockingQueue$Node", &[28, 25]),
            ("java.util.concurrent.LinkedBlockingQueue$Node", &[29, 25]),
            ("java.util.concurrent.LinkedBlockingQueue$Node", &[25]),
            // A segment has a lock beside its table.
            ("com.google.common.cache.LocalCache", &[31]),
            ("com.google.common.cache.LocalCache$Segment[]", &[32]),
            ("com.google.common.cache.LocalCache$Segment", &[33, 14]),
            ("java.util.concurrent.atomic.AtomicReferenceArray", &[34]),
            ("java.lang.Object[]", &[35]),
            ("com.google.common.cache.LocalCache$StrongEntry", &[36, 6]),
            ("com.google.common.cache.LocalCache$StrongEntry", &[7]),
            // Arrays as values are no tables.
            ("java.util.HashMap", &[38]),
            ("java.util.HashMap$Node[]", &[39, 40]),
            ("java.util.HashMap$Node", &[6, 41]),
            ("java.util.HashMap$Node", &[7, 42]),
            ("java.lang.Object[]", &[9]),
            ("java.lang.Object[]", &[]),
            // Its own view is all that refers to it.
            ("java.util.HashMap", &[44, 45]),
            ("java.util.HashMap$KeySet", &[43]),
            ("java.util.HashMap$Node[]", &[46]),
            ("java.util.HashMap$Node", &[6, 7]),
            ("java.util.Vector", &[47, 48]),
            ("java.lang.Object[]", &[6, 7]),
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
            (21, Some(3)),
            (23, Some(3)),
            (26, Some(3)),
            (30, Some(2)),
            (37, Some(2)),
            (43, Some(1)),
            (47, Some(2)),
        ] {
            assert_eq!(filling.elements(o[of]), expected, "object {of}");
        }
        let none = DescribedCollections::default();
        let on = |way: &[usize]| {
            let way: Vec<ObjectId> = way.iter().map(|&i| o[i]).collect();
            filling.last_on(&way, &none)
        };
        let filled = |of: &str, elements, at: usize| Some(Filled { of: of.to_owned(), elements, object: o[at] });
        assert_eq!(on(&[0, 1, 2, 3, 6]), filled("java.util.HashSet", 3, 0));
        assert_eq!(on(&[0, 1, 2, 4, 8, 10]), filled("java.util.ArrayList", 2, 8));
        assert_eq!(on(&[11, 13, 14]), filled("com.acme.Table", 3, 11));
        assert_eq!(on(&[14]), None);
    }
}
