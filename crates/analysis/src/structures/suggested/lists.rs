//! Lists with an array of their own, and structures that are made of one other.

use super::fields::{CountedHead, HeadFields, ReadObjects};
use super::nodes::{is_instance, package};
use super::text::{TypeDraft, type_name};
use super::type_edges::{TypeEdges, elements, is_own_array};
use super::{FEWEST, SampledHeads, SpreadSample, SuggestedStructure, type_named};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, HeapType, ObjectId, TypeId, TypeKind};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Objects of a type with an array each, which no other object refers to.
#[derive(Default)]
pub(super) struct FoundList {
    of: Option<TypeId>,
    objects: u64,
    elements: u64,
    /// Elements of the largest.
    most: u64,
    pub sample: SampledHeads,
    arrays: BTreeSet<TypeId>,
    /// Different numbers of elements, as far as a second one.
    lengths: BTreeSet<u64>,
    /// Whether each array is for objects of any type, and full.
    are_full: bool,
}

/// The lists of the types that `may_be`. A pass over the objects.
///
/// # Errors
/// When cancelled.
pub(super) fn lists(
    heap: &HeapState,
    edges: &TypeEdges,
    may_be: &dyn Fn(TypeId) -> bool,
    progress: &Progress,
) -> Result<Vec<FoundList>> {
    let for_anything = arrays_of_anything(heap);
    let types = (0..heap.types().len() as u32).map(TypeId);
    let is_list = |t: TypeId| is_instance(heap, t) && edges.with_array[t.0 as usize] > 0 && may_be(t);
    let mut all: Vec<Option<FoundList>> =
        types.map(|t| is_list(t).then(|| FoundList { of: Some(t), are_full: true, ..FoundList::default() })).collect();
    let mut inside = Vec::new();
    for (at, o) in heap.objects().filter(|&o| heap.is_reachable(o)).enumerate() {
        if at.is_multiple_of(1 << 16) {
            progress.check()?;
        }
        let Some(list) = &mut all[heap.type_of(o).0 as usize] else { continue };
        let is_array = |a: &ObjectId| heap.types()[heap.type_of(*a).0 as usize].kind == TypeKind::ObjectArray;
        let mut arrays = heap.references(o).iter().copied().filter(|a| is_array(a) && is_own_array(heap, *a));
        let count = match (arrays.next(), arrays.next()) {
            (None, _) => 0,
            (Some(array), None) => {
                elements(heap, array, &mut inside);
                list.arrays.insert(heap.type_of(array));
                let is_full = heap.array_length(array) == Some(inside.len() as u32);
                list.are_full &= is_full && for_anything.contains(&heap.type_of(array));
                inside.len() as u64
            }
            _ => continue,
        };
        list.objects += 1;
        list.elements += count;
        list.most = list.most.max(count);
        if list.lengths.len() < 2 {
            list.lengths.insert(count);
        }
        list.sample.push(CountedHead { object: o, counts: [count; 3] }, count == 0);
    }
    Ok(all.into_iter().flatten().filter(|list| list.most >= FEWEST).collect())
}

/// The types of arrays for objects of any type.
fn arrays_of_anything(heap: &HeapState) -> BTreeSet<TypeId> {
    let is_top = |t: &&HeapType| t.superclass.is_none() && t.kind == TypeKind::Instance;
    let tops: BTreeSet<&str> = heap.types().iter().filter(is_top).map(|t| &*t.name).collect();
    let types = (0..).map(TypeId).zip(heap.types()).filter(|(_, t)| t.kind == TypeKind::ObjectArray);
    types.filter(|(_, t)| tops.contains(t.name.trim_end_matches("[]"))).map(|(t, _)| t).collect()
}

