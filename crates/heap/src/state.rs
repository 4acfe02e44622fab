//! A heap state: the objects alive at one point in time, and queries over them.

use super::amount::Amount;
use super::bits::BitSet;
use super::columns::HeapColumns;
use super::csr::Csr;
use super::infer::InferredReference;
use super::origin::{Facts, Life, ObjectIds, Origins};
use super::profile::Profile;
use super::reference_fields::ReferenceFields;
use super::referents::Referents;
use super::roots::Root;
use super::types::{HeapType, Loaders, NO_LENGTH, ObjectId, ObjectParts, TypeId, TypeKind, TypeSizes};
use crate::error::Warning;
use crate::reach::Search;
use crate::roots::RootsByObject;
use std::sync::OnceLock;

/// The objects of one point in time. Immutable; shared between threads.
pub struct HeapState {
    columns: HeapColumns,
    referents: Referents,
    /// The transpose of the references, built on demand. Most states are only grouped by the facts of objects, and never need it.
    incoming: OnceLock<Csr>,
    reachable: OnceLock<BitSet>,
    totals: OnceLock<(Amount, Amount)>,
    inferred: Vec<InferredReference>,
    /// Empty where the source knows fields object by object, or not at all.
    reference_fields: ReferenceFields,
    /// The types that have objects of odd sizes: most have none, and the question is asked of all objects.
    odd_types: BitSet,
    /// The types of the objects that stand for types.
    class_types: BitSet,
    has_class_objects: bool,
    roots_by_object: OnceLock<RootsByObject>,
}

impl HeapState {
    /// A heap state of these columns.
    pub fn new(columns: HeapColumns) -> HeapState {
        Self::inferred(columns, None, Vec::new())
    }

    /// A heap state whose source lists the live objects, whether roots reach them or not.
    pub fn with_reachable(columns: HeapColumns, reachable: BitSet) -> HeapState {
        Self::inferred(columns, Some(reachable), Vec::new())
    }

    /// As [`HeapState::with_reachable`]; `inferred` are the references that the source did not list, ascending.
    pub(crate) fn inferred(
        mut columns: HeapColumns,
        reachable: Option<BitSet>,
        inferred: Vec<InferredReference>,
    ) -> HeapState {
        let types = columns.types.len();
        let mut class_types = BitSet::new(types);
        for class_object in columns.mirror_of.iter().flatten() {
            class_types.insert(columns.type_of[class_object.0 as usize]);
        }
        let mut odd_types = if columns.own_sizes.is_empty() { BitSet::new(types) } else { BitSet::full(types) };
        for &o in columns.odd_sizes.keys() {
            odd_types.insert(columns.type_of[o as usize]);
        }
        HeapState {
            odd_types,
            has_class_objects: class_types.count() > 0,
            class_types,
            referents: Referents::new(std::mem::take(&mut columns.referents), &columns.outgoing),
            columns,
            incoming: OnceLock::new(),
            reachable: reachable.map(OnceLock::from).unwrap_or_default(),
            totals: OnceLock::new(),
            inferred,
            reference_fields: ReferenceFields::default(),
            roots_by_object: OnceLock::new(),
        }
    }

    /// The columns, but for the weaker references.
    #[inline]
    pub(crate) fn columns(&self) -> &HeapColumns {
        &self.columns
    }

    /// The same with further things that a person must know.
    pub fn with_warnings(mut self, warnings: Vec<Warning>) -> HeapState {
        self.columns.warnings.extend(warnings);
        self
    }

