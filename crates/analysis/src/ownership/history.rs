//! Trees of owners over time, matched by names.

use super::course::{Course, course_at, slows};
use super::places::OwnerPlaces;
use memory_city_heap::{Amount, ObjectId, Profile, VIRTUAL_THREADS};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The content of a place at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// See [`super::OwnerNode::own`].
    pub own: Amount,
    /// See [`super::OwnerNode::total`].
    pub total: Amount,
    /// See [`super::OwnerNode::heads`].
    pub heads: u64,
    /// See [`super::OwnerNode::largest`]; the object of that time.
    pub largest: Option<(ObjectId, u64)>,
}

/// A place of any of the times.
#[derive(Clone, Debug)]
pub struct PlaceOverTime {
    /// The place above; the first is its own.
    pub parent: u32,
    /// Its name below that.
    pub name: Arc<str>,
    /// One for each time.
    pub held: Vec<Holding>,
}

impl PlaceOverTime {
    /// The growth of the retained bytes from the first to the last time.
    pub fn growth(&self) -> i64 {
        let bytes = |holding: Option<&Holding>| holding.map_or(0, |h| h.total.bytes as i64);
        bytes(self.held.last()) - bytes(self.held.first())
    }

    /// True if it only names the sharers of the objects below.
    pub(crate) fn is_shared(&self) -> bool {
        self.name.starts_with("shared ")
    }

    /// Whether it is the threads of a name.
    pub(crate) fn is_thread(&self) -> bool {
        self.name.starts_with("thread ") || &*self.name == VIRTUAL_THREADS
    }

    /// How many of its objects are no insides of others there, at the last time.
    pub(crate) fn heads_at_last(&self) -> u64 {
        self.held.last().map_or(0, |held| held.heads)
    }

    /// The object that retains most of those there at the last time, and how many bytes.
    pub fn largest(&self) -> Option<(ObjectId, u64)> {
        self.held.last()?.largest
    }
}

/// Trees of owners over time.
#[derive(Clone, Debug, Default)]
pub struct OwnerHistory {
    profile: &'static Profile,
    places: Vec<PlaceOverTime>,
    below: FxHashMap<(u32, Arc<str>), u32>,
    times: usize,
    /// When each time was, where that is known.
    at: Vec<u64>,
    too_deep: u64,
    begins_at_start: bool,
}

impl OwnerHistory {
    /// The heap at a time when there was nothing: compared with it, all that a later time holds is growth.
    pub fn after_nothing() -> OwnerHistory {
        OwnerHistory { times: 1, ..OwnerHistory::default() }
    }

    /// Adds the tree of a later time. Linear in its nodes. Returns the place of each.
    pub fn add(&mut self, tree: &OwnerPlaces) -> Vec<u32> {
        let nodes = tree.nodes();
        let empty = vec![Holding::default(); self.times];
        let mut place_of: Vec<u32> = Vec::with_capacity(nodes.len());
        for place in &mut self.places {
            place.held.push(Holding::default());
        }
        self.times += 1;
        self.too_deep = self.too_deep.max(tree.too_deep());
        for (n, node) in nodes.iter().enumerate() {
            let holding = Holding { own: node.own, total: node.total, heads: node.heads, largest: node.largest };
            let place = match (n, self.places.is_empty()) {
                (0, false) => 0,
                _ => {
                    let parent = if n == 0 { 0 } else { place_of[node.parent as usize] };
                    let new = self.places.len() as u32;
                    let key = (if n == 0 { u32::MAX } else { parent }, Arc::clone(&node.name));
                    let place = *self.below.entry(key).or_insert(new);
                    if place == new {
                        let mut held = empty.clone();
                        held.push(Holding::default());
                        self.places.push(PlaceOverTime { parent, name: Arc::clone(&node.name), held });
                    }
                    place
                }
            };
            if let Some(last) = self.places[place as usize].held.last_mut() {
                *last = holding;
            }
            place_of.push(place);
        }
        place_of
    }

    /// All places; the first is the heap. A place may come before the one above it has children of a later time, never
    /// before that place itself.
    pub fn places(&self) -> &[PlaceOverTime] {
        &self.places
    }

    /// The number of times.
    pub fn times(&self) -> usize {
        self.times
    }

    /// See [`super::OwnerTree::too_deep`]: the most of any time.
    pub fn too_deep(&self) -> u64 {
        self.too_deep
    }

    /// The same history, of a runtime with this profile.
    pub(crate) fn with_profile(self, profile: &'static Profile) -> OwnerHistory {
        OwnerHistory { profile, ..self }
    }

    /// What the runtime calls things.
    pub(crate) fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// The same history, of a program that had only just begun at its first time.
    pub(crate) fn with_start(self) -> OwnerHistory {
        OwnerHistory { begins_at_start: true, ..self }
    }

    /// Whether the program had only just begun at the first time.
    pub(crate) fn begins_at_start(&self) -> bool {
        self.begins_at_start
    }

    /// The same history with the time of each of its points, in any unit.
    pub fn with_clock(mut self, at: Vec<u64>) -> OwnerHistory {
        self.at = at;
        self
    }

    /// The course of all that a place holds. `later` is the least part of its growth in the second half, as of even growth.
    pub fn course(&self, place: u32, later: f64) -> Course {
        let held = self.places.get(place as usize).map_or(&[][..], |place| &place.held);
        let bytes: Vec<u64> = held.iter().map(|holding| holding.total.bytes).collect();
        self.course_of(&bytes, later)
    }

    /// Whether a place hardly grew in the last interval of three or four points in time.
    pub(super) fn slows(&self, place: u32) -> bool {
        let bytes: Vec<u64> = self.places[place as usize].held.iter().map(|held| held.total.bytes).collect();
        slows(&bytes, &self.at)
    }

