//! The chain of owners: from a group's objects up to a root, always by the path that keeps most of them.
//!
//! It follows objects, not groups: from an object to the one that alone keeps it alive; if several do, to the one before it on the shortest
//! path from a root. The common type of the owners makes a step; at each fork the step that keeps most of the group's gain goes on. If no
//! type keeps half of it any more, but a single object further up does (a list of plans, each of which holds the objects by many paths),
//! the chain goes on there.

use super::fields::{FieldNames, KnownFields, Pair, StepName};
use super::keeping::{ClassObjects, KeeperGraph};
use super::new_objects::NewObjects;
use super::paths::{MergedStep, PathEnd, PathLimits, Paths, StepOf, Weighing, paths, spread};
use super::ranking::{RankedOwner, ranked_owners};
use super::roots::{KeepingRoot, Tops, keeping_roots};
use super::thread_locals;
use super::upward_paths::UpwardPaths;
use crate::group::Grouped;
use crate::tabular::count_text;
use crate::timeline::{History, NodeId};
use memory_city_formats::values::{HeapValues, ReferencePlace};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules, ShortestPaths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use std::sync::Arc;

/// A step of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerStep {
    /// The group of the timeline in which most of its objects are; `None` where they are in none.
    pub node: Option<NodeId>,
    /// The type of its objects, or the class whose static field it is, for people.
    pub of: String,
    /// The field that holds the step below; empty if unknown.
    pub field: String,
    /// Whether it keeps the step below by ways that have no type in common.
    pub by_several_ways: bool,
    /// How many objects it has.
    pub objects: u64,
    /// How many objects of the step below they hold.
    pub holds: u64,
    /// The part of the group that it keeps.
    pub keeps: Amount,
}

/// The chain of owners of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerChain {
    /// The amount that the chain explains: the new objects of the group within the window, if the input knows them; all otherwise.
    pub about: Amount,
    /// True if those are only a part of the group. For dumps: the objects in places that had fewer before; for recordings of all objects,
    /// those that did not exist before.
    pub only_new: bool,
    /// True if new objects are found by place, as for dumps: some of them were there before.
    pub by_place: bool,
    /// Owner by owner, upwards.
    pub steps: Vec<OwnerStep>,
    /// The roots at which the paths up end, by text, with the part of the group that they keep; the largest first.
    pub roots: Vec<(String, Amount)>,
    /// Why it ends, for people: `here: held by Static field: com.acme.Registry.persons`.
    pub end: String,
}

/// The keepers of a group: the chain up to a root, and all owners and roots with their shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOwners {
    /// The strongest way up.
    pub chain: OwnerChain,
    /// The groups that keep objects of it, those that keep most first. The group itself is among them where its objects keep
    /// each other.
    pub owners: Vec<RankedOwner>,
    /// True if the part is measured in bytes, not in objects.
    pub by_bytes: bool,
}

/// Finds owners at one point in time; built once for many groups. 28 bytes an object, including the dominator tree, which is shared. Dumps
/// also need the amounts at the earlier time, by group and place; recordings that followed all objects 8 bytes for each that existed.
pub struct Owners {
    time: usize,
    heap: Arc<HeapState>,
    grouped: Arc<Grouped>,
    dominators: Arc<Dominators>,
    shortest: ShortestPaths,
    came: NewObjects,
    /// By leaf of the memory tree: its group.
    place: Arc<[Option<NodeId>]>,
}

/// The label of a root that most of a group would outlive.
pub const ONE_OF_SEVERAL: &str = "others hold it too";
/// Objects after which it is asked whether the work was cancelled.
const CHECKED: usize = 1 << 16;

/// Chains before they have names of fields.
struct Found {
    about: Amount,
    /// Whether ways are followed by bytes, not by objects.
    by_bytes: bool,
    only_new: bool,
    /// From the group up.
    paths: Paths,
    /// The object further up that keeps more than half of the group, and how much; and the way up from there.
    majority: Option<(Amount, Paths)>,
    /// The part of the group that has no path to a root except through the last step.
    alone: Amount,
    roots: Vec<KeepingRoot>,
}

impl Owners {
    /// The owners at a point in time of a history. Chains are about objects that came since `from`, as far as the input knows; about all if
    /// that is the same time.
    ///
    /// # Errors
    /// When a state cannot be loaded again, or the work was cancelled.
    pub fn new(history: &History, from: usize, time: usize, progress: &Progress) -> Result<Owners> {
        let rules = KeepRules::default().for_owners();
        // The earlier state first: what is loaded last is what others ask for next.
        let came = NewObjects::new(history, from, time, progress)?;
        let (heap, dominators) = history.dominators(time, rules, progress)?;
        let (_, grouped) = history.grouped(time, progress)?;
        let shortest = ShortestPaths::new(&dominators.graph(&heap), None, progress)?;
        let place = history.places_of(&grouped);
        Ok(Owners { time, heap, grouped, dominators, shortest, came, place })
    }

