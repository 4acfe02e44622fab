//! Construction of the tree of owners: each object finds its place below the owner that dominates it.

use super::folding::Folding;
use super::names::{best_root, class_name, root_names, static_field, static_name, type_name};
use super::owner::{DEEPEST, OwnerNode, OwnerTree};
use super::places::OwnerPlaces;
use super::shared::{self, SharedOwners};
use super::thread_locals;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepGraph};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 18;
/// Objects that are read before any is placed, so that the processor waits for many places in memory at once.
const BATCH: usize = 32;

/// As [`OwnerTree::new`].
pub(super) fn place_all(heap: &HeapState, dominators: &Dominators, progress: &Progress) -> Result<OwnerTree> {
    let graph = dominators.graph(heap);
    progress.begin("Naming owners", 2 * heap.object_count() as u64);
    // First with one place for all that is shared, from which it follows who shares it; then with their names.
    let mut builder = Builder::new(heap, &graph, dominators);
    builder.place(None, progress)?;
    if !builder.shared.objects.is_empty() {
        let keepers = shared::find(&graph, dominators, &mut builder, progress)?;
        builder.place(Some(&keepers), progress)?;
    }
    builder.finish(progress)
}

/// The tree under construction.
pub(super) struct Builder<'a> {
    pub(super) heap: &'a HeapState,
    graph: &'a KeepGraph<'a>,
    dominators: &'a Dominators,
    folding: Folding<'a>,
    pub(super) nodes: Vec<OwnerNode>,
    /// By node: its depth, and the type whose insides are counted there (a type of the heap, or none).
    pub(super) depth: Vec<u32>,
    container: Vec<Option<TypeId>>,
    /// From a node and a name to the node below.
    below: FxHashMap<(u32, u32), u32>,
    names: FxHashMap<Arc<str>, u32>,
    name_of: Vec<Arc<str>>,
    /// By type: the number of its name.
    name_of_type: Vec<u32>,
    /// By number of a name: the type with this name. A place has the same insides whichever type names it first.
    type_of_name: FxHashMap<u32, TypeId>,
    /// By object: its node.
    pub(super) of: Vec<u32>,
    /// The objects that are no insides of others at their node.
    heads: BitSet,
    /// From a node, the type of an object there and that of one it owns, to the place of the owned one, and whether it is a head.
    learnt: FxHashMap<(u32, TypeId, TypeId), (u32, bool)>,
    /// From the node of an owner and the sharers of an object to the node of that object.
    named: FxHashMap<(u32, (shared::Sharers, u32)), u32>,
    /// The type of entries with values of thread locals; and from the node of a table and a variable to its place.
    entries: Option<TypeId>,
    thread_locals: FxHashMap<(u32, Option<ObjectId>), u32>,
    pub(super) shared: SharedOwners,
    /// The class that an object is, for class objects.
    pub(super) class_of: FxHashMap<ObjectId, TypeId>,
}

/// Where an object goes.
enum OwnerSpot {
    /// Into this node; whether as no inside of another.
    Known(u32, bool),
    /// Into the node of its owner, as its inside.
    Inside(u32),
    /// Below a node, under the name of its type.
    Below(u32),
    /// It is this node.
    At(u32),
}

