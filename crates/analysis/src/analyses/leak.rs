//! What leaks: the places where retained bytes accumulate over time, who owns them, and what they fill up with.

use super::duplicate_classes::deployed_again;
use super::looked::{Looked, MORE, filled_notes, filled_table, is_unclear, spread, worth_a_look};
use super::measures::unseen_end;
use super::paths::{rules as keep_rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, Parameter, ParameterKind, TimeWindow};
use crate::ownership::{
    Accumulation, AccumulationRules, Course, Elements, Filled, Holding, OwnerHistory, OwnerPath, PlaceOverTime,
    accumulations, ends, filled, has_elements, owner_paths,
};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{History, Source, Unit, key_of};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, Referent, RootKind, Strength, TypeId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Leak)
}

struct Leak;

impl Example {
    /// What is said after the path: the collection on it, with its elements.
    fn text(&self, grew: bool) -> String {
        let mut text = String::new();
        let of = self.path.as_ref().and_then(|path| path.filled.as_ref()).map(|filled| &filled.of);
        if let (Some(of), Some((first, last))) = (of, self.filled) {
            text.push_str(&format!("; this {of} has {} elements", count_text(last)));
            if let Some(first) = first.filter(|_| grew) {
                text.push_str(&format!(" ({} at first)", count_text(first)));
            }
        }
        if let Some((of, count)) = &self.about {
            text.push_str(&format!("; {} of them watch a {of} each", count_text(*count)));
        }
        text
    }
}

impl Analysis for Leak {
    fn describe(&self) -> Description {
        let percent = |id, title, explanation, default| Parameter {
            id,
            title,
            explanation,
            kind: ParameterKind::Number { default, least: 0, most: 100 },
        };
        let rules = AccumulationRules::default();
        Description {
            id: "leak",
            title: "What leaks",
            explanation: "Where the heap grows: the growth of retained bytes is followed down the owners (what alone \
                keeps objects alive, by static field, thread and type) to the deepest place that still holds most of it \
                and fans out into many like elements. What grew once and then stayed is told apart: it is no leak. Looks at the first and \
                last point in time and some between; of one point in time it tells what fills the heap.",
            needs: &[Need::Objects],
            parameters: vec![
                Parameter {
                    id: "times",
                    title: "Times",
                    explanation: "At how many points in time owners are found, the first and the last among them; at up \
                        to 12 where fewer leave open whether something grows on or was filled once",
                    kind: ParameterKind::Number { default: 5, least: 2, most: u64::MAX },
                },
                Parameter {
                    id: "top",
                    title: "Places",
                    explanation: "How many places are listed, those that grow most first",
                    kind: ParameterKind::Number { default: 5, least: 1, most: u64::MAX },
                },
                Parameter {
                    id: "least",
                    title: "Least growth",
                    explanation: "Bytes: places that grow by less are left out",
                    kind: ParameterKind::Number { default: rules.least_bytes, least: 0, most: u64::MAX },
                },
                Parameter {
                    id: "start",
                    title: "Start of the program",
                    explanation: "Whether a first walk of a program that ran for less than 5 s is looked at where there are two others: \
                        what a program needs to come up is no leak",
                    kind: ParameterKind::Choice { default: LEAVE_OUT, choices: &[LEAVE_OUT, "keep"] },
                },
                percent(
                    "least_share",
                    "Least share",
                    "Percent of what the heap grows: places that grow by less are left out",
                    (100.0 * rules.least_of_growth) as u64,
                ),
                percent(
                    "follow",
                    "Follow",
                    "Percent: growth is followed to the place below that has so much of it",
                    (100.0 * rules.most) as u64,
                ),
                soft_parameter(),
            ],
        }
    }

    fn follows_from(&self) -> FollowsFrom {
        FollowsFrom::HeapStates
    }