    /// The same with known fields of references.
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
        self.class_types.contains(self.columns.type_of[o.0 as usize])
    }

    /// Whether the source has objects that stand for types. Constant time: it is asked of every object that a root holds.
    #[inline]
    pub fn has_class_objects(&self) -> bool {
        self.has_class_objects
    }

    /// What the runtime calls things.
    #[inline]
    pub fn profile(&self) -> &'static Profile {
        self.columns.profile
    }

    /// The number of objects, reachable or not.
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

    /// A type and its supertypes, the nearest first; a hundred at most, since damage may make a type its own supertype.
    pub fn supertypes(&self, of: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        const DEEPEST: usize = 100;
        let above = |t: &TypeId| self.types()[t.0 as usize].superclass.filter(|t| (t.0 as usize) < self.types().len());
        std::iter::successors(Some(of), above).take(DEEPEST)
    }

    /// The type of an object.
    #[inline]
    pub fn type_of(&self, o: ObjectId) -> TypeId {
        TypeId(self.columns.type_of[o.0 as usize])
    }

    /// The number of an object that it has in all heap states of its series, where the input follows it from one to the next.
    pub fn followed_number(&self, o: ObjectId) -> Option<u64> {
        let (origins, at) = (self.origins()?, o.0 as usize);
        match origins.followed.get(at) {
            Some(0) => None,
            Some(number) => Some(*number),
            None if origins.of(at).was_recorded() => {
                let identity = origins.identity(at);
                Some(u64::from(identity.birth) << 32 | u64::from(identity.number))
            }
            None => None,
        }
    }

    /// The references of neighbouring objects, from `first` to `last`, cut to a number worth prefetching.
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
            && let Some(size) = self.odd_size(o)
        {
            return size;
        }
        self.columns.sizes.size(t, self.columns.length[i])
    }

    /// Shallow bytes of an object whose size does not follow from type and length.
    pub fn odd_size(&self, o: ObjectId) -> Option<u64> {
        match self.columns.own_sizes.get(o.0 as usize) {
            Some(&size) if size != HeapColumns::LARGE => Some(size.into()),
            _ => self.columns.odd_sizes.get(&o.0).copied(),
        }
    }

    /// By object: the number of its type, and the number of its elements, [`NO_LENGTH`](crate::NO_LENGTH) for instances. For passes over
    /// all objects.
    #[inline]
    pub fn types_and_lengths(&self) -> (&[u32], &[u32]) {
        (&self.columns.type_of, &self.columns.length)
    }

    /// How sizes follow from types and lengths, but for those objects of which [`HeapState::odd_sizes`] knows better.
    #[inline]
    pub fn type_sizes(&self) -> &TypeSizes {
        &self.columns.sizes
    }

    /// The parts of an object's bytes; `None` if the source does not know them, and for class objects.
    pub fn parts_of(&self, o: ObjectId) -> Option<ObjectParts> {
        let i = o.0 as usize;
        let sizes = &self.columns.sizes;
        let t = self.columns.type_of[i] as usize;
        let fields = sizes.fields.get(t)?;
        if self.odd_size(o).is_some() {
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
    pub fn odd_sizes(&self) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
        let own = self.columns.own_sizes.iter().zip(0..).filter(|(size, _)| **size != HeapColumns::LARGE);
        let own = own.map(|(&size, o)| (ObjectId(o), size.into()));
        own.chain(self.columns.odd_sizes.iter().map(|(&o, &size)| (ObjectId(o), size)))
    }

    /// How many these are.
    pub fn odd_size_count(&self) -> usize {
        self.columns.own_sizes.len().max(self.columns.odd_sizes.len())
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

    /// Bytes that the first look at referrers takes; 0 behind it.
    pub(crate) fn memory_of_referrers(&self) -> u64 {
        match self.incoming.get() {
            Some(_) => 0,
            None => 4 * (self.object_count() as u64 + 1 + self.reference_count() as u64),
        }
    }

    #[inline]
    fn incoming(&self) -> &Csr {
        self.incoming.get_or_init(|| self.columns.outgoing.transpose())
    }

    /// The references that are weaker than plain ones.
    #[inline]
    pub fn referents(&self) -> &Referents {
        &self.referents
    }

    /// Inferred references, which the source does not list but which must exist, ascending by source and target. In heap dumps: hidden
    /// fields of class objects.
    pub fn inferred_references(&self) -> &[InferredReference] {
        &self.inferred
    }

    /// The field of `from` that holds `to`, where the reference is one of [`HeapState::inferred_references`].
    pub fn inferred_field(&self, from: ObjectId, to: ObjectId) -> Option<&'static str> {
        let at = self.inferred.partition_point(|r| (r.from, r.to) < (from, to));
        self.inferred.get(at).filter(|r| (r.from, r.to) == (from, to)).map(|r| r.field)
    }

    /// The fields by which types refer to types, if known.
    pub fn reference_fields(&self) -> &ReferenceFields {
        &self.reference_fields
    }

    /// The field by which an instance refers to another object, for people: `value`, or `first or last` if it is one of these. `None` if
    /// unknown. For class objects [`HeapState::roots_of`] has more, for references with names [`HeapState::names_between`].
    pub fn field_between(&self, from: ObjectId, to: ObjectId) -> Option<String> {
        if let Some(field) = self.inferred_field(from, to) {
            return Some(field.to_owned());
        }
        self.reference_fields.text(self, from, to)
    }

    /// The number of references.
    #[inline]
    pub fn reference_count(&self) -> usize {
        self.columns.outgoing.len()
    }

    /// The GC roots. Those of kind [`RootKind::StaticField`] name the fields of loaded classes; another root keeps the class itself alive.
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

    /// True if any root reaches the object. Computed for all objects at the first call. Weak, soft and phantom references count as
    /// references: objects held by them alone are still in memory.
    #[inline]
    pub fn is_reachable(&self, o: ObjectId) -> bool {
        self.reachable().contains(o.0)
    }

    /// The reachable objects.
    #[inline]
    pub fn reachable(&self) -> &BitSet {
        self.reachable.get_or_init(|| Search::from_roots(&self.columns).seen)
    }

    /// The amount that roots reach, which may be less than the source calls alive: a trace keeps objects until a collection looks at them.
    /// `None` if roots or references are not known. Each call searches all objects.
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

    /// Objects with equal numbers here, and of equal types, were allocated at the same place. If the source knows origins, they are equal
    /// in all of [`crate::Origin`]. 0 for all if nothing is known.
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

    /// The facts that classifiers read.
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

    /// Limits of this state that a person must know.
    pub fn warnings(&self) -> &[Warning] {
        &self.columns.warnings
    }

    /// Whether texts and other values were taken out of the input: what objects hold says nothing.
    pub fn is_redacted(&self) -> bool {
        self.columns.warnings.iter().any(|warning| warning.message.starts_with(Warning::REDACTED))
    }

    /// Whether references were taken out of the input: how many elements a collection has is not known.
    pub fn lacks_references(&self) -> bool {
        let mut reasons = self.columns.warnings.iter().filter_map(Warning::unjudged);
        reasons.any(|reason| reason.starts_with(Warning::NO_REFERENCES))
    }

    /// Bytes of memory this state takes, within a few percent, once it knows the references of each object both ways.
    pub fn memory(&self) -> usize {
        4 * (self.columns.type_of.len() + self.columns.length.len())
            + self.columns.outgoing.memory()
            + self.columns.outgoing.memory()
            + self.columns.addresses.memory()
            + 4 * self.columns.own_sizes.len()
            + self.columns.names.memory()
            + self.columns.origins.as_ref().map_or(0, Origins::memory)
            + 80 * self.columns.roots.len()
            + 120 * self.columns.types.len()
    }
}