impl<'a> Builder<'a> {
    fn new(heap: &'a HeapState, graph: &'a KeepGraph<'a>, dominators: &'a Dominators) -> Builder<'a> {
        let root = OwnerNode {
            parent: 0,
            name: "Heap".into(),
            own: Amount::default(),
            total: Amount::default(),
            heads: 0,
            largest: None,
        };
        let mut builder = Builder {
            heap,
            graph,
            dominators,
            folding: Folding::new(heap),
            nodes: vec![root],
            depth: vec![0],
            container: vec![None],
            below: FxHashMap::default(),
            names: FxHashMap::default(),
            name_of: Vec::new(),
            name_of_type: Vec::new(),
            type_of_name: FxHashMap::default(),
            of: vec![0; heap.object_count()],
            heads: BitSet::new(heap.object_count()),
            learnt: FxHashMap::default(),
            named: FxHashMap::default(),
            entries: thread_locals::entries(heap),
            thread_locals: FxHashMap::default(),
            shared: SharedOwners::new(heap.object_count()),
            class_of: FxHashMap::default(),
        };
        let mirrors = (0..heap.types().len() as u32).map(TypeId);
        builder.class_of = mirrors.filter_map(|t| Some((heap.mirror_of(t)?, t))).collect();
        builder.name_of_type =
            (0..heap.types().len() as u32).map(|t| builder.name(type_name(heap, TypeId(t)))).collect();
        for (&name, t) in builder.name_of_type.iter().zip(0..) {
            builder.type_of_name.entry(name).or_insert(TypeId(t));
        }
        builder
    }

    fn name(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.names.get(text) {
            return number;
        }
        let number = self.name_of.len() as u32;
        let text: Arc<str> = text.into();
        self.name_of.push(Arc::clone(&text));
        self.names.insert(text, number);
        number
    }

    fn child(&mut self, parent: u32, name: u32) -> u32 {
        if let Some(&node) = self.below.get(&(parent, name)) {
            return node;
        }
        if self.depth[parent as usize] >= DEEPEST {
            return parent;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(OwnerNode {
            parent,
            name: Arc::clone(&self.name_of[name as usize]),
            own: Amount::default(),
            total: Amount::default(),
            heads: 0,
            largest: None,
        });
        self.depth.push(self.depth[parent as usize] + 1);
        self.container.push(self.type_of_name.get(&name).copied());
        self.below.insert((parent, name), node);
        node
    }

    pub(super) fn child_named(&mut self, parent: u32, name: &str) -> u32 {
        let name = self.name(name);
        self.child(parent, name)
    }

    /// Places all reachable objects, owners before the objects they own; with `known`, only those again that are shared or lie below shared
    /// ones.
    fn place(&mut self, known: Option<&shared::Keepers>, progress: &Progress) -> Result<()> {
        let mut objects = self.dominators.top_down_with_owners();
        let mut batch: Vec<(ObjectId, Option<ObjectId>)> = Vec::with_capacity(BATCH);
        for i in 0.. {
            batch.clear();
            batch.extend(objects.by_ref().take(BATCH));
            if batch.is_empty() {
                break;
            }
            batch.retain(|&(o, _)| known.is_none() || self.shared.is_below(o));
            if (BATCH * i).is_multiple_of(CHECKED) {
                progress.check()?;
                progress.advance(CHECKED as u64);
            }
            self.place_batch(&batch, known);
        }
        Ok(())
    }

    fn place_batch(&mut self, batch: &[(ObjectId, Option<ObjectId>)], known: Option<&shared::Keepers>) {
        let ahead = batch.iter().fold(0, |sum, &(o, owner)| {
            let of_owner = owner.map_or(0, |d| self.of[d.0 as usize] ^ self.heap.type_of(d).0);
            sum ^ of_owner ^ self.heap.type_of(o).0 ^ self.heap.referrers(o).len() as u32
        });
        std::hint::black_box(ahead);
        for &(o, owner) in batch {
            let of = self.heap.type_of(o);
            let (node, is_head) = match self.spot(o, owner, known) {
                OwnerSpot::Known(node, is_head) => (node, is_head),
                OwnerSpot::Inside(node) => (node, false),
                OwnerSpot::At(node) => (node, true),
                OwnerSpot::Below(parent) => self.below(parent, of),
            };
            self.of[o.0 as usize] = node;
            match is_head {
                true => self.heads.insert(o.0),
                false => self.heads.remove(o.0),
            };
        }
    }

    fn below(&mut self, parent: u32, of: TypeId) -> (u32, bool) {
        let recursion = self.same_type_above(parent, of);
        let name = self.name_of_type[of.0 as usize];
        (recursion.unwrap_or_else(|| self.child(parent, name)), true)
    }

    /// A tree of the program's own nodes nests in itself: it is one place. Collections of collections are not, unless two kinds alternate,
    /// and neither are objects of dynamic languages, which all have one type.
    fn same_type_above(&self, parent: u32, of: TypeId) -> Option<u32> {
        if self.folding.is_collection(of) || self.folding.is_of_language(of) {
            return self.alternating_above(parent, of);
        }
        let name = self.name_of_type[of.0 as usize];
        let mut at = parent;
        while at != 0 {
            if self.container[at as usize].is_some_and(|c| self.name_of_type[c.0 as usize] == name) {
                return Some(at);
            }
            at = self.nodes[at as usize].parent;
        }
        None
    }

    /// The place two levels up where two kinds of collections have alternated twice already: a lazy sequence of cells. A map of lists of maps
    /// is no such chain.
    fn alternating_above(&self, parent: u32, of: TypeId) -> Option<u32> {
        let name = |place: u32| self.container[place as usize].map(|of| self.name_of_type[of.0 as usize]);
        let up = |place: u32| self.nodes[place as usize].parent;
        let own = Some(self.name_of_type[of.0 as usize]);
        let [a, b] = [parent, up(parent)];
        let [c, d] = [up(b), up(up(b))];
        let alternates = name(b) == own && name(d) == own && name(a).is_some() && name(a) == name(c) && name(a) != own;
        alternates.then_some(b)
    }

    fn spot(&mut self, o: ObjectId, owner: Option<ObjectId>, known: Option<&shared::Keepers>) -> OwnerSpot {
        if let (Some(d), None) = (owner, known) {
            self.shared.inherit(o, d);
        }
        if let Some(t) = self.class(o) {
            let name = class_name(type_name(self.heap, t));
            // Most are held by the VM, or alone by their loader; the others like any object.
            let parent = match owner {
                None if self.graph.roots().binary_search(&o).is_err() => match self.shared_spot(o, 0, known) {
                    OwnerSpot::Known(node, _)
                    | OwnerSpot::Inside(node)
                    | OwnerSpot::Below(node)
                    | OwnerSpot::At(node) => node,
                },
                owner => owner.map_or(0, |d| self.of[d.0 as usize]),
            };
            return OwnerSpot::At(self.child_named(parent, &name));
        }
        let Some(d) = owner else {
            return match best_root(self.heap, o, |kind| self.graph.counts(o, kind)) {
                Some(root) => {
                    let names = root_names(self.heap, root);
                    let node = names.iter().fold(0, |node, name| self.child_named(node, name));
                    // A thread is its own place; what a variable holds lies below the variable.
                    match root.kind == memory_city_heap::RootKind::Thread {
                        true => OwnerSpot::At(node),
                        false => OwnerSpot::Below(node),
                    }
                }
                None => self.shared_spot(o, 0, known),
            };
        };
        let node = self.of[d.0 as usize];
        // With a single reference there is only one who can keep it.
        let referrers = self.heap.referrers(o);
        let is_direct = referrers.len() <= 1 || {
            let mut found = false;
            self.graph.keepers(o, |keeper| found |= keeper == d);
            found
        };
        if !is_direct {
            return self.shared_spot(o, node, known);
        }
        if let Some(t) = self.class(d) {
            let class = type_name(self.heap, t);
            return OwnerSpot::Below(match static_field(self.heap, class, o) {
                Some(field) => self.child_named(node, &static_name(field)),
                None => node,
            });
        }
        let (of, by) = (self.heap.type_of(o), self.heap.type_of(d));
        if self.entries == Some(by) && self.heap.type_of(o) != by {
            return OwnerSpot::Below(self.thread_local(node, d));
        }
        let key = (node, by, of);
        if let Some(&(node, is_head)) = self.learnt.get(&key) {
            return OwnerSpot::Known(node, is_head);
        }
        let place = match self.folding.is_inside(of, by, self.container[node as usize].unwrap_or(by)) {
            true => (node, false),
            false => self.below(node, of),
        };
        self.learnt.insert(key, place);
        OwnerSpot::Known(place.0, place.1)
    }

    /// The place of the value that a thread keeps in one of its variables, below that of its table.
    fn thread_local(&mut self, node: u32, entry: ObjectId) -> u32 {
        let variable = thread_locals::variable(self.heap, entry);
        if let Some(&place) = self.thread_locals.get(&(node, variable)) {
            return place;
        }
        let place = self.child_named(node, &thread_locals::name(self.heap, variable));
        self.thread_locals.insert((node, variable), place);
        place
    }

    /// The class that an object is.
    #[inline]
    fn class(&self, o: ObjectId) -> Option<TypeId> {
        if self.heap.is_class_object(o) { self.class_of.get(&o).copied() } else { None }
    }

    /// Where an object goes that only several others below `node` keep together.
    fn shared_spot(&mut self, o: ObjectId, node: u32, known: Option<&shared::Keepers>) -> OwnerSpot {
        let Some(keepers) = known else {
            self.shared.add(o);
            let place = self.child_named(node, shared::PLACE);
            return OwnerSpot::Below(place);
        };
        let key = keepers.key(self, o).map(|key| (node, key));
        if let Some(&place) = key.as_ref().and_then(|key| self.named.get(key)) {
            return OwnerSpot::Below(place);
        }
        let spot = match keepers.of(self, o) {
            shared::Keeping::Container => match self.is_inside_of(o, node) {
                true => OwnerSpot::Inside(node),
                false => OwnerSpot::Below(node),
            },
            shared::Keeping::Within(path, several) => {
                let place = path.iter().fold(node, |node, name| self.child_named(node, name));
                OwnerSpot::Below(if several { self.child_named(place, shared::SEVERAL) } else { place })
            }
            shared::Keeping::By(name) => OwnerSpot::Below(self.child_named(node, &name)),
        };
        if let (Some(key), OwnerSpot::Below(place)) = (key, &spot) {
            self.named.insert(key, *place);
        }
        spot
    }

    /// Whether an object that the collection at a node keeps is an inside of it.
    pub(super) fn is_inside_of(&self, o: ObjectId, node: u32) -> bool {
        let of = self.heap.type_of(o);
        self.container[node as usize].is_some_and(|c| self.folding.is_inside(of, c, c))
    }

    /// Whether an object would be in a place of its own below that of its owner, if places were deeper.
    fn is_too_deep(&self, o: ObjectId, node: u32) -> bool {
        let of = self.heap.type_of(o);
        self.depth[node as usize] >= DEEPEST
            && self.dominators.owner(o).is_some_and(|d| self.of[d.0 as usize] == node)
            && self.same_type_above(node, of).is_none()
    }

    /// Adds up, and drops empty places, which were only used until the sharers were known.
    fn finish(mut self, progress: &Progress) -> Result<OwnerTree> {
        let mut too_deep = 0;
        for o in self.heap.objects() {
            if (o.0 as usize).is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let node = self.of[o.0 as usize] as usize;
            if node == 0 {
                continue;
            }
            too_deep += u64::from(self.heads.contains(o.0) && self.is_too_deep(o, node as u32));
            let at = &mut self.nodes[node];
            at.own += Amount { objects: 1, bytes: self.heap.size_of(o) };
            if self.heads.contains(o.0) {
                at.heads += 1;
                let bytes = self.dominators.retained(o).bytes;
                if at.largest.is_none_or(|(_, most)| bytes > most) {
                    at.largest = Some((o, bytes));
                }
            }
        }
        for at in 0..self.nodes.len() {
            self.nodes[at].total = self.nodes[at].own;
        }
        for at in (1..self.nodes.len()).rev() {
            let (total, parent) = (self.nodes[at].total, self.nodes[at].parent);
            self.nodes[parent as usize].total += total;
        }
        let mut kept: Vec<OwnerNode> = Vec::with_capacity(self.nodes.len());
        let mut number = vec![0u32; self.nodes.len()];
        for (at, mut node) in self.nodes.into_iter().enumerate() {
            if at > 0 && node.total.objects == 0 {
                continue;
            }
            node.parent = number[node.parent as usize];
            number[at] = kept.len() as u32;
            kept.push(node);
        }
        self.of.iter_mut().for_each(|node| *node = number[*node as usize]);
        Ok(OwnerTree { places: OwnerPlaces::new(kept, too_deep), of: self.of })
    }
}