    /// The chains of some groups: of their new objects, or of all if unknown. At most `longest` steps each. One pass over the input reads
    /// the names of all fields together. `history` is the one that this was built from.
    ///
    /// # Errors
    /// When a state or names cannot be read again, or the work was cancelled.
    pub fn chains(
        &self,
        history: &History,
        nodes: &[NodeId],
        by_bytes: bool,
        longest: usize,
        progress: &Progress,
    ) -> Result<Vec<OwnerChain>> {
        let graph = self.dominators.graph(&self.heap);
        let keeping = KeeperGraph::Owners(&graph, &self.dominators, &self.shortest);
        let mut tops = Tops::new(&self.heap);
        let mut found = Vec::with_capacity(nodes.len());
        for &node in nodes {
            progress.check()?;
            let (group, only_new) = self.group(history, &[node], by_bytes, progress)?;
            found.push(self.found(&keeping, &group, only_new, by_bytes, longest, &mut tops, progress)?);
        }
        self.named(history, &found, longest, progress)
    }

    /// The keepers of some groups as one group.
    ///
    /// # Errors
    /// As [`Owners::chains`].
    pub fn of(
        &self,
        history: &History,
        nodes: &[NodeId],
        by_bytes: bool,
        longest: usize,
        progress: &Progress,
    ) -> Result<GroupOwners> {
        let graph = self.dominators.graph(&self.heap);
        let keeping = KeeperGraph::Owners(&graph, &self.dominators, &self.shortest);
        let (group, only_new) = self.group(history, nodes, by_bytes, progress)?;
        progress.begin("Following what keeps it upwards", 0);
        let owners = ranked_owners(&keeping, &self.grouped, &self.place, &group, by_bytes, progress)?;
        let mut tops = Tops::new(&self.heap);
        let found = self.found(&keeping, &group, only_new, by_bytes, longest, &mut tops, progress)?;
        let chain = self.named(history, &[found], longest, progress)?.remove(0);
        Ok(GroupOwners { chain, owners, by_bytes })
    }

    fn group(
        &self,
        history: &History,
        nodes: &[NodeId],
        by_bytes: bool,
        progress: &Progress,
    ) -> Result<(BitSet, bool)> {
        let all = history.objects_of(self.time, nodes, progress)?.objects;
        Ok(self.came.of(all, &self.heap, &self.grouped, &self.place, by_bytes))
    }

    #[allow(clippy::too_many_arguments)] // what a search is about
    fn found(
        &self,
        keeping: &KeeperGraph<'_>,
        group: &BitSet,
        only_new: bool,
        by_bytes: bool,
        longest: usize,
        tops: &mut Tops,
        progress: &Progress,
    ) -> Result<Found> {
        let limits = PathLimits { share: 0, steps: longest, only_strongest: true, by_field: false };
        let weighing = if by_bytes { Weighing::Bytes } else { Weighing::Objects };
        let objects: Vec<ObjectId> = group.iter().map(ObjectId).collect();
        let mut up = paths(keeping, group, limits, weighing, &*self.heap, progress)?;
        let about = up.steps[0].reached;
        let majority = self.majority(keeping, group, &mut up, (limits, weighing), progress)?;
        let last = majority.as_ref().map_or(&up, |(_, up)| up).steps.last().map_or(&[][..], |step| &step.objects);
        let alone = self.kept_alone(&objects, last, progress)?;
        let roots = keeping_roots(keeping, &objects, tops, by_bytes, progress)?;
        Ok(Found { about, by_bytes, only_new, paths: up, majority, alone, roots })
    }

    fn named(
        &self,
        history: &History,
        found: &[Found],
        longest: usize,
        progress: &Progress,
    ) -> Result<Vec<OwnerChain>> {
        let mut fields = KnownFields::default();
        let pairs = found.iter().flat_map(Found::steps).flat_map(|(step, _)| some(&step.references));
        match history.values(self.time, progress)? {
            Some(values) => fields.ask(pairs, &values, progress)?,
            None => fields.ask(pairs, &*self.heap, progress)?,
        };
        let class_objects = ClassObjects::new(&self.heap);
        Ok(found.iter().map(|found| self.chain(found, &fields, &class_objects, longest)).collect())
    }

