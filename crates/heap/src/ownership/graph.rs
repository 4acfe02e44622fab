//! The graph of keepers: references that keep objects alive, walkable both ways.
//!
//! Nodes are objects, and one for each type that has a class object: an instance keeps its type, a type its class object. (A reference from
//! every instance to its class object would double the references of many heaps.) A type whose class object a GC root holds has no node,
//! since it makes no difference.

use super::order::follow;
use super::rules::KeepRules;
use super::{tops, unrecorded};
use crate::bits::BitSet;
use crate::progress::Progress;
use crate::referents::{Referent, strength_at};
use crate::roots::RootKind;
use crate::state::HeapState;
use crate::sweep::{Sweep, Word};
use crate::types::{ObjectId, TypeId};
use ahash::AHashMap;
use std::sync::Arc;

/// The objects that GC roots hold under some rules. Building it takes a walk over the heap if roots are not equal
/// ([`KeepRules::passing_roots`]) or not all recorded, so keep it for further questions.
#[derive(Clone, Debug)]
pub struct KeepingRoots {
    rules: KeepRules,
    /// Objects that roots hold, ascending, each once.
    held: Vec<ObjectId>,
    /// Objects that roots must hold which are not recorded, ascending.
    unrecorded: Vec<ObjectId>,
    /// The objects reachable from lasting roots, if other roots count for the rest only. References from the rest into this set do not
    /// count either.
    lasting: Option<Arc<BitSet>>,
}

/// The graph of one heap state under some rules. Cheap to make of [`KeepingRoots`]: a few bytes a type and a root.
pub struct KeepGraph<'h> {
    heap: &'h HeapState,
    keeping: KeepingRoots,
    /// True if every reference keeps, so that no check is needed.
    plain: bool,
    /// Objects that roots hold, recorded or not, ascending, each once.
    roots: Vec<ObjectId>,
    /// By type: its place in `types`, or [`NONE`].
    node_of_type: Vec<u32>,
    /// Types with a node, and their class objects.
    types: Vec<(TypeId, ObjectId)>,
    /// From class objects to places in `types`, and the set of these objects for a fast check of any object.
    types_of_mirror: AHashMap<ObjectId, Vec<u32>>,
    mirrors: BitSet,
}

const NONE: u32 = u32::MAX;

/// Targets to prefetch in a walk.
const AHEAD: usize = 8;

impl KeepingRoots {
    /// The objects that roots hold in a heap state.
    pub fn new(heap: &HeapState, rules: KeepRules) -> KeepingRoots {
        let held = root_objects(heap, rules, |_| true);
        let all = KeepingRoots { rules, held, unrecorded: Vec::new(), lasting: None };
        if heap.origins().is_some_and(|origins| !origins.is_walk) {
            // Of traces not all roots are known: what is kept without some of them is not.
            let unrecorded = unrecorded::unrecorded(&KeepGraph::of(heap, &all));
            return KeepingRoots { unrecorded, ..all };
        }
        if rules.passing_roots {
            return all;
        }
        let held = root_objects(heap, rules, |number| !heap.roots()[number as usize].kind.is_passing());
        let mut lasting = KeepingRoots { held, ..all.clone() };
        if lasting.held.len() == all.held.len() {
            return all;
        }
        let graph = KeepGraph::of(heap, &lasting);
        let mut seen = BitSet::new(graph.nodes());
        let mut open = Sweep::new(graph.nodes());
        graph.roots.iter().filter(|o| seen.insert(o.0)).for_each(|o| open.add(o.0));
        // It takes a fraction of what the graph is made for, which can be cancelled.
        let _ = follow(&graph, &mut seen, &mut open, &Progress::new());
        let passing: Vec<ObjectId> = all.held.into_iter().filter(|o| !seen.contains(o.0)).collect();
        lasting.lasting = Some(Arc::new(seen));
        lasting.held.extend(tops::tops(&KeepGraph::of(heap, &lasting), &passing));
        lasting.held.sort_unstable();
        lasting.held.dedup();
        lasting
    }

