//! Shared objects: named by the objects that together keep them, if no object owns them alone.
//!
//! The owner of such an object is an object further up, or the roots, and several objects below that refer to it. Those give the name: two
//! maps that share all products own them together. A referrer may be shared itself; then its own keepers count. This is found for all
//! shared objects at once, repeated until nothing changes (the sets only grow, and are small).

use super::names::{static_field, static_name, type_name};
use super::placing::Builder;
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepGraph};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The name of the place of all shared objects, before their sharers are known.
pub(super) const PLACE: &str = "shared";

/// The name for objects shared by several objects of one place.
pub(super) const SEVERAL: &str = "shared between several";

/// Most keepers in a name: more would say nothing.
const MOST: usize = 3;

/// The shared objects, and for each object the nearest of them that it lies below.
#[derive(Default)]
pub(super) struct SharedOwners {
    /// In the order they were found: owners first.
    pub objects: Vec<ObjectId>,
    /// By object: a place in `objects` plus one, of itself or of its owner; 0 without one.
    of: Vec<u32>,
}

impl SharedOwners {
    pub fn new(objects: usize) -> SharedOwners {
        SharedOwners { objects: Vec::new(), of: vec![0; objects] }
    }

    #[inline]
    pub fn inherit(&mut self, o: ObjectId, owner: ObjectId) {
        let of = self.of[owner.0 as usize];
        // Most are not shared: nothing is written then.
        if of != 0 {
            self.of[o.0 as usize] = of;
        }
    }

    pub fn add(&mut self, o: ObjectId) {
        self.objects.push(o);
        self.of[o.0 as usize] = self.objects.len() as u32;
    }

    /// True if an object is shared, or its owner is.
    #[inline]
    pub fn is_below(&self, o: ObjectId) -> bool {
        self.of[o.0 as usize] != 0
    }

    fn nearest(&self, o: ObjectId) -> Option<u32> {
        self.of[o.0 as usize].checked_sub(1)
    }
}

/// How much a keeper says of a shared object, the least first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum KeeperRank {
    /// Something that cleans up behind the others.
    #[default]
    Cleaner,
    /// A thread, or a handle of the VM.
    Passing,
    /// A field, a variable of a class, an object of the program.
    Lasting,
}

/// Keepers of one rank, ascending: a keeper of a higher rank takes the place of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FewNodes {
    nodes: [u32; MOST],
    /// More than [`MOST`] if there are more.
    count: u8,
    rank: KeeperRank,
}

impl FewNodes {
    fn all(&self) -> &[u32] {
        &self.nodes[..usize::from(self.count).min(MOST)]
    }

    fn is_many(&self) -> bool {
        usize::from(self.count) > MOST
    }

    /// Adds a node; returns whether anything changed.
    fn add(&mut self, node: u32, rank: KeeperRank) -> bool {
        if rank > self.rank || self.count == 0 {
            *self = FewNodes { nodes: [node, 0, 0], count: 1, rank };
            return true;
        }
        let count = self.all().len();
        match self.all().binary_search(&node) {
            _ if rank < self.rank || self.is_many() => false,
            Ok(_) => false,
            Err(at) => {
                if count < MOST {
                    self.nodes.copy_within(at..MOST - 1, at + 1);
                    self.nodes[at] = node;
                }
                self.count += 1;
                true
            }
        }
    }

    /// Adds all of others; returns whether anything changed.
    fn join(&mut self, others: &FewNodes) -> bool {
        if others.is_many() && (others.rank > self.rank || others.rank == self.rank && !self.is_many()) {
            *self = *others;
            return true;
        }
        others.all().iter().fold(false, |changed, &node| self.add(node, others.rank) | changed)
    }
}

/// The keepers of a shared object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sharers {
    /// Nodes of the first tree.
    Few(FewNodes),
    /// The insides of its owner among them: then it is its owner's.
    Container,
    /// More than [`MOST`].
    Many,
}

