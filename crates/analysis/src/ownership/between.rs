//! Paths up that return to where they were, in graphs where each object has one keeper: the lists of a tree lie between its nodes.
//!
//! An object between two objects that are inside (the group, and the objects on the path up) leads no further up than these do, and belongs
//! to them. May not know steps, types or roots.

use super::keeping::KeeperGraph;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId};

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 16;

/// The state of the search for such paths.
#[derive(Default)]
pub(super) struct ReturningPaths {
    /// The objects outside that are above something inside.
    above: BitSet,
}

impl ReturningPaths {
    /// An empty state for so many objects.
    pub fn new(objects: usize) -> ReturningPaths {
        ReturningPaths { above: BitSet::new(objects) }
    }

    /// The objects between those that are inside, starting from all of them. Ascending; they are inside afterwards.
    ///
    /// # Errors
    /// When cancelled.
    pub fn begin(
        &mut self,
        keeping: &KeeperGraph<'_>,
        inside: &mut BitSet,
        progress: &Progress,
    ) -> Result<Vec<ObjectId>> {
        let all: Vec<ObjectId> = inside.iter().map(ObjectId).collect();
        let mut between = self.up(keeping, &all, inside, progress)?;
        between.iter().for_each(|o| _ = inside.insert(o.0));
        between.sort_unstable();
        Ok(between)
    }

    /// The same, when some have become inside since.
    ///
    /// # Errors
    /// When cancelled.
    pub fn go_on(
        &mut self,
        keeping: &KeeperGraph<'_>,
        new: &[ObjectId],
        inside: &mut BitSet,
        progress: &Progress,
    ) -> Result<Vec<ObjectId>> {
        let mut between = self.up(keeping, new, inside, progress)?;
        between.iter().for_each(|o| _ = inside.insert(o.0));
        // What was above something that is inside may lie below one of these.
        let mut open = [new, &between].concat();
        let mut done = 0usize;
        while let Some(o) = open.pop() {
            done += 1;
            if done.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            keeping.kept(o, |below| {
                if self.above.contains(below.0) && inside.insert(below.0) {
                    between.push(below);
                    open.push(below);
                }
            });
        }
        between.sort_unstable();
        Ok(between)
    }

    /// The objects on the paths up from some objects to one that is inside. Objects on paths that lead elsewhere are above them.
    fn up(
        &mut self,
        keeping: &KeeperGraph<'_>,
        starts: &[ObjectId],
        inside: &BitSet,
        progress: &Progress,
    ) -> Result<Vec<ObjectId>> {
        let objects = keeping.heap().object_count();
        let (mut lead_back, mut lead_out) = (BitSet::new(objects), BitSet::new(objects));
        let (mut between, mut way) = (Vec::new(), Vec::new());
        let mut done = 0usize;
        for &start in starts {
            let mut at = keeping.keeper(start);
            let comes_back = loop {
                done += 1;
                if done.is_multiple_of(CHECKED) {
                    progress.check()?;
                }
                match at {
                    None => break false,
                    Some(o) if inside.contains(o.0) || lead_back.contains(o.0) => break true,
                    Some(o) if lead_out.contains(o.0) => break false,
                    Some(o) => {
                        way.push(o);
                        at = keeping.keeper(o);
                    }
                }
            };
            let seen = if comes_back { &mut lead_back } else { &mut lead_out };
            way.iter().for_each(|o| _ = seen.insert(o.0));
            if comes_back {
                between.append(&mut way);
            }
            way.clear();
        }
        self.above.unite(&lead_out);
        Ok(between)
    }
}
