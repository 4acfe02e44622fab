//! An example of each place that leaks: how it hangs on its root, and what it is filled with.

use super::leak_sibling::{GrownSibling, element_of, grown_siblings};
use super::leak_structure::StructureAtTime;
use crate::ownership::{
    Accumulation, Elements, Filled, Holding, OwnerHistory, OwnerPath, chained_elements, filled, has_elements,
    language_class, owner_paths,
};
use crate::structures::{ChangedPart, StructurePattern};
use crate::tabular::count_text;
use crate::timeline::{History, TimeWindow};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{HeapState, ObjectId, Referent, RootKind, TypeId, TypeKind};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Details of a place besides its name.
pub(super) struct Example {
    /// How it hangs on its root, by fields where the input knows them.
    pub path: Option<OwnerPath>,
    /// Elements of the last collection on the path, at the first and the last time. The first is unknown if the place was another then.
    pub filled: Option<(Option<u64>, u64)>,
    /// How the same collection grows as a data structure, where both times have it.
    pub pattern: Option<StructurePattern>,
    /// Whether it has elements that others hold too.
    pub is_shared: bool,
    /// The one of several objects of the place that has nearly all of its growth.
    pub sibling: Option<GrownSibling>,
    /// The class of its elements in their dynamic language.
    pub class: Option<String>,
    /// Elements that the objects of a chain refer to at the last time, if others hold some of them too; else 0.
    pub chained: u64,
    /// The object that most of them refer to without keeping it, and how many do: finalizers belong to an object.
    pub about: Option<(String, u64)>,
}

/// An example of each point.
pub(super) fn examples(
    heaps: &History,
    window: TimeWindow,
    rules: KeepRules,
    history: &OwnerHistory,
    points: &[Accumulation],
    progress: &Progress,
) -> Result<Vec<Example>> {
    let siblings = grown_siblings(heaps, window, rules, history, points, progress)?;
    let objects =
        |time: usize, which: fn(&[Holding]) -> Option<&Holding>, of: fn(&GrownSibling) -> Option<ObjectId>| {
            let (heap, dominators) = heaps.dominators(time, rules, progress)?;
            let largest = |place: u32| which(&history.places()[place as usize].held)?.largest.map(|(o, _)| o);
            let shared = |p: &Accumulation| history.places()[p.place as usize].is_shared();
            let example = |(p, sibling): (&Accumulation, &Option<GrownSibling>)| match sibling {
                Some(sibling) => of(sibling).map(|o| example_in(&heap, &dominators, p, o, &largest)),
                None => example(&heap, &dominators, p, shared(p), &largest),
            };
            Ok(points.iter().zip(&siblings).map(example).collect::<Vec<_>>())
        };
    let last = objects(window.to, |held| held.last(), |sibling| Some(sibling.last))?;
    let paths = owner_paths(heaps, window.to, rules, &last, progress)?;
    let first = objects(window.from, |held| held.first(), |sibling| sibling.first)?;
    // What stands at the end of another way is another collection: how large that was says nothing.
    let then = match window.from == window.to && first == last {
        true => paths.clone(),
        false => owner_paths(heaps, window.from, rules, &first, progress)?,
    };
    let is_like = |(then, now): (&Option<OwnerPath>, &Option<OwnerPath>)| {
        then.as_ref().zip(now.as_ref()).is_some_and(|(then, now)| then.is_like(now))
    };
    let alike: Vec<bool> = then.iter().zip(&paths).map(is_like).collect();
    let (heap, first_dominators) = heaps.dominators(window.from, rules, progress)?;
    let other = |(path, &is_like): (&Option<OwnerPath>, &bool)| {
        path.as_ref().filter(|_| !is_like).and_then(|path| same_field(&heap, path))
    };
    let others: Vec<Option<ObjectId>> = paths.iter().zip(&alike).map(other).collect();
    let of_others = filled(heaps, window.from, rules, &others, progress)?;
    let same = then.into_iter().zip(alike).zip(of_others);
    let before = same.map(|((then, is_like), other)| if is_like { then.and_then(|then| then.filled) } else { other });
    let now: Vec<Option<Filled>> = paths.iter().map(|path| path.as_ref()?.filled.clone()).collect();
    let is_same = |before: &Filled, now: &Option<Filled>| now.as_ref().is_some_and(|now| now.of == before.of);
    let before: Vec<Option<Filled>> =
        before.zip(&now).map(|(before, now)| before.filter(|before| is_same(before, now))).collect();
    let at_first = match window.from == window.to {
        true => vec![None; before.len()],
        false => StructureAtTime::of(&heap, &first_dominators, &before, progress)?,
    };
    drop((heap, first_dominators));
    let (heap, dominators) = heaps.dominators(window.to, rules, progress)?;
    let at_last = match at_first.iter().any(Option::is_some) {
        true => StructureAtTime::of(&heap, &dominators, &now, progress)?,
        false => vec![None; now.len()],
    };
    let patterns = std::iter::zip(at_first, at_last).map(|(first, last)| StructureAtTime::pattern([first?, last?]));
    let counts = std::iter::zip(before, now).map(|(before, now)| Some((before.map(|b| b.elements), now?.elements)));
    let mut examples: Vec<Example> = (paths.into_iter().zip(counts).zip(patterns).zip(&last))
        .map(|(((path, filled), pattern), o)| {
            let about = o.and_then(|o| about(&heap, o));
            Example { path, filled, pattern, is_shared: false, sibling: None, class: None, chained: 0, about }
        })
        .collect();
    for ((example, point), sibling) in examples.iter_mut().zip(points).zip(siblings) {
        example.sibling = sibling;
        let place = match &point.elements {
            Elements::Below(below) => below.first().copied().unwrap_or(point.place),
            Elements::Own | Elements::Larger => point.place,
        };
        let at = &history.places()[place as usize];
        // That of another object says nothing of the one that is shown.
        if sibling.is_none()
            && let Elements::Below(_) = &point.elements
            && let Some((first, _)) = history.places()[point.place as usize].largest()
            && heap.types()[heap.type_of(first).0 as usize].kind == TypeKind::Instance
            && let Some((element, _)) = at.largest()
        {
            let all = chained_elements(&heap, &dominators, first, heap.type_of(element));
            example.chained = Some(all).filter(|&all| all > at.held.last().map_or(0, |held| held.heads)).unwrap_or(0);
        }
        if let Some((element, _)) = at.largest().filter(|_| heap.profile().packages.is_of_language(&at.name))
            && let Some(values) = heaps.values(window.to, progress)?
        {
            example.class = language_class(&values, element, progress)?;
        }
    }
    Ok(examples)
}

