//! The paths from GC roots to a group, for people: each step with its group, its field, and the amount that a cut frees.

use super::chain::{most_frequent_node, of_text};
use super::fields::FieldNames;
use super::keeping::{ClassObjects, KeeperGraph};
use super::member_weights::MemberWeights;
use super::paths::{MergedStep, PathEnd, PathLimits, RootStep, Weighing, paths};
use super::roots::{KeepingRoot, Tops, keeping_roots, reaching_kinds, retained_by_steps};
use crate::timeline::{History, NodeId};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{CutSet, KeepGraph, KeepRules, KeepingRoots, ShortestPaths};
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};
use std::sync::Arc;

/// The kind of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WayKind {
    /// Every way through which enough of the group is reached.
    Interesting,
    /// For each object of the group a shortest way, with as few weaker references as possible.
    Shortest,
    /// Only the owners, and the shortest path where an object has none.
    Owners,
}

/// The parameters of a search for paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WayQuestion {
    /// Which.
    pub kind: WayKind,
    /// Least share of the group's objects, or of the bytes these keep alive, for a step to be followed, percent.
    pub share: u64,
    /// Steps at most; those through which most is reached come first.
    pub most: usize,
    /// The rules for references.
    pub rules: KeepRules,
}

/// A step: objects that hold those of the step below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayStep {
    /// The step that it holds: a place in [`GroupWays::steps`], smaller than its own.
    pub below: usize,
    /// The group in which most of its objects are; `None` where they are in none.
    pub node: Option<NodeId>,
    /// The type of its objects, or the class it stands for; empty for the group itself.
    pub of: String,
    /// The field or elements that hold the step below: `persons`, `[3]`, `[*]`; empty if unknown.
    pub field: String,
    /// How many objects it has.
    pub objects: u64,
    /// The part of the group that is reached through it.
    pub reached: Amount,
    /// Bytes that the reached objects keep alive: each object by itself, without those that others of the group keep.
    pub keeps: u64,
    /// The amount that would be freed with all its objects.
    pub retained: Amount,
    /// References to the step below.
    pub references: u64,
    /// Further objects, of types that are on the way already, through which the way goes on upwards.
    pub again: u64,
    /// GC roots that hold its objects; those from which most is reached first.
    pub roots: Vec<RootStep>,
    /// Kinds of holders that are not followed, and their objects.
    pub left_out: (u64, u64),
    /// Why nothing is above.
    pub end: PathEnd,
}

impl WayStep {
    /// Type and field in one: `com.acme.Registry.persons`.
    pub fn text(&self) -> String {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        format!("{}{dot}{}", self.of, self.field)
    }
}

/// The ways from roots to a group, merged by type and field.
pub struct GroupWays {
    /// The group first; each step after the one that it holds.
    pub steps: Vec<WayStep>,
    /// All kinds of roots from which objects of the group are reached, by any way; those that reach most first.
    pub kinds: Vec<KeepingRoot>,
    /// Single roots, by the objects of the group to which they are nearest; most first.
    pub nearest: Vec<KeepingRoot>,
    heap: Arc<HeapState>,
    keeping: KeepingRoots,
    found: Vec<MergedStep>,
    /// Whether the references of a step are all that its objects have to the step below.
    by_reference: bool,
}

