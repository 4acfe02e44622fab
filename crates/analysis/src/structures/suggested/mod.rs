//! Descriptions that a heap state itself suggests, for types that none describes.
//!
//! Three shapes are looked for: *nodes* that refer to nodes of their kind, *tables* whose array holds objects that are declared within the
//! table, and *lists* with an array of their own and a number in a field that is the number of its elements. The values of some objects say
//! where the number of elements, keys and values stand; without values only nodes are suggested.
//!
//! Measured against the shipped descriptions: `docs/structures.md`.

mod fields;
mod nodes;
#[cfg(test)]
mod tests;
mod text;
mod type_edges;

use fields::{CountedHead, HeadFields, NodeFields, head_fields, node_fields, sample, wrapping_field};
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{
    DescriptionError, Descriptions, FoundStructures, HeldBy, StructureFile, StructureRules,
};
use memory_city_heap::{BitSet, HeapState, HeapType, ObjectId, TypeId, TypeKind};
use nodes::{NodeKind, node_kinds, package, supertypes};
use std::collections::{BTreeMap, BTreeSet};
pub(crate) use text::suggestions_as_file;
use text::{description, type_name};
use type_edges::{TypeEdges, elements, is_own_array};

/// A suggested description.
#[derive(Clone, Debug)]
pub(crate) struct SuggestedStructure {
    /// The type of its head.
    pub head: TypeId,
    /// Objects that would be heads, and their nodes, or elements in arrays.
    pub heads: u64,
    pub nodes: u64,
    /// Where the number of elements stands, if it was found.
    pub size: Option<String>,
    /// The descriptions of the head and its nodes, in the language.
    pub text: String,
}

/// A structure with fewer nodes, or elements, shows nothing.
const FEWEST: u64 = 3;
/// Of the nodes of a kind, one in so many may be in several structures.
const SHARED: u64 = 2;

/// Suggests descriptions for the reachable objects of a heap state, those with most nodes first. `known` leaves out the types that it describes, and those of the platform.
///
/// Time: a pass over the objects and references, one more for each kind of nodes, and a scan of the values for each. Memory: that of the structures of one
/// kind.
///
/// # Errors
/// When cancelled.
pub(crate) fn suggested(
    heap: &HeapState,
    values: Option<&HeapValues>,
    known: Option<&Descriptions>,
    progress: &Progress,
) -> Result<Vec<SuggestedStructure>> {
    let none = Descriptions::default();
    let leaves_out = known.is_some();
    let known = StructureRules::new(heap, known.unwrap_or(&none), progress)?;
    // What every program has is described where it is worth it.
    let is_left_out = |t: TypeId| {
        let name = &heap.types()[t.0 as usize].name;
        known.number_of(t).is_some() || leaves_out && heap.profile().packages.is_of_platform(name)
    };
    let may_be = |t: TypeId| may_be_inside(heap, t) && !is_left_out(t);
    let edges = TypeEdges::new(heap, progress)?;
    let mut objects: BTreeMap<TypeId, Vec<ObjectId>> = BTreeMap::new();
    let mut of_type = |wanted: &BTreeSet<TypeId>| -> BTreeMap<TypeId, Vec<ObjectId>> {
        let new: BTreeSet<TypeId> = wanted.iter().copied().filter(|t| !objects.contains_key(t)).collect();
        new.iter().for_each(|&t| drop(objects.insert(t, Vec::new())));
        for o in heap.objects().filter(|&o| heap.is_reachable(o) && new.contains(&heap.type_of(o))) {
            objects.entry(heap.type_of(o)).or_default().push(o);
        }
        wanted.iter().map(|&t| (t, objects[&t].clone())).collect()
    };
    let search = Search { heap, values, edges: &edges, arrays_of_anything: arrays_of_anything(heap) };
    let mut all: BTreeMap<TypeId, SuggestedStructure> = BTreeMap::new();
    let kinds = node_kinds(heap, values, &edges, &may_be);
    let in_kinds: BTreeSet<TypeId> = kinds.iter().flat_map(|kind| &kind.types).copied().collect();
    for kind in &kinds {
        progress.check()?;
        let wanted: BTreeSet<TypeId> = kind.heads.union(&kind.types).copied().collect();
        let of = of_type(&wanted);
        search.of_nodes(kind, &of, progress)?.into_iter().for_each(|suggested| add(&mut all, suggested));
    }
    if let Some(values) = values.filter(|_| !heap.is_redacted()) {
        let lists = (0..heap.types().len() as u32).map(TypeId).filter(|&t| {
            heap.types()[t.0 as usize].kind == TypeKind::Instance
                && edges.with_array[t.0 as usize] > 0
                && may_be(t)
                && !in_kinds.contains(&t)
                && !supertypes(heap, t).any(|t| all.contains_key(&t))
        });
        let lists: BTreeSet<TypeId> = lists.collect();
        for (t, of) in of_type(&lists) {
            progress.check()?;
            search.of_arrays(values, t, &of, progress)?.into_iter().for_each(|suggested| add(&mut all, suggested));
        }
        let is_head = |t: TypeId| known.is_head(t) || supertypes(heap, t).any(|t| all.contains_key(&t));
        let wrappers = search.wrappers(&is_head, &may_be);
        for (t, of) in of_type(&wrappers) {
            search.of_wrapper(values, t, &of, progress)?.into_iter().for_each(|suggested| add(&mut all, suggested));
        }
    }
    let is_below = |of: &SuggestedStructure| supertypes(heap, of.head).skip(1).any(|t| all.contains_key(&t));
    let mut found: Vec<SuggestedStructure> = all.values().filter(|of| !is_below(of)).cloned().collect();
    found.sort_by_key(|of| (std::cmp::Reverse(of.nodes), of.head));
    Ok(found)
}

