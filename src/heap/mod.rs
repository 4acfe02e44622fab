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

impl RootKind {
    /// The kind for people.
    pub fn title(self) -> &'static str {
        match self {
            RootKind::ClassLoader => "Class loader",
            RootKind::StaticField => "Static field",
            RootKind::Thread => "Thread",
            RootKind::LocalVariable => "Local variable",
            RootKind::CodeBlob => "Compiled code",
            RootKind::Jni => "JNI",
            RootKind::Jvmti => "JVMTI",
            RootKind::Monitor => "Monitor",
            RootKind::Management => "Management",
            RootKind::Other => "Other root",
        }
    }
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

impl Root {
    /// Kind and detail, for people.
    pub fn text(&self) -> String {
        format!("{}: {}", self.kind.title(), self.detail)
    }
}

mod addresses;
mod bits;
mod build;
mod csr;
mod origin;
mod reach;

pub use addresses::{AddressMap, AddressSet, AddressWriter};
pub use bits::BitSet;
pub use build::HeapBuilder;
pub use csr::Csr;
pub use origin::{AllocationSite, Allocator, Facts, Identity, Life, Origin, Origins, SpaceKind, ThreadId};

use crate::error::Warning;
use std::sync::OnceLock;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Number of objects.
    #[default]
    Objects,
    /// Bytes as the runtime accounts for them.
    Bytes,
}

/// Objects and bytes of a set of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub struct Amount {
    /// Number of objects.
    pub objects: u64,
    /// Shallow bytes.
    pub bytes: u64,
}

impl Amount {
    /// The chosen one.
    pub fn get(self, metric: Metric) -> u64 {
        match metric {
            Metric::Objects => self.objects,
            Metric::Bytes => self.bytes,
        }
    }
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}

/// Arrays of this many elements are big (spec: heap analysis, object kind).
pub const BIG_ARRAY: u32 = 255;

/// No array length: the object is an instance.
pub const NO_LENGTH: u32 = u32::MAX;

/// The objects of one point in time. Immutable; shared between threads.
pub struct HeapState {
    pub(crate) types: Vec<HeapType>,
    /// Size of the instances of each type; arrays have theirs by length.
    pub(crate) sizes: TypeSizes,
    pub(crate) type_of: Vec<u32>,
    /// Array length, [`NO_LENGTH`] for instances; for class mirrors their own size is in `odd_sizes`.
    pub(crate) length: Vec<u32>,
    pub(crate) odd_sizes: rustc_hash::FxHashMap<u32, u64>,
    pub(crate) addresses: AddressMap,
    pub(crate) outgoing: Csr,
    pub(crate) incoming: Csr,
    pub(crate) roots: Vec<Root>,
    /// The object that stands for each type (its class mirror): alive as long as an instance is.
    pub(crate) mirror_of: Vec<Option<ObjectId>>,
    /// Allocation trace of each object; empty when the source has none.
    pub(crate) sites: Vec<u32>,
    pub(crate) traces: rustc_hash::FxHashMap<u32, AllocationSite>,
    /// Origins of the objects, where the source is a trace.
    pub(crate) origins: Option<Origins>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) reachable: OnceLock<BitSet>,
    pub(crate) totals: OnceLock<(Amount, Amount)>,
}

/// How shallow sizes follow from types and lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeSizes {
    /// Bytes of an instance, by type; of an array of length 0 before alignment (its base) for array types.
    pub base: Vec<u32>,
    /// Bytes of an element, by type; 0 for instances.
    pub element: Vec<u32>,
    /// Objects start at multiples of it; a power of two.
    pub alignment: u32,
}

impl TypeSizes {
    /// Shallow size of an object of type `t`.
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

impl HeapState {
    /// How many objects there are, reachable or not.
    pub fn object_count(&self) -> usize {
        self.type_of.len()
    }

    /// All objects, by address.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        (0..self.type_of.len() as u32).map(ObjectId)
    }

    /// The types; the index is [`TypeId`].
    pub fn types(&self) -> &[HeapType] {
        &self.types
    }

    /// The type of an object.
    pub fn type_of(&self, o: ObjectId) -> TypeId {
        TypeId(self.type_of[o.0 as usize])
    }

