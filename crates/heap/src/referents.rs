//! References weaker than plain ones, with their strengths: in Java the referents of `java.lang.ref.Reference` objects. An object may have
//! several.

use super::bits::BitSet;
use super::csr::Csr;
use super::types::ObjectId;

/// How strongly a reference holds its target, where it is weaker than a plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Kept until memory is short.
    Soft,
    /// Not kept.
    Weak,
    /// Not kept.
    Phantom,
    /// The referent of a finalizer: kept until that has run, by nothing that the program can reach.
    Finalizer,
}

impl Strength {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Strength::Soft => "soft",
            Strength::Weak => "weak",
            Strength::Phantom => "phantom",
            Strength::Finalizer => "finalizer",
        }
    }
}

/// One such reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Referent {
    /// The object that refers.
    pub from: ObjectId,
    /// The object it refers to.
    pub to: ObjectId,
    /// The place among the references of `from`. [`Referent::FIRST`] if the source does not say: the first one to `to` that is not taken.
    pub place: u32,
    /// How strongly.
    pub strength: Strength,
}

impl Referent {
    /// No place is known.
    pub const FIRST: u32 = u32::MAX;

    /// A reference whose place among those of `from` is not known.
    pub fn new(from: ObjectId, to: ObjectId, strength: Strength) -> Referent {
        Referent { from, to, place: Referent::FIRST, strength }
    }
}

/// The weaker references of a heap state. They are among its references too. 16 bytes each, and a bit an object if there are any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Referents {
    /// Ascending by `from`, `to` and place.
    all: Vec<Referent>,
    /// By entry of `all`: whether `from` refers to `to` by a plain reference too.
    plain_too: BitSet,
    /// The objects that are `from` of one.
    holders: BitSet,
}

impl Referents {
    /// Finds the places of the listed ones among all references. Those without a reference of their own are dropped. O(n log n) for n
    /// references of the objects that have weaker ones.
    pub(crate) fn new(mut listed: Vec<Referent>, references: &Csr) -> Referents {
        listed.sort_unstable();
        let mut found = Referents {
            all: Vec::with_capacity(listed.len()),
            plain_too: BitSet::new(listed.len()),
            holders: BitSet::new(if listed.is_empty() { 0 } else { references.rows() }),
        };
        let mut row: Vec<(ObjectId, u32)> = Vec::new();
        for of_one in listed.chunk_by(|a, b| a.from == b.from) {
            let from = of_one[0].from;
            let is_listed = |(to, _): &(ObjectId, u32)| of_one.binary_search_by_key(to, |r| r.to).is_ok();
            row.clear();
            row.extend(references.of(from).iter().copied().zip(0..).filter(is_listed));
            row.sort_unstable();
            let before = found.all.len();
            for same in of_one.chunk_by(|a, b| a.to == b.to) {
                let start = row.partition_point(|(to, _)| *to < same[0].to);
                let there = &row[start..];
                found.add(same, &there[..there.partition_point(|(to, _)| *to == same[0].to)]);
            }
            if found.all.len() > before {
                found.holders.insert(from.0);
            }
        }
        found
    }

    /// Adds the listed ones from one object to another, which has these references to it.
    fn add(&mut self, listed: &[Referent], there: &[(ObjectId, u32)]) {
        let first = self.all.len();
        let is_taken = |place: u32| listed.binary_search_by_key(&place, |r| r.place).is_ok();
        let mut free = there.iter().map(|&(_, place)| place).filter(|&place| !is_taken(place));
        // A place that is listed twice has the first of its strengths.
        for one in listed.chunk_by(|a, b| a.place == b.place && a.place != Referent::FIRST).map(|same| same[0]) {
            let place = match one.place {
                Referent::FIRST => free.next(),
                place => Some(place).filter(|place| there.binary_search_by_key(place, |t| t.1).is_ok()),
            };
            self.all.extend(place.map(|place| Referent { place, ..one }));
        }
        self.all[first..].sort_unstable();
        if self.all.len() - first < there.len() {
            for at in first..self.all.len() {
                self.plain_too.insert(at as u32);
            }
        }
    }

