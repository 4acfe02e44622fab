//! The aggregated object graph: sets of objects as boxes, the references between them as arrows, extended step by step.
//!
//! An [`ObjectGraph`] begins with the selected groups, one box each. A step adds the targets of a box's objects, their referrers, or all
//! paths from GC roots to them, as boxes by group. **No object is in two boxes**: if a step concerns only a part of a box, that part
//! becomes a box of its own, so that the arrows of each box are about all of it. Selected boxes stay whole.
//!
//! | module | does |
//! |---|---|
//! | `groups` | the group of an object |
//! | `steps` | neighbours, one step away |
//! | `to_roots` | all paths to GC roots, round by round |
//! | `arrows` | the references between boxes, and the GC roots that hold them |
//! | `held_counts` | how many objects of one box are held over each arrow |
//! | `maps` | the same for inputs with groups but no objects |
//! | `table` | all of it as rows, for spreadsheets |
//!
//! The numbers of arrows are those of [`ReferenceMap`](crate::timeline::references::ReferenceMap): for a pair of boxes, the numbers of
//! referring objects, of target objects, and of references. The result to draw is plain data, a [`GroupGraph`].
//!
//! Weninger et al. describe such a graph in their work on guided exploration and on usability. They leave some points open, which are
//! chosen here. Paths go on until an object that a GC root holds for good (an object held only by a local variable or a lock is followed
//! further). Chains within a group (the nodes of a list) are one box. Beyond [`GraphLimits`], boxes are made by group alone.

mod arrows;
mod groups;
mod held_counts;
mod maps;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod to_roots;

pub use held_counts::HeldOver;
pub use maps::MapGraph;
pub use steps::GraphStep;

use crate::group::Grouped;
use crate::timeline::{Amount, NodeId, Source, Timeline};
use groups::{BoxGroup, ObjectNaming};
use memory_city_heap::error::{Error, Result};
use memory_city_heap::ownership::{KeepGraph, KeepRules, KeepingRoots};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, RootKind};
use std::sync::Arc;

/// A set of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphBox {
    /// The groups it is about: nodes of the timeline. Several where its objects are counted in each of them; none where they are
    /// in no group (a filter leaves them out), and for [`GraphBox::other`].
    pub groups: Vec<NodeId>,
    /// Its group, for people; of objects without a group their type.
    pub name: String,
    /// The number of groups, for a box that stands for several because there would be too many boxes. 0 otherwise.
    pub other: usize,
    /// Whether it was selected at first.
    pub is_selected: bool,
    /// Distance in steps from the selection: negative for referrers, positive for targets.
    pub column: i32,
    /// Its objects and their shallow bytes.
    pub amount: Amount,
    /// References between its objects.
    pub internal: u64,
    /// References from its objects to objects in no box.
    pub beyond: u64,
    /// References from objects in no box.
    pub before: u64,
}

/// References from the objects of one box to those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphArrow {
    /// The box that refers.
    pub from: usize,
    /// The box that is referred to.
    pub to: usize,
    /// How many objects refer.
    pub referencing: u64,
    /// How many objects are referred to.
    pub referenced: u64,
    /// The number of references.
    pub references: u64,
}

/// GC roots of one kind that hold objects of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphRoot {
    /// Their kind, for people: that of [`RootKind`](memory_city_heap::RootKind).
    pub kind: String,
    /// The box.
    pub held: usize,
    /// How many roots.
    pub roots: u64,
    /// How many objects they hold; `None` where the input does not say.
    pub objects: Option<u64>,
    /// The roots by their place, those that hold most first, with how often they are there.
    pub places: Vec<(String, u64)>,
}

/// The graph to draw: boxes, arrows, roots. A box keeps its place for as long as it exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupGraph {
    /// The boxes.
    pub boxes: Vec<GraphBox>,
    /// By the referring box, then the other. None leads from a box to itself: see [`GraphBox::internal`].
    pub arrows: Vec<GraphArrow>,
    /// By kind, then box.
    pub roots: Vec<GraphRoot>,
}

/// How large a graph becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLimits {
    /// Most boxes that a step, or a round on the paths to roots, adds; those with fewest objects are one box.
    pub boxes_a_step: usize,
    /// Rounds on the paths to roots after which all remaining objects are put into boxes by group alone.
    pub rounds: usize,
}

impl Default for GraphLimits {
    fn default() -> Self {
        GraphLimits { boxes_a_step: 9, rounds: 12 }
    }
}