impl GroupWays {
    /// Looks for the ways to some groups as one group, at a point in time.
    ///
    /// # Errors
    /// When the state or names of fields cannot be read again, or the work was cancelled.
    pub fn find(
        history: &History,
        time: usize,
        nodes: &[NodeId],
        question: WayQuestion,
        progress: &Progress,
    ) -> Result<GroupWays> {
        let set = history.objects_of(time, nodes, progress)?;
        let heap = Arc::clone(&set.heap);
        let rules = question.rules;
        let graph = KeepGraph::new(&heap, rules);
        let shortest = ShortestPaths::new(&graph, Some(&set.objects), progress)?;
        let owners = history.dominators(time, rules, progress)?.1;
        let keeping = match question.kind {
            WayKind::Owners => KeeperGraph::Owners(&graph, &owners, &shortest),
            WayKind::Shortest => KeeperGraph::Shortest(&graph, &shortest),
            WayKind::Interesting => KeeperGraph::All(&graph),
        };
        let kept = MemberWeights::new(&set.objects, &owners, progress)?;
        let values = history.values(time, progress)?;
        let names: &dyn FieldNames = match &values {
            Some(values) => values,
            None => &*heap,
        };
        let limits = PathLimits {
            share: question.share,
            steps: question.most,
            only_strongest: false,
            // What alone keeps an object need not refer to it.
            by_field: question.kind != WayKind::Owners,
        };
        let found = paths(&keeping, &set.objects, limits, Weighing::Kept(&kept), names, progress)?;
        let retained = retained_by_steps(&heap, rules, &found.steps, progress)?;
        let objects: Vec<ObjectId> = set.objects.iter().map(ObjectId).collect();
        let near = KeeperGraph::Shortest(&graph, &shortest);
        let nearest = keeping_roots(&near, &objects, &mut Tops::new(&heap), false, progress)?;
        let kinds = reaching_kinds(&KeeperGraph::All(&graph), &set.objects, progress)?;
        let (_, grouped) = history.grouped(time, progress)?;
        let place = history.places_of(&grouped);
        let class_objects = ClassObjects::new(&heap);
        let step = |(at, step): (usize, &MergedStep)| WayStep {
            below: step.below,
            node: match (at, nodes) {
                (0, [node]) => Some(*node),
                (0, _) => None,
                _ => most_frequent_node(&heap, &grouped, &step.objects, &place),
            },
            of: if at == 0 { String::new() } else { of_text(&heap, &class_objects, step.of, &step.objects) },
            field: found.fields.text(&step.references),
            objects: step.objects.len() as u64,
            reached: step.reached,
            keeps: step.keeps,
            retained: retained[at],
            references: step.reference_count,
            again: step.again.len() as u64,
            roots: step.roots.clone(),
            left_out: step.left_out,
            end: step.end,
        };
        let steps = found.steps.iter().enumerate().map(step).collect();
        let by_reference = question.kind != WayKind::Owners;
        Ok(GroupWays {
            steps,
            kinds,
            nearest,
            keeping: graph.keeping().clone(),
            found: found.steps,
            by_reference,
            heap: Arc::clone(&set.heap),
        })
    }

    /// How many objects the group has.
    pub fn about(&self) -> Amount {
        self.steps[0].reached
    }

    /// The weight of a path with this reached part, 0 to 1: its share of the group's objects or, if it is larger, of the bytes these keep.
    pub fn weight(&self, reached: Amount, keeps: u64) -> f32 {
        let share = |part: u64, whole: u64| part as f32 / whole.max(1) as f32;
        share(reached.objects, self.about().objects).max(self.kept_share(keeps))
    }

    /// Bytes that the reached objects keep, as a share of the bytes that all objects of the group keep, 0 to 1.
    pub fn kept_share(&self, keeps: u64) -> f32 {
        keeps as f32 / self.steps[0].keeps.max(1) as f32
    }

    /// All references by which a step holds the one below. Empty for the group itself.
    pub fn cut(&self, step: usize) -> CutSet {
        let mut cut = CutSet::new();
        let Some(of) = self.found.get(step).filter(|_| step > 0) else { return cut };
        if self.by_reference && of.references.len() as u64 == of.reference_count {
            of.references.iter().for_each(|&(from, to)| cut.references(from, to));
            return cut;
        }
        // Too many to have been kept one by one; then they are not told apart by field.
        let mut below = BitSet::new(self.heap.object_count());
        let held = &self.found[of.below];
        held.objects.iter().chain(&held.again).for_each(|o| {
            below.insert(o.0);
        });
        let graph = KeepGraph::of(&self.heap, &self.keeping);
        for &from in &of.objects {
            graph.kept(from, |to| {
                if below.contains(to.0) {
                    cut.references(from, to);
                }
            });
        }
        cut
    }

    /// The objects of a step.
    pub fn objects(&self, step: usize) -> &[ObjectId] {
        self.found.get(step).map_or(&[], |step| &step.objects)
    }
}
