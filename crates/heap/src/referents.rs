//! References that may hold what they refer to less than strongly: the referents of `java.lang.ref.Reference` objects.

use crate::{BitSet, ObjectId};

/// How strongly the field `referent` of a reference object holds what it refers to, as the VM means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Kept until memory is short.
    Soft,
    /// Not kept.
    Weak,
    /// Not kept.
    Phantom,
    /// Of an object with a finalizer: kept until that has run, by nothing that the program can reach.
    Finalizer,
}

/// One such reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Referent {
    /// The reference object.
    pub from: ObjectId,
    /// What its field `referent` holds.
    pub to: ObjectId,
    /// How strongly.
    pub strength: Strength,
}

/// The referents of all reference objects of a heap state. They are among its references too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Referents {
    /// Ascending by `from`, which is there once.
    all: Vec<Referent>,
    /// The objects that are `from` of one.
    holders: BitSet,
}

impl Referents {
    /// Of a heap state of `objects` objects. O(n log n) for n referents; an object has one, others are dropped.
    pub fn new(mut all: Vec<Referent>, objects: usize) -> Referents {
        all.sort_unstable();
        all.dedup_by_key(|r| r.from);
        let mut holders = BitSet::new(if all.is_empty() { 0 } else { objects });
        for referent in &all {
            holders.insert(referent.from.0);
        }
        Referents { all, holders }
    }

    /// All of them, ascending by the object that refers.
    pub fn all(&self) -> &[Referent] {
        &self.all
    }

    /// Whether an object is a reference object with a referent: a bit is looked at.
    #[inline]
    pub fn holds(&self, o: ObjectId) -> bool {
        self.holders.contains(o.0)
    }

    /// The referent of an object.
    #[inline]
    pub fn of(&self, o: ObjectId) -> Option<Referent> {
        if !self.holds(o) {
            return None;
        }
        let at = self.all.binary_search_by_key(&o, |r| r.from).ok()?;
        Some(self.all[at])
    }
}
