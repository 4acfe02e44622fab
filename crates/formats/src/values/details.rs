//! Copies of the values of a few objects, for a person to read.

use super::{FieldValue, HeapValues, ObjectRecord, ValueKind};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{ObjectId, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Limits of a copy. Everything left out is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetailLimits {
    /// Fields of an instance or a class object.
    pub fields: usize,
    /// Elements of an array of references.
    pub elements: usize,
    /// Bytes of an array of primitive values.
    pub bytes: usize,
}

impl Default for DetailLimits {
    fn default() -> Self {
        DetailLimits { fields: 1000, elements: 1000, bytes: 4096 }
    }
}

/// A field by name, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValue {
    /// Name of the class that declares it.
    pub class: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The value.
    pub value: FieldValue,
}

/// An object with its content.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectDetails {
    /// The object.
    pub object: ObjectId,
    /// Its type.
    pub of: TypeId,
    /// The content.
    pub contents: ObjectContents,
    /// Fields, elements or bytes that are not listed.
    pub left_out: u64,
}

/// The content of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectContents {
    /// Fields, those of the instance's own class first.
    Instance(Vec<NamedValue>),
    /// Static fields of the class that a class object stands for, and superclass, loader and so on in angle brackets.
    Class {
        /// The class it stands for.
        of: Option<TypeId>,
        /// Static fields.
        statics: Vec<NamedValue>,
    },
    /// The first elements of an array of references.
    References(Vec<FieldValue>),
    /// The first elements of an array of primitive values, big endian.
    Primitives {
        /// The type of an element.
        kind: ValueKind,
        /// How many elements the array has in all.
        length: u32,
        /// The elements.
        bytes: Vec<u8>,
    },
    /// The source has no record of it.
    Unknown,
}

impl HeapValues {
    /// The contents of a few objects, in the given order. Costs one scan, see [`HeapValues::scan`].
    ///
    /// # Errors
    /// When the work was cancelled.
    pub fn details(
        &self,
        objects: &[ObjectId],
        limits: DetailLimits,
        progress: &Progress,
    ) -> Result<Vec<ObjectDetails>> {
        let found: Mutex<HashMap<ObjectId, ObjectDetails>> = Mutex::default();
        self.scan_few(
            objects.iter().copied(),
            &|o, record| {
                let details = self.copied(o, record, limits);
                // A damaged source may have two records of an object: the longer one says more, whoever meets it first.
                let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
                let known = found.get(&o).map_or(0, ObjectDetails::len);
                if details.len() >= known {
                    found.insert(o, details);
                }
            },
            progress,
        )?;
        let found = found.into_inner().unwrap_or_else(|e| e.into_inner());
        let heap = self.heap();
        let unknown = |object: ObjectId| ObjectDetails {
            object,
            of: heap.type_of(object),
            contents: ObjectContents::Unknown,
            left_out: 0,
        };
        let known = objects.iter().filter(|o| (o.0 as usize) < heap.object_count());
        Ok(known.map(|&o| found.get(&o).cloned().unwrap_or_else(|| unknown(o))).collect())
    }

    pub(super) fn class_name(&self, of: TypeId) -> Arc<str> {
        self.names.get(of.0 as usize).map_or_else(|| "?".into(), Arc::clone)
    }

    fn copied(&self, object: ObjectId, record: &ObjectRecord<'_>, limits: DetailLimits) -> ObjectDetails {
        let (contents, all) = match record {
            ObjectRecord::Instance(fields) => {
                let all = fields.iter().count();
                let named = |f: super::InstanceField<'_>| NamedValue {
                    class: self.class_name(f.class),
                    name: Arc::clone(f.name),
                    value: f.value,
                };
                (ObjectContents::Instance(fields.iter().take(limits.fields).map(named).collect()), all)
            }
            ObjectRecord::Class(class) => {
                let name = class.of.map_or_else(|| "?".into(), |t| self.class_name(t));
                let named = |name_of_field: Arc<str>, value: FieldValue| NamedValue {
                    class: Arc::clone(&name),
                    name: name_of_field,
                    value,
                };
                let statics = class.statics.iter().map(|(field, value)| named(Arc::clone(field), *value));
                let links = class.links.iter().filter(|(_, value)| *value != FieldValue::Null);
                let links = links.map(|(link, value)| named(format!("<{link}>").into(), *value));
                let all: Vec<NamedValue> = statics.chain(links).collect();
                let count = all.len();
                let statics = all.into_iter().take(limits.fields).collect();
                (ObjectContents::Class { of: class.of, statics }, count)
            }
            ObjectRecord::ObjectArray(elements) => {
                (ObjectContents::References(elements.iter().take(limits.elements).collect()), elements.len())
            }
            ObjectRecord::PrimitiveArray(elements) => {
                let width = elements.kind().width(8);
                let bytes = &elements.bytes()[..elements.bytes().len().min(limits.bytes / width * width)];
                let (kind, length, bytes) = (elements.kind(), elements.len(), bytes.to_vec());
                (ObjectContents::Primitives { kind, length, bytes }, length as usize)
            }
        };
        let mut details = ObjectDetails { object, of: self.heap().type_of(object), contents, left_out: 0 };
        details.left_out = (all - details.len().min(all)) as u64;
        details
    }
}

impl ObjectDetails {
    /// Fields or elements that are listed.
    pub fn len(&self) -> usize {
        match &self.contents {
            ObjectContents::Instance(fields) | ObjectContents::Class { statics: fields, .. } => fields.len(),
            ObjectContents::References(elements) => elements.len(),
            ObjectContents::Primitives { kind, bytes, .. } => bytes.len() / kind.width(8),
            ObjectContents::Unknown => 0,
        }
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a field by name; that of the nearest class where several declare one.
    pub fn field(&self, name: &str) -> Option<FieldValue> {
        match &self.contents {
            ObjectContents::Instance(fields) | ObjectContents::Class { statics: fields, .. } => {
                fields.iter().find(|f| &*f.name == name).map(|f| f.value)
            }
            _ => None,
        }
    }

    /// The value of a field that a class of this name declares.
    pub(super) fn field_of(&self, class: &str, name: &str) -> Option<FieldValue> {
        match &self.contents {
            ObjectContents::Instance(fields) => {
                fields.iter().find(|f| &*f.name == name && &*f.class == class).map(|f| f.value)
            }
            _ => None,
        }
    }
}
