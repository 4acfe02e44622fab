//! The holders of the objects of one step, by type and field, with the part of the group reached through each.

use super::anchors::Anchors;
use super::between::ReturningPaths;
use super::fields::{KnownFields, Pair};
use super::gathered::Gathered;
use super::keeping::{ClassObjects, KeeperGraph};
use super::paths::{Candidate, Expansion, MOST_REFERENCES, MergedStep, Reached, RootStep, StepOf, Weighing};
use super::roots::among_equals;
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, ObjectId, RootKind, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The objects at which the paths down from some objects of a step (or of its recursion) begin: the targets of its references, if all of
/// them are known. An object may hold others of the step below by another field, which is another step.
fn way_down(step: &MergedStep, held: &[ObjectId]) -> Vec<ObjectId> {
    if step.reference_count == 0 || step.references.len() as u64 != step.reference_count {
        return held.to_vec();
    }
    let is_held: FxHashSet<ObjectId> = held.iter().copied().collect();
    let targets = step.references.iter().filter(|(from, _)| is_held.contains(from)).map(|&(_, to)| to);
    let again = held.iter().copied().filter(|o| step.objects.binary_search(o).is_err());
    targets.chain(again).collect()
}

/// Most roots of one step that are kept apart.
const MOST_ROOTS: usize = 61;
/// Ways that are followed down at once: a bit each. The highest says that an object waits.
const AT_ONCE: usize = 63;
const WAITS: u64 = 1 << 63;
/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 16;

/// Finds the steps above steps, one after the other.
pub(super) struct Expander<'a> {
    keeping: &'a KeeperGraph<'a>,
    class_objects: &'a ClassObjects,
    anchors: &'a Anchors<'a>,
    group: &'a BitSet,
    /// The known fields, if candidates are separated by them.
    fields: Option<&'a KnownFields>,
    /// The weight of reached objects.
    weighing: Weighing<'a>,
    /// How many objects the group has.
    group_objects: u64,
    /// By object: the paths that lead to it. All 0 between two uses.
    ways: Vec<u64>,
    /// For a chain in which each object has one keeper: the part of the group below the objects of its steps.
    gathered: Option<Gathered>,
    /// Whether that is all that is asked for.
    is_chain: bool,
    /// The state of the search for paths that return, if each object has one keeper.
    ways_back: ReturningPaths,
}

/// The identity of a candidate: the kind of its objects, and the field by which they refer if all references are known.
type CandidateKey = (StepOf, Option<u32>);

