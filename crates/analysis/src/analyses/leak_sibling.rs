//! The one object of a place that gained most of its growth: of twelve queues with one name, the queue of the tenant that leaks.

use crate::ownership::{Accumulation, Elements, Holding, OwnerHistory, owner_paths};
use crate::timeline::{History, TimeWindow};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, HeapType, ObjectId, TypeId};

/// Such an object at both ends of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GrownSibling {
    /// At the first time; `None` if it came later, or only an index tells it from the others, which are not as many.
    pub first: Option<ObjectId>,
    /// It was not there at the first time.
    pub came_later: bool,
    /// At the last time.
    pub last: ObjectId,
    /// The step of its path that tells it from the others.
    pub apart: usize,
    /// The elements that it alone keeps, of the kind that grows most, at both times; the first may be unknown as `first` is.
    pub elements: Option<(Option<u64>, u64)>,
}

/// More objects of one place are not looked at one by one.
const MOST_SIBLINGS: u64 = 64;
/// More objects of one type, none owned by another of that type, are not looked at.
const MOST_ALIKE: usize = 10_000;
/// An object with more owners lies deep in a chain.
const MOST_OWNERS: usize = 1_000;
/// Share of the growth of a place that one of its objects must have.
const MOST: f64 = 0.7;
/// The same at most: with more the others shrank, or it was another object at first.
const ALL: f64 = 1.1;

/// An object of a place at one time: what tells its path from the others', and its retained bytes.
struct Sibling {
    object: ObjectId,
    /// The parts of [`OwnerPath::identity`], and their steps.
    identity: Vec<String>,
    steps: Vec<usize>,
    bytes: u64,
}

/// For each place of several objects the one with nearly all of the growth, where paths tell them apart. Costs a pass over the types of the
/// objects for each place and time, and two searches for paths.
///
/// # Errors
/// When a state cannot be loaded again, or the work was cancelled.
pub(super) fn grown_siblings(
    heaps: &History,
    window: TimeWindow,
    rules: KeepRules,
    history: &OwnerHistory,
    points: &[Accumulation],
    progress: &Progress,
) -> Result<Vec<Option<GrownSibling>>> {
    let is_asked = |point: &Accumulation| {
        let at = &history.places()[point.place as usize];
        !at.is_shared() && !at.is_thread() && (2..=MOST_SIBLINGS).contains(&at.heads_at_last())
    };
    if window.from == window.to || !points.iter().any(is_asked) {
        return Ok(vec![None; points.len()]);
    }
    let at = |time: usize, which: fn(&[Holding]) -> Option<&Holding>| -> Result<Vec<Option<Vec<Sibling>>>> {
        let (heap, dominators) = heaps.dominators(time, rules, progress)?;
        let of_point = |point: &Accumulation| {
            let held = which(&history.places()[point.place as usize].held).filter(|_| is_asked(point))?;
            siblings(&heap, &dominators, held)
        };
        let objects: Vec<Option<Vec<ObjectId>>> = points.iter().map(of_point).collect();
        let all: Vec<Option<ObjectId>> = objects.iter().flatten().flatten().copied().map(Some).collect();
        let mut paths = owner_paths(heaps, time, rules, &all, progress)?.into_iter();
        let mut sibling = |object: ObjectId| {
            let path = paths.next().flatten();
            let parts = path.as_ref().map(|path| path.identity(heap.profile())).unwrap_or_default();
            let (identity, steps) = parts.into_iter().unzip();
            Sibling { object, identity, steps, bytes: dominators.retained(object).bytes }
        };
        Ok(objects.into_iter().map(|of| Some(of?.into_iter().map(&mut sibling).collect())).collect())
    };
    let (first, last) = (at(window.from, |held| held.first())?, at(window.to, |held| held.last())?);
    let grown = |at: usize| grown(&points[at], first[at].as_ref()?, last[at].as_ref()?);
    let mut found: Vec<Option<GrownSibling>> = (0..points.len()).map(grown).collect();
    for (found, point) in found.iter_mut().zip(points) {
        let Some(found) = found else { continue };
        let count = |time: usize, o: ObjectId| -> Result<u64> {
            let (heap, dominators) = heaps.dominators(time, rules, progress)?;
            let kinds: &[u32] = match &point.elements {
                Elements::Below(below) => below,
                Elements::Own | Elements::Larger => std::slice::from_ref(&point.place),
            };
            let names: Vec<&str> = kinds.iter().map(|&p| &*history.places()[p as usize].name).collect();
            kept_of_kind(&heap, &dominators, o, &names, progress)
        };
        let last = count(window.to, found.last)?;
        let first = found.first.map(|first| count(window.from, first)).transpose()?;
        // One that came later had none.
        let first = if found.came_later { Some(0) } else { first };
        found.elements = Some((first, last)).filter(|_| last > 0 && point.elements != Elements::Larger);
    }
    Ok(found)
}

