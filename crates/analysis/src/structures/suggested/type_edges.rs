//! Which types refer to which, directly and through arrays of their own.

use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, TypeId, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// References from objects of a type to objects of another one.
#[derive(Clone, Debug, Default)]
pub(super) struct TypeEdge {
    /// References, those through arrays included.
    pub references: u64,
    /// Whether some lead through no array.
    pub is_direct: bool,
    /// The arrays through which some of them lead: the type that the object itself refers to.
    pub arrays: FxHashSet<TypeId>,
}

/// The references of a heap state by type. An array that one instance alone refers to is a part of this; what it holds is held by the
/// instance.
pub(super) struct TypeEdges {
    pub edges: FxHashMap<(TypeId, TypeId), TypeEdge>,
    /// By type: reachable objects.
    pub objects: Vec<u64>,
    /// By type: instances that have an array of their own with something in it.
    pub with_array: Vec<u64>,
}

/// Arrays of arrays of so many dimensions are followed.
const DIMENSIONS: usize = 3;

impl TypeEdges {
    /// One pass over the reachable objects and their references.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(heap: &HeapState, progress: &Progress) -> Result<TypeEdges> {
        let types = heap.types().len();
        let mut all = TypeEdges { edges: FxHashMap::default(), objects: vec![0; types], with_array: vec![0; types] };
        let mut inside: Vec<ObjectId> = Vec::new();
        for (at, o) in heap.objects().filter(|&o| heap.is_reachable(o)).enumerate() {
            if at.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            let of = heap.type_of(o);
            all.objects[of.0 as usize] += 1;
            match kind(heap, o) {
                TypeKind::Instance if !heap.is_class_object(o) => {
                    let mut has_array = false;
                    for &target in heap.references(o) {
                        match kind(heap, target) {
                            TypeKind::Instance => all.add(of, heap.type_of(target), None),
                            TypeKind::ObjectArray if is_own_array(heap, target) => {
                                let array = heap.type_of(target);
                                elements(heap, target, &mut inside);
                                has_array |= !inside.is_empty();
                                inside.iter().for_each(|&element| all.add(of, heap.type_of(element), Some(array)));
                            }
                            _ => (),
                        }
                    }
                    all.with_array[of.0 as usize] += u64::from(has_array);
                }
                // An array of its own was met at its holder.
                TypeKind::ObjectArray if !is_own_array(heap, o) => {
                    heap.references(o).iter().for_each(|&target| all.add(of, heap.type_of(target), None));
                }
                _ => (),
            }
        }
        Ok(all)
    }

    fn add(&mut self, from: TypeId, to: TypeId, array: Option<TypeId>) {
        let edge = self.edges.entry((from, to)).or_default();
        edge.references += 1;
        edge.is_direct |= array.is_none();
        edge.arrays.extend(array);
    }
}

fn kind(heap: &HeapState, o: ObjectId) -> TypeKind {
    heap.types()[heap.type_of(o).0 as usize].kind
}

/// Whether one instance alone, or one array that is such, refers to an array.
pub(super) fn is_own_array(heap: &HeapState, array: ObjectId) -> bool {
    let mut at = array;
    for _ in 0..DIMENSIONS {
        let [holder] = *heap.referrers(at) else { return false };
        if heap.roots_of(at).len() > 0 || heap.is_class_object(holder) {
            return false;
        }
        if kind(heap, holder) == TypeKind::Instance {
            return true;
        }
        at = holder;
    }
    false
}

/// What is in an array, and in the arrays in it.
pub(super) fn elements(heap: &HeapState, array: ObjectId, into: &mut Vec<ObjectId>) {
    into.clear();
    let mut level = vec![array];
    for _ in 0..DIMENSIONS {
        let mut arrays = Vec::new();
        for &target in level.iter().flat_map(|&array| heap.references(array)) {
            match kind(heap, target) {
                TypeKind::ObjectArray if is_own_array(heap, target) => arrays.push(target),
                _ => into.push(target),
            }
        }
        level = arrays;
    }
}
