//! Types of objects, and how large their objects are.

/// An object of one heap state: its rank by address. Means nothing in another heap state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A type of one heap state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// The sort of object that a type describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// Instances of a class.
    Instance,
    /// Arrays of references.
    ObjectArray,
    /// Arrays of primitive values.
    PrimitiveArray,
}

/// A type (class or array class).
#[derive(Clone, Debug)]
pub struct HeapType {
    /// Name in source form: `java.util.HashMap$Node`, `char[]`, `java.lang.String[][]`.
    pub name: String,
    /// Instance or array.
    pub kind: TypeKind,
    /// Superclass, where the source says.
    pub superclass: Option<TypeId>,
    /// Class loader for people: `bootstrap`, `jdk.internal.loader.ClassLoaders$AppClassLoader @ 0x…`.
    pub loader: std::sync::Arc<str>,
}

/// A class loader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loader {
    /// Name for people, see [`HeapType::loader`].
    pub name: std::sync::Arc<str>,
    /// The loader it asks first, an index into [`Loaders::all`]; `None` where that is the VM itself, or not known.
    pub parent: Option<u32>,
}

/// The class loaders of a heap state, and which of them defined which type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaders {
    /// The loaders; empty when the source does not know their parents.
    pub all: Vec<Loader>,
    /// By type: its loader; `None` for types that the VM itself defined.
    pub of_type: Vec<Option<u32>>,
}

impl Loaders {
    /// The loader of a type, its parent, and so on. Ends when a damaged source has loaders that are their own
    /// ancestors.
    pub fn chain(&self, t: TypeId) -> impl Iterator<Item = &Loader> {
        let first = self.of_type.get(t.0 as usize).copied().flatten();
        let chain = std::iter::successors(first, |&l| self.all.get(l as usize)?.parent);
        chain.take(self.all.len()).filter_map(|l| self.all.get(l as usize))
    }
}

/// Arrays of this many elements are big (spec: heap analysis, object kind).
pub const BIG_ARRAY: u32 = 255;

/// No array length: the object is an instance.
pub const NO_LENGTH: u32 = u32::MAX;

/// How shallow sizes follow from types and lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeSizes {
    /// Bytes of an instance, by type; of an array of length 0 before alignment (its base) for array types.
    pub base: Vec<u32>,
    /// Bytes of an element, by type; 0 for instances.
    pub element: Vec<u32>,
    /// Objects start at multiples of it; a power of two.
    pub alignment: u32,
    /// The parts of objects' bytes, by type; empty if the source does not know them.
    pub fields: Vec<FieldBytes>,
    /// Bytes of a reference; 0 when the source does not know.
    pub reference: u32,
}

/// The parts of the bytes of a type's objects. For arrays only the header is the same for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldBytes {
    /// Bytes before the first field or element.
    pub header: u32,
    /// Bytes of fields of primitive types.
    pub primitive: u32,
    /// Fields that hold references.
    pub references: u32,
}

/// The parts of an object's bytes. The rest of its size is padding, and fields that only the VM knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectParts {
    /// The header.
    pub header: u64,
    /// Primitive fields or elements.
    pub primitive: u64,
    /// References that lead to objects.
    pub pointers: u64,
    /// References that are null.
    pub nulls: u64,
}

impl TypeSizes {
    /// Shallow size of an object of type `t`.
    #[inline]
    pub fn size(&self, t: usize, length: u32) -> u64 {
        let element = u64::from(self.element[t]);
        let base = u64::from(self.base[t]);
        if element == 0 {
            return base;
        }
        let mask = u64::from(self.alignment.max(1)) - 1;
        (base + element * u64::from(length) + mask) & !mask
    }
}
