//! One heap state: the objects alive at one point in time, as columns. Also the basics that every part of Memory City shares: errors and
//! warnings, progress, inputs.
//!
//! Objects are numbered `0..n` in address order, so sets of objects are bit sets and every property is a column indexed by
//! [`ObjectId`]. This crate knows no file format and no classifier.
//!
//! # Example
//! ```
//! use memory_city_heap::{HeapBuilder, HeapType, Root, RootKind, TypeKind};
//!
//! let mut heap = HeapBuilder::new();
//! let node = heap.add_type(HeapType {
//!     name: "Node".into(),
//!     kind: TypeKind::Instance,
//!     superclass: None,
//!     loader: "bootstrap".into(),
//! });
//! let first = heap.add_object(node, 24, None);
//! let second = heap.add_object(node, 24, None);
//! let garbage = heap.add_object(node, 24, None);
//! heap.add_reference(first, second);
//! heap.add_root(Root { object: first, kind: RootKind::Thread, detail: "main".into() });
//! let heap = heap.finish();
//! assert_eq!(heap.referrers(second), [first]);
//! assert!(heap.is_reachable(second) && !heap.is_reachable(garbage));
//! ```

mod addresses;
mod amount;
mod bits;
mod build;
mod columns;
mod csr;
pub mod error;
mod infer;
pub mod input;
pub mod memory;
pub mod numbers;
mod origin;
pub mod ownership;
pub mod prefetch;
pub mod printable;
mod profile;
pub mod progress;
mod reach;
mod readers;
mod reference_fields;
mod reference_names;
mod referents;
pub mod regular;
mod roots;
mod state;
pub mod structures;
mod sweep;
pub mod texts;
mod types;
pub mod unfinished;

pub use addresses::{AddressMap, AddressSet, AddressWriter, TooManyAddresses};
pub use amount::Amount;
pub use bits::BitSet;
pub use build::HeapBuilder;
pub use columns::HeapColumns;
pub use csr::Csr;
pub use infer::{Inference, InferredReference};
pub use origin::{
    AllocationSite, Allocator, CohortFacts, Facts, Identity, Life, ObjectIds, Origin, Origins, SpaceKind, ThreadId,
};
pub use profile::{
    Buffers, CollectionNames, EntryFields, FieldName, Finalizers, GeneratedName, KnownTypes, LoaderNames, NameRules,
    Packages, Profile, TextType, ThreadLocals,
};
pub use reference_fields::{FieldsBetween, ReferenceFields};
pub use reference_names::{ReferenceName, ReferenceNameTable, ReferenceNames};
pub use referents::{Referent, Referents, Strength};
pub use roots::{Root, RootKind, RootWords, VIRTUAL_THREADS};
pub use state::HeapState;
pub use types::{
    BIG_ARRAY, FieldBytes, HeapType, Loader, Loaders, NO_LENGTH, ObjectId, ObjectParts, TypeId, TypeKind, TypeSizes,
};
