//! Types that are nodes of structures, and the types at their heads.
//!
//! Nodes refer to nodes of their kind, or are declared within the type whose array holds them. Objects of other packages hold hardly any of them: who
//! uses a map refers to the map.

use super::type_edges::{TypeEdge, TypeEdges};
use memory_city_formats::values::{HeapValues, ValueKind};
use memory_city_heap::{HeapState, TypeId, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Types of nodes that belong together, and those that hold them.
#[derive(Clone, Debug)]
pub(super) struct NodeKind {
    /// The types of nodes; a supertype stands for those below it.
    pub nodes: BTreeSet<TypeId>,
    /// The types of their objects.
    pub types: BTreeSet<TypeId>,
    pub heads: BTreeSet<TypeId>,
}

/// Of the nodes of a kind, one in so many may be held by objects of other packages.
const FOREIGN: u64 = 20;
/// Types that hold nodes of one kind; of more none is the head.
const MOST_HOLDERS: usize = 6;
/// Supertypes of a type; more is damage.
const DEEPEST: usize = 1000;

/// The kinds of nodes among the types that `may_be`, each once.
pub(super) fn node_kinds(
    heap: &HeapState,
    values: Option<&HeapValues>,
    edges: &TypeEdges,
    may_be: &dyn Fn(TypeId) -> bool,
) -> Vec<NodeKind> {
    let families = Families::new(heap, values, edges, may_be);
    let mut by_family: BTreeMap<(TypeId, TypeId), u64> = BTreeMap::new();
    let mut into_family: BTreeMap<TypeId, Vec<(TypeId, &TypeEdge)>> = BTreeMap::new();
    for (&(from, to), edge) in &edges.edges {
        *by_family.entry((families.of(from), families.of(to))).or_default() += edge.references;
        into_family.entry(families.of(to)).or_default().push((from, edge));
    }
    let groups = families.groups(heap, &by_family);
    let mut all: Vec<NodeKind> = groups
        .iter()
        .filter_map(|group| {
            let into = group.iter().filter_map(|family| into_family.get(family)).flatten().copied().collect();
            kind(heap, edges, &families, &by_family, group, into, may_be)
        })
        .collect();
    // A head may be a node of another kind, but not of its own.
    all.retain(|kind| !kind.heads.is_empty());
    all
}

/// Types by the supertype that stands for them.
struct Families {
    /// By type.
    root: Vec<TypeId>,
    /// By root: its reachable objects, of types that may be nodes.
    objects: BTreeMap<TypeId, u64>,
}

impl Families {
    fn new(
        heap: &HeapState,
        values: Option<&HeapValues>,
        edges: &TypeEdges,
        may_be: &dyn Fn(TypeId) -> bool,
    ) -> Families {
        let types = (0..heap.types().len() as u32).map(TypeId);
        let root: Vec<TypeId> = types
            .map(|t| if may_be(t) { topmost(heap, values, t).filter(|top| may_be(*top)).unwrap_or(t) } else { t })
            .collect();
        let mut objects: BTreeMap<TypeId, u64> = BTreeMap::new();
        for (t, &count) in edges.objects.iter().enumerate().filter(|(_, count)| **count > 0) {
            if heap.types()[t].kind == TypeKind::Instance && may_be(TypeId(t as u32)) {
                *objects.entry(root[t]).or_default() += count;
            }
        }
        Families { root, objects }
    }

    fn of(&self, t: TypeId) -> TypeId {
        self.root[t.0 as usize]
    }

    /// Families that refer to each other and are declared in one type are one; all others are alone.
    fn groups(&self, heap: &HeapState, by_family: &BTreeMap<(TypeId, TypeId), u64>) -> Vec<BTreeSet<TypeId>> {
        let mut group: BTreeMap<TypeId, TypeId> = self.objects.keys().map(|&t| (t, t)).collect();
        let is_mutual = |a: TypeId, b: TypeId| {
            a < b
                && by_family.contains_key(&(b, a))
                && is_nested(heap, a)
                && is_nested(heap, b)
                && outer(heap, a) == outer(heap, b)
        };
        for &(a, b) in by_family.keys().filter(|(a, b)| is_mutual(*a, *b)) {
            let (Some(&to), Some(&from)) = (group.get(&a), group.get(&b)) else { continue };
            group.values_mut().filter(|of| **of == from).for_each(|of| *of = to);
        }
        let mut groups: BTreeMap<TypeId, BTreeSet<TypeId>> = BTreeMap::new();
        for (family, of) in group {
            groups.entry(of).or_default().insert(family);
        }
        groups.into_values().collect()
    }
}

fn kind(
    heap: &HeapState,
    edges: &TypeEdges,
    families: &Families,
    by_family: &BTreeMap<(TypeId, TypeId), u64>,
    group: &BTreeSet<TypeId>,
    into: Vec<(TypeId, &TypeEdge)>,
    may_be: &dyn Fn(TypeId) -> bool,
) -> Option<NodeKind> {
    let count: u64 = group.iter().filter_map(|family| families.objects.get(family)).sum();
    let is_in = |t: TypeId| group.contains(&families.of(t));
    let package = package(heap, *group.first()?);
    let (mut holders, mut links, mut foreign) = (BTreeMap::new(), 0, 0);
    for &(from, edge) in &into {
        // A subtype of the program holds nodes as its supertype does.
        let declaring = supertypes(heap, from)
            .find(|&t| heap.types()[t.0 as usize].superclass.is_some() && self::package(heap, t) == package);
        match declaring.filter(|_| heap.types()[from.0 as usize].kind == TypeKind::Instance) {
            _ if is_in(from) => links += edge.references,
            Some(declaring) => drop(holders.insert(from, declaring)),
            None => foreign += edge.references,
        }
    }
    let declaring: BTreeSet<TypeId> = holders.values().copied().collect();
    if count < 2 || foreign * FOREIGN > count || holders.is_empty() || declaring.len() > MOST_HOLDERS {
        return None;
    }
    // Iterators and views refer to what they look at, and that not to them.
    let refers = |from: &TypeId, to: &TypeId| by_family.contains_key(&(families.of(*from), families.of(*to)));
    let is_view = |of: &TypeId| holders.keys().any(|other| other != of && refers(of, other) && !refers(other, of));
    let first = *group.first()?;
    let declares = |head: &TypeId| is_nested(heap, first) && outer(heap, first) == outer(heap, *head);
    let is_of_array = |head: &TypeId| into.iter().any(|(from, edge)| from == head && !edge.arrays.is_empty());
    let mut heads: BTreeSet<TypeId> = holders.keys().copied().filter(|of| may_be(*of) && !is_view(of)).collect();
    if links == 0 {
        heads.retain(|head| declares(head) && is_of_array(head));
    }
    let types = (0..heap.types().len() as u32).map(TypeId);
    let types = types.filter(|t| edges.objects[t.0 as usize] > 0 && is_in(*t)).collect();
    Some(NodeKind { nodes: group.clone(), types, heads })
}

/// The topmost supertype in the package of a type that has references of its own; `None` where it is not known what fields it has.
fn topmost(heap: &HeapState, values: Option<&HeapValues>, t: TypeId) -> Option<TypeId> {
    let values = values?;
    let declaring: BTreeSet<TypeId> = (values.layouts().fields(heap, t))
        .filter(|field| field.place.kind() == ValueKind::Reference)
        .map(|field| field.class)
        .collect();
    supertypes(heap, t)
        .take_while(|&above| package(heap, above) == package(heap, t))
        .filter(|above| declaring.contains(above))
        .last()
}

/// A type and its supertypes, the nearest first.
pub(super) fn supertypes(heap: &HeapState, t: TypeId) -> impl Iterator<Item = TypeId> {
    let above = |t: &TypeId| heap.types()[t.0 as usize].superclass.filter(|t| (t.0 as usize) < heap.types().len());
    std::iter::successors(Some(t), above).take(DEEPEST)
}

pub(super) fn package(heap: &HeapState, t: TypeId) -> &str {
    heap.profile().names.split(&heap.types()[t.0 as usize].name).0
}

/// The name of the outermost type that a type is declared in.
fn outer(heap: &HeapState, t: TypeId) -> &str {
    let name = &heap.types()[t.0 as usize].name;
    &name[..heap.profile().names.outermost(name)]
}

fn is_nested(heap: &HeapState, t: TypeId) -> bool {
    outer(heap, t).len() < heap.types()[t.0 as usize].name.len()
}
