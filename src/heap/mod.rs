//! One heap state: the objects alive at one point in time, as columns.
//!
//! Objects are numbered `0..n` in address order, so sets of objects are bit sets and every property is a
//! column indexed by [`ObjectId`]. This module knows no file format and no classifier.



/// An object of one heap state: its rank by address. Means nothing in another heap state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A type of one heap state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// What sort of object a type describes.
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

/// The kinds of GC roots (spec: heap analysis, "GC roots").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the field's terms
pub enum RootKind {
    ClassLoader = 1,
    StaticField = 2,
    Thread = 3,
    LocalVariable = 4,
    CodeBlob = 5,
    Jni = 6,
    Jvmti = 7,
    Monitor = 8,
    Management = 9,
    Other = 10,
}

/// A GC root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The object it keeps alive.
    pub object: ObjectId,
    /// Its kind.
    pub kind: RootKind,
    /// Extra information for people: `thread "main", com.acme.Main.run() line 12`, `com.acme.Cache.entries`.
    pub detail: String,
}
