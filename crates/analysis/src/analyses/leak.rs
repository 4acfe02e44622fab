//! Analysis `leak`: the places where retained bytes accumulate over time, their owners, and their elements.

use super::backlog::backlog;
use super::duplicate_classes::deployed_again;
use super::leak_headline::{self, HeadlineName};
use super::leak_verdict::{HEADLINE, LeakVerdict, VerdictKind, heap_text, percent_text, still_rises};
use super::measures::unseen_end;
use super::owner_times::{MORE, OwnerTimes, filled_notes, filled_table, is_unclear, spread, worth_a_look};
use super::paths::{rules as keep_rules, soft_parameter};
use super::{Analysis, Arguments, Description, Findings, FollowsFrom, Need, Parameter, ParameterKind, TimeWindow};
use crate::ownership::{
    Accumulation, AccumulationRules, Course, Doubt, Elements, Filled, Holding, OwnerHistory, OwnerPath, PlaceOverTime,
    accumulations, chained_elements, doubt, ends, filled, filled_once, has_elements, language_class, owner_paths,
    suspects,
};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{History, Source, Unit, key_of};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::{Dominators, KeepRules};
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, Profile, Referent, RootKind, Strength, TypeId, TypeKind};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Leak)
}

struct Leak;

impl Example {
    /// The text below the path: the collection on it, with its elements.
    fn text(&self, grew: bool) -> Option<String> {
        if self.chained > 0 {
            return Some(format!("{} elements hang on it, with those that others hold too", count_text(self.chained)));
        }
        let mut text = String::new();
        let of = self.path.as_ref().and_then(|path| path.filled.as_ref()).map(|filled| &filled.of);
        if let (Some(of), Some((first, last))) = (of, self.filled) {
            text.push_str(&format!("this {of} has {} elements", count_text(last)));
            if let Some(first) = first.filter(|_| grew) {
                text.push_str(&format!(" ({} at first)", count_text(first)));
            }
        }
        if let Some((of, count)) = &self.about {
            let and = if text.is_empty() { "" } else { "; " };
            text.push_str(&format!("{and}{} of them watch a {of} each", count_text(*count)));
        }
        Some(text).filter(|text| !text.is_empty())
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
        let mut looked = OwnerTimes::at(document, heaps, &spread(&all, most), keep, &mut seen, progress)?;
        let more = spread(&all, most.max(MORE));
        if more.len() > looked.times.len() && is_unclear(&looked.history, rules) {
            looked = OwnerTimes::at(document, heaps, &more, keep, &mut seen, progress)?;
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
        let found: Vec<u32> = points.iter().map(|point| point.place).collect();
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
        let backlog = backlog(heaps, window, history, progress)?;
        if let Some(backlog) = &backlog {
            points.iter_mut().for_each(|point| point.share = backlog.share_of(point.bytes, grew));
        }
        if grew {
            points.sort_by_key(|point| doubt(history, point).is_some());
        }
        let listed = &points[..points.len().min(arguments.count("top"))];
        let examples = examples(heaps, window, keep, history, listed, progress)?;
        answers.extend(backlog.as_ref().map(|backlog| backlog.sentence(grew)));
        for (point, example) in listed.iter().zip(&examples) {
            answers.push(if grew { sentence(history, point) } else { filling(history, point) });
            // Of what hangs on no place of its own one way says nothing.
            let is_rest = !grew && history.places()[point.place as usize].is_shared();
            if let Some(path) = example.path.as_ref().filter(|_| !is_rest) {
                let lines = way_lines(path, history.profile(), answers.len() > FEW_LINES);
                answers.extend(lines.into_iter().map(|line| format!("    {line}")));
                if let Some(text) = example.text(grew) {
                    answers.push(format!("    {text}"));
                }
            }
        }
        if grew && !listed.is_empty() {
            let [before, now] = [window.from, window.to].map(|time| heaps.heap(time, progress));
            notes.extend(deployed_again(&*before?, &*now?));
        }
        let once: Vec<u32> = if times.len() > 2 && grew { once(history, rules) } else { Vec::new() };
        let aside = found.iter().copied().chain(once).collect::<Vec<u32>>();
        let mut verdict = verdict(history, &points, listed, &examples, &aside, grew);
        if let Some(backlog) = &backlog {
            verdict.kind = if grew { VerdictKind::Leak } else { VerdictKind::Fills };
            verdict.headline = backlog.headline(grew);
        } else if listed.is_empty() {
            answers.push(format!("{}.", verdict.headline));
        }
        // Of an input that cannot be judged nothing is said to be well.
        let reasons = super::unjudged(&document.warnings());
        if verdict.kind == VerdictKind::Ok && !reasons.is_empty() {
            verdict.kind = VerdictKind::Unknown;
            verdict.headline.push_str(", as far as it can be judged");
        }
        verdict.caveats.extend(reasons);
        if grew && (backlog.is_some() || !listed.is_empty()) {
            notes.extend(rest_text(history, &points, &aside));
        }
        if !listed.is_empty() && times.len() > 2 {
            let late = listed.iter().filter(|point| point.course == Course::LastStep);
            notes.extend(late.map(|point| {
                format!(
                    "{} grew after {} alone: whether it goes on, or was filled once, a later one tells.",
                    place_text(history, point.place),
                    looked.labels(document, point.place).0
                )
            }));
        } else if times.len() == 2 && !listed.is_empty() {
            notes.push(
                "Two points in time cannot tell a leak from what grows once and then stays: a third one would."
                    .to_owned(),
            );
        }
        let little = listed.iter().filter(|point| grew && doubt(history, point) == Some(Doubt::Little));
        notes.extend(little.map(|point| {
            format!(
                "{} grew by little of the heap, at {} points in time: a cache that was emptied and fills again looks alike. More of them tell.",
                place_text(history, point.place),
                times.len()
            )
        }));
        let rows = listed.iter().zip(&examples).map(|(point, example)| row(&looked, point, example, grew));
        let of_backlog = backlog.iter().map(|backlog| Row { cells: backlog.cells(columns().len()), ..Row::default() });
        let rows = of_backlog.chain(rows).collect();
        let way = |example: &Example| example.path.as_ref().map(OwnerPath::lines).unwrap_or_default();
        let ways = backlog.iter().map(|_| Vec::new()).chain(examples.iter().map(way)).collect();
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
        Ok(Findings { title, answers, tables, ways, notes, verdict: Some(verdict), ..Findings::default() })
    }
}

/// Leaves out the first walk of a program that has only just begun.
const LEAVE_OUT: &str = "leave-out";

/// Lines of answers after which the way to one more place is one line: who lists everything has named nothing.
const FEW_LINES: usize = 20;

/// Steps of a way at its start and at its end. A chain of thousands is named by these.
const STEPS: usize = 8;

/// The way to a place: a line for each step, or all in one. The middle of a long way is a line with the number of its steps.
fn way_lines(path: &OwnerPath, profile: &Profile, in_one: bool) -> Vec<String> {
    if in_one {
        return vec![path.text()];
    }
    let mut lines = path.short_lines(profile);
    if lines.len() > 2 * STEPS + 1 {
        let middle = STEPS..lines.len() - STEPS;
        let left_out = format!("... {} more steps", middle.len());
        lines.splice(middle, [left_out]);
    }
    lines
}

/// The places that were filled once.
fn once(history: &OwnerHistory, rules: AccumulationRules) -> Vec<u32> {
    filled_once(history, rules).iter().map(|point| point.place).collect()
}

/// Of the growth of the heap; less that the listed places have leaves a rest that is worth a line.
const EXPLAINED: f64 = 0.8;
/// Places that are named as the largest of a rest.
const SUSPECTS: usize = 3;

/// Bytes that all roots reach at the first and the last point in time.
fn heap_bytes(history: &OwnerHistory) -> (u64, u64) {
    history.places().first().map_or((0, 0), |heap| ends(&heap.held, |h| h.total.bytes))
}

/// Bytes that places grew by; a place below another one that is named too counts once.
fn explained(history: &OwnerHistory, places: &[u32]) -> u64 {
    history.outermost(places).map(|p| history.places()[p as usize].growth().max(0) as u64).sum()
}

/// The `most` largest places of the growth that others do not explain, in words: those that may grow on, or else any, if `any`.
fn largest_text(history: &OwnerHistory, known: &[u32], any: bool, most: usize) -> Option<String> {
    let all = suspects(history, known);
    let may_leak = |place: u32| history.course(place, AccumulationRules::default().later).may_leak();
    let growing: Vec<(u32, u64)> = all.iter().copied().filter(|&(place, _)| may_leak(place)).collect();
    let found = if growing.is_empty() && any { all } else { growing };
    let text = |&(place, bytes): &(u32, u64)| {
        format!("{} (+{})", HeadlineName::of(&history.path(place), None, history.profile()).text(), bytes_text(bytes))
    };
    (!found.is_empty()).then(|| found.iter().take(most).map(text).collect::<Vec<_>>().join(", "))
}

/// How much of the growth the listed places do not have, where that is worth a line.
fn rest_text(history: &OwnerHistory, points: &[Accumulation], aside: &[u32]) -> Option<String> {
    let (first, last) = heap_bytes(history);
    let grown = last.checked_sub(first).filter(|&grown| grown > 0)?;
    let of_points = explained(history, &points.iter().map(|point| point.place).collect::<Vec<_>>());
    let rest = grown.checked_sub(of_points).filter(|_| (of_points as f64) < EXPLAINED * grown as f64)?;
    let share = 100.0 * rest as f64 / grown as f64;
    let largest = match largest_text(history, aside, false, SUSPECTS) {
        Some(largest) => format!("the largest parts of the rest: {largest}"),
        None => "it was filled once, comes and goes, or is in many small places".to_owned(),
    };
    Some(format!("{share:.0} % of the heap's growth (+{}) is not in these places: {largest}.", bytes_text(rest)))
}

/// The verdict. `aside` are known places that explain growth: those found, and those filled once.
fn verdict(
    history: &OwnerHistory,
    points: &[Accumulation],
    listed: &[Accumulation],
    examples: &[Example],
    aside: &[u32],
    grew: bool,
) -> LeakVerdict {
    let heap = heap_bytes(history);
    let explained = explained(history, &points.iter().map(|point| point.place).collect::<Vec<_>>());
    let of = |kind, headline| LeakVerdict { kind, headline, heap, explained, caveats: Vec::new() };
    if let (Some(point), Some(example)) = (listed.first(), examples.first()) {
        let kind = match doubt(history, point) {
            _ if !grew => VerdictKind::Fills,
            Some(_) => VerdictKind::Grows,
            None => VerdictKind::Leak,
        };
        return of(kind, headline(history, point, example, points.len() - 1, grew));
    }
    if !grew {
        let nothing = "Nothing stands out: no place fills much of the heap with elements of its own";
        return of(VerdictKind::Fills, nothing.to_owned());
    }
    let grown = bytes_text(heap.1.saturating_sub(heap.0));
    if still_rises(history, aside) {
        let line = |most: usize| {
            let largest = match largest_text(history, aside, true, most) {
                Some(largest) => format!("the largest: {largest}"),
                None => "it is in many small places".to_owned(),
            };
            format!("The heap grew by {grown} ({}). No single owner explains it; {largest}", percent_text(heap))
        };
        let fits = |line: &String| line.chars().count() <= HEADLINE;
        let headline = (1..=SUSPECTS).rev().map(line).find(fits).unwrap_or_else(|| line(1));
        return of(VerdictKind::Grows, headline);
    }
    let is_more = heap.1 as f64 > 1.1 * heap.0 as f64;
    let course = match history.course(0, AccumulationRules::default().later) {
        _ if heap.1 < heap.0 => format!(", {} smaller at the end", bytes_text(heap.0 - heap.1)),
        Course::Filled if is_more => ", and has stayed there since".to_owned(),
        _ if is_more && self::explained(history, aside) * 2 > heap.1 - heap.0 => {
            ", most of it in places that were filled once".to_owned()
        }
        _ if is_more => ", most of it early, or coming and going".to_owned(),
        _ => String::new(),
    };
    of(VerdictKind::Ok, format!("Nothing accumulates: the heap went {}{course}", heap_text(heap)))
}

/// Share of the bytes of a place; a collection with as much gives it its name.
const MOST_OF_PLACE: f64 = 0.8;

/// The first line about a place.
fn headline(history: &OwnerHistory, point: &Accumulation, example: &Example, more: usize, grew: bool) -> String {
    let at = &history.places()[point.place as usize];
    let is_rest = !grew && at.is_shared();
    // Of several collections of one place, one is no name for all, unless it has most of it.
    let is_most =
        |held: &Holding| held.largest.is_some_and(|(_, bytes)| bytes as f64 >= MOST_OF_PLACE * held.total.bytes as f64);
    let is_one = at.held.last().is_some_and(|held| held.heads <= 1 || is_most(held));
    let path =
        example.path.clone().filter(|_| !is_rest).map(|path| if is_one { path } else { path.without_last_key() });
    let (own, last_heads) = at.held.last().map_or((0, 0), |held| (held.own.objects, held.heads));
    // Where the elements are the objects themselves, those that one of them refers to are few; but they have the name if nothing above has.
    let cut = |path: &OwnerPath| Some(path.clone().up_to(&at.name, None, true)).filter(|path| path.steps.len() > 1);
    let is_few = point.elements == Elements::Own && example.filled.is_none_or(|(_, elements)| elements <= own);
    let to_own = path.as_ref().filter(|_| is_few).and_then(cut);
    let are_own = to_own.is_some();
    let path = to_own.or(path).map(|path| match &point.elements {
        Elements::Below(below) => {
            let first = below.first().map(|&p| &history.places()[p as usize]);
            // What hangs on each of the elements that a collection has more of, has more in the collection.
            let heads = first.map_or((0, 0), |first| ends(&first.held, |h| h.heads));
            let path = match grown(example) {
                Some(grown) if grown > 0 && grown * 2 >= heads.1.saturating_sub(heads.0) => path.up_to_filled(&at.name),
                _ => path,
            };
            // A chain has a link for each element: the field of a link says nothing, nor does that of one place among many.
            let with_element = last_heads <= 1 && own * 2 < point.count.1;
            if at.is_shared() { path } else { path.up_to(&at.name, first.map(|first| &*first.name), with_element) }
        }
        _ => path,
    });
    let names = history.path(point.place);
    // Of several holders the way of one says nothing, where what it leads through has no more elements than before.
    let name = match HeadlineName::of_sharers(&names).filter(|_| grown(example) == Some(0)) {
        Some(name) => name,
        None => HeadlineName::of(&names, path.as_ref(), history.profile()),
    };
    let (kind, count) = match &point.elements {
        Elements::Below(below) => {
            let first = below.first().map(|&p| &history.places()[p as usize]);
            let count = first.map_or(0, |place| ends(&place.held, |h| h.heads).1);
            (first.map_or_else(|| Arc::clone(&at.name), |place| Arc::clone(&place.name)), count)
        }
        Elements::Own | Elements::Larger => (Arc::clone(&at.name), point.count.1),
    };
    let kind = example.class.as_deref().unwrap_or(&kind);
    // What a place holds of its own may be one constant, referred to many times.
    let filled = example.filled.filter(|_| is_one && !at.is_thread()).map(|(_, last)| last);
    // Elements that others hold too are no heads of a place, but are in the collection.
    let count = match (&point.elements, filled) {
        (Elements::Below(_), Some(elements)) if is_own_collection(example, at) => count.max(elements),
        (Elements::Below(_), _) if is_one && !at.is_thread() => count.max(example.chained),
        _ => count,
    };
    let elements = match (&point.elements, filled) {
        (Elements::Own | Elements::Larger, Some(elements)) if elements > 1 && !are_own => {
            format!("{} elements", count_text(elements))
        }
        _ => leak_headline::elements_text(&point.elements, kind, count, at.is_thread()),
    };
    let (first, last) = point.bytes;
    let amount = match grew {
        true => {
            let grown = last.saturating_sub(first);
            let of = if is_of_growth(history, grown) { "the heap's growth" } else { "all that grew" };
            let doubt = doubt(history, point).map_or_else(String::new, |doubt| format!("; {}", doubt.text()));
            format!("+{}, {:.0} % of {of}{doubt}", bytes_text(grown), 100.0 * point.share)
        }
        false => format!("{}, {:.0} % of the heap", bytes_text(last), 100.0 * point.share),
    };
    leak_headline::line(&name, &elements, &amount, more)
}

/// How many elements more the collection on the path has than at first, where it is known to be the same.
fn grown(example: &Example) -> Option<u64> {
    example.filled.and_then(|(first, last)| Some(last.saturating_sub(first?)))
}

/// Whether the collection with elements on the path is what the place is named after.
fn is_own_collection(example: &Example, at: &PlaceOverTime) -> bool {
    example.path.as_ref().and_then(|path| path.filled.as_ref()).is_some_and(|filled| *filled.of == *at.name)
}

/// Whether a part of so many bytes is one of the heap's growth. Where other places shrank by as much, it is one of what grew.
fn is_of_growth(history: &OwnerHistory, bytes: u64) -> bool {
    let (first, last) = heap_bytes(history);
    bytes <= last.saturating_sub(first).saturating_mul(2)
}

/// The title where there is one point in time.
const FILLS: &str = "What fills the heap";

/// Details of a place besides its name.
struct Example {
    /// How it hangs on its root, by fields where the input knows them.
    path: Option<OwnerPath>,
    /// Elements of the last collection on the path, at the first and the last time. The first is unknown if the place was another then.
    filled: Option<(Option<u64>, u64)>,
    /// The class of its elements in their dynamic language.
    class: Option<String>,
    /// Elements that the objects of a chain refer to at the last time, if others hold some of them too; else 0.
    chained: u64,
    /// The object that most of them refer to without keeping it, and how many do: finalizers belong to an object.
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
    let then = match window.from == window.to && first == last {
        true => paths.clone(),
        false => owner_paths(heaps, window.from, rules, &first, progress)?,
    };
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
    let (heap, dominators) = heaps.dominators(window.to, rules, progress)?;
    let example = |((path, before), o): ((Option<OwnerPath>, Option<Filled>), &Option<ObjectId>)| {
        let now = path.as_ref().and_then(|path| path.filled.clone());
        let filled = now.map(|now| (before.filter(|b| b.of == now.of).map(|b| b.elements), now.elements));
        Example { path, filled, class: None, chained: 0, about: o.and_then(|o| about(&heap, o)) }
    };
    let mut examples: Vec<Example> = paths.into_iter().zip(before).zip(&last).map(example).collect();
    for (example, point) in examples.iter_mut().zip(points) {
        let place = match &point.elements {
            Elements::Below(below) => below.first().copied().unwrap_or(point.place),
            Elements::Own | Elements::Larger => point.place,
        };
        let at = &history.places()[place as usize];
        if let Elements::Below(_) = &point.elements
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

/// Most objects between an action and the object it is to clear away.
const MOST_OWNERS: usize = 16;

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
fn most_often<'r>(heap: &HeapState, referents: impl Iterator<Item = &'r Referent>) -> Option<(String, u64)> {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    for referent in referents {
        *types.entry(&heap.types()[heap.type_of(referent.to).0 as usize].name).or_default() += 1;
    }
    let (name, count) = types.into_iter().max_by_key(|&(name, count)| (count, Reverse(name)))?;
    Some((name.to_owned(), count))
}

/// The objects watched by cleaners and finalizers that are all alive: the VM lists these until the watched object is gone, so the watched
/// objects matter, not the list. Objects kept by the watchers alone, such as an action that refers to the object it clears away, belong to
/// the watchers.
fn watched(heap: &HeapState, dominators: &Dominators, history: &OwnerHistory, point: &Accumulation) -> Option<String> {
    // They are the elements, or what these hang on: a cleaner has an action.
    let places = match &point.elements {
        Elements::Below(below) if below.len() == 1 => vec![below[0], point.place],
        Elements::Below(_) | Elements::Own => vec![point.place],
        Elements::Larger => return None,
    };
    let is_of_vm = |of: TypeId| {
        let name = &heap.types()[of.0 as usize].name;
        let known = &heap.profile().types;
        known.references.iter().chain(known.cleaners).any(|of| name.starts_with(of))
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

/// The deepest object that alone keeps most of an object's retained size: the array of the list, not the list.
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

/// As [`sentence`], at one point in time: the amount there is, without growth.
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

/// The noun for the objects of a place.
fn objects_text(history: &OwnerHistory, place: u32) -> &'static str {
    match history.places()[place as usize].is_thread() {
        true => "threads",
        false => "objects",
    }
}

/// The number of a place's objects at first. Their owner may have changed since, which is no birth.
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
/// Least share of the whole growth for further kinds: one in this many.
const LEAST_OF_KINDS: i64 = 20;

/// Kinds of elements in words; kinds with next to no growth are counted.
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
    let bytes = point.bytes.1.saturating_sub(point.bytes.0);
    let of = if is_of_growth(history, bytes) { "the growth of the heap" } else { "all that grew" };
    format!("{place} {holds}: +{}, {:.0} % of {of}", bytes_text(bytes), 100.0 * point.share)
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

fn row(looked: &OwnerTimes, point: &Accumulation, example: &Example, grew: bool) -> Row {
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