/// The graph of one heap state, with its objects. Memory: 4 bytes an object of the heap, 4 for each object in a box.
#[derive(Clone)]
pub struct ObjectGraph {
    heap: Arc<HeapState>,
    naming: ObjectNaming,
    keeping: KeepingRoots,
    limits: GraphLimits,
    /// By object: the box it is in, or [`NO_BOX`].
    box_of: Vec<u32>,
    /// By box: its objects, ascending.
    members: Vec<Vec<ObjectId>>,
    graph: GroupGraph,
}

const NO_BOX: u32 = u32::MAX;

impl ObjectGraph {
    /// The graph of some groups at a point in time, a box each. Objects of several of them are boxes of their own. Costs one
    /// pass over the heap, and a look at all references of the groups.
    ///
    /// # Errors
    /// When the input has no objects or references, the state cannot be loaded again, or the work was cancelled.
    pub fn new(
        source: &Source,
        time: usize,
        selected: &[NodeId],
        rules: KeepRules,
        limits: GraphLimits,
        progress: &Progress,
    ) -> Result<ObjectGraph> {
        let history = source.heaps().ok_or_else(|| Error::Unusable {
            what: "The input has trees that another program counted, not objects".into(),
            remedy: "Open heap dumps or a memory trace".into(),
        })?;
        let (heap, grouped) = history.grouped(time, progress)?;
        if heap.reference_count() == 0 && heap.roots().is_empty() {
            return Err(Error::Unusable {
                what: "The input does not say which object refers to which".into(),
                remedy: "Take a heap dump, or record a trace with references".into(),
            });
        }
        ObjectGraph::of(heap, grouped, Arc::clone(source.timeline()), selected, rules, limits, progress)
    }

    /// The graph of some groups of a heap state that is grouped.
    fn of(
        heap: Arc<HeapState>,
        grouped: Arc<Grouped>,
        timeline: Arc<Timeline>,
        selected: &[NodeId],
        rules: KeepRules,
        limits: GraphLimits,
        progress: &Progress,
    ) -> Result<ObjectGraph> {
        let mut graph = ObjectGraph {
            box_of: vec![NO_BOX; heap.object_count()],
            naming: ObjectNaming::new(timeline, grouped),
            keeping: KeepingRoots::new(&heap, rules.for_owners()).with_all_references(),
            heap,
            limits,
            members: Vec::new(),
            graph: GroupGraph::default(),
        };
        progress.begin("Collecting the groups", graph.heap.object_count() as u64);
        for (group, objects) in graph.naming.selected(&graph.heap, selected, progress)? {
            graph.push_box(group, objects, 0, true);
        }
        graph.count(progress)?;
        Ok(graph)
    }

    /// The graph to draw.
    pub fn graph(&self) -> &GroupGraph {
        &self.graph
    }

    /// The heap state.
    pub fn heap(&self) -> &Arc<HeapState> {
        &self.heap
    }

    /// The objects of a box, ascending; none where there is no such box.
    pub fn objects(&self, of: usize) -> &[ObjectId] {
        self.members.get(of).map_or(&[], |members| members)
    }

    /// The box of an object.
    pub fn box_of(&self, o: ObjectId) -> Option<usize> {
        self.box_of.get(o.0 as usize).filter(|&&b| b != NO_BOX).map(|&b| b as usize)
    }

    /// The graph of keepers.
    fn keeps(&self) -> KeepGraph<'_> {
        KeepGraph::of(&self.heap, &self.keeping)
    }

    /// Whether a GC root holds an object for good: ways end there.
    fn is_held(&self, keeps: &KeepGraph<'_>, o: ObjectId) -> bool {
        let lasting = |kind: RootKind| !kind.is_passing();
        keeps.roots().binary_search(&o).is_ok() || self.heap.roots_of(o).any(|root| lasting(root.kind))
    }

    /// Adds a box; its objects, ascending, are in no box.
    fn push_box(&mut self, group: BoxGroup, objects: Vec<ObjectId>, column: i32, is_selected: bool) {
        let number = self.members.len() as u32;
        for o in &objects {
            self.box_of[o.0 as usize] = number;
        }
        self.graph.boxes.push(GraphBox {
            name: self.naming.name(&group),
            groups: group.nodes(),
            other: group.others(),
            is_selected,
            column,
            amount: Amount::default(),
            internal: 0,
            beyond: 0,
            before: 0,
        });
        self.members.push(objects);
    }
}
