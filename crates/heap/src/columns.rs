//! The columns of a heap state, as readers of formats fill them in.

use super::addresses::AddressMap;
use super::csr::Csr;
use super::origin::{AllocationSite, Origins};
use super::profile::Profile;
use super::reference_names::ReferenceNames;
use super::referents::Referent;
use super::roots::Root;
use super::types::{HeapType, Loaders, ObjectId, TypeSizes};
use crate::error::Warning;

/// The columns of a heap state, filled in by the reader of a format. Columns by object have one entry an object, in the order of addresses.
/// (Objects that are known by an id follow, in the order of ids.) Columns by type have one entry a type. What a source does not have stays
/// empty and costs nothing.
#[derive(Default)]
pub struct HeapColumns {
    /// What the runtime calls things.
    pub profile: &'static Profile,
    /// The types.
    pub types: Vec<HeapType>,
    /// The loaders of the types, if the source knows the parents of loaders.
    pub loaders: Loaders,
    /// Size of the instances of each type; arrays have theirs by length.
    pub sizes: TypeSizes,
    /// By object: its type.
    pub type_of: Vec<u32>,
    /// By object: array length, [`NO_LENGTH`] for instances.
    pub length: Vec<u32>,
    /// Shallow bytes of objects whose size does not follow from type and length (class mirrors).
    pub odd_sizes: rustc_hash::FxHashMap<u32, u64>,
    /// By object: its shallow bytes, where most follow no rule; [`HeapColumns::LARGE`] of those in `odd_sizes`. Empty in other sources.
    pub own_sizes: Vec<u32>,
    /// Addresses of the objects, without those that are known by an id.
    pub addresses: AddressMap,
    /// References by source.
    pub outgoing: Csr,
    /// By reference, in the order of `outgoing`: its name. Empty where the source names fields of types, or nothing.
    pub names: ReferenceNames,
    /// Those of the references that are weaker than plain ones, in any order.
    pub referents: Vec<Referent>,
    /// The GC roots.
    pub roots: Vec<Root>,
    /// By type: the object that stands for it (its class mirror), alive as long as an instance is.
    pub mirror_of: Vec<Option<ObjectId>>,
    /// By object: key of its allocation trace; empty without such a column in the source.
    pub sites: Vec<u32>,
    /// Allocation traces by key.
    pub traces: ahash::AHashMap<u32, AllocationSite>,
    /// Origins of the objects, where the source is a trace.
    pub origins: Option<Origins>,
    /// Limits of this state that a person must know.
    pub warnings: Vec<Warning>,
}

impl HeapColumns {
    /// The size of an object that is too large for [`HeapColumns::own_sizes`].
    pub const LARGE: u32 = u32::MAX;
}