    /// The course of bytes at the times of this history.
    pub(crate) fn course_of(&self, bytes: &[u64], later: f64) -> Course {
        course_at(bytes, &self.at, later)
    }

    /// The bytes of the heap at each time without those of some places.
    pub(crate) fn bytes_without(&self, places: &[u32]) -> Vec<u64> {
        let mut bytes: Vec<u64> =
            self.places.first().map(|heap| heap.held.iter().map(|held| held.total.bytes).collect()).unwrap_or_default();
        for place in self.outermost(places) {
            for (bytes, held) in bytes.iter_mut().zip(&self.places[place as usize].held) {
                *bytes = bytes.saturating_sub(held.total.bytes);
            }
        }
        bytes
    }

    /// Those of some places that lie below no other of them.
    pub(crate) fn outermost<'a>(&'a self, places: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        let above =
            |p: u32| std::iter::successors(Some(p), |&p| Some(self.places[p as usize].parent).filter(|&p| p != 0));
        places.iter().copied().filter(move |&p| !above(p).skip(1).any(|up| places.contains(&up)))
    }

    /// The same history with each data structure as one place, and with moved objects below `shared by ...` merged into one place. If the
    /// sharers changed, objects that moved from another such place were there before. Otherwise they would seem new. The same holds for
    /// objects that an owner keeps alone at one time and with others at the next.
    pub fn settled(self) -> OwnerHistory {
        self.matched().with_sharers_settled().with_exchanges_settled()
    }

    fn with_sharers_settled(mut self) -> OwnerHistory {
        let children = self.children();
        let is_shared = |places: &[PlaceOverTime], p: u32| places[p as usize].is_shared();
        for siblings in &children {
            let shared: Vec<u32> = siblings.iter().copied().filter(|&p| is_shared(&self.places, p)).collect();
            if shared.len() < 2 {
                continue;
            }
            let mut named: FxHashMap<Arc<str>, Vec<u32>> = FxHashMap::default();
            for &below in shared.iter().flat_map(|&p| &children[p as usize]) {
                named.entry(Arc::clone(&self.places[below as usize].name)).or_default().push(below);
            }
            for same in named.into_values().filter(|same| same.len() > 1) {
                let new = |&&p: &&u32| {
                    let held = &self.places[p as usize].held;
                    held.first().is_some_and(|h| h.total.objects == 0) && self.places[p as usize].growth() > 0
                };
                let Some(&to) = same.iter().filter(new).max_by_key(|&&p| self.places[p as usize].growth()) else {
                    continue;
                };
                let gone: Vec<u32> = same.iter().copied().filter(|&p| self.places[p as usize].growth() < 0).collect();
                gone.into_iter().for_each(|from| self.move_place(&children, from, to));
            }
        }
        self
    }

    /// Moves the objects of a place, and of those below it, to another that lies neither above nor below it.
    pub(super) fn move_place(&mut self, children: &[Vec<u32>], from: u32, to: u32) {
        let moved: Vec<Holding> = self.places[from as usize].held.clone();
        let above = |place: u32| {
            let up = |&p: &u32| Some(self.places[p as usize].parent).filter(|_| p != 0);
            std::iter::successors(up(&place), up).collect::<Vec<u32>>()
        };
        let above_both: Vec<u32> = above(from).into_iter().filter(|p| above(to).contains(p)).collect();
        // From the places above the one alone to those above the other.
        for (start, comes) in [(from, false), (to, true)] {
            let mut at = self.places[start as usize].parent;
            while !above_both.contains(&at) {
                for (held, moved) in self.places[at as usize].held.iter_mut().zip(&moved) {
                    match comes {
                        true => held.total += moved.total,
                        false => {
                            held.total.objects = held.total.objects.saturating_sub(moved.total.objects);
                            held.total.bytes = held.total.bytes.saturating_sub(moved.total.bytes);
                        }
                    }
                }
                at = self.places[at as usize].parent;
            }
        }
        let mut open = vec![(from, to)];
        while let Some((from, to)) = open.pop() {
            let moved = std::mem::take(&mut self.places[from as usize].held);
            self.places[from as usize].held = vec![Holding::default(); moved.len()];
            for (held, moved) in self.places[to as usize].held.iter_mut().zip(moved) {
                held.own += moved.own;
                held.total += moved.total;
                held.heads += moved.heads;
                held.largest = held.largest.into_iter().chain(moved.largest).max_by_key(|(_, bytes)| *bytes);
            }
            for &below in &children[from as usize] {
                let name = &self.places[below as usize].name;
                match children[to as usize].iter().find(|&&p| self.places[p as usize].name == *name) {
                    Some(&there) => open.push((below, there)),
                    // It hangs there from now on.
                    None => self.places[below as usize].parent = to,
                }
            }
        }
    }

    /// A history that was thought up.
    #[cfg(test)]
    pub(crate) fn of_places(places: Vec<PlaceOverTime>) -> OwnerHistory {
        let times = places.first().map_or(0, |heap| heap.held.len());
        OwnerHistory { places, times, ..OwnerHistory::default() }
    }

    /// The names from the top down to a place, without that of the heap.
    pub fn path(&self, place: u32) -> Vec<Arc<str>> {
        let mut names = Vec::new();
        let mut at = place;
        while at != 0 {
            names.push(Arc::clone(&self.places[at as usize].name));
            at = self.places[at as usize].parent;
        }
        names.reverse();
        names
    }

    /// The places below each.
    pub fn children(&self) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); self.places.len()];
        for (at, place) in self.places.iter().enumerate().skip(1) {
            children[place.parent as usize].push(at as u32);
        }
        children
    }
}
