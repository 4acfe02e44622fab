//! The part of a group below each object of a chain, if each object has one keeper. It is added up from below, each object once, instead of
//! going down again from each step.
//!
//! The objects that a chain has passed form a forest, as each has one keeper at most. So the part below an object is the sum of the parts
//! below the objects it keeps, plus itself if it is of the group.

use super::keeping::KeeperGraph;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, ObjectId};
use rustc_hash::FxHashMap;

/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 16;

/// The parts of the group below the objects of some steps. 20 bytes an object of the steps above the group.
pub(super) struct Gathered {
    /// By step, without the group: its objects, ascending, and the part below each.
    steps: Vec<(Vec<ObjectId>, Vec<Amount>)>,
    /// For objects of the group, and between them, that keep others of it.
    group: FxHashMap<ObjectId, Amount>,
}

/// An object of the steps.
#[derive(Clone, Copy)]
enum InsideObject {
    Group(ObjectId),
    /// An object of a step, and its place there.
    Step(usize, usize),
}

impl Gathered {
    /// Starts with the group alone; objects between its objects are `inside` as well.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(keeping: &KeeperGraph<'_>, group: &BitSet, inside: &BitSet, progress: &Progress) -> Result<Gathered> {
        // By object that keeps others that are inside: how many of them were not added to it yet.
        let mut missing: FxHashMap<ObjectId, u32> = FxHashMap::default();
        for (n, o) in inside.iter().enumerate() {
            if n.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            if let Some(keeper) = keeping.keeper(ObjectId(o)).filter(|keeper| inside.contains(keeper.0)) {
                *missing.entry(keeper).or_default() += 1;
            }
        }
        let own = |o: ObjectId| match group.contains(o.0) {
            true => Amount { objects: 1, bytes: keeping.heap().size_of(o) },
            false => Amount::default(),
        };
        let mut of: FxHashMap<ObjectId, Amount> = missing.keys().map(|&o| (o, own(o))).collect();
        for (n, o) in inside.iter().map(ObjectId).enumerate() {
            if n.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            // Up from each that keeps none, as far as nothing is missing.
            let mut at = Some(o).filter(|o| !missing.contains_key(o));
            while let Some(done) = at {
                let Some(above) = keeping.keeper(done).filter(|above| inside.contains(above.0)) else { break };
                let amount = of.get(&done).copied().unwrap_or_else(|| own(done));
                *of.entry(above).or_default() += amount;
                let left = missing.entry(above).or_default();
                *left = left.saturating_sub(1);
                at = Some(above).filter(|_| *left == 0);
            }
        }
        Ok(Gathered { steps: Vec::new(), group: of })
    }

    /// Adds the objects of a step and of its recursion, which are inside by now. Each keeps something that is inside.
    ///
    /// # Errors
    /// When cancelled.
    pub fn add(
        &mut self,
        keeping: &KeeperGraph<'_>,
        group: &BitSet,
        objects: impl Iterator<Item = ObjectId>,
        inside: &BitSet,
        progress: &Progress,
    ) -> Result<()> {
        let mut objects: Vec<ObjectId> = objects.collect();
        objects.sort_unstable();
        objects.dedup();
        let mut amounts: Vec<Option<Amount>> = vec![None; objects.len()];
        let mut children: Vec<ObjectId> = Vec::new();
        let mut done = 0usize;
        // What is below before what is above; the stack is no deeper than these are many.
        for start in 0..objects.len() {
            let mut open = vec![start];
            while let Some(&at) = open.last() {
                if amounts[at].is_some() {
                    open.pop();
                    continue;
                }
                done += 1;
                if done.is_multiple_of(CHECKED) {
                    progress.check()?;
                }
                children.clear();
                keeping.kept(objects[at], |child| {
                    if inside.contains(child.0) {
                        children.push(child);
                    }
                });
                children.sort_unstable();
                children.dedup();
                let waiting = open.len();
                let mut sum = Amount::default();
                for &child in &children {
                    match objects.binary_search(&child) {
                        Ok(place) => match amounts[place] {
                            Some(amount) => sum += amount,
                            None => open.push(place),
                        },
                        Err(_) => sum += self.of(keeping, group, child),
                    }
                }
                if open.len() == waiting {
                    amounts[at] = Some(sum);
                    open.pop();
                }
            }
        }
        let amounts: Vec<Amount> = amounts.into_iter().map(Option::unwrap_or_default).collect();
        // Something further down may keep one of these: then it has more by now, and all above it.
        let mut lower = Vec::new();
        for (n, &o) in objects.iter().enumerate() {
            if n.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let above = keeping.keeper(o).filter(|above| inside.contains(above.0));
            if let Some(above) = above.filter(|above| objects.binary_search(above).is_err()) {
                lower.push((above, amounts[n]));
            }
        }
        self.steps.push((objects, amounts));
        for (start, amount) in lower {
            let mut at = Some(start);
            while let Some(o) = at.filter(|o| inside.contains(o.0)) {
                match self.known(o) {
                    Some(InsideObject::Step(step, place)) => self.steps[step].1[place] += amount,
                    Some(InsideObject::Group(o)) => *self.group.entry(o).or_default() += amount,
                    None => {
                        let own = self.of(keeping, group, o);
                        *self.group.entry(o).or_insert(own) += amount;
                    }
                }
                at = keeping.keeper(o);
            }
        }
        Ok(())
    }

    fn known(&self, o: ObjectId) -> Option<InsideObject> {
        let steps = self.steps.iter().enumerate().rev();
        let mut places =
            steps.filter_map(|(step, (objects, _))| Some(InsideObject::Step(step, objects.binary_search(&o).ok()?)));
        places.next().or_else(|| self.group.contains_key(&o).then_some(InsideObject::Group(o)))
    }

    /// The part of the group below an object that is inside.
    pub fn of(&self, keeping: &KeeperGraph<'_>, group: &BitSet, o: ObjectId) -> Amount {
        match self.known(o) {
            Some(InsideObject::Step(step, place)) => self.steps[step].1[place],
            Some(InsideObject::Group(o)) => self.group[&o],
            None if group.contains(o.0) => Amount { objects: 1, bytes: keeping.heap().size_of(o) },
            None => Amount::default(),
        }
    }
}