/// Adds a suggestion to one of the same head: that with the number of elements has more to say.
fn add(all: &mut BTreeMap<TypeId, SuggestedStructure>, new: SuggestedStructure) {
    let Some(known) = all.get_mut(&new.head) else {
        all.insert(new.head, new);
        return;
    };
    (known.heads, known.nodes) = (known.heads + new.heads, known.nodes + new.nodes);
    if known.size.is_none() && new.size.is_some() {
        (known.size, known.text) = (new.size, new.text);
    }
}

/// Whether objects of a type may be heads or nodes: no texts, numbers, classes, and references to others.
fn may_be_inside(heap: &HeapState, t: TypeId) -> bool {
    let (name, known) = (&heap.types()[t.0 as usize].name, &heap.profile().types);
    let is_special = known.is_text(name)
        || known.boxes.contains(&&**name)
        || known.mirror == Some(name)
        || known.references.iter().any(|package| name.starts_with(package));
    !is_special && !heap.profile().names.is_hidden(name)
}

/// The types of arrays for objects of any type.
fn arrays_of_anything(heap: &HeapState) -> BTreeSet<TypeId> {
    let is_top = |t: &&HeapType| t.superclass.is_none() && t.kind == TypeKind::Instance;
    let tops: BTreeSet<&str> = heap.types().iter().filter(is_top).map(|t| &*t.name).collect();
    let types = (0..).map(TypeId).zip(heap.types()).filter(|(_, t)| t.kind == TypeKind::ObjectArray);
    types.filter(|(_, t)| tops.contains(t.name.trim_end_matches("[]"))).map(|(t, _)| t).collect()
}

struct Search<'h> {
    heap: &'h HeapState,
    values: Option<&'h HeapValues>,
    edges: &'h TypeEdges,
    arrays_of_anything: BTreeSet<TypeId>,
}