impl<'a> Expander<'a> {
    /// Looks by type, and weighs by objects.
    pub fn new(
        keeping: &'a KeeperGraph<'a>,
        class_objects: &'a ClassObjects,
        anchors: &'a Anchors<'a>,
        group: &'a BitSet,
    ) -> Expander<'a> {
        Expander {
            keeping,
            class_objects,
            anchors,
            group,
            fields: None,
            weighing: Weighing::Objects,
            group_objects: group.count() as u64,
            ways: Vec::new(),
            gathered: None,
            is_chain: false,
            ways_back: ReturningPaths::default(),
        }
    }

    /// Separates candidates by these fields, where they are known.
    pub fn by_fields(self, fields: Option<&'a KnownFields>) -> Expander<'a> {
        Expander { fields, ..self }
    }

    /// Sets the weight of reached objects.
    pub fn weighing(self, weighing: Weighing<'a>) -> Expander<'a> {
        Expander { weighing, ..self }
    }

    /// Whether the strongest step alone is asked for at each fork.
    pub fn only_strongest(self, only_strongest: bool) -> Expander<'a> {
        let is_chain = only_strongest && self.keeping.has_one_keeper_each();
        Expander { is_chain, ..self }
    }

    /// Bytes that the group keeps; 0 where that does not count.
    pub fn kept_in_all(&self) -> u64 {
        match self.weighing {
            Weighing::Kept(kept) => kept.total,
            Weighing::Objects | Weighing::Bytes => 0,
        }
    }

    /// How much a way counts through which that is reached.
    pub fn weight(&self, reached: Reached) -> u64 {
        let share = |part: u64, whole: u64| ((u128::from(part) << 32) / u128::from(whole.max(1))) as u64;
        match self.weighing {
            Weighing::Objects => reached.amount.objects,
            Weighing::Bytes => reached.amount.bytes,
            Weighing::Kept(kept) => {
                share(reached.amount.objects, self.group_objects).max(share(reached.keeps, kept.total))
            }
        }
    }

    /// The steps above a step.
    ///
    /// # Errors
    /// When cancelled.
    pub fn expand(&mut self, steps: &[MergedStep], at: usize, progress: &Progress) -> Result<Expansion> {
        let mut inside = self.group.clone();
        let mut types_below: FxHashSet<TypeId> = FxHashSet::default();
        let mut below = at;
        while below != 0 {
            let step = &steps[below];
            step.objects.iter().chain(&step.again).for_each(|o| {
                inside.insert(o.0);
            });
            types_below.extend(match step.of {
                StepOf::Type(t) => Some(t),
                StepOf::Group | StepOf::Class(_) => None,
            });
            below = step.below;
        }
        if at != 0 {
            steps[0].again.iter().for_each(|o| _ = inside.insert(o.0));
        }
        let mut again = self.between(steps, at, &mut inside, progress)?;
        // Further ones join them that are of types on the way.
        let found = self.holders(&steps[at], &types_below, &mut inside, &mut again, progress)?;
        let (roots, more_roots) = self.roots(steps[at].objects.iter().chain(&again).copied());
        let mut candidates = self.told_apart(found);
        again.sort_unstable();
        if self.is_chain {
            self.gather(at, &steps[at], &again, &inside, progress)?;
        }

        // The first way is that of all roots together.
        let begins = |held: &[ObjectId]| way_down(&steps[at], held);
        let all_roots = std::iter::once(roots.iter().flat_map(|(_, held)| begins(held)).collect::<Vec<_>>());
        let of_roots = roots.iter().map(|(_, held)| begins(held));
        let known = match &self.gathered {
            Some(gathered) => {
                let of = |o: ObjectId| gathered.of(self.keeping, self.group, o);
                // Nothing that is inside keeps what they refer to: no two of these are below each other.
                let sum = |c: &Candidate| {
                    c.references.iter().fold(Amount::default(), |mut sum, &(_, to)| {
                        sum += of(to);
                        sum
                    })
                };
                // A chain is not asked what it keeps.
                let sum = |c: &Candidate| Reached { amount: sum(c), keeps: 0 };
                Some(candidates.iter().map(sum).collect::<Vec<_>>())
            }
            None => None,
        };
        let asked = if known.is_some() { &candidates[..0] } else { &candidates[..] };
        let of_candidates = asked.iter().map(|c| c.references.iter().map(|&(_, to)| to).collect());
        let mut reached = Vec::with_capacity(1 + roots.len() + candidates.len());
        let mut ways = all_roots.chain(of_roots).chain(of_candidates).peekable();
        while ways.peek().is_some() {
            let batch: Vec<Vec<ObjectId>> = ways.by_ref().take(AT_ONCE).collect();
            match batch.iter().all(Vec::is_empty) {
                true => reached.extend(batch.iter().map(|_| Reached::default())),
                false => reached.extend(self.reached(&batch, &inside, progress)?),
            }
        }
        drop(ways);
        reached.extend(known.into_iter().flatten());
        let by_roots = reached[0];
        let mut roots: Vec<RootStep> = roots
            .into_iter()
            .zip(&reached[1..])
            .map(|((root, held), reached)| RootStep {
                held: held.len() as u64,
                reached: reached.amount,
                keeps: reached.keeps,
                ..root
            })
            .collect();
        // Of what is measured first, then of the other.
        let other = matches!(self.weighing, Weighing::Objects);
        let weight = |reached: Reached| (self.weight(reached), reached.amount.measured(other));
        let of_root = |root: &RootStep| weight(Reached { amount: root.reached, keeps: root.keeps });
        let most = |root: &RootStep| Reverse((of_root(root), root.held));
        roots.sort_by(|a, b| (most(a), among_equals(a.kind, &a.text)).cmp(&(most(b), among_equals(b.kind, &b.text))));
        for (candidate, &reached) in candidates.iter_mut().zip(&reached[1 + roots.len()..]) {
            candidate.reached = reached;
        }
        let heap = self.keeping.heap();
        candidates.sort_by_cached_key(|c| {
            let name = match c.of {
                StepOf::Type(t) => Some(&*heap.types()[t.0 as usize].name),
                StepOf::Group | StepOf::Class(_) => None,
            };
            (Reverse(weight(c.reached)), name.map(str::to_owned), c.of, c.field)
        });
        Ok(Expansion { again, candidates, roots, more_roots, by_roots })
    }

    /// The objects between two that are inside, if each object has one keeper; ascending, and inside afterwards.
    fn between(
        &mut self,
        steps: &[MergedStep],
        at: usize,
        inside: &mut BitSet,
        progress: &Progress,
    ) -> Result<Vec<ObjectId>> {
        if !self.keeping.has_one_keeper_each() {
            return Ok(Vec::new());
        }
        if self.is_chain && at > 0 {
            // Its objects, and what joined the step below when that had been looked at: the others were looked at before.
            let new = [&steps[at].objects[..], &steps[steps[at].below].again].concat();
            return self.ways_back.go_on(self.keeping, &new, inside, progress);
        }
        self.ways_back = ReturningPaths::new(self.keeping.heap().object_count());
        self.ways_back.begin(self.keeping, inside, progress)
    }

    /// Adds up the part of the group below the objects of the next step of a chain.
    fn gather(
        &mut self,
        at: usize,
        step: &MergedStep,
        again: &[ObjectId],
        inside: &BitSet,
        progress: &Progress,
    ) -> Result<()> {
        let mut gathered = match self.gathered.take() {
            Some(gathered) => gathered,
            None => Gathered::new(self.keeping, self.group, inside, progress)?,
        };
        if at != 0 {
            let objects = step.objects.iter().chain(again).copied();
            gathered.add(self.keeping, self.group, objects, inside, progress)?;
        }
        self.gathered = Some(gathered);
        Ok(())
    }

    /// The references that hold the objects of a step, by kind of holder. Holders of types that are on the path join `again` and `inside`,
    /// and their own holders are found like those of the step.
    fn holders(
        &self,
        step: &MergedStep,
        types_below: &FxHashSet<TypeId>,
        inside: &mut BitSet,
        again: &mut Vec<ObjectId>,
        progress: &Progress,
    ) -> Result<FxHashMap<StepOf, Vec<Pair>>> {
        let heap = self.keeping.heap();
        let mut found: FxHashMap<StepOf, Vec<Pair>> = FxHashMap::default();
        let mut meet = |keeper: ObjectId, o: ObjectId, again: &mut Vec<ObjectId>| {
            if inside.contains(keeper.0) {
                return;
            }
            let of = heap.type_of(keeper);
            let key = match self.class_objects.type_of(keeper) {
                Some(_) => StepOf::Class(keeper),
                None => StepOf::Type(of),
            };
            if key == StepOf::Type(of) && types_below.contains(&of) {
                inside.insert(keeper.0);
                again.push(keeper);
            } else {
                found.entry(key).or_default().push((keeper, o));
            }
        };
        let classes = step.objects.iter().copied().filter(|&o| self.class_objects.type_of(o).is_some());
        let by_instance = self.keeping.instances_keep(classes);
        if !by_instance.is_empty() {
            for (at, o) in heap.objects().enumerate() {
                if at.is_multiple_of(CHECKED) {
                    progress.check()?;
                }
                if let Some(&class) = by_instance.get(&heap.type_of(o)) {
                    meet(o, class, again);
                }
            }
        }
        let mut at = 0;
        while let Some(&o) = step.objects.get(at).or_else(|| again.get(at - step.objects.len())) {
            at += 1;
            if at.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            self.keeping.keepers(o, |keeper| meet(keeper, o, again));
        }
        Ok(found)
    }

    /// Candidates by kind of holder, and by field if the fields of all references are known.
    fn told_apart(&self, found: FxHashMap<StepOf, Vec<Pair>>) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (of, mut references) in found {
            references.sort_unstable();
            references.dedup();
            let mut by_field: FxHashMap<CandidateKey, Vec<Pair>> = FxHashMap::default();
            let known = self.fields.filter(|fields| {
                references.len() <= MOST_REFERENCES && references.iter().all(|&pair| fields.of(pair).is_some())
            });
            match known {
                Some(fields) => references.into_iter().for_each(|pair| {
                    by_field.entry((of, fields.of(pair).flatten())).or_default().push(pair);
                }),
                None => {
                    by_field.insert((of, None), references);
                }
            }
            for ((of, field), references) in by_field {
                let mut objects: Vec<ObjectId> = references.iter().map(|&(from, _)| from).collect();
                objects.dedup();
                candidates.push(Candidate { of, field, objects, references, reached: Reached::default() });
            }
        }
        // In an order of their own, whatever that of the map is.
        candidates.sort_unstable_by_key(|c| (c.of, c.field));
        candidates
    }

    /// The roots that end paths at some objects, by text, with those objects; and how many are not kept apart.
    fn roots(&self, objects: impl Iterator<Item = ObjectId>) -> (Vec<(RootStep, Vec<ObjectId>)>, u64) {
        // Texts of dumps: hashed with a random seed.
        let mut found: AHashMap<String, (RootKind, Vec<ObjectId>)> = AHashMap::default();
        for o in objects {
            self.anchors.of(o, |kind, text| {
                let held = &mut found.entry(text).or_insert_with(|| (kind, Vec::new())).1;
                if held.last() != Some(&o) {
                    held.push(o);
                }
            });
        }
        let mut roots: Vec<(RootStep, Vec<ObjectId>)> = found
            .into_iter()
            .map(|(text, (kind, held))| {
                let place = Anchors::place_in(kind, &text).map(str::to_owned);
                (RootStep { kind, text, place, held: 0, reached: Amount::default(), keeps: 0 }, held)
            })
            .collect();
        roots.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.text.cmp(&b.0.text)));
        if roots.len() <= MOST_ROOTS {
            return (roots, 0);
        }
        let rest = roots.split_off(MOST_ROOTS - 1);
        let more = rest.len() as u64;
        let mut held: Vec<ObjectId> = rest.into_iter().flat_map(|(_, held)| held).collect();
        held.sort_unstable();
        held.dedup();
        let text = format!("{more} further roots");
        let rest = RootStep { kind: RootKind::Other, text, place: None, held: 0, reached: Amount::default(), keeps: 0 };
        roots.push((rest, held));
        (roots, more)
    }

    /// The part of the group reached from each of some sets of objects, over objects inside. At most [`AT_ONCE`] sets.
    pub(super) fn reached(
        &mut self,
        starts: &[Vec<ObjectId>],
        inside: &BitSet,
        progress: &Progress,
    ) -> Result<Vec<Reached>> {
        let heap = self.keeping.heap();
        self.ways.resize(heap.object_count(), 0);
        let (keeping, ways) = (self.keeping, &mut self.ways);
        let mut touched: Vec<ObjectId> = Vec::new();
        let mut queue: VecDeque<ObjectId> = VecDeque::new();
        let mut add = |o: ObjectId, new: u64, ways: &mut Vec<u64>, queue: &mut VecDeque<ObjectId>| {
            let slot = &mut ways[o.0 as usize];
            if *slot == 0 {
                touched.push(o);
            }
            if new & !*slot != 0 {
                if *slot & WAITS == 0 {
                    queue.push_back(o);
                }
                *slot |= new | WAITS;
            }
        };
        for (bit, start) in starts.iter().enumerate() {
            start.iter().for_each(|&o| add(o, 1 << bit, ways, &mut queue));
        }
        let mut done = 0usize;
        let mut stopped = Ok(());
        while let Some(o) = queue.pop_front() {
            done += 1;
            if done.is_multiple_of(CHECKED) {
                stopped = progress.check();
                if stopped.is_err() {
                    break;
                }
            }
            ways[o.0 as usize] &= !WAITS;
            let new = ways[o.0 as usize];
            keeping.kept(o, |target| {
                if inside.contains(target.0) {
                    add(target, new, ways, &mut queue);
                }
            });
        }
        let mut reached = vec![Reached::default(); starts.len()];
        for o in touched {
            let mut left = std::mem::take(&mut ways[o.0 as usize]) & !WAITS;
            if !self.group.contains(o.0) {
                continue;
            }
            let one = Amount { objects: 1, bytes: heap.size_of(o) };
            let keeps = match self.weighing {
                Weighing::Kept(kept) => kept.of(o),
                Weighing::Objects | Weighing::Bytes => 0,
            };
            while left != 0 {
                let way = &mut reached[left.trailing_zeros() as usize];
                way.amount += one;
                way.keeps += keeps;
                left &= left - 1;
            }
        }
        stopped.map(|()| reached)
    }
}
