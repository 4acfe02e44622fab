//! One place for one data structure, whatever else refers to it.
//!
//! Places of several points in time are matched by the names of their owners. A second holder that comes or goes changes the owner of a data
//! structure, and so its name: it seems to vanish in one place and to appear in another. Such a pair is merged. It is known by what it is, not
//! by who owns it: the type of its head, the type it mostly contains, and its size, which goes on where the other one's ended.

use super::OwnerHistory;
use super::history::Holding;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::sync::Arc;

/// Smaller places are left as they are: bytes, and part of the heap.
const LEAST: u64 = 8 << 10;
const LEAST_OF_HEAP: f64 = 0.002;
/// A place is gone if it has no more than this part of its bytes at the other time.
const GONE: f64 = 0.1;
/// A data structure is so many times as large after the step at most, or the other way round.
const ALIKE: f64 = 6.0;
/// The same of a part of one that others share for a while, and how much of it that is at least.
const ALIKE_PART: f64 = 2.5;
const PART: f64 = 0.3;
/// A type that makes up so much of a data structure is what it contains.
const CONTAINS: f64 = 0.3;
/// So many pairs are merged at most: each costs a pass over all places.
const MOST: usize = 200;

/// How often a name was there before places were merged, and at which time last.
#[derive(Clone, Copy)]
struct NameSeen {
    times: usize,
    last: Option<usize>,
}

impl NameSeen {
    fn of(held: &[Holding]) -> NameSeen {
        let is_there = |holding: &Holding| holding.total.objects > 0;
        NameSeen { times: held.iter().filter(|h| is_there(h)).count(), last: held.iter().rposition(is_there) }
    }
}

impl OwnerHistory {
    /// The same with what is one data structure in one place.
    pub(super) fn matched(mut self) -> OwnerHistory {
        let mut merged = 0;
        let seen: Vec<NameSeen> = self.places().iter().map(|place| NameSeen::of(&place.held)).collect();
        for time in 1..self.times() {
            while merged < MOST
                && let Some((from, to)) = self.moved_between(time - 1, time, &seen)
            {
                let children = self.children();
                self.move_place(&children, from, to);
                merged += 1;
            }
        }
        self
    }

    /// Of two places that are one, which is to be counted at which other: the largest that changed its owner between two times.
    fn moved_between(&self, before: usize, after: usize, seen: &[NameSeen]) -> Option<(u32, u32)> {
        let children = self.children();
        let at = |p: u32, time: usize| self.places()[p as usize].held[time].total.bytes;
        let heap = at(0, before).max(at(0, after));
        let least = LEAST.max((LEAST_OF_HEAP * heap as f64) as u64);
        // Those that are there at one of the times alone, by name.
        let is_new = |p: u32, a: usize, b: usize| at(p, b) >= least && at(p, a) as f64 <= GONE * at(p, b) as f64;
        let mut best: Option<(u64, u32, u32)> = None;
        for (a, b) in [(before, after), (after, before)] {
            let mut new: FxHashMap<&Arc<str>, Vec<u32>> = FxHashMap::default();
            for p in (1..self.places().len() as u32).filter(|&p| is_new(p, a, b)) {
                new.entry(&self.places()[p as usize].name).or_default().push(p);
            }
            if new.is_empty() {
                continue;
            }
            for p in 1..self.places().len() as u32 {
                let lost = at(p, a).saturating_sub(at(p, b));
                if lost < least || self.places()[p as usize].is_shared() || best.is_some_and(|(size, ..)| size >= lost)
                {
                    continue;
                }
                let name = &self.places()[p as usize].name;
                let whole = is_new(p, b, a);
                // Parts of a collection are named like it, and lie in it where nothing else refers to them.
                let is_part = |other: &str| {
                    let rest = other.strip_prefix(&**name).unwrap_or_default();
                    self.profile().names.nested.is_some_and(|mark| rest.starts_with(mark))
                };
                let same = new.get(name).into_iter().flatten();
                let parts = new.iter().filter(|(other, _)| is_part(other)).flat_map(|(_, places)| places);
                let ratio = |q: u32| {
                    let ratio = at(q, b) as f64 / lost as f64;
                    ratio.max(1.0 / ratio)
                };
                let fits = |q: u32, by_name: bool| {
                    if q == p || self.is_above(p, q) || self.is_above(q, p) {
                        return false;
                    }
                    let alike = by_name && whole && ratio(q) <= ALIKE && self.contains_alike(&children, (p, a), (q, b));
                    let part =
                        self.lies_in_shared(q) && lost as f64 >= PART * at(p, a) as f64 && ratio(q) <= ALIKE_PART;
                    alike || part
                };
                let found = same.map(|&q| (q, true)).chain(parts.map(|&q| (q, false)));
                let found = found.filter(|&(q, by_name)| fits(q, by_name));
                let nearest = found.min_by(|x, y| ratio(x.0).total_cmp(&ratio(y.0)).then(x.0.cmp(&y.0)));
                if let Some((q, by_name)) = nearest {
                    let (from, to) = if by_name && self.names_better(q, p, seen) { (p, q) } else { (q, p) };
                    best = Some((lost, from, to));
                }
            }
        }
        best.map(|(_, from, to)| (from, to))
    }

