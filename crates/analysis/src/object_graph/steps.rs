//! Steps of the graph: adds the targets or the referrers of a box's objects, and unfolds folded boxes.

use super::groups::BoxGroup;
use super::{NO_BOX, ObjectGraph};
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A possible step from a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GraphStep {
    /// Add the targets of its objects.
    PointsTo,
    /// Add the referrers of its objects.
    PointedFrom,
    /// Add all ways from GC roots to its objects.
    PathsToRoots,
    /// The same, but only over boxes that hold a twentieth of its objects at least.
    MainPaths,
    /// Put a box that stands for several groups into boxes by group.
    Unfold,
}

impl GraphStep {
    /// All of them, with a name and an explanation for people.
    pub const ALL: [(GraphStep, &'static str, &'static str); 5] = [
        (GraphStep::PointsTo, "Points to", "Add what these objects refer to, a box for each group"),
        (GraphStep::PointedFrom, "Pointed from", "Add what refers to these objects, a box for each group"),
        (GraphStep::PathsToRoots, "Paths to GC roots", "Add all that keeps these objects alive, up to the GC roots"),
        (
            GraphStep::MainPaths,
            "Main paths to GC roots",
            "Add what keeps these objects alive, up to the GC roots, and go on only from boxes over which at least 5 % of them are held",
        ),
        (GraphStep::Unfold, "Unfold", "Put the groups of this box into boxes of their own, the largest first"),
    ];

    /// Its name in parameters.
    pub fn id(self) -> &'static str {
        match self {
            GraphStep::PointsTo => "points-to",
            GraphStep::PointedFrom => "pointed-from",
            GraphStep::PathsToRoots => "paths-to-roots",
            GraphStep::MainPaths => "main-paths",
            GraphStep::Unfold => "unfold",
        }
    }
}

/// The share of objects from which on the source calls a root interesting.
const INTERESTING_PERCENT: u64 = 5;

/// Objects between two checks of the clock.
pub(super) const RUN: usize = 1 << 14;

impl ObjectGraph {
    /// Does a step from a box.
    ///
    /// # Errors
    /// When cancelled.
    pub fn apply(&mut self, step: GraphStep, of: usize, progress: &Progress) -> Result<()> {
        match step {
            GraphStep::PointsTo => self.points_to(of, progress),
            GraphStep::PointedFrom => self.pointed_from(of, progress),
            GraphStep::PathsToRoots => self.paths_to_roots(of, None, progress),
            GraphStep::MainPaths => self.paths_to_roots(of, Some(INTERESTING_PERCENT), progress),
            GraphStep::Unfold => self.unfold(of, progress),
        }
    }

    /// Adds the targets of a box's objects, by group.
    ///
    /// # Errors
    /// When cancelled; then nothing was added.
    pub fn points_to(&mut self, of: usize, progress: &Progress) -> Result<()> {
        self.step(of, 1, progress)
    }

    /// Adds the referrers of a box's objects, by group.
    ///
    /// # Errors
    /// When cancelled; then nothing was added.
    pub fn pointed_from(&mut self, of: usize, progress: &Progress) -> Result<()> {
        self.step(of, -1, progress)
    }

    fn step(&mut self, of: usize, direction: i32, progress: &Progress) -> Result<()> {
        let Some(members) = self.members.get(of) else { return Ok(()) };
        progress.begin("Collecting neighbours", members.len() as u64);
        let mut met = BitSet::new(self.heap.object_count());
        for run in members.chunks(RUN) {
            progress.check()?;
            progress.advance(run.len() as u64);
            for &o in run {
                let row = if direction > 0 { self.heap.references(o) } else { self.heap.referrers(o) };
                row.iter().filter(|other| self.box_of[other.0 as usize] != of as u32).for_each(|other| {
                    met.insert(other.0);
                });
            }
        }
        let found = self.by_group(met.iter().map(ObjectId), progress)?;
        let column = self.graph.boxes[of].column + direction;
        self.add_unique(found, column);
        self.count(progress)
    }