    fn chain(&self, found: &Found, fields: &KnownFields, class_objects: &ClassObjects, longest: usize) -> OwnerChain {
        let text = |step: &MergedStep| match step.of {
            // The object at which the way goes on, by several ways.
            StepOf::Group => step.objects.first().map_or_else(String::new, |&o| {
                let of = class_objects.type_of(o).map_or(StepOf::Type(self.heap.type_of(o)), |_| StepOf::Class(o));
                of_text(&self.heap, class_objects, of, &step.objects)
            }),
            of => of_text(&self.heap, class_objects, of, &step.objects),
        };
        let mut steps: Vec<OwnerStep> = found
            .steps()
            .map(|(step, keeps)| OwnerStep {
                node: self.node_of(&step.objects),
                of: text(step),
                field: fields.text(&some(&step.references).collect::<Vec<_>>()),
                by_several_ways: step.of == StepOf::Group,
                objects: step.objects.len() as u64,
                holds: held_below(step),
                keeps,
            })
            .collect();
        let too_long = steps.len() > longest;
        steps.truncate(longest);
        let last = found.majority.as_ref().map_or(&found.paths, |(_, up)| up).steps.last();
        let last = last.unwrap_or(&found.paths.steps[0]);
        let end = match (last.end, last.roots.first()) {
            _ if too_long => "and further up".to_owned(),
            (PathEnd::Roots, Some(root)) => match last.roots.iter().filter(|other| other.kind == root.kind).count() {
                0 | 1 => format!("here: held by {}", root.text),
                several => format!("here: held by {} and {} more", root.text, count_text(several as u64 - 1)),
            },
            (PathEnd::NotFollowed, _) => "and further up".to_owned(),
            _ => match found.about.objects {
                0 => "it has no objects".to_owned(),
                _ => "no root reaches it".to_owned(),
            },
        };
        let rooted = !too_long && last.end == PathEnd::Roots;
        // At forks the strongest way is taken: at the end it may be one of many.
        let weight = |amount: Amount| amount.measured(found.by_bytes);
        let kept = steps.last().map_or(weight(found.about), |step| weight(step.keeps));
        let end = match weight(found.about) {
            about if !too_long && u128::from(kept) * 2 < u128::from(about) => {
                format!("{end} ({:.0} % of the group; no one way keeps half)", 100.0 * kept as f64 / about as f64)
            }
            // Who cuts it there frees little: other roots reach the group as well.
            about if rooted && u128::from(weight(found.alone)) * 2 < u128::from(about) => {
                format!("{end}: {ONE_OF_SEVERAL}")
            }
            _ => end,
        };
        let roots = found.roots.iter().map(|r| (r.text.clone(), r.keeps)).collect();
        let by_place = found.only_new && self.came.is_by_place();
        OwnerChain { about: found.about, only_new: found.only_new, by_place, steps, roots, end }
    }

