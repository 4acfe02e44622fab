//! A heap state: what is alive at one point in time, as columns, and the questions one can ask of it.

use crate::error::Warning;
use crate::reach::Search;
use crate::{
    AddressMap, AllocationSite, Amount, BitSet, Csr, Facts, HeapType, InferredReference, Life, Loaders, NO_LENGTH,
    ObjectId, ObjectIds, ObjectParts, Origins, ReferenceFields, Referents, Root, TypeId, TypeKind, TypeSizes,
    roots::RootsByObject,
};
use std::sync::OnceLock;

/// The columns of a heap state, as whoever reads a format fills them in. Columns by object have one entry an object, in
/// the order of addresses (objects that are known by an id follow, in the order of ids); columns by type one a type.
pub struct HeapColumns {
    /// The types.
    pub types: Vec<HeapType>,
    /// Who loaded the types, where the source knows the parents of loaders.
    pub loaders: Loaders,
    /// Size of the instances of each type; arrays have theirs by length.
    pub sizes: TypeSizes,
    /// By object: its type.
    pub type_of: Vec<u32>,
    /// By object: array length, [`NO_LENGTH`] for instances.
    pub length: Vec<u32>,
    /// Shallow bytes of objects whose size does not follow from type and length (class mirrors).
    pub odd_sizes: rustc_hash::FxHashMap<u32, u64>,
    /// Addresses of the objects, without those that are known by an id.
    pub addresses: AddressMap,
    /// References by source.
    pub outgoing: Csr,
    /// Of the references, those of reference objects to their referents.
    pub referents: Referents,
    /// The GC roots.
    pub roots: Vec<Root>,
    /// By type: the object that stands for it (its class mirror), alive as long as an instance is.
    pub mirror_of: Vec<Option<ObjectId>>,
    /// By object: key of its allocation trace; empty when the source has none.
    pub sites: Vec<u32>,
    /// Allocation traces by key.
    pub traces: ahash::AHashMap<u32, AllocationSite>,
    /// Origins of the objects, where the source is a trace.
    pub origins: Option<Origins>,
    /// What a person must know about this state.
    pub warnings: Vec<Warning>,
}

/// The objects of one point in time. Immutable; shared between threads.
pub struct HeapState {
    columns: HeapColumns,
    /// The transpose of the references. Most states are only grouped by what objects are, and never need it.
    incoming: OnceLock<Csr>,
    reachable: OnceLock<BitSet>,
    totals: OnceLock<(Amount, Amount)>,
    inferred: Vec<InferredReference>,
    /// Empty where the source knows fields object by object, or not at all.
    reference_fields: ReferenceFields,
    /// The types that have objects of odd sizes: most have none, and the question is asked of all objects.
    odd_types: BitSet,
    /// The type of the objects that stand for types.
    class_type: Option<u32>,
    roots_by_object: OnceLock<RootsByObject>,
}

impl HeapState {
    /// A heap state of these columns.
    pub fn new(columns: HeapColumns) -> HeapState {
        Self::inferred(columns, None, Vec::new())
    }

    /// A heap state whose source says which objects are alive, whatever reaches them.
    pub fn with_reachable(columns: HeapColumns, reachable: BitSet) -> HeapState {
        Self::inferred(columns, Some(reachable), Vec::new())
    }

    /// As [`HeapState::with_reachable`]; `inferred` says which of the references the source did not list, ascending.
    pub(crate) fn inferred(
        columns: HeapColumns,
        reachable: Option<BitSet>,
        inferred: Vec<InferredReference>,
    ) -> HeapState {
        let class_object = columns.mirror_of.iter().flatten().next();
        let mut odd_types = BitSet::new(columns.types.len());
        for &o in columns.odd_sizes.keys() {
            odd_types.insert(columns.type_of[o as usize]);
        }
        HeapState {
            odd_types,
            class_type: class_object.map(|o| columns.type_of[o.0 as usize]),
            columns,
            incoming: OnceLock::new(),
            reachable: reachable.map(OnceLock::from).unwrap_or_default(),
            totals: OnceLock::new(),
            inferred,
            reference_fields: ReferenceFields::default(),
            roots_by_object: OnceLock::new(),
        }
    }

    /// The same with what is known of the fields that hold references.
    pub fn with_reference_fields(mut self, fields: ReferenceFields) -> HeapState {
        self.reference_fields = fields;
        self
    }

