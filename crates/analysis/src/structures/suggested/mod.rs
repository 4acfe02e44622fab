//! Descriptions that a heap state itself suggests, for types that none describes.
//!
//! | shape | has |
//! |---|---|
//! | node | references to nodes of its kind |
//! | table | an array of entries that are declared within it |
//! | list | an array of its own, and a field with the number of elements |
//! | wrapper | one of these, and nothing else |
//!
//! Values of some objects show the fields of numbers, keys and values. Without values only nodes and tables are suggested.
//!
//! `docs/structures.md` compares the suggestions with the shipped descriptions.

mod fields;
mod lists;
mod nodes;
#[cfg(test)]
mod tests;
mod text;
mod type_edges;

use fields::{CountedHead, HeadFields, NodeFields, ReadObjects};
use lists::{lists, wrappers};
use memory_city_formats::values::HeapValues;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::structures::{Descriptions, FoundStructures, HeldBy, StructureFile, StructureRules};
use memory_city_heap::{BitSet, HeapState, ObjectId, TypeId, TypeKind};
use nodes::{NodeKind, node_kinds};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
pub(crate) use text::suggestions_as_file;
use text::{TypeDraft, type_name};
use type_edges::{TypeEdge, TypeEdges};

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
    /// The descriptions of the head and its nodes, by name.
    drafts: Drafts,
}

/// A structure with fewer nodes, or elements, shows nothing.
const FEWEST: u64 = 3;
/// Nodes of a kind in several structures: at most this part of those in one.
const SHARED: f64 = 0.5;
/// Kinds of nodes that are looked at one by one, where they were not found together.
const ALONE: usize = 64;
/// Objects of a type whose values are read.
const SAMPLE: usize = 64;

