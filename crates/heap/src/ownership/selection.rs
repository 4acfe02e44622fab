//! Closures of any set of objects, and the objects freed when references or roots are cut. One walk answers both: a cut removes some
//! references, a set removes all references to it.
//!
//! The time is linear in the objects reached from the set, not in the heap. An object reached from the set and also from outside is found
//! where it is referred to: by a root, or by a live object that the set does not reach. (Dead objects own nothing.) From these objects on,
//! nothing is freed.
//!
//! An instance leads on to its class object, its loader and all its other classes, which is most of the heap. The walk leaves this path out
//! while the class object certainly stays: while roots reach it, or some other instance, by references and not through the set. If the walk
//! has to take it (the only instance of a lambda's class), it stops at objects that a short path from a root holds in any case, which is
//! nearly always true of a class loader.

use super::cut::CutSet;
use super::graph::KeepGraph;
use super::order::WORDS;
use super::rules::KeepRules;
use crate::amount::Amount;
use crate::bits::BitSet;
use crate::error::Result;
use crate::progress::Progress;
use crate::state::HeapState;
use crate::sweep::Sweep;
use crate::types::{ObjectId, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Answers for sets of objects of one heap state, under some rules.
///
/// Memory: 2 bits an object; for each answer 4 bytes for each object that is reached from the set, and some bits an
/// object.
pub struct ObjectClosures<'h> {
    graph: KeepGraph<'h>,
    /// Objects that roots reach by references alone.
    by_references: BitSet,
    /// Objects that roots reach; `None` if that is the same set.
    with_classes: Option<BitSet>,
    /// By type node: instances that roots reach, and those that they reach by references alone.
    instances: Vec<(u32, u32)>,
}

/// The closures of a set of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectClosure {
    /// The set, all it reaches by references, and all it retains.
    pub deep: BitSet,
    /// The objects that would be freed with the set: the set, and everything reached from it alone.
    pub retained: BitSet,
}

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 16;

/// Most referrers to visit, in all, in the search for paths from roots to objects that classes lead to; each object may use a quarter of
/// the rest. A guess: a loader is found within dozens, and a walk over a large heap costs hundreds of times as much.
const LOOKS: usize = 1 << 18;

