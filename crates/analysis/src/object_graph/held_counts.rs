//! Ownership in the graph: how many objects of one box are held over each arrow, and over each kind of root.
//!
//! The numbers at an arrow count the objects of two neighbours that take part. They do not show which of two collections keeps more of a
//! box two steps further on; these numbers do.

use super::steps::RUN;
use super::{NO_BOX, ObjectGraph};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{CutSet, ObjectClosures};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId};

/// The number of a box's objects held over each arrow and root that leads to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldOver {
    /// The box.
    pub focus: usize,
    /// How many objects it has.
    pub objects: u64,
    /// By arrow of the graph: how many of them are reached from its target objects, over references that keep and through boxes of the
    /// graph; 0 if the arrow does not lead there.
    pub arrows: Vec<u64>,
    /// By root of the graph: the same from the objects that it holds.
    pub roots: Vec<u64>,
}

/// Sets of objects from which others are reached.
pub(super) struct HeldSets {
    pub sets: Vec<Vec<ObjectId>>,
}

impl HeldSets {
    /// The number of a box's objects that each set reaches through boxes, its own objects included. Handles 64 sets at once: each object is
    /// visited again as often as something new reaches it. 8 bytes and a bit an object of the heap.
    pub fn count(&self, graph: &ObjectGraph, of: usize, progress: &Progress) -> Result<Vec<u64>> {
        let keeps = graph.keeps();
        let mut counts = Vec::with_capacity(self.sets.len());
        for sets in self.sets.chunks(64) {
            let mut masks = vec![0u64; graph.heap.object_count()];
            let mut waits = BitSet::new(masks.len());
            let mut open = Vec::new();
            for (bit, set) in sets.iter().enumerate() {
                for o in set {
                    masks[o.0 as usize] |= 1 << bit;
                    if waits.insert(o.0) {
                        open.push(*o);
                    }
                }
            }
            let mut looked = 0usize;
            let mut next = Vec::new();
            // Round by round: then an object is rarely looked at before most of what reaches it is known.
            while !open.is_empty() {
                for o in open.drain(..) {
                    looked += 1;
                    if looked.is_multiple_of(RUN) {
                        progress.check()?;
                    }
                    waits.remove(o.0);
                    let mask = masks[o.0 as usize];
                    keeps.kept(o, |target| {
                        let known = &mut masks[target.0 as usize];
                        if graph.box_of[target.0 as usize] != NO_BOX && *known | mask != *known {
                            *known |= mask;
                            if waits.insert(target.0) {
                                next.push(target);
                            }
                        }
                    });
                }
                std::mem::swap(&mut open, &mut next);
            }
            for bit in 0..sets.len() {
                let held = graph.members[of].iter().filter(|o| masks[o.0 as usize] >> bit & 1 == 1).count();
                counts.push(held as u64);
            }
        }
        Ok(counts)
    }
}

impl ObjectGraph {
    /// How many objects of a box are held over each arrow and root. An object that is held in two ways counts for both.
    ///
    /// # Errors
    /// When cancelled.
    pub fn held_over(&self, focus: usize, progress: &Progress) -> Result<HeldOver> {
        if focus >= self.members.len() {
            return Ok(HeldOver { focus, ..HeldOver::default() });
        }
        progress.begin("Finding what holds the objects", 0);
        let keeps = self.keeps();
        let mut sets = Vec::with_capacity(self.graph.arrows.len() + self.graph.roots.len());
        for arrow in &self.graph.arrows {
            let mut ends = Vec::new();
            for (i, &o) in self.members[arrow.to].iter().enumerate() {
                if i % RUN == 0 {
                    progress.check()?;
                }
                let mut is_end = false;
                keeps.keepers(o, |keeper| is_end |= self.box_of[keeper.0 as usize] == arrow.from as u32);
                if is_end {
                    ends.push(o);
                }
            }
            sets.push(ends);
        }
        for root in &self.graph.roots {
            let held = |o: &&ObjectId| self.heap.roots_of(**o).any(|r| r.kind.title() == root.kind);
            sets.push(self.members[root.held].iter().filter(held).copied().collect());
        }
        let mut arrows = HeldSets { sets }.count(self, focus, progress)?;
        let roots = arrows.split_off(self.graph.arrows.len());
        Ok(HeldOver { focus, objects: self.members[focus].len() as u64, arrows, roots })
    }

    /// The number of a box's objects that only the references of one arrow keep. `closures` are those of the graph's heap state. Time
    /// follows the objects behind the arrow.
    ///
    /// # Errors
    /// When cancelled.
    pub fn held_alone(
        &self,
        closures: &ObjectClosures<'_>,
        arrow: usize,
        focus: usize,
        progress: &Progress,
    ) -> Result<u64> {
        let Some(arrow) = self.graph.arrows.get(arrow) else { return Ok(0) };
        let mut cut = CutSet::new();
        for (i, &o) in self.members[arrow.from].iter().enumerate() {
            if i % RUN == 0 {
                progress.check()?;
            }
            let leads = |target: &&ObjectId| self.box_of[target.0 as usize] == arrow.to as u32;
            self.heap.references(o).iter().filter(leads).for_each(|&target| cut.references(o, target));
        }
        let freed = closures.freed(&cut, progress)?;
        Ok(self.objects(focus).iter().filter(|o| freed.contains(o.0)).count() as u64)
    }
}