/// Suggests descriptions for the reachable objects of a heap state, those with most nodes first. `known` leaves out the types that it
/// describes, and those of the platform: they are described where it is worth it.
///
/// Time: a few passes over the objects and their references, as many for each head of 64 kinds of nodes at most, and six scans of the values.
/// Memory: 8 bytes an object, 28 a possible head, and the values of 64 objects of each type that may be in a structure.
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
    let platform = &heap.profile().packages;
    let is_left_out = |name: &str| known.is_some() && platform.is_of_platform(name);
    let rules = StructureRules::new(heap, known.unwrap_or(&none), progress)?;
    let may_be = |t: TypeId| {
        let name = &heap.types()[t.0 as usize].name;
        may_be_inside(heap, name) && rules.number_of(t).is_none() && !is_left_out(name)
    };
    let edges = TypeEdges::new(heap, progress)?;
    let kinds = node_kinds(heap, values, &edges, &may_be, progress)?;
    let search = StructureSearch::new(heap, &edges, &kinds);
    let nodes: Vec<Vec<ObjectId>> = search.samples(kinds.iter().map(|kind| kind.nodes.keys().copied().collect()));
    let values = values.filter(|_| !heap.is_redacted());
    let in_kinds: BTreeSet<TypeId> = kinds.iter().flat_map(|kind| kind.nodes.keys()).copied().collect();
    let found_lists = match values {
        Some(_) => lists(heap, &edges, &|t| may_be(t) && !in_kinds.contains(&t), progress)?,
        None => Vec::new(),
    };
    let read = |objects: BTreeSet<ObjectId>| match values {
        Some(values) => ReadObjects::read(values, objects, progress),
        None => Ok(ReadObjects::default()),
    };
    let of_lists = found_lists.iter().flat_map(|list| list.sample.all()).map(|head| head.object);
    let contents = read(nodes.iter().flatten().copied().chain(of_lists).collect())?;
    let node_fields: Vec<NodeFields> = std::iter::zip(&kinds, &nodes)
        .map(|(kind, nodes)| {
            let is_inside = |t: TypeId| kind.nodes.contains_key(&t) || kind.heads.values().any(|of| of.contains(&t));
            match values {
                Some(_) => contents.of_nodes(heap, nodes, &is_inside),
                None => NodeFields { has_contents: true, ..NodeFields::default() },
            }
        })
        .collect();
    let drafts = search.drafts(&node_fields);
    let counted = search.counted(&drafts, progress)?;
    let of_heads = read(counted.values().flat_map(|of| of.sample.all()).map(|head| head.object).collect())?;
    let mut all: BTreeMap<String, SuggestedStructure> = BTreeMap::new();
    for (&head, of) in &counted {
        let is_node = |t: TypeId| search.kind_of.contains_key(&t);
        let fields = of_heads.of_heads(heap, &of.sample.all(), Some(&is_node));
        // A field that a subtype elsewhere declares makes its supertype no head.
        let declares = |name: &String| heap.supertypes(head).any(|t| heap.types()[t.0 as usize].name == *name);
        if values.is_none() || fields.declared_by.as_ref().is_some_and(declares) {
            add(heap, &mut all, search.of_nodes(of, head, fields));
        }
    }
    for list in &found_lists {
        list.suggestion(heap, contents.of_heads(heap, &list.sample.all(), None))
            .into_iter()
            .for_each(|new| add(heap, &mut all, new));
    }
    if values.is_some() {
        let is_head = |t: TypeId| {
            rules.is_head(t) || heap.supertypes(t).any(|t| all.contains_key(&heap.types()[t.0 as usize].name))
        };
        let wrappers = wrappers(heap, &edges, &is_head, &may_be, progress)?;
        let fields = read(wrappers.iter().flat_map(|of| &of.sample).copied().collect())?;
        for wrapper in wrappers {
            wrapper.suggestion(heap, &fields).into_iter().for_each(|new| add(heap, &mut all, new));
        }
    }
    let is_below = |of: &SuggestedStructure| {
        heap.supertypes(of.head).skip(1).any(|t| all.contains_key(&heap.types()[t.0 as usize].name))
    };
    let mut found: Vec<SuggestedStructure> = all.values().filter(|of| !is_below(of)).cloned().collect();
    found.sort_by_key(|of| (std::cmp::Reverse(of.nodes), of.head));
    Ok(found)
}

/// Adds a suggestion to that of the same name. One with the number of elements has more to say; of alike ones both count.
fn add(heap: &HeapState, all: &mut BTreeMap<String, SuggestedStructure>, new: SuggestedStructure) {
    let name = &heap.types()[new.head.0 as usize].name;
    let Some(known) = all.get_mut(name) else {
        all.insert(name.clone(), new);
        return;
    };
    if known.drafts == new.drafts {
        (known.heads, known.nodes) = (known.heads + new.heads, known.nodes + new.nodes);
    } else if (known.size.is_some(), known.nodes) < (new.size.is_some(), new.nodes) {
        *known = new;
    }
}

/// Whether objects of a type may be heads or nodes: no texts, numbers, classes, and references to others.
fn may_be_inside(heap: &HeapState, name: &str) -> bool {
    let known = &heap.profile().types;
    let is_special = known.is_text(name)
        || known.boxes.contains(&name)
        || known.mirror == Some(name)
        || known.references.iter().any(|package| name.starts_with(package));
    !is_special && !heap.profile().names.is_hidden(name)
}

/// At most [`SAMPLE`] things of many, from all over, without keeping the others.
#[derive(Clone, Debug)]
struct SpreadSample<T> {
    kept: Vec<T>,
    step: u64,
    seen: u64,
}

impl<T> Default for SpreadSample<T> {
    fn default() -> Self {
        SpreadSample { kept: Vec::new(), step: 1, seen: 0 }
    }
}

impl<T> SpreadSample<T> {
    fn push(&mut self, one: T) {
        if self.seen.is_multiple_of(self.step) {
            self.kept.push(one);
        }
        self.seen += 1;
        if self.kept.len() > SAMPLE {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.step *= 2;
        }
    }
}