    fn run(
        &self,
        document: &Source,
        window: TimeWindow,
        arguments: &Arguments,
        progress: &Progress,
    ) -> Result<Findings> {
        let Some(heaps) = document.heaps() else { return Ok(Findings::default()) };
        let keep = keep_rules(arguments).for_owners();
        let rules = AccumulationRules {
            least_bytes: arguments.number("least"),
            least_of_growth: arguments.number("least_share") as f64 / 100.0,
            most: arguments.number("follow") as f64 / 100.0,
            ..AccumulationRules::default()
        };
        let (mut answers, mut notes) = (Vec::new(), Vec::new());
        let all = worth_a_look(document, window, arguments.word("start") != LEAVE_OUT, &mut notes);
        let most = arguments.count("times");
        let mut seen = BTreeMap::new();
        let mut looked = Looked::at(document, heaps, &spread(&all, most), keep, &mut seen, progress)?;
        let more = spread(&all, most.max(MORE));
        if more.len() > looked.times.len() && is_unclear(&looked.history, rules) {
            looked = Looked::at(document, heaps, &more, keep, &mut seen, progress)?;
        }
        drop(seen);
        notes.append(&mut looked.notes);
        let filled = if looked.times.len() > 2 { looked.filled(document, rules) } else { Vec::new() };
        notes.extend(filled_notes(&filled));
        notes.extend(unseen_end(document, window.to, progress)?.map(|(seconds, noun)| {
            format!(
                "The last walk is {seconds} s before the last {} that was recorded: whether what grew came to rest since then is not \
                 seen. Have walks taken until the end: with `attach` for as long, where the program records itself; else by recording for longer, \
                 or with a larger --walk-share.",
                noun.one()
            )
        }));
        let (times, history) = (&looked.times, &looked.history);
        let [from, to] = [times.first(), times.last()].map(|t| t.copied().unwrap_or(window.to));
        let (window, grew) = (TimeWindow { from, to }, times.len() > 1);
        let mut points = accumulations(history, rules);
        if points.len() > 1 {
            let (heap, dominators) = heaps.dominators(window.to, keep, progress)?;
            let watching: Vec<Option<String>> =
                points.iter().map(|point| watched(&heap, &dominators, history, point)).collect();
            // Where nothing else is left, it is what there is to say.
            if watching.iter().any(Option::is_none) {
                let mut of_each = watching.iter();
                points.retain(|_| of_each.next().is_none_or(Option::is_none));
                notes.extend(watching.into_iter().flatten());
            }
        }
        let listed = &points[..points.len().min(arguments.count("top"))];
        let examples = examples(heaps, window, keep, history, listed, progress)?;
        for (point, example) in listed.iter().zip(&examples) {
            answers.push(if grew { sentence(history, point) } else { filling(history, point) });
            // Of what hangs on no place of its own one way says nothing.
            let is_rest = !grew && history.places()[point.place as usize].is_shared();
            if let Some(path) = example.path.as_ref().filter(|_| !is_rest) {
                answers.push(format!("    {}{}", path.text(), example.text(grew)));
            }
        }
        if grew && !listed.is_empty() {
            let [before, now] = [window.from, window.to].map(|time| heaps.heap(time, progress));
            notes.extend(deployed_again(&*before?, &*now?));
        }
        if listed.is_empty() && !grew {
            answers.push("Nothing stands out: no place fills much of the heap with elements of its own.".to_owned());
        } else if listed.is_empty() {
            answers.push(match nothing(history) {
                0.. => "Nothing accumulates: no place grows and still does at the end.".to_owned(),
                less => {
                    format!("Nothing accumulates: the heap is {} smaller at the end.", bytes_text(less.unsigned_abs()))
                }
            });
        } else if times.len() > 2 {
            let late = listed.iter().filter(|point| point.course == Course::LastStep);
            notes.extend(late.map(|point| {
                format!(
                    "{} grew after {} alone: whether it goes on, or was filled once, a later one tells.",
                    place_text(history, point.place),
                    looked.labels(document, point.place).0
                )
            }));
        } else if times.len() == 2 {
            notes.push(
                "Two points in time cannot tell a leak from what grows once and then stays: a third one would."
                    .to_owned(),
            );
        }
        let rows = listed.iter().zip(&examples).map(|(point, example)| row(&looked, point, example, grew)).collect();
        let way = |example: &Example| example.path.as_ref().map(OwnerPath::lines).unwrap_or_default();
        let ways = examples.iter().map(way).collect();
        let left_out = Some(((points.len() - listed.len()) as u64, "places that grow".to_owned()));
        let table = ResultTable {
            header: TableHeader {
                id: "leaks".into(),
                title: if grew { "Where the heap grows".into() } else { FILLS.into() },
                columns: columns(),
                ..TableHeader::default()
            },
            rows,
            left_out,
            empty_text: "No place.".into(),
        };
        let tables = std::iter::once(table).chain(filled_table(filled)).collect();
        let title = (!grew).then(|| FILLS.to_owned());
        Ok(Findings { title, answers, tables, ways, notes, ..Findings::default() })
    }
}