/// The objects of a place by one of them, the largest: those of its type with the same types above. `None` where they are too many, deep in
/// chains, or not as many as the place has.
fn siblings(heap: &HeapState, dominators: &Dominators, held: &Holding) -> Option<Vec<ObjectId>> {
    if held.heads == 0 {
        return Some(Vec::new());
    }
    let (largest, _) = held.largest.filter(|_| held.heads <= MOST_SIBLINGS)?;
    let of = heap.type_of(largest);
    let is_top = |o: &ObjectId| {
        heap.type_of(*o) == of
            && dominators.is_reached(*o)
            && dominators.owner(*o).is_none_or(|owner| heap.type_of(owner) != of)
    };
    let alike: Vec<ObjectId> = heap.objects().filter(is_top).take(MOST_ALIKE + 1).collect();
    let above = types_above(heap, dominators, largest).filter(|_| alike.len() <= MOST_ALIKE)?;
    let is_alike = |o: &ObjectId| types_above(heap, dominators, *o).as_ref() == Some(&above);
    let found: Vec<ObjectId> = alike.into_iter().filter(is_alike).collect();
    (found.len() as u64 == held.heads).then_some(found)
}

/// The types of the owners of an object, from its own owner up; those of a chain once. `None` with too many owners.
fn types_above(heap: &HeapState, dominators: &Dominators, o: ObjectId) -> Option<Vec<TypeId>> {
    let owners = std::iter::successors(dominators.owner(o), |&o| dominators.owner(o)).take(MOST_OWNERS);
    let mut types: Vec<TypeId> = owners.map(|o| heap.type_of(o)).collect();
    let is_whole = types.len() < MOST_OWNERS;
    types.dedup();
    is_whole.then_some(types)
}

/// The one of the last that grew most, if it has nearly all of the growth. None where paths do not tell them apart.
fn grown(point: &Accumulation, first: &[Sibling], last: &[Sibling]) -> Option<GrownSibling> {
    let is_apart = |all: &[Sibling]| {
        let mut paths: Vec<&[String]> = all.iter().map(|one| &*one.identity).collect();
        paths.sort_unstable();
        paths.windows(2).all(|pair| pair[0] != pair[1]) && paths.iter().all(|path| !path.is_empty())
    };
    if last.len() < 2 || !is_apart(first) || !is_apart(last) {
        return None;
    }
    let before = |one: &Sibling| first.iter().find(|before| before.identity == one.identity);
    let new = last.iter().filter(|one| before(one).is_none()).count();
    // Where as many have new names, the names say nothing.
    if new > last.len().saturating_sub(first.len()) {
        return None;
    }
    let common = |one: &Sibling, other: &Sibling| {
        std::iter::zip(&one.identity, &other.identity).take_while(|(one, other)| one == other).count()
    };
    let gained = |one: &&Sibling| one.bytes as i64 - before(one).map_or(0, |before| before.bytes as i64);
    let most = last.iter().max_by_key(gained)?;
    let growth = point.bytes.1 as f64 - point.bytes.0 as f64;
    let share = gained(&most) as f64 / growth;
    let others = last.iter().filter(|other| other.object != most.object);
    let apart = others.map(|other| common(most, other)).max().unwrap_or(0);
    let is_index = most.identity.get(apart).is_some_and(|part| part.starts_with('['));
    // Objects that lie in one array are its elements.
    if is_index && apart + 1 == most.identity.len() {
        return None;
    }
    // Where some came or went, an index may be that of another object at first.
    let is_index = is_index && first.len() != last.len();
    (growth > 0.0 && (MOST..=ALL).contains(&share)).then(|| GrownSibling {
        first: before(most).filter(|_| !is_index).map(|before| before.object),
        came_later: before(most).is_none(),
        last: most.object,
        apart: most.steps.get(apart).copied().unwrap_or(0),
        elements: None,
    })
}