/// Some heads with elements, and a few without.
#[derive(Default)]
struct SampledHeads {
    some: SpreadSample<CountedHead>,
    empty: SpreadSample<CountedHead>,
}

impl SampledHeads {
    fn push(&mut self, head: CountedHead, is_empty: bool) {
        if is_empty { self.empty.push(head) } else { self.some.push(head) }
    }

    fn all(&self) -> Vec<CountedHead> {
        self.some.kept.iter().chain(self.empty.kept.iter().take(SAMPLE / 8)).copied().collect()
    }
}

/// Descriptions by name.
type Drafts = BTreeMap<String, TypeDraft>;

/// The heads of a type with their nodes.
#[derive(Default)]
struct CountedHeads {
    /// The descriptions that they were found with.
    drafts: Arc<Drafts>,
    heads: u64,
    nodes: u64,
    /// Nodes of the largest.
    most: u64,
    sample: SampledHeads,
}

struct StructureSearch<'h> {
    heap: &'h HeapState,
    kinds: &'h [NodeKind],
    /// The references of each type.
    from: FxHashMap<TypeId, Vec<(TypeId, &'h TypeEdge)>>,
    /// By type of a node: the place of its kind.
    kind_of: FxHashMap<TypeId, usize>,
    /// By kind: its nodes.
    objects: Vec<u64>,
}

