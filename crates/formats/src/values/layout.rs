//! Field layouts: the fields of each type's instances, and their places.

use super::value::ValueKind;
use memory_city_heap::{HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A field that a class declares.
#[derive(Clone, Debug)]
pub(crate) struct OwnField {
    pub(crate) name: Arc<str>,
    /// `None` for an unknown kind: the class is damaged, and its further fields are lost.
    pub(crate) kind: Option<ValueKind>,
}

/// The fields of all types of a heap state. Memory: the own fields of each class, shared with the source.
pub struct TypeLayouts {
    id_size: usize,
    /// By type.
    own: Vec<Arc<[OwnField]>>,
    /// By class object: the type it stands for.
    types: FxHashMap<ObjectId, TypeId>,
}

/// Where a field lies in the record of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    pub(crate) at: u32,
    pub(crate) kind: ValueKind,
}

impl FieldPlace {
    /// The kind of the field.
    pub fn kind(self) -> ValueKind {
        self.kind
    }

    /// Where the next field begins.
    pub(super) fn end(self, id_size: usize) -> usize {
        self.at as usize + self.kind.width(id_size)
    }
}

/// A field of a type.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredField<'a> {
    /// The class that declares it.
    pub class: TypeId,
    /// Its name.
    pub name: &'a Arc<str>,
    /// Where it lies.
    pub place: FieldPlace,
}

/// Deeper inheritance than this is damage (or a cycle), not a program.
const DEEPEST: usize = 1000;

impl TypeLayouts {
    pub(crate) fn new(id_size: usize, own: Vec<Arc<[OwnField]>>, heap: &HeapState) -> TypeLayouts {
        let types = (0..heap.types().len() as u32).map(TypeId);
        TypeLayouts { id_size, own, types: types.filter_map(|t| Some((heap.mirror_of(t)?, t))).collect() }
    }

    /// The type that a class object stands for.
    pub fn type_of_class(&self, class: ObjectId) -> Option<TypeId> {
        self.types.get(&class).copied()
    }

    /// Bytes of a reference in the source.
    #[inline]
    pub(crate) fn id_size(&self) -> usize {
        self.id_size
    }

    /// The fields of the instances of a type in the order of their records: its own, then those of its superclasses. Ends
    /// at a field of unknown kind: where those behind it lie is not known.
    pub fn fields<'a>(&'a self, heap: &'a HeapState, of: TypeId) -> impl Iterator<Item = DeclaredField<'a>> {
        let above = |t: &TypeId| heap.types().get(t.0 as usize)?.superclass;
        let levels = std::iter::successors(Some(of), above).take(DEEPEST);
        let all = levels.flat_map(|class| {
            self.own.get(class.0 as usize).map_or(&[][..], |own| own).iter().map(move |field| (class, field))
        });
        all.scan(0u32, |at, (class, field)| {
            let kind = field.kind?;
            let place = FieldPlace { at: *at, kind };
            *at = at.checked_add(kind.width(self.id_size) as u32)?;
            Some(DeclaredField { class, name: &field.name, place })
        })
    }

    /// Where a field of a name lies in instances of a type. Where several classes declare one, that of the nearest.
    pub fn place(&self, heap: &HeapState, of: TypeId, name: &str) -> Option<FieldPlace> {
        self.fields(heap, of).find(|f| &**f.name == name).map(|f| f.place)
    }

    /// Where a field lies that a class of this name declares.
    pub fn place_in(&self, heap: &HeapState, of: TypeId, class: &str, name: &str) -> Option<FieldPlace> {
        let is_it = |f: &DeclaredField<'_>| &**f.name == name && heap.types()[f.class.0 as usize].name == class;
        self.fields(heap, of).find(is_it).map(|f| f.place)
    }
}