/// The object of the static field at the top of a path in another state: for places that had other owners then.
fn same_field(heap: &HeapState, path: &OwnerPath) -> Option<ObjectId> {
    let (class, field) = (path.steps.first()?, path.steps.get(1)?.field.as_ref()?);
    let name = format!("{}.{field}", class.of.strip_prefix("class ")?);
    heap.roots().iter().find(|r| r.kind == RootKind::StaticField && *r.detail == *name).map(|r| r.object)
}

/// The object that is shown of a point. A place that several share is no object: one of the elements shows where they all are.
fn example(
    heap: &HeapState,
    dominators: &Dominators,
    point: &Accumulation,
    is_shared: bool,
    largest: &dyn Fn(u32) -> Option<ObjectId>,
) -> Option<ObjectId> {
    if let Elements::Below(below) = &point.elements
        && is_shared
    {
        return below.first().and_then(|&p| largest(p)).map(|o| typical(heap, dominators, o));
    }
    let place = largest(point.place).map(|o| most_of(heap, dominators, o));
    match &point.elements {
        Elements::Own | Elements::Larger => place,
        Elements::Below(below) => {
            // What is no collection fills by its fields: one of the elements shows which.
            let fills = |&o: &ObjectId| has_elements(heap, o);
            let element = || below.first().and_then(|&p| largest(p)).map(|o| most_of(heap, dominators, o));
            place.filter(fills).or_else(element).or(place)
        }
    }
}

/// The object that is shown of one object of a place: the collection in it, else one of its elements.
fn example_in(
    heap: &HeapState,
    dominators: &Dominators,
    point: &Accumulation,
    sibling: ObjectId,
    largest: &dyn Fn(u32) -> Option<ObjectId>,
) -> ObjectId {
    let place = most_of(heap, dominators, sibling);
    match &point.elements {
        Elements::Below(below) if !has_elements(heap, place) => {
            let kind = below.first().and_then(|&p| largest(p)).map(|o| heap.type_of(o));
            kind.and_then(|kind| element_of(heap, dominators, sibling, kind)).unwrap_or(place)
        }
        _ => place,
    }
}

impl Example {
    /// The elements of the one object with nearly all of the growth, at both times, where they are clearly fewer than those of the place.
    pub fn of_sibling(&self, count: u64) -> Option<(Option<u64>, u64)> {
        self.sibling?.elements.filter(|&(_, last)| last.saturating_add(count / FEW) < count)
    }

    /// The lines below the path: [`Example::text`], and how the collection grows.
    pub fn lines(&self, grew: bool, count: u64) -> Vec<String> {
        let pattern = self.pattern.filter(|_| self.names_collection(grew, count));
        let pattern = pattern.map(|pattern| format!("{}: {}", pattern.text(), pattern.next_step()));
        // Where the collection on the path is not the one with them.
        let of_sibling = self.of_sibling(count).filter(|(_, last)| self.filled.is_none_or(|filled| filled.1 != *last));
        let of_sibling = of_sibling.map(|(first, last)| {
            let first = first.map_or_else(String::new, |first| format!(" ({} at first)", count_text(first)));
            format!("this one keeps {} of them{first}", count_text(last))
        });
        of_sibling.into_iter().chain(self.text(grew, count)).chain(pattern).collect()
    }