impl<'h> StructureSearch<'h> {
    fn new(heap: &'h HeapState, edges: &'h TypeEdges, kinds: &'h [NodeKind]) -> StructureSearch<'h> {
        let mut from: FxHashMap<TypeId, Vec<(TypeId, &TypeEdge)>> = FxHashMap::default();
        edges.edges.iter().for_each(|(&(of, to), edge)| from.entry(of).or_default().push((to, edge)));
        let kind_of = kinds.iter().enumerate().flat_map(|(at, kind)| kind.nodes.keys().map(move |&t| (t, at)));
        let objects = |kind: &NodeKind| kind.nodes.keys().map(|t| edges.objects[t.0 as usize]).sum();
        StructureSearch { heap, kinds, from, kind_of: kind_of.collect(), objects: kinds.iter().map(objects).collect() }
    }

    /// Some reachable objects of each of these groups of types.
    fn samples(&self, groups: impl Iterator<Item = BTreeSet<TypeId>>) -> Vec<Vec<ObjectId>> {
        let mut group_of: Vec<Option<u32>> = vec![None; self.heap.types().len()];
        let mut all: Vec<SpreadSample<ObjectId>> = Vec::new();
        for types in groups {
            types.into_iter().for_each(|t| group_of[t.0 as usize] = Some(all.len() as u32));
            all.push(SpreadSample::default());
        }
        for o in self.heap.objects().filter(|&o| self.heap.is_reachable(o)) {
            if let Some(group) = group_of[self.heap.type_of(o).0 as usize] {
                all[group as usize].push(o);
            }
        }
        all.into_iter().map(|sample| sample.kept).collect()
    }

    /// The descriptions of all nodes and heads, by name, none of them as a head.
    fn drafts(&self, fields: &[NodeFields]) -> Drafts {
        let mut drafts = Drafts::new();
        for (kind, node) in std::iter::zip(self.kinds, fields) {
            for (&t, &root) in &kind.nodes {
                let draft = drafts.entry(self.name(root)).or_default();
                draft.pointed.extend(self.pointed(t, kind));
                draft.has_contents |= node.has_contents;
                (draft.key, draft.value) = (node.key.clone(), node.value.clone());
            }
        }
        for kind in self.kinds {
            for (&head, types) in &kind.heads {
                let draft = drafts.entry(self.name(head)).or_default();
                draft.pointed.extend(types.iter().flat_map(|&t| self.pointed(t, kind)));
            }
        }
        drafts
    }

    fn name(&self, t: TypeId) -> String {
        self.heap.types()[t.0 as usize].name.clone()
    }

    /// The types of nodes of a kind, and of arrays with them, that objects of a type refer to.
    fn pointed(&self, from: TypeId, kind: &NodeKind) -> BTreeSet<String> {
        let mut pointed = BTreeSet::new();
        for (to, edge) in self.from.get(&from).into_iter().flatten() {
            if let Some(&root) = kind.nodes.get(to) {
                pointed.extend(edge.arrays.iter().map(|&array| type_name(self.heap, array)));
                pointed.extend(edge.is_direct.then(|| type_name(self.heap, root)));
            }
        }
        pointed
    }

    /// The heads of each type with their nodes, as descriptions find them: without those that find too little, or what many share.
    fn counted(&self, drafts: &Drafts, progress: &Progress) -> Result<BTreeMap<TypeId, CountedHeads>> {
        // A head that is a node of another structure is a part of this.
        let is_outer = |head: &TypeId, types: &BTreeSet<TypeId>| {
            !self.kind_of.contains_key(head) && types.iter().all(|t| !self.kind_of.contains_key(t))
        };
        let heads = |kind: &NodeKind| kind.heads.iter().map(|(&head, of)| (head, of.clone())).collect::<Vec<_>>();
        let all: Vec<_> = self.kinds.iter().flat_map(heads).filter(|(head, of)| is_outer(head, of)).collect();
        let (mut found, held) = self.with_heads(drafts, &all, progress)?;
        // Where two sorts of heads share nodes, or the outer one has too few, each is tried alone; the kinds with most nodes first.
        let mut rest: Vec<usize> = (0..self.kinds.len()).filter(|&kind| held[kind] == 0).collect();
        rest.sort_by_key(|&kind| std::cmp::Reverse(self.objects[kind]));
        for (head, of) in rest.into_iter().take(ALONE).flat_map(|kind| heads(&self.kinds[kind])) {
            if !found.contains_key(&head) {
                found.extend(self.with_heads(drafts, &[(head, of)], progress)?.0);
            }
        }
        Ok(found)
    }

    /// The heads of some types with their nodes, and by kind how many nodes are in the structures of accepted ones.
    fn with_heads(
        &self,
        drafts: &Drafts,
        heads: &[(TypeId, BTreeSet<TypeId>)],
        progress: &Progress,
    ) -> Result<(BTreeMap<TypeId, CountedHeads>, Vec<u64>)> {
        let mut drafts = drafts.clone();
        for (head, _) in heads {
            drafts.entry(self.name(*head)).or_default().is_head = true;
        }
        let mut descriptions = Descriptions::default();
        // A name that the language does not take is left out.
        let files = drafts.iter().filter_map(|(name, draft)| StructureFile::parse("suggested", &draft.text(name)).ok());
        files.for_each(|file| descriptions.add(file));
        let rules = StructureRules::new(self.heap, &descriptions, progress)?;
        let head_of: FxHashMap<TypeId, TypeId> =
            heads.iter().flat_map(|(head, types)| types.iter().map(move |&t| (t, *head))).collect();
        let mut among = BitSet::new(self.heap.object_count());
        let is_head = |o: &ObjectId| self.heap.is_reachable(*o) && head_of.contains_key(&self.heap.type_of(*o));
        self.heap.objects().filter(is_head).for_each(|o| {
            among.insert(o.0);
        });
        let found = FoundStructures::new(self.heap, &rules, Some(&among), progress)?;
        // By head: its nodes, and how many of these hold something. By kind: nodes of one head by its type, and of several.
        let mut counts: Vec<[u32; 2]> = vec![[0; 2]; found.heads().len()];
        let mut alone: BTreeMap<(usize, TypeId), u64> = BTreeMap::new();
        let mut several = vec![0u64; self.kinds.len()];
        for (at, o) in self.heap.objects().enumerate() {
            if at.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            let kind = self.kind_of.get(&self.heap.type_of(o)).filter(|_| self.heap.is_reachable(o));
            match (kind, found.holders_of(o)) {
                (Some(&kind), HeldBy::One(at)) => {
                    let head = head_of[&self.heap.type_of(found.heads()[at as usize])];
                    counts[at as usize][0] += 1;
                    counts[at as usize][1] += u32::from(self.holds_any(o, &self.kinds[kind]));
                    *alone.entry((kind, head)).or_default() += 1;
                }
                (Some(&kind), HeldBy::Several) => several[kind] += 1,
                _ => (),
            }
        }
        let mut all: BTreeMap<TypeId, CountedHeads> = BTreeMap::new();
        for (at, &object) in found.heads().iter().enumerate() {
            let heads = all.entry(head_of[&self.heap.type_of(object)]).or_default();
            let [nodes, holding] = counts[at].map(u64::from);
            (heads.heads, heads.nodes, heads.most) = (heads.heads + 1, heads.nodes + nodes, heads.most.max(nodes));
            let counts = [nodes, holding, found.extents()[at].leaves.into()];
            heads.sample.push(CountedHead { object, counts }, nodes == 0);
        }
        let of_kind = |kind: usize| alone.range((kind, TypeId(0))..(kind + 1, TypeId(0))).map(|(_, n)| n).sum::<u64>();
        let is_shared = |kind: usize| several[kind] as f64 > SHARED * of_kind(kind) as f64;
        all.retain(|head, of| {
            let kinds = alone.keys().filter(|(_, other)| other == head).map(|(kind, _)| *kind);
            of.most >= FEWEST && !kinds.into_iter().any(is_shared)
        });
        let drafts = Arc::new(drafts);
        all.values_mut().for_each(|heads| heads.drafts = Arc::clone(&drafts));
        let mut held = vec![0; self.kinds.len()];
        for ((kind, _), nodes) in alone.iter().filter(|((_, head), _)| all.contains_key(head)) {
            held[*kind] += nodes;
        }
        Ok((all, held))
    }

    /// Whether a node refers to anything but nodes, heads, arrays and classes.
    fn holds_any(&self, node: ObjectId, kind: &NodeKind) -> bool {
        self.heap.references(node).iter().any(|&to| {
            let of = self.heap.type_of(to);
            let is_inside = kind.nodes.contains_key(&of) || kind.heads.values().any(|types| types.contains(&of));
            let is_array = self.heap.types()[of.0 as usize].kind == TypeKind::ObjectArray;
            !is_inside && !is_array && !self.heap.is_class_object(to)
        })
    }

    fn of_nodes(&self, counted: &CountedHeads, head: TypeId, fields: HeadFields) -> SuggestedStructure {
        let own_name = self.name(head);
        let name = fields.declared_by.clone().unwrap_or_else(|| own_name.clone());
        let drafts = &counted.drafts;
        let draft = drafts.get(&own_name).cloned().unwrap_or_default();
        let mut open: Vec<String> = draft.pointed.iter().cloned().collect();
        let mut all = Drafts::from([(name.clone(), draft.with(&fields))]);
        // What it points to, and what that points to.
        while let Some(pointed) = open.pop() {
            let node = pointed.trim_matches('"').trim_end_matches("[]");
            if let Some(draft) = drafts.get(node).filter(|draft| !draft.is_head && !all.contains_key(node)) {
                open.extend(draft.pointed.iter().cloned());
                all.insert(node.to_owned(), draft.clone());
            }
        }
        SuggestedStructure {
            head: type_named(self.heap, head, &name),
            heads: counted.heads,
            nodes: counted.nodes,
            size: fields.size,
            drafts: all,
        }
    }
}

/// The supertype of a type that has a name.
fn type_named(heap: &HeapState, t: TypeId, name: &str) -> TypeId {
    heap.supertypes(t).find(|t| heap.types()[t.0 as usize].name == name).unwrap_or(t)
}