impl<'h> ObjectClosures<'h> {
    /// Walks the heap once from its roots.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(heap: &'h HeapState, rules: KeepRules, progress: &Progress) -> Result<ObjectClosures<'h>> {
        let graph = KeepGraph::new(heap, rules);
        let n = heap.object_count();
        progress.begin("Walking from the GC roots", n as u64);
        let mut live = BitSet::new(n);
        let mut open = Sweep::new(n);
        graph.roots().iter().filter(|root| live.insert(root.0)).for_each(|root| open.add(root.0));
        spread(&graph, &mut live, &mut open, |_| (), |_| true, progress)?;
        let mut instances = vec![(0u32, 0u32); graph.type_nodes().len()];
        if instances.is_empty() {
            return Ok(ObjectClosures { graph, by_references: live, with_classes: None, instances });
        }
        let by_references = live.clone();
        for t in live.iter().filter_map(|o| graph.type_node(ObjectId(o))) {
            let count = &mut instances[t as usize];
            *count = (count.0 + 1, count.1 + 1);
        }
        let mut seen = BitSet::new(instances.len());
        loop {
            let mut any = false;
            for (t, &(_, mirror)) in (0..).zip(graph.type_nodes()) {
                if instances[t as usize].0 > 0 && seen.insert(t) && live.insert(mirror.0) {
                    open.add(mirror.0);
                    any = true;
                }
            }
            if !any {
                break;
            }
            let count = |o| {
                if let Some(t) = graph.type_node(o) {
                    instances[t as usize].0 += 1;
                }
            };
            spread(&graph, &mut live, &mut open, count, |_| true, progress)?;
        }
        let with_classes = (live != by_references).then_some(live);
        Ok(ObjectClosures { graph, by_references, with_classes, instances })
    }

    /// The objects that roots reach, under the rules.
    pub fn live(&self) -> &BitSet {
        self.with_classes.as_ref().unwrap_or(&self.by_references)
    }

    /// The objects that a set reaches by references, the set included.
    ///
    /// # Errors
    /// When cancelled.
    pub fn reached(&self, set: &BitSet, progress: &Progress) -> Result<BitSet> {
        progress.begin("Finding what objects reach", 0);
        let mut reached = set.clone();
        let mut open = Sweep::new(self.graph.heap().object_count());
        set.iter().for_each(|o| open.add(o));
        spread(&self.graph, &mut reached, &mut open, |_| (), |_| true, progress)?;
        Ok(reached)
    }

    /// The closures of a set of objects.
    ///
    /// # Errors
    /// When cancelled.
    pub fn of(&self, set: &BitSet, progress: &Progress) -> Result<ObjectClosure> {
        progress.begin("Finding what objects reach and retain", 0);
        let mut reach = Reach::new(self, set.iter());
        reach.follow(|_| true, progress)?;
        let mut deep = reach.inside.clone();
        let gone = Gone::Objects(set);
        reach.follow_classes(&gone, progress)?;
        let kept = reach.kept(&gone, progress)?;
        let mut retained = reach.inside;
        retained.subtract(&kept);
        deep.unite(&retained);
        Ok(ObjectClosure { deep, retained })
    }

    /// The objects that roots reach only by the cut references and roots.
    ///
    /// # Errors
    /// When cancelled.
    pub fn freed(&self, cut: &CutSet, progress: &Progress) -> Result<BitSet> {
        progress.begin("Walking without what is cut", 0);
        let ends = cut.ends(&self.graph);
        let mut reach = Reach::new(self, ends.iter().map(|o| o.0).filter(|&o| self.live().contains(o)));
        reach.follow(|_| true, progress)?;
        let gone = Gone::References(cut);
        reach.follow_classes(&gone, progress)?;
        let kept = reach.kept(&gone, progress)?;
        let mut freed = reach.inside;
        freed.subtract(&kept);
        Ok(freed)
    }

    /// Objects and bytes of a set.
    pub fn amount(&self, set: &BitSet) -> Amount {
        let heap = self.graph.heap();
        let mut amount = Amount::default();
        for o in set.iter() {
            amount += Amount { objects: 1, bytes: heap.size_of(ObjectId(o)) };
        }
        amount
    }
}

/// Goes on from `open`, whose objects are seen, to all that they keep by references and `enters` says yes to; calls `each`
/// with each of them.
fn spread(
    graph: &KeepGraph<'_>,
    seen: &mut BitSet,
    open: &mut Sweep,
    mut each: impl FnMut(ObjectId),
    mut enters: impl FnMut(ObjectId) -> bool,
    progress: &Progress,
) -> Result<()> {
    let mut words = 0usize;
    while let Some(word) = open.take() {
        words += 1;
        if words.is_multiple_of(WORDS) {
            progress.check()?;
            progress.advance(64 * WORDS as u64);
        }
        graph.ahead(&word, |target| seen.prefetch(target.0));
        for o in word.map(ObjectId) {
            each(o);
            graph.kept(o, |target| {
                if !seen.contains(target.0) && enters(target) {
                    seen.insert(target.0);
                    open.add(target.0);
                }
            });
        }
    }
    Ok(())
}