    /// The same roots, but passing roots keep everything their objects refer to: for questions of reachability, not of ownership.
    pub fn with_all_references(self) -> KeepingRoots {
        KeepingRoots { lasting: None, ..self }
    }
}

impl<'h> KeepGraph<'h> {
    /// The graph of a heap state, with [`KeepingRoots`] of its own.
    pub fn new(heap: &'h HeapState, rules: KeepRules) -> KeepGraph<'h> {
        KeepGraph::of(heap, &KeepingRoots::new(heap, rules))
    }

    /// The graph below the roots in the same heap state.
    pub fn of(heap: &'h HeapState, keeping: &KeepingRoots) -> KeepGraph<'h> {
        let (rules, held) = (keeping.rules, &keeping.held);
        let mut node_of_type = vec![NONE; heap.types().len()];
        let mut types = Vec::new();
        let mut mirrors = BitSet::new(heap.object_count());
        let mut types_of_mirror: AHashMap<ObjectId, Vec<u32>> = AHashMap::new();
        for t in (0..heap.types().len() as u32).map(TypeId) {
            if rules.instances_keep_classes
                && let Some(mirror) = heap.mirror_of(t)
                && held.binary_search(&mirror).is_err()
            {
                node_of_type[t.0 as usize] = types.len() as u32;
                mirrors.insert(mirror.0);
                types_of_mirror.entry(mirror).or_default().push(types.len() as u32);
                types.push((t, mirror));
            }
        }
        let plain = heap.referents().all().iter().all(|r| rules.keeps(r.strength));
        let mut roots = [&held[..], &keeping.unrecorded].concat();
        roots.sort_unstable();
        KeepGraph { heap, keeping: keeping.clone(), plain, roots, node_of_type, types, types_of_mirror, mirrors }
    }

    /// The objects that roots hold, to build the graph again.
    pub fn keeping(&self) -> &KeepingRoots {
        &self.keeping
    }

    /// The rules for references.
    pub(super) fn rules(&self) -> KeepRules {
        self.keeping.rules
    }

    /// The heap state.
    #[inline]
    pub fn heap(&self) -> &'h HeapState {
        self.heap
    }

    /// The objects that roots hold: real ones where there are any. A static field is a reference of its class object
    /// where the input has those, and a root where not.
    #[inline]
    pub fn roots(&self) -> &[ObjectId] {
        &self.roots
    }

    /// True if a root of this kind counts for the object it holds. A local variable does not count if something lasting or another one's
    /// object keeps the object as well, unless the rules say so.
    pub fn counts(&self, o: ObjectId, kind: RootKind) -> bool {
        let counts = |lasting: &Arc<BitSet>| !lasting.contains(o.0) && self.roots.binary_search(&o).is_ok();
        !kind.is_passing() || self.keeping.lasting.as_ref().is_none_or(counts)
    }

    /// The part of [`KeepGraph::roots`] that must be held by roots missing from the source. A source may list more live objects than its
    /// roots reach: the end of a young collection, for example, records few roots. Among these objects, those that nothing else leads to
    /// stand for the rest.
    pub fn unrecorded_roots(&self) -> &[ObjectId] {
        &self.keeping.unrecorded
    }

    /// Calls `each` with the objects that an object refers to and keeps; once for each reference.
    #[inline]
    pub fn kept(&self, o: ObjectId, mut each: impl FnMut(ObjectId)) {
        let weaker = self.weaker(o);
        let apart = self.apart_from(o);
        for (place, &target) in self.heap.references(o).iter().enumerate() {
            if !weaker.is_empty() && !self.keeps_at(weaker, target, place) {
                continue;
            }
            if apart.is_none_or(|lasting| !lasting.contains(target.0)) {
                each(target);
            }
        }
    }

    /// As [`KeepGraph::kept`], with whether the reference is a plain one.
    pub(super) fn kept_by(&self, o: ObjectId, mut each: impl FnMut(ObjectId, bool)) {
        let weaker = self.heap.referents().of(o);
        let apart = self.apart_from(o);
        for (place, &target) in self.heap.references(o).iter().enumerate() {
            let strength = strength_at(weaker, target, place as u32);
            let keeps = strength.is_none_or(|strength| self.keeping.rules.keeps(strength));
            if keeps && apart.is_none_or(|lasting| !lasting.contains(target.0)) {
                each(target, strength.is_none());
            }
        }
    }

    /// For an object that nothing lasting keeps: the objects that it does not keep.
    #[inline]
    fn apart_from(&self, o: ObjectId) -> Option<&BitSet> {
        self.keeping.lasting.as_deref().filter(|lasting| !lasting.contains(o.0))
    }

    /// Calls `each` with the objects that refer to an object and keep it; some of them more than once.
    #[inline]
    pub fn keepers(&self, o: ObjectId, mut each: impl FnMut(ObjectId)) {
        self.heap.referrers(o).iter().copied().filter(|&source| self.is_keeper(source, o)).for_each(&mut each);
    }

    /// Whether an object that refers to another keeps it.
    #[inline]
    pub(super) fn is_keeper(&self, source: ObjectId, o: ObjectId) -> bool {
        (self.plain || !self.keeps_not(source, o))
            && self.apart_from(source).is_none_or(|lasting| !lasting.contains(o.0))
    }

    /// Whether one of the objects that refer to an object and keep it fits.
    #[inline]
    pub(super) fn has_keeper(&self, o: ObjectId, fits: impl Fn(ObjectId) -> bool) -> bool {
        self.heap.referrers(o).iter().any(|&source| fits(source) && self.is_keeper(source, o))
    }

    /// The next node that a node (an object, or a type behind all objects) keeps and `wanted` accepts. `cursor` starts at 0 and holds the
    /// progress.
    #[inline]
    pub(super) fn step(&self, node: u32, cursor: &mut u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let n = self.heap.object_count() as u32;
        if node >= n {
            let mirror = self.types[(node - n) as usize].1.0;
            return (std::mem::replace(cursor, 1) == 0 && wanted(mirror)).then_some(mirror);
        }
        let o = ObjectId(node);
        let found = self.step_ahead(o, cursor, &wanted, &wanted);
        if found.is_some() {
            return found;
        }
        if *cursor as usize == self.heap.references(o).len() {
            *cursor += 1;
            if let Some(t) = self.type_node(o).map(|t| n + t).filter(|&t| wanted(t)) {
                return Some(t);
            }
        }
        None
    }

    /// As [`KeepGraph::step`] of an object, without its type.
    #[inline]
    pub(super) fn step_objects(&self, o: ObjectId, cursor: &mut u32, wanted: impl FnMut(u32) -> bool) -> Option<u32> {
        self.step_ahead(o, cursor, wanted, |_| true)
    }

    /// `soon` says of a target whether it may be wanted, and changes nothing.
    #[inline]
    fn step_ahead(
        &self,
        o: ObjectId,
        cursor: &mut u32,
        mut wanted: impl FnMut(u32) -> bool,
        soon: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let references = self.heap.references(o);
        let weaker = self.weaker(o);
        let apart = self.apart_from(o);
        while let Some(&target) = references.get(*cursor as usize) {
            if cursor.is_multiple_of(AHEAD as u32) {
                self.look_ahead(&references[*cursor as usize..], &soon);
            }
            *cursor += 1;
            // The same target may be held by another field as well.
            let keeps = weaker.is_empty() || self.keeps_at(weaker, target, *cursor as usize - 1);
            if keeps && apart.is_none_or(|lasting| !lasting.contains(target.0)) && wanted(target.0) {
                return Some(target.0);
            }
        }
        None
    }

    /// Prefetches the references of the next targets while the first is followed. These reads overlap; the reads of a plain walk wait for
    /// each other.
    #[inline]
    fn look_ahead(&self, targets: &[ObjectId], wanted: impl Fn(u32) -> bool) {
        let mut touched = 0;
        for &target in targets.iter().take(AHEAD).filter(|t| wanted(t.0)) {
            touched += self.heap.references(target).len();
        }
        std::hint::black_box(touched);
    }

    /// Calls `each` with the nodes that a node keeps: objects, and for objects their type.
    #[inline]
    pub(super) fn kept_nodes(&self, node: u32, mut each: impl FnMut(u32)) {
        let n = self.heap.object_count() as u32;
        if node >= n {
            return each(self.types[(node - n) as usize].1.0);
        }
        self.kept(ObjectId(node), |target| each(target.0));
        if let Some(t) = self.type_node(ObjectId(node)) {
            each(n + t);
        }
    }

    /// Calls `each` with objects that the nodes of a word refer to, where it pays to ask for something of theirs ahead.
    #[inline]
    pub(super) fn ahead(&self, word: &Word, each: impl FnMut(ObjectId)) {
        if let Some((first, last)) = word.run().filter(|(_, last)| (*last as usize) < self.heap.object_count()) {
            self.heap.references_ahead(ObjectId(first), ObjectId(last)).iter().copied().for_each(each);
        }
    }

    /// The number of nodes: objects, and types behind them.
    pub(super) fn nodes(&self) -> usize {
        self.heap.object_count() + self.types.len()
    }

    /// The references of an object that may not keep; none of most objects.
    #[inline]
    fn weaker(&self, o: ObjectId) -> &'h [Referent] {
        if self.plain { &[] } else { self.heap.referents().of(o) }
    }