    /// The deepest object on the paths up from more than half of some objects, but not among them or among the steps that more than half of
    /// them share; with the amount it keeps, and the path up from there. The other steps are removed.
    fn majority(
        &self,
        keeping: &KeeperGraph<'_>,
        objects: &BitSet,
        up: &mut Paths,
        (limits, weighing): (PathLimits, Weighing<'_>),
        progress: &Progress,
    ) -> Result<Option<(Amount, Paths)>> {
        let about = up.steps[0].reached;
        let weight = |amount: Amount| amount.measured(matches!(weighing, Weighing::Bytes));
        let most = |amount: Amount| u128::from(weight(amount)) * 2 > u128::from(weight(about));
        let shared = up.steps.iter().take_while(|step| most(step.reached)).count();
        if shared == up.steps.len() {
            return Ok(None);
        }
        let passed = |o: ObjectId| {
            let listed =
                |step: &MergedStep| step.objects.binary_search(&o).is_ok() || step.again.binary_search(&o).is_ok();
            up.steps[..shared].iter().any(listed)
        };
        let Some((object, keeps)) = deepest(keeping, objects, |o, keeps| most(keeps) && !passed(o), progress)? else {
            return Ok(None);
        };
        let mut group = BitSet::new(self.heap.object_count());
        group.insert(object.0);
        up.steps.truncate(shared);
        Ok(Some((keeps, paths(keeping, &group, limits, weighing, &*self.heap, progress)?)))
    }

    /// The part of a group that some objects alone keep: one of them, or the objects they own. `keepers` ascend. Linear in the objects on
    /// the paths up.
    fn kept_alone(&self, group: &[ObjectId], keepers: &[ObjectId], progress: &Progress) -> Result<Amount> {
        let count = self.heap.object_count();
        let (mut seen, mut kept) = (BitSet::new(count), BitSet::new(count));
        let (mut alone, mut way) = (Amount::default(), Vec::new());
        for (at, &o) in group.iter().enumerate() {
            if at.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let mut above = Some(o);
            let is_kept = loop {
                let Some(here) = above else { break false };
                if seen.contains(here.0) {
                    break kept.contains(here.0);
                }
                seen.insert(here.0);
                way.push(here);
                if keepers.binary_search(&here).is_ok() {
                    break true;
                }
                above = self.dominators.owner(here);
            };
            for passed in way.drain(..).filter(|_| is_kept) {
                kept.insert(passed.0);
            }
            if is_kept {
                alone += Amount { objects: 1, bytes: self.heap.size_of(o) };
            }
        }
        Ok(alone)
    }

    /// The group in which most of some objects are: of many, of some all over them.
    fn node_of(&self, objects: &[ObjectId]) -> Option<NodeId> {
        most_frequent_node(&self.heap, &self.grouped, objects, &self.place)
    }
}

impl Found {
    /// The steps above the group, with the part of it that they keep.
    fn steps(&self) -> impl Iterator<Item = (&MergedStep, Amount)> {
        let of_group = self.paths.steps[1..].iter().map(|step| (step, step.reached));
        let of_majority = self.majority.iter().flat_map(|(keeps, up)| up.steps.iter().map(|step| (step, *keeps)));
        of_group.chain(of_majority)
    }
}

/// The first object that `wanted` accepts on the paths up from a group, each after all those below it, with the part of the group below it.
/// `keeping` has one keeper for each object. Time and memory as [`UpwardPaths::new`].
fn deepest(
    keeping: &KeeperGraph<'_>,
    group: &BitSet,
    wanted: impl Fn(ObjectId, Amount) -> bool,
    progress: &Progress,
) -> Result<Option<(ObjectId, Amount)>> {
    let ways = UpwardPaths::new(keeping, group, progress)?;
    let below = ways.amounts(keeping.heap(), group);
    let mut upwards = ways.objects().iter().copied().zip(below).rev();
    Ok(upwards.find(|&(o, amount)| wanted(o, amount)))
}

/// The group of the timeline in which most of some objects are: of many, of some all over them. Of several, the first.
pub(crate) fn most_frequent_node(
    heap: &HeapState,
    grouped: &Grouped,
    objects: &[ObjectId],
    place: &[Option<NodeId>],
) -> Option<NodeId> {
    let mut counts = std::collections::BTreeMap::<NodeId, usize>::new();
    for at in spread(objects.len(), MOST_COUNTED) {
        let nodes = grouped.leaves_of(heap, objects[at]).iter().filter_map(|&leaf| place[leaf as usize]);
        nodes.for_each(|node| *counts.entry(node).or_default() += 1);
    }
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(node, _)| node)
}

/// Most objects of a step that are checked for its group.
const MOST_COUNTED: usize = 20_000;
/// Most references of a step that are checked for its name.
const SOME: usize = 1_000;

fn some(references: &[Pair]) -> impl Iterator<Item = Pair> + '_ {
    spread(references.len(), SOME).map(|at| references[at])
}

/// How many objects of the step below a step refers to: of many references, an estimate from those that are kept.
fn held_below(step: &MergedStep) -> u64 {
    let mut held: Vec<ObjectId> = step.references.iter().map(|&(_, to)| to).collect();
    held.sort_unstable();
    held.dedup();
    match step.references.len() as u64 {
        0 => 0,
        kept => (held.len() as u64).saturating_mul(step.reference_count) / kept,
    }
}

/// The noun for the objects of a step, for people; for entries with values of a thread local, with its name.
pub(crate) fn of_text(heap: &HeapState, class_objects: &ClassObjects, of: StepOf, objects: &[ObjectId]) -> String {
    match of {
        StepOf::Group => "the group".to_owned(),
        StepOf::Type(t) => {
            let name = &heap.types()[t.0 as usize].name;
            thread_locals::common(heap, objects).map_or_else(|| name.to_string(), |local| format!("{name} ({local})"))
        }
        StepOf::Class(o) => {
            let class = class_objects.type_of(o).map_or("?", |t| &heap.types()[t.0 as usize].name);
            format!("class {class}")
        }
    }
}

impl FieldNames for HeapValues {
    fn names(&self, pairs: &[Pair], progress: &Progress) -> Result<Vec<Option<StepName>>> {
        let places = self.reference_places(pairs, progress)?;
        Ok(places
            .into_iter()
            .map(|place| {
                Some(match place? {
                    ReferencePlace::Element(index) => StepName::Element(Some(index)),
                    other => StepName::Field(other.short()),
                })
            })
            .collect())
    }
}
