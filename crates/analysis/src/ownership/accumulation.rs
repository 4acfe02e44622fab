//! Accumulation points: the places where a heap grows, and their elements.
//!
//! The growth of retained bytes is followed down the tree of owners, from the heap to the deepest place that still holds most of it, until
//! it fans out into many like elements: a list with more elements, a longer chain, a larger array. A program should bound that place. A
//! place that grew once and then stayed the same (a full cache, loaded classes) is no accumulation; [`filled_once`] finds it.

use super::course::{Course, filled_between};
use super::history::{Holding, OwnerHistory, PlaceOverTime};
use memory_city_heap::Amount;
use std::collections::BTreeMap;

/// The rules for accumulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccumulationRules {
    /// Least growth of a place, bytes.
    pub least_bytes: u64,
    /// Least growth of a place as a share of the heap's size at the first time.
    pub least_of_heap: f64,
    /// Least share of a place in the growth of all places together.
    pub least_of_growth: f64,
    /// A place below that has so much of the growth of the one above is where the growth is.
    pub most: f64,
    /// Growth that lasts: at least so much of it falls into the later half of the times, for each half of it that would
    /// if it were even.
    pub later: f64,
}

impl Default for AccumulationRules {
    fn default() -> Self {
        AccumulationRules { least_bytes: 16 << 10, least_of_heap: 0.01, least_of_growth: 0.1, most: 0.7, later: 0.4 }
    }
}

/// The elements of an accumulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elements {
    /// The objects of these places below the accumulation point, the one that grows most first.
    Below(Vec<u32>),
    /// The objects of the point itself: a chain of nodes, or threads of one name.
    Own,
    /// None: an existing object became larger, like the growing array of a buffer.
    Larger,
}

/// Where the heap grows.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulation {
    /// The place.
    pub place: u32,
    /// The elements of the growth.
    pub elements: Elements,
    /// How many elements there were at the first time, and are at the last.
    pub count: (u64, u64),
    /// Retained bytes at the first and the last time.
    pub bytes: (u64, u64),
    /// Part of the growth of the whole heap, 0 to 1.
    pub share: f64,
    /// How it grew.
    pub course: Course,
}

/// The accumulation points, the largest growth first. For one state the fullest come first, and places without an object of their own last.
pub fn accumulations(history: &OwnerHistory, rules: AccumulationRules) -> Vec<Accumulation> {
    find(history, rules, false)
}

/// The places that grew as much, but once, and then stayed the same; the largest growth first.
pub fn filled_once(history: &OwnerHistory, rules: AccumulationRules) -> Vec<Accumulation> {
    find(history, rules, true)
}