    /// Whether the reference to an object at a place keeps it; `weaker` are those of the object that refers.
    fn keeps_at(&self, weaker: &[Referent], to: ObjectId, place: usize) -> bool {
        strength_at(weaker, to, place as u32).is_none_or(|strength| self.keeping.rules.keeps(strength))
    }

    /// Whether an object refers to another, but by none of these references keeps it.
    #[inline]
    fn keeps_not(&self, from: ObjectId, to: ObjectId) -> bool {
        let only = self.heap.referents().only(from, to);
        !only.is_empty() && !only.iter().any(|r| self.keeping.rules.keeps(r.strength))
    }

    /// How many types have a node.
    #[inline]
    pub(super) fn type_nodes(&self) -> &[(TypeId, ObjectId)] {
        &self.types
    }

    /// The node of the type of an object, as a place among the type nodes.
    #[inline]
    pub(super) fn type_node(&self, o: ObjectId) -> Option<u32> {
        let node = Some(self.node_of_type[self.heap.type_of(o).0 as usize]).filter(|&t| t != NONE)?;
        let apart = self.apart_from(o);
        Some(node).filter(|_| apart.is_none_or(|lasting| !lasting.contains(self.types[node as usize].1.0)))
    }

    /// The type nodes that keep an object because it is their class object.
    #[inline]
    pub(super) fn type_keepers(&self, o: ObjectId) -> &[u32] {
        if !self.mirrors.contains(o.0) {
            return &[];
        }
        self.types_of_mirror.get(&o).map_or(&[], Vec::as_slice)
    }
}

/// Objects that real roots of some numbers hold, ascending, each once. All static fields count where there are no others, or
/// where no class objects hold them.
pub(super) fn root_objects(heap: &HeapState, rules: KeepRules, wanted: impl Fn(u32) -> bool) -> Vec<ObjectId> {
    let real = |kind: RootKind| kind != RootKind::StaticField || !heap.has_class_objects();
    let any_real = heap.roots().iter().any(|r| real(r.kind));
    let held = heap.roots().iter().zip(0..).filter(|(r, number)| (real(r.kind) || !any_real) && wanted(*number));
    let held = held.map(|(r, _)| r.object);
    let mut roots: Vec<ObjectId> = held.filter(|o| (o.0 as usize) < heap.object_count()).collect();
    if rules.permanent_classes && any_real {
        let permanent = |&t: &TypeId| heap.profile().is_permanent(&heap.types()[t.0 as usize]);
        let types = (0..heap.types().len() as u32).map(TypeId).filter(permanent);
        roots.extend(types.filter_map(|t| heap.mirror_of(t)));
    }
    roots.sort_unstable();
    roots.dedup();
    roots
}