    /// The object that stands for a type (its class mirror), where the source has one.
    #[inline]
    pub fn mirror_of(&self, t: TypeId) -> Option<ObjectId> {
        self.columns.mirror_of.get(t.0 as usize).copied().flatten()
    }

    /// Whether the object stands for a type: its type is that of class objects.
    #[inline]
    pub fn is_class_object(&self, o: ObjectId) -> bool {
        self.class_type == Some(self.columns.type_of[o.0 as usize])
    }

    /// Whether the source has objects that stand for types. Constant time: it is asked of every object that a root holds.
    #[inline]
    pub fn has_class_objects(&self) -> bool {
        self.class_type.is_some()
    }

    /// How many objects there are, reachable or not.
    #[inline]
    pub fn object_count(&self) -> usize {
        self.columns.type_of.len()
    }

    /// All objects, by address; then those known by an id.
    #[inline]
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        (0..self.columns.type_of.len() as u32).map(ObjectId)
    }

    /// The types; the index is [`TypeId`].
    #[inline]
    pub fn types(&self) -> &[HeapType] {
        &self.columns.types
    }

    /// The type of an object.
    #[inline]
    pub fn type_of(&self, o: ObjectId) -> TypeId {
        TypeId(self.columns.type_of[o.0 as usize])
    }

    /// What neighbouring objects refer to, from one object to another, but for what is too much to ask for ahead.
    #[inline]
    pub(crate) fn references_ahead(&self, first: ObjectId, last: ObjectId) -> &[ObjectId] {
        self.columns.outgoing.of_run(first, last, crate::sweep::AHEAD)
    }

    /// Shallow size in bytes, as the runtime accounts for it.
    #[inline]
    pub fn size_of(&self, o: ObjectId) -> u64 {
        let i = o.0 as usize;
        let t = self.columns.type_of[i] as usize;
        if self.odd_types.contains(t as u32)
            && let Some(&size) = self.columns.odd_sizes.get(&o.0)
        {
            return size;
        }
        self.columns.sizes.size(t, self.columns.length[i])
    }

    /// By object: the number of its type; and the number of its elements, [`NO_LENGTH`](crate::NO_LENGTH) for instances. For
    /// whoever goes through all objects.
    #[inline]
    pub fn types_and_lengths(&self) -> (&[u32], &[u32]) {
        (&self.columns.type_of, &self.columns.length)
    }

    /// How sizes follow from types and lengths, but for those objects of which [`HeapState::odd_sizes`] knows better.
    #[inline]
    pub fn type_sizes(&self) -> &TypeSizes {
        &self.columns.sizes
    }

    /// What the bytes of an object are for; `None` where the source does not know, and of class objects.
    pub fn parts_of(&self, o: ObjectId) -> Option<ObjectParts> {
        let i = o.0 as usize;
        let sizes = &self.columns.sizes;
        let t = self.columns.type_of[i] as usize;
        let fields = sizes.fields.get(t)?;
        if self.columns.odd_sizes.contains_key(&o.0) {
            return None;
        }
        let length = self.array_length(o).unwrap_or(0);
        let (primitive, slots) = match self.columns.types[t].kind {
            TypeKind::Instance => (fields.primitive, fields.references),
            TypeKind::PrimitiveArray => (0, 0),
            TypeKind::ObjectArray => (0, length),
        };
        let elements = match self.columns.types[t].kind {
            TypeKind::PrimitiveArray => u64::from(length) * u64::from(sizes.element[t]),
            _ => 0,
        };
        let set = self.references(o).len().min(slots as usize) as u64;
        let reference = u64::from(sizes.reference);
        Some(ObjectParts {
            header: u64::from(fields.header),
            primitive: u64::from(primitive) + elements,
            pointers: set * reference,
            nulls: (u64::from(slots) - set) * reference,
        })
    }

    /// The objects whose size does not follow from type and length, with their shallow bytes; in no particular order.
    pub fn odd_sizes(&self) -> impl ExactSizeIterator<Item = (ObjectId, u64)> + '_ {
        self.columns.odd_sizes.iter().map(|(&o, &size)| (ObjectId(o), size))
    }

    /// Number of elements of an array; `None` for instances.
    #[inline]
    pub fn array_length(&self, o: ObjectId) -> Option<u32> {
        Some(self.columns.length[o.0 as usize]).filter(|&l| l != NO_LENGTH)
    }

    /// The address. `None` where the source does not tell it: it may know objects by ids ([`HeapState::stable_id`]).
    #[inline]
    pub fn address(&self, o: ObjectId) -> Option<u64> {
        match (o.0 as usize) < self.columns.addresses.len() {
            true => Some(self.columns.addresses.address(o)),
            false => self.ids()?.address(o),
        }
    }

    /// The object at an address.
    #[inline]
    pub fn object_at(&self, address: u64) -> Option<ObjectId> {
        self.columns.addresses.find(address).or_else(|| self.ids()?.at(address))
    }

    /// The id of an object that the source knows by an id of its own, the same in all states.
    pub fn stable_id(&self, o: ObjectId) -> Option<u64> {
        self.ids()?.id(o)
    }

    /// The object with such an id.
    pub fn object_with_id(&self, id: u64) -> Option<ObjectId> {
        self.ids()?.find(id)
    }

    fn ids(&self) -> Option<&ObjectIds> {
        self.columns.origins.as_ref().map(|origins| &origins.ids)
    }

    /// The objects it refers to: one entry a reference that is not null.
    #[inline]
    pub fn references(&self, o: ObjectId) -> &[ObjectId] {
        self.columns.outgoing.of(o)
    }

    /// The objects that refer to it: one entry a reference. At the first question the references of all objects are
    /// turned round: 4 bytes an object and a reference, and about as long as a walk over all references.
    #[inline]
    pub fn referrers(&self, o: ObjectId) -> &[ObjectId] {
        self.incoming().of(o)
    }

    #[inline]
    fn incoming(&self) -> &Csr {
        self.incoming.get_or_init(|| self.columns.outgoing.transpose())
    }

    /// Of the references, those of reference objects (`java.lang.ref.Reference`) to their referents.
    #[inline]
    pub fn referents(&self) -> &Referents {
        &self.columns.referents
    }

    /// Of the references, those that the source does not list but that must be there, ascending by source and target. In
    /// heap dumps: what fields of class objects hold that dumps leave out.
    pub fn inferred_references(&self) -> &[InferredReference] {
        &self.inferred
    }

    /// The field of `from` that holds `to`, where the reference is one of [`HeapState::inferred_references`].
    pub fn inferred_field(&self, from: ObjectId, to: ObjectId) -> Option<&'static str> {
        let at = self.inferred.partition_point(|r| (r.from, r.to) < (from, to));
        self.inferred.get(at).filter(|r| (r.from, r.to) == (from, to)).map(|r| r.field)
    }

    /// Which fields hold objects of which types, where that was found out.
    pub fn reference_fields(&self) -> &ReferenceFields {
        &self.reference_fields
    }

    /// The field by which an instance refers to another object, for people: `value`, or `first or last` where it is one of these;
    /// `None` where that is not known. Of class objects [`HeapState::roots_of`] says more.
    pub fn field_between(&self, from: ObjectId, to: ObjectId) -> Option<String> {
        if let Some(field) = self.inferred_field(from, to) {
            return Some(field.to_owned());
        }
        self.reference_fields.text(self, from, to)
    }

    /// How many references there are.
    #[inline]
    pub fn reference_count(&self) -> usize {
        self.columns.outgoing.len()
    }

    /// The GC roots. Those of kind [`RootKind::StaticField`] name the fields of loaded classes; what keeps the
    /// class itself alive is another root.
    #[inline]
    pub fn roots(&self) -> &[Root] {
        &self.columns.roots
    }

    /// The roots that hold an object directly, in the order of [`HeapState::roots`]. An index of all roots is made at the
    /// first question: 8 bytes a root and a bit an object.
    pub fn roots_of(&self, o: ObjectId) -> impl ExactSizeIterator<Item = &Root> {
        let roots = &self.columns.roots;
        self.roots_by_object().of(roots, o).iter().map(|&r| &roots[r as usize])
    }

    /// The objects that roots hold directly; of the same index.
    pub fn held(&self) -> &BitSet {
        self.roots_by_object().held()
    }

    /// A number that equal roots have in common, of an object that one root alone holds; of the same index.
    #[inline]
    pub fn only_root_of(&self, o: ObjectId) -> Option<u32> {
        self.roots_by_object().only_root_of(&self.columns.roots, o)
    }

    #[inline]
    fn roots_by_object(&self) -> &RootsByObject {
        self.roots_by_object.get_or_init(|| RootsByObject::new(&self.columns.roots, self.object_count()))
    }

    /// The class loaders; empty when the source does not know them.
    pub fn loaders(&self) -> &Loaders {
        &self.columns.loaders
    }

    /// Whether any root reaches the object. Computed for all objects at the first question. Weak, soft and phantom
    /// references count as references: what they alone hold is still in memory.
    #[inline]
    pub fn is_reachable(&self, o: ObjectId) -> bool {
        self.reachable().contains(o.0)
    }

    /// The reachable objects.
    #[inline]
    pub fn reachable(&self) -> &BitSet {
        self.reachable.get_or_init(|| Search::from_roots(&self.columns).seen)
    }

    /// What the roots reach, whatever the source calls alive: a trace keeps what no collection has looked at yet. `None` where
    /// roots or references are not known. A search over all objects at each call.
    pub fn reached_by_roots(&self) -> Option<Amount> {
        if self.columns.roots.is_empty() || self.reference_count() == 0 {
            return None;
        }
        let mut reached = Amount::default();
        for o in Search::from_roots(&self.columns).seen.iter() {
            reached.objects += 1;
            reached.bytes += self.size_of(ObjectId(o));
        }
        Some(reached)
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
    #[inline]
    pub fn allocation_site(&self, o: ObjectId) -> &[std::sync::Arc<str>] {
        let i = o.0 as usize;
        if let Some(origins) = &self.columns.origins {
            return origins.frames(origins.of(i).site);
        }
        self.columns.sites.get(i).and_then(|s| self.columns.traces.get(s)).map(|t| &t.frames[..]).unwrap_or(&[])
    }

    /// Objects with equal numbers here, and of equal types, were allocated at the same place; and where the source knows
    /// origins, they are equal in all of [`crate::Origin`]. 0 for all where nothing is known.
    #[inline]
    pub fn origin_class(&self, o: ObjectId) -> u32 {
        let i = o.0 as usize;
        match &self.columns.origins {
            Some(origins) => origins.class_of(i),
            None => self.columns.sites.get(i).copied().unwrap_or(0),
        }
    }

    /// Whether the source says where objects were allocated.
    pub fn has_sites(&self) -> bool {
        self.columns.origins.is_some() || self.columns.traces.values().any(|t| !t.frames.is_empty())
    }

    /// Whether nothing is known of the origin of an object because only samples of all allocations were recorded, and it
    /// is none.
    #[inline]
    pub fn is_unsampled(&self, o: ObjectId) -> bool {
        self.columns.origins.as_ref().is_some_and(|origins| !origins.of(o.0 as usize).was_recorded())
    }

    /// Where objects come from and how they live; `None` for dumps, which do not know.
    #[inline]
    pub fn origins(&self) -> Option<&Origins> {
        self.columns.origins.as_ref()
    }

    /// What classifiers look at.
    #[inline]
    pub fn facts(&self, o: ObjectId) -> Facts<'_> {
        let i = o.0 as usize;
        let life = self.columns.origins.as_ref().and_then(|origins| {
            let origin = origins.of(i);
            origin.was_recorded().then(|| Life {
                thread: origins.thread(origin.thread),
                allocator: origin.allocator,
                space: origin.space,
                age: origins.gcs - origin.birth.min(origins.gcs),
            })
        });
        Facts {
            of: &self.columns.types[self.columns.type_of[i] as usize],
            length: self.array_length(o),
            size: self.size_of(o),
            site: self.allocation_site(o),
            life,
        }
    }

    /// What a person must know about this state.
    pub fn warnings(&self) -> &[Warning] {
        &self.columns.warnings
    }

    /// Bytes of memory this state takes, within a few percent, once it knows the references of each object both ways.
    pub fn memory(&self) -> usize {
        4 * (self.columns.type_of.len() + self.columns.length.len())
            + self.columns.outgoing.memory()
            + self.columns.outgoing.memory()
            + self.columns.addresses.memory()
            + self.columns.origins.as_ref().map_or(0, Origins::memory)
            + 80 * self.columns.roots.len()
            + 120 * self.columns.types.len()
    }
}