impl Search<'_> {
    /// The structures of a kind of nodes, one for each type of heads.
    fn of_nodes(
        &self,
        kind: &NodeKind,
        objects: &BTreeMap<TypeId, Vec<ObjectId>>,
        progress: &Progress,
    ) -> Result<Vec<SuggestedStructure>> {
        let heap = self.heap;
        let is_node = |t: TypeId| kind.types.contains(&t);
        let nodes: Vec<ObjectId> = kind.types.iter().filter_map(|t| objects.get(t)).flatten().copied().collect();
        let is_inside = |t: TypeId| is_node(t) || kind.heads.contains(&t);
        let node = match self.values {
            Some(values) => node_fields(values, &sample(&nodes), &is_inside, progress)?,
            None => NodeFields { has_contents: true, ..NodeFields::default() },
        };
        let described_nodes = self.node_texts(kind, &node);
        let mut all = Vec::new();
        for &head in &kind.heads {
            let of_head = |fields: &HeadFields, name: &str| {
                let head = description(true, name, &self.pointed(head, kind), &fields.facts());
                format!("{head}{described_nodes}")
            };
            let own_name = &heap.types()[head.0 as usize].name;
            let Some(heads) = self.with_nodes(
                &of_head(&HeadFields::default(), own_name),
                &objects[&head],
                &nodes,
                &is_inside,
                progress,
            )?
            else {
                continue;
            };
            let count: u64 = heads.iter().map(|head| head.counts[0]).sum();
            let sampled = sample(&heads);
            let fields = match self.values {
                Some(values) => head_fields(values, &sampled, Some(&is_node), progress)?,
                None => HeadFields::default(),
            };
            let name = fields.declared_by.clone().unwrap_or_else(|| own_name.clone());
            let text = of_head(&fields, &name);
            all.push(SuggestedStructure {
                head: self.type_named(head, &name),
                heads: objects[&head].len() as u64,
                nodes: count,
                size: fields.size,
                text,
            });
        }
        Ok(all)
    }

    /// The heads with their numbers of nodes, as a description finds them; `None` where it finds too little, or what many share.
    fn with_nodes(
        &self,
        text: &str,
        heads: &[ObjectId],
        nodes: &[ObjectId],
        is_inside: &dyn Fn(TypeId) -> bool,
        progress: &Progress,
    ) -> Result<Option<Vec<CountedHead>>> {
        let mut descriptions = Descriptions::default();
        let parsed = StructureFile::parse("suggested", text).map_err(DescriptionError::unusable)?;
        descriptions.add(parsed);
        let rules = StructureRules::new(self.heap, &descriptions, progress)?;
        let mut among = BitSet::new(self.heap.object_count());
        heads.iter().for_each(|head| {
            among.insert(head.0);
        });
        let found = FoundStructures::new(self.heap, &rules, Some(&among), progress)?;
        let (mut several, mut held) = (0, 0);
        let mut counts: Vec<CountedHead> = std::iter::zip(found.heads(), found.extents())
            .map(|(&object, extent)| CountedHead { object, counts: [0, 0, extent.leaves.into()] })
            .collect();
        let holds = |&target: &ObjectId| {
            let is_array = self.heap.types()[self.heap.type_of(target).0 as usize].kind == TypeKind::ObjectArray;
            !is_inside(self.heap.type_of(target)) && !is_array && !self.heap.is_class_object(target)
        };
        for &node in nodes {
            match found.holders_of(node) {
                HeldBy::One(at) => {
                    held += 1;
                    let of = &mut counts[at as usize].counts;
                    of[0] += 1;
                    of[1] += u64::from(self.heap.references(node).iter().any(holds));
                }
                HeldBy::Several => several += 1,
                HeldBy::Nothing => (),
            }
        }
        counts.retain(|head| head.counts[0] > 0);
        let is_enough = counts.iter().any(|head| head.counts[0] >= FEWEST) && several * SHARED <= held;
        Ok(is_enough.then_some(counts))
    }

    /// A list with an array of its own, if a field has the number of its elements, or the array is always full.
    fn of_arrays(
        &self,
        values: &HeapValues,
        t: TypeId,
        objects: &[ObjectId],
        progress: &Progress,
    ) -> Result<Option<SuggestedStructure>> {
        let heap = self.heap;
        let mut heads: Vec<CountedHead> = Vec::new();
        let (mut inside, mut types) = (Vec::new(), BTreeSet::new());
        let (mut lengths, mut are_full) = (BTreeSet::new(), true);
        for &o in objects {
            let is_array = |&a: &ObjectId| heap.types()[heap.type_of(a).0 as usize].kind == TypeKind::ObjectArray;
            let arrays = heap.references(o).iter().copied().filter(|a| is_array(a) && is_own_array(heap, *a));
            let arrays: Vec<ObjectId> = arrays.collect();
            if let [array] = arrays[..] {
                elements(heap, array, &mut inside);
                types.insert(heap.type_of(array));
                heads.push(CountedHead { object: o, counts: [inside.len() as u64; 3] });
                lengths.insert(inside.len());
                are_full &= self.arrays_of_anything.contains(&heap.type_of(array))
                    && heap.array_length(array) == Some(inside.len() as u32);
            }
        }
        heads.retain(|head| head.counts[0] > 0);
        if heads.iter().all(|head| head.counts[0] < FEWEST) {
            return Ok(None);
        }
        let count = heads.iter().map(|head| head.counts[0]).sum();
        let sampled = sample(&heads);
        let mut fields = head_fields(values, &sampled, None, progress)?;
        // An array for anything that is always full, and not always as long, is all that a list consists of.
        if let (None, Some(array), true) = (&fields.size, &fields.array, are_full && lengths.len() > 1) {
            fields = HeadFields { size: Some(format!("{array}.length")), array: None, ..fields };
        }
        let (Some(_), Some(name)) = (&fields.size, fields.declared_by.clone()) else { return Ok(None) };
        let pointed: Vec<String> = types.iter().map(|&t| type_name(heap, t)).collect();
        let text = description(true, &name, &pointed, &fields.facts());
        Ok(Some(SuggestedStructure {
            head: self.type_named(t, &name),
            heads: objects.len() as u64,
            nodes: count,
            size: fields.size,
            text,
        }))
    }

    /// The descriptions of the nodes of a kind.
    fn node_texts(&self, kind: &NodeKind, node: &NodeFields) -> String {
        let facts = [("key", &node.key), ("value", &node.value)];
        let facts: Vec<(&str, String)> = facts.into_iter().filter_map(|(fact, of)| Some((fact, of.clone()?))).collect();
        let text = |&t: &TypeId| {
            let mut pointed = self.pointed(t, kind);
            pointed.extend(node.has_contents.then(|| "(*)".to_owned()));
            description(false, &self.heap.types()[t.0 as usize].name, &pointed, &facts)
        };
        kind.nodes.iter().map(text).collect()
    }

    /// The types of nodes and arrays that objects of a type, or of its subtypes among the nodes, refer to.
    fn pointed(&self, from: TypeId, kind: &NodeKind) -> Vec<String> {
        let mut pointed: BTreeSet<String> = BTreeSet::new();
        for (&(of, to), edge) in &self.edges.edges {
            let is_from = of == from || kind.nodes.contains(&from) && self.is_below(of, from);
            let to = kind.nodes.iter().find(|&&node| node == to || self.is_below(to, node));
            if let (true, Some(&to)) = (is_from, to) {
                pointed.extend(edge.arrays.iter().map(|&array| type_name(self.heap, array)));
                pointed.extend(edge.is_direct.then(|| type_name(self.heap, to)));
            }
        }
        pointed.into_iter().collect()
    }

    fn is_below(&self, t: TypeId, above: TypeId) -> bool {
        supertypes(self.heap, t).skip(1).any(|t| t == above)
    }

    /// Types whose objects refer to one head of their package, and to nothing else.
    fn wrappers(&self, is_head: &dyn Fn(TypeId) -> bool, may_be: &dyn Fn(TypeId) -> bool) -> BTreeSet<TypeId> {
        let mut targets: BTreeMap<TypeId, Vec<TypeId>> = BTreeMap::new();
        self.edges.edges.keys().for_each(|&(from, to)| targets.entry(from).or_default().push(to));
        let wraps = |&(&t, targets): &(&TypeId, &Vec<TypeId>)| {
            let is_one = |&to: &TypeId| is_head(to) && package(self.heap, to) == package(self.heap, t);
            may_be(t) && !is_head(t) && self.edges.with_array[t.0 as usize] == 0 && targets.iter().all(is_one)
        };
        let is_instance = |t: &TypeId| self.heap.types()[t.0 as usize].kind == TypeKind::Instance;
        targets.iter().filter(wraps).map(|(&t, _)| t).filter(is_instance).collect()
    }

    /// A structure that is made of one other, which only it refers to.
    fn of_wrapper(
        &self,
        values: &HeapValues,
        t: TypeId,
        objects: &[ObjectId],
        progress: &Progress,
    ) -> Result<Option<SuggestedStructure>> {
        let heap = self.heap;
        let is_whole = |o: &ObjectId| heap.types()[heap.type_of(*o).0 as usize].kind == TypeKind::Instance;
        let target =
            |&o: &ObjectId| heap.references(o).iter().copied().find(|to| is_whole(to) && !heap.is_class_object(*to));
        let held: Vec<(ObjectId, ObjectId)> = objects.iter().filter_map(|o| Some((*o, target(o)?))).collect();
        let alone = held.iter().filter(|(_, to)| heap.referrers(*to).len() == 1).count();
        if held.is_empty() || alone * 10 < held.len() * 9 {
            return Ok(None);
        }
        let types: BTreeSet<TypeId> = held.iter().map(|(_, to)| heap.type_of(*to)).collect();
        let sampled: Vec<ObjectId> = sample(&held).into_iter().map(|(o, _)| o).collect();
        let Some((name, field)) = wrapping_field(values, &sampled, &|t| types.contains(&t), progress)? else {
            return Ok(None);
        };
        let pointed: Vec<String> = types.iter().map(|&t| type_name(heap, t)).collect();
        Ok(Some(SuggestedStructure {
            head: self.type_named(t, &name),
            heads: objects.len() as u64,
            nodes: held.len() as u64,
            size: Some(field.clone()),
            text: description(true, &name, &pointed, &[("size", field)]),
        }))
    }

    /// The supertype of a type that has a name.
    fn type_named(&self, t: TypeId, name: &str) -> TypeId {
        supertypes(self.heap, t).find(|t| self.heap.types()[t.0 as usize].name == name).unwrap_or(t)
    }
}
