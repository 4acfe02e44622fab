//! The view of an object for classifiers.

use super::reads::Reads;
use memory_city_heap::{
    Allocator, BIG_ARRAY, BitSet, CohortFacts, HeapState, HeapType, Identity, ObjectId, Profile, Root, SpaceKind,
    TypeId,
};
use std::sync::Arc;

/// An object, or objects that are equal in all facts a classifier reads, limited to the declared facts that the input knows.
///
/// A classifier gets only the facts it declared. So nothing can be grouped by facts that the chosen way of grouping does not have:
/// undeclared facts look as if the input lacked them. Tests and other builds with debug assertions panic instead.
#[derive(Clone, Copy)]
pub struct ObjectView<'a> {
    subject: Subject<'a>,
    reads: Reads,
}

#[derive(Clone, Copy)]
enum Subject<'a> {
    Object { heap: &'a HeapState, id: ObjectId, among: Option<&'a BitSet> },
    Cohort(&'a CohortFacts<'a>),
}

impl<'a> ObjectView<'a> {
    /// An object of a heap state, for a classifier that declares `reads`. Where `among` is given, objects outside that
    /// set are not seen at the other ends of references.
    #[inline]
    pub fn new(heap: &'a HeapState, id: ObjectId, among: Option<&'a BitSet>, reads: Reads) -> ObjectView<'a> {
        ObjectView { subject: Subject::Object { heap, id, among }, reads }
    }

    /// A view of the objects of a cohort: the facts of [`Reads::BY_CLASS`], and perhaps their length.
    pub(crate) fn of_cohort(facts: &'a CohortFacts<'a>) -> ObjectView<'a> {
        ObjectView { subject: Subject::Cohort(facts), reads: Reads::BY_CLASS }
    }

    /// The same for a classifier that declares less, or other things.
    #[inline]
    pub(crate) fn for_reader(mut self, reads: Reads) -> ObjectView<'a> {
        self.reads = reads;
        self
    }

    #[inline]
    fn may(&self, read: Reads) -> bool {
        let may = self.reads.intersects(read);
        debug_assert!(may, "a classifier reads {read:?} and declares only {:?}", self.reads);
        may
    }

    /// The heap state and the object's number there.
    #[inline]
    fn object(&self, read: Reads) -> Option<(&'a HeapState, ObjectId)> {
        let may = self.may(read);
        match self.subject {
            Subject::Object { heap, id, .. } if may => Some((heap, id)),
            _ => None,
        }
    }

    /// The type ([`Reads::TYPE`]).
    #[inline]
    pub fn heap_type(&self) -> Option<&'a HeapType> {
        self.may(Reads::TYPE).then_some(match self.subject {
            Subject::Object { heap, id, .. } => &heap.types()[heap.type_of(id).0 as usize],
            Subject::Cohort(facts) => facts.of,
        })
    }

    /// What its runtime calls things.
    #[inline]
    pub fn profile(&self) -> &'static Profile {
        match self.subject {
            Subject::Object { heap, .. } => heap.profile(),
            Subject::Cohort(facts) => facts.profile,
        }
    }

    /// The name of the type as people write it ([`Reads::TYPE`]); empty when not declared. Without the address in the
    /// names of hidden classes, which differs from run to run.
    #[inline]
    pub fn type_name(&self) -> &'a str {
        self.heap_type().map_or("", |t| self.profile().names.stable(&t.name))
    }

    /// The class loader of the type, its parent, and so on ([`Reads::LOADERS`]); empty when the VM itself defined the
    /// type, or the input does not know.
    pub fn loaders(&self) -> impl Iterator<Item = &'a str> {
        let chain = self.object(Reads::LOADERS).map(|(heap, id)| heap.loaders().chain(heap.type_of(id)));
        chain.into_iter().flatten().map(|loader| &*loader.name)
    }

    /// Whether it is an array of at least [`BIG_ARRAY`] elements ([`Reads::BIG_ARRAY`]).
    #[inline]
    pub fn is_big_array(&self) -> bool {
        self.may(Reads::BIG_ARRAY)
            && match self.subject {
                Subject::Object { heap, id, .. } => heap.array_length(id).is_some_and(|l| l >= BIG_ARRAY),
                Subject::Cohort(facts) => facts.big_array,
            }
    }

    /// Where it was allocated, innermost frame first ([`Reads::SITE`]); empty when the input does not know.
    #[inline]
    pub fn site(&self) -> &'a [Arc<str>] {
        match self.subject {
            _ if !self.may(Reads::SITE) => &[],
            Subject::Object { heap, id, .. } => heap.allocation_site(id),
            Subject::Cohort(facts) => facts.site,
        }
    }

    /// The reason for an empty [`ObjectView::site`]: the object was no sample, or its site is unknown for another reason.
    pub fn no_site(&self) -> &'static str {
        match self.subject {
            Subject::Object { heap, id, .. } if heap.is_unsampled(id) => "(not sampled)",
            _ => "(unknown site)",
        }
    }

    /// The name of the allocating thread ([`Reads::THREAD`]).
    pub fn thread(&self) -> Option<&'a str> {
        self.life(Reads::THREAD).map(|life| &**life.thread)
    }

    /// The allocating subsystem ([`Reads::SUBSYSTEM`]).
    pub fn allocator(&self) -> Option<Allocator> {
        self.life(Reads::SUBSYSTEM).map(|life| life.allocator)
    }

    /// The kind of space it is in ([`Reads::SPACE`]).
    pub fn space(&self) -> Option<SpaceKind> {
        self.life(Reads::SPACE).map(|life| life.space)
    }

    /// How many GCs it survived ([`Reads::AGE`]).
    pub fn age(&self) -> Option<u32> {
        self.life(Reads::AGE).map(|life| life.age)
    }

    fn life(&self, read: Reads) -> Option<memory_city_heap::Life<'a>> {
        match self.subject {
            _ if !self.may(read) => None,
            Subject::Object { heap, id, .. } => heap.facts(id).life,
            Subject::Cohort(facts) => Some(facts.life),
        }
    }

    /// Number of elements of an array ([`Reads::LENGTH`]); `None` for instances.
    #[inline]
    pub fn length(&self) -> Option<u32> {
        match self.subject {
            _ if !self.may(Reads::LENGTH) => None,
            Subject::Object { heap, id, .. } => heap.array_length(id),
            Subject::Cohort(facts) => facts.length,
        }
    }

    /// Shallow bytes ([`Reads::SIZE`]).
    #[inline]
    pub fn size(&self) -> Option<u64> {
        self.object(Reads::SIZE).map(|(heap, id)| heap.size_of(id))
    }

    /// Its number in the heap state at hand ([`Reads::ID`]).
    #[inline]
    pub fn id(&self) -> Option<ObjectId> {
        self.object(Reads::ID).map(|(_, id)| id)
    }

    /// Its address ([`Reads::ID`]).
    pub fn address(&self) -> Option<u64> {
        self.object(Reads::ID).and_then(|(heap, id)| heap.address(id))
    }

    /// Its identity over time ([`Reads::ID`]); `None` for objects of dumps.
    pub fn identity(&self) -> Option<Identity> {
        let (heap, id) = self.object(Reads::ID).filter(|(heap, id)| !heap.is_unsampled(*id))?;
        Some(heap.origins()?.identity(id.0 as usize))
    }

    /// The objects it refers to, one for each reference that is not null ([`Reads::REFERENCES`]).
    #[inline]
    pub fn references(&self) -> impl Iterator<Item = ObjectView<'a>> {
        self.others(self.object(Reads::REFERENCES).map_or(&[], |(heap, id)| heap.references(id)))
    }

    /// The objects that refer to it, one for each reference ([`Reads::REFERRERS`]). Garbage is not among them, unless it
    /// is grouped too.
    #[inline]
    pub fn referrers(&self) -> impl Iterator<Item = ObjectView<'a>> {
        self.others(self.object(Reads::REFERRERS).map_or(&[], |(heap, id)| heap.referrers(id)))
    }

    #[inline]
    fn others(&self, ids: &'a [ObjectId]) -> impl Iterator<Item = ObjectView<'a>> {
        let view = *self;
        ids.iter().filter_map(move |&id| match view.subject {
            Subject::Object { heap, among, .. } if among.is_none_or(|all| all.contains(id.0)) => {
                Some(ObjectView { subject: Subject::Object { heap, id, among }, ..view })
            }
            _ => None,
        })
    }

    /// The GC roots that hold it directly ([`Reads::ROOTS`]).
    #[inline]
    pub fn roots(&self) -> impl Iterator<Item = &'a Root> {
        self.object(Reads::ROOTS).map(|(heap, id)| heap.roots_of(id)).into_iter().flatten()
    }

    /// A number that decides the roots of the object: one for objects without roots, one for each object with one root; `None` otherwise.
    #[inline]
    pub(super) fn roots_number(&self) -> Option<u64> {
        let (heap, id) = self.object(Reads::ROOTS)?;
        match heap.held().contains(id.0) {
            true => heap.only_root_of(id).map(|root| u64::from(root) + 1),
            false => Some(0),
        }
    }

    /// The parts of its bytes ([`Reads::FIELDS`]).
    pub fn parts(&self) -> Option<memory_city_heap::ObjectParts> {
        self.object(Reads::FIELDS).and_then(|(heap, id)| heap.parts_of(id))
    }

    /// Whether any GC root reaches it ([`Reads::REACHABLE`]).
    pub fn is_reachable(&self) -> Option<bool> {
        self.object(Reads::REACHABLE).map(|(heap, id)| heap.is_reachable(id))
    }

    /// The object that stands for its class ([`Reads::CLASS_OBJECT`]), where the input has one.
    pub fn class_object(&self) -> Option<ObjectView<'a>> {
        let (heap, id) = self.object(Reads::CLASS_OBJECT)?;
        let mirror = heap.mirror_of(heap.type_of(id))?;
        Some(ObjectView { subject: Subject::Object { heap, id: mirror, among: None }, ..*self })
    }

    /// The heap state, the object's number there, and the visible objects; or the common facts of a cohort. For code that passes an object
    /// on: the code that reads it has declared its facts.
    pub(super) fn subject(&self) -> Result<(&'a HeapState, ObjectId, Option<&'a BitSet>), &'a CohortFacts<'a>> {
        match self.subject {
            Subject::Object { heap, id, among } => Ok((heap, id, among)),
            Subject::Cohort(facts) => Err(facts),
        }
    }

    #[inline]
    pub(super) fn type_id(&self) -> Option<TypeId> {
        match self.subject {
            Subject::Object { heap, id, .. } => Some(heap.type_of(id)),
            Subject::Cohort(_) => None,
        }
    }
}