impl Sharers {
    /// Adds the keepers of another object, which lies at `node`; returns whether anything changed. The keepers through the owner's insides
    /// are final before.
    fn join(&mut self, other: &Sharers, node: u32, rank: impl Fn() -> KeeperRank) -> bool {
        let changed = match (&mut *self, other) {
            (Sharers::Container | Sharers::Many, _) => return false,
            // The owner keeps the other one, and that this one.
            (_, Sharers::Container) => return self.add(node, rank()),
            (Sharers::Few(_), Sharers::Many) => {
                *self = Sharers::Many;
                true
            }
            (Sharers::Few(few), Sharers::Few(others)) => few.join(others),
        };
        self.many_if_lasting();
        changed
    }

    fn add(&mut self, node: u32, rank: KeeperRank) -> bool {
        let Sharers::Few(few) = self else { return false };
        let changed = few.add(node, rank);
        self.many_if_lasting();
        changed
    }

    /// Of many keepers of the highest rank none is named.
    fn many_if_lasting(&mut self) {
        if matches!(self, Sharers::Few(few) if few.is_many() && few.rank == KeeperRank::Lasting) {
            *self = Sharers::Many;
        }
    }
}

/// The rank of a node, by what stands on top of it.
fn rank(first: &Builder<'_>, node: u32) -> KeeperRank {
    let mut top = node;
    while first.nodes[top as usize].parent != 0 {
        top = first.nodes[top as usize].parent;
    }
    let name = &first.nodes[top as usize].name;
    if first.heap.profile().names.cleaners.contains(&&**name) {
        KeeperRank::Cleaner
    } else if ["thread ", "JNI", "Monitor", "Other root"].iter().any(|p| name.starts_with(p)) {
        KeeperRank::Passing
    } else {
        KeeperRank::Lasting
    }
}

/// Nesting of shared objects up to which they are followed: deeper keepers are too far away to name.
const LONGEST: usize = 200;

/// Keepers that are looked at together, so that the processor waits for many places in memory at once.
const BATCH: usize = 64;

/// The keepers of all shared objects.
pub(super) struct Keepers {
    /// By place in [`SharedOwners::objects`].
    all: Vec<Sharers>,
    /// By node of the first tree: its names below the node of the shared object's owner, for [`Keeping`].
    base: Vec<u32>,
}

/// The name of a shared object's keepers.
pub(super) enum Keeping {
    /// Its owner keeps it, through its insides.
    Container,
    /// This place below the owner does; the names down to it, and whether several objects of it do.
    Within(Vec<Arc<str>>, bool),
    /// These do.
    By(String),
}

