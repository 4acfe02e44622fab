//! The references between boxes, and the GC roots that hold boxes: recounted after each step, at the cost of the references of all objects
//! in boxes.

use super::steps::RUN;
use super::{GraphArrow, GraphRoot, NO_BOX, ObjectGraph};
use ahash::AHashMap;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, ObjectId, RootKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The counts at one end of an arrow.
struct EndCount {
    objects: u64,
    references: u64,
    /// The place of the last object that was counted.
    last: usize,
}

impl ObjectGraph {
    /// Counts all numbers of boxes.
    pub(super) fn count(&mut self, progress: &Progress) -> Result<()> {
        progress.begin("Counting references", self.members.iter().map(|m| m.len() as u64).sum());
        let mut arrows: BTreeMap<(usize, usize), GraphArrow> = BTreeMap::new();
        for of in 0..self.members.len() {
            let amount = self.members[of].iter().fold(Amount::default(), |mut amount, &o| {
                amount += Amount { objects: 1, bytes: self.heap.size_of(o) };
                amount
            });
            let mut out = self.ends(of, |o| self.heap.references(o), progress)?;
            let mut into = self.ends(of, |o| self.heap.referrers(o), progress)?;
            let of_box = &mut self.graph.boxes[of];
            of_box.amount = amount;
            of_box.beyond = out.remove(&NO_BOX).map_or(0, |end| end.references);
            of_box.before = into.remove(&NO_BOX).map_or(0, |end| end.references);
            of_box.internal = out.remove(&(of as u32)).map_or(0, |end| end.references);
            into.remove(&(of as u32));
            let arrow = |from, to| GraphArrow { from, to, referencing: 0, referenced: 0, references: 0 };
            for (other, end) in out {
                let (from, to) = (of, other as usize);
                let arrow = arrows.entry((from, to)).or_insert(arrow(from, to));
                arrow.referencing = end.objects;
                arrow.references = end.references;
            }
            for (other, end) in into {
                let (from, to) = (other as usize, of);
                arrows.entry((from, to)).or_insert(arrow(from, to)).referenced = end.objects;
            }
        }
        self.graph.arrows = arrows.into_values().collect();
        self.graph.roots = self.roots();
        Ok(())
    }

    /// By the other box: the number of a box's objects that take part, and their number of references.
    fn ends<'h>(
        &'h self,
        of: usize,
        row: impl Fn(ObjectId) -> &'h [ObjectId],
        progress: &Progress,
    ) -> Result<BTreeMap<u32, EndCount>> {
        let mut ends: BTreeMap<u32, EndCount> = BTreeMap::new();
        for (i, &o) in self.members[of].iter().enumerate() {
            if i % RUN == 0 {
                progress.check()?;
                progress.advance(RUN as u64 / 2);
            }
            for other in row(o) {
                let other = self.box_of[other.0 as usize];
                let end = ends.entry(other).or_insert(EndCount { objects: 0, references: 0, last: usize::MAX });
                end.references += 1;
                if std::mem::replace(&mut end.last, i) != i {
                    end.objects += 1;
                }
            }
        }
        Ok(ends)
    }

    /// Roots by kind and box.
    fn roots(&self) -> Vec<GraphRoot> {
        #[derive(Default)]
        struct HeldByKind {
            roots: u64,
            objects: BTreeSet<ObjectId>,
            // Texts of dumps: hashed with a random seed.
            places: AHashMap<String, u64>,
        }
        let mut found: BTreeMap<(RootKind, usize), HeldByKind> = BTreeMap::new();
        for root in self.heap.roots() {
            let Some(of) = self.box_of(root.object) else { continue };
            let held = found.entry((root.kind, of)).or_default();
            held.roots += 1;
            held.objects.insert(root.object);
            *held.places.entry(root.text()).or_default() += 1;
        }
        let sorted = |places: AHashMap<String, u64>| {
            let mut places: Vec<(String, u64)> = places.into_iter().collect();
            places.sort_unstable_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
            places
        };
        let root = |((kind, held), found): ((RootKind, usize), HeldByKind)| GraphRoot {
            kind: kind.title().to_owned(),
            held,
            roots: found.roots,
            objects: Some(found.objects.len() as u64),
            places: sorted(found.places),
        };
        found.into_iter().map(root).collect()
    }
}