    /// Whether one place lies above another.
    fn is_above(&self, above: u32, place: u32) -> bool {
        let mut at = place;
        while at != 0 {
            at = self.places()[at as usize].parent;
            if at == above && at != 0 {
                return true;
            }
        }
        false
    }

    /// Whether a place lies below one that only says who shares it.
    fn lies_in_shared(&self, place: u32) -> bool {
        let mut at = place;
        while at != 0 {
            if self.places()[at as usize].is_shared() {
                return true;
            }
            at = self.places()[at as usize].parent;
        }
        false
    }

    /// True if the name of a place says more than that of another. Fields of classes come first, then other owners, threads and handles,
    /// and several owners. Of equals, the later name wins, unless the other one was there more than twice as often.
    fn names_better(&self, place: u32, than: u32, seen: &[NameSeen]) -> bool {
        let owner = |p: u32| {
            let mut top = p;
            while self.places()[top as usize].parent != 0 {
                top = self.places()[top as usize].parent;
            }
            let name = &*self.places()[top as usize].name;
            let passes = ["thread ", "JNI", "Monitor", "Other root"].iter().any(|kind| name.starts_with(kind));
            match (self.lies_in_shared(p), name.starts_with("class ")) {
                (true, _) if name.starts_with("shared by more than") => 0,
                (true, _) => 1,
                _ if passes => 2,
                (false, false) => 3,
                (false, true) => 4,
            }
        };
        let [mine, other] = [place, than].map(|p| seen[p as usize]);
        match owner(place).cmp(&owner(than)) {
            Ordering::Equal if mine.last > other.last => 2 * mine.times >= other.times,
            Ordering::Equal if mine.last < other.last => mine.times > 2 * other.times,
            Ordering::Equal => mine.times > other.times,
            order => order.is_gt(),
        }
    }

    /// Whether two places of one name have mostly the same in them.
    fn contains_alike(&self, children: &[Vec<u32>], (p, a): (u32, usize), (q, b): (u32, usize)) -> bool {
        let bytes = |p: u32, time: usize| self.places()[p as usize].held[time].total.bytes;
        let Some(&most) = children[p as usize].iter().max_by_key(|&&below| bytes(below, a)) else { return true };
        let name = &self.places()[most as usize].name;
        let is_much = bytes(most, a) as f64 >= CONTAINS * bytes(p, a) as f64;
        let is_there = |&below: &u32| self.places()[below as usize].name == *name && bytes(below, b) > 0;
        !is_much || self.places()[most as usize].is_shared() || children[q as usize].iter().any(is_there)
    }
}