/// Finds the keepers.
///
/// # Errors
/// When cancelled.
pub(super) fn find(
    graph: &KeepGraph<'_>,
    dominators: &Dominators,
    first: &mut Builder<'_>,
    progress: &Progress,
) -> Result<Keepers> {
    let shared = std::mem::take(&mut first.shared);
    let owners: Vec<Option<ObjectId>> = shared.objects.iter().map(|&o| dominators.owner(o)).collect();
    let base: Vec<u32> = owners.iter().map(|owner| owner.map_or(0, |d| first.of[d.0 as usize])).collect();
    // Few places meet, and each many times.
    let mut heads: FxHashMap<(u32, u32), Option<(u32, KeeperRank)>> = FxHashMap::default();
    let mut all = vec![Sharers::Few(FewNodes::default()); shared.objects.len()];
    // Of each shared object the other shared ones that keep it, or in which lies what does.
    let mut from: Vec<(u32, u32)> = Vec::new();
    let mut is_container = BitSet::new(shared.objects.len());
    let mut look_at = |batch: &[(u32, ObjectId)]| {
        let places = batch.iter().map(|(_, keeper)| shared.of[keeper.0 as usize] ^ first.of[keeper.0 as usize]);
        std::hint::black_box(places.fold(0, |all, place| all ^ place));
        let reached: Vec<bool> = batch.iter().map(|&(_, keeper)| dominators.is_reached(keeper)).collect();
        for (&(i, keeper), _) in batch.iter().zip(reached).filter(|(_, is_reached)| *is_reached) {
            let i = i as usize;
            let (o, owner, base) = (shared.objects[i], owners[i], base[i]);
            // One class more says nothing then, and which field it is takes a look at all that hold the object.
            if all[i] == Sharers::Many && first.class_of.contains_key(&keeper) {
                continue;
            }
            // The shared object below the same owner in which the keeper lies.
            let mut within = shared.nearest(keeper);
            let mut steps = 0;
            while let Some(u) = within {
                steps += 1;
                let above = owners[u as usize];
                if above == owner || steps > LONGEST {
                    break;
                }
                within = above.and_then(|d| shared.nearest(d));
            }
            match within {
                _ if steps > LONGEST => all[i] = Sharers::Many,
                Some(u) if u as usize == i => {}
                Some(u) => from.push((u, i as u32)),
                None => {
                    let place = place_of(first, keeper, o);
                    let head = || head(first, place, base).map(|head| (head, rank(first, head)));
                    match *heads.entry((place, base)).or_insert_with(head) {
                        Some((head, rank)) => {
                            all[i].add(head, rank);
                        }
                        None => _ = is_container.insert(i as u32),
                    }
                }
            }
        }
    };
    let mut batch: Vec<(u32, ObjectId)> = Vec::with_capacity(BATCH);
    for (i, &o) in shared.objects.iter().enumerate() {
        if i.is_multiple_of(1 << 16) {
            progress.check()?;
        }
        graph.keepers(o, |keeper| {
            batch.push((i as u32, keeper));
            if batch.len() == BATCH {
                look_at(&batch);
                batch.clear();
            }
        });
    }
    look_at(&batch);
    for i in is_container.iter().filter(|&i| owners[i as usize].is_some()) {
        all[i as usize] = Sharers::Container;
    }
    first.shared = shared;
    let (first, shared) = (&*first, &first.shared);
    from.sort_unstable();
    from.dedup();
    let kept_by = |u: u32| from[from.partition_point(|f| f.0 < u)..].iter().take_while(move |f| f.0 == u).map(|f| f.1);
    // First what the owner keeps through its insides, which decides: else the answer would depend on the order of objects.
    let mut open: Vec<u32> = (0..all.len() as u32).filter(|&u| all[u as usize] == Sharers::Container).collect();
    while let Some(u) = open.pop() {
        if !first.is_inside_of(shared.objects[u as usize], base[u as usize]) {
            continue;
        }
        for to in kept_by(u) {
            if all[to as usize] != Sharers::Container {
                all[to as usize] = Sharers::Container;
                open.push(to);
            }
        }
    }
    let mut open: Vec<u32> = from.iter().map(|f| f.0).rev().collect();
    open.dedup();
    let mut waits = vec![false; all.len()];
    open.iter().for_each(|&u| waits[u as usize] = true);
    while let Some(u) = open.pop() {
        waits[u as usize] = false;
        let mine = all[u as usize];
        let node = first.of[shared.objects[u as usize].0 as usize];
        for to in kept_by(u) {
            if all[to as usize].join(&mine, node, || rank(first, node))
                && !std::mem::replace(&mut waits[to as usize], true)
            {
                open.push(to);
            }
        }
    }
    for sharers in &mut all {
        if matches!(sharers, Sharers::Few(few) if few.is_many()) {
            *sharers = Sharers::Many;
        }
    }
    Ok(Keepers { all, base })
}