/// The objects, references or roots to leave out.
enum Gone<'c> {
    /// Objects, with every reference to them.
    Objects(&'c BitSet),
    /// Some references and roots.
    References(&'c CutSet),
}

impl Gone<'_> {
    #[inline]
    fn may_stay(&self, o: u32) -> bool {
        match self {
            Gone::Objects(set) => !set.contains(o),
            Gone::References(_) => true,
        }
    }

    #[inline]
    fn kept(&self, graph: &KeepGraph<'_>, o: ObjectId, each: impl FnMut(ObjectId)) {
        match self {
            Gone::Objects(_) => graph.kept(o, each),
            Gone::References(cut) => cut.kept(graph, o, each),
        }
    }

    #[inline]
    fn has_keeper(&self, graph: &KeepGraph<'_>, o: ObjectId, fits: impl Fn(ObjectId) -> bool) -> bool {
        match self {
            Gone::Objects(_) => graph.has_keeper(o, fits),
            Gone::References(cut) => cut.has_keeper(graph, o, fits),
        }
    }

    /// Types whose class objects no root holds any more: from then on their instances keep them, which the graph does not say.
    fn unheld_classes(&self, graph: &KeepGraph<'_>, left: &[ObjectId]) -> FxHashMap<TypeId, ObjectId> {
        if let Gone::Objects(_) = self {
            return FxHashMap::default();
        }
        let left: FxHashSet<ObjectId> = left.iter().copied().collect();
        let lost = |class: &ObjectId| graph.roots().binary_search(class).is_ok() && !left.contains(class);
        let types = (0..graph.heap().types().len() as u32).map(TypeId);
        types.filter_map(|t| Some((t, graph.heap().mirror_of(t).filter(lost)?))).collect()
    }

    /// Whether a short way leads from a root to an object through nothing that is gone: then it stays. `false` says nothing.
    fn surely_stays(&self, all: &ObjectClosures<'_>, roots: &[ObjectId], o: ObjectId, looks: &mut usize) -> bool {
        let spare = *looks - *looks / 4;
        let held = |o: ObjectId| roots.binary_search(&o).is_ok();
        if !self.may_stay(o.0) || held(o) {
            return self.may_stay(o.0);
        }
        let mut met = FxHashSet::from_iter([o]);
        let mut open = VecDeque::from([o]);
        while let Some(o) = open.pop_front() {
            for &keeper in all.graph.heap().referrers(o) {
                if *looks <= spare {
                    return false;
                }
                *looks -= 1;
                if all.live().contains(keeper.0) && self.passes(&all.graph, keeper, o) && met.insert(keeper) {
                    if held(keeper) {
                        return true;
                    }
                    open.push_back(keeper);
                }
            }
        }
        false
    }

    /// True if a reference still keeps its target, as far as that is known without a walk.
    fn passes(&self, graph: &KeepGraph<'_>, from: ObjectId, to: ObjectId) -> bool {
        let uncut = match self {
            Gone::Objects(set) => !set.contains(from.0),
            Gone::References(cut) => !cut.leads_to(to),
        };
        uncut && graph.is_keeper(from, to)
    }

    fn roots_left<'g>(&self, graph: &'g KeepGraph<'_>) -> Cow<'g, [ObjectId]> {
        match self {
            Gone::Objects(_) => Cow::Borrowed(graph.roots()),
            Gone::References(cut) => Cow::Owned(cut.roots_left(graph)),
        }
    }
}

/// The objects reached from some objects.
struct Reach<'c, 'h> {
    all: &'c ObjectClosures<'h>,
    inside: BitSet,
    /// Objects of `inside` that were not followed yet.
    open: Sweep,
    /// Objects that were followed.
    found: Vec<u32>,
    /// By type node: instances inside that roots reach, and those that they reach by references alone.
    instances: Vec<(u32, u32)>,
    /// Types of objects inside, alive or not.
    types: Vec<u32>,
    met: BitSet,
}

impl<'c, 'h> Reach<'c, 'h> {
    fn new(all: &'c ObjectClosures<'h>, from: impl Iterator<Item = u32>) -> Reach<'c, 'h> {
        let n = all.graph.heap().object_count();
        let (mut inside, mut open) = (BitSet::new(n), Sweep::new(n));
        from.filter(|&o| inside.insert(o)).for_each(|o| open.add(o));
        let types = all.instances.len();
        Reach {
            all,
            inside,
            open,
            found: Vec::new(),
            instances: vec![(0, 0); types],
            types: Vec::new(),
            met: BitSet::new(types),
        }
    }

    /// Follows references, to the end or to objects that `enters` refuses.
    fn follow(&mut self, enters: impl FnMut(ObjectId) -> bool, progress: &Progress) -> Result<()> {
        let Reach { all, inside, open, found, instances, types, met } = self;
        let live = all.live();
        let each = |o: ObjectId| {
            found.push(o.0);
            if let Some(t) = all.graph.type_node(o) {
                let count = &mut instances[t as usize];
                count.0 += u32::from(live.contains(o.0));
                count.1 += u32::from(all.by_references.contains(o.0));
                if met.insert(t) {
                    types.push(t);
                }
            }
        };
        spread(&all.graph, inside, open, each, enters, progress)
    }