    /// Shallow size in bytes, as the runtime accounts for it.
    pub fn size_of(&self, o: ObjectId) -> u64 {
        let i = o.0 as usize;
        if !self.odd_sizes.is_empty()
            && let Some(&size) = self.odd_sizes.get(&o.0)
        {
            return size;
        }
        self.sizes.size(self.type_of[i] as usize, self.length[i])
    }

    /// Number of elements of an array; `None` for instances.
    pub fn array_length(&self, o: ObjectId) -> Option<u32> {
        Some(self.length[o.0 as usize]).filter(|&l| l != NO_LENGTH)
    }

    /// The address.
    pub fn address(&self, o: ObjectId) -> u64 {
        self.addresses.address(o)
    }

    /// The object at an address.
    pub fn object_at(&self, address: u64) -> Option<ObjectId> {
        self.addresses.find(address)
    }

    /// The objects it refers to: one entry a reference that is not null.
    pub fn references(&self, o: ObjectId) -> &[ObjectId] {
        self.outgoing.of(o)
    }

    /// The objects that refer to it: one entry a reference.
    pub fn referrers(&self, o: ObjectId) -> &[ObjectId] {
        self.incoming.of(o)
    }

    /// How many references there are.
    pub fn reference_count(&self) -> usize {
        self.outgoing.len()
    }

    /// The GC roots. Those of kind [`RootKind::StaticField`] name the fields of loaded classes; what keeps the
    /// class itself alive is another root.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Whether any root reaches the object. Computed for all objects at the first question. Weak, soft and phantom
    /// references count as references: what they alone hold is still in memory.
    pub fn is_reachable(&self, o: ObjectId) -> bool {
        self.reachable().contains(o.0)
    }

    /// The reachable objects.
    pub fn reachable(&self) -> &BitSet {
        self.reachable.get_or_init(|| reach::reachable(self))
    }

    /// All objects, and those no root reaches.
    pub fn totals(&self) -> (Amount, Amount) {
        *self.totals.get_or_init(|| {
            let (mut all, mut garbage) = (Amount::default(), Amount::default());
            let reachable = self.reachable();
            for o in self.objects() {
                let size = self.size_of(o);
                all.objects += 1;
                all.bytes += size;
                if !reachable.contains(o.0) {
                    garbage.objects += 1;
                    garbage.bytes += size;
                }
            }
            (all, garbage)
        })
    }

    /// Where the object was allocated, innermost frame first; empty when the source does not say.
    pub fn allocation_site(&self, o: ObjectId) -> &[std::sync::Arc<str>] {
        let i = o.0 as usize;
        if let Some(origins) = &self.origins {
            return origins.frames(origins.of(i).site);
        }
        self.sites.get(i).and_then(|s| self.traces.get(s)).map(|t| &t.frames[..]).unwrap_or(&[])
    }

    /// Whether the source says where objects were allocated.
    pub fn has_sites(&self) -> bool {
        self.origins.is_some() || self.traces.values().any(|t| !t.frames.is_empty())
    }

    /// Where objects come from and how they live; `None` for dumps, which do not know.
    pub fn origins(&self) -> Option<&Origins> {
        self.origins.as_ref()
    }

    /// What classifiers look at.
    pub fn facts(&self, o: ObjectId) -> Facts<'_> {
        let i = o.0 as usize;
        let life = self.origins.as_ref().map(|origins| {
            let origin = origins.of(i);
            Life {
                thread: origins.thread(origin.thread),
                allocator: origin.allocator,
                space: origin.space,
                age: origins.gcs - origin.birth.min(origins.gcs),
            }
        });
        Facts {
            of: &self.types[self.type_of[i] as usize],
            length: self.array_length(o),
            size: self.size_of(o),
            site: self.allocation_site(o),
            life,
        }
    }

    /// What a person must know about this state.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Bytes of memory this state takes, within a few percent.
    pub fn memory(&self) -> usize {
        4 * (self.type_of.len() + self.length.len())
            + self.outgoing.memory()
            + self.incoming.memory()
            + self.addresses.memory()
            + self.origins.as_ref().map_or(0, Origins::memory)
            + 80 * self.roots.len()
            + 120 * self.types.len()
    }
}
