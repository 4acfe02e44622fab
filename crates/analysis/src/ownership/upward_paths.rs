//! All objects on the paths up from a group to the roots, each once and after its keeper. A pass forwards goes down; a pass backwards has
//! everything below an object before the object.
//!
//! May not: know the questions.

use super::keeping::KeeperGraph;
use super::member_weights::ObjectNumbers;
use memory_city_heap::error::Result;
use memory_city_heap::progress::Progress;
use memory_city_heap::{Amount, BitSet, HeapState, ObjectId};

/// No object, and no place.
const NOTHING: u32 = u32::MAX;
/// Objects between two checks for cancellation.
pub(super) const CHECKED: usize = 1 << 16;

/// The objects, by place.
pub(super) struct UpwardPaths {
    objects: Vec<ObjectId>,
    /// The place of each object's keeper, which is before it.
    keepers: Vec<u32>,
}

impl UpwardPaths {
    /// `keeping` has one keeper for each object, and no object is above itself. Time is linear in the objects on the paths. So is memory:
    /// 20 bytes for each of these while it works and 8 afterwards, and 2 bits for each object of the heap while it works.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(keeping: &KeeperGraph<'_>, group: &BitSet, progress: &Progress) -> Result<UpwardPaths> {
        let keeper = |o: ObjectId| {
            let mut by = None;
            keeping.keepers(o, |keeper| by = Some(keeper));
            by
        };
        let mut on = BitSet::new(keeping.heap().object_count());
        for (n, o) in group.iter().enumerate() {
            if n.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let mut at = Some(ObjectId(o));
            while let Some(o) = at.filter(|o| on.insert(o.0)) {
                at = keeper(o);
            }
        }
        // Numbers by address, without those that are on no way: what is kept of each is a column as long as these are many.
        let numbers = ObjectNumbers::new(&on);
        let (count, number) = (numbers.count(), |o: ObjectId| numbers.of(o));
        // What each keeps, as the first of it and the next beside each; behind all others what nothing keeps.
        let mut first = vec![NOTHING; count as usize + 1];
        let mut beside = Vec::with_capacity(count as usize);
        let mut numbered = Vec::with_capacity(count as usize);
        for (n, o) in (0..count).zip(on.iter().map(ObjectId)) {
            if (n as usize).is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let above = keeper(o).map_or(count, number);
            beside.push(std::mem::replace(&mut first[above as usize], n));
            numbered.push(o);
        }
        let mut ways =
            UpwardPaths { objects: Vec::with_capacity(numbered.len()), keepers: Vec::with_capacity(numbered.len()) };
        let mut open = vec![(first[count as usize], NOTHING)];
        while let Some((n, keeper)) = open.pop() {
            if n == NOTHING {
                continue;
            }
            let place = ways.objects.len();
            if place.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            ways.objects.push(numbered[n as usize]);
            ways.keepers.push(keeper);
            open.push((beside[n as usize], keeper));
            open.push((first[n as usize], place as u32));
        }
        Ok(ways)
    }

    /// The objects, by place.
    pub fn objects(&self) -> &[ObjectId] {
        &self.objects
    }

    /// The place of the keeper of the object at a place.
    pub fn keeper(&self, place: usize) -> Option<usize> {
        Some(self.keepers[place]).filter(|&keeper| keeper != NOTHING).map(|keeper| keeper as usize)
    }

    /// By place: the part of the group there and below.
    pub fn amounts(&self, heap: &HeapState, group: &BitSet) -> Vec<Amount> {
        let own = |&o: &ObjectId| match group.contains(o.0) {
            true => Amount { objects: 1, bytes: heap.size_of(o) },
            false => Amount::default(),
        };
        let mut amounts: Vec<Amount> = self.objects.iter().map(own).collect();
        for place in (0..amounts.len()).rev() {
            if let Some(keeper) = self.keeper(place) {
                let amount = amounts[place];
                amounts[keeper] += amount;
            }
        }
        amounts
    }
}