    /// Follows the way to class objects wherever these may go, until there is none left.
    fn follow_classes(&mut self, gone: &Gone<'_>, progress: &Progress) -> Result<()> {
        let all = self.all;
        let roots = gone.roots_left(&all.graph);
        let (mut stay, mut looks) = (FxHashSet::default(), LOOKS);
        loop {
            let mut taken: Vec<u32> = Vec::new();
            self.types.retain(|&t| {
                let mirror = all.graph.type_nodes()[t as usize].1.0;
                let inside = self.inside.contains(mirror);
                let stays = all.by_references.contains(mirror) && !inside
                    || self.instances[t as usize].1 < all.instances[t as usize].1;
                if !stays && !inside {
                    taken.push(mirror);
                }
                stays
            });
            if taken.is_empty() {
                return Ok(());
            }
            taken.into_iter().filter(|&mirror| self.inside.insert(mirror)).for_each(|mirror| self.open.add(mirror));
            let enters = |o: ObjectId| {
                let stays =
                    stay.contains(&o) || all.live().contains(o.0) && gone.surely_stays(all, &roots, o, &mut looks);
                if stays {
                    stay.insert(o);
                }
                !stays
            };
            self.follow(enters, progress)?;
        }
    }

    /// The objects inside that stay alive without `gone`: those that roots hold or outside objects refer to, and everything these keep. (A
    /// live object outside stays alive. If a path to it leads through the inside, the rest of that path starts at an object that surely
    /// stays, and passes nothing that is gone.)
    fn kept(&self, gone: &Gone<'_>, progress: &Progress) -> Result<BitSet> {
        let all = self.all;
        let graph = &all.graph;
        let live = all.live();
        let mut kept = BitSet::new(graph.heap().object_count());
        let mut open: Vec<u32> = Vec::new();
        let may_stay = |o: u32| self.inside.contains(o) && gone.may_stay(o);
        let roots_left = gone.roots_left(graph);
        for root in roots_left.iter() {
            if may_stay(root.0) && kept.insert(root.0) {
                open.push(root.0);
            }
        }
        let unheld = gone.unheld_classes(graph, &roots_left);
        if !unheld.is_empty() {
            for (i, o) in graph.heap().objects().enumerate() {
                if i.is_multiple_of(CHECKED) {
                    progress.check()?;
                }
                if let Some(&class) = unheld.get(&graph.heap().type_of(o))
                    && live.contains(o.0)
                    && !self.inside.contains(o.0)
                    && kept.insert(class.0)
                {
                    open.push(class.0);
                }
            }
        }
        for (i, &o) in self.found.iter().enumerate() {
            if i.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            if !live.contains(o) || kept.contains(o) || !may_stay(o) {
                continue;
            }
            let from_outside = |keeper: ObjectId| !self.inside.contains(keeper.0) && live.contains(keeper.0);
            let by_class = |&t: &u32| self.instances[t as usize].0 < all.instances[t as usize].0;
            if gone.has_keeper(graph, ObjectId(o), from_outside) || graph.type_keepers(ObjectId(o)).iter().any(by_class)
            {
                kept.insert(o);
                open.push(o);
            }
        }
        let mut steps = 0usize;
        while let Some(o) = open.pop() {
            steps += 1;
            if steps.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let mut keep = |target: u32| {
                if may_stay(target) && kept.insert(target) {
                    open.push(target);
                }
            };
            gone.kept(graph, ObjectId(o), |target| keep(target.0));
            if let Some(t) = graph.type_node(ObjectId(o)) {
                keep(graph.type_nodes()[t as usize].1.0);
            }
            if !unheld.is_empty()
                && let Some(&class) = unheld.get(&graph.heap().type_of(ObjectId(o)))
            {
                keep(class.0);
            }
        }
        Ok(kept)
    }
}