/// A number from which the types of objects follow, where they are no more than three. Constant time: `None` where they are
/// many objects.
pub(super) fn few_types<'a>(objects: impl Iterator<Item = ObjectView<'a>>) -> Option<u64> {
    const BITS: u32 = 21;
    const MOST: usize = 16;
    let mut types = [0u64; 3];
    for (i, object) in objects.enumerate() {
        // Ascending, 0 where there is none.
        let of = u64::from(object.type_id()?.0) + 1;
        if i == MOST || of >> BITS != 0 {
            return None;
        }
        if types.contains(&of) {
            continue;
        }
        if types[0] != 0 {
            return None;
        }
        types[0] = of;
        types.sort_unstable();
    }
    Some(types[0] << (2 * BITS) | types[1] << BITS | types[2])
}

/// The names of the types of objects, each once, in no particular order ([`Reads::TYPE`]). O(n log k + k²) for n objects
/// of k types.
pub fn type_names<'a>(objects: impl Iterator<Item = ObjectView<'a>>) -> Vec<&'a str> {
    let mut found: Vec<(TypeId, ObjectView<'a>)> = Vec::new();
    let mut last = None;
    for object in objects {
        let Some(of) = object.type_id() else { continue };
        // The elements of an array are mostly of one type.
        if last != Some(of)
            && let Err(at) = found.binary_search_by_key(&of, |f| f.0)
        {
            found.insert(at, (of, object));
        }
        last = Some(of);
    }
    found.iter().map(|(_, object)| object.type_name()).collect()
}