fn find(history: &OwnerHistory, rules: AccumulationRules, once: bool) -> Vec<Accumulation> {
    let Some(heap) = history.places().first().filter(|_| history.times() > 1) else { return Vec::new() };
    let children = history.children();
    // Classes and threads are no places: their fields and variables are.
    let flat = |places: &[u32], is_flat: fn(&str) -> bool| -> Vec<u32> {
        let names = |p: &u32| is_flat(&history.places()[*p as usize].name);
        let (opened, kept): (Vec<u32>, Vec<u32>) = places.iter().copied().partition(names);
        let own = opened.iter().copied().filter(|&p| growth_of_own(history, p));
        kept.into_iter().chain(own).chain(opened.iter().flat_map(|&p| children[p as usize].iter().copied())).collect()
    };
    let top = &flat(&children[0], |name| name.starts_with("class "));
    let growth = |p: u32| history.places()[p as usize].growth();
    let at_once = heap.held.first().is_some_and(|held| held.total.objects == 0);
    // What shrinks beside it makes no growth smaller.
    let gained: i64 = top.iter().map(|&p| growth(p).max(0)).sum();
    let first = heap.held.first().map_or(0, |h| h.total.bytes);
    let least = (rules.least_bytes as f64)
        .max(rules.least_of_heap * first as f64)
        .max(rules.least_of_growth * gained as f64) as i64;
    let finder = GrowthFinder { history, children: &children, rules, least, once, at_once };
    let mut found = Vec::new();
    let mut open: Vec<u32> = if once { finder.growing(top) } else { finder.growing_within(top) };
    while let Some(place) = open.pop() {
        finder.follow(place, &mut found, &mut open);
    }
    // What moves from one owner to another shrinks there: no part is more than all that grew.
    let all: i64 = found.iter().map(|(place, _)| growth(*place)).sum();
    let net = growth(0).max(gained).max(all).max(1) as f64;
    let mut points: Vec<Accumulation> = found
        .into_iter()
        .map(|(place, elements)| {
            let at = &history.places()[place as usize];
            let count = match &elements {
                Elements::Below(below) => below.iter().fold((0, 0), |sum, &p| {
                    let (first, last) = ends(&history.places()[p as usize].held, |h| h.heads);
                    (sum.0 + first, sum.1 + last)
                }),
                Elements::Own | Elements::Larger => ends(&at.held, |h| h.own.objects),
            };
            let share = at.growth() as f64 / net;
            Accumulation {
                place,
                elements,
                count,
                bytes: ends(&at.held, |h| h.total.bytes),
                share,
                course: finder.course(place),
            }
        })
        .collect();
    if !at_once {
        points.retain(|point| !is_noise(history, point) && !only_moved(history, &children, point));
        points.retain(|point| !once || !filled_from_elsewhere(history, &children, point));
    }
    // Of one state what hangs on no place of its own fills much of every heap, and is nothing that somebody could change.
    let is_rest = |p: &Accumulation| at_once && history.places()[p.place as usize].is_shared();
    points.sort_by_key(|p| (is_rest(p), std::cmp::Reverse(p.bytes.1 as i64 - p.bytes.0 as i64)));
    points
}

/// Whether a point grew unevenly, and by less than half of the falls of the heap meanwhile.
fn is_noise(history: &OwnerHistory, point: &Accumulation) -> bool {
    let bytes =
        |place: u32| history.places()[place as usize].held.iter().map(|held| held.total.bytes).collect::<Vec<_>>();
    let (own, heap) = (bytes(point.place), bytes(0));
    let grown = point.bytes.1.saturating_sub(point.bytes.0);
    let falls: u64 = heap.windows(2).map(|pair| pair[0].saturating_sub(pair[1])).sum();
    !is_steady(&own) && grown * 2 < falls
}

/// Whether bytes grow in each interval.
pub(crate) fn is_steady(bytes: &[u64]) -> bool {
    let grown = bytes.last().unwrap_or(&0).saturating_sub(bytes.first().copied().unwrap_or(0));
    let even = grown as f64 / bytes.len().saturating_sub(1).max(1) as f64;
    bytes.windows(2).all(|pair| pair[1].saturating_sub(pair[0]) as f64 >= STEADY * even)
}

/// Collections that are few: their elements say more than they do.
const FEW_COLLECTIONS: u64 = 100;

/// Share of even growth that each interval of a steady place has.
const STEADY: f64 = 0.4;

/// Whether the objects of a point only changed their owner: nearly all came in one interval, while the heap has hardly more, and hardly
/// more of these types.
fn only_moved(history: &OwnerHistory, children: &[Vec<u32>], point: &Accumulation) -> bool {
    let held = &history.places()[point.place as usize].held;
    let grown = point.bytes.1.saturating_sub(point.bytes.0);
    let step = held.windows(2).map(|pair| pair[1].total.bytes.saturating_sub(pair[0].total.bytes)).max().unwrap_or(0);
    step as f64 >= 0.9 * grown as f64 && has_few_new(history, children, point)
}

/// Whether the objects of a point may have left other places. The heap has hardly more bytes, and hardly more of these types. Of the first kind
/// of elements it has less than a quarter as many more.
pub(super) fn came_from_elsewhere(history: &OwnerHistory, point: &Accumulation) -> bool {
    let heap = history.places().first().map_or(0, PlaceOverTime::growth);
    if heap.max(0) as u64 * 2 >= point.bytes.1.saturating_sub(point.bytes.0) {
        return false;
    }
    let place = |p: u32| &history.places()[p as usize];
    let kind = match &point.elements {
        Elements::Below(below) => place(below.first().copied().unwrap_or(point.place)),
        Elements::Own | Elements::Larger => place(point.place),
    };
    let count = |place: &PlaceOverTime| ends(&place.held, |h| h.heads.max(h.own.objects));
    let alike = history.places().iter().filter(|place| place.name == kind.name).map(count);
    let (first, last) = alike.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let more = count(kind).1.saturating_sub(count(kind).0);
    last.saturating_sub(first) * 4 < more && has_few_new(history, &history.children(), point)
}

