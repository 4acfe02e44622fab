//! Types that are nodes of structures, and the types at their heads.
//!
//! Nodes refer to nodes of their kind, or are declared within the type whose array holds them. Objects of other packages hold next to none of
//! them: a program that uses a map refers to the map.

use super::type_edges::{TypeEdge, TypeEdges};
use memory_city_formats::values::{HeapValues, ValueKind};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, TypeId, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Types of nodes that belong together, and those that hold them.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeKind {
    /// By type of a node: the type that stands for it, itself or a supertype.
    pub nodes: BTreeMap<TypeId, TypeId>,
    /// By type at the head: those of its objects, itself or subtypes.
    pub heads: BTreeMap<TypeId, BTreeSet<TypeId>>,
}

/// Of the nodes of a kind, one in so many may be held by objects of other packages.
const FOREIGN: u64 = 20;
/// Types that hold nodes of one kind; of more none is the head.
const MOST_HOLDERS: usize = 6;

/// The kinds of nodes among the types that `may_be`, each once. Linear in types and their references to types, but for a logarithm.
///
/// # Errors
/// When cancelled.
pub(super) fn node_kinds(
    heap: &HeapState,
    values: Option<&HeapValues>,
    edges: &TypeEdges,
    may_be: &dyn Fn(TypeId) -> bool,
    progress: &Progress,
) -> Result<Vec<NodeKind>> {
    let types = || (0..heap.types().len() as u32).map(TypeId);
    let is_there = |t: &TypeId| edges.objects[t.0 as usize] > 0 && is_instance(heap, *t) && may_be(*t);
    let family = |t: TypeId| topmost(heap, values, t).filter(|top| may_be(*top)).unwrap_or(t);
    let families: Vec<TypeId> = types().map(|t| if is_there(&t) { family(t) } else { t }).collect();
    let of = |t: TypeId| families[t.0 as usize];
    progress.check()?;
    let by_family: BTreeSet<(TypeId, TypeId)> = edges.edges.keys().map(|&(from, to)| (of(from), of(to))).collect();
    let mut groups = Groups((0..heap.types().len() as u32).collect());
    for &(a, b) in by_family.iter().filter(|(a, b)| a < b && by_family.contains(&(*b, *a))) {
        // Families that refer to each other and are declared in one type are one.
        if is_nested(heap, a) && is_nested(heap, b) && outer(heap, a) == outer(heap, b) {
            groups.join(a.0, b.0);
        }
    }
    let mut kinds: BTreeMap<u32, KindWithHolders<'_>> = BTreeMap::new();
    for t in types().filter(is_there) {
        kinds.entry(groups.of(of(t).0)).or_default().0.nodes.insert(t, of(t));
    }
    for (&(from, to), edge) in &edges.edges {
        if let Some((_, into)) = kinds.get_mut(&groups.of(of(to).0)) {
            into.push((from, edge));
        }
    }
    let refers = |from: TypeId, to: TypeId| by_family.contains(&(of(from), of(to)));
    let mut all = Vec::new();
    for (mut kind, into) in kinds.into_values() {
        progress.check()?;
        kind.find_heads(heap, edges, &into, &refers, may_be);
        all.extend(Some(kind).filter(|kind| !kind.heads.is_empty()));
    }
    Ok(all)
}

/// A kind, and who refers to its nodes.
type KindWithHolders<'e> = (NodeKind, Vec<(TypeId, &'e TypeEdge)>);

impl NodeKind {
    fn find_heads(
        &mut self,
        heap: &HeapState,
        edges: &TypeEdges,
        into: &[(TypeId, &TypeEdge)],
        refers: &dyn Fn(TypeId, TypeId) -> bool,
        may_be: &dyn Fn(TypeId) -> bool,
    ) {
        let Some(&first) = self.nodes.values().next() else { return };
        let package = package(heap, first);
        let count: u64 = self.nodes.keys().map(|t| edges.objects[t.0 as usize]).sum();
        let mut holders: BTreeMap<TypeId, BTreeSet<TypeId>> = BTreeMap::new();
        let (mut links, mut foreign) = (0, 0);
        for &(from, edge) in into {
            // A subtype of the program holds nodes as its supertype does.
            let is_of_package = |t: &TypeId| self::package(heap, *t) == package;
            // The supertype of all holds nothing.
            let is_top = |t: &TypeId| *t != from && heap.types()[t.0 as usize].superclass.is_none();
            let declaring = heap.supertypes(from).take_while(|t| !is_top(t)).find(is_of_package);
            let declaring = declaring.filter(|_| is_instance(heap, from));
            match declaring {
                _ if self.nodes.contains_key(&from) => links += edge.references,
                Some(declaring) => drop(holders.entry(declaring).or_default().insert(from)),
                None => foreign += edge.references,
            }
        }
        if count < 2 || foreign * FOREIGN > count || holders.len() > MOST_HOLDERS {
            return;
        }
        // Iterators and views refer to what they look at, and that not to them.
        let some_of = |holder: &TypeId| holders[holder].first().copied().unwrap_or(*holder);
        let is_view = |of: &TypeId| {
            let mut others = holders.keys().filter(|other| *other != of).map(some_of);
            others.any(|other| refers(some_of(of), other) && !refers(other, some_of(of)))
        };
        let declares = |head: &TypeId| is_nested(heap, first) && outer(heap, first) == outer(heap, *head);
        let has_array =
            |head: &TypeId| into.iter().any(|(from, edge)| holders[head].contains(from) && !edge.arrays.is_empty());
        let is_head =
            |head: &TypeId| may_be(*head) && !is_view(head) && (links > 0 || declares(head) && has_array(head));
        self.heads = holders.iter().filter(|(head, _)| is_head(head)).map(|(head, of)| (*head, of.clone())).collect();
    }
}

/// Sets of numbers that are joined.
struct Groups(Vec<u32>);

impl Groups {
    fn of(&mut self, mut n: u32) -> u32 {
        while self.0[n as usize] != n {
            let above = self.0[n as usize];
            self.0[n as usize] = self.0[above as usize];
            n = above;
        }
        n
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// The topmost supertype in the package of a type that has references of its own; `None` if fields are unknown.
fn topmost(heap: &HeapState, values: Option<&HeapValues>, t: TypeId) -> Option<TypeId> {
    let values = values?;
    let declaring: BTreeSet<TypeId> = (values.layouts().fields(heap, t))
        .filter(|field| field.place.kind() == ValueKind::Reference)
        .map(|field| field.class)
        .collect();
    heap.supertypes(t)
        .take_while(|&above| package(heap, above) == package(heap, t))
        .filter(|above| declaring.contains(above))
        .last()
}

pub(super) fn package(heap: &HeapState, t: TypeId) -> &str {
    heap.profile().names.split(&heap.types()[t.0 as usize].name).0
}

pub(super) fn is_instance(heap: &HeapState, t: TypeId) -> bool {
    heap.types()[t.0 as usize].kind == TypeKind::Instance
}

/// The name of the outermost type that a type is declared in.
fn outer(heap: &HeapState, t: TypeId) -> &str {
    let name = &heap.types()[t.0 as usize].name;
    &name[..heap.profile().names.outermost(name)]
}

fn is_nested(heap: &HeapState, t: TypeId) -> bool {
    outer(heap, t).len() < heap.types()[t.0 as usize].name.len()
}