/// The first walk of a program that has only just begun is not looked at.
const LEAVE_OUT: &str = "leave-out";

fn nothing(history: &OwnerHistory) -> i64 {
    history.places().first().map_or(0, |heap| heap.growth())
}

/// The title where there is one point in time.
const FILLS: &str = "What fills the heap";

/// What is shown of a place besides its name.
struct Example {
    /// How it hangs on its root, by fields where the input knows them.
    path: Option<OwnerPath>,
    /// Elements of the last collection on the path, at the first and the last time; what
    /// stood there at first is not known where the place was another then.
    filled: Option<(Option<u64>, u64)>,
    /// What most of them refer to without keeping it, and how many do: finalizers are about something.
    about: Option<(String, u64)>,
}

/// An example of each point.
fn examples(
    heaps: &History,
    window: TimeWindow,
    rules: KeepRules,
    history: &OwnerHistory,
    points: &[Accumulation],
    progress: &Progress,
) -> Result<Vec<Example>> {
    let objects = |time: usize, which: fn(&[Holding]) -> Option<&Holding>| -> Result<Vec<Option<ObjectId>>> {
        let (heap, dominators) = heaps.dominators(time, rules, progress)?;
        let largest = |place: u32| which(&history.places()[place as usize].held)?.largest.map(|(o, _)| o);
        let shared = |p: &Accumulation| history.places()[p.place as usize].is_shared();
        Ok(points.iter().map(|p| example(&heap, &dominators, p, shared(p), &largest)).collect())
    };
    let last = objects(window.to, |held| held.last())?;
    let paths = owner_paths(heaps, window.to, rules, &last, progress)?;
    let first = objects(window.from, |held| held.first())?;
    // What stands at the end of another way is another collection: how large that was says nothing.
    let then = owner_paths(heaps, window.from, rules, &first, progress)?;
    let is_like = |(then, now): (&Option<OwnerPath>, &Option<OwnerPath>)| {
        then.as_ref().zip(now.as_ref()).is_some_and(|(then, now)| then.is_like(now))
    };
    let alike: Vec<bool> = then.iter().zip(&paths).map(is_like).collect();
    let (heap, _) = heaps.dominators(window.from, rules, progress)?;
    let other = |(path, &is_like): (&Option<OwnerPath>, &bool)| {
        path.as_ref().filter(|_| !is_like).and_then(|path| same_field(&heap, path))
    };
    let others: Vec<Option<ObjectId>> = paths.iter().zip(&alike).map(other).collect();
    let of_others = filled(heaps, window.from, rules, &others, progress)?;
    let same = then.into_iter().zip(alike).zip(of_others);
    let before = same.map(|((then, is_like), other)| if is_like { then.and_then(|then| then.filled) } else { other });
    let (heap, _) = heaps.dominators(window.to, rules, progress)?;
    let example = |((path, before), o): ((Option<OwnerPath>, Option<Filled>), &Option<ObjectId>)| {
        let now = path.as_ref().and_then(|path| path.filled.clone());
        let filled = now.map(|now| (before.filter(|b| b.of == now.of).map(|b| b.elements), now.elements));
        Example { path, filled, about: o.and_then(|o| about(&heap, o)) }
    };
    Ok(paths.into_iter().zip(before).zip(&last).map(example).collect())
}

/// What the static field at the top of a path held in another state: for places that had other owners then.
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

/// An action keeps what it is to clear away by no more objects between.
const MOST_OWNERS: usize = 16;

/// So many of like objects are asked who refers to them.
const ASKED: usize = 512;

