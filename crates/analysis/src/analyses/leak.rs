//! Analysis `leak`: the places where retained bytes accumulate over time, their owners, and their elements.

use super::backlog::backlog;
use super::duplicate_classes::deployed_again;
use super::finding::{Certainty, Finding, FoundPlace, NextStep};
use super::leak_example::{Example, examples, most_often};
use super::leak_headline::{self, HeadlineName};
use super::leak_sentence::{elements_text, filling, heap_bytes, is_of_growth, owner_key, place_text, sentence};
use super::leak_verdict::{HEADLINE, LeakVerdict, VerdictKind, heap_text, percent_text, still_rises};
use super::measures::unseen_end;
use super::owner_times::{
    MORE, OwnerTimes, falls, filled_notes, filled_table, is_unclear, rises_each_time, spread, worth_a_look,
};
use super::paths::{rules as keep_rules, soft_parameter};
use super::{
    Analysis, Arguments, Description, Detector, DetectorRank, DetectorText, Findings, FollowsFrom, Need, Parameter,
    ParameterKind, TimeWindow,
};
use crate::ownership::{
    Accumulation, AccumulationRules, Course, Doubt, Elements, Holding, OwnerHistory, OwnerPath, PlaceOverTime,
    accumulations, doubt, ends, filled_once, suspects,
};
use crate::tabular::{Cell, CellKind, Column, ResultTable, Row, TableHeader, bytes_text, count_text};
use crate::timeline::{Source, Unit};
use memory_city_heap::error::Result;
use memory_city_heap::ownership::Dominators;
use memory_city_heap::progress::Progress;
use memory_city_heap::{BitSet, HeapState, ObjectId, Profile, Strength, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn analysis() -> Box<dyn Analysis> {
    Box::new(Leak)
}

struct Leak;

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
        let mut notes = Vec::new();
        let all = worth_a_look(document, window, arguments.word("start") != LEAVE_OUT, &mut notes);
        let most = arguments.count("times");
        let mut seen = BTreeMap::new();
        let mut looked = OwnerTimes::at(document, heaps, &spread(&all, most), keep, &mut seen, progress)?;
        let more = spread(&all, most.max(MORE));
        let may_be_a_tooth = || falls(document, &all) && !accumulations(&looked.history, rules).is_empty();
        if more.len() > looked.times.len() && (may_be_a_tooth() || is_unclear(&looked.history, rules)) {
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
        let mut details: Vec<Vec<String>> = backlog.iter().map(|backlog| vec![backlog.sentence(grew)]).collect();
        let mut lines = details.len();
        for (point, example) in listed.iter().zip(&examples) {
            let mut told = vec![if grew { sentence(history, point) } else { filling(history, point) }];
            // Of what hangs on no place of its own one way says nothing.
            let is_rest = !grew && history.places()[point.place as usize].is_shared();
            if let Some(path) = example.path.as_ref().filter(|_| !is_rest) {
                let way = way_lines(path, history.profile(), lines + 1 > FEW_LINES);
                told.extend(way.into_iter().chain(example.text(grew)).map(|line| format!("    {line}")));
            }
            lines += told.len();
            details.push(told);
        }
        if grew && !listed.is_empty() {
            let [before, now] = [window.from, window.to].map(|time| heaps.heap(time, progress));
            notes.extend(deployed_again(&*before?, &*now?));
        }
        let once: Vec<u32> = if times.len() > 2 && grew { once(history, rules) } else { Vec::new() };
        let aside = found.iter().copied().chain(once).collect::<Vec<u32>>();
        let rows = listed.iter().zip(&examples).map(|(point, example)| row(&looked, point, example, grew));
        let of_backlog = backlog.iter().map(|backlog| Row { cells: backlog.cells(columns().len()), ..Row::default() });
        let left_out = Some(((points.len() - listed.len()) as u64, "places that grow".to_owned()));
        let table = ResultTable {
            header: TableHeader {
                id: "leaks".into(),
                title: if grew { "Where the heap grows".into() } else { FILLS.into() },
                columns: columns(),
                ..TableHeader::default()
            },
            rows: of_backlog.chain(rows).collect(),
            left_out,
            empty_text: "No place.".into(),
        };
        let of_table =
            details.into_iter().enumerate().map(|(at, told)| Finding::of_row("leak", told, &table, Some(at)));
        let mut found: Vec<Finding> = of_table.collect();
        let (waiting, places) = found.split_at_mut(backlog.iter().len());
        for (finding, backlog) in waiting.iter_mut().zip(&backlog) {
            backlog.complete(finding, grew);
        }
        for (at, (finding, (point, example))) in places.iter_mut().zip(listed.iter().zip(&examples)).enumerate() {
            let more = if at == 0 { points.len() - 1 } else { 0 };
            finding.headline = headline(history, point, example, more, grew);
            finding.place = Some(FoundPlace {
                name: place_text(history, point.place),
                owner: owner_key(history, point.place),
                elements: elements_text(history, point),
                path: example.path.as_ref().map(OwnerPath::lines).unwrap_or_default(),
            });
            finding.since = finding.time("since").zip(finding.time("grown_at"));
            let is_open = grew && doubt(history, point).is_some();
            finding.certainty = if is_open { Certainty::Open } else { Certainty::Counted };
            finding.next = NextStep::run(if grew { "growing-structures" } else { "structures" });
        }
        let mut verdict = verdict(history, &points, found.first(), &aside, grew);
        let mut answers: Vec<String> = found.iter().flat_map(|finding| finding.details.iter().cloned()).collect();
        if found.is_empty() {
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
        let tables = std::iter::once(table).chain(filled_table(filled)).collect();
        let title = (!grew).then(|| FILLS.to_owned());
        Ok(Findings { title, answers, tables, found, notes, verdict: Some(verdict), ..Findings::default() })
    }
}

pub(super) fn detector() -> Box<dyn Detector> {
    Box::new(Leak)
}

impl Detector for Leak {
    fn rank(&self) -> DetectorRank {
        DetectorRank::Verdict
    }

    fn text(&self, _: &Source) -> DetectorText {
        DetectorText::Always
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
    strongest: Option<&Finding>,
    aside: &[u32],
    grew: bool,
) -> LeakVerdict {
    let heap = heap_bytes(history);
    let explained = explained(history, &points.iter().map(|point| point.place).collect::<Vec<_>>());
    let of = |kind, headline| LeakVerdict { kind, headline, heap, explained, caveats: Vec::new() };
    if let Some(finding) = strongest {
        let kind = if grew { VerdictKind::of(finding.certainty) } else { VerdictKind::Fills };
        return of(kind, finding.headline.clone());
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
        _ if heap.1 > heap.0 && rises_each_time(history) => ", a little more each time".to_owned(),
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

/// The title where there is one point in time.
const FILLS: &str = "What fills the heap";

/// Most objects between an action and the object it is to clear away.
const MOST_OWNERS: usize = 16;

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