/// How many objects of the first of some kinds an object alone keeps, itself among them, not counting what the kinds hold themselves.
fn kept_of_kind(
    heap: &HeapState,
    dominators: &Dominators,
    o: ObjectId,
    kinds: &[&str],
    progress: &Progress,
) -> Result<u64> {
    const CHECKED: u64 = 1 << 20;
    let stable = |of: &HeapType| kinds.iter().position(|kind| *kind == heap.profile().names.stable(&of.name));
    let kind_of: Vec<Option<usize>> = heap.types().iter().map(stable).collect();
    let mut open = vec![o];
    let (mut count, mut seen) = (0, 0u64);
    while let Some(at) = open.pop() {
        seen += 1;
        if seen.is_multiple_of(CHECKED) {
            progress.check()?;
        }
        let kind = kind_of[heap.type_of(at).0 as usize];
        count += u64::from(kind == Some(0));
        // Links of a chain hold each other.
        if at == o || kind.is_none() || kinds.len() == 1 && heap.type_of(at) == heap.type_of(o) {
            open.extend(dominators.owned(Some(at)));
        }
    }
    Ok(count)
}

/// The nearest object of a type that an object alone keeps, below the largest object at each level.
pub(super) fn element_of(heap: &HeapState, dominators: &Dominators, o: ObjectId, of: TypeId) -> Option<ObjectId> {
    const DEEPEST: usize = 1_000;
    let mut at = o;
    for _ in 0..DEEPEST {
        let next = dominators.owned(Some(at)).next()?;
        if let Some(found) = dominators.owned(Some(at)).find(|&below| heap.type_of(below) == of) {
            return Some(found);
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ownership::Course;

    fn sibling(path: &[&str], bytes: u64) -> Sibling {
        let identity = path.iter().map(|&part| part.to_owned()).collect();
        Sibling { object: ObjectId(bytes as u32), identity, steps: (1..=path.len()).collect(), bytes }
    }

    #[test]
    fn the_sibling_with_nearly_all_of_the_growth_is_found_by_its_path() {
        let point = |growth: u64| Accumulation {
            place: 1,
            elements: Elements::Own,
            count: (0, 0),
            bytes: (1000, 1000 + growth),
            share: 1.0,
            course: Course::Lasting,
        };
        let first = [sibling(&["users"], 800), sibling(&["pages"], 200)];
        let last = [sibling(&["users"], 810), sibling(&["pages"], 700)];
        let found = grown(&point(510), &first, &last).expect("one grew");
        assert_eq!((found.first, found.last), (Some(ObjectId(200)), ObjectId(700)), "the largest one did not grow");
        assert_eq!(found.apart, 1);
        // Both grew; it came later; names that say nothing; names that changed.
        let both = [sibling(&["users"], 1100), sibling(&["pages"], 500)];
        assert_eq!(grown(&point(600), &first, &both), None);
        let new = [sibling(&["users"], 800), sibling(&["pages"], 200), sibling(&["jobs"], 600)];
        assert_eq!(grown(&point(600), &first, &new).map(|found| found.first), Some(None));
        let unnamed = [sibling(&["next"], 800), sibling(&["next"], 900)];
        assert_eq!(grown(&point(900), &first, &unnamed), None);
        // By an index: of the same objects, of others perhaps, of elements.
        let before = [sibling(&["[0]", "jobs"], 800), sibling(&["[1]", "jobs"], 200)];
        let after = [sibling(&["[0]", "jobs"], 800), sibling(&["[1]", "jobs"], 700), sibling(&["[2]", "jobs"], 90)];
        let of = |after: &[Sibling]| grown(&point(500), &before, after).map(|found| (found.first, found.came_later));
        assert_eq!(of(&after[..2]), Some((Some(ObjectId(200)), false)));
        assert_eq!(of(&after), Some((None, false)));
        let elements = [sibling(&["[0]"], 800), sibling(&["[1]"], 200)];
        assert_eq!(grown(&point(500), &elements, &[sibling(&["[0]"], 800), sibling(&["[1]"], 700)]), None);
        let renamed = [sibling(&["[3]"], 800), sibling(&["[9]"], 900)];
        assert_eq!(grown(&point(700), &first, &renamed), None);
    }
}