    /// All of them, ascending by the object that refers.
    pub fn all(&self) -> &[Referent] {
        &self.all
    }

    /// True if an object has weaker references. Reads one bit.
    #[inline]
    pub fn holds(&self, o: ObjectId) -> bool {
        self.holders.contains(o.0)
    }

    /// Those of an object, ascending by target and place. Empty for most.
    #[inline]
    pub fn of(&self, o: ObjectId) -> &[Referent] {
        if !self.holds(o) {
            return &[];
        }
        let rest = &self.all[self.all.partition_point(|r| r.from < o)..];
        // Nearly always one.
        let end = if rest.get(1).is_some_and(|r| r.from == o) { rest.partition_point(|r| r.from == o) } else { 1 };
        &rest[..end]
    }

    /// Those from one object to another, if the first refers to the second by no plain reference. O(log n).
    #[inline]
    pub fn only(&self, from: ObjectId, to: ObjectId) -> &[Referent] {
        if !self.holds(from) {
            return &[];
        }
        let start = self.all.partition_point(|r| (r.from, r.to) < (from, to));
        if self.plain_too.contains(start as u32) {
            return &[];
        }
        let rest = &self.all[start..];
        &rest[..rest.partition_point(|r| (r.from, r.to) == (from, to))]
    }
}

/// The strength of the reference to `to` at a place, where that is among the weaker ones of its object ([`Referents::of`]).
#[inline]
pub(crate) fn strength_at(weaker: &[Referent], to: ObjectId, place: u32) -> Option<Strength> {
    let at = weaker.binary_search_by_key(&(to, place), |r| (r.to, r.place)).ok()?;
    Some(weaker[at].strength)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STRENGTHS: [Strength; 2] = [Strength::Soft, Strength::Weak];

    proptest! {
        /// Against lists for each object: places that are named come first, others take what is left from the start.
        #[test]
        fn each_takes_a_reference_of_its_own(
            rows in prop::collection::vec(prop::collection::vec(0u32..4, 0..8), 4),
            listed in prop::collection::vec((0u32..4, 0u32..4, prop::option::of(0u32..9), 0usize..2), 0..16),
        ) {
            let lists: Vec<Vec<ObjectId>> = rows.iter().map(|row| row.iter().map(|&to| ObjectId(to)).collect()).collect();
            let all = listed.iter().map(|&(from, to, place, strength)| Referent {
                from: ObjectId(from),
                to: ObjectId(to),
                place: place.unwrap_or(Referent::FIRST),
                strength: STRENGTHS[strength],
            });
            let all: Vec<Referent> = all.collect();
            let found = Referents::new(all.clone(), &Csr::from_rows(&lists));
            let mut expected: Vec<Vec<Option<Strength>>> = rows.iter().map(|row| vec![None; row.len()]).collect();
            let mut sorted = all;
            sorted.sort();
            for r in sorted {
                let (row, taken) = (&rows[r.from.0 as usize], &mut expected[r.from.0 as usize]);
                let at = match r.place {
                    Referent::FIRST => (0..row.len()).find(|&at| row[at] == r.to.0 && taken[at].is_none()),
                    place => Some(place as usize).filter(|&at| row.get(at) == Some(&r.to.0) && taken[at].is_none()),
                };
                at.into_iter().for_each(|at| taken[at] = Some(r.strength));
            }
            for (o, row) in (0u32..).map(ObjectId).zip(&expected) {
                prop_assert_eq!(found.holds(o), row.iter().any(Option::is_some));
                let of = found.of(o);
                prop_assert_eq!(of.len(), row.iter().flatten().count());
                for (place, strength) in row.iter().enumerate() {
                    let to = ObjectId(rows[o.0 as usize][place]);
                    prop_assert_eq!(strength_at(of, to, place as u32), *strength);
                }
                for to in (0..4).map(ObjectId) {
                    let between: Vec<_> = row.iter().zip(&rows[o.0 as usize]).filter(|(_, t)| **t == to.0).collect();
                    let only = between.iter().all(|(strength, _)| strength.is_some());
                    prop_assert_eq!(found.only(o, to).len(), if only { between.len() } else { 0 });
                }
            }
        }
    }
}