fn has_few_new(history: &OwnerHistory, children: &[Vec<u32>], point: &Accumulation) -> bool {
    let grown = point.bytes.1.saturating_sub(point.bytes.0);
    let growth_of_heap = history.places().first().map_or(0, PlaceOverTime::growth);
    if growth_of_heap.max(0) as u64 * 2 >= grown {
        return false;
    }
    let (new, came) = new_of_came(history, children, point.place, (0, history.times() - 1));
    new * 2 < came
}

/// Whether a quarter or more of what filled a place left other places in the same interval. Then the heap did not grow by all of it, and
/// growth in other intervals is not explained.
fn filled_from_elsewhere(history: &OwnerHistory, children: &[Vec<u32>], point: &Accumulation) -> bool {
    let held = &history.places()[point.place as usize].held;
    let bytes: Vec<u64> = held.iter().map(|held| held.total.bytes).collect();
    let (new, came) = new_of_came(history, children, point.place, filled_between(&bytes));
    new * 4 < came * 3
}

/// Bytes that came to a place and to those below it between two times: the new ones, and all. Those of a type are new as far as all
/// places together have more of that type.
fn new_of_came(history: &OwnerHistory, children: &[Vec<u32>], place: u32, (from, until): (usize, usize)) -> (i64, i64) {
    let growth_of_own = |p: u32| {
        let held = &history.places()[p as usize].held;
        held[until].own.bytes as i64 - held[from].own.bytes as i64
    };
    let name = |p: u32| &*history.places()[p as usize].name;
    let mut here: BTreeMap<&str, i64> = BTreeMap::new();
    let mut open = vec![place];
    while let Some(p) = open.pop() {
        *here.entry(name(p)).or_default() += growth_of_own(p);
        open.extend(&children[p as usize]);
    }
    here.retain(|_, grown| *grown > 0);
    let mut everywhere: BTreeMap<&str, i64> = here.keys().map(|&name| (name, 0)).collect();
    for p in 0..history.places().len() as u32 {
        if let Some(sum) = everywhere.get_mut(name(p)) {
            *sum += growth_of_own(p);
        }
    }
    let new = here.iter().map(|(name, grown)| everywhere[name].clamp(0, *grown)).sum();
    (new, here.values().sum())
}

/// Whether as many objects as before grew in steps, and another step may follow. An array that doubles when it is full rests twice as long
/// after each step, so a rest at the end says nothing.
pub(super) fn grows_in_steps(held: &[Holding]) -> bool {
    let (Some(first), Some(last)) = (held.first(), held.last()) else { return false };
    if last.total.objects > first.total.objects + FEW_OBJECTS || first.total.objects == 0 {
        return false;
    }
    let is_step = |pair: &[Holding]| pair[1].total.bytes as f64 >= STEP * pair[0].total.bytes as f64;
    let steps: Vec<usize> = held.windows(2).enumerate().filter(|(_, pair)| is_step(pair)).map(|(at, _)| at).collect();
    match steps[..] {
        [.., before, step] => held.len() - 2 - step <= 2 * (step - before),
        _ => false,
    }
}

/// Least factor of a step. Full arrays of a JDK's lists grow by half, others double.
const STEP: f64 = 1.3;
/// So many more objects are beside an array that grows.
const FEW_OBJECTS: u64 = 8;

/// The first and the last value.
pub(crate) fn ends(held: &[Holding], value: impl Fn(&Holding) -> u64) -> (u64, u64) {
    (held.first().map_or(0, &value), held.last().map_or(0, &value))
}