/// Of the objects of a type that the same owner has, the largest of those that the same types refer to as to most: of ids that thousands
/// of records hold, one that records hold, not a longer one beside them.
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

/// What most objects of the type of a reference object refer to without keeping it, and how many do.
fn about(heap: &HeapState, o: ObjectId) -> Option<(String, u64)> {
    let of = heap.type_of(o);
    let alike = heap.referents().all().iter().filter(|r| heap.type_of(r.from) == of);
    if heap.referents().holds(o) { most_often(heap, alike) } else { None }
}

/// The type of what most reference objects refer to, and how many do.
fn most_often<'r>(heap: &HeapState, referents: impl Iterator<Item = &'r Referent>) -> Option<(String, u64)> {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    for referent in referents {
        *types.entry(&heap.types()[heap.type_of(referent.to).0 as usize].name).or_default() += 1;
    }
    let (name, count) = types.into_iter().max_by_key(|&(name, count)| (count, Reverse(name)))?;
    Some((name.to_owned(), count))
}

/// Of cleaners and finalizers that the VM lists until what they watch is gone, all of which is alive: that is what to look at, not the list.
/// Where what they watch is alive by themselves alone, as an action that refers to what it is to clear away, it is theirs.
fn watched(heap: &HeapState, dominators: &Dominators, history: &OwnerHistory, point: &Accumulation) -> Option<String> {
    // They are the elements, or what these hang on: a cleaner has an action.
    let places = match &point.elements {
        Elements::Below(below) if below.len() == 1 => vec![below[0], point.place],
        Elements::Below(_) | Elements::Own => vec![point.place],
        Elements::Larger => return None,
    };
    let is_of_vm = |of: TypeId| {
        let name = &heap.types()[of.0 as usize].name;
        ["java.lang.ref.", "jdk.internal.ref."].iter().any(|of| name.starts_with(of))
    };
    let largest = places.into_iter().filter_map(|place| history.places()[place as usize].largest());
    let of = largest.map(|(o, _)| heap.type_of(o)).find(|&of| is_of_vm(of))?;
    let name = &heap.types()[of.0 as usize].name;
    // Those of this place alone: the program may have others, which are as they should be.
    let (holder, _) = history.places()[point.place as usize].largest()?;
    let is_element = matches!(point.elements, Elements::Own);
    let here = match if is_element { dominators.owner(holder) } else { Some(holder) } {
        Some(holder) => owned_by(heap, dominators, holder),
        None => BitSet::full(heap.object_count()),
    };
    let here = || heap.referents().all().iter().filter(|r| heap.type_of(r.from) == of && here.contains(r.from.0));
    let owners = |o: ObjectId| std::iter::successors(dominators.owner(o), |&up| dominators.owner(up)).take(MOST_OWNERS);
    let (mut all, mut alive) = (0u64, 0u64);
    for referent in here() {
        let waits = matches!(referent.strength, Strength::Phantom | Strength::Finalizer);
        all += 1;
        let by_itself = || owners(referent.to).any(|owner| owner == referent.from);
        alive += u64::from(waits && heap.is_reachable(referent.to) && !by_itself());
    }
    // The first of a list may watch nothing.
    let (about, _) = most_often(heap, here()).filter(|_| 10 * alive >= 9 * all.max(1))?;
    Some(format!(
        "{} holds {} {name} (+{}) for as long as what they watch is alive, most often {about}: they are no leak of their own.",
        place_text(history, point.place),
        count_text(all),
        bytes_text(point.bytes.1.saturating_sub(point.bytes.0)),
    ))
}

/// An object and all that it owns.
fn owned_by(heap: &HeapState, dominators: &Dominators, o: ObjectId) -> BitSet {
    let mut owned = BitSet::new(heap.object_count());
    let mut open = vec![o];
    while let Some(o) = open.pop() {
        owned.insert(o.0);
        open.extend(dominators.owned(Some(o)));
    }
    owned
}