/// The place of a referrer of an object: for class objects the static field.
fn place_of(first: &mut Builder<'_>, keeper: ObjectId, o: ObjectId) -> u32 {
    let node = first.of[keeper.0 as usize];
    let Some(&t) = first.class_of.get(&keeper) else { return node };
    let class = type_name(first.heap, t);
    match static_field(first.heap, class, o) {
        Some(field) => first.child_named(node, &static_name(field)),
        None => node,
    }
}

/// The place above a node that is next below `base`; or below the place they share, if trees of the program's own nodes were folded on the
/// way. For classes and threads it is the place below that, which names the field or method. `None` if `base` is the node, or lies in it.
fn head(first: &Builder<'_>, node: u32, base: u32) -> Option<u32> {
    let common = common(first, node, base);
    let (mut at, mut below, mut second) = (node, None, None);
    while at != common && at != 0 {
        second = below;
        below = Some(at);
        at = first.nodes[at as usize].parent;
    }
    let head = below?;
    let name = &first.nodes[head as usize].name;
    match name.starts_with("class ") || name.starts_with("thread ") {
        true => second.or(below),
        false => below,
    }
}

/// The deepest place in which two places lie.
fn common(first: &Builder<'_>, a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while a != b {
        let deeper = if first.depth[a as usize] >= first.depth[b as usize] { &mut a } else { &mut b };
        *deeper = first.nodes[*deeper as usize].parent;
    }
    a
}

impl Keepers {
    /// The inputs of [`Keepers::of`]: the sharers, and the node below which they are named.
    pub fn key(&self, first: &Builder<'_>, o: ObjectId) -> Option<(Sharers, u32)> {
        let i = first.shared.nearest(o)? as usize;
        Some((self.all[i], self.base[i])).filter(|(sharers, _)| *sharers != Sharers::Container)
    }

    /// The name of the keepers of a shared object in the first tree.
    pub fn of(&self, first: &Builder<'_>, o: ObjectId) -> Keeping {
        let Some(i) = first.shared.nearest(o).map(|i| i as usize) else { return Keeping::Container };
        match &self.all[i] {
            Sharers::Container => Keeping::Container,
            Sharers::Many => Keeping::By(format!("shared by more than {MOST}")),
            Sharers::Few(few) => match few.all() {
                // Only what is shared itself and kept by nothing else: a circle cannot be.
                [] => Keeping::By("shared".to_owned()),
                [one] => {
                    let names = names_below(first, *one, self.base[i]);
                    // What a field or a variable refers to it owns, beside those who look at it.
                    let several = !names.last().is_some_and(|n| is_variable(n));
                    Keeping::Within(names, several)
                }
                several => {
                    let base = &first.nodes[self.base[i] as usize].name;
                    let mut names: Vec<String> =
                        several.iter().map(|&n| short(base, &names_below(first, n, self.base[i]))).collect();
                    names.sort_unstable();
                    names.dedup();
                    Keeping::By(format!("shared by {}", names.join(" and ")))
                }
            },
        }
    }
}

fn names_below(first: &Builder<'_>, node: u32, base: u32) -> Vec<Arc<str>> {
    let mut names = Vec::new();
    let common = common(first, node, base);
    let mut at = node;
    while at != common && at != 0 {
        names.push(Arc::clone(&first.nodes[at as usize].name));
        at = first.nodes[at as usize].parent;
    }
    names.reverse();
    names.retain(|name| &**name != PLACE);
    names
}

fn is_variable(name: &str) -> bool {
    name.starts_with("static ") || name.starts_with("local variable of ")
}

/// `com.acme.Cache.entries` for a class and its field, otherwise the names as they are.
fn short(base: &str, names: &[Arc<str>]) -> String {
    match names {
        [field] if base.starts_with("class ") && field.starts_with("static ") => {
            format!("{}.{}", &base["class ".len()..], &field["static ".len()..])
        }
        [class, field] if class.starts_with("class ") && field.starts_with("static ") => {
            format!("{}.{}", &class["class ".len()..], &field["static ".len()..])
        }
        names => names.join(", "),
    }
}