/// True if a place itself has more objects than before, not only those below it.
fn growth_of_own(history: &OwnerHistory, place: u32) -> bool {
    let (first, last) = ends(&history.places()[place as usize].held, |h| h.heads);
    last > first + 1
}

/// More threads of one name are no pool: they are too many themselves.
const MOST_OF_POOL: u64 = 1_000;
/// The same where it is known that they were not there before.
const MOST_OF_NEW_POOL: u64 = 64;

/// Share of the growth of a place that new objects, each as large as those before, must have: then they are more, not larger.
const BY_NUMBER: f64 = 0.8;

/// The objects of a place that are no insides of others there, with all that they keep.
fn all_heads(held: &Holding) -> Amount {
    Amount { objects: held.heads, bytes: held.total.bytes }
}

struct GrowthFinder<'a> {
    history: &'a OwnerHistory,
    children: &'a [Vec<u32>],
    rules: AccumulationRules,
    least: i64,
    /// If true, searches for places that were filled once instead of growing ones.
    once: bool,
    /// There is one state alone, compared with nothing: all of it came at once.
    at_once: bool,
}

impl GrowthFinder<'_> {
    fn growth(&self, place: u32) -> i64 {
        self.history.places()[place as usize].growth()
    }

    /// The places that grow enough, in the wanted way; the smallest growth first.
    fn growing(&self, places: &[u32]) -> Vec<u32> {
        let fits = |p: u32| if self.once { self.course(p) == Course::Filled } else { self.course(p).may_leak() };
        let mut growing: Vec<u32> =
            places.iter().copied().filter(|&p| self.growth(p) >= self.least && fits(p)).collect();
        growing.sort_by_key(|&p| self.growth(p));
        growing
    }

    /// As [`GrowthFinder::growing`], also below places that do not grow: a full cache, or a backlog that drains, must not hide a leak beside it.
    /// A place that only names several sharers is looked into too.
    fn growing_within(&self, places: &[u32]) -> Vec<u32> {
        let mut growing = self.growing(places);
        let is_enough = |place: u32| {
            self.history.places()[place as usize].held.last().is_some_and(|h| h.total.bytes as i64 >= self.least)
        };
        let mut open: Vec<u32> = places.iter().copied().filter(|p| !growing.contains(p)).collect();
        while let Some(place) = open.pop() {
            let course = self.course(place);
            let hides = self.growth(place) >= self.least
                && (course == Course::Filled || self.is_no_object(place) && !course.may_leak());
            let below: Vec<u32> = self.below(place).into_iter().filter(|&p| is_enough(p)).collect();
            let grow = self.growing(&below);
            open.extend(below.into_iter().filter(|p| !grow.contains(p)));
            growing.extend(grow.into_iter().filter(|&p| hides || self.grows_beside(p, place)));
        }
        growing.sort_by_key(|&p| self.growth(p));
        growing
    }

    /// Whether a place below one that does not grow may leak: it grows at each time. One kind of the elements of a collection may not, since
    /// kinds come in turn.
    fn grows_beside(&self, place: u32, above: u32) -> bool {
        let at = &self.history.places()[place as usize];
        let bytes: Vec<u64> = at.held.iter().map(|held| held.total.bytes).collect();
        let is_collection = self.history.profile().collections.covers(&self.history.places()[above as usize].name);
        !self.at_once && is_steady(&bytes) && !(is_collection && self.multiplies(place, all_heads))
    }

    /// True if a place only names the sharers of the objects below.
    fn is_no_object(&self, place: u32) -> bool {
        self.history.places()[place as usize].is_shared()
    }

    fn course(&self, place: u32) -> Course {
        match self.history.course(place, self.rules.later) {
            Course::Filled if grows_in_steps(&self.history.places()[place as usize].held) => Course::Paused,
            course => course,
        }
    }

    /// True if a place has at least two more objects than at its first time, unless that is the last time. They must be a quarter more, or so
    /// many that their number explains its growth. Objects that came once and are as many ever since were created once.
    fn multiplies(&self, place: u32, amount: impl Fn(&Holding) -> Amount) -> bool {
        let held = &self.history.places()[place as usize].held;
        let last = held.last().map(&amount).unwrap_or_default();
        let came = held[..held.len().saturating_sub(1)].iter().map(&amount).find(|amount| amount.objects > 0);
        let first = came.unwrap_or_default();
        let more = last.objects.saturating_sub(first.objects);
        let grown = last.bytes.saturating_sub(first.bytes) as f64;
        let by_number = || {
            let each = first.bytes as f64 / first.objects.max(1) as f64;
            grown > 0.0 && more as f64 * each >= BY_NUMBER * grown
        };
        more >= 2 && (last.objects * 4 >= first.objects * 5 || by_number())
    }

    /// True if everything here appeared in the last interval, or at an unknown time.
    fn came_at_once(&self, place: u32) -> bool {
        let held = &self.history.places()[place as usize].held;
        self.at_once || held[..held.len().saturating_sub(1)].iter().all(|h| h.heads == 0)
    }

    /// True if the objects of a place are elements: their number grows. For one state, and for a place that appeared at once, growth is
    /// unknown; there elements must outnumber the objects above, which are at most `above`. Of eight threads, each with a table, the tables
    /// are no elements.
    fn fans_out(&self, place: u32, above: u64) -> bool {
        let heads = self.history.places()[place as usize].heads_at_last();
        self.multiplies(place, all_heads) && (!self.came_at_once(place) || heads >= above.saturating_mul(2))
    }

    /// True for threads of a pool that came at once: the objects each of them keeps say more than their presence.
    fn is_pool(&self, place: u32) -> bool {
        let at = &self.history.places()[place as usize];
        let most = if self.at_once { MOST_OF_POOL } else { MOST_OF_NEW_POOL };
        at.is_thread() && at.heads_at_last() <= most && self.came_at_once(place)
    }

    /// Whether the objects of a place are parts of those of the one above: as many more as there are more of these, and no
    /// larger than before.
    fn is_part_of_each(&self, part: u32, above: u32) -> bool {
        let more = |p: u32| {
            let (first, last) = ends(&self.history.places()[p as usize].held, |h| h.heads);
            last.saturating_sub(first)
        };
        let held = &self.history.places()[part as usize].held;
        let (bytes, heads) = (ends(held, |h| h.total.bytes), ends(held, |h| h.heads));
        let before = if heads.0 == 0 { f64::INFINITY } else { bytes.0 as f64 / heads.0 as f64 };
        2 * more(part) >= more(above) && bytes.1 as f64 <= 1.5 * before * heads.1 as f64
    }

    /// Whether the objects of two places hold each other in turn, as links of one chain: about as many of both, with a part of each link below.
    fn are_links(&self, place: u32, next: u32) -> bool {
        let heads = |p: u32| self.history.places()[p as usize].heads_at_last();
        let is_link = |p: u32| heads(p) <= 2 * heads(place) && self.is_part_of_each(p, place);
        let is_worth = |p: u32| 10 * self.growth(p) >= self.growth(place);
        self.multiplies(place, all_heads)
            && !self.is_spread(place)
            && !self.is_spread(next)
            && !self.is_no_object(next)
            && is_link(next)
            && self.below(next).into_iter().filter(|&p| is_worth(p)).all(is_link)
    }

    /// The places below one; those that several of them share belong there too.
    fn below(&self, place: u32) -> Vec<u32> {
        let is_shared = |&p: &u32| self.is_no_object(p);
        let (shared, mut below): (Vec<u32>, Vec<u32>) =
            self.children[place as usize].iter().copied().partition(is_shared);
        below.extend(shared.iter().flat_map(|&p| &self.children[p as usize]));
        below
    }

    /// True if many objects of a place share its growth: elements are alike, and none of them grows by itself.
    fn is_spread(&self, place: u32) -> bool {
        let largest = self.history.places()[place as usize].largest().map_or(0, |(_, bytes)| bytes);
        2 * largest as i64 <= self.growth(place)
    }

    /// Whether the elements of a single state are a few collections, which hold nearly all of it in many elements of their own.
    fn are_few_collections(&self, place: u32) -> bool {
        let at = |p: u32| &self.history.places()[p as usize];
        let heads = at(place).heads_at_last();
        if !self.at_once || heads > FEW_COLLECTIONS || !self.history.profile().collections.covers(&at(place).name) {
            return false;
        }
        let below = self.below(place);
        let many = below.iter().filter(|&&p| at(p).heads_at_last() >= 10 * heads && self.is_spread(p));
        many.map(|&p| self.growth(p)).sum::<i64>() as f64 >= self.rules.most * self.growth(place) as f64
    }

    /// Follows the growth from a place down.
    fn follow(&self, start: u32, found: &mut Vec<(u32, Elements)>, open: &mut Vec<u32>) {
        let mut place = start;
        // Threads of one name, class loaders: what stands on top may itself become more.
        if self.multiplies(place, all_heads) && self.is_spread(place) && !self.is_pool(place) {
            found.push((place, Elements::Own));
            return;
        }
        let mut above = 1;
        loop {
            let growth = self.growth(place);
            above = above.max(self.history.places()[place as usize].heads_at_last());
            let mut below = self.below(place);
            below.sort_by_key(|&p| std::cmp::Reverse(self.growth(p)));
            let own = {
                let held = &self.history.places()[place as usize].held;
                let bytes = |h: Option<&Holding>| h.map_or(0, |h| h.own.bytes as i64);
                bytes(held.last()) - bytes(held.first())
            };
            let fans: Vec<u32> = below
                .iter()
                .copied()
                .filter(|&p| self.growth(p) > 0 && self.fans_out(p, above) && self.is_spread(p))
                .collect();
            let fanned: i64 = fans.iter().map(|&p| self.growth(p)).sum::<i64>() + own.max(0);
            let best = below.first().copied().filter(|&p| self.growth(p) > 0);
            match best {
                Some(_) if fans.len() == 1 && self.are_few_collections(fans[0]) => place = fans[0],
                // Elements become more, and with them what the place needs for itself.
                Some(_) if !fans.is_empty() && fanned as f64 >= self.rules.most * growth as f64 => {
                    return found.push((place, Elements::Below(fans)));
                }
                Some(best) if self.growth(best) as f64 >= self.rules.most * growth as f64 => {
                    if self.are_links(place, best) {
                        return found.push((place, Elements::Own));
                    }
                    place = best;
                }
                _ if own as f64 >= 0.5 * growth as f64 => {
                    let elements = match self.multiplies(place, |h| h.own) {
                        true => Elements::Own,
                        false => Elements::Larger,
                    };
                    return found.push((place, elements));
                }
                _ => {
                    // Several places below grow, each for itself.
                    let several = self.growing(&below);
                    // Unless that is what each of more and more objects here has, which refer to each other.
                    let parts = several.iter().filter(|&&p| self.is_part_of_each(p, place)).count();
                    if parts > 0 && parts == several.len() && self.multiplies(place, all_heads) {
                        return found.push((place, Elements::Own));
                    }
                    let covered: i64 = several.iter().map(|&p| self.growth(p)).sum();
                    // A full cache beside what leaks makes that no smaller.
                    let filled = |&&p: &&u32| !self.once && self.course(p) == Course::Filled;
                    let filled: i64 = below.iter().filter(filled).map(|&p| self.growth(p).max(0)).sum();
                    let is_no_object = self.is_no_object(place);
                    if covered as f64 >= 0.5 * (growth - filled).max(0) as f64 || is_no_object {
                        match best.filter(|_| several.is_empty()) {
                            None if several.is_empty() => {}
                            None => return open.extend(several),
                            // None of them for itself, and what they hang on says nothing: the largest part is closest to it.
                            Some(best) if is_no_object && self.growth(best) as f64 >= 0.3 * growth as f64 => {
                                place = best;
                                continue;
                            }
                            Some(_) => {}
                        }
                    }
                    // Many small ones: the place itself is where it grows.
                    let elements = match 2 * fanned >= growth && !fans.is_empty() {
                        true => Elements::Below(fans),
                        false => Elements::Larger,
                    };
                    return found.push((place, elements));
                }
            }
        }
    }
}