/// Of what an object owns, the object deepest down that alone keeps most of it: the array of the list, not the list.
///
/// Ends at the first of a chain of objects of one type: which node of a list comes last says nothing.
fn most_of(heap: &HeapState, dominators: &Dominators, o: ObjectId) -> ObjectId {
    let mut at = o;
    loop {
        let next = dominators.owned(Some(at)).max_by_key(|&below| (dominators.retained(below).bytes, Reverse(below)));
        let most = |next: &ObjectId| 10 * dominators.retained(*next).bytes >= 7 * dominators.retained(at).bytes;
        let chained = |next: &ObjectId| heap.type_of(*next) == heap.type_of(at);
        match next.filter(most).filter(|next| !chained(next)) {
            Some(next) => at = next,
            None => return at,
        }
    }
}

/// The place in words: its path without the packages that everybody knows.
fn place_text(history: &OwnerHistory, place: u32) -> String {
    crate::ownership::holders::place_text(&history.path(place))
}

/// The key of a place in a timeline that is grouped by owner.
fn owner_key(history: &OwnerHistory, place: u32) -> String {
    let names = history.path(place);
    let heap = history.places().first().map(|heap| &*heap.name);
    key_of(&heap.into_iter().chain(names.iter().map(|name| &**name)).collect::<Vec<_>>())
}

/// As [`sentence`], at one point in time: what there is, not what came.
fn filling(history: &OwnerHistory, point: &Accumulation) -> String {
    let at = |place: u32| &history.places()[place as usize];
    let place = place_text(history, point.place);
    let (count, bytes) = (count_text(point.count.1), bytes_text(point.bytes.1));
    let holds = match &point.elements {
        Elements::Below(below) => {
            let kind = |p: u32| format!("{} {}", count_text(ends(&at(p).held, |h| h.heads).1), at(p).name);
            format!("holds {}", kinds(history, below, kind))
        }
        Elements::Own => format!("are {count} {}", objects_text(history, point.place)),
        Elements::Larger => "is large".to_owned(),
    };
    let share = 100.0 * point.share;
    match &point.elements {
        Elements::Below(_) if at(point.place).is_shared() => {
            let kinds = holds.trim_start_matches("holds ");
            format!("{bytes}, {share:.0} % of the heap, is {place} and hangs on no place of its own: {kinds}")
        }
        _ => format!("{place} {holds}: {bytes}, {share:.0} % of the heap"),
    }
}

fn elements_text(history: &OwnerHistory, point: &Accumulation) -> String {
    let at = |place: u32| &history.places()[place as usize];
    match &point.elements {
        Elements::Below(below) => {
            let kind = |p: u32| {
                let (first, last) = ends(&at(p).held, |h| h.heads);
                format!("{} {} ({} at first)", count_text(last), at(p).name, first_text(history, p, first))
            };
            kinds(history, below, kind)
        }
        Elements::Own | Elements::Larger => at(point.place).name.to_string(),
    }
}

/// What the objects of a place are, where many are counted.
fn objects_text(history: &OwnerHistory, place: u32) -> &'static str {
    match history.places()[place as usize].is_thread() {
        true => "threads",
        false => "objects",
    }
}

/// How many of a place there were at first; who owns them may be another than then, which is no birth.
fn first_text(history: &OwnerHistory, place: u32, first: u64) -> String {
    let name = &history.places()[place as usize].name;
    let was = |other: &PlaceOverTime| other.name == *name && ends(&other.held, |h| h.heads).0 > 0;
    match first == 0 && history.places().iter().any(was) {
        true => "elsewhere".to_owned(),
        false => count_text(first),
    }
}

/// Kinds of elements that are named in a sentence, those that grow most first.
const KINDS: usize = 4;
/// But for the first, of the growth of all of them: one in so many.
const LEAST_OF_KINDS: i64 = 20;

/// Kinds of elements in words; what is next to nothing beside the others is counted.
fn kinds(history: &OwnerHistory, below: &[u32], text: impl Fn(u32) -> String) -> String {
    let growth = |p: u32| history.places()[p as usize].growth();
    let all: i64 = below.iter().map(|&p| growth(p)).sum();
    let worth = below.iter().skip(1).take(KINDS - 1).take_while(|&&p| LEAST_OF_KINDS * growth(p) >= all).count() + 1;
    let mut kinds: Vec<String> = below.iter().take(worth).map(|&p| text(p)).collect();
    match below.len().saturating_sub(worth) {
        0 => {}
        1 => kinds.push("1 other kind".to_owned()),
        more => kinds.push(format!("{more} other kinds")),
    }
    kinds.join(", ")
}

