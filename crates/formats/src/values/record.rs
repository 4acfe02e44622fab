//! The record of one object in the source, without copying it.

use super::layout::{FieldPlace, TypeLayouts};
use super::value::{FieldValue, ValueKind};
use memory_city_heap::{HeapState, TypeId};
use std::sync::Arc;

/// The contents of an object, as they lie in the source.
#[derive(Clone, Copy)]
pub enum ObjectRecord<'a> {
    /// An instance of a class.
    Instance(InstanceFields<'a>),
    /// An array of references.
    ObjectArray(ReferenceElements<'a>),
    /// An array of primitive values.
    PrimitiveArray(PrimitiveElements<'a>),
    /// A class object.
    Class(ClassFields<'a>),
}

/// The fields of an instance.
#[derive(Clone, Copy)]
pub struct InstanceFields<'a> {
    pub(crate) heap: &'a HeapState,
    pub(crate) layouts: &'a TypeLayouts,
    pub(crate) of: TypeId,
    /// The values one after the other, own class first, then its superclasses.
    pub(crate) values: &'a [u8],
}

/// A field with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InstanceField<'a> {
    /// The class that declares it.
    pub class: TypeId,
    /// Its name.
    pub name: &'a Arc<str>,
    /// The value.
    pub value: FieldValue,
}

impl<'a> InstanceFields<'a> {
    /// The type of the instance.
    pub fn of(&self) -> TypeId {
        self.of
    }

    /// All fields in order, those of its own class first, then those of its superclasses. Ends early where the record is
    /// shorter than its class says or the class is not known: see [`InstanceFields::is_complete`].
    pub fn iter(&self) -> impl Iterator<Item = InstanceField<'a>> + use<'a> {
        let this = *self;
        this.layouts.fields(this.heap, this.of).map_while(move |field| {
            Some(InstanceField { class: field.class, name: field.name, value: this.at(field.place)? })
        })
    }

    /// The value at a place that [`TypeLayouts::place`] gave for the type of this instance; `None` if the record is too short.
    #[inline]
    pub fn at(&self, place: FieldPlace) -> Option<FieldValue> {
        FieldValue::read(place.kind, self.values.get(place.at as usize..)?, self.layouts.id_size(), self.heap)
    }

    /// True if the declared fields are as long as the record. Otherwise class records are missing, or something is damaged.
    pub fn is_complete(&self) -> bool {
        let end = self.layouts.fields(self.heap, self.of).last().map_or(0, |f| f.place.end(self.layouts.id_size()));
        end == self.values.len()
    }
}

/// The elements of an array of references.
#[derive(Clone, Copy)]
pub struct ReferenceElements<'a> {
    pub(crate) heap: &'a HeapState,
    pub(crate) id_size: usize,
    pub(crate) bytes: &'a [u8],
}

impl<'a> ReferenceElements<'a> {
    /// How many there are, nulls among them.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.id_size
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    #[inline]
    pub fn at(&self, index: usize) -> Option<FieldValue> {
        let bytes = self.bytes.get(index.checked_mul(self.id_size)?..)?;
        FieldValue::read(ValueKind::Reference, bytes, self.id_size, self.heap)
    }

    /// All elements in order, nulls among them.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = FieldValue> + use<'a> {
        let this = *self;
        (0..this.len()).map_while(move |i| this.at(i))
    }

    /// The addresses of the elements as they lie in the source, big endian: equal where the elements are.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The number of null elements: cheaper than reading the others.
    pub fn nulls(&self) -> usize {
        self.bytes.chunks_exact(self.id_size).filter(|id| id.iter().all(|&b| b == 0)).count()
    }
}

/// The elements of an array of primitive values.
#[derive(Clone, Copy)]
pub struct PrimitiveElements<'a> {
    pub(crate) kind: ValueKind,
    pub(crate) length: u32,
    pub(crate) bytes: &'a [u8],
}

impl<'a> PrimitiveElements<'a> {
    /// The type of an element.
    #[inline]
    pub fn kind(&self) -> ValueKind {
        self.kind
    }

    /// Their number.
    #[inline]
    pub fn len(&self) -> u32 {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The elements as they lie in the source, big endian. Empty where the source says only how many there are (Android
    /// leaves the contents of some arrays out).
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// The content of a class object: static fields, and its links.
#[derive(Clone, Copy)]
pub struct ClassFields<'a> {
    /// The class it stands for, where it is a type of the heap state.
    pub of: Option<TypeId>,
    /// Static fields in order: name and value.
    pub statics: &'a [(Arc<str>, FieldValue)],
    /// Links that are no fields in the source: superclass, class loader, signers, protection domain.
    pub links: &'a [(&'static str, FieldValue)],
}