    /// Objects by group, ascending; garbage that is not grouped is left out, as everywhere.
    pub(super) fn by_group(
        &self,
        objects: impl Iterator<Item = ObjectId>,
        progress: &Progress,
    ) -> Result<BTreeMap<BoxGroup, Vec<ObjectId>>> {
        let mut found: BTreeMap<BoxGroup, Vec<ObjectId>> = BTreeMap::new();
        for (i, o) in objects.enumerate() {
            if i % RUN == 0 {
                progress.check()?;
            }
            if let Some(group) = self.naming.of(&self.heap, o) {
                found.entry(group).or_default().push(o);
            }
        }
        Ok(found)
    }

    /// Adds sets of objects as boxes. A box that lies fully in a set stays as it is; a part of a box in a set becomes a box of its own.
    /// Selected boxes stay whole.
    fn add_unique(&mut self, found: BTreeMap<BoxGroup, Vec<ObjectId>>, column: i32) {
        let mut fresh: Vec<(BoxGroup, Vec<ObjectId>)> = Vec::new();
        for (group, objects) in found {
            // By the box they are in.
            let mut parts: BTreeMap<u32, Vec<ObjectId>> = BTreeMap::new();
            for o in objects {
                parts.entry(self.box_of[o.0 as usize]).or_default().push(o);
            }
            if let Some(objects) = parts.remove(&NO_BOX) {
                fresh.push((group.clone(), objects));
            }
            for (of, part) in parts {
                let of = of as usize;
                if self.graph.boxes[of].is_selected || part.len() == self.members[of].len() {
                    continue;
                }
                let column = self.graph.boxes[of].column;
                self.members[of].retain(|o| part.binary_search(o).is_err());
                self.count_folded(of);
                self.push_box(group.clone(), part, column, false);
            }
        }
        self.push_folded(fresh, column);
    }

    /// How many groups a folded box still stands for.
    fn count_folded(&mut self, of: usize) {
        if self.graph.boxes[of].other == 0 {
            return;
        }
        let groups: BTreeSet<_> = self.members[of].iter().filter_map(|&o| self.naming.of(&self.heap, o)).collect();
        // One that is left is still a box to unfold: then it has a name.
        let group = BoxGroup::Other(groups.len().max(1));
        self.graph.boxes[of].name = self.naming.name(&group);
        self.graph.boxes[of].other = group.others();
    }

    /// Adds boxes of objects that are in none; where there are too many, the smallest as one.
    pub(super) fn push_folded(&mut self, mut fresh: Vec<(BoxGroup, Vec<ObjectId>)>, column: i32) {
        fresh.sort_by(|a, b| (Reverse(a.1.len()), &a.0).cmp(&(Reverse(b.1.len()), &b.0)));
        let most = self.limits.boxes_a_step.max(2);
        let folded = if fresh.len() > most { fresh.split_off(most - 1) } else { Vec::new() };
        for (group, objects) in fresh {
            self.push_box(group, objects, column, false);
        }
        if !folded.is_empty() {
            // A group may be there with several sets of objects, or be folded itself.
            let mut groups: Vec<&BoxGroup> = folded.iter().map(|(group, _)| group).collect();
            groups.sort_unstable();
            groups.dedup();
            let count = groups.iter().map(|group| group.others().max(1)).sum();
            let mut objects: Vec<ObjectId> = folded.into_iter().flat_map(|(_, objects)| objects).collect();
            objects.sort_unstable();
            self.push_box(BoxGroup::Other(count), objects, column, false);
        }
    }

    /// Puts a box that stands for several groups into boxes by group: the largest of them, and one for the rest.
    ///
    /// # Errors
    /// When cancelled; then nothing was changed.
    pub fn unfold(&mut self, of: usize, progress: &Progress) -> Result<()> {
        let Some(folded) = self.graph.boxes.get(of).filter(|b| b.other > 0) else { return Ok(()) };
        let column = folded.column;
        let found = self.by_group(self.members[of].iter().copied(), progress)?;
        let mut sets: Vec<(BoxGroup, Vec<ObjectId>)> = found.into_iter().collect();
        sets.sort_by(|a, b| (Reverse(a.1.len()), &a.0).cmp(&(Reverse(b.1.len()), &b.0)));
        // The place of the box goes to the largest: boxes keep their places.
        let (group, objects) = sets.remove(0);
        self.graph.boxes[of].name = self.naming.name(&group);
        self.graph.boxes[of].groups = group.nodes();
        self.graph.boxes[of].other = 0;
        self.members[of] = objects;
        self.push_folded(sets, column);
        self.count(progress)
    }
}