fn sentence(history: &OwnerHistory, point: &Accumulation) -> String {
    let (before, after) = point.count;
    let grown = bytes_text(point.bytes.1.saturating_sub(point.bytes.0));
    let place = place_text(history, point.place);
    let heads = ends(&history.places()[point.place as usize].held, |h| h.heads);
    let holds = match point.elements {
        Elements::Below(_) => format!("holds {}", elements_text(history, point)),
        Elements::Own => {
            let before = first_text(history, point.place, before);
            format!("are {} {} ({before} at first)", count_text(after), objects_text(history, point.place))
        }
        Elements::Larger if heads.1 > heads.0 && heads.0 > 0 => {
            format!(
                "are {} {} ({} at first)",
                count_text(heads.1),
                objects_text(history, point.place),
                count_text(heads.0)
            )
        }
        Elements::Larger => "became larger".to_owned(),
    };
    format!("{place} {holds}: +{grown}, {:.0} % of the growth of the heap", 100.0 * point.share)
}

fn columns() -> Vec<Column> {
    let objects = CellKind::Number(Unit::Objects);
    let bytes = CellKind::Number(Unit::Bytes);
    vec![
        Column::new("place", "Place", CellKind::Text, "Who owns what grows, from the root down"),
        Column::new("elements", "Elements", CellKind::Text, "The type of what it fills up with"),
        Column::new("first", "At first", objects, "Elements at the first point in time"),
        Column::new("last", "At last", objects, "Elements at the last point in time"),
        Column::new("retained_first", "Retained at first", bytes, "What it kept alive at the first point in time"),
        Column::new("retained", "Retained", bytes, "What it keeps alive at the last point in time"),
        Column::new("growth", "Growth", CellKind::Change(Unit::Bytes), "The difference of the two"),
        Column::new("share", "Share of growth", CellKind::Percent, "Part of the growth of the whole heap"),
        Column::new(
            "entries_first",
            "Entries at first",
            objects,
            "Elements of the last collection on the path, at first",
        ),
        Column::new("entries", "Entries", objects, "Elements of the last collection on the path, at last"),
        Column::new("course", "Course", CellKind::Text, "How it grows: lasting, paused, or in the last step alone"),
        Column::new(
            "since",
            "Since",
            CellKind::Number(Unit::Count),
            "The last point in time looked at, counted from 1, at which there was no more than a twentieth of the growth",
        ),
        Column::new(
            "grown_at",
            "Grown at",
            CellKind::Number(Unit::Count),
            "The next that was looked at: there was more by then",
        ),
        Column::new("path", "Path", CellKind::Text, "From the GC root to it, by fields"),
        Column::new("owner", "Owner", CellKind::Text, "The key of the place when grouped by owner"),
    ]
}

fn row(looked: &Looked, point: &Accumulation, example: &Example, grew: bool) -> Row {
    let history = &looked.history;
    let since = looked.grows_between(point.place).filter(|_| grew);
    let time = |at: Option<usize>| at.map_or(Cell::Empty, |at| Cell::Number(at as u64 + 1));
    let entries = |count: Option<u64>| count.map_or(Cell::Empty, Cell::Number);
    let (first, last) = point.bytes;
    Row {
        cells: vec![
            Cell::Text(place_text(history, point.place)),
            Cell::Text(elements_text(history, point)),
            Cell::Number(point.count.0),
            Cell::Number(point.count.1),
            Cell::Number(first),
            Cell::Number(last),
            Cell::Change(super::change(first, last)),
            Cell::Percent(100.0 * point.share),
            entries(example.filled.and_then(|(first, _)| first)),
            entries(example.filled.map(|(_, last)| last)),
            if grew { Cell::Text(point.course.title().into()) } else { Cell::Empty },
            time(since.map(|(from, _)| from)),
            time(since.map(|(_, next)| next)),
            example.path.as_ref().map_or(Cell::Empty, |path| Cell::Text(path.text())),
            Cell::Text(owner_key(history, point.place)),
        ],
        ..Row::default()
    }
}
