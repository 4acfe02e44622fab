//! The amount that each object of a group alone keeps alive: the weight of a path is more than the number of objects on it.
//!
//! May not: know of ways.

use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, ObjectId};

/// No object of the group.
const NOTHING: u32 = u32::MAX;
/// Objects between two checks for cancellation.
const CHECKED: usize = 1 << 16;

/// The objects of a set, numbered in their order.
pub(super) struct ObjectNumbers<'a> {
    set: &'a BitSet,
    /// For each word of the set, the number of members before it.
    before: Vec<u32>,
    count: u32,
}

impl<'a> ObjectNumbers<'a> {
    /// Time and memory: 4 bytes for each 64 objects of the heap.
    pub fn new(set: &'a BitSet) -> ObjectNumbers<'a> {
        let mut count = 0;
        let before = |word: &u64| {
            let before = count;
            count += word.count_ones();
            before
        };
        let before = set.as_words().iter().map(before).collect();
        ObjectNumbers { set, before, count }
    }

    /// Their number.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The number of one of them.
    #[inline]
    pub fn of(&self, o: ObjectId) -> u32 {
        let (word, bit) = (o.0 as usize / 64, o.0 % 64);
        self.before[word] + (self.set.as_words()[word] & ((1 << bit) - 1)).count_ones()
    }
}

/// For each object of a group, its own bytes and those of all objects that it alone keeps alive, without those that members of the group
/// below it keep. Together they are no more than the retained size of the group.
pub(crate) struct MemberWeights<'a> {
    numbers: ObjectNumbers<'a>,
    bytes: Vec<u64>,
    /// The sum over all of them.
    pub total: u64,
}

impl<'a> MemberWeights<'a> {
    /// Time: a pass over the dominator tree. Memory: 8 bytes an object of the group, and 4 an object of the heap while it works.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(group: &'a BitSet, owners: &Dominators, progress: &Progress) -> Result<MemberWeights<'a>> {
        let numbers = ObjectNumbers::new(group);
        let mut bytes = vec![0u64; numbers.count() as usize];
        // Of each object the nearest of the group on the way up, itself included.
        let mut nearest = vec![NOTHING; 64 * group.as_words().len()];
        let mut total = 0;
        for (n, (o, owner)) in owners.top_down_with_owners().enumerate() {
            if n.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let above = owner.map_or(NOTHING, |owner| nearest[owner.0 as usize]);
            nearest[o.0 as usize] = above;
            if group.contains(o.0) {
                let (own, retained) = (numbers.of(o), owners.retained(o).bytes);
                bytes[own as usize] += retained;
                nearest[o.0 as usize] = own;
                match above {
                    NOTHING => total += retained,
                    above => bytes[above as usize] -= retained,
                }
            }
        }
        Ok(MemberWeights { numbers, bytes, total })
    }

    /// The weight of an object of the group.
    #[inline]
    pub fn of(&self, o: ObjectId) -> u64 {
        self.bytes[self.numbers.of(o) as usize]
    }
}
