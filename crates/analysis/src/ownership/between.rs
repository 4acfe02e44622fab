//! Ways up that come back to where they were, where each object has one keeper: the lists of a tree lie between its nodes.
//!
//! What lies between two objects that are inside (the group, and what is on the way up) leads no further up than these do, and belongs to
//! them. May not know steps, types or roots.

use super::keeping::KeeperGraph;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId};

/// Objects looked at between two looks at whether somebody wants the work to end.
const CHECKED: usize = 1 << 16;

/// How far ways up have been looked at.
#[derive(Default)]
pub(super) struct WaysBack {
    /// What is outside and above something inside.
    above: BitSet,
}

impl WaysBack {
    /// Nothing has been looked at, of so many objects.
    pub fn new(objects: usize) -> WaysBack {
        WaysBack { above: BitSet::new(objects) }
    }

    /// What lies between objects that are inside: from all of them. Ascending; it is inside then.
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

    /// What is on the ways up from some objects to one that is inside. What is on ways that lead there no more is above them.
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