impl FoundList {
    /// The suggestion by its fields; `None` if none has the number of elements, and arrays are not always full.
    pub fn suggestion(&self, heap: &HeapState, fields: HeadFields) -> Option<SuggestedStructure> {
        let mut fields = fields;
        // An array for anything that is always full, and not always as long, is all that a list consists of.
        if let (None, Some(array), true) = (&fields.size, &fields.array, self.are_full && self.lengths.len() > 1) {
            fields = HeadFields { size: Some(format!("{array}.length")), array: None, ..fields };
        }
        let (size, name) = (fields.size.clone()?, fields.declared_by.clone()?);
        let pointed = self.arrays.iter().map(|&t| type_name(heap, t)).collect();
        let draft = TypeDraft { is_head: true, pointed, ..TypeDraft::default() }.with(&fields);
        Some(SuggestedStructure {
            head: type_named(heap, self.of?, &name),
            heads: self.objects,
            nodes: self.elements,
            size: Some(size),
            drafts: BTreeMap::from([(name, draft)]),
        })
    }
}

/// Objects of a type that refer to a head each, and to nothing else.
pub(super) struct FoundWrapper {
    of: TypeId,
    objects: u64,
    /// Those whose head no other object refers to.
    alone: u64,
    heads: BTreeSet<TypeId>,
    pub sample: Vec<ObjectId>,
}

/// The wrappers of heads of their own package. A pass over the objects.
///
/// # Errors
/// When cancelled.
pub(super) fn wrappers(
    heap: &HeapState,
    edges: &TypeEdges,
    is_head: &dyn Fn(TypeId) -> bool,
    may_be: &dyn Fn(TypeId) -> bool,
    progress: &Progress,
) -> Result<Vec<FoundWrapper>> {
    let mut targets: FxHashMap<TypeId, Vec<TypeId>> = FxHashMap::default();
    edges.edges.keys().for_each(|&(from, to)| targets.entry(from).or_default().push(to));
    let wraps = |t: TypeId, targets: &[TypeId]| {
        let is_one = |&to: &TypeId| is_head(to) && package(heap, to) == package(heap, t);
        is_instance(heap, t)
            && edges.with_array[t.0 as usize] == 0
            && targets.iter().all(is_one)
            && may_be(t)
            && !is_head(t)
    };
    let mut all: BTreeMap<TypeId, (FoundWrapper, SpreadSample<ObjectId>)> = BTreeMap::new();
    for (&t, targets) in targets.iter().filter(|(t, targets)| wraps(**t, targets)) {
        let heads = targets.iter().copied().collect();
        let found = FoundWrapper { of: t, objects: 0, alone: 0, heads, sample: Vec::new() };
        all.insert(t, (found, SpreadSample::default()));
    }
    for (at, o) in heap.objects().filter(|&o| heap.is_reachable(o)).enumerate() {
        if at.is_multiple_of(1 << 16) {
            progress.check()?;
        }
        let Some((found, sample)) = all.get_mut(&heap.type_of(o)) else { continue };
        let held = heap.references(o).iter().find(|to| found.heads.contains(&heap.type_of(**to)));
        if let Some(&held) = held {
            found.objects += 1;
            found.alone += u64::from(heap.referrers(held).len() == 1);
            sample.push(o);
        }
    }
    let is_enough = |of: &FoundWrapper| of.objects >= FEWEST && of.alone * 10 >= of.objects * 9;
    let all = all.into_values().map(|(found, sample)| FoundWrapper { sample: sample.kept, ..found });
    Ok(all.filter(is_enough).collect())
}

impl FoundWrapper {
    /// What its field suggests.
    pub fn suggestion(&self, heap: &HeapState, fields: &ReadObjects) -> Option<SuggestedStructure> {
        let (name, field) = fields.wrapping(heap, &self.sample, &|t| self.heads.contains(&t))?;
        let pointed = self.heads.iter().map(|&t| type_name(heap, t)).collect();
        let draft = TypeDraft { is_head: true, pointed, size: Some(field.clone()), ..TypeDraft::default() };
        Some(SuggestedStructure {
            head: type_named(heap, self.of, &name),
            heads: self.objects,
            nodes: self.objects,
            size: Some(field),
            drafts: BTreeMap::from([(name, draft)]),
        })
    }
}