    /// Whether the text names the collection on the path: not one with few of `count` elements, or as many as at first, unless these are larger.
    fn names_collection(&self, grew: bool, count: u64) -> bool {
        let is_data = self.pattern.is_some_and(|pattern| pattern.what == ChangedPart::Data);
        let tells = |(first, last): (Option<u64>, u64)| {
            grew && is_data || last.saturating_mul(FEW) >= count && !(grew && first >= Some(last))
        };
        self.chained == 0 && self.filled.is_some_and(tells)
    }

    /// The text below the path: the collection on it, with its elements.
    fn text(&self, grew: bool, count: u64) -> Option<String> {
        if self.chained > 0 {
            return Some(format!("{} elements hang on it, with those that others hold too", count_text(self.chained)));
        }
        let mut text = String::new();
        let of = self.path.as_ref().and_then(|path| path.filled.as_ref()).map(|filled| &filled.of);
        if let (Some(of), Some((first, last))) = (of, self.filled.filter(|_| self.names_collection(grew, count))) {
            text.push_str(&format!("this {of} has {} elements", count_text(last)));
            if let Some(first) = first.filter(|_| grew) {
                text.push_str(&format!(" ({} at first)", count_text(first)));
            }
            if self.is_shared {
                text.push_str(", with those that others hold too");
            }
        }
        if let Some((of, count)) = &self.about {
            let and = if text.is_empty() { "" } else { "; " };
            text.push_str(&format!("{and}{} of them watch a {of} each", count_text(*count)));
        }
        Some(text).filter(|text| !text.is_empty())
    }
}

/// A collection with less than one in so many of the elements is not the one with the elements.
const FEW: u64 = 20;

/// Most of the alike objects whose referrers are read.
const ASKED: usize = 512;

/// The typical object of a type with the same owner: the largest one among those with the most common referring types. For ids that
/// thousands of records hold, it is one that records hold, not a longer one beside them.
fn typical(heap: &HeapState, dominators: &Dominators, o: ObjectId) -> ObjectId {
    let of = heap.type_of(o);
    let like: Vec<ObjectId> =
        dominators.owned(dominators.owner(o)).filter(|&other| heap.type_of(other) == of).collect();
    let holders = |o: ObjectId| {
        let mut types: Vec<TypeId> = heap.referrers(o).iter().map(|&r| heap.type_of(r)).collect();
        types.sort_unstable();
        types.dedup();
        types
    };
    let mut by: BTreeMap<Vec<TypeId>, Vec<ObjectId>> = BTreeMap::new();
    for &one in like.iter().step_by(like.len().div_ceil(ASKED).max(1)) {
        by.entry(holders(one)).or_default().push(one);
    }
    let most = by.into_iter().max_by_key(|(types, held)| (held.len(), Reverse(types.clone())));
    let Some((_, held)) = most.filter(|(types, _)| *types != holders(o)) else { return o };
    held.into_iter().max_by_key(|&o| (dominators.retained(o).bytes, Reverse(o))).unwrap_or(o)
}

/// The object that most objects of a reference object's type refer to without keeping it, and how many do.
fn about(heap: &HeapState, o: ObjectId) -> Option<(String, u64)> {
    let of = heap.type_of(o);
    let alike = heap.referents().all().iter().filter(|r| heap.type_of(r.from) == of);
    if heap.referents().holds(o) { most_often(heap, alike) } else { None }
}

/// The most common type of referents, and its number.
pub(super) fn most_often<'r>(heap: &HeapState, referents: impl Iterator<Item = &'r Referent>) -> Option<(String, u64)> {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    for referent in referents {
        *types.entry(&heap.types()[heap.type_of(referent.to).0 as usize].name).or_default() += 1;
    }
    let (name, count) = types.into_iter().max_by_key(|&(name, count)| (count, Reverse(name)))?;
    Some((name.to_owned(), count))
}

/// So many times a type is followed by the same other one: tables in tables do so too.
const IN_TURN: usize = 2;

/// The deepest object that alone keeps most of an object's retained size: the array of the list, not the list.
///
/// Ends at the first of a chain of objects of one type, or where types come in turn again and again: which link comes last says nothing.
fn most_of(heap: &HeapState, dominators: &Dominators, o: ObjectId) -> ObjectId {
    let mut at = o;
    let mut steps: BTreeMap<(TypeId, TypeId), usize> = BTreeMap::new();
    loop {
        let next = dominators.owned(Some(at)).max_by_key(|&below| (dominators.retained(below).bytes, Reverse(below)));
        let most = |next: &ObjectId| 10 * dominators.retained(*next).bytes >= 7 * dominators.retained(at).bytes;
        let step = |next: &ObjectId| (heap.type_of(at), heap.type_of(*next));
        let chained = |next: &ObjectId| step(next).0 == step(next).1 || steps.get(&step(next)) >= Some(&IN_TURN);
        match next.filter(most).filter(|next| !chained(next)) {
            Some(next) => {
                *steps.entry(step(&next)).or_default() += 1;
                at = next;
            }
            None => return at,
        }
    }
}
